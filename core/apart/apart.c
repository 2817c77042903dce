/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine in a child: what it is, and one call.
 *
 * A child loads the file once, answers one call and is killed; the next one is started then,
 * and loads while fmd looks at the tables.  So a call costs a copy of the fabric, two
 * packets and a death, and an engine begins each call with memory that no other call has
 * touched.  One call at a time.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fmd/own.h>

#include "core/abi/plugin_check.h"
#include "core/apart/blob.h"
#include "core/apart/child.h"
#include "core/apart/descriptor.h"
#include "core/apart/apart.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/printable.h"

#define GRACE_MIN_MS 50
#define GRACE_MAX_MS 5000
#define GUARDS ((uint64_t)8 << 20)	/* round the tables (host_main.c) */
#define WARM_BYTES ((uint64_t)32 << 20) /* of scratch memory, that a child has ready at most */

struct apart {
	struct fm_engine engine;
	struct fm_arena mem; /* its texts and option rows, name and path */
	struct apart_settings set;
	const char *name, *path;
	int image;
	struct child child; /* waits for a call, or is loading; CHILD_NONE: to be started */
	unsigned n_workers; /* of the child */
	uint64_t main_bytes, worker_bytes; /* scratch memory that the last call took */
	struct blob input;
};

bool
apart_is_built(void)
{
#ifdef HAVE_SECCOMP
	return sizeof(void *) == 8; /* pack.c */
#else
	return false;
#endif
}

/* Stands in the descriptors of engines that run apart, to know them by. */
static int
apart_route_stub(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return fm_fail(err, FM_E_BUG, "an engine that runs in a process of its own is called here");
}

struct apart *
apart_of(const struct fm_engine *engine)
{
	if (engine->route != apart_route_stub)
		return NULL;
	return (struct apart *)((uintptr_t)engine - offsetof(struct apart, engine));
}

/* ----------------------------------------------------------------- children */

static int
start(struct apart *a, unsigned n_workers, struct fm_error *err)
{
	a->n_workers = n_workers;
	return child_start(&a->child,
	    &(struct child_task){ .set = &a->set,
		.name = a->name,
		.path = a->path,
		.image = a->image,
		.n_workers = n_workers,
		.main_bytes = a->main_bytes,
		.worker_bytes = a->worker_bytes },
	    err);
}

int
apart_new(const struct apart_settings *set, const char *name, const char *path, int image,
    struct apart **out, struct fm_error *err)
{
	struct apart *a = calloc(1, sizeof(*a));
	int rc = 0;

	if (a == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while loading engines");
	fm_arena_init(&a->mem, SIZE_MAX);
	a->set = *set;
	a->child = CHILD_NONE;
	a->input.fd = -1;
	a->name = fm_arena_strdup(&a->mem, name);
	a->path = fm_arena_strdup(&a->mem, path);
	a->image = fcntl(image, F_DUPFD_CLOEXEC, 0);
	if (a->name == NULL || a->path == NULL || a->image < 0)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while loading engines");
	if (rc == 0)
		rc = start(a, 0, err);
	if (rc != 0) {
		apart_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void
apart_free(struct apart *a)
{
	if (a == NULL)
		return;
	child_kill(&a->child);
	blob_fini(&a->input);
	if (a->image >= 0)
		close(a->image);
	fm_arena_fini(&a->mem);
	free(a);
}

/* ------------------------------------------------------------------ loading */

static int
load(struct apart *a, const struct child_wait *wait, unsigned char *said, size_t *n,
    struct fm_error *err)
{
	const struct child_task task = { .set = &a->set, .path = a->path };

	return child_load(&a->child, &task, wait, said, n, err);
}

/* fmd makes trees by itself for an engine that is not in this process. */
static void
bare(struct fm_engine *e)
{
	e->traits &= ~(uint32_t)FM_PROVIDES_MCAST;
	e->option_row_size = sizeof(struct fm_option);
	e->route = apart_route_stub;
}

int
apart_describe(struct apart *a, const struct fm_engine **engine, struct fm_error *err)
{
	static unsigned char said[WIRE_BYTES];
	const struct child_wait wait = { .until_ms = INT64_MAX };
	size_t n = 0;
	int rc = load(a, &wait, said, &n, err);

	if (rc == 0 &&
	    (rc = descriptor_read(
		 said + sizeof(uint32_t), n - sizeof(uint32_t), &a->mem, &a->engine, err)) != 0)
		fm_context(err, "%s", a->path);
	if (rc == 0) {
		bare(&a->engine);
		rc = engine_check_copy(&a->engine, a->path, err);
	}
	*engine = &a->engine;
	return rc;
}

/* -------------------------------------------------------------------- a call */

static int64_t
limit_of(const struct apart_call *call)
{
	return call->time_limit_ms > 0 ? call->time_limit_ms : APART_TIME_LIMIT_MS;
}

/* For who asks should_stop() to end by itself: a quarter of the limit. */
static int64_t
grace_of(int64_t limit_ms)
{
	int64_t ms = limit_ms / 4;

	return ms < GRACE_MIN_MS ? GRACE_MIN_MS : ms > GRACE_MAX_MS ? GRACE_MAX_MS : ms;
}

/* A child that has loaded the file, with so many workers. */
static int
get_ready(struct apart *a, const struct apart_call *call, const struct child_wait *wait,
    struct fm_error *err)
{
	unsigned char said[WIRE_BYTES];
	size_t n;
	int rc = 0;

	if (a->child.pid != 0 && a->n_workers != call->n_workers)
		child_kill(&a->child);
	if (a->child.pid == 0)
		rc = start(a, call->n_workers, err);
	return rc != 0 ? rc : load(a, wait, said, &n, err);
}

/* The scalars; pointers stay what they are here. */
static int
take_answer(
    const struct apart_call *call, const unsigned char *said, size_t n, struct fm_error *err)
{
	struct fm_tables *t = call->tables;
	struct wire_answer answer;

	memset(&answer, 0, sizeof(answer));
	if (n == sizeof(answer))
		memcpy(&answer, said, sizeof(answer));
	if (answer.kind != WIRE_ANSWER)
		return fm_fail(err, FM_E_BUG, "what its process answers is no answer");
	t->sl_shape = (enum fm_sl_shape)answer.sl_shape;
	t->sl2vl_shape = (enum fm_sl2vl_shape)answer.sl2vl_shape;
	t->n_vls_used = answer.n_vls_used;
	t->ar_dropped = answer.ar_dropped;
	if (answer.rc == 0)
		return 0;
	answer.why.msg[sizeof(answer.why.msg) - 1] = '\0';
	fm_printable(answer.why.msg);
	*err = answer.why;
	return answer.rc;
}

/* For the next child, to have ready. */
static void
note_scratch(struct apart *a, const unsigned char *said, size_t n)
{
	struct wire_answer answer;

	if (n != sizeof(answer))
		return;
	memcpy(&answer, said, sizeof(answer));
	a->main_bytes = answer.main_bytes < WARM_BYTES ? answer.main_bytes : WARM_BYTES;
	a->worker_bytes = answer.worker_bytes < WARM_BYTES ? answer.worker_bytes : WARM_BYTES;
}

static int
fail_late(const struct apart_call *call, struct fm_error *err)
{
	int64_t ms = limit_of(call);
	bool seconds = ms % 1000 == 0;

	return fm_fail(err, FM_E_BUG,
	    "it did not end within its time limit of %lld%s and never asked whether to: its "
	    "process "
	    "was killed",
	    (long long)(seconds ? ms / 1000 : ms), seconds ? "s" : "ms");
}

/* First it dies: loading the next one takes its CPUs. */
static void
replace_child(struct apart *a, unsigned n_workers)
{
	struct fm_error err = { 0 };

	child_kill(&a->child);
	if (start(a, n_workers, &err) != 0)
		log_warn("plugin", "%s", err.msg); /* the next call tries again */
}

/* The child is dead afterwards, whatever it did. */
static int
await_answer(struct apart *a, const struct apart_call *call, const struct child_wait *wait,
    struct fm_error *err)
{
	unsigned char said[WIRE_BYTES];
	char words[160];
	size_t n = 0;
	enum child_event event = child_await(&a->child, wait, said, &n);

	if (event == CHILD_GONE)
		child_epitaph(&a->child, words, sizeof(words));
	if (event == CHILD_PACKET)
		note_scratch(a, said, n);
	if (event == CHILD_CANCELLED)
		child_kill(&a->child);
	else
		replace_child(a, call->n_workers);
	switch (event) {
	case CHILD_PACKET:
		return take_answer(call, said, n, err);
	case CHILD_GONE:
		return fm_fail(err, FM_E_BUG, "its process %s", words);
	case CHILD_SILENT:
		return fail_late(call, err);
	case CHILD_CANCELLED:
		return fm_fail(err, FM_E_CANCELLED, "stopped");
	case CHILD_NOISY:
		return fm_fail(err, FM_E_BUG, "it talks without end: its process was killed");
	}
	return FM_E_BUG;
}

static int
ask(struct apart *a, const struct apart_call *call, const struct child_wait *wait,
    struct fm_error *err)
{
	struct wire_call wire = { .kind = WIRE_CALL,
		.debug = fm_log_wants(FM_LOG_DEBUG, "engine"),
		.scratch_bytes = call->scratch_bytes,
		.fail_at = call->fail_at,
		.time_limit_ms = limit_of(call) };

	if (!pack_call(&a->input, call, &a->engine, &wire))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a copy of the fabric");
	child_make_room(&a->child, wire.input_bytes + wire.tables_bytes + GUARDS);
	if (!child_call(&a->child, &wire, sizeof(wire), (const int[]){ a->input.fd, call->fd })) {
		char words[160];

		child_epitaph(&a->child, words, sizeof(words));
		return fm_fail(err, FM_E_BUG, "its process %s before it was called", words);
	}
	return await_answer(a, call, wait, err);
}

int
apart_route(struct apart *a, const struct apart_call *call, struct fm_error *err)
{
	int64_t now = child_now_ms(), limit = limit_of(call);
	struct child_wait wait = { .until_ms = now + limit + grace_of(limit),
		.log_name = a->engine.name,
		.is_cancelled = call->is_cancelled,
		.arg = call->arg };
	int rc = get_ready(a, call, &wait, err);

	if (rc == 0)
		rc = ask(a, call, &wait, err);
	return rc;
}
