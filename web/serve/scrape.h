/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/scrape.h - /metrics and /metrics/ports.
 *
 * fmd is asked once for all who want /metrics at a time, once a second at most, and is waited for
 * SCRAPE_ASK_MS.
 */
#ifndef WEB_SERVE_SCRAPE_H
#define WEB_SERVE_SCRAPE_H

#include <event2/http.h>
#include <jansson.h>

#include "web/serve/counted.h"
#include "web/serve/fabric.h"

#define SCRAPE_ASK_MS 2000
#define SCRAPE_FRESH_MS 1000   /* a text is handed out again */
#define SCRAPE_FABRIC_MS 10000 /* levels and groups are asked for again */
#define SCRAPE_PAGES 4	       /* texts of ports that are kept, and as many may be on their way */

struct scrape;

/* All borrowed.  NULL: memory is out. */
struct scrape *scrape_new(struct questions *fmd, struct fabric *fabric, struct counted *counted);
void scrape_free(struct scrape *s); /* after the fabric; NULL is fine */

void scrape_metrics(struct scrape *s, struct evhttp_request *req);
/* args: set, group, names; borrowed. */
void scrape_ports(struct scrape *s, struct evhttp_request *req, const json_t *args);

#endif
