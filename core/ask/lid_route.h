/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/lid_route.h - SMPs that travel by LID, all the way or in part. */
#ifndef CORE_ASK_LID_ROUTE_H
#define CORE_ASK_LID_ROUTE_H

#include "core/ask/ask.h"

/* Make of a directed route one by LID, or mixed, where that is open. */
void lid_route_choose(struct ask *a, struct smp_route *route);
/* As a sweep begins: ways that are to be tried again, closed ones and those whose trial was not
 * sent. */
void lid_route_reopen(struct sweeper *s);
/* Send one SMP for each way that is untried, if by now there is a switch for it. */
void lid_route_try(struct sweeper *s);
/* An ask that was not all directed has ended.  True: it is to be put again, as it is now. */
bool lid_route_again(struct ask *a, enum txn_status status);
/* Nor was it answered then: nobody is to blame for the way. */
void lid_route_forgive(struct ask *a);

#endif
