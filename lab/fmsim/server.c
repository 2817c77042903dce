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
#include "lab/fmsim/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lab/fmsim/server_internal.h"
#include "lab/sim/pma.h"
#include "lib/log.h"

#define SLACK_NS INT64_C(1000000)
#define READ_BYTES 65536
#define NS_PER_S INT64_C(1000000000)

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
drop(struct connection *c)
{
	struct sim_server *v = c->server;

	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	if (c->file != NULL)
		host_close(c->file);
	if (c->kind == FMSIM_ISSM)
		server_set_is_sm(v, c->at, false);
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

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;

	if (evbuffer_write(c->queue, c->out) < 0 && errno != EAGAIN && errno != EINTR)
		connection_give_up(c);
	else if (evbuffer_get_length(c->queue) > 0)
		event_add(c->writable, NULL);
}

/* ----------------------------------------------------------------- reading */

static void
take_all(struct connection *c)
{
	size_t used = 0, n = 1;

	while (n > 0 && used < c->input.n && !c->dead) {
		n = connection_take(c, c->input.item + used, c->input.n - used);
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
