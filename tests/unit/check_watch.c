/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service manager's watchdog is fed while the loop and the SA turn, and by neither alone.
 */
#include "config.h"

#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/daemon/service.h"
#include "core/mad/transport.h"
#include "lab/sim/sim.h"
#include "tests/folder.h"
#include "tests/run.h"

#define TURNS 20

static char folder[FOLDER_ROOM];
static int manager; /* its socket */
static struct event_base *base;
static struct transport *transport;
static struct sa_server *sa;
static struct service_watch *watch;

static void
set_up(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char net[64], spec[80];
	struct fm_error err;

	folder_make(folder);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/notify", folder);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&addr, sizeof(addr)), 0);
	setenv("NOTIFY_SOCKET", addr.sun_path, 1);
	setenv("WATCHDOG_USEC", "4000", 1);
	folder_write(folder, "net", "Switch 2 \"s\"\n[1] \"a\"[1]\n\nCa 1 \"a\"\n[1] \"s\"[1]\n");
	snprintf(net, sizeof(net), "%s/net", folder);
	snprintf(spec, sizeof(spec), "sim:%s", net);
	ck_assert_msg(transport_open_sim(spec, &transport, &err) == 0, "%s", err.msg);
	ck_assert_msg(sa_server_start(transport, spec, NULL, &sa, &err) == 0, "%s", err.msg);
	base = event_base_new();
	ck_assert_int_eq(service_watch(base, sa, &watch, &err), 0);
	ck_assert_ptr_nonnull(watch);
}

static void
tear_down(void)
{
	sa_server_stop(sa);
	service_unwatch(watch);
	transport->ops->close(transport);
	event_base_free(base);
	close(manager);
	folder_remove(folder);
}

/* How often it was fed in so many turns of the loop; SA: the SA turns as well. */
static unsigned
turn(unsigned turns, bool with_sa)
{
	unsigned fed = 0;
	char said[64];
	ssize_t n;

	for (unsigned i = 0; i < turns; i++) {
		event_base_loop(base, EVLOOP_ONCE);
		if (with_sa)
			sa_server_step(sa);
		while ((n = recv(manager, said, sizeof(said) - 1, 0)) > 0) {
			said[n] = '\0';
			fed += strstr(said, "WATCHDOG=1") != NULL;
		}
	}
	return fed;
}

START_TEST(fed_by_both)
{
	ck_assert_uint_eq(turn(TURNS, true), TURNS);
	ck_assert_uint_le(turn(TURNS, false), 1); /* for the turn before */
	ck_assert_uint_eq(turn(TURNS, false), 0);
	ck_assert_uint_ge(turn(TURNS, true), TURNS - 1);
}
END_TEST

START_TEST(nobody_watches)
{
	struct service_watch *none = watch;
	struct fm_error err;

	unsetenv("WATCHDOG_USEC");
	ck_assert_int_eq(service_watch(base, sa, &none, &err), 0);
	ck_assert_ptr_null(none);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("watch");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, set_up, tear_down);
#ifdef HAVE_SYSTEMD
	tcase_add_test(t, fed_by_both);
	tcase_add_test(t, nobody_watches);
#endif
	suite_add_tcase(s, t);
	return run_suite(s);
}
