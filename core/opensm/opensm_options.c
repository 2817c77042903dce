/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's command line, by the keys of its file.  --config (-F), --once (-o), --help (-h) and
 * --version are fmd's own.
 */
#include <string.h>

#include "core/opensm/opensm.h"

#define TAKES(letter_, name_, key_) \
	{ \
		.letter = letter_, .name = name_, .key = key_, .value = NULL \
	}
#define HEX(letter_, name_, key_) \
	{ \
		.letter = letter_, .name = name_, .key = key_, .is_hex = true \
	}
#define SAYS(letter_, name_, key_, value_) \
	{ \
		.letter = letter_, .name = name_, .key = key_, .value = value_ \
	}
#define INSTEAD(letter_, name_, sentence) \
	{ \
		.letter = letter_, .name = name_, .key = NULL, .value = sentence, \
		.has_value = true \
	}

#define DEBUG(number_, key_, value_) \
	{ \
		.letter = 'd', .name = "debug", .number = number_, .key = key_, .value = value_ \
	}

static const struct opensm_option options[] = {
	INSTEAD('c', "create-config",
	    "fmd writes no file: fmd --help and man fmd.conf have every key with its default, and "
	    "fmd --import-opensm FILE prints the fmd.conf of an opensm.conf"),
	HEX('g', "guid", "guid"),
	TAKES('l', "lmc", "lmc"),
	TAKES('p', "priority", "sm_priority"),
	HEX('\0', "subnet_prefix", "subnet_prefix"),
	HEX('k', "smkey", "sm_key"),
	SAYS('r', "reassign_lids", "reassign_lids", "TRUE"),
	TAKES('R', "routing_engine", "routing_engine"),
	SAYS('\0', "do_mesh_analysis", "do_mesh_analysis", "TRUE"),
	TAKES('\0', "lash_start_vl", "lash_start_vl"),
	TAKES('\0', "sm_sl", "sm_sl"),
	TAKES('\0', "nue_max_num_vls", "nue_max_num_vls"),
	SAYS('z', "connect_roots", "connect_roots", "TRUE"),
	SAYS('A', "ucast_cache", "use_ucast_cache", "TRUE"),
	TAKES('M', "lid_matrix_file", "lid_matrix_dump_file"),
	TAKES('U', "lfts_file", "lfts_file"),
	TAKES('S', "sadb_file", "sa_db_file"),
	TAKES('a', "root_guid_file", "root_guid_file"),
	TAKES('u', "cn_guid_file", "cn_guid_file"),
	TAKES('G', "io_guid_file", "io_guid_file"),
	SAYS('\0', "port-shifting", "port_shifting", "TRUE"),
	TAKES('\0', "scatter-ports", "scatter_ports"),
	TAKES('H', "max_reverse_hops", "max_reverse_hops"),
	TAKES('m', "ids_guid_file", "ids_guid_file"),
	TAKES('X', "guid_routing_order_file", "guid_routing_order_file"),
	SAYS('\0', "guid_routing_order_no_scatter", "guid_routing_order_no_scatter", "TRUE"),
	TAKES('\0', "torus_config", "torus_config"),
	TAKES('s', "sweep", "sweep_interval"),
	TAKES('t', "timeout", "transaction_timeout"),
	TAKES('\0', "retries", "transaction_retries"),
	TAKES('n', "maxsmps", "max_wire_smps"),
	TAKES('q', "console", "console"),
	TAKES('C', "console-port", "console_port"),
	TAKES('i', "ignore_guids", "port_prof_ignore_file"),
	TAKES('w', "hop_weights_file", "hop_weights_file"),
	TAKES('O', "port_search_ordering_file", "port_search_ordering_file"),
	TAKES('\0', "dimn_ports_file", "port_search_ordering_file"),
	SAYS('x', "honor_guid2lid", "honor_guid2lid_file", "TRUE"),
	TAKES('\0', "dump_files_dir", "dump_files_dir"),
	TAKES('f', "log_file", "log_file"),
	TAKES('L', "log_limit", "log_max_size"),
	SAYS('e', "erase_log_file", "accum_log_file", "FALSE"),
	TAKES('P', "Pconfig", "partition_config_file"),
	SAYS('N', "no_part_enforce", "no_partition_enforcement", "TRUE"),
	TAKES('Z', "part_enforce", "part_enforce"),
	SAYS('W', "allow_both_pkeys", "allow_both_pkeys", "TRUE"),
	SAYS('Q', "qos", "qos", "TRUE"),
	TAKES('Y', "qos_policy_file", "qos_policy_file"),
	SAYS('\0', "congestion_control", "congestion_control", "TRUE"),
	TAKES('\0', "cc_key", "cc_key"),
	SAYS('y', "stay_on_fatal", "exit_on_fatal", "FALSE"),
	SAYS('B', "daemon", "daemon", "TRUE"),
	INSTEAD('J', "pidfile", "fmd stays in the foreground, and systemd knows its process"),
	SAYS('I', "inactive", "sm_inactive", "TRUE"),
	SAYS('\0', "perfmgr", "perfmgr", "TRUE"),
	TAKES('\0', "perfmgr_sweep_time_s", "perfmgr_sweep_time_s"),
	TAKES('\0', "prefix_routes_file", "prefix_routes_file"),
	SAYS('\0', "consolidate_ipv6_snm_req", "consolidate_ipv6_snm_req", "TRUE"),
	TAKES('\0', "log_prefix", "log_prefix"),
	SAYS('v', "verbose", "log_flags", "0x07"),
	SAYS('V', "V", "log_flags", "0xff"),
	TAKES('D', "D", "log_flags"),
	DEBUG("0", "ignore_other_sm", "TRUE"),
	DEBUG("1", "single_thread", "TRUE"),
	DEBUG("2", "force_log_flush", "TRUE"),
	DEBUG("3", "disable_multicast", "TRUE"),
	DEBUG("10", NULL, "OpenSM's testability mode has no counterpart"),
	DEBUG("", NULL,
	    "0 is ignore_other_sm TRUE, 3 disable_multicast TRUE, 1 and 2 fmd does anyway; -D 0xff "
	    "logs all messages"),
};

const struct opensm_option *
opensm_option(size_t i)
{
	return i < sizeof(options) / sizeof(*options) ? &options[i] : NULL;
}

const struct opensm_option *
opensm_option_for(const struct opensm_option *first, const char *value)
{
	const struct opensm_option *o = first;

	while (o->number != NULL && *o->number != '\0' && strcmp(o->number, value) != 0)
		o++;
	return o;
}
