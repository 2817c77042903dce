/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/rig.h - a simulated fabric with a sweeper on it.
 */
#ifndef TESTS_SWEEP_RIG_H
#define TESTS_SWEEP_RIG_H

#include <semaphore.h>

#include "core/program/program.h"
#include "core/sms/sms.h"
#include "core/sweep/sweep.h"
#include "lab/sim/sim.h"
#include "lab/topo/netlist.h"
#include "lib/rng.h"

#define RIG_LOG_BYTES 65536

struct rig {
	struct netlist nl;
	struct sim *sim;
	struct transport *transport;
	struct txn_engine *txn;
	struct sweeper *sweeper;
	struct store *store;   /* NULL unless opened by the test */
	const char *plan_path; /* sweep_parts */
	const struct vendors *vendors;
	struct ha ha;
	struct router router;
	int timeout_ms; /* of an SMP; 0: 200 */
	bool off_loop;	/* route on a thread of its own */
	struct plan_worker *worker;
	sem_t woken;			  /* by the worker, once a plan */
	bool (*may_take_plan)(void *arg); /* sweep_parts, called with may_take_plan_arg */
	void *may_take_plan_arg;
	struct chain chain;
	struct chain_entry entry;	  /* rig_use() */
	const struct region_set *regions; /* NULL: one */
	struct sweep_settings set;
	uint32_t place; /* node we sit at */
	unsigned port;
	struct sweep_report last; /* of the sweep that ended last */
	uint32_t n_reports;
	uint32_t n_new_plans; /* of them, with a plan that is not kept */
	uint64_t n_again;     /* SMPs sent more than once */
	uint64_t n_by_lid, n_mixed;
	uint64_t n_ways_lost;  /* of both, not answered */
	uint32_t n_broken_off; /* of them, SWEEP_BROKEN_OFF */
	/* NULL, or told of the plan by which the SA answers from now on */
	void (*on_up)(void *arg, const struct plan *p);
	void *on_up_arg;
	/* of sweep_parts */
	void (*on_notice)(void *arg, const struct wire_notice *notice);
	void *on_notice_arg;
	uint64_t drained[768]; /* LIDs whose entries were emptied; the test clears them */
};

extern char rig_log[RIG_LOG_BYTES]; /* warnings and notices since rig_log_clear() */
void rig_log_clear(void);

/* A fabric as `fmroute gen` makes it: "pgft 2 4,4 1,4 1,1". */
void rig_generate(struct netlist *nl, const char *words);
/* The sim, its options, and our place: the first CA, or the switch when there is none. */
void rig_sim(struct rig *r, const struct sim_options *o);
/* ... in which SMPs overtake one another. */
void rig_sim_overtaking(struct rig *r, uint64_t seed);
/* The chain is one engine with its own options. */
void rig_use(struct rig *r, const struct fm_engine *engine);
/* A sweeper on it, settings from r->set. */
void rig_start(struct rig *r);
/* ... and the subnet is up. */
void rig_bring_up(struct rig *r);
/* Ask for routes by settings and chain as they are now. */
void rig_route_anew(struct rig *r);
/* Sweep until nothing is left to do. */
void rig_run(struct rig *r, enum sweep_scope scope);
/* As far as where it waits for older packets to be gone; false: it ended without. */
bool rig_run_to_wait(struct rig *r);
/* Go on without asking for a sweep: deliver what is due in the next ms. */
void rig_let_pass(struct rig *r, int64_t ms);
/* Till hosts have been told of other SLs and what waited for that is written. */
void rig_settle(struct rig *r);
/* Stop fmd; the fabric stays as it is. */
void rig_stop(struct rig *r);
void rig_fini(struct rig *r);

/* Fail the test unless every cabled port of live nodes is ACTIVE and the
 * tables in the switches carry packets from every CA to every CA. */
void rig_expect_up(struct rig *r);
/* ... unless the maps from SLs to VLs in the switches are those of the plan, between switches. */
void rig_expect_maps(struct rig *r);
/* The n-th CA, and the LID of its first port. */
uint32_t rig_host(const struct rig *r, uint32_t n);
uint16_t rig_host_lid(const struct rig *r, uint32_t n);
bool rig_is_switch(const struct rig *r, uint32_t node);
/* A switch that is neither ours nor the one we are cabled to. */
uint32_t rig_random_switch(const struct rig *r, struct fm_rng *rng);
/* A cable between switches that is in, out; sim_relink() puts it back. */
struct sim_place rig_lose_a_cable(struct rig *r, struct fm_rng *rng);
uint64_t rig_sets(const struct rig *r); /* Sets that agents have handled */

#endif
