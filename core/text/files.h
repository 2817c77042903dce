/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/files.h - files in folders into which others may have put something.
 *
 * A symbolic link that somebody has left under the name of a file that is to be written leads to
 * a file of ours that nobody meant.  So what is written anew is a new file, which then takes the
 * place of whatever had the name: a reader finds the old one or the new one, both whole.
 */
#ifndef FM_TEXT_FILES_H
#define FM_TEXT_FILES_H

#include <fmd/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A descriptor to write (or map) PATH.new by, which was not there; -1: errno tells. */
int fm_file_new(const char *path, mode_t mode);
/* PATH.new is whole and takes its place; where it is not, it goes.  False: errno tells. */
bool fm_file_done(const char *path, bool is_whole);

/* A whole file by fm_file_new() and fm_file_done(): put() writes it, false: it could not.  False:
 * errno tells. */
bool fm_file_write(
    const char *path, mode_t mode, bool (*put)(FILE *out, const void *arg), const void *arg);

/* The bytes of a file; NULL: it has none, or cannot be read.  Who writes it by the functions above
 * makes a new file, so that these stay as they are. */
const uint8_t *fm_file_map(const char *path, size_t *n);
void fm_file_unmap(const uint8_t *bytes, size_t n); /* n 0 is fine */

/* An errno of open() as a word, also of one that was told not to follow links (O_NOFOLLOW). */
const char *fm_file_why(int errnum);
/* FM_E_RESOURCE where the disk is at fault: it has no room, it is damaged, nothing may be written
 * to it, or as much as we want.  Else FM_E_SYSTEM. */
enum fm_error_kind fm_file_kind(int errnum);

#endif
