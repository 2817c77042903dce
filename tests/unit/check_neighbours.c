/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_neighbours - interfaces asked of a kernel, and its neighbours kept: against a kernel that
 * is a thread of the test, with the 20 bytes of IPoIB, and against the real one in a network
 * namespace, whose interface takes the first 6 of them.  Files of addresses are read.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/neighbour.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/agent/neighbours.h"
#include "host/agent/netlink.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define LIDS 128
#define PREFIX UINT64_C(0xfe80000000000000)
#define PKEY 0x8001
#define IB0 7
#define OTHER_PROTOCOL 2

/* ----------------------------------------------------------- a kernel of our own */

struct entry {
	int index;
	uint8_t family, ip[16], hardware[IP_HARDWARE_BYTES], protocol;
	bool has_hardware;
};

static struct {
	int fd; /* of the kernel's end */
	pthread_t thread;
	FM_VEC(struct entry) entry;
	unsigned n_told; /* messages that changed something */
	bool refuses;
} kernel;

static void
reply(const struct nlmsghdr *to, struct netlink_message *m)
{
	m->h.nlmsg_seq = to->nlmsg_seq;
	ck_assert_int_eq(send(kernel.fd, m->bytes, m->h.nlmsg_len, 0), m->h.nlmsg_len);
}

static void
reply_code(const struct nlmsghdr *to, int type, int code)
{
	struct netlink_message m;

	*(int *)netlink_begin(&m, type, 0, sizeof(int)) = -code;
	reply(to, &m);
}

/* IB0 is an IPoIB interface, 3 an Ethernet one, 8 an IPoIB interface that is down. */
static void
tell_links(const struct nlmsghdr *to)
{
	static const struct {
		int index;
		unsigned short type;
		unsigned flags;
	} links[] = { { 3, ARPHRD_ETHER, IFF_UP }, { IB0, ARPHRD_INFINIBAND, IFF_UP },
		{ 8, ARPHRD_INFINIBAND, 0 } };
	uint8_t hardware[IP_HARDWARE_BYTES],
	    broadcast[IP_HARDWARE_BYTES] = { 0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, PKEY >> 8,
		    PKEY & 0xff };

	ip_hardware_put(hardware, 0x80000048, (struct sa_gid){ PREFIX, 0x77 });
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct netlink_message m;
		struct ifinfomsg *info = netlink_begin(&m, RTM_NEWLINK, 0, sizeof(*info));

		info->ifi_index = links[i].index;
		info->ifi_type = links[i].type;
		info->ifi_flags = links[i].flags;
		netlink_add(&m, IFLA_ADDRESS, hardware, links[i].type == ARPHRD_ETHER ? 6 : 20);
		netlink_add(&m, IFLA_BROADCAST, broadcast, links[i].type == ARPHRD_ETHER ? 6 : 20);
		reply(to, &m);
	}
}

static void
tell_address(const struct nlmsghdr *to, int index, int family, const char *text, uint8_t n_prefix,
    uint8_t flags)
{
	struct netlink_message m;
	struct ifaddrmsg *info = netlink_begin(&m, RTM_NEWADDR, 0, sizeof(*info));
	uint8_t ip[16];

	inet_pton(family, text, ip);
	info->ifa_family = (uint8_t)family;
	info->ifa_index = (uint32_t)index;
	info->ifa_prefixlen = n_prefix;
	info->ifa_flags = flags;
	netlink_add(&m, IFA_ADDRESS, ip, family == AF_INET ? 4 : 16);
	reply(to, &m);
}

static void
tell_addresses(const struct nlmsghdr *to)
{
	tell_address(to, 3, AF_INET, "192.168.0.1", 24, 0);
	tell_address(to, IB0, AF_INET, "10.1.0.1", 20, 0);
	tell_address(to, IB0, AF_INET6, "fe80::1", 64, 0);
	tell_address(to, IB0, AF_INET6, "fd00::1", 64, 0);
	tell_address(to, IB0, AF_INET6, "fd00::dead", 64, IFA_F_DADFAILED);
	tell_address(to, 8, AF_INET, "10.9.0.1", 24, 0);
}

static void
tell_entries(const struct nlmsghdr *to)
{
	for (size_t i = 0; i < kernel.entry.n; i++) {
		const struct entry *e = &kernel.entry.item[i];
		struct netlink_message m;
		struct ndmsg *n = netlink_begin(&m, RTM_NEWNEIGH, 0, sizeof(*n));

		n->ndm_family = e->family;
		n->ndm_ifindex = e->index;
		netlink_add(&m, NDA_DST, e->ip, e->family == AF_INET ? 4 : 16);
		if (e->has_hardware)
			netlink_add(&m, NDA_LLADDR, e->hardware, IP_HARDWARE_BYTES);
		if (e->protocol != 0)
			netlink_add(&m, NDA_PROTOCOL, &e->protocol, 1);
		reply(to, &m);
	}
}

static struct entry *
entry_of(int index, uint8_t family, const void *ip)
{
	for (size_t i = 0; i < kernel.entry.n; i++) {
		struct entry *e = &kernel.entry.item[i];

		if (e->index == index && e->family == family &&
		    memcmp(e->ip, ip, family == AF_INET ? 4 : 16) == 0)
			return e;
	}
	return NULL;
}

static void
take_change(const struct nlmsghdr *h)
{
	const struct ndmsg *n = NLMSG_DATA(h);
	const struct rtattr *a[NDA_PROTOCOL + 1];
	struct entry *e, fresh = { .index = n->ndm_ifindex, .family = n->ndm_family };

	netlink_attributes(h, sizeof(*n), a, NDA_PROTOCOL);
	ck_assert_ptr_nonnull(a[NDA_DST]);
	ck_assert_uint_eq(RTA_PAYLOAD(a[NDA_DST]), n->ndm_family == AF_INET ? 4 : 16);
	memcpy(fresh.ip, RTA_DATA(a[NDA_DST]), RTA_PAYLOAD(a[NDA_DST]));
	e = entry_of(n->ndm_ifindex, n->ndm_family, fresh.ip);
	kernel.n_told++;
	if (h->nlmsg_type == RTM_DELNEIGH) {
		ck_assert_ptr_nonnull(e);
		*e = kernel.entry.item[--kernel.entry.n];
		return;
	}
	ck_assert_uint_eq(RTA_PAYLOAD(a[NDA_LLADDR]), IP_HARDWARE_BYTES);
	memcpy(fresh.hardware, RTA_DATA(a[NDA_LLADDR]), IP_HARDWARE_BYTES);
	fresh.has_hardware = true;
	fresh.protocol = *(const uint8_t *)RTA_DATA(a[NDA_PROTOCOL]);
	ck_assert_uint_eq(n->ndm_state, NUD_REACHABLE);
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
	if (e != NULL)
		*e = fresh;
	else
		ck_assert(fm_vec_push(&kernel.entry, fresh));
}

static void
obey(const struct nlmsghdr *h)
{
	switch (h->nlmsg_type) {
	case RTM_GETLINK:
		tell_links(h);
		reply_code(h, NLMSG_DONE, 0);
		break;
	case RTM_GETADDR:
		tell_addresses(h);
		reply_code(h, NLMSG_DONE, 0);
		break;
	case RTM_GETNEIGH:
		tell_entries(h);
		reply_code(h, NLMSG_DONE, 0);
		break;
	default:
		if (!kernel.refuses)
			take_change(h);
		reply_code(h, NLMSG_ERROR, kernel.refuses ? EPERM : 0);
	}
}

static void *
run_kernel(void *arg)
{
	static struct netlink_message m;

	(void)arg;
	while (recv(kernel.fd, m.bytes, sizeof(m.bytes), 0) > 0)
		obey(&m.h);
	return NULL;
}

static int fd; /* our end */
static struct replica replica;
static struct interface_ips own;

static void
setup(void)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fd = pair[0];
	kernel.fd = pair[1];
	kernel.n_told = 0;
	kernel.refuses = false;
	ck_assert_int_eq(pthread_create(&kernel.thread, NULL, run_kernel, NULL), 0);
}

static void
teardown(void)
{
	close(fd);
	pthread_join(kernel.thread, NULL);
	close(kernel.fd);
	fm_vec_fini(&kernel.entry);
	interface_ips_fini(&own);
	replica_fini(&replica);
}

/* -------------------------------------------------------------- what hosts know */

struct truth {
	uint8_t ip[16];
	uint64_t guid;
	uint32_t hardware;
	uint16_t pkey;
	bool there;
};
static struct truth truth[LIDS]; /* by LID, from 1 on */

static void
put_subnet(void)
{
	uint8_t bytes[BLOB_SUBNET_BYTES];

	blob_subnet_put(bytes,
	    &(struct blob_subnet){
		.schema = BLOB_SCHEMA, .gid_prefix = PREFIX, .lid_top = LIDS - 1 });
	ck_assert(replica_put(&replica, BLOB_SUBNET, 0, bytes, sizeof(bytes)));
}

static void
put_block(unsigned block)
{
	static uint8_t ports[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES],
	    names[BLOB_BLOCK_LIDS * (1 + BLOB_REG_BYTES)];
	size_t n = BLOB_BLOCK_LIDS;

	memset(ports, 0, sizeof(ports));
	memset(names, 0, sizeof(names));
	for (unsigned k = 0; k < BLOB_BLOCK_LIDS; k++) {
		unsigned lid = block * BLOB_BLOCK_LIDS + k;
		struct truth *t = &truth[lid];
		struct blob_reg reg = { .guid = t->guid,
			.hardware = t->hardware,
			.pkey = t->pkey,
			.lid = (uint16_t)lid };

		memcpy(reg.ip, t->ip, sizeof(reg.ip));
		if (lid > 0)
			blob_port_put(ports + (size_t)k * BLOB_PORT_BYTES,
			    &(struct blob_port){
				.guid = 0x1000 + lid, .flags = t->there ? 0 : BLOB_PORT_GONE });
		if (lid > 0 && t->hardware != 0) {
			blob_reg_put(names + n, &reg);
			n += BLOB_REG_BYTES;
		}
	}
	ck_assert(replica_put(&replica, BLOB_PORT, block, ports, sizeof(ports)));
	ck_assert(replica_put(&replica, BLOB_NAME, block, names, n));
}

static void
put_all(void)
{
	put_subnet();
	for (unsigned b = 0; b < LIDS / BLOB_BLOCK_LIDS; b++)
		put_block(b);
}

/* 10.1.0.0/20 and fd00::/64 are the interface's; 10.2.0.0, 10.1.16.0 and another P_Key are not. */
static void
change_host(struct fm_rng *rng, unsigned lid)
{
	struct truth *t = &truth[lid];
	bool v4 = fm_rng_below(rng, 2) == 0;

	*t = (struct truth){ .guid = 0x1000 + lid, .there = fm_rng_below(rng, 8) != 0 };
	if (fm_rng_below(rng, 8) == 0)
		return; /* it has registered nothing */
	t->hardware = (uint32_t)fm_rng_below(rng, 4) << 24 | (0x100 + lid);
	t->pkey = fm_rng_below(rng, 8) == 0 ? 0x8002 : fm_rng_below(rng, 2) == 0 ? PKEY : 0x0001;
	if (v4)
		memcpy(t->ip,
		    (uint8_t[16]){ [10] = 0xff,
			0xff,
			10,
			fm_rng_below(rng, 8) == 0 ? 2 : 1,
			fm_rng_below(rng, 8) == 0 ? 16 : 0,
			(uint8_t)(lid + 1) },
		    16);
	else
		memcpy(t->ip,
		    (uint8_t[16]){
			0xfd, [7] = fm_rng_below(rng, 8) == 0, [15] = (uint8_t)(lid + 1) },
		    16);
}

static const struct entry *
expected_in_kernel(const struct truth *t)
{
	bool v4 = t->ip[0] == 0;

	return entry_of(IB0, v4 ? AF_INET : AF_INET6, v4 ? t->ip + 12 : t->ip);
}

static bool
is_wanted(const struct truth *t)
{
	bool v4 = t->ip[0] == 0;

	return t->there && t->hardware != 0 && (t->pkey & 0x7fff) == (PKEY & 0x7fff) &&
	    (v4 ? t->ip[13] == 1 && t->ip[14] < 16 : t->ip[7] == 0);
}

static void
expect_the_truth(unsigned n_others)
{
	unsigned n = n_others;

	for (unsigned lid = 1; lid < LIDS; lid++) {
		const struct truth *t = &truth[lid];
		const struct entry *e = expected_in_kernel(t);
		uint8_t hardware[IP_HARDWARE_BYTES];

		ip_hardware_put(hardware, t->hardware, (struct sa_gid){ PREFIX, t->guid });
		if (!is_wanted(t))
			continue;
		ck_assert_ptr_nonnull(e);
		ck_assert_mem_eq(e->hardware, hardware, IP_HARDWARE_BYTES);
		ck_assert_uint_eq(e->protocol, NEIGHBOURS_PROTOCOL);
		n++;
	}
	ck_assert_uint_eq(kernel.entry.n, n);
}

static struct neighbours_done
keep(void)
{
	struct neighbours_done done;
	struct fm_error err = { 0 };

	ck_assert_msg(interfaces_ask(&own, fd, &err) == 0, "%s", err.msg);
	ck_assert_msg(neighbours_keep(fd, &own, &replica, &done, &err) == 0, "%s", err.msg);
	return done;
}

START_TEST(interfaces_are_asked_of_the_kernel)
{
	struct fm_error err = { 0 };

	ck_assert_int_eq(interfaces_ask(&own, fd, &err), 0);
	ck_assert_uint_eq(own.item.n, 2); /* without link-local, invalid, Ethernet, down */
	for (size_t i = 0; i < own.item.n; i++) {
		const struct interface_ip *one = &own.item.item[i];

		ck_assert_int_eq(one->index, IB0);
		ck_assert_uint_eq(one->is.hardware, 0x80000048);
		ck_assert_uint_eq(one->is.gid.guid, 0x77);
		ck_assert_uint_eq(one->is.gid.prefix, PREFIX);
		ck_assert_uint_eq(one->is.pkey, PKEY);
	}
	ck_assert_uint_eq(own.item.item[0].n_prefix, 96 + 20);
	ck_assert_uint_eq(own.item.item[1].n_prefix, 64);
}
END_TEST

/* An entry of another origin stays, as long as nobody registers its address. */
START_TEST(the_kernel_has_what_hosts_register)
{
	struct entry other = {
		.index = IB0, .family = AF_INET, .ip = { 10, 1, 9, 9 }, .protocol = OTHER_PROTOCOL
	};
	struct neighbours_done done;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	ck_assert(fm_vec_push(&kernel.entry, other));
	for (unsigned lid = 1; lid < LIDS; lid++)
		change_host(&rng, lid);
	for (unsigned round = 0; round < 8; round++) {
		put_all();
		done = keep();
		expect_the_truth(1);
		ck_assert_uint_eq(done.n_set + done.n_deleted, kernel.n_told);
		kernel.n_told = 0;
		done = keep();
		ck_assert_uint_eq(kernel.n_told, 0); /* what is as it is to be is not told */
		ck_assert_uint_eq(done.n_kept, kernel.entry.n - 1);
		for (unsigned k = 0; k < 10; k++)
			change_host(&rng, 1 + (unsigned)fm_rng_below(&rng, LIDS - 1));
		/* one that did not answer has failed in the kernel */
		kernel.entry.item[fm_rng_below(&rng, kernel.entry.n)].has_hardware = false;
	}
}
END_TEST

START_TEST(without_the_right_it_says_so)
{
	struct neighbours_done done;
	struct fm_error err = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, 1);
	for (unsigned lid = 1; lid < LIDS; lid++)
		change_host(&rng, lid);
	put_all();
	kernel.refuses = true;
	ck_assert_int_eq(interfaces_ask(&own, fd, &err), 0);
	ck_assert_int_ne(neighbours_keep(fd, &own, &replica, &done, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "CAP_NET_ADMIN"));
	ck_assert_uint_eq(kernel.entry.n, 0);
}
END_TEST

/* ------------------------------------------------------------------- the real one */

/* A namespace of our own with an interface; its index, 0: that is not allowed here. */
static int
make_namespace(void)
{
	struct ifreq r = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int tap, s, index = 0;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return 0;
	tap = open("/dev/net/tun", O_RDWR);
	s = socket(AF_INET, SOCK_DGRAM, 0);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "tap0");
	if (tap >= 0 && s >= 0 && ioctl(tap, TUNSETIFF, &r) == 0) {
		r.ifr_flags = IFF_UP;
		if (ioctl(s, SIOCSIFFLAGS, &r) == 0 && ioctl(s, SIOCGIFINDEX, &r) == 0)
			index = r.ifr_ifindex;
	}
	return index;
}

static bool
count_ours(void *arg, const struct nlmsghdr *h)
{
	const struct rtattr *a[NDA_PROTOCOL + 1];

	if (h->nlmsg_type != RTM_NEWNEIGH)
		return true;
	netlink_attributes(h, sizeof(struct ndmsg), a, NDA_PROTOCOL);
	*(unsigned *)arg += a[NDA_PROTOCOL] != NULL && a[NDA_DST] != NULL &&
	    a[NDA_LLADDR] != NULL &&
	    *(const uint8_t *)RTA_DATA(a[NDA_PROTOCOL]) == NEIGHBOURS_PROTOCOL;
	return true;
}

static unsigned
n_ours(int s)
{
	struct netlink_message m;
	struct fm_error err = { 0 };
	unsigned n = 0;

	netlink_begin(&m, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	ck_assert_int_eq(netlink_ask(s, &m, count_ours, &n, NULL, &err), 0);
	return n;
}

/* In a child, as a namespace is for ever: 0 it is well, 77 it is not allowed. */
static int
try_the_kernel(void)
{
	struct interface_ip at = { .is = { .ip = { [10] = 0xff, 0xff, 10, 1, 0, 1 }, .pkey = PKEY },
		.index = make_namespace(),
		.n_prefix = 96 + 20 };
	struct neighbours_done done;
	struct fm_error err = { 0 };
	unsigned n_wanted = 0;
	struct fm_rng rng;
	int s = netlink_open(0, &err);

	if (at.index == 0 || s < 0)
		return 77;
	fm_rng_seed(&rng, 7);
	for (unsigned lid = 1; lid < LIDS; lid++) {
		change_host(&rng, lid);
		n_wanted += is_wanted(&truth[lid]) && truth[lid].ip[0] == 0;
	}
	put_all();
	ck_assert(fm_vec_push(&own.item, at));
	ck_assert_msg(neighbours_keep(s, &own, &replica, &done, &err) == 0, "%s", err.msg);
	ck_assert_uint_gt(n_wanted, 10);
	ck_assert_uint_eq(done.n_set, n_wanted);
	ck_assert_uint_eq(n_ours(s), n_wanted);
	for (unsigned lid = 1; lid < LIDS; lid++)
		truth[lid].there = false;
	put_all();
	ck_assert_msg(neighbours_keep(s, &own, &replica, &done, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(done.n_deleted, n_wanted);
	ck_assert_uint_eq(n_ours(s), 0);
	return 0;
}

START_TEST(the_real_kernel_takes_them)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(try_the_kernel());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		fprintf(stderr, "no namespace or interface is allowed here: not tried\n");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* -------------------------------------------------------------------- files of them */

#define HARDWARE "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:ab:cd:ef"

static const struct {
	const char *text, *said; /* NULL: it is right */
} lines[] = {
	{ "10.1.0.1 " HARDWARE "\n", NULL },
	{ "# a comment\n\n10.1.0.1/24 " HARDWARE " 0x8001 # ib0\n", NULL },
	{ "fd00::1/64 " HARDWARE, NULL },
	{ "\n10.1.0 " HARDWARE "\n", "f:2: \"10.1.0\" is no IPv4 or IPv6 address" },
	{ "127.0.0.1 " HARDWARE, "f:1: \"127.0.0.1\" is a loopback address" },
	{ "0.0.0.0 " HARDWARE, "f:1: \"0.0.0.0\" is of the network 0.0.0.0/8" },
	{ "224.0.0.1 " HARDWARE, "f:1: \"224.0.0.1\" is no unicast address" },
	{ "fe80::1 " HARDWARE, "f:1: \"fe80::1\" is a link-local address" },
	{ "ff02::1 " HARDWARE, "f:1: \"ff02::1\" is no unicast address" },
	{ "::1 " HARDWARE, "f:1: \"::1\" is a loopback address" },
	{ "10.1.0.1/33 " HARDWARE, "f:1: \"33\" is no length of a prefix" },
	{ "10.1.0.1", "f:1: \"10.1.0.1\" has no hardware address behind it" },
	{ "10.1.0.1 80:00", "f:1: \"80:00\" is no hardware address of IPoIB" },
	{ "10.1.0.1 " HARDWARE ":00", "is no hardware address of IPoIB" },
	{ "10.1.0.1 " HARDWARE " 0", "f:1: \"0\" is no P_Key" },
	{ "10.1.0.1 " HARDWARE " 0x8001 ib0", "f:1: \"10.1.0.1\" has more behind it" },
};

START_TEST(files_of_addresses_are_read)
{
	char folder[FOLDER_ROOM], path[FOLDER_ROOM + 8];
	struct fm_error err = { 0 };
	FILE *out;
	int rc;

	folder_make(folder);
	snprintf(path, sizeof(path), "%s/f", folder);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(lines[_i].text, out);
	fclose(out);
	rc = interfaces_read(&own, path, &err);
	folder_remove(folder);
	ck_assert_int_eq(rc == 0, lines[_i].said == NULL);
	if (rc != 0)
		ck_assert_msg(strstr(err.msg, lines[_i].said) != NULL, "%s", err.msg);
	if (rc != 0)
		return;
	ck_assert_uint_eq(own.item.n, 1);
	ck_assert_uint_eq(own.item.item[0].is.hardware, 0x80000048);
	ck_assert_uint_eq(own.item.item[0].is.gid.guid, UINT64_C(0x0002c90300abcdef));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neighbours");
	TCase *t = tcase_create("neighbours");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, interfaces_are_asked_of_the_kernel);
	tcase_add_loop_test(t, the_kernel_has_what_hosts_register, 0, (int)n_cases(20));
	tcase_add_test(t, without_the_right_it_says_so);
	tcase_add_test(t, the_real_kernel_takes_them);
	tcase_add_loop_test(t, files_of_addresses_are_read, 0, sizeof(lines) / sizeof(lines[0]));
	suite_add_tcase(s, t);
	return run_suite(s);
}
