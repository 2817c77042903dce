/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy.c - which level a path gets.
 *
 * Rules are few and looked at once a query, so they are walked from the first
 * to the last; a rule is a conjunction of sets.
 */
#include <string.h>

#include "core/subnet/qos_policy_internal.h"

const struct qos_policy *
qos_policy_get(const struct qos_policy *p)
{
	if (p != NULL)
		atomic_fetch_add(&((struct qos_policy *)p)->refs, 1);
	return p;
}

static void
free_rule(struct qos_rule *r)
{
	fm_vec_fini(&r->service_ids.of);
	fm_vec_fini(&r->classes.of);
	fm_vec_fini(&r->pkeys.of);
	fm_vec_fini(&r->sources);
	fm_vec_fini(&r->dests);
}

void
qos_policy_put(const struct qos_policy *borrowed)
{
	struct qos_policy *p = (struct qos_policy *)borrowed;

	if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	for (size_t i = 0; i < p->groups.n; i++) {
		fm_vec_fini(&p->groups.item[i].guids.of);
		fm_vec_fini(&p->groups.item[i].pkeys.of);
		fm_vec_fini(&p->groups.item[i].names);
	}
	for (size_t i = 0; i < p->level_pkeys.n; i++)
		fm_vec_fini(&p->level_pkeys.item[i].of);
	for (size_t i = 0; i < p->rules.n; i++)
		free_rule(&p->rules.item[i]);
	for (size_t i = 0; i < p->ulps.n; i++)
		free_rule(&p->ulps.item[i]);
	fm_vec_fini(&p->groups);
	fm_vec_fini(&p->levels);
	fm_vec_fini(&p->level_pkeys);
	fm_vec_fini(&p->rules);
	fm_vec_fini(&p->ulps);
	fm_arena_fini(&p->mem);
	free(p);
}

/* -------------------------------------------------------------- matching */

static bool
is_in(const struct qos_ranges *r, uint64_t v)
{
	for (size_t i = 0; i < r->of.n; i++)
		if (v >= r->of.item[i].from && v <= r->of.item[i].to)
			return true;
	return false;
}

static bool
has_one_of(const struct qos_ranges *pkeys, const struct pkey_list *keys)
{
	for (uint32_t i = 0; i < keys->n; i++)
		if (is_in(pkeys, keys->keys[i] & PKEY_BASE))
			return true;
	return false;
}

static bool
is_member(const struct qos_group *g, const struct qos_end *e)
{
	unsigned kinds = 1u << e->port.kind | (e->port.self ? QOS_KIND_SELF : 0);

	if ((g->kinds & kinds) != 0 || is_in(&g->guids, e->port.guid) ||
	    has_one_of(&g->pkeys, &e->keys))
		return true;
	for (size_t i = 0; e->desc != NULL && i < g->names.n; i++)
		if (g->names.item[i].number == e->number &&
		    strcmp(g->names.item[i].desc, e->desc) == 0)
			return true;
	return false;
}

static bool
is_in_groups(const struct qos_policy *p, const uint32_t *groups, size_t n, const struct qos_end *e)
{
	for (size_t i = 0; i < n; i++)
		if (is_member(&p->groups.item[groups[i]], e))
			return true;
	return n == 0;
}

static bool
matches(const struct qos_policy *p, const struct qos_rule *r, const struct qos_query *q)
{
	if (r->classes.of.n > 0 && !(q->has_qos_class && is_in(&r->classes, q->qos_class)))
		return false;
	if (r->service_ids.of.n > 0 &&
	    !(q->has_service_id && is_in(&r->service_ids, q->service_id)))
		return false;
	if (r->pkeys.of.n > 0 && !(q->has_pkey && is_in(&r->pkeys, q->pkey & PKEY_BASE)))
		return false;
	return is_in_groups(p, r->sources.item, r->sources.n, q->source) &&
	    is_in_groups(p, r->dests.item, r->dests.n, q->dest);
}

const struct qos_level *
qos_policy_match(const struct qos_policy *p, const struct qos_query *q)
{
	for (size_t i = 0; i < p->rules.n; i++)
		if (matches(p, &p->rules.item[i], q))
			return &p->levels.item[p->rules.item[i].level];
	for (size_t i = 0; i < p->ulps.n; i++)
		if (matches(p, &p->ulps.item[i], q))
			return &p->levels.item[p->ulps.item[i].level];
	return &p->levels.item[p->standard];
}

bool
qos_level_allows(const struct qos_level *l, uint16_t pkey)
{
	pkey &= PKEY_BASE;
	for (uint32_t i = 0; i < l->n_pkeys; i++)
		if (pkey >= l->pkeys[i].from && pkey <= l->pkeys[i].to)
			return true;
	return l->n_pkeys == 0;
}

static bool
is_by_pkey(const struct qos_rule *r, uint16_t pkey)
{
	return r->classes.of.n == 0 && r->service_ids.of.n == 0 && r->sources.n == 0 &&
	    r->dests.n == 0 && is_in(&r->pkeys, pkey & PKEY_BASE);
}

bool
qos_policy_partition_sl(const struct qos_policy *p, uint16_t pkey, uint8_t *sl)
{
	for (size_t i = 0; i < p->rules.n + p->ulps.n; i++) {
		const struct qos_rule *r =
		    i < p->rules.n ? &p->rules.item[i] : &p->ulps.item[i - p->rules.n];
		const struct qos_level *l = &p->levels.item[r->level];

		if (!is_by_pkey(r, pkey) || !l->has_sl)
			continue;
		*sl = l->sl;
		return true;
	}
	return false;
}

const struct qos_level *
qos_policy_levels(const struct qos_policy *p, size_t *n)
{
	*n = p->levels.n;
	return p->levels.item;
}

size_t
qos_policy_n_rules(const struct qos_policy *p)
{
	return p->rules.n + p->ulps.n;
}
