/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/early.h - the SA before the first sweep has ended: from what was kept.
 *
 * Our own port is what discovery reads first.  If it is ACTIVE and names itself as the master, the
 * fabric takes us for it, and what the process before us has kept (core/view/kept.h) is answered
 * from, unverified, while the sweep goes on; what it reads takes away what it contradicts.  So it
 * is when the master is gone that we have stood by for, whose files we have.
 */
#ifndef CORE_DAEMON_EARLY_H
#define CORE_DAEMON_EARLY_H

#include "core/daemon/daemon.h"
#include "core/view/kept.h"

/* Nothing is loaded yet.  FM_E_RESOURCE. */
int early_new(struct daemon *d, struct fm_error *err);
void early_free(struct daemon *d);
/* We may be about to rule, and have the files of the master that was: they are loaded by a thread,
 * which reads the store and the configuration till the next of early_take_over() and
 * early_forget(). */
void early_prepare(struct daemon *d);
/* We do not, or the files, the store or the configuration are about to be others. */
void early_forget(struct daemon *d);
/* We rule from now on, and have the files of the master that was: they are answered from, and the
 * end ports that are in them are told of us. */
void early_take_over(struct daemon *d);
/* With each turn of the loop: has our own port been read? */
void early_follow(struct daemon *d);
/* A sweep has ended thus, and what it has found, if anything, is on its way to the SA. */
void early_end(struct daemon *d, enum sweep_outcome outcome);
/* Into the status of the SA. */
void early_add_json(const struct daemon *d, json_t *sa);

/* administer.c */
void daemon_publish_kept(struct daemon *d, const struct sa_kept *k);
void daemon_publish_nothing(struct daemon *d);
void daemon_sa_settings(const struct daemon *d, struct sa_settings *set);

#endif
