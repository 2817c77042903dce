/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/taking.c - our copy of the master, by one of copy_from, and the take-over.
 *
 * The SA of a standby is emptied when a copy begins, and loads the store when the master is gone: a
 * take-over is the start of an fmd that knows the fabric.
 */
#include <errno.h>
#include <string.h>

#include "core/events/tell.h"
#include "core/program/program.h"
#include "core/server/server.h"
#include "core/sms/sms.h"
#include "core/standby/internal.h"

#define AGAIN_MS 500  /* to the next socket of copy_from */
#define DOUBT_MS 3000 /* so long a silent log makes one doubt the master; then it is left */

/* Who says HELLO once more believes nothing of the copy before, and the master counts on that. */
_Static_assert(AGAIN_MS >= LINK_BELIEF_MS, "a belief may outlive the HELLO that ends its lease");

/* What the SA had registered itself would be saved over the master's. */
static void
clear(void *arg, struct sa *sa)
{
	const struct copying *c = arg;

	if (!c->p.clear(c->p.arg, sa))
		log_err("sa", "out of memory: what was registered here before stays");
}

static void
load(void *arg, struct sa *sa)
{
	const struct copying *c = arg;

	c->p.load(c->p.arg, sa);
}

/* What follows from it is on its way to the sweep when this returns. */
static void
run_in_sa(struct copying *c, void (*fn)(void *arg, struct sa *sa))
{
	struct fm_error err = { 0 };

	if (sa_server_run(c->p.sa, fn, c, &err) != 0)
		log_err("sa", "%s", err.msg);
}

/* Where polls tell that it is gone, there is less left to do. */
static void
prepare(struct copying *c)
{
	if (c->t.prepares || !mirror_is_whole(c->t.mirror) || !mirror_is_settled(c->t.mirror))
		return;
	c->t.prepares = true;
	c->p.prepare(c->p.arg);
}

static void
leave_master(struct copying *c, const char *why)
{
	if (c->t.io != NULL)
		bufferevent_free(c->t.io);
	c->t.io = NULL;
	c->t.again_ms = standby_now_ms() + AGAIN_MS;
	snprintf(c->t.why, sizeof(c->t.why), "%s", why);
	if (c->t.mirror != NULL) {
		sms_note_log(c->p.sweeper, true);
		prepare(c);
	}
	fm_log_rl(
	    &c->t.bucket, FM_LOG_INFO, "ha", "no copy of the master by %s: %s", c->t.from, why);
}

static int
begin_mirror(struct copying *c, struct fm_error *err)
{
	const char *file[LINK_FILES];

	for (unsigned w = 0; w < LINK_FILES; w++)
		file[w] = c->file[w].path;
	mirror_free(c->t.mirror);
	c->t.mirror = NULL;
	return mirror_new(c->p.store, file, &c->t.mirror, err);
}

static int
take_from_master(struct copying *c, const struct link_frame *f, struct fm_error *err)
{
	bool was_whole = c->t.mirror != NULL && mirror_is_whole(c->t.mirror);
	char text[200];
	int rc;

	if (f->type == LINK_BYE) {
		link_read_bye(f, text, sizeof(text));
		return fm_fail(err, FM_E_CANCELLED, "%s", text);
	}
	if (f->type == LINK_WELCOME) {
		if (f->term < c->term || f->term > LINK_TERM_MAX)
			return fm_fail(
			    err, FM_E_SYSTEM, "its term is over: another has ruled since");
		if ((rc = begin_mirror(c, err)) != 0)
			return rc;
		run_in_sa(c, clear);
	}
	if (c->t.mirror == NULL)
		return fm_fail(
		    err, FM_E_SYSTEM, "a frame %s came before WELCOME", link_type_name(f->type));
	rc = mirror_take(c->t.mirror, f, standby_now_ms(), err);
	if (rc != 0)
		return rc;
	if (f->term > c->term)
		c->term = f->term;
	if (!was_whole && mirror_is_whole(c->t.mirror)) {
		c->t.why[0] = '\0';
		events_add(EVENT_COPY_WHOLE, FM_LOG_NOTICE, "ha", NULL,
		    "the copy of the master by %s is whole", c->t.from);
	}
	return 0;
}

/* Each time that something has come, so that the stamp is a new one with each ALIVE. */
static void
say_have(struct copying *c)
{
	struct link_stamp s = { .ms = standby_now_ms() };
	struct evbuffer *data = evbuffer_new();

	if (c->t.mirror != NULL && data != NULL && link_add_stamp(data, &s))
		link_put(bufferevent_get_output(c->t.io), LINK_HAVE, mirror_term(c->t.mirror),
		    mirror_seq(c->t.mirror), data);
	if (data != NULL)
		evbuffer_free(data);
}

static void
on_master_read(struct bufferevent *io, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(io);
	struct copying *c = arg;
	struct fm_error err = { 0 };
	struct link_frame f;
	int rc;

	c->t.heard_ms = standby_now_ms();
	c->t.has_spoken = true;
	sms_note_log(c->p.sweeper, false);
	if (c->t.prepares)
		c->p.forget(c->p.arg);
	c->t.prepares = false;
	while ((rc = link_get(in, &f, &err)) == 1) {
		rc = take_from_master(c, &f, &err);
		link_drop(in, &f);
		if (rc != 0)
			break;
	}
	if (rc == 0) {
		say_have(c);
		return;
	}
	if (rc != FM_E_CANCELLED)
		standby_say_bye(io, err.msg);
	leave_master(c, err.msg);
	c->p.wake(c->p.arg);
}

static void
on_master_event(struct bufferevent *io, short what, void *arg)
{
	struct copying *c = arg;
	bool was_there = (what & BEV_EVENT_ERROR) == 0 || errno == ECONNRESET || errno == EPIPE;
	const char *why = (what & BEV_EVENT_ERROR) != 0 ? strerror(errno) : "it has left";

	if ((what & BEV_EVENT_CONNECTED) != 0)
		return;
	/* an end of stunnel is there, whether or not the other host lets it in */
	if (was_there && !c->t.has_spoken)
		why = "it has left without a word: where stunnel is between, its log here and on "
		      "the other host says why";
	leave_master(c, why);
	c->p.wake(c->p.arg); /* the other voice is asked at once */
}

static bool
say_hello(struct copying *c)
{
	struct link_hello h = { .version = LINK_VERSION, .guid = c->p.ha->guid, .term = c->term };
	struct evbuffer *data = evbuffer_new();
	bool ok;

	standby_hash_conf(*c->p.conf, h.hash);
	ok = data != NULL && link_add_hello(data, &h) &&
	    link_put(bufferevent_get_output(c->t.io), LINK_HELLO, c->term, 0, data);
	if (data != NULL)
		evbuffer_free(data);
	return ok;
}

/* The next of copy_from, into c->t.from; false: there is none. */
static bool
next_socket(struct copying *c)
{
	const char *all = (*c->p.conf)->copy.from, *at;
	size_t i, n;

	for (unsigned round = 0; round < 2; round++) {
		for (i = 0, at = all; *at != '\0'; at += n) {
			at += strspn(at, ", ");
			n = strcspn(at, ", ");
			if (n > 0 && n < sizeof(c->t.from) && i++ == c->t.next) {
				memcpy(c->t.from, at, n);
				c->t.from[n] = '\0';
				c->t.next++;
				return true;
			}
		}
		c->t.next = 0;
	}
	return false;
}

static void
connect_to_master(struct copying *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	c->t.again_ms = standby_now_ms() + AGAIN_MS;
	if (!next_socket(c))
		return;
	memcpy(addr.sun_path, c->t.from, sizeof(c->t.from));
	c->t.io = bufferevent_socket_new(c->p.base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (c->t.io == NULL)
		return;
	bufferevent_setcb(c->t.io, on_master_read, NULL, on_master_event, c);
	bufferevent_enable(c->t.io, EV_READ | EV_WRITE);
	c->t.heard_ms = standby_now_ms();
	c->t.has_spoken = false;
	if (bufferevent_socket_connect(c->t.io, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		if (c->t.io != NULL)
			leave_master(c, strerror(errno));
		return;
	}
	if (!say_hello(c))
		leave_master(c, "out of memory");
	standby_arm(c);
}

/* ----------------------------------------------------------------- take-over */

/* While its log goes on it has handed over, or is about to. */
bool
taking_has_all(const struct copying *c)
{
	bool goes_on = c->t.io != NULL && standby_now_ms() - c->t.heard_ms < LINK_SILENT_MS;

	if (c->t.mirror == NULL)
		return false;
	return goes_on ? mirror_in_sync(c->t.mirror, standby_now_ms()) : c->t.was_in_sync;
}

size_t
taking_sms(const struct copying *c, const uint64_t **guid)
{
	return c->t.mirror != NULL ? mirror_sms(c->t.mirror, guid) : 0;
}

/* The master is gone, as both its log and SMInfo say, or has handed over, and nothing has been
 * written yet. */
void
taking_take_over(struct copying *c)
{
	struct fm_error err = { 0 };
	bool is_whole, in_sync;

	if (c->t.mirror == NULL)
		return;
	is_whole = mirror_is_whole(c->t.mirror);
	in_sync = taking_has_all(c);
	if (c->t.io != NULL) {
		standby_say_bye(c->t.io, "this SM is master now");
		bufferevent_free(c->t.io);
	}
	c->t.io = NULL;
	sms_note_log(c->p.sweeper, false);
	if (mirror_settle(c->t.mirror, &err) != 0) {
		events_add(EVENT_COPY_IN_PART, FM_LOG_ERR, "ha", NULL,
		    "the copy of the master is not whole: %s", err.msg);
		in_sync = false;
	}
	mirror_free(c->t.mirror);
	c->t.mirror = NULL;
	c->t.prepares = false;
	run_in_sa(c, load);
	sweeper_take_over(c->p.sweeper, in_sync);
	c->p.taken_over(c->p.arg, in_sync);
	if (in_sync)
		log_notice("ha", "what hosts registered with the master is here");
	else
		events_add(EVENT_COPY_IN_PART, FM_LOG_WARN, "ha", NULL,
		    "what hosts registered with the master is here up to %s; they are asked to "
		    "register again",
		    is_whole ? "some moment before its end" : "an earlier copy");
}

/* ---------------------------------------------------------------------- role */

void
taking_follow(struct copying *c)
{
	enum wire_sm_state state = c->p.ha->state;

	if (*(*c->p.conf)->copy.from == '\0')
		return;
	if (state == WIRE_SM_STANDBY)
		c->t.was_in_sync =
		    c->t.mirror != NULL && mirror_in_sync(c->t.mirror, standby_now_ms());
	if (state == WIRE_SM_STANDBY && c->t.io == NULL && standby_now_ms() >= c->t.again_ms)
		connect_to_master(c);
	if (c->t.mirror != NULL && c->t.has_spoken &&
	    standby_now_ms() - c->t.heard_ms >= LINK_SILENT_MS) {
		sms_note_log(c->p.sweeper, standby_now_ms() - c->t.heard_ms < DOUBT_MS);
		prepare(c);
	}
	/* it may stand still while another one has the subnet */
	if (c->t.io != NULL && standby_now_ms() - c->t.heard_ms >= DOUBT_MS) {
		leave_master(c, "it is connected and says nothing");
		sms_note_log(c->p.sweeper, false);
	}
	if (c->t.mirror != NULL || state == WIRE_SM_STANDBY)
		standby_arm(c);
}

void
taking_close(struct copying *c)
{
	if (c->t.io != NULL) {
		standby_say_bye(c->t.io, "fmd stops, or goes over to another port");
		bufferevent_free(c->t.io);
	}
	mirror_free(c->t.mirror);
}

void
taking_add_json(struct copying *c, json_t *status)
{
	const struct mirror *m = c->t.mirror;

	if (*(*c->p.conf)->copy.from == '\0')
		return;
	json_object_set_new(status, "copy",
	    json_pack("{s:s, s:b, s:b, s:s}", "from", c->t.from, "whole",
		m != NULL && mirror_is_whole(m), "in_sync",
		m != NULL && mirror_in_sync(m, standby_now_ms()), "why", c->t.why));
}
