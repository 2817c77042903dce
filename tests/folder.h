/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/folder.h - a folder of a test's own, that goes with all that is in it.
 */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER_ROOM 32

static inline void
folder_make(char folder[FOLDER_ROOM])
{
	snprintf(folder, FOLDER_ROOM, "/tmp/fmd-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void
folder_write(const char *folder, const char *name, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static inline int
folder_remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void
folder_remove(const char *folder)
{
	ck_assert_int_eq(nftw(folder, folder_remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
