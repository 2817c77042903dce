/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/lasting.h - news that last: when is all that an event told of over?
 *
 * What was lost is over when it is there again, what flaps when it is still, what is slow, or has
 * come so, when it has its full width and speed, or no link.  That is read off the picture of now,
 * part by part, so that nothing has to be counted.  Parts: as many as nodes and cables were told of
 * and are not over yet.
 */
#ifndef CORE_INVENTORY_LASTING_H
#define CORE_INVENTORY_LASTING_H

#include "core/inventory/news.h"

enum lasting_how { LASTS_NOT, LASTS_LOST, LASTS_FLAPPING, LASTS_SLOW };

struct lasting_part {
	uint64_t event;
	enum news_kind kind;
	enum lasting_how how;
	bool is_node; /* cable.slot is it */
	struct news_cable cable;
};

struct lasting {
	FM_VEC(struct lasting_part) parts; /* by event */
};

/* An event has told of an item, later than those before.  Nothing where it does not last.
 * False: out of memory, and nothing has changed. */
bool lasting_add(struct lasting *l, uint64_t event, const struct seen *now, const struct news *news,
    const struct news_item *item);
/* What is over by now is forgotten.  over() is told of each event of which nothing is left, with
 * the part that was its last.  O(parts). */
void lasting_follow(struct lasting *l, const struct seen *now,
    void (*over)(void *arg, const struct lasting_part *last), void *arg);
void lasting_forget(struct lasting *l);

#endif
