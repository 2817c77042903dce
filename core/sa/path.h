/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/path.h - the path that the committed routes make from an end to a LID.
 *
 * What it carries comes out of the rows (rows.h) in constant time; sources that
 * have none, which are the ports 0 of switches without hosts, and who wants
 * every hop, walk it.
 */
#ifndef CORE_SA_PATH_H
#define CORE_SA_PATH_H

#include "core/view/view.h"

#define SA_MOST_HOPS 64

struct sa_path {
	struct path_attr attr;
	uint8_t sl;
	/* the way back is there too, and the proof holds for packets that return under
	 * this path's SL (verify.h) */
	bool reversible;
};

/* From the LID of an end to the LID of another; false: there is no path.  O(1). */
bool sa_path_find(
    const struct sa_view *v, uint32_t src, uint16_t slid, uint16_t dlid, struct sa_path *out);

/* A switch on the way: in by in_port, out by out_port; 0: begins or ends here. */
struct sa_hop {
	fm_sw sw;
	uint8_t in_port, out_port;
	uint8_t vl;	       /* on the link behind out_port */
	struct path_attr attr; /* of that link; ends: of the end's own */
};
/* Hops from an end to a LID, at most SA_MOST_HOPS; *n of them.  False: it does not arrive,
 * *n tells how far it came. */
bool sa_path_walk(
    const struct sa_view *v, uint32_t src, uint16_t dlid, struct sa_hop *hop, unsigned *n);

#endif
