/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the MADs a program sends: preload it before umad2sim.  The counts are
 * the file $UMAD_COUNT_FILE, mapped, which may be read at any time: 64-bit
 * words [method][low byte of the attribute id].
 * Works the same for every program that uses libibumad, so that peers are
 * counted by one measure.  What a program asks of the port it stands on never
 * reaches a cable, and is not counted: fmd looks at its own port several times a
 * second, and a count of that would hide that it is quiet.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_ulong (*counts)[256];

/* Is it a directed SMP of no hops? */
static bool
stays_at_home(const uint8_t *mad)
{
	return mad[1] == 0x81 && mad[7] == 0;
}

__attribute__((visibility("default"))) int
umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	static int (*next)(int, int, void *, int, int, int);
	const uint8_t *mad = umad_get_mad(umad);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "umad_send");
	if (counts != NULL && !stays_at_home(mad))
		atomic_fetch_add(&counts[mad[3]][mad[17]], 1);
	return next(portid, agentid, umad, length, timeout_ms, retries);
}

__attribute__((constructor)) static void
map_counts(void)
{
	const char *path = getenv("UMAD_COUNT_FILE");
	int fd = path != NULL ? open(path, O_RDWR | O_CREAT, 0600) : -1;
	size_t n_bytes = 256 * sizeof(*counts);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)n_bytes) == 0)
		at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		counts = at;
	if (fd >= 0)
		close(fd);
}
