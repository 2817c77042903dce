/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registering: hosts of an fmsim fabric that register addresses, and the file of each of them.
 *
 *	registering FABRIC HOSTS FOLDER FILE <COMMANDS
 *	registering FILE
 *
 * The second prints what a file has: address, GUID, LID, hardware, P_Key, a line each.
 *
 * Hosts are the CAs of the fabric but the first, HOSTS of them, by number from 0 on.  Host i has
 * the address 10.1.0.0 + i to begin with.  A line is a command:
 *
 *	register A B	hosts A .. B - 1 register their addresses
 *	swap A B	they exchange theirs with their neighbours, in pairs
 *	withdraw A B	they withdraw them
 *	gone A B	their cables are out: nobody is told of them any more
 *	back A B	their cables are in again
 *	qpn A B		their interfaces get another QPN
 *	forge A B	host A registers the address of B for the GID of B: it must be refused
 *	claim A B	host A registers the address of B for its own GID: B keeps it
 *	unclaim A B	host A withdraws that
 *	files		waits until the file of each host tells the truth
 *
 * Each host has the replica and the source of fmd-agent, by FOLDER; FILE is written and read for
 * one after the other.  A minute after a command without the truth it ends with what is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/wire/ip_service.h"
#include "host/agent/source.h"
#include "lab/fmsim/umad_client.h"
#include "lab/topo/netlist.h"
#include "lib/clock.h"

#define GSI_QKEY 0x80010000u
#define TIMEOUT_MS 1000
#define N_RETRIES 5
#define PATIENCE_MS 60000
#define LEASE_S 600
#define FIRST_QPN 0x100

struct host {
	int fd;
	uint32_t agent, tid;
	struct fmsim_port port;
	struct ip_service is;
	bool registered, gone;
	void *source;
	struct replica replica;
};

static struct {
	struct host *host; /* [n] */
	unsigned n;
	int calls;
	const struct host *owner[65536]; /* by the last two bytes of an address */
	const char *folder, *file;
} all;

static void
die(const char *what)
{
	fprintf(stderr, "registering: %s\n", what);
	exit(1);
}

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------------------- hosts */

static void
call(struct fmsim_call *c, struct fmsim_answer *a, struct fmsim_ca *ca)
{
	if (fmsim_write(all.calls, c, sizeof(*c)) != 0 ||
	    fmsim_read(all.calls, a, sizeof(*a)) != 0 || a->value < 0 ||
	    (ca != NULL && fmsim_read(all.calls, ca, sizeof(*ca)) != 0))
		die("fmsim refuses a call");
}

static void
open_host(struct host *h, const char *name)
{
	struct fmsim_hello hello = { .kind = FMSIM_FILE };
	struct fmsim_call c = { .op = FMSIM_LOOK };
	struct fmsim_welcome w;
	struct fmsim_answer a;
	struct fm_error err = { 0 };
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
	h->replica.own[0] = h->port.guid;
	h->replica.n_own = 1;
	if (source_files.open(all.folder, NULL, &h->source, &err) != 0)
		die(err.msg);
}

static void
address_host(unsigned i)
{
	struct host *h = &all.host[i];

	h->is = (struct ip_service){ .ip = { [10] = 0xff,
					 [11] = 0xff,
					 [12] = 10,
					 [13] = 1,
					 [14] = (uint8_t)(i >> 8),
					 [15] = (uint8_t)i },
		.gid = { h->port.gid_prefix, h->port.guid },
		.hardware = UINT32_C(0x80000000) | (FIRST_QPN + i),
		.pkey = 0xffff };
}

static void
open_hosts(const char *fabric, unsigned n)
{
	struct fmsim_hello hello = { .kind = FMSIM_CALL };
	struct fmsim_welcome w;
	struct netlist nl;
	struct fm_error err;
	unsigned seen = 0;

	if (netlist_read(fabric, &nl, &err) != 0)
		die(err.msg);
	all.host = calloc(n, sizeof(*all.host));
	all.calls = fmsim_connect(fmsim_default_path(), &hello, &w);
	if (all.host == NULL || all.calls < 0)
		die("no fmsim");
	for (uint32_t i = 0; i < nl.n_nodes && all.n < n; i++)
		if (nl.nodes[i].type == NETLIST_CA && seen++ > 0) { /* the first is the SM's */
			open_host(&all.host[all.n], nl.nodes[i].id);
			address_host(all.n++);
		}
	if (all.n < n)
		die("the fabric has not so many hosts");
	netlist_fini(&nl);
}

/* -------------------------------------------------------------------------- the SA */

static uint32_t
number_of(const struct ip_service *s)
{
	return (uint32_t)s->ip[12] << 24 | (uint32_t)s->ip[13] << 16 | (uint32_t)s->ip[14] << 8 |
	    s->ip[15];
}

static void
ask(struct host *h, uint8_t method, const struct ip_service *s)
{
	struct sa_header head = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = SA_SERVICE_RECORD,
		.mask = method == SA_SET ? IP_SERVICE_MASK : SA_SR_ID | SA_SR_GID | SA_SR_PKEY,
		.tid = ++h->tid };
	struct {
		struct fmsim_frame f;
		uint8_t mad[WIRE_MAD_BYTES];
	} m = { .f = { .length = WIRE_MAD_BYTES,
		    .agent = h->agent,
		    .timeout_ms = TIMEOUT_MS,
		    .retries = N_RETRIES,
		    .qpn = 1,
		    .qkey = GSI_QKEY,
		    .lid = h->port.sm_lid } };
	struct sa_service_record rec;

	sa_header_put(m.mad, &head);
	ip_service_put(s, number_of(s), LEASE_S, &rec);
	sa_record_put(sa_record_of(SA_SERVICE_RECORD), m.mad + SA_DATA_AT, &rec);
	if (fmsim_write(h->fd, &m, sizeof(m)) != 0)
		die("fmsim is gone");
}

/* The status of the answer. */
static uint16_t
answer(struct host *h)
{
	struct {
		struct fmsim_frame f;
		uint8_t mad[FMSIM_LEAST_BYTES];
	} m;
	struct sa_header head;

	if (fmsim_read(h->fd, &m, sizeof(m)) != 0)
		die("fmsim has hung up");
	if (m.f.status != 0)
		die("the SA does not answer");
	sa_header_get(m.mad, &head);
	return head.status;
}

/* All ask at once, before one is answered; BUSY is asked again. */
static void
ask_all(unsigned from, unsigned to, uint8_t method)
{
	for (unsigned i = from; i < to; i++)
		ask(&all.host[i], method, &all.host[i].is);
	for (unsigned i = from; i < to; i++) {
		struct host *h = &all.host[i];
		uint16_t status;

		while ((status = answer(h)) == WIRE_STATUS_BUSY) {
			poll(NULL, 0, 10);
			ask(h, method, &h->is);
		}
		if (status != SA_OK) {
			fprintf(stderr, "registering: host %u is told 0x%04x\n", i, status);
			exit(1);
		}
		h->registered = method == SA_SET;
	}
}

static void
swap(unsigned from, unsigned to)
{
	ask_all(from, to, SA_DELETE);
	for (unsigned i = from; i + 1 < to; i += 2) {
		uint8_t ip[16];

		memcpy(ip, all.host[i].is.ip, sizeof(ip));
		memcpy(all.host[i].is.ip, all.host[i + 1].is.ip, sizeof(ip));
		memcpy(all.host[i + 1].is.ip, ip, sizeof(ip));
	}
	ask_all(from, to, SA_SET);
}

static void
forge(unsigned who, unsigned of, bool own_gid, uint8_t method)
{
	struct ip_service s = all.host[of].is;
	uint16_t status;

	if (own_gid)
		s.gid = all.host[who].is.gid;
	ask(&all.host[who], method, &s);
	status = answer(&all.host[who]);
	if ((status == SA_OK) != own_gid) {
		fprintf(stderr, "registering: a forged record is told 0x%04x\n", status);
		exit(1);
	}
}

/* ----------------------------------------------------------------------- the truth */

static unsigned
place_of(const uint8_t ip[16])
{
	return (unsigned)ip[14] << 8 | ip[15];
}

static void
find_owners(void)
{
	memset(all.owner, 0, sizeof(all.owner));
	for (unsigned i = 0; i < all.n; i++)
		if (all.host[i].registered && !all.host[i].gone)
			all.owner[place_of(all.host[i].is.ip)] = &all.host[i];
}

static const struct host *
owner(const uint8_t ip[16])
{
	const struct host *h = all.owner[place_of(ip)];

	return h != NULL && memcmp(h->is.ip, ip, 16) == 0 ? h : NULL;
}

/* NULL, or what the file says that is not so. */
static const char *
judge(const struct paths *p)
{
	struct blob_reg reg;
	unsigned n = 0;
	size_t at = 0;

	while (paths_next_reg(p, &at, &reg)) {
		const struct host *h = owner(reg.ip);

		if (h == NULL || reg.guid != h->is.gid.guid || reg.hardware != h->is.hardware ||
		    reg.pkey != h->is.pkey || reg.lid != h->port.lid)
			return "an address is another's, or nobody's";
		n++;
	}
	for (unsigned i = 0; i < all.n; i++) {
		const struct host *h = owner(all.host[i].is.ip);

		if (paths_lid_of_ip(p, all.host[i].is.ip) != (h != NULL ? h->port.lid : 0))
			return "an address leads to another LID than its port has";
		n -= h == &all.host[i];
	}
	return n == 0 ? NULL : "there are more or fewer addresses than are registered";
}

static const char *
judge_host(struct host *h)
{
	static char why[512];
	struct fm_error err = { 0 };
	struct paths *p = NULL;
	const char *wrong;
	bool whole;

	if (source_files.fetch(h->source, &h->replica, &whole, &err) != 0 ||
	    replica_write(&h->replica, all.file, &err) != 0 ||
	    paths_read(all.file, &p, &err) != 0 || p == NULL) {
		snprintf(why, sizeof(why), "%s", err.msg);
		return why;
	}
	wrong = judge(p);
	paths_free(p);
	return wrong;
}

/* Host after host, each until it is right. */
static void
judge_files(int64_t since_ms)
{
	int64_t first_ms = 0;

	find_owners();
	for (unsigned i = 0; i < all.n; i++) {
		const char *wrong;

		while ((wrong = judge_host(&all.host[i])) != NULL) {
			if (now_ms() - since_ms > PATIENCE_MS) {
				fprintf(stderr, "registering: the file of host %u: %s\n", i, wrong);
				exit(1);
			}
			poll(NULL, 0, 10);
		}
		if (i == 0)
			first_ms = now_ms() - since_ms;
	}
	printf("files: %u tell the truth, the first %" PRId64 " ms after the last command, the "
	       "last %" PRId64 " ms\n",
	    all.n, first_ms, now_ms() - since_ms);
	fflush(stdout);
}

static void
set_gone(unsigned from, unsigned to, bool gone)
{
	for (unsigned i = from; i < to; i++)
		all.host[i].gone = gone;
}

static void
change_qpns(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		all.host[i].is.hardware += 0x10000;
	ask_all(from, to, SA_SET);
}

static void
obey(const char *line)
{
	static int64_t since_ms;
	unsigned a = 0, b = 0;
	char word[32];
	int n = sscanf(line, "%31s %u %u", word, &a, &b);

	if (n == 1 && strcmp(word, "files") == 0) {
		judge_files(since_ms);
		return;
	}
	if (n != 3 || a > all.n || b > all.n)
		die("a line is no command");
	if (strcmp(word, "register") == 0)
		ask_all(a, b, SA_SET);
	else if (strcmp(word, "withdraw") == 0)
		ask_all(a, b, SA_DELETE);
	else if (strcmp(word, "swap") == 0)
		swap(a, b);
	else if (strcmp(word, "qpn") == 0)
		change_qpns(a, b);
	else if (strcmp(word, "gone") == 0 || strcmp(word, "back") == 0)
		set_gone(a, b, word[0] == 'g');
	else if (strcmp(word, "forge") == 0 || strcmp(word, "claim") == 0)
		forge(a, b, word[0] == 'c', SA_SET);
	else if (strcmp(word, "unclaim") == 0)
		forge(a, b, true, SA_DELETE);
	else
		die("a line is no command");
	since_ms = now_ms();
	printf("ok: %s", line);
	fflush(stdout);
}

static int
show(const char *file)
{
	struct fm_error err = { 0 };
	struct paths *p = NULL;
	struct blob_reg reg;
	char ip[IP_TEXT];
	size_t at = 0;

	if (paths_read(file, &p, &err) != 0)
		die(err.msg);
	while (p != NULL && paths_next_reg(p, &at, &reg))
		printf("%s 0x%016" PRIx64 " %u 0x%08x 0x%04x\n", ip_text(reg.ip, ip), reg.guid,
		    reg.lid, reg.hardware, reg.pkey);
	paths_free(p);
	return 0;
}

int
main(int argc, char **argv)
{
	struct rlimit files;
	char line[128];

	if (argc == 2)
		return show(argv[1]);
	if (argc != 5)
		die("usage: registering FABRIC HOSTS FOLDER FILE | registering FILE");
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	all.folder = argv[3];
	all.file = argv[4];
	open_hosts(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(line);
	return 0;
}
