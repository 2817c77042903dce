/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/regexp.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 100 /* in each other: the parser calls itself */
#define MAX_STEPS (3 * REGEXP_MAX + 2)

enum kind { STEP_SET, STEP_FORK, STEP_BEGIN, STEP_END, STEP_FOUND };

/* What comes next is told as a distance, so that steps can be moved. */
struct step {
	uint8_t kind;
	int16_t next, other; /* other: of STEP_FORK */
	uint64_t set[4];     /* of STEP_SET: bytes that are taken */
};

struct regexp {
	unsigned n;
	struct step step[MAX_STEPS];
};

struct parser {
	struct regexp *r;
	const char *at;
	unsigned depth;
	const char *wrong; /* NULL: nothing yet */
};

/* ------------------------------------------------------------------ sets */

static void
set_add_char(struct step *s, unsigned char c)
{
	s->set[c / 64] |= UINT64_C(1) << (c % 64);
}

static bool
set_has_char(const struct step *s, unsigned char c)
{
	return (s->set[c / 64] >> (c % 64) & 1) != 0;
}

static void
negate(struct step *s)
{
	for (int i = 0; i < 4; i++)
		s->set[i] = ~s->set[i];
}

static int
is_word(int c)
{
	return isalnum(c) || c == '_';
}

static void
take_class(struct step *s, int (*is)(int))
{
	for (int c = 0; c < 128; c++)
		if (is(c))
			set_add_char(s, (unsigned char)c);
}

static const struct {
	const char *name;
	int (*is)(int);
} classes[] = { { "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
	{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph }, { "lower", islower },
	{ "print", isprint }, { "punct", ispunct }, { "space", isspace }, { "upper", isupper },
	{ "xdigit", isxdigit } };

/* [:alpha:] */
static const char *
read_class(struct parser *p, struct step *s, const char *at)
{
	const char *end = strstr(at + 2, ":]");

	for (size_t i = 0; end != NULL && i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == (size_t)(end - at - 2) &&
		    memcmp(classes[i].name, at + 2, (size_t)(end - at - 2)) == 0) {
			take_class(s, classes[i].is);
			return end + 2;
		}
	p->wrong = "there is no such class: [:alpha:], [:digit:] and the like are right";
	return at;
}

/* c, or c-d. */
static const char *
read_range(struct parser *p, struct step *s, const char *at)
{
	unsigned char low = (unsigned char)*at, high = low;

	if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
		at += 2;
		high = (unsigned char)*at;
	}
	if (high < low || (*at == '[' && strchr(".=", at[1]) != NULL && at[1] != '\0'))
		p->wrong = "a range in brackets is of bytes, the lower one first";
	for (unsigned c = low; c <= high; c++)
		set_add_char(s, (unsigned char)c);
	return at + 1;
}

/* Behind the [. */
static void
read_brackets(struct parser *p, struct step *s)
{
	bool negated = *p->at == '^';
	const char *from = p->at + negated, *at = from;

	while (p->wrong == NULL && *at != '\0' && (*at != ']' || at == from))
		at = at[0] == '[' && at[1] == ':' ? read_class(p, s, at) : read_range(p, s, at);
	if (p->wrong == NULL && *at == '\0')
		p->wrong = "brackets do not close";
	if (negated)
		negate(s);
	p->at = at + 1;
}

/* Behind the \. */
static void
read_escaped(struct parser *p, struct step *s)
{
	char c = *p->at++;

	if (c == 'w' || c == 'W')
		take_class(s, is_word);
	else if (c == 's' || c == 'S')
		take_class(s, isspace);
	else if (c != '\0' && !isalnum((unsigned char)c) && strchr("<>`'", c) == NULL)
		set_add_char(s, (unsigned char)c);
	else
		p->wrong = c >= '1' && c <= '9'
		    ? "back-references are not taken"
		    : "a \\ stands before a sign, or is \\w \\W \\s \\S";
	if (c == 'W' || c == 'S')
		negate(s);
}

/* ---------------------------------------------------------------- parser */

static struct step *
add(struct parser *p, enum kind kind)
{
	struct step *s = &p->r->step[p->r->n++];

	*s = (struct step){ .kind = (uint8_t)kind, .next = 1 };
	return s;
}

/* Room for a step before those from this one on. */
static struct step *
insert(struct parser *p, unsigned from, enum kind kind)
{
	struct step *s = &p->r->step[from];

	memmove(s + 1, s, (p->r->n++ - from) * sizeof(*s));
	*s = (struct step){ .kind = (uint8_t)kind, .next = 1 };
	return s;
}

/* A way on and no byte for it. */
static void
leap(struct parser *p, int distance)
{
	struct step *s = add(p, STEP_FORK);

	s->next = s->other = (int16_t)distance;
}

static void read_choice(struct parser *p);

/* False: what it is cannot be repeated. */
static bool
read_atom(struct parser *p)
{
	char c = *p->at++;

	switch (c) {
	case '(':
		if (++p->depth > MAX_GROUPS)
			p->wrong = "more than 100 parentheses in each other are not taken";
		else
			read_choice(p);
		if (p->wrong == NULL && *p->at++ != ')')
			p->wrong = "parentheses do not close";
		p->depth--;
		return true;
	case '^':
		add(p, STEP_BEGIN);
		return false;
	case '$':
		add(p, STEP_END);
		return false;
	case '.':
		negate(add(p, STEP_SET));
		return true;
	case '[':
		read_brackets(p, add(p, STEP_SET));
		return true;
	case '\\':
		read_escaped(p, add(p, STEP_SET));
		return true;
	default:
		set_add_char(add(p, STEP_SET), (unsigned char)c);
		return true;
	}
}

/* * + ? behind what begins at step `from`. */
static void
repeat(struct parser *p, unsigned from, char how)
{
	int n = (int)(p->r->n - from);

	if (how == '+') {
		add(p, STEP_FORK)->other = (int16_t)-n;
		return;
	}
	insert(p, from, STEP_FORK)->other = (int16_t)(how == '*' ? n + 2 : n + 1);
	if (how == '*')
		leap(p, -(n + 1));
}

static bool
is_repetition(char c)
{
	return c != '\0' && strchr("*+?", c) != NULL;
}

/* Several make one: "a+?" is "a*", "a++" is "a+". */
static char
read_repetition(struct parser *p)
{
	char how = *p->at++;

	for (; is_repetition(*p->at); p->at++)
		how = *p->at == how ? how : '*';
	return how;
}

static void
read_sequence(struct parser *p)
{
	while (p->wrong == NULL && *p->at != '\0' && *p->at != '|' &&
	    (*p->at != ')' || p->depth == 0)) {
		unsigned from = p->r->n;
		bool may_repeat;

		if (*p->at == '{')
			p->wrong = "counts in braces are not taken";
		may_repeat = !is_repetition(*p->at) && p->wrong == NULL && read_atom(p);
		if (p->wrong == NULL && is_repetition(*p->at) && !may_repeat)
			p->wrong = "a repetition has nothing before it";
		if (p->wrong == NULL && is_repetition(*p->at))
			repeat(p, from, read_repetition(p));
	}
}

static void
read_choice(struct parser *p)
{
	unsigned from = p->r->n, n;

	read_sequence(p);
	while (p->wrong == NULL && *p->at == '|') {
		p->at++;
		n = p->r->n - from;
		insert(p, from, STEP_FORK)->other = (int16_t)(n + 2);
		leap(p, 0);
		n = p->r->n;
		read_sequence(p);
		p->r->step[n - 1].next = p->r->step[n - 1].other = (int16_t)(p->r->n - n + 1);
	}
}

int
regexp_new(const char *text, struct regexp **out, struct fm_error *err)
{
	struct parser p = { .at = text };

	if (strlen(text) > REGEXP_MAX)
		return fm_fail(err, FM_E_CONFIG,
		    "%zu bytes are too many for a regular expression: at most %d", strlen(text),
		    REGEXP_MAX);
	p.r = calloc(1, sizeof(*p.r));
	if (p.r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a regular expression");
	read_choice(&p);
	if (p.wrong != NULL) {
		regexp_free(p.r);
		return fm_fail(err, FM_E_CONFIG, "%s", p.wrong);
	}
	add(&p, STEP_FOUND);
	*out = p.r;
	return 0;
}

void
regexp_free(struct regexp *r)
{
	free(r);
}

/* ----------------------------------------------------------------- match */

/* The steps that wait for a byte, each once. */
struct front {
	unsigned n;
	uint16_t step[MAX_STEPS];
	uint64_t has[(MAX_STEPS + 63) / 64];
};

struct walk {
	const struct regexp *r;
	bool begins, ends; /* there is nothing before, behind */
};

/* Step `first`, and all that it leads to without a byte; true: one of them is the end. */
static bool
reach(const struct walk *w, struct front *f, unsigned first)
{
	uint16_t open[2 * MAX_STEPS];
	unsigned n = 0;

	open[n++] = (uint16_t)first;
	while (n > 0) {
		unsigned i = open[--n];
		const struct step *s = &w->r->step[i];

		if (f->has[i / 64] >> (i % 64) & 1)
			continue;
		f->has[i / 64] |= UINT64_C(1) << (i % 64);
		if (s->kind == STEP_FOUND)
			return true;
		if (s->kind == STEP_SET)
			f->step[f->n++] = (uint16_t)i;
		else if (s->kind == STEP_FORK)
			open[n++] = (uint16_t)((int)i + s->other);
		if (s->kind == STEP_FORK || (s->kind == STEP_BEGIN && w->begins) ||
		    (s->kind == STEP_END && w->ends))
			open[n++] = (uint16_t)((int)i + s->next);
	}
	return false;
}

static void
clear(struct front *f)
{
	f->n = 0;
	memset(f->has, 0, sizeof(f->has));
}

bool
regexp_match(const struct regexp *r, const char *text)
{
	struct walk w = { r, true, *text == '\0' };
	struct front fronts[2], *now = &fronts[0], *then = &fronts[1], *swap;

	clear(now);
	if (reach(&w, now, 0))
		return true;
	for (w.begins = false; *text != '\0'; text++) {
		clear(then);
		w.ends = text[1] == '\0';
		for (unsigned i = 0; i < now->n; i++)
			if (set_has_char(&r->step[now->step[i]], (unsigned char)*text) &&
			    reach(&w, then, now->step[i] + 1u))
				return true;
		if (reach(&w, then, 0))
			return true;
		swap = now;
		now = then;
		then = swap;
	}
	return false;
}
