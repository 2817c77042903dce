/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/fake_transport.h - a scripted transport with a clock of its own: what is sent is put
 * on a list, and the test decides what comes back and when.
 */
#ifndef TESTS_UNIT_FAKE_TRANSPORT_H
#define TESTS_UNIT_FAKE_TRANSPORT_H

#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lib/vec.h"

#define MS INT64_C(1000000)

struct event {
	int64_t at_ns;
	struct mad m;
};

struct fake {
	struct transport base;
	int64_t now_ns;
	FM_VEC(struct event) events; /* to be delivered, in any order */
	FM_VEC(struct mad) sent;
	void (*on_send)(struct fake *f, const struct mad *m); /* may be NULL */
	bool fail_sends, in_send;
};

void fake_init(struct fake *f);
void fake_fini(struct fake *f);
/* *m arrives after_ns from now. */
void deliver(struct fake *f, int64_t after_ns, const struct mad *m);
struct mad answer_to(const struct mad *m, uint16_t status);
/* What the kernel does with a request nobody answered. */
struct mad returned(const struct mad *m);

#endif
