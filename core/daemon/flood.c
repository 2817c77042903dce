/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/flood.c - who keeps us busy, and what is made of it: for fmctl status, and once a
 * minute for the log.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/daemon/daemon.h"
#include "core/mad/talkers.h"
#include "core/server/server.h"
#include "core/text/json_text.h"

static json_t *
talker_json(const struct daemon *d, const struct talker *t)
{
	char name[512], guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64,
	    sweeper_name_lid(d->sweeper, t->lid, name, sizeof(name)));
	return json_pack("{s:i, s:s, s:o, s:I, s:I}", "lid", t->lid, "guid", guid, "name",
	    json_text(name), "in_last_minute", (json_int_t)t->n, "refused",
	    (json_int_t)t->n_refused);
}

static json_t *
talkers_json(const struct daemon *d, const struct talkers_seen *seen)
{
	json_t *list = json_array();

	for (unsigned i = 0; list != NULL && i < seen->n; i++)
		json_array_append_new(list, talker_json(d, &seen->top[i]));
	return list;
}

static json_t *
traps_json(const struct daemon *d)
{
	const struct sweep_trap_counts *c = sweeper_trap_counts(d->sweeper);

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "received", (json_int_t)c->received,
	    "acted_upon", (json_int_t)c->acted, "put_off", (json_int_t)c->postponed, "only_counted",
	    (json_int_t)c->repeated, "not_believed", (json_int_t)c->refused, "not_passed_on",
	    (json_int_t)c->not_passed_on);
}

/* Answers that are not believed: to what is over, and to what was never asked. */
static json_t *
answers_json(const struct daemon *d)
{
	const struct txn_counts *c = txn_counts(d->txn);

	return json_pack("{s:I, s:I, s:I}", "late", (json_int_t)c->late, "duplicate",
	    (json_int_t)c->duplicates, "forged", (json_int_t)c->forged);
}

static json_t *
reports_json(const struct daemon *d)
{
	struct sa_counts c;

	sa_server_counts(d->sa, &c);
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:i, s:I, s:I}", "subscriptions",
	    (int)c.told.subscriptions, "events", (json_int_t)c.told.events, "sent",
	    (json_int_t)c.told.reports, "repeated", (json_int_t)c.told.retries, "answered",
	    (json_int_t)c.told.answered, "waiting", (int)c.told.waiting, "untold",
	    (json_int_t)c.told.untold, "subscriptions_dropped", (json_int_t)c.told.dropped);
}

void
daemon_add_flood(const struct daemon *d, json_t *status)
{
	struct talkers_seen seen;

	json_object_set_new(status, "traps", traps_json(d));
	json_object_set_new(status, "dropped_answers", answers_json(d));
	sweeper_talkers(d->sweeper, &seen);
	json_object_set_new(status, "busiest_by_smps", talkers_json(d, &seen));
	if (d->sa == NULL)
		return;
	json_object_set_new(status, "reports", reports_json(d));
	sa_server_talkers(d->sa, &seen);
	json_object_set_new(status, "busiest_of_sa", talkers_json(d, &seen));
}

static void
report_talker(
    struct daemon *d, const struct talkers_seen *seen, const char *subsystem, const char *what)
{
	const struct talker *t = talkers_flood(seen);
	char name[512];

	if (t == NULL)
		return;
	sweeper_name_lid(d->sweeper, t->lid, name, sizeof(name));
	events_add(EVENT_BUSY_CLIENT, FM_LOG_WARN, subsystem, talker_json(d, t),
	    "the busiest client is %s: %" PRIu32 " %s in the last minute, of %" PRIu32
	    " in all; refused: %" PRIu32,
	    name, t->n, what, seen->all.n, t->n_refused);
}

void
daemon_say_flood(struct daemon *d)
{
	struct talkers_seen seen;

	sweeper_talkers(d->sweeper, &seen);
	for (unsigned i = 0; i < seen.n; i++)
		seen.top[i].n_refused = 0; /* of traps, which the sweep tells of */
	report_talker(d, &seen, "sweep", "traps and SMInfo");
	if (d->sa == NULL)
		return;
	sa_server_talkers(d->sa, &seen);
	report_talker(d, &seen, "sa", "requests");
}
