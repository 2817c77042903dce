/* SPDX-License-Identifier: BSD-2-Clause */
/* Programmers loaded, and what they answer held to its limits. */
#include "config.h"

#include "core/vendor/vendors.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/plugin_check.h"
#include "core/apart/programmer.h"
#include "core/engine/folders.h"
#include "core/engine/plugin_image.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/vec.h"

#define MOST_GROUPS 0xfffeu

/* A file that a child has loaded. */
struct loading {
	const char *path, *base;
	struct programmer *programmer;
};

struct loaded {
	struct vendors pub; /* first */
	struct fm_arena mem;
	struct apart_settings apart;
	FM_VEC(struct loading) apart_ones;
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

static int
refuse(struct loaded *l, const char *path, const char *sentence, struct fm_error *err)
{
	struct vendor_refusal r = { .path = path };

	snprintf(r.reason, sizeof(r.reason), "%s", sentence);
	return fm_vec_push(&l->refused, r) ? 0 : no_memory(err);
}

/* Its descriptor is sound; is it the one that this file is to have? */
static int
take(struct loaded *l, const struct fm_vendor *v, const char *path, const char *base,
    struct fm_error *err)
{
	struct fm_error bad;

	if (strcmp(v->name, base) != 0)
		fm_fail(&bad, FM_E_CONFIG,
		    "%s: it calls itself '%s': .name and the file's name must be the same", path,
		    v->name);
	else if (find_name(l, base) != NULL)
		fm_fail(&bad, FM_E_CONFIG,
		    "%s: a second programmer '%s': the first is used; remove one of them", path,
		    base);
	else
		return fm_vec_push(&l->vendors, v) ? 0 : no_memory(err);
	return refuse(l, path, bad.msg, err);
}

/* Into this process. */
static int
load_here(struct loaded *l, const char *path, const char *base, struct fm_error *err)
{
	char symbol[NAME_MAX + 32];
	const struct fm_vendor *v;
	struct fm_error bad;
	void *h;

	if (plugin_file_open(&plugin_vendor, path, path, &h, &bad) != 0)
		return refuse(l, path, bad.msg, err);
	if (!fm_vec_push(&l->handles, h)) {
		dlclose(h);
		return no_memory(err);
	}
	snprintf(symbol, sizeof(symbol), "%s%s", base, plugin_vendor.suffix);
	v = dlsym(h, symbol);
	if (v == NULL)
		fm_fail(&bad, FM_E_CONFIG, "%s: it does not export %s", path, symbol);
	if (v == NULL || vendor_check(v, path, &bad) != 0)
		return refuse(l, path, bad.msg, err);
	return take(l, v, path, base, err);
}

/* Into a child, which is asked later. */
static int
load_apart(struct loaded *l, const char *path, const char *base, int image, enum plugin_owner owner,
    struct fm_error *err)
{
	struct apart_settings apart = l->apart;
	struct loading loading = { path, base, NULL };
	struct fm_error bad;

	apart.must_hide = owner == PLUGIN_OF_OTHERS && apart.who != APART_UNHIDDEN;
	if (!apart_is_built()) {
		fm_fail(&bad, FM_E_CONFIG,
		    "%s: this fmd was built without libseccomp and runs no programmers of others: "
		    "engine_isolation = none has them run in fmd itself",
		    path);
		return refuse(l, path, bad.msg, err);
	}
	if (programmer_new(&apart, base, path, image, &loading.programmer, &bad) != 0)
		return refuse(l, path, bad.msg, err);
	if (fm_vec_push(&l->apart_ones, loading))
		return 0;
	programmer_free(loading.programmer);
	return no_memory(err);
}

static int
load_file(struct loaded *l, const char *dir, const char *path, enum plugin_owner owner,
    struct fm_error *err)
{
	const char *base = plugin_base(path, &l->mem);
	struct plugin_image image;
	struct fm_error bad;
	int rc;

	if (base == NULL)
		return no_memory(err);
	if (plugin_image_read(dir, path, owner != PLUGIN_OF_BUILD_TREE, &image, &bad) != 0)
		return refuse(l, path, bad.msg, err);
	if (plugin_file_check(&plugin_vendor, path, base, image.bytes, image.n_bytes, &bad) != 0)
		rc = refuse(l, path, bad.msg, err);
	else if (plugin_runs_apart(l->apart.who, owner))
		rc = load_apart(l, path, base, image.fd, owner, err);
	else
		rc = load_here(l, path, base, err);
	plugin_image_close(&image);
	return rc;
}

/* What children of one folder say, that were started for all of its files. */
static int
take_loaded(struct loaded *l, size_t from, struct fm_error *err)
{
	int rc = 0;

	for (size_t i = from; rc == 0 && i < l->apart_ones.n; i++) {
		const struct loading *x = &l->apart_ones.item[i];
		const struct fm_vendor *v;
		struct fm_error bad;

		rc = programmer_describe(x->programmer, &v, &bad) == 0
		    ? take(l, v, x->path, x->base, err)
		    : refuse(l, x->path, bad.msg, err);
	}
	return rc;
}

/* dir is resolved.  Who can write into either folder can put a programmer there. */
static int
load_folder(
    struct loaded *l, const struct plugin_folder *parent, const char *dir, struct fm_error *err)
{
	struct plugin_files files = { 0 };
	size_t from = l->apart_ones.n;
	struct fm_error bad;
	int rc;

	if (parent->owner != PLUGIN_OF_BUILD_TREE &&
	    (plugin_folder_check(parent->path, &bad) != 0 || plugin_folder_check(dir, &bad) != 0))
		return refuse(l, dir, bad.msg, err);
	rc = plugin_files(dir, &l->mem, &files, &bad);
	if (rc == FM_E_CONFIG)
		rc = refuse(l, dir, bad.msg, err);
	else if (rc != 0)
		rc = no_memory(err);
	for (size_t i = 0; rc == 0 && i < files.list.n; i++)
		rc = load_file(l, dir, files.list.item[i], parent->owner, err);
	fm_vec_fini(&files.list);
	return rc != 0 ? rc : take_loaded(l, from, err);
}

/* The folder "vendors" of a plugin directory; one that is not there has none. */
static int
load_below(struct loaded *l, const struct plugin_folder *parent, struct fm_error *err)
{
	const char *below =
	    parent->owner == PLUGIN_OF_BUILD_TREE ? "../../vendors/.libs" : "vendors";
	char dir[PATH_MAX + 32], real[PATH_MAX];
	const char *copy;

	snprintf(dir, sizeof(dir), "%s/%s", parent->path, below);
	if (realpath(dir, real) == NULL && errno == ENOENT)
		return 0;
	copy = fm_arena_strdup(&l->mem, real[0] == '/' ? real : dir);
	return copy == NULL ? no_memory(err) : load_folder(l, parent, copy, err);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(const struct fm_vendor *const *)a)->name,
	    (*(const struct fm_vendor *const *)b)->name);
}

static int
load_all(struct loaded *l, const char *const *dirs, struct fm_error *err)
{
	struct plugin_folders folders = { 0 };
	int rc = plugin_folders(dirs, &l->mem, &folders, err);

	for (size_t i = 0; rc == 0 && i < folders.list.n; i++)
		rc = load_below(l, &folders.list.item[i], err);
	fm_vec_fini(&folders.list);
	return rc;
}

int
vendors_load(struct vendors **out, const char *const *dirs, const struct apart_settings *apart,
    struct fm_error *err)
{
	struct loaded *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (l == NULL)
		return no_memory(err);
	fm_arena_init(&l->mem, SIZE_MAX);
	l->apart = *apart;
	rc = load_all(l, dirs, err);
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
	for (size_t i = 0; i < l->apart_ones.n; i++)
		programmer_free(l->apart_ones.item[i].programmer);
	fm_vec_fini(&l->handles);
	fm_vec_fini(&l->apart_ones);
	fm_vec_fini(&l->vendors);
	fm_vec_fini(&l->refused);
	fm_arena_fini(&l->mem);
	free(l);
}

void
vendors_ask_again(const struct vendors *v)
{
	for (size_t i = 0; v != NULL && i < v->n_vendors; i++) {
		struct programmer *p = programmer_of(v->vendor[i]);

		if (p != NULL)
			programmer_ask_again(p);
	}
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
	struct programmer *p = programmer_of(v);

	*out = (struct fm_vendor_info){ 0 };
	if (!(p != NULL ? programmer_read_info(p, answer, out) : v->read_info(answer, out) == 0))
		return false;
	if (out->n_groups > MOST_GROUPS)
		out->n_groups = MOST_GROUPS;
	return true;
}

bool
vendor_turn(const struct fm_vendor *v, const uint8_t answer[FM_VENDOR_BYTES],
    const struct fm_vendor_mode *mode, uint8_t data[FM_VENDOR_BYTES])
{
	struct programmer *p = programmer_of(v);

	memset(data, 0, FM_VENDOR_BYTES);
	return p != NULL ? programmer_turn(p, answer, mode, data)
			 : v->turn(answer, mode, data) == 0;
}

/* Of one in this process. */
static int
blocks_here(const struct fm_vendor *v, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err)
{
	int32_t count = v->n_blocks(rows);
	struct fm_vendor_smp *b;
	int rc = vendor_check_count(v, count, err);

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

int
vendor_blocks(const struct fm_vendor *v, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err)
{
	struct programmer *p = programmer_of(v);

	*out = NULL;
	*n = 0;
	return p != NULL ? programmer_blocks(p, rows, out, n, err)
			 : blocks_here(v, rows, out, n, err);
}

bool
vendor_holds(const struct fm_vendor_smp *block, const uint8_t data[FM_VENDOR_BYTES])
{
	for (unsigned i = 0; i < FM_VENDOR_BYTES; i++)
		if ((block->data[i] ^ data[i]) & block->mask[i])
			return false;
	return true;
}
