/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkey_probe LID...: does a packet of ours reach a port, and its answer us?  Asks for the
 * ClassPortInfo of performance management (QP 1: P_Keys count) of each LID under each
 * P_Key that our port has, and prints a line "LID PKEY answered|silent" for each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#define MAD_BYTES 256
#define CLASS_PERF 4
#define METHOD_GET 1
#define ATTR_CLASS_PORT_INFO 1
#define GSI_QKEY 0x80010000u
#define TIMEOUT_MS 200

static int
ask(int port, int agent, void *umad, int lid, int pkey_index)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;

	memset(umad, 0, umad_size() + MAD_BYTES);
	umad_set_addr(umad, lid, 1, 0, (int)GSI_QKEY);
	umad_set_pkey(umad, pkey_index);
	mad[0] = 1;
	mad[1] = CLASS_PERF;
	mad[2] = 1;
	mad[3] = METHOD_GET;
	mad[15] = (uint8_t)(pkey_index + 1);
	mad[17] = ATTR_CLASS_PORT_INFO;
	if (umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS, 0) < 0)
		return -1;
	if (umad_recv(port, umad, &length, 10 * TIMEOUT_MS) < 0)
		return -1;
	return umad_status(umad) == 0;
}

static void
probe(int port, int agent, void *umad, const umad_port_t *local, int lid)
{
	for (unsigned i = 0; i < local->pkeys_size; i++) {
		unsigned key = local->pkeys[i];
		int rc;

		if ((key & 0x7fff) == 0)
			continue;
		rc = ask(port, agent, umad, lid, (int)i);
		printf("%d 0x%04x %s\n", lid, key,
		    rc > 0	  ? "answered"
			: rc == 0 ? "silent"
				  : "error");
	}
}

int
main(int argc, char **argv)
{
	umad_port_t local;
	int port, agent;
	void *umad;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &local) < 0) {
		fprintf(stderr, "pkey_probe: no port\n");
		return 1;
	}
	port = umad_open_port(NULL, 0);
	agent = umad_register(port, CLASS_PERF, 1, 0, NULL);
	umad = calloc(1, umad_size() + MAD_BYTES);
	if (port < 0 || agent < 0 || umad == NULL) {
		fprintf(stderr, "pkey_probe: no agent\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		probe(port, agent, umad, &local, (int)strtol(argv[i], NULL, 0));
	free(umad);
	umad_unregister(port, agent);
	umad_close_port(port);
	umad_release_port(&local);
	return 0;
}
