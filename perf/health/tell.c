/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/health/tell.h"

#include <stdio.h>
#include <string.h>

#include "core/nodes/nodes.h"
#include "core/text/json_text.h"

#define MOST_PORTS 254

static const char *const suspects[] = { "cable", "near", "far" };
static const char *const ends[] = { "near", "far" };

/* ------------------------------------------------------------------------ calls */

static json_t *
evidence_json(const struct health_verdict *v)
{
	json_t *all = json_array();

	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++) {
			bool at_end = (v->at_end[e] >> row & 1) != 0;

			if (v->per_hour[e][row] > 0 || at_end)
				json_array_append_new(all,
				    json_pack("{s:s, s:s, s:I, s:b}", "counter",
					evidence_rows[row].word, "end", ends[e], "per_hour",
					(json_int_t)v->per_hour[e][row], "at_end", (int)at_end));
		}
	return all;
}

static json_t *
cable_json(const struct health_verdict *v)
{
	return json_pack("{s:o, s:i, s:o, s:i, s:s, s:I, s:s, s:o}", "guid",
	    json_guid(v->end[0].guid), "port", (int)v->end[0].port, "peer_guid",
	    json_guid(v->end[1].guid), "peer_port", (int)v->end[1].port, "health",
	    health_word(v->health), "since", (json_int_t)v->since_s, "suspect",
	    suspects[v->suspect], "evidence", evidence_json(v));
}

json_t *
tell_next(struct teller *t, const struct judge *j, uint32_t interval_ms)
{
	struct health_verdict v[TELL_CABLES];
	json_t *args = json_pack("{s:f, s:[]}", "interval_s", (double)interval_ms / 1000, "cables");

	t->n = 0;
	if (args == NULL || t->list[0] == '\0')
		return args;
	t->n = judge_news(j, v, t->mark, TELL_CABLES);
	json_object_set_new(args, "list", json_string(t->list));
	for (uint32_t i = 0; i < t->n; i++)
		json_array_append_new(json_object_get(args, "cables"), cable_json(&v[i]));
	return args;
}

/* ---------------------------------------------------------------------- answers */

static int
no_sense(struct fm_error *err)
{
	return fm_fail(err, FM_E_TOPOLOGY, "what fmd answers to a report makes no sense");
}

static bool
read_end(const json_t *cable, const char *guid, const char *port, struct health_end *end)
{
	const char *text = json_string_value(json_object_get(cable, guid));
	json_int_t number = json_integer_value(json_object_get(cable, port));

	*end = (struct health_end){ .port = (uint8_t)number };
	return text != NULL && node_guid_parse(text, &end->guid) && number > 0 &&
	    number <= MOST_PORTS;
}

/* A cable that was found to be so before we began. */
static int
believe(struct judge *j, const json_t *cable, int64_t now_ms, struct fm_error *err)
{
	const char *word = json_string_value(json_object_get(cable, "health"));
	const json_t *since = json_object_get(cable, "since");
	enum health health = HEALTH_OK;
	struct health_end end[2];

	if (word == NULL || !json_is_integer(since) || !read_end(cable, "guid", "port", &end[0]) ||
	    !read_end(cable, "peer_guid", "peer_port", &end[1]))
		return no_sense(err);
	while (health < HEALTH_BAD && strcmp(word, health_word(health)) != 0)
		health++;
	if (!judge_believe(j, end, health, json_integer_value(since), now_ms))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for cables");
	return 0;
}

int
tell_take(struct teller *t, struct judge *j, const json_t *answer, int64_t now_ms, bool *more,
    struct fm_error *err)
{
	const char *list = json_string_value(json_object_get(answer, "list"));
	const json_t *cables = json_object_get(answer, "cables");
	int rc = 0;

	*more = false;
	if (list == NULL || list[0] == '\0' || strlen(list) >= sizeof(t->list))
		return no_sense(err);
	if (json_is_true(json_object_get(answer, "taken"))) {
		judge_told(j, t->mark, t->n);
		*more = t->n == TELL_CABLES;
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < json_array_size(cables); i++)
		rc = believe(j, json_array_get(cables, i), now_ms, err);
	if (rc != 0)
		return rc;
	snprintf(t->list, sizeof(t->list), "%s", list);
	judge_tell_all(j);
	*more = true;
	return 0;
}
