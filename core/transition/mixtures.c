/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One VL: what packets of a LID depend on while its entries change, entry by entry, beside
 * dependencies of old and of new tables that are held already (mostly a bit each).
 *
 * A mixed dependency begins at an entry that changes: packets come to it by a link that leads
 * there, and go on by unchanged entries until the next that changes.  Dependencies of packets that
 * pass no changed entry are of both tables, and held.  So for each changed entry the pairs (link
 * that leads here, next hop) and those along the unchanged entries after it are looked up.  Where
 * one is not held, the switches that packets to the LID reach are found, once a LID, and the pair
 * is inserted if they come by.
 *
 * "Next hop first" (transition.h) excludes packets that meet an old entry after a new one.  A pair
 * with an old end counts then only if packets come by old entries alone.
 *
 * Packets that chose among the ports of groups before all of that began, and do so no more, came by
 * those ports as by old entries (mixtures_let_choose()).
 *
 * Cost: changed entries times the ports of a switch; for LIDs with pairs that are not held,
 * O(switches).
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/mixtures.h"
#include "lib/bitset.h"

enum { OLD = 1, NEW = 2 };

/* How packets come to a switch. */
#define BY_OLD 1u     /* by entries of the old tables alone */
#define AFTER_NEW 2u  /* by a new entry, and by none that is old only since */
#define BY_MIXTURE 4u /* by any entries */
#define BY_NEW 8u     /* by entries of the new tables alone */
#define ON_STACK 16u  /* the switches after it are to be looked at */
#define ORDERED (BY_OLD | AFTER_NEW)

struct mixtures {
	struct depend *g;	   /* at hand; the caller's, as the next four */
	const struct fm_tables *t; /* the new tables */
	const uint64_t *lost;	   /* [n_channels] bits: cables that carry nothing; NULL: none */
	const uint8_t *sends;	   /* [n_switches] */
	const struct plan_entry *entries;
	const struct plan *chose; /* by its groups packets may have gone till now; NULL: by none */
	uint8_t *changes, *was; /* [n_switches] of the LID at hand: does it change, the old port */
	uint8_t *comes;		/* [n_switches] how packets to it come here */
	fm_sw *stack;		/* [n_switches] */
	uint16_t lid;		/* at hand */
	bool followed;		/* comes is of the LID at hand */
};

void
mixtures_free(struct mixtures *m)
{
	if (m == NULL)
		return;
	free(m->changes);
	free(m->was);
	free(m->comes);
	free(m->stack);
	free(m);
}

struct mixtures *
mixtures_new(uint32_t n_switches, const struct fm_tables *t, const uint64_t *lost,
    const uint8_t *sends, const struct plan_entry *entries)
{
	struct mixtures *m = calloc(1, sizeof(*m));
	size_t n = n_switches + 1u;

	if (m == NULL)
		return NULL;
	*m = (struct mixtures){ .t = t, .lost = lost, .sends = sends, .entries = entries };
	m->changes = calloc(n, 1);
	m->was = malloc(n);
	m->comes = malloc(n);
	m->stack = malloc(n * sizeof(*m->stack));
	if (m->changes != NULL && m->was != NULL && m->comes != NULL && m->stack != NULL)
		return m;
	mixtures_free(m);
	return NULL;
}

void
mixtures_let_choose(struct mixtures *m, const struct plan *before)
{
	m->chose = before;
}

/* ------------------------------------------------------------------- next hops */

/* The ports of the group by which packets may have left, [4] words; NULL: by none. */
static const uint64_t *
choices_at(const struct mixtures *m, fm_sw sw)
{
	const struct fm_tables *t;
	uint16_t group;

	if (m->chose == NULL || sw >= m->chose->snap->fab.n_switches ||
	    m->lid > m->chose->snap->fab.max_lid)
		return NULL;
	t = &m->chose->tables->t;
	group = t->ar_group[sw][m->lid];
	return group != 0 ? t->ar_ports[sw][group] : NULL;
}

static uint32_t
alive(const struct mixtures *m, fm_sw sw, uint8_t port)
{
	uint32_t c = depend_channel(m->g, sw, port);

	if (c == FM_NONE || m->g->to[c] == FM_NONE || (m->lost != NULL && fm_bit_test(m->lost, c)))
		return FM_NONE;
	return c;
}

static uint32_t
new_hop(const struct mixtures *m, fm_sw sw)
{
	return alive(m, sw, m->t->lft[sw][m->lid]);
}

static uint32_t
old_hop(const struct mixtures *m, fm_sw sw)
{
	return m->changes[sw] ? alive(m, sw, m->was[sw]) : new_hop(m, sw);
}

/* ------------------------------------------------------------- where packets come by */

static uint32_t
pass_on(struct mixtures *m, uint32_t channel, unsigned how, uint32_t n)
{
	fm_sw to = channel != FM_NONE ? m->g->to[channel] : FM_NONE;

	if (to == FM_NONE || (m->comes[to] & how) == how)
		return n;
	if (!(m->comes[to] & ON_STACK)) {
		m->stack[n++] = to;
		m->comes[to] |= ON_STACK;
	}
	m->comes[to] |= (uint8_t)how;
	return n;
}

/* Packets that chose before entries changed, and cables were lost: those that had passed one that
 * is lost by now are behind it. */
static uint32_t
pass_choices_on(struct mixtures *m, fm_sw sw, unsigned how, uint32_t n)
{
	const uint64_t *ports = choices_at(m, sw);
	uint8_t static_port = m->changes[sw] ? m->was[sw] : m->t->lft[sw][m->lid];

	how &= BY_OLD | BY_MIXTURE;
	if (m->chose == NULL || how == 0)
		return n;
	if (ports == NULL)
		return pass_on(m, depend_channel(m->g, sw, static_port), how, n);
	FM_EACH_BIT (port, ports, 256)
		n = pass_on(m, depend_channel(m->g, sw, (uint8_t)port), how, n);
	return n;
}

static void
follow(struct mixtures *m)
{
	uint32_t n = 0;

	m->followed = true;
	memset(m->comes, 0, m->g->n_switches);
	for (fm_sw sw = 0; sw < m->g->n_switches; sw++)
		if (m->sends[sw]) {
			m->comes[sw] = BY_OLD | BY_NEW | BY_MIXTURE | ON_STACK;
			m->stack[n++] = sw;
		}
	while (n > 0) {
		fm_sw sw = m->stack[--n];
		unsigned how = m->comes[sw] &= (uint8_t)~ON_STACK;

		n = pass_choices_on(m, sw, how, n);
		if (!m->changes[sw]) {
			n = pass_on(m, new_hop(m, sw), how, n);
			continue;
		}
		n = pass_on(m, old_hop(m, sw), how & (BY_OLD | BY_MIXTURE), n);
		n = pass_on(m, new_hop(m, sw),
		    (how & ORDERED ? AFTER_NEW : 0u) | (how & (BY_MIXTURE | BY_NEW)), n);
	}
}

/* Packets that come to `from` in one of these ways go on by the two channels. */
static enum depend_result
need(struct mixtures *m, fm_sw from, unsigned how, uint32_t in, uint32_t out)
{
	if (depend_holds(m->g, in, out, 0))
		return DEPEND_HELD;
	if (!m->followed)
		follow(m);
	return m->comes[from] & how ? depend_insert(m->g, in, out, 0) : DEPEND_HELD;
}

/* ------------------------------------------------------------------- one LID */

/* How packets come to a switch that leave it by its old next hop, or new, and meet at the next an
 * entry that is old or new. */
static unsigned
ways_to(enum deps_mode mode, unsigned age, unsigned age_to)
{
	if (mode == DEPS_ORDERED)
		return age == OLD || age_to == OLD ? BY_OLD : ORDERED;
	return mode == DEPS_NEW ? BY_NEW : mode == DEPS_OLD ? BY_OLD : BY_MIXTURE;
}

/* Are there packets, by the mode, that leave a switch by a next hop of that age and meet the next
 * at an entry of the other? */
static bool
excludes(enum deps_mode mode, unsigned age, unsigned age_to)
{
	return age == 0 || (mode == DEPS_NEW && age == OLD) || (mode == DEPS_OLD && age == NEW) ||
	    (mode == DEPS_ORDERED && age == NEW && age_to == OLD);
}

static bool
chose_to(const struct mixtures *m, fm_sw sw, uint8_t port)
{
	const uint64_t *ports = choices_at(m, sw);

	return ports != NULL && fm_bit_test(ports, port);
}

static enum depend_result
need_into(struct mixtures *m, fm_sw sw, uint32_t out, unsigned age_to, enum deps_mode mode)
{
	const struct depend *g = m->g;
	uint32_t first = g->first[sw], n_ports = g->first[sw + 1] - first;
	const uint64_t *held = depend_prev(g, out, 0);
	enum depend_result rc = DEPEND_HELD;

	for (uint32_t port = 1; rc < DEPEND_CYCLE && port < n_ports; port++) {
		uint32_t in = g->back[first + port];
		uint8_t is, was, back = g->back_port[first + port];
		unsigned age;
		fm_sw from;

		if (in == FM_NONE || fm_bit_test(held, port))
			continue;
		from = g->to[first + port];
		is = m->t->lft[from][m->lid];
		was = m->changes[from] ? m->was[from] : is;
		age = (was == back || chose_to(m, from, back) ? OLD : 0u) | (is == back ? NEW : 0u);
		if (!excludes(mode, age, age_to) && alive(m, from, back) == in)
			rc = need(m, from, ways_to(mode, age, age_to), in, out);
	}
	return rc;
}

/* Along unchanged entries after a changed one. */
static enum depend_result
need_after(struct mixtures *m, fm_sw sw, uint32_t out, unsigned how)
{
	enum depend_result rc = DEPEND_HELD;
	fm_sw next = m->g->to[out];
	uint32_t on;

	for (uint32_t n = 0; rc < DEPEND_CYCLE && n < m->g->n_switches; n++) {
		on = m->changes[next] ? FM_NONE : new_hop(m, next);
		if (on == FM_NONE)
			break;
		rc = need(m, sw, how, out, on);
		out = on;
		next = m->g->to[out];
	}
	return rc;
}

/* Along the switch's next hop by its old or its new entry. */
static enum depend_result
need_hop(struct mixtures *m, fm_sw sw, uint32_t out, unsigned age, enum deps_mode mode)
{
	enum depend_result rc;

	if (out == FM_NONE || excludes(mode, age, age))
		return DEPEND_HELD;
	rc = need_into(m, sw, out, age, mode);
	return rc < DEPEND_CYCLE ? need_after(m, sw, out, ways_to(mode, age, age)) : rc;
}

enum depend_result
mixtures_insert(struct mixtures *m, struct depend *g, size_t first, size_t end, enum deps_mode mode)
{
	const struct plan_entry *e = m->entries;
	enum depend_result rc = DEPEND_HELD;

	m->g = g;
	m->lid = e[first].lid;
	m->followed = false;
	for (size_t i = first; i < end; i++) {
		m->changes[e[i].sw] = 1;
		m->was[e[i].sw] = e[i].port;
	}
	for (size_t i = first; rc < DEPEND_CYCLE && i < end; i++) {
		rc = need_hop(m, e[i].sw, old_hop(m, e[i].sw), OLD, mode);
		if (rc < DEPEND_CYCLE)
			rc = need_hop(m, e[i].sw, new_hop(m, e[i].sw), NEW, mode);
	}
	for (size_t i = first; i < end; i++)
		m->changes[e[i].sw] = 0;
	return rc;
}
