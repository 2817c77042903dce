/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/scc.h - strongly connected components of a graph in CSR form.
 *
 * Tarjan's algorithm without recursion (R. Tarjan, SIAM J. Comput. 1, 1972).
 * O(vertices + edges) time, four words a vertex from the arena.
 */
#ifndef FM_LIB_ALGO_SCC_H
#define FM_LIB_ALGO_SCC_H

#include <stdint.h>

#include "lib/arena.h"

/* component[v] for v in 0..n-1, numbered so that every edge goes to an equal
 * or smaller component (reverse topological order).  first[n + 1], to[]: the
 * edges of v are to[first[v] .. first[v + 1] - 1].  Returns the number of
 * components, or UINT32_MAX when the arena is spent. */
uint32_t fm_scc(uint32_t n, const uint32_t *first, const uint32_t *to, uint32_t *component,
    struct fm_arena *mem);

#endif
