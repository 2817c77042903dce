/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/listen.h - where fmd-web is to be found: on this host alone.
 */
#ifndef WEB_SERVE_LISTEN_H
#define WEB_SERVE_LISTEN_H

#include "lib/error.h"

struct event_base;
struct evconnlistener;

/* where: "/run/fmd-web/web.sock", "127.0.0.1:9690", "[::1]:9690" or "localhost:9690".  FM_E_CONFIG:
 * it is nothing of that; FM_E_SYSTEM: the address is taken. */
int listen_at(
    struct event_base *base, const char *where, struct evconnlistener **out, struct fm_error *err);

#endif
