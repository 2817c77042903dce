/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opa-fm's opafm.xml: every row is translated or told, a typical file means what it says, and
 * hostile files are refused with a line.  The engines are fmd's own.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf.h"
#include "core/conf/conf_opensm.h"
#include "core/opensm/opafm.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/imported.h"
#include "tests/run.h"

#ifdef HAVE_EXPAT
static const bool has_expat = true;
#else
static const bool has_expat = false;
#endif

static struct engine_set engines;
static char folder[FOLDER_ROOM], xml_path[96];

static void
set_up(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct fm_error err;

	folder_make(folder);
	snprintf(xml_path, sizeof(xml_path), "%s/opafm.xml", folder);
	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
}

static void
tear_down(void)
{
	engine_set_fini(&engines);
	folder_remove(folder);
}

/* What an import of the file prints, to be freed, or NULL with *err and *all. */
static char *
import(const char *path, struct mistakes *all, struct fm_error *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = conf_import_opafm(path, &engines, f, all, err);

	fclose(f);
	if (rc == 0)
		return text;
	ck_assert_uint_eq(n, 0);
	free(text);
	return NULL;
}

/* What elements of Sm become; comments: those lines, which tell what has no counterpart. */
static const char *
pick(const char *body, bool comments)
{
	static char text[4096];
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	const char *lines;
	char *printed;

	snprintf(text, sizeof(text), "<Config><Common><Sm>\n%s</Sm></Common></Config>\n", body);
	folder_write(folder, "opafm.xml", text);
	printed = import(xml_path, &all, &err);
	ck_assert_msg(printed != NULL, "%s: %s", body, err.msg);
	lines = imported_lines(printed, comments);
	free(printed);
	return lines;
}

/* --------------------------------------------------------------------- rows */

START_TEST(rows_are_sound)
{
	const struct opensm_key *k;

	for (size_t i = 0; (k = opafm_key(i)) != NULL; i++) {
		ck_assert_msg(opafm_key_find(k->name) == k, "%s stands there twice", k->name);
		ck_assert_msg(
		    k->to == NULL || is_option(&engines, k->to), "%s: %s", k->name, k->to);
		ck_assert_msg(
		    k->or_to == NULL || is_option(&engines, k->or_to), "%s: %s", k->name, k->or_to);
		ck_assert_msg((k->fate != OPENSM_NONE && k->fate != OPENSM_ALWAYS) ||
			(k->note != NULL && k->to == NULL),
		    "%s has no reason", k->name);
		ck_assert_msg(k->fate == OPENSM_NONE || k->fate == OPENSM_ALWAYS || k->to != NULL,
		    "%s becomes nothing", k->name);
	}
}
END_TEST

/* An element by its path: "A.B" and v are <A><B>v</B></A>. */
static void
write_element(const char *path, const char *value, char *out, size_t room)
{
	const char *dot = strchr(path, '.');
	size_t n = dot != NULL ? (size_t)(dot - path) : strlen(path);
	char inner[512];

	if (dot != NULL)
		write_element(dot + 1, value, inner, sizeof(inner));
	else
		snprintf(inner, sizeof(inner), "%s", value);
	snprintf(out, room, "<%.*s>%s</%.*s>", (int)n, path, inner, (int)n, path);
}

START_TEST(defaults_say_nothing)
{
	const struct opensm_key *k;
	char text[1024];

	for (size_t i = 0; (k = opafm_key(i)) != NULL; i++) {
		if (k->form == OPENSM_SECTION)
			continue;
		write_element(k->name, k->def, text, sizeof(text));
		ck_assert_str_eq(pick(text, false), "");
		/* its section has the table of hops, which is told of at its defaults too */
		if (strcmp(k->name, "DynamicPacketLifetime.Enable") != 0)
			ck_assert_str_eq(pick(text, true), "");
	}
}
END_TEST

/* Whatever has no counterpart is told, with its line and the reason. */
START_TEST(the_rest_is_told)
{
	const struct opensm_key *k;
	char text[1024], want[64];

	for (size_t i = 0; (k = opafm_key(i)) != NULL; i++) {
		const char *value = k->form == OPENSM_BOOL ? (*k->def == '1' ? "0" : "1")
		    : k->form == OPENSM_SECTION		   ? "<Some>1</Some>"
							   : "77";

		if (k->fate != OPENSM_NONE)
			continue;
		write_element(k->name, value, text, sizeof(text));
		snprintf(want, sizeof(want), "# line 2: %.30s", k->name);
		if (strcmp(k->name, "Applications") != 0 && strchr(k->name, '.') == NULL &&
		    k->form == OPENSM_SECTION && strcmp(k->name, "Preemption") != 0)
			continue; /* beside Sm, not in it */
		ck_assert_msg(strncmp(pick(text, true), want, strlen(want)) == 0, "%s: %s", text,
		    pick(text, true));
		ck_assert_str_eq(pick(text, false), "");
	}
}
END_TEST

/* ------------------------------------------------------------- translations */

#define FATTREE "<RoutingAlgorithm>fattree</RoutingAlgorithm>"
#define TO_CORE "<FatTreeTopology><CoreSwitches>Core</CoreSwitches></FatTreeTopology>"

#define NO_HOPS "<DynamicPacketLifetime><Enable>0</Enable></DynamicPacketLifetime>"
/* Behind the section Sm, and back in it. */
#define GROUPS(text) "</Sm><DeviceGroups>" text "</DeviceGroups><Sm>"
#define GROUP(name, text) "<DeviceGroup><Name>" name "</Name>" text "</DeviceGroup>"
#define ORDER(text) \
	"<DGShortestPathTopology><RoutingOrder>" text "</RoutingOrder></DGShortestPathTopology>"
#define DG(name) "<DeviceGroup>" name "</DeviceGroup>"

#define SLS(n) \
	"0 " n ", 1 " n ", 2 " n ", 3 " n ", 4 " n ", 5 " n ", 6 " n ", 7 " n ", 8 " n ", 9 " n \
	", 10 " n ", 11 " n ", 12 " n ", 13 " n ", 14 " n ", 15 " n

static const struct {
	const char *text, *becomes;
} translated[] = {
	{ "<Lmc>2</Lmc>", "lmc = 2" },
	{ "<Lmc> 0x2\n </Lmc>", "lmc = 0x2" },
	{ "<Lmc><![CDATA[2]]></Lmc>", "lmc = 2" },
	{ "<Lmc>1</Lmc><Lmc>3</Lmc>", "lmc = 3" }, /* the last counts */
	{ "<Lmc>1</Lmc><Lmc>0</Lmc>", "" },
	{ "<!-- <Lmc>1</Lmc> -->", "" },
	{ "<LmcE0>1</LmcE0>", "switch_lmc = 1" },
	{ "<Priority>5</Priority>", "sm_priority = 5" },
	{ "<Priority>5</Priority><ElevatedPriority>8</ElevatedPriority>",
	    "sm_priority = 5 | master_sm_priority = 8" },
	{ "<ElevatedPriority>0</ElevatedPriority>", "" },
	{ "<SmKey>0x77</SmKey><MKey>8</MKey>", "sm_key = 0x77 | m_key = 8" },
	{ "<SweepInterval>60</SweepInterval>", "sweep_interval = 60s" },
	{ "<IgnoreTraps>1</IgnoreTraps>", "sweep_on_trap = no" },
	{ "<RespTimeout>500</RespTimeout>", "transaction_timeout = 500ms" },
	{ "<MaxAttempts>1</MaxAttempts>", "transaction_retries = 0" },
	{ "<MasterPingInterval>7</MasterPingInterval>", "sminfo_polling_timeout = 7s" },
	{ "<SwitchLifetime>34ms</SwitchLifetime>", "packet_life_time = 14" },
	{ "<SwitchLifetime>4us</SwitchLifetime>", "packet_life_time = 0" },
	{ "<SwitchLifetime>infinite</SwitchLifetime>", "packet_life_time = 20" },
	{ "<HoqLife>1h</HoqLife>",
	    "head_of_queue_lifetime = 20 | leaf_head_of_queue_lifetime = 20" },
	{ "<SwitchLifetime>5124096h</SwitchLifetime>", "packet_life_time = 20" },
	{ "<PacketLifetime>2s</PacketLifetime>" NO_HOPS, "path_life = 19" },
	{ NO_HOPS "<PacketLifetime>1h</PacketLifetime>", "path_life = 30" },
	{ "<PacketLifetime>2s</PacketLifetime>", "" },
	{ "<VLStallCount>3</VLStallCount>", "vl_stall_count = 3 | leaf_vl_stall_count = 3" },
	{ "<PathSelection>Pairwise</PathSelection>", "path_selection = pairwise" },
	{ "<LogLevel>1</LogLevel>", "log_level = warn" },
	{ "<LogLevel>7</LogLevel>", "log_level = debug | debug = 'all'" },
	{ "<LogFile>/var/log/a &amp; b's</LogFile>", "log_file = '/var/log/a & b\\'s'" },
	{ "<TrapThreshold>20</TrapThreshold>", "babbling_port_policy = yes" },
	{ "<CongestionControl><Switch><Threshold>5</Threshold></Switch></CongestionControl>", "" },
	{ "<CongestionControl><Enable>1</Enable><Switch><Threshold>5</Threshold>"
	  "<VictimMarkingEnable>0</VictimMarkingEnable></Switch><Fi><Timer>3</Timer></Fi>"
	  "</CongestionControl>",
	    "congestion_control = yes | cc_sw_cong_setting_control_map = 0x15 | "
	    "cc_ca_cong_setting_control_map = 0xffff | cc_sw_cong_setting_threshold = 5 | "
	    "cc_sw_cong_setting_packet_size = 0 | cc_sw_cong_setting_marking_rate = 0 | "
	    "cc_sw_cong_setting_victim_mask = '0' | "
	    "cc_ca_cong_setting_ccti_increase = '" SLS(
		"1") "' | "
		     "cc_ca_cong_setting_ccti_timer = '" SLS(
			 "3") "' | "
			      "cc_ca_cong_setting_trigger_threshold = '" SLS(
				  "8") "' | "
				       "cc_ca_cong_setting_ccti_min = '" SLS("0") "'" },
	{ "<ForceRebalance>1</ForceRebalance>", "rebalance = always" },
	{ "<RoutingAlgorithm>dgshortestpath</RoutingAlgorithm>", "chain = { 'dgshortestpath' }" },
	{ "<RoutingAlgorithm>hypercube</RoutingAlgorithm>", "chain = { 'dor' }" },
	{ "<Hypercube>1</Hypercube>", "chain = { 'dor' }" },
	{ "<RoutingAlgorithm>dgshortestpath</RoutingAlgorithm>"
	  "<SpineFirstRouting>0</SpineFirstRouting>",
	    "chain = { 'dgshortestpath' } | dgshortestpath { | spine_first_routing = no | }" },
	{ "<RoutingAlgorithm>dgshortestpath</RoutingAlgorithm><DGShortestPathTopology>"
	  "<RoutingOrder><DeviceGroup>Core</DeviceGroup><DeviceGroup>All</DeviceGroup>"
	  "</RoutingOrder></DGShortestPathTopology></Sm><DeviceGroups><DeviceGroup><Name>Core</"
	  "Name>"
	  "<NodeDesc>c*</NodeDesc></DeviceGroup></DeviceGroups><Sm>",
	    "chain = { 'dgshortestpath' } | dgshortestpath { | routing_order = { '@Core', 'All' } "
	    "| } | group \"Core\" { | members = { | 'name:c*' /* line 2 */ | } | }" },
	/* GUIDs are written in full, All in any case, and a list is that of the subnet alone */
	{ FATTREE TO_CORE GROUPS(GROUP("Core", "<NodeGUID>0x1f</NodeGUID><Select>ALL</Select>")),
	    "chain = { 'fattree' } | fattree { | roots = { '@Core' } | } | group \"Core\" { | "
	    "members = { | '0x000000000000001f' /* line 2 */, | 'All' /* line 2 */ | } | }" },
	{ "<RoutingAlgorithm>dgshortestpath</RoutingAlgorithm>" ORDER(DG("Gone")
		  DG("All")) "</Sm></Common><Fm><Sm>" ORDER(DG("All")) "</Sm></Fm><Common><Sm>",
	    "chain = { 'dgshortestpath' } | dgshortestpath { | routing_order = { 'All' } | }" },
	{ "<AdaptiveRouting><Enable>1</Enable></AdaptiveRouting><Lmc>1</Lmc><AdaptiveRouting>"
	  "<Algorithm>0</Algorithm></AdaptiveRouting>",
	    "adaptive_routing { | enable = yes | algorithm = 0 | } | lmc = 1" },
	/* Sm goes before Shared, an Fm before Common, one that starts before one that does not */
	{ "</Sm><Shared><Priority>1</Priority></Shared><Sm><Priority>2</Priority>",
	    "sm_priority = 2" },
	{ "<Priority>2</Priority></Sm><Shared><Priority>1</Priority></Shared><Sm>",
	    "sm_priority = 2" },
	{ "</Sm></Common><Fm><Shared><Priority>3</Priority></Shared></Fm><Common><Sm>"
	  "<Priority>2</Priority>",
	    "sm_priority = 3" },
	{ "</Sm></Common><Fm><Shared><Start>0</Start></Shared><Sm><Lmc>1</Lmc></Sm></Fm><Fm><Sm>"
	  "<Lmc>2</Lmc></Sm></Fm><Common><Sm>",
	    "lmc = 2" },
};

START_TEST(elements_are_translated)
{
	ck_assert_str_eq(pick(translated[_i].text, false), translated[_i].becomes);
}
END_TEST

/* Those that no row translates, or not alone. */
static const struct {
	const char *text, *says;
} told[] = {
	{ "<Lcm>1</Lcm>",
	    "# line 2: Lcm has no counterpart: fmd does not know it; did you mean Lmc?" },
	{ "<PM_LogMask>0x1</PM_LogMask>", "# line 2: LogMask 0x1 has no counterpart:" },
	{ TO_CORE, "# line 2: FatTreeTopology.CoreSwitches is not used: RoutingAlgorithm is not" },
	{ "<SpineFirstRouting>0</SpineFirstRouting>", "# line 2: SpineFirstRouting is not used" },
	{ "<PacketLifetime>2s</PacketLifetime>",
	    "# line 2: PacketLifetime 2s is not used: DynamicPacketLifetime.Enable is 1" },
	{ "<FatTreeTopology><Converge>1</Converge></FatTreeTopology>",
	    "# line 2: FatTreeTopology.Converge 1 has no counterpart: fattree spreads" },
	{ "</Sm><Pm><Start>1</Start></Pm><Sm>", "# line 2: Pm has no counterpart: fmd does not" },
	{ "</Sm><Odd>1</Odd><Sm>", "# line 2: Odd has no counterpart: fmd does not know it" },
	{ "</Sm></Common><Fm></Fm>\n<Fm></Fm><Common><Sm>",
	    "# line 3: this Fm is another subnet, which wants a fmd of its own" },
};

START_TEST(others_are_told)
{
	ck_assert_msg(strncmp(pick(told[_i].text, true), told[_i].says, strlen(told[_i].says)) == 0,
	    "%s", pick(told[_i].text, true));
	ck_assert_str_eq(pick(told[_i].text, false), "");
}
END_TEST

static const char *
typical(void)
{
	static char path[512];
	const char *dir = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/tests/opafm/opafm.xml", dir != NULL ? dir : "..");
	return path;
}

/* The import of a typical file is a good fmd.conf, and means what the file means. */
START_TEST(a_typical_file)
{
	char fmd_path[96], *text;
	struct conf_source source = { .path = fmd_path };
	struct mistakes all = { 0 };
	struct fm_error err;
	struct conf *conf;

	text = import(typical(), &all, &err);
	ck_assert_msg(text != NULL, "%s", err.msg);
	snprintf(fmd_path, sizeof(fmd_path), "%s/fmd.conf", folder);
	folder_write(folder, "fmd.conf", text);
	free(text);
	ck_assert_msg(conf_load(&source, &engines, &conf, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(conf->routing.chain_text, "fattree");
	ck_assert_int_eq(conf->addresses.lmc, 2);
	ck_assert_int_eq(conf->sm.priority, 4);
	ck_assert_int_eq(conf->sweep.interval_ms, 60000);
	ck_assert_int_eq(conf->ports.packet_life_time, 14);
	ck_assert_int_eq(conf->ports.leaf_head_of_queue_lifetime, 10);
	ck_assert_int_eq(conf->transport.retries, 4);
	ck_assert(conf->ar.enable);
	ck_assert(conf->congestion.enable);
	ck_assert_uint_eq(conf->congestion.blocks.sw[4], 0x7f); /* all ports are victims, too */
	ck_assert_uint_eq(conf->congestion.blocks.sw[68], 0x10);
	ck_assert_uint_eq(conf->congestion.blocks.ca[4 + 8 * 15 + 3], 8);
	ck_assert_int_eq(conf->ar.threshold, 5);
	ck_assert_int_eq(conf->addresses.subnet_prefix, (int64_t)0xfe80000000001001);
	conf_put(conf);
}
END_TEST

/* ------------------------------------------------------------------ mistakes */

#define IN_SM(text) "<Config>\n<Common><Sm>" text "</Sm></Common>\n</Config>\n"
#define IN_TREE(groups) \
	"<Config><Common><DeviceGroups>" groups "</DeviceGroups><Sm>" FATTREE TO_CORE \
	"</Sm></Common></Config>"

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "opafm.xml:1: this is no XML: no element found" },
	{ "lmc 1\n", "opafm.xml:1: this is no XML: syntax error" },
	{ "<Config>\n<Sm>\n</Config>",
	    "opafm.xml:3: this is no XML: mismatched tag, in <Sm> of line 2" },
	{ "<Config>\n<Sm>\n", "opafm.xml:3: this is no XML: no element found, in <Sm> of line 2" },
	{ "<Config>&lol;</Config>",
	    "opafm.xml:1: this is no XML: undefined entity, in <Config> of line 1" },
	{ "<!DOCTYPE a [\n<!ENTITY b \"c\">]>\n<Config>&b;</Config>",
	    "opafm.xml:1: <!DOCTYPE a ...>: opa-fm's file declares no document type and no "
	    "entities: take it out" },
	{ "<!DOCTYPE a SYSTEM \"/etc/passwd\"><Config></Config>",
	    "opafm.xml:1: <!DOCTYPE a ...>: opa-fm's file declares no document type and no "
	    "entities: take it out" },
	{ "<html></html>", "opafm.xml:1: <html> is not of opa-fm's form: its file is a <Config>" },
	{ IN_SM("<Lmc bits=\"1\">1</Lmc>"),
	    "opafm.xml:2: <Lmc bits=...>: opa-fm's elements have no attributes: write "
	    "<Lmc>VALUE</Lmc>" },
	{ IN_SM("3<Lmc>1</Lmc>"),
	    "opafm.xml:2: \"3\" stands beside elements: a value is alone in its element" },
	{ IN_SM("<Lmc>1</Lmc>3"),
	    "opafm.xml:2: \"3\" stands beside elements: a value is alone in its element" },
	{ IN_SM("<LogFile>a\nb</LogFile>"),
	    "opafm.xml:2: the value of <LogFile> has a line break or a tab" },
	{ IN_SM("<Lmc>9</Lmc>"), "opafm.xml:2: Lmc: lmc = 9 is outside 0..7 bits" },
	{ IN_SM("<Lmc>-1</Lmc>"), "opafm.xml:2: Lmc: lmc = -1 is outside 0..7 bits" },
	{ IN_SM("<Lmc>two</Lmc>"), "opafm.xml:2: Lmc two is no number: write it as in 0" },
	{ IN_SM("<IgnoreTraps>yes</IgnoreTraps>"), "opafm.xml:2: IgnoreTraps yes: write 1 or 0" },
	{ IN_SM("<HoqLife>8</HoqLife>"),
	    "opafm.xml:2: HoqLife 8 is no time: write a number with ns, us, ms, s, m or h, or "
	    "infinite" },
	{ IN_SM("<PathSelection>Best</PathSelection>"),
	    "opafm.xml:2: PathSelection Best is none of Minimal, Pairwise, OrderAll, SrcDstAll" },
	{ IN_SM("<RoutingAlgorithm>ftree</RoutingAlgorithm>"),
	    "opafm.xml:2: RoutingAlgorithm ftree is none of shortestpath, dgshortestpath, "
	    "fattree, hypercube and dor" },
	{ IN_SM("<LogLevel>-1</LogLevel>"),
	    "opafm.xml:2: LogLevel -1 is no number: write it as in 2" },
	{ IN_SM(NO_HOPS "<PacketLifetime>infinite</PacketLifetime>"),
	    "opafm.xml:2: PacketLifetime infinite is no time: write a number with ns, us, ms, s, "
	    "m or h" },
	{ IN_TREE(GROUP("Core", "<NodeGUID>core-1</NodeGUID>")),
	    "opafm.xml:1: NodeGUID core-1 of the device group Core is no GUID" },
	{ IN_SM("<MaxAttempts>0</MaxAttempts>"), "opafm.xml:2: MaxAttempts 0: one is the least" },
	{ IN_TREE(""), "opafm.xml:1: FatTreeTopology.CoreSwitches: there is no device group Core" },
	{ IN_TREE(GROUP("Core", "")),
	    "opafm.xml:1: the device group Core of line 1 names nothing" },
	{ IN_TREE(GROUP("Core", "<IncludeGroup>Gone</IncludeGroup>")),
	    "opafm.xml:1: the device group Core includes Gone, which is not there" },
	{ IN_TREE(GROUP("Core", "<IncludeGroup>Core</IncludeGroup>")),
	    "opafm.xml:1: the device group Core of line 1 names nothing" },
};

/* The first mistake of a file that is not imported, without the folder. */
static const char *
refusal(const char *text)
{
	static char out[1024];
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	const char *first;

	folder_write(folder, "opafm.xml", text);
	ck_assert_ptr_null(import(xml_path, &all, &err));
	ck_assert_int_eq(err.kind, FM_E_CONFIG);
	first = all.n > 0 ? all.sentence[0] : err.msg;
	ck_assert(strncmp(first, folder, strlen(folder)) == 0);
	snprintf(out, sizeof(out), "%s", first + strlen(folder) + 1);
	mistakes_fini(&all);
	return out;
}

START_TEST(mistakes_are_told)
{
	ck_assert_str_eq(refusal(bad[_i].text), bad[_i].says);
}
END_TEST

START_TEST(all_mistakes_are_told)
{
	struct mistakes all = { 0 };
	struct fm_error err;

	folder_write(folder, "opafm.xml",
	    IN_SM("<Lmc>8</Lmc>\n<IgnoreTraps>2</IgnoreTraps>\n<HoqLife>x</HoqLife>"));
	ck_assert_ptr_null(import(xml_path, &all, &err));
	ck_assert_uint_eq(all.n, 3);
	mistakes_fini(&all);
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
	struct mistakes all = { 0 };
	struct fm_error err;

	ck_assert_ptr_null(import("/nonexistent/opafm.xml", &all, &err));
	ck_assert_int_eq(err.kind, FM_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/opafm.xml"));
}
END_TEST

/* ------------------------------------------------------------------- hostile */

/* The same text n times. */
static void
repeat(char *out, const char *text, size_t n)
{
	size_t bytes = strlen(text);

	for (size_t i = 0; i < n; i++)
		memcpy(out + i * bytes, text, bytes);
	out[n * bytes] = '\0';
}

/* A group of nothing that a list of nodes can name is left out, not refused. */
START_TEST(a_group_that_is_left_out)
{
	static const char text[] = FATTREE TO_CORE GROUPS(
	    GROUP("Core", "<Select>TFIs</Select><Select>AllMgmtAllowed</Select>"));

	ck_assert_str_eq(pick(text, false), "chain = { 'fattree' }");
	ck_assert_ptr_nonnull(
	    strstr(pick(text, true), "Select TFIs of the device group Core is left out"));
}
END_TEST

/* Other encodings are read, or refused with what expat says. */
static const struct {
	const char *text;
	size_t n;
	const char *says; /* NULL: it is read */
} encoded[] = {
#define TEXT(text, says) \
	{ \
		text, sizeof(text) - 1, says \
	}
	TEXT("\xef\xbb\xbf<Config><Common><Sm><Lmc>1</Lmc></Sm></Common></Config>", NULL),
	TEXT("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><Config><Common><Shared><LogFile>"
	     "/b\xe4r</LogFile></Shared></Common></Config>",
	    NULL),
	TEXT("\xff\xfe<\0C\0o\0n\0f\0i\0g\0/\0>\0", NULL),
	TEXT("\xfe\xff\0<\0C\0o\0n\0f\0i\0g\0/\0>", NULL),
	TEXT("\xff\xfe<\0C\0o", "this is no XML: "),
	TEXT("<?xml version=\"1.0\" encoding=\"KOI8-R\"?><Config/>",
	    "opafm.xml:1: this is no XML: unknown encoding"),
	TEXT("<Config>\xff</Config>", "opafm.xml:1: this is no XML: not well-formed"),
	TEXT("<Config>\0</Config>", "opafm.xml:1: this is no XML: not well-formed"),
	TEXT("<Config>&#0;</Config>", "opafm.xml:1: this is no XML: reference to invalid"),
#undef TEXT
};

START_TEST(encodings)
{
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	FILE *f = fopen(xml_path, "w");
	char *printed;

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(encoded[_i].text, 1, encoded[_i].n, f), encoded[_i].n);
	fclose(f);
	printed = import(xml_path, &all, &err);
	ck_assert_int_eq(printed != NULL, encoded[_i].says == NULL);
	if (printed == NULL)
		ck_assert_msg(strstr(err.msg, encoded[_i].says) != NULL, "%s", err.msg);
	free(printed);
	mistakes_fini(&all);
}
END_TEST

/* Entities that would be 2^30 letters are not unfolded, attributes of a MiB not kept. */
START_TEST(bombs)
{
	static char text[2 << 20];
	size_t n = (size_t)snprintf(text, sizeof(text), "<?xml version=\"1.0\"?>\n<!DOCTYPE a [");

	for (int i = 1; i <= 30; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "<!ENTITY e%d \"&e%d;&e%d;\">", i, i - 1, i - 1);
	snprintf(text + n, sizeof(text) - n,
	    "<!ENTITY e0 \"x\">]><Config><Common><Sm><Lmc>&e30;</Lmc></Sm></Common></Config>");
	ck_assert_ptr_nonnull(strstr(refusal(text), "opafm.xml:2: <!DOCTYPE a ...>:"));
	n = (size_t)snprintf(text, sizeof(text), "<Config x=\"");
	memset(text + n, 'y', 1 << 20);
	snprintf(text + n + (1 << 20), 16, "\"></Config>");
	ck_assert_ptr_nonnull(
	    strstr(refusal(text), "<Config x=...>: opa-fm's elements have no attributes"));
	n = (size_t)snprintf(text, sizeof(text), "<Config ");
	for (int i = 0; i < 50000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "a%d=\"\" ", i);
	snprintf(text + n, sizeof(text) - n, "></Config>");
	ck_assert_ptr_nonnull(strstr(refusal(text), "have no attributes"));
}
END_TEST

START_TEST(depth_and_length_are_bounded)
{
	static char text[4 << 20];
	size_t n;

	repeat(text, "<a>", 1000000);
	ck_assert_str_eq(
	    refusal(text), "opafm.xml:1: <a> stands in 16 others: opa-fm's file is not so deep");
	n = (size_t)snprintf(text, sizeof(text), "<Config>");
	repeat(text + n, "<a/>", 1000000);
	ck_assert_str_eq(refusal(text), "opafm.xml:1: more than 100000 elements");
	n = (size_t)snprintf(text, sizeof(text), "<Config><Common><Sm><LogFile>");
	repeat(text + n, "x", 256);
	ck_assert_msg(
	    strncmp(refusal(text), "opafm.xml:1: a value of more than 255 letters", 45) == 0, "%s",
	    refusal(text));
	text[0] = '<';
	repeat(text + 1, "y", 1000000);
	snprintf(text + 1000001, 2, ">");
	ck_assert_msg(
	    strstr(refusal(text), "is no element of opa-fm's") != NULL, "%s", refusal(text));
}
END_TEST

/* Groups that include the next two twice each: 2^30 ways through them, each taken in once. */
START_TEST(groups_are_taken_in_once)
{
	static char text[16384];
	struct mistakes all = { 0 };
	struct fm_error err;
	char *printed;
	size_t n = (size_t)snprintf(text, sizeof(text), "<Config><Common><DeviceGroups>");

	for (int i = 0; i < 30; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    GROUP("%s%.0d",
			"<IncludeGroup>g%d</IncludeGroup><IncludeGroup>g%d</IncludeGroup>"
			"<NodeDesc>n%d</NodeDesc>"),
		    i == 0 ? "Core" : "g", i, i + 1, i < 29 ? i + 2 : i + 1, i);
	snprintf(text + n, sizeof(text) - n,
	    GROUP("g30", "<NodeDesc>n30</NodeDesc>") "</DeviceGroups><Sm>" FATTREE TO_CORE
						     "</Sm></Common></Config>");
	folder_write(folder, "opafm.xml", text);
	printed = import(xml_path, &all, &err);
	ck_assert_msg(printed != NULL, "%s", err.msg);
	ck_assert_ptr_nonnull(strstr(printed, "'name:n30'"));
	ck_assert_ptr_null(strstr(strstr(printed, "'name:n30'") + 1, "'name:n30'"));
	free(printed);
}
END_TEST

/* 64 groups of RoutingOrder include one that includes 5,000 by name, which is looked for among
 * names, not among elements; one group more is refused. */
START_TEST(many_groups)
{
	static char text[4 << 20];
	struct mistakes all = { 0 };
	struct fm_error err;
	char *printed;
	size_t n = (size_t)snprintf(text, sizeof(text), "<Config><Common><DeviceGroups>");

	for (int i = 0; i < 5000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "<DeviceGroup><NodeDesc>n%d</NodeDesc><Name>g%d</Name></DeviceGroup>", i, i);
	for (int i = 0; i < 65; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    GROUP("w%d", "<IncludeGroup>Wide</IncludeGroup>"), i);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "<DeviceGroup><Name>Wide</Name>");
	for (int i = 0; i < 5000; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "<IncludeGroup>g%d</IncludeGroup>", i);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
	    "</DeviceGroup></DeviceGroups><Sm><RoutingAlgorithm>dgshortestpath</RoutingAlgorithm>"
	    "<DGShortestPathTopology><RoutingOrder>");
	for (int i = 0; i < 64; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, DG("w%d"), i);
#define TAIL "</RoutingOrder></DGShortestPathTopology></Sm></Common></Config>"
	snprintf(text + n, sizeof(text) - n, TAIL);
	folder_write(folder, "opafm.xml", text);
	printed = import(xml_path, &all, &err);
	ck_assert_msg(printed != NULL, "%s", err.msg);
	ck_assert_ptr_nonnull(strstr(strstr(printed, "group \"w63\""), "'name:n4999'"));
	free(printed);
	snprintf(text + n, sizeof(text) - n, DG("w64") TAIL);
	ck_assert_str_eq(refusal(text), "opafm.xml:1: RoutingOrder has more than 64 groups");
}
END_TEST

/* A typical file with letters and pieces changed: it is imported or refused with its name. */
START_TEST(damaged_files)
{
	static char whole[8192], text[8192 + 64];
	FILE *f = fopen(typical(), "r");
	size_t n;
	struct fm_rng r;

	ck_assert_ptr_nonnull(f);
	n = fread(whole, 1, sizeof(whole) - 1, f);
	fclose(f);
	fm_rng_seed(&r, (uint64_t)_i);
	for (int k = 0; k < 50; k++) {
		struct mistakes all = { 0 };
		struct fm_error err = { 0 };
		uint32_t from = fm_rng_below(&r, (uint32_t)n), to = fm_rng_below(&r, (uint32_t)n);
		uint32_t bytes = fm_rng_below(&r, 40);
		char *printed;

		snprintf(text, sizeof(text), "%.*s%.*s%s", (int)to, whole, (int)bytes, whole + from,
		    whole + to + (fm_rng_below(&r, 2) ? fm_rng_below(&r, (uint32_t)(n - to)) : 0));
		if (fm_rng_below(&r, 4) == 0)
			text[fm_rng_below(&r, (uint32_t)strlen(text))] =
			    (char)(1 + fm_rng_below(&r, 255));
		folder_write(folder, "opafm.xml", text);
		printed = import(xml_path, &all, &err);
		ck_assert_msg(printed != NULL || strncmp(err.msg, xml_path, strlen(xml_path)) == 0,
		    "%s", err.msg);
		free(printed);
		mistakes_fini(&all);
	}
}
END_TEST

/* A build without libexpat says so, before it looks at the file's mistakes. */
START_TEST(without_expat)
{
	ck_assert_str_eq(refusal("<Config"),
	    "opafm.xml is not read: this fmd is built without libexpat; configure it with "
	    "--with-expat");
}
END_TEST

static void
add_imports(TCase *tc)
{
	tcase_add_test(tc, defaults_say_nothing);
	tcase_add_test(tc, the_rest_is_told);
	tcase_add_loop_test(
	    tc, elements_are_translated, 0, sizeof(translated) / sizeof(*translated));
	tcase_add_loop_test(tc, others_are_told, 0, sizeof(told) / sizeof(*told));
	tcase_add_test(tc, a_typical_file);
	tcase_add_loop_test(tc, mistakes_are_told, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(tc, all_mistakes_are_told);
	tcase_add_test(tc, a_file_that_is_not_there);
	tcase_add_test(tc, a_group_that_is_left_out);
	tcase_add_loop_test(tc, encodings, 0, sizeof(encoded) / sizeof(*encoded));
	tcase_add_test(tc, bombs);
	tcase_add_test(tc, many_groups);
	tcase_add_test(tc, depth_and_length_are_bounded);
	tcase_add_test(tc, groups_are_taken_in_once);
	tcase_add_loop_test(tc, damaged_files, 0, 20);
}

int
main(void)
{
	Suite *s = suite_create("opafm");
	TCase *tc = tcase_create("opafm");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, rows_are_sound);
	if (has_expat)
		add_imports(tc);
	else
		tcase_add_test(tc, without_expat);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
