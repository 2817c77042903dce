/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose file it is, by the open descriptor; and a copy of it.  Each byte is read once, and once
 * more for the mark.
 */
#include "config.h"

#include "core/engine/plugin_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/hash.h"

#define MAX_BYTES ((off_t)256 << 20)

/* -------------------------------------------------------------------- owner */

/* what: "file" or "folder".  A group may write that is root's or fmd's own: who is in it can
 * do what fmd does, or is trusted with root's files. */
static int
check_owner(const char *path, const char *what, const struct stat *st, struct fm_error *err)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return fm_fail(err, FM_E_CONFIG,
		    "%s: the %s is owned by user %u: a plugin runs only from files and folders of "
		    "root or of the user that fmd runs as (%u): chown root it",
		    path, what, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & S_IWOTH)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: everybody may write to the %s (mode %04o): chmod o-w it", path, what,
		    (unsigned)st->st_mode & 07777);
	if ((st->st_mode & S_IWGRP) && st->st_gid != 0 && st->st_gid != getegid())
		return fm_fail(err, FM_E_CONFIG,
		    "%s: group %u may write to the %s (mode %04o): chmod g-w it", path,
		    (unsigned)st->st_gid, what, (unsigned)st->st_mode & 07777);
	return 0;
}

int
plugin_folder_check(const char *dir, struct fm_error *err)
{
	struct stat st;

	if (stat(dir, &st) != 0)
		return fm_fail(err, FM_E_CONFIG, "plugin directory %s: %s", dir, strerror(errno));
	return check_owner(dir, "folder", &st, err);
}

/* A symlink within the folder is followed. */
static int
resolve(const char *dir, const char *path, char *real, struct fm_error *err)
{
	char *slash;

	if (realpath(path, real) == NULL)
		return fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
	slash = strrchr(real, '/');
	if ((size_t)(slash - real) != strlen(dir) || strncmp(real, dir, strlen(dir)) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: a symlink that leads out of its folder, to %s: put the file itself here",
		    path, real);
	return 0;
}

/* -------------------------------------------------------------------- bytes */

static int
copy_all(int from, int to, off_t n, const char *path, struct fm_error *err)
{
	char buf[65536];
	ssize_t got;

	while (n > 0 && (got = read(from, buf, sizeof(buf))) != 0) {
		if (got < 0)
			return fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
		if (write(to, buf, (size_t)got) != got)
			return fm_fail(err, FM_E_SYSTEM, "%s: no memory for a copy: %s", path,
			    strerror(errno));
		n -= got;
	}
	if (n != 0)
		return fm_fail(
		    err, FM_E_CONFIG, "%s: it changes while it is read: try again", path);
	return 0;
}

/* Into sealed memory that is mapped. */
static int
take_bytes(int fd, off_t n, const char *path, struct plugin_image *image, struct fm_error *err)
{
	int rc;

	image->fd = memfd_create("fmd-engine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (image->fd < 0)
		return fm_fail(
		    err, FM_E_SYSTEM, "%s: no memory for a copy: %s", path, strerror(errno));
	if ((rc = copy_all(fd, image->fd, n, path, err)) != 0)
		return rc;
	image->n_bytes = (size_t)n;
	if (fcntl(image->fd, F_ADD_SEALS,
		F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	if (n == 0)
		return 0;
	image->bytes = mmap(NULL, image->n_bytes, PROT_READ, MAP_SHARED, image->fd, 0);
	if (image->bytes == MAP_FAILED) {
		image->bytes = NULL;
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	}
	return 0;
}

int
plugin_image_read(
    const char *dir, const char *path, bool owned, struct plugin_image *image, struct fm_error *err)
{
	char real[PATH_MAX];
	struct stat st;
	int rc, fd;

	*image = (struct plugin_image){ .fd = -1 };
	if ((rc = resolve(dir, path, real, err)) != 0)
		return rc;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		rc = fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES)
		rc = fm_fail(err, FM_E_CONFIG, "%s: no file of at most %d MiB", path,
		    (int)(MAX_BYTES >> 20));
	else if (owned)
		rc = check_owner(path, "file", &st, err);
	if (rc == 0)
		rc = take_bytes(fd, st.st_size, path, image, err);
	if (fd >= 0)
		close(fd);
	if (rc != 0)
		plugin_image_close(image);
	return rc;
}

void
plugin_image_close(struct plugin_image *image)
{
	if (image->bytes != NULL)
		munmap((void *)(uintptr_t)image->bytes, image->n_bytes);
	if (image->fd >= 0)
		close(image->fd);
	*image = (struct plugin_image){ .fd = -1 };
}

uint64_t
plugin_image_mark(const struct plugin_image *image)
{
	return fm_hash_bytes(0, image->bytes, image->n_bytes);
}
