/* SPDX-License-Identifier: BSD-2-Clause */
/* host/agent/netlink.c - O(messages). */
#include "host/agent/netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define PATIENCE_S 5 /* the kernel answers at once */

int
netlink_open(unsigned groups, struct fm_error *err)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = groups };
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		fm_fail(
		    err, FM_E_SYSTEM, "cannot ask the kernel for interfaces: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

void *
netlink_begin(struct netlink_message *m, int type, int flags, size_t n)
{
	memset(m, 0, sizeof(*m));
	m->h.nlmsg_len = (uint32_t)NLMSG_LENGTH(n);
	m->h.nlmsg_type = (uint16_t)type;
	m->h.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	return NLMSG_DATA(&m->h);
}

void
netlink_add(struct netlink_message *m, int attribute, const void *bytes, size_t n)
{
	struct rtattr *a = (struct rtattr *)(m->bytes + NLMSG_ALIGN(m->h.nlmsg_len));

	a->rta_type = (uint16_t)attribute;
	a->rta_len = (uint16_t)RTA_LENGTH(n);
	memcpy(RTA_DATA(a), bytes, n);
	m->h.nlmsg_len = (uint32_t)(NLMSG_ALIGN(m->h.nlmsg_len) + RTA_ALIGN(a->rta_len));
}

enum outcome { GO_ON, DONE, FAILED };

static int
refused(const struct nlmsghdr *h)
{
	return h->nlmsg_len < NLMSG_LENGTH(sizeof(int)) ? EPROTO : -*(const int *)NLMSG_DATA(h);
}

/* What one read has brought, as far as it answers request number seq. */
static enum outcome
take(const void *bytes, size_t n, uint32_t seq, netlink_each each, void *arg, int *why)
{
	const struct nlmsghdr *h = bytes;

	for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_seq != seq)
			continue;
		if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
			*why = h->nlmsg_type == NLMSG_ERROR ? refused(h) : 0;
			return *why == 0 ? DONE : FAILED;
		}
		if ((h->nlmsg_flags & NLM_F_DUMP_INTR) != 0) {
			*why = EAGAIN;
			return FAILED;
		}
		if (each != NULL && !each(arg, h)) {
			*why = ENOMEM;
			return FAILED;
		}
	}
	return GO_ON;
}

int
netlink_ask(
    int fd, struct netlink_message *m, netlink_each each, void *arg, int *why, struct fm_error *err)
{
	static _Thread_local union {
		struct nlmsghdr h;
		char bytes[BUFFER_BYTES];
	} in;
	static _Thread_local uint32_t seq;
	enum outcome o = GO_ON;
	int error = 0;
	ssize_t n;

	m->h.nlmsg_seq = ++seq;
	if (send(fd, m->bytes, m->h.nlmsg_len, 0) < 0)
		error = errno;
	while (error == 0 && o == GO_ON) {
		n = recv(fd, in.bytes, sizeof(in.bytes), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			error = n < 0 ? errno : EPIPE;
		else
			o = take(in.bytes, (size_t)n, seq, each, arg, &error);
	}
	if (why != NULL)
		*why = error;
	return error == 0 ? 0
			  : fm_fail(err, FM_E_SYSTEM,
				"the kernel does not answer a question about "
				"its interfaces: %s",
				strerror(error));
}

void
netlink_attributes(const struct nlmsghdr *h, size_t body, const struct rtattr **attribute, int most)
{
	const struct rtattr *a =
	    (const struct rtattr *)((const char *)NLMSG_DATA(h) + NLMSG_ALIGN(body));
	int left = (int)h->nlmsg_len - (int)NLMSG_SPACE(body);

	memset(attribute, 0, ((size_t)most + 1) * sizeof(*attribute));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type <= most)
			attribute[a->rta_type] = a;
}

bool
netlink_drain(int fd)
{
	char bytes[8192];
	bool any = false;

	for (;;) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		/* ENOBUFS: there was more than the socket holds */
		if (n < 0 && errno != ENOBUFS && errno != EINTR)
			return any;
		any = true;
	}
}
