/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of several ports of a host fmd works on, by what the kernel and a neighbour say. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "core/mad/local_ports.h"
#include "core/wire/wire.h"
#include "lib/log.h"
#include "tests/run.h"

#define OURS 0x100
#define FOREIGN 0x900
#define SILENT 0

/* As the kernel has the ports a:1, a:2 and a:3. */
static struct {
	uint8_t state; /* 0: it is not there */
	uint64_t neighbour;
} host[3];
static unsigned n_lines, n_asked;

static unsigned
at(const char *spec)
{
	return (unsigned)(spec[strlen(spec) - 1] - '1');
}

static int
look(const char *spec, struct local_port *out, struct fm_error *err)
{
	if (host[at(spec)].state == 0)
		return fm_fail(err, FM_E_SYSTEM, "it is not there");
	*out = (struct local_port){ .port_guid = 1 + at(spec), .state = host[at(spec)].state };
	return 0;
}

static int
neighbour(const char *spec, uint64_t m_key, uint64_t *port_guid, struct fm_error *err)
{
	n_asked++;
	*port_guid = host[at(spec)].neighbour;
	return *port_guid != SILENT ? 0 : fm_fail(err, FM_E_SYSTEM, "no answer");
}

static bool
knows(void *arg, uint64_t guid)
{
	return guid == OURS;
}

static void
count(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	n_lines++;
}

static const struct transport_kind fake = { .name = "umad", .look = look, .neighbour = neighbour };
static const struct transport_kind *const kinds[] = { &fake, NULL };
static const char *const specs[] = { "umad:a:1", "umad:a:2", "umad:a:3" };
static struct local_ports ports;

static void
set_host(uint8_t one, uint8_t two, uint8_t three)
{
	const uint8_t state[] = { one, two, three };

	for (unsigned i = 0; i < 3; i++) {
		host[i].state = state[i];
		host[i].neighbour = OURS;
	}
	n_lines = n_asked = 0;
	fm_log_set_sink(count, NULL);
}

static unsigned
first(uint8_t one, uint8_t two, uint8_t three)
{
	set_host(one, two, three);
	local_ports_init(&ports, kinds, specs, 3);
	return ports.used;
}

static unsigned
next(void)
{
	return local_ports_next(&ports, 0, knows, NULL);
}

START_TEST(the_first_with_a_link)
{
	ck_assert_uint_eq(first(WIRE_PORT_ACTIVE, WIRE_PORT_ACTIVE, WIRE_PORT_INIT), 0);
	ck_assert_uint_eq(first(WIRE_PORT_DOWN, WIRE_PORT_INIT, WIRE_PORT_ACTIVE), 1);
	ck_assert_uint_eq(first(0, WIRE_PORT_DOWN, WIRE_PORT_INIT), 2);
	ck_assert_uint_eq(first(0, WIRE_PORT_DOWN, WIRE_PORT_DOWN), 1);
	ck_assert_uint_eq(first(0, 0, 0), 0);
	ck_assert_uint_eq(n_asked, 0);
}
END_TEST

START_TEST(around_the_list)
{
	ck_assert_uint_eq(first(WIRE_PORT_DOWN, WIRE_PORT_INIT, WIRE_PORT_ACTIVE), 1);
	ck_assert_uint_eq(next(), 2);
	host[2].state = WIRE_PORT_DOWN;
	host[0].state = WIRE_PORT_INIT;
	ck_assert_uint_eq(next(), 0);
	host[0].state = 0;
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(ports.port[0].is.port_guid, 1); /* its LID is ours still */
	ck_assert_uint_eq(n_lines, 0);
}
END_TEST

/* What is wrong is said once, and anew when the link has been away. */
START_TEST(of_another_subnet)
{
	ck_assert_uint_eq(first(WIRE_PORT_ACTIVE, WIRE_PORT_INIT, WIRE_PORT_DOWN), 0);
	host[1].neighbour = FOREIGN;
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(n_lines, 1);
	host[1].neighbour = SILENT;
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(n_lines, 2);
	host[1].state = WIRE_PORT_DOWN;
	ck_assert_uint_eq(next(), 3);
	host[1].state = WIRE_PORT_INIT;
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(n_lines, 3);
	host[1].neighbour = OURS;
	ck_assert_uint_eq(next(), 1);
}
END_TEST

START_TEST(one_that_cannot_be_opened)
{
	struct fm_error why;

	ck_assert_uint_eq(first(WIRE_PORT_ACTIVE, WIRE_PORT_INIT, WIRE_PORT_DOWN), 0);
	ck_assert_uint_eq(next(), 1);
	fm_fail(&why, FM_E_SYSTEM, "another SM is there");
	local_ports_refuse(&ports, 1, &why);
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(n_lines, 1);
	host[1].state = WIRE_PORT_DOWN;
	ck_assert_uint_eq(next(), 3);
	host[1].state = WIRE_PORT_INIT;
	ck_assert_uint_eq(next(), 1);
}
END_TEST

START_TEST(a_single_one_is_not_looked_at)
{
	set_host(0, 0, 0);
	local_ports_init(&ports, kinds, specs, 1);
	ck_assert_uint_eq(ports.used, 0);
	ck_assert_str_eq(local_ports_name(&ports, 0), "a:1");
	ck_assert_uint_eq(next(), 1);
	ck_assert_uint_eq(n_asked, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("local ports");
	TCase *t = tcase_create("all");

	tcase_add_test(t, the_first_with_a_link);
	tcase_add_test(t, around_the_list);
	tcase_add_test(t, of_another_subnet);
	tcase_add_test(t, one_that_cannot_be_opened);
	tcase_add_test(t, a_single_one_is_not_looked_at);
	suite_add_tcase(s, t);
	return run_suite(s);
}
