/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is due: packets arrive, at agents and at clients, timers run out, faults happen.
 */
#include "lab/sim/net.h"
#include "lab/sim/sma.h"

static void
trace_mad(struct sim *s, const struct sim_trace *seen, const uint8_t *mad, bool answered)
{
	struct sim_trace e = *seen;

	e.answered = answered;
	e.mad = mad;
	e.status = answered ? wire_get16(mad + MAD_STATUS) & 0x7fff : 0;
	s->trace(s->trace_arg, &e);
}

static void
count(struct sim_counts *c, const uint8_t *mad)
{
	uint8_t attr = mad[MAD_ATTR + 1];

	c->smps++;
	if (mad[MAD_METHOD] == WIRE_GET)
		c->gets_by_attr[attr]++;
	else if (mad[MAD_METHOD] == WIRE_SET)
		c->sets_by_attr[attr]++;
}

static void
arrive_later(struct sim *s, struct sim_packet *p, int64_t late_ns)
{
	if (!events_push_packet(&s->events, s->fabric.now_ns + late_ns,
		p->client != NULL ? EVENT_AT_CLIENT : EVENT_AT_NODE, p))
		packet_free(s, p);
}

/* Somebody says what becomes of packets.  False: not now, or not at all; it is taken. */
static bool
is_to_come(struct sim *s, struct sim_packet *p)
{
	struct sim_arrival a = { p->at, p->client == NULL, p->mad.bytes };
	struct sim_packet *twin;
	int64_t late_ns = 0;

	switch (s->fate(s->fate_arg, &a, &late_ns)) {
	case SIM_IS_LOST:
		s->counts.lost++;
		packet_free(s, p);
		return false;
	case SIM_IS_LATE:
		arrive_later(s, p, late_ns);
		return false;
	case SIM_COMES_TWICE:
		twin = packet_new(s);
		if (twin == NULL)
			break;
		*twin = *p;
		s->counts.doubled++;
		arrive_later(s, twin, late_ns);
		break;
	case SIM_COMES:
		break;
	}
	return true;
}

static bool
ask_pma(struct sim *s, struct sim_packet *p)
{
	*(p->mad.bytes[MAD_METHOD] == WIRE_GET ? &s->counts.pma_gets : &s->counts.pma_sets) += 1;
	flows_count(s);
	return pma_handle(&s->fabric, p->at, p->mad.addr.qpn, p->mad.bytes);
}

static bool
ask_cca(struct sim *s, struct sim_packet *p)
{
	struct cca *c = fabric_cca(&s->fabric, p->at);
	bool is_switch = s->fabric.nodes[p->at.node].type == WIRE_NODE_SWITCH;

	*(p->mad.bytes[MAD_METHOD] == WIRE_GET ? &s->counts.cc_gets : &s->counts.cc_sets) += 1;
	return c != NULL && cca_handle(c, is_switch, s->fabric.now_ns, p->mad.bytes);
}

/* A line: where it arrived, and its bytes. */
static void
record(struct sim *s, const struct sim_packet *p)
{
	if (p->mad.bytes[MAD_CLASS] != s->record_class)
		return;
	fprintf(s->record, "%s[%u] ", s->fabric.nodes[p->at.node].id, p->at.port);
	for (unsigned i = 0; i < MAD_BYTES; i++)
		fprintf(s->record, "%02x", p->mad.bytes[i]);
	fputc('\n', s->record);
	fflush(s->record);
}

static bool
is_for_pma(const uint8_t *mad)
{
	return !is_smp(mad) && mad[MAD_CLASS] != WIRE_CLASS_CC;
}

static bool
handle(struct sim *s, struct sim_packet *p)
{
	if (is_smp(p->mad.bytes))
		return sma_handle(&s->fabric, p->at, p->mad.bytes);
	return is_for_pma(p->mad.bytes) ? ask_pma(s, p) : ask_cca(s, p);
}

/* How long an agent of its own pace takes for what it has just been asked. */
static int64_t
pma_takes_ns(struct sim *s, const struct sim_packet *p)
{
	uint32_t node = pma_agent_at(&s->fabric, p->at.node, p->mad.addr.qpn);
	struct sim_pma *a = s->fabric.nodes[node].pma;

	if (a == NULL)
		return 0;
	if (a->busy_until_ns < s->fabric.now_ns)
		a->busy_until_ns = s->fabric.now_ns;
	a->busy_until_ns += a->each_ns;
	return a->busy_until_ns - s->fabric.now_ns;
}

static void
deliver_packet(struct sim *s, struct sim_packet *p)
{
	struct sim_node *n = &s->fabric.nodes[p->at.node];
	uint8_t *mad = p->mad.bytes;
	struct sim_trace seen = { s->fabric.now_ns, p->at.node, p->at.port, mad[MAD_METHOD],
		wire_get16(mad + MAD_ATTR), wire_get32(mad + MAD_MODIFIER), 0, false };
	bool answered;

	if (s->fate != NULL && !is_to_come(s, p))
		return;
	if (n->off || n->silent) {
		s->counts.ignored++;
		packet_free(s, p);
		return;
	}
	if (is_smp(mad))
		count(&s->counts, mad);
	if (s->record != NULL)
		record(s, p);
	answered = handle(s, p);
	if (is_smp(mad) && seen.method == WIRE_SET)
		flows_disturbed(s);
	if (s->trace != NULL && is_smp(mad))
		trace_mad(s, &seen, mad, answered);
	if (!answered) {
		s->counts.ignored += seen.method != WIRE_TRAP_REPRESS;
		packet_free(s, p);
		return;
	}
	/* what it does shows at once, the answer when done */
	p->held_ns = s->options.sma_ns + (is_for_pma(mad) ? pma_takes_ns(s, p) : 0);
	net_send(s, p->at, p);
}

/* One at a time: take it at once, or when those before it are done. */
static void
queue_up(struct sim *s, struct sim_packet *p, int64_t *busy_until_ns, int64_t each_ns,
    enum sim_event_kind turn, void (*take)(struct sim *, struct sim_packet *))
{
	int64_t now_ns = s->fabric.now_ns, start_ns = *busy_until_ns;

	if (start_ns <= now_ns) {
		*busy_until_ns = now_ns + each_ns;
		take(s, p);
		return;
	}
	*busy_until_ns = start_ns + each_ns;
	if (!events_push_packet(&s->events, start_ns, turn, p))
		packet_free(s, p);
}

static void
deliver(struct sim *s, struct sim_packet *p)
{
	if (s->fate == NULL || is_to_come(s, p))
		p->client->deliver(p->client, p);
}

static void
arrive_at_client(struct sim *s, struct sim_packet *p)
{
	const struct sim_options *o = &s->options;
	int64_t backlog_ns = p->client->busy_until_ns - s->fabric.now_ns;

	if (!o->strict) {
		deliver(s, p);
	} else if (backlog_ns > o->recv_queue * o->recv_ns) {
		s->counts.overrun++;
		packet_free(s, p);
	} else {
		queue_up(s, p, &p->client->busy_until_ns, o->recv_ns, EVENT_DELIVER, deliver);
	}
}

static void
power_on(struct sim *s, uint32_t node)
{
	struct sim_node *n = &s->fabric.nodes[node];

	fabric_power_on(&s->fabric, node);
	for (unsigned p = 0; p <= n->n_ports; p++)
		fabric_train(&s->fabric, n->first_port + p);
}

void
net_step(struct sim *s)
{
	struct sim_event e = events_pop(&s->events);
	struct sim_fabric *f = &s->fabric;

	if (e.at_ns > f->now_ns)
		f->now_ns = e.at_ns;
	switch (event_kind(&e)) {
	case EVENT_AT_NODE:
		queue_up(s, e.packet, &f->nodes[e.packet->at.node].busy_until_ns, s->options.sma_ns,
		    EVENT_SERVE, deliver_packet);
		break;
	case EVENT_SERVE:
		deliver_packet(s, e.packet);
		break;
	case EVENT_AT_CLIENT:
		arrive_at_client(s, e.packet);
		break;
	case EVENT_DELIVER:
		deliver(s, e.packet);
		break;
	case EVENT_EXPIRE:
		if (s->client_of_port[e.number] != NULL) /* else it has left */
			s->client_of_port[e.number]->expire(s->client_of_port[e.number]);
		break;
	case EVENT_TRAIN:
		fabric_train(f, (uint32_t)e.number);
		break;
	case EVENT_FALL:
		fabric_drop(f, (uint32_t)e.number, true);
		break;
	case EVENT_RELINK:
		sim_relink(s, f->port_node[e.number], port_number(f, (uint32_t)e.number));
		break;
	case EVENT_POWER_ON:
		if (s->fabric.nodes[e.number].off) /* else it was rebooted twice and is on */
			power_on(s, (uint32_t)e.number);
		break;
	case EVENT_TRAP:
		trap_due(s, (uint32_t)(e.number / SIM_TRAP_SLOTS),
		    (enum sim_trap_slot)(e.number % SIM_TRAP_SLOTS), e.at_ns);
		break;
	case EVENT_ACTION:
		action_do(s, &s->actions.item[e.number]);
		break;
	case EVENT_FLOWS:
		flows_due(s);
		return;
	}
	if (event_kind(&e) > EVENT_EXPIRE)
		flows_disturbed(s);
}

void
sim_run(struct sim *s, int64_t until_ns)
{
	while (net_is_due(s, until_ns))
		net_step(s);
	if (until_ns != INT64_MAX && until_ns > s->fabric.now_ns)
		s->fabric.now_ns = until_ns;
}
