/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/netlink.h - rtnetlink: what the kernel has is asked for, changed and listened to.
 *
 * Only what the agent needs, over a socket that may be any: a test is the kernel at the other end.
 */
#ifndef HOST_AGENT_NETLINK_H
#define HOST_AGENT_NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define NETLINK_MOST 512 /* bytes of a message that we send */

/* A message that is being made. */
struct netlink_message {
	union {
		struct nlmsghdr h;
		char bytes[NETLINK_MOST];
	};
};

/* groups: RTMGRP_..., 0: none; a descriptor, or -1 with *err set. */
int netlink_open(unsigned groups, struct fm_error *err);
/* Its header, and a body of n zeros, which is returned. */
void *netlink_begin(struct netlink_message *m, int type, int flags, size_t n);
void netlink_add(struct netlink_message *m, int attribute, const void *bytes, size_t n);
/* Sends it, and each() for each message of the answer until it is done.  FM_E_SYSTEM: errno of the
 * kernel in words; *why: as a number, where it is not NULL. */
typedef bool (*netlink_each)(void *arg, const struct nlmsghdr *h);
int netlink_ask(int fd, struct netlink_message *m, netlink_each each, void *arg, int *why,
    struct fm_error *err);
/* The attributes of a message by their numbers up to most, NULL: it has none.  body: bytes of what
 * stands before them. */
void netlink_attributes(
    const struct nlmsghdr *h, size_t body, const struct rtattr **attribute, int most);
/* What has come is thrown away; true: something had. */
bool netlink_drain(int fd);

#endif
