/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/book_write.c - the file as its writer has it: mapped, and never waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/files.h"
#include "perf/book/book_words.h"

struct book {
	char path[PATH_MAX];
	int fd;
	bool is_shown;
	uint32_t n_nodes, n_ports;
	size_t n_bytes;
	_Atomic uint64_t *word; /* [n_bytes / 8] mapped; NULL: not yet */
};

static void
put(struct book *b, uint64_t at, uint64_t value)
{
	atomic_store_explicit(&b->word[at], value, memory_order_relaxed);
}

static uint64_t
see(const struct book *b, uint64_t at)
{
	return atomic_load_explicit(&b->word[at], memory_order_relaxed);
}

/* What follows is seen by nobody who has not seen that the number is odd ... */
static void
begin_write(struct book *b, uint64_t seq_at)
{
	put(b, seq_at, see(b, seq_at) + 1);
	atomic_thread_fence(memory_order_release);
}

/* ... and who sees that it is even sees all of it. */
static void
end_write(struct book *b, uint64_t seq_at)
{
	atomic_store_explicit(&b->word[seq_at], see(b, seq_at) + 1, memory_order_release);
}

/* ------------------------------------------------------------------ a new file */

static void
put_name(struct book *b, uint64_t at, const char *name)
{
	uint64_t words[BOOK_NAME_BYTES / 8] = { 0 };
	size_t n = strlen(name);

	memcpy(words, name, n < BOOK_NAME_BYTES ? n : BOOK_NAME_BYTES);
	for (size_t i = 0; i < BOOK_NAME_BYTES / 8; i++)
		put(b, at + i, words[i]);
}

static void
put_layout(struct book *b, const struct book_node *nodes)
{
	put(b, HEAD_MAGIC, BOOK_MAGIC);
	put(b, HEAD_BYTES, b->n_bytes);
	put(b, HEAD_NODES, b->n_nodes);
	put(b, HEAD_PORTS, b->n_ports);
	put(b, HEAD_ROWS, book_pair(BOOK_NODE_WORDS, BOOK_PORT_WORDS));
	for (uint32_t i = 0; i < b->n_nodes; i++) {
		uint64_t at = book_node_at(i);

		put(b, at + NODE_GUID, nodes[i].guid);
		put(b, at + NODE_PORTS,
		    book_pair(nodes[i].first_port, nodes[i].n_ports << 8 | nodes[i].type));
		put_name(b, at + NODE_NAME, nodes[i].name);
		put(b, at + NODE_FLAGS, nodes[i].flags);
	}
}

/* All of it is there before it is mapped: a write to what the disk has no room for would end us. */
static int
map(struct book *b, gid_t group)
{
	void *at;
	int rc = posix_fallocate(b->fd, 0, (off_t)b->n_bytes);

	if (rc != 0) {
		errno = rc;
		return -1;
	}
	if (group != (gid_t)-1 &&
	    (fchown(b->fd, (uid_t)-1, group) != 0 || fchmod(b->fd, 0640) != 0))
		return -1;
	at = mmap(NULL, b->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (at == MAP_FAILED)
		return -1;
	b->word = at;
	return 0;
}

static uint64_t
count_ports(const struct book_node *nodes, uint32_t n_nodes)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < n_nodes; i++)
		n += nodes[i].n_ports;
	return n;
}

int
book_make(const char *path, const struct book_node *nodes, uint32_t n_nodes, gid_t group,
    struct book **out, struct fm_error *err)
{
	uint64_t n_ports = count_ports(nodes, n_nodes);
	struct book *b = calloc(1, sizeof(*b));
	int why;

	if (b == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", path);
	if (n_nodes > BOOK_MOST_NODES || n_ports > BOOK_MOST_PORTS ||
	    (size_t)snprintf(b->path, sizeof(b->path), "%s", path) >= sizeof(b->path)) {
		free(b);
		return fm_fail(err, FM_E_RESOURCE,
		    "cannot write %.100s: %u nodes with %llu ports are too many", path, n_nodes,
		    (unsigned long long)n_ports);
	}
	b->n_nodes = n_nodes;
	b->n_ports = (uint32_t)n_ports;
	b->n_bytes = book_bytes(n_nodes, b->n_ports);
	b->fd = fm_file_new(path, 0600);
	if (b->fd < 0 || map(b, group) != 0) {
		why = errno;
		book_close(b);
		return fm_fail(
		    err, fm_file_kind(why), "cannot write %s.new: %s", path, fm_file_why(why));
	}
	put_layout(b, nodes);
	*out = b;
	return 0;
}

int
book_show(struct book *b, struct fm_error *err)
{
	if (!fm_file_done(b->path, true))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %s: %s", b->path, strerror(errno));
	b->is_shown = true;
	return 0;
}

void
book_retire(struct book *b)
{
	begin_write(b, HEAD_SEQ);
	put(b, HEAD_OLD, 1);
	end_write(b, HEAD_SEQ);
}

void
book_close(struct book *b)
{
	if (b == NULL)
		return;
	if (b->word != NULL)
		munmap((void *)b->word, b->n_bytes);
	if (b->fd >= 0) {
		close(b->fd);
		if (!b->is_shown)
			(void)fm_file_done(b->path, false);
	}
	free(b);
}

bool
book_is_gone(const struct book *b)
{
	struct stat ours, there;

	return fstat(b->fd, &ours) != 0 || stat(b->path, &there) != 0 ||
	    ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
}

/* ------------------------------------------------------------------------ rows */

void
book_put_head(struct book *b, const struct book_head *h)
{
	begin_write(b, HEAD_SEQ);
	put(b, HEAD_SWEEP, h->sweep);
	put(b, HEAD_BEGAN, (uint64_t)h->began_ms);
	put(b, HEAD_SWEEP_BEGAN, (uint64_t)h->sweep_began_ms);
	put(b, HEAD_SWEEP_ENDED, (uint64_t)h->sweep_ended_ms);
	put(b, HEAD_INTERVAL, h->interval_ms);
	put(b, HEAD_PORTS_WANTED, book_pair(h->n_wanted, h->n_read));
	put(b, HEAD_SILENT, book_pair(h->n_silent, h->n_late));
	put(b, HEAD_OLD, h->is_old);
	end_write(b, HEAD_SEQ);
}

void
book_begin(struct book *b, uint32_t node)
{
	begin_write(b, book_node_at(node) + NODE_SEQ);
}

void
book_end(struct book *b, uint32_t node)
{
	end_write(b, book_node_at(node) + NODE_SEQ);
}

void
book_put_flags(struct book *b, uint32_t node, uint32_t flags)
{
	put(b, book_node_at(node) + NODE_FLAGS, flags);
}

void
book_put_port(struct book *b, uint32_t row, const struct book_port *p)
{
	uint64_t at = book_port_at(b->n_nodes, row);

	for (int i = 0; i < N_COUNTERS; i++)
		put(b, at + PORT_SUM + (uint64_t)i, p->sum[i]);
	put(b, at + PORT_READ, (uint64_t)p->read_ms);
	put(b, at + PORT_AT_END, book_pair(p->at_end, p->unread));
	put(b, at + PORT_FLAGS, book_pair(p->flags, p->span_ms));
	put(b, at + PORT_XMIT_RATE, p->xmit_rate);
	put(b, at + PORT_RCV_RATE, p->rcv_rate);
	put(b, at + PORT_WAIT_RATE, p->wait_rate);
	put(b, at + PORT_ERROR_RATE, p->error_rate);
	put(b, at + PORT_PEER, book_pair(p->peer, p->peer_port));
	put(b, at + PORT_PLANNED, book_pair(p->planned, p->mbps));
}

void
book_see_port(const struct book *b, uint32_t row, struct book_port *p)
{
	uint64_t words[BOOK_PORT_WORDS], at = book_port_at(b->n_nodes, row);

	for (uint64_t i = 0; i < BOOK_PORT_WORDS; i++)
		words[i] = see(b, at + i);
	book_port_of(words, p);
}
