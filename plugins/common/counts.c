/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of opa-fm's shortestpath module: destination outside, switch inside,
 * so that each destination finds the counts that those before left everywhere.
 * Its own paths are not known while it chooses, only the next step of each
 * switch: that is what makes it cheap, and less even than grow.c.
 */
#include "plugins/common/counts.h"

#include <string.h>

#include "plugins/common/lids.h"

#define COST_OF_1_MBPS 120000000u /* 100 Gbit/s costs 1200, 800 Gbit/s 150 */
#define COST_UNKNOWN 120000u	  /* as 1 Gbit/s */

/* LIDs led over each link, and into each switch from anywhere. */
struct count {
	uint32_t *link;	 /* [n_links] */
	uint32_t *enter; /* [n_switches] */
};

struct counts {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_counting *how;
	const struct fm_tables *out;
	struct fm_steps steps;
	struct fm_apart apart;
	struct count all, base; /* hosts' LIDs; hosts' first LIDs */
	fm_link *by_port;	/* [n_links] of each switch, by port */
	fm_arc *arc_of;		/* [n_links] */
	uint8_t *edge;		/* [n_switches] has hosts */
	uint8_t *inside;	/* [n_switches] has neighbours in its own chassis */
	/* of the destination switch in hand: what each switch may choose among */
	fm_link *choice;	/* [n_links] by port */
	uint32_t *first_choice; /* [n_switches + 1] */
};

/* ------------------------------------------------------------------ choice */

static bool
is_spine(const struct counts *c, fm_sw u, fm_link l)
{
	return c->fab->sw_system_guid[u] == c->fab->sw_system_guid[c->fab->link_to[l]];
}

static bool
is_step(const struct counts *c, fm_sw u, fm_link l)
{
	return fm_is_step(&c->steps, u, c->arc_of[l]);
}

/* Are there spine steps, which then are the only ones?  And how fast is the
 * fastest of those that count? */
static uint32_t
look_at_steps(const struct counts *c, fm_sw u, bool *spines)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t fastest = 0;

	*spines = false;
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
		bool spine = c->how->spine_first && c->inside[u] && is_spine(c, u, l);

		if (!is_step(c, u, l) || (*spines && !spine))
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
		fm_link other = fm_apart_tree(&c->apart, i)[u];
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

/* The fastest steps of every switch that chooses in this pass. */
static void
list_choices(struct counts *c, bool edge, bool others)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t n = 0;

	for (fm_sw u = 0; u < fab->n_switches; u++) {
		bool spines,
		    chooses = u != c->steps.root && c->steps.distance[u] != FM_NONE &&
		    (c->edge[u] ? edge : others);
		uint32_t fastest = chooses ? look_at_steps(c, u, &spines) : 0;

		c->first_choice[u] = n;
		for (fm_link i = fab->sw_first_link[u]; chooses && i < fab->sw_first_link[u + 1];
		     i++) {
			fm_link l = c->by_port[i];

			if (is_step(c, u, l) && fab->link_mbps[l] == fastest &&
			    (!spines || is_spine(c, u, l)))
				c->choice[n++] = l;
		}
	}
	c->first_choice[fab->n_switches] = n;
}

static fm_link
choose(const struct counts *c, fm_sw u, uint32_t offset)
{
	const struct count *count = offset == 0 ? &c->base : &c->all;
	uint64_t best[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	fm_link chosen = FM_NONE;

	for (uint32_t i = c->first_choice[u]; i < c->first_choice[u + 1]; i++) {
		fm_link l = c->choice[i];
		uint64_t key[3];

		key[0] = shared_here(c, offset, u, l);
		key[1] = count->link[l];
		key[2] = count->enter[c->fab->link_to[l]];
		if (!is_less(key, best))
			continue;
		memcpy(best, key, sizeof(best));
		chosen = l;
	}
	return chosen;
}

static void
add(struct count *count, const struct fm_fabric *fab, fm_link l)
{
	count->link[l]++;
	count->enter[fab->link_to[l]]++;
}

static void
lead(struct counts *c, fm_sw u, fm_end end)
{
	bool counted = fm_is_host(c->fab, end);

	for (uint32_t offset = 0; offset < 1u << c->fab->end_lmc[end]; offset++) {
		fm_link l = choose(c, u, offset);

		fm_apart_tree(&c->apart, offset)[u] = l;
		c->out->lft[u][c->fab->end_lid[end] + offset] = c->fab->link_port[l];
		if (!counted)
			continue;
		add(&c->all, c->fab, l);
		if (offset == 0)
			add(&c->base, c->fab, l);
	}
}

/* All destinations, for the switches that choose in this pass. */
static void
lead_all(struct counts *c, bool edge, bool others)
{
	const struct fm_fabric *fab = c->fab;

	for (uint32_t i = 0; i < c->how->n_order && !c->host->should_stop(c->host); i++) {
		fm_end end = c->how->order[i];

		if (i == 0 || c->steps.root != fab->end_sw[end]) {
			fm_steps_find(&c->steps, fab->end_sw[end]);
			list_choices(c, edge, others);
		}
		for (fm_sw u = 0; u < fab->n_switches; u++)
			if (c->first_choice[u] < c->first_choice[u + 1])
				lead(c, u, end);
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
	fm_link at[256], n = fab->sw_first_link[s];

	memset(at, 0xff, sizeof(at));
	for (fm_link l = n; l < fab->sw_first_link[s + 1]; l++)
		at[fab->link_port[l]] = l;
	for (unsigned port = 0; port < 256; port++)
		if (at[port] != FM_NONE)
			c->by_port[n++] = at[port];
}

static void
look_at_switches(struct counts *c, uint32_t *cost)
{
	const struct fm_fabric *fab = c->fab;
	const struct fm_arcs *arcs = c->how->arcs;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		sort_by_port(c, s);
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			c->inside[s] |= fab->sw_system_guid[arcs->to[a]] == fab->sw_system_guid[s];
			for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++) {
				c->arc_of[l] = a;
				cost[l] = cost_of(fab->link_mbps[l]);
			}
		}
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			c->edge[s] |= fm_is_host(fab, e);
	}
}

static int
take_memory(struct counts *c, uint32_t **cost, struct fm_error *err)
{
	const struct fm_host *host = c->host;
	size_t n = c->fab->n_switches, n_links = c->fab->n_links;

	*cost = fm_scratch_array(host, n_links, uint32_t);
	c->all.link = fm_scratch_array(host, n_links, uint32_t);
	c->all.enter = fm_scratch_array(host, n, uint32_t);
	c->base.link = fm_scratch_array(host, n_links, uint32_t);
	c->base.enter = fm_scratch_array(host, n, uint32_t);
	c->by_port = fm_scratch_array(host, n_links, fm_link);
	c->arc_of = fm_scratch_array(host, n_links, fm_arc);
	c->choice = fm_scratch_array(host, n_links, fm_link);
	c->first_choice = fm_scratch_array(host, n + 1, uint32_t);
	c->edge = fm_scratch_array(host, n, uint8_t);
	c->inside = fm_scratch_array(host, n, uint8_t);
	if (*cost == NULL || c->all.link == NULL || c->all.enter == NULL || c->base.link == NULL ||
	    c->base.enter == NULL || c->by_port == NULL || c->arc_of == NULL || c->choice == NULL ||
	    c->first_choice == NULL || c->edge == NULL || c->inside == NULL)
		return fm_no_scratch(host, "counts of LIDs", err);
	return 0;
}

int
fm_route_by_counts(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_counting *how, const struct fm_tables *out, struct fm_error *err)
{
	struct counts c = { .host = host, .fab = fab, .how = how, .out = out };
	struct fm_rule rule = { 0 };
	uint32_t *cost;
	int rc;

	if ((rc = take_memory(&c, &cost, err)) != 0)
		return rc;
	look_at_switches(&c, cost);
	rule.weight = cost;
	if ((rc = fm_steps_init(host, fab, how->arcs, rule, &c.steps, err)) != 0 ||
	    (rc = fm_apart_init(host, &c.steps, &c.apart, err)) != 0)
		return rc;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		memset(out->lft[s], FM_PORT_NONE, (size_t)fab->max_lid + 1);
	lead_all(&c, true, !how->edge_first);
	if (how->edge_first)
		lead_all(&c, false, true);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		fm_lids_local(fab, s, out->lft[s]);
	if (host->should_stop(host))
		return host->fail(err, FM_E_CANCELLED, "stopped while LIDs were led");
	return 0;
}
