/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's key, our option, by the rows of core/opensm: an engine has an option under one of the
 * names that its key may have here, or the key is of other engines.
 */
#include "core/overlay/rchain_config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/opensm/opensm.h"
#include "core/text/readfile.h"

/* "TRUE" and "FALSE" as our options have them. */
static const char *
spell(const char *value)
{
	if (strcasecmp(value, "true") == 0)
		return "yes";
	return strcasecmp(value, "false") == 0 ? "no" : value;
}

static int
take_line(struct option_values *values, const struct option_table *table, char *line,
    const struct option_origin *origin, struct fm_error *err)
{
	size_t n = strcspn(line, " \t");
	const struct opensm_key *key;
	char *value = line + n + strspn(line + n, " \t"), text[PATH_MAX + 8];
	const char *item = text, *to;
	bool is_list;

	line[n] = '\0';
	if (*value == '\0' || strcmp(value, "(null)") == 0)
		return 0; /* not set */
	key = opensm_key_find(line);
	to = key != NULL ? opensm_engine_option(key, table, &is_list) : NULL;
	if (to == NULL)
		return 0;
	snprintf(
	    text, sizeof(text), "%s%s", is_list ? "file:" : "", is_list ? value : spell(value));
	return option_values_set(values, to, &item, 1, origin, err);
}

/* path, or beside the file that names it. */
static const char *
place(const char *path, const char *beside, struct fm_arena *mem)
{
	const char *slash = strrchr(beside, '/');
	size_t n = *path == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - beside);
	char *text = fm_arena_alloc(mem, n + strlen(path) + 1);

	if (text == NULL)
		return NULL;
	memcpy(text, beside, n);
	memcpy(text + n, path, strlen(path) + 1);
	return text;
}

int
rchain_config_read(const char *path, const char *beside, const struct fm_engine *engine,
    const struct option_values *main, struct fm_arena *mem, const struct option_values **out,
    struct fm_error *err)
{
	struct option_table table = option_table_of(engine);
	struct option_values *values = main != NULL ? option_values_copy(mem, main)
						    : option_values_new(mem, &table, engine->name);
	struct conf_lines lines;
	const char *bytes;
	char *line;
	size_t n;
	int rc;

	path = place(path, beside, mem);
	if (path == NULL || values == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for routing chains");
	if ((rc = conf_read_file(path, mem, &bytes, &n, err)) != 0)
		return rc;
	conf_lines_init(&lines, bytes, n);
	while (rc == 0 && (line = conf_lines_next(&lines, mem)) != NULL)
		rc = take_line(values, &table, line,
		    &(struct option_origin){ .file = path, .line = lines.line }, err);
	if (rc == 0 && lines.out_of_memory)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for routing chains");
	*out = values;
	return rc;
}
