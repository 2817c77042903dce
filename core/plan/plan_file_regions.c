/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of the regions of a plan, as the last part of its file.
 *
 * One walk serves three ways: to count the bytes, to copy them out, to copy them in.
 * Switches stand by GUID, in any order; what is told of one that is not there is left
 * out.
 *
 *	head		struct regions_head; no regions: n is 0, and that is all
 *	regions		each: name, engine, counts, the busiest cable, refusals
 *	switches	where loops are allowed in some region, each: GUID, which region's
 */
#include "core/plan/plan_file_regions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define REGION_BYTES 128 /* a region takes at least that much */

enum way { COUNT, OUT, IN };

struct pipe {
	enum way way;
	uint8_t *at;
	size_t left, n; /* bytes */
	const struct snapshot *snap;
	bool no_memory;
};

struct regions_head {
	uint32_t n, n_switches;
	uint8_t join, has_loops, unused[6];
};

struct region_counts {
	uint32_t n_refused, is_merged;
};

static bool
pass(struct pipe *c, void *bytes, size_t n)
{
	c->n += n;
	if (c->way == COUNT)
		return true;
	if (n > c->left)
		return false;
	if (c->way == OUT)
		memcpy(c->at, bytes, n);
	else
		memcpy(bytes, c->at, n);
	c->at += n;
	c->left -= n;
	return true;
}

/* By GUID; read: FM_NONE if it is not there. */
static bool
pass_switch(struct pipe *c, fm_sw *sw)
{
	uint64_t guid = c->way != IN ? c->snap->fab.sw_guid[*sw] : 0;

	if (!pass(c, &guid, sizeof(guid)))
		return false;
	if (c->way == IN)
		*sw = fm_hash_find(&c->snap->sw_by_guid, guid);
	return true;
}

static bool
pass_text(struct pipe *c, char *text, size_t room)
{
	if (!pass(c, text, room))
		return false;
	if (c->way == IN)
		text[room - 1] = '\0';
	return true;
}

static bool
pass_busiest(struct pipe *c, struct plan_region *r)
{
	uint8_t more[2] = { r->busiest.port, r->busiest.in };

	if (!pass(c, &r->busiest.times, sizeof(r->busiest.times)) ||
	    !pass_switch(c, &r->busiest.sw) || !pass(c, more, sizeof(more)))
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
pass_refusal(struct pipe *c, struct plan_region *r, uint32_t i)
{
	struct plan_refusal one = { .by_auto = false };
	uint8_t by_auto;

	if (c->way != IN)
		one = r->refused.item[i];
	by_auto = one.by_auto;
	if (!pass_text(c, one.engine, sizeof(one.engine)) ||
	    !pass_text(c, one.reason, sizeof(one.reason)) || !pass(c, &by_auto, 1))
		return false;
	one.by_auto = by_auto != 0;
	if (c->way == IN && !fm_vec_push(&r->refused, one))
		c->no_memory = true;
	return !c->no_memory;
}

static bool
pass_region(struct pipe *c, struct plan_region *r)
{
	struct region_counts n = { (uint32_t)r->refused.n, r->is_merged };
	bool ok = pass_text(c, r->name, sizeof(r->name)) &&
	    pass_text(c, r->engine, sizeof(r->engine)) && pass(c, &n, sizeof(n)) &&
	    pass_busiest(c, r);

	if (!ok)
		return false;
	r->is_merged = n.is_merged != 0;
	for (uint32_t i = 0; ok && i < n.n_refused; i++)
		ok = pass_refusal(c, r, i);
	return ok;
}

static bool
pass_loops_within(struct pipe *c, struct plan_regions *r, fm_sw sw)
{
	uint16_t within = c->way != IN ? r->loops_within[sw] : 0;

	if (!pass_switch(c, &sw) || !pass(c, &within, sizeof(within)))
		return false;
	if (c->way == IN && sw != FM_NONE)
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

static bool
pass_regions(struct pipe *c, struct plan_regions **regions)
{
	struct regions_head h = { 0 };
	bool ok = true;

	if (*regions != NULL)
		h = (struct regions_head){ .n = (*regions)->n,
			.n_switches = (*regions)->n_switches,
			.join = (uint8_t)(*regions)->join,
			.has_loops = (*regions)->loops_within != NULL };
	if (!pass(c, &h, sizeof(h)))
		return false;
	if (h.n == 0)
		return true;
	if (c->way == IN && (h.join > PLAN_WHOLE || h.n > c->left / REGION_BYTES))
		return false;
	if (c->way == IN && (*regions = make_regions(&h, c->snap->fab.n_switches)) == NULL) {
		c->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; ok && i < h.n; i++)
		ok = pass_region(c, &(*regions)->region[i]);
	for (fm_sw sw = 0; ok && h.has_loops && sw < h.n_switches; sw++)
		ok = pass_loops_within(c, *regions, sw);
	return ok;
}

/* Those of other switches than the snapshot's are not told. */
static struct plan_regions *
regions_of(const struct plan *p)
{
	bool fit = p->regions != NULL && p->regions->n_switches == p->snap->fab.n_switches;

	return fit ? p->regions : NULL;
}

size_t
plan_regions_bytes(const struct plan *p)
{
	struct pipe c = { .way = COUNT, .snap = p->snap };
	struct plan_regions *r = regions_of(p);

	pass_regions(&c, &r);
	return c.n;
}

bool
plan_regions_write(const struct plan *p, uint8_t *to, size_t room)
{
	struct pipe c = { .way = OUT, .at = to, .left = room, .snap = p->snap };
	struct plan_regions *r = regions_of(p);

	return pass_regions(&c, &r);
}

int
plan_regions_read(uint8_t *from, size_t n, struct plan *p, bool *good, struct fm_error *err)
{
	struct pipe c = { .way = IN, .at = from, .left = n, .snap = p->snap };

	*good = pass_regions(&c, &p->regions) && c.left == 0;
	return c.no_memory ? fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables") : 0;
}
