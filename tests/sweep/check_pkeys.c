/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Key tables on the wire: what hosts and the switch ports before them hold
 * after a sweep is what partitions.conf says, whatever they held before, and
 * on the way from one file to another nobody who may talk under both is cut off.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/subnet/pkey_table.h"
#include "lab/sim/sma.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#undef fail /* check.h has an old macro of this name */

#define SLOTS 64 /* PartitionCap of the sim */
#define N_HOSTS 4

static struct rig rig;
static struct fm_error err;
static uint32_t hosts[N_HOSTS];

/* 2 leaves with 2 hosts each, 2 spines. */
static void
setup(void)
{
	uint32_t n = 0;

	rig_generate(&rig.nl, "pgft 2 2,2 1,2 1,1");
	rig_sim(&rig, NULL);
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig.nl.nodes[i].type != NETLIST_SWITCH)
			hosts[n++] = i;
	ck_assert_uint_eq(n, N_HOSTS);
}

static void
teardown(void)
{
	const struct partitions *last = rig.set.partitions.all;

	rig_fini(&rig);
	partitions_put(last);
}

static uint64_t
guid_of(unsigned host)
{
	return fabric_port(sim_fabric(rig.sim), hosts[host], 1)->guid;
}

/* $0..$3 in text stand for the GUIDs of the hosts; $0 is where we sit. */
static const struct partitions *
read_partitions(const char *text, bool both)
{
	struct part_options o = { .both_keys = both };
	const struct partitions *p = NULL;
	char buf[8192];
	size_t at = 0;

	for (; *text != '\0'; text++)
		if (*text == '$')
			at += (size_t)snprintf(buf + at, sizeof(buf) - at, "0x%lx",
			    (unsigned long)guid_of((unsigned)(*++text - '0')));
		else
			buf[at++] = *text;
	ck_assert_msg(partitions_parse("p.conf", buf, at, &o, &p, NULL, &err) == 0, "%s", err.msg);
	return p;
}

/* From now on these partitions hold. */
static void
take(const struct partitions *p)
{
	const struct partitions *old = rig.set.partitions.all;

	rig.set.partitions.all = p;
	if (rig.sweeper != NULL)
		sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	else
		rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	partitions_put(old);
}

/* -------------------------------------------------- tables in the fabric */

static void
table_at(uint32_t node, unsigned port, uint16_t *keys)
{
	bool is_switch = rig.nl.nodes[node].type == NETLIST_SWITCH;
	struct sim_place at = { node, is_switch ? 0 : (uint8_t)port };
	uint8_t data[64];

	for (unsigned b = 0; b < SLOTS / PKEYS_PER_BLOCK; b++) {
		ck_assert(sma_peek(sim_fabric(rig.sim), at, WIRE_ATTR_PKEY_TABLE,
		    is_switch ? port << 16 | b : b, data));
		wire_pkeys_get(data, keys + (size_t)b * PKEYS_PER_BLOCK);
	}
}

static void
put_table(uint32_t node, unsigned port, const uint16_t *keys)
{
	uint16_t ignored[SLOTS];
	struct sim_port *p = fabric_port(sim_fabric(rig.sim), node, port);

	table_at(node, port, ignored); /* makes it */
	for (unsigned b = 0; b < SLOTS / PKEYS_PER_BLOCK; b++)
		wire_pkeys_put(p->tables->pkeys[b], keys + (size_t)b * PKEYS_PER_BLOCK);
}

static bool
is_in(const uint16_t *table, uint16_t key)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (table[i] == key)
			return true;
	return false;
}

/* The table holds these keys, once, and no others. */
static void
expect_keys(const uint16_t *table, const uint16_t *keys, size_t n)
{
	size_t found = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		found += (table[i] & PKEY_BASE) != 0;
	ck_assert_uint_eq(found, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(is_in(table, keys[i]), "0x%04x is not there", keys[i]);
}

static const struct netlist_port *
leaf_port(unsigned host)
{
	return netlist_port(&rig.nl, hosts[host], 1);
}

static void
expect_host(unsigned host, const struct partitions *p, bool enforced)
{
	const struct netlist_port *np = leaf_port(host);
	struct part_port port = { guid_of(host), PART_CA, hosts[host] == rig.place };
	uint16_t keys[2 * SLOTS], table[SLOTS];
	size_t n = partitions_keys(p, &port, keys, SLOTS);
	struct wire_port_info info;

	table_at(hosts[host], 1, table);
	expect_keys(table, keys, n);
	sim_port_info(rig.sim, np->peer_node, np->peer_port, &info);
	ck_assert_uint_eq(info.partition_enforce_in, enforced);
	ck_assert_uint_eq(info.partition_enforce_out, enforced);
	if (!enforced)
		return;
	table_at(np->peer_node, np->peer_port, table);
	expect_keys(table, keys, n);
}

static void
expect_all(bool enforced)
{
	for (unsigned h = 0; h < N_HOSTS; h++)
		expect_host(h, rig.set.partitions.all, enforced);
}

/* ------------------------------------------------------------------ tests */

START_TEST(test_without_a_file)
{
	uint16_t table[SLOTS];

	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	for (unsigned h = 0; h < N_HOSTS; h++) {
		struct pkey_list l = port_pkeys_find(sweeper_pkeys(rig.sweeper), guid_of(h));

		table_at(hosts[h], 1, table);
		expect_keys(table, (const uint16_t[]){ 0xffff }, 1);
		ck_assert_uint_eq(l.n, 1);
		ck_assert_uint_eq(l.keys[0], 0xffff);
	}
	ck_assert_uint_eq(rig.last.sets_by_attr[WIRE_ATTR_PKEY_TABLE], 0);
}
END_TEST

START_TEST(test_enforced)
{
	take(read_partitions("A=1 : $1=full, $2; B=2 : $2=full, $3=full;", false));
	expect_all(true);
	ck_assert_uint_gt(rig.last.sets_by_attr[WIRE_ATTR_PKEY_TABLE], 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.sets, 0);
	/* ports between switches let all pass */
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			const struct netlist_port *np = netlist_port(&rig.nl, n, p);
			struct wire_port_info info;

			if (rig.nl.nodes[n].type != NETLIST_SWITCH ||
			    np->peer_node == NETLIST_NONE ||
			    rig.nl.nodes[np->peer_node].type != NETLIST_SWITCH)
				continue;
			sim_port_info(rig.sim, n, p, &info);
			ck_assert(!info.partition_enforce_in && !info.partition_enforce_out);
		}
}
END_TEST

START_TEST(test_ways_of_enforcing)
{
	static const enum part_enforce ways[] = { PART_ENFORCE_IN, PART_ENFORCE_OUT,
		PART_ENFORCE_OFF, PART_ENFORCE_BOTH };

	for (unsigned i = 0; i < 4; i++) {
		struct wire_port_info info;

		rig.set.partitions.enforce = ways[i];
		take(read_partitions("A=1 : $1=full, $2;", false));
		sim_port_info(rig.sim, leaf_port(1)->peer_node, leaf_port(1)->peer_port, &info);
		ck_assert_uint_eq(info.partition_enforce_in, (ways[i] & PART_ENFORCE_IN) != 0);
		ck_assert_uint_eq(info.partition_enforce_out, (ways[i] & PART_ENFORCE_OUT) != 0);
	}
}
END_TEST

/* What an SM before us left anywhere would open a partition. */
START_TEST(test_leftovers)
{
	uint16_t left[SLOTS] = { 0x8009, 0xffff, [40] = 0x8001, [63] = 0x8002 }, table[SLOTS];

	put_table(hosts[1], 1, left);
	put_table(leaf_port(1)->peer_node, leaf_port(1)->peer_port, left);
	take(read_partitions("Default : ALL=full; A=1 : $1=full;", false));
	expect_all(true);
	table_at(hosts[1], 1, table);
	ck_assert_uint_eq(table[1], 0xffff); /* those that stay are where they were */
	ck_assert_uint_eq(table[40], 0x8001);
}
END_TEST

/* What another SM has written that ruled beside us does not stay. */
START_TEST(test_another_sm_has_ruled)
{
	uint16_t theirs[SLOTS] = { 0xffff, 0x8007 };

	take(read_partitions("A=1 : $1=full, $2; B=2 : $2=full, $3=full;", false));
	expect_all(true);
	ck_assert_int_eq(sim_set_sm(rig.sim, hosts[3], 0, WIRE_SM_MASTER, &err), 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	put_table(hosts[1], 1, theirs);
	put_table(leaf_port(1)->peer_node, leaf_port(1)->peer_port, theirs);
	ck_assert_int_eq(sim_set_sm(rig.sim, hosts[3], 9, WIRE_SM_NOT_ACTIVE, &err), 0);
	rig_run(&rig, SWEEP_NAMED);
	expect_all(true);
}
END_TEST

START_TEST(test_index0)
{
	uint16_t table[SLOTS];

	take(read_partitions("A=1,indx0 : $1=full; B=2 : $1=full, $2=full;", false));
	expect_all(true);
	table_at(hosts[1], 1, table);
	ck_assert_uint_eq(table[0], 0x8001);
	table_at(hosts[2], 1, table);
	ck_assert_uint_eq(table[0], 0x7fff);
}
END_TEST

/* The node of the fabric that has a port GUID. */
static uint32_t
node_of(uint64_t guid)
{
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 0; p <= rig.nl.nodes[i].n_ports; p++)
			if (fabric_port(sim_fabric(rig.sim), i, p)->guid == guid)
				return i;
	ck_abort_msg("no port has GUID 0x%lx", (unsigned long)guid);
}

/* The SA tells what tables hold, place by place: of ports with a LID, and of the switch ports
 * that enforce, one record for each block. */
START_TEST(test_told_by_the_sa)
{
	uint16_t left[SLOTS] = { 0x8009, 0xffff, [40] = 0x8001 }, table[SLOTS];
	unsigned n_of_switches = 0;
	struct sa_rig sa;

	put_table(hosts[1], 1, left);
	take(read_partitions("Default : ALL=full; A=1,indx0 : $1=full, $2;", false));
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	sa.sm_key = 1;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PKEY_RECORD, 0, NULL), SA_OK);
	for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
		const struct sa_end *e;
		struct sa_pkey_record r;

		sa_rig_record(&sa, i, &r);
		e = &sa.slot.view->end[sa_view_end_of_lid(sa.slot.view, r.lid)];
		table_at(node_of(e->guid), r.port, table);
		ck_assert_int_eq(
		    memcmp(r.pkey, table + (size_t)r.block * PKEYS_PER_BLOCK, sizeof(r.pkey)), 0);
		n_of_switches += e->is_switch && r.port != 0;
	}
	ck_assert_uint_eq(n_of_switches, N_HOSTS * SLOTS / PKEYS_PER_BLOCK);
	ck_assert_uint_eq(sa_rig_n(&sa), n_of_switches + 8 * SLOTS / PKEYS_PER_BLOCK);
	sa_rig_fini(&sa);
}
END_TEST

/* More partitions than a table holds: told, and the default one is never lost. */
START_TEST(test_too_many)
{
	char text[2048] = "";
	uint16_t table[SLOTS];

	for (unsigned i = 1; i <= SLOTS + 6; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u:$1=full;", i);
	take(read_partitions(text, false));
	table_at(hosts[1], 1, table);
	ck_assert(is_in(table, 0x7fff));
	ck_assert(is_in(table, 0x8001) && is_in(table, 0x8000 | (SLOTS - 1)));
	ck_assert(!is_in(table, 0x8000 | SLOTS));
	ck_assert_msg(
	    strstr(rig_log, "in 71 partitions, but its table holds 64: 7 are left out") != NULL,
	    "%s", rig_log);
	expect_host(2, rig.set.partitions.all, true);
}
END_TEST

/* A switch whose table is too small for a host's keys enforces nothing there. */
START_TEST(test_small_switch)
{
	struct sim_fabric *f = sim_fabric(rig.sim);
	struct wire_switch_info si;
	uint32_t leaf = leaf_port(1)->peer_node;

	wire_switch_info_get(f->nodes[leaf].switch_info, &si);
	si.partition_enforcement_cap = 2;
	wire_switch_info_put(f->nodes[leaf].switch_info, &si);
	take(read_partitions("A=1 : $1=full, $2; B=2 : $1=full, $2=full;", false));
	for (unsigned h = 0; h < N_HOSTS; h++)
		expect_host(h, rig.set.partitions.all,
		    leaf_port(h)->peer_node != leaf || (h != 1 && h != 2));
	ck_assert_ptr_nonnull(strstr(rig_log, "enforces no partitions: its table holds 2"));
}
END_TEST

START_TEST(test_dry_run)
{
	uint16_t table[SLOTS];

	rig.set.dry_run = true;
	take(read_partitions("A=1 : $1=full, $2;", false));
	table_at(hosts[1], 1, table);
	expect_keys(table, (const uint16_t[]){ 0xffff }, 1);
	ck_assert_uint_gt(rig.last.would_set_by_attr[WIRE_ATTR_PKEY_TABLE], 0);
	ck_assert_uint_eq(rig_sets(&rig), 0);
}
END_TEST

/* Counters of violations are for those who look for intruders. */
START_TEST(test_violation_counters)
{
	struct wire_port_info info;
	uint8_t *at = fabric_port(sim_fabric(rig.sim), hosts[1], 1)->info;

	wire_port_info_get(at, &info);
	info.p_key_violations = 7;
	wire_port_info_put(at, &info);
	take(read_partitions("A=1 : $1=full, $2;", false));
	sim_port_info(rig.sim, hosts[1], 1, &info);
	ck_assert_uint_eq(info.p_key_violations, 7);
}
END_TEST

/* -------------------------------------------- from one file to the next */

static struct {
	const struct partitions *before, *after;
	bool may[N_HOSTS][N_HOSTS]; /* talk, under both */
	uint16_t key[N_HOSTS][N_HOSTS];
	bool fits[N_HOSTS]; /* old and new keys together, into a table */
	uint32_t n_looks, n_fits;
} move;

static struct pkey_list
list_of(const struct partitions *p, unsigned host, uint16_t *keys)
{
	struct part_port port = { guid_of(host), PART_CA, hosts[host] == rig.place };

	return (struct pkey_list){ keys, (uint32_t)partitions_keys(p, &port, keys, SLOTS) };
}

/* Keys by which two hosts may talk before and after, with the same membership. */
static void
find_steady(void)
{
	for (unsigned a = 0; a < N_HOSTS; a++)
		for (unsigned b = 0; b < N_HOSTS; b++) {
			uint16_t k[4][SLOTS];
			struct pkey_list a0 = list_of(move.before, a, k[0]),
					 b0 = list_of(move.before, b, k[1]),
					 a1 = list_of(move.after, a, k[2]),
					 b1 = list_of(move.after, b, k[3]);

			move.may[a][b] = false;
			for (uint32_t i = 0; i < a0.n; i++)
				if (a != b && pkeys_of(&a1, a0.keys[i]) == a0.keys[i] &&
				    pkeys_of(&b1, a0.keys[i]) == pkeys_of(&b0, a0.keys[i]) &&
				    pkeys_share_this(&a0, &b0, a0.keys[i])) {
					move.may[a][b] = true;
					move.key[a][b] = a0.keys[i];
				}
		}
}

static void
find_fits(void)
{
	for (unsigned h = 0; h < N_HOSTS; h++) {
		uint16_t k[2][SLOTS];
		struct pkey_list old = list_of(move.before, h, k[0]);

		move.fits[h] = old.n + list_of(move.after, h, k[1]).n <= SLOTS;
		move.n_fits += move.fits[h];
	}
}

/* Do the tables let a packet of this key out of one host and into another? */
static bool
passes(unsigned host, uint16_t base)
{
	const struct netlist_port *np = leaf_port(host);
	uint16_t table[SLOTS];
	struct wire_port_info info;

	table_at(hosts[host], 1, table);
	if (!is_in(table, base) && !is_in(table, base | PKEY_FULL))
		return false;
	sim_port_info(rig.sim, np->peer_node, np->peer_port, &info);
	table_at(np->peer_node, np->peer_port, table);
	return (!info.partition_enforce_in && !info.partition_enforce_out) || is_in(table, base) ||
	    is_in(table, base | PKEY_FULL);
}

/* Where the switch enforces, it knows all that the host has: what is new and
 * what goes is never a violation. */
static bool
switch_knows(unsigned host)
{
	const struct netlist_port *np = leaf_port(host);
	uint16_t table[SLOTS], far[SLOTS];

	table_at(hosts[host], 1, table);
	table_at(np->peer_node, np->peer_port, far);
	for (unsigned i = 0; i < SLOTS; i++)
		if (table[i] != 0 && !is_in(far, table[i]))
			return false;
	return true;
}

static void
look(void *arg, const struct sim_trace *e)
{
	if (e->method != WIRE_SET ||
	    (e->attr != WIRE_ATTR_PKEY_TABLE && e->attr != WIRE_ATTR_PORT_INFO))
		return;
	move.n_looks++;
	for (unsigned h = 0; h < N_HOSTS; h++)
		ck_assert_msg(!move.fits[h] || switch_knows(h), "host %u has too many keys", h);
	for (unsigned a = 0; a < N_HOSTS; a++)
		for (unsigned b = 0; b < N_HOSTS; b++)
			if (move.may[a][b]) {
				uint16_t base = move.key[a][b] & PKEY_BASE;

				ck_assert_msg(passes(a, base) && passes(b, base),
				    "0x%04x is interrupted between %u and %u", base, a, b);
			}
}

/* A file at random: a few partitions of a few hosts. */
static const struct partitions *
random_partitions(struct fm_rng *rng)
{
	static const char *const members[] = { "full", "limited", "both" };
	char text[4096];
	int at = snprintf(text, sizeof(text), "Default : ALL=%s;", members[fm_rng_below(rng, 2)]);

	for (unsigned p = 1; p < 44; p++) {
		if (fm_rng_below(rng, 8) == 0)
			continue;
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%u%s:", p,
		    fm_rng_below(rng, 8) == 0 ? ",defmember=full" : "");
		for (unsigned h = 0; h < N_HOSTS; h++)
			if (fm_rng_below(rng, 4))
				at += snprintf(text + at, sizeof(text) - (size_t)at, "$%u=%s,", h,
				    members[fm_rng_below(rng, 10) == 0 ? 2 : fm_rng_below(rng, 2)]);
		at += snprintf(text + at, sizeof(text) - (size_t)at, ";");
	}
	return read_partitions(text, fm_rng_below(rng, 2));
}

START_TEST(test_moves)
{
	struct fm_rng rng;
	uint16_t was[N_HOSTS][SLOTS], now[SLOTS];

	fm_rng_seed(&rng, 3);
	take(random_partitions(&rng));
	expect_all(true);
	sim_set_trace(rig.sim, look, NULL);
	for (int round = 0; round < 25; round++) {
		move.before = partitions_get(rig.set.partitions.all);
		move.after = random_partitions(&rng);
		find_steady();
		find_fits();
		for (unsigned h = 0; h < N_HOSTS; h++)
			table_at(hosts[h], 1, was[h]);
		take(move.after);
		expect_all(true);
		for (unsigned h = 0; h < N_HOSTS; h++) {
			table_at(hosts[h], 1, now);
			for (unsigned i = 0; i < SLOTS; i++)
				if (was[h][i] != 0 && is_in(now, was[h][i]))
					ck_assert_uint_eq(now[i], was[h][i]);
		}
		partitions_put(move.before);
	}
	ck_assert_uint_gt(move.n_looks, 100);
	ck_assert_uint_gt(move.n_fits, 10);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pkeys");
	TCase *t = tcase_create("pkeys");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_without_a_file);
	tcase_add_test(t, test_enforced);
	tcase_add_test(t, test_ways_of_enforcing);
	tcase_add_test(t, test_leftovers);
	tcase_add_test(t, test_another_sm_has_ruled);
	tcase_add_test(t, test_index0);
	tcase_add_test(t, test_told_by_the_sa);
	tcase_add_test(t, test_too_many);
	tcase_add_test(t, test_small_switch);
	tcase_add_test(t, test_dry_run);
	tcase_add_test(t, test_violation_counters);
	tcase_add_test(t, test_moves);
	suite_add_tcase(s, t);
	return run_suite(s);
}
