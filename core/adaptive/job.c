/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/adaptive/job.c - the blocks of one switch: read, compared, written.
 *
 * A job of a switch of which is known what it holds compares without asking.  Else AR_JOB_LOOK
 * reads up to the first block that differs, and AR_JOB_WRITE writes all.
 */
#include <stdlib.h>
#include <string.h>

#include "core/adaptive/internal.h"
#include "core/plan/plan.h"

#define FEW 8 /* MADs of a job under way */

struct ar_job {
	struct fm_vendor_smp *block; /* [n] that the switch is to hold */
	uint32_t n, next;
	uint32_t n_blocks; /* n, with those that it is known to hold */
	uint32_t under_way;
	uint64_t plan; /* number of the plan that they are of */
	enum ar_job_kind kind;
	bool differs; /* AR_JOB_LOOK has found one */
	bool failed;
	bool dropped; /* its switch has another, or none: freed with the last answer */
};

static void
free_job(struct ar_job *job)
{
	free(job->block);
	free(job);
}

void
ar_job_drop(struct ar_switch *w)
{
	if (w->job == NULL)
		return;
	w->job->dropped = true;
	if (w->job->under_way == 0)
		free_job(w->job);
	w->job = NULL;
}

/* ------------------------------------------------------------- without asking */

static int
by_place(const void *a, const void *b)
{
	const struct fm_vendor_smp *x = a, *y = b;

	if (x->attr != y->attr)
		return x->attr < y->attr ? -1 : 1;
	return (x->modifier > y->modifier) - (x->modifier < y->modifier);
}

/* Leave those that the blocks of another plan hold as they are to be.  False: that is not known. */
static bool
leave_what_differs(const struct sweeper *s, uint32_t slot, struct ar_job *job)
{
	const struct ar_switch *w = ar_of(s, slot);
	const struct plan *before = s->adaptive->before;
	struct fm_vendor_rows rows;
	struct fm_vendor_smp *held;
	struct fm_error err;
	uint32_t n, left = 0;

	if (w->holds == 0 || before == NULL || w->holds != before->number ||
	    !ar_rows(s, slot, before, &rows) ||
	    vendor_blocks(w->vendor, &rows, &held, &n, &err) != 0)
		return false;
	qsort(held, n, sizeof(*held), by_place);
	for (uint32_t i = 0; i < job->n; i++) {
		const struct fm_vendor_smp *was =
		    bsearch(&job->block[i], held, n, sizeof(*held), by_place);
		bool known = was != NULL;

		for (unsigned k = 0; known && k < FM_VENDOR_BYTES; k++)
			known = (job->block[i].mask[k] & ~was->mask[k]) == 0;
		if (!known || !vendor_holds(&job->block[i], was->data))
			job->block[left++] = job->block[i];
	}
	free(held);
	job->n = left;
	return true;
}

/* ---------------------------------------------------------------------- asking */

static void ask_on(struct sweeper *s, uint32_t slot, struct ar_job *job);

static bool
is_over(const struct ar_job *job)
{
	return job->next == job->n || job->failed || job->differs;
}

static void
end_job(struct sweeper *s, uint32_t slot, struct ar_job *job)
{
	struct ar_switch *w = ar_of(s, slot);

	s->adaptive->differs = s->adaptive->differs || job->differs;
	if (job->failed) {
		w->holds = 0;
	} else if (!job->differs) {
		w->holds = job->plan;
		w->n_blocks = job->n_blocks;
		w->again_ms = 0;
	}
	w->job = NULL;
	free_job(job);
}

static void
on_answer(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ar_job *job = a->groups;
	struct ar_switch *w = ar_of(s, a->node);
	bool holds =
	    status == TXN_OK && vendor_holds(&job->block[a->index], reply + WIRE_SMP_DATA_AT);

	job->under_way--;
	s->adaptive->under_way--;
	if (job->dropped || w == NULL) {
		if (job->under_way == 0 && job->dropped)
			free_job(job);
		return;
	}
	if (status == TXN_OK && !holds && job->kind == AR_JOB_LOOK) {
		job->differs = true;
	} else if (!holds && !job->failed) {
		job->failed = true;
		ar_failed(s, w, "a block of groups", status, a->node);
	}
	if (!is_over(job))
		ask_on(s, a->node, job);
	if (is_over(job) && job->under_way == 0)
		end_job(s, a->node, job);
}

static void
ask_on(struct sweeper *s, uint32_t slot, struct ar_job *job)
{
	struct smp_route route;

	while (job->under_way < FEW && !is_over(job)) {
		const struct fm_vendor_smp *b = &job->block[job->next];
		struct ask *a = ask_new(s, slot, 0);

		if (a == NULL || !inv_route(&s->inv, slot, 0, &route)) {
			if (a != NULL)
				ask_drop(a);
			job->failed = true;
			return;
		}
		a->wait = ASK_BESIDE;
		a->at_node = true;
		a->index = job->next++;
		a->groups = job;
		job->under_way++;
		s->adaptive->under_way++;
		if (job->kind == AR_JOB_LOOK) {
			s->adaptive->n_gets++;
			ask_get(a, &route, b->attr, b->modifier, on_answer);
		} else {
			s->adaptive->n_sets++;
			ask_set(a, &route, b->attr, b->modifier, b->data, on_answer);
		}
	}
}

/* The programmer gives no blocks: the switch stays static. */
static void
give_up(struct sweeper *s, uint32_t slot, const struct fm_error *err)
{
	struct ar_switch *w = ar_of(s, slot);
	char name[128];

	log_err("adaptive", "%s stays static: %s",
	    inv_name(inv_node(&s->inv, slot), name, sizeof(name)), err->msg);
	w->holds = 0;
	w->again_ms = INT64_MAX; /* till another plan is brought */
}

void
ar_job_begin(struct sweeper *s, uint32_t slot, enum ar_job_kind kind)
{
	struct ar_switch *w = ar_of(s, slot);
	struct ar_job *job = calloc(1, sizeof(*job));
	struct fm_vendor_rows rows;
	struct fm_error err;

	if (job == NULL || w->job != NULL || !ar_rows(s, slot, s->adaptive->plan, &rows)) {
		free(job);
		return;
	}
	if (vendor_blocks(w->vendor, &rows, &job->block, &job->n, &err) != 0) {
		give_up(s, slot, &err);
		free(job);
		return;
	}
	job->kind = kind;
	job->plan = s->adaptive->plan->number;
	job->n_blocks = job->n;
	w->job = job;
	if (leave_what_differs(s, slot, job) && kind == AR_JOB_LOOK) {
		job->differs = job->n > 0;
		end_job(s, slot, job);
		return;
	}
	ask_on(s, slot, job);
	if (is_over(job) && job->under_way == 0)
		end_job(s, slot, job);
}
