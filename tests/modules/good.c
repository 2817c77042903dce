/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
/* Every type of option; it routes nothing. */
struct opts {
	int64_t max_hops, key, wait;
	int balance;
	bool strict;
	const char *label;
	struct fm_nodeset roots;
	struct fm_nodeset_list order;
	struct fm_node_values weights, ids, ports;
	struct fm_file tables;
};
#define AT(field) .offset = offsetof(struct opts, field)
static const char *const balances[] = { "paths", "ports", NULL };
static const struct fm_option options[] = { { .name = "max_hops",
						.type = FM_OPT_INT,
						AT(max_hops),
						.def = "64",
						.min = 1,
						.max = 64,
						.unit = "hops",
						.help = "Reject fabrics with longer paths." },
	{ .name = "key",
	    .type = FM_OPT_INT,
	    AT(key),
	    .def = "0",
	    .min = INT64_MIN,
	    .max = INT64_MAX,
	    .help = "A key." },
	{ .name = "wait",
	    .type = FM_OPT_DURATION,
	    AT(wait),
	    .def = "10s",
	    .min = 100,
	    .max = 3600000,
	    .help = "How long to wait." },
	{ .name = "balance",
	    .type = FM_OPT_ENUM,
	    AT(balance),
	    .def = "ports",
	    .choices = balances,
	    .help = "What is balanced." },
	{ .name = "strict", .type = FM_OPT_BOOL, AT(strict), .def = "yes", .help = "Be strict." },
	{ .name = "label", .type = FM_OPT_STRING, AT(label), .def = "none", .help = "A label." },
	{ .name = "roots", .type = FM_OPT_NODES, AT(roots), .def = "", .help = "Root switches." },
	{ .name = "order",
	    .type = FM_OPT_NODES_LIST,
	    AT(order),
	    .def = "",
	    .help = "In this order." },
	{ .name = "weights",
	    .type = FM_OPT_NODE_VALUES,
	    AT(weights),
	    .def = "",
	    .min = 1,
	    .max = 255,
	    .unit = "port weight",
	    .help = "Weights of links." },
	{ .name = "ids",
	    .type = FM_OPT_NODE_VALUES,
	    AT(ids),
	    .def = "",
	    .unit = "id",
	    .help = "Ids." },
	{ .name = "ports",
	    .type = FM_OPT_NODE_VALUES,
	    AT(ports),
	    .def = "",
	    .unit = "ports...",
	    .help = "Search order." },
	{ .name = "tables", .type = FM_OPT_FILE, AT(tables), .def = "", .help = "A file." },
	{ .type = FM_OPT_END } };
static const char *const aliases[] = { "fine", NULL };
FM_ENGINE(good, .aliases = aliases, .summary = "An engine with every type of option.",
    .traits = FM_PROVIDES_LFT, .options = options, .options_size = sizeof(struct opts),
    .route = bad_route);
