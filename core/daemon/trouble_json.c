/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/trouble_json.c - what fmctl shows of what is wrong in the fabric.
 */
#include <inttypes.h>
#include <time.h>

#include "core/conf/json_text.h"
#include "core/daemon/daemon.h"
#include "core/sweep/trouble.h"

#define ROWS_MAX 1000

/* One end of it. */
static json_t *
end_json(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->guid);
	return json_pack(
	    "{s:o, s:s, s:i}", "node", json_text(n->desc), "guid", guid, "port", (int)port);
}

static json_t *
row_json(const struct inventory *inv, uint32_t slot, unsigned port)
{
	time_t since = inv_node(inv, slot)->ports[port].told_s;
	char time[24], text[512];
	json_t *far = json_null();
	unsigned far_port;
	uint32_t other;
	struct tm tm;

	if (trouble_far(inv, slot, port, &other, &far_port))
		far = end_json(inv, other, far_port);
	gmtime_r(&since, &tm);
	strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "since", time, "kind",
	    trouble_name(trouble_at(inv, slot, port)), "at", end_json(inv, slot, port), "other",
	    far, "text", json_text(trouble_say(inv, slot, port, text, sizeof(text))));
}

json_t *
daemon_trouble_json(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	json_t *list = json_array();
	json_int_t n = 0;

	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(inv, i)->n_ports; p++) {
			enum trouble t = trouble_at(inv, i, p);

			/* as the last sweep has left it */
			if (t == TROUBLE_NONE || t != inv_node(inv, i)->ports[p].told)
				continue;
			if (n++ < ROWS_MAX)
				json_array_append_new(list, row_json(inv, i, p));
		}
	return json_pack("{s:I, s:o}", "troubles", n, "list", list);
}
