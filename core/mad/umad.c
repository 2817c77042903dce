/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/umad.c - MADs through the kernel's umad device, or through
 * umad2sim, which stands in for it in front of ibsim.
 *
 * umad2sim's descriptors are fakes that only its own poll() understands, one
 * at a time.  So a thread of ours blocks in umad_recv and hands over:
 *
 *	umad_recv --> receiver --> arriving[] ==swap== leaving[] --> on_mad
 *	               (thread)        |  eventfd          (the loop's thread)
 *
 * The two boxes are of fixed size and change places under the lock, so a
 * MAD is copied once and the loop takes whatever came in one step.  The
 * eventfd is written when the arriving box stops being empty.  A full box
 * holds the receiver back; the kernel (512 MADs) then queues.
 *
 * The kernel keeps a request till its time-out, however many there are; each send looks through all
 * of them for its TID, so thousands of silent nodes cost some time there.
 *
 * The kernel's rules: a request needs a timeout > 0, or its answer is dropped;
 * unanswered it comes back with ETIMEDOUT; the upper half of a request's TID
 * is overwritten; MADs that are no answers need an agent of their class with
 * the method in its mask; only one agent may have it.
 */
#include "config.h"

#include "core/mad/transport.h"

#ifndef HAVE_UMAD

int
transport_open_umad(const char *spec, struct transport **out, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG,
	    "\"%s\": this fmd was built without libibumad; it knows only sim:FABRIC", spec);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/mad/umad_port.h"
#include "core/wire/congestion.h"
#include "lib/log.h"
#include "lib/thread.h"

/* With as many probes, and twice as many parked while nothing answers (flight.h), no more answers
 * than the kernel's queue of 512 takes can come at once. */
#define MAX_WINDOW 128
#define BOX_MADS 512
#define RECEIVE_STEP_MS 100 /* how long close() may have to wait */
#define MAX_ERRORS 100	    /* failed receives in a row: the device is gone */
#define UMAD_ROOM 128	    /* more than any kernel's header before a MAD */

/* The classes we serve and the methods that reach us unasked.  The SA's has an agent
 * of its own (core/server/server.h). */
static const struct agent_class {
	uint8_t mgmt_class, class_version;
	uint8_t methods[8];
} agent_classes[] = {
	{ WIRE_CLASS_SMP_DR, 1, { WIRE_GET, WIRE_SET, WIRE_TRAP, WIRE_TRAP_REPRESS } },
	{ WIRE_CLASS_SMP_LID, 1, { WIRE_GET, WIRE_SET, WIRE_TRAP, WIRE_TRAP_REPRESS } },
	{ WIRE_CLASS_CC, WIRE_CC_VERSION, { 0 } }, /* answers alone, when it is first sent */
};
#define N_AGENTS (sizeof(agent_classes) / sizeof(agent_classes[0]))

struct box {
	struct mad *mads; /* [BOX_MADS] */
	unsigned n;
};

struct umad_transport {
	struct transport base;
	struct umad_choice choice;
	int port_id;
	int agents[N_AGENTS];
	int issm_fd; /* -1: not held */
	int event_fd;

	pthread_t receiver;
	bool receiving;
	pthread_mutex_t lock;
	pthread_cond_t room; /* the arriving box was taken */
	struct box arriving; /* under lock, as the three below */
	bool stop;
	int gone;	    /* errno of a port that fails, or 0 */
	struct box leaving; /* the loop's own */
};

static struct umad_transport *
umad_of(struct transport *t)
{
	return (struct umad_transport *)t;
}

/* ---- the receiver thread */

struct umad_buffer {
	_Alignas(8) uint8_t bytes[UMAD_ROOM + MAD_BYTES];
};

static void
mad_from_umad(struct mad *m, void *umad, int length)
{
	const ib_mad_addr_t *a = umad_get_mad_addr(umad);
	size_t n = length < 0 ? 0 : length < MAD_BYTES ? (size_t)length : MAD_BYTES;

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, umad_get_mad(umad), n);
	m->addr.lid = be16toh(a->lid);
	m->addr.sl = a->sl;
	m->addr.path_bits = a->path_bits;
	m->addr.qpn = be32toh(a->qpn);
	m->addr.qkey = be32toh(a->qkey);
	m->addr.pkey_index = a->pkey_index;
	m->status = umad_status(umad);
}

static void
ring_bell(struct umad_transport *u)
{
	uint64_t one = 1;

	if (write(u->event_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_err("mad", "cannot wake the loop: %s", strerror(errno));
}

/* False when the transport is closing. */
static bool
hand_over(struct umad_transport *u, void *umad, int length)
{
	bool stop, first;

	pthread_mutex_lock(&u->lock);
	while (u->arriving.n == BOX_MADS && !u->stop)
		pthread_cond_wait(&u->room, &u->lock);
	stop = u->stop;
	first = u->arriving.n == 0;
	if (!stop)
		mad_from_umad(&u->arriving.mads[u->arriving.n++], umad, length);
	pthread_mutex_unlock(&u->lock);
	if (!stop && first)
		ring_bell(u);
	return !stop;
}

static bool
is_stopping(struct umad_transport *u)
{
	bool stop;

	pthread_mutex_lock(&u->lock);
	stop = u->stop;
	pthread_mutex_unlock(&u->lock);
	return stop;
}

static void
give_up(struct umad_transport *u, int why)
{
	pthread_mutex_lock(&u->lock);
	u->gone = why;
	pthread_mutex_unlock(&u->lock);
	ring_bell(u);
}

static bool
is_just_quiet(int error)
{
	return error == ETIMEDOUT || error == EWOULDBLOCK || error == EAGAIN || error == EINTR;
}

/* One MAD, or the reason there is none: 0, or an errno. */
static int
receive_one(struct umad_transport *u, struct umad_buffer *b, int *length)
{
	int rc;

	*length = MAD_BYTES;
	errno = 0;
	rc = umad_recv(u->port_id, b->bytes, length, RECEIVE_STEP_MS);
	if (rc >= 0)
		return 0;
	return errno ? errno : -rc;
}

/* Errors that do not last (umad2sim's poll fails on spurious wake-ups) cost a
 * millisecond each; those that do mean that the device is gone. */
static void *
receiver(void *arg)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	struct umad_transport *u = arg;
	struct umad_buffer b;
	int n_errors = 0, length;

	while (!is_stopping(u)) {
		int error = receive_one(u, &b, &length);

		if (error == 0) {
			n_errors = 0;
			if (!hand_over(u, b.bytes, length))
				break;
		} else if (!is_just_quiet(error)) {
			if (++n_errors >= MAX_ERRORS || error == ENODEV || error == EBADF) {
				give_up(u, error);
				break;
			}
			nanosleep(&pause, NULL);
		}
	}
	return NULL;
}

static int
start_receiver(struct umad_transport *u, struct fm_error *err)
{
	int rc = fm_thread_start(&u->receiver, receiver, u);

	if (rc != 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot start a thread: %s", strerror(rc));
	u->receiving = true;
	return 0;
}

static void
stop_receiver(struct umad_transport *u)
{
	if (!u->receiving)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_signal(&u->room);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->receiver, NULL);
	u->receiving = false;
}

/* ---- operations */

/* Is it there from the start: may MADs of the class come unasked? */
static bool
is_at_once(const struct agent_class *c)
{
	return c->methods[0] != 0;
}

static int
register_agent(struct umad_transport *u, size_t i, struct fm_error *err)
{
	const struct agent_class *c = &agent_classes[i];
	unsigned bits = 8 * sizeof(long);
	long mask[16 / sizeof(long)] = { 0 };

	for (size_t k = 0; k < sizeof(c->methods) && c->methods[k] != 0; k++)
		mask[c->methods[k] / bits] |= 1L << c->methods[k] % bits;
	errno = 0;
	u->agents[i] = umad_register(u->port_id, c->mgmt_class, c->class_version, 0, mask);
	if (u->agents[i] < 0)
		return fm_fail(err, FM_E_SYSTEM,
		    "cannot register for class 0x%02x on %s port %d: %s%s", c->mgmt_class,
		    u->choice.ca, u->choice.port, strerror(errno ? errno : EBUSY),
		    is_at_once(c) ? " (does another subnet manager run on it?)" : "");
	return 0;
}

/* The agent of a class, now registered; a negative kind: there is none. */
static int
agent_of(struct umad_transport *u, uint8_t mgmt_class, struct fm_error *err)
{
	for (size_t i = 0; i < N_AGENTS; i++) {
		if (agent_classes[i].mgmt_class != mgmt_class)
			continue;
		if (u->agents[i] < 0 && register_agent(u, i, err) != 0)
			return FM_E_SYSTEM;
		return u->agents[i];
	}
	return fm_fail(err, FM_E_BUG, "no agent for class 0x%02x", mgmt_class);
}

static int
umad_transport_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct umad_transport *u = umad_of(t);
	struct umad_buffer b;
	int agent = agent_of(u, m->bytes[1], err);

	if (agent < 0)
		return agent;
	memset(b.bytes, 0, umad_size());
	memcpy(umad_get_mad(b.bytes), m->bytes, MAD_BYTES);
	umad_set_addr(b.bytes, m->addr.lid, (int)m->addr.qpn, m->addr.sl, (int)m->addr.qkey);
	umad_set_pkey(b.bytes, m->addr.pkey_index);
	umad_get_mad_addr(b.bytes)->path_bits = m->addr.path_bits;
	if (umad_send(u->port_id, agent, b.bytes, MAD_BYTES, (int)m->timeout_ms, 0) < 0)
		return fm_fail(err, FM_E_SYSTEM, "%s port %d: %s", u->choice.ca, u->choice.port,
		    strerror(errno ? errno : EIO));
	return 0;
}

static int64_t
umad_now_ns(struct transport *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The arriving box becomes the leaving one.  Returns how many MADs it has. */
static unsigned
swap_boxes(struct umad_transport *u, int *gone)
{
	struct box was;

	pthread_mutex_lock(&u->lock);
	was = u->leaving;
	was.n = 0;
	u->leaving = u->arriving;
	u->arriving = was;
	*gone = u->gone;
	pthread_cond_signal(&u->room);
	pthread_mutex_unlock(&u->lock);
	return u->leaving.n;
}

/* Until the bell rings, until_ns or a signal; then hush the bell. */
static void
wait_for_bell(struct umad_transport *u, int64_t until_ns)
{
	struct pollfd p = { .fd = u->event_fd, .events = POLLIN };
	struct timespec ts = { 0 }, *timeout = &ts;
	uint64_t n;

	if (until_ns == INT64_MAX)
		timeout = NULL;
	else {
		int64_t left = until_ns - umad_now_ns(&u->base);

		if (left > 0) {
			ts.tv_sec = left / 1000000000;
			ts.tv_nsec = left % 1000000000;
		}
	}
	if (ppoll(&p, 1, timeout, NULL) > 0 && read(u->event_fd, &n, sizeof(n)) < 0)
		log_debug("mad", "the bell was hushed by somebody else");
}

static int
umad_transport_poll(struct transport *t, int64_t until_ns, struct fm_error *err)
{
	struct umad_transport *u = umad_of(t);
	int gone;
	unsigned n;

	wait_for_bell(u, until_ns);
	n = swap_boxes(u, &gone);
	for (unsigned i = 0; i < n; i++)
		if (t->on_mad)
			t->on_mad(t->on_mad_arg, &u->leaving.mads[i]);
	if (n == 0 && gone != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s port %d receives no more: %s", u->choice.ca,
		    u->choice.port, strerror(gone));
	return (int)n;
}

static int
umad_transport_fd(struct transport *t)
{
	return umad_of(t)->event_fd;
}

static int
umad_local_port(struct transport *t, struct local_port *out, struct fm_error *err)
{
	return umad_read_port(&umad_of(t)->choice, out, err);
}

/* IsSM is set as long as issmN is open.  Without it the subnet works all the
 * same, only other managers do not see us by the bit: a warning. */
static int
umad_set_is_sm(struct transport *t, bool on, struct fm_error *err)
{
	struct umad_transport *u = umad_of(t);
	char path[256];

	if (!on && u->issm_fd >= 0) {
		close(u->issm_fd);
		u->issm_fd = -1;
	}
	if (!on || u->issm_fd >= 0)
		return 0;
	if (umad_get_issm_path(u->choice.ca, u->choice.port, path, sizeof(path)) < 0) {
		log_warn("mad", "the kernel has no issm device for %s port %d: IsSM stays unset",
		    u->choice.ca, u->choice.port);
		return 0;
	}
	u->issm_fd = open(path, O_NONBLOCK);
	if (u->issm_fd < 0)
		log_warn("mad", "cannot open %s: %s: IsSM stays unset%s", path, strerror(errno),
		    errno == EAGAIN ? "; another subnet manager on this port holds it" : "");
	return 0;
}

static void
umad_close(struct transport *t)
{
	struct umad_transport *u = umad_of(t);
	struct fm_error err;

	stop_receiver(u);
	umad_set_is_sm(t, false, &err);
	for (size_t i = 0; i < N_AGENTS; i++)
		if (u->agents[i] >= 0)
			umad_unregister(u->port_id, u->agents[i]);
	if (u->port_id >= 0)
		umad_close_port(u->port_id);
	if (u->event_fd >= 0)
		close(u->event_fd);
	pthread_cond_destroy(&u->room);
	pthread_mutex_destroy(&u->lock);
	free(u->arriving.mads);
	free(u->leaving.mads);
	free(u);
}

static const struct transport_ops umad_ops = {
	.name = "umad",
	.has_agents = true,
	.send = umad_transport_send,
	.poll = umad_transport_poll,
	.now_ns = umad_now_ns,
	.fd = umad_transport_fd,
	.local_port = umad_local_port,
	.set_is_sm = umad_set_is_sm,
	.close = umad_close,
};

/* ---- opening */

static int
open_port(struct umad_transport *u, struct fm_error *err)
{
	errno = 0;
	u->port_id = umad_open_port(u->choice.ca, u->choice.port);
	if (u->port_id < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot open %s port %d: %s", u->choice.ca,
		    u->choice.port, strerror(errno ? errno : -u->port_id));
	for (size_t i = 0; i < N_AGENTS; i++)
		if (is_at_once(&agent_classes[i]) && register_agent(u, i, err) != 0)
			return err ? (int)err->kind : FM_E_SYSTEM;
	return 0;
}

static struct umad_transport *
new_transport(void)
{
	struct umad_transport *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->base.ops = &umad_ops;
	u->base.max_window = MAX_WINDOW;
	u->port_id = u->issm_fd = -1;
	for (size_t i = 0; i < N_AGENTS; i++)
		u->agents[i] = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->room, NULL);
	u->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	u->arriving.mads = calloc(BOX_MADS, sizeof(struct mad));
	u->leaving.mads = calloc(BOX_MADS, sizeof(struct mad));
	if (u->event_fd >= 0 && u->arriving.mads != NULL && u->leaving.mads != NULL)
		return u;
	umad_close(&u->base);
	return NULL;
}

static int
open_chosen(const struct umad_choice *choice, struct transport **out, struct fm_error *err)
{
	struct umad_transport *u = new_transport();
	int rc;

	if (u == NULL)
		return fm_fail(err, FM_E_RESOURCE, "memory or descriptors are out");
	u->choice = *choice;
	rc = open_port(u, err);
	if (rc == 0)
		rc = start_receiver(u, err);
	if (rc != 0) {
		umad_close(&u->base);
		return rc;
	}
	*out = &u->base;
	return 0;
}

int
transport_open_umad(const char *spec, struct transport **out, struct fm_error *err)
{
	struct umad_choice choice;
	int rc = umad_parse_spec(spec, &choice, err);

	if (rc != 0)
		return rc;
	if (umad_init() < 0)
		return fm_fail(
		    err, FM_E_SYSTEM, "no umad device: is the kernel module ib_umad loaded?");
	rc = umad_choose_port(&choice, err);
	return rc != 0 ? rc : open_chosen(&choice, out, err);
}

#endif

const struct transport_kind transport_umad = { .name = "umad",
	.usage = "umad[:CA[:PORT]]",
	.open = transport_open_umad,
	.look = umad_look,
	.neighbour = umad_neighbour };
