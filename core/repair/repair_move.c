/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID of tables that give SLs to pairs (dfsssp, lash), where no way is free of credit
 * loops under the SLs that were handed out: packets get the shortest way there is, and the
 * pairs for which that closes a cycle get another SL.
 *
 *	1  whose port leads nowhere takes the port with the shortest way, as in
 *	   repair_ports.c; of those as short the one for which fewest pairs have to move
 *	2  what each switch sends is inserted, or, where that closes a cycle, the pair moves
 *	   to the first VL that takes all it depends on; at last to one that nothing used
 *
 * A pair is all that two switches send one another: replies travel under the
 * requester's SL, so all of it has to be free of credit loops by the new SL (the paired
 * layers of lash).  Where replies are not looked at (VERIFY_FORWARD) it is what one
 * switch sends to the LID.
 *
 * The old dependencies stay in the graph: who goes on with the old SL on ways that have
 * not changed is as safe as before.  On ways that have, it is for reconfig_plan().
 *
 * Time: O(LIDs of two switches x hops) for each VL tried.
 */
#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

#define N_SLS 16u

/* ------------------------------------------------------------------- what may be */

bool
repair_may_move(
    const struct router *r, const struct plan *prev, const struct fm_fabric *now, uint32_t *n_vls)
{
	const struct fm_tables *t = &prev->tables->t;
	uint32_t most = r->set.n_vls < FM_MAX_VLS ? r->set.n_vls : FM_MAX_VLS;

	*n_vls = 0;
	if (t->sl_shape != FM_SL_BY_SW_DLID || t->sl2vl_shape != FM_SL2VL_MODULO ||
	    t->n_vls_used < 2 || (prev->regions != NULL && prev->regions->n > 1))
		return false;
	for (fm_link l = 0; l < now->n_links; l++)
		most = now->link_n_vls[l] < most ? now->link_n_vls[l] : most;
	*n_vls = most > t->n_vls_used ? most : t->n_vls_used;
	return true;
}

bool
repair_begin_moves(struct repair *p)
{
	const struct fm_fabric *fab = p->fab;
	uint8_t least = UINT8_MAX, most = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1; p->sends[sw] && lid <= fab->max_lid; lid++) {
			uint8_t sl = p->t->sl[sw][lid];

			if (!graph_has_owner(fab, lid) || fab->end_sw[fab->lid_end[lid]] == sw)
				continue;
			least = sl < least ? sl : least;
			most = sl > most ? sl : most;
		}
	p->least_sl = least;
	/* with more VLs each SL has to have the one it had */
	return least <= most && most < p->t->n_vls_used;
}

/* ------------------------------------------------------------------- one pair */

static bool
set_sl(struct repair *p, fm_sw sw, uint32_t lid, uint8_t sl)
{
	struct repair_sl was = { .sw = sw, .lid = (uint16_t)lid, .sl = p->t->sl[sw][lid] };

	if (!fm_vec_push(&p->moved, was)) {
		p->out_of_memory = true;
		return false;
	}
	p->t->sl[sw][lid] = sl;
	return true;
}

/* What the ends of sw send to those of `to`: by this SL, or (sl 16) into the dependencies. */
static enum depend_result
each_lid(struct repair *p, fm_sw sw, fm_sw to, uint8_t sl)
{
	const struct fm_fabric *fab = p->fab;
	enum depend_result rc = DEPEND_HELD;

	for (fm_end e = fab->sw_first_end[to]; e < fab->sw_first_end[to + 1]; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++) {
			uint32_t lid = fab->end_lid[e] + i;

			if (sl < N_SLS && !set_sl(p, sw, lid, sl))
				return DEPEND_NOMEM;
			if (sl == N_SLS)
				rc = depend_insert_lid(
				    p->g, fab, p->t, p->lost, sw, (uint16_t)lid, p->seen);
			if (rc >= DEPEND_CYCLE)
				return rc;
		}
	return rc;
}

/* All of the pair, or without replies what sw sends to the LID alone. */
static enum depend_result
try_sl(struct repair *p, fm_sw sw, uint8_t sl)
{
	enum depend_result rc;

	if (p->g->sl_model != VERIFY_BOTH)
		return set_sl(p, sw, p->lid, sl) ? repair_insert_lid(p, sw) : DEPEND_NOMEM;
	rc = each_lid(p, sw, p->to, sl);
	if (rc < DEPEND_CYCLE)
		rc = each_lid(p, p->to, sw, sl);
	if (rc < DEPEND_CYCLE)
		rc = each_lid(p, sw, p->to, N_SLS);
	if (rc < DEPEND_CYCLE)
		rc = each_lid(p, p->to, sw, N_SLS);
	return rc;
}

static void
take_back_sls(struct repair *p, size_t n)
{
	while (p->moved.n > n) {
		struct repair_sl was = p->moved.item[--p->moved.n];

		p->t->sl[was.sw][was.lid] = was.sl;
	}
}

/* False: no VL takes it. */
static bool
move_pair(struct repair *p, fm_sw sw)
{
	for (uint32_t sl = p->least_sl; sl < p->g->n_vls; sl++) {
		size_t n_edges = p->g->added.n, n_moved = p->moved.n;
		enum depend_result rc = try_sl(p, sw, (uint8_t)sl);

		if (rc < DEPEND_CYCLE) {
			if (sl >= p->t->n_vls_used)
				p->t->n_vls_used = (uint8_t)(sl + 1);
			return true;
		}
		take_back_sls(p, n_moved);
		depend_undo(p->g, n_edges);
		repair_note_result(p, rc);
		if (p->out_of_memory)
			return false;
	}
	return false;
}

/* ------------------------------------------------------------------- the LID */

/* Switches whose packets to the LID do not fit by their SLs.  Nothing stays inserted. */
static uint32_t
count_misfits(struct repair *p)
{
	size_t n_edges = p->g->added.n, n_at;
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < p->g->n_switches && !p->out_of_memory; sw++) {
		enum depend_result rc;

		if (!p->sends[sw] || sw == p->to)
			continue;
		n_at = p->g->added.n;
		rc = repair_insert_lid(p, sw);
		repair_note_result(p, rc);
		if (rc < DEPEND_CYCLE)
			continue;
		depend_undo(p->g, n_at);
		n++;
	}
	depend_undo(p->g, n_edges);
	return n;
}

/* Of the ports whose way is as short as that by *best the one with fewest misfits. */
static void
choose_port(struct repair *p, const struct repair_spot *s, const struct repair_port *best)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], least = UINT32_MAX, chosen = best->channel;
	uint8_t was = p->column[s->sw];

	set_mark(p, s->sw, MARK_SETTLED);
	for (uint32_t c = first + 1; c < g->first[s->sw + 1] && least > 0; c++) {
		uint32_t n;

		if (g->to[c] == FM_NONE || fm_bit_test(p->lost, c) ||
		    has_mark(p, g->to[c], MARK_LOST) ||
		    repair_follow(p, c, 0, best->depth, false).depth != best->depth)
			continue;
		repair_write(p, s->sw, (uint8_t)(c - first));
		n = count_misfits(p);
		repair_write(p, s->sw, was);
		if (n < least || (n == least && c == best->channel)) {
			least = n;
			chosen = c;
		}
	}
	repair_set(p, s->sw, (uint8_t)(chosen - first));
}

bool
repair_move(struct repair *p)
{
	p->banned.n = 0;
	p->dirty[p->lid] = 1;
	while (repair_settle_shortest(p, false, choose_port))
		;
	if (repair_packet_is_left(p))
		while (repair_settle_shortest(p, true, choose_port))
			;
	for (fm_sw sw = 0; sw < p->g->n_switches && !p->out_of_memory; sw++) {
		size_t n_edges = p->g->added.n;
		enum depend_result rc;

		if (!p->sends[sw] || sw == p->to)
			continue;
		rc = repair_insert_lid(p, sw);
		if (rc < DEPEND_CYCLE)
			continue;
		depend_undo(p->g, n_edges);
		repair_note_result(p, rc);
		if (!move_pair(p, sw))
			return false;
	}
	return !p->out_of_memory;
}
