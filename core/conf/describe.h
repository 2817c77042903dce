/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/describe.h - documents made from option rows and descriptors.
 */
#ifndef CORE_CONF_DESCRIBE_H
#define CORE_CONF_DESCRIBE_H

#include <stdio.h>

#include "core/engine/plugin.h"
#include "core/vendor/vendors.h"
#include "lib/error.h"

struct conf_section;

/* What is in the plugin directories, refused files with their reason. */
void describe_engines(const struct engine_set *set, FILE *out);
int describe_engines_json(
    const struct engine_set *set, const struct vendors *v, FILE *out, struct fm_error *err);
/* Programmers of adaptive routing, likewise; nothing where there is none. */
void describe_programmers(const struct vendors *v, FILE *out);
/* Summary, traits, aliases and options of one engine. */
void describe_engine(const struct fm_engine *engine, const char *path, FILE *out);
/* The daemon's options, for fmd --help. */
void describe_daemon_options(FILE *out);
/* Of a kind of section that has titles: fmd --help=region. */
void describe_section(const struct conf_section *s, FILE *out);

/* conf/fmd.conf: every option of the daemon and of the engines with its help,
 * its default commented out. */
void describe_conf_file(const struct engine_set *set, FILE *out);
/* The OPTIONS sections of fmd.conf(5), as man macros. */
void describe_man_options(const struct engine_set *set, FILE *out);
/* The tables of fmd-opensm(7): what stands for OpenSM's keys and options. */
void describe_man_opensm(FILE *out);
/* The kinds of fmd-events(7). */
void describe_man_events(FILE *out);

/* Text in lines of 78 columns, each led by lead. */
void describe_wrapped(const char *text, const char *lead, FILE *out);

#endif
