/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry as a whole: its life, leases, ports that have left.
 */
#include <stdlib.h>

#include "core/registry/registry_internal.h"
#include "lib/log.h"

void
registry_settings_default(struct registry_settings *s)
{
	*s = (struct registry_settings){ .max_services = 1024,
		.max_subscriptions = 256,
		.max_services_all = 131072, /* three addresses of each of 40,000 hosts */
		.max_subscriptions_all = 65536 };
	groups_settings_default(&s->groups);
}

struct registry *
registry_new(const struct registry_settings *s)
{
	struct registry *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->set = *s;
	r->services_due_ms = INT64_MAX;
	r->groups = groups_new(&s->groups);
	if (r->groups == NULL) {
		free(r);
		return NULL;
	}
	return r;
}

void
registry_free(struct registry *r)
{
	if (r == NULL)
		return;
	groups_free(r->groups);
	fm_vec_fini(&r->services);
	fm_hash_fini(&r->of_service);
	fm_vec_fini(&r->subscriptions);
	fm_hash_fini(&r->of_subscription);
	fm_vec_fini(&r->aliases);
	fm_hash_fini(&r->of_block);
	fm_hash_fini(&r->of_alias);
	fm_vec_fini(&r->alias_news);
	fm_hash_fini(&r->of_alias_news);
	fm_vec_fini(&r->lost);
	fm_vec_fini(&r->dirty);
	fm_vec_fini(&r->news);
	free(r);
}

bool
registry_clear(struct registry *r)
{
	struct registry *fresh = registry_new(&r->set), was = *r;

	if (fresh == NULL)
		return false;
	*r = *fresh;
	*fresh = was;
	registry_free(fresh);
	return true;
}

void
registry_configure(struct registry *r, const struct registry_settings *s)
{
	r->set = *s;
	groups_configure(r->groups, &s->groups);
}

struct groups *
registry_groups(struct registry *r)
{
	return r->groups;
}

bool
registry_lacks(const struct registry *r)
{
	return r->lacks;
}

static bool
drop_subscriptions_of(struct registry *r, uint64_t port)
{
	bool any = false;

	for (uint32_t i = (uint32_t)r->subscriptions.n; i-- > 0;)
		if (r->subscriptions.item[i].client == port) {
			subscriptions_remove(r, i);
			any = true;
		}
	return any;
}

static void
note_lost(struct registry *r, uint64_t port)
{
	if (!fm_vec_push(&r->lost, port))
		log_err("sa", "out of memory: a port is not asked to register again");
}

void
registry_port_is_away(struct registry *r, uint64_t port)
{
	if (r->set.drop_subscriptions && drop_subscriptions_of(r, port))
		note_lost(r, port);
}

void
registry_drop_port(struct registry *r, uint64_t port)
{
	bool any = groups_drop_port(r->groups, port) > 0;

	any = drop_subscriptions_of(r, port) || any;
	any = aliases_drop_port(r, port) || any;
	if (any)
		note_lost(r, port);
}

bool
registry_next_lost(struct registry *r, uint64_t *port)
{
	if (r->lost.n == 0)
		return false;
	*port = r->lost.item[--r->lost.n];
	return true;
}

bool
registry_next_event(struct registry *r, struct group_event *e, bool *lost)
{
	registry_pull(r);
	*lost = r->news_lost;
	r->news_lost = false;
	if (r->n_news_taken == r->news.n) {
		r->news.n = r->n_news_taken = 0;
		return false;
	}
	*e = r->news.item[r->n_news_taken++];
	return true;
}

int64_t
registry_tick(struct registry *r, int64_t now_ms)
{
	if (now_ms >= r->services_due_ms)
		services_expire(r, now_ms);
	return r->services_due_ms;
}
