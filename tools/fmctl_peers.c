/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_peers.c - fmctl dist peers: the tree of Redis servers below fmd's, and their agents.
 *
 * The first is where fmd publishes; each tells the addresses of its replicas (INFO) and the names
 * that agents have given themselves (CLIENT LIST): fmd-agent:GUID:TERM:EPOCH.  A replica that has
 * lost the one above is in no list: it is found where its own address is given.  Servers are known
 * by their run_id, as addresses may lead through a tunnel.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/redis/info.h"
#include "core/redis/redis.h"
#include "core/text/json_text.h"
#include "tools/fmctl.h"

#define MOST_RELAYS 512
#define MOST_AGENTS 65536 /* a subnet has fewer LIDs */
#define MOST_NAME 300

static const struct redis_limits limits = { .who = "the relay",
	.connect_ms = 2000,
	.answer_ms = 2000,
	.most_bytes = 16 << 20,
	.most_elements = 2 }; /* of fmd:meta; all else is texts */

struct relay {
	char name[MOST_NAME];  /* as relay_name_parse() takes it */
	char above[MOST_NAME]; /* "" of the first */
	char run_id[64];       /* "": could not be asked */
	unsigned depth;
};

struct tree {
	const struct relay_login *login; /* NULL: none */
	bool insecure;
	struct relay relay[MOST_RELAYS];
	unsigned n;
	uint64_t term, epoch; /* of the first */
	int64_t offset;
	unsigned n_relays, n_agents, n_behind, n_down, n_gone, n_unknown;
	json_t *peers;
};

/* ---------------------------------------------------------------- questions */

/* NULL: *why says. */
static redisReply *
ask_text(struct redis *r, const char *command, struct fm_error *why)
{
	redisReply *reply = redis_ask(r, why, command);

	if (reply == NULL || redis_is_text(reply))
		return reply;
	freeReplyObject(reply);
	redis_no_sense(r, why);
	return NULL;
}

static int
open_relay(const struct tree *t, const char *name, struct redis **r, struct fm_error *why)
{
	struct relay_name where;
	int rc = relay_name_take(name, t->insecure, &where, why);

	return rc == 0 ? redis_open(&where, t->login, &limits, r, why) : rc;
}

/* ------------------------------------------------------------------ answers */

static bool
add_relay(struct tree *t, const char *name, const char *above, unsigned depth)
{
	struct relay *r = &t->relay[t->n];

	if (t->n == MOST_RELAYS)
		return false;
	t->n++;
	*r = (struct relay){ .depth = depth };
	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->above, sizeof(r->above), "%s", above);
	return true;
}

static void
add_replicas(struct tree *t, const struct relay *of, const char *info)
{
	struct redis_replica one;

	for (unsigned i = 0; i < MOST_RELAYS && redis_info_replica(info, i, &one); i++)
		add_relay(t, one.name, of->name, of->depth + 1);
}

struct seen {
	const char *kind, *name, *above, *state, *why;
	unsigned depth;
	uint64_t term, epoch;
	int64_t lag; /* bytes; -1: not known */
};

static void
add_seen(struct tree *t, const struct seen *s)
{
	json_array_append_new(t->peers,
	    json_pack("{s:s, s:o, s:o, s:i, s:s, s:I, s:I, s:o, s:o}", "kind", s->kind, "name",
		json_text(s->name), "above", json_text(s->above), "depth", (int)s->depth, "state",
		s->state, "term", (json_int_t)s->term, "epoch", (json_int_t)s->epoch, "lag_bytes",
		s->lag >= 0 ? json_integer(s->lag) : json_null(), "why", json_text(s->why)));
}

static bool
is_behind(const struct tree *t, uint64_t term, uint64_t epoch)
{
	return term != t->term || epoch != t->epoch;
}

/* GUID:TERM:EPOCH */
static void
add_agent(struct tree *t, const struct relay *r, const char *text)
{
	char name[64];
	uint64_t guid = 0, term = 0, epoch = 0;
	bool behind;

	sscanf(text, "%16" SCNx64 ":%20" SCNu64 ":%20" SCNu64, &guid, &term, &epoch);
	behind = is_behind(t, term, epoch);
	snprintf(name, sizeof(name), "0x%016" PRIx64, guid);
	add_seen(t,
	    &(struct seen){ "agent", name, r->name, behind ? "behind" : "current", "", r->depth + 1,
		term, epoch, -1 });
	t->n_agents++;
	t->n_behind += behind;
}

static void
add_unknown_agents(struct tree *t, const struct relay *r, const char *why)
{
	add_seen(
	    t, &(struct seen){ "agents", "", r->name, "unknown", why, r->depth + 1, 0, 0, -1 });
	t->n_unknown++;
}

static void
add_agents(struct tree *t, const struct relay *r, const char *clients)
{
	static const char key[] = " name=fmd-agent:";

	for (const char *at = strstr(clients, key); at != NULL; at = strstr(at + 1, key)) {
		char text[80];

		if (t->n_agents == MOST_AGENTS) {
			add_unknown_agents(t, r, "it shows more agents than a subnet has ports");
			return;
		}
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(at + sizeof(key) - 1, " \r\n"),
		    at + sizeof(key) - 1);
		add_agent(t, r, text);
	}
}

/* ---------------------------------------------------------------------- tree */

/* Has the one with this run_id been seen, as another than r? */
static bool
is_known(const struct tree *t, const struct relay *r)
{
	for (unsigned i = 0; i < t->n; i++)
		if (&t->relay[i] != r && strcmp(t->relay[i].run_id, r->run_id) == 0)
			return true;
	return false;
}

static void
add_unknown(struct tree *t, const struct relay *r, const char *why)
{
	add_seen(
	    t, &(struct seen){ "relay", r->name, r->above, "unknown", why, r->depth, 0, 0, -1 });
	t->n_relays++;
	t->n_unknown++;
}

static int64_t
offset_of(const char *info, enum redis_link link)
{
	char number[32];

	redis_info(info, link == REDIS_FIRST ? "master_repl_offset" : "slave_repl_offset", number,
	    sizeof(number));
	return strtoll(number, NULL, 10);
}

/* Does it hear the one above? */
static int
judge_link(enum redis_link link, unsigned silent_s, struct fm_error *why)
{
	switch (link) {
	case REDIS_LINK_UP:
		return 0;
	case REDIS_FIRST:
		return fm_fail(why, FM_E_SYSTEM, "it is no replica");
	case REDIS_LINK_FILLING:
		return fm_fail(why, FM_E_SYSTEM, "it is still taking over all from the one above");
	case REDIS_LINK_SILENT:
		return fm_fail(
		    why, FM_E_SYSTEM, "it has heard nothing from the one above for %u s", silent_s);
	case REDIS_LINK_DOWN:
	default:
		return fm_fail(why, FM_E_SYSTEM, "it has lost the one above");
	}
}

static void
judge_relay(struct tree *t, const struct relay *r, struct redis *redis, const char *info)
{
	struct seen s = { "relay", r->name, r->above, "current", "", r->depth, 0, 0, 0 };
	unsigned silent_s;
	enum redis_link link = redis_info_link(info, &silent_s);
	bool is_first = link == REDIS_FIRST && r->depth == 0;
	struct fm_error why = { 0 };

	if (redis_ask_epoch(redis, &s.term, &s.epoch, &why) != 0) {
		add_unknown(t, r, why.msg);
		return;
	}
	if (r->depth == 0) {
		t->term = s.term;
		t->epoch = s.epoch;
		t->offset = offset_of(info, link);
	}
	s.lag = t->offset - offset_of(info, link);
	s.lag = s.lag > 0 ? s.lag : 0;
	if (!is_first && judge_link(link, silent_s, &why) != 0) {
		s.state = "link down";
		s.why = why.msg;
	} else if (is_behind(t, s.term, s.epoch)) {
		s.state = "behind";
	}
	t->n_relays++;
	t->n_down += strcmp(s.state, "link down") == 0;
	t->n_behind += strcmp(s.state, "behind") == 0;
	add_seen(t, &s);
}

/* Those that fmd has seen at the first, and sees no more; and relays that have told of themselves,
 * which may have been anywhere below it. */
static void
add_gone(struct tree *t, const json_t *followers)
{
	const json_t *one;
	size_t i;

	json_array_foreach(followers, i, one)
	{
		char why[160];

		if (strcmp(fmctl_string(one, "state"), "gone") != 0)
			continue;
		snprintf(why, sizeof(why), "%d of %d are there since %s",
		    (int)fmctl_number(one, "here"), (int)fmctl_number(one, "most"),
		    fmctl_string(one, "fewer_since"));
		add_seen(t,
		    &(struct seen){ "relay", fmctl_string(one, "name"),
			json_is_true(json_object_get(one, "tells")) ? "" : t->relay[0].name, "gone",
			why, 1, 0, 0, -1 });
		t->n_gone++;
	}
}

/* Where a server that was given by its address stands. */
static void
find_above(struct tree *t, struct relay *r, const char *info)
{
	char host[128], port[16];

	redis_info(info, "master_host", host, sizeof(host));
	redis_info(info, "master_port", port, sizeof(port));
	if (*host != '\0')
		snprintf(r->above, sizeof(r->above),
		    strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->relay[i].name, r->above) == 0)
			r->depth = t->relay[i].depth + 1;
}

static void
visit_open(struct tree *t, struct relay *r, struct redis *redis, bool was_given)
{
	struct fm_error why = { 0 };
	redisReply *info = ask_text(redis, "INFO", &why), *clients = NULL;

	if (info != NULL)
		redis_info(info->str, "run_id", r->run_id, sizeof(r->run_id));
	if (info == NULL || *r->run_id == '\0') {
		add_unknown(t, r, info == NULL ? why.msg : "it is no Redis");
	} else if (is_known(t, r)) {
		if (!was_given)
			add_unknown(t, r, "the address that it announces is another's");
	} else {
		if (was_given)
			find_above(t, r, info->str);
		judge_relay(t, r, redis, info->str);
		clients = ask_text(redis, "CLIENT LIST", &why);
		if (clients != NULL)
			add_agents(t, r, clients->str);
		else
			add_unknown_agents(t, r, why.msg);
		add_replicas(t, r, info->str);
	}
	freeReplyObject(info);
	freeReplyObject(clients);
}

/* All from the i-th on, with those that they tell of. */
static void
visit_from(struct tree *t, unsigned i, bool was_given)
{
	for (; i < t->n; i++, was_given = false) {
		struct fm_error why = { 0 };
		struct redis *r = NULL;

		if (t->relay[i].name[0] == '/') /* of a socket, to which a tunnel leads */
			add_unknown(t, &t->relay[i],
			    "it announces no address: give it replica-announce-ip and "
			    "replica-announce-port");
		else if (open_relay(t, t->relay[i].name, &r, &why) == 0)
			visit_open(t, &t->relay[i], r, was_given);
		else
			add_unknown(t, &t->relay[i], why.msg);
		redis_close(r);
	}
}

/* Those that are given, a comma between. */
static void
visit_given(struct tree *t, const char *list)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");
		char name[MOST_NAME];

		snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), list);
		if (add_relay(t, name, "", 1))
			visit_from(t, t->n - 1, true);
		list += n + (list[n] == ',');
	}
}

static json_t *
answer(const struct tree *t)
{
	return json_pack("{s:O, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:i}", "peers", t->peers, "term",
	    (json_int_t)t->term, "epoch", (json_int_t)t->epoch, "relays", (int)t->n_relays,
	    "agents", (int)t->n_agents, "behind", (int)t->n_behind, "link_down", (int)t->n_down,
	    "gone", (int)t->n_gone, "unknown", (int)t->n_unknown);
}

/* "unix:" and the socket that fmd publishes to, and who has followed that: a new list, or NULL. */
static int
find_first(const struct ask *a, char *name, size_t size, json_t **followers, struct fm_error *err)
{
	json_t *none = json_object(), *dist = NULL;
	const json_t *place;
	size_t i;
	int rc = fmctl_ask(a, "dist", none, &dist, err);

	*name = '\0';
	*followers = NULL;
	json_array_foreach(json_object_get(dist, "places"), i, place)
	{
		if (strcmp(fmctl_string(place, "kind"), "redis") != 0)
			continue;
		snprintf(name, size, "unix:%s", fmctl_string(place, "place"));
		*followers = json_incref(json_object_get(place, "followers"));
	}
	json_decref(dist);
	json_decref(none);
	if (rc == 0 && *name == '\0')
		rc = fm_fail(err, FM_E_CONFIG,
		    "fmd publishes to no Redis: who follows a folder is known to nobody");
	return rc;
}

int
fmctl_dist_peers(const struct ask *a, json_t **result, struct fm_error *err)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct relay_login login;
	json_t *followers = NULL;
	char first[MOST_NAME];
	int rc = t == NULL ? fm_fail(err, FM_E_RESOURCE, "out of memory")
			   : find_first(a, first, sizeof(first), &followers, err);

	if (rc == 0 && a->auth_file != NULL) {
		rc = relay_login_read(a->auth_file, &login, err);
		t->login = &login;
	}
	if (rc == 0) {
		t->peers = json_array();
		t->insecure = json_is_true(json_object_get(a->args, "insecure"));
		add_relay(t, first, "", 0);
		visit_from(t, 0, false);
		add_gone(t, followers);
		visit_given(t, json_string_value(json_object_get(a->args, "relays")));
		*result = answer(t);
		if (*result == NULL)
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
		json_decref(t->peers);
	}
	json_decref(followers);
	free(t);
	explicit_bzero(&login, sizeof(login));
	return rc;
}
