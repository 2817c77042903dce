/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/parts.h - what a sweeper works with. */
#ifndef CORE_ASK_PARTS_H
#define CORE_ASK_PARTS_H

#include "core/ha/ha.h"
#include "core/mad/local_ports.h"
#include "core/mad/transact.h"
#include "core/route/worker.h"
#include "core/store/store.h"
#include "core/vendor/vendors.h"

/* What is asked and told of copies of the subnet (core/standby); each may be NULL, has_copy and sms
 * both. */
struct sweep_standbys {
	/* Have we, as standby, all that outlives the master, up to its end? */
	bool (*has_copy)(void *arg);
	/* The port GUIDs of the SMs that the master knew, good until the loop goes on. */
	size_t (*sms)(void *arg, const uint64_t **guid);
	/* We rule from now on; nothing has been written yet. */
	void (*on_rule)(void *arg);
	/* Before HANDOVER to that standby, which is better than we are or (by_order) the
	 * administrator's choice.  FM_E_CONFIG with a sentence: not now. */
	int (*may_have)(
	    void *arg, const struct ha_other *heir, bool by_order, struct fm_error *err);
	void *arg;
};

/* All borrowed, for the life of the sweeper; store may be NULL (nothing is kept). */
struct sweep_parts {
	struct transport *transport;
	struct txn_engine *txn;
	struct store *store;
	struct ha *ha;
	struct router *router;
	const struct chain *chain;
	const struct region_set *regions; /* NULL: one region */
	const struct vendors *vendors;	  /* programmers of adaptive routing; NULL: none */
	struct plan_worker *worker;	  /* NULL: plans are made while sweeper_step() waits */
	const char *plan_path;		  /* where tables are kept over a restart, or NULL */
	const struct local_ports *ports;  /* of this host; NULL: only that of the transport */
	uint64_t n_sweeps;		  /* of the sweeper before it: numbers go on from there */
	/* NULL, or told of traps that are to be passed on to subscribers (traps.h) */
	void (*on_notice)(void *arg, const struct wire_notice *notice);
	void *on_notice_arg;
	struct sweep_standbys standbys;
	/* NULL, or asked before a plan that is ready is taken up; false: not yet.  Tests thereby
	 * say how long a plan takes. */
	bool (*may_take_plan)(void *arg);
	void *may_take_plan_arg;
};

#endif
