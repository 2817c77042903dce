/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/administer.c - the SA beside the sweep: started with the
 * transport, and given a new view whenever a sweep has brought the subnet up.
 *
 * The loop copies what the sweep may change, the worker that routes makes the
 * view of it, the loop gives that to the SA.  One is made at a time and one may
 * wait; of several that wait only the last counts.  What the SA then answers from is kept for a
 * restart, by the worker, too; till the first sweep has ended early.c gives it what was kept.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/daemon/daemon.h"
#include "core/daemon/early.h"
#include "core/daemon/service.h"
#include "core/dist/dist.h"
#include "core/server/server.h"
#include "lib/log.h"

struct daemon_sms {
	FM_VEC(struct sa_other_sm) sm;
};

void
daemon_sa_settings(const struct daemon *d, struct sa_settings *set)
{
	const struct conf *c = d->conf;

	*set = (struct sa_settings){ .gid_prefix = c->addresses.subnet_prefix,
		.sa_key = c->sa.key,
		.untrusted = (enum sa_untrusted)c->sa.untrusted,
		.path_life = (uint8_t)c->sa.path_life,
		.max_rate = (uint8_t)c->sa.max_rate_enum,
		.path_select = (enum sa_path_select)c->sa.path_selection,
		.qos_sls = c->qos.enable,
		.qos = c->qos.tables,
		.policy = c->qos.policy,
		.partitions = c->partitions.all,
		.vfabrics = &c->partitions.vfabrics,
		.route = c->sa.routes.item,
		.n_routes = (uint32_t)c->sa.routes.n };
}

/* Ourselves and the others that discovery met. */
static bool
collect_sms(const struct daemon *d, struct daemon_sms *all)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct sa_other_sm one;

	one.lid = inv_node(inv, inv->local)->ports[inv->local_port].lid;
	sweeper_own_sm(d->sweeper, &one.info);
	if (!fm_vec_push(&all->sm, one))
		return false;
	for (uint32_t i = 0; i < sweeper_n_other_sms(d->sweeper); i++) {
		const struct ha_other *o = sweeper_other_sm(d->sweeper, i);

		one = (struct sa_other_sm){ o->lid, o->info };
		if (!fm_vec_push(&all->sm, one))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- views */

struct publisher {
	struct daemon *d;
	struct sa_view *newest;	 /* begun last: the next shares its nodes; NULL at first */
	struct sa_view *waiting; /* begun, for when the worker is done; NULL: none */
	bool unwanted;		 /* what the worker makes: we are not master any more */
	uint32_t n_handovers;	 /* taken before the newest view that was published for hosts */
	bool stands_by;	  /* another SM is master, and it is known that nothing is answered */
	char untold[384]; /* that the subnet is up, when the SA answers; "": nothing */
	/* in the worker's hands while `busy` and not yet `made` */
	bool busy;
	atomic_bool made;
	struct sa_view *view, *prev; /* one reference each */
	struct fm_error err;
	int rc;
	double ms;

	char path[4096];       /* of the kept nodes; "": nothing is kept */
	struct sa_view *shown; /* the last one that the SA was given and that is to be kept */
	/* in the worker's hands while `keeping` and not yet `kept` */
	bool keeping;
	atomic_bool kept;
	struct sa_view *to_keep; /* one reference */
	uint64_t sum;		 /* of what the file holds */
	struct fm_error keep_err;
	int keep_rc;
	double keep_ms;
};

/* k NULL: of what the sweep has found; else of what was kept. */
static int
begin_view(struct daemon *d, const struct sa_kept *k, struct sa_view *prev, struct sa_view **out,
    struct fm_error *err)
{
	struct daemon_sms sms = { 0 };
	struct plan_installed *installed = NULL;
	struct sa_settings set;
	size_t n_installed = 0;
	int rc = 0;

	daemon_sa_settings(d, &set);
	if (k == NULL && !collect_sms(d, &sms))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for subnet managers");
	if (rc == 0 && k == NULL && !sweeper_installed(d->sweeper, &installed, &n_installed))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for what switches hold");
	if (rc == 0) {
		struct sa_view_source src = { .inv = sweeper_inventory(d->sweeper),
			/* shared by count: the SA only reads it */
			.plan = (struct plan *)(uintptr_t)sweeper_plan(d->sweeper),
			.installed = installed,
			.n_installed = n_installed,
			.set = &set,
			.sm = sms.sm.item,
			.n_sms = (uint32_t)sms.sm.n,
			.pkeys = sweeper_pkeys(d->sweeper),
			.prev = prev };

		if (k != NULL) {
			src.inv = &k->inv;
			src.plan = k->plan;
			src.pkeys = k->pkeys;
			src.basis = k->basis;
		}
		rc = sa_view_begin(&src, out, err);
	}
	free(installed);
	fm_vec_fini(&sms.sm);
	return rc;
}

static void
say_up(struct publisher *p)
{
	struct daemon *d = p->d;

	if (p->untold[0] == '\0')
		return;
	events_add(
	    EVENT_SUBNET_UP, FM_LOG_NOTICE, "sweep", json_incref(d->summary), "%s", p->untold);
	p->untold[0] = '\0';
	service_tell_outcome(d->sweeper);
}

static void
say_lost(struct daemon *d, const struct fm_error *err)
{
	events_add(EVENT_SA_BEHIND, FM_LOG_ERR, "sa", NULL,
	    "the SA answers from what was before: %s", err->msg);
	say_up(d->publisher);
}

bool
daemon_says_up_later(struct daemon *d, const char *line)
{
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;
	bool answers = d->sa == NULL || (v != NULL && v->basis == SA_VIEW_READ);

	sa_view_put(v);
	if (answers || d->cli->once)
		return false;
	snprintf(d->publisher->untold, sizeof(d->publisher->untold), "%s", line);
	return true;
}

bool
daemon_is_up_untold(const struct daemon *d)
{
	return d->sa != NULL && d->publisher->untold[0] != '\0';
}

/* On the worker's thread. */
static void
make_view(void *arg)
{
	struct publisher *p = arg;
	double start = plan_now_ms();

	p->rc = sa_view_finish(p->view, p->prev, p->d->router.workers, &p->err);
	p->ms = plan_now_ms() - start;
	atomic_store(&p->made, true);
}

/* Takes the reference. */
static void
start_view(struct publisher *p, struct sa_view *v)
{
	p->view = v;
	p->prev = sa_server_view(p->d->sa);
	p->err = (struct fm_error){ 0 };
	p->unwanted = false;
	atomic_store(&p->made, false);
	p->busy = plan_worker_run(p->d->worker, make_view, p);
	if (p->busy)
		return;
	fm_fail(&p->err, FM_E_RESOURCE, "out of memory for work");
	say_lost(p->d, &p->err);
	sa_view_put(p->view);
	sa_view_put(p->prev);
	p->view = p->prev = NULL;
}

/* ------------------------------------------------------------- for a restart */

/* On the worker's thread. */
static void
keep_view(void *arg)
{
	struct publisher *p = arg;

	double start = plan_now_ms();

	p->keep_rc = sa_kept_save(p->path, p->to_keep, &p->sum, &p->keep_err);
	p->keep_ms = plan_now_ms() - start;
	atomic_store(&p->kept, true);
}

static void
start_keeping(struct publisher *p)
{
	if (p->keeping || p->shown == NULL)
		return;
	p->to_keep = p->shown;
	p->shown = NULL;
	atomic_store(&p->kept, false);
	p->keeping = plan_worker_run(p->d->worker, keep_view, p);
	if (!p->keeping) { /* with the next view, or at the end */
		p->shown = p->to_keep;
		p->to_keep = NULL;
	}
}

static void
say_not_kept(const struct publisher *p)
{
	log_warn("sa", "nodes are not kept for a restart: %s", p->keep_err.msg);
}

static void
end_keeping(struct publisher *p)
{
	p->keeping = false;
	log_debug("sa", "view %ju is kept: %.1f ms", (uintmax_t)p->to_keep->number, p->keep_ms);
	sa_view_put(p->to_keep);
	p->to_keep = NULL;
	if (p->keep_rc != 0)
		say_not_kept(p);
	start_keeping(p);
}

/* Takes a reference of its own. */
static void
note_shown(struct publisher *p, struct sa_view *v)
{
	if (p->path[0] == '\0')
		return;
	sa_view_put(p->shown);
	p->shown = sa_view_get(v);
	start_keeping(p);
}

/* ------------------------------------------------------------------- publish */

/* Who has been master all the time may not have been alone: what another has published counts up to
 * its HANDOVER, and after that we publish under a later term. */
static void
publish_for_hosts(struct daemon *d, struct sa_view *v)
{
	struct publisher *p = d->publisher;

	if (d->ha.n_handovers != p->n_handovers)
		dist_resign(d->dist);
	p->n_handovers = d->ha.n_handovers;
	dist_publish(d->dist, v);
}

/* The worker has made a view. */
static void
take_view(struct publisher *p)
{
	struct daemon *d = p->d;
	struct sa_view *v = p->view;

	p->busy = false;
	sa_view_put(p->prev);
	p->view = p->prev = NULL;
	if (p->rc != 0)
		say_lost(d, &p->err);
	if (p->rc != 0 || p->unwanted) {
		sa_view_put(v);
	} else {
		log_debug("sa", "view %ju: %u nodes, %u ports with LIDs, %.1f ms",
		    (uintmax_t)v->number, v->n_here, v->n_ends, p->ms);
		if (v->basis == SA_VIEW_READ)
			note_shown(p, v);
		if (v->basis == SA_VIEW_READ)
			daemon_keep_groups(d);
		if (v->basis == SA_VIEW_READ && d->dist != NULL)
			publish_for_hosts(d, v);
		sa_server_publish(d->sa, v);
		if (v->basis == SA_VIEW_READ)
			say_up(p);
	}
	if (p->waiting != NULL) {
		v = p->waiting;
		p->waiting = NULL;
		start_view(p, v);
	}
}

bool
daemon_waits_for_link(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);

	return d->ha.state == WIRE_SM_DISCOVERING && inv->local != INV_NONE &&
	    inv_node(inv, inv->local)->ports[inv->local_port].known && !sms_has_link(d->sweeper);
}

/* Another SM is master, or may be by now, as we have no link; between sweeps, too: it may have
 * acknowledged our HANDOVER. */
static void
stand_by(struct daemon *d)
{
	if (d->publisher->stands_by)
		return;
	d->publisher->stands_by = true;
	daemon_publish_nothing(d);
	if (d->dist != NULL)
		dist_stand_by(d->dist);
}

void
daemon_follow(struct daemon *d)
{
	struct publisher *p = d->publisher;

	if (d->sa == NULL)
		return;
	if (d->ha.state == WIRE_SM_STANDBY || d->ha.state == WIRE_SM_NOT_ACTIVE ||
	    daemon_waits_for_link(d))
		stand_by(d);
	sa_server_publish_mfts(d->sa, sweeper_mfts(d->sweeper));
	if (p->busy && atomic_load(&p->made))
		take_view(p);
	if (p->keeping && atomic_load(&p->kept))
		end_keeping(p);
}

void
daemon_publish_nothing(struct daemon *d)
{
	struct publisher *p = d->publisher;

	p->unwanted = true;
	p->untold[0] = '\0';
	sa_view_put(p->waiting);
	p->waiting = NULL;
	if (d->dist != NULL)
		dist_resign(d->dist);
	sa_server_publish(d->sa, NULL);
}

static void
publish(struct daemon *d, const struct sa_kept *k)
{
	struct publisher *p = d->publisher;
	struct sa_view *v = NULL;
	struct fm_error err = { 0 };

	p->stands_by = false;
	if (begin_view(d, k, p->newest, &v, &err) != 0) {
		say_lost(d, &err);
		return;
	}
	sa_view_put(p->newest);
	p->newest = sa_view_get(v);
	if (p->busy) {
		sa_view_put(p->waiting);
		p->waiting = v;
	} else {
		start_view(p, v);
	}
}

void
daemon_publish(struct daemon *d)
{
	if (d->sa != NULL && d->ha.state == WIRE_SM_MASTER)
		publish(d, NULL);
	else if (d->sa != NULL)
		daemon_publish_nothing(d);
}

void
daemon_publish_kept(struct daemon *d, const struct sa_kept *k)
{
	publish(d, k);
}

static int
open_publisher(struct daemon *d, struct fm_error *err)
{
	d->publisher = calloc(1, sizeof(*d->publisher));
	if (d->publisher == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the SA");
	d->publisher->d = d;
	if (store_why_none(d->store) == NULL)
		daemon_nodes_path(d, d->publisher->path, sizeof(d->publisher->path));
	return 0;
}

/* NULL: an option that is not set. */
static const char *
set_or_null(const char *text)
{
	return *text != '\0' ? text : NULL;
}

static int
open_dist(struct daemon *d, struct fm_error *err)
{
	struct dist_settings set = { .place = { [DIST_FILES] = set_or_null(d->conf->dist.files),
					 [DIST_REDIS] = set_or_null(d->conf->dist.redis) },
		.redis_peer = set_or_null(d->conf->dist.redis_peer),
		.auth_file = set_or_null(d->conf->dist.auth_file),
		.addresses = set_or_null(d->conf->dist.addresses) };

	if (!d->cli->once)
		return dist_start(&set, &d->dist, err);
	/* what is told once would be believed when it has long been wrong */
	if (set.place[DIST_FILES] != NULL || set.place[DIST_REDIS] != NULL)
		log_notice("dist", "nothing is published with --once");
	return 0;
}

int
daemon_open_sa(struct daemon *d, struct fm_error *err)
{
	int rc = daemon_open_registry(d, err);

	if (rc == 0)
		rc = open_publisher(d, err);
	if (rc == 0)
		rc = open_dist(d, err);
	if (rc == 0)
		rc = sa_server_start(
		    d->transport, local_ports_spec(&d->ports), daemon_registry(d), &d->sa, err);
	return rc != 0 ? rc : daemon_start_registry(d, err);
}

/* What the worker, which has stopped, did not come to. */
static void
keep_last(struct publisher *p)
{
	struct sa_view *v = p->shown;

	if (v == NULL && p->keeping && !atomic_load(&p->kept))
		v = p->to_keep;
	if (v != NULL && sa_kept_save(p->path, v, &p->sum, &p->keep_err) != 0)
		say_not_kept(p);
}

void
daemon_close_publisher(struct daemon *d)
{
	struct publisher *p = d->publisher;

	dist_stop(d->dist);
	d->dist = NULL;
	if (p == NULL)
		return;
	d->publisher = NULL;
	keep_last(p);
	sa_view_put(p->shown);
	sa_view_put(p->to_keep);
	sa_view_put(p->newest);
	sa_view_put(p->waiting);
	sa_view_put(p->view);
	sa_view_put(p->prev);
	free(p);
}
