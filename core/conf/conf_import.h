/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_import.h - another manager's configuration printed as a fmd.conf.
 */
#ifndef CORE_CONF_CONF_IMPORT_H
#define CORE_CONF_CONF_IMPORT_H

#include <stdio.h>

#include "core/opensm/opafm.h"
#include "core/opensm/opensm.h"

/* What differs between the managers. */
struct import_words {
	const char *path;
	const char *option;	       /* of --import-...: "opensm" */
	const char *manager;	       /* "OpenSM" */
	const char *chain_key, *chain; /* its key for engines, and what it does without one */
};
/* Each setting below the line that it comes from, then the lines that became none. */
void conf_print_import(const struct opensm *o, const struct import_words *words, FILE *out);

/* The device groups that the settings use, then the vfabrics. */
void conf_print_groups(const struct opafm *x, FILE *out);
void conf_print_vfabrics(const struct opafm *x, FILE *out);

#endif
