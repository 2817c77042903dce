/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/engines/hyperx/turns.h"

#include <string.h>

#include "lib/bitset.h"

#define ARC_WORDS 4 /* a bit for each arc of a switch */

struct check {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_tables *out;
	uint8_t (*number)[256]; /* [n_switches] port -> arc of the switch, 255: none */
	uint64_t *turn;		/* [n_arcs][ARC_WORDS] arcs of the far switch turned into */
	struct fm_turns *found;
};

static void
number_ports(struct check *c)
{
	memset(c->number, 255, c->fab->n_switches * sizeof(*c->number));
	for (fm_sw u = 0; u < c->fab->n_switches; u++)
		for (fm_arc a = c->arcs->first[u]; a < c->arcs->first[u + 1]; a++)
			for (fm_link l = c->arcs->link[a]; l < c->arcs->link[a + 1]; l++)
				c->number[u][c->fab->link_port[l]] =
				    (uint8_t)(a - c->arcs->first[u]);
}

static void
follow_lid(struct check *c, uint32_t lid, fm_sw owner, const uint32_t *part)
{
	for (fm_sw u = 0; u < c->fab->n_switches; u++) {
		uint8_t i = c->number[u][c->out->lft[u][lid]], k;
		fm_arc a = c->arcs->first[u] + i;
		fm_sw v;

		if (u == owner || part[u] != part[owner])
			continue;
		if (i == 255) {
			c->found->n_unrouted++;
			continue;
		}
		v = c->arcs->to[a];
		k = c->number[v][c->out->lft[v][lid]];
		if (v != owner && k != 255)
			fm_bit_set(c->turn + (size_t)a * ARC_WORDS, k);
	}
}

/* Take away arcs nothing turns into; what stays lies on cycles or behind one. */
static void
sort_arcs(struct check *c, uint32_t *n_into, fm_arc *queue)
{
	uint32_t head = 0, tail = 0;

	for (fm_arc a = 0; a < c->arcs->n_arcs; a++)
		FM_EACH_BIT (k, c->turn + (size_t)a * ARC_WORDS, 256)
			n_into[c->arcs->first[c->arcs->to[a]] + k]++;
	for (fm_arc a = 0; a < c->arcs->n_arcs; a++)
		if (n_into[a] == 0)
			queue[tail++] = a;
	while (head < tail) {
		fm_arc a = queue[head++];

		FM_EACH_BIT (k, c->turn + (size_t)a * ARC_WORDS, 256) {
			fm_arc b = c->arcs->first[c->arcs->to[a]] + (fm_arc)k;

			if (--n_into[b] == 0)
				queue[tail++] = b;
		}
	}
	c->found->cyclic = tail < c->arcs->n_arcs;
	for (fm_arc a = 0; a < c->arcs->n_arcs && c->found->cyclic; a++)
		if (n_into[a] > 0) {
			c->found->on_cycle = c->arcs->to[a];
			break;
		}
}

int
fm_turns_check(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const uint32_t *part, const struct fm_tables *out, struct fm_turns *turns, struct fm_error *err)
{
	struct check c = { .fab = fab, .arcs = arcs, .out = out, .found = turns };
	uint32_t *n_into = fm_scratch_array(host, arcs->n_arcs, uint32_t);
	fm_arc *queue = fm_scratch_array(host, arcs->n_arcs, fm_arc);

	c.number = fm_scratch_bytes(host, fab->n_switches, sizeof(*c.number));
	c.turn = fm_scratch_array(host, (size_t)arcs->n_arcs * ARC_WORDS, uint64_t);
	if (n_into == NULL || queue == NULL || c.number == NULL || c.turn == NULL)
		return fm_no_scratch(host, "turns of the tables", err);
	*turns = (struct fm_turns){ .on_cycle = FM_NONE };
	number_ports(&c);
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid];

		if (e == FM_NONE || fab->end_sw[e] == FM_NONE)
			continue;
		follow_lid(&c, lid, fab->end_sw[e], part);
		if (lid % 64 == 0 && host->should_stop(host))
			return host->fail(
			    host, err, FM_E_CANCELLED, "stopped while checking turns");
	}
	sort_arcs(&c, n_into, queue);
	return 0;
}
