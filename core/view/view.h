/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view.h - what the SA answers from: the subnet as last committed.
 *
 * Immutable, shared by reference count, made in two steps when a sweep has ended:
 *
 *	the loop	inventory --begin--> nodes, ports	(what the sweep may change)
 *	the worker	+ plan, P_Keys --finish--> ends, what links carry, rows of paths
 *			--sa_slot--> the SA's thread
 *
 * Nodes that look as they did are shared with the view before, as are blocks of
 * rows, so a view costs what has changed and a comparison of the rest.
 *
 * Ports with a LID of their own (CAs, routers, port 0 of switches) are the
 * `ends` here, by ascending base LID; an end answers to LIDs lid..lid+2^lmc-1.
 */
#ifndef CORE_VIEW_VIEW_H
#define CORE_VIEW_VIEW_H

#include <pthread.h>

#include "core/mcast/mft_rows.h"
#include "core/plan/plan.h"
#include "core/subnet/partitions.h"
#include "core/subnet/prefix_routes.h"
#include "core/subnet/qos.h"
#include "core/subnet/untrusted.h"
#include "core/inventory/inventory.h"
#include "core/view/path_pairs.h"
#include "core/view/rows.h"
#include "core/wire/sa_wire.h"

/* A port of a node as the last sweep left it. */
struct sa_port {
	struct wire_port_info info;
	uint32_t peer; /* node, INV_NONE */
	uint8_t peer_port;
	bool known; /* info was read */
	uint8_t lmc;
	uint16_t lid;		 /* base LID given to it, 0: none */
	uint64_t guid;		 /* CA, router, switch port 0 */
	struct pkey_held *pkeys; /* a reference, or NULL: not known */
};

struct sa_node { /* shared by views, by the slot of the inventory */
	atomic_uint refs;
	struct wire_node_info info;
	struct wire_switch_info sw; /* switches */
	fm_sw sw_index;		    /* switches, in the plan; FM_NONE */
	uint16_t lid;		    /* switches: of port 0 */
	uint8_t desc[64];	    /* NodeDescription */
	char name[65];		    /* what it is called */
	uint32_t n_ports;	    /* port[0..n_ports]; 0: switches only */
	struct sa_port port[];
};

struct sa_end {
	uint64_t guid;
	uint32_t node;	     /* slot */
	fm_sw sw;	     /* that it hangs off, or is; FM_NONE: cabled straight to another end */
	uint16_t lid, pkeys; /* pkeys: index of its set in sa_view.pkeys */
	uint8_t port;	     /* of the node */
	uint8_t lmc, sw_port, attr; /* attr: of its link, index in sa_view.attr */
	bool is_switch;
};

struct sa_other_sm {
	uint16_t lid;
	struct wire_sm_info info;
};

/* What the administrator wants of the SA; copied into each view. */
struct sa_settings {
	uint64_t gid_prefix, sm_key, sa_key; /* sa_key: who shows it is trusted */
	enum sa_untrusted untrusted;
	uint8_t subnet_timeout;
	uint8_t path_life; /* code: 4.096 us * 2^n, for paths of any length */
	uint8_t max_rate;  /* code: no path is told to have one above it; 0: any */
	enum sa_path_select path_select;
	bool qos_sls;	       /* SLs by partition and policy, where the engine leaves them free */
	const struct qos *qos; /* NULL: SLs spread evenly; each view has a copy */
	const struct qos_policy *policy;     /* NULL: none; each view has a reference */
	const struct partitions *partitions; /* the same */
	const struct vfabrics *vfabrics;     /* whose members some of them are; NULL: none.
					      * Borrowed, for what was kept (kept.h) */
	uint32_t most_paths; /* that a query may look at; 0: 4194304, half a second's work */
	uint32_t slice;	     /* of a table: records looked at, and steps; 0: 8192, a millisecond */
	/* where packets for other subnets go, first that fits; borrowed while a view is built */
	const struct sa_prefix_route *route; /* [n_routes] */
	uint32_t n_routes;
};
/* What a view was made of: the less it is believed, the higher. */
enum sa_view_basis {
	SA_VIEW_READ,	   /* what the last sweep has read */
	SA_VIEW_INHERITED, /* what the master kept whom we follow: we rule, nothing is read yet */
	SA_VIEW_KEPT,	   /* what was kept over a restart: who rules is not known yet */
};
struct sa_view {
	atomic_uint refs;
	uint64_t number; /* ascending */
	struct sa_settings set;
	enum sa_view_basis basis;
	struct plan *plan;	       /* NULL: no switches, or none routed */
	struct fm_tables tables;       /* the plan's, less what switches have not taken of it */
	struct port_pkeys *port_pkeys; /* NULL: all are full members of the default partition */
	uint32_t local;		       /* node that we sit at, INV_NONE */
	uint8_t local_port;
	struct rows *rows; /* NULL without a plan */
	bool levels;	   /* the plan's SLs are of two levels of quality (tables_vls.h) */
	uint32_t n_nodes, n_here;
	struct sa_node **node; /* [n_nodes] by slot, NULL: gone */
	uint32_t n_ends;
	struct sa_end *end; /* [n_ends] ascending lid */
	uint32_t *lid_end;  /* [65536] end, FM_NONE */
	struct fm_hash end_by_guid;
	/* what links of the plan's fabric carry: kinds, and the kind of each */
	uint32_t n_attrs;
	struct path_attr attr[ROWS_MOST_ATTRS];
	uint8_t *link_attr, *end_attr;	/* [n_links], [n_ends of the plan] */
	uint32_t *sw_node;		/* [n_switches of the plan] slot, FM_NONE: gone */
	FM_VEC(struct pkey_list) pkeys; /* sets: ends share them */
	uint32_t n_sms;
	struct sa_other_sm *sm; /* [n_sms] ours first */
	uint32_t self;		/* our own end, FM_NONE */
	struct fm_arena mem;
};

struct sa_view_source {
	const struct inventory *inv;
	struct plan *plan; /* committed; NULL: none */
	/* NULL, or what switches hold in the place of what the plan says */
	const struct plan_installed *installed; /* [n_installed] */
	size_t n_installed;
	const struct sa_settings *set;
	const struct sa_other_sm *sm;
	uint32_t n_sms;
	struct port_pkeys *pkeys; /* NULL: all are full members of the default partition */
	enum sa_view_basis basis; /* of inv and plan */
	struct sa_view *prev;	  /* NULL, or a view, perhaps only begun: equal nodes are shared */
};
/* All that has to be copied while the sweep leaves it alone: one reference in *out, which is
 * nothing to answer from yet.  O(ports) compared.  FM_E_RESOURCE. */
int sa_view_begin(const struct sa_view_source *src, struct sa_view **out, struct fm_error *err);
/* The rest, on any thread.  prev: NULL, or a view that is finished, to share rows with. */
int sa_view_finish(
    struct sa_view *v, struct sa_view *prev, struct fm_pool *workers, struct fm_error *err);
struct sa_view *sa_view_get(struct sa_view *v);
void sa_view_put(struct sa_view *v); /* NULL is fine */

/* The end that owns a LID, FM_NONE. */
static inline uint32_t
sa_view_end_of_lid(const struct sa_view *v, uint16_t lid)
{
	return v->lid_end[lid];
}
/* The end of a port GUID, FM_NONE.  O(1). */
uint32_t sa_view_end_of_guid(const struct sa_view *v, uint64_t guid);
bool sa_gid_is_ours(const struct sa_view *v, struct sa_gid gid);
/* Of a GID of this subnet (its prefix, the default one, or 0). */
uint32_t sa_view_end_of_gid(const struct sa_view *v, struct sa_gid gid);
/* What the administrator wants of a port of a node, NULL: nothing. */
const struct qos_tables *sa_view_qos(const struct sa_view *v, uint32_t node, unsigned port);
/* SL to VL of what leaves node by `out` and came in by `in`: the engine's word between
 * switches where it needs VLs, and on hosts' links where it has levels of quality; else the
 * administrator's, else SLs modulo VLs. */
void sa_view_sl2vl(
    const struct sa_view *v, uint32_t node, unsigned in, unsigned out, uint8_t *vl /* [16] */);
/* The P_Key of a packet from a to b, as pkeys_common(); want not 0: only this one.  0: none. */
uint16_t sa_view_shared_pkey(const struct sa_view *v, uint32_t a, uint32_t b, uint16_t want);

/* The current view, and, since joins change them between views, the multicast tables: put
 * by the loop, taken by who answers.  Any thread. */
struct sa_slot {
	pthread_mutex_t lock; /* held for a reference count only */
	struct sa_view *view;
	struct mft_rows *mfts;
};
void sa_slot_init(struct sa_slot *s);
void sa_slot_fini(struct sa_slot *s);
void sa_slot_set(struct sa_slot *s, struct sa_view *v);	      /* takes the caller's reference */
struct sa_view *sa_slot_get(struct sa_slot *s);		      /* a reference, or NULL */
void sa_slot_set_mfts(struct sa_slot *s, struct mft_rows *r); /* a reference of its own */
struct mft_rows *sa_slot_mfts(struct sa_slot *s);	      /* a reference, or NULL */

#endif
