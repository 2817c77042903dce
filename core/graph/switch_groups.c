/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/graph/switch_groups.h"

#include <ctype.h>

#include "lib/error.h"

struct work {
	const struct fm_fabric *fab;
	const uint32_t *level; /* [n_switches] */
	fm_sw *queue;	       /* [n_switches] scratch */
	struct fm_hash seen;   /* chassis or name -> group, or how many */
	struct switch_groups *out;
};

static bool
is_there(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw] < fab->sw_first_link[sw + 1] ||
	    fab->sw_first_end[sw] < fab->sw_first_end[sw + 1];
}

static uint32_t
begin_group(struct switch_groups *g, fm_sw first)
{
	g->first[g->n] = first;
	return g->n++;
}

size_t
switch_group_stem(const char *name)
{
	size_t all = strlen(name), n = all;

	while (n > 0 && !isdigit((unsigned char)name[n - 1]))
		n--;
	while (n > 0 && isdigit((unsigned char)name[n - 1]))
		n--;
	return n > 0 ? n : all;
}

/* ----------------------------------------------------- by a key of each switch */

static uint64_t
key_of(const struct work *w, fm_sw sw)
{
	const char *name = w->fab->sw_name[sw];
	uint64_t chassis = w->fab->sw_system_guid[sw];

	if (w->out->by == GROUPED_BY_CHASSIS)
		return chassis != 0 ? chassis : w->fab->sw_guid[sw];
	return fm_hash_bytes(0, name, switch_group_stem(name));
}

static bool
group_by_key(struct work *w)
{
	bool ok = true;

	fm_hash_fini(&w->seen);
	w->seen = (struct fm_hash){ 0 };
	for (fm_sw sw = 0; ok && sw < w->fab->n_switches; sw++) {
		uint64_t key = key_of(w, sw);
		uint32_t group = fm_hash_find(&w->seen, key);

		if (!is_there(w->fab, sw))
			continue;
		if (group == FM_HASH_NONE) {
			group = begin_group(w->out, sw);
			ok = fm_hash_put(&w->seen, key, group);
		}
		w->out->group[sw] = group;
	}
	return ok;
}

/* Are most switches in a chassis with another?  False in *ok: out of memory. */
static bool
has_chassis(struct work *w, bool *ok)
{
	const uint64_t *guid = w->fab->sw_system_guid;
	uint32_t n_there = 0, n_with_another = 0;

	*ok = true;
	for (fm_sw sw = 0; *ok && sw < w->fab->n_switches; sw++) {
		uint32_t n = fm_hash_find(&w->seen, guid[sw]);

		if (!is_there(w->fab, sw))
			continue;
		n_there++;
		if (guid[sw] == 0)
			continue;
		n = n == FM_HASH_NONE ? 1 : n + 1;
		n_with_another += n == 2 ? 2 : n > 2;
		*ok = fm_hash_put(&w->seen, guid[sw], n);
	}
	return *ok && 2 * n_with_another > n_there;
}

/* ------------------------------------------------------------------- by levels */

/* All that is joined to `first` by switches of the levels low to high, and has no group yet; those
 * of the level low that have one are passed. */
static void
spread(struct work *w, fm_sw first, uint32_t low, uint32_t high, uint32_t *mark)
{
	uint32_t group = begin_group(w->out, first), head = 0, tail = 0;

	w->queue[tail++] = first;
	mark[first] = group;
	while (head < tail) {
		fm_sw sw = w->queue[head++];

		for (fm_link l = w->fab->sw_first_link[sw]; l < w->fab->sw_first_link[sw + 1];
		     l++) {
			fm_sw to = w->fab->link_to[l];

			if (mark[to] != FM_NONE || w->level[to] < low || w->level[to] > high)
				continue;
			mark[to] = group;
			w->queue[tail++] = to;
		}
	}
}

/* The parts below the top; then, of the top and the level below it, parts anew, for the top alone.
 * What has no level (no host is reached from it) counts as top. */
static void
group_by_levels(struct work *w, uint32_t top, uint32_t *mark)
{
	uint32_t n_switches = w->fab->n_switches, *group = w->out->group;

	for (fm_sw sw = 0; sw < n_switches; sw++)
		if (is_there(w->fab, sw) && w->level[sw] < top && group[sw] == FM_NONE)
			spread(w, sw, 0, top - 1, group);
	memset(mark, 0xff, n_switches * sizeof(*mark));
	for (fm_sw sw = 0; sw < n_switches; sw++)
		if (is_there(w->fab, sw) && w->level[sw] >= top && mark[sw] == FM_NONE)
			spread(w, sw, top - 1, UINT32_MAX, mark);
	for (fm_sw sw = 0; sw < n_switches; sw++)
		if (w->level[sw] >= top)
			group[sw] = mark[sw];
}

static uint32_t
top_level(const struct work *w)
{
	uint32_t top = 0;

	for (fm_sw sw = 0; sw < w->fab->n_switches; sw++)
		if (w->level[sw] != UINT32_MAX && w->level[sw] > top)
			top = w->level[sw];
	return top;
}

int
switch_groups_find(const struct fm_fabric *fab, const uint32_t *level, struct fm_arena *mem,
    struct switch_groups *out, struct fm_error *err)
{
	size_t n = (size_t)fab->n_switches + 1;
	struct work w = { fab, level, fm_arena_array(mem, n, fm_sw), { 0 }, out };
	uint32_t *mark = fm_arena_array(mem, n, uint32_t), top;
	bool ok;

	*out = (struct switch_groups){ .group = fm_arena_array(mem, n, uint32_t),
		.first = fm_arena_array(mem, n, fm_sw) };
	ok = w.queue != NULL && mark != NULL && out->group != NULL && out->first != NULL;
	if (ok) {
		memset(out->group, 0xff, n * sizeof(*out->group));
		top = top_level(&w);
		out->by = has_chassis(&w, &ok) ? GROUPED_BY_CHASSIS
		    : top > 0		       ? GROUPED_BY_LEVELS
					       : GROUPED_BY_NAMES;
		if (ok && out->by == GROUPED_BY_LEVELS)
			group_by_levels(&w, top, mark);
		else if (ok)
			ok = group_by_key(&w);
	}
	fm_hash_fini(&w.seen);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for groups of switches");
}
