/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/events/tell.h"

static uint64_t vtell(const struct telling *t, enum fm_log_level level, const char *subsystem,
    const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));

static uint64_t
vtell(const struct telling *t, enum fm_log_level level, const char *subsystem, const char *fmt,
    va_list ap)
{
	struct told told = { .telling = t };
	const struct fm_log_as as = { .kind = t->kind, .unlogged = t->unlogged, .more = &told };

	fm_vlog_as(&as, level, subsystem, fmt, ap);
	json_decref(t->facts);
	return told.n;
}

uint64_t
event_tell(
    const struct telling *t, enum fm_log_level level, const char *subsystem, const char *fmt, ...)
{
	va_list ap;
	uint64_t n;

	va_start(ap, fmt);
	n = vtell(t, level, subsystem, fmt, ap);
	va_end(ap);
	return n;
}

uint64_t
events_add(enum event_kind kind, enum fm_log_level level, const char *subsystem, json_t *facts,
    const char *fmt, ...)
{
	const struct telling t = { .kind = kind, .facts = facts };
	va_list ap;
	uint64_t n;

	va_start(ap, fmt);
	n = vtell(&t, level, subsystem, fmt, ap);
	va_end(ap);
	return n;
}

void
event_end(uint64_t n, enum event_kind kind, const char *subsystem, const char *fmt, ...)
{
	const struct telling t = { .kind = kind, .ends = n, .unlogged = true };
	va_list ap;

	if (n == 0)
		return;
	va_start(ap, fmt);
	vtell(&t, FM_LOG_NOTICE, subsystem, fmt, ap);
	va_end(ap);
}

void
log_beside(enum fm_log_level level, const char *subsystem, const char *fmt, ...)
{
	static const struct fm_log_as beside = { .kind = FM_LOG_UNWATCHED };
	va_list ap;

	va_start(ap, fmt);
	fm_vlog_as(&beside, level, subsystem, fmt, ap);
	va_end(ap);
}
