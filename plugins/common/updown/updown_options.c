/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/updown/updown_options.h"

#include "lib/log.h"

static int
list_ids(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_node_values *table, const int64_t **out, struct fm_error *err)
{
	int64_t *ids = fm_scratch_array(host, fab->n_switches, int64_t);
	uint32_t n_unknown = 0;

	if (ids == NULL)
		return fm_no_scratch(host, "ids of switches", err);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ids[s] = INT64_MAX;
	for (uint32_t i = 0; i < table->n_rows; i++) {
		if (table->row[i].sw != FM_NONE)
			ids[table->row[i].sw] = table->row[i].value;
		else
			n_unknown++;
	}
	if (n_unknown > 0)
		host->log(host, fm_stray_level(fab),
		    "ids: %u of %u rows name no switch of this fabric", n_unknown, table->n_rows);
	*out = ids;
	return 0;
}

int
fm_updown_from_options(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_updown_options *o, struct fm_updown *how, struct fm_error *err)
{
	int rc;

	how->relax = (o->calculate_missing_routes ? FM_RELAX_HOSTS : 0u) |
	    (o->connect_roots ? FM_RELAX_SWITCHES : 0u);
	if (o->ids.n_rows > 0 && (rc = list_ids(host, fab, &o->ids, &how->ids, err)) != 0)
		return rc;
	return fm_choice_from_options(host, fab, &o->choice, &how->choice, err);
}

int
fm_updown_engine(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_updown *how, const char *engine,
    struct fm_tables *out, struct fm_error *err)
{
	struct fm_missing left;
	int rc = fm_route_updown(host, fab, shape, how, out, &left, err);

	if (rc == 0 && left.to_hosts + left.to_others > 0)
		host->log(host, FM_LOG_WARN,
		    "%s: no path without a credit loop for %llu (switch, LID) to hosts and %llu "
		    "to switches",
		    engine, (unsigned long long)left.to_hosts, (unsigned long long)left.to_others);
	return rc;
}
