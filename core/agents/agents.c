/* SPDX-License-Identifier: BSD-2-Clause */
/* core/agents/agents.c - who is to be read, how many at once, and what is told of all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/agents/agent.h"
#include "core/events/tell.h"

const char *
agent_state_word(enum agent_state state)
{
	static const char *const words[AGENT_STATES] = { [AGENT_UNREAD] = "unread",
		[AGENT_HOLDS] = "holds",
		[AGENT_SILENT] = "silent",
		[AGENT_ABSENT] = "absent",
		[AGENT_FOREIGN] = "foreign-key",
		[AGENT_SMALL] = "small-table",
		[AGENT_STRANGE] = "strange",
		[AGENT_REFUSES] = "refuses" };

	return words[state];
}

bool
agents_new(struct sweeper *s)
{
	struct agents *all = fm_arena_alloc(&s->mem, sizeof(*all));

	s->agents = all;
	if (all == NULL)
		return false;
	all->s = s;
	all->set = s->set.congestion;
	all->epoch = 1;
	all->again_ms = INT64_MAX;
	return true;
}

void
agents_free(struct sweeper *s)
{
	if (s->agents == NULL)
		return;
	fm_vec_fini(&s->agents->of_slot);
	fm_vec_fini(&s->agents->ready);
}

/* ----------------------------------------------------------------- who is there */

/* Is it ours to do? */
static bool
is_ours(const struct sweeper *s)
{
	return s->agents->set.enable && sweeper_was_up(s) && s->p.ha->state == WIRE_SM_MASTER &&
	    !s->set.dry_run && s->plan != NULL && s->plan->tables != NULL;
}

/* Can MADs reach an agent at this port, and is there to be one? */
static bool
takes_part(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];

	if (n->type == WIRE_NODE_ROUTER || n->silent || n->quiet || p->lid == 0 ||
	    !port_wants_lid(&s->inv, slot, port))
		return false;
	return inv_is_switch(n) || p->info.port_state == WIRE_PORT_ACTIVE;
}

static unsigned
n_agents(const struct inv_node *n)
{
	return inv_is_switch(n) ? 1 : n->n_ports;
}

/* NULL: it has never been read. */
static struct agent *
find(const struct agents *all, uint32_t slot, unsigned port)
{
	struct agent *first = slot < all->of_slot.n ? all->of_slot.item[slot] : NULL;

	if (first == NULL)
		return NULL;
	return inv_is_switch(inv_node(&all->s->inv, slot)) ? first : &first[port - 1];
}

/* The same, made where there is none; NULL: out of memory. */
static struct agent *
need(struct agents *all, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&all->s->inv, slot);
	struct agent *first;

	while (all->of_slot.n <= slot)
		if (!fm_vec_push(&all->of_slot, NULL))
			return NULL;
	if (all->of_slot.item[slot] == NULL) {
		first = fm_arena_array(&all->s->mem, n_agents(n), struct agent);
		for (unsigned i = 0; first != NULL && i < n_agents(n); i++)
			first[i] = (struct agent){
				.all = all, .slot = slot, .port = (uint8_t)(i + !inv_is_switch(n))
			};
		all->of_slot.item[slot] = first;
	}
	return find(all, slot, port);
}

/* What is known of it, as of now. */
static enum agent_state
state_of(const struct agents *all, uint32_t slot, unsigned port)
{
	const struct agent *a = find(all, slot, port);
	const struct inv_node *n = inv_node(&all->s->inv, slot);

	if (a == NULL || a->epoch != all->epoch || a->generation != n->generation ||
	    !n->ports[port].congestion_read)
		return AGENT_UNREAD;
	return (enum agent_state)a->state;
}

/* --------------------------------------------------------------------- a pass */

static bool
is_due(struct agents *all, struct agent *a)
{
	if (a->busy)
		return false;
	if (state_of(all, a->slot, a->port) == AGENT_UNREAD)
		return true;
	if (agent_due_ms(a) <= sweeper_clock_ms(all->s))
		return true;
	if (agent_due_ms(a) < all->again_ms)
		all->again_ms = agent_due_ms(a);
	return false;
}

/* The next that is to be read; NULL: there is none before the end of the pass. */
static struct agent *
next_due(struct agents *all)
{
	const struct sweeper *s = all->s;

	for (; all->at < s->inv.nodes.n; all->at++, all->at_port = 0) {
		const struct inv_node *n = inv_node(&s->inv, all->at);

		while (all->at_port < n_agents(n)) {
			unsigned port = all->at_port++ + !inv_is_switch(n);
			struct agent *a =
			    takes_part(s, all->at, port) ? need(all, all->at, port) : NULL;

			if (a != NULL && is_due(all, a))
				return a;
		}
	}
	return NULL;
}

static void
begin_pass(struct agents *all)
{
	all->passing = true;
	all->at = all->at_port = 0;
	all->sweep = all->s->report.number;
	all->again_ms = INT64_MAX;
}

/* Told once, whatever their number, until there is none. */
static void
tell_of(struct agents_event *e, enum event_kind kind, uint32_t n, const char *text, const char *end)
{
	if (n > 0 && !e->begun)
		e->n = event_tell(
		    &(struct telling){ .kind = kind }, FM_LOG_WARN, "congestion", "%s", text);
	else if (n == 0 && e->begun)
		event_tell(&(struct telling){ .kind = kind, .ends = e->n }, FM_LOG_NOTICE,
		    "congestion", "%s", end);
	e->begun = n > 0;
}

/* "for one NAME port 1, which does not answer", of those in these states. */
static void
name_one(
    const struct sweeper *s, const struct agents_report *r, bool is_foreign, char *out, size_t room)
{
	static const char *const why[AGENT_STATES] = { [AGENT_SILENT] = "which does not answer",
		[AGENT_ABSENT] = "which says that it has no such agent",
		[AGENT_FOREIGN] = "which is to be given the key, or to be reset",
		[AGENT_STRANGE] = "which answers something else",
		[AGENT_SMALL] = "whose table is too small for cc_cct",
		[AGENT_REFUSES] = "which does not take what it is sent" };
	char name[128];

	*out = '\0';
	for (unsigned i = 0; i < r->n_named; i++)
		if ((r->named[i].state == AGENT_FOREIGN) == is_foreign &&
		    r->named[i].state != AGENT_UNREAD) {
			snprintf(out, room, ": for one %s port %u, %s",
			    inv_name(inv_node(&s->inv, r->named[i].slot), name, sizeof(name)),
			    r->named[i].port, why[r->named[i].state]);
			return;
		}
}

static uint32_t
in_state(const struct agents_report *r, enum agent_state state)
{
	return r->switches[state] + r->ports[state];
}

static void
tell(struct agents *all)
{
	struct agents_report r;
	char one[240], text[400];
	uint32_t n_foreign, n_unset;

	sweeper_agents(all->s, &r);
	n_foreign = in_state(&r, AGENT_FOREIGN);
	n_unset = in_state(&r, AGENT_SILENT) + in_state(&r, AGENT_ABSENT) +
	    in_state(&r, AGENT_SMALL) + in_state(&r, AGENT_STRANGE) + in_state(&r, AGENT_REFUSES);
	name_one(all->s, &r, true, one, sizeof(one));
	snprintf(text, sizeof(text),
	    "%" PRIu32 " switches and host ports are under a CC_Key that is not ours%s", n_foreign,
	    one);
	tell_of(&all->foreign, EVENT_FOREIGN_CC_KEY, n_foreign, text,
	    "no switch or host port is under a CC_Key that is not ours any more");
	name_one(all->s, &r, false, one, sizeof(one));
	snprintf(text, sizeof(text),
	    "%" PRIu32 " switches and host ports do not hold what congestion control is set to%s",
	    n_unset, one);
	tell_of(&all->unset, EVENT_CONGESTION_UNSET, n_unset, text,
	    "all switches and host ports that were asked hold what congestion control is set to");
	if (all->n_taken != all->n_told)
		log_notice("congestion",
		    "%" PRIu32 " switches and %" PRIu32
		    " host ports hold what congestion control is set to, by %" PRIu64 " Sets",
		    r.switches[AGENT_HOLDS], r.ports[AGENT_HOLDS], all->n_taken - all->n_told);
	all->n_told = all->n_taken;
}

/* ----------------------------------------------------------------------- step */

/* What was read counts no more; what has begun is not followed any longer. */
static void
forget(struct agents *all)
{
	all->epoch++;
	for (size_t i = 0; i < all->ready.n; i++)
		all->ready.item[i]->busy = false;
	all->ready.n = 0;
	all->passing = false;
	all->sweep = 0;
	for (size_t i = 0; i < all->of_slot.n; i++) {
		const struct inv_node *n = inv_node(&all->s->inv, (uint32_t)i);

		for (unsigned p = 0; all->of_slot.item[i] != NULL && p < n_agents(n); p++)
			all->of_slot.item[i][p].n_failed = 0;
	}
}

void
agents_configured(struct sweeper *s)
{
	static const char off[] = "congestion control is off";
	struct agents *all = s->agents;
	const struct conf_congestion *set = &s->set.congestion;
	bool same = all->set.enable == set->enable && all->set.key == set->key &&
	    all->set.writes_key == set->writes_key && all->set.key_lease_s == set->key_lease_s &&
	    all->set.key_protected == set->key_protected &&
	    memcmp(&all->set.blocks, &set->blocks, sizeof(set->blocks)) == 0;

	if (all->set.enable && !set->enable) {
		log_notice("congestion",
		    "congestion control is off: switches and hosts keep what they hold, and are "
		    "neither read nor set any longer");
		tell_of(&all->foreign, EVENT_FOREIGN_CC_KEY, 0, "", off);
		tell_of(&all->unset, EVENT_CONGESTION_UNSET, 0, "", off);
	}
	if (all->set.enable && all->set.writes_key && all->set.key != set->key)
		all->key_before = all->set.key;
	if (all->set.log_interval_ms != set->log_interval_ms)
		all->sweep = 0; /* a pass finds out who is due */
	all->set = *set;
	if (!same)
		forget(all);
}

static struct agent *
next_to_ask(struct agents *all)
{
	struct agent *a;

	if (all->ready.n > 0)
		return all->ready.item[--all->ready.n];
	a = all->passing ? next_due(all) : NULL;
	if (a != NULL)
		agent_begin(a);
	return a;
}

void
agents_step(struct sweeper *s)
{
	struct agents *all = s->agents;
	struct agent *a;
	uint32_t most;

	if (!is_ours(s)) {
		if (all->sweep != 0)
			forget(all);
		return;
	}
	if (!all->passing && agents_due_ms(s) <= sweeper_clock_ms(s))
		begin_pass(all);
	most = all->set.max_outstanding > 0 ? (uint32_t)all->set.max_outstanding : 1;
	while (all->under_way < most && (a = next_to_ask(all)) != NULL)
		agent_ask(a);
	if (all->passing && all->under_way == 0 && all->ready.n == 0) {
		all->passing = false;
		tell(all);
	}
}

int64_t
agents_due_ms(const struct sweeper *s)
{
	const struct agents *all = s->agents;

	if (!is_ours(s) || (all->passing && all->under_way > 0))
		return INT64_MAX;
	if (all->passing || all->ready.n > 0 || all->sweep != s->report.number)
		return LONG_AGO_MS;
	return all->again_ms;
}

/* ----------------------------------------------------------------- for others */

static void
name_it(struct agents_report *r, uint32_t slot, unsigned port, enum agent_state state)
{
	if (state == AGENT_HOLDS || state == AGENT_UNREAD || r->n_named == AGENTS_NAMED)
		return;
	r->named[r->n_named].slot = slot;
	r->named[r->n_named].port = (uint8_t)port;
	r->named[r->n_named++].state = (uint8_t)state;
}

const struct agent_log *
sweeper_congestion_log(const struct sweeper *s, uint32_t slot)
{
	const struct agent *a = find(s->agents, slot, 0);

	return a != NULL && inv_is_switch(inv_node(&s->inv, slot)) ? a->log : NULL;
}

void
sweeper_agents(const struct sweeper *s, struct agents_report *out)
{
	const struct agents *all = s->agents;

	*out = (struct agents_report){
		.enabled = all->set.enable, .n_gets = all->n_gets, .n_sets = all->n_sets
	};
	for (uint32_t i = 0; all->set.enable && i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned k = 0; k < n_agents(n); k++) {
			unsigned port = k + !inv_is_switch(n);
			enum agent_state state = state_of(all, i, port);

			if (!takes_part(s, i, port))
				continue;
			(inv_is_switch(n) ? out->switches : out->ports)[state]++;
			name_it(out, i, port, state);
		}
	}
}
