/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-host: one engine, one call.
 *
 *	fmd-engine-host NAME PATH WORKERS MEMORY MAIN_SCRATCH WORKER_SCRATCH PARENT MUST_HIDE
 *
 * fmd starts it (child.c) with the engine's bytes and a socket; it is of no use to anybody
 * else.  It loads the engine behind the sandbox, says what it is and answers calls until it is
 * killed.  From dlopen() on nothing in this process is to be trusted, this code included:
 * fmd does not.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/abi/host.h"
#include "core/abi/plugin_check.h"
#include "core/apart/blob.h"
#include "core/apart/descriptor.h"
#include "core/apart/sandbox.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/pages.h"

#define PAGE_BYTES 4096u
#ifndef MADV_POPULATE_READ /* since Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Sanitizers of this build: a crash is a signal, and nobody asks what was not freed. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *
__asan_default_options(void)
{
	return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:"
	       "handle_sigill=0:allocator_may_return_null=1";
}

struct served {
	const struct fm_engine *engine;
	struct route_host *host;
};

static void
send_packet(const void *packet, size_t n)
{
	if (write(WIRE_SOCKET, packet, n) != (ssize_t)n)
		_exit(0); /* fmd is gone, or does not want to know */
}

static void
say_line(enum wire_kind kind, int level, const char *text)
{
	struct wire_line line = { .kind = kind, .level = level };

	snprintf(line.text, sizeof(line.text), "%s", text);
	send_packet(&line, sizeof(line));
}

static void
on_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	say_line(WIRE_LOG, (int)level, line);
}

/* ------------------------------------------------------------------ loading */

static const struct fm_engine *
load(const char *name, const char *path, struct fm_error *err)
{
	const struct fm_engine *e;
	char file[32], symbol[300];
	void *h;

	snprintf(file, sizeof(file), "/proc/self/fd/%d", WIRE_IMAGE);
	snprintf(symbol, sizeof(symbol), "%s_LTX_fm_engine", name);
	if (plugin_file_open(&plugin_engine, file, path, &h, err) != 0)
		return NULL;
	e = dlsym(h, symbol);
	if (e == NULL)
		fm_fail(err, FM_E_CONFIG, "%s: it does not export %s", path, symbol);
	return e != NULL && engine_check(e, path, err) == 0 ? e : NULL;
}

static void
describe(const struct fm_engine *e, const char *path)
{
	static struct {
		uint32_t kind;
		unsigned char bytes[WIRE_BYTES - sizeof(uint32_t)];
	} packet = { .kind = WIRE_ENGINE };
	size_t n = descriptor_write(e, packet.bytes, sizeof(packet.bytes));
	struct fm_error err;

	if (n > 0) {
		send_packet(&packet, sizeof(packet.kind) + n);
		return;
	}
	fm_fail(&err, FM_E_CONFIG, "%s: what it says of itself takes more than %zu bytes", path,
	    sizeof(packet.bytes));
	say_line(WIRE_REFUSED, 0, err.msg);
}

/* ------------------------------------------------------------------ serving */

/* A call and what comes with it; false: fmd has hung up. */
static bool
await_call(struct wire_call *call, int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(WIRE_SOCKET, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = CMSG_FIRSTHDR(&msg);
	if (n != (ssize_t)sizeof(*call) || c == NULL || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return true;
}

static size_t
round_up(size_t n)
{
	return (n + FM_PAGES_HUGE_BYTES - 1) / FM_PAGES_HUGE_BYTES * FM_PAGES_HUGE_BYTES;
}

/* As a child of fmd maps it: nothing else may be there. */
static unsigned char *
map_at(uint64_t at, size_t n, int protection, int flags, int fd)
{
	void *got = mmap((void *)(uintptr_t)at, n, protection, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (got == MAP_FAILED || (uintptr_t)got == at)
		return got == MAP_FAILED ? NULL : got;
	munmap(got, n); /* a kernel before 4.17 */
	return NULL;
}

/* Elsewhere than wanted: ours alone then, as addresses are put in. */
static unsigned char *
map_copy(int fd, size_t n)
{
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Aligned as huge pages are, with one that nobody may touch on either side. */
static unsigned char *
map_tables(uint64_t wanted, int fd, size_t n)
{
	size_t room = round_up(n) + 3 * FM_PAGES_HUGE_BYTES;
	int nothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	unsigned char *at = map_at(wanted - FM_PAGES_HUGE_BYTES, room, PROT_NONE, nothing, -1);
	void *got;

	if (at == NULL)
		at = mmap(NULL, room, PROT_NONE, nothing, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	at = (unsigned char *)round_up((uintptr_t)at + FM_PAGES_HUGE_BYTES);
	got = mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
	return got == MAP_FAILED ? NULL : got;
}

/* Addresses where it is not mapped as wanted, or the tables are not. */
static void
put_addresses(const struct wire_call *call, unsigned char *input, const unsigned char *tables)
{
	const uint64_t *places = (const uint64_t *)(const void *)(input + call->places);

	for (uint64_t i = 0; i < call->n_places; i++) {
		bool in_tables = (places[i] & BLOB_IN_TABLES) != 0;
		uint64_t *p = (uint64_t *)(void *)(input + (places[i] & ~BLOB_IN_TABLES));

		*p += in_tables ? (uintptr_t)tables - call->tables_at
				: (uintptr_t)input - call->input_at;
	}
}

/* For reading. */
static unsigned char *
map_input(const struct wire_call *call, int fd, const unsigned char *tables)
{
	unsigned char *at = (uintptr_t)tables == call->tables_at
	    ? map_at(call->input_at, round_up(call->input_bytes), PROT_READ,
		  MAP_SHARED | MAP_POPULATE, fd)
	    : NULL;

	if (at != NULL)
		return at;
	at = map_copy(fd, call->input_bytes);
	if (at == NULL)
		return NULL;
	put_addresses(call, at, tables);
	return mprotect(at, call->input_bytes, PROT_READ) == 0 ? at : NULL;
}

static int
call_engine(const struct served *s, const struct wire_call *call, unsigned char *input,
    struct fm_tables *t, struct fm_error *why)
{
	const struct fm_host *host = route_host_begin(s->host,
	    &(struct route_call){ .budget_bytes = call->scratch_bytes,
		.fail_at = call->fail_at,
		.time_limit_ms = call->time_limit_ms,
		.name = s->engine->name,
		.is_ended = true });
	const struct fm_fabric *fab = (const void *)(input + call->fabric);
	const void *opts = call->options != WIRE_NONE ? input + call->options : NULL;

	/* the scratch memory goes with this process */
	return s->engine->route(host, fab, (const void *)(input + call->request), opts, t, why);
}

static void
serve_call(const struct served *s, const struct wire_call *call, const int fds[2])
{
	unsigned char *tables = map_tables(call->tables_at, fds[1], call->tables_bytes);
	unsigned char *input = tables != NULL ? map_input(call, fds[0], tables) : NULL;
	struct wire_answer answer = { .kind = WIRE_ANSWER };
	struct route_scratch used;
	struct fm_tables t;

	close(fds[0]);
	close(fds[1]);
	if (input == NULL) {
		answer.rc = fm_fail(&answer.why, FM_E_RESOURCE,
		    "out of memory for the tables: engine_memory would have to be larger");
		send_packet(&answer, sizeof(answer));
		return;
	}
	memcpy(&t, input + call->tables, sizeof(t));
	fm_log_set_level(call->debug ? FM_LOG_DEBUG : FM_LOG_INFO);
	answer.rc = call_engine(s, call, input, &t, &answer.why);
	answer.sl_shape = (uint32_t)t.sl_shape;
	answer.sl2vl_shape = (uint32_t)t.sl2vl_shape;
	answer.n_vls_used = t.n_vls_used;
	answer.ar_dropped = t.ar_dropped;
	used = route_host_used(s->host);
	answer.main_bytes = used.main_bytes;
	answer.worker_bytes = used.worker_bytes;
	send_packet(&answer, sizeof(answer));
}

/* ------------------------------------------------------------------ warming */

/* Pages of code and data, before a call waits for them. */
static int
touch(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t from = (info->dlpi_addr + h->p_vaddr) / PAGE_BYTES * PAGE_BYTES;

		if (h->p_type == PT_LOAD)
			(void)madvise((void *)from,
			    info->dlpi_addr + h->p_vaddr + h->p_memsz - from,
			    h->p_flags & PF_W ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	}
	return 0;
}

static uint64_t
number(const char *text)
{
	return strtoull(text, NULL, 10); /* fmd wrote it */
}

int
main(int argc, char *argv[])
{
	struct served s = { 0 };
	struct route_scratch scratch;
	struct fm_error err = { 0 };
	struct wire_call call;
	struct fm_pool *workers;
	bool may_load;
	int fds[2];

	if (argc != 9) {
		fputs("fmd-engine-host is started by fmd: it runs an engine for it\n", stderr);
		return 2;
	}
	sandbox_begin((pid_t)number(argv[7]), WIRE_N_FDS, number(argv[4]));
	may_load = sandbox_hide_files() || number(argv[8]) == 0;
	scratch =
	    (struct route_scratch){ strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10) };
	fm_log_set_sink(on_log, NULL);
	workers = fm_pool_new((unsigned)number(argv[3]));
	s.host = workers != NULL ? route_host_new(workers, &err) : NULL;
	sandbox_close();
	if (!may_load)
		fm_fail(&err, FM_E_CONFIG,
		    "%s: this kernel cannot hide files from it while it is loaded (no Landlock: "
		    "Linux "
		    "5.13, or not in lsm=): engine_isolation = without-landlock runs it all the "
		    "same",
		    argv[2]);
	else if (s.host == NULL)
		fm_fail(&err, FM_E_RESOURCE, "%s: out of memory for its workers", argv[2]);
	else
		s.engine = load(argv[1], argv[2], &err);
	if (s.engine == NULL) {
		say_line(WIRE_REFUSED, 0, err.msg);
		_exit(0);
	}
	sandbox_seal();
	describe(s.engine, argv[2]);
	route_host_warm(s.host, &scratch);
	dl_iterate_phdr(touch, NULL);
	while (await_call(&call, fds))
		serve_call(&s, &call, fds);
	_exit(0);
}
