/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/inventory/isolated.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/text/files.h"
#include "core/text/number.h"
#include "core/text/readfile.h"

void
isolated_fini(struct isolated *set)
{
	fm_vec_fini(&set->items);
}

static size_t
find(const struct isolated *set, uint64_t guid, uint8_t port)
{
	size_t i = 0;

	while (i < set->items.n &&
	    (set->items.item[i].guid != guid || set->items.item[i].port != port))
		i++;
	return i;
}

bool
isolated_has(const struct isolated *set, uint64_t guid, uint8_t port)
{
	return set != NULL && find(set, guid, port) < set->items.n;
}

bool
isolated_add(struct isolated *set, uint64_t guid, uint8_t port)
{
	struct isolated_item item = { .guid = guid, .port = port };

	return isolated_has(set, guid, port) || fm_vec_push(&set->items, item);
}

void
isolated_name(struct isolated *set, uint64_t guid, uint8_t port, const char *name)
{
	size_t i = find(set, guid, port);

	if (i < set->items.n)
		snprintf(set->items.item[i].name, sizeof(set->items.item[i].name), "%s", name);
}

bool
isolated_remove(struct isolated *set, uint64_t guid, uint8_t port)
{
	size_t i = find(set, guid, port);

	if (i == set->items.n)
		return false;
	memmove(&set->items.item[i], &set->items.item[i + 1],
	    (set->items.n - i - 1) * sizeof(set->items.item[0]));
	set->items.n--;
	return true;
}

bool
isolated_copy(struct isolated *to, const struct isolated *from)
{
	return from->items.n == 0 || fm_vec_append(&to->items, from->items.item, from->items.n);
}

bool
isolated_is_cable(
    const struct isolated *set, const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot), *far;
	const struct inv_port *p = &n->ports[port];

	if (!isolated_any(set) || port == 0 || !inv_is_switch(n) || p->edge != EDGE_LINKED)
		return false;
	far = inv_node(inv, p->peer);
	return inv_is_switch(far) &&
	    (isolated_has(set, n->guid, 0) || isolated_has(set, n->guid, (uint8_t)port) ||
		isolated_has(set, far->guid, 0) || isolated_has(set, far->guid, p->peer_port));
}

/* ---------------------------------------------------------------- the file */

/* "", or a name in quotes, which then stands alone; NULL: neither. */
static const char *
read_name(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	if (n == 0)
		return text;
	if (n < 2 || text[0] != '"' || text[n - 1] != '"')
		return NULL;
	text[n - 1] = '\0';
	return text + 1;
}

static int
read_line(const struct conf_place *at, char *line, struct isolated *set)
{
	uint64_t guid = 0, port = 0;
	char *left = line, *word = strtok_r(line, " \t", &left);
	char *number = strtok_r(NULL, " \t", &left);
	bool is_link = word != NULL && strcmp(word, "link") == 0;
	char *of_port = is_link ? strtok_r(NULL, " \t", &left) : NULL;
	const char *name = number != NULL && (of_port != NULL || !is_link) ? read_name(left) : NULL;

	if (word == NULL || (!is_link && strcmp(word, "switch") != 0) || number == NULL ||
	    !number_parse(number, &guid) || guid == 0 || name == NULL ||
	    (is_link && (!number_parse(of_port, &port) || port == 0 || port > 254)))
		return conf_bad(at,
		    "a line is 'switch GUID [\"NAME\"]' or 'link GUID PORT [\"NAME\"]', of the "
		    "node "
		    "GUID "
		    "of a switch and a port from 1 to 254");
	if (!isolated_add(set, guid, (uint8_t)port))
		return conf_no_memory(at);
	isolated_name(set, guid, (uint8_t)port, name);
	return 0;
}

int
isolated_load(const char *path, struct isolated *set, struct fm_error *err)
{
	struct conf_place at = { .path = path, .err = err };
	struct isolated read = { 0 };
	struct conf_lines lines;
	struct fm_arena mem;
	const char *bytes;
	size_t n;
	char *line;
	int rc;

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	fm_arena_init(&mem, SIZE_MAX);
	rc = conf_read_file(path, &mem, &bytes, &n, err);
	if (rc == 0)
		conf_lines_init(&lines, bytes, n);
	while (rc == 0 && (line = conf_lines_next(&lines, &mem)) != NULL) {
		at.line = lines.line;
		rc = read_line(&at, line, &read);
	}
	if (rc == 0 && lines.out_of_memory)
		rc = conf_no_memory(&at);
	fm_arena_fini(&mem);
	if (rc != 0) {
		isolated_fini(&read);
		return rc;
	}
	isolated_fini(set);
	*set = read;
	return 0;
}

static bool
write_items(FILE *out, const void *arg)
{
	const struct isolated *set = arg;

	fprintf(out, "# cables out of routing: kept by fmctl isolate and fmctl restore\n");
	for (size_t i = 0; i < set->items.n; i++) {
		const struct isolated_item *item = &set->items.item[i];

		if (item->port == 0)
			fprintf(out, "switch 0x%016" PRIx64, item->guid);
		else
			fprintf(out, "link 0x%016" PRIx64 " %u", item->guid, item->port);
		if (item->name[0] != '\0') /* without a comment, which "#" would begin */
			fprintf(out, " \"%.*s\"", (int)strcspn(item->name, "#\n"), item->name);
		fputc('\n', out);
	}
	return fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
}

int
isolated_save(const char *path, const struct isolated *set, struct fm_error *err)
{
	if (!fm_file_write(path, 0644, write_items, set))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.150s: %s", path, strerror(errno));
	return 0;
}
