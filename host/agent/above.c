/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/agent/above.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/redis/info.h"
#include "lib/log.h"

static const struct redis_limits limits = { .who = "the Redis above",
	.connect_ms = 1000,
	.answer_ms = 1000,
	.most_bytes = 4096,
	.most_elements = 16 };

void
above_leave(struct above *a)
{
	redis_close(a->redis);
	a->redis = NULL;
}

/* Is it one of the names, which have a comma behind each? */
static bool
has_name(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = names; *at != '\0'; at += strcspn(at, ",") + 1)
		if (strncmp(at, name, n) == 0 && at[n] == ',')
			return true;
	return false;
}

static void
add_name(void *arg, const char *name)
{
	struct above *a = arg;
	size_t n = strlen(a->names);

	if (n + strlen(name) + 2 <= sizeof(a->names) && !has_name(a->names, name))
		snprintf(a->names + n, sizeof(a->names) - n, "%s,", name);
}

/* As redis_info_relays() takes it. */
static void
add_own_name(struct above *a)
{
	char name[REDIS_RELAY_NAME] = "";

	if (a->name != NULL)
		snprintf(name, sizeof(name), "%s", a->name);
	else if (gethostname(name, sizeof(name) - 1) != 0)
		name[0] = '\0';
	if (name[0] == '\0')
		snprintf(name, sizeof(name), "unnamed");
	for (char *c = name; *c != '\0'; c++)
		if (!isgraph((unsigned char)*c) || *c == ',')
			*c = '-';
	add_name(a, name);
}

static int
find_names(struct above *a, struct redis *own, struct fm_error *err)
{
	redisReply *clients = redis_ask(own, err, REDIS_ASK_RELAYS);
	int rc = 0;

	if (clients == NULL)
		return err->kind;
	a->names[0] = '\0';
	add_own_name(a);
	if (redis_is_text(clients))
		redis_info_relays(clients->str, add_name, a);
	else
		rc = redis_no_sense(own, err);
	freeReplyObject(clients);
	return rc;
}

/* Who has subscribed may not change its name: so it is out of the list for a moment, within one
 * packet. */
static int
tell(struct above *a, struct fm_error *err)
{
	redisReply *reply;

	redis_tell(a->redis, "UNSUBSCRIBE");
	redis_tell(a->redis, "CLIENT SETNAME " REDIS_RELAY_KEY "%s", a->names);
	reply = redis_ask(a->redis, err, "SUBSCRIBE " REDIS_RELAY_CHANNEL);
	freeReplyObject(reply);
	return reply != NULL ? 0 : err->kind;
}

static int
connect_to(struct above *a, const char *where, struct fm_error *err)
{
	struct relay_name to;
	int rc;

	if (a->redis != NULL && strcmp(a->where, where) != 0)
		above_leave(a);
	if (a->redis != NULL)
		return 0;
	snprintf(a->where, sizeof(a->where), "%s", where);
	rc = relay_name_parse(where, &to, err);
	return rc == 0 ? redis_open(&to, a->login, &limits, &a->redis, err) : rc;
}

void
above_tell(struct above *a, struct redis *own, const char *where)
{
	struct fm_error err = { 0 };
	int rc = find_names(a, own, &err);

	if (rc == 0)
		rc = connect_to(a, where, &err);
	if (rc == 0)
		rc = tell(a, &err);
	if (rc != 0)
		above_leave(a);
	if (rc != 0 && strcmp(a->untold, err.msg) != 0)
		log_warn("agent",
		    "%s is not told that this relay is there, nor who is below it: %s", where,
		    err.msg);
	snprintf(a->untold, sizeof(a->untold), "%s", err.msg);
}
