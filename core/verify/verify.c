/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging tables: setting up, the walk over all LIDs, adding up.
 *
 *	ports		what is behind every port of every switch
 *	classes		the LIDs behind a switch together (verify_class.c), on trees and with
 *			adaptive routing
 *	paths		LIDs with equal paths together (verify_path.c), elsewhere
 *	follow		over all next hops (verify_follow.c): the LIDs that these have not
 *			settled, as some pair is not in order
 *	cycles		of the dependencies noted (verify_graph.c)
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

#define MAX_SWITCHES 0xfff0u /* hops of any path fit 16 bits */

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
	j->port_to = malloc((n_ports + 1) * sizeof(*j->port_to));
	j->port_slot = calloc(n_ports + 1, 1);
	j->port_has_end = calloc(n_ports + 1, 1);
	return j->port_to != NULL && j->port_slot != NULL && j->port_has_end != NULL;
}

static bool
setup_ports(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;

	if (!alloc_ports(j))
		return false;
	memset(j->port_to, 0xff, j->port_first[fab->n_switches] * sizeof(*j->port_to));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			uint32_t at = j->port_first[sw] + fab->link_port[l];

			j->port_to[at] = fab->link_to[l];
			j->port_slot[at] = (uint8_t)(l - fab->sw_first_link[sw]);
		}
	return true;
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

static void
free_judge(struct judge *j)
{
	free(j->port_first);
	free(j->port_to);
	free(j->port_slot);
	free(j->port_has_end);
	free(j->n_sources);
	free(j->source_sw);
	free(j->component_sources);
	free(j->tally);
	free(j->exact);
	free(j->dep_row);
	free(j->dep);
	free(j->used);
}

static int
setup(struct judge *j, struct fm_error *err)
{
	const struct fm_tables *t = j->t;

	if (j->fab->n_switches > MAX_SWITCHES)
		return fm_fail(err, FM_E_RESOURCE,
		    "%" PRIu32 " switches are more than can be verified", j->fab->n_switches);
	j->one_vl = t->sl_shape == FM_SL_ZERO && t->sl2vl_shape != FM_SL2VL_BY_IN_OUT;
	j->tally = calloc(j->n_workers, sizeof(*j->tally));
	return j->tally != NULL && setup_ports(j) && setup_sources(j) ? 0 : no_memory(err);
}

void
verify_ports_of(const struct judge *j, fm_sw sw, uint16_t lid, uint64_t ports[PORT_WORDS])
{
	uint16_t group = group_of(j->t, sw, lid);
	uint8_t port = j->t->lft[sw][lid];

	memset(ports, 0, PORT_WORDS * sizeof(*ports));
	if (group == 0)
		ports[port / 64] |= (uint64_t)1 << (port % 64);
	else
		memcpy(ports, tables_ar_ports(j->t, sw, group), PORT_WORDS * sizeof(*ports));
}

void
verify_note_clue(struct tally *sum, enum verify_fault fault, uint16_t lid, fm_sw sw)
{
	struct clue *c = &sum->clue[fault];

	if (!c->given || lid < c->lid || (lid == c->lid && sw < c->sw))
		*c = (struct clue){ true, lid, sw };
}

/* The sums of all workers into those of the first. */
static void
add_up(struct judge *j)
{
	struct tally *sum = &j->tally[0];
	struct verdict *v = j->out;

	for (unsigned i = 1; i < j->n_workers; i++) {
		const struct tally *w = &j->tally[i];

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
			if (w->clue[f].given)
				verify_note_clue(
				    sum, (enum verify_fault)f, w->clue[f].lid, w->clue[f].sw);
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

			if (!j->used[(size_t)l * j->n_vls + i])
				continue;
			seen |= 1u << (vl < N_SLS ? vl : N_SLS - 1);
			if (vl < j->req->n_vls && vl < fab->link_n_vls[l])
				continue;
			j->out->vl_errors++;
			/* of no LID: sw is the link */
			verify_note_clue(&j->tally[0], VERIFY_VL_BUDGET, 0, l);
		}
	j->out->vls = (uint8_t)(seen != 0 ? __builtin_popcount(seen) : 1);
}

/* Ends cabled to one another: each is reached by the other and by nobody else. */
static void
count_switchless(struct judge *j)
{
	uint32_t peers = j->switchless > 1 ? 1 : 0;

	for (uint32_t lid = 1; lid <= j->fab->max_lid; lid++) {
		fm_end e = j->fab->lid_end[lid];

		if (e == FM_NONE || j->fab->end_sw[e] != FM_NONE)
			continue;
		j->tally[0].reached += peers;
		j->tally[0].disjoint += j->all_sources - 1 - peers;
	}
}

/* The sums of all LIDs and, unless *acyclic, their dependencies. */
static int
judge_lids(struct judge *j, struct fm_pool *workers, bool *acyclic, struct fm_error *err)
{
	int rc = 0;

	if (j->req->one_by_one)
		return verify_follow(j, workers, err);
	if (verify_classes_pay(j))
		return verify_classes(j, workers, acyclic, err);
	if (j->t->ar_max_groups == 0)
		rc = verify_paths(j, workers, err);
	return rc != 0 ? rc : verify_follow(j, workers, err);
}

static int
judge(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct cycle cycle = { 0 };
	bool acyclic = false;
	int rc = setup(j, err);

	if (rc == 0 && !verify_graph_setup(j))
		rc = no_memory(err);
	if (rc == 0)
		rc = judge_lids(j, workers, &acyclic, err);
	if (rc != 0)
		return rc;
	count_switchless(j);
	add_up(j);
	if (!acyclic)
		rc = verify_find_cycles(j, &cycle, err);
	count_vls(j);
	if (rc == 0)
		verify_word(j, j->tally[0].clue, &cycle);
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
		.n_workers = fm_pool_size(workers),
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
		.n_workers = fm_pool_size(workers) };
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
