/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of OpenSM 3.3.24, a row each, in the order of its default file, then those of
 * MLNX_OFED that fmd knows.  There is no second place: the reader, --import-opensm, the options
 * of OpenSM's command line and fmd-opensm(7) come from here.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/opensm/opensm.h"
#include "lib/error.h"

#define ROW(form_, name_, def_, fate_, to_, or_to_, note_) \
	{ \
		.name = name_, .def = def_, .form = OPENSM_##form_, .fate = OPENSM_##fate_, \
		.to = to_, .or_to = or_to_, .note = note_ \
	}
#define SAME(form_, name_, def_) ROW(form_, name_, def_, SAME, name_, NULL, NULL)
#define DIFFERS(form_, name_, def_) \
	{ \
		.name = name_, .def = def_, .form = OPENSM_##form_, .fate = OPENSM_SAME, \
		.def_counts = true, .to = name_ \
	}
#define ENGINE(form_, name_, def_, to_, or_to_) ROW(form_, name_, def_, ENGINE, to_, or_to_, NULL)
#define GUIDS(name_, to_, or_to_) ROW(PATH, name_, "(null)", GUIDS, to_, or_to_, NULL)
#define SPECIAL(form_, name_, def_, to_, note_) ROW(form_, name_, def_, SPECIAL, to_, NULL, note_)
#define GATHERS(name_, def_) \
	{ \
		.name = name_, .def = def_, .form = OPENSM_TEXT, .fate = OPENSM_SAME, \
		.gathers = true, .to = name_ \
	}
#define ALWAYS(form_, name_, def_, note_) ROW(form_, name_, def_, ALWAYS, NULL, NULL, note_)
#define NONE(form_, name_, def_, note_) ROW(form_, name_, def_, NONE, NULL, NULL, note_)

#define QOS(kind) \
	SAME(NUMBER, "qos_" kind "max_vls", "0"), SAME(NUMBER, "qos_" kind "high_limit", "-1"), \
	    SAME(TEXT, "qos_" kind "vlarb_high", "(null)"), \
	    SAME(TEXT, "qos_" kind "vlarb_low", "(null)"), \
	    SAME(TEXT, "qos_" kind "sl2vl", "(null)")

#define ZEROS_256 "0x0000000000000000000000000000000000000000000000000000000000000000"
#define NO_PERFMGR "fmd does not read performance counters: perfquery and ibqueryerrors do"
#define NO_CC "fmd sets congestion control of IBA annex A10, and no vendor's own"

static const struct opensm_key rows[] = {
	SAME(NUMBER, "guid", "0x0000000000000000"),
	SAME(NUMBER, "m_key", "0x0000000000000000"),
	SAME(NUMBER, "m_key_lease_period", "0"),
	SAME(NUMBER, "m_key_protection_level", "0"),
	ALWAYS(BOOL, "m_key_lookup", "TRUE",
	    "guid2mkey of OSM_CACHE_DIR is read, unless it is FALSE; the M_Key that the fabric had "
	    "last is in the store"),
	SAME(NUMBER, "sm_key", "0x0000000000000001"),
	SAME(NUMBER, "sa_key", "0x0000000000000001"),
	SAME(NUMBER, "subnet_prefix", "0xfe80000000000000"),
	ROW(NUMBER, "lmc", "0", SAME, "lmc", NULL,
	    "where a port has several LIDs, fmd tells each source LID with one of the destination, "
	    "OpenSM with all: path_selection = src_dst_all is OpenSM's"),
	SPECIAL(BOOL, "lmc_esp0", "FALSE", "switch_lmc", "TRUE is the number that lmc has"),
	SAME(NUMBER, "sm_sl", "0"),
	SAME(NUMBER, "packet_life_time", "0x12"),
	SAME(NUMBER, "vl_stall_count", "0x07"),
	SAME(NUMBER, "leaf_vl_stall_count", "0x07"),
	SAME(NUMBER, "head_of_queue_lifetime", "0x12"),
	SAME(NUMBER, "leaf_head_of_queue_lifetime", "0x10"),
	SPECIAL(NUMBER, "max_op_vls", "5", "max_op_vls",
	    "the codes 1 to 5 of PortInfo are 1, 2, 4, 8 and 15 VLs"),
	DIFFERS(NUMBER, "force_link_speed", "15"),
	DIFFERS(NUMBER, "force_link_speed_ext", "31"),
	DIFFERS(NUMBER, "force_link_width", "255"),
	NONE(NUMBER, "fdr10", "1", "fmd leaves FDR10, a vendor's attribute, as ports have it"),
	ROW(NUMBER, "subnet_timeout", "18", SPECIAL, "subnet_timeout", "path_life",
	    "in OpenSM it is the life time of packets of paths and groups, too: path_life"),
	SAME(NUMBER, "local_phy_errors_threshold", "0x08"),
	SAME(NUMBER, "overrun_errors_threshold", "0x08"),
	ALWAYS(BOOL, "use_mfttop", "TRUE",
	    "fmd leaves MulticastFDBTop alone, and writes what a switch may hold"),

	SAME(PATH, "partition_config_file", "/etc/opensm/partitions.conf"),
	SPECIAL(BOOL, "no_partition_enforcement", "FALSE", "part_enforce", "TRUE is off"),
	ROW(TEXT, "part_enforce", "both", SAME, "part_enforce", NULL,
	    "without a partition_config_file there is nothing to check, and switches do not"),
	SAME(BOOL, "allow_both_pkeys", "FALSE"),
	SAME(BOOL, "keep_pkey_indexes", "TRUE"),
	NONE(NUMBER, "sm_assigned_guid", "0x00",
	    "alias GUIDs that fmd makes are 40 bits of a hash of the port's own GUID behind "
	    "0x02fd6d: two subnets with 1,000 each have one in common once in a million times"),

	ROW(NUMBER, "sweep_interval", "10", SECONDS, "sweep_interval", NULL, NULL),
	SAME(BOOL, "reassign_lids", "FALSE"),
	SAME(BOOL, "force_heavy_sweep", "FALSE"),
	SAME(BOOL, "sweep_on_trap", "TRUE"),

	NONE(BOOL, "port_profile_switch_nodes", "FALSE",
	    "fmd's engines balance the routes to hosts alone, as OpenSM does by default"),
	GUIDS("port_prof_ignore_file", "ignore_guids", NULL),
	GUIDS("hop_weights_file", "hop_weights", NULL),
	GUIDS("port_search_ordering_file", "port_search_order", NULL),
	GUIDS("dimn_ports_file", "port_search_order", NULL),
	SPECIAL(TEXT, "routing_engine", "(null)", "chain",
	    "engines have OpenSM's names; no_fallback is fallback = no, else fmd's built-in "
	    "up/down "
	    "comes last, where OpenSM has minhop. Where nothing is written fmd's own chain holds, "
	    "where OpenSM has minhop"),
	ENGINE(BOOL, "avoid_throttled_links", "FALSE", "avoid_throttled_links", NULL),
	ENGINE(BOOL, "connect_roots", "FALSE", "connect_roots", NULL),
	ALWAYS(BOOL, "use_ucast_cache", "FALSE", "tables that still hold are kept and repaired"),
	ENGINE(PATH, "lid_matrix_dump_file", "(null)", "lid_matrix", NULL),
	ENGINE(PATH, "lfts_file", "(null)", "lfts", NULL),
	GUIDS("root_guid_file", "roots", NULL),
	GUIDS("cn_guid_file", "cn", "compute_nodes"),
	GUIDS("io_guid_file", "io", "io_nodes"),
	NONE(BOOL, "quasi_ftree_indexing", "FALSE",
	    "fattree numbers leaves and hosts in one way on all trees"),
	ENGINE(NUMBER, "max_reverse_hops", "0", "max_reverse_hops", NULL),
	GUIDS("ids_guid_file", "ids", NULL),
	GUIDS("guid_routing_order_file", "guid_routing_order", NULL),
	ALWAYS(BOOL, "do_mesh_analysis", "FALSE",
	    "lash finds the dimensions of meshes and tori by itself"),
	ENGINE(NUMBER, "lash_start_vl", "0", "start_vl", NULL),
	ENGINE(NUMBER, "nue_max_num_vls", "1", "vls", NULL),
	ENGINE(BOOL, "nue_include_switches", "FALSE", "include_switches", NULL),
	ENGINE(BOOL, "port_shifting", "FALSE", "port_shifting", NULL),
	ENGINE(NUMBER, "scatter_ports", "0", "scatter_ports", NULL),
	ENGINE(
	    BOOL, "guid_routing_order_no_scatter", "FALSE", "guid_routing_order_no_scatter", NULL),
	NONE(PATH, "sa_db_file", "(null)",
	    "fmd keeps what hosts registered by itself, in state_dir; OpenSM's file is not read"),
	NONE(
	    BOOL, "sa_db_dump", "FALSE", "fmd keeps what hosts registered by itself, in state_dir"),
	ENGINE(PATH, "torus_config", "/etc/opensm/torus-2QoS.conf", "torus_config", NULL),

	SAME(NUMBER, "sm_priority", "0"),
	SAME(BOOL, "ignore_other_sm", "FALSE"),
	{ .name = "sminfo_polling_timeout",
	    .def = "10000",
	    .form = OPENSM_NUMBER,
	    .fate = OPENSM_MS,
	    .def_counts = true,
	    .to = "sminfo_polling_timeout" },
	SAME(NUMBER, "polling_retry_number", "4"),
	ALWAYS(BOOL, "honor_guid2lid_file", "FALSE",
	    "the LIDs of the store hold, also after standing by"),

	SPECIAL(NUMBER, "max_wire_smps", "4", "max_smps",
	    "0, no limit, is 4096; OpenSM's default of 4 is fmd's default of 64"),
	NONE(NUMBER, "max_wire_smps2", "4",
	    "an SMP without an answer gives its place up by itself, see max_smps"),
	NONE(NUMBER, "max_smps_timeout", "600000",
	    "an SMP without an answer gives its place up by itself, see max_smps"),
	ROW(NUMBER, "transaction_timeout", "200", MS, "transaction_timeout", NULL, NULL),
	SAME(NUMBER, "transaction_retries", "3"),
	NONE(NUMBER, "long_transaction_timeout", "500",
	    "transaction_timeout holds for all requests"),
	NONE(NUMBER, "max_msg_fifo_timeout", "10000",
	    "the SA answers BUSY instead of dropping requests"),
	ALWAYS(BOOL, "single_thread", "FALSE", "the SA has one thread always"),

	NONE(BOOL, "daemon", "FALSE",
	    "fmd stays in the foreground: systemctl start fmd, or fmd & in a shell"),
	SAME(BOOL, "sm_inactive", "FALSE"),
	SAME(BOOL, "babbling_port_policy", "FALSE"),
	SAME(BOOL, "drop_event_subscriptions", "FALSE"),
	NONE(BOOL, "ipoib_mcgroup_creation_validation", "TRUE", "fmd always validates them"),
	NONE(BOOL, "mcgroup_join_validation", "TRUE", "fmd always validates them"),
	SPECIAL(BOOL, "use_original_extended_sa_rates_only", "FALSE", "max_rate_enum",
	    "TRUE is 18, the last of the original rates"),
	SAME(NUMBER, "max_rate_enum", "0"),
	SAME(BOOL, "use_optimized_slvl", "FALSE"),
	NONE(BOOL, "fsync_high_avail_files", "TRUE", "fmd always waits for the disk"),

	NONE(BOOL, "perfmgr", "FALSE", NO_PERFMGR),
	NONE(BOOL, "perfmgr_redir", "TRUE", NO_PERFMGR),
	NONE(NUMBER, "perfmgr_sweep_time_s", "180", NO_PERFMGR),
	NONE(NUMBER, "perfmgr_max_outstanding_queries", "500", NO_PERFMGR),
	NONE(BOOL, "perfmgr_ignore_cas", "FALSE", NO_PERFMGR),
	NONE(BOOL, "perfmgr_rm_nodes", "TRUE", NO_PERFMGR),
	NONE(BOOL, "perfmgr_log_errors", "TRUE", NO_PERFMGR),
	NONE(BOOL, "perfmgr_query_cpi", "TRUE", NO_PERFMGR),
	NONE(BOOL, "perfmgr_xmit_wait_log", "FALSE", NO_PERFMGR),
	NONE(NUMBER, "perfmgr_xmit_wait_threshold", "65535", NO_PERFMGR),
	NONE(PATH, "event_db_dump_file", "(null)", NO_PERFMGR),
	NONE(TEXT, "event_plugin_name", "(null)",
	    "OpenSM's plugins read its memory: fmctl --json status and events tell the same"),
	NONE(TEXT, "event_plugin_options", "(null)",
	    "OpenSM's plugins read its memory: fmctl --json status and events tell the same"),
	ROW(PATH, "node_name_map_name", "(null)", SAME, "node_name_map", NULL, NULL),

	SPECIAL(NUMBER, "log_flags", "0x03", "log_level",
	    "ERROR alone is warn, with INFO it is notice, with VERBOSE info, with DEBUG, FUNCS or "
	    "FRAMES debug; none of them is err"),
	ALWAYS(BOOL, "force_log_flush", "FALSE", "each line is written at once"),
	SPECIAL(TEXT, "log_file", "/var/log/opensm.log", "log_file",
	    "stdout and stderr are fmd's default, standard error, which systemd keeps; so is "
	    "OpenSM's default"),
	SAME(NUMBER, "log_max_size", "0"),
	NONE(BOOL, "accum_log_file", "TRUE",
	    "fmd adds to its log_file: empty it before, as by : >FILE"),
	NONE(PATH, "per_module_logging_file", "/etc/opensm/per-module-logging.conf",
	    "the parts of fmd have other names: debug"),
	SAME(TEXT, "dump_files_dir", "/var/log/"),
	NONE(BOOL, "enable_quirks", "FALSE", "fmd has no such things to turn on"),
	ROW(BOOL, "no_clients_rereg", "FALSE", INVERSE, "client_reregister", NULL, NULL),
	SAME(BOOL, "disable_multicast", "FALSE"),
	ALWAYS(BOOL, "exit_on_fatal", "TRUE",
	    "fmd does not exit: two nodes with one GUID are told and left out"),
	NONE(TEXT, "console", "off", "the console is fmctl"),
	NONE(NUMBER, "console_port", "10000", "the console is fmctl"),

	SAME(BOOL, "qos", "FALSE"),
	SAME(PATH, "qos_policy_file", "/etc/opensm/qos-policy.conf"),
	NONE(BOOL, "suppress_sl2vl_mad_status_errors", "FALSE",
	    "fmd tells of refused SL2VL tables a few times, not for each"),
	QOS(""),
	QOS("ca_"),
	QOS("sw0_"),
	QOS("swe_"),
	QOS("rtr_"),

	SAME(BOOL, "congestion_control", "FALSE"),
	SAME(NUMBER, "cc_key", "0x0000000000000000"),
	SAME(NUMBER, "cc_max_outstanding_mads", "500"),
	SAME(NUMBER, "cc_sw_cong_setting_control_map", "0x0"),
	SAME(TEXT, "cc_sw_cong_setting_victim_mask", ZEROS_256),
	SAME(TEXT, "cc_sw_cong_setting_credit_mask", ZEROS_256),
	SAME(NUMBER, "cc_sw_cong_setting_threshold", "0x00"),
	SAME(NUMBER, "cc_sw_cong_setting_packet_size", "0"),
	SAME(NUMBER, "cc_sw_cong_setting_credit_starvation_threshold", "0x00"),
	SAME(TEXT, "cc_sw_cong_setting_credit_starvation_return_delay", "0:0"),
	SAME(NUMBER, "cc_sw_cong_setting_marking_rate", "0"),
	SAME(NUMBER, "cc_ca_cong_setting_port_control", "0x0000"),
	SAME(NUMBER, "cc_ca_cong_setting_control_map", "0x0000"),
	GATHERS("cc_ca_cong_setting_ccti_timer", "0 0"),
	GATHERS("cc_ca_cong_setting_ccti_increase", "0 0"),
	GATHERS("cc_ca_cong_setting_trigger_threshold", "0 0"),
	GATHERS("cc_ca_cong_setting_ccti_min", "0 0"),
	SAME(TEXT, "cc_cct", "(null)"),

	ROW(PATH, "prefix_routes_file", "/etc/opensm/prefix-routes.conf", SAME, "prefix_routes",
	    NULL, NULL),
	SPECIAL(BOOL, "consolidate_ipv6_snm_req", "FALSE", "ipv6_snm_mlids",
	    "TRUE is 1; fmd's default of 64 shares less"),
	NONE(TEXT, "log_prefix", "(null)", "fmd's lines begin with time, level and part"),

	{ .name = "master_sm_priority",
	    .def = "14",
	    .form = OPENSM_NUMBER,
	    .fate = OPENSM_SAME,
	    .def_counts = true,
	    .of_mlnx_ofed = true,
	    .to = "master_sm_priority",
	    .note = "MLNX_OFED's has 14 where no line says it, so that no master gives the subnet "
		    "back; fmd and OpenSM have sm_priority for that" },
	SAME(PATH, "pgrp_policy_file", "(null)"),
	SAME(PATH, "topo_policy_file", "(null)"),
	SAME(PATH, "rch_policy_file", "(null)"),
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

const struct opensm_key *
opensm_key(size_t i)
{
	return i < N_ROWS ? &rows[i] : NULL;
}

const struct opensm_key *
opensm_key_find(const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const char *
opensm_engine_option(const struct opensm_key *key, const struct option_table *table, bool *is_list)
{
	*is_list = key->fate == OPENSM_GUIDS;
	if (key->fate != OPENSM_ENGINE && key->fate != OPENSM_GUIDS)
		return NULL;
	if (option_find(table, key->to) != NULL)
		return key->to;
	return key->or_to != NULL && option_find(table, key->or_to) != NULL ? key->or_to : NULL;
}

int
opensm_foreign_engine(const char *name, struct fm_error *err)
{
	static const struct {
		const char *name, *here;
		bool is_adaptive;
	} engines[] = { { "ar_updn", "updn", true }, { "ar_ftree", "ftree", true },
		{ "ar_minhop", "minhop", true }, { "ar_dfp", "dragonfly", true },
		{ "ar_dor", "dor", false }, { "ar_torus", "torus-2QoS", false },
		{ "dfp", "dragonfly", false }, { "dfp2", "dragonfly", false },
		{ "pqft", "ftree", false } };

	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (strcasecmp(engines[i].name, name) == 0)
			return fm_fail(err, FM_E_CONFIG, "%s is MLNX_OFED's: here it is %s%s", name,
			    engines[i].here,
			    engines[i].is_adaptive ? ", with adaptive_routing { enable = yes } in "
						     "a file of fmd.conf's form"
						   : "");
	return 0;
}

const char *
opensm_foreign_key(const char *name)
{
#define IN_FMD_CONF " in a file of fmd.conf's form says it"
	static const struct {
		const char *begins, *reason;
	} keys[] = { { "ar_", "adaptive_routing" IN_FMD_CONF },
		{ "cc_key_",
		    "cc_key_write, cc_key_lease_period and cc_key_protect_bit" IN_FMD_CONF },
		{ "congestion_control_policy_file", NO_CC },
		{ "device_configuration_file", "fmd does not read it" },
		{ "enable_ar_by_device_cap", "adaptive_routing" IN_FMD_CONF },
		{ "enable_sm_port_failover",
		    "an fmd has one port; one on another host takes over" },
		{ "hm_",
		    "babbling_port_policy stops ports that babble, fmctl trouble tells of "
		    "the others" },
		{ "improved_lmc_path_distribution",
		    "the LIDs of a port have ways of their own as it is" },
		{ "m_key_per_port", "guid2mkey" IN_FMD_CONF },
		{ "max_wire_smps_per_device", "max_smps_per_node" IN_FMD_CONF },
		{ "max_seq_redisc", "what changes while it is discovered is read again alone" },
		{ "mc_primary_root_guid", "each multicast tree has a root of its own" },
		{ "mc_secondary_root_guid", "each multicast tree has a root of its own" },
		{ "mepi_", "fmd does not read that vendor's attribute of ports" },
		{ "mlnx_congestion_control", NO_CC }, { "n2n_key_", "fmd sets no such keys" },
		{ "nvl_", "fmd does not set up hash-based forwarding" },
		{ "offsweep_balancing_", "rebalance" IN_FMD_CONF },
		{ "pfrn_", "fmd does not set up the switches' own recovery" }, { "ppcc_", NO_CC },
		{ "qos_config_file", "fmd does not read it" },
		{ "rtr_", "the SA answers for other subnets by prefix_routes_file" },
		{ "sharp_", "fmd sets up no reductions in switches" },
		{ "shield_mode", "fmd does not set up the switches' own recovery" },
		{ "tenants_policy_", "write them as partitions" },
		{ "topo_config_", "fmd compares with no topology: ibdiagnet does" },
		{ "virt_", "fmd leaves virtual ports alone" },
		{ "vs_key_", "fmd sets no such keys" } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strncmp(name, keys[i].begins, strlen(keys[i].begins)) == 0)
			return keys[i].reason;
	return NULL;
}

void
opensm_key_means(const struct opensm_key *key, char *out, size_t room)
{
	if (key->fate == OPENSM_NONE)
		snprintf(out, room, "it has no counterpart: %s", key->note);
	else if (key->fate == OPENSM_ALWAYS)
		snprintf(out, room, "it needs nothing: %s", key->note);
	else
		snprintf(out, room, "it is %s%s", key->to,
		    key->fate == OPENSM_ENGINE || key->fate == OPENSM_GUIDS
			? ", in the sections of engines"
			: "");
}
