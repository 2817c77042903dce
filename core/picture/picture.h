/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/picture.h - the whole fabric in one answer, for programs: nodes, cables, groups.
 *
 *	inventory, plan, loads --> struct picture --> generation: a hash of all of it
 *		 |			 |
 *		 `--> key		 `----------> text: JSON, written by rows
 *
 * The text is a function of the picture alone, and so is its generation.  Whether a picture has to
 * be made anew its key tells (kept.h).
 */
#ifndef CORE_PICTURE_PICTURE_H
#define CORE_PICTURE_PICTURE_H

#include "core/ctl/ctl.h"
#include "core/inventory/isolated.h"
#include "core/plan/plan.h"
#include "core/regions/regions.h"
#include "core/sweep/todo.h"

/* What it is made of; all borrowed. */
struct picture_of {
	const struct inventory *inv;
	const struct todo_list *todo;
	const struct isolated *isolated;
	const struct plan *plan;	  /* NULL: there is none */
	const uint64_t *load;		  /* [n_links of the plan] routes; NULL: not known */
	const struct region_set *regions; /* NULL: there is one */
	bool is_master;
};

struct picture_node {
	uint64_t guid;
	const char *name;   /* of the inventory */
	uint32_t first_lid; /* of its LIDs, in picture.lids */
	uint32_t group;	    /* FM_NONE: none */
	uint16_t n_lids;
	uint16_t level; /* 0: of a host; 1: of a switch with hosts; UINT16_MAX: not known */
	uint8_t type;	/* enum wire_node_type */
	uint8_t n_ports;
};

enum picture_flags { /* beside the state of the worse end, enum wire_port_state, in bits 0 to 2 */
	PICTURE_DEGRADED = 8,
	PICTURE_ISOLATED = 16,
	PICTURE_TROUBLE = 32 /* something is unfinished */
};

struct picture_cable {	  /* no holes: it is hashed as it is */
	uint32_t node[2]; /* INV_NONE: not known */
	uint32_t load[2]; /* routes from the first to the second, and back */
	uint8_t port[2];
	uint8_t rate, best; /* in picture.rates */
	uint32_t flags;
};

struct picture {
	FM_VEC(struct picture_node) nodes; /* those that are present, by slot */
	FM_VEC(uint16_t) lids;
	FM_VEC(struct picture_cable) cables;
	FM_VEC(struct wire_rate) rates; /* each once; the first of 0 lanes, not known */
	FM_VEC(const char *) groups;	/* what they are called by */
	const char *grouped_by;		/* "regions", "chassis", "levels", "names", "none" */
	bool is_master, knows_loads;
	uint64_t generation;
	struct fm_arena mem; /* of what has no owner but the picture */
};

/* Stands for all that a picture is made of: while it is the same, so is the picture.  Of one run of
 * fmd on one port.  O(ports), a third of what picture_make() takes. */
uint64_t picture_key(const struct picture_of *of);
/* As it is now: it points to names of the inventory and the plan, so that it is good until either
 * changes.  picture_fini() in any case.  FM_E_RESOURCE.  O(ports). */
int picture_make(const struct picture_of *of, struct picture *p, struct fm_error *err);
void picture_fini(struct picture *p);
/* As an object of JSON (fmctl(8), "fabric"). */
int picture_write(const struct picture *p, struct ctl_text *text, struct fm_error *err);
/* "0123456789abcdef" */
#define PICTURE_GENERATION_BYTES 17
void picture_generation(const struct picture *p, char text[PICTURE_GENERATION_BYTES]);

#endif
