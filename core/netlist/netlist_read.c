/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading fabric files.  ibsim netlists and ibnetdiscover dumps share one
 * grammar, line by line:
 *
 *	vendid=0x2c9  devid=..  sysimgguid=0x..
 *	switchguid=0x..(portguid)  caguid=  hcaguid=  rtguid=
 *	Switch|Ca|Hca|Rt N_PORTS "id"	# "description" enhanced port 0 lid 5 lmc 0
 *	[port](portguid)  "id"[port](portguid)  w=4	# lid 4 lmc 0 "description" lid 6 4xEDR
 *
 * Comments carry facts: what stands before the quoted description is of this
 * port, what stands behind it of the peer.  A hand-written scanner over the
 * whole text; ports are joined when all nodes are known (netlist_join.c).
 * O(bytes).
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/graph/link_speed.h"
#include "core/subnet/lid.h"
#include "core/netlist/netlist_parse.h"
#include "lib/error.h"
#include "lib/log.h"

/* --------------------------------------------------------------- scanning */

static void
skip_blanks(struct parse *ps)
{
	while (ps->at < ps->end && (*ps->at == ' ' || *ps->at == '\t' || *ps->at == '\r'))
		ps->at++;
}

static bool
skip_char(struct parse *ps, char c)
{
	if (ps->at >= ps->end || *ps->at != c)
		return false;
	ps->at++;
	return true;
}

/* Up to a blank, '=', '"', '[' or '#'. */
static struct word
next_word(struct parse *ps)
{
	struct word w = { ps->at, 0 };

	while (ps->at < ps->end && strchr(" \t\r=\"[#", *ps->at) == NULL)
		ps->at++;
	w.len = (size_t)(ps->at - w.at);
	return w;
}

static bool
word_is(struct word w, const char *text)
{
	return strlen(text) == w.len && strncasecmp(w.at, text, w.len) == 0;
}

static bool
decimal(struct parse *ps, uint32_t *value)
{
	uint32_t v = 0;
	const char *first = ps->at;

	while (ps->at < ps->end && *ps->at >= '0' && *ps->at <= '9' && v < 100000000)
		v = v * 10 + (uint32_t)(*ps->at++ - '0');
	*value = v;
	return ps->at > first && (ps->at == ps->end || !isalnum((unsigned char)*ps->at));
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 to 16 hex digits, with or without 0x. */
static bool
hexadecimal(struct parse *ps, uint64_t *value)
{
	unsigned n = 0;

	if (ps->end - ps->at > 2 && ps->at[0] == '0' && (ps->at[1] | 0x20) == 'x')
		ps->at += 2;
	for (*value = 0; ps->at < ps->end && hex_digit(*ps->at) >= 0; n++)
		*value = *value << 4 | (uint64_t)hex_digit(*ps->at++);
	return n >= 1 && n <= 16 && (ps->at == ps->end || !isalnum((unsigned char)*ps->at));
}

/* "(guid)", optional. */
static int
guid_in_parentheses(struct parse *ps, uint64_t *guid)
{
	if (!skip_char(ps, '('))
		return 0;
	if (!hexadecimal(ps, guid) || !skip_char(ps, ')'))
		return parse_fail(
		    ps, ps->line, "a GUID in parentheses is 1 to 16 hex digits: (2c90200210b0d)");
	return 0;
}

/* [N], then an optional [ext N] of director line cards. */
static int
bracket(struct parse *ps, const char *whose, uint8_t *port)
{
	uint32_t v;

	if (!skip_char(ps, '[') || !decimal(ps, &v) || !skip_char(ps, ']'))
		return parse_fail(ps, ps->line, "the %s port is not written as [NUMBER]", whose);
	if (v < 1 || v > 254)
		return parse_fail(
		    ps, ps->line, "the %s port is %" PRIu32 ", a port is 1..254", whose, v);
	*port = (uint8_t)v;
	if (ps->end - ps->at > 5 && memcmp(ps->at, "[ext ", 5) == 0) {
		ps->at += 5;
		if (!decimal(ps, &v) || !skip_char(ps, ']'))
			return parse_fail(
			    ps, ps->line, "an external port is written as [ext NUMBER]");
	}
	return 0;
}

static int
quoted(struct parse *ps, struct word *w)
{
	const char *close;

	skip_blanks(ps);
	if (!skip_char(ps, '"'))
		return parse_fail(
		    ps, ps->line, "a node id in double quotes is missing: \"S-0002c90200210b0d\"");
	close = memchr(ps->at, '"', (size_t)(ps->end - ps->at));
	if (close == NULL || close == ps->at)
		return parse_fail(ps, ps->line,
		    close == NULL ? "the closing \" of a node id is missing"
				  : "a node id is empty: \"\"");
	*w = (struct word){ ps->at, (size_t)(close - ps->at) };
	ps->at = close + 1;
	return 0;
}

/* ---------------------------------------------------------------- comments */

/* Facts of a comment, before [0] and behind [1] the quoted description. */
struct facts {
	struct word desc;
	uint16_t lid[2];
	uint8_t lmc[2];
	uint8_t width;	    /* 0 = not said */
	uint32_t lane_mbps; /* 0 = not said */
	bool enhanced;
};

static int
number_fact(struct parse *ps, const char *what, uint32_t max, uint32_t *v)
{
	skip_blanks(ps);
	if (!decimal(ps, v) || *v > max)
		return parse_fail(ps, ps->line,
		    "\"%s\" in the comment is not followed by a number in 0..%" PRIu32, what, max);
	return 0;
}

/* A port without a LID: nothing stands behind "lid", or what follows a number stands there. */
static bool
is_without_lid(struct parse *ps)
{
	skip_blanks(ps);
	return ps->at == ps->end || *ps->at == '"' ||
	    (ps->end - ps->at >= 3 && memcmp(ps->at, "lmc", 3) == 0);
}

/* "4xEDR".  Other words are prose. */
static void
speed_fact(struct parse *ps, struct word w, struct facts *f)
{
	size_t i = 0;
	uint32_t width = 0;

	while (i < w.len && i < 3 && w.at[i] >= '0' && w.at[i] <= '9')
		width = width * 10 + (uint32_t)(w.at[i++] - '0');
	if (i == 0 || i >= w.len || w.at[i] != 'x' || width > 12)
		return;
	f->width = (uint8_t)width;
	f->lane_mbps = link_speed_mbps(w.at + i + 1, w.len - i - 1);
	if (f->lane_mbps == 0 && ps->n_unknown_speeds++ == 0)
		log_warn("fabric",
		    "%s:%" PRIu32 ": speed \"%.*s\" is not known: the cable counts as %ux%s",
		    ps->name, ps->line, (int)(w.len > 20 ? 20 : w.len), w.at, width,
		    link_speed_word(DEFAULT_LANE_MBPS));
}

static int
comment_word(struct parse *ps, struct facts *f, int side)
{
	struct word w = next_word(ps);
	uint32_t v = 0;
	int rc = 0;

	if (word_is(w, "lid")) {
		if (!is_without_lid(ps))
			rc = number_fact(ps, "lid", LID_UNICAST_MAX, &v);
		f->lid[side] = (uint16_t)v;
	} else if (word_is(w, "lmc")) {
		rc = number_fact(ps, "lmc", 7, &v);
		f->lmc[side] = (uint8_t)v;
	} else if (word_is(w, "enhanced")) {
		f->enhanced = true;
	} else if (w.len == 0) {
		ps->at++;
	} else {
		speed_fact(ps, w, f);
	}
	return rc;
}

/* A description may hold quotes of its own: it ends at the last one. */
static int
comment(struct parse *ps, struct facts *f)
{
	const char *last = memrchr(ps->at, '"', (size_t)(ps->end - ps->at));
	int side = 0, rc = 0;

	for (skip_blanks(ps); ps->at < ps->end && rc == 0; skip_blanks(ps)) {
		if (*ps->at != '"' || side == 1) {
			rc = comment_word(ps, f, side);
			continue;
		}
		if (last == ps->at)
			return parse_fail(
			    ps, ps->line, "the closing \" of a description is missing");
		f->desc = (struct word){ ps->at + 1, (size_t)(last - ps->at - 1) };
		ps->at = last + 1;
		side = 1;
	}
	return rc;
}

/* ------------------------------------------------------------------- lines */

/* "key=value": facts of the node that follows. */
static int
attribute_line(struct parse *ps, struct word key)
{
	uint64_t v;

	ps->node = NETLIST_NONE;
	ps->at++;
	skip_blanks(ps);
	if (!hexadecimal(ps, &v))
		return parse_fail(ps, ps->line,
		    "%.*s= is not followed by a hexadecimal number: %.*s=0x2c9", (int)key.len,
		    key.at, (int)key.len, key.at);
	if (word_is(key, "vendid"))
		ps->vendor_id = (uint32_t)v;
	else if (word_is(key, "devid"))
		ps->device_id = (uint32_t)v;
	else if (word_is(key, "sysimgguid"))
		ps->system_guid = v;
	else
		ps->node_guid = v;
	return guid_in_parentheses(ps, &ps->port_guid);
}

static bool
is_attribute(struct word key)
{
	static const char *const keys[] = { "vendid", "devid", "sysimgguid", "switchguid", "caguid",
		"hcaguid", "rtguid", "routerguid" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (word_is(key, keys[i]))
			return true;
	return false;
}

/* ibnetdiscover's ids are GUIDs: "S-0002c90200210b0d". */
static uint64_t
guid_of_id(struct word id)
{
	uint64_t guid = 0;

	if (id.len != 18 || strchr("SHR", id.at[0]) == NULL || id.at[1] != '-')
		return 0;
	for (int i = 2; i < 18; i++) {
		if (hex_digit(id.at[i]) < 0)
			return 0;
		guid = guid << 4 | (uint64_t)hex_digit(id.at[i]);
	}
	return guid;
}

static int
add_node(struct parse *ps, enum netlist_node_type type, uint32_t n_ports, struct word id,
    const struct facts *f)
{
	uint32_t first = parse_find(ps, id.at, id.len);
	struct netlist_node *n;
	uint32_t node;

	if (first != NETLIST_NONE)
		return parse_fail(ps, ps->line,
		    "node \"%.*s\" is defined again, first in line %" PRIu32 ": ids are unique",
		    (int)(id.len > 60 ? 60 : id.len), id.at, ps->nl.nodes[first].line);
	node = netlist_add_bare(&ps->nl, type, id.at, id.len, f->desc.at, f->desc.len, n_ports);
	if (node == NETLIST_NONE || !parse_remember(ps, node))
		return parse_no_memory(ps);
	for (unsigned p = 0; p <= n_ports; p++)
		if (!fm_vec_push(&ps->port_line, 0))
			return parse_no_memory(ps);
	n = &ps->nl.nodes[node];
	n->guid = ps->node_guid != 0 ? ps->node_guid : guid_of_id(id);
	n->system_guid = ps->system_guid;
	n->vendor_id = ps->vendor_id;
	n->device_id = ps->device_id;
	n->line = ps->line;
	if (type == NETLIST_SWITCH) {
		struct netlist_port *port0 = netlist_port(&ps->nl, node, 0);

		n->enhanced_port0 = f->enhanced;
		port0->guid = ps->port_guid;
		port0->lid = f->lid[1] != 0 ? f->lid[1] : f->lid[0];
		port0->lmc = f->lid[1] != 0 ? f->lmc[1] : f->lmc[0];
	}
	ps->system_guid = ps->node_guid = ps->port_guid = 0;
	ps->vendor_id = ps->device_id = 0;
	ps->node = node;
	return 0;
}

static int
node_line(struct parse *ps, enum netlist_node_type type)
{
	struct facts f = { .desc = { "", 0 } };
	struct word id;
	uint32_t n_ports;
	int rc;

	skip_blanks(ps);
	if (!decimal(ps, &n_ports) || n_ports < 1 || n_ports > 254)
		return parse_fail(ps, ps->line, "a node has 1..254 ports: Switch 36 \"id\"");
	rc = quoted(ps, &id);
	if (rc != 0)
		return rc;
	skip_blanks(ps);
	if (skip_char(ps, '#'))
		rc = comment(ps, &f);
	else if (ps->at < ps->end)
		rc = parse_fail(ps, ps->line,
		    "\"%.*s\" behind the node id: only a # comment may stand there",
		    (int)(ps->end - ps->at > 30 ? 30 : ps->end - ps->at), ps->at);
	return rc != 0 ? rc : add_node(ps, type, n_ports, id, &f);
}

/* ibsim's w=4 and s=... behind the peer; the comment says it better. */
static int
port_options(struct parse *ps, struct facts *f)
{
	for (skip_blanks(ps); ps->at < ps->end && *ps->at != '#'; skip_blanks(ps)) {
		struct word w = next_word(ps);
		uint32_t v;

		if ((!word_is(w, "w") && !word_is(w, "s")) || !skip_char(ps, '=') ||
		    !decimal(ps, &v) || v > 255)
			return parse_fail(ps, ps->line,
			    "\"%.*s\" behind the peer: w=LANES, s=SPEED or a # comment is right",
			    (int)(w.len > 30 ? 30 : w.len), w.at);
		if (word_is(w, "w"))
			f->width = (uint8_t)v;
		else
			f->lane_mbps = v == 4 ? 8000 : v == 2 ? 4000 : 2000;
	}
	return skip_char(ps, '#') ? comment(ps, f) : 0;
}

static int
check_width(struct parse *ps, const struct facts *f)
{
	switch (f->width) {
	case 0:
	case 1:
	case 2:
	case 4:
	case 8:
	case 12:
		return 0;
	}
	return parse_fail(ps, ps->line, "a cable of %u lanes: 1, 2, 4, 8 and 12 exist", f->width);
}

static int
keep_cable(struct parse *ps, const struct cable_end *c, uint64_t port_guid, const struct facts *f)
{
	struct netlist_node *n = &ps->nl.nodes[c->node];
	struct netlist_port *port;

	if (c->port > n->n_ports)
		return parse_fail(ps, ps->line,
		    "port %u of \"%.60s\", which has %u ports (line %" PRIu32 ")", c->port, n->id,
		    n->n_ports, n->line);
	if (ps->port_line.item[n->first_port + c->port] != 0)
		return parse_fail(ps, ps->line,
		    "port %u of \"%.60s\" is given again, first in line %" PRIu32, c->port, n->id,
		    ps->port_line.item[n->first_port + c->port]);
	ps->port_line.item[n->first_port + c->port] = ps->line;
	port = netlist_port(&ps->nl, c->node, c->port);
	if (n->type != NETLIST_SWITCH) {
		port->guid = port_guid;
		port->lid = f->lid[0];
		port->lmc = f->lmc[0];
	}
	port->width = f->width;
	port->lane_mbps = f->lane_mbps;
	return fm_vec_push(&ps->cables, *c) ? 0 : parse_no_memory(ps);
}

static int
port_line(struct parse *ps)
{
	struct cable_end c = { .node = ps->node, .line = ps->line, .peer_node = NETLIST_NONE };
	struct facts f = { .desc = { "", 0 } };
	uint64_t port_guid = 0;
	int rc;

	if (ps->node == NETLIST_NONE)
		return parse_fail(ps, ps->line,
		    "a port before any node: a line like Switch 36 \"id\" comes first");
	if ((rc = bracket(ps, "own", &c.port)) != 0 ||
	    (rc = guid_in_parentheses(ps, &port_guid)) != 0 || (rc = quoted(ps, &c.peer_id)) != 0)
		return rc;
	skip_blanks(ps);
	if ((rc = bracket(ps, "peer's", &c.peer_port)) != 0)
		return rc;
	skip_blanks(ps); /* ibnetdiscover leaves one between two CAs */
	if ((rc = guid_in_parentheses(ps, &c.peer_guid)) != 0 || (rc = port_options(ps, &f)) != 0 ||
	    (rc = check_width(ps, &f)) != 0)
		return rc;
	c.peer_lid = f.lid[1];
	return keep_cable(ps, &c, port_guid, &f);
}

/* "# Initiated from node 0002c903 port 0002c904" names the port of the dump. */
static void
comment_line(struct parse *ps)
{
	static const char key[] = "# Initiated from node ";
	uint64_t node, port;

	if ((size_t)(ps->end - ps->at) < sizeof(key) || memcmp(ps->at, key, sizeof(key) - 1) != 0)
		return;
	ps->at += sizeof(key) - 1;
	if (!hexadecimal(ps, &node) || ps->end - ps->at < 7 || memcmp(ps->at, " port ", 6) != 0)
		return;
	ps->at += 6;
	if (hexadecimal(ps, &port))
		ps->nl.local_guid = port;
}

static int
word_line(struct parse *ps)
{
	struct word w = next_word(ps);

	if (word_is(w, "Switch"))
		return node_line(ps, NETLIST_SWITCH);
	if (word_is(w, "Ca") || word_is(w, "Hca"))
		return node_line(ps, NETLIST_CA);
	if (word_is(w, "Rt") || word_is(w, "Router"))
		return node_line(ps, NETLIST_ROUTER);
	if (is_attribute(w) && ps->at < ps->end && *ps->at == '=')
		return attribute_line(ps, w);
	if (word_is(w, "Chassis") || word_is(w, "Non-Chassis")) /* headings of ibnetdiscover -g */
		return 0;
	if (word_is(w, "include") || word_is(w, "do") || word_is(w, "module"))
		return parse_fail(ps, ps->line,
		    "\"%.*s\" is a command of ibsim, not part of a fabric: put the nodes "
		    "themselves here",
		    (int)w.len, w.at);
	return parse_fail(ps, ps->line,
	    "\"%.*s\" is not known: Switch, Ca, Hca, Rt, [port], a key like switchguid= or # is "
	    "right",
	    (int)(w.len > 30 ? 30 : w.len), w.at);
}

/* "[root@sm ~]# ibnetdiscover": a copy from a terminal begins and ends with such a line. */
static bool
is_prompt(const struct parse *ps)
{
	size_t n = (size_t)(ps->end - ps->at);
	const char *last = ps->end - 1;

	while (last > ps->at && isspace((unsigned char)*last))
		last--;
	return *ps->at != '#' && memchr(ps->at, '"', n) == NULL && memchr(ps->at, '@', n) != NULL &&
	    (strchr("#$>", *last) != NULL || memmem(ps->at, n, "ibnetdiscover", 13) != NULL);
}

static int
parse_line(void *arg)
{
	struct parse *ps = arg;

	skip_blanks(ps);
	if (ps->at == ps->end)
		return 0;
	if (is_prompt(ps)) {
		log_warn("fabric", "%s:%" PRIu32 ": a prompt of a shell is passed over", ps->name,
		    ps->line);
		return 0;
	}
	if (*ps->at == '[')
		return port_line(ps);
	if (*ps->at != '#')
		return word_line(ps);
	comment_line(ps);
	return 0;
}

static int
parse_netlist(struct parse *ps, const char *text, size_t n_bytes)
{
	return parse_lines(ps, text, n_bytes, parse_line, ps);
}

static int
parse(struct parse *ps, int (*read)(struct parse *ps, const char *text, size_t n_bytes),
    const char *text, size_t n_bytes, struct netlist *nl)
{
	int rc = read(ps, text, n_bytes);

	if (rc == 0)
		rc = parse_join(ps);
	fm_vec_fini(&ps->cables);
	fm_vec_fini(&ps->port_line);
	fm_hash_fini(&ps->ids);
	if (rc != 0)
		netlist_fini(&ps->nl);
	else
		*nl = ps->nl;
	return rc;
}

int
netlist_parse(
    const char *name, const char *text, size_t n_bytes, struct netlist *nl, struct fm_error *err)
{
	struct parse ps = { .name = name, .node = NETLIST_NONE, .err = err };
	bool is_topo = netlist_is_topo(name);

	return parse(&ps, is_topo ? parse_topo : parse_netlist, text, n_bytes, nl);
}

bool
netlist_is_topo(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && strcmp(name + len - 5, ".topo") == 0;
}

/* Not of the file: a reader of something endless must end.  100,000 hosts take 40 MB. */
#define TEXT_MAX ((size_t)1 << 30)

/* The whole stream, whatever it is (a pipe has no size); as far as it is text. */
static int
read_stream(const char *path, FILE *in, struct netlist *nl, struct fm_error *err)
{
	FM_VEC(char) text = { 0 };
	size_t n = 1;
	bool is_text = true;
	int rc = 0;

	while (n > 0 && rc == 0 && is_text) {
		if (text.n > TEXT_MAX)
			rc = fm_fail(
			    err, FM_E_CONFIG, "%.100s: larger than a GiB: is this a fabric?", path);
		else if (!fm_vec_reserve(&text, text.n + (1u << 20)))
			rc =
			    fm_fail(err, FM_E_RESOURCE, "out of memory while reading %.100s", path);
		else
			text.n += n = fread(text.item + text.n, 1, text.room - text.n, in);
		is_text = rc != 0 || memchr(text.item + text.n - n, '\0', n) == NULL;
	}
	if (rc == 0 && ferror(in))
		rc = fm_fail(err, errno == EISDIR ? FM_E_CONFIG : FM_E_SYSTEM,
		    "cannot read %.100s: %s", path, strerror(errno));
	if (rc == 0)
		rc = netlist_parse(path, text.item, text.n, nl, err);
	fm_vec_fini(&text);
	return rc;
}

int
netlist_read(const char *path, struct netlist *nl, struct fm_error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (in == NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "cannot open fabric file %.100s: %s", path, strerror(errno));
	rc = read_stream(is_stdin ? "(standard input)" : path, in, nl, err);
	if (!is_stdin)
		fclose(in);
	return rc;
}
