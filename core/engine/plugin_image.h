/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/plugin_image.h - an engine's file, before anything of it is run.
 *
 * The bytes are copied into sealed memory and judged there, so that what was judged is
 * what a child loads, whatever becomes of the file.
 */
#ifndef CORE_ENGINE_PLUGIN_IMAGE_H
#define CORE_ENGINE_PLUGIN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fmd/error.h>

struct plugin_image {
	int fd;		   /* memfd, sealed */
	const char *bytes; /* [n_bytes], read-only */
	size_t n_bytes;
};

/* Is the folder, a path without symlinks, one that only root and the user fmd runs as can
 * write into?  0, or FM_E_CONFIG. */
int plugin_folder_check(const char *dir, struct fm_error *err);
/* The file `path` of the folder dir.  owned: it must be of root or of the user fmd runs as,
 * and nobody else may write to it.  A symlink may not lead out of the folder.  FM_E_CONFIG
 * with the sentence, FM_E_SYSTEM. */
int plugin_image_read(const char *dir, const char *path, bool owned, struct plugin_image *image,
    struct fm_error *err);
void plugin_image_close(struct plugin_image *image);
/* Stands for the bytes. */
uint64_t plugin_image_mark(const struct plugin_image *image);

#endif
