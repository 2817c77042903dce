/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/brute.h - what brute-force judges of tables share: SLs and VLs read
 * straight from the tables, dependencies as a matrix, and two verdicts compared.
 */
#ifndef TESTS_UNIT_BRUTE_H
#define TESTS_UNIT_BRUTE_H

#include "tests/unit/box.h"

/* Which (link, VL) waits for which: vertices link * 16 + VL. */
struct brute_deps {
	bool used[MAX_VERTICES], dep[MAX_VERTICES][MAX_VERTICES];
};

static inline uint32_t
brute_vl(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint32_t in, fm_link out,
    uint32_t sl)
{
	uint32_t vl = 0;

	if (t->sl2vl_shape == FM_SL2VL_MODULO)
		vl = sl % t->n_vls_used;
	else if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		vl = t->sl2vl[out * 16 + sl];
	else
		vl = t->sl2vl[(t->sl2vl_first[sw] + in * 13 + fab->link_port[out]) * 16 + sl];
	return vl > 15 ? 15 : vl;
}

static inline uint32_t
brute_sl(const struct fm_tables *t, fm_sw sw, uint32_t lid)
{
	if (t->sl_shape == FM_SL_ZERO)
		return 0;
	return t->sl[t->sl_shape == FM_SL_BY_DLID ? 0 : sw][lid];
}

/* A packet on vertex `last`, UINT32_MAX when it is new, goes on to v. */
static inline void
brute_step(struct brute_deps *d, uint32_t last, uint32_t v)
{
	d->used[v] = true;
	if (last != UINT32_MAX)
		d->dep[last][v] = true;
}

/* Transitive closure; vertices on a cycle, grouped by mutual reachability.
 * Fills v's credit_loops and vls, adds to its vl_errors. */
static inline void
brute_cycles(
    struct brute_deps *d, const struct fm_fabric *fab, uint8_t n_vls, struct verdict *verdict)
{
	uint32_t n = fab->n_links * 16, vls = 0;
	static bool counted[MAX_VERTICES];

	memset(counted, 0, sizeof(counted));
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; d->used[k] && i < n; i++)
			for (uint32_t m = 0; d->dep[i][k] && m < n; m++)
				d->dep[i][m] |= d->dep[k][m];
	for (uint32_t v = 0; v < n; v++) {
		if (!d->used[v])
			continue;
		vls |= 1u << v % 16;
		verdict->vl_errors += v % 16 >= n_vls || v % 16 >= fab->link_n_vls[v / 16];
		if (!d->dep[v][v] || counted[v])
			continue;
		verdict->credit_loops++;
		for (uint32_t u = v; u < n; u++)
			counted[u] |= d->dep[v][u] && d->dep[u][v];
	}
	verdict->vls = (uint8_t)(vls ? __builtin_popcount(vls) : 1);
}

static inline void
same_verdict(const struct verdict *a, const struct verdict *b, uint64_t seed, bool witness)
{
#define SAME(field) \
	ck_assert_msg(a->field == b->field, "seed %llu: " #field " is %g, should be %g", \
	    (unsigned long long)seed, (double)a->field, (double)b->field)
	SAME(reachable_pairs);
	SAME(unreachable_pairs);
	SAME(stray_pairs);
	SAME(disjoint_pairs);
	SAME(switch_pairs_unrouted);
	SAME(loops);
	SAME(wrong_host);
	SAME(credit_loops);
	SAME(vl_errors);
	SAME(max_hops);
	SAME(avg_hops);
	SAME(vls);
	if (witness) {
		SAME(fault);
		ck_assert_str_eq(a->witness, b->witness);
	}
#undef SAME
}

#endif
