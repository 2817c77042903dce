/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
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
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
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
