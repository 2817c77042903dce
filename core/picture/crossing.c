/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/crossing.h"

#include <stdlib.h>

#include "lib/error.h"

/* Do packets to a destination that are at a switch cross the link? */
enum { NOT_KNOWN, ON_THE_WAY, CROSSES, CROSSES_NOT };

struct crossing {
	const struct snapshot *snap;
	const struct fm_tables *t;
	fm_sw at;	   /* the link leaves it */
	uint32_t *n_hosts; /* [n_switches] */
	uint8_t *state;	   /* [n_switches] of one destination */
	fm_sw *walked;	   /* [n_switches] */
};

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA && fab->end_lid[e] != 0;
}

/* Do packets that are at sw arrive at the end? */
static bool
arrives(const struct crossing *c, fm_sw sw, fm_end dest)
{
	const struct fm_fabric *fab = &c->snap->fab;

	for (uint32_t hops = 0; hops <= fab->n_switches; hops++) {
		uint8_t port = c->t->lft[sw][fab->end_lid[dest]];

		if (sw == fab->end_sw[dest])
			return port == fab->end_port[dest];
		if ((sw = snapshot_switch_at(c->snap, sw, port)) == FM_NONE)
			return false;
	}
	return false;
}

/* From sw on, to where that is known; all that was walked is known then. */
static void
follow(struct crossing *c, fm_sw sw, uint16_t lid)
{
	uint8_t state = CROSSES_NOT;
	uint32_t n = 0;

	while (sw != FM_NONE && c->state[sw] == NOT_KNOWN) {
		c->state[sw] = ON_THE_WAY;
		c->walked[n++] = sw;
		sw = snapshot_switch_at(c->snap, sw, c->t->lft[sw][lid]);
	}
	if (sw != FM_NONE && c->state[sw] == CROSSES)
		state = CROSSES;
	while (n > 0)
		c->state[c->walked[--n]] = state;
}

static void
count_to(struct crossing *c, fm_end dest, uint32_t *from, uint32_t *to)
{
	const struct fm_fabric *fab = &c->snap->fab;

	memset(c->state, NOT_KNOWN, fab->n_switches);
	c->state[c->at] = CROSSES;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		if (c->n_hosts[sw] == 0)
			continue;
		if (c->state[sw] == NOT_KNOWN)
			follow(c, sw, fab->end_lid[dest]);
		if (c->state[sw] == CROSSES) {
			from[sw] += c->n_hosts[sw];
			to[fab->end_sw[dest]] += c->n_hosts[sw];
		}
	}
}

int
link_crossing(const struct snapshot *snap, const struct fm_tables *tables, fm_link link,
    uint32_t *from, uint32_t *to, struct fm_error *err)
{
	const struct fm_fabric *fab = &snap->fab;
	struct crossing c = { .snap = snap, .t = tables, .at = fab->link_to[fab->link_rev[link]] };
	uint32_t n_sw = fab->n_switches;

	memset(from, 0, n_sw * sizeof(*from));
	memset(to, 0, n_sw * sizeof(*to));
	c.n_hosts = calloc((size_t)n_sw + 1, sizeof(*c.n_hosts));
	c.walked = calloc((size_t)n_sw + 1, sizeof(*c.walked));
	c.state = calloc((size_t)n_sw + 1, 1);
	if (c.n_hosts != NULL && c.walked != NULL && c.state != NULL) {
		for (fm_end e = 0; e < fab->n_ends; e++)
			c.n_hosts[fab->end_sw[e]] += is_host(fab, e);
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (is_host(fab, e) &&
			    tables->lft[c.at][fab->end_lid[e]] == fab->link_port[link] &&
			    arrives(&c, fab->link_to[link], e))
				count_to(&c, e, from, to);
	}
	if (c.state == NULL || c.walked == NULL || c.n_hosts == NULL)
		fm_fail(err, FM_E_RESOURCE, "out of memory for whose routes cross a cable");
	free(c.n_hosts);
	free(c.walked);
	free(c.state);
	return c.state == NULL || c.walked == NULL || c.n_hosts == NULL ? (int)err->kind : 0;
}
