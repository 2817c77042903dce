/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each component routed by the engine that is in force in its region, straight into
 * the rows of the whole.  A component of one switch needs none.
 *
 * Engines with SLs of their own get entrances only: foreign columns are the
 * core's (ordered.h), on a VL of their own.  So at most one engine's SLs, those of
 * the destination, bind any path.
 *
 * An engine leaves an entry empty rather than making an illegal turn: what has
 * to be there and is not teaches that a switch has no route to a gateway
 * (component.reach).  Gateways are then chosen anew without it, as long as anything
 * new is learned.  Holes to the switches' own LIDs are soft: they are filled when the join is
 * proven (compose_complete.c).
 *
 * The engines' cost; the look for holes reads every entry once.
 */
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/engine/fallback.h"
#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"
#include "lib/hash.h"

#define MOST_ROUNDS 6

bool
compose_entry(const struct composer *c, uint32_t region, struct chain_entry *e)
{
	const struct chain *chain = compose_chain(c, region);
	uint32_t at = c->region[region].at;

	if (at < chain->n_entries) {
		*e = chain->entries[at];
		return true;
	}
	at -= chain->n_entries;
	if (!chain->fallback || at > 1)
		return false;
	*e = (struct chain_entry){ .engine = at == 0 ? &fallback_engine : &ordered_engine };
	e->name = e->engine->name;
	return true;
}

bool
compose_has_own(const struct composer *c, uint32_t x)
{
	struct chain_entry e;

	return c->component[x].n > 1 && compose_entry(c, c->component[x].region, &e) &&
	    (e.engine->traits & FM_PROVIDES_SL) != 0;
}

static void
forget_component(struct component *p)
{
	p->routed_mark = 0;
	snapshot_put(p->view);
	tables_put(p->tables);
	p->view = NULL;
	p->tables = NULL;
}

void
compose_swap(struct composer *c)
{
	struct tables *t = c->tables;

	c->tables = c->other;
	c->other = t;
	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x], was = *p;

		p->routed_mark = was.other.routed_mark;
		p->view = was.other.view;
		p->tables = was.other.tables;
		p->other.routed_mark = was.routed_mark;
		p->other.view = was.view;
		p->other.tables = was.tables;
	}
}

void
compose_forget_region(struct composer *c, uint32_t region)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		for (uint32_t x = 0; x < c->n_components; x++)
			if (c->component[x].region == region) {
				forget_component(&c->component[x]);
				c->component[x].reach = NULL;
			}
		compose_swap(c);
	}
	c->region[region].most_vls = 0;
}

/* ------------------------------------------------------------- one switch */

static void
fill_single(struct composer *c, uint32_t x)
{
	const struct component *p = &c->component[x];
	const struct fm_fabric *fab = c->fab;
	const uint16_t *gateways = gateways_of(c, x);
	uint8_t *row = c->tables->t.lft[p->sw[0]];

	for (uint32_t lid = 0; lid < c->n_lid_room; lid++)
		row[lid] = gateways[lid] == NO_EXIT ? FM_PORT_NONE
						    : fab->link_port[p->exit[gateways[lid]].link];
	for (fm_end e = fab->sw_first_end[p->sw[0]]; e < fab->sw_first_end[p->sw[0] + 1]; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			row[fab->end_lid[e] + i] = fab->end_port[e];
}

/* ---------------------------------------------------------------- engines */

/* Columns of foreign LIDs by the core. */
static int
route_foreign(struct composer *c, uint32_t x, struct fm_error *err)
{
	struct snapshot *view;
	struct tables *t;
	int rc = compose_view(c, x, VIEW_FOREIGN, &view, err);

	if (rc != 0)
		return rc;
	rc = route_run(c->r,
	    &(struct route_job){ .engine = &ordered_engine,
		.fab = &view->fab,
		.into = c->tables,
		.rows = c->component[x].sw,
		.as_is = true },
	    &t, err);
	if (rc == 0)
		tables_put(t);
	snapshot_put(view);
	return rc;
}

static int
run_entry(struct composer *c, uint32_t x, const struct chain_entry *e, struct snapshot *view,
    uint8_t n_vls, struct fm_error *err)
{
	struct component *p = &c->component[x];
	struct fm_arena mem;
	void *opts = NULL;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(e->engine, e->values, view, &mem, &opts, err);
	if (rc == 0)
		rc = route_run(c->r,
		    &(struct route_job){ .engine = e->engine,
			.opts = opts,
			.fab = &view->fab,
			.time_limit_ms = e->time_limit_ms,
			.n_vls = n_vls,
			.into = c->tables,
			.rows = p->sw },
		    &p->tables, err);
	fm_arena_fini(&mem);
	return rc;
}

/* One component by one entry; *why when it does not serve. */
static int
route_component(struct composer *c, uint32_t x, const struct chain_entry *e, struct fm_error *why)
{
	struct component *p = &c->component[x];
	bool own = (e->engine->traits & FM_PROVIDES_SL) != 0, island = is_island(c, x);
	bool apart = own || island; /* from traffic of other regions, by a VL */
	struct snapshot *view;
	int rc;

	forget_component(p);
	if (apart && p->n_vls < 2)
		return fm_fail(why, FM_E_RESOURCE,
		    "traffic of other regions takes a VL here, of %u allowed", p->n_vls);
	rc = compose_view(c, x, apart ? VIEW_ENTRANCES : VIEW_PROXIES, &view, why);
	if (rc != 0)
		return rc;
	rc = run_entry(c, x, e, view, (uint8_t)(p->n_vls - apart), why);
	if (rc == 0 && island)
		rc = compose_leave_island(c, x, why);
	else if (rc == 0 && own)
		rc = route_foreign(c, x, why);
	if (rc != 0 || !own) {
		snapshot_put(view);
		tables_put(p->tables);
		p->tables = NULL;
		return rc;
	}
	p->view = view;
	if (p->tables->t.n_vls_used > c->region[p->region].most_vls)
		c->region[p->region].most_vls = p->tables->t.n_vls_used;
	return 0;
}

/* Stands for all that the routes of x depend on. */
static uint64_t
mark_component(const struct composer *c, uint32_t x)
{
	const struct component *p = &c->component[x];
	uint64_t mark = fm_hash_bytes(c->region[p->region].at * 2ull + is_island(c, x),
	    gateways_of(c, x), c->n_lid_room * sizeof(uint16_t));

	for (uint32_t i = 0; i < p->n_exits; i++) {
		const struct exit *e = &p->exit[i];
		uint32_t back = c->link_exit[c->fab->link_rev[e->link]];

		mark = fm_mix64(
		    mark * 3 + (is_island(c, e->to) || c->component[e->to].exit[back].n_lids > 0));
	}
	return mark | 1;
}

static void
blame_engine(struct composer *c, uint32_t x, const char *reason)
{
	const struct component *p = &c->component[x];

	c->blamed = p->region;
	c->by_order = false;
	if (c->region[p->region].n_components > 1)
		snprintf(c->blame, sizeof(c->blame), "the part with '%s': %s",
		    c->fab->sw_name[p->sw[0]], reason);
	else
		snprintf(c->blame, sizeof(c->blame), "%s", reason);
}

/* Every component whose gateways are not those it was routed with. */
static int
route_components(struct composer *c, struct fm_error *err)
{
	for (uint32_t x = 0; c->blamed == FM_NONE && x < c->n_components; x++) {
		struct component *p = &c->component[x];
		uint64_t mark = mark_component(c, x);
		struct fm_error why = { 0 };
		struct chain_entry e;
		int rc;

		if (mark == p->routed_mark)
			continue;
		if (p->n == 1) {
			fill_single(c, x);
			if (is_island(c, x) && (rc = compose_leave_island(c, x, err)) != 0)
				return rc;
		} else if (!compose_entry(c, p->region, &e)) {
			blame_engine(c, x, "no engine of its chain is left");
		} else if (route_component(c, x, &e, &why) != 0) {
			blame_engine(c, x, why.msg);
		}
		p->routed_mark = mark;
	}
	return 0;
}

int
compose_judge_component(struct composer *c, uint32_t x, enum verify_sl_model model,
    struct verdict *v, struct fm_error *err)
{
	struct component *p = &c->component[x];
	struct verify_request req = { .n_vls = c->r->set.n_vls, .sl_model = model };
	struct snapshot *view;
	struct tables *t = NULL;
	int rc;

	if (p->tables != NULL)
		return verify_tables(p->view, &p->tables->t, &req, c->r->workers, v, err);
	rc = compose_view(c, x, VIEW_PROXIES, &view, err);
	if (rc != 0)
		return rc;
	rc = tables_over(
	    c->tables, p->sw, c->r->workers, &view->fab, FM_PROVIDES_LFT, true, &t, err);
	if (rc == 0)
		rc = verify_tables(view, &t->t, &req, c->r->workers, v, err);
	tables_put(t);
	snapshot_put(view);
	return rc;
}

/* ------------------------------------------------------------------ holes */

struct holes {
	uint64_t n, n_new;
	bool within;		 /* between LIDs of one component: no other gateway would help */
	uint32_t component, lid; /* the last: from where, to what */
	fm_sw from;
};

/* What the switches' own LIDs tell about who reaches whom. */
static int
learn_from_switches(struct composer *c, struct component *p, struct fm_error *err)
{
	const struct fm_fabric *fab = c->fab;

	if (p->reach != NULL)
		return 0;
	p->reach = fm_arena_array(&c->mem, (size_t)p->n * p->n, uint8_t);
	if (p->reach == NULL)
		return compose_no_memory(err);
	memset(p->reach, 1, (size_t)p->n * p->n);
	for (uint32_t v = 0; v < p->n; v++)
		for (fm_end e = fab->sw_first_end[p->sw[v]]; e < fab->sw_first_end[p->sw[v] + 1];
		     e++)
			for (uint32_t u = 0;
			     fab->end_kind[e] == FM_END_SWITCH && fab->end_lid[e] != 0 && u < p->n;
			     u++)
				if (c->tables->t.lft[p->sw[u]][fab->end_lid[e]] == FM_PORT_NONE)
					p->reach[(size_t)u * p->n + v] = 0;
	return 0;
}

static bool
is_soft(const struct composer *c, uint32_t lid)
{
	return c->soft && c->fab->end_kind[c->fab->lid_end[lid]] == FM_END_SWITCH;
}

/* Switch `from` of component x has no entry for lid, where it needs one. */
static int
note_hole(
    struct composer *c, struct holes *h, uint32_t x, fm_sw from, uint32_t lid, struct fm_error *err)
{
	struct soft_hole soft = { .component = x, .from = from, .lid = (uint16_t)lid };
	struct component *p = &c->component[x];
	const struct exit *out = exit_of(c, x, lid);
	fm_sw to = out != NULL ? out->near : c->fab->end_sw[c->fab->lid_end[lid]];
	bool first = p->reach == NULL;
	uint8_t *known;
	int rc = 0;

	if (is_soft(c, lid))
		return fm_vec_push(&c->soft_holes, soft) ? 0 : compose_no_memory(err);
	h->n++;
	h->component = x;
	h->from = from;
	h->lid = lid;
	/* an island's traffic comes in where the core has no gateway for it: nothing to learn */
	if (c->sw_component[to] != x || (rc = learn_from_switches(c, p, err)) != 0)
		return rc;
	known = &p->reach[(size_t)c->sw_local[from] * p->n + c->sw_local[to]];
	h->n_new += first || *known;
	*known = 0;
	return 0;
}

/* What the sources of x need, to leave it and within it. */
static int
find_leaving_holes(struct composer *c, uint32_t x, struct holes *h, struct fm_error *err)
{
	const struct component *p = &c->component[x];
	const uint16_t *gateways = gateways_of(c, x);
	int rc = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const uint8_t *row = c->tables->t.lft[p->sw[i]];

		if (!compose_sends(c->fab, p->sw[i]))
			continue;
		for (uint32_t lid = 0; rc == 0 && lid < c->n_lid_room; lid++) {
			if (row[lid] != FM_PORT_NONE ||
			    (gateways[lid] == NO_EXIT && c->lid_component[lid] != x))
				continue;
			rc = note_hole(c, h, x, p->sw[i], lid, err);
			h->within |= c->lid_component[lid] == x && !is_soft(c, lid);
		}
	}
	return rc;
}

/* What those who come in from x need. */
static int
find_entering_holes(struct composer *c, uint32_t x, struct holes *h, struct fm_error *err)
{
	int rc = 0;

	for (uint32_t lid = 0; rc == 0 && lid < c->n_lid_room; lid++) {
		const struct exit *e = exit_of(c, x, lid);

		if (e != NULL && c->tables->t.lft[e->far][lid] == FM_PORT_NONE)
			rc = note_hole(c, h, e->to, e->far, lid, err);
	}
	return rc;
}

/* What those who come into the core by island x's cables need. */
static int
find_island_holes(struct composer *c, uint32_t x, struct holes *h, struct fm_error *err)
{
	const struct component *p = &c->component[x];
	int rc = 0;

	for (uint32_t i = 0; i < p->n_exits; i++) {
		const uint8_t *row = c->tables->t.lft[p->exit[i].far];

		for (uint32_t lid = 0; rc == 0 && lid < c->n_lid_room; lid++)
			if (row[lid] == FM_PORT_NONE && c->lid_component[lid] != FM_NONE &&
			    c->lid_component[lid] != x &&
			    c->tables->t.lft[p->exit[i].near][lid] ==
				c->fab->link_port[p->exit[i].link])
				rc = note_hole(c, h, p->exit[i].to, p->exit[i].far, lid, err);
	}
	return rc;
}

static int
find_holes(struct composer *c, struct holes *h, struct fm_error *err)
{
	int rc = 0;

	*h = (struct holes){ .component = FM_NONE };
	c->soft_holes.n = 0;
	for (uint32_t x = 0; rc == 0 && !h->within && x < c->n_components; x++) {
		if (c->component[x].n > 1)
			rc = find_leaving_holes(c, x, h, err);
		if (rc == 0 && !h->within)
			rc = find_entering_holes(c, x, h, err);
		if (rc == 0 && !h->within && is_island(c, x))
			rc = find_island_holes(c, x, h, err);
	}
	return rc;
}

static void
blame_holes(struct composer *c, const struct holes *h)
{
	char reason[400];

	snprintf(reason, sizeof(reason), "it has no route from '%s' to LID %u, '%s'",
	    c->fab->sw_name[h->from], h->lid, c->fab->end_name[c->fab->lid_end[h->lid]]);
	blame_engine(c, h->component, reason);
	c->by_order = !h->within;
}

int
compose_route(struct composer *c, struct fm_error *err)
{
	struct holes h;
	int rc;

	for (unsigned round = 0; round < MOST_ROUNDS; round++) {
		if ((rc = compose_find_gateways(c, err)) != 0 || c->blamed != FM_NONE)
			return rc;
		if ((rc = route_components(c, err)) != 0 || c->blamed != FM_NONE)
			return rc;
		if (c->islands && (rc = compose_mend_islands(c, err)) != 0)
			return rc;
		if ((rc = find_holes(c, &h, err)) != 0 || h.n == 0)
			return rc;
		if (h.n_new == 0 || h.within)
			break;
	}
	blame_holes(c, &h);
	return 0;
}
