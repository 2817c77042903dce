/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/locks_internal.h - what the parts of the judge share.
 *
 *	locks.c		looking after each SMP; packets and what they depend on
 *	locks_past.c	what switches held and hosts knew, and when
 *	locks_tell.c	who closes a ring
 */
#ifndef TESTS_SWEEP_LOCKS_INTERNAL_H
#define TESTS_SWEEP_LOCKS_INTERNAL_H

#include "lab/sim/sma.h"
#include "lib/vec.h"
#include "tests/sweep/locks.h"

#define N_SLS 16u
#define N_VLS 16u
#define NO_SL 255u
#define NO_PLAN UINT64_MAX
#define EVER INT64_MAX
#define NEVER INT64_MIN

/* A port by which a switch sends to a LID, and when: by its table or by its group. */
struct past_entry {
	uint8_t port;
	int64_t from, to;
};

/* All maps of a switch. */
struct past_maps {
	uint8_t *vl; /* [in * (n_ports + 1) + out][8] as on the wire; NULL: zero */
	int64_t from, to;
};

/* SLs by which a host sends, of one plan. */
struct past_sls {
	uint8_t *sl;  /* [n_lids][n_lids] by LID of the host, LID; NO_SL: none; shared */
	bool replies; /* go under the SL of the request (else that is not promised) */
	int64_t from, to;
};

/* Packets of one LID and SL that may be on a VL of a link. */
struct packets {
	int64_t first; /* come by, at the earliest */
	int64_t sent;  /* at the latest */
};
#define NONE ((struct packets){ EVER, NEVER })

struct edge {
	uint32_t from, to; /* port * N_VLS + VL */
};

struct locks {
	struct rig *rig;
	uint32_t n_lids, n_ports;
	FM_VEC(struct past_entry) * entries; /* [n_nodes * n_lids] */
	FM_VEC(struct past_maps) * maps;     /* [n_nodes] */
	FM_VEC(struct past_sls) * sls;	     /* [n_lids] of hosts */
	FM_VEC(struct edge) * edges;	     /* [n_lids] */
	FM_VEC(uint8_t *) tables;	     /* of SLs, to be freed */
	struct sim_place *owner;	     /* [n_lids] */
	int64_t *up;		  /* [n_ports] the link carries packets since; EVER: none */
	bool *away;		  /* [n_nodes] hosts whose port is down, or was reset */
	uint32_t *told;		  /* [n_nodes] */
	bool *off;		  /* [n_nodes] without power */
	struct packets *on;	  /* [n_ports * N_VLS * N_SLS] of the LID at hand */
	FM_VEC(uint32_t) reached; /* where on[] has some */
	bool *emptied;		  /* [n_lids] */
	uint32_t silent_till;	  /* rig.n_reports */
	unsigned silence;	  /* Sets of entries till a switch falls silent; 0: none does */
	uint32_t silent;	  /* node that has; SIM_NONE */
	uint64_t named;		  /* number of the plan by which the SA answers; NO_PLAN */
	bool renamed;		  /* ... which is another since the last SMP */
	bool named_replies;	  /* are replies proven by it? */
	char first[2048];	  /* ring */
	uint32_t n_rings, n_looks, n_cleared;
	int64_t now, life;
};

static inline const struct sim_fabric *
fabric_of(const struct locks *k)
{
	return sim_fabric(k->rig->sim);
}

static inline bool
is_host(const struct locks *k, uint32_t lid)
{
	return k->owner[lid].node != SIM_NONE && !rig_is_switch(k->rig, k->owner[lid].node);
}

/* locks_past.c */
void past_find_owners(struct locks *k);
/* What is so long ago that no packet can have met it. */
void past_forget(struct locks *k);
void past_name_sls(struct locks *k, const struct plan *p, int64_t from);
/* It names none; who knows some goes on by them. */
void past_name_none(struct locks *k);
void past_look_who_is_told(struct locks *k);
/* A sweep is up (struct rig). */
void past_on_up(void *arg, const struct plan *p);
/* True: it is another now. */
bool past_look_at_entry(struct locks *k, uint32_t node, uint32_t lid);
bool past_look_at_maps(struct locks *k, uint32_t node);
/* Links that carry packets, or no more, and hosts that have booted.  True: there are more. */
bool past_look_at_links(struct locks *k);

/* locks.c: what the packets of one sender under one SL, of SLs it knew, depend on alone, into
 * k->edges of the LID. */
void locks_follow_one(
    struct locks *k, uint32_t host, uint32_t lid, const struct past_sls *s, uint8_t sl);
/* ... and of all. */
void locks_follow(struct locks *k, uint32_t lid);

/* locks_tell.c: the dependencies of a ring and who is behind each, into k->first. */
void locks_tell(struct locks *k, const uint32_t *component /* [n_ports * N_VLS] */);

#endif
