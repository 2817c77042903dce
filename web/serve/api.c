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

#define KEY_BYTES 128

/* What fmd has told last, for who asks the same soon after. */
struct told {
	char key[KEY_BYTES]; /* of the call; "": nothing */
	int64_t at_ms;
	json_t *result;
};

struct api {
	struct questions *fmd;
	const char *file;
	json_t *commands; /* as fmd has listed them; NULL: not known, or to be asked anew */
	struct fm_tokens tokens;
	struct told told[API_TOLD];
	unsigned next_told;
	struct call *open;    /* what fmd is asked now */
	struct call *unknown; /* those that wait for the list of commands, which fmd is asked for */
};

/* One request under way. */
struct call {
	struct api *api;
	struct pending *who;
	json_t *args;
	char command[40];
	char key
	    [KEY_BYTES]; /* command and args; "": it is too long for anybody to share the answer */
	struct call *next; /* of what is open, or unknown */
	struct call *same; /* others who have asked the same meanwhile */
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
name_call(struct call *c)
{
	char *args = json_dumps(c->args, JSON_COMPACT | JSON_SORT_KEYS);

	if (args == NULL || snprintf(c->key, KEY_BYTES, "%s %s", c->command, args) >= KEY_BYTES)
		c->key[0] = '\0';
	free(args);
}

static void
keep(struct api *a, const struct call *c, json_t *result)
{
	struct told *t = &a->told[a->next_told++ % API_TOLD];

	json_decref(t->result);
	*t = (struct told){ .at_ms = fm_clock_ms(CLOCK_MONOTONIC), .result = json_incref(result) };
	memcpy(t->key, c->key, KEY_BYTES);
}

/* NULL: fmd is to be asked. */
static const json_t *
find_told(const struct api *a, const struct call *c)
{
	int64_t since = fm_clock_ms(CLOCK_MONOTONIC) - API_FRESH_MS;

	for (size_t i = 0; i < API_TOLD && c->key[0] != '\0'; i++)
		if (a->told[i].at_ms >= since && strcmp(a->told[i].key, c->key) == 0)
			return a->told[i].result;
	return NULL;
}

/* Who has asked the same, and waits for the answer; NULL: nobody. */
static struct call *
find_open(const struct api *a, const struct call *c)
{
	struct call *one = c->key[0] != '\0' ? a->open : NULL;

	while (one != NULL && strcmp(one->key, c->key) != 0)
		one = one->next;
	return one;
}

static void
close_call(struct call *c)
{
	struct call **at = &c->api->open;

	while (*at != NULL && *at != c)
		at = &(*at)->next;
	if (*at != NULL)
		*at = c->next;
}

static void
answer_one(struct call *c, const json_t *result, const struct fm_error *err)
{
	struct evhttp_request *req = end(c);

	if (req != NULL && result != NULL)
		reply_json(req, result);
	else if (req != NULL)
		reply_error(req, 0, err);
}

static void
on_answer(void *arg, json_t *result, const struct fm_error *err)
{
	struct call *c = arg;
	struct api *a = c->api;

	close_call(c);
	if (err != NULL && err->kind == FM_E_SYSTEM)
		forget_commands(a); /* another fmd may come */
	if (result != NULL && c->key[0] != '\0')
		keep(a, c, result);
	while (c != NULL) {
		struct call *same = c->same;

		answer_one(c, result, err);
		c = same;
	}
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
refuse(struct call *c, int code, const char *why)
{
	struct evhttp_request *req = end(c);

	if (req != NULL)
		reply_refuse(req, code, "%s", why);
}

static void
ask(struct call *c)
{
	struct api *a = c->api;

	if (!fm_tokens_take(&a->tokens, API_BURST, API_EVERY_MS, fm_clock_ms(CLOCK_MONOTONIC))) {
		refuse(c, REPLY_TOO_MANY, "fmd is asked 20 times a second at most: try again");
		return;
	}
	c->next = a->open;
	a->open = c;
	questions_ask(a->fmd, c->command, json_incref(c->args), API_ASK_MS, on_answer, c);
}

static void
pass_on(struct call *c)
{
	struct call *open;
	const json_t *told;
	const char *why;
	int code = refusal_of(c, &why);

	if (code != 0) {
		refuse(c, code, why);
		return;
	}
	name_call(c);
	told = find_told(c->api, c);
	open = told == NULL ? find_open(c->api, c) : NULL;
	if (told != NULL) {
		answer_one(c, told, NULL);
	} else if (open != NULL) {
		c->same = open->same;
		open->same = c;
	} else {
		ask(c);
	}
}

static void
on_commands(void *arg, json_t *result, const struct fm_error *err)
{
	struct api *a = arg;
	struct call *c = a->unknown, *next;

	a->unknown = NULL;
	forget_commands(a);
	a->commands = json_incref(result);
	for (; c != NULL; c = next) {
		next = c->next;
		c->next = NULL;
		if (result != NULL)
			pass_on(c);
		else
			answer_one(c, NULL, err);
	}
}

static void
await_commands(struct call *c)
{
	struct api *a = c->api;
	bool asks = a->unknown != NULL;

	c->next = a->unknown;
	a->unknown = c;
	if (!asks)
		questions_ask(a->fmd, "help", NULL, API_ASK_MS, on_commands, a);
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
		await_commands(c);
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

static void
drop_calls(struct call *c)
{
	while (c != NULL) {
		struct call *next = c->next, *same;

		for (; c != NULL; c = same) {
			same = c->same;
			(void)end(c);
		}
		c = next;
	}
}

void
api_free(struct api *a)
{
	if (a == NULL)
		return;
	drop_calls(a->open);
	drop_calls(a->unknown);
	forget_commands(a);
	for (size_t i = 0; i < API_TOLD; i++)
		json_decref(a->told[i].result);
	free(a);
}
