/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/window.c - the adaptive window: hill climbing on the cost of an
 * answer, halving on loss.  See window.h.
 */
#include "core/mad/window.h"

#define START_SIZE 16
#define MIN_EPOCH_ANSWERS 32 /* fewer measure the scheduler, not the fabric */
#define PAUSE_EPOCHS 16

static unsigned
clamp(const struct window *w, unsigned size)
{
	if (size < w->min)
		return w->min;
	return size > w->max ? w->max : size;
}

void
window_init(struct window *w, unsigned min, unsigned max)
{
	*w = (struct window){ .max = max ? max : 1, .epoch_idle = true, .last_loss_ns = INT64_MIN };
	w->min = min < w->max ? min : w->max;
	w->size = clamp(w, START_SIZE);
}

static void
begin_epoch(struct window *w, int64_t now_ns)
{
	w->epoch_start_ns = now_ns;
	w->epoch_answers = 0;
	w->epoch_wants = 2 * w->size < MIN_EPOCH_ANSWERS ? MIN_EPOCH_ANSWERS : 2 * w->size;
	w->epoch_idle = false;
}

static void
remember_best(struct window *w, int64_t cost_ns)
{
	if (w->best_cost_ns == 0 || cost_ns <= w->best_cost_ns) {
		w->best_cost_ns = cost_ns;
		w->best_size = w->size;
	} else {
		w->best_cost_ns += w->best_cost_ns / 64; /* old records fade */
	}
}

/* The first epoch after a cut: was it the window that made answers dear? */
static void
judge_cut(struct window *w, int64_t cost_ns)
{
	if (cost_ns > w->tried_cost_ns - w->tried_cost_ns / 10) {
		w->size = clamp(w, w->tried_from);
		w->best_cost_ns = w->tried_cost_ns;
		w->best_size = w->size;
	}
	w->tried_from = 0;
}

static void
cut_on_trial(struct window *w, int64_t cost_ns)
{
	unsigned to = w->size - w->size / 4;

	w->tried_from = w->size;
	w->tried_cost_ns = cost_ns;
	w->size = clamp(w, w->best_size < to ? w->best_size : to);
	w->slow_epochs = 0;
	w->pause = PAUSE_EPOCHS;
}

static void
end_epoch(struct window *w, int64_t cost_ns)
{
	if (w->tried_from != 0) {
		judge_cut(w, cost_ns);
		return;
	}
	remember_best(w, cost_ns);
	w->slow_epochs = 5 * cost_ns > 7 * w->best_cost_ns ? w->slow_epochs + 1 : 0;
	if (w->slow_epochs >= 2 && w->size > w->min)
		cut_on_trial(w, cost_ns);
	else if (w->pause > 0)
		w->pause--;
	else if (w->slow_epochs == 0)
		w->size = clamp(w, w->size + (w->size < 4 ? 1 : w->size / 4));
}

void
window_judge(struct window *w, int64_t now_ns)
{
	if (!w->epoch_idle)
		end_epoch(w, (now_ns - w->epoch_start_ns) / w->epoch_answers + 1);
	begin_epoch(w, now_ns);
}

void
window_loss(struct window *w, int64_t sent_ns, int64_t now_ns)
{
	if (sent_ns <= w->last_loss_ns)
		return; /* sent before the last cut: the same congestion */
	w->last_loss_ns = now_ns;
	w->size = clamp(w, w->size / 2);
	w->tried_from = 0;
	begin_epoch(w, now_ns);
}
