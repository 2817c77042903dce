/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/sim.h - a simulated fabric, its faults, and ways to look inside.
 *
 * From outside it is the transport "sim:FABRIC[,key=value...]":
 *
 *	FABRIC            a netlist file (lab/topo/netlist.h)
 *	seed=N            of loss, delay, ...: the same seed gives the same run
 *	loss=P dup=P      a packet (request or answer, each on its own) is lost, doubled;
 *	                  P is 1% or 0.01
 *	corrupt=P         a bit of a packet on its way to us is wrong
 *	delay_us=A-B      extra time per packet, uniform; what overtakes, overtakes
 *	hop_ns=N sma_ns=N time per link, and per SMP in an agent (one at a time)
 *	dr_ns=N           time more per link of a directed SMP: agents on the way pass it on
 *	lid_smps=no       LID-routed SMPs to switches and hosts are lost, mixed ones too
 *	lid_smps=active   ... where links on the way are not ACTIVE (as on ibsim)
 *	mixed_smps=no     SMPs that go by LID first and directed from there are lost
 *	strict            the rules of the kernel's umad (transport_sim.c)
 *	recv_queue=N      answers that wait for us before more are lost (strict: 512)
 *	window=N          requests that we may have unanswered (512)
 *	local=NODE[:PORT] where we sit; NODE is a name in the file or a GUID
 *	dead=NODE         a node whose agent never answers (again for more)
 *	adaptive=N        switches have tables of adaptive routing, N groups each (lab/adaptive)
 *	not_adaptive=NODE ... but not this one (again for more)
 *	port_states=no    switches have no table of the states of their ports; or say that they have
 *	                  one, and it is: refused, silent, zero, stuck (fabric.h)
 *	sm=NODE:PRIO:STATE  an SM that answers SMInfo and does nothing (again for more)
 *	script=FILE       timed faults (fault.c has the grammar)
 *	clock=virtual|wall
 *
 * A virtual clock stands still while the program computes and leaps to the
 * next event in poll(): a run is a function of fabric, seed and the program.
 * Inside, a sim can have several transports, one per place (two SMs).
 */
#ifndef LAB_SIM_SIM_H
#define LAB_SIM_SIM_H

#include "core/mad/transport.h"
#include "lab/sim/fabric.h"

struct sim_options {
	uint64_t seed;
	double loss, dup, corrupt; /* probability per packet, 0..1 */
	int64_t delay_min_ns, delay_max_ns;
	int64_t hop_ns, sma_ns, dr_ns;
	int64_t recv_ns;     /* strict: time our side takes per MAD */
	int64_t train_ns;    /* a link that may come up does so after this */
	uint32_t recv_queue; /* strict: MADs */
	unsigned window;
	bool strict, wall_clock, no_lid_smps, no_mixed_smps;
	bool cold_lid_smps_lost;	  /* on links that are not ACTIVE */
	enum sim_port_states port_states; /* of each switch */
};
void sim_options_default(struct sim_options *o);

struct sim_counts {
	uint64_t gets_by_attr[256], sets_by_attr[256]; /* handled by agents, by low byte */
	uint64_t smps;				       /* handled by agents */
	uint64_t pma_gets, pma_sets; /* that came to agents of counters; Sets: all but Gets */
	uint64_t cc_gets, cc_sets;   /* likewise of congestion control */
	/* Links that SMPs have gone, directed and LID-routed; mixed ones: some of each. */
	uint64_t dr_hops, lid_hops;
	uint64_t lost, doubled, corrupted; /* by chance */
	uint64_t no_way;		   /* dropped: no link, no LFT entry, nobody there */
	uint64_t ignored;		   /* dropped by an agent: silent node, M_Key */
	uint64_t overrun;		   /* strict: receive queue full */
	uint64_t unexpected;		   /* strict: answers to nothing pending */
	uint64_t bad_sends;		   /* what the kernel refuses to a program with an errno */
	uint64_t traps;			   /* sent, repeats included */
	uint64_t setters; /* how often another program than before has sent a Set, but SMInfo */
};

/* An SMP that an agent has handled; answered: with this status. */
struct sim_trace {
	int64_t at_ns;
	uint32_t node;
	uint8_t port, method; /* port: where it came in */
	uint16_t attr;
	uint32_t modifier;
	uint16_t status;
	bool answered;
	const uint8_t *mad; /* [MAD_BYTES], the answer if there is one */
};
typedef void (*sim_trace_fn)(void *arg, const struct sim_trace *e);

/* What is about to be handled: by the agent of the node, or by the program that sits at a port. */
struct sim_arrival {
	struct sim_place at;
	bool by_agent;
	const uint8_t *mad; /* [MAD_BYTES] */
};
/* What becomes of it. */
enum sim_fate {
	SIM_COMES,
	SIM_IS_LOST,
	SIM_IS_LATE,	/* it arrives again after *late_ns, and its fate is asked for again */
	SIM_COMES_TWICE /* ... its double; it comes now */
};
typedef enum sim_fate (*sim_fate_fn)(
    void *arg, const struct sim_arrival *a, int64_t *late_ns /* 0 unless written */);

struct sim;
int sim_new(
    const struct netlist *nl, const struct sim_options *o, struct sim **out, struct fm_error *err);
void sim_free(struct sim *s); /* and all its transports */
/* A transport at a place (a switch: port 0).  Closing it leaves the sim. */
int sim_attach(
    struct sim *s, uint32_t node, unsigned port, struct transport **out, struct fm_error *err);
/* The sim of "sim:FABRIC[,key=value...]" and a transport of it, which owns it. */
int transport_open_sim(const char *spec, struct transport **out, struct fm_error *err);
extern const struct transport_kind transport_sim;
/* The sim behind a transport of it; NULL for another kind. */
struct sim *sim_of(struct transport *t);

/* ---- look */
uint32_t sim_find(const struct sim *s, const char *name); /* id or GUID; SIM_NONE */
struct sim_fabric *sim_fabric(struct sim *s);
const struct sim_counts *sim_counts(const struct sim *s);
int64_t sim_now_ns(const struct sim *s);
void sim_set_trace(struct sim *s, sim_trace_fn fn, void *arg);
/* Ask before anything is handled; faults may be done in fn.  NULL: all comes. */
void sim_set_fate(struct sim *s, sim_fate_fn fn, void *arg);
/* Port for a LID in a switch: 255 = none. */
uint8_t sim_lft(const struct sim *s, uint32_t node, uint16_t lid);
/* The ports by any of which the switch may send a packet to the LID, by its groups or its LFT: how
 * many; 0: none, and it is dropped, or comes to the switch itself. */
unsigned sim_ports_to(const struct sim *s, uint32_t node, uint16_t lid, uint8_t port[254]);
void sim_port_info(const struct sim *s, uint32_t node, unsigned port, struct wire_port_info *out);
/* Where a packet to the LID ends that starts at the place, on links that are
 * ACTIVE, by the tables as they stand.  False: it is lost. */
bool sim_walk(const struct sim *s, struct sim_place from, uint16_t lid, struct sim_way *way);
/* The same to a multicast LID: how many places it reaches, the first `room` of
 * them in reached; SIZE_MAX = the tables loop. */
size_t sim_walk_multicast(const struct sim *s, struct sim_place from, uint16_t mlid,
    struct sim_place *reached, size_t room);
/* Bytes in packets of an MTU (payload), along the LFTs, into the counters of the
 * ports they pass; false: they are lost on the way, and counted as that. */
bool sim_carry(struct sim *s, struct sim_place from, uint16_t lid, uint64_t bytes, uint16_t mtu);

/* ---- faults, now */
void sim_unlink(struct sim *s, uint32_t node, unsigned port);
void sim_relink(struct sim *s, uint32_t node, unsigned port);
void sim_flap(struct sim *s, uint32_t node, unsigned port, int64_t down_ns);
void sim_reboot(struct sim *s, uint32_t node, int64_t down_ns);
void sim_silence(struct sim *s, uint32_t node, bool silent);
void sim_describe(struct sim *s, uint32_t node, const char *text); /* trap 144 */
void sim_set_loss(struct sim *s, double loss);
void sim_refuse_lid_smps(struct sim *s, bool refuse);
/* What one switch does: LID-routed SMPs to it are lost, mixed ones that turn directed there. */
void sim_ignore_smps(struct sim *s, uint32_t node, bool lid_routed, bool mixed);
/* ---- states to start from */
void sim_set_guid(struct sim *s, uint32_t node, uint64_t guid); /* node GUID: duplicates */
void sim_set_port_guid(struct sim *s, uint32_t node, unsigned port, uint64_t guid);
void sim_claim_ports(struct sim *s, uint32_t node, uint8_t n); /* what its NodeInfo says */
void sim_set_lid(struct sim *s, uint32_t node, unsigned port, uint16_t lid);
/* Which table of the states of its ports it has from now on, a switch. */
void sim_set_port_states(struct sim *s, uint32_t node, enum sim_port_states how);
/* The switch is of the vendor of lab/adaptive, with so many groups (1 and on), and off.
 * FM_E_RESOURCE. */
int sim_set_adaptive(struct sim *s, uint32_t node, uint16_t n_groups, struct fm_error *err);
int sim_set_sm(
    struct sim *s, uint32_t node, uint8_t priority, enum wire_sm_state state, struct fm_error *err);
/* Run the clock on, delivering nothing: what arrives waits for poll(). */
void sim_run(struct sim *s, int64_t until_ns);
/* Timed faults from a text; name is for errors. */
int sim_script(struct sim *s, const char *name, const char *text, struct fm_error *err);
/* One of its actions, without "at TIME", now. */
int sim_do(struct sim *s, const char *text, struct fm_error *err);
/* How the i-th of them is written; NULL behind the last. */
const char *sim_verb(unsigned i);

#endif
