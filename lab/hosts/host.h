/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/hosts/host.h - what Linux' ib_mad and ib_umad do at a port of a host.
 *
 *	program ── file ──┬─ agent (class, methods) ─┐
 *	program ── file ──┼─ agent                   ├─ port ── network
 *	                  └─ agent (kernel RMPP) ────┘
 *
 * Any number of files may be open at a place.  Rules kept, by what programs
 * see of them:
 *	- a method of a class has one agent; another that wants it is refused;
 *	- the upper 32 bits of the TID of a request become the agent's; answers
 *	  find their agent by them;
 *	- an answer to nothing pending is dropped; a request with a time-out comes
 *	  back, its 24 bytes of header, with ETIMEDOUT when its retries are spent;
 *	- requests and traps go to the agent of their class, version and method; a
 *	  Get or Set that nobody wants is answered "unsupported method or
 *	  attribute", but SMInfo of an SM that has ended is not answered;
 *	- agents with rmpp_version 1 send and get whole messages (rmpp_port.h).
 *
 * No sockets here: a file hands over what it receives by a function.
 */
#ifndef LAB_HOSTS_HOST_H
#define LAB_HOSTS_HOST_H

#include "lab/sim/sim.h"

#define HOST_AGENTS_MAX 32 /* of a file, as the kernel */

struct host_message {
	uint32_t agent;
	int status;		      /* received: 0 or ETIMEDOUT */
	uint32_t timeout_ms, retries; /* sent: for the answer, 0 = none is awaited */
	struct mad_addr addr;
	uint8_t *bytes; /* sent: the upper half of its TID is overwritten */
	size_t length;
};

struct host_registration {
	uint8_t mgmt_class; /* 0: an agent that only sends */
	uint8_t class_version, rmpp_version;
	bool user_rmpp;	     /* segments are passed as they come */
	uint32_t oui;	     /* vendor classes 0x30..0x4f */
	uint64_t methods[2]; /* bit m: requests of method m are for it */
};

/* False: the program does not read, the message is dropped and counted. */
typedef bool (*host_receive_fn)(void *arg, const struct host_message *m);

struct host_file;
/* Open the port at a place, which no transport may sit at.  NULL: that, or
 * memory is out. */
struct host_file *host_open(struct sim *s, struct sim_place at, host_receive_fn fn, void *arg);
void host_close(struct host_file *f);

/* Each: a number from 0, or a negative errno as the kernel's. */
int host_register(struct host_file *f, const struct host_registration *r);
int host_unregister(struct host_file *f, uint32_t agent);
int host_send(struct host_file *f, const struct host_message *m);

#endif
