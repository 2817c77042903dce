/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_replica - what an agent holds of what is published, and a folder that is not as it should
 * be.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/blobs/manifest.h"
#include "host/agent/source.h"
#include "tests/folder.h"
#include "tests/run.h"

#define LID_TOP 1023
#define SWITCH_A UINT64_C(0xa)
#define SWITCH_B UINT64_C(0xb)
#define OWN_A UINT64_C(0x100)
#define OWN_B UINT64_C(0x200)
#define SM UINT64_C(0x300)
#define ELSEWHERE UINT64_C(0x400) /* a port in another subnet */

static struct replica replica;
static char folder[FOLDER_ROOM];

static void
setup(void)
{
	folder_make(folder);
	replica.own[0] = OWN_A;
	replica.own[1] = OWN_B;
	replica.n_own = 2;
}

static void
teardown(void)
{
	replica_fini(&replica);
	memset(&replica, 0, sizeof(replica));
	folder_remove(folder);
}

static void
put_subnet_of(uint64_t sm_guid)
{
	const struct blob_subnet s = {
		.schema = BLOB_SCHEMA, .sm_guid = sm_guid, .lid_top = LID_TOP
	};
	uint8_t bytes[BLOB_SUBNET_BYTES];

	blob_subnet_put(bytes, &s);
	ck_assert(replica_put(&replica, BLOB_SUBNET, 0, bytes, sizeof(bytes)));
}

static void
put_subnet(void)
{
	put_subnet_of(0);
}

/* The switches by their numbers. */
static void
put_leaves(uint64_t first, uint64_t second)
{
	uint8_t bytes[16];

	blob_put64(bytes, first);
	blob_put64(bytes + 8, second);
	ck_assert(replica_put(&replica, BLOB_LEAF, 0, bytes, sizeof(bytes)));
}

/* LID 1 hangs off leaf a, LID 2 off leaf b; LID 3 is the SM's. */
static void
put_ports(uint16_t a, uint16_t b)
{
	uint8_t bytes[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES] = { 0 };

	blob_port_put(bytes + BLOB_PORT_BYTES, &(struct blob_port){ .guid = OWN_A, .leaf = a });
	blob_port_put(bytes + 2 * BLOB_PORT_BYTES, &(struct blob_port){ .guid = OWN_B, .leaf = b });
	blob_port_put(bytes + 3 * BLOB_PORT_BYTES, &(struct blob_port){ .guid = SM });
	ck_assert(replica_put(&replica, BLOB_PORT, 0, bytes, sizeof(bytes)));
}

static void
expect_row(uint64_t guid, uint16_t leaf, uint8_t class_of_lid_0)
{
	for (size_t i = 0; i < replica.row.n; i++)
		if (replica.row.item[i].guid == guid) {
			ck_assert_uint_eq(replica.row.item[i].leaf, leaf);
			ck_assert_uint_eq(replica.row.item[i].blob.n, 1);
			ck_assert_uint_eq(replica.row.item[i].blob.bytes[0], class_of_lid_0);
			return;
		}
	ck_abort_msg("there is no row of switch 0x%x", (unsigned)guid);
}

/* A publisher whose place has been emptied numbers its leaves anew. */
START_TEST(rows_follow_their_switch)
{
	put_subnet();
	put_leaves(SWITCH_A, SWITCH_B);
	put_ports(0, 1);
	ck_assert(replica_find_rows(&replica));
	ck_assert(replica_put(&replica, BLOB_ROW, SWITCH_A, "a", 1));
	ck_assert(replica_put(&replica, BLOB_ROW, SWITCH_B, "b", 1));
	put_leaves(SWITCH_B, SWITCH_A);
	put_ports(1, 0);
	ck_assert(replica_find_rows(&replica));
	ck_assert_uint_eq(replica.row.n, 2);
	expect_row(SWITCH_A, 1, 'a');
	expect_row(SWITCH_B, 0, 'b');
	put_ports(1, 1);
	ck_assert(replica_find_rows(&replica));
	ck_assert_uint_eq(replica.row.n, 1);
	expect_row(SWITCH_A, 1, 'a');
}
END_TEST

/* A relay that has the host's port hang off a thousand switches. */
START_TEST(rows_are_no_more_than_a_host_can_need)
{
	uint8_t leaves[8 * (LID_TOP + 1)], ports[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES];

	put_subnet();
	for (unsigned i = 0; i <= LID_TOP; i++)
		blob_put64(leaves + (size_t)8 * i, 1 + i);
	ck_assert(replica_put(&replica, BLOB_LEAF, 0, leaves, sizeof(leaves)));
	for (unsigned b = 0; b <= LID_TOP / BLOB_BLOCK_LIDS; b++) {
		for (unsigned k = 0; k < BLOB_BLOCK_LIDS; k++)
			blob_port_put(ports + (size_t)k * BLOB_PORT_BYTES,
			    &(struct blob_port){
				.guid = OWN_A, .leaf = (uint16_t)(b * BLOB_BLOCK_LIDS + k) });
		ck_assert(replica_put(&replica, BLOB_PORT, b, ports, sizeof(ports)));
	}
	ck_assert(replica_find_rows(&replica));
	ck_assert_uint_le(replica.row.n, REPLICA_MOST_ROWS);
}
END_TEST

/* ------------------------------------------------------------------ how far */

/* LID 1 is called "a", LID 3 "host-17". */
static void
put_names(void)
{
	static const char names[] = "\0\1a\0\7host-17";

	ck_assert(replica_put(&replica, BLOB_NAME, 0, names, sizeof(names) - 1));
}

static void
put_hops(uint64_t guid, const char *hops)
{
	ck_assert(replica_put(&replica, BLOB_HOPS, guid, hops, strlen(hops)));
}

static void
put_relay_at(uint16_t leaf)
{
	uint8_t bytes[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES] = { 0 };

	blob_port_put(bytes + BLOB_PORT_BYTES, &(struct blob_port){ .guid = OWN_A, .leaf = 0 });
	blob_port_put(bytes + 2 * BLOB_PORT_BYTES, &(struct blob_port){ .guid = OWN_B, .leaf = 1 });
	blob_port_put(bytes + 3 * BLOB_PORT_BYTES, &(struct blob_port){ .guid = SM, .leaf = leaf });
	ck_assert(replica_put(&replica, BLOB_PORT, 0, bytes, sizeof(bytes)));
}

/* From the nearer of the host's ports; by name, GUID or LID. */
START_TEST(hops_are_those_of_the_nearest_port)
{
	static const char *const who[] = { "host-17", "0x300", "3" };

	put_subnet();
	put_leaves(SWITCH_A, SWITCH_B);
	put_names();
	put_relay_at(1);
	ck_assert(replica_find_rows(&replica));
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(replica_hops(&replica, who[i]), 0);
	put_hops(SWITCH_A, "\1\5");
	put_hops(SWITCH_B, "\5\2");
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(replica_hops(&replica, who[i]), 2);
	put_relay_at(0);
	ck_assert_uint_eq(replica_hops(&replica, "host-17"), 1);
}
END_TEST

START_TEST(hops_are_not_known)
{
	static const char *const who[] = { "", "host-1", "host-177", "0x301", "4", "65536",
		"0x10000000000000003" };

	put_subnet();
	put_leaves(SWITCH_A, SWITCH_B);
	put_names();
	put_relay_at(1);
	ck_assert(replica_find_rows(&replica));
	put_hops(SWITCH_A, "\1\5");
	ck_assert_uint_eq(replica_hops(&replica, "host-17"), 5);
	for (unsigned i = 0; i < sizeof(who) / sizeof(who[0]); i++)
		ck_assert_uint_eq(replica_hops(&replica, who[i]), 0);
	/* a leaf that is behind the end of the row, and none at all */
	put_relay_at(2);
	ck_assert_uint_eq(replica_hops(&replica, "host-17"), 0);
	put_relay_at(BLOB_NO_LEAF);
	ck_assert_uint_eq(replica_hops(&replica, "host-17"), 0);
}
END_TEST

/* A name that says that it is longer than there are bytes. */
START_TEST(names_end_where_their_bytes_do)
{
	put_subnet();
	put_leaves(SWITCH_A, SWITCH_B);
	put_relay_at(1);
	ck_assert(replica_find_rows(&replica));
	put_hops(SWITCH_A, "\1\5");
	ck_assert(replica_put(&replica, BLOB_NAME, 0, "\0\1a\0\7host-1", 11));
	ck_assert_uint_eq(replica_hops(&replica, "host-1"), 0);
	ck_assert_uint_eq(replica_hops(&replica, "a"), 1);
	ck_assert(replica_put(&replica, BLOB_NAME, 0, "\0\0\0", 3));
	ck_assert_uint_eq(replica_hops(&replica, "host-1"), 0);
}
END_TEST

/* ---------------------------------------------------------------- whom ports obey */

static int
other_sm(uint64_t first, uint16_t its_sm, uint64_t second, uint16_t sm_of_it)
{
	replica.own[0] = first;
	replica.own_sm[0] = its_sm;
	replica.own[1] = second;
	replica.own_sm[1] = sm_of_it;
	return replica_other_sm(&replica);
}

START_TEST(a_port_may_obey_another_sm)
{
	put_subnet_of(SM);
	put_ports(0, 1);
	ck_assert_int_eq(other_sm(OWN_A, 3, OWN_B, 3), -1);
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 2), 0);
	ck_assert_int_eq(other_sm(OWN_A, 0, OWN_B, 2), 1);
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 0), 0);
	ck_assert_int_eq(other_sm(OWN_A, LID_TOP, OWN_B, 0), 0);
	ck_assert_int_eq(other_sm(OWN_A, UINT16_MAX, OWN_B, 0), 0);
	/* one that has not been told of the new one yet, or is told first */
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 3), -1);
	ck_assert_int_eq(other_sm(OWN_A, 3, OWN_B, 2), -1);
}
END_TEST

START_TEST(of_an_sm_that_is_not_known_nothing_is_said)
{
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 2), -1);
	put_subnet_of(SM);
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 2), -1);
	put_ports(0, 1);
	ck_assert_int_eq(other_sm(OWN_A, 0, OWN_B, 0), -1);
	put_subnet_of(0);
	ck_assert_int_eq(other_sm(OWN_A, 2, OWN_B, 2), -1);
}
END_TEST

/* Its LIDs say nothing of those here. */
START_TEST(a_port_of_another_subnet_says_nothing)
{
	put_subnet_of(SM);
	put_ports(0, 1);
	ck_assert_int_eq(other_sm(ELSEWHERE, 2, OWN_B, 3), -1);
	ck_assert_int_eq(other_sm(ELSEWHERE, 2, OWN_B, 0), -1);
	ck_assert_int_eq(other_sm(ELSEWHERE, 3, OWN_B, 2), 1);
}
END_TEST

/* ------------------------------------------------------------------- a folder */

/* The third time it has failed. */
static int
fail_at_last(void *arg, struct fm_error *err)
{
	unsigned *n = arg;

	return ++*n < 3 ? 0 : fm_fail(err, FM_E_SYSTEM, "another SM rules");
}

START_TEST(what_is_looked_at_ends_the_wait)
{
	unsigned n = 0;
	const struct source_watch watch = { .every_ms = 1, .look = fail_at_last, .arg = &n };
	struct fm_error err = { 0 };
	void *source;

	ck_assert_int_eq(source_files.open(folder, NULL, &source, &err), 0);
	ck_assert_int_eq(source_files.wait(source, &replica, 3600000, &watch, &err), FM_E_SYSTEM);
	ck_assert_str_eq(err.msg, "another SM rules");
	ck_assert_uint_eq(n, 3);
	source_files.close(source);
}
END_TEST

static void
write_manifest(const void *bytes, size_t n, char path[160])
{
	struct manifest m = { .term = 1, .epoch = 1 };
	char manifest[64], blobs[64];
	struct fm_error err;

	ck_assert(manifest_set(&m, "subnet", n, manifest_hash(bytes, n)));
	snprintf(manifest, sizeof(manifest), "%s/manifest", folder);
	ck_assert_int_eq(manifest_write(manifest, &m, &err), 0);
	snprintf(blobs, sizeof(blobs), "%s/blobs", folder);
	ck_assert_int_eq(mkdir(blobs, 0700), 0);
	ck_assert(manifest_blob_path(folder, &m.blob.item[0], path, 160));
	manifest_fini(&m);
}

static void
expect_failure(const char *sentence)
{
	struct fm_error err = { 0 };
	bool whole;
	void *source;

	ck_assert_int_eq(source_files.open(folder, NULL, &source, &err), 0);
	ck_assert_int_ne(source_files.fetch(source, &replica, &whole, &err), 0);
	ck_assert_msg(strstr(err.msg, sentence) != NULL, "%s", err.msg);
	source_files.close(source);
}

START_TEST(a_blob_too_large_leaves_nothing)
{
	char bytes[BLOB_SUBNET_BYTES + 1] = "", path[160];
	FILE *f;

	write_manifest(bytes, sizeof(bytes), path);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	fclose(f);
	expect_failure("no room for subnet");
}
END_TEST

/* Nobody writes into it: who waited for that would wait for ever. */
START_TEST(a_fifo_in_place_of_a_blob)
{
	char path[160];

	write_manifest("", 1, path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_failure("is not what its name tells");
}
END_TEST

START_TEST(a_fifo_in_place_of_the_manifest)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/manifest", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_failure("is no manifest");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("replica");
	TCase *tc = tcase_create("replica");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rows_follow_their_switch);
	tcase_add_test(tc, rows_are_no_more_than_a_host_can_need);
	tcase_add_test(tc, hops_are_those_of_the_nearest_port);
	tcase_add_test(tc, hops_are_not_known);
	tcase_add_test(tc, names_end_where_their_bytes_do);
	tcase_add_test(tc, a_port_may_obey_another_sm);
	tcase_add_test(tc, of_an_sm_that_is_not_known_nothing_is_said);
	tcase_add_test(tc, a_port_of_another_subnet_says_nothing);
	tcase_add_test(tc, what_is_looked_at_ends_the_wait);
	tcase_add_test(tc, a_blob_too_large_leaves_nothing);
	tcase_add_test(tc, a_fifo_in_place_of_a_blob);
	tcase_add_test(tc, a_fifo_in_place_of_the_manifest);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
