/* SPDX-License-Identifier: BSD-2-Clause */
/* Programmers loaded, and what they answer held to its limits. */
#include "config.h"

#include "core/vendor/vendors.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/plugin_check.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/vec.h"

#define MOST_GROUPS 0xfffeu

struct loaded {
	struct vendors pub; /* first */
	struct fm_arena mem;
	FM_VEC(const struct fm_vendor *) vendors;
	FM_VEC(struct vendor_refusal) refused;
	FM_VEC(void *) handles;
};

/* ------------------------------------------------------------------------ loading */

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while loading programmers");
}

static const struct fm_vendor *
find_name(const struct loaded *l, const char *name)
{
	for (size_t i = 0; i < l->vendors.n; i++)
		if (strcmp(l->vendors.item[i]->name, name) == 0)
			return l->vendors.item[i];
	return NULL;
}

/* FM_E_CONFIG: it is refused. */
static int
take_file(struct loaded *l, const char *path, const char *name, struct fm_error *err)
{
	char symbol[NAME_MAX + 32];
	const struct fm_vendor *v;
	void *h;
	int rc = plugin_file_open(&plugin_vendor, path, path, &h, err);

	if (rc != 0)
		return rc;
	if (!fm_vec_push(&l->handles, h)) {
		dlclose(h);
		return no_memory(err);
	}
	snprintf(symbol, sizeof(symbol), "%s_LTX_fm_vendor", name);
	v = dlsym(h, symbol);
	if (v == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: it does not export %s: FM_VENDOR(%s, ...) is missing or hidden, or the "
		    "file was renamed",
		    path, symbol, name);
	if ((rc = vendor_check(v, path, err)) != 0)
		return rc;
	if (strcmp(v->name, name) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: it calls itself '%s': .name and the file's name must be the same", path,
		    v->name);
	if (find_name(l, name) != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: a second programmer '%s': the first is used; remove one of them", path,
		    name);
	return fm_vec_push(&l->vendors, v) ? 0 : no_memory(err);
}

/* Linkers and libtool leave other files beside. */
static int
load_one(struct loaded *l, const char *dir, const char *entry, struct fm_error *err)
{
	size_t n = strlen(entry), room = strlen(dir) + n + 2;
	struct vendor_refusal r = { 0 };
	struct fm_error bad;
	char *path, *name;
	int rc;

	if (n < 4 || strcmp(entry + n - 3, ".so") != 0 || entry[0] == '.')
		return 0;
	path = fm_arena_alloc(&l->mem, room);
	name = fm_arena_strdup(&l->mem, entry);
	if (path == NULL || name == NULL)
		return no_memory(err);
	snprintf(path, room, "%s/%s", dir, entry);
	name[n - 3] = '\0';
	rc = take_file(l, path, name, &bad);
	if (rc == 0)
		return 0;
	if (rc == FM_E_RESOURCE)
		return no_memory(err);
	r.path = path;
	snprintf(r.reason, sizeof(r.reason), "%s", bad.msg);
	return fm_vec_push(&l->refused, r) ? 0 : no_memory(err);
}

/* A folder that is not there has none. */
static int
load_folder(struct loaded *l, const char *dir, struct fm_error *err)
{
	struct dirent **entry;
	int rc = 0, n = scandir(dir, &entry, NULL, alphasort);

	if (n < 0)
		return errno == ENOENT
		    ? 0
		    : fm_fail(err, FM_E_SYSTEM, "%s: cannot be read: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = load_one(l, dir, entry[i]->d_name, err);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(const struct fm_vendor *const *)a)->name,
	    (*(const struct fm_vendor *const *)b)->name);
}

int
vendors_load(struct vendors **out, struct fm_error *err)
{
	struct loaded *l = calloc(1, sizeof(*l));
	char exe[PATH_MAX], dir[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int rc = 0;

	*out = NULL;
	if (l == NULL)
		return no_memory(err);
	fm_arena_init(&l->mem, SIZE_MAX);
	if (n > 0) {
		exe[n] = '\0';
		snprintf(dir, sizeof(dir), "%s/plugins/vendors/.libs", dirname(exe));
		rc = load_folder(l, dir, err);
	}
	if (rc == 0)
		rc = load_folder(l, PLUGIN_DIR "/vendors", err);
	if (rc != 0) {
		vendors_free(&l->pub);
		return rc;
	}
	if (l->vendors.n > 1)
		qsort(l->vendors.item, l->vendors.n, sizeof(*l->vendors.item), by_name);
	l->pub = (struct vendors){ .vendor = l->vendors.item,
		.n_vendors = l->vendors.n,
		.refused = l->refused.item,
		.n_refused = l->refused.n };
	*out = &l->pub;
	return 0;
}

void
vendors_free(struct vendors *v)
{
	struct loaded *l = (struct loaded *)(void *)v;

	if (l == NULL)
		return;
	for (size_t i = 0; i < l->handles.n; i++)
		dlclose(l->handles.item[i]);
	fm_vec_fini(&l->handles);
	fm_vec_fini(&l->vendors);
	fm_vec_fini(&l->refused);
	fm_arena_fini(&l->mem);
	free(l);
}

const struct fm_vendor *
vendors_find(const struct vendors *v, uint32_t vendor_id, uint16_t device_id)
{
	for (size_t i = 0; v != NULL && i < v->n_vendors; i++)
		for (const struct fm_vendor_id *id = v->vendor[i]->ids; id->vendor_id != 0; id++)
			if (id->vendor_id == vendor_id && device_id >= id->first &&
			    device_id <= id->last)
				return v->vendor[i];
	return NULL;
}

/* ------------------------------------------------------------------------ answers */

bool
vendor_read_info(
    const struct fm_vendor *v, const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	*out = (struct fm_vendor_info){ 0 };
	if (v->read_info(answer, out) != 0)
		return false;
	if (out->n_groups > MOST_GROUPS)
		out->n_groups = MOST_GROUPS;
	return true;
}

bool
vendor_turn(const struct fm_vendor *v, const uint8_t answer[FM_VENDOR_BYTES],
    const struct fm_vendor_mode *mode, uint8_t data[FM_VENDOR_BYTES])
{
	memset(data, 0, FM_VENDOR_BYTES);
	return v->turn(answer, mode, data) == 0;
}

int
vendor_blocks(const struct fm_vendor *v, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err)
{
	int32_t count = v->n_blocks(rows);
	struct fm_vendor_smp *b;
	int rc = vendor_check_count(v, count, err);

	*out = NULL;
	*n = 0;
	if (rc != 0)
		return rc;
	b = calloc((size_t)count, sizeof(*b));
	if (b == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the blocks of groups");
	for (uint32_t i = 0; rc == 0 && i < (uint32_t)count; i++) {
		int given = v->block(rows, i, &b[i]);

		rc = vendor_check_block(v, i, given, &b[i], err);
	}
	if (rc != 0) {
		free(b);
		return rc;
	}
	*out = b;
	*n = (uint32_t)count;
	return 0;
}

bool
vendor_holds(const struct fm_vendor_smp *block, const uint8_t data[FM_VENDOR_BYTES])
{
	for (unsigned i = 0; i < FM_VENDOR_BYTES; i++)
		if ((block->data[i] ^ data[i]) & block->mask[i])
			return false;
	return true;
}
