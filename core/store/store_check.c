/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is data.mdb sound, before LMDB maps it here?  LMDB follows what stands in its pages without a
 * look at it: a page that a disk or a copy has spoilt kills who reads it, a spoilt list of free
 * pages whoever writes later.
 *
 * So a child reads the file and puts each value of each database into a new one, in the order
 * of the keys.  Where LMDB reports an error, keys do not ascend, values are missing, or the child
 * is killed or is busy for too long, the file is damaged.  Else the new file, which LMDB has just
 * written itself, holds all of it, and is the one to use.  What values mean is for those who read
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/store_internal.h"

#define MAX_DATABASES 32 /* of this version and of later ones */
#define CPU_SECONDS 20	 /* a store of 64 MB takes less than one */
#define NAME_MAX_BYTES 64

struct copy {
	MDB_env *from, *to;
	MDB_txn *read, *write;
};

static void
stop_at_once(MDB_env *env, const char *words)
{
	(void)env;
	(void)words;
	_exit(1);
}

static int
open_one(MDB_env **env, MDB_txn **txn, const char *path, unsigned env_flags, unsigned txn_flags)
{
	int rc = mdb_env_create(env);

	if (rc != 0 || (rc = mdb_env_set_assert(*env, stop_at_once)) != 0 ||
	    (rc = mdb_env_set_maxdbs(*env, MAX_DATABASES)) != 0 ||
	    (rc = mdb_env_set_mapsize(*env, STORE_MAP_BYTES)) != 0 ||
	    (rc = mdb_env_open(*env, path, env_flags | MDB_NOSUBDIR | MDB_NOLOCK, 0640)) != 0)
		return rc;
	return mdb_txn_begin(*env, NULL, txn_flags, txn);
}

static int
copy_values(struct copy *c, MDB_dbi from, MDB_dbi to)
{
	MDB_cursor *at, *end;
	MDB_val key, value;
	MDB_stat st;
	size_t n = 0;
	int rc;

	if ((rc = mdb_stat(c->read, from, &st)) != 0 ||
	    (rc = mdb_cursor_open(c->read, from, &at)) != 0 ||
	    (rc = mdb_cursor_open(c->write, to, &end)) != 0)
		return rc;
	while ((rc = mdb_cursor_get(at, &key, &value, MDB_NEXT)) == 0 && n++ < st.ms_entries)
		if ((rc = mdb_cursor_put(end, &key, &value, MDB_APPEND)) != 0)
			return rc;
	return rc == MDB_NOTFOUND && n == st.ms_entries ? 0 : MDB_CORRUPTED;
}

static int
copy_database(struct copy *c, const MDB_val *name)
{
	char text[NAME_MAX_BYTES];
	unsigned flags;
	MDB_dbi from, to;
	int rc;

	if (name->mv_size >= sizeof(text))
		return MDB_CORRUPTED;
	memcpy(text, name->mv_data, name->mv_size);
	text[name->mv_size] = '\0';
	if ((rc = mdb_dbi_open(c->read, text, 0, &from)) != 0 ||
	    (rc = mdb_dbi_flags(c->read, from, &flags)) != 0 ||
	    (rc = mdb_dbi_open(c->write, text, flags | MDB_CREATE, &to)) != 0)
		return rc;
	return copy_values(c, from, to);
}

/* The database without a name has the names of the others as keys. */
static int
copy_databases(struct copy *c)
{
	MDB_cursor *at;
	MDB_val name, value;
	MDB_dbi names;
	int rc;

	if ((rc = mdb_dbi_open(c->read, NULL, 0, &names)) != 0 ||
	    (rc = mdb_cursor_open(c->read, names, &at)) != 0)
		return rc;
	while ((rc = mdb_cursor_get(at, &name, &value, MDB_NEXT)) == 0)
		if ((rc = copy_database(c, &name)) != 0)
			return rc;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Which errors are the machine's; all others of reading are damage, also a file that asks for more
 * memory than there is. */
static int
why_not_read(int rc)
{
	return rc == EACCES || rc == EPERM || rc == EIO || rc == EMFILE || rc == ENFILE ||
		rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH
	    ? rc
	    : MDB_CORRUPTED;
}

/* The new file first: what fails for want of memory, fails there. */
static int
copy_file(const char *path, const char *copy, bool keeps)
{
	struct copy c;
	int rc = open_one(&c.to, &c.write, copy, 0, 0);

	if (rc != 0)
		return rc;
	if ((rc = open_one(&c.from, &c.read, path, MDB_RDONLY, MDB_RDONLY)) != 0 ||
	    (rc = copy_databases(&c)) != 0)
		return why_not_read(rc);
	return keeps ? mdb_txn_commit(c.write) : 0;
}

/* ------------------------------------------------------------------- child */

/* It may die as it likes: without a core file, or words of a sanitizer. */
static void
expect_death(void)
{
	static const int deaths[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU };
	struct rlimit none = { 0, 0 }, cpu = { CPU_SECONDS, CPU_SECONDS };

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
		signal(deaths[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
}

/* copy NULL: to nowhere. */
static int
try_to_copy(const char *path, const char *copy)
{
	char nowhere[40];
	int fd;

	if (copy != NULL)
		return copy_file(path, copy, true);
	fd = memfd_create("fmd store", MFD_CLOEXEC);
	if (fd < 0)
		return errno;
	snprintf(nowhere, sizeof(nowhere), "/proc/self/fd/%d", fd);
	return copy_file(path, nowhere, false);
}

static void
be_child(const char *path, const char *copy, int report)
{
	int rc;

	expect_death();
	rc = try_to_copy(path, copy);
	_exit(write(report, &rc, sizeof(rc)) != sizeof(rc));
}

/* What the child reports; when it ends without a report the file was its death. */
static int
read_report(int fd)
{
	ssize_t n;
	int rc;

	do
		n = read(fd, &rc, sizeof(rc));
	while (n < 0 && errno == EINTR);
	return n == sizeof(rc) ? rc : MDB_CORRUPTED;
}

static int
check_in_child(const char *path, const char *copy)
{
	int report[2], rc;
	pid_t child;

	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	child = fork();
	if (child == 0)
		be_child(path, copy, report[1]);
	rc = child < 0 ? errno : 0;
	close(report[1]);
	if (rc == 0) {
		rc = read_report(report[0]);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(report[0]);
	return rc;
}

int
store_check(const char *dir, const char *copy)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/data.mdb", dir);
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : errno;
	if (S_ISLNK(st.st_mode))
		return ELOOP;
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return MDB_INVALID;
	return check_in_child(path, copy);
}
