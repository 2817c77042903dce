/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/kernel_port.h - a port as the kernel has it in sysfs, without opening it: a short file
 * for each number, as this is done often.
 */
#ifndef HOST_AGENT_KERNEL_PORT_H
#define HOST_AGENT_KERNEL_PORT_H

#include <infiniband/umad.h>

struct kernel_port {
	char ca[UMAD_CA_NAME_LEN];
	int number;
};

/* What its file (SYS_PORT_STATE and so on) has at its beginning, decimal or 0x...; 0: it cannot be
 * read. */
unsigned kernel_port_number(const struct kernel_port *at, const char *file);

#endif
