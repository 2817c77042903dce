/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting, hearing and ending a child.
 *
 * It is spawned, not forked: fmd has threads, keys in its memory, and gigabytes of page
 * tables.  It gets a socket and the image, nothing on 0 to 2 and no environment; it closes what
 * else is open and gives up its privileges itself (sandbox.c), before it loads anything.
 *
 * It is asked to end by SIGKILL alone.  After waitpid() no thread of it is left, so what it
 * shared with us is ours.
 */
#include "config.h"

#include "core/apart/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/apart/descriptor.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/printable.h"

#define LOOK_MS 20	 /* how often who waits asks whether to stop */
#define MAX_LINES 1000	 /* of one call; beyond it is noise */
#define LOGGED_LINES 100 /* of them */
#define FIRST_FD 10	 /* ours stand clear of those that the child is to have */

int64_t
child_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ----------------------------------------------------------------- starting */

/* Beside this program or, of a program of the tests, two folders above it; else as installed. */
static const char *
find_program(const struct apart_settings *set, char *room, size_t bytes)
{
	static const char *const places[] = { "", "/../.." };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (set->program != NULL)
		return set->program;
	exe[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; n > 0 && i < sizeof(places) / sizeof(*places); i++) {
		char copy[PATH_MAX];

		memcpy(copy, exe, sizeof(exe));
		snprintf(room, bytes, "%s%s/fmd-engine-host", dirname(copy), places[i]);
		if (access(room, X_OK) == 0)
			return room;
	}
	return LIBEXEC_DIR "/fmd-engine-host";
}

static int
prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr, int socket, int image)
{
	sigset_t none, all;
	int rc = 0;

	sigemptyset(&none);
	sigfillset(&all);
	for (int fd = 0; rc == 0 && fd <= STDERR_FILENO; fd++)
		rc = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, socket, WIRE_SOCKET);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, image, WIRE_IMAGE);
	posix_spawnattr_setflags(
	    attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	return rc;
}

static int
spawn(pid_t *pid, const struct apart_settings *set, char *const argv[], int socket, int image)
{
	char program[PATH_MAX + 64];
	char *const no_environment[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	rc = prepare(&files, &attr, socket, image);
	if (rc == 0)
		rc = posix_spawn(pid, find_program(set, program, sizeof(program)), &files, &attr,
		    argv, no_environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* A pair of sockets clear of the child's descriptors. */
static int
make_sockets(int fds[2])
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return errno;
	for (int i = 0; i < 2; i++) {
		fds[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, FIRST_FD);
		close(pair[i]);
	}
	if (fds[0] >= 0 && fds[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return EMFILE;
}

enum { WORKERS, MEMORY, MAIN_BYTES, WORKER_BYTES, PARENT, MUST_HIDE, IS_PROGRAMMER, N_NUMBERS };

/* fmd-engine-host NAME PATH and numbers. */
static int
start(struct child *c, const struct child_task *task, int socket)
{
	const uint64_t numbers[] = { task->n_workers, task->set->memory_bytes, task->main_bytes,
		task->worker_bytes, (uint64_t)getpid(), task->set->must_hide, task->is_programmer };
	char texts[N_NUMBERS][24];
	const char *argv[N_NUMBERS + 4] = { "fmd-engine-host", task->name, task->path };
	int rc, high = fcntl(task->image, F_DUPFD_CLOEXEC, FIRST_FD);

	if (high < 0)
		return errno;
	for (unsigned i = 0; i < N_NUMBERS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, numbers[i]);
		argv[3 + i] = texts[i];
	}
	rc = spawn(&c->pid, task->set, (char *const *)(uintptr_t)argv, socket, high);
	close(high);
	return rc;
}

int
child_start(struct child *c, const struct child_task *task, struct fm_error *err)
{
	int fds[2] = { -1, -1 }, rc = make_sockets(fds);

	*c = CHILD_NONE;
	c->since_ms = child_now_ms();
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the child may be of our user */
	if (rc != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: no socket for its process: %s", task->path,
		    strerror(rc));
	rc = start(c, task, fds[1]);
	close(fds[1]);
	c->socket = fds[0];
	if (rc == 0)
		return 0;
	c->pid = 0;
	child_kill(c);
	return fm_fail(err, FM_E_SYSTEM, "%s: its process cannot be started: fmd-engine-host: %s",
	    task->path, strerror(rc));
}

/* ------------------------------------------------------------------- ending */

static void
reap(struct child *c, int *status)
{
	while (c->pid > 0 && waitpid(c->pid, status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
}

void
child_kill(struct child *c)
{
	int status;

	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		reap(c, &status);
	}
	if (c->socket >= 0)
		close(c->socket);
	c->socket = -1;
}

/* The end of a process closes its socket a moment before it can be waited for. */
static bool
ends_by_itself(struct child *c, int *status)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (int i = 0; i < 1000; i++) {
		pid_t pid = waitpid(c->pid, status, WNOHANG);

		if (pid == c->pid)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

void
child_epitaph(struct child *c, char *words, size_t room)
{
	const char *more = "";
	int status = 0;

	if (c->pid <= 0 || !ends_by_itself(c, &status)) {
		snprintf(words, room, "hung up on fmd");
		child_kill(c);
		return;
	}
	c->pid = 0;
	child_kill(c);
	if (WIFEXITED(status)) {
		snprintf(words, room, "exited with status %d", WEXITSTATUS(status));
		return;
	}
	if (WTERMSIG(status) == SIGSYS)
		more = ": it made a system call that is not for plugins, as those for sockets, "
		       "processes and threads are";
	snprintf(words, room, "was killed by signal %d (SIG%s)%s", WTERMSIG(status),
	    sigabbrev_np(WTERMSIG(status)) != NULL ? sigabbrev_np(WTERMSIG(status)) : "?", more);
}

/* ------------------------------------------------------------------ hearing */

static void
log_line(const char *name, const void *packet, size_t n)
{
	struct wire_line line;

	if (n != sizeof(line))
		return;
	memcpy(&line, packet, sizeof(line));
	line.text[sizeof(line.text) - 1] = '\0';
	fm_printable(line.text);
	if (line.level < FM_LOG_ERR || line.level > FM_LOG_DEBUG)
		line.level = FM_LOG_INFO;
	fm_log((enum fm_log_level)line.level, "engine", "%s: %s", name, line.text);
}

/* Until the socket has something, at most LOOK_MS. */
static void
poll_socket(const struct child *c, int64_t until_ms)
{
	struct pollfd p = { .fd = c->socket, .events = POLLIN };
	int64_t left = until_ms - child_now_ms();

	poll(&p, 1, left < 0 ? 0 : left > LOOK_MS ? LOOK_MS : (int)left);
}

enum child_event
child_await(struct child *c, const struct child_wait *wait, void *to, size_t *n)
{
	unsigned lines = 0;

	for (;;) {
		ssize_t got = recv(c->socket, to, WIRE_BYTES, MSG_DONTWAIT);
		uint32_t kind = 0;

		if (got > 0) {
			*n = (size_t)got;
			memcpy(&kind, to, *n < sizeof(kind) ? *n : sizeof(kind));
			if (kind != WIRE_LOG)
				return CHILD_PACKET;
			if (++lines > MAX_LINES)
				return CHILD_NOISY;
			if (wait->log_name != NULL && lines <= LOGGED_LINES)
				log_line(wait->log_name, to, *n);
		} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
			return CHILD_GONE;
		} else {
			if (wait->is_cancelled != NULL && wait->is_cancelled(wait->arg))
				return CHILD_CANCELLED;
			if (child_now_ms() >= wait->until_ms)
				return CHILD_SILENT;
			poll_socket(c, wait->until_ms);
		}
	}
}

/* ------------------------------------------------------------------ loading */

/* [n] bytes at `said`. */
static int
hear(struct child *c, const struct child_task *task, const struct child_wait *wait,
    unsigned char *said, size_t *n, struct fm_error *err)
{
	char words[160];

	switch (child_await(c, wait, said, n)) {
	case CHILD_PACKET:
		return 0;
	case CHILD_GONE:
		child_epitaph(c, words, sizeof(words));
		return fm_fail(
		    err, FM_E_CONFIG, "%s: its process %s while it was loaded", task->path, words);
	case CHILD_SILENT:
		fm_fail(err, FM_E_CONFIG,
		    "%s: it was not loaded within %lldms: what runs when a file is loaded must end",
		    task->path, (long long)(wait->until_ms - c->since_ms));
		break;
	case CHILD_CANCELLED:
		fm_fail(err, FM_E_CANCELLED, "stopped while %s was loaded", task->path);
		break;
	case CHILD_NOISY:
		fm_fail(
		    err, FM_E_CONFIG, "%s: it talks without end while it is loaded", task->path);
		break;
	}
	child_kill(c);
	return (int)err->kind;
}

/* Its refusal of itself, or what it is. */
static int
believe(struct child *c, const char *path, unsigned char *said, size_t n, struct fm_error *err)
{
	struct wire_line line;
	uint32_t kind = 0;

	memcpy(&kind, said, n < sizeof(kind) ? n : sizeof(kind));
	if (kind == WIRE_REFUSED && n == sizeof(line)) {
		memcpy(&line, said, sizeof(line));
		line.text[sizeof(line.text) - 1] = '\0';
		fm_printable(line.text);
		return fm_fail(err, FM_E_CONFIG, "%s", line.text);
	}
	if (kind != WIRE_ENGINE || n < sizeof(kind))
		return fm_fail(err, FM_E_CONFIG, "%s: it answers before it is asked", path);
	c->is_ready = true;
	return 0;
}

int
child_load(struct child *c, const struct child_task *task, const struct child_wait *wait,
    unsigned char *said, size_t *n, struct fm_error *err)
{
	struct child_wait until = *wait;
	int rc;

	if (c->is_ready)
		return 0;
	if (until.until_ms > c->since_ms + task->set->load_ms)
		until.until_ms = c->since_ms + task->set->load_ms;
	rc = hear(c, task, &until, said, n, err);
	if (rc == 0 && (rc = believe(c, task->path, said, *n, err)) != 0)
		child_kill(c);
	return rc;
}

/* ------------------------------------------------------------------ calling */

void
child_make_room(const struct child *c, uint64_t n_bytes)
{
	struct rlimit l;

	if (prlimit(c->pid, RLIMIT_AS, NULL, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
		return;
	l.rlim_cur = l.rlim_max - l.rlim_cur > n_bytes ? l.rlim_cur + n_bytes : l.rlim_max;
	(void)prlimit(c->pid, RLIMIT_AS, &l, NULL); /* else the child says that it has no room */
}

bool
child_call(struct child *c, const void *packet, size_t n, const int *fds)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(*fds))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)packet, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	if (fds != NULL) {
		struct cmsghdr *m = &control.align;

		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control);
		m->cmsg_level = SOL_SOCKET;
		m->cmsg_type = SCM_RIGHTS;
		m->cmsg_len = CMSG_LEN(2 * sizeof(*fds));
		memcpy(CMSG_DATA(m), fds, 2 * sizeof(*fds));
	}
	do
		sent = sendmsg(c->socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n;
}
