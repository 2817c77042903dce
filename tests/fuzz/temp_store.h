/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/fuzz/temp_store.h - a store in a folder that goes with the fuzzer.
 */
#ifndef TESTS_FUZZ_TEMP_STORE_H
#define TESTS_FUZZ_TEMP_STORE_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/store/store.h"
#include "tests/fuzz/fuzz.h"

static char temp_dir[64];
static struct store *temp_store; /* after temp_store_begin() */

static void
temp_store_end(void)
{
	struct dirent *d;
	char name[512];
	DIR *list;

	store_close(temp_store);
	list = opendir(temp_dir);
	while (list != NULL && (d = readdir(list)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", temp_dir, d->d_name);
		if (d->d_name[0] != '.')
			unlink(name);
	}
	if (list != NULL)
		closedir(list);
	rmdir(temp_dir);
}

/* Once; later it is there. */
static inline void
temp_store_begin(void)
{
	struct fm_error err;

	if (temp_store != NULL)
		return;
	snprintf(temp_dir, sizeof(temp_dir), "%s/fmd-fuzz-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(temp_dir) != NULL);
	must(store_open(temp_dir, &temp_store, &err) == 0 && atexit(temp_store_end) == 0);
}

#endif
