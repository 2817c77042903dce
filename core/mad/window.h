/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/window.h - how many requests may be on the wire at once.
 *
 * A window too small waits for round trips; one too large fills queues, and
 * then loses MADs or (ibsim, slow management processors) makes each one
 * dearer.  So the window climbs while the time per answer does not suffer,
 * and falls on loss.  Answers are judged in epochs of two windows each, and
 * only epochs in which the window was the limit throughout:
 *
 *	answer cost (ns each)	what happens
 *	loss			halved, once per round trip (the first of a node that
 *				had answered: transact.c)
 *	twice > 1.4 x best	down to the best window known, then a pause
 *	... and no cheaper so	it was not us: back up, this is the new best
 *	else			+ 1/4
 *
 * O(1) per answer.
 */
#ifndef CORE_MAD_WINDOW_H
#define CORE_MAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
	unsigned size, min, max; /* requests */

	int64_t epoch_start_ns;
	unsigned epoch_answers, epoch_wants; /* it ends when they are equal */
	bool epoch_idle;		     /* there was room in the window and nothing to send */

	int64_t best_cost_ns; /* per answer; 0 = not known */
	unsigned best_size;   /* of the window at that time */
	unsigned slow_epochs; /* in a row */
	unsigned pause;	      /* epochs until it may grow again */
	unsigned tried_from;  /* size before a cut on trial, 0 = none */
	int64_t tried_cost_ns;
	int64_t last_loss_ns;
};

void window_init(struct window *w, unsigned min, unsigned max);
/* An answer came; true when window_judge() wants to know the time. */
static inline bool
window_answer(struct window *w)
{
	return w->epoch_idle || ++w->epoch_answers >= w->epoch_wants;
}
void window_judge(struct window *w, int64_t now_ns);
/* A request sent at sent_ns was lost. */
void window_loss(struct window *w, int64_t sent_ns, int64_t now_ns);
/* Nothing left to send though there is room: this epoch says nothing. */
static inline void
window_idle(struct window *w)
{
	w->epoch_idle = true;
}

#endif
