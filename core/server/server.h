/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/server/server.h - who runs the SA.
 *
 *	umad:	a thread with an agent of its own (class 3, kernel RMPP):
 *		umad_recv -> sa_handle() -> umad_send
 *	sim:	inline, on the loop: MADs of class 3 come from the handler of
 *		unsolicited MADs, answers leave by core/mad/rmpp
 *
 * The registry belongs to whoever runs: work for it is posted.
 */
#ifndef CORE_SERVER_SERVER_H
#define CORE_SERVER_SERVER_H

#include "core/mad/transport.h"
#include "core/sa/sa.h"

struct sa_server;

/* Start on the port of the transport; registry may be NULL and is borrowed.
 * For a transport without a descriptor: inline. */
int sa_server_start(struct transport *t, const char *spec, struct registry *registry,
    struct sa_server **out, struct fm_error *err);
void sa_server_stop(struct sa_server *s); /* NULL is fine; waits for the thread */

/* From the loop: a new view (takes the reference). */
void sa_server_publish(struct sa_server *s, struct sa_view *v);
/* From the loop: the multicast tables as they are now; cheap when they are the same object. */
void sa_server_publish_mfts(struct sa_server *s, struct mft_rows *r);
/* The view in force, a reference, or NULL. */
struct sa_view *sa_server_view(struct sa_server *s);
/* Run fn(arg, sa) where the SA runs, soon, in the order posted.  Any thread. */
int sa_server_post(
    struct sa_server *s, void (*fn)(void *arg, struct sa *sa), void *arg, struct fm_error *err);
/* The same, and wait until it has run. */
int sa_server_run(
    struct sa_server *s, void (*fn)(void *arg, struct sa *sa), void *arg, struct fm_error *err);
/* Inline only: a MAD of class 3 that came to the loop; false: not ours. */
bool sa_server_on_mad(struct sa_server *s, const struct mad *m);
/* Inline only: timers.  When next, transport clock. */
int64_t sa_server_step(struct sa_server *s);
/* A copy of the counters.  Any thread. */
void sa_server_counts(struct sa_server *s, struct sa_counts *out);
/* Who asks most (sa_turns_talkers()), as of a second ago.  Any thread. */
struct talkers_seen;
void sa_server_talkers(struct sa_server *s, struct talkers_seen *out);

#endif
