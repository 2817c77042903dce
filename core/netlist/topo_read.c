/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading ibutils' topology files (ibdm-topo-file(1)):
 *
 *	TYPE NAME
 *	   P1 -4x-10G-> TYPE NAME P2
 *
 * A system is one node here, so its ports are P1 to P254.  A cable stands at one of its ends or at
 * both, an empty line ends a system, and a system may be named as a peer only.  Its type says what
 * it is: CA2, HCA1 and the adapters of Mellanox (MT25408) are channel adapters, RT1 is a router,
 * and every other one a switch.  The digits of SW36, CA2 and RT1 say how many ports it has, else
 * the highest port that is named does.  netlist_write_topo() leaves in a comment what the format
 * has no room for:
 *
 *	# fmd: guid=0x0002c90300a1b2c3 system=0x0002c90300a1b2c0 "description"
 *
 * O(bytes).
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "core/netlist/netlist_parse.h"
#include "lib/error.h"

#define MOST_WORDS 7
#define MOST_PORTS 254
#define FACTS "# fmd: "

struct topo_system {
	struct word name, type, desc;
	uint64_t guid, system_guid; /* 0: not said */
	uint32_t line;
	unsigned most_port; /* that is named, or that the type says */
	uint32_t node;
};

struct topo_cable {
	uint32_t system[2], line;
	uint8_t port[2], width; /* width 0: not said */
	uint32_t lane_mbps;	/* 0: not said */
};

struct topo {
	struct parse *ps;
	FM_VEC(struct topo_system) systems;
	FM_VEC(struct topo_cable) cables;
	FM_VEC(uint32_t) sections; /* systems in the order of their own lines */
	struct fm_hash names;	   /* hash of a name -> system; collisions stand on the next keys */
	uint32_t at;		   /* the system whose ports are read, or NETLIST_NONE */
	struct topo_system facts;  /* of the comment before a system */
	struct word word[MOST_WORDS];
	size_t n_words;
};

#define SHOWN(w) (int)((w).len > 40 ? 40 : (w).len), (w).at

static bool
word_is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.at, text, w.len) == 0;
}

static bool
same_word(struct word a, struct word b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* The line as words; n_words is MOST_WORDS where it has more. */
static void
split(struct topo *t)
{
	struct parse *ps = t->ps;
	const char *at = ps->at;

	for (t->n_words = 0; t->n_words < MOST_WORDS; t->n_words++) {
		struct word *w = &t->word[t->n_words];

		while (at < ps->end && isspace((unsigned char)*at))
			at++;
		if (at == ps->end)
			return;
		w->at = at;
		while (at < ps->end && !isspace((unsigned char)*at))
			at++;
		w->len = (size_t)(at - w->at);
	}
}

/* ------------------------------------------------------------------- types */

static bool
begins_with(struct word w, const char *text)
{
	return w.len >= strlen(text) && memcmp(w.at, text, strlen(text)) == 0;
}

static enum netlist_node_type
type_of(struct word type)
{
	static const char *const adapters[] = { "CA", "HCA", "TCA", "MT23", "MT25", "MT26", "MT27",
		"MT28", "MT40", "MT41" };

	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		if (begins_with(type, adapters[i]))
			return NETLIST_CA;
	return begins_with(type, "RT") ? NETLIST_ROUTER : NETLIST_SWITCH;
}

/* "SW36": 36; 0: it does not say. */
static unsigned
ports_of(struct word type)
{
	unsigned n = 0;

	if (!begins_with(type, "SW") && !begins_with(type, "CA") && !begins_with(type, "RT"))
		return 0;
	for (size_t i = 2; i < type.len && n <= MOST_PORTS; i++) {
		if (!isdigit((unsigned char)type.at[i]))
			return 0;
		n = n * 10 + (unsigned)(type.at[i] - '0');
	}
	return n <= MOST_PORTS ? n : 0;
}

/* ----------------------------------------------------------------- systems */

static uint32_t
find_system(const struct topo *t, struct word name, uint64_t *key)
{
	uint32_t i;

	for (*key = fm_hash_bytes(0, name.at, name.len);
	     (i = fm_hash_find(&t->names, *key)) != FM_HASH_NONE; ++*key)
		if (same_word(t->systems.item[i].name, name))
			return i;
	return NETLIST_NONE;
}

/* The system of this name, which may be a new one. */
static int
take_system(struct topo *t, struct word type, struct word name, uint32_t *which)
{
	struct topo_system s = { .name = name,
		.type = type,
		.line = t->ps->line,
		.most_port = ports_of(type),
		.node = NETLIST_NONE };
	const struct topo_system *was;
	uint64_t key;

	if (memchr(name.at, '/', name.len) != NULL)
		return parse_fail(t->ps, t->ps->line,
		    "\"%.*s\" is no name of a system: it has no / and no blank", SHOWN(name));
	*which = find_system(t, name, &key);
	if (*which == NETLIST_NONE) {
		*which = (uint32_t)t->systems.n;
		return fm_vec_push(&t->systems, s) && fm_hash_put(&t->names, key, *which)
		    ? 0
		    : parse_no_memory(t->ps);
	}
	was = &t->systems.item[*which];
	if (same_word(was->type, type))
		return 0;
	return parse_fail(t->ps, t->ps->line,
	    "\"%.*s\" is a %.*s here and a %.*s in line %" PRIu32 ": a system has one type",
	    SHOWN(name), SHOWN(type), SHOWN(was->type), was->line);
}

static int
system_line(struct topo *t)
{
	struct topo_system *s;
	int rc = take_system(t, t->word[0], t->word[1], &t->at);

	if (rc != 0)
		return rc;
	if (!fm_vec_push(&t->sections, t->at))
		return parse_no_memory(t->ps);
	if (t->facts.desc.at == NULL)
		return 0;
	s = &t->systems.item[t->at];
	s->guid = t->facts.guid;
	s->system_guid = t->facts.system_guid;
	s->desc = t->facts.desc;
	t->facts = (struct topo_system){ 0 };
	return 0;
}

/* ------------------------------------------------------------------- ports */

static int
take_port(struct topo *t, struct word w, uint32_t system, uint8_t *port)
{
	struct topo_system *s = &t->systems.item[system];
	unsigned said = ports_of(s->type), n = 0;

	for (size_t i = 1; i < w.len && isdigit((unsigned char)w.at[i]) && n <= MOST_PORTS; i++)
		n = n * 10 + (unsigned)(w.at[i] - '0');
	if (w.at[0] != 'P' || n < 1 || n > MOST_PORTS || !isdigit((unsigned char)w.at[w.len - 1]))
		return parse_fail(t->ps, t->ps->line,
		    "\"%.*s\" is no port: P1 to P%d are right; each switch of a chassis is a "
		    "system of its own here",
		    SHOWN(w), MOST_PORTS);
	if (said > 0 && n > said)
		return parse_fail(t->ps, t->ps->line,
		    "port %u of \"%.*s\", which is a %.*s and has %u ports", n, SHOWN(s->name),
		    SHOWN(s->type), said);
	s->most_port = n > s->most_port ? n : s->most_port;
	*port = (uint8_t)n;
	return 0;
}

static bool
is_width(struct word w, uint8_t *width)
{
	static const struct {
		const char *word;
		uint8_t lanes;
	} widths[] = { { "1x", 1 }, { "2x", 2 }, { "4x", 4 }, { "8x", 8 }, { "12x", 12 },
		{ "1X", 1 }, { "2X", 2 }, { "4X", 4 }, { "8X", 8 }, { "12X", 12 } };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (word_is(w, widths[i].word)) {
			*width = widths[i].lanes;
			return true;
		}
	return false;
}

/* "25G", "25", "FDR10" */
static bool
is_speed(struct word w, uint32_t *lane_mbps)
{
	size_t len = w.len > 0 && w.at[w.len - 1] == 'G' ? w.len - 1 : w.len;

	*lane_mbps = link_speed_of_signal(w.at, len);
	return *lane_mbps != 0;
}

/* "->", "-4x->", "-10G->", "-4x-10G->" */
static bool
is_arrow(struct word w, struct topo_cable *c)
{
	const char *at = w.at + 1, *end = w.at + w.len - 1;

	if (w.len < 2 || w.at[0] != '-' || *end != '>')
		return false;
	while (at < end) {
		const char *dash = memchr(at, '-', (size_t)(end - at));
		struct word part = { at, dash != NULL ? (size_t)(dash - at) : 0 };

		if (dash == NULL ||
		    !((c->width == 0 && c->lane_mbps == 0 && is_width(part, &c->width)) ||
			(c->lane_mbps == 0 && is_speed(part, &c->lane_mbps))))
			return false;
		at = dash + 1;
	}
	return true;
}

static int
port_line(struct topo *t)
{
	struct topo_cable c = { .system = { t->at }, .line = t->ps->line };
	int rc;

	if (t->at == NETLIST_NONE)
		return parse_fail(t->ps, t->ps->line,
		    "a port before any system: a line TYPE NAME comes first, and an empty line "
		    "ends a system");
	if (!is_arrow(t->word[1], &c))
		return parse_fail(t->ps, t->ps->line,
		    "\"%.*s\" is no arrow: -> is right, or -4x-10G-> with 1, 2, 4, 8 or 12 lanes "
		    "and 2.5, 5, 10, FDR10, 14, 25, 50, 100 or 200 G",
		    SHOWN(t->word[1]));
	if ((rc = take_system(t, t->word[2], t->word[3], &c.system[1])) != 0 ||
	    (rc = take_port(t, t->word[0], c.system[0], &c.port[0])) != 0 ||
	    (rc = take_port(t, t->word[4], c.system[1], &c.port[1])) != 0)
		return rc;
	return fm_vec_push(&t->cables, c) ? 0 : parse_no_memory(t->ps);
}

/* ---------------------------------------------------------------- comments */

static bool
fact_guid(struct word w, const char *key, uint64_t *guid)
{
	const char *at = w.at + strlen(key), *end = w.at + w.len;

	if (!begins_with(w, key) || end - at < 1 || end - at > 16)
		return false;
	for (*guid = 0; at < end; at++) {
		if (!isxdigit((unsigned char)*at))
			return false;
		*guid = *guid << 4 |
		    (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : (*at | 0x20) - 'a' + 10);
	}
	return true;
}

/* The words between "fmd:" and the description. */
static bool
take_facts(struct topo *t, const char *quote)
{
	for (size_t i = 2; i < t->n_words && t->word[i].at < quote; i++)
		if (!fact_guid(t->word[i], "guid=0x", &t->facts.guid) &&
		    !fact_guid(t->word[i], "system=0x", &t->facts.system_guid))
			return false;
	return true;
}

/* What stands in a comment of ours; other comments are nobody's business. */
static int
comment_line(struct topo *t)
{
	const struct parse *ps = t->ps;
	size_t n = (size_t)(ps->end - ps->at);
	const char *first = memchr(ps->at, '"', n), *last = memrchr(ps->at, '"', n);

	if (n < strlen(FACTS) || memcmp(ps->at, FACTS, strlen(FACTS)) != 0)
		return 0;
	if (first == last || !take_facts(t, first))
		return parse_fail(t->ps, ps->line,
		    "a comment of fmd's that is not whole: # fmd: guid=0x2c90300a1b2c3 "
		    "\"description\" is right; without \"fmd:\" it may say anything");
	t->facts.desc = (struct word){ first + 1, (size_t)(last - first - 1) };
	return 0;
}

/* -------------------------------------------------------------------- lines */

static int
parse_line(void *arg)
{
	struct topo *t = arg;
	struct parse *ps = t->ps;

	split(t);
	if (t->n_words == 0) {
		t->at = NETLIST_NONE;
		return 0;
	}
	if (t->word[0].at[0] == '#')
		return comment_line(t);
	if (t->n_words == 2)
		return system_line(t);
	if (t->n_words == 5)
		return port_line(t);
	if (t->n_words > 2 && begins_with(t->word[2], "CFG:"))
		return parse_fail(ps, ps->line,
		    "CFG: is of a chassis: each of its switches is a system of its own here");
	return parse_fail(ps, ps->line,
	    "\"%.*s\" begins neither a system, TYPE NAME, nor a port, P1 -4x-10G-> TYPE NAME P2",
	    SHOWN(t->word[0]));
}

/* ------------------------------------------------------------------- nodes */

static int
add_node(struct topo *t, struct topo_system *s)
{
	struct parse *ps = t->ps;
	struct word desc = s->desc.at != NULL ? s->desc : s->name;
	enum netlist_node_type type = type_of(s->type);
	unsigned n_ports = s->most_port > 0 ? s->most_port : 1;

	if (s->node != NETLIST_NONE)
		return 0;
	s->node =
	    netlist_add_bare(&ps->nl, type, s->name.at, s->name.len, desc.at, desc.len, n_ports);
	if (s->node == NETLIST_NONE)
		return parse_no_memory(ps);
	for (unsigned p = 0; p <= n_ports; p++)
		if (!fm_vec_push(&ps->port_line, 0))
			return parse_no_memory(ps);
	ps->nl.nodes[s->node].guid = s->guid;
	ps->nl.nodes[s->node].system_guid = s->system_guid;
	ps->nl.nodes[s->node].line = s->line;
	return 0;
}

static int
add_cable(struct topo *t, const struct topo_cable *c)
{
	struct parse *ps = t->ps;
	const struct topo_system *near = &t->systems.item[c->system[0]];
	struct cable_end end = { .node = near->node,
		.line = c->line,
		.peer_node = t->systems.item[c->system[1]].node,
		.port = c->port[0],
		.peer_port = c->port[1] };
	uint32_t *line = &ps->port_line.item[ps->nl.nodes[near->node].first_port + c->port[0]];
	struct netlist_port *port = netlist_port(&ps->nl, near->node, c->port[0]);

	if (*line != 0)
		return parse_fail(ps, c->line,
		    "port P%u of \"%.*s\" is given again, first in line %" PRIu32, c->port[0],
		    SHOWN(near->name), *line);
	*line = c->line;
	port->width = c->width;
	port->lane_mbps = c->lane_mbps;
	return fm_vec_push(&ps->cables, end) ? 0 : parse_no_memory(ps);
}

/* Those that are peers only stand last. */
static int
add_all(struct topo *t)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->sections.n; i++)
		rc = add_node(t, &t->systems.item[t->sections.item[i]]);
	for (size_t i = 0; rc == 0 && i < t->systems.n; i++)
		rc = add_node(t, &t->systems.item[i]);
	for (size_t i = 0; rc == 0 && i < t->cables.n; i++)
		rc = add_cable(t, &t->cables.item[i]);
	return rc;
}

int
parse_topo(struct parse *ps, const char *text, size_t n_bytes)
{
	struct topo t = { .ps = ps, .at = NETLIST_NONE };
	int rc = parse_lines(ps, text, n_bytes, parse_line, &t);

	ps->is_once = true;
	if (rc == 0 && t.systems.n == 0)
		rc = parse_fail(ps, ps->line > 0 ? ps->line : 1,
		    "no system in the file: a line like SW36 leaf-1 is missing");
	if (rc == 0)
		rc = add_all(&t);
	fm_vec_fini(&t.systems);
	fm_vec_fini(&t.cables);
	fm_vec_fini(&t.sections);
	fm_hash_fini(&t.names);
	return rc;
}
