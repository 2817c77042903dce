/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a region is comes from the fabric: its switches, the parts they fall
 * into over cables within, the cables that lead out.  What became of it comes
 * from the plan.  A route is here a LID at a switch that sends it out of the region.
 * O(regions x switches + links + switches on borders x LIDs).
 */
#include "core/daemon/regions_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/overlay/overlay.h"
#include "core/text/json_text.h"
#include "core/text/name_ranges.h"
#include "lib/algo/ufind.h"
#include "lib/bitset.h"
#include "lib/error.h"

struct view {
	const struct region_set *set;
	const struct snapshot *snap;
	const uint16_t *sw_region;
	const struct plan *plan;
	bool full;
	uint32_t n_there;    /* switches */
	uint32_t *component; /* [n_switches] disjoint sets */
	struct fm_arena mem; /* for one region */
};

/* A cable out of the region at hand. */
struct border {
	uint16_t to;
	fm_sw sw;
	uint8_t port;
	uint32_t n_lids;
};

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for the report on regions");
}

static bool
is_member(const struct view *v, fm_sw s, uint32_t region)
{
	return v->sw_region[s] == region && regions_is_there(&v->snap->fab, s);
}

static void
find_components(struct view *v)
{
	const struct fm_fabric *fab = &v->snap->fab;

	fm_ufind_init(v->component, fab->n_switches);
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		v->n_there += regions_is_there(fab, s);
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			if (v->sw_region[s] == v->sw_region[fab->link_to[l]])
				fm_ufind_join(v->component, s, fab->link_to[l]);
	}
}

/* Names as the patterns that match them; NULL when memory is out. */
static json_t *
patterns_json(struct view *v, const char *const *names, size_t n)
{
	const char **patterns = name_ranges(names, n, &v->mem, &n);
	json_t *list = patterns != NULL ? json_array() : NULL;

	for (size_t i = 0; list != NULL && i < n; i++)
		json_array_append_new(list, json_text(patterns[i]));
	return list;
}

static json_t *
names_json(struct view *v, uint32_t region, uint32_t *n_switches)
{
	const struct fm_fabric *fab = &v->snap->fab;
	const char **names = fm_arena_array(&v->mem, fab->n_switches + 1, const char *);
	uint32_t n = 0;

	for (fm_sw s = 0; names != NULL && s < fab->n_switches; s++)
		if (is_member(v, s, region))
			names[n++] = fab->sw_name[s];
	*n_switches = n;
	return names != NULL ? patterns_json(v, names, n) : NULL;
}

static uint32_t
count_hosts(const struct view *v, uint32_t region)
{
	const struct fm_fabric *fab = &v->snap->fab;
	uint32_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		n += fab->end_sw[e] != FM_NONE && v->sw_region[fab->end_sw[e]] == region &&
		    (fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER);
	return n;
}

static uint32_t
count_components(struct view *v, uint32_t region)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < v->snap->fab.n_switches; s++)
		n += is_member(v, s, region) && fm_ufind(v->component, s) == s;
	return n;
}

/* ----------------------------------------------------------------- borders */

static int
by_region(const void *a, const void *b)
{
	const struct border *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* What the plan says of the region; it may be of other regions than these. */
static const struct plan_region *
find_outcome(const struct view *v, uint32_t region)
{
	const struct plan_regions *r = v->plan != NULL ? v->plan->regions : NULL;

	for (uint32_t i = 0; r != NULL && i < r->n; i++)
		if (strcmp(r->region[i].name, v->set->region[region].name) == 0)
			return &r->region[i];
	return NULL;
}

/* n[port] = LIDs that the switch sends out there. */
static void
count_lids(const struct view *v, fm_sw s, uint32_t *n)
{
	const struct fm_fabric *fab = &v->snap->fab;
	const struct plan *p = v->plan;

	memset(n, 0, 256 * sizeof(*n));
	if (p == NULL || p->tables == NULL || p->snap != v->snap)
		return;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		n[p->tables->t.lft[s][lid]] += fab->lid_end[lid] != FM_NONE;
}

static bool
has_border(const struct view *v, fm_sw s)
{
	const struct fm_fabric *fab = &v->snap->fab;

	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
		if (v->sw_region[fab->link_to[l]] != v->sw_region[s])
			return true;
	return false;
}

/* The cables out of a region, by the region beyond. */
static struct border *
find_borders(struct view *v, uint32_t region, size_t *n)
{
	const struct fm_fabric *fab = &v->snap->fab;
	struct border *list = fm_arena_array(&v->mem, fab->n_links + 1, struct border);
	uint32_t n_lids[256];

	*n = 0;
	for (fm_sw s = 0; list != NULL && s < fab->n_switches; s++) {
		if (v->sw_region[s] != region || !has_border(v, s))
			continue;
		count_lids(v, s, n_lids);
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			if (v->sw_region[fab->link_to[l]] != region)
				list[(*n)++] = (struct border){ v->sw_region[fab->link_to[l]], s,
					fab->link_port[l], n_lids[fab->link_port[l]] };
	}
	if (*n > 0)
		qsort(list, *n, sizeof(*list), by_region);
	return list;
}

static json_t *
gateway_json(struct view *v, const struct border *b)
{
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, v->snap->fab.sw_guid[b->sw]);
	return json_pack("{s:o, s:s, s:i, s:s, s:i}", "switch",
	    json_text(v->snap->fab.sw_name[b->sw]), "guid", guid, "port", (int)b->port, "to",
	    v->set->region[b->to].name, "lids", (int)b->n_lids);
}

/* n cables to one region. */
static json_t *
border_json(struct view *v, const struct border *b, size_t n)
{
	const char **names = fm_arena_array(&v->mem, n, const char *);
	json_int_t n_routes = 0;
	json_t *patterns;

	for (size_t i = 0; names != NULL && i < n; i++) {
		names[i] = v->snap->fab.sw_name[b[i].sw];
		n_routes += b[i].n_lids;
	}
	patterns = names != NULL ? patterns_json(v, names, n) : NULL;
	return patterns == NULL
	    ? NULL
	    : json_pack("{s:s, s:i, s:I, s:o}", "to", v->set->region[b->to].name, "cables", (int)n,
		  "routes", n_routes, "switches", patterns);
}

static int
add_borders(struct view *v, uint32_t region, json_t *o)
{
	json_t *borders = json_array(), *gateways = json_array();
	size_t n, k;
	const struct border *list = find_borders(v, region, &n);
	int rc = list == NULL ? -1 : 0;

	for (size_t i = 0; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n && list[k].to == list[i].to; k++)
			;
		rc = json_array_append_new(borders, border_json(v, &list[i], k - i));
	}
	for (size_t i = 0; rc == 0 && v->full && i < n; i++)
		rc = json_array_append_new(gateways, gateway_json(v, &list[i]));
	rc |= json_object_set_new(o, "borders", borders);
	if (v->full)
		return rc | json_object_set_new(o, "gateways", gateways);
	json_decref(gateways);
	return rc;
}

/* ------------------------------------------------------------- the regions */

static json_t *
chain_json(const struct chain *chain)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < chain->n_entries; i++)
		json_array_append_new(list, json_string(chain->entries[i].name));
	return list;
}

json_t *
refusals_json(const struct plan_refusal *refused, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:o}", "engine", refused[i].engine, "reason",
			json_text(refused[i].reason)));
	return list;
}

static json_t *
busiest_json(struct view *v, const struct plan_region *r)
{
	return json_pack("{s:f, s:o, s:i, s:s}", "max_over_avg", r->busiest.times, "switch",
	    json_text(v->snap->fab.sw_name[r->busiest.sw]), "port", (int)r->busiest.port, "way",
	    r->busiest.in ? "in" : "out");
}

/* Who routed the region: its own engine where regions were joined, the plan's
 * where it is all there is. */
static void
add_outcome(struct view *v, uint32_t region, uint32_t n_switches, json_t *o)
{
	const struct plan *p = v->plan;
	const struct plan_region *r = find_outcome(v, region);
	const char *engine = r != NULL ? r->engine : p->engine;
	const char *because = r != NULL ? r->because : p->because;

	json_object_set_new(o, "mended", json_boolean(p->mended));
	if (r == NULL && !p->mended && (n_switches == 0 || n_switches < v->n_there))
		return;
	if (r != NULL && p->regions->join == PLAN_WHOLE)
		engine = p->engine;
	json_object_set_new(o, "engine", *engine != '\0' ? json_string(engine) : json_null());
	if (because != NULL)
		json_object_set_new(o, "because", json_string(because));
	if (r != NULL && r->is_merged)
		json_object_set_new(o, "merged", json_true());
	/* of tables as they were composed; of repaired ones it is not known */
	if (r != NULL && r->busiest.times > 0 && p->deviations.n == 0)
		json_object_set_new(o, "busiest", busiest_json(v, r));
	json_object_set_new(o, "refused",
	    r != NULL ? refusals_json(r->refused.item, r->refused.n)
		      : refusals_json(p->refused.item, p->refused.n));
}

static json_t *
region_json(struct view *v, uint32_t region)
{
	const struct region *r = &v->set->region[region];
	uint32_t n_switches;
	json_t *names = names_json(v, region, &n_switches), *o;

	if (names == NULL)
		return NULL;
	o = json_pack("{s:s, s:i, s:o, s:i, s:i, s:o}", "region", r->name, "n_switches",
	    (int)n_switches, "switches", names, "hosts", (int)count_hosts(v, region), "components",
	    (int)count_components(v, region), "chain", chain_json(&r->chain));
	if (o != NULL && add_borders(v, region, o) != 0) {
		json_decref(o);
		return NULL;
	}
	if (o != NULL && region > 0 && !r->has_chain)
		json_object_set_new(o, "chain_of", json_string(REGION_DEFAULT));
	if (o != NULL && v->plan != NULL)
		add_outcome(v, region, n_switches, o);
	return o;
}

int
regions_json(const struct region_set *set, const struct snapshot *snap, const uint16_t *sw_region,
    const struct plan *plan, bool full, json_t **out, struct fm_error *err)
{
	struct view v = {
		.set = set, .snap = snap, .sw_region = sw_region, .plan = plan, .full = full
	};
	json_t *list = json_array();
	int rc = 0;

	v.component = calloc(snap->fab.n_switches + 1, sizeof(*v.component));
	if (list == NULL || v.component == NULL)
		rc = out_of_memory(err);
	if (rc == 0)
		find_components(&v);
	for (uint32_t i = 0; rc == 0 && i < set->n_regions; i++) {
		fm_arena_init(&v.mem, SIZE_MAX);
		if (json_array_append_new(list, region_json(&v, i)) != 0)
			rc = out_of_memory(err);
		fm_arena_fini(&v.mem);
	}
	free(v.component);
	if (rc == 0)
		*out = list;
	else
		json_decref(list);
	return rc;
}

/* ---------------------------------------------------------------- chains' steps */

static const struct overlay *
find_overlay(const struct chain *chain, const struct plan *p)
{
	for (uint32_t i = 0; p->mark == chain->mark && !p->mended && i < chain->n_entries; i++)
		if (chain->entries[i].overlay != NULL &&
		    strcmp(chain->entries[i].name, p->engine) == 0)
			return chain->entries[i].overlay;
	return NULL;
}

/* How many switches and ports of hosts a step has to route. */
static int
count_members(const struct overlay *o, uint32_t i, const struct snapshot *snap, uint32_t *n_sw,
    uint32_t *n_hosts, struct fm_error *err)
{
	const struct fm_fabric *fab = &snap->fab;
	uint64_t *sw = calloc(FM_BITSET_WORDS(fab->n_switches) + 1, sizeof(*sw));
	uint64_t *end = calloc(FM_BITSET_WORDS(fab->n_ends) + 1, sizeof(*end));
	int rc = sw != NULL && end != NULL
	    ? rchain_members(o->rchain, o->steps[i].topology, snap, sw, end, err)
	    : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");

	*n_sw = *n_hosts = 0;
	for (fm_sw s = 0; rc == 0 && s < fab->n_switches; s++)
		*n_sw += fm_bit_test(sw, s) && regions_is_there(fab, s);
	for (fm_end e = 0; rc == 0 && e < fab->n_ends; e++)
		*n_hosts += fm_bit_test(end, e) && fab->end_sw[e] != FM_NONE &&
		    fab->end_kind[e] != FM_END_SWITCH && fm_bit_test(sw, fab->end_sw[e]);
	free(sw);
	free(end);
	return rc;
}

static int
add_step(
    const struct overlay *o, uint32_t i, const struct plan *p, json_t *list, struct fm_error *err)
{
	static const char *const states[] = { "routes", "failed", "not needed" };
	const struct overlay_step *s = &o->steps[i];
	uint32_t n_sw, n_hosts;
	json_t *one;
	int rc = count_members(o, i, p->snap, &n_sw, &n_hosts, err);

	if (rc != 0)
		return rc;
	one = json_pack("{s:i, s:s, s:i, s:i, s:i, s:s}", "step", (int)s->id, "engine",
	    s->entry.name, "path_bit", (int)s->path_bit, "switches", (int)n_sw, "hosts",
	    (int)n_hosts, "state", states[overlay_fate(o, i, p)]);
	if (one != NULL && s->fallback_to != FM_NONE)
		json_object_set_new(one, "fallback_to", json_integer(o->steps[s->fallback_to].id));
	return json_array_append_new(list, one) == 0
	    ? 0
	    : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

int
steps_json(const struct chain *chain, const struct plan *plan, json_t **out, struct fm_error *err)
{
	const struct overlay *o = find_overlay(chain, plan);
	json_t *list = o != NULL ? json_array() : NULL;
	int rc = 0;

	for (uint32_t i = 0; o != NULL && rc == 0 && i < o->n_steps; i++)
		rc = add_step(o, i, plan, list, err);
	if (rc != 0)
		json_decref(list);
	*out = rc == 0 ? list : NULL;
	return rc;
}
