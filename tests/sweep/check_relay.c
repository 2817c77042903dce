/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent and a relay that lies, dies, goes back or goes on meanwhile: what the agent holds is of
 * one epoch as the relay had it, whatever was said before; its memory and its time have an end.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "host/agent/source.h"
#include "lib/bitset.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/fake_relay.h"

#define SEEDS 200
#define STEPS 60
#define LEAVES 3
#define BLOCKS 2
#define LID_TOP (BLOCKS * BLOB_BLOCK_LIDS - 1)
#define OWN_GUID UINT64_C(0x500)
#define OWN_LID 5
#define MEMORY_KB (128 << 10)
#define FILE_MOST (1u << 20)

static char folder[FOLDER_ROOM], file[64];
static struct fake_relay relay;
static struct replica replica;
static unsigned age_s;
static bool has_another; /* relay, at which we were before */
static char said[sizeof(((struct fm_error *)NULL)->msg)];
static void *source;
static struct fm_rng rng;

static void
setup(void)
{
	folder_make(folder);
	snprintf(file, sizeof(file), "%s/paths", folder);
	fake_relay_start(&relay, folder, "relay");
	relay.term = 1000;
	replica.own[0] = OWN_GUID;
	replica.n_own = 1;
}

static void
teardown(void)
{
	source_redis.close(source);
	source = NULL;
	fake_relay_stop(&relay);
	replica_fini(&replica);
	memset(&replica, 0, sizeof(replica));
	folder_remove(folder);
}

/* ------------------------------------------------------------ what is there */

static uint64_t
leaf_guid(unsigned leaf)
{
	return 0x900 + leaf;
}

static void
put_subnet(void)
{
	const struct blob_subnet s = { .schema = BLOB_SCHEMA,
		.gid_prefix = 0xfe80,
		.sm_guid = 1,
		.lid_top = LID_TOP,
		.n_leaves = LEAVES };
	uint8_t bytes[BLOB_SUBNET_BYTES], leaf[8 * LEAVES];

	blob_subnet_put(bytes, &s);
	fake_relay_put(&relay, "subnet", bytes, sizeof(bytes));
	for (unsigned i = 0; i < LEAVES; i++)
		blob_put64(leaf + (size_t)8 * i, leaf_guid(i));
	fake_relay_put(&relay, "leaf", leaf, sizeof(leaf));
}

static void
put_random(const char *key, size_t n)
{
	uint8_t bytes[BLOB_MOST_CLASSES * BLOB_ATTR_BYTES];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)fm_rng_below(&rng, 4);
	fake_relay_put(&relay, key, bytes, n);
}

static void
put_ports(unsigned block)
{
	uint8_t bytes[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES] = { 0 };
	char key[BLOB_KEY_BYTES];

	for (unsigned k = 0; k < BLOB_BLOCK_LIDS; k++) {
		unsigned lid = block * BLOB_BLOCK_LIDS + k;
		struct blob_port p = { .guid = lid == OWN_LID ? OWN_GUID : 0x10000 + lid,
			.leaf = (uint16_t)fm_rng_below(&rng, LEAVES) };

		if (lid != 0)
			blob_port_put(bytes + (size_t)k * BLOB_PORT_BYTES, &p);
	}
	blob_key(key, BLOB_PORT, block);
	fake_relay_put(&relay, key, bytes, sizeof(bytes));
}

static void
put_names(unsigned block)
{
	uint8_t bytes[2 * BLOB_BLOCK_LIDS];
	char key[BLOB_KEY_BYTES];

	for (unsigned k = 0; k < BLOB_BLOCK_LIDS; k++) {
		bytes[2 * k] = 1;
		bytes[2 * k + 1] = (uint8_t)('a' + fm_rng_below(&rng, 26));
	}
	blob_key(key, BLOB_NAME, block);
	fake_relay_put(&relay, key, bytes, sizeof(bytes));
}

static void
put_row(unsigned leaf)
{
	char key[BLOB_KEY_BYTES];

	blob_key(key, BLOB_ROW, leaf_guid(leaf));
	put_random(key, LID_TOP + 1);
}

static void
put_hops(unsigned leaf)
{
	char key[BLOB_KEY_BYTES];

	blob_key(key, BLOB_HOPS, leaf_guid(leaf));
	put_random(key, LEAVES);
}

/* Beside the file of an epoch: what an agent has of hops then, which is in no file. */
static void
hops_of(const struct replica *r, uint8_t hops[LEAVES])
{
	memset(hops, 0, LEAVES);
	for (size_t i = 0; i < r->row.n; i++)
		for (size_t k = 0; k < LEAVES && k < r->row.item[i].hops.n; k++)
			hops[k] = r->row.item[i].hops.bytes[k];
}

static void
note_hops(const struct replica *r, const char *path)
{
	char name[160];
	uint8_t hops[LEAVES];
	FILE *f;

	snprintf(name, sizeof(name), "%s.hops", path);
	f = fopen(name, "w");
	ck_assert_ptr_nonnull(f);
	hops_of(r, hops);
	ck_assert_uint_eq(fwrite(hops, 1, LEAVES, f), LEAVES);
	fclose(f);
}

/* The file that an agent makes of what is there, by its epoch. */
static void
note_truth(void)
{
	struct replica r = { .own = { OWN_GUID }, .n_own = 1, .at = { relay.term, relay.epoch } };
	struct fm_error err = { 0 };
	enum blob_kind kind;
	uint64_t number;
	char path[128];

	for (unsigned rows = 0; rows < 2; rows++) {
		for (size_t i = 0; i < relay.blob.n; i++) {
			const struct fake_blob *b = &relay.blob.item[i];

			ck_assert(blob_key_parse(b->key, &kind, &number));
			if (blob_is_of_leaf(kind) == (rows == 1))
				replica_put(&r, kind, number, b->bytes, b->n);
		}
		ck_assert(replica_find_rows(&r));
	}
	snprintf(path, sizeof(path), "%s/truth-%ju-%ju", folder, (uintmax_t)relay.term,
	    (uintmax_t)relay.epoch);
	ck_assert_msg(replica_write(&r, path, &err) == 0, "%s", err.msg);
	note_hops(&r, path);
	replica_fini(&r);
}

/* Some of it is another, in a new epoch. */
static void
publish(void)
{
	struct fake_entry e = { .term = relay.term, .epoch = ++relay.epoch };

	for (unsigned n = 1 + fm_rng_below(&rng, 3); n > 0; n--) {
		unsigned block = fm_rng_below(&rng, BLOCKS), leaf = fm_rng_below(&rng, LEAVES);

		switch (fm_rng_below(&rng, 5)) {
		case 0:
			put_ports(block);
			e.kinds |= 1u << BLOB_PORT;
			e.ports[0] |= (uint8_t)(1u << block);
			break;
		case 1:
			put_names(block);
			e.kinds |= 1u << BLOB_NAME;
			e.names[0] |= (uint8_t)(1u << block);
			break;
		case 2:
			put_row(leaf);
			e.kinds |= 1u << BLOB_ROW;
			e.leaves[0] |= (uint8_t)(1u << leaf);
			e.rows[0] = 3;
			break;
		case 3:
			put_hops(leaf);
			e.kinds |= 1u << BLOB_HOPS;
			e.leaves[0] |= (uint8_t)(1u << leaf);
			break;
		default:
			put_random("class", BLOB_ATTR_BYTES * (1 + fm_rng_below(&rng, 9)));
			e.kinds |= 1u << BLOB_CLASS;
		}
	}
	fake_relay_log(&relay, e);
	note_truth();
}

static void
publish_all(void)
{
	struct fake_entry e = { .term = relay.term, .epoch = ++relay.epoch, .kinds = UINT32_MAX };

	put_subnet();
	put_random("class", BLOB_ATTR_BYTES * 4);
	put_random("link", BLOB_ATTR_BYTES);
	for (unsigned b = 0; b < BLOCKS; b++) {
		put_ports(b);
		put_names(b);
	}
	for (unsigned l = 0; l < LEAVES; l++) {
		put_row(l);
		put_hops(l);
	}
	memset(e.leaves, 0xff, sizeof(e.leaves));
	memset(e.rows, 0xff, sizeof(e.rows));
	memset(e.ports, 0xff, sizeof(e.ports));
	memset(e.names, 0xff, sizeof(e.names));
	fake_relay_log(&relay, e);
	note_truth();
}

/* Redis has lost all, and fmd publishes to it anew: the first term is the time. */
static void
reset(void)
{
	relay.term += 2 + fm_rng_below(&rng, 1000);
	relay.epoch = relay.was = 0;
	relay.log.n = 0;
	publish_all();
}

/* --------------------------------------------------------------- following */

static size_t
bytes_of(const char *path, uint8_t bytes[FILE_MOST])
{
	FILE *f = fopen(path, "r");
	size_t n;

	ck_assert_msg(f != NULL, "there is no %s", path);
	n = fread(bytes, 1, FILE_MOST, f);
	fclose(f);
	ck_assert_uint_lt(n, FILE_MOST);
	return n;
}

static bool
is_as(const char *path)
{
	static uint8_t is[FILE_MOST], truth[FILE_MOST];
	size_t n = bytes_of(file, is);

	return n == bytes_of(path, truth) && memcmp(is, truth, n) == 0;
}

static void
expect_hops(const char *path)
{
	static uint8_t truth[FILE_MOST];
	uint8_t hops[LEAVES];
	char name[160];

	snprintf(name, sizeof(name), "%s.hops", path);
	ck_assert_uint_eq(bytes_of(name, truth), LEAVES);
	hops_of(&replica, hops);
	ck_assert_msg(
	    memcmp(hops, truth, LEAVES) == 0, "the agent's hops are not those of %s", path);
}

/* What the agent has is what the relay had at that epoch. */
static void
expect_truth(void)
{
	struct fm_error err = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/truth-%ju-%ju", folder, (uintmax_t)replica.at.term,
	    (uintmax_t)replica.at.epoch);
	ck_assert_msg(replica_write(&replica, file, &err) == 0, "%s", err.msg);
	ck_assert_msg(is_as(path), "the agent's file of term %ju, epoch %ju is not the relay's",
	    (uintmax_t)replica.at.term, (uintmax_t)replica.at.epoch);
	expect_hops(path);
}

static int
sees_nothing(void *arg, struct fm_error *err)
{
	(void)arg;
	(void)err;
	return 0;
}

/* As the agent does: what fails closes the source.  True: all went well. */
static bool
follow(void)
{
	static const struct source_watch watch = { .every_ms = 1, .look = sees_nothing };
	struct fm_error err = { 0 };
	bool whole;
	int rc = 0;

	if (source == NULL)
		rc = source_redis.open(relay.where, NULL, &source, &err);
	if (rc == 0)
		rc = source_redis.fetch(source, &replica, &whole, &err);
	age_s = rc == 0 ? source_redis.age_s(source) : 0;
	if (rc == 0)
		rc = source_redis.show(source, OWN_GUID, replica.at, &err);
	if (rc == 0)
		rc = source_redis.wait(source, &replica, 1, &watch, &err);
	if (rc == 0)
		return true;
	ck_assert(err.msg[0] != '\0');
	snprintf(said, sizeof(said), "%s", err.msg);
	source_redis.close(source);
	source = NULL;
	if (strstr(err.msg, "behind") != NULL && !has_another)
		replica.at.epoch = 0; /* there is no other relay */
	return false;
}

static bool
is_at_the_end(void)
{
	return replica.at.term == relay.term && replica.at.epoch == relay.epoch;
}

/* Truth is what there is as soon as nobody lies. */
static void
expect_the_end(void)
{
	for (unsigned i = 0; i < 8 && !(follow() && is_at_the_end()); i++)
		continue;
	ck_assert_msg(is_at_the_end(), "the agent is at term %ju, epoch %ju, the relay at %ju, %ju",
	    (uintmax_t)replica.at.term, (uintmax_t)replica.at.epoch, (uintmax_t)relay.term,
	    (uintmax_t)relay.epoch);
	expect_truth();
}

static void
begin(int seed)
{
	fm_rng_seed(&rng, (uint64_t)seed);
	fm_rng_seed(&relay.rng, (uint64_t)seed + 1000000);
	fake_relay_lock(&relay);
	publish_all();
	fake_relay_unlock(&relay);
}

/* ---------------------------------------------------------------- tests */

START_TEST(no_epoch_is_fetched_whole_twice)
{
	begin(_i);
	expect_the_end();
	for (int i = 0; i < 10; i++) {
		fake_relay_lock(&relay);
		publish();
		fake_relay_unlock(&relay);
		if (i % 3 == 0) {
			source_redis.close(source);
			source = NULL;
		}
		expect_the_end();
	}
	ck_assert_uint_eq(relay.n_whole, 2); /* once alone, once with the rest */
}
END_TEST

#define REPLICA "# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\n"

START_TEST(a_relay_that_has_lost_the_one_above_is_left)
{
	static const struct {
		const char *info, *says;
		unsigned age_s;
	} row[] = {
		{ NULL, NULL, 0 },
		{ REPLICA "master_link_status:up\r\nmaster_last_io_seconds_ago:7\r\n", NULL, 7 },
		{ REPLICA "master_link_status:up\r\nmaster_last_io_seconds_ago:31\r\n",
		    "heard nothing from the one above for 31 s", 0 },
		{ REPLICA "master_link_status:down\r\nmaster_last_io_seconds_ago:-1\r\n"
			  "master_link_down_since_seconds:2\r\n",
		    "has lost the one above", 0 },
	};

	begin(1);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		fake_relay_lock(&relay);
		relay.info = row[i].info;
		fake_relay_unlock(&relay);
		ck_assert(follow() == (row[i].says == NULL));
		ck_assert_uint_eq(age_s, row[i].age_s);
		ck_assert_msg(row[i].says == NULL || strstr(said, row[i].says) != NULL, "%s", said);
	}
}
END_TEST

/* An SM and then another that has not seen its last epoch: the row that it changed is as before,
 * and of another epoch.  id: of that in the log. */
static void
change_line(uint64_t id)
{
	char key[BLOB_KEY_BYTES];
	uint8_t before[LID_TOP + 1];

	blob_key(key, BLOB_ROW, leaf_guid(0));
	memcpy(before, fake_relay_find(&relay, key)->bytes, sizeof(before));
	put_row(0);
	fake_relay_log(&relay,
	    (struct fake_entry){ .term = relay.term,
		.epoch = ++relay.epoch,
		.kinds = 1u << BLOB_ROW,
		.leaves = { 1 },
		.rows = { 3 } });
	note_truth();
	fake_relay_unlock(&relay);
	expect_the_end();
	fake_relay_lock(&relay);
	fake_relay_put(&relay, key, before, sizeof(before));
	relay.log.n--;
	relay.epoch--;
	relay.last_id = id;
	relay.term++;
	publish();
}

START_TEST(another_line_is_found_to_be_one)
{
	begin(_i);
	expect_the_end();
	fake_relay_lock(&relay);
	relay.last_id += 10;
	publish();
	change_line(relay.last_id - 5); /* before that which was read last */
	fake_relay_unlock(&relay);
	if (_i % 3 == 0) {
		source_redis.close(source);
		source = NULL;
	}
	if (_i % 3 == 1) {
		fake_relay_lock(&relay);
		relay.last_id += 10;
		publish(); /* it does not follow what we have */
		fake_relay_unlock(&relay);
	}
	expect_the_end();
}
END_TEST

START_TEST(a_line_that_has_gone_back_is_followed_in_the_end)
{
	unsigned n = 1;

	begin(1);
	expect_the_end();
	has_another = true;
	relay.term -= 7;
	while (!follow() && n < 100) {
		ck_assert(strstr(said, "behind ours") != NULL);
		n++;
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_lt(n, 100);
	ck_assert_uint_eq(replica.at.term, relay.term);
}
END_TEST

/* Between any two transactions there may be an epoch. */
static void
sometimes_publish(struct fake_relay *r)
{
	(void)r;
	if (fm_rng_below(&rng, 3) == 0)
		publish();
}

START_TEST(what_is_held_is_of_one_epoch)
{
	begin(_i);
	relay.on_multi = sometimes_publish;
	for (unsigned i = 0; i < STEPS; i++) {
		if (fm_rng_below(&rng, 8) == 0) {
			source_redis.close(source);
			source = NULL;
		}
		fake_relay_lock(&relay);
		publish();
		fake_relay_unlock(&relay);
		if (follow() && replica.at.epoch != 0)
			expect_truth();
	}
	fake_relay_lock(&relay);
	relay.on_multi = NULL;
	fake_relay_unlock(&relay);
	expect_the_end();
}
END_TEST

START_TEST(a_relay_that_begins_anew_is_followed)
{
	begin(_i);
	for (unsigned i = 0; i < 12; i++) {
		fake_relay_lock(&relay);
		if (fm_rng_below(&rng, 4) == 0)
			reset();
		else
			publish();
		if (fm_rng_below(&rng, 4) == 0 && relay.log.n > 1) /* trimmed */
			memmove(relay.log.item, relay.log.item + 1,
			    --relay.log.n * sizeof(*relay.log.item));
		fake_relay_unlock(&relay);
		if (fm_rng_below(&rng, 3) == 0) {
			source_redis.close(source);
			source = NULL;
		}
		if (fm_rng_below(&rng, 2) == 0)
			expect_the_end();
	}
	expect_the_end();
}
END_TEST

START_TEST(lies_are_found_or_forgotten)
{
	begin(_i);
	relay.lies = (1u << LIE_ENDLESS) - 1 - (1u << LIE_MANY);
	relay.lies |= 1u << LIE_CLOSE;
	relay.one_lie_in = 1 + fm_rng_below(&rng, 30);
	for (unsigned i = 0; i < STEPS; i++) {
		if (fm_rng_below(&rng, 3) == 0) {
			fake_relay_lock(&relay);
			if (fm_rng_below(&rng, 6) == 0)
				reset();
			else
				publish();
			fake_relay_unlock(&relay);
		}
		follow();
	}
	ck_assert_uint_gt(relay.n_lies, 0);
}
END_TEST

static long
most_memory_kb(void)
{
	struct rusage u;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

START_TEST(memory_has_an_end)
{
	static const enum fake_lie lies[] = { LIE_ENDLESS, LIE_MANY, LIE_LENGTH };
	long before = most_memory_kb();

	begin(_i);
	relay.lies = 1u << lies[_i];
	relay.one_lie_in = 1;
	for (unsigned i = 0; i < 20 && most_memory_kb() - before < MEMORY_KB; i++)
		ck_assert(!follow() || lies[_i] == LIE_LENGTH);
#ifndef UNDER_SANITIZER
	/* the relay is in this process, too */
	ck_assert_int_lt(most_memory_kb() - before, MEMORY_KB);
#endif
	ck_assert_uint_lt(relay.n_bytes, UINT64_C(20) * (64 << 20));
}
END_TEST

/* A port of ours hangs off every leaf that there can be. */
START_TEST(rows_are_of_no_more_leaves_than_ports)
{
	static uint8_t ports[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES], leaf[8 * BLOB_NO_LEAF];
	struct blob_subnet s = { .schema = BLOB_SCHEMA, .lid_top = 0xbfff, .n_leaves = 0xfffe };
	uint8_t bytes[BLOB_SUBNET_BYTES];
	char key[BLOB_KEY_BYTES];

	begin(0);
	blob_subnet_put(bytes, &s);
	fake_relay_put(&relay, "subnet", bytes, sizeof(bytes));
	for (unsigned i = 0; i < BLOB_NO_LEAF; i++)
		blob_put64(leaf + (size_t)8 * i, i + 1);
	fake_relay_put(&relay, "leaf", leaf, sizeof(leaf));
	for (unsigned b = 0; b < 20; b++) {
		for (unsigned k = 0; k < BLOB_BLOCK_LIDS; k++)
			blob_port_put(ports + (size_t)k * BLOB_PORT_BYTES,
			    &(struct blob_port){
				.guid = OWN_GUID, .leaf = (uint16_t)(b * BLOB_BLOCK_LIDS + k) });
		blob_key(key, BLOB_PORT, b);
		fake_relay_put(&relay, key, ports, sizeof(ports));
	}
	follow();
	ck_assert_uint_le(replica.row.n, REPLICA_MOST_ROWS);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("relay");
	TCase *t = tcase_create("relay");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, no_epoch_is_fetched_whole_twice, 0, 3);
	tcase_add_test(t, a_relay_that_has_lost_the_one_above_is_left);
	tcase_add_loop_test(t, another_line_is_found_to_be_one, 0, (int)n_cases(SEEDS / 4));
	tcase_add_test(t, a_line_that_has_gone_back_is_followed_in_the_end);
	tcase_add_loop_test(t, what_is_held_is_of_one_epoch, 0, (int)n_cases(SEEDS / 4));
	tcase_add_loop_test(t, a_relay_that_begins_anew_is_followed, 0, (int)n_cases(SEEDS / 4));
	tcase_add_loop_test(t, lies_are_found_or_forgotten, 0, (int)n_cases(SEEDS));
	tcase_add_loop_test(t, memory_has_an_end, 0, 3);
	tcase_add_test(t, rows_are_of_no_more_leaves_than_ports);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN); /* as the agent does */
	return run_suite(suite());
}
