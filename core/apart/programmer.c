/* SPDX-License-Identifier: BSD-2-Clause */
/* A programmer's child: started, asked, judged, replaced. */
#include "config.h"

#include "core/apart/programmer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/plugin_check.h"
#include "core/apart/blob.h"
#include "core/apart/child.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/pages.h"
#include "lib/printable.h"

#define BLOCK_BYTES (FM_VENDOR_BLOCKS * sizeof(struct fm_vendor_smp))
#define ROOM ((uint64_t)32 << 20) /* rows and blocks, mapped in the child */
#define SAY_MS 10000		  /* between lines of the log */

struct programmer {
	struct fm_vendor vendor;
	struct fm_arena mem;		  /* name and path */
	struct wire_programmer described; /* its texts and ids */
	struct apart_settings set;
	const char *name, *path;
	int image;
	struct child child;	      /* waits, or is loading; CHILD_NONE: to be started */
	struct blob input;	      /* the rows of the last question */
	struct fm_vendor_smp *blocks; /* [FM_VENDOR_BLOCKS], the child's too; NULL: not yet */
	int blocks_fd;
	uint64_t number;   /* of the last question */
	unsigned n_failed; /* in a row */
	int64_t said_ms;   /* when a failure was logged; 0: never */
	unsigned n_unsaid; /* since then */
};

/* --------------------------------------------------------------- in this process */

/* Stands in the descriptors of programmers that run apart, to know them by. */
static int
turn_stub(const uint8_t answer[FM_VENDOR_BYTES], const struct fm_vendor_mode *mode,
    uint8_t data[FM_VENDOR_BYTES])
{
	return FM_E_BUG;
}

static int
read_info_stub(const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	return FM_E_BUG;
}

static int32_t
n_blocks_stub(const struct fm_vendor_rows *rows)
{
	return FM_E_BUG;
}

static int
block_stub(const struct fm_vendor_rows *rows, uint32_t i, struct fm_vendor_smp *out)
{
	return FM_E_BUG;
}

struct programmer *
programmer_of(const struct fm_vendor *vendor)
{
	if (vendor->turn != turn_stub)
		return NULL;
	return (struct programmer *)((uintptr_t)vendor - offsetof(struct programmer, vendor));
}

/* ---------------------------------------------------------------------- children */

static struct child_task
task_of(const struct programmer *p)
{
	return (struct child_task){ .set = &p->set,
		.name = p->name,
		.path = p->path,
		.image = p->image,
		.is_programmer = true };
}

static int
start(struct programmer *p, struct fm_error *err)
{
	const struct child_task task = task_of(p);

	return child_start(&p->child, &task, err);
}

int
programmer_new(const struct apart_settings *set, const char *name, const char *path, int image,
    struct programmer **out, struct fm_error *err)
{
	struct programmer *p = calloc(1, sizeof(*p));
	int rc = 0;

	if (p == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while loading programmers");
	fm_arena_init(&p->mem, SIZE_MAX);
	p->set = *set;
	p->child = CHILD_NONE;
	p->input.fd = p->blocks_fd = -1;
	p->name = fm_arena_strdup(&p->mem, name);
	p->path = fm_arena_strdup(&p->mem, path);
	p->image = fcntl(image, F_DUPFD_CLOEXEC, 0);
	if (p->name == NULL || p->path == NULL || p->image < 0)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while loading programmers");
	if (rc == 0)
		rc = start(p, err);
	if (rc != 0) {
		programmer_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void
programmer_free(struct programmer *p)
{
	if (p == NULL)
		return;
	child_kill(&p->child);
	blob_fini(&p->input);
	fm_pages_unmap(p->blocks, BLOCK_BYTES);
	if (p->blocks_fd >= 0)
		close(p->blocks_fd);
	if (p->image >= 0)
		close(p->image);
	fm_arena_fini(&p->mem);
	free(p);
}

/* Till it has loaded the file; said: [WIRE_BYTES], *n of them are its first packet. */
static int
load(struct programmer *p, int64_t until_ms, unsigned char *said, size_t *n, struct fm_error *err)
{
	const struct child_task task = task_of(p);
	const struct child_wait wait = { .until_ms = until_ms };
	bool was_ready = p->child.is_ready;
	int rc = child_load(&p->child, &task, &wait, said, n, err);

	if (rc == 0 && !was_ready)
		child_make_room(&p->child, ROOM);
	return rc;
}

static void
end_text(char *text, size_t room)
{
	text[room - 1] = '\0';
	fm_printable(text);
}

int
programmer_describe(struct programmer *p, const struct fm_vendor **vendor, struct fm_error *err)
{
	static unsigned char said[WIRE_BYTES];
	struct wire_programmer *d = &p->described;
	size_t n = 0;
	int rc = load(p, INT64_MAX, said, &n, err);

	if (rc == 0 && n != sizeof(*d))
		rc = fm_fail(err, FM_E_CONFIG,
		    "%s: what it says of itself is no descriptor of a programmer", p->path);
	if (rc != 0)
		return rc;
	memcpy(d, said, sizeof(*d));
	end_text(d->name, sizeof(d->name));
	end_text(d->summary, sizeof(d->summary));
	p->vendor = (struct fm_vendor){ .magic = d->magic,
		.abi_major = d->abi_major,
		.abi_minor = d->abi_minor,
		.size = d->size,
		.info_attr = d->info_attr,
		.info_modifier = d->info_modifier,
		.name = d->name,
		.summary = d->summary,
		.ids = d->ids,
		.read_info = read_info_stub,
		.turn = turn_stub,
		.n_blocks = n_blocks_stub,
		.block = block_stub };
	*vendor = &p->vendor;
	return vendor_check(&p->vendor, p->path, err);
}

/* ---------------------------------------------------------------------- failures */

static bool
is_left(const struct programmer *p, struct fm_error *err)
{
	if (p->n_failed < PROGRAMMER_FAILURES)
		return false;
	fm_fail(err, FM_E_CONFIG,
	    "programmer %s has failed %d times in a row and is not asked any more till fmctl "
	    "reload",
	    p->name, PROGRAMMER_FAILURES);
	return true;
}

static void
say_failure(struct programmer *p, const char *sentence)
{
	int64_t now = child_now_ms();

	if (p->n_failed == PROGRAMMER_FAILURES)
		log_err("adaptive",
		    "%s: that is %d times in a row: programmer %s is not asked any more till "
		    "fmctl reload, and its switches stay as they are",
		    sentence, PROGRAMMER_FAILURES, p->name);
	else if (p->said_ms != 0 && now < p->said_ms + SAY_MS) {
		p->n_unsaid++;
		return;
	} else if (p->n_unsaid > 0)
		log_warn("adaptive", "%s (and %u failures before)", sentence, p->n_unsaid);
	else
		log_warn("adaptive", "%s", sentence);
	p->said_ms = now;
	p->n_unsaid = 0;
}

/* It is replaced at once, so that the next one has loaded the file when it is asked. */
static int
judge(struct programmer *p, int rc, const struct fm_error *err)
{
	struct fm_error bad;

	if (rc == 0) {
		p->n_failed = 0;
		return 0;
	}
	child_kill(&p->child);
	p->n_failed++;
	say_failure(p, err->msg);
	if (p->n_failed < PROGRAMMER_FAILURES && start(p, &bad) != 0)
		log_warn("plugin", "%s", bad.msg); /* the next question tries again */
	return FM_E_CONFIG;
}

void
programmer_ask_again(struct programmer *p)
{
	p->n_failed = 0;
}

/* --------------------------------------------------------------------- questions */

/* A child that was killed while nobody asked it (memory was short) is no fault of the
 * programmer's: the next one is asked. */
static int
put(struct programmer *p, struct wire_question *q, int64_t until_ms, struct fm_error *err)
{
	const int fds[2] = { p->input.fd, p->blocks_fd };
	static unsigned char said[WIRE_BYTES];

	q->kind = WIRE_QUESTION;
	q->number = ++p->number;
	for (int tries = 0; tries < 2; tries++) {
		size_t n;
		int rc = p->child.pid == 0 ? start(p, err) : 0;

		if (rc == 0)
			rc = load(p, until_ms, said, &n, err);
		if (rc != 0)
			return fm_context(err, "programmer %s", p->name);
		if (child_call(&p->child, q, sizeof(*q), q->asked == WIRE_BLOCKS ? fds : NULL))
			return 0;
		child_kill(&p->child);
	}
	return fm_fail(
	    err, FM_E_CONFIG, "programmer %s: its process ends before it is asked", p->name);
}

static int
take(const struct programmer *p, const unsigned char *said, size_t n, struct wire_reply *r,
    struct fm_error *err)
{
	memset(r, 0, sizeof(*r));
	if (n == sizeof(*r))
		memcpy(r, said, sizeof(*r));
	if (r->kind == WIRE_REPLY && r->number == p->number)
		return 0;
	return fm_fail(
	    err, FM_E_CONFIG, "programmer %s: what its process replies is no reply", p->name);
}

/* The reply, as bytes that nobody writes any more. */
static int
ask(struct programmer *p, struct wire_question *q, int64_t limit_ms, struct wire_reply *r,
    struct fm_error *err)
{
	static unsigned char said[WIRE_BYTES];
	int64_t ms = p->set.reply_ms > 0 ? p->set.reply_ms : limit_ms;
	const struct child_wait wait = { .until_ms = child_now_ms() + ms };
	char words[160];
	size_t n = 0;
	int rc = put(p, q, wait.until_ms, err);

	if (rc != 0)
		return rc;
	switch (child_await(&p->child, &wait, said, &n)) {
	case CHILD_PACKET:
		return take(p, said, n, r, err);
	case CHILD_GONE:
		child_epitaph(&p->child, words, sizeof(words));
		return fm_fail(err, FM_E_CONFIG, "programmer %s: its process %s", p->name, words);
	case CHILD_SILENT:
		return fm_fail(err, FM_E_CONFIG,
		    "programmer %s: no reply within %lldms: its process was killed", p->name,
		    (long long)ms);
	case CHILD_NOISY:
	case CHILD_CANCELLED:
		break;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "programmer %s: it talks without end: its process was killed", p->name);
}

bool
programmer_read_info(
    struct programmer *p, const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	struct wire_question q = { .asked = WIRE_READ_INFO };
	struct wire_reply r;
	struct fm_error err;

	memcpy(q.info, answer, sizeof(q.info));
	if (is_left(p, &err) || judge(p, ask(p, &q, PROGRAMMER_REPLY_MS, &r, &err), &err) != 0)
		return false;
	out->n_groups = r.n_groups;
	out->is_on = r.is_on != 0;
	return r.rc == 0;
}

bool
programmer_turn(struct programmer *p, const uint8_t answer[FM_VENDOR_BYTES],
    const struct fm_vendor_mode *mode, uint8_t data[FM_VENDOR_BYTES])
{
	struct wire_question q = { .asked = mode != NULL ? WIRE_TURN_ON : WIRE_TURN_OFF };
	struct wire_reply r;
	struct fm_error err;

	memcpy(q.info, answer, sizeof(q.info));
	if (mode != NULL)
		q.mode = *mode;
	if (is_left(p, &err) || judge(p, ask(p, &q, PROGRAMMER_REPLY_MS, &r, &err), &err) != 0)
		return false;
	memcpy(data, r.data, FM_VENDOR_BYTES);
	return r.rc == 0;
}

/* ------------------------------------------------------------------------ blocks */

/* False: no memory. */
static bool
pack_rows(struct programmer *p, const struct fm_vendor_rows *rows, struct wire_call *call)
{
	const size_t n_lids = (size_t)rows->top_lid + 1;
	const struct {
		size_t place;
		const void *from;
		size_t n_bytes;
	} arrays[] = {
		{ offsetof(struct fm_vendor_rows, info), rows->info, FM_VENDOR_BYTES },
		{ offsetof(struct fm_vendor_rows, lft), rows->lft, n_lids },
		{ offsetof(struct fm_vendor_rows, group), rows->group,
		    n_lids * sizeof(*rows->group) },
		{ offsetof(struct fm_vendor_rows, ports), rows->ports,
		    ((size_t)rows->n_groups + 1) * sizeof(*rows->ports) },
	};
	struct blob *b = &p->input;

	blob_begin(b);
	call->request = blob_put(b, rows, sizeof(*rows));
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		blob_point(b, call->request + arrays[i].place,
		    blob_put(b, arrays[i].from, arrays[i].n_bytes));
	call->n_places = b->places.n;
	call->places = blob_put(b, b->places.item, b->places.n * sizeof(*b->places.item));
	call->input_bytes = b->used;
	call->input_at = b->input_at;
	call->tables_at = b->tables_at;
	if (p->blocks == NULL)
		p->blocks = fm_pages_map_shared(BLOCK_BYTES, &p->blocks_fd);
	return !b->failed && p->blocks != NULL;
}

/* Out of the memory that both have, and only then looked at. */
static int
copy_blocks(const struct programmer *p, const struct wire_reply *r, struct fm_vendor_smp **out,
    uint32_t *n, struct fm_error *err)
{
	struct fm_vendor_smp *b;
	int rc = vendor_check_count(&p->vendor, r->n_blocks, err);

	if (rc != 0)
		return rc;
	b = malloc((size_t)r->n_blocks * sizeof(*b));
	if (b == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the blocks of groups");
	memcpy(b, p->blocks, (size_t)r->n_blocks * sizeof(*b));
	for (uint32_t i = 0; rc == 0 && i < (uint32_t)r->n_blocks; i++)
		rc = vendor_check_block(&p->vendor, i, i < r->n_given ? 0 : FM_E_BUG, &b[i], err);
	if (rc != 0) {
		free(b);
		return rc;
	}
	*out = b;
	*n = (uint32_t)r->n_blocks;
	return 0;
}

int
programmer_blocks(struct programmer *p, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err)
{
	struct wire_question q = { .asked = WIRE_BLOCKS };
	struct wire_reply r;
	int rc;

	if (is_left(p, err))
		return FM_E_CONFIG;
	if (!pack_rows(p, rows, &q.rows))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a copy of the groups");
	rc = ask(p, &q, PROGRAMMER_BLOCKS_MS, &r, err);
	if (rc == 0)
		rc = copy_blocks(p, &r, out, n, err);
	return rc == FM_E_RESOURCE ? rc : judge(p, rc, err);
}
