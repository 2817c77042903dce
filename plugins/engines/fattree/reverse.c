/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hops the wrong way: up the tiers again after a hop down.
 *
 * Hosts above the leaves reach one another only so: from one spine down to a
 * leaf and up to the next (order.c keeps that free of credit loops).  Who does
 * not want leaves to carry it limits the hops that may go the wrong way; routes
 * with more are taken out.  Their number never falls towards the source, so what
 * is taken out is whole branches.  O(switches * LIDs), only where there is a
 * limit.
 */
#include <string.h>

#include "plugins/engines/fattree/fattree.h"

struct step {
	uint16_t ups;	  /* hops up from here on */
	uint16_t reverse; /* of these, those after a hop down */
	bool known;
};

struct reverse {
	const struct fattree *ft;
	fm_sw *next;	     /* [n][256] switch behind a port, FM_NONE */
	struct step **steps; /* [n_workers][n] */
	fm_sw **stack;	     /* [n_workers][n] */
};

/* Steps of all switches on the way from s to one LID. */
static void
follow(const struct reverse *r, struct step *steps, fm_sw *stack, fm_sw s, uint16_t lid)
{
	const struct fattree *ft = r->ft;
	uint32_t depth = 0;

	while (!steps[s].known && depth < ft->fab->n_switches) {
		fm_sw to = r->next[(size_t)s * 256 + ft->out->lft[s][lid]];

		if (to == FM_NONE) { /* here, or no route */
			steps[s] = (struct step){ .known = true };
			break;
		}
		stack[depth++] = s;
		s = to;
	}
	while (depth > 0) {
		fm_sw from = stack[--depth];
		bool up = ft->tiers.rank[s] > ft->tiers.rank[from];

		steps[from] = (struct step){ (uint16_t)(steps[s].ups + up),
			up ? steps[s].reverse : steps[s].ups, true };
		s = from;
	}
}

static void
limit_lid(const struct reverse *r, struct step *steps, fm_sw *stack, uint16_t lid)
{
	const struct fattree *ft = r->ft;

	memset(steps, 0, ft->fab->n_switches * sizeof(*steps));
	for (fm_sw s = 0; s < ft->fab->n_switches; s++)
		follow(r, steps, stack, s, lid);
	for (fm_sw s = 0; s < ft->fab->n_switches; s++)
		if (steps[s].reverse > ft->opt->max_reverse_hops)
			ft->out->lft[s][lid] = FM_PORT_NONE;
}

static void
limit_switch(void *arg, uint32_t sw, unsigned worker)
{
	struct reverse *r = arg;
	const struct fm_fabric *fab = r->ft->fab;

	if (r->ft->host->should_stop(r->ft->host))
		return;
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		for (uint32_t i = 0;
		     fm_is_host(fab, e) && fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			limit_lid(
			    r, r->steps[worker], r->stack[worker], (uint16_t)(fab->end_lid[e] + i));
}

static bool
take_memory(const struct fattree *ft, struct reverse *r)
{
	unsigned n_workers = ft->host->n_workers(ft->host);

	r->next = fm_scratch_bytes(ft->host, (size_t)ft->fab->n_switches * 256, sizeof(*r->next));
	r->steps = fm_scratch_bytes(ft->host, n_workers, sizeof(*r->steps));
	r->stack = fm_scratch_bytes(ft->host, n_workers, sizeof(*r->stack));
	if (r->next == NULL || r->steps == NULL || r->stack == NULL)
		return false;
	for (unsigned w = 0; w < n_workers; w++) {
		r->steps[w] = fm_scratch_bytes(ft->host, ft->fab->n_switches, sizeof(**r->steps));
		r->stack[w] = fm_scratch_bytes(ft->host, ft->fab->n_switches, sizeof(**r->stack));
		if (r->steps[w] == NULL || r->stack[w] == NULL)
			return false;
	}
	return true;
}

int
ft_limit_reverse(const struct fattree *ft, struct fm_error *err)
{
	const struct fm_fabric *fab = ft->fab;
	struct reverse r = { .ft = ft };

	if (ft->opt->max_reverse_hops >= FT_ANY_REVERSE_HOPS)
		return 0;
	if (!take_memory(ft, &r))
		return fm_no_scratch(ft->host, "hops of the routes", err);
	memset(r.next, 0xff, (size_t)ft->fab->n_switches * 256 * sizeof(*r.next));
	for (fm_sw s = 0; s < ft->fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			r.next[(size_t)s * 256 + fab->link_port[l]] = fab->link_to[l];
	ft->host->parallel_for(ft->host, ft->fab->n_switches, limit_switch, &r);
	if (ft->host->should_stop(ft->host))
		return ft->host->fail(
		    ft->host, err, FM_E_CANCELLED, "stopped while filling the tables");
	return 0;
}
