/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of OpenSM's configuration.  OpenSM passes over keys that it does not know, takes
 * "true" for FALSE and "12x" for 12; here each of them is told, all of a file at once.
 */
#include "core/opensm/opensm.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/opensm/opensm_private.h"
#include "core/text/number.h"
#include "core/text/readfile.h"
#include "core/text/suggest.h"
#include "lib/lines.h"

#define BLANKS " \t\r"
/* OpenSM before 3.3.6 wrote this comment into its default file without the '#'. */
#define BARE_COMMENT "The maximum number of retries allowed"

void
opensm_init(struct opensm *o, struct fm_arena *mem, const struct engine_set *engines)
{
	*o = (struct opensm){ .mem = mem, .engines = engines };
}

void
opensm_fini(struct opensm *o)
{
	fm_vec_fini(&o->lines);
	fm_vec_fini(&o->settings);
	for (size_t i = 0; i < OPENSM_N_TOLD; i++)
		fm_vec_fini(&o->told[i]);
}

enum line_form {
	FORM_OPENSM,  /* a key of OpenSM's, a blank and something */
	FORM_FMD,     /* a key with '=' or a section */
	FORM_UNKNOWN, /* a name, a blank and something: nobody's, or a mistake in a name */
	FORM_NONE     /* neither */
};

static enum line_form
form_of(struct fm_lines *in)
{
	const char *word = in->at, *brace;
	char name[64];
	bool is_blank;

	brace = memchr(word, '{', (size_t)(in->end - word));
	if (*word == '{' || *word == '}' || (*word == '/' && in->end - word > 1 && word[1] == '*'))
		return FORM_FMD;
	while (in->at < in->end && (isalnum((unsigned char)*in->at) || strchr("_-", *in->at)))
		in->at++;
	snprintf(name, sizeof(name), "%.*s", (int)(in->at - word), word);
	is_blank = in->at < in->end && strchr(BLANKS, *in->at) != NULL;
	if (in->at == word || fm_line_is_over(in))
		return FORM_NONE;
	if (strchr("=+{", *in->at) != NULL || (*in->at == '"' && brace != NULL))
		return FORM_FMD;
	if (!is_blank)
		return FORM_NONE;
	if (opensm_key_find(name) != NULL)
		return FORM_OPENSM;
	return brace != NULL ? FORM_FMD : FORM_UNKNOWN;
}

bool
opensm_is_form(const char *text, size_t n)
{
	struct fm_lines in = fm_lines(text, n);
	bool any = false, all = true;

	while (fm_next_line(&in)) {
		enum line_form form;

		if (fm_line_is_over(&in) || *in.at == '#')
			continue;
		form = form_of(&in);
		if (form == FORM_OPENSM || form == FORM_FMD)
			return form == FORM_OPENSM;
		any |= form == FORM_UNKNOWN;
		all &= form == FORM_UNKNOWN;
	}
	return any && all;
}

/* ----------------------------------------------------------------- remarks */

void
opensm_tell(
    struct opensm *o, enum opensm_told what, const struct opensm_line *l, const char *fmt, ...)
{
	char text[sizeof(((struct fm_error *)0)->msg)];
	struct opensm_remark r = { .line = l->line, .said = l->said };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r.text = fm_arena_strdup(o->mem, text);
	o->out_of_memory |= r.text == NULL || !fm_vec_push(&o->told[what], r);
}

/* ------------------------------------------------------------------- values */

/* One below zero stands only where OpenSM's default is. */
static bool
is_number(const struct opensm_key *key, const char *text)
{
	uint64_t n;

	return number_parse(text + (*text == '-' && key->def[0] == '-'), &n);
}

static bool
is_good(struct opensm *o, const struct opensm_line *l)
{
	const char *v = l->value;

	switch (l->key->form) {
	case OPENSM_BOOL:
		if (strcmp(v, "TRUE") == 0 || strcmp(v, "FALSE") == 0)
			return true;
		opensm_tell(o, OPENSM_BAD, l,
		    "%s %.60s: write TRUE or FALSE; OpenSM takes all but TRUE for FALSE",
		    l->key->name, v);
		return false;
	case OPENSM_NUMBER:
		if (is_number(l->key, v))
			return true;
		opensm_tell(o, OPENSM_BAD, l, "%s %.60s is no number: write it as in %s",
		    l->key->name, v, l->key->def);
		return false;
	case OPENSM_TEXT:
	case OPENSM_PATH:
		return true;
	case OPENSM_SECTION:
		break;
	}
	return false;
}

/* "a, b" */
static const char *
gather(struct opensm *o, const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b) + sizeof(", ");
	char *text = fm_arena_alloc(o->mem, n);

	o->out_of_memory |= text == NULL;
	if (text == NULL)
		return b;
	snprintf(text, n, "%s, %s", a, b);
	return text;
}

/* Of each key the last line counts, as OpenSM has it; where it has one for each SL, all do. */
static void
keep(struct opensm *o, struct opensm_line l)
{
	for (size_t i = 0; i < o->lines.n; i++)
		if (o->lines.item[i].key == l.key) {
			if (l.key->gathers)
				l.value = gather(o, o->lines.item[i].value, l.value);
			o->lines.item[i] = l;
			return;
		}
	o->out_of_memory |= !fm_vec_push(&o->lines, l);
}

/* The name that a line begins with. */
static void
name_of(const struct fm_lines *in, char *name, size_t room)
{
	size_t n = 0, bytes = (size_t)(in->end - in->at);

	while (n < bytes && strchr(BLANKS "=", in->at[n]) == NULL)
		n++;
	snprintf(name, room, "%.*s", (int)n, in->at);
}

/* Is there any key of MLNX_OFED's?  It has more than fmd knows of, and more with every release. */
static bool
is_of_mlnx_ofed(const char *text, size_t n)
{
	struct fm_lines in = fm_lines(text, n);
	const struct opensm_key *key;
	char name[64];

	while (fm_next_line(&in)) {
		if (fm_line_is_over(&in))
			continue;
		name_of(&in, name, sizeof(name));
		key = opensm_key_find(name);
		if (opensm_foreign_key(name) != NULL || (key != NULL && key->of_mlnx_ofed))
			return true;
	}
	return false;
}

static void
blame_unknown(struct opensm *o, const struct opensm_line *l, const char *name)
{
	const char *near, *reason = opensm_foreign_key(name);
	struct suggestion s;

	if (reason != NULL) {
		opensm_tell(o, OPENSM_STRAY, l, "%s is MLNX_OFED's: %s", name, reason);
		return;
	}
	if (!isalnum((unsigned char)*name)) {
		opensm_tell(o, OPENSM_BAD, l,
		    "a line begins with a key, as in lmc 0, not with '%c': # begins a comment",
		    *name);
		return;
	}
	suggest_init(&s, name);
	for (size_t i = 0; opensm_key(i) != NULL; i++)
		suggest_offer(&s, opensm_key(i)->name);
	near = suggest_best(&s);
	if (o->of_mlnx_ofed)
		opensm_tell(o, OPENSM_STRAY, l,
		    "%.60s is not known, as keys of MLNX_OFED may be, which the file has%s%s%s",
		    name, near != NULL ? ": did you mean " : "", near != NULL ? near : "",
		    near != NULL ? "?" : "");
	else if (near != NULL)
		opensm_tell(o, OPENSM_BAD, l, "unknown key %.60s: did you mean %s?", name, near);
	else
		opensm_tell(o, OPENSM_BAD, l,
		    "unknown key %.60s: OpenSM 3.3.24 has none of that name either; of "
		    "MLNX_OFED's take the line out, of fmd's write it to conf.d/*.conf beside "
		    "this file",
		    name);
}

static void
take_setting(struct opensm *o, struct opensm_line l, const char *name, char *value)
{
	size_t n = strlen(value);

	l.key = opensm_key_find(name);
	if (l.key == NULL) {
		blame_unknown(o, &l, name);
		return;
	}
	if (*value == '=') {
		opensm_tell(o, OPENSM_BAD, &l,
		    "%s %.60s: there is no '=' in a file of OpenSM's form, which the first lines "
		    "have; write %s %s",
		    name, value, name, value + 1 + strspn(value + 1, BLANKS));
		return;
	}
	if (n > 1 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
		value[n - 1] = '\0';
		value++;
	}
	l.value = strcmp(value, "(null)") == 0 ? "" : value;
	if (*l.value == '\0' && l.key->form <= OPENSM_NUMBER)
		opensm_tell(o, OPENSM_BAD, &l, "%s has no value: write it as in %s %s", name, name,
		    l.key->def);
	else if (*l.value == '\0' || is_good(o, &l))
		keep(o, l);
}

/* From a '#' on there is a comment, wherever it stands, as OpenSM has it. */
static void
end_at_comment(struct fm_lines *in)
{
	const char *comment = memchr(in->at, '#', (size_t)(in->end - in->at));

	if (comment != NULL)
		in->end = comment;
}

void
opensm_read(struct opensm *o, const char *text, size_t n)
{
	struct fm_lines in = fm_lines(text, n);

	o->of_mlnx_ofed = is_of_mlnx_ofed(text, n);
	while (fm_next_line(&in)) {
		char *line, name[64];

		end_at_comment(&in);
		if (fm_line_is_over(&in))
			continue;
		line = fm_arena_alloc(o->mem, (size_t)(in.end - in.at) + 1);
		if (line == NULL) {
			o->out_of_memory = true;
			return;
		}
		memcpy(line, in.at, (size_t)(in.end - in.at));
		line[in.end - in.at] = '\0';
		if (strncmp(line, BARE_COMMENT, strlen(BARE_COMMENT)) == 0)
			continue;
		name_of(&in, name, sizeof(name));
		take_setting(o, (struct opensm_line){ .line = in.line }, name,
		    conf_trim(line + strcspn(line, BLANKS "=")));
	}
}

void
opensm_say(struct opensm *o, const char *said, const char *key, const char *value)
{
	char *copy = fm_arena_strdup(o->mem, value);

	o->out_of_memory |= copy == NULL;
	if (copy != NULL)
		take_setting(o, (struct opensm_line){ .said = said }, key, copy);
}
