/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What writing waits for between two stages, and whether it goes on: packets of older tables are
 * to be gone, hosts to be told of other SLs, silent switches to be asked once more.
 *
 * Where paths get other SLs and the old ones are not safe on new entries (reconfig.h), these
 * stay empty when the sweep ends.  The SA names the new SLs then; the next sweep tells the
 * hosts (repath.c), waits for their answers and a packet's life time, and fills them.
 *
 * SL-to-VL maps of another plan are not proven with packets to LIDs that have been emptied, nor
 * with those of hosts that have not been told: these are gone before maps are written.
 */
#include "core/program/apply_internal.h"
#include "core/transition/reconfig.h"

#define BREAKS_MAX 3  /* times in a row that a sweep fails to ask again */
#define BREAK_LIVES 2 /* packet life times for which writing is broken off again and again */

/* When the packets of the tables that have been written over are gone.  While packets of
 * older ones were under way the first stage of the plan is written so that only those matter
 * (reconfig.h). */
static int64_t
wait_until(struct sweeper *s, int64_t now_ns)
{
	bool older = s->writing.waits_for_older && !s->telling.held_for_sls &&
	    !s->telling.untold_before_us && transition_counts(s->writing.transition)->drained == 0;

	s->writing.waits_for_older = false;
	return older ? s->writing.older_until_ns
		     : now_ns + s->set.transition.packet_life_ms * 1000000;
}

/* A packet's life time, begun with the first call. */
static bool
is_over(struct sweeper *s)
{
	int64_t now_ns = s->p.transport->ops->now_ns(s->p.transport);

	if (s->set.dry_run)
		return true;
	if (s->writing.wait_ns == 0)
		s->writing.wait_ns = wait_until(s, now_ns);
	if (now_ns < s->writing.wait_ns)
		return false;
	s->writing.wait_ns = 0;
	return true;
}

/* Nothing is on its way, and what each switch holds is known: something else that has
 * changed need not wait for the rest, as each cable of a switch whose cables go one after the
 * other.  Not for ever: what waits has to be written, too. */
static bool
may_break_off(const struct sweeper *s)
{
	int64_t now_ns = s->p.transport->ops->now_ns(s->p.transport);
	int64_t most_ns = BREAK_LIVES * s->set.transition.packet_life_ms * 1000000;

	return (s->run.wanted >= SWEEP_NAMED || s->reading.doubted.n > 0) && !s->set.dry_run &&
	    (s->writing.broken_off_ns == 0 || now_ns < s->writing.broken_off_ns + most_ns) &&
	    s->plan != NULL && s->plan->tables != NULL && reconfig_may_interrupt(s->plan, s->next);
}

bool
apply_holds(const struct sweeper *s)
{
	return s->plan != NULL && s->plan->tables != NULL && s->next != NULL &&
	    s->next != s->plan && !s->set.dry_run && reconfig_awaits_hosts(s->next) &&
	    (s->set.ports.client_reregister || !plan_same_vls(s->plan, s->next));
}

/* The sweep fails, and the next looks at all once more; *n: times in a row. */
static void
look_once_more(struct sweeper *s, unsigned *n, const char *for_what, const char *sentence)
{
	++*n;
	sweeper_request(s, SWEEP_HEAVY, for_what);
	sweep_fail(s, FM_E_SYSTEM, sentence);
}

/* A loss may have cut off the way to a host before it was told.  It is sought once more by all
 * ways, before entries are filled on which its packets are not safe.  Not for ever: it may have
 * gone.  A first sweep has sought it so. */
static bool
seeks_untold(struct sweeper *s)
{
	if (!s->set.ports.client_reregister || s->plan == NULL ||
	    s->telling.n_untold >= BREAKS_MAX || !repath_is_untold(s))
		return false;
	look_once_more(s, &s->telling.n_untold, "hosts that have not been told of other SLs",
	    "hosts that could not be reached have not been told that their paths carry other SLs; "
	    "entries that are not safe for them stay empty while they are sought once more");
	return true;
}

bool
apply_hosts_are_told(struct sweeper *s)
{
	if (!(s->telling.held_for_sls || s->telling.untold_before_us) || s->set.dry_run ||
	    s->telling.told)
		return true;
	if (repath_feed(s) || seeks_untold(s))
		return false;
	s->telling.told = true;
	if (s->set.ports.client_reregister)
		repath_say_untold(s);
	return true;
}

bool
apply_may_write(struct sweeper *s)
{
	if (s->telling.untold_before_us && apply_hosts_are_told(s) && is_over(s))
		s->telling.untold_before_us = false;
	return !s->telling.untold_before_us;
}

bool
apply_may_map(struct sweeper *s)
{
	bool drains =
	    s->writing.transition != NULL && transition_counts(s->writing.transition)->drained > 0;

	if (s->plan == NULL || s->plan->tables == NULL || s->run.failed ||
	    plan_same_vls(s->plan, s->next) || s->writing.older_gone ||
	    !(s->telling.held_for_sls || drains))
		return true;
	s->writing.older_gone = apply_hosts_are_told(s) && !s->run.failed && is_over(s);
	return s->writing.older_gone;
}

/* Entries that were emptied are proven to be filled beside new ones.  Where a switch holds older
 * ones they stay empty, and the next sweep begins at what is held.  Not for ever: it may take no
 * others. */
static bool
awaits_silent(struct sweeper *s)
{
	if (s->plan == NULL || s->set.dry_run || s->writing.n_short >= BREAKS_MAX ||
	    !transition_is_partial(s->writing.transition))
		return false;
	look_once_more(s, &s->writing.n_short, "switches that did not take tables whole",
	    "switches did not take tables whole; entries that were emptied stay so while these "
	    "switches are asked once more");
	return true;
}

/* Its choices among entries that it holds are not proven beside those that others get. */
bool
apply_awaits_static(struct sweeper *s)
{
	if (s->set.dry_run || ar_in_use(s) == AR_USES_NONE) {
		s->writing.n_on = 0;
		return false;
	}
	if (s->writing.n_on >= BREAKS_MAX) {
		log_warn("adaptive",
		    "tables are written though a switch could not be told to route by its table "
		    "alone");
		return false;
	}
	look_once_more(s, &s->writing.n_on,
	    "switches that route adaptively and were not turned off",
	    "a switch that routes adaptively could not be turned off; no table is written before "
	    "it is looked for once more");
	return true;
}

bool
apply_ends_empty(struct sweeper *s)
{
	if (!transition_is_to_fill(s->writing.transition))
		return false;
	if (!apply_holds(s))
		return awaits_silent(s);
	if (transition_is_partial(s->writing.transition))
		sweep_fail(s, FM_E_SYSTEM,
		    "switches did not take tables with other SLs whole; these are not given out");
	else
		s->writing.ends = WRITES_HOLD;
	return true;
}

bool
apply_has_waited(struct sweeper *s)
{
	if (!is_over(s)) {
		if (!may_break_off(s))
			return false;
		s->writing.ends = WRITES_BROKEN_OFF;
		if (s->writing.older_until_ns < s->writing.wait_ns)
			s->writing.older_until_ns = s->writing.wait_ns;
		return false;
	}
	s->writing.older_gone = true;
	transition_waited(s->writing.transition);
	return true;
}

int64_t
apply_waits_until_ns(const struct sweeper *s)
{
	return s->writing.wait_ns;
}

void
apply_request(struct sweeper *s, struct plan_request *q)
{
	bool untold = s->telling.held_for_sls || repath_is_back(s);
	enum ar_use use = ar_in_use(s);

	q->flight = (struct plan_flight){ .installed = s->writing.unwritten.item,
		.n_installed = s->writing.unwritten.n,
		.found = sweeper_has_found(s),
		.choices = use == AR_USES_PLAN,
		.older = untold || use == AR_USES_OTHERS ||
		    sweeper_clock_ms(s) * 1000000 < s->writing.older_until_ns,
		.oldest = untold || use == AR_USES_OTHERS ? 0 : s->writing.flight };
	s->telling.held_for_sls = untold;
	s->writing.waits_for_older = q->flight.older || q->flight.n_installed > 0;
}
