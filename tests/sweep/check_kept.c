/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SA answered from, kept over a restart: it comes back as it was, says only yes, and
 * when the fabric has changed meanwhile nothing wrong is left of it once all has been read.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sa/path.h"
#include "core/vfabric/vfabric.h"
#include "core/view/kept.h"
#include "lab/sim/fabric.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define CHANGES_MOST 4

extern const struct fm_engine dfsssp_LTX_fm_engine, updn_LTX_fm_engine, lash_LTX_fm_engine;

static const struct fabric {
	const char *words;
	const struct fm_engine *engine;
	uint8_t lmc;
} fabrics[] = {
	{ "pgft 2 4,4 1,2 1,1", &updn_LTX_fm_engine, 0 },
	{ "torus 3x3 2", &dfsssp_LTX_fm_engine, 1 },
	{ "random 9 4 11 3", &lash_LTX_fm_engine, 0 },
};

static struct rig rig;
static struct sa_rig sa;
static char folder[FOLDER_ROOM], tables[64], nodes[64];
static struct sa_settings set;
static struct sa_kept *kept;
static struct fm_rng rng;
static int seed;
static bool was_looked_at;
static struct conf_partitions parts; /* of the next subnet; all NULL: all may talk to all */

static void
setup(void)
{
	folder_make(folder);
	snprintf(tables, sizeof(tables), "%s/tables", folder);
	snprintf(nodes, sizeof(nodes), "%s/nodes", folder);
	rig_log_clear();
}

static void
teardown(void)
{
	sa_kept_free(kept);
	kept = NULL;
	if (sa.sa != NULL)
		sa_rig_fini(&sa);
	rig_fini(&rig);
	folder_remove(folder);
	partitions_put(parts.all);
	parts = (struct conf_partitions){ 0 };
}

/* The subnet is up, and what the SA answers from is in the file. */
static void
keep(const struct fabric *f)
{
	struct fm_error err = { 0 };
	struct sa_view *v;
	uint64_t sum = 0;

	rig_generate(&rig.nl, f->words);
	rig_sim(&rig, NULL);
	rig_use(&rig, f->engine);
	rig.set.addresses.lmc = f->lmc;
	rig.off_loop = true;
	rig.plan_path = tables;
	if (parts.all != NULL)
		rig.set.partitions = parts;
	ck_assert_int_eq(store_open(folder, &rig.store, &err), 0);
	rig_bring_up(&rig);
	sa_rig_start(&sa, &rig);
	sa.set.partitions = parts.all;
	sa.set.vfabrics = parts.all != NULL ? &parts.vfabrics : NULL;
	sa_rig_publish(&sa);
	set = sa.set;
	v = sa_slot_get(&sa.slot);
	ck_assert_msg(sa_kept_save(nodes, v, &sum, &err) == 0, "%s", err.msg);
	ck_assert_uint_ne(sum, 0);
	sa_view_put(v);
}

static const char *
load(void)
{
	struct fm_error err = { 0 };
	struct local_port own;
	struct sa_kept_source src = { .path = nodes,
		.tables = tables,
		.router = &rig.router,
		.chain_mark = rig.chain.mark,
		.store = rig.store,
		.set = &set };
	const char *why = NULL;

	ck_assert_int_eq(rig.transport->ops->local_port(rig.transport, &own, &err), 0);
	src.own_guid = own.port_guid;
	sa_kept_free(kept);
	ck_assert_msg(sa_kept_load(&src, &kept, &why, &err) == 0, "%s", err.msg);
	ck_assert((kept != NULL) == (why == NULL));
	return why;
}

static struct sa_view *
view_of_kept(void)
{
	struct sa_view_source src = { .inv = &kept->inv,
		.plan = kept->plan,
		.set = &set,
		.pkeys = kept->pkeys,
		.basis = kept->basis };
	struct fm_error err = { 0 };
	struct sa_view *v = NULL;

	ck_assert_msg(sa_view_begin(&src, &v, &err) == 0, "%s", err.msg);
	ck_assert_msg(sa_view_finish(v, NULL, NULL, &err) == 0, "%s", err.msg);
	return v;
}

/* ---------------------------------------------------------------- as it was */

static void
expect_the_same(const struct sa_view *a, const struct sa_view *b)
{
	ck_assert_uint_eq(a->n_ends, b->n_ends);
	for (uint32_t i = 0; i < a->n_ends; i++) {
		uint8_t x[WIRE_SMP_DATA_BYTES], y[WIRE_SMP_DATA_BYTES];

		ck_assert_uint_eq(a->end[i].guid, b->end[i].guid);
		ck_assert_uint_eq(a->end[i].lid, b->end[i].lid);
		ck_assert_uint_eq(a->end[i].lmc, b->end[i].lmc);
		wire_node_info_put(x, &a->node[a->end[i].node]->info);
		wire_node_info_put(y, &b->node[b->end[i].node]->info);
		ck_assert_mem_eq(x, y, sizeof(x));
		ck_assert_mem_eq(a->node[a->end[i].node]->desc, b->node[b->end[i].node]->desc, 64);
	}
	for (uint32_t i = 0; i < a->n_ends; i++)
		for (uint32_t k = 0; k < a->n_ends; k++) {
			struct sa_path x, y;
			bool p = sa_path_find(a, i, a->end[i].lid, a->end[k].lid, &x);

			ck_assert(p == sa_path_find(b, i, a->end[i].lid, a->end[k].lid, &y));
			ck_assert(!p ||
			    (x.sl == y.sl && x.reversible == y.reversible &&
				x.attr.mtu == y.attr.mtu && x.attr.mbps == y.attr.mbps));
			ck_assert_uint_eq(
			    sa_view_shared_pkey(a, i, k, 0), sa_view_shared_pkey(b, i, k, 0));
		}
}

START_TEST(comes_back_as_it_was)
{
	struct sa_view *before, *v;
	const char *why;

	keep(&fabrics[_i]);
	why = load();
	ck_assert_msg(why == NULL, "%s", why);
	ck_assert_uint_eq(kept->n_gone, 0);
	before = sa_slot_get(&sa.slot);
	v = view_of_kept();
	expect_the_same(before, v);
	sa_view_put(before);
	sa_view_put(v);
}
END_TEST

/* Members of vfabrics are found in what was kept as in the fabric. */
START_TEST(vfabrics_come_back)
{
	static const char *const words[] = { "host-[1-2]-*", "type:ca", "!host-4-*" };
	static struct node_item items[N_OF(words)];
	static struct vfabric of[2] = { { .name = "a", .security = true, .pkey = 3 },
		{ .name = "b", .security = true, .pkey = 4 } };
	struct part_more more[2];
	const struct part_options o = { .more = more, .n_more = 2 };
	struct sa_view *before, *v;
	struct fm_error err = { 0 };
	unsigned n_shared = 0;

	for (size_t i = 0; i < N_OF(words); i++)
		ck_assert_int_eq(node_item_parse(words[i], &items[i], &err), 0);
	of[0].full = (struct vfabric_list){ items, 1 };
	of[0].limited = of[1].full = (struct vfabric_list){ items + 1, 2 };
	more[0] = vfabric_part(&of[0]);
	more[1] = vfabric_part(&of[1]);
	parts.vfabrics = (struct vfabrics){ .of = of, .n = 2 };
	ck_assert_int_eq(partitions_default(&o, &parts.all, NULL, &err), 0);
	keep(&fabrics[0]);
	ck_assert_ptr_null(load());
	before = sa_slot_get(&sa.slot);
	v = view_of_kept();
	expect_the_same(before, v);
	for (uint32_t i = 0; i < v->n_ends; i++)
		for (uint32_t k = 0; k < i; k++)
			n_shared += (sa_view_shared_pkey(v, i, k, 0) & PKEY_BASE) == 3;
	ck_assert_uint_eq(n_shared, 8 * 7 / 2 + 8 * 4); /* full ones, and they to the limited */
	sa_view_put(before);
	sa_view_put(v);
}
END_TEST

START_TEST(is_written_when_it_differs)
{
	struct fm_error err = { 0 };
	struct sa_view *v;
	uint64_t sum = 0, first;

	keep(&fabrics[0]);
	v = sa_slot_get(&sa.slot);
	ck_assert_int_eq(sa_kept_save(nodes, v, &sum, &err), 0);
	first = sum;
	ck_assert_int_eq(remove(nodes), 0);
	ck_assert_int_eq(sa_kept_save(nodes, v, &sum, &err), 0);
	ck_assert_uint_eq(sum, first);
	ck_assert_int_ne(access(nodes, F_OK), 0);
	ck_assert_int_eq(sa_kept_save("/nowhere/at/all", v, &first, &err), 0);
	first = 0;
	ck_assert_int_eq(sa_kept_save("/nowhere/at/all", v, &first, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nowhere/at/all"));
	sa_view_put(v);
}
END_TEST

/* ------------------------------------------------------------------ only yes */

#define MASK_JOIN (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define MASK_CREATE \
	(MASK_JOIN | SA_MCR_QKEY | SA_MCR_PKEY | SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define MASK_SERVICE (SA_SR_ID | SA_SR_GID | SA_SR_PKEY)

static struct sa_gid
gid_of_asker(void)
{
	struct sa_view *v = sa_slot_get(&sa.slot);
	struct sa_gid gid = { v->set.gid_prefix, v->end[sa_view_end_of_lid(v, sa.from.lid)].guid };

	sa_view_put(v);
	return gid;
}

struct question {
	uint8_t method;
	uint16_t attr;
	uint64_t mask;
	uint16_t status; /* of who rules and has taken over what was kept */
	const void *want;
};

/* That is answered by who rules, and has what the master before had; it is BUSY after a restart. */
static bool
registers(uint16_t attr)
{
	return attr == SA_MC_MEMBER_RECORD || attr == SA_INFORM_INFO || attr == SA_SERVICE_RECORD;
}

START_TEST(says_only_yes)
{
	uint16_t other;
	struct sa_path_record path = { 0 };
	struct sa_node_record node = { 0 };
	struct sa_mc_member_record member = { .mgid = { UINT64_C(0xff12a01c00000000), 1 },
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = 1 };
	const struct sa_inform_info all_traps = { .lid_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.producer_type = 0xffffff };
	struct sa_service_record service = { .id = 7, .pkey = 0xffff, .lease_s = UINT32_MAX };
	const struct question asked[] = {
		{ SA_GET, SA_CLASS_PORT_INFO, 0, SA_OK, NULL },
		{ SA_GET, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, SA_OK, &path },
		{ SA_GET_TABLE, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, SA_OK, &path },
		{ SA_GET_TABLE, SA_PATH_RECORD, SA_PR_SLID, WIRE_STATUS_BUSY, &path },
		{ SA_GET_TABLE, SA_PATH_RECORD, 0, WIRE_STATUS_BUSY, &path },
		{ SA_GET, SA_NODE_RECORD, SA_NR_LID, SA_OK, &node },
		{ SA_GET_TABLE, SA_NODE_RECORD, 0, WIRE_STATUS_BUSY, &node },
		{ SA_GET_TABLE, SA_PORT_INFO_RECORD, 0, WIRE_STATUS_BUSY, NULL },
		{ SA_GET_TABLE, SA_LINK_RECORD, 0, WIRE_STATUS_BUSY, NULL },
		{ SA_GET_TABLE, SA_SM_INFO_RECORD, 0, WIRE_STATUS_BUSY, NULL },
		{ SA_GET_TABLE, SA_MC_MEMBER_RECORD, SA_MCR_MGID, WIRE_STATUS_BUSY, &member },
		{ SA_DELETE, SA_MC_MEMBER_RECORD, MASK_JOIN, WIRE_STATUS_BUSY, &member },
		{ SA_SET, SA_MC_MEMBER_RECORD, MASK_JOIN, WIRE_STATUS_BUSY, &member },
		{ SA_SET, SA_MC_MEMBER_RECORD, MASK_CREATE, SA_OK, &member },
		{ SA_SET, SA_MC_MEMBER_RECORD, MASK_JOIN, SA_OK, &member },
		{ SA_GET_TABLE, SA_MC_MEMBER_RECORD, SA_MCR_MGID, SA_OK, &member },
		{ SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, WIRE_STATUS_BUSY, &member },
		{ SA_DELETE, SA_MC_MEMBER_RECORD, MASK_JOIN, SA_OK, &member },
		{ SA_SET, SA_INFORM_INFO, 0, SA_OK, &all_traps },
		{ SA_GET_TABLE, SA_INFORM_INFO_RECORD, 0, WIRE_STATUS_BUSY, NULL },
		{ SA_DELETE, SA_SERVICE_RECORD, MASK_SERVICE, WIRE_STATUS_BUSY, &service },
		{ SA_SET, SA_SERVICE_RECORD, MASK_SERVICE, SA_OK, &service },
		{ SA_GET_TABLE, SA_SERVICE_RECORD, SA_SR_ID, SA_OK, &service },
		{ SA_GET_TABLE, SA_SERVICE_RECORD, 0, WIRE_STATUS_BUSY, &service },
		{ SA_DELETE, SA_SERVICE_RECORD, MASK_SERVICE, SA_OK, &service },
		{ SA_GET_TRACE_TABLE, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, WIRE_STATUS_BUSY,
		    &path },
	};

	keep(&fabrics[0]);
	ck_assert_ptr_null(load());
	sa_slot_set(&sa.slot, view_of_kept());
	other = rig_host_lid(&rig, 3);
	path.slid = sa.from.lid;
	path.dlid = node.lid = other;
	member.port_gid = service.gid = gid_of_asker();
	for (size_t i = 0; i < 2 * N_OF(asked); i++) {
		const struct question *a = &asked[i % N_OF(asked)];
		uint16_t status, expected = a->status;

		if (i < N_OF(asked) && registers(a->attr))
			expected = WIRE_STATUS_BUSY;
		if (i == N_OF(asked)) {
			kept->basis = SA_VIEW_INHERITED;
			sa_slot_set(&sa.slot, view_of_kept());
		}
		status = sa_rig_ask(&sa, a->method, a->attr, a->mask, a->want);
		ck_assert_msg(status == expected, "question %zu: status 0x%04x", i, status);
	}
	path.dlid = node.lid = 0xb000;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, &path),
	    WIRE_STATUS_BUSY);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_NODE_RECORD, SA_NR_LID, &node), WIRE_STATUS_BUSY);
	ck_assert_uint_eq(sa_counts(sa.sa)->unverified, 16);
	sa_tick(sa.sa, 1);
	ck_assert_uint_eq(sa_counts(sa.sa)->told.events, 0);
}
END_TEST

/* ------------------------------------------------------------- not to be used */

static void
damage(long at, const char *bytes, size_t n)
{
	FILE *f = fopen(nodes, "r+");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

START_TEST(what_is_no_good_is_a_sentence)
{
	keep(&fabrics[0]);
	damage(3000, "xyz", 3);
	ck_assert_str_eq(load(), "there are no nodes");
	ck_assert_ptr_nonnull(strstr(rig_log, "it is damaged; set aside"));
	rig_log_clear();
	ck_assert_str_eq(load(), "there are no nodes");
	ck_assert_str_eq(rig_log, "");
}
END_TEST

START_TEST(another_version_is_a_sentence)
{
	keep(&fabrics[0]);
	damage(7, "0", 1);
	ck_assert_str_eq(load(), "there are no nodes");
	ck_assert_ptr_nonnull(strstr(rig_log, "it is not ours, or of another version"));
}
END_TEST

START_TEST(a_file_cut_short_is_a_sentence)
{
	static uint8_t bytes[65536];
	size_t n;
	FILE *f;

	keep(&fabrics[0]);
	f = fopen(nodes, "r");
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	ck_assert(n > 0 && n < sizeof(bytes));
	for (size_t left = 0; left < n; left += left < 200 ? 1 : 97) {
		f = fopen(nodes, "w");
		ck_assert_uint_eq(fwrite(bytes, 1, left, f), left);
		fclose(f);
		ck_assert_str_eq(load(), "there are no nodes");
	}
}
END_TEST

START_TEST(other_circumstances_are_a_sentence)
{
	struct sa_settings before;

	keep(&fabrics[0]);
	before = set;
	set.gid_prefix++;
	ck_assert_str_eq(load(), "partitions, or the prefix of the subnet, are others now");
	set = before;
	rig.chain.mark++;
	ck_assert_str_eq(
	    load(), "there are no tables for these switches and this chain of engines");
	rig.chain.mark--;
	ck_assert_ptr_null(load());
	ck_assert_int_eq(remove(tables), 0);
	ck_assert_str_eq(
	    load(), "there are no tables for these switches and this chain of engines");
}
END_TEST

START_TEST(who_has_another_lid_in_the_store_is_left_out)
{
	struct store_lid other = { .lid = 0x300 };
	struct fm_error err = { 0 };
	struct sa_view *v;

	keep(&fabrics[0]);
	other.guid = netlist_port(&rig.nl, rig_host(&rig, 3), 1)->guid;
	ck_assert_int_eq(store_put_lids(rig.store, &other, 1, &err), 0);
	ck_assert_ptr_null(load());
	ck_assert_uint_eq(kept->n_gone, 1);
	v = view_of_kept();
	ck_assert_uint_eq(sa_view_end_of_guid(v, other.guid), FM_NONE);
	ck_assert_uint_eq(v->n_ends, kept->n_ports - 1);
	sa_view_put(v);
}
END_TEST

/* ---------------------------------------------------------- changed meanwhile */

static uint32_t
some_host(void)
{
	uint32_t n;

	do
		n = fm_rng_below(&rng, rig.nl.n_nodes);
	while (rig_is_switch(&rig, n) || n == rig.place);
	return n;
}

static void
say(const char *text)
{
	struct fm_error err = { 0 };

	(void)sim_do(rig.sim, text, &err); /* what is not there any more cannot be taken */
}

/* A host goes to where another one was. */
static void
move_host(void)
{
	uint32_t a = some_host(), b = some_host();
	const struct netlist_port *to = netlist_port(&rig.nl, b, 1);
	char text[256];

	snprintf(text, sizeof(text), "clear \"%s\"[1]", rig.nl.nodes[a].id);
	say(text);
	snprintf(text, sizeof(text), "clear \"%s\"[1]", rig.nl.nodes[b].id);
	say(text);
	snprintf(text, sizeof(text), "link \"%s\"[1] \"%s\"[%u]", rig.nl.nodes[a].id,
	    rig.nl.nodes[to->peer_node].id, to->peer_port);
	say(text);
}

static void
change(void)
{
	uint32_t sw = rig_random_switch(&rig, &rng);

	switch (fm_rng_below(&rng, 8)) {
	case 0:
		sim_unlink(rig.sim, some_host(), 1);
		break;
	case 1:
		sim_unlink(rig.sim, sw, 1 + fm_rng_below(&rng, rig.nl.nodes[sw].n_ports));
		break;
	case 2:
		sim_reboot(rig.sim, some_host(), 1000);
		break;
	case 3:
		sim_reboot(rig.sim, sw, 1000);
		break;
	case 4:
		sim_set_lid(rig.sim, some_host(), 1,
		    (uint16_t)(1 + fm_rng_below(&rng, 2 * rig.nl.n_nodes)));
		break;
	case 5: /* behind a silent switch nothing is read */
		sim_silence(rig.sim, some_host(), true);
		break;
	case 6: /* gone for good */
		for (unsigned p = 1; p <= rig.nl.nodes[sw].n_ports; p++)
			sim_unlink(rig.sim, sw, p);
		break;
	default:
		move_host();
	}
}

/* Whoever is told of a path by what is left arrives, at the port it was told of. */
static void
expect_right(const struct sa_view *v, const char *when)
{
	for (uint32_t i = 0; i < v->n_ends; i++)
		for (uint32_t k = 0; k < v->n_ends; k++) {
			const struct sa_end *a = &v->end[i], *b = &v->end[k];
			uint32_t from = UINT32_MAX, to = UINT32_MAX;
			struct sim_way way;
			struct sa_path path;

			if (a->is_switch || b->is_switch ||
			    !sa_path_find(v, i, a->lid, b->lid, &path))
				continue;
			for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
				from = rig.nl.nodes[n].guid == v->node[a->node]->info.node_guid
				    ? n
				    : from;
				to = rig.nl.nodes[n].guid == v->node[b->node]->info.node_guid ? n
											      : to;
			}
			ck_assert_msg(
			    sim_walk(rig.sim, (struct sim_place){ from, a->port }, b->lid, &way) &&
				way.at.node == to,
			    "seed %d, %s: a path from %s to %s (LID %u) that is none", seed, when,
			    rig.nl.nodes[from].id, rig.nl.nodes[to].id, b->lid);
		}
}

/* All is read, and nothing written yet. */
static bool
on_plan(void *arg)
{
	struct fm_error err = { 0 };
	uint32_t n_gone = kept->n_gone;
	struct sa_view *v;
	bool changed;

	(void)arg;
	if (was_looked_at)
		return true;
	was_looked_at = true;
	ck_assert_int_eq(
	    sa_kept_compare(kept, sweeper_inventory(rig.sweeper), false, &changed, &err), 0);
	ck_assert_uint_ge(kept->n_gone, n_gone);
	v = view_of_kept();
	expect_right(v, "all is read");
	sa_view_put(v);
	return true;
}

/* In the middle of reading, too, it becomes less and stays whole. */
static void
on_smp(void *arg, const struct sim_trace *e)
{
	struct fm_error err = { 0 };
	uint32_t n_gone = kept->n_gone;
	bool changed;

	(void)arg;
	(void)e;
	if (rig.sweeper == NULL || fm_rng_below(&rng, 16) != 0)
		return;
	ck_assert_int_eq(
	    sa_kept_compare(kept, sweeper_inventory(rig.sweeper), false, &changed, &err), 0);
	ck_assert(changed || kept->n_gone == n_gone);
	ck_assert_uint_ge(kept->n_gone, n_gone);
	if (changed)
		sa_view_put(view_of_kept());
}

START_TEST(nothing_wrong_is_left)
{
	const struct fabric *f = &fabrics[_i % N_OF(fabrics)];
	struct fm_error err = { 0 };
	bool changed;

	seed = _i;
	fm_rng_seed(&rng, (uint64_t)seed);
	keep(f);
	rig_stop(&rig);
	for (uint32_t n = 1 + fm_rng_below(&rng, CHANGES_MOST); n > 0; n--)
		change();
	sim_run(rig.sim, sim_now_ns(rig.sim) + 1000000);
	was_looked_at = false;
	rig.may_take_plan = on_plan;
	rig_start(&rig);
	ck_assert_ptr_null(load());
	sim_set_trace(rig.sim, on_smp, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert(was_looked_at);
	sim_set_trace(rig.sim, NULL, NULL);
	ck_assert_int_eq(
	    sa_kept_compare(kept, sweeper_inventory(rig.sweeper), true, &changed, &err), 0);
}
END_TEST

/* What links carry is as it has been read. */
START_TEST(a_slower_link_is_known)
{
	struct sim_fabric *f;
	struct fm_error err = { 0 };
	struct wire_port_info info;
	struct sa_view *v;
	struct sa_path path;
	uint32_t port, self;
	bool changed;

	keep(&fabrics[0]);
	rig_stop(&rig);
	f = sim_fabric(rig.sim);
	port = f->nodes[rig_host(&rig, 3)].first_port + 1;
	wire_port_info_get(f->ports[port].info, &info);
	info.link_width_active = 1;
	wire_port_info_put(f->ports[port].info, &info);
	rig_start(&rig);
	ck_assert_ptr_null(load());
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(
	    sa_kept_compare(kept, sweeper_inventory(rig.sweeper), false, &changed, &err), 0);
	ck_assert(changed);
	ck_assert_uint_eq(kept->n_gone, 0);
	v = view_of_kept();
	self = sa_view_end_of_lid(v, sa.from.lid);
	ck_assert(sa_path_find(v, self, sa.from.lid, rig_host_lid(&rig, 3), &path));
	ck_assert_uint_eq(path.attr.mbps, wire_port_mbps(&info));
	sa_view_put(v);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("kept");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, comes_back_as_it_was, 0, N_OF(fabrics));
	tcase_add_test(t, vfabrics_come_back);
	tcase_add_test(t, is_written_when_it_differs);
	tcase_add_test(t, says_only_yes);
	tcase_add_test(t, what_is_no_good_is_a_sentence);
	tcase_add_test(t, another_version_is_a_sentence);
	tcase_add_test(t, a_file_cut_short_is_a_sentence);
	tcase_add_test(t, other_circumstances_are_a_sentence);
	tcase_add_test(t, who_has_another_lid_in_the_store_is_left_out);
	tcase_add_loop_test(t, nothing_wrong_is_left, 0, (int)n_cases(300));
	tcase_add_test(t, a_slower_link_is_known);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
