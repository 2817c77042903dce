/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs of a tile judged together.
 *
 * A tile are 64 LIDs that follow one another, a cache line of every row; a set of them is a
 * word.  A switch sends them by a few ports: an entry is a link and the LIDs that go by it
 * (verify_path_split.c).  Which LIDs a switch reaches in h hops are those of its entries whose next
 * switch reaches them in h - 1, so all are found level by level, from the switches
 * that own them.  Packets are followed the other way, the farthest first
 * (verify_path_carry.c).
 *
 * Only what is in order is settled here: every source reaches the LID, no loop, no
 * entry that hands it to somebody else.  Other LIDs are left to verify_follow.c.  Sums and
 * dependencies of both add up to the exact ones.
 *
 * Time: two bytes read per (switch, LID); per tile O(1) for each entry and level on which its
 * switch has not reached all, and for each pair of an entry and one of the next switch that
 * have LIDs in common.
 * Memory per worker: entries and levels of a tile, up to 1 KiB a switch and 64 words a link,
 * of which few are touched.
 */
#include "core/verify/verify_class.h"
#include "core/verify/verify_path.h"

#include "lib/error.h"

#define AHEAD 8u /* rows between being asked for and being read */

/* ------------------------------------------------------------ a tile */

/* Does the switch hand this LID, which is behind it, to its owner? */
static bool
delivers(const struct judge *j, fm_sw sw, uint16_t lid)
{
	uint8_t port = j->t->lft[sw][lid];

	return port == j->fab->end_port[j->fab->lid_end[lid]] &&
	    next_switch(j, sw, port) == FM_NONE;
}

static void
add_owner(struct path_walker *w, fm_sw sw, uint64_t lid)
{
	if (w->home[sw] == 0)
		w->owner[w->n_owners++] = (struct path_owner){ .sw = sw };
	w->home[sw] |= lid;
}

/* The LIDs of the tile that are to be judged, and who has them; false: there is none. */
static bool
list_lids(const struct path_judge *k, struct path_walker *w)
{
	struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	for (uint32_t i = 0; i < w->n_owners; i++)
		w->home[w->owner[i].sw] = 0;
	w->lids = w->switch_lids = 0;
	w->n_owners = 0;
	for (uint32_t i = 0; i < LANES && w->base + i <= fab->max_lid; i++) {
		uint16_t lid = (uint16_t)(w->base + i);
		fm_sw sw = verify_class_switch(fab, lid);

		if (sw == FM_NONE)
			j->exact[lid] = 0;
		if (!j->exact[lid] || !delivers(j, sw, lid))
			continue;
		add_owner(w, sw, (uint64_t)1 << i);
		w->lids |= (uint64_t)1 << i;
		if (fab->end_kind[fab->lid_end[lid]] == FM_END_SWITCH)
			w->switch_lids |= (uint64_t)1 << i;
	}
	for (uint32_t i = 0; i < w->n_owners; i++)
		w->owner[i].lids = w->home[w->owner[i].sw];
	return w->lids != 0;
}

/* The LIDs of its component; none where the switch is gone.  Those behind it are reached at once,
 * and are sent by no link. */
static uint64_t
wanted_of(const struct path_judge *k, const struct path_walker *w, fm_sw sw)
{
	const struct snapshot *snap = k->j->snap;
	uint64_t lids = 0;

	if (snap->n_components == 1 && snap->sw_component[sw] == 0)
		return w->lids;
	for (uint32_t i = 0; i < w->n_owners; i++)
		if (snap->sw_component[w->owner[i].sw] == snap->sw_component[sw])
			lids |= w->owner[i].lids;
	return lids;
}

/* Entries of a switch behind those of the switches before. */
static uint32_t
load_switch(const struct path_judge *k, struct path_walker *w, fm_sw sw, uint64_t wanted)
{
	const struct judge *j = k->j;
	const struct path_link *link = k->states.link + j->fab->sw_first_link[sw];
	struct path_part part[LANES];
	uint32_t n_parts = verify_path_split(j->t->lft[sw] + w->base, wanted, part);
	uint32_t n = w->first_entry[sw];

	w->none[sw] = 0;
	for (uint32_t i = 0; i < n_parts; i++) {
		uint8_t port = part[i].value, slot;

		if (next_switch(j, sw, port) != FM_NONE) {
			slot = j->port_slot[j->port_first[sw] + port];
			w->entry[n++] = (struct path_entry){ part[i].lids, link[slot].row,
				(uint16_t)link[slot].to, slot };
		} else if (port == FM_PORT_NONE)
			w->none[sw] = part[i].lids;
	}
	return n;
}

static void
load_entries(const struct path_judge *k, struct path_walker *w)
{
	uint32_t n_switches = k->j->fab->n_switches;

	w->n_active = 0;
	for (fm_sw sw = 0; sw < n_switches; sw++) {
		uint64_t wanted = wanted_of(k, w, sw);

		if (sw + AHEAD < n_switches)
			__builtin_prefetch(k->j->t->lft[sw + AHEAD] + w->base);
		w->first_entry[sw + 1] = load_switch(k, w, sw, wanted);
		w->left[sw] = wanted;
		if (wanted != 0)
			w->active[w->n_active++] = sw;
	}
}

/* ------------------------------------------------------------ hops */

/* Who reaches what by one hop more than the level before, whose steps are told. */
static uint32_t
next_level(struct path_walker *w, uint32_t n)
{
	uint32_t n_active = 0;

	for (uint32_t i = 0; i < w->n_active; i++) {
		fm_sw sw = w->active[i];
		uint64_t fresh = 0;

		if (w->left[sw] == 0)
			continue;
		for (uint32_t e = w->first_entry[sw]; e < w->first_entry[sw + 1]; e++)
			fresh |= w->entry[e].lids & w->reached[w->entry[e].to];
		fresh &= w->left[sw];
		if (fresh != 0)
			w->step[n++] = (struct path_step){ fresh, sw };
		w->active[n_active++] = sw;
	}
	w->n_active = n_active;
	return n;
}

static void
find_levels(const struct path_judge *k, struct path_walker *w)
{
	uint32_t n = 0, level = 1;

	memset(w->reached, 0, k->j->fab->n_switches * sizeof(*w->reached));
	w->first_step[level] = 0;
	for (uint32_t i = 0; i < w->n_owners; i++)
		w->step[n++] = (struct path_step){ w->owner[i].lids, w->owner[i].sw };
	while (n > w->first_step[level]) {
		for (uint32_t i = w->first_step[level]; i < n; i++) {
			const struct path_step *step = &w->step[i];

			w->reached[step->sw] |= step->lids;
			w->left[step->sw] &= ~step->lids;
		}
		w->first_step[++level] = n;
		n = next_level(w, n);
	}
	w->n_levels = level;
}

/* LIDs that some source does not reach. */
static uint64_t
find_lost(const struct path_judge *k, const struct path_walker *w)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < w->n_active; i++)
		if (k->j->n_sources[w->active[i]] > 0)
			lost |= w->left[w->active[i]];
	return lost;
}

/* Of what switches have not reached: that whose way ends where there is no entry, instead of
 * `none`. */
static void
find_ends(const struct path_judge *k, struct path_walker *w)
{
	uint64_t *ends = w->reached; /* of no use any more */
	bool changed = true;

	memset(ends, 0, k->j->fab->n_switches * sizeof(*ends));
	for (uint32_t i = 0; i < w->n_active; i++)
		ends[w->active[i]] = w->none[w->active[i]] & w->left[w->active[i]];
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < w->n_active; i++) {
			fm_sw sw = w->active[i];
			uint64_t more = 0;

			for (uint32_t e = w->first_entry[sw]; e < w->first_entry[sw + 1]; e++)
				more |= w->entry[e].lids & ends[w->entry[e].to];
			changed |= (more & ~ends[sw]) != 0;
			ends[sw] |= more;
		}
	}
}

/* Switches without sources send to the LIDs of switches only.  *n_lost: pairs without a way.
 * Returns the LIDs of `of` that are in order: their ways end, at an owner or where there
 * is no entry. */
static uint64_t
look_at_rest(const struct path_judge *k, struct path_walker *w, uint64_t of, uint64_t *n_lost)
{
	uint64_t lost = 0, odd = 0;

	*n_lost = 0;
	for (uint32_t i = 0; i < w->n_active; i++)
		lost |= w->left[w->active[i]] & w->switch_lids & of;
	if (lost == 0)
		return of;
	find_ends(k, w);
	for (uint32_t i = 0; i < w->n_active; i++)
		odd |= w->left[w->active[i]] & ~w->reached[w->active[i]] & lost;
	for (uint32_t i = 0; i < w->n_active; i++)
		*n_lost += (uint64_t)__builtin_popcountll(w->left[w->active[i]] & lost & ~odd);
	return of & ~odd;
}

/* ------------------------------------------------------------ sums */

static uint32_t
count(uint64_t lids)
{
	return (uint32_t)__builtin_popcountll(lids);
}

/* An end is no source for its own LIDs. */
static void
add_sums(const struct path_judge *k, const struct path_walker *w, uint64_t lids, struct tally *into)
{
	const struct judge *j = k->j;
	uint32_t n_ends = count(lids & ~w->switch_lids);

	for (uint32_t h = 1; h < w->n_levels; h++)
		for (uint32_t i = w->first_step[h]; i < w->first_step[h + 1]; i++) {
			const struct path_step *step = &w->step[i];
			uint64_t n = (uint64_t)count(step->lids & lids) * j->n_sources[step->sw];
			bool alone = h == 1 && j->n_sources[step->sw] == 1 &&
			    (step->lids & lids & w->switch_lids) == 0;

			into->reached += n;
			into->hops += n * h;
			if (n > 0 && !alone && h > into->max_hops)
				into->max_hops = h;
		}
	into->reached -= n_ends;
	into->hops -= n_ends;
	for (uint32_t i = 0; i < w->n_owners; i++)
		into->disjoint += (uint64_t)count(w->owner[i].lids & lids) *
		    (j->all_sources - j->component_sources[j->snap->sw_component[w->owner[i].sw]]);
}

static void
judge_tile(void *arg, uint32_t tile, unsigned worker)
{
	const struct path_judge *k = arg;
	struct path_walker *w = &k->walkers[worker];
	struct tally *into = &k->j->tally[worker];
	uint64_t lids, n_lost;

	w->base = tile * LANES;
	if (verify_is_given_up(k->j->req) || !list_lids(k, w))
		return;
	load_entries(k, w);
	find_levels(k, w);
	lids = look_at_rest(k, w, w->lids & ~find_lost(k, w), &n_lost);
	for (uint64_t left = lids; left != 0; left &= left - 1)
		k->j->exact[w->base + (uint32_t)__builtin_ctzll(left)] = 0;
	if (lids == 0)
		return;
	add_sums(k, w, lids, into);
	into->switch_lost += n_lost;
	verify_path_carry(k, w, lids);
}

/* ------------------------------------------------------------ set-up */

static bool
setup_sources(struct path_judge *k)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = 0;

	k->source_first = malloc((fab->n_switches + 1) * sizeof(*k->source_first));
	k->source = malloc((fab->n_ends + 1) * sizeof(*k->source));
	k->inject_row = malloc((fab->n_switches + 1) * sizeof(*k->inject_row));
	k->inject_word = malloc((fab->n_switches + 1) * sizeof(*k->inject_word));
	if (k->source_first == NULL || k->source == NULL || k->inject_row == NULL ||
	    k->inject_word == NULL)
		return false;
	for (fm_sw u = 0; u < fab->n_switches; u++) {
		k->source_first[u] = n;
		for (fm_end e = fab->sw_first_end[u]; e < fab->sw_first_end[u + 1]; e++)
			if (is_source(fab, e))
				k->source[n++] = (struct path_source){ .lid = fab->end_lid[e],
					.n = fab->end_lid[e] != 0
					    ? (uint16_t)(1u << fab->end_lmc[e])
					    : 0,
					.port = fab->end_port[e] };
	}
	k->source_first[fab->n_switches] = n;
	verify_path_find_rows(k);
	return true;
}

static bool
setup_walker(const struct path_judge *k, struct path_walker *w)
{
	uint32_t n = k->j->fab->n_switches + 1, n_links = k->j->fab->n_links + 1;

	w->home = calloc(n, sizeof(*w->home));
	w->none = malloc(n * sizeof(*w->none));
	w->entry = malloc(n_links * sizeof(*w->entry));
	w->first_entry = calloc(n, sizeof(*w->first_entry));
	w->reached = malloc(n * sizeof(*w->reached));
	w->left = malloc(n * sizeof(*w->left));
	w->active = malloc(n * sizeof(*w->active));
	w->step = malloc((size_t)n * LANES * sizeof(*w->step));
	w->first_step = malloc((n + 2) * sizeof(*w->first_step));
	w->sent = malloc((size_t)n * k->states.width * sizeof(*w->sent));
	w->set = malloc((size_t)n_links * k->states.n_bits * sizeof(*w->set));
	return w->home != NULL && w->none != NULL && w->entry != NULL && w->first_entry != NULL &&
	    w->reached != NULL && w->left != NULL && w->active != NULL && w->step != NULL &&
	    w->first_step != NULL && w->sent != NULL && w->set != NULL;
}

static bool
setup(struct path_judge *k)
{
	if (!setup_sources(k))
		return false;
	k->walkers = calloc(k->j->n_workers, sizeof(*k->walkers));
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++)
		if (!setup_walker(k, &k->walkers[i]))
			return false;
	return k->walkers != NULL;
}

static void
free_path_judge(struct path_judge *k)
{
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++) {
		struct path_walker *w = &k->walkers[i];

		free(w->home);
		free(w->none);
		free(w->entry);
		free(w->first_entry);
		free(w->reached);
		free(w->left);
		free(w->active);
		free(w->step);
		free(w->first_step);
		free(w->sent);
		free(w->set);
	}
	free(k->walkers);
	free(k->source_first);
	free(k->source);
	free(k->inject_row);
	free(k->inject_word);
	verify_path_states_free(&k->states);
}

int
verify_paths(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct path_judge k = { .j = j };
	bool fits = false;
	int rc = verify_path_states(j, workers, &k.states, &fits);

	if (rc == 0 && fits && j->exact == NULL) {
		j->exact = malloc(j->fab->max_lid + 1u);
		if (j->exact != NULL)
			memset(j->exact, 1, j->fab->max_lid + 1u);
	}
	if (rc == 0 && fits && (j->exact == NULL || !setup(&k)))
		rc = FM_E_RESOURCE;
	if (rc == 0 && fits) {
		fm_pool_for(workers, j->fab->max_lid / LANES + 1, judge_tile, &k);
		verify_path_states_note(j, workers, &k.states);
	}
	free_path_judge(&k);
	return rc == 0 ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}
