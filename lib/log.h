/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/log.h - one log, sentences with key=value facts.
 *
 * A line is: time, level word, subsystem, sentence.  Levels: err (someone must
 * act), warn (degraded), notice (the fabric changed), info, debug.  Debug is
 * switched on by subsystem.  What a remote device can cause goes through
 * fm_log_rl() with a bucket.  Thread-safe; a line is written by one write.
 *
 * Who watches the log (fm_log_set_watch()) is told of each warning and error, and of what is logged
 * by fm_log_as() with a kind, whatever the level of the lines that are shown.
 */
#ifndef FM_LIB_LOG_H
#define FM_LIB_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/tokens.h"

enum fm_log_level { FM_LOG_ERR, FM_LOG_WARN, FM_LOG_NOTICE, FM_LOG_INFO, FM_LOG_DEBUG };

/* Where lines go.  NULL = stderr.  Tests set their own to assert on it. */
typedef void (*fm_log_sink)(
    void *arg, enum fm_log_level level, const char *subsystem, const char *line);
void fm_log_set_sink(fm_log_sink sink, void *arg);
/* Told of a line on the thread that logs it, while no lock of the log is held: it may log.
 * kind, more: as fm_log_as() was given; 0 and NULL for a line that was logged without.  watch NULL:
 * nobody is told any more.  Set it while no other thread logs. */
typedef void (*fm_log_watch)(void *arg, enum fm_log_level level, const char *subsystem,
    const char *line, unsigned kind, void *more);
void fm_log_set_watch(fm_log_watch watch, void *arg);
/* Lines above this level are dropped (default FM_LOG_INFO). */
void fm_log_set_level(enum fm_log_level level);
/* The names there are, NULL behind the last. */
extern const char *const fm_log_subsystems[];
/* Comma-separated subsystems whose debug lines are shown, "all" for every one; "": as the
 * level says.  Blanks do not count. */
void fm_log_set_debug(const char *subsystems);
/* Is it named there, or all are? */
bool fm_log_is_named(const char *subsystem);
bool fm_log_wants(enum fm_log_level level, const char *subsystem);

/* Lines go to the end of this file from now on; "": to stderr.  When it has max_bytes (0: no
 * limit), it becomes PATH.1, in place of an older one, and a new one begins.  FM_E_SYSTEM when it
 * cannot be opened: then all stays as it was. */
int fm_log_open(const char *path, uint64_t max_bytes, struct fm_error *err);
/* The same file by its name once more, which somebody has moved away. */
int fm_log_reopen(struct fm_error *err);

void fm_log(enum fm_log_level level, const char *subsystem, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fm_vlog(enum fm_log_level level, const char *subsystem, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* What a line is, for who watches: kinds are his. */
struct fm_log_as {
	unsigned kind; /* 0: none of its own; FM_LOG_UNWATCHED: he is not told of the line */
	bool unlogged; /* he alone is told, as the log has it already */
	void *more;
};
#define FM_LOG_UNWATCHED UINT32_MAX
void fm_log_as(const struct fm_log_as *as, enum fm_log_level level, const char *subsystem,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void fm_vlog_as(const struct fm_log_as *as, enum fm_log_level level, const char *subsystem,
    const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));

/* `burst` lines at once, then one per `every_ms` (tokens.h).  When lines were
 * dropped, the next one that passes says how many. */
struct fm_log_bucket {
	uint32_t burst, every_ms;
	uint32_t dropped;
	unsigned kind; /* of its warnings and errors, as of fm_log_as; 0: none */
	struct fm_tokens tokens;
};
void fm_log_rl(struct fm_log_bucket *b, enum fm_log_level level, const char *subsystem,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#define log_err(sub, ...) fm_log(FM_LOG_ERR, sub, __VA_ARGS__)
#define log_warn(sub, ...) fm_log(FM_LOG_WARN, sub, __VA_ARGS__)
#define log_notice(sub, ...) fm_log(FM_LOG_NOTICE, sub, __VA_ARGS__)
#define log_info(sub, ...) fm_log(FM_LOG_INFO, sub, __VA_ARGS__)
#define log_debug(sub, ...) \
	do { \
		if (fm_log_wants(FM_LOG_DEBUG, sub)) \
			fm_log(FM_LOG_DEBUG, sub, __VA_ARGS__); \
	} while (0)

#endif
