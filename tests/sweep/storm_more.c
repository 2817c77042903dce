/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What storms of seeds above STORM_PLAIN_MAX have beside the others.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/storm_internal.h"

#define ONE_JUDGED_IN 16    /* storms */
#define JUDGED_NODES_MAX 40 /* on more it takes seconds for a storm */

#undef fail /* check.h has an old macro of this name */

/* ---------------------------------------------------------------- drawing */

static bool
is_leaf(const struct storm *s, uint32_t node)
{
	const struct netlist *nl = &s->rig.nl;

	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++) {
		uint32_t far = netlist_port(nl, node, p)->peer_node;

		if (far != NETLIST_NONE && nl->nodes[far].type != NETLIST_SWITCH)
			return true;
	}
	return false;
}

/* A node for an event, of the kind that it is about, where there is one. */
static uint32_t
draw_node(struct storm *s, enum what what)
{
	const struct netlist *nl = &s->rig.nl;
	uint32_t own_leaf = netlist_port(nl, s->rig.place, s->rig.port)->peer_node, node = 0;

	for (unsigned i = 0; i < 1000; i++) {
		bool is_switch;

		node = fm_rng_below(&s->more, nl->n_nodes);
		is_switch = rig_is_switch(&s->rig, node);
		if (node == s->rig.place)
			continue;
		if ((what == LEAF_PULLED && is_switch && is_leaf(s, node) && node != own_leaf) ||
		    (what == REBOOT_SPINE && is_switch && (!is_leaf(s, node) || i > 100)) ||
		    (what == REBOOT_TWICE && is_switch) ||
		    ((what == CHANGE_MIND || what == SECOND_SM) && !is_switch) ||
		    (what >= FIRST_PRANK && what < FIRST_PRANK + N_PRANKS))
			break;
	}
	return node;
}

static void
draw_event(struct storm *s, struct event *e)
{
	static const enum what likely[] = { TRAPS_LOST, TRAPS_LATE, ANSWERS_LOST, ANSWERS_LATE,
		ANSWERS_TWICE, REQUESTS_LOST, REQUESTS_LATE, REQUESTS_TWICE, LEAF_PULLED,
		REBOOT_SPINE, REBOOT_SPINE, REBOOT_TWICE, REBOOT_TWICE, KILL_BARE, CHANGE_MIND,
		CHANGE_MIND };

	e->what = likely[fm_rng_below(&s->more, sizeof(likely) / sizeof(*likely))];
	if (fm_rng_below(&s->more, 24) == 0)
		e->what = SECOND_SM;
	e->node = draw_node(s, e->what);
	e->for_ns = storm_between(&s->more, 300 * NS_PER_MS, 3000 * NS_PER_MS);
	if (e->what < LEAF_PULLED)
		e->for_ns /= 4;
	/* a Set does not come when fmd has given it up and sent another */
	if (e->what == REQUESTS_LATE || e->what == REQUESTS_TWICE)
		e->for_ns /= 8;
	e->n = 1 + fm_rng_below(&s->more, 4);
}

/* A cable between switches, or one of the two. */
static void
draw_isolated(struct storm *s, struct event *e)
{
	const struct netlist *nl = &s->rig.nl;
	uint32_t far;

	do {
		e->node = fm_rng_below(&s->more, nl->n_nodes);
		e->port = 1 + fm_rng_below(&s->more, nl->nodes[e->node].n_ports);
		far = netlist_port(nl, e->node, e->port)->peer_node;
	} while (!rig_is_switch(&s->rig, e->node) || far == NETLIST_NONE ||
	    !rig_is_switch(&s->rig, far));
	if (fm_rng_below(&s->more, 4) == 0)
		e->port = 0;
	e->what = ISOLATE;
	e->n = 0;
}

void
more_draw(struct storm *s, uint64_t seed)
{
	static const enum part parts[] = { HAS_PARTITIONS, HAS_GROUPS, HAS_ALIASES, HAS_STORE };
	static const uint32_t one_in[] = { 3, 3, 4, 8 };

	fm_rng_seed(&s->more, seed ^ UINT64_C(0x5707ab1e));
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (fm_rng_below(&s->more, one_in[i]) == 0)
			s->has |= (uint32_t)parts[i];
	s->remembers = fm_rng_below(&s->more, 2);
	s->second_stays = fm_rng_below(&s->more, 2);
	wishes_draw(s);
	for (unsigned i = 0; i < s->n_events; i++)
		if (fm_rng_below(&s->more, 3) == 0)
			draw_event(s, &s->events[i]);
	for (unsigned i = 0; seed > STORM_MORE_MAX && i < s->n_events; i++)
		if (s->events[i].what == SECOND_SM || fm_rng_below(&s->more, 3) == 0)
			draw_isolated(s, &s->events[i]);
	if (fm_rng_below(&s->more, ONE_JUDGED_IN) == 0 && s->rig.nl.n_nodes <= JUDGED_NODES_MAX)
		s->has |= HAS_JUDGE;
}

/* ----------------------------------------------------------------- packets */

static enum what
kind_of(const struct storm *s, const struct sim_arrival *a)
{
	if (a->by_agent)
		return REQUESTS_LOST;
	return a->mad[3] == WIRE_TRAP ? TRAPS_LOST : ANSWERS_LOST;
}

static enum sim_fate
tell_fate(void *arg, const struct sim_arrival *a, int64_t *late_ns)
{
	static const enum sim_fate fates[] = { SIM_IS_LOST, SIM_IS_LATE, SIM_COMES_TWICE };
	struct storm *s = arg;
	enum what kind = kind_of(s, a);

	if (!a->by_agent && a->at.node != s->rig.place)
		return SIM_COMES;
	for (unsigned i = 0; i < (kind == TRAPS_LOST ? 2u : 3u); i++) {
		struct prank *p = &s->pranks[kind + i - FIRST_PRANK];

		if (p->left == 0 || (a->by_agent && a->at.node != p->node))
			continue;
		p->left--;
		*late_ns = p->late_ns;
		return fates[i];
	}
	return SIM_COMES;
}

/* ------------------------------------------------------------------ events */

static void
do_later(struct storm *s, int64_t ns, const char *what)
{
	struct fm_error err = { 0 };
	char line[160];

	snprintf(line, sizeof(line), "at %lldus %s\n", (long long)ns / 1000, what);
	ck_assert_msg(sim_script(s->rig.sim, "storm", line, &err) == 0, "%s", err.msg);
}

/* All its cables, one after the other; where cables come back, in the same way. */
static void
pull_leaf(struct storm *s, const struct event *e)
{
	const struct netlist_node *n = &s->rig.nl.nodes[e->node];
	char what[128];

	for (unsigned p = 1; p <= n->n_ports; p++) {
		snprintf(what, sizeof(what), "unlink %s[%u]", n->id, p);
		do_later(s, e->for_ns * p / (4 * n->n_ports), what);
		snprintf(what, sizeof(what), "relink %s[%u]", n->id, p);
		if (s->relinks && netlist_port(&s->rig.nl, e->node, p)->peer_node != NETLIST_NONE)
			do_later(s, e->for_ns + e->for_ns * p / (4 * n->n_ports), what);
	}
}

/* The second time as its ports are up again, or while fmd brings it what it has lost. */
static void
reboot_twice(struct storm *s, const struct event *e)
{
	char what[128];

	sim_reboot(s->rig.sim, e->node, e->for_ns);
	snprintf(what, sizeof(what), "reboot %s for %lldus", s->rig.nl.nodes[e->node].id,
	    (long long)e->for_ns / 2000);
	do_later(s, e->for_ns + NS_PER_MS * e->n * e->n * e->n, what);
}

static void
play_prank(struct storm *s, const struct event *e)
{
	s->pranks[e->what - FIRST_PRANK] =
	    (struct prank){ .left = e->n, .node = e->node, .late_ns = e->for_ns };
	sim_set_fate(s->rig.sim, tell_fate, s);
}

void
more_happen(struct storm *s, const struct event *e)
{
	switch (e->what) {
	case LEAF_PULLED:
		pull_leaf(s, e);
		break;
	case REBOOT_SPINE:
		sim_reboot(s->rig.sim, e->node, e->for_ns);
		break;
	case REBOOT_TWICE:
		reboot_twice(s, e);
		break;
	case SECOND_SM:
		if (storm_has(s, HAS_JUDGE))
			break; /* who judges the plans of one fmd */
		s->asked = e;
		break;
	case KILL_BARE:
	case CHANGE_MIND:
	case ISOLATE:
		s->asked = e;
		break;
	default:
		play_prank(s, e);
		break;
	}
}

void
more_isolate(struct storm *s, const struct event *e)
{
	uint64_t guid = s->rig.nl.nodes[e->node].guid;

	if (!isolated_remove(&s->isolated, guid, (uint8_t)e->port))
		ck_assert(isolated_add(&s->isolated, guid, (uint8_t)e->port));
	sweeper_request(s->rig.sweeper, SWEEP_NAMED, "fmctl isolate or restore");
}

void
more_watch(struct storm *s)
{
	if (storm_has(s, HAS_JUDGE) && sweeper_plan(s->rig.sweeper) != NULL && s->locks == NULL)
		s->locks = locks_watch(&s->rig);
}

void
more_calm_down(struct storm *s)
{
	memset(s->pranks, 0, sizeof(s->pranks));
	sim_set_fate(s->rig.sim, NULL, NULL);
	if (!s->second_stays)
		second_stop(s);
}

/* ------------------------------------------------------------------- store */

void
more_open_store(struct storm *s, bool bare)
{
	struct fm_error err = { 0 };

	if (!storm_has(s, HAS_STORE))
		return;
	store_close(s->rig.store);
	s->rig.store = NULL;
	if (bare && s->folder[0] != '\0')
		folder_remove(s->folder);
	if (bare) {
		folder_make(s->folder);
		snprintf(s->plan_path, sizeof(s->plan_path), "%s/tables", s->folder);
	}
	ck_assert_msg(store_open(s->folder, &s->rig.store, &err) == 0, "%s", err.msg);
	s->rig.plan_path = s->plan_path;
}

void
more_fini(struct storm *s)
{
	second_stop(s);
	locks_fini(s->locks);
	s->locks = NULL;
	wishes_fini(s);
	if (s->folder[0] == '\0')
		return;
	store_close(s->rig.store);
	s->rig.store = NULL;
	folder_remove(s->folder);
}

void
more_describe(const struct storm *s, char text[STORM_TEXT_BYTES])
{
	static const char *const names[] = { "partitions", "groups", "alias GUIDs", "a store",
		"a judge" };
	size_t n = strlen(text);

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (n < STORM_TEXT_BYTES && storm_has(s, HAS_PARTITIONS << i))
			n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n, ", %s", names[i]);
	if (n < STORM_TEXT_BYTES && s->has != 0)
		snprintf(text + n, STORM_TEXT_BYTES - n, ", hosts' wishes are %s, a second fmd %s",
		    s->remembers ? "kept" : "forgotten", s->second_stays ? "stays" : "goes");
}
