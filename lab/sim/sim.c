/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator as a whole: making it, looking into it, breaking it.
 */
#include "lab/sim/sim.h"

#include <string.h>
#include <time.h>

#include "lab/sim/net.h"
#include "lab/sim/sma.h"
#include "lib/error.h"

/* Orders of magnitude of real switches; only ratios matter to tests. */
#define HOP_NS 300
#define SMA_NS 5000
#define RECV_NS 1000
#define TRAIN_NS 1000000
#define WINDOW 512
#define RECV_QUEUE 512
#define LOCAL_CHANGE_DESCRIPTION 1

void
sim_options_default(struct sim_options *o)
{
	*o = (struct sim_options){ .seed = 1,
		.hop_ns = HOP_NS,
		.sma_ns = SMA_NS,
		.recv_ns = RECV_NS,
		.train_ns = TRAIN_NS,
		.recv_queue = RECV_QUEUE,
		.window = WINDOW };
}

static void
retrain(void *sim, uint32_t port)
{
	struct sim *s = sim;

	events_push(&s->events, s->fabric.now_ns + s->options.train_ns, EVENT_TRAIN, port);
}

static void
fall(void *sim, uint32_t port)
{
	struct sim *s = sim;

	events_push(&s->events, s->fabric.now_ns, EVENT_FALL, port);
}

static int64_t
wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int
sim_new(
    const struct netlist *nl, const struct sim_options *o, struct sim **out, struct fm_error *err)
{
	struct sim_options defaults;
	struct sim_client **clients;
	struct sim_fabric fabric;
	struct sim *s;
	int rc;

	if (o == NULL)
		sim_options_default(&defaults);
	rc = fabric_init(&fabric, nl, err);
	if (rc != 0)
		return rc;
	s = fm_arena_alloc(&fabric.arena, sizeof(*s));
	clients = fm_arena_array(&fabric.arena, fabric.n_ports, struct sim_client *);
	if (s == NULL || clients == NULL) {
		fabric_fini(&fabric);
		return fm_fail(err, FM_E_RESOURCE, "no memory for a simulator");
	}
	s->fabric = fabric; /* from here on: it owns the arena that it lies in */
	s->client_of_port = clients;
	s->options = o != NULL ? *o : defaults;
	s->fabric.hooks = (struct sim_hooks){ retrain, fall, trap_raise, s };
	if (s->options.wall_clock)
		s->fabric.now_ns = wall_ns();
	fm_rng_seed(&s->rng, s->options.seed);
	s->fabric.smp_state = s->options.cold_lid_smps_lost ? WIRE_PORT_ACTIVE : WIRE_PORT_INIT;
	s->fabric.no_mixed_smps = s->options.no_mixed_smps;
	for (uint32_t n = 0; n < s->fabric.n_nodes; n++)
		if (s->fabric.nodes[n].type == WIRE_NODE_SWITCH)
			sim_set_port_states(s, n, s->options.port_states);
	*out = s;
	return 0;
}

void
sim_free(struct sim *s)
{
	struct sim_fabric fabric;

	if (s == NULL)
		return;
	while (s->clients != NULL)
		s->clients->free(s->clients);
	if (s->record != NULL)
		fclose(s->record);
	fm_vec_fini(&s->events.heap);
	fm_vec_fini(&s->actions);
	flows_fini(s);
	fabric = s->fabric;
	fabric_fini(&fabric); /* and with its arena s itself */
}

/* ---- look */

uint32_t
sim_find(const struct sim *s, const char *name)
{
	return fabric_find(&s->fabric, name);
}

struct sim_fabric *
sim_fabric(struct sim *s)
{
	return &s->fabric;
}

const struct sim_counts *
sim_counts(const struct sim *s)
{
	return &s->counts;
}

int64_t
sim_now_ns(const struct sim *s)
{
	return s->options.wall_clock ? wall_ns() : s->fabric.now_ns;
}

void
sim_set_trace(struct sim *s, sim_trace_fn fn, void *arg)
{
	s->trace = fn;
	s->trace_arg = arg;
}

void
sim_set_fate(struct sim *s, sim_fate_fn fn, void *arg)
{
	s->fate = fn;
	s->fate_arg = arg;
}

uint8_t
sim_lft(const struct sim *s, uint32_t node, uint16_t lid)
{
	const struct sim_node *n = &s->fabric.nodes[node];

	return lid < n->lft.n ? n->lft.item[lid] : 255;
}

unsigned
sim_ports_to(const struct sim *s, uint32_t node, uint16_t lid, uint8_t port[254])
{
	unsigned n = switch_ports_to(&s->fabric, &s->fabric.nodes[node], lid, port);

	if (n > 0)
		return n;
	port[0] = sim_lft(s, node, lid);
	return port[0] != 0 && port[0] != 255;
}

void
sim_port_info(const struct sim *s, uint32_t node, unsigned port, struct wire_port_info *out)
{
	wire_port_info_get(fabric_port(&s->fabric, node, port)->info, out);
}

bool
sim_walk(const struct sim *s, struct sim_place from, uint16_t lid, struct sim_way *way)
{
	*way = (struct sim_way){ .at = from };
	return walk_lid(&s->fabric, lid, WIRE_PORT_ACTIVE, way);
}

struct reached {
	struct sim_place *places;
	size_t n, room;
};

static void
note_reached(void *arg, const struct sim_way *way)
{
	struct reached *r = arg;

	if (r->n < r->room)
		r->places[r->n] = way->at;
	r->n++;
}

size_t
sim_walk_multicast(const struct sim *s, struct sim_place from, uint16_t mlid,
    struct sim_place *reached, size_t room)
{
	struct reached r = { reached, 0, room };
	struct sim_way way = { .at = from };

	return walk_multicast(&s->fabric, mlid, &way, note_reached, &r) ? r.n : SIZE_MAX;
}

bool
sim_carry(struct sim *s, struct sim_place from, uint16_t lid, uint64_t bytes, uint16_t mtu)
{
	struct sim_way way = { .at = from,
		.draw = net_draw(s),
		.bytes = bytes,
		.packets = (bytes + mtu - 1) / mtu,
		.mtu = mtu,
		.pkey =
		    port_pkey(&s->fabric, s->fabric.nodes[from.node].first_port + from.port, 0) };

	return walk_lid(&s->fabric, lid, WIRE_PORT_ACTIVE, &way);
}

/* ---- faults */

void
sim_unlink(struct sim *s, uint32_t node, unsigned port)
{
	fabric_port(&s->fabric, node, port)->unplugged = true;
	fabric_drop(&s->fabric, s->fabric.nodes[node].first_port + port, false);
}

void
sim_relink(struct sim *s, uint32_t node, unsigned port)
{
	uint32_t index = s->fabric.nodes[node].first_port + port, peer = s->fabric.cable[index];

	s->fabric.ports[index].unplugged = false;
	if (peer != SIM_NONE)
		s->fabric.ports[peer].unplugged = false;
	retrain(s, index);
}

void
sim_flap(struct sim *s, uint32_t node, unsigned port, int64_t down_ns)
{
	sim_unlink(s, node, port);
	events_push(&s->events, s->fabric.now_ns + down_ns, EVENT_RELINK,
	    s->fabric.nodes[node].first_port + port);
}

void
sim_reboot(struct sim *s, uint32_t node, int64_t down_ns)
{
	struct sim_node *n = &s->fabric.nodes[node];

	if (n->off)
		return; /* it is on again when the first reboot says so */
	n->off = true;
	for (unsigned p = 0; p <= n->n_ports; p++)
		fabric_drop(&s->fabric, n->first_port + p, false);
	events_push(&s->events, s->fabric.now_ns + down_ns, EVENT_POWER_ON, node);
}

void
sim_silence(struct sim *s, uint32_t node, bool silent)
{
	s->fabric.nodes[node].silent = silent;
}

void
sim_describe(struct sim *s, uint32_t node, const char *text)
{
	struct sim_node *n = &s->fabric.nodes[node];
	size_t length = strlen(text);

	memset(n->desc, 0, sizeof(n->desc));
	memcpy(n->desc, text, length < sizeof(n->desc) ? length : sizeof(n->desc));
	n->local_changes |= LOCAL_CHANGE_DESCRIPTION;
	trap_raise(s, node, SIM_TRAP_LOCAL);
}

void
sim_set_loss(struct sim *s, double loss)
{
	s->options.loss = loss;
}

void
sim_refuse_lid_smps(struct sim *s, bool refuse)
{
	s->options.no_lid_smps = refuse;
}

void
sim_ignore_smps(struct sim *s, uint32_t node, bool lid_routed, bool mixed)
{
	s->fabric.nodes[node].no_lid_smps = lid_routed;
	s->fabric.nodes[node].no_mixed_smps = mixed;
}

void
sim_set_guid(struct sim *s, uint32_t node, uint64_t guid)
{
	struct sim_node *n = &s->fabric.nodes[node];

	n->guid = guid;
	wire_put64(n->node_info + NODE_INFO_NODE_GUID, guid);
	if (n->type == WIRE_NODE_SWITCH)
		fabric_port(&s->fabric, node, 0)->guid = guid;
}

void
sim_set_port_guid(struct sim *s, uint32_t node, unsigned port, uint64_t guid)
{
	struct sim_port *p = fabric_port(&s->fabric, node, port);

	p->guid = guid;
	if (p->tables != NULL)
		wire_put64(p->tables->guids[0], guid);
}

void
sim_claim_ports(struct sim *s, uint32_t node, uint8_t n)
{
	s->fabric.nodes[node].node_info[NODE_INFO_N_PORTS] = n;
}

void
sim_set_lid(struct sim *s, uint32_t node, unsigned port, uint16_t lid)
{
	wire_put16(&fabric_port(&s->fabric, node, port)->info[PORT_INFO_LID], lid);
}

void
sim_set_port_states(struct sim *s, uint32_t node, enum sim_port_states how)
{
	struct sim_port *p = fabric_port(&s->fabric, node, 0);
	struct wire_port_info pi;

	s->fabric.nodes[node].port_states = (uint8_t)how;
	wire_port_info_get(p->info, &pi);
	pi.capability_mask2 &= (uint16_t)~WIRE_CAP2_PORT_STATES;
	if (how != SIM_STATES_NONE)
		pi.capability_mask2 |= WIRE_CAP2_PORT_STATES;
	wire_port_info_put(p->info, &pi);
}

int
sim_set_adaptive(struct sim *s, uint32_t node, uint16_t n_groups, struct fm_error *err)
{
	struct sim_node *n = &s->fabric.nodes[node];
	struct wire_node_info info;

	n->adaptive = adaptive_new(&s->fabric.arena, n_groups);
	if (n->adaptive == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for groups of adaptive routing");
	s->fabric.has_adaptive = true;
	wire_node_info_get(n->node_info, &info);
	info.vendor_id = ADAPTIVE_VENDOR_ID;
	info.device_id = ADAPTIVE_DEVICE_ID;
	wire_node_info_put(n->node_info, &info);
	return 0;
}

int
sim_set_sm(
    struct sim *s, uint32_t node, uint8_t priority, enum wire_sm_state state, struct fm_error *err)
{
	struct sim_node *n = &s->fabric.nodes[node];
	unsigned first = n->type == WIRE_NODE_SWITCH ? 0 : 1;

	if (n->sm == NULL)
		n->sm = fm_arena_alloc(&s->fabric.arena, sizeof(*n->sm));
	if (n->sm == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for an SM on \"%s\"", n->id);
	n->sm->key = 1; /* what SMs have of whom nobody wanted another */
	n->sm->priority = priority;
	n->sm->state = (uint8_t)state;
	for (unsigned p = first; p <= n->n_ports && (p == first || first == 1); p++)
		fabric_set_is_sm(&s->fabric, n->first_port + p, true);
	return 0;
}
