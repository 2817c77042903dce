/* SPDX-License-Identifier: BSD-2-Clause */
/* host/agent/kernel_port.c - O(1). */
#include "host/agent/kernel_port.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned
kernel_port_number(const struct kernel_port *at, const char *file)
{
	char path[PATH_MAX], text[32] = "";
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), SYS_INFINIBAND "/%s/" SYS_CA_PORTS_DIR "/%d/%s", at->ca,
	    at->number, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	return n > 0 ? (unsigned)strtoul(text, NULL, 0) : 0;
}
