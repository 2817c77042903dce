/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/mirror.h - the standby's copy of what outlives the master.
 *
 * The frames of the master (link.h) go into the store and the files of this fmd, so that a
 * take-over is the start of an fmd that knows the fabric.  Records and files are written by a
 * thread, in the order in which they came: what mirror_seq() says is in memory, and
 * mirror_settle() waits for the disk.  LIDs and marks are put at once.
 *
 * In sync is a lease: an answer of the master that promises something waits for us until its last
 * ALIVE is LINK_LEASE_MS old (copies.h).  We believe that for LINK_BELIEF_MS, counted from when we
 * sent the HAVE that was the last to reach the master before that ALIVE: so no belief outlives its
 * lease, however long frames are on their way, and however long we stand still.
 */
#ifndef CORE_STANDBY_MIRROR_H
#define CORE_STANDBY_MIRROR_H

#include "core/standby/link.h"

/* The rest is for the way of the frame, and for the time till it is looked at. */
#define LINK_BELIEF_MS 500

struct mirror;
/* store is borrowed; file[i]: the path of a file, copied.  FM_E_RESOURCE, FM_E_SYSTEM. */
int mirror_new(
    struct store *s, const char *const file[LINK_FILES], struct mirror **out, struct fm_error *err);
void mirror_free(struct mirror *m); /* what has come is written first; NULL is fine */

/* A frame of the master, but BYE.  Not 0: it is wrong, or what came before could not be written,
 * and nothing more is taken. */
int mirror_take(struct mirror *m, const struct link_frame *f, int64_t now_ms, struct fm_error *err);
/* All up to this frame is here. */
uint64_t mirror_seq(const struct mirror *m);
uint64_t mirror_term(const struct mirror *m);
/* All that outlives the master is here, up to now. */
bool mirror_is_whole(const struct mirror *m);
bool mirror_in_sync(const struct mirror *m, int64_t now_ms);
/* Port GUIDs of the SMs that the master has told of: its own is not among them, ours is.  Good
 * until the next frame. */
size_t mirror_sms(const struct mirror *m, const uint64_t **guid);
/* It is in the store and in the files already. */
bool mirror_is_settled(struct mirror *m);
/* The same, when this returns. */
int mirror_settle(struct mirror *m, struct fm_error *err);

#endif
