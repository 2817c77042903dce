/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/hosts/host_internal.h - files, agents and what waits for an answer:
 * shared by host.c (who is there, who gets what) and host_send.c.
 */
#ifndef LAB_HOSTS_HOST_INTERNAL_H
#define LAB_HOSTS_HOST_INTERNAL_H

#include "core/rmpp/rmpp_port.h"
#include "lab/hosts/host.h"
#include "lab/sim/net.h"

#define MAD_HEADER_BYTES 24 /* all that comes back of a request that timed out */

struct host_agent {
	struct host_file *file;
	struct host_registration reg;
	uint32_t id;		/* in its file */
	uint32_t high_tid;	/* upper half of its TIDs */
	struct rmpp_port *rmpp; /* rmpp_version 1, else NULL */
};

struct host_file {
	struct sim_host *host;
	struct host_file *next;
	host_receive_fn receive;
	void *arg;
	struct host_agent *agents[HOST_AGENTS_MAX];
};

/* A request whose answer is awaited, or a message that RMPP is sending. */
struct host_pending {
	struct host_agent *agent; /* NULL = free */
	struct mad_addr to;
	uint32_t timeout_ms, retries_left;
	int64_t deadline_ns; /* INT64_MAX while RMPP sends it */
	bool in_rmpp, wants_answer;
	uint8_t mad[MAD_BYTES]; /* a long message: its header */
};

struct sim_host {
	struct sim_client client;
	struct host_file *files;
	FM_VEC(struct host_pending) pending;
	FM_VEC(uint32_t) free_pending;
	struct fm_hash by_tid; /* agent, TID and class -> pending */
	int64_t timer_ns;      /* EVENT_EXPIRE comes then; INT64_MAX = not set */
};

static inline struct sim_host *
host_of(struct sim_client *c)
{
	return (struct sim_host *)((char *)c - offsetof(struct sim_host, client));
}

static inline bool
is_response(const uint8_t *mad)
{
	return mad[MAD_METHOD] & WIRE_RESPONSE_BIT || mad[MAD_METHOD] == WIRE_TRAP_REPRESS;
}

/* ---- host_send.c */
/* Of this agent's, as it goes away. */
void host_forget(struct sim_host *h, const struct host_agent *a);
/* Is it the answer to something pending?  Then that waits no more. */
bool host_settle(struct sim_host *h, const struct host_agent *a, const uint8_t *mad);
void host_expire(struct sim_client *c);
void host_set_timer(struct sim_host *h, int64_t at_ns);
/* For rmpp_port_ops of an agent. */
void host_rmpp_send(void *agent, const uint8_t *mad, const struct mad_addr *to);
void host_rmpp_sent(void *agent, uint64_t cookie, uint8_t status);
/* A message to the program that has the agent; status ETIMEDOUT: its own, given back. */
void host_give(struct host_agent *a, const uint8_t *bytes, size_t length,
    const struct mad_addr *from, int status);

#endif
