/* SPDX-License-Identifier: BSD-2-Clause */
/* core/inventory/settings.h - what the administrator wants of the subnet. */
#ifndef CORE_INVENTORY_SETTINGS_H
#define CORE_INVENTORY_SETTINGS_H

#include "core/engine/router.h"
#include "core/plan/plan.h"

struct guid2mkey;
struct isolated;
struct partitions;
struct qos;
struct name_map;

/* Which switch ports refuse packets of partitions that the host there is not in:
 * those that come from it, those that go to it. */
enum part_enforce {
	PART_ENFORCE_OFF,
	PART_ENFORCE_IN,
	PART_ENFORCE_OUT,
	PART_ENFORCE_BOTH = PART_ENFORCE_IN | PART_ENFORCE_OUT
};

/* What the administrator wants of the subnet. */
struct sweep_settings {
	uint64_t m_key, gid_prefix;
	const struct guid2mkey *port_keys; /* borrowed: of an SM before; NULL: none known */
	uint16_t m_key_lease_s;
	uint8_t m_key_protect;
	uint8_t sm_priority;
	uint64_t sm_key;
	uint8_t sm_sl;
	uint8_t ca_lmc, switch_lmc;
	uint8_t subnet_timeout, hoq_life, leaf_hoq_life, vl_stall, leaf_vl_stall, life_time;
	uint8_t phys_errors, overrun_errors; /* thresholds */
	uint8_t max_op_vls;		     /* code 1..5: 1, 2, 4, 8, 15 data VLs */
	/* What ports may use, in PortInfo's codes: 0 = as it is, all ones = all they support */
	uint8_t link_speed, link_speed_ext, link_width;
	uint8_t n_retries;	   /* of the transaction engine */
	int64_t poll_ms;	   /* a standby asks its master so often; 0: never */
	int64_t own_port_ms;	   /* our own port is looked at so often; 0: never */
	uint32_t silent_polls_max; /* so many of these polls unanswered: the master is dead */
	int64_t sm_patience_ms;	   /* a better SM by which nothing works for so long; 0: for ever */
	bool ignore_other_sms;	   /* none counts */
	const uint64_t *allowed_sms; /* borrowed: port GUIDs of SMs that count; none: all do */
	uint32_t n_allowed_sms;
	const struct partitions *partitions; /* borrowed; NULL: all may talk to all */
	enum part_enforce part_enforce;
	const struct name_map *names; /* borrowed; NULL: nodes are called by what they say */
	const struct qos *qos;	      /* borrowed; NULL: the engine alone says which VLs */
	bool keep_pkey_indexes;
	const struct isolated *isolated; /* borrowed; NULL: no cable is (isolated.h) */
	struct route_settings routing;
	bool reassign_lids;	       /* do not honour LIDs found in ports */
	int64_t lid_linger_ms;	       /* how long entries of an absent LID stay */
	enum plan_drain drain;	       /* which changes may empty forwarding entries */
	enum plan_rebalance rebalance; /* of repaired tables */
	int64_t packet_life_ms;	       /* after so long no packet of old tables is under way */
	int64_t sweep_interval_ms;     /* between light sweeps; 0: only for what is unfinished */
	int64_t audit_ms;	       /* in which all that nodes hold is read back; 0: it is not */
	bool client_reregister;
	bool babbling_ports_stop; /* what tells of errors without end is disabled */
	bool always_heavy;	  /* light sweeps look at everything */
	bool on_trap;		  /* traps 128 and 144 start sweeps */
	bool lid_smps; /* what is written goes by LID-routed and mixed SMPs where they arrive */
	bool dry_run;  /* no Set at all */
	bool careless; /* tests: forwarding tables are written in any order */
};
void sweep_settings_default(struct sweep_settings *s);
/* Stands for the settings of rows that ride along (fields.h): never 0. */
uint64_t sweep_settings_fingerprint(const struct sweep_settings *set);

#endif
