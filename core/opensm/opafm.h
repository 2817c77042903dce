/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opafm.h - opa-fm's opafm.xml, and what stands for it here.
 *
 *	XML --opafm_read--> elements --opafm_translate--> struct opensm: settings, groups,
 *	elements that have no counterpart, mistakes
 *
 * <Common> holds for all subnets, an <Fm> for one; in each of them <Sm> goes before <Shared>.
 * Keys are named by their path below those: Lmc, AdaptiveRouting.Enable.
 */
#ifndef CORE_OPENSM_OPAFM_H
#define CORE_OPENSM_OPAFM_H

#include "core/opensm/opensm.h"

/* Row i, or NULL behind the last; the row of a path, or NULL. */
const struct opensm_key *opafm_key(size_t i);
const struct opensm_key *opafm_key_find(const char *path);

/* An element; parents stand before their children. */
struct opafm_element {
	const char *name;
	const char *value; /* without blanks around it; "" of one that holds others */
	unsigned line;
	uint32_t end;	 /* behind the last element in it */
	bool is_section; /* it holds others */
};

/* A device group's name; of two the subnet's own goes before that of <Common>. */
struct opafm_name {
	const char *name;
	bool is_common;
	uint32_t element;
};

/* A device group that routing or a vfabric uses. */
struct opafm_group {
	const char *name;   /* as fmd may have it */
	const char *said;   /* as the file has it */
	const char **items; /* [n_items], items of node lists */
	unsigned *lines;    /* [n_items] */
	size_t n_items;
	unsigned line;
};

/* A virtual fabric that is enabled, as a section vfabric. */
struct opafm_vfabric {
	const char *name, *said;	  /* as of a group */
	size_t first_setting, n_settings; /* of opafm.vfabric_settings: keys of the section */
	const char *qos_group;		  /* that it is in, or NULL */
	bool has_qos;
	unsigned line;
};

/* An SL for what says none. */
struct opafm_sl {
	uint32_t qos; /* the element that says the QoS */
	uint8_t sl;
};

struct opafm {
	struct opensm o;
	FM_VEC(struct opafm_element) elements;
	FM_VEC(struct opafm_name) names; /* of device groups, ordered */
	FM_VEC(struct opafm_group) groups;
	FM_VEC(struct opafm_vfabric) vfabrics;
	FM_VEC(struct opensm_setting) vfabric_settings;
	FM_VEC(struct opafm_sl) sls_given;
	uint32_t fm; /* the element of the subnet that was taken, 0: none stands there */
};
void opafm_init(struct opafm *x, struct fm_arena *mem, const struct engine_set *engines);
void opafm_fini(struct opafm *x);

/* Elements of a text.  FM_E_CONFIG "PATH:LINE: ..." for what is no XML, declares a document
 * type or entities, or is deeper or longer than opa-fm's file can be, and in a build without
 * libexpat; FM_E_RESOURCE. */
int opafm_read(struct opafm *x, const char *path, const char *text, size_t n, struct fm_error *err);
/* Elements to settings, groups and vfabrics; what is wrong is in x->o.told[OPENSM_BAD]. */
void opafm_translate(struct opafm *x, const char *chain_by_default);

#endif
