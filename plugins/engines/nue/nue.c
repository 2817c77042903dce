/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nue - no deadlock within any number of virtual lanes, on any fabric.
 *
 * It promises what Nue does (Domke, Hoefler, Matsuoka: Routing on the Dependency
 * Graph, HPDC'16): whatever the number of VLs, from 1 on, every destination is
 * reached from everywhere in its component, and no credit loop is possible.  It
 * is NOT THE PAPER'S ALGORITHM:
 *
 *			the paper's Nue			this engine
 *	VLs		destinations are dealt to	a path's VL may rise on the
 *			them; a path stays on one	way, at turns from down to up
 *	no cycles	by searching the complete	by one order of all channels,
 *			channel dependency graph	made before any path: what
 *			of each VL for what a next	ascends in it is admitted,
 *			step would close		nothing is searched
 *	paths		Dijkstra's, in that graph	breadth first, the least load
 *							among those admitted
 *	impasse		backtracking, else the paths	one switch after another is
 *			of a spanning tree, which	forced onto such a tree, the
 *			are kept open always		rest grown again around it
 *	SL		is the destination's VL		is of a pair of switches, and
 *							gives a VL for each turn
 *	switches	any				that map SLs by port in and out
 *	on one VL	turns of any acyclic set	up/down only
 *	on trees, grids	as anywhere			up/down, dimension order
 *
 * The balance is that of plain shortest paths wherever two VLs are to be had.
 *
 * THE IDEA.  All switches are put in a strict order of height (rank.c), which
 * makes each link one that goes up or down.  The channels, a link on a VL each,
 * are ordered too:
 *
 *	VL 0 up, VL 0 down, VL 1 up, VL 1 down, VL 2 up, ...
 *
 * and among those of one kind by the height they start from, rising for those
 * that go up, falling for those that go down.  A packet whose VL never falls,
 * and rises wherever its path turns from down to up (a valley), takes channels
 * in rising order only.  No cycle of channels can wait for each other.
 * With v valleys a path needs v + 1 VLs: one VL is up/down routing; and two
 * carry *every* path of up to three links between switches, so all shortest
 * paths of dragonflies, Slim Fly, Kautz graphs, HyperX and most random graphs.
 * On a torus, shortest paths with one valley join all pairs.
 *
 * HOW THE VL RISES.  A switch gives a packet its VL by SL, port in and port out
 * (IBA 7.6.6, SL to VL mapping): by the turn, then, and it does not know
 * how the packet got there.  So every turn has for each SL one VL, its label;
 * labels are given as paths are admitted (lanes.c), and 16 SLs are 16 chances
 * that a path's labels never fall and rise at its valleys.  Trees are grown
 * with that test (trees.c): a step that is not admitted is not taken.
 *
 * REPLIES travel under the SL of the request.  The SL depends on the unordered
 * pair of switches, so that it is the same both ways, and
 * all paths between the two, for all LIDs behind either, are admitted with it.
 * Every path of every SL rises in the one order above; so does every mixture.
 *
 * CROWDED LINKS.  In the end routes are led round the fullest links, by paths no longer that
 * the labels admit, on the VLs that the trees have (even.c): trees that are grown one after the
 * other leave some links with much more than others where cables are missing.
 *
 * SLs THAT STAY.  sls = fixed takes them from a hash of the two GUIDs: no fault
 * anywhere moves a pair to another SL, so no host has to ask again.  Where
 * paths are long that leaves too few chances; then they are learned: a pair
 * takes the SL whose labels its first path fits best, and may move, with all of
 * its paths, when that fails another.  auto tries fixed first and keeps it
 * where it is balanced.
 *
 * IMPASSES.  A spanning tree's turns can be labelled 0 for all SLs beforehand,
 * so that any switch can always be led that way (the escape paths of the
 * paper); where paths are long the labels block too many others.  Several such
 * trials are made and the one whose fullest link bears the least is taken.  The
 * last, one VL, cannot fail.
 *
 * GRIDS.  Meshes, tori, hypercubes and HyperX are routed in dimension order, on 1 or 2
 * VLs, with datelines as SLs (plugins/common/grid/dimensions.c), where that is better balanced.
 *
 * TREES.  Where all cables join neighbouring ranks and up/down paths by ranks
 * join all pairs that is what is done (plugins/common/updown/updown.c), in one VL.
 *
 * USE IT where shortest paths have credit loops and VLs are few, or no other
 * engine knows the shape.  It needs switches that map SLs by port in and out.
 * It refuses nothing but a lack of time or memory.
 *
 * O(LIDs * links) a trial, one thread: each tree depends on those before.  On large
 * fabrics LIDs of one switch share trees, as many as the time allows.
 * Memory: the square of the switches, and 16 bytes a turn.
 */
#include <math.h>
#include <string.h>

#include <fmd/own.h>

#include "plugins/common/layers/layered.h"
#include "plugins/common/paths/base_lids.h"
#include "plugins/common/paths/lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/common/updown/updown.h"
#include "plugins/engines/nue/nue.h"

#define LEAD_FINE 1.02		     /* of what trees that lead bear: the same */
#define LEAD_MOST 1.1		     /* and from there on they go as they are, without detours */
#define FEW_HOPS 4		     /* of a grid on which alternates go round */
#define FEW_VLS 4		     /* of alternates beside dimension order */
#define FINE 1.25		     /* max / mean that ends the search at once */
#define FIXED_FINE 1.5		     /* the same where the SLs are fixed */
#define GRID_FINE 1.5		     /* and by dimension order */
#define MUCH_LESS 0.95		     /* on the fullest link, for which SLs may move */
#define MANY_TRIALS_BUDGET 60000000u /* LIDs * links below which all trials are made */
#define ONE_VL_BUDGET 1000000u	     /* and below which one VL is tried as well */
#define REGROW_BUDGET 12000000u	     /* and below which trees are grown again */
#define TREES_BUDGET 12000000u	     /* and below which every LID has a tree of its own */
#define SAMPLE_BUDGET 40000000u	     /* trees * links grown to choose an order */

enum nue_sls { SLS_AUTO, SLS_FIXED, SLS_LEARNED };

struct nue_options {
	int64_t vls;
	int sls;
	bool include_switches;
};

static const char *const sls_choices[] = { "auto", "fixed", "learned", NULL };

static const struct fm_option options[] = {
	{ .name = "vls",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct nue_options, vls),
	    .def = "0",
	    .min = 0,
	    .max = FM_MAX_VLS,
	    .unit = "VLs",
	    .help = "Virtual lanes to use at most; 0 is all that are allowed." },
	{ .name = "sls",
	    .type = FM_OPT_ENUM,
	    .offset = offsetof(struct nue_options, sls),
	    .def = "auto",
	    .choices = sls_choices,
	    .help = "Whether a pair of switches has its SL by their GUIDs for ever (fixed), by "
		    "what suits its paths (learned), or fixed where that is balanced (auto)." },
	{ .name = "include_switches",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct nue_options, include_switches),
	    .def = "false",
	    .help = "Count the switches themselves as sources of data traffic." },
	{ .type = FM_OPT_END },
};

/* One way to route everything. */
struct trial {
	enum nue_tie tie;
	bool one_vl; /* the rest is of no meaning then */
	bool fixed;  /* SLs by GUIDs */
	bool escape; /* the escape tree is kept open */
	bool strict; /* no more valleys than needed */
};

static const struct trial trials[] = {
	{ .tie = NUE_OLDEST, .fixed = true, .escape = true },
	{ .tie = NUE_NEWEST, .escape = true },
	{ .tie = NUE_LOWEST_INDEX, .strict = true },
	{ .tie = NUE_LOWEST_INDEX, .escape = true },
	{ .tie = NUE_STRAIGHT, .strict = true },
};
#define N_TRIALS (sizeof(trials) / sizeof(*trials))

struct nue {
	const struct fm_host *host;
	const struct fm_fabric *fab; /* with base LIDs alone: what trials are judged by */
	const struct fm_fabric *all; /* with alternates */
	const struct nue_options *options;
	const struct fm_tables *out;
	struct fm_shape shape;
	struct nue_graph graph;
	struct nue_rank rank;
	struct nue_room room;
	struct nue_lanes lanes;
	struct nue_trees trees;
	struct fm_lanes in_grid; /* by dimension order */
	unsigned n_vls;
	uint32_t n_done, n_lids;
	uint32_t n_trees; /* to the hosts of a switch, at most; the others share them */
	nue_vls *most_vl; /* [n_workers] greatest of the turns written, by SL */
};

/* -------------------------------------------------------------------- trials */

static bool
grow_end(struct nue *n, fm_sw sw, fm_end e)
{
	uint16_t base = n->fab->end_lid[e];

	if (n->host->should_stop(n->host) ||
	    !nue_tree_grow(&n->trees, sw, base, base, fm_is_host(n->fab, e)))
		return false;
	if (++n->n_done % 256 == 0)
		n->host->progress(n->host, n->n_done, n->n_lids);
	return true;
}

/* Ends that go by the tree of the i-th host of sw, just grown: every n_trees-th from there
 * on; with the first also those that are no hosts. */
static void
share_tree(struct nue *n, fm_sw sw, uint32_t i)
{
	const struct fm_fabric *fab = n->fab;
	uint32_t seen = 0;

	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
		bool host = fm_is_host(fab, e);
		uint32_t place = host && fab->end_lid[e] != 0 ? seen++ : i;

		if (fab->end_lid[e] == 0 || (host ? place <= i || place % n->n_trees != i : i > 0))
			continue;
		nue_tree_repeat(&n->trees, fab->end_lid[e], host);
		n->n_done++;
	}
}

static bool
has_hosts(const struct nue *n, fm_sw sw)
{
	for (fm_end e = n->fab->sw_first_end[sw]; e < n->fab->sw_first_end[sw + 1]; e++)
		if (fm_is_host(n->fab, e) && n->fab->end_lid[e] != 0)
			return true;
	return false;
}

/* The i-th end of every step-th switch; *any: there was one.  False: given up. */
static bool
grow_round(struct nue *n, uint32_t i, bool hosts, uint32_t step, bool *any)
{
	const struct fm_fabric *fab = n->fab;

	*any = false;
	for (fm_sw sw = 0; sw < fab->n_switches && (!hosts || i < n->n_trees); sw += step) {
		uint32_t seen = 0;

		if (!hosts && n->n_trees != FM_NONE && has_hosts(n, sw))
			continue;
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			if (fm_is_host(fab, e) != hosts || fab->end_lid[e] == 0 || seen++ != i)
				continue;
			*any = true;
			if (!grow_end(n, sw, e))
				return false;
			if (hosts && n->n_trees != FM_NONE)
				share_tree(n, sw, i);
		}
	}
	return true;
}

/* All trees; false when the trial came to nothing. */
static bool
run_trial(struct nue *n, const struct trial *t)
{
	bool any = true;

	n->n_done = 0;
	nue_rank_make(&n->graph, t->tie, &n->rank);
	nue_room_make(&n->room, t->one_vl ? 1 : n->n_vls, !t->one_vl && t->strict);
	if (!t->one_vl)
		nue_lanes_begin(&n->lanes, t->fixed, t->escape);
	nue_trees_begin(&n->trees, t->one_vl ? NULL : &n->lanes, n->out);
	for (fm_sw s = 0; s < n->fab->n_switches; s++)
		memset(n->out->lft[s], FM_PORT_NONE, (size_t)n->fab->max_lid + 1);
	for (uint32_t i = 0; any; i++)
		if (!grow_round(n, i, true, 1, &any))
			return false;
	any = true;
	for (uint32_t i = 0; any; i++)
		if (!grow_round(n, i, false, 1, &any))
			return false;
	return true;
}

/* Every host's tree once more: the first ones were grown when nothing bore anything.
 * What was admitted stays so, and the old path is always one of those to choose from.
 * Where it does not help the trial is made again. */
static void
regrow(struct nue *n, const struct trial *t)
{
	const struct fm_fabric *fab = n->fab;
	double mean;
	uint64_t before = nue_trees_load(&n->trees, &mean);

	if ((uint64_t)n->n_lids * fab->n_links > REGROW_BUDGET || n->n_trees != FM_NONE)
		return;
	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++)
		if (fm_is_host(fab, e) && fab->end_lid[e] != 0 && !n->host->should_stop(n->host))
			nue_tree_regrow(
			    &n->trees, fab->end_sw[e], fab->end_lid[e], fab->end_lid[e]);
	if (nue_trees_load(&n->trees, &mean) > before)
		run_trial(n, t);
}

/* With one VL: the order whose trees, a sample of them, load the fullest link least. */
static enum nue_tie
choose_tie(struct nue *n)
{
	uint64_t each = (uint64_t)n->fab->n_switches * (n->fab->n_links + 1);
	uint32_t step = (uint32_t)(each / SAMPLE_BUDGET) + 1;
	uint64_t least = UINT64_MAX;
	enum nue_tie best = NUE_NEWEST;

	for (unsigned tie = 0; tie < NUE_TIES; tie++) {
		uint64_t max;
		double mean;
		bool any;

		nue_rank_make(&n->graph, tie, &n->rank);
		nue_room_make(&n->room, 1, false);
		nue_trees_begin(&n->trees, NULL, NULL);
		grow_round(n, 0, true, step, &any);
		max = nue_trees_load(&n->trees, &mean);
		if (max >= least)
			continue;
		least = max;
		best = tie;
	}
	return best;
}

static bool
is_wanted(const struct nue *n, size_t i, uint64_t least)
{
	uint64_t work = (uint64_t)n->n_lids * n->fab->n_links;

	if (n->options->sls == SLS_FIXED)
		return trials[i].fixed;
	if (n->options->sls == SLS_LEARNED && trials[i].fixed)
		return false;
	return least == UINT64_MAX || work < MANY_TRIALS_BUDGET;
}

/* Routes on the fullest link that end the search. */
static double
fine_enough(const struct nue *n, const struct trial *t, double mean)
{
	if (n->trees.lead != NULL)
		return LEAD_FINE * n->trees.lead->most;
	return (t->fixed ? FIXED_FINE : FINE) * mean;
}

/* The best trial that bears less than *least on the fullest link, which is the new least;
 * *made: it is what the tables hold.  One VL when none does. */
static struct trial
choose_trial(struct nue *n, uint64_t *least, bool *made)
{
	struct trial best = { .one_vl = true };

	*made = false;
	for (size_t i = 0; n->n_vls > 1 && i < N_TRIALS; i++) {
		uint64_t max;
		double mean;

		if (!is_wanted(n, i, *least))
			continue;
		*made = false;
		if (!run_trial(n, &trials[i])) {
			if (n->host->should_stop(n->host))
				return best;
			continue;
		}
		max = nue_trees_load(&n->trees, &mean);
		if (max < *least) {
			*least = max;
			best = trials[i];
			*made = true;
		}
		if ((double)max <= fine_enough(n, &trials[i], mean))
			break;
	}
	return best;
}

/* One VL: any path up and down will do, so crowded links are led round.  *most: routes on
 * the fullest link after that. */
static int
make_one_vl(struct nue *n, const struct trial *t, uint64_t *most, struct fm_error *err)
{
	const struct fm_local_search_rule how = { .way = n->rank.climbs };
	double mean;

	if (run_trial(n, t))
		regrow(n, t);
	*most = nue_trees_load(&n->trees, &mean);
	if (n->host->should_stop(n->host) || !fm_local_search_applies(n->fab) ||
	    (double)*most <= FINE * mean)
		return 0;
	return fm_local_search(n->host, n->fab, &n->shape.arcs, &how, n->out, most, err);
}

/* With one VL, if that bears no more than the best trial; seen on small fabrics only.  In
 * place of fixed SLs, which stay as they are through faults, only if it bears much less. */
static int
prefer_one_vl(struct nue *n, struct trial *best, bool *made, struct fm_error *err)
{
	struct trial plain = { .one_vl = true };
	uint64_t most, least;
	double mean;
	int rc;

	if (best->one_vl || n->options->sls == SLS_FIXED ||
	    (uint64_t)n->n_lids * n->fab->n_links > ONE_VL_BUDGET)
		return 0;
	if (*made || run_trial(n, best))
		regrow(n, best);
	least = nue_trees_load(&n->trees, &mean);
	plain.tie = choose_tie(n);
	rc = make_one_vl(n, &plain, &most, err);
	*made = rc == 0 && (double)most <= (best->fixed ? MUCH_LESS : 1) * (double)least;
	if (*made)
		*best = plain;
	return rc;
}

/* -------------------------------------------------------------------- tables */

/* What is still to come gets no VL that base LIDs do not have; beside dimension order, which has
 * few, up to some. */
static void
limit_vls(struct nue *n)
{
	unsigned used;

	if (n->trees.lanes == NULL)
		return;
	used = nue_lanes_used(&n->lanes);
	used = n->trees.lead != NULL && used < FEW_VLS ? FEW_VLS : used;
	n->lanes.n_vls = used < n->lanes.n_vls ? used : n->lanes.n_vls;
}

/* The other LIDs beside the base LIDs, or where there is no room for them on the same way. */
static void
grow_alternates(struct nue *n)
{
	const struct fm_fabric *fab = n->all;

	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++)
		for (uint32_t k = 1; fab->end_lid[e] != 0 && k < 1u << fab->end_lmc[e] &&
		     !n->host->should_stop(n->host);
		     k++) {
			uint16_t base = fab->end_lid[e], lid = (uint16_t)(base + k);

			n->trees.n_beside = (1u << fab->end_lmc[e]) - 1;
			if (nue_tree_grow(&n->trees, fab->end_sw[e], base, lid, fm_is_host(fab, e)))
				continue;
			if (n->trees.lanes != NULL)
				nue_lanes_undo(&n->lanes);
			for (fm_sw s = 0; s < fab->n_switches; s++)
				n->out->lft[s][lid] = n->out->lft[s][base];
		}
}

static void
write_sls(void *arg, uint32_t s, unsigned worker)
{
	const struct nue *n = arg;
	const struct fm_fabric *fab = n->all;

	memset(n->out->sl[s], 0, fab->max_lid + (size_t)1);
	for (fm_sw to = 0; to < fab->n_switches; to++) {
		uint8_t sl = *nue_pair_sl(&n->lanes, s, to);

		sl = sl != NUE_UNSET ? sl % NUE_SLS : 0;
		for (fm_end e = fab->sw_first_end[to]; e < fab->sw_first_end[to + 1]; e++)
			for (uint32_t k = 0; fab->end_lid[e] != 0 && k < 1u << fab->end_lmc[e]; k++)
				n->out->sl[s][fab->end_lid[e] + k] = sl;
	}
}

/* The labels of a turn into the rows of its ports; *most: the greatest by SL. */
static void
write_turn(const struct nue *n, fm_arc in, fm_arc out, nue_vls *most)
{
	const struct fm_fabric *fab = n->fab;
	const struct fm_arcs *arcs = &n->shape.arcs;
	fm_sw v = arcs->to[in];
	nue_vls vls = n->lanes.label[nue_turn(&n->lanes, in, out)], more;

	vls &= (nue_vls)(vls != NUE_UNSET);
	more = (nue_vls)(vls > *most);
	*most = (vls & more) | (*most & ~more);
	for (fm_link i = arcs->link[in]; i < arcs->link[in + 1]; i++)
		for (fm_link o = arcs->link[out]; o < arcs->link[out + 1]; o++) {
			size_t row = n->out->sl2vl_first[v] +
			    fab->link_port[fab->link_rev[i]] * (fab->sw_n_ports[v] + 1u) +
			    fab->link_port[o];

			memcpy(n->out->sl2vl + row * NUE_SLS, &vls, NUE_SLS);
		}
}

/* All turns at a switch. */
static void
write_turns(void *arg, uint32_t v, unsigned worker)
{
	const struct nue *n = arg;
	const struct fm_arcs *arcs = &n->shape.arcs;

	memset(n->out->sl2vl + (size_t)n->out->sl2vl_first[v] * NUE_SLS, 0,
	    (n->out->sl2vl_first[v + 1] - n->out->sl2vl_first[v]) * (size_t)NUE_SLS);
	for (fm_arc back = arcs->first[v]; back < arcs->first[v + 1]; back++)
		for (fm_arc out = arcs->first[v]; out < arcs->first[v + 1]; out++)
			write_turn(n, n->graph.reverse[back], out, &n->most_vl[worker]);
}

static int
write_lanes(struct nue *n, struct fm_tables *out, struct fm_error *err)
{
	unsigned n_workers = n->host->n_workers(n->host);
	const uint8_t *vl;
	uint8_t most = 0;

	n->most_vl = fm_scratch_array(n->host, n_workers, nue_vls);
	if (n->most_vl == NULL)
		return fm_no_scratch(n->host, "greatest VLs", err);
	out->sl_shape = FM_SL_BY_SW_DLID;
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	n->host->parallel_for(n->host, n->fab->n_switches, write_sls, n);
	n->host->parallel_for(n->host, n->fab->n_switches, write_turns, n);
	vl = (const uint8_t *)n->most_vl;
	for (unsigned i = 0; i < n_workers * NUE_SLS; i++)
		most = vl[i] > most ? vl[i] : most;
	out->n_vls_used = (uint8_t)(most + 1);
	return 0;
}

/* ----------------------------------------------------------------------- all */

static unsigned
allowed_vls(const struct nue *n, const struct fm_request *req)
{
	unsigned vls = req->n_vls < FM_MAX_VLS ? req->n_vls : FM_MAX_VLS;

	if (n->options->vls > 0 && n->options->vls < vls)
		vls = (unsigned)n->options->vls;
	for (fm_link l = 0; l < n->fab->n_links; l++)
		if (n->fab->link_n_vls[l] < vls)
			vls = n->fab->link_n_vls[l];
	return vls > 1 ? vls : 1;
}

/* Trees for all LIDs, or for as many of each switch as the time allows. */
static uint32_t
choose_trees(const struct nue *n)
{
	const struct fm_fabric *fab = n->fab;
	uint64_t each = (uint64_t)fab->n_switches * (fab->n_links + 1);

	if ((uint64_t)n->n_lids * fab->n_links <= TREES_BUDGET)
		return FM_NONE;
	return each < TREES_BUDGET ? (uint32_t)(TREES_BUDGET / each) : 1;
}

static int
take_memory(struct nue *n, struct fm_error *err)
{
	const struct fm_host *host = n->host;
	int rc;

	for (fm_end e = 0; e < n->fab->sw_first_end[n->fab->n_switches]; e++)
		n->n_lids += n->fab->end_lid[e] != 0 ? 1u << n->fab->end_lmc[e] : 0;
	n->n_trees = choose_trees(n);
	if ((rc = nue_graph_build(
		 host, n->all, &n->shape, n->options->include_switches, &n->graph, err)) != 0 ||
	    (rc = nue_rank_new(host, &n->graph, &n->rank, err)) != 0 ||
	    (rc = nue_room_new(host, &n->graph, &n->rank, &n->room, err)) != 0 ||
	    (rc = nue_trees_new(host, &n->graph, &n->rank, &n->room, &n->trees, err)) != 0)
		return rc;
	return n->n_vls == 1
	    ? 0
	    : nue_lanes_new(host, &n->graph, &n->rank, n->n_vls, n->out->lft, &n->lanes, err);
}

/* By dimension order; *most: routes on the fullest link, UINT64_MAX: no grid, or nothing
 * known of it here. */
static int
try_grid(struct nue *n, uint64_t *most, struct fm_error *err)
{
	int rc = FM_E_TOPOLOGY;

	*most = UINT64_MAX;
	if (n->options->sls != SLS_FIXED && !n->options->include_switches)
		rc = fm_lanes_by_dimensions(
		    n->host, n->fab, &n->shape.arcs, n->n_vls, &n->in_grid, err);
	if (rc == 0)
		*most = (uint64_t)ceil(n->in_grid.trees.most);
	return rc == FM_E_TOPOLOGY ? 0 : rc;
}

static int
write_grid(struct nue *n, struct fm_tables *out, struct fm_error *err)
{
	int rc = n->all == n->fab
	    ? 0
	    : fm_lanes_by_dimensions(n->host, n->all, &n->shape.arcs, n->n_vls, &n->in_grid, err);

	return rc != 0 ? rc : fm_lanes_write(n->host, n->all, &n->in_grid, out, err);
}

static int
write_trial(
    struct nue *n, const struct trial *t, bool made, struct fm_tables *out, struct fm_error *err)
{
	uint64_t most;
	int rc = 0;

	if (t->one_vl && !made)
		rc = make_one_vl(n, t, &most, err);
	else if (!t->one_vl && (made || run_trial(n, t)))
		regrow(n, t);
	if (n->host->should_stop(n->host))
		return n->host->fail(n->host, err, FM_E_CANCELLED,
		    "stopped when %u of %u destination trees were grown", n->n_done, n->n_lids);
	if (rc != 0)
		return rc;
	limit_vls(n);
	if ((rc = nue_trees_even(n->host, n->fab, &n->trees, err)) != 0)
		return rc;
	grow_alternates(n);
	for (fm_sw s = 0; s < n->fab->n_switches; s++)
		fm_lids_local(n->all, s, out->lft[s]);
	return t->one_vl ? 0 : write_lanes(n, out, err);
}

/* Would alternates go by the ways of base LIDs?  On wide grids there are few others. */
static bool
needs_detours(const struct nue *n)
{
	return n->all != n->fab && n->n_vls > 1 && n->in_grid.trees.max_hops <= FEW_HOPS;
}

static int
route_any(struct nue *n, struct fm_tables *out, struct fm_error *err)
{
	uint64_t most, least = UINT64_MAX;
	struct trial trial;
	bool made, is_grid;
	int rc = try_grid(n, &most, err);

	if (rc != 0)
		return rc;
	is_grid = most != UINT64_MAX && (double)most <= GRID_FINE * n->in_grid.trees.mean;
	if (is_grid && !needs_detours(n))
		return write_grid(n, out, err);
	if ((rc = take_memory(n, err)) != 0)
		return rc;
	n->trees.lead = is_grid ? &n->in_grid.trees : NULL;
	trial = choose_trial(n, &least, &made);
	if (most != UINT64_MAX && (double)most * (is_grid ? LEAD_MOST : 1) <= (double)least)
		return write_grid(n, out, err);
	if (!is_grid && (rc = prefer_one_vl(n, &trial, &made, err)) != 0)
		return rc;
	if (trial.one_vl && !made)
		trial.tie = choose_tie(n);
	return write_trial(n, &trial, made, out, err);
}

static int
nue_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct nue n = { .host = host, .fab = fab, .all = fab, .options = opts, .out = out };
	struct fm_fabric base;
	struct fm_updown how = { .relax = FM_RELAX_HOSTS };
	struct fm_missing left = { 0 };
	int rc;

	out->n_vls_used = 1;
	n.n_vls = allowed_vls(&n, req);
	if ((rc = fm_shape_build(host, fab, &n.shape, err)) != 0)
		return rc;
	if (n.shape.tree.levelled) {
		rc = fm_route_updown(host, fab, &n.shape, &how, out, &left, err);
		if (rc != 0 || left.to_hosts + left.to_others == 0)
			return rc;
	}
	if (fm_has_lmc(fab)) {
		if ((rc = fm_base_view(host, fab, &base, err)) != 0)
			return rc;
		n.fab = &base;
	}
	return route_any(&n, out, err);
}

FM_OWN_ENGINE(nue, NULL,
    .summary = "What Nue promises, by another algorithm than the paper's: no credit loops on any "
	       "fabric within any number of VLs, which rise on the way",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS,
    .options = options, .options_size = sizeof(struct nue_options), .route = nue_route);
