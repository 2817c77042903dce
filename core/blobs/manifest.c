/* SPDX-License-Identifier: BSD-2-Clause */
/* core/blobs/manifest.c - O(blobs) to read and write, O(1) to find one. */
#include "core/blobs/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/files.h"
#include "lib/lines.h"

#define NAME_BYTES 48 /* of the longest name of a blob's file */

void
manifest_fini(struct manifest *m)
{
	fm_vec_fini(&m->blob);
	fm_hash_fini(&m->by_key);
	memset(m, 0, sizeof(*m));
}

uint64_t
manifest_hash(const void *bytes, size_t n)
{
	return fm_hash_bytes(0, bytes, n);
}

static uint64_t
key_hash(const char *key)
{
	return fm_hash_bytes(1, key, strlen(key));
}

/* Keys of one hash are found one by one. */
static struct manifest_blob *
find(const struct manifest *m, const char *key)
{
	uint32_t at = fm_hash_find(&m->by_key, key_hash(key));

	if (at == FM_HASH_NONE)
		return NULL;
	for (size_t i = at; i < m->blob.n; i++)
		if (strcmp(m->blob.item[i].key, key) == 0)
			return &m->blob.item[i];
	return NULL;
}

const struct manifest_blob *
manifest_find(const struct manifest *m, const char *key)
{
	return find(m, key);
}

bool
manifest_set(struct manifest *m, const char *key, uint64_t n_bytes, uint64_t hash)
{
	struct manifest_blob *b = find(m, key), new = { .n_bytes = n_bytes, .hash = hash };
	uint64_t h = key_hash(key);

	if (b != NULL) {
		b->n_bytes = n_bytes;
		b->hash = hash;
		return true;
	}
	snprintf(new.key, sizeof(new.key), "%s", key);
	if (fm_hash_find(&m->by_key, h) == FM_HASH_NONE &&
	    !fm_hash_put(&m->by_key, h, (uint32_t)m->blob.n))
		return false;
	return fm_vec_push(&m->blob, new);
}

static void
blob_name(const struct manifest_blob *b, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016" PRIx64 "-%" PRIu64, b->hash, b->n_bytes);
}

bool
manifest_blob_name_parse(const char *name, struct manifest_blob *b)
{
	char again[NAME_BYTES];

	if (sscanf(name, "%16" SCNx64 "-%" SCNu64, &b->hash, &b->n_bytes) != 2)
		return false;
	blob_name(b, again);
	return strcmp(name, again) == 0;
}

bool
manifest_blob_path(const char *folder, const struct manifest_blob *b, char *path, size_t size)
{
	char name[NAME_BYTES];

	blob_name(b, name);
	return (size_t)snprintf(path, size, "%s/blobs/%s", folder, name) < size;
}

/* So many, unless the file ends. */
static bool
read_all(int fd, uint8_t *bytes, size_t n)
{
	for (ssize_t done; n > 0; bytes += done, n -= (size_t)done)
		if ((done = read(fd, bytes, n)) <= 0)
			return false;
	return true;
}

int
manifest_blob_read(
    const char *folder, const struct manifest_blob *b, uint8_t **out, struct fm_error *err)
{
	uint8_t *bytes = NULL, more;
	char path[4200];
	int fd, rc = 0;

	*out = NULL;
	fd = manifest_blob_path(folder, b, path, sizeof(path))
	    ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
	    : -1;
	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	if (b->n_bytes <= MANIFEST_MOST_BYTES)
		bytes = malloc(b->n_bytes + 1);
	if (b->n_bytes > MANIFEST_MOST_BYTES)
		rc = fm_fail(
		    err, FM_E_CONFIG, "%s is larger than any blob that fmd publishes", path);
	else if (bytes == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for %s", path);
	else if (!read_all(fd, bytes, b->n_bytes) || read(fd, &more, 1) != 0 ||
	    manifest_hash(bytes, b->n_bytes) != b->hash)
		rc = fm_fail(err, FM_E_CONFIG, "%s is not what its name tells", path);
	close(fd);
	if (rc == 0)
		*out = bytes;
	else
		free(bytes);
	return rc;
}

/* ------------------------------------------------------------------ reading */

struct reader {
	const char *path;
	struct fm_lines in;
	struct manifest *m;
	bool ended;
	struct fm_error *err;
};

static int
bad(const struct reader *r, const char *what)
{
	return fm_fail(r->err, FM_E_CONFIG, "%s:%u: %s", r->path, r->in.line, what);
}

static int
take_blob(struct reader *r, const char *line)
{
	uint64_t n_bytes, hash, number;
	char key[BLOB_KEY_BYTES];
	enum blob_kind kind;

	if (sscanf(line, "blob %31s %" SCNu64 " %" SCNx64, key, &n_bytes, &hash) != 3 ||
	    !blob_key_parse(key, &kind, &number))
		return bad(r, "expected \"blob KEY BYTES HASH\"");
	return manifest_set(r->m, key, n_bytes, hash)
	    ? 0
	    : fm_fail(r->err, FM_E_RESOURCE, "%s: out of memory", r->path);
}

static int
take_line(struct reader *r)
{
	char line[128];
	size_t n = (size_t)(r->in.end - r->in.at);

	if (n >= sizeof(line))
		return bad(r, "the line is too long for a manifest");
	memcpy(line, r->in.at, n);
	line[n] = '\0';
	if (r->in.line == 1)
		return strcmp(line, "fmd-dist 1") == 0 ? 0 : bad(r, "expected \"fmd-dist 1\"");
	if (strcmp(line, "end") == 0)
		r->ended = true;
	else if (strncmp(line, "blob ", 5) == 0)
		return take_blob(r, line);
	else if (sscanf(line, "term %" SCNu64, &r->m->term) != 1 &&
	    sscanf(line, "epoch %" SCNu64, &r->m->epoch) != 1)
		return bad(r, "expected \"term\", \"epoch\", \"blob\" or \"end\"");
	return 0;
}

static int
read_lines(const char *path, const char *bytes, size_t n, struct manifest *m, struct fm_error *err)
{
	struct reader r = { .path = path, .in = fm_lines(bytes, n), .m = m, .err = err };
	int rc = 0;

	while (rc == 0 && !r.ended && fm_next_line(&r.in))
		rc = take_line(&r);
	if (rc == 0 && !r.ended)
		rc = bad(&r, "the manifest has no \"end\"");
	return rc;
}

int
manifest_read(const char *path, struct manifest *m, struct fm_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat st;
	char *bytes = NULL;
	ssize_t n = 0;

	manifest_fini(m);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) != 0)
		rc = fm_fail(err, FM_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > (off_t)MANIFEST_MOST_BYTES)
		rc = fm_fail(err, FM_E_CONFIG, "%s: this is no manifest", path);
	if (rc == 0) {
		bytes = malloc((size_t)st.st_size + 1);
		n = bytes != NULL ? read(fd, bytes, (size_t)st.st_size) : -1;
		if (n < 0)
			rc = fm_fail(err, FM_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	}
	if (rc == 0)
		rc = read_lines(path, bytes, (size_t)n, m, err);
	if (rc != 0)
		manifest_fini(m);
	free(bytes);
	if (fd >= 0)
		close(fd);
	return rc;
}

int
manifest_write(const char *path, const struct manifest *m, struct fm_error *err)
{
	int fd = fm_file_new(path, 0644);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool whole;

	if (out == NULL) {
		if (fd >= 0)
			close(fd);
		return fm_fail(err, FM_E_SYSTEM, "cannot write %s: %s", path, strerror(errno));
	}
	fprintf(out, "fmd-dist 1\nterm %" PRIu64 "\nepoch %" PRIu64 "\n", m->term, m->epoch);
	for (size_t i = 0; i < m->blob.n; i++)
		fprintf(out, "blob %s %" PRIu64 " %016" PRIx64 "\n", m->blob.item[i].key,
		    m->blob.item[i].n_bytes, m->blob.item[i].hash);
	fputs("end\n", out);
	whole = fflush(out) == 0 && !ferror(out);
	whole = fclose(out) == 0 && whole;
	if (!fm_file_done(path, whole))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %s: %s", path, strerror(errno));
	return 0;
}
