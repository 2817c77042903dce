/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decided once, when our own port has been read, or the first sweep has ended without.  While
 * it serves, a timer holds what was kept against the inventory, when answers have come since,
 * and so does the end of reading.
 */
#include "core/daemon/early.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/server/server.h"
#include "lib/log.h"
#include "lib/thread.h"

#define LOOK_MS 50
#define LOOK_SHARE 10 /* of the loop's time it takes a tenth at most */

enum early_state { EARLY_UNDECIDED, EARLY_SERVES, EARLY_OVER };

/* What was kept is read by a thread: while polls tell whether the master is gone, we take over
 * 0.1 s sooner at 11,664 hosts. */
struct load {
	pthread_t thread;
	bool runs; /* or has run, and is to be joined */
	char path[4096];
	struct sa_settings set;
	struct sa_kept_source src; /* of these, and of the daemon */
	struct sa_kept *kept;
	const char *why;
	struct fm_error err;
	int rc;
};

struct early {
	enum early_state state;
	struct load load;
	struct sa_kept *kept; /* EARLY_SERVES */
	struct event *ev_look;
	uint64_t received; /* answers, when it was looked at last */
	bool is_reading;   /* the sweep, then */
	/* for the status, when it is over, too */
	uint32_t n_ports, n_gone;
};

static void
look_later(struct early *e, double took_ms)
{
	double ms = took_ms * LOOK_SHARE > LOOK_MS ? took_ms * LOOK_SHARE : LOOK_MS;
	struct timeval tv = { .tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms * 1000) % 1000000 };

	event_add(e->ev_look, &tv);
}

static void
stop(struct early *e)
{
	e->state = EARLY_OVER;
	event_del(e->ev_look);
	sa_kept_free(e->kept);
	e->kept = NULL;
}

/* --------------------------------------------------------------------- compare */

/* False: it is over, for want of memory. */
static bool
compare(struct daemon *d, bool all_read, bool *changed)
{
	struct early *e = d->early;
	struct fm_error err = { 0 };

	e->received = txn_counts(d->txn)->received;
	if (sa_kept_compare(e->kept, sweeper_inventory(d->sweeper), all_read, changed, &err) != 0) {
		log_err("sa", "what was kept is not answered from any more: %s", err.msg);
		daemon_publish_nothing(d);
		stop(e);
		return false;
	}
	e->n_gone = e->kept->n_gone;
	return true;
}

/* Takes back what is not so any more; false: it is over. */
static bool
check_early_view(struct daemon *d)
{
	bool changed;

	if (d->early->received == txn_counts(d->txn)->received)
		return true;
	if (!compare(d, false, &changed))
		return false;
	if (changed)
		daemon_publish_kept(d, d->early->kept);
	return true;
}

static void
on_look(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	double start = plan_now_ms();

	if (check_early_view(d))
		look_later(d->early, plan_now_ms() - start);
}

/* All has been read, and nothing written yet: a port that is about to get its LID back counts. */
static void
look_before_writing(struct daemon *d)
{
	bool was_reading = d->early->is_reading;

	d->early->is_reading = sweeper_phase(d->sweeper) < PHASE_ROUTE;
	if (was_reading && !d->early->is_reading)
		check_early_view(d);
}

/* ---------------------------------------------------------------------- decide */

/* NULL: the fabric takes us for its master, at the LID that we know; else why not. */
static const char *
why_not_master(const struct daemon *d, const struct inv_port *own)
{
	const struct wire_port_info *i = &own->info;

	if (i->port_state != WIRE_PORT_ACTIVE)
		return "our own port is not ACTIVE";
	if (i->lid == 0 || i->master_sm_lid != i->lid)
		return "our own port names another master";
	if (store_lid(d->store, own->guid) != i->lid)
		return "our own port has another LID than the store";
	if (d->conf->addresses.reassign_lids)
		return "LIDs are to be given anew";
	if (store_untold(d->store))
		return "hosts are to be told of other SLs";
	return NULL;
}

static void *
load(void *arg)
{
	struct load *l = arg;

	l->rc = sa_kept_load(&l->src, &l->kept, &l->why, &l->err);
	return NULL;
}

static void
begin_load(struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct load *l = &d->early->load;

	daemon_nodes_path(d, l->path, sizeof(l->path));
	daemon_sa_settings(d, &l->set);
	l->src = (struct sa_kept_source){ .path = l->path,
		.tables = d->plan_path,
		.router = &d->router,
		.chain_mark = d->conf->routing.chain.mark,
		.store = d->store,
		.set = &l->set,
		.names = d->conf->names.map,
		.own_guid = inv_node(inv, inv->local)->ports[inv->local_port].guid };
	l->kept = NULL;
	l->err = (struct fm_error){ 0 };
	l->runs = fm_thread_start(&l->thread, load, l) == 0;
}

/* Into e->kept what was begun, or else is begun now; NULL: the sentence says why. */
static const char *
end_load(struct daemon *d)
{
	struct early *e = d->early;
	struct load *l = &e->load;

	if (!l->runs)
		begin_load(d);
	if (l->runs)
		pthread_join(l->thread, NULL);
	else
		load(l);
	l->runs = false;
	e->kept = l->kept;
	l->kept = NULL;
	return l->rc != 0 ? l->err.msg : l->why;
}

static void
serve_kept_view(struct daemon *d)
{
	struct early *e = d->early;

	e->state = EARLY_SERVES;
	e->n_ports = e->kept->n_ports;
	e->n_gone = e->kept->n_gone;
	events_add(EVENT_KEPT_ANSWERS, FM_LOG_NOTICE, "sa", NULL,
	    "the SA answers from what was kept, unverified, until the first sweep has ended: %u "
	    "ports",
	    e->n_ports - e->n_gone);
	daemon_publish_kept(d, e->kept);
	look_later(e, 0);
}

void
early_follow(struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct early *e = d->early;
	const struct inv_port *own;
	const char *why;

	if (e == NULL)
		return;
	if (e->state == EARLY_SERVES)
		look_before_writing(d);
	if (e->state != EARLY_UNDECIDED || inv->local == INV_NONE)
		return;
	own = &inv_node(inv, inv->local)->ports[inv->local_port];
	if (!own->known || own->guid == 0)
		return;
	e->state = EARLY_OVER;
	why = why_not_master(d, own);
	if (why == NULL)
		why = end_load(d);
	if (e->kept != NULL)
		serve_kept_view(d);
	else
		log_info("sa", "nothing is answered before the first sweep has ended: %s", why);
}

void
early_prepare(struct daemon *d)
{
	if (d->early != NULL && d->early->state == EARLY_OVER && !d->early->load.runs &&
	    sweeper_inventory(d->sweeper)->local != INV_NONE)
		begin_load(d);
}

void
early_forget(struct daemon *d)
{
	struct load *l = d->early != NULL ? &d->early->load : NULL;

	if (l == NULL || !l->runs)
		return;
	pthread_join(l->thread, NULL);
	l->runs = false;
	sa_kept_free(l->kept);
	l->kept = NULL;
}

void
early_take_over(struct daemon *d)
{
	struct early *e = d->early;
	const char *why = "hosts are to be told of other SLs";

	if (e == NULL || e->state == EARLY_SERVES)
		return;
	e->state = EARLY_OVER;
	if (store_untold(d->store))
		early_forget(d);
	else
		why = end_load(d);
	if (e->kept == NULL) {
		log_info("sa", "nothing is answered before all has been read: %s", why);
		return;
	}
	e->kept->basis = SA_VIEW_INHERITED;
	/* else the fabric has been read already, in this sweep, which tells hosts */
	if (sweeper_phase(d->sweeper) == PHASE_TAKE_OVER) {
		e->kept->since = sweeper_n_requests(d->sweeper) + 1;
		sweeper_name_us(d->sweeper, &e->kept->inv);
	}
	serve_kept_view(d);
}

/* ------------------------------------------------------------------------- end */

static uint64_t
n_answered(const struct daemon *d)
{
	struct sa_counts c;

	sa_server_counts(d->sa, &c);
	return c.unverified;
}

void
early_end(struct daemon *d, enum sweep_outcome outcome)
{
	struct early *e = d->early;
	bool changed;

	if (e == NULL || (outcome == SWEEP_BROKEN_OFF && e->state == EARLY_SERVES))
		return; /* the next begins at once, and the timer looks */
	if (e->state != EARLY_SERVES) {
		e->state = EARLY_OVER;
		return;
	}
	if (!compare(d, outcome == SWEEP_UP, &changed))
		return;
	events_add(EVENT_KEPT_COMPARED, e->n_gone > 0 ? FM_LOG_WARN : FM_LOG_NOTICE, "sa", NULL,
	    "what was kept: of %u ports %u are not as they were; %" PRIu64
	    " requests were answered from it, unverified",
	    e->n_ports, e->n_gone, n_answered(d));
	if (outcome != SWEEP_UP)
		daemon_publish_nothing(d);
	stop(e);
}

/* -------------------------------------------------------------------------- */

static const char *
answers_from(const struct daemon *d)
{
	struct sa_view *v = sa_server_view(d->sa);
	const char *from = v == NULL   ? "nothing yet"
	    : v->basis != SA_VIEW_READ ? "what was kept, unverified"
				       : "the last sweep";

	sa_view_put(v);
	return from;
}

void
early_add_json(const struct daemon *d, json_t *sa)
{
	const struct early *e = d->early;

	json_object_set_new(sa, "answers_from", json_string(answers_from(d)));
	json_object_set_new(sa, "unverified", json_integer((json_int_t)n_answered(d)));
	if (e->n_ports == 0)
		return;
	json_object_set_new(sa, "kept_ports", json_integer(e->n_ports));
	json_object_set_new(sa, "kept_ports_gone", json_integer(e->n_gone));
}

int
early_new(struct daemon *d, struct fm_error *err)
{
	struct early *e = calloc(1, sizeof(*e));

	d->early = e;
	if (e != NULL)
		e->ev_look = evtimer_new(d->base, on_look, d);
	if (e == NULL || e->ev_look == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the SA");
	return 0;
}

void
early_free(struct daemon *d)
{
	struct early *e = d->early;

	if (e == NULL)
		return;
	early_forget(d);
	sa_kept_free(e->kept);
	if (e->ev_look != NULL)
		event_free(e->ev_look);
	free(e);
	d->early = NULL;
}
