/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/store/store.h - what outlives the process: LIDs by port GUID, and a
 * mark of the settings last brought to the fabric.
 *
 * One LMDB environment in the state directory.  Everything is read into
 * memory when it is opened; writes go to both in one transaction.  A file
 * that is not ours, or damaged, is set aside with a warning: what was in it
 * can be learnt from the fabric again.
 */
#ifndef CORE_STORE_STORE_H
#define CORE_STORE_STORE_H

#include <stdint.h>

#include "lib/error.h"

struct store;

struct store_lid {
	uint64_t guid; /* port GUID */
	uint16_t lid;  /* base LID */
	uint8_t lmc;
};

/* dir is made when it does not exist (its parent must). */
int store_open(const char *dir, struct store **out, struct fm_error *err);
void store_close(struct store *s); /* NULL is fine */

/* The LID of guid; 0 when none is kept. */
uint16_t store_lid(const struct store *s, uint64_t guid);
uint32_t store_n_lids(const struct store *s);
const struct store_lid *store_lids(const struct store *s); /* [store_n_lids] */
/* Keep these; those that are kept already cost nothing. */
int store_put_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err);

/* 0 = none was kept. */
uint64_t store_mark(const struct store *s);
int store_put_mark(struct store *s, uint64_t mark, struct fm_error *err);

#endif
