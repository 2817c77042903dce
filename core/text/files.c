/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
name_new(const char *path, char name[PATH_MAX])
{
	int n = snprintf(name, PATH_MAX, "%s.new", path);

	if (n < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

int
fm_file_new(const char *path, mode_t mode)
{
	char name[PATH_MAX];

	if (!name_new(path, name))
		return -1;
	unlink(name); /* of a process that was killed, or a link */
	return open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

bool
fm_file_done(const char *path, bool is_whole)
{
	char name[PATH_MAX];
	int errnum = errno;

	if (!name_new(path, name))
		return false;
	if (is_whole && rename(name, path) == 0)
		return true;
	errnum = is_whole ? errno : errnum;
	unlink(name);
	errno = errnum;
	return false;
}

bool
fm_file_write(
    const char *path, mode_t mode, bool (*put)(FILE *out, const void *arg), const void *arg)
{
	int fd = fm_file_new(path, mode);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool whole = out != NULL && put(out, arg);

	if (fd < 0)
		return false;
	if (out != NULL)
		whole = fclose(out) == 0 && whole;
	else
		close(fd);
	return fm_file_done(path, whole);
}

const uint8_t *
fm_file_map(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	*n = 0;
	if (fd < 0)
		return NULL;
	at = fstat(fd, &st) == 0 && st.st_size > 0
	    ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
	    : MAP_FAILED;
	close(fd);
	if (at == MAP_FAILED)
		return NULL;
	*n = (size_t)st.st_size;
	return at;
}

void
fm_file_unmap(const uint8_t *bytes, size_t n)
{
	if (n > 0)
		munmap((void *)(uintptr_t)bytes, n);
}

const char *
fm_file_why(int errnum)
{
	return errnum == ELOOP ? "it is a symbolic link, and none is followed here"
			       : strerror(errnum);
}

enum fm_error_kind
fm_file_kind(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG || errnum == EROFS ||
		errnum == EIO
	    ? FM_E_RESOURCE
	    : FM_E_SYSTEM;
}
