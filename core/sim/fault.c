/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timed faults.  A script has one a line, "#" begins a comment:
 *
 *	at 5ms   unlink   S1[3]            the cable of port 3 is pulled
 *	at 9ms   relink   S1[3]
 *	at 5ms   flap     S1[3] for 100us  unlink, relink
 *	at 1s    reboot   "leaf 7" for 2s  all it knew is gone, links go down
 *	at 1s    silence  S1               its agent stops answering
 *	at 2s    wake     S1
 *	at 2s    describe H4 "new name"    NodeDescription, with trap 144
 *	at 3s    loss     10%              from now on
 *
 * Times count from the start of the simulation; nodes are named by the file's
 * names or by GUID, in quotes where they hold blanks, brackets or "#".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/net.h"
#include "core/sim/spec.h"
#include "lib/error.h"

#define FLAP_NS INT64_C(1000000)
#define REBOOT_NS INT64_C(100000000)
#define MAX_WORDS 8

enum wants { WANTS_NODE, WANTS_PORT, WANTS_NOTHING };

static const struct verb {
	const char *name;
	enum sim_action_kind kind;
	enum wants wants;
	int64_t for_ns; /* by default; 0 = the verb has no "for" */
	const char *right;
} verbs[] = {
	{ "unlink", ACTION_UNLINK, WANTS_PORT, 0, "unlink NODE[PORT]" },
	{ "relink", ACTION_RELINK, WANTS_PORT, 0, "relink NODE[PORT]" },
	{ "flap", ACTION_FLAP, WANTS_PORT, FLAP_NS, "flap NODE[PORT] [for TIME]" },
	{ "reboot", ACTION_REBOOT, WANTS_NODE, REBOOT_NS, "reboot NODE [for TIME]" },
	{ "silence", ACTION_SILENCE, WANTS_NODE, 0, "silence NODE" },
	{ "wake", ACTION_WAKE, WANTS_NODE, 0, "wake NODE" },
	{ "describe", ACTION_DESCRIBE, WANTS_NODE, 0, "describe NODE \"TEXT\"" },
	{ "loss", ACTION_LOSS, WANTS_NOTHING, 0, "loss 10%" },
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

void
action_do(struct sim *s, const struct sim_action *a)
{
	switch (a->kind) {
	case ACTION_UNLINK:
		sim_unlink(s, a->node, a->port);
		break;
	case ACTION_RELINK:
		sim_relink(s, a->node, a->port);
		break;
	case ACTION_FLAP:
		sim_flap(s, a->node, a->port, a->for_ns);
		break;
	case ACTION_REBOOT:
		sim_reboot(s, a->node, a->for_ns);
		break;
	case ACTION_SILENCE:
	case ACTION_WAKE:
		sim_silence(s, a->node, a->kind == ACTION_SILENCE);
		break;
	case ACTION_DESCRIBE:
		sim_describe(s, a->node, a->text);
		break;
	case ACTION_LOSS:
		sim_set_loss(s, a->loss);
		break;
	}
}

/* A line's words.  "[3]" after a name is a word of its own, begun by '['. */
struct line {
	const char *file;
	unsigned number;
	bool now; /* it says no time */
	char *word[MAX_WORDS];
	unsigned n;
};

static bool
is_end(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == '\r' || c == '#' || c == '[';
}

/* The end of the word at p: a quoted one, a bracketed one, a plain one; NULL
 * where a quote or bracket stays open.  *at: where its text begins. */
static char *
end_of_word(char *p, char **at)
{
	char *end;

	*at = p;
	if (*p == '"') {
		*at = p + 1;
		return strchr(p + 1, '"');
	}
	if (*p == '[')
		return strchr(p, ']');
	for (end = p; !is_end(*end);)
		end++;
	return end;
}

/* Split in place.  The end of a word may be the start of the next, so ends
 * are written only when the next has been looked at. */
static bool
split(struct line *l, char *p)
{
	char *ends[MAX_WORDS];

	for (l->n = 0;;) {
		p += strspn(p, " \t\r");
		if (*p == '\0' || *p == '#')
			break;
		if (l->n == MAX_WORDS)
			return false;
		ends[l->n] = end_of_word(p, &l->word[l->n]);
		if (ends[l->n] == NULL)
			return false;
		p = ends[l->n];
		if (*p == '"' || *p == ']')
			p++;
		l->n++;
	}
	for (unsigned i = 0; i < l->n; i++)
		if (*ends[i] != '[') /* that is the mark of the word that follows */
			*ends[i] = '\0';
	return true;
}

static int
bad(const struct line *l, const char *what, const char *right, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "%s:%u: %s; right would be: %s%s", l->file, l->number,
	    what, l->now ? "" : "at TIME ", right);
}

static const struct verb *
find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcasecmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* The node, and "[PORT]" after it; *i is the next word. */
static int
read_target(const struct sim *s, struct line *l, const struct verb *v, unsigned *i,
    struct sim_action *a, struct fm_error *err)
{
	char *bracket = NULL;
	uint64_t port;

	if (*i >= l->n)
		return bad(l, "the node is missing", v->right, err);
	if (*i + 1 < l->n && l->word[*i + 1][0] == '[') {
		bracket = l->word[*i + 1];
		if (!read_number(bracket + 1, 254, &port))
			return bad(l, "the port is no number 1..254", v->right, err);
		*bracket = '\0'; /* ends the name before it */
	}
	a->node = sim_find(s, l->word[*i]);
	if (a->node == SIM_NONE)
		return fm_fail(err, FM_E_CONFIG, "%s:%u: the fabric has no node \"%s\"", l->file,
		    l->number, l->word[*i]);
	*i += bracket != NULL ? 2 : 1;
	if ((v->wants == WANTS_PORT) != (bracket != NULL))
		return bad(l, bracket ? "a port is named" : "the port is missing", v->right, err);
	if (bracket == NULL)
		return 0;
	a->port = (uint8_t)port;
	if (port == 0 || port > s->fabric.nodes[a->node].n_ports)
		return fm_fail(err, FM_E_CONFIG, "%s:%u: node \"%s\" has ports 1..%u, no port %u",
		    l->file, l->number, l->word[*i - 2], s->fabric.nodes[a->node].n_ports, a->port);
	return 0;
}

/* From the verb, word i, on. */
static int
read_verb(struct sim *s, struct line *l, unsigned i, struct sim_action *a, struct fm_error *err)
{
	const struct verb *v = find_verb(l->word[i++]);
	int rc;

	if (v == NULL)
		return bad(l, "this verb is unknown",
		    "unlink|relink|flap|reboot|silence|wake|describe|loss", err);
	a->kind = v->kind;
	a->for_ns = v->for_ns;
	rc = v->wants == WANTS_NOTHING ? 0 : read_target(s, l, v, &i, a, err);
	if (rc != 0)
		return rc;
	if (v->kind == ACTION_LOSS && (i >= l->n || !read_share(l->word[i++], &a->loss)))
		return bad(l, "the share is missing or none", v->right, err);
	if (v->kind == ACTION_DESCRIBE) {
		if (i >= l->n)
			return bad(l, "the text is missing", v->right, err);
		a->text = fm_arena_strdup(&s->fabric.arena, l->word[i++]);
		if (a->text == NULL)
			return fm_fail(err, FM_E_RESOURCE, "no memory for a script");
	}
	if (v->for_ns != 0 && i + 1 < l->n && strcmp(l->word[i], "for") == 0) {
		if (!read_time(l->word[i + 1], &a->for_ns))
			return bad(l, "what follows \"for\" is no time", v->right, err);
		i += 2;
	}
	return i == l->n ? 0 : bad(l, "there is too much on this line", v->right, err);
}

static int
read_action(struct sim *s, struct line *l, struct sim_action *a, struct fm_error *err)
{
	if (l->n < 3 || strcmp(l->word[0], "at") != 0)
		return bad(l, "this is no action", "VERB ..., such as at 5ms unlink S1[3]", err);
	if (!read_time(l->word[1], &a->at_ns))
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: \"%s\" is no time; right would be 20ns, 100us, 5ms or 2s", l->file,
		    l->number, l->word[1]);
	return read_verb(s, l, 2, a, err);
}

static int
add_line(struct sim *s, struct line *l, char *text, int64_t start_ns, struct fm_error *err)
{
	struct sim_action a = { 0 };
	int rc;

	if (!split(l, text))
		return bad(
		    l, "a quote or bracket is open, or there are too many words", "VERB ...", err);
	if (l->n == 0)
		return 0;
	rc = read_action(s, l, &a, err);
	if (rc != 0)
		return rc;
	if (!fm_vec_push(&s->actions, a) ||
	    !events_push(&s->events, start_ns + a.at_ns, EVENT_ACTION, s->actions.n - 1))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a script");
	return 0;
}

int
sim_script(struct sim *s, const char *name, const char *text, struct fm_error *err)
{
	char *copy = strdup(text), *rest = copy, *one;
	struct line l = { .file = name };
	int rc = 0;

	if (copy == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a script");
	while (rc == 0 && (one = strsep(&rest, "\n")) != NULL) {
		l.number++;
		rc = add_line(s, &l, one, s->fabric.now_ns, err);
	}
	free(copy);
	return rc;
}

int
sim_do(struct sim *s, const char *text, struct fm_error *err)
{
	struct line l = { .file = "console", .number = 1, .now = true };
	struct sim_action a = { 0 };
	char *copy = strdup(text);
	int rc;

	if (copy == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a command");
	if (!split(&l, copy))
		rc = bad(
		    &l, "a quote or bracket is open, or there are too many words", "VERB ...", err);
	else
		rc = l.n > 0 ? read_verb(s, &l, 0, &a, err) : 0;
	if (rc == 0 && l.n > 0)
		action_do(s, &a);
	free(copy);
	return rc;
}
