/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holes of tables that an engine has made, as a repair of a LID whose way is lost: its spots are
 * the switches that have none.
 *
 * Time: the dependencies of the tables, and of each hole a few looks at its neighbours.
 */
#include "core/repair/repair_complete.h"

#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_event.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"
#include "lib/error.h"

#define DETOUR 2u /* links, for a way without new dependencies */

/* A plan of these tables alone, as repair wants it. */
struct completing {
	struct repair p;
	struct keeping k;
	struct repair_state st;
};

static bool
set_up(struct completing *c, struct router *r, struct snapshot *snap, struct tables *t)
{
	struct repair *p = &c->p;
	const struct fm_fabric *fab = &snap->fab;

	c->k = (struct keeping){ .r = r, .snap = snap };
	*p = (struct repair){ .r = r,
		.k = &c->k,
		.st = &c->st,
		.t = &t->t,
		.fab = fab,
		.detour = DETOUR,
		.notes_undo = true };
	p->g = c->st.g = depend_build(fab, fab, &t->t, NULL, VERIFY_FORWARD, r->workers);
	if (p->g == NULL || !depend_allow_levels(p->g, fab) ||
	    !repair_count_loads(&c->st, fab, &t->t, r->workers))
		return false;
	p->load = c->st.load;
	p->lost = p->was_lost = calloc(FM_BITSET_WORDS(p->g->n_channels) + 1, sizeof(*p->lost));
	p->sends = calloc(fab->n_switches + 1, 1);
	p->dirty = calloc(fab->max_lid + 1u, 1);
	return p->lost != NULL && p->sends != NULL && p->dirty != NULL &&
	    repair_take_room(p, &c->st.room);
}

static void
tear_down(struct completing *c)
{
	struct repair *p = &c->p;

	depend_free(c->st.g);
	free(c->st.load);
	repair_room_free(&c->st.room);
	free(p->lost);
	free(p->sends);
	free(p->dirty);
	fm_vec_fini(&p->spots);
	fm_vec_fini(&p->dev);
	fm_vec_fini(&p->stack);
	fm_vec_fini(&p->idle);
	fm_vec_fini(&p->banned);
	fm_vec_fini(&p->undo);
	fm_vec_fini(&p->delta);
	fm_vec_fini(&p->shifts);
}

/* From which switches anything comes, an entrance of the fabric included. */
static void
find_senders(struct repair *p)
{
	for (fm_end e = 0; e < p->fab->n_ends; e++)
		if (p->fab->end_sw[e] != FM_NONE && p->fab->end_kind[e] != FM_END_SWITCH)
			p->sends[p->fab->end_sw[e]] = 1;
}

/* The LID's holes: n of them.  Those that find no way stay. */
static void
fill_lid(struct repair *p, const struct repair_hole *holes, size_t n)
{
	p->lid = holes->lid;
	p->to = p->fab->end_sw[p->fab->lid_end[p->lid]];
	p->to_switch = true;
	p->spots.n = p->dev.n = p->delta.n = p->shifts.n = 0;
	p->hopeless = false;
	repair_take_column(p);
	repair_new_marks(p);
	for (size_t i = 0; i < n; i++) {
		struct repair_spot s = { .sw = holes[i].sw, .old_port = p->column[holes[i].sw] };

		if (s.sw == p->to || has_mark(p, s.sw, MARK_LOST) ||
		    repair_depth(p, s.sw) != REPAIR_FAR)
			continue;
		set_mark(p, s.sw, MARK_LOST);
		p->out_of_memory = p->out_of_memory || !fm_vec_push(&p->spots, s);
	}
	if (p->spots.n > 0 && !p->out_of_memory)
		repair_lid(p);
}

int
repair_complete(struct router *r, struct snapshot *snap, struct tables *t,
    const struct repair_hole *holes, size_t n, struct repair_entries *was, struct fm_error *err)
{
	struct completing *c = calloc(1, sizeof(*c));
	bool ok = c != NULL && set_up(c, r, snap, t);

	if (ok)
		find_senders(&c->p);
	for (size_t i = 0, next; ok && !c->p.g->cyclic && i < n; i = next) {
		for (next = i + 1; next < n && holes[next].lid == holes[i].lid;)
			next++;
		if (snap->fab.lid_end[holes[i].lid] != FM_NONE)
			fill_lid(&c->p, holes + i, next - i);
		ok = !c->p.out_of_memory;
	}
	ok = ok && fm_vec_append(&was->e, c->p.undo.item, c->p.undo.n);
	if (c != NULL)
		tear_down(c);
	free(c);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while completing tables");
}
