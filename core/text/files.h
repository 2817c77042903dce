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
#include <sys/types.h>

/* A descriptor to write PATH.new by, which was not there; -1: errno tells. */
int fm_file_new(const char *path, mode_t mode);
/* PATH.new is whole and takes its place; where it is not, it goes.  False: errno tells. */
bool fm_file_done(const char *path, bool is_whole);

/* An errno of open() as a word, also of one that was told not to follow links (O_NOFOLLOW). */
const char *fm_file_why(int errnum);
/* FM_E_RESOURCE where the disk is at fault: it has no room, it is damaged, nothing may be written
 * to it, or as much as we want.  Else FM_E_SYSTEM. */
enum fm_error_kind fm_file_kind(int errnum);

#endif
