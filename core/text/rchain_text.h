/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/rchain_text.h - the common form of MLNX_OFED's policy files:
 *
 *	port-group
 *	name: leaves		# a comment
 *	port-guid: 0x281,
 *	    0x282		a value that ends with a comma goes on
 *	end-port-group
 */
#ifndef CORE_TEXT_RCHAIN_TEXT_H
#define CORE_TEXT_RCHAIN_TEXT_H

#include <fmd/engine.h>

#include "core/text/readfile.h"

#define RCHAIN_KEYS 8

struct rchain_text {
	const char *path; /* for messages */
	struct conf_lines lines;
	struct fm_arena *mem;
};

/* What a file's blocks look like. */
struct rchain_form {
	const char *word;	 /* "port-group": begins a block, end-... ends it */
	const char *const *keys; /* NULL-terminated, RCHAIN_KEYS at most */
};

struct rchain_block {
	unsigned line; /* of its first word */
	/* by the key's number in the form; NULL: not there */
	char *value[RCHAIN_KEYS];
	unsigned value_line[RCHAIN_KEYS];
};

void rchain_text_init(struct rchain_text *t, const struct fm_file *file, struct fm_arena *mem);
/* The next block: 1, 0 at the end of the file, or a negative kind with
 * "FILE:LINE: sentence". */
int rchain_text_next(struct rchain_text *t, const struct rchain_form *form, struct rchain_block *b,
    struct fm_error *err);

#endif
