/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/inventory/flaps.h"

#include <stdlib.h>
#include <string.h>

#include "core/inventory/isolated.h"
#include "lib/algo/ufind.h"
#include "lib/log.h"

#define FALLS_HELD 2
#define FALLS_OUT 3

static struct inv_port *
port_at(const struct inventory *inv, uint32_t slot, unsigned port)
{
	return &inv_node(inv, slot)->ports[port];
}

/* Which of its ends that is. */
static unsigned
end_of(const struct inv_flap *f, uint32_t slot, unsigned port)
{
	return f->slot[0] == slot && f->port[0] == port ? 0 : 1;
}

/* The record of the cable that is at the port, or was there last; NULL. */
static struct inv_flap *
find(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_port *p = port_at(inv, slot, port);
	struct inv_flap *f = p->flap != 0 ? &inv->flaps.item[p->flap - 1] : NULL;
	unsigned far;

	if (f == NULL || p->edge != EDGE_LINKED)
		return f;
	far = !end_of(f, slot, port);
	return p->peer == f->slot[far] && p->peer_port == f->port[far] ? f : NULL;
}

/* The last record takes its place. */
static void
drop(struct inventory *inv, size_t i)
{
	struct inv_flap *f = &inv->flaps.item[i], *last = &inv->flaps.item[inv->flaps.n - 1];

	for (int e = 0; e < 2; e++)
		port_at(inv, f->slot[e], f->port[e])->flap = 0;
	if (f != last) {
		*f = *last;
		for (int e = 0; e < 2; e++)
			port_at(inv, f->slot[e], f->port[e])->flap = (uint32_t)i + 1;
	}
	inv->flaps.n--;
}

/* What has no meaning any more. */
static void
forget_old(struct inventory *inv, int64_t now_ms)
{
	for (size_t i = inv->flaps.n; i-- > 0;) {
		const struct inv_flap *f = &inv->flaps.item[i];

		if (f->state == FLAP_PAST &&
		    (f->n_times == 0 || now_ms - f->until_ms > FLAP_FORGOTTEN_MS))
			drop(inv, i);
	}
}

/* Of a cable between switches that is up; NULL: it is none, or memory is out. */
static struct inv_flap *
begin(struct inventory *inv, uint32_t slot, unsigned port, int64_t now_ms)
{
	struct inv_port *p = port_at(inv, slot, port);
	struct inv_flap f = { .slot = { slot, p->peer }, .port = { (uint8_t)port, p->peer_port } };

	if (p->edge != EDGE_LINKED || !inv_is_switch(inv_node(inv, p->peer)))
		return NULL;
	forget_old(inv, now_ms);
	for (int e = 0; e < 2; e++) /* another cable was there */
		if (port_at(inv, f.slot[e], f.port[e])->flap != 0)
			drop(inv, port_at(inv, f.slot[e], f.port[e])->flap - 1);
	if (!fm_vec_push(&inv->flaps, f)) {
		log_err("sweep", "no memory for a cable that flaps: it is used as before");
		return NULL;
	}
	for (int e = 0; e < 2; e++)
		port_at(inv, f.slot[e], f.port[e])->flap = (uint32_t)inv->flaps.n;
	return &inv->flaps.item[inv->flaps.n - 1];
}

/* How often the link at this port has gone down within a minute, this time included. */
static unsigned
count_fall(struct inv_port *p, int64_t now_ms)
{
	unsigned n = 1;

	for (int i = 0; i < 2; i++)
		n += p->fell_ms[i] != 0 && now_ms - p->fell_ms[i] <= FLAP_WITHIN_MS;
	p->fell_ms[0] = p->fell_ms[1];
	p->fell_ms[1] = now_ms;
	return n;
}

static void
leave_out(struct inv_flap *f, int64_t still_ms)
{
	f->state = FLAP_OUT;
	f->still_ms = still_ms;
	for (unsigned i = 0; i < f->n_times && f->still_ms < FLAP_STILL_MOST_MS; i++)
		f->still_ms *= 2;
	if (f->still_ms > FLAP_STILL_MOST_MS && still_ms < FLAP_STILL_MOST_MS)
		f->still_ms = FLAP_STILL_MOST_MS;
	f->n_times += f->n_times < UINT8_MAX;
}

void
flaps_fell(struct inventory *inv, uint32_t slot, unsigned port, int64_t still_ms, int64_t now_ms)
{
	unsigned n = count_fall(port_at(inv, slot, port), now_ms), e;
	struct inv_flap *f = find(inv, slot, port);

	if (f == NULL && n >= FALLS_HELD)
		f = begin(inv, slot, port, now_ms);
	if (f == NULL)
		return;
	e = end_of(f, slot, port);
	if (f->state == FLAP_PAST) {
		if (n < FALLS_HELD)
			return;
		if (now_ms - f->until_ms > FLAP_FORGOTTEN_MS)
			f->n_times = 0;
		f->state = FLAP_HELD;
		f->only_way = false;
		f->n_falls[0] = f->n_falls[1] = 0;
		f->n_falls[e] = n - 1;
	}
	f->n_falls[e]++;
	if (f->state == FLAP_HELD)
		f->still_ms = still_ms < FLAP_HOLD_MS ? still_ms : FLAP_HOLD_MS;
	if (f->state == FLAP_HELD && n >= FALLS_OUT)
		leave_out(f, still_ms);
	f->until_ms = now_ms + f->still_ms;
}

const struct inv_flap *
flaps_at(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_flap *f = find(inv, slot, port);

	return f != NULL && f->state != FLAP_PAST ? f : NULL;
}

bool
flaps_leave_out(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_flap *f = flaps_at(inv, slot, port);

	return f != NULL && !f->only_way;
}

bool
flaps_any_left_out(const struct inventory *inv)
{
	for (size_t i = 0; i < inv->flaps.n; i++)
		if (inv->flaps.item[i].state != FLAP_PAST && !inv->flaps.item[i].only_way)
			return true;
	return false;
}

uint32_t
flap_falls(const struct inv_flap *f)
{
	return f->n_falls[0] > f->n_falls[1] ? f->n_falls[0] : f->n_falls[1];
}

/* ------------------------------------------------------------- the only way */

/* Switches that other cables join are one set. */
static void
join_others(const struct inventory *inv, const struct isolated *isolated, uint32_t *parent)
{
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 1; inv_is_switch(n) && node_usable(n) && p <= n->n_ports; p++)
			if (link_usable(inv, &n->ports[p]) &&
			    inv_is_switch(inv_node(inv, n->ports[p].peer)) &&
			    flaps_at(inv, i, p) == NULL && !isolated_is_cable(isolated, inv, i, p))
				fm_ufind_join(parent, i, n->ports[p].peer);
	}
}

/* One after the other, so that of several that are the only way together the first is used. */
static void
find_only_ways(struct inventory *inv, const struct isolated *isolated)
{
	uint32_t *parent = malloc((inv->nodes.n + 1) * sizeof(*parent));

	if (parent != NULL) {
		fm_ufind_init(parent, (uint32_t)inv->nodes.n);
		join_others(inv, isolated, parent);
	}
	for (size_t i = 0; i < inv->flaps.n; i++) {
		struct inv_flap *f = &inv->flaps.item[i];

		if (f->state == FLAP_PAST || find(inv, f->slot[0], f->port[0]) == NULL ||
		    !link_usable(inv, port_at(inv, f->slot[0], f->port[0])))
			continue; /* down: nobody can say */
		f->only_way =
		    parent == NULL || fm_ufind(parent, f->slot[0]) != fm_ufind(parent, f->slot[1]);
		if (parent != NULL)
			fm_ufind_join(parent, f->slot[0], f->slot[1]);
	}
	free(parent);
}

static void
use_again(struct inventory *inv, struct inv_flap *f, int64_t now_ms)
{
	f->state = FLAP_PAST;
	f->until_ms = now_ms;
	for (int e = 0; e < 2; e++)
		memset(port_at(inv, f->slot[e], f->port[e])->fell_ms, 0,
		    sizeof(port_at(inv, f->slot[e], f->port[e])->fell_ms));
}

void
flaps_decide(struct inventory *inv, const struct isolated *isolated, bool is_on, int64_t now_ms)
{
	bool any = false;

	for (size_t i = 0; i < inv->flaps.n; i++) {
		struct inv_flap *f = &inv->flaps.item[i];

		if (f->state == FLAP_HELD && (!is_on || f->until_ms <= now_ms))
			f->state = FLAP_PAST;
		else if (f->state == FLAP_OUT && (!is_on || f->until_ms <= now_ms))
			use_again(inv, f, now_ms);
		any = any || f->state != FLAP_PAST;
	}
	if (any)
		find_only_ways(inv, isolated);
}

bool
flaps_end(struct inventory *inv, uint32_t slot, unsigned port)
{
	struct inv_flap *f = find(inv, slot, port);

	if (f == NULL || f->state == FLAP_PAST)
		return false;
	use_again(inv, f, f->until_ms);
	f->n_times = 0;
	return true;
}
