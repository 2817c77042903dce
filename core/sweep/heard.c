/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sweep/heard.h"

#include "core/sweep/internal.h"
#include "lib/bitset.h"

static bool
is_in_doubt(const struct inv_node *n)
{
	bool doubt = n->lft != LFT_OURS || n->lft_remembered || n->silent || n->quiet;

	for (size_t i = 0; i < sizeof(n->lft_doubt) / sizeof(n->lft_doubt[0]); i++)
		doubt = doubt || n->lft_doubt[i] != 0;
	return doubt;
}

/* Nodes here that are silent, and nodes behind links that are up; once each, if they are known.
 * seen: [nodes] bits, or NULL: no memory, once for each link. */
static uint32_t
count_not_heard(const struct inventory *inv, uint64_t *seen)
{
	uint32_t n_not = 0;

	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		if (!n->present)
			continue;
		n_not += n->silent || n->quiet;
		for (unsigned p = 1; p <= n->n_ports; p++) {
			uint32_t who = n->ports[p].peer;

			if (n->ports[p].edge != EDGE_SILENT ||
			    (who != INV_NONE && inv_node(inv, who)->present))
				continue;
			if (seen == NULL || who == INV_NONE || !fm_bit_test(seen, who))
				n_not++;
			if (seen != NULL && who != INV_NONE)
				fm_bit_set(seen, who);
		}
	}
	return n_not;
}

void
sweeper_heard(const struct sweeper *s, struct sweep_heard *out)
{
	const struct inventory *inv = &s->inv;
	uint64_t *seen = calloc(FM_BITSET_WORDS(inv->nodes.n + 1), sizeof(*seen));
	int64_t now = s->p.transport->ops->now_ns(s->p.transport);

	*out = (struct sweep_heard){ .oldest_ms = -1 };
	if (s->plan != NULL)
		out->n_unreachable = s->plan->verdict.unreachable_pairs;
	inv_count_ports(inv, &out->n_ports_active, &out->n_ports_not_active);
	out->n_not_heard = count_not_heard(inv, seen);
	free(seen);
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		if (!n->present || (!inv_is_switch(n) && i != inv->local))
			continue;
		out->n_in_doubt += inv_is_switch(n) && is_in_doubt(n);
		if (n->heard_ns != 0 && (now - n->heard_ns) / 1000000 > out->oldest_ms)
			out->oldest_ms = (now - n->heard_ns) / 1000000;
	}
}
