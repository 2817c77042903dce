/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups by MGID, members by port.
 *
 *	group --> members (a vector, and port -> index)
 *
 * What happens is noted as events; nothing else leaves this file.
 */
#include <stdlib.h>
#include <string.h>

#include "core/registry/groups_internal.h"

#define EVENTS_MAX 65536 /* not taken by then: groups_lost() */

void
groups_settings_default(struct groups_settings *s)
{
	*s = (struct groups_settings){ .gid_prefix = UINT64_C(0xfe80000000000000),
		.last_mlid = GROUPS_FIRST_MLID + 1023,
		.life = 0x12,
		.share = GROUPS_SHARE_SOME,
		.share_mlids = 64,
		.share_when_full = true,
		.max_joins = 4096,
		.max_groups = 65536 };
}

struct groups *
groups_new(const struct groups_settings *s)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (g != NULL)
		g->set = *s;
	return g;
}

void
groups_configure(struct groups *g, const struct groups_settings *s)
{
	g->set = *s;
}

static void
group_free(struct group *m)
{
	fm_vec_fini(&m->members);
	fm_hash_fini(&m->of_port);
	free(m);
}

void
groups_free(struct groups *g)
{
	if (g == NULL)
		return;
	for (size_t i = 0; i < g->all.n; i++)
		group_free(g->all.item[i]);
	fm_vec_fini(&g->all);
	fm_hash_fini(&g->by_mgid);
	fm_hash_fini(&g->joins);
	fm_hash_fini(&g->takes);
	fm_vec_fini(&g->events);
	free(g);
}

/* ------------------------------------------------------------------- events */

static void
note(struct groups *g, enum group_event_kind kind, const struct group *m, uint64_t port,
    unsigned state)
{
	struct group_event e = { .kind = kind,
		.mgid = m->rec.mgid,
		.mlid = m->rec.mlid,
		.sl = m->rec.sl,
		.state = (uint8_t)state,
		.port = port };

	if (g->events.n - g->n_taken >= EVENTS_MAX || !fm_vec_push(&g->events, e))
		g->lost = true;
}

bool
groups_next_event(struct groups *g, struct group_event *e)
{
	if (g->n_taken == g->events.n) {
		g->events.n = g->n_taken = 0;
		return false;
	}
	*e = g->events.item[g->n_taken++];
	return true;
}

bool
groups_lost(struct groups *g)
{
	bool lost = g->lost;

	g->lost = false;
	return lost;
}

/* What the port is in all groups of the MLID. */
static void
note_port(struct groups *g, const struct group *of, uint64_t port)
{
	unsigned state = 0;

	for (const struct group *m = g->on_mlid[of->rec.mlid - GROUPS_FIRST_MLID]; m != NULL;
	     m = m->next_mlid) {
		const struct group_member *k = groups_member_of(m, port);

		state |= k != NULL ? k->state : 0;
	}
	note(g, GROUP_MEMBER, of, port, state);
}

/* -------------------------------------------------------------------- MGIDs */

static uint64_t
mgid_key(struct sa_gid id)
{
	return fm_mix64(id.prefix) ^ (id.guid * UINT64_C(0x9e3779b97f4a7c15));
}

static bool
same_gid(struct sa_gid a, struct sa_gid b)
{
	return a.prefix == b.prefix && a.guid == b.guid;
}

static struct group *
first_of_key(const struct groups *g, uint64_t key)
{
	uint32_t i = fm_hash_find(&g->by_mgid, key);

	return i == FM_HASH_NONE ? NULL : g->all.item[i];
}

struct group *
groups_by_mgid(const struct groups *g, struct sa_gid mgid)
{
	struct group *m = first_of_key(g, mgid_key(mgid));

	while (m != NULL && !same_gid(m->rec.mgid, mgid))
		m = m->next_key;
	return m;
}

struct group_member *
groups_member_of(const struct group *m, uint64_t port)
{
	uint32_t i = fm_hash_find(&m->of_port, port);

	return i == FM_HASH_NONE ? NULL : &m->members.item[i];
}

static bool
enlist(struct groups *g, struct group *m)
{
	uint64_t key = mgid_key(m->rec.mgid);

	m->next_key = first_of_key(g, key);
	m->at = (uint32_t)g->all.n;
	if (!fm_vec_push(&g->all, m))
		return false;
	if (fm_hash_put(&g->by_mgid, key, m->at))
		return true;
	g->all.n--;
	return false;
}

static void
delist(struct groups *g, struct group *m)
{
	uint64_t key = mgid_key(m->rec.mgid);
	struct group *first = first_of_key(g, key), *last;

	if (first != m) {
		while (first->next_key != m)
			first = first->next_key;
		first->next_key = m->next_key;
	} else if (m->next_key != NULL) {
		fm_hash_put(&g->by_mgid, key, m->next_key->at); /* in its place */
	} else {
		fm_hash_remove(&g->by_mgid, key);
	}
	last = g->all.item[--g->all.n];
	if (last == m)
		return;
	g->all.item[m->at] = last;
	key = mgid_key(last->rec.mgid);
	if (fm_hash_find(&g->by_mgid, key) == last->at)
		fm_hash_put(&g->by_mgid, key, m->at);
	last->at = m->at;
}

/* --------------------------------------------------------- groups and members */

struct group *
groups_make(
    struct groups *g, const struct sa_mc_member_record *rec, uint64_t requester, uint16_t *status)
{
	struct group *m = NULL;
	uint16_t mlid = groups_choose_mlid(g, rec, requester);

	*status = SA_NO_RESOURCES;
	if (mlid == 0 || g->all.n >= g->set.max_groups || (m = calloc(1, sizeof(*m))) == NULL)
		return NULL;
	m->rec = *rec;
	m->rec.mlid = mlid;
	m->rec.mtu_selector = m->rec.rate_selector = m->rec.life_selector = SA_EXACTLY;
	m->rec.port_gid = (struct sa_gid){ 0 };
	m->rec.join_state = m->rec.proxy_join = 0;
	if (!enlist(g, m)) {
		free(m);
		return NULL;
	}
	groups_take_mlid(g, m, requester);
	note(g, GROUP_BORN, m, 0, 0);
	*status = SA_OK;
	return m;
}

static void
count_join(struct groups *g, uint64_t requester, int by)
{
	if (!groups_tally(&g->joins, requester, by))
		g->lost = true; /* an uncounted one: better than a join refused */
}

bool
groups_put_member(struct groups *g, struct group *m, const struct group_member *k)
{
	struct group_member *old = groups_member_of(m, k->port);

	if (old == NULL) {
		if (!fm_vec_push(&m->members, *k))
			return false;
		if (!fm_hash_put(&m->of_port, k->port, (uint32_t)m->members.n - 1)) {
			m->members.n--;
			return false;
		}
		m->n_keepers += (k->state & JOIN_KEEPS) != 0;
		count_join(g, k->requester, 1);
	} else {
		m->n_keepers += (k->state & JOIN_KEEPS) && !(old->state & JOIN_KEEPS);
		old->state |= k->state;
		old->gid = k->gid;
	}
	note_port(g, m, k->port);
	note(g, GROUP_STORED, m, k->port, 0);
	return true;
}

static void
remove_member(struct groups *g, struct group *m, uint64_t port)
{
	uint32_t i = fm_hash_find(&m->of_port, port);

	count_join(g, m->members.item[i].requester, -1);
	fm_hash_remove(&m->of_port, port);
	m->members.item[i] = m->members.item[--m->members.n];
	if (i < m->members.n)
		fm_hash_put(&m->of_port, m->members.item[i].port, i); /* in its place */
	note_port(g, m, port);
	note(g, GROUP_GONE, m, port, 0);
}

bool
groups_bury(struct groups *g, struct group *m)
{
	if (m->kept || m->n_keepers > 0)
		return false;
	while (m->members.n > 0)
		remove_member(g, m, m->members.item[m->members.n - 1].port);
	note(g, GROUP_GONE, m, 0, 0);
	note(g, GROUP_DEAD, m, 0, 0);
	groups_give_mlid_back(g, m);
	delist(g, m);
	group_free(m);
	return true;
}

bool
groups_take_member(struct groups *g, struct group *m, uint64_t port, unsigned bits)
{
	struct group_member *k = groups_member_of(m, port);
	bool kept = (k->state & JOIN_KEEPS) != 0;

	k->state &= (uint8_t)~bits;
	m->n_keepers -= kept && !(k->state & JOIN_KEEPS);
	if (k->state == 0) {
		remove_member(g, m, port);
	} else {
		note_port(g, m, port);
		note(g, GROUP_STORED, m, port, 0);
	}
	return groups_bury(g, m);
}

uint32_t
groups_drop_port(struct groups *g, uint64_t port)
{
	uint32_t n = 0;

	for (size_t i = g->all.n; i-- > 0;) {
		struct group *m = g->all.item[i];

		if (groups_member_of(m, port) == NULL)
			continue;
		n++;
		groups_take_member(g, m, port, JOIN_ALL);
	}
	return n;
}

/* ------------------------------------------------------------------ kept groups */

static bool
is_among(const struct sa_mc_member_record *list, uint32_t n, struct sa_gid mgid)
{
	for (uint32_t i = 0; i < n; i++)
		if (same_gid(list[i].mgid, mgid))
			return true;
	return false;
}

bool
groups_keep(struct groups *g, const struct sa_mc_member_record *kept, uint32_t n)
{
	bool ok = true;
	uint16_t status;

	for (size_t i = g->all.n; i-- > 0;) {
		struct group *m = g->all.item[i];

		if (!m->kept || is_among(kept, n, m->rec.mgid))
			continue;
		m->kept = false;
		groups_bury(g, m);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct group *m = groups_by_mgid(g, kept[i].mgid);

		if (m == NULL)
			m = groups_make(g, &kept[i], 0, &status);
		if (m != NULL)
			m->kept = true;
		else
			ok = false;
	}
	return ok;
}

bool
groups_restore(struct groups *g, const struct sa_mc_member_record *r, uint64_t port,
    uint64_t requester, bool kept)
{
	struct group *m = groups_by_mgid(g, r->mgid);
	struct group_member k = { .gid = r->port_gid,
		.port = port,
		.requester = requester,
		.state = r->join_state & JOIN_ALL,
		.proxy = r->proxy_join };
	uint16_t status;

	if (m == NULL)
		m = groups_make(g, r, 0, &status);
	if (m == NULL)
		return false;
	m->kept = m->kept || kept;
	if (k.state != 0 && !m->kept) /* by one of its members, as good as any */
		groups_charge_mlid(g, m->rec.mlid - GROUPS_FIRST_MLID, requester);
	return k.state == 0 || groups_put_member(g, m, &k);
}

/* ------------------------------------------------------------------ to look at */

uint32_t
groups_count(const struct groups *g)
{
	return (uint32_t)g->all.n;
}

struct sa_mc_member_record
groups_record(const struct groups *g, uint32_t i)
{
	return g->all.item[i]->rec;
}

bool
groups_is_kept(const struct groups *g, uint32_t i)
{
	return g->all.item[i]->kept;
}

uint32_t
groups_n_members(const struct groups *g, uint32_t i)
{
	return (uint32_t)g->all.item[i]->members.n;
}

struct sa_mc_member_record
groups_member(const struct groups *g, uint32_t i, uint32_t k, uint64_t *port, uint64_t *requester)
{
	const struct group_member *m = &g->all.item[i]->members.item[k];
	struct sa_mc_member_record r = g->all.item[i]->rec;

	r.port_gid = m->gid;
	r.join_state = m->state;
	r.proxy_join = m->proxy;
	*port = m->port;
	*requester = m->requester;
	return r;
}

uint32_t
groups_find(const struct groups *g, struct sa_gid mgid)
{
	const struct group *m = groups_by_mgid(g, mgid);

	return m == NULL ? UINT32_MAX : m->at;
}

uint32_t
groups_find_member(const struct groups *g, uint32_t i, uint64_t port)
{
	uint32_t k = fm_hash_find(&g->all.item[i]->of_port, port);

	return k == FM_HASH_NONE ? UINT32_MAX : k;
}

uint32_t
groups_n_mlids(const struct groups *g)
{
	return g->n_mlids;
}

uint32_t
groups_n_joins(const struct groups *g, uint64_t requester)
{
	return groups_tally_of(&g->joins, requester);
}
