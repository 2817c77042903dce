/* SPDX-License-Identifier: BSD-2-Clause */
/* core/sweep/traps.c - traps are judged, counted, acted upon now or later. */
#include "core/sweep/traps.h"

#include <inttypes.h>

#include "core/events/tell.h"
#include "core/sweep/internal.h"

enum trap {
	TRAP_OF_NODES = 128,
	TRAP_LINK_STATE = 128,
	TRAP_LOCAL_CHANGE = 144,
	TRAP_BAD_M_KEY = 256
};

#define PRODUCER_MANAGER 4 /* IBA 13.4.8.2 */
#define LID_MULTICAST 0xc000
#define MAX_LMC 7
#define ROW_MOST 10
#define QUIET_MS 3000 /* a row is over */
#define HOLD_MS 1000  /* what is put off is read then, and after twice as long the next time */
#define HOLD_MOST_MS 10000
#define READS_BURST 4096
#define READS_EVERY_MS 2
#define RELAYS_BURST 1024
#define RELAYS_EVERY_MS 8
#define PURGE_MIN 1024
#define SAY_MS 60000

/* A port, by the LID that a trap came from. */
struct source {
	uint32_t slot; /* INV_NONE: nobody's LID */
	uint8_t port;
	uint16_t lid; /* base LID; of nobody's: as it came */
};

void
traps_fini(struct traps *t)
{
	talkers_fini(&t->talkers);
	fm_vec_fini(&t->rows);
	fm_hash_fini(&t->of_key);
}

/* ---------------------------------------------------------------- who speaks */

/* The port of a node with this base LID and that many more; false: none. */
static bool
has_lids(const struct inv_node *n, uint16_t base, unsigned lmc, uint8_t *port)
{
	unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

	for (unsigned p = inv_is_switch(n) ? 0 : 1; p <= last; p++)
		if (n->ports[p].lid == base && n->ports[p].lmc >= lmc) {
			*port = (uint8_t)p;
			return true;
		}
	return false;
}

/* Base LIDs are multiples of 2^LMC (IBA 4.1.3). */
static struct source
find_source(const struct sweeper *s, uint16_t lid)
{
	struct source src = { .slot = INV_NONE, .lid = lid };

	for (unsigned lmc = 0; lmc <= MAX_LMC; lmc++) {
		uint16_t base = (uint16_t)(lid >> lmc << lmc);
		uint32_t slot = fm_hash_find(&s->inv.lid_owner, base);

		if (slot == FM_HASH_NONE ||
		    !has_lids(inv_node(&s->inv, slot), base, lmc, &src.port))
			continue;
		src.slot = slot;
		src.lid = base;
		break;
	}
	return src;
}

static const char *
name_source(const struct sweeper *s, const struct source *src, char *buf, size_t size)
{
	const struct inv_port *p;
	char name[128], peer[128];

	if (src->slot == INV_NONE) {
		snprintf(buf, size, "LID %u, which is nobody's", src->lid);
		return buf;
	}
	inv_name(inv_node(&s->inv, src->slot), name, sizeof(name));
	p = &inv_node(&s->inv, src->slot)->ports[src->port];
	if (src->port == 0 || p->peer == INV_NONE)
		snprintf(buf, size, "%s, LID %u", name, src->lid);
	else
		snprintf(buf, size, "%s port %u, LID %u, at %s port %u", name, src->port, src->lid,
		    inv_name(inv_node(&s->inv, p->peer), peer, sizeof(peer)), p->peer_port);
	return buf;
}

/* Where DataDetails have the LID of who tells (IBA 13.4.8.2, 14.2.5.1); -1: nowhere. */
static int
lid_at(uint16_t number)
{
	switch (number) {
	case TRAP_LINK_STATE:
		return 0;
	case 129:
	case 130:
	case 131:
	case TRAP_LOCAL_CHANGE:
	case 145:
	case 256:
		return 2;
	case 259:
		return 48;
	}
	return -1;
}

/* Does it tell of a node that is not the one it came from? */
static bool
is_of_another(const struct sweeper *s, const struct source *src, const struct wire_notice *n)
{
	int at = n->generic ? lid_at(n->trap_number) : -1;
	uint16_t lid = at < 0 ? 0 : (uint16_t)(n->details[at] << 8 | n->details[at + 1]);
	struct source other;

	if (lid == 0)
		return false;
	other = find_source(s, lid);
	return other.slot != INV_NONE && other.slot != src->slot;
}

/* NULL: it is believed. */
static const char *
why_not(const struct sweeper *s, const struct mad *m, const struct wire_header *h,
    const struct source *src, const struct wire_notice *n)
{
	struct source issuer = find_source(s, n->issuer_lid);

	if (h->mgmt_class != WIRE_CLASS_SMP_LID || m->addr.lid == 0 || m->addr.lid >= LID_MULTICAST)
		return "it has not come by LID";
	if (issuer.lid != src->lid)
		return "it names another port as its issuer";
	if (n->generic && (n->trap_number < TRAP_OF_NODES || n->producer_type == PRODUCER_MANAGER))
		return "it is the subnet manager's to tell";
	if (is_of_another(s, src, n))
		return "it tells of another node";
	return NULL;
}

/* Once a minute at most, though there is much to be said. */
static void
log_trap(struct sweeper *s, const struct source *src, const struct wire_notice *n, const char *what)
{
	struct traps *t = s->traps;
	int64_t now_ms = sweeper_clock_ms(s);
	struct talkers_seen seen;
	struct source busiest;
	char name[512], last[512];

	if (now_ms < t->say_ms)
		return;
	talkers_look(&t->talkers, now_ms, &seen);
	if (seen.n == 0)
		return;
	t->say_ms = now_ms + SAY_MS;
	busiest = find_source(s, seen.top[0].lid);
	snprintf(last, sizeof(last), "the same");
	if (busiest.lid != src->lid)
		name_source(s, src, last, sizeof(last));
	events_add(EVENT_BUSY_CLIENT, FM_LOG_WARN, "sweep", NULL,
	    "traps: the busiest source is %s, with %" PRIu32 " MADs in the last minute; trap %u of "
	    "%s: %s; since the start %" PRIu64 " times only counted, %" PRIu64
	    " times not believed",
	    name_source(s, &busiest, name, sizeof(name)), seen.top[0].n, n->trap_number, last, what,
	    t->counts.repeated, t->counts.refused);
}

/* ----------------------------------------------------------------- in a row */

/* Traps of errors at a port: link integrity, buffer overrun, flow control (IBA 13.4.8.2). */
static bool
is_of_errors(const struct wire_notice *n)
{
	return n->generic && n->trap_number >= 129 && n->trap_number <= 131;
}

/* The port that has them; 0: it is none of the source's. */
static unsigned
port_of(const struct sweeper *s, const struct source *src, const struct wire_notice *n)
{
	const struct inv_node *node;

	if (src->slot == INV_NONE || !is_of_errors(n))
		return 0;
	node = inv_node(&s->inv, src->slot);
	if (!inv_is_switch(node))
		return src->port;
	return n->details[4] <= node->n_ports ? n->details[4] : 0;
}

/* All of nobody's LIDs have one row a number, as have numbers that are not known. */
static uint64_t
key_of(const struct source *src, const struct wire_notice *n, unsigned port)
{
	uint16_t lid = src->slot == INV_NONE ? 0 : src->lid;
	uint16_t number = n->trap_number;

	if (!n->generic)
		number = 1;
	else if (lid_at(number) < 0 && number != 257 && number != 258)
		number = 0;
	return (uint64_t)port << 32 | (uint64_t)lid << 16 | number;
}

/* Rows that are over, and owe nothing. */
static void
purge(struct traps *t, int64_t now_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < t->rows.n; i++) {
		struct trap_row *r = &t->rows.item[i];

		if (r->owed_ms == 0 && now_ms - r->last_ms >= QUIET_MS) {
			fm_hash_remove(&t->of_key, r->key);
			continue;
		}
		fm_hash_put(&t->of_key, r->key, (uint32_t)n); /* in its place */
		t->rows.item[n++] = *r;
	}
	t->rows.n = n;
	t->purge_at = 2 * n > PURGE_MIN ? 2 * n : PURGE_MIN;
}

/* With this trap in it; NULL: no memory. */
static struct trap_row *
row_of(struct traps *t, uint64_t key, int64_t now_ms)
{
	uint32_t i = fm_hash_find(&t->of_key, key);
	struct trap_row fresh = { .key = key, .last_ms = now_ms }, *r;

	if (i == FM_HASH_NONE) {
		if (t->rows.n >= t->purge_at)
			purge(t, now_ms);
		i = (uint32_t)t->rows.n;
		if (!fm_vec_push(&t->rows, fresh))
			return NULL;
		if (!fm_hash_put(&t->of_key, key, i)) {
			t->rows.n--;
			return NULL;
		}
	}
	r = &t->rows.item[i];
	if (now_ms - r->last_ms >= QUIET_MS)
		r->n = r->n_reads = r->n_held = 0;
	r->n += r->n < UINT32_MAX;
	r->last_ms = now_ms;
	return r;
}

static int64_t
held_till(struct trap_row *r, int64_t now_ms)
{
	int64_t hold_ms = r->n_held < 4 ? (int64_t)HOLD_MS << r->n_held : HOLD_MOST_MS;

	r->n_held += r->owed_ms == 0 && r->n_held < 4;
	return now_ms + hold_ms;
}

static void
owe(struct traps *t, struct trap_row *r, int64_t due_ms)
{
	if (r->owed_ms != 0)
		return;
	t->counts.postponed++;
	r->owed_ms = due_ms;
	if (t->owed_ms == 0 || due_ms < t->owed_ms)
		t->owed_ms = due_ms;
}

/* -------------------------------------------------------------- what is done */

static void
repress(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	struct wire_header rh = *h;
	struct mad reply = *m;
	struct fm_error err = { 0 };

	rh.method = WIRE_TRAP_REPRESS;
	rh.status = 0;
	wire_header_put(reply.bytes, &rh);
	reply.timeout_ms = 0;
	if (txn_reply(s->p.txn, &reply, &err) != 0)
		fm_log_rl(
		    &s->logs.traps, FM_LOG_WARN, "sweep", "cannot answer a trap: %s", err.msg);
}

/* All is looked at, unless that was a moment ago. */
static void
look_for(struct sweeper *s, struct trap_row *r, const char *reason)
{
	struct traps *t = s->traps;
	int64_t now_ms = sweeper_clock_ms(s);

	if (now_ms < t->heavy_ms) {
		owe(t, r, t->heavy_ms);
		return;
	}
	t->heavy_ms =
	    now_ms + (s->set.sweep.interval_ms > 0 ? s->set.sweep.interval_ms : HOLD_MOST_MS);
	t->counts.acted++;
	fm_log_rl(&s->logs.traps, FM_LOG_NOTICE, "sweep", "%s", reason);
	sweeper_request(s, SWEEP_HEAVY, reason);
}

static bool
is_discovering(const struct sweeper *s)
{
	return s->run.phase == PHASE_DISCOVER || s->run.phase == PHASE_REREAD;
}

static void
read_again(struct sweeper *s, uint32_t slot, uint16_t number, const char *reason)
{
	s->traps->counts.acted++;
	fm_log_rl(&s->logs.traps, FM_LOG_INFO, "sweep", "%s", reason);
	if (number == TRAP_LINK_STATE)
		doubt_states(s, slot);
	else
		doubt_node(s, slot);
	if (!is_discovering(s))
		sweeper_request(s, SWEEP_NAMED, reason);
}

/* It is to be read anyhow, and what has changed by now will be seen. */
static bool
is_to_be_read(const struct sweeper *s, uint32_t slot)
{
	if (!is_discovering(s) && s->run.wanted < SWEEP_NAMED)
		return false;
	return inv_node(&s->inv, slot)->doubted;
}

/* "trap 128 of "leaf-3""; of nobody's LID that; what: what is said behind it. */
static void
say_reason(const struct sweeper *s, unsigned number, const struct source *src, const char *what,
    char *buf, size_t size)
{
	if (src->slot == INV_NONE)
		snprintf(
		    buf, size, "trap %u from LID %u, which is nobody's%s", number, src->lid, what);
	else
		snprintf(buf, size, "trap %u of \"%s\"%s", number,
		    inv_node(&s->inv, src->slot)->name, what);
}

static void
act(struct sweeper *s, const struct source *src, const struct wire_notice *n, struct trap_row *r)
{
	int64_t now_ms = sweeper_clock_ms(s);
	char reason[112];

	if (n->generic && n->trap_number == TRAP_BAD_M_KEY) {
		if (r->n <= ROW_MOST)
			mkeys_on_trap(s, n);
		return;
	}
	say_reason(s, n->trap_number, src, "", reason, sizeof(reason));
	if (!s->set.sweep.on_trap || !n->generic ||
	    (n->trap_number != TRAP_LINK_STATE && n->trap_number != TRAP_LOCAL_CHANGE)) {
		if (r->n <= ROW_MOST)
			fm_log_rl(&s->logs.traps, FM_LOG_INFO, "sweep", "%s", reason);
		return;
	}
	if (s->p.ha->state != WIRE_SM_MASTER)
		return;
	if (src->slot != INV_NONE && n->trap_number == TRAP_LOCAL_CHANGE)
		inv_node(&s->inv, src->slot)->desc_doubted = true; /* IBA 13.4.8.2 */
	if (src->slot == INV_NONE) {
		look_for(s, r, reason);
	} else if (is_to_be_read(s, src->slot)) {
		return;
	} else if (r->n_reads >= ROW_MOST ||
	    (r->n_reads > 0 &&
		!fm_tokens_take(&s->traps->reads, READS_BURST, READS_EVERY_MS, now_ms))) {
		owe(s->traps, r, held_till(r, now_ms));
	} else {
		r->n_reads++;
		read_again(s, src->slot, n->trap_number, reason);
	}
}

static void
pass_on(struct sweeper *s, const struct wire_notice *n)
{
	struct traps *t = s->traps;

	if (s->p.on_notice == NULL)
		return;
	if (fm_tokens_take(&t->relays, RELAYS_BURST, RELAYS_EVERY_MS, sweeper_clock_ms(s)))
		s->p.on_notice(s->p.on_notice_arg, n);
	else
		t->counts.not_passed_on++;
}

static void
on_trap(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	struct source src = find_source(s, m->addr.lid);
	int64_t now_ms = sweeper_clock_ms(s);
	struct traps *t = s->traps;
	struct wire_notice notice;
	struct trap_row *r;
	unsigned port;
	const char *why;

	wire_notice_get(m->bytes + WIRE_SMP_DATA_AT, &notice);
	repress(s, m, h);
	t->counts.received++;
	why = why_not(s, m, h, &src, &notice);
	if (why != NULL) {
		t->counts.refused++;
		talkers_refuse(&t->talkers, m->addr.lid, now_ms);
		log_trap(s, &src, &notice, why);
		return;
	}
	port = port_of(s, &src, &notice);
	r = row_of(t, key_of(&src, &notice, port), now_ms);
	if (r == NULL)
		return; /* the light sweep sees what is new */
	if (port != 0 && r->n % BABBLE_MOST == 0 && s->set.sweep.babbling_port_policy &&
	    s->p.ha->state == WIRE_SM_MASTER)
		babble_stop(s, src.slot, port, notice.trap_number);
	if (r->n > ROW_MOST) {
		t->counts.repeated++;
		talkers_refuse(&t->talkers, m->addr.lid, now_ms);
		log_trap(s, &src, &notice, "it repeats itself, and is only counted");
	} else {
		pass_on(s, &notice);
	}
	act(s, &src, &notice, r);
}

void
sweeper_on_mad(struct sweeper *s, const struct mad *m)
{
	struct wire_header h;

	wire_header_get(m->bytes, &h);
	if (m->status != 0 ||
	    (h.mgmt_class != WIRE_CLASS_SMP_LID && h.mgmt_class != WIRE_CLASS_SMP_DR))
		return;
	talkers_note(&s->traps->talkers, m->addr.lid, sweeper_clock_ms(s));
	if (h.attr == WIRE_ATTR_SM_INFO)
		sms_on_mad(s, m, &h);
	else if (h.attr == WIRE_ATTR_NOTICE && h.method == WIRE_TRAP)
		on_trap(s, m, &h);
}

/* ---------------------------------------------------------- what was put off */

void
traps_settle(struct sweeper *s)
{
	struct traps *t = s->traps;

	for (size_t i = 0; t->owed_ms != 0 && i < t->rows.n; i++)
		t->rows.item[i].owed_ms = 0;
	t->owed_ms = 0;
}

static void
pay(struct sweeper *s, struct trap_row *r)
{
	uint16_t lid = (uint16_t)(r->key >> 16), number = (uint16_t)r->key;
	struct source src = find_source(s, lid);
	char reason[112];

	r->owed_ms = 0;
	say_reason(s, number, &src, ", put off", reason, sizeof(reason));
	if (lid == 0)
		snprintf(reason, sizeof(reason), "trap %u from LIDs that are nobody's", number);
	if (src.slot == INV_NONE)
		look_for(s, r, reason);
	else
		read_again(s, src.slot, number, reason);
}

void
traps_step(struct sweeper *s)
{
	int64_t now_ms = sweeper_clock_ms(s);
	struct traps *t = s->traps;

	if (t->owed_ms == 0 || now_ms < t->owed_ms)
		return;
	if (s->p.ha->state != WIRE_SM_MASTER) {
		traps_settle(s);
		return;
	}
	t->owed_ms = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		struct trap_row *r = &t->rows.item[i];

		if (r->owed_ms != 0 && r->owed_ms <= now_ms)
			pay(s, r);
		if (r->owed_ms != 0 && (t->owed_ms == 0 || r->owed_ms < t->owed_ms))
			t->owed_ms = r->owed_ms;
	}
}

const struct sweep_trap_counts *
sweeper_trap_counts(const struct sweeper *s)
{
	return &s->traps->counts;
}

void
sweeper_talkers(const struct sweeper *s, struct talkers_seen *out)
{
	talkers_look(&s->traps->talkers, sweeper_clock_ms(s), out);
}

uint64_t
sweeper_name_lid(const struct sweeper *s, uint16_t lid, char *buf, size_t size)
{
	struct source src = find_source(s, lid);
	const struct inv_node *n;

	name_source(s, &src, buf, size);
	if (src.slot == INV_NONE)
		return 0;
	n = inv_node(&s->inv, src.slot);
	return n->ports[src.port].guid;
}
