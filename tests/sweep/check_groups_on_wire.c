/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of adaptive routing in switches of the vendor of lab/adaptive, of which a third have none,
 * while cables, switches and hosts come and go.
 *
 * After every SMP a judge who knows nothing of fmd looks at the simulator: may a packet that
 * chooses among the ports of groups as they stand go round in a circle?  May packets under way by
 * now, by choices and entries of before, wait for one another in a ring (locks.h)?  When fmd has
 * come to rest each switch routes adaptively that has groups in the plan, by these, and no other
 * does. FMD_LONG=1: a thousand events.
 */
#include "config.h"

#include "core/abi/plugin_check.h"
#include "core/adaptive/adaptive.h"
#include "core/apart/programmer.h"
#include "core/audit/audit.h"
#include "core/sweep/well.h"
#include "core/vendor/vendors.h"
#include "lab/adaptive/adaptive.h"
#include "lab/sim/fabric.h"
#include "lib/rng.h"
#include "tests/engine/composed.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

#define N_GROUPS 48
#define LIFE_MS 3000 /* more than a packet lives */

extern const struct fm_vendor example_LTX_fm_vendor;
static const struct fm_vendor *const programmers[] = { &example_LTX_fm_vendor };
static const struct vendors vendors = { .vendor = programmers, .n_vendors = 1 };
static const struct vendors *in_use = &vendors;

static struct rig rig;
static struct locks *locks;
static struct fm_rng rng;
static uint32_t n_lids, n_circles, n_looks, n_ons;
static char first[160];
static uint32_t lost[64][2], n_lost; /* node and port of cables that are out */

static const struct place {
	const char *engine, *words;
} places[] = {
	{ "minhop", "pgft 2 4,4 1,4 1,1" },
	{ "fattree", "pgft 3 2,3,3 1,3,3 1,1,1" },
	{ "updn", "random 16 5 2 7" },
	{ "dragonfly", "dragonfly 4 1 4 3" },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

/* ------------------------------------------------------------------- circles */

enum colour { NEW, OPEN, CLOSED };

static bool
comes_back(uint32_t node, uint16_t lid, uint8_t *colour)
{
	const struct sim_fabric *f = sim_fabric(rig.sim);
	uint8_t port[254];
	unsigned n = sim_ports_to(rig.sim, node, lid, port);

	colour[node] = OPEN;
	for (unsigned i = 0; i < n; i++) {
		uint32_t here = f->nodes[node].first_port + port[i], far = f->live[here], to;

		to = far != SIM_NONE && port_state(&f->ports[here]) == WIRE_PORT_ACTIVE &&
			port_state(&f->ports[far]) >= WIRE_PORT_ARMED
		    ? f->port_node[far]
		    : SIM_NONE;
		if (to == SIM_NONE || !rig_is_switch(&rig, to) || colour[to] == CLOSED)
			continue;
		if (colour[to] == OPEN || comes_back(to, lid, colour))
			return true;
	}
	colour[node] = CLOSED;
	return false;
}

static void
look_for_circles(const struct sim_trace *e)
{
	uint8_t *colour = malloc(rig.nl.n_nodes + 1u);

	ck_assert_ptr_nonnull(colour);
	for (uint32_t lid = 1; lid < n_lids; lid++) {
		memset(colour, NEW, rig.nl.n_nodes);
		if (!comes_back(e->node, (uint16_t)lid, colour))
			continue;
		n_circles++;
		if (first[0] == '\0')
			snprintf(first, sizeof(first),
			    "to LID %u through %s, at %lld ms, attribute %x", lid,
			    rig.nl.nodes[e->node].id, (long long)(e->at_ns / 1000000), e->attr);
	}
	free(colour);
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	bool is_entry = e->attr == WIRE_ATTR_LFT || e->attr == WIRE_ATTR_PORT_INFO;
	bool is_group = e->attr >= ADAPTIVE_INFO && e->attr <= ADAPTIVE_TABLE;

	locks_look(locks, e);
	if (e->method != WIRE_SET || !rig_is_switch(&rig, e->node) || !(is_entry || is_group))
		return;
	n_looks++;
	n_ons += e->attr == ADAPTIVE_INFO;
	look_for_circles(e);
}

/* As the daemon's loop. */
static void
pass(int64_t ms)
{
	int64_t end = sim_now_ns(rig.sim) + ms * INT64_C(1000000), due;
	struct fm_error err;

	while (sim_now_ns(rig.sim) < end) {
		sweeper_step(rig.sweeper);
		due = sweeper_due_ns(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, due < end ? due : end, &err), 0);
	}
	sweeper_step(rig.sweeper);
}

/* ------------------------------------------------------------------- set up */

static void
teardown(void)
{
	if (locks != NULL)
		locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
}

static void
bring_up(const struct place *p, uint64_t seed)
{
	struct fm_error err = { 0 };

	rig_generate(&rig.nl, p->words);
	rig_sim_overtaking(&rig, seed);
	fm_rng_seed(&rng, seed);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig_is_switch(&rig, n) && fm_rng_below(&rng, 3) != 0)
			ck_assert_int_eq(sim_set_adaptive(rig.sim, n, N_GROUPS, &err), 0);
	rig_use(&rig, engine_find(&engines, p->engine));
	rig.set.routing.ar_max_groups = N_GROUPS;
	rig.set.routing.n_vls = 8;
	rig.vendors = in_use;
	rig_bring_up(&rig);
	pass(LIFE_MS);
	n_lids = sweeper_plan(rig.sweeper)->top_lid + 1u;
	n_circles = n_looks = n_ons = n_lost = 0;
	first[0] = '\0';
	locks = locks_watch(&rig);
	sim_set_trace(rig.sim, on_smp, NULL);
}

/* ------------------------------------------------------------------- the truth */

static void
expect_groups(const struct plan *p, fm_sw sw, uint32_t node)
{
	const struct fm_tables *t = &p->tables->t;
	const struct adaptive *a = sim_fabric(rig.sim)->nodes[node].adaptive;
	const char *name = rig.nl.nodes[node].id;
	bool wanted = false;

	for (uint32_t lid = 1; lid <= p->snap->fab.max_lid; lid++)
		wanted = wanted || (tables_are_adaptive(t) && t->ar_group[sw][lid] != 0);
	if (a == NULL) {
		ck_assert_msg(!wanted, "%s has groups in the plan, and no tables for them", name);
		return;
	}
	ck_assert_msg(a->on == wanted, "%s is %s", name, a->on ? "on" : "off");
	for (uint32_t lid = 1; wanted && lid <= p->snap->fab.max_lid; lid++) {
		uint16_t g = t->ar_group[sw][lid];
		const uint8_t *is = adaptive_ports(a, (uint16_t)lid);

		ck_assert_msg((is != NULL) == (g != 0), "%s: LID %u", name, lid);
		for (unsigned port = 0; is != NULL && port < 256; port++)
			ck_assert_msg((is[port / 8] >> (port % 8) & 1) ==
				(t->ar_ports[sw][g][port / 64] >> (port % 64) & 1),
			    "%s: LID %u, port %u", name, lid, port);
	}
}

static uint32_t
expect_plan(void)
{
	const struct plan *p = sweeper_plan(rig.sweeper);
	const struct inventory *inv = sweeper_inventory(rig.sweeper);
	uint32_t n_on = 0;

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		uint32_t slot = inv_find(inv, rig.nl.nodes[n].guid);
		const struct inv_node *node = slot != INV_NONE ? inv_node(inv, slot) : NULL;

		if (!rig_is_switch(&rig, n) || node == NULL || !node_usable(node))
			continue; /* cut off */
		expect_groups(p, node->sw_index, n);
		n_on += sim_fabric(rig.sim)->nodes[n].adaptive != NULL &&
		    sim_fabric(rig.sim)->nodes[n].adaptive->on;
	}
	return n_on;
}

/* ------------------------------------------------------------------- events */

/* Cables to other switches that are in. */
static unsigned
n_joined(uint32_t node)
{
	const struct sim_fabric *f = sim_fabric(rig.sim);
	unsigned n = 0;

	for (unsigned p = 1; p <= rig.nl.nodes[node].n_ports; p++) {
		uint32_t far = f->live[f->nodes[node].first_port + p];

		n += far != SIM_NONE && rig_is_switch(&rig, f->port_node[far]);
	}
	return n;
}

/* No switch loses its last but one. */
static void
lose_or_bring_back(bool to_host)
{
	for (int tries = 0; tries < 1000; tries++) {
		uint32_t n = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[n].n_ports);
		uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;

		if (n_lost > 0 && (n_lost == 6 || fm_rng_below(&rng, 2) == 0)) {
			uint32_t i = fm_rng_below(&rng, n_lost);

			sim_relink(rig.sim, lost[i][0], lost[i][1]);
			memcpy(lost[i], lost[--n_lost], sizeof(lost[i]));
			return;
		}
		if (far == NETLIST_NONE || !rig_is_switch(&rig, far) ||
		    rig_is_switch(&rig, n) == to_host || n == rig.place ||
		    sim_fabric(rig.sim)->live[sim_fabric(rig.sim)->nodes[n].first_port + p] ==
			SIM_NONE ||
		    (!to_host && (n_joined(n) < 3 || n_joined(far) < 3)))
			continue;
		sim_unlink(rig.sim, n, p);
		lost[n_lost][0] = n;
		lost[n_lost++][1] = p;
		return;
	}
}

/* Tables wait for the administrator: they are not proven beside those there are. */
static bool
waits(void)
{
	return sweeper_plan(rig.sweeper)->change.waiting[0] != '\0';
}

static void
settle(void)
{
	if (fm_rng_below(&rng, 2) ==
	    0) { /* groups come back while packets of before are under way */
		pass(20);
		rig_run(&rig, SWEEP_LIGHT);
		pass(50);
	}
	for (int i = 0; i < 40; i++) {
		pass(LIFE_MS);
		rig_run(&rig, SWEEP_LIGHT);
		pass(2 * LIFE_MS);
		if (i > 0 && (sweeper_is_well(rig.sweeper) || waits()))
			return;
	}
}

static void
random_event(void)
{
	uint32_t kind = fm_rng_below(&rng, 12);

	if (kind == 0) {
		sim_reboot(rig.sim, rig_random_switch(&rig, &rng), INT64_C(500000000));
	} else if (kind == 1) { /* it does not answer till the sweep ends */
		locks_silence(locks, 1 + fm_rng_below(&rng, 8));
		lose_or_bring_back(false);
	} else {
		for (uint32_t i = 0; i < 1 + kind % 3; i++)
			lose_or_bring_back(kind == 2);
		if (kind == 3) { /* while groups are written */
			pass(1);
			lose_or_bring_back(false);
		}
	}
	settle();
}

static void
expect_clean(unsigned event)
{
	ck_assert_msg(n_circles == 0, "event %u: %u circles: %s", event, n_circles, first);
	ck_assert_msg(locks_n_rings(locks) == 0, "event %u: %u rings: %s", event,
	    locks_n_rings(locks), locks_first(locks));
	ck_assert_msg(sweeper_is_well(rig.sweeper) || waits(),
	    "event %u: not converged: outcome %d %s phase %d", event, rig.last.outcome,
	    rig.last.error.msg, (int)sweeper_phase(rig.sweeper));
}

START_TEST(each_moment_is_proven)
{
	unsigned n = getenv("FMD_LONG") != NULL ? 1000 / N_PLACES : 12;
	uint64_t sets;

	bring_up(&places[_i], 900 + (uint64_t)_i);
	ck_assert_uint_gt(expect_plan(), 0);
	for (unsigned i = 0; i < n; i++) {
		random_event();
		expect_clean(i);
		expect_plan();
	}
	ck_assert_uint_gt(n_ons, 0);
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	pass(LIFE_MS);
	ck_assert_uint_eq(rig_sets(&rig), sets);
}
END_TEST

/* ------------------------------------------------------- what others do, and the end */

/* The first switch that is on. */
static struct adaptive *
one_that_is_on(uint32_t *node)
{
	for (*node = 0; *node < rig.nl.n_nodes; ++*node) {
		struct adaptive *a = sim_fabric(rig.sim)->nodes[*node].adaptive;

		if (a != NULL && a->on)
			return a;
	}
	ck_abort_msg("no switch routes adaptively");
	return NULL;
}

/* Two cables are pulled, and change places, one of them at a port that was in a group: what is
 * behind it now is another switch than the groups of before were proven with. */
START_TEST(a_cable_goes_elsewhere)
{
	struct sim_fabric *f;
	uint32_t end[4]; /* of one cable, of the other */
	bool found = false;

	bring_up(&places[2], 300 + (uint64_t)_i);
	f = sim_fabric(rig.sim);
	while (!found) {
		for (int i = 0; i < 4; i += 2) {
			end[i] = fm_rng_below(&rng, f->n_ports);
			end[i + 1] = f->live[end[i]];
		}
		found = end[1] != SIM_NONE && end[3] != SIM_NONE;
		for (int i = 0; found && i < 4; i++)
			for (int k = 0; k <= i; k++)
				found = found && rig_is_switch(&rig, f->port_node[end[i]]) &&
				    (k == i || f->port_node[end[i]] != f->port_node[end[k]]);
	}
	fabric_cable(f, end[0], SIM_NONE);
	fabric_cable(f, end[2], SIM_NONE);
	settle();
	fabric_cable(f, end[0], end[3]);
	fabric_cable(f, end[2], end[1]);
	settle();
	settle();
	ck_assert_msg(n_circles == 0, "%u circles: %s", n_circles, first);
	ck_assert_msg(locks_n_rings(locks) == 0, "%s", locks_first(locks));
	expect_plan();
}
END_TEST

/* Somebody writes a group over, or turns a switch on, and tells nobody. */
START_TEST(what_others_write_is_found)
{
	struct adaptive *a;
	uint32_t node;

	bring_up(&places[0], 17);
	a = one_that_is_on(&node);
	a->ports[1][0] ^= 0xff;
	sweeper_audit(rig.sweeper);
	pass(3 * LIFE_MS);
	expect_plan();
	a->on = false;
	sweeper_audit(rig.sweeper);
	pass(3 * LIFE_MS);
	ck_assert(a->on);
	expect_plan();
	ck_assert_uint_eq(n_circles, 0);
}
END_TEST

/* A host that goes and comes back, and a cable: when fmd is at rest as many entries have groups as
 * before. */
START_TEST(groups_come_back)
{
	uint64_t before;
	uint32_t leaf, host = 0;

	bring_up(&places[_i], 16);
	before = sweeper_plan(rig.sweeper)->tables->adaptive.n_adaptive;
	ck_assert_uint_gt(before, 0);
	while (rig_is_switch(&rig, host) || host == rig.place)
		host++;
	sim_unlink(rig.sim, host, 1);
	settle();
	sim_relink(rig.sim, host, 1);
	settle();
	one_that_is_on(&leaf);
	sim_unlink(rig.sim, leaf, rig.nl.nodes[leaf].n_ports);
	settle();
	sim_relink(rig.sim, leaf, rig.nl.nodes[leaf].n_ports);
	settle();
	settle();
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->tables->adaptive.n_adaptive, before);
	expect_plan();
}
END_TEST

/* The same programmer in a folder of others, in a process of its own. */
START_TEST(one_of_others_does_the_same)
{
	const struct apart_settings apart = { .who = APART_FOREIGN,
		.memory_bytes = (size_t)256 << 20,
		.load_ms = 60000,
		.reply_ms = 60000 };
	char folder[FOLDER_ROOM], command[160];
	const char *dirs[] = { folder, NULL };
	struct vendors *others;
	struct fm_error err = { 0 };

	if (!apart_is_built())
		return; /* without libseccomp */
	folder_make(folder);
	snprintf(command, sizeof(command),
	    "mkdir %s/vendors && cp plugins/vendors/.libs/example.so %s/vendors/", folder, folder);
	ck_assert_int_eq(system(command), 0);
	ck_assert_msg(vendors_load(&others, dirs, &apart, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(others->n_vendors, 1);
	ck_assert_ptr_nonnull(programmer_of(others->vendor[0]));
	in_use = others;
	bring_up(&places[0], 905);
	ck_assert_uint_gt(expect_plan(), 0);
	for (unsigned i = 0; i < 6; i++) {
		random_event();
		expect_clean(i);
		expect_plan();
	}
	ck_assert_uint_gt(n_ons, 0);
	in_use = &vendors;
	teardown();
	vendors_free(others);
	folder_remove(folder);
}
END_TEST

/* Not wanted any more: all are turned off, and stay so. */
START_TEST(it_ends)
{
	bring_up(&places[0], 18);
	ck_assert_uint_gt(expect_plan(), 0);
	rig.set.routing.ar_max_groups = 0;
	rig_route_anew(&rig);
	pass(3 * LIFE_MS);
	ck_assert_uint_eq(expect_plan(), 0);
}
END_TEST

/* fmd ends, and another begins that knows nothing: what switches hold is read, and no Set sent.
 * What is on is turned off before that one writes an entry. */
START_TEST(another_fmd_finds_them)
{
	uint64_t sets;
	uint32_t node;

	bring_up(&places[_i], 19);
	rig_stop(&rig);
	rig_start(&rig);
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	pass(2 * LIFE_MS);
	ck_assert_uint_gt(expect_plan(), 0);
	if (_i == 0) /* the same entries from nothing */
		ck_assert_uint_eq(rig_sets(&rig), sets);
	rig_stop(&rig);
	one_that_is_on(&node);
	sim_unlink(rig.sim, node, rig.nl.nodes[node].n_ports);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	pass(3 * LIFE_MS);
	rig_run(&rig, SWEEP_LIGHT);
	pass(3 * LIFE_MS);
	expect_plan();
	ck_assert_msg(n_circles == 0, "%s", first);
}
END_TEST

/* ---------------------------------------------------------------------- programmers */

enum lie { NO_BLOCKS, TOO_MANY, IBA_ATTRIBUTE, ITS_INFO, NO_BLOCK, NO_TURN, NO_INFO, N_LIES };
static enum lie lie;

static int
lies_read_info(const uint8_t *answer, struct fm_vendor_info *out)
{
	return lie == NO_INFO ? FM_E_TOPOLOGY : example_LTX_fm_vendor.read_info(answer, out);
}

static int
lies_turn(const uint8_t *answer, const struct fm_vendor_mode *mode, uint8_t *data)
{
	return lie == NO_TURN ? FM_E_BUG : example_LTX_fm_vendor.turn(answer, mode, data);
}

static int32_t
lies_n_blocks(const struct fm_vendor_rows *r)
{
	return lie == NO_BLOCKS ? FM_E_BUG
	    : lie == TOO_MANY	? INT32_MAX
				: example_LTX_fm_vendor.n_blocks(r);
}

static int
lies_block(const struct fm_vendor_rows *r, uint32_t i, struct fm_vendor_smp *out)
{
	int rc = example_LTX_fm_vendor.block(r, i, out);

	if (lie == IBA_ATTRIBUTE)
		out->attr = WIRE_ATTR_LFT;
	if (lie == ITS_INFO)
		out->attr = ADAPTIVE_INFO;
	return lie == NO_BLOCK ? FM_E_BUG : rc;
}

/* Of a programmer that answers nonsense no Set leaves but to turn off, and the subnet is up. */
START_TEST(nonsense_is_not_written)
{
	struct fm_vendor liar = example_LTX_fm_vendor;
	const struct fm_vendor *list[] = { &liar };
	const struct vendors liars = { .vendor = list, .n_vendors = 1 };
	struct fm_error err = { 0 };

	lie = (enum lie)_i;
	liar.read_info = lies_read_info;
	liar.turn = lies_turn;
	liar.n_blocks = lies_n_blocks;
	liar.block = lies_block;
	ck_assert_int_eq(vendor_check(&liar, "liar.so", &err), 0);
	rig_generate(&rig.nl, places[0].words);
	rig_sim(&rig, NULL);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig_is_switch(&rig, n))
			ck_assert_int_eq(sim_set_adaptive(rig.sim, n, N_GROUPS, &err), 0);
	rig_use(&rig, engine_find(&engines, places[0].engine));
	rig.set.routing.ar_max_groups = N_GROUPS;
	rig.vendors = &liars;
	rig_bring_up(&rig);
	pass(2 * LIFE_MS);
	ck_assert(sweeper_is_well(rig.sweeper));
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert(!rig_is_switch(&rig, n) || !sim_fabric(rig.sim)->nodes[n].adaptive->on);
	/* and as after a reload, when it answers as it should */
	lie = N_LIES;
	rig_route_anew(&rig);
	pass(2 * LIFE_MS);
	ck_assert_uint_gt(expect_plan(), 0);
}
END_TEST

/* A descriptor that cannot be called. */
START_TEST(descriptors_are_checked)
{
	static const struct fm_vendor_id endless[] = { [0 ... 1023] = { 1, 0, 0 } };
	struct fm_vendor v = example_LTX_fm_vendor;
	struct fm_error err = { 0 };

#define REFUSED(field, value, words) \
	do { \
		v = example_LTX_fm_vendor; \
		v.field = (value); \
		ck_assert_int_eq(vendor_check(&v, "x.so", &err), FM_E_CONFIG); \
		ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg); \
	} while (0)
	REFUSED(magic, 1, "magic");
	REFUSED(abi_major, 2, "rebuild");
	REFUSED(abi_minor, 1, "rebuild");
	REFUSED(size, 8, "bytes");
	REFUSED(name, NULL, ".name");
	REFUSED(ids, NULL, ".ids");
	REFUSED(ids, endless, ".ids");
	REFUSED(info_attr, WIRE_ATTR_PORT_INFO, "attribute of a vendor");
	REFUSED(block, NULL, "required");
	ck_assert_int_eq(vendor_check(&example_LTX_fm_vendor, "x.so", &err), 0);
}
END_TEST

int
main(void)
{
	Suite *s;
	TCase *t;

	if (!load_engines())
		return 1;
	s = suite_create("groups_on_wire");
	t = tcase_create("all");
	tcase_set_timeout(t, 3000);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, each_moment_is_proven, 0, N_PLACES);
	tcase_add_test(t, what_others_write_is_found);
	tcase_add_loop_test(t, a_cable_goes_elsewhere, 0, 12);
	tcase_add_loop_test(t, groups_come_back, 0, 2); /* whose repairs go back exactly */
	tcase_add_test(t, one_of_others_does_the_same);
	tcase_add_test(t, it_ends);
	tcase_add_loop_test(t, another_fmd_finds_them, 0, N_PLACES);
	tcase_add_loop_test(t, nonsense_is_not_written, 0, N_LIES);
	tcase_add_test(t, descriptors_are_checked);
	suite_add_tcase(s, t);
	return run_suite(s);
}
