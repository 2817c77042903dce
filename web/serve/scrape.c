/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/scrape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/vec.h"
#include "web/serve/query.h"
#include "web/serve/reply.h"
#include "web/text/metrics.h"
#include "web/text/ports.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))

/* What fmd is asked for /metrics, in this order. */
enum { STATUS, DIST, HA, HEALTH, N_ASKED };
static const char *const asked[N_ASKED] = { "status", "dist", "ha", "health" };

/* A text of ports, and of what it was made. */
struct kept_page {
	char key[256]; /* of what was wanted; "": none */
	uint64_t n_files, sweep, n_hour, n_fabric;
	struct page *page;
};

struct answer_of {
	struct scrape *s;
	unsigned which;
};

/* One who wants ports, and which. */
struct ports_request {
	struct pending *who;
	json_t *args;
};

struct scrape {
	struct questions *fmd;
	struct fabric *fabric;
	struct counted *counted;
	struct places places;
	struct levels levels;
	struct page *metrics; /* NULL: none is made yet */
	int64_t metrics_ms;
	struct answer_of of[N_ASKED];
	json_t *told[N_ASKED];
	unsigned n_open; /* questions for /metrics; 0: none is under way */
	FM_VEC(struct pending *) wait_metrics;
	bool asks_fabric;
	struct page *of_places;	 /* the text that they were read from; NULL: none */
	int64_t fabric_until_ms; /* what was told, or that nobody has, holds till then */
	uint64_t n_fabric;	 /* answers that said something new */
	bool awaits_fabric;	 /* the questions for /metrics end with that one */
	FM_VEC(struct ports_request) wait_ports;
	struct kept_page kept[SCRAPE_PAGES];
	unsigned next_kept;
};

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------------------ the file */

static int
follow_file(struct scrape *s, struct fm_error *err)
{
	int rc = counted_follow(s->counted, err);

	if (rc == 0 && !levels_add(&s->levels, counted_readings(s->counted), &s->places))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the levels of the fabric");
	return rc;
}

/* ---------------------------------------------------------------------- the fabric */

static void answer_metrics(struct scrape *s);
static void answer_ports(struct scrape *s);

static void
read_places(struct scrape *s, struct page *page)
{
	json_t *fabric = json_loadb(page->text.v.item, page->text.v.n, 0, NULL);
	struct fm_error wrong;

	if (places_read(&s->places, fabric, &wrong) != 0)
		log_warn("web", "%s", wrong.msg);
	json_decref(fabric);
	page_put(s->of_places);
	s->of_places = page;
	page->n_users++;
	s->n_fabric++;
}

static void
on_fabric(void *arg, struct page *page, const struct fm_error *err)
{
	struct scrape *s = arg;

	s->asks_fabric = false;
	s->fabric_until_ms = now_ms() + (page != NULL ? SCRAPE_FABRIC_MS : SCRAPE_FRESH_MS);
	if (page != NULL && page != s->of_places)
		read_places(s, page);
	answer_ports(s);
	if (s->awaits_fabric) {
		s->awaits_fabric = false;
		if (--s->n_open == 0)
			answer_metrics(s);
	}
}

/* Levels and groups change with the fabric, and it is enough to know that within seconds. */
static bool
knows_fabric(const struct scrape *s)
{
	return now_ms() < s->fabric_until_ms;
}

static void
ask_fabric(struct scrape *s)
{
	if (s->asks_fabric)
		return;
	s->asks_fabric = true;
	fabric_ask(s->fabric, on_fabric, s);
}

/* --------------------------------------------------------------------------- /metrics */

static void
make_metrics(struct scrape *s)
{
	struct fm_error err;
	bool has_file = follow_file(s, &err) == 0;
	const struct metrics m = { s->told[STATUS], s->told[DIST], s->told[HA], s->told[HEALTH],
		has_file ? counted_readings(s->counted) : NULL, has_file ? &s->levels : NULL,
		fm_clock_ms(CLOCK_REALTIME) };

	page_put(s->metrics);
	s->metrics = page_new(PAGE_METRICS);
	s->metrics_ms = now_ms();
	if (s->metrics != NULL)
		metrics_write(&m, &s->metrics->text);
	for (unsigned i = 0; i < N_ASKED; i++) {
		json_decref(s->told[i]);
		s->told[i] = NULL;
	}
}

static void
send_metrics(struct scrape *s, struct evhttp_request *req)
{
	if (s->metrics != NULL)
		reply_page(req, REPLY_METRICS, s->metrics);
	else
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory for the metrics");
}

static void
answer_metrics(struct scrape *s)
{
	make_metrics(s);
	while (s->wait_metrics.n > 0) {
		struct evhttp_request *req = pending_end(s->wait_metrics.item[--s->wait_metrics.n]);

		if (req != NULL)
			send_metrics(s, req);
	}
}

/* What fmd does not tell, as an older one has not all commands, is left out. */
static void
on_told(void *arg, json_t *result, const struct fm_error *err)
{
	const struct answer_of *of = arg;
	struct scrape *s = of->s;

	s->told[of->which] = json_incref(result);
	if (--s->n_open == 0)
		answer_metrics(s);
}

static void
begin_metrics(struct scrape *s)
{
	s->n_open = N_ASKED + 1; /* one is ours, till all are asked */
	for (unsigned i = 0; i < N_ASKED; i++)
		questions_ask(s->fmd, asked[i], NULL, SCRAPE_ASK_MS, on_told, &s->of[i]);
	if (!knows_fabric(s)) {
		s->awaits_fabric = true;
		s->n_open++;
		ask_fabric(s);
	}
	if (--s->n_open == 0)
		answer_metrics(s);
}

void
scrape_metrics(struct scrape *s, struct evhttp_request *req)
{
	struct pending *who;

	if (s->n_open == 0 && s->metrics != NULL && now_ms() - s->metrics_ms < SCRAPE_FRESH_MS) {
		send_metrics(s, req);
		return;
	}
	who = pending_new(req);
	if (who == NULL)
		return;
	if (!fm_vec_push(&s->wait_metrics, who))
		reply_refuse(pending_end(who), HTTP_SERVUNAVAIL, "out of memory");
	else if (s->n_open == 0)
		begin_metrics(s);
}

/* --------------------------------------------------------------------- /metrics/ports */

static int
read_wanted(const json_t *args, struct ports_wanted *w, struct fm_error *err)
{
	static const char *const sets[] = { "errors", "load", "all" };
	const json_t *set = json_object_get(args, "set"), *group = json_object_get(args, "group"),
		     *names = json_object_get(args, "names");

	*w = (struct ports_wanted){ PORTS_ERRORS, json_string_value(group), names != NULL };
	if (query_check(args, "set group names", err) != 0)
		return (int)err->kind;
	if (set != NULL)
		for (w->set = PORTS_ERRORS; w->set <= PORTS_ALL; w->set++)
			if (json_is_string(set) &&
			    strcmp(json_string_value(set), sets[w->set]) == 0)
				break;
	if (w->set > PORTS_ALL)
		return fm_fail(err, FM_E_CONFIG, "set= is errors, load or all");
	if (group != NULL && w->group == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "group= is the name of a group, between double quotes where it is a number");
	if (names != NULL &&
	    (!json_is_string(names) ||
		strcmp(json_string_value(names), "infiniband_exporter") != 0))
		return fm_fail(err, FM_E_CONFIG,
		    "names= is infiniband_exporter; without it they are those of fmd-web(8)");
	return 0;
}

static bool
is_of_now(const struct scrape *s, const struct kept_page *k)
{
	const struct readings *r = counted_readings(s->counted);

	return k->page != NULL && k->n_files == r->n_files && k->sweep == r->head.sweep &&
	    k->n_hour == counted_hour(s->counted)->n && k->n_fabric == s->n_fabric;
}

/* One more text in the place of the oldest; NULL: enough are on their way to those who read slowly,
 * or memory is out. */
static struct page *
make_ports(struct scrape *s, const struct ports_wanted *w, const char *key)
{
	struct kept_page *k = &s->kept[s->next_kept++ % SCRAPE_PAGES];
	const struct readings *r = counted_readings(s->counted);

	page_put(k->page);
	*k = (struct kept_page){ .n_files = r->n_files,
		.sweep = r->head.sweep,
		.n_hour = counted_hour(s->counted)->n,
		.n_fabric = s->n_fabric };
	if (pages_alive(PAGE_PORTS) > 2 * SCRAPE_PAGES)
		return NULL;
	k->page = page_new(PAGE_PORTS);
	if (k->page == NULL)
		return NULL;
	ports_write(r, &s->places, counted_hour(s->counted), w, &k->page->text);
	if (strlen(key) < sizeof(k->key))
		memcpy(k->key, key, strlen(key) + 1);
	return k->page;
}

static struct page *
find_ports(struct scrape *s, const struct ports_wanted *w, const json_t *args)
{
	char *key = json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS);
	struct page *page = NULL;

	for (size_t i = 0; key != NULL && page == NULL && i < N_OF(s->kept); i++)
		if (is_of_now(s, &s->kept[i]) && strcmp(s->kept[i].key, key) == 0)
			page = s->kept[i].page;
	if (key != NULL && page == NULL)
		page = make_ports(s, w, key);
	free(key);
	return page;
}

static void
send_ports(struct scrape *s, struct evhttp_request *req, const json_t *args)
{
	struct ports_wanted w;
	struct fm_error err;
	struct page *page;

	if (read_wanted(args, &w, &err) != 0 || follow_file(s, &err) != 0) {
		reply_error(req, err.kind == FM_E_CONFIG ? 0 : HTTP_SERVUNAVAIL, &err);
		return;
	}
	if (w.group != NULL && !places_has_group(&s->places, w.group)) {
		reply_refuse(req,
		    s->places.generation[0] != '\0' ? HTTP_NOTFOUND : HTTP_SERVUNAVAIL,
		    s->places.generation[0] != '\0'
			? "there is no such group: \"groups\" of /api/v1/fabric lists them"
			: "fmd has not told the groups of the fabric");
		return;
	}
	page = find_ports(s, &w, args);
	if (page == NULL)
		reply_refuse(req, HTTP_SERVUNAVAIL, "too many read such texts now: try again");
	else
		reply_page(req, REPLY_METRICS, page);
}

static void
answer_ports(struct scrape *s)
{
	while (s->wait_ports.n > 0) {
		struct ports_request one = s->wait_ports.item[--s->wait_ports.n];
		struct evhttp_request *req = pending_end(one.who);

		if (req != NULL)
			send_ports(s, req, one.args);
		json_decref(one.args);
	}
}

void
scrape_ports(struct scrape *s, struct evhttp_request *req, const json_t *args)
{
	struct ports_request one = { 0 };

	if (knows_fabric(s)) {
		send_ports(s, req, args);
		return;
	}
	one.who = pending_new(req);
	if (one.who == NULL)
		return;
	one.args = json_incref((json_t *)(uintptr_t)args);
	if (!fm_vec_push(&s->wait_ports, one)) {
		json_decref(one.args);
		reply_refuse(pending_end(one.who), HTTP_SERVUNAVAIL, "out of memory");
		return;
	}
	ask_fabric(s);
}

/* ------------------------------------------------------------------------------- all */

struct scrape *
scrape_new(struct questions *fmd, struct fabric *fabric, struct counted *counted)
{
	struct scrape *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->fmd = fmd;
	s->fabric = fabric;
	s->counted = counted;
	for (unsigned i = 0; i < N_ASKED; i++)
		s->of[i] = (struct answer_of){ s, i };
	places_init(&s->places);
	return s;
}

void
scrape_free(struct scrape *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->wait_metrics.n; i++)
		(void)pending_end(s->wait_metrics.item[i]);
	for (size_t i = 0; i < s->wait_ports.n; i++) {
		(void)pending_end(s->wait_ports.item[i].who);
		json_decref(s->wait_ports.item[i].args);
	}
	for (unsigned i = 0; i < N_ASKED; i++)
		json_decref(s->told[i]);
	for (size_t i = 0; i < N_OF(s->kept); i++)
		page_put(s->kept[i].page);
	page_put(s->metrics);
	page_put(s->of_places);
	fm_vec_fini(&s->wait_metrics);
	fm_vec_fini(&s->wait_ports);
	places_fini(&s->places);
	levels_fini(&s->levels);
	free(s);
}
