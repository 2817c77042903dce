/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: a switch that packets come through and that has no way is led to the LID over
 * switches that no packets for it come through, whatever their entries: they get others, or
 * their first.  So where regions meet: a spine has no entry for what leaves its region by
 * another spine, and is the way of a leaf that has lost its cable to that one.
 *
 * What packets go by leads on over switches that packets go by.  So a way that is new up to
 * the first of these meets none of its switches again: no loop can arise.
 *
 * Over turns that are held (of some VL, where VLs go by ports), if there is such a way; else by
 * new dependencies.  A switch that had no entry has none again as soon as nothing needs it
 * (repair_back.c).
 *
 * Time: O(channels of switches without packets for the LID), and a way of each sender.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

#define LEAD_TRIES 16u /* ways that close a cycle, of one switch */

/* A channel on the way from a spot. */
struct step {
	uint32_t channel;
	uint32_t parent; /* index; FM_NONE: of the spot itself */
};

struct lead {
	struct repair *p;
	const struct repair_spot *s;
	const struct repair_comers *who; /* NULL: VLs go by ports */
	bool held;			 /* only by turns that are */
	uint64_t *seen;			 /* [n_channels] bits */
	FM_VEC(struct step) steps;
};

/* Step i goes on by c, if it may. */
static bool
add_step(struct lead *l, uint32_t parent, uint32_t c)
{
	struct repair *p = l->p;
	struct step step = { .channel = c, .parent = parent };
	fm_sw there = p->go[c];

	if (there == FM_NONE || there == l->s->sw || fm_bit_test(l->seen, c))
		return true;
	for (uint32_t i = parent; i != FM_NONE; i = l->steps.item[i].parent)
		if (p->g->at[l->steps.item[i].channel] == there)
			return true;
	fm_bit_set(l->seen, c);
	return fm_vec_push(&l->steps, step);
}

/* Do packets go on from `in` to c, of some VL where there are several? */
static bool
is_turn(const struct lead *l, uint32_t in, uint32_t c)
{
	const struct depend *g = l->p->g;

	for (unsigned vl = 0; vl < g->n_vls; vl++)
		for (unsigned out = 0; out < g->n_vls; out++)
			if (fm_bit_test(
				depend_next(g, in, vl), (c - g->first[g->at[c]]) * g->n_vls + out))
				return true;
	return false;
}

/* May all that comes to the spot leave it by c?  By ports nothing is known of who comes. */
static bool
takes_comers(const struct lead *l, uint32_t c)
{
	for (unsigned i = 0; l->held && l->who != NULL && i < l->who->n; i++)
		if (l->who->vls[i] != 0 &&
		    !repair_holds_all(l->p->g, l->who->in[i], c, l->who->vls[i]))
			return false;
	return true;
}

static bool
add_first_steps(struct lead *l)
{
	const struct depend *g = l->p->g;

	for (uint32_t c = g->first[l->s->sw] + 1; c < g->first[l->s->sw + 1]; c++)
		if (takes_comers(l, c) && !add_step(l, FM_NONE, c))
			return false;
	return true;
}

/* On from a switch without packets: by the port it has, then by all. */
static bool
add_next_steps(struct lead *l, uint32_t i)
{
	const struct depend *g = l->p->g;
	uint32_t in = l->steps.item[i].channel, own;
	fm_sw sw = g->to[in];

	own = repair_egress(l->p, sw);
	if (own != FM_NONE && (!l->held || is_turn(l, in, own)) && !add_step(l, i, own))
		return false;
	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++)
		if (!fm_bit_test(l->seen, c) && (!l->held || is_turn(l, in, c)) &&
		    !add_step(l, i, c))
			return false;
	return true;
}

/* The entries of the way that ends with step i are these; *first: where the spot goes.  What
 * they were is in p->idle.  False: out of memory. */
static bool
write_way(struct lead *l, uint32_t i, uint32_t *first)
{
	struct repair *p = l->p;

	p->idle.n = 0;
	for (; i != FM_NONE; i = l->steps.item[i].parent) {
		uint32_t c = l->steps.item[i].channel;
		struct repair_idle at = { .sw = p->g->at[c] };

		*first = c;
		at.was = p->column[at.sw];
		at.is_spot = has_mark(p, at.sw, MARK_LOST);
		if (!fm_vec_push(&p->idle, at)) {
			p->out_of_memory = true;
			return false;
		}
		repair_set(p, at.sw, (uint8_t)(c - p->g->first[at.sw]));
		set_mark(p, at.sw, MARK_SETTLED);
	}
	/* lengths that are kept of ways over these switches are those of before */
	memset(p->arrives, 0, p->g->n_switches * sizeof(*p->arrives));
	memset(p->held, 0, p->g->n_switches * sizeof(*p->held));
	return true;
}

/* Of the way that has been written the entries are what they were. */
static void
take_back(struct lead *l)
{
	struct repair *p = l->p;

	for (size_t i = p->idle.n; i-- > 0;) {
		const struct repair_idle *at = &p->idle.item[i];

		repair_set(p, at->sw, at->was);
		set_mark(p, at->sw, at->is_spot ? MARK_LOST : MARK_NONE);
	}
}

/* By ports: all that packets to the LID depend on.  False: undone. */
static bool
insert_by_ports(struct repair *p)
{
	size_t before = p->g->added.n;
	enum depend_result rc = repair_insert_lid(p, FM_NONE);

	if (rc < DEPEND_CYCLE)
		return true;
	repair_note_result(p, rc);
	depend_undo(p->g, before);
	return false;
}

/* Take the way that ends with step i, if it closes no cycle. */
static bool
try_way(struct lead *l, uint32_t i)
{
	uint32_t first = FM_NONE;

	if (!write_way(l, i, &first))
		return false;
	if (l->who != NULL ? repair_try_insert(l->p, l->who, first) : insert_by_ports(l->p))
		return true;
	take_back(l);
	return false;
}

/* Is the end of step i on the way of other packets, or the LID's own switch, and may the
 * packets go on as those do? */
static bool
joins(const struct lead *l, uint32_t i)
{
	const struct repair *p = l->p;
	uint32_t c = l->steps.item[i].channel;

	return repair_follow(p, c, l->who != NULL, p->g->n_switches, l->held).depth != REPAIR_FAR;
}

/* The nearest first. */
static bool
search(struct lead *l)
{
	struct repair *p = l->p;
	unsigned n_tries = 0;

	if (!add_first_steps(l))
		p->out_of_memory = true;
	for (uint32_t i = 0; i < l->steps.n && n_tries < LEAD_TRIES && !p->out_of_memory; i++) {
		fm_sw there = p->g->to[l->steps.item[i].channel];

		if (!repair_carries(p, there)) {
			if (!add_next_steps(l, i))
				p->out_of_memory = true;
		} else if (joins(l, i)) {
			n_tries++;
			if (try_way(l, i))
				return true;
		}
	}
	return false;
}

static bool
lead_spot(struct repair *p, const struct repair_spot *s, const struct repair_comers *who, bool held)
{
	struct lead l = { .p = p, .s = s, .who = who, .held = held };
	bool found = false;

	l.seen = calloc(FM_BITSET_WORDS(p->g->n_channels) + 1, sizeof(*l.seen));
	if (l.seen == NULL)
		p->out_of_memory = true;
	else
		found = search(&l);
	free(l.seen);
	fm_vec_fini(&l.steps);
	return found;
}

bool
repair_lead(struct repair *p, bool held)
{
	bool by_ports = p->deps != NULL;

	if (p->g->n_vls > 1 && !by_ports)
		return false;
	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot s = p->spots.item[i];
		struct repair_comers who;

		if (s.idle || !repair_is_open(p, &s))
			continue;
		if (!by_ports)
			repair_gather(p, &s, &who);
		repair_mark_carriers(p);
		if ((by_ports || who.all != 0) && lead_spot(p, &s, by_ports ? NULL : &who, held)) {
			p->dirty[p->lid] = 1;
			return true;
		}
	}
	return false;
}
