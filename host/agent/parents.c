/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/parents.c - one question a second to the Redis of this host, INFO replication; and
 * as long as its parent is there, that is told who is here (host/agent/above.h).
 *
 * A parent is left for the next of the list when the link to it has been down for a while, and when
 * nothing comes over it any more, which tells of the whole chain above (core/redis/info.h): so
 * relays that follow one another in a circle leave it.  The new parent goes on where the old one
 * was, as all replicas number what they are told alike.
 *
 * A Redis that follows nobody is left alone: it may be that of an SM, and would lose what it has.
 */
#include "host/agent/parents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/redis/info.h"
#include "core/redis/redis.h"
#include "host/agent/above.h"
#include "lib/clock.h"
#include "lib/log.h"

#define LOOK_MS 1000

static const struct redis_limits limits = { .who = "the Redis of this relay",
	.connect_ms = 1000,
	.answer_ms = 10000,
	.most_bytes = 1 << 20, /* 10,000 replicas below it are named in it */
	.most_elements = 16 };

struct following {
	const struct parents *p;
	struct redis *redis; /* NULL: not connected */
	int64_t gone_ms;     /* since when the parent is; 0: it is not */
	bool is_lost;	     /* a parent was left, and no link has been up since */
	char told[256];	     /* the failure that was told last, "" none */
	struct above above;
};

int
parents_check(const struct parents *p, bool insecure, struct fm_error *err)
{
	struct relay_name name;

	if (relay_name_parse(p->redis, &name, err) != 0)
		return err->kind;
	if (relay_leaves_the_host(&name))
		return fm_fail(err, FM_E_CONFIG,
		    "--relay=%.100s: expected unix:SOCKET or an address of this host", p->redis);
	for (unsigned i = 0; i < p->n; i++) {
		if (relay_name_take(p->parent[i], insecure, &name, err) != 0)
			return err->kind;
		if (name.path != NULL)
			return fm_fail(err, FM_E_CONFIG,
			    "\"%.100s\": expected HOST:PORT, a Redis follows no socket",
			    p->parent[i]);
	}
	return 0;
}

/* The one behind that which is followed now; the first, where that is not of the list. */
static unsigned
next_parent(const struct parents *p, const char *host, int port)
{
	struct fm_error none = { 0 };
	struct relay_name name;

	for (unsigned i = 0; i < p->n; i++)
		if (relay_name_parse(p->parent[i], &name, &none) == 0 && name.port == port &&
		    strcmp(name.host, host) == 0)
			return (i + 1) % p->n;
	return 0;
}

static int
leave_parent(
    struct following *f, const char *host, int port, enum redis_link link, struct fm_error *err)
{
	const char *next = f->p->parent[next_parent(f->p, host, port)];
	struct relay_name name;
	int rc = relay_name_parse(next, &name, err);

	if (rc == 0)
		rc = redis_do(f->redis, err, "REPLICAOF %s %d", name.host, name.port);
	if (rc != 0)
		return rc;
	/* A list of which none is there is gone through again and again: that is told once. */
	fm_log(f->is_lost ? FM_LOG_INFO : FM_LOG_WARN, "agent", "%s:%d %s: %s follows %s now", host,
	    port, link == REDIS_LINK_SILENT ? "says nothing" : "is gone", f->p->redis, next);
	f->is_lost = true;
	f->gone_ms = 0;
	return 0;
}

static int
judge(struct following *f, const char *info, struct fm_error *err)
{
	unsigned silent_s;
	enum redis_link link = redis_info_link(info, &silent_s);
	int64_t now_ms = fm_clock_ms(CLOCK_MONOTONIC);
	char host[256], port[16], where[300];

	if (link != REDIS_LINK_UP)
		above_leave(&f->above);
	if (link == REDIS_FIRST)
		return fm_fail(err, FM_E_CONFIG,
		    "%s follows nobody and is left alone: give it replicaof HOST PORT, or, if it "
		    "is the Redis of an SM, no --relay",
		    f->p->redis);
	redis_info(info, "master_host", host, sizeof(host));
	redis_info(info, "master_port", port, sizeof(port));
	if (link == REDIS_LINK_UP || link == REDIS_LINK_FILLING) {
		if (link == REDIS_LINK_UP && f->is_lost)
			log_info("agent", "%s has what %s:%s has", f->p->redis, host, port);
		f->is_lost &= link != REDIS_LINK_UP;
		f->gone_ms = 0;
		snprintf(where, sizeof(where), "%s:%s", host, port);
		if (link == REDIS_LINK_UP)
			above_tell(&f->above, f->redis, where);
		return 0;
	}
	if (f->gone_ms == 0)
		f->gone_ms = now_ms;
	if (link == REDIS_LINK_DOWN && now_ms - f->gone_ms < f->p->patience_ms)
		return 0;
	return leave_parent(f, host, (int)strtol(port, NULL, 10), link, err);
}

static int
look(struct following *f, struct fm_error *err)
{
	struct relay_name name;
	redisReply *info;
	int rc = 0;

	if (f->redis == NULL) {
		rc = relay_name_parse(f->p->redis, &name, err);
		if (rc == 0)
			rc = redis_open(&name, f->p->login, &limits, &f->redis, err);
	}
	if (rc != 0)
		return rc;
	info = redis_ask(f->redis, err, "INFO replication");
	if (info == NULL)
		return err->kind;
	rc = redis_is_text(info) ? judge(f, info->str, err) : redis_no_sense(f->redis, err);
	freeReplyObject(info);
	return rc;
}

/* Until it is another, or none. */
static void
tell_once(struct following *f, const char *what)
{
	if (strcmp(f->told, what) == 0)
		return;
	if (*what != '\0')
		log_warn("agent", "%s", what);
	else
		log_info("agent", "%s answers", f->p->redis);
	snprintf(f->told, sizeof(f->told), "%s", what);
}

_Noreturn void
parents_follow(const struct parents *p)
{
	const struct timespec pause = { .tv_sec = LOOK_MS / 1000 };
	static struct following f;

	f = (struct following){ .p = p, .above = { .name = p->name, .login = p->parents_login } };
	for (;;) {
		struct fm_error err = { 0 };

		if (look(&f, &err) != 0) {
			above_leave(&f.above);
			redis_close(f.redis);
			f.redis = NULL;
		}
		tell_once(&f, err.msg);
		nanosleep(&pause, NULL);
	}
}
