/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where both files go on as before, nothing is searched for.  Where they differ, the new file goes
 * on in the old one either as far on as before (bytes were changed), or where the next block is
 * that the old file has once only (bytes were put in, or taken out): rows of tables are much alike,
 * but each begins with the GUID of its switch.
 */
#include "core/standby/diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/vec.h"

#define BLOCK 64	  /* bytes that are looked up */
#define SAME 8		  /* so many as far on as before are worth a copy */
#define AHEAD (64u << 10) /* how far two ways to go on are compared */
#define CHUNK 256
#define TWICE (UINT32_C(1) << 31) /* the block is not the only one with these bytes */
#define NUMBER_MAX 10		  /* bytes of a number */

struct bytes {
	const uint8_t *at;
	size_t n;
};

struct maker {
	struct bytes old, now;
	uint32_t
	    *blocks; /* of the old file, by hash: number + 1, with TWICE; NULL: not looked at */
	size_t mask;
	struct diff *out;
	size_t most, at_old; /* the old file is read up to there */
};

/* The new file from `at` on is n bytes of the old one from `old` on. */
struct match {
	size_t old, at, n;
};

/* ----------------------------------------------------------------------- search */

/* So many bytes are the same from there on, `most` at most. */
static size_t
same_bytes(const struct maker *m, size_t old, size_t at, size_t most)
{
	const uint8_t *a = m->old.at + old, *b = m->now.at + at;
	size_t n = 0;

	most = most < m->old.n - old ? most : m->old.n - old;
	most = most < m->now.n - at ? most : m->now.n - at;
	while (n + CHUNK <= most && memcmp(a + n, b + n, CHUNK) == 0)
		n += CHUNK;
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* The place of a block with these bytes, or where it would be put. */
static uint32_t *
find_block(const struct maker *m, const uint8_t *bytes)
{
	size_t i = fm_hash_bytes(0, bytes, BLOCK) & m->mask;

	while (m->blocks[i] != 0 &&
	    memcmp(m->old.at + (size_t)((m->blocks[i] & ~TWICE) - 1) * BLOCK, bytes, BLOCK) != 0)
		i = (i + 1) & m->mask;
	return &m->blocks[i];
}

static bool
look_at_blocks(struct maker *m)
{
	uint32_t n = (uint32_t)(m->old.n / BLOCK);

	m->mask = 1;
	while (m->mask < 2 * (size_t)n)
		m->mask *= 2;
	m->mask--;
	m->blocks = calloc(m->mask + 1, sizeof(*m->blocks));
	for (uint32_t i = 0; m->blocks != NULL && i < n; i++) {
		uint32_t *block = find_block(m, m->old.at + (size_t)i * BLOCK);

		*block = *block == 0 ? i + 1 : *block | TWICE;
	}
	return m->blocks != NULL;
}

/* Does the old file have the block at `at` of the new one, once? */
static bool
is_once(const struct maker *m, size_t at, size_t *old)
{
	uint32_t block;

	if (m->now.n - at < BLOCK)
		return false;
	block = *find_block(m, m->now.at + at);
	if (block == 0 || (block & TWICE) != 0)
		return false;
	*old = (size_t)(block - 1) * BLOCK;
	return true;
}

/* It goes on by this way from `from` on at the earliest, if by that more is the same. */
static void
consider(const struct maker *m, size_t from, size_t old, size_t at, struct match *best)
{
	size_t n;

	if (at < from) {
		old += from - at;
		at = from;
	}
	for (; at > from && old > 0 && m->old.at[old - 1] == m->now.at[at - 1]; old--)
		at--;
	n = same_bytes(m, old, at, AHEAD);
	if (n > best->n)
		*best = (struct match){ old, at, n };
}

/* As far on as before, where bytes have been changed; n 0: not soon. */
static struct match
goes_on_as_before(const struct maker *m, size_t old, size_t from)
{
	struct match match = { .at = m->now.n };

	for (size_t k = 0; k < BLOCK && old + k <= m->old.n && from + k < m->now.n; k++)
		if (same_bytes(m, old + k, from + k, SAME) == SAME) {
			consider(m, from, old + k, from + k, &match);
			break;
		}
	return match;
}

/* Where the new file, which differs at `from` from the old one at as_before, goes on in it; n 0:
 * nowhere, or so late that it is not worth it.  A block that holds what has changed may begin
 * before. */
static struct match
goes_on(struct maker *m, size_t as_before, size_t from)
{
	struct match best = goes_on_as_before(m, as_before, from);
	size_t k = from < BLOCK ? 0 : from - BLOCK + 1, end = from + m->most, old;

	if (best.n == AHEAD || (best.n > 0 && best.at + best.n == m->now.n) ||
	    (m->blocks == NULL && !look_at_blocks(m)))
		return best;
	for (; k < m->now.n && k < end && (best.n == 0 || k < from + BLOCK); k++)
		if (is_once(m, k, &old))
			consider(m, from, old, k, &best);
	return best;
}

/* ------------------------------------------------------------------------ write */

static bool
put_number(struct diff *out, uint64_t v)
{
	bool ok;

	for (ok = true; ok && v >= 0x80; v >>= 7) {
		uint8_t low = (uint8_t)(v | 0x80);

		ok = fm_vec_push(out, low);
	}
	return ok && fm_vec_push(out, (uint8_t)v);
}

/* Skip to old, copy n_copy bytes, then these. */
static bool
put_step(struct maker *m, size_t old, size_t n_copy, size_t at, size_t n)
{
	struct diff *out = m->out;
	uint64_t skip = old >= m->at_old ? (uint64_t)(old - m->at_old) << 1
					 : (uint64_t)(m->at_old - old) << 1 | 1;

	m->at_old = old + n_copy + n;
	return out->n + n <= m->most && put_number(out, skip) && put_number(out, n_copy) &&
	    put_number(out, n) && fm_vec_append(out, m->now.at + at, n) && out->n <= m->most;
}

static bool
put_steps(struct maker *m)
{
	struct match now = { 0 }, next;
	bool ok = true;

	for (size_t at = 0; ok && at < m->now.n; at = next.at) {
		now.n = same_bytes(m, now.old, at, SIZE_MAX);
		at += now.n;
		next = (struct match){ .at = m->now.n };
		if (at < m->now.n)
			next = goes_on(m, now.old + now.n, at);
		ok = put_step(m, now.old, now.n, at, next.at - at);
		now = next;
	}
	return ok;
}

bool
diff_make(const uint8_t *old, size_t n_old, const uint8_t *now, size_t n_now, size_t most,
    struct diff *out)
{
	struct maker m = { { old, n_old }, { now, n_now }, .most = most, .out = out };
	bool ok;

	*out = (struct diff){ 0 };
	ok = n_now / 2 <= n_old && put_number(out, fm_hash_bytes(0, now, n_now)) &&
	    put_number(out, n_now) && put_steps(&m);
	free(m.blocks);
	if (!ok)
		fm_vec_fini(out);
	return ok;
}

/* ------------------------------------------------------------------------ apply */

static bool
get_number(struct bytes *in, uint64_t *v)
{
	uint8_t byte = 0x80;

	*v = 0;
	for (unsigned i = 0; i < NUMBER_MAX && in->n > 0 && (byte & 0x80) != 0; i++) {
		byte = *in->at++;
		in->n--;
		*v |= (uint64_t)(byte & 0x7f) << (7 * i);
	}
	return (byte & 0x80) == 0;
}

/* A step; n bytes of the new file have been made.  NULL: it is good; else what is wrong. */
static const char *
take_step(
    const struct bytes *old, size_t *at_old, struct bytes *in, const struct bytes *now, size_t *n)
{
	uint64_t skip, n_copy, n_new;
	bool ok = get_number(in, &skip) && get_number(in, &n_copy) && get_number(in, &n_new);
	uint8_t *to = (uint8_t *)(uintptr_t)now->at + *n;

	if (!ok || n_new > in->n)
		return "ends within a step";
	if ((skip & 1) != 0 ? skip >> 1 > *at_old : skip >> 1 > old->n)
		return "copies from beyond the file";
	*at_old = (skip & 1) != 0 ? *at_old - (size_t)(skip >> 1) : *at_old + (size_t)(skip >> 1);
	if (n_copy > 0 && (*at_old > old->n || n_copy > old->n - *at_old))
		return "copies from beyond the file";
	if (n_copy > now->n - *n || n_new > now->n - *n - n_copy)
		return "makes more than it says";
	if (n_copy + n_new == 0)
		return "has a step that makes nothing";
	if (n_copy > 0)
		memcpy(to, old->at + *at_old, (size_t)n_copy);
	if (n_new > 0)
		memcpy(to + n_copy, in->at, (size_t)n_new);
	in->at += n_new;
	in->n -= (size_t)n_new;
	*n += (size_t)(n_copy + n_new);
	*at_old += (size_t)(n_copy + n_new);
	return NULL;
}

int
diff_apply(const uint8_t *old, size_t n_old, const uint8_t *diff, size_t n, uint8_t **out,
    size_t *n_out, struct fm_error *err)
{
	struct bytes was = { old, n_old }, in = { diff, n }, now;
	const char *wrong = NULL;
	size_t at_old = 0, made = 0;
	uint64_t sum, length;
	uint8_t *to;

	*out = NULL;
	if (!get_number(&in, &sum) || !get_number(&in, &length) || length > 2 * n_old + n)
		return fm_fail(err, FM_E_SYSTEM, "a difference of %zu bytes has no head", n);
	to = malloc((size_t)length + 1);
	if (to == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a file");
	now = (struct bytes){ to, (size_t)length };
	while (wrong == NULL && in.n > 0)
		wrong = take_step(&was, &at_old, &in, &now, &made);
	if (wrong == NULL && (made != length || fm_hash_bytes(0, to, made) != sum))
		wrong = "is to another file than is here";
	if (wrong != NULL) {
		free(to);
		return fm_fail(err, FM_E_SYSTEM, "a difference of %zu bytes %s", n, wrong);
	}
	*out = to;
	*n_out = made;
	return 0;
}
