/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SA on its own thread, over a libibumad made of a queue: turns among clients, and a
 * storm of requests while the loop sweeps, commits plans and changes what is registered.
 * For ThreadSanitizer above all.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/registry/registry.h"
#include "core/server/server.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "lib/vec.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#ifndef HAVE_UMAD

int
main(void)
{
	return 77; /* no agent without libibumad */
}

#else

#include <infiniband/umad.h>

#define N_HOSTS 16
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define BACKLOG 200 /* requests of the storm that wait in the queue */
#define N_ROUNDS 12
#define A_ROUND 100    /* answers at least, beside what the loop does in one */
#define PATIENCE_S 120 /* then the test fails instead of hanging */

static struct rig rig;
static struct registry *registry;
static struct sa_server *server;

/* ----------------------------------------------------------- libibumad, and a kernel */

struct arrival {
	uint16_t lid;
	uint8_t bytes[MAD_BYTES];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t some;
	bool open; /* what has come is handed out */
	FM_VEC(struct arrival) in;
	size_t n_taken;
	uint64_t n_answers, n_busy, n_reports;
	FM_VEC(uint16_t) order; /* LIDs, as they were answered; BUSY not counted */
} kernel;

static void
arrive(uint16_t lid, const uint8_t *mad)
{
	struct arrival a = { .lid = lid };

	memcpy(a.bytes, mad, sizeof(a.bytes));
	pthread_mutex_lock(&kernel.lock);
	if (!fm_vec_push(&kernel.in, a))
		abort();
	pthread_cond_signal(&kernel.some);
	pthread_mutex_unlock(&kernel.lock);
}

int
umad_open_port(const char *ca_name, int portnum)
{
	(void)ca_name;
	return portnum;
}

int
umad_close_port(int portid)
{
	(void)portid;
	return 0;
}

int
umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
    long method_mask[16 / sizeof(long)])
{
	(void)portid;
	(void)mgmt_version;
	(void)method_mask;
	return mgmt_class == WIRE_CLASS_SA && rmpp_version == 1 ? 0 : -EINVAL;
}

int
umad_unregister(int portid, int agentid)
{
	(void)portid;
	return agentid;
}

int
umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	struct timespec until;
	int rc = 0;

	(void)portid;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += timeout_ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&kernel.lock);
	while (rc == 0 && (!kernel.open || kernel.n_taken == kernel.in.n))
		rc = pthread_cond_timedwait(&kernel.some, &kernel.lock, &until);
	if (rc == 0) {
		const struct arrival *a = &kernel.in.item[kernel.n_taken++];

		memset(umad, 0, umad_size());
		umad_set_addr(umad, a->lid, 1, 0, 0);
		memcpy(umad_get_mad(umad), a->bytes, sizeof(a->bytes));
		*length = (int)sizeof(a->bytes);
	}
	pthread_mutex_unlock(&kernel.lock);
	return -rc;
}

int
umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);
	uint16_t lid = be16toh(umad_get_mad_addr(umad)->lid);
	struct sa_header h;

	(void)portid;
	(void)agentid;
	(void)length;
	(void)timeout_ms;
	(void)retries;
	sa_header_get(mad, &h);
	pthread_mutex_lock(&kernel.lock);
	if (h.method == SA_REPORT) {
		kernel.n_reports++;
	} else {
		kernel.n_answers++;
		kernel.n_busy += h.status == WIRE_STATUS_BUSY;
		if (h.status != WIRE_STATUS_BUSY && !fm_vec_push(&kernel.order, lid))
			abort();
	}
	pthread_mutex_unlock(&kernel.lock);
	return 0;
}

static size_t
n_waiting(void)
{
	size_t n;

	pthread_mutex_lock(&kernel.lock);
	n = kernel.in.n - kernel.n_taken;
	pthread_mutex_unlock(&kernel.lock);
	return n;
}

/* How many answers there are when it is n, or more. */
static uint64_t
await_some(uint64_t n)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	uint64_t have = 0;

	for (int i = 0; i < PATIENCE_S * 1000; i++) {
		pthread_mutex_lock(&kernel.lock);
		have = kernel.n_answers;
		pthread_mutex_unlock(&kernel.lock);
		if (have >= n)
			break;
		nanosleep(&nap, NULL);
	}
	ck_assert_uint_ge(have, n);
	return have;
}

static void
await_answers(uint64_t n)
{
	ck_assert_uint_eq(await_some(n), n);
}

/* ---------------------------------------------------------------------- the house */

static uint16_t
lid_of(uint32_t n)
{
	return rig_host_lid(&rig, n);
}

/* As the loop does after a sweep. */
static void
publish(void)
{
	struct sa_settings set = {
		.gid_prefix = rig.set.addresses.subnet_prefix, .sa_key = 1, .path_life = 18
	};
	struct sa_view *prev = sa_server_view(server), *v = NULL;
	struct sa_view_source src = { .inv = sweeper_inventory(rig.sweeper),
		.plan = (struct plan *)(uintptr_t)sweeper_plan(rig.sweeper),
		.set = &set,
		.pkeys = sweeper_pkeys(rig.sweeper) };
	struct fm_error err = { 0 };

	ck_assert_msg(sa_view_begin(&src, &v, &err) == 0, "%s", err.msg);
	ck_assert_msg(sa_view_finish(v, prev, NULL, &err) == 0, "%s", err.msg);
	sa_server_publish(server, v);
	sa_view_put(prev);
}

/* The rig's own is for one thread. */
static void
drop_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)line;
}

static void
setup(void)
{
	static const struct transport_ops ops = { .name = "queue", .has_agents = true };
	static struct transport t = { .ops = &ops };
	struct registry_settings limits;
	struct fm_error err = { 0 };

	memset(&kernel, 0, sizeof(kernel));
	pthread_mutex_init(&kernel.lock, NULL);
	pthread_cond_init(&kernel.some, NULL);
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	fm_log_set_sink(drop_log, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	registry_settings_default(&limits);
	registry = registry_new(&limits);
	ck_assert_msg(
	    sa_server_start(&t, "umad:queue:1", registry, &server, &err) == 0, "%s", err.msg);
	publish();
}

static void
teardown(void)
{
	sa_server_stop(server);
	server = NULL;
	registry_free(registry);
	rig_fini(&rig);
	fm_vec_fini(&kernel.in);
	fm_vec_fini(&kernel.order);
	pthread_cond_destroy(&kernel.some);
	pthread_mutex_destroy(&kernel.lock);
}

static void
open_queue(void)
{
	pthread_mutex_lock(&kernel.lock);
	kernel.open = true;
	pthread_cond_signal(&kernel.some);
	pthread_mutex_unlock(&kernel.lock);
}

static void
ask(uint16_t lid, uint8_t method, uint16_t attr)
{
	static uint64_t tid;
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.tid = ++tid };
	uint8_t mad[MAD_BYTES] = { 0 };

	sa_header_put(mad, &h);
	arrive(lid, mad);
}

/* -------------------------------------------------------------------------- turns */

/* A client asks for all there is, as often as it can, before anybody else says a word.  Each
 * of the others is answered after one answer to it, and it is told BUSY beyond its share. */
START_TEST(a_greedy_client)
{
	unsigned n_greedy = 0, n_others = 0;

	for (int i = 0; i < 240; i++)
		ask(lid_of(0), SA_GET_TABLE, SA_PATH_RECORD);
	for (uint32_t h = 1; h < N_HOSTS; h++)
		ask(lid_of(h), SA_GET, SA_CLASS_PORT_INFO);
	open_queue();
	await_answers(240 + N_HOSTS - 1);
	for (size_t i = 0; n_others < N_HOSTS - 1; i++) {
		ck_assert_uint_lt(i, kernel.order.n);
		n_greedy += kernel.order.item[i] == lid_of(0);
		n_others += kernel.order.item[i] != lid_of(0);
	}
	ck_assert_uint_le(n_greedy, 1);
	ck_assert_uint_eq(kernel.n_busy, 240 - 128);
}
END_TEST

/* Many clients ask for much, again and again; who comes late is not last. */
START_TEST(many_greedy_clients)
{
	unsigned before = 0;

	for (int i = 0; i < 12; i++)
		for (uint32_t h = 1; h < N_HOSTS; h++)
			ask(lid_of(h), SA_GET_TABLE, SA_PATH_RECORD);
	ask(lid_of(0), SA_GET, SA_CLASS_PORT_INFO);
	open_queue();
	await_answers(12 * (N_HOSTS - 1) + 1);
	while (before < kernel.order.n && kernel.order.item[before] != lid_of(0))
		before++;
	ck_assert_uint_le(before, N_HOSTS - 1);
	ck_assert_uint_eq(kernel.n_busy, 0);
}
END_TEST

/* -------------------------------------------------------------------------- storm */

static struct {
	pthread_t thread;
	atomic_bool stop;
	uint64_t n; /* requests; read when it has ended */
	uint16_t lid[N_HOSTS];
	uint64_t guid[N_HOSTS];
} storm;

static void
random_request(struct fm_rng *rng, uint64_t n)
{
	static const uint16_t attrs[] = { SA_CLASS_PORT_INFO, SA_NODE_RECORD, SA_PORT_INFO_RECORD,
		SA_LINK_RECORD, SA_LFT_RECORD, SA_SL2VL_RECORD, SA_VL_ARB_RECORD, SA_PKEY_RECORD,
		SA_PATH_RECORD, SA_PATH_RECORD, SA_MC_MEMBER_RECORD, SA_MC_MEMBER_RECORD,
		SA_SERVICE_RECORD, SA_INFORM_INFO, SA_INFORM_INFO_RECORD, SA_GUID_INFO_RECORD,
		SA_MULTI_PATH_RECORD, SA_SM_INFO_RECORD, SA_SWITCH_INFO_RECORD, SA_MFT_RECORD };
	static const uint8_t methods[] = { SA_GET, SA_SET, SA_GET_TABLE, SA_DELETE, SA_GET_MULTI,
		SA_GET_TRACE_TABLE };
	uint32_t who = fm_rng_below(rng, N_HOSTS), to = fm_rng_below(rng, N_HOSTS);
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = methods[fm_rng_below(rng, N_OF(methods))],
		.attr = attrs[fm_rng_below(rng, N_OF(attrs))],
		.tid = n,
		.sm_key = fm_rng_below(rng, 2),
		.mask = fm_rng_next(rng) & fm_rng_next(rng) };
	struct sa_path_record path = { .sgid = { UINT64_C(0xfe80000000000000), storm.guid[who] },
		.dgid = { UINT64_C(0xfe80000000000000), storm.guid[to] } };
	struct sa_mc_member_record join = { .mgid = { UINT64_C(0xff12a01c00000000),
						fm_rng_below(rng, 64) },
		.port_gid = path.sgid,
		.qkey = 7,
		.pkey = 0xffff,
		.join_state = (uint8_t)(1 + fm_rng_below(rng, 15)) };
	uint8_t mad[MAD_BYTES];

	for (unsigned b = 0; b < sizeof(mad); b++)
		mad[b] = fm_rng_below(rng, 3) ? 0 : (uint8_t)fm_rng_next(rng);
	if (h.attr == SA_PATH_RECORD && fm_rng_below(rng, 4)) {
		h.mask = SA_PR_SGID | SA_PR_DGID;
		sa_record_put(sa_record_of(SA_PATH_RECORD), mad + SA_DATA_AT, &path);
	} else if (h.attr == SA_MC_MEMBER_RECORD && fm_rng_below(rng, 8)) {
		h.mask = 0x130cf; /* what makes a group */
		sa_record_put(sa_record_of(SA_MC_MEMBER_RECORD), mad + SA_DATA_AT, &join);
	}
	sa_header_put(mad, &h);
	arrive(storm.lid[who], mad);
}

static void *
blow(void *arg)
{
	struct fm_rng rng;

	(void)arg;
	fm_rng_seed(&rng, 9);
	while (!atomic_load(&storm.stop)) {
		if (n_waiting() >= BACKLOG)
			sched_yield();
		else
			random_request(&rng, storm.n++);
	}
	return NULL;
}

static atomic_uint n_told;

static void
on_group(void *arg, const struct group_event *e, bool lost)
{
	(void)arg;
	(void)e;
	(void)lost;
	atomic_fetch_add(&n_told, 1);
}

/* What the loop has done where the SA runs. */
static void
change(void *arg, struct sa *sa)
{
	static unsigned n; /* of this thread alone */
	struct registry_settings limits;
	struct wire_notice trap = { .generic = true,
		.type = 1,
		.producer_type = 1,
		.trap_number = 256,
		.issuer_lid = storm.lid[n % N_HOSTS] };
	struct sa_mc_member_record kept = { .mgid = { UINT64_C(0xff12401bffff0000), 1 + n % 2 },
		.pkey = 0xffff,
		.qkey = 1,
		.mtu = 4,
		.rate = 3 };

	(void)arg;
	registry_settings_default(&limits);
	limits.max_services = limits.max_subscriptions = n % 2 ? 1 : 20;
	registry_configure(sa_registry(sa), &limits);
	sa_on_group(sa, on_group, NULL);
	sa_tell(sa, &trap, 6000 * (int64_t)n);
	ck_assert(groups_keep(registry_groups(sa_registry(sa)), &kept, 1));
	registry_drop_port(sa_registry(sa), storm.guid[n++ % N_HOSTS]);
}

START_TEST(storm_while_plans_commit)
{
	uint32_t leaf = FM_NONE;
	struct sa_counts counts;
	struct fm_error err;
	uint64_t n_seen = 0, n_answers = 0;

	memset(&storm, 0, sizeof(storm));
	for (uint32_t h = 0; h < N_HOSTS; h++) {
		storm.lid[h] = lid_of(h);
		storm.guid[h] = netlist_port(&rig.nl, rig_host(&rig, h), 1)->guid;
	}
	leaf = netlist_port(&rig.nl, rig_host(&rig, 15), 1)->peer_node;
	open_queue();
	ck_assert_int_eq(pthread_create(&storm.thread, NULL, blow, NULL), 0);
	for (int i = 0; i < N_ROUNDS; i++) {
		if (i % 2)
			sim_relink(rig.sim, leaf, 5);
		else
			sim_unlink(rig.sim, leaf, 5);
		rig_let_pass(&rig, 50);
		rig_run(&rig, SWEEP_HEAVY);
		ck_assert_int_eq(sa_server_post(server, change, NULL, &err), 0);
		publish();
		sa_server_counts(server, &counts);
		ck_assert_uint_ge(counts.requests, n_seen);
		n_seen = counts.requests;
		n_answers = await_some(n_answers + A_ROUND);
	}
	atomic_store(&storm.stop, true);
	pthread_join(storm.thread, NULL);
	await_answers(storm.n);
	ck_assert_uint_gt(storm.n, 0);
	ck_assert_uint_gt(kernel.order.n, 0);
	ck_assert_uint_gt(atomic_load(&n_told), 0);
}
END_TEST

static atomic_bool is_begun;
static atomic_uint n_done;

static void
take_long(void *arg, struct sa *sa)
{
	static const struct timespec nap = { .tv_nsec = 100000000 };

	(void)arg;
	(void)sa;
	atomic_store(&is_begun, true);
	nanosleep(&nap, NULL);
}

static void
be_done(void *arg, struct sa *sa)
{
	(void)arg;
	(void)sa;
	atomic_fetch_add(&n_done, 1);
}

/* Who stops the SA while it is at work has posted more: that owns memory, and may be for the
 * store. */
START_TEST(what_is_posted_last_is_done)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	struct fm_error err;

	atomic_store(&is_begun, false);
	atomic_store(&n_done, 0);
	ck_assert_int_eq(sa_server_post(server, take_long, NULL, &err), 0);
	while (!atomic_load(&is_begun))
		nanosleep(&nap, NULL);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(sa_server_post(server, be_done, NULL, &err), 0);
	sa_server_stop(server);
	server = NULL;
	ck_assert_uint_eq(atomic_load(&n_done), 3);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_threads");
	TCase *t = tcase_create("sa_threads");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_greedy_client);
	tcase_add_test(t, many_greedy_clients);
	tcase_add_test(t, storm_while_plans_commit);
	tcase_add_test(t, what_is_posted_last_is_done);
	suite_add_tcase(s, t);
	return run_suite(s);
}

#endif
