/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Block by block: the entries of 64 LIDs are gathered from all switches, so that
 * a tree is walked within the cache; from each switch with ends the way is
 * followed until a class is known, and handed back along it.  Every (switch,
 * LID) is stepped over once at most: amortised O(1).
 */
#include "core/view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bitset.h"
#include "lib/error.h"

#define UNKNOWN 255
#define MOST_CLASSES 254 /* 0 is no path, 255 not known yet */

struct rows_block {
	atomic_uint refs;
	uint64_t n_loops;
	uint8_t cls[][ROWS_BLOCK_LIDS]; /* [n_leaves] */
};

/* What is behind a port: the switch and the attribute of the link, in one word so
 * that all of them stay in the cache. */
#define HOP_NONE UINT32_MAX
#define HOP_ATTR_BITS 8
#define HOP_TO(h) ((h) >> HOP_ATTR_BITS)
#define HOP_ATTR(h) ((h)&0xff)

/* Of one worker: the block in hand. */
struct desk {
	uint8_t (*lft)[ROWS_BLOCK_LIDS]; /* [n_switches] */
	uint8_t (*cls)[ROWS_BLOCK_LIDS]; /* [n_switches] */
	fm_sw *way;			 /* [n_switches] switches passed */
	fm_end owner[ROWS_BLOCK_LIDS];
};

struct builder {
	const struct rows_request *q;
	struct rows *rows;
	uint32_t *hop;		/* [n_switches][n_ports] */
	uint32_t n_ports;	/* a power of 2 */
	fm_sw *leaves;		/* [n_leaves] */
	struct desk *desks;	/* [workers] */
	uint32_t *todo, n_todo; /* blocks */
};

/* ----------------------------------------------------------------- classes */

static int
by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint32_t
sort_unique(uint32_t *values, uint32_t n)
{
	uint32_t kept = 0;

	qsort(values, n, sizeof(*values), by_value);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || values[i] != values[kept - 1])
			values[kept++] = values[i];
	return kept;
}

/* Class 1 + m * n_rates + r: the m-th MTU and the r-th rate, both ascending. */
static int
make_classes(const struct rows_request *q, struct rows *rows, struct fm_error *err)
{
	uint32_t mtu[ROWS_MOST_ATTRS], mbps[ROWS_MOST_ATTRS], n_mtus, n_rates;

	if (q->n_attrs > ROWS_MOST_ATTRS)
		return fm_fail(err, FM_E_RESOURCE, "links of %u kinds, %u are possible", q->n_attrs,
		    ROWS_MOST_ATTRS);
	for (uint32_t i = 0; i < q->n_attrs; i++) {
		mtu[i] = q->attrs[i].mtu;
		mbps[i] = q->attrs[i].mbps;
	}
	n_mtus = sort_unique(mtu, q->n_attrs);
	n_rates = sort_unique(mbps, q->n_attrs);
	if (n_mtus * n_rates > MOST_CLASSES)
		return fm_fail(err, FM_E_RESOURCE,
		    "paths of %u MTUs times %u rates, %u are possible", n_mtus, n_rates,
		    MOST_CLASSES);
	rows->n_classes = 1 + n_mtus * n_rates;
	for (uint32_t c = 1; c < rows->n_classes; c++)
		rows->attr[c] = (struct path_attr){ .mtu = (uint8_t)mtu[(c - 1) / n_rates],
			.mbps = mbps[(c - 1) % n_rates] };
	for (uint32_t a = 0; a < q->n_attrs; a++)
		for (uint32_t c = 1; c < rows->n_classes; c++) {
			uint32_t m = (c - 1) / n_rates, r = (c - 1) % n_rates;

			while (mtu[m] > q->attrs[a].mtu)
				m--;
			while (mbps[r] > q->attrs[a].mbps)
				r--;
			rows->join[a][c] = (uint8_t)(1 + m * n_rates + r);
		}
	return 0;
}

/* The class of a path that is nothing yet: the best there is. */
static uint8_t
best_class(const struct rows *rows)
{
	return (uint8_t)(rows->n_classes - 1);
}

/* ------------------------------------------------------------------- a tree */

/* Where the way ends: at the port of lid, or at nothing. */
static uint8_t
at_last(const struct builder *b, fm_sw sw, uint8_t port, fm_end owner)
{
	const struct fm_fabric *fab = b->q->fab;

	if (sw != fab->end_sw[owner] || port != fab->end_port[owner])
		return ROWS_NO_PATH;
	return b->rows->join[b->q->end_attr[owner]][best_class(b->rows)];
}

static inline uint32_t
hop_at(const struct builder *b, fm_sw sw, uint8_t port)
{
	return port < b->n_ports ? b->hop[(size_t)sw * b->n_ports + port] : HOP_NONE;
}

/* The class from sw on to LID k of the block, and of all switches on the way. */
static void
follow_lid(const struct builder *b, struct desk *d, fm_sw sw, uint32_t k, uint64_t *n_loops)
{
	uint32_t n = 0, hop;
	uint8_t c;

	while ((hop = hop_at(b, sw, d->lft[sw][k])) != HOP_NONE) {
		d->way[n++] = sw;
		sw = HOP_TO(hop);
		if (d->cls[sw][k] != UNKNOWN)
			break;
		if (n == b->q->fab->n_switches) {
			++*n_loops;
			d->cls[sw][k] = ROWS_NO_PATH;
			break;
		}
	}
	if (hop == HOP_NONE)
		d->cls[sw][k] = at_last(b, sw, d->lft[sw][k], d->owner[k]);
	for (c = d->cls[sw][k]; n-- > 0; d->cls[sw][k] = c) {
		sw = d->way[n];
		c = b->rows->join[HOP_ATTR(hop_at(b, sw, d->lft[sw][k]))][c];
	}
}

/* The entries of block `at` of all switches; nothing known yet but that LIDs of
 * nobody have no path. */
static void
gather(const struct builder *b, struct desk *d, uint32_t at)
{
	const struct fm_fabric *fab = b->q->fab;
	uint8_t known[ROWS_BLOCK_LIDS];

	for (uint32_t k = 0; k < ROWS_BLOCK_LIDS; k++) {
		uint32_t lid = at * ROWS_BLOCK_LIDS + k;

		d->owner[k] = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
		if (d->owner[k] != FM_NONE && fab->end_sw[d->owner[k]] == FM_NONE)
			d->owner[k] = FM_NONE;
		known[k] = d->owner[k] == FM_NONE ? ROWS_NO_PATH : UNKNOWN;
	}
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		memcpy(d->lft[sw], b->q->tables->lft[sw] + (size_t)at * ROWS_BLOCK_LIDS,
		    ROWS_BLOCK_LIDS);
		memcpy(d->cls[sw], known, ROWS_BLOCK_LIDS);
	}
}

static void
build_block(void *arg, uint32_t i, unsigned worker)
{
	struct builder *b = arg;
	struct desk *d = &b->desks[worker];
	struct rows_block *block = b->rows->block[b->todo[i]];

	gather(b, d, b->todo[i]);
	for (uint32_t leaf = 0; leaf < b->rows->n_leaves; leaf++) {
		fm_sw sw = b->leaves[leaf];

		for (uint32_t k = 0; k < ROWS_BLOCK_LIDS; k++)
			if (d->cls[sw][k] == UNKNOWN)
				follow_lid(b, d, sw, k, &block->n_loops);
		memcpy(block->cls[leaf], d->cls[sw], ROWS_BLOCK_LIDS);
	}
}

/* ---------------------------------------------------------------- preparing */

static void
fill_hops(const struct builder *b)
{
	const struct fm_fabric *fab = b->q->fab;

	memset(b->hop, 0xff, (size_t)fab->n_switches * b->n_ports * sizeof(*b->hop));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			b->hop[(size_t)sw * b->n_ports + fab->link_port[l]] =
			    fab->link_to[l] << HOP_ATTR_BITS | b->q->link_attr[l];
}

/* Does anything but the switch itself hang off it? */
static bool
is_leaf(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_port[e] != 0)
			return true;
	return false;
}

static uint32_t
find_leaves(const struct fm_fabric *fab, uint32_t *leaf, fm_sw *leaves)
{
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		leaf[sw] = FM_NONE;
		if (!is_leaf(fab, sw))
			continue;
		leaves[n] = sw;
		leaf[sw] = n++;
	}
	return n;
}

/* The blocks: those of before where nothing changed, else room for new ones. */
static bool
take_blocks(struct builder *b)
{
	const struct rows *prev = b->q->prev;
	struct rows *rows = b->rows;
	size_t bytes = sizeof(struct rows_block) + (size_t)rows->n_leaves * ROWS_BLOCK_LIDS;

	for (uint32_t i = 0; i < rows->n_blocks; i++) {
		if (prev != NULL && i < prev->n_blocks && !fm_bit(b->q->dirty, i)) {
			rows->block[i] = prev->block[i];
			atomic_fetch_add(&rows->block[i]->refs, 1);
			continue;
		}
		rows->block[i] = malloc(bytes);
		if (rows->block[i] == NULL)
			return false;
		atomic_init(&rows->block[i]->refs, 1);
		rows->block[i]->n_loops = 0;
		b->todo[b->n_todo++] = i;
	}
	return true;
}

static struct rows *
rows_new(const struct fm_fabric *fab)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	atomic_init(&r->refs, 1);
	r->n_switches = fab->n_switches;
	r->leaf = malloc(((size_t)fab->n_switches + 1) * sizeof(*r->leaf));
	r->join = calloc(ROWS_MOST_ATTRS, sizeof(*r->join));
	r->block = calloc((size_t)fab->max_lid / ROWS_BLOCK_LIDS + 1, sizeof(struct rows_block *));
	if (r->leaf == NULL || r->join == NULL || r->block == NULL) {
		rows_put(r);
		return NULL;
	}
	return r;
}

/* More than any switch has, external ones and port 0; a power of 2. */
static uint32_t
ports_of(const struct fm_fabric *fab)
{
	uint32_t n = 16;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		while (n <= fab->sw_n_ports[sw])
			n *= 2;
	return n;
}

/* Scratch memory of all workers in one piece. */
static void *
take_desks(struct builder *b, unsigned n_workers)
{
	size_t n = b->q->fab->n_switches, per = n * (2 * ROWS_BLOCK_LIDS + sizeof(fm_sw));
	size_t hops = n * b->n_ports * sizeof(*b->hop), desks = n_workers * sizeof(*b->desks);
	size_t n_blocks = (size_t)b->q->fab->max_lid / ROWS_BLOCK_LIDS + 1;
	char *at,
	    *mem = malloc(hops + desks + n_workers * per + (n + n_blocks) * sizeof(uint32_t) +
		ROWS_BLOCK_LIDS);

	if (mem == NULL)
		return NULL;
	b->hop = (void *)mem;
	b->desks = (void *)(mem + hops);
	at = mem + hops + desks;
	for (unsigned w = 0; w < n_workers; w++, at += per)
		b->desks[w] = (struct desk){ .lft = (void *)at,
			.cls = (void *)(at + n * ROWS_BLOCK_LIDS),
			.way = (void *)(at + 2 * n * ROWS_BLOCK_LIDS) };
	b->leaves = (void *)at;
	b->todo = (uint32_t *)(void *)at + n;
	return mem;
}

int
rows_build(
    const struct rows_request *q, struct fm_pool *workers, struct rows **out, struct fm_error *err)
{
	struct builder b = { .q = q, .rows = rows_new(q->fab), .n_ports = ports_of(q->fab) };
	void *mem = b.rows != NULL ? take_desks(&b, fm_pool_size(workers)) : NULL;
	int rc = mem == NULL ? fm_fail(err, FM_E_RESOURCE, "out of memory for paths")
			     : make_classes(q, b.rows, err);

	if (rc == 0) {
		b.rows->n_leaves = find_leaves(q->fab, b.rows->leaf, b.leaves);
		b.rows->n_blocks = q->fab->max_lid / ROWS_BLOCK_LIDS + 1;
		fill_hops(&b);
		if (!take_blocks(&b))
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for paths");
	}
	if (rc == 0) {
		fm_pool_for(workers, b.n_todo, build_block, &b);
		for (uint32_t i = 0; i < b.rows->n_blocks; i++)
			b.rows->n_loops += b.rows->block[i]->n_loops;
		*out = b.rows;
	} else {
		rows_put(b.rows);
	}
	free(mem);
	return rc;
}

struct rows *
rows_get(struct rows *r)
{
	atomic_fetch_add(&r->refs, 1);
	return r;
}

void
rows_put(struct rows *r)
{
	if (r == NULL || atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	for (uint32_t i = 0; r->block != NULL && i < r->n_blocks; i++)
		if (r->block[i] != NULL && atomic_fetch_sub(&r->block[i]->refs, 1) == 1)
			free(r->block[i]);
	free(r->leaf);
	free(r->join);
	free(r->block);
	free(r);
}

uint8_t
rows_class(const struct rows *r, fm_sw sw, uint16_t lid)
{
	uint32_t b = lid / ROWS_BLOCK_LIDS;

	return b < r->n_blocks ? r->block[b]->cls[r->leaf[sw]][lid % ROWS_BLOCK_LIDS]
			       : ROWS_NO_PATH;
}
