/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/engines/file/misfits.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/log.h"

#define MAX_TOLD 10

void
fm_vmisfit(struct fm_misfits *m, uint32_t line, const char *fmt, va_list ap)
{
	char sentence[200];

	if (++m->n > MAX_TOLD)
		return;
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	m->host->log(m->host, FM_LOG_WARN, "%s:%" PRIu32 ": %s: left out", m->path, line, sentence);
}

void
fm_misfit(struct fm_misfits *m, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fm_vmisfit(m, line, fmt, ap);
	va_end(ap);
}

void
fm_misfits_total(const struct fm_misfits *m)
{
	if (m->n > MAX_TOLD)
		m->host->log(m->host, FM_LOG_WARN,
		    "%s: %" PRIu64 " lines in all do not fit this fabric", m->path, m->n);
}
