/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opafm_private.h - what the translation of opafm.xml and its device groups share.
 */
#ifndef CORE_OPENSM_OPAFM_PRIVATE_H
#define CORE_OPENSM_OPAFM_PRIVATE_H

#include "core/opensm/opafm.h"

/* The child of that name of element `of`, behind its child `after`, 0: the first; 0: none. */
uint32_t opafm_child(const struct opafm *x, uint32_t of, const char *name, uint32_t after);
/* Device groups by their names, once x->fm is chosen. */
void opafm_name_groups(struct opafm *x);
/* The device group of that name as an item "@NAME", made where nothing used it yet; NULL, and
 * told, where it is not there.  All stands for all nodes. */
const char *opafm_group_item(struct opafm *x, const struct opensm_line *l, const char *name);
/* A name by the letters that names of groups and vfabrics have here; NULL: no memory. */
const char *opafm_clean_name(struct opafm *x, const char *name);
/* The virtual fabrics, once device groups have their names. */
void opafm_take_vfabrics(struct opafm *x);

#endif
