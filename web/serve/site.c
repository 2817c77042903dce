/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/site.h"

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "web/serve/api.h"
#include "web/serve/counted.h"
#include "web/serve/fabric.h"
#include "web/serve/files.h"
#include "web/serve/listen.h"
#include "web/serve/query.h"
#include "web/serve/reply.h"
#include "web/serve/scrape.h"
#include "web/serve/stream.h"
#include "web/serve/visitors.h"

#define HEADERS_MOST 8192 /* bytes */
#define QUIET_S 10	  /* that a connection may be silent */
#define API "/api/v1/"

struct site {
	struct evhttp *http;
	struct visitors *visitors;
	struct questions *fmd;
	struct fabric *fabric;
	struct counted *counted;
	struct scrape *scrape;
	struct api *api;
	struct streams *streams;
	struct files *files;
	const char *path;  /* of its socket; NULL: it has none */
	const char *names; /* by which it is asked for, as listen_is_ours() takes them */
};

static const char help[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>fmd-web</title></head>\n"
    "<body><h1>fmd-web</h1><ul>\n"
    "<li><a href=\"./\">/</a>: the page</li>\n"
    "<li><a href=\"metrics\">/metrics</a>: the fabric as a whole, for Prometheus</li>\n"
    "<li><a href=\"metrics/ports\">/metrics/ports</a>: ports that have had errors; "
    "?set=load, ?set=all, &amp;group=NAME, &amp;names=infiniband_exporter</li>\n"
    "<li><a href=\"api/v1/help\">/api/v1/help</a>: the commands of fmd; those that read are "
    "/api/v1/COMMAND?KEY=VALUE, as <a href=\"api/v1/status\">status</a>, "
    "<a href=\"api/v1/trouble\">trouble</a>, <a href=\"api/v1/fabric\">fabric</a>, "
    "<a href=\"api/v1/events\">events</a></li>\n"
    "<li><a href=\"api/v1/top\">/api/v1/top</a>, /api/v1/counters?node=NAME, "
    "/api/v1/history?port=NAME:PORT, <a href=\"api/v1/cells\">/api/v1/cells</a> "
    "(?over=hour; bytes, fmd-web(8)): what fmd-perf has counted</li>\n"
    "<li>/api/v1/events/stream: events as they happen</li>\n"
    "</ul><p>Nothing can be changed here; fmctl(8) can.</p></body></html>\n";

static void
send_help(struct site *s, struct evhttp_request *req, const json_t *args)
{
	struct page *p = page_new(PAGE_FILE);

	if (p == NULL) {
		reply_refuse(req, HTTP_SERVUNAVAIL, "out of memory");
		return;
	}
	text_put(&p->text, help, sizeof(help) - 1);
	reply_page(req, REPLY_HTML, p);
	page_put(p);
}

static void
send_metrics(struct site *s, struct evhttp_request *req, const json_t *args)
{
	scrape_metrics(s->scrape, req);
}

static void
send_ports(struct site *s, struct evhttp_request *req, const json_t *args)
{
	scrape_ports(s->scrape, req, args);
}

static void
send_events(struct site *s, struct evhttp_request *req, const json_t *args)
{
	streams_add(s->streams, req);
}

static void
send_fabric(struct site *s, struct evhttp_request *req, const json_t *args)
{
	fabric_answer(s->fabric, req, args);
}

static void
send_cells(struct site *s, struct evhttp_request *req, const json_t *args)
{
	counted_cells(s->counted, req, args);
}

static void
send_history(struct site *s, struct evhttp_request *req, const json_t *args)
{
	counted_history(s->counted, req, args);
}

typedef int read_query(const char *text, json_t **args, struct fm_error *err);

static const struct address {
	const char *path;
	void (*send)(struct site *s, struct evhttp_request *req, const json_t *args);
	read_query *read;
} addresses[] = { { "/help", send_help, query_read }, { "/metrics", send_metrics, query_read },
	{ "/metrics/ports", send_ports, query_read },
	{ API "events/stream", send_events, query_read },
	{ API "fabric", send_fabric, query_read_words },
	{ API "cells", send_cells, query_read_words },
	{ API "history", send_history, query_read_words } };

/* NULL: it is none of these. */
static const struct address *
find_address(const char *path)
{
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (strcmp(addresses[i].path, path) == 0)
			return &addresses[i];
	return NULL;
}

static void
route(struct site *s, struct evhttp_request *req, const char *path, const char *query)
{
	const struct address *a = find_address(path);
	json_t *args = NULL;
	struct fm_error err;

	if ((a != NULL ? a->read : query_read)(query, &args, &err) != 0)
		reply_error(req, 0, &err);
	else if (a != NULL)
		a->send(s, req, args);
	else if (strncmp(path, API, strlen(API)) == 0 && path[strlen(API)] != '\0')
		api_answer(s->api, req, path + strlen(API), args);
	else
		reply_refuse(req, HTTP_NOTFOUND,
		    "there is nothing at this address: /help lists those there are");
	json_decref(args);
}

/* A page of somebody else's, in a browser, says in one of them whose it is; without both it is no
 * page. */
static bool
is_asked_by_our_name(const struct site *s, struct evhttp_request *req)
{
	const char *host = evhttp_request_get_host(req),
		   *origin = evhttp_find_header(evhttp_request_get_input_headers(req), "Origin");
	struct evhttp_uri *uri = origin != NULL ? evhttp_uri_parse(origin) : NULL;
	const char *from = uri != NULL ? evhttp_uri_get_host(uri) : NULL;
	bool is_ours = (host == NULL || listen_is_ours(host, s->names)) &&
	    (origin == NULL || (from != NULL && listen_is_ours(from, s->names)));

	if (uri != NULL)
		evhttp_uri_free(uri);
	return is_ours;
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	enum evhttp_cmd_type method = evhttp_request_get_command(req);
	const char *path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;
	struct site *s = arg;

	visitors_begin(s->visitors, req);
	if (!is_asked_by_our_name(s, req)) {
		reply_refuse(req, REPLY_MISDIRECTED,
		    "what was asked for is at another name (Host, Origin) than those of fmd-web: "
		    "ask for an address or localhost, or tell fmd-web the name of its proxy by "
		    "--host=NAME");
	} else if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Allow", "GET, HEAD");
		reply_refuse(
		    req, HTTP_BADMETHOD, "nothing can be changed here: GET and HEAD is all");
	} else if (path == NULL) {
		reply_refuse(req, HTTP_BADREQUEST, "the address makes no sense");
	} else if (!files_answer(s->files, req, path)) {
		route(s, req, path, evhttp_uri_get_query(uri));
	}
}

static int
open_http(struct site *s, struct event_base *base, const char *listen, struct fm_error *err)
{
	struct evconnlistener *listener = NULL;
	int rc = listen_at(base, listen, &listener, err);

	if (rc != 0)
		return rc;
	s->path = strchr(listen, '/') != NULL ? listen : NULL;
	s->http = evhttp_new(base);
	s->visitors = s->http != NULL ? visitors_new(base, s->http, listener) : NULL;
	if (s->visitors == NULL || evhttp_bind_listener(s->http, listener) == NULL) {
		evconnlistener_free(listener);
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	}
	evhttp_set_max_headers_size(s->http, HEADERS_MOST);
	evhttp_set_max_body_size(s->http, 0);
	evhttp_set_timeout(s->http, QUIET_S);
	/* all, so that the others are answered by a sentence of ours */
	evhttp_set_allowed_methods(s->http,
	    EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
		EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT |
		EVHTTP_REQ_PATCH);
	evhttp_set_gencb(s->http, on_request, s);
	return 0;
}

int
site_open(struct event_base *base, const char *listen, const char *names, const char *socket,
    const char *file, struct site **out, struct fm_error *err)
{
	struct site *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (s == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	s->names = names;
	rc = open_http(s, base, listen, err);
	if (rc == 0) {
		s->fmd = questions_new(base, socket);
		s->fabric = fabric_new(base, s->fmd);
		s->counted = counted_new(base, file);
		s->scrape = scrape_new(s->fmd, s->fabric, s->counted);
		s->api = api_new(s->fmd, file);
		s->streams = streams_new(base, s->fmd, s->visitors);
		s->files = files_new();
		if (s->fmd == NULL || s->fabric == NULL || s->counted == NULL ||
		    s->scrape == NULL || s->api == NULL || s->streams == NULL || s->files == NULL)
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory");
	}
	if (rc != 0)
		site_close(s);
	else
		*out = s;
	return rc;
}

void
site_close(struct site *s)
{
	if (s == NULL)
		return;
	questions_free(s->fmd);
	streams_free(s->streams);
	if (s->http != NULL)
		evhttp_free(s->http);
	visitors_free(s->visitors);
	api_free(s->api);
	fabric_free(s->fabric);
	scrape_free(s->scrape);
	counted_free(s->counted);
	files_free(s->files);
	if (s->path != NULL)
		unlink(s->path);
	free(s);
}
