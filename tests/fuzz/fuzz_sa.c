/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as requests to the SA of a small subnet, where anything can be registered: each
 * request, whatever is in it, gets one answer, and what is no request, or has a wrong key, none.
 *
 * The input is a row of records: two bytes of length, a byte whose low bits
 * choose who asks, and, bit 3, whether strangers are restricted; and so many bytes of a request.
 */
#include <string.h>

#include "core/registry/registry.h"
#include "core/sa/sa.h"
#include "tests/fuzz/house.h"

#define SA_KEY 1
#define REQUESTS_MAX 16
#define ANSWER_MOST (1u << 20) /* no table of this subnet is longer */

static struct house house; /* is moved in once */
static struct sa_slot slot;
static struct sa_view *view[2]; /* as they are: strangers allowed, restricted */
static bool is_open;
static struct sa *sa; /* of this input, as the registry */
static unsigned n_answers;

static void
on_answer(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_header h;

	must(n_bytes >= SA_DATA_AT && n_bytes <= ANSWER_MOST);
	sa_header_get(bytes, &h);
	if (h.method == SA_REPORT)
		return;
	n_answers++;
	must((h.method & WIRE_RESPONSE_BIT) != 0 && h.mgmt_class == WIRE_CLASS_SA);
	must(h.method != (SA_SET | WIRE_RESPONSE_BIT) &&
	    h.method != (SA_GET_TRACE_TABLE | WIRE_RESPONSE_BIT)); /* IBA has neither */
}

static void
close_sa(void)
{
	sa_slot_fini(&slot);
	for (int i = 0; i < 2; i++)
		sa_view_put(view[i]);
	move_out(&house);
}

static void
open_sa(void)
{
	struct sa_settings set = { .gid_prefix = 0xfe80000000000000, .sa_key = SA_KEY };
	struct sa_view_source src = { .set = &set };
	struct fm_error err = { 0 };

	if (is_open)
		return;
	is_open = true;
	fuzz_be_quiet();
	move_in(&house);
	sweeper_request(house.sweeper, SWEEP_HEAVY, "fuzz");
	settle(&house);
	src.inv = sweeper_inventory(house.sweeper);
	src.plan = (struct plan *)(uintptr_t)sweeper_plan(house.sweeper);
	for (int i = 0; i < 2; i++) {
		set.untrusted = i == 0 ? SA_UNTRUSTED_ALLOW : SA_UNTRUSTED_RESTRICT;
		must(sa_view_begin(&src, &view[i], &err) == 0 &&
		    sa_view_finish(view[i], NULL, NULL, &err) == 0);
	}
	sa_slot_init(&slot);
	sa_slot_set(&slot, sa_view_get(view[0]));
	must(atexit(close_sa) == 0);
}

/* Is it answered?  A request with a key that is not ours is not, whatever else it says. */
static bool
is_answered(const uint8_t *bytes, size_t n)
{
	struct sa_header h;

	if (n < SA_DATA_AT)
		return false;
	sa_header_get(bytes, &h);
	return h.mgmt_class == WIRE_CLASS_SA && (h.method & WIRE_RESPONSE_BIT) == 0 &&
	    h.method != WIRE_SEND && h.method != WIRE_TRAP && h.method != WIRE_TRAP_REPRESS &&
	    (h.class_version != SA_CLASS_VERSION || h.sm_key == 0 || sa_key_is(h.sm_key, SA_KEY));
}

/* The bytes end where they end: a copy of their length shows reads beyond. */
static void
ask(uint8_t who, const uint8_t *bytes, size_t n)
{
	struct mad_addr from = { .lid = who & 7, .qpn = 1 };
	uint8_t *exact = malloc(n + 1);

	must(exact != NULL);
	memcpy(exact + 1, bytes, n);
	n_answers = 0;
	sa_slot_set(&slot, sa_view_get(view[who >> 3 & 1]));
	sa_handle(sa, &from, exact + 1, n, 0);
	must(n_answers == is_answered(bytes, n));
	free(exact);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sa_out out = { on_answer, NULL };
	struct registry_settings limits;
	struct registry *registry;

	open_sa();
	registry_settings_default(&limits);
	registry = registry_new(&limits);
	must(registry != NULL && (sa = sa_new(&slot, &out, registry)) != NULL);
	sa_tick(sa, 0);
	for (unsigned i = 0; i < REQUESTS_MAX && size >= 3; i++) {
		size_t n = (size_t)(data[0] << 8 | data[1]) % 1024;
		uint8_t who = data[2];

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		ask(who, data, n);
		data += n;
		size -= n;
		sa_tick(sa, 2000 * ((int64_t)i + 1)); /* Reports are repeated, leases end */
	}
	sa_free(sa);
	registry_free(registry);
	return 0;
}
