/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's options: one row each.  The parser, the range check, --help,
 * conf/fmd.conf and fmd.conf(5) come from here; there is no second place.
 * Names and defaults are OpenSM's where the meaning is.
 */
#include <string.h>

#include "core/conf/conf.h"

#define AT(field) .offset = offsetof(struct conf, field)
#define ANY_64_BITS .min = INT64_MIN, .max = INT64_MAX

#define ROW(group_, name_, type_, field, def_, help_, ...) \
	{ \
		.group = group_, .option = { \
			.name = name_, \
			.type = type_, \
			AT(field), \
			.def = def_, \
			.help = help_, \
			__VA_ARGS__ \
		} \
	}
#define INT(group_, name_, field, def_, min_, max_, unit_, help_) \
	ROW(group_, name_, FM_OPT_INT, field, def_, help_, .min = min_, .max = max_, .unit = unit_)
/* What is read when fmd starts, and then never again. */
#define START(group_, name_, type_, field, def_, help_, ...) \
	{ \
		.group = group_, \
		.option = { .name = name_, \
			.type = type_, \
			AT(field), \
			.def = def_, \
			.help = help_, \
			__VA_ARGS__ }, \
		.restart = true \
	}
#define START_INT(group_, name_, field, def_, min_, max_, unit_, help_) \
	START(group_, name_, FM_OPT_INT, field, def_, help_, .min = min_, .max = max_, \
	    .unit = unit_)
#define KEY(group_, name_, field, def_, help_) \
	ROW(group_, name_, FM_OPT_INT, field, def_, help_, ANY_64_BITS)
#define TIME(group_, name_, field, def_, min_, max_, help_) \
	ROW(group_, name_, FM_OPT_DURATION, field, def_, help_, .min = min_, .max = max_)
#define BOOL(group_, name_, field, def_, help_) \
	ROW(group_, name_, FM_OPT_BOOL, field, def_, help_, .unit = NULL)
#define ENUM(group_, name_, field, def_, choices_, unit_, help_) \
	ROW(group_, name_, FM_OPT_ENUM, field, def_, help_, .choices = choices_, .unit = unit_)
#define STRING(group_, name_, field, def_, unit_, restart_, help_) \
	{ \
		.group = group_, \
		.option = { .name = name_, \
			.type = FM_OPT_STRING, \
			AT(field), \
			.def = def_, \
			.unit = unit_, \
			.help = help_ }, \
		.restart = restart_ \
	}

/* A row as opa-fm's section AdaptiveRouting has it, or of ours alone (NULL). */
#define AR(group_, name_, alias_, ...) \
	{ \
		.group = group_, .alias = alias_, .option = { \
			.name = "adaptive_routing." name_, \
			__VA_ARGS__ \
		} \
	}

/* A file of another manager. */
#define POLICY(group_, name_, field, help_) \
	ROW(group_, name_, FM_OPT_FILE, field, "", help_, .unit = NULL)

/* The five keys of one kind of port; what is not said comes from qos_..., then from
 * OpenSM's defaults. */
#define QOS(kind, at, whose) \
	INT(NULL, "qos_" kind "max_vls", qos.text[at].max_vls, "0", 0, 15, "data VLs", \
	    "VLs from there on are not used " whose "; 0 = not said."), \
	    INT(NULL, "qos_" kind "high_limit", qos.text[at].high_limit, "-1", -1, 255, \
		"4096 bytes", \
		"PortInfo.VLHighLimit " whose \
		": how much may go by high priority before low has a turn; 255 = no limit, -1 = " \
		"not said."), \
	    STRING(NULL, "qos_" kind "vlarb_high", qos.text[at].vlarb_high, "", "VL:WEIGHT,...", \
		false, "High-priority arbitration table " whose "; empty = not said."), \
	    STRING(NULL, "qos_" kind "vlarb_low", qos.text[at].vlarb_low, "", "VL:WEIGHT,...", \
		false, "Low-priority arbitration table " whose "; empty = not said."), \
	    STRING(NULL, "qos_" kind "sl2vl", qos.text[at].sl2vl, "", "16 VLs", false, \
		"VL for each SL " whose "; 15 drops, empty = not said.")

#define CC_WORDS(what) congestion.text.words[CONGESTION_##what]

#define SECOND 1000
#define HOUR (3600 * SECOND)

static const char *const credit_loops[] = { "refuse", "warn", NULL }; /* enum conf_credit_loops */
/* enum plan_rebalance */
static const char *const rebalances[] = { "auto", "never", "quiet", "always", NULL };
/* enum health_action */
static const char *const health_actions[] = { "tell", "quarantine", NULL };
static const char *const drains[] = { "loss", "always", "never", NULL }; /* enum plan_drain */
static const char *const isolations[] = { "foreign", "all", "none", "without-landlock",
	NULL };							    /* enum apart_who */
static const char *const sl_models[] = { "both", "forward", NULL }; /* enum verify_sl_model */
/* enum conf_ar_algorithm, twice: the numbers are opa-fm's */
static const char *const algorithms[] = { "random", "greedy", "greedy_random", "0", "1", "2",
	NULL };
static const char *const path_selections[] = { "minimal", "pairwise", "order_all", "src_dst_all",
	NULL };
static const char *const replies[] = { "prefer", "require", "ignore",
	NULL }; /* enum region_replies */
static const char *const enforcement[] = { "off", "in", "out", "both",
	NULL };							      /* enum part_enforce */
static const char *const untrusted[] = { "allow", "restrict", NULL }; /* enum sa_untrusted */
static const char *const op_vls[] = { "1", "2", "4", "8", "15", NULL };
static const char *const log_levels[] = { "err", "warn", "notice", "info", "debug", NULL };

static const struct conf_row rows[] = {
	{ .group = "Routing",
	    .option = { .name = "chain",
		.type = FM_OPT_STRING,
		AT(routing.chain_text),
		.def = "fattree, updn",
		.unit = "engines in order of preference",
		.help = "The first engine that accepts the fabric and whose tables are proven "
			"routes it; "
			"\"fattree:pods\" takes its options from the section fattree \"pods\"." },
	    .words = true },
	BOOL(NULL, "fallback", routing.fallback, "yes",
	    "End every chain with the built-in up/down, which routes any connected fabric. With "
	    "no, "
	    "where no engine of the chain can route, tables that are in force are mended, by that "
	    "up/down "
	    "if need be, and told to be not as configured; where none are, as at the start, no "
	    "routes are "
	    "written, and the subnet does not come up."),
	ENUM(NULL, "credit_loops", routing.credit_loops, "refuse", credit_loops, NULL,
	    "What to do with tables in which packets can wait for one another in a circle."),
	TIME(NULL, "engine_time_limit", routing.engine_time_limit_ms, "60s", 0, 24 * HOUR,
	    "How long one engine may compute before the next one is asked; 0 = no limit."),
	ENUM(NULL, "engine_isolation", routing.engine_isolation, "foreign", isolations, NULL,
	    "Which engines run in a process of their own, without privileges, files and sockets: "
	    "foreign, those that are not in fmd's own folder; all; or none, so that an engine that "
	    "crashes ends fmd.  From a foreign one files are hidden by Landlock before any of its "
	    "code "
	    "runs; a kernel that has none refuses it, unless this is without-landlock: as foreign, "
	    "but while the engine is loaded it may read what fmd's user may, keys too.  The same "
	    "holds for programmers of adaptive routing, in the folder vendors of a plugin "
	    "directory."),
	INT(NULL, "engine_memory", routing.engine_memory_mib, "4096", 64, 1 << 20, "MiB",
	    "Memory that such a process may have beside the tables."),
	INT(NULL, "n_vls", routing.n_vls, "8", 1, 15, "data VLs",
	    "How many virtual lanes engines may use; ports that have fewer lower it."),
	ENUM(NULL, "sl_model", routing.sl_model, "both", sl_models, NULL,
	    "Which SL a path is checked under: both also its reverse's, because replies copy the "
	    "requester's SL; forward its own only."),
	POLICY(NULL, "rch_policy_file", routing.rch_policy,
	    "MLNX_OFED's unicast steps: what the chain entry \"chains\" does."),
	POLICY(NULL, "pgrp_policy_file", routing.pgrp_policy,
	    "MLNX_OFED's port groups for such steps."),
	POLICY(NULL, "topo_policy_file", routing.topo_policy,
	    "MLNX_OFED's topologies, the parts of the fabric that such steps route."),
	{ .option = { .name = "reserved_sls",
	      .type = FM_OPT_STRING,
	      AT(regions.reserved_sls_text),
	      .def = "",
	      .unit = "SLs, 0..15, single or as 4-7",
	      .help = "Service levels that are kept for QoS: joining regions must do without "
		      "them." },
	    .words = true },
	START_INT(NULL, "workers", routing.workers, "0", 0, 256, "threads",
	    "Routing threads; 0 = one per CPU."),

	ENUM("Regions", "replies", regions.replies, "prefer", replies, NULL,
	    "Whether joins of regions are proven free of deadlocks for replies, too, which copy "
	    "the requester's SL. With prefer and require, which mean the same, they are; ignore "
	    "looks at requests alone."),
	{ .option = { .name = "region_order",
	      .type = FM_OPT_STRING,
	      AT(regions.order_text),
	      .def = "",
	      .unit = "names of regions, top level first",
	      .help = "Which regions stand above which on the way between them, default among "
		      "them; those left out come below; empty = found from the cables." },
	    .words = true },

	AR("Adaptive routing", "enable", "AdaptiveRouting.Enable", .type = FM_OPT_BOOL,
	    AT(ar.enable), .def = "no",
	    .help = "Engines that can (trait ar) give groups of ports that lead equally well; "
		    "they are proven, and written into switches that have a programmer "
		    "(fmd/vendor.h)."),
	AR(NULL, "fine_grained", "AdaptiveRouting.FineGrained", .type = FM_OPT_BOOL,
	    AT(ar.fine_grained), .def = "no",
	    .help = "Switches are to hold alternatives for each LID; else one group for all LIDs "
		    "behind a switch."),
	AR(NULL, "lost_route_only", "AdaptiveRouting.LostRouteOnly", .type = FM_OPT_BOOL,
	    AT(ar.lost_route_only), .def = "no",
	    .help = "Switches are to leave the static port only when its link is lost, not for "
		    "load."),
	AR(NULL, "algorithm", "AdaptiveRouting.Algorithm", .type = FM_OPT_ENUM, AT(ar.algorithm),
	    .def = "greedy_random", .choices = algorithms,
	    .help = "How a switch picks a port of the group: at random, the least loaded, or at "
		    "random among the least loaded; the numbers are opa-fm's for the same."),
	AR(NULL, "frequency", "AdaptiveRouting.ARFrequency", .type = FM_OPT_INT, AT(ar.frequency),
	    .def = "0", .min = 0, .max = 7, .unit = "64 ms * 2^n",
	    .help = "How often a switch looks for better ports."),
	AR(NULL, "threshold", "AdaptiveRouting.Threshold", .type = FM_OPT_INT, AT(ar.threshold),
	    .def = "3", .min = 0, .max = 7,
	    .help = "Use of a port's buffers from which it counts as congested: 1..7 = 100, 90, "
		    "80, 70, 65, 60, 55 %; 0 = the switch's own."),
	AR(NULL, "max_groups", NULL, .type = FM_OPT_INT, AT(ar.max_groups), .def = "256", .min = 1,
	    .max = 4096, .unit = "groups",
	    .help = "Groups one switch can hold; of more, those that serve the fewest LIDs are "
		    "given up for static entries."),

	INT("LIDs", "lmc", addresses.lmc, "0", 0, 7, "bits",
	    "Every CA and router port owns 2^lmc LIDs."),
	INT(NULL, "switch_lmc", addresses.switch_lmc, "0", 0, 7, "bits",
	    "Every enhanced switch port 0 owns 2^switch_lmc LIDs."),
	BOOL(NULL, "reassign_lids", addresses.reassign_lids, "no",
	    "Give LIDs from the store or afresh, without regard to those that ports have now."),
	TIME(NULL, "lid_linger", addresses.lid_linger_ms, "10min", 0, 24 * HOUR,
	    "How long switches keep the routes to a port that has gone, so that a host that "
	    "reboots changes nothing.  Routes that would close a credit loop go sooner."),
	{ .option = { .name = "node_name_map",
	      .type = FM_OPT_FILE,
	      AT(names.file),
	      .def = "",
	      .help = "Names of nodes, a line 0xGUID \"NAME\" each, as OpenSM's and "
		      "infiniband-diags' node name map: they stand in the log and in all output, "
		      "and configuration may use them." } },
	{ .option = { .name = "topology_file",
	      .type = FM_OPT_FILE,
	      AT(cabling.file),
	      .def = "",
	      .help =
		  "The cabling as it is to be, as fmctl topo save writes it: what differs is "
		  "told after each sweep that finds something new, and stands in fmctl trouble "
		  "and health.  An output of ibnetdiscover, or, where its name ends with .topo, "
		  "ibutils' topology file." } },
	{ .option = { .name = "guid2lid",
	      .type = FM_OPT_FILE,
	      AT(addresses.guid2lid),
	      .def = "",
	      .help = "An OpenSM guid2lid file: LIDs for ports that the store does not know yet." },
	    .restart = true },

	STRING("Subnet manager", "transport", transport.spec, "umad",
	    "umad[:CA[:PORT]], umad:0xPORTGUID or sim:FABRIC", true,
	    "The local port that reaches the fabric; umad alone takes the first active one."),
	{ .option = { .name = "guid",
	      .type = FM_OPT_INT,
	      AT(transport.guid),
	      .def = "0",
	      ANY_64_BITS,
	      .unit = "port GUID",
	      .help = "The local port that reaches the fabric, by its GUID (\"ibstat -p\"), where "
		      "transport does not name it; 0 = not said." },
	    .restart = true },
	{ .option = { .name = "port",
	      .type = FM_OPT_STRING,
	      AT(transport.ports_text),
	      .def = "",
	      .unit = "CA:PORT, ...",
	      .help = "The local port that reaches the fabric, where neither transport nor guid "
		      "names it; of several, such as mlx5_0:1, mlx5_0:2, the first that has a "
		      "link, and when that loses it, the next that has one, with the LIDs and all "
		      "that hosts have registered; fmd stays there when the first is back. All "
		      "have to be on one subnet. empty = as transport says." },
	    .words = true,
	    .restart = true },
	INT(NULL, "sm_priority", sm.priority, "0", 0, 15, NULL,
	    "Among subnet managers the highest priority is master, then the lowest GUID."),
	INT(NULL, "master_sm_priority", sm.master_priority, "0", 0, 15, NULL,
	    "The priority while fmd is master, where it is higher than sm_priority: who has taken "
	    "over keeps the subnet when a subnet manager of higher sm_priority comes back. Set it "
	    "to the same on all, above every sm_priority. 0 = sm_priority."),
	KEY(NULL, "sm_key", sm.key, "1",
	    "SM_Key: a subnet manager that does not show that it has the same is not trusted. The "
	    "default is known to all: only a number of your own keeps others out."),
	BOOL(NULL, "sm_inactive", sm.inactive, "no",
	    "Start NOT ACTIVE: the fabric is looked at once, nothing is written, SMInfo is "
	    "answered. "
	    "fmd begins to work when a reload finds \"no\" here, or when a master that has its "
	    "sm_key tells it to stand by."),
	BOOL(NULL, "ignore_other_sm", sm.ignore_others, "no",
	    "Other subnet managers are reported and otherwise ignored, also those in "
	    "allowed_sm_guids, and also while one is master. Dangerous: two masters write over one "
	    "another's LIDs and tables for as long as both run; allowed_sm_guids leaves out the "
	    "unwanted ones alone."),
	INT(NULL, "sm_sl", sm.sl, "0", 0, 15, NULL,
	    "PortInfo.MasterSMSL: the service level by which hosts send to the SM and the SA."),
	{ .option = { .name = "allowed_sm_guids",
	      .type = FM_OPT_STRING,
	      AT(sm.allowed_guids_text),
	      .def = "",
	      .unit = "port GUIDs",
	      .help = "Subnet managers at other ports are reported and otherwise ignored, also "
		      "while one of them is master; empty = any port." },
	    .words = true },
	KEY(NULL, "m_key", m_key.key, "0", "M_Key set in every port; 0 = none."),
	INT(NULL, "m_key_lease_period", m_key.lease_period_s, "0", 0, 65535, "seconds",
	    "A port whose M_Key was not used for so long after a wrong one gives up its key; 0 = "
	    "never."),
	INT(NULL, "m_key_protection_level", m_key.protection_level, "0", 0, 3, NULL,
	    "What ports answer to SMPs with a wrong M_Key (IBA 14.2.4.1)."),
	POLICY(NULL, "guid2mkey", m_key.guid2mkey,
	    "An OpenSM guid2mkey file: keys that ports may have of a subnet manager before, tried "
	    "where neither m_key nor the key that the fabric had last opens one; the port gets "
	    "m_key then. What does not say its GUID without its key is asked with the first eight "
	    "different ones."),
	KEY(NULL, "subnet_prefix", addresses.subnet_prefix, "0xfe80000000000000",
	    "GID prefix of the subnet."),
	TIME(NULL, "sminfo_polling_timeout", sm.polling_timeout_ms, "500ms", 100, HOUR,
	    "How often a standby polls the master; an answer may take half of it, 2 s at most."),
	INT(NULL, "polling_retry_number", sm.polling_retries, "4", 1, 100, "polls",
	    "A master that misses so many polls in a row is gone, and the standby takes over."),
	TIME(NULL, "sm_patience", sm.patience_ms, "5min", 0, 24 * HOUR,
	    "A better subnet manager that for so long has neither made our port ACTIVE and its "
	    "own, nor taken the subnet from us, is ignored; 0 = it is waited for for ever."),

	POLICY("Partitions", "partition_config_file", partitions.file,
	    "OpenSM's partitions.conf: who may talk to whom, and the groups of IPoIB; without one "
	    "all ports are full members of the default partition."),
	ENUM(NULL, "part_enforce", partitions.enforce, "both", enforcement, NULL,
	    "Which packets the switch ports before hosts check against the host's partitions: "
	    "those that come in from it, those that go out to it, both, or none. Without a "
	    "partition_config_file none do: all hosts are full members of the one partition, so "
	    "there is nothing to check, and each host would cost a Get; a file of the one line "
	    "\"Default=0x7fff, ipoib : ALL=full, SELF=full;\" turns it on."),
	BOOL(NULL, "allow_both_pkeys", partitions.allow_both, "no",
	    "A port may be full and limited member of one partition, by the membership \"both\", "
	    "which is full without this. The last rule for a port counts."),
	BOOL(NULL, "keep_pkey_indexes", partitions.keep_indexes, "yes",
	    "P_Keys that stay in a port's table keep their index, which queue pairs name them "
	    "by."),

	KEY("Subnet administration", "sa_key", sa.key, "1",
	    "SM_Key of a request to the SA: who shows it is trusted and sees all partitions."),
	ENUM(NULL, "untrusted", sa.untrusted, "allow", untrusted, NULL,
	    "What hosts that show no sa_key may ask of the SA: all that concerns their partitions "
	    "(allow), or what concerns themselves (restrict): paths from themselves to one "
	    "destination, their own joins, services, subscriptions and records, and ports with "
	    "storage targets. Joins for others, services under others' GIDs, security traps and "
	    "tables of the fabric are then denied; as MLNX OpenSM's sa_enhanced_trust_model. It "
	    "needs an sa_key of its own. max_joins, max_services and max_subscriptions bound what "
	    "one host registers."),
	ENUM(NULL, "path_selection", sa.path_selection, "minimal", path_selections, NULL,
	    "Which pairs of LIDs are told for two ports with LMC: each source LID with one of the "
	    "destination, until either side runs out (minimal) or both do (pairwise), those and "
	    "then all others (order_all), or all, by source (src_dst_all)."),
	INT(NULL, "max_rate_enum", sa.max_rate_enum, "0", 0, 25, "code of IBA 15.2.5.16",
	    "No path is told to have a rate of a higher code, for hosts that do not know it: the "
	    "fastest of those below is told; 18, 300 Gbit/s, is what was known before HDR; 0 = "
	    "any. "
	    "Who asks for exactly one rate gets it."),
	INT(NULL, "path_life", sa.path_life, "18", 0, 63, "4.096 us * 2^n",
	    "PacketLifeTime of paths, and of groups that are made without one: hosts wait a "
	    "multiple of it for answers."),
	INT(NULL, "max_joins", registry.max_joins, "4096", 1, 1000000, "groups",
	    "One port may hold so many memberships in multicast groups, for itself and others."),
	INT(NULL, "max_services", registry.max_services, "1024", 1, 65536, "services",
	    "One host may have so many services registered."),
	INT(NULL, "max_subscriptions", registry.max_subscriptions, "256", 1, 65536, "subscriptions",
	    "One host may have so many subscriptions to traps and notices."),
	BOOL(NULL, "drop_event_subscriptions", registry.drop_subscriptions, "no",
	    "What a port has subscribed to ends at once when the port leaves the subnet; else when "
	    "it has been away for a minute. It is asked to register again when it is back."),
	{ .option = { .name = "disable_multicast",
	      .type = FM_OPT_BOOL,
	      AT(registry.disable_multicast),
	      .def = "no",
	      .help = "No multicast: joins are denied, no group is forwarded, and the tables of "
		      "switches stay as they are. IPoIB does not work without its groups." },
	    .restart = true },
	INT(NULL, "ipv6_snm_mlids", registry.ipv6_snm_mlids, "64", 0, 16383, "multicast LIDs",
	    "Solicited-node groups of IPv6, one for each host, share so many for each P_Key and "
	    "scope; 1 is OpenSM's consolidate_ipv6_snm_req, 0 gives each its own while there are "
	    "any."),
	{ .option = { .name = "prefix_routes",
	      .type = FM_OPT_FILE,
	      AT(sa.prefix_routes),
	      .def = "",
	      .help = "OpenSM's prefix-routes file: through which router GIDs of other subnets are "
		      "reached." } },

	BOOL("QoS", "qos", qos.enable, "no",
	    "Program SL to VL and VL arbitration by these tables, and give paths the SLs of "
	    "partitions and of the policy file; what an engine needs of VLs goes before them, "
	    "and is told."),
	POLICY(NULL, "qos_policy_file", qos.policy_file,
	    "OpenSM's QoS policy: which paths get which SL and limits, when qos is on."),
	BOOL(NULL, "use_optimized_slvl", qos.use_optimized_slvl, "yes",
	    "Write SL to VL of all pairs of a switch's ports at once where it offers that."),
	QOS("", QOS_COMMON, "of every kind of port that does not say otherwise"),
	QOS("ca_", QOS_CA, "of host ports"), QOS("rtr_", QOS_ROUTER, "of router ports"),
	QOS("sw0_", QOS_SWITCH0, "of enhanced switch ports 0"),
	QOS("swe_", QOS_SWITCH, "of external switch ports"),

	BOOL("Congestion control", "congestion_control", congestion.enable, "no",
	    "Set congestion control (IBA annex A10) in switches and hosts to what the keys below "
	    "say: each agent is asked what it holds while no sweep runs, and sent what differs. "
	    "Nodes without such an agent are told of once. When it is turned off nodes keep what "
	    "they hold."),
	KEY(NULL, "cc_key", congestion.key, "0",
	    "CC_Key that MADs of congestion control carry; 0 = none. It is not set in nodes, "
	    "unless cc_key_write says so."),
	BOOL(NULL, "cc_key_write", congestion.writes_key, "no",
	    "Give nodes cc_key as their CC_Key, with the next two keys, so that nobody without it "
	    "changes what they hold. One that can be read is replaced. A key that is hidden is "
	    "given up by its node when its lease has run out, or never; before a start with "
	    "another cc_key the old one is to be taken back, or its protection."),
	INT(NULL, "cc_key_lease_period", congestion.key_lease_s, "0", 0, 65535, "seconds",
	    "A node whose CC_Key was not used for so long after a wrong one protects it no more; "
	    "0 = never."),
	BOOL(NULL, "cc_key_protect_bit", congestion.key_protected, "yes",
	    "Nodes hide the CC_Key that cc_key_write gives them from who has not shown it."),
	INT(NULL, "cc_max_outstanding_mads", congestion.max_outstanding, "500", 0, 10000, "MADs",
	    "MADs of congestion control that are under way at once; 0 = one."),
	TIME(NULL, "cc_log_interval", congestion.log_interval_ms, "1min", 0, 24 * HOUR,
	    "The CongestionLog of each switch is read so often, for fmctl congestion; reading "
	    "empties it. 0 = never."),
	INT(NULL, "cc_sw_cong_setting_control_map", congestion.text.sw_control_map, "0", 0,
	    UINT32_MAX, "bits",
	    "Which of the switch settings count: 1 victim mask, 2 credit mask, 4 threshold and "
	    "packet size, 8 credit starvation, 16 marking rate."),
	STRING(NULL, "cc_sw_cong_setting_victim_mask", CC_WORDS(VICTIM_MASK), "0", "bits of ports",
	    false,
	    "Ports of switches that mark packets whether they are the root of congestion or a "
	    "victim of it: a hexadecimal number, bit n is port n."),
	STRING(NULL, "cc_sw_cong_setting_credit_mask", CC_WORDS(CREDIT_MASK), "0", "bits of ports",
	    false, "Ports of switches to which credit starvation applies, likewise."),
	INT(NULL, "cc_sw_cong_setting_threshold", congestion.text.sw_threshold, "0", 0, 15, NULL,
	    "How soon switches mark: 0 = never, 1 = late, 15 = early."),
	INT(NULL, "cc_sw_cong_setting_packet_size", congestion.text.sw_packet_size, "0", 0, 255,
	    "64 bytes", "Smaller packets are not marked."),
	INT(NULL, "cc_sw_cong_setting_credit_starvation_threshold", congestion.text.sw_cs_threshold,
	    "0", 0, 15, NULL, "How soon a port counts as starved of credits: 0 = never."),
	STRING(NULL, "cc_sw_cong_setting_credit_starvation_return_delay", CC_WORDS(RETURN_DELAY),
	    "0:0", "SHIFT:MULTIPLIER", false,
	    "For how long a starved port withholds credits; as an entry of cc_cct."),
	INT(NULL, "cc_sw_cong_setting_marking_rate", congestion.text.sw_marking_rate, "0", 0, 65535,
	    "packets", "At least so many packets pass between two that are marked."),
	INT(NULL, "cc_ca_cong_setting_port_control", congestion.text.ca_port_control, "0", 0, 65535,
	    "bits", "How hosts slow down: 0 = each queue pair, 1 = all of an SL."),
	INT(NULL, "cc_ca_cong_setting_control_map", congestion.text.ca_control_map, "0", 0, 65535,
	    "bits of SLs", "The SLs whose settings of hosts count."),
	STRING(NULL, "cc_ca_cong_setting_ccti_timer", CC_WORDS(CCTI_TIMER), "", "SL VALUE, ...",
	    false, "When it runs out a host goes one entry of cc_cct back; 1.024 us."),
	STRING(NULL, "cc_ca_cong_setting_ccti_increase", CC_WORDS(CCTI_INCREASE), "",
	    "SL VALUE, ...", false,
	    "So many entries of cc_cct a host goes on for each BECN that it receives."),
	STRING(NULL, "cc_ca_cong_setting_trigger_threshold", CC_WORDS(TRIGGER_THRESHOLD), "",
	    "SL VALUE, ...", false, "At this entry of cc_cct a host notes an event in its log."),
	STRING(NULL, "cc_ca_cong_setting_ccti_min", CC_WORDS(CCTI_MIN), "", "SL VALUE, ...", false,
	    "The entry of cc_cct that hosts do not go back beyond."),
	STRING(NULL, "cc_cct", CC_WORDS(CCT), "", "SHIFT:MULTIPLIER, ...", false,
	    "The table of delays that hosts put between packets, up to 128; empty = its limit is "
	    "0."),

	TIME("Sweeps", "sweep_interval", sweep.interval_ms, "10s", 0, 24 * HOUR,
	    "Time between light sweeps; 0 = none but each 10 s while something is unfinished."),
	TIME(NULL, "audit", sweep.audit_ms, "1h", 0, 168 * HOUR,
	    "All that switches and hosts hold of what fmd has written - LIDs, forwarding and "
	    "multicast tables, P_Keys, SL to VL, VL arbitration - is read back in this time while "
	    "no sweep "
	    "runs, by 200 Gets a second at most; where it is something else it is told and "
	    "written again. 10s at least; 0 = never, but for fmctl sweep --tables."),
	BOOL(NULL, "sweep_on_trap", sweep.on_trap, "yes",
	    "Traps 128 and 144 start a sweep of what changed; without them light sweeps see it "
	    "later."),
	BOOL(NULL, "force_heavy_sweep", sweep.force_heavy, "no",
	    "Every sweep at sweep_interval reads all nodes and ports anew; a light one asks each "
	    "switch whether something has changed."),
	TIME(NULL, "flap_still", sweep.flap_still_ms, "30s", 0, 1 * HOUR,
	    "A cable between switches that goes down three times within a minute stays out of the "
	    "forwarding tables until it has not gone down for this long, and twice as long each "
	    "time that it is so again within an hour, 1h at most; after the second time it waits "
	    "for 10 s. One without which a switch or host would be cut off is used all the same. "
	    "fmctl trouble has them, fmctl restore takes one back at once; 0 = all cables that "
	    "are up are used."),
	ENUM(NULL, "health_action", sweep.health_action, "tell", health_actions, NULL,
	    "What becomes of a cable between switches that is bad by its counters (fmd-perf(8), "
	    "fmctl health). quarantine = fmd takes it out of routing as fmctl isolate does, where "
	    "no host is cut off, the fullest link carries a tenth more at most, and of the cables "
	    "between switches no more than one in 200, or two, are out; else fmctl health says why "
	    "it is not. It comes back when it has been quiet for two hours, or by fmctl restore; "
	    "then it is left alone till it has been well."),
	BOOL(NULL, "babbling_port_policy", sweep.babbling_port_policy, "no",
	    "Disable a port that has told of errors (traps 129 to 131) 250 times in a row: of the "
	    "two ends of its cable the one nearer to the SM. fmd's own link and one that is the "
	    "only way to switches are told of and left. Traps are answered and their work is "
	    "bounded in any case; ibportstate enables the port again; until then fmctl trouble has "
	    "it."),
	BOOL(NULL, "lid_routed_smps", sweep.lid_routed_smps, "yes",
	    "What is written goes by LID-routed SMPs, or by mixed ones as far as the switch "
	    "before, "
	    "where the way is written already and does not change meanwhile, once one of each kind "
	    "has been answered; else by directed routes alone."),
	START(NULL, "transaction_timeout", FM_OPT_DURATION, transport.timeout_ms, "200ms",
	    "How long one SMP may take before it is sent again.", .min = 10, .max = 60 * SECOND),
	START_INT(NULL, "transaction_retries", transport.retries, "3", 0, 100, "times",
	    "How often an SMP is sent again before its node counts as silent."),
	START_INT(NULL, "max_smps", transport.max_smps, "64", 1, 4096, "SMPs",
	    "At most so many SMPs at once on their way to nodes that answer (128 through umad); "
	    "the "
	    "window adapts below. What is sent again, and what goes to nodes that do not answer, "
	    "has "
	    "as many places of its own. An SMP without an answer for eight round trips (2 ms at "
	    "least) gives its place up and is waited for without; while nothing at all is "
	    "answered, "
	    "only twice as many do."),
	START_INT(NULL, "max_smps_per_node", transport.max_smps_per_node, "4", 1, 64, "SMPs",
	    "At most so many unanswered SMPs to one node; one, while it leaves others unanswered."),

	ENUM(NULL, "drain", transition.drain, "loss", drains, NULL,
	    "Which changes may empty forwarding entries for packet_life where no order of writing "
	    "them is free of deadlocks: loss, of links or switches that carry traffic; always, "
	    "another engine too; never, write them at that risk."),
	ENUM(NULL, "rebalance", transition.rebalance, "auto", rebalances, NULL,
	    "When repaired tables give way to those of a full route, if these have at least 15 "
	    "percent less on the fullest link and no forwarding entries need be emptied for them: "
	    "never; quiet, in a sweep that finds nothing else to do; always, with the repair. "
	    "auto is never for fattree, whose repairs are as good, and quiet for the others. "
	    "Engines that the chain entry auto compares only later, as the fabric is large, are "
	    "taken up in such a sweep, too, if no entries need be emptied; with never they are not "
	    "compared."),
	TIME(NULL, "packet_life", transition.packet_life_ms, "2200ms", 0, 60 * SECOND,
	    "After so long no packet of old forwarding tables is under way any more; waited for "
	    "only between steps of a change that could deadlock otherwise."),

	INT("Ports", "subnet_timeout", ports.subnet_timeout, "18", 0, 31, "4.096 us * 2^n",
	    "PortInfo.SubnetTimeOut: the least interval between traps, and the subnet's part of "
	    "response times."),
	INT(NULL, "packet_life_time", ports.packet_life_time, "18", 0, 31, "4.096 us * 2^n",
	    "SwitchInfo.LifeTimeValue: how long a packet may stay in a switch; above 19 = for "
	    "ever."),
	INT(NULL, "head_of_queue_lifetime", ports.head_of_queue_lifetime, "18", 0, 31,
	    "4.096 us * 2^n", "PortInfo.HOQLife of ports between switches; above 19 = for ever."),
	INT(NULL, "leaf_head_of_queue_lifetime", ports.leaf_head_of_queue_lifetime, "16", 0, 31,
	    "4.096 us * 2^n", "PortInfo.HOQLife of switch ports to hosts."),
	INT(NULL, "vl_stall_count", ports.vl_stall_count, "7", 1, 7, "packets",
	    "PortInfo.VLStallCount of ports between switches: so many drops in a row stall a VL."),
	INT(NULL, "leaf_vl_stall_count", ports.leaf_vl_stall_count, "7", 1, 7, "packets",
	    "PortInfo.VLStallCount of switch ports to hosts."),
	ENUM(NULL, "max_op_vls", ports.max_op_vls, "15", op_vls, "data VLs",
	    "At most so many data VLs are made operational on any link."),
	INT(NULL, "force_link_speed", ports.force_link_speed, "0", 0, 15, "1 SDR + 2 DDR + 4 QDR",
	    "PortInfo.LinkSpeedEnabled: the speeds that links may come up with, as far as both "
	    "ends "
	    "support them; 15 = all that a port supports, 0 = as it is. No link is taken down for "
	    "it: what runs at another speed is told, and keeps it until it comes up anew."),
	INT(NULL, "force_link_speed_ext", ports.force_link_speed_ext, "0", 0, 31,
	    "1 FDR + 2 EDR + 4 HDR + 8 NDR",
	    "PortInfo.LinkSpeedExtEnabled, likewise; 31 = all that a port supports, 30 = none, so "
	    "that QDR is the most, 0 = as it is. Where one end of a cable has none of the speeds, "
	    "both are left as they are, and told."),
	INT(NULL, "force_link_width", ports.force_link_width, "0", 0, 255,
	    "1 1x + 2 4x + 4 8x + 8 12x + 16 2x",
	    "PortInfo.LinkWidthEnabled, likewise; 255 = all that a port supports, 0 = as it is."),
	INT(NULL, "local_phy_errors_threshold", ports.local_phy_errors_threshold, "8", 0, 15,
	    "errors", "PortInfo.LocalPhyErrors: rate of symbol errors that makes trap 129."),
	INT(NULL, "overrun_errors_threshold", ports.overrun_errors_threshold, "8", 0, 15, "errors",
	    "PortInfo.OverrunErrors: rate of buffer overruns that makes trap 130."),
	BOOL(NULL, "client_reregister", ports.client_reregister, "yes",
	    "Ask hosts to register anew with the SA when fmd becomes master."),

	STRING("Distribution", "dist_files", dist.files, "", "folder", true,
	    "Publish the paths of the subnet as files in this folder, for fmd-agent on hosts that "
	    "share it; empty = do not."),
	STRING(NULL, "dist_redis", dist.redis, "", "socket", true,
	    "Publish them to the Redis (or Valkey) at this Unix socket, from where its replicas "
	    "take them to fmd-agent on the hosts; empty = do not."),
	STRING(NULL, "dist_redis_peer", dist.redis_peer, "", "HOST:PORT", true,
	    "Where that Redis finds the Redis of the other SM, in words of REPLICAOF (an end of "
	    "stunnel on this host, as 127.0.0.1:6391). While another SM is master, fmd makes its "
	    "own Redis a replica of it, so that whoever becomes master has all that was "
	    "published. As master it asks it who follows it, when one that followed its own Redis "
	    "is missing (not beyond this host, as the login would be plain text); empty = there is "
	    "one SM, or the others share dist_redis."),
	STRING(NULL, "dist_auth_file", dist.auth_file, "", "path", true,
	    "File with a line \"USER PASSWORD\", by which fmd logs in to its Redis. It is read "
	    "each "
	    "time that fmd connects; empty = fmd does not log in."),
	STRING(NULL, "dist_addresses", dist.addresses, "", "path", true,
	    "File of IP addresses of the subnet's ports, published with the paths, for who asks by "
	    "address: a line is an address and the name of a host, a port GUID or a GID. It wins "
	    "over what hosts register (fmd-agent --register), and is read again when it changes."),

	STRING("Standby", "copy_socket", copy.socket, "", "socket", true,
	    "As master, give standbys that connect to this Unix socket a copy of all that outlives "
	    "fmd: what hosts have registered, LIDs, tables, isolated cables. An answer that "
	    "promises something waits until they have it, 5 ms at most. An SM on another host "
	    "connects through stunnel, which fmd-copy-setup sets up; empty = give none."),
	STRING(NULL, "copy_from", copy.from, "", "sockets", true,
	    "As standby, take a copy of the master by one of these Unix sockets, separated by "
	    "commas: the copy_socket of another SM of this host, or the end of stunnel that leads "
	    "to it; empty = take none."),

	STRING("Daemon", "state_dir", daemon.state_dir, STATE_DIR, "folder", true,
	    "Where LIDs, caches and registrations are kept."),
	STRING(NULL, "control_socket", daemon.control_socket, "", "path", true,
	    "Socket of fmctl; empty = " RUN_DIR
	    "/fmd.sock, or fmd.sock in a state_dir that was set."),
	STRING(NULL, "control_group", daemon.control_group, "", "group", true,
	    "Its members may use the commands of fmctl that change nothing, beside root and fmd's "
	    "user, who may use all; fmd's user must be a member, too (SupplementaryGroups= of its "
	    "unit). Empty = nobody else."),
	ENUM(NULL, "log_level", log.level, "notice", log_levels, NULL,
	    "Messages of this level and graver are logged: notice has one line an event, debug the "
	    "statistics of each sweep."),
	STRING(NULL, "log_file", log.file, "", "path", false,
	    "The log is added to this file; empty = standard error, which systemd keeps. SIGUSR1 "
	    "opens it anew, once it has been moved away. The unit of systemd lets fmd write below "
	    "/var/log/fmd."),
	INT(NULL, "log_max_size", log.max_size_mib, "0", 0, 1 << 20, "MiB",
	    "When log_file has so much it becomes FILE.1, in place of an older one, and a new one "
	    "begins; 0 = no limit."),
	STRING(NULL, "dump_files_dir", daemon.dump_files_dir, "", "folder", false,
	    "Tables are written there after every sweep that brings the subnet up, as --dump=DIR "
	    "does, which goes before it: opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs, lfts and "
	    "others."),
	STRING(NULL, "debug", log.debug, "", "subsystems", false,
	    "Comma-separated subsystems whose debug messages are logged; all = every one. What is "
	    "set in "
	    "each port is told of ports only, whatever log_level says."),
	{ .option = { .type = FM_OPT_END } }
};

const struct conf_row *
conf_row(size_t i)
{
	return i + 1 < sizeof(rows) / sizeof(*rows) ? &rows[i] : NULL;
}

size_t
conf_section_bytes(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot != NULL ? (size_t)(dot - name) : 0;
}

struct option_table
conf_option_table(void)
{
	return (struct option_table){ "", &rows[0].option, sizeof(rows[0]), sizeof(struct conf) };
}

static const struct conf_row group_rows[] = {
	{ .option = { .name = "members",
	      .type = FM_OPT_NODES,
	      .offset = offsetof(struct conf_group, members),
	      .def = "",
	      .help = "Switches and hosts, for lists of nodes to take in as \"@NAME\"." } },
	{ .option = { .type = FM_OPT_END } }
};
/* enum conf_region_loops */
static const char *const region_loops[] = { "default", "refuse", "warn", NULL };
static const struct conf_row region_rows[] = {
	{ .option = { .name = "switches",
	      .type = FM_OPT_NODES,
	      .offset = offsetof(struct conf_region, switches),
	      .def = "",
	      .help = "The switches of the region; hosts among what is named have no part in "
		      "it." } },
	{ .alias = "engine",
	    .option = { .name = "chain",
		.type = FM_OPT_STRING,
		.offset = offsetof(struct conf_region, chain_text),
		.def = "",
		.unit = "engines in order of preference",
		.help = "The region's own chain; without one, that of the default region." },
	    .words = true },
	{ .option = { .name = "credit_loops",
	      .type = FM_OPT_ENUM,
	      .offset = offsetof(struct conf_region, credit_loops),
	      .def = "default",
	      .choices = region_loops,
	      .help = "What to do with tables in which packets can wait for one another in a "
		      "circle "
		      "that stays within the region; default: as credit_loops outside of regions "
		      "says." } },
	{ .option = { .type = FM_OPT_END } }
};

#define OF_VFABRIC(name_, type_, field_, def_, ...) \
	{ \
		.option = { \
			.name = name_, \
			.type = type_, \
			.def = def_, \
			.offset = offsetof(struct conf_vfabric, field_), \
			__VA_ARGS__ \
		} \
	}
static const struct conf_row vfabric_rows[] = {
	OF_VFABRIC("members", FM_OPT_NODES, members, "",
	    .help = "Who is in it, and talks to all who are: full members of its partition."),
	OF_VFABRIC("limited", FM_OPT_NODES, limited, "",
	    .help = "Limited members, who talk to the full ones alone; who is named in both lists "
		    "is a full member."),
	OF_VFABRIC("pkey", FM_OPT_INT, pkey, "0", .min = 0, .max = 0x7fff,
	    .help = "Its P_Key, without the bit of membership; 0x7fff is the default partition, "
		    "in which everybody is limited member beside what is written; 0 = the next "
		    "that nobody has."),
	OF_VFABRIC("sl", FM_OPT_INT, sl, "-1", .min = -1, .max = 15,
	    .help = "The SL of paths and groups within it; vfabrics of one SL have their share "
		    "together; -1 = with a share or high_priority the next that nobody has, else "
		    "0."),
	OF_VFABRIC("share", FM_OPT_INT, share, "0", .min = 0, .max = 100, .unit = "percent",
	    .help = "Of a link on which packets of all SLs wait this SL gets so much; 0 = an even "
		    "part of what the others leave."),
	OF_VFABRIC("high_priority", FM_OPT_BOOL, high_priority, "no",
	    .help = "Its packets go before those of SLs with shares, as far as qos_high_limit "
		    "says."),
	OF_VFABRIC("mtu", FM_OPT_ENUM, mtu, "any", .choices = vfabric_mtus, .unit = "bytes",
	    .help = "The largest MTU of paths within it, and that of its groups, which is 2048 "
		    "where nothing is written."),
	OF_VFABRIC("rate", FM_OPT_ENUM, rate, "any", .choices = vfabric_rates, .unit = "Gb/s",
	    .help = "The highest rate of paths within it, and that of its groups, which a slower "
		    "port cannot join; theirs is 10 where nothing is written."),
	{ .option = { .name = "groups",
	      .type = FM_OPT_STRING,
	      .offset = offsetof(struct conf_vfabric, groups_text),
	      .def = "ipoib",
	      .unit = "multicast groups",
	      .help = "Groups that are there from the start: MGIDs, and ipoib, the broadcast group "
		      "of IPoIB." },
	    .words = true },
	OF_VFABRIC("security", FM_OPT_BOOL, security, "yes",
	    .help = "no: limited members are full members, too."),
	{ .option = { .type = FM_OPT_END } }
};

static const struct conf_section sections[] = {
	{ "group", "group \"pods\" { members = { \"name:pod[1-4]-*\" } }", group_rows,
	    sizeof(struct conf_group) },
	{ "region", "region \"pods\" { switches = { \"@pods\" } chain = { \"fattree\" } }",
	    region_rows, sizeof(struct conf_region) },
	{ "vfabric",
	    "vfabric \"storage\" { pkey = 0x4 members = { \"@servers\" } limited = { \"type:ca\" } "
	    "}",
	    vfabric_rows, sizeof(struct conf_vfabric) },
};
#define N_SECTIONS (sizeof(sections) / sizeof(*sections))

const struct conf_section *
conf_section(size_t i)
{
	return i < N_SECTIONS ? &sections[i] : NULL;
}

const struct conf_section *
conf_section_find(const char *name)
{
	for (size_t i = 0; i < N_SECTIONS; i++)
		if (strcmp(sections[i].name, name) == 0)
			return &sections[i];
	return NULL;
}

struct option_table
conf_section_table(const struct conf_section *section)
{
	return (struct option_table){ section->name, &section->rows[0].option,
		sizeof(section->rows[0]), section->bytes };
}

const char *
conf_default_chain(void)
{
	const struct conf_row *row;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++)
		if (strcmp(row->option.name, "chain") == 0)
			return row->option.def;
	return "";
}
