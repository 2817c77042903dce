/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/observe.h - what answers say while the fabric is read enters the inventory here, and
 * nowhere else.
 */
#ifndef CORE_SWEEP_OBSERVE_H
#define CORE_SWEEP_OBSERVE_H

#include "core/ask/ask.h"
#include "core/ask/doubt.h"

/* The answer to Get(SwitchInfo).  False: there was none. */
bool observe_switch(struct ask *a, enum txn_status status, const uint8_t *reply);
/* A switch says whether (any) ports of its have changed since it was last asked: those whose links
 * fmd has brought up since, and what is cabled to them, may have lost what was set in them.  Those
 * stay known as such till the ports have been read (observe_has_told()). */
void observe_changes(struct sweeper *s, uint32_t slot, bool any);
/* The ports are being read for what the switch has told. */
void observe_has_told(struct inv_node *n);
/* Is there a port of which the table of states says that it has stayed above INIT, and that fmd has
 * not brought up since the switch last told of changes?  Then it has kept its power. */
bool observe_has_stayed(const struct inv_node *n);
/* The answer to Get(PortInfo) while the fabric is read: links that have gone or come up anew are
 * taken out.  False: there was none. */
bool observe_port(struct ask *a, enum txn_status status, const uint8_t *reply);
/* A switch all of whose links came up anew may have been without power: what it holds is read. */
void observe_lost_power(struct inv_node *n);

/* A request that has to do with the node as a whole has come to nothing. */
void observe_silence(struct ask *a, const char *what, enum txn_status status);

#endif
