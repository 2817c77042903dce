/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reasons that libltdl hides.
 *
 * libltdl answers "file not found" to junk, to a missing library and to a
 * truncated file alike, and binds lazily, so that an undefined function would
 * be met only when it is called, in the middle of a sweep.  So the file is
 * first looked at as an ELF image (every segment must lie within it) that has the plugin's name
 * in it, as of another library not even a constructor is to run; then it is opened by dlopen()
 * itself with all symbols bound: here or, where the engine runs in a process of its own, there.
 */
#include "config.h"

#include "core/abi/plugin_check.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fmd/engine.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"

const struct plugin_kind plugin_engine = { "engine", "engine", "FM_ENGINE", "_LTX_fm_engine",
	FM_ABI_MAJOR, FM_ABI_MINOR };
const struct plugin_kind plugin_vendor = { "programmer of adaptive routing", "vendor", "FM_VENDOR",
	"_LTX_fm_vendor", FM_VENDOR_MAJOR, FM_VENDOR_MINOR };

static int
not_loadable(const struct plugin_kind *kind, const char *path, const char *why, const char *cause,
    struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG,
	    "%s: cannot be loaded (%s ABI %d.%d wanted): %s; usual cause: %s", path, kind->abi,
	    kind->major, kind->minor, why, cause);
}

/* Do the program headers and all they describe lie within n bytes? */
static bool
is_whole_image(const char *bytes, size_t n)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) seg;

	if (n < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.e_phentsize != sizeof(seg) || head.e_phoff > n ||
	    head.e_phnum > (n - head.e_phoff) / sizeof(seg))
		return false;
	for (size_t i = 0; i < head.e_phnum; i++) {
		memcpy(&seg, bytes + head.e_phoff + i * sizeof(seg), sizeof(seg));
		if (seg.p_offset > n || seg.p_filesz > n - seg.p_offset)
			return false;
	}
	/* Linkers put the section headers last: what lacks them was cut. */
	return head.e_shoff <= n && head.e_shnum <= (n - head.e_shoff) / sizeof(ElfW(Shdr));
}

/* The plugin's name in the strings of a renamed file, or "": the identifier
 * before "_LTX_fm_engine". */
static void
name_inside(const char *suffix, const char *bytes, size_t n, char *name, size_t room)
{
	const char *hit = memmem(bytes, n, suffix, strlen(suffix)), *from = hit;

	name[0] = '\0';
	if (hit == NULL)
		return;
	while (from > bytes && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
		from--;
	snprintf(name, room, "%.*s", (int)(hit - from), from);
}

static int
no_plugin(const struct plugin_kind *kind, const char *path, const char *base, const char *bytes,
    size_t n, struct fm_error *err)
{
	char name[64];

	name_inside(kind->suffix, bytes, n, name, sizeof(name));
	if (name[0] != '\0' && strcmp(name, base) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: renamed: it holds the %s '%s' (ABI %d.%d looks for '%s'); the file's "
		    "name must be the %s's: call it %s.so",
		    path, kind->what, name, kind->major, kind->minor, base, kind->what, name);
	return fm_fail(err, FM_E_CONFIG,
	    "%s: no fmd %s: it does not export %s%s (ABI %d.%d); usual cause: another "
	    "kind of library, or %s(%s, ...) is missing or hidden",
	    path, kind->what, base, kind->suffix, kind->major, kind->minor, kind->macro, base);
}

int
plugin_file_check(const struct plugin_kind *kind, const char *path, const char *base,
    const char *bytes, size_t n, struct fm_error *err)
{
	char symbol[NAME_MAX + 32];

	if (n == 0)
		return not_loadable(
		    kind, path, "the file is empty", "a copy that was cut short", err);
	if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return not_loadable(kind, path, "no ELF image", "not a shared object", err);
	if (n > EI_CLASS && bytes[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return not_loadable(
		    kind, path, "wrong word size", "built for another machine", err);
	if (!is_whole_image(bytes, n))
		return not_loadable(kind, path, "the file ends before its contents",
		    "a copy that was cut short", err);
	snprintf(symbol, sizeof(symbol), "%s%s", base, kind->suffix);
	return memmem(bytes, n, symbol, strlen(symbol) + 1) != NULL
	    ? 0
	    : no_plugin(kind, path, base, bytes, n, err);
}

int
plugin_file_open(const struct plugin_kind *kind, const char *file, const char *path, void **handle,
    struct fm_error *err)
{
	const char *why, *cause = "a damaged file, or one for another machine";
	size_t n = strlen(file);

	*handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (*handle != NULL)
		return 0;
	why = dlerror();
	if (strncmp(why, file, n) == 0 && why[n] == ':')
		why += n + 1 + strspn(why + n + 1, " ");
	if (strstr(why, "undefined symbol") != NULL)
		cause = "built against other headers, or a library was not linked in";
	else if (strstr(why, "cannot open shared object file") != NULL)
		cause = "a library it needs is not installed";
	return not_loadable(kind, path, why, cause, err);
}

int
plugin_file_check_linking(const char *path, struct fm_error *err)
{
	void *h;
	int rc = plugin_file_open(&plugin_engine, path, path, &h, err);

	if (rc == 0)
		dlclose(h);
	return rc;
}
