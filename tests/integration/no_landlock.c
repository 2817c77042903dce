/* SPDX-License-Identifier: BSD-2-Clause */
/* no_landlock COMMAND...: on a kernel whose Landlock is not there, as before Linux 5.13. */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || c == NULL)
		return 2;
	for (int call = 444; call <= 446; call++)
		if (seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), call, 0) != 0)
			return 2;
	if (seccomp_load(c) != 0)
		return 2;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}
