/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/questions.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/ctl/ctl.h"

#define REPLY_MAX ((size_t)64 << 20) /* bytes; the whole fabric of 27,648 hosts is 4 MB */

struct question {
	struct questions *all;
	char *text; /* [n] what is sent */
	size_t n;
	struct bufferevent *io; /* NULL: it waits, or could not be sent */
	struct event *deadline;
	struct fm_error err; /* msg "": nothing is wrong yet */
	question_done done;
	question_text text_done; /* in the place of done, which is NULL then */
	void *arg;
	struct question *next, **link;
};

struct questions {
	struct event_base *base;
	const char *path;
	struct question *first, **last; /* in the order in which they were asked */
	unsigned n, n_open;
};

struct questions *
questions_new(struct event_base *base, const char *path)
{
	struct questions *q = calloc(1, sizeof(*q));

	if (q == NULL)
		return NULL;
	q->base = base;
	q->path = path;
	q->last = &q->first;
	return q;
}

static void
drop(struct question *one)
{
	struct questions *q = one->all;

	*one->link = one->next;
	if (one->next != NULL)
		one->next->link = one->link;
	else
		q->last = one->link;
	q->n--;
	if (one->io != NULL) {
		q->n_open--;
		bufferevent_free(one->io);
	}
	if (one->deadline != NULL)
		event_free(one->deadline);
	free(one->text);
	free(one);
}

void
questions_free(struct questions *q)
{
	if (q == NULL)
		return;
	while (q->first != NULL)
		drop(q->first);
	free(q);
}

static void open_next(struct questions *q);

/* Tell what came, in `in`, where nothing is wrong yet.  The question has gone. */
static void
tell(const struct question *was, const char *path, struct evbuffer *in)
{
	size_t n = in != NULL ? evbuffer_get_length(in) : 0, n_text = 0;
	const char *all = n > 0 ? (const char *)evbuffer_pullup(in, -1) : "", *text = NULL;
	struct fm_error err = was->err;
	json_t *result = NULL;

	if (err.msg[0] == '\0' && all == NULL)
		fm_fail(&err, FM_E_RESOURCE, "out of memory for the answer of fmd");
	else if (err.msg[0] == '\0' && was->text_done != NULL)
		ctl_reply_text(path, all, n, &text, &n_text, &err);
	else if (err.msg[0] == '\0')
		ctl_reply(path, all, n, &result, &err);
	if (was->text_done != NULL)
		was->text_done(was->arg, text, n_text, text == NULL ? &err : NULL);
	else
		was->done(was->arg, result, result == NULL ? &err : NULL);
	json_decref(result);
}

/* By all that has come, or one->err. */
static void
end(struct question *one)
{
	struct evbuffer *in = evbuffer_new();
	struct question was = *one;

	if (in == NULL && was.err.msg[0] == '\0')
		fm_fail(&was.err, FM_E_RESOURCE, "out of memory for the answer of fmd");
	if (in != NULL && one->io != NULL)
		evbuffer_add_buffer(in, bufferevent_get_input(one->io));
	drop(one);
	tell(&was, was.all->path, in);
	if (in != NULL)
		evbuffer_free(in);
	open_next(was.all);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct question *one = arg;

	if (one->err.msg[0] == '\0')
		fm_fail(&one->err, FM_E_SYSTEM, "no fmd answers at %s: it did not answer in time",
		    one->all->path);
	end(one);
}

/* All has come, or something went wrong on the way. */
static void
on_end(struct bufferevent *io, short what, void *arg)
{
	end(arg);
}

static void
on_read(struct bufferevent *io, void *arg)
{
	struct question *one = arg;

	if (evbuffer_get_length(bufferevent_get_input(io)) <= REPLY_MAX)
		return;
	fm_fail(&one->err, FM_E_RESOURCE, "the reply of fmd is too large");
	end(one);
}

/* What goes wrong is told from the loop, by the deadline. */
static void
open_one(struct question *one)
{
	static const struct timeval now = { 0 };
	struct questions *q = one->all;
	int fd;

	if (ctl_connect(q->path, SOCK_NONBLOCK, &fd, &one->err) != 0) {
		event_add(one->deadline, &now);
		return;
	}
	one->io = bufferevent_socket_new(q->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (one->io == NULL) {
		close(fd);
	} else {
		q->n_open++;
		bufferevent_setcb(one->io, on_read, NULL, on_end, one);
	}
	if (one->io == NULL || bufferevent_write(one->io, one->text, one->n) != 0 ||
	    bufferevent_enable(one->io, EV_READ | EV_WRITE) != 0) {
		fm_fail(&one->err, FM_E_RESOURCE, "out of memory for a question to fmd");
		event_add(one->deadline, &now);
	}
}

static void
open_next(struct questions *q)
{
	for (struct question *one = q->first; one != NULL && q->n_open < QUESTIONS_OPEN;
	     one = one->next)
		if (one->io == NULL && one->err.msg[0] == '\0')
			open_one(one);
}

/* In the row; NULL: memory is out. */
static struct question *
put_in_row(struct questions *q, const char *command, json_t *args)
{
	struct question *one = calloc(1, sizeof(*one));

	if (one == NULL)
		return NULL;
	one->all = q;
	one->link = q->last;
	*q->last = one;
	q->last = &one->next;
	q->n++;
	one->deadline = evtimer_new(q->base, on_deadline, one);
	if (one->deadline != NULL &&
	    ctl_request(command, args, &one->text, &one->n, &one->err) == 0)
		return one;
	drop(one);
	return NULL;
}

/* One that waits for its end; NULL: it has no place.  args is taken over. */
static struct question *
ask(struct questions *q, const char *command, json_t *args, struct fm_error *err)
{
	struct question *one = NULL;

	if (q->n >= QUESTIONS_OPEN + QUESTIONS_WAITING)
		fm_fail(err, FM_E_RESOURCE, "too many questions to fmd wait: try again");
	else if ((one = put_in_row(q, command, args)) == NULL)
		fm_fail(err, FM_E_RESOURCE, "out of memory for a question to fmd");
	json_decref(args);
	return one;
}

static void
begin(struct question *one, unsigned timeout_ms, void *arg)
{
	struct timeval limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };

	one->arg = arg;
	event_add(one->deadline, &limit);
	open_next(one->all);
}

void
questions_ask(struct questions *q, const char *command, json_t *args, unsigned timeout_ms,
    question_done done, void *arg)
{
	struct fm_error err;
	struct question *one = ask(q, command, args, &err);

	if (one == NULL) {
		done(arg, NULL, &err);
		return;
	}
	one->done = done;
	begin(one, timeout_ms, arg);
}

void
questions_ask_text(struct questions *q, const char *command, json_t *args, unsigned timeout_ms,
    question_text done, void *arg)
{
	struct fm_error err;
	struct question *one = ask(q, command, args, &err);

	if (one == NULL) {
		done(arg, NULL, 0, &err);
		return;
	}
	one->text_done = done;
	begin(one, timeout_ms, arg);
}
