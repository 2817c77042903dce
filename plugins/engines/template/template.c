/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template - an engine to begin with: copy it, rename it, replace the rule.
 *
 * It is small but right: up*'/down* routing.  Switches are put in one strict
 * order, breadth first from a root; a link leads up towards the root's end of
 * the order.  A packet goes up, then down, never up again, so no circle of
 * waiting packets can close (Schroeder et al., Autonet, 1991).
 *
 *	order	0 root		for a destination d:
 *		| \		cost[u] = links from u to d along the rule
 *		1  2		down[u] = u reaches d going down only, and must then
 *		| /|		do so, for packets that came from above
 *		3  4
 *
 * Every switch lies below the root, so every pair has a path.  Routing all n
 * destination switches costs O(n links).  A real engine also balances: this
 * one only takes turns among equal ports by LID.
 *
 * The rules of an engine (fmd/engine.h has them in full):
 *   - one FM_ENGINE(), the file's name is the engine's;
 *   - pure: the same fabric and options give the same bytes, at any number of
 *     workers; no statics, no malloc, no files, no time;
 *   - memory is host->scratch (here) and scratch_worker (in parallel_for); it
 *     may fail, then say so;
 *   - failures are one statement: return host->fail(host, err, KIND, "sentence").
 */
#include <fmd/engine.h>

/* Optional: your options, filled by the host from the rows below. */
struct template_options {
	struct fm_nodeset root;
};

static const struct fm_option options[] = {
	{ .name = "root",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct template_options, root),
	    .def = "",
	    .help = "The switch to begin at; without it the one with the most links." },
	{ .type = FM_OPT_END }
};

/* What the workers share, and what each has of its own. */
struct work {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	struct fm_tables *out;
	uint32_t *order; /* [n_switches] place of a switch */
	fm_sw *at;	 /* [n_switches] switch of a place */
	uint32_t **cost; /* [n_workers][n_switches] links to the destination */
	bool **down;	 /* [n_workers][n_switches] */
	bool *failed;	 /* [n_workers] scratch ran out */
};

/* The next switch to begin a tree at: not yet placed, wanted, most links. */
static fm_sw
pick_root(const struct work *w, const struct template_options *o)
{
	fm_sw best = FM_NONE;
	uint64_t best_score = 0;

	for (fm_sw s = 0; s < w->fab->n_switches; s++) {
		uint64_t wanted = fm_bit(o->root.sw, s);
		uint64_t n_links = w->fab->sw_first_link[s + 1] - w->fab->sw_first_link[s];
		uint64_t score = (wanted << 32) + n_links + 1;

		if (w->order[s] == FM_NONE && score > best_score) {
			best_score = score;
			best = s;
		}
	}
	return best;
}

/* Breadth first; a switch without links stays unplaced. */
static void
order_switches(struct work *w, const struct template_options *o)
{
	uint32_t n = 0, done = 0;
	fm_sw root;

	for (fm_sw s = 0; s < w->fab->n_switches; s++)
		w->order[s] = FM_NONE;
	while ((root = pick_root(w, o)) != FM_NONE) {
		w->at[n] = root;
		w->order[root] = n++;
		for (; done < n; done++)
			for (fm_link l = w->fab->sw_first_link[w->at[done]];
			     l < w->fab->sw_first_link[w->at[done] + 1]; l++)
				if (w->order[w->fab->link_to[l]] == FM_NONE) {
					w->at[n] = w->fab->link_to[l];
					w->order[w->fab->link_to[l]] = n++;
				}
	}
}

/* May the path to the destination go on over link l of switch s? */
static bool
is_next(const struct work *w, const uint32_t *cost, const bool *down, fm_sw s, fm_link l)
{
	fm_sw to = w->fab->link_to[l];
	bool goes_down = w->order[to] > w->order[s];

	if (cost[to] == FM_NONE)
		return false;
	return down[s] ? goes_down && down[to] : !goes_down;
}

/* The least cost of s over its links that may be used now. */
static void
relax(const struct work *w, uint32_t *cost, const bool *down, fm_sw s)
{
	for (fm_link l = w->fab->sw_first_link[s]; l < w->fab->sw_first_link[s + 1]; l++)
		if (is_next(w, cost, down, s, l) && cost[w->fab->link_to[l]] < cost[s])
			cost[s] = cost[w->fab->link_to[l]] + 1;
}

/* cost[] and down[] of destination d: upwards from d, then down the order. */
static void
measure(const struct work *w, uint32_t *cost, bool *down, fm_sw d)
{
	for (fm_sw s = 0; s < w->fab->n_switches; s++) {
		cost[s] = s == d ? 0 : FM_NONE;
		down[s] = s == d;
	}
	for (uint32_t i = w->order[d]; i-- > 0;) {
		down[w->at[i]] = true;
		relax(w, cost, down, w->at[i]);
		down[w->at[i]] = cost[w->at[i]] != FM_NONE;
	}
	for (uint32_t i = 0; i < w->fab->n_switches; i++)
		if (!down[w->at[i]])
			relax(w, cost, down, w->at[i]);
}

/* The lid-th of the best links of s, so that equal ports take turns. */
static uint8_t
choose_port(const struct work *w, const uint32_t *cost, const bool *down, fm_sw s, uint16_t lid)
{
	uint32_t n = 0, turn;

	for (int pass = 0; pass < 2; pass++) {
		turn = n > 0 ? lid % n : 0;
		n = 0;
		for (fm_link l = w->fab->sw_first_link[s]; l < w->fab->sw_first_link[s + 1]; l++)
			if (is_next(w, cost, down, s, l) &&
			    cost[w->fab->link_to[l]] + 1 == cost[s] && n++ == turn && pass == 1)
				return w->fab->link_port[l];
	}
	return FM_PORT_NONE;
}

/* All LIDs of the ends of switch d, in every switch. */
static void
route_to_switch(void *arg, uint32_t d, unsigned worker)
{
	struct work *w = arg;
	const struct fm_fabric *fab = w->fab;
	uint32_t *cost = w->cost[worker];
	bool *down = w->down[worker];

	if (cost == NULL) {
		cost = w->cost[worker] =
		    w->host->scratch_worker(w->host, worker, fab->n_switches * sizeof(*cost));
		down = w->down[worker] =
		    w->host->scratch_worker(w->host, worker, fab->n_switches * sizeof(*down));
	}
	if (cost == NULL || down == NULL || w->host->should_stop(w->host)) {
		w->failed[worker] |= cost == NULL || down == NULL;
		return;
	}
	measure(w, cost, down, d);
	for (fm_end e = fab->sw_first_end[d]; e < fab->sw_first_end[d + 1]; e++)
		for (uint32_t k = 0; fab->end_lid[e] != 0 && k < 1u << fab->end_lmc[e]; k++) {
			uint16_t lid = (uint16_t)(fab->end_lid[e] + k);

			for (fm_sw s = 0; s < fab->n_switches; s++)
				w->out->lft[s][lid] =
				    s == d ? fab->end_port[e] : choose_port(w, cost, down, s, lid);
		}
}

/* Is any switch in this set?  Where nothing matches, its bits are 0. */
static bool
has_switch(const struct fm_nodeset *set, const struct fm_fabric *fab)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (fm_bit(set->sw, s))
			return true;
	return false;
}

/* Refuse what you cannot route, first of all, in a sentence that an administrator can act on.
 * Of an option that matches nothing only the engine can tell whether that is a mistake. */
static int
check_fabric(const struct fm_host *host, const struct fm_fabric *fab,
    const struct template_options *o, struct fm_error *err)
{
	if (fab->n_switches == 0)
		return host->fail(host, err, FM_E_TOPOLOGY, "there is no switch to route");
	if (o->root.given && !has_switch(&o->root, fab))
		return host->fail(host, err, FM_E_TOPOLOGY, "root matches none of the %u switches",
		    fab->n_switches);
	return 0;
}

/* Required. */
static int
template_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct work w = { .host = host, .fab = fab, .out = out };
	unsigned n_workers = host->n_workers(host);
	int rc = check_fabric(host, fab, opts, err);

	if (rc != 0)
		return rc;
	w.order = host->scratch(host, fab->n_switches * sizeof(*w.order));
	w.at = host->scratch(host, fab->n_switches * sizeof(*w.at));
	w.cost = host->scratch(host, n_workers * sizeof(*w.cost));
	w.down = host->scratch(host, n_workers * sizeof(*w.down));
	w.failed = host->scratch(host, n_workers * sizeof(*w.failed));
	if (!w.order || !w.at || !w.cost || !w.down || !w.failed)
		return host->fail(
		    host, err, FM_E_RESOURCE, "no memory to order %u switches", fab->n_switches);
	order_switches(&w, opts);
	host->parallel_for(host, fab->n_switches, route_to_switch, &w);
	for (unsigned i = 0; i < n_workers; i++)
		if (w.failed[i])
			return host->fail(
			    host, err, FM_E_RESOURCE, "no memory for %u switches", fab->n_switches);
	if (host->should_stop(host))
		return host->fail(
		    host, err, FM_E_CANCELLED, "stopped before all tables were filled");
	return 0;
}

FM_ENGINE(template,
    .summary = "Skeleton for new engines: plain up*/down* from a root",	 /* required */
    .traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS,		 /* required */
    .options = options, .options_size = sizeof(struct template_options), /* optional */
    .route = template_route);						 /* required */
