/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables, and the agent that reads and writes them. */
#include "lab/adaptive/adaptive.h"

#include <string.h>

#include "core/wire/wire.h"

struct adaptive *
adaptive_new(struct fm_arena *mem, uint16_t n_groups)
{
	struct adaptive *a = fm_arena_alloc(mem, sizeof(*a));

	if (a == NULL)
		return NULL;
	*a = (struct adaptive){ .n_groups = n_groups,
		.ports = fm_arena_alloc(mem, (n_groups + (size_t)1) * sizeof(*a->ports)),
		.group = fm_arena_alloc(mem, ADAPTIVE_LIDS * sizeof(*a->group)) };
	return a->ports != NULL && a->group != NULL ? a : NULL;
}

void
adaptive_forget(struct adaptive *a)
{
	if (a == NULL)
		return;
	a->on = false;
	memset(a->ports, 0, (a->n_groups + (size_t)1) * sizeof(*a->ports));
	memset(a->group, 0, ADAPTIVE_LIDS * sizeof(*a->group));
}

const uint8_t *
adaptive_ports(const struct adaptive *a, uint16_t lid)
{
	if (a == NULL || !a->on || lid >= ADAPTIVE_LIDS || a->group[lid] == 0)
		return NULL;
	return a->ports[a->group[lid]];
}

/* ------------------------------------------------------------------- agent */

struct question {
	struct adaptive *a;
	uint32_t modifier;
	bool is_set;
	uint8_t *data;
};

static uint16_t
info(const struct question *q)
{
	struct adaptive *a = q->a;

	if (q->modifier != 0 || (q->is_set && q->data[0] != ADAPTIVE_VERSION))
		return WIRE_STATUS_BAD_VALUE;
	if (q->is_set)
		a->on = (q->data[1] & 1) != 0;
	memset(q->data, 0, 64);
	q->data[0] = ADAPTIVE_VERSION;
	q->data[1] = a->on;
	wire_put16(q->data + 2, a->n_groups);
	return 0;
}

static uint16_t
groups(const struct question *q)
{
	struct adaptive *a = q->a;
	uint32_t first = q->modifier * ADAPTIVE_BLOCK_GROUPS + 1;

	if (q->modifier > a->n_groups / ADAPTIVE_BLOCK_GROUPS || first > a->n_groups)
		return WIRE_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < ADAPTIVE_BLOCK_GROUPS; i++) {
		uint8_t *at = q->data + i * ADAPTIVE_PORT_BYTES;

		if (first + i > a->n_groups)
			memset(at, 0, ADAPTIVE_PORT_BYTES);
		else if (q->is_set)
			memcpy(a->ports[first + i], at, ADAPTIVE_PORT_BYTES);
		else
			memcpy(at, a->ports[first + i], ADAPTIVE_PORT_BYTES);
	}
	return 0;
}

static uint16_t
table(const struct question *q)
{
	struct adaptive *a = q->a;
	uint16_t *group;

	if (q->modifier >= ADAPTIVE_LIDS / ADAPTIVE_BLOCK_LIDS)
		return WIRE_STATUS_BAD_VALUE;
	group = &a->group[(size_t)q->modifier * ADAPTIVE_BLOCK_LIDS];
	for (unsigned i = 0; q->is_set && i < ADAPTIVE_BLOCK_LIDS; i++)
		if (wire_get16(q->data + (size_t)2 * i) > a->n_groups)
			return WIRE_STATUS_BAD_VALUE;
	for (unsigned i = 0; i < ADAPTIVE_BLOCK_LIDS; i++)
		if (q->is_set)
			group[i] = wire_get16(q->data + (size_t)2 * i);
		else
			wire_put16(q->data + (size_t)2 * i, group[i]);
	return 0;
}

uint16_t
adaptive_answer(struct adaptive *a, uint16_t attr, uint32_t modifier, bool is_set, uint8_t *data)
{
	const struct question q = { a, modifier, is_set, data };

	if (a == NULL)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	switch ((enum adaptive_attr)attr) {
	case ADAPTIVE_INFO:
		return info(&q);
	case ADAPTIVE_GROUPS:
		return groups(&q);
	case ADAPTIVE_TABLE:
		return table(&q);
	}
	return WIRE_STATUS_BAD_METHOD_ATTR;
}
