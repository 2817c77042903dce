/* SPDX-License-Identifier: BSD-2-Clause */
/* What an engine writes, and where. */
#include <inttypes.h>
#include <stdio.h>

#include "core/route/props_internal.h"

/* The first tables are poisoned and let go; the second get the same memory. */
enum props_outcome
props_check_rows(const struct props *p, uint64_t digest, char *report, size_t room)
{
	struct props_entry left;
	struct props_trial first = { .poison = true }, second = { .unwritten = &left };
	struct router r;
	struct fm_error err;
	int rc;

	if ((p->engine->traits & (FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS)) == 0)
		return PROPS_HOLD;
	rc = router_init(&r, 1, &err);
	if (rc != 0)
		return props_broken(report, room, "rows", err.msg);
	if ((rc = props_run(p, &r, &first, &err)) == 0)
		rc = props_run(p, &r, &second, &err);
	router_fini(&r);
	if (rc != 0)
		return props_broken(report, room, "rows", err.msg);
	if (left.sw != FM_NONE) {
		snprintf(report, room,
		    "rows: the entry of LID %" PRIu32
		    " at switch %s is not written, though the engine promises whole rows",
		    left.lid, p->snap->fab.sw_name[left.sw]);
		return PROPS_BROKEN;
	}
	if (second.digest != digest)
		return props_broken(
		    report, room, "rows: other bytes in memory that was used before", "");
	return PROPS_HOLD;
}
