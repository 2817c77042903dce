/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/mkeys.c - M_Keys: which one opens a port, and from one key to
 * another (IBA 14.2.4).
 *
 * A port takes a Set, and with protection a Get, only under its key.  Nearly
 * all ports have the same one, `fabric_key`, which the request engine puts into
 * every SMP; a port known to have another has it in inv_port.m_key.
 *
 *	set.m_key.key	what the administrator wants
 *	fabric_key	what the fabric had when it was last up: kept in the store,
 *			so that another key in the configuration finds its way in
 *	set.m_key.of_ports	what a subnet manager before has left in ports (guid2mkey)
 *
 * A port without a key gets the wanted one with its other fields.  From one
 * key to another is a pass of its own at the end of the sweep: requests that
 * are under way with the old key would be dropped.
 *
 * Foreign keys: one that can be read (protection 0) is used, once, to set ours:
 * among subnet managers the master has been settled before.  One that cannot
 * is told of; our Sets fail then, and start the lease of the key, after which
 * it can be read (a lease of 0 never ends: that port is lost to us).
 */
#include <inttypes.h>

#include "core/inventory/fields.h"
#include "core/program/internal.h"
#include "core/subnet/guid2lid.h"

void
mkeys_start(struct sweeper *s)
{
	uint64_t kept = store_m_key(s->p.store);

	s->keys->fabric = kept != 0 ? kept : s->set.m_key.key;
	txn_set_m_key(s->p.txn, s->keys->fabric);
}

static uint64_t
key_of(const struct sweeper *s, const struct inv_port *p)
{
	return p->m_key != 0 ? p->m_key : s->keys->fabric;
}

/* The only other key that a port of ours may have. */
static uint64_t
other_key(const struct sweeper *s)
{
	return s->set.m_key.key != s->keys->fabric ? s->set.m_key.key : 0;
}

uint64_t
mkeys_next(const struct sweeper *s, uint64_t tried)
{
	const struct guid2mkey *g = &s->set.m_key.of_ports;
	uint64_t other = other_key(s);
	bool is_next = tried == 0;

	if (other != 0 && is_next)
		return other;
	is_next = is_next || tried == other;
	for (unsigned i = 0; i < g->n_kinds; i++) {
		if (g->kind[i] == s->keys->fabric || g->kind[i] == other)
			continue;
		if (is_next)
			return g->kind[i];
		is_next = g->kind[i] == tried;
	}
	return 0;
}

/* The same of a port whose GUID is known. */
static uint64_t
next_of_port(const struct sweeper *s, const struct inv_port *p)
{
	uint64_t other = other_key(s), own = 0;

	if (p->m_key == 0 && other != 0)
		return other;
	if (p->m_key == 0 || p->m_key == other)
		own = guid2mkey_find(&s->set.m_key.of_ports, p->guid);
	return own != s->keys->fabric && own != other ? own : 0;
}

static void
log_foreign_key(struct sweeper *s, const struct inv_node *n, unsigned port, const char *what)
{
	char name[128];

	s->report.n_foreign_keys++;
	fm_log_rl(&s->logs.silent, FM_LOG_WARN, "sweep", "%s port %u has a foreign M_Key: %s",
	    inv_name(n, name, sizeof(name)), port, what);
}

#define WHAT_TO_DO \
	"give fmd the M_Key of the subnet manager that has set it as m_key, or reset the node"

void
mkeys_own_port_silent(struct sweeper *s)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "our own port 0x%016" PRIx64
	    " does not answer Get NodeInfo: most likely it is under an M_Key that is not ours; "
	    "" WHAT_TO_DO,
	    s->local.port_guid);
	sweep_fail(s, FM_E_SYSTEM, line);
}

bool
mkeys_bar_us(struct sweeper *s)
{
	char line[256];

	if (s->set.dry_run ||
	    !inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].foreign_key)
		return false;
	snprintf(line, sizeof(line),
	    "our own port 0x%016" PRIx64
	    " is under an M_Key that is not ours and takes nothing from us; " WHAT_TO_DO,
	    s->local.port_guid);
	sweep_fail(s, FM_E_SYSTEM, line);
	return true;
}

/* Whose LID it is or was. */
static const struct inv_node *
find_lid(const struct sweeper *s, uint16_t lid)
{
	for (uint32_t i = 0; lid != 0 && i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 0; p <= (inv_is_switch(n) ? 0u : n->n_ports); p++)
			if (n->ports[p].lid == lid || n->ports[p].info.lid == lid)
				return n;
	}
	return NULL;
}

void
mkeys_on_trap(struct sweeper *s, const struct wire_notice *notice)
{
	const struct inv_node *n = find_lid(s, notice->issuer_lid);
	struct wire_bad_m_key bad;
	char name[128] = "a node that is not known", how[64];
	bool ours;

	wire_bad_m_key_get(notice->details, &bad);
	if (n != NULL)
		inv_name(n, name, sizeof(name));
	if (bad.directed)
		snprintf(how, sizeof(how), "by a directed route of %u links", bad.n_hops);
	else
		snprintf(how, sizeof(how), "LID %u", bad.lid);
	ours =
	    bad.m_key == s->set.m_key.key; /* whoever has asked; the fabric's is tried before it */
	fm_log_rl(&s->logs.traps, ours ? FM_LOG_WARN : FM_LOG_INFO, "sweep",
	    "trap 256 of %s, LID %u: it has refused a %s %s (%s) for its M_Key%s", name,
	    notice->issuer_lid, bad.method == WIRE_SET ? "Set" : "Get", wire_attr_name(bad.attr),
	    how, ours ? ": it is under an M_Key that is not ours; " WHAT_TO_DO : "");
}

bool
mkeys_note(struct sweeper *s, uint32_t slot, unsigned port, struct wire_port_info *now)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	bool was_foreign = p->foreign_key;
	uint64_t next;

	p->foreign_key = false;
	if (now->m_key != 0) {
		if (now->m_key != key_of(s, p) && now->m_key != s->set.m_key.key)
			log_foreign_key(s, n, port, "it can be read, and is replaced");
		p->m_key = now->m_key != s->keys->fabric ? now->m_key : 0;
		return false;
	}
	/* none, or hidden from us; protect bits without a key are ours alone */
	if (now->m_key_protect == 0 ||
	    (s->set.m_key.key == 0 && now->m_key_protect == s->set.m_key.protection_level)) {
		p->m_key = 0;
		return false;
	}
	next = next_of_port(s, p);
	if (next != 0) {
		p->m_key = next;
		return true;
	}
	p->m_key = 0;
	p->foreign_key = true;
	if (!was_foreign)
		log_foreign_key(s, n, port,
		    now->m_key_lease_period_s != 0
			? "it takes nothing from us until the key's lease has run out"
			: "it takes nothing from us, and the key's lease never runs out");
	return false;
}

/* ------------------------------------------------ from one key to another */

static bool
is_due(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];

	return port_wants_lid(&s->inv, slot, port) && p->info.m_key != 0 &&
	    p->info.m_key != s->set.m_key.key && !p->foreign_key;
}

static void
on_new_key(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	char name[128];

	if (status == TXN_OK) {
		p->info.m_key = s->set.m_key.key;
		p->m_key = s->set.m_key.key != s->keys->fabric ? s->set.m_key.key : 0;
		return;
	}
	if (status != TXN_CANCELLED)
		fm_log_rl(&s->logs.refused, FM_LOG_WARN, "sweep",
		    "%s port %u does not take its new M_Key", inv_name(n, name, sizeof(name)),
		    a->port);
}

static void
set_key(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	struct ask *a = ask_new(s, slot, (uint8_t)port);
	struct wire_port_info info = p->info;
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };

	if (a == NULL)
		return;
	info.m_key = s->set.m_key.key;
	info.port_state = info.phys_state = 0; /* as they are */
	wire_port_info_put(data, &info);
	ask_set_at(a, WIRE_ATTR_PORT_INFO, port, data, on_new_key);
}

static bool
feed_keys(struct sweeper *s)
{
	while (s->run.cursor[1] < s->inv.nodes.n && s->run.pending < FEED_HIGH) {
		uint32_t slot = s->run.cursor[1]++;
		const struct inv_node *n = inv_node(&s->inv, slot);

		for (unsigned p = 0; node_usable(n) && p <= n->n_ports; p++)
			if (is_due(s, slot, p))
				set_key(s, slot, p);
	}
	return s->run.cursor[1] < s->inv.nodes.n;
}

bool
mkeys_change(struct sweeper *s)
{
	if (s->keys->changed)
		return false;
	s->keys->changed = true;
	s->run.cursor[1] = 0;
	s->run.feed = feed_keys;
	return true;
}

void
mkeys_commit(struct sweeper *s)
{
	uint64_t old = s->keys->fabric;
	struct fm_error err = { 0 };

	if (s->set.dry_run)
		return;
	if (s->p.store != NULL && store_put_m_key(s->p.store, s->set.m_key.key, &err) != 0)
		log_err("sweep", "%s", err.msg);
	if (old == s->set.m_key.key)
		return;
	s->keys->fabric = s->set.m_key.key;
	txn_set_m_key(s->p.txn, s->keys->fabric);
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++) {
			struct inv_port *port = &inv_node(&s->inv, i)->ports[p];
			uint64_t has = port->info.m_key;

			port->m_key = has != 0 && has != s->keys->fabric ? has : 0;
		}
}
