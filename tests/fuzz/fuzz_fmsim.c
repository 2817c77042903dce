/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what programs write to fmsim: hellos, frames of open ports, calls, commands,
 * whole or not, right or not.  Whatever comes, the server is there afterwards and answers.
 *
 * The input is a row of records: a byte of what to do, a byte of length, and so many bytes.
 */
#include "config.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/wire/sa_wire.h"
#include "core/wire/wire.h"
#include "lab/fmsim/server.h"
#include "lab/fmsim/umad_proto.h"
#include "lab/topo/netlist.h"
#include "tests/fuzz/fuzz.h"

#define MS INT64_C(1000000)
#define RECORDS_MAX 64

/* A record's first byte: the connection, how its bytes are meant, and whether time passes.
 * Connection 0 is an open port with agents for SMPs and the SA, 1 makes calls, 2 is a
 * console; 3 says what it likes, and is another connection after AFRESH. */
enum { PEER = 3, FRAMED = 4, LONG = 8, AFRESH = 16, LATER = 32 };
#define PEERS 4

static const char fabric_text[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n\n"
				  "Ca 1 \"a\"\n[1] \"s\"[1]\n\nCa 1 \"b\"\n[1] \"s\"[2]\n";
static char path[64];

struct stage {
	struct netlist nl;
	struct sim *sim;
	struct event_base *base;
	struct sim_server *server;
	int fd[PEERS];
};

static void
turn(struct stage *s)
{
	for (int i = 0; i < 4; i++)
		event_base_loop(s->base, EVLOOP_NONBLOCK);
}

/* What has come back, thrown away; the last bytes of it into last.  False: hung up. */
static bool
drain(int fd, void *last, size_t n_last)
{
	uint8_t part[65536];
	ssize_t n;

	while ((n = recv(fd, part, sizeof(part), MSG_DONTWAIT)) > 0)
		if ((size_t)n >= n_last && n_last > 0)
			memcpy(last, part + n - n_last, n_last);
	return n != 0;
}

static int
dial(struct stage *s)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(to.sun_path, path, strlen(path) + 1);
	must(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
	turn(s);
	return fd;
}

static int
open_as(struct stage *s, uint32_t kind, struct fmsim_welcome *w)
{
	struct fmsim_hello h = { .magic = FMSIM_MAGIC, .kind = kind };
	int fd = dial(s);

	must(send(fd, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h));
	turn(s);
	w->error = -1;
	must(drain(fd, w, sizeof(*w)) && w->error == 0);
	return fd;
}

static void
add_agent(struct stage *s, uint32_t file, uint8_t mgmt_class, uint8_t version, uint8_t rmpp)
{
	struct fmsim_call c = { .op = FMSIM_REGISTER,
		.file = file,
		.mgmt_class = mgmt_class,
		.class_version = version,
		.rmpp_version = rmpp };
	struct fmsim_answer a = { -1 };

	must(send(s->fd[1], &c, sizeof(c), MSG_NOSIGNAL) == sizeof(c));
	turn(s);
	must(drain(s->fd[1], &a, sizeof(a)) && a.value >= 0);
}

static void
begin(struct stage *s)
{
	struct fmsim_welcome w;
	struct fm_error err;
	struct sim_options o;

	snprintf(path, sizeof(path), "/tmp/fmd-fuzz-fmsim-%ld", (long)getpid());
	must(netlist_parse("fabric", fabric_text, sizeof(fabric_text) - 1, &s->nl, &err) == 0);
	sim_options_default(&o);
	must(sim_new(&s->nl, &o, &s->sim, &err) == 0);
	must((s->base = event_base_new()) != NULL);
	must(sim_server_new(s->sim, (struct sim_place){ sim_find(s->sim, "a"), 1 }, s->base, path,
		 &s->server, &err) == 0);
	s->fd[1] = open_as(s, FMSIM_CALL, &w);
	s->fd[2] = open_as(s, FMSIM_CONSOLE, &w);
	s->fd[0] = open_as(s, FMSIM_FILE, &w);
	add_agent(s, w.file, WIRE_CLASS_SMP_DR, 1, 0);
	add_agent(s, w.file, WIRE_CLASS_SA, 2, 1);
	s->fd[3] = dial(s);
}

static void
end(struct stage *s)
{
	struct fmsim_welcome w;

	close(open_as(s, FMSIM_CONSOLE, &w)); /* it is still there */
	for (int i = 0; i < PEERS; i++)
		close(s->fd[i]);
	turn(s);
	sim_server_free(s->server);
	event_base_free(s->base);
	sim_free(s->sim);
	netlist_fini(&s->nl);
}

/* The bytes as a frame of an open port: a MAD of an agent there, or a whole message. */
static size_t
frame(uint8_t *out, uint8_t how, const uint8_t *data, size_t n)
{
	struct fmsim_frame f = { .agent = (how & AFRESH) != 0,
		.length = (uint32_t)(how & LONG ? 8 * n : n),
		.timeout_ms = (how & LATER) != 0 ? 20 : 0,
		.retries = 1,
		.lid = (uint16_t)(n > 0 ? data[0] & 3 : 0),
		.qpn = (how & AFRESH) != 0,
		.qkey = 0x80010000 };

	memset(out, 0, sizeof(f) + f.length);
	memcpy(out, &f, sizeof(f));
	memcpy(out + sizeof(f), data, n);
	return sizeof(f) + f.length;
}

static void
take(struct stage *s, uint8_t how, const uint8_t *data, size_t n)
{
	uint8_t out[sizeof(struct fmsim_frame) + 8 * UINT8_MAX];
	unsigned peer = how & PEER;

	if (peer == 3 && how & AFRESH) {
		close(s->fd[3]);
		s->fd[3] = dial(s);
	}
	if (peer == 0 && how & FRAMED) {
		n = frame(out, how, data, n);
		data = out;
	}
	if (send(s->fd[peer], data, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* hung up on */
	if (how & LATER)
		sim_run(s->sim, sim_now_ns(s->sim) + 50 * MS);
	turn(s);
	for (int i = 0; i < PEERS; i++)
		drain(s->fd[i], NULL, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stage s = { 0 };

	fuzz_be_quiet();
	begin(&s);
	for (int i = 0; i < RECORDS_MAX && size >= 2; i++) {
		size_t n = data[1] < size - 2 ? data[1] : size - 2;

		take(&s, data[0], data + 2, n);
		data += 2 + n;
		size -= 2 + n;
	}
	end(&s);
	return 0;
}
