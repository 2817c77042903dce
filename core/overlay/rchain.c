/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topologies and steps, and what of them hangs together: every name and number
 * is looked up while its line is at hand.
 */
#include "core/overlay/rchain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/overlay/rchain_groups.h"
#include "core/text/blocks.h"
#include "lib/bitset.h"
#include "lib/log.h"

#define ID_MAX 65535
#define PATH_BIT_MAX 127 /* LMC 7 */

/* A number of key k, 0 when it is not there and may be absent. */
static int
read_number(struct rchain_reading *r, const struct block_form *form, const struct block *b, int k,
    uint32_t min, uint32_t max, uint32_t *value)
{
	const char *text = b->value[k];
	unsigned long long n;
	char *end;

	if (text == NULL)
		return conf_fail_at(r->err, r->path, b->line, "this %s has no %s", form->word,
		    block_key(form, (unsigned)k));
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n < min || n > max)
		return conf_fail_at(r->err, r->path, b->value_line[k],
		    "%s: %.40s: a number in %" PRIu32 "..%" PRIu32 " is right",
		    block_key(form, (unsigned)k), text, min, max);
	*value = (uint32_t)n;
	return 0;
}

/* ---------------------------------------------------------------- topologies */

enum { TOPO_ID, TOPO_SWITCHES, TOPO_HOSTS };
static const char *const topology_keys[] = { "id", "sw-grp", "hca-grp", NULL };
static const struct block_form topology_form = { "topology", topology_keys,
	sizeof(*topology_keys) };

static int
read_group_name(struct rchain_reading *r, const struct block *b, int k, uint32_t *group)
{
	if (b->value[k] == NULL)
		return conf_fail_at(
		    r->err, r->path, b->line, "this topology has no %s", topology_keys[k]);
	*group = rchain_find_group(r->rc, b->value[k]);
	return *group != FM_NONE || r->lacks ? 0
					     : conf_fail_at(r->err, r->path, b->value_line[k],
						   "%s: there is no port-group %.60s: "
						   "pgrp_policy_file has them",
						   topology_keys[k], b->value[k]);
}

static uint32_t
find_topology(const struct rchain *rc, uint32_t id)
{
	for (size_t i = 0; i < rc->topologies.n; i++)
		if (rc->topologies.item[i].id == id)
			return (uint32_t)i;
	return FM_NONE;
}

static int
read_topology(struct rchain_reading *r, const struct block *b)
{
	struct rchain_topology t;
	int rc = read_number(r, &topology_form, b, TOPO_ID, 1, ID_MAX, &t.id);

	if (rc != 0 || (rc = read_group_name(r, b, TOPO_SWITCHES, &t.switches)) != 0 ||
	    (rc = read_group_name(r, b, TOPO_HOSTS, &t.hosts)) != 0)
		return rc;
	if (find_topology(r->rc, t.id) != FM_NONE)
		return conf_fail_at(r->err, r->path, b->value_line[TOPO_ID],
		    "there is a topology %" PRIu32 " already", t.id);
	return fm_vec_push(&r->rc->topologies, t) ? 0 : rchain_no_memory(r->err);
}

static int
read_topologies(struct rchain *chain, const struct fm_file *file, bool lacks, struct mistakes *all,
    struct fm_error *err)
{
	struct rchain_topology whole = { .switches = rchain_find_group(chain, "ALL_SWITCHES"),
		.hosts = rchain_find_group(chain, "ALL_CAS") };
	struct rchain_reading r = { chain, file->path, all, lacks, err };
	struct block b;
	struct blocks t;
	int rc;

	if (!fm_vec_push(&chain->topologies, whole))
		return rchain_no_memory(err);
	if (file->path == NULL)
		return 0;
	blocks_init(&t, file->path, file->bytes, file->n_bytes, chain->mem, all, err);
	while ((rc = blocks_read(&t, &topology_form, &b)) > 0)
		if (read_topology(&r, &b) != 0 && (rc = mistakes_note(all, err)) != 0)
			return rc;
	return rc;
}

/* --------------------------------------------------------------------- steps */

enum { STEP_ID, STEP_ENGINE, STEP_USE, STEP_CONFIG, STEP_TOPOLOGY, STEP_FALLBACK, STEP_PATH_BIT };
static const char *const step_keys[] = { "id", "engine", "use", "config", "topology", "fallback-to",
	"path-bit", NULL };
static const struct block_form step_form = { "unicast-step", step_keys, sizeof(*step_keys) };

/* fallback_to holds an id until all steps are read. */
static int
read_step(struct rchain_reading *r, const struct block *b)
{
	struct rchain_step s = { .line = b->line,
		.engine = b->value[STEP_ENGINE],
		.config = b->value[STEP_CONFIG],
		.config_line = b->value_line[STEP_CONFIG],
		.fallback_to = FM_NONE };
	uint32_t topology = 0, path_bit = 0;
	int rc = read_number(r, &step_form, b, STEP_ID, 1, ID_MAX, &s.id);

	if (rc == 0 && s.engine == NULL)
		rc = conf_fail_at(r->err, r->path, b->line,
		    "this unicast-step has no engine: engine: updn is right");
	if (rc == 0 && b->value[STEP_TOPOLOGY] != NULL)
		rc = read_number(r, &step_form, b, STEP_TOPOLOGY, 0, ID_MAX, &topology);
	if (rc == 0 && b->value[STEP_FALLBACK] != NULL)
		rc = read_number(r, &step_form, b, STEP_FALLBACK, 1, ID_MAX, &s.fallback_to);
	if (rc == 0 && b->value[STEP_PATH_BIT] != NULL)
		rc = read_number(r, &step_form, b, STEP_PATH_BIT, 0, PATH_BIT_MAX, &path_bit);
	if (rc != 0)
		return rc;
	s.path_bit = (uint8_t)path_bit;
	s.topology = find_topology(r->rc, topology);
	if (s.topology == FM_NONE && !r->lacks)
		return conf_fail_at(r->err, r->path, b->value_line[STEP_TOPOLOGY],
		    "there is no topology %" PRIu32, topology);
	for (size_t i = 0; i < r->rc->steps.n; i++)
		if (r->rc->steps.item[i].id == s.id)
			return conf_fail_at(r->err, r->path, b->value_line[STEP_ID],
			    "there is a step %" PRIu32 " already, in line %u", s.id,
			    r->rc->steps.item[i].line);
	return fm_vec_push(&r->rc->steps, s) ? 0 : rchain_no_memory(r->err);
}

static int
by_id(const void *a, const void *b)
{
	const struct rchain_step *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const struct rchain_step *
find_step(const struct rchain *rc, uint32_t id)
{
	for (size_t i = 0; i < rc->steps.n; i++)
		if (rc->steps.item[i].id == id)
			return &rc->steps.item[i];
	return NULL;
}

/* Why a fallback can never run, or NULL. */
static const char *
useless(const struct rchain *rc, const struct rchain_step *s)
{
	const struct rchain_step *to;

	if (s->fallback_to == FM_NONE)
		return NULL;
	to = find_step(rc, s->fallback_to);
	if (to == NULL)
		return "there is no such step";
	if (to->fallback_to != FM_NONE)
		return "that step is a fallback itself";
	return to->id >= s->id ? "that step does not run before this one" : NULL;
}

/* Take out what never runs, and say from then on who falls back by index. */
static void
settle_fallbacks(struct rchain *rc)
{
	size_t n = 0;
	uint8_t drop[ID_MAX / 8 + 1] = { 0 };

	for (size_t i = 0; i < rc->steps.n; i++) {
		const struct rchain_step *s = &rc->steps.item[i];
		const char *why = useless(rc, s);

		if (why == NULL)
			continue;
		log_warn("conf", "%s:%u: step %" PRIu32 " is left out: fallback-to %" PRIu32 ": %s",
		    rc->path, s->line, s->id, s->fallback_to, why);
		drop[s->id / 8] |= (uint8_t)(1 << s->id % 8);
	}
	for (size_t i = 0; i < rc->steps.n; i++)
		if (!(drop[rc->steps.item[i].id / 8] >> rc->steps.item[i].id % 8 & 1))
			rc->steps.item[n++] = rc->steps.item[i];
	rc->steps.n = n;
	for (size_t i = 0; i < n; i++)
		if (rc->steps.item[i].fallback_to != FM_NONE)
			rc->steps.item[i].fallback_to =
			    (uint32_t)(find_step(rc, rc->steps.item[i].fallback_to) -
				rc->steps.item);
}

static int
read_steps(struct rchain *chain, const struct fm_file *file, bool lacks, struct mistakes *all,
    struct fm_error *err)
{
	struct rchain_reading r = { chain, file->path, all, lacks, err };
	size_t before = mistakes_count(all);
	const struct rchain_step *first;
	struct block b;
	struct blocks t;
	int rc;

	if (file->path == NULL)
		return 0;
	blocks_init(&t, file->path, file->bytes, file->n_bytes, chain->mem, all, err);
	while ((rc = blocks_read(&t, &step_form, &b)) > 0)
		if (read_step(&r, &b) != 0 && (rc = mistakes_note(all, err)) != 0)
			return rc;
	if (rc < 0 || lacks || mistakes_count(all) > before)
		return rc;
	if (chain->steps.n == 0)
		return conf_fail_at(err, file->path, t.lines.line > 0 ? t.lines.line : 1,
		    "there is no unicast-step: one of id: 1 with an engine is needed");
	qsort(chain->steps.item, chain->steps.n, sizeof(*chain->steps.item), by_id);
	settle_fallbacks(chain);
	first = &chain->steps.item[0];
	if (first->topology != 0 || first->path_bit != 0 || first->fallback_to != FM_NONE)
		return conf_fail_at(err, file->path, first->line,
		    "the first step, %" PRIu32 ", has topology 0 and path-bit 0, so that every "
		    "entry has a value",
		    first->id);
	return 0;
}

int
rchain_read(struct rchain *chain, const struct rchain_files *files, struct fm_arena *mem,
    struct mistakes *all, struct fm_error *err)
{
	size_t before = mistakes_count(all);
	int rc;

	*chain = (struct rchain){ .path = files->steps.path, .mem = mem };
	rc = rchain_read_groups(chain, &files->groups, all, err);
	if (rc == 0)
		rc = read_topologies(
		    chain, &files->topologies, mistakes_count(all) > before, all, err);
	if (rc == 0)
		rc = read_steps(chain, &files->steps, mistakes_count(all) > before, all, err);
	return rc;
}

void
rchain_fini(struct rchain *rc)
{
	for (size_t i = 0; i < rc->groups.n; i++) {
		struct rchain_group *g = &rc->groups.item[i];

		fm_vec_fini(&g->guids);
		fm_vec_fini(&g->names);
		if (g->rule == RULE_REGEXP)
			regexp_free(g->regexp);
	}
	fm_vec_fini(&rc->groups);
	fm_vec_fini(&rc->topologies);
	fm_vec_fini(&rc->steps);
}

int
rchain_members(const struct rchain *rc, uint32_t topology, const struct snapshot *snap,
    uint64_t *sw, uint64_t *end, struct fm_error *err)
{
	const struct rchain_topology *t = &rc->topologies.item[topology];
	size_t n_sw = FM_BITSET_WORDS(snap->fab.n_switches),
	       n_end = FM_BITSET_WORDS(snap->fab.n_ends);
	uint64_t *no_sw = calloc(n_sw + 1, sizeof(*no_sw));
	uint64_t *no_end = calloc(n_end + 1, sizeof(*no_end));
	int code;

	if (no_sw == NULL || no_end == NULL)
		code = rchain_no_memory(err);
	else if ((code = rchain_group_members(rc, t->switches, snap, sw, no_end, err)) == 0)
		code = rchain_group_members(rc, t->hosts, snap, no_sw, end, err);
	free(no_sw);
	free(no_end);
	return code;
}
