/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict as sums over LIDs: those of which a length or a way has changed
 * are followed again from every switch, of the others the sums are known.
 *
 * That holds in one connected fabric, in one VL, where ends have come to or gone from few
 * switches.  Anything else, and any pair without a path (which needs a
 * witness), is for verify_tables().  Loops, wrong hosts and credit loops cannot
 * be there: each choice was followed to its LID, each dependency inserted.
 *
 * Time: one look-up per (switch, changed LID); a path to each LID from each switch where ends
 * came or went.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_entry.h"
#include "core/repair/repair_event.h"
#include "core/repair/repair_way.h"
#include "core/verify/verify.h"
#include "lib/bitset.h"
#include "lib/error.h"

#define OPEN 0xffffu  /* being followed, or leads nowhere */
#define WEIGH_MOST 8u /* switches of which some ends came or went, for which it is worth it */

bool
repair_sums_apply(const struct snapshot *snap, const struct fm_tables *t)
{
	return snap->n_components == 1 && t->sl_shape == FM_SL_ZERO && !depend_by_ports(t) &&
	    snap->fab.sw_first_end[snap->fab.n_switches] == snap->fab.n_ends;
}

struct summing {
	const struct snapshot *snap;
	const struct fm_tables *t;
	struct lid_sums *sums;
	const struct depend *g;
	const uint64_t *lost;	   /* [n_channels] bits */
	const uint16_t *n_sources; /* [n_switches] */
	const uint32_t *lid;	   /* [n] to be summed up */
	uint16_t *hops;		   /* [n_workers][n_switches] switches on the way, 0 = not known */
	fm_sw *path;		   /* [n_workers][n_switches] */
};

/* Switches on the way from sw to lid, or OPEN. */
static uint16_t
count_hops(const struct summing *s, uint16_t *hops, fm_sw *path, fm_sw sw, uint32_t lid)
{
	uint32_t n = 0;
	uint16_t after;

	while (hops[sw] == 0) {
		uint32_t c = depend_channel(s->g, sw, s->t->lft[sw][lid]);

		hops[sw] = OPEN;
		if (c == FM_NONE || s->g->to[c] == FM_NONE || fm_bit_test(s->lost, c))
			break;
		path[n++] = sw;
		sw = s->g->to[c];
	}
	after = hops[sw];
	while (n-- > 0) {
		after = after == OPEN ? OPEN : (uint16_t)(after + 1);
		hops[path[n]] = after;
	}
	return after;
}

/* One more switch has a way of h. */
static void
add_way(struct lid_sums *s, uint32_t h)
{
	if (h >= s->max_hops || s->n_at_next > 0)
		lid_sums_gather(s, h);
}

/* One has no longer.  False: which is the longest now is not known. */
static bool
remove_way(struct lid_sums *s, uint32_t h)
{
	if (h == s->next_hops && s->n_at_next > 0)
		s->n_at_next--;
	if (h != s->max_hops || --s->n_at_max > 0)
		return true;
	s->max_hops = s->next_hops;
	s->n_at_max = s->n_at_next;
	s->n_at_next = 0;
	return s->n_at_max > 0;
}

static void
sum_lid(void *arg, uint32_t i, unsigned worker)
{
	const struct summing *s = arg;
	uint32_t lid = s->lid[i];
	const struct fm_fabric *fab = &s->snap->fab;
	uint16_t *hops = s->hops + (size_t)worker * fab->n_switches;
	fm_sw *path = s->path + (size_t)worker * fab->n_switches, to;
	struct lid_sums sum = { .known = true };
	bool is_switch;
	fm_end e;

	e = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
	if (e == FM_NONE) {
		s->sums[lid] = sum;
		return;
	}
	to = fab->end_sw[e];
	is_switch = fab->end_kind[e] == FM_END_SWITCH;
	memset(hops, 0, fab->n_switches * sizeof(*hops));
	hops[to] = s->t->lft[to][lid] == fab->end_port[e] ? 1 : OPEN;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		/* an end is no source for its own LIDs */
		uint32_t n = s->n_sources[sw] - (sw == to && !is_switch), h;

		if (n == 0 && (!is_switch || sw == to || graph_is_gone(fab, sw)))
			continue;
		h = count_hops(s, hops, path, sw, lid);
		sum.switch_lost += h == OPEN && is_switch && sw != to;
		sum.lost += h == OPEN ? n : 0;
		sum.reached += h == OPEN ? 0 : n;
		sum.hops += h == OPEN ? 0 : (uint64_t)n * h;
		if (h != OPEN && n > 0)
			lid_sums_gather(&sum, h);
	}
	s->sums[lid] = sum;
}

static int
sum_up(struct summing *s, uint32_t n, struct fm_pool *workers, struct fm_error *err)
{
	size_t room = (size_t)s->snap->fab.n_switches * fm_pool_size(workers) + 1;
	bool ok;

	s->hops = malloc(room * sizeof(*s->hops));
	s->path = malloc(room * sizeof(*s->path));
	ok = s->hops != NULL && s->path != NULL;
	if (ok)
		fm_pool_for(workers, n, sum_lid, s);
	free(s->hops);
	free(s->path);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying a repair");
}

/* Ends that send, of each switch: [n_switches], malloced; NULL: out of memory. */
static uint16_t *
count_sources(const struct fm_fabric *fab)
{
	uint16_t *n = calloc(fab->n_switches + 1, sizeof(*n));

	for (fm_end e = 0; n != NULL && e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE)
			n[fab->end_sw[e]] += fab->end_kind[e] != FM_END_SWITCH;
	return n;
}

int
repair_sums_build(struct repair_state *st, struct snapshot *snap, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers, struct fm_error *err)
{
	uint32_t n = snap->fab.max_lid + 1u, n_left = 0, *lid = malloc(n * sizeof(*lid));
	uint16_t *n_sources = count_sources(&snap->fab);
	struct summing s = { .snap = snap,
		.t = t,
		.g = st->g,
		.lost = lost,
		.n_sources = n_sources,
		.lid = lid,
		.sums = calloc(n, sizeof(*s.sums)) };
	int rc = FM_E_RESOURCE;

	free(st->sums);
	st->sums = s.sums;
	st->n_sums = n;
	snapshot_put(st->sums_snap);
	st->sums_snap = snapshot_get(snap);
	if (lid == NULL || n_sources == NULL || s.sums == NULL)
		fm_fail(err, FM_E_RESOURCE, "out of memory while preparing for repairs");
	else
		rc = verify_sum_lids(snap, t, workers, s.sums, err);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (!s.sums[i].known)
			lid[n_left++] = i;
	if (rc == 0)
		rc = sum_up(&s, n_left, workers, err);
	if (rc != 0) {
		free(st->sums);
		st->sums = NULL;
	}
	free(lid);
	free(n_sources);
	return rc;
}

/* ----------------------------------------------------------- after an event */

static fm_end
owner(const struct fm_fabric *fab, uint32_t lid)
{
	return lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
}

/* LIDs that came, went or moved. */
static void
mark_moved(struct repair *p, const struct fm_fabric *was)
{
	if (graph_same_ends(was, p->fab))
		return;
	for (uint32_t lid = 0; lid < p->st->n_sums; lid++) {
		fm_end a = owner(was, lid), b = owner(p->fab, lid);

		if (a == FM_NONE && b == FM_NONE)
			continue;
		if (a == FM_NONE || b == FM_NONE || was->end_sw[a] != p->fab->end_sw[b] ||
		    was->end_kind[a] != p->fab->end_kind[b])
			p->dirty[lid] = 1;
	}
}

static bool
is_of_switch(const struct fm_fabric *fab, uint32_t lid)
{
	return fab->lid_end[lid] != FM_NONE && fab->end_kind[fab->lid_end[lid]] == FM_END_SWITCH;
}

/* Ways of switches to switches, which appear and vanish with a cable without
 * any entry being changed: the LIDs that leave by it. */
static void
mark_returned(struct repair *p, uint32_t channel)
{
	const uint8_t *row = p->t->lft[p->g->at[channel]];
	uint32_t port = channel - p->g->first[p->g->at[channel]];

	for (uint32_t lid = 1; lid <= p->fab->max_lid; lid++)
		if (row[lid] == port && is_of_switch(p->fab, lid) &&
		    p->st->sums[lid].switch_lost > 0)
			p->dirty[lid] = 1;
}

/* A switch that came or went had, or has, no way to some. */
static void
mark_unrouted(struct repair *p, fm_sw sw)
{
	for (uint32_t lid = 1; lid <= p->fab->max_lid; lid++) {
		if (!is_of_switch(p->fab, lid))
			continue;
		if (repair_depth_of(p, sw, lid, p->fab->end_sw[p->fab->lid_end[lid]]) == REPAIR_FAR)
			p->dirty[lid] = 1;
	}
}

static void
mark_changes(struct repair *p)
{
	const struct fm_fabric *was = &p->st->sums_snap->fab;

	mark_moved(p, was);
	FM_EACH_BIT (c, p->was_lost, p->g->n_channels)
		if (!fm_bit_test(p->lost, c))
			mark_returned(p, (uint32_t)c);
	repair_new_marks(p);
	for (fm_sw sw = 0; sw < p->fab->n_switches; sw++)
		if (graph_is_gone(was, sw) && !graph_is_gone(p->fab, sw))
			mark_unrouted(p, sw);
	/* one that went: by what it had before */
	for (fm_sw sw = 0; sw < p->fab->n_switches; sw++)
		if (!graph_is_gone(was, sw) && graph_is_gone(p->fab, sw)) {
			struct repair before = *p;

			before.t = &p->k->prev->tables->t;
			before.lost = p->was_lost;
			mark_unrouted(&before, sw);
		}
}

/* More or fewer ends of a switch send to every LID: `by` so many, along the
 * tables of p; others: it has some that stay. */
static void
weigh(struct repair *p, fm_sw sw, int by, bool others)
{
	for (uint32_t lid = 1; lid < p->st->n_sums; lid++) {
		fm_end e = owner(p->fab, lid);
		struct lid_sums *sum = &p->st->sums[lid];
		uint32_t h;

		if (e == FM_NONE || p->dirty[lid])
			continue;
		h = repair_depth_of(p, sw, lid, p->fab->end_sw[e]);
		if (h == REPAIR_FAR || p->fab->end_sw[e] == sw || sum->lost > 0) {
			p->dirty[lid] = 1;
			continue;
		}
		h++; /* switches */
		sum->reached += (uint32_t)by;
		sum->hops += (uint64_t)((int64_t)by * h);
		if (by > 0 && !others)
			add_way(sum, h);
		else if (!others && !remove_way(sum, h))
			p->dirty[lid] = 1;
	}
}

/* Switches from which more or fewer ends send.  False: so many that all are sooner judged. */
static bool
weigh_sources(struct repair *p, const uint16_t *was, const uint16_t *now)
{
	struct repair before = *p;
	uint32_t n = 0;

	before.t = &p->k->prev->tables->t;
	before.lost = p->was_lost;
	for (fm_sw sw = 0; sw < p->fab->n_switches; sw++)
		n += was[sw] != now[sw] && was[sw] != 0 && now[sw] != 0;
	for (fm_sw sw = 0; n <= WEIGH_MOST && sw < p->fab->n_switches; sw++)
		if (was[sw] != now[sw])
			weigh(now[sw] == 0 ? &before : p, sw, (int)now[sw] - (int)was[sw],
			    was[sw] != 0 && now[sw] != 0);
	return n <= WEIGH_MOST;
}

/* One switch's own packets go another length: like ends that went there and came here. */
static void
shift_lengths(struct repair *p, const uint16_t *n_sources)
{
	for (size_t i = 0; i < p->shifts.n; i++) {
		const struct repair_shift *s = &p->shifts.item[i];
		struct lid_sums *sum = &p->st->sums[s->lid];
		uint32_t from = s->from + 1, to = s->to + 1; /* switches */

		if (p->dirty[s->lid] || n_sources[s->sw] == 0)
			continue;
		sum->hops += (uint64_t)((int64_t)n_sources[s->sw] * ((int64_t)to - from));
		add_way(sum, to);
		if (!remove_way(sum, from))
			p->dirty[s->lid] = 1;
	}
}

static void
add_up(const struct repair_state *st, struct verdict *v)
{
	uint64_t hops = 0;

	for (uint32_t lid = 0; lid < st->n_sums; lid++) {
		const struct lid_sums *s = &st->sums[lid];

		v->reachable_pairs += s->reached;
		v->unreachable_pairs += s->lost;
		v->switch_pairs_unrouted += s->switch_lost;
		hops += s->hops;
		v->max_hops = s->max_hops > v->max_hops ? s->max_hops : v->max_hops;
	}
	v->avg_hops = v->reachable_pairs > 0 ? (double)hops / (double)v->reachable_pairs : 0;
	v->vls = 1;
}

static int
sum_dirty(struct repair *p, const uint16_t *n_sources, struct fm_error *err)
{
	struct repair_state *st = p->st;
	uint32_t *lid = malloc((st->n_sums + 1) * sizeof(*lid)), n = 0;
	struct summing s = { .snap = p->k->snap,
		.t = p->t,
		.g = p->g,
		.lost = p->lost,
		.n_sources = n_sources,
		.lid = lid,
		.sums = st->sums };
	int rc;

	for (uint32_t i = 0; lid != NULL && i < st->n_sums; i++)
		if (p->dirty[i])
			lid[n++] = i;
	rc = lid != NULL ? sum_up(&s, n, p->r->workers, err)
			 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying a repair");
	free(lid);
	return rc;
}

int
repair_judge(struct repair *p, bool *judged, struct fm_error *err)
{
	struct repair_state *st = p->st;
	struct snapshot *before = st->sums_snap;
	struct verdict v = { 0 };
	uint16_t *was, *now;
	int rc = 0;

	*judged = st->sums != NULL && !p->g->cyclic && repair_sums_apply(p->k->snap, p->t) &&
	    before->n_components == 1 && p->fab->max_lid < st->n_sums;
	if (!*judged)
		return 0;
	now = count_sources(p->fab);
	was = before->fab.end_sw == p->fab->end_sw ? now : count_sources(&before->fab);
	if (was == NULL || now == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while verifying a repair");
	if (rc == 0) {
		mark_changes(p);
		shift_lengths(p, was);
		*judged = weigh_sources(p, was, now);
	}
	if (rc == 0 && *judged)
		rc = sum_dirty(p, now, err);
	if (was != now)
		free(was);
	free(now);
	add_up(st, &v);
	*judged = *judged && v.unreachable_pairs == 0;
	if (*judged) {
		p->k->p->verdict = v;
		snapshot_put(before);
		st->sums_snap = snapshot_get(p->k->snap);
	}
	return rc;
}
