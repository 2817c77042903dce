/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From layers to tables: the SL of each path, and the lane of each SL.
 */
#include <string.h>

#include "plugins/common/layers/layers.h"

#define WRITE_ROWS 64 /* rows of a task: their layers of one tree are a cache line */
#define N_SLS 16

/* Each lane that is left takes its share of the layer whose lanes bear most.
 * Part of an acyclic layer is acyclic. */
void
fm_layers_balance(struct fm_layers *layers, const struct fm_sssp_trees *f, unsigned allowed)
{
	unsigned parts[FM_MAX_VLS], lane[FM_MAX_VLS][FM_MAX_VLS], n = layers->n;
	size_t n_sw = f->arcs->n_switches, rows = layers->paired ? n_sw : f->n_trees;

	for (unsigned l = 0; l < n; l++) {
		parts[l] = 1;
		lane[l][0] = l;
	}
	for (; layers->n < allowed; layers->n++) {
		unsigned most = 0;

		for (unsigned l = 1; l < n; l++)
			if (layers->n_paths[l] / parts[l] > layers->n_paths[most] / parts[most])
				most = l;
		lane[most][parts[most]++] = layers->n;
	}
	for (size_t r = 0; r < rows; r++)
		for (size_t s = 0; s < n_sw; s++) {
			uint8_t *l = &layers->layer[r * n_sw + s];

			*l = (uint8_t)lane[*l][(r + s) % parts[*l]];
		}
}

unsigned
fm_layers_allowed(const struct fm_fabric *fab, const struct fm_request *req)
{
	unsigned n = req->n_vls < FM_MAX_VLS ? req->n_vls : FM_MAX_VLS;

	for (fm_link l = 0; l < fab->n_links; l++)
		if (fab->link_n_vls[l] < n)
			n = fab->link_n_vls[l];
	return n > 0 ? n : 1;
}

struct writer {
	const struct fm_fabric *fab;
	const struct fm_sssp_trees *f;
	const struct fm_layers *layers;
	const struct fm_tables *out;
};

static void
write_rows(void *arg, uint32_t task, unsigned worker)
{
	const struct writer *w = arg;
	const struct fm_sssp_trees *f = w->f;
	fm_sw from = task * WRITE_ROWS, to = from + WRITE_ROWS;

	(void)worker;
	to = to < w->fab->n_switches ? to : w->fab->n_switches;
	for (fm_sw s = from; s < to; s++)
		memset(w->out->sl[s], 0, w->fab->max_lid + (size_t)1);
	for (uint32_t t = 0; t < f->n_trees; t++)
		for (fm_sw s = from; s < to; s++) {
			unsigned sl = w->layers->start + fm_layer_of(w->layers, f, t, s);

			for (uint32_t i = f->lid_first[t]; i < f->lid_first[t + 1]; i++)
				w->out->sl[s][f->lid[i]] = (uint8_t)sl;
		}
}

/* The lane of an SL on an arc; an SL that no path has goes to the first. */
static unsigned
lane_of(const struct fm_layers *layers, fm_arc a, unsigned sl)
{
	unsigned first = fm_first_sl(layers), lane = 0;

	if (sl < layers->start || sl >= layers->start + first + layers->n)
		return layers->start;
	sl -= layers->start;
	if (sl >= first)
		lane = fm_first_lane(layers) + sl - first;
	else if (layers->dimensions != NULL)
		lane = sl >> fm_dateline_of(layers->dimensions, a) & 1;
	return layers->start + lane;
}

/* All rows of a switch. */
static void
write_lanes(void *arg, uint32_t sw, unsigned worker)
{
	const struct writer *w = arg;
	const struct fm_arcs *arcs = w->f->arcs;
	uint32_t n_ports = w->fab->sw_n_ports[sw] + 1u;
	uint8_t *rows = w->out->sl2vl + (size_t)w->out->sl2vl_first[sw] * N_SLS;

	(void)worker;
	memset(rows, (int)w->layers->start, (size_t)n_ports * n_ports * N_SLS);
	for (fm_arc a = arcs->first[sw]; a < arcs->first[sw + 1]; a++) {
		uint8_t lane[N_SLS];

		for (unsigned sl = 0; sl < N_SLS; sl++)
			lane[sl] = (uint8_t)lane_of(w->layers, a, sl);
		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
			for (uint32_t in = 0; in < n_ports; in++)
				memcpy(rows + (in * n_ports + w->fab->link_port[l]) * N_SLS, lane,
				    N_SLS);
	}
}

void
fm_layers_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_layers *layers, struct fm_tables *out)
{
	struct writer w = { .fab = fab, .f = f, .layers = layers, .out = out };

	out->sl2vl_shape = FM_SL2VL_MODULO;
	out->n_vls_used = (uint8_t)(layers->start + fm_first_lane(layers) + layers->n);
	out->sl_shape = layers->layer != NULL ? FM_SL_BY_SW_DLID
	    : layers->start > 0		      ? FM_SL_BY_DLID
					      : FM_SL_ZERO;
	if (out->sl_shape == FM_SL_BY_DLID)
		memset(out->sl[0], (int)layers->start, (size_t)fab->max_lid + 1);
	if (out->sl_shape == FM_SL_BY_SW_DLID)
		host->parallel_for(
		    host, (fab->n_switches + WRITE_ROWS - 1) / WRITE_ROWS, write_rows, &w);
	/* They go by the port out alone, but only maps by both ports outlive the numbers of links,
	 * so that tables can be repaired. */
	if (layers->dimensions != NULL && layers->dimensions->n_datelines > 0) {
		out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
		host->parallel_for(host, fab->n_switches, write_lanes, &w);
	}
}
