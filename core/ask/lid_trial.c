/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/lid_trial.c - which SMPs arrive that are not directed all the way: some Gets are sent
 * for which nobody waits, and their answers open a way (lid_route.c).
 */
#include "core/ask/doubt.h"
#include "core/ask/internal.h"

#define TRIALS 3 /* at once: a switch may not take them though all others do */

/* What the trial in a->kind went by. */
#define TRIAL_MIXED 1
#define TRIAL_INACTIVE 2

static void
open_way(struct sweeper *s, enum smp_way way)
{
	static const char *const what[N_SMP_WAYS] = { "LID-routed SMPs",
		"LID-routed SMPs over links that are not active", "mixed SMPs" };

	s->ways.way[way] = WAY_OPEN;
	if (s->ways.n_closed[way] > 0)
		log_notice("sweep", "%s are answered now, and used from here on", what[way]);
	s->ways.n_closed[way] = 0;
}

void
lid_route_reopen(struct sweeper *s)
{
	for (unsigned i = 0; i < N_SMP_WAYS; i++)
		if ((s->ways.way[i] == WAY_CLOSED && s->report.number >= s->ways.closed_until[i]) ||
		    (s->ways.way[i] == WAY_ON_TRIAL && s->ways.n_trials[i == WAY_MIXED] == 0))
			s->ways.way[i] = WAY_UNTRIED;
}

/* It was not answered, by a node that answers directed ones. */
static void
trial_lost(struct sweeper *s, unsigned kind)
{
	bool inactive = kind & TRIAL_INACTIVE;

	if (kind & TRIAL_MIXED) {
		/* was it the part by LID? */
		s->ways.way[WAY_MIXED] = WAY_UNTRIED;
		if (lid_road_is_open(s, inactive ? ROAD_INACTIVE : ROAD_ACTIVE))
			lid_route_close(s, WAY_MIXED,
			    "mixed SMPs are not answered here: what has no LID yet is reached by "
			    "directed ones");
		return;
	}
	if (inactive)
		lid_route_close(s, WAY_INACTIVE,
		    "LID-routed SMPs are not answered over links that are not active: the first "
		    "tables are written by directed ones");
	else
		lid_route_close(s, WAY_BY_LID,
		    "LID-routed SMPs are not answered here: forwarding tables are written by "
		    "directed ones");
}

/* One answer opens the way; it is closed when none of those sent together has one. */
static void
on_trial(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	bool mixed = a->kind & TRIAL_MIXED, tried = false;

	s->ways.n_trials[mixed]--;
	if (status == TXN_OK || (status == TXN_REFUSED && !mixed)) {
		open_way(s, WAY_BY_LID);
		if (a->kind & TRIAL_INACTIVE)
			open_way(s, WAY_INACTIVE);
		if (mixed)
			open_way(s, WAY_MIXED);
		else
			inv_node(&s->inv, a->node)->by_lid.takes = true;
	}
	for (unsigned i = 0; s->ways.n_trials[mixed] == 0 && i < N_SMP_WAYS; i++)
		if (s->ways.way[i] == WAY_ON_TRIAL && (i == WAY_MIXED) == mixed) {
			s->ways.way[i] = WAY_UNTRIED;
			tried = true;
		}
	if (tried && status != TXN_CANCELLED)
		trial_lost(s, a->kind);
}

static void
send_trial(struct sweeper *s, uint32_t slot, const struct smp_route *route, unsigned kind)
{
	struct ask *a = ask_new(s, slot, 0);
	struct smp_route once = *route;

	if (a == NULL)
		return;
	once.max_tries = 1; /* by the time of another the links may be active */
	s->ways.n_trials[kind & TRIAL_MIXED]++;
	a->kind = (uint8_t)kind;
	a->wait = ASK_BESIDE;
	ask_get(a, &once, WIRE_ATTR_SWITCH_INFO, 0, on_trial);
}

/* A switch as it may be asked in vain; route: the directed one. */
static bool
is_fit(const struct sweeper *s, uint32_t slot, struct smp_route *route)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return node_usable(n) && !n->quiet && !n->by_lid.fails &&
	    inv_route(&s->inv, slot, 0, route) && route->n_hops >= NEAR_HOPS;
}

static bool
is_untried(const struct sweeper *s, enum road road)
{
	if (road == ROAD_ACTIVE)
		return s->ways.way[WAY_BY_LID] == WAY_UNTRIED;
	return road == ROAD_INACTIVE && s->ways.way[WAY_INACTIVE] == WAY_UNTRIED &&
	    (s->ways.way[WAY_BY_LID] == WAY_UNTRIED || s->ways.way[WAY_BY_LID] == WAY_OPEN);
}

/* All those sent at once go over the same kind of road. */
static void
try_by_lid(struct sweeper *s)
{
	enum road road = ROAD_NONE;
	struct smp_route route;

	for (size_t i = 0; i < s->inv.switches.n && s->ways.n_trials[0] < TRIALS; i++) {
		uint32_t slot = s->inv.switches.item[i];
		enum road r = is_fit(s, slot, &route) ? lid_road_to(s, slot, 0) : ROAD_NONE;

		if (road == ROAD_NONE && is_untried(s, r)) {
			road = r;
			if (road == ROAD_INACTIVE)
				s->ways.way[WAY_INACTIVE] = WAY_ON_TRIAL;
			if (s->ways.way[WAY_BY_LID] == WAY_UNTRIED)
				s->ways.way[WAY_BY_LID] = WAY_ON_TRIAL;
		}
		if (road == ROAD_NONE || r != road)
			continue;
		lid_route_make(&route, inv_node(&s->inv, slot)->ports[0].lid);
		send_trial(s, slot, &route, road == ROAD_INACTIVE ? TRIAL_INACTIVE : 0);
	}
}

/* ... and by way of different switches. */
static void
try_mixed(struct sweeper *s)
{
	uint32_t before = INV_NONE;
	enum road road = ROAD_NONE;
	struct smp_route route;

	for (size_t i = 0; i < s->inv.switches.n && s->ways.n_trials[1] < TRIALS; i++) {
		uint32_t slot = s->inv.switches.item[i], via;
		enum road r;

		if (!is_fit(s, slot, &route) || route.n_hops <= NEAR_HOPS)
			continue;
		via = inv_before(&s->inv, slot, 0);
		r = via != INV_NONE && via != before ? lid_road_to(s, via, 0) : ROAD_NONE;
		if (r == ROAD_NONE || (road != ROAD_NONE && r != road) ||
		    s->ways.way[WAY_BY_LID] == WAY_CLOSED ||
		    (r == ROAD_INACTIVE && s->ways.way[WAY_INACTIVE] == WAY_CLOSED))
			continue;
		road = r;
		before = via;
		s->ways.way[WAY_MIXED] = WAY_ON_TRIAL;
		lid_route_make_mixed(s, &route, via);
		send_trial(
		    s, slot, &route, TRIAL_MIXED | (road == ROAD_INACTIVE ? TRIAL_INACTIVE : 0));
	}
}

void
lid_route_try(struct sweeper *s)
{
	if (!s->set.sweep.lid_routed_smps || s->set.dry_run)
		return;
	if (s->ways.n_trials[0] == 0 && s->ways.way[WAY_BY_LID] != WAY_CLOSED &&
	    (s->ways.way[WAY_BY_LID] == WAY_UNTRIED ||
		(s->ways.way[WAY_INACTIVE] == WAY_UNTRIED && s->ways.waves != NULL)))
		try_by_lid(s);
	if (s->ways.n_trials[1] == 0 && s->ways.way[WAY_MIXED] == WAY_UNTRIED)
		try_mixed(s);
}
