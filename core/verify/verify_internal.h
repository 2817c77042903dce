/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_internal.h - what the parts of verify share.
 *
 *	verify.c	setting up, adding up, the verdict
 *	verify_class*.c	all LIDs behind a switch together, where that tells the same
 *	verify_walk.c	following every LID to its end, 64 LIDs at a time
 *	verify_vl.c	the same dependencies when packets change or differ in VL
 *	verify_vl_class.c	LIDs with equal paths together in that case
 *	verify_adaptive*.c	the same over all alternatives of adaptive routing
 *	verify_cycles.c	cycles of the dependency graph
 *	verify_way.c	the steps to a fault
 *	verify_words.c	the verdict as lines, the witness as a sentence
 */
#ifndef CORE_VERIFY_VERIFY_INTERNAL_H
#define CORE_VERIFY_VERIFY_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "core/graph/tables.h"
#include "core/verify/verify.h"

#define LANES 64u    /* LIDs followed together: one cache line of every row */
#define ROW_UNIT 16u /* rows of dependencies are multiples of this many bytes */
#define N_SLS 16u
#define PORT_WORDS 4u			  /* 256 ports */
#define VERIFY_FAULTS (VERIFY_STRAY + 1u) /* enum verify_fault */

/* What is known of a (switch, lane):
 *
 *	 31    24 23            8 7     0
 *	+--------+---------------+-------+
 *	| epoch  | hops          | slot  |
 *	+--------+---------------+-------+
 *
 * epoch: of the block it was learned in, so that no block needs clearing;
 * hops: switches from here to the destination, both counted, or HOPS_*;
 * slot: position of the egress link among the switch's links, or their number
 * when the packet leaves to an end-port or nowhere. */
#define EPOCH_SHIFT 24
#define HOPS_SHIFT 8
#define SLOT_MASK 0xffu
#define HOPS_OPEN 0xfffeu /* being followed right now */
#define HOPS_FAIL 0xffffu /* does not arrive */
#define KNOWN_END (1u << EPOCH_SHIFT)
#define ARRIVES_END (HOPS_OPEN << HOPS_SHIFT)

/* What is behind a port.  No link: info is that of the switch after the last,
 * of which nothing is ever known. */
struct port_ref {
	uint32_t info; /* index of lane 0 of the next switch */
	uint32_t dep;  /* row of dependencies of the link, in ROW_UNITs, << 8 | slot */
};

struct lane {
	uint16_t lid;
	fm_end owner;
	fm_sw sw; /* where the owner is */
	uint8_t port;
	bool is_switch;
	uint32_t component;
};

/* Where to look for a witness; the least (lid, sw) is kept, whoever finds it. */
struct clue {
	bool given;
	uint16_t lid;
	fm_sw sw;
};

struct walker {
	uint32_t *info; /* [n_switches + 1][LANES] */
	uint32_t base;	/* epoch << EPOCH_SHIFT */
	uint8_t *dep;	/* [dep_row[n_links]][ROW_UNIT]: 1 = a packet goes on from link to slot */
	uint32_t *touched; /* [n_switches] base of the last block in which packets came through */
	fm_sw *path;	   /* [n_switches] */
	fm_sw *order;	   /* [n_switches] as they became known, next hop first; VL mode only */
	uint32_t n_order;
	uint16_t (*sl_vls)[N_SLS]; /* [n_switches][SL] VLs on the way out; VL mode only */
	uint16_t *reply_sls;	   /* [n_switches] SLs of replies from reply_row; VL mode only */
	uint32_t reply_row;
	uint32_t bad_sls; /* SL entries above 15 */
	bool carries;	  /* packets followed now are data traffic: note dependencies */
	bool lane_loops;
	uint32_t ref_ports; /* refs[] beyond this port is "nowhere" */
	struct port_ref refs[256];
	struct lane lane[LANES];
	uint8_t list[LANES]; /* [n_lanes] lanes whose LID is in use and behind a switch */
	unsigned n_lanes;
	/* sums */
	uint64_t reached, lost, stray, disjoint, switch_lost, hops;
	uint32_t loops, wrong_host, max_hops;
	struct clue clue[VERIFY_FAULTS]; /* by fault */
};

struct judge {
	const struct snapshot *snap;
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	const struct verify_request *req;
	bool one_vl;		/* every packet stays on one VL per link: a link is a vertex */
	uint32_t nowhere;	/* info of no switch */
	uint32_t *port_first;	/* [n_switches + 1] into ports */
	struct port_ref *ports; /* [sum of n_ports + 1] */
	uint8_t *port_has_end;	/* same index */
	uint32_t *n_sources;	/* [n_switches] end-ports that send */
	fm_sw *source_sw;	/* [n_source_sw] switches with some */
	uint32_t n_source_sw;
	uint32_t *component_sources; /* [n_components] */
	uint32_t all_sources, switchless;
	uint32_t *dep_row;	/* [n_links + 1] in ROW_UNITs */
	struct walker *walkers; /* [n_walkers] */
	unsigned n_walkers;
	uint8_t *exact; /* [max_lid + 1] 1 = a LID to follow by itself; NULL = all */
	bool as_bits;	/* dependencies are in vl_dep, not in the walkers' rows */
	/* VL mode: vertex = link * n_vls + vl */
	unsigned n_vls;
	size_t *vl_row;	  /* [n_links + 1] first word of a link's n_vls rows */
	uint64_t *vl_dep; /* bit (slot * n_vls + vl) of a vertex's row */
	uint8_t *vl_used; /* [n_links * n_vls] 1 = carries packets; outside VL mode too (n_vls 1) */
	struct verdict *out;
};

/* Credit loops as verify_cycles.c found them. */
struct cycle {
	uint32_t *vertex; /* [n] link * n_vls + vl, in order; malloced */
	uint32_t n;
};

/* Sums anew; memory stays. */
static inline void
reset_sums(struct walker *w)
{
	w->reached = w->lost = w->stray = w->disjoint = w->switch_lost = w->hops = 0;
	w->loops = w->wrong_host = w->max_hops = w->bad_sls = 0;
	memset(w->clue, 0, sizeof(w->clue));
}

static inline struct port_ref
port_ref_at(const struct judge *j, fm_sw sw, uint8_t port)
{
	if (port > j->fab->sw_n_ports[sw])
		return (struct port_ref){ j->nowhere, SLOT_MASK };
	return j->ports[j->port_first[sw] + port];
}

/* By which ports may a packet to lid leave sw?  FM_PORT_NONE is one, too. */
static inline void
ports_of(const struct judge *j, fm_sw sw, uint16_t lid, uint64_t ports[PORT_WORDS])
{
	const struct fm_tables *t = j->t;
	uint16_t group = t->ar_max_groups > 0 ? t->ar_group[sw][lid] : 0;
	uint8_t port = t->lft[sw][lid];

	memset(ports, 0, PORT_WORDS * sizeof(*ports));
	if (group == 0 || group > t->ar_max_groups)
		ports[port / 64] |= (uint64_t)1 << (port % 64);
	else
		memcpy(ports, tables_ar_ports(t, sw, group), PORT_WORDS * sizeof(*ports));
}

/* The next port of a set that is not empty, taken out of it. */
static inline bool
take_port(uint64_t ports[PORT_WORDS], uint8_t *port)
{
	for (unsigned w = 0; w < PORT_WORDS; w++)
		if (ports[w] != 0) {
			*port = (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(ports[w]));
			ports[w] &= ports[w] - 1;
			return true;
		}
	return false;
}

static inline bool
is_source(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] != FM_END_SWITCH;
}

static inline void
note_clue(struct walker *w, enum verify_fault fault, uint16_t lid, fm_sw sw)
{
	struct clue *c = &w->clue[fault];

	if (c->given && (c->lid < lid || (c->lid == lid && c->sw <= sw)))
		return;
	*c = (struct clue){ true, lid, sw };
}

/* Lines are shared by all workers, and seldom news. */
static inline void
set_shared_bit(uint64_t *words, size_t bit)
{
	uint64_t *word = &words[bit / 64], mask = (uint64_t)1 << (bit % 64);

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
		__atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

static inline void
set_used(struct judge *j, fm_link l, unsigned vl)
{
	uint8_t *used = &j->vl_used[(size_t)l * j->n_vls + vl];

	if (!__atomic_load_n(used, __ATOMIC_RELAXED))
		__atomic_store_n(used, 1, __ATOMIC_RELAXED);
}

/* Beyond 15 is out of every budget; kept as 15, which is too. */
static inline unsigned
vl_at(const struct judge *j, fm_sw sw, uint8_t in_port, fm_link out, unsigned sl)
{
	unsigned vl = tables_vl(j->fab, j->t, sw, in_port, out, (uint8_t)sl);

	return vl < j->n_vls ? vl : j->n_vls - 1;
}

/* verify.c: follow the LIDs of j->exact.  Memory of walkers is made once. */
int verify_walk(struct judge *j, struct fm_pool *workers, struct fm_error *err);

/* verify_class.c: *settled: all sums are in the walkers, one VL, no credit
 * loop, no VL error.  Otherwise everything is as before, to be done the long way; but with
 * adaptive routing (as_bits) the sums are there, too, and exactly the dependencies in vl_dep.
 * Without it they pay on levelled fabrics. */
bool verify_classes_apply(const struct judge *j);
bool verify_is_levelled(const struct fm_fabric *fab);
int verify_classes(struct judge *j, struct fm_pool *workers, bool *settled, struct fm_error *err);
/* The sums of all LIDs that classes settle; of these alone, no dependencies. */
int verify_class_sums(
    struct judge *j, struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err);

/* verify_walk.c: fm_pool_for() items are blocks of LANES LIDs. */
void verify_walk_block(void *arg, uint32_t block, unsigned worker);
/* Follow one LID from sw; the (switch, lane) word without its epoch. */
uint32_t verify_resolve(const struct judge *j, struct walker *w, fm_sw sw, unsigned lane);
/* Pairs of an end-port without a switch. */
void verify_count_switchless(const struct judge *j, struct walker *w);

/* verify_vl.c */
bool verify_vl_setup(struct judge *j); /* false: out of memory */
void verify_vl_lane(struct judge *j, struct walker *w, unsigned lane);
/* The SL, as a bit, of what the ends of sw send to lid by themselves. */
uint16_t verify_vl_forward_sls(const struct judge *j, struct walker *w, fm_sw sw, uint16_t lid);
/* SLs of the replies of e to requests from row `row` of the SL tables. */
uint16_t verify_vl_reply_sls(const struct judge *j, fm_end e, uint32_t row);
/* The same for all ends of each switch, into w->reply_sls. */
void verify_vl_load_replies(const struct judge *j, struct walker *w, uint32_t row);

/* verify_vl_class.c: sums into the walkers, dependencies into vl_dep, of the LIDs that
 * are in order; *settled: these are all, otherwise j->exact (malloced) has the rest, or
 * is NULL: none was looked at. */
int verify_vl_classes(
    struct judge *j, struct fm_pool *workers, bool *settled, struct fm_error *err);

/* verify_adaptive.c: all sums into the walkers, dependencies into vl_dep; of the LIDs of
 * j->exact. */
int verify_adaptive(struct judge *j, struct fm_pool *workers, struct fm_error *err);

/* verify_way.c: the fewest steps from a switch to where a packet to lid is lost
 * (n - 1 is the last), or back to that switch (VERIFY_LOOP).  False: none, or
 * out of memory. */
struct way {
	fm_sw *sw;     /* [n] malloced, with port */
	uint8_t *port; /* [n] taken there */
	uint32_t n;
};
bool verify_find_way(
    const struct judge *j, fm_sw from, uint16_t lid, enum verify_fault fault, struct way *way);

/* verify_cycles.c: counts out->credit_loops, gives the shortest cycle found. */
int verify_find_cycles(
    struct judge *j, struct fm_pool *workers, struct cycle *cycle, struct fm_error *err);

/* verify_words.c: out->fault and out->witness. */
void verify_word(const struct judge *j, const struct clue *clues, const struct cycle *cycle);

#endif
