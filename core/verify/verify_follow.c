/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where can packets get to when every switch may choose among next hops?
 *
 * The next hops of all switches towards one LID make a graph: one of each switch in static
 * tables, the ports of a group with adaptive routing.  All is well when every path in it, from
 * every source, ends at the LID's owner: no cycle, no dead end, no wrong host.  One
 * depth-first search from all sources tells: a switch fails if anything it leads to fails or
 * is still open (a cycle), and the order in which switches are left is that of the
 * dependencies' stage.
 *
 * LIDs behind one switch that have the same next hops everywhere are searched once: they are
 * compared row by row, exactly.
 *
 * After the sources' switches come the others, whose packets to switch LIDs are
 * counted but carry no data: they note no dependencies.
 *
 * Time: switches x LIDs to compare, plus (links taken + sources) per set of LIDs.
 */
#include <string.h>

#include "core/verify/verify_follow.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/algo/scc.h"

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}

/* ------------------------------------------------------------ sets of LIDs */

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

	return group_of(j->t, sw, lid) == 0 && j->t->lft[sw][lid] == j->fab->end_port[owner];
}

static bool
find_reps(const struct following *f)
{
	const struct fm_fabric *fab = f->j->fab;
	uint16_t *first = calloc((size_t)fab->n_switches + 1, sizeof(*first));

	if (first == NULL)
		return false;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_sw sw;

		if (!is_wanted(f->j, lid))
			continue;
		sw = fab->end_sw[fab->lid_end[lid]];
		if (first[sw] == 0)
			first[sw] = (uint16_t)lid;
		f->rep[lid] = first[sw];
		f->alike[lid] = first[sw] == lid ||
		    (!f->j->req->one_by_one && is_delivered(f->j, (uint16_t)lid) &&
			is_delivered(f->j, first[sw]));
	}
	free(first);
	return true;
}

static bool
has_same_next_hops(const struct fm_tables *t, fm_sw sw, uint16_t a, uint16_t b)
{
	uint16_t group = group_of(t, sw, a);

	return group == group_of(t, sw, b) && (group != 0 || t->lft[sw][a] == t->lft[sw][b]);
}

/* Compare the next hops of a block of LIDs with those of their first ones. */
static void
compare_block(void *arg, uint32_t block, unsigned worker)
{
	const struct following *f = arg;
	const struct fm_fabric *fab = f->j->fab;
	uint16_t list[LANES];
	unsigned n = 0;

	(void)worker;
	for (uint32_t lid = block * LANES; lid < (block + 1) * LANES && lid <= fab->max_lid; lid++)
		if (f->alike[lid] && f->rep[lid] != lid)
			list[n++] = (uint16_t)lid;
	for (fm_sw sw = 0; n > 0 && sw < fab->n_switches; sw++)
		for (unsigned i = 0; i < n; i++)
			if (fab->end_sw[fab->lid_end[list[i]]] != sw &&
			    !has_same_next_hops(f->j->t, sw, list[i], f->rep[list[i]]))
				f->alike[list[i]] = 0;
}

/* Sets in the order of their first LIDs; the LIDs of each, ascending. */
static bool
list_sets(struct following *f)
{
	const struct fm_fabric *fab = f->j->fab;
	uint32_t *of = calloc((size_t)fab->max_lid + 1, sizeof(*of)), at = 0;

	if (of == NULL)
		return false;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		struct lid_set *c;

		if (!is_wanted(f->j, lid))
			continue;
		of[lid] = f->alike[lid] && f->rep[lid] != lid ? of[f->rep[lid]] : f->n_sets++;
		c = &f->set[of[lid]];
		c->sw = fab->end_sw[fab->lid_end[lid]];
		c->n++;
		c->n_switch_lids += !is_source(fab, fab->lid_end[lid]);
	}
	for (uint32_t i = 0; i < f->n_sets; i++) {
		f->set[i].first = at;
		at += f->set[i].n;
		f->set[i].n = 0;
	}
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		if (is_wanted(f->j, lid)) {
			struct lid_set *c = &f->set[of[lid]];

			f->lids[c->first + c->n++] = (uint16_t)lid;
		}
	free(of);
	return true;
}

/* ----------------------------------------------------------------- the walk */

/* The packet leaves the switches. */
static void
leave(const struct judge *j, struct follower *w, uint16_t lid, fm_sw sw, uint8_t port)
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
take_over(struct follower *w, fm_sw sw, fm_sw to)
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
add_next_hop(const struct judge *j, struct follower *w, uint16_t lid, fm_sw sw, uint8_t port,
    uint64_t *slots)
{
	unsigned slot;

	if (next_switch(j, sw, port) == FM_NONE) {
		leave(j, w, lid, sw, port);
		return;
	}
	slot = j->port_slot[j->port_first[sw] + port];
	slots[slot / 64] |= (uint64_t)1 << (slot % 64);
}

/* Packets come to sw: its next hops. */
static void
open_step(const struct following *f, struct follower *w, uint16_t lid, fm_sw sw, uint32_t depth)
{
	uint64_t *slots = slots_of(f, w, sw), ports[PORT_WORDS];
	uint32_t port;

	w->seen[sw] = w->stamp;
	w->mark[sw] = MARK_OPEN;
	w->hops[sw] = 0;
	memset(slots, 0, f->words * sizeof(*slots));
	if (group_of(f->j->t, sw, lid) == 0) {
		add_next_hop(f->j, w, lid, sw, f->j->t->lft[sw][lid], slots);
	} else {
		verify_ports_of(f->j, sw, lid, ports);
		while (take_bit(ports, PORT_WORDS, &port))
			add_next_hop(f->j, w, lid, sw, (uint8_t)port, slots);
	}
	w->step[depth].sw = sw;
	memcpy(w->step[depth].slots, slots, f->words * sizeof(*slots));
}

/* Follow all paths from `from`. */
static void
search(const struct following *f, struct follower *w, uint16_t lid, fm_sw from)
{
	const struct fm_fabric *fab = f->j->fab;
	uint32_t depth = 0, slot;

	if (w->seen[from] == w->stamp)
		return;
	open_step(f, w, lid, from, 0);
	for (;;) {
		fm_sw sw = w->step[depth].sw, to;

		if (take_bit(w->step[depth].slots, f->words, &slot)) {
			to = fab->link_to[fab->sw_first_link[sw] + slot];
			if (w->seen[to] == w->stamp)
				take_over(w, sw, to);
			else
				open_step(f, w, lid, to, ++depth);
			continue;
		}
		w->mark[sw] &= (uint8_t)~MARK_OPEN;
		w->place[sw] = w->n_order;
		w->order[w->n_order++] = sw;
		if (depth-- == 0)
			return;
		take_over(w, w->step[depth].sw, sw);
	}
}

/* Does any path arrive?  Where there are loops, switches were left before all
 * that they lead to was known. */
static void
settle_arrivals(const struct following *f, struct follower *w)
{
	bool changed = w->loops;

	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < w->n_order; i++) {
			fm_sw sw = w->order[i];
			uint64_t slots[PORT_WORDS];
			uint32_t slot;

			memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
			while (!(w->mark[sw] & MARK_ARRIVES) && take_bit(slots, f->words, &slot)) {
				fm_sw to = f->j->fab->link_to[f->j->fab->sw_first_link[sw] + slot];

				if (w->mark[to] & MARK_ARRIVES) {
					w->mark[sw] |= MARK_ARRIVES;
					changed = true;
				}
			}
		}
	}
}

/* The next hops as a graph over places in the order, in CSR form. */
static bool
build_graph(const struct following *f, const struct follower *w, struct fm_arena *mem,
    uint32_t **first, uint32_t **to)
{
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < w->n_order; i++)
		for (unsigned k = 0; k < f->words; k++)
			n += (uint32_t)__builtin_popcountll(slots_of(f, w, w->order[i])[k]);
	*first = fm_arena_array(mem, (size_t)w->n_order + 1, uint32_t);
	*to = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	if (*first == NULL || *to == NULL)
		return false;
	for (uint32_t i = 0; i < w->n_order; i++) {
		fm_sw sw = w->order[i];
		uint64_t slots[PORT_WORDS];
		uint32_t slot;

		memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
		while (take_bit(slots, f->words, &slot))
			(*to)[at++] =
			    w->place[f->j->fab->link_to[f->j->fab->sw_first_link[sw] + slot]];
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
count_loops(const struct following *f, const struct follower *w, struct cyclic *found)
{
	struct fm_arena mem;
	uint32_t *first, *to, *component, *size, n;
	bool ok = false;

	fm_arena_init(&mem, SIZE_MAX);
	component = fm_arena_array(&mem, (size_t)w->n_order + 1, uint32_t);
	if (component == NULL || !build_graph(f, w, &mem, &first, &to) ||
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
first_switch_lid(const struct following *f, const struct lid_set *c)
{
	uint32_t i = c->first;

	while (is_source(f->j->fab, f->j->fab->lid_end[f->lids[i]]))
		i++;
	return f->lids[i];
}

static void
sum_faults(const struct following *f, struct follower *w, const struct lid_set *c)
{
	struct cyclic loops = { .carried = FM_NONE, .any = FM_NONE };
	struct tally *sum = w->sums;

	if (w->loops && !count_loops(f, w, &loops))
		w->no_memory = true;
	sum->loops += loops.n_carried * (c->n - c->n_switch_lids) + loops.n_all * c->n_switch_lids;
	if (loops.n_carried > 0)
		verify_note_clue(sum, VERIFY_LOOP, f->lids[c->first], loops.carried);
	else if (loops.n_all > 0)
		verify_note_clue(sum, VERIFY_LOOP, first_switch_lid(f, c), loops.any);
	for (uint32_t i = 0; i < w->n_order; i++) {
		bool carried = i < w->n_carry;

		if (!(w->mark[w->order[i]] & MARK_WRONG))
			continue;
		sum->wrong_host += carried ? c->n : c->n_switch_lids;
		verify_note_clue(sum, VERIFY_WRONG_HOST,
		    carried ? f->lids[c->first] : first_switch_lid(f, c), w->order[i]);
	}
}

/* The pairs from sw to the class. */
static void
sum_pairs(const struct following *f, struct follower *w, const struct lid_set *c, fm_sw sw)
{
	uint64_t n = (uint64_t)f->j->n_sources[sw] * c->n;
	uint8_t mark = w->mark[sw];
	struct tally *sum = w->sums;

	if (sw == c->sw) /* nobody is a source for itself */
		n -= c->n - c->n_switch_lids;
	if (!(mark & MARK_FAILS)) {
		sum->reached += n;
		sum->hops += n * w->hops[sw];
		sum->max_hops = w->hops[sw] > sum->max_hops ? w->hops[sw] : sum->max_hops;
		return;
	}
	sum->lost += n;
	verify_note_clue(sum, VERIFY_UNREACHABLE, f->lids[c->first], sw);
	if (mark & MARK_ARRIVES) {
		sum->stray += n;
		verify_note_clue(sum, VERIFY_STRAY, f->lids[c->first], sw);
	}
}

static void
sum_up(const struct following *f, struct follower *w, const struct lid_set *c)
{
	const struct judge *j = f->j;
	uint32_t component = j->snap->sw_component[c->sw];
	uint64_t others = j->all_sources - j->component_sources[component];

	w->sums->disjoint += others * c->n;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw sw = j->source_sw[i];

		if (j->snap->sw_component[sw] == component && follow_has_pairs(j, c, sw))
			sum_pairs(f, w, c, sw);
	}
	for (fm_sw sw = 0; c->n_switch_lids > 0 && sw < j->fab->n_switches; sw++)
		if (sw != c->sw && j->snap->sw_component[sw] == component &&
		    (w->mark[sw] & MARK_FAILS))
			w->sums->switch_lost += c->n_switch_lids;
	sum_faults(f, w, c);
}

/* ---------------------------------------------------------------- one set */

static void
follow_set(void *arg, uint32_t i, unsigned worker)
{
	const struct following *f = arg;
	const struct judge *j = f->j;
	struct follower *w = &f->followers[worker];
	const struct lid_set *c = &f->set[i];
	uint32_t component = j->snap->sw_component[c->sw];
	uint16_t lid = f->lids[c->first];

	if (verify_is_given_up(j->req))
		return;
	w->stamp++;
	w->n_order = 0;
	w->loops = false;
	for (uint32_t k = 0; k < j->n_source_sw; k++)
		if (j->snap->sw_component[j->source_sw[k]] == component &&
		    follow_has_pairs(j, c, j->source_sw[k]))
			search(f, w, lid, j->source_sw[k]);
	w->n_carry = w->n_order;
	verify_follow_deps(f, w, c);
	for (fm_sw sw = 0; c->n_switch_lids > 0 && sw < j->fab->n_switches; sw++)
		if (j->snap->sw_component[sw] == component && sw != c->sw)
			search(f, w, lid, sw);
	settle_arrivals(f, w);
	sum_up(f, w, c);
}

/* ------------------------------------------------------------------- memory */

static bool
alloc_follower(const struct following *f, struct follower *w)
{
	const struct judge *j = f->j;
	size_t n = (size_t)j->fab->n_switches + 1, n_links = (size_t)j->fab->n_links + 1;

	w->seen = calloc(n, sizeof(*w->seen));
	w->mark = malloc(n * sizeof(*w->mark));
	w->hops = malloc(n * sizeof(*w->hops));
	w->slots = malloc(n * f->words * sizeof(*w->slots));
	w->step = malloc(n * sizeof(*w->step));
	w->order = malloc(n * sizeof(*w->order));
	w->place = malloc(n * sizeof(*w->place));
	w->reply_row = FM_NONE;
	if (!j->one_vl) {
		w->link_sls = calloc(n_links, sizeof(*w->link_sls));
		w->link_vls = calloc(n_links, sizeof(*w->link_vls));
		w->reply_sls = malloc(n * sizeof(*w->reply_sls));
	}
	return w->seen && w->mark && w->hops && w->slots && w->step && w->order && w->place &&
	    (j->one_vl || (w->link_sls && w->link_vls && w->reply_sls));
}

static bool
alloc(struct following *f)
{
	const struct judge *j = f->j;
	size_t n_lids = (size_t)j->fab->max_lid + 1;
	uint32_t most_links = 1;
	bool ok = true;

	for (fm_sw sw = 0; sw < j->fab->n_switches; sw++) {
		uint32_t n = j->fab->sw_first_link[sw + 1] - j->fab->sw_first_link[sw];

		most_links = n > most_links ? n : most_links;
	}
	f->words = (most_links + 63) / 64;
	f->rep = calloc(n_lids, sizeof(*f->rep));
	f->alike = calloc(n_lids, sizeof(*f->alike));
	f->set = calloc(n_lids, sizeof(*f->set));
	f->lids = calloc(n_lids, sizeof(*f->lids));
	f->followers = calloc(j->n_workers, sizeof(*f->followers));
	if (!f->rep || !f->alike || !f->set || !f->lids || !f->followers)
		return false;
	for (unsigned i = 0; i < j->n_workers; i++) {
		f->followers[i].sums = &j->tally[i];
		ok = ok && alloc_follower(f, &f->followers[i]);
	}
	return ok;
}

static void
release(struct following *f)
{
	for (unsigned i = 0; f->followers != NULL && i < f->j->n_workers; i++) {
		struct follower *w = &f->followers[i];

		free(w->seen);
		free(w->mark);
		free(w->hops);
		free(w->slots);
		free(w->step);
		free(w->order);
		free(w->place);
		free(w->link_sls);
		free(w->link_vls);
		free(w->reply_sls);
	}
	free(f->followers);
	free(f->rep);
	free(f->alike);
	free(f->set);
	free(f->lids);
}

int
verify_follow(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct following f = { .j = j };
	bool ok;

	if (j->exact != NULL && memchr(j->exact, 1, j->fab->max_lid + 1u) == NULL)
		return 0;
	ok = alloc(&f) && find_reps(&f);
	if (ok) {
		if (!j->req->one_by_one)
			fm_pool_for(workers, j->fab->max_lid / LANES + 1u, compare_block, &f);
		ok = list_sets(&f);
	}
	if (ok)
		fm_pool_for(workers, f.n_sets, follow_set, &f);
	for (unsigned i = 0; ok && i < j->n_workers; i++)
		ok = !f.followers[i].no_memory;
	release(&f);
	return ok ? 0 : no_memory(err);
}
