/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/site.h - fmd-web as a whole: which address is answered by what.
 */
#ifndef WEB_SERVE_SITE_H
#define WEB_SERVE_SITE_H

#include "lib/error.h"

struct event_base;
struct site;

/* Listen at `listen`, as one of `names` too (listen_is_ours(); NULL: none); ask fmd at `socket`,
 * read the counters in `file`; all borrowed.  FM_E_CONFIG, FM_E_SYSTEM: it cannot listen there;
 * FM_E_RESOURCE. */
int site_open(struct event_base *base, const char *listen, const char *names, const char *socket,
    const char *file, struct site **out, struct fm_error *err);
void site_close(struct site *s); /* NULL is fine */

#endif
