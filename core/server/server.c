/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/server/server.c - the SA's thread, or its place on the loop.
 *
 * The thread takes in what has come and answers it.  Batches are as large as they may be without
 * being felt: what was just read is still in the cache, and of what waits long a client sends
 * everything again.  While somebody asks for more than a share the thread takes in eight times as
 * much as it answers, so that what others have asked does not wait in the kernel's queue, where
 * there are no turns; whoever has too much waiting is told BUSY at once.
 */
#include "core/server/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mad/umad_agent.h"
#include "core/rmpp/rmpp_port.h"
#include "core/server/turns.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"
#include "lib/vec.h"

#define TALKERS_MS 1000
#define IDLE_MS 20	   /* a call that is posted waits so long at most */
#define TAKE_IN 256	   /* requests, before one is answered */
#define ANSWER_AT_ONCE 256 /* before more are taken in */
#define ANSWER_BESIDES 32  /* ... when one of those that were taken in was told BUSY */
#define LOOKS_AT_ONCE 4096 /* at records, for the same */
#define MOST_ERRORS 100	   /* failed receives in a row: the device is gone */
#define MOST_REQUEST_BYTES 65536
#define NS_PER_MS INT64_C(1000000)
#define HELD_NAP_NS 50000     /* between two looks whether answers that wait may leave */
#define SEND_RETRIES 3	      /* of the kernel's RMPP */
#define REPORT_TIMEOUT_MS 900 /* then it is ours to repeat (notices.h) */
#define METHOD_AT 3	      /* in a MAD */

/* RMPP gives up after 8 s: SEND_RETRIES times 2 s more (core/rmpp/rmpp.h, and the kernel) */
static const struct sa_turns_limits limits = { .share = { .n_max = 8192,
						   .n_client_max = 128,
						   .bytes_max = 16u << 20,
						   .bytes_client_max = 256u << 10 },
	.held = { .client_max = 64u << 20, .all_max = 512u << 20, .hold_ms = 10000 },
	.begun_max = 128u << 20,
	.request_max = MOST_REQUEST_BYTES };
static const struct umad_agent_class sa_class = { .mgmt_class = WIRE_CLASS_SA,
	.class_version = SA_CLASS_VERSION,
	.rmpp = true,
	/* Report: subscribers of other SAs answer it; ours are told by us */
	.methods = { SA_GET, SA_SET, SA_GET_TABLE, SA_GET_TRACE_TABLE, SA_GET_MULTI, SA_DELETE } };

struct posted {
	void (*fn)(void *arg, struct sa *sa);
	void *arg;
};

struct sa_server {
	struct sa_slot slot;
	struct sa *sa;
	struct transport *transport; /* inline, as the two below */
	struct rmpp_port *rmpp;
	const struct mad *asked;  /* the MAD in hand */
	struct umad_agent *agent; /* thread */
	struct sa_turns *turns;
	struct fm_log_bucket send_bucket;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	bool crowded;	      /* of those taken in last one was told BUSY */
	int64_t look_ms;      /* at talkers, next */
	pthread_mutex_t lock; /* of the three below */
	FM_VEC(struct posted) posted;
	struct sa_counts counts;     /* as of a while ago */
	struct talkers_seen talkers; /* the same */
};

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------------ thread */

static void
send_by_agent(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_server *s = arg;
	struct fm_error err = { 0 };

	/* the kernel lets an answer through only to what waits for one */
	bool is_report = bytes[METHOD_AT] == SA_REPORT;

	if (umad_agent_send(s->agent, to, bytes, n_bytes, is_report ? REPORT_TIMEOUT_MS : 0,
		is_report ? 0 : SEND_RETRIES, &err) == 0)
		sa_turns_sent(s->turns, to, bytes, n_bytes);
	else
		fm_log_rl(&s->send_bucket, FM_LOG_WARN, "sa", "an answer to LID %u is not sent: %s",
		    to->lid, err.msg);
}

static void
run_posted(struct sa_server *s)
{
	struct posted *p = NULL;
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->posted.n;
	if (n > 0) {
		p = s->posted.item;
		memset(&s->posted, 0, sizeof(s->posted));
	}
	s->counts = *sa_counts(s->sa);
	pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < n; i++)
		p[i].fn(p[i].arg, s->sa);
	free(p);
}

static void
look_at_talkers(struct sa_server *s)
{
	struct talkers_seen seen;

	if (now_ms() < s->look_ms)
		return;
	s->look_ms = now_ms() + TALKERS_MS;
	sa_turns_talkers(s->turns, now_ms(), &seen);
	pthread_mutex_lock(&s->lock);
	s->talkers = seen;
	pthread_mutex_unlock(&s->lock);
}

/* What has come; the first may be waited for.  Negative: an errno. */
static int
take_in(struct sa_server *s, int wait_ms)
{
	struct umad_message m;
	int64_t came_ms = 0;
	int rc = 0;

	s->crowded = false;
	for (unsigned i = 0; i < TAKE_IN; i++) {
		rc = umad_agent_receive(s->agent, i == 0 ? wait_ms : 0, &m);
		if (rc <= 0)
			break;
		came_ms = i == 0 ? now_ms() : came_ms;
		if (m.status == 0 && !sa_turns_put(s->turns, &m.addr, m.bytes, m.n_bytes, came_ms))
			s->crowded = true;
	}
	return rc;
}

/* Not for longer than a slice of a table takes, since more may have come meanwhile. */
static void
answer_some(struct sa_server *s)
{
	unsigned n = s->crowded ? ANSWER_BESIDES : ANSWER_AT_ONCE;
	uint64_t looks = sa_counts(s->sa)->looked_at;

	for (unsigned i = 0; i < n; i++)
		if (!sa_turns_step(s->turns, now_ms()) ||
		    sa_counts(s->sa)->looked_at - looks >= LOOKS_AT_ONCE)
			return;
}

static int
wait_ms(struct sa_server *s, int64_t due_ms)
{
	int64_t left = due_ms - now_ms();

	if (sa_turns_waiting(s->turns) > 0 || left <= 0)
		return 0;
	return left < IDLE_MS ? (int)left : IDLE_MS;
}

static void *
run_sa_thread(void *arg)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	static const struct timespec nap = { .tv_nsec = HELD_NAP_NS };
	struct sa_server *s = arg;
	int64_t due_ms = 0;
	int n_errors = 0;

	while (!atomic_load(&s->stop)) {
		int rc;

		if (sa_holds_answers(s->sa))
			nanosleep(&nap, NULL);
		rc = -EBADF;
		if (n_errors < MOST_ERRORS)
			rc = take_in(s, sa_holds_answers(s->sa) ? 0 : wait_ms(s, due_ms));
		if (rc >= 0)
			n_errors = 0;
		else if (n_errors < MOST_ERRORS && ++n_errors == MOST_ERRORS)
			log_err("sa", "no more requests are received: %s", strerror(-rc));
		if (rc < 0) /* what is posted is done all the same */
			nanosleep(&pause, NULL);
		run_posted(s);
		look_at_talkers(s);
		answer_some(s);
		due_ms = sa_tick(s->sa, now_ms());
	}
	return NULL;
}

static int
start_thread(struct sa_server *s, struct fm_error *err)
{
	int rc = fm_thread_start(&s->thread, run_sa_thread, s);

	if (rc != 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot start a thread: %s", strerror(rc));
	s->running = true;
	return 0;
}

/* ------------------------------------------------------------------ inline */

static void
send_mad(void *arg, const uint8_t *mad, const struct mad_addr *to)
{
	struct sa_server *s = arg;
	struct mad m = { .addr = *to };
	struct fm_error err = { 0 };

	memcpy(m.bytes, mad, sizeof(m.bytes));
	if (s->transport->ops->send(s->transport, &m, &err) != 0)
		fm_log_rl(&s->send_bucket, FM_LOG_WARN, "sa", "an answer to LID %u is not sent: %s",
		    to->lid, err.msg);
}

/* Tables go as RMPP, however short they are. */
static void
send_inline(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_server *s = arg;
	struct fm_error err = { 0 };

	if (!rmpp_is_active(bytes)) {
		send_mad(s, bytes, to);
		return;
	}
	if (rmpp_port_send(s->rmpp, bytes, n_bytes, to, NULL, 0,
		s->transport->ops->now_ns(s->transport), &err) == 0)
		sa_turns_sent(s->turns, to, bytes, n_bytes);
	else if (s->asked != NULL)
		sa_refuse(s->sa, to, s->asked->bytes, sizeof(s->asked->bytes), SA_NO_RESOURCES);
}

static int64_t
transport_ms(struct sa_server *s)
{
	return s->transport->ops->now_ns(s->transport) / NS_PER_MS;
}

static void
on_message(void *arg, const uint8_t *message, size_t n_bytes, const struct mad_addr *from)
{
	struct sa_server *s = arg;

	sa_turns_at_once(s->turns, from, message, n_bytes, transport_ms(s));
}

bool
sa_server_on_mad(struct sa_server *s, const struct mad *m)
{
	if (s->agent != NULL || m->bytes[1] != WIRE_CLASS_SA)
		return false;
	if (m->status != 0)
		return true;
	s->asked = m;
	if (rmpp_is_active(m->bytes))
		rmpp_port_take(
		    s->rmpp, m->bytes, &m->addr, s->transport->ops->now_ns(s->transport));
	else
		on_message(s, m->bytes, sizeof(m->bytes), &m->addr);
	s->asked = NULL;
	return true;
}

int64_t
sa_server_step(struct sa_server *s)
{
	int64_t due_ns, due_ms;

	if (s->agent != NULL)
		return INT64_MAX;
	run_posted(s);
	due_ns = rmpp_port_due(s->rmpp);
	if (due_ns <= s->transport->ops->now_ns(s->transport)) {
		rmpp_port_tick(s->rmpp, s->transport->ops->now_ns(s->transport));
		due_ns = rmpp_port_due(s->rmpp);
	}
	due_ms = sa_tick(s->sa, transport_ms(s));
	if (due_ms == INT64_MAX || due_ns / NS_PER_MS < due_ms)
		return due_ns;
	return due_ms * NS_PER_MS;
}

static struct rmpp_port *
new_rmpp(struct sa_server *s)
{
	struct rmpp_port_ops ops = { .send = send_mad, .received = on_message, .arg = s };
	struct rmpp_port_limits port;

	rmpp_port_limits_default(&port);
	port.transfer.max_bytes = MOST_REQUEST_BYTES;
	return rmpp_port_new(&port, &ops);
}

/* -------------------------------------------------------------------- both */

int
sa_server_start(struct transport *t, const char *spec, struct registry *registry,
    struct sa_server **out, struct fm_error *err)
{
	struct sa_server *s = calloc(1, sizeof(*s));
	bool threaded = t->ops->has_agents;
	struct sa_out to = { threaded ? send_by_agent : send_inline, s };
	int rc = 0;

	if (s == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the SA");
	s->transport = t;
	atomic_init(&s->stop, false);
	pthread_mutex_init(&s->lock, NULL);
	sa_slot_init(&s->slot);
	s->sa = sa_new(&s->slot, &to, registry);
	s->turns = s->sa != NULL ? sa_turns_new(s->sa, &limits) : NULL;
	s->rmpp = threaded ? NULL : new_rmpp(s);
	if (s->turns == NULL || (!threaded && s->rmpp == NULL))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the SA");
	if (rc == 0 && threaded)
		rc = umad_agent_open(spec, &sa_class, &s->agent, err);
	if (rc == 0 && threaded)
		rc = start_thread(s, err);
	if (rc != 0) {
		sa_server_stop(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
sa_server_stop(struct sa_server *s)
{
	if (s == NULL)
		return;
	atomic_store(&s->stop, true);
	if (s->running)
		pthread_join(s->thread, NULL);
	if (s->sa != NULL)
		run_posted(s); /* who posted it had it done before the end */
	umad_agent_close(s->agent);
	sa_turns_free(s->turns);
	if (s->rmpp != NULL)
		rmpp_port_free(s->rmpp);
	sa_free(s->sa);
	sa_slot_fini(&s->slot);
	fm_vec_fini(&s->posted);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void
sa_server_publish(struct sa_server *s, struct sa_view *v)
{
	sa_slot_set(&s->slot, v);
}

void
sa_server_publish_mfts(struct sa_server *s, struct mft_rows *r)
{
	sa_slot_set_mfts(&s->slot, r);
}

struct sa_view *
sa_server_view(struct sa_server *s)
{
	return sa_slot_get(&s->slot);
}

int
sa_server_post(
    struct sa_server *s, void (*fn)(void *arg, struct sa *sa), void *arg, struct fm_error *err)
{
	struct posted p = { fn, arg };
	bool ok;

	pthread_mutex_lock(&s->lock);
	ok = fm_vec_push(&s->posted, p);
	pthread_mutex_unlock(&s->lock);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for work of the SA");
}

/* Work that somebody waits for. */
struct awaited {
	void (*fn)(void *arg, struct sa *sa);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void
run_awaited(void *arg, struct sa *sa)
{
	struct awaited *w = arg;

	w->fn(w->arg, sa);
	pthread_mutex_lock(&w->lock);
	w->is_done = true;
	pthread_cond_signal(&w->done);
	pthread_mutex_unlock(&w->lock);
}

int
sa_server_run(
    struct sa_server *s, void (*fn)(void *arg, struct sa *sa), void *arg, struct fm_error *err)
{
	struct awaited w = { .fn = fn, .arg = arg };
	int rc;

	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.done, NULL);
	rc = sa_server_post(s, run_awaited, &w, err);
	if (rc == 0 && s->agent == NULL)
		run_posted(s);
	pthread_mutex_lock(&w.lock);
	while (rc == 0 && !w.is_done)
		pthread_cond_wait(&w.done, &w.lock);
	pthread_mutex_unlock(&w.lock);
	pthread_cond_destroy(&w.done);
	pthread_mutex_destroy(&w.lock);
	return rc;
}

void
sa_server_counts(struct sa_server *s, struct sa_counts *out)
{
	if (s->agent == NULL) {
		*out = *sa_counts(s->sa);
		return;
	}
	pthread_mutex_lock(&s->lock);
	*out = s->counts;
	pthread_mutex_unlock(&s->lock);
}

void
sa_server_talkers(struct sa_server *s, struct talkers_seen *out)
{
	if (s->agent == NULL) {
		sa_turns_talkers(s->turns, transport_ms(s), out);
		return;
	}
	pthread_mutex_lock(&s->lock);
	*out = s->talkers;
	pthread_mutex_unlock(&s->lock);
}
