/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/readings.h - the file of counters (perf/book/book.h) as it was read last, all of it.
 *
 * The file may be anybody's: whatever stands in it ends in a sentence, within a bounded time.
 */
#ifndef WEB_TEXT_READINGS_H
#define WEB_TEXT_READINGS_H

#include <sys/types.h>

#include "lib/hash.h"
#include "lib/vec.h"
#include "perf/book/book.h"

struct readings {
	const char *path; /* borrowed */
	struct book_reader *reader;
	dev_t dev; /* of the file that is open */
	ino_t ino;
	struct book_head head;
	uint32_t n_nodes, n_ports;
	struct book_node *node; /* [n_nodes]; .first_port is the row of its port 1 */
	struct book_port *port; /* [n_ports] */
	FM_VEC(char) words;	/* {guid="0x...",port="1"} of each port */
	uint32_t *words_at;	/* [n_ports + 1] where those of a row begin */
	struct fm_hash of_guid; /* node */
	uint64_t n_files;	/* that have been opened: another one has other rows */
};

void readings_init(struct readings *r, const char *path);
void readings_fini(struct readings *r);

/* Read what the last sweep of fmd-perf has written, if that is not read yet.  On failure there are
 * no rows: FM_E_SYSTEM where the file cannot be read, FM_E_TOPOLOGY where it makes no sense,
 * FM_E_RESOURCE.  O(ports); what is known already: O(1). */
int readings_follow(struct readings *r, struct fm_error *err);

/* Has this port a cable, or had it one, and has it been read? */
bool readings_has(const struct readings *r, uint32_t row);

#endif
