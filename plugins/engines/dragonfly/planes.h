/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * planes.h - pairs of switches with an SL and a VL of their own, which others share with them where
 * the channel dependencies of all stay acyclic.
 */
#ifndef PLUGINS_ENGINES_DRAGONFLY_PLANES_H
#define PLUGINS_ENGINES_DRAGONFLY_PLANES_H

#include "lib/algo/acyclic.h"
#include "plugins/engines/dragonfly/dragonfly.h"

#define DF_FIRST_PLANE 2u /* VL of plane 0, whose SL is 1 */
#define DF_MAX_PLANES (FM_MAX_VLS - DF_FIRST_PLANE)
#define DF_EVEN_PLANES 2u /* for pairs that are moved alone there are no more */

/* A dependency that a plane holds once more than before. */
struct df_held {
	uint32_t plane;
	fm_link from, to;
};

struct df_planes {
	struct df *df;
	struct fm_tables *out;
	uint64_t *misfits; /* [n_switches][words] */
	size_t words;
	atomic_bool any;
	fm_link *port_link;   /* [n_switches][256] */
	struct df_held *held; /* by the pairs in hand */
	size_t n_held, room;
	struct fm_acyclic *plane[DF_MAX_PLANES];
	uint32_t n, allowed;
};

/* Hold the dependencies of a path in a plane, or of all routes between two switches, both ways.
 * False: they would close a cycle, or there is no room; what is held so far is for the caller to
 * take back. */
bool df_plane_hold(struct df_planes *p, uint32_t plane, const fm_link *path, uint32_t n);
bool df_plane_hold_pair(struct df_planes *p, uint32_t plane, fm_sw u, fm_sw v);
/* All but the first n. */
void df_plane_take_back(struct df_planes *p, size_t n);
/* FM_E_RESOURCE. */
int df_plane_open(struct df_planes *p, struct fm_error *err);
/* The SL of the pair, both ways; 0: that of the pattern. */
void df_plane_set_sl(struct df_planes *p, fm_sw u, fm_sw v, uint8_t sl);
uint8_t df_plane_sl(const struct df_planes *p, fm_sw u, fm_sw v);

/* even.c: after the pairs that misfit have planes.  FM_E_RESOURCE, FM_E_CANCELLED. */
int df_lead_off(struct df_planes *p, struct fm_error *err);

#endif
