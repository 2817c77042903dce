/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/administer.c - the SA beside the sweep: started with the
 * transport, and given a new view whenever a sweep has brought the subnet up.
 */
#include "core/daemon/daemon.h"
#include "core/sa/server.h"
#include "lib/log.h"

struct daemon_sms {
	FM_VEC(struct sa_other_sm) sm;
};

int
daemon_open_sa(struct daemon *d, struct fm_error *err)
{
	int rc = daemon_open_registry(d, err);

	if (rc == 0)
		rc = sa_server_start(
		    d->transport, d->conf->transport, daemon_registry(d), &d->sa, err);
	return rc != 0 ? rc : daemon_start_registry(d, err);
}

static void
settings_of(const struct daemon *d, struct sa_settings *set)
{
	const struct conf *c = d->conf;

	*set = (struct sa_settings){ .gid_prefix = (uint64_t)c->subnet_prefix,
		.sa_key = (uint64_t)c->sa_key,
		.path_life = (uint8_t)c->path_life,
		.path_select = (enum sa_path_select)c->path_selection,
		.qos_sls = c->qos_enable,
		.qos = c->qos,
		.policy = c->qos_policy,
		.partitions = c->partitions,
		.route = c->routes.item,
		.n_routes = (uint32_t)c->routes.n };
}

/* Ourselves and the others that discovery met. */
static bool
collect_sms(const struct daemon *d, struct daemon_sms *all)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct sa_other_sm one;

	one.lid = inv_node(inv, inv->local)->ports[inv->local_port].lid;
	ha_info(&d->ha, &one.info);
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

static int
build_view(struct daemon *d, struct sa_view **out, struct fm_error *err)
{
	struct sa_view *prev = sa_server_view(d->sa);
	struct daemon_sms sms = { 0 };
	struct sa_settings set;
	int rc = 0;

	settings_of(d, &set);
	if (!collect_sms(d, &sms))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for subnet managers");
	if (rc == 0) {
		struct sa_view_source src = { .inv = sweeper_inventory(d->sweeper),
			/* shared by count: the SA only reads it */
			.plan = (struct plan *)(uintptr_t)sweeper_plan(d->sweeper),
			.set = &set,
			.sm = sms.sm.item,
			.n_sms = (uint32_t)sms.sm.n,
			.pkeys = sweeper_pkeys(d->sweeper),
			.prev = prev,
			.workers = d->router.workers };

		rc = sa_view_build(&src, out, err);
	}
	sa_view_put(prev);
	fm_vec_fini(&sms.sm);
	return rc;
}

void
daemon_publish(struct daemon *d)
{
	struct sa_view *v = NULL;
	struct fm_error err = { 0 };
	double start = plan_now_ms();

	if (d->sa == NULL)
		return;
	if (d->ha.state != WIRE_SM_MASTER) {
		sa_server_publish(d->sa, NULL);
		return;
	}
	if (build_view(d, &v, &err) != 0) {
		events_add(d->events, FM_LOG_ERR, "sa", NULL,
		    "the SA answers from what was before: %s", err.msg);
		return;
	}
	log_debug("sa", "view %ju: %u nodes, %u ports with LIDs, %.1f ms", (uintmax_t)v->number,
	    v->n_here, v->n_ends, plan_now_ms() - start);
	sa_server_publish(d->sa, v);
	daemon_keep_groups(d);
}
