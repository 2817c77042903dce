/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/qos.c - SL to VL and VL arbitration of every port.
 *
 * Two have a say.  An engine that is free of deadlocks only by VLs (its plan
 * uses more than one) says which VL each SL takes between switches; there the
 * administrator's sl2vl does not hold, and where the two differ that is told.
 * Where its SLs are of two levels of quality, these are kept apart on hosts' links, too.
 * Everywhere else, and for weights, the administrator has the say (qos = yes);
 * who says nothing gets vl = sl modulo VLs and equal weights.  No table names a
 * VL that its link does not run.
 *
 * Read, compare, Set when they differ.  A switch has a table for each pair of
 * ports; where it offers OptimizedSLtoVLMapping (IBA 14.2.5.8) one Set writes
 * those of all inputs of an output, or of all pairs.  Such a Set is sent
 * without reading when a switch is first seen, since reading them costs the
 * square of its ports.
 */
#include <inttypes.h>

#include "core/subnet/qos.h"
#include "core/graph/tables_vls.h"
#include "core/program/internal.h"
#include "core/program/looks.h"

#define ARB_BLOCKS 4 /* 1, 2: low priority; 3, 4: high (IBA 14.2.5.9) */
#define ARB_EQUAL_WEIGHT 4
#define ALL_INPUTS 0x20000 /* modifiers of SLtoVLMappingTable */
#define ALL_PAIRS 0x30000
#define CAP_SL_MAPPING (1u << 6) /* PortInfo.CapabilityMask */

enum block_kind { BLOCK_SL2VL, BLOCK_VL_ARB };

static const uint16_t block_attrs[] = { WIRE_ATTR_SL2VL, WIRE_ATTR_VL_ARB };
static const size_t block_bytes[] = { 8, 64 }; /* of the 64 that count */

/* ------------------------------------------------------- what is wanted */

static const struct fm_tables *
tables_of(const struct plan *p)
{
	return &p->tables->t;
}

/* The plan whose maps are written: before the next is made, the last (owed.c). */
static const struct plan *
plan_at_hand(const struct sweeper *s)
{
	return s->next != NULL ? s->next : s->plan;
}

/* Does the plan need its own SL to VL between switches? */
static bool
engine_binds(const struct sweeper *s)
{
	const struct plan *p = plan_at_hand(s);

	return p != NULL && p->tables != NULL && tables_of(p)->n_vls_used > 1;
}

static bool
plan_has_levels(const struct plan *p)
{
	return p->tables != NULL && tables_has_levels(&p->snap->fab, tables_of(p));
}

/* Are there two levels of quality? */
static bool
has_levels(const struct sweeper *s)
{
	const struct plan *p = plan_at_hand(s);

	if (p != NULL && p->number != s->vls->levels_of) {
		s->vls->levels_of = p->number;
		s->vls->levels = plan_has_levels(p);
	}
	return p != NULL && s->vls->levels;
}

/* Once something has spread SLs over VLs, whoever does not has to say so too. */
static bool
maps_sls(const struct sweeper *s)
{
	return s->set.qos != NULL || s->vls->written || engine_binds(s) ||
	    (plan_at_hand(s) != NULL && s->vls->spread);
}

static const struct qos_tables *
kind_of(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	const struct qos *q = s->set.qos;

	if (q == NULL)
		return NULL;
	if (inv_is_switch(n))
		return &q->port[port == 0 ? QOS_SWITCH0 : QOS_SWITCH];
	return &q->port[n->type == WIRE_NODE_ROUTER ? QOS_ROUTER : QOS_CA];
}

/* Of the link at a port: what it will run with when it has come up. */
static uint8_t
data_vls(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };
	const struct inv_port *p = &n->ports[port];
	uint8_t code = port == 0
	    ? p->info.vl_cap
	    : field_link_vl_code(&s->set, p, &inv_node(&s->inv, p->peer)->ports[p->peer_port]);

	return code < sizeof(vls) ? vls[code] : 15;
}

/* Port 0 of a switch has tables when it is an enhanced one. */
static bool
has_tables(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	if (port == 0)
		return inv_is_switch(n) && n->sw.enhanced_port0 &&
		    (s->set.qos != NULL || s->vls->written);
	return links_takes(s, n, port);
}

/* The link by which packets go on to another switch, FM_NONE: there is none. */
static fm_link
link_of(const struct sweeper *s, const struct inv_node *n, unsigned out)
{
	const struct plan *p = plan_at_hand(s);

	if (p == NULL || !inv_is_switch(n) || out == 0 || n->sw_index >= p->snap->fab.n_switches)
		return FM_NONE;
	return fm_link_at(&p->snap->fab, n->sw_index, (uint8_t)out);
}

/* An isolated cable that is restored has maps of a plan that does not know it. */
static bool
is_done(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	const struct inv_port *p = &n->ports[port];

	return p->maps == MAPS_DONE ||
	    (p->maps == MAPS_OF_NO_LINK && link_of(s, n, port) == FM_NONE);
}

static void
want_row(const struct sweeper *s, const struct inv_node *n, unsigned in, unsigned out, uint8_t *vl)
{
	const struct qos_tables *t = kind_of(s, n, out);
	const struct plan *p = plan_at_hand(s);
	fm_link link = link_of(s, n, out);
	uint8_t n_vls = data_vls(s, n, out);

	if (link == FM_NONE || (t != NULL && !engine_binds(s))) {
		qos_host_sl2vl(t, has_levels(s), n_vls, vl);
		return;
	}
	for (uint8_t sl = 0; sl < 16; sl++)
		vl[sl] = tables_vl(&p->snap->fab, tables_of(p), n->sw_index, (uint8_t)in, link, sl);
}

/* VLs that the engine needs here: they must have some weight. */
static uint16_t
vls_needed(const struct sweeper *s, const struct inv_node *n, unsigned out)
{
	if (!engine_binds(s))
		return 0;
	if (link_of(s, n, out) == FM_NONE)
		return !has_levels(s) ? 0 : data_vls(s, n, out) > 1 ? 3 : 1;
	return (uint16_t)((1u << tables_of(plan_at_hand(s))->n_vls_used) - 1);
}

/* Who says nothing: equal shares of the low-priority table for the VLs there are. */
static void
equal_arb(struct qos_arb *e, bool high, unsigned block, uint8_t cap, uint8_t n_vls)
{
	memset(e, 0, QOS_ARB_BLOCK * sizeof(*e));
	for (uint8_t i = 0; !high && block == 0 && i < n_vls && i < cap; i++)
		e[i] = (struct qos_arb){ i, ARB_EQUAL_WEIGHT };
}

static void
want_arb(
    const struct sweeper *s, const struct inv_node *n, unsigned port, unsigned index, uint8_t *data)
{
	const struct qos_tables *t = kind_of(s, n, port);
	const struct wire_port_info *i = &n->ports[port].info;
	bool high = index > 2;
	uint8_t cap = high ? i->vl_arb_high_cap : i->vl_arb_low_cap, n_vls = data_vls(s, n, port);
	unsigned block = (index - 1) % 2;
	struct qos_arb e[QOS_ARB_BLOCK];

	if (t != NULL)
		qos_fit_arb(
		    t, high, block, cap, n_vls, qos_starved(t, n_vls, vls_needed(s, n, port)), e);
	else
		equal_arb(e, high, block, cap, n_vls);
	memset(data, 0, WIRE_SMP_DATA_BYTES);
	for (unsigned k = 0; k < QOS_ARB_BLOCK; k++) {
		data[2 * k] = e[k].vl;
		data[2 * k + 1] = e[k].weight;
	}
}

/* ------------------------------------------- read, compare, set when due */

/* SL2VL: index = in port << 8 | out port (a CA: 0), as in the modifier. */
static uint32_t
block_modifier(const struct ask *a)
{
	return a->kind == BLOCK_SL2VL ? a->index : a->index << 16 | a->port;
}

static void
warn_block(struct sweeper *s, const struct ask *a, enum txn_status status, const char *method)
{
	char name[128];

	fm_log_rl(&s->logs.refused, ask_loudness(status), "sweep", "%s port %u %s %s %s",
	    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)), a->port,
	    status == TXN_TIMEOUT ? "does not answer" : "refuses", method,
	    wire_attr_name(block_attrs[a->kind]));
}

/* Does the ask set a map by which packets go on to another switch?  Port 0: all maps at once. */
static bool
sets_way_on(const struct ask *a)
{
	const struct inv_node *n = inv_node(&a->s->inv, a->node);

	return a->kind == BLOCK_SL2VL && inv_is_switch(n) && engine_binds(a->s) &&
	    (a->port == 0 || link_of(a->s, n, a->port) != FM_NONE);
}

static void
on_block_set(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);

	if (status != TXN_REFUSED && sets_way_on(a))
		s->writing.wrote_ns = s->p.transport->ops->now_ns(s->p.transport);
	if (status == TXN_OK)
		return;
	n->ports[a->port].maps = MAPS_DUE;
	if (status != TXN_CANCELLED)
		warn_block(s, a, status, "Set");
}

static struct ask *
block_ask(struct sweeper *s, uint32_t slot, uint8_t port, enum block_kind kind, uint32_t index)
{
	struct ask *a = ask_new(s, slot, port);

	if (a != NULL) {
		a->kind = (uint8_t)kind;
		a->index = index;
	}
	return a;
}

static void
set_block(struct sweeper *s, uint32_t slot, uint8_t port, enum block_kind kind, uint32_t index,
    const uint8_t *data)
{
	struct ask *a = block_ask(s, slot, port, kind, index);

	if (a != NULL)
		ask_set_at(a, block_attrs[kind], block_modifier(a), data, on_block_set);
}

static void
on_block_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct inv_node *n = inv_node(&s->inv, a->node);
	uint8_t want[WIRE_SMP_DATA_BYTES] = { 0 }, vl[16];

	if (status != TXN_OK) {
		if (status != TXN_REFUSED)
			inv_node(&s->inv, a->node)->ports[a->port].maps = MAPS_DUE;
		if (status != TXN_CANCELLED)
			warn_block(s, a, status, "Get");
		return;
	}
	if (a->port != 0 && n->ports[a->port].edge != EDGE_LINKED)
		return; /* unplugged meanwhile */
	if (a->kind == BLOCK_VL_ARB) {
		want_arb(s, n, a->port, a->index, want);
	} else {
		want_row(s, n, a->index >> 8, a->port, vl);
		wire_sl2vl_put(want, vl);
	}
	if (memcmp(want, reply + WIRE_SMP_DATA_AT, block_bytes[a->kind]) != 0)
		set_block(s, a->node, a->port, (enum block_kind)a->kind, a->index, want);
}

static void
ensure_block(struct sweeper *s, uint32_t slot, uint8_t port, enum block_kind kind, uint32_t index)
{
	struct ask *a = block_ask(s, slot, port, kind, index);

	if (a != NULL && !ask_get_at(a, block_attrs[kind], block_modifier(a), on_block_read))
		inv_node(&s->inv, slot)->ports[port].maps = MAPS_DUE; /* it has fallen silent */
}

/* --------------------------------------------- all pairs of a switch at once */

/* Rows that do not depend on the input, on a switch that takes them at once. */
static bool
is_optimised(const struct sweeper *s, const struct inv_node *n)
{
	const struct plan *p = plan_at_hand(s);

	return inv_is_switch(n) && n->sw.optimized_slvl == 1 && s->set.qos != NULL &&
	    s->set.qos->optimised_sl2vl &&
	    (!engine_binds(s) || tables_vls_by_out(&p->snap->fab, tables_of(p), n->sw_index));
}

static void
on_all_set(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);

	on_block_set(a, status, reply);
	for (unsigned p = 0; status != TXN_OK && p <= n->n_ports; p++)
		n->ports[p].maps = MAPS_DUE;
}

static void
set_all(struct sweeper *s, uint32_t slot, uint8_t port, uint32_t modifier, const uint8_t *vl)
{
	struct ask *a = block_ask(s, slot, port, BLOCK_SL2VL, modifier);
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };

	wire_sl2vl_put(data, vl);
	if (a != NULL)
		ask_set_at(a, WIRE_ATTR_SL2VL, modifier, data, on_all_set);
}

/* One Set when all outputs want the same, else one for each. */
static void
set_switch_rows(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	uint8_t first[16], row[16];
	bool same = true, due = false;
	unsigned n_outs = 0;

	for (unsigned out = 0; out <= n->n_ports; out++) {
		if (!has_tables(s, n, out))
			continue;
		want_row(s, n, 0, out, n_outs++ == 0 ? first : row);
		same = same && (n_outs == 1 || memcmp(row, first, sizeof(row)) == 0);
		due = due || !is_done(s, n, out);
	}
	if (!due)
		return;
	if (same) {
		set_all(s, slot, 0, ALL_PAIRS, first);
		return;
	}
	for (unsigned out = 0; out <= n->n_ports; out++)
		if (has_tables(s, n, out)) {
			want_row(s, n, 0, out, row);
			set_all(s, slot, (uint8_t)out, ALL_INPUTS | out, row);
		}
}

/* --------------------------------------------------------------- each port */

/* By all inputs: while entries change, packets may leave by the port that they came in by. */
static void
ensure_rows(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	if (!inv_is_switch(n)) {
		ensure_block(s, slot, (uint8_t)port, BLOCK_SL2VL, 0);
		return;
	}
	for (unsigned in = 0; in <= n->n_ports; in++)
		if (in == 0 || links_takes(s, n, in))
			ensure_block(s, slot, (uint8_t)port, BLOCK_SL2VL, in << 8 | port);
}

/* Blocks of VL arbitration that are looked at in a port. */
static unsigned
n_arb_blocks(const struct sweeper *s)
{
	return s->set.qos != NULL || s->vls->written ? ARB_BLOCKS : 1;
}

/* Has the port a block of this index? */
static bool
has_arb(const struct wire_port_info *i, unsigned index)
{
	const uint8_t cap[] = { i->vl_arb_low_cap, i->vl_arb_high_cap };

	return cap[(index - 1) / 2] > (index - 1) % 2 * QOS_ARB_BLOCK;
}

static void
ensure_arb(struct sweeper *s, uint32_t slot, unsigned port)
{
	for (unsigned index = 1; index <= n_arb_blocks(s); index++)
		if (has_arb(&inv_node(&s->inv, slot)->ports[port].info, index))
			ensure_block(s, slot, (uint8_t)port, BLOCK_VL_ARB, index);
}

/* A port of one VL without SL to VL has nothing to map. */
static bool
can_map(const struct inv_node *n, unsigned port)
{
	const struct wire_port_info *end = &n->ports[inv_is_switch(n) ? 0 : port].info;

	return (end->capability_mask & CAP_SL_MAPPING) != 0 || n->ports[port].info.vl_cap > 1;
}

/* Links that have come since: the rows of their packets, which nobody has written while there
 * were none. */
static void
ensure_inputs(struct sweeper *s, uint32_t slot, unsigned out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned in = 1; inv_is_switch(n) && in <= n->n_ports; in++)
		if (in != out && !n->ports[in].maps_in_done && links_takes(s, n, in))
			ensure_block(s, slot, (uint8_t)out, BLOCK_SL2VL, in << 8 | out);
}

void
qos_ensured(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned p = 1; maps_sls(s) && !n->quiet && !s->set.dry_run && p <= n->n_ports; p++) {
		n->ports[p].maps_in_done = links_takes(s, n, p);
		if (!has_tables(s, n, p))
			n->ports[p].maps = MAPS_DUE;
	}
}

bool
qos_is_due(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return maps_sls(s) && !is_done(s, n, port) && has_tables(s, n, port) && can_map(n, port);
}

/* As output; port 0 of a base switch only as input. */
void
qos_ensure(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &n->ports[port];
	bool at_once = is_optimised(s, n);
	enum inv_maps written;

	if (!maps_sls(s) || n->quiet)
		return;
	if (port == 0 && at_once)
		set_switch_rows(s, slot);
	if (!has_tables(s, n, port) || !can_map(n, port))
		return;
	written = link_of(s, n, port) != FM_NONE ? MAPS_DONE : MAPS_OF_NO_LINK;
	if (is_done(s, n, port)) {
		p->maps = written;
		if (!at_once)
			ensure_inputs(s, slot, port);
		return;
	}
	p->maps = s->set.dry_run ? MAPS_DUE : written;
	ensure_arb(s, slot, port);
	if (!at_once)
		ensure_rows(s, slot, port);
}

/* ------------------------------------------------------- of the last plan */

/* Is there a map towards another switch that is not known to be as the plan wants it? */
static bool
lacks_maps(const struct sweeper *s, const struct inv_node *n)
{
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (!is_done(s, n, p) && has_tables(s, n, p) && can_map(n, p) &&
		    link_of(s, n, p) != FM_NONE)
			return true;
	return false;
}

void
qos_note_owed(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->owes_maps =
	    !s->set.dry_run && maps_sls(s) && node_usable(n) && (n->quiet || lacks_maps(s, n));
}

void
qos_pay(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned p = 0; p <= n->n_ports; p++)
		if (p == 0 || link_of(s, n, p) != FM_NONE)
			qos_ensure(s, slot, p);
}

/* -------------------------------------------------------------- collisions */

/* "1, 4-7" */
static const char *
list_bits(uint16_t bits, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < 16; i++) {
		unsigned last = i;

		if ((bits & (1u << i)) == 0)
			continue;
		while (last < 15 && (bits & (1u << (last + 1))) != 0)
			last++;
		at += (size_t)snprintf(buf + at, size - at, "%s%u", at > 0 ? ", " : "", i);
		if (last > i && at < size)
			at += (size_t)snprintf(buf + at, size - at, "-%u", last);
		i = last;
	}
	return buf;
}

/* SLs that the plan sends by another VL than the administrator, on any link. */
static uint16_t
collided_sls(const struct sweeper *s)
{
	uint16_t sls = 0;

	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		for (unsigned out = 1; node_usable(n) && out <= n->n_ports; out++) {
			fm_link link = link_of(s, n, out);
			uint8_t vl[16];

			if (link == FM_NONE || !has_tables(s, n, out))
				continue;
			qos_fit_sl2vl(&s->set.qos->port[QOS_SWITCH], data_vls(s, n, out), vl);
			for (uint8_t sl = 0; sl < 16; sl++)
				if (tables_vl(&s->next->snap->fab, tables_of(s->next), n->sw_index,
					0, link, sl) != vl[sl])
					sls |= (uint16_t)(1u << sl);
		}
		if (sls == 0xffff)
			break;
	}
	return sls;
}

static void
log_sl_collision(struct sweeper *s)
{
	uint16_t sls = engine_binds(s) && s->set.qos != NULL ? collided_sls(s) : 0;
	char list[64];

	if (sls == s->vls->collided)
		return;
	s->vls->collided = sls;
	if (sls != 0)
		log_notice("qos",
		    "engine %s needs VLs of its own between switches to be free of credit loops: "
		    "for the SLs %s qos_swe_sl2vl (qos_sl2vl) does not hold there, and paths have "
		    "the engine's SLs%s; VLs without weight get weight 1",
		    s->next->engine, list_bits(sls, list, sizeof(list)),
		    has_levels(s) ? ", plus 8 for the second of its two levels of quality, which "
				    "it keeps apart on hosts' links, too, as VLs 0 and 1"
				  : "");
}

static void
log_starved_vls(const struct sweeper *s)
{
	static const char *const names[QOS_PORTS] = { "ca", "rtr", "sw0", "swe" };
	char list[64];

	for (unsigned k = 0; s->set.qos != NULL && k < QOS_PORTS; k++) {
		const struct qos_tables *t = &s->set.qos->port[k];
		uint16_t starved = qos_without_weight(t);

		if (starved != 0)
			log_warn("qos",
			    "VLs %s have no weight in qos_%s_vlarb_high and _low: packets that "
			    "sl2vl leads there are never sent",
			    list_bits(starved, list, sizeof(list)), names[k]);
	}
}

static void
forget_tables(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
			inv_node(&s->inv, i)->ports[p].maps = MAPS_DUE;
}

void
qos_not_taken(struct sweeper *s)
{
	if (s->plan == NULL || s->next == NULL || plan_same_vls(s->plan, s->next))
		return;
	forget_tables(s);
	for (fm_sw sw = 0; sw < s->plan->snap->fab.n_switches; sw++)
		inv_node(&s->inv, s->inv.switches.item[sw])->owes_maps = !s->set.dry_run;
}

static uint64_t
mark_of(const struct qos *q)
{
	return q != NULL ? fm_hash_bytes(1, q, sizeof(*q)) : 0;
}

void
qos_start(struct sweeper *s)
{
	uint64_t mark = mark_of(s->set.qos);

	if (mark != s->vls->mark ||
	    (s->plan != NULL && s->next != s->plan && s->next != NULL &&
		(!plan_same_vls(s->plan, s->next) || plan_has_levels(s->plan) != has_levels(s))))
		forget_tables(s);
	if (mark != s->vls->mark)
		log_starved_vls(s);
	s->vls->mark = mark;
	s->vls->written = s->vls->written || s->set.qos != NULL;
	s->vls->spread = s->vls->spread || engine_binds(s);
	log_sl_collision(s);
}

/* -------------------------------------------------------------- reading back */

/* Are the tables of a port known to be as they are to be? */
static bool
is_settled(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	return is_done(s, n, port) && has_tables(s, n, port) && can_map(n, port);
}

/* By output, then input; of a CA or router by port. */
uint32_t
qos_n_maps(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	if (!maps_sls(s))
		return 0;
	return (n->n_ports + 1u) * (inv_is_switch(n) ? n->n_ports + 1u : 1u);
}

static unsigned
out_of_map(const struct inv_node *n, uint32_t i)
{
	return inv_is_switch(n) ? i / (n->n_ports + 1u) : i;
}

bool
qos_look_at_map(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	unsigned port = out_of_map(n, i), in = inv_is_switch(n) ? i % (n->n_ports + 1u) : 0;
	uint8_t vl[16];

	if (!is_settled(s, n, port) ||
	    (in != 0 && !(n->ports[in].maps_in_done && links_takes(s, n, in))))
		return false;
	want_row(s, n, in, port, vl);
	*out = (struct look){ .attr = WIRE_ATTR_SL2VL,
		.modifier = inv_is_switch(n) ? in << 8 | port : 0,
		.port = (uint8_t)port,
		.n_bytes = (uint8_t)block_bytes[BLOCK_SL2VL] };
	wire_sl2vl_put(out->bytes, vl);
	return true;
}

/* The maps that the next plan is proven with come first (owed.c). */
void
qos_forget_map(struct sweeper *s, uint32_t slot, uint32_t i)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->ports[out_of_map(n, i)].maps = MAPS_DUE;
	if (inv_is_switch(n))
		qos_note_owed(s, slot);
}

uint32_t
qos_n_arbs(const struct sweeper *s, uint32_t slot)
{
	return maps_sls(s) ? (inv_node(&s->inv, slot)->n_ports + 1u) * ARB_BLOCKS : 0;
}

bool
qos_look_at_arb(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	unsigned port = i / ARB_BLOCKS, index = i % ARB_BLOCKS + 1;

	if (!is_settled(s, n, port) || index > n_arb_blocks(s) ||
	    !has_arb(&n->ports[port].info, index))
		return false;
	*out = (struct look){ .attr = WIRE_ATTR_VL_ARB,
		.modifier = index << 16 | port,
		.port = (uint8_t)port,
		.n_bytes = (uint8_t)block_bytes[BLOCK_VL_ARB] };
	want_arb(s, n, port, index, out->bytes);
	return true;
}

void
qos_forget_arb(struct sweeper *s, uint32_t slot, uint32_t i)
{
	inv_node(&s->inv, slot)->ports[i / ARB_BLOCKS].maps = MAPS_DUE;
}
