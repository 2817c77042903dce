/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that are no secrets, and a group that is none.
 */
#include <grp.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/option_value.h"
#include "core/conf/conf_private.h"
#include "core/subnet/untrusted.h"
#include "lib/log.h"

#define DEFAULT_KEY 1 /* of sm_key and sa_key, as of OpenSM */

/* Groups of which others are not members. */
static bool
is_own_group(gid_t gid)
{
	const struct group *fmd;

	if (gid == 0 || gid == getegid())
		return true;
	fmd = getgrnam("fmd");
	return fmd != NULL && fmd->gr_gid == gid;
}

/* The secret of a key that was written there stands in the file. */
static void
warn_readable(const char *key, const struct option_origin *at, const char *file)
{
	struct stat st;

	if (stat(file, &st) != 0)
		return;
	if ((st.st_mode & S_IROTH) != 0)
		log_warn("conf",
		    "%s:%u: %s stands in a file that anybody can read (mode %04o): chmod 640 %s",
		    at->file, at->line, key, (unsigned)st.st_mode & 07777, file);
	else if ((st.st_mode & S_IRGRP) != 0 && !is_own_group(st.st_gid))
		log_warn("conf",
		    "%s:%u: %s stands in a file that the group %u can read (mode %04o): chmod 600 "
		    "%s, or give it to the group fmd",
		    at->file, at->line, key, (unsigned)st.st_gid, (unsigned)st.st_mode & 07777,
		    file);
}

static void
warn_auth_file(const struct conf_private *self)
{
	const char *file = self->conf->dist.auth_file;
	const struct option_origin *at = option_values_origin(self->own, "dist_auth_file");

	if (*file != '\0' && at != NULL && at->file != NULL)
		warn_readable("what dist_auth_file names", at, file);
}

static void
warn_cc_key(const struct conf_private *self)
{
	const struct option_origin *at = option_values_origin(self->own, "cc_key");

	if (self->conf->congestion.key != 0 && at != NULL && at->file != NULL)
		warn_readable("cc_key", at, at->file);
}

/* A directory of groups that does not answer must not keep a fabric from coming up. */
static void
warn_group(const struct conf_private *self)
{
	const char *group = self->conf->daemon.control_group;
	const struct option_origin *at = option_values_origin(self->own, "control_group");

	if (*group != '\0' && at != NULL && at->file != NULL && getgrnam(group) == NULL)
		log_warn("conf",
		    "%s:%u: control_group = %s: there is no such group: only root and fmd's user "
		    "are answered",
		    at->file, at->line, group);
}

void
conf_warn_keys(const struct conf_private *self)
{
	const struct conf *c = self->conf;
	const struct {
		const char *name;
		bool is_secret;
	} keys[] = { { "m_key", c->m_key.key != 0 }, { "sm_key", c->sm.key != DEFAULT_KEY },
		{ "sa_key", c->sa.key != DEFAULT_KEY } };

	warn_group(self);
	warn_auth_file(self);
	warn_cc_key(self);
	if (c->sa.untrusted == SA_UNTRUSTED_RESTRICT && c->sa.key == DEFAULT_KEY)
		log_warn("conf",
		    "untrusted = restrict keeps nobody out: who shows the sa_key is trusted, and "
		    "it is %d, which everybody knows; set another",
		    DEFAULT_KEY);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct option_origin *at = option_values_origin(self->own, keys[i].name);

		if (at == NULL || at->file == NULL || !keys[i].is_secret)
			continue;
		warn_readable(keys[i].name, at, at->file);
		if (c->sa.key == DEFAULT_KEY)
			log_warn("conf",
			    "%s:%u: %s is set, but sa_key is %d, its default, which everybody "
			    "knows: who asks the SA by it is trusted; set sa_key to a number of "
			    "your own, too",
			    at->file, at->line, keys[i].name, DEFAULT_KEY);
	}
}
