/* SPDX-License-Identifier: BSD-2-Clause */
/* core/dist/dist_json.c - O(places and followers). */
#include "core/dist/dist_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "core/text/json_text.h"
#include "core/wire/ip_service.h"

/* When something was by CLOCK_MONOTONIC, as a time of the day. */
static const char *
say_time(int64_t ms, char text[24])
{
	struct timespec t;
	struct tm tm;
	time_t at;

	clock_gettime(CLOCK_MONOTONIC, &t);
	at = time(NULL) - (time_t)((int64_t)t.tv_sec - ms / 1000);
	gmtime_r(&at, &tm);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

static void
add_follower(void *arg, const struct follower *one)
{
	char since[24];

	json_array_append_new(arg,
	    json_pack("{s:o, s:b, s:i, s:i, s:s, s:o}", "name", json_text(one->name), "tells",
		one->tells, "here", (int)one->here, "most", (int)one->most, "state",
		one->gone		? "gone"
		    : one->fewer_ms < 0 ? "following"
					: "missing",
		"fewer_since",
		one->fewer_ms >= 0 ? json_string(say_time(one->fewer_ms, since)) : json_null()));
}

static void
add_contest(void *arg, const struct contest *one)
{
	char since[24], ip[IP_TEXT], port[20], has[20], text[CONTEST_SENTENCE];

	snprintf(port, sizeof(port), "0x%016" PRIx64, one->claims);
	snprintf(has, sizeof(has), "0x%016" PRIx64, one->has);
	json_array_append_new(arg,
	    json_pack("{s:s, s:s, s:s, s:o, s:b, s:o}", "since", say_time(one->since_ms, since),
		"address", ip_text(one->ip, ip), "port_guid", port, "has",
		one->has != 0 ? json_string(has) : json_null(), "by_file", (int)one->by_file,
		"text", json_text(contest_say(one, text))));
}

static json_t *
place_json(const struct dist *d, unsigned i)
{
	json_t *followers = json_array();
	struct dist_status s;

	dist_status(d, i, &s);
	dist_each_follower(d, i, add_follower, followers);
	return json_pack(
	    "{s:s, s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o}",
	    "kind", s.kind, "place", json_text(s.place), "state",
	    !s.is_master && s.follows == NULL ? "not master"
		: s.error[0] != '\0'	      ? "failing"
		: s.is_master		      ? "published"
					      : "following",
	    "follows", s.follows != NULL ? json_text(s.follows) : json_null(), "term",
	    (json_int_t)s.term, "epoch", (json_int_t)s.epoch, "commits", (json_int_t)s.n_commits,
	    "blobs", (json_int_t)s.n_blobs, "patches", (json_int_t)s.n_patches, "bytes",
	    (json_int_t)s.n_bytes, "failures", (json_int_t)s.n_failures, "registered",
	    (json_int_t)s.n_registered, "contested", (json_int_t)s.n_contested, "last_ms",
	    s.last_s * 1000, "error", s.error[0] != '\0' ? json_text(s.error) : json_null(),
	    "followers", followers, "followers_unknown",
	    s.is_master && s.followers_unknown[0] != '\0' ? json_text(s.followers_unknown)
							  : json_null());
}

json_t *
dist_json(struct dist *d)
{
	json_t *places = json_array(), *contests = json_array();

	for (unsigned i = 0; d != NULL && i < dist_n_places(d); i++)
		if (json_array_append_new(places, place_json(d, i)) != 0) {
			json_decref(places);
			json_decref(contests);
			return NULL;
		}
	if (d != NULL)
		dist_each_contest(d, add_contest, contests);
	return json_pack("{s:o, s:o}", "places", places, "contests", contests);
}

struct troubles {
	json_t *list;
	struct dist_status of;
};

static void
add_trouble(void *arg, const struct follower *one)
{
	struct troubles *t = arg;
	char since[24], text[FOLLOWER_SENTENCE];

	if (!one->gone)
		return;
	json_array_append_new(t->list,
	    json_pack("{s:s, s:s, s:i, s:n, s:n, s:i, s:o}", "since",
		say_time(one->fewer_ms, since), "kind", "follower-gone", "tries", 0, "at", "other",
		"entries", 1, "text", json_text(follower_say_gone(one, t->of.place, text))));
}

static void
add_contest_trouble(void *arg, const struct contest *one)
{
	char since[24], text[CONTEST_SENTENCE];

	json_array_append_new(arg,
	    json_pack("{s:s, s:s, s:i, s:n, s:n, s:i, s:o}", "since",
		say_time(one->since_ms, since), "kind", "address-contested", "tries", 0, "at",
		"other", "entries", 1, "text", json_text(contest_say(one, text))));
}

json_t *
dist_troubles_json(const struct dist *d)
{
	struct troubles t = { .list = json_array() };

	for (unsigned i = 0; d != NULL && i < dist_n_places(d); i++) {
		dist_status(d, i, &t.of);
		dist_each_follower(d, i, add_trouble, &t);
	}
	if (d != NULL)
		dist_each_contest(d, add_contest_trouble, t.list);
	return t.list;
}
