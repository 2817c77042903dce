/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/view_blobs.h - a view as blobs.
 */
#ifndef CORE_DIST_VIEW_BLOBS_H
#define CORE_DIST_VIEW_BLOBS_H

#include "core/dist/claimed.h"
#include "core/dist/published.h"
#include "core/view/view.h"

/* What hosts are told besides. */
struct view_beside {
	struct addresses addresses; /* the administrator's */
	struct ip_claims *claims;   /* a reference; NULL: not known yet, what has been told stays */
	struct claimed claimed;	    /* made of them */
};

/* All blobs of v put into p.  prev: what was put the last time, as nothing has failed since, or
 * NULL; rows in which it agrees are not made again.  beside may be NULL.  What has gone is left
 * as it was, marked BLOB_PORT_GONE: it may come back; of what it has registered hosts are told no
 * more.  FM_E_RESOURCE, or what the place says. */
int view_blobs_put(struct published *p, const struct sa_view *v, const struct sa_view *prev,
    struct view_beside *beside, struct fm_error *err);

#endif
