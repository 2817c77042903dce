/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/host.h - what the parts of fmd-engine-host share.
 *
 *	host_main.c	the sandbox, the file; engines
 *	host_vendor.c	programmers of adaptive routing
 *	host_wire.c	packets, and memory of fmd's
 */
#ifndef CORE_APART_HOST_H
#define CORE_APART_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/apart/wire.h"

void host_say(const void *packet, size_t n);
/* A packet of n bytes and the descriptors that come with it, else -1; false: fmd has hung up. */
bool host_await(void *packet, size_t n, int fds[2]);

/* To whole huge pages. */
size_t host_round_up(size_t n);
/* As a child of fmd maps it: nothing else may be there.  NULL: something is. */
unsigned char *host_map_at(uint64_t at, size_t n, int protection, int flags, int fd);
/* The input of a call, for reading; NULL: no memory. */
unsigned char *host_map_input(const struct wire_call *call, int fd, const unsigned char *tables);
void host_unmap_input(const struct wire_call *call, unsigned char *input);

/* Say what it is, and answer until fmd hangs up. */
void host_serve_vendor(const struct fm_vendor *vendor);

#endif
