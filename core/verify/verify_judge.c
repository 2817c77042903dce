/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is behind every port, who sends, and what the workers have counted.
 *
 * Sources are all end-ports but switch ports 0: CAs, routers, aggregation
 * nodes, proxies.  Every result is a sum, a union or a least element over
 * LIDs, so it does not depend on who did which.
 */
#include <inttypes.h>
#include <string.h>

#include "core/verify/verify_internal.h"
#include "lib/error.h"

#define MAX_SWITCHES 0xfff0u /* hops of any path fit 16 bits */

static bool
alloc_ports(struct judge *j)
{
	uint32_t n_ports = j->snap->sw_first_port[j->fab->n_switches];

	j->port_first = j->snap->sw_first_port;
	j->port_slot = j->snap->port_slot;
	j->port_to = malloc((n_ports + 1) * sizeof(*j->port_to));
	j->port_has_end = calloc(n_ports + 1, 1);
	return j->port_to != NULL && j->port_has_end != NULL;
}

static bool
setup_ports(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;

	if (!alloc_ports(j))
		return false;
	memset(j->port_to, 0xff, j->port_first[fab->n_switches] * sizeof(*j->port_to));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			j->port_to[j->port_first[sw] + fab->link_port[l]] = fab->link_to[l];
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

void
verify_judge_free(struct judge *j)
{
	free(j->port_to);
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

int
verify_judge_setup(struct judge *j, struct fm_error *err)
{
	const struct fm_tables *t = j->t;

	if (j->fab->n_switches > MAX_SWITCHES)
		return fm_fail(err, FM_E_RESOURCE,
		    "%" PRIu32 " switches are more than can be verified", j->fab->n_switches);
	j->one_vl = t->sl_shape == FM_SL_ZERO && t->sl2vl_shape != FM_SL2VL_BY_IN_OUT;
	j->tally = calloc(j->n_workers, sizeof(*j->tally));
	if (j->tally == NULL || !setup_ports(j) || !setup_sources(j))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
	return 0;
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
		memcpy(ports, j->t->ar_ports[sw][group], PORT_WORDS * sizeof(*ports));
}

void
verify_note_clue(struct tally *sum, enum verify_fault fault, uint16_t lid, fm_sw sw)
{
	struct clue *c = &sum->clue[fault];

	if (!c->given || lid < c->lid || (lid == c->lid && sw < c->sw))
		*c = (struct clue){ true, lid, sw };
}

/* The sums of all workers into those of the first. */
void
verify_judge_add_up(struct judge *j)
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
