/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/ports.c - the text of all ports: 40 MB for 70,000 of them, so that a line is put
 * together from words that are kept (readings.h).
 */
#include "web/text/ports.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/wire/wire.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define WORD_BYTES 4	  /* of PortXmitData and PortRcvData */
#define LINE_BYTES 96	  /* of a line of text, about */
#define HIDDEN UINT64_MAX /* this port has no such line */

struct out {
	const struct readings *r;
	const struct places *p;
	const struct hour *h;
	const struct ports_wanted *wanted;
	struct port_row {
		uint32_t row, node;
	} * rows; /* [n_rows] of the ports that are wanted */
	size_t n_rows;
	struct text *t;
};

static bool
is_wanted(const struct out *o, const struct book_node *n)
{
	return o->wanted->group == NULL ||
	    strcmp(places_of(o->p, n->guid).group, o->wanted->group) == 0;
}

static bool
find_rows(struct out *o)
{
	const struct readings *r = o->r;

	o->rows = calloc((size_t)r->n_ports + 1, sizeof(*o->rows));
	if (o->rows == NULL)
		return false;
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		const struct book_node *n = &r->node[i];

		if (!is_wanted(o, n))
			continue;
		for (uint32_t row = n->first_port; row < n->first_port + n->n_ports; row++)
			if (readings_has(r, row))
				o->rows[o->n_rows++] = (struct port_row){ row, i };
	}
	return true;
}

/* ---------------------------------------------------------------------- values */

static uint64_t
count_of(const struct book_port *p, int which)
{
	return (p->unread >> which & 1) != 0 ? HIDDEN : p->sum[which];
}

static uint64_t
bytes_of(const struct book_port *p, int which)
{
	uint64_t words = count_of(p, which);

	return words == HIDDEN ? HIDDEN : words * WORD_BYTES;
}

static uint64_t
speed_of(const struct book_port *p, int which)
{
	return p->mbps == 0 ? HIDDEN : (uint64_t)p->mbps * 125000;
}

static uint64_t
planned_of(const struct book_port *p, int which)
{
	return p->planned;
}

/* A name with one number a port. */
struct family {
	const char *name, *type, *help;
	uint64_t (*value)(const struct book_port *p, int which);
	int which; /* enum counter */
};

/* Those of nodes of a type; -1: of all. */
static void
put_rows(struct out *o, const struct family *f, const char *name, int type)
{
	const struct readings *r = o->r;
	size_t n_name = strlen(name);

	for (size_t i = 0; i < o->n_rows; i++) {
		const struct port_row *row = &o->rows[i];
		const char *words = r->words.item + r->words_at[row->row];
		size_t n = r->words_at[row->row + 1] - r->words_at[row->row];
		uint64_t value = f->value(&r->port[row->row], f->which);
		char *at;

		if (value == HIDDEN || (type >= 0 && r->node[row->node].type != type))
			continue;
		if (!fm_vec_reserve(&o->t->v, o->t->v.n + n_name + n + TEXT_VALUE_BYTES)) {
			o->t->is_lost = true;
			return;
		}
		at = o->t->v.item + o->t->v.n;
		memcpy(at, name, n_name);
		memcpy(at + n_name, words, n);
		o->t->v.n = (size_t)(text_end_line(at + n_name + n, value) - o->t->v.item);
	}
}

static void
put_families(struct out *o, const struct family *families, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_family(o->t, families[i].name, families[i].type, families[i].help);
		put_rows(o, &families[i], families[i].name, -1);
	}
}

/* ------------------------------------------------------------------------ load */

static void
put_load(struct out *o)
{
	static const struct family load[] = {
		{ "fmd_port_transmit_bytes_total", "counter", "Bytes that the port has sent.",
		    bytes_of, COUNTER_XMIT_DATA },
		{ "fmd_port_receive_bytes_total", "counter", "Bytes that the port has received.",
		    bytes_of, COUNTER_RCV_DATA },
		{ "fmd_port_transmit_packets_total", "counter", "Packets that the port has sent.",
		    count_of, COUNTER_XMIT_PACKETS },
		{ "fmd_port_receive_packets_total", "counter",
		    "Packets that the port has received.", count_of, COUNTER_RCV_PACKETS },
		{ "fmd_port_transmit_wait_ticks_total", "counter",
		    "Ticks, of the length that its device has, in which the port had data and no "
		    "credits.",
		    count_of, COUNTER_XMIT_WAIT },
		{ "fmd_port_rate_bytes_per_second", "gauge",
		    "What the cable of the port can carry.", speed_of, 0 },
		{ "fmd_port_planned_routes", "gauge", "Routes that leave by the port, as planned.",
		    planned_of, 0 },
	};

	put_families(o, load, N_OF(load));
}

/* ---------------------------------------------------------------------- errors */

static bool
has_errors(const struct book_port *p)
{
	for (enum counter c = 0; c < N_COUNTERS; c++)
		if (counter_is_error(c) && p->sum[c] > 0)
			return true;
	return false;
}

static void
put_error(struct out *o, const char *name, uint32_t row, enum counter c, uint64_t value)
{
	const char *words = o->r->words.item + o->r->words_at[row];
	char end[TEXT_VALUE_BYTES];

	text_words(o->t, name);
	text_put(o->t, words, o->r->words_at[row + 1] - o->r->words_at[row] - 1);
	text_words(o->t, ",kind=\"");
	text_words(o->t, counter_name(c));
	text_words(o->t, "\"}");
	text_put(o->t, end, (size_t)(text_end_line(end, value) - end));
}

/* Of each kind that a port has had. */
static void
put_errors(struct out *o, const char *name, bool of_hour)
{
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct port_row *row = &o->rows[i];
		const struct book_node *n = &o->r->node[row->node];
		const struct book_port *p = &o->r->port[row->row];
		uint8_t port = (uint8_t)(row->row - n->first_port + 1);

		for (enum counter c = 0; c < N_COUNTERS; c++)
			if (counter_is_error(c) && p->sum[c] > 0)
				put_error(o, name, row->row, c,
				    of_hour ? hour_errors(o->h, n->guid, port, c, p->sum[c])
					    : p->sum[c]);
	}
}

static void
put_both_errors(struct out *o)
{
	text_family(o->t, "fmd_port_errors_total", "counter",
	    "Errors of the port since fmd-perf has first seen it, of the kinds that it has had.");
	put_errors(o, "fmd_port_errors_total", false);
	text_family(o->t, "fmd_port_errors_last_hour", "gauge",
	    "... in the last hour, or since fmd-web was started.");
	put_errors(o, "fmd_port_errors_last_hour", true);
}

/* ------------------------------------------------------------------------ names */

static void
put_peer(struct out *o, const struct book_port *p, const char *label, const char *port_label)
{
	text_printf(o->t, "\",%s=\"", label);
	if (p->peer == BOOK_NOBODY)
		return;
	text_label(o->t, o->r->node[p->peer].name);
	text_printf(o->t, "\",%s=\"%u", port_label, p->peer_port);
}

static void
put_info(struct out *o, bool only_bad)
{
	text_family(o->t, "fmd_port_info", "gauge",
	    "1: what the port is called, what is at the other end of its cable, where it is.");
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct port_row *row = &o->rows[i];
		const struct book_node *n = &o->r->node[row->node];
		struct place place = places_of(o->p, n->guid);

		if (only_bad && !has_errors(&o->r->port[row->row]))
			continue;
		text_printf(o->t, "fmd_port_info{guid=\"0x%016" PRIx64 "\",port=\"%u\",node=\"",
		    n->guid, row->row - n->first_port + 1);
		text_label(o->t, n->name);
		put_peer(o, &o->r->port[row->row], "peer", "peer_port");
		if (place.level != PLACES_NO_LEVEL)
			text_printf(o->t, "\",level=\"%u", place.level);
		text_words(o->t, "\",group=\"");
		text_label(o->t, place.group);
		text_words(o->t, "\"} 1\n");
	}
}

/* ------------------------------------------------- names that infiniband_exporter has */

static const struct family exporter[] = {
	{ "transmit_data_bytes", NULL, NULL, bytes_of, COUNTER_XMIT_DATA },
	{ "receive_data_bytes", NULL, NULL, bytes_of, COUNTER_RCV_DATA },
	{ "transmit_packets", NULL, NULL, count_of, COUNTER_XMIT_PACKETS },
	{ "receive_packets", NULL, NULL, count_of, COUNTER_RCV_PACKETS },
	{ "unicast_transmit_packets", NULL, NULL, count_of, COUNTER_UNICAST_XMIT },
	{ "unicast_receive_packets", NULL, NULL, count_of, COUNTER_UNICAST_RCV },
	{ "multicast_transmit_packets", NULL, NULL, count_of, COUNTER_MULTICAST_XMIT },
	{ "multicast_receive_packets", NULL, NULL, count_of, COUNTER_MULTICAST_RCV },
	{ "symbol_error", NULL, NULL, count_of, COUNTER_SYMBOL_ERRORS },
	{ "link_error_recovery", NULL, NULL, count_of, COUNTER_LINK_RECOVERIES },
	{ "link_downed", NULL, NULL, count_of, COUNTER_LINK_DOWNED },
	{ "receive_errors", NULL, NULL, count_of, COUNTER_RCV_ERRORS },
	{ "receive_remote_physical_errors", NULL, NULL, count_of, COUNTER_REMOTE_PHYSICAL },
	{ "receive_switch_relay_errors", NULL, NULL, count_of, COUNTER_RELAY_ERRORS },
	{ "transmit_discards", NULL, NULL, count_of, COUNTER_XMIT_DISCARDS },
	{ "transmit_constraint_errors", NULL, NULL, count_of, COUNTER_XMIT_CONSTRAINT },
	{ "receive_constraint_errors", NULL, NULL, count_of, COUNTER_RCV_CONSTRAINT },
	{ "local_link_integrity_errors", NULL, NULL, count_of, COUNTER_LINK_INTEGRITY },
	{ "excessive_buffer_overrun_errors", NULL, NULL, count_of, COUNTER_BUFFER_OVERRUN },
	{ "vl15_dropped", NULL, NULL, count_of, COUNTER_VL15_DROPPED },
	{ "transmit_wait", NULL, NULL, count_of, COUNTER_XMIT_WAIT },
	{ "qp1_dropped", NULL, NULL, count_of, COUNTER_QP1_DROPPED },
};

/* What names in a board of that exporter are joined by; LIDs are not in the file. */
static void
put_uplinks(struct out *o, const char *kind, int type)
{
	char name[64];

	snprintf(name, sizeof(name), "infiniband_%s_uplink_info", kind);
	text_family(o->t, name, "gauge", "1: what is at the other end of the cable.");
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct port_row *row = &o->rows[i];
		const struct book_node *n = &o->r->node[row->node], *far;
		const struct book_port *p = &o->r->port[row->row];

		if (n->type != type || p->peer == BOOK_NOBODY)
			continue;
		far = &o->r->node[p->peer];
		text_printf(o->t, "%s{guid=\"0x%016" PRIx64 "\",port=\"%u\",%s=\"", name, n->guid,
		    row->row - n->first_port + 1, kind);
		text_label(o->t, n->name);
		put_peer(o, p, "uplink", "uplink_port");
		text_printf(o->t, "\",uplink_guid=\"0x%016" PRIx64 "\",uplink_type=\"%s\"} 1\n",
		    far->guid, far->type == WIRE_NODE_SWITCH ? "SW" : "CA");
	}
}

static void
put_exporter(struct out *o, const char *kind, int type)
{
	char name[96];

	for (size_t i = 0; i < N_OF(exporter); i++) {
		snprintf(name, sizeof(name), "infiniband_%s_port_%s_total", kind, exporter[i].name);
		text_family(o->t, name, "counter", counter_name((enum counter)exporter[i].which));
		put_rows(o, &exporter[i], name, type);
	}
	put_uplinks(o, kind, type);
}

/* ------------------------------------------------------------------------------ */

static void
put_all(struct out *o)
{
	enum ports_set set = o->wanted->set;
	size_t n_lines = o->wanted->as_exporter ? N_OF(exporter) : set == PORTS_ERRORS ? 0 : 9;

	if (!fm_vec_reserve(&o->t->v, o->t->v.n + o->n_rows * n_lines * LINE_BYTES)) {
		o->t->is_lost = true;
		return;
	}
	if (o->wanted->as_exporter) {
		put_exporter(o, "switch", WIRE_NODE_SWITCH);
		put_exporter(o, "hca", WIRE_NODE_CA);
		return;
	}
	if (set != PORTS_ERRORS)
		put_load(o);
	if (set != PORTS_LOAD) {
		put_both_errors(o);
		put_info(o, set == PORTS_ERRORS);
	}
}

void
ports_write(const struct readings *r, const struct places *p, const struct hour *h,
    const struct ports_wanted *wanted, struct text *t)
{
	struct out o = { .r = r, .p = p, .h = h, .wanted = wanted, .t = t };

	if (find_rows(&o))
		put_all(&o);
	else
		t->is_lost = true;
	free(o.rows);
}
