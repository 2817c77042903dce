/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify.h - judging tables: reachability, loops, credit loops.
 *
 * Words (used in the JSON of fmroute too): a pair is (source CA or router
 * port, destination LID of another CA or router port), ordered, plus (source
 * CA port, each switch's LID).  Switch to switch LIDs are counted apart in
 * switch_pairs_unrouted.  Pairs in different components are disjoint_pairs.
 *
 * With adaptive routing a packet may leave by any port of its group, so all is
 * judged over all next hops: a pair is reachable when every path arrives, its
 * hops are those of the longest, and dependencies are those of all paths
 * together.
 */
#ifndef CORE_VERIFY_VERIFY_H
#define CORE_VERIFY_VERIFY_H

#include <fmd/engine.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/cdg/sl_model.h"
#include "core/graph/snapshot.h"
#include "lib/pool.h"

struct verify_request {
	uint8_t n_vls; /* data VLs that may be used, 1..15 */
	enum verify_sl_model sl_model;
	bool loops_last; /* the witness tells of credit loops when nothing else is wrong */
	bool one_by_one; /* follow every LID by itself: the same verdict, slower; for tests */
	/* NULL, or [n_switches]: set to 1 for those on the credit loop that the witness tells */
	uint8_t *on_cycle;
	/* NULL, or [n_switches]: credit loops all of whose links are among switches of one
	 * number, not 0, are allowed */
	const uint16_t *loops_within;
	/* NULL, or set from another thread when the verdict is not wanted any more: FM_E_CANCELLED,
	 * after at most a tile of LIDs and what follows them */
	const atomic_bool *given_up;
};

static inline bool
verify_is_given_up(const struct verify_request *req)
{
	return req->given_up != NULL && atomic_load_explicit(req->given_up, memory_order_relaxed);
}

/* What kind of wrong the witness shows. */
enum verify_fault {
	VERIFY_OK,
	VERIFY_UNREACHABLE, /* a dead end: FM_PORT_NONE or a port without a cable */
	VERIFY_LOOP,
	VERIFY_WRONG_HOST, /* arrives at an end-port that does not own the LID */
	VERIFY_CREDIT_LOOP,
	VERIFY_VL_BUDGET, /* SL2VL names a VL beyond the budget or the link's VLs */
	VERIFY_STRAY	  /* adaptive routing: arrives by some paths, by others not */
};

struct verdict {
	uint64_t reachable_pairs, unreachable_pairs, disjoint_pairs, switch_pairs_unrouted;
	uint64_t stray_pairs; /* of the unreachable: some paths do arrive */
	uint32_t loops; /* (destination LID, cycle of switches) found; adaptive: (LID, component) */
	uint32_t wrong_host; /* (switch, LID) entries that hand a LID to another's port */
	uint32_t
	    credit_loops; /* strongly connected components of the CDG with a cycle, over all VLs */
	uint32_t loops_allowed; /* of the credit loops, by request.loops_within */
	uint32_t vl_errors;	/* entries beyond the VL budget */
	uint32_t max_hops;	/* switches on the longest path of a pair */
	double avg_hops;
	uint8_t vls;		 /* VLs in use */
	enum verify_fault fault; /* the gravest one found, what the witness tells */
	char
	    witness[512]; /* a sentence: the pair, the loop or the cycle, by node names and ports */
};

/* Judge.  Returns 0 with *verdict filled (also when it is a bad one), or
 * FM_E_RESOURCE, or FM_E_CANCELLED.  The same verdict at any number of workers. */
int verify_tables(const struct snapshot *snap, const struct fm_tables *tables,
    const struct verify_request *req, struct fm_pool *workers, struct verdict *verdict,
    struct fm_error *err);

/* Pairs to one LID: those of the verdict, by the length of their paths. */
struct lid_sums {
	uint32_t reached, lost, switch_lost;
	/* the longest path and the next shorter one, in switches, and how many switches that
	 * send have it; n_at_next 0: there is none, or it is not known */
	uint16_t max_hops, n_at_max, next_hops, n_at_next;
	bool known;
	uint64_t hops;
};
/* One more switch has a path of h, where all that there are come one after another. */
void lid_sums_gather(struct lid_sums *s, uint32_t h);
/* sums[max_lid + 1], zeroed: of the LIDs that can be judged all behind a switch together, in
 * one component (verify_class.c); of others it stays not known.  Much quicker than following
 * each.  FM_E_RESOURCE. */
int verify_sum_lids(const struct snapshot *snap, const struct fm_tables *tables,
    struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err);

/* May these tables be written to switches?  No loop, wrong host, VL error, stray
 * pair or (unless allowed, all or this one) credit loop.  Unreachable pairs are
 * listed, not fatal. */
bool verdict_is_safe(const struct verdict *v, bool allow_credit_loops);
/* Has the engine promised no credit loops and made one? */
bool promise_is_broken(const struct fm_engine *engine, const struct verdict *v);
/* Why tables of this verdict may not be used, as a sentence of the size.  Routes may be free of
 * credit loops one way, as options have asked for (paired = no), where replies go under the SL
 * of the request.  one_way: the verdict without replies (VERIFY_FORWARD), else v. */
void promise_explain(const struct fm_engine *engine, const struct verdict *v,
    const struct verdict *one_way, char *reason, size_t size);
/* As lines of "word        what", twelve columns for the word. */
void verdict_print(const struct verdict *v, FILE *out);

#endif
