/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/compose_sls.h - SLs of a join: what paths demand, and the tables that meet it.
 */
#ifndef CORE_REGIONS_COMPOSE_SLS_H
#define CORE_REGIONS_COMPOSE_SLS_H

#include "core/regions/compose_internal.h"

/* The SL that the engine of d's component gives packets for lid that come from switch `from` of
 * component x; 0 where that does not bind the path. */
uint8_t compose_own_sl(const struct composer *c, uint32_t x, fm_sw from, uint32_t lid);

/* What a path demands of the components of more than one switch that it crosses. */
struct demand_part {
	uint16_t component;
	uint8_t value;
};
struct demand {
	uint32_t first, n;     /* into parts, ascending by component */
	uint32_t source, dest; /* components, of the first path that demands so */
	uint8_t own;	       /* engine's SL */
	uint8_t sl;	       /* to be found: number of the signature */
};
struct demands {
	FM_VEC(struct demand) all; /* all different */
	FM_VEC(struct demand_part) parts;
	FM_VEC(uint32_t) of;	     /* [n_asked] index into all */
	FM_VEC(struct demand) asked; /* every (source, destination, engine's SL); first, n unused */
};
void compose_demands_fini(struct demands *d);
/* The demands of the join in hand, and the layers each component carries. */
int compose_list_demands(struct composer *c, struct demands *out, struct fm_error *err);

/* A signature says what one SL means in every component.  Find few in which all demands fit,
 * at most `most`; *n is how many, more than `most` when they do not.  all.item[].sl and
 * signature[most][n_components] are filled. */
int compose_sign(struct composer *c, struct demands *d, uint32_t most, uint8_t *signature,
    uint32_t *n, struct fm_error *err);

/* SL and SL2VL tables of the join in hand.  *fits false, with the reason: more than allowed. */
int compose_sl_tables(
    struct composer *c, bool *fits, char *reason, size_t room, struct fm_error *err);
#endif
