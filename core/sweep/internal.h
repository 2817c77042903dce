/* SPDX-License-Identifier: BSD-2-Clause */
/* core/sweep/internal.h - what the files of the sweep call of one another. */
#ifndef CORE_SWEEP_INTERNAL_H
#define CORE_SWEEP_INTERNAL_H

#include "core/sweep/ask.h"
#include "core/sweep/sweeper.h"

/* Feeds keep so many questions queued at most.  Node by node: enough that the
 * small windows of a few dozen switches fill the fabric's; striped over the
 * nodes: two windows.  More would only fall out of the caches. */
#define FEED_HIGH 1024
#define FEED_STRIPED(s) (2 * txn_window((s)->p.txn) + 64)

/* Entries of LIDs that have been gone for too long are to be taken out. */
bool sweeper_drops(const struct sweeper *s);

void sweep_fail(struct sweeper *s, enum fm_error_kind kind, const char *sentence);

/* sweep.c */
void sweep_enter(struct sweeper *s, enum sweep_phase phase);
void sweep_end(struct sweeper *s, enum sweep_outcome outcome);
/* The clock of the transport: simulated fabrics have one of their own. */
int64_t sweeper_clock_ms(const struct sweeper *s);
/* settings.c */
/* Stands for the settings of rows that ride along (fields.h): never 0. */
uint64_t sweep_settings_mark(const struct sweep_settings *set);
/* routing.c */
/* What packets go by has just been changed: those that have met it are under way for a while. */
void routing_note_older(struct sweeper *s);
void routing_start(struct sweeper *s);
bool routing_take(struct sweeper *s); /* false: the plan is still being made */
/* discover.c */
void discover_start(struct sweeper *s);
void discover_ask_port(struct sweeper *s, uint32_t node, uint8_t port);
void discover_ask_switch(struct sweeper *s, uint32_t node); /* and all its ports */
/* Is what lies behind the port asked who it is: a port of a switch, our own? */
bool discover_walks(const struct sweeper *s, uint32_t slot, unsigned port);
/* A question about the node as a whole has come to nothing. */
void discover_note_silence(struct ask *a, const char *what, enum txn_status status);
void discover_ask_desc(struct sweeper *s, uint32_t node, uint8_t port);
void discover_probe(struct sweeper *s, uint32_t node, uint8_t port);
/* arrive.c */
/* First sight of a node in this discovery, by this way: what its links were is remembered. */
void arrive_greet(struct sweeper *s, uint32_t slot, const struct smp_route *route);
void arrive_ask_details(struct sweeper *s, uint32_t slot, uint8_t port);
/* Behind node:port, which is EDGE_ASKED, lies what these 64 bytes of NodeInfo say; they were
 * asked for under this M_Key, 0: the fabric's. */
void arrive(struct sweeper *s, uint32_t node, uint8_t port, const uint8_t *data, uint64_t m_key);
/* What lies behind node:port has a GUID of owner's, or says that it is its owner_port. */
void arrive_leave_out(
    struct sweeper *s, uint32_t node, uint8_t port, uint32_t owner, uint8_t owner_port);
/* reread.c */
void discover_reread(struct sweeper *s);
/* Doubt both ends of cables that do not go together. */
void discover_compare_ends(struct sweeper *s);
void discover_finish(struct sweeper *s);
/* Doubt switches that did not answer, where perhaps the way to them is lost and there is another.
 * False: there are none. */
bool discover_retry(struct sweeper *s);
/* Has a switch that answered in the sweep before not done so, by any way that is known? */
bool discover_lost_sight(const struct sweeper *s);
/* Stands for the route to a switch. */
uint64_t discover_way(const struct inv_node *n);
/* repath.c: s->next is in the switches.  Whose paths carry other SLs by it than by s->plan
 * is told, once the SA answers by it. */
void repath_note(struct sweeper *s);
void repath_tell(struct sweeper *s);
/* Has somebody to be told of SLs that have VLs of their own, before other tables are written? */
bool repath_is_due(const struct sweeper *s);
/* Those who should have been told by now and were not. */
void repath_say_untold(const struct sweeper *s);
/* Is there one that could be told, and has not been? */
bool repath_is_untold(const struct sweeper *s);
/* ... and is it connected? */
bool repath_is_back(const struct sweeper *s);
/* All hosts in use are to be told, if they had to be when the process before us ended. */
void repath_take_over(struct sweeper *s);
/* Is somebody to be told?  Kept for the process after us. */
void repath_keep(struct sweeper *s, bool untold);
/* Tell them, before other ports are set.  True: there are more, or answers are out. */
bool repath_feed(struct sweeper *s);
/* lid_route.c */
/* Make of a directed route one by LID, or mixed, where that is open. */
void lid_route_choose(struct ask *a, struct smp_route *route);
/* As a sweep begins: ways that are to be tried again, closed ones and those whose trial was not
 * sent. */
void lid_route_reopen(struct sweeper *s);
/* Send one SMP for each way that is untried, if by now there is a switch for it. */
void lid_route_try(struct sweeper *s);
/* An ask that was not all directed has ended.  True: it is to be put again, as it is now. */
bool lid_route_again(struct ask *a, enum txn_status status);
/* Nor was it answered then: nobody is to blame for the way. */
void lid_route_forgive(struct ask *a);
/* light.c */
void light_start(struct sweeper *s);
/* other_sms.c */
void other_sms_start(struct sweeper *s);
/* What the answers mean; false: this sweep ends here (outcome is set). */
bool other_sms_decide(struct sweeper *s);
/* The settings are there, or have changed. */
void other_sms_configured(struct sweeper *s);
/* What we show of ourselves to an SM (NULL: to a stranger); the SM_Key only to one that has shown
 * the same. */
void sm_show(const struct sweeper *s, const struct ha_other *to, struct wire_sm_info *info);
/* Of the SM at a port with that GUID; NULL: memory is out, and the sweep has failed.  Good until
 * the next call. */
struct sm_past *sm_past(struct sweeper *s, uint64_t guid);
/* Get(SMInfo) to a port; false: there is no way to it. */
bool sm_ask(struct sweeper *s, uint32_t node, uint8_t port, ask_done done);
void sm_fill_question(const struct sweeper *s, struct ask *a);
/* ... whose answer says this. */
void sm_judge(struct ask *a, const uint8_t *reply, struct ha_other *o);
/* Set(SMInfo); done may be NULL.  False: there is no way to it. */
bool sm_send(struct sweeper *s, const struct ha_other *to, uint32_t control, ask_done done);
void sm_describe(struct sweeper *s, const struct ha_other *o, char *buf, size_t size);
/* sm_wait.c: we are standby from now on, or still, for ha.master */
void sm_wait(struct sweeper *s);
/* PortInfo of our own port. */
void sm_ask_own_port(struct sweeper *s, ask_done done);
/* What has been read anew of an SM. */
void sm_note(struct sweeper *s, const struct ha_other *now);
/* sm_ask_back.c: a Get(SMInfo) that comes while we discover waits till that is done; false: there
 * is no room. */
bool sm_hold(struct sweeper *s, const struct mad *m);
void sm_serve_held(struct sweeper *s);
/* True: the Get will be answered when we know who asks */
bool sm_ask_back(
    struct sweeper *s, const struct mad *m, uint32_t node, uint8_t port, bool answered);
/* sm_control.c */
/* from: the SM that has asked; NULL: a stranger */
void sm_answer(struct sweeper *s, const struct mad *m, const struct wire_header *h,
    const struct ha_other *from, uint16_t status);
void other_sms_on_mad(struct sweeper *s, const struct mad *m, const struct wire_header *h);
/* model.c */
/* LIDs and snapshot.  0 and *snap NULL: nothing to route, or the plan stays (s->next). */
int model_build(struct sweeper *s, struct snapshot **snap, struct fm_error *err);
/* Is there a link at this port that takes part, and does not wait for the sweep after? */
bool model_takes_link(const struct sweeper *s, const struct inv_node *n, unsigned port);
uint8_t model_link_vl_code(
    const struct sweep_settings *set, const struct inv_port *a, const struct inv_port *b);
/* program.c */
void program_switches(struct sweeper *s);
void program_tables(struct sweeper *s);
void program_commit(struct sweeper *s); /* what was written is the plan now */
/* Another SM has been master meanwhile, or may have been: what nodes hold is to be read again. */
void program_forget(struct sweeper *s);
/* mkeys.c: M_Keys */
void mkeys_start(struct sweeper *s);
/* The key to try where the fabric's does not open; 0 = none. */
uint64_t mkeys_other(const struct sweeper *s);
/* What the PortInfo of an end-port says; true: it is to be asked again, under another key. */
bool mkeys_note(struct sweeper *s, uint32_t slot, unsigned port, struct wire_port_info *now);
/* A trap 256 has come: a node was asked under another M_Key than its own. */
void mkeys_on_trap(struct sweeper *s, const struct wire_notice *notice);
/* True, and the sweep has failed: our own port takes nothing from us. */
bool mkeys_bar_us(struct sweeper *s);
/* Our own port does not answer: the sweep fails for that. */
void mkeys_own_port_silent(struct sweeper *s);
/* At the end of a sweep, once: to ports under another key than is wanted.  True: the feed
 * is set. */
bool mkeys_change(struct sweeper *s);
void mkeys_commit(struct sweeper *s);
/* pkeys.c: P_Key tables */
void pkeys_start(struct sweeper *s);
void pkeys_ensure(struct sweeper *s, uint32_t slot, unsigned port);
bool pkeys_are_due(const struct sweeper *s, uint32_t slot, unsigned port);
void pkeys_fini(struct sweeper *s);
/* qos.c: SL to VL, VL arbitration */
void qos_start(struct sweeper *s);
void qos_ensure(struct sweeper *s, uint32_t slot, unsigned port);
bool qos_is_due(const struct sweeper *s, uint32_t slot, unsigned port);
/* It has been called for all ports of a node. */
void qos_ensured(struct sweeper *s, uint32_t slot);
/* next is given up, and its SL to VL maps may be in switches. */
void qos_not_taken(struct sweeper *s);
/* All of next has been sent: does the switch owe maps of it (owed.c)? */
void qos_note_owed(struct sweeper *s, uint32_t slot);
/* Before next is made: write to a switch the maps of s->plan that it owes. */
void qos_pay(struct sweeper *s, uint32_t slot);
/* owed.c: what switches have not taken of s->plan, before next is made */
void owed_start(struct sweeper *s);
bool owed_end(struct sweeper *s); /* false: the sweep has failed */
/* apply.c: forwarding tables */
void apply_start(struct sweeper *s);
/* May the switch hold something else than s->plan says? */
bool apply_is_due(const struct sweeper *s, const struct inv_node *n);
bool apply_feed(struct sweeper *s); /* true: there is more to send or to wait for */
/* With all links active: is there more to write?  Then apply_feed() goes on. */
bool apply_again(struct sweeper *s);
/* Will entries that s->next has emptied stay so till hosts have been told of other SLs? */
bool apply_holds(const struct sweeper *s);
/* False: the sweep has failed, and s->plan stays the plan. */
bool apply_commit(struct sweeper *s);
/* waves.c: switches that hold nothing known, from us outwards */
void waves_start(struct sweeper *s);
bool waves_feed(struct sweeper *s); /* true: there is more to send or to wait for */
void waves_end(struct sweeper *s);
/* mcast.c */
#define MCAST_TREES_DEFAULT 4
struct sweep_mcast *mcast_new(void);	 /* NULL: no memory */
void mcast_free(struct sweep_mcast *mc); /* NULL is fine */
/* SLs of groups, for which the sweep under way makes trees: they are not asked for again until
 * it has ended. */
uint16_t mcast_make_trees(struct sweeper *s);
void mcast_sweep_ended(struct sweeper *s);
/* The plan has not the trees that the groups need. */
bool mcast_lacks_trees(const struct sweeper *s);
/* Where multicast tables may end; 0: there are no groups. */
uint16_t mcast_top_mlid(struct sweeper *s);
/* Something is to be written, between sweeps. */
bool mcast_is_due(const struct sweeper *s);
/* Is it not known what the switch holds of multicast? */
bool mcast_is_due_at(const struct sweeper *s, const struct inv_node *n);
void mcast_start(struct sweeper *s, bool in_sweep);
/* Was it in a sweep? */
bool mcast_finish(struct sweeper *s);
/* The switch has come fresh from reset. */
void mcast_note_reset(struct inv_node *n);
/* aliases.c: alias GUIDs */
void aliases_ensure(struct sweeper *s, uint32_t slot, unsigned port);
/* Something is to be written, between sweeps. */
bool aliases_are_due(const struct sweeper *s);
bool aliases_are_due_at(const struct sweeper *s, uint32_t slot, unsigned port);
void aliases_start(struct sweeper *s);
void aliases_fini(struct sweeper *s);
/* links.c */
void links_ports(struct sweeper *s);
void links_activate(struct sweeper *s);
/* Bring a port what is wanted of it, before the pass over ports. */
void links_set(struct sweeper *s, uint32_t slot, unsigned port);
/* Give an end-port that has no LID its own, before the pass over ports. */
void links_name(struct sweeper *s, uint32_t slot, unsigned port);
void links_count(struct sweeper *s);

/* Does this node take part: it answered all that is needed of it? */
static inline bool
node_usable(const struct inv_node *n)
{
	if (!n->present)
		return false;
	return !inv_is_switch(n) || (n->sw_known && n->ports[0].known);
}

/* A cable whose two ends both take part. */
static inline bool
link_usable(const struct inventory *inv, const struct inv_port *p)
{
	const struct inv_node *far;

	if (p->edge != EDGE_LINKED || !inv_port_up(p))
		return false;
	far = inv_node(inv, p->peer);
	return node_usable(far) && inv_port_up(&far->ports[p->peer_port]);
}

/* An end-port that is to have a LID. */
static inline bool
port_wants_lid(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);

	if (!node_usable(n))
		return false;
	if (inv_is_switch(n))
		return port == 0;
	return port != 0 && n->ports[port].known && link_usable(inv, &n->ports[port]);
}

#endif
