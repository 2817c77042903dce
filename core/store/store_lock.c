/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One process on a state directory: who has it holds a lock on the file `lock` in it.
 *
 * POSIX's kind, by fcntl(): the kernel tells who holds it, and releases it when the process is
 * gone, however that came; there is no file that a kill could leave to be mistaken for one.
 * (LMDB lets several processes write; what they think they know, they would take from another.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/store/store_internal.h"
#include "core/text/files.h"

/* Is it ours?  0: it is another's, *holder; -1: errno tells. */
static int
try_lock(int fd, pid_t *holder)
{
	struct flock l;

	do {
		l = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
		if (fcntl(fd, F_SETLK, &l) == 0)
			return 1;
		if ((errno != EACCES && errno != EAGAIN) || fcntl(fd, F_GETLK, &l) != 0)
			return -1;
	} while (l.l_type == F_UNLCK); /* gone meanwhile */
	*holder = l.l_pid;
	return 0;
}

static int
in_use(const char *dir, pid_t holder, struct fm_error *err)
{
	char by[32] =
	    "another process"; /* of another machine or container: the kernel knows no id */

	if (holder > 0)
		snprintf(by, sizeof(by), "process %d", (int)holder);
	return fm_fail(err, FM_E_SYSTEM,
	    "state directory %.200s is in use by %s: give another with --state-dir=DIR", dir, by);
}

int
store_lock(struct store *s, const char *dir, struct fm_error *err)
{
	char path[4096];
	pid_t holder;
	int ours = -1;

	snprintf(path, sizeof(path), "%s/lock", dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (s->lock_fd >= 0)
		ours = try_lock(s->lock_fd, &holder);
	if (ours < 0)
		return fm_fail(
		    err, fm_file_kind(errno), "cannot lock %s: %s", path, fm_file_why(errno));
	return ours ? 0 : in_use(dir, holder, err);
}

void
store_unlock(struct store *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
}
