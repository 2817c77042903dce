/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/choices.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/json_text.h"
#include "lib/error.h"

bool
choices_init(struct choices *c, const struct region_set *regions, const struct plan *plan,
    const struct fm_tables *t, const uint64_t *load, uint16_t lid)
{
	const struct fm_fabric *fab = &plan->snap->fab;
	fm_end end = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
	struct fm_error err;
	uint32_t n = 0;

	*c = (struct choices){ .plan = plan, .regions = regions, .t = t, .load = load, .lid = lid };
	if (end == FM_NONE || fab->end_sw[end] == FM_NONE)
		return false;
	c->hops = malloc((fab->n_switches + (size_t)1) * sizeof(*c->hops));
	c->queue = malloc((fab->n_switches + (size_t)1) * sizeof(*c->queue));
	if (c->hops == NULL || c->queue == NULL ||
	    regions_find(regions, plan->snap, &c->sw_region, &err) != 0) {
		choices_fini(c);
		return false;
	}
	memset(c->hops, 0xff, fab->n_switches * sizeof(*c->hops));
	c->hops[fab->end_sw[end]] = 0;
	c->queue[n++] = fab->end_sw[end];
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = c->queue[i];

		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
			if (c->hops[fab->link_to[l]] == FM_NONE) {
				c->hops[fab->link_to[l]] = c->hops[u] + 1;
				c->queue[n++] = fab->link_to[l];
			}
	}
	return true;
}

void
choices_fini(struct choices *c)
{
	free(c->sw_region);
	free(c->hops);
	free(c->queue);
	c->sw_region = NULL;
	c->hops = NULL;
	c->queue = NULL;
}

/* Links from the switch to the LID's by the tables; FM_NONE: they do not lead there, or (*back)
 * by `not_by`. */
static uint32_t
follow(const struct choices *c, fm_sw sw, fm_sw not_by, bool *back)
{
	const struct fm_fabric *fab = &c->plan->snap->fab;

	*back = false;
	for (uint32_t n = 0; n < fab->n_switches; n++) {
		fm_link l;

		if (c->hops[sw] == 0)
			return n;
		*back = sw == not_by;
		l = snapshot_link_at(c->plan->snap, sw, c->t->lft[sw][c->lid]);
		if (l == FM_NONE || *back)
			return FM_NONE;
		sw = fab->link_to[l];
	}
	return FM_NONE;
}

static json_t *
routes_json(const struct choices *c, fm_link l)
{
	return c->load != NULL && l != FM_NONE ? json_integer((json_int_t)c->load[l]) : json_null();
}

static const char *
why_not(const struct choices *c, fm_link l, uint32_t hops, bool back, fm_link taken, uint32_t left)
{
	if (back)
		return "from there the tables lead back here";
	if (hops == FM_NONE)
		return "from there the tables do not lead to the LID";
	if (hops > left)
		return "longer by the tables of the switches there";
	if (taken != FM_NONE && c->load != NULL && c->load[l] > c->load[taken])
		return "bears more routes";
	return "as good: the engine's choice";
}

static json_t *
other_json(const struct choices *c, fm_sw sw, fm_link l, fm_link taken, uint32_t left)
{
	const struct fm_fabric *fab = &c->plan->snap->fab;
	bool back;
	uint32_t hops = follow(c, fab->link_to[l], sw, &back);

	hops += hops != FM_NONE;
	return json_pack("{s:i, s:o, s:o, s:o, s:s}", "port", (int)fab->link_port[l], "to",
	    json_text(fab->sw_name[fab->link_to[l]]), "routes", routes_json(c, l), "hops",
	    hops != FM_NONE ? json_integer(hops) : json_null(), "why",
	    why_not(c, l, hops, back, taken, left));
}

static json_t *
before_repair(const struct choices *c, fm_sw sw)
{
	for (size_t i = 0; i < c->plan->deviations.n; i++) {
		const struct plan_entry *e = &c->plan->deviations.item[i];

		if (e->sw == sw && e->lid == c->lid)
			return json_integer(e->port);
	}
	return json_null();
}

/* Of the chain, or of what an entry of it is compared with. */
static const struct fm_engine *
find_engine(const struct chain *chain, const char *name)
{
	for (uint32_t i = 0; i < chain->n_entries; i++) {
		const struct chain_entry *e = &chain->entries[i];

		if (strcmp(e->name, name) == 0)
			return e->engine;
		for (uint32_t j = 0; j < e->n_rivals; j++)
			if (strcmp(e->rival[j].entry.name, name) == 0)
				return e->rival[j].entry.engine;
	}
	return NULL;
}

/* Who routed the switch's region; *rule may be NULL. */
static const char *
engine_of(const struct choices *c, fm_sw sw, const char **rule)
{
	const struct region *region = &c->regions->region[c->sw_region[sw]];
	const char *name = plan_engine_of(c->plan, region->name);
	const struct fm_engine *engine = find_engine(&region->chain, name);

	*rule = engine != NULL ? engine->summary : NULL;
	return name;
}

json_t *
choices_json(const struct choices *c, fm_sw sw)
{
	const struct fm_fabric *fab = &c->plan->snap->fab;
	fm_link taken = snapshot_link_at(c->plan->snap, sw, c->t->lft[sw][c->lid]);
	json_t *others = json_array();
	const char *rule, *engine = engine_of(c, sw, &rule);
	bool back;
	uint32_t left = follow(c, sw, FM_NONE, &back);
	int n = 0;

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (l != taken && c->hops[fab->link_to[l]] < c->hops[sw] && n++ < CHOICES_SHOWN)
			json_array_append_new(others, other_json(c, sw, l, taken, left));
	return json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o, s:i}", "engine", engine, "rule", rule,
	    "repaired_from", before_repair(c, sw), "routes", routes_json(c, taken), "hops",
	    left != FM_NONE ? json_integer(left) : json_null(), "others", others, "n_others", n);
}
