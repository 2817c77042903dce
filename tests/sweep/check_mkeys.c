/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M_Keys on a simulated fabric, whose agents check them: set, guarded at each
 * level of protection, changed in the running daemon and over a restart, and
 * ports under keys of others.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/subnet/guid2lid.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#undef fail /* check.h has an old macro of this name */

#define OURS UINT64_C(0x1122334455667788)
#define NEXT UINT64_C(0xaabbccddeeff0011)
#define THEIRS UINT64_C(0x5555000011112222)

static struct rig rig;
static char dir[FOLDER_ROOM];

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 2,2 1,2 1,1");
	rig_sim(&rig, NULL);
	rig.set.m_key.key = OURS;
}

static void
teardown(void)
{
	rig_fini(&rig);
}

static bool
is_host(uint32_t n)
{
	return rig.nl.nodes[n].type != NETLIST_SWITCH;
}

/* As it stands in the port, whatever its agent shows. */
static struct wire_port_info
info_of(uint32_t node)
{
	struct wire_port_info info;

	wire_port_info_get(
	    fabric_port(sim_fabric(rig.sim), node, is_host(node) ? 1 : 0)->info, &info);
	return info;
}

static void
put_key(uint32_t node, uint64_t key, uint8_t protect, uint16_t lease_s)
{
	struct wire_port_info info = info_of(node);

	info.m_key = key;
	info.m_key_protect = protect;
	info.m_key_lease_period_s = lease_s;
	wire_port_info_put(
	    fabric_port(sim_fabric(rig.sim), node, is_host(node) ? 1 : 0)->info, &info);
}

static void
expect_keys(uint64_t key, uint8_t protect)
{
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_expect_up(&rig);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		struct wire_port_info info = info_of(n);

		ck_assert_msg(info.m_key == key, "%s has M_Key 0x%lx", rig.nl.nodes[n].id,
		    (unsigned long)info.m_key);
		ck_assert_uint_eq(info.m_key_protect, protect);
		ck_assert_uint_eq(info.m_key_violations, 0);
	}
}

/* A host that is not ours. */
static uint32_t
other_host(void)
{
	for (uint32_t n = rig.nl.n_nodes; n-- > 0;)
		if (is_host(n) && n != rig.place)
			return n;
	return 0;
}

START_TEST(test_set)
{
	uint64_t sets;

	rig.set.m_key.protection_level = (uint8_t)_i;
	rig.set.m_key.lease_period_s = 60;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_keys(OURS, (uint8_t)_i);
	ck_assert_uint_eq(info_of(other_host()).m_key_lease_period_s, 60);
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	expect_keys(OURS, (uint8_t)_i);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

static void
reload(uint64_t key, uint8_t protect)
{
	rig.set.m_key.key = key;
	rig.set.m_key.protection_level = protect;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
}

/* From one key to another, to none, to one again; nobody is asked in vain. */
START_TEST(test_change)
{
	rig.set.m_key.protection_level = (uint8_t)_i;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	reload(NEXT, (uint8_t)_i);
	expect_keys(NEXT, (uint8_t)_i);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.sets, 0);
	expect_keys(NEXT, (uint8_t)_i);
	reload(0, 0);
	expect_keys(0, 0);
	reload(OURS, (uint8_t)_i);
	expect_keys(OURS, (uint8_t)_i);
	ck_assert_uint_eq(rig.last.timeouts, 0);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

/* Another key in the configuration at the next start: the store knows the old one. */
START_TEST(test_change_over_restart)
{
	struct fm_error err = { 0 };

	folder_make(dir);
	ck_assert_int_eq(store_open(dir, &rig.store, &err), 0);
	rig.set.m_key.protection_level = (uint8_t)_i;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	rig_stop(&rig);
	ck_assert_uint_eq(store_m_key(rig.store), OURS);
	rig.set.m_key.key = NEXT;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_keys(NEXT, (uint8_t)_i);
	ck_assert_uint_eq(store_m_key(rig.store), NEXT);
	ck_assert_uint_eq(rig.last.timeouts, 0);
	rig_stop(&rig);
	store_close(rig.store);
	rig.store = NULL;
	folder_remove(dir);
}
END_TEST

/* Some ports have the new key already, the others the old one, all guarded. */
START_TEST(test_half_changed)
{
	uint32_t host = other_host();

	rig.set.m_key.protection_level = (uint8_t)_i;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	put_key(host, NEXT, (uint8_t)_i, 0);
	reload(NEXT, (uint8_t)_i);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_expect_up(&rig);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert_uint_eq(info_of(n).m_key, NEXT);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

/* Another manager's key that can be read is replaced. */
START_TEST(test_foreign_readable)
{
	uint32_t host = other_host();

	put_key(host, THEIRS, 0, 0);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_keys(OURS, 0);
	ck_assert_ptr_nonnull(
	    strstr(rig_log, "has a foreign M_Key: it can be read, and is replaced"));
	ck_assert_uint_eq(rig.last.n_foreign_keys, 1);
	rig_log_clear();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.sets, 0);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

/* One that cannot be read is told of, and is left to its lease. */
START_TEST(test_foreign_guarded)
{
	uint32_t host = other_host();

	put_key(host, THEIRS, 1, 1);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_eq(info_of(host).m_key, THEIRS);
	ck_assert_uint_gt(info_of(host).m_key_violations, 0);
	ck_assert_ptr_nonnull(strstr(rig_log,
	    "has a foreign M_Key: it takes nothing from us until the key's lease has run out"));
	ck_assert_ptr_nonnull(strstr(rig_log, "takes no Set under our M_Key"));
	ck_assert_ptr_null(strstr(rig_log, "has stopped answering"));
	rig_let_pass(&rig, 2000);
	rig_run(&rig, SWEEP_HEAVY); /* it can be read now */
	ck_assert_uint_eq(info_of(host).m_key, OURS);
	rig_expect_up(&rig);
}
END_TEST

/* Nor does one that answers nothing hold up the others. */
START_TEST(test_foreign_silent)
{
	uint32_t host = other_host();

	put_key(host, THEIRS, 2, 0);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_eq(info_of(host).m_key, THEIRS);
	ck_assert_ptr_nonnull(strstr(rig_log, "another M_Key?"));
	ck_assert_uint_eq(info_of(rig.place).m_key, OURS);
}
END_TEST

/* A key a port, guarded, as the SM before has left them: host, switch and our own port. */
START_TEST(test_key_a_port)
{
	uint32_t host = other_host(), sw = netlist_port(&rig.nl, rig.place, 1)->peer_node;
	struct fm_error err = { 0 };
	struct guid2mkey keys;
	char text[256];

	snprintf(text, sizeof(text), "0x%lx 0x%lx\n\n0x%lx 0x%lx\n\n0x%lx 0x%lx\n",
	    (unsigned long)netlist_port(&rig.nl, host, 1)->guid, (unsigned long)THEIRS,
	    (unsigned long)netlist_port(&rig.nl, sw, 0)->guid, (unsigned long)NEXT,
	    (unsigned long)netlist_port(&rig.nl, rig.place, 1)->guid, (unsigned long)NEXT);
	ck_assert_msg(
	    guid2mkey_parse("keys", text, strlen(text), &keys, NULL, &err) == 0, "%s", err.msg);
	put_key(host, THEIRS, (uint8_t)_i, 0);
	put_key(sw, NEXT, (uint8_t)_i, 0);
	put_key(rig.place, NEXT, (uint8_t)_i, 0);
	rig.set.m_key.of_ports = keys;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_expect_up(&rig);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert_msg(info_of(n).m_key == OURS, "%s has M_Key 0x%lx", rig.nl.nodes[n].id,
		    (unsigned long)info_of(n).m_key);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.timeouts, 0);
	ck_assert_uint_eq(rig.last.sets, 0);
	guid2mkey_fini(&keys);
}
END_TEST

/* A key that is not in the file is tried for, and told of as ever. */
START_TEST(test_key_that_nobody_knows)
{
	uint32_t host = other_host();
	struct fm_error err = { 0 };
	struct guid2mkey keys;
	static const char text[] = "0x1 0x11\n0x2 0x12\n0x3 0x13\n";

	ck_assert_int_eq(guid2mkey_parse("keys", text, strlen(text), &keys, NULL, &err), 0);
	put_key(host, THEIRS, (uint8_t)_i, 0);
	rig.set.m_key.of_ports = keys;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_eq(info_of(host).m_key, THEIRS);
	ck_assert_ptr_nonnull(strstr(rig_log, _i == 1 ? "has a foreign M_Key" : "another M_Key?"));
	guid2mkey_fini(&keys);
}
END_TEST

/* Our own port under a key of another SM: nothing can be done, and the reason is told, not that
 * the subnet is up. */
START_TEST(test_own_port_guarded)
{
	put_key(rig.place, THEIRS, (uint8_t)_i, 0);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	ck_assert(!sweeper_is_up(rig.sweeper));
	ck_assert_msg(strstr(rig.last.error.msg, "our own port 0x0200f40000000501") != NULL &&
		strstr(rig.last.error.msg, "M_Key") != NULL &&
		strstr(rig.last.error.msg, "m_key") != NULL,
	    "%s", rig.last.error.msg);
	put_key(rig.place, OURS, (uint8_t)_i, 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_expect_up(&rig);
}
END_TEST

/* Our own port has the new key already, the fabric the old one. */
START_TEST(test_own_port_changed)
{
	rig.set.m_key.protection_level = (uint8_t)_i;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	put_key(rig.place, NEXT, (uint8_t)_i, 0);
	reload(NEXT, (uint8_t)_i);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_expect_up(&rig);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert_uint_eq(info_of(n).m_key, NEXT);
	/* nothing but that our port repeats its trap 256, with some protection */
	ck_assert_msg(rig_log[0] == '\0' ||
		(strncmp(rig_log, "traps: the busiest source is \"host-1-1\"", 39) == 0 &&
		    strchr(rig_log, '\n') == rig_log + strlen(rig_log) - 1),
	    "%s", rig_log);
}
END_TEST

/* The trap of a node that refuses our key names the node, what was asked, and what to do. */
START_TEST(test_trap_256)
{
	uint32_t host = other_host();

	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	rig_log_clear();
	put_key(host, THEIRS, 2, 0);
	rig_run(&rig, SWEEP_HEAVY);
	rig_let_pass(&rig, 100);
	ck_assert_msg(strstr(rig_log, "trap 256 of \"host-2-2\" (0x0200f40000000800)") != NULL &&
		strstr(rig_log, "Get NodeInfo") != NULL &&
		strstr(rig_log, "is under an M_Key that is not ours") != NULL,
	    "%s", rig_log);
	/* ... and the list says who was there */
	ck_assert_uint_eq(rig.last.n_troubles, 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mkeys");
	TCase *t = tcase_create("mkeys");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_set, 0, 4);
	tcase_add_loop_test(t, test_change, 0, 4);
	tcase_add_loop_test(t, test_change_over_restart, 0, 4);
	tcase_add_loop_test(t, test_half_changed, 0, 4);
	tcase_add_test(t, test_foreign_readable);
	tcase_add_test(t, test_foreign_guarded);
	tcase_add_test(t, test_foreign_silent);
	tcase_add_loop_test(t, test_key_a_port, 0, 4);
	tcase_add_loop_test(t, test_key_that_nobody_knows, 1, 4);
	tcase_add_loop_test(t, test_own_port_guarded, 1, 4);
	tcase_add_loop_test(t, test_own_port_changed, 0, 4);
	tcase_add_test(t, test_trap_256);
	suite_add_tcase(s, t);
	return run_suite(s);
}
