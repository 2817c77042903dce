/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What connections to fmsim say, by their kind (umad_proto.h): MADs of files,
 * calls, IsSM, commands.  All of it is checked: a peer may say anything.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fmsim/console.h"
#include "lab/fmsim/server_internal.h"

#define LINE_MAX_BYTES 4096

/* ------------------------------------------------------------------- files */

static bool
on_message(void *arg, const struct host_message *m)
{
	struct connection *c = arg;
	struct fmsim_frame f = { .length = (uint32_t)m->length,
		.agent = m->agent,
		.status = (uint32_t)m->status,
		.qpn = m->addr.qpn,
		.qkey = m->addr.qkey,
		.lid = m->addr.lid,
		.pkey_index = m->addr.pkey_index,
		.sl = m->addr.sl,
		.path_bits = m->addr.path_bits };
	size_t most = c->server->sim->options.recv_queue * (sizeof(f) + MAD_BYTES);
	uint8_t filled[FMSIM_LEAST_BYTES] = { 0 };

	if (connection_queued(c) > most)
		return false;
	if (m->length >= sizeof(filled)) {
		connection_put(c, &f, sizeof(f), m->bytes, m->length);
	} else {
		memcpy(filled, m->bytes, m->length);
		connection_put(c, &f, sizeof(f), filled, sizeof(filled));
	}
	return true;
}

/* Each take_*: how many bytes it has used; 0 = there are too few yet. */
static size_t
take_frame(struct connection *c, uint8_t *at, size_t n)
{
	struct fmsim_frame f;
	struct host_message m;

	if (n < sizeof(f))
		return 0;
	memcpy(&f, at, sizeof(f));
	if (f.length > FMSIM_MESSAGE_MAX) {
		connection_give_up(c);
		return n;
	}
	if (n < sizeof(f) + f.length)
		return 0;
	m = (struct host_message){ .agent = f.agent,
		.timeout_ms = f.timeout_ms,
		.retries = f.retries,
		.addr = { .lid = f.lid,
		    .sl = f.sl,
		    .path_bits = f.path_bits,
		    .qpn = f.qpn,
		    .qkey = f.qkey,
		    .pkey_index = f.pkey_index },
		.bytes = at + sizeof(f),
		.length = f.length };
	if (host_send(c->file, &m) < 0)
		c->server->sim->counts.bad_sends++;
	return sizeof(f) + f.length;
}

/* ------------------------------------------------------------------- calls */

static struct connection *
find_file(const struct sim_server *v, uint32_t number)
{
	for (struct connection *c = v->connections; c != NULL; c = c->next)
		if (c->file != NULL && c->number == number)
			return c;
	return NULL;
}

static bool
find_place(const struct sim_server *v, const char *node, uint32_t port, struct sim_place *at)
{
	const struct sim_fabric *f = &v->sim->fabric;
	const struct sim_node *n;

	*at = v->local;
	if (node[0] != '\0')
		*at = (struct sim_place){ sim_find(v->sim, node), 0 };
	if (at->node == SIM_NONE)
		return false;
	n = &f->nodes[at->node];
	if (n->type == WIRE_NODE_SWITCH)
		return port == 0;
	if (port == 0 && at->port == 0) /* the first with a link, or the last */
		for (at->port = 1;
		     at->port < n->n_ports && f->live[n->first_port + at->port] == SIM_NONE;)
			at->port++;
	if (port != 0)
		at->port = (uint8_t)port;
	return port <= n->n_ports;
}

static void
look_at_port(const struct sim_fabric *f, struct sim_place at, struct fmsim_port *out)
{
	const struct sim_port *p = fabric_port(f, at.node, at.port);
	struct wire_port_info pi;
	uint32_t mbps;

	wire_port_info_get(p->info, &pi);
	mbps = wire_port_mbps(&pi);
	if (pi.link_speed_ext_active == 0)
		mbps = mbps / 4 * 5; /* sysfs tells what is signalled: 8b/10b */
	*out = (struct fmsim_port){ .guid = p->guid,
		.gid_prefix = pi.gid_prefix ? pi.gid_prefix : UINT64_C(0xfe80000000000000),
		.capability_mask = pi.capability_mask,
		.rate_gbps = mbps / 1000,
		.lid = pi.lid,
		.sm_lid = pi.master_sm_lid,
		.lmc = pi.lmc,
		.sm_sl = pi.master_sm_sl,
		.state = pi.port_state,
		.phys_state = pi.phys_state };
	out->pkeys[0] = 0xffff;
	for (int b = 0; p->tables != NULL && b < SIM_PKEY_BLOCKS; b++)
		wire_pkeys_get(p->tables->pkeys[b], out->pkeys + 32 * b);
}

static int
describe_ca(const struct sim_server *v, const char *node, struct fmsim_ca *ca)
{
	const struct sim_fabric *f = &v->sim->fabric;
	struct wire_node_info ni;
	struct sim_place at;
	unsigned first;

	if (!find_place(v, node, 0, &at))
		return -ENODEV;
	wire_node_info_get(f->nodes[at.node].node_info, &ni);
	*ca = (struct fmsim_ca){ .node_guid = f->nodes[at.node].guid,
		.system_guid = ni.system_guid,
		.vendor_id = ni.vendor_id,
		.device_id = ni.device_id,
		.revision = ni.revision,
		.node_type = ni.node_type,
		.place = at.port };
	first = ni.node_type == WIRE_NODE_SWITCH ? 0 : 1;
	ca->n_ports = first == 0 ? 0 : ni.n_ports;
	for (unsigned p = first; p <= ca->n_ports && p < FMSIM_CA_PORTS; p++)
		look_at_port(f, (struct sim_place){ at.node, (uint8_t)p }, &ca->ports[p]);
	return 0;
}

static int
do_call(const struct sim_server *v, const struct fmsim_call *call, struct fmsim_ca *ca)
{
	struct host_registration r = { .mgmt_class = call->mgmt_class,
		.class_version = call->class_version,
		.rmpp_version = call->rmpp_version,
		.user_rmpp = call->user_rmpp != 0,
		.oui = call->oui,
		.methods = { call->methods[0], call->methods[1] } };
	struct connection *file = find_file(v, call->file);
	char node[sizeof(call->node) + 1] = "";

	memcpy(node, call->node, sizeof(call->node));
	if (call->op == FMSIM_LOOK)
		return describe_ca(v, node, ca);
	if (file == NULL)
		return -EBADF;
	if (call->op == FMSIM_REGISTER)
		return host_register(file->file, &r);
	return call->op == FMSIM_UNREGISTER ? host_unregister(file->file, call->agent) : -ENOSYS;
}

static size_t
take_call(struct connection *c, const uint8_t *at, size_t n)
{
	struct fmsim_answer a;
	struct fmsim_call call;
	struct fmsim_ca ca;

	if (n < sizeof(call))
		return 0;
	memcpy(&call, at, sizeof(call));
	a.value = do_call(c->server, &call, &ca);
	connection_put(
	    c, &a, sizeof(a), &ca, call.op == FMSIM_LOOK && a.value == 0 ? sizeof(ca) : 0);
	return sizeof(call);
}

/* ------------------------------------------------------------------- hello */

void
server_set_is_sm(struct sim_server *v, struct sim_place at, bool on)
{
	struct sim_fabric *f = &v->sim->fabric;

	fabric_set_is_sm(f, f->nodes[at.node].first_port + at.port, on);
	trap_raise(v->sim, at.node, SIM_TRAP_LOCAL);
}

static int
open_issm(struct connection *c)
{
	const struct sim_fabric *f = &c->server->sim->fabric;
	const uint8_t *info = fabric_port(f, c->at.node, c->at.port)->info;

	if (wire_get32(info + PORT_INFO_CAP_MASK) & PORT_INFO_IS_SM)
		return EAGAIN; /* one holder at a time, as the kernel */
	server_set_is_sm(c->server, c->at, true);
	return 0;
}

static int
open_kind(struct connection *c, const struct fmsim_hello *h)
{
	char node[sizeof(h->node) + 1] = "";

	memcpy(node, h->node, sizeof(h->node));
	if (h->kind == FMSIM_CALL || h->kind == FMSIM_CONSOLE)
		return 0;
	if (h->kind != FMSIM_FILE && h->kind != FMSIM_ISSM)
		return EPROTO;
	if (!find_place(c->server, node, h->port, &c->at))
		return ENODEV;
	if (h->kind == FMSIM_ISSM)
		return open_issm(c);
	c->file = host_open(c->server->sim, c->at, on_message, c);
	return c->file != NULL ? 0 : EBUSY;
}

static size_t
take_hello(struct connection *c, const uint8_t *at, size_t n)
{
	struct fmsim_welcome w = { .file = c->number };
	struct fmsim_hello h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	w.error = h.magic == FMSIM_MAGIC ? open_kind(c, &h) : EPROTO;
	connection_put(c, &w, sizeof(w), NULL, 0);
	if (w.error != 0) {
		connection_give_up(c);
		return n;
	}
	c->kind = h.kind;
	return sizeof(h);
}

/* ----------------------------------------------------------------- console */

static size_t
take_line(struct connection *c, uint8_t *at, size_t n)
{
	uint8_t *end = memchr(at, '\n', n);
	char *answer = NULL;

	if (end == NULL) {
		if (n > LINE_MAX_BYTES)
			connection_give_up(c);
		return 0;
	}
	*end = '\0';
	if (console_do(c->server->sim, (char *)at, &answer) == CONSOLE_QUIT)
		event_base_loopexit(c->server->base, NULL);
	if (answer != NULL)
		connection_put(c, answer, strlen(answer), NULL, 0);
	free(answer);
	return (size_t)(end - at) + 1;
}

size_t
connection_take(struct connection *c, uint8_t *at, size_t n)
{
	switch (c->kind) {
	case FMSIM_FILE:
		return take_frame(c, at, n);
	case FMSIM_CALL:
		return take_call(c, at, n);
	case FMSIM_CONSOLE:
		return take_line(c, at, n);
	case FMSIM_ISSM:
		return n; /* has nothing to say */
	default:
		return take_hello(c, at, n);
	}
}
