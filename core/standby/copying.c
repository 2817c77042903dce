/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/copying.c - the copy that a standby has of what outlives the master: which side of
 * it we are.
 *
 *	master	listens at copy_socket (giving.c); copies.h has the log of each standby
 *	standby	connects to one of copy_from (taking.c); mirror.h puts what comes into the store
 */
#include <stdlib.h>
#include <string.h>

#include "core/sms/sms.h"
#include "core/standby/internal.h"
#include "core/sweep/sweep.h"

void
copying_follow(struct copying *c)
{
	if (c == NULL)
		return;
	taking_follow(c);
	giving_follow(c);
}

static void
on_alive(evutil_socket_t fd, short what, void *arg)
{
	struct copying *c = arg;

	sms_awake(c->p.sweeper); /* before we say that we are alive */
	giving_alive(c);
	copying_follow(c);
	if (c->t.mirror != NULL && standby_now_ms() - c->t.heard_ms >= LINK_SILENT_MS)
		c->p.wake(c->p.arg); /* the master is polled */
}

static bool
has_copy(void *arg)
{
	return taking_has_all(arg);
}

static size_t
sms(void *arg, const uint64_t **guid)
{
	return taking_sms(arg, guid);
}

static void
on_rule(void *arg)
{
	taking_take_over(arg);
}

static int
may_have(void *arg, const struct ha_other *heir, bool by_order, struct fm_error *err)
{
	return giving_may_have(arg, heir, by_order, err);
}

int
copying_open(const struct copying_parts *p, struct copying **out, struct fm_error *err)
{
	const struct conf_copy *set = &(*p->conf)->copy;
	struct copying *c;

	if (*set->socket == '\0' && *set->from == '\0')
		return 0;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for standbys");
	*out = c;
	c->p = *p;
	c->g.wake_fd = -1;
	c->t.bucket = (struct fm_log_bucket){ .burst = 3, .every_ms = 60000 };
	for (unsigned w = 0; w < LINK_FILES; w++)
		snprintf(c->file[w].path, sizeof(c->file[w].path), "%s", p->file[w]);
	c->ev_alive = evtimer_new(p->base, on_alive, c);
	if (c->ev_alive == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for standbys");
	sweeper_ask_of_standbys(p->sweeper,
	    &(struct sweep_standbys){ .has_copy = has_copy,
		.sms = sms,
		.on_rule = on_rule,
		.may_have = may_have,
		.arg = c });
	return *set->socket != '\0' ? giving_open(c, set->socket, err) : 0;
}

void
copying_close(struct copying *c)
{
	if (c == NULL)
		return;
	giving_close(c);
	taking_close(c);
	if (c->ev_alive != NULL)
		event_free(c->ev_alive);
	free(c);
}

void
copying_add_json(struct copying *c, json_t *status)
{
	if (c == NULL) {
		json_object_set_new(status, "standbys", json_array());
		return;
	}
	giving_add_json(c, status);
	taking_add_json(c, status);
	json_object_set_new(status, "term", json_integer((json_int_t)c->term));
}
