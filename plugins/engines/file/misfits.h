/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/file/misfits.h - lines of a file that are well formed, but not of this fabric.
 *
 * They are left out, and whoever wrote the file is told of the first few line by line and of
 * all by their number: a file of another fabric would fill the log otherwise.
 */
#ifndef PLUGINS_ENGINES_FILE_MISFITS_H
#define PLUGINS_ENGINES_FILE_MISFITS_H

#include <fmd/engine.h>

#include <stdarg.h>

struct fm_misfits {
	const struct fm_host *host;
	const char *path;
	uint64_t n;
};

/* "PATH:LINE: sentence: left out", as long as there are few. */
void fm_misfit(struct fm_misfits *m, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fm_vmisfit(struct fm_misfits *m, uint32_t line, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* At the end of the file: how many in all, where not each was told. */
void fm_misfits_total(const struct fm_misfits *m);

#endif
