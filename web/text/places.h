/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/places.h - the level and the group of each node, as fmd tells them (fmctl(8), "fabric").
 */
#ifndef WEB_TEXT_PLACES_H
#define WEB_TEXT_PLACES_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/error.h"
#include "lib/hash.h"

#define PLACES_NO_LEVEL UINT8_MAX

struct place {
	uint8_t level;	   /* 0: of a host, 1: of a switch with hosts; PLACES_NO_LEVEL: not known */
	const char *group; /* "": none */
};

struct places {
	char generation[32]; /* "": fmd has told nothing yet */
	struct fm_arena mem;
	uint32_t n_nodes, n_groups;
	struct place *place; /* [n_nodes] */
	const char **groups; /* [n_groups] */
	struct fm_hash of_guid;
};

void places_init(struct places *p);
void places_fini(struct places *p);
/* An answer of the command "fabric".  "same" keeps what there is.  FM_E_TOPOLOGY: it makes no
 * sense, FM_E_RESOURCE; then nothing is known. */
int places_read(struct places *p, const json_t *fabric, struct fm_error *err);
/* Of a node that fmd has not told: no level, no group. */
struct place places_of(const struct places *p, uint64_t guid);
/* Has any node this group? */
bool places_has_group(const struct places *p, const char *group);

#endif
