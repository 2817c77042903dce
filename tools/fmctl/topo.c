/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl/topo.c - fmctl topo: a fabric saved to a file, and compared with one.
 *
 * The fabric is that of the running fmd (the answer to "fabric"), or of another file.
 */
#include <errno.h>
#include <inttypes.h>
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

/* Node i of the answer is node i of the netlist. */
static bool
add_node(const json_t *fabric, size_t i, struct netlist *nl)
{
	static const enum netlist_node_type types[] = { [WIRE_NODE_CA] = NETLIST_CA,
		[WIRE_NODE_SWITCH] = NETLIST_SWITCH,
		[WIRE_NODE_ROUTER] = NETLIST_ROUTER };
	json_int_t type = number_at(json_object_get(fabric, "types"), i);
	json_int_t ports = number_at(json_object_get(fabric, "ports"), i);
	const char *guid = json_string_value(json_array_get(json_object_get(fabric, "guids"), i));
	const char *name = json_string_value(json_array_get(json_object_get(fabric, "names"), i));
	uint64_t number;
	char id[24];
	uint32_t node;

	if (type < WIRE_NODE_CA || type > WIRE_NODE_ROUTER || ports < 1 || ports > 254 ||
	    guid == NULL || name == NULL || !node_guid_parse(guid, &number))
		return false;
	snprintf(id, sizeof(id), "%c-%016" PRIx64, "SHR"[types[type]], number);
	node = netlist_add(nl, types[type], id, name, number, (unsigned)ports);
	return node == i;
}

static bool
is_free_port(const struct netlist *nl, json_int_t node, json_int_t port)
{
	return node >= 0 && node < nl->n_nodes && port >= 1 && port <= nl->nodes[node].n_ports &&
	    netlist_port(nl, (uint32_t)node, (unsigned)port)->peer_node == NETLIST_NONE;
}

/* [node, port, node, port, rate, ...]; a far end that is not known is no cable here. */
static void
add_cable(const json_t *row, const json_t *rates, struct netlist *nl)
{
	json_int_t a = number_at(row, 0), p = number_at(row, 1), b = number_at(row, 2),
		   q = number_at(row, 3);
	const json_t *rate = json_array_get(rates, (size_t)number_at(row, 4));
	const char *width = json_string_value(json_array_get(rate, 0));
	const char *speed = json_string_value(json_array_get(rate, 1));
	unsigned lanes = 0;

	if (!is_free_port(nl, a, p) || !is_free_port(nl, b, q) || (a == b && p == q))
		return;
	netlist_cable(nl, (uint32_t)a, (unsigned)p, (uint32_t)b, (unsigned)q,
	    speed != NULL ? link_speed_mbps(speed, strlen(speed)) : 0);
	for (; width != NULL && *width >= '0' && *width <= '9'; width++)
		lanes = lanes * 10 + (unsigned)(*width - '0');
	netlist_port(nl, (uint32_t)a, (unsigned)p)->width = (uint8_t)lanes;
	netlist_port(nl, (uint32_t)b, (unsigned)q)->width = (uint8_t)lanes;
}

static int
read_answer(const json_t *fabric, struct netlist *nl, struct fm_error *err)
{
	const json_t *row;
	size_t i;

	if (!json_is_true(json_object_get(fabric, "master")))
		return fm_fail(err, FM_E_CONFIG,
		    "this fmd is not master, and what it knows of the fabric may be old: ask the "
		    "master's, or name a FABRIC");
	for (i = 0; i < json_array_size(json_object_get(fabric, "guids")); i++)
		if (!add_node(fabric, i, nl))
			return fm_fail(
			    err, FM_E_SYSTEM, "node %zu of fmd's answer makes no sense", i);
	json_array_foreach(json_object_get(fabric, "cables"), i, row)
	    add_cable(row, json_object_get(fabric, "rates"), nl);
	return 0;
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
