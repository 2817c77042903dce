/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/levels.h"

#include <stdlib.h>
#include <string.h>

struct wait {
	uint32_t pair;
	uint64_t rate;
};

void
levels_fini(struct levels *l)
{
	free(l->sent);
	*l = (struct levels){ 0 };
}

static unsigned
level_of(const struct places *p, uint64_t guid)
{
	uint8_t level = places_of(p, guid).level;

	return level < LEVELS_MOST ? level : LEVELS_MOST;
}

static int
by_pair_and_rate(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return x->rate < y->rate ? -1 : x->rate > y->rate;
}

static void
rank_waits(struct levels *l, struct wait *waits, size_t n)
{
	size_t first = 0;

	if (n > 1)
		qsort(waits, n, sizeof(*waits), by_pair_and_rate);
	for (size_t i = 0; i < n; i++) {
		struct levels_pair *pair = &l->pair[waits[i].pair];

		if (i + 1 < n && waits[i + 1].pair == waits[i].pair)
			continue;
		pair->worst = waits[i].rate;
		pair->p99 = waits[first + (i - first) * 99 / 100].rate;
		first = i + 1;
	}
}

/* Another file: what its ports have sent before is not ours to add. */
static bool
begin_file(struct levels *l, const struct readings *r)
{
	free(l->sent);
	l->sent = calloc((size_t)r->n_ports + 1, sizeof(*l->sent));
	if (l->sent == NULL)
		return false;
	for (uint32_t row = 0; row < r->n_ports; row++)
		l->sent[row] = r->port[row].sum[COUNTER_XMIT_DATA];
	l->n_files = r->n_files;
	return true;
}

/* The ports of a node; where its waits end. */
static struct wait *
add_node(struct levels *l, const struct readings *r, const struct places *p,
    const struct book_node *n, struct wait *waits)
{
	unsigned from = level_of(p, n->guid);

	for (uint32_t row = n->first_port; row < n->first_port + n->n_ports; row++) {
		const struct book_port *port = &r->port[row];
		uint64_t sent = port->sum[COUNTER_XMIT_DATA];
		uint32_t which;

		if (port->peer == BOOK_NOBODY || !readings_has(r, row))
			continue;
		which = from * LEVELS_ALL + level_of(p, r->node[port->peer].guid);
		l->pair[which].n_ports++;
		if (sent > l->sent[row])
			l->pair[which].bytes += 4 * (sent - l->sent[row]);
		l->sent[row] = sent;
		if (port->span_ms > 0)
			*waits++ = (struct wait){ which, port->wait_rate };
	}
	return waits;
}

bool
levels_add(struct levels *l, const struct readings *r, const struct places *p)
{
	struct wait *waits, *end;

	if (r->n_files == l->n_files && r->head.sweep == l->sweep &&
	    strcmp(p->generation, l->generation) == 0)
		return true;
	if (r->n_files != l->n_files && !begin_file(l, r))
		return false;
	end = waits = calloc((size_t)r->n_ports + 1, sizeof(*waits));
	if (waits == NULL)
		return false;
	for (unsigned i = 0; i < LEVELS_ALL * LEVELS_ALL; i++)
		l->pair[i] = (struct levels_pair){ .bytes = l->pair[i].bytes };
	for (uint32_t i = 0; i < r->n_nodes; i++)
		end = add_node(l, r, p, &r->node[i], end);
	rank_waits(l, waits, (size_t)(end - waits));
	free(waits);
	l->sweep = r->head.sweep;
	memcpy(l->generation, p->generation, sizeof(l->generation));
	return true;
}

const char *
levels_name(unsigned level)
{
	static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "unknown" };

	_Static_assert(sizeof(names) / sizeof(names[0]) == LEVELS_ALL, "names");
	return level < LEVELS_MOST ? names[level] : names[LEVELS_MOST];
}
