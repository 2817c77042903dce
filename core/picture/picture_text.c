/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/picture_text.c - a picture as JSON.
 *
 * Written by hand: an object of jansson's for each of 400,000 numbers takes several times as long.
 */
#include "core/picture/picture.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/graph/link_speed.h"
#include "lib/error.h"

struct out {
	FM_VEC(char) v;
	bool lost; /* memory is out */
};

/* What a row of each list takes at most, but for names: room for the whole is made once. */
#define NODE_BYTES 96
#define CABLE_BYTES 100
#define NUMBER_BYTES 10 /* of one of 32 bits */
#define GUID_BYTES 20

static void
put(struct out *o, const char *bytes, size_t n)
{
	o->lost = o->lost || !fm_vec_append(&o->v, bytes, n);
}

static void
put_words(struct out *o, const char *words)
{
	put(o, words, strlen(words));
}

/* Where a row of n bytes at most is put, which end_row() then ends; NULL: memory is out. */
static char *
begin_row(struct out *o, size_t n)
{
	o->lost = o->lost || !fm_vec_reserve(&o->v, o->v.n + n);
	return o->lost ? NULL : o->v.item + o->v.n;
}

static void
end_row(struct out *o, const char *at)
{
	o->v.n = (size_t)(at - o->v.item);
}

static unsigned
count_digits(uint32_t n)
{
	unsigned digits = 1;

	for (; n >= 10000; n /= 10000)
		digits += 4;
	return digits + (n >= 10) + (n >= 100) + (n >= 1000);
}

/* The digits of n at `at`; where they end. */
static char *
write_number(char *at, uint32_t n)
{
	char *end = at + count_digits(n), *digit = end;

	do
		*--digit = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	return end;
}

static void
put_number(struct out *o, uint32_t n)
{
	char *at = begin_row(o, NUMBER_BYTES);

	if (at != NULL)
		end_row(o, write_number(at, n));
}

/* -1: there is none. */
static void
put_or_none(struct out *o, uint32_t n, uint32_t none)
{
	if (n == none)
		put(o, "-1", 2);
	else
		put_number(o, n);
}

/* Names are printable UTF-8. */
static void
put_string(struct out *o, const char *text)
{
	char *at = begin_row(o, 2 * strlen(text) + 2);

	if (at == NULL)
		return;
	*at++ = '"';
	for (; *text != '\0'; *at++ = *text++)
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
	*at++ = '"';
	end_row(o, at);
}

static void
put_guid(struct out *o, uint64_t guid)
{
	static const char hex[] = "0123456789abcdef";
	char *at = begin_row(o, GUID_BYTES);

	if (at == NULL)
		return;
	memcpy(at, "\"0x", 3);
	for (unsigned i = 0; i < 16; i++)
		at[3 + i] = hex[guid >> (60 - 4 * i) & 15];
	at[GUID_BYTES - 1] = '"';
	end_row(o, at + GUID_BYTES);
}

static void
put_lids(struct out *o, const struct picture *p, const struct picture_node *n)
{
	if (n->n_lids == 1) {
		put_number(o, p->lids.item[n->first_lid]);
		return;
	}
	put(o, "[", 1);
	for (uint32_t i = 0; i < n->n_lids; i++) {
		put(o, ",", i > 0);
		put_number(o, p->lids.item[n->first_lid + i]);
	}
	put(o, "]", 1);
}

enum list { NAMES, GUIDS, TYPES, LIDS, PORTS, LEVELS, GROUP, LISTS };
static const char *const list_names[LISTS] = { "names", "guids", "types", "lids", "ports", "levels",
	"group" };

static void
put_field(struct out *o, const struct picture *p, const struct picture_node *n, enum list which)
{
	switch (which) {
	case NAMES:
		put_string(o, n->name);
		break;
	case GUIDS:
		put_guid(o, n->guid);
		break;
	case TYPES:
		put_number(o, n->type);
		break;
	case LIDS:
		put_lids(o, p, n);
		break;
	case PORTS:
		put_number(o, n->n_ports);
		break;
	case LEVELS:
		put_or_none(o, n->level, UINT16_MAX);
		break;
	case GROUP:
	case LISTS:
		put_or_none(o, n->group, FM_NONE);
		break;
	}
}

static void
begin_list(struct out *o, const char *key)
{
	put_words(o, ",\"");
	put_words(o, key);
	put_words(o, "\":[");
}

static void
put_nodes(struct out *o, const struct picture *p)
{
	for (enum list which = NAMES; which < LISTS; which++) {
		begin_list(o, list_names[which]);
		for (size_t i = 0; i < p->nodes.n; i++) {
			put(o, ",", i > 0);
			put_field(o, p, &p->nodes.item[i], which);
		}
		put(o, "]", 1);
	}
}

static void
put_rates(struct out *o, const struct picture *p)
{
	char row[64];

	begin_list(o, "rates");
	for (size_t i = 0; i < p->rates.n; i++) {
		const struct wire_rate *r = &p->rates.item[i];

		snprintf(row, sizeof(row), "%s[\"%ux\",\"%s\",%" PRIu32 "]", i > 0 ? "," : "",
		    r->lanes, r->lanes > 0 ? link_speed_word(r->lane_mbps) : "",
		    wire_rate_mbps(*r));
		put_words(o, row);
	}
	put(o, "]", 1);
}

/* By far most of the text. */
static void
put_cable(struct out *o, const struct picture_cable *c, bool is_first)
{
	const uint32_t numbers[] = { c->node[0], c->port[0], c->node[1], c->port[1], c->rate,
		c->best, c->load[0], c->load[1], c->flags };
	char *at = begin_row(o, CABLE_BYTES);

	if (at == NULL)
		return;
	if (!is_first)
		*at++ = ',';
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		*at++ = i == 0 ? '[' : ',';
		if (i == 2 && numbers[i] == INV_NONE) {
			*at++ = '-';
			*at++ = '1';
		} else {
			at = write_number(at, numbers[i]);
		}
	}
	*at++ = ']';
	end_row(o, at);
}

static void
put_cables(struct out *o, const struct picture *p)
{
	begin_list(o, "cables");
	for (size_t i = 0; i < p->cables.n; i++)
		put_cable(o, &p->cables.item[i], i == 0);
	put(o, "]", 1);
}

static void
put_groups(struct out *o, const struct picture *p)
{
	begin_list(o, "groups");
	for (size_t i = 0; i < p->groups.n; i++) {
		put(o, ",", i > 0);
		put_string(o, p->groups.item[i]);
	}
	put(o, "]", 1);
}

static void
put_head(struct out *o, const struct picture *p)
{
	char generation[PICTURE_GENERATION_BYTES], head[160];

	picture_generation(p, generation);
	snprintf(head, sizeof(head),
	    "{\"generation\":\"%s\",\"master\":%s,\"loads\":%s,\"grouped_by\":\"%s\"", generation,
	    p->is_master ? "true" : "false", p->knows_loads ? "true" : "false", p->grouped_by);
	put_words(o, head);
}

int
picture_write(const struct picture *p, struct ctl_text *text, struct fm_error *err)
{
	struct out o = { 0 };

	o.lost = !fm_vec_reserve(
	    &o.v, (p->nodes.n + p->groups.n) * NODE_BYTES + p->cables.n * CABLE_BYTES);
	put_head(&o, p);
	put_groups(&o, p);
	put_nodes(&o, p);
	put_rates(&o, p);
	put_cables(&o, p);
	put(&o, "}", 1);
	if (o.lost) {
		fm_vec_fini(&o.v);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	}
	*text = (struct ctl_text){ .bytes = o.v.item, .n = o.v.n };
	return 0;
}
