/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/interfaces.h - the IP addresses of the host's IPoIB interfaces, from the kernel or
 * from a file.
 *
 * The hardware address of such an interface (RFC 4391 9.1.1) has 20 bytes: flags, QPN (24 bits)
 * and the GID of its port, or an alias of it; its broadcast address has its P_Key.
 *
 *	ADDRESS[/BITS] HARDWARE-ADDRESS [P_KEY]
 *
 * is a line of a file, the hardware address as ip-link(8) shows it; '#' begins a comment.
 */
#ifndef HOST_AGENT_INTERFACES_H
#define HOST_AGENT_INTERFACES_H

#include "core/wire/ip_service.h"
#include "lib/error.h"
#include "lib/vec.h"

struct interface_ip {
	struct ip_service is;
	int index;	  /* of the interface, 0: of a file */
	uint8_t n_prefix; /* bits that its subnet shares, of 128 */
};
struct interface_ips {
	FM_VEC(struct interface_ip) item;
};

void interface_ips_fini(struct interface_ips *l);
/* Anew, of the interfaces that are up, link-local addresses and those that are not valid yet left
 * out.  fd: of netlink_open().  FM_E_SYSTEM. */
int interfaces_ask(struct interface_ips *l, int fd, struct fm_error *err);
/* Anew, from a file.  FM_E_CONFIG: file, line, what is wrong with it. */
int interfaces_read(struct interface_ips *l, const char *path, struct fm_error *err);

#endif
