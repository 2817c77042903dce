/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/place.h - where blobs are published: what a place has to do.
 *
 * A publication is begin, any number of blob and patch, commit; readers see all of it or nothing.
 * After a failure the place is closed and opened anew, and what it has is loaded again.
 */
#ifndef CORE_DIST_PLACE_H
#define CORE_DIST_PLACE_H

#include "core/blobs/blobs.h"
#include "lib/error.h"

#define PLACE_BLOCKS (65536 / BLOB_BLOCK_LIDS)

struct place_epoch {
	uint64_t term, epoch; /* 0, 0: nothing has been published */
};

/* What a publication changes, for followers that have the rest. */
struct place_changes {
	uint32_t kinds;		     /* bit of each enum blob_kind */
	uint64_t leaves[65536 / 64]; /* numbers of the leaves whose rows or hops differ */
	uint64_t row_blocks[PLACE_BLOCKS / 64]; /* blocks of LIDs in which they do */
	uint64_t ports[PLACE_BLOCKS / 64];	/* blocks of ports */
	uint64_t names[PLACE_BLOCKS / 64];	/* and of their names */
};

typedef int (*place_each)(
    void *arg, const char *key, const void *bytes, size_t n, struct fm_error *err);

typedef void (*place_follower)(void *arg, const char *name);

struct place_at {
	const char *where; /* a folder; a socket */
	const char *peer;  /* where this place finds that of the other SM, NULL: there is none */
	const char *auth_file; /* who logs in there, NULL: nobody does */
};

struct place_ops {
	const char *kind;
	bool has_relays; /* copies of it serve hosts, which go to the nearest by BLOB_HOPS */
	int (*open)(const struct place_at *at, void **place, struct fm_error *err);
	void (*close)(void *place); /* NULL is fine */
	/* It follows no other place any more; NULL: it never does.  term: ours, 0: none taken yet.
	 * FM_E_CANCELLED: another has published a later one. */
	int (*lead)(void *place, uint64_t term, struct fm_error *err);
	/* It follows that of the peer; NULL: it cannot.  FM_E_SYSTEM: and as long as that does not
	 * answer. */
	int (*follow)(const struct place_at *at, struct fm_error *err);
	/* Each that follows it now and has acknowledged something lately, by the name that it has
	 * there; NULL: nobody knows who follows.  A failure is none of the place, as publishing
	 * does not need it. */
	int (*followers)(void *place, place_follower each, void *arg, struct fm_error *err);
	/* Each that tells the place of itself, or of which another one tells it: relays at any
	 * depth, some more than once. */
	int (*relays)(void *place, place_follower each, void *arg, struct fm_error *err);
	/* Each that follows the place of the peer, and each that tells that of itself, as long as
	 * it is a copy. */
	int (*peers_followers)(const struct place_at *at, place_follower each,
	    place_follower each_relay, void *arg, struct fm_error *err);
	/* The epoch, and each blob; a failure of each ends it. */
	int (*load)(
	    void *place, struct place_epoch *at, place_each each, void *arg, struct fm_error *err);
	/* Is what is there still of the epoch that was committed last? */
	int (*check)(void *place, struct place_epoch at, struct fm_error *err);
	/* was: what has been loaded, or committed last; now: what this one will be.
	 * FM_E_CANCELLED: another has published since. */
	int (*begin)(
	    void *place, struct place_epoch was, struct place_epoch now, struct fm_error *err);
	int (*blob)(
	    void *place, const char *key, const void *bytes, size_t n, struct fm_error *err);
	/* So many bytes of a blob; it grows if they are behind its end, by zeros between.  NULL:
	 * the place takes blobs as wholes. */
	int (*patch)(void *place, const char *key, size_t at, const void *bytes, size_t n,
	    struct fm_error *err);
	/* FM_E_CANCELLED: another has published since begin. */
	int (*commit)(void *place, const struct place_changes *changes, struct fm_error *err);
};

extern const struct place_ops place_files;
extern const struct place_ops place_redis; /* only with hiredis */

#endif
