/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/adaptive/adaptive.h"
#include "core/daemon/fabric_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "core/nodes/name_map.h"
#include "core/nodes/nodes.h"
#include "core/picture/cable.h"
#include "core/picture/loads.h"
#include "core/text/json_text.h"
#include "lib/error.h"

/* ------------------------------------------------------------------ a page */

/* What is asked for, and the page as far as it is made. */
struct page {
	const struct daemon *d;
	const struct inventory *inv;
	const struct plan *plan;
	uint64_t from;
	bool trouble, degraded; /* only such rows */
	char pattern[160];
	struct node_item who; /* text NULL: all nodes */
	uint16_t *sw_region;  /* [n_switches of the plan] NULL: there is no plan */
	json_t *rows;
	uint32_t n_ports; /* looked at */
};

static const char *
type_word(const struct inv_node *n)
{
	return inv_is_switch(n) ? "switch" : n->type == WIRE_NODE_ROUTER ? "router" : "ca";
}

static int
read_name(struct page *p, const char *name, struct fm_error *err)
{
	int n = snprintf(p->pattern, sizeof(p->pattern), "%s%s",
	    strncmp(name, "0x", 2) == 0 ? "" : "name:", name);

	if ((size_t)n >= sizeof(p->pattern))
		return fm_fail(err, FM_E_CONFIG, "name: a name has 64 bytes at most");
	if (node_item_parse(p->pattern, &p->who, err) != 0)
		return (int)err->kind;
	return p->who.kind == NODE_NAME || p->who.kind == NODE_GUID
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "\"%.80s\" is no name of a node, pattern or GUID", name);
}

static int
read_args(struct page *p, const json_t *args, struct fm_error *err)
{
	const json_t *from = json_object_get(args, "from"), *name = json_object_get(args, "name");

	if (from != NULL && (!json_is_integer(from) || json_integer_value(from) < 0))
		return fm_fail(err, FM_E_CONFIG, "from is the number that \"next\" was, 0 or more");
	if (name != NULL && !json_is_string(name))
		return fm_fail(err, FM_E_CONFIG, "name is the name of a node, a pattern or a GUID");
	p->from = (uint64_t)json_integer_value(from);
	p->trouble = json_is_true(json_object_get(args, "trouble"));
	p->degraded = json_is_true(json_object_get(args, "degraded"));
	return name != NULL ? read_name(p, json_string_value(name), err) : 0;
}

/* By the whole name or its first word: "node17" is "node17 HCA-1". */
static bool
is_called(const char *pattern, const char *name)
{
	char first[NAME_MAP_BYTES + 1];
	size_t len = strcspn(name, " ");

	memcpy(first, name, len);
	first[len] = '\0';
	return node_name_match(pattern, name) || node_name_match(pattern, first);
}

static bool
is_meant(const struct page *p, const struct inv_node *n)
{
	if (p->who.text == NULL)
		return true;
	if (p->who.kind == NODE_GUID)
		return n->guid == p->who.number;
	return is_called(p->who.name, n->name) || is_called(p->who.name, n->desc);
}

static int
make_room(struct page *p, struct fm_error *err)
{
	p->rows = json_array();
	return p->rows != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

/* "next": where the page after begins; false: there is none. */
static int
hand_out(struct page *p, const char *key, bool more, uint64_t next, json_t **result,
    struct fm_error *err)
{
	*result = json_pack("{s:o, s:o}", key, p->rows, "next",
	    more ? json_integer((json_int_t)next) : json_null());
	free(p->sw_region);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

/* ------------------------------------------------------------------- nodes */

/* The switch that a node is or hangs off, in the plan's fabric; FM_NONE. */
static fm_sw
home_switch(const struct page *p, const struct inv_node *n)
{
	for (unsigned i = 1; !inv_is_switch(n) && i <= n->n_ports; i++)
		if (n->ports[i].edge == EDGE_LINKED) {
			n = inv_node(p->inv, n->ports[i].peer);
			break;
		}
	return inv_is_switch(n) && p->plan != NULL && n->sw_index < p->plan->snap->fab.n_switches
	    ? n->sw_index
	    : FM_NONE;
}

/* Who routes what is there. */
static void
find_region(
    const struct page *p, const struct inv_node *n, const char **region, const char **engine)
{
	fm_sw sw = home_switch(p, n);

	*region = *engine = NULL;
	if (sw == FM_NONE)
		return;
	*region = p->d->conf->regions.set.region[p->sw_region[sw]].name;
	*engine = plan_engine_of(p->plan, *region);
}

/* Base LIDs of its ports, in their order. */
static json_t *
lids_json(const struct inv_node *n)
{
	json_t *lids = json_array();

	for (unsigned i = inv_is_switch(n) ? 0 : 1; i <= (inv_is_switch(n) ? 0 : n->n_ports); i++)
		if (n->ports[i].lid != 0)
			json_array_append_new(lids, json_integer(n->ports[i].lid));
	return lids;
}

static void
count_ports(const struct inv_node *n, int *n_up, int *n_active)
{
	*n_up = *n_active = 0;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		*n_up += inv_port_up(&n->ports[i]);
		*n_active += n->ports[i].known && n->ports[i].info.port_state == WIRE_PORT_ACTIVE;
	}
}

/* The entries of the list of what is unfinished; the kind of the first. */
static uint32_t
count_troubles(const struct page *p, uint32_t slot, const char **kind)
{
	const struct todo_list *todo = sweeper_todo(p->d->sweeper);
	size_t low = 0, high = todo->n, first;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (todo->item[mid].slot < slot)
			low = mid + 1;
		else
			high = mid;
	}
	for (first = low; low < todo->n && todo->item[low].slot == slot;)
		low++;
	*kind = low > first ? todo_name((enum todo_why)todo->item[first].why) : NULL;
	return (uint32_t)(low - first);
}

static json_t *
node_json(const struct page *p, uint32_t slot, uint32_t n_troubles, const char *kind)
{
	const struct inv_node *n = inv_node(p->inv, slot);
	const char *region, *engine;
	int n_up, n_active;

	count_ports(n, &n_up, &n_active);
	find_region(p, n, &region, &engine);
	return json_pack(
	    "{s:s, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:s?, s:s?, s:i, s:s?, s:s?}", "type",
	    type_word(n), "node", json_text(n->name), "guid", json_guid(n->guid), "system_guid",
	    json_guid(n->system_guid), "lids", lids_json(n), "lmc",
	    (int)n->ports[inv_is_switch(n) ? 0 : 1].lmc, "ports", (int)n->n_ports, "ports_up", n_up,
	    "ports_active", n_active, "region", region, "engine", engine, "troubles",
	    (int)n_troubles, "trouble", kind, "adaptive_routing",
	    inv_is_switch(n) ? ar_state_word(ar_state_of(p->d->sweeper, slot)) : NULL);
}

/* The region of each switch. */
static int
find_regions(struct page *p, struct fm_error *err)
{
	return p->plan == NULL
	    ? 0
	    : regions_find(&p->d->conf->regions.set, p->plan->snap, &p->sw_region, err);
}

int
daemon_nodes(const struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	struct page p = {
		.d = d, .inv = sweeper_inventory(d->sweeper), .plan = sweeper_plan(d->sweeper)
	};
	uint64_t slot;

	if (read_args(&p, args, err) != 0 || find_regions(&p, err) != 0 || make_room(&p, err) != 0)
		return (int)err->kind;
	for (slot = p.from; slot < p.inv->nodes.n; slot++) {
		const struct inv_node *n = inv_node(p.inv, (uint32_t)slot);
		const char *kind;
		uint32_t n_troubles;

		if (!n->present || !is_meant(&p, n))
			continue;
		n_troubles = count_troubles(&p, (uint32_t)slot, &kind);
		if (p.trouble && n_troubles == 0)
			continue;
		if (json_array_size(p.rows) == FABRIC_PAGE)
			break;
		json_array_append_new(p.rows, node_json(&p, (uint32_t)slot, n_troubles, kind));
	}
	return hand_out(&p, "nodes", slot < p.inv->nodes.n, slot, result, err);
}

/* ------------------------------------------------------------------- links */

static const char *
state_word(const struct inv_port *port)
{
	static const char *const words[] = { [0] = "unknown",
		[WIRE_PORT_DOWN] = "down",
		[WIRE_PORT_INIT] = "init",
		[WIRE_PORT_ARMED] = "armed",
		[WIRE_PORT_ACTIVE] = "active" };

	return words[cable_port_state(port)];
}

static json_t *
end_json(const struct cable_end *e)
{
	return json_pack("{s:o, s:o, s:s, s:i, s:i, s:s}", "node", json_text(e->node->name), "guid",
	    json_guid(e->node->guid), "type", type_word(e->node), "port", (int)e->port, "lid",
	    (int)e->node->ports[inv_is_switch(e->node) ? 0 : e->port].lid, "state",
	    state_word(e->at));
}

static json_t *
width_json(struct wire_rate r)
{
	return r.lanes == 0 ? json_null() : json_sprintf("%ux", r.lanes);
}

static json_t *
speed_json(struct wire_rate r)
{
	return r.lanes == 0 ? json_null() : json_string_nocheck(link_speed_word(r.lane_mbps));
}

static json_t *
cable_json(const struct page *p, const struct cable *c)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:I, s:o, s:o, s:I, s:b, s:b, s:s?}", "from",
	    end_json(&c->near), "to", c->far.node != NULL ? end_json(&c->far) : json_null(),
	    "state", state_word(cable_worse(c)), "width", width_json(c->rate), "speed",
	    speed_json(c->rate), "mbps", (json_int_t)wire_rate_mbps(c->rate), "best_width",
	    width_json(c->best), "best_speed", speed_json(c->best), "best_mbps",
	    (json_int_t)wire_rate_mbps(c->best), "degraded", (int)cable_is_degraded(c), "isolated",
	    (int)isolated_is_cable(&p->d->isolated, p->inv, c->near.slot, c->near.port), "trouble",
	    c->why != TODO_DONE ? todo_name(c->why) : NULL);
}

/* Appended where it is asked for; false: the page is full. */
static bool
add_cable(struct page *p, const struct cable_end *e)
{
	struct cable c;

	if (++p->n_ports > FABRIC_PORTS)
		return false;
	if (!cable_is_told_at(p->inv, e))
		return true;
	c = cable_of(p->inv, sweeper_todo(p->d->sweeper), e);
	if ((p->trouble || p->degraded) && !(p->trouble && c.why != TODO_DONE) &&
	    !(p->degraded && cable_is_degraded(&c)))
		return true;
	if (!is_meant(p, e->node) && (c.far.node == NULL || !is_meant(p, c.far.node)))
		return true;
	if (json_array_size(p->rows) == FABRIC_PAGE)
		return false;
	json_array_append_new(p->rows, cable_json(p, &c));
	return true;
}

/* A port by its number among all: node * 256 + port. */
int
daemon_links(const struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	struct page p = { .d = d, .inv = sweeper_inventory(d->sweeper) };
	unsigned port;
	uint64_t slot;

	if (read_args(&p, args, err) != 0 || make_room(&p, err) != 0)
		return (int)err->kind;
	port = p.from & 255;
	for (slot = p.from >> 8; slot < p.inv->nodes.n; slot++, port = 0) {
		const struct inv_node *n = inv_node(p.inv, (uint32_t)slot);

		for (port += port == 0; n->present && port <= n->n_ports; port++) {
			struct cable_end e = cable_end(p.inv, (uint32_t)slot, port);

			if (!add_cable(&p, &e))
				return hand_out(&p, "links", true, slot << 8 | port, result, err);
		}
	}
	return hand_out(&p, "links", false, 0, result, err);
}

/* ------------------------------------------------------------------ fabric */

/* The picture is that of now. */
static int
keep_picture(struct daemon *d, struct fm_error *err)
{
	const struct plan *plan = sweeper_plan(d->sweeper);
	const struct picture_of of = { .inv = sweeper_inventory(d->sweeper),
		.todo = sweeper_todo(d->sweeper),
		.isolated = &d->isolated,
		.plan = plan,
		.load = loads_of(d->loads, plan),
		.regions = &d->conf->regions.set,
		.is_master = d->ha.state == WIRE_SM_MASTER };

	return picture_keep(&d->picture, &of, sweeper_phase(d->sweeper) == PHASE_IDLE, err);
}

/* They have it already. */
static int
write_same(const char *generation, struct ctl_text *text, struct fm_error *err)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "{\"generation\":\"%s\",\"same\":true}", generation);

	text->bytes = strdup(line);
	text->n = (size_t)n;
	return text->bytes != NULL ? 0
				   : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

int
daemon_fabric(struct daemon *d, const json_t *args, struct ctl_text *text, struct fm_error *err)
{
	const json_t *known = json_object_get(args, "generation");
	int rc;

	if (known != NULL && !json_is_string(known))
		return fm_fail(
		    err, FM_E_CONFIG, "generation is the string that the answer before had");
	loads_ask(d->loads, sweeper_plan(d->sweeper));
	if ((rc = keep_picture(d, err)) != 0)
		return rc;
	if (known != NULL && strcmp(json_string_value(known), d->picture.generation) == 0)
		return write_same(d->picture.generation, text, err);
	*text = picture_text(&d->picture);
	return 0;
}

json_t *
daemon_generation(struct daemon *d)
{
	struct fm_error err;

	return keep_picture(d, &err) == 0 ? json_string(d->picture.generation) : NULL;
}
