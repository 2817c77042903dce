/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of the daemon that are strings of a form: what no row of conf_rows.c can judge.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/option_value.h"
#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/mad/umad_port.h"
#include "core/text/relay.h"
#include "core/text/suggest.h"
#include "lib/error.h"
#include "lib/log.h"

static bool
is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
is_same_file(const struct fm_file *a, const struct fm_file *b)
{
	return is_same_text(a->path, b->path) && a->n_bytes == b->n_bytes &&
	    (a->bytes == NULL || memcmp(a->bytes, b->bytes, a->n_bytes) == 0);
}

/* Have both the same value where the row puts it? */
static bool
is_same(const struct fm_option *row, const struct conf *a, const struct conf *b)
{
	const void *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;

	switch (row->type) {
	case FM_OPT_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case FM_OPT_INT:
	case FM_OPT_DURATION:
		return *(const int64_t *)x == *(const int64_t *)y;
	case FM_OPT_ENUM:
		return *(const int *)x == *(const int *)y;
	case FM_OPT_STRING:
		return is_same_text(*(const char *const *)x, *(const char *const *)y);
	case FM_OPT_FILE:
		return is_same_file(x, y);
	default: /* the daemon has no lists of nodes */
		return true;
	}
}

unsigned
conf_needs_restart(const struct conf *begun, const struct conf *fresh, char *out, size_t room)
{
	const struct conf_row *row;
	unsigned n = 0;
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		if (!row->restart || is_same(&row->option, begun, fresh))
			continue;
		if (at < room)
			at += (size_t)snprintf(
			    out + at, room - at, "%s%s", n > 0 ? ", " : "", row->option.name);
		n++;
	}
	return n;
}

int
conf_check_transport(const struct conf_transport *t, struct fm_error *err)
{
	const char *spec = t->spec, *colon = strchr(spec, ':'), *port;
	size_t n = colon != NULL ? (size_t)(colon - spec) : strlen(spec);
	char *end;
	long number;

	if (n == 3 && memcmp(spec, "sim", n) == 0 && colon != NULL && colon[1] != '\0')
		return 0;
	if (n != 4 || memcmp(spec, "umad", n) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.60s\" is no transport: umad for the first active port, umad:mlx5_0:1 for "
		    "that one, sim:FABRIC for a simulated fabric",
		    spec);
	port = colon != NULL ? strchr(colon + 1, ':') : NULL;
	if (port == NULL)
		return 0;
	number = strtol(port + 1, &end, 10);
	if (port == colon + 1 || end == port + 1 || *end != '\0' || number < 0 || number > 254)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.60s\": behind umad stand the adapter and its port, as in umad:mlx5_0:1",
		    spec);
	return 0;
}

static int
check_debug_name(const char *name, struct fm_error *err)
{
	char known[160] = "";
	struct suggestion s;
	size_t n = 0;

	suggest_init(&s, name);
	for (const char *const *sub = fm_log_subsystems; *sub != NULL; sub++) {
		if (strcmp(*sub, name) == 0)
			return 0;
		suggest_offer(&s, *sub);
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s ", *sub);
	}
	if (strcmp(name, "all") == 0)
		return 0;
	if (suggest_best(&s) != NULL)
		return fm_fail(err, FM_E_CONFIG, "there is no subsystem %.40s: did you mean %s?",
		    name, suggest_best(&s));
	return fm_fail(
	    err, FM_E_CONFIG, "there is no subsystem %.40s: there are %sand all", name, known);
}

/* Every folder that fmd keeps LIDs in is made when it starts; a file in its place stays. */
static int
check_state_dir(const struct conf_daemon *d, struct fm_error *err)
{
	struct stat st;

	if (*d->state_dir == '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "it is empty, and LIDs would be forgotten: name a folder, as %s, the default",
		    STATE_DIR);
	if (stat(d->state_dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return fm_fail(err, FM_E_CONFIG,
		    "%.100s is no folder: name one, as %s, the default", d->state_dir, STATE_DIR);
	return 0;
}

/* It is the path of a Unix socket: fmd's own network is that of MADs alone. */
static int
check_redis(const struct conf_dist *d, struct fm_error *err)
{
	if (*d->redis == '\0' || strchr(d->redis, '/') != NULL || strchr(d->redis, ':') == NULL)
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "%.60s is no path: write that of the Unix socket of this host's Redis, as "
	    "/run/redis-fmd/redis.sock",
	    d->redis);
}

/* It is an argument of REPLICAOF: TCP. */
static int
check_redis_peer(const struct conf_dist *d, struct fm_error *err)
{
	struct relay_name name;

	if (*d->redis_peer == '\0')
		return 0;
	if (*d->redis == '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "it is of the other SM: dist_redis has to name the Redis of this one");
	if (relay_name_parse(d->redis_peer, &name, err) != 0 || name.path != NULL)
		return fm_fail(err, FM_E_CONFIG, "\"%.60s\": expected HOST:PORT, as 127.0.0.1:6391",
		    d->redis_peer);
	return 0;
}

static int
check_audit(const struct conf_sweep *s, struct fm_error *err)
{
	if (s->audit_ms == 0 || s->audit_ms >= 10000)
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "a turn takes 10s at least, as switches are asked beside all else; 0 = never");
}

int
conf_check_daemon(struct conf_private *self, struct fm_error *err)
{
	const char *at = self->conf->log.debug, *name;
	int rc = conf_note_own(
	    self, "transport", conf_check_transport(&self->conf->transport, err), err);

	if (rc == 0)
		rc = conf_note_own(
		    self, "state_dir", check_state_dir(&self->conf->daemon, err), err);
	if (rc == 0)
		rc = conf_note_own(self, "dist_redis", check_redis(&self->conf->dist, err), err);
	if (rc == 0)
		rc = conf_note_own(self, "audit", check_audit(&self->conf->sweep, err), err);
	if (rc == 0)
		rc = conf_note_own(
		    self, "dist_redis_peer", check_redis_peer(&self->conf->dist, err), err);
	while (rc == 0 && (name = conf_next_word(&self->mem, &at)) != NULL)
		rc = conf_note_own(self, "debug", check_debug_name(name, err), err);
	return rc;
}

/* ------------------------------------------------------------ of this host */

static int
check_access(const char *path, struct fm_error *err)
{
	if (access(path, W_OK) == 0)
		return 0;
	return fm_fail(err, FM_E_CONFIG, "%.150s: %s, for the user that this runs as (uid %u)",
	    path, strerror(errno), (unsigned)geteuid());
}

/* Is the folder there that a path lies in, and may it be written to? */
static int
check_folder_of(const char *path, struct fm_error *err)
{
	size_t n = strlen(path);
	char folder[PATH_MAX];
	struct stat st;

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	snprintf(folder, sizeof(folder), "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
	if (stat(folder, &st) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "there is no folder %.150s: make it, or name another", folder);
	if (!S_ISDIR(st.st_mode))
		return fm_fail(err, FM_E_CONFIG, "%.150s is no folder: name another one", folder);
	return 0;
}

static int
check_log_file(const struct conf_log *l, struct fm_error *err)
{
	struct stat st;

	if (*l->file == '\0')
		return 0;
	if (stat(l->file, &st) == 0 && !S_ISDIR(st.st_mode))
		return check_access(l->file, err);
	if (stat(l->file, &st) == 0)
		return fm_fail(err, FM_E_CONFIG, "%.150s is a folder: name a file in it", l->file);
	return check_folder_of(l->file, err);
}

static int
check_dump_files_dir(const struct conf_daemon *d, struct fm_error *err)
{
	const char *dir = d->dump_files_dir;
	struct stat st;

	if (*dir == '\0')
		return 0;
	if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		return check_access(dir, err);
	if (stat(dir, &st) == 0)
		return fm_fail(
		    err, FM_E_CONFIG, "%.150s is no folder, and tables are several files", dir);
	return check_folder_of(dir, err);
}

/* Are the adapter and the port there?  Where the host has no adapter it cannot be told, of this
 * port or of any: FM_E_SYSTEM. */
static int
check_port(const char *spec, struct fm_error *err)
{
#ifdef HAVE_UMAD
	bool is_told;
	int rc;

	if (strncmp(spec, "umad:", strlen("umad:")) != 0)
		return 0;
	if ((rc = umad_check_spec(spec, &is_told, err)) != 0 || is_told)
		return rc;
	return fm_fail(err, FM_E_SYSTEM,
	    "this host has no InfiniBand adapter: whether it is right is not known");
#else
	return 0;
#endif
}

static void
warn_key(const struct conf *conf, const char *key, int rc, struct fm_error *err)
{
	if (rc == 0)
		return;
	fm_context(err, "%s", key);
	option_blame("", option_values_origin(conf->self->own, key), err);
	log_warn("conf", "%s", err->msg);
}

void
conf_warn_of_host(const struct conf *conf)
{
	const struct conf_transport *t = &conf->transport;
	const char *key = t->guid != 0 ? "guid" : *t->ports_text != '\0' ? "port" : "transport";
	struct fm_error err;
	int rc = 0;

	for (unsigned i = 0; i < t->n_ports && rc != FM_E_SYSTEM; i++) {
		rc = check_port(t->ports[i], &err);
		warn_key(conf, key, rc, &err);
	}
	warn_key(conf, "log_file", check_log_file(&conf->log, &err), &err);
	warn_key(conf, "dump_files_dir", check_dump_files_dir(&conf->daemon, &err), &err);
}
