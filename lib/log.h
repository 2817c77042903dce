/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/log.h - one log, sentences with key=value facts.
 *
 * A line is: time, level word, subsystem, sentence.  Levels: err (someone must
 * act), warn (degraded), notice (the fabric changed), info, debug.  Debug is
 * switched on by subsystem.  What a remote device can cause goes through
 * fm_log_rl() with a bucket.  Thread-safe; a line is written by one write.
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

/* `burst` lines at once, then one per `every_ms` (tokens.h).  When lines were
 * dropped, the next one that passes says how many. */
struct fm_log_bucket {
	uint32_t burst, every_ms;
	uint32_t dropped;
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
