/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/program.c - what switches and ports hold in tables: SwitchInfo,
 * forwarding tables (apply.c), SL2VL, VLArb.
 *
 * Read, compare, Set when they differ.
 */
#include <inttypes.h>

#include "core/sweep/fields.h"
#include "core/sweep/internal.h"

#define VL_ARB_LOW 1 /* block 1 of VLArb: the low-priority table, IBA 14.2.5.9 */
#define VL_ARB_ENTRIES 32
#define VL_ARB_WEIGHT 4

enum block_kind { BLOCK_SL2VL, BLOCK_VL_ARB };

/* ------------------------------------------- read, compare, set when due */

static const struct fm_tables *
tables_of(const struct plan *p)
{
	return &p->tables->t;
}

/* Of the link at a port that is cabled: what it will run with when it has come up. */
static uint8_t
data_vls(const struct sweeper *s, const struct inv_port *p)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };
	const struct inv_port *far = &inv_node(&s->inv, p->peer)->ports[p->peer_port];
	uint8_t code = model_link_vl_code(&s->set, p, far);

	return code < sizeof(vls) ? vls[code] : 15;
}

/* index = in port << 8 | out port (a CA: 0). */
static void
want_sl2vl(const struct sweeper *s, const struct ask *a, uint8_t *data)
{
	const struct inv_node *n = inv_node(&s->inv, a->node);
	const struct fm_fabric *fab = &s->next->snap->fab;
	uint8_t out = inv_is_switch(n) ? (uint8_t)a->index : a->port;
	fm_link link = inv_is_switch(n) ? fm_link_at(fab, n->sw_index, out) : FM_NONE;
	uint8_t vl[16], n_vls;

	if (n->ports[out].edge != EDGE_LINKED)
		return; /* unplugged meanwhile */
	n_vls = data_vls(s, &n->ports[out]);
	for (unsigned sl = 0; sl < 16; sl++)
		vl[sl] = link != FM_NONE ? tables_vl(fab, tables_of(s->next), n->sw_index,
					       (uint8_t)(a->index >> 8), link, (uint8_t)sl)
					 : (uint8_t)(sl % n_vls);
	wire_sl2vl_put(data, vl);
}

/* Equal shares of the low-priority table for the VLs in use. */
static void
want_vl_arb(const struct sweeper *s, const struct ask *a, uint8_t *data)
{
	const struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	unsigned n_vls, cap = p->info.vl_arb_low_cap;

	if (p->edge != EDGE_LINKED)
		return; /* unplugged meanwhile */
	n_vls = data_vls(s, p);
	memset(data, 0, WIRE_SMP_DATA_BYTES);
	for (unsigned i = 0; i < n_vls && i < cap && i < VL_ARB_ENTRIES; i++) {
		data[2 * i] = (uint8_t)i;
		data[2 * i + 1] = VL_ARB_WEIGHT;
	}
}

static const struct block_attr {
	uint16_t attr;
	size_t n_bytes; /* of the 64 that count */
} block_attrs[] = {
	[BLOCK_SL2VL] = { WIRE_ATTR_SL2VL, 8 },
	[BLOCK_VL_ARB] = { WIRE_ATTR_VL_ARB, 64 },
};

static uint32_t
block_modifier(const struct ask *a)
{
	switch ((enum block_kind)a->kind) {
	case BLOCK_SL2VL:
		return a->index;
	case BLOCK_VL_ARB:
		return VL_ARB_LOW << 16 | a->port;
	}
	return 0;
}

static void
warn_block(struct sweeper *s, const struct ask *a, const char *what)
{
	char name[128];

	fm_log_rl(&s->refused_bucket, FM_LOG_WARN, "sweep", "%s port %u %s %s",
	    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)), a->port, what,
	    wire_attr_name(block_attrs[a->kind].attr));
}

static void
on_block_set(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);

	if (status == TXN_OK)
		return;
	n->ports[a->port].qos_done = false;
	if (status != TXN_CANCELLED)
		warn_block(s, a, status == TXN_TIMEOUT ? "does not answer Set" : "refuses Set");
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

	if (a == NULL)
		return;
	ask_set_at(a, block_attrs[kind].attr, block_modifier(a), data, on_block_set);
}

static void
on_block_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	uint8_t want[WIRE_SMP_DATA_BYTES];

	if (status != TXN_OK) {
		if (status != TXN_CANCELLED)
			warn_block(
			    s, a, status == TXN_TIMEOUT ? "does not answer Get" : "refuses Get");
		return;
	}
	memcpy(want, reply + WIRE_SMP_DATA_AT, sizeof(want));
	switch ((enum block_kind)a->kind) {
	case BLOCK_SL2VL:
		want_sl2vl(s, a, want);
		break;
	case BLOCK_VL_ARB:
		want_vl_arb(s, a, want);
		break;
	}
	if (memcmp(want, reply + WIRE_SMP_DATA_AT, block_attrs[a->kind].n_bytes) != 0)
		set_block(s, a->node, a->port, (enum block_kind)a->kind, a->index, want);
}

static void
ensure_block(struct sweeper *s, uint32_t slot, uint8_t port, enum block_kind kind, uint32_t index)
{
	struct ask *a = block_ask(s, slot, port, kind, index);

	if (a == NULL)
		return;
	ask_get_at(a, block_attrs[kind].attr, block_modifier(a), on_block_read);
}

/* ------------------------------------------------------------ SwitchInfo */

static uint32_t
wanted_switch(struct sweeper *s, const struct inv_node *n, struct wire_switch_info *info)
{
	struct field_context c = {
		.set = &s->set, .inv = &s->inv, .node = n, .top_lid = s->next->top_lid
	};

	*info = n->sw;
	return fields_apply(&c, FIELD_SWITCH, n->sw_refused, info);
}

static void
on_set_switch(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct wire_switch_info sent, now;
	uint32_t rows;
	char name[128];

	if (status != TXN_OK) {
		if (status != TXN_CANCELLED)
			fm_log_rl(&s->refused_bucket, FM_LOG_WARN, "sweep", "%s %s Set SwitchInfo",
			    inv_name(n, name, sizeof(name)),
			    status == TXN_TIMEOUT ? "does not answer" : "refuses");
		return;
	}
	rows = wanted_switch(s, n, &sent);
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &now);
	n->sw_refused |= fields_refused(rows, &sent, &now);
	n->sw = now;
	n->sw.port_state_change = 0;
}

/* PortStateChange is cleared by writing 1 (IBA 14.2.5.4), so it is sent as
 * it was read. */
static void
set_switch(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct wire_switch_info want;
	struct ask *a;

	if (wanted_switch(s, n, &want) == 0 && !n->sw.port_state_change)
		return;
	a = ask_new(s, slot, 0);
	if (a == NULL)
		return;
	wire_switch_info_put(data, &want);
	ask_set_at(a, WIRE_ATTR_SWITCH_INFO, 0, data, on_set_switch);
}

void
program_switches(struct sweeper *s)
{
	for (size_t i = 0; s->next != NULL && i < s->inv.switches.n; i++)
		if (node_usable(inv_node(&s->inv, s->inv.switches.item[i])))
			set_switch(s, s->inv.switches.item[i]);
}

/* --------------------------------------------------------------- tables */

/* Once a plan has spread SLs over VLs, one that does not has to say so too. */
static bool
maps_sls(const struct sweeper *s)
{
	return s->next != NULL && (s->next->tables->t.n_vls_used > 1 || s->vls_written);
}

/* SL to VL and VL arbitration of one port, as output; the management port
 * of a switch only as input. */
static void
ensure_qos(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &n->ports[port];

	if (!maps_sls(s) || p->qos_done || n->quiet || port == 0 || !link_usable(&s->inv, p))
		return;
	p->qos_done = !s->set.dry_run;
	if (p->info.vl_arb_low_cap > 0)
		ensure_block(s, slot, (uint8_t)port, BLOCK_VL_ARB, 0);
	if (!inv_is_switch(n)) {
		ensure_block(s, slot, (uint8_t)port, BLOCK_SL2VL, 0);
		return;
	}
	for (unsigned in = 0; in <= n->n_ports; in++)
		if (in != port && (in == 0 || link_usable(&s->inv, &n->ports[in])))
			ensure_block(s, slot, (uint8_t)port, BLOCK_SL2VL, in << 8 | port);
}

static bool
feed_ends(struct sweeper *s)
{
	while (s->cursor[1] < s->inv.nodes.n && s->pending < FEED_HIGH) {
		uint32_t slot = s->cursor[1]++;
		const struct inv_node *n = inv_node(&s->inv, slot);

		for (unsigned p = 0; node_usable(n) && p <= n->n_ports; p++) {
			pkeys_ensure(s, slot, p);
			ensure_qos(s, slot, p);
		}
	}
	return s->cursor[1] < s->inv.nodes.n;
}

static bool
feed_tables(struct sweeper *s)
{
	if (s->cursor[0] == 0) {
		if (s->next != NULL && apply_feed(s))
			return true;
		s->cursor[0] = 1;
		s->cursor[1] = 0;
	}
	return feed_ends(s);
}

/* Are SLs mapped to VLs alike?  Rows of the shape BY_OUT follow the links. */
static bool
same_sl2vl(const struct plan *a, const struct plan *b)
{
	const struct fm_tables *x = tables_of(a), *y = tables_of(b);

	if (a->tables == b->tables)
		return true;
	return x->sl2vl_shape == FM_SL2VL_MODULO && y->sl2vl_shape == FM_SL2VL_MODULO &&
	    x->n_vls_used == y->n_vls_used;
}

void
program_tables(struct sweeper *s)
{
	if (s->plan != NULL && s->next != s->plan && s->next != NULL &&
	    !same_sl2vl(s->plan, s->next))
		for (uint32_t i = 0; i < s->inv.nodes.n; i++)
			for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
				inv_node(&s->inv, i)->ports[p].qos_done = false;
	if (s->next != NULL && s->next->tables->t.n_vls_used > 1)
		s->vls_written = true;
	s->cursor[0] = s->cursor[1] = s->cursor[2] = 0;
	s->applying = true;
	pkeys_start(s);
	apply_start(s);
	s->feed = feed_tables;
}

void
program_commit(struct sweeper *s)
{
	if (!s->applying)
		return;
	s->applying = false;
	apply_commit(s);
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		n->lft_remembered =
		    !node_usable(n) && s->silent_links && (n->lft == LFT_OURS || n->lft_remembered);
		if (!node_usable(n) || s->failed || s->set.dry_run)
			n->lft = LFT_UNKNOWN; /* who knows what it holds when it comes back */
		else if (s->next != NULL)
			n->lft = LFT_OURS;
	}
	if (s->next != s->plan || s->next == NULL) {
		s->plan_saved = s->plan_saved && s->plan != NULL && s->next != NULL &&
		    s->plan->tables == s->next->tables;
		plan_put(s->plan);
		s->plan = s->next;
	} else {
		plan_put(s->next);
	}
	s->next = NULL;
}
