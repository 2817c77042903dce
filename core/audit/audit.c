/* SPDX-License-Identifier: BSD-2-Clause */
/* core/audit/audit.c - the walk over all nodes, and its pace. */
#include "core/audit/audit.h"

#include "core/ask/ask.h"
#include "core/ask/sweeper.h"
#include "core/audit/found.h"
#include "core/program/looks.h"

#define GETS_MOST 200	/* a second, at a rate */
#define BATCH_MS 1000	/* between two batches at least */
#define BATCH_PLACES 16 /* ... are due before there is another */
#define FEW 8		/* Gets under way at a rate, and of one node */
#define MANY 256	/* ... of all */

enum pace {
	AT_A_RATE,
	ONE_NODE,  /* `hurried`, from the turn's place on */
	ONE_TABLE, /* the forwarding table of `hurried`, beside the turn */
	ALL
};

struct place {
	uint32_t slot, i;
	unsigned kind; /* N_LOOK_KINDS: the node is done */
};

struct audit {
	struct audit_turn now, last;
	enum pace pace;
	bool asked;	  /* a turn at once is to begin */
	uint32_t hurried; /* slot */
	uint32_t again;	  /* slot of the first node to be read again; INV_NONE: none */
	struct place next;
	struct place resume;	 /* ONE_TABLE: where the turn goes on */
	FM_VEC(uint32_t) tables; /* to be read so: slots, each once */
	uint32_t under_way;
	int64_t every_ms; /* the turn of now: conf_sweep.audit_ms when it began */
	/* When those under way were asked: number of the last sweep, Sets of what is written
	 * between sweeps */
	uint64_t sweep, n_sets;
	/* At a rate: what is left of the batch, and when the next is due */
	uint64_t places_left;
	uint32_t gets_left;
	int64_t batch_ms;
	struct found found;
};

bool
audit_new(struct sweeper *s)
{
	s->audit = fm_arena_alloc(&s->mem, sizeof(*s->audit));
	if (s->audit != NULL)
		s->audit->again = INV_NONE;
	return s->audit != NULL;
}

void
audit_free(struct sweeper *s)
{
	if (s->audit == NULL)
		return;
	found_fini(&s->audit->found);
	fm_vec_fini(&s->audit->tables);
}

/* ------------------------------------------------------------------- when */

/* Is there something to read back, and is it ours to do? */
static bool
is_ours(const struct sweeper *s)
{
	return sweeper_was_up(s) && s->p.ha->state == WIRE_SM_MASTER && !s->set.dry_run &&
	    s->plan != NULL && s->plan->tables != NULL &&
	    (s->set.sweep.audit_ms > 0 || s->audit->asked || s->audit->pace == ALL ||
		s->audit->pace == ONE_TABLE || s->audit->tables.n > 0);
}

/* No sweep runs or begins, and nothing is being written. */
static bool
is_calm(const struct sweeper *s)
{
	return s->run.phase == PHASE_IDLE && s->run.pending == 0 && s->run.wanted == SWEEP_NONE;
}

static uint64_t
n_sets_between(const struct sweeper *s)
{
	return txn_counts(s->p.txn)->sets_by_attr[WIRE_ATTR_MFT & 0xff];
}

/* Is all as it was when those under way were asked? */
static bool
is_same_moment(const struct sweeper *s)
{
	return s->audit->sweep == s->report.number && s->audit->n_sets == n_sets_between(s);
}

/* ------------------------------------------------------------------ places */

static bool
takes_part(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return node_usable(n) && !n->silent && !n->quiet;
}

static uint64_t
n_places_of(const struct sweeper *s, uint32_t slot, unsigned n_kinds)
{
	uint64_t n = 0;

	for (unsigned k = 0; takes_part(s, slot) && k < n_kinds; k++)
		n += look_rows[k].count(s, slot);
	return n;
}

/* Of all nodes; *at: of those before the next place.  O(nodes) */
static uint64_t
n_places(const struct sweeper *s, uint64_t *at)
{
	const struct place *next = &s->audit->next;
	uint64_t n = 0;

	*at = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		if (i == next->slot)
			*at = n + n_places_of(s, i, next->kind) + next->i;
		n += n_places_of(s, i, N_LOOK_KINDS);
	}
	if (next->slot >= s->inv.nodes.n || *at > n)
		*at = n;
	return n;
}

/* Past all of the one node that is to be read now. */
static bool
is_past_hurried(const struct audit *a)
{
	return (a->pace == ONE_NODE || a->pace == ONE_TABLE) && a->next.slot > a->hurried;
}

/* The next place that has a look; false: there is none before the end of what is to be read now. */
static bool
take_place(struct sweeper *s, struct place *out, struct look *l)
{
	struct audit *a = s->audit;
	struct place *p = &a->next;
	unsigned n_kinds = a->pace == ONE_TABLE ? LOOK_LFT + 1 : N_LOOK_KINDS;

	while (p->slot < s->inv.nodes.n && !is_past_hurried(a)) {
		if (p->kind >= n_kinds || !takes_part(s, p->slot)) {
			*p = (struct place){ .slot = p->slot + 1 };
		} else if (p->i >= look_rows[p->kind].count(s, p->slot)) {
			*p = (struct place){ .slot = p->slot, .kind = p->kind + 1 };
		} else if (a->pace == AT_A_RATE && a->places_left == 0) {
			return false;
		} else {
			*out = *p;
			p->i++;
			a->places_left -= a->places_left > 0;
			if (look_rows[out->kind].look(s, out->slot, out->i, l))
				return true;
		}
	}
	return false;
}

/* ----------------------------------------------------------------- answers */

static void
read_again(struct audit *a, uint32_t slot)
{
	if (a->again == INV_NONE || slot < a->again)
		a->again = slot;
}

/* At a rate the whole node is read at once: what is told of it is as of now. */
static void
note_difference(struct audit *a, const struct ask *q)
{
	const struct found_block b = { .slot = q->node, .i = q->index, .kind = q->kind };

	(void)fm_vec_push(&a->found.blocks, b); /* else the next turn finds it */
	if (a->pace != AT_A_RATE)
		return;
	a->pace = ONE_NODE;
	a->hurried = q->node;
	read_again(a, q->node);
}

/* The rest of a node that does not answer is left out; that it is silent a sweep finds.  One whose
 * table is to be read at once is asked again, until it answers or a sweep has found it silent: no
 * turn may come that reads it. */
static void
note_silence(struct sweeper *s, const struct ask *q)
{
	struct audit *a = s->audit;

	a->now.n_unanswered++;
	txn_give_up(s->p.txn, inv_node(&s->inv, q->node)->guid);
	if (a->pace == ONE_TABLE)
		audit_table(s, q->node);
	if (a->next.slot == q->node)
		a->next = (struct place){ .slot = q->node + 1 };
}

static void
on_answer(struct ask *q, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = q->s;
	struct audit *a = s->audit;
	struct look l;

	a->under_way--;
	if (status == TXN_CANCELLED)
		return;
	if (!is_calm(s) || !is_same_moment(s)) {
		read_again(a, q->node);
		return;
	}
	if (status == TXN_TIMEOUT)
		note_silence(s, q);
	if (status != TXN_OK || !look_rows[q->kind].look(s, q->node, q->index, &l))
		return;
	a->now.n_read++;
	if (!look_is_met(&l, reply + WIRE_SMP_DATA_AT))
		note_difference(a, q);
}

/* By a directed route: what is looked at may be what an SMP by LID would go by. */
static void
ask_for(struct sweeper *s, const struct place *p, const struct look *l)
{
	struct ask *q = ask_new(s, p->slot, l->port);
	struct smp_route route;

	if (q == NULL)
		return;
	if (!inv_route(&s->inv, p->slot, l->port, &route)) {
		ask_drop(q);
		return;
	}
	q->wait = ASK_BESIDE;
	q->at_node = true;
	q->kind = (uint8_t)p->kind;
	q->index = p->i;
	s->audit->under_way++;
	ask_get(q, &route, l->attr, l->modifier, on_answer);
}

/* ------------------------------------------------------------------- turns */

static void
begin_turn(struct sweeper *s, int64_t begun_ms)
{
	struct audit *a = s->audit;

	a->now = (struct audit_turn){ .number = a->now.number + 1, .begun_ms = begun_ms };
	a->every_ms = s->set.sweep.audit_ms;
	a->next = (struct place){ 0 };
	a->again = INV_NONE;
	a->pace = a->asked ? ALL : AT_A_RATE;
	a->asked = false;
	a->places_left = a->gets_left = 0;
	a->batch_ms = begun_ms;
	found_drop(&a->found, 0);
}

/* The next begins when this one should have ended, or now. */
static void
end_turn(struct sweeper *s)
{
	struct audit *a = s->audit;
	int64_t now_ms = sweeper_clock_ms(s), next_ms = a->now.begun_ms + s->set.sweep.audit_ms;
	int64_t batch_ms = a->batch_ms;

	if (a->pace == ALL || next_ms < now_ms)
		next_ms = now_ms;
	a->last = a->now;
	found_end_turn(&a->found);
	begin_turn(s, next_ms);
	if (a->batch_ms < batch_ms)
		a->batch_ms = batch_ms;
}

/* So many places are due by now; of a batch that is due only. */
static void
begin_batch(struct sweeper *s)
{
	struct audit *a = s->audit;
	int64_t now_ms = sweeper_clock_ms(s), end_ms = a->now.begun_ms + s->set.sweep.audit_ms;
	uint64_t at, n = n_places(s, &at), due = n;

	if (now_ms < end_ms)
		due = n * (uint64_t)(now_ms - a->now.begun_ms) / (uint64_t)s->set.sweep.audit_ms;
	a->places_left = due > at ? due - at : 0;
	a->gets_left = GETS_MOST;
	if (at < due)
		at = due;
	a->batch_ms = end_ms;
	if (at + BATCH_PLACES < n)
		a->batch_ms = a->now.begun_ms +
		    (int64_t)((at + BATCH_PLACES) * (uint64_t)s->set.sweep.audit_ms / n);
	if (a->batch_ms < now_ms + BATCH_MS)
		a->batch_ms = now_ms + BATCH_MS;
}

static bool
is_turn_over(const struct sweeper *s)
{
	return s->audit->next.slot >= s->inv.nodes.n;
}

/* All that was to be read at once is.  True: some of it differs. */
static bool
end_reading_at_once(struct sweeper *s)
{
	struct audit *a = s->audit;
	uint64_t n_blocks = a->found.blocks.n;
	bool is_asked_for = a->pace == ONE_TABLE || a->pace == ALL;

	if (a->pace == ONE_TABLE)
		a->next = a->resume;
	if (a->pace != ALL)
		a->pace = AT_A_RATE;
	if (n_blocks == 0)
		return false;
	a->now.n_differ += n_blocks;
	a->now.n_nodes += found_settle(s, &a->found, is_asked_for);
	a->now.sweep = s->report.number + 1;
	sweeper_request(s, SWEEP_NAMED, "what nodes hold is not what fmd has written");
	return true;
}

/* -------------------------------------------------------------------- step */

/* Is a turn to begin, whatever the one of now has come to? */
static bool
is_anew(const struct sweeper *s)
{
	const struct audit *a = s->audit;

	return a->now.number == a->last.number || a->asked ||
	    (a->pace != ALL && a->every_ms != s->set.sweep.audit_ms);
}

static void
begin_table(struct audit *a)
{
	a->resume = a->next;
	a->hurried = a->tables.item[--a->tables.n];
	a->next = (struct place){ .slot = a->hurried };
	a->pace = ONE_TABLE;
}

/* Nobody is asked: those whose answers did not count first. */
static void
set_out(struct sweeper *s)
{
	struct audit *a = s->audit;

	if (is_anew(s))
		begin_turn(s, sweeper_clock_ms(s));
	if (a->again != INV_NONE) {
		found_drop(&a->found, a->again);
		a->next = (struct place){ .slot = a->again };
		a->again = INV_NONE;
	}
	if (a->pace == AT_A_RATE && a->tables.n > 0)
		begin_table(a);
	a->sweep = s->report.number;
	a->n_sets = n_sets_between(s);
	if (a->pace == AT_A_RATE && sweeper_clock_ms(s) >= a->batch_ms)
		begin_batch(s);
}

static void
send(struct sweeper *s)
{
	struct audit *a = s->audit;
	int64_t next_ms = sweeper_clock_ms(s) + BATCH_MS;
	struct place p;
	struct look l;

	while (a->again == INV_NONE && a->under_way < (a->pace == ALL ? MANY : FEW) &&
	    (a->pace != AT_A_RATE || a->gets_left > 0) && take_place(s, &p, &l)) {
		ask_for(s, &p, &l);
		a->gets_left -= a->gets_left > 0;
		if (a->batch_ms < next_ms)
			a->batch_ms = next_ms;
	}
}

/* Others rule, or rule again. */
static void
stand_by(struct audit *a)
{
	a->now.number = a->last.number;
	a->pace = AT_A_RATE;
	a->asked = false;
	a->tables.n = 0;
	found_drop(&a->found, 0);
}

bool
audit_step(struct sweeper *s)
{
	struct audit *a = s->audit;

	if (!is_ours(s)) {
		stand_by(a);
		return false;
	}
	if (!is_calm(s) || (a->under_way > 0 && !is_same_moment(s)))
		return false;
	if (a->under_way == 0)
		set_out(s);
	send(s);
	if (a->under_way > 0 || a->again != INV_NONE)
		return false;
	if (a->pace != AT_A_RATE && end_reading_at_once(s))
		return true;
	if (is_turn_over(s))
		end_turn(s);
	return false;
}

int64_t
audit_due_ms(const struct sweeper *s)
{
	const struct audit *a = s->audit;

	if (!is_ours(s) || a->under_way > 0)
		return INT64_MAX;
	return is_anew(s) || a->pace != AT_A_RATE || a->tables.n > 0 ? LONG_AGO_MS : a->batch_ms;
}

/* ---------------------------------------------------------------- for others */

void
audit_table(struct sweeper *s, uint32_t slot)
{
	struct audit *a = s->audit;

	for (size_t i = 0; i < a->tables.n; i++)
		if (a->tables.item[i] == slot)
			return;
	(void)fm_vec_push(&a->tables, slot); /* else the next turn finds it */
}

uint64_t
sweeper_audit(struct sweeper *s)
{
	s->audit->asked = true;
	return s->audit->now.number + 1;
}

void
sweeper_audited(const struct sweeper *s, struct audit_report *out)
{
	const struct audit *a = s->audit;

	*out = (struct audit_report){
		.now = a->now, .last = a->last, .at_once = a->asked || a->pace == ALL
	};
	if (is_ours(s))
		out->n_places = n_places(s, &out->at);
}
