/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of "key: value" lines.  One reader serves the three files, so that
 * every mistake in any of them is told in the same way.
 */
#include "core/text/rchain_text.h"

#include <stdio.h>
#include <string.h>

#include "core/text/suggest.h"

void
rchain_text_init(struct rchain_text *t, const struct fm_file *file, struct fm_arena *mem)
{
	*t = (struct rchain_text){ .path = file->path, .mem = mem };
	conf_lines_init(&t->lines, file->bytes, file->n_bytes);
}

/* The next line that holds something: 1, 0 at the end, FM_E_RESOURCE. */
static int
next_line(struct rchain_text *t, char **line, struct fm_error *err)
{
	*line = conf_lines_next(&t->lines, t->mem);
	if (t->lines.out_of_memory)
		return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", t->path);
	return *line != NULL;
}

/* A value that ends with a comma goes on in the next line.  Its room doubles: lists of
 * GUIDs have as many lines as a fabric has ports. */
static int
read_on(struct rchain_text *t, char **value, struct fm_error *err)
{
	size_t n = strlen(*value), room = n;

	while (n > 0 && (*value)[n - 1] == ',') {
		char *more, *larger;
		size_t n_more;
		int rc = next_line(t, &more, err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			return conf_fail_at(err, t->path, t->lines.line,
			    "the file ends after a comma, where a list goes on");
		n_more = strlen(more);
		if (n + n_more > room) {
			room = 2 * (n + n_more);
			larger = fm_arena_alloc(t->mem, room + 1);
			if (larger == NULL)
				return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", t->path);
			memcpy(larger, *value, n);
			*value = larger;
		}
		memcpy(*value + n, more, n_more + 1);
		n += n_more;
	}
	return 0;
}

static int
unknown_key(const struct rchain_text *t, const struct rchain_form *form, const char *key,
    struct fm_error *err)
{
	struct suggestion s;
	char list[200];
	size_t n = 0;

	suggest_init(&s, key);
	list[0] = '\0';
	for (int i = 0; form->keys[i] != NULL; i++) {
		suggest_offer(&s, form->keys[i]);
		n += (size_t)snprintf(
		    list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", form->keys[i]);
	}
	if (suggest_best(&s) != NULL)
		return conf_fail_at(err, t->path, t->lines.line,
		    "unknown key %.40s: did you mean %s?", key, suggest_best(&s));
	return conf_fail_at(
	    err, t->path, t->lines.line, "unknown key %.40s: a %s has %s", key, form->word, list);
}

static int
take_line(struct rchain_text *t, const struct rchain_form *form, char *line, struct rchain_block *b,
    struct fm_error *err)
{
	char *colon = strchr(line, ':'), *key = line, *value;
	unsigned at = t->lines.line;
	int i = 0, rc;

	if (colon == NULL)
		return conf_fail_at(err, t->path, at,
		    "\"%.60s\" is neither \"key: value\" nor end-%s, which the block of line %u "
		    "lacks",
		    line, form->word, b->line);
	*colon = '\0';
	key = conf_trim(key);
	value = conf_trim(colon + 1);
	while (form->keys[i] != NULL && strcmp(form->keys[i], key) != 0)
		i++;
	if (form->keys[i] == NULL)
		return unknown_key(t, form, key, err);
	if (b->value[i] != NULL)
		return conf_fail_at(
		    err, t->path, at, "%s is given twice, first in line %u", key, b->value_line[i]);
	if (*value == '\0')
		return conf_fail_at(err, t->path, at, "%s has no value", key);
	if ((rc = read_on(t, &value, err)) != 0)
		return rc;
	b->value[i] = value;
	b->value_line[i] = at;
	return 0;
}

int
rchain_text_next(struct rchain_text *t, const struct rchain_form *form, struct rchain_block *b,
    struct fm_error *err)
{
	char *line;
	int rc = next_line(t, &line, err);

	if (rc <= 0)
		return rc;
	if (strcmp(line, form->word) != 0)
		return conf_fail_at(err, t->path, t->lines.line,
		    "\"%.60s\" stands outside a block: %s begins one", line, form->word);
	*b = (struct rchain_block){ .line = t->lines.line };
	while ((rc = next_line(t, &line, err)) > 0) {
		if (strncmp(line, "end-", 4) == 0 && strcmp(line + 4, form->word) == 0)
			return 1;
		if ((rc = take_line(t, form, line, b, err)) != 0)
			return rc;
	}
	return rc < 0
	    ? rc
	    : conf_fail_at(err, t->path, b->line, "this %s has no end-%s", form->word, form->word);
}
