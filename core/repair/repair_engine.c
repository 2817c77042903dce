/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair by the engine that made the tables, where it offers one (engine.h, repair()).
 *
 * It is asked first, while nothing has been touched.  What it answers is settled LID
 * by LID as a repair of our own is: each entry is followed, what packets depend on is
 * inserted into the verified dependencies, and every LID it touches, or that a lost
 * cable does, is summed up anew.  So an answer that loops, closes a cycle or leaves a
 * pair without a path is found out, and the generic repair begins afresh.
 *
 * Time: that of the engine, and a look-up per (switch, LID touched).
 */
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/repair/repair_internal.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/log.h"

/* ------------------------------------------------------------ what it is told */

struct asking {
	struct router *r;
	const struct plan_request *q;
	const struct keeping *k;
	const struct chain_entry *entry;
	FM_VEC(struct fm_event) events;
	struct fm_tables nominal;
	uint8_t **rows; /* [n_switches] of nominal */
	struct repair_given *given;
	bool out_of_memory;
};

static void
note_switches(struct asking *a)
{
	const struct fm_fabric *was = &a->k->prev->snap->fab, *now = &a->k->snap->fab;

	for (fm_sw sw = 0; sw < now->n_switches; sw++) {
		struct fm_event e = { .sw = sw, .to = FM_NONE };

		e.kind = graph_is_gone(now, sw) ? FM_EVENT_SWITCH_LOST : FM_EVENT_SWITCH_BACK;
		if (graph_is_gone(was, sw) != graph_is_gone(now, sw) && !fm_vec_push(&a->events, e))
			a->out_of_memory = true;
	}
}

/* Each cable once, from its first side. */
static void
note_cables(struct asking *a)
{
	const struct repair_state *st = a->r->repair;
	const struct depend *g = st->g;
	uint64_t *lost = repair_lost_bits(g, &a->k->diff);

	a->out_of_memory = a->out_of_memory || lost == NULL;
	for (uint32_t c = 0; lost != NULL && c < g->n_channels; c++) {
		struct fm_event e = { .sw = g->at[c], .to = g->to[c] };

		if (g->back[c] == FM_NONE || c > g->back[c] ||
		    fm_bit_test(lost, c) == fm_bit_test(st->lost, c))
			continue;
		e.kind = fm_bit_test(lost, c) ? FM_EVENT_CABLE_LOST : FM_EVENT_CABLE_BACK;
		e.port = (uint8_t)(c - g->first[e.sw]);
		e.to_port = (uint8_t)(g->back[c] - g->first[e.to]);
		if (!fm_vec_push(&a->events, e))
			a->out_of_memory = true;
	}
	free(lost);
}

/* Rows without a deviation are those of the tables. */
static void
make_nominal(struct asking *a)
{
	const struct plan *prev = a->k->prev;
	const struct fm_tables *t = &prev->tables->t;
	uint32_t n = a->k->snap->fab.n_switches;

	a->nominal = *t;
	a->rows = malloc((n + 1) * sizeof(*a->rows));
	if (a->rows == NULL) {
		a->out_of_memory = true;
		return;
	}
	memcpy(a->rows, t->lft, n * sizeof(*a->rows));
	a->nominal.lft = a->rows;
	for (size_t i = 0; i < prev->deviations.n; i++) {
		const struct plan_entry *e = &prev->deviations.item[i];

		if (a->rows[e->sw] == t->lft[e->sw]) {
			uint8_t *row = malloc(t->lft_stride);

			if (row == NULL) {
				a->out_of_memory = true;
				return;
			}
			a->rows[e->sw] = memcpy(row, t->lft[e->sw], t->lft_stride);
		}
		a->rows[e->sw][e->lid] = e->port;
	}
}

static void
asking_fini(struct asking *a)
{
	for (fm_sw sw = 0; a->rows != NULL && sw < a->k->snap->fab.n_switches; sw++)
		if (a->rows[sw] != a->k->prev->tables->t.lft[sw])
			free(a->rows[sw]);
	free(a->rows);
	fm_vec_fini(&a->events);
}

/* ------------------------------------------------------------- what it answers */

/* Why the entry cannot be taken, NULL: it can. */
static const char *
find_fault(const struct asking *a, fm_sw sw, uint32_t lid, uint8_t port)
{
	const struct fm_fabric *fab = &a->k->snap->fab;
	const struct depend *g = a->r->repair->g;
	uint32_t c;
	fm_end e;

	if (sw >= fab->n_switches || graph_is_gone(fab, sw))
		return "no such switch";
	if (lid == 0 || lid > fab->max_lid || !repair_is_owned(fab, lid))
		return "nobody has the LID";
	e = fab->lid_end[lid];
	if (fab->end_sw[e] == sw)
		return port == fab->end_port[e] ? NULL : "the LID is on this very switch";
	c = depend_channel(g, sw, port);
	if (port != FM_PORT_NONE && (c == FM_NONE || g->back[c] == FM_NONE))
		return "no switch was ever behind the port";
	return NULL;
}

static bool
take_entry(struct fm_delta *d, fm_sw sw, uint16_t lid, uint8_t port)
{
	struct asking *a = d->self;
	struct repair_named e = { .entry = { .sw = sw, .lid = lid, .port = port },
		.n = a->given->entries.n };
	const char *fault = find_fault(a, sw, lid, port);

	if (fault != NULL && a->given->fault == NULL) {
		a->given->fault = fault;
		a->given->at = e.entry;
	}
	if (fault != NULL)
		return true; /* it is told afterwards */
	if (!fm_vec_push(&a->given->entries, e))
		a->out_of_memory = true;
	return !a->out_of_memory;
}

/* The entry of the chain that made the tables; NULL: a step of MLNX_OFED's chains,
 * regions, or one that cannot repair. */
static const struct chain_entry *
find_entry(const struct plan_request *q, const struct plan *prev)
{
	if (prev->regions != NULL && prev->regions->n > 1)
		return NULL;
	for (uint32_t i = 0; i < q->chain->n_entries; i++) {
		const struct chain_entry *e = &q->chain->entries[i];

		if (strcmp(e->name, prev->engine) == 0)
			return e->overlay == NULL && engine_repairs(e->engine) ? e : NULL;
	}
	return NULL;
}

static int
call(struct asking *a, struct fm_error *why)
{
	struct fm_repair_request request = { .size = sizeof(request),
		.n_vls = a->r->set.n_vls,
		.tables = &a->k->prev->tables->t,
		.nominal = &a->nominal,
		.events = a->events.item,
		.n_events = (uint32_t)a->events.n };
	struct repair_job job = { .engine = a->entry->engine,
		.fab = &a->k->snap->fab,
		.request = &request,
		.time_limit_ms = a->entry->time_limit_ms };
	struct fm_delta delta = { .size = sizeof(delta), .self = a, .set = take_entry };
	struct fm_arena mem;
	void *opts = NULL;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(a->entry->engine, a->entry->values, a->k->snap, &mem, &opts, why);
	job.opts = opts;
	if (rc == 0)
		rc = route_repair(a->r, &job, &delta, why);
	fm_arena_fini(&mem);
	return rc;
}

/* The order in which they were named is kept beside them. */
static int
by_entry(const void *x, const void *y)
{
	const struct repair_named *a = x, *b = y;
	int order = plan_entry_by_lid(&a->entry, &b->entry);

	return order != 0 ? order : a->n < b->n ? -1 : a->n > b->n;
}

/* By LID, and of an entry that was named twice the last word. */
static void
sort_given(struct repair_given *given)
{
	struct repair_named *at = given->entries.item;
	size_t n = 0;

	if (given->entries.n > 1)
		qsort(at, given->entries.n, sizeof(*at), by_entry);
	for (size_t i = 0; i < given->entries.n; i++) {
		if (n > 0 && plan_entry_by_lid(&at[n - 1].entry, &at[i].entry) == 0)
			n--;
		at[n++] = at[i];
	}
	given->entries.n = n;
}

int
repair_ask_engine(struct router *r, const struct plan_request *q, const struct keeping *k,
    struct repair_given *given, bool *asked, struct fm_error *err)
{
	struct asking a = { .r = r, .q = q, .k = k, .given = given };
	struct fm_error why = { 0 };
	int rc = 0;

	*asked = false;
	a.entry = find_entry(q, k->prev);
	if (a.entry == NULL || k->joiners.n > 0 || k->dropped.n > 0)
		return 0;
	note_switches(&a);
	note_cables(&a);
	make_nominal(&a);
	if (!a.out_of_memory && a.events.n > 0)
		rc = call(&a, &why);
	if (a.out_of_memory)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while repairing tables");
	else if (rc != 0) {
		log_debug("route", "engine %s does not repair: %s", a.entry->name, why.msg);
		rc = 0;
	} else if (given->fault != NULL) {
		r->engine_repair.fault = given->fault;
		r->engine_repair.at = given->at;
		log_warn("route",
		    "engine %s names an entry that cannot be, its repair is not used: switch=%u "
		    "lid=%u port=%u: %s",
		    a.entry->name, given->at.sw, given->at.lid, given->at.port, given->fault);
	} else if (a.events.n > 0) {
		sort_given(given);
		*asked = true;
	}
	asking_fini(&a);
	return rc;
}

/* ------------------------------------------------------------------- one LID */

/* Does the packet come by a switch again? */
static bool
goes_round(const struct repair *p, fm_sw sw)
{
	for (uint32_t n = 0; sw != p->to; n++) {
		uint32_t c = repair_egress(p, sw);

		if (c == FM_NONE || fm_bit_test(p->lost, c))
			return false;
		if (n > p->g->n_switches)
			return true;
		sw = p->g->to[c];
	}
	return false;
}

void
repair_take_given(struct repair *p, const struct repair_named *named, size_t n)
{
	enum depend_result rc;

	p->dirty[p->lid] = 1;
	for (size_t i = 0; i < n; i++)
		repair_set(p, named[i].entry.sw, named[i].entry.port);
	for (size_t i = 0; i < n && p->given->unsafe == NULL; i++)
		if (goes_round(p, named[i].entry.sw)) {
			p->given->unsafe = "packets would go round in a circle";
			p->given->at = named[i].entry;
		}
	if (p->given->unsafe == NULL && n > 0) {
		rc = repair_insert_lid(p, FM_NONE);
		p->out_of_memory = p->out_of_memory || rc == DEPEND_NOMEM;
		if (rc == DEPEND_CYCLE) {
			p->given->unsafe = "it closes a cycle of dependencies";
			p->given->at = named[0].entry;
		}
	}
	p->hopeless = p->hopeless || p->given->unsafe != NULL;
}
