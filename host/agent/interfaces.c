/* SPDX-License-Identifier: BSD-2-Clause */
/* host/agent/interfaces.c - O(interfaces * addresses). */
#include "host/agent/interfaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/number.h"
#include "host/agent/netlink.h"

#define PKEY_AT 8 /* of a broadcast address: 4 bytes, ff 12 40 1b, the P_Key */
#define PKEY_DEFAULT 0xffff
#define V4_BITS 96 /* that ::ffff:0:0/96 has */
#define LINE_BYTES 512

struct link {
	int index;
	struct ip_service is; /* without an address */
};
struct asking {
	struct interface_ips *out;
	FM_VEC(struct link) link;
};

void
interface_ips_fini(struct interface_ips *l)
{
	fm_vec_fini(&l->item);
}

/* ------------------------------------------------------------------ the kernel */

static const uint8_t *
bytes_of(const struct rtattr *a, size_t n)
{
	return a != NULL && RTA_PAYLOAD(a) == n ? RTA_DATA(a) : NULL;
}

static bool
take_link(void *arg, const struct nlmsghdr *h)
{
	struct asking *a = arg;
	const struct ifinfomsg *info = NLMSG_DATA(h);
	const struct rtattr *attribute[IFLA_BROADCAST + 1];
	const uint8_t *address, *broadcast;
	struct link l = { 0 };

	if (h->nlmsg_type != RTM_NEWLINK || h->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) ||
	    info->ifi_type != ARPHRD_INFINIBAND || (info->ifi_flags & IFF_UP) == 0)
		return true;
	netlink_attributes(h, sizeof(*info), attribute, IFLA_BROADCAST);
	address = bytes_of(attribute[IFLA_ADDRESS], IP_HARDWARE_BYTES);
	broadcast = bytes_of(attribute[IFLA_BROADCAST], IP_HARDWARE_BYTES);
	if (address == NULL || broadcast == NULL)
		return true;
	l.index = info->ifi_index;
	ip_hardware_get(address, &l.is);
	l.is.pkey = (uint16_t)(broadcast[PKEY_AT] << 8 | broadcast[PKEY_AT + 1]);
	return fm_vec_push(&a->link, l);
}

static const struct link *
link_of(const struct asking *a, uint32_t index)
{
	for (size_t i = 0; i < a->link.n; i++)
		if ((uint32_t)a->link.item[i].index == index)
			return &a->link.item[i];
	return NULL;
}

static void
put_v4(uint8_t ip[16], const uint8_t *v4)
{
	static const uint8_t head[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(ip, head, sizeof(head));
	memcpy(ip + sizeof(head), v4, 4);
}

static bool
take_address(void *arg, const struct nlmsghdr *h)
{
	struct asking *a = arg;
	const struct ifaddrmsg *info = NLMSG_DATA(h);
	const struct rtattr *attribute[IFA_FLAGS + 1];
	const struct link *l;
	const uint8_t *ip;
	struct interface_ip one;
	bool v4;

	if (h->nlmsg_type != RTM_NEWADDR || h->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) ||
	    (l = link_of(a, info->ifa_index)) == NULL ||
	    (info->ifa_flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0)
		return true;
	v4 = info->ifa_family == AF_INET;
	netlink_attributes(h, sizeof(*info), attribute, IFA_FLAGS);
	ip = bytes_of(attribute[IFA_LOCAL], v4 ? 4 : 16);
	if (ip == NULL)
		ip = bytes_of(attribute[IFA_ADDRESS], v4 ? 4 : 16);
	if (ip == NULL || (!v4 && info->ifa_family != AF_INET6))
		return true;
	one = (struct interface_ip){ .is = l->is,
		.index = l->index,
		.n_prefix = (uint8_t)(info->ifa_prefixlen + (v4 ? V4_BITS : 0)) };
	if (v4)
		put_v4(one.is.ip, ip);
	else
		memcpy(one.is.ip, ip, sizeof(one.is.ip));
	return ip_why_not(one.is.ip) != NULL || fm_vec_push(&a->out->item, one);
}

int
interfaces_ask(struct interface_ips *l, int fd, struct fm_error *err)
{
	struct asking a = { .out = l };
	struct netlink_message m;
	int rc;

	l->item.n = 0;
	netlink_begin(&m, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	rc = netlink_ask(fd, &m, take_link, &a, NULL, err);
	if (rc == 0 && a.link.n > 0) {
		netlink_begin(&m, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));
		rc = netlink_ask(fd, &m, take_address, &a, NULL, err);
	}
	fm_vec_fini(&a.link);
	return rc;
}

/* ---------------------------------------------------------------------- a file */

struct place {
	const char *path;
	unsigned line;
	struct fm_error *err;
};

static int
bad(const struct place *at, const char *word, const char *what)
{
	return fm_fail(at->err, FM_E_CONFIG, "%s:%u: \"%s\" %s", at->path, at->line, word, what);
}

static int
parse_address(const struct place *at, char *word, struct interface_ip *one)
{
	char *slash = strchr(word, '/'), *end = NULL;
	uint8_t v4[4];
	bool is_v4;
	unsigned long bits;
	const char *why;

	if (slash != NULL)
		*slash = '\0';
	is_v4 = inet_pton(AF_INET, word, v4) == 1;
	if (is_v4)
		put_v4(one->is.ip, v4);
	else if (inet_pton(AF_INET6, word, one->is.ip) != 1)
		return bad(at, word, "is no IPv4 or IPv6 address");
	why = ip_why_not(one->is.ip);
	if (why != NULL)
		return bad(at, word, why);
	one->n_prefix = 128;
	if (slash == NULL)
		return 0;
	bits = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end != '\0' || bits > (is_v4 ? 32 : 128))
		return bad(at, slash + 1, "is no length of a prefix");
	one->n_prefix = (uint8_t)(bits + (is_v4 ? V4_BITS : 0));
	return 0;
}

static int
parse_hardware(const struct place *at, const char *word, struct interface_ip *one)
{
	uint8_t bytes[IP_HARDWARE_BYTES];
	const char *c = word;
	char *end;

	for (int i = 0; i < IP_HARDWARE_BYTES; i++, c = end + 1) {
		unsigned long x = strtoul(c, &end, 16);

		if (end == c || end - c > 2 || *end != (i < IP_HARDWARE_BYTES - 1 ? ':' : '\0'))
			return bad(at, word,
			    "is no hardware address of IPoIB: 20 bytes as in "
			    "80:00:00:48:fe:80:...");
		bytes[i] = (uint8_t)x;
	}
	ip_hardware_get(bytes, &one->is);
	return 0;
}

static int
parse_line(const struct place *at, char *text, struct interface_ips *l)
{
	struct interface_ip one = { .is.pkey = PKEY_DEFAULT };
	char *save = NULL, *comment = strchr(text, '#'), *ip, *hardware, *pkey;
	uint64_t key;
	int rc;

	if (comment != NULL)
		*comment = '\0';
	ip = strtok_r(text, " \t\r\n", &save);
	if (ip == NULL)
		return 0;
	hardware = strtok_r(NULL, " \t\r\n", &save);
	pkey = strtok_r(NULL, " \t\r\n", &save);
	rc = parse_address(at, ip, &one);
	if (rc == 0 && hardware == NULL)
		rc = bad(at, ip, "has no hardware address behind it");
	if (rc == 0)
		rc = parse_hardware(at, hardware, &one);
	if (rc == 0 && pkey != NULL) {
		if (!number_parse(pkey, &key) || key == 0 || key > UINT16_MAX)
			return bad(at, pkey, "is no P_Key, as 0xffff is");
		one.is.pkey = (uint16_t)key;
	}
	if (rc == 0 && strtok_r(NULL, " \t\r\n", &save) != NULL)
		return bad(at, ip, "has more behind it than a hardware address and a P_Key");
	if (rc == 0 && !fm_vec_push(&l->item, one))
		return fm_fail(at->err, FM_E_RESOURCE, "%s: out of memory", at->path);
	return rc;
}

int
interfaces_read(struct interface_ips *l, const char *path, struct fm_error *err)
{
	struct place at = { .path = path, .err = err };
	char line[LINE_BYTES];
	FILE *in = fopen(path, "re");
	int rc = 0;

	l->item.n = 0;
	if (in == NULL)
		return fm_fail(err, FM_E_CONFIG, "cannot read %s: %s", path, strerror(errno));
	while (rc == 0 && fgets(line, sizeof(line), in) != NULL) {
		at.line++;
		if (strlen(line) == sizeof(line) - 1)
			rc = fm_fail(err, FM_E_CONFIG, "%s:%u: the line is longer than %d bytes",
			    path, at.line, LINE_BYTES - 2);
		else
			rc = parse_line(&at, line, l);
	}
	fclose(in);
	return rc;
}
