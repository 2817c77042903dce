/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torus2qos - dimension order on tori and meshes, free of credit loops on 2 VLs.
 *
 * The idea (OpenSM's torus-2QoS, man 8 torus-2QoS): go along the first dimension until
 * the coordinate is right, then along the next.  Turns in that order only close no
 * cycle of channels; what is left are the rings themselves.  Each has a dateline,
 * and a path that crosses it keeps to another VL on that ring (Dally and Seitz, IEEE
 * Trans. Computers 36, 1987).  Which datelines a path crosses is its SL, which follows
 * from the coordinates of its ends alone; which ring a link is of is known to the
 * switch (SL2VL).  So SLs never change, and 2 VLs serve any number of dimensions.
 *
 * When to use it: tori and meshes, hypercubes too, of 1 to 4 rings and any number of
 * lines.  Dimensions, seeds and datelines are found (plugins/common/grid/grid.h); lines of 2
 * are taken in pairs as rings of 4, as those can be gone round.  torus_config
 * may point to an existing torus-2QoS.conf: it then decides dimensions, directions and
 * datelines, as with OpenSM.
 *
 * Promises: no credit loops, with replies under the SL of the request too, on 1 VL
 * (rings of 3, meshes), else 2; 4 with a switch missing; 8 for two levels of
 * quality (SL bit 3, VLs 4-7; fewer VLs: both levels share them).  SL(s,d) = SL(d,s).
 * Failures change no SL:
 *	- a cut ring is gone round the other way.  It is a line now and needs no dateline.
 *	- a missing switch at which a path would turn is passed by turning one hop
 *	  early.  The turn back is against the order; the hop behind it uses a VL of
 *	  its own (see the man page for why that is enough).
 * SLs follow from port numbers and GUIDs where these are regular (plugins/common/
 * grid_view.c); where neither is, torus_config pins datelines for good.
 *
 * Refused: what is no torus or mesh; rings cut twice (a switch missing counts once)
 * and lines cut once; two missing switches side by side in a dimension but the last;
 * more than 4 rings; too few VLs.
 *
 * Load: half round, both ways are used alike, except in the last dimension of an even
 * ring of n, where the most loaded link has n*n/8 + 1 where n*n/8 would be even: replies
 * have to go back the same half.  (OpenSM sends all of these up: n*n/4.)
 *
 * Multicast: one spanning tree for all groups whose turns keep the order away from the
 * root and which crosses no dateline; while a switch is missing groups belong on SL 8
 * (mcast.c).
 *
 * O(switches * LIDs) bytes written, rows in parallel.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "lib/log.h"
#include "plugins/engines/torus2qos/torus2qos.h"

static const struct fm_option options[] = {
	{ .name = "torus_config",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct torus_options, torus_config),
	    .help =
		"OpenSM's torus-2QoS.conf: dimensions, seeds, datelines, port order; without it "
		"all are found." },
	{ .name = "qos_levels",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct torus_options, qos_levels),
	    .def = "2",
	    .min = 1,
	    .max = 2,
	    .help = "Levels of quality: 2 gives SLs 8-15 VLs of their own between switches where 8 "
		    "VLs are allowed; on hosts' links the levels have VLs 0 and 1." },
	{ .type = FM_OPT_END },
};

static int
check_shape(const struct fm_host *host, const struct fm_grids *grids, struct fm_error *err)
{
	for (uint32_t i = 0; i < grids->n_grids; i++)
		for (uint32_t d = 0; d < grids->grid[i].n_dims; d++)
			if (grids->grid[i].kind[d] == FM_GRID_CLIQUE)
				return host->fail(host, err, FM_E_TOPOLOGY,
				    "dimension %u joins each of its %u switches to each: that is a "
				    "HyperX, for which there is the engine hyperx",
				    d + 1, grids->grid[i].size[d]);
	return 0;
}

static int
check_damage(const struct fm_grid_steps *s, struct fm_error *err)
{
	if (s->n_torn > 0)
		return s->host->fail(s->host, err, FM_E_TOPOLOGY,
		    "%s; %u row%s so: mend one cable in each, dimension order has no other way",
		    s->torn, s->n_torn, s->n_torn == 1 ? " is" : "s are");
	if (s->n_wide_holes > 0)
		return s->host->fail(s->host, err, FM_E_TOPOLOGY,
		    "two switches side by side are missing in the row of %s: there is a way round "
		    "without credit loops in the last dimension only",
		    s->fab->sw_name[s->beside_wide_hole]);
	return 0;
}

static void
say_what_was_found(const struct fm_host *host, const struct fm_grids *grids)
{
	char name[160];

	for (uint32_t i = 0; i < grids->n_grids; i++) {
		const struct fm_grid *g = &grids->grid[i];

		fm_grid_name(g, name, sizeof(name));
		host->log(host, g->n_cut + g->n_holes > 0 ? FM_LOG_NOTICE : FM_LOG_INFO,
		    "%s: switches=%u missing_switches=%u cut_links=%u", name, g->n_switches,
		    g->n_holes, g->n_cut);
	}
}

static int
torus_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct torus_options *o = opts;
	struct fm_arcs arcs;
	struct fm_grids grids;
	struct torus_conf conf;
	struct fm_grid_steps steps;
	struct fm_datelines lines;
	struct fm_grid_fill fill;
	int rc;

	if ((rc = torus_find(host, fab, o, &arcs, &grids, &conf, err)) != 0 ||
	    (rc = check_shape(host, &grids, err)) != 0)
		return rc;
	say_what_was_found(host, &grids);
	if ((rc = fm_grid_steps_build(host, fab, &arcs, &grids, FM_TIES_MIRRORED, &steps, err)) !=
		0 ||
	    (rc = check_damage(&steps, err)) != 0 ||
	    (rc = fm_datelines_build(
		 &steps, fm_datelines_vls(fab, req), (unsigned)o->qos_levels, &lines, err)) != 0 ||
	    (rc = fm_grid_fill_init(
		 &steps, conf.has_port_order ? conf.port_order : NULL, &fill, err)) != 0)
		return rc;
	fm_datelines_sl2vl(&lines, out);
	if ((rc = fm_datelines_fill(&lines, &fill, err)) != 0 ||
	    (rc = fm_grid_fill_rows(&fill, out, err)) != 0)
		return rc;
	if (fill.n_lost > 0)
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "missing switches at a corner of each other leave %llu pairs of switches "
		    "without a way",
		    (unsigned long long)fill.n_lost);
	return 0;
}

FM_OWN_ENGINE(torus2qos, torus_mcast_tree,
    .aliases = (const char *const[]){ "torus-2QoS", "torus-2qos", NULL },
    .summary = "Dimension order on tori and meshes, without credit loops on 2 VLs",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_MCAST | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS,
    .options = options, .options_size = sizeof(struct torus_options), .route = torus_route);
