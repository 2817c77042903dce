/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dragonfly - minimal routes on dragonflies: local, global, local.
 *
 * A dragonfly (Kim, Dally, Scott, Abts, ISCA 2008) is groups of switches, each
 * joined to all others of its group, and at least one cable between any two
 * groups.  A minimal route is at most one hop to the switch with a cable to the
 * other group, that cable, and at most one hop there.  To keep packets that
 * leave a group from waiting for packets that arrive in one, Kim and Dally raise
 * the virtual channel after the global hop.  InfiniBand chooses the VL by SL, in
 * port and out port, and that suffices (arXiv 2502.01214): one SL, VL 1 for what
 * came in by a global cable and leaves by a local one, VL 0 for everything else.
 * In Cascade's groups (Faanes et al., SC 2012) switches stand in rows and
 * columns, each joined to all of its row and column; the way out takes the row
 * first, the way in the column, so that here too the ports tell which it is.
 *
 *	channels in the order in which any route takes them
 *	row VL 0 < column VL 0 < global VL 0 < column VL 1 < row VL 1
 *	column in, row out: VL 1; global in, local out: VL 1; all else: VL 0
 *
 * Every route ascends in this order strictly, whatever its source and
 * destination; so there is no cycle of channels.  SL is 0 both ways: replies are
 * as safe as requests.
 *
 * Groups, rows and columns are found from the cables alone (groups.c).  Any
 * number of groups, any number of cables between two of them, and parallel local
 * cables; with several between two groups all carry the same (rows.c).  Base LIDs go
 * as if there were no others; the alternates of a port are reached by one cable between
 * the groups each, some sources' base LID by one of these.  Where there is one cable, on a
 * whole dragonfly without rows and columns, alternates go round, on four VLs (round.c).
 *
 * Missing cables.  Round a cable x - y lost in a group there are two detours: by a
 * switch w on the way to y as a gateway, with VL 0 from x by w to y, and by another
 * switch on the way to y as a destination, with VL 1 there.  Turns of the first
 * kind lie among the channels local VL 0, those of the second among local VL 1 (or
 * lead there from VL 0); each kind is kept acyclic (local.c), so the order above
 * holds with the local channels of a VL sorted, still with one SL and two VLs.
 * Switches whose detours do not fit may keep routes of the pattern by another
 * cable between the groups; that is looked for first.  Else, and where groups have
 * lost all cables to one another and step to a third group, such
 * pairs of switches, and these alone, get an SL and a VL (a plane) of their own
 * from VL 2 up, both ways the same, in which the dependencies of all routes put
 * there are kept acyclic (planes.c).  Planes share no channel with the pattern.
 * Where the VLs allowed do not suffice, the fabric is refused and a pair named.
 * What all goes by one cable in place of a lost one is then parted among others, as far as two
 * planes, or those that there are, take the pairs (even.c).
 *
 * Use it on dragonflies and on Cascade-like fabrics.  It refuses what has no
 * groups (trees, tori, random graphs), or groups of two.
 *
 *	groups	 switches with many common neighbours; lines in them
 *	local	 next steps within a group
 *	between	 cables from group to group
 *	rows	 tables: O(bytes of the tables), rows in parallel
 *	round	 alternates by other ways, where there is one
 *	planes	 SL and VL
 *	even	 full links emptied where cables are missing
 */
#include <fmd/own.h>

#include "plugins/engines/dragonfly/dragonfly.h"

static int
find_shape(struct df *df, struct fm_error *err)
{
	int rc = fm_arcs_build(df->host, df->fab, &df->arcs, err);

	return rc != 0 ? rc : df_find_groups(df, err);
}

static int
dragonfly_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct df df = { .host = host, .fab = fab, .out = out };
	int rc;

	(void)opts;
	if ((rc = find_shape(&df, err)) != 0 || (rc = df_route_locally(&df, err)) != 0 ||
	    (rc = df_join_groups(&df, err)) != 0 || (rc = df_lay_out(&df, err)) != 0 ||
	    (rc = df_fill_rows(&df, err)) != 0 || (rc = df_lead_round(&df, req->n_vls, err)) != 0)
		return rc;
	rc = df_assign_vls(&df, req->n_vls, out, err);
	return rc != 0 ? rc : df_alternatives(&df, out, err);
}

FM_OWN_ENGINE(dragonfly, NULL,
    .summary = "Dragonflies and Cascades: minimal routes, one SL and two VLs, no credit loops",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_AR | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES,
    .route = dragonfly_route);
