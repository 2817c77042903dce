/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/store/store_internal.h - the environment that LIDs and records share.
 */
#ifndef CORE_STORE_STORE_INTERNAL_H
#define CORE_STORE_STORE_INTERNAL_H

#include <lmdb.h>

#include "core/store/store.h"
#include "lib/arena.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define STORE_MAP_BYTES ((size_t)64 << 20) /* 49,151 LIDs take 3 MB; room for more databases */

struct store {
	MDB_env *env;
	MDB_dbi lids_db, marks_db, records_db, aside_db;
	uint64_t mark;
	uint64_t m_key;
	uint64_t untold; /* 0 or 1 */
	FM_VEC(struct store_lid) lids;
	struct fm_hash by_guid;	       /* -> index of lids */
	struct store_pending *pending; /* mapped; NULL: it could not be */
	bool was_cut_off;
	int lock_fd;	     /* -1: none, it is read only */
	bool reads_only;     /* env is NULL where there is no file */
	struct fm_arena mem; /* this struct */
};

/* store_check.c: 0, also where there is no data.mdb (an empty one has lost all); else why it
 * cannot be used, as LMDB says it, or errno. */
int store_check(const char *dir);

/* store_lock.c: the directory is ours till store_unlock(), or the end of the process. */
int store_lock(struct store *s, const char *dir, struct fm_error *err);
void store_unlock(struct store *s);

/* store_pending.c */
void store_pending_open(struct store *s, const char *dir);
void store_pending_close(struct store *s);

#endif
