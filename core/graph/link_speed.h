/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/link_speed.h - the words of fabric files for lane speeds.
 */
#ifndef CORE_GRAPH_LINK_SPEED_H
#define CORE_GRAPH_LINK_SPEED_H

#include <stddef.h>
#include <stdint.h>

/* Data rate of one lane, Mbit/s, of "SDR".."XDR" or of a bare signalling rate
 * as older dumps write it ("2.5"); 0 = no such speed. */
uint32_t link_speed_mbps(const char *word, size_t len);
/* The word of a data rate; the nearest known below for others. */
const char *link_speed_word(uint32_t lane_mbps);
/* The word that OpenSM and ibdiagnet write behind SPD= in their lists of cables: the signalling
 * rate of a lane, "2.5" to "200", or "FDR10"; the nearest known below for others. */
const char *link_speed_signal(uint32_t lane_mbps);
/* The data rate of one lane of such a word; 0 = no such speed. */
uint32_t link_speed_of_signal(const char *word, size_t len);
/* A rate of a whole cable as lanes and Mbit/s of one: 4 lanes where that is a speed there is, else
 * 1, 2, 8 or 12; 0 where none is. */
uint8_t link_speed_lanes(uint32_t mbps);

#endif
