/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept between plans, so that an event costs what it changes.  It
 * belongs to the router and describes the tables of one plan; where the next
 * request comes with others it is made again.
 *
 * At 11,664 hosts on 1,620 switches of 36 ports: dependencies 2 MB, loads
 * 0.2 MB, sums 0.4 MB, room to choose in 0.5 MB, and two more copies of the tables,
 * 21.6 MB each: the next plan's, and one turned round (repair_columns.c).  Without them a
 * repair takes longer.
 */
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_absent.h"
#include "core/repair/repair_state.h"
#include "lib/bitset.h"
#include "lib/error.h"

void
repair_state_free(struct repair_state *st)
{
	if (st == NULL)
		return;
	tables_put(st->tables);
	tables_put(st->spare);
	snapshot_put(st->graph);
	depend_free(st->g);
	depend_free(st->lean);
	free(st->load);
	free(st->sums);
	repair_columns_free(st->columns);
	free(st->served);
	free(st->sends);
	free(st->lost);
	snapshot_put(st->snap);
	snapshot_put(st->sums_snap);
	fm_vec_fini(&st->lag);
	repair_room_free(&st->room);
	free(st);
}

struct counting {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	const struct depend *g;
	uint32_t *load;
};

static void
count_row(void *arg, uint32_t sw, unsigned worker)
{
	const struct counting *c = arg;
	const uint8_t *row = c->t->lft[sw];
	uint32_t n[256] = { 0 };

	for (uint32_t lid = 1; lid <= c->fab->max_lid; lid++)
		n[row[lid]] += c->fab->lid_end[lid] != FM_NONE;
	for (uint32_t ch = c->g->first[sw]; ch < c->g->first[sw + 1]; ch++)
		c->load[ch] = n[ch - c->g->first[sw]];
}

bool
repair_count_loads(struct repair_state *st, const struct fm_fabric *fab, const struct fm_tables *t,
    struct fm_pool *workers)
{
	struct counting c = { .fab = fab, .t = t, .g = st->g };

	if (st->load == NULL)
		st->load = malloc((st->g->n_channels + 1) * sizeof(*st->load));
	c.load = st->load;
	if (st->load != NULL)
		fm_pool_for(workers, fab->n_switches, count_row, &c);
	return st->load != NULL;
}

bool
repair_note_served(struct repair_state *st, const struct fm_fabric *ends)
{
	uint8_t *served = calloc(ends->max_lid + 1u, 1), *sends = calloc(ends->n_switches + 1, 1);

	if (served == NULL || sends == NULL) {
		free(served);
		free(sends);
		return false;
	}
	for (uint32_t lid = 1; lid <= ends->max_lid; lid++)
		served[lid] = ends->lid_end[lid] != FM_NONE;
	for (fm_end e = 0; e < ends->n_ends; e++)
		if (ends->end_sw[e] != FM_NONE && ends->end_kind[e] != FM_END_SWITCH)
			sends[ends->end_sw[e]] = 1;
	free(st->served);
	free(st->sends);
	st->served = served;
	st->sends = sends;
	st->n_served = ends->max_lid + 1u;
	st->serves_snap = true; /* or will be, as soon as snap is theirs */
	return true;
}

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while preparing for repairs");
}

uint64_t *
repair_lost_bits(const struct depend *g, const struct graph_diff *diff)
{
	uint64_t *lost = calloc(FM_BITSET_WORDS(g->n_channels) + 1, sizeof(*lost));

	for (size_t i = 0; lost != NULL && i < diff->lost.n; i++)
		fm_bit_set(lost, g->first[diff->lost.item[i].sw] + diff->lost.item[i].port);
	return lost;
}

/* What prev->snap lacks of the graph. */
static int
look_at(struct repair_state *st, const struct plan *prev, struct fm_error *err)
{
	struct graph_diff diff = { 0 };
	int rc;

	if (st->snap == prev->snap)
		return 0;
	rc = graph_compare(&prev->graph->fab, &prev->snap->fab, &diff, err);
	st->holds_absent = st->holds_absent && (st->snap == NULL || prev->absent.n == 0);
	st->serves_snap = st->serves_snap &&
	    (st->snap == NULL || graph_same_ends(&st->snap->fab, &prev->snap->fab));
	snapshot_put(st->snap);
	st->snap = snapshot_get(prev->snap);
	free(st->lost);
	st->lost = repair_lost_bits(st->g, &diff);
	if (rc == 0 && st->lost == NULL)
		rc = no_memory(err);
	graph_diff_fini(&diff);
	return rc;
}

uint64_t *
repair_lost_of(const struct fm_fabric *graph, const struct graph_diff *diff)
{
	uint32_t *first = calloc(graph->n_switches + 1, sizeof(*first));
	struct depend numbers = { .first = first };
	uint64_t *lost;

	for (fm_sw sw = 0; first != NULL && sw < graph->n_switches; sw++)
		numbers.n_channels = first[sw + 1] = first[sw] + graph->sw_n_ports[sw] + 1u;
	lost = first != NULL ? repair_lost_bits(&numbers, diff) : NULL;
	free(first);
	return lost;
}

/* Of LIDs that are absent, too.  *holds false: some do not fit, for linger_settle() to see. */
static bool
add_absent(struct depend *g, const struct plan *prev, bool *holds)
{
	struct absent_lids dropped = { 0 };
	bool ok = prev->absent.n == 0 || g->cyclic || plan_insert_absent(g, prev, &dropped);

	*holds = ok && dropped.lids.n == 0;
	fm_vec_fini(&dropped.lids);
	return ok;
}

/* diff: what is lost by now has no part in it, nor have absent LIDs, so that those who are
 * there come first. */
static struct depend *
build(struct router *r, const struct plan *prev, const struct graph_diff *diff, uint32_t n_vls,
    bool *holds_absent)
{
	struct fm_tables t = prev->tables->t;
	const struct fm_fabric *graph = &prev->graph->fab, *ends = &prev->snap->fab;
	uint64_t *lost = diff != NULL ? repair_lost_of(graph, diff) : NULL;
	struct depend *g = NULL;

	if (n_vls > 0)
		t.n_vls_used = (uint8_t)n_vls;
	if (diff == NULL || lost != NULL)
		g = depend_build(graph, ends, &t, lost, plan_sl_model(r, prev), r->workers);
	free(lost);
	if (g != NULL && diff == NULL &&
	    (!add_absent(g, prev, holds_absent) ||
		(!depend_by_ports(&prev->tables->t) && !depend_allow_levels(g, graph)))) {
		depend_free(g);
		g = NULL;
	}
	return g;
}

static int
make(struct router *r, const struct plan *prev, const struct graph_diff *diff, uint32_t n_vls,
    struct repair_state *st, struct fm_error *err)
{
	const struct fm_tables *t = &prev->tables->t;

	st->tables = tables_get(prev->tables);
	st->graph = snapshot_get(prev->graph);
	st->g = build(r, prev, diff, n_vls, &st->holds_absent);
	if (st->g != NULL)
		st->g->base = prev->number;
	if (st->g == NULL || !repair_count_loads(st, &prev->snap->fab, t, r->workers) ||
	    !repair_note_served(st, &prev->snap->fab))
		return no_memory(err);
	st->unsure = prev->deviations.n > 0;
	return look_at(st, prev, err);
}

int
repair_state_for(struct router *r, const struct plan *prev, const struct graph_diff *diff,
    uint32_t n_vls, struct fm_error *err)
{
	struct repair_state *st = r->repair;
	int rc;

	if (diff == NULL && st != NULL && st->tables == prev->tables && st->graph == prev->graph)
		return look_at(st, prev, err);
	repair_state_free(st);
	r->repair = NULL;
	st = calloc(1, sizeof(*st));
	if (st == NULL)
		return no_memory(err);
	rc = make(r, prev, diff, n_vls, st, err);
	if (rc != 0)
		repair_state_free(st);
	else
		r->repair = st;
	return rc;
}

static int
make_lean(struct router *r, const struct plan *p, struct fm_error *err)
{
	struct repair_state *st = r->repair;

	if (!st->gathered || st->lean != NULL)
		return 0;
	st->lean = build(r, p, NULL, st->g->n_vls, &st->lean_holds_absent);
	if (st->lean == NULL)
		return no_memory(err);
	st->lean->base = p->number;
	return 0;
}

int
repair_let_go(struct router *r, const struct plan *prev, struct fm_error *err)
{
	struct repair_state *st = r->repair;
	int rc = make_lean(r, prev, err);

	if (rc != 0 || !st->gathered)
		return rc;
	depend_free(st->g);
	st->g = st->lean;
	st->holds_absent = st->lean_holds_absent;
	st->lean = NULL;
	st->gathered = false;
	return 0;
}

int
repair_take_spare(struct router *r, struct repair_state *st, const struct fm_fabric *fab,
    struct tables **out, struct fm_error *err)
{
	/* nobody else looks at it any more */
	if (st->spare == NULL || atomic_load(&st->spare->refs) != 1)
		return tables_clone(r->tables, r->workers, fab, st->tables, out, err);
	for (size_t i = 0; i < st->lag.n; i++) {
		const struct plan_entry *e = &st->lag.item[i];

		st->spare->t.lft[e->sw][e->lid] = e->port;
	}
	*out = st->spare;
	st->spare = NULL;
	return 0;
}

int
repair_prepare(struct router *r, const struct plan *p, struct fm_error *err)
{
	int rc;

	if (p->tables == NULL || !depend_applies(&p->tables->t))
		return 0;
	rc = repair_state_for(r, p, NULL, 0, err);
	if (rc == 0)
		rc = make_lean(r, p, err);
	if (rc == 0 && r->repair->sums == NULL && repair_sums_apply(p->snap, &p->tables->t))
		rc = repair_sums_build(
		    r->repair, p->snap, &p->tables->t, r->repair->lost, r->workers, err);
	if (rc == 0 && r->repair->spare == NULL)
		rc = tables_clone(
		    r->tables, r->workers, &p->snap->fab, p->tables, &r->repair->spare, err);
	if (rc == 0 && r->repair->columns == NULL && !depend_by_ports(&p->tables->t)) {
		r->repair->columns = repair_columns_make(&p->snap->fab, &p->tables->t, r->workers);
		if (r->repair->columns == NULL)
			rc = no_memory(err);
	}
	return rc;
}

/* Does p have the entry of prev, of a LID that is left as it was? */
static bool
is_left(const struct plan *p, const struct plan *prev, const uint8_t *lids, fm_sw sw, uint16_t lid)
{
	return lid <= p->top_lid && lids[lid] &&
	    p->tables->t.lft[sw][lid] == prev->tables->t.lft[sw][lid];
}

/* Into `to` those deviations of `of` that are of entries of prev, or those of the others. */
static size_t
pick_deviations(const struct plan *of, const struct plan *p, const struct plan *prev,
    const uint8_t *lids, struct plan_entry *to)
{
	size_t n = 0;

	for (size_t i = 0; i < of->deviations.n; i++) {
		struct plan_entry e = of->deviations.item[i];

		if (is_left(p, prev, lids, e.sw, e.lid) == (of == prev))
			to[n++] = e;
	}
	return n;
}

bool
repair_revert(struct router *r, struct plan *p, const struct plan *prev, const uint8_t *lids)
{
	FM_VEC(struct plan_entry) deviations = { 0 };
	uint32_t n = 0;

	if (r->repair != NULL && r->repair->tables == p->tables) {
		repair_state_free(r->repair); /* it describes what was to be */
		r->repair = NULL;
	}
	if (p->made != PLAN_REPAIRED)
		return true; /* what an engine has made and this is the nominal now */
	if (!fm_vec_reserve(&deviations, p->deviations.n + prev->deviations.n + 1))
		return false;
	deviations.n = pick_deviations(p, p, prev, lids, deviations.item);
	deviations.n += pick_deviations(prev, p, prev, lids, deviations.item + deviations.n);
	if (deviations.n > 1)
		qsort(deviations.item, deviations.n, sizeof(struct plan_entry), plan_entry_by_lid);
	for (size_t i = 0; i < p->delta.n; i++)
		if (!is_left(p, prev, lids, p->delta.item[i].sw, p->delta.item[i].lid))
			p->delta.item[n++] = p->delta.item[i];
	p->delta.n = n;
	p->delta_blocks = plan_count_blocks(p);
	fm_vec_fini(&p->deviations);
	memcpy(&p->deviations, &deviations, sizeof(p->deviations));
	return true;
}
