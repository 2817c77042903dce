/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/folders.h - where plugins are looked for, whose each folder is, and its files.
 *
 * O(folders^2) for the list, O(entries) for the files of one.
 */
#ifndef CORE_ENGINE_FOLDERS_H
#define CORE_ENGINE_FOLDERS_H

#include <stdbool.h>

#include <fmd/error.h>

#include "core/apart/apart.h"
#include "lib/arena.h"
#include "lib/vec.h"

/* Whose a folder is. */
enum plugin_owner {
	PLUGIN_OF_BUILD_TREE, /* plugins/engines/.libs beside a program that was not installed */
	PLUGIN_OF_FMD,	      /* the installation's */
	PLUGIN_OF_OTHERS
};
/* Do plugins of such a folder run in processes of their own? */
bool plugin_runs_apart(enum apart_who who, enum plugin_owner owner);

struct plugin_folder {
	const char *path; /* resolved, in the arena */
	enum plugin_owner owner;
};
struct plugin_folders {
	FM_VEC(struct plugin_folder) list; /* in the order of search, none twice */
};
/* dirs[] (from --plugin-dir, NULL terminated, may be NULL) or else the folders of
 * SYSCONF_DIR/fmd/plugins.conf, then the built-in pair.  *to is empty before; the caller lets go
 * of its list in any case.  FM_E_CONFIG: one that was asked for cannot be found; FM_E_RESOURCE. */
int plugin_folders(
    const char *const *dirs, struct fm_arena *mem, struct plugin_folders *to, struct fm_error *err);

struct plugin_files {
	FM_VEC(const char *) list; /* paths, in the arena */
};
/* NAME.so of a folder by name, so that the set never depends on the order of its entries; as
 * plugin_folders(). */
int plugin_files(
    const char *dir, struct fm_arena *mem, struct plugin_files *to, struct fm_error *err);
/* "/folder/name.so" to "name", in the arena; NULL: out of memory. */
const char *plugin_base(const char *path, struct fm_arena *mem);

#endif
