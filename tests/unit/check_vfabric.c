/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vfabrics: from the sections of fmd.conf to SLs, shares and weights, to partitions, and to the
 * P_Keys of the ports of a fabric.  The fabric is a tree of 4 leaves with two hosts each,
 * host-LEAF-1 and host-LEAF-2, and 2 spines.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf.h"
#include "core/graph/snapshot.h"
#include "core/vfabric/members.h"
#include "lab/topo/netlist.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

static const struct engine_set no_engines;
static struct snapshot *snap;
static char folder[FOLDER_ROOM], conf_path[96];

static void
set_up(void)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;

	folder_make(folder);
	snprintf(conf_path, sizeof(conf_path), "%s/fmd.conf", folder);
	ck_assert_msg(generate_words("pgft 2 2,4 1,2 1,1", &nl, &err) == 0, "%s", err.msg);
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s", err.msg);
	netlist_fini(&nl);
}

static void
tear_down(void)
{
	snapshot_put(snap);
	folder_remove(folder);
}

static struct conf *
load(const char *text)
{
	struct conf_source source = { .path = conf_path };
	struct conf *conf = NULL;
	struct fm_error err;

	folder_write(folder, "fmd.conf", text);
	ck_assert_msg(conf_load(&source, &no_engines, &conf, &err) == 0, "%s: %s", text, err.msg);
	return conf;
}

/* ------------------------------------------------------------- SLs and shares */

/* "NAME P_KEY SL n SHARE% vl VL weight W", or "first" for the share; without weights "NAME P_KEY SL
 * n". */
static void
describe(const struct conf *conf, char *out, size_t room)
{
	const struct vfabrics *v = &conf->partitions.vfabrics;
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < v->n; i++) {
		const struct vfabric *f = &v->of[i];
		const struct vfabric_sl *s = &v->sl[f->sl];

		n += (size_t)snprintf(out + n, room - n, "%s%s 0x%04x sl %u", i > 0 ? ", " : "",
		    f->name, vfabric_pkey(f, conf->partitions.all), f->sl);
		if (v->weighs && s->first)
			n += (size_t)snprintf(out + n, room - n, " first");
		else if (v->weighs)
			n += (size_t)snprintf(out + n, room - n, " %u%%", s->share);
		if (v->weighs)
			n += (size_t)snprintf(
			    out + n, room - n, " vl %u weight %u", s->vl, s->weight);
	}
}

#define V(name_, rest_) "vfabric \"" name_ "\" { members = { \"h\" } " rest_ " }\n"

static const struct {
	const char *text, *is;
} settled[] = {
	{ V("a", "") V("b", "pkey = 9"), "a 0x0001 sl 0, b 0x0009 sl 0" },
	/* a P_Key that is written is not given to another */
	{ V("a", "") V("b", "pkey = 1") V("c", ""), "a 0x0002 sl 0, b 0x0001 sl 0, c 0x0003 sl 0" },
	{ "qos = yes\n" V("a", "sl = 5") V("b", ""), "a 0x0001 sl 5, b 0x0002 sl 0" },
	/* SL 0 is of all others */
	{ "qos = yes\n" V("a", "share = 70") V("b", "share = 10"),
	    "a 0x0001 sl 1 70% vl 1 weight 255, b 0x0002 sl 2 10% vl 2 weight 36" },
	/* SLs that are written keep theirs, and VLs are by rising SL */
	{ "qos = yes\n" V("a", "share = 40") V("b", "sl = 1 share = 20") V("c", "sl = 9"),
	    "a 0x0001 sl 2 40% vl 2 weight 255, b 0x0002 sl 1 20% vl 1 weight 128, c 0x0003 sl 9 "
	    "20% vl 3 weight 128" },
	/* one SL, one share: said by one of them */
	{ "qos = yes\n" V("a", "sl = 3 share = 50") V("b", "sl = 3") V("c", "sl = 3 share = 50"),
	    "a 0x0001 sl 3 50% vl 1 weight 255, b 0x0002 sl 3 50% vl 1 weight 255, c 0x0003 sl 3 "
	    "50% vl 1 weight 255" },
	{ "qos = yes\n" V("a", "high_priority = yes") V("b", "share = 95"),
	    "a 0x0001 sl 1 first vl 1 weight 255, b 0x0002 sl 2 95% vl 2 weight 255" },
	/* SL 0 gets 5 at least, the other ones of which nobody says it an even part */
	{ "qos = yes\n" V("a", "sl = 1") V("b", "sl = 2 share = 88") V("c", "sl = 3") V("d", ""),
	    "a 0x0001 sl 1 3% vl 1 weight 9, b 0x0002 sl 2 88% vl 2 weight 255, c 0x0003 sl 3 4% "
	    "vl 3 weight 12, d 0x0004 sl 0 5% vl 0 weight 14" },
	/* all that there is has a share: SL 0 is one of them, and needs nothing beside */
	{ "qos = yes\n" V("a", "pkey = 0x7fff share = 10") V("b", "share = 90"),
	    "a 0x7fff sl 0 10% vl 0 weight 28, b 0x0001 sl 1 90% vl 1 weight 255" },
	/* two of one P_Key have one SL */
	{ "qos = yes\n" V("a", "pkey = 4 share = 30") V("b", "pkey = 4 share = 30"),
	    "a 0x0004 sl 1 30% vl 1 weight 109, b 0x0004 sl 1 30% vl 1 weight 109" },
};

START_TEST(sls_and_shares)
{
	struct conf *conf = load(settled[_i].text);
	char is[2048];

	describe(conf, is, sizeof(is));
	ck_assert_msg(strcmp(is, settled[_i].is) == 0, "%s: %s", settled[_i].text, is);
	conf_put(conf);
}
END_TEST

START_TEST(weights_and_maps)
{
	struct conf *conf =
	    load("qos = yes\n" V("a", "sl = 4 share = 60") V("b", "sl = 9 high_priority = yes"));
	static const uint8_t vl[16] = { 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0 };

	for (unsigned k = 0; k < QOS_PORTS; k++) {
		const struct qos_tables *t = &conf->qos.tables->port[k];

		ck_assert_mem_eq(t->sl2vl, vl, sizeof(vl));
		ck_assert_uint_eq(t->high[0].vl, 2);
		ck_assert_uint_eq(t->high[0].weight, 255);
		ck_assert_uint_eq(t->high[1].weight, 0);
		ck_assert_uint_eq(t->low[0].vl, 0);
		ck_assert_uint_eq(t->low[0].weight, 170); /* 40 of 60 */
		ck_assert_uint_eq(t->low[1].vl, 1);
		ck_assert_uint_eq(t->low[1].weight, 255);
		ck_assert_uint_eq(t->low[2].weight, 0);
		ck_assert_uint_eq(qos_without_weight(t), 0);
	}
	conf_put(conf);
	/* SLs alone leave SL2VL and weights to their keys */
	conf =
	    load("qos = yes\nqos_sl2vl = \"3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3\"\n" V("a", "sl = 4"));
	ck_assert_uint_eq(conf->qos.tables->port[QOS_CA].sl2vl[4], 3);
	conf_put(conf);
}
END_TEST

/* What is said of SLs in v, by hand: false where two contradict each other, or it is too much. */
static bool
may_be(const struct vfabrics *v, bool rest)
{
	bool used[VFABRIC_SLS] = { rest }, said[VFABRIC_SLS] = { false };
	unsigned share[VFABRIC_SLS] = { 0 }, sum = 0, need = 0, n_free = 0, n_new = 0;
	bool any = false;

	for (size_t i = 0; i < v->n; i++) {
		const struct vfabric *f = &v->of[i];

		if (f->share > 0 && f->first)
			return false;
		n_new += !f->has_sl && (f->share > 0 || f->first);
		any |= f->share > 0 || f->first;
		if (!f->has_sl) {
			sum += f->share;
			continue;
		}
		used[f->sl] = true;
		if (f->share == 0 && !f->first)
			continue;
		if (said[f->sl] && share[f->sl] != (f->first ? 1000u : f->share))
			return false;
		said[f->sl] = true;
		share[f->sl] = f->first ? 1000 : f->share;
	}
	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++) {
		n_free += !used[sl];
		sum += said[sl] && share[sl] < 1000 ? share[sl] : 0;
		if (used[sl] && !said[sl])
			need += sl == 0 ? VFABRIC_LEAST_REST : 1;
	}
	return n_new <= n_free &&
	    (!any || (sum + need <= 100 && VFABRIC_SLS - n_free + n_new < 16));
}

static void
check_weights(const struct vfabrics *v)
{
	unsigned sum = 0, n_shared = 0, vl = 0, most = 0;

	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++) {
		const struct vfabric_sl *s = &v->sl[sl];

		sum += s->share;
		most = s->share > most ? s->share : most;
		n_shared += s->used && !s->first;
		if (!s->used) {
			ck_assert_uint_eq(s->weight + s->share, 0);
			continue;
		}
		ck_assert_uint_eq(s->vl, vl++);
		ck_assert_uint_gt(s->weight, 0);
		ck_assert(s->first == (s->share == 0));
	}
	for (unsigned sl = 0; sl < VFABRIC_SLS;
	     sl++) { /* half a unit of the largest away at most */
		double exact = most > 0 ? v->sl[sl].share * 255.0 / most : 0;

		if (v->sl[sl].used && !v->sl[sl].first)
			ck_assert(v->sl[sl].weight >= exact - 0.51 &&
			    v->sl[sl].weight <= (exact < 1 ? 1 : exact + 0.51));
	}
	ck_assert(n_shared == 0 || sum <= 100);
}

START_TEST(random_shares)
{
	struct fm_rng rng;
	unsigned n_good = 0, n_bad = 0;

	fm_rng_seed(&rng, (uint64_t)_i + 31);
	for (uint32_t c = 0; c < n_cases(3000); c++) {
		struct vfabric of[20] = { 0 };
		struct vfabrics v = { .of = of, .n = 1 + fm_rng_below(&rng, 20) };
		struct vfabric before[20];
		struct fm_error err = { 0 };
		unsigned few = 1 + fm_rng_below(&rng, 40);
		int rc;

		for (size_t i = 0; i < v.n; i++) {
			of[i] =
			    (struct vfabric){ .name = "x", .file = "f", .line = 1 + (unsigned)i };
			of[i].has_sl = fm_rng_below(&rng, 2) == 0;
			of[i].sl = (uint8_t)(of[i].has_sl ? fm_rng_below(&rng, 16) : 0);
			of[i].share =
			    (uint8_t)(fm_rng_below(&rng, 3) == 0 ? 1 + fm_rng_below(&rng, few) : 0);
			of[i].first = fm_rng_below(&rng, 12) == 0;
		}
		memcpy(before, of, sizeof(of));
		rc = vfabrics_settle(&v, &(struct vfabric_ground){ .qos = true }, NULL, &err);
		v.of = before;
		ck_assert_msg((rc == 0) == may_be(&v, true), "case %u: %s", c, err.msg);
		v.of = of;
		n_good += rc == 0;
		n_bad += rc != 0;
		for (size_t i = 0; rc == 0 && i < v.n; i++) {
			const struct vfabric_sl *s = &v.sl[of[i].sl];

			ck_assert(!before[i].has_sl || of[i].sl == before[i].sl);
			ck_assert(of[i].share == 0 || s->share == of[i].share);
			ck_assert(!of[i].first || s->first);
			ck_assert(s->used);
		}
		if (rc == 0 && v.weighs)
			check_weights(&v);
	}
	ck_assert_uint_gt(n_good, n_cases(3000) / 20);
	ck_assert_uint_gt(n_bad, n_cases(3000) / 20);
}
END_TEST

/* ------------------------------------------------------------------ members */

/* "8004 7fff" of one end-port. */
static const char *
keys_of(const struct conf *conf, const struct vfabric_members *m, fm_end e, bool self)
{
	static const enum part_kind kinds[] = {
		[FM_END_CA] = PART_CA, [FM_END_ROUTER] = PART_ROUTER, [FM_END_SWITCH] = PART_SWITCH
	};
	struct part_port port = {
		.guid = snap->fab.end_guid[e], .kind = kinds[snap->fab.end_kind[e]], .self = self
	};
	static char out[200];
	uint16_t keys[32];
	size_t n, at = 0;

	ck_assert(vfabric_members_give(m, &port));
	n = partitions_keys(conf->partitions.all, &port, keys, 32);
	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(
		    out + at, sizeof(out) - at, "%s%04x", i > 0 ? " " : "", keys[i]);
	return out;
}

static fm_end
end_named(const char *name)
{
	for (fm_end e = 0; e < snap->fab.n_ends; e++)
		if (strcmp(snap->fab.end_name[e], name) == 0)
			return e;
	ck_abort_msg("no end %s", name);
}

static struct vfabric_members *
find(const struct conf *conf)
{
	struct vfabric_members *m = NULL;
	struct fm_error err;

	ck_assert_msg(vfabric_members_find(
			  &conf->partitions.vfabrics, conf->partitions.all, snap, &m, &err) == 0,
	    "%s", err.msg);
	return m;
}

static const struct {
	const char *text;
	const char *host_1, *host_2, *leaf_1; /* their keys */
} member_rows[] = {
	/* who is in no vfabric is limited member of the default partition */
	{ "vfabric \"a\" { members = { \"host-1-2\" } }", "7fff", "8001 7fff", "7fff" },
	{ "vfabric \"a\" { members = { \"All\" } }", "8001 7fff", "8001 7fff", "8001 7fff" },
	{ "vfabric \"a\" { members = { \"type:switch\" } }", "7fff", "7fff", "8001 7fff" },
	{ "vfabric \"a\" { members = { \"level:0\" } }", "7fff", "7fff", "8001 7fff" },
	{ "vfabric \"a\" { limited = { \"type:ca\", \"!host-1-2\" } }", "0001 7fff", "7fff",
	    "7fff" },
	/* full goes before limited, in one list or in two vfabrics of one P_Key */
	{ "vfabric \"a\" { members = { \"host-1-1\" } limited = { \"All\" } }", "8001 7fff",
	    "0001 7fff", "0001 7fff" },
	{ "vfabric \"a\" { pkey = 5 members = { \"host-1-1\" } } vfabric \"b\" { pkey = 5 limited "
	  "= "
	  "{ \"type:ca\" } }",
	    "8005 7fff", "0005 7fff", "7fff" },
	/* without security all are full members */
	{ "vfabric \"a\" { members = { \"host-1-1\" } limited = { \"host-1-2\" } security = no }",
	    "8001 7fff", "8001 7fff", "7fff" },
	/* the default partition */
	{ "vfabric \"a\" { pkey = 0x7fff members = { \"host-1-1\" } }", "ffff", "7fff", "7fff" },
	{ "group \"g\" { members = { \"host-1-[1-2]\" } } vfabric \"a\" { pkey = 6 members = { "
	  "\"@g\", \"!host-1-1\" } } vfabric \"b\" { pkey = 2 members = { \"@g\" } }",
	    "8002 7fff", "8002 8006 7fff", "7fff" },
};

START_TEST(keys_of_members)
{
	struct conf *conf = load(member_rows[_i].text);
	struct vfabric_members *m = find(conf);
	struct part_port nobody = { .guid = 0xdead };

	ck_assert_str_eq(keys_of(conf, m, end_named("host-1-1"), false), member_rows[_i].host_1);
	ck_assert_str_eq(keys_of(conf, m, end_named("host-1-2"), false), member_rows[_i].host_2);
	ck_assert_str_eq(keys_of(conf, m, end_named("leaf-1"), false), member_rows[_i].leaf_1);
	/* the SM's own port is a full member of the default partition whatever is written */
	ck_assert_ptr_nonnull(strstr(keys_of(conf, m, end_named("host-1-2"), true), "ffff"));
	ck_assert(!vfabric_members_give(m, &nobody));
	ck_assert(!partitions_open(conf->partitions.all));
	vfabric_members_free(m);
	conf_put(conf);
}
END_TEST

/* Lists of random items against each node by itself. */
START_TEST(random_members)
{
	static const char *const words[] = { "host-1-1", "host-[2-4]-*", "!host-3-1", "host-*",
		"leaf-2", "!leaf-*", "type:ca", "!type:switch", "All", "nobody", "!All",
		"type:router" };
	const size_t n_words = sizeof(words) / sizeof(*words);
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 77);
	for (uint32_t c = 0; c < n_cases(100); c++) {
		char text[2000] = "vfabric \"a\" { pkey = 3 members = { ";
		const char *list[8];
		unsigned n = 1 + fm_rng_below(&rng, 8);
		struct vfabric_members *m;
		struct conf *conf;

		for (unsigned i = 0; i < n; i++) {
			size_t at = strlen(text);

			do {
				list[i] = words[fm_rng_below(&rng, (uint32_t)n_words)];
			} while (i == 0 && *list[i] == '!'); /* it would take out of nothing */
			snprintf(
			    text + at, sizeof(text) - at, "%s\"%s\"", i > 0 ? ", " : "", list[i]);
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " } }\n");
		conf = load(text);
		m = find(conf);
		for (fm_end e = 0; e < snap->fab.n_ends; e++) {
			bool is_ca = snap->fab.end_kind[e] == FM_END_CA, in = false;

			for (unsigned i = 0; i < n; i++) {
				const char *w = list[i] + (*list[i] == '!');
				bool names = strcmp(w, "type:ca") == 0 ? is_ca
				    : strcmp(w, "type:switch") == 0    ? !is_ca
				    : strcmp(w, "type:router") == 0    ? false
				    : strcmp(w, "All") == 0
				    ? true
				    : node_name_match(w, snap->fab.end_name[e]);

				if (names)
					in = w == list[i];
			}
			ck_assert_msg((strstr(keys_of(conf, m, e, false), "8003") != NULL) == in,
			    "%s: %s", text, snap->fab.end_name[e]);
		}
		vfabric_members_free(m);
		conf_put(conf);
	}
}
END_TEST

/* --------------------------------------------------------------- partitions */

START_TEST(as_partitions)
{
	struct conf *conf = load("qos = yes\n"
				 "vfabric \"a\" { members = { \"h\" } pkey = 4 sl = 3 mtu = 4096 "
				 "rate = 100 groups = { \"ipoib\", \"ff12:1::7\" } }\n"
				 "vfabric \"b\" { members = { \"h\" } pkey = 5 }\n"
				 "vfabric \"c\" { members = { \"h\" } pkey = 6 groups = { } }\n");
	const struct partition *a = partitions_find(conf->partitions.all, 4);
	const struct partition *b = partitions_find(conf->partitions.all, 5);
	const struct part_group *groups;
	size_t n;

	ck_assert_str_eq(a->name, "a");
	ck_assert(a->sl == 3 && a->sl_is_firm && a->ipoib && a->mtu == 5 && a->rate == 16);
	ck_assert(b->sl == 0 && !b->sl_is_firm && b->ipoib && b->mtu == 0 && b->rate == 0);
	ck_assert(!partitions_find(conf->partitions.all, 6)->ipoib);
	ck_assert(partitions_limit_paths(conf->partitions.all));
	groups = partitions_groups(conf->partitions.all, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert(groups[0].pkey == 0x8004 && groups[0].broadcast && groups[0].mtu == 5 &&
	    groups[0].rate == 16 && groups[0].sl == 3);
	ck_assert(groups[1].pkey == 0x8004 && groups[1].mgid[15] == 7 && !groups[1].broadcast);
	ck_assert(groups[2].pkey == 0x8005 && groups[2].mtu == 4 && groups[2].rate == 3);
	conf_put(conf);
}
END_TEST

/* A vfabric stands beside partitions.conf: who is full member there stays so. */
START_TEST(beside_a_file)
{
	struct conf *conf;
	struct vfabric_members *m;

	folder_write(folder, "p.conf", "Default=0x7fff, ipoib : ALL=full ;\nRed=0x2 : ALL ;\n");
	conf = load(
	    "partition_config_file = \"p.conf\"\nvfabric \"a\" { members = { \"host-1-1\" } }\n");
	m = find(conf);
	ck_assert_str_eq(keys_of(conf, m, end_named("host-1-1"), false), "8001 0002 ffff");
	ck_assert_str_eq(keys_of(conf, m, end_named("host-1-2"), false), "0002 ffff");
	ck_assert(!partitions_limit_paths(conf->partitions.all));
	vfabric_members_free(m);
	conf_put(conf);
}
END_TEST

/* Tables are looked at anew where what a vfabric says is another, and not else. */
START_TEST(marks)
{
	static const char *const texts[] = { "vfabric \"a\" { members = { \"x\" } }",
		"vfabric \"a\" { members = { \"y\" } }", "vfabric \"a\" { limited = { \"x\" } }",
		"vfabric \"a\" { members = { \"x\" } pkey = 9 }",
		"vfabric \"a\" { members = { \"x\" } mtu = 512 }",
		"vfabric \"a\" { limited = { \"x\" } security = no }",
		"group \"x\" { members = { \"x\" } } vfabric \"a\" { members = { \"@x\" } }",
		"group \"x\" { members = { \"y\" } } vfabric \"a\" { members = { \"@x\" } }" };
	uint64_t mark[sizeof(texts) / sizeof(*texts)];
	struct conf *conf;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		conf = load(texts[i]);
		mark[i] = partitions_mark(conf->partitions.all);
		conf_put(conf);
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(mark[k] != mark[i], "%s, %s", texts[k], texts[i]);
		conf = load(texts[i]);
		ck_assert_uint_eq(mark[i], partitions_mark(conf->partitions.all));
		conf_put(conf);
	}
}
END_TEST

START_TEST(codes)
{
	static const char *const rates[] = { "2.5", "10", "30", "5", "20", "40", "60", "80", "120",
		"14", "56", "112", "168", "25", "100", "200", "300", "28", "50", "400", "600",
		"800", "1200", "1600" }; /* IBA 15.2.5.16, codes from 2 on */

	for (uint8_t code = 2; code < 2 + sizeof(rates) / sizeof(*rates); code++)
		ck_assert_str_eq(vfabric_rate_text(code), rates[code - 2]);
	for (unsigned i = 0; vfabric_rates[i] != NULL; i++)
		ck_assert_str_eq(vfabric_rate_text(vfabric_rate_code(i)), vfabric_rates[i]);
	ck_assert_str_eq(vfabric_mtu_text(vfabric_mtu_code(4)), "2048");
	ck_assert_str_eq(vfabric_mtu_text(0), "any");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("vfabric");
	TCase *tc = tcase_create("vfabric");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, sls_and_shares, 0, sizeof(settled) / sizeof(*settled));
	tcase_add_test(tc, weights_and_maps);
	tcase_add_loop_test(tc, random_shares, 0, 2);
	tcase_add_loop_test(tc, keys_of_members, 0, sizeof(member_rows) / sizeof(*member_rows));
	tcase_add_loop_test(tc, random_members, 0, 2);
	tcase_add_test(tc, as_partitions);
	tcase_add_test(tc, beside_a_file);
	tcase_add_test(tc, marks);
	tcase_add_test(tc, codes);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
