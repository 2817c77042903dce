/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/published.h - what a place has been told, and what is told next.
 *
 * A copy of all blobs.  A blob that is put is compared with its copy; where it differs, the
 * publication begins, and the place is told: rows by the lines of 64 bytes that differ, all else
 * whole.  After a failure the copy is worthless: it has to be loaded again.
 */
#ifndef CORE_DIST_PUBLISHED_H
#define CORE_DIST_PUBLISHED_H

#include "core/dist/place.h"
#include "lib/hash.h"
#include "lib/vec.h"

struct pub_blob {
	uint8_t *bytes; /* [n], malloced */
	size_t n;
};

struct published {
	const struct place_ops *ops;
	void *place;
	struct place_epoch at, next; /* published; what the publication under way will be */
	bool begun;
	struct pub_blob one[BLOB_PORT]; /* by kind */
	struct pub_blob port[PLACE_BLOCKS], name[PLACE_BLOCKS];
	FM_VEC(struct pub_blob) row, hops; /* by number of the leaf */
	FM_VEC(uint64_t) leaf_guid;
	struct fm_hash leaf; /* GUID of a leaf to its number */
	struct place_changes changes;
	uint64_t n_blobs, n_patches, n_bytes; /* told, since the start */
	uint32_t n_left_out; /* LIDs whose paths are left to the SA, as was logged */
};

void pub_init(struct published *p, const struct place_ops *ops);
void pub_fini(struct published *p);
/* What the place has; all that was known before is forgotten. */
int pub_load(struct published *p, void *place, struct fm_error *err);
/* A publication under this term; it begins when something is to be told. */
void pub_start(struct published *p, uint64_t term);
/* The number of a leaf, a new one if need be; FM_NONE: there are too many, or no memory. */
uint32_t pub_leaf(struct published *p, uint64_t guid);
/* A blob as it is to be.  A row may be shorter than what has been told: its end stays.
 * FM_E_RESOURCE, FM_E_BUG: hosts would not take it; or what the place says. */
int pub_put(struct published *p, enum blob_kind kind, uint64_t number, const void *bytes, size_t n,
    struct fm_error *err);
/* Ends it, if there was anything to tell, or the term is a new one; *told: whether. */
int pub_commit(struct published *p, bool *told, struct fm_error *err);

#endif
