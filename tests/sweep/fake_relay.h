/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/fake_relay.h - a Redis of a thread, that knows what agents ask; it may lie.
 *
 * Blobs, an epoch and a log of epochs are told as a relay tells them, over a socket in a folder.
 * An answer is spoilt where the test says so; what it is spoilt to is a function of a seed.
 */
#ifndef TESTS_SWEEP_FAKE_RELAY_H
#define TESTS_SWEEP_FAKE_RELAY_H

#include <pthread.h>

#include "core/blobs/blobs.h"
#include "lib/rng.h"
#include "lib/vec.h"

struct fake_blob {
	char key[BLOB_KEY_BYTES];
	uint8_t *bytes; /* [n], malloced */
	size_t n;
};

struct fake_entry {		       /* of the log */
	uint64_t id, term, epoch, was; /* was: term of the epoch before */
	uint32_t kinds;
	uint8_t leaves[8], rows[8], ports[8], names[8]; /* bits of the first 64 */
};

/* What becomes of an answer. */
enum fake_lie {
	LIE_CUT,     /* its first bytes, and the end */
	LIE_TYPE,    /* a value of another type */
	LIE_BYTE,    /* a byte is another */
	LIE_LENGTH,  /* a length is another, or huge */
	LIE_NESTED,  /* an array in an array in ... */
	LIE_MANY,    /* a million of small values */
	LIE_ENDLESS, /* a string that does not end */
	LIE_CLOSE,   /* none */
	LIE_KINDS
};

struct fake_relay {
	char where[80]; /* "unix:PATH" */
	pthread_t thread;
	pthread_mutex_t lock;
	int fd, wake[2];
	bool stop;
	/* under the lock */
	uint64_t term, epoch, last_id;
	uint64_t was;	  /* term of what was published last; 0: nothing has been */
	const char *info; /* what it says of its replication; NULL: it is the first */
	FM_VEC(struct fake_blob) blob;
	FM_VEC(struct fake_entry) log;
	struct fm_rng rng;
	unsigned one_lie_in;			/* so many answers; 0: none */
	unsigned lies;				/* bit of each that may be told */
	unsigned n_answers, n_lies, n_whole;	/* told; whole: GETs of the subnet */
	uint64_t n_bytes;			/* sent, of all answers */
	void (*on_multi)(struct fake_relay *r); /* before a transaction, under the lock; NULL */
};

void fake_relay_start(struct fake_relay *r, const char *folder, const char *name);
void fake_relay_stop(struct fake_relay *r);
/* All that stands between these is one epoch to followers; on_multi has the lock already. */
void fake_relay_lock(struct fake_relay *r);
void fake_relay_unlock(struct fake_relay *r);
/* Under the lock; bytes == NULL: it is gone. */
void fake_relay_put(struct fake_relay *r, const char *key, const void *bytes, size_t n);
const struct fake_blob *fake_relay_find(const struct fake_relay *r, const char *key);
/* An entry of the log, with an ID behind the last. */
void fake_relay_log(struct fake_relay *r, struct fake_entry e);

#endif
