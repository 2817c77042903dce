/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/acm/acm_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------- options */

void
acm_file_defaults(struct acm_file_options *o)
{
	*o = (struct acm_file_options){ .path = PATHS_FILE, .max_age_s = ACM_FILE_MAX_AGE_S };
}

static int
take_path(struct acm_file_options *o, const char *value, struct fm_error *err)
{
	if (value[0] != '/')
		return fm_fail(err, FM_E_CONFIG,
		    "fmd_paths is \"%s\", and has to be a whole path, as " PATHS_FILE, value);
	snprintf(o->path, sizeof(o->path), "%s", value);
	return 0;
}

static int
take_age(struct acm_file_options *o, const char *value, struct fm_error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end != '\0' || n == 0 ||
	    n > ACM_FILE_LONGEST_AGE_S)
		return fm_fail(err, FM_E_CONFIG,
		    "fmd_max_age is \"%s\", and has to be seconds, 1 to %d", value,
		    ACM_FILE_LONGEST_AGE_S);
	o->max_age_s = (uint32_t)n;
	return 0;
}

int
acm_file_option(struct acm_file_options *o, const char *line, struct fm_error *err)
{
	char name[32], value[256];
	int n;

	if (line[0] == '#' || (n = sscanf(line, "%31s %255s", name, value)) < 1)
		return 0;
	if (strcmp(name, "fmd_paths") != 0 && strcmp(name, "fmd_max_age") != 0)
		return strncmp(name, "fmd_", 4) != 0
		    ? 0
		    : fm_fail(err, FM_E_CONFIG,
			  "there is no option %s; there are fmd_paths and fmd_max_age", name);
	if (n < 2)
		return fm_fail(err, FM_E_CONFIG, "%s has no value", name);
	return name[4] == 'p' ? take_path(o, value, err) : take_age(o, value, err);
}

/* --------------------------------------------------------------------- file */

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Who sets the time of the file has the same clock: a time to come is of a clock that was wrong,
 * and as good as one gone by. */
static bool
is_fresh(const struct acm_file *f, time_t now)
{
	time_t age = now - f->st.st_mtim.tv_sec;

	return (age < 0 ? -age : age) <= (time_t)f->options.max_age_s;
}

static enum acm_file_state
state_of(const struct acm_file *f, time_t now)
{
	if (f->paths == NULL)
		return ACM_FILE_NONE;
	return is_fresh(f, now) ? ACM_FILE_FRESH : ACM_FILE_STALE;
}

/* Another file than before, none where there was one, or another reason why there is none. */
static bool
is_another(struct acm_file *f)
{
	struct stat st = { 0 };
	int errnum = stat(f->options.path, &st) == 0 ? 0 : errno;
	bool is_other;

	if (errnum != 0)
		st = (struct stat){ 0 };
	is_other = errnum != f->errnum || !is_same(&st, &f->st);
	f->st = st;
	f->errnum = errnum;
	return is_other;
}

bool
acm_file_look(struct acm_file *f, time_t now, struct fm_error *err)
{
	enum acm_file_state was = f->state;
	bool is_other = is_another(f);

	err->msg[0] = '\0';
	if (is_other) {
		paths_free(f->paths);
		f->paths = NULL;
	}
	if (is_other && f->errnum == 0)
		paths_read(f->options.path, &f->paths, err);
	else if (is_other && f->errnum != ENOENT)
		fm_fail(
		    err, FM_E_SYSTEM, "cannot read %s: %s", f->options.path, strerror(f->errnum));
	f->state = state_of(f, now);
	return is_other || f->state != was;
}
