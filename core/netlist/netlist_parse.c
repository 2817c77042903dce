/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reading lines (netlist_read.c) and joining ports (netlist_join.c) both need: nodes by
 * their ids, and why a file is refused.
 */
#include "core/netlist/netlist_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lib/error.h"

/* What tells one id from another.  Of an id made of a GUID zeros in front, and 0x, do not:
 * "H-2c903" is "H-000000000002c903". */
struct id_key {
	char type; /* S, H or R of a GUID; 0: any other id */
	const char *at;
	size_t len;
};

static struct id_key
key_of(const char *id, size_t len)
{
	const char *at = id + 2, *end = id + len;

	if (len < 3 || strchr("SHR", id[0]) == NULL || id[1] != '-')
		return (struct id_key){ 0, id, len };
	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	for (const char *c = at; c < end; c++)
		if (!isxdigit((unsigned char)*c))
			return (struct id_key){ 0, id, len };
	while (end - at > 1 && *at == '0')
		at++;
	return (struct id_key){ id[0], at, (size_t)(end - at) };
}

static uint64_t
hash_key(struct id_key k)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (unsigned char)k.type;

	for (size_t i = 0; i < k.len; i++)
		h = (h ^ (unsigned char)k.at[i]) * UINT64_C(0x100000001b3);
	return fm_mix64(h);
}

/* Keys that collide stand on the next ones. */
uint32_t
parse_find(const struct parse *ps, const char *id, size_t len)
{
	struct id_key want = key_of(id, len);
	uint64_t hash = hash_key(want);
	uint32_t node;

	while ((node = fm_hash_find(&ps->ids, hash++)) != FM_HASH_NONE) {
		const char *other = ps->nl.nodes[node].id;
		struct id_key has = key_of(other, strlen(other));

		if (has.type == want.type && has.len == want.len &&
		    memcmp(has.at, want.at, want.len) == 0)
			return node;
	}
	return NETLIST_NONE;
}

bool
parse_remember(struct parse *ps, uint32_t node)
{
	const char *id = ps->nl.nodes[node].id;
	uint64_t hash = hash_key(key_of(id, strlen(id)));

	while (fm_hash_find(&ps->ids, hash) != FM_HASH_NONE)
		hash++;
	return fm_hash_put(&ps->ids, hash, node);
}

int
parse_fail(struct parse *ps, uint32_t line, const char *fmt, ...)
{
	char sentence[sizeof(ps->err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	for (char *c = sentence; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return fm_fail(ps->err, FM_E_CONFIG, "%.100s:%" PRIu32 ": %s", ps->name, line, sentence);
}

int
parse_no_memory(struct parse *ps)
{
	return fm_fail(ps->err, FM_E_RESOURCE, "out of memory while reading %.100s", ps->name);
}

int
parse_lines(struct parse *ps, const char *text, size_t n_bytes, int (*line)(void *arg), void *arg)
{
	const char *at = text, *end = text + n_bytes;
	int rc = 0;

	if (n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at += 3; /* the byte order mark that editors of other systems put before UTF-8 */
	while (at < end && rc == 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		ps->at = at;
		ps->end = newline != NULL ? newline : end;
		ps->line++;
		rc = memchr(at, '\0', (size_t)(ps->end - at)) == NULL
		    ? line(arg)
		    : parse_fail(ps, ps->line, "a NUL byte: this is no text file");
		at = newline != NULL ? newline + 1 : end;
	}
	return rc;
}
