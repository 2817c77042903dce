/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/seal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/files.h"
#include "lib/error.h"
#include "lib/faultpoint.h"
#include "lib/hash.h"
#include "lib/log.h"

#define SUM_FROM (offsetof(struct fm_seal, sum) + sizeof(uint64_t))

void
fm_seal_put(uint8_t *bytes, size_t n, const char *magic)
{
	struct fm_seal head = { .n_bytes = n };

	memcpy(head.magic, magic, sizeof(head.magic));
	memcpy(bytes, &head, sizeof(head));
	head.sum = fm_hash_bytes(0, bytes + SUM_FROM, n - SUM_FROM);
	memcpy(bytes, &head, sizeof(head));
}

int
fm_seal_write(
    const char *path, const char *what, const uint8_t *bytes, size_t n, struct fm_error *err)
{
	ssize_t done;
	int fd = fm_file_new(path, 0640);

	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "%s.new: %s", path, strerror(errno));
	for (; n > 0; bytes += done, n -= (size_t)done) {
		fm_fault_point(what, "write");
		done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done < 0)
			break;
	}
	fm_fault_point(what, "written");
	if (!fm_file_done(path, close(fd) == 0 && n == 0))
		return fm_fail(err, FM_E_SYSTEM, "%s.new: %s", path, strerror(errno));
	fm_fault_point(what, "renamed");
	return 0;
}

/* NULL: it is good. */
static const char *
what_is_wrong(const uint8_t *bytes, size_t n, const char *magic)
{
	struct fm_seal head;

	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(head.magic)) != 0)
		return "it is not ours, or of another version";
	if (head.n_bytes != n || head.sum != fm_hash_bytes(0, bytes + SUM_FROM, n - SUM_FROM))
		return "it is damaged";
	return NULL;
}

uint8_t *
fm_seal_read(const char *path, const char *what, const char *magic, size_t n_head, size_t *n)
{
	const char *why = "it is damaged";
	uint8_t *bytes = NULL;
	struct stat st;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return NULL;
	if (fstat(fileno(f), &st) == 0 && st.st_size >= (off_t)n_head)
		bytes = malloc((size_t)st.st_size);
	*n = bytes != NULL ? (size_t)st.st_size : 0;
	if (bytes != NULL && fread(bytes, 1, *n, f) == *n)
		why = what_is_wrong(bytes, *n, magic);
	fclose(f);
	if (why == NULL)
		return bytes;
	free(bytes);
	fm_seal_set_aside(path, what, why);
	return NULL;
}

void
fm_seal_set_aside(const char *path, const char *what, const char *why)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "%s.bad", path);
	log_warn("keep", "%s in %s are not used: %s; %s", what, path, why,
	    rename(path, to) == 0 ? "set aside" : "it cannot be renamed");
}
