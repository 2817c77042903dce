/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of opa-fm's shortestpath module: destination outside, switch inside,
 * so that each destination finds the counts that those before left everywhere.
 * Its own paths are not known while it chooses, only the next step of each
 * switch: that is what makes it cheap, and less even than sssp_greedy.c.
 *
 * Nearly all time goes into looking at the choices of a switch for a LID, so all that is
 * asked of a link stands by *place*: its number when the links of each switch are
 * sorted by port.  Where all links are equally fast, distances are hops.
 */
#include "plugins/common/sssp/counts.h"

#include <string.h>

#include "plugins/common/paths/lids.h"

#define COST_OF_1_MBPS 120000000u /* 100 Gbit/s costs 1200, 800 Gbit/s 150 */
#define COST_UNKNOWN 120000u	  /* as 1 Gbit/s */
#define TURNS 32		  /* searches ahead */

/* LIDs led over each link, and into each switch from anywhere. */
struct count {
	uint32_t *place; /* [n_links] */
	uint32_t *enter; /* [n_switches] */
};

/* A run of ends of one switch, and what each switch may choose among for them. */
struct turn {
	uint32_t first, n;	/* of the order */
	uint32_t *choice;	/* [n_links] places */
	uint32_t *first_choice; /* [n_choosers + 1] */
};

struct counts {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_counting *how;
	const struct fm_tables *out;
	struct fm_steps *steps; /* [n_workers] */
	struct fm_divergence divergence;
	bool several;		/* an end has several LIDs: .all and .divergence are of use */
	struct count all, base; /* hosts' LIDs; hosts' first LIDs */
	fm_arc *arc_of;		/* [n_links] */
	uint8_t *edge;		/* [n_switches] has hosts */
	uint8_t *inside;	/* [n_switches] has neighbours in its own chassis */
	uint8_t *mixed;		/* [n_switches] has links of several speeds */
	fm_sw *chooser;		/* [n_choosers] switches of this pass */
	uint32_t n_choosers;
	/* [n_links] by place: */
	fm_link *link;
	fm_sw *to;
	uint8_t *port;
	struct turn turns[TURNS];
};

/* ------------------------------------------------------------------ choice */

static bool
is_spine(const struct counts *c, fm_sw u, fm_link l)
{
	return c->fab->sw_system_guid[u] == c->fab->sw_system_guid[c->fab->link_to[l]];
}

static bool
is_step(const struct counts *c, const struct fm_steps *steps, fm_sw u, fm_link l)
{
	return fm_is_step(steps, u, c->arc_of[l]);
}

/* Are there spine steps, which then are the only ones?  And how fast is the
 * fastest of those that count? */
static uint32_t
look_at_steps(const struct counts *c, const struct fm_steps *steps, fm_sw u, bool *spines)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t fastest = 0;

	*spines = false;
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
		bool spine = c->how->spine_first && c->inside[u] && is_spine(c, u, l);

		if (!is_step(c, steps, u, l) || (*spines && !spine))
			continue;
		if (spine && !*spines)
			fastest = 0;
		*spines |= spine;
		fastest = fab->link_mbps[l] > fastest ? fab->link_mbps[l] : fastest;
	}
	return fastest;
}

/* What the end's LIDs before this one use at u already. */
static uint64_t
shared_here(const struct counts *c, uint32_t offset, fm_sw u, fm_link l)
{
	const struct fm_fabric *fab = c->fab;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < offset; i++) {
		fm_link other = fm_divergence_tree(&c->divergence, i)[u];
		fm_sw x = fab->link_to[l], y = fab->link_to[other];

		sum += (uint64_t)(fab->sw_system_guid[x] == fab->sw_system_guid[y]) << 40;
		sum += (uint64_t)(x == y) << 20;
		sum += l == other;
	}
	return sum;
}

static bool
is_less(const uint64_t *a, const uint64_t *b)
{
	for (int i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] < b[i];
	return false;
}

/* The fastest steps of u into choice[] from n on; how many there are then. */
static uint32_t
list_fastest(
    const struct counts *c, const struct fm_steps *steps, fm_sw u, uint32_t *choice, uint32_t n)
{
	const struct fm_fabric *fab = c->fab;
	bool spines;
	uint32_t fastest = look_at_steps(c, steps, u, &spines);

	for (uint32_t i = fab->sw_first_link[u]; i < fab->sw_first_link[u + 1]; i++) {
		fm_link l = c->link[i];

		if (is_step(c, steps, u, l) && fab->link_mbps[l] == fastest &&
		    (!spines || is_spine(c, u, l)))
			choice[n++] = i;
	}
	return n;
}

/* The same where all steps are equally fast and none is in a chassis. */
static uint32_t
list_nearer(const struct counts *c, const uint32_t *distance, fm_sw u, uint32_t *choice, uint32_t n)
{
	uint32_t nearer = distance[u] - 1, end = c->fab->sw_first_link[u + 1];

	for (uint32_t i = c->fab->sw_first_link[u]; i < end; i++) {
		choice[n] = i;
		n += distance[c->to[i]] == nearer;
	}
	return n;
}

static void
list_choices(void *arg, uint32_t i, unsigned worker)
{
	const struct counts *c = arg;
	const struct turn *t = &c->turns[i];
	struct fm_steps *steps = &c->steps[worker];
	uint32_t n = 0;

	fm_steps_find(steps, c->fab->end_sw[c->how->order[t->first]]);
	for (uint32_t k = 0; k < c->n_choosers; k++) {
		fm_sw u = c->chooser[k];

		t->first_choice[k] = n;
		if (u == steps->root || steps->distance[u] == FM_NONE)
			continue;
		if (steps->length != NULL || c->mixed[u] || (c->how->spine_first && c->inside[u]))
			n = list_fastest(c, steps, u, t->choice, n);
		else
			n = list_nearer(c, steps->distance, u, t->choice, n);
	}
	t->first_choice[c->n_choosers] = n;
}

/* Of these places, by counts alone. */
static inline uint32_t
choose_first(const struct counts *c, const uint32_t *choice, uint32_t n)
{
	const uint32_t *place = c->base.place, *enter = c->base.enter;
	uint32_t chosen = choice[0];
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < n && n > 1; i++) {
		uint32_t at = choice[i];
		uint64_t key = (uint64_t)place[at] << 32 | enter[c->to[at]];

		chosen = key < best ? at : chosen;
		best = key < best ? key : best;
	}
	return chosen;
}

/* Apart from the end's LIDs before this one. */
static uint32_t
choose_divergent(
    const struct counts *c, fm_sw u, const uint32_t *choice, uint32_t n, uint32_t offset)
{
	uint64_t best[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	uint32_t chosen = choice[0];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = choice[i];
		uint64_t key[3];

		key[0] = shared_here(c, offset, u, c->link[at]);
		key[1] = c->all.place[at];
		key[2] = c->all.enter[c->to[at]];
		if (!is_less(key, best))
			continue;
		memcpy(best, key, sizeof(best));
		chosen = at;
	}
	return chosen;
}

static inline void
add(const struct counts *c, struct count *count, uint32_t at)
{
	count->place[at]++;
	count->enter[c->to[at]]++;
}

static void
lead(struct counts *c, fm_sw u, const uint32_t *choice, uint32_t n, fm_end end)
{
	uint16_t lid = c->fab->end_lid[end];
	bool counted = fm_is_host(c->fab, end);
	uint32_t at = choose_first(c, choice, n);

	c->out->lft[u][lid] = c->port[at];
	if (counted)
		add(c, &c->base, at);
	for (uint32_t offset = 0; c->several && offset < 1u << c->fab->end_lmc[end]; offset++) {
		if (offset > 0)
			at = choose_divergent(c, u, choice, n, offset);
		c->out->lft[u][lid + offset] = c->port[at];
		fm_divergence_tree(&c->divergence, offset)[u] = c->link[at];
		if (counted)
			add(c, &c->all, at);
	}
}

static void
lead_turn(struct counts *c, const struct turn *t)
{
	for (uint32_t i = t->first; i < t->first + t->n; i++)
		for (uint32_t k = 0; k < c->n_choosers; k++) {
			uint32_t from = t->first_choice[k], n = t->first_choice[k + 1] - from;

			if (n > 0)
				lead(c, c->chooser[k], t->choice + from, n, c->how->order[i]);
		}
}

/* From destination `at` of the order on; how many. */
static uint32_t
take_turns(struct counts *c, uint32_t *at)
{
	const fm_end *order = c->how->order;
	const fm_sw *end_sw = c->fab->end_sw;
	uint32_t n = 0;

	while (n < TURNS && *at < c->how->n_order) {
		struct turn *t = &c->turns[n++];

		t->first = (*at)++;
		while (*at < c->how->n_order && end_sw[order[*at]] == end_sw[order[t->first]])
			(*at)++;
		t->n = *at - t->first;
	}
	return n;
}

/* All destinations, for the switches that choose in this pass.  What may be chosen does
 * not depend on counts, so workers list it ahead. */
static void
lead_all(struct counts *c, bool edge, bool others)
{
	uint32_t at = 0, n;

	c->n_choosers = 0;
	for (fm_sw u = 0; u < c->fab->n_switches; u++)
		if (c->edge[u] ? edge : others)
			c->chooser[c->n_choosers++] = u;
	while (c->n_choosers > 0 && at < c->how->n_order && !c->host->should_stop(c->host)) {
		n = take_turns(c, &at);
		c->host->parallel_for(c->host, n, list_choices, c);
		for (uint32_t i = 0; i < n; i++)
			lead_turn(c, &c->turns[i]);
	}
}

/* ----------------------------------------------------------------- fabric */

static uint32_t
cost_of(uint32_t mbps)
{
	uint32_t cost = mbps > 0 ? COST_OF_1_MBPS / mbps : COST_UNKNOWN;

	return cost < 1 ? 1 : cost > COST_UNKNOWN ? COST_UNKNOWN : cost;
}

static void
sort_by_port(struct counts *c, fm_sw s)
{
	const struct fm_fabric *fab = c->fab;
	fm_link at[256];
	uint32_t n = fab->sw_first_link[s];

	memset(at, 0xff, sizeof(at));
	for (fm_link l = n; l < fab->sw_first_link[s + 1]; l++) {
		at[fab->link_port[l]] = l;
		c->mixed[s] |= fab->link_mbps[l] != fab->link_mbps[n];
	}
	for (unsigned port = 0; port < 256; port++)
		if (at[port] != FM_NONE) {
			c->link[n] = at[port];
			c->to[n] = fab->link_to[at[port]];
			c->port[n++] = (uint8_t)port;
		}
}

static void
look_at_switches(struct counts *c, uint32_t *cost)
{
	const struct fm_fabric *fab = c->fab;
	const struct fm_arcs *arcs = &c->how->shape->arcs;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		sort_by_port(c, s);
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			c->inside[s] |= fab->sw_system_guid[arcs->to[a]] == fab->sw_system_guid[s];
			for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++) {
				c->arc_of[l] = a;
				cost[l] = cost_of(fab->link_mbps[l]);
			}
		}
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++) {
			c->edge[s] |= fm_is_host(fab, e);
			c->several |= fab->end_lmc[e] > 0;
		}
	}
}

static bool
are_equal(const uint32_t *cost, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (cost[i] != cost[0])
			return false;
	return true;
}

static int
take_memory(struct counts *c, uint32_t **cost, struct fm_error *err)
{
	const struct fm_host *host = c->host;
	size_t n = c->fab->n_switches, n_links = c->fab->n_links;
	uint32_t *choices;

	*cost = fm_scratch_array(host, n_links, uint32_t);
	c->all.place = fm_scratch_array(host, n_links, uint32_t);
	c->all.enter = fm_scratch_array(host, n, uint32_t);
	c->base.place = fm_scratch_array(host, n_links, uint32_t);
	c->base.enter = fm_scratch_array(host, n, uint32_t);
	c->arc_of = fm_scratch_array(host, n_links, fm_arc);
	c->link = fm_scratch_array(host, n_links, fm_link);
	c->to = fm_scratch_array(host, n_links, fm_sw);
	c->port = fm_scratch_array(host, n_links, uint8_t);
	c->chooser = fm_scratch_array(host, n, fm_sw);
	choices = fm_scratch_array(host, TURNS * (n_links + n + 2), uint32_t);
	c->steps = fm_scratch_array(host, host->n_workers(host), struct fm_steps);
	c->edge = fm_scratch_array(host, n, uint8_t);
	c->inside = fm_scratch_array(host, n, uint8_t);
	c->mixed = fm_scratch_array(host, n, uint8_t);
	if (*cost == NULL || c->all.place == NULL || c->all.enter == NULL ||
	    c->base.place == NULL || c->base.enter == NULL || c->arc_of == NULL ||
	    c->link == NULL || c->to == NULL || c->port == NULL || choices == NULL ||
	    c->chooser == NULL || c->steps == NULL || c->edge == NULL || c->inside == NULL ||
	    c->mixed == NULL)
		return fm_no_scratch(host, "counts of LIDs", err);
	for (uint32_t i = 0; i < TURNS; i++) {
		c->turns[i].choice = choices + i * (n_links + n + 2);
		c->turns[i].first_choice = c->turns[i].choice + n_links + 1;
	}
	return 0;
}

static int
init_steps(struct counts *c, struct fm_rule rule, struct fm_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < c->host->n_workers(c->host); i++)
		rc = fm_steps_init(c->host, c->fab, &c->how->shape->arcs, rule, &c->steps[i], err);
	return rc != 0 ? rc : fm_divergence_init(c->host, &c->steps[0], &c->divergence, err);
}

/* Are all equal steps alike? */
static bool
is_plain(const struct counts *c, const uint32_t *cost)
{
	for (fm_sw s = 0; s < c->fab->n_switches; s++)
		if (c->mixed[s] || (c->how->spine_first && c->inside[s]))
			return false;
	return are_equal(cost, c->fab->n_links);
}

int
fm_route_by_counts(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_counting *how, const struct fm_tables *out, struct fm_error *err)
{
	struct counts c = { .host = host, .fab = fab, .how = how, .out = out };
	const struct fm_choice digits = { .by_digits = true };
	struct fm_rule rule = { 0 };
	struct fm_paths found;
	uint32_t *cost;
	int rc;

	if ((rc = take_memory(&c, &cost, err)) != 0)
		return rc;
	look_at_switches(&c, cost);
	if (how->shape->tree.levelled && !how->grouped && is_plain(&c, cost))
		return fm_balance(host, fab, how->shape, NULL, digits, out, &found, err);
	rule.weight = are_equal(cost, fab->n_links) ? NULL : cost;
	if ((rc = init_steps(&c, rule, err)) != 0)
		return rc;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		memset(out->lft[s], FM_PORT_NONE, (size_t)fab->max_lid + 1);
	lead_all(&c, true, !how->edge_first);
	if (how->edge_first)
		lead_all(&c, false, true);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		fm_lids_local(fab, s, out->lft[s]);
	if (host->should_stop(host))
		return host->fail(host, err, FM_E_CANCELLED, "stopped while LIDs were led");
	return 0;
}
