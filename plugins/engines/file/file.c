/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file - tables that someone else made: fmd's own dump, dump_lfts, OpenSM's
 * lfts, fdbs and lid matrix.  The lfts come first; what they leave open is
 * filled from the matrix.  SLs, SL2VL tables and groups of adaptive routing
 * come along where they are given.  Nothing is promised: verify judges.
 */
#include <fmd/engine.h>

#include <inttypes.h>

#include "lib/log.h"
#include "plugins/engines/file/ar_file.h"
#include "plugins/engines/file/sl_file.h"
#include "plugins/engines/file/table_file.h"

struct file_options {
	struct fm_file lfts, lid_matrix, path_sl, sl2vl, ar_groups;
};

static const struct fm_option options[] = {
	{ .name = "lfts",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct file_options, lfts),
	    .help = "Forwarding tables: lfts of fmd, dump_lfts or OpenSM, or opensm.fdbs." },
	{ .name = "lid_matrix",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct file_options, lid_matrix),
	    .help = "OpenSM's lid matrix, for entries that lfts does not give." },
	{ .name = "path_sl",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct file_options, path_sl),
	    .help = "SL of every path, as fmd dumps it; SL 0 when not given." },
	{ .name = "sl2vl",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct file_options, sl2vl),
	    .help = "VL of every SL on its way through each switch, as fmd dumps it." },
	{ .name = "ar_groups",
	    .type = FM_OPT_FILE,
	    .offset = offsetof(struct file_options, ar_groups),
	    .help = "Groups of adaptive routing, as fmd dumps them; read where it is enabled." },
	{ .type = FM_OPT_END },
};

static int
file_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct file_options *o = opts;
	struct fm_table_file lfts = { 0 }, matrix = { 0 };
	int rc = 0;

	(void)req;
	if (o->lfts.bytes == NULL && o->lid_matrix.bytes == NULL)
		return host->fail(host, err, FM_E_CONFIG,
		    "neither lfts nor lid_matrix is given: file { lfts = \"/path/of/lfts\" }");
	if (o->lfts.bytes != NULL)
		rc = fm_table_file_lfts(host, fab, &o->lfts, out->lft, &lfts, err);
	if (rc == 0 && o->lid_matrix.bytes != NULL)
		rc = fm_table_file_matrix(host, fab, &o->lid_matrix, out->lft, &matrix, err);
	if (rc == 0 && o->path_sl.bytes != NULL)
		rc = fm_sl_file_paths(host, fab, &o->path_sl, out, err);
	if (rc == 0 && o->sl2vl.bytes != NULL)
		rc = fm_sl_file_vls(host, fab, &o->sl2vl, out, err);
	if (rc == 0 && o->ar_groups.bytes != NULL)
		rc = fm_ar_file(host, fab, &o->ar_groups, out, err);
	if (rc != 0)
		return rc;
	if (lfts.n_entries + matrix.n_entries == 0)
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "no entry of the tables fits this fabric: are they of another one?");
	host->log(host, FM_LOG_INFO,
	    "tables from files: entries=%" PRIu64 " from_matrix=%" PRIu64 " left_out=%" PRIu64,
	    lfts.n_entries, matrix.n_entries, lfts.n_misfits + matrix.n_misfits);
	return 0;
}

FM_ENGINE(file,
    .summary = "Tables from files: fmd's own dump, dump_lfts, OpenSM's lfts and lid matrix",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_AR, .options = options,
    .options_size = sizeof(struct file_options), .route = file_route);
