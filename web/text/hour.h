/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/hour.h - how many errors each port has had in the last hour.
 *
 * A series that begins with the first error of a port is of no use to increase() of Prometheus,
 * which knows no value before it; and one for each port and kind from the start would be a million.
 * So the sums of errors that are not 0 are kept, every HOUR_STEP_MS, for an hour.
 */
#ifndef WEB_TEXT_HOUR_H
#define WEB_TEXT_HOUR_H

#include "web/text/readings.h"

#define HOUR_STEP_MS 300000
#define HOUR_STEPS 12

struct hour_sum {
	uint64_t guid, sum;
	uint8_t port, counter;
};

struct hour {
	struct {
		int64_t at_ms;
		FM_VEC(struct hour_sum) sums; /* by GUID, port, counter */
	} past[HOUR_STEPS + 1];		      /* a ring */
	uint64_t n;			      /* that were ever kept; the last is n - 1 */
};

void hour_fini(struct hour *h);
/* When the next one is due, of a clock that only rises; the first is at once. */
int64_t hour_due_ms(const struct hour *h);
/* Keep those of now.  False: memory is out, and nothing is kept any more. */
bool hour_keep(struct hour *h, const struct readings *r, int64_t now_ms);
/* Of a port, what has been added since the oldest that is kept, an hour at most; before the first
 * is kept: 0. */
uint64_t hour_errors(
    const struct hour *h, uint64_t guid, uint8_t port, enum counter c, uint64_t sum);

#endif
