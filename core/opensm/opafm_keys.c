/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of opa-fm 10's opafm.xml, a row each, by their path below Sm and Shared, in the order
 * of its default file.  There is no second place: --import-opafm and fmd-opensm(7) come from
 * here.  A row of a section stands for all in it that has no row of its own.
 */
#include <string.h>

#include "core/opensm/opafm.h"

#define ROW(form_, name_, def_, fate_, to_, or_to_, note_) \
	{ \
		.name = name_, .def = def_, .form = OPENSM_##form_, .fate = OPENSM_##fate_, \
		.to = to_, .or_to = or_to_, .note = note_ \
	}
#define SAME(form_, name_, def_, to_) ROW(form_, name_, def_, SAME, to_, NULL, NULL)
#define SPECIAL(form_, name_, def_, to_, note_) ROW(form_, name_, def_, SPECIAL, to_, NULL, note_)
#define ALWAYS(form_, name_, def_, note_) ROW(form_, name_, def_, ALWAYS, NULL, NULL, note_)
#define NONE(form_, name_, def_, note_) ROW(form_, name_, def_, NONE, NULL, NULL, note_)
#define SECTION(name_, note_) ROW(SECTION, name_, "", NONE, NULL, NULL, note_)

/* Set by CongestionControl.Enable. */
#define WITH_CC(form_, name_, def_, to_) \
	SPECIAL(form_, "CongestionControl." name_, def_, to_, "if CongestionControl.Enable is 1")

#define NO_CCT "write the table of delays as cc_cct: opa-fm makes it for Omni-Path"
#define NO_OPA "it is of Omni-Path, InfiniBand has none"
#define NO_PM "fmd does not read performance counters: perfquery and ibqueryerrors do"
#define NO_LIMIT "a sweep of fmd goes on with what answers, and looks again at what did not"
#define LOG_BY_NAME "log_level and debug say what is logged"
#define NO_NET "nothing of fmd listens to a network"
#define FOR_TESTS "it is for the development of opa-fm"
#define HOPS "fmd tells path_life for every path"

static const struct opensm_key rows[] = {
	ALWAYS(SECTION, "Applications", "",
	    "those of a vfabric say whether it has the groups of IP; which SL a service has is "
	    "said "
	    "in qos_policy_file, by its service IDs"),
	ALWAYS(SECTION, "DeviceGroups", "", "those that routing and vfabrics use become groups"),
	ALWAYS(SECTION, "VirtualFabrics", "",
	    "those that are enabled become sections vfabric, each element a key or told"),
	ALWAYS(SECTION, "QOSGroups", "", "their SLs and shares are those of the vfabrics in them"),
	SECTION("PmPortGroups", NO_PM),
	SECTION("Pm", NO_PM),
	SECTION("Fe", "fmctl asks fmd, there is no other server"),

	ALWAYS(BOOL, "Start", "1", "who starts fmd, starts it all"),
	ALWAYS(TEXT, "Name", "fm0", "systemd and the log have the name fmd"),
	NONE(NUMBER, "Hfi", "1",
	    "fmd takes the first active port: transport = \"umad:CA:PORT\" names another"),
	NONE(NUMBER, "Port", "1",
	    "fmd takes the first active port: transport = \"umad:CA:PORT\" names another"),
	SAME(NUMBER, "PortGUID", "0x0000000000000000", "guid"),
	SAME(NUMBER, "SubnetPrefix", "0xfe80000000000000", "subnet_prefix"),
	ALWAYS(NUMBER, "SubnetSize", "9216", "fmd takes the memory that the subnet needs"),
	NONE(TEXT, "CoreDumpLimit", "0", "systemd's LimitCORE says it"),
	NONE(TEXT, "CoreDumpDir", "/var/crash/opafm", "the kernel's core_pattern says it"),
	SAME(NUMBER, "Priority", "0", "sm_priority"),
	SAME(NUMBER, "ElevatedPriority", "0", "master_sm_priority"),
	SPECIAL(NUMBER, "LogLevel", "2", "log_level",
	    "0 is err, 1 warn, 2 notice, 3 and 4 info, 5 and above debug"),
	SAME(TEXT, "LogFile", "", "log_file"),
	NONE(NUMBER, "LogMode", "0", LOG_BY_NAME),
	NONE(TEXT, "SyslogFacility", "local6", "the log goes to systemd's journal, or log_file"),
	NONE(NUMBER, "ConfigConsistencyCheckLevel", "2",
	    "a standby of fmd does not compare its configuration with the master's"),
	ALWAYS(BOOL, "SslSecurityEnabled", "1", NO_NET),
	ALWAYS(TEXT, "SslSecurityDir", "/usr/local/ssl/opafm", NO_NET),
	ALWAYS(TEXT, "SslSecurityFmCertificate", "fm_cert.pem", NO_NET),
	ALWAYS(TEXT, "SslSecurityFmPrivateKey", "fm_key.pem", NO_NET),
	ALWAYS(TEXT, "SslSecurityFmCaCertificate", "fm_ca_cert.pem", NO_NET),
	ALWAYS(NUMBER, "SslSecurityFmCertChainDepth", "1", NO_NET),
	ALWAYS(TEXT, "SslSecurityFmDHParameters", "fm_dh_parms.pem", NO_NET),
	ALWAYS(BOOL, "SslSecurityFmCaCRLEnabled", "0", NO_NET),
	ALWAYS(TEXT, "SslSecurityFmCaCRL", "fm_ca_crl.pem", NO_NET),
	NONE(NUMBER, "LogMask", "0x1ff", LOG_BY_NAME), /* SM_LogMask, SA_LogMask, ... */
	NONE(NUMBER, "Debug", "0", LOG_BY_NAME),
	NONE(NUMBER, "RmppDebug", "0", LOG_BY_NAME),

	ROW(NUMBER, "MasterPingInterval", "5", SECONDS, "sminfo_polling_timeout", NULL, NULL),
	SAME(NUMBER, "MasterPingMaxFail", "3", "polling_retry_number"),
	NONE(NUMBER, "DbSyncInterval", "15",
	    "a standby of fmd asks the fabric when it takes over, not the master before"),
	SAME(NUMBER, "SmKey", "0", "sm_key"),
	SAME(NUMBER, "MKey", "0", "m_key"),

	SPECIAL(TEXT, "RoutingAlgorithm", "shortestpath", "chain",
	    "engines have opa-fm's names, hypercube is dor; where shortestpath is written or "
	    "nothing fmd's own chain holds"),
	SPECIAL(BOOL, "Hypercube", "0", "chain", "1 is the engine dor"),
	ROW(BOOL, "SpineFirstRouting", "1", ENGINE, "spine_first_routing", NULL, NULL),
	SAME(NUMBER, "Lmc", "0", "lmc"),
	SAME(NUMBER, "LmcE0", "0", "switch_lmc"),
	SPECIAL(BOOL, "ForceRebalance", "0", "rebalance", "1 is always"),
	ALWAYS(NUMBER, "FatTreeTopology.TierCount", "3", "fattree counts the tiers by itself"),
	ALWAYS(BOOL, "FatTreeTopology.FIsOnSameTier", "1",
	    "fattree finds the tiers by itself, or from its roots"),
	SPECIAL(TEXT, "FatTreeTopology.CoreSwitches", "", "roots",
	    "the device group is a group of the same name, an option of the engine fattree"),
	SPECIAL(TEXT, "FatTreeTopology.RouteLast", "", "route_last",
	    "the device group is a group of the same name, an option of the engine fattree"),
	ALWAYS(BOOL, "FatTreeTopology.PassThrough", "0", "fattree always routes so"),
	NONE(BOOL, "FatTreeTopology.Converge", "0",
	    "fattree spreads the hosts of a leaf over the core switches"),
	SPECIAL(TEXT, "DGShortestPathTopology.RoutingOrder.DeviceGroup", "", "routing_order",
	    "device groups are groups of the same name, an option of the engine dgshortestpath"),
	SECTION("EnhancedRoutingCtrl", "fmd's engine dor finds the dimensions by itself"),
	SECTION("MeshTorusTopology", "fmd's engine dor finds the dimensions by itself"),
	NONE(BOOL, "PreDefinedTopology.Enabled", "0",
	    "fmd compares with no topology: ibdiff and ibdiagnet do"),
	ALWAYS(SECTION, "PreDefinedTopology", "", "it is said at Enabled"),

	NONE(BOOL, "Multicast.DisableStrictCheck", "0",
	    "a join must fit the group and the port that joins"),
	ALWAYS(NUMBER, "Multicast.MLIDTableCap", "1024", "switches say how many they can hold"),
	ALWAYS(BOOL, "Multicast.EnablePruning", "0", "trees reach the switches of members alone"),
	NONE(TEXT, "Multicast.RootSelectionAlgorithm", "LeastTotalCost",
	    "each tree has a root of its own"),
	NONE(TEXT, "Multicast.MinCostImprovement", "50%", "trees are made with the routes"),
	SECTION("Multicast.MLIDShare",
	    "ipv6_snm_mlids says how many MLIDs IPv6's solicited-node groups share; the others "
	    "have "
	    "one each"),
	SECTION("Multicast.MulticastGroup",
	    "groups of a vfabric, or the lines of partition_config_file, make such groups (ipoib, "
	    "mgid, mtu, rate, sl)"),

	ALWAYS(BOOL, "TimerScalingEnable", "0", "lifetimes are those that are written"),
	ROW(TEXT, "SwitchLifetime", "33ms", LIFE, "packet_life_time", NULL, NULL),
	ROW(TEXT, "HoqLife", "8ms", LIFE, "head_of_queue_lifetime", "leaf_head_of_queue_lifetime",
	    "the second one is of the ports before hosts"),
	ROW(NUMBER, "VLStallCount", "7", SPECIAL, "vl_stall_count", "leaf_vl_stall_count",
	    "the second one is of the ports before hosts"),
	NONE(BOOL, "VL15FlowControlDisable", "1", NO_OPA),
	NONE(NUMBER, "VL15CreditRate", "18", NO_OPA),
	NONE(NUMBER, "MinSharedVLMem", "0", NO_OPA),
	NONE(NUMBER, "DedicatedVLMemMulti", "1", NO_OPA),
	NONE(NUMBER, "WireDepthOverride", "-1", NO_OPA),
	NONE(NUMBER, "ReplayDepthOverride", "-1", NO_OPA),
	SECTION("HFILinkPolicy",
	    "force_link_width says which widths ports may have; fmctl links --degraded shows "
	    "others"),
	SECTION("ISLLinkPolicy",
	    "force_link_width says which widths ports may have; fmctl links --degraded shows "
	    "others"),
	SECTION("Preemption", NO_OPA),
	SPECIAL(BOOL, "CongestionControl.Enable", "0", "congestion_control",
	    "1 sets the keys below, too, and the control maps to all that they say; hosts slow "
	    "down by cc_cct, which is to be written"),
	ALWAYS(BOOL, "CongestionControl.Debug", "0", "fmctl status says who holds its settings"),
	WITH_CC(NUMBER, "Switch.Threshold", "1", "cc_sw_cong_setting_threshold"),
	WITH_CC(NUMBER, "Switch.PacketSize", "0", "cc_sw_cong_setting_packet_size"),
	WITH_CC(NUMBER, "Switch.MarkingRate", "0", "cc_sw_cong_setting_marking_rate"),
	WITH_CC(BOOL, "Switch.VictimMarkingEnable", "1", "cc_sw_cong_setting_victim_mask"),
	WITH_CC(NUMBER, "Fi.Increase", "1", "cc_ca_cong_setting_ccti_increase"),
	WITH_CC(NUMBER, "Fi.Timer", "1", "cc_ca_cong_setting_ccti_timer"),
	WITH_CC(NUMBER, "Fi.Threshold", "8", "cc_ca_cong_setting_trigger_threshold"),
	WITH_CC(NUMBER, "Fi.Min", "0", "cc_ca_cong_setting_ccti_min"),
	NONE(NUMBER, "CongestionControl.Fi.Limit", "127", NO_CCT),
	NONE(NUMBER, "CongestionControl.Fi.DesiredMaxDelay", "8300", NO_CCT),
	ALWAYS(SECTION, "CongestionControl", "", "it is said at its elements"),
	ROW(BOOL, "AdaptiveRouting.Enable", "0", SAME, "adaptive_routing.enable", NULL,
	    "fmd proves and shows groups of ports, and writes none into switches yet"),
	SAME(BOOL, "AdaptiveRouting.FineGrained", "0", "adaptive_routing.fine_grained"),
	SAME(BOOL, "AdaptiveRouting.LostRouteOnly", "0", "adaptive_routing.lost_route_only"),
	SAME(NUMBER, "AdaptiveRouting.Algorithm", "2", "adaptive_routing.algorithm"),
	SAME(NUMBER, "AdaptiveRouting.ARFrequency", "0", "adaptive_routing.frequency"),
	SAME(NUMBER, "AdaptiveRouting.Threshold", "3", "adaptive_routing.threshold"),

	NONE(TEXT, "SaRespTime", "1s", "fmd's SA tells 268 ms"),
	NONE(BOOL, "NoReplyIfBusy", "0", "fmd answers BUSY, and hosts ask again"),
	NONE(NUMBER, "MinSupportedVLs", "8",
	    "ports with fewer VLs take part; engines are told how many all have"),
	SPECIAL(TEXT, "PacketLifetime", "1s", "path_life",
	    "if DynamicPacketLifetime.Enable is 0; opa-fm does not use it else"),
	ALWAYS(BOOL, "DynamicPacketLifetime.Enable", "1", HOPS),
	SECTION("DynamicPacketLifetime", HOPS),
	SPECIAL(TEXT, "PathSelection", "Minimal", "path_selection",
	    "Minimal, Pairwise, OrderAll and SrcDstAll"),
	NONE(BOOL, "QueryValidation", "0",
	    "a query without NumbPath gets up to 127 paths of a pair"),
	SAME(NUMBER, "SmaBatchSize", "2", "max_smps_per_node"),
	SAME(NUMBER, "MaxParallelReqs", "3", "max_smps"),
	NONE(BOOL, "SmaSpoofingCheck", "1", NO_OPA),
	ROW(NUMBER, "SweepInterval", "300", SECONDS, "sweep_interval", NULL, NULL),
	ROW(BOOL, "IgnoreTraps", "0", INVERSE, "sweep_on_trap", NULL, NULL),
	SPECIAL(NUMBER, "MaxAttempts", "3", "transaction_retries",
	    "the first attempt is no retry: one less"),
	ROW(NUMBER, "RespTimeout", "250", MS, "transaction_timeout", NULL, NULL),
	NONE(NUMBER, "MinRespTimeout", "35", "transaction_timeout is that of every attempt"),
	NONE(NUMBER, "SweepErrorsThreshold", "0", NO_LIMIT),
	NONE(NUMBER, "SweepAbandonThreshold", "3", NO_LIMIT),
	SPECIAL(NUMBER, "TrapThreshold", "0", "babbling_port_policy",
	    "any but 0 is yes; the threshold is fmd's own"),
	NONE(NUMBER, "TrapThresholdMinCount", "10", "babbling_port_policy has its own threshold"),
	NONE(NUMBER, "McDosThreshold", "0", "max_joins bounds the groups that a port can be in"),
	NONE(NUMBER, "McDosInterval", "60", "max_joins bounds the groups that a port can be in"),
	NONE(NUMBER, "McDosAction", "0", "max_joins bounds the groups that a port can be in"),
	NONE(NUMBER, "NonRespTimeout", "600",
	    "lid_linger says how long switches keep the routes to a port that has gone"),
	NONE(NUMBER, "NonRespMaxCount", "3",
	    "lid_linger says how long switches keep the routes to a port that has gone"),
	NONE(NUMBER, "NodeAppearanceMsgThreshold", "100", "one event is one line of the log"),
	NONE(NUMBER, "SmPerfDebug", "0", LOG_BY_NAME),
	NONE(NUMBER, "SaPerfDebug", "0", LOG_BY_NAME),
	NONE(NUMBER, "LID", "0", "guid2lid gives any port its LID"),
	NONE(BOOL, "SmAppliances.Enable", "0", NO_OPA),
	ALWAYS(SECTION, "SmAppliances", "", "it is said at Enable"),
	NONE(BOOL, "LoopTestOn", "0", "ibdiagnet tests cables"),
	NONE(BOOL, "LoopTestFastMode", "0", "ibdiagnet tests cables"),
	NONE(NUMBER, "LoopTestPackets", "5", "ibdiagnet tests cables"),
	NONE(NUMBER, "LIDSpacing", "0x0", FOR_TESTS),
	NONE(BOOL, "SaRmppChecksum", "0", FOR_TESTS),
	NONE(BOOL, "LoopbackMode", "0", FOR_TESTS),
	NONE(NUMBER, "SkipAttributeWrite", "0", FOR_TESTS),
	NONE(BOOL, "DynamicPortAlloc", "1", FOR_TESTS),
	NONE(BOOL, "UseCachedNodeData", "1", FOR_TESTS),
	NONE(BOOL, "CheckMftResponses", "1", FOR_TESTS),
	NONE(BOOL, "MonitorStandby", "1", FOR_TESTS),
	NONE(NUMBER, "LftMultiblock", "29", NO_OPA),
	NONE(NUMBER, "ScMultiblock", "29", NO_OPA),
	NONE(BOOL, "UseAggregateMADs", "1", NO_OPA),
	NONE(BOOL, "OptimizedPortInfo", "1", NO_OPA),
	NONE(NUMBER, "TrapLogSuppressTriggerInterval", "30", LOG_BY_NAME),
	NONE(NUMBER, "DefaultPortErrorAction", "0x172000", NO_OPA),
	NONE(TEXT, "CableInfoPolicy", "ByLink", NO_OPA),
	NONE(BOOL, "ForceAttributeRewrite", "0",
	    "each sweep compares what switches hold with what they should: force_heavy_sweep"),
	NONE(NUMBER, "SwitchCascadeActivateEnable", "0", NO_OPA),
	NONE(NUMBER, "NeighborNormalRetries", "10", NO_OPA),
	NONE(NUMBER, "PortBounceLogLimit", "0", "one event is one line of the log"),
};

const struct opensm_key *
opafm_key(size_t i)
{
	return i < sizeof(rows) / sizeof(*rows) ? &rows[i] : NULL;
}

const struct opensm_key *
opafm_key_find(const char *path)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].name, path) == 0)
			return &rows[i];
	return NULL;
}
