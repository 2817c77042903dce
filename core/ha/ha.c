/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ha/ha.c - decisions of the SMInfo state machine, IBA 14.4.1.
 */
#include "core/ha/ha.h"

#include <string.h>

void
ha_init(struct ha *h, uint64_t guid, uint8_t priority, uint64_t sm_key)
{
	memset(h, 0, sizeof(*h));
	h->guid = guid;
	h->priority = priority;
	h->sm_key = sm_key;
	h->state = WIRE_SM_DISCOVERING;
}

bool
ha_is_better(uint8_t a_priority, uint64_t a_guid, uint8_t b_priority, uint64_t b_guid)
{
	if (a_priority != b_priority)
		return a_priority > b_priority;
	return a_guid < b_guid;
}

uint8_t
ha_priority(const struct ha *h)
{
	return h->state == WIRE_SM_MASTER && h->master_priority > h->priority ? h->master_priority
									      : h->priority;
}

void
ha_activate(struct ha *h)
{
	if (h->state == WIRE_SM_NOT_ACTIVE)
		h->state = WIRE_SM_DISCOVERING;
}

static bool
other_is_better(const struct ha *h, const struct ha_other *o)
{
	return ha_is_better(o->info.priority, o->info.guid, ha_priority(h), h->guid);
}

/* Does it count for an election?  A foreign one does only while it is master. */
static bool
counts(const struct ha_other *o, uint8_t state)
{
	if (o->info.state == WIRE_SM_NOT_ACTIVE || (state != 0 && o->info.state != state))
		return false;
	return o->trust == HA_OURS || (o->trust == HA_FOREIGN && state == WIRE_SM_MASTER);
}

/* The best of those in `state` (any live one of ours for 0), or n_others. */
static uint32_t
best_of(const struct ha_other *others, uint32_t n_others, uint8_t state)
{
	uint32_t best = n_others;

	for (uint32_t i = 0; i < n_others; i++) {
		const struct wire_sm_info *o = &others[i].info;

		if (counts(&others[i], state) &&
		    (best == n_others ||
			ha_is_better(o->priority, o->guid, others[best].info.priority,
			    others[best].info.guid)))
			best = i;
	}
	return best;
}

static enum ha_verdict
stand_by(struct ha *h, const struct ha_other *master, enum ha_verdict verdict)
{
	if (h->master.info.guid != master->info.guid || h->state != WIRE_SM_STANDBY)
		h->n_silent_polls = h->n_lesser_polls = 0;
	h->state = WIRE_SM_STANDBY;
	h->handover = HANDOVER_NONE;
	h->master = *master;
	return verdict;
}

/* It has the subnet from us, or is about to. */
static bool
is_heir(const struct ha *h, const struct ha_other *o)
{
	return h->handover != HANDOVER_NONE && o->info.guid == h->master.info.guid &&
	    o->info.state == WIRE_SM_DISCOVERING;
}

uint32_t
ha_best_heir(const struct ha_other *others, uint32_t n_others)
{
	uint32_t i = best_of(others, n_others, WIRE_SM_STANDBY);

	return i < n_others ? i : best_of(others, n_others, WIRE_SM_DISCOVERING);
}

/* When nobody rules, because we have stopped and it has not begun, the best of all that wait steps
 * in.  As master it is taken to show what we would. */
enum ha_heir
ha_judge_heir(const struct ha *h, const struct ha_other *others, uint32_t n_others, uint32_t i,
    uint32_t *better)
{
	const struct wire_sm_info *o = &others[i].info;
	uint8_t as_master = o->priority > h->master_priority ? o->priority : h->master_priority;

	if (!counts(&others[i], WIRE_SM_STANDBY))
		return HEIR_NO_STANDBY;
	for (uint32_t k = 0; k < n_others; k++) {
		const struct wire_sm_info *p = &others[k].info;

		*better = k;
		if (k != i && counts(&others[k], 0) &&
		    ha_is_better(p->priority, p->guid, o->priority, o->guid) &&
		    ha_is_better(p->priority, p->guid, h->priority, h->guid))
			return HEIR_OUTRANKED;
	}
	return ha_is_better(h->priority, h->guid, as_master, o->guid) ? HEIR_RETURNS : HEIR_FITS;
}

/* The one that the administrator has named, while it may take the subnet; or n_others. */
static uint32_t
find_heir(const struct ha *h, const struct ha_other *others, uint32_t n_others)
{
	uint32_t i = 0;

	while (i < n_others &&
	    (h->heir == 0 || others[i].info.guid != h->heir || others[i].trust != HA_OURS ||
		(others[i].info.state != WIRE_SM_STANDBY && !is_heir(h, &others[i]))))
		i++;
	return i;
}

/* It rules, and has our HANDOVER: its answer says so, or it was asked to, better or not. */
static bool
has_inherited(const struct ha *h, const struct ha_other *o)
{
	return o->info.guid == h->master.info.guid &&
	    (h->handover == HANDOVER_TAKEN ||
		(h->handover == HANDOVER_SENT && o->info.guid == h->heir));
}

/* As master: a better one there? */
static enum ha_verdict
decide_as_master(struct ha *h, const struct ha_other *others, uint32_t n_others, uint32_t *whom)
{
	uint32_t best = best_of(others, n_others, 0);

	for (uint32_t i = 0; i < n_others; i++) {
		const struct wire_sm_info *o = &others[i].info;

		*whom = i;
		if (o->state != WIRE_SM_MASTER || others[i].trust != HA_OURS)
			continue;
		if (has_inherited(h, &others[i]))
			return stand_by(h, &others[i], HA_STANDBY);
		if (other_is_better(h, &others[i]))
			return HA_GIVE_WAY;
	}
	*whom = find_heir(h, others, n_others);
	if (*whom < n_others)
		return HA_GIVE_WAY;
	*whom = best;
	if (best < n_others && other_is_better(h, &others[best]) &&
	    (others[best].info.state == WIRE_SM_STANDBY || is_heir(h, &others[best])))
		return HA_GIVE_WAY;
	h->handover = HANDOVER_NONE; /* it is no better than we are any more, or not there */
	return HA_MASTER;
}

/* The one that has the subnet from us and does not rule yet, better or not; or n_others. */
static uint32_t
find_next(const struct ha *h, const struct ha_other *others, uint32_t n_others)
{
	uint32_t i = 0;

	while (i < n_others &&
	    (h->gave_to == 0 || others[i].info.guid != h->gave_to ||
		others[i].info.state != WIRE_SM_DISCOVERING || others[i].trust != HA_OURS))
		i++;
	return i;
}

enum ha_verdict
ha_decide(struct ha *h, const struct ha_other *others, uint32_t n_others, uint32_t *whom)
{
	uint32_t master = best_of(others, n_others, WIRE_SM_MASTER);
	uint32_t best = best_of(others, n_others, 0);

	if (h->state == WIRE_SM_NOT_ACTIVE)
		return HA_INACTIVE;
	if (h->state == WIRE_SM_MASTER)
		return decide_as_master(h, others, n_others, whom);
	*whom = master;
	if (master < n_others && !h->handed_over)
		return stand_by(h, &others[master],
		    other_is_better(h, &others[master]) || others[master].trust != HA_OURS
			? HA_STANDBY
			: HA_AWAIT_HANDOVER);
	*whom = find_next(h, others, n_others);
	if (*whom < n_others && !h->handed_over)
		return stand_by(h, &others[*whom], HA_STANDBY);
	*whom = best;
	if (best < n_others && other_is_better(h, &others[best]) && !h->handed_over)
		return stand_by(h, &others[best], HA_STANDBY);
	h->state = WIRE_SM_MASTER;
	h->gave_to = 0;
	h->handed_over = false;
	return HA_MASTER;
}

void
ha_offer(struct ha *h, const struct ha_other *to)
{
	h->handover = HANDOVER_SENT;
	h->master = *to;
}

void
ha_taken(struct ha *h)
{
	h->handover = HANDOVER_TAKEN;
}

/* Is it a master whose word counts, as it was last read?  To a standby the one it waits for. */
static bool
may_command(const struct ha *h, const struct ha_other *from)
{
	return from->trust == HA_OURS && from->info.state == WIRE_SM_MASTER &&
	    (h->state != WIRE_SM_STANDBY || from->info.guid == h->master.info.guid);
}

/* As master it means that two subnets have met and the other part is ours now. */
static enum ha_event
on_handover(struct ha *h, const struct ha_other *from)
{
	if (!may_command(h, from) || (h->state != WIRE_SM_STANDBY && h->state != WIRE_SM_MASTER))
		return HA_REFUSE;
	h->n_handovers++;
	if (h->state == WIRE_SM_MASTER) {
		if (from->info.guid == h->heir) { /* it gives it back */
			h->heir = 0;
			h->handover = HANDOVER_NONE;
		}
		return HA_BECOME_MASTER;
	}
	h->state = WIRE_SM_DISCOVERING;
	h->handed_over = true;
	h->master = *from;
	return HA_BECOME_MASTER;
}

static enum ha_event
on_acknowledge(struct ha *h, const struct ha_other *from)
{
	if (h->state != WIRE_SM_STANDBY && h->state != WIRE_SM_MASTER)
		return HA_REFUSE;
	if (h->handover == HANDOVER_NONE || from->info.guid != h->master.info.guid)
		return HA_NOTHING;
	h->state = WIRE_SM_STANDBY;
	h->handover = HANDOVER_NONE;
	h->gave_to = from->info.guid;
	h->n_silent_polls = h->n_lesser_polls = 0;
	return HA_BECOME_STANDBY;
}

enum ha_event
ha_on_set(struct ha *h, uint32_t control, const struct ha_other *from)
{
	if (from == NULL || from->trust != HA_OURS)
		return HA_REFUSE;
	if (control == WIRE_SM_HANDOVER)
		return on_handover(h, from);
	if (control == WIRE_SM_ACKNOWLEDGE)
		return on_acknowledge(h, from);
	if (!may_command(h, from))
		return HA_REFUSE;
	switch (control) {
	case WIRE_SM_DISABLE:
		if (h->state != WIRE_SM_STANDBY)
			return HA_REFUSE;
		h->state = WIRE_SM_NOT_ACTIVE;
		return HA_STOP;
	case WIRE_SM_STANDBY_REQ:
		if (h->state != WIRE_SM_NOT_ACTIVE && h->state != WIRE_SM_DISCOVERING)
			return HA_REFUSE;
		h->state = WIRE_SM_STANDBY;
		h->master = *from;
		return HA_BECOME_STANDBY;
	case WIRE_SM_DISCOVER:
		if (h->state != WIRE_SM_STANDBY)
			return HA_REFUSE;
		h->state = WIRE_SM_DISCOVERING;
		return HA_REDISCOVER;
	default:
		return HA_REFUSE;
	}
}

void
ha_give_up(struct ha *h)
{
	h->state = WIRE_SM_DISCOVERING;
	h->handover = HANDOVER_NONE;
	h->n_silent_polls = h->n_lesser_polls = 0;
}

void
ha_doubt(struct ha *h, uint32_t enough, uint32_t silent_max)
{
	if (silent_max > enough && h->n_silent_polls < silent_max - enough)
		h->n_silent_polls = silent_max - enough;
}

bool
ha_on_poll(struct ha *h, const struct ha_other *now, uint32_t silent_max)
{
	bool is_it = now != NULL && now->info.guid == h->master.info.guid &&
	    (now->trust == HA_OURS || now->trust == HA_FOREIGN);

	if (h->state != WIRE_SM_STANDBY && h->handover != HANDOVER_TAKEN)
		return false;
	if (now == NULL) {
		if (++h->n_silent_polls < silent_max)
			return false;
	} else if (is_it) {
		h->n_silent_polls = 0;
		h->master = *now;
		if (h->handover == HANDOVER_TAKEN && now->info.state != WIRE_SM_MASTER)
			return false; /* it is about to be */
		h->state = WIRE_SM_STANDBY;
		h->handover = HANDOVER_NONE;
		h->n_lesser_polls = now->info.state != WIRE_SM_MASTER || other_is_better(h, now)
		    ? 0
		    : h->n_lesser_polls + 1;
		if (now->info.state == WIRE_SM_MASTER || now->info.state == WIRE_SM_DISCOVERING)
			return false;
	}
	h->state = WIRE_SM_DISCOVERING;
	h->handover = HANDOVER_NONE;
	return true;
}

void
ha_info(const struct ha *h, struct wire_sm_info *info)
{
	*info =
	    (struct wire_sm_info){ .guid = h->guid, .priority = ha_priority(h), .state = h->state };
}

const char *
ha_state_name(uint8_t state)
{
	static const char *const names[] = { "not active", "discovering", "standby", "master" };

	return state < 4 ? names[state] : "in an unknown state";
}

const char *
ha_trust_name(uint8_t trust)
{
	static const char *const names[] = { "foreign", "ours", "given up", "impostor",
		"not allowed" };

	return trust < sizeof(names) / sizeof(names[0]) ? names[trust] : "";
}
