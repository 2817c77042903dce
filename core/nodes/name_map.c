/* SPDX-License-Identifier: BSD-2-Clause */
/* core/nodes/name_map.c - the file of names, read and looked up. */
#include "core/nodes/name_map.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "core/text/readfile.h"
#include "lib/hash.h"
#include "lib/printable.h"
#include "lib/vec.h"

struct entry {
	unsigned line;
	char name[NAME_MAP_BYTES + 1];
};

struct name_map {
	struct fm_hash of_guid; /* node GUID -> index */
	FM_VEC(struct entry) entries;
};

#define RIGHT "0x0002c9030000a1b2 \"leaf-1\" is right"

static char *
skip_blanks(char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* The GUID at *p, which is led behind it. */
static int
read_guid(const struct conf_place *at, char **p, uint64_t *guid)
{
	char *word = *p, *end = word + strcspn(word, " \t\r\"");
	char after = *end;
	bool is;

	*end = '\0';
	is = strncmp(word, "0x", 2) == 0 && number_parse(word, guid) && *guid != 0;
	if (!is)
		return conf_bad(at, "\"%.32s\" is no GUID of a node: " RIGHT, word);
	*end = after;
	*p = end;
	return 0;
}

/* The name at p, cut off there: between quotation marks, or all there is till a comment. */
static int
read_name(const struct conf_place *at, char *p, char **name)
{
	char *end, *rest;

	p = skip_blanks(p);
	if (*p != '"') {
		p[strcspn(p, "#")] = '\0';
		*name = conf_trim(p);
	} else {
		end = strchr(p + 1, '"');
		if (end == NULL)
			return conf_bad(at, "the name has no quotation mark at its end: " RIGHT);
		*end = '\0';
		rest = skip_blanks(end + 1);
		if (*rest != '\0' && *rest != '#')
			return conf_bad(
			    at, "\"%.32s\" stands behind the name: " RIGHT, conf_trim(rest));
		*name = p + 1;
	}
	if (**name == '\0')
		return conf_bad(at, "there is no name behind the GUID: " RIGHT);
	if (strlen(*name) > NAME_MAP_BYTES)
		return conf_bad(at, "\"%.32s...\" has %zu bytes: a name has %d at most", *name,
		    strlen(*name), NAME_MAP_BYTES);
	return 0;
}

static int
keep(struct name_map *m, const struct conf_place *at, uint64_t guid, const char *name)
{
	uint32_t was = fm_hash_find(&m->of_guid, guid);
	struct entry e = { .line = at->line };

	memcpy(e.name, name, strlen(name) + 1);
	fm_printable(e.name);
	if (was != FM_HASH_NONE && strcmp(m->entries.item[was].name, e.name) != 0)
		return conf_bad(at, "0x%016" PRIx64 " is \"%s\" already, in line %u", guid,
		    m->entries.item[was].name, m->entries.item[was].line);
	if (was != FM_HASH_NONE)
		return 0;
	if (!fm_vec_push(&m->entries, e) ||
	    !fm_hash_put(&m->of_guid, guid, (uint32_t)m->entries.n - 1))
		return conf_no_memory(at);
	return 0;
}

/* A line, which may be changed. */
static int
read_line(struct name_map *m, const struct conf_place *at, char *line)
{
	char *p = skip_blanks(line), *name = p;
	uint64_t guid;
	int rc;

	if (*p == '\0' || *p == '#')
		return 0;
	rc = read_guid(at, &p, &guid);
	if (rc == 0)
		rc = read_name(at, p, &name);
	return rc != 0 ? rc : keep(m, at, guid, name);
}

/* Lines of the text, each with a NUL at its end. */
static int
read_lines(struct name_map *m, struct conf_place *at, char *text, size_t n)
{
	for (char *p = text, *next; p < text + n; p = next) {
		char *end = memchr(p, '\n', (size_t)(text + n - p));
		int rc;

		end = end != NULL ? end : text + n;
		*end = '\0';
		next = end + 1;
		at->line++;
		if (strlen(p) != (size_t)(end - p))
			return conf_bad(at, "there is a byte of 0 in the line");
		if ((rc = read_line(m, at, p)) != 0)
			return rc;
	}
	return 0;
}

int
name_map_parse(const char *path, const char *bytes, size_t n_bytes, struct name_map **out,
    struct fm_error *err)
{
	struct conf_place at = { .path = path, .err = err };
	struct name_map *m = calloc(1, sizeof(*m));
	char *text = malloc(n_bytes + 1);
	int rc;

	if (m == NULL || text == NULL) {
		rc = conf_no_memory(&at);
	} else {
		memcpy(text, bytes, n_bytes);
		text[n_bytes] = '\0';
		rc = read_lines(m, &at, text, n_bytes);
	}
	free(text);
	if (rc != 0) {
		name_map_free(m);
		return rc;
	}
	*out = m;
	return 0;
}

void
name_map_free(struct name_map *map)
{
	if (map == NULL)
		return;
	fm_hash_fini(&map->of_guid);
	fm_vec_fini(&map->entries);
	free(map);
}

const char *
name_map_find(const struct name_map *map, uint64_t guid)
{
	uint32_t i = map != NULL ? fm_hash_find(&map->of_guid, guid) : FM_HASH_NONE;

	return i != FM_HASH_NONE ? map->entries.item[i].name : NULL;
}
