/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User, limits, files that can be seen, and two filters of system calls.
 *
 * Both filters stay: what either refuses is refused.  A call that a library makes by the way
 * and can do without (to open a file, to ask for a terminal) is answered with an error; one
 * that only somebody makes who wants more than tables (socket, fork, exec, kill, ptrace, any of
 * another architecture as by int 0x80 or x32) ends the process.  There are no new threads: an
 * engine's workers are those of parallel_for().
 */
#include "config.h"

#include "core/apart/sandbox.h"
#include "core/apart/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <link.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define MAX_FDS 32		   /* libraries of the engine, one at a time; input and tables */
#define MAPPED ((uint64_t)8 << 30) /* tables and input, at most */

/* A shadow of terabytes: no limit on address space. */
#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	dprintf(STDERR_FILENO, "fmd-engine-host: %s\n", what);
	_exit(126);
}

/* --------------------------------------------------------------- privileges */

static void
close_from(int first)
{
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	for (int fd = first; fd < 65536; fd++)
		close(fd);
}

/* Of a root that may not change users, or whose namespace has no others, there is no power to
 * be taken. */
static bool
is_harmless(int rc)
{
	return rc == 0 || errno == EPERM || errno == EINVAL;
}

static void
become_nobody(void)
{
	if (geteuid() != 0)
		return;
	must(is_harmless(setgroups(0, NULL)), "setgroups");
	must(is_harmless(setresgid(NOBODY, NOBODY, NOBODY)), "setresgid");
	must(is_harmless(setresuid(NOBODY, NOBODY, NOBODY)), "setresuid");
	/* a change of user takes /proc/self from us, by which the image is loaded */
	must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "PR_SET_DUMPABLE");
}

static void
drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	must(syscall(SYS_capset, &head, none) == 0, "capset");
}

/* Who takes much memory is the first to go when it runs out. */
static void
offer_to_die(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0; /* then it is as likely as others */
	close(fd);
}

static void
limit(int what, uint64_t to)
{
	struct rlimit l = { to, to }, now;

	must(getrlimit(what, &now) == 0, "getrlimit");
	if (now.rlim_max < to)
		l.rlim_cur = l.rlim_max = now.rlim_max;
	must(setrlimit(what, &l) == 0, "setrlimit");
}

/* Bytes of address space in use. */
static uint64_t
mapped_now(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f != NULL && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* fmd raises it by what a call brings (child_make_room()). */
static void
limit_memory(uint64_t to)
{
	struct rlimit l = { to, to + MAPPED }, now;

	must(getrlimit(RLIMIT_AS, &now) == 0, "getrlimit");
	if (now.rlim_max < l.rlim_max)
		l.rlim_max = now.rlim_max;
	if (l.rlim_max < l.rlim_cur)
		l.rlim_cur = l.rlim_max;
	must(setrlimit(RLIMIT_AS, &l) == 0, "setrlimit");
}

void
sandbox_begin(pid_t parent, int n_fds, uint64_t memory_bytes)
{
	close_from(n_fds);
	offer_to_die();
	become_nobody();
	must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "PR_SET_PDEATHSIG");
	if (getppid() != parent)
		_exit(0);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
	drop_capabilities();
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_NOFILE, MAX_FDS);
	if (!SANITIZED)
		limit_memory(mapped_now() + memory_bytes);
}

/* -------------------------------------------------------------------- files */

/* Landlock, since Linux 5.13, in numbers: headers may be older than the kernel. */
#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define LANDLOCK_VERSION 1u
#define LANDLOCK_BENEATH 1
#define LANDLOCK_READ_FILE (UINT64_C(1) << 2)
#define LANDLOCK_READ_FOLDER (UINT64_C(1) << 3)

struct landlock_ruleset {
	uint64_t files;
};
struct landlock_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

/* All that this version of it can refuse: 13 rights, and what came later. */
static uint64_t
rights_of_version(long version)
{
	if (version == 1)
		return 0x1fff;
	if (version == 2)
		return 0x3fff;
	return version < 5 ? 0x7fff : 0xffff;
}

/* What is not there needs no rule. */
static void
show(int rules, const char *path, uint64_t allowed)
{
	struct landlock_rule r = { .allowed = allowed, .parent = open(path, O_PATH | O_CLOEXEC) };

	if (r.parent < 0)
		return;
	must(syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &r, 0) == 0, "a rule of Landlock");
	close(r.parent);
}

/* The folder of a library that is loaded already. */
static int
show_folder_of(struct dl_phdr_info *info, size_t size, void *rules)
{
	char folder[PATH_MAX];

	(void)size;
	if (info->dlpi_name[0] != '/' || strlen(info->dlpi_name) >= sizeof(folder))
		return 0;
	memcpy(folder, info->dlpi_name, strlen(info->dlpi_name) + 1);
	*strrchr(folder, '/') = '\0';
	show(*(int *)rules, folder, LANDLOCK_READ_FILE | LANDLOCK_READ_FOLDER);
	return 0;
}

bool
sandbox_hide_files(void)
{
	static const char *const libraries[] = { "/lib", "/lib64", "/usr/lib", "/usr/lib64",
		"/usr/local/lib", "/usr/local/lib64" };
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
	struct landlock_ruleset all = { rights_of_version(version) };
	int rules;

	if (version < 1)
		return false;
	rules = (int)syscall(LANDLOCK_CREATE, &all, sizeof(all), 0);
	must(rules >= 0, "Landlock");
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		show(rules, libraries[i], LANDLOCK_READ_FILE | LANDLOCK_READ_FOLDER);
	show(rules, "/etc/ld.so.cache", LANDLOCK_READ_FILE);
	dl_iterate_phdr(show_folder_of, &rules);
	must(syscall(LANDLOCK_RESTRICT, rules, 0) == 0, "Landlock");
	close(rules);
	return true;
}

/* ------------------------------------------------------------------ filters */

static const int allowed[] = {
	/* memory */
	SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(munmap), SCMP_SYS(mremap),
	SCMP_SYS(madvise), SCMP_SYS(mincore),
	/* threads that are there */
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(membarrier),
	SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu),
	/* what has been opened for us */
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(lseek), SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	/* time */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times),
	SCMP_SYS(restart_syscall),
	/* signals of its own */
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(pause),
	/* questions */
	SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
	SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getrandom), SCMP_SYS(getrlimit),
	SCMP_SYS(getrusage), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getcwd),
	/* the end; and what comes before the next filter */
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(seccomp)
};

/* Asked by libraries that can do without. */
static const int refused[] = { SCMP_SYS(ioctl), SCMP_SYS(fcntl), SCMP_SYS(access),
	SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64), SCMP_SYS(sched_setaffinity), SCMP_SYS(mlock), SCMP_SYS(munlock),
	SCMP_SYS(set_mempolicy), SCMP_SYS(mbind), SCMP_SYS(get_mempolicy) };

static void
add(scmp_filter_ctx c, uint32_t action, int call)
{
	must(seccomp_rule_add(c, action, call, 0) == 0, "a rule of the filter");
}

static void
add_if(scmp_filter_ctx c, uint32_t action, int call, struct scmp_arg_cmp arg)
{
	must(seccomp_rule_add(c, action, call, 1, arg) == 0, "a rule of the filter");
}

/* For reading only; who wants more is told that there is none. */
static void
add_open(scmp_filter_ctx c, int call, unsigned flags_at)
{
	static const scmp_datum_t writes[] = { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC };
	scmp_datum_t all = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

	add_if(c, SCMP_ACT_ALLOW, call, SCMP_CMP(flags_at, SCMP_CMP_MASKED_EQ, all, 0));
	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++)
		add_if(c, SCMP_ACT_ERRNO(EACCES), call,
		    SCMP_CMP(flags_at, SCMP_CMP_MASKED_EQ, writes[i], writes[i]));
}

static void
load(scmp_filter_ctx c)
{
	must(seccomp_load(c) == 0, "the kernel takes no filter of system calls");
	seccomp_release(c);
}

static scmp_filter_ctx
begin(uint32_t otherwise)
{
	scmp_filter_ctx c = seccomp_init(otherwise);

	must(c != NULL && seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
		seccomp_attr_set(c, SCMP_FLTATR_CTL_NNP, 0) == 0 &&
		seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0,
	    "a filter of system calls");
	return c;
}

void
sandbox_close(void)
{
	scmp_filter_ctx c = begin(SCMP_ACT_KILL_PROCESS);

	limit(RLIMIT_NPROC, 0);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		add(c, SCMP_ACT_ALLOW, allowed[i]);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		add(c, SCMP_ACT_ERRNO(EPERM), refused[i]);
	add_open(c, SCMP_SYS(open), 1);
	add_open(c, SCMP_SYS(openat), 2);
	add_if(c, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), SCMP_A0(SCMP_CMP_EQ, WIRE_SOCKET));
	add_if(c, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	add_if(c, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0));
	add_if(c, SCMP_ACT_ALLOW, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_DUMPABLE));
	add_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_NE, PR_SET_DUMPABLE));
	load(c);
}

void
sandbox_seal(void)
{
	scmp_filter_ctx c;

	must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "PR_SET_DUMPABLE");
	c = begin(SCMP_ACT_ALLOW);
	add(c, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open));
	add(c, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat));
	add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl));
	add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp));
	load(c);
}
