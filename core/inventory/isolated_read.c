/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/inventory/isolated_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/nodes/groups.h"
#include "core/text/number.h"
#include "lib/bitset.h"
#include "lib/error.h"

#define SWITCHES_NAMED 3

/* ----------------------------------------------------------------- one switch */

static bool
is_called(const char *name, const char *word, bool first_word)
{
	size_t len = first_word ? strcspn(name, " ") : strlen(name);

	return strlen(word) == len && memcmp(name, word, len) == 0;
}

/* Switches of that name; the slot of the last, list: the first of their names and GUIDs. */
static unsigned
find_called(const struct inventory *inv, const char *word, bool first_word, uint32_t *slot,
    char *list, size_t size)
{
	unsigned n = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *node = inv_node(inv, i);

		if (!inv_is_switch(node) || !node->present ||
		    (!is_called(node->name, word, first_word) &&
			!is_called(node->desc, word, first_word)))
			continue;
		*slot = i;
		if (n++ < SWITCHES_NAMED && at < size)
			at += (size_t)snprintf(list + at, size - at, "%s0x%016" PRIx64 " (%.24s)",
			    n > 1 ? ", " : "", node->guid, node->name);
	}
	if (n > SWITCHES_NAMED && at < size)
		snprintf(list + at, size - at, ", ...");
	return n;
}

/* The switch of this name or node GUID.  One that is not there counts by its GUID. */
static int
find_switch(const struct inventory *inv, const char *word, uint64_t *guid, struct fm_error *err)
{
	uint32_t slot = INV_NONE;
	char list[200] = "";
	unsigned n;

	if (strncmp(word, "0x", 2) == 0 && number_parse(word, guid) && *guid != 0)
		return 0;
	n = find_called(inv, word, false, &slot, list, sizeof(list));
	if (n == 0)
		n = find_called(inv, word, true, &slot, list, sizeof(list));
	if (n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.80s\" is no name or node GUID of a switch: write %s", word,
		    ISOLATED_FORMS);
	if (n > 1)
		return fm_fail(
		    err, FM_E_CONFIG, "\"%.24s\" is %u switches: write a GUID: %s", word, n, list);
	*guid = inv_node(inv, slot)->guid;
	return 0;
}

/* What is isolated under a name, whoever has that name now: a switch that is gone, or has been
 * replaced since.  False: none, or several, have it. */
static bool
find_kept(const struct isolated *set, const char *word, unsigned port, uint64_t *guid)
{
	unsigned n = 0;

	for (int first_word = 0; n == 0 && first_word < 2; first_word++)
		for (size_t i = 0; i < set->items.n; i++) {
			const struct isolated_item *item = &set->items.item[i];

			if (item->port != port || item->name[0] == '\0' ||
			    !is_called(item->name, word, first_word != 0))
				continue;
			*guid = item->guid;
			n++;
		}
	return n == 1;
}

/* "NAME:PORT" of a link. */
static int
read_link(const char *text, const char *name, char *word, size_t size, uint8_t *port,
    struct fm_error *err)
{
	const char *colon = strrchr(name, ':');
	size_t len = colon != NULL ? (size_t)(colon - name) : 0;
	uint64_t number = 0;

	if (len == 0 || len >= size || !number_parse(colon + 1, &number) || number == 0 ||
	    number > 254)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.80s\": write link:NAME:PORT, of a switch by its name or node GUID, and a "
		    "port from 1 to 254",
		    text);
	memcpy(word, name, len);
	word[len] = '\0';
	*port = (uint8_t)number;
	return 0;
}

/* A switch, or its port.  kept: what may be meant by the name that it had, or NULL. */
static int
find_item(const struct inventory *inv, const char *word, const struct isolated *kept,
    struct isolated_item *item, struct fm_error *err)
{
	int rc = find_switch(inv, word, &item->guid, err);

	if (kept != NULL && (rc != 0 || !isolated_has(kept, item->guid, item->port)) &&
	    find_kept(kept, word, item->port, &item->guid))
		return 0;
	return rc;
}

/* Is there a cable that it names? */
static int
find_cables(const struct inventory *inv, const struct isolated_item *item, struct fm_error *err)
{
	uint32_t slot = inv_find(inv, item->guid);
	const struct inv_node *n = slot != INV_NONE ? inv_node(inv, slot) : NULL;
	const struct inv_port *p;

	if (n == NULL || !n->present || !inv_is_switch(n))
		return fm_fail(
		    err, FM_E_CONFIG, "there is no switch of GUID 0x%016" PRIx64, item->guid);
	if (item->port == 0)
		return 0;
	p = item->port <= n->n_ports ? &n->ports[item->port] : NULL;
	if (p == NULL || p->edge != EDGE_LINKED)
		return fm_fail(
		    err, FM_E_CONFIG, "%.80s port %u has no cable that is up", n->name, item->port);
	if (!inv_is_switch(inv_node(inv, p->peer)))
		return fm_fail(err, FM_E_CONFIG,
		    "%.80s port %u leads to host %.80s: only cables between switches are isolated",
		    n->name, item->port, inv_node(inv, p->peer)->name);
	return 0;
}

/* A cable that is isolated by its other end is meant by that. */
static void
take_kept_end(const struct isolated_places *at, struct isolated_item *item)
{
	const struct inventory *inv = at->inv;
	uint32_t slot = inv_find(inv, item->guid);
	const struct inv_node *n = slot != INV_NONE ? inv_node(inv, slot) : NULL;
	const struct inv_port *p;
	uint64_t far;

	if (n == NULL || item->port == 0 || item->port > n->n_ports ||
	    isolated_has(at->now, item->guid, item->port))
		return;
	p = &n->ports[item->port];
	if (p->edge != EDGE_LINKED)
		return;
	far = inv_node(inv, p->peer)->guid;
	if (p->peer_port != 0 && isolated_has(at->now, far, p->peer_port))
		*item = (struct isolated_item){ .guid = far, .port = p->peer_port };
}

static int
add(const struct inventory *inv, const struct isolated_item *item, struct isolated *out,
    struct fm_error *err)
{
	uint32_t slot = inv_find(inv, item->guid);

	if (!isolated_add(out, item->guid, item->port))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for isolated cables");
	isolated_name(out, item->guid, item->port,
	    slot != INV_NONE && inv_node(inv, slot)->present ? inv_node(inv, slot)->name
							     : item->name);
	return 0;
}

static int
read_one(const struct isolated_places *at, const char *text, const char *word, uint8_t port,
    bool restores, struct isolated *out, struct fm_error *err)
{
	struct isolated_item item = { .port = port };
	int rc = find_item(at->inv, word, restores ? at->now : NULL, &item, err);

	if (rc == 0 && !restores)
		rc = find_cables(at->inv, &item, err);
	if (rc != 0)
		return rc;
	take_kept_end(at, &item);
	if (isolated_has(at->now, item.guid, item.port) != restores)
		return fm_fail(err, FM_E_CONFIG, "%.100s is %s", text,
		    restores ? "not isolated: fmctl isolate lists what is" : "isolated already");
	return add(at->inv, &item, out, err);
}

/* -------------------------------------------------------------- several switches */

/* A name is taken for one where a switch has it, whatever letters are in it. */
static bool
means_several(const char *word)
{
	return word[0] == '@' || word[0] == '!' || strncmp(word, "system:", 7) == 0 ||
	    strncmp(word, "level:", 6) == 0 || strncmp(word, "name:", 5) == 0 ||
	    strpbrk(word, "*?[/") != NULL;
}

/* The switches that the item names and that are there, isolated or not: n of them. */
static int
take_named(const struct isolated_places *at, const uint64_t *sw, bool restores,
    struct isolated *out, uint32_t *n, struct fm_error *err)
{
	int rc = 0;

	for (fm_sw i = 0; rc == 0 && i < at->snap->fab.n_switches; i++) {
		struct isolated_item item = { .guid = at->snap->fab.sw_guid[i] };
		uint32_t slot = fm_bit_test(sw, i) ? inv_find(at->inv, item.guid) : INV_NONE;

		if (slot == INV_NONE || !inv_node(at->inv, slot)->present)
			continue;
		++*n;
		if (isolated_has(at->now, item.guid, 0) == restores)
			rc = add(at->inv, &item, out, err);
	}
	return rc;
}

/* Switches by the names that they had, and that are gone. */
static int
take_kept(const struct isolated_places *at, const struct node_item *who, struct isolated *out,
    struct fm_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && who->kind == NODE_NAME && i < at->now->items.n; i++) {
		const struct isolated_item *item = &at->now->items.item[i];

		if (item->port == 0 && node_name_match(who->name, item->name) &&
		    !isolated_has(out, item->guid, 0))
			rc = add(at->inv, item, out, err);
	}
	return rc;
}

static int
resolve(const struct isolated_places *at, struct node_item *who, bool restores,
    struct isolated *out, uint32_t *n, struct fm_error *err)
{
	static const struct node_groups none;
	struct node_target target;
	struct fm_arena mem;
	int rc;

	if (at->snap == NULL)
		return fm_fail(err, FM_E_CONFIG, "there are no routes yet");
	fm_arena_init(&mem, SIZE_MAX);
	rc = groups_bind_items(
	    at->groups != NULL ? at->groups : &none, who, 1, restores ? "restore" : "isolate", err);
	if (rc == 0 && !node_target_new(at->snap, &mem, &target))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while resolving node names");
	if (rc == 0)
		rc = node_set_resolve(who, 1, &target, NULL, at->snap, &mem, err);
	if (rc == 0)
		rc = take_named(at, target.sw, restores, out, n, err);
	fm_arena_fini(&mem);
	return rc;
}

static int
read_several(const struct isolated_places *at, const char *text, const char *word, bool restores,
    struct isolated *out, struct fm_error *err)
{
	struct node_item who;
	uint32_t n = 0;
	int rc = node_item_parse(word, &who, err);

	if (rc == 0)
		rc = resolve(at, &who, restores, out, &n, err);
	if (rc == 0 && restores)
		rc = take_kept(at, &who, out, err);
	if (rc != 0 || out->items.n > 0)
		return rc;
	if (n == 0)
		return fm_fail(err, FM_E_CONFIG, "%.80s names no switch", text);
	return fm_fail(err, FM_E_CONFIG, "%.80s: %s", text,
	    restores ? "none of these switches is isolated: fmctl isolate lists what is"
		     : "all of these switches are isolated already");
}

int
isolated_read(const struct isolated_places *at, const char *text, bool restores,
    struct isolated *out, struct fm_error *err)
{
	bool is_link = strncmp(text, "link:", 5) == 0;
	const char *name = strncmp(text, "switch:", 7) == 0 ? text + 7 : text;
	char word[128];
	uint8_t port = 0;
	int rc;

	if (is_link && read_link(text, text + 5, word, sizeof(word), &port, err) != 0)
		return (int)err->kind;
	if (is_link)
		return read_one(at, text, word, port, restores, out, err);
	if (name[0] == '\0' || strlen(name) >= sizeof(word))
		return fm_fail(err, FM_E_CONFIG, "\"%.80s\": write %s", text, ISOLATED_FORMS);
	rc = read_one(at, text, name, 0, restores, out, err);
	return rc == (int)FM_E_CONFIG && means_several(name)
	    ? read_several(at, text, name, restores, out, err)
	    : rc;
}
