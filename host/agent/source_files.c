/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/source_files.c - blobs from a folder (core/blobs/manifest.h).
 *
 * The manifest is looked at as often as the agent waits; blobs that it names as before are not
 * read again.  A blob that is missing, or whose bytes are not what its name tells, fails: the
 * publisher has gone on meanwhile, or the folder is spoilt.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/blobs/manifest.h"
#include "host/agent/source.h"

struct folder {
	char path[4000], manifest[4096];
	struct manifest now, last; /* what is to be had, and what the replica has */
	struct stat seen;	   /* of the manifest, before it was read */
	int watch;		   /* of inotify, -1: none */
};

static void
folder_close(void *source)
{
	struct folder *f = source;

	if (f == NULL)
		return;
	if (f->watch >= 0)
		close(f->watch);
	manifest_fini(&f->now);
	manifest_fini(&f->last);
	free(f);
}

static int
folder_open(const char *where, const struct relay_login *login, void **source, struct fm_error *err)
{
	struct folder *f = calloc(1, sizeof(*f));

	(void)login; /* who may read a folder may read it */
	if (f == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", where);
	snprintf(f->path, sizeof(f->path), "%s", where);
	snprintf(f->manifest, sizeof(f->manifest), "%s/manifest", f->path);
	f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (f->watch >= 0)
		inotify_add_watch(f->watch, where, IN_MOVED_TO);
	*source = f;
	return 0;
}

/* Blobs of leaves, or all others. */
static int
fetch_blobs(struct folder *f, struct replica *r, bool of_leaves, struct fm_error *err)
{
	uint64_t number;
	enum blob_kind kind;
	uint8_t *bytes;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->now.blob.n; i++) {
		const struct manifest_blob *b = &f->now.blob.item[i],
					   *had = manifest_find(&f->last, b->key);

		if (!blob_key_parse(b->key, &kind, &number) || blob_is_of_leaf(kind) != of_leaves ||
		    (of_leaves
			    ? !replica_wants(r, kind, number, had == NULL || had->hash != b->hash)
			    : had != NULL && had->hash == b->hash && had->n_bytes == b->n_bytes))
			continue;
		rc = manifest_blob_read(f->path, b, &bytes, err);
		if (rc == 0 && !replica_put(r, kind, number, bytes, b->n_bytes))
			rc = fm_fail(err, FM_E_RESOURCE, "no room for %s", b->key);
		free(bytes);
	}
	return rc;
}

static int
folder_fetch(void *source, struct replica *r, bool *whole, struct fm_error *err)
{
	struct folder *f = source;
	bool changed;
	int rc;

	if (stat(f->manifest, &f->seen) != 0)
		memset(&f->seen, 0, sizeof(f->seen));
	rc = manifest_read(f->manifest, &f->now, err);
	changed = rc == 0 && (f->now.term != r->at.term || f->now.epoch != r->at.epoch);
	*whole = changed && f->last.blob.n == 0;
	if (!changed)
		return rc;
	rc = fetch_blobs(f, r, false, err);
	if (rc == 0 && !replica_find_rows(r))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for rows");
	if (rc == 0)
		rc = fetch_blobs(f, r, true, err);
	manifest_fini(&f->last);
	if (rc == 0) {
		r->at = (struct paths_epoch){ f->now.term, f->now.epoch };
		f->last = f->now;
		memset(&f->now, 0, sizeof(f->now));
	}
	return rc;
}

static bool
is_newer(const struct folder *f)
{
	struct stat st;

	return stat(f->manifest, &st) == 0 &&
	    (st.st_ino != f->seen.st_ino || st.st_mtim.tv_sec != f->seen.st_mtim.tv_sec ||
		st.st_mtim.tv_nsec != f->seen.st_mtim.tv_nsec);
}

/* The kernel tells of no change that another host has made: that is found when the wait is over. */
static int
folder_wait(void *source, const struct replica *r, unsigned ms, const struct source_watch *watch,
    struct fm_error *err)
{
	struct folder *f = source;
	struct pollfd fd = { .fd = f->watch, .events = POLLIN };
	unsigned part = watch != NULL && watch->every_ms < ms ? watch->every_ms : ms;
	char events[4096];
	int rc = 0;

	(void)r;
	for (unsigned done = 0; rc == 0 && done < ms && !is_newer(f); done += part) {
		if (poll(&fd, 1, (int)part) > 0) {
			(void)!read(f->watch, events, sizeof(events));
			return 0;
		}
		rc = watch != NULL ? watch->look(watch->arg, err) : 0;
	}
	return rc;
}

static int
folder_show(void *source, uint64_t port_guid, struct paths_epoch at, struct fm_error *err)
{
	(void)source;
	(void)port_guid;
	(void)at;
	(void)err;
	return 0; /* nobody looks */
}

const struct source_ops source_files = { .open = folder_open,
	.close = folder_close,
	.fetch = folder_fetch,
	.wait = folder_wait,
	.show = folder_show };
