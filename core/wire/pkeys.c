/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/pkeys.c - lists are sorted by base key, so that asking whether two share a partition
 * is one walk along both.
 */
#include "core/wire/pkeys.h"

#include <stddef.h>

#include "lib/algo/search.h"

static bool
is_full(uint16_t key)
{
	return (key & PKEY_FULL) != 0;
}

/* Both lists from the first key of a common partition on; false: there is none. */
static bool
next_common(const struct pkey_list *a, const struct pkey_list *b, uint32_t *i, uint32_t *j)
{
	while (*i < a->n && *j < b->n) {
		uint16_t x = a->keys[*i] & PKEY_BASE, y = b->keys[*j] & PKEY_BASE;

		if (x == y)
			return true;
		if (x < y)
			(*i)++;
		else
			(*j)++;
	}
	return false;
}

static void
pass_partition(const struct pkey_list *l, uint32_t *at)
{
	uint16_t base = l->keys[*at] & PKEY_BASE;

	while (*at < l->n && (l->keys[*at] & PKEY_BASE) == base)
		(*at)++;
}

uint16_t
pkeys_common(const struct pkey_list *a, const struct pkey_list *b)
{
	uint32_t i = 0, j = 0;

	while (next_common(a, b, &i, &j)) {
		/* full keys come first; one of the two must be full (IBA 10.9.3) */
		if (is_full(a->keys[i]) || is_full(b->keys[j]))
			return a->keys[i];
		pass_partition(a, &i);
		pass_partition(b, &j);
	}
	return 0;
}

bool
pkeys_share(const struct pkey_list *a, const struct pkey_list *b)
{
	return pkeys_common(a, b) != 0;
}

uint16_t
pkeys_of(const struct pkey_list *a, uint16_t pkey)
{
	size_t at;

	pkey &= PKEY_BASE;
	fm_lower_bound(at, a->n, i, (a->keys[i] & PKEY_BASE) < pkey);
	return at < a->n && (a->keys[at] & PKEY_BASE) == pkey ? a->keys[at] : 0;
}

bool
pkeys_share_this(const struct pkey_list *a, const struct pkey_list *b, uint16_t pkey)
{
	uint16_t x = pkeys_of(a, pkey), y = pkeys_of(b, pkey);

	return x != 0 && y != 0 && (is_full(x) || is_full(y));
}
