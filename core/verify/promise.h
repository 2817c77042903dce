/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/promise.h - engines that promise no credit loops, and tables with one.
 *
 * What stands in the way may be no bug: routes that are free of credit loops one way, as
 * options have asked for (paired = no), where replies go under the SL of the request.
 */
#ifndef CORE_VERIFY_PROMISE_H
#define CORE_VERIFY_PROMISE_H

#include <stddef.h>

#include "core/verify/verify.h"
#include "fmd/engine.h"

/* Does the verdict say that the engine has not kept its promise? */
bool promise_is_broken(const struct fm_engine *engine, const struct verdict *v);
/* Why tables of this verdict may not be used, as a sentence.  one_way: the verdict on them
 * without replies, where the promise is broken and that is another question; else v. */
void promise_explain(const struct fm_engine *engine, const struct verdict *v,
    const struct verdict *one_way, char *reason, size_t size);

#endif
