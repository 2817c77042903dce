/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the smaller things that are read: lists and tables that lie in files of their
 * own (GUIDs, names, ids, weights), VL arbitration and SL2VL as words, parts to be taken out,
 * names to be put into patterns, generators.  The first byte chooses.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/option_value.h"
#include "core/subnet/qos.h"
#include "core/text/name_ranges.h"
#include "lab/topo/outage.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/generate_words.h"

#define LINES_MAX 64
#define NODES_MOST 20000 /* of a generated fabric: more costs time only */

/* Where texts are cut: the next line, NULL behind the last. */
static char *
next_line(char **rest)
{
	return strsep(rest, "\n");
}

/* ------------------------------------------------------------ lists in files */

static const struct fm_option list_rows[] = {
	{ .name = "roots", .type = FM_OPT_NODES, .def = "", .help = "A set." },
	{ .name = "order", .type = FM_OPT_NODES_LIST, .def = "", .help = "An order." },
	{ .name = "ids", .type = FM_OPT_NODE_VALUES, .def = "", .unit = "id", .help = "Ids." },
	{ .name = "weights",
	    .type = FM_OPT_NODE_VALUES,
	    .def = "",
	    .unit = "port weight",
	    .min = 1,
	    .max = 255,
	    .help = "Weights." },
	{ .name = "ports",
	    .type = FM_OPT_NODE_VALUES,
	    .def = "",
	    .unit = "ports...",
	    .help = "Ports." }
};

static void
read_list(const struct fm_option *row, const char *path)
{
	struct option_value v = { .row = row, .origin = { .line = 1 } };
	char word[80];
	const char *items[] = { word };
	struct fm_error err = { 0 };
	struct fm_arena mem;

	snprintf(word, sizeof(word), "file:%s", path);
	fm_arena_init(&mem, SIZE_MAX);
	if (option_value_parse(&v, &mem, items, 1, &err) != 0)
		must(err.kind == FM_E_CONFIG && err.msg[0] != '\0');
	for (size_t i = 0; row->type == FM_OPT_NODE_VALUES && i < v.n; i++)
		must(row->min == row->max ||
		    (v.lines[i].value >= row->min && v.lines[i].value <= row->max));
	fm_arena_fini(&mem);
}

static void
read_lists(char *text, size_t size)
{
	char path[64];
	int fd = memfd_create("list", 0);

	must(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < sizeof(list_rows) / sizeof(list_rows[0]); i++)
		read_list(&list_rows[i], path);
	close(fd);
}

/* ----------------------------------------------------------------------- QoS */

/* high, low, sl2vl: a line each. */
static void
read_qos(char *text, size_t size)
{
	struct qos_text own = { .high_limit = -1 }, common = { .high_limit = -1 };
	struct qos_arb arb[QOS_ARB_BLOCK];
	struct fm_error err = { 0 };
	struct qos_tables t;
	uint8_t vl[16];

	own.vlarb_high = next_line(&text);
	own.vlarb_low = next_line(&text);
	own.sl2vl = next_line(&text);
	if (qos_tables_parse(&own, &common, &t, &err) != 0) {
		must(err.kind == FM_E_CONFIG && err.msg[0] != '\0');
		return;
	}
	for (uint8_t n = 1; n <= 15; n++) {
		qos_fit_sl2vl(&t, n, vl);
		for (int sl = 0; sl < 16; sl++)
			must(vl[sl] < n || vl[sl] == QOS_VL_DROP);
		qos_fit_arb(&t, true, 0, 32, n, qos_starved(&t, n, 0x7fff), arb);
		for (int i = 0; i < QOS_ARB_BLOCK; i++)
			must(arb[i].vl < n || arb[i].weight == 0);
	}
}

/* -------------------------------------------------------------------- outages */

/* Lines of "-PART" and "+PART"; in the end all comes back by leaving. */
static void
change_parts(char *text, size_t size)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct outage o;
	char *line;

	must(generate_words("pgft 2 2,3 1,2 1,1", &nl, &err) == 0);
	must(outage_init(&o, &nl, &err) == 0);
	for (int i = 0; i < LINES_MAX && (line = next_line(&text)) != NULL; i++)
		if (line[0] != '\0' && outage_change(&o, line + 1, line[0] == '-', &err) != 0)
			must(err.kind == FM_E_CONFIG && err.msg[0] != '\0');
	for (uint32_t n = 0; n < nl.n_nodes; n++)
		for (unsigned p = 1; p <= nl.nodes[n].n_ports; p++) {
			const struct netlist_port *at = netlist_port(&nl, n, p);

			must(at->peer_node == NETLIST_NONE ||
			    netlist_port(&nl, at->peer_node, at->peer_port)->peer_node == n);
		}
	outage_fini(&o);
	netlist_fini(&nl);
}

/* ---------------------------------------------------------------------- names */

/* Each name is matched by one of the patterns that were made of all. */
static void
name_all(char *text, size_t size)
{
	const char *names[LINES_MAX], **patterns;
	struct fm_arena mem;
	size_t n = 0, n_patterns = 0;
	char *line;

	while (n < LINES_MAX && (line = next_line(&text)) != NULL)
		if (line[0] != '\0' && strpbrk(line, "[]*?!\\") == NULL)
			names[n++] = line;
	if (n == 0)
		return;
	fm_arena_init(&mem, SIZE_MAX);
	patterns = name_ranges(names, n, &mem, &n_patterns);
	must(patterns != NULL && n_patterns > 0 && n_patterns <= n);
	for (size_t i = 0; i < n; i++) {
		bool hit = false;

		for (size_t k = 0; k < n_patterns && !hit; k++)
			hit = node_name_match(patterns[k], names[i]);
		must(hit);
	}
	fm_arena_fini(&mem);
}

/* ----------------------------------------------------------------- generators */

/* Numbers that multiply to little: what is large is slow, and is refused by gen_fits(). */
static bool
is_small(const char *text)
{
	double product = 1;

	for (char *end; *text != '\0'; text = end) {
		end = (char *)text + 1;
		if (isdigit((unsigned char)*text))
			product *= strtod(text, &end) + 1;
	}
	return product < NODES_MOST;
}

static void
generate(char *text, size_t size)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };

	if (!is_small(text))
		return;
	if (generate_words(text, &nl, &err) != 0) {
		must(err.kind == FM_E_CONFIG && err.msg[0] != '\0');
		return;
	}
	must(nl.n_nodes > 0);
	netlist_fini(&nl);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(
	    char *text, size_t size) = { read_lists, read_qos, change_parts, name_all, generate };
	char *text;

	if (size == 0)
		return 0;
	fuzz_be_quiet();
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	readers[data[0] % (sizeof(readers) / sizeof(readers[0]))](text, size - 1);
	free(text);
	return 0;
}
