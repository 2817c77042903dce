/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/pkey_table.h - which P_Key goes where in a port's table.
 *
 * Queue pairs name a key by its index, so a key that stays keeps its place,
 * also when only its membership changes.  Pure functions, O(slots * keys).
 */
#ifndef CORE_SUBNET_PKEY_TABLE_H
#define CORE_SUBNET_PKEY_TABLE_H

#include <stdatomic.h>

#include "core/subnet/partitions.h"

#define PKEYS_PER_BLOCK 32

struct pkey_wish {
	struct pkey_list keys;
	uint16_t index0; /* this key is to stand at index 0; 0 = none need */
	bool keep;	 /* keys keep their places (keep_pkey_indexes) */
};

/* With more keys than slots: wish for as many as there are.  Those at index0 and in the
 * default partition stay, then the lower ones.  keys[n_slots] is memory for them.
 * Returns how many are left out. */
size_t pkey_wish_cut(struct pkey_wish *w, size_t n_slots, uint16_t *keys);
/* From held[n_slots] to out[n_slots] that holds the keys wished for, not more than
 * n_slots, and nothing else. */
void pkey_table_lay(const uint16_t *held, size_t n_slots, const struct pkey_wish *w, uint16_t *out);
/* out = held and what of `to` is not in it, as far as there is room: a table under which
 * both the old and the new keys pass. */
void pkey_table_add(const uint16_t *held, size_t n_slots, const uint16_t *to, uint16_t *out);

/* What a port's table holds, place by place; immutable, shared by who looks at it.  Any thread. */
struct pkey_held {
	atomic_uint refs;
	uint16_t n_slots;
	uint16_t key[]; /* [n_slots] */
};
/* *at, a reference or NULL, is to hold these: left alone where it does.  False: no memory. */
bool pkey_held_set(struct pkey_held **at, const uint16_t *keys, size_t n_slots);
struct pkey_held *pkey_held_get(struct pkey_held *h); /* NULL is fine */
void pkey_held_put(struct pkey_held *h);	      /* NULL is fine */

#endif
