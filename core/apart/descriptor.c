/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as they lie in memory, texts with their length in front.  The reader is handed what
 * a child wrote: it believes no length, and each text is cut, ended and made printable.
 * O(bytes).
 */
#include "core/apart/descriptor.h"

#include <string.h>

#include "core/abi/options.h"
#include "lib/error.h"
#include "lib/printable.h"

#define NO_TEXT UINT32_MAX
#define MAX_TEXT 4096u
#define MAX_WORDS 256u /* aliases, choices of an option */
#define MAX_OPTIONS 1024u
#define MAX_OPTION_BYTES ((uint64_t)1 << 20)

/* ------------------------------------------------------------------ writing */

struct writer {
	unsigned char *to;
	size_t used, room;
	bool full;
};

static void
write_bytes(struct writer *w, const void *from, size_t n)
{
	w->full |= n > w->room - w->used;
	if (w->full)
		return;
	memcpy(w->to + w->used, from, n);
	w->used += n;
}

static void
write_number(struct writer *w, uint64_t n)
{
	write_bytes(w, &n, sizeof(n));
}

static void
write_text(struct writer *w, const char *text)
{
	uint32_t n = text != NULL ? (uint32_t)strnlen(text, MAX_TEXT) : NO_TEXT;

	write_bytes(w, &n, sizeof(n));
	if (text != NULL)
		write_bytes(w, text, n);
}

static void
write_words(struct writer *w, const char *const *words)
{
	uint64_t n = 0;

	while (words != NULL && words[n] != NULL)
		n++;
	write_number(w, words != NULL ? n + 1 : 0);
	for (uint64_t i = 0; i < n; i++)
		write_text(w, words[i]);
}

static void
write_option(struct writer *w, const struct fm_option *row)
{
	write_text(w, row->name);
	write_number(w, (uint64_t)row->type);
	write_number(w, row->offset);
	write_text(w, row->def);
	write_number(w, (uint64_t)row->min);
	write_number(w, (uint64_t)row->max);
	write_words(w, row->choices);
	write_text(w, row->unit);
	write_text(w, row->help);
}

size_t
descriptor_write(const struct fm_engine *e, unsigned char *to, size_t room)
{
	struct option_table table = option_table_of(e);
	struct writer w = { .to = to, .room = room };
	const struct fm_option *row;
	size_t n = 0;

	write_bytes(&w, e, offsetof(struct fm_engine, name));
	write_text(&w, e->name);
	write_words(&w, e->aliases);
	write_text(&w, e->summary);
	write_number(&w, e->traits);
	write_number(&w, e->options_size);
	while (option_row(&table, n) != NULL)
		n++;
	write_number(&w, e->options != NULL ? n + 1 : 0);
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		write_option(&w, row);
	return w.full ? 0 : w.used;
}

/* ------------------------------------------------------------------ reading */

struct reader {
	const unsigned char *at;
	size_t left;
	struct fm_arena *mem;
	bool bad, no_memory;
};

static void
read_bytes(struct reader *r, void *to, size_t n)
{
	memset(to, 0, n);
	r->bad |= n > r->left;
	if (r->bad)
		return;
	memcpy(to, r->at, n);
	r->at += n;
	r->left -= n;
}

/* 0..max */
static uint64_t
read_number(struct reader *r, uint64_t max)
{
	uint64_t n;

	read_bytes(r, &n, sizeof(n));
	r->bad |= n > max;
	return r->bad ? 0 : n;
}

static const char *
read_text(struct reader *r)
{
	uint32_t n;
	char *text;

	read_bytes(r, &n, sizeof(n));
	if (r->bad || n == NO_TEXT)
		return NULL;
	r->bad |= n > MAX_TEXT || n > r->left;
	text = r->bad ? NULL : fm_arena_alloc(r->mem, n + 1);
	r->no_memory |= !r->bad && text == NULL;
	if (text == NULL)
		return NULL;
	read_bytes(r, text, n);
	fm_printable(text);
	return text;
}

/* Texts that are there, NULL behind them; NULL: no list. */
static const char *const *
read_words(struct reader *r)
{
	uint64_t n = read_number(r, MAX_WORDS);
	const char **words = n > 0 ? fm_arena_array(r->mem, n, const char *) : NULL;

	r->no_memory |= n > 0 && words == NULL;
	for (uint64_t i = 0; words != NULL && i + 1 < n && !r->bad; i++) {
		words[i] = read_text(r);
		r->bad |= words[i] == NULL;
	}
	return words;
}

static void
read_option(struct reader *r, struct fm_option *row)
{
	row->name = read_text(r);
	row->type = (enum fm_opt_type)read_number(r, FM_OPT_FILE);
	row->offset = read_number(r, MAX_OPTION_BYTES);
	row->def = read_text(r);
	row->min = (int64_t)read_number(r, UINT64_MAX);
	row->max = (int64_t)read_number(r, UINT64_MAX);
	row->choices = read_words(r);
	row->unit = read_text(r);
	row->help = read_text(r);
	r->bad |= row->type == FM_OPT_END;
}

/* FM_OPT_END behind them. */
static const struct fm_option *
read_options(struct reader *r)
{
	uint64_t n = read_number(r, MAX_OPTIONS);
	struct fm_option *rows = n > 0 ? fm_arena_array(r->mem, n, struct fm_option) : NULL;

	r->no_memory |= n > 0 && rows == NULL;
	for (uint64_t i = 0; rows != NULL && i + 1 < n && !r->bad; i++)
		read_option(r, &rows[i]);
	return rows;
}

int
descriptor_read(const unsigned char *bytes, size_t n, struct fm_arena *mem, struct fm_engine *to,
    struct fm_error *err)
{
	struct reader r = { .at = bytes, .left = n, .mem = mem };

	read_bytes(&r, to, offsetof(struct fm_engine, name));
	to->name = read_text(&r);
	to->aliases = read_words(&r);
	to->summary = read_text(&r);
	to->traits = (uint32_t)read_number(&r, UINT32_MAX);
	to->options_size = (uint32_t)read_number(&r, MAX_OPTION_BYTES);
	to->options = read_options(&r);
	if (r.no_memory)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while loading engines");
	if (r.bad || r.left != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "what it says of itself is no descriptor (at most %u options, %u aliases, "
		    "options of %u bytes)",
		    MAX_OPTIONS - 1, MAX_WORDS - 1, (unsigned)MAX_OPTION_BYTES);
	return 0;
}
