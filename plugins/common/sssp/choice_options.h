/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/choice_options.h - the options by which an administrator has a
 * say among equal paths, for every engine that chooses by load.
 *
 * Their names and files are OpenSM's (guid_routing_order_file,
 * port_prof_ignore_file, port_search_ordering_file: one line each of GUID and
 * ports), read by "file:PATH".
 */
#ifndef PLUGINS_COMMON_SSSP_CHOICE_OPTIONS_H
#define PLUGINS_COMMON_SSSP_CHOICE_OPTIONS_H

#include "plugins/common/sssp/sssp.h"

/* A part of the engine's options struct. */
struct fm_choice_options {
	struct fm_nodeset_list guid_routing_order;
	bool guid_routing_order_no_scatter;
	struct fm_node_values ignore_guids;
	struct fm_node_values port_search_order;
	bool port_shifting;
	int64_t scatter_ports;
};

/* Their rows, for a struct with such a part called `member`. */
#define FM_CHOICE_OPTION_ROWS(of, member) \
	{ .name = "guid_routing_order", \
		.type = FM_OPT_NODES_LIST, \
		.offset = offsetof(of, member.guid_routing_order), \
		.help = "Ends whose LIDs are routed before all others, in this order." }, \
	    { .name = "guid_routing_order_no_scatter", \
		    .type = FM_OPT_BOOL, \
		    .offset = offsetof(of, member.guid_routing_order_no_scatter), \
		    .def = "false", \
		    .help = \
			"Balance the ends of guid_routing_order, whatever scatter_ports says." }, \
	    { .name = "ignore_guids", \
		    .type = FM_OPT_NODE_VALUES, \
		    .offset = offsetof(of, member.ignore_guids), \
		    .min = 0, \
		    .max = 254, \
		    .unit = "port", \
		    .help = \
			"Ports not counted in balancing: what passes that port of a switch, or " \
			"what the host behind it, or of this port GUID, sends and gets." }, \
	    { .name = "port_search_order", \
		    .type = FM_OPT_NODE_VALUES, \
		    .offset = offsetof(of, member.port_search_order), \
		    .unit = "ports...", \
		    .help = "Ports of a switch in the order in which equal ones are taken; the " \
			    "others follow." }, \
	    { .name = "port_shifting", \
		    .type = FM_OPT_BOOL, \
		    .offset = offsetof(of, member.port_shifting), \
		    .def = "false", \
		    .help = "Begin among equal ports one further with every switch and LID." }, \
	{ \
		.name = "scatter_ports", .type = FM_OPT_INT, \
		.offset = offsetof(of, member.scatter_ports), .def = "0", .min = 0, \
		.max = INT64_MAX, \
		.help = "Seed, best a prime, by which one is chosen at random of the next " \
			"steps that bear the least; 0 balances all of the path." \
	}

/* Options to a choice; what names nothing in this fabric is logged and left out.
 * FM_E_RESOURCE. */
int fm_choice_from_options(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_choice_options *o, struct fm_choice *out, struct fm_error *err);

#endif
