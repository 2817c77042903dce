/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/clock.h - what a clock of the system says, as a number. */
#ifndef FM_LIB_CLOCK_H
#define FM_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ms by CLOCK_MONOTONIC, CLOCK_REALTIME (UTC) or another. */
static inline int64_t
fm_clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
