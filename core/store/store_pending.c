/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has something been promised that is not in the store yet?
 *
 * A file of one page, mapped and shared: what is written there outlives the process, at the
 * price of a store to memory, though not the machine.  So it names the boot it is of; after
 * another boot only a process that has closed it is believed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/store/store_internal.h"
#include "core/text/files.h"
#include "lib/log.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

enum state { STATE_CLOSED, STATE_KEPT, STATE_PENDING };

struct store_pending {
	char boot[48]; /* "" where there is no telling */
	uint8_t state;
};

static void
read_boot_id(char *boot, size_t room)
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);

	memset(boot, 0, room);
	if (fd < 0)
		return;
	if (read(fd, boot, room - 1) < 0)
		boot[0] = '\0';
	close(fd);
}

/* Its room on the disk is had first: a page for which there is none costs the process. */
static struct store_pending *
map(const char *path, int *errnum)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	*errnum = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(struct store_pending));
	if (*errnum == 0) {
		p = mmap(
		    NULL, sizeof(struct store_pending), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		*errnum = errno;
	}
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void
store_pending_open(struct store *s, const char *dir)
{
	char path[4096], boot[sizeof(s->pending->boot)];
	int errnum;

	snprintf(path, sizeof(path), "%s/pending", dir);
	s->pending = map(path, &errnum);
	if (s->pending == NULL) {
		log_warn("store",
		    "%s: %s: whether registrations are lost when fmd is killed will "
		    "not be known",
		    path, fm_file_why(errnum));
		return;
	}
	read_boot_id(boot, sizeof(boot));
	s->was_cut_off = s->pending->state == STATE_PENDING ||
	    (s->pending->state != STATE_CLOSED &&
		(boot[0] == '\0' || memcmp(boot, s->pending->boot, sizeof(boot)) != 0));
	memcpy(s->pending->boot, boot, sizeof(boot));
	s->pending->state = STATE_KEPT;
}

void
store_pending_close(struct store *s)
{
	if (s->pending == NULL)
		return;
	if (s->pending->state == STATE_KEPT)
		s->pending->state = STATE_CLOSED;
	msync(s->pending, sizeof(*s->pending), MS_SYNC);
	munmap(s->pending, sizeof(*s->pending));
	s->pending = NULL;
}

void
store_set_pending(struct store *s, bool pending)
{
	if (s->pending != NULL)
		s->pending->state = pending ? STATE_PENDING : STATE_KEPT;
}

bool
store_was_cut_off(const struct store *s)
{
	return s->was_cut_off;
}
