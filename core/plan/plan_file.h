/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_file.h - the tables of a plan, kept over a restart.
 *
 * One file, written beside its place and renamed: a crash leaves the old one
 * or none.  What it says is believed only when its length and sum are right,
 * and used only on the switches, and under the chain, it was made for; the plan
 * made of it is verified like any other.  Cables may have been lost, before or
 * meanwhile, and may be back: the graph that an engine made the tables for is
 * kept, and the entries that repairs have changed since, with what they were.
 *
 *	header   struct plan_file_head, in the byte order of the machine
 *	lids     a bit per LID that has entries
 *	refused  struct plan_refusal, n_refused of them
 *	cables   of that graph, struct plan_file_cable, n_cables of them
 *	deviations  struct plan_file_entry, n_deviations of them
 *	sl       a row, where the SL depends on the DLID alone
 *	switches each: GUID, row of the LFT, row of SLs where they depend on the
 *	         switch (the GUID of the switch it shares it with, the row itself if it
 *	         is its own), rows of SL2VL (by ports or by link, in order of ports); with
 *	         adaptive routing the number of groups, the group of each LID, and the ports of
 *	         each group
 *
 *	regions	 plan_file_regions.c
 */
#ifndef CORE_PLAN_PLAN_FILE_H
#define CORE_PLAN_PLAN_FILE_H

#include "core/plan/plan.h"

/* Write p, made under the chain of this mark; without tables an old file is removed.  O(table
 * bytes).  FM_E_SYSTEM. */
int plan_file_save(
    const char *path, const struct plan *p, uint64_t chain_mark, struct fm_error *err);

/* A plan without a verdict, to be the `prev` of plan_make() for snap: its snapshot has
 * the ends of snap and the cables of the file.  NULL when there is no file or it is
 * for other switches or another chain.  A damaged
 * file is set aside with a warning.  FM_E_RESOURCE. */
int plan_file_load(const char *path, struct router *r, struct snapshot *snap, uint64_t chain_mark,
    int64_t now_ms, struct plan **out, struct fm_error *err);

#endif
