/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/sssp/choice_options.h"

#include "lib/bitset.h"

/* Members of each set in index order; who is there already stays where it is. */
static int
list_first(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_nodeset_list *order, struct fm_choice *out, struct fm_error *err)
{
	fm_end *first = fm_scratch_array(host, fab->n_ends, fm_end);
	uint64_t *listed = fm_scratch_array(host, FM_BITSET_WORDS(fab->n_ends), uint64_t);
	uint32_t n_empty = 0;

	if (first == NULL || listed == NULL)
		return fm_no_scratch(host, "guid_routing_order", err);
	for (uint32_t i = 0; i < order->n_sets; i++) {
		bool any = false;

		FM_EACH_BIT (e, order->set[i].end, fab->n_ends) {
			any = true;
			if (fm_bit_test(listed, e))
				continue;
			fm_bit_set(listed, e);
			first[out->n_first++] = (fm_end)e;
		}
		n_empty += !any;
	}
	out->first = first;
	if (n_empty > 0)
		host->log(host, fm_stray_level(fab),
		    "guid_routing_order: %u of %u entries match no end of this fabric", n_empty,
		    order->n_sets);
	return 0;
}

/* The host at a port of a switch, or FM_NONE. */
static fm_end
end_at(const struct fm_fabric *fab, fm_sw sw, uint32_t port)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_port[e] == port && fm_is_host(fab, e))
			return e;
	return FM_NONE;
}

/* One row: a port of a switch, whatever is there, or a host by its port GUID. */
static bool
ignore(
    const struct fm_fabric *fab, const struct fm_node_value *row, uint64_t *links, uint64_t *ends)
{
	fm_link l = FM_NONE;
	fm_end e = row->end;

	if (row->sw != FM_NONE) {
		l = fm_link_at(fab, row->sw, (uint32_t)row->value);
		e = end_at(fab, row->sw, (uint32_t)row->value);
	}
	if (l != FM_NONE)
		fm_bit_set(links, l);
	if (e != FM_NONE)
		fm_bit_set(ends, e);
	return l != FM_NONE || e != FM_NONE;
}

static int
list_ignored(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_node_values *table, struct fm_choice *out, struct fm_error *err)
{
	uint64_t *links = fm_scratch_array(host, FM_BITSET_WORDS(fab->n_links), uint64_t);
	uint64_t *ends = fm_scratch_array(host, FM_BITSET_WORDS(fab->n_ends), uint64_t);
	uint32_t n = 0;

	if (links == NULL || ends == NULL)
		return fm_no_scratch(host, "ignore_guids", err);
	for (uint32_t i = 0; i < table->n_rows; i++)
		n += ignore(fab, &table->row[i], links, ends);
	if (n > 0) {
		out->ignore_links = links;
		out->ignore_ends = ends;
	}
	if (n < table->n_rows)
		host->log(host, fm_stray_level(fab),
		    "ignore_guids: %u of %u rows name no cabled port of this fabric",
		    table->n_rows - n, table->n_rows);
	return 0;
}

/* Unlisted ports stand behind the listed ones, in their own order. */
static int
order_ports(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_node_values *table, struct fm_choice *out, struct fm_error *err)
{
	uint8_t *place = fm_scratch_array(host, fab->n_links, uint8_t);
	uint8_t *listed = fm_scratch_array(host, fab->n_switches, uint8_t);
	uint32_t n_lines = 0, n_unknown = 0; /* lines: rows that give a first port */

	if (place == NULL || listed == NULL)
		return fm_no_scratch(host, "port_search_order", err);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct fm_node_value *row = &table->row[i];
		fm_link l = row->sw != FM_NONE ? fm_link_at(fab, row->sw, row->port) : FM_NONE;

		n_lines += row->value == 0;
		n_unknown += row->value == 0 && row->sw == FM_NONE;
		if (l != FM_NONE && place[l] == 0)
			place[l] = ++listed[row->sw];
	}
	if (n_unknown > 0)
		host->log(host, fm_stray_level(fab),
		    "port_search_order: %u of %u rows name no switch of this fabric", n_unknown,
		    n_lines);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (unsigned port = 1; port <= fab->sw_n_ports[s]; port++) {
			fm_link l = fm_link_at(fab, s, port);

			if (l != FM_NONE && place[l] == 0)
				place[l] = ++listed[s];
		}
	out->search = place;
	return 0;
}

int
fm_choice_from_options(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_choice_options *o, struct fm_choice *out, struct fm_error *err)
{
	int rc = 0;

	*out = (struct fm_choice){ .scatter = (uint64_t)o->scatter_ports,
		.first_by_load = o->guid_routing_order_no_scatter,
		.shift = o->port_shifting };
	if (rc == 0 && o->guid_routing_order.n_sets > 0)
		rc = list_first(host, fab, &o->guid_routing_order, out, err);
	if (rc == 0 && o->ignore_guids.n_rows > 0)
		rc = list_ignored(host, fab, &o->ignore_guids, out, err);
	if (rc == 0 && o->port_search_order.n_rows > 0)
		rc = order_ports(host, fab, &o->port_search_order, out, err);
	return rc;
}
