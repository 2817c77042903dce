/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overwrite - write over the forwarding table of a switch, as any program on any host can that may
 * open umad (no program of infiniband-diags does).
 *
 *	overwrite PORT,PORT,... N_BLOCKS PORT_FOR_ALL_LIDS
 *
 * The first words are the directed route to the switch, from our own port on.  Exit 1 unless each
 * block is answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/umad_agent.h"
#include "core/wire/wire.h"

#define TIMEOUT_MS 5000

static int
fail(const char *what)
{
	fprintf(stderr, "overwrite: %s\n", what);
	return 1;
}

static void
compose(const char *path, unsigned block, uint8_t port, uint8_t *mad)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_DR,
		.class_version = 1,
		.method = WIRE_SET,
		.tid = block + 1,
		.attr = WIRE_ATTR_LFT,
		.modifier = block,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE };
	char *next = (char *)(uintptr_t)path;

	for (; *next != '\0'; next += *next == ',')
		mad[WIRE_DR_INITIAL_PATH_AT + ++h.hop_count] = (uint8_t)strtoul(next, &next, 10);
	wire_header_put(mad, &h);
	memset(mad + WIRE_SMP_DATA_AT, port, WIRE_SMP_DATA_BYTES);
}

int
main(int argc, char **argv)
{
	static const struct umad_agent_class class = { .mgmt_class = WIRE_CLASS_SMP_DR,
		.class_version = 1 };
	struct mad_addr to = { .lid = WIRE_LID_PERMISSIVE };
	struct fm_error err = { 0 };
	struct umad_message m;
	struct umad_agent *a;

	if (argc != 4)
		return fail("usage: overwrite PORT,PORT,... N_BLOCKS PORT_FOR_ALL_LIDS");
	if (umad_agent_open("umad", &class, &a, &err) != 0)
		return fail(err.msg);
	for (unsigned b = 0; b < strtoul(argv[2], NULL, 10); b++) {
		uint8_t mad[WIRE_MAD_BYTES] = { 0 };

		compose(argv[1], b, (uint8_t)strtoul(argv[3], NULL, 10), mad);
		if (umad_agent_send(a, &to, mad, sizeof(mad), TIMEOUT_MS, 0, &err) != 0)
			return fail(err.msg);
		if (umad_agent_receive(a, 2 * TIMEOUT_MS, &m) != 1 || m.status != 0)
			return fail("no answer");
	}
	umad_agent_close(a);
	return 0;
}
