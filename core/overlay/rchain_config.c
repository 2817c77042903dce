/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's key, our option: an engine has an option under one of the names that
 * its key may have here, or the key is of other engines.
 */
#include "core/overlay/rchain_config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/text/readfile.h"

static const struct {
	const char *key;
	const char *options[2]; /* by engine */
	bool is_list;		/* a file of nodes or rows */
} keys[] = {
	{ "root_guid_file", { "roots" }, true },
	{ "cn_guid_file", { "cn", "compute_nodes" }, true },
	{ "io_guid_file", { "io", "io_nodes" }, true },
	{ "max_reverse_hops", { "max_reverse_hops" }, false },
	{ "ids_guid_file", { "ids" }, true },
	{ "connect_roots", { "connect_roots" }, false },
	{ "guid_routing_order_file", { "guid_routing_order" }, true },
	{ "guid_routing_order_no_scatter", { "guid_routing_order_no_scatter" }, false },
	{ "port_prof_ignore_file", { "ignore_guids" }, true },
	{ "port_search_ordering_file", { "port_search_order" }, true },
	{ "dimn_ports_file", { "port_search_order" }, true },
	{ "hop_weights_file", { "hop_weights" }, true },
	{ "port_shifting", { "port_shifting" }, false },
	{ "scatter_ports", { "scatter_ports" }, false },
	{ "avoid_throttled_links", { "avoid_throttled_links" }, false },
	{ "torus_config", { "torus_config" }, false },
	{ "lash_start_vl", { "start_vl" }, false },
	{ "nue_max_num_vls", { "vls" }, false },
	{ "nue_include_switches", { "include_switches" }, false },
	{ "lfts_file", { "lfts" }, false },
	{ "lid_matrix_dump_file", { "lid_matrix" }, false },
};

/* "TRUE" and "FALSE" as our options have them. */
static const char *
spell(const char *value)
{
	if (strcasecmp(value, "true") == 0)
		return "yes";
	return strcasecmp(value, "false") == 0 ? "no" : value;
}

static int
read_key(struct option_values *values, const struct option_table *table, size_t key,
    const char *value, const struct option_origin *origin, struct fm_error *err)
{
	char text[PATH_MAX + 8];
	const char *item = text;

	for (size_t i = 0; i < 2 && keys[key].options[i] != NULL; i++) {
		if (option_find(table, keys[key].options[i]) == NULL)
			continue;
		snprintf(text, sizeof(text), "%s%s", keys[key].is_list ? "file:" : "",
		    keys[key].is_list ? value : spell(value));
		return option_values_set(values, keys[key].options[i], &item, 1, origin, err);
	}
	return 0;
}

static int
take_line(struct option_values *values, const struct option_table *table, char *line,
    const struct option_origin *origin, struct fm_error *err)
{
	size_t n = strcspn(line, " \t");
	char *value = line + n + strspn(line + n, " \t");

	line[n] = '\0';
	if (*value == '\0' || strcmp(value, "(null)") == 0)
		return 0; /* not set */
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(keys[i].key, line) == 0)
			return read_key(values, table, i, value, origin, err);
	return 0;
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
