/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_paths_file - the file in which a host looks paths up: what is in it is found, what is
 * not is for the SA, and bytes of an enemy do no harm.
 *
 * The file that most tests read:
 *
 *	leaf 3	own	LID 4 "node1 HCA-1" lmc 0	LID 5 "node1"	LID 8..11 "node2" lmc 2
 *	leaf 4		LID 12 "node3"
 *	itself		LID 13, the switch that is leaf 3
 *	none		LID 14, cabled straight to another host
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/paths_maker.h"

#define PREFIX UINT64_C(0xfec0000000000007)
#define TOP 15
#define LIFE 18
#define GUID_OF(lid) (UINT64_C(0x1000) - 16 * (uint64_t)(lid)) /* descending, to be sorted */

static const uint16_t full[] = { 0x8001, 0xffff }, limited[] = { 0x0001, 0x8002, 0xffff },
		      other[] = { 0x8003 };
static char folder[FOLDER_ROOM], path[64];
static struct paths_maker maker;
static struct paths_bytes section[PATHS_SECTIONS];
static struct paths *p;

static struct blob_port
port_of(uint16_t lid, uint16_t leaf, uint8_t lmc, uint16_t pkset, uint8_t link, uint8_t flags)
{
	return (struct blob_port){ .guid = GUID_OF(lid),
		.leaf = leaf,
		.lmc = lmc,
		.pkset = pkset,
		.link = link,
		.flags = flags };
}

static void
put_port(uint16_t lid, uint16_t leaf, uint8_t lmc, uint16_t pkset, uint8_t link, uint8_t flags)
{
	struct blob_port port = port_of(lid, leaf, lmc, pkset, link, flags);

	maker_port(&maker, lid, &port);
}

static const uint8_t *
ip4(uint8_t last)
{
	static uint8_t ip[16];

	memcpy(ip, (uint8_t[16]){ [10] = 0xff, 0xff, 10, 1, 0, last }, 16);
	return ip;
}

static void
make(void)
{
	uint8_t hdr, edr, quick, slow, row[TOP + 1] = { 0 };
	uint16_t a, b, c;

	maker_init(&maker);
	maker.subnet = (struct blob_subnet){ .schema = BLOB_SCHEMA,
		.flags = BLOB_SL_FREE,
		.gid_prefix = PREFIX,
		.sm_guid = 1,
		.lid_top = TOP,
		.n_leaves = 5,
		.life = LIFE };
	a = maker_pkset(&maker, full, 2);
	b = maker_pkset(&maker, limited, 3);
	c = maker_pkset(&maker, other, 1);
	maker_sl(&maker, 0x7fff, 4);
	maker_sl(&maker, 0x0001, 2);
	hdr = maker_link(&maker, 5, 200000);
	edr = maker_link(&maker, 4, 100000);
	quick = maker_class(&maker, 5, 400000, 1);
	slow = maker_class(&maker, 5, 10000, 6);
	put_port(12, 4, 0, c, hdr, 0);
	put_port(4, 3, 0, a, hdr, 0);
	put_port(5, 3, 0, b, edr, 0);
	put_port(8, 3, 2, b, hdr, 0);
	put_port(13, 3, 0, a, hdr, BLOB_PORT_SWITCH);
	put_port(14, BLOB_NO_LEAF, 0, a, hdr, 0);
	put_port(15, 4, 0, a, hdr, BLOB_PORT_GONE);
	maker_name(&maker, "node2", 8);
	maker_name(&maker, "node1", 5);
	maker_name(&maker, "node12", 15);
	maker_name(&maker, "node1", 4);
	maker_addr(&maker, ip4(12), GUID_OF(12));
	maker_addr(&maker, ip4(4), GUID_OF(4));
	maker_addr(&maker, ip4(15), GUID_OF(15));
	memset(row + 4, quick, TOP - 3);
	row[5] = slow;
	row[10] = maker_class(&maker, 5, 1000, 0);
	row[11] = BLOB_CLASS_ASK;
	maker_row(&maker, 3, row);
	maker_done(&maker, section);
}

static void
setup(void)
{
	folder_make(folder);
	snprintf(path, sizeof(path), "%s/paths", folder);
	make();
	p = NULL;
}

static void
teardown(void)
{
	paths_free(p);
	maker_fini(&maker);
	folder_remove(folder);
}

static void
write_and_read(void)
{
	struct fm_error err = { 0 };

	maker_done(&maker, section);
	ck_assert_msg(
	    paths_write(path, (struct paths_epoch){ 3, 77 }, section, &err) == 0, "%s", err.msg);
	paths_free(p);
	ck_assert_msg(paths_read(path, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p);
}

/* -------------------------------------------------------------------- lookups */

START_TEST(test_looked_up)
{
	struct blob_port port;
	uint16_t lid[2];

	write_and_read();
	ck_assert_uint_eq(paths_epoch(p).term, 3);
	ck_assert_uint_eq(paths_epoch(p).epoch, 77);
	ck_assert_uint_eq(paths_subnet(p)->gid_prefix, PREFIX);
	for (uint16_t i = 0; i <= TOP; i++) {
		bool known = i == 4 || i == 5 || i == 8 || (i > 11 && i < 15);

		ck_assert_uint_eq(paths_lid_of_guid(p, GUID_OF(i)), known ? i : 0);
		ck_assert_int_eq(paths_port(p, i, &port), i == 4 || i == 5 || i > 7);
	}
	ck_assert(!paths_port(p, TOP + 1, &port) && !paths_port(p, 0xffff, &port));
	ck_assert_uint_eq(paths_lid_of_guid(p, 0), 0);
	ck_assert(paths_port(p, 10, &port) && port.lmc == 2 && port.guid == GUID_OF(8));
	/* as the SA takes the default prefix for its own */
	ck_assert_uint_eq(paths_lid_of_gid(p, (struct sa_gid){ PREFIX, GUID_OF(5) }), 5);
	ck_assert_uint_eq(
	    paths_lid_of_gid(p, (struct sa_gid){ UINT64_C(0xfe80) << 48, GUID_OF(5) }), 5);
	ck_assert_uint_eq(paths_lid_of_gid(p, (struct sa_gid){ PREFIX + 1, GUID_OF(5) }), 0);

	ck_assert_uint_eq(paths_lids_of_name(p, "node1", lid, 2), 2);
	ck_assert(lid[0] == 4 && lid[1] == 5);
	ck_assert_uint_eq(paths_lids_of_name(p, "node1", lid, 1), 2);
	ck_assert_uint_eq(paths_lids_of_name(p, "node2", lid, 2), 1);
	ck_assert_uint_eq(lid[0], 8);
	ck_assert_uint_eq(paths_lids_of_name(p, "node12", lid, 2), 0); /* gone */
	ck_assert_uint_eq(paths_lids_of_name(p, "node", lid, 2), 0);
	ck_assert_uint_eq(paths_lids_of_name(p, "", lid, 2), 0);

	ck_assert_uint_eq(paths_lid_of_ip(p, ip4(12)), 12);
	ck_assert_uint_eq(paths_lid_of_ip(p, ip4(4)), 4);
	ck_assert_uint_eq(paths_lid_of_ip(p, ip4(15)), 0); /* gone */
	ck_assert_uint_eq(paths_lid_of_ip(p, ip4(5)), 0);
}
END_TEST

/* -------------------------------------------------------------------- records */

static bool
record(uint16_t slid, uint16_t dlid, uint16_t pkey, struct sa_path_record *r)
{
	struct paths_query q = { slid, dlid, pkey };

	memset(r, 0xee, sizeof(*r));
	return paths_record(p, &q, r);
}

#define EXPECT(r, pkey_, sl_, mtu_, rate_, life_) \
	do { \
		ck_assert_uint_eq((r).pkey, pkey_); \
		ck_assert_uint_eq((r).sl, sl_); \
		ck_assert_uint_eq((r).mtu, mtu_); \
		ck_assert_uint_eq((r).rate, rate_); \
		ck_assert_uint_eq((r).life, life_); \
	} while (0)

START_TEST(test_records)
{
	struct sa_path_record r;

	write_and_read();
	/* the link is the slower: 200 Gbit/s; full and limited members share 0x8001 */
	ck_assert(record(4, 8, 0, &r));
	EXPECT(r, 0x8001, 2, 5, 17, LIFE);
	ck_assert_uint_eq(r.sgid.prefix, PREFIX);
	ck_assert_uint_eq(r.sgid.guid, GUID_OF(4));
	ck_assert_uint_eq(r.dgid.prefix, PREFIX);
	ck_assert_uint_eq(r.dgid.guid, GUID_OF(8));
	ck_assert(r.slid == 4 && r.dlid == 8 && r.reversible == 1 && r.n_paths == 0);
	ck_assert(r.mtu_selector == SA_EXACTLY && r.rate_selector == SA_EXACTLY &&
	    r.life_selector == SA_EXACTLY && r.preference == 0 && r.hop_limit == 0);
	/* by another LID of the port, by a P_Key; 10,000 Mbit/s is less than 11 (14 Gbit/s) */
	ck_assert(record(4, 9, 0x7fff, &r));
	EXPECT(r, 0xffff, 4, 5, 17, LIFE);
	ck_assert_uint_eq(r.dlid, 9);
	ck_assert(record(4, 5, 0xffff, &r));
	EXPECT(r, 0xffff, 4, 5, 3, LIFE);
	/* a slower link at the source; two limited members share no 0x8001, but 0x8002 */
	ck_assert(record(5, 8, 0, &r));
	EXPECT(r, 0x8002, 1, 4, 16, LIFE);
	/* to itself, by any of its LIDs and any of its keys */
	ck_assert(record(5, 5, 0, &r));
	EXPECT(r, 0x0001, 2, 4, 3, 0);
	ck_assert(record(9, 8, 2, &r));
	EXPECT(r, 0x8002, 1, 5, 17, 0);
	/* the port of a switch is a destination like others */
	ck_assert(record(4, 13, 0, &r));
	EXPECT(r, 0x8001, 2, 5, 17, LIFE);
}
END_TEST

START_TEST(test_sl_of_class)
{
	struct sa_path_record r;

	maker.subnet.flags = 0;
	write_and_read();
	ck_assert(record(4, 8, 0, &r));
	EXPECT(r, 0x8001, 1, 5, 17, LIFE);
	ck_assert(record(4, 5, 0, &r));
	EXPECT(r, 0x8001, 6, 5, 3, LIFE);
}
END_TEST

START_TEST(test_for_the_sa)
{
	struct sa_path_record r;

	write_and_read();
	ck_assert(!record(4, 11, 0, &r));     /* its class says nothing */
	ck_assert(!record(4, 10, 0, &r));     /* slower than any link */
	ck_assert(!record(4, 12, 0, &r));     /* no key in common */
	ck_assert(!record(4, 8, 0x8002, &r)); /* a key of one alone */
	ck_assert(!record(4, 8, 0x8000, &r)); /* none */
	ck_assert(!record(5, 8, 0x8001, &r)); /* both limited */
	ck_assert(!record(12, 4, 0, &r));     /* no row of its leaf */
	ck_assert(!record(13, 4, 0, &r));     /* a switch */
	ck_assert(!record(14, 4, 0, &r));     /* off no switch */
	ck_assert(!record(4, 15, 0, &r));     /* gone */
	ck_assert(!record(15, 4, 0, &r));
	ck_assert(!record(4, 6, 0, &r)); /* of nobody */
	ck_assert(!record(6, 4, 0, &r));
	ck_assert(!record(4, TOP + 1, 0, &r)); /* beyond all */
	ck_assert(!record(4, 0xc000, 0, &r));
	ck_assert(!record(0xffff, 4, 0, &r));
	ck_assert(!record(0, 0, 0, &r));
	maker.subnet.flags |= BLOB_ASK_ALWAYS;
	write_and_read();
	ck_assert(!record(4, 8, 0, &r));
}
END_TEST

/* ---------------------------------------------------------------------- files */

START_TEST(test_no_file)
{
	struct fm_error err = { 0 };

	ck_assert_int_eq(paths_read(path, &p, &err), 0);
	ck_assert_ptr_null(p);
	ck_assert_int_eq(paths_read(folder, &p, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(err.msg, "not even a file"));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(paths_read(path, &p, &err), FM_E_TOPOLOGY);
	ck_assert_int_eq(paths_read("/dev/null/paths", &p, &err), FM_E_SYSTEM);
	ck_assert_int_eq(
	    paths_write("/nowhere/at/all", (struct paths_epoch){ 1, 1 }, section, &err),
	    FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nowhere/at/all"));
}
END_TEST

/* A file that is too large is refused before it is written, and before it is read. */
START_TEST(test_too_large)
{
	struct fm_error err = { 0 };
	struct stat st;
	int fd;

	section[PATHS_NAME].n = PATHS_MOST_BYTES;
	ck_assert_int_eq(
	    paths_write(path, (struct paths_epoch){ 1, 1 }, section, &err), FM_E_SYSTEM);
	ck_assert_int_eq(stat(path, &st), -1);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert(fd >= 0 && ftruncate(fd, (off_t)PATHS_MOST_BYTES + 1) == 0 && close(fd) == 0);
	ck_assert_int_eq(paths_read(path, &p, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(err.msg, "too large"));
}
END_TEST

static size_t
bytes_of_file(uint8_t *bytes, size_t room)
{
	FILE *f = fopen(path, "re");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, room, f);
	fclose(f);
	ck_assert_uint_lt(n, room);
	return n;
}

static uint8_t good[4096];
static size_t n_good;

static void
have_good(void)
{
	write_and_read();
	n_good = bytes_of_file(good, sizeof(good));
}

/* NULL: refused; err has the sentence. */
static struct paths *
taken(const uint8_t *bytes, size_t n, struct fm_error *err)
{
	uint8_t *copy = malloc(n + 1);
	struct paths *out;
	int rc;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n);
	copy = realloc(copy, n > 0 ? n : 1); /* so that a read beyond the end is seen by ASan */
	rc = paths_take(copy, n, &out, err);
	ck_assert_int_eq(rc != 0, out == NULL);
	ck_assert(rc == 0 || rc == FM_E_TOPOLOGY);
	return out;
}

/* Where the numbers of a section stand in the file. */
static size_t
section_at(enum paths_section s)
{
	return 32 + 16 * (size_t)s;
}

static void
refused(size_t at, uint64_t number, size_t n_bytes, const char *why)
{
	uint8_t bytes[sizeof(good)], word[8];
	struct fm_error err = { 0 };
	struct paths *q;

	memcpy(bytes, good, n_good);
	blob_put64(word, number);
	memcpy(bytes + at, word, n_bytes);
	q = taken(bytes, n_good, &err);
	ck_assert_msg(q == NULL, "%s: not refused", why);
	ck_assert_msg(strstr(err.msg, why) != NULL, "\"%s\" does not say \"%s\"", err.msg, why);
}

START_TEST(test_refused)
{
	size_t subnet, pkset;

	have_good();
	subnet = (size_t)blob_get64(good + section_at(PATHS_SUBNET));
	pkset = (size_t)blob_get64(good + section_at(PATHS_PKSET));
	refused(0, 'F', 1, "does not begin as one");
	refused(8, n_good + 8, 8, "another size");
	refused(section_at(PATHS_ROW), n_good + 8, 8, "outside");
	refused(section_at(PATHS_ROW), UINT64_MAX - 7, 8, "outside");
	refused(section_at(PATHS_ROW), 257, 8, "outside"); /* unaligned */
	refused(section_at(PATHS_ROW) + 8, n_good, 8, "outside");
	refused(section_at(PATHS_ROW) + 8, UINT64_MAX, 8, "outside");
	refused(section_at(PATHS_ROW) + 8, 15, 8, "a class for each LID");
	refused(section_at(PATHS_GUID) + 8, 3, 8, "within a row");
	refused(section_at(PATHS_PORT) + 8, 16, 8, "a port for each LID");
	refused(subnet, BLOB_SCHEMA + 1, 4, "another schema");
	refused(subnet + 24, TOP + 1, 2, "a port for each LID");
	refused(subnet + 24, 0xffff, 2, "makes no sense");
	refused(pkset, 0xffff, 2, "P_Keys does not end");
	refused(pkset + 14, 2, 2, "P_Keys does not end");
}
END_TEST

/* There are no more LIDs of ports than IBA has (4.1.3). */
START_TEST(test_too_many_lids)
{
	struct fm_error err = { 0 };

	maker.subnet.lid_top = 0xc000;
	maker_done(&maker, section);
	section[PATHS_ROW].n = 0;
	ck_assert_int_eq(paths_write(path, (struct paths_epoch){ 1, 1 }, section, &err), 0);
	ck_assert_int_eq(paths_read(path, &p, &err), FM_E_TOPOLOGY);
}
END_TEST

/* A name that goes on behind the end of the file. */
START_TEST(test_endless_name)
{
	uint16_t lid;

	for (uint8_t len = 7; len < 10; len++) {
		uint8_t names[8] = { len, 'n', 'o', 'd', 'e', '1', '2', '3' };

		maker_done(&maker, section);
		section[PATHS_NAME] = (struct paths_bytes){ names, sizeof(names) };
		memset(maker.section[PATHS_NAME_AT].item, 0, 4);
		section[PATHS_NAME_AT].n = 8;
		ck_assert_int_eq(paths_write(path, (struct paths_epoch){ 1, 1 }, section, NULL), 0);
		n_good = bytes_of_file(good, sizeof(good));
		paths_free(p);
		p = taken(good, n_good, NULL);
		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq(paths_lids_of_name(p, "node123", &lid, 1), len == 7);
		ck_assert_uint_eq(paths_lids_of_name(p, "node12345", &lid, 1), 0);
	}
}
END_TEST

START_TEST(test_cut_short)
{
	struct fm_error err = { 0 };

	have_good();
	for (size_t n = 0; n < n_good; n++)
		ck_assert_ptr_null(taken(good, n, &err));
}
END_TEST

/* Whatever a file says, answers are of the right form. */
static void
ask_everything(const struct paths *q, struct fm_rng *rng)
{
	static const char *const names[] = { "node1", "node2", "node12", "n" };
	struct sa_path_record r;
	struct blob_port port;
	uint16_t lid[2];

	for (uint16_t i = 0; i <= TOP + 2; i++) {
		ck_assert_uint_le(paths_lid_of_guid(q, GUID_OF(i)), paths_subnet(q)->lid_top);
		ck_assert_uint_le(paths_lid_of_ip(q, ip4((uint8_t)i)), paths_subnet(q)->lid_top);
		ck_assert(!paths_port(q, i, &port) || port.lmc <= 7);
		for (uint16_t k = 0; k <= TOP + 2; k++) {
			struct paths_query want = { i, k, (uint16_t)(fm_rng_next(rng) & 0x8003) };

			if (paths_record(q, &want, &r))
				ck_assert(r.slid == i && r.dlid == k && r.pkey != 0);
		}
	}
	for (int i = 0; i < 4; i++)
		ck_assert_uint_le(
		    paths_lids_of_name(q, names[i], lid, 2), paths_subnet(q)->lid_top);
}

/* A byte, a number of the header, or a word anywhere is something else. */
static void
spoil(uint8_t *bytes, size_t n, struct fm_rng *rng)
{
	static const uint64_t odd[] = { 0, 1, 7, 8, 0xffff, 0x10000, 0xffffffff, UINT64_MAX,
		UINT64_MAX - 7, UINT64_C(1) << 63 };
	uint8_t word[8];

	blob_put64(
	    word, fm_rng_below(rng, 2) ? odd[fm_rng_below(rng, 10)] : fm_rng_below(rng, 4096));
	switch (fm_rng_below(rng, 3)) {
	case 0:
		bytes[fm_rng_below(rng, (uint32_t)n)] ^= (uint8_t)(1 + fm_rng_below(rng, 255));
		break;
	case 1:
		memcpy(bytes + 8 + 8 * fm_rng_below(rng, 27), word, 8);
		break;
	default:
		memcpy(bytes + 2 * fm_rng_below(rng, (uint32_t)n / 2 - 4), word,
		    (size_t)1 << fm_rng_below(rng, 4));
	}
}

START_TEST(test_hostile)
{
	uint32_t n_taken = 0, n = n_cases(20000);
	struct fm_error err;

	have_good();
	for (uint32_t seed = 0; seed < n; seed++) {
		uint8_t bytes[sizeof(good)];
		struct fm_rng rng;
		struct paths *q;

		fm_rng_seed(&rng, seed);
		memcpy(bytes, good, n_good);
		for (uint32_t k = 1 + fm_rng_below(&rng, 4); k > 0; k--)
			spoil(bytes, n_good, &rng);
		q = taken(bytes, n_good, &err);
		if (q == NULL)
			continue;
		n_taken++;
		ask_everything(q, &rng);
		paths_free(q);
	}
	ck_assert_uint_gt(n_taken, n / 10); /* the cases are worth something */
	ck_assert_uint_lt(n_taken, n);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("paths file");
	TCase *t = tcase_create("paths file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_looked_up);
	tcase_add_test(t, test_records);
	tcase_add_test(t, test_sl_of_class);
	tcase_add_test(t, test_for_the_sa);
	tcase_add_test(t, test_no_file);
	tcase_add_test(t, test_too_large);
	tcase_add_test(t, test_refused);
	tcase_add_test(t, test_too_many_lids);
	tcase_add_test(t, test_endless_name);
	tcase_add_test(t, test_cut_short);
	tcase_add_test(t, test_hostile);
	suite_add_tcase(s, t);
	return run_suite(s);
}
