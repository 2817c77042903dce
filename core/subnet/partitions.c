/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions.c - which keys a port has.
 *
 * Rules name ports by GUID or by a word (ALL, ALL_CAS, SELF, ...).  Of all
 * rules of a partition that name a port the last one counts, as in OpenSM with
 * allow_both_pkeys and without.  So a partition keeps one rule a word, and one
 * a GUID: rules by GUID of all partitions are one sorted array, in which a
 * port finds its own by bisection.
 *
 *	defs   [0x0001 words] [0x0002 words] ... [0x7fff words]	by P_Key
 *	guids  (guid, def, rule) (guid, def, rule) ...		by GUID, then def
 *
 * A partition of part_options.more has no rules: a port says that it is a member
 * of it (part_port.more).
 *
 * In the default partition whom no rule names is limited member, or full when
 * there is no file; the SM's own port is full member whatever is written
 * (everybody must reach it).
 */
#include "core/subnet/partitions_internal.h"

#include <inttypes.h>

#include "lib/algo/search.h"
#include "lib/hash.h"
#include "lib/log.h"

#define TOLD_MAX 8 /* ports named in warnings of one kind */

struct partitions *
partitions_new(uint8_t others)
{
	struct partitions *p = calloc(1, sizeof(*p));
	struct part_def def = { .part = { .name = "Default", .pkey = PKEY_DEFAULT } };

	if (p == NULL)
		return NULL;
	fm_arena_init(&p->mem, SIZE_MAX);
	atomic_init(&p->refs, 1);
	p->others = others;
	if (fm_vec_push(&p->defs, def))
		return p;
	partitions_put(p);
	return NULL;
}

const struct partitions *
partitions_get(const struct partitions *p)
{
	atomic_fetch_add(&((struct partitions *)p)->refs, 1);
	return p;
}

void
partitions_put(const struct partitions *borrowed)
{
	struct partitions *p = (struct partitions *)borrowed;

	if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	fm_vec_fini(&p->defs);
	fm_vec_fini(&p->guids);
	fm_vec_fini(&p->groups);
	fm_arena_fini(&p->mem);
	free(p);
}

/* --------------------------------------------------------------- sealing */

struct key_at {
	uint16_t pkey;
	uint32_t at;
};

static int
by_key(const void *a, const void *b)
{
	return ((const struct key_at *)a)->pkey - ((const struct key_at *)b)->pkey;
}

static int
by_guid(const void *a, const void *b)
{
	const struct part_guid_rule *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->def != y->def)
		return x->def < y->def ? -1 : 1;
	return x->rule.seq < y->rule.seq ? -1 : x->rule.seq > y->rule.seq;
}

static struct part_rule
later(struct part_rule a, struct part_rule b)
{
	return b.seq > a.seq ? b : a;
}

static bool
sort_defs(struct partitions *p)
{
	size_t n = p->defs.n;
	struct key_at *order = fm_arena_array(&p->mem, n, struct key_at);
	struct part_def *sorted = fm_arena_array(&p->mem, n, struct part_def);
	uint32_t *place = fm_arena_array(&p->mem, n, uint32_t);

	p->list = fm_arena_array(&p->mem, n, struct partition);
	if (order == NULL || sorted == NULL || place == NULL || p->list == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct key_at){ p->defs.item[i].part.pkey, (uint32_t)i };
	qsort(order, n, sizeof(*order), by_key);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = p->defs.item[order[i].at];
		place[order[i].at] = (uint32_t)i;
		p->list[i] = sorted[i].part;
	}
	memcpy(p->defs.item, sorted, n * sizeof(*sorted));
	for (size_t i = 0; i < p->guids.n; i++)
		p->guids.item[i].def = place[p->guids.item[i].def];
	return true;
}

static const char *
member_word(uint8_t member)
{
	return member == PART_BOTH ? "full and limited" : member == PART_FULL ? "full" : "limited";
}

/* Of one port two memberships stand there, and the last one counts: few of them are told. */
static void
warn_of_two(const struct partitions *p, const struct part_guid_rule *a,
    const struct part_guid_rule *b, uint32_t *n_told)
{
	if (a->rule.member == b->rule.member || (*n_told)++ >= TOLD_MAX)
		return;
	log_warn("partitions",
	    "port 0x%016" PRIx64 " is a %s member of partition 0x%04x by line %u and a %s one by "
	    "line %u: the last one counts",
	    a->guid, member_word(a->rule.member), p->defs.item[a->def].part.pkey, a->rule.line,
	    member_word(b->rule.member), b->rule.line);
}

static void
sort_guids(struct partitions *p)
{
	uint32_t n_told = 0;
	size_t n = 0;

	if (p->guids.n == 0)
		return;
	qsort(p->guids.item, p->guids.n, sizeof(p->guids.item[0]), by_guid);
	for (size_t i = 1; i < p->guids.n; i++) {
		struct part_guid_rule *last = &p->guids.item[n], *r = &p->guids.item[i];

		if (r->guid == last->guid && r->def == last->def) {
			warn_of_two(p, last, r, &n_told);
			last->rule = r->rule;
		} else {
			p->guids.item[++n] = *r;
		}
	}
	p->guids.n = n + 1;
}

static uint64_t
mix(uint64_t mark, uint64_t value)
{
	return fm_mix64(mark ^ value) * 3;
}

static uint64_t
mark_groups(const struct partitions *p, uint64_t mark)
{
	for (size_t i = 0; i < p->groups.n; i++) {
		const struct part_group *g = &p->groups.item[i];

		mark = fm_hash_bytes(mark, g->mgid, sizeof(g->mgid));
		mark = mix(mark, (uint64_t)g->qkey << 32 | g->flow_label);
		mark = mix(mark,
		    (uint64_t)g->pkey << 48 | (uint64_t)g->mtu << 32 | (uint64_t)g->rate << 24 |
			(uint64_t)g->sl << 16 | (uint64_t)g->tclass << 8 | g->scope);
	}
	return mark;
}

static uint64_t
make_mark(const struct partitions *p)
{
	uint64_t mark = mix(p->others, 0);

	for (size_t i = 0; i < p->defs.n; i++) {
		const struct part_def *d = &p->defs.item[i];

		mark = mix(mark,
		    (uint64_t)d->part.pkey << 16 | (uint64_t)d->part.sl << 8 |
			(uint64_t)d->part.ipoib << 1 | d->part.index0);
		mark = mix(mark,
		    d->members_mark ^
			((uint64_t)d->part.sl_is_firm << 16 | (uint64_t)d->part.mtu << 8 |
			    d->part.rate));
		for (unsigned w = 0; w < N_PART_WORDS; w++)
			mark = mix(mark, (uint64_t)d->word[w].seq << 8 | d->word[w].member);
	}
	for (size_t i = 0; i < p->guids.n; i++) {
		const struct part_guid_rule *r = &p->guids.item[i];

		mark = mix(mark, r->guid);
		mark =
		    mix(mark, (uint64_t)r->def << 40 | (uint64_t)r->rule.seq << 8 | r->rule.member);
	}
	return mark_groups(p, mark);
}

bool
partitions_seal(struct partitions *p)
{
	if (!sort_defs(p))
		return false;
	sort_guids(p);
	p->mark = make_mark(p);
	return true;
}

/* ------------------------------------------------------------ membership */

/* The first rule of this GUID. */
static size_t
first_of(const struct partitions *p, uint64_t guid)
{
	size_t at;

	fm_lower_bound(at, p->guids.n, i, p->guids.item[i].guid < guid);
	return at;
}

static uint8_t
member_of(const struct partitions *p, const struct part_def *d, const struct part_port *port,
    const struct part_rule *by_its_guid)
{
	static const enum part_word of_kind[] = { [PART_CA] = WORD_ALL_CAS,
		[PART_SWITCH] = WORD_ALL_SWITCHES,
		[PART_ROUTER] = WORD_ALL_ROUTERS };
	struct part_rule last = later(d->word[WORD_ALL], d->word[of_kind[port->kind]]);

	if (port->self)
		last = later(last, d->word[WORD_SELF]);
	if (by_its_guid != NULL)
		last = later(last, *by_its_guid);
	if (d->part.pkey != PKEY_DEFAULT)
		return last.member;
	if (port->self)
		return last.member == PART_BOTH ? PART_BOTH : PART_FULL;
	return last.member != 0 ? last.member : p->others;
}

/* What the port says of a partition, at its keys from *at on, which moves behind them. */
static uint8_t
more_of(const struct part_port *port, uint16_t pkey, uint32_t *at)
{
	uint8_t member = 0;

	while (*at < port->n_more && (port->more[*at] & PKEY_BASE) < pkey)
		(*at)++;
	for (; *at < port->n_more && (port->more[*at] & PKEY_BASE) == pkey; (*at)++)
		member |= port->more[*at] & PKEY_FULL ? PART_FULL : PART_LIMITED;
	return member & PART_FULL ? PART_FULL : member;
}

size_t
partitions_keys(
    const struct partitions *p, const struct part_port *port, uint16_t *keys, size_t room)
{
	size_t at = first_of(p, port->guid), n = 0;
	uint32_t at_more = 0;

	for (size_t i = 0; i < p->defs.n; i++) {
		const struct part_guid_rule *r = at < p->guids.n ? &p->guids.item[at] : NULL;
		bool names = r != NULL && r->guid == port->guid && r->def == i;
		uint8_t member = member_of(p, &p->defs.item[i], port, names ? &r->rule : NULL);
		uint16_t pkey = p->defs.item[i].part.pkey;
		uint8_t more = more_of(port, pkey, &at_more);

		if (more == PART_FULL || member == 0)
			member = more;
		at += names;
		if (member & PART_FULL && n++ < room)
			keys[n - 1] = pkey | PKEY_FULL;
		if (member & PART_LIMITED && n++ < room)
			keys[n - 1] = pkey;
	}
	return n < room ? n : room;
}

void
partitions_set_sl(const struct partitions *borrowed, uint16_t pkey, uint8_t sl)
{
	struct partitions *p = (struct partitions *)borrowed;

	for (size_t i = 0; i < p->defs.n; i++)
		if (p->list[i].pkey == (pkey & PKEY_BASE))
			p->list[i].sl = p->defs.item[i].part.sl = sl;
	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.item[i].broadcast &&
		    (p->groups.item[i].pkey & PKEY_BASE) == (pkey & PKEY_BASE))
			p->groups.item[i].sl = sl;
	p->mark = make_mark(p);
}

/* ---------------------------------------------------------------- asking */

const struct partition *
partitions_list(const struct partitions *p, size_t *n)
{
	*n = p->defs.n;
	return p->list;
}

const struct partition *
partitions_find(const struct partitions *p, uint16_t pkey)
{
	size_t at;

	pkey &= PKEY_BASE;
	fm_lower_bound(at, p->defs.n, i, p->list[i].pkey < pkey);
	return at < p->defs.n && p->list[at].pkey == pkey ? &p->list[at] : NULL;
}

const struct partition *
partitions_named(const struct partitions *p, const char *name)
{
	for (size_t i = 0; i < p->defs.n; i++)
		if (strcmp(p->list[i].name, name) == 0)
			return &p->list[i];
	return NULL;
}

const struct part_group *
partitions_groups(const struct partitions *p, size_t *n)
{
	*n = p->groups.n;
	return p->groups.item;
}

bool
partitions_open(const struct partitions *p)
{
	return p->others == PART_FULL;
}

bool
partitions_limit_paths(const struct partitions *p)
{
	for (size_t i = 0; i < p->defs.n; i++)
		if (p->list[i].mtu != 0 || p->list[i].rate != 0)
			return true;
	return false;
}

uint64_t
partitions_mark(const struct partitions *p)
{
	return p->mark;
}

bool
partitions_named_port(
    const struct partitions *p, size_t i, uint64_t *guid, uint16_t *pkey, unsigned *line)
{
	if (i >= p->guids.n)
		return false;
	*guid = p->guids.item[i].guid;
	*pkey = p->list[p->guids.item[i].def].pkey;
	*line = p->guids.item[i].rule.line;
	return true;
}
