/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/readback.h - what the switches really hold, read and judged.
 *
 *	start: a Get for each block of each forwarding table, some at a time
 *	  -> all answered: a thread of its own compares and verifies
 *	    -> the result waits to be asked for
 *
 * Judged like a plan: reachability, loops, credit loops, with the SLs and the
 * SL2VL of the plan in force when it began.  Sweeps go on meanwhile; what they
 * write in between is told as a difference.
 */
#ifndef CORE_DAEMON_READBACK_H
#define CORE_DAEMON_READBACK_H

#include <jansson.h>

#include "core/mad/transact.h"
#include "core/plan/plan.h"
#include "core/inventory/inventory.h"

struct readback;
struct sweeper;

/* plan is shared; txn and inv are borrowed until readback_free().  NULL with err. */
struct readback *readback_start(struct txn_engine *txn, const struct inventory *inv,
    struct plan *plan, const struct verify_request *how, struct fm_error *err);
/* Waits for the thread; requests under way answer to nobody.  NULL is fine. */
void readback_free(struct readback *r);

bool readback_is_done(const struct readback *r);
/* It is done: the audit reads the tables that differ once more, tells what does, and has it written
 * (core/audit/audit.h). */
void readback_mend(const struct readback *r, struct sweeper *s);
/* {"state": "reading", "blocks": ..} or "judging", or "done" with what was found. */
json_t *readback_json(const struct readback *r);

#endif
