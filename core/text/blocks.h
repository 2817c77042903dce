/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/blocks.h - blocks of "key: value" lines, the common form of the policy files of OpenSM
 * and MLNX_OFED:
 *
 *	port-group
 *	name: leaves		# a comment
 *	port-guid: 0x281
 *	end-port-group
 *
 * Words are taken in any case.
 */
#ifndef CORE_TEXT_BLOCKS_H
#define CORE_TEXT_BLOCKS_H

#include <fmd/engine.h>

#include "core/text/readfile.h"

/* A file of them that is read. */
struct blocks {
	struct conf_place at; /* the line that was read last */
	unsigned begun;	      /* the line with which its block begins */
	struct conf_lines lines;
	struct fm_arena *mem; /* of the lines */
};

/* What a block looks like. */
struct block_form {
	const char *word; /* "port-group": begins a block, end-... ends it */
	/* Each row begins with a key's name, const char *; a row of NULL behind the last. */
	const void *rows;
	size_t stride; /* bytes from row to row */
};

/* The name of a row's key; NULL: behind the last row. */
const char *block_key(const struct block_form *form, unsigned row);

void blocks_init(struct blocks *b, const char *path, const char *bytes, size_t n_bytes,
    struct fm_arena *mem, struct mistakes *all, struct fm_error *err);
/* The next line that holds something: 1, 0 at the end of the file, FM_E_RESOURCE. */
int blocks_line(struct blocks *b, char **line);
/* Does the line end what began with this word? */
bool blocks_is_end(const char *line, const char *word);
/* The file ends first: FM_E_CONFIG. */
int blocks_lack_end(struct blocks *b, const char *word, unsigned begun);

/* Within a block, the line read last being its first: a row's number and its value, 1; 0: its end;
 * or a negative kind with "FILE:LINE: sentence". */
int blocks_next(struct blocks *b, const struct block_form *form, unsigned *row, char **value);

/* A whole block, each key once, values that end with a comma going on in the next line. */
#define BLOCK_KEYS 8

struct block {
	unsigned line; /* of its first word */
	/* by the key's row in the form; NULL: not there */
	char *value[BLOCK_KEYS];
	unsigned value_line[BLOCK_KEYS];
};
/* The next block: 1, 0 at the end of the file, or a negative kind with "FILE:LINE: sentence", also
 * for what stands outside of blocks. */
int blocks_read(struct blocks *b, const struct block_form *form, struct block *out);

#endif
