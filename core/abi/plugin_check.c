/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging a descriptor before anything of it is called.
 *
 * A descriptor comes from code built elsewhere, maybe against another
 * engine.h, so it is read in the order in which it can be trusted: magic,
 * major, minor, size, and only then the fields that this size covers.  Each
 * refusal says which file, which versions, and what to do about it.
 */
#include "core/abi/plugin_check.h"

#include <ctype.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/options.h"
#include "lib/error.h"

/* Bytes of the descriptor and of a row of options in each minor, told by the last field that it
 * has.  What lies behind is absent: who reads a field of a later minor asks .size first. */
#define UP_TO(type, field) (offsetof(struct type, field) + sizeof(((struct type *)NULL)->field))
static const struct {
	size_t engine, option;
} sizes[FM_ABI_MINOR + 1] = {
	{ UP_TO(fm_engine, route), UP_TO(fm_option, help) } /* 1.0 */
};

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

/* Does it say that it is part of fmd? */
static bool
is_own(const struct fm_engine *e)
{
	return e->size == sizeof(struct fm_own_engine);
}

static int
check_sizes(const struct fm_engine *e, const char *path, struct fm_error *err)
{
	size_t engine = sizes[e->abi_minor].engine, option = sizes[e->abi_minor].option;

	if (e->size != engine && !is_own(e))
		return fm_fail(err, FM_E_CONFIG,
		    "%s: descriptor of %" PRIu32
		    " bytes, engine ABI %u.%u has %zu (this fmd %d.%d): "
		    "built against a draft of engine.h, or .size was set by hand",
		    path, e->size, e->abi_major, e->abi_minor, engine, FM_ABI_MAJOR, FM_ABI_MINOR);
	if (e->options != NULL && e->option_row_size != option)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: option rows of %" PRIu32
		    " bytes, engine ABI %u.%u has %zu: built against a draft of engine.h, or "
		    ".option_row_size was set by hand",
		    path, e->option_row_size, e->abi_major, e->abi_minor, option);
	return 0;
}

/* ------------------------------------------------------------------ traits */

static const struct engine_trait traits[] = { { FM_PROVIDES_LFT, "lft", "forwarding tables" },
	{ FM_PROVIDES_SL, "sl", "service levels and VLs of its own" },
	{ FM_PROVIDES_AR, "ar", "adaptive routing groups" },
	{ FM_PROVIDES_MCAST, "mcast", "multicast trees" },
	{ FM_PROVIDES_ORDER, "order", "the order of hosts whose shifts run best" },
	{ FM_USES_PREV, "uses-prev", "looks at the tables in use" },
	{ FM_PROMISES_NO_CREDIT_LOOPS, "no-credit-loops", "promises no credit loops" },
	{ FM_WRITES_WHOLE_ROWS, "whole-rows", "writes every entry of its forwarding tables" },
	{ FM_WRITES_WHOLE_SLS, "whole-sls", "writes every entry of its SL and VL tables" },
	{ FM_NUMBERED_BY_CABLES, "by-cables",
	    "meets switches in the order of their cables, not names" },
	{ 0, NULL, NULL } };

const struct engine_trait *
engine_traits(void)
{
	return traits;
}

static uint32_t
public_traits(void)
{
	return engine_known_traits() & ~FM_OWN_TRAITS;
}

uint32_t
engine_known_traits(void)
{
	uint32_t known = 0;

	for (const struct engine_trait *t = traits; t->bit != 0; t++)
		known |= t->bit;
	return known;
}

/* ------------------------------------------------------- names and callbacks */

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

static int
check_callbacks(const struct fm_engine *e, const char *path, struct fm_error *err)
{
	uint32_t unknown = e->traits & ~(is_own(e) ? engine_known_traits() : public_traits());

	if (e->route == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: no route callback (engine ABI %u.%u, this fmd %d.%d): .route is the one "
		    "that "
		    "is required",
		    path, e->abi_major, e->abi_minor, FM_ABI_MAJOR, FM_ABI_MINOR);
	if (unknown != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .traits has bits 0x%" PRIx32
		    ", which ABI %d.%d does not know: enum fm_traits "
		    "of fmd/engine.h has those that it does",
		    path, unknown, FM_ABI_MAJOR, FM_ABI_MINOR);
	if ((e->traits & FM_PROVIDES_LFT) == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .traits lacks FM_PROVIDES_LFT: forwarding tables are what every engine "
		    "provides",
		    path);
	return 0;
}

/* ----------------------------------------------------------------- options */

/* The segment of a loaded file that an address lies in. */
struct segment {
	uintptr_t wanted, to; /* to: the end of its segment */
};

static int
find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct segment *m = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && m->wanted >= from && m->wanted - from < h->p_memsz) {
			m->to = from + h->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* Bytes that may be read from `at` on, 0: it is no address of any loaded file. */
static size_t
bytes_at(const void *at)
{
	struct segment m = { .wanted = (uintptr_t)at };

	return dl_iterate_phdr(find_segment, &m) != 0 ? m.to - m.wanted : 0;
}

static bool
is_text(const char *s)
{
	size_t n = bytes_at(s);

	return n > 0 && memchr(s, '\0', n) != NULL;
}

/* Of a table without an end rows are read that are none: no address in them is trusted. */
static int
check_end(const struct option_table *t, struct fm_error *err)
{
	const struct fm_option *row = t->rows;

	for (size_t i = 0; row != NULL; row = option_row(t, ++i))
		if (bytes_at(row) < t->stride ||
		    (row->type != FM_OPT_END && row->name != NULL && !is_text(row->name)))
			return fm_fail(err, FM_E_CONFIG,
			    "option row %zu is none: { .type = FM_OPT_END } ends the table", i);
	return 0;
}

static int
check_options(const struct fm_engine *e, bool loaded, struct fm_error *err)
{
	struct option_table table = option_table_of(e), entry = entry_option_table();
	const struct fm_option *row;

	if (loaded && check_end(&table, err) != 0)
		return FM_E_CONFIG;
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++) {
		if (row->name != NULL && *row->name != '\0' && !is_identifier(row->name))
			return fm_fail(err, FM_E_CONFIG,
			    "option '%.40s': a name is letters, digits, '-' and '_', beginning "
			    "with a "
			    "letter",
			    row->name);
		if (row->name != NULL && option_find(&entry, row->name) != NULL)
			return fm_fail(err, FM_E_CONFIG,
			    "option %s: every engine's section has a key of this name: take "
			    "another",
			    row->name);
	}
	return option_table_check(&table, err);
}

static int
check_all(const struct fm_engine *engine, const char *path, bool loaded, struct fm_error *err)
{
	int rc;

	if ((rc = check_version(engine, path, err)) != 0 ||
	    (rc = check_sizes(engine, path, err)) != 0 ||
	    (rc = check_names(engine, path, err)) != 0 ||
	    (rc = check_callbacks(engine, path, err)) != 0)
		return rc;
	if (loaded && is_own(engine) &&
	    ((const struct fm_own_engine *)(const void *)engine)->layout != FM_OWN_LAYOUT)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: it is part of another version of fmd: each brings its own engines", path);
	return check_options(engine, loaded, err) != 0 ? fm_context(err, "%s", path) : 0;
}

int
engine_check(const struct fm_engine *engine, const char *path, struct fm_error *err)
{
	return check_all(engine, path, true, err);
}

int
engine_check_copy(const struct fm_engine *engine, const char *path, struct fm_error *err)
{
	return check_all(engine, path, false, err);
}
