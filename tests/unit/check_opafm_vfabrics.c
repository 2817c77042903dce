/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opa-fm's virtual fabrics: four files of tests/opafm, that of opa-fm as it is installed and three
 * of sites, come to the P_Keys, SLs and shares that opa-fm's documents say of them, no element of
 * them is passed over, and what is wrong is told with its line.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf.h"
#include "core/conf/conf_opensm.h"
#include "core/text/mistakes.h"
#include "core/vfabric/members.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#ifdef HAVE_EXPAT
static const bool has_expat = true;
#else
static const bool has_expat = false;
#endif

static const struct engine_set no_engines;
static char folder[FOLDER_ROOM], xml_path[96], conf_path[96];

static void
set_up(void)
{
	folder_make(folder);
	snprintf(xml_path, sizeof(xml_path), "%s/opafm.xml", folder);
	snprintf(conf_path, sizeof(conf_path), "%s/fmd.conf", folder);
}

static void
tear_down(void)
{
	folder_remove(folder);
}

static struct fm_error err;

/* What an import prints, or NULL; err and *all have what is wrong. */
static char *
import(const char *path, struct mistakes *all)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = conf_import_opafm(path, &no_engines, f, all, &err);

	fclose(f);
	if (rc == 0)
		return text;
	ck_assert_uint_eq(n, 0);
	free(text);
	return NULL;
}

static const char *
site(const char *name)
{
	const char *dir = getenv("srcdir");
	static char path[300];

	snprintf(
	    path, sizeof(path), "%s/tests/opafm/vfabrics-%s.xml", dir != NULL ? dir : ".", name);
	return path;
}

/* The blanks of a text, line ends and the signs of comments as one blank each. */
static void
flatten(const char *text, char *out, size_t room)
{
	size_t n = 0;

	for (; *text != '\0' && n + 1 < room; text++) {
		bool blank = strchr(" \t\n#", *text) != NULL;

		if (!blank || (n > 0 && out[n - 1] != ' '))
			out[n++] = blank ? ' ' : *text;
	}
	out[n] = '\0';
}

/* Members as "full: a b; limited: c". */
static size_t
put_list(const char *word, const struct vfabric_list *l, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += (size_t)snprintf(
		    out + n, room - n, "%s%s", i == 0 ? word : " ", l->items[i].text);
	return n;
}

static void
describe(const struct conf *conf, char *out, size_t room)
{
	const struct vfabrics *v = &conf->partitions.vfabrics;
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < v->n; i++) {
		const struct vfabric *f = &v->of[i];
		const struct vfabric_sl *s = &v->sl[f->sl];

		n += (size_t)snprintf(out + n, room - n, "%s 0x%04x sl %u", f->name,
		    vfabric_pkey(f, conf->partitions.all), f->sl);
		if (v->weighs && s->first)
			n += (size_t)snprintf(out + n, room - n, " first");
		else if (v->weighs)
			n += (size_t)snprintf(out + n, room - n, " %u%%", s->share);
		n += (size_t)snprintf(out + n, room - n, " mtu %s rate %s%s%s",
		    vfabric_mtu_text(f->mtu), vfabric_rate_text(f->rate), f->ipoib ? " ipoib" : "",
		    f->security ? "" : " open");
		n += put_list(" full ", &f->full, out + n, room - n);
		n += put_list(" limited ", &f->limited, out + n, room - n);
		n += (size_t)snprintf(out + n, room - n, "\n");
	}
}

/* ---------------------------------------------------------------- the files */

static const struct {
	const char *name, *is;
	const char *told[16]; /* of what has no counterpart */
} sites[] = {
	{ "default",
	    "Default 0x0001 sl 0 mtu any rate any ipoib open full All\n"
	    "Admin 0x7fff sl 0 mtu any rate any full @AllSWE0s limited All\n",
	    { "line 25: Enable 0 of the virtual fabric Networking: it is left out",
		"line 54: Enable 0 of the virtual fabric Compute: it is left out",
		"Select HFIDirectConnect of the device group HFIDirectConnect is left out",
		"Select AllMgmtAllowed of the device group AllMgmtAllowed is left out",
		"line 35: Application AllOthers of the virtual fabric Default: it chooses no",
		"line 49: Application SA of the virtual fabric Admin",
		"line 50: Application PA of the virtual fabric Admin",
		"line 51: Application PM of the virtual fabric Admin" } },
	{ "shares",
	    "Networking 0x0002 sl 1 10% mtu any rate any ipoib full @AllFIs\n"
	    "Storage 0x0004 sl 4 20% mtu 4096 rate 25 full @OSS_nodes limited @AllFIs\n"
	    "Compute 0x0003 sl 2 60% mtu any rate 60 full @Compute\n"
	    "Default 0x0001 sl 0 10% mtu any rate any open full All\n"
	    "Admin 0x7fff sl 0 10% mtu any rate any limited All\n",
	    { "line 28: PreemptRank 1 of the virtual fabric Storage: it is of Omni-Path",
		"line 28: PktLifeTimeMult 4 of the virtual fabric Storage: path_life",
		"line 35: MaxMTU 8192 of the virtual fabric Compute: it limits nothing",
		"line 34: HoqLife 8ms of the virtual fabric Compute",
		"line 40: Bandwidth 50% of the virtual fabric Default: it is not used: QOS is "
		"0" } },
	{ "tenants",
	    "Admin 0x7fff sl 0 first mtu any rate any limited All\n"
	    "A 0x0010 sl 3 80% mtu any rate any ipoib full @tenant-a\n"
	    "B 0x0011 sl 3 80% mtu any rate any ipoib full @tenant-b\n"
	    "Storage_A 0x0020 sl 1 20% mtu any rate any full @Servers limited @tenant-a\n"
	    "Storage_B 0x0021 sl 1 20% mtu any rate any full @Servers limited @tenant-b\n",
	    { "line 39: Standby 1 of the virtual fabric C: it is left out, as nothing may pass",
		"line 19: PreemptRank 1 of the virtual fabric Storage A",
		"line 20: MulticastSL 5 of the virtual fabric A: its groups have the SL",
		"the virtual fabric Storage B, in the QOSGroup Storage vfabric" } },
	{ "psm",
	    "PSM_Control 0x0001 sl 2 first mtu any rate any full @Nodes\n"
	    "PSM_Data 0x0002 sl 1 70% mtu 2048 rate 100 full @Nodes\n"
	    "Rest 0x0003 sl 3 15% mtu any rate any full @Nodes\n"
	    "Admin 0x7fff sl 0 15% mtu any rate any limited All\n",
	    { "line 20: Bandwidth 5% of the virtual fabric PSM_Control: it is not used: "
	      "HighPriority is 1",
		"line 25: RespSL 2 of the virtual fabric PSM_Data: answers have the SL",
		"line 30: Tenant none of the virtual fabric Rest: it has no counterpart: fmd does "
		"not know it",
		"line 32: VirtualFabric of the virtual fabric Disks: it is left out, as none of "
		"its members can be named here",
		"Select TFIs of the device group Disks is left out",
		"Select AllSMs of the device group Managers is left out" } },
};

START_TEST(files_of_sites)
{
	struct conf_source source = { .path = conf_path };
	struct mistakes all = { 0 };
	struct conf *conf = NULL;
	static char is[4096], flat[16384];
	char *text = import(site(sites[_i].name), &all);

	ck_assert_msg(text != NULL, "%s", all.n > 0 ? all.sentence[0] : "");
	folder_write(folder, "fmd.conf", text);
	ck_assert_msg(conf_load(&source, &no_engines, &conf, &err) == 0, "%s", err.msg);
	describe(conf, is, sizeof(is));
	ck_assert_msg(strcmp(is, sites[_i].is) == 0, "%s:\n%s", sites[_i].name, is);
	flatten(text, flat, sizeof(flat));
	for (size_t i = 0; sites[_i].told[i] != NULL; i++)
		ck_assert_msg(strstr(flat, sites[_i].told[i]) != NULL, "%s: no \"%s\" in\n%.3000s",
		    sites[_i].name, sites[_i].told[i], text);
	conf_put(conf);
	free(text);
}
END_TEST

/* What says nothing that is worth a line. */
static bool
is_silent(const char *name, const char *value)
{
	static const char *const pairs[] = { "Enable 1", "Security 1", "QOS 0", "QOS 1",
		"FlowControlDisable 0", "MaxMTU Unlimited", "MaxRate Unlimited" };
	char pair[300];

	snprintf(pair, sizeof(pair), "%s %s", name, value);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (strcmp(pair, pairs[i]) == 0)
			return true;
	return strcmp(name, "Name") == 0;
}

/* Each element of a virtual fabric that is enabled, and of each group of QoS, stands in the import
 * with its value, or the name that its value has here. */
START_TEST(nothing_is_passed_over)
{
	static char xml[16384], flat[16384];
	struct mistakes all = { 0 };
	char *text = import(site(sites[_i].name), &all);
	FILE *f = fopen(site(sites[_i].name), "r");
	unsigned n_seen = 0;
	bool inside = false, off = false;

	ck_assert_ptr_nonnull(text);
	xml[fread(xml, 1, sizeof(xml) - 1, f)] = '\0';
	fclose(f);
	flatten(text, flat, sizeof(flat));
	for (char *at = xml; (at = strchr(at, '<')) != NULL; at++) {
		char name[64] = "", value[256] = "", pair[400];

		if (strncmp(at, "<VirtualFabric>", 15) == 0 ||
		    strncmp(at, "<QOSGroup><", 11) == 0) {
			const char *end = strstr(at, at[1] == 'V' ? "</VirtualFabric>" : "\n");
			const char *enable = strstr(at, "<Enable>0"),
				   *standby = strstr(at, "<Standby>1");

			inside = true;
			off = (enable != NULL && enable < end) ||
			    (standby != NULL && standby < end) ||
			    strncmp(strstr(at, "<Name>") + 6, "Disks", 5) == 0; /* left out */
		}
		if (strncmp(at, "</VirtualFabric>", 16) == 0 || strncmp(at, "</QOSGroup>", 11) == 0)
			inside = false;
		if (!inside || off || sscanf(at, "<%63[A-Za-z]>%255[^<\n]<", name, value) != 2 ||
		    is_silent(name, value))
			continue;
		snprintf(pair, sizeof(pair), "%s %s", name, value);
		n_seen++;
		if (strstr(flat, pair) != NULL)
			continue;
		snprintf(pair, sizeof(pair), "'@%s'", value); /* behind the first of a list */
		if (strstr(flat, pair) == NULL)
			snprintf(pair, sizeof(pair), "of the device group %s is left out", value);
		ck_assert_msg(strstr(flat, pair) != NULL, "%s: %s %s is nowhere in\n%.3000s",
		    sites[_i].name, name, value, text);
	}
	ck_assert_uint_gt(n_seen, 8);
	free(text);
}
END_TEST

/* ----------------------------------------------------------------- mistakes */

#define VF(inner_) \
	"<Config><Common><VirtualFabrics>\n<VirtualFabric><Name>V</Name><Member>All</" \
	"Member>" inner_ "</VirtualFabric></VirtualFabrics></Common></Config>\n"

static const struct {
	const char *text, *says;
} wrong[] = {
	{ VF("<PKey>0x10000</PKey>"),
	    ":2: PKey 0x10000 of the virtual fabric V: write 0x1 to 0x7fff" },
	{ VF("<PKey>0x8000</PKey>"),
	    ":2: PKey 0x8000 of the virtual fabric V: write 0x1 to 0x7fff" },
	{ VF("<QOS>yes</QOS>"), ":2: QOS yes of the virtual fabric V: write 1 or 0" },
	{ VF("<Security>2</Security>"), ":2: Security 2 of the virtual fabric V: write 1 or 0" },
	{ VF("<QOS>1</QOS><BaseSL>16</BaseSL>"), ":2: BaseSL: sl = 16 is outside -1..15" },
	{ VF("<QOS>1</QOS><Bandwidth>0%</Bandwidth>"),
	    ":2: Bandwidth 0% of the virtual fabric V: write 1% to 100%" },
	{ VF("<QOS>1</QOS><Bandwidth>101%</Bandwidth>"),
	    ":2: Bandwidth 101% of the virtual fabric V: write 1% to 100%" },
	{ VF("<QOS>1</QOS><Bandwidth>much</Bandwidth>"),
	    ":2: Bandwidth much of the virtual fabric V: write 1% to 100%" },
	{ VF("<QOSGroup>None</QOSGroup>"),
	    ":2: QOSGroup None of the virtual fabric V: there is no such QOSGroup" },
	{ VF("<Application>None</Application>"),
	    ":2: Application None of the virtual fabric V: there is no such Application" },
	{ VF("<LimitedMember>None</LimitedMember>"),
	    ":2: LimitedMember: there is no device group None" },
	{ VF("<MaxMTU>1500</MaxMTU>"),
	    ":2: MaxMTU: mtu = 1500 is none of any, 256, 512, 1024, 2048, 4096" },
	{ VF("<MaxRate>11g</MaxRate>"), ":2: MaxRate: rate = 11 is none of any, 2.5" },
	{ "<Config><Common><VirtualFabrics>\n<VirtualFabric><Member>All</Member></VirtualFabric>"
	  "</VirtualFabrics></Common></Config>\n",
	    ":2: VirtualFabric of the virtual fabric : it has no Name" },
	{ VF("</VirtualFabric>\n<VirtualFabric><Name>V</Name><Member>All</Member>"),
	    ":3: VirtualFabric of the virtual fabric V: there is another of that name" },
	{ VF("</VirtualFabric>\n<VirtualFabric><Name>a b</Name><Member>All</Member></VirtualFabric>"
	     "<VirtualFabric><Name>a!b</Name><Member>All</Member>"),
	    ":3: VirtualFabric of the virtual fabric a!b: another one has this name, too" },
};

START_TEST(mistakes_are_told)
{
	struct mistakes all = { 0 };
	char *text;
	bool said = false;

	folder_write(folder, "opafm.xml", wrong[_i].text);
	text = import(xml_path, &all);
	ck_assert_msg(text == NULL, "%s: is imported", wrong[_i].text);
	for (size_t i = 0; i < all.n; i++)
		said |= strncmp(all.sentence[i], xml_path, strlen(xml_path)) == 0 &&
		    strncmp(all.sentence[i] + strlen(xml_path), wrong[_i].says,
			strlen(wrong[_i].says)) == 0;
	ck_assert_msg(said, "%s: %s, not %s", wrong[_i].text, all.n > 0 ? all.sentence[0] : "",
	    wrong[_i].says);
	mistakes_fini(&all);
}
END_TEST

/* More virtual fabrics with QoS than SLs: told, and one that is the last to get one is not. */
START_TEST(all_sls)
{
	static char text[16384];
	struct mistakes all = { 0 };

	for (unsigned n = 15; n <= 16; n++) {
		size_t at =
		    (size_t)snprintf(text, sizeof(text), "<Config><Common><VirtualFabrics>\n");
		char *printed;

		for (unsigned i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
			    "<VirtualFabric><Name>v%u</Name><QOS>1</QOS><Member>All</Member>"
			    "</VirtualFabric>\n",
			    i);
		snprintf(text + at, sizeof(text) - at, "</VirtualFabrics></Common></Config>\n");
		folder_write(folder, "opafm.xml", text);
		printed = import(xml_path, &all);
		ck_assert_int_eq(printed != NULL, n == 15);
		free(printed);
	}
	ck_assert_ptr_nonnull(strstr(all.sentence[0],
	    ":17: VirtualFabric of the virtual fabric v15: "
	    "no SL is left for it"));
	mistakes_fini(&all);
}
END_TEST

/* Applications that hold each other end. */
START_TEST(circles)
{
	struct mistakes all = { 0 };
	char *text;

	folder_write(folder, "opafm.xml",
	    "<Config><Common><Applications><Application><Name>A</Name>"
	    "<IncludeApplication>B</IncludeApplication></Application><Application><Name>B</Name>"
	    "<IncludeApplication>A</IncludeApplication><IncludeApplication>A</IncludeApplication>"
	    "</Application></Applications><VirtualFabrics><VirtualFabric><Name>V</Name>"
	    "<Member>All</Member><Application>A</Application></VirtualFabric></VirtualFabrics>"
	    "</Common></Config>\n");
	text = import(xml_path, &all);
	ck_assert_msg(text != NULL && strstr(text, "groups = {  }") != NULL, "%s", text);
	free(text);
}
END_TEST

/* A site's file with letters changed is imported to a file that can be read again, or refused. */
START_TEST(damaged_files)
{
	static char xml[16384], damaged[16384];
	struct fm_rng rng;
	FILE *f = fopen(site(sites[_i].name), "r");
	size_t n = fread(xml, 1, sizeof(xml) - 1, f);
	unsigned n_good = 0;

	fclose(f);
	fm_rng_seed(&rng, (uint64_t)_i + 5);
	for (uint32_t c = 0; c < n_cases(400); c++) {
		struct conf_source source = { .path = conf_path };
		struct mistakes all = { 0 };
		struct conf *conf = NULL;
		char *text;
		int rc;

		memcpy(damaged, xml, n + 1);
		for (unsigned i = 0; i < 1 + fm_rng_below(&rng, 3); i++)
			damaged[fm_rng_below(&rng, (uint32_t)n)] =
			    "0123 abXY%<>/"[fm_rng_below(&rng, 13)];
		folder_write(folder, "opafm.xml", damaged);
		err = (struct fm_error){ 0 };
		text = import(xml_path, &all);
		ck_assert(text != NULL || strncmp(err.msg, xml_path, strlen(xml_path)) == 0);
		mistakes_fini(&all);
		if (text == NULL)
			continue;
		n_good++;
		folder_write(folder, "fmd.conf", text);
		rc = conf_load_all(&source, &no_engines, &all, &conf, &err);
		ck_assert_msg(
		    rc == 0 || (rc == FM_E_CONFIG && all.n > 0), "%s: %s", damaged, err.msg);
		if (rc == 0)
			conf_put(conf);
		free(text);
		mistakes_fini(&all);
	}
	ck_assert_uint_gt(n_good, 0);
}
END_TEST

int
main(void)
{
	const int n_sites = sizeof(sites) / sizeof(*sites);
	Suite *suite = suite_create("opafm_vfabrics");
	TCase *tc = tcase_create("opafm_vfabrics");

	if (!has_expat)
		return 77;
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, files_of_sites, 0, n_sites);
	tcase_add_loop_test(tc, nothing_is_passed_over, 0, n_sites);
	tcase_add_loop_test(tc, mistakes_are_told, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_test(tc, all_sls);
	tcase_add_test(tc, circles);
	tcase_add_loop_test(tc, damaged_files, 0, n_sites);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
