/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where can packets get to when every switch may choose?
 *
 * The alternatives of all switches towards one LID make a graph.  All is well
 * when every way in it, from every source, ends at the LID's owner: no cycle,
 * no dead end, no wrong host.  One depth-first search from all sources tells:
 * a switch fails if anything it leads to fails or is still open (a cycle), and
 * the order in which switches are left is that of the dependencies' stage.
 *
 * LIDs behind one switch mostly have the same choices everywhere (that is what
 * groups are for): they are compared row by row, exactly, and a class of them
 * is searched once.
 *
 * Where a link has one VL only LIDs come here that verify_class.c has not settled: some way
 * of their class fails, or is longer than another.
 *
 * After the sources' switches come the others, whose packets to switch LIDs are
 * counted but carry no data: they note no dependencies.
 *
 * Time: switches x LIDs to compare, plus (links taken + sources) per class.
 */
#include <string.h>

#include "core/verify/verify_adaptive.h"
#include "lib/algo/scc.h"
#include "lib/arena.h"
#include "lib/error.h"

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while verifying adaptive routing");
}

/* ---------------------------------------------------------------- classes */

/* Is the LID behind a switch, and not settled yet? */
static bool
is_wanted(const struct judge *j, uint32_t lid)
{
	const struct fm_fabric *fab = j->fab;

	return (j->exact == NULL || j->exact[lid]) && fab->lid_end[lid] != FM_NONE &&
	    fab->end_sw[fab->lid_end[lid]] != FM_NONE;
}

/* Handed to its owner at the owner's switch, without a choice. */
static bool
is_delivered(const struct judge *j, uint16_t lid)
{
	fm_end owner = j->fab->lid_end[lid];
	fm_sw sw = j->fab->end_sw[owner];

	return j->t->ar_group[sw][lid] == 0 && j->t->lft[sw][lid] == j->fab->end_port[owner];
}

static bool
find_reps(const struct adaptive *a)
{
	const struct fm_fabric *fab = a->j->fab;
	uint16_t *first = calloc((size_t)fab->n_switches + 1, sizeof(*first));

	if (first == NULL)
		return false;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_sw sw;

		if (!is_wanted(a->j, lid))
			continue;
		sw = fab->end_sw[fab->lid_end[lid]];
		if (first[sw] == 0)
			first[sw] = (uint16_t)lid;
		a->rep[lid] = first[sw];
		a->alike[lid] = first[sw] == lid ||
		    (!a->j->req->one_by_one && is_delivered(a->j, (uint16_t)lid) &&
			is_delivered(a->j, first[sw]));
	}
	free(first);
	return true;
}

/* Compare the choices of a block of LIDs with those of their first ones. */
static void
compare_block(void *arg, uint32_t block, unsigned worker)
{
	const struct adaptive *a = arg;
	const struct fm_fabric *fab = a->j->fab;
	uint32_t from = block * LANES, to = from + LANES;

	to = to <= fab->max_lid ? to : fab->max_lid + 1u;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		const uint16_t *group = a->j->t->ar_group[sw];
		const uint8_t *lft = a->j->t->lft[sw];

		for (uint32_t lid = from; lid < to; lid++) {
			uint16_t rep = a->rep[lid];

			if (!a->alike[lid] || rep == lid || fab->end_sw[fab->lid_end[lid]] == sw)
				continue;
			if (group[lid] != group[rep] || (group[lid] == 0 && lft[lid] != lft[rep]))
				a->alike[lid] = 0;
		}
	}
}

/* Classes in the order of their first LIDs; the LIDs of each, ascending. */
static bool
list_classes(struct adaptive *a)
{
	const struct fm_fabric *fab = a->j->fab;
	uint32_t *of = calloc((size_t)fab->max_lid + 1, sizeof(*of)), at = 0;

	if (of == NULL)
		return false;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		struct adaptive_class *c;

		if (!is_wanted(a->j, lid))
			continue;
		of[lid] = a->alike[lid] && a->rep[lid] != lid ? of[a->rep[lid]] : a->n_classes++;
		c = &a->class[of[lid]];
		c->sw = fab->end_sw[fab->lid_end[lid]];
		c->n++;
		c->n_switch_lids += !is_source(fab, fab->lid_end[lid]);
	}
	for (uint32_t i = 0; i < a->n_classes; i++) {
		a->class[i].first = at;
		at += a->class[i].n;
		a->class[i].n = 0;
	}
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		if (is_wanted(a->j, lid)) {
			struct adaptive_class *c = &a->class[of[lid]];

			a->lids[c->first + c->n++] = (uint16_t)lid;
		}
	free(of);
	return true;
}

/* ----------------------------------------------------------------- the walk */

/* The packet leaves the switches. */
static void
leave(const struct judge *j, struct adaptive_walker *w, uint16_t lid, fm_sw sw, uint8_t port)
{
	fm_end owner = j->fab->lid_end[lid];

	if (j->fab->end_sw[owner] == sw && j->fab->end_port[owner] == port) {
		w->mark[sw] |= MARK_ARRIVES;
		w->hops[sw] = w->hops[sw] > 1 ? w->hops[sw] : 1;
		return;
	}
	w->mark[sw] |= MARK_FAILS;
	if (port <= j->fab->sw_n_ports[sw] && j->port_has_end[j->port_first[sw] + port])
		w->mark[sw] |= MARK_WRONG;
}

/* What is known of `to` tells of sw, which leads there. */
static void
take_over(struct adaptive_walker *w, fm_sw sw, fm_sw to)
{
	uint16_t hops = (uint16_t)(w->hops[to] + 1);

	if (w->mark[to] & MARK_OPEN) {
		w->loops = true;
		w->mark[sw] |= MARK_FAILS;
		return;
	}
	w->mark[sw] |= w->mark[to] & (MARK_FAILS | MARK_ARRIVES);
	w->hops[sw] = hops > w->hops[sw] ? hops : w->hops[sw];
}

static void
open_step(const struct judge *j, struct adaptive_walker *w, uint16_t lid, fm_sw sw, uint32_t depth)
{
	w->seen[sw] = w->stamp;
	w->mark[sw] = MARK_OPEN;
	w->hops[sw] = 0;
	memset(w->slots[sw], 0, sizeof(w->slots[sw]));
	w->step[depth].sw = sw;
	ports_of(j, sw, lid, w->step[depth].ports);
}

/* Follow all ways from `from`. */
static void
search(const struct judge *j, struct adaptive_walker *w, uint16_t lid, fm_sw from)
{
	uint32_t depth = 0;

	if (w->seen[from] == w->stamp)
		return;
	open_step(j, w, lid, from, 0);
	for (;;) {
		struct adaptive_step *s = &w->step[depth];
		struct port_ref ref;
		uint32_t slot;
		uint8_t port;

		if (!take_port(s->ports, &port)) {
			w->mark[s->sw] &= (uint8_t)~MARK_OPEN;
			w->place[s->sw] = w->n_order;
			w->order[w->n_order++] = s->sw;
			if (depth == 0)
				return;
			depth--;
			take_over(w, w->step[depth].sw, s->sw);
			continue;
		}
		ref = port_ref_at(j, s->sw, port);
		if (ref.info == j->nowhere) {
			leave(j, w, lid, s->sw, port);
			continue;
		}
		slot = ref.dep & SLOT_MASK;
		w->slots[s->sw][slot / 64] |= (uint64_t)1 << (slot % 64);
		if (w->seen[ref.info / LANES] == w->stamp)
			take_over(w, s->sw, ref.info / LANES);
		else
			open_step(j, w, lid, ref.info / LANES, ++depth);
	}
}

/* Does any way arrive?  Where there are loops, switches were left before all
 * that they lead to was known. */
static void
settle_arrivals(const struct judge *j, struct adaptive_walker *w)
{
	bool changed = w->loops;

	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < w->n_order; i++) {
			fm_sw sw = w->order[i];
			uint64_t slots[PORT_WORDS];
			uint8_t slot;

			memcpy(slots, w->slots[sw], sizeof(slots));
			while (!(w->mark[sw] & MARK_ARRIVES) && take_port(slots, &slot)) {
				fm_sw to = j->fab->link_to[j->fab->sw_first_link[sw] + slot];

				if (w->mark[to] & MARK_ARRIVES) {
					w->mark[sw] |= MARK_ARRIVES;
					changed = true;
				}
			}
		}
	}
}

/* The alternatives as a graph over places in the order, in CSR form. */
static bool
build_graph(const struct judge *j, const struct adaptive_walker *w, struct fm_arena *mem,
    uint32_t **first, uint32_t **to)
{
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < w->n_order; i++)
		for (unsigned k = 0; k < PORT_WORDS; k++)
			n += (uint32_t)__builtin_popcountll(w->slots[w->order[i]][k]);
	*first = fm_arena_array(mem, (size_t)w->n_order + 1, uint32_t);
	*to = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	if (*first == NULL || *to == NULL)
		return false;
	for (uint32_t i = 0; i < w->n_order; i++) {
		fm_sw sw = w->order[i];
		uint64_t slots[PORT_WORDS];
		uint8_t slot;

		memcpy(slots, w->slots[sw], sizeof(slots));
		while (take_port(slots, &slot))
			(*to)[at++] = w->place[j->fab->link_to[j->fab->sw_first_link[sw] + slot]];
		(*first)[i + 1] = at;
	}
	return true;
}

/* Cyclic components that packets of sources meet, and those that only other
 * switches' do; the least switch of either. */
struct cyclic {
	uint32_t n_carried, n_all;
	fm_sw carried, any;
};

static bool
count_loops(const struct judge *j, const struct adaptive_walker *w, struct cyclic *found)
{
	struct fm_arena mem;
	uint32_t *first, *to, *component, *size, n;
	bool ok = false;

	fm_arena_init(&mem, SIZE_MAX);
	component = fm_arena_array(&mem, (size_t)w->n_order + 1, uint32_t);
	if (component == NULL || !build_graph(j, w, &mem, &first, &to) ||
	    (n = fm_scc(w->n_order, first, to, component, &mem)) == UINT32_MAX ||
	    (size = fm_arena_array(&mem, (size_t)n + 1, uint32_t)) == NULL)
		goto out;
	for (uint32_t i = 0; i < w->n_order; i++)
		size[component[i]]++;
	for (uint32_t i = 0; i < w->n_order; i++) {
		uint32_t *s = &size[component[i]];
		fm_sw sw = w->order[i];

		if (*s < 2)
			continue;
		found->n_all += *s != UINT32_MAX; /* what sources meet, they meet whole: at once */
		found->n_carried += *s != UINT32_MAX && i < w->n_carry;
		*s = UINT32_MAX;
		found->any = sw < found->any ? sw : found->any;
		if (i < w->n_carry && sw < found->carried)
			found->carried = sw;
	}
	ok = true;
out:
	fm_arena_fini(&mem);
	return ok;
}

/* ------------------------------------------------------------------- sums */

/* The least LID of the class that is a switch's. */
static uint16_t
first_switch_lid(const struct adaptive *a, const struct adaptive_class *c)
{
	uint32_t i = c->first;

	while (is_source(a->j->fab, a->j->fab->lid_end[a->lids[i]]))
		i++;
	return a->lids[i];
}

static void
sum_faults(const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c)
{
	struct cyclic loops = { .carried = FM_NONE, .any = FM_NONE };
	struct walker *sum = w->sums;

	if (w->loops && !count_loops(a->j, w, &loops))
		w->no_memory = true;
	sum->loops += loops.n_carried * (c->n - c->n_switch_lids) + loops.n_all * c->n_switch_lids;
	if (loops.n_carried > 0)
		note_clue(sum, VERIFY_LOOP, a->lids[c->first], loops.carried);
	else if (loops.n_all > 0)
		note_clue(sum, VERIFY_LOOP, first_switch_lid(a, c), loops.any);
	for (uint32_t i = 0; i < w->n_order; i++) {
		bool carried = i < w->n_carry;

		if (!(w->mark[w->order[i]] & MARK_WRONG))
			continue;
		sum->wrong_host += carried ? c->n : c->n_switch_lids;
		note_clue(sum, VERIFY_WRONG_HOST,
		    carried ? a->lids[c->first] : first_switch_lid(a, c), w->order[i]);
	}
}

/* The pairs from sw to the class. */
static void
sum_pairs(
    const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c, fm_sw sw)
{
	uint64_t n = (uint64_t)a->j->n_sources[sw] * c->n;
	uint8_t mark = w->mark[sw];
	struct walker *sum = w->sums;

	if (sw == c->sw) /* nobody is a source for itself */
		n -= c->n - c->n_switch_lids;
	if (!(mark & MARK_FAILS)) {
		sum->reached += n;
		sum->hops += n * w->hops[sw];
		sum->max_hops = w->hops[sw] > sum->max_hops ? w->hops[sw] : sum->max_hops;
		return;
	}
	sum->lost += n;
	note_clue(sum, VERIFY_UNREACHABLE, a->lids[c->first], sw);
	if (mark & MARK_ARRIVES) {
		sum->stray += n;
		note_clue(sum, VERIFY_STRAY, a->lids[c->first], sw);
	}
}

static void
sum_up(const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c)
{
	const struct judge *j = a->j;
	uint32_t component = j->snap->sw_component[c->sw];
	uint64_t others = j->all_sources - j->component_sources[component];

	w->sums->disjoint += others * c->n;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw sw = j->source_sw[i];

		if (j->snap->sw_component[sw] == component && adaptive_has_pairs(j, c, sw))
			sum_pairs(a, w, c, sw);
	}
	for (fm_sw sw = 0; c->n_switch_lids > 0 && sw < j->fab->n_switches; sw++)
		if (sw != c->sw && j->snap->sw_component[sw] == component &&
		    (w->mark[sw] & MARK_FAILS))
			w->sums->switch_lost += c->n_switch_lids;
	sum_faults(a, w, c);
}

/* ---------------------------------------------------------------- one class */

static void
walk_class(void *arg, uint32_t i, unsigned worker)
{
	const struct adaptive *a = arg;
	const struct judge *j = a->j;
	struct adaptive_walker *w = &a->walkers[worker];
	const struct adaptive_class *c = &a->class[i];
	uint32_t component = j->snap->sw_component[c->sw];
	uint16_t lid = a->lids[c->first];

	w->stamp++;
	w->n_order = 0;
	w->loops = false;
	for (uint32_t k = 0; k < j->n_source_sw; k++)
		if (j->snap->sw_component[j->source_sw[k]] == component &&
		    adaptive_has_pairs(j, c, j->source_sw[k]))
			search(j, w, lid, j->source_sw[k]);
	w->n_carry = w->n_order;
	verify_adaptive_deps(a, w, c);
	for (fm_sw sw = 0; c->n_switch_lids > 0 && sw < j->fab->n_switches; sw++)
		if (j->snap->sw_component[sw] == component && sw != c->sw)
			search(j, w, lid, sw);
	settle_arrivals(j, w);
	sum_up(a, w, c);
}

/* ------------------------------------------------------------------- memory */

static bool
alloc_walker(const struct judge *j, struct adaptive_walker *w)
{
	size_t n = (size_t)j->fab->n_switches + 1, n_links = (size_t)j->fab->n_links + 1;

	w->seen = calloc(n, sizeof(*w->seen));
	w->mark = malloc(n * sizeof(*w->mark));
	w->hops = malloc(n * sizeof(*w->hops));
	w->slots = malloc(n * sizeof(*w->slots));
	w->step = malloc(n * sizeof(*w->step));
	w->order = malloc(n * sizeof(*w->order));
	w->place = malloc(n * sizeof(*w->place));
	if (!j->one_vl) {
		w->link_sls = calloc(n_links, sizeof(*w->link_sls));
		w->link_vls = calloc(n_links, sizeof(*w->link_vls));
	}
	return w->seen && w->mark && w->hops && w->slots && w->step && w->order && w->place &&
	    (j->one_vl || (w->link_sls && w->link_vls));
}

static bool
alloc(struct adaptive *a)
{
	const struct judge *j = a->j;
	size_t n_lids = (size_t)j->fab->max_lid + 1;
	bool ok = true;

	a->rep = calloc(n_lids, sizeof(*a->rep));
	a->alike = calloc(n_lids, sizeof(*a->alike));
	a->class = calloc(n_lids, sizeof(*a->class));
	a->lids = calloc(n_lids, sizeof(*a->lids));
	a->walkers = calloc(j->n_walkers, sizeof(*a->walkers));
	if (!a->rep || !a->alike || !a->class || !a->lids || !a->walkers)
		return false;
	for (unsigned i = 0; i < j->n_walkers; i++) {
		a->walkers[i].sums = &j->walkers[i];
		ok = ok && alloc_walker(j, &a->walkers[i]);
	}
	return ok;
}

static void
release(struct adaptive *a)
{
	for (unsigned i = 0; a->walkers != NULL && i < a->j->n_walkers; i++) {
		struct adaptive_walker *w = &a->walkers[i];

		free(w->seen);
		free(w->mark);
		free(w->hops);
		free(w->slots);
		free(w->step);
		free(w->order);
		free(w->place);
		free(w->link_sls);
		free(w->link_vls);
	}
	free(a->walkers);
	free(a->rep);
	free(a->alike);
	free(a->class);
	free(a->lids);
}

int
verify_adaptive(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	const struct fm_fabric *fab = j->fab;
	struct adaptive a = { .j = j };
	bool ok = alloc(&a) && find_reps(&a);

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		if (fab->lid_end[lid] != FM_NONE && fab->end_sw[fab->lid_end[lid]] == FM_NONE)
			verify_count_switchless(j, &j->walkers[0]);
	if (ok) {
		fm_pool_for(workers, fab->max_lid / LANES + 1u, compare_block, &a);
		ok = list_classes(&a);
	}
	if (ok)
		fm_pool_for(workers, a.n_classes, walk_class, &a);
	for (unsigned i = 0; ok && i < j->n_walkers; i++)
		ok = !a.walkers[i].no_memory;
	release(&a);
	return ok ? 0 : no_memory(err);
}
