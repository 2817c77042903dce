/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose file it is, and what it says of itself.
 *
 * A constructor of a shared object runs while the linker loads it, so everything that can
 * be told without that is told from here: owner, mode and folder by the open descriptor,
 * the ABI from the ELF image (magic, major, minor and size of a descriptor are plain data
 * without relocations).  Reads each byte of the file about three times; nothing in it is
 * believed, every offset is checked against its length.
 */
#include "config.h"

#include "core/engine/plugin_image.h"

#include <errno.h>
#include <fcntl.h>
#include <fmd/engine.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/plugin_check.h"
#include "lib/error.h"
#include "lib/hash.h"

#define MAX_BYTES ((off_t)256 << 20)

/* -------------------------------------------------------------------- owner */

/* what: "file" or "folder".  A group may write that is root's or fmd's own: who is in it can
 * do what fmd does, or is trusted with root's files. */
static int
check_owner(const char *path, const char *what, const struct stat *st, struct fm_error *err)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return fm_fail(err, FM_E_CONFIG,
		    "%s: the %s is owned by user %u: an engine runs only from files and folders of "
		    "root or of the user that fmd runs as (%u): chown root it",
		    path, what, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & S_IWOTH)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: everybody may write to the %s (mode %04o): chmod o-w it", path, what,
		    (unsigned)st->st_mode & 07777);
	if ((st->st_mode & S_IWGRP) && st->st_gid != 0 && st->st_gid != getegid())
		return fm_fail(err, FM_E_CONFIG,
		    "%s: group %u may write to the %s (mode %04o): chmod g-w it", path,
		    (unsigned)st->st_gid, what, (unsigned)st->st_mode & 07777);
	return 0;
}

int
plugin_folder_check(const char *dir, struct fm_error *err)
{
	struct stat st;

	if (stat(dir, &st) != 0)
		return fm_fail(err, FM_E_CONFIG, "plugin directory %s: %s", dir, strerror(errno));
	return check_owner(dir, "folder", &st, err);
}

/* A symlink within the folder is followed. */
static int
resolve(const char *dir, const char *path, char *real, struct fm_error *err)
{
	char *slash;

	if (realpath(path, real) == NULL)
		return fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
	slash = strrchr(real, '/');
	if ((size_t)(slash - real) != strlen(dir) || strncmp(real, dir, strlen(dir)) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: a symlink that leads out of its folder, to %s: put the file itself here",
		    path, real);
	return 0;
}

/* -------------------------------------------------------------------- bytes */

static int
copy_all(int from, int to, off_t n, const char *path, struct fm_error *err)
{
	char buf[65536];
	ssize_t got;

	while (n > 0 && (got = read(from, buf, sizeof(buf))) != 0) {
		if (got < 0)
			return fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
		if (write(to, buf, (size_t)got) != got)
			return fm_fail(err, FM_E_SYSTEM, "%s: no memory for a copy: %s", path,
			    strerror(errno));
		n -= got;
	}
	if (n != 0)
		return fm_fail(
		    err, FM_E_CONFIG, "%s: it changes while it is read: try again", path);
	return 0;
}

/* Into sealed memory that is mapped. */
static int
take_bytes(int fd, off_t n, const char *path, struct plugin_image *image, struct fm_error *err)
{
	int rc;

	image->fd = memfd_create("fmd-engine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (image->fd < 0)
		return fm_fail(
		    err, FM_E_SYSTEM, "%s: no memory for a copy: %s", path, strerror(errno));
	if ((rc = copy_all(fd, image->fd, n, path, err)) != 0)
		return rc;
	image->n_bytes = (size_t)n;
	if (fcntl(image->fd, F_ADD_SEALS,
		F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	if (n == 0)
		return 0;
	image->bytes = mmap(NULL, image->n_bytes, PROT_READ, MAP_SHARED, image->fd, 0);
	if (image->bytes == MAP_FAILED) {
		image->bytes = NULL;
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	}
	return 0;
}

int
plugin_image_read(
    const char *dir, const char *path, bool owned, struct plugin_image *image, struct fm_error *err)
{
	char real[PATH_MAX];
	struct stat st;
	int rc, fd;

	*image = (struct plugin_image){ .fd = -1 };
	if ((rc = resolve(dir, path, real, err)) != 0)
		return rc;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		rc = fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES)
		rc = fm_fail(err, FM_E_CONFIG, "%s: no file of at most %d MiB", path,
		    (int)(MAX_BYTES >> 20));
	else if (owned)
		rc = check_owner(path, "file", &st, err);
	if (rc == 0)
		rc = take_bytes(fd, st.st_size, path, image, err);
	if (fd >= 0)
		close(fd);
	if (rc != 0)
		plugin_image_close(image);
	return rc;
}

void
plugin_image_close(struct plugin_image *image)
{
	if (image->bytes != NULL)
		munmap((void *)(uintptr_t)image->bytes, image->n_bytes);
	if (image->fd >= 0)
		close(image->fd);
	*image = (struct plugin_image){ .fd = -1 };
}

uint64_t
plugin_image_mark(const struct plugin_image *image)
{
	return fm_hash_bytes(0, image->bytes, image->n_bytes);
}

/* --------------------------------------------------------------- descriptor */

/* n items of this size at an offset, or NULL: not within the file. */
static const char *
within(const struct plugin_image *m, uint64_t at, uint64_t n, size_t size)
{
	return at <= m->n_bytes && n <= (m->n_bytes - at) / size ? m->bytes + at : NULL;
}

static bool
section(const struct plugin_image *m, const ElfW(Ehdr) * head, size_t i, ElfW(Shdr) * to)
{
	const char *at = i < head->e_shnum && head->e_shentsize == sizeof(*to)
	    ? within(m, head->e_shoff + i * sizeof(*to), 1, sizeof(*to))
	    : NULL;

	if (at != NULL)
		memcpy(to, at, sizeof(*to));
	return at != NULL;
}

/* The bytes of the file that are loaded at an address, or NULL. */
static const char *
loaded_at(const struct plugin_image *m, const ElfW(Ehdr) * head, uint64_t addr, size_t n)
{
	ElfW(Phdr) seg;

	for (size_t i = 0; i < head->e_phnum; i++) {
		const char *at = within(m, head->e_phoff + i * sizeof(seg), 1, sizeof(seg));

		if (at == NULL)
			return NULL;
		memcpy(&seg, at, sizeof(seg));
		if (seg.p_type == PT_LOAD && addr >= seg.p_vaddr &&
		    addr - seg.p_vaddr <= seg.p_filesz && n <= seg.p_filesz - (addr - seg.p_vaddr))
			return within(m, seg.p_offset + (addr - seg.p_vaddr), 1, n);
	}
	return NULL;
}

/* The address of a defined symbol of a table of dynamic symbols; 0: it is not there. */
static uint64_t
find_symbol(const struct plugin_image *m, const ElfW(Shdr) * symbols, const ElfW(Shdr) * names,
    const char *name)
{
	size_t n = symbols->sh_size / sizeof(ElfW(Sym)), length = strlen(name) + 1;
	const char *at = within(m, symbols->sh_offset, n, sizeof(ElfW(Sym)));

	for (size_t i = 0; at != NULL && i < n; i++) {
		const char *called;
		ElfW(Sym) s;

		memcpy(&s, at + i * sizeof(s), sizeof(s));
		if (s.st_shndx == SHN_UNDEF || s.st_name > names->sh_size)
			continue;
		called = within(m, names->sh_offset + s.st_name, length, 1);
		if (called != NULL && memcmp(called, name, length) == 0)
			return s.st_value;
	}
	return 0;
}

/* The first bytes of the engine's descriptor, up to its pointers; NULL: there is none. */
static const char *
find_descriptor(const struct plugin_image *m, const char *base)
{
	char name[NAME_MAX + 32];
	ElfW(Ehdr) head;
	ElfW(Shdr) symbols, names;
	uint64_t addr = 0;

	if (m->n_bytes < sizeof(head))
		return NULL;
	memcpy(&head, m->bytes, sizeof(head));
	snprintf(name, sizeof(name), "%s_LTX_fm_engine", base);
	for (size_t i = 0; addr == 0 && i < head.e_shnum; i++)
		if (section(m, &head, i, &symbols) && symbols.sh_type == SHT_DYNSYM &&
		    section(m, &head, symbols.sh_link, &names))
			addr = find_symbol(m, &symbols, &names, name);
	return addr != 0 ? loaded_at(m, &head, addr, offsetof(struct fm_engine, name)) : NULL;
}

int
plugin_image_check(
    const struct plugin_image *image, const char *path, const char *base, struct fm_error *err)
{
	struct fm_engine engine = { 0 };
	const char *at;
	int rc = plugin_file_check_image(path, image->bytes, image->n_bytes, err);

	if (rc != 0)
		return rc;
	at = find_descriptor(image, base);
	if (at == NULL)
		return plugin_file_no_engine(path, base, image->bytes, image->n_bytes, err);
	memcpy(&engine, at, offsetof(struct fm_engine, name));
	return engine_check_version(&engine, path, err);
}
