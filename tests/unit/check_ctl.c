/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket: a server in a child process, clients that behave and
 * clients that do not.  And the ring of events.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/ctl/ctl.h"
#include "tests/folder.h"
#include "tests/run.h"

static char folder[FOLDER_ROOM], path[96];
static pid_t server;
static int64_t idle_ms = CTL_IDLE_MS;
static const char *group; /* NULL: none is let in */

#define PATIENCE_S 60 /* on a busy machine; then the test fails instead of hanging */

/* ------------------------------------------------------------- the server */

static int
run_echo(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	*result = json_pack("{s:s, s:O}", "who", (const char *)arg, "args", args);
	return 0;
}

static int
run_fail(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return fm_fail(err, FM_E_TOPOLOGY, "no fabric in sight");
}

static int
run_big(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	*result = json_array();
	for (int i = 0; i < 200000; i++)
		json_array_append_new(*result, json_integer(i));
	return 0;
}

/* As long as the argument says, "a" for its letters; without it none can be made. */
static int
write_text(void *arg, const json_t *args, struct ctl_text *text, struct fm_error *err)
{
	size_t n = (size_t)json_integer_value(json_object_get(args, "n"));

	if (n < 2)
		return fm_fail(err, FM_E_TOPOLOGY, "no text");
	text->bytes = malloc(n);
	ck_assert_ptr_nonnull(text->bytes);
	memset(text->bytes, 'a', n);
	text->bytes[0] = text->bytes[n - 1] = '"';
	text->n = n;
	return 0;
}

static const struct ctl_command commands[] = {
	{ "echo", "Say it again.", run_echo, NULL, false },
	{ "look", "Say it again.", run_echo, NULL, true },
	{ "tell", "Say it again.", run_echo, "what yes", true, "yes" },
	{ "fail", "Fail.", run_fail, NULL },
	{ "big", "A long answer.", run_big, NULL },
	{ "picky", "Takes two words.", run_echo, "after scope" },
	{ "mute", "Takes none.", run_echo, "", .asks = "loud" },
	{ "text", "A text.", NULL, "n", true, NULL, write_text },
	{ 0 },
};

static void
on_term(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static int
serve_until_term(int ready)
{
	struct event_base *base = event_base_new();
	struct event *term = evsignal_new(base, SIGTERM, on_term, base);
	struct ctl_server *s = NULL;
	struct fm_error err;

	event_add(term, NULL);
	if (ctl_open(base, path, commands, folder, &s, &err) != 0)
		return 1;
	ctl_set_idle(s, idle_ms);
	if (group != NULL && ctl_allow_group(s, group, &err) != 0)
		return 1;
	if (write(ready, "r", 1) != 1)
		return 1;
	event_base_dispatch(base);
	ctl_close(s);
	event_free(term);
	event_base_free(base);
	return 0;
}

static void
set_up(void)
{
	int ready[2];
	char c;

	folder_make(folder);
	snprintf(path, sizeof(path), "%s/run/fmd.sock", folder);
	ck_assert_int_eq(pipe(ready), 0);
	server = fork();
	ck_assert_int_ge(server, 0);
	if (server == 0)
		_exit(serve_until_term(ready[1]));
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void
set_up_patient(void)
{
	idle_ms = INT64_MAX;
	set_up();
}

static void
set_up_impatient(void)
{
	idle_ms = 0;
	set_up();
}

/* A group that this test, as root, is no member of. */
static void
set_up_group(void)
{
	group = "daemon";
	set_up();
	ck_assert_int_eq(chmod(folder, 0755), 0);
}

static void
tear_down(void)
{
	int status;

	kill(server, SIGTERM);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert_int_eq(status, 0);
	ck_assert_int_ne(access(path, F_OK), 0); /* the socket is gone */
	folder_remove(folder);
}

/* ------------------------------------------------------------ the clients */

static int
dial(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

/* Up to the end. */
static const char *
hear(int fd)
{
	static char reply[4096];
	size_t got = 0;
	ssize_t k;

	while ((k = recv(fd, reply + got, sizeof(reply) - 1 - got, 0)) > 0)
		got += (size_t)k;
	reply[got] = '\0';
	close(fd);
	return reply;
}

/* What comes back for raw bytes. */
static const char *
raw(const char *bytes, size_t n)
{
	int fd = dial();

	ck_assert_int_eq(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
	return hear(fd);
}

START_TEST(a_call)
{
	json_t *args = json_pack("{s:i}", "x", 7), *result = NULL;
	struct fm_error err;

	ck_assert_msg(ctl_call(path, "echo", args, PATIENCE_S, &result, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(json_string_value(json_object_get(result, "who")), folder);
	ck_assert(json_equal(json_object_get(result, "args"), args));
	json_decref(result);
	json_decref(args);
}
END_TEST

START_TEST(a_refusal_keeps_its_kind)
{
	struct fm_error err;
	json_t *result;

	ck_assert_int_eq(ctl_call(path, "fail", NULL, PATIENCE_S, &result, &err), FM_E_TOPOLOGY);
	ck_assert_str_eq(err.msg, "no fabric in sight");
	ck_assert_int_eq(ctl_call(path, "fial", NULL, PATIENCE_S, &result, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "there is no command fial: did you mean fail?");
}
END_TEST

START_TEST(a_long_answer)
{
	struct fm_error err;
	json_t *result;

	ck_assert_msg(ctl_call(path, "big", NULL, PATIENCE_S, &result, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(json_array_size(result), 200000);
	json_decref(result);
}
END_TEST

/* An answer that is written as text: its length, 0 where there is none. */
static size_t
ask_text(size_t n, struct fm_error *err)
{
	json_t *args = json_pack("{s:I}", "n", (json_int_t)n), *result = NULL;
	int rc = ctl_call(path, "text", args, PATIENCE_S, &result, err);
	size_t got = rc == 0 ? json_string_length(result) : 0;

	ck_assert(rc != 0 || json_is_string(result));
	json_decref(result);
	json_decref(args);
	return got;
}

START_TEST(an_answer_as_text)
{
	struct fm_error err;

	ck_assert_uint_eq(ask_text(2000000, &err), 2000000 - 2);
	ck_assert_uint_eq(ask_text(3, &err), 1);
	ck_assert_uint_eq(ask_text(0, &err), 0);
	ck_assert_str_eq(err.msg, "no text");
}
END_TEST

START_TEST(help_lists_commands)
{
	struct fm_error err;
	json_t *result;

	ck_assert_int_eq(ctl_call(path, "help", NULL, PATIENCE_S, &result, &err), 0);
	ck_assert_uint_eq(json_array_size(result), sizeof(commands) / sizeof(commands[0]) - 1);
	/* what reads, with which argument it does, and with which nodes are asked */
	for (size_t i = 0; i < json_array_size(result); i++) {
		const struct ctl_command *c = &commands[i];
		json_t *want = json_pack("{s:s, s:s, s:b, s:s*, s:s*}", "command", c->name, "help",
		    c->help, "reads", (int)c->reads, "but", c->but, "asks", c->asks);

		ck_assert(json_equal(json_array_get(result, i), want));
		json_decref(want);
	}
	json_decref(result);
}
END_TEST

static const struct {
	const char *bytes, *says;
} bad[] = {
	{ "hello\n", "the request is no JSON" },
	{ "\n", "the request is no JSON" },
	{ "[]\n", "a request is {" },
	{ "{\"command\":7}\n", "a request is {" },
	{ "{\"command\":\"echo\",\"args\":[]}\n", "a request is {" },
	{ "{\"command\":\"echo\"\n", "the request is no JSON" },
	{ "\377\376\n", "the request is no JSON" },
};

START_TEST(bad_requests)
{
	const char *reply = raw(bad[_i].bytes, strlen(bad[_i].bytes));

	ck_assert_msg(strstr(reply, "\"ok\":false") != NULL, "%s", reply);
	ck_assert_msg(strstr(reply, bad[_i].says) != NULL, "%s", reply);
}
END_TEST

START_TEST(a_request_without_end)
{
	static char flood[CTL_REQUEST_MAX];

	memset(flood, '[', sizeof(flood));
	ck_assert_ptr_nonnull(strstr(raw(flood, sizeof(flood)), "longer than 65536 bytes"));
}
END_TEST

/* Deep nesting must not overflow a stack. */
START_TEST(nesting)
{
	static char deep[CTL_REQUEST_MAX - 1];

	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = '\n';
	ck_assert_ptr_nonnull(strstr(raw(deep, sizeof(deep)), "no JSON"));
}
END_TEST

/* Some say nothing, some half a request, some do not read their answer. */
static void
dial_silent(int *fd, int n)
{
	static const char *const says[] = { "{\"command\":\"big\"}\n", "", "{\"command\":" };

	for (int i = 0; i < n; i++) {
		fd[i] = dial();
		ck_assert_int_ge(send(fd[i], says[i % 3], strlen(says[i % 3]), MSG_NOSIGNAL), 0);
	}
}

/* They hold nobody up; one too many is told. */
START_TEST(silent_clients)
{
	struct fm_error err;
	json_t *result = NULL;
	int fd[CTL_CLIENTS_MAX - 1], extra;

	dial_silent(fd, CTL_CLIENTS_MAX - 1);
	ck_assert_msg(ctl_call(path, "echo", NULL, PATIENCE_S, &result, &err) == 0, "%s", err.msg);
	json_decref(result);
	extra = dial();
	ck_assert_int_eq(ctl_call(path, "echo", NULL, PATIENCE_S, &result, &err), FM_E_SYSTEM);
	ck_assert_str_eq(err.msg, "too many clients of the control socket: try again");
	close(extra);
	for (int i = 0; i < CTL_CLIENTS_MAX - 1; i++)
		close(fd[i]);
}
END_TEST

/* Where others have been idle, the one that has been so the longest goes, and is told. */
START_TEST(idle_clients)
{
	struct fm_error err;
	json_t *result = NULL;
	int fd[CTL_CLIENTS_MAX];

	fd[0] = dial();
	dial_silent(fd + 1, CTL_CLIENTS_MAX - 1);
	for (int i = 0; i < 3; i++) {
		ck_assert_msg(
		    ctl_call(path, "echo", NULL, PATIENCE_S, &result, &err) == 0, "%s", err.msg);
		json_decref(result);
	}
	ck_assert_ptr_nonnull(strstr(hear(fd[0]), "others wait"));
	for (int i = 1; i < CTL_CLIENTS_MAX; i++)
		close(fd[i]);
}
END_TEST

/* What is no socket stays where it is. */
START_TEST(no_socket)
{
	struct event_base *base = event_base_new();
	char name[128], text[16] = "";
	struct ctl_server *s;
	struct fm_error err;
	struct stat st;
	FILE *f;

	folder_write(folder, "precious", "gold");
	snprintf(name, sizeof(name), "%s/precious", folder);
	if (_i == 1) {
		snprintf(name, sizeof(name), "%s/link", folder);
		ck_assert_int_eq(symlink("precious", name), 0);
	}
	ck_assert_int_eq(ctl_open(base, name, commands, NULL, &s, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, "is no socket") != NULL, "%s", err.msg);
	ck_assert(lstat(name, &st) == 0 && !S_ISSOCK(st.st_mode));
	f = fopen(name, "r");
	ck_assert(f != NULL && fgets(text, sizeof(text), f) != NULL);
	ck_assert_str_eq(text, "gold");
	fclose(f);
	event_base_free(base);
}
END_TEST

/* Nor is one taken away from those who listen at it, however they do. */
START_TEST(others_socket)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct event_base *base = event_base_new();
	int fd = socket(AF_UNIX, _i == 0 ? SOCK_DGRAM : SOCK_STREAM, 0), waits = -1;
	struct ctl_server *s;
	struct fm_error err;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/theirs", folder);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	if (_i == 1) { /* as many wait as may */
		ck_assert_int_eq(listen(fd, 0), 0);
		waits = socket(AF_UNIX, SOCK_STREAM, 0);
		ck_assert_int_eq(connect(waits, (struct sockaddr *)&addr, sizeof(addr)), 0);
	}
	ck_assert_int_eq(ctl_open(base, addr.sun_path, commands, NULL, &s, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "answers there"));
	ck_assert_int_eq(access(addr.sun_path, F_OK), 0);
	close(fd);
	close(waits);
	event_base_free(base);
}
END_TEST

START_TEST(hanging_up_early)
{
	struct fm_error err;
	json_t *result;
	int rc;

	for (int i = 0; i < 50; i++) {
		int fd = dial();

		/* EPIPE: the loop still buries the others and turned this one away. */
		if (i & 1 && send(fd, "{\"command\":\"big\"}\n", 18, MSG_NOSIGNAL) < 0)
			ck_assert_int_eq(errno, EPIPE);
		close(fd);
	}
	/* While the loop still buries the dead it may be full: turned away, not hung. */
	for (int i = 0;
	     (rc = ctl_call(path, "help", NULL, PATIENCE_S, &result, &err)) != 0 && i < 1000; i++)
		poll(NULL, 0, 5);
	ck_assert_msg(rc == 0, "%s", err.msg);
	json_decref(result);
}
END_TEST

START_TEST(two_servers)
{
	struct event_base *base = event_base_new();
	struct ctl_server *s;
	struct fm_error err;

	ck_assert_int_eq(ctl_open(base, path, commands, NULL, &s, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "another fmd answers there"));
	event_base_free(base);
}
END_TEST

START_TEST(nobody_there)
{
	struct fm_error err;
	json_t *result;

	ck_assert_int_eq(
	    ctl_call("/nonexistent/fmd.sock", "status", NULL, 1, &result, &err), FM_E_SYSTEM);
	ck_assert_str_eq(
	    err.msg, "no fmd answers at /nonexistent/fmd.sock: No such file or directory");
}
END_TEST

/* Who asks: another user, by the first of its groups or by another one. */
static const struct {
	const char *command, *args, *says; /* says NULL: it is answered */
	bool is_member, by_first;
} askers[] = {
	{ "look", NULL, NULL, true, true },
	{ "look", NULL, NULL, true, false },
	{ "help", NULL, NULL, true, false },
	{ "echo", NULL,
	    "echo changes something: that is root's and the daemon's own user's; members of "
	    "control_group may look",
	    true, true },
	{ "echo", NULL, "changes something", true, false },
	{ "look", NULL, "you may not talk to fmd at ", false, false },
	{ "look", NULL, "root, and look, members of the group daemon may", false, false },
	{ "tell", "{\"what\":\"x\"}", NULL, true, true },
	{ "tell", "{\"what\":\"x\",\"yes\":true}", "tell changes something", true, true },
	{ "tell", "{\"yes\":false}", "tell changes something", true, true },
};

static int
ask_as_other(const char *command, const char *words, const char *says, gid_t gid, const gid_t *more,
    size_t n_more)
{
	struct fm_error err = { .msg = "" };
	json_t *args = words != NULL ? json_loads(words, 0, NULL) : NULL, *result = NULL;
	int rc;

	if (setgroups(n_more, more) != 0 || setgid(gid) != 0 || setuid(65534) != 0)
		return 2;
	rc = ctl_call(path, command, args, PATIENCE_S, &result, &err);
	json_decref(args);
	json_decref(result);
	if (says == NULL ? rc == 0 : rc == FM_E_CONFIG && strstr(err.msg, says) != NULL)
		return 0;
	fprintf(stderr, "%d: %s\n", rc, err.msg);
	return 1;
}

START_TEST(members_of_a_group_may_look)
{
	const struct group *g = getgrnam(group);
	gid_t many[200], gid = askers[_i].is_member && askers[_i].by_first ? g->gr_gid : 65534;
	bool by_list = askers[_i].is_member && !askers[_i].by_first;
	int status;
	pid_t child;

	if (getuid() != 0)
		return;			 /* only root can be others */
	for (size_t i = 0; i < 200; i++) /* more than a first guess has room for */
		many[i] = by_list && i == 150 ? g->gr_gid : (gid_t)(70000 + i);
	child = fork();
	if (child == 0)
		_exit(ask_as_other(
		    askers[_i].command, askers[_i].args, askers[_i].says, gid, many, 200));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_group_that_is_none)
{
	struct event_base *base = event_base_new();
	char name[128];
	struct ctl_server *s;
	struct fm_error err;
	struct stat st;

	snprintf(name, sizeof(name), "%s/other", folder);
	ck_assert_int_eq(ctl_open(base, name, commands, NULL, &s, &err), 0);
	ck_assert_int_eq(ctl_allow_group(s, "no such", &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "control_group = no such: there is no such group");
	ck_assert(stat(name, &st) == 0 && (st.st_mode & 0777) == 0600);
	ctl_close(s);
	event_base_free(base);
}
END_TEST

static const struct {
	const char *command, *key, *words; /* words NULL: it is taken */
} given[] = { { "picky", "after", NULL }, { "picky", "scope", NULL },
	{ "picky", "afte", "picky takes no afte, but after scope" },
	{ "picky", "cope", "picky takes no cope, but after scope" },
	{ "picky", "", "picky takes no , but after scope" },
	{ "mute", "after", "mute takes no arguments: after is one too many" },
	{ "echo", "anything", NULL } };

START_TEST(arguments_that_nobody_takes)
{
	json_t *args = json_object(), *result = NULL;
	struct fm_error err = { 0 };
	int rc;

	json_object_set_new(args, given[_i].key, json_true());
	rc = ctl_call(path, given[_i].command, args, PATIENCE_S, &result, &err);
	ck_assert_int_eq(rc, given[_i].words != NULL ? FM_E_CONFIG : 0);
	if (given[_i].words != NULL)
		ck_assert_str_eq(err.msg, given[_i].words);
	json_decref(result);
	json_decref(args);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ctl");
	TCase *socket = tcase_create("socket");
	TCase *patient = tcase_create("patient"), *impatient = tcase_create("impatient");
	TCase *members = tcase_create("group");

	tcase_add_checked_fixture(socket, set_up, tear_down);
	tcase_add_test(socket, a_call);
	tcase_add_test(socket, a_refusal_keeps_its_kind);
	tcase_add_test(socket, a_long_answer);
	tcase_add_test(socket, an_answer_as_text);
	tcase_add_test(socket, help_lists_commands);
	tcase_add_loop_test(socket, bad_requests, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(socket, a_request_without_end);
	tcase_add_test(socket, nesting);
	tcase_add_checked_fixture(patient, set_up_patient, tear_down);
	tcase_add_test(patient, silent_clients);
	tcase_add_checked_fixture(impatient, set_up_impatient, tear_down);
	tcase_add_test(impatient, idle_clients);
	tcase_add_checked_fixture(members, set_up_group, tear_down);
	tcase_add_loop_test(
	    members, members_of_a_group_may_look, 0, sizeof(askers) / sizeof(*askers));
	tcase_add_test(socket, a_group_that_is_none);
	tcase_add_loop_test(socket, no_socket, 0, 2);
	tcase_add_loop_test(socket, others_socket, 0, 2);
	tcase_add_test(socket, hanging_up_early);
	tcase_add_test(socket, two_servers);
	tcase_add_test(socket, nobody_there);
	tcase_add_loop_test(socket, arguments_that_nobody_takes, 0, sizeof(given) / sizeof(*given));
	suite_add_tcase(s, socket);
	suite_add_tcase(s, patient);
	suite_add_tcase(s, impatient);
	suite_add_tcase(s, members);
	return run_suite(s);
}
