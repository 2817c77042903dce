/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging tables: setting up, the walk over all LIDs, adding up.
 *
 *	ports		what is behind every port of every switch
 *	classes		the LIDs behind a switch together (verify_class.c), on trees and
 *			with adaptive routing; if that settles everything the next two are
 *			skipped
 *	walk		blocks of 64 LIDs on all workers (verify_walk.c, verify_vl.c);
 *			with adaptive routing, over all alternatives (verify_adaptive.c),
 *			of the LIDs that classes have not settled
 *	cycles		of the dependencies the walk noted (verify_cycles.c)
 *	verdict		sums, and a witness of the gravest fault (verify_words.c)
 *
 * Sources are all end-ports but switch ports 0: CAs, routers, aggregation
 * nodes, proxies.  Every result is a sum, a union or a least element over
 * blocks, so it does not depend on who did which block.
 */
#include "core/verify/verify.h"

#include <inttypes.h>
#include <string.h>

#include "core/verify/verify_internal.h"
#include "lib/error.h"

#define MAX_SWITCHES (HOPS_OPEN - 1) /* hops of any path fit their field */
#define MAX_ROWS (1u << 24)	     /* rows fit their field in struct port_ref */

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}

static bool
alloc_ports(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	uint32_t n = fab->n_switches, n_ports = 0;

	j->port_first = malloc((n + 1) * sizeof(*j->port_first));
	if (j->port_first == NULL)
		return false;
	for (fm_sw sw = 0; sw < n; sw++) {
		j->port_first[sw] = n_ports;
		n_ports += fab->sw_n_ports[sw] + 1u;
	}
	j->port_first[n] = n_ports;
	j->ports = malloc((n_ports + 1) * sizeof(*j->ports));
	j->port_has_end = calloc(n_ports + 1, 1);
	j->dep_row = malloc((fab->n_links + 1) * sizeof(*j->dep_row));
	return j->ports != NULL && j->port_has_end != NULL && j->dep_row != NULL;
}

static int
setup_ports(struct judge *j, struct fm_error *err)
{
	const struct fm_fabric *fab = j->fab;
	uint32_t n = fab->n_switches, rows = 0;

	if (!alloc_ports(j))
		return no_memory(err);
	j->nowhere = n * LANES;
	for (uint32_t i = 0; i < j->port_first[n]; i++)
		j->ports[i] = (struct port_ref){ j->nowhere, SLOT_MASK };
	for (fm_sw sw = 0; sw < n; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			fm_sw to = fab->link_to[l];
			uint32_t degree = fab->sw_first_link[to + 1] - fab->sw_first_link[to];

			j->dep_row[l] = rows;
			j->ports[j->port_first[sw] + fab->link_port[l]] =
			    (struct port_ref){ .info = to * LANES,
				    .dep = rows << 8 | (l - fab->sw_first_link[sw]) };
			rows +=
			    (degree + ROW_UNIT) / ROW_UNIT; /* and one for "leaves the switches" */
		}
	j->dep_row[fab->n_links] = rows;
	if (n > MAX_SWITCHES || rows >= MAX_ROWS)
		return fm_fail(err, FM_E_RESOURCE,
		    "%" PRIu32 " switches with %" PRIu32 " links are more than can be verified", n,
		    fab->n_links);
	return 0;
}

static bool
setup_sources(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;

	j->n_sources = calloc(fab->n_switches + 1, sizeof(*j->n_sources));
	j->source_sw = malloc((fab->n_switches + 1) * sizeof(*j->source_sw));
	j->component_sources = calloc(j->snap->n_components + 1, sizeof(*j->component_sources));
	if (j->n_sources == NULL || j->source_sw == NULL || j->component_sources == NULL)
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw sw = fab->end_sw[e];

		if (sw != FM_NONE && fab->end_port[e] <= fab->sw_n_ports[sw])
			j->port_has_end[j->port_first[sw] + fab->end_port[e]] = 1;
		if (!is_source(fab, e))
			continue;
		j->all_sources++;
		if (sw == FM_NONE) {
			j->switchless++;
			continue;
		}
		if (j->n_sources[sw]++ == 0)
			j->source_sw[j->n_source_sw++] = sw;
		j->component_sources[j->snap->sw_component[sw]]++;
	}
	return true;
}

/* Pages are touched first by the worker that uses them. */
static bool
setup_walkers(struct judge *j)
{
	uint32_t n = j->fab->n_switches;
	size_t dep_bytes = (size_t)j->dep_row[j->fab->n_links] * ROW_UNIT;

	if (j->walkers[0].info != NULL)
		return true;
	for (unsigned i = 0; i < j->n_walkers; i++) {
		struct walker *w = &j->walkers[i];

		w->info = calloc(((size_t)n + 1) * LANES, sizeof(*w->info));
		w->touched = calloc(n + 1, sizeof(*w->touched));
		w->path = malloc((n + 1) * sizeof(*w->path));
		if (j->one_vl)
			w->dep = calloc(dep_bytes + ROW_UNIT, 1);
		w->ref_ports = 256;
		if (w->info == NULL || w->touched == NULL || w->path == NULL ||
		    (j->one_vl && w->dep == NULL))
			return false;
	}
	return true;
}

static void
free_judge(struct judge *j)
{
	for (unsigned i = 0; j->walkers != NULL && i < j->n_walkers; i++) {
		struct walker *w = &j->walkers[i];

		free(w->info);
		free(w->touched);
		free(w->path);
		free(w->dep);
		free(w->order);
		free(w->sl_vls);
		free(w->reply_sls);
	}
	free(j->walkers);
	free(j->port_first);
	free(j->ports);
	free(j->port_has_end);
	free(j->n_sources);
	free(j->source_sw);
	free(j->component_sources);
	free(j->dep_row);
	free(j->vl_row);
	free(j->vl_dep);
	free(j->vl_used);
}

static int
setup(struct judge *j, struct fm_error *err)
{
	const struct fm_tables *t = j->t;
	int rc = setup_ports(j, err);

	if (rc != 0)
		return rc;
	j->one_vl = t->sl_shape == FM_SL_ZERO && t->sl2vl_shape != FM_SL2VL_BY_IN_OUT;
	j->n_vls = 1;
	j->walkers = calloc(j->n_walkers, sizeof(*j->walkers));
	return j->walkers != NULL && setup_sources(j) ? 0 : no_memory(err);
}

int
verify_walk(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	if (!setup_walkers(j))
		return no_memory(err);
	fm_pool_for(workers, j->fab->max_lid / LANES + 1u, verify_walk_block, j);
	return 0;
}

static void
add_clue(struct clue *sum, const struct clue *c)
{
	if (c->given &&
	    (!sum->given || c->lid < sum->lid || (c->lid == sum->lid && c->sw < sum->sw)))
		*sum = *c;
}

/* The sums of all workers into those of the first. */
static void
add_up(struct judge *j)
{
	struct walker *sum = &j->walkers[0];
	struct verdict *v = j->out;

	for (unsigned i = 1; i < j->n_walkers; i++) {
		const struct walker *w = &j->walkers[i];

		sum->reached += w->reached;
		sum->lost += w->lost;
		sum->stray += w->stray;
		sum->disjoint += w->disjoint;
		sum->switch_lost += w->switch_lost;
		sum->hops += w->hops;
		sum->loops += w->loops;
		sum->wrong_host += w->wrong_host;
		sum->bad_sls += w->bad_sls;
		sum->max_hops = w->max_hops > sum->max_hops ? w->max_hops : sum->max_hops;
		for (unsigned f = 0; f < VERIFY_FAULTS; f++)
			add_clue(&sum->clue[f], &w->clue[f]);
	}
	v->reachable_pairs = sum->reached;
	v->unreachable_pairs = sum->lost;
	v->stray_pairs = sum->stray;
	v->disjoint_pairs = sum->disjoint;
	v->switch_pairs_unrouted = sum->switch_lost;
	v->loops = sum->loops;
	v->wrong_host = sum->wrong_host;
	v->vl_errors = sum->bad_sls;
	v->max_hops = sum->max_hops;
	v->avg_hops = sum->reached > 0 ? (double)sum->hops / (double)sum->reached : 0;
}

/* VLs that carry packets, and those that should not. */
static void
count_vls(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	bool by_out = j->one_vl && j->t->sl2vl_shape == FM_SL2VL_BY_OUT;
	uint32_t seen = 0;

	for (fm_link l = 0; l < fab->n_links; l++)
		for (unsigned i = 0; i < j->n_vls; i++) {
			unsigned vl = by_out ? j->t->sl2vl[(size_t)l * N_SLS] : i;

			if (!j->vl_used[(size_t)l * j->n_vls + i])
				continue;
			seen |= 1u << (vl < N_SLS ? vl : N_SLS - 1);
			if (vl < j->req->n_vls && vl < fab->link_n_vls[l])
				continue;
			j->out->vl_errors++;
			/* of no LID: sw is the link */
			note_clue(&j->walkers[0], VERIFY_VL_BUDGET, 0, l);
		}
	j->out->vls = (uint8_t)(seen != 0 ? __builtin_popcount(seen) : 1);
}

/* All ways have been followed. */
static int
conclude(struct judge *j, struct fm_pool *workers, struct cycle *cycle, struct fm_error *err)
{
	int rc;

	add_up(j);
	rc = verify_find_cycles(j, workers, cycle, err);
	if (rc == 0)
		count_vls(j);
	return rc;
}

/* Every LID by itself or with those that go the same way, and the cycles of exactly
 * their dependencies. */
static int
judge_one_by_one(
    struct judge *j, struct fm_pool *workers, struct cycle *cycle, struct fm_error *err)
{
	bool settled = false;
	int rc = 0;

	j->as_bits = !j->one_vl;
	if (j->one_vl)
		j->vl_used = calloc((size_t)j->fab->n_links + 1, 1);
	if (j->one_vl ? j->vl_used == NULL : !setup_walkers(j) || !verify_vl_setup(j))
		return no_memory(err);
	if (!j->one_vl && !j->req->one_by_one)
		rc = verify_vl_classes(j, workers, &settled, err);
	if (rc == 0 && !settled)
		rc = verify_walk(j, workers, err);
	free(j->exact);
	j->exact = NULL;
	return rc != 0 ? rc : conclude(j, workers, cycle, err);
}

/* The same over the union of all alternatives. */
static int
judge_adaptive(struct judge *j, struct fm_pool *workers, bool by_class, bool *settled,
    struct cycle *cycle, struct fm_error *err)
{
	int rc;

	j->as_bits = true;
	if (!verify_vl_setup(j))
		return no_memory(err);
	rc = by_class ? verify_classes(j, workers, settled, err) : verify_adaptive(j, workers, err);
	return rc != 0 || *settled ? rc : conclude(j, workers, cycle, err);
}

static int
judge(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct cycle cycle = { 0 };
	bool settled = false, adaptive = j->t->ar_max_groups > 0;
	int rc = setup(j, err);
	bool by_class = rc == 0 && !j->req->one_by_one && verify_classes_apply(j) &&
	    (adaptive || verify_is_levelled(j->fab));

	if (rc == 0 && adaptive)
		rc = judge_adaptive(j, workers, by_class, &settled, &cycle, err);
	else if (by_class)
		rc = verify_classes(j, workers, &settled, err);
	if (rc == 0 && settled) {
		add_up(j);
		j->out->vls = 1;
	} else if (rc == 0 && !adaptive) {
		rc = judge_one_by_one(j, workers, &cycle, err);
	}
	if (rc == 0)
		verify_word(j, j->walkers[0].clue, &cycle);
	free(cycle.vertex);
	return rc;
}

int
verify_tables(const struct snapshot *snap, const struct fm_tables *tables,
    const struct verify_request *req, struct fm_pool *workers, struct verdict *verdict,
    struct fm_error *err)
{
	struct verdict v = { .fault = VERIFY_OK };
	struct judge j = { .snap = snap,
		.fab = &snap->fab,
		.t = tables,
		.req = req,
		.n_walkers = fm_pool_size(workers),
		.out = &v };
	int rc = judge(&j, workers, err);

	free_judge(&j);
	if (rc == 0)
		*verdict = v;
	return rc;
}

void
lid_sums_gather(struct lid_sums *s, uint32_t h)
{
	if (h > s->max_hops) {
		s->next_hops = s->max_hops;
		s->n_at_next = s->n_at_max;
		s->max_hops = (uint16_t)h;
		s->n_at_max = 1;
	} else if (h == s->max_hops) {
		s->n_at_max++;
	} else if (h > s->next_hops) {
		s->next_hops = (uint16_t)h;
		s->n_at_next = 1;
	} else if (h == s->next_hops) {
		s->n_at_next++;
	}
}

int
verify_sum_lids(const struct snapshot *snap, const struct fm_tables *tables,
    struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err)
{
	struct verify_request req = { .n_vls = N_SLS - 1 };
	struct judge j = { .snap = snap,
		.fab = &snap->fab,
		.t = tables,
		.req = &req,
		.n_walkers = fm_pool_size(workers) };
	int rc = setup(&j, err);

	if (rc == 0 && tables->ar_max_groups == 0 && snap->n_components == 1 &&
	    verify_classes_apply(&j))
		rc = verify_class_sums(&j, workers, sums, err);
	free_judge(&j);
	return rc;
}

bool
verdict_is_safe(const struct verdict *v, bool allow_credit_loops)
{
	return v->loops == 0 && v->wrong_host == 0 && v->vl_errors == 0 && v->stray_pairs == 0 &&
	    (v->credit_loops == v->loops_allowed || allow_credit_loops);
}
