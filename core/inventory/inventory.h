/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/inventory.h - what was seen on the wire: nodes, ports, cables.
 *
 * The mutable, MAD-side picture of the fabric.  Only the sweep changes it;
 * routing sees an immutable snapshot made from it (model.c).
 *
 * A node keeps its slot (and a switch its index for engines) while the
 * process lives; one that is gone is not `present`.  A slot keeps its type and
 * number of ports: a node that comes back with others gets another slot.  Slots
 * are found by node GUID.  Pointers to nodes are good until the next inv_add().
 */
#ifndef CORE_INVENTORY_INVENTORY_H
#define CORE_INVENTORY_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lib/arena.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define INV_NONE UINT32_MAX
#define INV_PORTS_MAX 254

/* What is known of the far end of a port. */
enum inv_edge {
	EDGE_NONE,   /* nothing plugged in, or not asked yet */
	EDGE_WAS,    /* linked in the discovery before: peer and peer_port are those of then */
	EDGE_ASKED,  /* NodeInfo is on its way */
	EDGE_LINKED, /* peer and peer_port hold, at both ends */
	EDGE_SILENT, /* link up, but nobody answers; peer: who was there, if that is known */
	EDGE_LOOP,   /* leads back to the same switch, to its peer_port */
	/* Leads to a node with a GUID of peer's (of its port peer_port), which is elsewhere */
	EDGE_DUPLICATE
};

/* Why one who answers behind a port is not believed: it is left out, EDGE_SILENT. */
enum inv_disbelief {
	BELIEVED, /* or nobody answers */
	CLAIMS_NO_GUID,
	CLAIMS_NO_PORT_GUID,
	CLAIMS_NO_TYPE,
	CLAIMS_NO_PORTS,
	CLAIMS_NO_SUCH_PORT,
	CLAIMS_NEW_GUIDS, /* discover.c */
	N_DISBELIEFS
};
/* What it claims: "a node GUID of 0". */
const char *inv_disbelief_text(enum inv_disbelief why);

/* What the linear forwarding table of a switch holds. */
enum inv_lft {
	LFT_FOREIGN, /* another SM may have written it, or fmd before it was started; read */
	LFT_UNKNOWN, /* read before writing */
	LFT_BLANK,   /* a switch fresh from reset: write without reading */
	LFT_OURS     /* rows of the plan applied last, but for blocks in doubt */
};

/* What its multicast forwarding table holds. */
enum inv_mft {
	MFT_UNKNOWN, /* to be read */
	MFT_EMPTY,   /* fresh from reset, not noted yet (mcast.c) */
	MFT_KNOWN
};

/* SL2VL and VLArb of a port as output, beside what the plan wants (qos.c). */
enum inv_maps {
	MAPS_DUE,
	MAPS_OF_NO_LINK, /* they hold it, but the plan knew no cable there */
	MAPS_DONE
};

/* What hosts have registered with the SA since the port came up. */
enum inv_registration {
	REG_NONE,      /* nothing that we know of */
	REG_BEFORE_US, /* it was in use already when we first saw it */
	REG_ASKED      /* ClientReregister has been sent */
};

struct pkey_held; /* core/subnet/pkey_table.h */

/* A cable between switches that has gone down more than once within a minute (flaps.h). */
enum inv_flap_state {
	FLAP_PAST, /* it is used like any other; what was is remembered */
	FLAP_HELD, /* for a moment: it has gone down twice */
	FLAP_OUT   /* thrice */
};
struct inv_flap {
	int64_t until_ms; /* held, out: by the clock of the transport; past: it ended then */
	int64_t still_ms; /* so long it is, or was, to be still */
	uint32_t slot[2];
	uint32_t n_falls[2]; /* seen at each end since it was last used like any other */
	uint8_t port[2];
	uint8_t n_times; /* that it was left out, and that is not forgotten */
	uint8_t state;	 /* enum inv_flap_state */
	bool only_way;	 /* it is used all the same */
};

struct inv_port {
	struct wire_port_info info;   /* as last reported, when `known` */
	uint64_t m_key;		      /* that opens it, when not the fabric's (mkeys.c); 0: it is */
	uint64_t guid;		      /* port GUID: CA, router, switch port 0 */
	struct pkey_held *pkeys;      /* its table as it is; NULL: fmd has not looked at it */
	uint32_t peer;		      /* node at the other end, by `edge`; INV_NONE */
	uint64_t read_seq, doubt_seq; /* observe.h */
	uint32_t refused;	      /* rows of the field table that this port will not take */
	uint32_t n_falls;	      /* times that its link was seen to have come up anew */
	uint32_t flap;		      /* inventory.flaps[flap - 1] is of its cable; 0: none */
	int64_t fell_ms[2];	      /* the last two times, transport clock (flaps.h); 0: none */
	uint16_t lid;		      /* base LID given by us, 0 = none yet */
	uint8_t peer_port;
	uint8_t edge; /* enum inv_edge */
	uint8_t lmc;
	uint8_t disbelief;    /* enum inv_disbelief: of what is cabled to it */
	uint8_t maps;	      /* enum inv_maps */
	uint8_t registration; /* enum inv_registration */
	bool known;
	bool foreign_key; /* under an M_Key that we do not know */
	bool stopped;	  /* we have disabled it (babbling_port_policy), and so it was last read */
	bool repaths;	  /* its paths carry other SLs than it was told: it is to ask again */
	bool late_probe;  /* who is behind it has been asked, and the answer is late (ask/late.h) */
	bool pkeys_done;  /* the table is right; a switch port to a host may enforce it */
	bool congestion_read; /* what its agent holds was asked for since it came up */
	bool aliases_done;    /* its alias GUIDs were asked for since it came up */
	bool maps_in_done;    /* SL2VL of what comes in here are right, by all outputs */
	bool raised;  /* of a switch: fmd has brought its link up since it last told of changes */
	bool follows; /* its neighbour is made active first (links.c) */
};

/* LID-routed SMPs to a switch, and mixed ones that turn directed there (lid_route.c). */
struct inv_by_lid {
	bool takes, on_trial;	 /* it has answered one; one is out */
	bool fails, mixed_fails; /* they were lost, and directed ones are answered */
	bool inactive;		 /* over links not all of which are ACTIVE ... */
	uint32_t epoch;		 /* ... there is a road to it */
	uint64_t redirect_seq;	 /* requests up to this one are put again, directed */
};

struct inv_node {
	uint64_t guid, system_guid;
	uint64_t lft_doubt[12]; /* bitset over the 768 blocks: what is in the switch is not known */
	struct inv_port *ports; /* [n_ports + 1]; port 0: switches only */
	struct wire_switch_info sw; /* as last reported, when sw_known */
	struct wire_node_info info;
	uint64_t sw_read_seq, sw_doubt_seq; /* of SwitchInfo: observe.h */
	uint64_t came_seq;    /* number of the last request before it came, new or back */
	uint32_t seen_in;     /* number of the discovery that last saw it */
	uint32_t generation;  /* raised when it is gone, or another node or place is meant */
	uint32_t older;	      /* slot of what had this GUID and another type or number of ports */
	uint64_t first_in;    /* number of the sweep that first saw it, since it was last gone */
	int64_t heard_ns;     /* its last answer, transport clock (well.h) */
	uint64_t disputed_in; /* number of the sweep that has met another node of its GUID */
	uint32_t sw_index;   /* index of a switch for engines, INV_NONE before the first snapshot */
	uint32_t sw_refused; /* rows of the switch field table it will not take */
	uint8_t type;	     /* enum wire_node_type */
	uint8_t n_ports;
	uint8_t n_hops;		       /* switches: directed route of */
	uint8_t path[DR_MAX_HOPS + 1]; /* path[1..n_hops] */
	uint8_t lft;		       /* enum inv_lft */
	uint8_t mft;		       /* enum inv_mft */
	uint8_t n_unheard;	 /* questions it has left unanswered since it was last heard */
	uint8_t n_reads;	 /* times it was read again in this sweep, bounded */
	uint8_t n_states_missed; /* times in a row that it did not tell the states of its ports */
	bool states_doubted;	 /* those of its ports: they are to be asked for (doubt.h) */
	bool doubted;		 /* it is in the list of nodes to be read again */
	bool desc_doubted;	 /* a switch: it has said that something of its own has changed */
	bool raised;		 /* a port of it is */
	bool fell;		 /* a port of it was read that is not above INIT any more */
	bool lft_remembered;	 /* silent: its rows are the last plan's, or held ones */
	bool owes_maps;		 /* its SL2VL may not be the last plan's (owed.c) */
	bool present;
	bool sw_known;
	bool silent; /* left out of this sweep: it did not answer what must be known */
	bool quiet;  /* a question to it ran out of tries: nothing more is asked in this sweep */
	struct inv_by_lid by_lid;
	uint32_t n_late;     /* reads of it that are out, or taken by the next sweep (ask/late.h) */
	uint64_t silent_way; /* stands for the route by which it did not answer */
	bool was_silent;     /* in the sweep before */
	uint64_t silent_in;  /* number of the sweep that has counted it as silent */
	bool warned;   /* its silence has been told; not again before a sweep in which it answers */
	char desc[65]; /* NodeDescription */
	char name[65]; /* what it is called: by the name map, or its description */
};

struct name_map;

struct inventory {
	FM_VEC(struct inv_node) nodes;
	const struct name_map *names; /* borrowed; NULL: nodes have no other names */
	struct fm_hash by_guid;	      /* node GUID -> slot */
	struct fm_hash by_port;	      /* port GUID -> slot * 256 + port */
	struct fm_arena mem;	      /* ports */
	uint32_t local;		      /* slot of our own node, INV_NONE before discovery */
	uint8_t local_port;	      /* our port (a switch: 0) */
	uint32_t n_switch_slots;
	uint64_t n_unlinked;	   /* links taken out since the start */
	struct fm_hash lid_owner;  /* base LID that we have given -> slot */
	FM_VEC(uint32_t) switches; /* sw_index -> slot */
	FM_VEC(struct inv_flap) flaps;
};

void inv_init(struct inventory *inv);
void inv_fini(struct inventory *inv);
/* Nodes are called by this map from now on, which is borrowed; NULL: by their descriptions. */
void inv_rename(struct inventory *inv, const struct name_map *names);
/* The node says this of itself: NodeDescription, 64 bytes. */
void inv_describe(struct inventory *inv, uint32_t slot, const uint8_t *desc);

/* The slot of guid, or INV_NONE. */
uint32_t inv_find(const struct inventory *inv, uint64_t guid);
/* The slot for what NodeInfo describes: found, or made anew; INV_NONE when
 * memory is out.  What had the GUID and another type or number of ports is gone. */
uint32_t inv_add(struct inventory *inv, const struct wire_node_info *info);
/* Who has a port GUID: its slot, and the port; INV_NONE: nobody who is present. */
uint32_t inv_find_port(const struct inventory *inv, uint64_t guid, uint8_t *port);
/* False: memory is out. */
bool inv_set_port_guid(struct inventory *inv, uint32_t node, uint8_t port, uint64_t guid);

void inv_link(struct inventory *inv, uint32_t a, uint8_t a_port, uint32_t b, uint8_t b_port);
/* Undo the link of a port, at both ends; the port's edge becomes `edge`. */
void inv_unlink(struct inventory *inv, uint32_t node, uint8_t port, enum inv_edge edge);
/* Forget every link of a node. */
void inv_unlink_all(struct inventory *inv, uint32_t node);
/* Its links are of the discovery before: EDGE_WAS, at both ends. */
void inv_age_links(struct inventory *inv, uint32_t node);

/* The directed route to a port of a node (a switch: to the switch).  False
 * when there is none of at most 63 hops. */
bool inv_route(const struct inventory *inv, uint32_t node, uint8_t port, struct smp_route *route);
/* route, and one hop further out of `port`. */
bool inv_route_beyond(
    const struct inventory *inv, uint32_t node, uint8_t port, struct smp_route *route);

/* The last switch on the directed route to a port of a node (a switch: to the switch),
 * INV_NONE when we sit at it. */
uint32_t inv_before(const struct inventory *inv, uint32_t node, uint8_t port);

/* Shortest directed routes over the links as they are, around switches that are silent where there
 * is another way; nodes that cannot be
 * reached any more are dropped (not present).  O(nodes + links).  False when memory is out. */
bool inv_find_routes(struct inventory *inv);

static inline struct inv_node *
inv_node(const struct inventory *inv, uint32_t slot)
{
	return &inv->nodes.item[slot];
}

static inline bool
inv_is_switch(const struct inv_node *n)
{
	return n->type == WIRE_NODE_SWITCH;
}

/* Is it, by all that NodeInfo says of a node, the one in the slot? */
static inline bool
inv_is(const struct inventory *inv, uint32_t slot, const struct wire_node_info *info)
{
	const struct inv_node *n = inv_node(inv, slot);

	return n->guid == info->node_guid && n->type == info->node_type &&
	    n->n_ports == info->n_ports;
}

/* Is the link of this port up, logically? */
static inline bool
inv_port_up(const struct inv_port *p)
{
	return p->known && p->info.port_state >= WIRE_PORT_INIT;
}

/* The rate that a port reports. */
struct wire_rate inv_rate(const struct inv_node *n, unsigned port);
/* The best that both ends of a port's cable support; 0 lanes: that is not known. */
struct wire_rate inv_best_rate(const struct inventory *inv, uint32_t slot, unsigned port);

/* Stands for the directed route to a switch. */
static inline uint64_t
inv_way(const struct inv_node *n)
{
	return fm_hash_bytes(1, n->path, (size_t)n->n_hops + 1);
}

/* Is what lies behind the port asked who it is: a port of a switch, our own? */
static inline bool
inv_walks(const struct inventory *inv, uint32_t slot, unsigned port)
{
	if (port == 0)
		return false;
	return inv_is_switch(inv_node(inv, slot)) ||
	    (slot == inv->local && port == inv->local_port);
}

/* Ports with a cable whose two ends are known. */
void inv_count_ports(const struct inventory *inv, uint32_t *n_active, uint32_t *n_not_active);

/* "name" (0x0123...), for the log; buf is returned. */
const char *inv_name(const struct inv_node *n, char *buf, size_t size);

/* Does this node take part: it answered all that is needed of it? */
static inline bool
node_usable(const struct inv_node *n)
{
	if (!n->present)
		return false;
	return !inv_is_switch(n) || (n->sw_known && n->ports[0].known);
}

/* A cable whose two ends both take part. */
static inline bool
link_usable(const struct inventory *inv, const struct inv_port *p)
{
	const struct inv_node *far;

	if (p->edge != EDGE_LINKED || !inv_port_up(p))
		return false;
	far = inv_node(inv, p->peer);
	return node_usable(far) && inv_port_up(&far->ports[p->peer_port]);
}

/* An end-port that is to have a LID. */
static inline bool
port_wants_lid(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);

	if (!node_usable(n))
		return false;
	if (inv_is_switch(n))
		return port == 0;
	return port != 0 && n->ports[port].known && link_usable(inv, &n->ports[port]);
}

#endif
