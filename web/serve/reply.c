/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/reply.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "core/text/json_text.h"
#include "lib/hash.h"

/* ----------------------------------------------------------------------- pages */

static unsigned n_alive[PAGE_KINDS];

struct page *
page_new(enum page_kind kind)
{
	struct page *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->kind = kind;
	p->n_users = 1;
	n_alive[kind]++;
	return p;
}

void
page_put(struct page *p)
{
	if (p == NULL || --p->n_users > 0)
		return;
	n_alive[p->kind]--;
	text_fini(&p->text);
	text_fini(&p->zipped);
	free(p);
}

unsigned
pages_alive(enum page_kind kind)
{
	return n_alive[kind];
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
	case HTTP_NOTMODIFIED:
		return "Not Modified";
	case HTTP_BADREQUEST:
		return "Bad Request";
	case REPLY_FORBIDDEN:
		return "Forbidden";
	case HTTP_NOTFOUND:
		return "Not Found";
	case HTTP_BADMETHOD:
		return "Method Not Allowed";
	case REPLY_MISDIRECTED:
		return "Misdirected Request";
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

/* The page has what is its own, and from here; nobody shows it in a frame of theirs. */
#define POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* It is taken for nothing else by browsers; keep: may they keep it, if they ask for it again? */
static void
send_reply(struct evhttp_request *req, int code, const char *type, bool keep, struct evbuffer *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);

	if (body != NULL && evhttp_request_get_command(req) == EVHTTP_REQ_HEAD)
		say_length(req, body);

	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", keep ? "no-cache" : "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "Content-Security-Policy", POLICY);
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	evhttp_send_reply(req, code, reason_of(code), body);
	if (body != NULL)
		evbuffer_free(body);
}

/* text: of the page. */
static void
send_text(struct evhttp_request *req, const char *type, bool keep, struct page *p,
    const struct text *text)
{
	struct evbuffer *body = p->text.is_lost ? NULL : evbuffer_new();

	if (body == NULL) {
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory for the answer");
		return;
	}
	p->n_users++;
	if (evbuffer_add_reference(body, text->v.item, text->v.n, on_sent, p) != 0)
		page_put(p);
	send_reply(req, HTTP_OK, type, keep, body);
}

void
reply_page(struct evhttp_request *req, const char *type, struct page *p)
{
	send_text(req, type, false, p, &p->text);
}

/* ------------------------------------------------------------------------ kept */

#define ZIP_LEVEL 1	     /* 1.8 MB take 12 ms, by level 6 64 ms, for a fifth less */
#define ZIP_WINDOW (15 + 16) /* the greatest, with gzip's head */
#define ZIP_MEMORY 9	     /* the most, 256 KB while it is made */
#define ZIP_SMALLEST 512     /* bytes that are sent as they are */

static void
zip(struct page *p)
{
	z_stream z = { .next_in = (Bytef *)p->text.v.item, .avail_in = (uInt)p->text.v.n };
	struct text out = { 0 };

	if (p->text.v.n > UINT_MAX ||
	    deflateInit2(&z, ZIP_LEVEL, Z_DEFLATED, ZIP_WINDOW, ZIP_MEMORY, Z_DEFAULT_STRATEGY) !=
		Z_OK)
		return;
	if (fm_vec_reserve(&out.v, deflateBound(&z, p->text.v.n))) {
		z.next_out = (Bytef *)out.v.item;
		z.avail_out = (uInt)deflateBound(&z, p->text.v.n);
		if (deflate(&z, Z_FINISH) == Z_STREAM_END)
			out.v.n = z.total_out;
	}
	deflateEnd(&z);
	if (out.v.n > 0)
		p->zipped = out;
	else
		text_fini(&out);
}

/* Is this word among those of a header, and not with a weight of 0? */
static bool
takes(const char *words, const char *wanted)
{
	while (*words != '\0') {
		size_t n = strcspn(words, ","), is = strspn(words, " \t"),
		       name = strcspn(words + is, " \t;,");
		const char *q = strstr(words, "q=");

		if (name == strlen(wanted) && strncasecmp(words + is, wanted, name) == 0)
			return q == NULL || q > words + n || strtod(q + 2, NULL) > 0;
		words += n;
		words += *words == ',';
	}
	return false;
}

static bool
takes_gzip(struct evhttp_request *req)
{
	const char *words =
	    evhttp_find_header(evhttp_request_get_input_headers(req), "Accept-Encoding");

	return words != NULL && takes(words, "gzip");
}

/* "0123456789abcdef" is enough of a tag: nobody gives out others. */
static bool
has_it(struct evhttp_request *req, const char *hash)
{
	const char *tags =
	    evhttp_find_header(evhttp_request_get_input_headers(req), "If-None-Match");

	return tags != NULL && (strcmp(tags, "*") == 0 || strstr(tags, hash) != NULL);
}

void
reply_kept(struct evhttp_request *req, const char *type, struct page *p)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
	char hash[24], tag[32];
	bool zips = takes_gzip(req) && p->text.v.n >= ZIP_SMALLEST;

	if (p->hash == 0)
		p->hash = fm_hash_bytes(1, p->text.v.item, p->text.v.n);
	snprintf(hash, sizeof(hash), "\"%016" PRIx64 "\"", p->hash);
	snprintf(tag, sizeof(tag), "W/%s", hash); /* weak, as it is of the text, zipped or not */
	evhttp_add_header(headers, "ETag", tag);
	evhttp_add_header(headers, "Vary", "Accept-Encoding");
	if (has_it(req, hash)) {
		send_reply(req, HTTP_NOTMODIFIED, type, true, NULL);
		return;
	}
	if (zips && p->zipped.v.n == 0)
		zip(p);
	zips = zips && p->zipped.v.n > 0;
	if (zips)
		evhttp_add_header(headers, "Content-Encoding", "gzip");
	send_text(req, type, true, p, zips ? &p->zipped : &p->text);
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
		send_reply(req, HTTP_SERVUNAVAIL, REPLY_JSON, false, NULL);
		return;
	}
	if (evbuffer_add_reference(body, text, strlen(text), free_text, text) != 0)
		free(text);
	evbuffer_add(body, "\n", 1);
	send_reply(req, code, REPLY_JSON, false, body);
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
