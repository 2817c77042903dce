/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/reply.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/json_text.h"

/* ----------------------------------------------------------------------- pages */

static unsigned n_alive;

struct page *
page_new(void)
{
	struct page *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->n_users = 1;
	n_alive++;
	return p;
}

void
page_put(struct page *p)
{
	if (p == NULL || --p->n_users > 0)
		return;
	text_fini(&p->text);
	free(p);
	n_alive--;
}

unsigned
pages_alive(void)
{
	return n_alive;
}

static void
on_sent(const void *bytes, size_t n, void *arg)
{
	page_put(arg);
}

/* --------------------------------------------------------------------- answers */

static const char *
reason_of(int code)
{
	switch (code) {
	case HTTP_OK:
		return "OK";
	case HTTP_BADREQUEST:
		return "Bad Request";
	case REPLY_FORBIDDEN:
		return "Forbidden";
	case HTTP_NOTFOUND:
		return "Not Found";
	case HTTP_BADMETHOD:
		return "Method Not Allowed";
	case REPLY_TOO_MANY:
		return "Too Many Requests";
	case HTTP_SERVUNAVAIL:
		return "Service Unavailable";
	default:
		return "Internal Server Error";
	}
}

/* To HEAD libevent would send the body, too. */
static void
say_length(struct evhttp_request *req, struct evbuffer *body)
{
	char n[24];

	snprintf(n, sizeof(n), "%zu", evbuffer_get_length(body));
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Length", n);
	evbuffer_drain(body, evbuffer_get_length(body));
}

/* Nothing of it is kept by proxies, nor taken for something else by browsers. */
static void
send_reply(struct evhttp_request *req, int code, const char *type, struct evbuffer *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);

	if (body != NULL && evhttp_request_get_command(req) == EVHTTP_REQ_HEAD)
		say_length(req, body);

	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_send_reply(req, code, reason_of(code), body);
	if (body != NULL)
		evbuffer_free(body);
}

void
reply_page(struct evhttp_request *req, const char *type, struct page *p)
{
	struct evbuffer *body = p->text.is_lost ? NULL : evbuffer_new();

	if (body == NULL) {
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory for the answer");
		return;
	}
	p->n_users++;
	if (evbuffer_add_reference(body, p->text.v.item, p->text.v.n, on_sent, p) != 0)
		page_put(p);
	send_reply(req, HTTP_OK, type, body);
}

static void
free_text(const void *bytes, size_t n, void *arg)
{
	free(arg);
}

static void
send_json(struct evhttp_request *req, int code, const json_t *value)
{
	char *text = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	struct evbuffer *body = text != NULL ? evbuffer_new() : NULL;

	if (body == NULL) {
		free(text);
		send_reply(req, HTTP_SERVUNAVAIL, "application/json", NULL);
		return;
	}
	if (evbuffer_add_reference(body, text, strlen(text), free_text, text) != 0)
		free(text);
	evbuffer_add(body, "\n", 1);
	send_reply(req, code, "application/json", body);
}

void
reply_json(struct evhttp_request *req, const json_t *value)
{
	send_json(req, HTTP_OK, value);
}

static int
code_of(enum fm_error_kind kind)
{
	return kind == FM_E_CONFIG			   ? HTTP_BADREQUEST
	    : kind == FM_E_SYSTEM || kind == FM_E_RESOURCE ? HTTP_SERVUNAVAIL
							   : HTTP_INTERNAL;
}

void
reply_error(struct evhttp_request *req, int code, const struct fm_error *err)
{
	json_t *o =
	    json_pack("{s:o, s:s}", "error", json_text(err->msg), "kind", fm_error_word(err->kind));

	send_json(req, code != 0 ? code : code_of(err->kind), o);
	json_decref(o);
}

void
reply_refuse(struct evhttp_request *req, int code, const char *format, ...)
{
	struct fm_error err;
	va_list ap;

	va_start(ap, format);
	fm_vfail(&err, code >= HTTP_INTERNAL ? FM_E_RESOURCE : FM_E_CONFIG, format, ap);
	va_end(ap);
	reply_error(req, code, &err);
}

/* --------------------------------------------------------------------- pending */

struct pending {
	struct evhttp_request *req; /* NULL: its connection has gone */
};

static void
on_close(struct evhttp_connection *connection, void *arg)
{
	struct pending *p = arg;

	p->req = NULL;
}

struct pending *
pending_new(struct evhttp_request *req)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory");
		return NULL;
	}
	p->req = req;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_close, p);
	return p;
}

struct evhttp_request *
pending_end(struct pending *p)
{
	struct evhttp_request *req = p->req;

	if (req != NULL)
		evhttp_connection_set_closecb(evhttp_request_get_connection(req), NULL, NULL);
	free(p);
	return req;
}
