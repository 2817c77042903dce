/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any clients of the control socket of a running daemon on a simulated fabric: they dial, say
 * requests whole, by halves or without end, read or do not, hang up, while the configuration
 * changes.  Each that is answered has one line of JSON that says ok or has a sentence, and the
 * daemon goes on.
 *
 * The input is a row of steps, a byte each: what is done in the upper three bits, by which client
 * in the lower five; some take bytes that follow.
 */
#include "config.h"

#include <event2/event.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/ctl/ctl.h"
#include "core/daemon/daemon.h"
#include "lab/sim/sim.h"
#include "tests/fuzz/fuzz.h"

#define N_CLIENTS 32 /* twice as many as are served at once */
#define REPLY_BYTES (1 << 18)
#define REPLIES 100
#define ROUNDS 8 /* of the loop after each step */
#define UP_ROUNDS 100000
#define STEPS_MAX 200

enum step { DIAL, SAY, ASK, ASK_OF, HEAR, FLOOD, CONFIGURE, LEAVE };

static const char fabric[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n[3] \"t\"[3]\n\n"
			     "Switch 4 \"t\"\n[1] \"c\"[1]\n[3] \"s\"[3]\n\n"
			     "Ca 1 \"a\"\n[1] \"s\"[1]\n\nCa 1 \"b\"\n[1] \"s\"[2]\n\n"
			     "Ca 1 \"c\"\n[1] \"t\"[1]\n";

static const char *const requests[] = { "\"status\"", "\"routes\"", "\"regions\"", "\"partitions\"",
	"\"verify\"", "\"verify\",\"args\":{\"readback\":1}", "\"events\"", "\"sweep\"",
	"\"sweep\",\"args\":{\"scope\":\"light\"}", "\"drain\"",
	"\"drain\",\"args\":{\"dry_run\":true}", "\"handover\"",
	"\"handover\",\"args\":{\"number\":1}", "\"reload\"", "\"help\"",
	"\"path\",\"args\":{\"from\":1,\"to\":2}",
	"\"path\",\"args\":{\"from\":\"a\",\"to\":\"c\"}", "\"paths\",\"args\":{\"lid\":1}",
	"\"partitions\",\"args\":{\"pkey\":65535}", "\"nodes\"", "\"links\"", "\"progress\"",
	"\"nodes\",\"args\":{\"trouble\":true}",
	"\"links\",\"args\":{\"degraded\":true,\"name\":\"a*\"}" };

/* What is said of an argument. */
static const char *const heads[] = { "paths\",\"args\":{\"lid\":1,\"from\":",
	"paths\",\"args\":{\"lid\":", "path\",\"args\":{\"to\":1,\"from\":",
	"path\",\"args\":{\"from\":1,\"to\":", "partitions\",\"args\":{\"pkey\":",
	"events\",\"args\":{\"after\":", "sweep\",\"args\":{\"scope\":",
	"verify\",\"args\":{\"readback\":", "drain\",\"args\":{\"dry_run\":",
	"handover\",\"args\":{\"to\":", "handover\",\"args\":{\"number\":",
	"status\",\"args\":{\"x\":", "nodes\",\"args\":{\"name\":", "links\",\"args\":{\"name\":",
	"nodes\",\"args\":{\"from\":", "links\",\"args\":{\"from\":",
	"isolate\",\"args\":{\"what\":", "isolate\",\"args\":{\"yes\":1,\"force\":true,\"what\":",
	"restore\",\"args\":{\"yes\":1,\"what\":",
	"isolate\",\"args\":{\"what\":\"switch:t\",\"force\":1,\"yes\":",
	"restore\",\"args\":{\"what\":\"switch:t\",\"yes\":" };

static const char *const configurations[] = { "", "lmc = 1\n", "lmc = 9\n", "chain = { }\n",
	"sm_priority = 3\nqos = yes\n", "region \"x\" { nodes = { \"name:t\" } }\n",
	"region \"x\" { nodes = { \"name:nobody\" } }\n", "log_level = debug\n" };

static char folder[64], arguments[3][96];
static struct daemon d;
static int fds[N_CLIENTS];
static bool hangs_up; /* on some, maybe in the middle of an answer */

/* ----------------------------------------------------------------- daemon */

static void
write_file(const char *name, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	must(f != NULL);
	fputs(text, f);
	must(fclose(f) == 0);
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void
clean_up(void)
{
	daemon_fini(&d);
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void
start(void)
{
	static struct cli cli;
	char *argv[] = { (char *)(uintptr_t) "fmd", arguments[0], arguments[1], arguments[2],
		NULL };
	static const struct transport_kind *const transports[] = { &transport_sim, NULL };
	struct fm_error err = { 0 };

	snprintf(folder, sizeof(folder), "/tmp/fmd-fuzz-commands-XXXXXX");
	must(mkdtemp(folder) != NULL);
	write_file("net", fabric);
	write_file("fmd.conf", "");
	snprintf(arguments[0], sizeof(arguments[0]), "--transport=sim:%s/net", folder);
	snprintf(arguments[1], sizeof(arguments[1]), "--config=%s/fmd.conf", folder);
	snprintf(arguments[2], sizeof(arguments[2]), "--state-dir=%s/state", folder);
	must(cli_parse(4, argv, &cli, &err) == 0);
	must(daemon_init(&d, &cli, transports, &err) == 0);
	ctl_set_idle(d.ctl, INT64_MAX);
	for (int i = 0; i < UP_ROUNDS && !sweeper_is_up(d.sweeper); i++)
		event_base_loop(d.base, EVLOOP_ONCE);
	must(sweeper_is_up(d.sweeper));
	memset(fds, 0xff, sizeof(fds));
	atexit(clean_up);
}

static void
turn(void)
{
	for (int i = 0; i < ROUNDS; i++)
		event_base_loop(d.base, EVLOOP_NONBLOCK);
}

/* ---------------------------------------------------------------- clients */

static void
leave(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
dial(int *fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	leave(fd);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", d.conf->daemon.control_socket);
	if (*fd < 0 || connect(*fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		leave(fd); /* as many wait as may */
}

static void
say(int fd, const char *text, size_t n)
{
	if (fd >= 0)
		(void)!send(fd, text, n, MSG_NOSIGNAL);
}

static void
judge(const char *reply, size_t n)
{
	json_t *r = json_loadb(reply, n, 0, NULL), *ok = json_object_get(r, "ok");

	must(reply[n - 1] == '\n' && json_is_boolean(ok));
	must(json_is_true(ok) ||
	    (json_string_length(json_object_get(r, "error")) > 0 &&
		json_string_length(json_object_get(r, "kind")) > 0));
	json_decref(r);
}

/* What came back is a whole answer, or nothing did. */
static void
hear(int *fd)
{
	static char reply[REPLY_BYTES];
	size_t n = 0;
	ssize_t got = 1;

	if (*fd < 0)
		return;
	for (int i = 0; i < REPLIES && got != 0; i++) { /* a part each turn */
		turn();
		got = recv(*fd, reply + n, sizeof(reply) - n, 0);
		n += got > 0 ? (size_t)got : 0;
		if (got < 0 && n == 0)
			return; /* it has asked for nothing whole */
	}
	if (n > 0 && !hangs_up)
		judge(reply, n);
	leave(fd);
}

static void
flood(int fd)
{
	static char bytes[CTL_REQUEST_MAX + 100];

	memset(bytes, '[', sizeof(bytes));
	say(fd, bytes, sizeof(bytes));
}

/* ------------------------------------------------------------------ input */

struct input {
	const uint8_t *at, *end;
};

static unsigned
next_byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* A count, and as many bytes. */
static size_t
next_bytes(struct input *in, const char **bytes)
{
	size_t n = next_byte(in), left = (size_t)(in->end - in->at);

	n = n < left ? n : left;
	*bytes = (const char *)in->at;
	in->at += n;
	return n;
}

static void
ask_of(int fd, struct input *in)
{
	const char *head = heads[next_byte(in) % (sizeof(heads) / sizeof(heads[0]))], *bytes;
	size_t n = next_bytes(in, &bytes);
	char line[600];
	int k = snprintf(line, sizeof(line), "{\"command\":\"%s%.*s}}\n", head, (int)n, bytes);

	say(fd, line, (size_t)k);
}

static void
ask(int fd, unsigned which)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "{\"command\":%s}\n",
	    requests[which % (sizeof(requests) / sizeof(requests[0]))]);

	say(fd, line, (size_t)n);
}

static void
take_step(struct input *in)
{
	unsigned byte = next_byte(in);
	int *fd = &fds[byte % N_CLIENTS];
	const char *bytes;
	size_t n;

	switch ((enum step)(byte / N_CLIENTS)) {
	case DIAL:
		dial(fd);
		break;
	case SAY:
		n = next_bytes(in, &bytes);
		say(*fd, bytes, n);
		break;
	case ASK:
		dial(fd);
		ask(*fd, next_byte(in));
		break;
	case ASK_OF:
		dial(fd);
		ask_of(*fd, in);
		break;
	case HEAR:
		hear(fd);
		break;
	case FLOOD:
		flood(*fd);
		break;
	case CONFIGURE:
		hangs_up |= (byte & 8) != 0;
		ctl_set_idle(d.ctl, (byte & 8) != 0 ? 0 : INT64_MAX);
		write_file("fmd.conf",
		    configurations[byte % (sizeof(configurations) / sizeof(configurations[0]))]);
		break;
	case LEAVE:
		leave(fd);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	fuzz_be_quiet();
	if (d.base == NULL)
		start();
	for (int i = 0; i < STEPS_MAX && in.at < in.end; i++) {
		take_step(&in);
		turn();
	}
	for (int i = 0; i < N_CLIENTS; i++) {
		hear(&fds[i]);
		leave(&fds[i]);
	}
	turn();
	must(!event_base_got_break(d.base));
	hangs_up = false;
	ctl_set_idle(d.ctl, INT64_MAX);
	dial(&fds[0]); /* it is there as before */
	ask(fds[0], 0);
	turn();
	hear(&fds[0]);
	must(fds[0] < 0);
	return 0;
}
