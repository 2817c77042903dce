/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole way of a path, from the view to the file of a host: what is looked up there is what
 * the SA says; what has not changed is not told again.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dist/view_blobs.h"
#include "core/sa/path.h"
#include "host/agent/source.h"
#include "host/paths/paths.h"
#include "lab/sim/fabric.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SEEDS 12
#define EVENTS 8

extern const struct fm_engine dfsssp_LTX_fm_engine, updn_LTX_fm_engine, lash_LTX_fm_engine,
    torus2qos_LTX_fm_engine;

static const struct fabric {
	const char *words;
	const struct fm_engine *engine;
	uint8_t lmc;
} fabrics[] = {
	{ "pgft 2 4,4 1,2 1,1", &updn_LTX_fm_engine, 0 },
	{ "torus 5x4 1", &lash_LTX_fm_engine, 0 },
	{ "random 9 4 11 3", &dfsssp_LTX_fm_engine, 1 },
};

/* One that publishes. */
struct publisher {
	void *place;
	struct published told;
	struct sa_view *last;
};

static struct rig rig;
static struct sa_rig sa;
static char folder[FOLDER_ROOM], place[64], file[64];
static struct publisher pub, heir;
static struct replica replica;
static void *source;
static struct fm_rng rng;
static const struct partitions *partitions; /* NULL: one */

static void
setup(void)
{
	folder_make(folder);
	snprintf(place, sizeof(place), "%s/dist", folder);
	snprintf(file, sizeof(file), "%s/paths", folder);
	rig_log_clear();
}

static void
publisher_open(struct publisher *p)
{
	struct fm_error err = { 0 };

	pub_init(&p->told, &place_files);
	ck_assert_msg(place_files.open(&(struct place_at){ .where = place }, &p->place, &err) == 0,
	    "%s", err.msg);
	ck_assert_msg(pub_load(&p->told, p->place, &err) == 0, "%s", err.msg);
}

static void
publisher_close(struct publisher *p)
{
	place_files.close(p->place);
	pub_fini(&p->told);
	sa_view_put(p->last);
	memset(p, 0, sizeof(*p));
}

static void
teardown(void)
{
	publisher_close(&pub);
	publisher_close(&heir);
	source_files.close(source);
	source = NULL;
	replica_fini(&replica);
	memset(&replica, 0, sizeof(replica));
	if (sa.sa != NULL)
		sa_rig_fini(&sa);
	rig_fini(&rig);
	partitions_put(partitions);
	partitions = NULL;
	folder_remove(folder);
}

/* What the sweep says now; true: something was told. */
static bool
publish(struct publisher *p, uint64_t term)
{
	struct fm_error err = { 0 };
	struct sa_view *v = sa_slot_get(&sa.slot);
	bool told;

	pub_start(&p->told, term);
	ck_assert_msg(view_blobs_put(&p->told, v, p->last, NULL, &err) == 0, "%s", err.msg);
	ck_assert_msg(pub_commit(&p->told, &told, &err) == 0, "%s", err.msg);
	sa_view_put(p->last);
	p->last = v;
	return told;
}

static void
bring_up(const struct fabric *f)
{
	rig_generate(&rig.nl, f->words);
	rig_sim(&rig, NULL);
	rig_use(&rig, f->engine);
	rig.set.addresses.lmc = f->lmc;
	rig.set.partitions.all = partitions;
	rig_bring_up(&rig);
	sa_rig_start(&sa, &rig);
	sa.set.partitions = partitions;
	sa.set.qos_sls = partitions != NULL;
	sa_rig_publish(&sa);
	publisher_open(&pub);
	publish(&pub, 1);
}

static void
sweep(void)
{
	rig_let_pass(&rig, 5000); /* links train */
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
}

/* Every fourth host of the fabric is this one. */
static void
take_ports(struct replica *r)
{
	r->n_own = 0;
	for (uint32_t n = 0; n < rig.nl.n_nodes && r->n_own < REPLICA_MOST_OWN; n++)
		if (!rig_is_switch(&rig, n) && n % 4 == 0)
			r->own[r->n_own++] = netlist_port(&rig.nl, n, 1)->guid;
}

static struct paths *
follow(struct replica *r, void **from)
{
	struct fm_error err = { 0 };
	struct paths *p = NULL;
	bool whole;

	take_ports(r);
	if (*from == NULL)
		ck_assert_int_eq(source_files.open(place, NULL, from, &err), 0);
	ck_assert_msg(source_files.fetch(*from, r, &whole, &err) == 0, "%s", err.msg);
	ck_assert_msg(replica_write(r, file, &err) == 0, "%s", err.msg);
	ck_assert_msg(paths_read(file, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p);
	return p;
}

/* ------------------------------------------------------------- as the SA says */

static unsigned sls_told; /* a bit each, since it was 0 */

/* Is it the same, byte by byte?  False: the file cannot tell. */
static bool
expect_as_the_sa(const struct paths *p, uint16_t slid, uint16_t dlid, uint16_t pkey)
{
	struct paths_query q = { .slid = slid, .dlid = dlid, .pkey = pkey };
	struct sa_path_record want = { .slid = slid, .dlid = dlid, .pkey = pkey }, said, told;
	uint64_t mask = SA_PR_SLID | SA_PR_DLID | (pkey != 0 ? SA_PR_PKEY : 0);
	uint8_t a[64] = { 0 }, b[64] = { 0 };
	uint16_t status;

	if (!paths_record(p, &q, &told))
		return false;
	status = sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, mask, &want);
	if (status != SA_OK || sa_rig_n(&sa) != 1)
		ck_abort_msg("%u to %u, P_Key %04x: the SA says 0x%04x", slid, dlid, pkey, status);
	sa_rig_record(&sa, 0, &said);
	sa_record_put(sa_record_of(SA_PATH_RECORD), a, &said);
	sa_record_put(sa_record_of(SA_PATH_RECORD), b, &told);
	if (memcmp(a, b, sizeof(a)) != 0)
		ck_abort_msg(
		    "%u to %u: MTU %u, rate %u, SL %u, P_Key %04x, life %u; the file says %u, "
		    "%u, %u, %04x, %u",
		    slid, dlid, said.mtu, said.rate, said.sl, said.pkey, said.life, told.mtu,
		    told.rate, told.sl, told.pkey, told.life);
	sls_told |= 1u << told.sl;
	return true;
}

/* From all ports of the host to all that have a LID.  How many the file leaves to the SA. */
static unsigned
expect_all_as_the_sa(const struct paths *p)
{
	struct sa_view *v = sa_slot_get(&sa.slot);
	unsigned n_asked = 0;

	sls_told = 0;
	for (unsigned i = 0; i < replica.n_own; i++) {
		uint32_t e = sa_view_end_of_guid(v, replica.own[i]);

		for (uint32_t k = 0; e != FM_NONE && k < v->n_ends; k++)
			for (unsigned s = 0; s < 1u << v->end[e].lmc; s++)
				for (unsigned d = 0; d < 1u << v->end[k].lmc; d++)
					n_asked +=
					    !expect_as_the_sa(p, (uint16_t)(v->end[e].lid + s),
						(uint16_t)(v->end[k].lid + d), 0);
		if (e != FM_NONE)
			ck_assert_uint_eq(paths_lid_of_guid(p, replica.own[i]), v->end[e].lid);
	}
	sa_view_put(v);
	return n_asked;
}

START_TEST(is_as_the_sa_says)
{
	struct paths *p;
	unsigned n_spines = 0;

	bring_up(&fabrics[_i]);
	p = follow(&replica, &source);
	for (uint32_t e = 0; e < pub.last->n_ends; e++)
		n_spines += pub.last->end[e].is_switch &&
		    pub.last->rows->leaf[pub.last->end[e].sw] == FM_NONE;
	/* only switches without hosts are left to the SA */
	ck_assert_uint_eq(expect_all_as_the_sa(p), (replica.n_own << fabrics[_i].lmc) * n_spines);
	ck_assert(_i != 1 || __builtin_popcount(sls_told) > 1);
	paths_free(p);
}
END_TEST

/* The first link of a node has come up narrower than it was, or is as before. */
static void
set_width(uint32_t node, uint8_t width)
{
	struct sim_fabric *f = sim_fabric(rig.sim);
	uint32_t port = f->nodes[node].first_port + 1;
	struct wire_port_info info;

	wire_port_info_get(f->ports[port].info, &info);
	info.link_width_active = width;
	wire_port_info_put(f->ports[port].info, &info);
}

START_TEST(slower_links_and_partitions_are_told)
{
	static const char text[] = "Default=0x7fff, ipoib : ALL=limited, SELF=full ;\n"
				   "A=0x11, sl=3 : ALL=full ;\n";
	struct part_options o = { .qos = true };
	struct fm_error err = { 0 };
	struct paths *p;

	ck_assert_msg(partitions_parse("p", text, strlen(text), &o, &partitions, NULL, &err) == 0,
	    "%s", err.msg);
	bring_up(&fabrics[0]);
	for (uint32_t n = 3; n < rig.nl.n_nodes; n += 5)
		set_width(n, n % 2 == 0 ? 1 : 4);
	sweep();
	publish(&pub, 1);
	p = follow(&replica, &source);
	expect_all_as_the_sa(p);
	paths_free(p);
}
END_TEST

/* What a partition allows its paths at most is the SA's to tell; its SL is published. */
START_TEST(limits_of_partitions_are_left_to_the_sa)
{
	struct part_more more = {
		.name = "v", .pkey = 0x7fff, .sl_is_firm = true, .sl = 3, .mtu = _i == 0 ? 0 : 2
	};
	struct part_options o = { .qos = true, .more = &more, .n_more = 1 };
	struct fm_error err = { 0 };
	struct paths *p;

	ck_assert_int_eq(partitions_default(&o, &partitions, NULL, &err), 0);
	bring_up(&fabrics[0]);
	p = follow(&replica, &source);
	expect_all_as_the_sa(p);
	ck_assert_uint_eq(sls_told, _i == 0 ? 1u << 3 : 0);
	paths_free(p);
}
END_TEST

/* The partition's SL says which of the levels of quality of a torus. */
START_TEST(levels_of_a_torus_are_told)
{
	static const struct fabric torus = { "torus 5x4 1", &torus2qos_LTX_fm_engine, 0 };
	static const char text[] = "Default=0x7fff, ipoib, sl=10 : ALL=full ;\n";
	struct part_options o = { .qos = true };
	struct fm_error err = { 0 };
	struct paths *p;

	ck_assert_msg(partitions_parse("p", text, strlen(text), &o, &partitions, NULL, &err) == 0,
	    "%s", err.msg);
	bring_up(&torus);
	p = follow(&replica, &source);
	expect_all_as_the_sa(p);
	ck_assert_uint_eq(sls_told & 0xff, 0);
	ck_assert_uint_ne(sls_told & 0xf00, 0);
	paths_free(p);
}
END_TEST

START_TEST(no_rate_is_above_the_most)
{
	struct paths *p;

	bring_up(&fabrics[0]);
	for (uint8_t most = 2; most <= 25; most++) {
		sa.set.max_rate = most;
		sa_rig_publish(&sa);
		publish(&pub, 1);
		p = follow(&replica, &source);
		expect_all_as_the_sa(p);
		paths_free(p);
	}
}
END_TEST

/* -------------------------------------------------------------- told but once */

START_TEST(what_has_not_changed_is_not_told)
{
	bring_up(&fabrics[0]);
	ck_assert(!publish(&pub, 1));
	sweep();
	ck_assert(!publish(&pub, 1));
	ck_assert_uint_eq(pub.told.at.epoch, 1);
}
END_TEST

static bool
rows_were_told(const struct publisher *p)
{
	return (p->told.changes.kinds >> BLOB_ROW & 1) != 0;
}

START_TEST(a_host_that_goes_and_comes_costs_no_row)
{
	struct paths *p;
	uint64_t guid;
	uint32_t host;

	bring_up(&fabrics[0]);
	host = rig_host(&rig, 5);
	guid = netlist_port(&rig.nl, host, 1)->guid;
	sim_unlink(rig.sim, host, 1);
	sweep();
	ck_assert(publish(&pub, 1));
	ck_assert(!rows_were_told(&pub));
	p = follow(&replica, &source);
	ck_assert_uint_eq(paths_lid_of_guid(p, guid), 0);
	expect_all_as_the_sa(p);
	paths_free(p);
	sim_relink(rig.sim, host, 1);
	sweep();
	ck_assert(publish(&pub, 1));
	ck_assert(!rows_were_told(&pub));
	p = follow(&replica, &source);
	ck_assert_uint_ne(paths_lid_of_guid(p, guid), 0);
	expect_all_as_the_sa(p);
	paths_free(p);
}
END_TEST

START_TEST(a_cable_of_equal_rate_costs_no_row)
{
	struct sim_place cable;

	fm_rng_seed(&rng, 3);
	bring_up(&fabrics[0]);
	cable = rig_lose_a_cable(&rig, &rng);
	sweep();
	publish(&pub, 1);
	ck_assert(!rows_were_told(&pub));
	sim_relink(rig.sim, cable.node, cable.port);
	sweep();
	publish(&pub, 1);
	ck_assert(!rows_were_told(&pub));
}
END_TEST

/* ------------------------------------------------------------------------- hops */

/* To each host from the nearest of ours, step by step; 0: there is no way. */
static unsigned
hops_by_walking(const struct sa_view *v, const struct replica *r, const struct sa_end *to)
{
	struct sa_hop hop[SA_MOST_HOPS];
	unsigned least = 0, n;

	for (unsigned i = 0; i < r->n_own; i++) {
		uint32_t from = sa_view_end_of_guid(v, r->own[i]);

		if (from != FM_NONE && sa_path_walk(v, from, to->lid, hop, &n) &&
		    (least == 0 || n < least))
			least = n;
	}
	return least;
}

/* The way to one host stands for those to all of its switch. */
static bool
is_as_to_one_of_its_switch(const struct sa_view *v, const struct sa_end *to, unsigned hops)
{
	for (uint32_t e = 0; e < v->n_ends; e++)
		if (!v->end[e].is_switch && v->end[e].sw == to->sw &&
		    hops_by_walking(v, &replica, &v->end[e]) == hops)
			return true;
	return false;
}

static void
expect_hops(void)
{
	struct sa_view *v = sa_slot_get(&sa.slot);
	uint32_t n_hosts = 0;
	char guid[32];

	paths_free(follow(&replica, &source));
	for (uint32_t e = 0; e < v->n_ends; e++) {
		const struct sa_end *to = &v->end[e];
		unsigned hops;

		if (to->is_switch)
			continue;
		snprintf(guid, sizeof(guid), "0x%jx", (uintmax_t)to->guid);
		hops = replica_hops(&replica, guid);
		ck_assert_msg(hops != 0 && is_as_to_one_of_its_switch(v, to, hops),
		    "%u switches to LID %u, as the file says", hops, to->lid);
		n_hosts++;
	}
	ck_assert_uint_gt(n_hosts, 8);
	sa_view_put(v);
}

/* Where there are relays: told once, and again where the way is another. */
START_TEST(hops_are_those_of_the_routes)
{
	struct place_ops with_relays = place_files;
	struct sim_place cable;

	fm_rng_seed(&rng, (uint64_t)_i);
	bring_up(&fabrics[_i]);
	ck_assert_uint_eq(pub.told.hops.item[0].n, 0);
	with_relays.has_relays = true;
	pub.told.ops = &with_relays;
	sa_view_put(pub.last);
	pub.last = NULL;
	ck_assert(publish(&pub, 1));
	ck_assert_uint_eq(pub.told.changes.kinds, 1u << BLOB_HOPS);
	expect_hops();
	ck_assert(!publish(&pub, 1));
	publisher_open(&heir);
	heir.told.ops = &with_relays;
	ck_assert(publish(&heir, 2));
	ck_assert_uint_eq(heir.told.changes.kinds, 0);
	publisher_close(&pub);
	publisher_open(&pub);
	pub.told.ops = &with_relays;
	for (unsigned i = 0; i < EVENTS; i++) {
		cable = rig_lose_a_cable(&rig, &rng);
		sweep();
		publish(&pub, 3);
		expect_hops();
		sim_relink(rig.sim, cable.node, cable.port);
		sweep();
		publish(&pub, 3);
		expect_hops();
	}
}
END_TEST

/* ------------------------------------------------------------------- takeover */

START_TEST(an_heir_tells_no_row)
{
	struct paths *p;

	bring_up(&fabrics[_i]);
	publisher_open(&heir);
	ck_assert_uint_eq(heir.told.at.term, 1);
	ck_assert(publish(&heir, 2));
	ck_assert_uint_eq(heir.told.changes.kinds, 0);
	ck_assert_uint_eq(heir.told.n_bytes, 0);
	ck_assert_uint_eq(heir.told.at.term, 2);
	p = follow(&replica, &source);
	ck_assert_uint_eq(paths_epoch(p).term, 2);
	expect_all_as_the_sa(p);
	paths_free(p);
}
END_TEST

START_TEST(who_is_master_no_more_tells_nothing)
{
	struct fm_error err = { 0 };
	struct sa_view *v;
	bool told;
	int rc;

	bring_up(&fabrics[0]);
	publisher_open(&heir);
	publish(&heir, 2);
	sim_unlink(rig.sim, rig_host(&rig, 5), 1);
	sweep();
	v = sa_slot_get(&sa.slot);
	pub_start(&pub.told, 1);
	rc = view_blobs_put(&pub.told, v, pub.last, NULL, &err);
	if (rc == 0)
		rc = pub_commit(&pub.told, &told, &err);
	ck_assert_int_eq(rc, FM_E_CANCELLED);
	ck_assert_ptr_nonnull(strstr(err.msg, "term 2"));
	sa_view_put(v);
}
END_TEST

/* ---------------------------------------------------------- a place as it is found */

/* Only what has the name of a blob is taken for one. */
START_TEST(files_of_others_stay)
{
	static const char *const names[] = { "README", "0123456789abcdef",
		"0123456789abcdef-12.bak", "0123456789abcdeg-12" };
	static const char old[] = "0123456789abcdef-12";
	char blobs[80], path[160];

	bring_up(&fabrics[0]);
	snprintf(blobs, sizeof(blobs), "%s/blobs", place);
	for (unsigned i = 0; i < N_OF(names); i++)
		folder_write(blobs, names[i], "not mine");
	folder_write(blobs, old, "of an epoch");
	publish(&pub, 2);
	for (unsigned i = 0; i < N_OF(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", blobs, names[i]);
		ck_assert_msg(access(path, F_OK) == 0, "%s is gone", names[i]);
	}
	snprintf(path, sizeof(path), "%s/%s", blobs, old);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* One blob has other bytes, in a publication of its own. */
static void
spoil(enum blob_kind kind, const void *bytes, size_t n)
{
	static struct place_changes changes;
	struct place_epoch was = pub.told.at, now = { was.term, was.epoch + 1 };
	struct fm_error err = { 0 };
	char key[BLOB_KEY_BYTES];

	blob_key(key, kind, 0);
	ck_assert_int_eq(place_files.begin(pub.place, was, now, &err), 0);
	ck_assert_int_eq(place_files.blob(pub.place, key, bytes, n, &err), 0);
	ck_assert_int_eq(place_files.commit(pub.place, &changes, &err), 0);
	publisher_close(&pub);
}

/* What makes no sense is told anew, as if it had never been. */
START_TEST(leaves_that_make_no_sense_are_told_anew)
{
	static const uint8_t twice[16] = { 1, 0, 0, 0, 0, 0, 0, 0, 1 };
	struct paths *p;

	bring_up(&fabrics[0]);
	spoil(BLOB_LEAF, twice, sizeof(twice));
	publisher_open(&heir);
	publish(&heir, 2);
	p = follow(&replica, &source);
	expect_all_as_the_sa(p);
	ck_assert_uint_gt(replica.row.n, 1);
	paths_free(p);
}
END_TEST

/* No LID is above 0xbfff, and no host takes a file with one. */
START_TEST(a_lid_top_that_cannot_be_is_not_kept)
{
	struct blob_subnet s = { .schema = BLOB_SCHEMA, .lid_top = 0xffff };
	uint8_t bytes[BLOB_SUBNET_BYTES];

	bring_up(&fabrics[0]);
	blob_subnet_put(bytes, &s);
	spoil(BLOB_SUBNET, bytes, sizeof(bytes));
	publisher_open(&heir);
	publish(&heir, 2);
	paths_free(follow(&replica, &source));
}
END_TEST

/* --------------------------------------------------------------- many events */

static void
change(void)
{
	uint32_t host = rig_host(&rig, 1 + fm_rng_below(&rng, 6));

	switch (fm_rng_below(&rng, 5)) {
	case 0:
		sim_unlink(rig.sim, host, 1);
		break;
	case 1:
		sim_relink(rig.sim, host, 1);
		break;
	case 2:
		sim_reboot(rig.sim, rig_random_switch(&rig, &rng), 100);
		break;
	case 3:
		rig_lose_a_cable(&rig, &rng);
		break;
	default:
		set_width(host, fm_rng_below(&rng, 2) == 0 ? 1 : 2);
	}
}

/* Some epochs are missed, and some publishers die. */
START_TEST(follows_any_events)
{
	struct paths *p;
	uint64_t term = 1;

	fm_rng_seed(&rng, (uint64_t)_i);
	bring_up(&fabrics[_i % (int)N_OF(fabrics)]);
	for (int i = 0; i < EVENTS; i++) {
		change();
		sweep();
		if (fm_rng_below(&rng, 4) == 0) {
			publisher_close(&pub);
			publisher_open(&pub);
			term++;
		}
		publish(&pub, term);
		if (fm_rng_below(&rng, 3) == 0)
			continue;
		p = follow(&replica, &source);
		expect_all_as_the_sa(p);
		paths_free(p);
	}
}
END_TEST

/* ----------------------------------------------------------------- extremes */

#define KEYS 16000 /* in a list: those of 100 ports are 3.2 MB */

static uint16_t keys[300][KEYS];

/* Each end of the view has a list of P_Keys of its own, other ones each round; those of all are
 * held by no host when there are more than 130. */
static void
set_keys(unsigned round, uint32_t n_lists)
{
	struct sa_view *v = sa_slot_get(&sa.slot);

	ck_assert_uint_le(n_lists, N_OF(keys));
	v->pkeys.n = 0;
	for (uint32_t l = 0; l < n_lists; l++) {
		for (uint32_t i = 0; i < KEYS; i++)
			keys[l][i] = (uint16_t)(0x8001 + i);
		keys[l][KEYS - 2] = (uint16_t)(0xf000 + l);
		keys[l][KEYS - 1] = (uint16_t)(0xf800 + round);
		ck_assert(fm_vec_push(&v->pkeys, ((struct pkey_list){ keys[l], KEYS })));
	}
	for (uint32_t e = 0; e < v->n_ends; e++)
		v->end[e].pkeys = (uint16_t)(e % n_lists);
	sa_view_put(v);
}

static unsigned
n_said(const char *words)
{
	unsigned n = 0;

	for (const char *at = rig_log; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* Lists that no port has any more make room for those that one has. */
START_TEST(lists_of_pkeys_do_not_add_up)
{
	struct paths *p;

	bring_up(&fabrics[0]);
	for (unsigned round = 0; round < 12; round++) {
		sa_rig_publish(&sa);
		set_keys(round, 20);
		publish(&pub, 1);
		p = follow(&replica, &source);
		ck_assert_uint_eq(paths_subnet(p)->n_leaves, 4);
		ck_assert_uint_lt(expect_all_as_the_sa(p), 20 * replica.n_own);
		paths_free(p);
	}
	ck_assert_uint_eq(n_said("left to the SA"), 0);
}
END_TEST

/* What is too much for hosts is left to the SA, which is told, once. */
START_TEST(too_many_lists_of_pkeys_are_told)
{
	static const struct fabric large = { "pgft 2 14,14 1,1 1,1", &updn_LTX_fm_engine, 0 };
	struct paths *p;

	bring_up(&large);
	for (unsigned round = 0; round < 3; round++) {
		sa_rig_publish(&sa);
		set_keys(0, 200);
		ck_assert(publish(&pub, 1) == (round == 0));
		p = follow(&replica, &source);
		expect_all_as_the_sa(p);
		paths_free(p);
	}
	ck_assert_msg(n_said("left to the SA") == 1, "%s", rig_log);
	sa_rig_publish(&sa);
	publish(&pub, 1);
	paths_free(follow(&replica, &source));
	ck_assert_uint_eq(n_said("are told to hosts again"), 1);
}
END_TEST

/* ---------------------------------------------------------------- addresses */

static struct view_beside beside;

static void
write_addresses(const char *text)
{
	static char path[96]; /* that the addresses keep */
	FILE *f;
	bool changed;

	snprintf(path, sizeof(path), "%s/addresses", folder);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	beside.addresses.size = 0; /* whatever the clock says */
	addresses_read(&beside.addresses, path, &changed);
	ck_assert(changed);
}

static uint16_t
lid_of_ip(const struct paths *p, uint8_t last)
{
	const uint8_t ip[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = last };

	return paths_lid_of_ip(p, ip);
}

static void
publish_addresses(void)
{
	struct fm_error err = { 0 };
	struct sa_view *v = sa_slot_get(&sa.slot);
	bool told;

	pub_start(&pub.told, 1);
	ck_assert_msg(view_blobs_put(&pub.told, v, NULL, &beside, &err) == 0, "%s", err.msg);
	ck_assert_msg(pub_commit(&pub.told, &told, &err) == 0, "%s", err.msg);
	sa_view_put(v);
}

static uint8_t *
desc_of(uint32_t host)
{
	return sim_fabric(rig.sim)->nodes[rig_host(&rig, host)].desc;
}

static void
write_hosts(void)
{
	char text[512], name[64];
	int n = 0;

	for (unsigned i = 1; i <= 4; i++) {
		addresses_host_name(desc_of(i), name);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "10.0.0.%u %s\n", i, name);
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "10.0.0.5 0x1234\n10.0.0.6 nobody\n");
	write_addresses(text);
}

static void
expect_addresses(const uint16_t lid[5])
{
	struct paths *p;

	publish_addresses();
	p = follow(&replica, &source);
	for (uint8_t i = 1; i <= 4; i++)
		ck_assert_uint_eq(lid_of_ip(p, i), lid[i]);
	ck_assert_uint_eq(lid_of_ip(p, 6), 0);
	paths_free(p);
}

/* One of a host that is not here stays; a host with several ports is told once, until the file is
 * another. */
START_TEST(addresses_are_told)
{
	uint16_t lid[5], gone;

	bring_up(&fabrics[0]);
	write_hosts();
	for (unsigned i = 1; i <= 4; i++)
		lid[i] = rig_host_lid(&rig, i);
	expect_addresses(lid);
	gone = lid[2];
	sim_unlink(rig.sim, rig_host(&rig, 2), 1);
	memcpy(desc_of(5), desc_of(3), 64);
	sweep();
	rig_log_clear();
	lid[2] = 0;
	expect_addresses(lid);
	expect_addresses(lid);
	ck_assert_msg(n_said("has several ports here") == 1, "%s", rig_log);
	sim_relink(rig.sim, rig_host(&rig, 2), 1);
	sweep();
	lid[2] = gone;
	expect_addresses(lid);
	write_hosts();
	publish_addresses();
	ck_assert_uint_eq(n_said("has several ports here"), 2);
	addresses_fini(&beside.addresses);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dist");
	TCase *t = tcase_create("dist");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, is_as_the_sa_says, 0, (int)N_OF(fabrics));
	tcase_add_test(t, slower_links_and_partitions_are_told);
	tcase_add_loop_test(t, limits_of_partitions_are_left_to_the_sa, 0, 2);
	tcase_add_test(t, levels_of_a_torus_are_told);
	tcase_add_test(t, no_rate_is_above_the_most);
	tcase_add_test(t, what_has_not_changed_is_not_told);
	tcase_add_test(t, a_host_that_goes_and_comes_costs_no_row);
	tcase_add_test(t, a_cable_of_equal_rate_costs_no_row);
	tcase_add_loop_test(t, hops_are_those_of_the_routes, 0, (int)N_OF(fabrics));
	tcase_add_loop_test(t, an_heir_tells_no_row, 0, (int)N_OF(fabrics));
	tcase_add_test(t, who_is_master_no_more_tells_nothing);
	tcase_add_test(t, files_of_others_stay);
	tcase_add_test(t, leaves_that_make_no_sense_are_told_anew);
	tcase_add_test(t, a_lid_top_that_cannot_be_is_not_kept);
	tcase_add_loop_test(t, follows_any_events, 0, SEEDS);
	tcase_add_test(t, lists_of_pkeys_do_not_add_up);
	tcase_add_test(t, too_many_lists_of_pkeys_are_told);
	tcase_add_test(t, addresses_are_told);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
