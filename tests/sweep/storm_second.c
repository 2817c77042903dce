/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second fmd on the fabric of a storm: of the same settings, better or (by its GUID)
 * lesser, at another host.
 * It makes its plans within its steps.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/storm_internal.h"

static void
come(struct storm *s, const struct event *e)
{
	struct rig *r = &s->second;

	*r = (struct rig){
		.nl = s->rig.nl, .sim = s->rig.sim, .place = e->node, .port = 1, .set = s->rig.set
	};
	r->set.sm.priority = e->n % 2 ? 7 : 0;
	rig_use(r, s->rig.entry.engine);
	rig_start(r);
	sweeper_request(r->sweeper, SWEEP_HEAVY, "start");
}

void
second_stop(struct storm *s)
{
	struct fm_error err = { 0 };

	if (s->second.sweeper == NULL)
		return;
	/* what the kernel does when the file is closed */
	ck_assert_int_eq(s->second.transport->ops->set_is_sm(s->second.transport, false, &err), 0);
	rig_stop(&s->second);
}

void
second_toggle(struct storm *s, const struct event *e)
{
	if (s->second.sweeper != NULL)
		second_stop(s);
	else
		come(s, e);
}

static bool
rules(const struct rig *r)
{
	return r->sweeper != NULL && r->ha.state == WIRE_SM_MASTER;
}

/* Has its port a link? */
static bool
is_there(const struct storm *s, const struct rig *r)
{
	const struct sim_fabric *f = sim_fabric(s->rig.sim);

	return r->sweeper != NULL && f->live[f->nodes[r->place].first_port + r->port] != SIM_NONE;
}

struct rig *
second_who_rules(struct storm *s, char *wrong, size_t size)
{
	if (!is_there(s, &s->second))
		return &s->rig;
	if (!is_there(s, &s->rig))
		return &s->second;
	if (rules(&s->rig) != rules(&s->second))
		return rules(&s->rig) ? &s->rig : &s->second;
	snprintf(wrong, size, "%s of two fmd rule (ours in state %u, the second in %u)",
	    rules(&s->rig) ? "both" : "none", s->rig.ha.state, s->second.ha.state);
	return NULL;
}
