/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/plugin.h - finding engines: plugin directories to descriptors.
 */
#ifndef CORE_ENGINE_PLUGIN_H
#define CORE_ENGINE_PLUGIN_H

#include <stdbool.h>

#include <fmd/engine.h>

#include "core/apart/apart.h"

struct engine_file {
	const struct fm_engine *engine;
	const char *path;    /* of the .so */
	struct apart *apart; /* NULL: it runs in this process */
	uint64_t mark;	     /* of the bytes of an engine that is not fmd's own; 0: it is */
};

struct engine_refusal {
	const char *path;
	char reason[512]; /* a sentence with both versions and the usual cause */
};

struct engine_set {
	struct engine_file *engines; /* [n_engines] sorted by name; `auto` is one without route() */
	uint32_t n_engines;
	struct engine_refusal *refused; /* [n_refused] in the order of loading */
	uint32_t n_refused;
	struct engine_set_private *self;
};

/* Load every engine of the directories: dirs[] (from --plugin-dir, NULL
 * terminated, may be NULL) or else those of SYSCONF_DIR/fmd/plugins.conf, then
 * the built-in pair (plugins/engines/.libs beside an uninstalled program,
 * PLUGIN_DIR of the installation).  Directory by directory, by name within
 * each; the first of a name wins, later ones are refused.  A file that is no
 * engine is refused with its reason, never fatal; a directory that was asked
 * for and cannot be read is (FM_E_CONFIG). */
int engine_set_load(struct engine_set *set, const char *const *dirs, struct fm_error *err);
/* The same, some engines in processes of their own; engine_set_load() has none.  Before
 * anything of a file is run: it lies in its folder, both belong to root or to the user fmd
 * runs as and nobody else can write to them, and it is a whole library with the engine's name
 * in it.  Its constructors run before its ABI is known.  What is beside a program that was not
 * installed is that program's. */
int engine_set_load_apart(struct engine_set *set, const char *const *dirs,
    const struct apart_settings *apart, struct fm_error *err);
/* The same engines once more; they stay until the last of both is let go. */
void engine_set_copy(struct engine_set *to, const struct engine_set *from);
void engine_set_fini(struct engine_set *set);
/* The file of an engine of the set. */
const struct engine_file *engine_file_of(
    const struct engine_set *set, const struct fm_engine *engine);

/* By name, or else by alias; NULL when there is none. */
const struct fm_engine *engine_find(const struct engine_set *set, const char *name);

/* The engine of the set whose name or alias is nearest to a misspelt one, or NULL. */
const char *engine_nearest(const struct engine_set *set, const char *name);

#endif
