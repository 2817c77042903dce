/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/path_pairs.h - which LIDs of two ports make paths between them.
 *
 * A port with LMC l answers to 2^l LIDs, so two ports have S x D pairs of LIDs.
 * Which of them are told, and in which order, for S = 2 and D = 4:
 *
 *	minimal		1/1 2/2
 *	pairwise	1/1 2/2 1/3 2/4
 *	order-all	1/1 2/2 1/3 2/4, then 1/2 1/4 2/1 2/3
 *	src-dst-all	1/1 1/2 1/3 1/4 2/1 2/2 2/3 2/4
 *
 * A LID that the query names is fixed: what is left is in the same order.
 */
#ifndef CORE_VIEW_PATH_PAIRS_H
#define CORE_VIEW_PATH_PAIRS_H

#include <stdbool.h>

enum sa_path_select { SA_MINIMAL, SA_PAIRWISE, SA_ORDER_ALL, SA_SRC_DST_ALL };

struct sa_pairs {
	enum sa_path_select select;
	unsigned n[2]; /* LIDs of source and destination, powers of 2 */
	int fixed[2];  /* offset from the base LID, -1: any */
	unsigned next; /* of the first part */
	unsigned scan; /* of the second: source * n[1] + destination */
	bool in_second;
};

/* The first n[0] * n[1] calls of next at most are true; offsets in *s and *d. */
void sa_pairs_start(struct sa_pairs *p, enum sa_path_select select, unsigned lmc_s, int fixed_s,
    unsigned lmc_d, int fixed_d);
bool sa_pairs_next(struct sa_pairs *p, unsigned *s, unsigned *d);

#endif
