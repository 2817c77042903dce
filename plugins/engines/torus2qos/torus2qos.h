/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/torus2qos/torus2qos.h - what its parts share.
 */
#ifndef PLUGINS_ENGINES_TORUS2QOS_H
#define PLUGINS_ENGINES_TORUS2QOS_H

#include <fmd/own.h>

#include "plugins/common/grid/datelines.h"

struct torus_options {
	struct fm_file torus_config;
	int64_t qos_levels;
};

/* torus-2QoS.conf applied to what was found (conf.c). */
struct torus_conf {
	bool given;
	uint8_t port_order[256]; /* place of a port among those of its switch */
	bool has_port_order;
};

/* Find the grids, and turn them as the file says.  FM_E_CONFIG with file and line;
 * FM_E_TOPOLOGY where file and fabric differ. */
int torus_find(const struct fm_host *host, const struct fm_fabric *fab,
    const struct torus_options *o, struct fm_arcs *arcs, struct fm_grids *grids,
    struct torus_conf *conf, struct fm_error *err);

fm_mcast_tree_fn torus_mcast_tree;

#endif
