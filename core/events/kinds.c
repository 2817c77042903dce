/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/events/kinds.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *means;
	bool lasts;
} rows[N_EVENT_KINDS] = {
#define EVENT_ROW(id, kind_name, does_last, meaning) \
	[EVENT_##id] = { .name = (kind_name), .means = (meaning), .lasts = (does_last) },
	EVENT_KINDS(EVENT_ROW)
};

const char *
event_kind_name(enum event_kind kind)
{
	return rows[kind].name;
}

const char *
event_kind_means(enum event_kind kind)
{
	return rows[kind].means;
}

bool
event_kind_lasts(enum event_kind kind)
{
	return rows[kind].lasts;
}

enum event_kind
event_kind_named(const char *name)
{
	for (unsigned k = EVENT_NONE + 1; k < N_EVENT_KINDS; k++)
		if (strcmp(rows[k].name, name) == 0)
			return (enum event_kind)k;
	return EVENT_NONE;
}

enum event_kind
event_kind_of_subsystem(const char *subsystem)
{
	enum event_kind kind;
	char name[40];

	snprintf(name, sizeof(name), "warning-%s", subsystem);
	kind = event_kind_named(name);
	return kind != EVENT_NONE ? kind : EVENT_WARNING_OTHER;
}
