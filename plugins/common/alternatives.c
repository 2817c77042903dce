/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per switch: the set of ports towards each other switch; equal sets found by
 * hash and numbered; the entries counted that would use each; numbers given to
 * the sets used most; the row written.  Switches are independent of one another.
 */
#include "plugins/common/alternatives.h"

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

struct work {
	const struct fm_fabric *fab;
	const struct fm_tables *out;
	fm_towards_fn towards;
	const void *arg;
	fm_sw *sw_of;	      /* [max_lid + 1] where a LID is, FM_NONE */
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
	for (fm_sw to = 0; to < n; to++)
		m->set_of[to] =
		    to != sw && has_choice(&m->towards[to]) ? find_set(work, m, to) : NONE;
}

/* The set of an entry, NONE if its port is in no set of several. */
static uint16_t
set_of_entry(const struct work *work, const struct maker *m, fm_sw sw, uint32_t lid)
{
	fm_sw to = work->sw_of[lid];

	if (to == FM_NONE || m->set_of[to] == NONE ||
	    !has_port(&m->towards[to], work->out->lft[sw][lid]))
		return NONE;
	return m->set_of[to];
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
number_sets(const struct work *work, struct maker *m)
{
	uint32_t n = 0, max = work->out->ar_max_groups;
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

static void
write_switch(void *arg, uint32_t sw, unsigned worker)
{
	const struct work *work = arg;
	struct maker *m = &work->makers[worker];
	uint16_t *row = work->out->ar_group[sw];
	size_t stride = work->out->ar_max_groups + 1u;

	find_sets(work, m, sw, worker);
	for (uint32_t lid = 0; m->n_sets > 0 && lid <= work->fab->max_lid; lid++) {
		row[lid] = set_of_entry(work, m, sw, lid);
		if (row[lid] != NONE)
			m->weight[row[lid]]++;
	}
	number_sets(work, m);
	for (uint32_t i = 0; i < m->n_sets; i++)
		if (m->number[i] != 0)
			memcpy(work->out->ar_ports + (sw * stride + m->number[i]) * 4,
			    &m->towards[m->sets[i]], sizeof(struct fm_ports));
	for (uint32_t lid = 0; lid <= work->fab->max_lid; lid++) {
		uint16_t set = m->n_sets > 0 ? row[lid] : NONE;

		row[lid] = set != NONE ? m->number[set] : 0;
		m->dropped += set != NONE && m->number[set] == 0;
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

	if (out->ar_max_groups == 0)
		return 0;
	while (work.n_slots <= 2 * fab->n_switches)
		work.n_slots *= 2;
	work.makers = fm_scratch_array(host, n_workers, struct maker);
	work.sw_of = fm_scratch_array(host, (size_t)fab->max_lid + 1, fm_sw);
	if (work.makers == NULL || work.sw_of == NULL)
		return fm_no_scratch(host, "groups of ports", err);
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
		work.sw_of[lid] =
		    fab->lid_end[lid] != FM_NONE && (fixed == NULL || !fm_bit_test(fixed, lid))
		    ? fab->end_sw[fab->lid_end[lid]]
		    : FM_NONE;
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

static void
add_arc(const struct steps *s, fm_arc a, uint32_t block, struct fm_ports *towards)
{
	const struct fm_reach *any = s->legal != NULL ? s->legal : s->shortest;
	const uint64_t *in = (const uint64_t *)fm_towards(any, s->arcs, block, a);
	const uint64_t *too = any != s->shortest && s->shortest != NULL
	    ? (const uint64_t *)fm_towards(s->shortest, s->arcs, block, a)
	    : in;
	const fm_sw *column_sw = any->column_sw + (size_t)block * FM_LANES;
	struct fm_ports ports = { { 0 } };

	for (fm_link l = s->arcs->link[a]; l < s->arcs->link[a + 1]; l++)
		fm_ports_add(&ports, s->fab->link_port[l]);
	for (uint32_t w = 0; w < FM_LANES / 64; w++)
		for (uint64_t bits = in[w] & too[w]; bits != 0; bits &= bits - 1) {
			struct fm_ports *to =
			    &towards[column_sw[w * 64 + (uint32_t)__builtin_ctzll(bits)]];

			for (unsigned k = 0; k < 4; k++)
				to->set[k] |= ports.set[k];
		}
}

static void
next_steps(const void *arg, fm_sw sw, unsigned worker, struct fm_ports *towards)
{
	const struct steps *s = arg;
	uint32_t n_blocks = (s->legal != NULL ? s->legal : s->shortest)->n_blocks;

	for (fm_arc a = s->arcs->first[sw]; a < s->arcs->first[sw + 1]; a++)
		for (uint32_t b = 0; b < n_blocks; b++)
			add_arc(s, a, b, towards);
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

	if (out->ar_max_groups == 0)
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
