/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/subnet/pkey_table.h"

#include <stdlib.h>
#include <string.h>

/* Places are given in this order, each step to whoever has none yet:
 *
 *	1 the same key stands there
 *	2 another key of the same partition stands there
 *	3 index 0, whose key goes where index0's was
 *	4 the lowest free place, the default partition first
 */
struct layout {
	const struct pkey_wish *wish;
	uint16_t *out;
	size_t n_slots;
	size_t next_free; /* all below are taken */
};

static bool
is_placed(const uint16_t *out, size_t n_slots, uint16_t key)
{
	for (size_t i = 0; i < n_slots; i++)
		if (out[i] == key)
			return true;
	return false;
}

/* Is it among the keys wished for? */
static bool
is_wished(const struct pkey_wish *w, uint16_t key)
{
	for (uint32_t i = 0; i < w->keys.n; i++)
		if (w->keys.keys[i] == key)
			return true;
	return false;
}

static void
keep_keys(const struct layout *l, const uint16_t *held)
{
	for (size_t i = 0; i < l->n_slots; i++)
		if ((held[i] & PKEY_BASE) != 0 && is_wished(l->wish, held[i]) &&
		    !is_placed(l->out, i, held[i]))
			l->out[i] = held[i];
}

/* Its place is that of the same partition's key which goes. */
static bool
take_over(const struct layout *l, const uint16_t *held, uint16_t key)
{
	for (size_t i = 0; i < l->n_slots; i++)
		if (l->out[i] == 0 && (held[i] & PKEY_BASE) == (key & PKEY_BASE)) {
			l->out[i] = key;
			return true;
		}
	return false;
}

static void
put_first(struct layout *l, uint16_t key)
{
	uint16_t was = l->out[0];

	if (was == key)
		return;
	for (size_t i = 0; i < l->n_slots; i++)
		if (l->out[i] == key) {
			l->out[i] = was;
			was = 0;
			break;
		}
	l->out[0] = key;
	for (size_t i = 1; was != 0 && i < l->n_slots; i++)
		if (l->out[i] == 0) {
			l->out[i] = was;
			was = 0;
		}
}

static bool
is_first_choice(const struct pkey_wish *w, uint16_t key)
{
	return key == w->index0 || (key & PKEY_BASE) == PKEY_DEFAULT;
}

/* Keys without a place, the important ones or the others. */
static void
place_rest(struct layout *l, bool important)
{
	const struct pkey_list *keys = &l->wish->keys;

	for (uint32_t i = 0; i < keys->n; i++) {
		if (is_first_choice(l->wish, keys->keys[i]) != important ||
		    is_placed(l->out, l->n_slots, keys->keys[i]))
			continue;
		while (l->out[l->next_free] != 0)
			l->next_free++;
		l->out[l->next_free] = keys->keys[i];
	}
}

size_t
pkey_wish_cut(struct pkey_wish *w, size_t n_slots, uint16_t *keys)
{
	size_t n = 0, n_left_out, others;

	if (w->keys.n <= n_slots)
		return 0;
	n_left_out = w->keys.n - n_slots;
	others = n_slots;
	for (uint32_t i = 0; i < w->keys.n; i++)
		others -= is_first_choice(w, w->keys.keys[i]) && others > 0;
	for (uint32_t i = 0; i < w->keys.n && n < n_slots; i++) {
		bool important = is_first_choice(w, w->keys.keys[i]);

		if (!important && others == 0)
			continue;
		others -= !important;
		keys[n++] = w->keys.keys[i];
	}
	w->keys = (struct pkey_list){ keys, (uint32_t)n };
	return n_left_out;
}

void
pkey_table_lay(const uint16_t *held, size_t n_slots, const struct pkey_wish *w, uint16_t *out)
{
	struct layout l = { .wish = w, .out = out, .n_slots = n_slots };

	memset(out, 0, n_slots * sizeof(*out));
	if (w->keep) {
		keep_keys(&l, held);
		for (uint32_t i = 0; i < w->keys.n; i++)
			if (!is_placed(out, n_slots, w->keys.keys[i]))
				take_over(&l, held, w->keys.keys[i]);
	}
	if (w->index0 != 0)
		put_first(&l, w->index0);
	place_rest(&l, true);
	place_rest(&l, false);
}

void
pkey_table_add(const uint16_t *held, size_t n_slots, const uint16_t *to, uint16_t *out)
{
	size_t at = 0;

	memcpy(out, held, n_slots * sizeof(*out));
	for (size_t i = 0; i < n_slots; i++) {
		if (to[i] == 0 || is_placed(out, n_slots, to[i]))
			continue;
		if ((out[i] & PKEY_BASE) == 0) { /* its own place, if that is free */
			out[i] = to[i];
			continue;
		}
		while (at < n_slots && ((out[at] & PKEY_BASE) != 0 || to[at] != 0))
			at++;
		if (at < n_slots)
			out[at] = to[i];
	}
}

bool
pkey_held_set(struct pkey_held **at, const uint16_t *keys, size_t n_slots)
{
	size_t size = n_slots * sizeof(*keys);
	struct pkey_held *h = *at;

	if (h != NULL && h->n_slots == n_slots && memcmp(h->key, keys, size) == 0)
		return true;
	h = malloc(sizeof(*h) + size);
	if (h == NULL)
		return false;
	atomic_init(&h->refs, 1);
	h->n_slots = (uint16_t)n_slots;
	memcpy(h->key, keys, size);
	pkey_held_put(*at);
	*at = h;
	return true;
}

struct pkey_held *
pkey_held_get(struct pkey_held *h)
{
	if (h != NULL)
		atomic_fetch_add(&h->refs, 1);
	return h;
}

void
pkey_held_put(struct pkey_held *h)
{
	if (h != NULL && atomic_fetch_sub(&h->refs, 1) == 1)
		free(h);
}
