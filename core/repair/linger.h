/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/linger.h - columns of LIDs that nobody owns now (plan.absent).
 *
 * Whoever has not noticed that a host is gone goes on sending to it, and these packets wait
 * for one another and for those of others by the entries that are still there.  So what
 * they depend on has to have no cycle with what all others depend on, by the cables that
 * the tables were made for: those that are lost may be back.  A column with which there
 * is one is emptied: its LID lingers no longer.
 *
 * SLs are those of the tables, which have them until the column goes: the same that senders
 * were told.  Only tables that repairs may change are looked at (depend_applies()); others
 * are as an engine made them, of these LIDs, too, or are copies of such columns.
 */
#ifndef CORE_REPAIR_LINGER_H
#define CORE_REPAIR_LINGER_H

#include "core/plan/plan.h"

/* Empty the columns of p->absent that close a cycle, before anybody else has p.  What
 * repairs keep (r->repair) is asked where it is of p; else the dependencies are collected.
 * Nothing is done where no LID is absent, or where credit loops are allowed and there are any.
 * FM_E_RESOURCE. */
int linger_settle(struct router *r, struct plan *p, struct fm_error *err);

#endif
