/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf.h - the configuration: fmd.conf, conf.d, the command line.
 *
 * A configuration is built aside and handed out whole or not at all; a bad
 * one never starts a daemon and never replaces a good one.  Everything it
 * holds, its engines too, lives until the last conf_put(), so a plan in the
 * making keeps the options and the engines it began with.
 */
#ifndef CORE_CONF_CONF_H
#define CORE_CONF_CONF_H

#include <stdatomic.h>

#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/regions/regions.h"
#include "core/subnet/guid2lid.h"
#include "core/subnet/prefix_routes.h"
#include "core/subnet/qos.h"

struct mistakes;
struct partitions;
struct qos_policy;
struct name_map;

enum conf_ar_algorithm { CONF_AR_RANDOM, CONF_AR_GREEDY, CONF_AR_GREEDY_RANDOM };
enum conf_credit_loops { CONF_CREDIT_LOOPS_REFUSE, CONF_CREDIT_LOOPS_WARN };

/* Every field is filled from the row of its name in conf_rows.c, where help,
 * default and range are.  Durations are milliseconds. */
struct conf {
	/* routing: the chain of the default region */
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
	/* the steps of the chain entry `chains` (rchain.h); path NULL = none */
	struct fm_file pgrp_policy_file, topo_policy_file, rch_policy_file;

	/* regions: from the sections group and region, and these keys */
	struct region_set regions;
	int replies;		       /* enum region_replies */
	const char *region_order_text; /* names, as written */
	const char *reserved_sls_text; /* "1, 4-7", as written */

	/* the section adaptive_routing: what engines are asked for, and how switches
	 * are to use it */
	bool ar_enable, ar_fine_grained, ar_lost_route_only;
	int ar_algorithm; /* enum conf_ar_algorithm */
	int64_t ar_frequency, ar_threshold;
	int64_t ar_max_groups;

	/* LIDs */
	int64_t lmc, switch_lmc;
	bool reassign_lids;	      /* do not honour LIDs that ports have now */
	int64_t lid_linger_ms;	      /* entries of a port that has gone */
	struct fm_file guid2lid;      /* path NULL = none */
	struct fm_file node_name_map; /* path NULL = none */
	struct name_map *names;	      /* what it holds, or NULL */

	/* the subnet manager and its keys */
	const char *transport; /* with the port that `guid` names */
	int64_t guid;	       /* of the local port; 0: not said */
	bool sm_inactive, ignore_other_sm;
	int64_t sm_sl;
	int64_t sm_priority, sm_key;
	int64_t m_key, m_key_lease_period_s, m_key_protection_level;
	struct fm_file guid2mkey;     /* path NULL = none */
	struct guid2mkey port_m_keys; /* what it says */
	int64_t subnet_prefix;
	int64_t sminfo_polling_timeout_ms, polling_retry_number;
	int64_t sm_patience_ms;
	const char *allowed_sm_guids_text; /* as written */
	const uint64_t *allowed_sms;	   /* port GUIDs; none: any SM */
	uint32_t n_allowed_sms;

	/* partitions */
	struct fm_file partition_config_file; /* path NULL: all may talk to all */
	int part_enforce;		      /* enum part_enforce of sweep.h */
	bool allow_both_pkeys, keep_pkey_indexes;
	const struct partitions *partitions; /* never NULL */

	/* subnet administration */
	int64_t sa_key;
	int untrusted;					    /* enum sa_untrusted */
	int path_selection;				    /* enum sa_path_select */
	int64_t max_rate_enum;				    /* code of IBA 15.2.5.16; 0: any */
	int64_t path_life;				    /* 4.096 us * 2^n */
	int64_t max_joins, max_services, max_subscriptions; /* of one client */
	bool disable_multicast, drop_event_subscriptions;
	int64_t ipv6_snm_mlids;	      /* for each P_Key and scope; 0: they do not share */
	struct fm_file prefix_routes; /* path NULL = none */
	struct prefix_routes routes;  /* what it says */

	/* QoS: qos_text[QOS_COMMON] is what the others take theirs from */
	bool qos_enable, use_optimized_slvl;
	struct qos_text qos_text[QOS_PORTS + 1];
	const struct qos *qos; /* NULL: qos = no */
	struct fm_file qos_policy_file;
	const struct qos_policy *qos_policy; /* NULL: none, or qos = no */

	/* sweeps and SMPs */
	int64_t sweep_interval_ms; /* 0 = light sweeps only while something is unfinished */
	int64_t audit_ms;	   /* a turn; 0 = none */
	bool sweep_on_trap, force_heavy_sweep, babbling_port_policy;
	bool lid_routed_smps;
	int64_t transaction_timeout_ms, transaction_retries;
	int64_t max_smps, max_smps_per_node;
	int drain;     /* enum plan_drain */
	int rebalance; /* enum plan_rebalance */
	int64_t packet_life_ms;

	/* ports, in the encodings of PortInfo (IBA 14.2.5.6) */
	int64_t subnet_timeout;	  /* 4.096 us * 2^n */
	int64_t packet_life_time; /* SwitchInfo.LifeTimeValue */
	int64_t head_of_queue_lifetime, leaf_head_of_queue_lifetime;
	int64_t vl_stall_count, leaf_vl_stall_count;
	int64_t force_link_speed, force_link_speed_ext, force_link_width;
	int max_op_vls; /* 0..4 = 1, 2, 4, 8, 15 data VLs: OperationalVLs - 1 */
	int64_t local_phy_errors_threshold, overrun_errors_threshold;
	bool client_reregister;

	/* distribution (core/dist): "" none */
	const char *dist_files, *dist_redis, *dist_redis_peer, *dist_auth_file, *dist_addresses;

	/* the daemon */
	const char *state_dir;
	const char *control_socket; /* path, resolved */
	const char *control_group;  /* "": none */
	int log_level;		    /* enum fm_log_level */
	const char *log_file;	    /* "": stderr */
	int64_t log_max_size_mib;   /* 0: no limit */
	const char *dump_files_dir; /* "": none */
	const char *debug;	    /* subsystems, comma-separated */

	struct conf_private *self;
};

/* A key given on the command line, stronger than any file. */
struct conf_override {
	const char *key;
	const char *const *items; /* [n_items] */
	size_t n_items;
};

/* An option of OpenSM's command line, by the key of its file. */
struct conf_opensm_option {
	const char *said, *key, *value; /* "-p", "sm_priority", "3" */
};

struct conf_source {
	const char *path; /* NULL: SYSCONF_DIR/fmd/fmd.conf, which may be absent; may be of
			   * OpenSM's form; "none": no file at all */
	const struct conf_override *overrides; /* [n_overrides] */
	size_t n_overrides;
	const struct conf_opensm_option *opensm; /* [n_opensm] stronger than any file, too */
	size_t n_opensm;
};

/* Read path, then the *.conf files of the folder conf.d beside it by name,
 * then the overrides; later values replace earlier ones.  FM_E_CONFIG with
 * "FILE:LINE: ..." and what would be right; of several mistakes all are logged.  *out, which
 * holds on to the engines, gets one reference and is written only on success. */
int conf_load(const struct conf_source *source, const struct engine_set *engines, struct conf **out,
    struct fm_error *err);
/* The same; all that is wrong is added to `all`, of which *err is the first, and not logged. */
int conf_load_all(const struct conf_source *source, const struct engine_set *engines,
    struct mistakes *all, struct conf **out, struct fm_error *err);
/* What it says of where engines run, which is to be known before they are loaded.  Of a
 * configuration that cannot be read: the defaults; conf_load() will say so. */
void conf_peek_isolation(const struct conf_source *source, struct apart_settings *set);
/* The keys that differ and that only a restart changes (conf_row.restart), ", " between: how
 * many. */
unsigned conf_needs_restart(
    const struct conf *begun, const struct conf *fresh, char *out, size_t room);
struct conf *conf_get(struct conf *c);
void conf_put(struct conf *c); /* NULL is fine */

enum conf_region_loops { REGION_LOOPS_DEFAULT, REGION_LOOPS_REFUSE, REGION_LOOPS_WARN };

/* What the sections group "NAME" and region "NAME" say. */
struct conf_group {
	struct fm_nodeset members;
};
struct conf_region {
	struct fm_nodeset switches;
	const char *chain_text;
	int credit_loops; /* enum conf_region_loops */
};
struct conf_row;
/* A kind of section that the daemon itself knows by titles, as many as one likes. */
struct conf_section {
	const char *name, *example;  /* "region", and how one is written */
	const struct conf_row *rows; /* up to FM_OPT_END */
	size_t bytes;		     /* of the struct that the rows fill */
};
/* Section i, or NULL behind the last; by its name, or NULL. */
const struct conf_section *conf_section(size_t i);
const struct conf_section *conf_section_find(const char *name);
struct option_table conf_section_table(const struct conf_section *section);

/* One row of the daemon's own options.  The name of one in a section has a dot:
 * "adaptive_routing.enable". */
struct conf_row {
	const char *group; /* heading in the documents; NULL: as the row before */
	const char *alias; /* section and key in another manager's words, or NULL */
	struct fm_option option;
	bool words;   /* a list of words (chain), option.type is STRING */
	bool restart; /* a change needs a restart; the others take effect on reload */
};
/* Row i of the daemon's options, or NULL behind the last. */
const struct conf_row *conf_row(size_t i);
struct option_table conf_option_table(void);
/* How many bytes of a row's name, or of its alias, are the section's: 0 = none. */
size_t conf_section_bytes(const char *name);

#endif
