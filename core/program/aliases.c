/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/aliases.c - alias GUIDs in ports: the blocks of GUIDInfo (IBA 14.2.5.5) that
 * hosts have registered with the SA.
 *
 *	in a sweep	blocks of ports that have come up, and of all after a restart
 *	by itself	between sweeps: blocks that have changed
 *
 * A sweep asks when its ports are ACTIVE: a host that boots after that takes its link down, which
 * is seen.  One that boots before its port is armed is armed all the same, and tells nobody.
 *
 * Read, compare, Set when they differ.  Blocks in which nothing was ever registered are
 * left alone; one that has become empty is written so and kept, for a port that was out
 * of reach then.
 */
#include <inttypes.h>

#include "core/program/internal.h"

#define PER_BLOCK 8

static struct alias_want *
find_want(const struct sweeper *s, uint64_t port, uint32_t block)
{
	uint32_t i = fm_hash_find(&s->alias->of_port, port);

	while (i != FM_HASH_NONE && s->alias->wants.item[i].block != block)
		i = s->alias->wants.item[i].next;
	return i == FM_HASH_NONE ? NULL : &s->alias->wants.item[i];
}

static struct alias_want *
add_want(struct sweeper *s, uint64_t port, uint8_t block)
{
	struct alias_want fresh = {
		.port = port, .block = block, .next = fm_hash_find(&s->alias->of_port, port)
	};

	if (!fm_vec_push(&s->alias->wants, fresh))
		return NULL;
	if (fm_hash_put(&s->alias->of_port, port, (uint32_t)s->alias->wants.n - 1))
		return &s->alias->wants.item[s->alias->wants.n - 1];
	s->alias->wants.n--;
	return NULL;
}

bool
sweeper_set_aliases(struct sweeper *s, uint64_t port, uint8_t block, const uint64_t guid[8])
{
	struct alias_want *w = find_want(s, port, block);

	if (w == NULL && (w = add_want(s, port, block)) == NULL)
		return false;
	memcpy(w->guid, guid, sizeof(w->guid));
	if (block == 0)
		w->guid[0] = port; /* its own, for ever */
	w->due = true;
	s->alias->due = true;
	return true;
}

bool
aliases_are_due(const struct sweeper *s)
{
	return sweeper_was_up(s) && !s->set.dry_run && s->alias->due;
}

void
aliases_fini(struct sweeper *s)
{
	fm_vec_fini(&s->alias->wants);
	fm_hash_fini(&s->alias->of_port);
}

/* ---------------------------------------------------------------- read and set */

static void
warn(const struct ask *a, enum fm_log_level level, const char *what)
{
	char name[128];

	fm_log_rl(&a->s->logs.refused, level, "sweep", "%s port %u %s GUIDInfo block %" PRIu32,
	    inv_name(inv_node(&a->s->inv, a->node), name, sizeof(name)), a->port, what, a->index);
}

static void
on_set(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_port *p = &inv_node(&a->s->inv, a->node)->ports[a->port];

	if (status == TXN_OK) {
		if (memcmp(reply + WIRE_SMP_DATA_AT, a->data, sizeof(a->data)) != 0)
			warn(a, FM_LOG_WARN, "does not take all alias GUIDs of");
		return;
	}
	p->aliases_done = false;
	if (status != TXN_CANCELLED)
		warn(a, ask_loudness(status),
		    status == TXN_TIMEOUT ? "does not answer Set" : "refuses Set");
}

static void
on_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	const struct alias_want *w = find_want(s, p->guid, a->index);
	uint8_t data[WIRE_SMP_DATA_BYTES];
	struct ask *set;

	if (status != TXN_OK) {
		p->aliases_done = false;
		if (status != TXN_CANCELLED)
			warn(a, ask_loudness(status),
			    status == TXN_TIMEOUT ? "does not answer Get" : "refuses Get");
		return;
	}
	if (w == NULL)
		return; /* another port by now */
	wire_guids_put(data, w->guid);
	if (memcmp(reply + WIRE_SMP_DATA_AT, data, sizeof(data)) == 0)
		return;
	set = ask_new(s, a->node, a->port);
	if (set != NULL)
		set->index = a->index;
	if (set == NULL || !ask_set_at(set, WIRE_ATTR_GUID_INFO, a->index, data, on_set))
		p->aliases_done = false;
}

static void
read_block(struct sweeper *s, uint32_t slot, unsigned port, uint32_t block)
{
	struct ask *a = ask_new(s, slot, (uint8_t)port);

	if (a != NULL)
		a->index = block;
	if (a == NULL || !ask_get_at(a, WIRE_ATTR_GUID_INFO, block, on_read))
		inv_node(&s->inv, slot)->ports[port].aliases_done = false;
}

bool
aliases_are_due_at(const struct sweeper *s, uint32_t slot, unsigned port)
{
	return s->alias->wants.n > 0 && port_wants_lid(&s->inv, slot, port) &&
	    !inv_node(&s->inv, slot)->ports[port].aliases_done;
}

static void
ask_port(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &n->ports[port];
	bool all = !p->aliases_done;
	uint32_t i;

	if (s->alias->wants.n == 0 || n->quiet || !port_wants_lid(&s->inv, slot, port))
		return;
	p->aliases_done = true;
	for (i = fm_hash_find(&s->alias->of_port, p->guid); i != FM_HASH_NONE;
	     i = s->alias->wants.item[i].next) {
		if (all || s->alias->wants.item[i].due)
			read_block(s, slot, port, s->alias->wants.item[i].block);
		s->alias->wants.item[i].due = false;
	}
}

/* Those of ports that are not here wait for them: a port that comes is asked for all. */
void
aliases_start(struct sweeper *s, bool in_sweep)
{
	if (!in_sweep && !aliases_are_due(s))
		return;
	s->alias->due = false;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
			ask_port(s, i, p);
}
