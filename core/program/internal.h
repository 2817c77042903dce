/* SPDX-License-Identifier: BSD-2-Clause */
/* core/program/internal.h - what the files that write share. */
#ifndef CORE_PROGRAM_INTERNAL_H
#define CORE_PROGRAM_INTERNAL_H

#include "core/ask/ask.h"
#include "core/ask/doubt.h"
#include "core/inventory/fields.h"
#include "core/ask/lid_route.h"
#include "core/program/program.h"
#include "core/ask/sweeper.h"

/* Alias GUIDs that a block of a port is to hold. */
struct alias_want {
	uint64_t port; /* GUID */
	uint64_t guid[8];
	uint32_t next; /* of this port; FM_HASH_NONE: the last */
	uint8_t block;
	bool due; /* it has changed since it was asked for */
};

/* What is said of ports, once for as many as there are. */
struct link_note {
	uint32_t n, n_said;
	char first[240]; /* the first of them */
};

/* What ports in use had registered before we were master. */
enum links_before_us {
	BEFORE_US_ELSEWHERE, /* with another SM */
	BEFORE_US_LOST,	     /* with us, but it is lost */
	BEFORE_US_KNOWN	     /* with another SM, and we have its copy */
};

/* PortInfo and links (links.c). */
struct sweep_links {
	uint64_t fingerprint;	   /* sweep_settings_fingerprint() of the settings */
	uint8_t before_us;	   /* enum links_before_us */
	struct fm_hash lost_ports; /* GUIDs of ports that have lost it since */
	bool settings_changed;	   /* the settings are to reach every port (fields.h: insist) */
	bool far_ends_sleep; /* a port stayed ARMED though its neighbour was ACTIVE (links.c) */
	struct link_note held_back; /* active links that could do more (links.c) */
	struct link_note unmet;	    /* ports left with speeds or widths not asked for (forced.c) */
	struct link_note waits;	    /* ... with links that run at one, until they come up anew */
};

/* M_Keys (mkeys.c). */
struct sweep_keys {
	uint64_t fabric; /* the M_Key of nearly all ports (mkeys.c) */
	bool changed;	 /* this sweep has gone through them */
};

/* P_Keys (pkeys.c). */
struct sweep_pkeys {
	const struct partitions *parts; /* what pkeys were made of */
	struct port_pkeys *lists;	/* of all end-ports */
	uint64_t mark;
	bool all_blocks;	 /* there may be keys behind block 0 */
	uint32_t n_cut;		 /* ports in more partitions than their tables hold */
	struct snapshot *fabric; /* of this sweep, for the members of vfabrics; NULL: none */
	struct pkey_job *free_jobs;
};

/* SL to VL, VL arbitration (qos.c). */
struct sweep_vls {
	bool spread;	    /* a plan of more than one VL has been in the switches */
	uint64_t levels_of; /* number of the plan of which levels is known */
	bool levels;	    /* its SLs are of two levels (tables_vls.h) */
	uint64_t mark;
	bool written;	   /* the administrator's tables have been in ports */
	uint16_t collided; /* SLs told of: the engine's VLs are not the administrator's */
};

/* Alias GUIDs (aliases.c). */
struct sweep_aliases {
	FM_VEC(struct alias_want) wants;
	struct fm_hash of_port; /* port GUID -> first in aliases */
	bool due;		/* some may be due */
};

/* The answer to a Get or Set of PortInfo while the fabric is written.  False, and nothing is taken
 * in: it shows that the link went down since it was read, and both ends are in doubt. */
bool observe_written_port(struct ask *a, const struct wire_port_info *now);
void links_start(struct sweeper *s);
/* Count a port that does not have the width and speeds that are asked for (forced.c); want: what it
 * is to hold. */
void links_note_forced(
    struct sweeper *s, uint32_t slot, unsigned port, const struct wire_port_info *want);
void mkeys_start(struct sweeper *s);
struct sweep_mcast *mcast_new(void);	 /* NULL: no memory */
void mcast_free(struct sweep_mcast *mc); /* NULL is fine */
void pkeys_fini(struct sweeper *s);
void aliases_fini(struct sweeper *s);
/* It has been called for all ports of a node. */
void qos_ensured(struct sweeper *s, uint32_t slot);
/* next is given up, and its SL to VL maps may be in switches. */
void qos_not_taken(struct sweeper *s);
/* All of next has been sent: does the switch owe maps of it (owed.c)? */
void qos_note_owed(struct sweeper *s, uint32_t slot);
/* Before next is made: write to a switch the maps of s->plan that it owes. */
void qos_pay(struct sweeper *s, uint32_t slot);
void pkeys_start(struct sweeper *s);
void pkeys_ensure(struct sweeper *s, uint32_t slot, unsigned port);
void qos_start(struct sweeper *s);
void qos_ensure(struct sweeper *s, uint32_t slot, unsigned port);
/* waves.c: switches that hold nothing known, from us outwards */
void waves_start(struct sweeper *s, bool (*visit)(struct sweeper *s, fm_sw sw, uint32_t block));
bool waves_feed(struct sweeper *s); /* true: there is more to send or to wait for */
void waves_end(struct sweeper *s);
void apply_start(struct sweeper *s);
/* False: the sweep has failed, and s->plan stays the plan. */
bool apply_commit(struct sweeper *s);
/* Bring a port what is wanted of it, before the pass over ports. */
void links_set(struct sweeper *s, uint32_t slot, unsigned port);
/* Give an end-port that has no LID its own, before the pass over ports. */
void links_name(struct sweeper *s, uint32_t slot, unsigned port);
/* s->next is in the switches: whose paths have other SLs by it is told, once the SA answers so. */
void repath_note(struct sweeper *s);
/* Has somebody to be told of SLs that have VLs of their own, before other tables are written? */
bool repath_is_due(const struct sweeper *s);
/* Those who should have been told by now and were not. */
void repath_say_untold(const struct sweeper *s);
/* Is there one that could be told, and has not been? */
bool repath_is_untold(const struct sweeper *s);
/* ... and is it connected? */
bool repath_is_back(const struct sweeper *s);
/* All hosts in use are to be told, if they had to be when the process before us ended. */
void repath_take_over(struct sweeper *s);
/* Is somebody to be told?  Kept for the process after us. */
void repath_keep(struct sweeper *s, bool untold);
/* Tell them, before other ports are set.  True: there are more, or answers are out. */
bool repath_feed(struct sweeper *s);
/* What looks.h has of multicast tables, P_Keys, SL to VL, VL arbitration. */
struct look;
uint32_t mcast_n_looks(const struct sweeper *s, uint32_t slot);
bool mcast_look(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out);
void mcast_forget(struct sweeper *s, uint32_t slot, uint32_t i);
uint32_t pkeys_n_looks(const struct sweeper *s, uint32_t slot);
bool pkeys_look(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out);
void pkeys_forget(struct sweeper *s, uint32_t slot, uint32_t i);
uint32_t qos_n_maps(const struct sweeper *s, uint32_t slot);
bool qos_look_at_map(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out);
void qos_forget_map(struct sweeper *s, uint32_t slot, uint32_t i);
uint32_t qos_n_arbs(const struct sweeper *s, uint32_t slot);
bool qos_look_at_arb(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out);
void qos_forget_arb(struct sweeper *s, uint32_t slot, uint32_t i);
/* Where multicast tables may end; 0: there are no groups. */
uint16_t mcast_top_mlid(struct sweeper *s);

#endif
