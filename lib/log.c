/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's settings are the one piece of process-wide state: a log is per
 * process by nature.  Level and subsystems may change while other threads log.
 */
#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/printable.h"

static struct {
	pthread_mutex_t lock;
	fm_log_sink sink;
	void *sink_arg;
	fm_log_watch watch;
	void *watch_arg;
	_Atomic enum fm_log_level level;
	atomic_bool by_subsystem; /* debug lines: of those named in debug only */
	/* under the lock */
	char debug[128]; /* ",route,sa," */
	int fd;
	char path[PATH_MAX]; /* "": stderr */
	uint64_t bytes, max_bytes;
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .level = FM_LOG_INFO, .fd = STDERR_FILENO };

const char *const fm_log_subsystems[] = { "adaptive", "audit", "conf", "congestion", "ctl",
	"daemon", "dist", "engine", "fabric", "ha", "health", "keep", "lid", "mad", "partitions",
	"plugin", "ports", "qos", "route", "sa", "sim", "store", "sweep", NULL };

static const char *const level_word[] = { "error", "warning", "notice", "info", "debug" };

void
fm_log_set_sink(fm_log_sink sink, void *arg)
{
	log_state.sink = sink;
	log_state.sink_arg = arg;
}

void
fm_log_set_watch(fm_log_watch watch, void *arg)
{
	log_state.watch = watch;
	log_state.watch_arg = arg;
}

void
fm_log_set_level(enum fm_log_level level)
{
	atomic_store(&log_state.level, level);
}

void
fm_log_set_debug(const char *subsystems)
{
	size_t n = 0;

	pthread_mutex_lock(&log_state.lock);
	log_state.debug[n++] = ',';
	for (const char *s = subsystems; *s != '\0' && n < sizeof(log_state.debug) - 2; s++)
		if (*s != ' ' && *s != '\t')
			log_state.debug[n++] = *s;
	memcpy(log_state.debug + n, ",", 2);
	atomic_store(&log_state.by_subsystem, subsystems[0] != '\0');
	pthread_mutex_unlock(&log_state.lock);
}

static bool
is_debugged(const char *subsystem)
{
	char key[40];
	bool is;

	snprintf(key, sizeof(key), ",%s,", subsystem);
	pthread_mutex_lock(&log_state.lock);
	is = strstr(log_state.debug, key) != NULL || strstr(log_state.debug, ",all,") != NULL;
	pthread_mutex_unlock(&log_state.lock);
	return is;
}

bool
fm_log_is_named(const char *subsystem)
{
	return atomic_load(&log_state.by_subsystem) && is_debugged(subsystem);
}

bool
fm_log_wants(enum fm_log_level level, const char *subsystem)
{
	if (level == FM_LOG_DEBUG && atomic_load(&log_state.by_subsystem))
		return is_debugged(subsystem);
	return level <= atomic_load(&log_state.level);
}

/* -1: errno. */
static int
open_end(const char *path, uint64_t *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	struct stat st;

	if (fd >= 0)
		*bytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	return fd;
}

/* The lock is held. */
static void
change_file(int fd, uint64_t bytes)
{
	if (log_state.fd != STDERR_FILENO)
		close(log_state.fd);
	log_state.fd = fd;
	log_state.bytes = bytes;
}

int
fm_log_open(const char *path, uint64_t max_bytes, struct fm_error *err)
{
	uint64_t bytes = 0;
	int fd = STDERR_FILENO;

	if (strlen(path) >= sizeof(log_state.path))
		return fm_fail(err, FM_E_SYSTEM, "%.60s...: the name is too long", path);
	if (*path != '\0' && (fd = open_end(path, &bytes)) < 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	pthread_mutex_lock(&log_state.lock);
	change_file(fd, bytes);
	memmove(log_state.path, path, strlen(path) + 1);
	log_state.max_bytes = max_bytes;
	pthread_mutex_unlock(&log_state.lock);
	return 0;
}

int
fm_log_reopen(struct fm_error *err)
{
	return fm_log_open(log_state.path, log_state.max_bytes, err);
}

/* Without room or leave for another file this one goes on. */
static void
begin_anew(void)
{
	char old[PATH_MAX + 2];
	uint64_t bytes;
	int fd;

	snprintf(old, sizeof(old), "%s.1", log_state.path);
	if (rename(log_state.path, old) != 0 || (fd = open_end(log_state.path, &bytes)) < 0)
		log_state.bytes = 0; /* not again for each line */
	else
		change_file(fd, bytes);
}

static void
to_file(enum fm_log_level level, const char *subsystem, const char *line)
{
	struct timespec now;
	struct tm tm;
	char stamp[32], out[1600];
	int n;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	n = snprintf(out, sizeof(out), "%s.%03ld %-7s %s: %s\n", stamp, now.tv_nsec / 1000000,
	    level_word[level], subsystem, line);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(out)) {
		n = sizeof(out) - 1;
		out[n - 1] = '\n';
	}
	if (write(log_state.fd, out, (size_t)n) < 0)
		return; /* nowhere left to complain */
	log_state.bytes += (uint64_t)n;
	if (log_state.max_bytes != 0 && log_state.bytes >= log_state.max_bytes &&
	    log_state.fd != STDERR_FILENO)
		begin_anew();
}

static bool
is_watched(enum fm_log_level level, unsigned kind)
{
	return log_state.watch != NULL && kind != FM_LOG_UNWATCHED &&
	    (kind != 0 || level <= FM_LOG_WARN);
}

static void
write_line(enum fm_log_level level, const char *subsystem, const char *line)
{
	pthread_mutex_lock(&log_state.lock);
	if (log_state.sink != NULL)
		log_state.sink(log_state.sink_arg, level, subsystem, line);
	else
		to_file(level, subsystem, line);
	pthread_mutex_unlock(&log_state.lock);
}

void
fm_vlog_as(const struct fm_log_as *as, enum fm_log_level level, const char *subsystem,
    const char *fmt, va_list ap)
{
	bool watched = is_watched(level, as->kind);
	bool shown = !as->unlogged && fm_log_wants(level, subsystem);
	char line[1400];

	if (!watched && !shown)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	fm_printable(line); /* words of files and of the wire, and a letter that was cut */
	if (shown)
		write_line(level, subsystem, line);
	if (watched)
		log_state.watch(log_state.watch_arg, level, subsystem, line, as->kind, as->more);
}

void
fm_log_as(const struct fm_log_as *as, enum fm_log_level level, const char *subsystem,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fm_vlog_as(as, level, subsystem, fmt, ap);
	va_end(ap);
}

void
fm_vlog(enum fm_log_level level, const char *subsystem, const char *fmt, va_list ap)
{
	static const struct fm_log_as plain = { 0 };

	fm_vlog_as(&plain, level, subsystem, fmt, ap);
}

void
fm_log(enum fm_log_level level, const char *subsystem, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fm_vlog(level, subsystem, fmt, ap);
	va_end(ap);
}

/* May one line pass? */
static bool
take_token(struct fm_log_bucket *b)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (fm_tokens_take(&b->tokens, b->burst, b->every_ms,
		(int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000))
		return true;
	b->dropped++;
	return false;
}

void
fm_log_rl(
    struct fm_log_bucket *b, enum fm_log_level level, const char *subsystem, const char *fmt, ...)
{
	const struct fm_log_as as = { .kind = level <= FM_LOG_WARN ? b->kind : 0 };
	va_list ap;

	if ((!fm_log_wants(level, subsystem) && !is_watched(level, as.kind)) || !take_token(b))
		return;
	if (b->dropped > 0) {
		fm_log_as(
		    &as, level, subsystem, "%u lines like the next were left out", b->dropped);
		b->dropped = 0;
	}
	va_start(ap, fmt);
	fm_vlog_as(&as, level, subsystem, fmt, ap);
	va_end(ap);
}
