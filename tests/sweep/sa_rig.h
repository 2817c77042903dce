/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/sa_rig.h - an SA over a simulated subnet that a sweeper has
 * brought up; questions as records, answers as records.
 */
#ifndef TESTS_SWEEP_SA_RIG_H
#define TESTS_SWEEP_SA_RIG_H

#include "core/registry/registry.h"
#include "core/sa/sa.h"
#include "tests/sweep/rig.h"

struct sa_rig {
	struct rig *rig;
	struct sa_slot slot;
	struct sa *sa;
	struct registry *registry;
	int64_t now_ms; /* of questions */
	struct sa_settings set;
	struct port_pkeys *pkeys; /* NULL: as the sweep has them */
	struct mad_addr from;	  /* who asks */
	uint64_t sm_key;	  /* shown with questions */
	uint32_t modifier;
	struct sa_gid gid[8]; /* [n_gids] of a MultiPathRecord */
	unsigned n_gids;
	/* Reports: how many, and the last */
	uint32_t n_reports;
	struct mad_addr report_to;
	struct sa_header report;
	struct sa_notice notice;
	/* the last answer */
	uint8_t *bytes;
	size_t n_bytes;
	uint32_t n_answers;
	struct sa_header h;
};

/* Of the swept rig; asked by our own port.  Settings may be changed before. */
void sa_rig_start(struct sa_rig *s, struct rig *rig);
/* A view of the subnet as it is now; shares with the one before. */
void sa_rig_publish(struct sa_rig *s);
void sa_rig_fini(struct sa_rig *s);

/* Ask; the status of the answer, of which there is exactly one. */
uint16_t sa_rig_ask(
    struct sa_rig *s, uint8_t method, uint16_t attr, uint64_t mask, const void *want);
/* No answer may come. */
void sa_rig_ask_in_vain(
    struct sa_rig *s, uint8_t method, uint16_t attr, uint64_t mask, const void *want);
/* Records in the last answer, and the i-th. */
uint32_t sa_rig_n(const struct sa_rig *s);
void sa_rig_record(const struct sa_rig *s, uint32_t i, void *v);

#endif
