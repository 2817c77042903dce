/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/published.c - a row is told line by line while that is less than a quarter of it;
 * O(bytes of the blob) compared.
 */
#include "core/dist/published.h"

#include <inttypes.h>
#include <stdlib.h>

#include <fmd/engine.h>

#include "lib/bitset.h"

#define LINE_BYTES 64

void
pub_init(struct published *p, const struct place_ops *ops)
{
	memset(p, 0, sizeof(*p));
	p->ops = ops;
}

static void
forget(struct published *p)
{
	for (int k = 0; k < BLOB_PORT; k++)
		free(p->one[k].bytes);
	for (unsigned b = 0; b < PLACE_BLOCKS; b++) {
		free(p->port[b].bytes);
		free(p->name[b].bytes);
	}
	for (size_t i = 0; i < p->row.n; i++)
		free(p->row.item[i].bytes);
	for (size_t i = 0; i < p->hops.n; i++)
		free(p->hops.item[i].bytes);
	memset(p->one, 0, sizeof(p->one));
	memset(p->port, 0, sizeof(p->port));
	memset(p->name, 0, sizeof(p->name));
	fm_vec_fini(&p->row);
	fm_vec_fini(&p->hops);
	fm_vec_fini(&p->leaf_guid);
	fm_hash_fini(&p->leaf);
	memset(&p->leaf, 0, sizeof(p->leaf));
	memset(&p->changes, 0, sizeof(p->changes));
	p->begun = false;
}

void
pub_fini(struct published *p)
{
	forget(p);
}

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for what is published");
}

static bool
blob_set(struct pub_blob *b, const void *bytes, size_t n)
{
	uint8_t *copy = malloc(n + 1);

	if (copy == NULL)
		return false;
	if (n > 0)
		memcpy(copy, bytes, n);
	free(b->bytes);
	*b = (struct pub_blob){ copy, n };
	return true;
}

uint32_t
pub_leaf(struct published *p, uint64_t guid)
{
	uint32_t at = fm_hash_find(&p->leaf, guid);
	struct pub_blob none = { 0 };

	if (at != FM_HASH_NONE)
		return at;
	at = (uint32_t)p->row.n;
	if (at >= BLOB_NO_LEAF || !fm_hash_put(&p->leaf, guid, at) ||
	    !fm_vec_push(&p->leaf_guid, guid))
		return FM_NONE;
	if (!fm_vec_push(&p->row, none) || !fm_vec_push(&p->hops, none))
		return FM_NONE;
	return at;
}

/* Leaves by the blob that names them.  Where it names one twice, all is told anew. */
static int
know_leaves(struct published *p, struct fm_error *err)
{
	const struct pub_blob *leaf = &p->one[BLOB_LEAF];

	for (size_t i = 0; i < leaf->n / 8; i++) {
		uint32_t at = pub_leaf(p, blob_get64(leaf->bytes + 8 * i));

		if (at == FM_NONE)
			return no_memory(err);
		if (at != i) {
			forget(p);
			return 0;
		}
	}
	return 0;
}

/* Where the copy of a blob is; NULL: of a leaf that nothing names. */
static struct pub_blob *
copy_of(struct published *p, enum blob_kind kind, uint64_t number)
{
	uint32_t leaf;

	switch (kind) {
	case BLOB_PORT:
		return number < PLACE_BLOCKS ? &p->port[number] : NULL;
	case BLOB_NAME:
		return number < PLACE_BLOCKS ? &p->name[number] : NULL;
	case BLOB_ROW:
	case BLOB_HOPS:
		leaf = fm_hash_find(&p->leaf, number);
		if (leaf == FM_HASH_NONE)
			return NULL;
		return kind == BLOB_ROW ? &p->row.item[leaf] : &p->hops.item[leaf];
	default:
		return kind < BLOB_PORT ? &p->one[kind] : NULL;
	}
}

/* ----------------------------------------------------------------- loading */

struct loading {
	struct published *p;
	bool leaves;
};

/* The leaves are known after the first round, what is of them is loaded in the second. */
static int
on_blob(void *arg, const char *key, const void *bytes, size_t n, struct fm_error *err)
{
	struct loading *l = arg;
	enum blob_kind kind;
	struct pub_blob *copy;
	uint64_t number;

	if (!blob_key_parse(key, &kind, &number) || blob_is_of_leaf(kind) != l->leaves)
		return 0;
	copy = copy_of(l->p, kind, number);
	if (copy == NULL)
		return 0;
	return blob_set(copy, bytes, n) ? 0 : no_memory(err);
}

int
pub_load(struct published *p, void *place, struct fm_error *err)
{
	struct loading l = { .p = p };
	struct blob_subnet subnet;
	int rc;

	forget(p);
	p->place = place;
	rc = p->ops->load(place, &p->at, on_blob, &l, err);
	if (rc == 0 && p->one[BLOB_SUBNET].n > 0 &&
	    !blob_subnet_get(p->one[BLOB_SUBNET].bytes, p->one[BLOB_SUBNET].n, &subnet))
		forget(p); /* of another schema, or none: all of it is told anew */
	if (rc == 0)
		rc = know_leaves(p, err);
	l.leaves = true;
	if (rc == 0 && p->row.n > 0)
		rc = p->ops->load(place, &p->at, on_blob, &l, err);
	return rc;
}

/* ------------------------------------------------------------------ telling */

void
pub_start(struct published *p, uint64_t term)
{
	p->next = (struct place_epoch){ term, p->at.epoch + 1 };
	memset(&p->changes, 0, sizeof(p->changes));
}

static int
begin(struct published *p, struct fm_error *err)
{
	int rc = 0;

	if (!p->begun)
		rc = p->ops->begin(p->place, p->at, p->next, err);
	p->begun = rc == 0;
	return rc;
}

static void
note_change(struct published *p, enum blob_kind kind, uint64_t number)
{
	p->changes.kinds |= 1u << kind;
	if (kind == BLOB_PORT)
		fm_bit_set(p->changes.ports, number);
	else if (kind == BLOB_NAME)
		fm_bit_set(p->changes.names, number);
	else if (blob_is_of_leaf(kind))
		fm_bit_set(p->changes.leaves, fm_hash_find(&p->leaf, number));
}

static bool
line_differs(const struct pub_blob *copy, const uint8_t *bytes, size_t at, size_t n)
{
	static const uint8_t zero[LINE_BYTES];
	size_t had = copy->n > at ? copy->n - at : 0;

	if (had > n)
		had = n;
	return (had > 0 && memcmp(copy->bytes + at, bytes + at, had) != 0) ||
	    memcmp(bytes + at + had, zero, n - had) != 0;
}

static size_t
line_length(size_t n, size_t at)
{
	return n - at < LINE_BYTES ? n - at : LINE_BYTES;
}

/* Bytes in lines that differ, as bits of `lines`. */
static size_t
compare_lines(const struct pub_blob *copy, const uint8_t *bytes, size_t n, uint64_t *lines)
{
	size_t sum = 0;

	for (size_t at = 0; at < n; at += LINE_BYTES)
		if (line_differs(copy, bytes, at, line_length(n, at))) {
			fm_bit_set(lines, at / LINE_BYTES);
			sum += line_length(n, at);
		}
	return sum;
}

/* Neighbouring lines in one patch. */
static int
tell_lines(struct published *p, const char *key, const uint8_t *bytes, size_t n,
    const uint64_t *lines, struct fm_error *err)
{
	size_t n_lines = (n + LINE_BYTES - 1) / LINE_BYTES, last;
	int rc = 0;

	for (size_t i = fm_bit_next(lines, n_lines, 0); rc == 0 && i < n_lines;
	     i = fm_bit_next(lines, n_lines, last)) {
		size_t at = i * LINE_BYTES, end;

		for (last = i; last < n_lines && fm_bit_test(lines, last); last++)
			fm_bit_set(p->changes.row_blocks, last);
		end = last * LINE_BYTES < n ? last * LINE_BYTES : n;
		rc = begin(p, err);
		if (rc == 0)
			rc = p->ops->patch(p->place, key, at, bytes + at, end - at, err);
		p->n_patches++;
		p->n_bytes += end - at;
	}
	return rc;
}

static int
tell_whole(
    struct published *p, const char *key, const uint8_t *bytes, size_t n, struct fm_error *err)
{
	int rc = begin(p, err);

	p->n_blobs++;
	p->n_bytes += n;
	return rc == 0 ? p->ops->blob(p->place, key, bytes, n, err) : rc;
}

/* A copy that is longer keeps its end: LIDs behind it have gone, and may come back. */
static int
put_row(struct published *p, struct pub_blob *copy, uint64_t guid, const uint8_t *bytes, size_t n,
    struct fm_error *err)
{
	uint64_t lines[PLACE_BLOCKS / 64] = { 0 };
	char key[BLOB_KEY_BYTES];
	size_t differ = compare_lines(copy, bytes, n, lines);
	int rc;

	if (differ == 0)
		return 0;
	blob_key(key, BLOB_ROW, guid);
	note_change(p, BLOB_ROW, guid);
	if (p->ops->patch != NULL && differ < n / 4 && copy->n > 0) {
		rc = tell_lines(p, key, bytes, n, lines, err);
	} else {
		memset(p->changes.row_blocks, 0xff, sizeof(p->changes.row_blocks));
		rc = tell_whole(p, key, bytes, n, err);
	}
	if (rc == 0 && copy->n > n && differ < n / 4)
		memcpy(copy->bytes, bytes, n);
	else if (rc == 0 && !blob_set(copy, bytes, n))
		rc = no_memory(err);
	return rc;
}

int
pub_put(struct published *p, enum blob_kind kind, uint64_t number, const void *bytes, size_t n,
    struct fm_error *err)
{
	struct pub_blob *copy = copy_of(p, kind, number);
	char key[BLOB_KEY_BYTES];
	int rc = 0;

	if (copy == NULL)
		return fm_fail(err, FM_E_BUG, "a blob of kind %d, number %" PRIu64 ", has no place",
		    kind, number);
	if (n > blob_most_bytes(kind))
		return fm_fail(err, FM_E_BUG, "a blob of kind %d has %zu bytes", kind, n);
	if (kind == BLOB_ROW)
		return put_row(p, copy, number, bytes, n, err);
	if (copy->bytes != NULL ? copy->n == n && (n == 0 || memcmp(copy->bytes, bytes, n) == 0)
				: n == 0)
		return 0;
	blob_key(key, kind, number);
	note_change(p, kind, number);
	rc = tell_whole(p, key, bytes, n, err);
	if (rc == 0 && !blob_set(copy, bytes, n))
		rc = no_memory(err);
	return rc;
}

int
pub_commit(struct published *p, bool *told, struct fm_error *err)
{
	int rc = 0;

	*told = p->begun || p->next.term != p->at.term;
	if (*told)
		rc = begin(p, err);
	if (rc == 0 && *told)
		rc = p->ops->commit(p->place, &p->changes, err);
	if (rc == 0 && *told)
		p->at = p->next;
	p->begun = false;
	return rc;
}
