/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging all LIDs behind one switch at once, where that tells the same.
 *
 * A class is the set of LIDs of the ends on one switch, its own among them.
 * Of each switch only the set of egress ports counts that it uses for the
 * class, a mask of one word.  If every switch with a mask has one number of
 * hops to the destination by whichever of these ports (verify_class_hops.c),
 * every LID of the class is reached from all of them by exactly so many hops,
 * and a class is judged with one word a switch instead of a walk a LID.
 * Otherwise, or when entries are missing for some LIDs only, or name an
 * end-port or no port of a link, or a source is without entries, the LIDs of
 * the class are followed (verify_follow.c), many of them as paths first (verify_path.c).
 *
 * Dependencies of classes are too many rather than too few.  If they show a
 * cycle exactly those of the classes are noted (verify_class_exact.c); the sums
 * stand.  So the verdict is always the exact one; only the time differs.
 *
 * With adaptive routing a mask is the union of the next hops (verify_class_masks.c),
 * and the hops are asked of every port of it (verify_class_single.c), so all this holds.
 *
 * Masks are made for a tile of classes at a time: each row of the tables is
 * read in the order it lies in memory, and what is made of it stays in the
 * cache.  Classes are in the order of their LIDs, as neighbours have much in
 * common.
 *
 * Time: one addition per entry of the tables, O(1) per (switch, class), plus
 * what differs from class to class; with adaptive routing three bytes read per
 * entry, again where there may be a cycle, and O(1) per (switch, class, port
 * taken).  Memory: CLASS_TILE words a switch and one word a port per worker.
 */
#include "core/verify/verify_class.h"

#include "lib/error.h"
#include "lib/wide.h"

#define AHEAD 8u       /* rows between being asked for and being read */
#define PATHS_SHARE 8u /* of LIDs: where more are not settled, paths are quicker */

/* Do most links join switches of different levels (verify_class_deps.c), as on trees?
 * Elsewhere without adaptive routing nearly every turn would have to be noted, and paths
 * (verify_path.c) take half the time or less.  False also when out of memory. */
static bool
is_levelled(const struct fm_fabric *fab)
{
	uint32_t *level = malloc((fab->n_switches + 1) * sizeof(*level)), n = 0;
	fm_sw *queue = malloc((fab->n_switches + 1) * sizeof(*queue));

	if (level != NULL && queue != NULL) {
		snapshot_find_levels(fab, level, queue);
		for (fm_link l = 0; l < fab->n_links; l++)
			n += level[fab->link_to[l]] != level[fab->link_to[fab->link_rev[l]]];
	}
	free(level);
	free(queue);
	return n > fab->n_links / 2;
}

/* One VL on all links, so that it does not matter which of them carry packets,
 * and ports that fit a mask. */
static bool
classes_apply(const struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	const struct fm_tables *t = j->t;
	uint8_t vl = t->sl2vl_shape == FM_SL2VL_BY_OUT && fab->n_links > 0 ? t->sl2vl[0] : 0;

	if (!j->one_vl || vl >= N_SLS || vl >= j->req->n_vls)
		return false;
	for (fm_link l = 0; l < fab->n_links; l++)
		if (vl >= fab->link_n_vls[l] || fab->link_port[l] - 1u >= MASK_PORTS ||
		    (t->sl2vl_shape == FM_SL2VL_BY_OUT && t->sl2vl[(size_t)l * N_SLS] != vl))
			return false;
	return true;
}

bool
verify_classes_pay(const struct judge *j)
{
	return classes_apply(j) && (tables_are_adaptive(j->t) || is_levelled(j->fab));
}

static bool
are_twins(const struct classes *k, fm_sw a, fm_sw b)
{
	const uint32_t *first = k->j->port_first;
	uint32_t n = first[a + 1] - first[a];

	return n == first[b + 1] - first[b] &&
	    memcmp(k->j->port_to + first[a], k->j->port_to + first[b],
		n * sizeof(*k->j->port_to)) == 0;
}

static bool
setup_links(struct classes *k)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	k->edge = malloc((fab->n_links + 1) * sizeof(*k->edge));
	k->component_size = calloc(j->snap->n_components + 1, sizeof(*k->component_size));
	k->links = calloc(k->mask_stride, sizeof(*k->links));
	k->twin = calloc(fab->n_switches + 1, 1);
	if (k->edge == NULL || k->component_size == NULL || k->twin == NULL || k->links == NULL)
		return false;
	for (fm_link l = 0; l < fab->n_links; l++)
		k->edge[l] = (struct class_edge){ .to = fab->link_to[l],
			.port = fab->link_port[l],
			.back = fab->link_port[fab->link_rev[l]] };
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			k->links[sw] |= (uint64_t)1 << (fab->link_port[l] - 1);
	for (fm_sw sw = 1; sw < fab->n_switches; sw++)
		k->twin[sw] = are_twins(k, sw - 1, sw);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (j->snap->sw_component[sw] < j->snap->n_components)
			k->component_size[j->snap->sw_component[sw]]++;
	return true;
}

static bool
setup_walker(const struct classes *k, struct class_walker *w)
{
	uint32_t n = k->j->fab->n_switches;

	w->span = malloc((k->most_runs + 1) * sizeof(*w->span));
	w->mask = calloc(CLASS_TILE * k->mask_stride, sizeof(*w->mask));
	w->hop = malloc((n + 1) * sizeof(*w->hop));
	w->fits = calloc(k->mask_stride, sizeof(*w->fits));
	w->mark = calloc(n + 1, sizeof(*w->mark));
	w->path = malloc((n + 1) * sizeof(*w->path));
	w->bad = malloc((n + 1) * sizeof(*w->bad));
	w->at_hop = calloc(HOPS_LIMIT + 1, sizeof(*w->at_hop));
	w->dep = calloc(k->j->port_first[n] + 1, sizeof(*w->dep));
	w->carried = calloc(n + 1, sizeof(*w->carried));
	w->known = calloc(n + 1, sizeof(*w->known));
	w->mixed = calloc(n + 1, sizeof(*w->mixed));
	if (w->span == NULL || w->mask == NULL || w->hop == NULL || w->fits == NULL ||
	    w->mark == NULL || w->path == NULL || w->bad == NULL || w->at_hop == NULL ||
	    w->dep == NULL || w->carried == NULL || w->known == NULL || w->mixed == NULL)
		return false;
	w->last_to = FM_NONE;
	memset(w->hop, 0xff, (n + 1) * sizeof(*w->hop));
	return true;
}

static bool
setup(struct classes *k)
{
	/* an odd number of cache lines, so that a tile's columns spread over the cache */
	k->mask_stride = ((k->j->fab->n_switches + 7) / 8 | 1) * 8;
	if (!verify_class_runs(k) || !setup_links(k) || !verify_class_levels(k))
		return false;
	for (uint32_t c = 0; c < k->n_classes; c += CLASS_TILE) {
		uint32_t end = c + CLASS_TILE < k->n_classes ? c + CLASS_TILE : k->n_classes;
		uint32_t n = k->class[end].first_run - k->class[c].first_run;

		k->most_runs = n > k->most_runs ? n : k->most_runs;
	}
	k->walkers = calloc(k->j->n_workers, sizeof(*k->walkers));
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++)
		if (!setup_walker(k, &k->walkers[i]))
			return false;
	return k->walkers != NULL;
}

static void
free_classes(struct classes *k)
{
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++) {
		struct class_walker *w = &k->walkers[i];

		free(w->span);
		free(w->mask);
		free(w->hop);
		free(w->fits);
		free(w->mark);
		free(w->path);
		free(w->bad);
		free(w->at_hop);
		free(w->dep);
		free(w->carried);
		free(w->known);
		free(w->mixed);
		free(w->exact.lid);
		free(w->exact.carried);
		free(w->exact.first_set);
		free(w->exact.n_sets);
		free(w->exact.set);
		free(w->exact.order);
		free(w->exact.at_hop);
	}
	free(k->walkers);
	free(k->class);
	free(k->run);
	free(k->exact);
	free(k->edge);
	free(k->links);
	free(k->up);
	free(k->down);
	free(k->free);
	free(k->twin);
	free(k->component_size);
}

/* Does the switch of the class hand every LID to its owner, without a choice? */
static bool
delivers(const struct classes *k, const struct lid_class *c)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	for (uint32_t r = c->first_run; r < c[1].first_run; r++)
		for (uint32_t i = 0; i < k->run[r].n; i++) {
			uint32_t lid = k->run[r].first + i;
			uint8_t port = j->t->lft[c->sw][lid];

			if (group_of(j->t, c->sw, lid) != 0 ||
			    port != fab->end_port[fab->lid_end[lid]] ||
			    next_switch(j, c->sw, port) != FM_NONE)
				return false;
		}
	return true;
}

/* Is there no entry for any LID of the class? */
static bool
has_none(const struct classes *k, const struct lid_class *c, fm_sw u)
{
	const struct fm_tables *t = k->j->t;

	for (uint32_t r = c->first_run; r < c[1].first_run; r++)
		for (uint32_t i = 0; i < k->run[r].n; i++)
			if (t->lft[u][k->run[r].first + i] != FM_PORT_NONE ||
			    group_of(t, u, k->run[r].first + i) != 0)
				return false;
	return true;
}

static int
by_first(const void *a, const void *b)
{
	const struct lid_run *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* The LIDs of a tile as they lie in a row. */
static void
list_spans(const struct classes *k, struct class_walker *w, const struct lid_class *class,
    uint32_t n_classes)
{
	uint32_t n = class[n_classes].first_run - class->first_run;

	memcpy(w->span, k->run + class->first_run, n * sizeof(*w->span));
	qsort(w->span, n, sizeof(*w->span), by_first);
	w->n_spans = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct lid_run *last = &w->span[w->n_spans - (w->n_spans > 0)];

		if (w->n_spans > 0 && last->first + last->n == w->span[i].first)
			last->n += w->span[i].n;
		else
			w->span[w->n_spans++] = w->span[i];
	}
}

static bool
are_equal_rows(const struct class_walker *w, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < w->n_spans; i++)
		if (memcmp(a + w->span[i].first, b + w->span[i].first, w->span[i].n) != 0)
			return false;
	return true;
}

static void
fetch_row(const struct class_walker *w, const uint8_t *row)
{
	for (uint32_t i = 0; i < w->n_spans; i++)
		for (uint32_t at = w->span[i].first & ~63u; at < w->span[i].first + w->span[i].n;
		     at += 64)
			__builtin_prefetch(row + at);
}

/* Classes of which entries of u are no link ports: these are for the exact
 * walk, unless there is none at all, or it does not matter. */
static void
look_at_odd(struct classes *k, struct class_walker *w, uint32_t first, uint64_t odd, fm_sw u)
{
	const struct judge *j = k->j;

	for (; odd != 0; odd &= odd - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(odd);
		const struct lid_class *c = &k->class[first + i];

		w->mask[i * k->mask_stride + u] = 0;
		if (u != c->sw && j->snap->sw_component[u] == j->snap->sw_component[c->sw] &&
		    !has_none(k, c, u))
			k->exact[first + i] = 1;
	}
}

/* Rows from..to - 1 are as the row before: so are their masks. */
FM_WIDE static void
repeat_masks(const struct classes *k, struct class_walker *w, uint32_t n, fm_sw from, fm_sw to)
{
	for (uint32_t i = 0; i < n && from < to; i++) {
		uint64_t *mask = w->mask + i * k->mask_stride;
		eight_masks same = (eight_masks){ 0 } + mask[from - 1];
		fm_sw u = from;

		for (; u + 8 <= to; u += 8)
			*(eight_masks *)(mask + u) = same;
		for (; u < to; u++)
			mask[u] = same[0];
	}
}

/* The masks of a tile.  Rows of neighbouring switches are often equal. */
static void
make_masks(struct classes *k, struct class_walker *w, uint32_t first, uint32_t n)
{
	uint32_t n_switches = k->j->fab->n_switches;
	uint8_t *const *lft = k->j->t->lft;
	uint64_t odd = 0;
	fm_sw made = 0; /* rows before have their masks */

	list_spans(k, w, k->class + first, n);
	for (fm_sw u = 0; u < n_switches; u++) {
		fetch_row(w, lft[u + AHEAD < n_switches ? u + AHEAD : u]);
		if (tables_are_adaptive(k->j->t)) {
			odd = verify_class_choices(k, w, first, n, u);
			made = u + 1;
		} else if (u == 0 || !are_equal_rows(w, lft[u], lft[u - 1])) {
			repeat_masks(k, w, n, made, u);
			odd = verify_class_masks(
			    lft[u], k->class + first, k->run, n, w->mask + u, k->mask_stride);
			made = u + 1;
		}
		if (odd != 0)
			look_at_odd(k, w, first, odd, u);
	}
	repeat_masks(k, w, n, made, n_switches);
}

/* Switches that the class has nothing to do with. */
static void
clear_strangers(const struct judge *j, uint64_t *mask, fm_sw to)
{
	mask[to] = 0;
	if (j->snap->n_components == 1)
		return;
	for (fm_sw u = 0; u < j->fab->n_switches; u++)
		if (j->snap->sw_component[u] != j->snap->sw_component[to])
			mask[u] = 0;
}

/* How many of the switches that send are how far from the class. */
static void
find_lengths(const struct classes *k, const struct class_walker *w, bool single, struct lid_sums *s)
{
	const struct judge *j = k->j;

	if (single) { /* verify_class_single.c knows them one by one */
		for (uint32_t i = 0; i < j->n_source_sw; i++)
			lid_sums_gather(s, w->known[j->source_sw[i]] - w->epoch);
		return;
	}
	for (uint32_t h = w->farthest; h > 0 && s->n_at_next == 0; h--) {
		if (w->at_hop[h] == 0)
			continue;
		if (s->n_at_max == 0) {
			s->max_hops = (uint16_t)h;
			s->n_at_max = (uint16_t)w->at_hop[h];
		} else {
			s->next_hops = (uint16_t)h;
			s->n_at_next = (uint16_t)w->at_hop[h];
		}
	}
}

/* An end alone on its switch is no path of the switch to itself. */
static void
take_own(const struct judge *j, fm_sw sw, struct lid_sums *s)
{
	s->reached--;
	s->hops--;
	if (j->n_sources[sw] > 1)
		return;
	if (s->max_hops == 1)
		s->max_hops = s->n_at_max = 0;
	if (s->next_hops == 1)
		s->next_hops = s->n_at_next = 0;
}

/* All LIDs of a class that is settled. */
static void
note_sums(const struct classes *k, const struct class_walker *w, const struct lid_class *c,
    const struct class_sums *of, bool single)
{
	const struct judge *j = k->j;
	struct lid_sums end = { .reached = (uint32_t)of->sources,
		.known = true,
		.hops = of->source_hops },
			own;

	find_lengths(k, w, single, &end);
	own = end; /* of the switch itself */
	own.switch_lost = k->component_size[j->snap->sw_component[c->sw]] - of->n_known;
	if (c->n_end_lids > 0)
		take_own(j, c->sw, &end);
	for (uint32_t r = c->first_run; r < c[1].first_run; r++)
		for (uint32_t i = 0; i < k->run[r].n; i++) {
			uint32_t lid = k->run[r].first + i;

			k->sums[lid] = is_source(j->fab, j->fab->lid_end[lid]) ? end : own;
		}
}

/* Does all that the class knows of itself tell of each of its LIDs?  Sums filled. */
static bool
is_settled(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask, bool single, struct class_sums *sums)
{
	const struct judge *j = k->j;
	bool found;

	if (!delivers(k, c))
		return false;
	if (tables_are_adaptive(j->t))
		found = verify_class_several(k, w, mask, c->sw, sums);
	else if (single)
		found = verify_class_single(k, w, mask, c->sw, sums);
	else
		found = verify_class_hops(k, w, mask, c->sw, sums);
	return found && sums->sources == j->component_sources[j->snap->sw_component[c->sw]];
}

/* The first time: sums, and dependencies too many rather than too few. */
static void
judge_class(
    struct classes *k, struct class_walker *w, struct tally *to, uint32_t i, const uint64_t *mask)
{
	const struct lid_class *c = &k->class[i];
	bool single = c->n_end_lids == 0 && c->n_switch_lids == 1 && !tables_are_adaptive(k->j->t);
	struct class_sums sums;

	if (!is_settled(k, w, c, mask, single, &sums)) {
		k->exact[i] = 1;
		return;
	}
	if (k->sums != NULL) {
		note_sums(k, w, c, &sums, single);
		return;
	}
	verify_class_add(k->j, &sums, c->n_end_lids, c->n_switch_lids,
	    k->component_size[k->j->snap->sw_component[c->sw]] - sums.n_known, to);
	if (!single)
		verify_class_deps(k, w, c, mask);
}

static void
judge_tile(void *arg, uint32_t tile, unsigned worker)
{
	struct classes *k = arg;
	const struct judge *j = k->j;
	struct class_walker *w = &k->walkers[worker];
	uint32_t first = tile * CLASS_TILE, left = k->n_classes - first;
	uint32_t n = left < CLASS_TILE ? left : CLASS_TILE;

	make_masks(k, w, first, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct lid_class *c = &k->class[first + i];
		uint64_t *mask = w->mask + i * k->mask_stride;

		clear_strangers(j, mask, c->sw);
		if (k->exact[first + i])
			continue;
		if (k->exactly)
			verify_class_exact_note(k, w, c, mask, i);
		else
			judge_class(k, w, &j->tally[worker], first + i, mask);
	}
}

/* LIDs that no class has settled.  0 on lack of memory. */
static bool
list_exact(struct classes *k, uint32_t *n_exact)
{
	struct judge *j = k->j;

	j->exact = calloc(j->fab->max_lid + 1u, 1);
	if (j->exact == NULL)
		return false;
	*n_exact = 0;
	for (uint32_t c = 0; c < k->n_classes; c++)
		for (uint32_t r = k->class[c].first_run;
		     k->exact[c] && r < k->class[c + 1].first_run; r++) {
			memset(j->exact + k->run[r].first, 1, k->run[r].n);
			*n_exact += k->run[r].n;
		}
	return true;
}

static int
judge_classes(struct classes *k, struct fm_pool *workers, bool *acyclic, struct fm_error *err)
{
	struct judge *j = k->j;
	uint32_t n_exact, n_tiles;
	int rc = 0;

	if (!setup(k))
		return FM_E_RESOURCE;
	n_tiles = (k->n_classes + CLASS_TILE - 1) / CLASS_TILE;
	fm_pool_for(workers, n_tiles, judge_tile, k);
	if (!list_exact(k, &n_exact))
		return FM_E_RESOURCE;
	if (n_exact * PATHS_SHARE > j->fab->max_lid && !tables_are_adaptive(j->t))
		rc = verify_paths(j, workers, err);
	if (rc == 0 && n_exact > 0)
		rc = verify_follow(j, workers, err);
	if (rc == 0)
		rc = verify_class_acyclic(k, n_exact > 0, acyclic);
	if (rc != 0 || *acyclic)
		return rc;
	if (!verify_class_exact_begin(k))
		return FM_E_RESOURCE;
	fm_pool_for(workers, n_tiles, judge_tile, k);
	verify_class_exact_end(k);
	return 0;
}

int
verify_classes(struct judge *j, struct fm_pool *workers, bool *acyclic, struct fm_error *err)
{
	struct classes k = { .j = j };
	int rc = judge_classes(&k, workers, acyclic, err);

	free_classes(&k);
	return rc == 0 ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}

int
verify_class_sums(
    struct judge *j, struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err)
{
	struct classes k = { .j = j, .sums = sums };
	bool ok;

	if (!classes_apply(j))
		return 0;
	ok = setup(&k);
	if (ok)
		fm_pool_for(workers, (k.n_classes + CLASS_TILE - 1) / CLASS_TILE, judge_tile, &k);
	free_classes(&k);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}
