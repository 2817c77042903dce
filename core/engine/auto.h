/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/auto.h - the chain entry `auto`: the engine that suits the fabric.
 *
 * It is no engine but a chain of installed ones, from the most special shape to
 * none at all.  Each engine's own route() looks at the fabric; there is no second
 * opinion that could differ from it, options of the engines hold as anywhere,
 * and verify has the last word.  The first that passes routes the fabric, the
 * others' reasons say why not they (struct plan).  It may have rivals, whose tables are
 * measured beside its own and taken if they are better.
 */
#ifndef CORE_ENGINE_AUTO_H
#define CORE_ENGINE_AUTO_H

#include <fmd/engine.h>

/* For lists, help and names in a chain; it has no route(). */
extern const struct fm_engine auto_engine;

struct auto_rival {
	const char *engine, *because;
	uint64_t most; /* tables wait for it on fabrics of at most so many LIDs * links */
};
#define AUTO_RIVALS 2

struct auto_step {
	const char *engine;
	const char *because; /* what the fabric is if this engine takes it */
	/* [AUTO_RIVALS], NULL: none.  Engines to compare with (core/route/weigh.h); engine NULL:
	 * no more of them. */
	const struct auto_rival *rivals;
};
extern const struct auto_step auto_steps[]; /* [AUTO_N_STEPS] */
#define AUTO_N_STEPS 8

#endif
