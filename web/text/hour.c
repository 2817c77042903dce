/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/hour.h"

#include <stdlib.h>

#define RING (HOUR_STEPS + 1)

void
hour_fini(struct hour *h)
{
	for (unsigned i = 0; i < RING; i++)
		fm_vec_fini(&h->past[i].sums);
	*h = (struct hour){ 0 };
}

int64_t
hour_due_ms(const struct hour *h)
{
	return h->n == 0 ? INT64_MIN : h->past[(h->n - 1) % RING].at_ms + HOUR_STEP_MS;
}

static int
in_order(const void *a, const void *b)
{
	const struct hour_sum *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (int)x->counter - (int)y->counter;
}

/* Appends the errors of one port. */
static bool
add_port(struct hour *h, unsigned at, uint64_t guid, uint8_t port, const struct book_port *p)
{
	for (enum counter c = 0; c < N_COUNTERS; c++) {
		struct hour_sum one = { guid, p->sum[c], port, (uint8_t)c };

		if (p->sum[c] > 0 && counter_is_error(c) && !fm_vec_push(&h->past[at].sums, one))
			return false;
	}
	return true;
}

bool
hour_keep(struct hour *h, const struct readings *r, int64_t now_ms)
{
	unsigned at = (unsigned)(h->n % RING);

	h->past[at].sums.n = 0;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		for (uint32_t k = 0; k < r->node[i].n_ports; k++)
			if (!add_port(h, at, r->node[i].guid, (uint8_t)(k + 1),
				&r->port[r->node[i].first_port + k])) {
				hour_fini(h);
				return false;
			}
	if (h->past[at].sums.n > 1)
		qsort(h->past[at].sums.item, h->past[at].sums.n, sizeof(struct hour_sum), in_order);
	h->past[at].at_ms = now_ms;
	h->n++;
	return true;
}

uint64_t
hour_errors(const struct hour *h, uint64_t guid, uint8_t port, enum counter c, uint64_t sum)
{
	const struct hour_sum wanted = { guid, 0, port, (uint8_t)c }, *was = NULL;
	unsigned oldest = (unsigned)(h->n > RING ? h->n % RING : 0);

	if (h->n == 0)
		return 0;
	if (h->past[oldest].sums.n > 0)
		was = bsearch(&wanted, h->past[oldest].sums.item, h->past[oldest].sums.n,
		    sizeof(wanted), in_order);
	return was == NULL || was->sum > sum ? sum : sum - was->sum;
}
