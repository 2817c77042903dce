/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/store/store.c - LIDs in LMDB.
 *
 *	database "lids": key = port GUID, 8 bytes, most significant first;
 *	value = base LID, 2 bytes likewise, then the LMC, 1 byte
 *	database "marks": keys "settings", "m_key" and "untold", value = 8 bytes likewise
 *	database "records", and those of it found damaged, "aside": store_records.c
 *
 * Byte order is fixed by shifts, so that a store can be carried to another
 * machine.  LMDB commits whole transactions; a crash loses none that was
 * committed and tears none.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/store/store_internal.h"
#include "core/text/files.h"
#include "lib/bitset.h"
#include "lib/faultpoint.h"
#include "lib/log.h"

#define GUID_BYTES 8
#define LID_BYTES 3
#define LID_MAX 0xbfff /* IBA 4.1.3: unicast */
#define LMC_MAX 7
#define MARK_BYTES 8
#define SETTINGS_KEY "settings"
#define M_KEY_KEY "m_key"
#define UNTOLD_KEY "untold"
#define ASIDE_MAX 100 /* files set aside, by number */
#define READ_TRIES 3  /* of a file that another process may write to meanwhile */

static bool
remember(struct store *s, const struct store_lid *l)
{
	uint32_t i = fm_hash_find(&s->by_guid, l->guid);

	if (i != FM_HASH_NONE) {
		s->n_lid_changes += s->lids.item[i].lid != l->lid || s->lids.item[i].lmc != l->lmc;
		s->lids.item[i] = *l;
		return true;
	}
	s->n_lid_changes++;
	return fm_vec_push(&s->lids, *l) &&
	    fm_hash_put(&s->by_guid, l->guid, (uint32_t)s->lids.n - 1);
}

/* What a bit that tipped over makes of them would reach arrays by LID and by LMC. */
static bool
is_sound(const struct store_lid *l)
{
	return l->guid != 0 && l->lid != 0 && l->lmc <= LMC_MAX &&
	    l->lid + (1u << l->lmc) - 1 <= LID_MAX;
}

static int
load_lids(struct store *s, MDB_txn *txn)
{
	uint32_t n_unsound = 0;
	MDB_cursor *cursor;
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, s->lids_db, &cursor);

	if (rc != 0)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		struct store_lid l = { 0 };
		const uint8_t *k = key.mv_data, *v = value.mv_data;

		if (key.mv_size != GUID_BYTES || value.mv_size != LID_BYTES)
			continue; /* written by a later version */
		l.guid = store_get_number(k);
		l.lid = (uint16_t)(v[0] << 8 | v[1]);
		l.lmc = v[2];
		if (!is_sound(&l)) {
			n_unsound++;
			continue;
		}
		if (!remember(s, &l)) {
			rc = ENOMEM;
			break;
		}
	}
	mdb_cursor_close(cursor);
	if (n_unsound > 0)
		log_warn("store", "%u kept LIDs are none: they are passed over", n_unsound);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* *out stays as it is when there is none. */
static int
load_mark(struct store *s, MDB_txn *txn, const char *name, uint64_t *out)
{
	MDB_val key = { strlen(name), (void *)(uintptr_t)name }, value;
	int rc = mdb_get(txn, s->marks_db, &key, &value);

	if (rc == 0 && value.mv_size == MARK_BYTES)
		*out = store_get_number(value.mv_data);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int
load(struct store *s, MDB_txn *txn, unsigned create)
{
	int rc;

	if ((rc = mdb_dbi_open(txn, "lids", create, &s->lids_db)) != 0 ||
	    (rc = mdb_dbi_open(txn, "marks", create, &s->marks_db)) != 0 ||
	    (rc = load_lids(s, txn)) != 0 ||
	    (rc = load_mark(s, txn, SETTINGS_KEY, &s->mark)) != 0 ||
	    (rc = load_mark(s, txn, M_KEY_KEY, &s->m_key)) != 0)
		return rc;
	return load_mark(s, txn, UNTOLD_KEY, &s->untold);
}

static int
open_databases(struct store *s, MDB_txn *txn)
{
	int rc;

	if (s->reads_only) {
		rc = load(s, txn, 0);
		return rc == MDB_NOTFOUND ? 0 : rc; /* begun, and nothing was put in yet */
	}
	if ((rc = load(s, txn, MDB_CREATE)) != 0 ||
	    (rc = mdb_dbi_open(txn, "records", MDB_CREATE, &s->records_db)) != 0)
		return rc;
	return mdb_dbi_open(txn, "aside", MDB_CREATE, &s->aside_db);
}

int
store_begin(struct store *s, MDB_txn **txn)
{
	int rc;

	pthread_mutex_lock(&s->one_txn);
	rc = mdb_txn_begin(s->env, NULL, s->reads_only ? MDB_RDONLY : 0, txn);
	if (rc != 0)
		pthread_mutex_unlock(&s->one_txn);
	return rc;
}

int
store_end(struct store *s, MDB_txn *txn, int rc)
{
	if (rc == 0)
		rc = mdb_txn_commit(txn);
	else
		mdb_txn_abort(txn);
	pthread_mutex_unlock(&s->one_txn);
	return rc;
}

int
store_commit(struct store *s, MDB_txn *txn, int rc, const char *what, struct fm_error *err)
{
	if (txn != NULL) {
		fm_fault_point("commit", what);
		rc = store_end(s, txn, rc);
		fm_fault_point("committed", what);
	}
	return rc == 0
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "cannot write to the store: %s", mdb_strerror(rc));
}

/* Without LMDB's file of locks, whose pages it maps without having room for them on the disk:
 * the directory is ours alone, and transactions take turns. */
static int
open_env(struct store *s, const char *path, unsigned flags)
{
	MDB_txn *txn;
	int rc = mdb_env_create(&s->env);

	if (rc != 0 || (rc = mdb_env_set_maxdbs(s->env, 8)) != 0 ||
	    (rc = mdb_env_set_mapsize(s->env, STORE_MAP_BYTES)) != 0 ||
	    (rc = mdb_env_open(s->env, path, flags | MDB_NOLOCK, 0640)) != 0 ||
	    (rc = store_begin(s, &txn)) != 0)
		return rc;
	return store_end(s, txn, open_databases(s, txn));
}

/* The file that is used is one that LMDB has just written, with all that could be read in the
 * old one; where the disk has no room for it, the old one, of which all could be read. */
static int
check_kept(const char *dir, const char *path)
{
	int fd = fm_file_new(path, 0640), rc = fd < 0 ? errno : 0;
	char copy[PATH_MAX + 8];

	if (fd >= 0) {
		close(fd);
		snprintf(copy, sizeof(copy), "%s.new", path);
		rc = store_check(dir, copy);
		if (!fm_file_done(path, rc == 0) && rc == 0)
			rc = errno;
	}
	return rc != 0 && fm_file_kind(rc) == FM_E_RESOURCE ? store_check(dir, NULL) : rc;
}

static int
open_kept(struct store *s, const char *dir)
{
	char path[4096];
	struct stat st;
	bool is_new;
	int rc;

	snprintf(path, sizeof(path), "%s/data.mdb", dir);
	is_new = lstat(path, &st) != 0;
	if (!is_new && (rc = check_kept(dir, path)) != 0)
		return rc;
	rc = open_env(s, dir, 0);
	if (rc != 0 && is_new)
		unlink(path); /* half a file would pass for a damaged one */
	return rc;
}

/* As often as another process may write while it is read. */
static int
check_often(const char *dir, const char *copy)
{
	int rc = MDB_CORRUPTED;

	for (int i = 0; i < READ_TRIES && rc == MDB_CORRUPTED; i++)
		rc = truncate(copy, 0) != 0 ? errno : store_check(dir, copy);
	return rc;
}

/* What is checked is what is read: a copy, since another process may write meanwhile. */
static int
open_copy(struct store *s, const char *dir)
{
	char path[40];
	int fd = memfd_create("fmd store", MFD_CLOEXEC), rc;

	if (fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = check_often(dir, path);
	if (rc == 0)
		rc = open_env(s, path, MDB_RDONLY | MDB_NOSUBDIR);
	close(fd);
	return rc;
}

/* Does LMDB say that the file, not the machine, is at fault? */
static bool
is_damage(int rc)
{
	return rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH || rc == MDB_CORRUPTED ||
	    rc == MDB_PAGE_NOTFOUND || rc == MDB_INCOMPATIBLE || rc == MDB_BAD_TXN ||
	    rc == MDB_PANIC;
}

static void
forget(struct store *s)
{
	if (s->env != NULL)
		mdb_env_close(s->env);
	s->env = NULL;
	fm_vec_fini(&s->lids);
	fm_hash_fini(&s->by_guid);
	s->mark = s->m_key = s->untold = 0;
}

/* Move data.mdb out of the way, under the first free number. */
static int
set_aside(const char *dir, int why, struct fm_error *err)
{
	char from[4096], to[4096];

	snprintf(from, sizeof(from), "%s/data.mdb", dir);
	for (int i = 1; i <= ASIDE_MAX; i++) {
		snprintf(to, sizeof(to), "%s/data.mdb.bad-%d", dir, i);
		if (access(to, F_OK) == 0)
			continue;
		if (rename(from, to) != 0)
			return fm_fail(err, FM_E_SYSTEM, "cannot rename %s, which is damaged: %s",
			    from, strerror(errno));
		log_warn("store",
		    "%s is damaged or not ours (%s): set aside as %s; LIDs are taken from the "
		    "fabric",
		    from, mdb_strerror(why), to);
		return 0;
	}
	return fm_fail(err, FM_E_SYSTEM,
	    "%s is damaged, and %d such files lie beside it already: look into it, and remove them",
	    from, ASIDE_MAX);
}

static int
no_store(const char *dir, int rc, struct fm_error *err)
{
	return fm_fail(err, fm_file_kind(rc), "cannot open the store %s/data.mdb: %s", dir,
	    rc == ELOOP ? fm_file_why(rc) : mdb_strerror(rc));
}

static int
open_or_renew(struct store *s, const char *dir, struct fm_error *err)
{
	int rc = open_kept(s, dir);

	if (is_damage(rc)) {
		forget(s);
		rc = set_aside(dir, rc, err);
		if (rc != 0)
			return rc;
		rc = open_kept(s, dir);
	}
	return rc == 0 ? 0 : no_store(dir, rc, err);
}

/* Nothing is begun, and what is damaged stays where it is. */
static int
open_to_read(struct store *s, const char *dir, struct fm_error *err)
{
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/data.mdb", dir);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	rc = open_copy(s, dir);
	if (!is_damage(rc))
		return rc == 0 ? 0 : no_store(dir, rc, err);
	forget(s);
	log_warn("store", "%s is damaged or not ours (%s): LIDs are taken from the fabric", path,
	    mdb_strerror(rc));
	return 0;
}

/* Why there is no state directory and none can be made. */
static int
no_directory(const char *dir, int error, struct fm_error *err)
{
	char copy[PATH_MAX];
	const char *parent;

	snprintf(copy, sizeof(copy), "%s", dir);
	parent = dirname(copy);
	if (error == ENOENT && access(parent, F_OK) != 0)
		return fm_fail(err, FM_E_SYSTEM,
		    "cannot make the state directory %.80s: there is no %.80s to make it in; "
		    "--state-dir=DIR names another",
		    dir, parent);
	return fm_fail(err, fm_file_kind(error), "cannot make the state directory %s: %s", dir,
	    strerror(error));
}

static struct store *
new_store(bool reads_only, struct fm_error *err)
{
	struct fm_arena mem;
	struct store *s;

	fm_arena_init(&mem, SIZE_MAX);
	s = fm_arena_alloc(&mem, sizeof(*s));
	if (s == NULL) {
		fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
		return NULL;
	}
	s->mem = mem;
	s->reads_only = reads_only;
	s->lock_fd = -1;
	pthread_mutex_init(&s->one_txn, NULL);
	return s;
}

static int
open_in(struct store *s, const char *dir, struct fm_error *err)
{
	struct stat st;
	int rc;

	if (mkdir(dir, 0750) != 0 && errno != EEXIST)
		return no_directory(dir, errno, err);
	if (stat(dir, &st) == 0 && (st.st_mode & S_IWOTH) != 0)
		log_warn("store",
		    "anybody can write into the state directory %s, and decide on LIDs: chmod o-w "
		    "%s",
		    dir, dir);
	if ((rc = store_lock(s, dir, err)) == 0 && (rc = open_or_renew(s, dir, err)) == 0)
		store_pending_open(s, dir);
	return rc;
}

int
store_open(const char *dir, struct store **out, struct fm_error *err)
{
	struct store *s = new_store(false, err);
	int rc;

	if (s == NULL)
		return (int)err->kind;
	rc = open_in(s, dir, err);
	if (rc == FM_E_RESOURCE) { /* the disk's fault: a subnet is more than its store */
		forget(s);
		snprintf(s->why_none, sizeof(s->why_none), "%s", err->msg);
		log_warn("store",
		    "%s: fmd runs without a store till it is started again, and keeps neither LIDs "
		    "nor what hosts register",
		    err->msg);
		rc = 0;
	}
	if (rc != 0)
		store_close(s);
	else
		*out = s;
	return rc;
}

const char *
store_why_none(const struct store *s)
{
	return s->why_none[0] != '\0' ? s->why_none : NULL;
}

int
store_open_to_read(const char *dir, struct store **out, struct fm_error *err)
{
	struct store *s = new_store(true, err);
	int rc;

	if (s == NULL)
		return (int)err->kind;
	rc = open_to_read(s, dir, err);
	if (rc != 0) {
		store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
store_close(struct store *s)
{
	struct fm_arena mem;

	if (s == NULL)
		return;
	store_pending_close(s);
	if (s->env != NULL)
		mdb_env_close(s->env);
	store_unlock(s);
	pthread_mutex_destroy(&s->one_txn);
	fm_vec_fini(&s->lids);
	fm_hash_fini(&s->by_guid);
	mem = s->mem;
	fm_arena_fini(&mem);
}

uint16_t
store_lid(const struct store *s, uint64_t guid)
{
	uint32_t i = s == NULL ? FM_HASH_NONE : fm_hash_find(&s->by_guid, guid);

	return i == FM_HASH_NONE ? 0 : s->lids.item[i].lid;
}

uint32_t
store_n_lids(const struct store *s)
{
	return s == NULL ? 0 : (uint32_t)s->lids.n;
}

const struct store_lid *
store_lids(const struct store *s)
{
	return s->lids.item;
}

static bool
is_kept(const struct store *s, const struct store_lid *l)
{
	uint32_t i = fm_hash_find(&s->by_guid, l->guid);

	return i != FM_HASH_NONE && s->lids.item[i].lid == l->lid && s->lids.item[i].lmc == l->lmc;
}

static int
write_lid(struct store *s, MDB_txn *txn, const struct store_lid *l)
{
	uint8_t k[GUID_BYTES], v[LID_BYTES] = { (uint8_t)(l->lid >> 8), (uint8_t)l->lid, l->lmc };
	MDB_val key = { sizeof(k), k }, value = { sizeof(v), v };

	store_put_number(k, l->guid);
	return mdb_put(txn, s->lids_db, &key, &value, 0);
}

static int
write_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err)
{
	MDB_txn *txn = NULL;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (is_kept(s, &lids[i]))
			continue;
		if (txn == NULL && (rc = store_begin(s, &txn)) != 0)
			break;
		rc = write_lid(s, txn, &lids[i]);
	}
	return store_commit(s, txn, rc, "LIDs", err);
}

static bool
is_kept_nowhere(const struct store *s)
{
	return s->reads_only || s->env == NULL;
}

int
store_put_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err)
{
	int rc = is_kept_nowhere(s) ? 0 : write_lids(s, lids, n, err);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		if (!remember(s, &lids[i]))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
	return 0;
}

/* Those that are not marked. */
static int
delete_lids(struct store *s, const uint64_t *marked, struct fm_error *err)
{
	MDB_txn *txn = NULL;
	int rc = store_begin(s, &txn);

	for (size_t i = 0; rc == 0 && i < s->lids.n; i++) {
		uint8_t k[GUID_BYTES];
		MDB_val key = { sizeof(k), k };

		store_put_number(k, s->lids.item[i].guid);
		if (!fm_bit_test(marked, i))
			rc = mdb_del(txn, s->lids_db, &key, NULL);
	}
	return store_commit(s, txn, rc, "LIDs", err);
}

static void
forget_lids(struct store *s, const uint64_t *marked)
{
	size_t n = 0;

	for (size_t i = 0; i < s->lids.n; i++) {
		const struct store_lid l = s->lids.item[i];

		if (!fm_bit_test(marked, i)) {
			fm_hash_remove(&s->by_guid, l.guid);
			s->n_lid_changes++;
			continue;
		}
		fm_hash_put(&s->by_guid, l.guid, (uint32_t)n); /* it has room there */
		s->lids.item[n++] = l;
	}
	s->lids.n = n;
}

int
store_set_lids(struct store *s, const struct store_lid *lids, uint32_t n, struct fm_error *err)
{
	uint64_t *marked = calloc(FM_BITSET_WORDS(s->lids.n) + 1, sizeof(*marked));
	int rc = 0;

	if (marked == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = fm_hash_find(&s->by_guid, lids[i].guid);

		if (k != FM_HASH_NONE)
			fm_bit_set(marked, k);
	}
	if (fm_bit_count(marked, s->lids.n) < s->lids.n) {
		rc = is_kept_nowhere(s) ? 0 : delete_lids(s, marked, err);
		if (rc == 0)
			forget_lids(s, marked);
	}
	free(marked);
	return rc != 0 ? rc : store_put_lids(s, lids, n, err);
}

uint64_t
store_n_lid_changes(const struct store *s)
{
	return s->n_lid_changes;
}

uint64_t
store_mark(const struct store *s)
{
	return s->mark;
}

static int
put_mark(struct store *s, const char *name, uint64_t *kept, uint64_t mark, struct fm_error *err)
{
	uint8_t bytes[MARK_BYTES];
	MDB_val key = { strlen(name), (void *)(uintptr_t)name };
	MDB_val value = { sizeof(bytes), bytes };
	MDB_txn *txn = NULL;
	int rc = 0;

	if (*kept == mark)
		return 0;
	store_put_number(bytes, mark);
	if (!is_kept_nowhere(s) && (rc = store_begin(s, &txn)) == 0)
		rc = mdb_put(txn, s->marks_db, &key, &value, 0);
	rc = store_commit(s, txn, rc, name, err);
	if (rc == 0)
		*kept = mark;
	return rc;
}

int
store_put_mark(struct store *s, uint64_t mark, struct fm_error *err)
{
	return put_mark(s, SETTINGS_KEY, &s->mark, mark, err);
}

uint64_t
store_m_key(const struct store *s)
{
	return s != NULL ? s->m_key : 0;
}

int
store_put_m_key(struct store *s, uint64_t m_key, struct fm_error *err)
{
	return put_mark(s, M_KEY_KEY, &s->m_key, m_key, err);
}

bool
store_untold(const struct store *s)
{
	return s != NULL && s->untold != 0;
}

int
store_put_untold(struct store *s, bool untold, struct fm_error *err)
{
	return put_mark(s, UNTOLD_KEY, &s->untold, untold, err);
}
