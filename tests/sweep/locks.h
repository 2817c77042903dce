/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/locks.h - a judge who looks at a simulated fabric after every SMP: might packets
 * that can be under way by now wait for one another in a ring?
 *
 * Entries and SL-to-VL maps of the switches have a past: a packet that was sent not longer ago
 * than a packet lives may have met any of them, in an order that time allows.  Hosts send by
 * the SLs of each plan that the SA has named, from then on; by older ones till they are told
 * (ClientReregister) or boot, whereupon they ask; and replies under the SL of the request.  A
 * link carries packets from when it is ACTIVE; those before are dropped.  A switch that routes
 * adaptively sends by any port of the group.  So, for each LID and SL:
 *
 *	on a link	the first moment at which a packet may come by it, the last at which
 *			one that may come by it can have been sent
 *	dependency	of (link, VL) on the (link, VL) that it leaves by
 *
 * By its own reading of tables and maps, nothing of reconfig.h.
 */
#ifndef TESTS_SWEEP_LOCKS_H
#define TESTS_SWEEP_LOCKS_H

#include "tests/sweep/rig.h"

struct locks;

/* From here on; each end-port of the fabric has one LID at most, and none beyond their number. */
struct locks *locks_watch(struct rig *r);
/* For who has set another trace since: it is to be called with each SMP. */
void locks_look(struct locks *k, const struct sim_trace *e);
/* Moments at which there was a ring, and SMPs looked at. */
uint32_t locks_n_rings(const struct locks *k);
uint32_t locks_n_looks(const struct locks *k);
/* The first ring: its dependencies, and of each who sends so, under which SL; at most a dozen. */
const char *locks_first(const struct locks *k);
/* The switch that gets the n-th Set of entries from now on does not answer till the sweep ends. */
void locks_silence(struct locks *k, unsigned n);
/* fmd ends: till another is up nobody answers who asks for SLs. */
void locks_mute(struct locks *k);
/* LIDs whose entries have at some moment all been empty that lead to other switches. */
uint32_t locks_n_emptied(const struct locks *k);
/* Times that an entry that led somewhere was emptied. */
uint32_t locks_n_cleared(const struct locks *k);
void locks_fini(struct locks *k);

#endif
