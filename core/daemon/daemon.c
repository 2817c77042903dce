/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/daemon.c - start, loop, signals, stop.
 *
 * The pump is the heart: poll the transactions, step the sweep, until
 * neither has more to do without waiting; then ask for the next wake-up.
 * It runs when the descriptor is readable, when a transaction timer is due,
 * and when somebody asked for a sweep.
 */
#include "core/daemon/daemon.h"

#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/ctl/ctl.h"
#include "core/daemon/dump.h"
#include "core/daemon/early.h"
#include "core/daemon/readback.h"
#include "core/daemon/service.h"
#include "core/health/findings.h"
#include "core/picture/crossed.h"
#include "core/picture/loads.h"
#include "core/route/route.h"
#include "core/route/weigh.h"
#include "core/route/weighing.h"
#include "core/server/server.h"
#include "core/standby/copying.h"
#include "core/subnet/guid2lid.h"
#include "core/text/standard.h"
#include "lib/log.h"

#define PUMP_ROUNDS 256	 /* then other events get their turn */
#define IDLE_TICK_MS 100 /* sim: its clock follows ours while idle; the SA is on this loop */
#define PORTS_MS 1000	 /* our port has no link: between two looks at the others */
#define PROGRESS_MS 1000
#define MINUTE_MS 60000
#define QUIET_MS 5000 /* since the last plan: then the worker counts routes, a tenth of a second */
#define COUNTED_MS 500
#define STOP_MS 1000 /* for engines to stop when fmd does */
#define NS_PER_MS INT64_C(1000000)

static void
arm(struct event *ev, int64_t ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000 };

	event_add(ev, &tv);
}

/* ------------------------------------------------------------------ pump */

static uint64_t
traffic(const struct daemon *d)
{
	const struct txn_counts *c = txn_counts(d->txn);

	return c->sent + c->received + c->timeouts;
}

static bool
is_pumped(const struct daemon *d)
{
	return d->transport->ops->fd(d->transport) < 0;
}

static int64_t
now_ns(const struct daemon *d)
{
	return d->transport->ops->now_ns(d->transport);
}

static void
stop(struct daemon *d)
{
	event_base_loopbreak(d->base);
}

static void
fail(struct daemon *d, const struct fm_error *err)
{
	log_err("daemon", "%s", err->msg);
	d->exit_code = FMD_EXIT_SYSTEM;
	stop(d);
}

static bool
is_one_shot(const struct daemon *d)
{
	return d->cli->once || d->cli->dry_run;
}

static bool
is_sweeping(const struct daemon *d)
{
	return sweeper_phase(d->sweeper) != PHASE_IDLE;
}

static void
sleep_until_due(struct daemon *d)
{
	int64_t due = txn_next_ns(d->txn), wants = sweeper_due_ns(d->sweeper), ms;

	due = wants < due ? wants : due;
	if (!d->transport->ops->has_agents && due > now_ns(d) + IDLE_TICK_MS * NS_PER_MS)
		due = now_ns(d) + IDLE_TICK_MS * NS_PER_MS;
	if (is_pumped(d)) {
		/* while a plan is made the worker wakes us */
		bool goes_on =
		    txn_outstanding(d->txn) > 0 || (is_sweeping(d) && wants != INT64_MAX);

		arm(d->ev_pump, goes_on ? 0 : IDLE_TICK_MS);
		return;
	}
	if (due == INT64_MAX) {
		event_del(d->ev_pump);
		return;
	}
	ms = (due - now_ns(d) + NS_PER_MS - 1) / NS_PER_MS;
	arm(d->ev_pump, ms < 0 ? 0 : ms);
}

/* How long a poll may wait: a pumped transport jumps to its next event, or to when the sweep that
 * runs goes on.  Between sweeps its clock goes with ours. */
static int64_t
poll_until(const struct daemon *d)
{
	if (!is_pumped(d))
		return now_ns(d);
	if (txn_outstanding(d->txn) > 0)
		return INT64_MAX;
	return is_sweeping(d) && sweeper_due_ns(d->sweeper) != INT64_MAX
	    ? sweeper_due_ns(d->sweeper)
	    : now_ns(d);
}

/* Our port has no link, and is not alone. */
static void
follow_link(struct daemon *d)
{
	if (d->ports.n > 1 && !is_one_shot(d) && daemon_waits_for_link(d) &&
	    !evtimer_pending(d->ev_ports, NULL))
		arm(d->ev_ports, 0);
}

/* False: nothing was found. */
static bool
end_weighing(struct daemon *d, struct plan_weighed *out)
{
	bool is_found = d->quiet.weighing != NULL && weighing_take(d->quiet.weighing, out);

	d->quiet.weighing = NULL;
	conf_put(d->quiet.conf);
	d->quiet.conf = NULL;
	return is_found;
}

/* What rivals have come to is for the sweeper.  If it was given up, it is begun anew when it is
 * quiet again. */
static void
follow_weighing(struct daemon *d)
{
	struct plan_weighed found;

	if (d->quiet.weighing == NULL || !weighing_has_ended(d->quiet.weighing) ||
	    !sweeper_idle(d->sweeper))
		return;
	if (!end_weighing(d, &found))
		arm(d->quiet.ev, QUIET_MS);
	else if (sweeper_is_up(d->sweeper))
		sweeper_offer(d->sweeper, &found);
	else
		plan_weighed_put(&found);
}

static void
pump(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	struct fm_error err = { 0 };
	uint64_t before;
	int round = 0;

	if (is_pumped(d) && txn_outstanding(d->txn) == 0 && sweeper_idle(d->sweeper) &&
	    txn_poll(d->txn, now_ns(d) + IDLE_TICK_MS * NS_PER_MS, &err) < 0) {
		fail(d, &err);
		return;
	}
	do {
		sms_awake(d->sweeper);
		before = traffic(d);
		if (txn_poll(d->txn, poll_until(d), &err) < 0) {
			fail(d, &err);
			return;
		}
		daemon_take_registered(d);
		follow_weighing(d);
		sweeper_step(d->sweeper);
		copying_follow(d->copying);
		daemon_follow(d);
		early_follow(d);
		daemon_follow_reload(d);
		daemon_follow_handover(d);
		daemon_follow_quarantine(d);
		follow_link(d);
		if (d->sa != NULL)
			sa_server_step(d->sa);
		events_step(d->events);
		if (d->once_done && txn_outstanding(d->txn) == 0) {
			stop(d);
			return;
		}
	} while ((traffic(d) != before || (is_pumped(d) && txn_outstanding(d->txn) > 0)) &&
	    ++round < PUMP_ROUNDS);
	if (round == PUMP_ROUNDS)
		arm(d->ev_pump, 0);
	else
		sleep_until_due(d);
}

/* --------------------------------------------------------------- callbacks */

static void
on_mad(void *arg, const struct mad *m)
{
	struct daemon *d = arg;

	if (d->sa == NULL || !sa_server_on_mad(d->sa, m))
		sweeper_on_mad(d->sweeper, m);
}

/* On any thread: the loop has something to take. */
static void
wake_loop(void *arg)
{
	daemon_wake_from_afar(arg);
}

static void
on_routed(evutil_socket_t fd, short what, void *arg)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) > 0)
		pump(fd, what, arg);
}

static void
on_minute(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	daemon_say_flood(d);
	arm(d->ev_minute, MINUTE_MS);
}

/* Rivals of `auto` that were too slow to be waited for are asked, once for each plan. */
static void
begin_weighing(struct daemon *d)
{
	const struct chain *chain = &d->conf->routing.chain;
	const struct plan *p = sweeper_plan(d->sweeper);
	struct sweep_settings set;

	daemon_settings(d, &set);
	if (d->quiet.weighing != NULL || !sweeper_is_up(d->sweeper) ||
	    !weigh_is_due(p, chain, set.transition.rebalance))
		return;
	d->quiet.weighing =
	    weighing_start(d->worker, &d->router, (struct plan *)(uintptr_t)p, chain, &set.routing);
	d->quiet.conf = d->quiet.weighing != NULL ? conf_get(d->conf) : NULL;
}

/* When no other plan has come for a while: how full cables are by the one in force; then what
 * rivals would come to. */
static void
on_quiet(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	if (!sweeper_idle(d->sweeper))
		arm(d->quiet.ev, QUIET_MS);
	else if (loads_look_at_fullest(d->loads, sweeper_plan(d->sweeper)))
		arm(d->quiet.ev, COUNTED_MS);
	else
		begin_weighing(d);
}

static void
on_progress(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	enum sweep_phase phase = sweeper_phase(d->sweeper);

	if (phase != PHASE_IDLE)
		log_info("sweep", "%s: %zu nodes seen, %u requests waiting",
		    sweep_phase_names[phase], sweeper_inventory(d->sweeper)->nodes.n,
		    txn_outstanding(d->txn));
	arm(d->ev_progress, PROGRESS_MS);
}

static void
on_stop_signal(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	events_add(EVENT_STOPPED, FM_LOG_NOTICE, "daemon", NULL, "stopped by signal %d", (int)fd);
	service_tell("STOPPING=1");
	d->exit_code = d->cli->once && !d->once_done ? FMD_EXIT_SYSTEM : FMD_EXIT_OK;
	stop(d);
}

static void
on_reload_signal(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	struct fm_error err = { 0 };

	service_tell("RELOADING=1");
	if (daemon_reload(d, RELOAD_KEEP, NULL, &err) != RELOAD_TRIED) /* else when it is over */
		service_tell("READY=1");
}

/* Somebody has moved the log away. */
static void
on_log_signal(evutil_socket_t fd, short what, void *arg)
{
	struct fm_error err = { 0 };

	if (fm_log_reopen(&err) != 0)
		log_err("daemon", "log_file: %s; the log goes on where it was", err.msg);
}

static void
dump(struct daemon *d)
{
	const struct plan *p = sweeper_plan(d->sweeper);
	const char *dir = daemon_dump_dir(d);
	struct fm_error err = { 0 };

	if (dir == NULL)
		return;
	if (p == NULL) {
		log_warn("daemon", "nothing to dump: the fabric has no switches or no routes");
		return;
	}
	if (dump_tables(dir, p->snap, &p->tables->t, sweeper_mfts(d->sweeper), &err) != 0) {
		log_err("daemon", "tables are not dumped: %s", err.msg);
		d->exit_code = FMD_EXIT_SYSTEM;
	}
}

static void
on_sweep_done(void *arg, const struct sweep_report *r)
{
	struct daemon *d = arg;

	daemon_report(d, r);
	if (r->outcome == SWEEP_UP && !d->cli->once)
		arm(d->quiet.ev, QUIET_MS);
	if (r->outcome == SWEEP_BROKEN_OFF)
		return; /* the next begins at once */
	if (r->outcome == SWEEP_UP || r->outcome == SWEEP_STANDBY)
		daemon_publish(d);
	early_end(d, r->outcome);
	if (r->outcome == SWEEP_UP) {
		d->registered_is_lost = false;
		dump(d);
	}
	if (is_one_shot(d)) {
		d->once_done = true;
		return;
	}
	if (!daemon_is_up_untold(d))
		service_tell_outcome(d->sweeper);
	if (d->next_conf != NULL) {
		struct conf *fresh = d->next_conf;

		d->next_conf = NULL;
		daemon_take_conf(d, fresh);
	}
}

/* ---------------------------------------------------------------- standbys */

static int64_t
sa_clock_ms(void *arg)
{
	return daemon_sa_clock_ms(arg);
}

static void
taken_over(void *arg, bool in_sync)
{
	daemon_take_registered(arg);
	daemon_reload_isolated(arg);
	if (in_sync)
		early_take_over(arg);
	else
		early_forget(arg);
}

static void
prepare(void *arg)
{
	early_prepare(arg);
}

static void
forget(void *arg)
{
	early_forget(arg);
}

static void
wake(void *arg)
{
	daemon_wake(arg);
}

static int
open_copying(struct daemon *d, struct fm_error *err)
{
	char nodes[4096];
	struct copying_parts p = { .base = d->base,
		.sa = d->sa,
		.store = d->store,
		.sweeper = d->sweeper,
		.ha = &d->ha,
		.conf = &d->conf,
		.file = { [LINK_TABLES] = d->plan_path,
		    [LINK_NODES] = nodes,
		    [LINK_ISOLATED] = d->isolated_path },
		.clock_ms = sa_clock_ms,
		.clear = daemon_clear_registry,
		.load = daemon_load_registry,
		.prepare = prepare,
		.forget = forget,
		.taken_over = taken_over,
		.wake = wake,
		.arg = d };

	daemon_nodes_path(d, nodes, sizeof(nodes));
	return copying_open(&p, &d->copying, err);
}

/* ------------------------------------------------------------------ start */

/* What OpenSM remembered of ports that the store does not know yet: LIDs that were given
 * out since then stay, however often the file is read. */
static int
import_lids(struct daemon *d, struct fm_error *err)
{
	const struct fm_file *f = &d->conf->addresses.guid2lid;
	FM_VEC(struct store_lid) lids = { 0 };
	struct guid2lid g = { 0 };
	bool ok = true;
	int rc = guid2lid_parse(f->path, f->bytes, f->n_bytes, &g, NULL, err);

	if (rc != 0)
		return rc;
	for (size_t i = 0; ok && i < g.entries.n; i++) {
		const struct guid2lid_entry *e = &g.entries.item[i];
		struct store_lid l = { e->guid, e->lid, e->lmc };

		ok = store_lid(d->store, l.guid) != 0 || fm_vec_push(&lids, l);
	}
	rc = ok ? store_put_lids(d->store, lids.item, (uint32_t)lids.n, err)
		: fm_fail(err, FM_E_RESOURCE, "out of memory for %s", f->path);
	if (rc == 0 && lids.n > 0)
		log_info("daemon", "%zu LIDs taken from %s", lids.n, f->path);
	fm_vec_fini(&lids);
	guid2lid_fini(&g);
	return rc;
}

static int
open_store(struct daemon *d, struct fm_error *err)
{
	int rc = d->cli->dry_run ? store_open_to_read(d->conf->daemon.state_dir, &d->store, err)
				 : store_open(d->conf->daemon.state_dir, &d->store, err);

	snprintf(d->plan_path, sizeof(d->plan_path), "%s/tables", d->conf->daemon.state_dir);
	d->registered_is_lost =
	    rc == 0 && (store_mark(d->store) == 0 || store_was_cut_off(d->store));
	if (rc == 0)
		rc = daemon_open_isolated(d, err);
	if (rc != 0 || d->conf->addresses.guid2lid.path == NULL)
		return rc;
	return import_lids(d, err);
}

/* The store's lock says that nobody else writes there. */
static void
keep_events(struct daemon *d)
{
	char path[4096 + 16];

	snprintf(path, sizeof(path), "%s/events.jsonl", d->conf->daemon.state_dir);
	if (!d->cli->dry_run)
		events_open(d->events, path, EVENTS_FILE_BYTES);
	event_tell(&(struct telling){ .kind = EVENT_STARTED, .unlogged = true }, FM_LOG_NOTICE,
	    "daemon", "fmd " PACKAGE_VERSION " has started");
}

/* Transactions by the transport, and the SA. */
static int
open_fabric(struct daemon *d, struct fm_error *err)
{
	struct txn_limits limits = { .timeout_ms = (uint32_t)d->conf->transport.timeout_ms,
		.n_retries = (uint8_t)d->conf->transport.retries,
		.window_max = (uint16_t)d->conf->transport.max_smps,
		.per_node_max = (uint16_t)d->conf->transport.max_smps_per_node };
	struct local_port local;
	int rc = d->transport->ops->local_port(d->transport, &local, err);

	if (rc != 0)
		return rc;
	ha_init(&d->ha, local.port_guid, (uint8_t)d->conf->sm.priority, d->conf->sm.key);
	d->ha.master_priority = (uint8_t)d->conf->sm.master_priority;
	if (d->conf->sm.inactive && !d->cli->dry_run)
		d->ha.state = WIRE_SM_NOT_ACTIVE;
	d->txn = txn_new(d->transport, &limits, d->conf->m_key.key);
	if (d->txn == NULL)
		return fm_fail(err, FM_E_RESOURCE,
		    "no memory for transactions, or no random numbers for their TIDs");
	log_info("daemon", "on %s", local.name);
	if (d->cli->dry_run)
		return 0;
	if ((rc = daemon_open_sa(d, err)) != 0 || (rc = early_new(d, err)) != 0)
		return rc;
	return d->transport->ops->set_is_sm(d->transport, true, err);
}

static int
start_sweeper(struct daemon *d, struct fm_error *err)
{
	struct sweep_parts parts = { .transport = d->transport,
		.txn = d->txn,
		.store = d->store,
		.ha = &d->ha,
		.router = &d->router,
		.chain = &d->conf->routing.chain,
		.regions = &d->conf->regions.set,
		.vendors = d->vendors,
		.plan_path = d->plan_path,
		.ports = &d->ports,
		.n_sweeps = d->n_sweeps,
		.on_notice = daemon_on_notice,
		.on_notice_arg = d };
	struct sweep_settings set;

	if (plan_worker_new(&d->router, wake_loop, d, &d->worker, err) != 0)
		return (int)err->kind;
	d->loads = loads_new(d->worker, d->router.workers);
	d->crossed = crossed_new(d->worker);
	if (d->loads == NULL || d->crossed == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for loads");
	parts.worker = d->worker;
	daemon_settings(d, &set);
	d->sweeper = sweeper_new(&parts, &set, err);
	if (d->sweeper == NULL)
		return (int)err->kind;
	txn_set_unsolicited(d->txn, on_mad, d);
	sweeper_on_done(d->sweeper, on_sweep_done, d);
	sweeper_request(d->sweeper, SWEEP_HEAVY, "start");
	return 0;
}

static int
watch_transport(struct daemon *d, struct fm_error *err)
{
	int fd = d->transport->ops->fd(d->transport);

	if (fd >= 0) {
		d->ev_fd = event_new(d->base, fd, EV_READ | EV_PERSIST, pump, d);
		if (d->ev_fd == NULL)
			return fm_fail(err, FM_E_RESOURCE, "out of memory for events");
		event_add(d->ev_fd, NULL);
	}
	arm(d->ev_pump, 0);
	return 0;
}

/* All that works on the port that the transport is open on, up to the first sweep. */
static int
open_port(struct daemon *d, struct fm_error *err)
{
	int rc = router_init(&d->router, (unsigned)d->conf->routing.workers, err);

	if (rc != 0)
		return rc;
	d->router_ready = true;
	if ((rc = open_fabric(d, err)) != 0 || (rc = start_sweeper(d, err)) != 0 ||
	    (rc = watch_transport(d, err)) != 0 || is_one_shot(d))
		return rc;
	rc = service_watch(d->base, d->sa, &d->watch, err);
	return rc != 0 ? rc : open_copying(d, err);
}

static void
free_event(struct event *ev)
{
	if (ev != NULL)
		event_free(ev);
}

/* What open_port() has opened, as far as it came, and the transport; the worker has stopped. */
static void
close_port(struct daemon *d)
{
	struct plan_weighed found;
	struct fm_error err = { 0 };

	plan_worker_free(d->worker);
	if (end_weighing(d, &found))
		plan_weighed_put(&found);
	daemon_forget_foretold(d);
	daemon_forget_reload(d);
	loads_free(d->loads);
	crossed_free(d->crossed);
	picture_drop(&d->picture);
	sa_server_stop(d->sa);
	copying_close(d->copying);
	service_unwatch(d->watch);
	early_free(d);
	daemon_close_publisher(d);
	daemon_close_registry(d);
	if (d->transport != NULL && !d->cli->dry_run)
		d->transport->ops->set_is_sm(d->transport, false, &err);
	readback_free(d->readback);
	if (d->txn != NULL)
		txn_free(d->txn); /* its callbacks need the sweeper */
	sweeper_free(d->sweeper);
	free_event(d->ev_fd);
	if (d->transport != NULL)
		d->transport->ops->close(d->transport);
	if (d->router_ready)
		router_fini(&d->router);
	d->router_ready = false;
	d->worker = NULL;
	d->loads = NULL;
	d->crossed = NULL;
	d->sa = NULL;
	d->copying = NULL;
	d->watch = NULL;
	d->readback = NULL;
	d->txn = NULL;
	d->sweeper = NULL;
	d->ev_fd = NULL;
	d->transport = NULL;
}

static int
open_first_port(struct daemon *d, struct fm_error *err)
{
	const struct conf_transport *t = &d->begun->transport;
	int rc;

	local_ports_init(&d->ports, d->transports, t->ports, t->n_ports);
	rc = transport_open(d->transports, local_ports_spec(&d->ports), &d->transport, err);
	return rc != 0 ? rc : open_port(d, err);
}

/* ------------------------------------------------------------- another port
 *
 * Our port has lost its link, and another one of `port` has one.  All that works on a port is taken
 * down and opened on the other one, as with a start of fmd: what outlives a process, in the store
 * and the files beside it, is all that is to be kept, and nothing else has to know of two ports.
 * The loop, the control socket, events, the store and the configuration with its engines stay. */

/* A trial, a handover: what is begun at one port ends with it. */
static void
end_what_is_open(struct daemon *d)
{
	struct fm_error err;

	if (daemon_reload_outcome(d, daemon_reload_number(d), NULL, &err) == RELOAD_TRIED) {
		events_add(EVENT_CONF_REFUSED, FM_LOG_WARN, "daemon", NULL,
		    "the new configuration is not taken, as our port has changed: reload again");
		service_tell("READY=1");
	}
	if (d->order_is_open)
		event_tell(&(struct telling){ .kind = EVENT_HANDOVER, .ends = d->began.handover },
		    FM_LOG_WARN, "ha", "fmctl handover has failed: our port has lost its link");
	d->order_is_open = false;
	daemon_forget_seen(d);
	d->n_sweeps = sweeper_report(d->sweeper)->number;
}

static void
go_on_by(struct daemon *d, unsigned i)
{
	const char *was = local_ports_name(&d->ports, d->ports.used);
	struct transport *next;
	struct fm_error err = { 0 };

	if (transport_open(d->transports, d->ports.port[i].spec, &next, &err) != 0) {
		local_ports_refuse(&d->ports, i, &err);
		return;
	}
	if (!plan_worker_stop(d->worker, STOP_MS)) {
		next->ops->close(next);
		fm_fail(&err, FM_E_SYSTEM, "an engine does not stop: fmd cannot go on by %s",
		    local_ports_name(&d->ports, i));
		fail(d, &err);
		return;
	}
	end_what_is_open(d);
	close_port(d);
	d->transport = next;
	d->ports.used = i;
	if (open_port(d, &err) != 0) {
		fail(d, &err);
		return;
	}
	events_add(EVENT_OTHER_PORT, FM_LOG_WARN, "ha", NULL, "%s has no link: fmd goes on by %s",
	    was, local_ports_name(&d->ports, i));
}

/* Has it a LID of ours?  A store that has never seen a subnet knows nobody, and all may be ours. */
static bool
knows_port(void *arg, uint64_t guid)
{
	const struct daemon *d = arg;

	return store_n_lids(d->store) == 0 || store_lid(d->store, guid) != 0;
}

static void
on_no_link(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	uint64_t m_key = store_m_key(d->store);
	unsigned i;

	if (!daemon_waits_for_link(d))
		return;
	arm(d->ev_ports, PORTS_MS);
	i = local_ports_next(&d->ports, m_key != 0 ? m_key : d->conf->m_key.key, knows_port, d);
	if (i < d->ports.n)
		go_on_by(d, i);
}

/* Programmers that are refused are told of, and do without. */
static int
load_vendors(struct daemon *d, struct fm_error *err)
{
	int rc = cli_load_vendors(d->cli, &d->vendors, err);

	for (size_t i = 0; rc == 0 && i < d->vendors->n_refused; i++)
		log_warn("adaptive", "%s", d->vendors->refused[i].reason);
	return rc;
}

static int
open_events(struct daemon *d, struct fm_error *err)
{
	d->routed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->routed_fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "no eventfd: %s", strerror(errno));
	d->ev_pump = evtimer_new(d->base, pump, d);
	d->ev_ports = evtimer_new(d->base, on_no_link, d);
	d->ev_progress = evtimer_new(d->base, on_progress, d);
	d->ev_minute = evtimer_new(d->base, on_minute, d);
	d->quiet.ev = evtimer_new(d->base, on_quiet, d);
	d->ev_routed = event_new(d->base, d->routed_fd, EV_READ | EV_PERSIST, on_routed, d);
	d->ev_term = evsignal_new(d->base, SIGTERM, on_stop_signal, d);
	d->ev_int = evsignal_new(d->base, SIGINT, on_stop_signal, d);
	d->ev_hup = evsignal_new(d->base, SIGHUP, on_reload_signal, d);
	d->ev_usr1 = evsignal_new(d->base, SIGUSR1, on_log_signal, d);
	if (!d->ev_pump || !d->ev_ports || !d->ev_progress || !d->ev_minute || !d->quiet.ev ||
	    !d->ev_routed || !d->ev_term || !d->ev_int || !d->ev_hup || !d->ev_usr1)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for events");
	event_add(d->ev_routed, NULL);
	event_add(d->ev_term, NULL);
	event_add(d->ev_int, NULL);
	event_add(d->ev_hup, NULL);
	event_add(d->ev_usr1, NULL);
	arm(d->ev_minute, MINUTE_MS);
	if (isatty(STDERR_FILENO))
		arm(d->ev_progress, PROGRESS_MS);
	return 0;
}

int
daemon_init(struct daemon *d, const struct cli *cli, const struct transport_kind *const *transports,
    struct fm_error *err)
{
	int rc;

	memset(d, 0, sizeof(*d));
	signal(SIGPIPE, SIG_IGN); /* a reader of the log that leaves must not end a sweep */
	signal(SIGXFSZ, SIG_IGN); /* nor a file that may not grow: its write() says so */
	d->routed_fd = -1;
	d->cli = cli;
	d->transports = transports;
	d->events = events_new(wake_loop, d);
	if (d->events == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for events");
	rc = daemon_read_conf(d, 0, NULL, &d->conf, err);
	if (rc != 0)
		return rc;
	d->begun = conf_get(d->conf);
	d->base = event_base_new();
	d->findings = findings_new();
	if (d->base == NULL || d->findings == NULL)
		return fm_fail(err, FM_E_SYSTEM, "libevent does not start");
	daemon_apply_conf(d);
	if (daemon_open_files(d->conf, err) != 0) /* a fabric without an SM would be worse */
		log_err("daemon", "%s; the log stays on standard error", err->msg);
	if (cli->dump_dir != NULL && (rc = dump_open(cli->dump_dir, err)) != 0)
		return rc;
	/* the store first: a child reads it, and is forked before there are threads */
	if ((rc = open_store(d, err)) != 0)
		return rc;
	keep_events(d);
	if ((rc = load_vendors(d, err)) != 0 || (rc = open_events(d, err)) != 0 ||
	    (rc = open_first_port(d, err)) != 0)
		return rc;
	return is_one_shot(d) ? 0 : daemon_open_control(d, err);
}

enum fmd_exit
daemon_run(struct daemon *d)
{
	if (event_base_dispatch(d->base) < 0)
		return FMD_EXIT_SYSTEM;
	return d->exit_code;
}

/* An engine in this process does not stop: what others rely on is put in order, what it works
 * on stays as it is, and it goes with the process. */
static void
leave_behind(struct daemon *d)
{
	struct fm_error err = { 0 };

	log_warn("daemon",
	    "an engine does not stop, and one in this process cannot be ended from outside: fmd "
	    "ends without waiting for it");
	ctl_close(d->ctl);
	sa_server_stop(d->sa);
	daemon_close_registry(d);
	if (d->transport != NULL && !d->cli->dry_run)
		d->transport->ops->set_is_sm(d->transport, false, &err);
	if (d->transport != NULL)
		d->transport->ops->close(d->transport);
	store_close(d->store);
	events_step(d->events);
	(void)fm_standard_flush(&err);
	_exit((int)d->exit_code);
}

void
daemon_fini(struct daemon *d)
{
	if (!plan_worker_stop(d->worker, STOP_MS)) /* first: it works on what goes now */
		leave_behind(d);
	ctl_close(d->ctl);
	close_port(d);
	isolated_fini(&d->isolated);
	store_close(d->store);
	vendors_free(d->vendors);
	free_event(d->ev_routed);
	if (d->routed_fd >= 0)
		close(d->routed_fd);
	free_event(d->ev_pump);
	free_event(d->ev_ports);
	free_event(d->ev_progress);
	free_event(d->ev_minute);
	free_event(d->quiet.ev);
	free_event(d->ev_term);
	free_event(d->ev_int);
	free_event(d->ev_hup);
	free_event(d->ev_usr1);
	if (d->base != NULL)
		event_base_free(d->base);
	events_free(d->events);
	findings_free(d->findings);
	daemon_forget_seen(d);
	json_decref(d->summary);
	conf_put(d->next_conf);
	conf_put(d->begun);
	conf_put(d->conf);
}
