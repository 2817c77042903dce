/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packets depend on that choose among the ports of groups, in one VL: all LIDs behind one
 * switch together.  Of each switch that they come to, the union of the ports by which it may send
 * to any of them; so that is more than the tables need, never less.
 *
 * Time: one look-up per (switch, LID), and one row per (switch, port taken, switch with LIDs).
 */
#include <stdlib.h>
#include <string.h>

#include "core/cdg/depend.h"
#include "core/graph/tables.h"
#include "lib/bitset.h"

#define PORT_WORDS 4u /* 256 ports */

struct choices {
	struct depend *g;
	const struct fm_fabric *ends;
	const struct fm_tables *t;
	const uint64_t *lost;
	uint64_t (*cabled)[PORT_WORDS]; /* [n_switches] ports with a cable to a switch */
	uint64_t (*ports)[PORT_WORDS];	/* [n_switches] to the LIDs at hand */
	uint8_t *reached;		/* [n_switches] by what is sent to them */
	fm_sw *stack;			/* [n_switches] */
};

static bool
alloc_choices(struct choices *c)
{
	size_t n = c->g->n_switches + 1u;

	c->cabled = calloc(n, sizeof(*c->cabled));
	c->ports = calloc(n, sizeof(*c->ports));
	c->reached = calloc(n, 1);
	c->stack = malloc(n * sizeof(*c->stack));
	if (c->cabled == NULL || c->ports == NULL || c->reached == NULL || c->stack == NULL)
		return false;
	for (uint32_t i = 0; i < c->g->n_channels; i++)
		if (c->g->to[i] != FM_NONE)
			fm_bit_set(c->cabled[c->g->at[i]], i - c->g->first[c->g->at[i]]);
	return true;
}

static void
free_choices(struct choices *c)
{
	free(c->cabled);
	free(c->ports);
	free(c->reached);
	free(c->stack);
}

static void
note_ports(const struct choices *c, fm_sw sw, uint32_t lid)
{
	uint16_t group = c->t->ar_group[sw][lid];
	uint64_t *ports = c->ports[sw];

	if (group == 0)
		fm_bit_set(ports, c->t->lft[sw][lid]);
	for (unsigned w = 0; group != 0 && w < PORT_WORDS; w++)
		ports[w] |= c->t->ar_ports[sw][group][w];
}

/* From all who send on; every step of theirs is noted.  On a cable that is lost are no packets any
 * more, but those that had passed it are behind it. */
static void
follow(const struct choices *c, fm_sw to)
{
	struct depend *g = c->g;
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < g->n_switches; sw++) {
		c->reached[sw] = sw == to || deps_has_sender(c->ends, sw);
		if (sw != to && c->reached[sw])
			c->stack[n++] = sw;
	}
	while (n > 0) {
		fm_sw sw = c->stack[--n];

		FM_EACH_BIT (port, c->ports[sw], 256) {
			uint32_t channel = depend_channel(g, sw, (uint8_t)port);
			fm_sw next = channel != FM_NONE ? g->to[channel] : FM_NONE;

			bool lost =
			    channel != FM_NONE && c->lost != NULL && fm_bit_test(c->lost, channel);

			if (next == FM_NONE || next == to)
				continue;
			for (unsigned w = 0; !lost && w < PORT_WORDS && w < g->words; w++)
				g->next[(size_t)channel * g->words + w] |= c->ports[next][w];
			if (!c->reached[next])
				c->stack[n++] = next;
			c->reached[next] = 1;
		}
	}
}

bool
depend_follow_choices(
    struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t, const uint64_t *lost)
{
	struct choices c = { .g = g, .ends = ends, .t = t, .lost = lost };
	bool ok = alloc_choices(&c);

	for (fm_sw to = 0; ok && to < g->n_switches; to++) {
		bool any = false;

		memset(c.ports, 0, g->n_switches * sizeof(*c.ports));
		for (fm_end e = ends->sw_first_end[to]; e < ends->sw_first_end[to + 1]; e++)
			for (uint32_t i = 0; ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e];
			     i++) {
				any = true;
				for (fm_sw sw = 0; sw < g->n_switches; sw++)
					note_ports(&c, sw, ends->end_lid[e] + i);
			}
		for (fm_sw sw = 0; any && sw < g->n_switches; sw++)
			for (unsigned w = 0; w < PORT_WORDS; w++)
				c.ports[sw][w] &= c.cabled[sw][w];
		if (any)
			follow(&c, to);
	}
	free_choices(&c);
	return ok;
}
