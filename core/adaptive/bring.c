/* SPDX-License-Identifier: BSD-2-Clause */
/* core/adaptive/bring.c - the stages by which the groups of a plan reach all switches. */
#include <inttypes.h>

#include "core/adaptive/internal.h"
#include "core/ask/doubt.h"
#include "core/graph/tables.h"
#include "core/plan/plan.h"

#define A_TURN 32 /* switches that are looked at before others have their turn */

/* Is there something to bring, and is it ours to do? */
static bool
is_ours(const struct sweeper *s)
{
	return s->adaptive->of_slot.n > 0 && sweeper_was_up(s) &&
	    s->p.ha->state == WIRE_SM_MASTER && !s->set.dry_run && s->plan != NULL &&
	    s->plan->tables != NULL;
}

/* Do all switches hold the forwarding tables of the plan? */
static bool
are_tables_written(const struct sweeper *s)
{
	if (s->writing.unwritten.n > 0 || s->writing.held.n > 0)
		return false;
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (node_usable(n) && (n->lft != LFT_OURS || doubt_has_a_block(n)))
			return false;
	}
	return true;
}

/* A switch that can be asked; NULL: not this one, or not now. */
static struct ar_switch *
usable(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	struct ar_switch *w = ar_of(s, slot);

	if (w == NULL || w->state <= AR_STRANGE || !node_usable(n) || n->silent || n->quiet)
		return NULL;
	return w->again_ms <= sweeper_clock_ms(s) ? w : NULL;
}

/* --------------------------------------------------------------------- one switch */

/* In this stage. */
static void
visit(struct sweeper *s, uint32_t slot)
{
	struct sweep_adaptive *all = s->adaptive;
	struct ar_switch *w = usable(s, slot);
	struct fm_vendor_rows rows;
	bool is_wanted = s->set.routing.ar_max_groups > 0 && all->plan == s->plan, has_groups;

	if (w == NULL)
		return;
	if (is_wanted && !all->differs && w->holds == all->plan->number && w->state == AR_ADAPTIVE)
		return; /* as it is to be */
	has_groups = is_wanted && ar_rows(s, slot, all->plan, &rows);
	switch (all->stage) {
	case AR_LOOK:
		if (has_groups && w->holds != all->plan->number)
			ar_job_begin(s, slot, AR_JOB_LOOK);
		break;
	case AR_OFF:
		if ((all->differs || !has_groups || w->state == AR_UNKNOWN) &&
		    w->state != AR_STATIC) {
			all->off_until_ms = sweeper_clock_ms(s) + s->set.transition.packet_life_ms;
			ar_turn(s, slot, false, true);
		}
		break;
	case AR_WRITE:
		if (has_groups && w->holds != all->plan->number && w->state == AR_STATIC)
			ar_job_begin(s, slot, AR_JOB_WRITE);
		break;
	case AR_ON:
		if (has_groups && w->holds == all->plan->number && w->state == AR_STATIC)
			ar_turn(s, slot, true, true);
		break;
	case AR_WAIT:
	case AR_DONE:
		break;
	}
}

/* ------------------------------------------------------------------- all of them */

static int64_t
safe_at_ms(const struct sweeper *s)
{
	int64_t older_ms = s->writing.older_until_ns / 1000000 + 1;

	return s->adaptive->off_until_ms > older_ms ? s->adaptive->off_until_ms : older_ms;
}

/* Those of a plan are looked for; what a switch holds of one before that is not known any more. */
static void
begin(struct sweeper *s)
{
	struct sweep_adaptive *all = s->adaptive;

	if (all->plan != s->plan && tables_are_adaptive(&s->plan->tables->t)) {
		plan_put(all->before);
		all->before = all->plan;
		all->plan = plan_get(s->plan);
		for (size_t i = 0; i < all->of_slot.n; i++) {
			struct ar_switch *w = &all->of_slot.item[i];

			ar_job_drop(w);
			if (w->again_ms == INT64_MAX)
				w->again_ms = 0;
		}
	}
	all->current = s->plan->number;
	all->sweep = s->report.number;
	all->stage = AR_LOOK;
	all->next = 0;
	all->differs = false;
	all->again_ms = INT64_MAX;
	all->n_turned_on = 0;
	for (uint32_t i = 0; i < all->of_slot.n; i++) {
		const struct ar_switch *w = ar_of(s, i);

		if (w != NULL && w->again_ms > sweeper_clock_ms(s) && w->again_ms < all->again_ms)
			all->again_ms = w->again_ms;
	}
}

static void
say_done(const struct sweeper *s)
{
	struct ar_report r;

	if (s->adaptive->n_turned_on == 0)
		return;
	sweeper_adaptive(s, &r);
	log_notice("adaptive",
	    "%" PRIu32 " switches route adaptively, %" PRIu32 " of them since now; %" PRIu32
	    " go by their tables alone, and %" PRIu32 " have no groups that fmd can write",
	    r.switches[AR_ADAPTIVE], s->adaptive->n_turned_on,
	    r.switches[AR_STATIC] + r.switches[AR_UNKNOWN],
	    r.switches[AR_ABSENT] + r.switches[AR_STRANGE]);
}

static void
enter(struct sweeper *s, enum ar_stage stage)
{
	struct sweep_adaptive *all = s->adaptive;

	all->stage = stage;
	all->next = 0;
	if (stage != AR_DONE)
		return;
	plan_put(all->before); /* all hold the plan's, or it is not known what */
	all->before = NULL;
	for (size_t i = 0; i < all->of_slot.n; i++)
		if (all->plan == NULL || all->of_slot.item[i].holds != all->plan->number)
			all->of_slot.item[i].holds = 0;
	say_done(s);
}

/* False: answers have to come first, or time has to pass, or others are to have their turn. */
static bool
go_on(struct sweeper *s, unsigned *n_left)
{
	struct sweep_adaptive *all = s->adaptive;

	if (all->stage == AR_WAIT && sweeper_clock_ms(s) < safe_at_ms(s))
		return false;
	while (all->next < s->inv.switches.n && all->under_way < AR_MANY && *n_left != 0) {
		visit(s, s->inv.switches.item[all->next++]);
		*n_left -= 1;
	}
	if (all->next < s->inv.switches.n || all->under_way > 0)
		return false;
	enter(s, all->stage + 1);
	return all->stage != AR_DONE;
}

void
ar_step(struct sweeper *s)
{
	struct sweep_adaptive *all = s->adaptive;
	unsigned n_left = A_TURN;

	if (!is_ours(s)) {
		all->sweep = 0;
		return;
	}
	if (ar_due_ms(s) > sweeper_clock_ms(s) || !are_tables_written(s))
		return;
	if (all->stage == AR_DONE || all->sweep != s->report.number ||
	    all->current != s->plan->number) {
		if (all->under_way > 0)
			return;
		begin(s);
	}
	while (go_on(s, &n_left))
		;
}

int64_t
ar_due_ms(const struct sweeper *s)
{
	const struct sweep_adaptive *all = s->adaptive;

	if (!is_ours(s) || all->under_way > 0)
		return INT64_MAX;
	if (all->sweep != s->report.number || all->current != s->plan->number)
		return are_tables_written(s) ? LONG_AGO_MS : INT64_MAX;
	if (all->stage == AR_DONE)
		return all->again_ms;
	return all->stage == AR_WAIT ? safe_at_ms(s) : LONG_AGO_MS;
}
