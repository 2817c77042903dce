/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/umad_agent.h - one agent of one class on a descriptor of its own,
 * for who blocks on it in a thread.
 *
 * With RMPP the kernel cuts what is longer than a MAD and puts it together.
 * Whoever does not read keeps only this agent's MADs waiting.
 */
#ifndef CORE_MAD_UMAD_AGENT_H
#define CORE_MAD_UMAD_AGENT_H

#include <stddef.h>

#include "core/mad/transport.h"

struct umad_agent;
struct umad_agent_class {
	uint8_t mgmt_class, class_version;
	bool rmpp;
	uint8_t methods[8]; /* that reach it unasked; ends with 0 */
};
/* spec: as of the transport, "umad[:CA[:PORT]]". */
int umad_agent_open(const char *spec, const struct umad_agent_class *c, struct umad_agent **out,
    struct fm_error *err);
void umad_agent_close(struct umad_agent *a); /* NULL is fine */

struct umad_message {
	struct mad_addr addr;
	int status;	      /* 0, or ETIMEDOUT: this is our own request, unanswered */
	const uint8_t *bytes; /* [n_bytes] until the next call */
	size_t n_bytes;
};
/* Waits so long at most: 1 and *m, 0: nothing came, else an errno, negative. */
int umad_agent_receive(struct umad_agent *a, int timeout_ms, struct umad_message *m);
/* timeout_ms > 0: an answer is expected. */
int umad_agent_send(struct umad_agent *a, const struct mad_addr *to, const uint8_t *bytes,
    size_t n_bytes, int timeout_ms, int n_retries, struct fm_error *err);

#endif
