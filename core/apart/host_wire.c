/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-host: packets, and memory of fmd's.  O(addresses) for an input that lies elsewhere
 * than wanted.
 */
#include "core/apart/host.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/apart/blob.h"
#include "lib/pages.h"

void
host_say(const void *packet, size_t n)
{
	if (write(WIRE_SOCKET, packet, n) != (ssize_t)n)
		_exit(0); /* fmd is gone, or does not want to know */
}

bool
host_await(void *packet, size_t n, int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { packet, n };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t got;

	do
		got = recvmsg(WIRE_SOCKET, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)n)
		return false;
	fds[0] = fds[1] = -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c != NULL && c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return true;
}

/* ------------------------------------------------------------------- memory */

size_t
host_round_up(size_t n)
{
	return (n + FM_PAGES_HUGE_BYTES - 1) / FM_PAGES_HUGE_BYTES * FM_PAGES_HUGE_BYTES;
}

unsigned char *
host_map_at(uint64_t at, size_t n, int protection, int flags, int fd)
{
	void *got = mmap((void *)(uintptr_t)at, n, protection, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (got == MAP_FAILED || (uintptr_t)got == at)
		return got == MAP_FAILED ? NULL : got;
	munmap(got, n); /* a kernel before 4.17 */
	return NULL;
}

/* Elsewhere than wanted: ours alone then, as addresses are put in. */
static unsigned char *
map_copy(int fd, size_t n)
{
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Addresses where it is not mapped as wanted, or the tables are not. */
static void
put_addresses(const struct wire_call *call, unsigned char *input, const unsigned char *tables)
{
	const uint64_t *places = (const uint64_t *)(const void *)(input + call->places);

	for (uint64_t i = 0; i < call->n_places; i++) {
		bool in_tables = (places[i] & BLOB_IN_TABLES) != 0;
		uint64_t *p = (uint64_t *)(void *)(input + (places[i] & ~BLOB_IN_TABLES));

		*p += in_tables ? (uintptr_t)tables - call->tables_at
				: (uintptr_t)input - call->input_at;
	}
}

unsigned char *
host_map_input(const struct wire_call *call, int fd, const unsigned char *tables)
{
	unsigned char *at = (uintptr_t)tables == call->tables_at
	    ? host_map_at(call->input_at, host_round_up(call->input_bytes), PROT_READ,
		  MAP_SHARED | MAP_POPULATE, fd)
	    : NULL;

	if (at != NULL)
		return at;
	at = map_copy(fd, host_round_up(call->input_bytes));
	if (at == NULL)
		return NULL;
	put_addresses(call, at, tables);
	return mprotect(at, host_round_up(call->input_bytes), PROT_READ) == 0 ? at : NULL;
}

void
host_unmap_input(const struct wire_call *call, unsigned char *input)
{
	munmap(input, host_round_up(call->input_bytes));
}
