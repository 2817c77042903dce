/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/topo/netlist.h - fabrics made: generated, hurt, shuffled; and the graph
 * that engines see of one.
 */
#ifndef LAB_TOPO_NETLIST_H
#define LAB_TOPO_NETLIST_H

#include <fmd/engine.h>

#include "core/netlist/netlist.h"

/* Generators: fmroute gen KIND ARGS.  argv[0] is the kind. */
int netlist_generate(int argc, char *const argv[], struct netlist *nl, struct fm_error *err);
/* One line a kind: name, arguments, what it is. */
void netlist_generate_help(FILE *out);

struct netlist_faults {
	double links_pct;    /* of all switch-to-switch cables */
	uint32_t n_links;    /* or so many of them */
	uint32_t n_switches; /* switches taken out whole (the nodes and their cables go) */
	uint64_t seed;
};
/* Remove parts, chosen by seed: switches, their hosts that have no other cable,
 * cables.  What was removed is counted in *n_links, *n_switches. */
int netlist_fail(struct netlist *nl, const struct netlist_faults *faults, uint32_t *n_links,
    uint32_t *n_switches, struct fm_error *err);

/* The same fabric with nodes in another order, other GUIDs and names, and the
 * ports of each switch renumbered. */
int netlist_shuffle(
    const struct netlist *in, uint64_t seed, struct netlist *out, struct fm_error *err);
/* The same with every cable in the ports where it was: names alone are others. */
int netlist_rename(
    const struct netlist *in, uint64_t seed, struct netlist *out, struct fm_error *err);

struct snapshot;
struct netlist_view {
	uint8_t ca_lmc, switch_lmc; /* for LIDs given here */
	uint8_t n_vls;		    /* data VLs of every link, 1..15 */
	bool fresh_lids;	    /* ignore the file's LIDs */
};
/* The graph that engines see.  LIDs of the file are kept where they are
 * usable; ports without one get theirs leaf by leaf (core/subnet/lid.h). */
int netlist_snapshot(const struct netlist *nl, const struct netlist_view *view,
    struct snapshot **out, struct fm_error *err);
/* Put the LIDs of a snapshot into the ports that have their GUIDs, so that later
 * snapshots, of what is left of the fabric, and netlist_write() give the same. */
void netlist_keep_lids(struct netlist *nl, const struct snapshot *snap);

#endif
