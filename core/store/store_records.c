/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records by key.  Each value ends with a sum of key and value, so that a record that
 * is torn or not ours is known before anybody reads it.
 */
#include <errno.h>
#include <string.h>

#include "core/store/store_internal.h"
#include "lib/log.h"

#define SUM_BYTES 8
#define VALUE_MAX 512

static uint64_t
sum_of(const struct store_record *r)
{
	return fm_hash_bytes(fm_hash_bytes(0, r->key, r->n_key), r->value, r->n_value);
}

static bool
is_whole(struct store_record *r)
{
	uint64_t sum;

	if (r->n_value < SUM_BYTES)
		return false;
	r->n_value -= SUM_BYTES;
	memcpy(&sum, (const uint8_t *)r->value + r->n_value, SUM_BYTES);
	return sum == sum_of(r);
}

static int
read_all(struct store *s, MDB_txn *txn, store_visit visit, void *arg, uint32_t *n_aside)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, s->records_db, &cursor);

	if (rc != 0)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		struct store_record r = { key.mv_data, value.mv_data, key.mv_size, value.mv_size };

		if (is_whole(&r) && visit(arg, &r))
			continue;
		++*n_aside;
		if ((rc = mdb_put(txn, s->aside_db, &key, &value, 0)) != 0 ||
		    (rc = mdb_cursor_del(cursor, 0)) != 0)
			break;
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int
store_each(struct store *s, store_visit visit, void *arg, uint32_t *n_aside, struct fm_error *err)
{
	MDB_txn *txn;
	int rc;

	*n_aside = 0;
	if (s->env == NULL)
		return 0;
	rc = store_begin(s, &txn);
	if (rc == 0)
		rc = store_end(s, txn, read_all(s, txn, visit, arg, n_aside));
	if (rc != 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot read the store: %s", mdb_strerror(rc));
	if (*n_aside > 0)
		log_warn("store",
		    "%u records are damaged or not ours: they are set aside in the store's "
		    "database \"aside\"",
		    *n_aside);
	return 0;
}

static int
put_one(struct store *s, MDB_txn *txn, const struct store_record *r)
{
	uint8_t bytes[VALUE_MAX + SUM_BYTES];
	uint64_t sum = r->value != NULL ? sum_of(r) : 0;
	MDB_val key = { r->n_key, (void *)(uintptr_t)r->key };
	MDB_val value = { r->n_value + SUM_BYTES, bytes };
	int rc;

	if (r->value == NULL) {
		rc = mdb_del(txn, s->records_db, &key, NULL);
		return rc == MDB_NOTFOUND ? 0 : rc;
	}
	if (r->n_value > VALUE_MAX || r->n_key > STORE_KEY_MAX)
		return EINVAL;
	memcpy(bytes, r->value, r->n_value);
	memcpy(bytes + r->n_value, &sum, SUM_BYTES);
	return mdb_put(txn, s->records_db, &key, &value, 0);
}

static int
put_all(struct store *s, MDB_txn *txn, const struct store_record *r, uint32_t n, bool anew)
{
	int rc = anew ? mdb_drop(txn, s->records_db, 0) : 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = put_one(s, txn, &r[i]);
	return rc;
}

int
store_put(
    struct store *s, const struct store_record *r, uint32_t n, bool anew, struct fm_error *err)
{
	MDB_txn *txn = NULL;
	int rc;

	if ((n == 0 && !anew) || s->env == NULL)
		return 0;
	rc = store_begin(s, &txn);
	if (rc == 0)
		rc = put_all(s, txn, r, n, anew);
	return store_commit(s, txn, rc, "records", err);
}
