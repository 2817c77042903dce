/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/topo/generate.h - what the generators share.
 *
 * A generator checks what the bounds of its arguments in the table do not, adds switches with
 * gen_switch(), cables them, and hangs hosts off them.  Memory that runs out is remembered in
 * `failed`: everything after it is a no-op and netlist_generate() reports it.
 */
#ifndef LAB_TOPO_GENERATE_H
#define LAB_TOPO_GENERATE_H

#include "lab/topo/netlist.h"

#define GEN_MAX_DIMS 12
#define GEN_MAX_ARGS 6
#define GEN_MAX_PORTS 254
#define GEN_MAX_SLIMFLY 113
#define GEN_MAX_NODES 1000000u
#define GEN_LANE_MBPS 25000 /* EDR: what ibsim and every tool know */

struct gen {
	struct netlist *nl;
	int argc; /* of the kind: argv[0] is its name */
	char *const *argv;
	/* Argument i + 1 as it has been read: its number or, of a list, its numbers; an optional
	 * one that is not given is what the table says */
	uint32_t v[GEN_MAX_ARGS];
	uint32_t list[GEN_MAX_ARGS][GEN_MAX_DIMS], n_list[GEN_MAX_ARGS];
	bool failed;
};

/* An argument: a number in min..max, or up to GEN_MAX_DIMS of them separated by sep ("8x8x4"). */
struct gen_param {
	const char *what; /* names it in the error; NULL: no more are read */
	uint32_t min, max, def;
	char sep; /* 0: one number */
};
/* The first arguments of the kind as these say, as many as there are. */
int gen_read(struct gen *g, const struct gen_param *params, struct fm_error *err);
/* A part of an argument as a number in min..max. */
int gen_value(const struct gen *g, const char *text, const char *what, uint32_t min, uint32_t max,
    uint32_t *value, struct fm_error *err);
/* Refuse what has too many ports or nodes before anything is built. */
int gen_fits(const struct gen *g, uint64_t ports_per_switch, uint64_t n_switches, uint64_t n_hosts,
    struct fm_error *err);

/* prefix-d[0]-d[1]...; n == 0: the prefix alone. */
void gen_name(char *name, size_t size, const char *prefix, const uint32_t *digits, uint32_t n);
uint32_t gen_switch(struct gen *g, const char *name, uint32_t n_ports);
/* n hosts NAME-1.. on ports 1..n of switch sw; NAME is the switch's name after its first word. */
void gen_hosts(struct gen *g, uint32_t sw, uint32_t n);
void gen_cable(struct gen *g, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b);
/* The first port from `from` on that has no cable; there is one. */
uint32_t gen_free_port(const struct gen *g, uint32_t node, uint32_t from);
/* Cable on the first free port of each side, from port `from` on. */
void gen_cable_free(struct gen *g, uint32_t a, uint32_t b, uint32_t from);

typedef int (*gen_fn)(struct gen *g, struct fm_error *err);
int gen_pgft(struct gen *g, struct fm_error *err);
int gen_torus(struct gen *g, struct fm_error *err);
int gen_mesh(struct gen *g, struct fm_error *err);
int gen_hypercube(struct gen *g, struct fm_error *err);
int gen_hyperx(struct gen *g, struct fm_error *err);
int gen_dragonfly(struct gen *g, struct fm_error *err);
int gen_cascade(struct gen *g, struct fm_error *err);
int gen_slimfly(struct gen *g, struct fm_error *err);
int gen_kautz(struct gen *g, struct fm_error *err);
int gen_random(struct gen *g, struct fm_error *err);
int gen_director(struct gen *g, struct fm_error *err);
int gen_pods(struct gen *g, struct fm_error *err);
int gen_tree3(struct gen *g, struct fm_error *err);

#endif
