/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the file of counters: it is refused, or every node and port is a row of the right
 * form.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/book/book_words.h"
#include "tests/fuzz/fuzz.h"

static void
look_at_node(struct book_reader *r, uint32_t node)
{
	struct book_port ports[254];
	struct book_node n;

	if (!book_read_node(r, node, &n))
		return;
	must(strlen(n.name) <= BOOK_NAME_BYTES && n.n_ports <= 254 &&
	    n.first_port + n.n_ports <= book_n_ports(r));
	if (book_read_ports(r, node, &n, ports))
		for (uint32_t i = 0; i < n.n_ports; i++)
			must(ports[i].peer < book_n_nodes(r) || ports[i].peer == BOOK_NOBODY);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fm_error err = { 0 };
	struct book_reader *r;
	struct book_head h;
	char path[64];
	int fd = memfd_create("book", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (book_open(path, &r, &err) != 0) {
		must(r == NULL && err.msg[0] != '\0');
	} else {
		(void)book_read_head(r, &h);
		for (uint32_t i = 0; i < book_n_nodes(r) && i < 64; i++)
			look_at_node(r, i);
		book_reader_free(r);
	}
	close(fd);
	return 0;
}
