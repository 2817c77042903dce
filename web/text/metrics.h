/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/metrics.h - what is told of the fabric as a whole, for /metrics: 500 series at most.
 *
 * What fmd has not told is left out: a series that is not there says that nobody knows, a 0 would
 * say that all is well.
 */
#ifndef WEB_TEXT_METRICS_H
#define WEB_TEXT_METRICS_H

#include <jansson.h>

#include "web/text/levels.h"
#include "web/text/readings.h"
#include "web/text/text.h"

/* All borrowed; NULL where there is none. */
struct metrics {
	const json_t *status, *dist, *ha, *health; /* answers of fmd (fmctl(8)) */
	const struct readings *readings;	   /* of the file of counters */
	const struct levels *levels;
	int64_t now_ms; /* UTC */
};

void metrics_write(const struct metrics *m, struct text *t);

#endif
