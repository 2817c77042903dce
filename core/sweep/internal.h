/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/internal.h - what the files of the sweep share.
 *
 * Each question on the wire is a struct ask: who asks, about what.  The
 * counter `pending` is the number of asks out; a phase is over when it is 0
 * and the phase's feed (if it has one) has nothing more to send.
 */
#ifndef CORE_SWEEP_INTERNAL_H
#define CORE_SWEEP_INTERNAL_H

#include "core/sweep/sweep.h"
#include "lib/log.h"

/* Feeds keep so many questions queued at most.  Node by node: enough that the
 * small windows of a few dozen switches fill the fabric's; striped over the
 * nodes: two windows.  More would only fall out of the caches. */
#define FEED_HIGH 1024
#define FEED_STRIPED(s) (2 * txn_window((s)->p.txn) + 64)
/* On a fabric that loses packets a request gets so many rounds of retries. */
#define ASK_TRIES_MAX 6
/* A switch that reports changes during a sweep is read again so often. */
#define REREADS_MAX 3

struct ask;
typedef void (*ask_done)(struct ask *a, enum txn_status status, const uint8_t *reply);

struct ask {
	struct sweeper *s;
	struct ask *next_free;
	ask_done done;
	uint32_t node;
	uint32_t index; /* table block and the like */
	uint32_t claim_node;
	uint8_t port, claim_port;
	uint8_t kind; /* enum block_kind for tables */
	bool at_node; /* put to the node itself, not to what lies beyond it */
	bool may_go_by_lid;
	/* the request, for another try */
	uint8_t method, n_tries;
	uint16_t attr;
	uint32_t modifier;
	struct smp_route route;
	uint8_t data[WIRE_SMP_DATA_BYTES]; /* Set */
	struct pkey_job *pkeys;		   /* pkeys.c */
};

/* A block of a forwarding table that is not what the plan says. */
struct held_block {
	uint32_t slot, block;
	uint8_t n; /* it holds one of so many */
	uint8_t bytes[2][TRANSITION_BLOCK_LIDS];
};

/* A link that packets may pass though a switch at one end of it does not answer. */
struct silent_link {
	fm_sw sw, to;
	uint8_t port, to_port;
};

/* Another SM that answered, and where. */
struct other_sm {
	struct ha_other ha;
	uint32_t node;
	uint8_t port;
};

/* Alias GUIDs that a block of a port is to hold. */
struct alias_want {
	uint64_t port; /* GUID */
	uint64_t guid[8];
	uint32_t next; /* of this port; FM_HASH_NONE: the last */
	uint8_t block;
	bool due; /* it has changed since it was asked for */
};

/* Found out in a light sweep, where nobody waits for it. */
enum lid_smps { LID_SMPS_UNTRIED, LID_SMPS_ON_TRIAL, LID_SMPS_ARRIVE, LID_SMPS_ARE_LOST };

struct sweeper {
	struct sweep_parts p;
	struct sweep_settings set;
	uint64_t set_mark; /* settings_mark() of them (sweep.c) */
	struct local_port local;
	struct inventory inv;
	struct sweep_report report;
	sweep_done done;
	void *done_arg;

	enum sweep_phase phase;
	uint32_t pending;		/* asks out */
	uint32_t mark;			/* number of this discovery: inv_node.seen_in */
	bool (*feed)(struct sweeper *); /* true: there is more to send */
	bool failed;			/* report.error says why */
	bool was_up;
	bool routing;	       /* the plan worker has not given its plan yet */
	bool first_master;     /* no sweep as master has finished yet */
	bool changed;	       /* a cable was found in this sweep */
	bool chain_changed;    /* the same fabric is to be routed anew */
	bool quiet;	       /* nothing to do but to rebalance what was repaired */
	bool vls_written;      /* a plan of more than one VL has been in the switches */
	bool settings_changed; /* the settings are to reach every port (fields.h: insist) */
	bool repaths;	     /* of some port (repath.c) */
	bool far_ends_sleep;   /* a port stayed ARMED though its neighbour was ACTIVE (links.c) */

	enum sweep_scope wanted;
	char wanted_reason[128];
	FM_VEC(uint32_t) named;	      /* switches to read again, slots */
	FM_VEC(uint32_t) nodes_named; /* nodes (CAs) whose own data changed */
	FM_VEC(uint32_t) doubted;     /* switches that did not answer the light sweep, slots */

	struct sweep_mcast *mc; /* mcast.c */
	FM_VEC(struct alias_want) aliases;
	struct fm_hash alias_of_port;  /* port GUID -> first in aliases */
	bool aliases_due;	       /* some may be due */
	bool lost_all;		       /* what ports in use had registered before us is lost */
	struct fm_hash lost_ports;     /* GUIDs of ports that have lost it since */
	struct plan *plan;	       /* in the switches */
	struct plan *next;	       /* being written */
	bool plan_saved;	       /* its tables are in the file */
	bool applying;		       /* next is on its way into the switches */
	struct transition *transition; /* of forwarding tables, NULL: nothing differs */
	FM_VEC(struct held_block) held;
	FM_VEC(struct silent_link) silent;
	/* Blocks that the plan has changed and that wait for a stage that has not come, since
	 * writing was broken off; by block, then switch */
	FM_VEC(struct plan_held) unwritten;
	unsigned n_broken_off;	/* times in a row */
	bool broken_off;	/* in this sweep */
	bool links_put_off;	/* those that have come wait till the rest is written */
	int64_t older_until_ns; /* packets of older tables are gone then; 0 = no such are */
	int64_t older_next_ns;	/* ... and those that this sweep has made older */
	int apply_stage;	/* apply.c */
	uint64_t *visit;	/* bitset of blocks to look at; NULL: not listed yet */
	size_t next_visit;
	int64_t apply_wait_ns;	  /* a packet's life time is over then; 0 = none runs */
	bool drain_once;	  /* this time, whatever the settings say */
	bool apply_fresh;	  /* no switch holds anything: no order */
	bool apply_later;	  /* the rest waits for links to become active */
	bool apply_again;	  /* ... which they are now */
	enum lid_smps lid_smps;	  /* do LID-routed SMPs arrive? (lid_route.c) */
	bool silent_links;	  /* packets may pass through switches that do not answer */
	struct fm_hash lid_owner; /* base LID -> slot */
	uint32_t cursor[3];	  /* of the feed that runs: stage, outer, inner */
	uint32_t n_held_back, n_held_back_said; /* active links that could do more (links.c) */
	char held_back[160];			/* the first of them */
	FM_VEC(struct other_sm) others;
	struct other_sm master; /* whom we wait for as standby */
	enum ha_verdict verdict;

	uint64_t fabric_key;		/* the M_Key of nearly all ports (mkeys.c) */
	bool keys_changed;		/* this sweep has gone through them */
	const struct partitions *parts; /* what pkeys were made of */
	struct port_pkeys *pkeys;	/* of all end-ports */
	uint64_t pkeys_mark;
	bool pkeys_all_blocks; /* there may be keys behind block 0 */
	uint64_t qos_mark;
	bool qos_written;      /* the administrator's tables have been in ports */
	uint16_t qos_collided; /* SLs told of: the engine's VLs are not the administrator's */
	uint32_t n_pkeys_cut;  /* ports in more partitions than their tables hold */
	struct pkey_job *free_pkey_jobs;

	struct fm_arena mem; /* asks, jobs */
	struct ask *free_asks;
	int64_t started_ns, phase_ns;
	struct txn_counts counts_at_start;
	struct fm_log_bucket trap_bucket, silent_bucket, refused_bucket;
};

/* Entries of LIDs that have been gone for too long are to be taken out. */
bool sweeper_drops(const struct sweeper *s);

/* The callback is `done`; a is released after it.  Failing memory fails the sweep. */
struct ask *ask_new(struct sweeper *s, uint32_t node, uint8_t port);
void ask_get(
    struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier, ask_done done);
/* Send a Set, unless this is a dry run: then it is counted, and done is not called. */
void ask_set(struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier,
    const uint8_t *data, ask_done done);
/* To the node itself: false when it has no route or is quiet (nothing is sent, a released). */
bool ask_get_at(struct ask *a, uint16_t attr, uint32_t modifier, ask_done done);
bool ask_set_at(
    struct ask *a, uint16_t attr, uint32_t modifier, const uint8_t *data, ask_done done);
void sweep_fail(struct sweeper *s, enum fm_error_kind kind, const char *sentence);

/* discover.c */
void discover_start(struct sweeper *s);
void discover_reread(struct sweeper *s);
/* Name the switches at both ends of cables that are up at one end only. */
void discover_doubt(struct sweeper *s);
void discover_finish(struct sweeper *s);
void discover_probe(struct sweeper *s, uint32_t node, uint8_t port);
void discover_name_switch(struct sweeper *s, uint32_t slot);
/* repath.c: s->next is in the switches.  Whose paths carry other SLs by it than by s->plan
 * is told, once the SA answers by it. */
void repath_note(struct sweeper *s);
void repath_tell(struct sweeper *s);
/* lid_route.c */
/* Is a switch reached by its LID, and do its answers come home, over entries that stay
 * as they are and links that are ACTIVE?  tables: those that are in the switches but for
 * what s->transition says. */
bool lid_route(
    const struct sweeper *s, uint32_t slot, const struct plan *tables, struct smp_route *route);
/* An ask that went by LID has ended.  True: it is to be put again, as it is now. */
bool lid_route_again(struct ask *a, enum txn_status status);
/* light.c */
void light_start(struct sweeper *s);
/* After a light sweep: name the neighbours on the way to those doubted. */
void light_doubt(struct sweeper *s);
/* With the neighbours read and routes found anew: ask those doubted again. */
void light_again(struct sweeper *s);
void light_name_node(struct sweeper *s, uint32_t slot);
/* other_sms.c */
void other_sms_start(struct sweeper *s);
/* What the answers mean; false: this sweep ends here (outcome is set). */
bool other_sms_decide(struct sweeper *s);
void other_sms_on_mad(struct sweeper *s, const struct mad *m, const struct wire_header *h);
/* model.c */
/* LIDs and snapshot.  0 and *snap NULL: nothing to route, or the plan stays (s->next). */
int model_build(struct sweeper *s, struct snapshot **snap, struct fm_error *err);
uint8_t model_link_vl_code(
    const struct sweep_settings *set, const struct inv_port *a, const struct inv_port *b);
/* program.c */
void program_switches(struct sweeper *s);
void program_tables(struct sweeper *s);
void program_commit(struct sweeper *s); /* what was written is the plan now */
/* mkeys.c: M_Keys */
void mkeys_start(struct sweeper *s);
/* The key to try where the fabric's does not open; 0 = none. */
uint64_t mkeys_other(const struct sweeper *s);
/* What the PortInfo of an end-port says; true: it is to be asked again, under another key. */
bool mkeys_note(struct sweeper *s, uint32_t slot, unsigned port, struct wire_port_info *now);
/* At the end of a sweep, once: to ports under another key than is wanted.  True: the feed
 * is set. */
bool mkeys_change(struct sweeper *s);
void mkeys_commit(struct sweeper *s);
/* pkeys.c: P_Key tables */
void pkeys_start(struct sweeper *s);
void pkeys_ensure(struct sweeper *s, uint32_t slot, unsigned port);
void pkeys_fini(struct sweeper *s);
/* qos.c: SL to VL, VL arbitration */
void qos_start(struct sweeper *s);
void qos_ensure(struct sweeper *s, uint32_t slot, unsigned port);
/* apply.c: forwarding tables */
void apply_start(struct sweeper *s);
bool apply_feed(struct sweeper *s); /* true: there is more to send or to wait for */
/* With all links active: is there more to write?  Then apply_feed() goes on. */
bool apply_again(struct sweeper *s);
void apply_commit(struct sweeper *s);
/* mcast.c */
#define MCAST_TREES_DEFAULT 4
struct sweep_mcast *mcast_new(void);	 /* NULL: no memory */
void mcast_free(struct sweep_mcast *mc); /* NULL is fine */
/* SLs of groups, for which the plan is to have trees. */
uint16_t mcast_wanted_sls(const struct sweeper *s);
/* The plan has not the trees that the groups need. */
bool mcast_lacks_trees(const struct sweeper *s);
/* Where multicast tables may end; 0: there are no groups. */
uint16_t mcast_top_mlid(struct sweeper *s);
/* Something is to be written, between sweeps. */
bool mcast_is_due(const struct sweeper *s);
void mcast_start(struct sweeper *s, bool in_sweep);
/* Was it in a sweep? */
bool mcast_finish(struct sweeper *s);
/* The switch has come fresh from reset. */
void mcast_note_reset(struct inv_node *n);
/* aliases.c: alias GUIDs */
void aliases_ensure(struct sweeper *s, uint32_t slot, unsigned port);
/* Something is to be written, between sweeps. */
bool aliases_are_due(const struct sweeper *s);
void aliases_start(struct sweeper *s);
void aliases_fini(struct sweeper *s);
/* links.c */
void links_ports(struct sweeper *s);
void links_activate(struct sweeper *s);
void links_count(struct sweeper *s);

/* Does this node take part: it answered all that is needed of it? */
static inline bool
node_usable(const struct inv_node *n)
{
	if (!n->present)
		return false;
	return !inv_is_switch(n) || (n->sw_known && n->ports[0].known);
}

/* A cable whose two ends both take part. */
static inline bool
link_usable(const struct inventory *inv, const struct inv_port *p)
{
	const struct inv_node *far;

	if (p->edge != EDGE_LINKED || !inv_port_up(p))
		return false;
	far = inv_node(inv, p->peer);
	return node_usable(far) && inv_port_up(&far->ports[p->peer_port]);
}

/* An end-port that is to have a LID. */
static inline bool
port_wants_lid(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);

	if (!node_usable(n))
		return false;
	if (inv_is_switch(n))
		return port == 0;
	return port != 0 && n->ports[port].known && link_usable(inv, &n->ports[port]);
}

#endif
