/* SPDX-License-Identifier: BSD-2-Clause */
/* An engine whose constructor tries to read what is not for it, and tells in its summary of what
 * it could: files by their names in the folder beside its own, and what the kernel shows of the
 * process that has started it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/modules/bad.h"

static char summary[512] = "It could read:";

static void
try(const char *path)
{
	size_t n = strlen(summary);
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return;
	close(fd);
	snprintf(summary + n, sizeof(summary) - n, " %s", strrchr(path, '/') + 1);
}

/* glibc hands main()'s arguments to constructors: NAME and PATH are those of fmd-engine-host. */
static void __attribute__((constructor)) loaded(int argc, char **argv)
{
	static const char *const seen[] = { "mem", "maps", "environ", "fd/0" };
	char path[4200];
	const char *slash = argc > 2 ? strrchr(argv[2], '/') : NULL;

	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), seen[i]);
		try(path);
	}
	if (slash == NULL)
		return;
	snprintf(path, sizeof(path), "%.*s/../secret/fmd.conf", (int)(slash - argv[2]), argv[2]);
	try(path);
	try("/etc/passwd");
}

FM_ENGINE(load_look, .summary = summary, .traits = FM_PROVIDES_LFT, .route = bad_route);
