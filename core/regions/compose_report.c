/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a plan says of its regions once they are joined: levels and the names of their
 * engines.  What its tables tell, as who leaves by which gateway, is read from them.  O(switches).
 *
 * And how evenly regions are left and entered: of each the busiest cable to others, by pairs of
 * hosts, as a multiple of the mean.  Near-out and near-in let geography decide
 * (compose_islands.c): where the cables of an island stand in a corner of it, one carries what
 * its neighbours do not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/gauge/gauge.h"
#include "core/regions/compose_steps.h"

/* Is region i the first whose engine has its name? */
static bool
is_first(const struct plan_regions *said, uint32_t i)
{
	const char *name = said->region[i].engine;

	for (uint32_t j = 0; j < i; j++)
		if (strcmp(name, said->region[j].engine) == 0)
			return false;
	return name[0] != '\0';
}

void
compose_name_engines(struct composer *c)
{
	const struct plan_regions *said = c->p->regions;
	const size_t room = sizeof(c->p->engine), tail = sizeof("+1024 more");
	char *to = c->p->engine;
	uint32_t n = 0, told = 0;
	size_t len = 0;

	for (uint32_t i = 0; i < said->n; i++)
		n += is_first(said, i);
	for (uint32_t i = 0; i < said->n; i++) {
		const char *name = said->region[i].engine;
		size_t need = strlen(name) + 1;

		if (!is_first(said, i))
			continue;
		if (len + need + (told + 1 < n ? tail : 0) > room)
			break;
		len += (size_t)snprintf(to + len, room - len, "%s%s", told++ > 0 ? "+" : "", name);
	}
	if (n == 0)
		snprintf(to, room, "gateways");
	else if (told < n)
		snprintf(to + len, room - len, "%s%u more", told > 0 ? "+" : "", n - told);
}

int
compose_report(struct composer *c, enum plan_join join, struct fm_error *err)
{
	struct plan_regions *said = c->p->regions;

	said->join = join;
	for (uint32_t i = 0; i < said->n; i++) {
		struct plan_region *region = &said->region[i];
		uint32_t as = c->region[i].is_merged ? c->merged : i;
		struct chain_entry e;

		region->is_merged = join != PLAN_WHOLE && c->region[i].is_merged;
		if (join == PLAN_WHOLE || c->region[as].n_routed == 0 || !compose_entry(c, as, &e))
			continue;
		snprintf(region->engine, sizeof(region->engine), "%s", e.name);
		region->because = e.because;
	}
	return 0;
}

/* --------------------------------------------------------- the busiest cables */

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
