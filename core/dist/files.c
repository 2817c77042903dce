/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/files.c - blobs as files, for a folder that hosts share, or that a web server shows.
 *
 *	FOLDER/manifest		which blobs there are (core/blobs/manifest.h)
 *	FOLDER/blobs/HASH-BYTES	what they are
 *	FOLDER/lock		held while something is published
 *
 * A blob never changes, since its name tells its content; the manifest is renamed into its place.
 * So a reader sees one epoch whole.  Blobs of the manifest before are kept, for who reads it
 * still.  There are no patches: a row of which a line differs is a new file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/blobs/manifest.h"
#include "core/dist/place.h"
#include "core/text/files.h"

struct files {
	char folder[4000], manifest[4096];
	struct manifest now;	/* of the epoch that is being made, or was made last */
	struct manifest before; /* of the one before it */
	int lock;		/* -1: not held */
};

static int
cannot(struct fm_error *err, const char *what, const char *path)
{
	return fm_fail(err, FM_E_SYSTEM, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool
make_folder(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static void
files_close(void *place)
{
	struct files *f = place;

	if (f == NULL)
		return;
	if (f->lock >= 0)
		close(f->lock);
	manifest_fini(&f->now);
	manifest_fini(&f->before);
	free(f);
}

static int
files_open(const struct place_at *at, void **place, struct fm_error *err)
{
	const char *where = at->where;
	struct files *f = calloc(1, sizeof(*f));
	char path[4096];
	int rc = 0;

	if (f == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", where);
	f->lock = -1;
	snprintf(f->folder, sizeof(f->folder), "%s", where);
	snprintf(f->manifest, sizeof(f->manifest), "%s/manifest", f->folder);
	snprintf(path, sizeof(path), "%s/blobs", f->folder);
	if (!make_folder(where))
		rc = cannot(err, "make the folder", where);
	else if (!make_folder(path))
		rc = cannot(err, "make the folder", path);
	if (rc == 0)
		*place = f;
	else
		files_close(f);
	return rc;
}

/* ------------------------------------------------------------------ loading */

/* A blob that cannot be read is told anew, as if it had never been. */
static int
files_load(void *place, struct place_epoch *at, place_each each, void *arg, struct fm_error *err)
{
	struct files *f = place;
	int rc = manifest_read(f->manifest, &f->now, err);

	*at = (struct place_epoch){ f->now.term, f->now.epoch };
	for (size_t i = 0; rc == 0 && i < f->now.blob.n; i++) {
		const struct manifest_blob *b = &f->now.blob.item[i];
		uint8_t *bytes;

		if (manifest_blob_read(f->folder, b, &bytes, NULL) == 0)
			rc = each(arg, b->key, bytes, b->n_bytes, err);
		free(bytes);
	}
	return rc;
}

static int
files_check(void *place, struct place_epoch at, struct fm_error *err)
{
	struct files *f = place;
	struct manifest now = { 0 };
	int rc = manifest_read(f->manifest, &now, err);

	if (rc == 0 && (now.term != at.term || now.epoch != at.epoch))
		rc = fm_fail(err, FM_E_SYSTEM,
		    "%s has term %" PRIu64 ", epoch %" PRIu64
		    ", which is not what was published last",
		    f->manifest, now.term, now.epoch);
	manifest_fini(&now);
	return rc;
}

/* ------------------------------------------------------------------- telling */

static int
take_lock(struct files *f, struct fm_error *err)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/lock", f->folder);
	if (f->lock < 0)
		f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* who can open it can hold it; one of before was open to all */
	if (f->lock < 0 || fchmod(f->lock, 0600) != 0 || flock(f->lock, LOCK_EX | LOCK_NB) != 0)
		return cannot(err, "lock", path);
	return 0;
}

static bool
copy_manifest(struct manifest *to, const struct manifest *from)
{
	bool ok = true;

	manifest_fini(to);
	to->term = from->term;
	to->epoch = from->epoch;
	for (size_t i = 0; ok && i < from->blob.n; i++)
		ok = manifest_set(to, from->blob.item[i].key, from->blob.item[i].n_bytes,
		    from->blob.item[i].hash);
	return ok;
}

static int
files_begin(void *place, struct place_epoch was, struct place_epoch now, struct fm_error *err)
{
	struct files *f = place;
	int rc = take_lock(f, err);

	if (rc == 0)
		rc = manifest_read(f->manifest, &f->now, err);
	if (rc == 0 && (f->now.term != was.term || f->now.epoch != was.epoch))
		rc = fm_fail(err, FM_E_CANCELLED,
		    "%s: another SM has published term %" PRIu64 ", epoch %" PRIu64, f->manifest,
		    f->now.term, f->now.epoch);
	if (rc == 0 && !copy_manifest(&f->before, &f->now))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for %s", f->manifest);
	f->now.term = now.term;
	f->now.epoch = now.epoch;
	return rc;
}

static bool
write_all(int fd, const uint8_t *bytes, size_t n)
{
	for (ssize_t done; n > 0; bytes += done, n -= (size_t)done)
		if ((done = write(fd, bytes, n)) <= 0)
			return false;
	return true;
}

static int
files_blob(void *place, const char *key, const void *bytes, size_t n, struct fm_error *err)
{
	struct files *f = place;
	struct manifest_blob b = { .n_bytes = n, .hash = manifest_hash(bytes, n) };
	uint8_t *there;
	char path[4200];
	bool whole;
	int fd;

	manifest_blob_path(f->folder, &b, path, sizeof(path));
	if (manifest_blob_read(f->folder, &b, &there, NULL) != 0) {
		fd = fm_file_new(path, 0644);
		if (fd < 0)
			return cannot(err, "write", path);
		whole = write_all(fd, bytes, n);
		whole = close(fd) == 0 && whole;
		if (!fm_file_done(path, whole))
			return cannot(err, "write", path);
	}
	free(there);
	return manifest_set(&f->now, key, n, b.hash)
	    ? 0
	    : fm_fail(err, FM_E_RESOURCE, "out of memory for %s", f->manifest);
}

static bool
remember_names(const struct manifest *m, struct fm_hash *names)
{
	for (size_t i = 0; i < m->blob.n; i++)
		if (!fm_hash_put(names, m->blob.item[i].hash, 1))
			return false;
	return true;
}

/* Blobs that neither of the last two manifests names; files of others stay.  What cannot be
 * removed stays, too. */
static void
remove_old(const struct files *f)
{
	struct fm_hash names = { 0 };
	const struct dirent *e;
	char path[4400];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/blobs", f->folder);
	dir = opendir(path);
	if (dir != NULL && remember_names(&f->now, &names) && remember_names(&f->before, &names))
		while ((e = readdir(dir)) != NULL) {
			struct manifest_blob b;

			if (!manifest_blob_name_parse(e->d_name, &b) ||
			    fm_hash_find(&names, b.hash) != FM_HASH_NONE)
				continue;
			unlinkat(dirfd(dir), e->d_name, 0);
		}
	if (dir != NULL)
		closedir(dir);
	fm_hash_fini(&names);
}

static int
files_commit(void *place, const struct place_changes *changes, struct fm_error *err)
{
	struct files *f = place;
	int rc = manifest_write(f->manifest, &f->now, err);

	(void)changes; /* readers compare hashes */
	if (rc == 0)
		remove_old(f);
	flock(f->lock, LOCK_UN);
	return rc;
}

const struct place_ops place_files = { .kind = "files",
	.open = files_open,
	.close = files_close,
	.load = files_load,
	.check = files_check,
	.begin = files_begin,
	.blob = files_blob,
	.commit = files_commit };
