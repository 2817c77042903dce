/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_read.c - OpenSM's QoS policy file.
 *
 *	qos-levels				a section
 *		qos-level			a block, of which there may be many
 *			name: DEFAULT		an entry
 *			sl: 0
 *		end-qos-level
 *	end-qos-levels
 *	qos-ulps
 *		sdp, port-num 10000-20000 : 1	a line is a rule and its level
 *	end-qos-ulps
 *
 * A section is a row of `sections`, an entry a row of the list of its block:
 * its word and the function that takes its value.  Words are taken in any case.
 * Sections may stand in any order, so names are resolved at the end.
 */
#include <stdio.h>
#include <strings.h>

#include "core/subnet/qos_policy_read.h"
#include "lib/log.h"

#define QOS_CLASS_MAX 0xfff
#define PATH_BITS_MAX 127

/* -------------------------------------------------------------- qos-levels */

static struct qos_level *
level_of(struct policy_reader *r)
{
	return &r->p->levels.item[r->p->levels.n - 1];
}

static int
begin_level(struct policy_reader *r)
{
	struct qos_level l = { .line = r->text.at.line };
	struct qos_ranges none = { 0 };

	return fm_vec_push(&r->p->levels, l) && fm_vec_push(&r->p->level_pkeys, none)
	    ? 0
	    : conf_no_memory(&r->text.at);
}

/* Of a name; n: among the first n. */
static uint32_t
find_level(const struct qos_policy *p, const char *name)
{
	for (uint32_t i = 0; i < p->levels.n; i++)
		if (p->levels.item[i].name != NULL && strcasecmp(p->levels.item[i].name, name) == 0)
			return i;
	return UINT32_MAX;
}

static int
end_level(struct policy_reader *r)
{
	const struct qos_level *l = level_of(r), *first;

	if (l->name == NULL)
		return conf_bad(&r->text.at, "the qos-level of line %u has no name", l->line);
	first = &r->p->levels.item[find_level(r->p, l->name)];
	if (first != l)
		return conf_bad(&r->text.at, "the qos-level \"%.40s\" is there already, in line %u",
		    l->name, first->line);
	if (strcasecmp(l->name, "DEFAULT") == 0)
		r->p->standard = (uint32_t)r->p->levels.n - 1;
	return 0;
}

static int
level_name(struct policy_reader *r, char *value)
{
	return policy_keep_text(r, value, &level_of(r)->name);
}

static int
level_use(struct policy_reader *r, char *value)
{
	return policy_keep_text(r, value, &level_of(r)->use);
}

static int
level_sl(struct policy_reader *r, char *value)
{
	level_of(r)->has_sl = true;
	return policy_byte(r, value, 15, &level_of(r)->sl);
}

static int
level_mtu(struct policy_reader *r, char *value)
{
	level_of(r)->has_mtu = true;
	return policy_byte(r, value, 5, &level_of(r)->mtu_limit);
}

static int
level_rate(struct policy_reader *r, char *value)
{
	level_of(r)->has_rate = true;
	return policy_byte(r, value, 63, &level_of(r)->rate_limit);
}

static int
level_life(struct policy_reader *r, char *value)
{
	level_of(r)->has_life = true;
	return policy_byte(r, value, 63, &level_of(r)->packet_life);
}

static int
level_pkey(struct policy_reader *r, char *value)
{
	return policy_ranges(
	    r, value, 0xffff, PKEY_BASE, &r->p->level_pkeys.item[r->p->level_pkeys.n - 1]);
}

static int
level_path_bits(struct policy_reader *r, char *value)
{
	struct qos_ranges ranges = { 0 };
	struct qos_level *l = level_of(r);
	int rc = policy_ranges(r, value, PATH_BITS_MAX, UINT64_MAX, &ranges);

	for (size_t i = 0; rc == 0 && i < ranges.of.n; i++)
		for (uint64_t b = ranges.of.item[i].from; b <= ranges.of.item[i].to; b++)
			l->path_bits[b / 64] |= UINT64_C(1) << b % 64;
	l->has_path_bits = true;
	fm_vec_fini(&ranges.of);
	return rc;
}

static const struct policy_entry level_entries[] = { { "name", level_name }, { "use", level_use },
	{ "sl", level_sl }, { "mtu-limit", level_mtu }, { "rate-limit", level_rate },
	{ "packet-life", level_life }, { "pkey", level_pkey }, { "path-bits", level_path_bits },
	{ 0 } };

/* --------------------------------------------------------- qos-match-rules */

static struct qos_rule *
rule_of(struct policy_reader *r)
{
	return &r->p->rules.item[r->p->rules.n - 1];
}

static int
begin_rule(struct policy_reader *r)
{
	struct qos_rule rule = { .line = r->text.at.line };

	return fm_vec_push(&r->p->rules, rule) ? 0 : conf_no_memory(&r->text.at);
}

static int
end_rule(struct policy_reader *r)
{
	if (rule_of(r)->level_name == NULL)
		return conf_bad(&r->text.at, "the qos-match-rule of line %u has no qos-level-name",
		    rule_of(r)->line);
	return 0;
}

static int
rule_class(struct policy_reader *r, char *value)
{
	return policy_ranges(r, value, QOS_CLASS_MAX, UINT64_MAX, &rule_of(r)->classes);
}

static int
rule_service(struct policy_reader *r, char *value)
{
	return policy_ranges(r, value, UINT64_MAX, UINT64_MAX, &rule_of(r)->service_ids);
}

static int
rule_pkey(struct policy_reader *r, char *value)
{
	return policy_ranges(r, value, 0xffff, PKEY_BASE, &rule_of(r)->pkeys);
}

static int
rule_level(struct policy_reader *r, char *value)
{
	rule_of(r)->level_line = r->text.at.line;
	return policy_keep_text(r, value, &rule_of(r)->level_name);
}

static int
want_groups(struct policy_reader *r, char *value, bool is_source)
{
	char *word;

	while ((word = strsep(&value, ",")) != NULL) {
		struct policy_named_group w = { .name =
						    fm_arena_strdup(&r->p->mem, conf_trim(word)),
			.line = r->text.at.line,
			.rule = (uint32_t)r->p->rules.n - 1,
			.is_source = is_source };

		if (w.name == NULL || !fm_vec_push(&r->wanted, w))
			return conf_no_memory(&r->text.at);
	}
	return 0;
}

static int
rule_source(struct policy_reader *r, char *value)
{
	return want_groups(r, value, true);
}

static int
rule_destination(struct policy_reader *r, char *value)
{
	return want_groups(r, value, false);
}

static const struct policy_entry rule_entries[] = { { "use", policy_take_nothing },
	{ "qos-class", rule_class }, { "source", rule_source }, { "destination", rule_destination },
	{ "service-id", rule_service }, { "pkey", rule_pkey }, { "qos-level-name", rule_level },
	{ 0 } };

/* ---------------------------------------------------------------- sections */

static const struct policy_section sections[] = {
	{ "port-groups", "port-group", policy_group_entries, policy_begin_group, policy_end_group,
	    NULL },
	{ "qos-setup", NULL, NULL, NULL, NULL, policy_take_nothing },
	{ "qos-levels", "qos-level", level_entries, begin_level, end_level, NULL },
	{ "qos-match-rules", "qos-match-rule", rule_entries, begin_rule, end_rule, NULL },
	{ "qos-ulps", NULL, NULL, NULL, NULL, policy_take_ulp },
};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* From its first line on. */
static int
read_block(struct policy_reader *r, const struct policy_section *s)
{
	const struct block_form form = { s->block, s->entries, sizeof(*s->entries) };
	unsigned row;
	char *value;
	int rc;

	r->text.begun = r->text.at.line;
	if ((rc = s->begin(r)) != 0)
		return rc;
	while ((rc = blocks_next(&r->text, &form, &row, &value)) > 0)
		if (s->entries[row].take(r, value) != 0 && (rc = conf_note_bad(&r->text.at)) != 0)
			return rc;
	return rc == 0 && s->end(r) != 0 ? conf_note_bad(&r->text.at) : rc;
}

static int
read_line(struct policy_reader *r, const struct policy_section *s, char *line)
{
	if (s->take_line != NULL)
		return s->take_line(r, line) != 0 ? conf_note_bad(&r->text.at) : 0;
	if (strcasecmp(line, s->block) != 0)
		return conf_bad(
		    &r->text.at, "\"%.50s\" is neither %s nor end-%s", line, s->block, s->word);
	return read_block(r, s);
}

static int
read_section(struct policy_reader *r, const struct policy_section *s)
{
	unsigned begun = r->text.at.line;
	char *line;
	int rc;

	while ((rc = blocks_line(&r->text, &line)) > 0) {
		if (blocks_is_end(line, s->word))
			return 0;
		if ((rc = read_line(r, s, line)) != 0)
			return rc;
	}
	return rc == 0 ? blocks_lack_end(&r->text, s->word, begun) : rc;
}

static int
read_sections(struct policy_reader *r)
{
	char *line;
	size_t i;
	int rc;

	while ((rc = blocks_line(&r->text, &line)) > 0) {
		for (i = 0; i < N_SECTIONS && strcasecmp(line, sections[i].word) != 0; i++)
			;
		if (i == N_SECTIONS)
			return conf_bad(&r->text.at,
			    "\"%.50s\" begins no section: port-groups, qos-setup, qos-levels, "
			    "qos-match-rules, qos-ulps",
			    line);
		if ((rc = read_section(r, &sections[i])) != 0)
			return rc;
	}
	return rc;
}

/* --------------------------------------------------------------- the names */

static int
resolve_groups(struct policy_reader *r)
{
	for (size_t i = 0; i < r->wanted.n; i++) {
		const struct policy_named_group *w = &r->wanted.item[i];
		struct qos_rule *rule = &r->p->rules.item[w->rule];
		uint32_t group = policy_find_group(r->p, w->name);

		r->text.at.line = w->line;
		if (group == UINT32_MAX || *w->name == '\0') {
			conf_bad(&r->text.at,
			    "no port-group is named \"%.40s\": write one in the "
			    "section port-groups",
			    w->name);
			if (conf_note_bad(&r->text.at) != 0)
				return FM_E_CONFIG;
			continue;
		}
		if (w->is_source ? !fm_vec_push(&rule->sources, group)
				 : !fm_vec_push(&rule->dests, group))
			return conf_no_memory(&r->text.at);
	}
	return 0;
}

static int
resolve_levels(struct policy_reader *r)
{
	struct qos_policy *p = r->p;

	if (p->standard == UINT32_MAX)
		p->standard = p->simple;
	if (p->standard == UINT32_MAX) {
		r->text.at.line = r->text.lines.line > 0 ? r->text.lines.line : 1;
		return conf_bad(&r->text.at,
		    "a level is lacking for whatever no rule matches: a qos-level of the "
		    "name DEFAULT, or \"default : 0\" in qos-ulps");
	}
	for (size_t i = 0; i < p->rules.n; i++) {
		struct qos_rule *rule = &p->rules.item[i];

		rule->level = rule->level_name != NULL ? find_level(p, rule->level_name) : 0;
		r->text.at.line = rule->level_line;
		if (rule->level != UINT32_MAX)
			continue;
		conf_bad(&r->text.at,
		    "no qos-level is named \"%.40s\": write one in the section "
		    "qos-levels",
		    rule->level_name);
		if (conf_note_bad(&r->text.at) != 0)
			return FM_E_CONFIG;
	}
	for (size_t i = 0; i < p->levels.n; i++) {
		p->levels.item[i].pkeys = p->level_pkeys.item[i].of.item;
		p->levels.item[i].n_pkeys = (uint32_t)p->level_pkeys.item[i].of.n;
	}
	return 0;
}

int
qos_policy_parse(const char *path, const char *bytes, size_t n_bytes,
    const struct partitions *parts, const struct qos_policy **out, struct mistakes *all,
    struct fm_error *err)
{
	struct policy_reader r = { .parts = parts };
	size_t before = mistakes_count(all);
	struct fm_arena lines;
	int rc;

	fm_arena_init(&lines, SIZE_MAX);
	blocks_init(&r.text, path, bytes, n_bytes, &lines, all, err);
	r.p = calloc(1, sizeof(*r.p));
	if (r.p == NULL)
		return conf_no_memory(&r.text.at);
	fm_arena_init(&r.p->mem, SIZE_MAX);
	atomic_init(&r.p->refs, 1);
	r.p->standard = r.p->simple = UINT32_MAX;
	rc = read_sections(&r);
	fm_arena_fini(&lines);
	if (rc == 0 && (rc = resolve_groups(&r)) == 0)
		rc = resolve_levels(&r);
	fm_vec_fini(&r.wanted);
	if (rc == 0)
		*out = mistakes_count(all) == before ? r.p : NULL;
	if (rc != 0 || *out == NULL)
		qos_policy_put(r.p);
	return rc;
}
