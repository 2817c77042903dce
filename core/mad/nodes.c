/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/nodes.c - per-node windows.  See nodes.h.
 */
#include "core/mad/nodes.h"

#include <stdlib.h>

#define MAX_RESTING 16384 /* as many keys as a big fabric has switches */

void
nodes_init(struct nodes *ns, unsigned window)
{
	*ns = (struct nodes){ .window = window };
	for (int i = 0; i < N_LANES; i++)
		TAILQ_INIT(&ns->ring[i]);
	TAILQ_INIT(&ns->resting);
}

void
nodes_fini(struct nodes *ns)
{
	for (size_t i = 0; i < ns->all.n; i++)
		free(ns->all.item[i]);
	fm_vec_fini(&ns->all);
	fm_hash_fini(&ns->of_key);
}

static void
wake(struct nodes *ns, struct node *n)
{
	if (!n->is_resting)
		return;
	TAILQ_REMOVE(&ns->resting, n, in);
	ns->n_resting--;
	n->is_resting = false;
}

static void
rest_if_idle(struct nodes *ns, struct node *n)
{
	if (n->n_sent != 0 || n->n_queued != 0)
		return;
	TAILQ_INSERT_TAIL(&ns->resting, n, in);
	ns->n_resting++;
	n->is_resting = true;
}

/* The longest resting of too many, without its key; or a new one, resting. */
static struct node *
make_node(struct nodes *ns)
{
	struct node *n = TAILQ_FIRST(&ns->resting);

	if (ns->n_resting >= MAX_RESTING) {
		fm_hash_remove(&ns->of_key, n->key);
		return n;
	}
	n = calloc(1, sizeof(*n));
	if (n == NULL || !fm_hash_reserve(&ns->of_key, ns->all.n + 1) ||
	    !fm_vec_push(&ns->all, n)) {
		free(n);
		return NULL;
	}
	n->index = (uint32_t)(ns->all.n - 1);
	TAILQ_INIT(&n->queue);
	rest_if_idle(ns, n);
	return n;
}

struct node *
nodes_find(struct nodes *ns, uint64_t key)
{
	uint32_t i = fm_hash_find(&ns->of_key, key);
	struct node *n;

	if (i != FM_HASH_NONE)
		return ns->all.item[i];
	n = make_node(ns);
	if (n != NULL) {
		n->key = key;
		fm_hash_put(&ns->of_key, key, n->index); /* has room */
	}
	return n;
}

static enum lane
lane_of(const struct node *n)
{
	return n->voice == NODE_LATE ? LANE_PROBES : LANE_WINDOW;
}

static bool
has_room(const struct nodes *ns, const struct node *n)
{
	return n->key == 0 || n->n_sent - n->n_aside < (n->voice == NODE_LATE ? 1 : ns->window);
}

static void
enter_ring_if_ready(struct nodes *ns, struct node *n)
{
	bool is_crowded = n->n_queued > 0 && !n->in_ring && !has_room(ns, n);

	ns->n_crowded += (unsigned)is_crowded - n->is_crowded;
	n->is_crowded = is_crowded;
	if (n->in_ring || n->n_queued == 0 || is_crowded)
		return;
	TAILQ_INSERT_TAIL(&ns->ring[lane_of(n)], n, in);
	n->in_ring = true;
}

static void
leave_ring(struct nodes *ns, struct node *n)
{
	if (n->in_ring)
		TAILQ_REMOVE(&ns->ring[lane_of(n)], n, in);
	n->in_ring = false;
}

void
nodes_queue(struct nodes *ns, struct node *n, struct request *r)
{
	wake(ns, n);
	TAILQ_INSERT_TAIL(&n->queue, r, in);
	n->n_queued++;
	enter_ring_if_ready(ns, n);
}

struct request *
nodes_take_from(struct nodes *ns, struct node *n)
{
	struct request *r = TAILQ_FIRST(&n->queue);

	leave_ring(ns, n);
	TAILQ_REMOVE(&n->queue, r, in);
	n->n_queued--;
	n->n_sent++;
	if (r->route.aside)
		nodes_step_aside(ns, r);
	enter_ring_if_ready(ns, n);
	return r;
}

struct request *
nodes_take(struct nodes *ns, enum lane lane)
{
	struct node *n = TAILQ_FIRST(&ns->ring[lane]);

	return n != NULL ? nodes_take_from(ns, n) : NULL;
}

void
nodes_step_aside(struct nodes *ns, struct request *r)
{
	if ((!r->route.beyond && !r->route.aside) || r->is_aside)
		return;
	r->is_aside = true;
	r->node->n_aside++;
	enter_ring_if_ready(ns, r->node);
}

static void
set_voice(struct nodes *ns, struct node *n, enum node_voice voice)
{
	if (n->key == 0 || n->voice == voice)
		return;
	leave_ring(ns, n);
	n->voice = voice;
	enter_ring_if_ready(ns, n);
}

void
nodes_heard(struct nodes *ns, struct node *n)
{
	set_voice(ns, n, NODE_HEARD);
}

bool
nodes_lost(struct nodes *ns, struct node *n)
{
	bool had_answered = n->voice == NODE_HEARD;

	set_voice(ns, n, NODE_LATE);
	return had_answered;
}

void
nodes_done(struct nodes *ns, const struct request *r)
{
	struct node *n = r->node;

	n->n_sent--;
	n->n_aside -= r->is_aside;
	enter_ring_if_ready(ns, n);
	rest_if_idle(ns, n);
}

void
nodes_drop(struct nodes *ns, struct node *n, struct requests *to)
{
	if (n->n_queued == 0)
		return;
	leave_ring(ns, n);
	TAILQ_CONCAT(to, &n->queue, in);
	n->n_queued = 0;
	enter_ring_if_ready(ns, n);
	rest_if_idle(ns, n);
}
