/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of "key: value" lines.  One reader serves all policy files, so that every mistake in any
 * of them is told in the same way.
 */
#include "core/text/blocks.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/text/suggest.h"

void
blocks_init(struct blocks *b, const char *path, const char *bytes, size_t n_bytes,
    struct fm_arena *mem, struct mistakes *all, struct fm_error *err)
{
	*b = (struct blocks){ .at = { .path = path, .err = err, .all = all }, .mem = mem };
	conf_lines_init(&b->lines, bytes, n_bytes);
}

int
blocks_line(struct blocks *b, char **line)
{
	*line = conf_lines_next(&b->lines, b->mem);
	b->at.line = b->lines.line;
	if (b->lines.out_of_memory)
		return conf_no_memory(&b->at);
	return *line != NULL;
}

bool
blocks_is_end(const char *line, const char *word)
{
	return strncasecmp(line, "end-", 4) == 0 && strcasecmp(line + 4, word) == 0;
}

int
blocks_lack_end(struct blocks *b, const char *word, unsigned begun)
{
	b->at.line = begun;
	return conf_bad(&b->at, "this %s has no end-%s", word, word);
}

const char *
block_key(const struct block_form *form, unsigned row)
{
	return *(const char *const *)((const char *)form->rows + row * form->stride);
}

static int
unknown_key(const struct blocks *b, const struct block_form *form, const char *key)
{
	const char *name;
	struct suggestion s;
	char list[200];
	size_t n = 0;

	suggest_init(&s, key);
	list[0] = '\0';
	for (unsigned i = 0; (name = block_key(form, i)) != NULL; i++) {
		suggest_offer(&s, name);
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", name);
	}
	if (suggest_best(&s) != NULL)
		return conf_bad(
		    &b->at, "unknown key %.40s: did you mean %s?", key, suggest_best(&s));
	return conf_bad(&b->at, "unknown key %.40s: a %s has %s", key, form->word, list);
}

/* A line of a block, with a colon, to its parts; FM_E_CONFIG. */
static int
split(
    const struct blocks *b, const struct block_form *form, char *line, unsigned *row, char **value)
{
	char *colon = strchr(line, ':'), *key;
	unsigned i = 0;

	*colon = '\0';
	key = conf_trim(line);
	*value = conf_trim(colon + 1);
	while (block_key(form, i) != NULL && strcasecmp(block_key(form, i), key) != 0)
		i++;
	if (block_key(form, i) == NULL)
		return unknown_key(b, form, key);
	if (**value == '\0')
		return conf_bad(&b->at, "%s has no value", block_key(form, i));
	*row = i;
	return 0;
}

int
blocks_next(struct blocks *b, const struct block_form *form, unsigned *row, char **value)
{
	char *line;
	int rc;

	while ((rc = blocks_line(b, &line)) > 0) {
		if (blocks_is_end(line, form->word))
			return 0;
		if (strchr(line, ':') == NULL)
			return conf_bad(&b->at,
			    "\"%.60s\" is neither \"key: value\" nor end-%s, which the block of "
			    "line %u lacks",
			    line, form->word, b->begun);
		if (split(b, form, line, row, value) == 0)
			return 1;
		if ((rc = conf_note_bad(&b->at)) != 0)
			return rc;
	}
	return rc < 0 ? rc : blocks_lack_end(b, form->word, b->begun);
}

/* ------------------------------------------------------------- whole blocks */

/* A value that ends with a comma goes on in the next line.  Its room doubles: lists of
 * GUIDs have as many lines as a fabric has ports. */
static int
read_on(struct blocks *b, char **value)
{
	size_t n = strlen(*value), room = n;

	while (n > 0 && (*value)[n - 1] == ',') {
		char *more, *larger;
		size_t n_more;
		int rc = blocks_line(b, &more);

		if (rc < 0)
			return rc;
		if (rc == 0)
			return conf_bad(
			    &b->at, "the file ends after a comma, where a list goes on");
		n_more = strlen(more);
		if (n + n_more > room) {
			room = 2 * (n + n_more);
			larger = fm_arena_alloc(b->mem, room + 1);
			if (larger == NULL)
				return conf_no_memory(&b->at);
			memcpy(larger, *value, n);
			*value = larger;
		}
		memcpy(*value + n, more, n_more + 1);
		n += n_more;
	}
	return 0;
}

int
blocks_read(struct blocks *b, const struct block_form *form, struct block *out)
{
	char *value;
	unsigned row;
	int rc = blocks_line(b, &value);

	if (rc <= 0)
		return rc;
	if (strcasecmp(value, form->word) != 0) {
		conf_bad(
		    &b->at, "\"%.60s\" stands outside a block: %s begins one", value, form->word);
		if ((rc = conf_note_bad(&b->at)) != 0)
			return rc;
	}
	while (strcasecmp(value, form->word) != 0)
		if ((rc = blocks_line(b, &value)) <= 0)
			return rc;
	*out = (struct block){ .line = b->at.line };
	b->begun = out->line;
	while ((rc = blocks_next(b, form, &row, &value)) > 0) {
		if (out->value[row] != NULL) {
			conf_bad(&b->at, "%s is given twice, first in line %u: keep one of them",
			    block_key(form, row), out->value_line[row]);
			if ((rc = conf_note_bad(&b->at)) != 0)
				return rc;
		}
		out->value_line[row] = b->at.line;
		if ((rc = read_on(b, &value)) != 0)
			return rc;
		out->value[row] = value;
	}
	return rc == 0 ? 1 : rc;
}
