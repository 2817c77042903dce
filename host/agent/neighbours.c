/* SPDX-License-Identifier: BSD-2-Clause */
/* host/agent/neighbours.c - what the kernel has, made what hosts have registered. */
#include "host/agent/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "host/agent/netlink.h"

#define PKEY_BITS 0x7fff /* without that of full membership */
#define V4_AT 12	 /* of an address in ::ffff:0:0/96 */

struct neighbour {
	int index; /* of the interface */
	uint8_t ip[16];
	uint8_t hardware[IP_HARDWARE_BYTES]; /* all 0: the kernel has none */
};

typedef FM_VEC(struct neighbour) neighbour_list;

static int
by_place(const void *x, const void *y)
{
	const struct neighbour *a = x, *b = y;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return memcmp(a->ip, b->ip, sizeof(a->ip));
}

static bool
is_v4(const uint8_t ip[16])
{
	static const uint8_t head[V4_AT] = { [10] = 0xff, [11] = 0xff };

	return memcmp(ip, head, sizeof(head)) == 0;
}

/* --------------------------------------------------------- what it is to have */

static bool
in_subnet(const struct interface_ip *own, const uint8_t ip[16])
{
	unsigned whole = own->n_prefix / 8, rest = own->n_prefix % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return is_v4(own->is.ip) == is_v4(ip) && memcmp(own->is.ip, ip, whole) == 0 &&
	    (rest == 0 || ((own->is.ip[whole] ^ ip[whole]) & mask) == 0);
}

static bool
is_own_ip(const struct interface_ips *own, const uint8_t ip[16])
{
	for (size_t i = 0; i < own->item.n; i++)
		if (memcmp(own->item.item[i].is.ip, ip, 16) == 0)
			return true;
	return false;
}

/* Two addresses of an interface in one subnet are one place for a neighbour. */
static bool
want_one(neighbour_list *want, const struct interface_ips *own, const struct blob_reg *reg,
    uint64_t gid_prefix)
{
	struct neighbour one = { 0 };
	bool ok = true;

	if (reg->hardware == 0 || is_own_ip(own, reg->ip))
		return true;
	memcpy(one.ip, reg->ip, sizeof(one.ip));
	ip_hardware_put(one.hardware, reg->hardware, (struct sa_gid){ gid_prefix, reg->guid });
	for (size_t i = 0; ok && i < own->item.n; i++) {
		const struct interface_ip *at = &own->item.item[i];

		if (((at->is.pkey ^ reg->pkey) & PKEY_BITS) != 0 || !in_subnet(at, reg->ip))
			continue;
		one.index = at->index;
		ok = fm_vec_push(want, one);
	}
	return ok;
}

static void
sort_once(neighbour_list *l)
{
	size_t kept = 0;

	if (l->n > 0)
		qsort(l->item, l->n, sizeof(l->item[0]), by_place);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || by_place(&l->item[kept - 1], &l->item[i]) != 0)
			l->item[kept++] = l->item[i];
	l->n = kept;
}

static bool
find_wanted(neighbour_list *want, const struct interface_ips *own, const struct replica *r)
{
	const struct replica_blob *b = &r->one[BLOB_SUBNET];
	struct replica_place at = { 0 };
	struct blob_subnet subnet;
	struct blob_reg reg;

	if (b->bytes == NULL || !blob_subnet_get(b->bytes, b->n, &subnet))
		return true;
	while (replica_next_reg(r, &at, &reg))
		if (!want_one(want, own, &reg, subnet.gid_prefix))
			return false;
	sort_once(want);
	return true;
}

/* --------------------------------------------------------------- what it has */

static bool
take_neighbour(void *arg, const struct nlmsghdr *h)
{
	neighbour_list *have = arg;
	const struct ndmsg *n = NLMSG_DATA(h);
	const struct rtattr *a[NDA_PROTOCOL + 1];
	struct neighbour one = { 0 };
	size_t at, bytes;

	if (h->nlmsg_type != RTM_NEWNEIGH || h->nlmsg_len < NLMSG_LENGTH(sizeof(*n)) ||
	    (n->ndm_family != AF_INET && n->ndm_family != AF_INET6))
		return true;
	netlink_attributes(h, sizeof(*n), a, NDA_PROTOCOL);
	at = n->ndm_family == AF_INET ? V4_AT : 0;
	bytes = sizeof(one.ip) - at;
	if (a[NDA_PROTOCOL] == NULL || RTA_PAYLOAD(a[NDA_PROTOCOL]) != 1 ||
	    *(const uint8_t *)RTA_DATA(a[NDA_PROTOCOL]) != NEIGHBOURS_PROTOCOL ||
	    a[NDA_DST] == NULL || RTA_PAYLOAD(a[NDA_DST]) != bytes)
		return true;
	one.index = n->ndm_ifindex;
	if (at > 0)
		one.ip[10] = one.ip[11] = 0xff;
	memcpy(one.ip + at, RTA_DATA(a[NDA_DST]), bytes);
	if (a[NDA_LLADDR] != NULL && RTA_PAYLOAD(a[NDA_LLADDR]) == IP_HARDWARE_BYTES)
		memcpy(one.hardware, RTA_DATA(a[NDA_LLADDR]), IP_HARDWARE_BYTES);
	return fm_vec_push(have, one);
}

static int
find_ours(neighbour_list *have, int fd, struct fm_error *err)
{
	struct netlink_message m;
	int rc;

	netlink_begin(&m, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	rc = netlink_ask(fd, &m, take_neighbour, have, NULL, err);
	if (rc == 0)
		sort_once(have);
	return rc;
}

/* ---------------------------------------------------------------- the changes */

static int
tell(int fd, const struct neighbour *n, int type, int flags, struct fm_error *err)
{
	static const uint8_t protocol = NEIGHBOURS_PROTOCOL;
	size_t at = is_v4(n->ip) ? V4_AT : 0;
	struct netlink_message m;
	struct ndmsg *body = netlink_begin(&m, type, NLM_F_ACK | flags, sizeof(*body));
	char ip[IP_TEXT];
	int why, rc;

	body->ndm_family = at > 0 ? AF_INET : AF_INET6;
	body->ndm_ifindex = n->index;
	netlink_add(&m, NDA_DST, n->ip + at, sizeof(n->ip) - at);
	if (type == RTM_NEWNEIGH) {
		body->ndm_state = NUD_REACHABLE;
		body->ndm_flags = NTF_EXT_LEARNED; /* not to be collected as garbage */
		netlink_add(&m, NDA_LLADDR, n->hardware, IP_HARDWARE_BYTES);
		netlink_add(&m, NDA_PROTOCOL, &protocol, sizeof(protocol));
	}
	rc = netlink_ask(fd, &m, NULL, NULL, &why, err);
	if (rc != 0)
		fm_fail(err, FM_E_SYSTEM, "the kernel does not take the neighbour %s: %s%s",
		    ip_text(n->ip, ip), strerror(why),
		    why == EPERM ? " (--neighbours needs CAP_NET_ADMIN)" : "");
	return rc;
}

static int
change(int fd, const neighbour_list *want, const neighbour_list *have, struct neighbours_done *done,
    struct fm_error *err)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < want->n || k < have->n)) {
		const struct neighbour *w = &want->item[i], *h = &have->item[k];
		int d = i == want->n ? 1 : k == have->n ? -1 : by_place(w, h);

		i += d <= 0;
		k += d >= 0;
		if (d > 0) {
			/* it may have gone with its interface, or be gone by now */
			struct fm_error gone;

			done->n_deleted += tell(fd, h, RTM_DELNEIGH, 0, &gone) == 0;
		} else if (d == 0 && memcmp(w->hardware, h->hardware, IP_HARDWARE_BYTES) == 0) {
			done->n_kept++;
		} else {
			rc = tell(fd, w, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, err);
			done->n_set += rc == 0;
		}
	}
	return rc;
}

int
neighbours_keep(int fd, const struct interface_ips *own, const struct replica *r,
    struct neighbours_done *done, struct fm_error *err)
{
	neighbour_list want = { 0 }, have = { 0 };
	int rc = 0;

	*done = (struct neighbours_done){ 0 };
	if (!find_wanted(&want, own, r))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for neighbours");
	if (rc == 0)
		rc = find_ours(&have, fd, err);
	if (rc == 0)
		rc = change(fd, &want, &have, done, err);
	fm_vec_fini(&want);
	fm_vec_fini(&have);
	return rc;
}
