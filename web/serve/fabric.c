/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/fabric.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/vec.h"
#include "web/serve/query.h"

struct waiting {
	fabric_done done;
	void *arg;
};

struct fabric {
	struct questions *fmd;
	struct page *page; /* NULL: fmd has told nothing yet */
	char generation[FABRIC_GENERATION];
	struct event *begin;
	int64_t asked_ms; /* when it was asked last */
	bool asks;
	FM_VEC(struct waiting) now; /* for the answer to what is asked */
	FM_VEC(struct waiting) next;
};

/* One who waits for it by HTTP. */
struct visit {
	struct fabric *f;
	struct pending *who;
	char has[FABRIC_GENERATION];
};

/* ------------------------------------------------------------------------ fmd */

/* The generation that a text begins with; false: it has none. */
static bool
read_generation(const char *text, size_t n, char generation[FABRIC_GENERATION])
{
	static const char head[] = "{\"generation\":\"";
	size_t n_head = sizeof(head) - 1;
	const char *from = text + n_head, *end;

	if (n < n_head || memcmp(text, head, n_head) != 0)
		return false;
	end = memchr(from, '"', n - n_head < FABRIC_GENERATION ? n - n_head : FABRIC_GENERATION);
	if (end == NULL || end == from)
		return false;
	memcpy(generation, from, (size_t)(end - from));
	generation[end - from] = '\0';
	return true;
}

static int
take(struct fabric *f, const char *text, size_t n, struct fm_error *err)
{
	char generation[FABRIC_GENERATION];
	struct page *page;

	if (!read_generation(text, n, generation))
		return fm_fail(err, FM_E_TOPOLOGY, "fmd tells a fabric without a generation");
	if (f->page != NULL && strcmp(generation, f->generation) == 0)
		return 0;
	page = pages_alive(PAGE_FABRIC) < FABRIC_ALIVE ? page_new(PAGE_FABRIC) : NULL;
	if (page == NULL)
		return fm_fail(err, FM_E_RESOURCE, "too many read such texts now: try again");
	text_put(&page->text, text, n);
	text_put(&page->text, "\n", 1);
	if (page->text.is_lost) {
		page_put(page);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the fabric");
	}
	page_put(f->page);
	f->page = page;
	memcpy(f->generation, generation, sizeof(generation));
	return 0;
}

static void begin_later(struct fabric *f);

static void
on_text(void *arg, const char *text, size_t n, const struct fm_error *wrong)
{
	struct fabric *f = arg;
	struct fm_error err = wrong != NULL ? *wrong : (struct fm_error){ 0 };
	bool ok = wrong == NULL && take(f, text, n, &err) == 0;
	struct page *page = ok ? f->page : NULL;

	if (page != NULL)
		page->n_users++; /* so that it lasts as long as there is somebody to be told */
	for (size_t i = 0; i < f->now.n; i++)
		f->now.item[i].done(f->now.item[i].arg, page, ok ? NULL : &err);
	page_put(page);
	f->now.n = 0;
	f->asks = false;
	if (f->next.n > 0)
		begin_later(f);
}

static void
on_begin(evutil_socket_t fd, short what, void *arg)
{
	struct fabric *f = arg;
	json_t *args = NULL;

	if (f->asks || f->next.n == 0)
		return;
	if (!fm_vec_append(&f->now, f->next.item, f->next.n))
		return; /* they wait for the next who comes */
	f->next.n = 0;
	f->asks = true;
	f->asked_ms = fm_clock_ms(CLOCK_MONOTONIC);
	if (f->page != NULL)
		args = json_pack("{s:s}", "generation", f->generation);
	questions_ask_text(f->fmd, "fabric", args, FABRIC_ASK_MS, on_text, f);
}

static void
begin_later(struct fabric *f)
{
	int64_t left = f->asked_ms + FABRIC_EVERY_MS - fm_clock_ms(CLOCK_MONOTONIC);
	struct timeval wait = { .tv_usec = left > 0 ? (suseconds_t)left * 1000 : 0 };

	event_add(f->begin, &wait);
}

void
fabric_ask(struct fabric *f, fabric_done done, void *arg)
{
	struct fm_error err;

	if (!fm_vec_push(&f->next, ((struct waiting){ done, arg }))) {
		fm_fail(&err, FM_E_RESOURCE, "out of memory");
		done(arg, NULL, &err);
		return;
	}
	if (!f->asks)
		begin_later(f);
}

/* ----------------------------------------------------------------------- HTTP */

static void
on_fabric(void *arg, struct page *page, const struct fm_error *err)
{
	struct visit *v = arg;
	struct evhttp_request *req = pending_end(v->who);
	json_t *same;

	if (req != NULL && page == NULL) {
		reply_error(req, 0, err);
	} else if (req != NULL && strcmp(v->has, v->f->generation) == 0) {
		same = json_pack("{s:s, s:b}", "generation", v->f->generation, "same", 1);
		reply_json(req, same);
		json_decref(same);
	} else if (req != NULL) {
		reply_kept(req, REPLY_JSON, page);
	}
	free(v);
}

void
fabric_answer(struct fabric *f, struct evhttp_request *req, const json_t *args)
{
	const char *has = json_string_value(json_object_get(args, "generation"));
	struct visit *v;
	struct fm_error err;

	if (query_check(args, "generation", &err) != 0) {
		reply_error(req, 0, &err);
		return;
	}
	if (has != NULL && (*has == '\0' || strlen(has) >= FABRIC_GENERATION)) {
		reply_refuse(req, HTTP_BADREQUEST,
		    "generation= is what the answer before had, 16 digits of base 16");
		return;
	}
	v = calloc(1, sizeof(*v));
	if (v == NULL) {
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory");
		return;
	}
	v->f = f;
	if (has != NULL)
		memcpy(v->has, has, strlen(has));
	v->who = pending_new(req);
	if (v->who != NULL)
		fabric_ask(f, on_fabric, v);
	else
		free(v);
}

/* ------------------------------------------------------------------------- all */

struct fabric *
fabric_new(struct event_base *base, struct questions *fmd)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->fmd = fmd;
	f->asked_ms = INT64_MIN / 2;
	f->begin = evtimer_new(base, on_begin, f);
	if (f->begin != NULL)
		return f;
	free(f);
	return NULL;
}

void
fabric_free(struct fabric *f)
{
	struct fm_error err;

	if (f == NULL)
		return;
	fm_fail(&err, FM_E_SYSTEM, "fmd-web ends");
	for (size_t i = 0; i < f->now.n; i++)
		f->now.item[i].done(f->now.item[i].arg, NULL, &err);
	for (size_t i = 0; i < f->next.n; i++)
		f->next.item[i].done(f->next.item[i].arg, NULL, &err);
	fm_vec_fini(&f->now);
	fm_vec_fini(&f->next);
	page_put(f->page);
	event_free(f->begin);
	free(f);
}
