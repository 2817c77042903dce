/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/store/store.h - what outlives the process: LIDs by port GUID, a mark of the
 * settings last brought to the fabric, whether hosts have to be told of other SLs, and what
 * they have registered.
 *
 * One LMDB environment in the state directory, and a file `pending` beside it.
 * Everything is read into memory when it is opened; writes go to both in one
 * transaction.  A file that is not ours, or damaged, is set aside with a warning:
 * what was in it can be learnt from the fabric again.
 */
#ifndef CORE_STORE_STORE_H
#define CORE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct store;

struct store_lid {
	uint64_t guid; /* port GUID */
	uint16_t lid;  /* base LID */
	uint8_t lmc;
};

/* dir is made when it does not exist (its parent must).  One process at a time has it: the next is
 * refused.  Where the disk has no room, or nothing can be written to it, all is put into memory
 * only, with a warning. */
int store_open(const char *dir, struct store **out, struct fm_error *err);
/* The same for a look at it, as a dry run takes, also while another process has it open: LIDs are
 * put into memory only, no directory is made, a damaged file stays.  Marks, keys and records
 * cannot be put. */
int store_open_to_read(const char *dir, struct store **out, struct fm_error *err);
void store_close(struct store *s); /* NULL is fine */
/* A sentence: why what is put is in memory only; NULL: it is kept, or was opened to read. */
const char *store_why_none(const struct store *s);

/* The LID of guid; 0 when none is kept. */
uint16_t store_lid(const struct store *s, uint64_t guid);
uint32_t store_n_lids(const struct store *s);
const struct store_lid *store_lids(const struct store *s); /* [store_n_lids] */
/* Keep these; those that are kept already cost nothing. */
int store_put_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err);

/* ... and no others. */
int store_set_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err);

/* Another number than before: one has been put that was not kept, or was another,
 * or has gone. */
uint64_t store_n_lid_changes(const struct store *s);

/* 0 = none was kept. */
uint64_t store_mark(const struct store *s);
int store_put_mark(struct store *s, uint64_t mark, struct fm_error *err);
/* The M_Key that ports have; 0 = none was kept.  s may be NULL. */
uint64_t store_m_key(const struct store *s);
int store_put_m_key(struct store *s, uint64_t m_key, struct fm_error *err);
/* Do hosts send by other SLs than the SA names, or is to name, without having been told?  s may
 * be NULL. */
bool store_untold(const struct store *s);
int store_put_untold(struct store *s, bool untold, struct fm_error *err);

/* Something has been answered that is not in the store yet, or is no more.  Costs a store to
 * memory; outlives a process that is killed. */
void store_set_pending(struct store *s, bool pending);
/* The process that had the store before ended so, or with its machine. */
bool store_was_cut_off(const struct store *s);

/* Numbers in keys and values: 8 bytes, most significant first, whatever the machine. */
static inline void
store_put_number(uint8_t *bytes, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * (7 - i)));
}

static inline uint64_t
store_get_number(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* Records of others, bytes by key.  They are not kept in memory; any thread, one at a time. */
#define STORE_KEY_MAX 64 /* bytes */

struct store_record {
	const void *key, *value;
	size_t n_key, n_value;
};
/* False: the record is damaged. */
typedef bool (*store_visit)(void *arg, const struct store_record *r);
/* All of them, ascending by key.  Those found damaged move to a database of their own; how
 * many in *n_aside. */
int store_each(
    struct store *s, store_visit visit, void *arg, uint32_t *n_aside, struct fm_error *err);
/* In one transaction; value NULL: is taken out.  anew: there are no others. */
int store_put(
    struct store *s, const struct store_record *r, uint32_t n, bool anew, struct fm_error *err);

#endif
