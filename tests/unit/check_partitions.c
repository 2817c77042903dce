/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partitions.conf: which keys it gives to whom, which groups it makes, a
 * sentence with file and line for whatever is wrong in it; and keys in tables.
 */
#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/subnet/pkey_table.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

static const struct part_port ports[] = {
	{ 0x11, PART_CA, true },
	{ 0x12, PART_CA, false },
	{ 0x13, PART_CA, false },
	{ 0x21, PART_ROUTER, false },
	{ 0x31, PART_SWITCH, false },
};
#define N_PORTS (sizeof(ports) / sizeof(ports[0]))

static struct fm_error err;
static char heard[512];

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "%s\n", text);
}

static const struct partitions *
read_text(const char *text, const struct part_options *o)
{
	const struct partitions *p = NULL;
	int rc;

	heard[0] = '\0';
	fm_log_set_sink(hear, NULL);
	rc = partitions_parse("p.conf", text, strlen(text), o, &p, NULL, &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
	return p;
}

/* "ffff|7fff 8001|..." of the ports above */
static const char *
keys_text(const struct partitions *p)
{
	static char out[512];
	uint16_t keys[64];
	size_t at = 0;

	for (size_t i = 0; i < N_PORTS; i++) {
		size_t n = partitions_keys(p, &ports[i], keys, 64);

		for (size_t k = 0; k < n; k++)
			at += (size_t)snprintf(
			    out + at, sizeof(out) - at, "%s%04x", k > 0 ? " " : "", keys[k]);
		at += (size_t)snprintf(out + at, sizeof(out) - at, i + 1 < N_PORTS ? "|" : "");
	}
	return out;
}

/* ------------------------------------------------------------ membership */

static const struct member_case {
	const char *text;
	bool both;
	const char *keys; /* 0x11 (the SM's) | 0x12 | 0x13 | router 0x21 | switch 0x31 */
} members[] = {
	/* without a rule for the default partition */
	{ "", false, "ffff|7fff|7fff|7fff|7fff" },
	{ "# nothing but a comment\n", false, "ffff|7fff|7fff|7fff|7fff" },
	{ "Default=0x7fff,ipoib:ALL=full;", false, "ffff|ffff|ffff|ffff|ffff" },
	/* by its name, by its key alone, with the highest bit; a rule for one port only */
	{ "Default : 0x12=full;", false, "ffff|ffff|7fff|7fff|7fff" },
	{ "0x7fff : 0x12=full;", false, "ffff|ffff|7fff|7fff|7fff" },
	{ "Default=0xffff : 0x12=full;", false, "ffff|ffff|7fff|7fff|7fff" },
	/* nobody takes the SM's port out */
	{ "Default=0x7fff : ALL=limited, 0x11=limited;", false, "ffff|7fff|7fff|7fff|7fff" },
	/* words */
	{ "A=1 : ALL_CAS=full; B=2 : ALL_SWITCHES, ALL_ROUTERS=full; C=3 : SELF=full, ALL_VCAS;",
	    false, "8001 8003 ffff|8001 7fff|8001 7fff|8002 7fff|0002 7fff" },
	{ "A=1 : ALL; B=2 : NONE; C=3 : ;", false,
	    "0001 ffff|0001 7fff|0001 7fff|0001 7fff|0001 7fff" },
	/* cut short, as OpenSM has it; a GUID octal, decimal, hex */
	{ "A=1, def=f : A, 022=lim; B=2,d=l : 19=f, ALL_C=b;", false,
	    "8001 8002 ffff|0001 8002 7fff|8001 8002 7fff|8001 7fff|8001 7fff" },
	/* the last rule that names a port counts, whatever it names it by */
	{ "A=1 : ALL=full, 0x12=limited;", false,
	    "8001 ffff|0001 7fff|8001 7fff|8001 7fff|8001 7fff" },
	{ "A=1 : 0x12=limited, ALL=full;", false,
	    "8001 ffff|8001 7fff|8001 7fff|8001 7fff|8001 7fff" },
	{ "A=1 : 0x12=full, 0x12=limited; A=1 : 0x12=full;", false,
	    "ffff|8001 7fff|7fff|7fff|7fff" },
	/* default membership, of one definition only */
	{ "A=1, defmember=full : 0x12, 0x13=limited; A=1 : 0x21;", false,
	    "ffff|8001 7fff|0001 7fff|0001 7fff|7fff" },
	/* in several lines, a comma at their ends or not, several in one */
	{ "A=1 :\n 0x12=full,\n 0x13 = full # rack 3\n , 0x21\n ; B = 0x2 : 0x12;", false,
	    "ffff|8001 0002 7fff|8001 7fff|0001 7fff|7fff" },
	/* keys that nobody wrote: the next free one; a name stands for its partition */
	{ "A : 0x12; B=2 : 0x12; C : 0x13; A : 0x21; : 0x31;", false,
	    "ffff|0001 0002 7fff|0003 7fff|0001 7fff|0004 7fff" },
	/* both: full where a port can have one key only */
	{ "A=1 : ALL=both, 0x12=limited;", false,
	    "8001 ffff|0001 7fff|8001 7fff|8001 7fff|8001 7fff" },
	{ "A=1 : ALL=both; B=2 : 0x12=limited, 0x12=full; C=3 : 0x13;", true,
	    "8001 0001 ffff|8001 0001 8002 7fff|8001 0001 0003 7fff|8001 0001 7fff|"
	    "8001 0001 7fff" },
	/* by opensm 3.3.23 on ibsim: the last rule counts there, too */
	{ "Default=0x7fff : ALL=limited, SELF=full; A=1 : ALL=both, 0x12=limited, 0x13=full; B=2 : "
	  "0x12=full, 0x12=both, 0x13=both; B=2 : 0x13=limited;",
	    true,
	    "8001 0001 ffff|0001 8002 0002 7fff|8001 0002 7fff|8001 0001 7fff|8001 0001 7fff" },
	{ "Default=0x7fff : ALL=limited, SELF=both;", true, "ffff 7fff|7fff|7fff|7fff|7fff" },
	{ "Default=0x7fff : ALL=limited;", true, "ffff|7fff|7fff|7fff|7fff" },
};

START_TEST(test_members)
{
	const struct member_case *c = &members[_i];
	struct part_options o = { .both_keys = c->both };
	const struct partitions *p = read_text(c->text, &o);

	ck_assert_str_eq(keys_text(p), c->keys);
	partitions_put(p);
}
END_TEST

/* What OpenSM takes in silence, in a way that few mean. */
static const struct {
	const char *text, *said;
} odd[] = {
	{ "A=0x8001 : 0x12=full;\nB=0x0001 : 0x13=full;",
	    "p.conf:2: P_Key 0x0001 is that of partition \"A\" of line 1: what stands under \"B\" "
	    "is added to it\n" },
	{ "A=0x0 : 0x12=full;",
	    "p.conf:1: P_Key 0x0000 is none that a partition may have: it gets 0x0001, the next "
	    "that nobody has\n" },
	{ "A=1 : 0x12=full,\n0x12=limited;",
	    "port 0x0000000000000012 is a full member of partition 0x0001 by line 1 and a limited "
	    "one by line 2: the last one counts\n" },
	{ "Default=0x7fff : ALL=limited, SELF=full;\nA : 0x12=full;\nA : 0x13;\nMine=0x7fff : "
	  "0x12;",
	    "" },
};

START_TEST(test_odd)
{
	partitions_put(read_text(odd[_i].text, &(struct part_options){ 0 }));
	ck_assert_str_eq(heard, odd[_i].said);
}
END_TEST

/* Where a port can have both keys, the last rule still counts, and that is said. */
START_TEST(test_odd_of_both)
{
	partitions_put(read_text(
	    "A=1 : 0x12=both,\n0x12=limited;", &(struct part_options){ .both_keys = true }));
	ck_assert_str_eq(heard,
	    "port 0x0000000000000012 is a full and limited member of partition 0x0001 by line 1 "
	    "and a limited one by line 2: the last one counts\n");
}
END_TEST

/* Forty thousand heads without keys, and as many groups, cost a walk over the file each. */
START_TEST(test_many)
{
	enum { N = 40000 };
	char *text = malloc(N * 40);
	const struct partitions *p = NULL;
	size_t at = 0, n;

	for (unsigned i = 0; i < N; i++)
		at += (size_t)snprintf(text + at, 40, "p%u, ipoib : 0x%x=full;\n", i, i + 1);
	ck_assert_int_eq(
	    partitions_parse("p.conf", text, at, &(struct part_options){ 0 }, &p, NULL, &err),
	    FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "p.conf:32767: no P_Key is left for this partition");
	at = (size_t)(strstr(text, "p32766,") - text);
	ck_assert_int_eq(
	    partitions_parse("p.conf", text, at, &(struct part_options){ 0 }, &p, NULL, &err), 0);
	partitions_list(p, &n);
	ck_assert_uint_eq(n, 32767);
	partitions_put(p);
	free(text);
}
END_TEST

START_TEST(test_without_a_file)
{
	struct part_options o = { 0 };
	const struct partitions *p = NULL;
	const struct part_group *g;
	size_t n;

	ck_assert_int_eq(partitions_default(&o, &p, NULL, &err), 0);
	ck_assert_str_eq(keys_text(p), "ffff|ffff|ffff|ffff|ffff");
	g = partitions_groups(p, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(g[0].broadcast && g[0].pkey == 0xffff && g[0].qkey == 0x0b1b);
	partitions_put(p);
}
END_TEST

START_TEST(test_list)
{
	struct part_options o = { .qos = true };
	const struct partitions *p =
	    read_text("Storage=0x20, ipoib, sl=3, indx0 : 0x12; Jobs=0x8010 : 0x13;", &o);
	const struct partition *list;
	size_t n;

	list = partitions_list(p, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(list[0].pkey, 0x10);
	ck_assert_uint_eq(list[1].pkey, 0x20);
	ck_assert_uint_eq(list[2].pkey, 0x7fff);
	ck_assert(list[1].ipoib && list[1].index0 && list[1].sl == 3 && list[1].line == 1);
	ck_assert(!list[0].ipoib && !list[0].index0 && list[0].sl == 0);
	ck_assert_ptr_eq(partitions_named(p, "Jobs"), &list[0]);
	ck_assert_ptr_eq(partitions_find(p, 0x8020), &list[1]);
	ck_assert_ptr_null(partitions_find(p, 0x21));
	ck_assert_ptr_null(partitions_named(p, "jobs"));
	partitions_put(p);
}
END_TEST

/* ---------------------------------------------------------------- groups */

static const struct group_case {
	const char *text;
	bool qos;
	const char *groups; /* "MGID pkey qkey mtu rate sl tclass flow", a line each */
} groups[] = {
	{ "Default=0x7fff, ipoib : ALL=full;", false,
	    "ff12:401b:ffff::ffff:ffff ffff b1b 4 3 0 0 0\n" },
	{ "Default, ipoib : ALL=full;", false, "ff12:401b:ffff::ffff:ffff ffff b1b 4 3 0 0 0\n" },
	{ "X=5, ipoib, rate=7, mtu=5, sl=2, Q_Key=0x1, TClass=4, FlowLabel=9 : ALL;", true,
	    "ff12:401b:8005::ffff:ffff 8005 1 5 7 2 4 9\n" },
	/* no QoS: no SL; a key that nobody wrote */
	{ "X, ipoib, sl=2 : ALL;", false, "ff12:401b:8001::ffff:ffff 8001 b1b 4 3 0 0 0\n" },
	{ "X=5, ipoib, scope=3, scope=5 : ALL;", false,
	    "ff13:401b:8005::ffff:ffff 8005 b1b 4 3 0 0 0\n"
	    "ff15:401b:8005::ffff:ffff 8005 b1b 4 3 0 0 0\n" },
	{ "X=5, ipoib, rate=6, mtu=5:\n"
	  "  mgid=ff12:401b::0707, sl=1  # IPv4\n"
	  "  mgid=ff12:601b:8005::16, qkey=2\n"
	  "  mgid=ff12::7, rate=3, mtu=4\n"
	  "  mgid=ff12:401b:ffff::ffff:ffff\n" /* the partition's own: there already */
	  "  ALL=full;",
	    true,
	    "ff12:401b:8005::ffff:ffff 8005 b1b 5 6 0 0 0\n"
	    "ff12:401b:8005::707 8005 b1b 5 6 1 0 0\n"
	    "ff12:601b:8005::16 8005 2 5 6 0 0 0\n"
	    "ff12::7 8005 0 4 3 0 0 0\n" },
};

START_TEST(test_groups)
{
	const struct group_case *c = &groups[_i];
	struct part_options o = { .qos = c->qos };
	const struct partitions *p = read_text(c->text, &o);
	const struct part_group *g;
	char out[1024] = "", gid[INET6_ADDRSTRLEN];
	size_t n, at = 0;

	g = partitions_groups(p, &n);
	for (size_t i = 0; i < n; i++) {
		inet_ntop(AF_INET6, g[i].mgid, gid, sizeof(gid));
		ck_assert_uint_eq(g[i].scope, g[i].mgid[1] & 0xf);
		ck_assert_uint_eq(g[i].broadcast, strstr(gid, "ffff:ffff") != NULL);
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s %04x %x %u %u %u %u %u\n",
		    gid, g[i].pkey, g[i].qkey, g[i].mtu, g[i].rate, g[i].sl, g[i].tclass,
		    g[i].flow_label);
	}
	ck_assert_str_eq(out, c->groups);
	ck_assert_str_eq(heard, "");
	partitions_put(p);
}
END_TEST

START_TEST(test_group_twice)
{
	struct part_options o = { 0 };
	const struct partitions *p =
	    read_text("X=5 : mgid=ff12::7\n mgid=ff12::7,rate=4\n ALL;", &o);
	size_t n;

	ck_assert_uint_eq(partitions_groups(p, &n)[0].rate, 3);
	ck_assert_uint_eq(n, 1);
	ck_assert_ptr_nonnull(strstr(heard, "p.conf:2:"));
	partitions_put(p);
}
END_TEST

/* -------------------------------------------------------------- mistakes */

static const struct mistake {
	const char *text, *sentence;
} mistakes[] = {
	{ "\n\nDefault 0x7fff ALL=full;", "p.conf:3: \"Default 0x7fff ALL=full\" begins no" },
	{ "A=1 : ALL=full\nstor=0x2 : 0x1;",
	    "p.conf:2: \"stor=0x2 : 0x1\" would stand in the partition that begins in line 1: a ; "
	    "is missing at its end" },
	{ "A=1 : ALL=full stor=0x2 : 0x1;",
	    "p.conf:1: \"ALL=full stor=0x2 : 0x1\" would stand in the partition that begins in "
	    "line 1: a ; is missing at its end" },
	{ "A=1 ipoib : ALL;",
	    "p.conf:1: P_Key=1 ipoib: must be 0..65535 (0xffff), with a comma "
	    "behind it" },
	{ "A=1, ipoib, mtu=2048 : ALL;",
	    "p.conf:1: mtu=2048: must be 1..5 (0x5), for 256, 512, 1024, 2048 and 4096 bytes" },
	{ "A=1, ipoib, rate=100 : ALL;",
	    "p.conf:1: rate=100: must be 2..63 (0x3f), a code: 3 is 10, 7 is 40, 12 is 56, 16 is "
	    "100" },
	{ "A=1 : 0x12g;", "p.conf:1: \"0x12g\" is no port" },
	{ "A=1 :\n 0x12,\n 2c90300=full;", "p.conf:3: \"2c90300" },
	{ "A=1 : 0;", "p.conf:1: \"0\" is no port" },
	{ "A=1 : all;", "p.conf:1: \"all\" is no port" },
	{ "A=1 : ALL=fool;", "p.conf:1: \"fool\" is no membership: full, limited or both" },
	{ "A=1, defmember : ALL;", "p.conf:1: \"\" is no membership" },
	{ "A=0x10000 : ALL;", "p.conf:1: P_Key=0x10000: must be 0..65535" },
	{ "A=x : ALL;", "p.conf:1: P_Key=x" },
	{ "A=-1 : ALL;", "p.conf:1: P_Key=-1" },
	{ "A=1, ipiob : ALL;", "p.conf:1: unknown flag \"ipiob\"" },
	{ "A=1, ipoib, mtu=6 : ALL;", "p.conf:1: mtu=6: must be 1..5" },
	{ "A=1, ipoib, mtu : ALL;", "p.conf:1: mtu=: must be 1..5" },
	{ "A=1, ipoib, rate=10 Gbps : ALL;", "p.conf:1: rate=10 Gbps" },
	{ "A=1, sl=16 : ALL;", "p.conf:1: sl=16: must be 0..15" },
	{ "A=1, scope=0 : ALL;", "p.conf:1: scope=0: must be 1..15" },
	{ "A=1, FlowLabel=0x100000 : ALL;", "p.conf:1: FlowLabel=0x100000" },
	{ "A=1 : mgid=fe80::1;", "p.conf:1: mgid=fe80::1: not a multicast GID" },
	{ "A=1 : mgid=ff12:;", "p.conf:1: mgid=ff12:" },
	{ "A=1 : mgid=ff12::1, 0x12;", "p.conf:1: \"0x12\" says nothing of a group" },
	{ "A=1 : mgid=ff12:401b:8002::1;", "p.conf:1: mgid names P_Key 0x8002, but the partition" },
	{ "A=1, rate=6 : mgid=ff12:401b::1, rate=3;", "p.conf:1: rate=3, mtu=4 of this IP group" },
	{ "A : 0x12;\nB=1 : 0x13;",
	    "p.conf:2: P_Key 0x0001 has been given to the partition of line 1" },
	{ "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=1 : ALL;", "longer than 32" },
};

START_TEST(test_mistakes)
{
	const struct mistake *m = &mistakes[_i];
	struct part_options o = { 0 };
	const struct partitions *p = (const struct partitions *)&o;

	ck_assert_int_eq(
	    partitions_parse("p.conf", m->text, strlen(m->text), &o, &p, NULL, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, m->sentence) != NULL, "%s", err.msg);
	ck_assert_ptr_eq(p, &o); /* nothing is handed out */
}
END_TEST

START_TEST(test_no_end)
{
	struct part_options o = { 0 };
	const struct partitions *p = read_text("A=1 : 0x12=full;\n\nB=2 : 0x12=full,\n0x13\n", &o);

	ck_assert_str_eq(keys_text(p), "ffff|8001 8002 7fff|0002 7fff|7fff|7fff");
	ck_assert_ptr_nonnull(strstr(heard, "p.conf:3: the partition that begins here has no"));
	partitions_put(p);
}
END_TEST

START_TEST(test_mark)
{
	static const char *const texts[] = { "A=1:0x12;", "A=1:0x12=full;", "A=1:0x13;",
		"A=2:0x12;", "A=1:ALL;", "A=1,ipoib:0x12;", "A=1,indx0:0x12;", "A=1:0x12;B=2:;" };
	struct part_options o = { 0 };
	const struct partitions *p, *q;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
			p = read_text(texts[i], &o);
			q = read_text(texts[j], &o);
			ck_assert_int_eq(partitions_mark(p) == partitions_mark(q), i == j);
			partitions_put(p);
			partitions_put(q);
		}
	p = read_text("A=1:0x12;", &o);
	q = read_text("# the same\n Other = 0x1 :\n 0x12 ;", &o);
	ck_assert(partitions_mark(p) == partitions_mark(q));
	partitions_put(p);
	partitions_put(q);
}
END_TEST

/* ----------------------------------------------------------------- share */

static const struct share_case {
	uint16_t a[4], b[4]; /* up to 0 */
	bool share;
	uint16_t common; /* of a */
} shares[] = {
	{ { 0xffff }, { 0x7fff }, true, 0xffff },
	{ { 0x7fff }, { 0xffff }, true, 0x7fff },
	{ { 0x7fff }, { 0x7fff }, false, 0 },
	{ { 0x8001, 0x7fff }, { 0x8002, 0x7fff }, false, 0 },
	{ { 0x8001, 0xffff }, { 0x0001, 0xffff }, true, 0x8001 },
	{ { 0x0001, 0x8003, 0x7fff }, { 0x0001, 0x0003, 0x7fff }, true, 0x8003 },
	{ { 0x8001, 0x0001, 0x7fff }, { 0x0001, 0x7fff }, true, 0x8001 },
	{ { 0x0001, 0x7fff }, { 0x8001, 0x0001, 0x7fff }, true, 0x0001 },
	{ { 0 }, { 0xffff }, false, 0 },
};

static struct pkey_list
list_of(const uint16_t *keys)
{
	struct pkey_list l = { keys, 0 };

	while (l.n < 4 && keys[l.n] != 0)
		l.n++;
	return l;
}

START_TEST(test_share)
{
	const struct share_case *c = &shares[_i];
	struct pkey_list a = list_of(c->a), b = list_of(c->b);

	ck_assert_int_eq(pkeys_share(&a, &b), c->share);
	ck_assert_int_eq(pkeys_share(&b, &a), c->share);
	ck_assert_uint_eq(pkeys_common(&a, &b), c->common);
	ck_assert_int_eq(pkeys_share_this(&a, &b, c->common), c->share);
	ck_assert(!pkeys_share_this(&a, &b, 0x1234));
}
END_TEST

START_TEST(test_port_pkeys)
{
	struct part_options o = { 0 };
	const struct partitions *p = read_text("A=1 : 0x12=full, 0x13; B=2 : 0x21=full;", &o);
	struct port_pkeys_builder *b = port_pkeys_begin(p);
	struct pkey_list l, sw;
	struct port_pkeys *pp;

	for (size_t i = 0; i < N_PORTS; i++)
		ck_assert(port_pkeys_add(b, &ports[i], &l));
	sw = l;
	ck_assert(port_pkeys_add(b, &(struct part_port){ 0x32, PART_SWITCH, false }, &l));
	ck_assert_ptr_eq(sw.keys, l.keys); /* equal lists are one */
	pp = port_pkeys_end(b);
	partitions_put(p);
	l = port_pkeys_find(pp, 0x12);
	ck_assert_uint_eq(l.n, 2);
	ck_assert_uint_eq(l.keys[0], 0x8001);
	ck_assert_uint_eq(port_pkeys_find(pp, 0x99).n, 0);
	ck_assert(port_pkeys_share(pp, 0x12, 0x13));
	ck_assert(port_pkeys_share(pp, 0x11, 0x31)); /* the SM and anybody */
	ck_assert(!port_pkeys_share(pp, 0x12, 0x21));
	ck_assert(!port_pkeys_share(pp, 0x31, 0x32));
	ck_assert(!port_pkeys_share(pp, 0x12, 0x99));
	port_pkeys_put(port_pkeys_get(pp));
	port_pkeys_put(pp);
}
END_TEST

/* ---------------------------------------------------------------- tables */

static const struct lay_case {
	uint16_t held[4], wish[4];
	uint16_t index0;
	bool keep;
	uint16_t out[4];
} lays[] = {
	/* a blank table: the default partition first */
	{ { 0 }, { 0x8001, 0x8002, 0xffff }, 0, true, { 0xffff, 0x8001, 0x8002 } },
	/* what stays keeps its place, also as another member */
	{ { 0xffff, 0x8005, 0x8002 }, { 0x8001, 0x8002, 0x7fff }, 0, true,
	    { 0x7fff, 0x8001, 0x8002 } },
	{ { 0x8001, 0, 0xffff }, { 0x8001, 0xffff }, 0, true, { 0x8001, 0, 0xffff } },
	{ { 0x8001, 0, 0xffff }, { 0x8001, 0xffff }, 0, false, { 0xffff, 0x8001 } },
	/* index0 changes places with whoever is there */
	{ { 0xffff, 0x8001 }, { 0x8001, 0xffff }, 0x8001, true, { 0x8001, 0xffff } },
	{ { 0xffff }, { 0x8001, 0xffff }, 0x8001, true, { 0x8001, 0xffff } },
	/* a key that stands twice, one that is none */
	{ { 0xffff, 0x8000, 0xffff, 0x8001 }, { 0x8001, 0xffff }, 0, true,
	    { 0xffff, 0, 0, 0x8001 } },
	/* both memberships of one partition */
	{ { 0x8001 }, { 0x8001, 0x0001, 0x7fff }, 0, true, { 0x8001, 0x7fff, 0x0001 } },
	/* full */
	{ { 0x8001, 0x8002, 0x8003, 0xffff }, { 0x8002, 0x8004, 0x8005, 0x7fff }, 0, true,
	    { 0x8004, 0x8002, 0x8005, 0x7fff } },
};

START_TEST(test_lay)
{
	const struct lay_case *c = &lays[_i];
	struct pkey_wish w = { list_of(c->wish), c->index0, c->keep };
	uint16_t out[4];

	pkey_table_lay(c->held, 4, &w, out);
	for (int i = 0; i < 4; i++)
		ck_assert_msg(out[i] == c->out[i], "[%d] = 0x%04x", i, out[i]);
}
END_TEST

START_TEST(test_cut)
{
	static const uint16_t keys[] = { 0x8001, 0x8002, 0x8003, 0x8004, 0xffff };
	struct pkey_wish w = { { keys, 5 }, 0x8004, true };
	uint16_t some[3], held[3] = { 0 }, out[3];

	ck_assert_uint_eq(pkey_wish_cut(&w, 5, some), 0);
	ck_assert_uint_eq(pkey_wish_cut(&w, 3, some), 2);
	pkey_table_lay(held, 3, &w, out);
	ck_assert_uint_eq(out[0], 0x8004);
	ck_assert_uint_eq(out[1], 0xffff);
	ck_assert_uint_eq(out[2], 0x8001);
}
END_TEST

static size_t
count_of(const uint16_t *table, size_t n, uint16_t key)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += table[i] == key;
	return found;
}

/* Random tables and wishes: what is wished for is there, once, nothing else is; what
 * was there and stays has not moved; the table between old and new lets both pass. */
START_TEST(test_lay_random)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, 7);
	for (int round = 0; round < 2000; round++) {
		uint16_t held[32], wish[32], out[32], between[32];
		struct pkey_wish w = { { wish, 0 }, 0, true };

		for (int i = 0; i < 32; i++)
			held[i] = fm_rng_below(&rng, 3)
			    ? (uint16_t)(fm_rng_below(&rng, 40) | fm_rng_below(&rng, 2) << 15)
			    : 0;
		for (uint16_t key = 1; key < 40 && w.keys.n < 32; key++)
			if (fm_rng_below(&rng, 2))
				wish[w.keys.n++] = (uint16_t)(key | fm_rng_below(&rng, 2) << 15);
		pkey_table_lay(held, 32, &w, out);
		for (uint32_t i = 0; i < w.keys.n; i++)
			ck_assert_uint_eq(count_of(out, 32, wish[i]), 1);
		ck_assert_uint_eq(count_of(out, 32, 0), 32 - w.keys.n);
		for (int i = 0; i < 32; i++)
			if (held[i] != 0 && count_of(held, 32, held[i]) == 1 &&
			    count_of(out, 32, held[i]) == 1)
				ck_assert_uint_eq(out[i], held[i]);
		pkey_table_add(held, 32, out, between);
		for (int i = 0; i < 32; i++) {
			if ((held[i] & 0x7fff) != 0)
				ck_assert_uint_eq(between[i], held[i]);
			if (out[i] != 0 && count_of(held, 32, 0) >= w.keys.n)
				ck_assert_uint_ge(count_of(between, 32, out[i]), 1);
		}
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("partitions");
	TCase *t = tcase_create("file");

#define LOOP(test, cases) tcase_add_loop_test(t, test, 0, (int)(sizeof(cases) / sizeof((cases)[0])))
	LOOP(test_members, members);
	tcase_add_test(t, test_without_a_file);
	tcase_add_loop_test(t, test_odd, 0, sizeof(odd) / sizeof(odd[0]));
	tcase_add_test(t, test_odd_of_both);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_list);
	LOOP(test_groups, groups);
	tcase_add_test(t, test_group_twice);
	LOOP(test_mistakes, mistakes);
	tcase_add_test(t, test_no_end);
	tcase_add_test(t, test_mark);
	suite_add_tcase(s, t);
	t = tcase_create("keys");
	LOOP(test_share, shares);
	tcase_add_test(t, test_port_pkeys);
	LOOP(test_lay, lays);
	tcase_add_test(t, test_cut);
	tcase_add_test(t, test_lay_random);
	suite_add_tcase(s, t);
	return run_suite(s);
}
