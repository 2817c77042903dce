/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/several.c - more than one program on a simulated fabric.
 */
#include "tests/sweep/several.h"

#include <check.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "core/wire/sm_proof.h"

#define NS_PER_MS INT64_C(1000000)
#define SLICE_NS (NS_PER_MS / 10)

void
several_join(struct rig *r, const struct rig *first, uint32_t n)
{
	r->nl = first->nl;
	r->sim = first->sim;
	r->place = rig_host(first, n);
	r->port = 1;
	rig_start(r);
}

/* Does none of them wait for an answer? */
static bool
all_quiet(struct rig **all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!sweeper_idle(all[i]->sweeper) || txn_outstanding(all[i]->txn) > 0)
			return false;
	return true;
}

/* When one of them has something to do by itself; end at the latest. */
static int64_t
next_due(struct rig **all, unsigned n, int64_t end)
{
	for (unsigned i = 0; i < n; i++)
		if (sweeper_due_ns(all[i]->sweeper) < end)
			end = sweeper_due_ns(all[i]->sweeper);
	return end;
}

static struct forger *forgers[4];
static unsigned n_forgers;

static void
run_slice(struct rig **all, unsigned n, int64_t until_ns)
{
	struct fm_error err = { 0 };

	for (unsigned i = 0; i < n; i++) {
		sms_awake(all[i]->sweeper);
		sweeper_step(all[i]->sweeper);
		ck_assert_msg(txn_poll(all[i]->txn, until_ns, &err) >= 0, "%s", err.msg);
		sweeper_step(all[i]->sweeper);
	}
	for (unsigned i = 0; i < n_forgers; i++)
		forger_listen(forgers[i]);
}

void
several_run(struct rig **all, unsigned n, int64_t ms, int64_t poll_ms)
{
	struct sim *sim = all[0]->sim;
	int64_t end = sim_now_ns(sim) + ms * NS_PER_MS;

	for (unsigned i = 0; i < n; i++)
		all[i]->sweeper->set.sm.polling_timeout_ms = poll_ms;
	while (sim_now_ns(sim) < end) {
		int64_t until = sim_now_ns(sim) + SLICE_NS;

		if (all_quiet(all, n))
			until = next_due(all, n, end);
		run_slice(all, n, until);
	}
}

void
several_turn(struct rig **all, unsigned n, int64_t ns)
{
	run_slice(all, n, sim_now_ns(all[0]->sim) + ns);
}

void
several_expect_up(struct rig *r)
{
	if (r->last.outcome == SWEEP_UNCHANGED)
		r->last.outcome = SWEEP_UP;
	rig_expect_up(r);
}

uint64_t
several_guid_of(const struct rig *r, uint32_t n)
{
	return netlist_port(&r->nl, rig_host(r, n), 1)->guid;
}

/* ----------------------------------------------------------------- forging */

static bool
tells(const struct mad *m, uint64_t secret)
{
	uint8_t wanted[8];

	wire_put64(wanted, secret);
	for (size_t at = 0; at + sizeof(wanted) <= sizeof(m->bytes); at++)
		if (memcmp(m->bytes + at, wanted, sizeof(wanted)) == 0)
			return true;
	return false;
}

static const struct transport_ops *plain_ops;
static struct transport_ops tapped_ops;
static uint64_t tapped_secret;
static uint32_t n_tapped;
static const struct transport *counted;
static uint32_t n_sets;

static int
send_tapped(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct wire_header h;

	wire_header_get(m->bytes, &h);
	n_tapped += tells(m, tapped_secret);
	n_sets += t == counted && h.method == WIRE_SET && h.attr != WIRE_ATTR_SM_INFO;
	return plain_ops->send(t, m, err);
}

void
several_tap(struct rig *r, uint64_t secret)
{
	if (plain_ops == NULL)
		plain_ops = r->transport->ops;
	tapped_ops = *plain_ops;
	tapped_ops.send = send_tapped;
	r->transport->ops = &tapped_ops;
	tapped_secret = secret;
	n_tapped = 0;
}

uint32_t
several_n_told(void)
{
	return n_tapped;
}

void
several_count_sets(const struct rig *r)
{
	counted = r->transport;
	n_sets = 0;
}

uint32_t
several_n_sets(void)
{
	return n_sets;
}

static void
play_sm(struct forger *f, const struct mad *m, const struct wire_header *h)
{
	struct mad reply = *m;
	struct wire_header rh = *h;
	struct fm_error err = { 0 };

	f->n_asked += h->method == WIRE_GET;
	f->n_sets += h->method == WIRE_SET;
	if (h->method == WIRE_SET && !f->takes_sets)
		return;
	rh.method = WIRE_GET_RESP;
	rh.dr_return = h->mgmt_class == WIRE_CLASS_SMP_DR;
	wire_header_put(reply.bytes, &rh);
	wire_sm_info_put(reply.bytes + WIRE_SMP_DATA_AT, &f->shown);
	reply.timeout_ms = 0;
	ck_assert_int_eq(f->t->ops->send(f->t, &reply, &err), 0);
}

static void
on_mad(void *arg, const struct mad *m)
{
	struct forger *f = arg;
	struct wire_header h;

	wire_header_get(m->bytes, &h);
	f->n_told += tells(m, f->secret);
	if (h.method == WIRE_GET_RESP) {
		f->n_answers++;
		f->status = h.status;
	} else if (f->plays_sm && h.attr == WIRE_ATTR_SM_INFO && h.method <= WIRE_SET) {
		play_sm(f, m, &h);
	}
}

void
forger_start(struct forger *f, const struct rig *rig, uint32_t host, uint64_t secret)
{
	struct fm_error err = { 0 };

	*f = (struct forger){ .rig = rig, .host = host, .secret = secret };
	ck_assert_int_eq(sim_attach(rig->sim, rig_host(rig, host), 1, &f->t, &err), 0);
	f->t->on_mad = on_mad;
	f->t->on_mad_arg = f;
	forgers[n_forgers++] = f;
}

void
forger_play(struct forger *f, const struct rig *rig, uint32_t host, uint64_t secret,
    const struct wire_sm_info *shown)
{
	struct fm_error err = { 0 };

	forger_start(f, rig, host, secret);
	f->plays_sm = true;
	f->shown = *shown;
	f->shown.guid = several_guid_of(rig, host);
	ck_assert_int_eq(f->t->ops->set_is_sm(f->t, true, &err), 0);
}

void
forger_stop(struct forger *f)
{
	f->t->ops->close(f->t);
	n_forgers--;
	for (unsigned i = 0; i < n_forgers; i++)
		if (forgers[i] == f)
			forgers[i] = forgers[n_forgers];
}

void
forger_listen(struct forger *f)
{
	struct fm_error err = { 0 };

	ck_assert_int_ge(f->t->ops->poll(f->t, sim_now_ns(f->rig->sim), &err), 0);
}

uint8_t
several_path(const struct netlist *nl, uint32_t from, uint32_t to, uint8_t path[64])
{
	uint32_t queue[256], came[256], n = 0;
	uint8_t by[256], n_hops = 0;

	ck_assert_uint_le(nl->n_nodes, 256);
	memset(came, 0xff, sizeof(came));
	queue[n++] = from;
	came[from] = from;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned p = 1; p <= nl->nodes[queue[i]].n_ports; p++) {
			uint32_t far = netlist_port(nl, queue[i], p)->peer_node;

			if (far == NETLIST_NONE || came[far] != NETLIST_NONE ||
			    (nl->nodes[queue[i]].type != NETLIST_SWITCH && queue[i] != from))
				continue;
			came[far] = queue[i];
			by[far] = (uint8_t)p;
			queue[n++] = far;
		}
	ck_assert(came[to] != NETLIST_NONE);
	for (uint32_t at = to; at != from; at = came[at])
		n_hops++;
	for (uint32_t at = to, i = n_hops; at != from; at = came[at])
		path[i--] = by[at];
	return n_hops;
}

void
forger_send(struct forger *f, const struct rig *to, enum forged_way way, uint8_t method,
    uint32_t control, const struct wire_sm_info *info)
{
	struct wire_header h = { .base_version = 1,
		.class_version = 1,
		.method = method,
		.attr = WIRE_ATTR_SM_INFO,
		.modifier = control,
		.tid = UINT64_C(0xf0000000) + ++f->tid,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE,
		.mgmt_class = way == FORGED_BY_LID ? WIRE_CLASS_SMP_LID : WIRE_CLASS_SMP_DR };
	struct mad m = { .addr.lid = WIRE_LID_PERMISSIVE };
	struct wire_port_info at, own;
	struct fm_error err = { 0 };

	sim_port_info(f->rig->sim, to->place, to->port, &at);
	sim_port_info(f->rig->sim, rig_host(f->rig, f->host), 1, &own);
	if (way == FORGED_BY_LID) {
		m.addr.lid = at.lid;
	} else if (way == FORGED_DIRECTED) {
		h.hop_count = several_path(&f->rig->nl, rig_host(f->rig, f->host), to->place,
		    m.bytes + WIRE_DR_INITIAL_PATH_AT);
	} else { /* by LID to the leaf of the other one, directed from there */
		const struct netlist_port *p = netlist_port(&f->rig->nl, to->place, to->port);
		struct wire_port_info leaf;

		sim_port_info(f->rig->sim, p->peer_node, 0, &leaf);
		m.addr.lid = leaf.lid;
		h.dr_slid = own.lid;
		h.hop_count = 1;
		m.bytes[WIRE_DR_INITIAL_PATH_AT + 1] = p->peer_port;
	}
	wire_header_put(m.bytes, &h);
	wire_sm_info_put(m.bytes + WIRE_SMP_DATA_AT, info);
	if (f->wants_sum && method == WIRE_GET)
		proof_ask(m.bytes + WIRE_SMP_DATA_AT, h.tid);
	ck_assert_int_eq(f->t->ops->send(f->t, &m, &err), 0);
}
