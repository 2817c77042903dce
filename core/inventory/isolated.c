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

/* As a line of the file can have it, between quotes. */
static void
copy_reason(char *to, const char *from)
{
	snprintf(to, ISOLATED_REASON, "%s", from);
	for (char *c = to; *c != '\0'; c++)
		if (*c == '"' || *c == '#' || (unsigned char)*c < ' ')
			*c = '\'';
}

void
isolated_quarantine(
    struct isolated *set, uint64_t guid, uint8_t port, int64_t since_s, const char *reason)
{
	size_t i = find(set, guid, port);

	if (i == set->items.n)
		return;
	set->items.item[i].quarantined_s = since_s;
	copy_reason(set->items.item[i].reason, reason);
}

uint32_t
isolated_n_quarantined(const struct isolated *set)
{
	uint32_t n = 0;

	for (size_t i = 0; i < set->items.n; i++)
		n += set->items.item[i].quarantined_s != 0;
	return n;
}

const struct isolated_item *
isolated_at(const struct isolated *set, uint64_t guid, uint8_t port)
{
	size_t i = find(set, guid, port);

	return i < set->items.n ? &set->items.item[i] : NULL;
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

enum kind { KIND_SWITCH, KIND_LINK, KIND_QUARANTINED, N_KINDS };
static const char *const kinds[N_KINDS] = { "switch", "link", "quarantined" };

/* A number that is the next word. */
static bool
read_number(char **left, uint64_t most, uint64_t *number)
{
	const char *word = strtok_r(NULL, " \t", left);

	return word != NULL && number_parse(word, number) && *number > 0 && *number <= most;
}

/* The text between the quotes that come next, which has none itself. */
static bool
read_reason(char **left, char *reason)
{
	char *text = *left + strspn(*left, " \t"), *end = NULL;

	if (text[0] == '"')
		end = strchr(text + 1, '"');
	if (end == NULL)
		return false;
	*end = '\0';
	copy_reason(reason, text + 1);
	*left = end + 1;
	return true;
}

static bool
read_item(char *line, struct isolated_item *item)
{
	char *left = line, *word = strtok_r(line, " \t", &left);
	uint64_t port = 0, since_s = 0;
	const char *name;
	unsigned kind = 0;

	while (kind < N_KINDS && (word == NULL || strcmp(word, kinds[kind]) != 0))
		kind++;
	if (kind == N_KINDS || !read_number(&left, UINT64_MAX, &item->guid) ||
	    (kind != KIND_SWITCH && !read_number(&left, 254, &port)) ||
	    (kind == KIND_QUARANTINED &&
		(!read_number(&left, UINT32_MAX, &since_s) || !read_reason(&left, item->reason))))
		return false;
	name = read_name(left);
	if (name == NULL)
		return false;
	item->port = (uint8_t)port;
	item->quarantined_s = (int64_t)since_s;
	snprintf(item->name, sizeof(item->name), "%s", name);
	return true;
}

static int
read_line(const struct conf_place *at, char *line, struct isolated *set)
{
	struct isolated_item item = { 0 };

	if (!read_item(line, &item))
		return conf_bad(at,
		    "a line is 'switch GUID [\"NAME\"]', 'link GUID PORT [\"NAME\"]' or "
		    "'quarantined GUID PORT SECONDS \"WHY\" [\"NAME\"]', of the node GUID of a "
		    "switch, a port from 1 to 254 and seconds since 1970");
	if (!isolated_add(set, item.guid, item.port))
		return conf_no_memory(at);
	isolated_name(set, item.guid, item.port, item.name);
	if (item.quarantined_s != 0)
		isolated_quarantine(set, item.guid, item.port, item.quarantined_s, item.reason);
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
		else if (item->quarantined_s != 0)
			fprintf(out, "quarantined 0x%016" PRIx64 " %u %" PRId64 " \"%s\"",
			    item->guid, item->port, item->quarantined_s, item->reason);
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
