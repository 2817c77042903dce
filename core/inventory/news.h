/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/news.h - what has happened between two pictures of the fabric, in sentences.
 *
 * Each sentence names what was lost or came, with both ends of cables.  Nodes that were lost
 * together are one line: a leaf and its hosts, a chassis (by system image GUID), all that is behind
 * one cable, the hosts of one switch.  Cables of one node are one line.  A kind has NEWS_LINES
 * lines at most, the last of which holds all that is left, so that any number of events is a
 * handful of lines.
 */
#ifndef CORE_INVENTORY_NEWS_H
#define CORE_INVENTORY_NEWS_H

#include "core/events/kinds.h"
#include "core/inventory/seen.h"

#define NEWS_LINES 8
#define NEWS_TEXT 480 /* bytes of a sentence with the longest names */
#define NEWS_LIST 232 /* ... in which lists end: with by what it was found a line of 250 */

/* In the order in which they are told. */
enum news_kind {
	NEWS_LOST_NODES,
	NEWS_LOST_CABLES,
	NEWS_CAME_NODES,
	NEWS_CAME_CABLES,
	NEWS_MOVED,	 /* a port of a host has another neighbour */
	NEWS_BOUNCED,	 /* a cable went down and came back between the two pictures */
	NEWS_FLAPPING,	 /* it has gone down again and again: left out, or the only way (flaps.h) */
	NEWS_STILL,	 /* ... no more */
	NEWS_OTHER_RATE, /* width or speed are others than before */
	NEWS_SLOW,	 /* width or speed are below what both ends support, and were not before */
	NEWS_RENAMED,
	N_NEWS_KINDS
};
enum event_kind news_event_kind(enum news_kind kind);

struct news_cable {
	uint32_t slot, far;
	uint8_t port, far_port;
};

struct news_item {
	enum news_kind kind;
	bool rest;  /* what had no line of its own */
	bool worse; /* the fabric has less than before: a cable or a switch was lost, or is slow */
	/* Of news.nodes: what was lost, came or has another name; switches first. */
	uint32_t first_node, n_nodes, n_switches;
	/* Of news.cables: those meant; of nodes those that led or lead to others. */
	uint32_t first_cable, n_cables;
	uint32_t
	    n_alike_of; /* all cables, of which most are slow in the same way; 0: they are named */
	uint32_t since_s; /* UTC: what was lost was there, what came was gone since; 0: not known */
	bool at_least;	  /* ... that long or longer */
	char text[NEWS_TEXT];
};

struct news {
	FM_VEC(struct news_item) items;
	FM_VEC(uint32_t) nodes; /* slots */
	FM_VEC(struct news_cable) cables;
};

/* What is another in `now` than in `before`, which was made before it of the same inventory; NULL:
 * nothing was known before, and only what is slow is told.  False: memory is out.  O(ports). */
bool news_tell(const struct seen *before, const struct seen *now, uint32_t now_s, struct news *out);
void news_fini(struct news *news);

#endif
