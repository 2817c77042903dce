/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dragonfly.h - what the parts of the dragonfly engine share.
 *
 *	groups.c   groups of switches, and the lines within a group
 *	local.c    next steps within a group
 *	between.c  cables between groups, and which way a group leads to another
 *	layout.c   where the LIDs of a group are
 *	rows.c     the tables
 *	round.c    alternates that go round where there is one way
 *	even.c     routes led round full links where cables are missing
 *	planes.c   SLs and VLs; pairs whose routes do not fit the pattern (planes.h)
 *	alternatives.c  adaptive routing
 *
 * The idea stands at the head of dragonfly.c.
 */
#ifndef PLUGINS_ENGINES_DRAGONFLY_DRAGONFLY_H
#define PLUGINS_ENGINES_DRAGONFLY_DRAGONFLY_H

#include <stdatomic.h>

#include <fmd/engine.h>

#include "plugins/common/paths/arcs.h"
#include "plugins/common/paths/lids.h"

#define DF_ROUND_VLS 4 /* where alternates go round */

enum df_kind { DF_ROW, DF_COLUMN, DF_GLOBAL };

/* How well a landing switch suits a destination switch. */
enum df_class { DF_THERE, DF_FITS, DF_MISFITS };

/* Successive LIDs of one group, at successive positions (fm_lids) if that is said. */
struct df_run {
	uint32_t position;
	uint16_t lid, n;
};
struct df_runs {
	const uint32_t *first; /* [n_groups + 2] those of n_groups: LIDs of nobody */
	const struct df_run *run;
};
#define DF_EACH_RUN(r, runs, group) \
	for (const struct df_run *r = (runs)->run + (runs)->first[group]; \
	     r < (runs)->run + (runs)->first[(group) + 1]; r++)

struct df {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	struct fm_arcs arcs;

	/* groups.c */
	uint32_t n_groups;
	uint32_t *group; /* [n_switches] */
	uint32_t *index; /* [n_switches] within the group */
	uint32_t *first; /* [n_groups + 1] into member */
	fm_sw *member;	 /* [n_switches] group by group */
	uint8_t *kind;	 /* [n_arcs] enum df_kind */

	/* local.c: per switch x and member y of its group, at local_at[x] + index[y] */
	size_t *local_at;      /* [n_switches] */
	fm_arc *direct;	       /* the arc x -> y, or FM_NONE */
	fm_arc *away;	       /* next step towards y as a gateway: rows before columns */
	fm_arc *home;	       /* next step towards y as a destination: columns before rows */
	uint8_t *away_misfits; /* the steps away are in another order */
	uint8_t *home_misfits; /* the steps home are in another order */
	bool *group_misfits;   /* [n_groups] any of the two anywhere in it */
	bool *group_detours;   /* [n_groups] some go round a lost cable */
	bool any_column;

	/* between.c: cables of groups i -> j are cable[cable_first[i * n_groups + j] ..] */
	uint32_t *cable_first; /* [n_groups * n_groups + 1] */
	fm_link *cable;	       /* consecutive ones leave different switches where they can */
	fm_sw *cable_from;     /* as cable */
	uint32_t *via;	       /* [n_groups * n_groups] the group to step to; FM_NONE: no way */
	bool *joint; /* [n_groups * n_groups] all sources use the cable of the destination */
	uint32_t n_unjoined; /* ordered pairs of groups without a cable, but with a way */

	/* layout.c */
	struct fm_lids lids;
	struct df_runs by_lid;	    /* whole rows, position unused */
	struct df_runs by_position; /* LIDs of somebody */

	/* round.c */
	bool goes_round; /* alternates do: VLs are given as it says */

	/* rows.c */
	uint32_t *n_hosts; /* [n_switches] */
	const struct fm_tables *out;
	void **worker; /* [n_workers] */
	atomic_bool no_memory;
};

#define DF_EACH_ARC(df, a, sw) \
	for (fm_arc a = (df)->arcs.first[sw]; a < (df)->arcs.first[(sw) + 1]; a++)

static inline uint32_t
df_size(const struct df *df, uint32_t group)
{
	return df->first[group + 1] - df->first[group];
}

/* Where what x holds for y, of the same group, is in the arrays of local.c. */
static inline size_t
df_local(const struct df *df, fm_sw x, fm_sw y)
{
	return df->local_at[x] + df->index[y];
}

static inline size_t
df_pair(const struct df *df, uint32_t from, uint32_t to)
{
	return (size_t)from * df->n_groups + to;
}

/* Is there one cable between the groups of the pair? */
static inline bool
df_is_single(const struct df *df, size_t pair)
{
	return df->cable_first[pair + 1] - df->cable_first[pair] == 1;
}

static inline enum df_class
df_class_at(const struct df *df, fm_sw landing, fm_sw dest)
{
	if (landing == dest)
		return DF_THERE;
	return df->group[landing] == df->group[dest] &&
		df->home_misfits[df_local(df, landing, dest)]
	    ? DF_MISFITS
	    : DF_FITS;
}

static inline enum df_class
df_class_of(const struct df *df, fm_link cable, fm_sw dest)
{
	return df_class_at(df, df->fab->link_to[cable], dest);
}

/* All return 0 or a negative enum fm_error_kind. */
int df_find_groups(struct df *df, struct fm_error *err);
int df_route_locally(struct df *df, struct fm_error *err);
int df_join_groups(struct df *df, struct fm_error *err);
int df_lay_out(struct df *df, struct fm_error *err);
int df_fill_rows(struct df *df, struct fm_error *err);
int df_lead_round(struct df *df, uint8_t n_vls, struct fm_error *err);
int df_assign_vls(struct df *df, uint8_t n_vls, struct fm_tables *out, struct fm_error *err);
int df_alternatives(const struct df *df, struct fm_tables *out, struct fm_error *err);

/* May the route from u to v leave the pattern? */
bool df_misfits(const struct df *df, fm_sw u, fm_sw v);
/* Is there anything that could misfit, or goes round a lost cable? */
bool df_is_damaged(const struct df *df);
/* VLs that all links between switches have, n_vls at most; *least: one with as few, or FM_NONE. */
uint8_t df_vls_of_links(const struct fm_fabric *fab, uint8_t n_vls, fm_link *least);
/* At s, of what comes from one neighbour and goes to another. */
uint8_t df_round_vl(const struct df *df, fm_sw s, fm_sw from, fm_sw to);

#endif
