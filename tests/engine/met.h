/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/met.h - a fabric and its tables under the numbers by which an engine met
 * them: those of the cables, where it asked for that (core/engine/renumber.h), or its own.
 *
 * Only for oracles that do what an engine does by number: take switches or links in their
 * order, or choose the lower of two.  What an option names is found by the numbers of the
 * snapshot, or by GUID, and led over with new_sw and new_end: so whether options are led
 * over rightly is not taken from what is tested.  Nor is that the fabric is the same one:
 * check_met().
 */
#ifndef TESTS_ENGINE_MET_H
#define TESTS_ENGINE_MET_H

#include "core/engine/renumber.h"
#include "lib/error.h"
#include "tests/engine/routed.h"

static inline const uint32_t *
same_numbers(struct fm_arena *mem, uint32_t n)
{
	uint32_t *same = fm_arena_array(mem, (size_t)n + 1, uint32_t);

	ck_assert_ptr_nonnull(same);
	for (uint32_t i = 0; i < n; i++)
		same[i] = i;
	return same;
}

static inline void
check_met_links(const struct renumbered *met, const struct fm_fabric *was, fm_sw u)
{
	const struct fm_fabric *fab = &met->fab;
	fm_link first = fab->sw_first_link[u], end = fab->sw_first_link[u + 1];

	ck_assert_uint_eq(
	    end - first, was->sw_first_link[met->sw[u] + 1] - was->sw_first_link[met->sw[u]]);
	for (fm_link l = first; l < end; l++) {
		fm_link of = fm_link_at(was, met->sw[u], fab->link_port[l]);

		ck_assert_uint_eq(met->link[l], of);
		ck_assert_uint_eq(met->sw[fab->link_to[l]], was->link_to[of]);
		ck_assert_uint_eq(met->link[fab->link_rev[l]], was->link_rev[of]);
		ck_assert_uint_eq(fab->link_mbps[l], was->link_mbps[of]);
		ck_assert_uint_eq(fab->link_nominal_mbps[l], was->link_nominal_mbps[of]);
		ck_assert_uint_eq(fab->link_n_vls[l], was->link_n_vls[of]);
		ck_assert(l == first || fab->link_to[l - 1] < fab->link_to[l] ||
		    (fab->link_to[l - 1] == fab->link_to[l] &&
			fab->link_port[l - 1] < fab->link_port[l]));
	}
}

static inline void
check_met_end(const struct renumbered *met, const struct fm_fabric *was, fm_end e)
{
	const struct fm_fabric *fab = &met->fab;
	fm_end of = met->end[e];
	fm_sw at = fab->end_sw[e];

	ck_assert_uint_eq(met->new_end[of], e);
	ck_assert_uint_eq(fab->end_guid[e], was->end_guid[of]);
	ck_assert_uint_eq(fab->end_node_guid[e], was->end_node_guid[of]);
	ck_assert_uint_eq(fab->end_system_guid[e], was->end_system_guid[of]);
	ck_assert_ptr_eq(fab->end_name[e], was->end_name[of]);
	ck_assert_uint_eq(at != FM_NONE ? met->sw[at] : FM_NONE, was->end_sw[of]);
	ck_assert(at == FM_NONE || (fab->sw_first_end[at] <= e && e < fab->sw_first_end[at + 1]));
	ck_assert_uint_eq(fab->end_port[e], was->end_port[of]);
	ck_assert_uint_eq(fab->end_lid[e], was->end_lid[of]);
	ck_assert_uint_eq(fab->end_lmc[e], was->end_lmc[of]);
	ck_assert_uint_eq(fab->end_kind[e], was->end_kind[of]);
	ck_assert_uint_eq(fab->end_n_vls[e], was->end_n_vls[of]);
}

/* The same fabric but for its numbers. */
static inline void
check_met(const struct renumbered *met, const struct fm_fabric *was)
{
	const struct fm_fabric *fab = &met->fab;

	ck_assert_uint_eq(fab->n_switches, was->n_switches);
	ck_assert_uint_eq(fab->n_links, was->n_links);
	ck_assert_uint_eq(fab->n_ends, was->n_ends);
	ck_assert_uint_eq(fab->max_lid, was->max_lid);
	for (fm_sw u = 0; u < fab->n_switches; u++) {
		ck_assert_uint_eq(met->new_sw[met->sw[u]], u);
		ck_assert_uint_eq(fab->sw_guid[u], was->sw_guid[met->sw[u]]);
		ck_assert_uint_eq(fab->sw_system_guid[u], was->sw_system_guid[met->sw[u]]);
		ck_assert_ptr_eq(fab->sw_name[u], was->sw_name[met->sw[u]]);
		ck_assert_uint_eq(fab->sw_n_ports[u], was->sw_n_ports[met->sw[u]]);
		check_met_links(met, was, u);
	}
	for (fm_end e = 0; e < fab->n_ends; e++)
		check_met_end(met, was, e);
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
		ck_assert(fab->lid_end[lid] == FM_NONE
			? was->lid_end[lid] == FM_NONE
			: met->end[fab->lid_end[lid]] == was->lid_end[lid]);
}

/* Of what was routed, so that met->t has the tables; ends with renumber_end(). */
static inline void
meet(struct renumbered *met, const struct fm_engine *engine, const struct routed *r)
{
	const struct fm_fabric *fab = &r->snap->fab;
	struct fm_error err = { 0 };

	if (renumber_is_due(engine, fab)) {
		ck_assert_msg(renumber_begin(met, engine, NULL, fab, &r->tables->t, &err) == 0,
		    "%s", err.msg);
		check_met(met, fab);
		return;
	}
	memset(met, 0, sizeof(*met));
	fm_arena_init(&met->mem, SIZE_MAX);
	met->fab = *fab;
	met->t = r->tables->t;
	met->sw = met->new_sw = same_numbers(&met->mem, fab->n_switches);
	met->end = met->new_end = same_numbers(&met->mem, fab->n_ends);
	met->link = same_numbers(&met->mem, fab->n_links);
}

#endif
