/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/fabric.h - the model: nodes, ports, cables, and what an SMP sees.
 *
 *	node n owns ports node[n].first_port + 0 .. + n_ports, as in a netlist;
 *	port 0 is the switch's own (unused in CAs and routers)
 *
 *	cable[port]  the port at the other end of the cable, SIM_NONE
 *	live[port]   the same while the link is up (INIT or better at both ends)
 *
 * Invariant: live[a] == b if and only if live[b] == a, and then both have a
 * port state other than DOWN.  The model knows the time (now_ns) but does not
 * advance it: what must happen later it asks of its owner through the hooks.
 * No network, no loss, no clients here: see net.h.
 */
#ifndef LAB_SIM_FABRIC_H
#define LAB_SIM_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/wire.h"
#include "lab/adaptive/adaptive.h"
#include "lab/cca/cca.h"
#include "lab/sim/bytes.h"
#include "lab/topo/netlist.h"
#include "lib/arena.h"
#include "lib/vec.h"

#define SIM_NONE UINT32_MAX
#define SIM_LFT_CAP 49152   /* LinearFDBCap: all unicast LIDs */
#define SIM_MCAST_CAP 1024  /* MulticastFDBCap */
#define SIM_PKEY_BLOCKS 2   /* PartitionCap 64 */
#define SIM_GUID_BLOCKS 1   /* GUIDCap 8 */
#define SIM_VL_ARB_BLOCKS 4 /* low 2, high 2 */
#define SIM_LID_HOPS_MAX 64 /* a longer LID-routed walk is a loop */
#define SIM_DR_HOPS_MAX 63
#define SIM_DETAILS_BYTES 54 /* DataDetails of a notice */
#define SIM_LANES 12	     /* of a port, at most */

/* Tables of a port that are seldom written; made at the first Set. */
struct sim_port_tables {
	uint8_t pkeys[SIM_PKEY_BLOCKS][64];
	uint8_t guids[SIM_GUID_BLOCKS][64];
	uint8_t vl_arb[SIM_VL_ARB_BLOCKS][64];
	uint8_t sl2vl[8]; /* CA, router, switch port 0; external ports: sim_node.sl2vl */
};

struct sim_port {
	uint8_t info[64]; /* PortInfo, wire order */
	uint64_t guid;
	struct sim_port_tables *tables; /* NULL = as at power-on */
	int64_t lease_end_ns;		/* M_Key lease runs out; 0 = it does not run */
	uint32_t n_reregister;		/* Sets that asked for ClientReregister */
	uint32_t n_sets;   /* SMPs that a program here has sent to other nodes, but SMInfo */
	float error_share; /* of the packets for this port that are lost */
	bool unplugged;	   /* the cable is pulled at this end */
};

/* A subnet manager that answers SMInfo and does nothing else. */
struct sim_sm {
	uint8_t priority, state; /* enum wire_sm_state */
	uint64_t key;
	uint32_t act_count;
};

/* A notice that is repeated until it is repressed (IBA 13.4.9). */
struct sim_trap {
	uint64_t tid;
	int64_t due_ns; /* when it is sent next; timers for other times are stale */
	uint8_t left;	/* how often yet; 0 = repressed, or given up */
};
enum sim_trap_slot {	       /* one a number: what happens while one waits rides on it */
	SIM_TRAP_LINK,	       /* 128 */
	SIM_TRAP_LOCAL,	       /* 144 */
	SIM_TRAP_INTEGRITY,    /* 129 */
	SIM_TRAP_OVERRUN,      /* 130 */
	SIM_TRAP_WATCHDOG,     /* 131 */
	SIM_TRAP_SYSTEM_GUID,  /* 145 */
	SIM_TRAP_M_KEY,	       /* 256 */
	SIM_TRAP_P_KEY,	       /* 257 */
	SIM_TRAP_Q_KEY,	       /* 258 */
	SIM_TRAP_SWITCH_P_KEY, /* 259 */
	SIM_TRAP_SLOTS
};

/* Counters of a port (pma.h). */
enum sim_counter {
	COUNT_SYMBOL_ERRORS,
	COUNT_LINK_RECOVERED,
	COUNT_LINK_DOWNED,
	COUNT_RCV_ERRORS,
	COUNT_REMOTE_PHYSICAL,
	COUNT_RELAY_ERRORS,
	COUNT_XMIT_DISCARDS,
	COUNT_XMIT_CONSTRAINT,
	COUNT_RCV_CONSTRAINT,
	COUNT_LINK_INTEGRITY,
	COUNT_BUFFER_OVERRUN,
	COUNT_VL15_DROPPED,
	COUNT_XMIT_DATA, /* 4 bytes */
	COUNT_RCV_DATA,
	COUNT_XMIT_PACKETS,
	COUNT_RCV_PACKETS,
	COUNT_XMIT_WAIT,
	COUNT_UNICAST_XMIT,
	COUNT_UNICAST_RCV,
	COUNT_MULTICAST_XMIT,
	COUNT_MULTICAST_RCV,
	COUNT_QP1_DROPPED,
	COUNT_SYNC_HEADER, /* from here on of PortExtendedSpeedsCounters */
	COUNT_UNKNOWN_BLOCK,
	COUNT_LANE_ERRORS, /* the first of SIM_LANES, as the next two */
	COUNT_FEC_CORRECTED = COUNT_LANE_ERRORS + SIM_LANES,
	COUNT_FEC_UNCORRECTED = COUNT_FEC_CORRECTED + SIM_LANES,
	COUNT_PORT_FEC_CORRECTED = COUNT_FEC_UNCORRECTED + SIM_LANES,
	COUNT_PORT_FEC_UNCORRECTED,
	COUNT_PORT_FEC_SYMBOLS,
	SIM_COUNTERS
};

/* What every packet touches is in the first 64 bytes. */
struct sim_node {
	uint32_t first_port;
	uint8_t n_ports, type; /* enum wire_node_type */
	bool silent;	       /* links work, the SMA does not answer */
	bool refuses;	       /* the SMA answers each Set with an error */
	bool off;	       /* being rebooted */
	bool aggregation;      /* a CA for in-network computing, inside its switch */
	bool no_lid_smps;      /* LID-routed SMPs to it are lost */
	bool no_mixed_smps;    /* mixed SMPs get no further than to it */
	uint8_t port_states;   /* enum sim_port_states */
	int64_t busy_until_ns; /* its SMA handles one SMP at a time */
	FM_VEC(uint8_t) lft;   /* [n] port per LID; beyond n: 255 */
	uint64_t guid;
	const char *id;
	uint8_t switch_info[64], node_info[64], desc[64]; /* wire order */
	uint8_t *mft;	   /* [position][block of 32 MLIDs][64], NULL = all zero */
	uint8_t *sl2vl;	   /* [in * (n_ports + 1) + out][8], NULL = all zero */
	struct sim_sm *sm; /* NULL = none */
	struct sim_trap traps[SIM_TRAP_SLOTS];
	uint8_t (*details)[SIM_DETAILS_BYTES]; /* [SIM_TRAP_SLOTS], NULL = none yet */
	uint16_t local_changes;		       /* flags of trap 144 */
	struct sim_pma *pma;		       /* NULL = as most (pma.h) */
	struct adaptive *adaptive;	       /* NULL = by its LFT alone */
	struct cca *cca; /* [n_ports], a switch: [1]; NULL = as a new one (fabric_cca()) */
} __attribute__((aligned(64)));

/* The table of the states of its ports (SwitchPortStateTable) that a switch has. */
enum sim_port_states {
	SIM_STATES_TRUE,
	SIM_STATES_NONE,    /* it does not say that it has one, and has none */
	SIM_STATES_REFUSED, /* from here on it says that it has one: and answers with a status */
	SIM_STATES_SILENT,  /* ... and does not answer */
	SIM_STATES_ZERO,    /* ... with zeros */
	SIM_STATES_STUCK    /* ... as if each port were ACTIVE, or DOWN, as its link once was */
};

/* Ports differ in what Set may write. */
enum sim_port_kind { SIM_PORT_END, SIM_PORT_INTERNAL, SIM_PORT_EXTERNAL, SIM_PORT_KINDS };

struct sim_hooks {
	/* The link at this port may come up again: call fabric_train() later. */
	void (*retrain)(void *arg, uint32_t port);
	/* The link at this port is to go down when the answer is on its way:
	 * call fabric_drop(, , true) soon.  NULL: it goes at once. */
	void (*fall)(void *arg, uint32_t port);
	/* Something a trap tells of happened at the node. */
	void (*notice)(void *arg, uint32_t node, enum sim_trap_slot slot);
	void *arg;
};

struct sim_fabric {
	struct sim_node *nodes;		    /* [n_nodes] */
	struct sim_port *ports;		    /* [n_ports] */
	uint32_t *live, *cable;		    /* [n_ports] */
	uint64_t (*counters)[SIM_COUNTERS]; /* [n_ports], NULL = nothing is counted */
	uint32_t *port_node;		    /* [n_ports] */
	uint32_t n_nodes, n_ports;
	struct fm_arena arena;	/* all of the above and the lazy tables */
	struct fm_hash by_guid; /* node and port GUIDs -> node */
	struct sim_hooks hooks;
	uint8_t write_mask[SIM_PORT_KINDS][64]; /* PortInfo, ones where Set writes */
	uint8_t smp_state;			/* of links that take LID-routed SMPs, at least */
	bool no_mixed_smps;			/* all are lost */
	bool has_adaptive;			/* some switch routes adaptively, or did */
	int64_t now_ns;
};

/* A node and a port of it. */
struct sim_place {
	uint32_t node;
	uint8_t port;
};

static inline struct sim_port *
fabric_port(const struct sim_fabric *f, uint32_t node, unsigned port)
{
	return &f->ports[f->nodes[node].first_port + port];
}
static inline uint8_t
port_number(const struct sim_fabric *f, uint32_t port)
{
	return (uint8_t)(port - f->nodes[f->port_node[port]].first_port);
}
static inline uint8_t
port_state(const struct sim_port *p)
{
	return p->info[PORT_INFO_SPEED_SUPPORTED_STATE] & 0xf;
}
static inline uint8_t
port_phys(const struct sim_port *p)
{
	return p->info[PORT_INFO_PHYS_DEFAULT] >> 4;
}

/* Copies what it needs of nl.  All links are trained, nothing is configured. */
int fabric_init(struct sim_fabric *f, const struct netlist *nl, struct fm_error *err);
void fabric_fini(struct sim_fabric *f);
/* The node named so in the file, or with this GUID ("0x..."); SIM_NONE. */
uint32_t fabric_find(const struct sim_fabric *f, const char *name);

/* ---- power and links (link.c) */
/* Everything a node forgets without power: tables, LIDs, states. */
void fabric_power_on(struct sim_fabric *f, uint32_t node);
/* Bring the link up if both ends are willing: INIT at both. */
void fabric_train(struct sim_fabric *f, uint32_t port);
/* The link at this port goes down, both ends. by_set: PortStateChange of this
 * port's switch stays as it is (IBA 14.2.5.4). */
void fabric_drop(struct sim_fabric *f, uint32_t port, bool by_set);
/* Another cable: what was at either end is gone.  SIM_NONE: none. */
void fabric_cable(struct sim_fabric *f, uint32_t port, uint32_t peer);
/* What the cable of the port runs at, at both ends; what these support stays. */
void fabric_set_rate(struct sim_fabric *f, uint32_t port, struct wire_rate r);
/* PortInfo:PortState and PortPhysicalState as Set asks for; false: not legal. */
bool fabric_may_change(const struct sim_fabric *f, uint32_t port, uint8_t state, uint8_t phys);
void fabric_change(struct sim_fabric *f, uint32_t port, uint8_t state, uint8_t phys);

/* IsSM in the CapabilityMask of the port. */
void fabric_set_is_sm(struct sim_fabric *f, uint32_t port, bool on);

/* ---- notices (notice.c): each of them fills in DataDetails and asks for a trap */
/* A request SMP was refused at this place for its M_Key. */
void notice_m_key(struct sim_fabric *f, struct sim_place at, const uint8_t *mad);
/* A packet with a P_Key or Q_Key that does not fit arrived at a port of an end. */
struct sim_bad_key {
	uint16_t slid, dlid;
	uint32_t key, qpn;
	uint8_t sl;
};
void notice_bad_key(struct sim_fabric *f, struct sim_place at, enum sim_trap_slot slot,
    const struct sim_bad_key *k);
/* A switch has dropped one at this external port (trap 259). */
void notice_switch_p_key(struct sim_fabric *f, struct sim_place at, const struct sim_bad_key *k);
/* 129, 130, 131 of a port; 145: its SystemImageGUID has changed. */
void notice_port(struct sim_fabric *f, struct sim_place at, enum sim_trap_slot slot);
void notice_system_guid(struct sim_fabric *f, uint32_t node, uint64_t guid);

/* ---- adaptive routing (walk.c) */
/* The ports by any of which a packet to the LID may leave the switch now by its group, in ascending
 * order; 0: the LFT says where.  O(ports) */
unsigned switch_ports_to(
    const struct sim_fabric *f, const struct sim_node *n, uint16_t lid, uint8_t port[254]);

/* ---- congestion control */
/* The agent at a place, made when it is first asked for; NULL: no memory. */
struct cca *fabric_cca(struct sim_fabric *f, struct sim_place at);

/* ---- partitions (walk.c) */
uint16_t port_pkey(const struct sim_fabric *f, uint32_t port, unsigned index); /* 0 = none */
/* Where in the port's table is what lets a packet with this P_Key pass?  -1: not. */
int port_find_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey);
/* Does a switch port that enforces let it pass? */
bool port_passes_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey);

/* ---- ways (walk.c): each ends at a place and counts links; false = lost on the way */
struct sim_way {
	struct sim_place at;
	unsigned n_hops;     /* links travelled */
	unsigned n_directed; /* of them, by a directed route */
	uint16_t slid;	/* of the last LID-routed part: where its answer goes; else permissive */
	uint64_t bytes; /* of the packet or packets that travel, to be counted; 0 = a look */
	uint64_t packets;
	uint16_t pkey; /* of the packet; switches that enforce look at it; 0 = an SMP */
	bool is_multicast;
	bool bad_pkey; /* lost: a switch has dropped it here for its P_Key */
	uint16_t mtu;  /* payload of its packets, against NeighborMTU; 0 = fits anywhere */
	/* By it switches that route adaptively choose among the ports of a group; 0: they do not,
	 * and send it by their LFT */
	uint64_t draw;
	uint32_t
	    *out; /* [SIM_LID_HOPS_MAX] ports that it leaves by, one per link; NULL: not kept */
	/* Lost: the port and the counter that a packet dropped there is counted by. */
	struct {
		uint32_t port; /* SIM_NONE: none is */
		enum sim_counter counter;
	} dropped;
};
/* Follow the LFTs from a place to whoever has the LID; min_state: what links must
 * be in (VL15 passes in INIT, data in ACTIVE only). */
bool walk_lid(const struct sim_fabric *f, uint16_t lid, uint8_t min_state, struct sim_way *way);
/* A request SMP from way->at: directed, LID-routed or mixed.  Fills the return
 * path of a directed one. */
bool walk_request(const struct sim_fabric *f, uint8_t *mad, uint16_t dlid, struct sim_way *way);
/* The answer to it, from way->at back; dlid: the slid that the request came with. */
bool walk_reply(const struct sim_fabric *f, uint8_t *mad, uint16_t dlid, struct sim_way *way);
/* A packet to a multicast LID, by the MFTs, on ACTIVE links: reach() is called
 * for every copy that comes to an end or a switch's port 0.  False: the tables
 * send copies round and round, and the walk was given up. */
typedef void (*walk_reach_fn)(void *arg, const struct sim_way *way);
bool walk_multicast(const struct sim_fabric *f, uint16_t mlid, const struct sim_way *from,
    walk_reach_fn reach, void *arg);
/* The LID by which a packet sent at this place is known. */
uint16_t place_lid(const struct sim_fabric *f, struct sim_place at);

#endif
