/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/server.h - a simulated fabric for other programs: fmsim.
 *
 * Programs connect by libfmsim-umad.so (umad_proto.h) and sit at any node, any
 * number at a port; a console takes commands (console.h).  The clock is the
 * wall's; one thread, libevent.
 */
#ifndef LAB_FMSIM_SERVER_H
#define LAB_FMSIM_SERVER_H

#include "lab/sim/sim.h"

struct event_base;
struct sim_server;

/* Listen at a path, which may be a socket that a dead server left.  sim must
 * have a wall clock; it stays the caller's.  local: where programs sit that do
 * not say. */
int sim_server_new(struct sim *s, struct sim_place local, struct event_base *base, const char *path,
    struct sim_server **out, struct fm_error *err);
/* Closes all connections and takes the socket away. */
void sim_server_free(struct sim_server *v);
/* Commands from a descriptor, answers to another, until the first ends. */
int sim_server_console(struct sim_server *v, int in, int out, struct fm_error *err);

#endif
