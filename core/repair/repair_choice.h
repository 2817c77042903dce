/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_choice.h - which channel an entry gets.
 */
#ifndef CORE_REPAIR_REPAIR_CHOICE_H
#define CORE_REPAIR_REPAIR_CHOICE_H

#include "core/repair/repair_internal.h"

/* A port of it, by what is better: fewer links, its place in the order of preference, its
 * load. */
struct repair_port {
	uint32_t channel; /* FM_NONE: none */
	uint32_t depth, load;
	unsigned place; /* 0: nominal, 1: as it is, 2: another */
};

/* Who sends the LID into a switch: gathered once per switch and try. */
struct repair_comers {
	uint32_t in[256];  /* channels */
	uint16_t vls[256]; /* of each; 0: no packets, it is a switch between others */
	unsigned n;
	uint16_t own, all;
	bool through; /* packets of others come in, too */
};

/* repair_choice.c */
/* Channels of a switch in the order of preference: nominal, old, least loaded.
 * Equal ones by turns: from another one on for each port at which the old cable ends
 * over there, so that neighbours who lose the same switch do not all choose the same. */
struct repair_choice {
	uint32_t n, at;
	unsigned preferred; /* of them are in front */
	bool sorted;
	uint32_t c[256];
};
/* Channels to switches that are not lost themselves. */
void repair_begin_choice(struct repair *p, const struct repair_spot *s, struct repair_choice *ch);
/* One VL: the best of those that hold all dependencies of the old port, FM_NONE: there is none.
 * The old port has to be one. */
uint32_t repair_first_covering(struct repair *p, const struct repair_spot *s);
/* The best of what is left, FM_NONE: nothing is. */
uint32_t repair_next_choice(const struct repair *p, struct repair_choice *ch);
/* One VL: are all turns into channel old held into c as well, whoever takes them? */
bool repair_covers(const struct depend *g, uint32_t old, uint32_t c);
/* Has channel c closed a cycle for the spot in hand? */
bool repair_is_banned(const struct repair *p, uint32_t c);
/* Spots by the length of their old way, then by switch. */
void repair_sort_spots(struct repair *p);
/* Who sends into a spot. */
void repair_gather(struct repair *p, const struct repair_spot *s, struct repair_comers *who);
/* Insert what they need to leave by channel c.  False: undone. */
bool repair_try_insert(struct repair *p, const struct repair_comers *who, uint32_t c);
/* repair_lid.c: settle p->spots, which lead nowhere and are marked MARK_LOST. */
void repair_lid(struct repair *p);
/* repair_ports.c: the same where VLs go by ports. */
void repair_lid_by_ports(struct repair *p);
/* Of all that is left, or of all that packets need, the one with the shortest way is given to
 * `take`.  False: there is none. */
typedef void repair_take_fn(
    struct repair *p, const struct repair_spot *s, const struct repair_port *best);
bool repair_settle_shortest(struct repair *p, bool idle, repair_take_fn *take);
/* repair_move.c: can pairs get other SLs than by the plan before?  *n_vls: in so many VLs. */
bool repair_may_move(
    const struct router *r, const struct plan *prev, const struct fm_fabric *now, uint32_t *n_vls);
/* False: not by these tables after all. */
bool repair_begin_moves(struct repair *p);
/* Settle those of p->spots that packets need under other SLs.  False: there is no room. */
bool repair_move(struct repair *p);
/* repair_idle.c: those of p->spots that are idle and still have no way. */
void repair_idle(struct repair *p);
/* One of p->spots that packets need gets a way from those behind it.  False: none does. */
bool repair_lend(struct repair *p);

/* repair_lead.c: one of p->spots that packets need gets a way over switches without packets;
 * held: by no new dependency.  False: none does. */
bool repair_lead(struct repair *p, bool held);

/* repair_back.c: send entries in p->dev back where that leads on. */
void repair_back(struct repair *p);
uint8_t repair_nominal(const struct repair *p, fm_sw sw);

#endif
