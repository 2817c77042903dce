/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/path_command.c - fmctl path FROM TO: the way of packets, hop by hop,
 * and what the SA would say of it; of all paths from a LID, for fmctl dist verify.
 */
#include <stdlib.h>
#include <string.h>

#include "core/daemon/daemon.h"
#include "core/picture/choices.h"
#include "core/picture/loads.h"
#include "core/sa/path_query.h"
#include "core/server/server.h"
#include "core/text/json_text.h"
#include "core/transition/transition.h"
#include "lib/bitset.h"
#include "lib/error.h"

/* ------------------------------------------------------------------- who */

static bool
has_word(const char *name, size_t len, const char *word, bool first_word)
{
	const char *blank = first_word ? memchr(name, ' ', len) : NULL;

	len = blank != NULL ? (size_t)(blank - name) : len;
	return strlen(word) == len && memcmp(name, word, len) == 0;
}

/* By its name, or by what it says of itself. */
static bool
is_called(const struct sa_node *n, const char *word, bool first_word)
{
	const char *desc = (const char *)n->desc;

	return has_word(n->name, strlen(n->name), word, first_word) ||
	    has_word(desc, strnlen(desc, sizeof(n->desc)), word, first_word);
}

/* Whoever has the name, the others too: "node17 HCA-1 port 1 (LID 5), ..."; what does not fit is
 * counted.  The end, FM_NONE where there is none or several; *n of them. */
static uint32_t
find_name(const struct sa_view *v, const char *word, bool first_word, char *list, size_t size,
    unsigned *n)
{
	uint32_t found = FM_NONE;
	unsigned n_unsaid = 0;
	size_t at = 0;

	*n = 0;
	for (uint32_t i = 0; i < v->n_ends; i++) {
		const struct sa_node *node = v->node[v->end[i].node];
		char one[128];
		size_t len;

		if (!is_called(node, word, first_word))
			continue;
		found = ++*n == 1 ? i : FM_NONE;
		len = (size_t)snprintf(one, sizeof(one), "%s%.64s port %u (LID %u)",
		    at > 0 ? ", " : "", node->name, v->end[i].port, v->end[i].lid);
		n_unsaid += at + len >= size;
		if (at + len < size)
			at += (size_t)snprintf(list + at, size - at, "%s", one);
	}
	if (n_unsaid > 0)
		snprintf(list + at, size - at, " and %u more", n_unsaid);
	return found;
}

/* A name in full, or its first word where that is one end's alone. */
static int
find_named(const struct sa_view *v, const char *word, uint32_t *end, struct fm_error *err)
{
	char list[160 + sizeof(" and 4294967295 more")] = "";
	unsigned n;

	*end = find_name(v, word, false, list, 160, &n);
	if (n == 0)
		*end = find_name(v, word, true, list, 160, &n);
	if (n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.100s\" is no LID, GUID or name of a port that is up", word);
	if (n > 1)
		return fm_fail(err, FM_E_CONFIG, "\"%.40s\" is %s: write a LID", word, list);
	return 0;
}

/* What a word may be. */
enum kind { ANY, LID, GUID };

/* Of a LID, or the GUID of a port or a node; FM_NONE. */
static uint32_t
find_number(const struct sa_view *v, uint64_t number, enum kind kind, uint16_t *lid)
{
	uint32_t end = FM_NONE;

	if (number <= UINT16_MAX && kind != GUID)
		end = sa_view_end_of_lid(v, *lid = (uint16_t)number);
	if (kind == LID || end != FM_NONE)
		return end;
	end = sa_view_end_of_guid(v, number);
	for (uint32_t i = 0; end == FM_NONE && i < v->n_ends; i++)
		if (v->node[v->end[i].node]->info.node_guid == number)
			end = i;
	return end;
}

/* A LID, the GUID of a port or a node, or a node's description or its first word.  *lid:
 * which one of the end's, where the word is a LID. */
static int
find_end(const struct sa_view *v, const char *word, enum kind kind, uint32_t *end, uint16_t *lid,
    struct fm_error *err)
{
	char *stop;
	uint64_t number = strtoull(word, &stop, 0);

	*lid = 0;
	*end = *word != '\0' && *stop == '\0' ? find_number(v, number, kind, lid) : FM_NONE;
	if (*end == FM_NONE && kind != ANY)
		return fm_fail(err, FM_E_CONFIG, "\"%.100s\" is no %s of a port that is up", word,
		    kind == LID ? "LID" : "GUID");
	if (*end == FM_NONE && find_named(v, word, end, err) != 0)
		return (int)err->kind;
	if (*lid < v->end[*end].lid || sa_view_end_of_lid(v, *lid) != *end)
		*lid = v->end[*end].lid;
	return 0;
}

static enum kind
kind_said(const json_t *args)
{
	return json_is_true(json_object_get(args, "lid")) ? LID
	    : json_is_true(json_object_get(args, "guid")) ? GUID
							  : ANY;
}

static int
find(const struct sa_view *v, const json_t *args, const char *key, uint32_t *end, uint16_t *lid,
    struct fm_error *err)
{
	const json_t *given = json_object_get(args, key);
	char number[32];

	if (!json_is_integer(given))
		return find_end(v, json_string_value(given), kind_said(args), end, lid, err);
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(given));
	return find_end(v, number, kind_said(args), end, lid, err);
}

static bool
is_said(const json_t *args, const char *key)
{
	const json_t *given = json_object_get(args, key);

	return json_is_integer(given) || json_is_string(given);
}

/* ------------------------------------------------------------------- what */

static unsigned
mtu_bytes(uint8_t code)
{
	return code == 0 || code > 5 ? 0 : 128u << code;
}

static json_t *
name_json(const struct sa_node *n)
{
	return json_text(n->name);
}

static const char *
type_word(const struct sa_node *n)
{
	return n->info.node_type == WIRE_NODE_SWITCH ? "switch"
	    : n->info.node_type == WIRE_NODE_ROUTER  ? "router"
						     : "ca";
}

static json_t *
end_json(const struct sa_view *v, uint32_t end, uint16_t lid)
{
	const struct sa_end *e = &v->end[end];
	const struct sa_node *n = v->node[e->node];

	return json_pack("{s:o, s:i, s:i, s:o, s:s, s:o, s:i, s:i}", "node", name_json(n), "port",
	    (int)e->port, "lid", (int)lid, "guid", json_guid(e->guid), "type", type_word(n),
	    "node_guid", json_guid(n->info.node_guid), "base_lid", (int)e->lid, "lmc", (int)e->lmc);
}

/* What the link is like by which packets leave an end, which is no switch. */
static void
add_own_link(const struct sa_view *v, uint32_t end, uint8_t sl, json_t *o)
{
	const struct sa_end *e = &v->end[end];
	uint8_t vl[16];

	if (e->is_switch)
		return;
	sa_view_sl2vl(v, e->node, 0, e->port, vl);
	json_object_set_new(o, "vl", json_integer(vl[sl & 15]));
	json_object_set_new(o, "mtu", json_integer(mtu_bytes(v->attr[e->attr].mtu)));
	json_object_set_new(o, "mbps", json_integer(v->attr[e->attr].mbps));
}

static json_t *
hop_json(const struct sa_view *v, const struct sa_hop *h)
{
	const struct sa_node *n = v->node[v->sw_node[h->sw]];

	return json_pack("{s:o, s:i, s:i, s:i, s:i, s:I, s:o, s:i}", "switch", name_json(n), "in",
	    (int)h->in_port, "out", (int)h->out_port, "vl", (int)h->vl, "mtu",
	    (int)mtu_bytes(h->attr.mtu), "mbps", (json_int_t)h->attr.mbps, "guid",
	    json_guid(n->info.node_guid), "lid", (int)n->lid);
}

/* why: NULL, it is not asked. */
static json_t *
hops_json(const struct sa_view *v, const struct choices *why, const struct sa_hop *hop, unsigned n)
{
	json_t *hops = json_array(), *one;

	for (unsigned i = 0; hops != NULL && i < n; i++) {
		if (v->sw_node[hop[i].sw] == FM_NONE)
			continue;
		one = hop_json(v, &hop[i]);
		if (one != NULL && why != NULL)
			json_object_set_new(one, "choices", choices_json(why, hop[i].sw));
		json_array_append_new(hops, one);
	}
	return hops;
}

/* Does a link leave the port, as was last read? */
static bool
has_link(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = slot < inv->nodes.n ? inv_node(inv, slot) : NULL;

	return n != NULL && node_usable(n) && port <= n->n_ports &&
	    (port == 0 || link_usable(inv, &n->ports[port]));
}

/* The first port on the way whose cable is dead by now; null: there is none. */
static json_t *
dead_json(const struct inventory *inv, const struct sa_view *v, uint32_t src,
    const struct sa_hop *hop, unsigned n)
{
	const struct sa_end *from = &v->end[src];
	uint32_t slot = from->node;
	unsigned port = from->is_switch ? 0 : from->port;

	for (unsigned i = 0; has_link(inv, slot, port); i++) {
		if (i == n || v->sw_node[hop[i].sw] == FM_NONE)
			return json_null();
		slot = v->sw_node[hop[i].sw];
		port = hop[i].out_port == FM_PORT_NONE ? 0 : hop[i].out_port;
	}
	return json_pack("{s:o, s:i}", "node", name_json(v->node[slot]), "port", (int)port);
}

/* The first switch on the way that answers, and that may hold another entry of the LID than the
 * plan says, as it was last read or acknowledged; null: there is none. */
static json_t *
doubtful_json(const struct inventory *inv, const struct sa_view *v, uint16_t dlid,
    const struct sa_hop *hop, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t slot = v->sw_node[hop[i].sw];
		const struct inv_node *sw = slot < inv->nodes.n ? inv_node(inv, slot) : NULL;

		if (sw != NULL && !sw->silent && !sw->quiet &&
		    (sw->lft != LFT_OURS ||
			fm_bit_test(sw->lft_doubt, dlid / TRANSITION_BLOCK_LIDS)))
			return name_json(v->node[slot]);
	}
	return json_null();
}

static json_t *
path_json(const struct inventory *inv, const struct sa_view *v, const struct choices *why,
    uint32_t src, uint16_t slid, uint32_t dst, uint16_t dlid)
{
	struct sa_hop hop[SA_MOST_HOPS];
	struct sa_path path = { 0 };
	bool arrives = sa_path_find(v, src, slid, dlid, &path);
	unsigned n = 0;
	json_t *o, *dead, *doubtful;

	if (v->plan != NULL)
		sa_path_walk(v, src, dlid, hop, &n);
	dead = dead_json(inv, v, src, hop, n);
	doubtful = doubtful_json(inv, v, dlid, hop, n);
	arrives = arrives && json_is_null(dead);
	o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:I, s:b, s:i, s:o}", "from",
	    end_json(v, src, slid), "to", end_json(v, dst, dlid), "arrives",
	    arrives && !json_is_null(doubtful) ? json_null() : json_boolean(arrives), "dead", dead,
	    "in_doubt", doubtful, "sl", (int)path.sl, "mtu", (int)mtu_bytes(path.attr.mtu), "mbps",
	    (json_int_t)path.attr.mbps, "reversible", (int)path.reversible, "pkey",
	    (int)sa_view_shared_pkey(v, src, dst, 0), "hops", hops_json(v, why, hop, n));
	if (o != NULL)
		add_own_link(v, src, path.sl, json_object_get(o, "from"));
	return o;
}

/* The view that the SA answers from, a reference, if its paths are known hop by hop. */
static struct sa_view *
whole_view(const struct daemon *d, struct fm_error *err)
{
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;

	if (v != NULL && v->basis == SA_VIEW_READ)
		return v;
	sa_view_put(v); /* what was kept knows of no VLs */
	fm_fail(err, FM_E_CONFIG, "the subnet is not up yet, or another SM's");
	return NULL;
}

/* With the choices at each hop; routes on cables are counted beside the loop: "planned" says
 * whether they have been. */
static json_t *
path_and_why(struct daemon *d, const struct sa_view *v, uint32_t src, uint16_t slid, uint32_t dst,
    uint16_t dlid)
{
	const uint64_t *load = v->plan != NULL ? loads_of(d->loads, v->plan) : NULL;
	struct choices why;
	bool knows = v->plan != NULL &&
	    choices_init(&why, &d->conf->regions.set, v->plan, &v->tables, load, dlid);
	json_t *o =
	    path_json(sweeper_inventory(d->sweeper), v, knows ? &why : NULL, src, slid, dst, dlid);

	if (knows)
		choices_fini(&why);
	if (v->plan != NULL && load == NULL)
		loads_ask(d->loads, v->plan);
	if (o != NULL)
		json_object_set_new(
		    o, "planned", json_string(knows && load == NULL ? "counting" : "done"));
	return o;
}

int
daemon_path(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	uint32_t src = FM_NONE, dst = FM_NONE;
	uint16_t slid, dlid;
	struct sa_view *v;
	int rc;

	if (!is_said(args, "from") || !is_said(args, "to"))
		return fm_fail(err, FM_E_CONFIG,
		    "say from where to where: path FROM TO, each a LID, a GUID or the name of a "
		    "node");
	v = whole_view(d, err);
	if (v == NULL)
		return FM_E_CONFIG;
	rc = find(v, args, "from", &src, &slid, err);
	if (rc == 0)
		rc = find(v, args, "to", &dst, &dlid, err);
	if (rc == 0) {
		*result = json_is_true(json_object_get(args, "why"))
		    ? path_and_why(d, v, src, slid, dst, dlid)
		    : path_json(sweeper_inventory(d->sweeper), v, NULL, src, slid, dst, dlid);
		if (*result == NULL)
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	}
	sa_view_put(v);
	return rc;
}

/* ------------------------------------------------------------- all from a LID */

#define PAGE 1024 /* LIDs, or ports, looked at for one answer */
#define MOST_LID 0xbfff

/* Successive LIDs that the paths to which are alike. */
struct alike {
	uint32_t first, last;
	struct sa_path_record r; /* to the first */
};

static bool
continues(const struct alike *a, const struct sa_path_record *r)
{
	const struct sa_path_record *b = &a->r;

	return a->last + 1 == r->dlid && b->pkey == r->pkey && b->sl == r->sl && b->mtu == r->mtu &&
	    b->rate == r->rate && b->life == r->life && b->reversible == r->reversible;
}

static bool
add_alike(json_t *list, const struct alike *a)
{
	const struct sa_path_record *r = &a->r;

	return a->first == 0 ||
	    json_array_append_new(list,
		json_pack("[i, i, i, i, i, i, i, i]", (int)a->first, (int)a->last, (int)r->pkey,
		    (int)r->sl, (int)r->mtu, (int)r->rate, (int)r->life, (int)r->reversible)) == 0;
}

/* To the LIDs from..last.  False: memory is out. */
static bool
add_paths(json_t *list, const struct sa_view *v, uint16_t slid, uint32_t from, uint32_t last)
{
	const struct path_query q = { .view = v };
	uint32_t src = sa_view_end_of_lid(v, slid);
	struct alike a = { 0 };

	for (uint32_t lid = from; lid <= last; lid++) {
		uint32_t dst = sa_view_end_of_lid(v, (uint16_t)lid);
		struct sa_path_record r;

		if (dst == FM_NONE || !path_record(&q, src, slid, dst, (uint16_t)lid, &r))
			continue;
		if (a.first != 0 && continues(&a, &r)) {
			a.last = lid;
			continue;
		}
		if (!add_alike(list, &a))
			return false;
		a = (struct alike){ lid, lid, r };
	}
	return add_alike(list, &a);
}

static bool
add_ports(json_t *list, const struct sa_view *v, uint32_t from)
{
	for (uint32_t i = from; i < v->n_ends && i - from < PAGE; i++)
		if (json_array_append_new(list,
			json_pack("[i, i, o]", (int)v->end[i].lid, (int)v->end[i].lmc,
			    json_guid(v->end[i].guid))) != 0)
			return false;
	return true;
}

/* A page of paths from a LID, or, lid 0, of ports. */
static int
page_json(const struct sa_view *v, uint16_t lid, uint32_t from, json_t **out, struct fm_error *err)
{
	uint32_t end = lid == 0 ? v->n_ends : MOST_LID + 1u, next = from + PAGE;
	json_t *list = json_array();
	bool is_whole = list != NULL &&
	    (lid == 0 ? add_ports(list, v, from)
		      : add_paths(list, v, lid, from, next < end ? next - 1 : MOST_LID));

	*out = !is_whole ? NULL
			 : json_pack("{s:I, s:O, s:o}", "view", (json_int_t)v->number,
			       lid == 0 ? "ports" : "paths", list, "next",
			       next < end ? json_integer(next) : json_null());
	json_decref(list);
	return *out != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

static int
read_lid(const json_t *args, const char *key, uint16_t *lid, struct fm_error *err)
{
	const json_t *given = json_object_get(args, key);
	json_int_t n = json_integer_value(given);

	*lid = (uint16_t)n;
	return given == NULL || (json_is_integer(given) && n >= 0 && n <= MOST_LID)
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "%s is a number of 0..%d", key, MOST_LID);
}

int
daemon_paths(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	struct sa_view *v;
	uint16_t lid, from;
	int rc = read_lid(args, "lid", &lid, err);

	if (rc == 0)
		rc = read_lid(args, "from", &from, err);
	if (rc != 0)
		return rc;
	v = whole_view(d, err);
	if (v == NULL)
		return FM_E_CONFIG;
	rc = lid != 0 && sa_view_end_of_lid(v, lid) == FM_NONE
	    ? fm_fail(err, FM_E_CONFIG, "LID %u is no port's that is up", lid)
	    : page_json(v, lid, from, result, err);
	sa_view_put(v);
	return rc;
}
