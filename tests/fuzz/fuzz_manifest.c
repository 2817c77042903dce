/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the manifest of an epoch: a sentence that names file and line, or blobs each of
 * which is found by its key and has a path, and which are the same when written and read again.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/blobs/manifest.h"
#include "tests/fuzz/fuzz.h"

static void
must_be_same(const struct manifest *a, const struct manifest *b)
{
	must(a->term == b->term && a->epoch == b->epoch && a->blob.n == b->blob.n);
	for (size_t i = 0; i < a->blob.n; i++) {
		const struct manifest_blob *x = &a->blob.item[i], *y = &b->blob.item[i];

		must(strcmp(x->key, y->key) == 0);
		must(x->n_bytes == y->n_bytes && x->hash == y->hash);
	}
}

static void
must_be_found(const struct manifest *m)
{
	for (size_t i = 0; i < m->blob.n; i++) {
		const struct manifest_blob *b = &m->blob.item[i];
		struct manifest_blob named;
		char path[80];

		must(manifest_find(m, b->key) == b);
		must(manifest_blob_path("d", b, path, sizeof(path)));
		must(strncmp(path, "d/blobs/", 8) == 0);
		must(manifest_blob_name_parse(path + 8, &named));
		must(named.n_bytes == b->n_bytes && named.hash == b->hash);
	}
}

/* A manifest that was read is one that can be written, to the same end. */
static void
write_again(const struct manifest *m)
{
	static char path[64];
	struct manifest again = { 0 };
	struct fm_error err = { 0 };

	snprintf(path, sizeof(path), "/tmp/fuzz_manifest.%ld", (long)getpid());
	must(manifest_write(path, m, &err) == 0);
	must(manifest_read(path, &again, &err) == 0);
	unlink(path);
	must_be_same(m, &again);
	manifest_fini(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest m = { 0 };
	struct fm_error err = { 0 };
	char path[64];
	int fd = memfd_create("manifest", 0);

	fuzz_be_quiet();
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (manifest_read(path, &m, &err) != 0) {
		must(err.kind == FM_E_CONFIG && strncmp(err.msg, path, strlen(path)) == 0);
		must(m.blob.n == 0);
	} else {
		must_be_found(&m);
		write_again(&m);
	}
	manifest_fini(&m);
	close(fd);
	return 0;
}
