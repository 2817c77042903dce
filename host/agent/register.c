/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/register.c - addresses, as they are, to the SA.
 *
 *	interfaces --> records <--> the SA, by a umad file for each port
 *
 * What is due of a record is one time; who changes anything sets it to now.
 */
#include "host/agent/register.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/wire.h"
#include "host/agent/interfaces.h"
#include "host/agent/kernel_port.h"
#include "host/agent/netlink.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "lib/thread.h"

#define MOST_PORTS REPLICA_MOST_OWN
#define NO_PORT MOST_PORTS
#define GSI_QKEY 0x80010000
#define LOOK_MS 2000  /* at SMs of ports, and at a file */
#define FIND_MS 60000 /* ports of the host */
#define TIMEOUT_MS 1000
#define N_RETRIES 3
#define AGAIN_MS 1000	 /* after BUSY or silence, and up to as long besides */
#define UNTOLD_MS 10000	 /* so long hosts may not have been told of what the SA has taken */
#define WITHDRAW_MS 3000 /* at the end */
#define MOST_GIDS 128	 /* of a port, that are looked at for an alias */
#define HALF 2

struct local {
	struct kernel_port at;
	int umad, agent; /* -1: not open */
	struct sa_gid gid;
	uint16_t lid, sm_lid; /* sm_lid 0: it is not ACTIVE */
	uint8_t sm_sl;
	bool told; /* that it cannot be opened */
};

enum stage { UNHELD, HELD, LEAVING };

struct record {
	struct ip_service is;
	uint32_t number; /* of its ServiceID */
	unsigned port;	 /* that it is of, NO_PORT: of none of ours */
	enum stage stage;
	uint32_t tid;	 /* of the request under way, 0: none */
	int64_t due_ms;	 /* INT64_MAX: never */
	int64_t held_ms; /* the SA has taken it last */
	bool seen;	 /* in a look at interfaces, or at what hosts are told */
	uint16_t told;	 /* status + 1 of the refusal that was told; 0: none */
	bool told_other; /* that another port has it */
};

struct registrar {
	struct registrar_set set;
	pthread_mutex_t lock; /* of what follows, but the descriptors */
	struct local port[MOST_PORTS];
	unsigned n_ports;
	FM_VEC(struct record) record;
	struct interface_ips now;
	int ask, listen, signals; /* descriptors; ask, listen -1: there is a file */
	struct stat file;	  /* as it was read */
	uint32_t tid;
	int64_t look_ms, find_ms; /* when they are due */
	struct fm_rng rng;
	bool silence_told, too_many_told;
	uint8_t *umad; /* header and MAD */
};

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

static int64_t
again_ms(struct registrar *r)
{
	return now_ms() + AGAIN_MS + (int64_t)fm_rng_below(&r->rng, AGAIN_MS);
}

/* ----------------------------------------------------------------------- ports */

static void
close_port(struct local *p)
{
	if (p->umad >= 0 && p->agent >= 0)
		umad_unregister(p->umad, p->agent);
	if (p->umad >= 0)
		umad_close_port(p->umad);
	p->umad = p->agent = -1;
}

static bool
open_port(struct local *p)
{
	if (p->umad >= 0)
		return true;
	errno = 0;
	p->umad = umad_open_port(p->at.ca, p->at.number);
	if (p->umad >= 0)
		p->agent = umad_register(p->umad, WIRE_CLASS_SA, SA_CLASS_VERSION, 0, NULL);
	if (p->umad >= 0 && p->agent >= 0)
		return true;
	if (!p->told)
		log_warn("register", "cannot ask the SA by %s port %d: %s; it is tried again",
		    p->at.ca, p->at.number, strerror(errno != 0 ? errno : EIO));
	p->told = true;
	close_port(p);
	return false;
}

static struct local *
port_named(struct registrar *r, const char *ca, int number)
{
	struct local *p;

	for (unsigned i = 0; i < r->n_ports; i++)
		if (strcmp(r->port[i].at.ca, ca) == 0 && r->port[i].at.number == number)
			return &r->port[i];
	if (r->n_ports == MOST_PORTS)
		return NULL;
	p = &r->port[r->n_ports++];
	*p = (struct local){ .at.number = number, .umad = -1, .agent = -1 };
	snprintf(p->at.ca, sizeof(p->at.ca), "%.*s", (int)sizeof(p->at.ca) - 1, ca);
	return p;
}

/* All that is registered of a port is so anew: whoever is asked now may know nothing of it. */
static void
renew_all(struct registrar *r, unsigned port)
{
	for (size_t i = 0; i < r->record.n; i++)
		if (r->record.item[i].port == port && r->record.item[i].due_ms != INT64_MAX)
			r->record.item[i].due_ms = 0;
}

static void
find_port(struct registrar *r, const char *ca, const umad_port_t *k)
{
	struct local *p = port_named(r, ca, k->portnum);
	uint8_t gid[16];

	if (p == NULL)
		return;
	memcpy(gid, &k->gid_prefix, 8); /* both as they are on the wire */
	memcpy(gid + 8, &k->port_guid, 8);
	p->gid = sa_gid_get(gid);
	p->sm_sl = (uint8_t)k->sm_sl;
}

/* Is it in the port's table of GIDs, as an alias? */
static bool
has_gid(const struct local *p, uint64_t guid)
{
	char path[512], text[64];
	uint8_t gid[16];
	FILE *in;
	bool read;

	for (int i = 1; i < MOST_GIDS; i++) {
		snprintf(path, sizeof(path), SYS_INFINIBAND "/%s/" SYS_CA_PORTS_DIR "/%d/gids/%d",
		    p->at.ca, p->at.number, i);
		in = fopen(path, "re");
		if (in == NULL)
			return false;
		read = fgets(text, sizeof(text), in) != NULL;
		fclose(in);
		text[read ? strcspn(text, "\n") : 0] = '\0';
		if (inet_pton(AF_INET6, text, gid) == 1 && sa_gid_get(gid).guid == guid)
			return true;
	}
	return false;
}

static unsigned
port_of(const struct registrar *r, uint64_t guid)
{
	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].gid.guid == guid)
			return i;
	for (unsigned i = 0; i < r->n_ports; i++)
		if (has_gid(&r->port[i], guid))
			return i;
	return NO_PORT;
}

/* A port may have got an alias GUID since it was looked for. */
static void
find_homeless(struct registrar *r)
{
	for (size_t i = 0; i < r->record.n; i++) {
		struct record *rec = &r->record.item[i];

		if (rec->port != NO_PORT)
			continue;
		rec->port = port_of(r, rec->is.gid.guid);
		rec->due_ms = rec->port != NO_PORT ? 0 : INT64_MAX;
	}
}

static void
find_ports(struct registrar *r)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	umad_ca_t ca;

	r->find_ms = now_ms() + FIND_MS;
	for (int i = 0; i < n; i++) {
		if (umad_get_ca(names[i], &ca) != 0)
			continue;
		for (int p = 0; p < UMAD_CA_MAX_PORTS; p++)
			if (ca.ports[p] != NULL && strcmp(ca.ports[p]->link_layer, "Ethernet") != 0)
				find_port(r, names[i], ca.ports[p]);
		umad_release_ca(&ca);
	}
	find_homeless(r);
}

static void
look_at_ports(struct registrar *r)
{
	if (r->find_ms <= now_ms())
		find_ports(r);
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct local *p = &r->port[i], was = *p;
		bool active = kernel_port_number(&p->at, SYS_PORT_STATE) == WIRE_PORT_ACTIVE;

		p->lid = (uint16_t)kernel_port_number(&p->at, SYS_PORT_LID);
		p->sm_lid = active ? (uint16_t)kernel_port_number(&p->at, SYS_PORT_SMLID) : 0;
		if (p->sm_lid != 0 && (was.sm_lid != p->sm_lid || was.lid != p->lid))
			renew_all(r, i);
	}
}

/* --------------------------------------------------------------------- records */

/* One that no other record has. */
static uint32_t
number_for(const struct registrar *r, const struct ip_service *s)
{
	uint32_t number = (uint32_t)fm_hash_bytes(s->pkey, s->ip, sizeof(s->ip));

	for (size_t i = 0; i < r->record.n; i++)
		if (r->record.item[i].number == number) {
			number++;
			i = SIZE_MAX; /* from the beginning */
		}
	return number;
}

/* The same ServiceID, GID and P_Key: what else it tells may change. */
static bool
is_of(const struct record *rec, const struct ip_service *s)
{
	return memcmp(rec->is.ip, s->ip, sizeof(s->ip)) == 0 && rec->is.gid.guid == s->gid.guid &&
	    rec->is.gid.prefix == s->gid.prefix && rec->is.pkey == s->pkey;
}

static void
add_record(struct registrar *r, const struct ip_service *s)
{
	struct record rec = { .is = *s, .port = port_of(r, s->gid.guid), .seen = true };
	char ip[IP_TEXT];

	rec.number = number_for(r, s);
	if (rec.port == NO_PORT)
		log_warn("register",
		    "%s is not registered: its interface has the GID 0x%016" PRIx64 ":0x%016" PRIx64
		    ", which no port of this host has",
		    ip_text(s->ip, ip), s->gid.prefix, s->gid.guid);
	if (rec.port == NO_PORT)
		rec.due_ms = INT64_MAX;
	if (!fm_vec_push(&r->record, rec))
		log_err("register", "out of memory for %s", ip_text(s->ip, ip));
}

static void
take_interface(struct registrar *r, const struct ip_service *s)
{
	size_t n = r->record.n;

	for (size_t i = 0; i < n; i++) {
		struct record *rec = &r->record.item[i];

		if (!is_of(rec, s))
			continue;
		if (rec->is.hardware != s->hardware || rec->stage == LEAVING) {
			rec->is.hardware = s->hardware;
			rec->stage = rec->stage == LEAVING ? HELD : rec->stage;
			rec->tid = 0; /* its answer is of before */
			rec->due_ms = rec->port == NO_PORT ? INT64_MAX : 0;
		}
		rec->seen = true;
		return;
	}
	if (n < REGISTER_MOST)
		add_record(r, s);
	else if (!r->too_many_told)
		log_warn("register",
		    "this host has more than %d addresses of IPoIB: the others "
		    "are not registered",
		    REGISTER_MOST);
	r->too_many_told |= n >= REGISTER_MOST;
}

static void
drop_record(struct registrar *r, struct record *rec)
{
	*rec = r->record.item[--r->record.n];
}

static void
take_interfaces(struct registrar *r)
{
	for (size_t i = 0; i < r->record.n; i++)
		r->record.item[i].seen = false;
	for (size_t i = 0; i < r->now.item.n; i++)
		take_interface(r, &r->now.item.item[i].is);
	for (size_t i = r->record.n; i-- > 0;) {
		struct record *rec = &r->record.item[i];

		if (rec->seen || rec->stage == LEAVING)
			continue;
		if (rec->stage == UNHELD && rec->tid == 0) {
			drop_record(r, rec);
			continue;
		}
		rec->stage = LEAVING;
		rec->tid = 0;
		rec->due_ms = 0;
	}
}

/* False: the file is as it was. */
static bool
file_is_new(struct registrar *r)
{
	struct stat st = { 0 };
	bool is_new;

	(void)!stat(r->set.file, &st);
	is_new = st.st_ino != r->file.st_ino || st.st_size != r->file.st_size ||
	    st.st_mtim.tv_sec != r->file.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != r->file.st_mtim.tv_nsec;
	r->file = st;
	return is_new;
}

/* What cannot be read leaves the records as they are. */
static int
look_at_interfaces(struct registrar *r, struct fm_error *err)
{
	int rc;

	if (r->set.file != NULL && !file_is_new(r))
		return 0;
	rc = r->set.file != NULL ? interfaces_read(&r->now, r->set.file, err)
				 : interfaces_ask(&r->now, r->ask, err);
	if (rc == 0)
		take_interfaces(r);
	return rc;
}

/* ---------------------------------------------------------------------- the SA */

static void
send_request(struct registrar *r, struct record *rec)
{
	struct local *p = &r->port[rec->port];
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = rec->stage == LEAVING ? SA_DELETE : SA_SET,
		.attr = SA_SERVICE_RECORD,
		.mask =
		    rec->stage == LEAVING ? SA_SR_ID | SA_SR_GID | SA_SR_PKEY : IP_SERVICE_MASK };
	struct sa_service_record service;
	uint8_t *mad = umad_get_mad(r->umad);

	rec->due_ms = again_ms(r);
	if (p->sm_lid == 0 || !open_port(p))
		return;
	rec->tid = ++r->tid != 0 ? r->tid : ++r->tid;
	h.tid = rec->tid;
	memset(r->umad, 0, (size_t)umad_size() + WIRE_MAD_BYTES);
	sa_header_put(mad, &h);
	ip_service_put(&rec->is, rec->number, r->set.lease_s, &service);
	sa_record_put(sa_record_of(SA_SERVICE_RECORD), mad + SA_DATA_AT, &service);
	umad_set_addr(r->umad, p->sm_lid, 1, p->sm_sl, GSI_QKEY);
	if (umad_send(p->umad, p->agent, r->umad, WIRE_MAD_BYTES, TIMEOUT_MS, N_RETRIES) != 0) {
		rec->tid = 0;
		close_port(p);
		return;
	}
	/* should the kernel not even tell that nobody answers */
	rec->due_ms = now_ms() + (N_RETRIES + 2) * TIMEOUT_MS;
}

static void
send_due(struct registrar *r)
{
	for (size_t i = 0; i < r->record.n; i++)
		if (r->record.item[i].due_ms <= now_ms())
			send_request(r, &r->record.item[i]);
}

static void
refused(struct registrar *r, struct record *rec, uint16_t status)
{
	char ip[IP_TEXT];

	if (rec->told != status + 1)
		log_warn("register",
		    "the SA does not take %s: status 0x%04x (fmd's log says why; it is asked "
		    "again)",
		    ip_text(rec->is.ip, ip), status);
	rec->told = (uint16_t)(status + 1);
	rec->due_ms = now_ms() + (int64_t)r->set.lease_s * 1000 / HALF;
}

/* How long the SA says it takes it for is what counts. */
static void
taken(struct registrar *r, struct record *rec, const uint8_t *mad)
{
	struct sa_service_record got;
	uint32_t lease_s = r->set.lease_s;
	char ip[IP_TEXT];

	sa_record_get(sa_record_of(SA_SERVICE_RECORD), mad + SA_DATA_AT, &got);
	if (got.lease_s != 0 && got.lease_s < lease_s)
		lease_s = got.lease_s;
	if (rec->stage == UNHELD || rec->told != 0)
		log_info("register", "%s is registered for %u s", ip_text(rec->is.ip, ip), lease_s);
	rec->told = 0;
	rec->stage = HELD;
	rec->held_ms = now_ms();
	rec->due_ms = rec->held_ms + (int64_t)lease_s * 1000 / HALF;
	r->silence_told = false;
}

static void
take_answer(struct registrar *r, struct record *rec, int silence, const uint8_t *mad)
{
	struct sa_header h;
	rec->tid = 0;
	rec->due_ms = again_ms(r);
	sa_header_get(mad, &h);
	if (silence != 0 && !r->silence_told)
		log_warn("register", "the SA at LID %u does not answer; it is asked again",
		    r->port[rec->port].sm_lid);
	r->silence_told |= silence != 0;
	if (silence != 0 || h.status == WIRE_STATUS_BUSY)
		return;
	if (rec->stage == LEAVING)
		drop_record(r, rec);
	else if (h.status == SA_OK)
		taken(r, rec, mad);
	else
		refused(r, rec, h.status);
}

static void
receive(struct registrar *r, struct local *p)
{
	for (;;) {
		int length = WIRE_MAD_BYTES, n;
		const uint8_t *mad = umad_get_mad(r->umad);
		struct sa_header h;

		n = umad_recv(p->umad, r->umad, &length, 0);
		if (n < 0 && n != -EAGAIN && n != -ETIMEDOUT && n != -EINTR)
			close_port(p); /* opened anew with the next request */
		if (n < 0)
			return;
		sa_header_get(mad, &h);
		for (size_t i = 0; i < r->record.n; i++)
			if (r->record.item[i].tid != 0 &&
			    r->record.item[i].tid == (uint32_t)h.tid) {
				take_answer(r, &r->record.item[i], umad_status(r->umad), mad);
				break;
			}
	}
}

/* ------------------------------------------------------------------------ loop */

static int
wait_ms(const struct registrar *r)
{
	int64_t due = r->look_ms, left;

	for (size_t i = 0; i < r->record.n; i++)
		if (r->record.item[i].due_ms < due)
			due = r->record.item[i].due_ms;
	left = due - now_ms();
	return left < 0 ? 0 : (int)left;
}

static void
look(struct registrar *r)
{
	static bool told;
	struct fm_error err = { 0 };
	int rc;

	r->look_ms = now_ms() + LOOK_MS;
	look_at_ports(r);
	rc = look_at_interfaces(r, &err);
	if (rc != 0 && !told)
		log_warn("register", "%s; what is registered stays", err.msg);
	told = rc != 0;
}

/* One turn; true: a signal has come. */
static bool
turn(struct registrar *r)
{
	struct pollfd fd[MOST_PORTS + 2];
	unsigned n = 0;
	bool signalled;

	fd[n++] = (struct pollfd){ .fd = r->signals, .events = POLLIN };
	fd[n++] = (struct pollfd){ .fd = r->listen, .events = POLLIN };
	for (unsigned i = 0; i < r->n_ports; i++)
		fd[n++] = (struct pollfd){ .fd = r->port[i].umad, .events = POLLIN };
	if (poll(fd, n, wait_ms(r)) < 0)
		return false;
	pthread_mutex_lock(&r->lock);
	signalled = fd[0].revents != 0;
	if (fd[1].revents != 0 && netlink_drain(r->listen))
		r->look_ms = 0;
	for (unsigned i = 0; i + 2 < n; i++)
		if (fd[i + 2].revents != 0)
			receive(r, &r->port[i]);
	if (r->look_ms <= now_ms())
		look(r);
	send_due(r);
	pthread_mutex_unlock(&r->lock);
	return signalled;
}

static void
withdraw(struct registrar *r)
{
	int64_t until = now_ms() + WITHDRAW_MS;

	r->now.item.n = 0;
	take_interfaces(r);
	while (r->record.n > 0 && now_ms() < until) {
		struct pollfd fd[MOST_PORTS];

		send_due(r);
		for (unsigned i = 0; i < r->n_ports; i++)
			fd[i] = (struct pollfd){ .fd = r->port[i].umad, .events = POLLIN };
		(void)!poll(fd, r->n_ports, 100);
		for (unsigned i = 0; i < r->n_ports; i++)
			if (fd[i].revents != 0)
				receive(r, &r->port[i]);
		for (size_t i = r->record.n; i-- > 0;)
			if (r->record.item[i].port == NO_PORT)
				drop_record(r, &r->record.item[i]);
	}
	if (r->record.n > 0)
		log_warn("register",
		    "%zu addresses are not withdrawn, as the SA does not answer: they end with "
		    "their leases",
		    r->record.n);
}

void
registrar_run(struct registrar *r)
{
	while (!turn(r))
		;
	pthread_mutex_lock(&r->lock);
	withdraw(r);
	_exit(0);
}

/* ------------------------------------------------------------- what hosts know */

static void
judge_one(struct record *rec, const struct blob_reg *told)
{
	char ip[IP_TEXT];

	if (memcmp(rec->is.ip, told->ip, sizeof(told->ip)) != 0)
		return;
	rec->seen = true;
	if (told->guid == rec->is.gid.guid)
		rec->told_other = false;
	else if (!rec->told_other && rec->stage == HELD) {
		rec->told_other = true;
		log_warn("register",
		    "hosts are told that %s is of the port 0x%016" PRIx64 ", not of 0x%016" PRIx64
		    " of this host (fmctl dist)",
		    ip_text(told->ip, ip), told->guid, rec->is.gid.guid);
	}
}

/* What the administrator says of addresses. */
static void
judge_file(struct registrar *r, const struct replica_blob *b)
{
	struct blob_reg told = { 0 };

	for (size_t at = 0; at + BLOB_ADDR_BYTES <= b->n; at += BLOB_ADDR_BYTES) {
		memcpy(told.ip, b->bytes + at, sizeof(told.ip));
		told.guid = blob_get64(b->bytes + at + 16);
		for (size_t i = 0; i < r->record.n; i++)
			judge_one(&r->record.item[i], &told);
	}
}

void
registrar_judge(struct registrar *r, const struct replica *told)
{
	struct replica_place at = { 0 };
	struct blob_reg reg;

	if (told->at.epoch == 0)
		return;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->record.n; i++)
		r->record.item[i].seen = false;
	judge_file(r, &told->one[BLOB_ADDR]);
	while (replica_next_reg(told, &at, &reg))
		for (size_t i = 0; i < r->record.n; i++)
			judge_one(&r->record.item[i], &reg);
	for (size_t i = 0; i < r->record.n; i++) {
		struct record *rec = &r->record.item[i];

		if (rec->stage == HELD && !rec->seen && rec->tid == 0 &&
		    now_ms() - rec->held_ms > UNTOLD_MS)
			rec->due_ms = 0;
	}
	pthread_mutex_unlock(&r->lock);
}

/* ------------------------------------------------------------------------ start */

static int
take_signals(struct registrar *r, struct fm_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return r->signals >= 0
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "cannot wait for signals: %s", strerror(errno));
}

static int
listen_to_kernel(struct registrar *r, struct fm_error *err)
{
	const unsigned groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;

	r->ask = netlink_open(0, err);
	if (r->ask < 0)
		return err->kind;
	r->listen = netlink_open(groups, err);
	return r->listen >= 0 ? 0 : err->kind;
}

int
registrar_open(const struct registrar_set *set, struct registrar **out, struct fm_error *err)
{
	struct registrar *r = calloc(1, sizeof(*r));
	int rc = r != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for addresses");

	if (rc != 0)
		return rc;
	r->set = *set;
	r->ask = r->listen = r->signals = -1;
	pthread_mutex_init(&r->lock, NULL);
	r->umad = malloc((size_t)umad_size() + WIRE_MAD_BYTES);
	if (r->umad == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for addresses");
	fm_rng_seed(&r->rng, (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32);
	if (rc == 0 && set->file == NULL)
		rc = listen_to_kernel(r, err);
	if (rc == 0) {
		look_at_ports(r); /* before it: interfaces are of ports */
		rc = look_at_interfaces(r, err);
	}
	if (rc == 0)
		rc = take_signals(r, err);
	*out = r; /* of the process, which ends where this fails */
	return rc;
}
