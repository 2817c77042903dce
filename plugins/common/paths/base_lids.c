/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/paths/base_lids.h"

#include <string.h>

int
fm_base_view(const struct fm_host *host, const struct fm_fabric *fab, struct fm_fabric *out,
    struct fm_error *err)
{
	uint8_t *lmc = fm_scratch_array(host, fab->n_ends, uint8_t); /* all 0 */
	fm_end *lid_end = fm_scratch_array(host, (size_t)fab->max_lid + 1, fm_end);

	if (lmc == NULL || lid_end == NULL)
		return fm_no_scratch(host, "base LIDs", err);
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid];

		lid_end[lid] = e != FM_NONE && fab->end_lid[e] == lid ? e : FM_NONE;
	}
	*out = *fab;
	out->end_lmc = lmc;
	out->lid_end = lid_end;
	return 0;
}

int
fm_base_rows(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_tables *like,
    struct fm_tables *out, struct fm_error *err)
{
	uint8_t **rows = fm_scratch_array(host, fab->n_switches, uint8_t *);
	uint8_t *bytes = fm_scratch_bytes(host, fab->n_switches, like->lft_stride);

	if (rows == NULL || bytes == NULL)
		return fm_no_scratch(host, "routes to base LIDs", err);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		rows[s] = bytes + s * like->lft_stride;
	memcpy(out, like, like->size < sizeof(*out) ? like->size : sizeof(*out));
	out->lft = rows;
	return 0;
}

struct taker {
	const struct fm_fabric *fab;
	uint8_t *const *from, *const *to;
};

static void
take_row(void *arg, uint32_t s, unsigned worker)
{
	const struct taker *t = arg;

	(void)worker;
	for (fm_end e = 0; e < t->fab->n_ends; e++)
		t->to[s][t->fab->end_lid[e]] = t->from[s][t->fab->end_lid[e]];
}

/* LID 0 is nobody's in both. */
void
fm_base_take(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_tables *from,
    const struct fm_tables *to)
{
	struct taker t = { .fab = fab, .from = from->lft, .to = to->lft };

	host->parallel_for(host, fab->n_switches, take_row, &t);
}
