/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alias_guid - ask the SA for an alias GUID, or give one back, as a host does
 * (no program of infiniband-diags sets a GUIDInfoRecord).
 *
 *	alias_guid SM_LID LID ENTRY GUID	0: one that the SA chooses
 *	alias_guid SM_LID LID ENTRY delete
 *
 * Entries of block 0.  Prints the entry as the SA tells it; exit 1 with its status.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/umad_agent.h"
#include "core/wire/sa_wire.h"

#define GSI_QKEY 0x80010000
#define TIMEOUT_MS 5000

static int
fail(const char *what)
{
	fprintf(stderr, "alias_guid: %s\n", what);
	return 1;
}

static void
compose(char **arg, uint8_t *mad)
{
	struct sa_guid_info_record want = { .lid = (uint16_t)strtoul(arg[2], NULL, 0) };
	unsigned entry = (unsigned)strtoul(arg[3], NULL, 0) % 8;
	bool gives_back = strcmp(arg[4], "delete") == 0;
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = gives_back ? SA_DELETE : SA_SET,
		.attr = SA_GUID_INFO_RECORD,
		.tid = 1,
		.mask = SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << entry };

	want.guid[entry] = gives_back ? 0 : strtoull(arg[4], NULL, 0);
	sa_header_put(mad, &h);
	sa_record_put(sa_record_of(SA_GUID_INFO_RECORD), mad + SA_DATA_AT, &want);
}

int
main(int argc, char **argv)
{
	static const struct umad_agent_class class = { .mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION };
	struct mad_addr to = { .qpn = 1, .qkey = GSI_QKEY };
	struct sa_guid_info_record got;
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };
	struct fm_error err = { 0 };
	struct umad_message m;
	struct umad_agent *a;
	struct sa_header h;

	if (argc != 5)
		return fail("usage: alias_guid SM_LID LID ENTRY GUID|delete");
	to.lid = (uint16_t)strtoul(argv[1], NULL, 0);
	compose(argv, mad);
	if (umad_agent_open("umad", &class, &a, &err) != 0 ||
	    umad_agent_send(a, &to, mad, sizeof(mad), TIMEOUT_MS, 0, &err) != 0)
		return fail(err.msg);
	if (umad_agent_receive(a, TIMEOUT_MS, &m) != 1 || m.status != 0)
		return fail("no answer");
	sa_header_get(m.bytes, &h);
	sa_record_get(sa_record_of(SA_GUID_INFO_RECORD), m.bytes + SA_DATA_AT, &got);
	umad_agent_close(a);
	printf("0x%016" PRIx64 "\n", got.guid[strtoul(argv[3], NULL, 0) % 8]);
	if (h.status != 0)
		fprintf(stderr, "alias_guid: status 0x%04x\n", h.status);
	return h.status != 0;
}
