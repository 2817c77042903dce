/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/cells.h"

#include <string.h>

#include "perf/book/history.h"

#define ARRAYS 4

static uint8_t *
put_number(uint8_t *at, uint64_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*at++ = (uint8_t)(number >> 8 * i);
	return at;
}

static uint8_t *
put_head(const struct readings *r, uint8_t *at)
{
	uint8_t *end = at + CELLS_HEAD;

	memset(at, 0, CELLS_HEAD);
	at = put_number(at, CELLS_MAGIC, 4);
	at = put_number(at, CELLS_VERSION, 4);
	at = put_number(at, r->n_nodes, 4);
	at = put_number(at, r->n_ports, 4);
	at = put_number(at, r->head.sweep, 8);
	at = put_number(at, (uint64_t)r->head.sweep_ended_ms, 8);
	put_number(at, r->head.interval_ms, 4);
	return end;
}

static uint8_t *
put_nodes(const struct readings *r, uint8_t *at)
{
	for (uint32_t i = 0; i < r->n_nodes; i++)
		at = put_number(at, r->node[i].guid, 8);
	for (uint32_t i = 0; i < r->n_nodes; i++)
		at = put_number(at, r->node[i].first_port, 4);
	for (uint32_t i = 0; i < r->n_nodes; i++)
		at = put_number(at, r->node[i].n_ports, 4);
	return at;
}

static uint8_t
errors_byte(const struct hour *h, uint64_t guid, uint8_t port, const struct book_port *p)
{
	uint64_t n = 0;
	uint8_t byte = 0;

	for (enum counter c = 0; c < N_COUNTERS; c++)
		if (p->sum[c] > 0 && counter_is_error(c))
			n += hour_errors(h, guid, port, c, p->sum[c]);
	for (; n > 0; n >>= 1)
		byte++;
	return byte;
}

static uint8_t
state_byte(uint32_t flags)
{
	return (uint8_t)((flags & BOOK_MISSING ? CELL_MISSING : 0) |
	    (flags & BOOK_NO_CABLE ? CELL_NO_CABLE : 0) | (flags & BOOK_NEVER ? CELL_NEVER : 0) |
	    (flags & BOOK_RESET ? CELL_RESET : 0));
}

static void
put_node_ports(const struct readings *r, const struct hour *h, const uint8_t *bytes, uint32_t node,
    uint8_t *cells)
{
	const struct book_node *n = &r->node[node];

	for (uint32_t i = 0; i < n->n_ports; i++) {
		uint32_t row = n->first_port + i;
		const struct book_port *p = &r->port[row];
		uint8_t now[HISTORY_PORT_BYTES];

		if (bytes != NULL)
			memcpy(now, bytes + (size_t)row * HISTORY_PORT_BYTES, sizeof(now));
		else
			history_bytes(p, now);
		cells[row] = now[0];
		cells[r->n_ports + (size_t)row] = now[1];
		cells[2 * (size_t)r->n_ports + row] = errors_byte(h, n->guid, (uint8_t)(i + 1), p);
		cells[3 * (size_t)r->n_ports + row] = state_byte(p->flags);
	}
}

void
cells_write(const struct readings *r, const struct hour *h, const uint8_t *bytes, struct text *t)
{
	size_t n = CELLS_HEAD + (size_t)r->n_nodes * 16 + (size_t)r->n_ports * ARRAYS;
	uint8_t *at;

	if (!fm_vec_reserve(&t->v, t->v.n + n)) {
		t->is_lost = true;
		return;
	}
	at = put_nodes(r, put_head(r, (uint8_t *)t->v.item + t->v.n));
	for (uint32_t i = 0; i < r->n_nodes; i++)
		put_node_ports(r, h, bytes, i, at);
	t->v.n += n;
}
