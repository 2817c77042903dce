/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_internal.h - what the parts of verify share.
 *
 *	verify.c	which of the methods below, and the verdict
 *	verify_judge.c	setting up and adding up
 *	verify_follow*.c	all next hops, exactly: the LIDs that the next two leave
 *	verify_class*.c	all LIDs behind a switch together, on trees and with adaptive routing
 *	verify_path*.c	the LIDs of a tile together elsewhere
 *	verify_graph.c	the channel dependency graph and its cycles
 *	verify_words.c	the verdict in words, the steps to a fault
 */
#ifndef CORE_VERIFY_VERIFY_INTERNAL_H
#define CORE_VERIFY_VERIFY_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "core/graph/tables.h"
#include "core/verify/verify.h"

#define LANES 64u /* LIDs taken together: one cache line of every row */
#define N_SLS 16u
#define PORT_WORDS 4u			  /* 256 ports */
#define VERIFY_FAULTS (VERIFY_STRAY + 1u) /* enum verify_fault */

/* Where to look for a witness; the least (lid, sw) is kept, whoever finds it. */
struct clue {
	bool given;
	uint16_t lid;
	fm_sw sw;
};

/* What one worker has counted. */
struct tally {
	uint64_t reached, lost, stray, disjoint, switch_lost, hops;
	uint32_t loops, wrong_host, max_hops;
	uint32_t bad_sls; /* SL entries above 15 */
	struct clue clue[VERIFY_FAULTS];
};

struct judge {
	const struct snapshot *snap;
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	const struct verify_request *req;
	const uint32_t *port_first; /* [n_switches + 1] into the next three; the snapshot's */
	fm_sw *port_to;		    /* [sum of n_ports + 1] the switch behind a port, or FM_NONE */
	const uint8_t *port_slot;   /* position of its link among the switch's links; its too */
	uint8_t *port_has_end;	    /* 1 = an end-port is there */
	uint32_t *n_sources;	    /* [n_switches] end-ports that send */
	fm_sw *source_sw;	    /* [n_source_sw] switches with some */
	uint32_t n_source_sw;
	uint32_t *component_sources; /* [n_components] */
	uint32_t all_sources, switchless;
	struct tally *tally; /* [n_workers] */
	unsigned n_workers;
	uint8_t *exact; /* [max_lid + 1] 1 = a LID to be followed; NULL = all */
	/* the dependency graph, verify_graph.c: a vertex is link * n_vls + vl */
	bool one_vl; /* every packet stays on one VL per link: n_vls is 1 */
	unsigned n_vls;
	size_t *dep_row; /* [n_links + 1] first word of a link's n_vls rows */
	uint64_t *dep;	 /* bit (slot * n_vls + vl) of a vertex's row */
	uint8_t *used;	 /* [n_links * n_vls] 1 = carries packets */
	struct verdict *out;
};

/* A credit loop as verify_graph.c found it. */
struct cycle {
	uint32_t *vertex; /* [n] in order; malloced */
	uint32_t n;
};

/* The switch behind a port, or FM_NONE. */
static inline fm_sw
next_switch(const struct judge *j, fm_sw sw, uint8_t port)
{
	return port <= j->fab->sw_n_ports[sw] ? j->port_to[j->port_first[sw] + port] : FM_NONE;
}

/* The adaptive routing group that sw uses for lid, 0: it has one next hop. */
static inline uint16_t
group_of(const struct fm_tables *t, fm_sw sw, uint32_t lid)
{
	uint16_t group = tables_are_adaptive(t) ? t->ar_group[sw][lid] : 0;

	return group == 0 || group <= t->ar_n_groups[sw] ? group : 0;
}

/* The next of a set that is not empty, taken out of it. */
static inline bool
take_bit(uint64_t *set, unsigned words, uint32_t *bit)
{
	for (unsigned k = 0; k < words; k++)
		if (set[k] != 0) {
			*bit = k * 64 + (uint32_t)__builtin_ctzll(set[k]);
			set[k] &= set[k] - 1;
			return true;
		}
	return false;
}

static inline bool
is_source(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] != FM_END_SWITCH;
}

/* Words are shared by all workers, and seldom news. */
static inline void
add_shared_bits(uint64_t *word, uint64_t bits)
{
	if (bits & ~__atomic_load_n(word, __ATOMIC_RELAXED))
		__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

int verify_judge_setup(struct judge *j, struct fm_error *err);
void verify_judge_free(struct judge *j);
void verify_judge_add_up(struct judge *j); /* the tallies into the first and into j->out */
/* By which ports may a packet to lid leave sw?  FM_PORT_NONE is one, too. */
void verify_ports_of(const struct judge *j, fm_sw sw, uint16_t lid, uint64_t ports[PORT_WORDS]);
void verify_note_clue(struct tally *sum, enum verify_fault fault, uint16_t lid, fm_sw sw);

bool verify_graph_setup(struct judge *j); /* false: out of memory */
/* The VL that SL2VL gives; beyond 15 is out of every budget and kept as 15, which is, too. */
unsigned verify_vl_at(const struct judge *j, fm_sw sw, uint8_t in_port, fm_link out, unsigned sl);
void verify_graph_use(struct judge *j, fm_link l, unsigned vl);
/* Packets go on from a link to a position among the links of the next switch. */
void verify_graph_add(struct judge *j, fm_link l, unsigned vl, uint32_t slot, unsigned vl_after);
/* Counts out->credit_loops, gives the shortest cycle found. */
int verify_find_cycles(struct judge *j, struct cycle *cycle, struct fm_error *err);

/* verify_follow.c: the LIDs of j->exact into the tallies and the graph. */
int verify_follow(struct judge *j, struct fm_pool *workers, struct fm_error *err);

/* verify_class.c, in one VL: all sums and, unless *acyclic, all dependencies. */
bool verify_classes_pay(const struct judge *j); /* can they be used, and are faster than paths? */
int verify_classes(struct judge *j, struct fm_pool *workers, bool *acyclic, struct fm_error *err);
/* The sums of all LIDs that classes settle; none where they cannot be used. */
int verify_class_sums(
    struct judge *j, struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err);

/* verify_path.c: sums and dependencies of those LIDs of j->exact (malloced, or NULL: of all) that
 * are in order, without adaptive routing; the others are left there. */
int verify_paths(struct judge *j, struct fm_pool *workers, struct fm_error *err);

/* verify_words.c: out->fault and out->witness. */
void verify_word(const struct judge *j, const struct clue *clues, const struct cycle *cycle);

#endif
