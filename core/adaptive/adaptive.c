/* SPDX-License-Identifier: BSD-2-Clause */
/* core/adaptive/adaptive.c - what is known of each switch; turning on and off. */
#include <stdlib.h>
#include <string.h>

#include "core/adaptive/internal.h"
#include "core/graph/tables.h"
#include "core/plan/plan.h"

const char *
ar_state_word(enum ar_state state)
{
	static const char *const words[AR_STATES] = { [AR_ABSENT] = "absent",
		[AR_STRANGE] = "strange",
		[AR_UNKNOWN] = "unknown",
		[AR_STATIC] = "static",
		[AR_ADAPTIVE] = "adaptive" };

	return words[state];
}

bool
ar_new(struct sweeper *s)
{
	s->adaptive = fm_arena_alloc(&s->mem, sizeof(*s->adaptive));
	if (s->adaptive == NULL)
		return false;
	s->adaptive->stage = AR_DONE;
	s->adaptive->again_ms = INT64_MAX;
	return true;
}

void
ar_free(struct sweeper *s)
{
	struct sweep_adaptive *all = s->adaptive;

	if (all == NULL)
		return;
	for (size_t i = 0; i < all->of_slot.n; i++)
		ar_job_drop(&all->of_slot.item[i]);
	fm_vec_fini(&all->of_slot);
	plan_put(all->plan);
	plan_put(all->before);
	free(all->seen.block);
}

/* ------------------------------------------------------------- what it says it is */

/* The same, made where there is none; NULL: it has no programmer, or out of memory. */
static struct ar_switch *
need(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct fm_vendor *v =
	    vendors_find(s->p.vendors, n->info.vendor_id, n->info.device_id);
	struct ar_switch *w = ar_of(s, slot);

	if (v == NULL || (w != NULL && w->vendor == v))
		return v == NULL ? NULL : w;
	while (s->adaptive->of_slot.n <= slot)
		if (!fm_vec_push(&s->adaptive->of_slot, (struct ar_switch){ 0 }))
			return NULL;
	w = &s->adaptive->of_slot.item[slot];
	ar_job_drop(w);
	*w = (struct ar_switch){
		.vendor = v, .generation = n->generation, .state = AR_UNKNOWN, .said = AR_UNKNOWN
	};
	return w;
}

static void
take_info(struct ar_switch *w, const uint8_t *data)
{
	struct fm_vendor_info info;

	memcpy(w->info, data, sizeof(w->info));
	w->n_groups = 0;
	if (!vendor_read_info(w->vendor, w->info, &info)) {
		w->state = AR_STRANGE;
	} else if (info.n_groups == 0) {
		w->state = AR_ABSENT;
	} else {
		w->n_groups = info.n_groups;
		w->state = info.is_on ? AR_ADAPTIVE : AR_STATIC;
	}
	w->said = w->state;
}

static void
on_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ar_switch *w = ar_of(s, a->node);
	uint8_t said;

	if (w == NULL || ask_is_stale(a) || status == TXN_CANCELLED)
		return;
	said = w->said;
	if (status == TXN_OK)
		take_info(w, reply + WIRE_SMP_DATA_AT);
	else if (status == TXN_TIMEOUT && w->state > AR_STRANGE)
		w->state = AR_UNKNOWN;
	else if (status != TXN_TIMEOUT)
		w->said = w->state = AR_ABSENT; /* it says that it has no such attribute */
	/* Somebody else has turned it on or off, or it was without power. */
	if (w->said != said)
		ar_forget(s, a->node);
}

bool
ar_is_asked(struct sweeper *s, uint32_t slot)
{
	return need(s, slot) != NULL;
}

void
ar_ask(struct ask *a)
{
	const struct ar_switch *w = ar_of(a->s, a->node);

	ask_get_at(a, w->vendor->info_attr, w->vendor->info_modifier, on_info);
}

void
ar_forget(struct sweeper *s, uint32_t slot)
{
	struct ar_switch *w = ar_of(s, slot);

	if (w == NULL)
		return;
	ar_job_drop(w);
	w->holds = 0;
	w->again_ms = 0;
	s->adaptive->sweep = 0;
}

void
ar_forget_all(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->adaptive->of_slot.n; i++)
		ar_forget(s, i);
}

uint16_t
ar_groups(const struct sweeper *s, uint32_t slot)
{
	const struct ar_switch *w = ar_of(s, slot);

	return w != NULL ? w->n_groups : 0;
}

static bool
may_be_on(const struct ar_switch *w)
{
	return w != NULL && (w->state == AR_ADAPTIVE || w->state == AR_UNKNOWN || w->is_turning);
}

enum ar_use
ar_in_use(const struct sweeper *s)
{
	enum ar_use use = AR_USES_NONE;

	for (uint32_t i = 0; i < s->adaptive->of_slot.n; i++) {
		const struct ar_switch *w = ar_of(s, i);

		if (!may_be_on(w) || !inv_node(&s->inv, i)->present)
			continue;
		if (s->plan == NULL || w->holds != s->plan->number)
			return AR_USES_OTHERS;
		use = AR_USES_PLAN;
	}
	return use;
}

/* ---------------------------------------------------------------- on and off */

/* on: a->index */
static void
on_turned(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ar_switch *w = ar_of(s, a->node);

	if (a->wait == ASK_BESIDE)
		s->adaptive->under_way--;
	if (w == NULL || ask_is_stale(a))
		return;
	w->is_turning = false;
	if (status == TXN_OK)
		take_info(w, reply + WIRE_SMP_DATA_AT);
	else
		w->state = AR_UNKNOWN;
	if (w->state != (a->index ? AR_ADAPTIVE : AR_STATIC)) {
		w->is_mute = true;
		ar_failed(s, w, a->index ? "to route adaptively" : "to route by its table alone",
		    status, a->node);
	}
	s->adaptive->n_turned_on += w->state == AR_ADAPTIVE;
}

static struct fm_vendor_mode
mode_of(const struct conf_ar *set)
{
	static const uint8_t algorithm[] = { [CONF_AR_RANDOM] = FM_VENDOR_RANDOM,
		[CONF_AR_GREEDY] = FM_VENDOR_GREEDY,
		[CONF_AR_GREEDY_RANDOM] = FM_VENDOR_GREEDY_RANDOM };

	return (struct fm_vendor_mode){ .size = sizeof(struct fm_vendor_mode),
		.algorithm = algorithm[set->algorithm],
		.frequency = (uint8_t)set->frequency,
		.threshold = (uint8_t)set->threshold,
		.lost_route_only = set->lost_route_only,
		.fine_grained = set->fine_grained };
}

void
ar_turn(struct sweeper *s, uint32_t slot, bool on, bool beside)
{
	struct ar_switch *w = ar_of(s, slot);
	const struct fm_vendor_mode mode = mode_of(&s->set.adaptive);
	uint8_t data[FM_VENDOR_BYTES];
	struct ask *a = ask_new(s, slot, 0);
	struct smp_route route;

	if (a == NULL)
		return;
	if (!vendor_turn(w->vendor, w->info, on ? &mode : NULL, data) ||
	    !inv_route(&s->inv, slot, 0, &route)) {
		ask_drop(a);
		w->is_mute = true;
		return;
	}
	a->index = on;
	a->at_node = true;
	if (beside)
		a->wait = ASK_BESIDE;
	s->adaptive->under_way += beside;
	s->adaptive->n_sets++;
	w->is_turning = true;
	ask_set(a, &route, w->vendor->info_attr, w->vendor->info_modifier, data, on_turned);
}

/* Sets that were sent before the sweep are waited for, too: one that turns on must not come after
 * that which turns off. */
static bool
is_one_turning(const struct sweeper *s)
{
	for (uint32_t i = 0; i < s->adaptive->of_slot.n; i++)
		if (ar_of(s, i) != NULL && ar_of(s, i)->is_turning)
			return true;
	return false;
}

bool
ar_turn_off(struct sweeper *s)
{
	struct sweep_adaptive *all = s->adaptive;
	bool any = false;

	if (s->set.dry_run)
		return false;
	if (is_one_turning(s))
		return true;
	for (uint32_t i = 0; i < all->of_slot.n; i++) {
		struct ar_switch *w = ar_of(s, i);
		const struct inv_node *n = inv_node(&s->inv, i);

		if (!may_be_on(w) || !node_usable(n) || n->quiet || w->is_mute)
			continue;
		all->was_on = any = true;
		ar_turn(s, i, false, false);
	}
	return any;
}

bool
ar_was_on(struct sweeper *s)
{
	struct sweep_adaptive *all = s->adaptive;
	bool was_on = all->was_on;

	all->was_on = false;
	for (uint32_t i = 0; i < all->of_slot.n; i++)
		all->of_slot.item[i].is_mute = false;
	return was_on;
}

enum ar_state
ar_state_of(const struct sweeper *s, uint32_t slot)
{
	const struct ar_switch *w = ar_of(s, slot);

	return w != NULL ? (enum ar_state)w->state : AR_ABSENT;
}

/* --------------------------------------------------------------------- read back */

static bool
holds_plan(const struct sweeper *s, const struct ar_switch *w)
{
	return w != NULL && s->plan != NULL && w->holds == s->plan->number && w->job == NULL;
}

uint32_t
ar_n_blocks(const struct sweeper *s, uint32_t slot)
{
	const struct ar_switch *w = ar_of(s, slot);

	return holds_plan(s, w) ? w->n_blocks : 0;
}

/* The blocks are kept till those of another switch are looked at. */
bool
ar_block(const struct sweeper *s, uint32_t slot, uint32_t i, struct fm_vendor_smp *out)
{
	struct sweep_adaptive *all = s->adaptive;
	const struct ar_switch *w = ar_of(s, slot);
	struct fm_vendor_rows rows;
	struct fm_error err;

	if (!holds_plan(s, w))
		return false;
	if (all->seen.block == NULL || all->seen.slot != slot ||
	    all->seen.plan != s->plan->number) {
		free(all->seen.block);
		all->seen.block = NULL;
		all->seen.slot = slot;
		all->seen.plan = s->plan->number;
		if (!ar_rows(s, slot, s->plan, &rows) ||
		    vendor_blocks(w->vendor, &rows, &all->seen.block, &all->seen.n, &err) != 0)
			return false;
	}
	if (i >= all->seen.n)
		return false;
	*out = all->seen.block[i];
	return true;
}

bool
ar_info(const struct sweeper *s, uint32_t slot, struct fm_vendor_smp *out)
{
	const struct ar_switch *w = ar_of(s, slot);

	if (!holds_plan(s, w) || w->is_turning)
		return false;
	*out = (struct fm_vendor_smp){ .attr = w->vendor->info_attr,
		.modifier = w->vendor->info_modifier };
	memcpy(out->data, w->info, sizeof(out->data));
	memset(out->mask, 0xff, sizeof(out->mask));
	return true;
}

void
ar_doubt(struct sweeper *s, uint32_t slot, uint32_t i)
{
	struct ar_switch *w = ar_of(s, slot);

	if (w != NULL && i == 0)
		w->state = AR_UNKNOWN;
	ar_forget(s, slot);
}

/* ------------------------------------------------------------------------ told */

void
sweeper_adaptive(const struct sweeper *s, struct ar_report *out)
{
	const struct sweep_adaptive *all = s->adaptive;

	*out = (struct ar_report){ .n_gets = all->n_gets, .n_sets = all->n_sets };
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		uint32_t slot = s->inv.switches.item[i];
		const struct ar_switch *w = ar_of(s, slot);

		if (!inv_node(&s->inv, slot)->present)
			continue;
		out->switches[ar_state_of(s, slot)]++;
		out->n_holding += w != NULL && s->plan != NULL && w->holds == s->plan->number;
		out->n_refused += w != NULL && w->again_ms != 0;
	}
}
