/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/agent/relays.h"

#include <string.h>

#include "lib/hash.h"

/* @NODE of "redis:unix:SOCKET@NODE" stands behind the last slash: folders may have an @. */
static char *
find_node(char *word)
{
	char *slash = strrchr(word, '/'), *at = strrchr(slash != NULL ? slash : word, '@');

	return strncmp(word, "redis:", 6) == 0 ? at : NULL;
}

int
relays_add(struct relays *r, char *word, struct fm_error *err)
{
	struct relay_entry *new = &r->item[r->n];
	char *at = find_node(word);

	if (r->n == RELAYS_MOST)
		return fm_fail(err, FM_E_CONFIG, "too many relays at \"%.100s\": %d are possible",
		    word, RELAYS_MOST);
	*new = (struct relay_entry){ .word = word };
	if (at != NULL) {
		*at = '\0';
		new->node = at[1] != '\0' ? at + 1 : NULL;
	}
	r->n++;
	return 0;
}

static bool
has_failed(const struct relay_entry *e, int64_t now_ms)
{
	return e->failed_ms != 0 && now_ms - e->failed_ms < RELAYS_FORGET_MS;
}

static uint64_t
lot(const struct relays *r, const struct relay_entry *e)
{
	return fm_mix64(r->host ^ fm_hash_bytes(0, e->word, strlen(e->word)));
}

/* One whose distance is not known is farther than all. */
static unsigned
distance(const struct relay_entry *e)
{
	return e->hops != 0 ? e->hops : UINT32_MAX;
}

static bool
is_before(const struct relays *r, const struct relay_entry *a, const struct relay_entry *b,
    int64_t now_ms)
{
	bool failed = has_failed(a, now_ms);

	if (failed != has_failed(b, now_ms))
		return !failed;
	if (failed && a->failed_ms != b->failed_ms)
		return a->failed_ms < b->failed_ms;
	if (distance(a) != distance(b))
		return distance(a) < distance(b);
	return lot(r, a) < lot(r, b);
}

unsigned
relays_best(const struct relays *r, int64_t now_ms)
{
	unsigned best = 0;

	for (unsigned i = 1; i < r->n; i++)
		if (is_before(r, &r->item[i], &r->item[best], now_ms))
			best = i;
	return best;
}

unsigned
relays_nearer(const struct relays *r, unsigned i, int64_t now_ms)
{
	unsigned best = relays_best(r, now_ms);

	return !has_failed(&r->item[best], now_ms) &&
		distance(&r->item[best]) < distance(&r->item[i])
	    ? best
	    : r->n;
}
