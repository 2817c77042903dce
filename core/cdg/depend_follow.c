/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packets depend on where VLs go by SLs: every (source switch, LID) is followed
 * until a packet of the same VL has gone on from there before; all workers set bits of
 * the same rows.  And one LID likewise, by inserting.
 *
 * Time: one look-up per (switch, LID), or nearly.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cdg/depend.h"
#include "core/graph/tables.h"
#include "lib/bitset.h"

/* ----------------------------------------------------------------- all LIDs */

static uint16_t
vl_bit(const struct depend *g, uint8_t sl)
{
	return (uint16_t)(1u << (sl % g->n_vls));
}

/* What comes back from sw to requests of `to`, and 0 in *sends when nobody there sends. */
static uint16_t
reply_vls(const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t, fm_sw sw,
    fm_sw to, uint16_t *sends)
{
	bool replies = t->sl_shape != FM_SL_ZERO && g->sl_model == VERIFY_BOTH;
	const uint8_t *row = replies ? t->sl[t->sl_shape == FM_SL_BY_DLID ? 0 : to] : NULL;
	uint16_t vls = 0;

	*sends = 0;
	for (fm_end e = ends->sw_first_end[sw]; e < ends->sw_first_end[sw + 1]; e++) {
		if (ends->end_kind[e] == FM_END_SWITCH)
			continue;
		*sends = UINT16_MAX;
		for (uint32_t i = 0; replies && ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e];
		     i++)
			vls |= vl_bit(g, row[ends->end_lid[e] + i]);
	}
	return vls;
}

uint16_t
depend_own_vls(const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    fm_sw sw, uint16_t lid, fm_sw to)
{
	uint16_t sends, replies = reply_vls(g, ends, t, sw, to, &sends);

	return replies | (vl_bit(g, tables_sl(t, sw, lid)) & sends);
}

struct follow {
	struct depend *g;
	const struct fm_fabric *ends;
	const struct fm_tables *t;
	const uint64_t *lost;
	uint16_t *seen; /* [n_workers][n_switches] VLs that have gone on from here to this LID */
	/* [n_workers][n_switches], of what starts here for this switch: VLs of
	 * replies; all ones where somebody sends */
	uint16_t *replies, *sends;
};

static void
set_next(struct depend *g, uint32_t in, uint32_t out, unsigned vl)
{
	uint32_t bit = (out - g->first[g->at[out]]) * g->n_vls + vl;
	uint64_t *word = g->next + ((size_t)in * g->n_vls + vl) * g->words + bit / 64;
	uint64_t mask = (uint64_t)1 << (bit % 64);

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
		__atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

/* From sw to lid: note each step, as long as it is news. */
static void
follow_one(const struct follow *f, uint16_t *seen, fm_sw sw, uint32_t lid, unsigned vl)
{
	struct depend *g = f->g;
	uint32_t in = FM_NONE, out;

	for (;;) {
		out = depend_channel(g, sw, f->t->lft[sw][lid]);
		if (out == FM_NONE || g->back[out] == FM_NONE)
			return;
		if (in != FM_NONE)
			set_next(g, in, out, vl);
		if (f->lost != NULL && fm_bit_test(f->lost, out))
			return;
		if (seen[sw] >> vl & 1)
			return;
		seen[sw] |= (uint16_t)(1u << vl);
		in = out;
		sw = g->to[out];
	}
}

static void
follow_vls(const struct follow *f, uint16_t *seen, fm_sw sw, uint32_t lid, uint16_t vls)
{
	for (unsigned vl = 0; vls >> vl != 0; vl++)
		if (vls >> vl & 1)
			follow_one(f, seen, sw, lid, vl);
}

/* Everything to the LIDs on switch `to`. */
static void
follow_all(void *arg, uint32_t to, unsigned worker)
{
	const struct follow *f = arg;
	const struct fm_fabric *ends = f->ends;
	uint32_t n = f->g->n_switches;
	size_t at = (size_t)worker * n;
	uint16_t *seen = f->seen + at, *replies = f->replies + at, *sends = f->sends + at;

	for (fm_sw sw = 0; sw < n && ends->sw_first_end[to] < ends->sw_first_end[to + 1]; sw++)
		replies[sw] = reply_vls(f->g, ends, f->t, sw, to, &sends[sw]);
	for (fm_end e = ends->sw_first_end[to]; e < ends->sw_first_end[to + 1]; e++)
		for (uint32_t i = 0; ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e]; i++) {
			uint32_t lid = ends->end_lid[e] + i;

			memset(seen, 0, n * sizeof(*seen));
			for (fm_sw sw = 0; sw < n; sw++)
				if (sw != to && sends[sw] != 0)
					follow_vls(f, seen, sw, lid,
					    replies[sw] |
						vl_bit(f->g, tables_sl(f->t, sw, (uint16_t)lid)));
		}
}

bool
depend_follow(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	size_t n = (size_t)fm_pool_size(workers) * g->n_switches + 1;
	struct follow f = { .g = g,
		.ends = ends,
		.t = t,
		.lost = lost,
		.seen = malloc(n * sizeof(*f.seen)),
		.replies = malloc(n * sizeof(*f.replies)),
		.sends = malloc(n * sizeof(*f.sends)) };
	bool ok = f.seen != NULL && f.replies != NULL && f.sends != NULL;

	if (ok)
		fm_pool_for(workers, g->n_switches, follow_all, &f);
	free(f.seen);
	free(f.replies);
	free(f.sends);
	return ok;
}

/* ----------------------------------------------------------------- one LID */

static enum depend_result
insert_way(struct depend *g, const struct fm_tables *t, const uint64_t *lost, uint16_t *seen,
    fm_sw sw, uint16_t lid, unsigned vl)
{
	uint32_t in = FM_NONE, out;
	enum depend_result rc;

	for (;;) {
		out = depend_channel(g, sw, t->lft[sw][lid]);
		if (out == FM_NONE || g->back[out] == FM_NONE || fm_bit_test(lost, out))
			return DEPEND_HELD;
		rc = in != FM_NONE ? depend_insert(g, in, out, vl) : DEPEND_HELD;
		if (rc >= DEPEND_CYCLE || (seen != NULL && seen[sw] >> vl & 1))
			return rc;
		if (seen != NULL)
			seen[sw] |= (uint16_t)(1u << vl);
		in = out;
		sw = g->to[out];
	}
}

enum depend_result
depend_insert_lid(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, fm_sw from, uint16_t lid, uint16_t *seen)
{
	fm_sw to = ends->end_sw[ends->lid_end[lid]], end = from + 1;
	enum depend_result rc = DEPEND_HELD;

	if (from == FM_NONE) {
		from = 0;
		end = g->n_switches;
		memset(seen, 0, g->n_switches * sizeof(*seen));
	} else {
		seen = NULL; /* one way only */
	}
	for (fm_sw sw = from; rc < DEPEND_CYCLE && sw < end; sw++) {
		uint16_t vls = sw != to ? depend_own_vls(g, ends, t, sw, lid, to) : 0;

		for (unsigned vl = 0; rc < DEPEND_CYCLE && vls >> vl != 0; vl++)
			if (vls >> vl & 1)
				rc = insert_way(g, t, lost, seen, sw, lid, vl);
	}
	return rc;
}
