/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node items as they are written, and names against patterns.
 */
#include "core/nodes/nodes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "lib/error.h"

#define MAX_PORT 254
#define MAX_RANGE 1000000 /* LIDs are 49,151, but numbers may have gaps */
#define MAX_NUMBER_DIGITS 18
#define MAX_NUMBER UINT64_C(999999999999999999)

/* ---------------------------------------------------------------- parsing */

bool
node_guid_parse(const char *text, uint64_t *guid)
{
	return number_parse(text, guid) && *guid != 0;
}

static int
parse_guid_item(const char *guid, struct node_item *item, struct fm_error *err)
{
	if (!node_guid_parse(guid, &item->number))
		return fm_fail(err, FM_E_CONFIG,
		    "'%s' is no GUID: write 0x and up to 16 hex digits, or name:%s for a node's "
		    "name",
		    guid, guid);
	return 0;
}

static int
parse_level(const char *level, struct node_item *item, struct fm_error *err)
{
	char *end;

	if (strcmp(level, "top") == 0) {
		item->number = NODE_LEVEL_TOP;
		return 0;
	}
	item->number = strtoull(level, &end, 10);
	if (!isdigit((unsigned char)level[0]) || *end != '\0' || item->number > 255)
		return fm_fail(err, FM_E_CONFIG,
		    "level:%s: write level:0 (leaves) to level:255, or level:top", level);
	return 0;
}

static int
parse_type(const char *type, struct node_item *item, struct fm_error *err)
{
	static const char *const types[] = {
		[NODE_TYPE_CA] = "ca", [NODE_TYPE_SWITCH] = "switch", [NODE_TYPE_ROUTER] = "router"
	};

	for (item->number = 0; item->number < sizeof(types) / sizeof(*types); item->number++)
		if (strcmp(type, types[item->number]) == 0)
			return 0;
	return fm_fail(
	    err, FM_E_CONFIG, "type:%s: write type:ca (hosts), type:switch or type:router", type);
}

/* What stands behind "1-4,7", or NULL when that is not what it begins with. */
static const char *
after_ranges(const char *p, uint64_t min, uint64_t max)
{
	for (;; p++) {
		uint64_t low, high;
		char *end;

		if (!isdigit((unsigned char)*p))
			return NULL;
		low = high = strtoull(p, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			high = strtoull(end + 1, &end, 10);
		if (low < min || high < low || high > max)
			return NULL;
		if (*end != ',')
			return end;
		p = end;
	}
}

/* One of a bracket's numbers, 1 or 1-18; *at is led behind it. */
static int
check_range(const char *pattern, const char **at, struct fm_error *err)
{
	const char *from = *at;
	uint64_t low, high;
	char *end;

	low = high = strtoull(from, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		high = strtoull(end + 1, &end, 10);
	*at = end;
	if (low > MAX_NUMBER || high > MAX_NUMBER)
		return fm_fail(err, FM_E_CONFIG, "'%s': numbers in brackets have at most %d digits",
		    pattern, MAX_NUMBER_DIGITS);
	if (high < low)
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': %.*s runs backwards: write %" PRIu64 "-%" PRIu64, pattern,
		    (int)(end - from), from, high, low);
	if (high - low >= MAX_RANGE)
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': %.*s is a range of %" PRIu64 " numbers, more than any fabric has: at "
		    "most %d, or * for any",
		    pattern, (int)(end - from), from, high - low + 1, MAX_RANGE);
	return 0;
}

/* [a-b,c] must close and hold numbers. */
static int
check_pattern(const char *p, struct fm_error *err)
{
	for (const char *q = p; (q = strchr(q, '[')) != NULL;) {
		do {
			int rc = 0;

			if (isdigit((unsigned char)*++q))
				rc = check_range(p, &q, err);
			if (rc != 0)
				return rc;
		} while (*q == ',');
		if (*q != ']' || q[-1] == '[' || q[-1] == ',')
			return fm_fail(
			    err, FM_E_CONFIG, "'%s': brackets hold numbers: [1-18] or [1-4,7]", p);
	}
	if (*p == '\0')
		return fm_fail(err, FM_E_CONFIG, "an empty name matches no node");
	return 0;
}

/* GUID, or GUID/PORTS. */
static int
parse_guid_or_ports(const char *text, struct node_item *item, struct fm_error *err)
{
	const char *slash = strchr(text, '/'), *end;
	char guid[32];

	if (slash == NULL || slash - text >= (ptrdiff_t)sizeof(guid)) {
		item->kind = NODE_GUID;
		return parse_guid_item(text, item, err);
	}
	snprintf(guid, sizeof(guid), "%.*s", (int)(slash - text), text);
	item->kind = NODE_PORTS;
	item->name = slash + 1;
	if (!node_guid_parse(guid, &item->number))
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': %s is no GUID of a switch: write 0x and up to 16 hex digits", text,
		    guid);
	end = after_ranges(item->name, 1, MAX_PORT);
	if (end == NULL || *end != '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': behind the / of a switch's GUID stand its ports, 1..%d: 0x.../1-18,20",
		    text, MAX_PORT);
	return 0;
}

static const char *
after_prefix(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

int
node_item_parse(const char *text, struct node_item *item, struct fm_error *err)
{
	const char *rest;

	*item = (struct node_item){ .text = text, .minus = *text == '!' };
	text += item->minus;
	if ((rest = after_prefix(text, "system:")) != NULL) {
		item->kind = NODE_SYSTEM;
		return parse_guid_item(rest, item, err);
	}
	if ((rest = after_prefix(text, "level:")) != NULL) {
		item->kind = NODE_LEVEL;
		return parse_level(rest, item, err);
	}
	if ((rest = after_prefix(text, "type:")) != NULL) {
		item->kind = NODE_TYPE;
		return parse_type(rest, item, err);
	}
	if (text[0] == '@') {
		item->kind = NODE_GROUP;
		item->name = text + 1;
		return *item->name != '\0'
		    ? 0
		    : fm_fail(err, FM_E_CONFIG, "'@' wants the name of a group: @pods");
	}
	if (isdigit((unsigned char)text[0]))
		return parse_guid_or_ports(text, item, err);
	rest = after_prefix(text, "name:");
	item->kind = NODE_NAME;
	item->name = rest != NULL ? rest : strcmp(text, "All") == 0 ? "*" : text;
	return check_pattern(item->name, err);
}

/* --------------------------------------------------------------- matching */

bool
node_in_ranges(const char *list, uint64_t number)
{
	for (;;) {
		char *end;
		uint64_t low = strtoull(list, &end, 10), high = low;

		if (*end == '-')
			high = strtoull(end + 1, &end, 10);
		if (number >= low && number <= high)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

/* One position of the pattern matched at *name?  Steps both on.  A bracket
 * takes a whole run of digits, so that [1-18] matches neither the 18 of 181
 * nor the 2 of 32; a digit written before it may begin the run. */
static bool
match_one(const char **pattern, const char **name, bool first)
{
	char *end;

	if (**pattern == '[') {
		const char *list = *pattern + 1;

		if (!isdigit((unsigned char)**name) ||
		    !node_in_ranges(list, strtoull(*name, &end, 10)))
			return false;
		if (!first && isdigit((unsigned char)(*name)[-1]) &&
		    !isdigit((unsigned char)list[-2]))
			return false;
		*name = end;
		*pattern = strchr(list, ']') + 1;
		return true;
	}
	if (**name == '\0' || (**pattern != '?' && **pattern != **name))
		return false;
	(*pattern)++;
	(*name)++;
	return true;
}

/* Greedy with one point to go back to: the last star.  O(|pattern| |name|). */
bool
node_name_match(const char *pattern, const char *name)
{
	const char *const start = name, *star = NULL, *resume = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (*pattern == '\0' && *name == '\0') {
			return true;
		} else if (*pattern == '\0' || !match_one(&pattern, &name, name == start)) {
			if (star == NULL || *resume == '\0')
				return false;
			pattern = star;
			name = ++resume;
		}
	}
}
