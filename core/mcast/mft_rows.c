/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mcast/mft_rows.h"

#include <stdlib.h>
#include <string.h>

static int
order_in_switch(const struct mft_block *a, const struct mft_block *b)
{
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

int
mft_block_order(const void *a, const void *b)
{
	const struct mft_block *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return order_in_switch(x, y);
}

static bool
is_empty(const struct mft_block *b)
{
	static const uint16_t none[MCAST_BLOCK_MLIDS];

	return memcmp(b->ports, none, sizeof(none)) == 0;
}

/* ---------------------------------------------------------------- references */

static struct mft_row *
row_get(struct mft_row *row)
{
	if (row != NULL)
		atomic_fetch_add(&row->refs, 1);
	return row;
}

static void
row_put(struct mft_row *row)
{
	if (row != NULL && atomic_fetch_sub(&row->refs, 1) == 1)
		free(row);
}

struct mft_rows *
mft_rows_get(struct mft_rows *r)
{
	if (r != NULL)
		atomic_fetch_add(&r->refs, 1);
	return r;
}

void
mft_rows_put(struct mft_rows *r)
{
	if (r == NULL || atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	for (uint32_t i = 0; i < r->n_switches; i++)
		row_put(r->row[i]);
	free(r);
}

/* ------------------------------------------------------------------- updating */

/* Two ascending lists as one; of equals the fresh one. */
static bool
merge(const struct mft_row *old, const struct mft_block *fresh, size_t n, struct mft_row **out)
{
	uint32_t n_old = old != NULL ? old->n : 0;
	struct mft_row *row = malloc(sizeof(*row) + (n_old + n) * sizeof(row->block[0]));
	uint32_t i = 0;
	size_t k = 0;

	if (row == NULL)
		return false;
	atomic_init(&row->refs, 1);
	row->n = 0;
	while (i < n_old || k < n) {
		int order = i == n_old ? 1
		    : k == n	       ? -1
				       : order_in_switch(&old->block[i], &fresh[k]);

		i += order == 0; /* what it held there is no more */
		if (order < 0)
			row->block[row->n++] = old->block[i++];
		else if (!is_empty(&fresh[k++]))
			row->block[row->n++] = fresh[k - 1];
	}
	if (row->n == 0) {
		free(row);
		row = NULL;
	}
	*out = row;
	return true;
}

struct mft_rows *
mft_rows_update(const struct mft_rows *prev, const struct mft_block *changed, size_t n_changed)
{
	uint32_t n_old = prev != NULL ? prev->n_switches : 0, n = n_old;
	struct mft_rows *r;
	bool ok = true;

	if (n_changed > 0 && changed[n_changed - 1].sw >= n)
		n = changed[n_changed - 1].sw + 1;
	r = malloc(sizeof(*r) + n * sizeof(struct mft_row *));
	if (r == NULL)
		return NULL;
	atomic_init(&r->refs, 1);
	r->n_switches = n;
	for (uint32_t sw = 0; sw < n; sw++) {
		struct mft_row *old = sw < n_old ? prev->row[sw] : NULL;
		size_t k = 0;

		while (k < n_changed && changed[k].sw == sw)
			k++;
		r->row[sw] = NULL;
		if (k == 0)
			r->row[sw] = row_get(old);
		else
			ok = ok && merge(old, changed, k, &r->row[sw]);
		changed += k;
		n_changed -= k;
	}
	if (ok)
		return r;
	mft_rows_put(r);
	return NULL;
}

/* -------------------------------------------------------------------- asking */

const struct mft_block *
mft_rows_find(const struct mft_rows *r, fm_sw sw, uint32_t block, uint32_t position)
{
	struct mft_block want = { .sw = sw, .block = block, .position = position };
	const struct mft_row *row = r != NULL && sw < r->n_switches ? r->row[sw] : NULL;

	if (row == NULL)
		return NULL;
	return bsearch(&want, row->block, row->n, sizeof(want), mft_block_order);
}

uint32_t
mft_rows_n_blocks(const struct mft_rows *r, fm_sw sw)
{
	const struct mft_row *row = r != NULL && sw < r->n_switches ? r->row[sw] : NULL;

	return row != NULL ? row->block[row->n - 1].block + 1 : 0;
}
