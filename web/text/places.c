/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/places.h"

#include <stdio.h>
#include <string.h>

#include "core/text/number.h"
#include "perf/book/book.h"

static const struct place nowhere = { PLACES_NO_LEVEL, "" };

void
places_init(struct places *p)
{
	*p = (struct places){ 0 };
	fm_arena_init(&p->mem, SIZE_MAX);
}

void
places_fini(struct places *p)
{
	fm_hash_fini(&p->of_guid);
	fm_arena_fini(&p->mem);
}

static int
no_sense(struct fm_error *err, const char *what)
{
	return fm_fail(err, FM_E_TOPOLOGY, "what fmd says of the fabric makes no sense: %s", what);
}

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for the groups of the fabric");
}

static int
read_groups(struct places *p, const json_t *groups, struct fm_error *err)
{
	p->n_groups = (uint32_t)json_array_size(groups);
	p->groups = fm_arena_array(&p->mem, (size_t)p->n_groups + 1, const char *);
	if (p->groups == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const char *name = json_string_value(json_array_get(groups, i));

		if (name == NULL)
			return no_sense(err, "a group has no name");
		p->groups[i] = fm_arena_strdup(&p->mem, name);
		if (p->groups[i] == NULL)
			return no_memory(err);
	}
	return 0;
}

static int
read_node(struct places *p, const json_t *fabric, uint32_t i, struct fm_error *err)
{
	const char *guid = json_string_value(json_array_get(json_object_get(fabric, "guids"), i));
	const json_t *level = json_array_get(json_object_get(fabric, "levels"), i);
	const json_t *group = json_array_get(json_object_get(fabric, "group"), i);
	json_int_t l = json_integer_value(level), g = json_integer_value(group);
	uint64_t number;

	if (guid == NULL || !number_parse(guid, &number) || !json_is_integer(level) ||
	    !json_is_integer(group) || g >= p->n_groups)
		return no_sense(err, "a node has no GUID, level or group");
	p->place[i] = (struct place){ l >= 0 && l < PLACES_NO_LEVEL ? (uint8_t)l : PLACES_NO_LEVEL,
		g >= 0 ? p->groups[g] : "" };
	return fm_hash_put(&p->of_guid, number, i) ? 0 : no_memory(err);
}

static void
forget(struct places *p)
{
	places_fini(p);
	places_init(p);
}

static int
read_all(struct places *p, const json_t *fabric, struct fm_error *err)
{
	const char *generation = json_string_value(json_object_get(fabric, "generation"));
	size_t n = json_array_size(json_object_get(fabric, "guids"));
	int rc = 0;

	if (generation == NULL || strlen(generation) >= sizeof(p->generation))
		return no_sense(err, "it has no generation");
	if (n > BOOK_MOST_NODES)
		return no_sense(err, "it has too many nodes");
	p->n_nodes = (uint32_t)n;
	p->place = fm_arena_array(&p->mem, n + 1, struct place);
	if (p->place == NULL || !fm_hash_reserve(&p->of_guid, n))
		return no_memory(err);
	rc = read_groups(p, json_object_get(fabric, "groups"), err);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = read_node(p, fabric, i, err);
	snprintf(p->generation, sizeof(p->generation), "%s", generation);
	return rc;
}

int
places_read(struct places *p, const json_t *fabric, struct fm_error *err)
{
	int rc;

	if (p->generation[0] != '\0' && json_is_true(json_object_get(fabric, "same")))
		return 0;
	forget(p);
	rc = read_all(p, fabric, err);
	if (rc != 0)
		forget(p);
	return rc;
}

struct place
places_of(const struct places *p, uint64_t guid)
{
	uint32_t i = p->n_nodes > 0 ? fm_hash_find(&p->of_guid, guid) : FM_HASH_NONE;

	return i == FM_HASH_NONE ? nowhere : p->place[i];
}

bool
places_has_group(const struct places *p, const char *group)
{
	for (uint32_t i = 0; i < p->n_groups; i++)
		if (strcmp(p->groups[i], group) == 0)
			return true;
	return false;
}
