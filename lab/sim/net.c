/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network: one packet is one buffer from send to delivery (an agent turns
 * the request into its answer in place), buffers are recycled, so that an SMP
 * costs two walks, two to four heap operations and one copy, and no malloc.
 *
 * Chance is drawn per packet and direction; an SMP to the local node crosses
 * no link and meets none of it.  Only packets on their way to a client are
 * corrupted: nothing could tell a corrupted Set from an intended one.
 */
#include "lab/sim/net.h"

#include "lab/sim/pma.h"

#define PACKETS_AT_ONCE 64
#define PACKET_BYTES 288 /* of a MAD: LRH 8, BTH 12, DETH 8, ICRC 4 beside its 256 */
#define CLASS_PERFORMANCE 0x04
#define QP1_QKEY 0x80010000

struct sim_packet *
packet_new(struct sim *s)
{
	struct sim_packet *p = s->free_packets;

	if (p == NULL) {
		p = fm_arena_array(&s->fabric.arena, PACKETS_AT_ONCE, struct sim_packet);
		for (int i = 0; p != NULL && i < PACKETS_AT_ONCE; i++)
			packet_free(s, &p[i]);
		p = s->free_packets;
	}
	if (p != NULL)
		s->free_packets = p->next;
	return p;
}

void
packet_free(struct sim *s, struct sim_packet *p)
{
	p->next = s->free_packets;
	s->free_packets = p;
}

/* ---- clients */

/* A switch's programs sit on its port 0, wherever a packet came in. */
static struct sim_client **
seat(const struct sim *s, struct sim_place at)
{
	const struct sim_node *n = &s->fabric.nodes[at.node];

	return &s->client_of_port[n->first_port + (n->type == WIRE_NODE_SWITCH ? 0 : at.port)];
}

struct sim_client *
client_at(const struct sim *s, struct sim_place at)
{
	return *seat(s, at);
}

void
client_set_timer(struct sim_client *c, int64_t at_ns)
{
	struct sim *s = c->sim;

	events_push(
	    &s->events, at_ns, EVENT_EXPIRE, (uintptr_t)(seat(s, c->at) - s->client_of_port));
}

void
client_join(struct sim *s, struct sim_client *c)
{
	c->sim = s;
	c->next = s->clients;
	s->clients = c;
	*seat(s, c->at) = c;
}

/* What is on its way to a client that leaves finds nobody. */
static void
strand(struct sim *s, const struct sim_client *gone)
{
	struct sim_events q = s->events;

	s->events = (struct sim_events){ .n_pushed = q.n_pushed };
	for (size_t i = 0; i < q.heap.n; i++) {
		struct sim_event e = q.heap.item[i];
		enum sim_event_kind kind = event_kind(&e);

		if (kind <= EVENT_DELIVER && e.packet->client == gone)
			packet_free(s, e.packet);
		else
			events_keep(&s->events, &e);
	}
	fm_vec_fini(&q.heap);
}

void
client_leave(struct sim_client *gone)
{
	struct sim *s = gone->sim;

	for (struct sim_client **c = &s->clients; *c != NULL; c = &(*c)->next)
		if (*c == gone) {
			*c = gone->next;
			break;
		}
	*seat(s, gone->at) = NULL;
	strand(s, gone);
}

/* ---- chance and time */

static bool
happens(struct sim *s, double probability)
{
	return probability > 0 && fm_rng_unit(&s->rng) < probability;
}

static void
schedule(struct sim *s, struct sim_packet *p, unsigned n_hops)
{
	const struct sim_options *o = &s->options;
	int64_t at_ns = s->fabric.now_ns + p->held_ns + n_hops * o->hop_ns;

	if (n_hops > 0 && o->delay_max_ns > 0)
		at_ns += o->delay_min_ns +
		    (int64_t)(fm_rng_unit(&s->rng) *
			(double)(o->delay_max_ns - o->delay_min_ns + 1));
	if (!events_push_packet(&s->events, at_ns, p->client ? EVENT_AT_CLIENT : EVENT_AT_NODE, p))
		packet_free(s, p);
}

static void
corrupt(struct sim *s, struct sim_packet *p)
{
	uint32_t bit = fm_rng_below(&s->rng, MAD_BYTES * 8);

	p->mad.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	s->counts.corrupted++;
}

/* A port that loses a share of what is for it. */
static bool
is_hit(struct sim *s, struct sim_place at)
{
	const struct sim_port *p = fabric_port(&s->fabric, at.node, at.port);

	if (!happens(s, (double)p->error_share))
		return false;
	pma_count(&s->fabric, s->fabric.nodes[at.node].first_port + at.port, COUNT_RCV_ERRORS, 1);
	return true;
}

/* The packet sets out on a way of so many links. */
static void
travel(struct sim *s, struct sim_packet *p, unsigned n_hops)
{
	const struct sim_options *o = &s->options;
	struct sim_packet *twin;

	if ((n_hops > 0 && happens(s, o->loss)) || (s->n_bad_ports > 0 && is_hit(s, p->at))) {
		s->counts.lost++;
		packet_free(s, p);
		return;
	}
	if (n_hops > 0 && happens(s, o->dup) && (twin = packet_new(s)) != NULL) {
		*twin = *p;
		s->counts.doubled++;
		schedule(s, twin, n_hops);
	}
	if (n_hops > 0 && p->client != NULL && happens(s, o->corrupt))
		corrupt(s, p);
	schedule(s, p, n_hops);
}

/* ---- sending */

static bool
is_answer(const uint8_t *mad)
{
	return mad[MAD_METHOD] & WIRE_RESPONSE_BIT;
}

/* For an agent beside the SMA. */
static bool
is_for_agent(const uint8_t *mad)
{
	return (mad[MAD_CLASS] == CLASS_PERFORMANCE || mad[MAD_CLASS] == WIRE_CLASS_CC) &&
	    !is_answer(mad);
}

/* Who takes it where it arrives: a program gets answers, traps, SMInfo and
 * all that is no SMP; the agents of the node the rest.  False: nobody.  To a silent node no request
 * comes at all; where no program is, SMInfo is not answered, be the node alive or not. */
static bool
find_taker(const struct sim *s, struct sim_packet *p)
{
	const uint8_t *mad = p->mad.bytes;
	uint16_t attr = wire_get16(mad + MAD_ATTR);
	bool for_client =
	    (!is_smp(mad) && !is_for_agent(mad)) || is_answer(mad) || mad[MAD_METHOD] == WIRE_TRAP;

	p->client = NULL;
	if (for_client ||
	    (attr == WIRE_ATTR_SM_INFO && is_smp(mad) && !s->fabric.nodes[p->at.node].silent))
		p->client = client_at(s, p->at);
	return p->client != NULL || !for_client;
}

static bool
find_way(const struct sim *s, struct mad *m, struct sim_way *way)
{
	const struct sim_fabric *f = &s->fabric;

	if (!is_smp(m->bytes)) {
		way->n_hops = 0;
		return walk_lid(f, m->addr.lid, WIRE_PORT_ACTIVE, way);
	}
	if (is_answer(m->bytes))
		return walk_reply(f, m->bytes, m->addr.lid, way);
	if (s->options.no_lid_smps && m->bytes[MAD_METHOD] <= WIRE_SET &&
	    (m->bytes[MAD_CLASS] == WIRE_CLASS_SMP_LID ||
		wire_get16(&m->bytes[MAD_DR_SLID]) != WIRE_LID_PERMISSIVE))
		return false;
	return walk_request(f, m->bytes, m->addr.lid, way);
}

/* What QP1 of the receiver and switches on the way think of its keys.  False: it
 * is dropped, and somebody tells the SM of it. */
static bool
passes_keys(struct sim *s, struct mad *m, const struct sim_way *way, uint16_t dlid)
{
	struct sim_fabric *f = &s->fabric;
	struct sim_bad_key k = {
		.slid = way->slid, .dlid = dlid, .key = way->pkey, .qpn = 1, .sl = m->addr.sl
	};
	uint32_t port = f->nodes[way->at.node].first_port + way->at.port;
	int index;

	if (way->bad_pkey) {
		notice_switch_p_key(f, way->at, &k);
		return false;
	}
	if (way->n_hops == 0)
		return true; /* never left the port */
	index = port_find_pkey(f, port, way->pkey);
	if (index < 0) {
		notice_bad_key(f, way->at, SIM_TRAP_P_KEY, &k);
		return false;
	}
	if (m->addr.qkey != 0 && m->addr.qkey != QP1_QKEY) { /* 0: our own transports */
		k.key = m->addr.qkey;
		notice_bad_key(f, way->at, SIM_TRAP_Q_KEY, &k);
		return false;
	}
	m->addr.pkey_index = (uint16_t)index; /* as the receiver counts */
	return true;
}

/* Of SMPs, directed and LID-routed ones apart; the former may take longer. */
static void
count_hops(struct sim *s, struct sim_packet *p, const struct sim_way *way)
{
	if (!is_smp(p->mad.bytes))
		return;
	p->held_ns += way->n_directed * s->options.dr_ns;
	s->counts.dr_hops += way->n_directed;
	s->counts.lid_hops += way->n_hops - way->n_directed;
}

/* The packet is at the end of its way. */
static void
arrive_or_not(struct sim *s, struct sim_packet *p, const struct sim_way *way)
{
	p->at = way->at;
	p->slid = way->slid;
	p->mad.addr.lid = way->slid; /* as the taker sees it: where it came from */
	if (find_taker(s, p)) {
		count_hops(s, p, way);
		travel(s, p, way->n_hops);
		return;
	}
	s->counts.no_way++;
	packet_free(s, p);
}

struct multicast {
	struct sim *sim;
	const struct sim_packet *packet;
	uint16_t mlid;
};

/* One copy has arrived: programs get it, agents of nodes do not. */
static void
reach(void *arg, const struct sim_way *way)
{
	struct multicast *m = arg;
	struct sim *s = m->sim;
	struct sim_packet *copy;

	if (client_at(s, way->at) == NULL || (copy = packet_new(s)) == NULL)
		return;
	*copy = *m->packet;
	if (passes_keys(s, &copy->mad, way, m->mlid))
		arrive_or_not(s, copy, way);
	else
		packet_free(s, copy);
}

static void
send_to_all(struct sim *s, const struct sim_way *way, struct sim_packet *p)
{
	struct multicast m = { s, p, p->mad.addr.lid };

	if (!walk_multicast(&s->fabric, m.mlid, way, reach, &m))
		s->counts.no_way++;
	packet_free(s, p);
}

static bool
is_multicast(uint16_t lid)
{
	return lid >= 0xC000 && lid != WIRE_LID_PERMISSIVE;
}

/* Who writes to the subnet: two that do it by turns are two masters. */
static void
note_set(struct sim *s, uint32_t port, const struct sim_packet *p, const struct sim_way *way)
{
	const uint8_t *mad = p->mad.bytes;

	if (!is_smp(mad) || mad[MAD_METHOD] != WIRE_SET || mad[MAD_ATTR + 1] == WIRE_ATTR_SM_INFO ||
	    way->at.node == s->fabric.port_node[port])
		return;
	s->fabric.ports[port].n_sets++;
	s->counts.setters += s->setter != port;
	s->setter = port;
}

void
net_send(struct sim *s, struct sim_place from, struct sim_packet *p)
{
	struct sim_fabric *f = &s->fabric;
	uint32_t port = f->nodes[from.node].first_port + from.port;
	bool is_data = !is_smp(p->mad.bytes);
	uint16_t dlid = p->mad.addr.lid;
	struct sim_way way = { .at = from,
		.slid = WIRE_LID_PERMISSIVE,
		.draw = net_draw(s),
		.bytes = PACKET_BYTES,
		.packets = 1 };
	bool arrives;

	if (is_data)
		way.pkey = port_pkey(f, port, p->mad.addr.pkey_index);
	if (is_data && is_multicast(dlid) && (way.pkey & 0x7fff) != 0) {
		send_to_all(s, &way, p);
		return;
	}
	arrives = (!is_data || (way.pkey & 0x7fff) != 0) && find_way(s, &p->mad, &way);
	if (is_data && (arrives || way.bad_pkey))
		arrives = passes_keys(s, &p->mad, &way, dlid);
	if (arrives) {
		note_set(s, port, p, &way);
		arrive_or_not(s, p, &way);
		return;
	}
	s->counts.no_way++;
	packet_free(s, p);
}
