/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs see of a host's port: the rules of ib_mad and ib_umad, on the
 * fixture's fabric, with LIDs 1 (H1) and 2 (H2), links ACTIVE between them.
 */
#include "lab/hosts/host.h"

#include <errno.h>

#include "core/rmpp/rmpp_port.h"
#include "lab/sim/net.h"
#include "lib/vec.h"
#include "tests/run.h"
#include "tests/unit/sim_fixture.h"

#define SA_HEADER 56
#define VENDOR 0x09 /* a vendor class without OUI */
#define GET_TABLE 0x12

/* A program: what it has received, newest last. */
struct program {
	struct host_file *file;
	struct sim_place at;
	unsigned n;
	struct host_message last;
	FM_VEC(uint8_t) bytes; /* of the last one */
	bool deaf;
	size_t answer_bytes; /* requests are answered with so many; 0 = not */
};

static struct program a, b;

static bool
on_message(void *arg, const struct host_message *m)
{
	struct program *p = arg;
	struct host_message answer = *m;
	uint8_t *bytes;

	if (p->deaf)
		return false;
	p->n++;
	p->last = *m;
	p->bytes.n = 0;
	ck_assert(fm_vec_append(&p->bytes, m->bytes, m->length));
	if (p->answer_bytes == 0 || m->status != 0)
		return true;
	answer.length = p->answer_bytes;
	answer.bytes = bytes = calloc(1, answer.length);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = SA_HEADER; i < answer.length; i++)
		bytes[i] = (uint8_t)(i * 7);
	memcpy(bytes, m->bytes, SA_HEADER);
	bytes[MAD_METHOD] |= WIRE_RESPONSE_BIT;
	bytes[RMPP_VERSION] = 1;
	bytes[RMPP_FLAGS] = answer.length > MAD_BYTES ? RMPP_ACTIVE : 0;
	answer.timeout_ms = 0;
	answer.retries = 5;
	ck_assert_int_eq(host_send(p->file, &answer), 0);
	free(bytes);
	return true;
}

static void
open_program(struct program *p, uint32_t node)
{
	*p = (struct program){ .at = { node, 1 } };
	p->file = host_open(sim, p->at, on_message, p);
	ck_assert_ptr_nonnull(p->file);
}

static void
close_program(struct program *p)
{
	if (p->file != NULL)
		host_close(p->file);
	fm_vec_fini(&p->bytes);
}

static void
setup_two(void)
{
	setup();
	configure();
	activate();
	local->ops->close(local);
	open_program(&a, H1);
	open_program(&b, H2);
}

static void
teardown_two(void)
{
	close_program(&a);
	close_program(&b);
	teardown();
}

static int
add_agent(struct program *p, uint8_t mgmt_class, uint8_t rmpp_version, uint8_t method)
{
	struct host_registration r = { .mgmt_class = mgmt_class,
		.class_version = mgmt_class == WIRE_CLASS_SA ? 2 : 1,
		.rmpp_version = rmpp_version };

	if (method != 0)
		r.methods[method / 64] = UINT64_C(1) << (method % 64);
	return host_register(p->file, &r);
}

static struct host_message
message(uint8_t *bytes, uint8_t mgmt_class, uint8_t method, uint16_t lid, int agent)
{
	memset(bytes, 0, MAD_BYTES);
	bytes[MAD_BASE_VERSION] = 1;
	bytes[MAD_CLASS] = mgmt_class;
	bytes[MAD_CLASS_VERSION] = mgmt_class == WIRE_CLASS_SA ? 2 : 1;
	bytes[MAD_METHOD] = method;
	wire_put32(bytes + MAD_TID + 4, (uint32_t)next_tid++);
	return (struct host_message){ .agent = (uint32_t)agent,
		.timeout_ms = 100,
		.addr = { .lid = lid, .qpn = mgmt_class == WIRE_CLASS_SMP_LID ? 0 : 1 },
		.bytes = bytes,
		.length = MAD_BYTES };
}

static void
run_ms(int64_t ms)
{
	sim_run(sim, sim_now_ns(sim) + ms * MS);
}

/* ------------------------------------------------------------------ requests */

START_TEST(tid_and_answer)
{
	int agent = add_agent(&a, WIRE_CLASS_SMP_LID, 0, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, WIRE_CLASS_SMP_LID, WIRE_GET, 2, agent);

	wire_put16(mad + MAD_ATTR, WIRE_ATTR_NODE_INFO);
	wire_put32(mad + MAD_TID, 0xdeadbeef);
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(50);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_int_eq(a.last.status, 0);
	ck_assert_uint_eq(a.last.addr.lid, 2);
	ck_assert_uint_eq(a.bytes.item[MAD_METHOD], WIRE_GET_RESP);
	/* the upper half of the TID is the kernel's */
	ck_assert_uint_ne(wire_get32(a.bytes.item + MAD_TID), 0xdeadbeef);
	ck_assert_uint_eq(wire_get32(a.bytes.item + MAD_TID + 4), wire_get32(mad + MAD_TID + 4));
	run_ms(1000);
	ck_assert_uint_eq(a.n, 1); /* and nothing times out */
}
END_TEST

START_TEST(time_out_and_retries)
{
	int agent = add_agent(&a, WIRE_CLASS_SMP_LID, 0, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, WIRE_CLASS_SMP_LID, WIRE_GET, 2, agent);
	uint64_t handled;

	sim_silence(sim, H2, true);
	handled = sim_counts(sim)->ignored;
	m.retries = 2;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	ck_assert_int_eq(host_send(a.file, &m), -EINVAL); /* pending: a duplicate */
	run_ms(290);
	ck_assert_uint_eq(a.n, 0);
	run_ms(20);
	ck_assert_uint_eq(sim_counts(sim)->ignored - handled, 3);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_int_eq(a.last.status, ETIMEDOUT);
	ck_assert_uint_eq(a.last.length, 24);
	ck_assert_mem_eq(a.bytes.item, mad, 24);
	ck_assert_int_eq(host_send(a.file, &m), 0); /* its TID is free again */
}
END_TEST

/* Answers too late, or to what was sent without a time-out, are dropped. */
START_TEST(nothing_pending)
{
	int agent = add_agent(&a, WIRE_CLASS_SMP_LID, 0, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, WIRE_CLASS_SMP_LID, WIRE_GET, 2, agent);

	wire_put16(mad + MAD_ATTR, WIRE_ATTR_NODE_INFO);
	m.timeout_ms = 0;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(50);
	ck_assert_uint_eq(a.n, 0);
	ck_assert_uint_eq(sim_counts(sim)->unexpected, 1);
	ck_assert_int_eq(host_unregister(a.file, (uint32_t)agent), 0);
	ck_assert_int_eq(host_send(a.file, &m), -EINVAL);
}
END_TEST

START_TEST(closing_with_requests_pending)
{
	int agent = add_agent(&a, WIRE_CLASS_SMP_LID, 0, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, WIRE_CLASS_SMP_LID, WIRE_GET, 2, agent);

	ck_assert_int_eq(host_send(a.file, &m), 0);
	close_program(&a);
	run_ms(500);
	open_program(&a, H1);
	ck_assert_uint_eq(a.n, 0);
}
END_TEST

/* -------------------------------------------------------------------- agents */

START_TEST(who_gets_requests)
{
	struct program c;
	uint8_t mad[MAD_BYTES];
	struct host_message m;
	int agent = add_agent(&a, VENDOR, 0, 0);

	open_program(&c, H2); /* beside b */
	ck_assert_int_ge(add_agent(&b, VENDOR, 0, WIRE_GET), 0);
	ck_assert_int_eq(add_agent(&c, VENDOR, 0, WIRE_GET), -EINVAL);
	ck_assert_int_ge(add_agent(&c, VENDOR, 0, WIRE_SET), 0);
	m = message(mad, VENDOR, WIRE_GET, 2, agent);
	ck_assert_int_eq(host_send(a.file, &m), 0);
	m = message(mad, VENDOR, WIRE_SET, 2, agent);
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(10);
	ck_assert_uint_eq(b.n, 1);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_eq(b.bytes.item[MAD_METHOD], WIRE_GET);
	ck_assert_uint_eq(c.last.addr.lid, 1);
	/* whoever goes leaves his methods to others */
	close_program(&b);
	b.file = NULL;
	ck_assert_int_ge(add_agent(&c, VENDOR, 0, WIRE_GET), 0);
	close_program(&c);
}
END_TEST

START_TEST(nobody_wants_it)
{
	int agent = add_agent(&a, VENDOR, 0, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, VENDOR, WIRE_GET, 2, agent);

	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(10);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_uint_eq(wire_get16(a.bytes.item + MAD_STATUS), WIRE_STATUS_BAD_METHOD_ATTR);
	/* an SM that has ended answers nothing: the request comes back */
	m = message(mad, WIRE_CLASS_SMP_LID, WIRE_GET, 2, agent);
	wire_put16(mad + MAD_ATTR, WIRE_ATTR_SM_INFO);
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(3000);
	ck_assert_uint_eq(a.n, 2);
	ck_assert_int_eq(a.last.status, ETIMEDOUT);
	m = message(mad, VENDOR, WIRE_TRAP, 2, agent); /* no answer to that */
	m.timeout_ms = 0;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(10);
	ck_assert_uint_eq(a.n, 2);
}
END_TEST

START_TEST(bad_registrations)
{
	ck_assert_int_eq(add_agent(&a, VENDOR, 1, 0), -EINVAL); /* no RMPP in that class */
	ck_assert_int_eq(add_agent(&a, WIRE_CLASS_SA, 2, 0), -EINVAL);
	ck_assert_int_eq(add_agent(&a, 0, 0, WIRE_GET), -EINVAL);
	ck_assert_int_ge(add_agent(&a, 0, 0, 0), 0);
	for (int i = 1; i < HOST_AGENTS_MAX; i++)
		ck_assert_int_ge(add_agent(&a, VENDOR, 0, 0), 0);
	ck_assert_int_eq(add_agent(&a, VENDOR, 0, 0), -ENOMEM);
	ck_assert_int_eq(host_unregister(a.file, HOST_AGENTS_MAX), -EINVAL);
}
END_TEST

/* A transport and programs do not sit at one port; ports that are not ACTIVE
 * carry SMPs only. */
START_TEST(places)
{
	struct transport *t;
	uint8_t mad[MAD_BYTES];
	struct host_message m;

	ck_assert_int_ne(sim_attach(sim, H1, 1, &t, &err), 0);
	ck_assert_int_eq(sim_attach(sim, H3, 1, &t, &err), 0);
	ck_assert_ptr_null(host_open(sim, (struct sim_place){ H3, 1 }, on_message, &a));
	t->ops->close(t);

	ck_assert_int_ge(add_agent(&b, VENDOR, 0, WIRE_GET), 0);
	sim_unlink(sim, H2, 1);
	sim_relink(sim, H2, 1);
	run_ms(100); /* INIT now */
	m = message(mad, VENDOR, WIRE_GET, 2, add_agent(&a, VENDOR, 0, 0));
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(50);
	ck_assert_uint_eq(b.n, 0);
}
END_TEST

/* ---------------------------------------------------------------------- RMPP */

static void
ask_for(size_t answer_bytes)
{
	int agent = add_agent(&a, WIRE_CLASS_SA, 1, 0);
	uint8_t mad[MAD_BYTES];
	struct host_message m = message(mad, WIRE_CLASS_SA, GET_TABLE, 2, agent);

	ck_assert_int_ge(add_agent(&b, WIRE_CLASS_SA, 1, GET_TABLE), 0);
	b.answer_bytes = answer_bytes;
	m.timeout_ms = 1000;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(60000);
}

START_TEST(long_answers)
{
	static const size_t lengths[] = { MAD_BYTES, MAD_BYTES + 1, 5000, 3000000 };
	size_t length = lengths[_i], n_wrong = 0;

	ask_for(length);
	ck_assert_uint_eq(b.n, 1);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_int_eq(a.last.status, 0);
	ck_assert_uint_eq(a.last.length, length);
	for (size_t i = SA_HEADER; i < length; i++)
		n_wrong += a.bytes.item[i] != (uint8_t)(i * 7);
	ck_assert_uint_eq(n_wrong, 0);
	ck_assert_uint_eq(sim_counts(sim)->overrun, 0);
}
END_TEST

START_TEST(long_answers_over_losses)
{
	sim_set_loss(sim, 0.02);
	ask_for(100000);
	/* the answer, or the header of the request: never both, never half */
	ck_assert_uint_eq(a.n, 1);
	if (a.last.status == 0)
		ck_assert_uint_eq(a.last.length, 100000);
	else
		ck_assert_uint_eq(a.last.length, 24);
	ck_assert_uint_gt(sim_counts(sim)->lost, 5);
}
END_TEST

/* Asker and answerer at one port, as saquery beside the SM: one TID, twice. */
START_TEST(long_answer_at_home)
{
	int agent = add_agent(&a, WIRE_CLASS_SA, 1, 0);
	uint8_t mad[MAD_BYTES];
	struct program c;
	struct host_message m;

	open_program(&c, H1);
	c.answer_bytes = 5000;
	ck_assert_int_ge(add_agent(&c, WIRE_CLASS_SA, 1, GET_TABLE), 0);
	m = message(mad, WIRE_CLASS_SA, GET_TABLE, 1, agent);
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(1000);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_uint_eq(a.last.length, 5000);
	close_program(&c);
}
END_TEST

/* A message in several segments as a request, answered by another. */
START_TEST(double_sided)
{
	int agent = add_agent(&a, WIRE_CLASS_SA, 1, 0);
	size_t length = 3000;
	uint8_t *bytes = calloc(1, length);
	struct host_message m;

	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_ge(add_agent(&b, WIRE_CLASS_SA, 1, 0x14), 0);
	b.answer_bytes = 8000;
	m = message(bytes, WIRE_CLASS_SA, 0x14, 2, agent);
	bytes[RMPP_VERSION] = 1;
	bytes[RMPP_FLAGS] = RMPP_ACTIVE;
	memset(bytes + SA_HEADER, 0x5a, length - SA_HEADER);
	m.length = length;
	m.timeout_ms = 1000;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(3000);
	ck_assert_uint_eq(b.last.length, length);
	ck_assert_uint_eq(b.bytes.item[length - 1], 0x5a);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_uint_eq(a.last.length, 8000);
	free(bytes);
}
END_TEST

START_TEST(long_message_to_nobody)
{
	int agent = add_agent(&a, WIRE_CLASS_SA, 1, 0);
	uint8_t bytes[1000];
	struct host_message m = message(bytes, WIRE_CLASS_SA, 0x14, 99, agent);

	memset(bytes + MAD_BYTES, 0, sizeof(bytes) - MAD_BYTES);
	bytes[RMPP_VERSION] = 1;
	bytes[RMPP_FLAGS] = RMPP_ACTIVE;
	m.length = sizeof(bytes);
	m.retries = 1;
	ck_assert_int_eq(host_send(a.file, &m), 0);
	run_ms(3000);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_int_eq(a.last.status, ETIMEDOUT);
	/* not active: then it is too long */
	bytes[RMPP_FLAGS] = 0;
	ck_assert_int_eq(host_send(a.file, &m), -EINVAL);
}
END_TEST

START_TEST(a_program_that_does_not_read)
{
	b.deaf = true;
	ask_for(MAD_BYTES);
	ck_assert_uint_eq(sim_counts(sim)->overrun, 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("host");
	TCase *t = tcase_create("host");

	tcase_add_checked_fixture(t, setup_two, teardown_two);
	tcase_add_test(t, tid_and_answer);
	tcase_add_test(t, time_out_and_retries);
	tcase_add_test(t, nothing_pending);
	tcase_add_test(t, closing_with_requests_pending);
	tcase_add_test(t, who_gets_requests);
	tcase_add_test(t, nobody_wants_it);
	tcase_add_test(t, bad_registrations);
	tcase_add_test(t, places);
	tcase_add_loop_test(t, long_answers, 0, 4);
	tcase_add_test(t, long_answers_over_losses);
	tcase_add_test(t, long_answer_at_home);
	tcase_add_test(t, double_sided);
	tcase_add_test(t, long_message_to_nobody);
	tcase_add_test(t, a_program_that_does_not_read);
	suite_add_tcase(s, t);
	return run_suite(s);
}
