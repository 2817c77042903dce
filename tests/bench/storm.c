/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm: hosts of an fmsim fabric that all want something of the SA at once.
 *
 *	storm boot FABRIC HOSTS PATHS		each host boots as IPoIB does: PortInfoRecord of
 *						its own port, ClassPortInfo, join of the broadcast
 *						group, PATHS PathRecords to random hosts
 *	storm steady FABRIC HOSTS SECONDS RATE	RATE path queries a second, from host after host,
 *						at their times whether answers come or not
 *	storm flood FABRIC HOSTS SECONDS	the last hosts of the fabric ask for paths as fast
 *						as they can write, and wait for no answer
 *
 * Each host is an open umad file of its own, by the words that libfmsim-umad.so uses.
 * fmsim repeats and gives up as the kernel does.  One line of JSON: what was asked, answered,
 * refused, lost; latencies of path queries from when they were to be sent; the longest time
 * without any answer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/sa_wire.h"
#include "lab/fmsim/umad_client.h"
#include "lab/topo/netlist.h"
#include "lib/rng.h"
#include "lib/vec.h"

#define GSI_QKEY 0x80010000u
#define WINDOW 4 /* path queries of a host under way; a power of 2 */
#define TIMEOUT_MS 1000
#define N_RETRIES 3
#define BUSY_AGAIN_NS INT64_C(10000000)
#define NS 1000000000
#define EVENTS 256

enum step { STEP_PORT_INFO, STEP_CLASS, STEP_JOIN, STEP_PATHS, STEP_DONE };

struct host {
	int fd;
	uint32_t agent;
	struct fmsim_port port;
	enum step step;
	uint32_t n_asked, n_under_way; /* paths */
	uint32_t tid;
	int64_t sent_ns[WINDOW]; /* by the low bits of the TID; 0: free */
	int64_t again_ns;	 /* 0: not told BUSY */
	size_t n_in;
	uint8_t in[2 * (sizeof(struct fmsim_frame) + WIRE_MAD_BYTES)];
};

static struct {
	struct host *host; /* [n] */
	uint32_t n, n_done, paths;
	int calls, epoll;
	enum { BOOT, STEADY, FLOOD, N_KINDS } kind;
	struct fm_rng rng;
	uint64_t n_sent, n_answered, n_paths, n_lost, n_refused, n_busy;
	FM_VEC(uint32_t) latency_us; /* of paths */
	int64_t last_ns, silence_ns;
} storm;

static void
die(const char *what)
{
	fprintf(stderr, "storm: %s\n", what);
	exit(1);
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * NS + ts.tv_nsec;
}

/* ------------------------------------------------------------------------- hosts */

static void
call(struct fmsim_call *c, struct fmsim_answer *a, struct fmsim_ca *ca)
{
	if (fmsim_write(storm.calls, c, sizeof(*c)) != 0 ||
	    fmsim_read(storm.calls, a, sizeof(*a)) != 0 || a->value < 0 ||
	    (ca != NULL && fmsim_read(storm.calls, ca, sizeof(*ca)) != 0))
		die("fmsim refuses a call");
}

static void
open_host(struct host *h, const char *name)
{
	struct fmsim_hello hello = { .kind = FMSIM_FILE };
	struct fmsim_call c = { .op = FMSIM_LOOK };
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = h };
	struct fmsim_welcome w;
	struct fmsim_answer a;
	struct fmsim_ca ca;

	snprintf(c.node, sizeof(c.node), "%s", name);
	call(&c, &a, &ca);
	h->port = ca.ports[ca.place];
	hello.port = ca.place;
	snprintf(hello.node, sizeof(hello.node), "%s", name);
	h->fd = fmsim_connect(fmsim_default_path(), &hello, &w);
	if (h->fd < 0)
		die(strerror(-h->fd));
	c = (struct fmsim_call){ .op = FMSIM_REGISTER,
		.file = w.file,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION };
	call(&c, &a, NULL);
	h->agent = (uint32_t)a.value;
	if (epoll_ctl(storm.epoll, EPOLL_CTL_ADD, h->fd, &e) != 0)
		die("epoll");
}

static void
open_hosts(const char *fabric, uint32_t n)
{
	struct fmsim_hello hello = { .kind = FMSIM_CALL };
	struct fmsim_welcome w;
	struct netlist nl;
	struct fm_error err;
	uint32_t k = 0, n_hosts = 0, first = 1; /* the first host is the SM's */

	if (netlist_read(fabric, &nl, &err) != 0)
		die(err.msg);
	storm.host = calloc(n, sizeof(*storm.host));
	storm.epoll = epoll_create1(EPOLL_CLOEXEC);
	storm.calls = fmsim_connect(fmsim_default_path(), &hello, &w);
	if (storm.host == NULL || storm.epoll < 0 || storm.calls < 0)
		die("no fmsim");
	for (uint32_t i = 0; i < nl.n_nodes; i++)
		n_hosts += nl.nodes[i].type == NETLIST_CA;
	if (storm.kind == FLOOD && n_hosts > n)
		first = n_hosts - n;
	for (uint32_t i = 0, seen = 0; i < nl.n_nodes && k < n; i++)
		if (nl.nodes[i].type == NETLIST_CA && seen++ >= first)
			open_host(&storm.host[k++], nl.nodes[i].id);
	if (k < n)
		die("the fabric has not so many hosts");
	storm.n = n;
	netlist_fini(&nl);
}

/* ---------------------------------------------------------------------- requests */

static void
send_request(
    struct host *h, uint8_t method, uint16_t attr, uint64_t mask, const void *want, int64_t at_ns)
{
	struct sa_header head = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.mask = mask };
	struct {
		struct fmsim_frame f;
		uint8_t mad[WIRE_MAD_BYTES];
	} m = { .f = { .length = WIRE_MAD_BYTES,
		    .agent = h->agent,
		    .timeout_ms = storm.kind == FLOOD ? 0 : TIMEOUT_MS,
		    .retries = storm.kind == FLOOD ? 0 : N_RETRIES,
		    .qpn = 1,
		    .qkey = GSI_QKEY,
		    .lid = h->port.sm_lid } };

	while (storm.kind != FLOOD && h->sent_ns[h->tid % WINDOW] != 0)
		h->tid++;
	h->sent_ns[h->tid % WINDOW] = at_ns;
	head.tid = h->tid++;
	sa_header_put(m.mad, &head);
	if (want != NULL)
		sa_record_put(sa_record_of(attr), m.mad + SA_DATA_AT, want);
	storm.n_sent++;
	if (fmsim_write(h->fd, &m, sizeof(m)) != 0)
		die("fmsim is gone");
}

static struct sa_gid
gid_of(const struct host *h)
{
	return (struct sa_gid){ h->port.gid_prefix, h->port.guid };
}

static void
ask_path(struct host *h, int64_t at_ns)
{
	const struct host *to = &storm.host[fm_rng_below(&storm.rng, storm.n)];
	struct sa_path_record want = {
		.sgid = gid_of(h), .dgid = gid_of(to), .reversible = 1, .n_paths = 1
	};

	h->n_asked++;
	h->n_under_way++;
	send_request(h, SA_GET, SA_PATH_RECORD,
	    SA_PR_SGID | SA_PR_DGID | SA_PR_REVERSIBLE | SA_PR_N_PATHS, &want, at_ns);
}

static void
join_broadcast(struct host *h, int64_t at_ns)
{
	struct sa_mc_member_record want = { .mgid = { UINT64_C(0xff12401bffff0000), 0xffffffff },
		.port_gid = gid_of(h),
		.pkey = 0xffff,
		.join_state = 1 };

	send_request(h, SA_SET, SA_MC_MEMBER_RECORD,
	    SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_PKEY | SA_MCR_JOIN_STATE, &want, at_ns);
}

/* What a booting host asks next. */
static void
go_on(struct host *h)
{
	struct sa_port_info_record port = { .lid = h->port.lid };
	int64_t at_ns = now_ns();

	switch (h->step) {
	case STEP_PORT_INFO:
		send_request(h, SA_GET, SA_PORT_INFO_RECORD, SA_PIR_LID, &port, at_ns);
		break;
	case STEP_CLASS:
		send_request(h, SA_GET, SA_CLASS_PORT_INFO, 0, NULL, at_ns);
		break;
	case STEP_JOIN:
		join_broadcast(h, at_ns);
		break;
	case STEP_PATHS:
		while (h->n_asked < storm.paths && h->n_under_way < WINDOW)
			ask_path(h, at_ns);
		if (h->n_under_way == 0) {
			h->step = STEP_DONE;
			storm.n_done++;
		}
		break;
	case STEP_DONE:
		break;
	}
}

/* ----------------------------------------------------------------------- answers */

static void
note_latency(int64_t since_ns, int64_t at_ns)
{
	int64_t us = (at_ns - since_ns) / 1000;

	if (!fm_vec_push(&storm.latency_us, us > UINT32_MAX ? UINT32_MAX : (uint32_t)us))
		die("out of memory");
}

static void
take_answer(struct host *h, const struct fmsim_frame *f, const uint8_t *mad)
{
	int64_t at_ns = now_ns(), *sent;
	struct sa_header head;
	bool path;

	sa_header_get(mad, &head);
	path = head.attr == SA_PATH_RECORD;
	sent = &h->sent_ns[head.tid % WINDOW];
	if (*sent == 0 && storm.kind != FLOOD)
		return; /* a second answer to what was repeated */
	if (f->status == 0) {
		storm.n_answered++;
		if (at_ns - storm.last_ns > storm.silence_ns)
			storm.silence_ns = at_ns - storm.last_ns;
		storm.last_ns = at_ns;
	}
	h->n_under_way -= path;
	if (f->status == 0 && head.status == WIRE_STATUS_BUSY) {
		storm.n_busy++;
		h->n_asked -= path && storm.kind == BOOT;
		h->again_ns = at_ns + BUSY_AGAIN_NS;
	} else {
		storm.n_lost += f->status != 0;
		storm.n_refused += f->status == 0 && head.status != SA_OK;
		if (path && f->status == 0 && head.status == SA_OK) {
			storm.n_paths++;
			if (storm.kind != FLOOD) /* others have taken its place in sent_ns */
				note_latency(*sent, at_ns);
		}
		h->step += storm.kind == BOOT && !path;
	}
	*sent = 0;
	if (storm.kind == BOOT && h->again_ns == 0)
		go_on(h);
}

static void
read_host(struct host *h)
{
	struct fmsim_frame f;
	ssize_t n = read(h->fd, h->in + h->n_in, sizeof(h->in) - h->n_in);
	size_t at = 0;

	if (n <= 0)
		die("fmsim has hung up");
	h->n_in += (size_t)n;
	while (h->n_in - at >= sizeof(f)) {
		memcpy(&f, h->in + at, sizeof(f));
		if (f.length > FMSIM_LEAST_BYTES)
			die("an answer of several MADs");
		if (h->n_in - at < sizeof(f) + FMSIM_LEAST_BYTES)
			break;
		take_answer(h, &f, h->in + at + sizeof(f));
		at += sizeof(f) + FMSIM_LEAST_BYTES;
	}
	memmove(h->in, h->in + at, h->n_in - at);
	h->n_in -= at;
}

static void
wait_ms(int ms)
{
	struct epoll_event e[EVENTS];
	int n = epoll_wait(storm.epoll, e, EVENTS, ms);

	for (int i = 0; i < n; i++)
		read_host(e[i].data.ptr);
}

/* -------------------------------------------------------------------------- runs */

static void
boot(void)
{
	for (uint32_t i = 0; i < storm.n; i++)
		go_on(&storm.host[i]);
	while (storm.n_done < storm.n) {
		int64_t at_ns;

		wait_ms(5);
		at_ns = now_ns();
		for (uint32_t i = 0; storm.n_busy > 0 && i < storm.n; i++)
			if (storm.host[i].again_ns != 0 && storm.host[i].again_ns <= at_ns) {
				storm.host[i].again_ns = 0;
				go_on(&storm.host[i]);
			}
	}
}

static void
steady(int64_t seconds, int64_t rate)
{
	int64_t start = now_ns(), end = start + seconds * NS, n = 0, at_ns;
	uint32_t who = 0;

	while ((at_ns = now_ns()) < end) {
		for (; start + n * NS / rate <= at_ns; n++) {
			struct host *h = &storm.host[who++ % storm.n];

			if (h->n_under_way < WINDOW)
				ask_path(h, start + n * NS / rate);
			else
				storm.n_lost++; /* all its queries wait: it cannot even ask */
		}
		wait_ms(1);
	}
	while (storm.n_answered + storm.n_lost < (uint64_t)n &&
	    now_ns() < end + (int64_t)TIMEOUT_MS * (N_RETRIES + 2) * 1000000)
		wait_ms(5);
}

static void
flood(int64_t seconds)
{
	int64_t end = now_ns() + seconds * NS, at_ns;

	while ((at_ns = now_ns()) < end) {
		for (uint32_t i = 0; i < storm.n; i++)
			for (unsigned j = 0; j < EVENTS; j++)
				ask_path(&storm.host[i], at_ns);
		wait_ms(0);
	}
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static double
percentile_ms(double share)
{
	size_t n = storm.latency_us.n;

	return n == 0 ? 0 : storm.latency_us.item[(size_t)(share * (double)(n - 1))] / 1e3;
}

int
main(int argc, char **argv)
{
	static const char *const kinds[] = { "boot", "steady", "flood" };
	struct rlimit files;
	int64_t start;

	while (argc > 1 && storm.kind < N_KINDS && strcmp(argv[1], kinds[storm.kind]) != 0)
		storm.kind++;
	if (storm.kind == N_KINDS || argc < (storm.kind == STEADY ? 6 : 5))
		die("usage: storm boot FABRIC HOSTS PATHS | storm steady FABRIC HOSTS SECONDS "
		    "RATE | storm flood FABRIC HOSTS SECONDS");
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	fm_rng_seed(&storm.rng, 1);
	open_hosts(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
	start = storm.last_ns = now_ns();
	if (storm.kind == BOOT) {
		storm.paths = (uint32_t)strtoul(argv[4], NULL, 10);
		boot();
	} else if (storm.kind == FLOOD) {
		flood(strtoll(argv[4], NULL, 10));
	} else {
		steady(strtoll(argv[4], NULL, 10), strtoll(argv[5], NULL, 10));
	}
	qsort(storm.latency_us.item, storm.latency_us.n, sizeof(uint32_t), compare);
	printf(
	    "{\"hosts\": %u, \"seconds\": %.3f, \"asked\": %ju, \"answered\": %ju, \"paths\": %ju, "
	    "\"lost\": %ju, \"refused\": %ju, \"busy\": %ju, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
	    "\"max_ms\": %.3f, \"silence_ms\": %.1f}\n",
	    storm.n, (double)(now_ns() - start) / NS, (uintmax_t)storm.n_sent,
	    (uintmax_t)storm.n_answered, (uintmax_t)storm.n_paths, (uintmax_t)storm.n_lost,
	    (uintmax_t)storm.n_refused, (uintmax_t)storm.n_busy, percentile_ms(0.5),
	    percentile_ms(0.99), percentile_ms(1), (double)storm.silence_ns / 1e6);
	return storm.n_lost == 0 ? 0 : 3;
}
