/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/daemon.h - the running fmd: parts put together, and the loop.
 *
 * One libevent loop owns transport, transactions and sweep.  A transport
 * with a descriptor (umad) wakes the loop; one without (sim) is pumped while
 * something is outstanding.  Routing has a thread of its own (plan_worker),
 * which wakes the loop through an eventfd.
 */
#ifndef CORE_DAEMON_DAEMON_H
#define CORE_DAEMON_DAEMON_H

#include <event2/event.h>
#include <jansson.h>
#include <stdio.h>

#include "core/cabling/watch.h"
#include "core/conf/cli.h"
#include "core/events/events.h"
#include "core/inventory/isolated.h"
#include "core/inventory/lasting.h"
#include "core/mad/local_ports.h"
#include "core/picture/kept.h"
#include "core/program/program.h"
#include "core/sms/sms.h"
#include "core/sweep/sweep.h"

struct daemon {
	const struct cli *cli;				/* borrowed */
	const struct transport_kind *const *transports; /* NULL ends it; borrowed */
	struct conf *conf;
	struct conf *begun; /* that it started with */
	struct event_base *base;
	struct event *ev_fd, *ev_pump, *ev_progress, *ev_minute, *ev_term, *ev_int, *ev_hup,
	    *ev_usr1, *ev_routed;
	int routed_fd;		  /* eventfd: the worker has a plan */
	struct local_ports ports; /* of `begun` */
	struct event *ev_ports;	  /* our port has no link: has another one? */
	struct transport *transport;
	struct txn_engine *txn;
	struct sweeper *sweeper;
	struct store *store;
	struct vendors *vendors; /* programmers of adaptive routing */
	bool registered_is_lost; /* what hosts have registered, till they have been asked again */
	uint64_t n_sweeps;	 /* at the ports before */
	char plan_path[4096];	 /* tables kept over a restart */
	char isolated_path[4096];
	struct isolated isolated; /* cables out of routing: fmctl isolate */
	struct foretelling
	    *foretold; /* what isolating would do to routes; NULL: nobody has asked */
	struct ha ha;
	struct router router;
	bool router_ready;
	struct plan_worker *worker;
	struct {
		struct event *ev;	   /* no plan has come for a while */
		struct weighing *weighing; /* NULL: none is under way */
		struct conf *conf;	   /* whose chain it goes by */
	} quiet;
	struct reloading *reloading;   /* settings.c: a chain that is tried, or was; NULL: none */
	struct conf *next_conf;	       /* read again while a sweep ran: takes effect when it ends */
	struct sa_server *sa;	       /* NULL: dry run */
	struct publisher *publisher;   /* administer.c */
	struct dist *dist;	       /* NULL: nothing is published for hosts */
	struct early *early;	       /* early.c; NULL: dry run */
	struct registered *registered; /* registered.c */
	struct copying *copying;       /* for standbys, and of the master; NULL: there are none */
	struct readback *readback; /* of tables; NULL: none is under way or waits to be fetched */
	struct ctl_server *ctl;
	struct service_watch *watch; /* NULL: nobody watches */
	struct events *events;
	struct loads *loads; /* of the cables, for who asks for the whole fabric */
	struct picture_kept picture;
	struct crossed *crossed; /* whose routes cross a port */
	struct lasting lasting;	 /* of what was told since then */
	struct seen *seen;	 /* the fabric as it was told last; NULL: not since we are master */
	struct cabling_watch cabling; /* against topology_file, as the last sweep has found it */
	struct findings *findings;    /* of fmd-perf, how cables are (core/health) */
	json_t *summary;	      /* of the last sweep that brought the subnet up, or NULL */
	struct {
		uint64_t number; /* 0: none has */
		enum sweep_outcome outcome;
		uint64_t n_unreachable;
	} ended; /* the last sweep that was not broken off for the next */
	uint64_t n_ended[SWEEP_FAILED + 1]; /* sweeps since the start, by enum sweep_outcome */
	enum fmd_exit exit_code;
	bool order_is_open; /* fmctl handover: how it ends has not been told */
	struct {
		uint64_t handover, no_link, failed, no_path;
	} began;	/* which event told of what is not over yet; 0: it is */
	bool once_done; /* --once, --dry-run: the one sweep has ended */
	struct {
		struct foretelling *trial; /* NULL: none is under way */
		bool is_due;		   /* something may be to be done */
		uint32_t n_try;		   /* cables at once; 0: as many as may be */
		uint64_t base, base_plan;  /* of the fullest link with none out, by that plan */
	} quarantine;
};

/* Everything up to the first sweep, which is asked for.  transports: those that the program has,
 * NULL at the end.  daemon_fini() in any case. */
int daemon_init(struct daemon *d, const struct cli *cli,
    const struct transport_kind *const *transports, struct fm_error *err);
/* Until a signal or, with --once, the end of the sweep; the exit code. */
enum fmd_exit daemon_run(struct daemon *d);
void daemon_fini(struct daemon *d);

/* settings.c */
void daemon_settings(const struct daemon *d, struct sweep_settings *s); /* of d->conf */
/* Where tables are dumped; NULL: nowhere. */
const char *daemon_dump_dir(const struct daemon *d);
/* The files that c has fmd write: the log goes to its own from now on.  FM_E_SYSTEM: it stays where
 * it was. */
int daemon_open_files(const struct conf *c, struct fm_error *err);
void daemon_apply_conf(struct daemon *d);
/* Read it; of several mistakes all are logged, and added to `all`, if that is not NULL.  load_ms:
 * as of cli_load(). */
int daemon_read_conf(const struct daemon *d, int64_t load_ms, struct mistakes *all,
    struct conf **conf, struct fm_error *err);
/* What was read takes effect: no sweep is running. */
void daemon_take_conf(struct daemon *d, struct conf *fresh);
/* Read the configuration again; on failure the old one stays, which is told.  While a sweep
 * runs the new one waits for its end.  Where its LMCs would move LIDs that are in use: as `moves`
 * says.  A chain without the built-in up/down is tried on the fabric first, beside the loop, but
 * where `moves` is RELOAD_MOVE: RELOAD_TRIED then, and daemon_follow_reload() goes on.  all: as of
 * daemon_read_conf(). */
enum reload_moves {
	RELOAD_REFUSE, /* FM_E_CONFIG with how many, of which nodes */
	RELOAD_KEEP,   /* the LMCs stay as they are, which is told */
	RELOAD_MOVE
};
#define RELOAD_TRIED 1
int daemon_reload(
    struct daemon *d, enum reload_moves moves, struct mistakes *all, struct fm_error *err);
uint64_t daemon_reload_number(const struct daemon *d); /* of the last that was tried; 0: none */
/* What has become of it: 0, RELOAD_TRIED, or why it was refused, with its engines in all. */
int daemon_reload_outcome(
    const struct daemon *d, uint64_t number, struct mistakes *all, struct fm_error *err);
/* A trial that has ended: the configuration takes effect, or is refused. */
void daemon_follow_reload(struct daemon *d);
void daemon_forget_reload(struct daemon *d); /* when the worker has been freed */
/* Where nodes are kept. */
static inline void
daemon_nodes_path(const struct daemon *d, char *path, size_t size)
{
	snprintf(path, size, "%s/nodes", d->begun->daemon.state_dir);
}

/* Let the loop look at its work soon. */
static inline void
daemon_wake(struct daemon *d)
{
	struct timeval now = { 0 };

	event_add(d->ev_pump, &now);
}

/* administer.c: the SA; it answers from what is published */
int daemon_open_sa(struct daemon *d, struct fm_error *err);
/* What the last sweep has made of the subnet is on its way to the SA; nothing while we are
 * not master. */
void daemon_publish(struct daemon *d);
/* The line that says that the subnet is up is told when the SA answers from what was found, and
 * not before: true.  False: it does already, or nobody is to ask it. */
bool daemon_says_up_later(struct daemon *d, const char *line);
bool daemon_is_up_untold(const struct daemon *d);
/* What has come of it, and multicast tables that joins have changed. */
void daemon_follow(struct daemon *d);
void daemon_close_publisher(struct daemon *d); /* after the worker has stopped */

/* path_command.c: the way from one port to another; what the SA says of all from a LID */
int daemon_path(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);
int daemon_paths(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);

/* isolate_command.c: cables out of routing and back; those that were kept */
int daemon_isolate(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);
int daemon_restore(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);
int daemon_open_isolated(struct daemon *d, struct fm_error *err);
/* fmd-perf has told of cables: what may be taken out of routing, or comes back, is looked for. */
void daemon_begin_quarantine(struct daemon *d);
struct health_of;
void daemon_health_of(const struct daemon *d, struct health_of *of); /* as it is now */
/* On with that. */
void daemon_follow_quarantine(struct daemon *d);
void daemon_reload_isolated(struct daemon *d); /* from its file: a copy of the master's */
void daemon_forget_foretold(struct daemon *d); /* when it is made, or the worker has been freed */

/* registered.c: what hosts have registered with the SA, between store, SA and sweep */
int daemon_open_registry(struct daemon *d, struct fm_error *err);
void daemon_close_registry(struct daemon *d); /* after the SA has stopped */
struct registry;
struct registry *daemon_registry(struct daemon *d); /* NULL: none */
/* As the SA counts: simulated fabrics have a clock of their own. */
int64_t daemon_sa_clock_ms(const struct daemon *d);
/* Where the SA runs, arg is the daemon.  The registry is emptied, and the store keeps what it has;
 * false: out of memory.  The registry is what the store has. */
struct sa;
bool daemon_clear_registry(void *arg, struct sa *sa);
void daemon_load_registry(void *arg, struct sa *sa);
/* The SA runs: it is to load what is kept and to say what changes. */
int daemon_start_registry(struct daemon *d, struct fm_error *err);
/* What has changed, to the sweep. */
void daemon_take_registered(struct daemon *d);
/* A sweep has ended: groups that the partitions want, and MLIDs that switches can hold. */
void daemon_keep_groups(struct daemon *d);
void daemon_on_notice(void *arg, const struct wire_notice *notice);
/* Any thread: the loop is to look at its work. */
void daemon_wake_from_afar(struct daemon *d);

/* flood.c: traps, Reports and who sends most, into the status; into the log, once a minute */
void daemon_add_flood(const struct daemon *d, json_t *status);
void daemon_say_flood(struct daemon *d);

/* news.c: what the sweep has found lost, come or changed; outcome, "" for none, stands behind the
 * last.  How many lines that were. */
size_t daemon_tell_news(struct daemon *d, const struct sweep_report *r, const char *outcome);
/* Somebody else rules, and what happens meanwhile is not ours to tell. */
void daemon_forget_seen(struct daemon *d);
/* administer.c: our port has no link, as it was last read */
bool daemon_waits_for_link(const struct daemon *d);
/* report.c: a sweep has ended */
void daemon_report(struct daemon *d, const struct sweep_report *r);
/* commands.c: a handover has ended, which is told */
void daemon_follow_handover(struct daemon *d);
/* commands.c: the commands of fmctl */
int daemon_open_control(struct daemon *d, struct fm_error *err);
struct partition;
/* partitions_json.c: all, or this one with its members and who is absent */
json_t *daemon_partitions_json(const struct daemon *d, const struct partition *wanted);
struct vfabric;
/* The same of vfabrics, with what their lists name that is not there.  FM_E_RESOURCE. */
int daemon_vfabrics_json(
    const struct daemon *d, const struct vfabric *wanted, json_t **out, struct fm_error *err);
/* trouble_json.c: what is unfinished, as the last sweep has left it: entry by entry, and how many
 * there are of each kind */
json_t *daemon_trouble_json(const struct daemon *d);
json_t *daemon_unfinished_json(const struct daemon *d);
json_t *daemon_report_json(const struct sweep_report *r);

#endif
