/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_groups.c - the section port-groups of a policy file.
 */
#include <strings.h>

#include "core/subnet/qos_policy_read.h"
#include "core/text/number.h"

static struct qos_group *
group_of(struct policy_reader *r)
{
	return &r->p->groups.item[r->p->groups.n - 1];
}

int
policy_begin_group(struct policy_reader *r)
{
	struct qos_group g = { .line = r->text.at.line };

	return fm_vec_push(&r->p->groups, g) ? 0 : conf_no_memory(&r->text.at);
}

uint32_t
policy_find_group(const struct qos_policy *p, const char *name)
{
	for (uint32_t i = 0; i < p->groups.n; i++)
		if (strcasecmp(p->groups.item[i].name, name) == 0)
			return i;
	return UINT32_MAX;
}

int
policy_end_group(struct policy_reader *r)
{
	const struct qos_group *g = group_of(r), *first;

	if (g->name == NULL)
		return conf_bad(&r->text.at, "the port-group of line %u has no name", g->line);
	first = &r->p->groups.item[policy_find_group(r->p, g->name)];
	if (first != g)
		return conf_bad(&r->text.at,
		    "the port-group \"%.40s\" is there already, in line %u", g->name, first->line);
	return 0;
}

static int
group_name(struct policy_reader *r, char *value)
{
	return policy_keep_text(r, value, &group_of(r)->name);
}

static int
group_guid(struct policy_reader *r, char *value)
{
	return policy_ranges(r, value, UINT64_MAX, UINT64_MAX, &group_of(r)->guids);
}

static int
group_pkey(struct policy_reader *r, char *value)
{
	return policy_ranges(r, value, 0xffff, PKEY_BASE, &group_of(r)->pkeys);
}

/* "vs1 HCA-1/P1, vs2 HCA-1/P1" */
static int
group_port_name(struct policy_reader *r, char *value)
{
	char *word;

	while ((word = strsep(&value, ",")) != NULL) {
		struct qos_port_name name;
		char *slash = strrchr(word, '/');

		if (slash == NULL || (slash[1] != 'P' && slash[1] != 'p') ||
		    !number_parse(conf_trim(slash + 2), &(uint64_t){ 0 }))
			return conf_bad(&r->text.at,
			    "\"%.60s\" is no DESCRIPTION/Pn, n being the port's number",
			    conf_trim(word));
		*slash = '\0';
		if (policy_byte(r, conf_trim(slash + 2), 254, &name.number) != 0)
			return FM_E_CONFIG;
		name.desc = fm_arena_strdup(&r->p->mem, conf_trim(word));
		if (name.desc == NULL || !fm_vec_push(&group_of(r)->names, name))
			return conf_no_memory(&r->text.at);
	}
	return 0;
}

static int
group_partition(struct policy_reader *r, char *value)
{
	char *word;

	while ((word = strsep(&value, ",")) != NULL) {
		const struct partition *part = partitions_named(r->parts, conf_trim(word));
		struct qos_range range;

		if (part == NULL)
			return conf_bad(
			    &r->text.at, "no partition is named \"%.40s\"", conf_trim(word));
		range = (struct qos_range){ part->pkey, part->pkey };
		if (!fm_vec_push(&group_of(r)->pkeys.of, range))
			return conf_no_memory(&r->text.at);
	}
	return 0;
}

static int
group_node_type(struct policy_reader *r, char *value)
{
	static const struct {
		const char *word;
		uint8_t kinds;
	} kinds[] = { { "CA", 1u << PART_CA }, { "SWITCH", 1u << PART_SWITCH },
		{ "ROUTER", 1u << PART_ROUTER }, { "ALL", QOS_KIND_ALL },
		{ "SELF", QOS_KIND_SELF } };
	const size_t n = sizeof(kinds) / sizeof(kinds[0]);
	char *word;

	while ((word = strsep(&value, ",")) != NULL) {
		size_t i = 0;

		while (i < n && strcasecmp(kinds[i].word, conf_trim(word)) != 0)
			i++;
		if (i == n)
			return conf_bad(&r->text.at,
			    "\"%.40s\" is no node-type: CA, SWITCH, ROUTER, ALL, SELF",
			    conf_trim(word));
		group_of(r)->kinds |= kinds[i].kinds;
	}
	return 0;
}

const struct policy_entry policy_group_entries[] = { { "name", group_name },
	{ "use", policy_take_nothing }, { "port-guid", group_guid },
	{ "port-name", group_port_name }, { "pkey", group_pkey }, { "partition", group_partition },
	{ "node-type", group_node_type }, { 0 } };
