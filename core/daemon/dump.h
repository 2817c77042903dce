/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/dump.h - tables as files that other tools read.
 */
#ifndef CORE_DAEMON_DUMP_H
#define CORE_DAEMON_DUMP_H

#include "core/graph/snapshot.h"

/* Write into directory dir (made when absent):
 *
 *	lfts               as infiniband-diags' dump_lfts prints it; the engine
 *	                   `file` and fmroute check read it
 *	opensm-subnet.lst  nodes and links, for ibdmchk -s
 *	opensm.fdbs        egress port and hops of each (switch, LID), for ibdmchk -f
 *	opensm.mcfdbs      ports of each (switch, multicast LID), for ibdmchk -m; empty
 *	                   without mfts
 *	sl2vl              switch, in, out port and 16 VLs, for ibdmchk -d; fmroute check
 *	opensm-ftree-ca-order.dump  hosts in the order whose shifts run best, 0xFFFF DUMMY
 *	                   for the gaps, for ibutils' congestion; only from an engine that
 *	                   has such an order
 *	path-sl            source node, LID, SL, for ibdmchk -c; fmroute check;
 *	                   empty when all are 0
 *	ar-groups          groups of adaptive routing, see fmroute(1); a comment without
 *
 * FM_E_SYSTEM names the file.  O(switches * LIDs); path-sl O(CAs * LIDs). */
struct mft_rows;
int dump_tables(const char *dir, const struct snapshot *snap, const struct fm_tables *tables,
    const struct mft_rows *mfts, struct fm_error *err);

/* See that files can be written into dir, made when absent: to know before long work. */
int dump_open(const char *dir, struct fm_error *err);

#endif
