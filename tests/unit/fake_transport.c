/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/fake_transport.h"

#include <check.h>
#include <errno.h>

static int
fake_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct fake *f = (struct fake *)t;

	if (f->fail_sends)
		return fm_fail(err, FM_E_SYSTEM, "no cable");
	ck_assert(fm_vec_push(&f->sent, *m));
	f->in_send = true;
	if (f->on_send)
		f->on_send(f, m);
	f->in_send = false;
	return 0;
}

static size_t
first_event(const struct fake *f)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < f->events.n; i++)
		if (best == SIZE_MAX || f->events.item[i].at_ns < f->events.item[best].at_ns)
			best = i;
	return best;
}

static void
deliver_event(struct fake *f, size_t i)
{
	struct event ev = f->events.item[i];

	f->events.item[i] = f->events.item[--f->events.n];
	if (ev.at_ns > f->now_ns)
		f->now_ns = ev.at_ns;
	f->base.on_mad(f->base.on_mad_arg, &ev.m);
}

/* The next event and all that are due with it, or the clock moves to until_ns. */
static int
fake_poll(struct transport *t, int64_t until_ns, struct fm_error *err)
{
	struct fake *f = (struct fake *)t;
	size_t i = first_event(f);
	int n = 0;

	if (i == SIZE_MAX || f->events.item[i].at_ns > until_ns) {
		ck_assert(until_ns < INT64_MAX);
		if (until_ns > f->now_ns)
			f->now_ns = until_ns;
		return 0;
	}
	do {
		deliver_event(f, i);
		n++;
		i = first_event(f);
	} while (i != SIZE_MAX && f->events.item[i].at_ns <= f->now_ns);
	return n;
}

static int64_t
fake_now(struct transport *t)
{
	return ((struct fake *)t)->now_ns;
}

static const struct transport_ops fake_ops = {
	.name = "fake", .send = fake_send, .poll = fake_poll, .now_ns = fake_now
};

void
fake_init(struct fake *f)
{
	*f = (struct fake){ .base = { .ops = &fake_ops, .max_window = 128 }, .now_ns = 5 * MS };
}

void
fake_fini(struct fake *f)
{
	fm_vec_fini(&f->events);
	fm_vec_fini(&f->sent);
}

void
deliver(struct fake *f, int64_t after_ns, const struct mad *m)
{
	struct event ev = { f->now_ns + after_ns, *m };

	ck_assert(fm_vec_push(&f->events, ev));
}

struct mad
answer_to(const struct mad *m, uint16_t status)
{
	struct mad r = *m;
	struct wire_header h;

	wire_header_get(m->bytes, &h);
	h.method = WIRE_GET_RESP;
	h.status = status;
	h.dr_return = h.mgmt_class == WIRE_CLASS_SMP_DR;
	h.tid |= UINT64_C(0xdeadbeef) << 32; /* the kernel's half */
	wire_header_put(r.bytes, &h);
	r.timeout_ms = 0;
	return r;
}

struct mad
returned(const struct mad *m)
{
	struct mad r = *m;

	r.status = ETIMEDOUT;
	return r;
}
