/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing: all that is as near, within the pattern of dragonfly.c.
 *
 *	own group	the parallel cables of the step
 *	a gateway	its own cables to the other group
 *	others		all neighbours that are gateways
 *
 * of them those that land at the destination's switch if any do.  A gateway
 * hands nothing back into its group: so no packet takes two local hops before
 * the global one, and the union of all ways ascends in the order of channels as
 * the tables do.  Where that is not so, as sources use the cable of the
 * destination (rows.c, joint) or routes leave the pattern (planes.c), entries
 * stay static.
 */
#include "plugins/common/paths/alternatives.h"
#include "plugins/engines/dragonfly/dragonfly.h"

struct finder {
	const struct df *df;
	bool *several; /* [n_switches] an end of it has several LIDs */
};

static void
add_arc(const struct df *df, fm_arc a, struct fm_ports *ports)
{
	for (fm_link l = df->arcs.link[a]; l < df->arcs.link[a + 1]; l++)
		fm_ports_add(ports, df->fab->link_port[l]);
}

/* Cables of the pair that leave by u (own) or by its neighbours, the best class
 * of them; false: there are none. */
static bool
add_gateways(const struct df *df, fm_sw u, fm_sw to, bool own, struct fm_ports *ports)
{
	size_t pair = df_pair(df, df->group[u], df->group[to]);
	enum df_class best = DF_MISFITS;
	bool any = false;

	for (uint32_t i = df->cable_first[pair]; i < df->cable_first[pair + 1]; i++) {
		enum df_class class = df_class_of(df, df->cable[i], to);
		fm_arc step = df->cable_from[i] == u
		    ? FM_NONE
		    : df->direct[df_local(df, u, df->cable_from[i])];

		if (own != (df->cable_from[i] == u) || (!own && step == FM_NONE))
			continue;
		any = true;
		if (class > best || class == DF_MISFITS)
			continue;
		if (class < best)
			*ports = (struct fm_ports){ { 0 } };
		best = class;
		if (own)
			fm_ports_add(ports, df->fab->link_port[df->cable[i]]);
		else
			add_arc(df, step, ports);
	}
	return any;
}

static void
find_ports(const void *arg, fm_sw u, unsigned worker, struct fm_ports *towards)
{
	const struct finder *f = arg;
	const struct df *df = f->df;

	(void)worker;
	for (fm_sw to = 0; to < df->arcs.n_switches; to++) {
		size_t pair = df_pair(df, df->group[u], df->group[to]);

		if (to == u)
			continue;
		if (df->group[u] == df->group[to]) {
			fm_arc a = df->home[df_local(df, u, to)];

			if (a != FM_NONE)
				add_arc(df, a, &towards[to]);
			continue;
		}
		if (df->joint[pair] || df->via[pair] != df->group[to] || f->several[to])
			continue;
		if (!add_gateways(df, u, to, true, &towards[to]))
			add_gateways(df, u, to, false, &towards[to]);
	}
}

int
df_alternatives(const struct df *df, struct fm_tables *out, struct fm_error *err)
{
	struct finder f = { .df = df };
	const struct fm_fabric *fab = df->fab;

	if (out->ar_group == NULL || out->sl_shape != FM_SL_ZERO)
		return 0;
	f.several = fm_scratch_array(df->host, fab->n_switches, bool);
	if (f.several == NULL)
		return fm_no_scratch(df->host, "alternatives", err);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE)
			f.several[fab->end_sw[e]] |= fab->end_lmc[e] > 0;
	return fm_alternatives_write(df->host, fab, find_ports, &f, NULL, out, err);
}
