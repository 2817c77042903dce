/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-host: one engine, one call; or one programmer of adaptive routing (host_vendor.c).
 *
 *	fmd-engine-host NAME PATH WORKERS MEMORY MAIN_SCRATCH WORKER_SCRATCH PARENT MUST_HIDE
 *		IS_PROGRAMMER
 *
 * fmd starts it (child.c) with the plugin's bytes and a socket; it is of no use to anybody
 * else.  It loads the plugin behind the sandbox, says what it is and answers calls until it is
 * killed.  From dlopen() on nothing in this process is to be trusted, this code included:
 * fmd does not.
 */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/host.h"
#include "core/abi/plugin_check.h"
#include "core/apart/descriptor.h"
#include "core/apart/host.h"
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
say_line(enum wire_kind kind, int level, const char *text)
{
	struct wire_line line = { .kind = kind, .level = level };

	snprintf(line.text, sizeof(line.text), "%s", text);
	host_say(&line, sizeof(line));
}

static void
on_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	say_line(WIRE_LOG, (int)level, line);
}

/* ------------------------------------------------------------------ loading */

static const void *
load(const struct plugin_kind *kind, const char *name, const char *path, struct fm_error *err)
{
	char file[32], symbol[300];
	const void *found;
	void *h;

	snprintf(file, sizeof(file), "/proc/self/fd/%d", WIRE_IMAGE);
	snprintf(symbol, sizeof(symbol), "%s%s", name, kind->suffix);
	if (plugin_file_open(kind, file, path, &h, err) != 0)
		return NULL;
	found = dlsym(h, symbol);
	if (found == NULL)
		fm_fail(err, FM_E_CONFIG, "%s: it does not export %s", path, symbol);
	return found;
}

static const struct fm_engine *
load_engine(const char *name, const char *path, struct fm_error *err)
{
	const struct fm_engine *e = load(&plugin_engine, name, path, err);

	return e != NULL && engine_check(e, path, err) == 0 ? e : NULL;
}

static const struct fm_vendor *
load_vendor(const char *name, const char *path, struct fm_error *err)
{
	const struct fm_vendor *v = load(&plugin_vendor, name, path, err);

	return v != NULL && vendor_check(v, path, err) == 0 ? v : NULL;
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
		host_say(&packet, sizeof(packet.kind) + n);
		return;
	}
	fm_fail(&err, FM_E_CONFIG, "%s: what it says of itself takes more than %zu bytes", path,
	    sizeof(packet.bytes));
	say_line(WIRE_REFUSED, 0, err.msg);
}

/* ------------------------------------------------------------------ serving */

/* Aligned as huge pages are, with one that nobody may touch on either side. */
static unsigned char *
map_tables(uint64_t wanted, int fd, size_t n)
{
	size_t room = host_round_up(n) + 3 * FM_PAGES_HUGE_BYTES;
	int nothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	unsigned char *at = host_map_at(wanted - FM_PAGES_HUGE_BYTES, room, PROT_NONE, nothing, -1);
	void *got;

	if (at == NULL)
		at = mmap(NULL, room, PROT_NONE, nothing, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	at = (unsigned char *)host_round_up((uintptr_t)at + FM_PAGES_HUGE_BYTES);
	got = mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
	return got == MAP_FAILED ? NULL : got;
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
	unsigned char *input = tables != NULL ? host_map_input(call, fds[0], tables) : NULL;
	struct wire_answer answer = { .kind = WIRE_ANSWER };
	struct route_scratch used;
	struct fm_tables t;

	close(fds[0]);
	close(fds[1]);
	if (input == NULL) {
		answer.rc = fm_fail(&answer.why, FM_E_RESOURCE,
		    "out of memory for the tables: engine_memory would have to be larger");
		host_say(&answer, sizeof(answer));
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
	host_say(&answer, sizeof(answer));
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

/* True: it may load; else the sentence is in *err. */
static bool
prepare(char *argv[], bool needs_workers, struct served *s, struct fm_error *err)
{
	bool may_load;
	struct fm_pool *workers = NULL;

	sandbox_begin((pid_t)number(argv[7]), WIRE_N_FDS, number(argv[4]));
	may_load = sandbox_hide_files() || number(argv[8]) == 0;
	fm_log_set_sink(on_log, NULL);
	if (needs_workers) {
		workers = fm_pool_new((unsigned)number(argv[3]));
		s->host = workers != NULL ? route_host_new(workers, err) : NULL;
	}
	sandbox_close();
	if (!may_load)
		fm_fail(err, FM_E_CONFIG,
		    "%s: this kernel cannot hide files from it while it is loaded (no Landlock: "
		    "Linux "
		    "5.13, or not in lsm=): engine_isolation = without-landlock runs it all the "
		    "same",
		    argv[2]);
	else if (needs_workers && s->host == NULL)
		fm_fail(err, FM_E_RESOURCE, "%s: out of memory for its workers", argv[2]);
	else
		return true;
	return false;
}

/* Of a programmer: no workers, no scratch memory. */
static bool
serve_vendor(char *argv[], struct served *s, struct fm_error *err)
{
	const struct fm_vendor *v =
	    prepare(argv, false, s, err) ? load_vendor(argv[1], argv[2], err) : NULL;

	if (v == NULL)
		return false;
	sandbox_seal();
	host_serve_vendor(v);
	return true;
}

static bool
serve_engine(char *argv[], struct served *s, struct fm_error *err)
{
	struct route_scratch scratch = { number(argv[5]), number(argv[6]) };
	struct wire_call call;
	int fds[2];

	s->engine = prepare(argv, true, s, err) ? load_engine(argv[1], argv[2], err) : NULL;
	if (s->engine == NULL)
		return false;
	sandbox_seal();
	describe(s->engine, argv[2]);
	route_host_warm(s->host, &scratch);
	dl_iterate_phdr(touch, NULL);
	while (host_await(&call, sizeof(call), fds) && fds[0] >= 0)
		serve_call(s, &call, fds);
	return true;
}

int
main(int argc, char *argv[])
{
	struct served s = { 0 };
	struct fm_error err = { 0 };

	if (argc != 10) {
		fputs("fmd-engine-host is started by fmd: it runs a plugin for it\n", stderr);
		return 2;
	}
	if (!(number(argv[9]) != 0 ? serve_vendor : serve_engine)(argv, &s, &err))
		say_line(WIRE_REFUSED, 0, err.msg);
	_exit(0);
}
