/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl/topo.c - fmctl topo: a fabric saved to a file, and compared with one.
 *
 * The fabric is that of the running fmd (the answer to "fabric"), or of another file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/cabling/cabling.h"
#include "core/conf/cli.h"
#include "core/graph/link_speed.h"
#include "core/nodes/nodes.h"
#include "core/text/files.h"
#include "core/wire/wire.h"
#include "tools/fmctl.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define I JSON_INTEGER_FORMAT
#define SHOWN 20

/* --------------------------------------------------- the fabric of a running fmd */

static json_int_t
number_at(const json_t *list, size_t i)
{
	return json_integer_value(json_array_get(list, i));
}

/* A node of the answer. */
struct answered {
	const char *name;
	uint64_t guid;
	enum netlist_node_type type;
	unsigned n_ports;
	size_t number; /* in the answer */
};

static bool
read_node(const json_t *fabric, size_t i, struct answered *n)
{
	static const enum netlist_node_type types[] = { [WIRE_NODE_CA] = NETLIST_CA,
		[WIRE_NODE_SWITCH] = NETLIST_SWITCH,
		[WIRE_NODE_ROUTER] = NETLIST_ROUTER };
	json_int_t type = number_at(json_object_get(fabric, "types"), i);
	json_int_t ports = number_at(json_object_get(fabric, "ports"), i);
	const char *guid = json_string_value(json_array_get(json_object_get(fabric, "guids"), i));

	n->name = json_string_value(json_array_get(json_object_get(fabric, "names"), i));
	if (type < WIRE_NODE_CA || type > WIRE_NODE_ROUTER || ports < 1 || ports > 254 ||
	    guid == NULL || n->name == NULL || !node_guid_parse(guid, &n->guid))
		return false;
	n->type = types[type];
	n->n_ports = (unsigned)ports;
	n->number = i;
	return true;
}

/* Switches first, then by name, numbers in them as numbers: a file is the same when it is saved
 * again. */
static int
by_name(const void *a, const void *b)
{
	const struct answered *x = a, *y = b;
	int order = strverscmp(x->name, y->name);

	if ((x->type == NETLIST_SWITCH) != (y->type == NETLIST_SWITCH))
		return x->type == NETLIST_SWITCH ? -1 : 1;
	return order != 0 ? order : x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool
add_node(const struct answered *n, struct netlist *nl)
{
	char id[24];

	snprintf(id, sizeof(id), "%c-%016" PRIx64, "SHR"[n->type], n -> guid);
	return netlist_add(nl, n->type, id, n->name, n->guid, n->n_ports) != NETLIST_NONE;
}

/* node: [n] where each of the answer is in the netlist. */
static int
add_nodes(const json_t *fabric, size_t n, struct netlist *nl, uint32_t *node, struct fm_error *err)
{
	struct answered *all = calloc(n + 1, sizeof(*all));
	int rc = 0;

	if (all == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the nodes of the fabric");
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!read_node(fabric, i, &all[i]))
			rc =
			    fm_fail(err, FM_E_SYSTEM, "node %zu of fmd's answer makes no sense", i);
	if (rc == 0)
		qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		node[all[i].number] = (uint32_t)i;
		if (!add_node(&all[i], nl))
			rc = fm_fail(
			    err, FM_E_RESOURCE, "out of memory for the nodes of the fabric");
	}
	free(all);
	return rc;
}

static bool
is_free_port(const struct netlist *nl, uint32_t node, json_int_t port)
{
	return node < nl->n_nodes && port >= 1 && port <= nl->nodes[node].n_ports &&
	    netlist_port(nl, node, (unsigned)port)->peer_node == NETLIST_NONE;
}

/* Where the node of a cable is in the netlist; NETLIST_NONE: it is not known. */
static uint32_t
node_at(const json_t *row, size_t i, const uint32_t *node, size_t n)
{
	json_int_t number = number_at(row, i);

	return number >= 0 && (size_t)number < n ? node[number] : NETLIST_NONE;
}

/* [node, port, node, port, rate, ...]; a far end that is not known is no cable here. */
static void
add_cable(const json_t *row, const json_t *rates, struct netlist *nl, const uint32_t *node)
{
	uint32_t a = node_at(row, 0, node, nl->n_nodes), b = node_at(row, 2, node, nl->n_nodes);
	json_int_t p = number_at(row, 1), q = number_at(row, 3);
	const json_t *rate = json_array_get(rates, (size_t)number_at(row, 4));
	const char *width = json_string_value(json_array_get(rate, 0));
	const char *speed = json_string_value(json_array_get(rate, 1));
	unsigned lanes = 0;

	if (!is_free_port(nl, a, p) || !is_free_port(nl, b, q) || (a == b && p == q))
		return;
	netlist_cable(nl, a, (unsigned)p, b, (unsigned)q,
	    speed != NULL ? link_speed_mbps(speed, strlen(speed)) : 0);
	for (; width != NULL && *width >= '0' && *width <= '9' && lanes < 100; width++)
		lanes = lanes * 10 + (unsigned)(*width - '0');
	netlist_port(nl, a, (unsigned)p)->width = (uint8_t)lanes;
	netlist_port(nl, b, (unsigned)q)->width = (uint8_t)lanes;
}

static int
read_answer(const json_t *fabric, struct netlist *nl, struct fm_error *err)
{
	size_t n = json_array_size(json_object_get(fabric, "guids")), i;
	const json_t *row;
	uint32_t *node;
	int rc;

	if (!json_is_true(json_object_get(fabric, "master")))
		return fm_fail(err, FM_E_CONFIG,
		    "this fmd is not master, and what it knows of the fabric may be old: ask the "
		    "master's, or name a FABRIC");
	node = calloc(n + 1, sizeof(*node));
	if (node == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the nodes of the fabric");
	rc = add_nodes(fabric, n, nl, node, err);
	if (rc == 0)
		json_array_foreach(json_object_get(fabric, "cables"), i, row)
		    add_cable(row, json_object_get(fabric, "rates"), nl, node);
	free(node);
	return rc;
}

static int
ask_fabric(const struct ask *a, struct netlist *nl, struct fm_error *err)
{
	json_t *args = json_object(), *fabric = NULL;
	int rc = fmctl_ask(a, "fabric", args, &fabric, err);

	if (rc == 0)
		rc = read_answer(fabric, nl, err);
	json_decref(fabric);
	json_decref(args);
	return rc;
}

/* ------------------------------------------------------------------- commands */

struct saving {
	const struct netlist *nl;
	bool is_topo;
};

static bool
put(FILE *out, const void *arg)
{
	const struct saving *s = arg;
	struct fm_error err;

	return (s->is_topo ? netlist_write_topo : netlist_write)(s->nl, out, &err) == 0;
}

static json_int_t
count_cables(const struct netlist *nl)
{
	json_int_t n = 0;

	for (size_t i = 0; i < nl->n_ports_total; i++)
		n += nl->ports[i].peer_node != NETLIST_NONE;
	return n / 2;
}

static int
save(const char *path, const struct netlist *nl, json_t **result, struct fm_error *err)
{
	struct saving s = { nl, netlist_is_topo(path) };

	if (strcmp(path, "-") == 0)
		return netlist_write(nl, stdout, err);
	if (!fm_file_write(path, 0644, put, &s))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.200s: %s", path, strerror(errno));
	*result = json_pack("{s:s, s:I, s:I}", "file", path, "nodes", (json_int_t)nl->n_nodes,
	    "cables", count_cables(nl));
	return 0;
}

static int
diff(const struct ask *a, const char *path, const struct netlist *found, json_t **result,
    struct fm_error *err)
{
	struct netlist want = { 0 };
	struct cabling c;
	int rc = netlist_read(path, &want, err);

	if (rc != 0)
		return rc;
	rc = cabling_compare(&want, found, &c, err);
	if (rc == 0)
		*result = cabling_json(&c, a->all || a->json ? SIZE_MAX : SHOWN);
	cabling_fini(&c);
	netlist_fini(&want);
	return rc;
}

int
fmctl_topo(const struct ask *a, json_t **result, struct fm_error *err)
{
	const char *what = a->part != NULL ? a->part : "";
	const char *path = json_string_value(json_object_get(a->args, "file"));
	const char *fabric = json_string_value(json_object_get(a->args, "fabric"));
	bool saves = strcmp(what, "save") == 0;
	struct netlist nl = { 0 };
	int rc;

	if (a->part == NULL)
		return fm_fail(err, FM_E_CONFIG, "say topo save FILE or topo diff FILE");
	if (!saves && strcmp(what, "diff") != 0)
		return fm_fail(err, FM_E_CONFIG, "topo takes save or diff, not \"%.40s\"", what);
	if (path == NULL)
		return fm_fail(err, FM_E_CONFIG, "say which file: topo %s FILE", what);
	rc = fabric != NULL ? netlist_read(fabric, &nl, err) : ask_fabric(a, &nl, err);
	if (rc == 0)
		rc = saves ? save(path, &nl, result, err) : diff(a, path, &nl, result, err);
	netlist_fini(&nl);
	return rc;
}

void
fmctl_show_topo(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "KIND", "kind", NULL, false },
		{ "WHAT", "text", NULL, false } };
	const json_t *list = json_object_get(result, "list");
	json_int_t n = fmctl_number(result, "differences"), notes = fmctl_number(result, "notes");

	if (list == NULL) { /* saved */
		if (result != NULL)
			fprintf(out, "%" I " nodes and %" I " cables are in %s\n",
			    fmctl_number(result, "nodes"), fmctl_number(result, "cables"),
			    fmctl_string(result, "file"));
		return;
	}
	fprintf(out, "%" I " cables are as in the file; %" I " %s, %" I " %s\n",
	    fmctl_number(result, "same"), n, n == 1 ? "difference" : "differences", notes,
	    notes == 1 ? "note" : "notes");
	if (json_array_size(list) > 0)
		fmctl_table(list, columns, N_OF(columns), false, out);
	if (n + notes > (json_int_t)json_array_size(list))
		fprintf(
		    out, "and %" I " more: --all\n", n + notes - (json_int_t)json_array_size(list));
}

int
fmctl_judge_topo(const json_t *result)
{
	return fmctl_number(result, "differences") > 0 ? FMD_EXIT_TROUBLE : FMD_EXIT_OK;
}
