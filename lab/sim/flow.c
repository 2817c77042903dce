/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows: a fluid in place of packets, so that counters of busy ports can be
 * had without simulating what passes them.
 *
 *	asked ──► ways by the LFTs ──► rates: max-min fair ──► counters, by the clock
 *
 * A flow takes the way that a packet from its first node to its second would
 * take, any of them where switches route adaptively, and leaves each port on it
 * for the next.  A link takes what its width
 * and speed are in each direction.  Rates are max-min fair: all flows rise
 * alike till each has what it asks for, or shares a full link with others of
 * which none has more.  At the port where a flow is cut, and back from there to
 * its source, the part of all that is asked of a port that is held back is the
 * part of the time in which PortXmitWait counts: waiting ports are a tree with
 * the full link as its root.  A flow that does not arrive takes its share up to
 * where it is dropped, and is counted there.
 *
 * Ways and rates hold from when they are found: at once when something has
 * changed, and FIND_NS after the last time at the earliest.  Counters have what
 * has flowed when somebody asks: whole packets, whole ticks.  All of it is a
 * function of the clock.
 *
 * Cost: to find O(flows * hops * rates that differ), to count O(flows * hops).
 */
#include <string.h>

#include "lab/sim/net.h"
#include "lib/error.h"
#include "lib/log.h"

#define FIND_NS INT64_C(1000000)
#define PACKET_BYTES 256
#define MILLION UINT64_C(1000000)
#define STEP_US INT64_C(1000000) /* so that no product is beyond 64 bits */
#define BYTES_PER_S_OF_MBPS UINT64_C(125000)

/* ---- ways */

static struct sim_place
first_port(const struct sim *s, uint32_t node)
{
	bool is_switch = s->fabric.nodes[node].type == WIRE_NODE_SWITCH;

	return (struct sim_place){ node, is_switch ? 0 : 1 };
}

/* False: memory is out. */
static bool
find_way(struct sim *s, struct sim_flow *fl)
{
	const struct sim_fabric *f = &s->fabric;
	struct sim_place from = first_port(s, fl->from);
	uint32_t out[SIM_LID_HOPS_MAX];
	struct sim_way way = { .at = from,
		.out = out,
		.draw = net_draw(s),
		.mtu = PACKET_BYTES,
		.pkey = port_pkey(f, f->nodes[from.node].first_port + from.port, 0) };
	uint16_t lid = place_lid(f, first_port(s, fl->to));
	bool arrives = lid != 0 && walk_lid(f, lid, WIRE_PORT_ACTIVE, &way);

	fl->first_hop = (uint32_t)s->flows.hops.n;
	fl->cut_at = fl->n_hops = way.n_hops;
	fl->drop_port = arrives || lid == 0 ? SIM_NONE : way.dropped.port;
	fl->drop_counter = way.dropped.counter;
	fl->got = 0;
	fl->is_open = lid != 0;
	return fm_vec_append(&s->flows.hops, out, way.n_hops);
}

/* ---- rates */

static struct sim_take *
taken(const struct sim *s, const struct sim_flow *fl, uint32_t hop)
{
	return &s->flows.take[s->flows.hops.item[fl->first_hop + hop]];
}

/* What a link takes in a second. */
static uint64_t
capacity(const struct sim *s, uint32_t port)
{
	struct wire_port_info pi;

	wire_port_info_get(s->fabric.ports[port].info, &pi);
	return wire_port_mbps(&pi) * BYTES_PER_S_OF_MBPS;
}

static void
begin_ports(struct sim *s)
{
	struct sim_flows *all = &s->flows;

	for (size_t i = 0; i < all->hops.n; i++) {
		struct sim_take *t = &all->take[all->hops.item[i]];

		*t = (struct sim_take){ .left = capacity(s, all->hops.item[i]),
			.wait_ps = t->wait_ps };
	}
	for (size_t i = 0; i < all->flow.n; i++) {
		struct sim_flow *fl = &all->flow.item[i];

		for (uint32_t h = 0; h < fl->n_hops; h++) {
			taken(s, fl, h)->n_open++;
			taken(s, fl, h)->asked += fl->asked;
		}
	}
}

/* What the flow would get if its ports were shared alike by those that are open; *at: where. */
static uint64_t
fair_share(const struct sim *s, const struct sim_flow *fl, uint32_t *at)
{
	uint64_t least = UINT64_MAX;

	*at = fl->n_hops;
	for (uint32_t h = 0; h < fl->n_hops; h++) {
		const struct sim_take *t = taken(s, fl, h);
		uint64_t share = t->left / t->n_open;

		if (share < least) {
			least = share;
			*at = h;
		}
	}
	return least;
}

static void
settle(struct sim *s, struct sim_flow *fl, uint64_t got)
{
	fl->got = got;
	fl->is_open = false;
	for (uint32_t h = 0; h < fl->n_hops; h++) {
		struct sim_take *t = taken(s, fl, h);

		t->left -= t->left < got ? t->left : got;
		t->n_open--;
	}
}

/* The least share of an open flow, or what one asks for if that is less; UINT64_MAX: none is. */
static uint64_t
next_level(const struct sim *s)
{
	uint64_t level = UINT64_MAX;
	uint32_t at;

	for (size_t i = 0; i < s->flows.flow.n; i++) {
		const struct sim_flow *fl = &s->flows.flow.item[i];
		uint64_t share = fl->is_open ? fair_share(s, fl, &at) : UINT64_MAX;

		if (fl->is_open && fl->asked < share)
			share = fl->asked;
		if (share < level)
			level = share;
	}
	return level;
}

/* Those that rise no further than to the level. */
static void
settle_level(struct sim *s, uint64_t level)
{
	for (size_t i = 0; i < s->flows.flow.n; i++) {
		struct sim_flow *fl = &s->flows.flow.item[i];
		uint32_t at;

		if (!fl->is_open)
			continue;
		if (fl->asked <= level)
			settle(s, fl, fl->asked);
		else if (fair_share(s, fl, &at) <= level) {
			fl->cut_at = at;
			settle(s, fl, level);
		}
	}
}

/* ---- waiting */

static uint32_t
millionths(uint64_t part, uint64_t whole)
{
	while (part > UINT64_MAX / MILLION) {
		part >>= 1;
		whole >>= 1;
	}
	return whole == 0 ? 0 : (uint32_t)(part * MILLION / whole);
}

static bool
find_waits(struct sim *s)
{
	struct sim_flows *all = &s->flows;

	for (size_t i = 0; i < all->flow.n; i++) {
		const struct sim_flow *fl = &all->flow.item[i];

		for (uint32_t h = 0; fl->cut_at < fl->n_hops && h <= fl->cut_at; h++)
			taken(s, fl, h)->held += fl->asked - fl->got;
	}
	for (size_t i = 0; i < all->hops.n; i++) {
		struct sim_take *t = &all->take[all->hops.item[i]];
		struct sim_wait w = { all->hops.item[i], millionths(t->held, t->asked) };

		t->held = 0; /* once for each port */
		if (w.share > 0 && !fm_vec_push(&all->waits, w))
			return false;
	}
	return true;
}

static void
find(struct sim *s)
{
	struct sim_flows *all = &s->flows;
	bool ok = true;

	all->hops.n = all->waits.n = 0;
	for (size_t i = 0; i < all->flow.n; i++)
		ok = find_way(s, &all->flow.item[i]) && ok;
	if (!ok) {
		log_err("sim", "no memory for the ways of flows: they stop");
		all->flow.n = 0;
		return;
	}
	begin_ports(s);
	for (uint64_t level; (level = next_level(s)) != UINT64_MAX;)
		settle_level(s, level);
	if (!find_waits(s))
		log_err("sim", "no memory for ports that wait: PortXmitWait stays as it is");
	all->found_ns = s->fabric.now_ns;
}

/* ---- counting */

static void
count_flow(struct sim *s, struct sim_flow *fl, uint64_t us)
{
	struct sim_fabric *f = &s->fabric;
	uint64_t bytes = fl->got * us + fl->left, n = bytes / (PACKET_BYTES * MILLION);

	fl->left = bytes % (PACKET_BYTES * MILLION);
	for (uint32_t h = 0; h < fl->n_hops; h++) {
		uint32_t port = s->flows.hops.item[fl->first_hop + h], peer = f->cable[port];

		if (peer != SIM_NONE)
			pma_carry(f, port, peer, n * PACKET_BYTES, n, false);
	}
	if (fl->drop_port != SIM_NONE)
		pma_count(f, fl->drop_port, fl->drop_counter, n);
}

static void
count_wait(struct sim *s, const struct sim_wait *w, uint64_t us)
{
	uint64_t tick_ps = pma_of(&s->fabric, s->fabric.port_node[w->port]).tick_ns * 1000ull;
	uint64_t *left = &s->flows.take[w->port].wait_ps, ps = us * w->share + *left;

	*left = ps % tick_ps;
	pma_count(&s->fabric, w->port, COUNT_XMIT_WAIT, ps / tick_ps);
}

void
flows_count(struct sim *s)
{
	struct sim_flows *all = &s->flows;
	int64_t left_us = (s->fabric.now_ns - all->counted_ns) / 1000, us;

	if (all->flow.n == 0)
		return;
	for (; left_us > 0; left_us -= us) {
		us = left_us < STEP_US ? left_us : STEP_US;
		for (size_t i = 0; i < all->flow.n; i++)
			count_flow(s, &all->flow.item[i], (uint64_t)us);
		for (size_t i = 0; i < all->waits.n; i++)
			count_wait(s, &all->waits.item[i], (uint64_t)us);
		all->counted_ns += us * 1000;
	}
}

/* ---- when */

void
flows_due(struct sim *s)
{
	flows_count(s);
	find(s);
	s->flows.is_due = false;
}

void
flows_disturbed(struct sim *s)
{
	struct sim_flows *all = &s->flows;
	int64_t at_ns = all->found_ns + FIND_NS;

	if (all->flow.n == 0 || all->is_due)
		return;
	if (at_ns < s->fabric.now_ns)
		at_ns = s->fabric.now_ns;
	all->is_due = events_push(&s->events, at_ns, EVENT_FLOWS, 0);
}

static size_t
index_of(const struct sim_flows *all, uint32_t from, uint32_t to)
{
	size_t i = 0;

	while (i < all->flow.n && (all->flow.item[i].from != from || all->flow.item[i].to != to))
		i++;
	return i;
}

int
flow_set(struct sim *s, uint32_t from, uint32_t to, uint64_t bytes_per_s, struct fm_error *err)
{
	struct sim_flow fl = { .from = from, .to = to, .drop_port = SIM_NONE };
	struct sim_flows *all = &s->flows;
	size_t i = index_of(all, from, to);

	if (all->take == NULL)
		all->take = fm_arena_array(&s->fabric.arena, s->fabric.n_ports, struct sim_take);
	if (all->take == NULL || (i == all->flow.n && !fm_vec_push(&all->flow, fl)))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a flow");
	if (all->flow.n == 1 && all->flow.item[0].asked == 0)
		all->counted_ns = s->fabric.now_ns; /* the first */
	flows_count(s);
	all->flow.item[i].asked = bytes_per_s;
	if (bytes_per_s == 0) {
		all->flow.n--;
		memmove(&all->flow.item[i], &all->flow.item[i + 1],
		    (all->flow.n - i) * sizeof(all->flow.item[0]));
	}
	find(s);
	return 0;
}

void
flows_fini(struct sim *s)
{
	fm_vec_fini(&s->flows.flow);
	fm_vec_fini(&s->flows.hops);
	fm_vec_fini(&s->flows.waits);
}
