/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-host with a programmer of adaptive routing: many questions, one after the other, as
 * its functions are pure.  What it is handed can be read only; a block is written into memory of
 * this process and copied to where fmd looks.
 */
#include "core/apart/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
describe(const struct fm_vendor *v)
{
	static struct wire_programmer say = { .kind = WIRE_ENGINE };

	say.magic = v->magic;
	say.size = v->size;
	say.abi_major = v->abi_major;
	say.abi_minor = v->abi_minor;
	say.info_attr = v->info_attr;
	say.info_modifier = v->info_modifier;
	snprintf(say.name, sizeof(say.name), "%s", v->name);
	snprintf(say.summary, sizeof(say.summary), "%s", v->summary);
	for (size_t i = 0; i + 1 < PLUGIN_MOST_IDS && v->ids[i].vendor_id != 0; i++)
		say.ids[i] = v->ids[i];
	host_say(&say, sizeof(say));
}

static void
read_info(const struct fm_vendor *v, const struct wire_question *q, struct wire_reply *r)
{
	struct fm_vendor_info info = { 0 };

	r->rc = v->read_info(q->info, &info);
	r->n_groups = info.n_groups;
	memcpy(&r->is_on, &info.is_on, 1);
}

static void
give_blocks(const struct fm_vendor *v, const struct fm_vendor_rows *rows, struct fm_vendor_smp *to,
    struct wire_reply *r)
{
	r->n_blocks = v->n_blocks(rows);
	if (r->n_blocks < 1 || (uint32_t)r->n_blocks > FM_VENDOR_BLOCKS)
		return;
	while (r->n_given < (uint32_t)r->n_blocks) {
		struct fm_vendor_smp block = { 0 };

		if (v->block(rows, r->n_given, &block) != 0)
			return;
		to[r->n_given++] = block;
	}
}

/* Without memory it ends, as one does that crashes. */
static void
serve_blocks(
    const struct fm_vendor *v, const struct wire_call *call, const int fds[2], struct wire_reply *r)
{
	const size_t n = FM_VENDOR_BLOCKS * sizeof(struct fm_vendor_smp);
	unsigned char *input =
	    host_map_input(call, fds[0], (const unsigned char *)(uintptr_t)call->tables_at);
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);

	if (input == NULL || to == MAP_FAILED)
		_exit(1);
	close(fds[0]);
	close(fds[1]);
	give_blocks(v, (const void *)(input + call->request), to, r);
	munmap(to, n);
	host_unmap_input(call, input);
}

static void
serve(const struct fm_vendor *v, const struct wire_question *q, const int fds[2])
{
	struct wire_reply r = { .kind = WIRE_REPLY, .number = q->number };

	switch ((enum wire_asked)q->asked) {
	case WIRE_READ_INFO:
		read_info(v, q, &r);
		break;
	case WIRE_TURN_OFF:
	case WIRE_TURN_ON:
		r.rc = v->turn(q->info, q->asked == WIRE_TURN_ON ? &q->mode : NULL, r.data);
		break;
	case WIRE_BLOCKS:
		serve_blocks(v, &q->rows, fds, &r);
		break;
	}
	host_say(&r, sizeof(r));
}

void
host_serve_vendor(const struct fm_vendor *v)
{
	static struct wire_question q;
	int fds[2];

	describe(v);
	while (host_await(&q, sizeof(q), fds) && (q.asked != WIRE_BLOCKS || fds[0] >= 0))
		serve(v, &q, fds);
}
