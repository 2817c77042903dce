/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acm_probe - a host that asks ibacm for paths, and compares them with the SA's, byte by byte.
 *
 *	acm_probe fill FILE [rate|mtu|sl|dlid]	a file of paths from this node, made of the SA's
 *						answers; the word spoils the paths to one host
 *	acm_probe addresses			lines of ibacm_addr.cfg for this node
 *	acm_probe hosts				"ADDRESS NAME" of all, as fmd's dist_addresses
 *	acm_probe serve PROGRAM [ARGS...]	in place of this program, PROGRAM with the sockets
 *						that systemd would give to ibacm
 *	acm_probe pairs N SEED WAY [PID]	N destinations by WAY: netlink (of the ibacm of that
 *						PID), librdmacm, or by ibacm's socket: all forms
 *						(socket), by GID and LID (paths), explicitly of the
 *						SA (query), with what a file cannot judge (beyond)
 *	acm_probe rate N SEED WAY [PID]		how long they take, nothing compared
 *
 * pairs prints "asked N: H found, S by the SA, F failed, D differ" and the first that does; exit
 * 1 when there is one.  Host k has the addresses 10.77.K.K and fd77::K:K, K its LID.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/acm.h>
#include <infiniband/umad.h>
#include <linux/netlink.h>
#include <rdma/ib_user_sa.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/mad/umad_agent.h"
#include "lib/rng.h"
#include "tests/unit/paths_maker.h"

#define GSI_QKEY 0x80010000
#define SA_KEY 1 /* the default; P_KeyTableRecords are for the trusted */
#define TIMEOUT_MS 10000
#define SERVER "/run/ibacm.sock"
#define LISTENING "/run/ibacm-unix.sock"
#define PATH_BYTES 64
#define GROUP_MASK (1 << (RDMA_NL_GROUP_LS - 1))
#define NOBODY_LEAF 1

struct host {
	uint64_t guid;
	uint16_t lid;
	bool is_switch;
	char name[65];
};

static struct umad_agent *agent;
static umad_port_t own;
static FM_VEC(struct host) hosts;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "acm_probe: %s: %s\n", what, why);
	exit(2);
}

/* ------------------------------------------------------------------------ SA */

static void
open_sa(void)
{
	static const struct umad_agent_class class = {
		.mgmt_class = WIRE_CLASS_SA, .class_version = SA_CLASS_VERSION, .rmpp = true
	};
	struct fm_error err;

	umad_init();
	if (umad_get_port(NULL, 0, &own) != 0)
		die("port", "there is none");
	if (umad_agent_open("umad", &class, &agent, &err) != 0)
		die("umad", err.msg);
}

/* The answer, good or not, until the next question. */
static struct umad_message
ask(uint8_t method, uint16_t attr, uint64_t mask, const void *want, struct sa_header *h)
{
	static uint32_t tid;
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };
	struct mad_addr to = { .lid = (uint16_t)own.sm_lid, .qpn = 1, .qkey = GSI_QKEY };
	struct sa_header q = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.tid = ++tid,
		.sm_key = attr == SA_PKEY_RECORD ? SA_KEY : 0,
		.mask = mask };
	struct umad_message m;
	struct fm_error err;

	sa_header_put(mad, &q);
	sa_record_put(sa_record_of(attr), mad + SA_DATA_AT, want);
	if (umad_agent_send(agent, &to, mad, sizeof(mad), TIMEOUT_MS, 1, &err) != 0)
		die("SA", err.msg);
	if (umad_agent_receive(agent, 3 * TIMEOUT_MS, &m) != 1 || m.status != 0)
		die("SA", "timed out");
	sa_header_get(m.bytes, h);
	return m;
}

typedef void (*each_record)(void *arg, const union sa_any *r);

/* Every record of a table. */
static void
ask_table(uint16_t attr, uint64_t mask, const void *want, each_record each, void *arg)
{
	const struct sa_record *record = sa_record_of(attr);
	struct sa_header h;
	struct umad_message m = ask(SA_GET_TABLE, attr, mask, want, &h);
	union sa_any any;

	if (h.status != 0)
		die(record->name, sa_status_words(h.status));
	for (size_t at = SA_DATA_AT; h.attr_words > 0 && at + record->bytes <= m.n_bytes;
	     at += 8u * h.attr_words) {
		sa_record_get(record, m.bytes + at, &any);
		each(arg, &any);
	}
}

static void
take_host(void *arg, const union sa_any *r)
{
	struct host h = { .guid = r->node.info.port_guid,
		.lid = r->node.lid,
		.is_switch = r->node.info.node_type == WIRE_NODE_SWITCH };

	(void)arg;
	memcpy(h.name, r->node.desc, 64);
	h.name[strcspn(h.name, " ")] = '\0';
	if (!fm_vec_push(&hosts, h))
		abort();
}

static int
by_lid(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->lid - y->lid;
}

static void
find_hosts(void)
{
	union sa_any any = { 0 };

	ask_table(SA_NODE_RECORD, 0, &any, take_host, NULL);
	if (hosts.n == 0)
		die("NodeRecords", "there are none");
	qsort(hosts.item, hosts.n, sizeof(*hosts.item), by_lid);
}

static struct sa_gid
gid_of(uint64_t guid)
{
	return (struct sa_gid){ be64toh(own.gid_prefix), guid };
}

static void
ip4_of(uint16_t lid, uint8_t ip[4])
{
	memcpy(ip, (uint8_t[]){ 10, 77, (uint8_t)(lid >> 8), (uint8_t)lid }, 4);
}

static void
ip6_of(uint16_t lid, uint8_t ip[16])
{
	memset(ip, 0, 16);
	memcpy(ip, (uint8_t[]){ 0xfd, 0x77 }, 2);
	memcpy(ip + 14, (uint8_t[]){ (uint8_t)(lid >> 8), (uint8_t)lid }, 2);
}

/* ----------------------------------------------------------------------- fill */

struct filling {
	struct paths_maker maker;
	const char *spoil;
	uint16_t spoilt; /* LID, of whom */
	uint8_t *row;
	struct {
		uint8_t mtu, rate, sl;
	} cls[256];
	unsigned n_classes;
	FM_VEC(uint16_t) keys[UINT16_MAX + 1];
};

static bool
is_spoilt(const struct filling *f, uint16_t lid, const char *how)
{
	return f->spoilt == lid && strcmp(f->spoil, how) == 0;
}

static void
take_path(void *arg, const union sa_any *any)
{
	struct filling *f = arg;
	struct sa_path_record r = any->path;
	unsigned c = 1;

	if (!r.reversible)
		return;
	if (r.life != 0)
		f->maker.subnet.life = r.life;
	r.mtu = (uint8_t)(r.mtu - is_spoilt(f, r.dlid, "mtu"));
	r.rate = is_spoilt(f, r.dlid, "rate") ? sa_rate_code(2 * sa_rate_mbps(r.rate)) : r.rate;
	r.sl = (uint8_t)(r.sl ^ is_spoilt(f, r.dlid, "sl"));
	while (c < f->n_classes &&
	    (f->cls[c].mtu != r.mtu || f->cls[c].rate != r.rate || f->cls[c].sl != r.sl))
		c++;
	if (c == 256)
		die("classes", "too many");
	if (c == f->n_classes) {
		maker_class(&f->maker, r.mtu, sa_rate_mbps(r.rate), r.sl);
		f->cls[f->n_classes].mtu = r.mtu;
		f->cls[f->n_classes].rate = r.rate;
		f->cls[f->n_classes++].sl = r.sl;
	}
	f->row[r.dlid] = (uint8_t)c;
}

static void
take_keys(void *arg, const union sa_any *any)
{
	const struct sa_pkey_record *r = &any->pkey;
	struct filling *f = arg;

	for (int i = 0; i < 32; i++)
		if ((r->pkey[i] & 0x7fff) != 0 && !fm_vec_push(&f->keys[r->lid], r->pkey[i]))
			abort();
}

/* By partition, full ones first. */
static int
by_partition(const void *a, const void *b)
{
	uint16_t x, y;

	memcpy(&x, a, 2);
	memcpy(&y, b, 2);
	return (x & 0x7fff) != (y & 0x7fff) ? (x & 0x7fff) - (y & 0x7fff) : y - x;
}

static void
put_host(struct filling *f, const struct host *h)
{
	uint16_t *keys = f->keys[h->lid].item, n = (uint16_t)f->keys[h->lid].n;
	struct blob_port port = { .guid = h->guid,
		.leaf = be64toh(own.port_guid) == h->guid ? 0 : NOBODY_LEAF,
		.flags = h->is_switch ? BLOB_PORT_SWITCH : 0 };
	uint8_t ip[16] = { [10] = 0xff, 0xff };

	if (n > 0)
		qsort(keys, n, sizeof(*keys), by_partition);
	port.pkset = maker_pkset(&f->maker, keys, n);
	maker_port(&f->maker, h->lid, &port);
	if (h->is_switch)
		return;
	maker_name(&f->maker, h->name, h->lid);
	ip4_of(h->lid, ip + 12);
	maker_addr(&f->maker, ip, h->guid);
	ip6_of(h->lid, ip);
	maker_addr(&f->maker, ip, h->guid);
}

/* The last host that is not our own. */
static size_t
victim(void)
{
	size_t i = hosts.n - 1;

	while (hosts.item[i].is_switch || hosts.item[i].lid == own.base_lid)
		i--;
	return i;
}

static void
swap_guids(void)
{
	size_t a = victim(), b = a - 1;
	uint64_t guid = hosts.item[a].guid;

	while (hosts.item[b].is_switch || hosts.item[b].lid == own.base_lid)
		b--;
	hosts.item[a].guid = hosts.item[b].guid;
	hosts.item[b].guid = guid;
}

static int
fill(const char *path, const char *spoil)
{
	static struct filling f = { .n_classes = 1 };
	struct sa_path_record from = { .sgid = gid_of(be64toh(own.port_guid)) };
	struct paths_bytes section[PATHS_SECTIONS];
	struct fm_error err;
	union sa_any any = { 0 };

	f.spoil = spoil;
	f.spoilt = spoil[0] != '\0' ? hosts.item[victim()].lid : 0;
	maker_init(&f.maker);
	f.maker.subnet.gid_prefix = be64toh(own.gid_prefix);
	f.maker.subnet.lid_top = hosts.item[hosts.n - 1].lid;
	f.maker.subnet.n_leaves = 1;
	f.row = calloc((size_t)f.maker.subnet.lid_top + 1, 1);
	if (f.row == NULL)
		abort();
	maker_link(&f.maker, 5, UINT32_MAX);
	ask_table(SA_PATH_RECORD, SA_PR_SGID, &from, take_path, &f);
	ask_table(SA_PKEY_RECORD, 0, &any, take_keys, &f);
	if (strcmp(spoil, "dlid") == 0)
		swap_guids();
	for (size_t i = 0; i < hosts.n; i++)
		put_host(&f, &hosts.item[i]);
	maker_row(&f.maker, 0, f.row);
	maker_done(&f.maker, section);
	if (paths_write(path, (struct paths_epoch){ 1, 1 }, section, &err) != 0)
		die("fill", err.msg);
	printf("%zu ports, %u classes\n", hosts.n, f.n_classes - 1);
	return 0;
}

/* One host's addresses, and what stands behind each. */
static void
print_addresses(const struct host *h, const char *behind)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t ip[16];

	ip4_of(h->lid, ip);
	printf("%s %s\n", inet_ntop(AF_INET, ip, text, sizeof(text)), behind);
	ip6_of(h->lid, ip);
	printf("%s %s\n", inet_ntop(AF_INET6, ip, text, sizeof(text)), behind);
}

static int
addresses(void)
{
	char behind[UMAD_CA_NAME_LEN + 32];

	snprintf(behind, sizeof(behind), "%s %d default", own.ca_name, own.portnum);
	for (size_t i = 0; i < hosts.n; i++)
		if (hosts.item[i].lid == own.base_lid) {
			printf("%s %s\n", hosts.item[i].name, behind);
			print_addresses(&hosts.item[i], behind);
		}
	return 0;
}

static int
all_hosts(void)
{
	for (size_t i = 0; i < hosts.n; i++)
		if (!hosts.item[i].is_switch)
			print_addresses(&hosts.item[i], hosts.item[i].name);
	return 0;
}

/* ---------------------------------------------------------------------- serve */

static int
netlink_socket(void)
{
	struct sockaddr_nl at = {
		.nl_family = AF_NETLINK, .nl_pid = (uint32_t)getpid(), .nl_groups = GROUP_MASK
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		die("netlink", strerror(errno));
	return fd;
}

/* 3: where programs connect to; 4: what would be the kernel's. */
static int
serve(char **argv)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = LISTENING };
	int unix_fd = socket(AF_UNIX, SOCK_STREAM, 0), netlink_fd;
	char pid[16];

	unlink(LISTENING);
	unlink(SERVER);
	if (unix_fd < 0 || bind(unix_fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(unix_fd, 16) != 0 || symlink(LISTENING, SERVER) != 0)
		die(LISTENING, strerror(errno));
	netlink_fd = netlink_socket();
	/* beyond both, so that neither falls onto the other */
	if (dup2(unix_fd, 103) < 0 || dup2(netlink_fd, 104) < 0 || dup2(103, 3) < 0 ||
	    dup2(104, 4) < 0)
		die("dup2", strerror(errno));
	close(103);
	close(104);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "2", 1);
	execv(argv[0], argv);
	die(argv[0], strerror(errno));
	return 2;
}

/* ----------------------------------------------------------------- one request */

/* How a destination may be named. */
enum form {
	BY_GID,
	BY_LID,
	BY_LIDS,
	BY_FLOW,
	BY_CLASS,
	BY_GIDS,
	BY_KEY,
	BY_SERVICE, /* as the kernel's RDMA CM does always */
	BY_TCLASS,
	BY_NAME,
	BY_IP4,
	BY_IP6,
	/* what a file cannot judge */
	BY_SL,
	BY_MTU
};

struct request {
	enum form form;
	const struct host *to;
	struct sa_path_record want; /* as the SA is asked */
	uint64_t mask;
};

static uint16_t
own_key(void)
{
	uint16_t key = own.pkeys[0];

	for (unsigned i = 0; i < own.pkeys_size; i++)
		if ((own.pkeys[i] & 0x7fff) == 0x7fff)
			key = own.pkeys[i];
	return key;
}

static void
ask_beyond(struct request *q)
{
	const struct {
		enum form form;
		struct sa_path_record want;
		uint64_t mask;
	} rows[] = { { BY_TCLASS, { .tclass = 5 }, SA_PR_TCLASS },
		{ BY_FLOW, { .flow_label = 77 }, SA_PR_FLOW_LABEL },
		{ BY_CLASS, { .qos_class = 3 }, SA_PR_QOS_CLASS },
		{ BY_SERVICE, { .service_id = 0x1234 }, SA_PR_SERVICE_ID },
		{ BY_SL, { .sl = 1 }, SA_PR_SL },
		{ BY_MTU, { .mtu_selector = SA_LESS, .mtu = 4 }, SA_PR_MTU_SELECTOR | SA_PR_MTU } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].form == q->form) {
			q->want.tclass = rows[i].want.tclass;
			q->want.flow_label = rows[i].want.flow_label;
			q->want.qos_class = rows[i].want.qos_class;
			q->want.service_id = rows[i].want.service_id;
			q->want.sl = rows[i].want.sl;
			q->want.mtu_selector = rows[i].want.mtu_selector;
			q->want.mtu = rows[i].want.mtu;
			q->mask |= rows[i].mask;
		}
}

/* A LID of the host's, any, where it has several and both sides are named by LIDs. */
static uint16_t
lid_of(enum form form, const struct host *to)
{
	static unsigned next;

	return form == BY_LIDS && !to->is_switch
	    ? (uint16_t)(to->lid + (next++ & ((1u << own.lmc) - 1)))
	    : to->lid;
}

static struct request
request_of(enum form form, const struct host *to)
{
	struct request q = { .form = form,
		.to = to,
		.want = { .sgid = gid_of(be64toh(own.port_guid)), .reversible = 1 },
		.mask = SA_PR_SGID | SA_PR_REVERSIBLE };

	if (form == BY_LID || form == BY_LIDS) {
		q.want.dlid = lid_of(form, to);
		q.mask |= SA_PR_DLID;
	} else {
		q.want.dgid = gid_of(to->guid);
		q.mask |= SA_PR_DGID;
	}
	if (form == BY_LIDS) {
		q.want.sgid = (struct sa_gid){ 0 };
		q.want.slid = (uint16_t)own.base_lid;
		q.mask ^= SA_PR_SGID | SA_PR_SLID;
	}
	if (form >= BY_KEY && form <= BY_IP6 && form != BY_TCLASS) {
		q.want.pkey = own_key();
		q.mask |= SA_PR_PKEY;
	}
	ask_beyond(&q);
	return q;
}

/* The SA's 64 bytes; false: it has none. */
static bool
sa_says(const struct request *q, uint8_t path[PATH_BYTES])
{
	struct sa_header h;
	struct umad_message m = ask(SA_GET, SA_PATH_RECORD, q->mask, &q->want, &h);

	memcpy(path, m.bytes + SA_DATA_AT, PATH_BYTES);
	return h.status == 0;
}

/* -------------------------------------------------------------------- by socket */

static int
connect_unix(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = SERVER };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		die(SERVER, strerror(errno));
	return fd;
}

static struct acm_ep_addr_data *
add_address(struct acm_msg *msg, uint16_t type, uint32_t flags)
{
	struct acm_ep_addr_data *a =
	    (struct acm_ep_addr_data *)(msg->data + msg->hdr.length - ACM_MSG_HDR_LENGTH);

	a->type = type;
	a->flags = flags;
	msg->hdr.length += ACM_MSG_EP_LENGTH;
	return a;
}

static void
put_address(struct acm_msg *msg, enum form form, uint16_t lid, const char *name, uint32_t flags)
{
	uint16_t type = form == BY_NAME ? ACM_EP_INFO_NAME
	    : form == BY_IP4		? ACM_EP_INFO_ADDRESS_IP
					: ACM_EP_INFO_ADDRESS_IP6;
	struct acm_ep_addr_data *a = add_address(msg, type, flags);

	if (form == BY_NAME)
		snprintf((char *)a->info.name, ACM_MAX_ADDRESS, "%s", name);
	else if (form == BY_IP4)
		ip4_of(lid, a->info.addr);
	else
		ip6_of(lid, a->info.addr);
}

static const char *
own_name(void)
{
	for (size_t i = 0; i < hosts.n; i++)
		if (hosts.item[i].lid == own.base_lid)
			return hosts.item[i].name;
	return "";
}

static bool
has_address(enum form form)
{
	return form >= BY_NAME && form <= BY_IP6;
}

static bool
ask_socket(const struct request *q, uint32_t flags, uint8_t path[PATH_BYTES])
{
	static int fd = -1;
	struct acm_msg msg = { .hdr = { .version = ACM_VERSION,
				   .opcode = ACM_OP_RESOLVE,
				   .length = ACM_MSG_HDR_LENGTH } };
	ssize_t n;

	if (fd < 0)
		fd = connect_unix();
	if (has_address(q->form)) {
		put_address(&msg, q->form, (uint16_t)own.base_lid, own_name(), ACM_EP_FLAG_SOURCE);
		put_address(&msg, q->form, q->to->lid, q->to->name, ACM_EP_FLAG_DEST);
	} else {
		struct acm_ep_addr_data *a = add_address(&msg, ACM_EP_INFO_PATH, flags);
		struct sa_path_record want = q->want;

		if (q->form == BY_GID || q->form == BY_LID)
			want.sgid = (struct sa_gid){ 0 }; /* ibacm knows whose port it is */
		sa_record_put(sa_record_of(SA_PATH_RECORD), (uint8_t *)&a->info, &want);
	}
	if (send(fd, &msg, msg.hdr.length, 0) != msg.hdr.length)
		die(SERVER, strerror(errno));
	n = recv(fd, &msg, sizeof(msg), 0);
	if (n < ACM_MSG_HDR_LENGTH || n != msg.hdr.length)
		die(SERVER, "it has gone");
	if (msg.hdr.status != 0)
		return false;
	if (n != ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH ||
	    ((struct acm_ep_addr_data *)msg.data)[0].type != ACM_EP_INFO_PATH ||
	    (msg.hdr.opcode & ACM_OP_ACK) == 0)
		die(SERVER, "its answer has another form");
	memcpy(path, &((struct acm_ep_addr_data *)msg.data)[0].info, PATH_BYTES);
	return true;
}

static bool
by_socket(const struct request *q, uint8_t path[PATH_BYTES])
{
	return ask_socket(q, 0, path);
}

/* What the SA says, as ib_acme -v asks. */
static bool
by_query(const struct request *q, uint8_t path[PATH_BYTES])
{
	return ask_socket(q, ACM_FLAGS_QUERY_SA, path);
}

/* ------------------------------------------------------------------- by netlink */

struct nl_request {
	struct nlmsghdr h;
	uint8_t bytes[512];
};

static void
put_attr(struct nl_request *r, uint16_t type, const void *value, uint16_t n)
{
	struct nlattr *a = (struct nlattr *)((uint8_t *)r + NLMSG_ALIGN(r->h.nlmsg_len));

	a->nla_type = type | RDMA_NLA_F_MANDATORY;
	a->nla_len = (uint16_t)(NLA_HDRLEN + n);
	memcpy((uint8_t *)a + NLA_HDRLEN, value, n);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static uint32_t served_by; /* the netlink port of ibacm */

/* As ib_sa of the kernel asks. */
static void
send_netlink(int fd, const struct request *q, uint32_t seq)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = served_by };
	struct nl_request r = { .h = { .nlmsg_type =
					   RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_RESOLVE),
				    .nlmsg_flags = NLM_F_REQUEST,
				    .nlmsg_seq = seq } };
	struct rdma_ls_resolve_header *h = (struct rdma_ls_resolve_header *)r.bytes;
	uint8_t gid[16];

	snprintf((char *)h->device_name, LS_DEVICE_NAME_MAX, "%s", own.ca_name);
	h->port_num = (uint8_t)own.portnum;
	h->path_use = seq % 2 != 0 ? LS_RESOLVE_PATH_USE_ALL : LS_RESOLVE_PATH_USE_UNIDIRECTIONAL;
	r.h.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(*h)));
	if (q->want.pkey != 0)
		put_attr(&r, LS_NLA_TYPE_PKEY, &q->want.pkey, 2);
	if (q->want.service_id != 0)
		put_attr(&r, LS_NLA_TYPE_SERVICE_ID, &q->want.service_id, 8);
	if (q->want.tclass != 0)
		put_attr(&r, LS_NLA_TYPE_TCLASS, &q->want.tclass, 1);
	sa_gid_put(gid, q->want.sgid);
	put_attr(&r, LS_NLA_TYPE_SGID, gid, 16);
	sa_gid_put(gid, q->want.dgid);
	put_attr(&r, LS_NLA_TYPE_DGID, gid, 16);
	if (sendto(fd, &r, r.h.nlmsg_len, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("netlink", strerror(errno));
}

static bool
by_netlink(const struct request *q, uint8_t path[PATH_BYTES])
{
	static uint32_t seq;
	static int fd = -1;
	struct nl_request r;
	ssize_t n;

	if (fd < 0) {
		struct timeval limit = { .tv_sec = 30 };

		fd = netlink_socket();
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	}
	send_netlink(fd, q, ++seq);
	do {
		n = recv(fd, &r, sizeof(r), 0);
		if (n < 0 && errno != EINTR) /* as it is when we were stopped */
			die("netlink", strerror(errno));
	} while (n < 0 || r.h.nlmsg_seq != seq);
	if ((r.h.nlmsg_flags & RDMA_NL_LS_F_ERR) != 0)
		return false;
	if ((size_t)n != NLMSG_HDRLEN + NLA_HDRLEN + sizeof(struct ib_path_rec_data))
		die("netlink", "its answer has another form");
	memcpy(
	    path, r.bytes + NLA_HDRLEN + offsetof(struct ib_path_rec_data, path_rec), PATH_BYTES);
	return true;
}

/* ----------------------------------------------------------------- by librdmacm */

static bool
by_librdmacm(const struct request *q, uint8_t path[PATH_BYTES])
{
	struct sockaddr_in from4 = { .sin_family = AF_INET };
	struct sockaddr_in6 from6 = { .sin6_family = AF_INET6 };
	bool is4 = q->form == BY_IP4;
	struct rdma_addrinfo *found,
	    hints = { .ai_family = is4 ? AF_INET : AF_INET6,
		    .ai_port_space = RDMA_PS_TCP,
		    .ai_src_addr = is4 ? (struct sockaddr *)&from4 : (struct sockaddr *)&from6,
		    .ai_src_len = is4 ? sizeof(from4) : sizeof(from6) };
	char text[INET6_ADDRSTRLEN];
	uint8_t ip[16];
	bool has;

	ip4_of((uint16_t)own.base_lid, (uint8_t *)&from4.sin_addr);
	ip6_of((uint16_t)own.base_lid, (uint8_t *)&from6.sin6_addr);
	(is4 ? ip4_of : ip6_of)(q->to->lid, ip);
	inet_ntop(hints.ai_family, ip, text, sizeof(text));
	if (rdma_getaddrinfo(text, NULL, &hints, &found) != 0)
		die("rdma_getaddrinfo", strerror(errno));
	has = found->ai_route_len == sizeof(struct ibv_path_data);
	if (has)
		memcpy(path, &((struct ibv_path_data *)found->ai_route)->path, PATH_BYTES);
	rdma_freeaddrinfo(found);
	return has;
}

/* ----------------------------------------------------------------------- pairs */

/* How often the service has found a path, and how often it has asked the SA. */
static void
counters(uint64_t *found, uint64_t *asked)
{
	struct acm_msg msg = { .hdr = { .version = ACM_VERSION, .opcode = ACM_OP_PERF_QUERY } };
	int fd = connect_unix();
	ssize_t n;

	msg.hdr.length = htobe16(ACM_MSG_HDR_LENGTH);
	if (send(fd, &msg, ACM_MSG_HDR_LENGTH, 0) != ACM_MSG_HDR_LENGTH)
		die(SERVER, strerror(errno));
	n = recv(fd, &msg, sizeof(msg), 0);
	if (n != ACM_MSG_HDR_LENGTH + 8 * ACM_MAX_COUNTER)
		die(SERVER, "it tells no counters");
	*found = be64toh(msg.perf_data[ACM_CNTR_ROUTE_CACHE]);
	*asked = be64toh(msg.perf_data[ACM_CNTR_ROUTE_QUERY]);
	close(fd);
}

static void
show(const struct request *q, const uint8_t *theirs, const uint8_t *sas)
{
	printf("to %s LID %u, form %d\n", q->to->name, q->to->lid, q->form);
	for (int who = 0; who < 2; who++) {
		printf("%s", who == 0 ? "ibacm" : "SA   ");
		for (int i = 0; i < PATH_BYTES; i++)
			printf("%s%02x", i % 4 == 0 ? " " : "", (who == 0 ? theirs : sas)[i]);
		printf("\n");
	}
}

static const struct way {
	const char *word;
	bool (*ask)(const struct request *q, uint8_t path[PATH_BYTES]);
	enum form first, last; /* forms that it has */
} ways[] = { { "socket", by_socket, BY_GID, BY_IP6 }, { "paths", by_socket, BY_GID, BY_TCLASS },
	{ "beyond", by_socket, BY_SL, BY_MTU }, { "query", by_query, BY_GID, BY_TCLASS },
	{ "netlink", by_netlink, BY_GIDS, BY_TCLASS },
	{ "librdmacm", by_librdmacm, BY_IP4, BY_IP6 } };

static const struct way *
way_of(const char *word)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].word, word) == 0)
			return &ways[i];
	die(word, "is no way to ask");
	return NULL;
}

/* Hosts in random order, each before any a second time. */
static const struct host *
next_port(struct fm_rng *rng)
{
	static size_t at;

	if (at == 0)
		for (size_t i = hosts.n - 1; i > 0; i--) {
			size_t k = fm_rng_below(rng, (uint32_t)i + 1);
			struct host h = hosts.item[i];

			hosts.item[i] = hosts.item[k];
			hosts.item[k] = h;
		}
	at = at == hosts.n - 1 ? 0 : at + 1;
	return &hosts.item[at];
}

/* Switches have neither names nor addresses. */
static const struct host *
next_host(struct fm_rng *rng, const struct way *way)
{
	const struct host *h;

	do
		h = next_port(rng);
	while (h->is_switch && has_address(way->first));
	return h;
}

static enum form
next_form(struct fm_rng *rng, const struct way *way, const struct host *to)
{
	enum form form = way->first + fm_rng_below(rng, (uint32_t)(way->last - way->first + 1));

	return to->is_switch && has_address(form) ? BY_GIDS : form;
}

static int
pairs(unsigned n, uint64_t seed, const struct way *way)
{
	uint64_t found[2], by_sa[2];
	unsigned failed = 0, differ = 0;
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	counters(&found[0], &by_sa[0]);
	for (unsigned i = 0; i < n; i++) {
		uint8_t theirs[PATH_BYTES] = { 0 }, sas[PATH_BYTES] = { 0 };
		const struct host *to = next_host(&rng, way);
		struct request q = request_of(next_form(&rng, way, to), to);
		bool has;

		has = way->ask(&q, theirs);
		if (has != sa_says(&q, sas))
			failed++;
		if (has && memcmp(theirs, sas, PATH_BYTES) != 0 && differ++ == 0)
			show(&q, theirs, sas);
	}
	counters(&found[1], &by_sa[1]);
	printf("asked %u: %u found, %u by the SA, %u failed, %u differ\n", n,
	    (unsigned)(found[1] - found[0]), (unsigned)(by_sa[1] - by_sa[0]), failed, differ);
	return failed + differ > 0;
}

/* ------------------------------------------------------------------------ rate */

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* How long answers take, one asked after the other. */
static int
rate(unsigned n, uint64_t seed, const struct way *way)
{
	int64_t *took = calloc(n + 1, sizeof(*took)), begun;
	struct fm_rng rng;
	unsigned failed = 0;

	if (took == NULL || n == 0)
		die("rate", "of how many?");
	fm_rng_seed(&rng, seed);
	begun = now_ns();
	for (unsigned i = 0; i < n; i++) {
		const struct host *to = next_host(&rng, way);
		struct request q = request_of(next_form(&rng, way, to), to);
		uint8_t path[PATH_BYTES];
		int64_t at = now_ns();

		failed += !way->ask(&q, path);
		took[i] = now_ns() - at;
	}
	begun = now_ns() - begun;
	qsort(took, n, sizeof(*took), by_size);
	printf("%.0f a second, p50 %.1f us, p99 %.1f us, %u failed\n", n / (begun / 1e9),
	    took[n / 2] / 1e3, took[n - 1 - n / 100] / 1e3, failed);
	free(took);
	return failed > 0;
}

int
main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv + 2);
	open_sa();
	find_hosts();
	if (argc >= 3 && strcmp(argv[1], "fill") == 0)
		return fill(argv[2], argc > 3 ? argv[3] : "");
	if (argc == 2 && strcmp(argv[1], "addresses") == 0)
		return addresses();
	if (argc == 2 && strcmp(argv[1], "hosts") == 0)
		return all_hosts();
	if (argc >= 5 && (strcmp(argv[1], "pairs") == 0 || strcmp(argv[1], "rate") == 0)) {
		served_by = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
		return (argv[1][0] == 'p' ? pairs : rate)((unsigned)strtoul(argv[2], NULL, 10),
		    strtoull(argv[3], NULL, 10), way_of(argv[4]));
	}
	die("usage", "acm_probe fill|addresses|hosts|serve|pairs|rate ...");
	return 2;
}
