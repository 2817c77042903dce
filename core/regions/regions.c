/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions against a fabric.
 *
 * Each region's list is resolved as one set and its switches are claimed; a
 * switch claimed before is an overlap.  What names nothing is a mistake in a
 * plan for a fabric that is all there, and everyday life in one that runs.  An
 * overlap is a mistake in the file; where a switch that is plugged in brings it
 * to light, the rest of the subnet must not suffer from it.
 * O(regions x resolving).
 */
#include "core/regions/regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/text/suggest.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/vec.h"

#define MAX_REMARKS 8 /* on items of one list; then a count */

enum care {
	LIVE,	 /* all is only remarked on */
	CHECKED, /* overlaps are refused */
	STRICT	 /* what names nothing too */
};

struct resolve {
	const struct region_set *set;
	const struct snapshot *snap;
	struct fm_arena *mem;
	uint16_t *sw_region;
	enum care care;
	size_t n_overlaps;
	FM_VEC(const char *) remarks;
	FM_VEC(const struct node_item *) seen; /* lists of options that were looked at */
	struct fm_error *err;
};

static int
out_of_memory(struct resolve *r)
{
	return fm_fail(r->err, FM_E_RESOURCE, "out of memory while resolving regions");
}

/* What is refused only with so much care. */
static int
remark(struct resolve *r, const struct fm_error *what, enum care care)
{
	const char *text;

	if (what->kind != FM_E_CONFIG || r->care >= care) {
		*r->err = *what;
		return (int)what->kind;
	}
	text = fm_arena_strdup(r->mem, what->msg);
	return text != NULL && fm_vec_push(&r->remarks, text) ? 0 : out_of_memory(r);
}

bool
regions_is_there(const struct fm_fabric *fab, fm_sw s)
{
	return fab->sw_first_link[s + 1] > fab->sw_first_link[s] ||
	    fab->sw_first_end[s + 1] > fab->sw_first_end[s];
}

static uint32_t
count_there(const struct fm_fabric *fab, const uint64_t *sw)
{
	uint32_t n = 0;

	FM_EACH_BIT (s, sw, fab->n_switches)
		n += regions_is_there(fab, (fm_sw)s);
	return n;
}

/* ------------------------------------------------------- items for themselves */

/* The name nearest to one that nobody has. */
static const char *
nearest_name(const struct fm_fabric *fab, const char *name)
{
	struct suggestion s;

	suggest_init(&s, name);
	for (fm_sw i = 0; i < fab->n_switches; i++)
		suggest_offer(&s, fab->sw_name[i]);
	return suggest_best(&s);
}

static int
remark_item(struct resolve *r, const struct node_item *item, const char *kind, const char *name)
{
	struct fm_error none = { 0 };
	const char *near = NULL;

	if (r->care == STRICT && item->kind == NODE_NAME && strpbrk(item->name, "*?[") == NULL)
		near = nearest_name(&r->snap->fab, item->name);
	fm_fail(&none, FM_E_CONFIG, "%s:%u: %s %s: '%s' names nothing in this fabric%s%s%s",
	    item->file, item->line, kind, name, item->text, near != NULL ? ": did you mean " : "",
	    near != NULL ? near : "", near != NULL ? "?" : "");
	return remark(r, &none, STRICT);
}

static int
remark_more(struct resolve *r, size_t n, const char *kind, const char *name)
{
	struct fm_error none = { 0 };

	fm_fail(
	    &none, FM_E_CONFIG, "%s %s: %zu more items name nothing in this fabric", kind, name, n);
	return remark(r, &none, STRICT);
}

/* The set of a list, and remarks on items that name nothing. */
static int
resolve_list(struct resolve *r, const struct node_item *items, size_t n, const char *kind,
    const char *name, struct node_target *set)
{
	bool *hit = fm_arena_array(r->mem, n, bool);
	size_t n_missing = 0;
	int rc;

	if (hit == NULL || !node_target_new(r->snap, r->mem, set))
		return out_of_memory(r);
	rc = node_set_resolve(items, n, set, hit, r->snap, r->mem, r->err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!hit[i] && ++n_missing <= MAX_REMARKS)
			rc = remark_item(r, &items[i], kind, name);
	if (rc == 0 && n_missing > MAX_REMARKS)
		rc = remark_more(r, n_missing - MAX_REMARKS, kind, name);
	return rc;
}

static int
check_groups(struct resolve *r)
{
	struct node_target set;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && r->set->groups != NULL && i < r->set->groups->n; i++) {
		const struct node_group *g = &r->set->groups->group[i];

		rc = resolve_list(r, g->items, g->n, "group", g->name, &set);
	}
	return rc;
}

/* ------------------------------------------------------- options of engines */

/* Sections may serve several regions: *is: this list was looked at. */
static int
look_once(struct resolve *r, const struct node_item *items, bool *is)
{
	*is = false;
	for (size_t i = 0; !*is && i < r->seen.n; i++)
		*is = r->seen.item[i] == items;
	return *is || fm_vec_push(&r->seen, items) ? 0 : out_of_memory(r);
}

static void
warn_of_item(const struct node_item *item, const char *name, const char *key)
{
	char place[256] = "";

	if (item->file != NULL)
		snprintf(place, sizeof(place), "%s:%u: ", item->file, item->line);
	log_warn(
	    "conf", "%s%s: %s: '%s' names nothing in this fabric", place, name, key, item->text);
}

/* Items that name nothing; a group's own were told with it. */
static int
warn_of_items(
    struct resolve *r, const struct node_item *items, size_t n, const char *name, const char *key)
{
	bool *hit = fm_arena_array(r->mem, n, bool);
	struct node_target set;
	size_t n_missing = 0;
	int rc;

	if (hit == NULL || !node_target_new(r->snap, r->mem, &set))
		return out_of_memory(r);
	rc = node_set_resolve(items, n, &set, hit, r->snap, r->mem, r->err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!hit[i] && items[i].group == NULL && ++n_missing <= MAX_REMARKS)
			warn_of_item(&items[i], name, key);
	if (n_missing > MAX_REMARKS)
		log_warn("conf", "%s: %s: %zu more items name nothing in this fabric", name, key,
		    n_missing - MAX_REMARKS);
	return rc;
}

/* An engine of a region sees the nodes of its component alone, so it cannot tell what is beyond
 * from what is nowhere.  No mistake in itself: the list may be one for several fabrics. */
static int
check_options(struct resolve *r, const struct chain *chain)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < chain->n_entries; i++) {
		const struct option_values *v = chain->entries[i].values;
		const struct node_item *items;
		const char *key;
		bool seen;
		size_t n;

		for (size_t j = 0;
		     rc == 0 && v != NULL && (items = option_values_nodes(v, j, &key, &n)) != NULL;
		     j++)
			if ((rc = look_once(r, items, &seen)) == 0 && !seen)
				rc = warn_of_items(r, items, n, option_values_name(v), key);
	}
	return rc;
}

/* ----------------------------------------------------------------- overlaps */

/* The item by which the region got the switch: the last that names it, for had
 * that taken it out, it would not be there. */
static int
find_item(struct resolve *r, uint16_t region, fm_sw s, const struct node_item **item)
{
	const struct region_members *m = &r->set->members[region];

	for (size_t i = m->n_items; i-- > 0;) {
		struct node_target set;
		int rc;

		if (!node_target_new(r->snap, r->mem, &set))
			return out_of_memory(r);
		rc = node_items_resolve(&m->items[i], &set, 1, r->snap, r->mem, r->err);
		if (rc != 0)
			return rc;
		*item = &m->items[i];
		if (fm_bit_test(set.sw, s))
			return 0;
	}
	return 0;
}

static int
remark_overlap(struct resolve *r, uint16_t first, uint16_t second, fm_sw s)
{
	const struct region_set *set = r->set;
	const struct node_item *items[2] = { NULL, NULL };
	struct fm_error what = { 0 };
	char place[128];
	int rc = 0;

	if (++r->n_overlaps > MAX_REMARKS)
		return 0;
	rc = find_item(r, first, s, &items[0]);
	if (rc == 0)
		rc = find_item(r, second, s, &items[1]);
	if (rc != 0)
		return rc;
	if (strcmp(items[0]->file, items[1]->file) == 0)
		snprintf(place, sizeof(place), "line ");
	else
		snprintf(place, sizeof(place), "%s:", items[0]->file);
	fm_fail(&what, FM_E_CONFIG,
	    "%s:%u: region %s: '%s' claims switch %s (0x%016" PRIx64
	    ") as '%s' of region %s does in %s%u: take it out of one with \"!\"",
	    items[1]->file, items[1]->line, set->region[second].name, items[1]->text,
	    r->snap->fab.sw_name[s], r->snap->fab.sw_guid[s], items[0]->text,
	    set->region[first].name, place, items[0]->line);
	return remark(r, &what, CHECKED);
}

static int
claim(struct resolve *r, uint16_t region, const uint64_t *sw)
{
	const struct fm_fabric *fab = &r->snap->fab;
	int rc = 0;

	FM_EACH_BIT (s, sw, fab->n_switches) {
		if (rc != 0)
			break;
		if (r->sw_region[s] == 0)
			r->sw_region[s] = region;
		else if (regions_is_there(fab, (fm_sw)s))
			rc = remark_overlap(r, r->sw_region[s], region, (fm_sw)s);
	}
	return rc;
}

static int
refuse_empty(struct resolve *r, uint16_t region, const uint64_t *end)
{
	const struct region_members *m = &r->set->members[region];
	size_t n_ends = fm_bit_count(end, r->snap->fab.n_ends);
	struct fm_error none = { 0 };

	if (n_ends > 0)
		fm_fail(&none, FM_E_CONFIG,
		    "%s:%u: region %s holds no switch, though it names %zu end-ports: a region is "
		    "made of switches, hosts belong to the one they are cabled to",
		    m->file, m->line, r->set->region[region].name, n_ends);
	else
		fm_fail(&none, FM_E_CONFIG, "%s:%u: region %s holds no switch of this fabric",
		    m->file, m->line, r->set->region[region].name);
	return remark(r, &none, STRICT);
}

static int
resolve_region(struct resolve *r, uint16_t region)
{
	const struct region_members *m = &r->set->members[region];
	struct node_target set;
	int rc;

	rc = resolve_list(r, m->items, m->n_items, "region", r->set->region[region].name, &set);
	if (rc == 0)
		rc = claim(r, region, set.sw);
	if (rc == 0 && count_there(&r->snap->fab, set.sw) == 0)
		rc = refuse_empty(r, region, set.end);
	return rc;
}

/* ---------------------------------------------------------------- the whole */

/* Remarks are news only when they are other ones than last time. */
static void
log_new_remarks(const struct resolve *r)
{
	uint64_t h = 0;

	for (size_t i = 0; i < r->remarks.n; i++)
		h = fm_hash_bytes(h, r->remarks.item[i], strlen(r->remarks.item[i]));
	if (r->set->said != NULL && atomic_exchange(r->set->said, h) == h)
		return;
	for (size_t i = 0; i < r->remarks.n; i++)
		log_warn("conf", "%s", r->remarks.item[i]);
}

static int
resolve(const struct region_set *set, const struct snapshot *snap, enum care care,
    uint16_t *sw_region, struct fm_error *err)
{
	struct fm_error local;
	struct fm_arena mem;
	struct resolve r = { .set = set,
		.snap = snap,
		.mem = &mem,
		.sw_region = sw_region,
		.care = care,
		.err = err != NULL ? err : &local };
	int rc = 0;

	fm_arena_init(&mem, SIZE_MAX);
	memset(sw_region, 0, snap->fab.n_switches * sizeof(*sw_region));
	if (care != LIVE || set->n_regions > 1)
		rc = check_groups(&r);
	for (uint32_t i = 1; rc == 0 && i < set->n_regions; i++)
		rc = resolve_region(&r, (uint16_t)i);
	for (uint32_t i = 0; rc == 0 && care != LIVE && i < set->n_regions; i++)
		rc = check_options(&r, &set->region[i].chain);
	if (rc == 0)
		log_new_remarks(&r);
	fm_vec_fini(&r.remarks);
	fm_vec_fini(&r.seen);
	fm_arena_fini(&mem);
	return rc;
}

int
regions_resolve(const struct region_set *set, const struct snapshot *snap, bool strict,
    uint16_t *sw_region, struct fm_error *err)
{
	return resolve(set, snap, strict ? STRICT : LIVE, sw_region, err);
}

int
regions_find(const struct region_set *set, const struct snapshot *snap, uint16_t **sw_region,
    struct fm_error *err)
{
	int rc;

	*sw_region = calloc(snap->fab.n_switches + (size_t)1, sizeof(**sw_region));
	if (*sw_region == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for regions");
	rc = regions_resolve(set, snap, false, *sw_region, err);
	if (rc != 0) {
		free(*sw_region);
		*sw_region = NULL;
	}
	return rc;
}

int
regions_check(const struct region_set *set, const struct snapshot *snap, struct fm_error *err)
{
	uint16_t *sw_region = calloc(snap->fab.n_switches + 1, sizeof(*sw_region));
	int rc;

	if (sw_region == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while resolving regions");
	rc = resolve(set, snap, CHECKED, sw_region, err);
	free(sw_region);
	return rc;
}
