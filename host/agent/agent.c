/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/agent.c - fmd-agent: keeps the file of a host's paths as new as its relay is.
 *
 * One thread, one connection; with --register another thread (register.h) asks the SA.  Between
 * events the agent sleeps; once a minute (--poll) it makes sure that its relay hears of who
 * publishes, and tells the file's time that nothing is newer.
 * When its relay is gone, or hears nothing, it takes the next one (host/agent/relays.h), after a
 * random while, so that a thousand hosts do not come at once.  From a relay that serves it goes
 * to a nearer one as soon as it knows how far they are, and again each half to whole hour.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "core/text/number.h"
#include "core/text/standard.h"
#include "core/wire/wire.h"
#ifdef HAVE_HIREDIS
#include "host/agent/parents.h"
#endif
#include "host/agent/kernel_port.h"
#include "host/agent/neighbours.h"
#include "host/agent/netlink.h"
#include "host/agent/register.h"
#include "host/agent/relays.h"
#include "host/agent/source.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "lib/thread.h"

#define bad_usage(...) fm_standard_refuse("fmd-agent", 1, __VA_ARGS__)

#define LOOK_MS 2000	  /* at what SM the ports obey */
#define LEAST_LEASE_S 4
#define MOST_LEASE_S 86400
#define NEARER_MS 1800000 /* and up to as much again: when a nearer relay is looked for */
#define GRACE_MS 4000	  /* an SM that takes over writes port by port, and publishes then */

struct agent {
	const char *file;
	struct relays relays;
	unsigned at_relay;
	unsigned poll_ms, backup_ms, jitter_ms;
	bool insecure, once, has_login, has_parents_login, guids_given;
	struct relay_login login, parents_login;
	const char *own_redis; /* --relay: of the relay that this host is; NULL: it is none */
	const char *own_name;  /* of that relay; NULL: that of the host */
	bool registers;	       /* --register */
	struct registrar_set reg;
	struct registrar *registrar; /* NULL: nothing is registered */
	bool keeps_neighbours;	     /* --neighbours */
	int netlink;		     /* for them; -1: not open */
	uint64_t told_neighbours;    /* hash of what was told of them last; 0: all is well */
	struct fm_rng rng;
	struct replica replica;
	struct kernel_port at[REPLICA_MOST_OWN]; /* where the kernel has replica.own */
	struct paths_epoch written;		 /* to the file */
	const struct source_ops *ops;
	void *source;	     /* NULL: none is open */
	unsigned n_failed;   /* relays in a row */
	int64_t nearer_ms;   /* when a nearer relay is looked for, CLOCK_MONOTONIC */
	int64_t other_sm_ms; /* since when the ports obey another SM, 0: they do not */
};

/* There is nothing to be put away: a file is whole, or has not got its name yet. */
static void
on_signal(int signal)
{
	(void)signal;
	_exit(0);
}

static void
nap(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* ------------------------------------------------------------------- ports */

static void
add_port(struct agent *a, uint64_t guid, const char *ca, int number)
{
	struct replica *r = &a->replica;

	if (guid == 0 || r->n_own == REPLICA_MOST_OWN)
		return;
	snprintf(a->at[r->n_own].ca, UMAD_CA_NAME_LEN, "%s", ca);
	a->at[r->n_own].number = number;
	r->own[r->n_own++] = guid;
}

static void
find_ports_of(struct agent *a, const char *name)
{
	umad_ca_t ca;

	if (umad_get_ca(name, &ca) != 0)
		return;
	for (int p = 0; p < UMAD_CA_MAX_PORTS; p++)
		if (ca.ports[p] != NULL && strcmp(ca.ports[p]->link_layer, "Ethernet") != 0)
			add_port(a, be64toh(ca.ports[p]->port_guid), name, p);
	umad_release_ca(&ca);
}

static void
find_ports(struct agent *a)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n;

	if (a->guids_given)
		return;
	a->replica.n_own = 0;
	n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	for (int i = 0; i < n; i++)
		find_ports_of(a, names[i]);
}

/* Two files a port, as this is done often.  Of a port that is not ACTIVE nothing is known: it has
 * the LID of before. */
static void
find_sms(struct agent *a)
{
	for (unsigned i = 0; i < a->replica.n_own && !a->guids_given; i++)
		a->replica.own_sm[i] =
		    kernel_port_number(&a->at[i], SYS_PORT_STATE) == WIRE_PORT_ACTIVE
		    ? (uint16_t)kernel_port_number(&a->at[i], SYS_PORT_SMLID)
		    : 0;
}

/* ------------------------------------------------------------------ relays */

static const char *
is_of(const char *relay, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(relay, kind, n) == 0 ? relay + n : NULL;
}

static const struct source_ops *
ops_of(const char *relay, const char **where)
{
	if ((*where = is_of(relay, "files:")) != NULL)
		return &source_files;
#ifdef HAVE_HIREDIS
	if ((*where = is_of(relay, "redis:")) != NULL)
		return &source_redis;
#endif
	return NULL;
}

static struct relay_entry *
relay_of(struct agent *a)
{
	return &a->relays.item[a->at_relay];
}

static void
close_relay(struct agent *a)
{
	if (a->source != NULL)
		a->ops->close(a->source);
	a->source = NULL;
}

/* even_full: where no other one is left. */
static int
open_relay(struct agent *a, bool even_full, struct fm_error *err)
{
	const char *where;
	int rc;

	a->ops = ops_of(relay_of(a)->word, &where);
	rc = a->ops->open(where, a->has_login ? &a->login : NULL, &a->source, err);
	if (rc != 0)
		a->source = NULL;
	if (rc == 0 && !even_full && a->ops->room != NULL)
		rc = a->ops->room(a->source, err);
	return rc;
}

/* How far the relays are by the rows that we have. */
static void
learn_hops(struct agent *a)
{
	for (unsigned i = 0; i < a->relays.n; i++)
		if (a->relays.item[i].node != NULL)
			a->relays.item[i].hops = replica_hops(&a->replica, a->relays.item[i].node);
}

/* A failure of a relay is told once, until it is another, or the relay has answered. */
static void
note_failure(struct agent *a, const struct fm_error *err)
{
	struct relay_entry *e = relay_of(a);
	uint64_t hash = fm_hash_bytes(0, err->msg, strlen(err->msg)) | 1;

	if (hash != e->told)
		log_warn("agent", "%s: %s", e->word, err->msg);
	e->told = hash;
	e->failed_ms = fm_clock_ms(CLOCK_MONOTONIC);
	close_relay(a);
}

static void
on_failure(struct agent *a, const struct fm_error *err)
{
	note_failure(a, err);
	learn_hops(a);
	a->at_relay = relays_best(&a->relays, fm_clock_ms(CLOCK_MONOTONIC));
	a->n_failed++;
	if (!a->once)
		nap(a->backup_ms +
		    (a->jitter_ms > 0 ? (unsigned)fm_rng_below(&a->rng, a->jitter_ms) : 0));
}

/* --------------------------------------------------------------------- file */

static int
write_file(struct agent *a, bool whole, struct fm_error *err)
{
	int rc = replica_write(&a->replica, a->file, err);

	if (rc == 0)
		a->written = a->replica.at;
	if (rc == 0)
		log_info("agent", "%s: term %" PRIu64 ", epoch %" PRIu64 ", rows of %zu switches%s",
		    a->file, a->replica.at.term, a->replica.at.epoch, a->replica.row.n,
		    whole ? ", all fetched" : "");
	return rc;
}

/* Nothing was newer age_s ago: is the file as good as a new one?  It may have been removed. */
static bool
touch_file(const struct agent *a, unsigned age_s)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - age_s } };
	struct stat st;

	if (a->replica.at.term != a->written.term || a->replica.at.epoch != a->written.epoch ||
	    stat(a->file, &st) != 0)
		return false;
	if (age_s > 0 && st.st_mtim.tv_sec >= t[1].tv_sec)
		return true;
	return utimensat(AT_FDCWD, a->file, age_s > 0 ? t : NULL, 0) == 0;
}

/* Who reads the file asks the SA, until it is touched or written. */
static void
make_stale(const struct agent *a)
{
	const struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };

	if (utimensat(AT_FDCWD, a->file, t, 0) != 0 && errno != ENOENT)
		log_warn("agent", "%s stays fresh: %s", a->file, strerror(errno));
}

/* Is what we hold of the SM that our ports obey? */
static int
judge_sm(struct agent *a, struct fm_error *err)
{
	const struct replica *r = &a->replica;
	int port = replica_other_sm(r);

	if (port < 0) {
		a->other_sm_ms = 0;
		return 0;
	}
	if (a->other_sm_ms == 0)
		a->other_sm_ms = fm_clock_ms(CLOCK_MONOTONIC);
	if (!a->once && fm_clock_ms(CLOCK_MONOTONIC) - a->other_sm_ms < GRACE_MS)
		return 0;
	make_stale(a);
	return fm_fail(err, FM_E_SYSTEM,
	    "the port 0x%016" PRIx64 " obeys the SM at LID %u, which has not published what is "
	    "there; %s is stale until a relay has the paths of that SM",
	    r->own[port], r->own_sm[port], a->file);
}

static int
look_at_sm(void *arg, struct fm_error *err)
{
	find_sms(arg);
	return judge_sm(arg, err);
}

/* What goes wrong is told once, until it is something else; it is tried again with the next epoch,
 * and once a minute. */
static void
keep_neighbours(struct agent *a)
{
	struct interface_ips own = { 0 };
	struct neighbours_done done = { 0 };
	struct fm_error err = { 0 };
	uint64_t hash;
	int rc = 0;

	if (a->netlink < 0)
		a->netlink = netlink_open(0, &err);
	if (a->netlink < 0)
		rc = err.kind;
	if (rc == 0)
		rc = interfaces_ask(&own, a->netlink, &err);
	if (rc == 0)
		rc = neighbours_keep(a->netlink, &own, &a->replica, &done, &err);
	interface_ips_fini(&own);
	hash = rc == 0 ? 0 : fm_hash_bytes(0, err.msg, strlen(err.msg)) | 1;
	if (rc != 0 && hash != a->told_neighbours)
		log_warn("neighbours", "%s", err.msg);
	a->told_neighbours = hash;
	if (done.n_set + done.n_deleted > 0)
		log_info("neighbours", "%u set, %u deleted, %u as they are to be", done.n_set,
		    done.n_deleted, done.n_kept);
}

static int
follow(struct agent *a, struct fm_error *err)
{
	bool whole = false;
	int rc = a->ops->fetch(a->source, &a->replica, &whole, err);
	unsigned age_s = rc == 0 && a->ops->age_s != NULL ? a->ops->age_s(a->source) : 0;

	/* another SM's place may have the paths; the last is waited at */
	if (rc == 0 && a->replica.at.epoch == 0 && a->n_failed + 1 < a->relays.n)
		rc = fm_fail(err, FM_E_SYSTEM, "nothing is published there yet");
	if (rc == 0)
		rc = look_at_sm(a, err);
	if (rc == 0 && a->registrar != NULL)
		registrar_judge(a->registrar, &a->replica);
	if (rc == 0 && a->keeps_neighbours && a->replica.at.epoch != 0)
		keep_neighbours(a);
	if (rc == 0 && a->replica.at.epoch != 0 && !touch_file(a, age_s))
		rc = write_file(a, whole, err);
	if (rc == 0 && a->replica.n_own > 0)
		rc = a->ops->show(a->source, a->replica.own[0], a->replica.at, err);
	if (rc == 0 && a->n_failed > 0)
		log_info("agent", "%s answers", relay_of(a)->word);
	if (rc != 0)
		return rc;
	a->n_failed = 0;
	relay_of(a)->told = 0;
	relay_of(a)->failed_ms = 0;
	return 0;
}

/* True: we are there.  The relay is left when the other one has all that it has; else it is as if
 * nothing had been. */
static bool
change_to(struct agent *a, unsigned to)
{
	const struct source_ops *ops = a->ops;
	unsigned from = a->at_relay;
	void *source = a->source;
	struct fm_error err = { 0 };

	a->at_relay = to;
	if (open_relay(a, false, &err) == 0 && follow(a, &err) == 0) {
		log_info("agent", "%s is nearer than %s: packets to it pass %u switches",
		    relay_of(a)->word, a->relays.item[from].word, relay_of(a)->hops);
		ops->close(source);
		return true;
	}
	note_failure(a, &err);
	a->at_relay = from;
	a->ops = ops;
	a->source = source;
	return false;
}

static void
go_nearer(struct agent *a)
{
	int64_t now = fm_clock_ms(CLOCK_MONOTONIC);
	unsigned to;

	if (a->once || a->replica.at.epoch == 0 || now < a->nearer_ms)
		return;
	a->nearer_ms = now + NEARER_MS + (int64_t)fm_rng_below(&a->rng, NEARER_MS);
	learn_hops(a);
	while ((to = relays_nearer(&a->relays, a->at_relay, now)) != a->relays.n)
		if (change_to(a, to))
			return;
}

static int
run(struct agent *a)
{
	const struct source_watch watch = { .every_ms = LOOK_MS, .look = look_at_sm, .arg = a };
	struct fm_error err = { 0 };
	int rc = 0;

	for (;;) {
		find_ports(a);
		rc = a->source == NULL ? open_relay(a, a->n_failed + 1 >= a->relays.n, &err) : 0;
		if (rc == 0)
			rc = follow(a, &err);
		if (rc == 0 && a->once)
			return a->replica.at.epoch != 0 ? 0 : 3;
		if (rc == 0)
			go_nearer(a);
		if (rc == 0)
			rc = a->ops->wait(a->source, &a->replica, a->poll_ms,
			    a->guids_given ? NULL : &watch, &err);
		if (rc != 0)
			on_failure(a, &err);
		if (rc != 0 && a->once && a->n_failed >= a->relays.n)
			return 2;
	}
}

/* ------------------------------------------------------------------ options */

static void
usage(FILE *out)
{
	fputs(
	    "usage: fmd-agent [options] RELAY...\n"
	    "       fmd-agent --register[=FILE] [options] [RELAY...]\n"
	    "       fmd-agent --relay=REDIS [options] PARENT...\n"
	    "\n"
	    "Keeps the paths from this host's ports in a file, for libfmdacm and stock ibacm.\n"
	    "RELAY is files:FOLDER, redis:unix:SOCKET[@NODE] or redis:HOST:PORT[@NODE]; one is\n"
	    "followed, the nearest by the NODEs (name, port GUID or LID) that relays run on, and\n"
	    "the others are for when it is gone.\n"
	    "With --relay, keeps the Redis of this host below one of its parents: each PARENT is\n"
	    "HOST:PORT as that Redis reaches it.\n"
	    "\n"
	    "  -f, --file=PATH         the file (" PATHS_FILE ")\n"
	    "  -g, --port-guid=GUID    a port of this host; without it, all that there are\n"
	    "  -a, --auth-file=PATH    a line \"USER PASSWORD\" for the relays\n"
	    "      --insecure          allow redis:HOST:PORT beyond this host, in plain text\n"
	    "      --relay=REDIS       unix:SOCKET, or HOST:PORT of this host: it follows the\n"
	    "                          next parent when its own is gone\n"
	    "      --parents-auth-file=PATH  a line \"USER PASSWORD\" for the parents, which are\n"
	    "                          told that this relay is there, and who is below it\n"
	    "      --name=NAME         of this relay, for those (the host's)\n"
	    "      --register[=FILE]   tell the SA the addresses of this host's IPoIB interfaces,\n"
	    "                          or those of FILE: ADDRESS HARDWARE-ADDRESS [P_KEY]\n"
	    "      --neighbours        keep the kernel's neighbours of IPoIB as they are "
	    "registered\n"
	    "                          (CAP_NET_ADMIN)\n"
	    "      --lease=SECONDS     until the SA forgets them, unless told again (600)\n"
	    "  -p, --poll=SECONDS      how often to make sure that nothing is newer (60)\n"
	    "  -b, --backup-after=SECONDS  until the next relay is asked, or parent followed (2)\n"
	    "  -j, --jitter=SECONDS    and a random while up to this, besides (10)\n"
	    "  -1, --once              fetch, write, end: 0 done, 2 no relay answers, 3 nothing "
	    "is\n"
	    "                          published\n"
	    "  -v, --verbose           say what is done\n"
	    "  -h, --help              this text\n"
	    "  -V, --version           the version\n",
	    out);
}

static bool
seconds(const char *text, unsigned *ms)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end != '\0' || !(s >= 0 && s <= 86400))
		return false;
	*ms = (unsigned)(s * 1000);
	return true;
}

static int
read_login(const char *path, struct relay_login *login, bool *has_login)
{
	struct fm_error err = { 0 };

	if (relay_login_read(path, login, &err) != 0)
		return bad_usage("%s", err.msg);
	*has_login = true;
	return 0;
}

static int
take_relays(struct agent *a, int n, char **words)
{
	struct fm_error err = { 0 };
	struct relay_name name;
	const char *where;

	if (n == 0 && (!a->registers || a->keeps_neighbours))
		return bad_usage("no relay is named");
	for (int i = 0; i < n; i++) {
		if (ops_of(words[i], &where) == NULL)
			return bad_usage(
			    "\"%s\": expected files:FOLDER, redis:unix:SOCKET or redis:HOST:PORT",
			    words[i]);
		if (relays_add(&a->relays, words[i], &err) != 0 ||
		    (strncmp(words[i], "redis:", 6) == 0 &&
			relay_name_take(where, a->insecure, &name, &err) != 0))
			return bad_usage("%s", err.msg);
	}
	return 0;
}

#ifdef HAVE_HIREDIS
/* Does not return but for a wrong word. */
static int
be_relay(const struct agent *a, int n, char **words)
{
	struct parents p = { .redis = a->own_redis,
		.login = a->has_login ? &a->login : NULL,
		.parents_login = a->has_parents_login ? &a->parents_login : NULL,
		.name = a->own_name,
		.parent = words,
		.n = (unsigned)n,
		.patience_ms = a->backup_ms };
	struct fm_error err = { 0 };

	if (a->once || a->guids_given)
		return bad_usage("--relay goes on for ever and keeps no paths: it has neither "
				 "--once nor --port-guid");
	if (n == 0)
		return bad_usage("no parent is named");
	if (parents_check(&p, a->insecure, &err) != 0)
		return bad_usage("%s", err.msg);
	parents_follow(&p);
}
#else
static int
be_relay(const struct agent *a, int n, char **words)
{
	(void)n;
	(void)words;
	return bad_usage("--relay=%s: this fmd-agent was built without hiredis", a->own_redis);
}
#endif

static int
take_lease(struct agent *a)
{
	uint64_t s;

	if (!number_parse(optarg, &s) || s < LEAST_LEASE_S || s > MOST_LEASE_S)
		return bad_usage(
		    "--lease=%s: expected %d to %d seconds", optarg, LEAST_LEASE_S, MOST_LEASE_S);
	a->reg.lease_s = (uint32_t)s;
	return 0;
}

static int
take_option(struct agent *a, int c)
{
	uint64_t guid;

	switch (c) {
	case 'f':
		a->file = optarg;
		return 0;
	case 'g':
		if (!number_parse(optarg, &guid) || guid == 0)
			return bad_usage(
			    "\"%s\" is no port GUID, as 0x0002c90300abcdef is", optarg);
		a->guids_given = true;
		add_port(a, guid, "", 0);
		return 0;
	case 'a':
		return read_login(optarg, &a->login, &a->has_login);
	case 'P':
		return read_login(optarg, &a->parents_login, &a->has_parents_login);
	case 'r':
		a->own_redis = optarg;
		return 0;
	case 'n':
		a->own_name = optarg;
		return 0;
	case 'R':
		a->registers = true;
		a->reg.file = optarg;
		return 0;
	case 'N':
		a->keeps_neighbours = true;
		return 0;
	case 'L':
		return take_lease(a);
	case 'p':
		return seconds(optarg, &a->poll_ms) && a->poll_ms > 0
		    ? 0
		    : bad_usage("--poll=%s: expected seconds, more than 0", optarg);
	case 'b':
		return seconds(optarg, &a->backup_ms)
		    ? 0
		    : bad_usage("--backup-after=%s: expected seconds", optarg);
	case 'j':
		return seconds(optarg, &a->jitter_ms)
		    ? 0
		    : bad_usage("--jitter=%s: expected seconds", optarg);
	default:
		return bad_usage("there is no such option");
	}
}

static const struct option options[] = { { "file", required_argument, NULL, 'f' },
	{ "port-guid", required_argument, NULL, 'g' },
	{ "auth-file", required_argument, NULL, 'a' }, { "insecure", no_argument, NULL, 'i' },
	{ "parents-auth-file", required_argument, NULL, 'P' },
	{ "name", required_argument, NULL, 'n' }, { "relay", required_argument, NULL, 'r' },
	{ "register", optional_argument, NULL, 'R' },
	{ "lease", required_argument, NULL, 'L' }, { "neighbours", no_argument, NULL, 'N' },
	{ "poll", required_argument, NULL, 'p' }, { "backup-after", required_argument, NULL, 'b' },
	{ "jitter", required_argument, NULL, 'j' }, { "once", no_argument, NULL, '1' },
	{ "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' }, { 0 } };

/* -1: go on; else the exit code. */
static int
take_words(struct agent *a, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "f:g:a:p:b:j:1vhV", options, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return 0;
		}
		if (c == 'V') {
			puts("fmd-agent " PACKAGE_VERSION);
			return 0;
		}
		if (c == 'v')
			fm_log_set_level(FM_LOG_INFO);
		else if (c == 'i')
			a->insecure = true;
		else if (c == '1')
			a->once = true;
		else if (take_option(a, c) != 0)
			return 1;
	}
	if (a->own_redis == NULL && (a->has_parents_login || a->own_name != NULL))
		return bad_usage("--parents-auth-file and --name are for --relay");
	if (a->registers && (a->once || a->guids_given || a->own_redis != NULL))
		return bad_usage("--register goes on for ever, of all ports of this host: it has "
				 "neither --once nor --port-guid, nor --relay");
	if (a->own_redis != NULL)
		return be_relay(a, argc - optind, argv + optind);
	return take_relays(a, argc - optind, argv + optind) == 0 ? -1 : 1;
}

static void *
run_registrar(void *arg)
{
	registrar_run(arg);
}

/* Does not return where there is nothing else to do. */
static int
start_registrar(struct agent *a)
{
	struct fm_error err = { 0 };
	pthread_t thread;
	int rc;

	if (registrar_open(&a->reg, &a->registrar, &err) != 0)
		return bad_usage("%s", err.msg);
	if (a->relays.n == 0)
		registrar_run(a->registrar);
	rc = fm_thread_start(&thread, run_registrar, a->registrar);
	return rc == 0 ? 0 : bad_usage("cannot start a thread: %s", strerror(rc));
}

int
main(int argc, char **argv)
{
	static struct agent a = { .file = PATHS_FILE,
		.poll_ms = 60000,
		.backup_ms = 2000,
		.jitter_ms = 10000,
		.reg.lease_s = 600,
		.netlink = -1 };
	struct sigaction end = { .sa_handler = on_signal };
	int rc;

	fm_log_set_level(FM_LOG_WARN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	rc = take_words(&a, argc, argv);
	if (rc >= 0)
		return rc;
	if (!a.guids_given && umad_init() != 0)
		return bad_usage("the kernel has no InfiniBand: name a port by --port-guid");
	if (a.registers && start_registrar(&a) != 0)
		return 1;
	find_ports(&a);
	a.relays.host = a.replica.n_own > 0 ? a.replica.own[0] : 0;
	a.at_relay = relays_best(&a.relays, 0);
	fm_rng_seed(
	    &a.rng, fm_mix64(a.relays.host) ^ (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32);
	rc = run(&a);
	if (a.source != NULL)
		a.ops->close(a.source);
	replica_fini(&a.replica);
	return rc;
}
