/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging a descriptor before anything of it is called.
 *
 * A descriptor comes from code built elsewhere, maybe against another
 * engine.h, so it is read in the order in which it can be trusted: magic,
 * major, minor, size, and only then the fields that this size covers.  Each
 * refusal says which file, which versions, and what to do about it.
 */
#include "core/conf/plugin.h"

#include <ctype.h>
#include <inttypes.h>

#include "core/conf/options.h"
#include "lib/error.h"

/* Sizes of ABI 0.1, the first.  Fields appended later lie beyond them and
 * must be asked for by .size before they are read. */
#define ENGINE_FIRST_SIZE (offsetof(struct fm_engine, mcast_tree) + sizeof(void (*)(void)))
#define OPTION_FIRST_SIZE (offsetof(struct fm_option, help) + sizeof(char *))

static int
check_version(const struct fm_engine *e, const char *path, struct fm_error *err)
{
	if (e->magic != FM_ABI_MAGIC)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: magic 0x%08" PRIx32
		    " is not 0x%08x (ABI %d.%d): no fmd engine, or built for "
		    "another machine; define it with FM_ENGINE() of fmd/engine.h",
		    path, e->magic, FM_ABI_MAGIC, FM_ABI_MAJOR, FM_ABI_MINOR);
	if (e->abi_major != FM_ABI_MAJOR)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: engine ABI %u.%u, this fmd has %d.%d and needs the same major: rebuild "
		    "the "
		    "engine against this fmd's fmd/engine.h",
		    path, e->abi_major, e->abi_minor, FM_ABI_MAJOR, FM_ABI_MINOR);
	if (e->abi_minor > FM_ABI_MINOR)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: engine ABI %u.%u is newer than the %d.%d of this fmd: update fmd, or "
		    "rebuild "
		    "the engine against this fmd's fmd/engine.h",
		    path, e->abi_major, e->abi_minor, FM_ABI_MAJOR, FM_ABI_MINOR);
	return 0;
}

static int
check_sizes(const struct fm_engine *e, const char *path, struct fm_error *err)
{
	if (e->size < ENGINE_FIRST_SIZE)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: descriptor of %" PRIu32
		    " bytes (ABI %u.%u), at least %zu are needed (ABI %d.%d): "
		    "built against an incomplete engine.h, or .size was set by hand",
		    path, e->size, e->abi_major, e->abi_minor, ENGINE_FIRST_SIZE, FM_ABI_MAJOR,
		    FM_ABI_MINOR);
	if (e->options != NULL && e->option_size < OPTION_FIRST_SIZE)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: option rows of %" PRIu32
		    " bytes (ABI %u.%u), at least %zu are needed (ABI %d.%d): "
		    "built against an incomplete engine.h, or .option_size was set by hand",
		    path, e->option_size, e->abi_major, e->abi_minor, OPTION_FIRST_SIZE,
		    FM_ABI_MAJOR, FM_ABI_MINOR);
	return 0;
}

static bool
is_identifier(const char *s)
{
	if (s == NULL || !isalpha((unsigned char)*s))
		return false;
	for (; *s != '\0'; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != '-')
			return false;
	return true;
}

static int
check_names(const struct fm_engine *e, const char *path, struct fm_error *err)
{
	if (!is_identifier(e->name))
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .name must be letters, digits, '-' and '_', beginning with a letter",
		    path);
	for (const char *const *a = e->aliases; a != NULL && *a != NULL; a++)
		if (!is_identifier(*a))
			return fm_fail(err, FM_E_CONFIG,
			    "%s: alias '%s' must be letters, digits, '-' and '_', beginning with a "
			    "letter",
			    path, *a);
	if (e->summary == NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "%s: .summary is missing: one line for --list-engines", path);
	return 0;
}

int
engine_check(const struct fm_engine *engine, const char *path, struct fm_error *err)
{
	struct option_table table;
	int rc;

	if ((rc = check_version(engine, path, err)) != 0 ||
	    (rc = check_sizes(engine, path, err)) != 0 ||
	    (rc = check_names(engine, path, err)) != 0)
		return rc;
	if (engine->route == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: no route callback (engine ABI %u.%u, this fmd %d.%d): .route is the one "
		    "that is "
		    "required",
		    path, engine->abi_major, engine->abi_minor, FM_ABI_MAJOR, FM_ABI_MINOR);
	table = option_table_of(engine);
	if (option_table_check(&table, err) != 0)
		return fm_context(err, "%s", path);
	return 0;
}
