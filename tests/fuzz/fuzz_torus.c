/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as torus-2QoS.conf, for a torus and a mesh: an error with a sentence, or
 * grids and an order of ports.
 */
#include <string.h>

#include "core/abi/host.h"
#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "plugins/engines/torus2qos/torus2qos.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/generate_words.h"

static const char *const words[] = { "torus 4x3 1", "mesh 3x3x2 1" };
#define N_FABRICS (sizeof(words) / sizeof(words[0]))

static const struct fm_fabric *
fabric(unsigned i)
{
	static struct snapshot *snap[N_FABRICS];
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;

	if (snap[i] == NULL) {
		must(generate_words(words[i], &nl, &err) == 0);
		must(netlist_snapshot(&nl, &view, &snap[i], &err) == 0);
		netlist_fini(&nl);
	}
	return &snap[i]->fab;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct torus_options o = {
		.torus_config = { .path = "t", .bytes = (const char *)data, .n_bytes = size },
		.qos_levels = 2
	};
	struct route_call call = { .budget_bytes = 16 << 20, .name = "torus2qos" };
	struct fm_pool *pool = fm_pool_new(1);
	struct fm_error err = { 0 };
	struct route_host *host;

	fuzz_be_quiet();
	must(pool != NULL && (host = route_host_new(pool, &err)) != NULL);
	for (unsigned i = 0; i < N_FABRICS; i++) {
		struct torus_conf conf = { 0 };
		struct fm_grids grids;
		struct fm_arcs arcs;
		int rc = torus_find(
		    route_host_begin(host, &call), fabric(i), &o, &arcs, &grids, &conf, &err);

		must(rc == 0 || ((rc == FM_E_CONFIG || rc == FM_E_TOPOLOGY) && err.msg[0] != '\0'));
		route_host_end(host);
	}
	route_host_free(host);
	fm_pool_free(pool);
	return 0;
}
