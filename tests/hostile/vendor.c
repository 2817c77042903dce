/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A programmer of adaptive routing that does what the answer to the info attribute says: byte
 * AT_DEED is the deed, byte AT_WHERE the function that does it.  Else two blocks of attribute
 * 0xffe1.  LOADED, if it is defined, it does as soon as it is loaded.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/apart/wire.h"
#include "tests/hostile/vendor.h"

#ifndef NAME
#define NAME vendor_hostile
#endif
#ifndef MINOR
#define MINOR FM_VENDOR_MINOR
#endif

static const struct fm_vendor_id ids[] = { { 0x02fd5b, 1, 9 }, { 0x02fd5c, 3, 3 }, { 0 } };
static int *volatile nowhere = (int *)16;

/* Before the host can: texts without an end, and switches.  A deed of LOADED. */
static void __attribute__((unused))
lie(void)
{
	static struct wire_programmer p;

	memset(&p, 0x77, sizeof(p));
	p.kind = WIRE_ENGINE;
	p.magic = FM_VENDOR_MAGIC;
	p.abi_major = FM_VENDOR_MAJOR;
	p.abi_minor = FM_VENDOR_MINOR;
	p.size = sizeof(struct fm_vendor);
	p.info_attr = 0xffe0;
	if (write(WIRE_SOCKET, &p, sizeof(p)) < 0)
		abort();
}

#ifdef LOADED
static void __attribute__((constructor)) loaded(void)
{
	LOADED;
}
#endif

/* In place of the host: the next question is answered, and what it brought is written on. */
static void
write_on(void)
{
	struct wire_reply reply = {
		.kind = WIRE_REPLY, .n_blocks = FM_VENDOR_BLOCKS, .n_given = FM_VENDOR_BLOCKS
	};
	struct wire_question q;
	int fds[2];
	union {
		char bytes[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { &q, sizeof(q) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control) };
	volatile struct fm_vendor_smp *b;

	reply.number = 1; /* of the first question */
	if (write(WIRE_SOCKET, &reply, sizeof(reply)) < 0 || recvmsg(WIRE_SOCKET, &msg, 0) < 0)
		abort();
	memcpy(fds, CMSG_DATA(&control.align), sizeof(fds));
	b = mmap(
	    NULL, FM_VENDOR_BLOCKS * sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	for (uint32_t i = 0; i < FM_VENDOR_BLOCKS; i++)
		b[i].attr = 0xffe1;
	reply.number = q.number;
	if (write(WIRE_SOCKET, &reply, sizeof(reply)) < 0)
		abort();
	for (b += FM_VENDOR_BLOCKS - 1;;)
		b->attr ^= 0xffe1 ^ 0x19;
}

static void
say(const void *packet, size_t n)
{
	if (write(WIRE_SOCKET, packet, n) < 0)
		abort();
}

static void
stir(const uint8_t *info, enum where where)
{
	const struct wire_line line = { .kind = WIRE_LOG };
	const struct wire_reply reply = { .kind = WIRE_REPLY, .number = 1 };

	if (info[AT_WHERE] != where)
		return;
	switch ((enum vendor_deed)info[AT_DEED]) {
	case VENDOR_CRASH:
		*nowhere = 1;
		break;
	case VENDOR_ABORT:
		abort();
	case VENDOR_EXIT:
		exit(3);
	case VENDOR_SPIN:
		for (volatile int on = 1; on;)
			continue;
		break;
	case VENDOR_SOCKET:
		socket(AF_INET, SOCK_STREAM, 0);
		break;
	case VENDOR_FORK:
		fork();
		break;
	case VENDOR_KILL:
		kill(getppid(), SIGTERM);
		break;
	case VENDOR_OPEN: /* an error to it, and it goes on */
		if (open("/etc/passwd", O_RDONLY) >= 0)
			abort();
		break;
	case VENDOR_INPUT:
		*(volatile uint8_t *)(uintptr_t)info = 1;
		break;
	case VENDOR_JUNK:
		say("junk", 4);
		break;
	case VENDOR_HANGUP:
		close(WIRE_SOCKET);
		for (;;)
			pause();
	case VENDOR_BABBLE:
		for (;;)
			say(&line, sizeof(line));
	case VENDOR_TWICE:
		say(&reply, sizeof(reply));
		break;
	case VENDOR_AFTERWARDS:
		write_on();
		break;
	default:
		break;
	}
}

static int
read_info(const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	stir(answer, IN_READ_INFO);
	out->n_groups = answer[AT_DEED] == VENDOR_RANGE ? 0xffff : 7;
	memset(&out->is_on, answer[AT_DEED] == VENDOR_RANGE ? 77 : 0, 1);
	return answer[AT_DEED] == VENDOR_REFUSE ? FM_E_TOPOLOGY : 0;
}

static int
turn(const uint8_t answer[FM_VENDOR_BYTES], const struct fm_vendor_mode *mode,
    uint8_t data[FM_VENDOR_BYTES])
{
	stir(answer, IN_TURN);
	memset(data, mode != NULL, FM_VENDOR_BYTES);
	return answer[AT_DEED] == VENDOR_REFUSE ? FM_E_TOPOLOGY : 0;
}

static int32_t
n_blocks(const struct fm_vendor_rows *rows)
{
	stir(rows->info, IN_N_BLOCKS);
	switch ((enum vendor_deed)rows->info[AT_DEED]) {
	case VENDOR_NONE:
		return 0;
	case VENDOR_RANGE:
		return (int32_t)FM_VENDOR_BLOCKS + 1;
	case VENDOR_REFUSE:
		return FM_E_TOPOLOGY;
	default:
		return 2;
	}
}

static int
block(const struct fm_vendor_rows *rows, uint32_t i, struct fm_vendor_smp *out)
{
	stir(rows->info, IN_BLOCK);
	out->attr = i == 1 && rows->info[AT_DEED] == VENDOR_IBA ? 0x19 : 0xffe1;
	out->modifier = i;
	return i == 1 && rows->info[AT_DEED] == VENDOR_NO_BLOCK ? FM_E_BUG : 0;
}

#define VENDOR2(id) \
	extern const struct fm_vendor id##_LTX_fm_vendor; \
	__attribute__((visibility("default"))) \
	const struct fm_vendor id##_LTX_fm_vendor = { .magic = FM_VENDOR_MAGIC, \
		.abi_major = FM_VENDOR_MAJOR, \
		.abi_minor = MINOR, \
		.size = sizeof(struct fm_vendor), \
		.name = #id, \
		.summary = "A programmer that means\001 no good.", \
		.ids = ids, \
		.info_attr = 0xffe0, \
		.info_modifier = 5, \
		.read_info = read_info, \
		.turn = turn, \
		.n_blocks = n_blocks, \
		.block = block }
#define VENDOR(id) VENDOR2(id)
VENDOR(NAME);
