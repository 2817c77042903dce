/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/acyclic.h - a graph that stays acyclic: edges are inserted one by one
 * and refused when they would close a cycle.
 *
 * For graphs of any shape, on the order of lib/algo/topo_order.h (Pearce and Kelly).
 * Finding and removing an edge is O(degree).
 */
#ifndef FM_LIB_ALGO_ACYCLIC_H
#define FM_LIB_ALGO_ACYCLIC_H

#include <stdbool.h>
#include <stdint.h>

struct fm_acyclic;

/* n vertices, no edges; vertex v starts at position v of the order, or at
 * position[v] when given (a permutation; a good guess saves re-ordering).
 * NULL when memory is out. */
struct fm_acyclic *fm_acyclic_new(uint32_t n, const uint32_t *position);
void fm_acyclic_free(struct fm_acyclic *g);

enum fm_acyclic_result {
	FM_ACYCLIC_ADDED, /* a new edge */
	FM_ACYCLIC_HELD,  /* the edge was there; it now counts once more */
	FM_ACYCLIC_CYCLE, /* refused: it would close a cycle; nothing changed */
	FM_ACYCLIC_NOMEM  /* refused: memory is out; nothing changed */
};
enum fm_acyclic_result fm_acyclic_insert(struct fm_acyclic *g, uint32_t from, uint32_t to);
/* Take one count of the edge away; it goes with the last.  The edge must be held. */
void fm_acyclic_remove(struct fm_acyclic *g, uint32_t from, uint32_t to);
bool fm_acyclic_holds(const struct fm_acyclic *g, uint32_t from, uint32_t to);
/* The position of v in the order: every held edge goes to a higher one. */
uint32_t fm_acyclic_position(const struct fm_acyclic *g, uint32_t v);

#endif
