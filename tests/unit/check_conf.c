/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration: what is taken from where, and for every bad file the
 * exact sentence.  The engine is tests/modules/good, alias fine.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/conf/conf.h"
#include "core/conf/describe.h"
#include "lib/log.h"
#include "lib/vec.h"
#include "tests/folder.h"
#include "tests/run.h"

static struct engine_set engines;
static char folder[FOLDER_ROOM], conf_path[96], warned[2048];

static void
note_warning(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t n = strlen(warned);

	if (level == FM_LOG_WARN)
		snprintf(warned + n, sizeof(warned) - n, "%s\n", line);
}

static void
set_up(void)
{
	const char *dirs[] = { folder, NULL };
	char cmd[256], sub[96];
	struct fm_error err;

	folder_make(folder);
	snprintf(sub, sizeof(sub), "%s/conf.d", folder);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	snprintf(conf_path, sizeof(conf_path), "%s/fmd.conf", folder);
	snprintf(cmd, sizeof(cmd),
	    "cp tests/modules/.libs/good.so tests/modules/.libs/bad_minor.so %s", folder);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
	fm_log_set_sink(note_warning, NULL);
	warned[0] = '\0';
}

static void
tear_down(void)
{
	engine_set_fini(&engines);
	folder_remove(folder);
}

static struct conf *
load(const struct conf_override *overrides, size_t n)
{
	struct conf_source source = { conf_path, overrides, n };
	struct conf *conf = NULL;
	struct fm_error err;

	ck_assert_msg(conf_load(&source, &engines, &conf, &err) == 0, "%s", err.msg);
	return conf;
}

/* The message of a load that must fail, without the folder's name. */
static const char *
message(const struct conf_override *overrides, size_t n)
{
	static char out[sizeof(((struct fm_error *)0)->msg)];
	struct conf_source source = { conf_path, overrides, n };
	struct conf *conf = (struct conf *)&source;
	struct fm_error err = { 0 };
	int rc = conf_load(&source, &engines, &conf, &err);
	size_t at = 0, skip = strlen(folder) + 1;

	ck_assert_msg(rc == FM_E_CONFIG, "returned %d: %s", rc, err.msg);
	ck_assert_ptr_eq(conf, &source); /* written only on success */
	for (const char *p = err.msg; *p != '\0';) {
		if (strncmp(p, folder, skip - 1) == 0)
			p += skip;
		else
			out[at++] = *p++;
	}
	out[at] = '\0';
	return out;
}

static const struct {
	const char *text, *says;
} bad[] = {
	{ "lmc = 8\n", "fmd.conf:1: lmc = 8 is outside 0..7 bits" },
	{ "\n\nlmc = many\n", "fmd.conf:3: lmc = many is no number: write 0..7 bits" },
	{ "lmc = -1\n", "fmd.conf:1: lmc = -1 is outside 0..7 bits" },
	{ "lmc = 99999999999999999999\n",
	    "fmd.conf:1: lmc = 99999999999999999999 is outside 0..7 bits" },
	{ "lmc = \"\"\n", "fmd.conf:1: lmc =  is no number: write 0..7 bits" },
	{ "sm_key = 0x10000000000000000\n",
	    "fmd.conf:1: sm_key = 0x10000000000000000 is more than 64 bits" },
	{ "\nallowed_sm_guids = { 0x2, \"leaf-1\" }\n",
	    "fmd.conf:2: allowed_sm_guids: leaf-1 is no port GUID: write it as in "
	    "0x0002c903000abcd1" },
	{ "allowed_sm_guids = { 0x2, 0x02 }\n",
	    "fmd.conf:1: allowed_sm_guids: 0x02 stands there twice: once is enough" },
	{ "allowed_sm_guids = 0\n",
	    "fmd.conf:1: allowed_sm_guids: 0 is no port GUID: write it as in 0x0002c903000abcd1" },
	{ "force_link_speed = 6\n",
	    "fmd.conf:1: force_link_speed: 6 is reserved: add 2 (DDR) and 4 (QDR) to 1 (SDR), or "
	    "write 15 for all, 0 to leave it" },
	{ "force_link_speed = 9\n",
	    "fmd.conf:1: force_link_speed: 9 is reserved: add 2 (DDR) and 4 (QDR) to 1 (SDR), or "
	    "write 15 for all, 0 to leave it" },
	{ "\nforce_link_speed_ext = 16\n",
	    "fmd.conf:2: force_link_speed_ext: 16 is reserved: add 1 (FDR), 2 (EDR), 4 (HDR) and 8 "
	    "(NDR), or write 31 for all, 30 for none, 0 to leave it" },
	{ "force_link_width = 64\n",
	    "fmd.conf:1: force_link_width: 64 is reserved: add 1 (1x), 2 (4x), 4 (8x), 8 (12x) and "
	    "16 (2x), or write 255 for all, 0 to leave it" },
	{ "guid = 0x2c9\ntransport = umad:mlx5_0\n",
	    "fmd.conf:1: guid: transport = umad:mlx5_0 names the port, too: say one of them" },
	{ "guid = 0x2c9\ntransport = \"sim:a.net,local=b\"\n",
	    "fmd.conf:1: guid: transport = sim:a.net,local=b names the port, too: say one of "
	    "them" },
	{ "port = 'mlx5_0:1,mlx5_1:2,mlx5_0:01'\n",
	    "fmd.conf:1: port: mlx5_0:01 stands there twice: once is enough" },
	{ "port = { mlx5_0:1, 0x2c9 }\n",
	    "fmd.conf:1: port: \"0x2c9\" in a list of ports: each is an adapter and its port, as "
	    "in mlx5_0:1" },
	{ "port = 'mlx5_0,mlx5_0:2'\n",
	    "fmd.conf:1: port: \"mlx5_0\" in a list of ports: each is an adapter and its port, as "
	    "in mlx5_0:1" },
	{ "\nport = 'mlx5_0:1,umad:mlx5_0:2'\n",
	    "fmd.conf:2: port: \"umad:mlx5_0:2\" in a list of ports: each is an adapter and its "
	    "port, "
	    "as in mlx5_0:1" },
	{ "port = 'a:1,a:255'\n",
	    "fmd.conf:1: port: \"a:255\" in a list of ports: each is an adapter and its port, as "
	    "in mlx5_0:1" },
	{ "port = 'a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9'\n",
	    "fmd.conf:1: port: a:9 is one too many: 8 ports at most" },
	{ "port = mlx5_0:one\n",
	    "fmd.conf:1: port: \"umad:mlx5_0:one\": behind umad stand the adapter and its port, as "
	    "in "
	    "umad:mlx5_0:1" },
	{ "port = mlx5_0:1\ntransport = umad:mlx5_0\n",
	    "fmd.conf:1: port: transport names the port, too: say one of them" },
	{ "port = 'mlx5_0:1,mlx5_0:2'\nguid = 0x2c9\n",
	    "fmd.conf:1: port: guid names the port, too: say one of them" },
	{ "guid2mkey = absent\n", "fmd.conf:1: guid2mkey: absent: No such file or directory" },
	{ "sm_sl = 16\n", "fmd.conf:1: sm_sl = 16 is outside 0..15" },
	{ "sm_patience = 25h\n", "fmd.conf:1: sm_patience = 25h is outside 0..24h" },
	{ "fallback = perhaps\n", "fmd.conf:1: fallback = perhaps is neither yes nor no" },
	{ "credit_loops = ignore\n", "fmd.conf:1: credit_loops = ignore is none of refuse, warn" },
	{ "audit = 3s\n",
	    "fmd.conf:1: audit: a turn takes 10s at least, as switches are asked beside all else; "
	    "0 = never" },
	{ "audit = 169h\n", "fmd.conf:1: audit = 169h is outside 0..168h" },
	{ "sweep_interval = 10\n",
	    "fmd.conf:1: sweep_interval = 10 has no unit that fits: write a number and ms, s, min "
	    "or h" },
	{ "sweep_interval = soon\n",
	    "fmd.conf:1: sweep_interval = soon is no duration: write a number and ms, s, min or "
	    "h" },
	{ "sweep_interval = 25h\n", "fmd.conf:1: sweep_interval = 25h is outside 0..24h" },
	{ "sweep_interval = 9999999999999999h\n",
	    "fmd.conf:1: sweep_interval = 9999999999999999h is outside 0..24h" },
	{ "# a comment\nsweep_intervall = 10s\n",
	    "fmd.conf:2: unknown key sweep_intervall: did you mean sweep_interval?" },
	{ "colour = blue\n", "fmd.conf:1: unknown key colour: fmd --help lists them" },
	{ "lmc = 1\nlmc = 2\n", "fmd.conf:2: lmc is set twice, first in line 1: keep one of them" },
	{ "fallback = yes\nlmc 1\n", "fmd.conf:2: an = is missing between lmc and its value" },
	{ "good {\n\tmax_hops = 99\n}\n", "fmd.conf:2: good: max_hops = 99 is outside 1..64 hops" },
	{ "good \"a\" {\n\tmax_hops = 99\n}\n",
	    "fmd.conf:2: good a: max_hops = 99 is outside 1..64 hops" },
	{ "fine \"a\" { max_hops = 0 }\n",
	    "fmd.conf:1: good a: max_hops = 0 is outside 1..64 hops" },
	{ "good \"a\" {\n\tblance = paths\n}\n",
	    "fmd.conf:2: unknown key blance of good: did you mean balance?" },
	{ "good { ids = { \"0x1 99999999999999999999\" } }\n",
	    "fmd.conf:1: good: ids: row '0x1 99999999999999999999' is not \"GUID id\", the GUID "
	    "written 0x..." },
	{ "good {\n\tnonsense = 1\n}\n",
	    "fmd.conf:2: unknown key nonsense of good: fmd --help=good lists them" },
	{ "good {\n\ttime_limit = 5\n}\n",
	    "fmd.conf:2: good: time_limit = 5 has no unit that fits: write a number and ms, s, min "
	    "or h" },
	{ "good \"a\" {\n\ttime_limit = 25h\n}\n",
	    "fmd.conf:2: good a: time_limit = 25h is outside 0..24h" },
	{ "adaptive_routing {\n\tthreshold = 8\n}\n",
	    "fmd.conf:2: adaptive_routing.threshold = 8 is outside 0..7" },
	{ "AdaptiveRouting {\n\tARFrequency = 9\n}\n",
	    "fmd.conf:2: adaptive_routing.frequency = 9 is outside 0..7 64 ms * 2^n" },
	{ "AdaptiveRouting {\n\n\tAlgorithm = 3 }\n",
	    "fmd.conf:3: adaptive_routing.algorithm = 3 is none of random, greedy, greedy_random, "
	    "0, 1, 2" },
	{ "AdaptiveRouting { LostRouteOnly = perhaps }\n",
	    "fmd.conf:1: adaptive_routing.lost_route_only = perhaps is neither yes nor no" },
	{ "adaptive_routing { max_groups = 0 }\n",
	    "fmd.conf:1: adaptive_routing.max_groups = 0 is outside 1..4096 groups" },
	{ "adaptive_routing {\n\tfine_grain = yes\n}\n",
	    "fmd.conf:2: unknown key fine_grain: did you mean fine_grained?" },
	{ "adaptive_routing { enable = yes }\nAdaptiveRouting { Enable = 0 }\n",
	    "fmd.conf:2: adaptive_routing.enable is set twice, first in line 1: keep one of them" },
	{ "adaptive_routing { enable = yes }\nadaptive_routing { enable = no }\n",
	    "fmd.conf:2: adaptive_routing.enable is set twice, first in line 1: keep one of them" },
	{ "lmc = 9\nlmc = 1\n",
	    "fmd.conf:2: lmc is set twice, first in line 1: keep one of them (the first of 2 "
	    "mistakes)" },
	{ "\"lmc\" = 1\n",
	    "fmd.conf:1: a line begins with a key or a section, as in lmc = 1, not with '\"': "
	    "# begins a comment" },
	{ "adaptive_routing { lmc = 1 }\n", "fmd.conf:1: unknown key lmc: fmd --help lists them" },
	{ "enable = yes\n", "fmd.conf:1: unknown key enable: fmd --help lists them" },
	{ "good \"a\" { }\n good\"a\" { }\n",
	    "fmd.conf:2: a second section good \"a\": put its keys into the first, or give it "
	    "another title" },
	{ "fine { }\ngood { }\ngood { }\n",
	    "fmd.conf:3: a second section good without a title: put its keys into the first, or "
	    "give it a title; good \"x\" { } is for the entry good:x of the chain" },
	{ "good { }\ngood\n{ }\n",
	    "fmd.conf:2: a second section good without a title: put its keys into the first, or "
	    "give it a title; good \"x\" { } is for the entry good:x of the chain" },
	{ "good {\n\tstrict = no\n\tstrict = yes\n}\n",
	    "fmd.conf:3: strict is set twice, first in line 2: keep one of them" },
	{ "godo { }\n", "fmd.conf:1: unknown key godo: did you mean good?" },
	{ "lmc = 0\nud { }\n",
	    "fmd.conf:2: no engine 'ud': fmd --list-engines shows what there is, "
	    "--plugin-dir=DIR adds a folder" },
	{ "elsewhere \"a\"\n{ x = 1 }\n",
	    "fmd.conf:1: no engine 'elsewhere': fmd --list-engines shows what there is, "
	    "--plugin-dir=DIR adds a folder" },
	{ "colour = \"{\"\n", "fmd.conf:1: unknown key colour: fmd --help lists them" },
	{ "good {\n\troots = { \"0x1\" }\n\troots = {\n\t\t\"0x2\", \"0x3\" }\n}\n",
	    "fmd.conf:4: roots is set twice, first in line 2: keep one of them" },
	{ "good {\n\troots = {\n\t\t\"0x1\",\n\t\t\"0xzz\"\n\t}\n}\n",
	    "fmd.conf:4: good: roots: '0xzz' is no GUID: write 0x and up to 16 hex digits, or "
	    "name:0xzz "
	    "for a node's name" },
	{ "good { roots = { \"name:leaf-[1-\" } }\n",
	    "fmd.conf:1: good: roots: 'leaf-[1-': brackets hold numbers: [1-18] or [1-4,7]" },
	{ "good { roots = { \"@pods\" } }\n",
	    "fmd.conf:1: good: roots: '@pods': there is no group pods: write group \"pods\" { "
	    "members = { ... } }" },
	{ "good { roots = { \"level:up\" } }\n",
	    "fmd.conf:1: good: roots: level:up: write level:0 (leaves) to level:255, or "
	    "level:top" },
	{ "good { roots = { \"file:none\" } }\n",
	    "fmd.conf:1: good: roots: none: No such file or directory" },
	{ "good { roots = { \"file:guids\" } }\n",
	    "fmd.conf:1: good: roots: guids:3: '0002c903' is no GUID: write 0x and up to 16 hex "
	    "digits, or "
	    "name:0002c903 for a node's name" },
	{ "good { weights = { \"0x1 3\" } }\n",
	    "fmd.conf:1: good: weights: row '0x1 3' is not \"GUID port weight\", the GUID written "
	    "0x..." },
	{ "good { weights = { \"0x1 3 256\" } }\n",
	    "fmd.conf:1: good: weights: 256 is outside 1..255" },
	{ "good { weights = { \"0x1 300 2\" } }\n",
	    "fmd.conf:1: good: weights: row '0x1 300 2': 300 is no port, 0..254" },
	{ "good { tables = \"absent.lfts\" }\n",
	    "fmd.conf:1: good: tables: absent.lfts: No such file or directory" },
	{ "chain = { \"god\" }\n", "fmd.conf:1: chain: no engine 'god': did you mean good?" },
	{ "chain = { \"dfsssp\" }\n",
	    "fmd.conf:1: chain: no engine 'dfsssp': fmd --list-engines shows what there is" },
	{ "chain = { \"bad_minor\" }\n",
	    "fmd.conf:1: chain: bad_minor.so: engine ABI 1.1 is newer than the 1.0 of this fmd: "
	    "update fmd, "
	    "or rebuild the engine against this fmd's fmd/engine.h" },
	{ "chain = { \"good:pods\" }\n",
	    "fmd.conf:1: chain: good:pods: there is no section good \"pods\" { ... }" },
	{ "chain = { \"good:\" }\n",
	    "fmd.conf:1: chain: good:: behind the colon stands the title of a section good "
	    "\"...\" { ... }" },
	{ "chain = { }\nfallback = no\n",
	    "fmd.conf: chain: no engine is left: name one, or set fallback = yes" },
	{ "lmc = \"1\n", "fmd.conf:1: the string that begins here has no closing \" in its line" },
	{ "good {\n\tlabel = \"${FMD_SURELY_NOT_SET}\"\n}\n",
	    "fmd.conf:2: the variable ${FMD_SURELY_NOT_SET} is not set; to mean the text itself "
	    "use single "
	    "quotes" },
	{ "good {\n\tmax_hops = 3\n",
	    "fmd.conf:1: the brace that opens here is never closed: a } is missing" },
	{ "}\n", "fmd.conf:1: this } closes nothing: take it out" },
	{ "= 3\n",
	    "fmd.conf:1: a line begins with a key or a section, as in lmc = 1, not with '=': "
	    "# begins a comment" },
	{ "include(\"/etc/passwd\")\n", "fmd.conf:1: unknown key include: fmd --help lists them" },
};

START_TEST(bad_files)
{
	folder_write(folder, "guids", "# roots\n0x2c903\n0002c903 # octal, and no octal\n");
	folder_write(folder, "fmd.conf", bad[_i].text);
	ck_assert_str_eq(message(NULL, 0), bad[_i].says);
}
END_TEST

START_TEST(bytes_that_are_no_text)
{
	FILE *f = fopen(conf_path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite("lmc = 1\n\0\1\2", 1, 11, f), 11);
	fclose(f);
	ck_assert_str_eq(message(NULL, 0), "fmd.conf:2: a NUL byte: this is no text file");
}
END_TEST

START_TEST(missing_file)
{
	ck_assert_str_eq(message(NULL, 0), "fmd.conf: No such file or directory");
	ck_assert_int_eq(mkdir(conf_path, 0700), 0);
	ck_assert_str_eq(message(NULL, 0), "fmd.conf: not a regular file");
}
END_TEST

START_TEST(defaults)
{
	struct conf *c;

	folder_write(folder, "fmd.conf", "");
	c = load(NULL, 0);
	ck_assert_int_eq(c->sweep.interval_ms, 10000);
	ck_assert_int_eq(c->sweep.audit_ms, 3600000);
	ck_assert_int_eq(c->ports.subnet_timeout, 18);
	ck_assert_int_eq(c->ports.leaf_head_of_queue_lifetime, 16);
	ck_assert_uint_eq((uint64_t)c->addresses.subnet_prefix, UINT64_C(0xfe80000000000000));
	ck_assert_int_eq(c->sm.key, 1);
	ck_assert_int_eq(c->ports.max_op_vls, 4);
	ck_assert_str_eq(c->daemon.state_dir, STATE_DIR);
	ck_assert_str_eq(c->daemon.control_socket, RUN_DIR "/fmd.sock");
	ck_assert_uint_eq(
	    c->routing.chain.n_entries, 0); /* none of the default chain is installed here */
	ck_assert(c->routing.chain.fallback);
	ck_assert(!c->routing.chain.allow_credit_loops);
	ck_assert_ptr_null(c->addresses.guid2lid.path);
	conf_put(c);
}
END_TEST

START_TEST(later_values_win)
{
	static const char *const lmc[] = { "3" }, *const dir[] = { "/tmp/state" };
	const struct conf_override cli[] = { { "lmc", lmc, 1 }, { "state_dir", dir, 1 } };
	struct conf *c;

	folder_write(
	    folder, "fmd.conf", "lmc = 1\nswitch_lmc = 1\nsm_priority = 1 credit_loops = warn\n");
	folder_write(folder, "conf.d/20.conf", "sm_priority = 3\n");
	folder_write(folder, "conf.d/10.conf", "sm_priority = 2\nswitch_lmc = 2\n");
	folder_write(folder, "conf.d/30.conf~", "sm_priority = 4\n");
	c = load(cli, 2);
	ck_assert_int_eq(c->addresses.lmc, 3);
	ck_assert_int_eq(c->addresses.switch_lmc, 2);
	ck_assert_int_eq(c->sm.priority, 3);
	ck_assert(c->routing.chain.allow_credit_loops);
	ck_assert_str_eq(c->daemon.control_socket, "/tmp/state/fmd.sock");
	conf_put(c);
}
END_TEST

/* "none" is no file: not even the one of the system, nor one of this name. */
START_TEST(port_by_guid)
{
	static const struct {
		const char *text, *transport;
	} rows[] = { { "guid = 0x2c9\n", "umad:0x00000000000002c9" }, { "guid = 0\n", "umad" },
		{ "guid = 0x8000000000000001\ntransport = \"sim:a.net,seed=2\"\n",
		    "sim:a.net,seed=2,local=0x8000000000000001" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *c;

		folder_write(folder, "fmd.conf", rows[i].text);
		c = load(NULL, 0);

		ck_assert_str_eq(c->transport.spec, rows[i].transport);
		conf_put(c);
	}
}
END_TEST

START_TEST(ports_in_order)
{
	static const struct {
		const char *text;
		unsigned n;
		const char *port[3];
	} rows[] = { { "", 1, { "umad" } }, { "port = ''\n", 1, { "umad" } },
		{ "transport = umad:mlx5_0\n", 1, { "umad:mlx5_0" } },
		{ "port = mlx5_0\n", 1, { "umad:mlx5_0" } },
		{ "port = mlx5_0:2\n", 1, { "umad:mlx5_0:2" } },
		{ "port = 0x2c9\n", 1, { "umad:0x2c9" } },
		{ "port = 'mlx5_0:2,mlx5_0:1'\n", 2, { "umad:mlx5_0:2", "umad:mlx5_0:1" } },
		{ "port = { mlx5_1:1, mlx5_0:1, mlx5_0:02 }\n", 3,
		    { "umad:mlx5_1:1", "umad:mlx5_0:1", "umad:mlx5_0:2" } } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *c;

		folder_write(folder, "fmd.conf", rows[i].text);
		c = load(NULL, 0);
		ck_assert_uint_eq(c->transport.n_ports, rows[i].n);
		ck_assert_str_eq(c->transport.spec, rows[i].port[0]);
		for (unsigned k = 0; k < rows[i].n; k++)
			ck_assert_str_eq(c->transport.ports[k], rows[i].port[k]);
		conf_put(c);
	}
}
END_TEST

START_TEST(none_is_the_defaults)
{
	const struct conf_source source = { .path = "none" };
	struct conf *c;
	struct fm_error err;

	ck_assert_msg(conf_load(&source, &engines, &c, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(c->addresses.lmc, 0);
	conf_put(c);
}
END_TEST

START_TEST(error_in_conf_d)
{
	folder_write(folder, "fmd.conf", "lmc = 1\n");
	folder_write(folder, "conf.d/10.conf", "\nlmc = 9\n");
	ck_assert_str_eq(message(NULL, 0), "conf.d/10.conf:2: lmc = 9 is outside 0..7 bits");
}
END_TEST

START_TEST(error_on_command_line)
{
	static const char *const word[] = { "fien" };
	const struct conf_override cli = { "chain", word, 1 };

	folder_write(folder, "fmd.conf", "chain = { \"good\" }\n");
	ck_assert_str_eq(
	    message(&cli, 1), "command line: chain: no engine 'fien': did you mean fine?");
}
END_TEST

START_TEST(chain_and_sections)
{
	struct conf *c;

	folder_write(folder, "fmd.conf",
	    "/* a { brace } in a comment: good { } */\n"
	    "good { max_hops = 7 } // good {\n"
	    "good 'pods' { max_hops = 9 }\n"
	    "chain = { \"fine:pods\", \"good\", good:pods }\n");
	c = load(NULL, 0);
	ck_assert_uint_eq(c->routing.chain.n_entries, 3);
	ck_assert_str_eq(c->routing.chain.entries[0].name, "fine:pods");
	ck_assert_str_eq(c->routing.chain.entries[0].engine->name, "good");
	ck_assert_ptr_eq(c->routing.chain.entries[0].values, c->routing.chain.entries[2].values);
	ck_assert_ptr_nonnull(c->routing.chain.entries[1].values);
	ck_assert_ptr_ne(c->routing.chain.entries[0].values, c->routing.chain.entries[1].values);
	ck_assert_int_eq(c->routing.chain.entries[1].time_limit_ms, 60000);
	ck_assert_str_eq(c->routing.chain_text, "fine:pods, good, good:pods");
	ck_assert_str_eq(warned, "");
	conf_put(c);
}
END_TEST

static const struct {
	const char *text;
	mode_t mode;
	gid_t group;	  /* (gid_t)-1: as it is */
	const char *says; /* NULL: nothing */
} secrets[] = {
	{ "lmc = 1\nsm_key = 1\nsa_key = 1\nm_key = 0\n", 0644, (gid_t)-1, NULL },
	{ "sa_key = 77\nm_key = 5\n", 0600, (gid_t)-1, NULL },
	{ "sa_key = 77\nm_key = 5\n", 0640, (gid_t)-1, NULL },
	{ "sa_key = 77\nm_key = 5\n", 0644, (gid_t)-1,
	    "fmd.conf:2: m_key stands in a file that anybody can read (mode 0644): chmod 640 " },
	{ "sa_key = 77\n", 0604, (gid_t)-1,
	    "fmd.conf:1: sa_key stands in a file that anybody can read (mode 0604): chmod 640 " },
	{ "sa_key = 77\nsm_key = 6\n", 0640, 54321,
	    "fmd.conf:2: sm_key stands in a file that the group 54321 can read (mode 0640): "
	    "chmod 600 " },
	{ "sa_key = 77\nsm_key = 6\n", 0600, 54321, NULL },
	{ "\nm_key = 5\n", 0600, (gid_t)-1,
	    "fmd.conf:2: m_key is set, but sa_key is 1, its default, which everybody knows" },
	{ "sm_key = 5\nsa_key = 1\n", 0600, (gid_t)-1,
	    "fmd.conf:1: sm_key is set, but sa_key is 1, its default" },
};

START_TEST(keys_that_are_no_secrets)
{
	folder_write(folder, "fmd.conf", secrets[_i].text);
	ck_assert_int_eq(chmod(conf_path, secrets[_i].mode), 0);
	if (secrets[_i].group != (gid_t)-1 && chown(conf_path, (uid_t)-1, secrets[_i].group) != 0)
		return; /* root's to do */
	conf_put(load(NULL, 0));
	if (secrets[_i].says == NULL)
		ck_assert_str_eq(warned, "");
	else
		ck_assert_msg(strstr(warned, secrets[_i].says) != NULL, "%s", warned);
}
END_TEST

START_TEST(the_password_of_redis_is_no_secret)
{
	char text[160], path[96], want[320];

	folder_write(folder, "redis.auth", "fmd secret\n");
	snprintf(path, sizeof(path), "%s/redis.auth", folder);
	snprintf(text, sizeof(text), "\ndist_auth_file = '%s'\n", path);
	folder_write(folder, "fmd.conf", text);
	ck_assert_int_eq(chmod(path, 0640), 0);
	conf_put(load(NULL, 0));
	ck_assert_str_eq(warned, "");
	ck_assert_int_eq(chmod(path, 0644), 0);
	conf_put(load(NULL, 0));
	snprintf(want, sizeof(want),
	    "fmd.conf:2: what dist_auth_file names stands in a file that anybody can read (mode "
	    "0644): chmod 640 %s",
	    path);
	ck_assert_msg(strstr(warned, want) != NULL, "%s", warned);
}
END_TEST

START_TEST(unused_section_is_warned_of)
{
	folder_write(folder, "fmd.conf", "chain = { good }\ngood \"spare\" {\n}\n");
	conf_put(load(NULL, 0));
	ck_assert_msg(
	    strstr(warned, "fmd.conf:3: the section good \"spare\" is in no chain") != NULL, "%s",
	    warned);
}
END_TEST

/* A region's chain under the name that outside of regions was its own once. */
START_TEST(engine_is_chain_in_a_region)
{
	struct conf *c;

	folder_write(
	    folder, "fmd.conf", "region \"r\" {\n switches = { \"a\" }\n engine = \"good\"\n}\n");
	c = load(NULL, 0);
	ck_assert_str_eq(c->regions.set.region[1].chain_text, "good");
	ck_assert_msg(strstr(warned, "fmd.conf:3: region r: engine is taken for chain") != NULL,
	    "%s", warned);
	conf_put(c);
}
END_TEST

/* Who shows 1 is trusted by default: that keeps nobody out. */
START_TEST(restrict_needs_a_key)
{
	folder_write(folder, "fmd.conf", "untrusted = restrict\n");
	conf_put(load(NULL, 0));
	ck_assert_msg(
	    strstr(warned, "untrusted = restrict keeps nobody out") != NULL, "%s", warned);
	*warned = '\0';
	folder_write(folder, "fmd.conf", "untrusted = restrict\nsa_key = 0x1234567890\n");
	ck_assert_int_eq(chmod(conf_path, 0600), 0);
	conf_put(load(NULL, 0));
	ck_assert_str_eq(warned, "");
}
END_TEST

/* The generated file says the defaults: with every comment sign of a key taken
 * away it must parse and change nothing. */
START_TEST(generated_file_is_the_defaults)
{
	char *text = NULL, *at, path[96];
	struct conf *c, *d;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	FILE *to;

	describe_conf_file(&engines, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/fmd.conf", folder);
	to = fopen(path, "w");
	ck_assert_ptr_nonnull(to);
	for (char *line = strtok_r(text, "\n", &at); line != NULL;
	     line = strtok_r(NULL, "\n", &at)) {
		char *hash = strchr(line, '#');

		if (hash != NULL && hash[1] != ' ')
			*hash = ' ';
		if (strstr(line, "chain = {") == NULL) /* its engines are not in this folder */
			fprintf(to, "%s\n", line);
	}
	fclose(to);
	free(text);
	c = load(NULL, 0);
	snprintf(conf_path, sizeof(conf_path), "%s/empty.conf", folder);
	folder_write(folder, "empty.conf", "");
	d = load(NULL, 0);
	for (size_t i = 0; conf_row(i) != NULL; i++) {
		const struct fm_option *row = &conf_row(i)->option;
		const char *x = (const char *)c + row->offset, *y = (const char *)d + row->offset;

		if (row->type == FM_OPT_INT || row->type == FM_OPT_DURATION)
			ck_assert_int_eq(
			    *(const int64_t *)(const void *)x, *(const int64_t *)(const void *)y);
		else if (row->type == FM_OPT_ENUM)
			ck_assert_int_eq(
			    *(const int *)(const void *)x, *(const int *)(const void *)y);
		else if (row->type == FM_OPT_BOOL)
			ck_assert_int_eq(*(const bool *)x, *(const bool *)y);
	}
	ck_assert_str_eq(c->transport.spec, d->transport.spec);
	conf_put(c);
	conf_put(d);
}
END_TEST

/* The section in our words and in opa-fm's; conf.d may change a key of it. */
START_TEST(adaptive_routing_section)
{
	struct conf *c;

	folder_write(folder, "fmd.conf", "lmc = 1\n");
	c = load(NULL, 0);
	ck_assert(!c->ar.enable && !c->ar.fine_grained && !c->ar.lost_route_only);
	ck_assert_int_eq(c->ar.algorithm, CONF_AR_GREEDY_RANDOM);
	ck_assert_int_eq(c->ar.frequency, 0);
	ck_assert_int_eq(c->ar.threshold, 3);
	ck_assert_int_eq(c->ar.max_groups, 256);
	conf_put(c);
	folder_write(folder, "fmd.conf",
	    "adaptive_routing {\n\tenable = yes\n\tfine_grained = yes\n\tlost_route_only = yes\n"
	    "\talgorithm = greedy\n\tfrequency = 7\n\tthreshold = 0\n\tmax_groups = 12\n}\n");
	c = load(NULL, 0);
	ck_assert(c->ar.enable && c->ar.fine_grained && c->ar.lost_route_only);
	ck_assert_int_eq(c->ar.algorithm, CONF_AR_GREEDY);
	ck_assert_int_eq(c->ar.frequency, 7);
	ck_assert_int_eq(c->ar.threshold, 0);
	ck_assert_int_eq(c->ar.max_groups, 12);
	conf_put(c);
	folder_write(folder, "fmd.conf",
	    "AdaptiveRouting { Enable = 1 FineGrained = 1 LostRouteOnly = 0 Algorithm = 0\n"
	    "ARFrequency = 4 Threshold = 6 }\n");
	c = load(NULL, 0);
	ck_assert(c->ar.enable && c->ar.fine_grained && !c->ar.lost_route_only);
	ck_assert_int_eq(c->ar.algorithm, CONF_AR_RANDOM);
	ck_assert_int_eq(c->ar.frequency, 4);
	ck_assert_int_eq(c->ar.threshold, 6);
	conf_put(c);
	folder_write(
	    folder, "conf.d/ar.conf", "adaptive_routing { threshold = 1 algorithm = 1 }\n");
	c = load(NULL, 0);
	ck_assert_int_eq(c->ar.threshold, 1);
	ck_assert_int_eq(c->ar.algorithm, CONF_AR_GREEDY);
	ck_assert_int_eq(c->ar.frequency, 4);
	conf_put(c);
}
END_TEST

START_TEST(time_limit_of_an_entry)
{
	struct conf *c;

	folder_write(folder, "fmd.conf",
	    "chain = { \"good\", \"good:a\", \"good:b\", \"good:c\" }\nengine_time_limit = 7s\n"
	    "good \"a\" { time_limit = 250ms }\ngood \"b\" { time_limit = 0 }\n"
	    "good \"c\" { max_hops = 3 }\n");
	c = load(NULL, 0);
	ck_assert_uint_eq(c->routing.chain.n_entries, 4);
	ck_assert_int_eq(c->routing.chain.entries[0].time_limit_ms, 7000);
	ck_assert_int_eq(c->routing.chain.entries[1].time_limit_ms, 250);
	ck_assert_int_eq(c->routing.chain.entries[2].time_limit_ms, 0);
	ck_assert_int_eq(c->routing.chain.entries[3].time_limit_ms, 7000);
	conf_put(c);
}
END_TEST

START_TEST(rows_are_sound)
{
	struct option_table table = conf_option_table();
	struct fm_error err;

	ck_assert_msg(option_table_check(&table, &err) == 0, "%s", err.msg);
	for (size_t i = 0; conf_row(i) != NULL; i++) {
		const struct fm_option *row = &conf_row(i)->option;

		ck_assert_msg(row->help[strlen(row->help) - 1] == '.', "%s: help without full stop",
		    row->name);
	}
}
END_TEST

/* Where engines run is known before they are, whatever stands in their sections. */
static const struct {
	const char *text;
	enum apart_who who;
	unsigned mib;
} peeks[] = {
	{ "", APART_FOREIGN, 4096 },
	{ "engine_isolation = all\nengine_memory = 100\n", APART_ALL, 100 },
	{ "unknown \"a title\" {\n deed = spin\n list = { \"}\", '{' } # }\n}\nengine_isolation = "
	  "none\n",
	    APART_NONE, 4096 },
	{ "unknown { x = 1 }\nfine 'b' { a = { b } /* } */ }\nengine_isolation = none", APART_NONE,
	    4096 },
	{ "adaptive_routing { enable = yes }\nregion \"r\" { chain = \"none\" }\nengine_isolation "
	  "= all",
	    APART_ALL, 4096 },
	{ "# engine_isolation = none\n/* engine_isolation = none */ // engine_isolation = none\n",
	    APART_FOREIGN, 4096 },
	{ "chain = { \"unknown:x\", \"updn\" }\nother { engine_isolation = none }\nengine_memory = "
	  "64",
	    APART_FOREIGN, 64 },
	{ "engine_isolation = none\nunknown {", APART_FOREIGN, 4096 },
	{ "engine_isolation = nowhere", APART_FOREIGN, 4096 },
};

START_TEST(isolation_is_known_before_engines)
{
	struct conf_source source = { .path = conf_path };
	struct apart_settings set;

	folder_write(folder, "fmd.conf", peeks[_i].text);
	conf_peek_isolation(&source, &set);
	ck_assert_int_eq(set.who, peeks[_i].who);
	ck_assert_uint_eq(set.memory_bytes >> 20, peeks[_i].mib);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("conf");
	TCase *tc = tcase_create("conf");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, bad_files, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(tc, bytes_that_are_no_text);
	tcase_add_test(tc, missing_file);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, later_values_win);
	tcase_add_test(tc, port_by_guid);
	tcase_add_test(tc, ports_in_order);
	tcase_add_test(tc, none_is_the_defaults);
	tcase_add_test(tc, error_in_conf_d);
	tcase_add_test(tc, error_on_command_line);
	tcase_add_test(tc, chain_and_sections);
	tcase_add_test(tc, the_password_of_redis_is_no_secret);
	tcase_add_test(tc, unused_section_is_warned_of);
	tcase_add_test(tc, engine_is_chain_in_a_region);
	tcase_add_test(tc, restrict_needs_a_key);
	tcase_add_loop_test(tc, keys_that_are_no_secrets, 0, sizeof(secrets) / sizeof(secrets[0]));
	tcase_add_test(tc, generated_file_is_the_defaults);
	tcase_add_test(tc, adaptive_routing_section);
	tcase_add_test(tc, time_limit_of_an_entry);
	tcase_add_test(tc, rows_are_sound);
	tcase_add_loop_test(
	    tc, isolation_is_known_before_engines, 0, sizeof(peeks) / sizeof(*peeks));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
