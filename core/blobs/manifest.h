/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/blobs/manifest.h - which blobs an epoch is made of, where they are files.
 *
 *	fmd-dist 1
 *	term T
 *	epoch E
 *	blob KEY BYTES HASH	as many as there are; the blob is blobs/HASH-BYTES
 *	end
 */
#ifndef CORE_BLOBS_MANIFEST_H
#define CORE_BLOBS_MANIFEST_H

#include "core/blobs/blobs.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define MANIFEST_MOST_BYTES (16u << 20)

struct manifest_blob {
	char key[BLOB_KEY_BYTES];
	uint64_t n_bytes, hash;
};

struct manifest { /* zeroed: empty */
	uint64_t term, epoch;
	FM_VEC(struct manifest_blob) blob;
	struct fm_hash by_key; /* hash of a key to its number in blob */
};

void manifest_fini(struct manifest *m);
/* What the file says, all that was in *m before is forgotten; a file that is absent is an empty
 * manifest.  FM_E_SYSTEM, FM_E_RESOURCE, FM_E_CONFIG: it is no manifest; the sentence names file
 * and line. */
int manifest_read(const char *path, struct manifest *m, struct fm_error *err);
/* In a file of its own that takes the place of path.  FM_E_SYSTEM. */
int manifest_write(const char *path, const struct manifest *m, struct fm_error *err);
/* NULL: there is no blob of this key. */
const struct manifest_blob *manifest_find(const struct manifest *m, const char *key);
/* A new one, or the one of this key anew; false: memory is out. */
bool manifest_set(struct manifest *m, const char *key, uint64_t n_bytes, uint64_t hash);
/* What is in a blob, as its name tells it; not for enemies. */
uint64_t manifest_hash(const void *bytes, size_t n);
/* Of the file of a blob; false: size is too small. */
bool manifest_blob_path(const char *folder, const struct manifest_blob *b, char *path, size_t size);
/* *bytes, malloced: what its file has, which is as its name tells.  FM_E_SYSTEM, FM_E_RESOURCE,
 * FM_E_CONFIG. */
int manifest_blob_read(
    const char *folder, const struct manifest_blob *b, uint8_t **bytes, struct fm_error *err);
/* Length and hash by such a name; false: it is none. */
bool manifest_blob_name_parse(const char *name, struct manifest_blob *b);

#endif
