/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/program.h - what is written: fields of ports and switches, tables, keys, groups.
 */
#ifndef CORE_PROGRAM_PROGRAM_H
#define CORE_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/inventory/inventory.h"

struct plan;
struct plan_installed;
struct plan_request;
struct port_pkeys;
struct snapshot;
struct sweeper;

/* The P_Keys of all end-ports (borrowed), NULL before the first. */
struct port_pkeys *sweeper_pkeys(const struct sweeper *s);
/* Blocks of forwarding tables of which it is not known that switches hold them as the plan has
 * them: what they held last, as read or acknowledged; entries that nobody knows are FM_PORT_NONE.
 * By block, then switch; *out is malloced.  False: out of memory.  O(switches + n log n) */
bool sweeper_installed(const struct sweeper *s, struct plan_installed **out, size_t *n);
/* A port is in a multicast group, by the roles of core/mcast/mcast_net.h, or not any more.
 * Written as soon as no sweep runs: call sweeper_step().  False: out of memory. */
bool sweeper_set_member(
    struct sweeper *s, uint16_t mlid, uint8_t sl, uint64_t guid, unsigned roles);
struct mcast_net;
/* The groups as they are to be forwarded (borrowed). */
const struct mcast_net *sweeper_groups(const struct sweeper *s);
/* What a port (0: any that was in use before us) had registered with the SA is lost: it is to be
 * asked, by ClientReregister and once, to register again. */
void sweeper_lost(struct sweeper *s, uint64_t port);
/* The store has what the SM before us had in its.  has_registered: all that hosts have registered,
 * too; else they are asked to register again when they are told of us. */
void sweeper_take_over(struct sweeper *s, bool has_registered);
/* We rule from now on: the end ports of a fabric as it is known to be, with routes (inv_route()),
 * are told so, as their MasterSMLID; the phase waits for that.  O(ports) */
void sweeper_name_us(struct sweeper *s, const struct inventory *known);
/* A block of GUIDInfo of a port is to hold these alias GUIDs, 0: none (entry 0 of block 0 is the
 * port's own).  Written as soon as no sweep runs.  False: out of memory. */
bool sweeper_set_aliases(struct sweeper *s, uint64_t port, uint8_t block, const uint64_t guid[8]);
struct mft_rows;
/* What switches hold of multicast (borrowed), another object whenever that has changed; NULL:
 * nothing yet. */
struct mft_rows *sweeper_mfts(const struct sweeper *s);
/* The highest multicast LID that all switches can hold; 0: there are none, or none can. */
uint16_t sweeper_last_mlid(const struct sweeper *s);

/* Its parts of the sweeper.  False: no memory. */
bool program_new(struct sweeper *s);
void program_free(struct sweeper *s);

/* repath.c */
void repath_tell(struct sweeper *s);
/* program.c */
/* A sweep begins. */
void program_start(struct sweeper *s);
void program_switches(struct sweeper *s);
void program_tables(struct sweeper *s);
/* All is written that will be.  True: s->next is the plan now. */
bool program_commit(struct sweeper *s);
/* The tables outlive us: who comes after computes nothing. */
void program_keep(struct sweeper *s);
/* Another SM has been master meanwhile, or may have been: what nodes hold is to be read again. */
void program_forget(struct sweeper *s);
/* mkeys.c: M_Keys */
/* The key to try where nothing is known of a node, and the last one that was tried does not open
 * it (0: the fabric's); 0 = there is none left. */
uint64_t mkeys_next(const struct sweeper *s, uint64_t tried);
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
/* The fabric of this sweep, in which members of vfabrics are looked for. */
void pkeys_note_fabric(struct sweeper *s, struct snapshot *snap);
bool pkeys_are_due(const struct sweeper *s, uint32_t slot, unsigned port);
/* qos.c: SL to VL, VL arbitration */
bool qos_is_due(const struct sweeper *s, uint32_t slot, unsigned port);
/* owed.c: what switches have not taken of s->plan, before next is made */
void owed_start(struct sweeper *s);
bool owed_end(struct sweeper *s); /* false: the sweep has failed */
/* apply.c: forwarding tables */
/* What packets go by has just been changed: those that have met it are under way for a while. */
void apply_note_older(struct sweeper *s);
/* A plan is asked for: what it has to reckon with of what switches hold. */
void apply_request(struct sweeper *s, struct plan_request *q);
/* The plan that the next is ordered from, NULL: none. */
void apply_note_from(struct sweeper *s, struct plan *p);
/* Does something of the last plan wait to be written? */
bool apply_is_unfinished(const struct sweeper *s);
/* Until when, by the clock of the transport, writing waits for packets to be gone; 0: it does
 * not. */
int64_t apply_waits_until_ns(const struct sweeper *s);
/* May the switch hold something else than s->plan says? */
bool apply_is_due(const struct sweeper *s, const struct inv_node *n);
bool apply_feed(struct sweeper *s); /* true: there is more to send or to wait for */
/* With all links active: is there more to write?  Then apply_feed() goes on. */
bool apply_again(struct sweeper *s);
/* Will entries that s->next has emptied stay so till hosts have been told of other SLs? */
bool apply_holds(const struct sweeper *s);
/* mcast.c */
#define MCAST_TREES_DEFAULT 4
/* SLs of groups, for which the sweep under way makes trees: they are not asked for again until
 * it has ended. */
uint16_t mcast_make_trees(struct sweeper *s);
void mcast_sweep_ended(struct sweeper *s);
/* The plan has not the trees that the groups need. */
bool mcast_lacks_trees(const struct sweeper *s);
/* Something is to be written, between sweeps. */
bool mcast_is_due(const struct sweeper *s);
/* Is it not known what the switch holds of multicast? */
bool mcast_is_due_at(const struct sweeper *s, const struct inv_node *n);
void mcast_start(struct sweeper *s, bool in_sweep);
/* Was it in a sweep? */
bool mcast_finish(struct sweeper *s);
/* aliases.c: alias GUIDs */
/* Something is to be written, between sweeps. */
bool aliases_are_due(const struct sweeper *s);
bool aliases_are_due_at(const struct sweeper *s, uint32_t slot, unsigned port);
void aliases_start(struct sweeper *s, bool in_sweep);
/* links.c */
/* The port registers by itself, or has been told to. */
void links_registered(struct sweeper *s, uint64_t guid);
/* The settings are there, or have changed. */
void links_configured(struct sweeper *s);
/* They are in every port now. */
void links_settings_written(struct sweeper *s);
/* Ports know that we are master. */
void links_are_told(struct sweeper *s);
/* While writing the last plan is to be gone on with, switches still hold entries over
 * links that are lost by now.  Where such a link has come back it wakes them, so it waits
 * for the sweep after, as do all that have come.  Till then it is left as it is: no plan says
 * how SLs are mapped there. */
bool links_is_put_off(const struct sweeper *s, const struct inv_node *n, unsigned port);
/* Is there a link at this port that takes part, and does not wait for the sweep after? */
bool links_takes(const struct sweeper *s, const struct inv_node *n, unsigned port);
void links_ports(struct sweeper *s);
void links_activate(struct sweeper *s);
void links_count(struct sweeper *s);

#endif
