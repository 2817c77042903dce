/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_opensm.h - an opensm.conf, or an opafm.xml, printed as a fmd.conf.
 */
#ifndef CORE_CONF_CONF_OPENSM_H
#define CORE_CONF_CONF_OPENSM_H

#include <stdio.h>

#include "core/engine/plugin.h"
#include "core/text/mistakes.h"
#include "lib/error.h"

/* What it says beside OpenSM's defaults, each translation with its line.  FM_E_CONFIG, and
 * nothing is printed, where the file has mistakes or is not of OpenSM's form. */
int conf_import_opensm(
    const char *path, const struct engine_set *engines, FILE *out, struct fm_error *err);
/* The same of opa-fm's opafm.xml; all that is wrong with it goes into `all`, the last of it into
 * *err. */
int conf_import_opafm(const char *path, const struct engine_set *engines, FILE *out,
    struct mistakes *all, struct fm_error *err);

#endif
