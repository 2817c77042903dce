/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/mcast_judge.h - a group judged by its rows alone, as a switch would read them, and
 * by its members: nothing here knows of trees.  Cables that are used both ways and join switches
 * not joined before make a tree, and on a tree who is joined gets every packet exactly once,
 * whoever sends it.
 */
#ifndef TESTS_ENGINE_MCAST_JUDGE_H
#define TESTS_ENGINE_MCAST_JUDGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mcast/mcast_net.h"
#include "lib/algo/ufind.h"
#include "lib/bitset.h"

struct judge {
	const struct mcast_net *n;
	const struct fm_fabric *fab;
	uint16_t mlid;
	uint32_t *set; /* [n_switches] */
	char *why;
	size_t room;
};

static bool
wrong(struct judge *j, fm_sw sw, unsigned port, const char *what)
{
	snprintf(j->why, j->room, "multicast LID 0x%x: %s port %u %s", j->mlid, j->fab->sw_name[sw],
	    port, what);
	return false;
}

/* Is a member that receives there? */
static bool
is_wanted(const struct judge *j, fm_sw sw, unsigned port)
{
	uint32_t n = mcast_net_n_members(j->n, j->mlid);

	for (fm_end e = j->fab->sw_first_end[sw]; e < j->fab->sw_first_end[sw + 1]; e++)
		for (uint32_t i = 0; j->fab->end_port[e] == port && i < n; i++) {
			uint64_t guid;
			unsigned roles;

			mcast_net_member(j->n, j->mlid, i, &guid, &roles);
			if (guid == j->fab->end_guid[e])
				return (roles & MCAST_RECEIVES) != 0;
		}
	return false;
}

static bool
judge_port(struct judge *j, fm_sw sw, unsigned port)
{
	const struct fm_fabric *fab = j->fab;
	fm_link l = fm_link_at(fab, sw, port);
	struct mcast_ports back;
	fm_sw to;

	if (l == FM_NONE)
		return is_wanted(j, sw, port) || wrong(j, sw, port, "leads to no member");
	to = fab->link_to[l];
	back = mcast_net_row(j->n, j->mlid, to);
	if (!fm_bit_test(back.bits, fab->link_port[fab->link_rev[l]]))
		return wrong(j, sw, port, "sends into a switch that does not send back");
	if (fab->link_rev[l] < l)
		return true; /* once a cable */
	if (fm_ufind(j->set, sw) == fm_ufind(j->set, to))
		return wrong(j, sw, port, "closes a circle");
	fm_ufind_join(j->set, sw, to);
	return true;
}

static bool
judge_members(struct judge *j)
{
	const struct mcast_trees *t = mcast_net_trees(j->n);
	uint32_t n = mcast_net_n_members(j->n, j->mlid), n_parts = t->snap->n_components;
	fm_sw *first = malloc((n_parts + 1u) * sizeof(*first));
	bool ok = first != NULL;

	if (ok)
		memset(first, 0xff, (n_parts + 1u) * sizeof(*first));
	for (uint32_t i = 0; ok && i < n; i++) {
		struct mcast_ports row;
		uint64_t guid;
		unsigned roles;
		fm_end e;
		fm_sw sw, *of;

		mcast_net_member(j->n, j->mlid, i, &guid, &roles);
		e = fm_hash_find(&t->end_of_guid, guid);
		if (e == FM_HASH_NONE)
			continue;
		sw = j->fab->end_sw[e];
		row = mcast_net_row(j->n, j->mlid, sw);
		of = &first[t->snap->sw_component[sw]];
		if ((roles & MCAST_RECEIVES) && !fm_bit_test(row.bits, j->fab->end_port[e]))
			ok = wrong(j, sw, j->fab->end_port[e], "leads to a member and is left out");
		else if (*of == FM_NONE)
			*of = sw;
		else if (fm_ufind(j->set, *of) != fm_ufind(j->set, sw))
			ok = wrong(j, sw, j->fab->end_port[e],
			    "has a member that is cut off from the others");
	}
	free(first);
	return ok;
}

/* One group as its rows have it, judged for itself: a tree, both ways on every cable,
 * to all who receive, from all who send, and nowhere else.  True, or *why says. */
static bool
mcast_net_judge(const struct mcast_net *n, uint16_t mlid, char *why, size_t room)
{
	struct mcast_trees *t = mcast_net_trees(n);
	struct judge j = { .n = n, .mlid = mlid, .why = why, .room = room };
	uint32_t n_switches;
	bool ok = true;
	fm_sw sw = 0;

	if (t == NULL)
		return true;
	j.fab = &t->snap->fab;
	j.set = malloc((j.fab->n_switches + 1) * sizeof(*j.set));
	if (j.set == NULL) {
		snprintf(why, room, "out of memory");
		return false;
	}
	fm_ufind_init(j.set, j.fab->n_switches);
	n_switches = mcast_net_switches(n, mlid, 0, &sw);
	for (uint32_t i = 0; ok && i < n_switches; i++) {
		struct mcast_ports row;

		mcast_net_switches(n, mlid, i, &sw);
		row = mcast_net_row(n, mlid, sw);
		for (unsigned p = 0; ok && p < 255; p++)
			if (fm_bit_test(row.bits, p))
				ok = judge_port(&j, sw, p);
	}
	ok = ok && judge_members(&j);
	free(j.set);
	return ok;
}

#endif
