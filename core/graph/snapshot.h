/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/snapshot.h - building and sharing struct fm_fabric.
 *
 * A snapshot is built once (from a netlist or from the inventory), never
 * modified, reference counted, and freed as a whole.
 */
#ifndef CORE_GRAPH_SNAPSHOT_H
#define CORE_GRAPH_SNAPSHOT_H

#include <stdatomic.h>
#include <string.h>

#include <fmd/engine.h>

#include "lib/arena.h"
#include "lib/hash.h"
#include "lib/vec.h"

struct snapshot {
	struct fm_fabric fab; /* what engines see */
	atomic_uint refs;
	uint32_t n_components;	      /* of switches that have links or ends */
	const uint32_t *sw_component; /* [n_switches] */
	struct fm_hash sw_by_guid;    /* node GUID -> fm_sw; the base's, perhaps */
	/* Port p of switch sw, 0..sw_n_ports[sw], is number sw_first_port[sw] + p of all. */
	const uint32_t *sw_first_port; /* [n_switches + 1] */
	/* [sw_first_port[n_switches]] which of the switch's links leaves by the port, from its
	 * sw_first_link on; a byte, and right as long as the switch keeps its links */
	const uint8_t *port_slot;
	/* What nodes say of themselves, where they are called otherwise; [n_switches], [n_ends] */
	const char *const *sw_desc, *const *end_desc;
	const uint32_t *end_mbps; /* [n_ends] of its cable, 0: not known; NULL: of none is */
	struct snapshot *base;	  /* NULL, or whose names and arrays this one uses too */
	struct fm_arena mem;
};

static inline struct snapshot *
snapshot_get(struct snapshot *s)
{
	atomic_fetch_add(&s->refs, 1);
	return s;
}
void snapshot_put(struct snapshot *s); /* NULL is fine */

#define SNAPSHOT_NO_SLOT 255 /* no switch is behind the port; a switch has 254 at most */

/* The link that leaves sw by this port, and the switch behind the port; FM_NONE where no switch is
 * behind it, or the switch has no such port.  O(1). */
static inline fm_link
snapshot_link_at(const struct snapshot *s, fm_sw sw, uint32_t port)
{
	uint8_t slot = port <= s->fab.sw_n_ports[sw] ? s->port_slot[s->sw_first_port[sw] + port]
						     : SNAPSHOT_NO_SLOT;

	return slot != SNAPSHOT_NO_SLOT ? s->fab.sw_first_link[sw] + slot : FM_NONE;
}
static inline fm_sw
snapshot_switch_at(const struct snapshot *s, fm_sw sw, uint32_t port)
{
	fm_link l = snapshot_link_at(s, sw, port);

	return l != FM_NONE ? s->fab.link_to[l] : FM_NONE;
}

/* The parts as they are collected; any order, sorted by snapshot_build().
 * Names are borrowed until then. */
struct snapshot_switch {
	uint64_t guid, system_guid;
	const char *name;
	uint8_t n_ports;
	const char *desc; /* NULL: its name */
	uint32_t vendor_id;
	uint16_t device_id;
	uint16_t lft_entries; /* LinearFDBCap, 0: not known */
	uint16_t ar_groups;   /* SNAPSHOT_AR_UNKNOWN, or as many as it can hold */
};
#define SNAPSHOT_AR_UNKNOWN UINT16_MAX
struct snapshot_end {
	uint64_t guid, node_guid, system_guid;
	const char *name;
	uint32_t sw; /* index of the add, FM_NONE: cabled to another end */
	uint16_t lid;
	uint8_t port, lmc, kind, n_vls;
	const char *desc; /* NULL: its name */
	uint32_t mbps;	  /* of its cable, 0: not known */
};
/* An in-network computing node (SHARP) answers as a CA: its description tells. */
static inline bool
snapshot_is_aggregator(const char *desc)
{
	return strstr(desc, "Aggregation Node") != NULL;
}
struct snapshot_cable {
	uint32_t sw[2]; /* index of the add */
	uint8_t port[2];
	uint8_t n_vls;
	uint32_t mbps, nominal_mbps;
};
struct snapshot_builder {
	FM_VEC(struct snapshot_switch) switches;
	FM_VEC(struct snapshot_end) ends;
	FM_VEC(struct snapshot_cable) cables; /* switch to switch, once each */
	/* Switches keep the index they are added with.  A first builder should
	 * add them in ascending GUID order, so that a fabric is numbered alike
	 * however it was found. */
};
void snapshot_builder_fini(struct snapshot_builder *b);
/* A part as it is in s, for another snapshot; its names are borrowed from s. */
struct snapshot_switch snapshot_switch_of(const struct snapshot *s, fm_sw sw);
struct snapshot_end snapshot_end_of(const struct snapshot *s, fm_end e);
/* Refuses: a port used twice or beyond n_ports, two ends with one LID, a LID
 * above 0xBFFF or not aligned to its LMC.  A cable from a switch to itself is
 * left out with a warning.  O(parts log parts). */
int snapshot_build(const struct snapshot_builder *b, struct snapshot **out, struct fm_error *err);

/* Parts that are taken out; NULL: none. */
struct snapshot_loss {
	const uint64_t *links;	  /* [n_links] bits; either direction of a cable suffices */
	const uint64_t *switches; /* [n_switches] bits: with all their ends */
	const uint64_t *ends;	  /* [n_ends] bits */
};
/* base without these parts: what a build from the other parts gives, but quicker.
 * A switch keeps its number and has nothing left.  O(links).  FM_E_RESOURCE. */
int snapshot_without(struct snapshot *base, const struct snapshot_loss *loss, struct snapshot **out,
    struct fm_error *err);

/* The arrays of what a switch can hold and who made it, as they are filled; for who builds a
 * snapshot. */
struct snapshot_kinds {
	uint32_t *vendor_id;
	uint16_t *device_id, *lft_entries, *ar_groups;
};
/* Of snap->mem, for n switches, and those of its fabric.  False: out of memory. */
bool snapshot_make_kinds(struct snapshot *snap, uint32_t n, struct snapshot_kinds *kinds);

/* The arrays of links, as they are filled; for who builds a snapshot. */
struct snapshot_links {
	fm_link *first; /* [n_switches + 1]: fab->sw_first_link */
	fm_sw *to;
	fm_link *rev;
	uint8_t *port, *n_vls;
	uint32_t *mbps, *nominal_mbps;
};
/* Of snap->mem, zeroed, for so many switches and links.  False: out of memory. */
bool snapshot_make_links(
    struct snapshot *snap, uint32_t n_switches, uint32_t n_links, struct snapshot_links *links);
/* They are those of the fabric, n_links of them. */
void snapshot_set_links(
    struct snapshot *snap, const struct snapshot_links *links, uint32_t n_links);
/* Then the links of all switches are to be found by their ports.  False: out of memory. */
bool snapshot_index_ports(struct snapshot *snap);
/* Of one switch: its part of slot, a port_slot in the making. */
void snapshot_index_switch(const struct snapshot *snap, fm_sw sw, uint8_t *slot);

/* Number the connected components; a switch that is gone (no links, no ends) is in
 * none.  False: out of memory.  For who builds a snapshot. */
bool snapshot_find_components(struct snapshot *snap);
/* Of root and all switches that it is joined to, which have FM_NONE before; stack[n_switches] is
 * scratch. */
void snapshot_number_joined(
    const struct fm_fabric *fab, fm_sw root, uint32_t number, uint32_t *component, fm_sw *stack);

/* level[n_switches]: hops to the nearest switch with a CA or router, UINT32_MAX without
 * a way to one; queue[n_switches] is scratch.  Breadth first, O(links). */
void snapshot_find_levels(const struct fm_fabric *fab, uint32_t *level, fm_sw *queue);

#endif
