/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/listen.h - where fmd-web is to be found: on this host alone, by names that are known.
 *
 * A name that somebody else owns may lead to this host, too: a page of theirs, in a browser here,
 * could read what is told under it (DNS rebinding).  So a name has to be one of ours.  An address
 * written as numbers leads nowhere but there, and needs no such look.
 */
#ifndef WEB_SERVE_LISTEN_H
#define WEB_SERVE_LISTEN_H

#include <stdbool.h>

#include "lib/error.h"

struct event_base;
struct evconnlistener;

/* where: "/run/fmd-web/web.sock", "127.0.0.1:9690", "[::1]:9690" or "localhost:9690".  FM_E_CONFIG:
 * it is nothing of that; FM_E_SYSTEM: the address is taken. */
int listen_at(
    struct event_base *base, const char *where, struct evconnlistener **out, struct fm_error *err);

/* Are these names as listen_is_ours() takes them: "NAME[,NAME...]", without schemes and ports? */
bool listen_are_names(const char *names);
/* host: as URIs have it, "192.0.2.1", "[::1]", "NAME"; names: more of ours, NULL: none.  An
 * address, localhost and the name of this machine are ours, too. */
bool listen_is_ours(const char *host, const char *names);

#endif
