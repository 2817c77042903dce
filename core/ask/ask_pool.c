/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/ask_pool.c - where questions are taken from and given back to.
 */
#include "core/ask/ask.h"
#include "core/ask/sweeper.h"

struct ask *
ask_new(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct ask *a = s->free_asks;

	if (a != NULL) {
		s->free_asks = a->next_free;
		memset(a, 0, sizeof(*a));
	} else {
		a = fm_arena_alloc(&s->mem, sizeof(*a));
		if (a == NULL) {
			sweep_fail(s, FM_E_RESOURCE, "out of memory for questions to the fabric");
			return NULL;
		}
	}
	a->s = s;
	a->via = a->about = INV_NONE;
	a->node = node;
	a->port = port;
	a->generation = node != INV_NONE ? inv_node(&s->inv, node)->generation : 0;
	return a;
}

bool
ask_is_stale(const struct ask *a)
{
	const struct inv_node *n;

	if (a->node == INV_NONE)
		return false;
	n = inv_node(&a->s->inv, a->node);
	return n->generation != a->generation || a->port > n->n_ports;
}

void
ask_drop(struct ask *a)
{
	a->next_free = a->s->free_asks;
	a->s->free_asks = a;
}
