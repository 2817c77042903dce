/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compute host that is asked now and then, as an SM is, answers for others: all the while that
 * fmd sweeps it sends directed answers, with TIDs near those that it has seen.  Nothing is lost,
 * nothing is believed.
 */
#include <check.h>
#include <string.h>

#include "core/mad/slots.h"
#include "tests/run.h"
#include "tests/sweep/several.h"

#define EVIL 5
#define N_HOSTS 24
#define N_FORGED 1000000
#define AT_ONCE 500
#define SLICE_NS 20000
#define MOST_SEEN 256
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct rig rig;
static struct evil {
	struct transport *t;
	struct fm_rng rng;
	uint64_t seen[MOST_SEEN]; /* TIDs, the latest at n_seen - 1 */
	unsigned n_seen, n_sent;
	uint8_t back[64]; /* the return path to the SM */
	uint8_t n_back;
	uint8_t path[N_HOSTS][64]; /* of the SM to each host */
	uint8_t n_hops[N_HOSTS];
} evil;

/* It answers what is asked of it, so that it is asked again. */
static void
on_mad(void *arg, const struct mad *m)
{
	struct evil *e = arg;
	struct wire_header h;
	struct mad reply = *m;
	struct wire_sm_info own = { .guid = netlist_port(&rig.nl, rig_host(&rig, EVIL), 1)->guid,
		.state = WIRE_SM_STANDBY };
	struct fm_error err = { 0 };

	wire_header_get(m->bytes, &h);
	if (h.attr != WIRE_ATTR_SM_INFO || h.method != WIRE_GET)
		return;
	if (e->n_seen == MOST_SEEN)
		memmove(e->seen, e->seen + 1, --e->n_seen * sizeof(e->seen[0]));
	e->seen[e->n_seen++] = h.tid;
	h.method = WIRE_GET_RESP;
	h.dr_return = h.mgmt_class == WIRE_CLASS_SMP_DR;
	wire_header_put(reply.bytes, &h);
	wire_sm_info_put(reply.bytes + WIRE_SMP_DATA_AT, &own);
	reply.timeout_ms = 0;
	ck_assert_int_eq(e->t->ops->send(e->t, &reply, &err), 0);
}

static void
evil_start(struct evil *e)
{
	struct fm_error err = { 0 };
	uint32_t host = rig_host(&rig, EVIL);
	uint8_t path[64];

	*e = (struct evil){ .seen = { 1 }, .n_seen = 1 };
	fm_rng_seed(&e->rng, 1);
	ck_assert_int_eq(sim_attach(rig.sim, host, 1, &e->t, &err), 0);
	e->t->on_mad = on_mad;
	e->t->on_mad_arg = e;
	ck_assert_int_eq(e->t->ops->set_is_sm(e->t, true, &err), 0);
	e->n_back = several_path(&rig.nl, host, rig.place, path);
	for (unsigned i = 1; i <= e->n_back; i++)
		e->back[e->n_back + 1 - i] = path[i];
	for (uint32_t i = 0; i < N_HOSTS; i++)
		e->n_hops[i] = several_path(&rig.nl, rig.place, rig_host(&rig, i), e->path[i]);
}

static uint64_t
guess(struct evil *e)
{
	uint64_t tid = e->seen[e->n_seen - 1];

	switch (fm_rng_below(&e->rng, 4)) {
	case 0: /* the next requests */
		return tid + 1 + fm_rng_below(&e->rng, 400);
	case 1: /* the next of another generation */
		return tid + fm_rng_below(&e->rng, 400) + (1u << SLOT_BITS);
	case 2: /* one that was seen */
		return e->seen[fm_rng_below(&e->rng, e->n_seen)];
	default: /* any, behind the kernel's half */
		return tid ^ fm_rng_next(&e->rng) >> 32;
	}
}

/* An answer of a host that cannot be reached by less: it is no CA, its port is down, or it
 * refuses. */
static void
forge(struct evil *e)
{
	static const uint16_t attrs[] = { WIRE_ATTR_NODE_INFO, WIRE_ATTR_PORT_INFO };
	uint32_t victim = fm_rng_below(&e->rng, N_HOSTS);
	struct wire_header h = { .base_version = 1,
		.class_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_DR,
		.method = WIRE_GET_RESP,
		.dr_return = true,
		.status = fm_rng_below(&e->rng, 2) ? 0 : WIRE_STATUS_BAD_VALUE,
		.tid = guess(e),
		.attr = attrs[fm_rng_below(&e->rng, N_OF(attrs))],
		.modifier = fm_rng_below(&e->rng, 2),
		.hop_count = e->n_back,
		.hop_pointer = (uint8_t)(e->n_back + 1),
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE };
	struct mad m = { .addr.lid = WIRE_LID_PERMISSIVE };
	struct fm_error err = { 0 };

	wire_header_put(m.bytes, &h);
	memcpy(m.bytes + WIRE_DR_INITIAL_PATH_AT, e->path[victim], e->n_back + 1u);
	memcpy(m.bytes + WIRE_DR_RETURN_PATH_AT, e->back, e->n_back + 1u);
	ck_assert_int_eq(e->t->ops->send(e->t, &m, &err), 0);
	e->n_sent++;
}

/* A heavy sweep, and the host beside it. */
static void
sweep_beside_it(void)
{
	struct fm_error err = { 0 };
	int64_t until;

	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	do {
		for (unsigned i = 0; i < AT_ONCE; i++)
			forge(&evil);
		until = sim_now_ns(rig.sim) + SLICE_NS;
		sweeper_step(rig.sweeper);
		while (sim_now_ns(rig.sim) < until)
			ck_assert_msg(txn_poll(rig.txn, until, &err) >= 0, "%s", err.msg);
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(evil.t->ops->poll(evil.t, sim_now_ns(rig.sim), &err), 0);
	} while (!sweeper_idle(rig.sweeper) || txn_outstanding(rig.txn) > 0);
}

START_TEST(answers_for_others)
{
	unsigned n_sweeps = 0;

	rig_generate(&rig.nl, "pgft 2 6,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	evil_start(&evil);
	while (evil.n_sent < N_FORGED) {
		rig_log_clear();
		sweep_beside_it();
		rig_expect_up(&rig);
		ck_assert_msg(strstr(rig_log, "lost") == NULL && strstr(rig_log, "down") == NULL,
		    "%s", rig_log);
		ck_assert_uint_eq(rig.last.refused, 0);
		ck_assert_uint_eq(rig.last.timeouts, 0);
		n_sweeps++;
	}
	ck_assert_uint_gt(n_sweeps, 10);
	ck_assert_uint_gt(evil.n_seen, 10);
	ck_assert_uint_gt(txn_counts(rig.txn)->forged, N_FORGED / 2);
	evil.t->ops->close(evil.t);
	rig_fini(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("forged_answers");
	TCase *t = tcase_create("forged_answers");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, answers_for_others);
	suite_add_tcase(s, t);
	return run_suite(s);
}
