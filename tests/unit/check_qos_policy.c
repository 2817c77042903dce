/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's QoS policy file: which level each query gets, and a sentence with
 * file and line for whatever is wrong.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/subnet/qos_policy.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

static struct fm_error err;
static const struct partitions *parts;

static void
setup(void)
{
	static const char text[] = "Part One=0x10 : ALL; Two=0x20 : 0x2=full;";
	struct part_options o = { .qos = true };

	ck_assert_int_eq(partitions_parse("p", text, strlen(text), &o, &parts, NULL, &err), 0);
}

static void
teardown(void)
{
	partitions_put(parts);
}

static const struct qos_policy *
read_text(const char *text)
{
	const struct qos_policy *p = NULL;

	ck_assert_msg(qos_policy_parse("q.conf", text, strlen(text), parts, &p, NULL, &err) == 0,
	    "%s", err.msg);
	return p;
}

/* ---------------------------------------------------------------- matching */

static const uint16_t everybody[] = { 0x0010, 0x7fff }, two[] = { 0x0010, 0x8020, 0x7fff };
static const struct qos_end ends[] = {
	{ { 0x1, PART_CA, true }, 1, "sm host", { everybody, 2 } },
	{ { 0x2, PART_CA, false }, 1, "vs1 HCA-1", { two, 3 } },
	{ { 0x3, PART_CA, false }, 2, "vs1 HCA-1", { everybody, 2 } },
	{ { 0x4, PART_ROUTER, false }, 1, "gate", { everybody, 2 } },
	{ { 0x5, PART_SWITCH, false }, 0, NULL, { everybody, 2 } },
};

static const char whole[] =
    "port-groups\n"
    "  port-group  # by GUID\n"
    "    name: Storage\n"
    "    use: SRP, with a comma: and a colon\n"
    "    port-guid: 0x4, 0x100-0x200\n"
    "    port-guid: 0x3\n"
    "  end-port-group\n"
    "  port-group\n    name: Virtual Servers\n    port-name: vs1 HCA-1/P1, vs2 HCA-1/P1\n  "
    "end-port-group\n"
    "  port-group\n    name: Members\n    partition: Two\n  end-port-group\n"
    "  port-group\n    name: Few\n    pkey: 0x8020-0x8021\n    node-type: SWITCH, SELF\n  "
    "end-port-group\n"
    "  Port-Group\n    Name: all\n    Node-Type: all\n  End-Port-Group\n"
    "end-port-groups\n"
    "qos-setup\n  vlarb-tables\n    whatever : stands here\n  end-vlarb-tables\nend-qos-setup\n"
    "qos-ulps\n  default : 9\n  any, pkey 0x10 : 10\n  any, target-port-guid 0x5 : "
    "11\nend-qos-ulps\n"
    "qos-match-rules\n"
    "  qos-match-rule\n    use: by class\n    qos-class: 7-9,11\n    qos-level-name: whole set\n  "
    "end-qos-match-rule\n"
    "  qos-match-rule\n    destination: Storage\n    service-id: 0x10, 0x20-0x2f\n    "
    "qos-level-name: Two\n  end-qos-match-rule\n"
    "  qos-match-rule\n    source: Virtual Servers, Few\n    destination: STORAGE\n    "
    "qos-level-name: Three\n  end-qos-match-rule\n"
    "  qos-match-rule\n    source: Members\n    destination: all\n    pkey: 0x0F00-0x0FFF\n    "
    "qos-class: 1\n    service-id: 5\n    qos-level-name: Four\n  end-qos-match-rule\n"
    "end-qos-match-rules\n"
    "qos-levels\n"
    "  qos-level\n    name: DEFAULT\n    use: the rest\n    sl: 0\n  end-qos-level\n"
    "  qos-level\n    name: Whole Set\n    sl: 1\n    mtu-limit: 4\n    rate-limit: 5\n    "
    "packet-life: 8\n    pkey: 0x1234, 0x8010-0x8020\n    path-bits: 1,62-65\n  end-qos-level\n"
    "  qos-level\n    name: Two\n    sl: 2\n  end-qos-level\n"
    "  qos-level\n    name: Three\n    sl: 3\n  end-qos-level\n"
    "  qos-level\n    name: Four\n    sl: 4\n  end-qos-level\n"
    "end-qos-levels\n";

/* -1: the query does not say. */
static const struct match_case {
	int source, dest; /* of ends */
	int64_t service_id, qos_class, pkey;
	unsigned sl;
} matches[] = {
	{ 0, 1, -1, -1, -1, 0 },
	{ 0, 1, -1, 7, -1, 1 },
	{ 0, 1, -1, 9, -1, 1 },
	{ 0, 1, -1, 10, -1, 0 },
	{ 0, 1, -1, 11, -1, 1 },
	{ 4, 3, 0x10, -1, -1, 2 }, /* by GUID of the destination, and service */
	{ 4, 3, 0x11, -1, -1, 3 }, /* the rule after it: a switch to Storage */
	{ 4, 2, 0x2f, -1, -1, 2 },
	{ 4, 0, 0x2f, -1, -1, 0 }, /* not to Storage */
	{ 2, 3, 0x30, -1, -1, 0 }, /* vs1 HCA-1/P2 is not P1 */
	{ 1, 3, -1, -1, -1, 3 },   /* vs1 HCA-1/P1 */
	{ 0, 3, -1, -1, -1, 3 },   /* SELF */
	{ 3, 2, -1, -1, -1, 0 },
	{ 1, 0, 5, 1, 0xf00, 4 }, /* all of it */
	{ 1, 0, 5, 1, 0x8fff, 4 },
	{ 1, 0, 5, 1, 0x1000, 0 },
	{ 1, 0, 5, 1, -1, 0 },
	{ 1, 0, 5, -1, 0xf00, 0 },
	{ 1, 0, -1, 1, 0xf00, 0 },
	{ 2, 0, 5, 1, 0xf00, 0 },   /* not in partition Two */
	{ 2, 0, -1, -1, 0x10, 10 }, /* ulps after the rules */
	{ 2, 4, -1, -1, 0x8010, 10 },
	{ 2, 4, -1, -1, 0x20, 11 },
	{ 2, 4, -1, 7, 0x10, 1 },
};

START_TEST(test_match)
{
	const struct match_case *c = &matches[_i];
	const struct qos_policy *p = read_text(whole);
	struct qos_query q = { .source = &ends[c->source],
		.dest = &ends[c->dest],
		.has_service_id = c->service_id >= 0,
		.has_qos_class = c->qos_class >= 0,
		.has_pkey = c->pkey >= 0,
		.service_id = (uint64_t)c->service_id,
		.qos_class = (uint16_t)c->qos_class,
		.pkey = (uint16_t)c->pkey };

	ck_assert_uint_eq(qos_policy_match(p, &q)->sl, c->sl);
	qos_policy_put(p);
}
END_TEST

START_TEST(test_levels)
{
	const struct qos_policy *p = qos_policy_get(read_text(whole));
	struct qos_query q = {
		.source = &ends[0], .dest = &ends[0], .has_qos_class = true, .qos_class = 8
	};
	const struct qos_level *l = qos_policy_match(p, &q);
	size_t n;

	ck_assert_str_eq(l->name, "Whole Set");
	ck_assert(l->has_sl && l->has_mtu && l->has_rate && l->has_life && l->has_path_bits);
	ck_assert_uint_eq(l->mtu_limit, 4);
	ck_assert_uint_eq(l->rate_limit, 5);
	ck_assert_uint_eq(l->packet_life, 8);
	ck_assert_uint_eq(l->path_bits[0], UINT64_C(0xc000000000000002));
	ck_assert_uint_eq(l->path_bits[1], 3);
	ck_assert(qos_level_allows(l, 0x1234) && qos_level_allows(l, 0x9234));
	ck_assert(qos_level_allows(l, 0x0015) && !qos_level_allows(l, 0x0021));
	q.has_qos_class = false;
	l = qos_policy_match(p, &q);
	ck_assert_str_eq(l->name, "DEFAULT");
	ck_assert(!l->has_mtu && !l->has_rate && !l->has_life && !l->has_path_bits);
	ck_assert(qos_level_allows(l, 0x7777));
	qos_policy_levels(p, &n);
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(qos_policy_n_rules(p), 6);
	qos_policy_put(p);
	qos_policy_put(p);
}
END_TEST

static const struct ulp_case {
	const char *line;
	int source, dest;
	int64_t service_id, pkey;
	bool match;
} ulps[] = {
	{ "sdp : 5", 0, 1, 0x10000, -1, true }, { "sdp : 5", 0, 1, 0x1ffff, -1, true },
	{ "sdp : 5", 0, 1, 0x20000, -1, false }, { "sdp : 5", 0, 1, -1, -1, false },
	{ "sdp, port-num 30000 : 5", 0, 1, 0x10000 + 30000, -1, true },
	{ "sdp, port-num 30000 : 5", 0, 1, 0x10000 + 30001, -1, false },
	{ "sdp, port-num 10000-20000, 7:5", 0, 1, 0x10007, -1, true },
	{ "rds : 5", 0, 1, 0x10648ca, -1, true }, { "rds : 5", 0, 1, 0x10648cb, -1, false },
	{ "rds, port-num 1 : 5", 0, 1, 0x1060001, -1, true },
	{ "iser : 5", 0, 1, 0x1060cbc, -1, true },
	{ "iSER, port-num 900 : 5", 0, 1, 0x1060384, -1, true },
	{ "ipoib : 5", 0, 1, -1, 0x7fff, true }, { "ipoib : 5", 0, 1, -1, 0xffff, true },
	{ "ipoib : 5", 0, 1, -1, 0x10, false }, { "ipoib : 5", 0, 1, -1, -1, false },
	{ "ipoib, pkey 0x8010 : 5", 0, 1, -1, 0x10, true },
	{ "srp, target-port-guid 0x2 : 5", 0, 1, -1, -1, true },
	{ "srp, target-port-guid 0x2 : 5", 1, 0, -1, -1, false },
	{ "any, source-port-guid 0x2-0x3 : 5", 2, 0, -1, -1, true },
	{ "any, source-port-guid 0x2-0x3 : 5", 0, 2, -1, -1, false },
	{ "any, source-target-port-guid 0x3 : 5", 0, 2, -1, -1, true },
	{ "any, source-target-port-guid 0x3 : 5", 2, 0, -1, -1, true },
	{ "any, source-target-port-guid 0x3 : 5", 1, 0, -1, -1, false },
	{ "any, service-id 0x9-0x6 : 5", 0, 1, 7, -1, true }, /* the other way round, too */
};

START_TEST(test_ulps)
{
	const struct ulp_case *c = &ulps[_i];
	const struct qos_policy *p;
	struct qos_query q = { .source = &ends[c->source],
		.dest = &ends[c->dest],
		.has_service_id = c->service_id >= 0,
		.has_pkey = c->pkey >= 0,
		.service_id = (uint64_t)c->service_id,
		.pkey = (uint16_t)c->pkey };
	char text[256];

	snprintf(text, sizeof(text), "qos-ulps\n default : 0\n %s # x\nend-qos-ulps\n", c->line);
	p = read_text(text);
	ck_assert_uint_eq(qos_policy_match(p, &q)->sl, c->match ? 5 : 0);
	qos_policy_put(p);
}
END_TEST

/* What a rule by P_Key alone gives to a partition. */
START_TEST(test_partition_sl)
{
	const struct qos_policy *p = read_text(whole);
	uint8_t sl = 99;

	ck_assert(qos_policy_partition_sl(p, 0x8010, &sl));
	ck_assert_uint_eq(sl, 10);
	ck_assert(!qos_policy_partition_sl(p, 0x0f00, &sl));
	qos_policy_put(p);
}
END_TEST

/* ---------------------------------------------------------------- mistakes */

#define LEVEL "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nend-qos-levels\n"
#define GROUP(line) "port-groups\nport-group\nname: g\n" line "\nend-port-group\nend-port-groups\n"
#define RULE(lines) \
	LEVEL "qos-match-rules\nqos-match-rule\n" lines \
	      "\nend-qos-match-rule\nend-qos-match-rules\n"
#define ULP(line) "qos-ulps\ndefault: 0\n" line "\nend-qos-ulps\n"

static const struct mistake {
	const char *text, *sentence;
} mistakes[] = {
	{ "", "q.conf:1: a level is lacking for whatever no rule matches" },
	{ "qos-level\n", "q.conf:1: \"qos-level\" begins no section" },
	{ "qos-levels\nname: x\n",
	    "q.conf:2: \"name: x\" is neither qos-level nor end-qos-levels" },
	{ "\nqos-levels\n", "q.conf:2: this qos-levels has no end-qos-levels" },
	{ "qos-levels\nqos-level\nname: x\n", "q.conf:2: this qos-level has no end-qos-level" },
	{ "qos-levels\nqos-level\nsl: 1\nend-qos-level\n",
	    "q.conf:4: the qos-level of line 2 has no" },
	{ "qos-levels\nqos-level\nsl: 16\n", "q.conf:3: \"16\" is no number 0..15" },
	{ "qos-levels\nqos-level\nsl\n", "q.conf:3: \"sl\" is neither" },
	{ "qos-levels\nqos-level\nsl:\n", "q.conf:3: sl has no value" },
	{ "qos-levels\nqos-level\nmtu-limt: 1\n", "unknown key mtu-limt: did you mean mtu-limit?" },
	{ "qos-levels\nqos-level\nname: x\nname: y\n", "q.conf:4: this is said twice" },
	{ LEVEL LEVEL, "q.conf:11: the qos-level \"DEFAULT\" is there already, in line 2" },
	{ "qos-levels\nqos-level\npath-bits: 128\n", "q.conf:3: \"128\" is no number 0..127" },
	{ GROUP("port-guid: 0x1, x"), "q.conf:4: \"x\" is no number" },
	{ GROUP("port-guid: 0x1-"), "q.conf:4: \"\" is no number" },
	{ GROUP("port-name: vs1"), "q.conf:4: \"vs1\" is no DESCRIPTION/Pn" },
	{ GROUP("port-name: vs1/P300"), "q.conf:4: \"300\" is no number 0..254" },
	{ GROUP("partition: Three"), "q.conf:4: no partition is named \"Three\"" },
	{ GROUP("node-type: HCA"), "q.conf:4: \"HCA\" is no node-type: CA, SWITCH" },
	{ GROUP("pkey: 0x10000"), "q.conf:4: \"0x10000\" is no number 0..65535" },
	{ GROUP("") GROUP(""), "q.conf:11: the port-group \"g\" is there already, in line 2" },
	{ RULE("qos-class: 1"), "q.conf:10: the qos-match-rule of line 8 has no qos-level-name" },
	{ RULE("qos-level-name: x"), "q.conf:9: no qos-level is named \"x\"" },
	{ RULE("source: x\nqos-level-name: DEFAULT"), "q.conf:9: no port-group is named \"x\"" },
	{ RULE("qos-class: 4096"), "q.conf:9: \"4096\" is no number 0..4095" },
	{ ULP("sdp"), "q.conf:3: \"sdp\" lacks its SL" },
	{ ULP("sdp : 16"), "q.conf:3: \"16\" is no number 0..15" },
	{ "qos-ulps\ndefault : 0\nsdp : 1\ndefault : 1\nend-qos-ulps\n",
	    "q.conf:4: default stands there twice: keep one of them" },
	{ ULP("srp : 1"), "q.conf:3: \"srp\" is no rule" },
	{ ULP("sdp, pkey 1 : 1"), "q.conf:3: \"sdp, pkey\" is no rule" },
	{ ULP("sdp, port-num 65536 : 1"), "q.conf:3: \"65536\" is no number 0..65535" },
	{ ULP("any, service-id : 1"), "q.conf:3: \"\" is no number" },
};

START_TEST(test_mistakes)
{
	const struct mistake *m = &mistakes[_i];
	const struct qos_policy *p = NULL;

	ck_assert_int_eq(
	    qos_policy_parse("q.conf", m->text, strlen(m->text), parts, &p, NULL, &err),
	    FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, m->sentence) != NULL, "%s", err.msg);
	ck_assert_ptr_null(p);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("qos policy");
	TCase *t = tcase_create("qos policy");

#define LOOP(test, cases) tcase_add_loop_test(t, test, 0, (int)(sizeof(cases) / sizeof((cases)[0])))
	tcase_add_checked_fixture(t, setup, teardown);
	LOOP(test_match, matches);
	tcase_add_test(t, test_levels);
	LOOP(test_ulps, ulps);
	tcase_add_test(t, test_partition_sl);
	LOOP(test_mistakes, mistakes);
	suite_add_tcase(s, t);
	return run_suite(s);
}
