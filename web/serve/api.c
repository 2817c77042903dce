/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/tokens.h"
#include "perf/book/answer.h"
#include "web/serve/query.h"
#include "web/serve/reply.h"

struct api {
	struct questions *fmd;
	const char *file;
	json_t *commands; /* as fmd has listed them; NULL: not known, or to be asked anew */
	struct fm_tokens tokens;
};

/* One request under way. */
struct call {
	struct api *api;
	struct pending *who;
	json_t *args;
	char command[40];
};

/* The request, if somebody waits for it; the rest is freed. */
static struct evhttp_request *
end(struct call *c)
{
	struct evhttp_request *req = pending_end(c->who);

	json_decref(c->args);
	free(c);
	return req;
}

static void
forget_commands(struct api *a)
{
	json_decref(a->commands);
	a->commands = NULL;
}

static void
on_answer(void *arg, json_t *result, const struct fm_error *err)
{
	struct call *c = arg;
	struct api *a = c->api;
	struct evhttp_request *req = end(c);

	if (err != NULL && err->kind == FM_E_SYSTEM)
		forget_commands(a); /* another fmd may come */
	if (req != NULL && result != NULL)
		reply_json(req, result);
	else if (req != NULL)
		reply_error(req, 0, err);
}

/* ------------------------------------------------------------------ what is passed on */

static const json_t *
find_command(const struct api *a, const char *name)
{
	for (size_t i = 0; i < json_array_size(a->commands); i++) {
		const json_t *one = json_array_get(a->commands, i);
		const char *is = json_string_value(json_object_get(one, "command"));

		if (is != NULL && strcmp(is, name) == 0)
			return one;
	}
	return NULL;
}

static bool
has_key_of(const json_t *args, const json_t *command, const char *which)
{
	const char *key = json_string_value(json_object_get(command, which));

	return key != NULL && json_object_get(args, key) != NULL;
}

/* 0, or the code of HTTP and why. */
static int
refusal_of(const struct call *c, const char **why)
{
	const json_t *command = find_command(c->api, c->command);

	*why = "";
	if (strcmp(c->command, "help") == 0)
		return 0;
	if (command == NULL) {
		*why = "there is no such command: /api/v1/help lists them";
		return HTTP_NOTFOUND;
	}
	if (!json_is_true(json_object_get(command, "reads")) ||
	    has_key_of(c->args, command, "but")) {
		*why = "that changes something, which nobody can by HTTP: use fmctl";
		return REPLY_FORBIDDEN;
	}
	if (has_key_of(c->args, command, "asks")) {
		*why =
		    "that has fmd ask the nodes of the fabric, which nobody can by HTTP: use fmctl";
		return REPLY_FORBIDDEN;
	}
	return 0;
}

static void
pass_on(struct call *c)
{
	const char *why;
	int code = refusal_of(c, &why);

	if (code == 0 &&
	    !fm_tokens_take(
		&c->api->tokens, API_BURST, API_EVERY_MS, fm_clock_ms(CLOCK_MONOTONIC))) {
		code = REPLY_TOO_MANY;
		why = "fmd is asked 20 times a second at most: try again";
	}
	if (code == 0) {
		questions_ask(
		    c->api->fmd, c->command, json_incref(c->args), API_ASK_MS, on_answer, c);
	} else {
		struct evhttp_request *req = end(c);

		if (req != NULL)
			reply_refuse(req, code, "%s", why);
	}
}

static void
on_commands(void *arg, json_t *result, const struct fm_error *err)
{
	struct call *c = arg;

	if (result == NULL) {
		on_answer(c, NULL, err);
		return;
	}
	forget_commands(c->api);
	c->api->commands = json_incref(result);
	pass_on(c);
}

/* ------------------------------------------------------------------- the file of counters */

static int
read_counters(
    const struct api *a, bool is_top, const json_t *args, json_t **result, struct fm_error *err)
{
	const char *by = json_string_value(json_object_get(args, "by"));
	const char *node = json_string_value(json_object_get(args, "node"));

	if (query_check(args, is_top ? "by" : "node", err) != 0)
		return (int)err->kind;
	if (is_top)
		return answer_top(a->file,
		    json_object_get(args, "by") == NULL ? "load"
			: by				? by
							: "",
		    false, result, err);
	/* a pattern could be all 70,000 ports, in 200 MB */
	if (node == NULL || strpbrk(node, ANSWER_PATTERN) != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "node= is one node, or NODE:PORT; a GUID stands between double quotes; "
		    "/metrics/ports has all");
	return answer_counters(a->file, node, result, err);
}

static void
answer_by_file(struct api *a, struct evhttp_request *req, bool is_top, const json_t *args)
{
	json_t *result = NULL;
	struct fm_error err = { 0 };

	if (read_counters(a, is_top, args, &result, &err) == 0)
		reply_json(req, result);
	else
		reply_error(req, 0, &err);
	json_decref(result);
}

/* ------------------------------------------------------------------------------- all */

void
api_answer(struct api *a, struct evhttp_request *req, const char *command, const json_t *args)
{
	bool is_top = strcmp(command, "top") == 0;
	struct call *c;

	if (is_top || strcmp(command, "counters") == 0) {
		answer_by_file(a, req, is_top, args);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL || strlen(command) >= sizeof(c->command)) {
		reply_refuse(req, c == NULL ? HTTP_SERVUNAVAIL : HTTP_NOTFOUND, "%s",
		    c == NULL ? "out of memory"
			      : "there is no such command: /api/v1/help lists them");
		free(c);
		return;
	}
	c->who = pending_new(req);
	if (c->who == NULL) {
		free(c);
		return;
	}
	c->api = a;
	c->args = json_incref((json_t *)(uintptr_t)args);
	snprintf(c->command, sizeof(c->command), "%s", command);
	if (a->commands != NULL)
		pass_on(c);
	else
		questions_ask(a->fmd, "help", NULL, API_ASK_MS, on_commands, c);
}

struct api *
api_new(struct questions *fmd, const char *file)
{
	struct api *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->fmd = fmd;
	a->file = file;
	return a;
}

void
api_free(struct api *a)
{
	if (a == NULL)
		return;
	forget_commands(a);
	free(a);
}
