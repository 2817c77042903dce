/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/several.h - several sweepers on one simulated fabric, and a host that forges SMInfo.
 */
#ifndef TESTS_SWEEP_SEVERAL_H
#define TESTS_SWEEP_SEVERAL_H

#include "tests/sweep/rig.h"

/* A second fmd on the fabric of `first`, at its n-th host; settings from r->set.  To be ended with
 * rig_stop(). */
void several_join(struct rig *r, const struct rig *first, uint32_t n);
/* Count from now on the MADs that it sends with this number anywhere in them. */
void several_tap(struct rig *r, uint64_t secret);
uint32_t several_n_told(void);
/* The same of Sets, tries anew too, but of SMInfo; of one rig, which is tapped. */
void several_count_sets(const struct rig *r);
uint32_t several_n_sets(void);
/* Let all of them, and forgers, work for so long; standbys poll their master each poll_ms (0:
 * never). */
void several_run(struct rig **all, unsigned n, int64_t ms, int64_t poll_ms);
/* ... for one turn of their loops, of so many ns each. */
void several_turn(struct rig **all, unsigned n, int64_t ns);

/* As rig_expect_up(), also where the last sweep has found nothing to do. */
void several_expect_up(struct rig *r);
/* Of the port of its n-th host. */
uint64_t several_guid_of(const struct rig *r, uint32_t n);

/* The shortest way by the cables of the netlist: its hops, and egress ports in path[1..]. */
uint8_t several_path(const struct netlist *nl, uint32_t from, uint32_t to, uint8_t path[64]);

/* How a forged SMP is to go. */
enum forged_way { FORGED_BY_LID, FORGED_DIRECTED, FORGED_MIXED, N_FORGED_WAYS };

/* A host of the fabric that runs whatever it likes. */
struct forger {
	struct transport *t;
	const struct rig *rig;
	uint32_t host; /* the n-th */
	uint64_t secret;
	uint32_t n_answers, n_told; /* MADs that came, those with `secret` in them */
	uint16_t status;	    /* of the last answer */
	bool plays_sm;		    /* it answers Get(SMInfo) with `shown` */
	bool takes_sets;	    /* ... and Set(SMInfo) */
	bool wants_sum;		    /* its Gets ask for one (sm_proof.h) */
	uint32_t n_asked, n_sets;
	struct wire_sm_info shown;
	uint32_t tid;
};
void forger_start(struct forger *f, const struct rig *rig, uint32_t host, uint64_t secret);
/* One that plays an SM, and says this of itself for ever, with the GUID of its port. */
void forger_play(struct forger *f, const struct rig *rig, uint32_t host, uint64_t secret,
    const struct wire_sm_info *shown);
void forger_stop(struct forger *f);
/* Take what has come. */
void forger_listen(struct forger *f);
/* SMInfo to the port of a rig. */
void forger_send(struct forger *f, const struct rig *to, enum forged_way way, uint8_t method,
    uint32_t control, const struct wire_sm_info *info);

#endif
