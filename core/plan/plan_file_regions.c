/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of the regions of a plan, as the last part of its file.
 *
 * One walk serves both ways: to copy bytes out, to copy them in.
 * Switches stand by GUID, in any order; what is told of one that is not there is left
 * out.
 *
 *	head		struct regions_head; no regions: n is 0, and that is all
 *	regions		each: name, engine, counts, the busiest cable, refusals
 *	switches	where loops are allowed in some region, each: GUID, which region's
 */
#include "core/plan/plan_file_internal.h"

#include <stdlib.h>

#define REGION_BYTES 128 /* a region takes at least that much */

struct regions_head {
	uint32_t n, n_switches;
	uint8_t join, has_loops, unused[6];
};

struct region_counts {
	uint32_t n_refused, is_merged;
};

/* By GUID; read: FM_NONE if it is not there. */
static bool
pass_switch(struct plan_file_cursor *c, fm_sw *sw)
{
	uint64_t guid = c->out ? c->snap->fab.sw_guid[*sw] : 0;

	if (!plan_file_part(c, &guid, sizeof(guid)))
		return false;
	if (!c->out)
		*sw = fm_hash_find(&c->snap->sw_by_guid, guid);
	return true;
}

static bool
pass_text(struct plan_file_cursor *c, char *text, size_t room)
{
	if (!plan_file_part(c, text, room))
		return false;
	if (!c->out)
		text[room - 1] = '\0';
	return true;
}

static bool
pass_busiest(struct plan_file_cursor *c, struct plan_region *r)
{
	uint8_t more[2] = { r->busiest.port, r->busiest.in };

	if (!plan_file_part(c, &r->busiest.times, sizeof(r->busiest.times)) ||
	    !pass_switch(c, &r->busiest.sw) || !plan_file_part(c, more, sizeof(more)))
		return false;
	r->busiest.port = more[0];
	r->busiest.in = more[1] != 0;
	if (r->busiest.sw == FM_NONE) {
		r->busiest.times = 0;
		r->busiest.sw = 0;
	}
	return true;
}

static bool
pass_refusal(struct plan_file_cursor *c, struct plan_region *r, uint32_t i)
{
	struct plan_refusal one = { .by_auto = false };
	uint8_t by_auto;

	if (c->out)
		one = r->refused.item[i];
	by_auto = one.by_auto;
	if (!pass_text(c, one.engine, sizeof(one.engine)) ||
	    !pass_text(c, one.reason, sizeof(one.reason)) || !plan_file_part(c, &by_auto, 1))
		return false;
	one.by_auto = by_auto != 0;
	if (!c->out && !fm_vec_push(&r->refused, one))
		c->no_memory = true;
	return !c->no_memory;
}

static bool
pass_region(struct plan_file_cursor *c, struct plan_region *r)
{
	struct region_counts n = { (uint32_t)r->refused.n, r->is_merged };
	bool ok = pass_text(c, r->name, sizeof(r->name)) &&
	    pass_text(c, r->engine, sizeof(r->engine)) && plan_file_part(c, &n, sizeof(n)) &&
	    pass_busiest(c, r);

	if (!ok)
		return false;
	r->is_merged = n.is_merged != 0;
	for (uint32_t i = 0; ok && i < n.n_refused; i++)
		ok = pass_refusal(c, r, i);
	return ok;
}

static bool
pass_loops_within(struct plan_file_cursor *c, struct plan_regions *r, fm_sw sw)
{
	uint16_t within = c->out ? r->loops_within[sw] : 0;

	if (!pass_switch(c, &sw) || !plan_file_part(c, &within, sizeof(within)))
		return false;
	if (!c->out && sw != FM_NONE)
		r->loops_within[sw] = within;
	return true;
}

/* What the head promises; NULL: memory is out. */
static struct plan_regions *
make_regions(const struct regions_head *h, uint32_t n_switches)
{
	struct plan_regions *r = calloc(1, sizeof(*r));
	bool ok = r != NULL;

	if (!ok)
		return NULL;
	atomic_init(&r->refs, 1);
	r->n = h->n;
	r->n_switches = n_switches;
	r->join = (enum plan_join)h->join;
	r->region = calloc(h->n, sizeof(*r->region));
	ok = r->region != NULL;
	if (ok && h->has_loops)
		ok = (r->loops_within = calloc(n_switches + 1, sizeof(uint16_t))) != NULL;
	if (ok)
		return r;
	plan_regions_put(r);
	return NULL;
}

bool
plan_file_regions(struct plan_file_cursor *c, struct plan_regions **regions)
{
	struct regions_head h = { 0 };
	bool ok = true;

	if (*regions != NULL)
		h = (struct regions_head){ .n = (*regions)->n,
			.n_switches = (*regions)->n_switches,
			.join = (uint8_t)(*regions)->join,
			.has_loops = (*regions)->loops_within != NULL };
	if (!plan_file_part(c, &h, sizeof(h)))
		return false;
	if (h.n == 0)
		return true;
	if (!c->out && (h.join > PLAN_WHOLE || h.n > (size_t)(c->end - c->at) / REGION_BYTES))
		return false;
	if (!c->out && (*regions = make_regions(&h, c->snap->fab.n_switches)) == NULL) {
		c->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; ok && i < h.n; i++)
		ok = pass_region(c, &(*regions)->region[i]);
	for (fm_sw sw = 0; ok && h.has_loops && sw < h.n_switches; sw++)
		ok = pass_loops_within(c, *regions, sw);
	return ok;
}
