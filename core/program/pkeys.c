/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/pkeys.c - P_Key tables of end-ports, and of the switch ports
 * they are cabled to where these are to enforce partitions.
 *
 * One job a port: read the blocks of both tables, lay out what they are to
 * hold (core/subnet/pkey_table.h), write the blocks that differ, one after the
 * other:
 *
 *	1 the switch port: what it holds and what is new
 *	2 the end-port: what it is to hold
 *	3 the switch port: what it is to hold
 *
 * A key that stays is in both tables at every moment and keeps its index, so
 * packets of partitions that stay pass all the while; new keys find the switch
 * open, and those that go are refused by the host first.  The switch port is
 * told to enforce (PortInfo, later in the sweep) only once its table is right.
 *
 * Members of vfabrics are looked for in the fabric of each sweep.  A port that it
 * has not (its cable is isolated) keeps the keys that it had.
 *
 * Without a partitions.conf and vfabrics all talk to all: block 0 is looked at, nothing is
 * enforced.  With one, every block is: what another SM left there would open a
 * partition.  Blocks from JOB_BLOCKS on are not looked at (no known device has
 * that many).
 */
#include <inttypes.h>

#include "core/subnet/pkey_table.h"
#include "core/program/internal.h"
#include "core/program/looks.h"
#include "core/vfabric/members.h"

#define STRAYS_TOLD 8 /* lines that are told of one by one */
#define JOB_BLOCKS 8
#define JOB_SLOTS (JOB_BLOCKS * PKEYS_PER_BLOCK)

enum job_side { SIDE_END, SIDE_SWITCH, N_SIDES };
enum job_stage { STAGE_OPEN, STAGE_END, STAGE_CLOSE, N_STAGES };

struct pkey_side {
	uint32_t node;
	uint8_t port;
	bool used;
	bool broken; /* it did not answer, or refused */
	uint16_t n_slots;
	uint16_t held[JOB_SLOTS], want[JOB_SLOTS];
};

struct pkey_job {
	struct sweeper *s;
	struct pkey_job *next_free;
	struct pkey_list keys;
	uint16_t index0;
	uint32_t n_reads;      /* out */
	unsigned stage, block; /* of the Set that is out or next */
	struct pkey_side side[N_SIDES];
	uint16_t open[JOB_SLOTS]; /* of the switch, while both old and new keys pass */
};

/* -------------------------------------------------------- keys of all ports */

static bool
is_closed(const struct sweeper *s)
{
	return s->set.partitions.all != NULL && !partitions_open(s->set.partitions.all);
}

static struct part_port
part_port_of(const struct sweeper *s, uint32_t slot, unsigned port)
{
	static const enum part_kind kinds[] = { [WIRE_NODE_CA] = PART_CA,
		[WIRE_NODE_SWITCH] = PART_SWITCH,
		[WIRE_NODE_ROUTER] = PART_ROUTER };
	const struct inv_node *n = inv_node(&s->inv, slot);

	return (struct part_port){ n->ports[port].guid, kinds[n->type],
		slot == s->inv.local && port == s->inv.local_port };
}

/* Do all end-ports of now have their keys? */
static bool
knows_all(const struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = 0; node_usable(n) && p <= last; p++)
			if (port_wants_lid(&s->inv, i, p) &&
			    port_pkeys_find(s->pk->lists, n->ports[p].guid).n == 0)
				return false;
	}
	return true;
}

static bool
has_vfabrics(const struct sweeper *s)
{
	return s->set.partitions.vfabrics.n > 0;
}

void
pkeys_note_fabric(struct sweeper *s, struct snapshot *snap)
{
	snapshot_put(s->pk->fabric);
	s->pk->fabric = has_vfabrics(s) ? snapshot_get(snap) : NULL;
}

/* found NULL: there are no vfabrics, or no fabric to look in. */
static bool
add_all(struct sweeper *s, struct port_pkeys_builder *b, const struct vfabric_members *found)
{
	bool had =
	    has_vfabrics(s) && s->pk->lists != NULL && partitions_mark(s->pk->parts) == s->pk->mark;
	struct pkey_list list;

	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = 0; node_usable(n) && p <= last; p++) {
			struct part_port port = part_port_of(s, i, p);

			if ((found == NULL || !vfabric_members_give(found, &port)) && had) {
				list = port_pkeys_find(s->pk->lists, port.guid);
				port.more = list.keys;
				port.n_more = list.n;
			}
			if (port_wants_lid(&s->inv, i, p) && !port_pkeys_add(b, &port, &list))
				return false;
		}
	}
	return true;
}

/* Other partitions: every table is looked at again. */
static void
forget_tables(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
			inv_node(&s->inv, i)->ports[p].pkeys_done = false;
}

/* Ports that are in other vfabrics now. */
static void
forget_changed(struct sweeper *s, const struct port_pkeys *fresh)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++) {
			struct inv_port *port = &inv_node(&s->inv, i)->ports[p];
			struct pkey_list a = port_pkeys_find(s->pk->lists, port->guid),
					 b = port_pkeys_find(fresh, port->guid);

			if (b.n > 0 &&
			    (a.n != b.n || memcmp(a.keys, b.keys, a.n * sizeof(*a.keys)) != 0))
				port->pkeys_done = false;
		}
}

static int
open_partitions(struct sweeper *s)
{
	static const struct part_options plain;
	int rc;

	if (s->set.partitions.all != NULL) {
		partitions_put(s->pk->parts);
		s->pk->parts = partitions_get(s->set.partitions.all);
		return 0;
	}
	if (s->pk->parts != NULL && partitions_open(s->pk->parts))
		return 0;
	partitions_put(s->pk->parts);
	s->pk->parts = NULL;
	rc = partitions_default(&plain, &s->pk->parts, NULL, &s->report.error);
	s->run.failed = s->run.failed || rc != 0;
	return rc;
}

/* Ports that partitions.conf names and nobody has.  Some hosts are off; a node's GUID is a
 * mistake, as P_Keys are those of ports. */
static void
warn_of_strays(const struct sweeper *s)
{
	uint32_t n_absent = 0, n_nodes = 0;
	uint64_t guid, first = 0;
	unsigned line, first_line = 0;
	uint16_t pkey;

	for (size_t i = 0; partitions_named_port(s->pk->parts, i, &guid, &pkey, &line); i++) {
		uint32_t node;

		if (port_pkeys_find(s->pk->lists, guid).n > 0)
			continue;
		node = inv_find(&s->inv, guid);
		if (node != INV_NONE && n_nodes++ < STRAYS_TOLD)
			log_warn("partitions",
			    "line %u of partitions.conf names 0x%016" PRIx64
			    ", the GUID of node %s: its ports have others, and only those count",
			    line, guid, inv_node(&s->inv, node)->name);
		if (node == INV_NONE && n_absent++ == 0) {
			first = guid;
			first_line = line;
		}
	}
	if (n_absent > 0)
		log_notice("partitions",
		    "ports that partitions.conf names are not in the subnet: n=%" PRIu32
		    ": 0x%016" PRIx64 " of line %u is one, fmctl partitions NAME lists them",
		    n_absent, first, first_line);
}

struct missing {
	const struct node_item *first;
	uint32_t n;
};

static void
count_missing(void *arg, const char *list, const struct node_item *item)
{
	struct missing *m = arg;

	if (m->n++ == 0)
		m->first = item;
}

/* Items of vfabrics' lists that name nothing: a mistake, or what is off. */
static void
warn_of_missing(const struct sweeper *s)
{
	const struct vfabrics *v = &s->set.partitions.vfabrics;

	for (size_t i = 0; s->pk->fabric != NULL && i < v->n; i++) {
		struct missing m = { 0 };
		struct fm_error err;

		if (vfabric_each_missing(&v->of[i], s->pk->fabric, count_missing, &m, &err) == 0 &&
		    m.n > 0)
			log_notice("partitions",
			    "vfabric %s: items of its lists name nothing in the subnet: n=%" PRIu32
			    ": %s of %s:%u is one, fmctl vfabrics %s lists them",
			    v->of[i].name, m.n, m.first->text,
			    m.first->file != NULL ? m.first->file : "", m.first->line,
			    v->of[i].name);
	}
}

/* NULL: no memory, and told. */
static struct port_pkeys *
make_lists(struct sweeper *s)
{
	struct port_pkeys_builder *b = port_pkeys_begin(s->pk->parts);
	struct vfabric_members *found = NULL;
	bool ok = b != NULL;

	if (ok && has_vfabrics(s) && s->pk->fabric != NULL)
		ok = vfabric_members_find(&s->set.partitions.vfabrics, s->pk->parts, s->pk->fabric,
			 &found, &s->report.error) == 0;
	ok = ok && add_all(s, b, found);
	vfabric_members_free(found);
	if (ok)
		return port_pkeys_end(b);
	if (b != NULL)
		port_pkeys_put(port_pkeys_end(b));
	sweep_fail(s, FM_E_RESOURCE, "out of memory for the P_Keys of ports");
	return NULL;
}

void
pkeys_start(struct sweeper *s)
{
	struct port_pkeys *fresh;
	uint64_t mark;

	s->pk->n_cut = 0;
	if (open_partitions(s) != 0)
		return;
	mark = partitions_mark(s->pk->parts);
	s->pk->all_blocks = s->pk->all_blocks || is_closed(s);
	if (s->pk->lists != NULL && mark == s->pk->mark && knows_all(s) && !has_vfabrics(s))
		return;
	if (s->pk->lists != NULL && mark != s->pk->mark)
		forget_tables(s);
	fresh = make_lists(s);
	if (mark != s->pk->mark)
		warn_of_missing(s);
	snapshot_put(s->pk->fabric);
	s->pk->fabric = NULL;
	if (fresh == NULL)
		return;
	if (s->pk->lists != NULL)
		forget_changed(s, fresh);
	port_pkeys_put(s->pk->lists);
	s->pk->lists = fresh;
	if (mark != s->pk->mark)
		warn_of_strays(s);
	s->pk->mark = mark;
}

void
pkeys_fini(struct sweeper *s)
{
	partitions_put(s->pk->parts);
	port_pkeys_put(s->pk->lists);
	snapshot_put(s->pk->fabric);
}

struct port_pkeys *
sweeper_pkeys(const struct sweeper *s)
{
	return s->pk->lists;
}

/* -------------------------------------------------------------- end of a job */

static struct pkey_job *
job_new(struct sweeper *s)
{
	struct pkey_job *j = s->pk->free_jobs;

	if (j != NULL) {
		s->pk->free_jobs = j->next_free;
		memset(j, 0, sizeof(*j));
	} else {
		j = fm_arena_alloc(&s->mem, sizeof(*j));
		if (j == NULL)
			sweep_fail(s, FM_E_RESOURCE, "out of memory for P_Key tables");
	}
	if (j != NULL)
		j->s = s;
	return j;
}

static struct inv_port *
port_of(const struct pkey_side *side, const struct sweeper *s)
{
	return &inv_node(&s->inv, side->node)->ports[side->port];
}

/* What is in the tables now, for who asks the SA. */
static void
note_held(struct pkey_job *j)
{
	for (unsigned i = 0; i < N_SIDES; i++) {
		struct pkey_side *side = &j->side[i];

		if (side->used && !side->broken &&
		    !pkey_held_set(&port_of(side, j->s)->pkeys, side->held, side->n_slots))
			sweep_fail(j->s, FM_E_RESOURCE, "out of memory for P_Key tables");
	}
}

static void
end_job(struct pkey_job *j)
{
	struct sweeper *s = j->s;

	note_held(j);
	port_of(&j->side[SIDE_END], s)->pkeys_done = !j->side[SIDE_END].broken && !s->set.dry_run;
	if (j->side[SIDE_SWITCH].used)
		port_of(&j->side[SIDE_SWITCH], s)->pkeys_done = !j->side[SIDE_SWITCH].broken;
	j->next_free = s->pk->free_jobs;
	s->pk->free_jobs = j;
}

static void
break_side(struct pkey_job *j, struct pkey_side *side, enum txn_status status, const char *what)
{
	char name[128];

	if (!side->broken && status != TXN_CANCELLED)
		fm_log_rl(&j->s->logs.refused, FM_LOG_WARN, "sweep",
		    "%s port %u %s %s P_KeyTable%s",
		    inv_name(inv_node(&j->s->inv, side->node), name, sizeof(name)), side->port,
		    status == TXN_TIMEOUT ? "does not answer" : "refuses", what,
		    side == &j->side[SIDE_SWITCH] ? "; it does not enforce partitions" : "");
	side->broken = true;
}

/* --------------------------------------------------------------- writing */

static void write_on(struct pkey_job *j);

/* What the block of the stage is to hold. */
static const uint16_t *
block_of_stage(const struct pkey_job *j)
{
	const uint16_t *table = j->stage == STAGE_OPEN ? j->open
	    : j->stage == STAGE_END		       ? j->side[SIDE_END].want
						       : j->side[SIDE_SWITCH].want;

	return table + (size_t)j->block * PKEYS_PER_BLOCK;
}

static struct pkey_side *
side_of_stage(struct pkey_job *j)
{
	return &j->side[j->stage == STAGE_END ? SIDE_END : SIDE_SWITCH];
}

static void
on_written(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct pkey_job *j = a->pkeys;
	struct pkey_side *side = side_of_stage(j);

	if (status != TXN_OK)
		break_side(j, side, status, "Set");
	else
		memcpy(side->held + (size_t)j->block * PKEYS_PER_BLOCK, block_of_stage(j),
		    PKEYS_PER_BLOCK * sizeof(uint16_t));
	j->block++;
	write_on(j);
}

static uint32_t
modifier_of(const struct sweeper *s, const struct pkey_side *side, unsigned block)
{
	return inv_is_switch(inv_node(&s->inv, side->node)) ? (uint32_t)side->port << 16 | block
							    : block;
}

/* False: nothing has gone out. */
static bool
write_block(struct pkey_job *j, struct pkey_side *side)
{
	struct ask *a = ask_new(j->s, side->node, side->port);
	uint8_t data[WIRE_SMP_DATA_BYTES];
	bool dry = j->s->set.dry_run;

	if (a == NULL)
		return false;
	a->pkeys = j;
	wire_pkeys_put(data, block_of_stage(j));
	if (!ask_set_at(
		a, WIRE_ATTR_PKEY_TABLE, modifier_of(j->s, side, j->block), data, on_written)) {
		side->broken = true;
		return false;
	}
	return !dry;
}

/* The next block that differs, or the end. */
static void
write_on(struct pkey_job *j)
{
	for (; j->stage < N_STAGES; j->stage++, j->block = 0) {
		struct pkey_side *side = side_of_stage(j);

		if (!side->used)
			continue;
		for (; j->block * PKEYS_PER_BLOCK < side->n_slots; j->block++)
			if (!side->broken &&
			    memcmp(side->held + (size_t)j->block * PKEYS_PER_BLOCK,
				block_of_stage(j), PKEYS_PER_BLOCK * sizeof(uint16_t)) != 0 &&
			    write_block(j, side))
				return;
	}
	end_job(j);
}

/* --------------------------------------------------------------- reading */

static void
log_cut_table(struct pkey_job *j, const struct pkey_side *side, size_t n_cut)
{
	char name[128];

	j->s->pk->n_cut++;
	fm_log_rl(&j->s->logs.refused, FM_LOG_WARN, "partitions",
	    "%s port %u is in %" PRIu32 " partitions, but its table holds %u: %zu are left out, "
	    "the highest P_Keys",
	    inv_name(inv_node(&j->s->inv, side->node), name, sizeof(name)), side->port, j->keys.n,
	    side->n_slots, n_cut);
}

/* A switch port whose table is too small lets all pass rather than too little. */
static void
log_small_switch(struct pkey_job *j, const struct pkey_side *side)
{
	char name[128];

	fm_log_rl(&j->s->logs.refused, FM_LOG_WARN, "partitions",
	    "%s port %u enforces no partitions: its table holds %u P_Keys, and the host there has "
	    "%" PRIu32,
	    inv_name(inv_node(&j->s->inv, side->node), name, sizeof(name)), side->port,
	    side->n_slots, j->keys.n);
}

static void
lay_out(struct pkey_job *j)
{
	struct pkey_side *end = &j->side[SIDE_END], *sw = &j->side[SIDE_SWITCH];
	struct pkey_wish w = { j->keys, j->index0, j->s->set.partitions.keep_indexes };
	uint16_t some[JOB_SLOTS];
	size_t n_cut = pkey_wish_cut(&w, end->n_slots, some);

	if (n_cut > 0)
		log_cut_table(j, end, n_cut);
	pkey_table_lay(end->held, end->n_slots, &w, end->want);
	if (!sw->used)
		return;
	if (w.keys.n > sw->n_slots) {
		log_small_switch(j, sw);
		sw->broken = true;
		return;
	}
	w.index0 = 0;
	w.keep = true;
	pkey_table_lay(sw->held, sw->n_slots, &w, sw->want);
	pkey_table_add(sw->held, sw->n_slots, sw->want, j->open);
}

static void
read_done(struct pkey_job *j)
{
	if (--j->n_reads > 0)
		return;
	lay_out(j);
	write_on(j);
}

static void
on_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct pkey_job *j = a->pkeys;
	struct pkey_side *side = &j->side[a->kind];

	if (status != TXN_OK)
		break_side(j, side, status, "Get");
	else
		wire_pkeys_get(
		    reply + WIRE_SMP_DATA_AT, side->held + (size_t)a->index * PKEYS_PER_BLOCK);
	read_done(j);
}

static void
read_block(struct pkey_job *j, enum job_side which, unsigned block)
{
	struct pkey_side *side = &j->side[which];
	struct ask *a = ask_new(j->s, side->node, side->port);

	j->n_reads++;
	if (a != NULL) {
		a->pkeys = j;
		a->kind = (uint8_t)which;
		a->index = block;
		if (ask_get_at(a, WIRE_ATTR_PKEY_TABLE, modifier_of(j->s, side, block), on_read))
			return;
	}
	side->broken = true;
	read_done(j);
}

/* --------------------------------------------------------------- the start */

static uint16_t
slots_of(const struct sweeper *s, unsigned cap)
{
	unsigned most = s->pk->all_blocks ? JOB_SLOTS : PKEYS_PER_BLOCK;

	return (uint16_t)(cap < most ? cap : most);
}

/* In one of the ways that are wanted. */
static bool
can_enforce(const struct sweeper *s, const struct wire_switch_info *sw)
{
	unsigned can = (sw->inbound_enforcement_cap ? PART_ENFORCE_IN : 0) |
	    (sw->outbound_enforcement_cap ? PART_ENFORCE_OUT : 0);

	return sw->partition_enforcement_cap > 0 && (can & s->set.partitions.enforce) != 0;
}

/* The switch at whose port the partitions of an end-port are enforced: one that it is cabled to
 * and that can; NULL: there is none. */
static const struct inv_node *
enforcer(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot), *far;

	if (!is_closed(s) || port == 0 || inv_is_switch(n))
		return NULL;
	far = inv_node(&s->inv, n->ports[port].peer);
	return inv_is_switch(far) && can_enforce(s, &far->sw) ? far : NULL;
}

static void
add_switch_side(struct pkey_job *j)
{
	struct sweeper *s = j->s;
	const struct pkey_side *end = &j->side[SIDE_END];
	const struct inv_node *far = enforcer(s, end->node, end->port);
	const struct inv_port *p = port_of(end, s);
	struct pkey_side *sw = &j->side[SIDE_SWITCH];

	if (far == NULL)
		return;
	sw->used = true;
	sw->node = p->peer;
	sw->port = p->peer_port;
	sw->n_slots = slots_of(s, far->sw.partition_enforcement_cap);
}

/* The lowest partition of the port that is to have index 0. */
static uint16_t
index0_of(const struct sweeper *s, const struct pkey_list *keys)
{
	for (uint32_t i = 0; i < keys->n; i++) {
		const struct partition *part = partitions_find(s->pk->parts, keys->keys[i]);

		if (part != NULL && part->index0)
			return keys->keys[i];
	}
	return 0;
}

static void
start_job(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	struct pkey_job *j = job_new(s);

	if (j == NULL)
		return;
	j->keys = port_pkeys_find(s->pk->lists, n->ports[port].guid);
	j->index0 = index0_of(s, &j->keys);
	j->side[SIDE_END].used = true;
	j->side[SIDE_END].node = slot;
	j->side[SIDE_END].port = (uint8_t)port;
	j->side[SIDE_END].n_slots = slots_of(s, n->info.partition_cap);
	add_switch_side(j);
	j->n_reads = 1; /* ours, until all are out */
	for (unsigned i = 0; i < N_SIDES; i++)
		for (unsigned b = 0; b * PKEYS_PER_BLOCK < j->side[i].n_slots; b++)
			read_block(j, (enum job_side)i, b);
	read_done(j);
}

/* Has it a table that is ours to fill? */
static bool
has_table(const struct sweeper *s, uint32_t slot, unsigned port)
{
	return s->pk->lists != NULL && port_wants_lid(&s->inv, slot, port) &&
	    inv_node(&s->inv, slot)->info.partition_cap != 0;
}

bool
pkeys_are_due(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	const struct inv_node *far;

	if (!has_table(s, slot, port) || !p->pkeys_done)
		return has_table(s, slot, port);
	far = enforcer(s, slot, port);
	return far != NULL && !far->ports[p->peer_port].pkeys_done;
}

void
pkeys_ensure(struct sweeper *s, uint32_t slot, unsigned port)
{
	if (!has_table(s, slot, port) || inv_node(&s->inv, slot)->quiet)
		return;
	if (pkeys_are_due(s, slot, port) || s->report.scope == SWEEP_HEAVY)
		start_job(s, slot, port);
}

/* -------------------------------------------------------------- reading back */

static uint32_t
blocks_looked_at(const struct sweeper *s)
{
	return s->pk->all_blocks ? JOB_BLOCKS : 1;
}

uint32_t
pkeys_n_looks(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	unsigned last = inv_is_switch(n) && !s->pk->all_blocks ? 0 : n->n_ports;

	return (last + 1) * blocks_looked_at(s);
}

/* Of an end-port, or of the switch port that enforces its partitions. */
bool
pkeys_look(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	unsigned port = i / blocks_looked_at(s), block = i % blocks_looked_at(s);
	const struct inv_port *p = &n->ports[port];
	struct pkey_side side = { .node = slot, .port = (uint8_t)port };
	bool has = port_wants_lid(&s->inv, slot, port) || (inv_is_switch(n) && port > 0);
	uint16_t keys[PKEYS_PER_BLOCK] = { 0 };
	unsigned left;

	if (!has || !p->pkeys_done || p->pkeys == NULL ||
	    block * PKEYS_PER_BLOCK >= p->pkeys->n_slots)
		return false;
	left = p->pkeys->n_slots - block * PKEYS_PER_BLOCK;
	left = left < PKEYS_PER_BLOCK ? left : PKEYS_PER_BLOCK;
	memcpy(keys, p->pkeys->key + (size_t)block * PKEYS_PER_BLOCK, left * sizeof(keys[0]));
	*out = (struct look){ .attr = WIRE_ATTR_PKEY_TABLE,
		.modifier = modifier_of(s, &side, block),
		.port = (uint8_t)port,
		.n_bytes = (uint8_t)(left * sizeof(keys[0])) };
	wire_pkeys_put(out->bytes, keys);
	return true;
}

void
pkeys_forget(struct sweeper *s, uint32_t slot, uint32_t i)
{
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[i / blocks_looked_at(s)];

	p->pkeys_done = false;
}
