/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/fuzz/fabric.h - a small fabric for what is read to be looked up in. */
#ifndef TESTS_FUZZ_FABRIC_H
#define TESTS_FUZZ_FABRIC_H

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/generate_words.h"

/* As `fmroute gen words` makes it; the same one from the first call on. */
static inline const struct snapshot *
fuzz_fabric(const char *words)
{
	static struct snapshot *snap;
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;

	if (snap != NULL)
		return snap;
	must(generate_words(words, &nl, &err) == 0);
	must(netlist_snapshot(&nl, &view, &snap, &err) == 0);
	netlist_fini(&nl);
	return snap;
}

#endif
