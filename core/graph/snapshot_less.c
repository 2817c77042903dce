/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot without some of another's parts.  What is the same is shared with
 * it, by a reference: names, switches, ends unless some of them go, links unless
 * some of them go; then they are numbered anew.  O(links), and O(ends) when some go.
 */
#include <stdlib.h>
#include <string.h>

#include "core/graph/graph_diff.h"
#include "core/graph/snapshot.h"
#include "lib/bitset.h"
#include "lib/error.h"

#define MOST_NEAR 256u /* directed links that go: of more, all switches are looked at */

struct less {
	const struct snapshot *base;
	const struct snapshot_loss *loss;
	struct snapshot *out;
	uint64_t *goes;	  /* [n_links of base] bits */
	uint32_t *number; /* [n_links of base + 1] new number, FM_NONE: gone; and their count */
};

static bool
has_bit(const uint64_t *set, uint32_t i)
{
	return set != NULL && fm_bit_test(set, i);
}

static void
mark_link(const struct less *s, fm_link l)
{
	fm_bit_set(s->goes, l);
	fm_bit_set(s->goes, s->base->fab.link_rev[l]);
}

/* Links of the loss, both directions, and those of its switches. */
static bool
mark_links(struct less *s)
{
	const struct fm_fabric *was = &s->base->fab;

	s->goes = calloc(FM_BITSET_WORDS(was->n_links) + 1, sizeof(*s->goes));
	if (s->goes == NULL)
		return false;
	if (s->loss->links != NULL)
		FM_EACH_BIT (l, s->loss->links, was->n_links)
			mark_link(s, (fm_link)l);
	if (s->loss->switches != NULL)
		FM_EACH_BIT (sw, s->loss->switches, was->n_switches)
			for (fm_link l = was->sw_first_link[sw]; l < was->sw_first_link[sw + 1];
			     l++)
				mark_link(s, l);
	return true;
}

/* Links stay from from on: up to the next one that goes, or to the end. */
static fm_link
end_of_run(const struct less *s, fm_link from)
{
	return (fm_link)fm_bit_next(s->goes, s->base->fab.n_links, from);
}

/* New numbers; their count. */
static bool
number_links(struct less *s, uint32_t *first)
{
	const struct fm_fabric *was = &s->base->fab;
	uint32_t n_gone = 0;

	s->number = malloc((was->n_links + 1) * sizeof(*s->number));
	if (s->number == NULL)
		return false;
	for (fm_link l = 0, end; l < was->n_links; l = end + 1) {
		end = end_of_run(s, l);
		for (fm_link at = l; at < end; at++)
			s->number[at] = at - n_gone;
		if (end == was->n_links)
			break;
		s->number[end] = FM_NONE;
		n_gone++;
	}
	s->number[was->n_links] = was->n_links - n_gone;
	for (fm_sw sw = 0; sw <= was->n_switches; sw++) {
		fm_link l = was->sw_first_link[sw];

		while (s->number[l] == FM_NONE)
			l++;
		first[sw] = s->number[l];
	}
	return true;
}

/* Other links stand elsewhere only at switches that lose one. */
static bool
index_ports(struct less *s)
{
	const struct fm_fabric *was = &s->base->fab;
	size_t n = s->base->sw_first_port[was->n_switches];
	uint8_t *slot = fm_arena_array(&s->out->mem, n + 1, uint8_t);

	if (slot == NULL)
		return false;
	memcpy(slot, s->base->port_slot, n);
	FM_EACH_BIT (l, s->goes, was->n_links)
		snapshot_index_switch(s->out, was->link_to[l], slot);
	s->out->port_slot = slot;
	return true;
}

static bool
copy_links(struct less *s)
{
	const struct fm_fabric *was = &s->base->fab;
	struct snapshot_links to;

	if (!snapshot_make_links(s->out, was->n_switches, was->n_links, &to) ||
	    !number_links(s, to.first))
		return false;
	for (fm_link l = 0, end; l < was->n_links; l = end + 1) {
		fm_link n = s->number[l];
		size_t len = (end = end_of_run(s, l)) - l;

		if (len == 0)
			continue;
		memcpy(to.to + n, was->link_to + l, len * sizeof(*to.to));
		memcpy(to.port + n, was->link_port + l, len * sizeof(*to.port));
		memcpy(to.n_vls + n, was->link_n_vls + l, len * sizeof(*to.n_vls));
		memcpy(to.mbps + n, was->link_mbps + l, len * sizeof(*to.mbps));
		memcpy(to.nominal_mbps + n, was->link_nominal_mbps + l,
		    len * sizeof(*to.nominal_mbps));
		for (size_t i = 0; i < len; i++)
			to.rev[n + i] = s->number[was->link_rev[l + i]];
	}
	snapshot_set_links(s->out, &to, s->number[was->n_links]);
	return index_ports(s);
}

/* Those of base, if none goes. */
static bool
take_links(struct less *s)
{
	size_t n_words;

	if (!mark_links(s))
		return false;
	n_words = FM_BITSET_WORDS(s->base->fab.n_links);
	return fm_bit_next(s->goes, n_words * 64, 0) == n_words * 64 || copy_links(s);
}

static bool
is_same(const struct less *s)
{
	return s->out->fab.link_to == s->base->fab.link_to &&
	    s->out->fab.end_sw == s->base->fab.end_sw;
}

/* Are two switches joined by at most three links?  near: room for bits of switches, empty. */
static bool
is_near(const struct fm_fabric *fab, uint64_t *near, fm_sw a, fm_sw b)
{
	fm_link end = fab->sw_first_link[a + 1];
	bool found = a == b;

	for (fm_link l = fab->sw_first_link[b]; l < fab->sw_first_link[b + 1]; l++)
		fm_bit_set(near, fab->link_to[l]);
	for (fm_link l = fab->sw_first_link[a]; !found && l < end; l++) {
		fm_sw by = fab->link_to[l];

		found = by == b || fm_bit_test(near, by);
		for (fm_link m = fab->sw_first_link[by]; !found && m < fab->sw_first_link[by + 1];
		     m++)
			found = fm_bit_test(near, fab->link_to[m]);
	}
	for (fm_link l = fab->sw_first_link[b]; l < fab->sw_first_link[b + 1]; l++)
		fm_bit_clear(near, fab->link_to[l]);
	return found;
}

/* Of a connected base: are the two sides of each cable that goes still near each other, and
 * all neighbours of each switch that is gone?  Then what is left is connected, too. */
static bool
holds_together(const struct less *s, uint64_t *near)
{
	const struct fm_fabric *was = &s->base->fab, *now = &s->out->fab;
	fm_sw gone = FM_NONE, beside = FM_NONE; /* a neighbour of it */
	unsigned n = 0;

	FM_EACH_BIT (l, s->goes, was->n_links) {
		fm_sw from = was->link_to[was->link_rev[l]], to = was->link_to[l];
		bool from_gone = graph_is_gone(now, from);

		if (n++ > MOST_NEAR || (from_gone && graph_is_gone(now, to)))
			return false;
		if (!from_gone && from < to && !graph_is_gone(now, to) &&
		    !is_near(now, near, from, to))
			return false;
		if (!from_gone)
			continue;
		if (from == gone && !is_near(now, near, beside, to))
			return false;
		gone = from;
		beside = to;
	}
	return true;
}

/* Of a connected fabric without a few parts nearly always one component is left. */
static bool
take_components(struct less *s)
{
	uint32_t n = s->out->fab.n_switches, *component;
	uint64_t *near;
	bool together;

	if (is_same(s)) {
		s->out->sw_component = s->base->sw_component;
		s->out->n_components = s->base->n_components;
		return true;
	}
	near = calloc(FM_BITSET_WORDS(n) + 1, sizeof(*near));
	together = near != NULL && s->base->n_components == 1 && s->out->fab.n_links > 0 &&
	    holds_together(s, near);
	free(near);
	if (!together)
		return snapshot_find_components(s->out);
	component = fm_arena_array(&s->out->mem, n, uint32_t);
	for (fm_sw sw = 0; component != NULL && sw < n; sw++)
		component[sw] = graph_is_gone(&s->out->fab, sw) ? FM_NONE : 0;
	s->out->sw_component = component;
	s->out->n_components = 1;
	return component != NULL;
}

static bool
end_goes(const struct less *s, fm_end e)
{
	fm_sw sw = s->base->fab.end_sw[e];

	return has_bit(s->loss->ends, e) || (sw != FM_NONE && has_bit(s->loss->switches, sw));
}

/* COPY(type, field): the ends that stay, of one array. */
#define COPY(type, field) COPY_OF(type, was->field, fab->field)
#define COPY_OF(type, from, to) \
	do { \
		type *copy_ = fm_arena_array(mem, was->n_ends + 1, type); \
\
		if (copy_ == NULL) \
			return false; \
		for (fm_end e_ = 0, n_ = 0; e_ < was->n_ends; e_++) \
			if (!end_goes(s, e_)) \
				copy_[n_++] = (from)[e_]; \
		(to) = copy_; \
	} while (0)

static bool
copy_ends(struct less *s)
{
	const struct fm_fabric *was = &s->base->fab;
	struct fm_fabric *fab = &s->out->fab;
	struct fm_arena *mem = &s->out->mem;
	fm_end *first = fm_arena_array(mem, was->n_switches + 1, fm_end), n = 0;

	if (first == NULL)
		return false;
	COPY(uint64_t, end_guid);
	COPY(uint64_t, end_node_guid);
	COPY(uint64_t, end_system_guid);
	COPY(const char *, end_name);
	COPY_OF(const char *, s->base->end_desc, s->out->end_desc);
	if (s->base->end_mbps != NULL)
		COPY_OF(uint32_t, s->base->end_mbps, s->out->end_mbps);
	COPY(fm_sw, end_sw);
	COPY(uint8_t, end_port);
	COPY(uint16_t, end_lid);
	COPY(uint8_t, end_lmc);
	COPY(uint8_t, end_kind);
	COPY(uint8_t, end_n_vls);
	for (fm_sw sw = 0; sw < was->n_switches; sw++) {
		first[sw] = n;
		for (fm_end e = was->sw_first_end[sw]; e < was->sw_first_end[sw + 1]; e++)
			n += !end_goes(s, e);
	}
	first[was->n_switches] = n;
	for (fm_end e = was->sw_first_end[was->n_switches]; e < was->n_ends; e++)
		n += !end_goes(s, e);
	fab->sw_first_end = first;
	fab->n_ends = n;
	return true;
}

static bool
index_lids(struct less *s)
{
	struct fm_fabric *fab = &s->out->fab;
	fm_end *lid_end;
	uint32_t top = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lid[e] != 0 && fab->end_lid[e] + (1u << fab->end_lmc[e]) - 1 > top)
			top = fab->end_lid[e] + (1u << fab->end_lmc[e]) - 1;
	lid_end = fm_arena_array(&s->out->mem, top + 1, fm_end);
	if (lid_end == NULL)
		return false;
	memset(lid_end, 0xff, (top + 1) * sizeof(*lid_end));
	for (fm_end e = 0; e < fab->n_ends; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			lid_end[fab->end_lid[e] + i] = e;
	fab->max_lid = (uint16_t)top;
	fab->lid_end = lid_end;
	return true;
}

static bool
any_end_goes(const struct less *s)
{
	if (s->loss->ends == NULL && s->loss->switches == NULL)
		return false;
	for (fm_end e = 0; e < s->base->fab.n_ends; e++)
		if (end_goes(s, e))
			return true;
	return false;
}

int
snapshot_without(struct snapshot *base, const struct snapshot_loss *loss, struct snapshot **out,
    struct fm_error *err)
{
	struct less s = { .base = base, .loss = loss, .out = calloc(1, sizeof(*s.out)) };
	bool ok;

	if (s.out == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a snapshot");
	atomic_init(&s.out->refs, 1);
	fm_arena_init(&s.out->mem, SIZE_MAX);
	s.out->fab = base->fab;
	s.out->base = snapshot_get(base);
	s.out->sw_by_guid = base->sw_by_guid;
	s.out->sw_desc = base->sw_desc;
	s.out->end_desc = base->end_desc;
	s.out->end_mbps = base->end_mbps;
	s.out->sw_first_port = base->sw_first_port;
	s.out->port_slot = base->port_slot;
	ok = take_links(&s) && (!any_end_goes(&s) || (copy_ends(&s) && index_lids(&s))) &&
	    take_components(&s);
	free(s.number);
	free(s.goes);
	if (!ok) {
		snapshot_put(s.out);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a snapshot");
	}
	*out = s.out;
	return 0;
}
