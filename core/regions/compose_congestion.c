/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How evenly regions are left and entered: of each the busiest cable to others, by
 * pairs of hosts, as a multiple of the mean.
 *
 * Near-out and near-in let geography decide (compose_islands.c): where the cables of
 * an island stand in a corner of it, one carries what its neighbours do not.
 */
#include "core/graph/gauge.h"
#include "core/regions/compose_steps.h"

/* Of one region, one way. */
struct side_load {
	uint64_t sum, most;
	uint32_t n;
	fm_sw sw;
	uint8_t port;
};

static void
add_cable(struct side_load *s, const struct composer *c, const struct exit *e, uint64_t load)
{
	s->sum += load;
	s->n++;
	if (load <= s->most)
		return;
	s->most = load;
	s->sw = e->near;
	s->port = c->fab->link_port[e->link];
}

static void
tell_busiest(struct plan_region *region, const struct side_load *s, bool in)
{
	double times = s->sum > 0 ? (double)s->most * s->n / (double)s->sum : 0;

	if (times <= region->busiest.times)
		return;
	region->busiest.times = times;
	region->busiest.sw = s->sw;
	region->busiest.port = s->port;
	region->busiest.in = in;
}

int
compose_find_congestion(struct composer *c, struct fm_error *err)
{
	struct side_load *side = fm_arena_array(&c->mem, 2u * c->set->n_regions, struct side_load);
	uint64_t *load = fm_arena_array(&c->mem, c->fab->n_links + 1, uint64_t);
	int rc;

	if (side == NULL || load == NULL)
		return compose_no_memory(err);
	rc = link_loads(c->snap, &c->tables->t, c->r->workers, load, err);
	if (rc != 0)
		return rc;
	for (uint32_t x = 0; x < c->n_components; x++)
		for (uint32_t i = 0; i < c->component[x].n_exits; i++) {
			const struct exit *e = &c->component[x].exit[i];
			struct side_load *s = side + 2u * c->sw_named[e->near];

			add_cable(s, c, e, load[e->link]);
			add_cable(s + 1, c, e, load[c->fab->link_rev[e->link]]);
		}
	for (uint32_t i = 0; i < c->set->n_regions; i++)
		for (unsigned in = 0; in < 2; in++)
			tell_busiest(&c->p->regions->region[i], &side[2u * i + in], in != 0);
	return 0;
}
