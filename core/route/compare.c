/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sets of tables side by side.
 *
 * Rows are compared switch by switch in blocks of 64 LIDs, as they are
 * written.  Pairs are followed LID by LID: what happens to a LID at a switch
 * is the same for all sources behind it, so a walk over the switches tells
 *
 *	arrives[sw]	on each side
 *	same[sw]	the entry is the same, leads to the same switch, and there
 *			it is the same too
 *
 * and every switch counts with the sources it has on both sides, before only
 * and after only.
 */
#include "core/route/compare.h"

#include <string.h>

#include "core/route/tables.h"
#include "lib/error.h"

#define BLOCK_LIDS 64u
#define N_SLS 16

enum way { WAY_UNKNOWN, WAY_OPEN, WAY_LOST, WAY_ARRIVES };

/* One side, indexed. */
struct side {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	uint32_t top_lid;
	uint32_t *port_first; /* [n_switches + 1] into port_link */
	fm_link *port_link;   /* [sum of n_ports + 1] link that leaves there, FM_NONE */
	fm_sw *twin_sw;	      /* [n_switches] the same switch of the other side, FM_NONE */
	fm_end *twin_end;     /* [n_ends] the same end-port on the same switch port */
	uint32_t *n_both;     /* [n_switches] sources that the other side has too */
	uint32_t *n_own;      /* [n_switches] sources that it has not */
};

/* A worker's. */
struct scratch {
	uint8_t *way_before, *way_after; /* [n_switches] enum way */
	uint8_t *same;			 /* [n_switches] of after: enum way, ARRIVES = the same */
	fm_sw *path;			 /* [n_switches] */
	struct compare_report sums;
};

struct comparison {
	struct side before, after;
	const struct snapshot *snap_after;
	struct scratch *scratch; /* [n_workers] */
	uint8_t *has_lost;	 /* [n_blocks] pairs were lost that pairs[] may name */
	uint32_t max_pairs;
	struct compare_report *out;
	struct fm_arena mem;
};

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while comparing tables");
}

/* ---------------------------------------------------------------- indexing */

static bool
is_source(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] != FM_END_SWITCH && fab->end_sw[e] != FM_NONE;
}

static bool
index_side(struct fm_arena *mem, struct side *s, const struct compare_side *given)
{
	const struct fm_fabric *fab = &given->snap->fab;
	uint32_t n_ports = 0;

	s->fab = fab;
	s->t = given->tables;
	s->top_lid = given->top_lid;
	s->port_first = fm_arena_array(mem, fab->n_switches + 1u, uint32_t);
	s->twin_sw = fm_arena_array(mem, fab->n_switches + 1u, fm_sw);
	s->n_both = fm_arena_array(mem, fab->n_switches + 1u, uint32_t);
	s->n_own = fm_arena_array(mem, fab->n_switches + 1u, uint32_t);
	s->twin_end = fm_arena_array(mem, fab->n_ends + 1u, fm_end);
	if (s->port_first == NULL)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		s->port_first[sw] = n_ports;
		n_ports += fab->sw_n_ports[sw] + 1u;
	}
	s->port_first[fab->n_switches] = n_ports;
	s->port_link = fm_arena_array(mem, n_ports + 1u, fm_link);
	if (s->twin_sw == NULL || s->n_both == NULL || s->n_own == NULL || s->twin_end == NULL ||
	    s->port_link == NULL)
		return false;
	memset(s->port_link, 0xff, n_ports * sizeof(*s->port_link));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			s->port_link[s->port_first[sw] + fab->link_port[l]] = l;
	return true;
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
	}
}

static uint8_t
port_of(const struct side *s, fm_sw sw, uint32_t lid)
{
	return lid < s->t->lft_stride ? s->t->lft[sw][lid] : FM_PORT_NONE;
}

static fm_link
link_at(const struct side *s, fm_sw sw, uint8_t port)
{
	return port <= s->fab->sw_n_ports[sw] ? s->port_link[s->port_first[sw] + port] : FM_NONE;
}

/* A switch that has left keeps its number, without links and ends. */
static bool
is_there(const struct side *s, fm_sw sw)
{
	const struct fm_fabric *fab = s->fab;

	return sw != FM_NONE &&
	    (fab->sw_first_link[sw] < fab->sw_first_link[sw + 1] ||
		fab->sw_first_end[sw] < fab->sw_first_end[sw + 1]);
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
	was = link_at(b, twin, a->fab->link_port[out]);
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

/* ---------------------------------------------------------------- the pairs */

/* Follow the LID from sw to its end or to a switch that knows; all on the way
 * know then. */
static enum way
follow(const struct side *s, uint8_t *way, fm_sw *path, fm_sw sw, uint32_t lid)
{
	fm_end owner = lid <= s->fab->max_lid ? s->fab->lid_end[lid] : FM_NONE;
	uint32_t n = 0;
	uint8_t found;

	for (;;) {
		uint8_t port = port_of(s, sw, lid);
		fm_link l;

		found = way[sw];
		if (found != WAY_UNKNOWN)
			break;
		path[n++] = sw;
		way[sw] = WAY_OPEN;
		if (owner != FM_NONE && s->fab->end_sw[owner] == sw &&
		    s->fab->end_port[owner] == port) {
			found = WAY_ARRIVES;
			break;
		}
		l = link_at(s, sw, port);
		if (l == FM_NONE) {
			found = WAY_LOST;
			break;
		}
		sw = s->fab->link_to[l];
	}
	if (found == WAY_OPEN)
		found = WAY_LOST; /* a loop */
	while (n > 0)
		way[path[--n]] = found;
	return (enum way)found;
}

/* Is the step from this switch (of after) the same as before, as far as it goes?
 * *next: the switch after, FM_NONE where the packet leaves. */
static bool
same_step(const struct comparison *c, fm_sw sw, uint32_t lid, fm_sw *next)
{
	const struct side *b = &c->before, *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	uint8_t port = port_of(a, sw, lid);
	fm_link l = link_at(a, sw, port), was;

	*next = l == FM_NONE ? FM_NONE : a->fab->link_to[l];
	if (twin == FM_NONE || port_of(b, twin, lid) != port)
		return false;
	was = link_at(b, twin, port);
	if (l == FM_NONE || was == FM_NONE)
		return l == was;
	return b->twin_sw[b->fab->link_to[was]] == *next;
}

/* The same for a whole path that arrives on both sides. */
static bool
same_path(const struct comparison *c, struct scratch *x, fm_sw sw, uint32_t lid)
{
	uint8_t found = WAY_ARRIVES;
	uint32_t n = 0;

	while (sw != FM_NONE) {
		fm_sw next;

		if (x->same[sw] != WAY_UNKNOWN) {
			found = x->same[sw];
			break;
		}
		x->path[n++] = sw;
		if (!same_step(c, sw, lid, &next)) {
			found = WAY_LOST;
			break;
		}
		sw = next;
	}
	while (n > 0)
		x->same[x->path[--n]] = found;
	return found == WAY_ARRIVES;
}

/* n pairs that had a way and have none, with both ends still there. */
static void
count_lost(const struct comparison *c, struct scratch *x, fm_sw from, fm_end to, uint64_t n)
{
	const uint32_t *component = c->snap_after->sw_component;

	x->sums.lost += n;
	if (component[from] != component[c->after.fab->end_sw[to]])
		x->sums.lost_apart += n;
	else
		x->sums.lost_unrouted += n;
}

/* Sources of switch sw (of after) that both sides have, to a LID that both have. */
static void
count_pairs(const struct comparison *c, struct scratch *x, fm_sw sw, uint32_t lid, fm_end to)
{
	const struct side *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	uint64_t n = a->n_both[sw];
	bool was, is;

	if (is_source(a->fab, to) && a->fab->end_sw[to] == sw)
		n--;
	if (n == 0)
		return;
	was = follow(&c->before, x->way_before, x->path, twin, lid) == WAY_ARRIVES;
	is = follow(a, x->way_after, x->path, sw, lid) == WAY_ARRIVES;
	if (was && is) {
		if (same_path(c, x, sw, lid))
			x->sums.kept += n;
		else
			x->sums.moved += n;
		if (tables_sl(c->before.t, twin, (uint16_t)lid) !=
		    tables_sl(a->t, sw, (uint16_t)lid))
			x->sums.sl_changed += n;
	} else if (was) {
		count_lost(c, x, sw, to, n);
		c->has_lost[lid / BLOCK_LIDS] = 1;
	} else if (is) {
		x->sums.gained += n;
	}
}

/* Pairs to a LID that only one side has, or from sources that only it has. */
static uint64_t
count_one_sided(const struct side *s, struct scratch *x, uint8_t *way, uint32_t lid, bool both_have)
{
	fm_end to = lid <= s->fab->max_lid ? s->fab->lid_end[lid] : FM_NONE;
	uint64_t sum = 0;

	if (to == FM_NONE || s->fab->end_sw[to] == FM_NONE)
		return 0;
	for (fm_sw sw = 0; sw < s->fab->n_switches; sw++) {
		uint64_t n = s->n_own[sw] + (both_have ? 0 : s->n_both[sw]);

		if (s->fab->end_sw[to] == sw && is_source(s->fab, to) && !both_have)
			n--;
		if (n > 0 && follow(s, way, x->path, sw, lid) == WAY_ARRIVES)
			sum += n;
	}
	return sum;
}

static bool
both_have(const struct comparison *c, uint32_t lid, fm_end *to)
{
	const struct fm_fabric *b = c->before.fab, *a = c->after.fab;

	*to = lid <= a->max_lid ? a->lid_end[lid] : FM_NONE;
	return *to != FM_NONE && lid <= b->max_lid && b->lid_end[lid] != FM_NONE &&
	    a->end_sw[*to] != FM_NONE && c->after.twin_end[*to] == b->lid_end[lid];
}

static void
compare_lid(const struct comparison *c, struct scratch *x, uint32_t lid)
{
	const struct fm_fabric *a = c->after.fab;
	uint64_t gone;
	fm_end to;
	bool both = both_have(c, lid, &to);

	memset(x->way_before, WAY_UNKNOWN, c->before.fab->n_switches);
	memset(x->way_after, WAY_UNKNOWN, a->n_switches);
	memset(x->same, WAY_UNKNOWN, a->n_switches);
	for (fm_sw sw = 0; both && sw < a->n_switches; sw++)
		if (c->after.n_both[sw] > 0)
			count_pairs(c, x, sw, lid, to);
	gone = count_one_sided(&c->before, x, x->way_before, lid, both);
	x->sums.lost += gone;
	x->sums.lost_gone += gone;
	x->sums.gained += count_one_sided(&c->after, x, x->way_after, lid, both);
}

static void
compare_lids(void *arg, uint32_t block, unsigned worker)
{
	const struct comparison *c = arg;
	uint32_t most = c->before.fab->max_lid > c->after.fab->max_lid ? c->before.fab->max_lid
								       : c->after.fab->max_lid;

	for (uint32_t i = 0; i < BLOCK_LIDS; i++) {
		uint32_t lid = block * BLOCK_LIDS + i;

		if (lid > 0 && lid <= most)
			compare_lid(c, &c->scratch[worker], lid);
	}
}

/* -------------------------------------------------------------- by their names */

/* Lost pairs to one LID. */
static bool
name_pairs(struct comparison *c, uint32_t lid)
{
	const struct fm_fabric *a = c->after.fab;
	struct scratch *x = &c->scratch[0];
	fm_end to;

	if (!both_have(c, lid, &to))
		return true;
	memset(x->way_before, WAY_UNKNOWN, c->before.fab->n_switches);
	memset(x->way_after, WAY_UNKNOWN, a->n_switches);
	for (fm_end e = 0; e < a->n_ends && c->out->pairs.n < c->max_pairs; e++) {
		struct compare_pair p = { c->after.twin_end[e], c->after.twin_end[to],
			(uint16_t)lid };
		fm_sw sw = a->end_sw[e];

		if (!is_source(a, e) || p.from == FM_NONE || e == to ||
		    follow(&c->before, x->way_before, x->path, c->after.twin_sw[sw], lid) !=
			WAY_ARRIVES ||
		    follow(&c->after, x->way_after, x->path, sw, lid) == WAY_ARRIVES)
			continue;
		if (!fm_vec_push(&c->out->pairs, p))
			return false;
	}
	return true;
}

static bool
name_lost(struct comparison *c, uint32_t n_blocks)
{
	const struct fm_fabric *b = c->before.fab;

	for (uint32_t lid = 1; lid < n_blocks * BLOCK_LIDS && c->out->pairs.n < c->max_pairs; lid++)
		if (c->has_lost[lid / BLOCK_LIDS] && !name_pairs(c, lid))
			return false;
	for (uint32_t lid = 1; lid <= b->max_lid; lid++) {
		fm_end e = b->lid_end[lid];

		if (e == FM_NONE || b->end_lid[e] != lid || !is_source(b, e) ||
		    c->before.twin_end[e] != FM_NONE)
			continue;
		if (!fm_vec_push(&c->out->gone, e))
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------- all of it */

static bool
prepare(struct comparison *c, uint32_t n_blocks, unsigned n_workers)
{
	uint32_t nb = c->before.fab->n_switches, na = c->after.fab->n_switches;

	c->has_lost = fm_arena_array(&c->mem, n_blocks + 1u, uint8_t);
	c->scratch = fm_arena_array(&c->mem, n_workers, struct scratch);
	if (c->has_lost == NULL || c->scratch == NULL)
		return false;
	for (unsigned i = 0; i < n_workers; i++) {
		struct scratch *x = &c->scratch[i];

		x->way_before = fm_arena_array(&c->mem, nb + 1u, uint8_t);
		x->way_after = fm_arena_array(&c->mem, na + 1u, uint8_t);
		x->same = fm_arena_array(&c->mem, na + 1u, uint8_t);
		x->path = fm_arena_array(&c->mem, nb + na + 1u, fm_sw);
		if (x->way_before == NULL || x->way_after == NULL || x->same == NULL ||
		    x->path == NULL)
			return false;
	}
	return true;
}

static void
add_sums(struct comparison *c, unsigned n_workers)
{
	struct compare_report *out = c->out;

	for (unsigned i = 0; i < n_workers; i++) {
		const struct compare_report *s = &c->scratch[i].sums;

		out->kept += s->kept;
		out->moved += s->moved;
		out->sl_changed += s->sl_changed;
		out->gained += s->gained;
		out->lost += s->lost;
		out->lost_gone += s->lost_gone;
		out->lost_apart += s->lost_apart;
		out->lost_unrouted += s->lost_unrouted;
	}
}

int
compare_tables(const struct compare_side *before, const struct compare_side *after,
    uint32_t max_pairs, struct fm_pool *workers, struct compare_report *out, struct fm_error *err)
{
	struct comparison c = { .snap_after = after->snap, .max_pairs = max_pairs, .out = out };
	uint32_t most = before->snap->fab.max_lid > after->snap->fab.max_lid
	    ? before->snap->fab.max_lid
	    : after->snap->fab.max_lid;
	uint32_t n_blocks = most / BLOCK_LIDS + 1;
	unsigned n_workers = fm_pool_size(workers);
	int rc = 0;

	*out = (struct compare_report){ 0 };
	fm_arena_init(&c.mem, SIZE_MAX);
	if (!index_side(&c.mem, &c.before, before) || !index_side(&c.mem, &c.after, after) ||
	    !prepare(&c, n_blocks, n_workers)) {
		fm_arena_fini(&c.mem);
		return no_memory(err);
	}
	match(&c.before, after->snap);
	match(&c.after, before->snap);
	compare_switches(&c);
	fm_pool_for(workers, n_blocks, compare_lids, &c);
	add_sums(&c, n_workers);
	if (!name_lost(&c, n_blocks))
		rc = no_memory(err);
	fm_arena_fini(&c.mem);
	return rc;
}

void
compare_fini(struct compare_report *r)
{
	fm_vec_fini(&r->pairs);
	fm_vec_fini(&r->gone);
}
