/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mcast_write.h - multicast forwarding tables (MFTs): what switches hold,
 * what they should, and an order of writing in which no packet ever goes round.
 *
 * A switch sends a packet of a group on by all ports of its entry but the one it came in
 * by.  A packet can go round, or arrive twice, only where cables over which some switch
 * sends the group close a circle.  So let *possible* be all cables over which any switch
 * may send it by now, either way:
 *
 *	invariant: of each group, the possible cables are a forest
 *
 * Entries are written in blocks, each by one SMP that takes effect at some moment between
 * sending and answer; meanwhile either content is possible.
 *
 *	join, leave	On one tree, old and new entries are both subsets of it, and so is any
 *			mixture: any order will do.  No hole either: a branch that is half
 *			written leads nobody astray, it merely does not work yet.
 *	another tree	Where the union of old and new cables is still a forest: likewise.
 *	else		Two rounds.  First each switch gets what is both in its old and its
 *			new entry: mixtures are subsets of the old.  When all have answered, the
 *			new entries: mixtures are subsets of the new.  Between, some members are
 *			cut off, for one round trip.
 *
 * Who does not answer holds the old or the new, and a switch out of reach what it held: that
 * is reckoned among the possible, and a group that would not be a forest with it stays
 * at the first round until it is.
 *
 * Entries are kept by (MLID, switch) where they are not empty: memory follows the trees in
 * use.  Pure: no clock, no transport.
 */
#ifndef CORE_MCAST_MCAST_WRITE_H
#define CORE_MCAST_MCAST_WRITE_H

#include "core/mcast/mcast_net.h"

#define MFT_BLOCK_PORTS 16u

struct mft_block {
	fm_sw sw;
	uint32_t block;			   /* MLIDs 0xc000 + 32 block ... */
	uint32_t position;		   /* ports 16 position ... */
	uint16_t ports[MCAST_BLOCK_MLIDS]; /* bit p: port 16 position + p */
};

struct mft_counts {
	uint32_t writes;
	uint32_t two_rounds; /* MLIDs */
	uint32_t held;	     /* MLIDs left at the first round, or not begun */
};

struct mft;
struct mft *mft_new(void); /* NULL: no memory */
void mft_free(struct mft *m);

/* The switch holds nothing: fresh from reset.  False: out of memory; of all. */
bool mft_blank(struct mft *m, fm_sw sw);
/* A block was read from it. */
bool mft_read(struct mft *m, const struct mft_block *b);

/* Packets may pass the cables of this snapshot, those of the trees and others that old entries
 * send by; from the next mft_begin() on.  A reference is taken.  NULL: those of the trees. */
void mft_use_wire(struct mft *m, struct snapshot *wire);
/* Find what is to be written: all, or what net says is dirty.  can: [n_switches] bits of
 * switches that can be written, the others hold what they hold. */
bool mft_begin(struct mft *m, const struct mcast_net *net, const uint64_t *can, bool all);
enum mft_step { MFT_SEND, MFT_BUSY, MFT_OVER };
enum mft_step mft_next(struct mft *m, struct mft_block *out);
void mft_done(struct mft *m, const struct mft_block *b);
void mft_lost(struct mft *m, const struct mft_block *b);
/* Is anything not as it should be: lost, held back?  Then begin anew some time. */
bool mft_in_doubt(const struct mft *m);
const struct mft_counts *mft_counts(const struct mft *m); /* since mft_begin() */

/* b->ports: what the switch holds in this block as far as is known. */
void mft_held(const struct mft *m, struct mft_block *b);

/* Tests: write all at once, to see what comes of it. */
void mft_careless(struct mft *m);

#endif
