/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/netlist/netlist_parse.h - between reading lines and joining ports.
 */
#ifndef CORE_NETLIST_NETLIST_PARSE_H
#define CORE_NETLIST_NETLIST_PARSE_H

#include "core/netlist/netlist.h"
#include "lib/vec.h"

#define DEFAULT_LANE_MBPS \
	2000 /* SDR: of a cable of which the file does not say more, as in ibsim */

/* A piece of the text. */
struct word {
	const char *at;
	size_t len;
};

/* One port line: what a port says of its cable. */
struct cable_end {
	struct word peer_id;
	uint32_t peer_node; /* NETLIST_NONE: the one that is called peer_id */
	uint64_t peer_guid; /* in parentheses; 0 = none */
	uint32_t node, line;
	uint16_t peer_lid; /* 0 = none */
	uint8_t port, peer_port;
};

struct parse {
	const char *name;     /* of the file, for errors */
	const char *at, *end; /* of the current line */
	uint32_t line;
	struct netlist nl;
	FM_VEC(struct cable_end) cables;
	FM_VEC(uint32_t) port_line; /* [n_ports_total] line of the port, 0 = none */
	struct fm_hash ids;	    /* hash of id -> node */
	uint32_t node;		    /* the one being read, or NETLIST_NONE */
	/* attribute lines that wait for their node */
	uint64_t system_guid, node_guid, port_guid;
	uint32_t vendor_id, device_id;
	bool is_once; /* a cable stands at one of its ends, or at both */
	uint32_t n_unknown_speeds;
	uint32_t n_unsaid_speeds, unsaid_line; /* cables without a speed, the first one's line */
	struct fm_error *err;
};

/* "FILE:LINE: sentence", FM_E_CONFIG. */
int parse_fail(struct parse *ps, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int parse_no_memory(struct parse *ps); /* FM_E_RESOURCE */
/* line() for each line of the text, which is ps->at to ps->end, till one is refused. */
int parse_lines(
    struct parse *ps, const char *text, size_t n_bytes, int (*line)(void *arg), void *arg);
/* The node of this id, or NETLIST_NONE. */
uint32_t parse_find(const struct parse *ps, const char *id, size_t len);
bool parse_remember(struct parse *ps, uint32_t node);

/* topo_read.c: the nodes and cables of ibutils' topology file. */
int parse_topo(struct parse *ps, const char *text, size_t n_bytes);
/* netlist_join.c: join the ports, name the nodes, check the whole. */
int parse_join(struct parse *ps);

#endif
