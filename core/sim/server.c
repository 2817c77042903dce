/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets to the simulator.
 *
 *	bytes ──► connection ──► hello? frame? call? line? ──► host.c, console.c
 *	                                                           │
 *	bytes ◄── connection (queue, bounded) ◄────────────────────┘
 *
 * A program that does not read loses messages, as at a full receive queue.
 *
 * Time: the model's clock follows the wall.  What is due within SLACK_NS is
 * done at once, so that an SMP of some microseconds does not wait for a timer
 * of the kernel; order and queues stay as they are, only short waits shrink.
 */
#include "core/sim/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/sim/console.h"
#include "core/sim/host.h"
#include "core/sim/net.h"
#include "core/sim/pma.h"
#include "core/sim/umad_proto.h"
#include "lib/log.h"

#define SLACK_NS INT64_C(1000000)
#define READ_BYTES 65536
#define LINE_MAX_BYTES 4096
#define NS_PER_S INT64_C(1000000000)

struct connection {
	struct sim_server *server;
	struct connection *next, **link;
	int in, out;
	struct event *readable, *writable;
	FM_VEC(uint8_t) input;
	struct evbuffer *queue; /* what the peer has not taken yet */
	uint32_t kind;		/* 0: has not said hello */
	uint32_t number;
	bool dead, owns_fds;
	struct sim_place at;
	struct host_file *file; /* FILE */
};

struct sim_server {
	struct sim *sim;
	struct sim_place local;
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *timer;
	struct connection *connections;
	uint32_t n_numbers;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* ------------------------------------------------------------------- clock */

/* Before anything is sent, too: time-outs count from now. */
static int64_t
catch_up(struct sim *s)
{
	int64_t now_ns = sim_now_ns(s);

	if (now_ns > s->fabric.now_ns)
		s->fabric.now_ns = now_ns;
	return now_ns;
}

static void
run_model(struct sim_server *v)
{
	struct sim *s = v->sim;
	int64_t now_ns = catch_up(s), wait_ns;
	struct timeval wait;

	while (net_is_due(s, now_ns + SLACK_NS))
		net_step(s);
	if (net_next_ns(s) == INT64_MAX) {
		event_del(v->timer);
		return;
	}
	wait_ns = net_next_ns(s) - sim_now_ns(s) - SLACK_NS / 2;
	if (wait_ns < 0)
		wait_ns = 0;
	wait = (struct timeval){ wait_ns / NS_PER_S, wait_ns % NS_PER_S / 1000 };
	event_add(v->timer, &wait);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	run_model(arg);
}

/* ------------------------------------------------------------- connections */

static void
set_is_sm(struct sim_server *v, struct sim_place at, bool on)
{
	struct sim_fabric *f = &v->sim->fabric;

	fabric_set_is_sm(f, f->nodes[at.node].first_port + at.port, on);
	trap_raise(v->sim, at.node, SIM_TRAP_LOCAL);
}

static void
drop(struct connection *c)
{
	struct sim_server *v = c->server;

	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	if (c->file != NULL)
		host_close(c->file);
	if (c->kind == FMSIM_ISSM)
		set_is_sm(v, c->at, false);
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->writable != NULL)
		event_free(c->writable);
	if (c->queue != NULL)
		evbuffer_free(c->queue);
	if (c->owns_fds)
		close(c->in);
	fm_vec_fini(&c->input);
	free(c);
}

/* It is dropped when the loop comes to it: callers may still hold it. */
static void
give_up(struct connection *c)
{
	c->dead = true;
	event_active(c->readable, EV_READ, 0);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;

	if (evbuffer_write(c->queue, c->out) < 0 && errno != EAGAIN && errno != EINTR)
		give_up(c);
	else if (evbuffer_get_length(c->queue) > 0)
		event_add(c->writable, NULL);
}

/* Two pieces as one; at once if the peer keeps up. */
static void
put(struct connection *c, const void *head, size_t n_head, const void *body, size_t n_body)
{
	struct iovec parts[] = { { (void *)head, n_head }, { (void *)body, n_body } };
	size_t sent = 0;
	ssize_t n;

	if (c->dead)
		return;
	if (evbuffer_get_length(c->queue) == 0) {
		n = writev(c->out, parts, n_body > 0 ? 2 : 1);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			give_up(c);
			return;
		}
		sent = n > 0 ? (size_t)n : 0;
	}
	if (sent == n_head + n_body)
		return;
	if (sent < n_head)
		evbuffer_add(c->queue, (const char *)head + sent, n_head - sent);
	sent = sent > n_head ? sent - n_head : 0;
	if (sent < n_body)
		evbuffer_add(c->queue, (const char *)body + sent, n_body - sent);
	event_add(c->writable, NULL);
}

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

	if (evbuffer_get_length(c->queue) > most)
		return false;
	put(c, &f, sizeof(f), m->bytes, m->length);
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
		give_up(c);
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
look(const struct sim_server *v, const char *node, struct fmsim_ca *ca)
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
		return look(v, node, ca);
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
	put(c, &a, sizeof(a), &ca, call.op == FMSIM_LOOK && a.value == 0 ? sizeof(ca) : 0);
	return sizeof(call);
}

/* ------------------------------------------------------------------- hello */

static int
open_issm(struct connection *c)
{
	const struct sim_fabric *f = &c->server->sim->fabric;
	const uint8_t *info = fabric_port(f, c->at.node, c->at.port)->info;

	if (wire_get32(info + PORT_INFO_CAP_MASK) & PORT_INFO_IS_SM)
		return EAGAIN; /* one holder at a time, as the kernel */
	set_is_sm(c->server, c->at, true);
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
	put(c, &w, sizeof(w), NULL, 0);
	if (w.error != 0) {
		give_up(c);
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
			give_up(c);
		return 0;
	}
	*end = '\0';
	if (console_do(c->server->sim, (char *)at, &answer) == CONSOLE_QUIT)
		event_base_loopexit(c->server->base, NULL);
	if (answer != NULL)
		put(c, answer, strlen(answer), NULL, 0);
	free(answer);
	return (size_t)(end - at) + 1;
}

/* ----------------------------------------------------------------- reading */

static size_t
take(struct connection *c, uint8_t *at, size_t n)
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

static void
take_all(struct connection *c)
{
	size_t used = 0, n = 1;

	while (n > 0 && used < c->input.n && !c->dead) {
		n = take(c, c->input.item + used, c->input.n - used);
		used += n;
	}
	c->input.n -= used;
	memmove(c->input.item, c->input.item + used, c->input.n);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;
	struct sim_server *v = c->server;
	ssize_t n = -1;

	errno = ENOMEM;
	if (!c->dead && fm_vec_reserve(&c->input, c->input.n + READ_BYTES))
		n = read(c->in, c->input.item + c->input.n, READ_BYTES);
	if (n < 0 && (errno == EAGAIN || errno == EINTR) && !c->dead)
		return;
	if (n <= 0) {
		drop(c);
	} else {
		c->input.n += (size_t)n;
		catch_up(v->sim);
		take_all(c);
	}
	run_model(v);
}

/* ----------------------------------------------------------------- opening */

static struct connection *
connect_fds(struct sim_server *v, int in, int out, bool owns)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->server = v;
	c->in = in;
	c->out = out;
	c->owns_fds = owns;
	c->number = ++v->n_numbers;
	c->link = &v->connections;
	c->next = v->connections;
	if (c->next != NULL)
		c->next->link = &c->next;
	v->connections = c;
	c->queue = evbuffer_new();
	c->readable = event_new(v->base, in, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(v->base, out, EV_WRITE, on_writable, c);
	if (c->queue == NULL || c->readable == NULL || c->writable == NULL ||
	    event_add(c->readable, NULL) != 0) {
		c->owns_fds = false;
		drop(c);
		return NULL;
	}
	return c;
}

static void
on_accept(
    struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from, int n_from, void *arg)
{
	if (connect_fds(arg, fd, fd, true) == NULL) {
		log_warn("sim", "no memory for a connection");
		close(fd);
	}
}

int
sim_server_console(struct sim_server *v, int in, int out, struct fm_error *err)
{
	struct connection *c = connect_fds(v, in, out, false);

	if (c == NULL)
		return fm_fail(err, FM_E_SYSTEM, "descriptor %d cannot be a console", in);
	c->kind = FMSIM_CONSOLE;
	return 0;
}

/* A socket whose server is gone may be taken away; a living one may not. */
static int
clear_path(const struct sockaddr_un *name, struct fm_error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool alive = connect(fd, (const struct sockaddr *)name, sizeof(*name)) == 0;
	struct stat st;

	close(fd);
	if (alive)
		return fm_fail(err, FM_E_CONFIG, "another fmsim serves %s", name->sun_path);
	if (lstat(name->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return fm_fail(err, FM_E_CONFIG, "%s is there and is no socket", name->sun_path);
	unlink(name->sun_path);
	return 0;
}

static int
listen_at(struct sim_server *v, const char *path, struct fm_error *err)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(name.sun_path))
		return fm_fail(err, FM_E_CONFIG, "%s is too long for a socket: %zu bytes at most",
		    path, sizeof(name.sun_path) - 1);
	memcpy(name.sun_path, path, strlen(path) + 1);
	rc = clear_path(&name, err);
	if (rc != 0)
		return rc;
	mask = umask(0177);
	v->listener = evconnlistener_new_bind(v->base, on_accept, v,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 128, (struct sockaddr *)&name,
	    sizeof(name));
	umask(mask);
	if (v->listener == NULL)
		return fm_fail(err, FM_E_SYSTEM, "cannot listen at %s: %s", path, strerror(errno));
	memcpy(v->path, name.sun_path, sizeof(v->path));
	return 0;
}

int
sim_server_new(struct sim *s, struct sim_place local, struct event_base *base, const char *path,
    struct sim_server **out, struct fm_error *err)
{
	struct sim_server *v = calloc(1, sizeof(*v));
	int rc;

	if (v == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a server");
	v->sim = s;
	v->local = local;
	v->base = base;
	v->timer = evtimer_new(base, on_timer, v);
	rc = v->timer != NULL && pma_start(&s->fabric)
	    ? listen_at(v, path, err)
	    : fm_fail(err, FM_E_RESOURCE, "no memory for a timer and counters");
	if (rc != 0) {
		sim_server_free(v);
		return rc;
	}
	run_model(v);
	*out = v;
	return 0;
}

void
sim_server_free(struct sim_server *v)
{
	if (v == NULL)
		return;
	while (v->connections != NULL)
		drop(v->connections);
	if (v->listener != NULL)
		evconnlistener_free(v->listener);
	if (v->timer != NULL)
		event_free(v->timer);
	if (v->path[0] != '\0')
		unlink(v->path);
	free(v);
}
