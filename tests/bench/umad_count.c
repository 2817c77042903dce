/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the MADs a program sends: preload it before umad2sim, and at exit a
 * line "METHOD ATTRIBUTE COUNT" per kind is written to $UMAD_COUNT_FILE.
 * Works the same for every program that uses libibumad, so that peers are
 * counted by one measure.
 */
#include <dlfcn.h>
#include <infiniband/umad.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ulong counts[256][256]; /* [method][low byte of the attribute id] */

__attribute__((visibility("default"))) int
umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	static int (*next)(int, int, void *, int, int, int);
	const uint8_t *mad = umad_get_mad(umad);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "umad_send");
	atomic_fetch_add(&counts[mad[3]][mad[17]], 1);
	return next(portid, agentid, umad, length, timeout_ms, retries);
}

__attribute__((destructor)) static void
write_counts(void)
{
	const char *path = getenv("UMAD_COUNT_FILE");
	FILE *f = path != NULL ? fopen(path, "w") : NULL;

	if (f == NULL)
		return;
	for (int method = 0; method < 256; method++)
		for (int attr = 0; attr < 256; attr++)
			if (counts[method][attr] != 0)
				fprintf(f, "%d %d %lu\n", method, attr, counts[method][attr]);
	fclose(f);
}
