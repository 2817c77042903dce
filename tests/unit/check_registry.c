/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts have registered: leases, bounds, who may change what, and that a restart
 * loses nothing but what is damaged.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/registry/registry.h"
#include "lib/faultpoint.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define PREFIX UINT64_C(0xfe80000000000000)
#define MASK_CREATE \
	(SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_QKEY | SA_MCR_PKEY | \
	    SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define MASK_SERVICE (SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_KEY | SA_SR_NAME)

static struct registry_settings set;
static struct registry *r;
static char dir[FOLDER_ROOM], said[1024];

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
	(void)subsystem;
	if (level <= FM_LOG_WARN)
		snprintf(said, sizeof(said), "%s", line);
}

static void
setup(void)
{
	folder_make(dir);
	fm_log_set_sink(keep_log, NULL);
	said[0] = '\0';
	registry_settings_default(&set);
	r = registry_new(&set);
	ck_assert_ptr_nonnull(r);
}

static void
teardown(void)
{
	folder_remove(dir);
	registry_free(r);
}

static struct store *
open_store(void)
{
	struct fm_error err = { 0 };
	struct store *s = NULL;

	ck_assert_msg(store_open(dir, &s, &err) == 0, "%s", err.msg);
	return s;
}

static void
save(int64_t now_ms, int64_t wall_s)
{
	struct store *s = open_store();
	struct fm_error err = { 0 };

	ck_assert_msg(registry_save(r, s, now_ms, wall_s, &err) == 0, "%s", err.msg);
	store_close(s);
}

/* The process ends, and another begins. */
static void
restart(int64_t now_ms, int64_t wall_s)
{
	struct fm_error err = { 0 };
	struct store *s = open_store();

	registry_free(r);
	r = registry_new(&set);
	ck_assert_msg(registry_load(r, s, now_ms, wall_s, &err) == 0, "%s", err.msg);
	store_close(s);
}

static bool
has_pkey(void *arg, uint64_t port, uint16_t pkey)
{
	(void)arg;
	(void)port;
	return pkey == 0xffff;
}

static uint16_t
join(uint64_t low, uint64_t port, unsigned state)
{
	struct sa_mc_member_record want = { .mgid = { UINT64_C(0xff12a01c00000000), low },
		.port_gid = { PREFIX, port },
		.qkey = 7,
		.pkey = 0xffff,
		.join_state = (uint8_t)state },
				   got;
	struct group_caller c = {
		.requester = port, .port = port, .mtu = 5, .rate = 7, .has_pkey = has_pkey
	};

	return groups_join(registry_groups(r), &want, MASK_CREATE, &c, &got);
}

static struct sa_service_record
service(uint64_t id, uint64_t port, uint32_t lease_s)
{
	struct sa_service_record rec = {
		.id = id, .gid = { PREFIX, port }, .pkey = 0xffff, .lease_s = lease_s
	};

	snprintf((char *)rec.name, sizeof(rec.name), "service %u", (unsigned)id);
	return rec;
}

static uint16_t
put_service(uint64_t id, uint64_t port, uint32_t lease_s, int64_t now_ms)
{
	struct sa_service_record want = service(id, port, lease_s), got;

	return registry_set_service(r, &want, MASK_SERVICE, port, false, now_ms, &got);
}

/* -------------------------------------------------------------------- services */

START_TEST(services_have_leases)
{
	ck_assert_uint_eq(put_service(1, 5, 10, 1000), SA_OK);
	ck_assert_uint_eq(put_service(2, 5, UINT32_MAX, 1000), SA_OK);
	ck_assert_uint_eq(put_service(3, 5, 0, 1000), SA_REQ_INVALID);
	ck_assert_uint_eq(registry_service(r, 0, 4500).lease_s, 7);
	ck_assert_uint_eq(registry_service(r, 1, 4500).lease_s, UINT32_MAX);
	ck_assert_int_eq(registry_tick(r, 10999), 11000);
	ck_assert_uint_eq(registry_n_services(r), 2);
	ck_assert_int_eq(registry_tick(r, 11000), INT64_MAX);
	ck_assert_uint_eq(registry_n_services(r), 1);
	ck_assert_uint_eq(registry_service(r, 0, 0).id, 2);
	ck_assert_uint_eq(put_service(2, 5, 20, 12000), SA_OK); /* the same again: another lease */
	ck_assert_uint_eq(registry_n_services(r), 1);
	ck_assert_int_eq(registry_tick(r, 12000), 32000);
}
END_TEST

START_TEST(services_belong_to_somebody)
{
	struct sa_service_record want = service(1, 5, 100), got;

	want.key[3] = 9;
	ck_assert_uint_eq(
	    registry_set_service(r, &want, MASK_SERVICE & ~SA_SR_GID, 5, false, 0, &got),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(registry_set_service(r, &want, MASK_SERVICE, 5, false, 0, &got), SA_OK);
	want.key[3] = 8;
	ck_assert_uint_eq(
	    registry_set_service(r, &want, MASK_SERVICE, 6, false, 0, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(
	    registry_delete_service(r, &want, MASK_SERVICE, 6, false, 0, &got), SA_REQ_INVALID);
	want.key[3] = 9; /* who shows the key may */
	ck_assert_uint_eq(registry_set_service(r, &want, MASK_SERVICE, 6, false, 0, &got), SA_OK);
	want.key[3] = 8;
	ck_assert_uint_eq(registry_delete_service(r, &want, MASK_SERVICE, 6, true, 0, &got), SA_OK);
	ck_assert_uint_eq(
	    registry_delete_service(r, &want, MASK_SERVICE, 5, false, 0, &got), SA_NO_RECORDS);
	ck_assert_uint_eq(registry_n_services(r), 0);
}
END_TEST

/* As osmtest does: by name, or by whatever else one service alone has. */
START_TEST(services_go_by_name)
{
	struct sa_service_record one = service(1, 5, 100), two = service(2, 5, 100), want, got;

	snprintf((char *)one.name, sizeof(one.name), "one");
	snprintf((char *)two.name, sizeof(two.name), "two");
	ck_assert_uint_eq(registry_set_service(r, &one, MASK_SERVICE, 5, false, 0, &got), SA_OK);
	ck_assert_uint_eq(registry_set_service(r, &two, MASK_SERVICE, 5, false, 0, &got), SA_OK);
	want = two;
	want.id = 77; /* not looked at */
	ck_assert_uint_eq(registry_delete_service(r, &want, 0, 5, false, 0, &got),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(
	    registry_delete_service(r, &want, SA_SR_GID, 5, false, 0, &got), SA_TOO_MANY_RECORDS);
	ck_assert_uint_eq(
	    registry_delete_service(r, &want, SA_SR_NAME, 6, false, 0, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(registry_delete_service(r, &want, SA_SR_NAME, 5, false, 0, &got), SA_OK);
	ck_assert_uint_eq(got.id, 2);
	ck_assert_uint_eq(
	    registry_delete_service(r, &want, SA_SR_NAME, 5, false, 0, &got), SA_NO_RECORDS);
	ck_assert_uint_eq(registry_n_services(r), 1);
}
END_TEST

START_TEST(clients_have_bounds)
{
	struct sa_inform_info info = { .lid_begin = 0xffff, .subscribe = 1, .type = 0xffff };
	struct mad_addr from = { .lid = 4, .qpn = 1 };
	struct sa_gid gid = { PREFIX, 5 };

	set.max_services = set.max_subscriptions = 3;
	registry_configure(r, &set);
	for (uint64_t i = 0; i < 5; i++) {
		info.trap_number = (uint16_t)i;
		ck_assert_uint_eq(put_service(i, 5, 9, 0), i < 3 ? SA_OK : SA_NO_RESOURCES);
		ck_assert_uint_eq(
		    registry_inform(r, &info, 5, gid, &from), i < 3 ? SA_OK : SA_NO_RESOURCES);
	}
	ck_assert_uint_eq(put_service(9, 6, 9, 0), SA_OK); /* another client */
	ck_assert_uint_eq(registry_inform(r, &info, 6, gid, &from), SA_OK);
}
END_TEST

/* Random use against a plain list. */
START_TEST(services_are_found)
{
	bool there[64] = { false };
	struct fm_rng rng;

	fm_rng_seed(&rng, 4);
	for (int i = 0; i < 5000; i++) {
		uint32_t id = fm_rng_below(&rng, 64), n = 0;
		struct sa_service_record want = service(id, id % 3, UINT32_MAX), got;

		if (fm_rng_below(&rng, 2)) {
			ck_assert_uint_eq(put_service(id, id % 3, UINT32_MAX, 0), SA_OK);
			there[id] = true;
		} else {
			ck_assert_uint_eq(
			    registry_delete_service(r, &want, MASK_SERVICE, id % 3, false, 0, &got),
			    there[id] ? SA_OK : SA_NO_RECORDS);
			there[id] = false;
		}
		for (int k = 0; k < 64; k++)
			n += there[k];
		ck_assert_uint_eq(registry_n_services(r), n);
	}
}
END_TEST

/* --------------------------------------------------------------- subscriptions */

START_TEST(subscriptions_come_and_go)
{
	struct sa_inform_info info = {
		.lid_begin = 3, .lid_end = 9, .subscribe = 1, .is_generic = 1, .trap_number = 64
	};
	struct mad_addr from = { .lid = 4, .qpn = 1 }, moved = { .lid = 40, .qpn = 1 };
	struct sa_gid gid = { PREFIX, 5 };

	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &moved), SA_OK);
	ck_assert_uint_eq(registry_n_subscriptions(r), 1);
	ck_assert_uint_eq(registry_subscription(r, 0)->to.lid, 40);
	info.qpn = 77;
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_subscription(r, 1)->to.qpn, 77);
	ck_assert_uint_eq(registry_subscription(r, 1)->number, 1);
	info.lid_begin = info.lid_end = 0; /* a range that nobody is in is one, too */
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	info.subscribe = 0;
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_REQ_INVALID);
	info.subscribe = 1;
	info.lid_end = 9;
	info.lid_begin = 10;
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_REQ_INVALID);
	info.lid_begin = 3;
	info.subscribe = 2;
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_REQ_INVALID);
	info.subscribe = 0;
	info.trap_number = 65;
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_REQ_INVALID);
	info.trap_number = 64;
	ck_assert_uint_eq(registry_inform(r, &info, 6, gid, &from), SA_REQ_INVALID);
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_n_subscriptions(r), 1);
	registry_drop_subscription(r, registry_subscription(r, 0)->id);
	ck_assert_uint_eq(registry_n_subscriptions(r), 0);
}
END_TEST

/* ------------------------------------------------------------------- alias GUIDs */

START_TEST(aliases_belong_to_one_port)
{
	uint64_t guid[8] = { 0, 0xa1, 0xa2 }, got[8], port;
	uint8_t block;

	ck_assert_uint_eq(registry_set_aliases(r, 5, 0, 1 << 1 | 1 << 2, guid), SA_OK);
	ck_assert_uint_eq(registry_alias_port(r, 0xa2), 5);
	ck_assert_uint_eq(registry_set_aliases(r, 6, 0, 1 << 1, guid), SA_REQ_INVALID);
	ck_assert_uint_eq(registry_set_aliases(r, 5, 1, 1 << 2, guid), SA_REQ_INVALID);
	guid[0] = 0xa0;
	ck_assert_uint_eq(registry_set_aliases(r, 5, 0, 1, guid), SA_REQ_INVALID); /* the port's */
	guid[3] = 0; /* the SA makes one */
	ck_assert_uint_eq(registry_set_aliases(r, 5, 0, 1 << 3, guid), SA_OK);
	ck_assert_uint_ne(guid[3], 0);
	ck_assert_uint_eq(registry_alias_port(r, guid[3]), 5);
	ck_assert(registry_next_alias_block(r, &port, &block));
	ck_assert_uint_eq(port, 5);
	ck_assert_uint_eq(registry_delete_aliases(r, 5, 0, 1 << 1), SA_OK);
	ck_assert_uint_eq(registry_alias_port(r, 0xa1), 0);
	ck_assert(registry_aliases(r, 5, 0, got));
	ck_assert_uint_eq(got[1], 0);
	ck_assert_uint_eq(got[2], 0xa2);
	ck_assert_uint_eq(registry_set_aliases(r, 6, 2, 1 << 1, (uint64_t[8]){ 0, 0xb1 }), SA_OK);
	registry_drop_port(r, 5);
	ck_assert(!registry_aliases(r, 5, 0, got));
	ck_assert_uint_eq(registry_alias_port(r, 0xa2), 0);
	ck_assert_uint_eq(registry_alias_port(r, 0xb1), 6);
}
END_TEST

/* Who leaves with something is to register again; who held nothing is not. */
START_TEST(what_is_dropped_is_lost)
{
	uint64_t port;

	ck_assert_uint_eq(join(1, 5, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(registry_set_aliases(r, 6, 0, 1 << 1, (uint64_t[8]){ 0, 0xb1 }), SA_OK);
	registry_drop_port(r, 4);
	ck_assert(!registry_next_lost(r, &port));
	registry_drop_port(r, 5);
	ck_assert(registry_next_lost(r, &port));
	ck_assert_uint_eq(port, 5);
	registry_drop_port(r, 6);
	ck_assert(registry_next_lost(r, &port));
	ck_assert_uint_eq(port, 6);
	registry_drop_port(r, 6);
	ck_assert(!registry_next_lost(r, &port));
}
END_TEST

/* Subscriptions of a port that is away stay, unless they are to go at once; the rest stays. */
START_TEST(away)
{
	struct sa_inform_info info = { .lid_begin = 0xffff, .subscribe = 1, .type = 0xffff };
	struct mad_addr from = { .qpn = 1 };
	struct sa_gid gid = { 0, 5 };
	uint64_t port;

	ck_assert_uint_eq(join(1, 5, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_inform(r, &info, 6, gid, &from), SA_OK);
	registry_port_is_away(r, 5);
	ck_assert_uint_eq(registry_n_subscriptions(r), 2);
	ck_assert(!registry_next_lost(r, &port));
	set.drop_subscriptions = true;
	registry_configure(r, &set);
	registry_port_is_away(r, 4);
	ck_assert(!registry_next_lost(r, &port));
	registry_port_is_away(r, 5);
	ck_assert_uint_eq(registry_n_subscriptions(r), 1);
	ck_assert_uint_eq(registry_subscription(r, 0)->client, 6);
	ck_assert(registry_next_lost(r, &port));
	ck_assert_uint_eq(port, 5);
	ck_assert_uint_eq(groups_n_joins(registry_groups(r), 5), 1);
}
END_TEST

/* Those that the SA makes: nobody else's, and the same again after a loss. */
START_TEST(aliases_made_are_unique)
{
	uint64_t made[64][8];
	struct fm_hash all = { 0 };

	for (uint64_t port = 0; port < 64; port++) {
		memset(made[port], 0, sizeof(made[port]));
		ck_assert_uint_eq(
		    registry_set_aliases(r, 100 + port, (uint8_t)(port % 3), 0xfe, made[port]),
		    SA_OK);
		for (int i = 1; i < 8; i++) {
			ck_assert_uint_eq(made[port][i] >> 56, 2); /* locally administered */
			ck_assert_uint_eq(fm_hash_find(&all, made[port][i]), FM_HASH_NONE);
			ck_assert(fm_hash_put(&all, made[port][i], 0));
		}
	}
	fm_hash_fini(&all);
	registry_free(r);
	r = registry_new(&set);
	for (uint64_t port = 64; port-- > 0;) {
		uint64_t again[8] = { 0 };

		ck_assert_uint_eq(
		    registry_set_aliases(r, 100 + port, (uint8_t)(port % 3), 0xfe, again), SA_OK);
		ck_assert_mem_eq(again, made[port], sizeof(again));
	}
	/* what one has by another way is not made for a second */
	registry_free(r);
	r = registry_new(&set);
	ck_assert_uint_eq(
	    registry_set_aliases(r, 1, 0, 1 << 1, (uint64_t[8]){ 0, made[0][1] }), SA_OK);
	memset(made[1], 0, sizeof(made[1]));
	ck_assert_uint_eq(registry_set_aliases(r, 100, 0, 1 << 1, made[1]), SA_OK);
	ck_assert_uint_ne(made[1][1], 0);
	ck_assert_uint_ne(made[1][1], made[0][1]);
}
END_TEST

/* ---------------------------------------------------------------------- restart */

static void
fill(void)
{
	struct sa_inform_info info = {
		.lid_begin = 3, .lid_end = 9, .subscribe = 1, .is_generic = 1, .trap_number = 64
	};
	struct mad_addr from = { .lid = 4, .sl = 2, .qpn = 1, .qkey = 0x80010000, .pkey_index = 1 };
	struct sa_mc_member_record kept = { .mgid = { UINT64_C(0xff12401bffff0000), 0xffffffff },
		.pkey = 0xffff,
		.mtu = 4,
		.rate = 3 };
	uint64_t guid[8] = { 0, 0xa1 };
	struct sa_gid gid = { PREFIX, 5 };

	ck_assert(groups_keep(registry_groups(r), &kept, 1));
	ck_assert_uint_eq(join(1, 5, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(1, 6, JOIN_SEND_ONLY_NON), SA_OK);
	ck_assert_uint_eq(join(2, 6, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(put_service(1, 5, 100, 1000), SA_OK);
	ck_assert_uint_eq(put_service(2, 5, UINT32_MAX, 1000), SA_OK);
	ck_assert_uint_eq(registry_inform(r, &info, 5, gid, &from), SA_OK);
	ck_assert_uint_eq(registry_set_aliases(r, 5, 0, 1 << 1, guid), SA_OK);
}

START_TEST(a_restart_loses_nothing)
{
	struct groups *g;
	struct group_event e;
	uint32_t i, n_members = 0;
	uint64_t port;
	uint8_t block;
	bool lost;

	fill();
	save(1000, 50000);
	restart(900000, 50040); /* another clock; 40 s later */
	ck_assert(!registry_lacks(r));
	ck_assert_str_eq(said, "");
	g = registry_groups(r);
	ck_assert_uint_eq(groups_count(g), 3);
	i = groups_find(g, (struct sa_gid){ UINT64_C(0xff12a01c00000000), 1 });
	ck_assert_uint_ne(i, UINT32_MAX);
	ck_assert_uint_eq(groups_record(g, i).mlid, 0xc001);
	ck_assert_uint_eq(groups_n_members(g, i), 2);
	i = groups_find(g, (struct sa_gid){ UINT64_C(0xff12401bffff0000), 0xffffffff });
	ck_assert(groups_is_kept(g, i));
	while (registry_next_event(r, &e, &lost))
		n_members += e.kind == GROUP_MEMBER;
	ck_assert_uint_eq(n_members, 3);
	ck_assert_uint_eq(registry_n_services(r), 2);
	ck_assert_int_eq(registry_tick(r, 900000), 960000);
	ck_assert_uint_eq(registry_n_subscriptions(r), 1);
	ck_assert_uint_eq(registry_subscription(r, 0)->to.lid, 4);
	ck_assert_uint_eq(registry_subscription(r, 0)->to.qkey, 0x80010000);
	ck_assert_uint_eq(registry_subscription(r, 0)->info.trap_number, 64);
	ck_assert_uint_eq(registry_alias_port(r, 0xa1), 5);
	ck_assert(registry_next_alias_block(r, &port, &block)); /* to be looked for in the port */
	ck_assert_uint_eq(port, 5);
	ck_assert(!registry_next_alias_block(r, &port, &block));
}
END_TEST

START_TEST(what_has_gone_stays_gone)
{
	fill();
	save(1000, 50000);
	registry_drop_port(r, 5);
	registry_tick(r, 200000);
	save(200000, 50200);
	restart(0, 50200);
	ck_assert_uint_eq(groups_count(registry_groups(r)), 2);
	ck_assert_uint_eq(registry_n_services(r), 1);
	ck_assert_uint_eq(registry_n_subscriptions(r), 0);
	ck_assert_uint_eq(registry_alias_port(r, 0xa1), 0);
}
END_TEST

static unsigned n_commits;

static void
count_commits(const char *what, const char *which)
{
	n_commits += strcmp(what, "commit") == 0 && strcmp(which, "records") == 0;
}

START_TEST(saving_again_writes_nothing)
{
	fm_fault_point_hook(count_commits);
	n_commits = 0;
	fill();
	save(1000, 50000);
	ck_assert_uint_eq(n_commits, 1);
	save(1000, 50000);
	ck_assert_uint_eq(n_commits, 1);
	registry_tick(r, 200000); /* a lease is over */
	save(200000, 50200);
	ck_assert_uint_eq(n_commits, 2);
	fm_fault_point_hook(NULL);
}
END_TEST

static bool
take_any(void *arg, const struct store_record *rec)
{
	uint32_t *n = arg;

	(void)rec;
	++*n;
	return true;
}

/* One record is torn, another is nobody's: the rest is there, and it is told. */
START_TEST(damaged_records_are_set_aside)
{
	static const uint8_t key[17] = { 'G', 1, 2 }, value[3] = { 1, 2, 3 };
	struct store_record strange[] = { { key, value, sizeof(key), sizeof(value) },
		{ "Zoo", value, 3, sizeof(value) } };
	struct fm_error err = { 0 };
	struct store *s;
	uint32_t n = 0, n_aside;

	fill();
	save(1000, 50000);
	s = open_store();
	ck_assert_int_eq(store_put(s, strange, 2, false, &err), 0);
	store_close(s);
	restart(0, 50000);
	ck_assert(registry_lacks(r));
	ck_assert_ptr_nonnull(strstr(said, "2 records are damaged"));
	ck_assert_uint_eq(groups_count(registry_groups(r)), 3);
	ck_assert_uint_eq(registry_n_services(r), 2);
	said[0] = '\0';
	restart(0, 50000); /* they are out of the way */
	ck_assert_str_eq(said, "");
	ck_assert(!registry_lacks(r));
	s = open_store();
	ck_assert_int_eq(store_each(s, take_any, &n, &n_aside, &err), 0);
	ck_assert_uint_eq(n, 10); /* 3 groups, 3 members, 2 services, a subscription, a block */
	store_close(s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("registry");
	TCase *t = tcase_create("registry");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, services_have_leases);
	tcase_add_test(t, services_belong_to_somebody);
	tcase_add_test(t, services_go_by_name);
	tcase_add_test(t, clients_have_bounds);
	tcase_add_test(t, services_are_found);
	tcase_add_test(t, subscriptions_come_and_go);
	tcase_add_test(t, aliases_belong_to_one_port);
	tcase_add_test(t, aliases_made_are_unique);
	tcase_add_test(t, away);
	tcase_add_test(t, what_is_dropped_is_lost);
	tcase_add_test(t, a_restart_loses_nothing);
	tcase_add_test(t, what_has_gone_stays_gone);
	tcase_add_test(t, saving_again_writes_nothing);
	tcase_add_test(t, damaged_records_are_set_aside);
	suite_add_tcase(s, t);
	return run_suite(s);
}
