/* SPDX-License-Identifier: BSD-2-Clause */
/* Plugin directories, from the command line, plugins.conf and beside the program. */
#include "config.h"

#include "core/engine/folders.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/readfile.h"
#include "lib/error.h"

#define PLUGINS_CONF SYSCONF_DIR "/fmd/plugins.conf"

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while looking for plugins");
}

bool
plugin_runs_apart(enum apart_who who, enum plugin_owner owner)
{
	return who == APART_ALL || (who != APART_NONE && owner == PLUGIN_OF_OTHERS);
}

/* ---------------------------------------------------------------- folders */

static bool
was_seen(const struct plugin_folders *to, const char *path)
{
	for (size_t i = 0; i < to->list.n; i++)
		if (strcmp(to->list.item[i].path, path) == 0)
			return true;
	return false;
}

/* plugins/engines/.libs beside a program that was not installed; false: there is none. */
static bool
find_build_tree(char real[PATH_MAX])
{
	char exe[PATH_MAX], dir[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return false;
	exe[n] = '\0';
	snprintf(dir, sizeof(dir), "%s/plugins/engines/.libs", dirname(exe));
	return realpath(dir, real) != NULL;
}

static enum plugin_owner
whose(const char *dir)
{
	char real[PATH_MAX];

	if (find_build_tree(real) && strcmp(dir, real) == 0)
		return PLUGIN_OF_BUILD_TREE;
	return realpath(PLUGIN_DIR, real) != NULL && strcmp(dir, real) == 0 ? PLUGIN_OF_FMD
									    : PLUGIN_OF_OTHERS;
}

/* A directory that is optional may be absent, nothing else may be wrong with it. */
static int
add_folder(struct plugin_folders *to, const char *dir, bool optional, struct fm_arena *mem,
    struct fm_error *err)
{
	char real[PATH_MAX];
	struct plugin_folder folder;

	if (realpath(dir, real) == NULL) {
		if (optional && errno == ENOENT)
			return 0;
		return fm_fail(err, FM_E_CONFIG, "plugin directory %s: %s", dir, strerror(errno));
	}
	if (was_seen(to, real))
		return 0;
	folder = (struct plugin_folder){ fm_arena_strdup(mem, real), whose(real) };
	return folder.path != NULL && fm_vec_push(&to->list, folder) ? 0 : out_of_memory(err);
}

/* plugins.conf: one absolute directory a line, '#' begins a comment. */
static int
add_plugins_conf(struct plugin_folders *to, struct fm_arena *mem, struct fm_error *err)
{
	const char *bytes;
	struct conf_lines lines;
	char *line;
	size_t n;
	int rc;

	if (access(PLUGINS_CONF, F_OK) != 0)
		return 0;
	if ((rc = conf_read_file(PLUGINS_CONF, mem, &bytes, &n, err)) != 0)
		return rc;
	conf_lines_init(&lines, bytes, n);
	while ((line = conf_lines_next(&lines, mem)) != NULL) {
		if (line[0] != '/')
			return fm_fail(err, FM_E_CONFIG,
			    PLUGINS_CONF ":%u: '%s' is no absolute path: one directory a line",
			    lines.line, line);
		if ((rc = add_folder(to, line, false, mem, err)) != 0)
			return fm_context(err, PLUGINS_CONF ":%u", lines.line);
	}
	return lines.out_of_memory ? out_of_memory(err) : 0;
}

int
plugin_folders(
    const char *const *dirs, struct fm_arena *mem, struct plugin_folders *to, struct fm_error *err)
{
	char built[PATH_MAX];
	int rc = 0;

	if (dirs == NULL || dirs[0] == NULL)
		rc = add_plugins_conf(to, mem, err);
	for (; rc == 0 && dirs != NULL && *dirs != NULL; dirs++)
		rc = add_folder(to, *dirs, false, mem, err);
	if (rc == 0 && find_build_tree(built))
		rc = add_folder(to, built, true, mem, err);
	return rc != 0 ? rc : add_folder(to, PLUGIN_DIR, true, mem, err);
}

/* ------------------------------------------------------------------ files */

static int
is_module(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 3 && d->d_name[0] != '.' && strcmp(d->d_name + n - 3, ".so") == 0;
}

static int
by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int
plugin_files(const char *dir, struct fm_arena *mem, struct plugin_files *to, struct fm_error *err)
{
	struct dirent **names;
	char path[PATH_MAX];
	const char *copy;
	int n = scandir(dir, &names, is_module, by_bytes), rc = 0;

	if (n < 0)
		return fm_fail(err, FM_E_CONFIG, "plugin directory %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		free(names[i]);
		copy = fm_arena_strdup(mem, path);
		if (rc == 0 && (copy == NULL || !fm_vec_push(&to->list, copy)))
			rc = out_of_memory(err);
	}
	free(names);
	return rc;
}

const char *
plugin_base(const char *path, struct fm_arena *mem)
{
	char *base = fm_arena_strdup(mem, strrchr(path, '/') + 1);

	if (base != NULL)
		base[strlen(base) - 3] = '\0';
	return base;
}
