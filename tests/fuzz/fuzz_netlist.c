/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a fabric file, of ibnetdiscover's kind or of ibutils': an error
 * with a sentence, or a fabric that survives writing, reading again and becoming
 * a snapshot.
 */
#include <stdio.h>

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "tests/fuzz/fuzz.h"

static void
try_as(const char *name, int (*write)(const struct netlist *nl, FILE *out, struct fm_error *err),
    const uint8_t *data, size_t size)
{
	struct netlist_view view = { .n_vls = 2 };
	struct netlist nl = { 0 }, again = { 0 };
	struct snapshot *snap;
	struct fm_error err = { 0 };
	char *text = NULL;
	size_t n = 0;
	FILE *out;

	if (netlist_parse(name, (const char *)data, size, &nl, &err) != 0) {
		must(err.msg[0] != '\0');
		return;
	}
	out = open_memstream(&text, &n);
	must(out != NULL && write(&nl, out, &err) == 0);
	fclose(out);
	must(netlist_parse(name, text, n, &again, &err) == 0 && again.n_nodes == nl.n_nodes);
	if (netlist_snapshot(&nl, &view, &snap, &err) == 0)
		snapshot_put(snap);
	netlist_fini(&again);
	netlist_fini(&nl);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_be_quiet();
	try_as("f", netlist_write, data, size);
	try_as("f.topo", netlist_write_topo, data, size);
	return 0;
}
