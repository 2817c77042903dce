/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscriptions: who wants to be told of what.  One is the same as another when
 * everything but the response time is.
 */
#include "core/registry/registry_internal.h"
#include "lib/bitset.h"

#define LID_ALL 0xffff
#define NO_NUMBER 0x10000u

static bool
is_same(const struct subscription *s, const struct sa_inform_info *i, uint64_t client, uint32_t qpn)
{
	const struct sa_inform_info *h = &s->info;

	return s->client == client && s->to.qpn == qpn && h->gid.prefix == i->gid.prefix &&
	    h->gid.guid == i->gid.guid && h->lid_begin == i->lid_begin &&
	    h->lid_end == i->lid_end && h->is_generic == i->is_generic && h->type == i->type &&
	    h->trap_number == i->trap_number && h->producer_type == i->producer_type;
}

static bool
is_sensible(const struct sa_inform_info *i)
{
	if (i->subscribe > 1 || i->is_generic > 1)
		return false;
	if (i->gid.prefix != 0 || i->gid.guid != 0 || i->lid_begin == LID_ALL)
		return true;		   /* the range does not count */
	return i->lid_begin <= i->lid_end; /* from 0 to 0: nobody's; osmtest asks for that */
}

bool
subscriptions_add(struct registry *r, const struct subscription *s)
{
	if (!fm_vec_push(&r->subscriptions, *s))
		return false;
	if (fm_hash_put(&r->of_subscription, s->id, (uint32_t)r->subscriptions.n - 1))
		return true;
	r->subscriptions.n--;
	return false;
}

void
subscriptions_remove(struct registry *r, uint32_t i)
{
	struct subscription *s = &r->subscriptions.item[i];

	registry_note_subscription(r, s->id);
	fm_hash_remove(&r->of_subscription, s->id);
	*s = r->subscriptions.item[--r->subscriptions.n];
	if (i < r->subscriptions.n)
		fm_hash_put(&r->of_subscription, s->id, i); /* in its place */
}

/* The least number that none of the client's has; NO_NUMBER: it has as many as it may. */
static uint32_t
free_number(const struct registry *r, uint64_t client)
{
	uint64_t taken[FM_BITSET_WORDS(NO_NUMBER)] = { 0 };
	uint32_t n = 0, number = 0;

	for (size_t i = 0; i < r->subscriptions.n; i++)
		if (r->subscriptions.item[i].client == client) {
			fm_bit_set(taken, r->subscriptions.item[i].number);
			n++;
		}
	while (number < n && fm_bit_test(taken, number))
		number++;
	return n < r->set.max_subscriptions ? number : NO_NUMBER;
}

uint16_t
registry_inform(struct registry *r, const struct sa_inform_info *info, uint64_t client,
    struct sa_gid gid, const struct mad_addr *from)
{
	struct subscription fresh = { .client = client, .gid = gid, .info = *info, .to = *from };
	uint32_t number;
	size_t i = 0;

	if (!is_sensible(info) || client == 0)
		return SA_REQ_INVALID;
	if (info->qpn != 0)
		fresh.to.qpn = info->qpn;
	while (i < r->subscriptions.n &&
	    !is_same(&r->subscriptions.item[i], info, client, fresh.to.qpn))
		i++;
	if (!info->subscribe) {
		if (i == r->subscriptions.n)
			return SA_REQ_INVALID;
		subscriptions_remove(r, (uint32_t)i);
		return SA_OK;
	}
	if (i < r->subscriptions.n) {
		r->subscriptions.item[i].to = fresh.to; /* by its LID of today */
		registry_note_subscription(r, r->subscriptions.item[i].id);
		return SA_OK;
	}
	number = free_number(r, client);
	if (r->subscriptions.n >= r->set.max_subscriptions_all || number == NO_NUMBER)
		return SA_NO_RESOURCES;
	fresh.id = ++r->last_subscription;
	fresh.number = (uint16_t)number;
	if (!subscriptions_add(r, &fresh))
		return SA_NO_RESOURCES;
	registry_note_subscription(r, fresh.id);
	return SA_OK;
}

uint32_t
registry_n_subscriptions(const struct registry *r)
{
	return (uint32_t)r->subscriptions.n;
}

const struct subscription *
registry_subscription(const struct registry *r, uint32_t i)
{
	return &r->subscriptions.item[i];
}

bool
registry_note_told(struct registry *r, uint32_t i, uint64_t event)
{
	struct subscription *s = &r->subscriptions.item[i];

	if (s->told >= event)
		return false;
	s->told = event;
	return true;
}

void
registry_note_heard(struct registry *r, uint32_t id, int64_t now_ms)
{
	uint32_t i = fm_hash_find(&r->of_subscription, id);

	if (i != FM_HASH_NONE)
		r->subscriptions.item[i].heard_ms = now_ms;
}

int64_t
registry_heard(const struct registry *r, uint32_t id)
{
	uint32_t i = fm_hash_find(&r->of_subscription, id);

	return i == FM_HASH_NONE ? 0 : r->subscriptions.item[i].heard_ms;
}

void
registry_drop_subscription(struct registry *r, uint32_t id)
{
	uint32_t i = fm_hash_find(&r->of_subscription, id);

	if (i != FM_HASH_NONE)
		subscriptions_remove(r, i);
}
