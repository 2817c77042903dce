/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's configuration: its default file says nothing, every key is translated or told, and
 * all mistakes of a file are.  The engines are fmd's own.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "core/conf/conf_opensm.h"
#include "core/opensm/opensm.h"
#include "core/subnet/qos.h"
#include "lib/log.h"
#include "tests/folder.h"
#include "tests/imported.h"
#include "tests/run.h"

static struct engine_set engines;
static char folder[FOLDER_ROOM], conf_path[96], said[32768];
static enum fm_log_level quietest = FM_LOG_WARN; /* that is kept in said */

/* Warnings and errors, or what is above quietest, a line each, without the folder's name. */
static void
note(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t n = strlen(said), skip = strlen(folder);

	for (const char *p = line; level <= quietest && *p != '\0' && n < sizeof(said) - 2;) {
		if (strncmp(p, folder, skip) == 0 && p[skip] == '/')
			p += skip + 1;
		else
			said[n++] = *p++;
	}
	if (level <= quietest)
		said[n++] = '\n';
	said[n] = '\0';
}

static void
set_up(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct fm_error err;

	folder_make(folder);
	snprintf(conf_path, sizeof(conf_path), "%s/opensm.conf", folder);
	ck_assert_int_eq(setenv("OSM_CACHE_DIR", folder, 1), 0);
	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
	fm_log_set_sink(note, NULL);
	said[0] = '\0';
}

static void
tear_down(void)
{
	engine_set_fini(&engines);
	folder_remove(folder);
}

static struct conf *
load_source(const struct conf_source *source)
{
	struct conf *conf = NULL;
	struct fm_error err;

	ck_assert_msg(conf_load(source, &engines, &conf, &err) == 0, "%s", err.msg);
	return conf;
}

static struct conf *
load(const char *text)
{
	const struct conf_source source = { .path = conf_path };

	folder_write(folder, "opensm.conf", text);
	return load_source(&source);
}

/* The sentence that a bad file ends with, without the folder. */
static const char *
message(const char *text)
{
	const struct conf_source source = { .path = conf_path };
	struct conf *conf = NULL;
	struct fm_error err = { 0 };
	size_t skip = strlen(folder) + 1;
	static char out[sizeof(err.msg)];

	folder_write(folder, "opensm.conf", text);
	ck_assert_int_eq(conf_load(&source, &engines, &conf, &err), FM_E_CONFIG);
	ck_assert_ptr_null(conf);
	snprintf(out, sizeof(out), "%s",
	    strncmp(err.msg, folder, skip - 1) == 0 ? err.msg + skip : err.msg);
	return out;
}

START_TEST(rows_are_sound)
{
	size_t n = 0;

	for (const struct opensm_key *k; (k = opensm_key(n)) != NULL; n++) {
		ck_assert_ptr_eq(opensm_key_find(k->name), k); /* no name twice */
		ck_assert_msg((k->fate < OPENSM_ALWAYS) == (k->to != NULL), "%s", k->name);
		ck_assert_msg(
		    k->to == NULL || is_option(&engines, k->to), "%s: %s", k->name, k->to);
		ck_assert_msg(
		    k->or_to == NULL || is_option(&engines, k->or_to), "%s: %s", k->name, k->or_to);
		ck_assert_msg(k->fate < OPENSM_ALWAYS || k->note != NULL, "%s", k->name);
	}
	ck_assert_uint_ge(n, 160);
	for (size_t i = 0; opensm_option(i) != NULL; i++)
		ck_assert_msg(
		    opensm_option(i)->key == NULL || opensm_key_find(opensm_option(i)->key) != NULL,
		    "%s", opensm_option(i)->name);
}
END_TEST

static const struct {
	const char *text;
	bool is;
} forms[] = {
	{ "lmc 1\n", true },
	{ "# x = y\n\n  lmc\t1\n", true },
	{ "lmc 1\nlmc = 2\n", true }, /* and then a mistake */
	{ "lmc = 1\n", false },
	{ "lmc=1\n", false },
	{ "lmc  = 1\nlmc 1\n", false },
	{ "lnc 1\n", true },
	{ "lnc 1\nlmc = 1\n", false },
	{ "fattree \"pods\"\n{ }\n", false },
	{ "fattree {\n", false },
	{ "fattree \"pods\" { roots = { 0x1 } }\n", false },
	{ "/* */ lmc 1\n", false },
	{ "// lmc\n", false },
	{ "chain += { }\n", false },
	{ "lmc\n", false },
	{ "# nothing\n", false },
	{ "", false },
	{ "}", false },
	/* what is of neither form says nothing */
	{ "lmc\nlmc 1\n", true },
	{ "; old\nlmc 1\n", true },
	{ "[opensm]\nlmc 1\n", true },
	{ "// old\nlmc 1\n", true },
	{ "lmc: 1\nsm_priority 2\n", true },
	{ "\"lmc\" 1\nsm_priority 2\n", true },
	{ "event_plugin_options a{b\n", true },
	{ "max_op_vls 5 {\n", true },
	{ "routing-engine updn\n", true },
	{ "; old\nlmc = 1\n", false },
	{ "/*\n lmc 1\n*/\nlmc = 1\n", false },
	{ "guid \"x\" {\n", false },
	{ "qos {\n", false },
};

START_TEST(known_by_its_form)
{
	ck_assert_msg(opensm_is_form(forms[_i].text, strlen(forms[_i].text)) == forms[_i].is, "%s",
	    forms[_i].text);
}
END_TEST

/* Every key at its default, as `opensm -c FILE` writes it, but without the files that OpenSM of
 * this machine may have. */
static void
write_default_file(char *text, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; opensm_key(i) != NULL; i++) {
		const struct opensm_key *k = opensm_key(i);
		const char *name = strrchr(k->def, '/');
		bool is_file = name != NULL && k->fate != OPENSM_NONE;

		n += (size_t)snprintf(text + n, room - n, "# the key %s\n%s %s%s\n\n", k->name,
		    k->name, is_file ? folder : "", is_file ? name : k->def);
	}
}

START_TEST(the_default_file_says_nothing)
{
	static char text[32768];
	struct conf *conf, *none = load_source(&(struct conf_source){ .path = "none" });

	write_default_file(text, sizeof(text));
	conf = load(text);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(conf->routing.chain.mark, none->routing.chain.mark);
	ck_assert_int_eq(conf->addresses.lmc, none->addresses.lmc);
	ck_assert_int_eq(conf->ports.max_op_vls, none->ports.max_op_vls);
	ck_assert_int_eq(conf->transport.max_smps, none->transport.max_smps);
	ck_assert_int_eq(conf->sm.key, none->sm.key);
	ck_assert_ptr_null(conf->partitions.file.path);
	ck_assert_ptr_null(conf->addresses.guid2lid.path);
	ck_assert_ptr_null(conf->qos.tables);
	conf_put(conf);
	conf_put(none);
}
END_TEST

/* What a line becomes. */
static const char *
imported(const char *text)
{
	const char *lines;
	char *all = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&all, &bytes);
	struct fm_error err;

	folder_write(folder, "opensm.conf", text);
	ck_assert_msg(
	    conf_import_opensm(conf_path, &engines, f, &err) == 0, "%s: %s", text, err.msg);
	fclose(f);
	lines = imported_lines(all, false);
	free(all);
	return lines;
}

static const struct {
	const char *text, *becomes;
} lines[] = {
	{ "lmc 2\n", "lmc = 2" },
	{ "lmc 0x2\n", "lmc = 0x2" },
	{ "lmc 1\nlmc 2\n", "lmc = 2" }, /* the last counts */
	{ "lmc 2\nlmc 0\n", "" },
	{ "lmc 2 # four LIDs\n", "lmc = 2" },
	{ "lmc 2#four LIDs\nqos TRUE # at last\n", "lmc = 2 | qos = yes" },
	{ "routing_engine \"updn\"\t# the best\n", "chain = { 'updn' }" },
	{ "lmc 2\nlmc_esp0 TRUE\n", "lmc = 2 | switch_lmc = 2" },
	{ "lmc_esp0 TRUE\n", "switch_lmc = 0" },
	{ "max_op_vls 1\n", "max_op_vls = 1" },
	{ "max_op_vls 2\n", "max_op_vls = 2" },
	{ "max_op_vls 3\n", "max_op_vls = 4" },
	{ "max_op_vls 4\n", "max_op_vls = 8" },
	{ "max_op_vls 5\n", "" },
	{ "max_wire_smps 0\n", "max_smps = 4096" },
	{ "max_wire_smps 32\n", "max_smps = 32" },
	{ "sweep_interval 0x1e\n", "sweep_interval = 30s" },
	{ "sweep_interval 0\n", "sweep_interval = 0s" },
	{ "transaction_timeout 500\n", "transaction_timeout = 500ms" },
	{ "sminfo_polling_timeout 010000\n", "sminfo_polling_timeout = 4096ms" }, /* octal there */
	{ "sminfo_polling_timeout 10000\npolling_retry_number 4\n",
	    "sminfo_polling_timeout = 10000ms" }, /* which is not the default of fmd */
	{ "no_clients_rereg TRUE\n", "client_reregister = no" },
	{ "reassign_lids TRUE\n", "reassign_lids = yes" },
	{ "sweep_on_trap FALSE\n", "sweep_on_trap = no" },
	{ "keep_pkey_indexes FALSE\n", "keep_pkey_indexes = no" },
	{ "no_partition_enforcement TRUE\n", "part_enforce = off" },
	{ "part_enforce out\n", "part_enforce = out" },
	{ "consolidate_ipv6_snm_req TRUE\n", "ipv6_snm_mlids = 1" },
	{ "use_original_extended_sa_rates_only TRUE\n", "max_rate_enum = 18" },
	{ "max_rate_enum 0x12\nuse_original_extended_sa_rates_only FALSE\n",
	    "max_rate_enum = 0x12" },
	{ "log_file /var/log/opensm.log\nlog_max_size 0\naccum_log_file TRUE\n", "" },
	{ "log_file stdout\n", "" },
	{ "log_file /tmp/fmd.log\nlog_max_size 100\n",
	    "log_file = '/tmp/fmd.log' | log_max_size = 100" },
	{ "dump_files_dir /var/log/\n", "" },
	{ "dump_files_dir /tmp\n", "dump_files_dir = '/tmp'" },
	{ "dump_files_dir /tmp/fmd-none/\n", "dump_files_dir = '/tmp/fmd-none/'" },
	{ "babbling_port_policy TRUE\nforce_heavy_sweep TRUE\ndisable_multicast TRUE\n",
	    "babbling_port_policy = yes | force_heavy_sweep = yes | disable_multicast = yes" },
	{ "drop_event_subscriptions TRUE\n", "drop_event_subscriptions = yes" },
	{ "force_link_speed_ext 2\nforce_link_speed 15\n",
	    "force_link_speed_ext = 2 | force_link_speed = 15" },
	{ "m_key_lookup FALSE\ndo_mesh_analysis TRUE\n", "" },
	{ "subnet_prefix 0xfec0000000000001\nm_key_lease_period 60\n",
	    "subnet_prefix = 0xfec0000000000001 | m_key_lease_period = 60" },
	{ "subnet_timeout 20\n", "subnet_timeout = 20 | path_life = 20" },
	{ "subnet_timeout 18\n", "" },
	{ "leaf_head_of_queue_lifetime 0x0f\n", "leaf_head_of_queue_lifetime = 0x0f" },
	{ "routing_engine updn\n", "chain = { 'updn' }" },
	{ "routing_engine \"ftree, updn\"\n", "chain = { 'ftree', 'updn' }" },
	{ "routing_engine dfsssp,no_fallback\n", "fallback = no | chain = { 'dfsssp' }" },
	{ "routing_engine no_fallback\n", "fallback = no" },
	{ "routing_engine (null)\n", "" },
	{ "routing_engine\n\n", "" },
	{ "routing_engine minhop\nscatter_ports 7\nport_shifting TRUE\n",
	    "chain = { 'minhop' } | minhop { | scatter_ports = 7 | port_shifting = yes | }" },
	{ "routing_engine nue\nnue_max_num_vls 4\nnue_include_switches TRUE\n",
	    "chain = { 'nue' } | nue { | vls = 4 | include_switches = yes | }" },
	{ "lash_start_vl 2\nrouting_engine lash\n",
	    "chain = { 'lash' } | lash { | start_vl = 2 | }" },
	{ "log_flags 0x01\n", "log_level = warn" },
	{ "log_flags 0x83\n", "log_level = notice" },
	{ "log_flags 0x07\n", "log_level = info" },
	{ "log_flags 0xff\n", "log_level = debug | debug = 'all'" },
	{ "log_flags 0\n", "log_level = err" },
	{ "qos TRUE\nqos_swe_max_vls 4\nqos_high_limit 10\n",
	    "qos = yes | qos_swe_max_vls = 4 | qos_high_limit = 10" },
	{ "qos_ca_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n",
	    "qos_ca_sl2vl = '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7'" },
	{ "use_ucast_cache TRUE\nhonor_guid2lid_file TRUE\nexit_on_fatal FALSE\n", "" },
	{ " The maximum number of retries allowed for a transaction to complete\nlmc 1\n",
	    "lmc = 1" },
	{ "lmc\t3\r\n", "lmc = 3" },
};

START_TEST(lines_are_translated)
{
	char text[256];

	/* its first line tells the form */
	snprintf(text, sizeof(text), "sm_priority 0\n%s", lines[_i].text);
	ck_assert_str_eq(imported(text), lines[_i].becomes);
	ck_assert_str_eq(said, "");
}
END_TEST

/* However many lines stand before it: those that OpenSM has in mind are added behind. */
START_TEST(the_chain_is_found_among_any_number_of_lines)
{
	char text[8192];
	size_t at = 0, n = 0;

	for (size_t i = 0; opensm_key(i) != NULL; i++) {
		const struct opensm_key *key = opensm_key(i);

		if (key->form != OPENSM_NUMBER || key->fate != OPENSM_SAME)
			continue;
		snprintf(text + at, sizeof(text) - at, "routing_engine updn\n");
		ck_assert_ptr_nonnull(strstr(imported(text), "chain = { 'updn' }"));
		at +=
		    (size_t)snprintf(text + at, sizeof(text) - at, "%s %s\n", key->name, key->def);
		n++;
	}
	ck_assert_uint_ge(n, 33); /* as many as make room for lines grow, several times */
}
END_TEST

START_TEST(files_of_guids_go_to_the_engines_that_have_them)
{
	char want[512];

	folder_write(folder, "roots", "0x200001 # spine-1\n");
	folder_write(folder, "cn", "0x100001\n");
	snprintf(want, sizeof(want),
	    "chain = { 'ftree', 'updn' } | fattree { | roots = { 'file:%s/roots' } | "
	    "cn = { 'file:%s/cn' } | } | updn { | roots = { 'file:%s/roots' } | }",
	    folder, folder, folder);
	ck_assert_str_eq(imported("routing_engine ftree,updn\nroot_guid_file roots\n"
				  "cn_guid_file cn\n"),
	    want);
	snprintf(want, sizeof(want),
	    "fattree { | roots = { 'file:%s/roots' } | } | updn { | roots = { 'file:%s/roots' } | "
	    "}",
	    folder, folder);
	/* no engine is named: those of fmd's own chain */
	ck_assert_str_eq(imported("root_guid_file roots\n"), want);
	ck_assert_str_eq(said, "");
	imported("routing_engine dor\nroot_guid_file roots\n");
	ck_assert_str_eq(said,
	    "opensm.conf: 1 key is passed over:\n"
	    "opensm.conf:2: root_guid_file is not used: no engine of the chain (dor) has roots: "
	    "fattree, updn have\n");
}
END_TEST

START_TEST(a_file_of_nodes_that_names_none)
{
	folder_write(folder, "roots", "# none yet\n\n");
	conf_put(load("routing_engine updn\nroot_guid_file roots\n"));
	ck_assert_str_eq(said, "roots: no node stands in this file, which updn: roots names\n");
}
END_TEST

START_TEST(files_by_default_count_where_they_are)
{
	char text[512], path[128];
	struct conf *conf;

	folder_write(folder, "partitions.conf", "Default=0x7fff, ipoib : ALL=full, SELF=full;\n");
	folder_write(folder, "qos-policy.conf", "nonsense\n");
	folder_write(folder, "guid2lid", "0x0000000000100001 0x0004 0x0007\n\n");
	snprintf(text, sizeof(text),
	    "partition_config_file %s/partitions.conf\nqos_policy_file %s/qos-policy.conf\n"
	    "torus_config %s/torus-2QoS.conf\n",
	    folder, folder, folder);
	conf = load(text);
	snprintf(path, sizeof(path), "%s/partitions.conf", folder);
	ck_assert_str_eq(conf->partitions.file.path, path);
	ck_assert_ptr_null(conf->qos.policy_file.path); /* qos is FALSE */
	snprintf(path, sizeof(path), "%s/guid2lid", folder);
	ck_assert_str_eq(conf->addresses.guid2lid.path, path);
	ck_assert_str_eq(said, "");
	conf_put(conf);
}
END_TEST

static const struct {
	const char *text, *says;
} bad[] = {
	{ "lmc 9\n", "opensm.conf:1: lmc = 9 is outside 0..7 bits" },
	{ "lmc two\n", "opensm.conf:1: lmc two is no number: write it as in 0" },
	{ "lmc 2x\n", "opensm.conf:1: lmc 2x is no number: write it as in 0" },
	{ "lmc 0\nsm_key\n",
	    "opensm.conf:2: sm_key has no value: write it as in sm_key 0x0000000000000001" },
	{ "lmc 0\nsm_key (null)\n",
	    "opensm.conf:2: sm_key has no value: write it as in sm_key 0x0000000000000001" },
	{ "sm_priority 16\n", "opensm.conf:1: sm_priority = 16 is outside 0..15" },
	{ "qos yes\n",
	    "opensm.conf:1: qos yes: write TRUE or FALSE; OpenSM takes all but TRUE for FALSE" },
	{ "qos true\n",
	    "opensm.conf:1: qos true: write TRUE or FALSE; OpenSM takes all but TRUE for FALSE" },
	{ "qos TRUE x\n",
	    "opensm.conf:1: qos TRUE x: write TRUE or FALSE; OpenSM takes all but TRUE for FALSE" },
	{ "lmc 0 1\n", "opensm.conf:1: lmc 0 1 is no number: write it as in 0" },
	{ "sweep_interval -1\n",
	    "opensm.conf:1: sweep_interval -1 is no number: write it as in 10" },
	{ "lmc 0\nsm_sl # none\n", "opensm.conf:2: sm_sl has no value: write it as in sm_sl 0" },
	{ "lmc 0\nsm_priority=3\n",
	    "opensm.conf:2: sm_priority =3: there is no '=' in a file of OpenSM's form, which the "
	    "first lines have; write sm_priority 3" },
	{ "; lmc\nlmc 1\n",
	    "opensm.conf:1: a line begins with a key, as in lmc 0, not with ';': # begins a "
	    "comment" },
	{ "[opensm]\nlmc 1\n",
	    "opensm.conf:1: a line begins with a key, as in lmc 0, not with '[': # begins a "
	    "comment" },
	{ "routing-engine updn\n",
	    "opensm.conf:1: unknown key routing-engine: did you mean routing_engine?" },
	{ "\n# x\nsweep_intervall 10\n",
	    "opensm.conf:3: unknown key sweep_intervall: did you mean sweep_interval?" },
	{ "lmc 0\nchains 10\n",
	    "opensm.conf:2: unknown key chains: OpenSM 3.3.24 has none of that name either; of "
	    "MLNX_OFED's take the line out, of fmd's write it to conf.d/*.conf beside this file" },
	{ "LMC 1\nqos TRUE\n", "opensm.conf:1: unknown key LMC: did you mean lmc?" },
	{ "lmc 1\nQoS TRUE\n", "opensm.conf:2: unknown key QoS: did you mean qos?" },
	{ "lmc 0\nsm_priority = 3\n",
	    "opensm.conf:2: sm_priority = 3: there is no '=' in a file of OpenSM's form, which the "
	    "first lines have; write sm_priority 3" },
	{ "max_op_vls 8\n",
	    "opensm.conf:1: max_op_vls 8 is no code: 1, 2, 3, 4 and 5 are 1, 2, 4, 8 and 15 VLs" },
	{ "max_op_vls 0\n",
	    "opensm.conf:1: max_op_vls 0 is no code: 1, 2, 3, 4 and 5 are 1, 2, 4, 8 and 15 VLs" },
	{ "max_wire_smps 5000\n",
	    "opensm.conf:1: max_wire_smps: max_smps = 5000 is outside 1..4096 SMPs" },
	{ "transaction_timeout 1\n",
	    "opensm.conf:1: transaction_timeout = 1ms is outside 10ms..1min" },
	{ "part_enforce ingress\n",
	    "opensm.conf:1: part_enforce = ingress is none of off, in, out, both" },
	{ "routing_engine updn,ftre\n",
	    "opensm.conf:1: routing_engine: there is no engine ftre: did you mean ftree?" },
	{ "routing_engine AR_UPDN\n",
	    "opensm.conf:1: routing_engine: AR_UPDN is MLNX_OFED's: here it is updn, with "
	    "adaptive_routing { enable = yes } in a file of fmd.conf's form" },
	{ "routing_engine updn, ar_ftree\n",
	    "opensm.conf:1: routing_engine: ar_ftree is MLNX_OFED's: here it is ftree, with "
	    "adaptive_routing { enable = yes } in a file of fmd.conf's form" },
	{ "routing_engine pqft\n",
	    "opensm.conf:1: routing_engine: pqft is MLNX_OFED's: here it is ftree" },
	{ "routing_engine dfp\n",
	    "opensm.conf:1: routing_engine: dfp is MLNX_OFED's: here it is dragonfly" },
	{ "routing_engine chains\n",
	    "opensm.conf:1: chain: chains: there are no steps: rch_policy_file" },
	{ "m_key 0x10000000000000000\n",
	    "opensm.conf:1: m_key 0x10000000000000000 is no number: write it as in "
	    "0x0000000000000000" },
	{ "qos TRUE\nqos_sl2vl 0,1\n",
	    "opensm.conf:2: qos_sl2vl: \"0,1\" is no list of 16 VLs, one an SL, each 0..14, or 15 "
	    "to drop its packets" },
};

START_TEST(mistakes_are_told)
{
	ck_assert_str_eq(message(bad[_i].text), bad[_i].says);
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
	char want[256];

	snprintf(want, sizeof(want),
	    "opensm.conf:1: root_guid_file: fattree: roots: %s/none: No such file or directory",
	    folder);
	ck_assert_str_eq(message("root_guid_file none\nrouting_engine ftree\n"), want);
	snprintf(want, sizeof(want),
	    "opensm.conf:1: partition_config_file: %s/none: No such file or directory", folder);
	ck_assert_str_eq(message("partition_config_file none\n"), want);
	/* the name is that of OpenSM's default file, the folder is not */
	snprintf(want, sizeof(want),
	    "opensm.conf:1: partition_config_file: %s/partitions.conf: No such file or directory",
	    folder);
	ck_assert_str_eq(message("partition_config_file partitions.conf\n"), want);
}
END_TEST

static const struct {
	const char *text, *says;
} absent[] = {
	{ "partition_config_file /nonexistent/partitions.conf\n",
	    "opensm.conf:1: partition_config_file: there is no /nonexistent/partitions.conf, which "
	    "OpenSM passes over, too: all ports are full members of the default partition, 0x7fff, "
	    "alone\n" },
	{ "lmc 1\nqos TRUE\nqos_policy_file /nonexistent/qos-policy.conf\n",
	    "opensm.conf:3: qos_policy_file: there is no /nonexistent/qos-policy.conf, which "
	    "OpenSM "
	    "passes over, too: there is no QoS policy\n" },
	{ "prefix_routes_file /nonexistent/prefix-routes.conf\n",
	    "opensm.conf:1: prefix_routes_file: there is no /nonexistent/prefix-routes.conf, which "
	    "OpenSM passes over, too: the SA has no prefix routes\n" },
	{ "routing_engine torus-2QoS\ntorus_config /nonexistent/torus-2QoS.conf\n",
	    "opensm.conf:2: torus_config: there is no /nonexistent/torus-2QoS.conf, which OpenSM "
	    "passes over, too: the engine finds the torus by itself\n" },
	/* nobody would read them */
	{ "qos_policy_file /nonexistent/qos-policy.conf\n", "" },
	{ "torus_config /nonexistent/torus-2QoS.conf\n", "" },
	/* where builds of OpenSM have them by default */
	{ "partition_config_file /nonexistent/etc/opensm/partitions.conf\n", "" },
	{ "partition_config_file /opensm/partitions.conf\n", "" },
};

START_TEST(a_default_file_that_a_site_has_elsewhere)
{
	quietest = FM_LOG_NOTICE;
	conf_put(load(absent[_i].text));
	ck_assert_str_eq(said, absent[_i].says);
}
END_TEST

/* Editors of other systems put it before UTF-8. */
START_TEST(a_byte_order_mark_is_no_key)
{
	struct conf *conf = load("\xef\xbb\xbf# ours\r\nsm_priority 5\r\n");

	ck_assert_int_eq(conf->sm.priority, 5);
	conf_put(conf);
	conf = load("\xef\xbb\xbfsm_priority = 6\n");
	ck_assert_int_eq(conf->sm.priority, 6);
	conf_put(conf);
	ck_assert_str_eq(imported("\xef\xbb\xbflmc 1\n"), "lmc = 1");
	folder_write(folder, "partitions.conf",
	    "\xef\xbb\xbf# ours\nDefault=0x7fff, ipoib : ALL=full, SELF=full;\n");
	conf_put(load("partition_config_file partitions.conf\n"));
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_relative_path_is_beside_the_file)
{
	char path[128];
	struct conf *conf;

	folder_write(folder, "partitions.conf", "Default=0x7fff, ipoib : ALL=full, SELF=full;\n");
	conf = load("partition_config_file partitions.conf\n");
	snprintf(path, sizeof(path), "%s/partitions.conf", folder);
	ck_assert_str_eq(conf->partitions.file.path, path);
	conf_put(conf);
}
END_TEST

START_TEST(all_mistakes_of_a_file_are_told)
{
	ck_assert_str_eq(message("lmc 9\nqoss TRUE\nqos yes\nlmc_esp0 TRUE\nmax_op_vls 9\n"),
	    "opensm.conf:1: lmc = 9 is outside 0..7 bits (the first of 5 mistakes)");
	ck_assert_str_eq(said,
	    "opensm.conf:1: lmc = 9 is outside 0..7 bits\n"
	    "opensm.conf:2: unknown key qoss: did you mean qos?\n"
	    "opensm.conf:3: qos yes: write TRUE or FALSE; OpenSM takes all but TRUE for FALSE\n"
	    "opensm.conf:4: lmc_esp0: switch_lmc = 9 is outside 0..7 bits\n"
	    "opensm.conf:5: max_op_vls 9 is no code: 1, 2, 3, 4 and 5 are 1, 2, 4, 8 and 15 VLs\n");
}
END_TEST

/* The keys of OpenSM's cache come along, unless it does not look them up. */
START_TEST(keys_of_the_cache)
{
	struct conf *conf;

	folder_write(folder, "guid2mkey", "0x0000000000000021 0x00000000000000a1\n\n");
	conf = load("lmc 1\n");
	ck_assert_uint_eq(guid2mkey_find(&conf->m_key.of_ports, 0x21), 0xa1);
	conf_put(conf);
	conf = load("lmc 1\nm_key_lookup FALSE\n");
	ck_assert_uint_eq(guid2mkey_find(&conf->m_key.of_ports, 0x21), 0);
	ck_assert_ptr_null(conf->m_key.guid2mkey.path);
	conf_put(conf);
	ck_assert_str_eq(said, "");
}
END_TEST

/* One line for each SL: they add up, and of one SL the last counts. */
START_TEST(lines_of_sls)
{
	struct conf *conf = load("congestion_control TRUE\n"
				 "cc_key 0x77\n"
				 "cc_ca_cong_setting_control_map 0x8001\n"
				 "cc_ca_cong_setting_ccti_timer 0 1\n"
				 "cc_sw_cong_setting_threshold 0x0f\n"
				 "cc_ca_cong_setting_ccti_timer 15\t0x20\n"
				 "cc_ca_cong_setting_ccti_timer 0 7\n"
				 "cc_cct 0:1,3:16383\n");
	const uint8_t *ca = conf->congestion.blocks.ca;

	ck_assert(conf->congestion.enable && !conf->congestion.writes_key);
	ck_assert_uint_eq(conf->congestion.key, 0x77);
	ck_assert_uint_eq(wire_get16(ca + 2), 0x8001);
	ck_assert_uint_eq(wire_get16(ca + 4), 7);
	ck_assert_uint_eq(wire_get16(ca + 4 + 8 * 15), 0x20);
	ck_assert_uint_eq(conf->congestion.blocks.sw[68], 0xf0);
	ck_assert_uint_eq(wire_get32(conf->congestion.blocks.table[0] + 4), 0x0001ffff);
	ck_assert_ptr_nonnull(strstr(said, "opensm.conf:2: cc_key stands in a file that anybody"));
	conf_put(conf);
}
END_TEST

/* OpenSM 3.3.24 passes over MLNX_OFED's keys with a word each; here they are told as one group. */
START_TEST(keys_of_mlnx_ofed)
{
	static const char *const lone[] = { "mepi_cache_enabled TRUE\n",
		"improved_lmc_path_distribution TRUE\n", "nvl_hbf_mode 0\n" };

	conf_put(
	    load("lmc 1\nar_mode 1\nhm_unhealthy_ports_checks TRUE\nmlnx_congestion_control 0\n"
		 "max_wire_smps_per_device 2\nvirt_enabled 2\n"));
	ck_assert_str_eq(said,
	    "opensm.conf: 5 keys are passed over:\n"
	    "opensm.conf:2: ar_mode is MLNX_OFED's: adaptive_routing in a file of fmd.conf's form "
	    "says it\n"
	    "opensm.conf:3: hm_unhealthy_ports_checks is MLNX_OFED's: babbling_port_policy stops "
	    "ports that babble, fmctl trouble tells of the others\n"
	    "opensm.conf:4: mlnx_congestion_control is MLNX_OFED's: fmd sets congestion "
	    "control of IBA annex A10, and no vendor's own\n"
	    "opensm.conf:5: max_wire_smps_per_device is MLNX_OFED's: max_smps_per_node in a file "
	    "of fmd.conf's form says it\n"
	    "opensm.conf:6: virt_enabled is MLNX_OFED's: fmd leaves virtual ports alone\n");
	said[0] = '\0';
	/* where its keys are, an unknown one is no mistake, nor one that looks like OpenSM's */
	conf_put(load("lmc 1\nmax_seq_redisc 2\nnew_in_26 x\nsm_prioritty 5\nar_mode 1\n"));
	ck_assert_str_eq(said,
	    "opensm.conf: 4 keys are passed over:\n"
	    "opensm.conf:2: max_seq_redisc is MLNX_OFED's: what changes while it is discovered is "
	    "read again alone\n"
	    "opensm.conf:3: new_in_26 is not known, as keys of MLNX_OFED may be, which the file "
	    "has\n"
	    "opensm.conf:4: sm_prioritty is not known, as keys of MLNX_OFED may be, which the file "
	    "has: did you mean sm_priority?\n"
	    "opensm.conf:5: ar_mode is MLNX_OFED's: adaptive_routing in a file of fmd.conf's form "
	    "says it\n");
	said[0] = '\0';
	for (size_t i = 0; i < sizeof(lone) / sizeof(*lone); i++)
		conf_put(load(lone[i]));
	said[0] = '\0';
	/* a misspelt one of OpenSM's is a mistake */
	ck_assert_str_eq(message("lmc 1\nsm_prioritty 5\n"),
	    "opensm.conf:2: unknown key sm_prioritty: did you mean sm_priority?");
}
END_TEST

/* What a file says is taken, at MLNX_OFED's default too, which is not fmd's; one that does not say
 * it is left at fmd's. */
START_TEST(the_priority_as_master)
{
	struct conf *conf = load("sm_priority 3\nmaster_sm_priority 9\n");

	ck_assert_int_eq(conf->sm.master_priority, 9);
	conf_put(conf);
	conf = load("sm_priority 3\nmaster_sm_priority 14\n");
	ck_assert_int_eq(conf->sm.master_priority, 14);
	conf_put(conf);
	conf = load("sm_priority 3\n");
	ck_assert_int_eq(conf->sm.master_priority, 0);
	conf_put(conf);
	ck_assert_str_eq(said, "");
	/* it is a key of MLNX_OFED's, which has more than fmd knows */
	conf_put(load("lmc 1\nmaster_sm_priority 14\nnew_in_26 x\n"));
	ck_assert_ptr_nonnull(strstr(said, "new_in_26 is not known, as keys of MLNX_OFED may be"));
	said[0] = '\0';
	ck_assert_str_eq(message("lmc 1\nmaster_sm_priority 16\n"),
	    "opensm.conf:2: master_sm_priority = 16 is outside 0..15");
}
END_TEST

/* The unit lets fmd write into few folders. */
START_TEST(a_log_file_beside_the_units_folders_is_warned_of)
{
	conf_put(load("log_file /var/log/fmd/x.log\n"));
	ck_assert_str_eq(said, "");
	conf_put(load("lmc 1\nlog_file /var/log/x.log\n"));
	ck_assert_str_eq(said,
	    "opensm.conf:2: log_file /var/log/x.log: as a service fmd may write below /var/log/fmd "
	    "only: write a path there, or ReadWritePaths=/var/log in fmd.service.d/*.conf\n");
}
END_TEST

/* A value of a key that is not its default. */
static const char *
other_value(const struct opensm_key *k)
{
	if (k->form == OPENSM_BOOL)
		return strcmp(k->def, "TRUE") == 0 ? "FALSE" : "TRUE";
	return k->form == OPENSM_NUMBER ? "77" : "local";
}

START_TEST(keys_without_counterpart_are_told_together)
{
	static char text[32768], want[32768];
	size_t n = 0, at = 0;
	unsigned line = 1;

	for (size_t i = 0; opensm_key(i) != NULL; i++)
		line += opensm_key(i)->fate == OPENSM_NONE;
	at += (size_t)snprintf(
	    want, sizeof(want), "opensm.conf: %u keys are passed over:\n", line - 1);
	line = 1;
	for (size_t i = 0; opensm_key(i) != NULL; i++) {
		const struct opensm_key *k = opensm_key(i);

		if (k->fate != OPENSM_NONE)
			continue;
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "%s %s\n", k->name, other_value(k));
		at += (size_t)snprintf(want + at, sizeof(want) - at,
		    "opensm.conf:%u: %s %s has no counterpart: %s\n", line++, k->name,
		    other_value(k), k->note);
	}
	conf_put(load(text));
	ck_assert_str_eq(said, want);
}
END_TEST

/* A blank in the name of the folder is no end of the place. */
START_TEST(a_mistake_below_a_folder_with_a_blank)
{
	char cmd[128], path[128], want[256];
	const struct conf_source source = { .path = path };
	struct conf *conf = NULL;
	struct fm_error err = { 0 };

	snprintf(cmd, sizeof(cmd), "mkdir '%s/our site'", folder);
	ck_assert_int_eq(system(cmd), 0);
	folder_write(folder, "our site/opensm.conf", "max_wire_smps 9999\n");
	snprintf(path, sizeof(path), "%s/our site/opensm.conf", folder);
	snprintf(want, sizeof(want), "%s:1: max_wire_smps: max_smps = 9999 is outside 1..4096 SMPs",
	    path);
	ck_assert_int_eq(conf_load(&source, &engines, &conf, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, want);
}
END_TEST

/* What was imported means the same as what was read. */
START_TEST(the_import_means_the_same)
{
	static const char text[] = "routing_engine ftree,updn\nroot_guid_file roots\nlmc 1\n"
				   "max_op_vls 3\nqos TRUE\nqos_swe_vlarb_low 0:8,1:16\n"
				   "sweep_interval 30\nm_key 0x77\npacket_life_time 0x13\n";
	char fmd_path[96];
	struct fm_error err;
	struct conf *a, *b;
	FILE *f;

	folder_write(folder, "roots", "0x200001\n0x200002\n");
	a = load(text);
	snprintf(fmd_path, sizeof(fmd_path), "%s/fmd.conf", folder);
	f = fopen(fmd_path, "w");
	ck_assert_msg(conf_import_opensm(conf_path, &engines, f, &err) == 0, "%s", err.msg);
	fclose(f);
	b = load_source(&(struct conf_source){ .path = fmd_path });
	ck_assert_uint_eq(a->routing.chain.mark, b->routing.chain.mark);
	ck_assert_int_eq(b->addresses.lmc, 1);
	ck_assert_int_eq(a->ports.max_op_vls, b->ports.max_op_vls);
	ck_assert_int_eq(a->sweep.interval_ms, b->sweep.interval_ms);
	ck_assert_int_eq(a->m_key.key, b->m_key.key);
	ck_assert_int_eq(a->ports.packet_life_time, b->ports.packet_life_time);
	ck_assert_mem_eq(a->qos.tables, b->qos.tables, sizeof(*a->qos.tables));
	conf_put(a);
	conf_put(b);
}
END_TEST

START_TEST(only_its_form_is_imported)
{
	struct fm_error err = { 0 };
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	folder_write(folder, "opensm.conf", "lmc = 1\n");
	ck_assert_int_eq(conf_import_opensm(conf_path, &engines, f, &err), FM_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "is not of OpenSM's form"));
	fclose(f);
	ck_assert_uint_eq(n, 0);
	free(out);
}
END_TEST

START_TEST(fmds_own_options_stand_in_conf_d)
{
	char cmd[128];
	struct conf *conf;

	snprintf(cmd, sizeof(cmd), "mkdir %s/conf.d", folder);
	ck_assert_int_eq(system(cmd), 0);
	folder_write(folder, "conf.d/own.conf", "lid_linger = 1min\nlmc = 3\n");
	conf = load("lmc 2\nsm_priority 4\n");
	ck_assert_int_eq(conf->addresses.lmc, 3);
	ck_assert_int_eq(conf->sm.priority, 4);
	ck_assert_int_eq(conf->addresses.lid_linger_ms, 60000);
	conf_put(conf);
	folder_write(folder, "conf.d/own.conf", "lmc 3\n");
	ck_assert_str_eq(
	    message("lmc 2\n"), "conf.d/own.conf:1: an = is missing between lmc and its value");
}
END_TEST

/* ------------------------------------------------------------ command line */

#define ARGS 8

static int
load_command_line(
    const char *const *args, struct cli *cli, struct conf **conf, struct fm_error *err)
{
	char *argv[ARGS + 3] = { (char *)(uintptr_t) "fmd", (char *)(uintptr_t) "--config=none" };
	int argc = 2, rc;

	while (args[argc - 2] != NULL) {
		argv[argc] = (char *)(uintptr_t)args[argc - 2];
		argc++;
	}
	*conf = NULL;
	rc = cli_parse(argc, argv, cli, err);
	return rc != 0 ? rc : conf_load(&cli->source, &engines, conf, err);
}

START_TEST(options_of_its_command_line)
{
	const char *const args[ARGS + 1] = { "-R", "ftree,updn", "-p5", "--lmc", "2", "-maxsmps",
		"16", "-Q" };
	struct fm_error err = { 0 };
	struct conf *conf;
	struct cli cli;

	ck_assert_msg(load_command_line(args, &cli, &conf, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(conf->routing.chain_text, "ftree, updn");
	ck_assert_int_eq(conf->sm.priority, 5);
	ck_assert_int_eq(conf->addresses.lmc, 2);
	ck_assert_int_eq(conf->transport.max_smps, 16);
	ck_assert(conf->qos.enable);
	conf_put(conf);
	cli_fini(&cli);
}
END_TEST

/* -g, -k and --subnet_prefix take hexadecimal numbers, with 0x or without. */
START_TEST(hexadecimal_options)
{
	const char *const args[ARGS + 1] = { "-g", "2c903000abcd1", "-k", "10", "--subnet_prefix",
		"0xfe80000000000001" };
	struct fm_error err = { 0 };
	struct conf *conf;
	struct cli cli;

	ck_assert_msg(load_command_line(args, &cli, &conf, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq((uint64_t)conf->transport.guid, UINT64_C(0x2c903000abcd1));
	ck_assert_uint_eq((uint64_t)conf->sm.key, 0x10);
	ck_assert_uint_eq((uint64_t)conf->addresses.subnet_prefix, UINT64_C(0xfe80000000000001));
	conf_put(conf);
	cli_fini(&cli);
}
END_TEST

START_TEST(options_of_debugging)
{
	const char *const args[ARGS + 1] = { "-d0", "-d", "3", "-d1", "-d2", "-v", "-v" };
	struct fm_error err = { 0 };
	struct conf *conf;
	struct cli cli;

	ck_assert_msg(load_command_line(args, &cli, &conf, &err) == 0, "%s", err.msg);
	ck_assert(conf->sm.ignore_others);
	ck_assert(conf->registry.disable_multicast);
	ck_assert_int_eq(conf->log.level, FM_LOG_DEBUG);
	conf_put(conf);
	cli_fini(&cli);
}
END_TEST

static const char *const helps[][ARGS + 1] = { { "-?" }, { "-h", "--check" },
	{ "--check", "--help" }, { "-h", "-p", "16" } };

START_TEST(help_goes_before_all)
{
	struct fm_error err = { 0 };
	struct conf *conf;
	struct cli cli;

	load_command_line(helps[_i], &cli, &conf, &err);
	ck_assert_int_eq(cli.task, CLI_HELP);
	conf_put(conf);
	cli_fini(&cli);
}
END_TEST

static const struct {
	const char *args[ARGS + 1];
	const char *says;
} refused[] = {
	{ { "-B" },
	    "-B: daemon TRUE has no counterpart: fmd stays in the foreground: systemctl start fmd, "
	    "or fmd & in a shell" },
	{ { "-c", "x" },
	    "-c, --create-config is OpenSM's: fmd writes no file: fmd --help and man fmd.conf have "
	    "every key with its default, and fmd --import-opensm FILE prints the fmd.conf of an "
	    "opensm.conf" },
	{ { "-p", "16" }, "-p: sm_priority = 16 is outside 0..15" },
	{ { "-R", "updn", "-a", "/nonexistent/roots" },
	    "-a: updn: roots: /nonexistent/roots: No such file or directory" },
	{ { "-g", "0" },
	    "-g: fmd does not ask: ibstat -p lists the ports' GUIDs, and without -g the first "
	    "active port is taken" },
	{ { "-g", "mlx5_0" },
	    "-g: guid mlx5_0 is no hexadecimal number: write it as in "
	    "0x0002c903000abcd1" },
	{ { "-e" },
	    "-e: accum_log_file FALSE has no counterpart: fmd adds to its log_file: empty "
	    "it before, as by : >FILE" },
	{ { "-U", "lfts" },
	    "-U: lfts_file is not used: no engine of the chain (fattree, updn) has lfts: file "
	    "has" },
	{ { "-d", "10" }, "-d 10: OpenSM's testability mode has no counterpart" },
	{ { "-d", "7" },
	    "-d 7: 0 is ignore_other_sm TRUE, 3 disable_multicast TRUE, 1 and 2 fmd does anyway; "
	    "-D 0xff logs all messages" },
	{ { "-p", "high" }, "-p: sm_priority high is no number: write it as in 0" },
	{ { "-p" }, "-p needs a value: -p VALUE" },
	{ { "--priority" }, "--priority needs a value: --priority=VALUE" },
	{ { "-p=5" }, "-p=5: behind a letter stands no '=': write -p 5" },
	{ { "--routing-engine", "updn" },
	    "--routing-engine is no option of fmd: did you mean --routing_engine?" },
	{ { "--checks" }, "--checks is no option of fmd: did you mean --check?" },
	{ { "--once=1" }, "--once=1: --once takes no value" },
	{ { "-once=1" }, "-once=1: --once takes no value" },
	{ { "-R", "ftre" }, "-R: routing_engine: there is no engine ftre: did you mean ftree?" },
	{ { "--retries", "some" },
	    "--retries: transaction_retries some is no number: write it as in 3" },
	{ { "-E" }, "-E is no option of fmd; see fmd --help" },
};

START_TEST(options_that_do_not_work_say_what_to_write)
{
	struct fm_error err = { 0 };
	struct conf *conf;
	struct cli cli;

	ck_assert_int_eq(load_command_line(refused[_i].args, &cli, &conf, &err), FM_E_CONFIG);
	ck_assert_ptr_null(conf);
	ck_assert_str_eq(err.msg, refused[_i].says);
	cli_fini(&cli);
}
END_TEST

/* Roots of the command line are of the engines that it names, or that the file names. */
START_TEST(command_line_and_file)
{
	char roots[96];
	struct conf_opensm_option options[] = { { "-a", "root_guid_file", roots },
		{ "-R", "routing_engine", "updn" } };
	struct conf_source source = { .path = conf_path, .opensm = options, .n_opensm = 1 };
	struct conf *file, *both;

	snprintf(roots, sizeof(roots), "%s/roots", folder);
	folder_write(folder, "roots", "0x200001\n");
	file = load("routing_engine updn\nroot_guid_file roots\n");
	folder_write(folder, "opensm.conf", "routing_engine updn\nlmc 0\n");
	both = load_source(&source);
	ck_assert_uint_eq(file->routing.chain.mark, both->routing.chain.mark);
	conf_put(both);
	/* the engine of the command line takes the roots of the file */
	options[0] = options[1];
	folder_write(folder, "opensm.conf", "routing_engine dor\nroot_guid_file roots\n");
	both = load_source(&source);
	ck_assert_uint_eq(file->routing.chain.mark, both->routing.chain.mark);
	ck_assert_str_eq(said, "");
	conf_put(both);
	conf_put(file);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("opensm");
	TCase *tc = tcase_create("opensm");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, rows_are_sound);
	tcase_add_loop_test(tc, known_by_its_form, 0, sizeof(forms) / sizeof(*forms));
	tcase_add_test(tc, the_default_file_says_nothing);
	tcase_add_loop_test(tc, lines_are_translated, 0, sizeof(lines) / sizeof(*lines));
	tcase_add_test(tc, the_chain_is_found_among_any_number_of_lines);
	tcase_add_test(tc, files_of_guids_go_to_the_engines_that_have_them);
	tcase_add_test(tc, a_file_of_nodes_that_names_none);
	tcase_add_test(tc, files_by_default_count_where_they_are);
	tcase_add_loop_test(tc, mistakes_are_told, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(tc, a_file_that_is_not_there);
	tcase_add_loop_test(
	    tc, a_default_file_that_a_site_has_elsewhere, 0, sizeof(absent) / sizeof(*absent));
	tcase_add_test(tc, a_byte_order_mark_is_no_key);
	tcase_add_test(tc, a_relative_path_is_beside_the_file);
	tcase_add_test(tc, all_mistakes_of_a_file_are_told);
	tcase_add_test(tc, keys_without_counterpart_are_told_together);
	tcase_add_test(tc, keys_of_the_cache);
	tcase_add_test(tc, lines_of_sls);
	tcase_add_test(tc, keys_of_mlnx_ofed);
	tcase_add_test(tc, the_priority_as_master);
	tcase_add_test(tc, a_log_file_beside_the_units_folders_is_warned_of);
	tcase_add_test(tc, a_mistake_below_a_folder_with_a_blank);
	tcase_add_test(tc, the_import_means_the_same);
	tcase_add_test(tc, only_its_form_is_imported);
	tcase_add_test(tc, fmds_own_options_stand_in_conf_d);
	tcase_add_test(tc, options_of_its_command_line);
	tcase_add_test(tc, hexadecimal_options);
	tcase_add_test(tc, options_of_debugging);
	tcase_add_loop_test(tc, help_goes_before_all, 0, sizeof(helps) / sizeof(*helps));
	tcase_add_loop_test(
	    tc, options_that_do_not_work_say_what_to_write, 0, sizeof(refused) / sizeof(*refused));
	tcase_add_test(tc, command_line_and_file);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
