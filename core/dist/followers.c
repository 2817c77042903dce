/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/dist/followers.h"

#include <stdio.h>

#include "core/events/tell.h"
#include "lib/log.h"

void
followers_fini(struct followers *f)
{
	fm_vec_fini(&f->item);
	f->is_full = false;
}

void
followers_begin(struct followers *f)
{
	for (size_t i = 0; i < f->item.n; i++)
		f->item.item[i].here = 0;
}

/* NULL: there is no room for another name. */
static struct follower *
follower_of(struct followers *f, const char *name)
{
	struct follower fresh = { .fewer_ms = -1 };

	for (size_t i = 0; i < f->item.n; i++)
		if (strcmp(f->item.item[i].name, name) == 0)
			return &f->item.item[i];
	snprintf(fresh.name, sizeof(fresh.name), "%s", name);
	if (f->item.n == FOLLOWERS_MOST || !fm_vec_push(&f->item, fresh))
		return NULL;
	return &f->item.item[f->item.n - 1];
}

static struct follower *
find_or_warn(struct followers *f, const char *name)
{
	struct follower *one;
	char known[sizeof(one->name)];

	snprintf(known, sizeof(known), "%s", name);
	one = follower_of(f, known);
	if (one != NULL)
		return one;
	if (!f->is_full)
		log_warn("dist",
		    "%s follows, and cannot be watched, as %d names are: when it is gone, that is "
		    "not told",
		    known, FOLLOWERS_MOST);
	f->is_full = true;
	return NULL;
}

void
followers_count(struct followers *f, const char *name)
{
	struct follower *one = find_or_warn(f, name);

	if (one != NULL)
		one->here++;
}

void
followers_note(struct followers *f, const char *name)
{
	struct follower *one = find_or_warn(f, name);

	if (one == NULL)
		return;
	one->tells = true;
	one->here = 1;
}

bool
followers_lack(const struct followers *f)
{
	for (size_t i = 0; i < f->item.n; i++)
		if (f->item.item[i].here < f->item.item[i].most)
			return true;
	return false;
}

static void
note_all_here(struct follower *one, const char *place)
{
	if (one->gone)
		log_notice("dist", "%s follows %s again", one->name, place);
	event_end(one->event, EVENT_FOLLOWER_LOST, "dist", "%s follows %s again", one->name, place);
	one->event = 0;
	one->most = one->here;
	one->fewer_ms = -1;
	one->gone = false;
}

const char *
follower_say_gone(const struct follower *one, const char *place, char *text)
{
	if (one->tells)
		snprintf(text, FOLLOWER_SENTENCE,
		    "nothing is heard at %s of the relay at %s any more: it is gone, or cut off, "
		    "and "
		    "hosts below it that have no other relay get no new paths; or its fmd-agent "
		    "--relay is",
		    place, one->name);
	else
		snprintf(text, FOLLOWER_SENTENCE,
		    "%s follows %s no more (%u of %u are there): hosts below it that have no other "
		    "relay "
		    "get no new paths",
		    one->name, place, one->here, one->most);
	return text;
}

static void
note_fewer(struct follower *one, int64_t now_ms, const char *place)
{
	char text[FOLLOWER_SENTENCE];

	if (one->fewer_ms < 0)
		one->fewer_ms = now_ms;
	if (one->gone || now_ms - one->fewer_ms < FOLLOWERS_GONE_MS)
		return;
	one->gone = true;
	one->event = events_add(EVENT_FOLLOWER_LOST, FM_LOG_WARN, "dist", NULL, "%s",
	    follower_say_gone(one, place, text));
}

static void
forget_missing(struct follower *one, const char *place)
{
	event_end(one->event, EVENT_FOLLOWER_LOST, "dist", "%s is not waited for at %s any more",
	    one->name, place);
	one->event = 0;
	log_notice("dist",
	    "%s has not followed %s for a day (%u of %u are there): those that are missing are "
	    "forgotten",
	    one->name, place, one->here, one->most);
	one->most = one->here;
	one->fewer_ms = -1;
	one->gone = false;
}

void
followers_end(struct followers *f, int64_t now_ms, const char *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->item.n; i++) {
		struct follower *one = &f->item.item[i];

		if (one->here >= one->most)
			note_all_here(one, place);
		else
			note_fewer(one, now_ms, place);
		if (one->fewer_ms >= 0 && now_ms - one->fewer_ms >= FOLLOWERS_FORGET_MS)
			forget_missing(one, place);
		if (one->most > 0)
			f->item.item[kept++] = *one;
	}
	f->item.n = kept;
}
