/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two fmd on one fabric over time, beside a host that forges SMInfo and plays an SM without having
 * the key: whatever happens, when it is quiet again one of the two rules and the other stands by;
 * and nobody is told the key.
 *
 * The input is a row of events: a byte that says what, and three of how.
 */
#include <string.h>

#include "core/route/route.h"
#include "core/sms/sms.h"
#include "core/wire/wire.h"
#include "tests/fuzz/house.h"

#define KEY UINT64_C(0x5ec7e75ec7e75ec7)
#define NS_PER_MS INT64_C(1000000)
#define SLICE_NS (NS_PER_MS / 5)
#define POLL_MS 200
#define SWEEP_MS 500
#define PATIENCE_MS 2000
#define QUIET_MS 60000
#define EVENTS_MAX 24

static struct house house[2];
static bool alive[2];
static const char *const place[2] = { "a", "b" };
static struct sim *sim;
static struct transport *evil;
static struct wire_sm_info shown;
static bool plays;
static int64_t next_sweep;

/* ------------------------------------------------------- nobody is told the key */

static const struct transport_ops *plain_ops;
static struct transport_ops tapped_ops;

static int
send_tapped(struct transport *t, const struct mad *m, struct fm_error *err)
{
	uint8_t key[8];

	wire_put64(key, KEY);
	for (size_t at = 0; at + sizeof(key) <= sizeof(m->bytes); at++)
		must(memcmp(m->bytes + at, key, sizeof(key)) != 0);
	return plain_ops->send(t, m, err);
}

/* ---------------------------------------------------------------- the two */

static void
start(unsigned k)
{
	struct fm_error err = { 0 };
	struct house *h = &house[k];

	if (alive[k])
		return;
	h->sim = sim;
	occupy(h, place[k]);
	plain_ops = h->transport->ops;
	tapped_ops = *plain_ops;
	tapped_ops.send = send_tapped;
	h->transport->ops = &tapped_ops;
	h->transport->ops->set_is_sm(h->transport, true, &err);
	sweeper_request(h->sweeper, SWEEP_HEAVY, "fuzz");
	alive[k] = true;
}

static void
stop(unsigned k)
{
	struct fm_error err = { 0 };
	struct house *h = &house[k];

	if (!alive[k])
		return;
	h->transport->ops->set_is_sm(h->transport, false, &err);
	txn_free(h->txn);
	sweeper_free(h->sweeper);
	h->transport->ops->close(h->transport);
	router_fini(&h->router);
	alive[k] = false;
}

/* ------------------------------------------------------------------ the forger */

static void
on_evil(void *arg, const struct mad *m)
{
	struct mad reply = *m;
	struct fm_error err = { 0 };
	struct wire_header h;

	(void)arg;
	wire_header_get(m->bytes, &h);
	if (!plays || h.attr != WIRE_ATTR_SM_INFO || (h.method != WIRE_GET && h.method != WIRE_SET))
		return;
	h.method = WIRE_GET_RESP;
	h.dr_return = h.mgmt_class == WIRE_CLASS_SMP_DR;
	wire_header_put(reply.bytes, &h);
	wire_sm_info_put(reply.bytes + WIRE_SMP_DATA_AT, &shown);
	reply.timeout_ms = 0;
	evil->ops->send(evil, &reply, &err);
}

/* GUIDs: of the two, of the forger, of nobody. */
static uint64_t
guid_of(unsigned which)
{
	static const char *const names[] = { "a", "b", "c" };
	const struct netlist *nl = &house[0].nl;

	which %= 4;
	return which == 3 ? 99 : netlist_port(nl, sim_find(sim, names[which]), 1)->guid;
}

/* To a: from the third host, over both switches; to b likewise. */
static void
forge(uint8_t how, uint8_t what, uint8_t who)
{
	static const uint8_t paths[2][5] = { { 0, 1, 3, 1 }, { 0, 1, 3, 2 } };
	unsigned to = how & 1;
	bool directed = how & 2;
	struct wire_header h = { .base_version = 1,
		.class_version = 1,
		.method = how & 4 ? WIRE_GET : WIRE_SET,
		.attr = WIRE_ATTR_SM_INFO,
		.modifier = what % 7,
		.tid = who,
		.mgmt_class = directed ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID,
		.hop_count = directed ? 3 : 0,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE };
	struct wire_sm_info info = { .guid = guid_of(who),
		.priority = (uint8_t)(who >> 4),
		.state = what >> 3 & 3,
		.sm_key = what & 64 ? 0 : 7 };
	struct mad m = { .addr.lid = WIRE_LID_PERMISSIVE };
	struct fm_error err = { 0 };
	struct wire_port_info port;

	sim_port_info(sim, sim_find(sim, place[to]), 1, &port);
	if (directed)
		memcpy(m.bytes + WIRE_DR_INITIAL_PATH_AT, paths[to], sizeof(paths[to]));
	else
		m.addr.lid = port.lid;
	wire_header_put(m.bytes, &h);
	wire_sm_info_put(m.bytes + WIRE_SMP_DATA_AT, &info);
	evil->ops->send(evil, &m, &err);
}

/* ----------------------------------------------------------------------- time */

static bool
is_quiet(void)
{
	for (unsigned k = 0; k < 2; k++)
		if (alive[k] &&
		    (!sweeper_idle(house[k].sweeper) || txn_outstanding(house[k].txn) > 0))
			return false;
	return true;
}

/* When one of them has something to do by itself, or the next sweep is to begin. */
static int64_t
next_due(void)
{
	int64_t due = next_sweep * NS_PER_MS;

	for (unsigned k = 0; k < 2; k++)
		if (alive[k] && sweeper_due_ns(house[k].sweeper) < due)
			due = sweeper_due_ns(house[k].sweeper);
	return due;
}

/* As the daemon does it by its timer. */
static void
tick(void)
{
	int64_t now = sim_now_ns(sim) / NS_PER_MS;

	for (unsigned k = 0; k < 2; k++) {
		struct house *h = &house[k];

		if (!alive[k] || now < next_sweep)
			continue;
		if (h->ha.state == WIRE_SM_MASTER && sweeper_is_up(h->sweeper))
			sweeper_request(h->sweeper, SWEEP_LIGHT, "fuzz");
		else if (h->ha.state != WIRE_SM_STANDBY && h->ha.state != WIRE_SM_NOT_ACTIVE)
			sweeper_request(h->sweeper, SWEEP_HEAVY, "fuzz");
	}
	if (now >= next_sweep)
		next_sweep = now + SWEEP_MS;
}

static void
pass(int64_t ms)
{
	int64_t end = sim_now_ns(sim) + ms * NS_PER_MS;
	struct fm_error err = { 0 };

	while (sim_now_ns(sim) < end) {
		int64_t until = sim_now_ns(sim) + SLICE_NS;

		tick();
		if (is_quiet())
			until = next_due();
		until = until < end ? until : end;
		for (unsigned k = 0; k < 2; k++) {
			if (!alive[k])
				continue;
			sweeper_step(house[k].sweeper);
			must(txn_poll(house[k].txn, until, &err) >= 0);
			sweeper_step(house[k].sweeper);
		}
		must(evil->ops->poll(evil, sim_now_ns(sim), &err) >= 0);
		if (!alive[0] && !alive[1])
			sim_run(sim, until);
	}
}

/* --------------------------------------------------------------------- events */

static void
happen(const uint8_t *e)
{
	struct fm_error err = { 0 };
	unsigned k = e[1] & 1;

	switch (e[0] % 10) {
	case 0:
		pass(1 + e[1]);
		break;
	case 1:
		pass((1 + e[1]) * INT64_C(10));
		break;
	case 2:
	case 3:
		forge(e[1], e[2], e[3]);
		break;
	case 4:
		stop(k);
		break;
	case 5:
		start(k);
		break;
	case 6:
		house[k].ha.priority = house[k].set.sm.priority = e[2] & 15;
		break;
	case 7:
		plays = e[1] & 2;
		shown = (struct wire_sm_info){ .guid = guid_of(e[1] & 4 ? 2 : e[1] >> 6),
			.sm_key = e[1] & 8 ? 0 : 7,
			.priority = e[2] & 15,
			.state = e[2] >> 4 & 3 };
		evil->ops->set_is_sm(evil, plays, &err);
		break;
	case 8:
		sim_set_loss(sim, e[1] / 512.0);
		break;
	case 9:
		if (e[1] & 2)
			sim_unlink(sim, sim_find(sim, "s"), 1 + k);
		else
			sim_relink(sim, sim_find(sim, "s"), 1 + k);
		break;
	}
}

/* All is well again, and remains so. */
static void
heal(void)
{
	struct fm_error err = { 0 };

	sim_set_loss(sim, 0);
	plays = false;
	evil->ops->set_is_sm(evil, false, &err);
	for (unsigned k = 0; k < 2; k++) {
		sim_relink(sim, sim_find(sim, "s"), 1 + k);
		start(k);
	}
}

static void
one_rules(void)
{
	unsigned n_masters = 0, n_standby = 0;

	for (unsigned k = 0; k < 2; k++) {
		n_masters += house[k].ha.state == WIRE_SM_MASTER;
		n_standby += house[k].ha.state == WIRE_SM_STANDBY;
	}
	must(n_masters == 1 && n_standby == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fm_error err = { 0 };

	fuzz_be_quiet();
	memset(house, 0, sizeof(house));
	next_sweep = 0;
	plays = false;
	build(&house[0]);
	sim = house[0].sim;
	house[0].set.sm.key = KEY;
	house[0].set.sm.patience_ms = PATIENCE_MS;
	house[0].set.transition.packet_life_ms = 10;
	house[0].set.sm.polling_timeout_ms = POLL_MS;
	house[1].set = house[0].set;
	must(sim_attach(sim, sim_find(sim, "c"), 1, &evil, &err) == 0);
	evil->on_mad = on_evil;
	for (size_t i = 0; i + 4 <= size && i < 4 * EVENTS_MAX; i += 4)
		happen(data + i);
	heal();
	pass(QUIET_MS);
	one_rules();
	pass(5 * SWEEP_MS);
	one_rules();
	for (unsigned k = 0; k < 2; k++)
		stop(k);
	sim_free(sim);
	netlist_fini(&house[0].nl);
	return 0;
}
