/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all readers of the configuration need: mistakes noted, sections found, words put
 * together and taken apart.
 */
#include <stdio.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "lib/error.h"

int
conf_out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while reading the configuration");
}

int
conf_note(struct conf_private *self, const struct fm_error *err)
{
	return mistakes_note(self->all, err);
}

int
conf_note_own(struct conf_private *self, const char *key, int rc, struct fm_error *err)
{
	const struct option_origin *at = option_values_origin(self->own, key);

	if (rc == 0)
		return 0;
	if (at == NULL || at->file == NULL)
		fm_context(err, "command line: %s", key);
	else
		fm_context(err, "%s:%u: %s", at->file, at->line, key);
	return conf_note(self, err);
}

struct instance *
conf_find_instance(struct conf_private *self, const struct fm_engine *engine, const char *title)
{
	for (size_t i = 0; i < self->instances.n; i++)
		if (self->instances.item[i].engine == engine &&
		    strcmp(self->instances.item[i].title, title) == 0)
			return &self->instances.item[i];
	return NULL;
}

/* "fattree, updn" */
const char *
conf_join_words(struct fm_arena *mem, const char *const *words, size_t n)
{
	size_t bytes = 1, at = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(words[i]) + 2;
	text = fm_arena_alloc(mem, bytes);
	for (size_t i = 0; text != NULL && i < n; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s", i > 0 ? ", " : "", words[i]);
	return text;
}

int
conf_set(struct conf_private *self, struct option_values *values, const struct conf_row *rows,
    const char *key, const char *const *items, size_t n, const struct option_origin *origin,
    struct fm_error *err)
{
	const char *text;

	for (const struct conf_row *row = rows; row->option.type != FM_OPT_END; row++) {
		if (!row->words || strcmp(row->option.name, key) != 0)
			continue;
		text = conf_join_words(&self->mem, items, n);
		return text == NULL ? conf_out_of_memory(err)
				    : option_values_set(values, key, &text, 1, origin, err);
	}
	return option_values_set(values, key, items, n, origin, err);
}

char *
conf_next_word(struct fm_arena *mem, const char **at)
{
	const char *from = *at + strspn(*at, ", ");
	size_t n = strcspn(from, ", ");
	char *word;

	*at = from + n;
	if (n == 0)
		return NULL;
	word = fm_arena_alloc(mem, n + 1);
	if (word != NULL)
		memcpy(word, from, n);
	return word;
}
