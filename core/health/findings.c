/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/health/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/nodes/nodes.h"
#include "core/text/json_text.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define MOST_PORTS 254
#define MOST_COUNTER_BYTES 40
#define MOST_SINCE_S (INT64_C(1) << 40)
#define MOST_INTERVAL_S 3600
#define LATE_INTERVALS 3
#define LATE_MS 5000 /* beyond these */

struct findings {
	char name[24];
	FM_VEC(struct finding) items;
	struct fm_hash by_end;	       /* GUID and port -> item */
	bool is_full;		       /* it was, when a cable more was told */
	int64_t heard_ms, interval_ms; /* interval 0: nobody has told */
};

const char *
cable_health_word(enum cable_health h)
{
	static const char *const words[] = { [CABLE_OK] = "ok",
		[CABLE_WATCH] = "watch",
		[CABLE_QUARANTINED] = "quarantined",
		[CABLE_BAD] = "bad" };

	return words[h];
}

/* --------------------------------------------------------------------- the list */

static uint64_t
key_of(uint64_t guid, uint8_t port)
{
	return fm_mix64(guid) + port;
}

static void
empty(struct findings *r)
{
	for (size_t i = 0; i < r->items.n; i++)
		json_decref(r->items.item[i].evidence);
	fm_vec_fini(&r->items);
	fm_hash_fini(&r->by_end);
	r->by_end = (struct fm_hash){ 0 };
	r->is_full = false;
	r->interval_ms = 0;
}

void
findings_begin(struct findings *r)
{
	struct timespec t;

	empty(r);
	clock_gettime(CLOCK_REALTIME, &t);
	snprintf(r->name, sizeof(r->name), "%" PRIx64,
	    (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

struct findings *
findings_new(void)
{
	struct findings *r = calloc(1, sizeof(*r));

	if (r != NULL)
		findings_begin(r);
	return r;
}

void
findings_free(struct findings *r)
{
	if (r == NULL)
		return;
	empty(r);
	free(r);
}

static struct finding *
find(const struct findings *r, uint64_t guid, uint8_t port)
{
	uint32_t i = fm_hash_find(&r->by_end, key_of(guid, port));

	return i != FM_HASH_NONE ? &r->items.item[i] : NULL;
}

static bool
put_ends(struct findings *r, size_t i)
{
	const struct finding *p = &r->items.item[i];

	return fm_hash_put(&r->by_end, key_of(p->end[0].guid, p->end[0].port), (uint32_t)i) &&
	    fm_hash_put(&r->by_end, key_of(p->end[1].guid, p->end[1].port), (uint32_t)i);
}

/* The last one takes its place. */
static void
drop(struct findings *r, struct finding *p)
{
	for (int e = 0; e < 2; e++)
		fm_hash_remove(&r->by_end, key_of(p->end[e].guid, p->end[e].port));
	json_decref(p->evidence);
	r->items.n--;
	if (p == &r->items.item[r->items.n])
		return;
	*p = r->items.item[r->items.n];
	put_ends(r, (size_t)(p - r->items.item)); /* in the place of keys that are there */
}

/* What was decided of a cable stays as long as it is not ok. */
static void
inherit(struct finding *new, const struct finding *was)
{
	for (int e = 0; e < 2; e++)
		if (new->end[e].guid != was->end[e].guid || new->end[e].port != was->end[e].port)
			return;
	new->is_spared = was->is_spared;
	new->refused_plan = was->refused_plan;
	memcpy(new->why_not, was->why_not, sizeof(new->why_not));
}

/* What is known of a cable at either of its ends goes: another one may have been there. */
static bool
put(struct findings *r, struct finding *new)
{
	for (int e = 0; e < 2; e++) {
		struct finding *was = find(r, new->end[e].guid, new->end[e].port);

		if (was == NULL)
			continue;
		inherit(new, was);
		drop(r, was);
	}
	if (new->health == CABLE_OK)
		return true;
	if (r->items.n == FINDINGS_MOST) {
		r->is_full = true;
		return true;
	}
	if (!fm_vec_push(&r->items, *new))
		return false;
	json_incref(new->evidence);
	return put_ends(r, r->items.n - 1);
}

/* ---------------------------------------------------------------- what was told */

static bool
word_of(const json_t *value, const char *const *words, unsigned n, unsigned *which)
{
	const char *text = json_string_value(value);

	for (*which = 0; text != NULL && *which < n; ++*which)
		if (strcmp(text, words[*which]) == 0)
			return true;
	return false;
}

static bool
is_number(const json_t *value, json_int_t least, json_int_t most)
{
	return json_is_integer(value) && json_integer_value(value) >= least &&
	    json_integer_value(value) <= most;
}

static bool
read_end(const json_t *cable, const char *guid, const char *port, struct finding_end *end)
{
	const char *text = json_string_value(json_object_get(cable, guid));
	const json_t *number = json_object_get(cable, port);

	if (text == NULL || !node_guid_parse(text, &end->guid) || !is_number(number, 1, MOST_PORTS))
		return false;
	end->port = (uint8_t)json_integer_value(number);
	return true;
}

static const char *const end_words[] = { "near", "far" };

static bool
is_evidence(const json_t *one)
{
	const char *counter = json_string_value(json_object_get(one, "counter"));
	const json_t *at_end = json_object_get(one, "at_end");
	unsigned which;

	return counter != NULL && counter[0] != '\0' && strlen(counter) <= MOST_COUNTER_BYTES &&
	    counter[strspn(counter, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' &&
	    word_of(json_object_get(one, "end"), end_words, 2, &which) &&
	    is_number(json_object_get(one, "per_hour"), 0, INT64_MAX) &&
	    (at_end == NULL || json_is_boolean(at_end));
}

static bool
is_all_evidence(const json_t *all)
{
	if (!json_is_array(all) || json_array_size(all) > FINDINGS_EVIDENCE)
		return false;
	for (size_t i = 0; i < json_array_size(all); i++)
		if (!is_evidence(json_array_get(all, i)))
			return false;
	return true;
}

static int
bad_cable(struct fm_error *err, size_t i, const char *what)
{
	return fm_fail(err, FM_E_CONFIG, "cables[%zu]: %s", i, what);
}

static int
read_cable(const json_t *cable, size_t i, struct finding *p, struct fm_error *err)
{
	static const char *const healths[] = { "ok", "watch", "bad" },
				 *const suspects[] = { "cable", "near", "far" };
	static const enum cable_health means[] = { CABLE_OK, CABLE_WATCH, CABLE_BAD };
	const json_t *since = json_object_get(cable, "since");
	unsigned health, suspect;

	*p = (struct finding){ .health = CABLE_OK };
	if (!read_end(cable, "guid", "port", &p->end[0]) ||
	    !read_end(cable, "peer_guid", "peer_port", &p->end[1]))
		return bad_cable(err, i,
		    "guid and peer_guid are node GUIDs, port and peer_port numbers from 1 to 254");
	if (!word_of(json_object_get(cable, "health"), healths, 3, &health))
		return bad_cable(err, i, "health is ok, watch or bad");
	if (!word_of(json_object_get(cable, "suspect"), suspects, 3, &suspect))
		return bad_cable(err, i, "suspect is cable, near or far");
	if (!is_number(since, 0, MOST_SINCE_S))
		return bad_cable(err, i, "since is a number of seconds since 1970");
	if (!is_all_evidence(json_object_get(cable, "evidence")))
		return bad_cable(err, i,
		    "evidence is a list of 32 at most: counter, end (near or far), per_hour and, "
		    "if need be, at_end");
	p->health = means[health];
	p->suspect = (enum finding_suspect)suspect;
	p->since_s = json_integer_value(since);
	p->evidence = json_object_get(cable, "evidence");
	return 0;
}

static int
read_all(const json_t *cables, struct finding *all, struct fm_error *err)
{
	int rc = 0;

	if (!json_is_array(cables) || json_array_size(cables) > FINDINGS_CABLES)
		return fm_fail(
		    err, FM_E_CONFIG, "cables is a list of %d cables at most", FINDINGS_CABLES);
	for (size_t i = 0; rc == 0 && i < json_array_size(cables); i++)
		rc = read_cable(json_array_get(cables, i), i, &all[i], err);
	return rc;
}

/* --------------------------------------------------------------------- answers */

static json_t *
held_json(const struct finding *p)
{
	return json_pack("{s:o, s:i, s:o, s:i, s:s, s:I}", "guid", json_guid(p->end[0].guid),
	    "port", (int)p->end[0].port, "peer_guid", json_guid(p->end[1].guid), "peer_port",
	    (int)p->end[1].port, "health", cable_health_word(p->health), "since",
	    (json_int_t)p->since_s);
}

static int
tell_list(const struct findings *r, json_t **result, struct fm_error *err)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->items.n; i++)
		json_array_append_new(all, held_json(&r->items.item[i]));
	*result = json_pack("{s:s, s:b, s:o}", "list", r->name, "taken", 0, "cables", all);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

int
findings_take(
    struct findings *r, const json_t *args, int64_t now_ms, json_t **result, struct fm_error *err)
{
	const json_t *list = json_object_get(args, "list"),
		     *interval = json_object_get(args, "interval_s"),
		     *cables = json_object_get(args, "cables");
	double s = json_number_value(interval);
	struct finding all[FINDINGS_CABLES];
	bool ok = true;

	if (list != NULL && !json_is_string(list))
		return fm_fail(err, FM_E_CONFIG, "list is what the answer before had");
	if (!(s > 0 && s <= MOST_INTERVAL_S))
		return fm_fail(err, FM_E_CONFIG, "interval_s is a number of seconds, 3600 at most");
	if (read_all(cables, all, err) != 0)
		return (int)err->kind;
	if (list == NULL || strcmp(json_string_value(list), r->name) != 0)
		return tell_list(r, result, err);
	for (size_t i = 0; ok && i < json_array_size(cables); i++)
		ok = put(r, &all[i]);
	if (!ok) { /* of a part of them nothing can be said: all anew */
		findings_begin(r);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for cables");
	}
	r->heard_ms = now_ms;
	r->interval_ms = (int64_t)(s * 1000) + 1;
	*result = json_pack("{s:s, s:b}", "list", r->name, "taken", 1);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

/* -------------------------------------------------------------------- decisions */

bool
findings_believe(struct findings *r, const struct finding_end end[2], int64_t since_s)
{
	struct finding new = { .end = { end[0], end[1] }, .health = CABLE_BAD, .since_s = since_s };
	bool ok;

	if (find(r, end[0].guid, end[0].port) != NULL || find(r, end[1].guid, end[1].port) != NULL)
		return true;
	new.evidence = json_array();
	ok = new.evidence != NULL && r->items.n < FINDINGS_MOST &&put(r, &new);
	json_decref(new.evidence);
	return ok;
}

void
findings_spare(struct findings *r, uint64_t guid, uint8_t port)
{
	struct finding *p = find(r, guid, port);

	if (p != NULL)
		p->is_spared = true;
}

bool
findings_refuse(struct findings *r, uint32_t i, uint64_t plan, const char *why)
{
	struct finding *p = &r->items.item[i];
	bool is_new = p->why_not[0] == '\0';

	p->refused_plan = plan;
	snprintf(p->why_not, sizeof(p->why_not), "%s", why);
	return is_new;
}

/* -------------------------------------------------------------------- questions */

const struct finding *
findings_at(const struct findings *r, uint64_t guid, uint8_t port)
{
	return find(r, guid, port);
}

uint32_t
findings_n(const struct findings *r)
{
	return (uint32_t)r->items.n;
}

const struct finding *
findings_get(const struct findings *r, uint32_t i)
{
	return &r->items.item[i];
}

bool
findings_is_full(const struct findings *r)
{
	return r->is_full;
}

int64_t
findings_age_ms(const struct findings *r, int64_t now_ms)
{
	return r->interval_ms > 0 ? now_ms - r->heard_ms : -1;
}

bool
findings_are_fresh(const struct findings *r, int64_t now_ms)
{
	return r->interval_ms > 0 &&
	    now_ms - r->heard_ms <= LATE_INTERVALS * r->interval_ms + LATE_MS;
}
