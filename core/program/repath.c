/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts whose paths have got other SLs, when an engine had to route anew that gives SLs to
 * paths, or a repair had to move some.  The SA answers by the new ones at once, but who has
 * asked before goes on with what it was told.  So, when the SA has the new plan, the ports of
 * those hosts get ClientReregister (IBA 14.4.11), upon which clients forget what the SM told
 * them: IPoIB, for one, asks for all its paths again.  No trap says so that clients would
 * heed.
 * Connections keep their SL as long as they live.
 *
 * Entries on which the old SLs are not safe stay empty meanwhile (apply.c).
 *
 * That there is somebody to be told is kept in the store, from before the first entry is emptied:
 * a process that finds it so tells all hosts before it writes anything.
 *
 * O(nodes), if any SL is another.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/inventory/fields.h"
#include "core/program/internal.h"
#include "lib/bitset.h"

/* Behind one of these switches? */
static bool
is_behind(const struct sweeper *s, const struct inv_port *p, const uint64_t *switches)
{
	const struct inv_node *far = inv_node(&s->inv, p->peer);

	return inv_is_switch(far) && far->sw_index < s->inv.switches.n &&
	    fm_bit_test(switches, far->sw_index);
}

/* The ports of who is connected behind one of these switches, and of all who are not: they have
 * been told SLs, too, and may still send by them when they are back, or if a switch that does
 * not answer forwards.  NULL: behind all.  How many of the former. */
static uint32_t
mark_ports(struct sweeper *s, const uint64_t *switches)
{
	uint32_t n_marked = 0;

	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; !inv_is_switch(n) && p <= n->n_ports; p++) {
			bool here = node_usable(n) && link_usable(&s->inv, &n->ports[p]);

			if (here && switches != NULL && !is_behind(s, &n->ports[p], switches))
				continue;
			n->ports[p].repaths = here || n->ports[p].lid != 0;
			n_marked += here;
		}
	}
	return n_marked;
}

void
repath_note(struct sweeper *s)
{
	const struct plan *was = s->plan, *is = s->next;
	uint64_t *switches, n;

	if (was == NULL || is == NULL || was == is || was->tables == NULL || is->tables == NULL ||
	    s->set.dry_run)
		return;
	switches = calloc(FM_BITSET_WORDS(s->inv.switches.n) + 1, sizeof(*switches));
	if (switches == NULL) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for paths with other SLs");
		return;
	}
	n = plan_other_sls(was, is, switches);
	if (fm_bit_count(switches, s->inv.switches.n) > 0) {
		uint32_t n_ports = mark_ports(s, switches);

		s->report.n_other_sls = n;
		s->telling.repaths = true;
		log_notice("sweep",
		    "%" PRIu64 " paths carry another SL than before; %" PRIu32
		    " ports are %s to ask for theirs again",
		    n, n_ports,
		    s->set.ports.client_reregister ? "told" : "not told (client_reregister = no)");
	}
	free(switches);
}

void
repath_keep(struct sweeper *s, bool untold)
{
	struct fm_error err = { 0 };

	if (s->p.store != NULL && !s->set.dry_run &&
	    store_put_untold(s->p.store, untold, &err) != 0)
		log_err("sweep", "%s", err.msg);
}

void
repath_take_over(struct sweeper *s)
{
	uint32_t n_ports;

	if (!s->telling.untold_before_us || s->set.dry_run)
		return;
	n_ports = mark_ports(s, NULL);
	log_notice("sweep",
	    "hosts may send by SLs that an SM before has told them; %" PRIu32 " ports are %s to "
	    "ask for paths again before tables are written",
	    n_ports, s->set.ports.client_reregister ? "told" : "not told (client_reregister = no)");
}

bool
repath_is_due(const struct sweeper *s)
{
	return s->telling.repaths && s->set.ports.client_reregister && s->plan != NULL &&
	    s->next != NULL &&
	    (s->plan->tables->t.n_vls_used > 1 || s->next->tables->t.n_vls_used > 1);
}

void
repath_say_untold(const struct sweeper *s)
{
	uint32_t n_untold = 0;

	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; node_usable(n) && !inv_is_switch(n) && p <= n->n_ports; p++)
			n_untold += n->ports[p].repaths;
	}
	if (n_untold > 0)
		log_warn("sweep",
		    "%" PRIu32 " ports could not be told that their paths carry other SLs: they do "
		    "not answer or know no ClientReregister; their packets might deadlock with "
		    "others",
		    n_untold);
}

/* One that could be told, and has not been; back: and is connected. */
static bool
has_untold(const struct sweeper *s, bool back)
{
	for (uint32_t slot = 0; slot < s->inv.nodes.n; slot++) {
		const struct inv_node *n = inv_node(&s->inv, slot);

		for (unsigned p = 1; node_usable(n) && !inv_is_switch(n) && p <= n->n_ports; p++) {
			const struct wire_port_info *i = &n->ports[p].info;

			if (n->ports[p].repaths && i->port_state == WIRE_PORT_ACTIVE &&
			    (i->capability_mask & CAP_CLIENT_REREGISTER) != 0 &&
			    (!back || link_usable(&s->inv, &n->ports[p])))
				return true;
		}
	}
	return false;
}

bool
repath_is_untold(const struct sweeper *s)
{
	return has_untold(s, false);
}

bool
repath_is_back(const struct sweeper *s)
{
	return s->set.ports.client_reregister && has_untold(s, true);
}

bool
repath_feed(struct sweeper *s)
{
	while (s->telling.next < s->inv.nodes.n && s->run.pending < FEED_HIGH) {
		uint32_t slot = s->telling.next++;
		const struct inv_node *n = inv_node(&s->inv, slot);

		for (unsigned p = 1; node_usable(n) && !inv_is_switch(n) && p <= n->n_ports; p++)
			if (n->ports[p].repaths)
				links_set(s, slot, p);
	}
	return s->telling.next < s->inv.nodes.n || s->run.pending > 0;
}

void
repath_tell(struct sweeper *s)
{
	if ((s->telling.repaths && s->set.ports.client_reregister) || s->telling.held_for_sls)
		sweeper_request(s, SWEEP_NAMED, "paths carry other SLs");
	s->telling.repaths = false;
}
