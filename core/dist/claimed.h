/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/claimed.h - which of the addresses that ports claim are published as theirs.
 *
 * A port that is not there has none.  An address that the administrator's file has is of the port
 * that the file names.  Of two ports that claim one address that one has it which hosts have been
 * told of, so nobody takes an address over by claiming it; else the one with the lower GUID.  So
 * what has been published is the memory of who was first, over restarts and take-overs.
 *
 * O(claims log claims); O(what has been published) more where an address is contested.
 */
#ifndef CORE_DIST_CLAIMED_H
#define CORE_DIST_CLAIMED_H

#include "core/dist/addresses.h"
#include "core/dist/published.h"
#include "core/registry/claims.h"
#include "core/view/view.h"

#define CLAIMED_MOST_OF_PORT 64 /* addresses and alias GUIDs */
#define CONTESTS_MOST 256	/* that are told of */
#define CONTEST_SENTENCE 320

/* A claim that is not published. */
struct contest {
	uint8_t ip[16];
	uint64_t claims; /* port that claims it */
	uint64_t has;	 /* port that has it; 0: the file names a host that is not here */
	bool by_file;
	char claims_name[BLOB_MOST_NAME + 1], has_name[BLOB_MOST_NAME + 1]; /* of hosts, or "" */
	uint64_t event;							    /* that told of it */
	int64_t since_ms; /* CLOCK_MONOTONIC: it was told */
};

struct claimed {
	FM_VEC(struct blob_reg) item;	/* ascending by LID; alias GUIDs alone behind addresses */
	FM_VEC(struct contest) contest; /* ascending by address and port that claims it */
	uint32_t n_contests;		/* more than those, perhaps */
	uint32_t n_left_out;		/* claims of ports that have more than hosts take */
};

void claimed_fini(struct claimed *c);
/* Anew, by the file's addresses as they have just been put to `told`.  False: out of memory. */
bool claimed_make(struct claimed *c, const struct ip_claims *claims, const struct sa_view *v,
    const struct addresses *file, const struct published *told);
/* What contests have begun and ended since `before`, each told once. */
void claimed_tell(struct claimed *now, const struct claimed *before);
/* What is contested, as a sentence; returns text. */
const char *contest_say(const struct contest *c, char text[CONTEST_SENTENCE]);

#endif
