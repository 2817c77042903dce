/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeping tables: is the graph the one they were made for, as far as anybody
 * uses it; which LIDs are new, absent, to be dropped; and, if any entry has
 * to change, a copy in which it does.
 *
 * Going back: a repair takes entries back LID after LID, beside what the others have not yet gone
 * back from.  Where that closes a cycle and all cables are there, the tables as the engines made
 * them are free of cycles all the same: so all deviations are undone at once, and in which order
 * they are written is for reconfig_plan() to say.  Where it finds none for the entries of a LID
 * together, one after the other may go, with a packet's life time in between.
 */
#include "core/plan/keep.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define JOINED_SHARE 16 /* at most one LID in so many may stand on a copied column */

bool
keep_has_column(const struct keeping *k, fm_end e)
{
	const struct fm_fabric *fab = &k->snap->fab;
	uint32_t lid = fab->end_lid[e], n = 1u << fab->end_lmc[e];

	if (fab->end_sw[e] >= k->prev->snap->fab.n_switches)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (lid + i > k->prev->top_lid ||
		    k->prev->tables->t.lft[fab->end_sw[e]][lid + i] != fab->end_port[e])
			return false;
	return true;
}

/* ----------------------------------------------------------- the switches */

/* Is the port one of those by which sw may send lid? */
static bool
may_send(const struct fm_tables *t, fm_sw sw, uint32_t lid, uint8_t port)
{
	uint16_t group = tables_are_adaptive(t) ? t->ar_group[sw][lid] : 0;

	return t->lft[sw][lid] == port ||
	    (group != 0 && (t->ar_ports[sw][group][port / 64] >> (port % 64) & 1));
}

/* Does the row of sw send a LID that somebody owns out of this port? */
static bool
is_used(const struct keeping *k, fm_sw sw, uint8_t port)
{
	const struct fm_fabric *fab = &k->snap->fab;

	for (uint32_t lid = 1; lid <= fab->max_lid && lid <= k->prev->top_lid; lid++)
		if (fab->lid_end[lid] != FM_NONE && may_send(&k->prev->tables->t, sw, lid, port))
			return true;
	return false;
}

/* Does nobody who is still there use the cables that are lost? */
static bool
switches_serve(const struct keeping *k)
{
	for (size_t i = 0; i < k->diff.lost.n; i++) {
		const struct graph_channel *c = &k->diff.lost.item[i];

		if (!graph_is_gone(&k->snap->fab, c->sw) && is_used(k, c->sw, c->port))
			return false;
	}
	return true;
}

/* -------------------------------------------------------------- the ends */

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER;
}

/* Of the ends of this switch that have columns the n-th, round and round;
 * hosts before its own port.  FM_NONE: there is none. */
static fm_end
model_for(const struct keeping *k, fm_sw sw, uint32_t n)
{
	const struct fm_fabric *fab = &k->snap->fab;
	fm_end own = FM_NONE, last = FM_NONE;
	uint32_t n_hosts = 0, seen = 0;

	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_lid[e] != 0 && keep_has_column(k, e)) {
			n_hosts += is_host(fab, e);
			own = e;
		}
	for (fm_end e = fab->sw_first_end[sw]; n_hosts > 0 && e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_lid[e] != 0 && is_host(fab, e) && keep_has_column(k, e) &&
		    seen++ == n % n_hosts)
			last = e;
	return last != FM_NONE ? last : own;
}

/* Nobody came, went or moved, and whoever is there has columns. */
static bool
are_same_ends(const struct keeping *k)
{
	const struct verdict *v = &k->prev->verdict;

	return v->reachable_pairs > 0 && v->unreachable_pairs == 0 && v->wrong_host == 0 &&
	    k->same_ends;
}

/* 0, or FM_E_RESOURCE; *serve false: an engine has to see this. */
static int
find_joiners(struct keeping *k, bool *serve, struct fm_error *err)
{
	const struct fm_fabric *fab = &k->snap->fab;
	uint32_t n = k->prev->n_joined;

	if (are_same_ends(k)) {
		k->p->n_joined = n;
		*serve = (uint64_t)n * JOINED_SHARE <= fab->n_ends;
		return 0;
	}
	for (fm_end e = 0; *serve && e < fab->n_ends; e++) {
		struct keep_joiner j = { .end = e };

		if (fab->end_sw[e] == FM_NONE || fab->end_lid[e] == 0 || keep_has_column(k, e))
			continue;
		j.like = model_for(k, fab->end_sw[e], n++);
		*serve = j.like != FM_NONE && (is_host(fab, j.like) || !is_host(fab, e));
		if (!fm_vec_push(&k->joiners, j))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for new hosts");
	}
	*serve = *serve && (uint64_t)n * JOINED_SHARE <= fab->n_ends;
	k->p->n_joined = n;
	return 0;
}

static bool
note_absent(struct keeping *k, uint16_t lid, int64_t since_ms, const struct plan_request *q)
{
	struct plan_absent a = { .lid = lid, .since_ms = since_ms };

	if (k->snap->fab.max_lid >= lid && k->snap->fab.lid_end[lid] != FM_NONE)
		return true; /* back */
	if (q->now_ms - since_ms >= q->linger_ms)
		return fm_vec_push(&k->dropped, lid);
	if (lid > k->p->top_lid)
		k->p->top_lid = lid;
	return fm_vec_push(&k->p->absent, a);
}

/* LIDs that had columns and have no owner now. */
static bool
find_absent(struct keeping *k, const struct plan_request *q)
{
	const struct fm_fabric *was = &k->prev->snap->fab;
	bool ok = true;

	for (size_t i = 0; ok && i < k->prev->absent.n; i++)
		ok = note_absent(
		    k, k->prev->absent.item[i].lid, k->prev->absent.item[i].since_ms, q);
	for (uint32_t lid = 1; ok && !k->same_ends && lid <= was->max_lid; lid++)
		if (was->lid_end[lid] != FM_NONE)
			ok = note_absent(k, (uint16_t)lid, q->now_ms, q);
	return ok;
}

/* ------------------------------------------------------------- the tables */

static void
copy_columns(const struct keeping *k, struct fm_tables *t, const struct keep_joiner *j)
{
	const struct fm_fabric *fab = &k->snap->fab;
	uint32_t n = 1u << fab->end_lmc[j->end], n_like = 1u << fab->end_lmc[j->like];
	uint32_t sl_rows = t->sl_shape == FM_SL_ZERO ? 0
	    : t->sl_shape == FM_SL_BY_DLID	     ? 1
						     : fab->n_switches;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = fab->end_lid[j->end] + i, from = fab->end_lid[j->like] + i % n_like;

		for (fm_sw sw = 0; sw < fab->n_switches; sw++)
			t->lft[sw][to] = t->lft[sw][from];
		t->lft[fab->end_sw[j->end]][to] = fab->end_port[j->end];
		for (uint32_t row = 0; row < sl_rows; row++)
			t->sl[row][to] = t->sl[row][from];
	}
}

/* What comes in by the new end's port is mapped as what comes in by the other's. */
static void
copy_in_port(const struct fm_fabric *fab, struct fm_tables *t, const struct keep_joiner *j)
{
	fm_sw sw = fab->end_sw[j->end];
	size_t n_ports = fab->sw_n_ports[sw] + 1u;
	uint8_t *rows;

	if (t->sl2vl_shape != FM_SL2VL_BY_IN_OUT || fab->end_sw[j->like] != sw)
		return;
	rows = t->sl2vl + (size_t)t->sl2vl_first[sw] * 16;
	memcpy(rows + fab->end_port[j->end] * n_ports * 16,
	    rows + fab->end_port[j->like] * n_ports * 16, n_ports * 16);
}

/* Rows by link follow the numbers of the links; those of new ones are 0. */
static void
copy_by_link(const struct fm_fabric *was, const struct fm_fabric *now, const struct fm_tables *from,
    struct fm_tables *to)
{
	for (fm_sw sw = 0; sw < was->n_switches; sw++) {
		fm_link first = was->sw_first_link[sw], end = was->sw_first_link[sw + 1];

		for (fm_link l = now->sw_first_link[sw]; l < now->sw_first_link[sw + 1]; l++) {
			fm_link w = first;

			while (w < end && !graph_same_link(was, w, now, l))
				w++;
			if (w == end)
				continue;
			memcpy(to->sl2vl + (size_t)l * 16, from->sl2vl + (size_t)w * 16, 16);
			first = w + 1;
		}
	}
}

static void
copy_tables(const struct keeping *k, struct tables *fresh)
{
	const struct fm_fabric *now = &k->snap->fab;
	const struct fm_tables *from = &k->prev->tables->t;
	struct fm_tables *to = &fresh->t;
	uint32_t n_switches = k->prev->snap->fab.n_switches; /* others are new */
	size_t n = (k->prev->top_lid < k->p->top_lid ? k->prev->top_lid : k->p->top_lid) + 1u;

	if (from->order != NULL)
		memcpy(to->order, from->order, n * sizeof(*from->order));
	to->n_vls_used = from->n_vls_used;
	to->sl_shape = from->sl_shape;
	to->sl2vl_shape = from->sl2vl_shape;
	for (fm_sw sw = 0; sw < n_switches; sw++)
		memcpy(to->lft[sw], from->lft[sw], n);
	if (from->sl_shape != FM_SL_ZERO)
		tables_copy_sl(fresh, k->prev->tables, n_switches, n);
	if (from->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		memcpy(to->sl2vl, from->sl2vl, (size_t)from->sl2vl_first[n_switches] * 16);
	else if (from->sl2vl_shape == FM_SL2VL_BY_OUT)
		copy_by_link(&k->prev->graph->fab, now, from, to);
}

static void
drop_column(const struct keeping *k, struct fm_tables *t, uint16_t lid)
{
	for (fm_sw sw = 0; lid <= k->p->top_lid && sw < k->snap->fab.n_switches; sw++)
		t->lft[sw][lid] = FM_PORT_NONE;
}

int
keep_copy(struct keeping *k, struct fm_error *err)
{
	const struct fm_tables *old = &k->prev->tables->t;
	struct fm_fabric shape = k->snap->fab;
	uint32_t traits = FM_PROVIDES_LFT;
	struct tables *fresh;
	int rc;

	shape.max_lid = k->p->top_lid;
	if (old->sl_shape != FM_SL_ZERO || old->sl2vl_shape != FM_SL2VL_MODULO)
		traits |= FM_PROVIDES_SL;
	if (old->order != NULL)
		traits |= FM_PROVIDES_ORDER;
	rc = tables_new(k->r->tables, k->r->workers, &shape, traits, 0, &fresh, err);
	if (rc != 0)
		return rc;
	copy_tables(k, fresh);
	for (size_t i = 0; i < k->dropped.n; i++)
		drop_column(k, &fresh->t, k->dropped.item[i]);
	for (size_t i = 0; i < k->joiners.n; i++) {
		copy_columns(k, &fresh->t, &k->joiners.item[i]);
		copy_in_port(&k->snap->fab, &fresh->t, &k->joiners.item[i]);
	}
	k->p->tables = fresh;
	k->p->groups_tried = false;
	return 0;
}

static int
settle_tables(struct keeping *k, struct fm_error *err)
{
	bool by_link = k->prev->tables->t.sl2vl_shape == FM_SL2VL_BY_OUT;
	bool links_lost = k->diff.lost.n > 0;

	/* tables made for links that are lost now keep the graph they were made
	 * for; those numbered by link are numbered anew */
	k->p->graph = snapshot_get(links_lost && by_link ? k->snap : k->prev->graph);
	if (k->joiners.n > 0 || k->dropped.n > 0 || (by_link && links_lost))
		return keep_copy(k, err);
	k->p->tables = tables_get(k->prev->tables);
	return 0;
}

/* ------------------------------------------------------ begin, end, take back */

/* All of prev that is no table. */
static bool
copy_attributes(struct plan *p, const struct plan *prev)
{
	for (size_t i = 0; i < prev->refused.n; i++)
		if (!fm_vec_push(&p->refused, prev->refused.item[i]))
			return false;
	plan_copy_maker(p, prev);
	p->mended = prev->mended;
	p->rebalance_tried = prev->rebalance_tried;
	p->rivals_asked = prev->rivals_asked;
	p->groups_tried = prev->groups_tried;
	p->change.n_leaves = prev->change.n_leaves;
	memcpy(p->change.waiting, prev->change.waiting, sizeof(p->change.waiting));
	memcpy(p->adaptive_given_up, prev->adaptive_given_up, sizeof(p->adaptive_given_up));
	return true;
}

/* The graph and the ends.  *serve false: an engine has to see them. */
static int
compare_fabrics(struct keeping *k, const struct plan_request *q, bool *serve, struct fm_error *err)
{
	int rc = graph_compare(&k->prev->graph->fab, &k->snap->fab, &k->diff, err);

	*serve = rc == 0 && k->diff.comparable;
	k->same_ends = graph_same_ends(&k->prev->snap->fab, &k->snap->fab);
	k->p->top_lid = k->snap->fab.max_lid;
	if (!*serve || (rc = find_joiners(k, serve, err)) != 0 || !*serve)
		return rc;
	if (!find_absent(k, q) || !copy_attributes(k->p, k->prev))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for tables that are kept");
	return 0;
}

int
keep_begin(struct keeping *k, struct router *r, const struct plan_request *q, struct fm_error *err)
{
	bool serve;
	int rc;

	*k = (struct keeping){ .r = r,
		.prev = q->prev,
		.snap = q->snap,
		.allow_credit_loops = q->chain->allow_credit_loops,
		.began_ms = plan_now_ms() };
	if (q->prev == NULL || q->prev->tables == NULL ||
	    (q->prev->change.n_stubs > 0 && q->prev->deviations.n == 0))
		return 0;
	k->older =
	    q->flight.n_installed > 0 || (q->flight.older && q->prev->number > q->flight.oldest);
	if ((k->p = plan_new(q->snap, err)) == NULL)
		return FM_E_RESOURCE;
	rc = compare_fabrics(k, q, &serve, err);
	if (rc == 0 && !serve) {
		plan_put(k->p);
		k->p = NULL;
	}
	return rc;
}

void
keep_take_back(struct keeping *k)
{
	tables_put(k->p->tables);
	snapshot_put(k->p->graph);
	k->p->tables = NULL;
	k->p->graph = NULL;
	k->p->made = PLAN_ROUTED;
	k->p->delta_base = 0;
	k->p->delta_blocks = 0;
	k->p->delta.n = k->p->deviations.n = 0;
	k->p->rebalance_tried = k->prev->rebalance_tried;
}

int
keep_end(struct keeping *k, int rc, bool serve, struct plan **out)
{
	fm_vec_fini(&k->joiners);
	fm_vec_fini(&k->dropped);
	graph_diff_fini(&k->diff);
	if (rc == 0 && serve) {
		k->p->route_ms = plan_now_ms() - k->began_ms - k->p->verify_ms;
		*out = k->p;
	} else {
		plan_put(k->p);
	}
	return rc;
}

/* -------------------------------------------------------------- as they are */

/* *done: the tables of the new plan join all that prev's did, and are free of loops. */
static int
prove(struct keeping *k, bool *done, struct fm_error *err)
{
	struct plan *p = k->p;
	struct verify_request req = { .n_vls = k->r->set.n_vls,
		.sl_model = plan_sl_model(k->r, p) };
	double start = plan_now_ms();
	int rc;

	if (p->regions != NULL && p->regions->n_switches == p->snap->fab.n_switches)
		req.loops_within = p->regions->loops_within;
	rc = verify_tables(p->snap, &p->tables->t, &req, k->r->workers, &p->verdict, err);
	p->verify_ms = plan_now_ms() - start;
	*done = rc == 0 && verdict_is_safe(&p->verdict, k->allow_credit_loops) &&
	    p->verdict.unreachable_pairs <= k->prev->verdict.unreachable_pairs;
	if (!*done)
		keep_take_back(k);
	return rc;
}

int
keep_tables(struct keeping *k, bool *done, struct fm_error *err)
{
	int rc;

	/* what was repaired may be due to go back: for repair to see */
	if (k->prev->deviations.n > 0 || !switches_serve(k))
		return 0;
	k->p->made = PLAN_KEPT;
	rc = settle_tables(k, err);
	return rc != 0 ? rc : prove(k, done, err);
}

/* ---------------------------------------------------------------- going back */

/* Does what leaves e.sw by the nominal port arrive, by entries as they are, without coming back
 * there? */
static bool
leads_home(const struct keeping *k, const struct plan_entry *e)
{
	const struct fm_fabric *fab = &k->snap->fab;
	fm_end end = e->lid <= fab->max_lid ? fab->lid_end[e->lid] : FM_NONE;
	fm_sw sw = snapshot_switch_at(k->snap, e->sw, e->port);

	for (uint32_t n = 0; end != FM_NONE && sw != FM_NONE && n < fab->n_switches; n++) {
		if (sw == fab->end_sw[end])
			return true;
		if (sw == e->sw)
			return false;
		sw = snapshot_switch_at(k->snap, sw, k->p->tables->t.lft[sw][e->lid]);
	}
	return false;
}

/* The tables with all deviations undone but those of LIDs that linger; or with one of each LID, the
 * others go to those of the plan.  Deviations are by LID. */
static int
undo_deviations(struct keeping *k, bool one_each, struct fm_error *err)
{
	const struct fm_fabric *fab = &k->snap->fab;
	const struct plan *prev = k->prev;
	uint16_t done = 0;
	struct plan *p = k->p;
	int rc = keep_copy(k, err);

	if (rc != 0)
		return rc;
	if (!fm_vec_reserve(&p->delta, prev->deviations.n) ||
	    !fm_vec_reserve(&p->deviations, prev->deviations.n))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for tables that go back");
	p->graph = snapshot_get(prev->graph);
	for (size_t i = 0; i < prev->deviations.n; i++) {
		struct plan_entry e = prev->deviations.item[i];

		if (p->tables->t.lft[e.sw][e.lid] == e.port)
			continue;
		if (e.lid > fab->max_lid || fab->lid_end[e.lid] == FM_NONE ||
		    (one_each && (done == e.lid || !leads_home(k, &e)))) {
			fm_vec_push(&p->deviations, e);
			continue;
		}
		done = e.lid;
		p->tables->t.lft[e.sw][e.lid] = e.port;
		fm_vec_push(&p->delta, e);
	}
	qsort(p->delta.item, p->delta.n, sizeof(*p->delta.item), plan_entry_by_switch);
	p->delta_base = prev->number;
	p->delta_blocks = plan_count_blocks(p);
	p->made = PLAN_REPAIRED;
	return 0;
}

int
keep_go_back(struct keeping *k, bool one_each, bool *done, struct fm_error *err)
{
	int rc;

	if (k->diff.lost.n > 0 || k->prev->deviations.n == 0 || k->joiners.n > 0 ||
	    k->dropped.n > 0)
		return 0;
	rc = undo_deviations(k, one_each, err);
	return rc != 0 ? rc : prove(k, done, err);
}

bool
plan_lingers_too_long(const struct plan *p, int64_t now_ms, int64_t linger_ms)
{
	for (size_t i = 0; p != NULL && i < p->absent.n; i++)
		if (now_ms - p->absent.item[i].since_ms >= linger_ms)
			return true;
	return false;
}
