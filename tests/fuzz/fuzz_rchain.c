/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the three policy files of MLNX_OFED's routing chains, one behind the other
 * with a form feed between: an error that names file and line, or steps in order and
 * topologies whose members can be told.
 */
#include <string.h>

#include "core/overlay/rchain.h"
#include "lib/bitset.h"
#include "tests/fuzz/fabric.h"

#define WORDS 8

/* What stands before the next form feed. */
static struct fm_file
next_file(const char *path, const char **at, const char *end)
{
	const char *from = *at, *to = memchr(from, '\f', (size_t)(end - from));

	if (to == NULL)
		to = end;
	*at = to < end ? to + 1 : end;
	return (struct fm_file){ path, from, (size_t)(to - from) };
}

static void
check_chain(const struct rchain *rc)
{
	const struct snapshot *snap = fuzz_fabric("pgft 2 4,4 1,4 1,1");

	must(FM_BITSET_WORDS(snap->fab.n_switches) <= WORDS &&
	    FM_BITSET_WORDS(snap->fab.n_ends) <= WORDS);

	for (size_t i = 0; i < rc->steps.n; i++) {
		const struct rchain_step *s = &rc->steps.item[i];

		must(i == 0 || rc->steps.item[i - 1].id < s->id);
		must(s->topology < rc->topologies.n && s->engine != NULL);
		must(s->fallback_to == FM_NONE || s->fallback_to < rc->steps.n);
	}
	for (uint32_t t = 0; t < rc->topologies.n; t++) {
		uint64_t sw[WORDS] = { 0 }, end[WORDS] = { 0 };
		struct fm_error err = { 0 };

		must(rchain_members(rc, t, snap, sw, end, &err) == 0 || err.msg[0] != '\0');
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct rchain_files files;
	struct fm_error err = { 0 };
	struct fm_arena mem;
	struct rchain rc;

	fuzz_be_quiet();
	if (size == 0)
		return 0;
	files.groups = next_file("pgrp", &at, end);
	files.topologies = next_file("topo", &at, end);
	files.steps = next_file("rch", &at, end);
	fm_arena_init(&mem, SIZE_MAX);
	if (rchain_read(&rc, &files, &mem, NULL, &err) == 0)
		check_chain(&rc);
	else
		must(err.kind == FM_E_CONFIG && strchr(err.msg, ':') != NULL);
	rchain_fini(&rc);
	fm_arena_fini(&mem);
	return 0;
}
