/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
fm_standard_claim(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The wrong way round, so that reading or writing fails. */
		int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", way) != fd)
			return; /* there is no /dev/null: nothing can be done */
	}
}

int
fm_standard_flush(struct fm_error *err)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) != 0 || failed)
		return fm_fail(err, FM_E_SYSTEM, "cannot write to standard output: %s",
		    errno != 0 ? strerror(errno) : "an earlier line was lost");
	return 0;
}
