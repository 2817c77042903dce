/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per switch: the set of ports towards each other switch; equal sets found by
 * hash and numbered; the entries counted that would use each; numbers given to
 * the sets used most; the row written.  Switches are independent of one another.
 * LIDs of one switch that follow each other are one run: what is known of the switch is
 * looked up once for all of them.
 */
#include "plugins/common/paths/alternatives.h"

#include <string.h>

#include "lib/bitset.h"

#define NONE UINT16_MAX

/* One worker's memory, of one switch. */
struct maker {
	struct fm_ports *towards; /* [n_switches] */
	uint16_t *set_of;	  /* [n_switches] which of sets[], NONE: no choice */
	uint16_t *slot;		  /* [n_slots] hash table of sets, NONE: free */
	fm_sw *sets;		  /* [n_switches] a destination with this set */
	uint32_t *weight;	  /* [n_switches] entries that would use the set */
	uint16_t *number;	  /* [n_switches] of its group, 0: none */
	uint16_t *by_weight;	  /* [n_switches] */
	uint32_t n_sets;
	uint64_t dropped;
};

/* LIDs lid..lid+n-1 are behind `to`. */
struct run {
	fm_sw to;
	uint32_t lid, n;
};

struct work {
	const struct fm_fabric *fab;
	const struct fm_tables *out;
	fm_towards_fn towards;
	const void *arg;
	struct run *runs; /* [n_runs] of the LIDs that may have groups */
	uint32_t n_runs;
	struct maker *makers; /* [n_workers] */
	uint32_t n_slots;     /* a power of two, more than twice the switches */
};

static uint32_t
hash(const struct fm_ports *p)
{
	uint64_t h = 0;

	for (unsigned w = 0; w < 4; w++)
		h = (h ^ p->set[w]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static bool
has_choice(const struct fm_ports *p)
{
	uint64_t any = 0, more = 0; /* ports so far, and whether there are two */

	for (unsigned w = 0; w < 4; w++) {
		more |= (any != 0 ? p->set[w] : 0) | (p->set[w] & (p->set[w] - 1));
		any |= p->set[w];
	}
	return more != 0;
}

static bool
has_port(const struct fm_ports *p, uint8_t port)
{
	return p->set[port / 64] >> (port % 64) & 1;
}

/* Which of the sets is that of destination to; a new one if it is none yet. */
static uint16_t
find_set(const struct work *work, struct maker *m, fm_sw to)
{
	const struct fm_ports *p = &m->towards[to];
	uint32_t i = hash(p) & (work->n_slots - 1);

	for (; m->slot[i] != NONE; i = (i + 1) & (work->n_slots - 1))
		if (memcmp(&m->towards[m->sets[m->slot[i]]], p, sizeof(*p)) == 0)
			return m->slot[i];
	m->slot[i] = (uint16_t)m->n_sets;
	m->sets[m->n_sets] = to;
	m->weight[m->n_sets] = 0;
	m->number[m->n_sets] = 0;
	return (uint16_t)m->n_sets++;
}

static void
find_sets(const struct work *work, struct maker *m, fm_sw sw, unsigned worker)
{
	uint32_t n = work->fab->n_switches;

	memset(m->towards, 0, n * sizeof(*m->towards));
	memset(m->slot, 0xff, work->n_slots * sizeof(*m->slot));
	m->n_sets = 0;
	work->towards(work->arg, sw, worker, m->towards);
	for (fm_sw to = 0; to < n; to++) {
		const struct fm_ports *p = &m->towards[to];

		if (to == sw || !has_choice(p))
			m->set_of[to] = NONE;
		else if (to > 0 && m->set_of[to - 1] != NONE && memcmp(p, p - 1, sizeof(*p)) == 0)
			m->set_of[to] = m->set_of[to - 1];
		else
			m->set_of[to] = find_set(work, m, to);
	}
}

/* Of equals, the one found last. */
static bool
weighs_less(const struct maker *m, uint16_t a, uint16_t b)
{
	return m->weight[a] != m->weight[b] ? m->weight[a] < m->weight[b] : a > b;
}

/* Down in a heap with the least weight on top. */
static void
sift(const struct maker *m, uint32_t i, uint32_t n)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		uint16_t t = m->by_weight[i];

		if (child + 1 < n && weighs_less(m, m->by_weight[child + 1], m->by_weight[child]))
			child++;
		if (!weighs_less(m, m->by_weight[child], t))
			return;
		m->by_weight[i] = m->by_weight[child];
		m->by_weight[child] = t;
	}
}

/* Numbers for as many sets as fit, in the order in which they were found. */
static void
number_sets(const struct work *work, struct maker *m, fm_sw sw)
{
	uint32_t n = 0, max = work->out->ar_n_groups[sw];
	uint16_t next = 1;

	for (uint32_t i = 0; i < m->n_sets; i++)
		if (m->weight[i] > 0)
			m->by_weight[n++] = (uint16_t)i;
	for (uint32_t i = n > max ? n / 2 : 0; i-- > 0;)
		sift(m, i, n);
	for (; n > max; n--) { /* the least goes */
		m->by_weight[0] = m->by_weight[n - 1];
		sift(m, 0, n - 1);
	}
	for (uint32_t i = 0; i < n; i++)
		m->number[m->by_weight[i]] = 1;
	for (uint32_t i = 0; i < m->n_sets; i++)
		if (m->number[i] != 0)
			m->number[i] = next++;
}

/* Entries get their set, counted from 1, or 0 where the static port is not in it. */
static void
mark_entries(const struct work *work, struct maker *m, fm_sw sw)
{
	const uint8_t *lft = work->out->lft[sw];
	uint16_t *row = work->out->ar_group[sw];

	for (uint32_t i = 0; m->n_sets > 0 && i < work->n_runs; i++) {
		const struct run *run = &work->runs[i];
		uint16_t set = m->set_of[run->to];
		struct fm_ports ports;
		uint32_t n = 0;

		if (set == NONE)
			continue;
		ports = m->towards[run->to];
		for (uint32_t lid = run->lid; lid < run->lid + run->n; lid++) {
			bool is = has_port(&ports, lft[lid]);

			row[lid] = is ? (uint16_t)(set + 1) : 0;
			n += is;
		}
		m->weight[set] += n;
	}
}

/* Sets to numbers of groups. */
static void
number_entries(const struct work *work, struct maker *m, fm_sw sw)
{
	uint16_t *row = work->out->ar_group[sw];
	uint32_t n_same = 0;

	while (n_same < m->n_sets && m->number[n_same] == n_same + 1)
		n_same++;
	if (n_same == m->n_sets)
		return;
	for (uint32_t i = 0; i < work->n_runs; i++) {
		const struct run *run = &work->runs[i];

		if (m->set_of[run->to] == NONE)
			continue;
		for (uint32_t lid = run->lid; lid < run->lid + run->n; lid++) {
			if (row[lid] == 0)
				continue;
			row[lid] = m->number[row[lid] - 1];
			m->dropped += row[lid] == 0;
		}
	}
}

static void
write_switch(void *arg, uint32_t sw, unsigned worker)
{
	const struct work *work = arg;
	struct maker *m = &work->makers[worker];

	if (work->out->ar_n_groups[sw] == 0)
		return;
	find_sets(work, m, sw, worker);
	mark_entries(work, m, sw);
	number_sets(work, m, sw);
	for (uint32_t i = 0; i < m->n_sets; i++)
		if (m->number[i] != 0)
			memcpy(work->out->ar_ports[sw][m->number[i]], &m->towards[m->sets[i]],
			    sizeof(struct fm_ports));
	number_entries(work, m, sw);
}

static void
list_runs(struct work *work, const uint64_t *fixed)
{
	const struct fm_fabric *fab = work->fab;
	struct run *last = NULL;

	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		fm_end end = fab->lid_end[lid];

		if (end == FM_NONE || fab->end_sw[end] == FM_NONE ||
		    (fixed != NULL && fm_bit_test(fixed, lid)))
			continue;
		if (last == NULL || last->to != fab->end_sw[end] || last->lid + last->n != lid) {
			last = &work->runs[work->n_runs++];
			*last = (struct run){ .to = fab->end_sw[end], .lid = lid };
		}
		last->n++;
	}
}

static bool
take_memory(const struct fm_host *host, struct maker *m, size_t n, size_t n_slots)
{
	m->towards = fm_scratch_array(host, n, struct fm_ports);
	m->set_of = fm_scratch_array(host, n, uint16_t);
	m->slot = fm_scratch_array(host, n_slots, uint16_t);
	m->sets = fm_scratch_array(host, n, fm_sw);
	m->weight = fm_scratch_array(host, n, uint32_t);
	m->number = fm_scratch_array(host, n, uint16_t);
	m->by_weight = fm_scratch_array(host, n, uint16_t);
	return m->towards != NULL && m->set_of != NULL && m->slot != NULL && m->sets != NULL &&
	    m->weight != NULL && m->number != NULL && m->by_weight != NULL;
}

int
fm_alternatives_write(const struct fm_host *host, const struct fm_fabric *fab,
    fm_towards_fn towards, const void *arg, const uint64_t *fixed, struct fm_tables *out,
    struct fm_error *err)
{
	unsigned n_workers = host->n_workers(host);
	struct work work = { .fab = fab, .out = out, .towards = towards, .arg = arg, .n_slots = 4 };

	if (out->ar_group == NULL)
		return 0;
	while (work.n_slots <= 2 * fab->n_switches)
		work.n_slots *= 2;
	work.makers = fm_scratch_array(host, n_workers, struct maker);
	work.runs = fm_scratch_array(host, (size_t)fab->max_lid + 1, struct run);
	if (work.makers == NULL || work.runs == NULL)
		return fm_no_scratch(host, "groups of ports", err);
	list_runs(&work, fixed);
	for (unsigned i = 0; i < n_workers; i++)
		if (!take_memory(host, &work.makers[i], fab->n_switches, work.n_slots))
			return fm_no_scratch(host, "groups of ports", err);
	host->parallel_for(host, fab->n_switches, write_switch, &work);
	for (unsigned i = 0; i < n_workers; i++)
		out->ar_dropped += work.makers[i].dropped;
	return 0;
}

/* ----------------------------------------------------- next steps of a search */

struct steps {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_reach *legal, *shortest; /* either NULL: all */
};

#define CLASSES_MAX 64 /* of a block; what is left is looked at arc by arc */

/* The columns of a block that go by an arc. */
static inline __attribute__((always_inline)) void
look_over(const struct steps *s, uint32_t block, fm_arc a, fm_lanes *set)
{
	const struct fm_reach *any = s->legal != NULL ? s->legal : s->shortest;

	*set = *fm_towards(any, s->arcs, block, a);
	if (any != s->shortest && s->shortest != NULL)
		*set &= *fm_towards(s->shortest, s->arcs, block, a);
}

static void
add_cables(const struct steps *s, fm_arc a, struct fm_ports *ports)
{
	for (fm_link l = s->arcs->link[a]; l < s->arcs->link[a + 1]; l++)
		fm_ports_add(ports, s->fab->link_port[l]);
}

/* Columns with a choice: by several arcs, or one of several cables. */
FM_WIDE static void
find_choices(const struct steps *s, fm_sw sw, uint32_t block, fm_lanes *choices)
{
	fm_lanes once = { 0 }, twice = { 0 }, set;

	for (fm_arc a = s->arcs->first[sw]; a < s->arcs->first[sw + 1]; a++) {
		look_over(s, block, a, &set);
		twice |= fm_arc_width(s->arcs, a) > 1 ? set : once & set;
		once |= set;
	}
	*choices = twice;
}

/* Those of the columns that go by just the arcs that column goes by, and their ports. */
FM_WIDE static void
find_class(const struct steps *s, fm_sw sw, uint32_t block, uint32_t column, fm_lanes *class,
    struct fm_ports *ports)
{
	fm_lanes set;

	for (fm_arc a = s->arcs->first[sw]; a < s->arcs->first[sw + 1]; a++) {
		look_over(s, block, a, &set);
		if (fm_lane_test(&set, column)) {
			*class &= set;
			add_cables(s, a, ports);
		} else
			*class &= ~set;
	}
}

static bool
first_column(const fm_lanes *set, uint32_t *column)
{
	const uint64_t *word = (const uint64_t *)set;

	for (uint32_t w = 0; w < FM_LANES / 64; w++)
		if (word[w] != 0) {
			*column = w * 64 + (uint32_t)__builtin_ctzll(word[w]);
			return true;
		}
	return false;
}

static void
add_ports(const fm_lanes *set, const fm_sw *column_sw, const struct fm_ports *ports,
    struct fm_ports *towards)
{
	const uint64_t *word = (const uint64_t *)set;

	for (uint32_t w = 0; w < FM_LANES / 64; w++)
		for (uint64_t bits = word[w]; bits != 0; bits &= bits - 1) {
			struct fm_ports *to =
			    &towards[column_sw[w * 64 + (uint32_t)__builtin_ctzll(bits)]];

			for (unsigned k = 0; k < 4; k++)
				to->set[k] |= ports->set[k];
		}
}

/* Few kinds of columns on trees: class by class.  Elsewhere there are many. */
static void
add_block(const struct steps *s, fm_sw sw, uint32_t block, struct fm_ports *towards)
{
	const fm_sw *column_sw =
	    (s->legal != NULL ? s->legal : s->shortest)->column_sw + (size_t)block * FM_LANES;
	fm_lanes left, set;
	uint32_t column;

	find_choices(s, sw, block, &left);
	for (unsigned n = 0; n < CLASSES_MAX && first_column(&left, &column); n++) {
		struct fm_ports ports = { { 0 } };

		set = left;
		find_class(s, sw, block, column, &set, &ports);
		add_ports(&set, column_sw, &ports, towards);
		left &= ~set;
	}
	for (fm_arc a = s->arcs->first[sw];
	     a < s->arcs->first[sw + 1] && first_column(&left, &column); a++) {
		struct fm_ports ports = { { 0 } };

		add_cables(s, a, &ports);
		look_over(s, block, a, &set);
		set &= left;
		add_ports(&set, column_sw, &ports, towards);
	}
}

/* Those without a choice are left out. */
static void
next_steps(const void *arg, fm_sw sw, unsigned worker, struct fm_ports *towards)
{
	const struct steps *s = arg;
	uint32_t n_blocks = (s->legal != NULL ? s->legal : s->shortest)->n_blocks;

	for (uint32_t b = 0; b < n_blocks; b++)
		add_block(s, sw, b, towards);
}

int
fm_alternatives(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const struct fm_order *order, bool also_shortest, const uint64_t *fixed, struct fm_tables *out,
    struct fm_error *err)
{
	struct fm_reach legal, shortest;
	struct steps s = { .fab = fab, .arcs = arcs };
	fm_sw *column_sw;
	int rc = 0;

	if (out->ar_group == NULL)
		return 0;
	column_sw = fm_scratch_array(host, fab->n_switches, fm_sw);
	if (column_sw == NULL)
		return fm_no_scratch(host, "list of switches", err);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		column_sw[sw] = sw;
	if (order != NULL) {
		rc = fm_reach_build(host, arcs, order, column_sw, fab->n_switches, &legal, err);
		s.legal = &legal;
	}
	if (rc == 0 && (order == NULL || also_shortest)) {
		rc = fm_reach_build(host, arcs, NULL, column_sw, fab->n_switches, &shortest, err);
		s.shortest = &shortest;
	}
	return rc != 0 ? rc : fm_alternatives_write(host, fab, next_steps, &s, fixed, out, err);
}
