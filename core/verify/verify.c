/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judging tables: all LIDs, then the dependencies of their packets.
 *
 *	judge		what is behind every port, who sends (verify_judge.c)
 *	classes		the LIDs behind a switch together (verify_class.c), on trees and with
 *			adaptive routing
 *	paths		the LIDs of a tile together (verify_path.c), elsewhere
 *	follow		over all next hops (verify_follow.c): the LIDs that these have not
 *			settled, as some pair is not in order
 *	cycles		of the dependencies noted (verify_graph.c)
 *	verdict		sums, and a witness of the gravest fault (verify_words.c)
 */
#include "core/verify/verify.h"

#include <inttypes.h>
#include <string.h>

#include "core/verify/verify_internal.h"
#include "lib/error.h"

/* VLs that carry packets, and those that should not. */
static void
count_vls(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	bool by_out = j->one_vl && j->t->sl2vl_shape == FM_SL2VL_BY_OUT;
	uint32_t seen = 0;

	for (fm_link l = 0; l < fab->n_links; l++)
		for (unsigned i = 0; i < j->n_vls; i++) {
			unsigned vl = by_out ? j->t->sl2vl[(size_t)l * N_SLS] : i;

			if (!j->used[(size_t)l * j->n_vls + i])
				continue;
			seen |= 1u << (vl < N_SLS ? vl : N_SLS - 1);
			if (vl < j->req->n_vls && vl < fab->link_n_vls[l])
				continue;
			j->out->vl_errors++;
			/* of no LID: sw is the link */
			verify_note_clue(&j->tally[0], VERIFY_VL_BUDGET, 0, l);
		}
	j->out->vls = (uint8_t)(seen != 0 ? __builtin_popcount(seen) : 1);
}

/* Ends cabled to one another: each is reached by the other and by nobody else. */
static void
count_switchless(struct judge *j)
{
	uint32_t peers = j->switchless > 1 ? 1 : 0;

	for (uint32_t lid = 1; lid <= j->fab->max_lid; lid++) {
		fm_end e = j->fab->lid_end[lid];

		if (e == FM_NONE || j->fab->end_sw[e] != FM_NONE)
			continue;
		j->tally[0].reached += peers;
		j->tally[0].disjoint += j->all_sources - 1 - peers;
	}
}

/* The sums of all LIDs and, unless *acyclic, their dependencies. */
static int
judge_lids(struct judge *j, struct fm_pool *workers, bool *acyclic, struct fm_error *err)
{
	int rc = 0;

	if (j->req->one_by_one)
		return verify_follow(j, workers, err);
	if (verify_classes_pay(j))
		return verify_classes(j, workers, acyclic, err);
	if (!tables_are_adaptive(j->t))
		rc = verify_paths(j, workers, err);
	return rc != 0 ? rc : verify_follow(j, workers, err);
}

static int
find_verdict(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct cycle cycle = { 0 };
	bool acyclic = false;
	int rc = verify_judge_setup(j, err);

	if (rc == 0 && !verify_graph_setup(j))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
	if (rc == 0)
		rc = judge_lids(j, workers, &acyclic, err);
	if (rc == 0 && verify_is_given_up(j->req))
		rc = fm_fail(err, FM_E_CANCELLED, "the verification is given up");
	if (rc != 0)
		return rc;
	count_switchless(j);
	verify_judge_add_up(j);
	if (!acyclic)
		rc = verify_find_cycles(j, &cycle, err);
	count_vls(j);
	if (rc == 0)
		verify_word(j, j->tally[0].clue, &cycle);
	free(cycle.vertex);
	return rc;
}

int
verify_tables(const struct snapshot *snap, const struct fm_tables *tables,
    const struct verify_request *req, struct fm_pool *workers, struct verdict *verdict,
    struct fm_error *err)
{
	struct verdict v = { .fault = VERIFY_OK };
	struct judge j = { .snap = snap,
		.fab = &snap->fab,
		.t = tables,
		.req = req,
		.n_workers = fm_pool_size(workers),
		.out = &v };
	int rc = find_verdict(&j, workers, err);

	verify_judge_free(&j);
	if (rc == 0)
		*verdict = v;
	return rc;
}

int
verify_sum_lids(const struct snapshot *snap, const struct fm_tables *tables,
    struct fm_pool *workers, struct lid_sums *sums, struct fm_error *err)
{
	struct verify_request req = { .n_vls = N_SLS - 1 };
	struct judge j = { .snap = snap,
		.fab = &snap->fab,
		.t = tables,
		.req = &req,
		.n_workers = fm_pool_size(workers) };
	int rc = verify_judge_setup(&j, err);

	if (rc == 0 && !tables_are_adaptive(tables) && snap->n_components == 1)
		rc = verify_class_sums(&j, workers, sums, err);
	verify_judge_free(&j);
	return rc;
}

bool
verdict_is_safe(const struct verdict *v, bool allow_credit_loops)
{
	return v->loops == 0 && v->wrong_host == 0 && v->vl_errors == 0 && v->stray_pairs == 0 &&
	    (v->credit_loops == v->loops_allowed || allow_credit_loops);
}
