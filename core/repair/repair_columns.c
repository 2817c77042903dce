/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables turned round: of a LID the ports of all switches, side by side.  What
 * repair asks is about one LID and many switches, each a row of tens of kilobytes away
 * from the next; here they are a few lines of the cache, which are fetched while the LID
 * before is at hand.
 *
 * They are made for the tables of a state and change as these do (repair_write()).  Whoever
 * has none gathers a column as its LID comes.
 *
 * Time: switches x LIDs bytes once, in the background.  Memory: as much.
 */
#include <stdlib.h>

#include "core/repair/repair_entry.h"
#include "lib/pages.h"

#define LINE_BYTES 64u
#define AHEAD 8u /* rows between being asked for and being read */

struct turning {
	const struct fm_tables *t;
	const struct repair_columns *to;
	uint32_t n_switches;
};

void
repair_columns_free(struct repair_columns *c)
{
	if (c == NULL)
		return;
	fm_pages_unmap(c->at, c->n_bytes);
	free(c);
}

/* A line of LIDs of some switches: each line of a column is written while it is near. */
static void
turn_tile(const struct turning *job, uint32_t lid, uint32_t n_lids, fm_sw from, fm_sw to)
{
	uint8_t *column = job->to->at + lid * job->to->stride;

	for (fm_sw sw = from; sw < to; sw++) {
		const uint8_t *row = job->t->lft[sw] + lid;

		if (sw + AHEAD < job->n_switches)
			__builtin_prefetch(job->t->lft[sw + AHEAD] + lid);
		for (uint32_t i = 0; i < n_lids; i++)
			column[i * job->to->stride + sw] = row[i];
	}
}

static void
turn_lids(void *arg, uint32_t block, unsigned worker)
{
	const struct turning *job = arg;
	uint32_t lid = block * LINE_BYTES, left = job->to->n - lid;

	for (fm_sw sw = 0; sw < job->n_switches; sw += LINE_BYTES)
		turn_tile(job, lid, left < LINE_BYTES ? left : LINE_BYTES, sw,
		    sw + LINE_BYTES < job->n_switches ? sw + LINE_BYTES : job->n_switches);
}

struct repair_columns *
repair_columns_make(const struct fm_fabric *fab, const struct fm_tables *t, struct fm_pool *workers)
{
	struct repair_columns *c = calloc(1, sizeof(*c));
	struct turning job = { .t = t, .to = c, .n_switches = fab->n_switches };

	if (c == NULL)
		return NULL;
	c->n = fab->max_lid + 1u;
	c->stride = (fab->n_switches + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
	c->n_bytes = c->n * c->stride;
	c->at = fm_pages_map(c->n_bytes);
	if (c->at == NULL) {
		free(c);
		return NULL;
	}
	fm_pool_for(workers, (c->n + LINE_BYTES - 1) / LINE_BYTES, turn_lids, &job);
	return c;
}

void
repair_take_column(struct repair *p)
{
	const struct repair_columns *c = p->st->columns;

	if (c != NULL && p->lid < c->n) {
		p->column = c->at + p->lid * c->stride;
		return;
	}
	p->column = p->own_column;
	for (fm_sw sw = 0; sw < p->g->n_switches; sw++)
		p->column[sw] = p->t->lft[sw][p->lid];
}

void
repair_fetch_column(const struct repair *p, uint32_t lid)
{
	const struct repair_columns *c = p->st->columns;

	for (size_t i = 0; c != NULL && lid < c->n && i < c->stride; i += LINE_BYTES)
		__builtin_prefetch(c->at + lid * c->stride + i);
}
