/* SPDX-License-Identifier: BSD-2-Clause */
/* core/agents/agent.c - the steps; O(1) a MAD. */
#include "core/agents/agent.h"

#include <string.h>

#define STATUS_CODE 0x1c
#define TRIES 3
#define AGAIN_MS 60000
#define AGAIN_DOUBLED_MOST 6 /* 64 min */

static uint8_t
n_ports(const struct agent *a)
{
	return inv_node(&a->all->s->inv, a->slot)->n_ports;
}

static struct inv_port *
port_of(const struct agent *a)
{
	return &inv_node(&a->all->s->inv, a->slot)->ports[a->port];
}

static bool
is_switch(const struct agent *a)
{
	return inv_is_switch(inv_node(&a->all->s->inv, a->slot));
}

/* Does what is being read count: is it the same port, and the same that is wanted of it? */
static bool
counts(const struct agent *a)
{
	return a->epoch == a->all->epoch &&
	    a->generation == inv_node(&a->all->s->inv, a->slot)->generation &&
	    port_of(a)->congestion_read;
}

static int64_t
log_due_ms(const struct agent *a)
{
	int64_t interval_ms = a->all->set.log_interval_ms;

	if (!is_switch(a) || interval_ms == 0 || a->state != AGENT_HOLDS)
		return INT64_MAX;
	return a->log_asked_ms > 0 ? a->log_asked_ms + interval_ms : LONG_AGO_MS;
}

int64_t
agent_due_ms(const struct agent *a)
{
	return a->due_ms < log_due_ms(a) ? a->due_ms : log_due_ms(a);
}

/* Is what an agent tells but once known? */
static bool
has_told(const struct agent *a)
{
	return a->is_known && a->table_blocks >= a->all->set.blocks.n_blocks;
}

static enum agent_step
step_past_key(const struct agent *a)
{
	return is_switch(a) || has_told(a) ? STEP_SETTING : STEP_INFO;
}

static enum agent_step
step_past_class(const struct agent *a)
{
	const struct conf_congestion *set = &a->all->set;

	return set->key != 0 || set->writes_key ? STEP_KEY : step_past_key(a);
}

void
agent_begin(struct agent *a)
{
	struct agents *all = a->all;
	uint32_t generation = inv_node(&all->s->inv, a->slot)->generation;
	bool log_alone =
	    counts(a) && a->state == AGENT_HOLDS && a->due_ms > sweeper_clock_ms(all->s);

	if (!counts(a))
		a->state = AGENT_UNREAD;
	a->is_known = a->is_known && a->generation == generation && port_of(a)->congestion_read;
	port_of(a)->congestion_read = true;
	a->generation = generation;
	a->epoch = all->epoch;
	a->shown = all->set.key;
	a->is_known = has_told(a);
	a->step = (uint8_t)(log_alone ? STEP_LOG : a->is_known ? step_past_class(a) : STEP_CLASS);
	a->block = 0;
	a->sets = false;
	a->busy = true;
}

static void
note_due(const struct agent *a)
{
	if (agent_due_ms(a) < a->all->again_ms)
		a->all->again_ms = agent_due_ms(a);
}

static void
finish(struct agent *a, enum agent_state state)
{
	struct agents *all = a->all;
	int64_t now_ms = sweeper_clock_ms(all->s);

	a->busy = false;
	a->state = (uint8_t)state;
	a->is_known = state == AGENT_HOLDS;
	if (state == AGENT_HOLDS) {
		a->n_failed = 0;
		a->due_ms = all->s->set.sweep.audit_ms > 0 ? now_ms + all->s->set.sweep.audit_ms
							   : INT64_MAX;
	} else {
		a->due_ms = now_ms + ((int64_t)AGAIN_MS << a->n_failed);
		a->n_failed += a->n_failed < AGAIN_DOUBLED_MOST;
	}
	note_due(a);
}

/* --------------------------------------------------------------------- asking */

/* What the step is about, and what it is to hold. */
static uint16_t
attr_of(const struct agent *a, uint8_t data[GMP_DATA_BYTES])
{
	const struct congestion_blocks *b = &a->all->set.blocks;

	memset(data, 0, GMP_DATA_BYTES);
	switch (a->step) {
	case STEP_CLASS:
		return WIRE_CC_CLASS_PORT_INFO;
	case STEP_INFO:
		return WIRE_CC_INFO;
	case STEP_SETTING:
		if (is_switch(a))
			memcpy(data, b->sw, sizeof(b->sw));
		else
			memcpy(data, b->ca, sizeof(b->ca));
		return is_switch(a) ? WIRE_CC_SWITCH : WIRE_CC_CA;
	case STEP_TABLE:
		memcpy(data, b->table[a->block], sizeof(b->table[a->block]));
		return WIRE_CC_TABLE;
	case STEP_PORTS:
		return WIRE_CC_SWITCH_PORTS; /* of zeros: no port has one of its own */
	case STEP_LOG:
		return WIRE_CC_LOG;
	default:
		wire_cc_key_info_put(data, &a->key);
		return WIRE_CC_KEY_INFO;
	}
}

/* The SL of the way from our port. */
static uint8_t
sl_to(const struct sweeper *s, uint16_t lid)
{
	const struct inv_node *ours = inv_node(&s->inv, s->inv.local);
	uint32_t peer = inv_is_switch(ours) ? s->inv.local : ours->ports[s->inv.local_port].peer;
	uint32_t sw = peer != INV_NONE ? inv_node(&s->inv, peer)->sw_index : INV_NONE;

	if (sw >= s->plan->snap->fab.n_switches)
		return 0;
	return tables_sl(&s->plan->tables->t, sw, lid);
}

static void on_answer(void *arg, enum txn_status status, const uint8_t *reply);

/* The node's key for the window: that of its SMPs is its GUID. */
void
agent_ask(struct agent *a)
{
	struct agents *all = a->all;
	const struct inv_port *p = port_of(a);
	struct gmp_route to = { .lid = p->lid,
		.sl = sl_to(all->s, p->lid),
		.mgmt_class = WIRE_CLASS_CC,
		.class_version = WIRE_CC_VERSION,
		.n_tries = TRIES,
		.key = a->shown };
	uint8_t data[GMP_DATA_BYTES];
	uint16_t attr;

	if (!counts(a)) {
		a->busy = false; /* the next pass begins with it anew */
		port_of(a)->congestion_read = false;
		return;
	}
	attr = attr_of(a, data);
	all->under_way++;
	*(a->sets ? &all->n_sets : &all->n_gets) += 1;
	txn_gmp(all->s->p.txn, &to, a->sets ? WIRE_SET : WIRE_GET, attr,
	    a->step == STEP_TABLE || a->step == STEP_PORTS ? a->block : 0, a->sets ? data : NULL,
	    ~p->guid, on_answer, a);
}

/* -------------------------------------------------------------------- answers */

/* On with this step. */
static void
go_to(struct agent *a, enum agent_step step, bool sets)
{
	a->step = (uint8_t)step;
	a->sets = sets;
	if (!fm_vec_push(&a->all->ready, a))
		finish(a, AGENT_SILENT); /* out of memory: later again */
}

static void
take_class(struct agent *a, const uint8_t *data)
{
	a->table_blocks = UINT8_MAX; /* a CA tells it next */
	if (wire_cc_has_class(data))
		go_to(a, step_past_class(a), false);
	else
		finish(a, AGENT_STRANGE);
}

static void
take_info(struct agent *a, const uint8_t *data)
{
	struct wire_cc_info info;

	wire_cc_info_get(data, &info);
	a->table_blocks = info.table_blocks;
	if (info.table_blocks < a->all->set.blocks.n_blocks)
		finish(a, AGENT_SMALL);
	else
		go_to(a, STEP_SETTING, false);
}

/* A key that is not ours: it shows, or is hidden from us. */
static bool
is_foreign(const struct agent *a, const struct wire_cc_key_info *now)
{
	return now->key != 0 ? now->key != a->all->set.key : now->protect;
}

/* Which key opens an agent that is to have another: that which shows, else perhaps that which we
 * have given it ourselves. */
static void
set_key(struct agent *a, const struct wire_cc_key_info *now)
{
	if (is_foreign(a, now))
		a->shown = now->key != 0 ? now->key : a->all->key_before;
	go_to(a, STEP_KEY, true);
}

static void
take_key(struct agent *a, const uint8_t *data)
{
	const struct conf_congestion *set = &a->all->set;
	struct wire_cc_key_info now, want;
	bool holds;

	wire_cc_key_info_get(data, &now);
	want = (struct wire_cc_key_info){ .key = set->key,
		.protect = set->key != 0 && set->key_protected,
		.lease_s = (uint16_t)set->key_lease_s,
		.violations = now.violations };
	holds = now.key == want.key && now.protect == want.protect && now.lease_s == want.lease_s;
	if (a->sets || (set->writes_key && holds))
		a->shown = set->key;
	if (!set->writes_key && now.key != 0 && is_foreign(a, &now)) {
		finish(a, AGENT_FOREIGN); /* one that is hidden may be none */
	} else if (!set->writes_key || holds) {
		go_to(a, step_past_key(a), false);
	} else if (a->sets) {
		finish(a, AGENT_REFUSES);
	} else {
		a->key = want;
		set_key(a, &now);
	}
}

static bool
holds(const struct agent *a, const uint8_t *data)
{
	const struct congestion_blocks *b = &a->all->set.blocks;

	switch (a->step) {
	case STEP_TABLE:
		return wire_cc_table_holds(data, b->table[a->block], a->block);
	case STEP_PORTS:
		return wire_cc_ports_unset(data, a->block, n_ports(a));
	default:
		return is_switch(a) ? wire_cc_switch_holds(data, b->sw, n_ports(a))
				    : wire_cc_ca_holds(data, b->ca);
	}
}

static void
take_setting(struct agent *a, const uint8_t *data)
{
	unsigned n_blocks =
	    is_switch(a) ? n_ports(a) / WIRE_CC_BLOCK_PORTS + 1 : a->all->set.blocks.n_blocks;

	if (!holds(a, data)) {
		if (a->sets)
			finish(a, AGENT_REFUSES);
		else
			go_to(a, (enum agent_step)a->step, true);
		return;
	}
	a->block = (uint8_t)(a->step == STEP_SETTING ? 0 : a->block + 1);
	if (a->block == n_blocks)
		finish(a, AGENT_HOLDS);
	else
		go_to(a, is_switch(a) ? STEP_PORTS : STEP_TABLE, false);
}

/* Where there is no event the last ones stay shown. */
static void
note_log(struct agent *a, const struct wire_cc_log *log)
{
	if (a->log == NULL)
		a->log = fm_arena_alloc(&a->all->s->mem, sizeof(*a->log));
	if (a->log == NULL)
		return; /* out of memory: the next may be kept */
	a->log->read_ms = a->log_asked_ms;
	a->log->n_events += log->n_events;
	a->log->n_lately = log->n_events;
	if (log->n_events > 0) {
		a->log->marked_ms = a->log->read_ms;
		a->log->marked = *log;
	}
}

/* What it holds is not in question, whatever has come of its log; reply NULL: nothing. */
static void
end_log(struct agent *a, const uint8_t *reply)
{
	struct wire_cc_log log;

	a->busy = false;
	a->log_asked_ms = sweeper_clock_ms(a->all->s);
	if (reply != NULL && wire_cc_log_get(reply, &log))
		note_log(a, &log);
	note_due(a);
}

/* It did not answer: for its key? */
static void
take_reason(struct agent *a, const uint8_t *data)
{
	struct wire_cc_key_info now;

	wire_cc_key_info_get(data, &now);
	finish(a, is_foreign(a, &now) ? AGENT_FOREIGN : AGENT_SILENT);
}

static void
take_answer(struct agent *a, const uint8_t *data)
{
	switch (a->step) {
	case STEP_CLASS:
		take_class(a, data);
		break;
	case STEP_INFO:
		take_info(a, data);
		break;
	case STEP_KEY:
		take_key(a, data);
		break;
	case STEP_SETTING:
	case STEP_TABLE:
	case STEP_PORTS:
		take_setting(a, data);
		break;
	default:
		take_reason(a, data);
	}
}

/* IBA 13.4.7: of the class, or of what each agent has, there is nothing. */
static bool
says_absent(const struct agent *a, const uint8_t *reply)
{
	struct wire_header h;

	wire_header_get(reply, &h);
	switch (h.status & STATUS_CODE) {
	case WIRE_STATUS_BAD_CLASS_VERSION:
	case WIRE_STATUS_BAD_METHOD:
		return true;
	case WIRE_STATUS_BAD_METHOD_ATTR:
		return !a->sets && a->step <= STEP_KEY;
	default:
		return false;
	}
}

static void
on_answer(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct agent *a = arg;

	a->all->under_way--;
	if (status == TXN_CANCELLED || !counts(a)) {
		a->busy = false;
		port_of(a)->congestion_read = false;
		a->all->again_ms = sweeper_clock_ms(a->all->s);
	} else if (a->step == STEP_LOG) {
		end_log(a, status == TXN_OK ? reply : NULL);
	} else if (status == TXN_OK) {
		a->all->n_taken += a->sets;
		take_answer(a, reply + WIRE_CC_DATA_AT);
	} else if (status == TXN_REFUSED && a->step == STEP_PORTS && !a->sets) {
		finish(a, AGENT_HOLDS); /* its ports cannot have settings of their own */
	} else if (status == TXN_REFUSED) {
		finish(a, says_absent(a, reply) ? AGENT_ABSENT : AGENT_REFUSES);
	} else if (a->step == STEP_WHY || (a->step == STEP_KEY && !a->sets)) {
		finish(a, AGENT_SILENT);
	} else {
		go_to(a, STEP_WHY, false);
	}
}
