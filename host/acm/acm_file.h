/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/acm/acm_file.h - the file of paths, as it is now.
 *
 * It is read when it is another one than before, which stat() tells.  One thread.
 */
#ifndef HOST_ACM_ACM_FILE_H
#define HOST_ACM_ACM_FILE_H

#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include "host/paths/paths.h"

#define ACM_FILE_MAX_AGE_S 180
#define ACM_FILE_LONGEST_AGE_S (365 * 86400)

struct acm_file_options {
	char path[PATH_MAX];
	uint32_t max_age_s; /* an older file says who is meant, but no longer how to get there */
};
void acm_file_defaults(struct acm_file_options *o);
/* A line of ibacm_opts.cfg; others' are passed over.  FM_E_CONFIG: the sentence without a place;
 * the option is as it was. */
int acm_file_option(struct acm_file_options *o, const char *line, struct fm_error *err);

enum acm_file_state {
	ACM_FILE_NONE, /* none, or none that can be read */
	ACM_FILE_STALE,
	ACM_FILE_FRESH
};
struct acm_file {
	struct acm_file_options options;
	struct stat st; /* of what was read last, or could not be */
	int errnum;	/* of stat(), 0 */
	struct paths *paths;
	enum acm_file_state state;
};

/* Looks at the file.  True: the state is another one, or another file was read or refused;
 * err->msg is empty where nothing is wrong. */
bool acm_file_look(struct acm_file *f, time_t now, struct fm_error *err);

#endif
