/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection to what says that it is a Redis: whatever comes, a question ends, with an answer or
 * a sentence, and after a sentence nothing is taken for an answer.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/redis/info.h"
#include "core/redis/redis.h"
#include "tests/folder.h"
#include "tests/run.h"

enum then { CLOSE, STAND_STILL, DRIP, FLOOD };

/* What the other end says to the first command, and does then. */
static const struct talk {
	const char *words;
	enum then then;
	const char *sentence; /* NULL: there is an answer */
	int kind;
} talks[] = {
	{ "+OK\r\n", STAND_STILL, NULL, 0 },
	{ "*2\r\n$1\r\n7\r\n$1\r\n8\r\n", STAND_STILL, NULL, 0 },
	{ "", CLOSE, "it: Server closed the connection", FM_E_SYSTEM },
	{ "$5\r\nab", CLOSE, "it: Server closed the connection", FM_E_SYSTEM },
	{ "", STAND_STILL, "it does not answer", FM_E_SYSTEM },
	{ "$5\r\nab", STAND_STILL, "it does not answer", FM_E_SYSTEM },
	{ "$900\r\n", DRIP, "it does not answer", FM_E_SYSTEM },
	{ "$500000000\r\n", FLOOD, "it gives an answer longer than any that there is",
	    FM_E_CONFIG },
	{ "+", FLOOD, "it gives an answer longer than any that there is", FM_E_CONFIG },
	{ "*2000000000\r\n", STAND_STILL, "it gives an answer longer than any that there is",
	    FM_E_CONFIG },
	{ "*3\r\n*2\r\n+a\r\n+b\r\n*9\r\n", STAND_STILL,
	    "it gives an answer longer than any that there is", FM_E_CONFIG },
	{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+a\r\n", STAND_STILL,
	    "it gives an answer of more than 7 arrays in one another", FM_E_CONFIG },
	{ "SSH-2.0-OpenSSH\r\n", STAND_STILL, "it: Protocol error", FM_E_CONFIG },
	{ "-NOPERM this user may not\r\n", STAND_STILL, "it answers \"NOPERM this user may not\"",
	    FM_E_SYSTEM },
};

static char folder[FOLDER_ROOM], path[96];
static const struct talk *talk;
static int listener;
static pthread_t thread;

static bool
say(int fd, const char *bytes, size_t n)
{
	return send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void *
serve(void *arg)
{
	static const char flood[65536] = "x";
	const struct timespec nap = { .tv_nsec = 5000000 };
	char heard[512];
	int fd = accept(listener, NULL, NULL);
	bool ok;

	ok = recv(fd, heard, sizeof(heard), 0) > 0 && say(fd, talk->words, strlen(talk->words));
	while (ok && talk->then == FLOOD)
		ok = say(fd, flood, sizeof(flood));
	while (ok && talk->then == DRIP) {
		ok = say(fd, "x", 1);
		nanosleep(&nap, NULL);
	}
	while (ok && talk->then == STAND_STILL)
		ok = recv(fd, heard, sizeof(heard), 0) > 0;
	close(fd);
	return NULL;
}

static void
setup(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	folder_make(folder);
	snprintf(path, sizeof(path), "%s/redis", folder);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (const struct sockaddr *)&name, sizeof(name)), 0);
	ck_assert_int_eq(listen(listener, 4), 0);
}

static void
teardown(void)
{
	close(listener);
	folder_remove(folder);
}

static struct redis *
connect_to_it(void)
{
	static const struct redis_limits limits = { .who = "it",
		.connect_ms = 10000,
		.answer_ms = 100,
		.most_bytes = 1 << 20,
		.most_elements = 8 };
	const struct relay_name to = { .path = path };
	struct fm_error err = { 0 };
	struct redis *r;

	ck_assert_int_eq(pthread_create(&thread, NULL, serve, NULL), 0);
	ck_assert_msg(redis_open(&to, NULL, &limits, &r, &err) == 0, "%s", err.msg);
	return r;
}

START_TEST(a_question_ends)
{
	struct fm_error err = { 0 }, again = { 0 };
	redisReply *reply;
	struct redis *r;

	talk = &talks[_i];
	r = connect_to_it();
	if (talk->then == STAND_STILL && talk->words[0] != '\0')
		redis_set_patience(
		    r, talk->sentence == NULL || talk->words[0] != '$' ? 60000 : 100);
	reply = redis_ask(r, &err, "PING %s", "x");
	if (talk->sentence == NULL) {
		ck_assert_msg(reply != NULL, "%s", err.msg);
	} else {
		ck_assert_ptr_null(reply);
		ck_assert_msg(strncmp(err.msg, talk->sentence, strlen(talk->sentence)) == 0,
		    "\"%s\", expected \"%s\"", err.msg, talk->sentence);
		ck_assert_int_eq(err.kind, talk->kind);
	}
	if (talk->sentence != NULL && talk->words[0] != '-') {
		ck_assert_int_ne(redis_do(r, &again, "PING"), 0);
		ck_assert_str_eq(again.msg, err.msg);
	}
	freeReplyObject(reply);
	redis_close(r);
	pthread_join(thread, NULL);
}
END_TEST

/* Of several commands the first error is what is told, the last answer what is given; that to all
 * of them may have an element for each, besides those that there may be. */
START_TEST(answers_are_read_to_the_last)
{
	static const struct talk several[] = {
		{ "+OK\r\n+QUEUED\r\n*11\r\n+1\r\n+2\r\n+3\r\n+4\r\n+5\r\n+6\r\n+7\r\n+8\r\n"
		  "+9\r\n+a\r\n+b\r\n",
		    STAND_STILL, NULL, 0 },
		{ "+OK\r\n-OOM no\r\n-EXECABORT\r\n", STAND_STILL, "it answers \"OOM no\"", 0 }
	};
	struct fm_error err = { 0 };
	redisReply *reply;
	struct redis *r;

	talk = &several[_i];
	r = connect_to_it();
	redis_set_patience(r, 60000);
	redis_tell(r, "MULTI");
	redis_tell(r, "SET a b");
	reply = redis_ask(r, &err, "EXEC");
	if (talk->sentence == NULL)
		ck_assert_msg(reply != NULL && reply->elements == 11, "%s", err.msg);
	else
		ck_assert_str_eq(err.msg, talk->sentence);
	freeReplyObject(reply);
	redis_close(r);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(an_answer_can_be_waited_for_in_parts)
{
	static const struct talk silent = { "", STAND_STILL, NULL, 0 },
				 well = { "+OK\r\n", STAND_STILL, NULL, 0 },
				 gone = { "", CLOSE, NULL, 0 };
	static const struct talk *const each[] = { &silent, &well, &gone };
	struct fm_error err = { 0 };
	redisReply *reply;
	struct redis *r;

	talk = each[_i];
	r = connect_to_it();
	redis_tell(r, "PING");
	if (talk == &silent) {
		ck_assert(!redis_has_answer(r, 1));
		ck_assert(!redis_has_answer(r, 1));
	} else {
		ck_assert(redis_has_answer(r, 60000));
		reply = redis_answer(r, &err);
		ck_assert((reply != NULL) == (talk == &well));
		freeReplyObject(reply);
	}
	if (talk == &gone)
		ck_assert(redis_has_answer(r, 60000)); /* which is the failure */
	redis_close(r);
	pthread_join(thread, NULL);
}
END_TEST

static const struct {
	const char *info;
	enum redis_link link;
	unsigned silent_s;
} links[] = {
	{ "", REDIS_FIRST, 0 },
	{ "# Replication\r\nrole:master\r\nmaster_link_status:up\r\n", REDIS_FIRST, 0 },
	{ "role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:7\r\n", REDIS_LINK_UP,
	    7 },
	{ "role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:30\r\n",
	    REDIS_LINK_UP, 30 },
	{ "role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:31\r\n",
	    REDIS_LINK_SILENT, 31 },
	{ "role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:99999999999999\r\n",
	    REDIS_LINK_SILENT, 2147483647 },
	{ "role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:x\r\n",
	    REDIS_LINK_UP, 0 },
	{ "role:slave\r\nmaster_link_status:down\r\nmaster_last_io_seconds_ago:-1\r\n"
	  "master_sync_in_progress:0\r\n",
	    REDIS_LINK_DOWN, 0 },
	{ "role:slave\r\nmaster_link_status:down\r\nmaster_sync_in_progress:1\r\n"
	  "master_sync_last_io_seconds_ago:2\r\n",
	    REDIS_LINK_FILLING, 2 },
	{ "role:slave\r\nmaster_link_status:down\r\nmaster_sync_in_progress:1\r\n"
	  "master_sync_last_io_seconds_ago:31\r\n",
	    REDIS_LINK_SILENT, 31 },
	{ "role:slave\r\n", REDIS_LINK_DOWN, 0 },
};

START_TEST(the_link_to_the_one_above)
{
	unsigned silent_s;

	ck_assert_int_eq(redis_info_link(links[_i].info, &silent_s), links[_i].link);
	ck_assert_uint_eq(silent_s, links[_i].silent_s);
}
END_TEST

static char names[512];

static void
keep_name(void *arg, const char *name)
{
	size_t n = strlen(names);

	(void)arg;
	snprintf(names + n, sizeof(names) - n, "%s ", name);
}

/* What CLIENT LIST may answer: names of who has told something lately, and nothing else. */
START_TEST(relays_tell_of_themselves)
{
	static const struct {
		const char *clients, *names;
	} cases[] = {
		{ "", "" },
		{ "\n\n", "" },
		{ "id=1 name= age=0 idle=0\n", "" },
		{ "id=1 name=fmd-agent:1:2:3 age=9 idle=0\n", "" },
		{ "id=1 name=fmd-relay: age=0 idle=0\n", "" },
		{ "id=1 name=fmd-relay:a, age=0 idle=0\n", "a " },
		{ "id=1 name=fmd-relay:a,b.c,d age=0 idle=10\r\nid=2 name=fmd-relay:e,a, idle=1",
		    "a b.c d e a " },
		{ "id=1 name=fmd-relay:a, age=0 idle=11\nid=2 name=fmd-relay:b, idle=0\n", "b " },
		{ "id=1 name=x\nname=fmd-relay:a,\nid=2 name=fmd-relay:b", "b " },
		{ "id=1 name=fmd-relay:a\033[2J,b\300,c,,,d idle=0\n", "c d " },
		{ "id=1 name=fmd-relay:"
		  "0123456789012345678901234567890123456789012345678901234567890123,"
		  "012345678901234567890123456789012345678901234567890123456789012 idle=0",
		    "012345678901234567890123456789012345678901234567890123456789012 " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		names[0] = '\0';
		redis_info_relays(cases[i].clients, keep_name, NULL);
		ck_assert_msg(strcmp(names, cases[i].names) == 0, "%zu: \"%s\", expected \"%s\"", i,
		    names, cases[i].names);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("redis");
	TCase *t = tcase_create("redis");

	signal(SIGPIPE, SIG_IGN);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, relays_tell_of_themselves);
	tcase_add_loop_test(t, a_question_ends, 0, (int)(sizeof(talks) / sizeof(talks[0])));
	tcase_add_loop_test(t, answers_are_read_to_the_last, 0, 2);
	tcase_add_loop_test(t, an_answer_can_be_waited_for_in_parts, 0, 3);
	tcase_add_loop_test(
	    t, the_link_to_the_one_above, 0, (int)(sizeof(links) / sizeof(links[0])));
	suite_add_tcase(s, t);
	return run_suite(s);
}
