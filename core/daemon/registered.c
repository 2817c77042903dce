/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/registered.c - what hosts have registered, between the SA, whose it is, the
 * sweep, which forwards their groups, and the store.
 *
 *	SA (its thread) --members, alias GUIDs, what is lost, in queues--> loop --> sweep
 *	SA --addresses and alias GUIDs that ports claim, as one list--> publishers
 *	loop --groups to keep, traps, posted--> SA
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/daemon/daemon.h"
#include "core/dist/dist.h"
#include "core/mcast/mcast_net.h"
#include "core/registry/claims.h"
#include "core/server/server.h"
#include "core/subnet/partitions.h"
#include "lib/log.h"

#define MS_PER_S 1000
#define NS_PER_MS 1000000

struct joined_news {
	uint64_t port;
	uint16_t mlid;
	uint8_t sl, roles;
};

struct alias_news {
	uint64_t port, guid[8];
	uint8_t block;
};

/* From the SA to the loop. */
struct queues {
	FM_VEC(struct joined_news) members;
	FM_VEC(struct alias_news) aliases;
	FM_VEC(uint64_t) lost; /* ports, 0: all that were in use before us */
};

struct registered {
	struct registry *registry;
	bool no_multicast;    /* as it was when fmd started */
	bool is_lost;	      /* what was registered before */
	bool is_empty;	      /* where the SA runs: what hosts have registered is not loaded yet */
	pthread_mutex_t lock; /* of what follows */
	bool is_loading;      /* the queues have a part of what was registered before */
	struct queues queues;
};

/* What the SA is to be like from now on. */
struct keep_job {
	struct registry_settings set;
	uint32_t n;
	struct sa_mc_member_record group[];
};

void
daemon_wake_from_afar(struct daemon *d)
{
	uint64_t one = 1;

	if (d->routed_fd >= 0 && write(d->routed_fd, &one, sizeof(one)) < 0)
		log_err("daemon", "another thread cannot wake the loop: %s", strerror(errno));
}

static void
settings_of(const struct daemon *d, struct registry_settings *set)
{
	const struct conf *c = d->conf;

	registry_settings_default(set);
	set->max_services = (uint32_t)c->registry.max_services;
	set->max_subscriptions = (uint32_t)c->registry.max_subscriptions;
	set->drop_subscriptions = c->registry.drop_subscriptions;
	set->groups.closed = d->registered->no_multicast;
	set->groups.life = (uint8_t)c->sa.path_life;
	set->groups.max_joins = (uint32_t)c->registry.max_joins;
	set->groups.gid_prefix = c->addresses.subnet_prefix;
	set->groups.share_mlids = (uint16_t)c->registry.ipv6_snm_mlids;
	set->groups.share = c->registry.ipv6_snm_mlids == 0 ? GROUPS_SHARE_NONE : GROUPS_SHARE_SOME;
}

int
daemon_open_registry(struct daemon *d, struct fm_error *err)
{
	struct registered *r = calloc(1, sizeof(*r));
	struct registry_settings set;

	if (r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what hosts register");
	d->registered = r;
	r->is_empty = true;
	r->no_multicast = d->conf->registry.disable_multicast;
	r->is_lost = d->registered_is_lost;
	settings_of(d, &set);
	r->registry = registry_new(&set);
	if (r->registry == NULL) {
		d->registered = NULL;
		free(r);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what hosts register");
	}
	pthread_mutex_init(&r->lock, NULL);
	return 0;
}

struct registry *
daemon_registry(struct daemon *d)
{
	return d->registered == NULL ? NULL : d->registered->registry;
}

static int64_t
wall_s(void)
{
	return (int64_t)time(NULL);
}

int64_t
daemon_sa_clock_ms(const struct daemon *d)
{
	struct timespec ts;

	if (!d->transport->ops->has_agents)
		return d->transport->ops->now_ns(d->transport) / NS_PER_MS;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * MS_PER_S + ts.tv_nsec / NS_PER_MS;
}

/* ----------------------------------------------------------- where the SA runs */

static void
push(struct daemon *d, const struct joined_news *n)
{
	struct registered *r = d->registered;
	bool ok, first;

	if (r->no_multicast) /* what a store of before remembers */
		return;
	pthread_mutex_lock(&r->lock);
	first = r->queues.members.n == 0;
	ok = fm_vec_push(&r->queues.members, *n);
	pthread_mutex_unlock(&r->lock);
	if (!ok)
		log_err("sa", "out of memory: a member of a multicast group is not forwarded to");
	if (first) /* the others are taken with it */
		daemon_wake_from_afar(d);
}

static unsigned
roles_of(unsigned state)
{
	unsigned roles = state != 0 ? MCAST_SENDS : MCAST_OUT;

	return state & JOIN_RECEIVES ? roles | MCAST_RECEIVES : roles;
}

/* Events are missing: all who are in a group, once more. */
static void
push_all(struct daemon *d)
{
	const struct groups *g = registry_groups(d->registered->registry);

	for (uint32_t i = 0; i < groups_count(g); i++)
		for (uint32_t k = 0; k < groups_n_members(g, i); k++) {
			uint64_t requester;
			struct joined_news n;
			struct sa_mc_member_record rec =
			    groups_member(g, i, k, &n.port, &requester);

			n.mlid = rec.mlid;
			n.sl = rec.sl;
			n.roles = (uint8_t)roles_of(rec.join_state);
			push(d, &n);
		}
}

static void
on_group(void *arg, const struct group_event *e, bool lost)
{
	struct joined_news n = { e->port, e->mlid, e->sl, (uint8_t)roles_of(e->state) };

	if (lost)
		push_all(arg);
	if (e->kind == GROUP_MEMBER)
		push(arg, &n);
}

static void
on_alias(void *arg, uint64_t port, uint8_t block, const uint64_t guid[8])
{
	struct daemon *d = arg;
	struct registered *r = d->registered;
	struct alias_news n = { .port = port, .block = block };
	bool ok;

	memcpy(n.guid, guid, sizeof(n.guid));
	pthread_mutex_lock(&r->lock);
	ok = fm_vec_push(&r->queues.aliases, n);
	pthread_mutex_unlock(&r->lock);
	if (!ok)
		log_err("sa", "out of memory: alias GUIDs of a port are not set in it");
	daemon_wake_from_afar(d);
}

static void
on_lost(void *arg, uint64_t port)
{
	struct daemon *d = arg;
	struct registered *r = d->registered;
	bool ok;

	pthread_mutex_lock(&r->lock);
	ok = fm_vec_push(&r->queues.lost, port);
	pthread_mutex_unlock(&r->lock);
	if (!ok)
		log_err("sa", "out of memory: ports are not asked to register again");
	daemon_wake_from_afar(d);
}

/* The loop takes what was registered before as a whole: trees of a part of the members would be
 * written, and interrupt the others. */
static void
begin_load(struct registered *r)
{
	pthread_mutex_lock(&r->lock);
	r->is_loading = true;
	pthread_mutex_unlock(&r->lock);
}

static void
on_claims(void *arg, const struct registry *r)
{
	struct daemon *d = arg;
	struct ip_claims *c;

	if (d->dist == NULL || d->registered->is_empty)
		return;
	c = registry_claims(r);
	if (c == NULL)
		log_err("sa", "out of memory: hosts are not told of the addresses of others");
	else
		dist_claims(d->dist, c);
	ip_claims_put(c);
}

static void
end_load(struct daemon *d, struct sa *sa)
{
	sa_tick(sa, daemon_sa_clock_ms(d)); /* all goes to the queues */
	d->registered->is_empty = false;
	on_claims(d, sa_registry(sa));
	pthread_mutex_lock(&d->registered->lock);
	d->registered->is_loading = false;
	pthread_mutex_unlock(&d->registered->lock);
	daemon_wake_from_afar(d);
}

/* A new store on a fabric in use: whatever was registered, we know nothing of it.  One whose
 * last owner was killed between an answer and its commit lacks what was registered then. */
static void
start(void *arg, struct sa *sa)
{
	struct daemon *d = arg;
	struct registry *r = d->registered->registry;
	struct fm_error err = { 0 };

	begin_load(d->registered);
	if (d->store != NULL &&
	    registry_load(r, d->store, daemon_sa_clock_ms(d), wall_s(), &err) != 0)
		events_add(EVENT_REGISTERED_LOST, FM_LOG_WARN, "sa", NULL,
		    "what hosts had registered is lost: %s", err.msg);
	if (d->store == NULL || d->registered->is_lost || registry_lacks(r))
		on_lost(d, 0);
	sa_on_lost(sa, on_lost, d);
	if (d->store != NULL && !sa_keep(sa, d->store, wall_s, d->transport->ops->has_agents))
		events_add(EVENT_REGISTERED_LOST, FM_LOG_ERR, "sa", NULL,
		    "out of memory: what hosts register is not kept for a restart");
	sa_on_group(sa, on_group, d);
	sa_on_alias(sa, on_alias, d);
	sa_on_claims(sa, on_claims, d);
	end_load(d, sa);
}

/* Who is forwarded to, and which alias GUIDs are set, is as with an empty registry. */
static void
push_nothing(struct daemon *d, struct registry *r)
{
	static const uint64_t none[8];
	const struct groups *g = registry_groups(r);

	for (uint32_t i = 0; i < groups_count(g); i++)
		for (uint32_t k = 0; k < groups_n_members(g, i); k++) {
			uint64_t requester;
			struct joined_news n = { 0 };
			struct sa_mc_member_record rec =
			    groups_member(g, i, k, &n.port, &requester);

			n.mlid = rec.mlid;
			n.sl = rec.sl;
			n.roles = (uint8_t)roles_of(0);
			push(d, &n);
		}
	for (uint32_t i = 0; i < registry_n_alias_blocks(r); i++) {
		uint64_t port;
		uint8_t block;

		registry_alias_block(r, i, &port, &block);
		on_alias(d, port, block, none);
	}
}

bool
daemon_clear_registry(void *arg, struct sa *sa)
{
	struct daemon *d = arg;

	push_nothing(d, sa_registry(sa));
	d->registered->is_empty = true;
	if (d->dist != NULL)
		dist_claims(d->dist, NULL);
	return registry_clear(sa_registry(sa));
}

void
daemon_load_registry(void *arg, struct sa *sa)
{
	struct daemon *d = arg;
	struct fm_error err = { 0 };

	begin_load(d->registered);
	if (registry_load(sa_registry(sa), d->store, daemon_sa_clock_ms(d), wall_s(), &err) != 0) {
		events_add(EVENT_REGISTERED_LOST, FM_LOG_WARN, "sa", NULL,
		    "what hosts had registered is lost: %s", err.msg);
		on_lost(d, 0);
	}
	end_load(d, sa);
}

static void
keep(void *arg, struct sa *sa)
{
	struct keep_job *j = arg;
	struct groups *g = registry_groups(sa_registry(sa));

	registry_configure(sa_registry(sa), &j->set);
	if (!groups_keep(g, j->group, j->n))
		log_warn("sa", "no multicast LID is left for a group of the partitions");
	free(j);
}

struct trap_job {
	struct wire_notice notice;
	int64_t now_ms;
};

static void
report_trap(void *arg, struct sa *sa)
{
	struct trap_job *j = arg;

	sa_tell(sa, &j->notice, j->now_ms);
	free(j);
}

/* -------------------------------------------------------------------- the loop */

static void
post(struct daemon *d, void (*fn)(void *arg, struct sa *sa), void *job)
{
	struct fm_error err = { 0 };

	if (job == NULL || sa_server_post(d->sa, fn, job, &err) != 0) {
		log_err("sa", "out of memory for work of the SA");
		free(job);
	}
}

int
daemon_start_registry(struct daemon *d, struct fm_error *err)
{
	return sa_server_post(d->sa, start, d, err);
}

static void
take_members(struct daemon *d, const struct joined_news *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!sweeper_set_member(
			d->sweeper, list[i].mlid, list[i].sl, list[i].port, list[i].roles))
			log_err("sa", "out of memory for multicast groups");
}

static void
take_aliases(struct daemon *d, const struct alias_news *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!sweeper_set_aliases(d->sweeper, list[i].port, list[i].block, list[i].guid))
			log_err("sa", "out of memory for alias GUIDs");
}

void
daemon_take_registered(struct daemon *d)
{
	struct registered *r = d->registered;
	struct queues got = { 0 };

	if (r == NULL)
		return;
	pthread_mutex_lock(&r->lock);
	if (!r->is_loading) {
		got = r->queues;
		memset(&r->queues, 0, sizeof(r->queues));
	}
	pthread_mutex_unlock(&r->lock);
	take_members(d, got.members.item, got.members.n);
	take_aliases(d, got.aliases.item, got.aliases.n);
	for (size_t i = 0; i < got.lost.n; i++)
		sweeper_lost(d->sweeper, got.lost.item[i]);
	fm_vec_fini(&got.members);
	fm_vec_fini(&got.aliases);
	fm_vec_fini(&got.lost);
}

static struct sa_mc_member_record
record_of(const struct part_group *p)
{
	return (struct sa_mc_member_record){ .mgid = sa_gid_get(p->mgid),
		.qkey = p->qkey,
		.mtu = p->mtu,
		.tclass = p->tclass,
		.pkey = p->pkey,
		.rate = p->rate,
		.sl = p->sl,
		.flow_label = p->flow_label,
		.scope = p->scope };
}

void
daemon_keep_groups(struct daemon *d)
{
	uint16_t last = sweeper_last_mlid(d->sweeper);
	const struct part_group *groups;
	struct keep_job *j;
	size_t n;

	groups = partitions_groups(d->conf->partitions.all, &n);
	j = malloc(sizeof(*j) + n * sizeof(j->group[0]));
	if (j != NULL) {
		settings_of(d, &j->set);
		j->set.groups.last_mlid = last;
		j->n = (uint32_t)n;
		for (size_t i = 0; i < n; i++) {
			j->group[i] = record_of(&groups[i]);
			j->group[i].life = j->set.groups.life;
		}
	}
	post(d, keep, j);
}

void
daemon_on_notice(void *arg, const struct wire_notice *notice)
{
	struct daemon *d = arg;
	struct trap_job *j;

	if (d->sa == NULL || d->ha.state != WIRE_SM_MASTER)
		return;
	j = malloc(sizeof(*j));
	if (j != NULL)
		*j = (struct trap_job){ *notice, daemon_sa_clock_ms(d) };
	post(d, report_trap, j);
}

void
daemon_close_registry(struct daemon *d)
{
	struct registered *r = d->registered;
	struct fm_error err = { 0 };

	if (r == NULL)
		return;
	if (d->store != NULL &&
	    registry_save(r->registry, d->store, daemon_sa_clock_ms(d), wall_s(), &err) != 0)
		log_err("sa", "%s", err.msg);
	d->registered = NULL;
	registry_free(r->registry);
	fm_vec_fini(&r->queues.members);
	fm_vec_fini(&r->queues.aliases);
	fm_vec_fini(&r->queues.lost);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
