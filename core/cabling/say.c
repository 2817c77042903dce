/* SPDX-License-Identifier: BSD-2-Clause */
/* core/cabling/say.c - a difference as a sentence and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "core/cabling/cabling.h"
#include "core/graph/link_speed.h"
#include "core/text/json_text.h"
#include "core/text/sentence.h"

const char *
cabling_word(enum cabling_kind kind)
{
	static const char *const words[] = { [CABLING_NODE_MISSING] = "missing-node",
		[CABLING_NODE_EXTRA] = "extra-node",
		[CABLING_SWAPPED] = "swapped",
		[CABLING_MOVED] = "moved",
		[CABLING_MISSING] = "missing",
		[CABLING_EXTRA] = "extra",
		[CABLING_SLOWER] = "slower",
		[CABLING_REPLACED] = "replaced",
		[CABLING_RENAMED] = "renamed" };

	return words[kind];
}

static const struct netlist_node *
node_of(const struct cabling_end *e)
{
	return &e->in->nodes[e->node];
}

static const char *
name_of(const struct cabling_end *e)
{
	return node_of(e)->desc[0] != '\0' ? node_of(e)->desc : node_of(e)->id;
}

static const char *
type_of(const struct cabling_end *e)
{
	static const char *const words[] = { "switch", "host", "router" };

	return words[node_of(e)->type];
}

static void
say_end(struct sentence *s, const struct cabling_end *e)
{
	sentence_add(s, "\"%.64s\" port %u", name_of(e), e->port);
}

/* "A port 1 to B port 2" */
static void
say_cable(struct sentence *s, const struct cabling_end *a, const struct cabling_end *b)
{
	say_end(s, a);
	sentence_add(s, " to ");
	say_end(s, b);
}

static void
say_rate(struct sentence *s, const struct cabling_end *e)
{
	const struct netlist_port *p = netlist_port(e->in, e->node, e->port);

	sentence_add(s, "%ux %s", p->width, link_speed_word(p->lane_mbps));
}

static void
say_node(struct sentence *s, const struct cabling_item *i)
{
	bool is_missing = i->kind == CABLING_NODE_MISSING;

	sentence_add(s, "%s \"%.64s\" with %" PRIu32 " %s %s", type_of(&i->end[0]),
	    name_of(&i->end[0]), i->n_cables, i->n_cables == 1 ? "cable" : "cables",
	    is_missing ? "is missing" : "is not in the file");
}

static bool
is_same_end(const struct cabling_end *a, const struct cabling_end *b)
{
	return strcmp(name_of(a), name_of(b)) == 0 && a->port == b->port;
}

static void
say_moved(struct sentence *s, const struct cabling_end *e)
{
	sentence_add(s, "the cable ");
	if (is_same_end(&e[0], &e[2])) {
		sentence_add(s, "at ");
		say_end(s, &e[2]);
		sentence_add(s, " leads to ");
		say_end(s, &e[3]);
		sentence_add(s, " instead of ");
		say_end(s, &e[1]);
		return;
	}
	sentence_add(s, "from ");
	say_cable(s, &e[0], &e[1]);
	sentence_add(s, " is at ");
	say_end(s, &e[2]);
	sentence_add(s, " and ");
	say_end(s, &e[3]);
}

static void
say_swapped(struct sentence *s, const struct cabling_end *e)
{
	sentence_add(s, "two cables are swapped: ");
	say_end(s, &e[0]);
	sentence_add(s, " leads to ");
	say_end(s, &e[3]);
	sentence_add(s, " instead of ");
	say_end(s, &e[1]);
	sentence_add(s, ", and ");
	say_end(s, &e[2]);
	sentence_add(s, " the other way round");
}

static void
say_note(struct sentence *s, const struct cabling_item *i)
{
	const struct cabling_end *w = &i->end[0], *f = &i->end[1];

	if (i->kind == CABLING_RENAMED) {
		sentence_add(s, "%s \"%.64s\" of the file is called \"%.64s\"", type_of(w),
		    name_of(w), name_of(f));
		return;
	}
	sentence_add(s,
	    "%s \"%.64s\" was replaced: its GUID is 0x%016" PRIx64 ", in the file 0x%016" PRIx64,
	    type_of(f), name_of(f), node_of(f)->guid, node_of(w)->guid);
	if (strcmp(name_of(w), name_of(f)) != 0)
		sentence_add(s, ", and its name \"%.64s\"", name_of(w));
}

const char *
cabling_say(const struct cabling_item *i, char *buf, size_t size)
{
	struct sentence s = { buf, size, 0 };

	buf[0] = '\0';
	switch (i->kind) {
	case CABLING_NODE_MISSING:
	case CABLING_NODE_EXTRA:
		say_node(&s, i);
		break;
	case CABLING_SWAPPED:
		say_swapped(&s, i->end);
		break;
	case CABLING_MOVED:
		say_moved(&s, i->end);
		break;
	case CABLING_MISSING:
	case CABLING_EXTRA:
		sentence_add(&s, "the cable from ");
		say_cable(&s, &i->end[0], &i->end[1]);
		sentence_add(
		    &s, i->kind == CABLING_MISSING ? " is missing" : " is not in the file");
		break;
	case CABLING_SLOWER:
		sentence_add(&s, "the cable from ");
		say_cable(&s, &i->end[2], &i->end[3]);
		sentence_add(&s, " runs at ");
		say_rate(&s, &i->end[2]);
		sentence_add(&s, ", in the file at ");
		say_rate(&s, &i->end[0]);
		break;
	case CABLING_REPLACED:
	case CABLING_RENAMED:
	case N_CABLING_KINDS:
		say_note(&s, i);
		break;
	}
	return buf;
}

/* ---------------------------------------------------------------------- JSON */

/* Without a port: null. */
static json_t *
end_json(const struct cabling_end *e)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "node", json_text(name_of(e)), "guid",
	    node_of(e)->guid_is_made ? json_null() : json_guid(node_of(e)->guid), "type",
	    json_string(type_of(e)), "port", e->port != 0 ? json_integer(e->port) : json_null());
}

static json_t *
item_json(const struct cabling_item *i)
{
	char text[CABLING_TEXT];
	json_t *ends = json_array();

	for (int e = 0; e < 4; e++)
		if (i->end[e].in != NULL)
			json_array_append_new(ends, end_json(&i->end[e]));
	return json_pack("{s:s, s:b, s:o, s:o}", "kind", cabling_word(i->kind), "note",
	    i->kind >= CABLING_FIRST_NOTE, "text", json_text(cabling_say(i, text, sizeof(text))),
	    "ends", ends);
}

json_t *
cabling_json(const struct cabling *c, size_t most)
{
	json_t *counts = json_object(), *list = json_array();
	uint32_t n = cabling_n_differences(c);

	for (int kind = 0; kind < N_CABLING_KINDS; kind++)
		json_object_set_new(
		    counts, cabling_word((enum cabling_kind)kind), json_integer(c->n_of[kind]));
	for (size_t i = 0; i < c->items.n && i < most; i++)
		json_array_append_new(list, item_json(&c->items.item[i]));
	return json_pack("{s:I, s:I, s:I, s:o, s:o}", "same", (json_int_t)c->n_same, "differences",
	    (json_int_t)n, "notes", (json_int_t)(c->items.n - n), "counts", counts, "list", list);
}
