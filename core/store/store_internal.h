/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/store/store_internal.h - the environment that LIDs and records share.
 */
#ifndef CORE_STORE_STORE_INTERNAL_H
#define CORE_STORE_STORE_INTERNAL_H

#include <lmdb.h>
#include <pthread.h>

#include "core/store/store.h"
#include "lib/arena.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define STORE_MAP_BYTES ((size_t)64 << 20) /* 49,151 LIDs take 3 MB; room for more databases */

struct store {
	MDB_env *env;		 /* NULL: in memory only */
	pthread_mutex_t one_txn; /* at a time */
	MDB_dbi lids_db, marks_db, records_db, aside_db;
	uint64_t mark;
	uint64_t m_key;
	uint64_t untold; /* 0 or 1 */
	FM_VEC(struct store_lid) lids;
	uint64_t n_lid_changes;
	struct fm_hash by_guid;	       /* -> index of lids */
	struct store_pending *pending; /* mapped; NULL: it could not be */
	bool was_cut_off;
	int lock_fd; /* -1: none, it is read only */
	bool reads_only;
	char why_none[256];  /* "": it is kept, or only read */
	struct fm_arena mem; /* this struct */
};

/* store_check.c: 0, also where there is no data.mdb (an empty one has lost all); else why it
 * cannot be used, as LMDB says it, or errno.  What can be read is put into the file copy, empty
 * before, a store of its own; NULL: nowhere.  A child does it, which no damage outlives: to be
 * called before there are threads, whose locks it could not have. */
int store_check(const char *dir, const char *copy);

/* A transaction, when no other is open; its end: committed, or not with rc != 0.  What LMDB says,
 * or errno. */
int store_begin(struct store *s, MDB_txn **txn);
int store_end(struct store *s, MDB_txn *txn, int rc);
/* The end of one that writes, NULL: none has begun.  FM_E_SYSTEM: rc, or what LMDB says.  what:
 * the fault points before and after have this name. */
int store_commit(struct store *s, MDB_txn *txn, int rc, const char *what, struct fm_error *err);

/* store_lock.c: the directory is ours till store_unlock(), or the end of the process. */
int store_lock(struct store *s, const char *dir, struct fm_error *err);
void store_unlock(struct store *s);

/* store_pending.c */
void store_pending_open(struct store *s, const char *dir);
void store_pending_close(struct store *s);

#endif
