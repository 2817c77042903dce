/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/layers/channels.h - a channel dependency graph (W. J. Dally, C. L. Seitz, IEEE
 * Transactions on Computers 36, 1987) that stays acyclic.
 *
 * A channel is an arc of the switch graph (parallel cables are one: if that is
 * free of cycles, so are they).  Arc a, ending at switch v, may be followed by
 * the arcs out of v, so all that can follow a is a few bits:
 *
 *	held[word[a] ..]	bit i: a is followed by the i-th arc of v
 *
 * On top of that is the order of lib/algo/topo_order.h (Pearce and Kelly): a dependency
 * held already, or one known to be refused, costs one bit, one that agrees with the
 * order one comparison more.
 *
 * One map serves the graphs of all layers.
 */
#ifndef PLUGINS_COMMON_LAYERS_CHANNELS_H
#define PLUGINS_COMMON_LAYERS_CHANNELS_H

#include "lib/algo/topo_order.h"
#include "plugins/common/paths/arcs.h"

struct fm_channel_map {
	const struct fm_arcs *arcs;
	const fm_arc *rev;    /* [n_arcs] the opposite arc */
	const fm_sw *from;    /* [n_arcs] */
	const uint32_t *word; /* [n_arcs + 1] first word of an arc's bits */
	uint32_t patience;    /* arcs looked at in one search before it is given up */
};

struct fm_channels {
	const struct fm_channel_map *map;
	uint64_t *held, *refused; /* [map->word[n_arcs]] */
	struct fm_topo order;	  /* of the arcs, by what is held */
};

/* O(arcs).  FM_E_RESOURCE. */
int fm_channel_map_build(const struct fm_host *host, const struct fm_arcs *arcs,
    struct fm_channel_map *out, struct fm_error *err);

/* An empty graph.  FM_E_RESOURCE. */
int fm_channels_build(const struct fm_host *host, const struct fm_channel_map *map,
    struct fm_channels *out, struct fm_error *err);
/* Empty again.  order[n_arcs]: the arcs in the order to begin with. */
void fm_channels_clear(struct fm_channels *c, const fm_arc *order);

enum fm_channel_answer {
	FM_CHANNEL_HELD,   /* it was there */
	FM_CHANNEL_ADDED,  /* a new dependency */
	FM_CHANNEL_REFUSED /* it would close a cycle, or patience ended; nothing changed */
};

/* Arc a followed by arc b, which begins where a ends. */
enum fm_channel_answer fm_channels_insert(struct fm_channels *c, fm_arc a, fm_arc b);
/* Take out again; the order stays as it is. */
void fm_channels_remove(struct fm_channels *c, fm_arc a, fm_arc b);

/* Remember that a may never be followed by b: for graphs nothing more is removed from. */
void fm_channels_bar(struct fm_channels *c, fm_arc a, fm_arc b);

static inline uint32_t
fm_channel_slot(const struct fm_channel_map *map, fm_arc b)
{
	return b - map->arcs->first[map->from[b]];
}

static inline bool
fm_channel_bit(const struct fm_channel_map *map, const uint64_t *set, fm_arc a, fm_arc b)
{
	uint32_t slot = fm_channel_slot(map, b);

	return set[map->word[a] + slot / 64] >> (slot % 64) & 1;
}

/*
 * All dependencies at once: set them in held (whatever the order says), then
 * sort.  False: there are cycles, and the graph is of no more use.
 */
void fm_channels_set(struct fm_channels *c, fm_arc a, fm_arc b);
bool fm_channels_sort(struct fm_channels *c);

#endif
