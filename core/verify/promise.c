/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose fault a credit loop is: of an engine that has made it all the same, or of options
 * that leave replies out where they count.
 */
#include "core/verify/promise.h"

#include <stdio.h>

bool
promise_is_broken(const struct fm_engine *engine, const struct verdict *v)
{
	return (engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) && v->fault == VERIFY_CREDIT_LOOP;
}

void
promise_explain(const struct fm_engine *engine, const struct verdict *v,
    const struct verdict *one_way, char *reason, size_t size)
{
	const char *whose = "";

	if (promise_is_broken(engine, v) && one_way->credit_loops == 0)
		whose = "only requests are free of credit loops, not replies, which go under the "
			"same SL (sl_model = both): set paired = yes where the engine has it, or "
			"sl_model = forward: ";
	else if (promise_is_broken(engine, v))
		whose = "the engine promises no credit loops and made one (its bug): ";
	snprintf(reason, size, "%s%s", whose, v->witness);
}
