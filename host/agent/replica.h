/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/replica.h - what a host holds of the blobs, and the file that is made of them.
 *
 * A host needs the rows of its own leaves, and of everything else all.  What comes from a relay is
 * of a stranger: sizes are checked here, once; what numbers mean, by who looks paths up.
 */
#ifndef HOST_AGENT_REPLICA_H
#define HOST_AGENT_REPLICA_H

#include "core/blobs/blobs.h"
#include "host/paths/paths.h"
#include "lib/vec.h"

#define REPLICA_BLOCKS (65536 / BLOB_BLOCK_LIDS)
#define REPLICA_MOST_OWN 64   /* ports of a host */
#define REPLICA_MOST_ROWS 128 /* of the leaves that they hang off; those of more are not kept */

struct replica_blob {
	uint8_t *bytes; /* [n], malloced */
	size_t n;
};

struct replica_row {
	uint16_t leaf; /* its number */
	uint64_t guid;
	bool used;   /* a port of ours hangs off its leaf */
	bool wanted; /* its bytes have not been fetched yet */
	struct replica_blob blob, hops;
};

struct replica {
	uint64_t own[REPLICA_MOST_OWN];	   /* [n_own] GUIDs of the host's ports */
	uint16_t own_sm[REPLICA_MOST_OWN]; /* MasterSMLID of each, 0: not known */
	unsigned n_own;
	struct paths_epoch at; /* 0, 0: nothing has been fetched */
	char log_entry[64];    /* of Redis's stream, the last that is in it; "" */
	unsigned n_behind;     /* times in a row that a relay was behind this */
	struct replica_blob one[BLOB_PORT];
	struct replica_blob port[REPLICA_BLOCKS], name[REPLICA_BLOCKS];
	FM_VEC(struct replica_row) row; /* of the leaves of the host's ports */
};

void replica_fini(struct replica *r);
/* A blob, NULL: there is none under this key.  False: memory is out, or it is larger than any
 * that an fmd publishes. */
bool replica_put(
    struct replica *r, enum blob_kind kind, uint64_t number, const void *bytes, size_t n);
/* Some bytes of a row of ours; false: memory is out, or it is no row of ours. */
bool replica_patch(struct replica *r, uint64_t guid, size_t at, const void *bytes, size_t n);
/* Blocks of ports and of names that there may be. */
unsigned replica_n_blocks(const struct replica *r);
/* Rows for the leaves that the host's ports hang off now; those of others go.  False: memory. */
bool replica_find_rows(struct replica *r);
/* Is it of a leaf of ours (BLOB_ROW, BLOB_HOPS), and has never been fetched, or has changed? */
bool replica_wants(const struct replica *r, enum blob_kind kind, uint64_t guid, bool changed);
/* Switches that a packet passes from the host's port that is nearest to a node; 0: not known.
 * who: its name as published, a port GUID or a LID.  O(LIDs). */
unsigned replica_hops(const struct replica *r, const char *who);
/* The first of the host's ports in this subnet that obeys another SM than the one that has
 * published it; -1: one obeys that, or of none it is known.  O(ports of the host * LIDs). */
int replica_other_sm(const struct replica *r);
/* What a port that is there has registered, from *at on, which is all 0 at first; false: nothing
 * more.  A stranger may tell of a LID in any block: only its own counts. */
struct replica_place {
	unsigned block;
	size_t at; /* in its blob of names; 0: not looked at yet */
};
bool replica_next_reg(const struct replica *r, struct replica_place *at, struct blob_reg *reg);
/* The file of it all.  FM_E_RESOURCE, FM_E_SYSTEM. */
int replica_write(const struct replica *r, const char *path, struct fm_error *err);

#endif
