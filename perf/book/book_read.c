/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/book_read.c - the file as a stranger reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/printable.h"
#include "perf/book/book_words.h"

#define TRIES 200 /* then its writer is taken for dead; a node is written in microseconds */
#define PAUSE_NS 50000

struct book_reader {
	int fd;
	uint32_t n_nodes, n_ports;
};

/* False: so much is not there. */
static bool
copy(const struct book_reader *r, uint64_t at, uint64_t *words, size_t n)
{
	char *to = (char *)words;
	size_t left = 8 * n;
	off_t from = (off_t)(8 * at);

	while (left > 0) {
		ssize_t k = pread(r->fd, to, left, from);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		to += k;
		from += k;
		left -= (size_t)k;
	}
	return true;
}

/* What is copied between two reads of an even number that has not moved is of one moment. */
static bool
copy_guarded(const struct book_reader *r, uint64_t seq_at, uint64_t at, uint64_t *words, size_t n)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (int i = 0; i < TRIES; i++) {
		uint64_t before, after;

		if (!copy(r, seq_at, &before, 1))
			return false;
		if (before % 2 == 0) {
			if (!copy(r, at, words, n) || !copy(r, seq_at, &after, 1))
				return false;
			if (after == before)
				return true;
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

/* ------------------------------------------------------------------------ open */

static int
no_such_file(struct fm_error *err, const char *why)
{
	return fm_fail(err, FM_E_TOPOLOGY, "it is no file of counters: %s", why);
}

static int
look_at_head(struct book_reader *r, struct fm_error *err)
{
	uint64_t head[BOOK_HEAD_WORDS];
	struct stat st;

	if (fstat(r->fd, &st) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return no_such_file(err, "it is not even a file");
	if (!copy(r, 0, head, BOOK_HEAD_WORDS) || head[HEAD_MAGIC] != BOOK_MAGIC)
		return no_such_file(err, "it does not begin as one");
	if (head[HEAD_ROWS] != book_pair(BOOK_NODE_WORDS, BOOK_PORT_WORDS))
		return no_such_file(err, "it is of another fmd-perf, with other rows");
	if (head[HEAD_NODES] > BOOK_MOST_NODES || head[HEAD_PORTS] > BOOK_MOST_PORTS)
		return no_such_file(err, "it has more rows than there can be");
	r->n_nodes = (uint32_t)head[HEAD_NODES];
	r->n_ports = (uint32_t)head[HEAD_PORTS];
	if (head[HEAD_BYTES] != book_bytes(r->n_nodes, r->n_ports) ||
	    (uint64_t)st.st_size != head[HEAD_BYTES])
		return no_such_file(err, "it has another size than it says");
	return 0;
}

int
book_open(const char *path, struct book_reader **out, struct fm_error *err)
{
	struct book_reader *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	r->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0)
		rc = fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno));
	else
		rc = look_at_head(r, err);
	if (rc != 0) {
		book_reader_free(r);
		return fm_context(err, "cannot read %.100s", path);
	}
	*out = r;
	return 0;
}

void
book_reader_free(struct book_reader *r)
{
	if (r == NULL)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

uint32_t
book_n_nodes(const struct book_reader *r)
{
	return r->n_nodes;
}

uint32_t
book_n_ports(const struct book_reader *r)
{
	return r->n_ports;
}

/* ------------------------------------------------------------------------ rows */

bool
book_read_head(struct book_reader *r, struct book_head *h)
{
	uint64_t w[BOOK_HEAD_WORDS];

	if (!copy_guarded(r, HEAD_SEQ, 0, w, BOOK_HEAD_WORDS))
		return false;
	*h = (struct book_head){ .sweep = w[HEAD_SWEEP],
		.began_ms = (int64_t)w[HEAD_BEGAN],
		.sweep_began_ms = (int64_t)w[HEAD_SWEEP_BEGAN],
		.sweep_ended_ms = (int64_t)w[HEAD_SWEEP_ENDED],
		.interval_ms = (uint32_t)w[HEAD_INTERVAL],
		.n_wanted = (uint32_t)(w[HEAD_PORTS_WANTED] >> 32),
		.n_read = (uint32_t)w[HEAD_PORTS_WANTED],
		.n_silent = (uint32_t)(w[HEAD_SILENT] >> 32),
		.n_late = (uint32_t)w[HEAD_SILENT],
		.is_old = w[HEAD_OLD] != 0 };
	return true;
}

bool
book_read_node(struct book_reader *r, uint32_t node, struct book_node *n)
{
	uint64_t w[BOOK_NODE_WORDS];

	if (node >= r->n_nodes || !copy(r, book_node_at(node), w, BOOK_NODE_WORDS))
		return false;
	*n = (struct book_node){ .guid = w[NODE_GUID],
		.first_port = (uint32_t)(w[NODE_PORTS] >> 32),
		.n_ports = (uint32_t)w[NODE_PORTS] >> 8,
		.flags = (uint32_t)w[NODE_FLAGS],
		.type = (uint8_t)w[NODE_PORTS] };
	memcpy(n->name, &w[NODE_NAME], BOOK_NAME_BYTES);
	n->name[BOOK_NAME_BYTES] = '\0';
	fm_printable(n->name);
	return n->n_ports <= 254 && n->first_port <= r->n_ports &&
	    n->n_ports <= r->n_ports - n->first_port;
}

bool
book_read_ports(
    struct book_reader *r, uint32_t node, const struct book_node *n, struct book_port *ports)
{
	uint64_t *words;
	bool ok;

	if (n->first_port > r->n_ports || n->n_ports > r->n_ports - n->first_port)
		return false;
	words = reallocarray(NULL, (size_t)n->n_ports + 1, 8 * BOOK_PORT_WORDS);
	ok = words != NULL &&
	    copy_guarded(r, book_node_at(node) + NODE_SEQ, book_port_at(r->n_nodes, n->first_port),
		words, (size_t)n->n_ports * BOOK_PORT_WORDS);
	for (uint32_t i = 0; ok && i < n->n_ports; i++) {
		book_port_of(words + (size_t)i * BOOK_PORT_WORDS, &ports[i]);
		if (ports[i].peer >= r->n_nodes)
			ports[i].peer = BOOK_NOBODY;
	}
	free(words);
	return ok;
}
