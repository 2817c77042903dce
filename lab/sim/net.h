/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/net.h - the network between agents and clients: time, loss, queues.
 *
 *	client ──send──► way through the fabric ──► agent ──► way back ──► client
 *	                   AT_NODE     SERVE                   AT_CLIENT  DELIVER
 *
 * A packet is walked through the fabric when it leaves and arrives after its
 * time; agents and clients take packets one at a time, in order of arrival,
 * so flooding one of them queues.  A client is a place where a program sits;
 * what it makes of arrivals is its own business (transport_sim.c).
 */
#ifndef LAB_SIM_NET_H
#define LAB_SIM_NET_H

#include <stdio.h>

#include "lab/sim/events.h"
#include "lab/sim/pma.h"
#include "lab/sim/sim.h"
#include "lib/rng.h"

struct sim_packet {
	struct mad mad;
	struct sim_place at;	   /* where it arrives */
	int64_t held_ns;	   /* it sets out so much later */
	uint16_t slid;		   /* by which it is answered */
	struct sim_client *client; /* to whom; NULL = the agent there */
	struct sim_packet *next;   /* in a free list or an inbox */
};

struct sim_client {
	struct sim *sim;
	struct sim_place at;
	struct sim_client *next;
	/* A packet is there: keep it (and free it later) or free it now. */
	void (*deliver)(struct sim_client *c, struct sim_packet *p);
	void (*expire)(struct sim_client *c); /* a timer of client_set_timer() */
	void (*free)(struct sim_client *c);
	int64_t busy_until_ns;
};

/* At `at_ns` something of the script happens. */
enum sim_action_kind {
	ACTION_UNLINK,
	ACTION_RELINK,
	ACTION_FLAP,
	ACTION_REBOOT,
	ACTION_SILENCE,
	ACTION_WAKE,
	ACTION_REFUSE,
	ACTION_OBEY,
	ACTION_DESCRIBE,
	ACTION_LOSS,
	ACTION_CLEAR,
	ACTION_LINK,
	ACTION_ERROR,
	ACTION_GUID,
	ACTION_PORTS,
	ACTION_LID,
	ACTION_TRAP,
	ACTION_TRAFFIC,
	ACTION_RATE,
	ACTION_COUNT,
	ACTION_FLOW,
	ACTION_PMA,
	ACTION_CONGESTION
};
struct sim_action {
	enum sim_action_kind kind;
	int64_t at_ns, for_ns; /* for_ns: how long a flap or reboot lasts */
	struct sim_place at, other;
	bool has_port; /* at.port was named */
	double loss;
	uint64_t value;
	struct wire_rate rate;
	const char *text; /* in the fabric's arena */
	uint8_t counter;  /* enum sim_counter; SIM_COUNTERS: all */
	bool adds;	  /* value is added to it */
	struct sim_pma pma;
};

/* A stream from one node to another that lasts (flow.c). */
struct sim_flow {
	uint32_t from, to;	    /* nodes */
	uint64_t asked, got;	    /* bytes a second */
	uint64_t left;		    /* millionths of a byte that are in no packet yet */
	uint32_t first_hop, n_hops; /* in sim_flows.hops */
	uint32_t cut_at;	    /* the hop that bounds it; n_hops: none does */
	uint32_t drop_port;	    /* where it ends on the way; SIM_NONE: it arrives */
	enum sim_counter drop_counter;
	bool is_open; /* what it gets is not known yet */
};

/* A port at which flows wait. */
struct sim_wait {
	uint32_t port, share; /* millionths of the time */
};

/* What flows take of a port, while it is worked out. */
struct sim_take {
	uint64_t left;	  /* bytes a second that nobody has */
	uint64_t asked;	  /* by all */
	uint64_t held;	  /* ... of it is held back, here or further on */
	uint64_t wait_ps; /* that are no whole tick yet; kept */
	uint32_t n_open;  /* flows that may yet get more */
};

struct sim_flows {
	FM_VEC(struct sim_flow) flow;
	FM_VEC(uint32_t) hops; /* ports that flows leave by */
	FM_VEC(struct sim_wait) waits;
	struct sim_take *take; /* [n_ports], of those in hops */
	int64_t counted_ns;    /* so far counters have it */
	int64_t found_ns;      /* when ways and rates were found */
	bool is_due;	       /* an EVENT_FLOWS is on its way */
};

struct sim {
	struct sim_fabric fabric;
	struct sim_options options;
	struct sim_events events;
	struct sim_client *clients;
	struct sim_client **client_of_port; /* [n_ports] of a switch: port 0 */
	struct sim_packet *free_packets;
	FM_VEC(struct sim_action) actions;
	struct sim_flows flows;
	struct sim_counts counts;
	struct fm_rng rng;
	sim_trace_fn trace;
	void *trace_arg;
	sim_fate_fn fate;
	void *fate_arg;
	FILE *record; /* of requests of class record_class, as hexadecimal lines; NULL: none */
	uint8_t record_class;
	uint64_t n_traps;     /* TIDs of traps */
	uint32_t setter;      /* the port of who has sent the last Set to another node */
	uint32_t n_bad_ports; /* with a share of errors of their own, ever */
	uint32_t n_agents;    /* upper halves of TIDs in strict mode */
};

void action_do(struct sim *s, const struct sim_action *a);

/* A client sits down at c->at, where nobody may sit; it leaves, and what is on
 * its way to it is lost. */
void client_join(struct sim *s, struct sim_client *c);
void client_leave(struct sim_client *c);
struct sim_client *client_at(const struct sim *s, struct sim_place at); /* NULL = nobody */
/* Its expire() at that time, if it is still there; who sits there by then may be called early. */
void client_set_timer(struct sim_client *c, int64_t at_ns);

struct sim_packet *packet_new(struct sim *s); /* NULL: no memory; not zeroed */
void packet_free(struct sim *s, struct sim_packet *p);

/* Send p->mad from a place.  Takes the packet. */
void net_send(struct sim *s, struct sim_place from, struct sim_packet *p);
/* Do what is due next; there must be something (step.c). */
void net_step(struct sim *s);
/* A notice for the SM: sent soon and repeated until repressed (trap.c). */
void trap_raise(void *sim, uint32_t node, enum sim_trap_slot slot);
/* The timer that was set for due_ns has run out. */
void trap_due(struct sim *s, uint32_t node, enum sim_trap_slot slot, int64_t due_ns);

/* ---- flows (flow.c) */
/* So many bytes a second from node to node from now on; 0: no more.  FM_E_RESOURCE. */
int flow_set(struct sim *s, uint32_t from, uint32_t to, uint64_t bytes_per_s, struct fm_error *err);
/* Counters are to have what has flowed up to now. */
void flows_count(struct sim *s);
/* Tables, links or keys may be others: ways and rates are found anew, soon. */
void flows_disturbed(struct sim *s);
/* The time for that has come. */
void flows_due(struct sim *s);
void flows_fini(struct sim *s);

/* Of a packet (struct sim_way); 0 where all switches go by their LFTs. */
static inline uint64_t
net_draw(struct sim *s)
{
	return s->fabric.has_adaptive ? fm_rng_next(&s->rng) | 1 : 0;
}

static inline bool
is_smp(const uint8_t *mad)
{
	return mad[MAD_CLASS] == WIRE_CLASS_SMP_DR || mad[MAD_CLASS] == WIRE_CLASS_SMP_LID;
}

static inline int64_t
net_next_ns(const struct sim *s)
{
	return events_next_ns(&s->events);
}

static inline bool
net_is_due(const struct sim *s, int64_t until_ns)
{
	return s->events.heap.n > 0 && net_next_ns(s) <= until_ns;
}

#endif
