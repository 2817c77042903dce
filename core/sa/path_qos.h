/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/path_qos.h - what the administrator's levels make of a path.
 */
#ifndef CORE_SA_PATH_QOS_H
#define CORE_SA_PATH_QOS_H

#include "core/sa/path_query.h"

/* A path as routes make it, brought to the level that the policy gives it: less MTU and
 * rate, another SL, the life time and the P_Key of the level.  The SL of an engine that has
 * a say in SLs stays, but for the bit of two levels of quality (tables_vls.h).  d: offset of the
 * destination's LID.  False: the level forbids it, or no P_Key is left (want_pkey not 0: this one
 * is asked for). */
struct path_service {
	struct path_attr attr;
	uint8_t sl, life;
	uint16_t pkey;
};
bool path_qos(const struct path_query *p, uint32_t src, uint32_t dst, unsigned d,
    uint16_t want_pkey, struct path_service *s);

/* Does the engine leave SLs to others?  With a map of its own from SLs to VLs it means the SLs
 * that it gives, and no other is proven. */
bool path_sl_is_free(const struct sa_view *v);

#endif
