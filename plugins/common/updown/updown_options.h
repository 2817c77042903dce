/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/updown/updown_options.h - the options that engines of up/down paths
 * have in common (updn, dnup), with the names and files of OpenSM.
 */
#ifndef PLUGINS_COMMON_UPDOWN_UPDOWN_OPTIONS_H
#define PLUGINS_COMMON_UPDOWN_UPDOWN_OPTIONS_H

#include "plugins/common/sssp/choice_options.h"
#include "plugins/common/updown/updown.h"

/* A part of the engine's options struct. */
struct fm_updown_options {
	struct fm_node_values ids;
	bool connect_roots;
	bool calculate_missing_routes;
	struct fm_choice_options choice;
};

/* Their rows, for a struct with such a part called `member`. */
#define FM_UPDOWN_OPTION_ROWS(of, member) \
	{ .name = "ids", \
		.type = FM_OPT_NODE_VALUES, \
		.offset = offsetof(of, member.ids), \
		.unit = "id", \
		.help = "Order of switches of one level: the lower id is up; those without one " \
			"are down." }, \
	    { .name = "connect_roots", \
		    .type = FM_OPT_BOOL, \
		    .offset = offsetof(of, member.connect_roots), \
		    .def = "false", \
		    .help = "Give switches routes to one another too, as far as no credit loop " \
			    "results." }, \
	    { .name = "calculate_missing_routes", \
		    .type = FM_OPT_BOOL, \
		    .offset = offsetof(of, member.calculate_missing_routes), \
		    .def = "true", \
		    .help = "Route pairs that no up/down path joins another way, as far as no " \
			    "credit loop results." }, \
	    FM_CHOICE_OPTION_ROWS(of, member.choice)

/* Into *how but for its roots.  FM_E_RESOURCE. */
int fm_updown_from_options(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_updown_options *o, struct fm_updown *how, struct fm_error *err);

/* Route, and say what is left without a path. */
int fm_updown_engine(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_updown *how, const char *engine,
    struct fm_tables *out, struct fm_error *err);

#endif
