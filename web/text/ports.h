/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/ports.h - what is told of each port, for /metrics/ports.
 */
#ifndef WEB_TEXT_PORTS_H
#define WEB_TEXT_PORTS_H

#include "web/text/hour.h"
#include "web/text/places.h"
#include "web/text/readings.h"
#include "web/text/text.h"

enum ports_set { PORTS_ERRORS, PORTS_LOAD, PORTS_ALL };

struct ports_wanted {
	enum ports_set set;
	const char *group; /* NULL: of all */
	bool as_exporter;  /* the names that infiniband_exporter has; then set says nothing */
};

/* The ports that have been read.  O(ports).  Whether memory was out t->is_lost tells. */
void ports_write(const struct readings *r, const struct places *p, const struct hour *h,
    const struct ports_wanted *wanted, struct text *t);

#endif
