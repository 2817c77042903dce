/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/settings.c - what the configuration means for the parts, and a new one while
 * they run.
 *
 * Read aside, judged, then taken whole between two sweeps: what is wrong in it changes
 * nothing.
 */
#include "core/daemon/daemon.h"
#include "core/daemon/dump.h"
#include "core/daemon/early.h"
#include "core/daemon/service.h"
#include "core/route/trial.h"
#include "core/text/mistakes.h"
#include "core/vendor/vendors.h"
#include "lib/error.h"
#include "lib/log.h"

#define LOOK_MOST_MS 1000 /* our own port is looked at as often at least */
#define RELOAD_MS 1500	  /* for engines to be loaded: the loop waits */

static struct route_settings
routing_of(const struct conf_routing *r, const struct conf_ar *ar)
{
	return (struct route_settings){ .n_vls = (uint8_t)r->n_vls,
		.sl_model = (enum verify_sl_model)r->sl_model,
		.ar_max_groups = ar->enable ? (uint16_t)ar->max_groups : 0 };
}

void
daemon_settings(const struct daemon *d, struct sweep_settings *s)
{
	const struct conf *c = d->conf;

	*s = (struct sweep_settings){ .addresses = c->addresses,
		.m_key = c->m_key,
		.sm = c->sm,
		.ports = c->ports,
		.partitions = c->partitions,
		.congestion = c->congestion,
		.adaptive = c->ar,
		.sweep = c->sweep,
		.transition = c->transition,
		.routing = routing_of(&c->routing, &c->ar),
		.names = c->names.map,
		.qos = c->qos.tables,
		.isolated = &d->isolated,
		.dry_run = d->cli->dry_run };
	if (!d->cli->once && !d->cli->dry_run)
		s->own_port_ms = c->sm.polling_timeout_ms < LOOK_MOST_MS ? c->sm.polling_timeout_ms
									 : LOOK_MOST_MS;
}

const char *
daemon_dump_dir(const struct daemon *d)
{
	if (d->cli->dump_dir != NULL)
		return d->cli->dump_dir;
	return *d->conf->daemon.dump_files_dir != '\0' ? d->conf->daemon.dump_files_dir : NULL;
}

int
daemon_open_files(const struct conf *c, struct fm_error *err)
{
	int rc = *c->daemon.dump_files_dir != '\0' ? dump_open(c->daemon.dump_files_dir, err) : 0;

	if (rc != 0)
		return fm_context(err, "dump_files_dir");
	if (fm_log_open(c->log.file, (uint64_t)c->log.max_size_mib << 20, err) != 0)
		return fm_context(err, "log_file");
	return 0;
}

void
daemon_apply_conf(struct daemon *d)
{
	fm_log_set_level((enum fm_log_level)d->conf->log.level);
	fm_log_set_debug(d->conf->log.debug);
	d->ha.priority = (uint8_t)d->conf->sm.priority;
	d->ha.master_priority = (uint8_t)d->conf->sm.master_priority;
	d->ha.sm_key = d->conf->sm.key;
}

int
daemon_read_conf(const struct daemon *d, int64_t load_ms, struct mistakes *all, struct conf **conf,
    struct fm_error *err)
{
	struct mistakes own = { 0 }, *m = all != NULL ? all : &own;
	int rc = cli_load(d->cli, load_ms, m, conf, err);

	for (size_t i = 0; m->n > 1 && i < m->n; i++)
		log_err("conf", "%s", m->sentence[i]);
	mistakes_fini(&own);
	return rc;
}

/* What was read takes effect, and the engines that were found with it: no sweep is running. */
void
daemon_take_conf(struct daemon *d, struct conf *fresh)
{
	struct sweep_settings set;

	if (d->conf->sm.inactive && !fresh->sm.inactive)
		ha_activate(&d->ha);
	early_forget(d);
	conf_put(d->conf);
	d->conf = fresh;
	daemon_apply_conf(d);
	daemon_settings(d, &set);
	sweeper_configure(d->sweeper, &set, &d->conf->routing.chain, &d->conf->regions.set);
	vendors_ask_again(d->vendors);
	sweeper_request(d->sweeper, SWEEP_HEAVY, "reload");
	events_add(EVENT_CONF_RELOADED, FM_LOG_NOTICE, "daemon", NULL,
	    "the configuration has been reloaded");
	daemon_wake(d);
}

/* LIDs that are in use and would be others. */
static int
judge_moves(struct daemon *d, struct conf *fresh, enum reload_moves how, struct fm_error *err)
{
	const struct conf *c = d->conf;
	struct sweep_lid_moves m;
	int rc;

	if (how == RELOAD_MOVE ||
	    (fresh->addresses.lmc == c->addresses.lmc &&
		fresh->addresses.switch_lmc == c->addresses.switch_lmc))
		return 0;
	rc = sweeper_lid_moves(d->sweeper, (uint8_t)fresh->addresses.lmc,
	    (uint8_t)fresh->addresses.switch_lmc, &m, err);
	if (rc != 0 || m.n == 0)
		return rc;
	if (how == RELOAD_REFUSE)
		return fm_fail(err, FM_E_CONFIG,
		    "lmc = %d, switch_lmc = %d would move the LIDs of %u ports, of %s%s, which "
		    "lose "
		    "their connections: fmctl reload --yes moves them",
		    (int)fresh->addresses.lmc, (int)fresh->addresses.switch_lmc, m.n, m.names,
		    m.n > 3 ? ", ..." : "");
	events_add(EVENT_CONF_IN_PART, FM_LOG_WARN, "daemon", NULL,
	    "the LIDs of %u ports, of %s%s, stay as they are, and so do lmc = %d and switch_lmc = "
	    "%d: fmctl reload --yes moves them",
	    m.n, m.names, m.n > 3 ? ", ..." : "", (int)c->addresses.lmc,
	    (int)c->addresses.switch_lmc);
	fresh->addresses.lmc = c->addresses.lmc;
	fresh->addresses.switch_lmc = c->addresses.switch_lmc;
	return 0;
}

/* Regions that cannot be would leave us without tables. */
static int
check_settings(struct daemon *d, struct conf *fresh, enum reload_moves how, struct fm_error *err)
{
	const struct plan *p = sweeper_plan(d->sweeper);
	int rc = p != NULL ? regions_check(&fresh->regions.set, p->snap, err) : 0;

	return rc != 0 ? rc : judge_moves(d, fresh, how, err);
}

static void
say_restart(struct daemon *d, const struct conf *fresh)
{
	char keys[200];
	unsigned n = conf_needs_restart(d->begun, fresh, keys, sizeof(keys));

	if (n > 0)
		events_add(EVENT_CONF_IN_PART, FM_LOG_WARN, "daemon", NULL,
		    "%s: read when fmd starts: the change needs a restart", keys);
}

/* A chain that is tried, on the fabric as it was last planned, before it takes effect. */
struct reloading {
	uint64_t number;	    /* of the trial, for who asks what has become of it */
	struct trial *trial;	    /* NULL: it is over */
	struct conf *fresh;	    /* likewise */
	bool again;		    /* asked for once more meanwhile: it is read again then */
	enum reload_moves how;	    /* that time */
	struct trial_result result; /* when it is over, as are: */
	int rc;
	struct fm_error err;
};

/* Could it leave us without an engine that routes?  Whoever insists is not asked. */
static bool
wants_trial(const struct daemon *d, const struct conf *fresh, enum reload_moves how)
{
	const struct plan *p = sweeper_plan(d->sweeper);

	return how != RELOAD_MOVE && !fresh->routing.fallback &&
	    fresh->routing.chain.mark != d->conf->routing.chain.mark &&
	    d->ha.state == WIRE_SM_MASTER && d->worker != NULL && p != NULL && p->tables != NULL;
}

/* Takes fresh, if it is 0. */
static int
begin_trial(struct daemon *d, struct conf *fresh, struct fm_error *err)
{
	struct plan *p = (struct plan *)(uintptr_t)sweeper_plan(d->sweeper); /* shared by count */
	struct route_settings set = routing_of(&fresh->routing, &fresh->ar);
	struct plan_request q = { .snap = p->snap,
		.set = &set,
		.chain = &fresh->routing.chain,
		.regions = &fresh->regions.set,
		.prev = p,
		.anew = PLAN_BY_CHAIN,
		.now_ms = d->transport->ops->now_ns(d->transport) / 1000000,
		.linger_ms = fresh->addresses.lid_linger_ms,
		.drain = (enum plan_drain)fresh->transition.drain,
		.rebalance = PLAN_REBALANCE_NEVER };
	struct reloading *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a trial of the chain");
	r->trial = trial_start(d->worker, &d->router, &q, err);
	if (r->trial == NULL) {
		free(r);
		return (int)err->kind;
	}
	r->number = daemon_reload_number(d) + 1;
	r->fresh = fresh;
	daemon_forget_reload(d);
	d->reloading = r;
	log_notice("daemon", "the new chain is tried on the fabric before it takes effect");
	return 0;
}

static int
take_when_idle(struct daemon *d, struct conf *fresh, struct fm_error *err)
{
	int rc = daemon_open_files(fresh, err);

	if (rc != 0) {
		conf_put(fresh);
		return rc;
	}
	say_restart(d, fresh);
	if (sweeper_phase(d->sweeper) == PHASE_IDLE) {
		daemon_take_conf(d, fresh);
		return 0;
	}
	conf_put(d->next_conf);
	d->next_conf = fresh;
	log_notice("daemon", "the new configuration takes effect when this sweep has ended");
	return 0;
}

static int
read_again(struct daemon *d, enum reload_moves how, struct mistakes *all, struct fm_error *err)
{
	struct conf *fresh;
	int rc = daemon_read_conf(d, RELOAD_MS, all, &fresh, err);

	if (rc != 0)
		return rc;
	rc = check_settings(d, fresh, how, err);
	if (rc == 0 && !wants_trial(d, fresh, how))
		return take_when_idle(d, fresh, err);
	if (rc == 0 && (rc = begin_trial(d, fresh, err)) == 0)
		return RELOAD_TRIED;
	conf_put(fresh);
	return rc;
}

/* Not taken: told, once. */
static int
refuse(struct daemon *d, const struct fm_error *why, struct fm_error *err)
{
	fm_fail(err, why->kind, "%.220s; the old configuration stays", why->msg);
	events_add(EVENT_CONF_REFUSED, FM_LOG_ERR, "daemon", NULL, "%s", err->msg);
	return (int)err->kind;
}

int
daemon_reload(struct daemon *d, enum reload_moves moves, struct mistakes *all, struct fm_error *err)
{
	struct reloading *r = d->reloading;
	struct fm_error why = { 0 };
	int rc;

	if (r != NULL && r->trial != NULL) {
		r->again = true;
		r->how = moves;
		return RELOAD_TRIED;
	}
	rc = read_again(d, moves, all, &why);
	return rc < 0 ? refuse(d, &why, err) : rc;
}

uint64_t
daemon_reload_number(const struct daemon *d)
{
	return d->reloading != NULL ? d->reloading->number : 0;
}

static void
explain_refusal(const struct plan_refusal *one, struct fm_error *out)
{
	fm_fail(out, FM_E_CONFIG, "engine %.40s: %.180s", one->engine, one->reason);
}

int
daemon_reload_outcome(
    const struct daemon *d, uint64_t number, struct mistakes *all, struct fm_error *err)
{
	const struct reloading *r = d->reloading;
	struct fm_error one = { 0 };

	if (r == NULL || number == 0 || number > r->number)
		return fm_fail(err, FM_E_CONFIG, "no reload is tried under this number");
	if (r->trial != NULL)
		return RELOAD_TRIED;
	if (r->rc == 0)
		return 0;
	for (uint32_t i = 0; r->result.no_engine && i < r->result.n_refused; i++) {
		explain_refusal(&r->result.refused[i], &one);
		(void)mistakes_note(all, &one);
	}
	one = r->err;
	one.kind = FM_E_CONFIG;
	(void)mistakes_note(all, &one);
	*err = r->err;
	return r->rc;
}

/* Is an engine of the chain fit for the fabric? */
static int
judge_trial(const struct trial_result *t, struct fm_error *err)
{
	struct fm_error one = { 0 };

	if (!t->no_engine)
		return t->rc != 0 ? (*err = t->err, t->rc) : 0;
	for (uint32_t i = 0; i < t->n_refused; i++) {
		explain_refusal(&t->refused[i], &one);
		log_warn("daemon", "the new chain: %s", one.msg);
	}
	return fm_fail(err, FM_E_CONFIG,
	    "no engine of the new chain can route the fabric, and fallback = no: fmctl reload "
	    "--yes takes it all the same, and the routes in force are mended");
}

/* One that was asked for meanwhile; another trial takes the place of this one. */
static void
reload_again(struct daemon *d, enum reload_moves how)
{
	struct fm_error err = { 0 };
	int rc = daemon_reload(d, how, NULL, &err);

	if (rc == RELOAD_TRIED)
		return;
	d->reloading->result.no_engine = false; /* that is of the one before */
	d->reloading->rc = rc;
	d->reloading->err = err;
	service_tell("READY=1");
}

void
daemon_follow_reload(struct daemon *d)
{
	struct reloading *r = d->reloading;
	const struct trial_result *t =
	    r != NULL && r->trial != NULL ? trial_result(r->trial) : NULL;
	struct fm_error why = { 0 };
	struct conf *fresh;

	if (t == NULL)
		return;
	r->result = *t;
	trial_free(r->trial);
	r->trial = NULL;
	fresh = r->fresh;
	r->fresh = NULL;
	if (r->again) {
		conf_put(fresh);
		reload_again(d, r->how);
		return;
	}
	r->rc = judge_trial(&r->result, &why);
	if (r->rc == 0)
		r->rc = take_when_idle(d, fresh, &why);
	else
		conf_put(fresh);
	if (r->rc != 0)
		(void)refuse(d, &why, &r->err);
	service_tell("READY=1");
}

void
daemon_forget_reload(struct daemon *d)
{
	struct reloading *r = d->reloading;

	if (r == NULL)
		return;
	trial_free(r->trial);
	conf_put(r->fresh);
	free(r);
	d->reloading = NULL;
}
