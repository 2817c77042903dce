/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/adaptive/internal.h - what the files of the room share.
 *
 *	known.c		a switch as it is known, and what a plan says of it
 *	job.c		the blocks of one switch: read, compared, written
 *	adaptive.c	what a switch says of itself; turning on and off
 *	bring.c		the stages by which a plan reaches all of them
 */
#ifndef CORE_ADAPTIVE_INTERNAL_H
#define CORE_ADAPTIVE_INTERNAL_H

#include "core/adaptive/adaptive.h"
#include "core/ask/ask.h"
#include "core/ask/sweeper.h"
#include "core/vendor/vendors.h"

#define AR_MANY 256 /* MADs under way between sweeps */

struct ar_job;

struct ar_switch {
	const struct fm_vendor *vendor; /* NULL: none */
	struct ar_job *job;		/* its blocks are being read or written; NULL */
	uint64_t holds; /* number of the plan whose groups its blocks hold; 0: not known */
	/* It has refused or left unanswered a MAD: not before; 0: it has not; INT64_MAX: not these
	 * blocks */
	int64_t again_ms;
	uint32_t generation;
	uint32_t n_blocks; /* with holds */
	uint16_t n_groups;
	uint8_t state;		       /* enum ar_state */
	uint8_t said;		       /* the same, by its last answer */
	bool is_turning;	       /* a Set that turns it on or off is out */
	bool is_mute;		       /* in this sweep: it did not answer to be turned off */
	uint8_t info[FM_VENDOR_BYTES]; /* its last answer to the info attribute */
};

/* In which order a plan reaches the switches. */
enum ar_stage {
	AR_LOOK,  /* which blocks differ? */
	AR_OFF,	  /* if some do, all are turned off; else those that have no groups in the plan */
	AR_WRITE, /* what differs */
	AR_WAIT,  /* packets of before have to be gone */
	AR_ON,
	AR_DONE
};

struct sweep_adaptive {
	FM_VEC(struct ar_switch) of_slot; /* by slot */
	/* With groups: that is brought, or was last.  It stays while the plan in force has none. */
	struct plan *plan;
	uint64_t current;    /* number of the plan in force when it was begun */
	struct plan *before; /* that was brought before it, while some may hold its groups; NULL */
	uint64_t sweep;	     /* number of the last sweep when it was begun; 0: begin */
	enum ar_stage stage;
	uint32_t next; /* index of a switch */
	uint32_t under_way;
	bool differs;
	bool was_on;	      /* ar_turn_off() has met one that may have been */
	int64_t off_until_ms; /* packets that had chosen by groups are gone then */
	int64_t again_ms;     /* the first of ar_switch.again_ms that is to come; INT64_MAX */
	uint32_t n_turned_on;
	uint64_t n_gets, n_sets;
	/* of ar_block(): the blocks of one switch by one plan */
	struct {
		struct fm_vendor_smp *block;
		uint32_t n, slot;
		uint64_t plan;
	} seen;
};

/* NULL: it was never asked, or is another node by now. */
struct ar_switch *ar_of(const struct sweeper *s, uint32_t slot);
/* The row of a switch in a plan; false: it has no groups there. */
bool ar_rows(
    const struct sweeper *s, uint32_t slot, const struct plan *p, struct fm_vendor_rows *out);
/* Ask it to turn on or off; beside: not in a sweep. */
void ar_turn(struct sweeper *s, uint32_t slot, bool on, bool beside);
/* It has refused or not answered something. */
void ar_failed(struct sweeper *s, struct ar_switch *w, const char *what, enum txn_status status,
    uint32_t slot);

/* job.c */
enum ar_job_kind { AR_JOB_LOOK /* up to the first that differs */, AR_JOB_WRITE };
/* Its blocks by s->adaptive->plan are looked at, or written.  At once where nothing has to be
 * asked. */
void ar_job_begin(struct sweeper *s, uint32_t slot, enum ar_job_kind kind);
void ar_job_drop(struct ar_switch *w);

#endif
