/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/parts.h - the configuration, part by part: who reads what.
 *
 * Every field is filled from the row of its name in conf_rows.c, where help, default and range
 * are, but for those that are worked out of a text or a file beside them.  Durations are
 * milliseconds.  A file whose path is NULL is not given.
 */
#ifndef CORE_CONF_PARTS_H
#define CORE_CONF_PARTS_H

#include "core/congestion/settings.h"
#include "core/engine/plugin.h"
#include "core/mad/local_ports.h"
#include "core/plan/plan.h"
#include "core/regions/regions.h"
#include "core/subnet/guid2lid.h"
#include "core/subnet/prefix_routes.h"
#include "core/subnet/qos.h"
#include "core/vfabric/vfabric.h"

struct qos_policy;
struct name_map;
struct netlist;

enum conf_credit_loops { CONF_CREDIT_LOOPS_REFUSE, CONF_CREDIT_LOOPS_WARN };

/* Planning: the chain of the default region, and where engines run. */
struct conf_routing {
	struct chain chain;	/* from chain, fallback, credit_loops, engine_time_limit */
	const char *chain_text; /* as written: "fattree, updn" */
	bool fallback;
	int credit_loops; /* enum conf_credit_loops */
	int64_t engine_time_limit_ms;
	int engine_isolation; /* enum apart_who */
	int64_t engine_memory_mib;
	int64_t workers; /* 0 = one per CPU */
	int64_t n_vls;	 /* VL budget of engines, 1..15 */
	int sl_model;	 /* enum verify_sl_model */
	/* the steps of the chain entry `chains` (rchain.h) */
	struct fm_file pgrp_policy, topo_policy, rch_policy;
};

/* Several engines: from the sections group and region, and these keys. */
struct conf_regions {
	struct region_set set;
	int replies;		       /* enum region_replies */
	const char *order_text;	       /* names, as written */
	const char *reserved_sls_text; /* "1, 4-7", as written */
};

enum conf_ar_algorithm { CONF_AR_RANDOM, CONF_AR_GREEDY, CONF_AR_GREEDY_RANDOM };

/* The section adaptive_routing: what engines are asked for, and how switches are to use it. */
struct conf_ar {
	bool enable, fine_grained, lost_route_only;
	int algorithm; /* enum conf_ar_algorithm */
	int64_t frequency, threshold;
	int64_t max_groups;
};

/* LIDs and GIDs: who gets which, and for how long. */
struct conf_addresses {
	uint64_t subnet_prefix;
	int64_t lmc, switch_lmc;
	bool reassign_lids;    /* do not honour LIDs that ports have now */
	int64_t lid_linger_ms; /* entries of a port that has gone */
	struct fm_file guid2lid;
};

/* What nodes are called. */
struct conf_names {
	struct fm_file file;
	struct name_map *map; /* what it holds, or NULL */
};

/* Cables and nodes that are to be there. */
struct conf_cabling {
	struct fm_file file;
	struct netlist *wanted; /* what it holds, or NULL */
};

/* How MADs leave: the local port, and how much is sent at once. */
struct conf_transport {
	const char *spec; /* with the port that `guid` or `port` names, of several the first */
	uint64_t guid;	  /* of the local port; 0: not said */
	const char *ports_text;		    /* of `port`, as written */
	const char *ports[LOCAL_PORTS_MAX]; /* [n_ports] specs, in order of preference */
	unsigned n_ports;		    /* 1 or more */
	int64_t timeout_ms, retries;
	int64_t max_smps, max_smps_per_node;
};

/* This subnet manager among others. */
struct conf_sm {
	bool inactive, ignore_others;
	int64_t sl;
	int64_t priority, master_priority;
	uint64_t key;
	int64_t polling_timeout_ms, polling_retries;
	int64_t patience_ms;
	const char *allowed_guids_text; /* as written */
	const uint64_t *allowed;	/* port GUIDs; none: any SM */
	uint32_t n_allowed;
};

/* Who may set a port. */
struct conf_m_key {
	uint64_t key;
	int64_t lease_period_s, protection_level;
	struct fm_file guid2mkey;
	struct guid2mkey of_ports; /* what it says */
};

/* Which switch ports refuse packets of partitions that the host there is not in:
 * those that come from it, those that go to it. */
enum part_enforce {
	PART_ENFORCE_OFF,
	PART_ENFORCE_IN,
	PART_ENFORCE_OUT,
	PART_ENFORCE_BOTH = PART_ENFORCE_IN | PART_ENFORCE_OUT
};

struct conf_partitions {
	struct fm_file file; /* none: all may talk to all */
	int enforce;	     /* enum part_enforce */
	bool allow_both, keep_indexes;
	struct vfabrics vfabrics;     /* of the sections vfabric "NAME" */
	const struct partitions *all; /* of both; never NULL */
};

/* What the SA answers. */
struct conf_sa {
	uint64_t key;
	int untrusted;	       /* enum sa_untrusted */
	int path_selection;    /* enum sa_path_select */
	int64_t max_rate_enum; /* code of IBA 15.2.5.16; 0: any */
	int64_t path_life;     /* 4.096 us * 2^n */
	struct fm_file prefix_routes;
	struct prefix_routes routes; /* what it says */
};

/* What hosts may register with the SA. */
struct conf_registry {
	int64_t max_joins, max_services, max_subscriptions; /* of one client */
	bool disable_multicast, drop_subscriptions;
	int64_t ipv6_snm_mlids; /* for each P_Key and scope; 0: they do not share */
};

struct conf_qos {
	bool enable, use_optimized_slvl;
	struct qos_text text[QOS_PORTS + 1]; /* [QOS_COMMON] is what the others take theirs from */
	const struct qos *tables;	     /* NULL: qos = no */
	struct fm_file policy_file;
	const struct qos_policy *policy; /* NULL: none, or qos = no */
};

/* Congestion control, IBA annex A10. */
struct conf_congestion {
	bool enable;
	uint64_t key;	 /* CC_Key that is shown */
	bool writes_key; /* ... and that nodes are given, with these */
	int64_t key_lease_s;
	bool key_protected;
	int64_t max_outstanding; /* MADs */
	int64_t log_interval_ms; /* 0: logs are not read */
	struct congestion_text text;
	struct congestion_blocks blocks; /* what it says */
};

/* When the fabric is looked at, and how. */
struct conf_sweep {
	int64_t interval_ms;   /* 0 = light sweeps only while something is unfinished */
	int64_t audit_ms;      /* a turn; 0 = none */
	int64_t flap_still_ms; /* 0 = cables that flap are used as others */
	bool on_trap, force_heavy, babbling_port_policy;
	bool lid_routed_smps;
	int health_action; /* enum health_action (core/health/quarantine.h) */
};

/* How new tables take the place of old ones. */
struct conf_transition {
	int drain;     /* enum plan_drain */
	int rebalance; /* enum plan_rebalance */
	int64_t packet_life_ms;
};

/* What is written into ports, in the encodings of PortInfo (IBA 14.2.5.6). */
struct conf_ports {
	int64_t subnet_timeout;	  /* 4.096 us * 2^n */
	int64_t packet_life_time; /* SwitchInfo.LifeTimeValue */
	int64_t head_of_queue_lifetime, leaf_head_of_queue_lifetime;
	int64_t vl_stall_count, leaf_vl_stall_count;
	int64_t force_link_speed, force_link_speed_ext, force_link_width;
	int max_op_vls; /* 0..4 = 1, 2, 4, 8, 15 data VLs */
	int64_t local_phy_errors_threshold, overrun_errors_threshold;
	bool client_reregister;
};
/* At most: PortInfo.OperationalVLs. */
static inline uint8_t
conf_op_vls(const struct conf_ports *p)
{
	return (uint8_t)(p->max_op_vls + 1);
}

/* Paths published for hosts (core/dist): "" none. */
struct conf_dist {
	const char *files, *redis, *redis_peer, *auth_file, *addresses;
};

/* Copies for standbys, and of the master: "" none. */
struct conf_copy {
	const char *socket, *from;
};

/* Where the daemon keeps and shows what it knows. */
struct conf_daemon {
	const char *state_dir;
	const char *control_socket; /* path, resolved */
	const char *control_group;  /* "": none */
	const char *dump_files_dir; /* "": none */
};

struct conf_log {
	int level;	      /* enum fm_log_level */
	const char *file;     /* "": stderr */
	int64_t max_size_mib; /* 0: no limit */
	const char *debug;    /* subsystems, comma-separated */
};

#endif
