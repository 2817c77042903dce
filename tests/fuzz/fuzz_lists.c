/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the files that are lists of GUIDs and names: OpenSM's guid2lid, prefix routes,
 * and members of groups, roots and regions (a line each): an error with a
 * sentence, or what keeps to the rules of the list.
 */
#include <string.h>

#include "core/nodes/nodes.h"
#include "core/subnet/guid2lid.h"
#include "core/subnet/prefix_routes.h"
#include "lib/bitset.h"
#include "lib/vec.h"
#include "tests/fuzz/fabric.h"

#define ITEMS_MAX 64

static void
read_guid2mkey(const char *text, size_t size)
{
	struct fm_error err = { 0 };
	struct guid2mkey g;

	if (guid2mkey_parse("f", text, size, &g, NULL, &err) != 0)
		return;
	must(g.n_kinds <= GUID2MKEY_KINDS);
	for (size_t i = 0; i < g.entries.n; i++)
		must(g.entries.item[i].m_key != 0 &&
		    guid2mkey_find(&g, g.entries.item[i].guid) == g.entries.item[i].m_key);
	guid2mkey_fini(&g);
}

static void
read_guid2lid(const char *text, size_t size)
{
	static uint8_t taken[65536];
	struct guid2lid g = { 0 };
	struct fm_error err = { 0 };

	memset(taken, 0, sizeof(taken));
	if (guid2lid_parse("f", text, size, &g, NULL, &err) != 0)
		must(err.kind == FM_E_CONFIG && strncmp(err.msg, "f:", 2) == 0);
	for (size_t i = 0; i < g.entries.n; i++) {
		const struct guid2lid_entry *e = &g.entries.item[i];

		must(i == 0 || g.entries.item[i - 1].guid < e->guid);
		must(guid2lid_find(&g, e->guid) == e && e->lmc < 8 && e->lid > 0);
		for (uint32_t lid = e->lid; lid < e->lid + (1u << e->lmc); lid++)
			must(lid < 0xc000 && taken[lid]++ == 0);
	}
	guid2lid_fini(&g);
}

static void
read_prefix_routes(const char *text, size_t size)
{
	struct prefix_routes routes = { 0 };
	struct fm_error err = { 0 };

	if (prefix_routes_parse("f", text, size, &routes, NULL, &err) != 0)
		must(err.kind == FM_E_CONFIG && strncmp(err.msg, "f:", 2) == 0 && routes.n == 0);
	fm_vec_fini(&routes);
}

/* Each line an item; those that are none are left out. */
static void
read_items(char *text)
{
	const struct snapshot *snap = fuzz_fabric("pgft 2 2,3 1,2 1,1");
	struct node_item items[ITEMS_MAX];
	struct node_target to;
	bool hit[ITEMS_MAX] = { false };
	struct fm_error err = { 0 };
	struct fm_arena mem;
	size_t n = 0;

	fm_arena_init(&mem, SIZE_MAX);
	for (char *line = text; line != NULL && n < ITEMS_MAX;) {
		char *end = strchr(line, '\n');

		if (end != NULL)
			*end = '\0';
		err.msg[0] = '\0';
		if (node_item_parse(line, &items[n], &err) == 0)
			n++;
		else
			must(err.msg[0] != '\0');
		line = end != NULL ? end + 1 : NULL;
	}
	must(node_target_new(snap, &mem, &to));
	if (node_set_resolve(items, n, &to, hit, snap, &mem, &err) != 0)
		must(err.kind == FM_E_CONFIG); /* a group that is not bound */
	must(fm_bit_next(to.sw, FM_BITSET_WORDS(snap->fab.n_switches) * 64, snap->fab.n_switches) >=
	    snap->fab.n_switches);
	fm_arena_fini(&mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_be_quiet();
	read_guid2lid((const char *)data, size);
	read_guid2mkey((const char *)data, size);
	read_prefix_routes((const char *)data, size);
	read_items(text);
	free(text);
	return 0;
}
