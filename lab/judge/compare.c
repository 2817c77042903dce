/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sets of tables side by side: switches and end-ports are matched, and rows compared
 * switch by switch in blocks of 64 LIDs, as they are written.
 */
#include <string.h>

#include "core/graph/tables.h"
#include "lab/judge/compare_internal.h"
#include "lib/error.h"

#define N_SLS 16

/* ---------------------------------------------------------------- indexing */

static bool
index_side(struct fm_arena *mem, struct side *s, const struct compare_side *given)
{
	const struct fm_fabric *fab = &given->snap->fab;

	s->snap = given->snap;
	s->fab = fab;
	s->t = given->tables;
	s->top_lid = given->top_lid;
	s->twin_sw = fm_arena_array(mem, fab->n_switches + 1u, fm_sw);
	s->n_both = fm_arena_array(mem, fab->n_switches + 1u, uint32_t);
	s->n_own = fm_arena_array(mem, fab->n_switches + 1u, uint32_t);
	s->twin_end = fm_arena_array(mem, fab->n_ends + 1u, fm_end);
	return s->twin_sw != NULL && s->n_both != NULL && s->n_own != NULL && s->twin_end != NULL;
}

/* The end-port of that GUID at that port of that switch. */
static fm_end
end_at(const struct fm_fabric *fab, fm_sw sw, uint8_t port, uint64_t guid)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_port[e] == port && fab->end_guid[e] == guid)
			return e;
	return FM_NONE;
}

/* Who is who on the other side, seen from this one. */
static void
match(struct side *s, const struct snapshot *other)
{
	const struct fm_fabric *fab = s->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint32_t twin = fm_hash_find(&other->sw_by_guid, fab->sw_guid[sw]);

		s->twin_sw[sw] = twin == FM_HASH_NONE ? FM_NONE : twin;
	}
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw sw = fab->end_sw[e];
		fm_sw twin = sw != FM_NONE ? s->twin_sw[sw] : FM_NONE;

		s->twin_end[e] = twin == FM_NONE
		    ? FM_NONE
		    : end_at(&other->fab, twin, fab->end_port[e], fab->end_guid[e]);
		if (!is_source(fab, e))
			continue;
		if (s->twin_end[e] != FM_NONE)
			s->n_both[sw]++;
		else
			s->n_own[sw]++;
		s->any_own = s->any_own || s->twin_end[e] == FM_NONE;
	}
}

/* ------------------------------------------------------------ what to write */

/* Entries of a block that differ; old NULL: the switch is empty. */
static uint32_t
compare_block(const uint8_t *old, const uint8_t *new, uint64_t *n_cut)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < BLOCK_LIDS; i++) {
		uint8_t was = old != NULL ? old[i] : FM_PORT_NONE;

		n += was != new[i];
		*n_cut += was != new[i] && new[i] == FM_PORT_NONE;
	}
	return n;
}

static void
compare_rows(const struct comparison *c, fm_sw sw)
{
	const struct side *b = &c->before, *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	bool blank = !is_there(b, twin);
	uint64_t blocks = c->out->blocks;

	for (uint32_t lid = 0; lid <= a->top_lid; lid += BLOCK_LIDS) {
		const uint8_t *new = a->t->lft[sw] + lid;
		const uint8_t *old =
		    blank || lid >= b->t->lft_stride ? NULL : b->t->lft[twin] + lid;
		uint32_t n;

		if (old != NULL && memcmp(old, new, BLOCK_LIDS) == 0)
			continue;
		n = compare_block(old, new, &c->out->entries_cut);
		c->out->entries += n;
		c->out->blocks += n > 0 || blank;
	}
	c->out->switches += c->out->blocks > blocks;
	c->out->switch_infos += blank || a->top_lid != b->top_lid;
}

static bool
same_vls(const struct comparison *c, fm_sw sw, uint8_t in, fm_link out)
{
	const struct side *b = &c->before, *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	fm_link was;

	if (!is_there(b, twin))
		return false;
	was = snapshot_link_at(b->snap, twin, a->fab->link_port[out]);
	if (was == FM_NONE)
		return false;
	for (uint8_t sl = 0; sl < N_SLS; sl++)
		if (tables_vl(a->fab, a->t, sw, in, out, sl) !=
		    tables_vl(b->fab, b->t, twin, in, was, sl))
			return false;
	return true;
}

/* Rows of one switch: (in, out) where out is a link, in another link, an end or port 0. */
static void
compare_vls(const struct comparison *c, fm_sw sw)
{
	const struct fm_fabric *fab = c->after.fab;

	for (fm_link out = fab->sw_first_link[sw]; out < fab->sw_first_link[sw + 1]; out++) {
		for (fm_link in = fab->sw_first_link[sw]; in < fab->sw_first_link[sw + 1]; in++)
			c->out->sl2vl += in != out && !same_vls(c, sw, fab->link_port[in], out);
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
			c->out->sl2vl += !same_vls(c, sw, fab->end_port[e], out);
	}
}

static void
compare_switches(const struct comparison *c)
{
	const struct fm_tables *x = c->before.t, *y = c->after.t;
	bool vls = x->n_vls_used > 1 || y->n_vls_used > 1;

	for (fm_sw sw = 0; sw < c->after.fab->n_switches; sw++) {
		if (!is_there(&c->after, sw))
			continue;
		compare_rows(c, sw);
		if (vls && x != y)
			compare_vls(c, sw);
	}
	c->out->smps = c->out->blocks + c->out->switch_infos + c->out->sl2vl;
}

/* -------------------------------------------------------------------- all of it */

int
compare_tables(const struct compare_side *before, const struct compare_side *after,
    uint32_t max_pairs, struct fm_pool *workers, struct compare_report *out, struct fm_error *err)
{
	struct comparison c = { .snap_after = after->snap, .max_pairs = max_pairs, .out = out };
	bool ok;

	*out = (struct compare_report){ 0 };
	fm_arena_init(&c.mem, SIZE_MAX);
	ok = index_side(&c.mem, &c.before, before) && index_side(&c.mem, &c.after, after);
	if (ok) {
		match(&c.before, after->snap);
		match(&c.after, before->snap);
		compare_switches(&c);
		ok = compare_pairs(&c, workers);
	}
	fm_arena_fini(&c.mem);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while comparing tables");
}

void
compare_fini(struct compare_report *r)
{
	fm_vec_fini(&r->pairs);
	fm_vec_fini(&r->gone);
}
