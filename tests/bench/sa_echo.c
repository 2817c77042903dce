/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sa_echo [umad:CA[:PORT]]: the least that a subnet administrator can cost, one MAD a system call.
 *
 * Every request of class SA goes back as it came, as its own answer (status 0): one receive, one
 * send, no queue, no look at what is asked.  It rules no subnet: another program brings it up and
 * leaves.  Its CPU time is the floor under that of an SA on the same machine and simulator.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mad/umad_agent.h"
#include "core/wire/sa_wire.h"

#define METHOD_AT 3 /* in a MAD */
#define RESPONSE 0x80
#define WAIT_MS 100

static const struct umad_agent_class sa_class = { .mgmt_class = WIRE_CLASS_SA,
	.class_version = SA_CLASS_VERSION,
	.rmpp = true,
	.methods = { SA_GET, SA_SET } };

static volatile sig_atomic_t ended;

static void
end(int signal)
{
	(void)signal;
	ended = 1;
}

static int
answer(struct umad_agent *a, const struct umad_message *m, struct fm_error *err)
{
	uint8_t mad[WIRE_MAD_BYTES];

	if (m->status != 0 || m->n_bytes != sizeof(mad))
		return 0;
	memcpy(mad, m->bytes, sizeof(mad));
	mad[METHOD_AT] = mad[METHOD_AT] == SA_SET ? SA_GET | RESPONSE : mad[METHOD_AT] | RESPONSE;
	return umad_agent_send(a, &m->addr, mad, sizeof(mad), 0, 0, err);
}

int
main(int argc, char **argv)
{
	struct umad_agent *a;
	struct umad_message m;
	struct fm_error err = { 0 };
	int rc;

	signal(SIGTERM, end);
	if (umad_agent_open(argc > 1 ? argv[1] : "umad", &sa_class, &a, &err) != 0) {
		fprintf(stderr, "sa_echo: %s\n", err.msg);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (!ended && (rc = umad_agent_receive(a, WAIT_MS, &m)) >= 0)
		if (rc > 0 && answer(a, &m, &err) != 0)
			fprintf(stderr, "sa_echo: %s\n", err.msg);
	umad_agent_close(a);
	return 0;
}
