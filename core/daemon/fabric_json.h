/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/fabric_json.h - what fmctl shows of the fabric as it was last read: nodes, links,
 * fabric.
 *
 * A list comes in pages, so that no answer holds up the loop: {"nodes": [...], "next": N}, and
 * the page after begins with "from": N; null behind the last.  A node keeps its number while the
 * process lives, so that nothing is told twice, though pages are of different moments.
 */
#ifndef CORE_DAEMON_FABRIC_JSON_H
#define CORE_DAEMON_FABRIC_JSON_H

#include "core/ctl/ctl.h"
#include "core/daemon/daemon.h"

/* What a page holds, and what is looked at for it: 4 and 2 ms of a core of 2020. */
#define FABRIC_PAGE 400
#define FABRIC_PORTS 16384

/* args: "from"; "name", a pattern as in fmd.conf, of a node's description or its first word;
 * "trouble": only what is unfinished.  FM_E_CONFIG, FM_E_RESOURCE. */
int daemon_nodes(const struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);
/* The same of cables with an end of which something is known, each once; "degraded": only those
 * that are narrower or slower than both ends support. */
int daemon_links(const struct daemon *d, const json_t *args, json_t **result, struct fm_error *err);

/* The whole fabric, as text (core/picture/kept.h); args: "generation", the one that is known. */
int daemon_fabric(
    struct daemon *d, const json_t *args, struct ctl_text *text, struct fm_error *err);
/* The generation that it has now, a new string, or NULL.  O(ports) where it is another one. */
json_t *daemon_generation(struct daemon *d);

#endif
