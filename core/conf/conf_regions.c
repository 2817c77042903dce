/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections group "NAME", region "NAME" and vfabric "NAME" to groups, regions and vfabrics.
 *
 * Here belongs all that is wrong without a fabric: names, groups that are not
 * there or hold themselves, chains, the order.  What a region holds is seen
 * against a fabric only: regions.c.
 */
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/text/suggest.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/log.h"

#define N_SLS 16
#define MAX_NAME ((int)sizeof(((struct plan_region *)NULL)->name) - 1)

/* "fmd.conf:3: region pods: chain" before the sentence, the line that of key. */
static int
blame(const struct titled *t, const char *key, struct fm_error *err)
{
	const struct option_origin *at = option_values_origin(t->values, key);
	unsigned line = at != NULL && at->line > 0 ? at->line : t->line;

	return fm_context(err, "%s:%u: %s %s: %s", at != NULL ? at->file : t->file, line,
	    t->section->name, t->title, key);
}

/* Names stand in lists, behind @, and in messages. */
static int
check_name(const struct titled *t, struct fm_error *err)
{
	const char *what = t->section->name;
	bool ok = *t->title != '\0';

	for (const char *p = t->title; *p != '\0'; p++)
		ok &= isalnum((unsigned char)*p) || strchr("_.-", *p) != NULL;
	if (*t->title == '\0')
		return fm_fail(err, FM_E_CONFIG, "%s:%u: a %s has a name: %s", t->file, t->line,
		    what, t->section->example);
	if (strlen(t->title) > (size_t)MAX_NAME)
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: %s \"%.20s...\": a name has at most %d letters, this one %zu", t->file,
		    t->line, what, t->title, MAX_NAME, strlen(t->title));
	if (!ok)
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: %s \"%.60s\": a name is of letters, digits, _ . and -", t->file,
		    t->line, what, t->title);
	return 0;
}

static size_t
count_titled(const struct conf_private *self, const struct conf_section *section)
{
	size_t n = 0;

	for (size_t i = 0; i < self->titled.n; i++)
		n += self->titled.item[i].section == section;
	return n;
}

/* What is to be named is named, or has been told to be wrong. */
static int
check_list(const struct conf_private *self, const struct titled *t, const char *key, size_t n,
    struct fm_error *err)
{
	const struct option_origin *at = option_values_origin(t->values, key);

	if (n > 0 || (at != NULL && at->line > 0 && mistakes_count(self->all) > 0))
		return 0;
	return fm_fail(err, FM_E_CONFIG, "%s:%u: %s %s names nothing: %s", t->file, t->line,
	    t->section->name, t->title, t->section->example);
}

/* ------------------------------------------------------------------ groups */

static int
make_group(const struct conf_private *self, const struct titled *t, struct node_group *group,
    struct fm_error *err)
{
	int rc = check_name(t, err);

	group->name = t->title;
	if (rc != 0)
		return rc;
	group->items = option_values_items(t->values, "members", &group->n);
	group->file = t->file;
	group->line = group->n > 0 ? group->items[0].line : t->line;
	return check_list(self, t, "members", group->n, err);
}

int
conf_resolve_groups(struct conf_private *self, struct fm_error *err)
{
	const struct conf_section *section = conf_section_find("group");
	struct node_groups *groups = &self->groups;
	int rc = 0;

	groups->group =
	    fm_arena_array(&self->mem, count_titled(self, section) + 1, struct node_group);
	if (groups->group == NULL)
		return conf_out_of_memory(err);
	groups->all = self->all;
	for (size_t i = 0; rc == 0 && i < self->titled.n; i++)
		if (self->titled.item[i].section == section &&
		    make_group(self, &self->titled.item[i], &groups->group[groups->n++], err) != 0)
			rc = conf_note(self, err);
	if (rc == 0)
		rc = groups_bind(groups, err);
	for (size_t i = 0; rc == 0 && i < self->titled.n; i++)
		rc = option_values_bind_groups(self->titled.item[i].values, groups, err);
	for (size_t i = 0; rc == 0 && i < self->instances.n; i++)
		rc = option_values_bind_groups(self->instances.item[i].values, groups, err);
	for (uint32_t i = 0; rc == 0 && mistakes_count(self->all) == 0 && i < groups->n; i++)
		if (!groups->group[i].used)
			log_warn("conf", "%s:%u: the group %s is named nowhere",
			    groups->group[i].file, groups->group[i].line, groups->group[i].name);
	return rc;
}

/* ----------------------------------------------------------------- regions */

/* The chain of a region that wrote one, else the default's. */
static int
make_chain(
    struct conf_private *self, const struct titled *t, struct region *region, struct fm_error *err)
{
	const char *text = option_values_text(t->values, "chain");
	const struct option_origin *at;
	char where[240];

	region->chain = self->conf->routing.chain;
	region->chain_text = self->conf->routing.chain_text;
	if (text == NULL)
		return 0;
	if (text[strspn(text, ", ")] == '\0') {
		fm_fail(err, FM_E_CONFIG,
		    "it names no engine: name one, or leave it out for that of "
		    "region " REGION_DEFAULT);
		return blame(t, "chain", err);
	}
	region->has_chain = true;
	region->chain_text = text;
	at = option_values_origin(t->values, "chain");
	snprintf(where, sizeof(where), "%.150s:%u: region %s: chain", at->file, at->line, t->title);
	return conf_resolve_chain(self, text, true, where, &region->chain, err);
}

/* A region may allow what the others do not, not the other way round. */
static int
read_loops(const struct titled *t, struct region *region, struct fm_error *err)
{
	int64_t loops = option_values_number(t->values, "credit_loops", REGION_LOOPS_DEFAULT);

	if (loops == REGION_LOOPS_WARN)
		region->chain.allow_credit_loops = true;
	if (loops != REGION_LOOPS_REFUSE || !region->chain.allow_credit_loops)
		return 0;
	fm_fail(err, FM_E_CONFIG,
	    "credit_loops = warn outside of regions allows them everywhere: set it in the regions "
	    "that may have them");
	return blame(t, "credit_loops", err);
}

static int
make_region(struct conf_private *self, const struct titled *t, struct region *region,
    struct region_members *members, struct fm_error *err)
{
	int rc = check_name(t, err);

	region->name = t->title;
	if (rc == 0 && strcmp(t->title, REGION_DEFAULT) == 0)
		rc = fm_fail(err, FM_E_CONFIG,
		    "%s:%u: region %s: that is what no region claims, and its chain the one "
		    "outside of regions",
		    t->file, t->line, t->title);
	if (rc != 0)
		return rc;
	members->items = option_values_items(t->values, "switches", &members->n_items);
	members->file = t->file;
	members->line = members->n_items > 0 ? members->items[0].line : t->line;
	rc = check_list(self, t, "switches", members->n_items, err);
	if (rc == 0)
		rc = make_chain(self, t, region, err);
	return rc == 0 ? read_loops(t, region, err) : rc;
}

static int
make_regions(struct conf_private *self, struct region *region, struct region_members *members,
    struct fm_error *err)
{
	const struct conf_section *section = conf_section_find("region");
	struct region_set *set = &self->conf->regions.set;
	int rc = 0;

	region[0] = (struct region){ REGION_DEFAULT, self->conf->routing.chain,
		self->conf->routing.chain_text, true };
	set->region = region;
	set->members = members;
	set->n_regions = 1;
	for (size_t i = 0; rc == 0 && i < self->titled.n; i++) {
		const struct titled *t = &self->titled.item[i];

		if (t->section != section)
			continue;
		if (set->n_regions == REGIONS_MAX)
			return fm_fail(err, FM_E_CONFIG, "%s:%u: more than %d regions", t->file,
			    t->line, REGIONS_MAX - 1);
		rc = make_region(self, t, &region[set->n_regions], &members[set->n_regions], err);
		rc = rc != 0 ? conf_note(self, err) : 0;
		set->n_regions++;
	}
	return rc;
}

/* ------------------------------------------------------------ order and SLs */

static int
unknown_region(const struct region_set *set, const char *name, struct fm_error *err)
{
	struct suggestion s;
	const char *near;

	suggest_init(&s, name);
	for (uint32_t i = 0; i < set->n_regions; i++)
		suggest_offer(&s, set->region[i].name);
	near = suggest_best(&s);
	return near != NULL
	    ? fm_fail(err, FM_E_CONFIG, "there is no region %s: did you mean %s?", name, near)
	    : fm_fail(err, FM_E_CONFIG,
		  "there is no region %s: write region \"%s\" { switches = { ... } }", name, name);
}

static int
find_region(const struct region_set *set, const char *name, uint16_t *number, struct fm_error *err)
{
	for (uint32_t i = 0; i < set->n_regions; i++)
		if (strcmp(set->region[i].name, name) == 0) {
			*number = (uint16_t)i;
			return 0;
		}
	return unknown_region(set, name, err);
}

static int
read_order(struct conf_private *self, struct fm_error *err)
{
	struct region_set *set = &self->conf->regions.set;
	const char *at = self->conf->regions.order_text;
	uint16_t *order = fm_arena_array(&self->mem, set->n_regions, uint16_t), number = 0;
	char *name;
	int rc;

	if (order == NULL)
		return conf_out_of_memory(err);
	set->order = order;
	while ((name = conf_next_word(&self->mem, &at)) != NULL) {
		rc = find_region(set, name, &number, err);
		for (uint32_t i = 0; rc == 0 && i < set->n_order; i++)
			if (order[i] == number)
				rc = fm_fail(err, FM_E_CONFIG,
				    "%s stands there twice: once is enough", name);
		if (rc == 0)
			order[set->n_order++] = number;
		else if (conf_note_own(self, "region_order", rc, err) != 0)
			return (int)err->kind;
	}
	return 0;
}

static int
read_sls(struct conf_private *self, struct fm_error *err)
{
	struct region_set *set = &self->conf->regions.set;
	const char *at = self->conf->regions.reserved_sls_text;
	char *word, *end;

	while ((word = conf_next_word(&self->mem, &at)) != NULL) {
		unsigned long low = strtoul(word, &end, 10), high = low;

		if (*end == '-' && isdigit((unsigned char)end[1]))
			high = strtoul(end + 1, &end, 10);
		if (!isdigit((unsigned char)*word) || *end != '\0' || high < low || high >= N_SLS)
			return fm_fail(err, FM_E_CONFIG,
			    "%.40s is no service level: write 0..15, single or as 4-7", word);
		for (; low <= high; low++)
			set->reserved_sls |= (uint16_t)(1u << low);
	}
	if (set->reserved_sls == 0xffff)
		return fm_fail(
		    err, FM_E_CONFIG, "no service level is left: leave out one at least");
	return 0;
}

/* All that tables depend on, of all regions. */
static uint64_t
mark_regions(const struct region_set *set)
{
	const uint64_t numbers[] = { set->n_regions, (uint64_t)set->replies, set->reserved_sls,
		set->n_order };
	uint64_t h = fm_hash_bytes(2, numbers, sizeof(numbers));

	if (set->n_order > 0)
		h = fm_hash_bytes(h, set->order, set->n_order * sizeof(*set->order));
	for (uint32_t i = 1; i < set->n_regions; i++) {
		const struct region_members *m = &set->members[i];

		h = fm_hash_bytes(h, set->region[i].name, strlen(set->region[i].name));
		h = fm_mix64(h ^ node_items_mark(m->items, m->n_items));
		h = fm_mix64(
		    h ^ set->region[i].chain.mark ^ set->region[i].chain.allow_credit_loops);
	}
	return h;
}

int
conf_resolve_regions(struct conf_private *self, struct fm_error *err)
{
	size_t n = count_titled(self, conf_section_find("region")) + 1;
	struct region *region = fm_arena_array(&self->mem, n, struct region);
	struct region_members *members = fm_arena_array(&self->mem, n, struct region_members);
	struct region_set *set = &self->conf->regions.set;
	int rc;

	set->replies = self->conf->regions.replies;
	set->groups = &self->groups;
	set->said = fm_arena_alloc(&self->mem, sizeof(*set->said));
	if (region == NULL || members == NULL || set->said == NULL)
		return conf_out_of_memory(err);
	atomic_init(set->said, 0);
	if ((rc = make_regions(self, region, members, err)) != 0)
		return rc;
	if ((rc = read_order(self, err)) != 0 ||
	    (rc = conf_note_own(self, "reserved_sls", read_sls(self, err), err)) != 0)
		return rc;
	if (set->n_regions > 1 && self->rchain != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "the chain entry \"chains\" routes the whole fabric: it cannot stand beside "
		    "regions");
	if (set->n_regions > 1)
		self->conf->routing.chain.mark =
		    fm_mix64(self->conf->routing.chain.mark ^ mark_regions(set));
	region[0].chain = self->conf->routing.chain;
	return 0;
}

/* ---------------------------------------------------------------- vfabrics */

static int
read_vfabric_groups(
    struct conf_private *self, const struct titled *t, struct vfabric *f, struct fm_error *err)
{
	const char *at = option_values_text(t->values, "groups");
	char *word;

	f->ipoib = at == NULL;
	if (at == NULL)
		return 0;
	f->mgids = fm_arena_alloc(&self->mem, (strlen(at) / 2 + 1) * sizeof(*f->mgids));
	if (f->mgids == NULL)
		return conf_out_of_memory(err);
	while ((word = conf_next_word(&self->mem, &at)) != NULL) {
		if (strcmp(word, "ipoib") == 0) {
			f->ipoib = true;
			continue;
		}
		if (inet_pton(AF_INET6, word, f->mgids[f->n_mgids]) != 1 ||
		    f->mgids[f->n_mgids][0] != 0xff) {
			fm_fail(err, FM_E_CONFIG,
			    "%.50s is neither ipoib nor a multicast GID, such as ff12:401b::1",
			    word);
			return blame(t, "groups", err);
		}
		f->n_mgids++;
	}
	return 0;
}

static int
make_vfabric(
    struct conf_private *self, const struct titled *t, struct vfabric *f, struct fm_error *err)
{
	const struct option_values *v = t->values;
	int64_t sl = option_values_number(v, "sl", -1);
	int rc = check_name(t, err);

	*f = (struct vfabric){ .name = t->title,
		.pkey = (uint16_t)option_values_number(v, "pkey", 0),
		.has_sl = sl >= 0,
		.sl = (uint8_t)(sl >= 0 ? sl : 0),
		.share = (uint8_t)option_values_number(v, "share", 0),
		.first = option_values_number(v, "high_priority", 0) != 0,
		.security = option_values_number(v, "security", 1) != 0,
		.mtu = vfabric_mtu_code((unsigned)option_values_number(v, "mtu", 0)),
		.rate = vfabric_rate_code((unsigned)option_values_number(v, "rate", 0)),
		.file = t->file,
		.line = t->line };
	f->full.items = option_values_items(v, "members", &f->full.n);
	f->limited.items = option_values_items(v, "limited", &f->limited.n);
	if (rc == 0)
		rc = check_list(self, t, "members", f->full.n + f->limited.n, err);
	return rc == 0 ? read_vfabric_groups(self, t, f, err) : rc;
}

int
conf_resolve_vfabrics(struct conf_private *self, struct fm_error *err)
{
	const struct conf_section *section = conf_section_find("vfabric");
	const struct vfabric_ground ground = { .qos = self->conf->qos.enable,
		.has_file = self->conf->partitions.file.path != NULL };
	struct vfabrics *all = &self->conf->partitions.vfabrics;
	int rc = 0;

	all->of = fm_arena_array(&self->mem, count_titled(self, section) + 1, struct vfabric);
	if (all->of == NULL)
		return conf_out_of_memory(err);
	for (size_t i = 0; rc == 0 && i < self->titled.n; i++)
		if (self->titled.item[i].section == section &&
		    make_vfabric(self, &self->titled.item[i], &all->of[all->n++], err) != 0)
			rc = conf_note(self, err);
	return rc == 0 ? vfabrics_settle(all, &ground, self->all, err) : rc;
}
