/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/health/health.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/graph/link_speed.h"
#include "core/inventory/flaps.h"
#include "core/picture/cable.h"
#include "core/text/json_text.h"
#include "core/text/sentence.h"
#include "lib/bitset.h"
#include "lib/vec.h"

#define COUNTERS_NAMED 3

/* A cable that is not ok. */
struct verdict_row {
	struct cable c;		       /* near.node NULL: neither end is in the inventory */
	const struct finding *finding; /* NULL: none */
	const struct inv_flap *flap;   /* NULL: it does not flap */
	enum cable_health health;
	int64_t since_s;			/* UTC; 0: not known */
	const struct isolated_item *quarantine; /* NULL: it is not quarantined */
	bool is_disabled, is_slow, is_isolated, is_down;
};

struct verdicts {
	const struct health_of *of;
	FM_VEC(struct verdict_row) rows;
	uint32_t n_of[CABLE_BAD + 1];
	uint64_t *is_met; /* bit of each finding whose cable is there */
	bool ok;
};

/* ---------------------------------------------------------------------- facts */

/* As bad as this, and since then at least. */
static void
worsen(struct verdict_row *v, enum cable_health health, int64_t since_s)
{
	if (health > v->health) {
		v->health = health;
		v->since_s = since_s;
	}
}

static int64_t
linked_since(const struct health_of *of, const struct cable_end *e)
{
	const struct seen *seen = of->seen;

	return seen != NULL && e->slot < seen->n && e->port <= seen->nodes[e->slot].n_ports
	    ? seen->nodes[e->slot].ports[e->port].since_s
	    : 0;
}

/* Since when something is unfinished there. */
static int64_t
unfinished_since(const struct health_of *of, const struct cable *c)
{
	const struct cable_end *ends[] = { &c->near, &c->far };
	const struct todo *t;

	for (int e = 0; e < 2; e++)
		if (ends[e]->node != NULL &&
		    (t = todo_find(of->todo, ends[e]->slot, ends[e]->port)) != NULL)
			return t->since_s;
	return 0;
}

static void
look_at_routing(const struct health_of *of, struct verdict_row *v)
{
	const struct cable *c = &v->c;

	v->flap = flaps_at(of->inv, c->near.slot, c->near.port);
	v->is_disabled = c->near.at->stopped || (c->far.at != NULL && c->far.at->stopped);
	v->is_slow = c->near.at->edge == EDGE_LINKED && cable_is_degraded(c);
	v->is_isolated = isolated_is_cable(of->isolated, of->inv, c->near.slot, c->near.port);
	if (v->is_slow)
		worsen(v, CABLE_WATCH, linked_since(of, &c->near));
	if (v->flap != NULL)
		worsen(v, v->flap->state == FLAP_OUT ? CABLE_BAD : CABLE_WATCH,
		    unfinished_since(of, c));
	if (v->is_disabled)
		worsen(v, CABLE_BAD, unfinished_since(of, c));
}

/* It is out of routing as it was bad. */
static const struct isolated_item *
find_quarantine(const struct health_of *of, const struct cable *c)
{
	const struct cable_end *ends[] = { &c->near, &c->far };

	for (int e = 0; e < 2; e++) {
		const struct isolated_item *item = ends[e]->node != NULL
		    ? isolated_at(of->isolated, ends[e]->node->guid, (uint8_t)ends[e]->port)
		    : NULL;

		if (item != NULL && item->quarantined_s != 0)
			return item;
	}
	return NULL;
}

/* What fmd-perf has told of the cable with both its ends. */
static const struct finding *
find_finding(struct verdicts *all, const struct cable *c)
{
	const struct finding *r;
	unsigned far;

	r = findings_at(all->of->findings, c->near.node->guid, (uint8_t)c->near.port);
	if (r == NULL)
		return NULL;
	far = r->end[0].guid == c->near.node->guid && r->end[0].port == c->near.port;
	if (c->far.node != NULL &&
	    (r->end[far].guid != c->far.node->guid || r->end[far].port != c->far.port))
		return NULL; /* of the cable that was there before */
	fm_bit_set(all->is_met, (size_t)(r - findings_get(all->of->findings, 0)));
	return r;
}

static void
add_row(struct verdicts *all, const struct verdict_row *v)
{
	all->n_of[v->health]++;
	if (v->health > CABLE_OK)
		all->ok = all->ok && fm_vec_push(&all->rows, *v);
}

static void
judge(struct verdicts *all, const struct cable_end *e)
{
	struct verdict_row v = { .c = cable_of(all->of->inv, all->of->todo, e) };

	look_at_routing(all->of, &v);
	v.finding = find_finding(all, &v.c);
	if (v.finding != NULL)
		worsen(&v, v.finding->health, v.finding->since_s);
	v.quarantine = find_quarantine(all->of, &v.c);
	if (v.quarantine != NULL) {
		v.health = CABLE_QUARANTINED;
		v.since_s = v.quarantine->quarantined_s;
	}
	add_row(all, &v);
}

static bool
is_judged(const struct inventory *inv, const struct cable_end *e)
{
	return cable_is_told_at(inv, e) && (e->at->edge == EDGE_LINKED || e->at->stopped);
}

/* What fmd-perf has told of, whatever is there now. */
static struct verdict_row
row_of(const struct inventory *inv, const struct finding *f)
{
	struct verdict_row v = { .finding = f, .health = f->health, .since_s = f->since_s };
	struct cable_end *ends[] = { &v.c.near, &v.c.far };

	for (int e = 0; e < 2; e++) {
		uint32_t slot = inv_find(inv, f->end[e].guid);

		if (slot != INV_NONE && f->end[e].port <= inv_node(inv, slot)->n_ports)
			*ends[e] = cable_end(inv, slot, f->end[e].port);
	}
	return v;
}

/* It is down now. */
static void
judge_absent(struct verdicts *all, const struct finding *f)
{
	struct verdict_row v = row_of(all->of->inv, f);

	v.is_down = true;
	add_row(all, &v);
}

static void
judge_all(struct verdicts *all)
{
	const struct inventory *inv = all->of->inv;
	uint32_t n_findings = findings_n(all->of->findings);

	for (uint32_t i = 0; all->ok && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned port = 1; n->present && port <= n->n_ports; port++) {
			struct cable_end e = cable_end(inv, i, port);

			if (is_judged(inv, &e))
				judge(all, &e);
		}
	}
	for (uint32_t i = 0; all->ok && i < n_findings; i++)
		if (!fm_bit_test(all->is_met, i))
			judge_absent(all, findings_get(all->of->findings, i));
}

/* ---------------------------------------------------------------------- words */

static uint64_t
guid_of(const struct verdict_row *v, unsigned e)
{
	const struct cable_end *end = e == 0 ? &v->c.near : &v->c.far;

	return end->node != NULL ? end->node->guid
	    : v->finding != NULL ? v->finding->end[e].guid
				 : 0;
}

static unsigned
port_of(const struct verdict_row *v, unsigned e)
{
	const struct cable_end *end = e == 0 ? &v->c.near : &v->c.far;

	return end->node != NULL ? end->port : v->finding != NULL ? v->finding->end[e].port : 0;
}

/* Its name, else its GUID; NULL: nobody knows who is there. */
static const char *
name_of(const struct verdict_row *v, unsigned e, char buf[24])
{
	const struct cable_end *end = e == 0 ? &v->c.near : &v->c.far;

	if (end->node != NULL)
		return end->node->name;
	if (guid_of(v, e) == 0)
		return NULL;
	snprintf(buf, 24, "0x%016" PRIx64, guid_of(v, e));
	return buf;
}

/* Which end of ours an end of the finding is: 0 or 1. */
static unsigned
end_of_finding(const struct verdict_row *v, unsigned e)
{
	bool turned =
	    v->finding->end[0].guid != guid_of(v, 0) || v->finding->end[0].port != port_of(v, 0);

	return turned ? !e : e;
}

static unsigned
end_of_evidence(const struct verdict_row *v, const json_t *one)
{
	bool is_far = strcmp(json_string_value(json_object_get(one, "end")), "far") == 0;

	return end_of_finding(v, is_far ? 1 : 0);
}

static void
say_counters(const struct verdict_row *v, struct sentence *s)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(v->finding->evidence) && n < COUNTERS_NAMED; i++) {
		const json_t *one = json_array_get(v->finding->evidence, i);
		const char *counter = json_string_value(json_object_get(one, "counter"));
		json_int_t per_hour = json_integer_value(json_object_get(one, "per_hour"));
		unsigned e = end_of_evidence(v, one);
		char guid[24];

		if (per_hour == 0)
			continue;
		sentence_add(s, "%s%" JSON_INTEGER_FORMAT " ", n++ > 0 ? ", " : "", per_hour);
		for (; *counter != '\0'; counter++)
			sentence_add(s, "%c", *counter == '_' ? ' ' : *counter);
		sentence_add(
		    s, " within an hour at %s port %u", name_of(v, e, guid), port_of(v, e));
	}
	if (n == 0)
		sentence_add(s, "its counters have been quiet for less than two hours");
}

static void
say_rate(struct wire_rate r, struct sentence *s)
{
	sentence_add(s, "%ux %s", r.lanes, link_speed_word(r.lane_mbps));
}

static const char *
say_reason(const struct verdict_row *v, char buf[HEALTH_WHY])
{
	struct sentence s = { buf, HEALTH_WHY, 0 };

	buf[0] = '\0';
	if (v->finding != NULL)
		say_counters(v, &s);
	if (v->is_disabled)
		sentence_add(&s, "%sdisabled by babbling_port_policy", s.at > 0 ? "; " : "");
	if (v->flap != NULL)
		sentence_add(&s, "%sit went down %" PRIu32 " times and %s", s.at > 0 ? "; " : "",
		    flap_falls(v->flap),
		    v->flap->only_way ? "is used as there is no other way"
				      : "is left out of the forwarding tables");
	if (v->is_slow) {
		sentence_add(&s, "%sit runs at ", s.at > 0 ? "; " : "");
		say_rate(v->c.rate, &s);
		sentence_add(&s, ", both ends support ");
		say_rate(v->c.best, &s);
	}
	if (v->is_down)
		sentence_add(&s, "; the link is down");
	if (v->quarantine != NULL)
		sentence_add(
		    &s, "%squarantined for %s", s.at > 0 ? "; " : "", v->quarantine->reason);
	else if (v->is_isolated)
		sentence_add(&s, "; isolated");
	if (v->quarantine == NULL && v->finding != NULL && v->finding->why_not[0] != '\0')
		sentence_add(&s, "; not quarantined: %s", v->finding->why_not);
	return buf;
}

const char *
health_why(const struct health_of *of, const struct finding *f, char buf[HEALTH_WHY])
{
	struct sentence s = { buf, HEALTH_WHY, 0 };
	struct verdict_row v = row_of(of->inv, f);

	say_counters(&v, &s);
	return buf;
}

/* Whose end it may be; 2: neither alone. */
static unsigned
suspect_end(const struct verdict_row *v)
{
	if (v->finding == NULL || v->finding->suspect == FINDING_CABLE)
		return 2;
	return end_of_finding(v, v->finding->suspect == FINDING_FAR ? 1 : 0);
}

static json_t *
suspect_json(const struct verdict_row *v)
{
	unsigned e = suspect_end(v);
	char guid[24], text[128];

	if (e == 2)
		return json_string("cable");
	snprintf(text, sizeof(text), "%s port %u", name_of(v, e, guid), port_of(v, e));
	return json_text(text);
}

static bool
is_stuck(const struct finding *r)
{
	for (size_t i = 0; r != NULL && i < json_array_size(r->evidence); i++)
		if (json_is_true(json_object_get(json_array_get(r->evidence, i), "at_end")))
			return true;
	return false;
}

static const char *
advice_of(const struct verdict_row *v)
{
	if (v->quarantine != NULL)
		return "replace the cable; fmctl restore takes it into routing again at once, else "
		       "fmd does when it has been quiet for two hours";
	if (v->is_disabled)
		return "replace the cable, then enable the port (ibportstate)";
	if (is_stuck(v->finding))
		return "replace the cable, then clear its counters (perfquery -R): one stands at "
		       "its end, and nobody sees whether it counts on";
	if (v->finding != NULL && suspect_end(v) < 2)
		return "reseat the cable; then look at the suspect port, which sends what the "
		       "other end receives badly; then replace the cable";
	if (v->finding != NULL || v->flap != NULL)
		return "reseat both ends of the cable; then replace it";
	return "reseat both ends of the cable, and compare the speeds that the ports are set to";
}

/* ---------------------------------------------------------------------- answer */

static json_t *
since_json(int64_t since_s)
{
	time_t t = (time_t)since_s;
	struct tm tm;
	char text[40];

	if (since_s == 0 || gmtime_r(&t, &tm) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return json_null();
	return json_string(text);
}

static json_t *
evidence_json(const struct verdict_row *v)
{
	json_t *all = json_array();

	for (size_t i = 0; v->finding != NULL && i < json_array_size(v->finding->evidence); i++) {
		const json_t *one = json_array_get(v->finding->evidence, i);

		json_array_append_new(all,
		    json_pack("{s:O, s:s, s:O, s:b}", "counter", json_object_get(one, "counter"),
			"end", end_of_evidence(v, one) == 0 ? "near" : "far", "per_hour",
			json_object_get(one, "per_hour"), "at_end",
			(int)json_is_true(json_object_get(one, "at_end"))));
	}
	return all;
}

static json_t *
guid_json(uint64_t guid)
{
	return guid != 0 ? json_guid(guid) : json_null();
}

static json_t *
end_name_json(const struct verdict_row *v, unsigned e)
{
	char guid[24];
	const char *name = name_of(v, e, guid);

	return name != NULL ? json_text(name) : json_null();
}

static json_t *
row_json(const struct verdict_row *v)
{
	char reason[HEALTH_WHY];

	return json_pack("{s:s, s:o, s:o, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:b}",
	    "health", cable_health_word(v->health), "since", since_json(v->since_s), "guid",
	    guid_json(guid_of(v, 0)), "port", (int)port_of(v, 0), "peer_guid",
	    guid_json(guid_of(v, 1)), "peer_port", (int)port_of(v, 1), "node", end_name_json(v, 0),
	    "peer", end_name_json(v, 1), "reason", json_text(say_reason(v, reason)), "evidence",
	    evidence_json(v), "suspect", suspect_json(v), "advice", advice_of(v), "isolated",
	    (int)v->is_isolated);
}

static int
compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* The worst first; of those that are alike the one that has been so the longest. */
static int
by_health(const void *a, const void *b)
{
	const struct verdict_row *x = a, *y = b;
	int order = compare(y->health, x->health);

	order = order != 0 ? order : compare(x->since_s, y->since_s);
	order = order != 0		    ? order
	    : guid_of(x, 0) < guid_of(y, 0) ? -1
					    : guid_of(x, 0) > guid_of(y, 0);
	return order != 0 ? order : compare(port_of(x, 0), port_of(y, 0));
}

/* How old what is known of counters is, and why that is not enough. */
static json_t *
judged_json(const struct health_of *of)
{
	int64_t age_ms = findings_age_ms(of->findings, of->now_ms);
	char why[200] = "";

	if (of->not_ours != NULL)
		snprintf(why, sizeof(why), "this fmd is %s: the master's tells", of->not_ours);
	else if (age_ms < 0)
		snprintf(why, sizeof(why),
		    "no fmd-perf has told how cables are: does it run (fmd-perf(8))?");
	else if (!findings_are_fresh(of->findings, of->now_ms))
		snprintf(why, sizeof(why),
		    "counters were last judged %" PRId64 " s ago: fmd-perf "
		    "does not run, or reads nothing",
		    age_ms / 1000);
	else if (findings_is_full(of->findings))
		snprintf(
		    why, sizeof(why), "fmd-perf has told of more cables than %d", FINDINGS_MOST);
	return json_pack("{s:o, s:o}", "age_s",
	    age_ms < 0 ? json_null() : json_integer(age_ms / 1000), "why",
	    why[0] != '\0' ? json_string(why) : json_null());
}

static json_t *
answer(const struct verdicts *all)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < all->rows.n && i < HEALTH_ROWS; i++)
		json_array_append_new(rows, row_json(&all->rows.item[i]));
	return json_pack("{s:{s:I, s:I, s:I, s:I}, s:o, s:O?, s:o}", "counts", "ok",
	    (json_int_t)all->n_of[CABLE_OK], "watch", (json_int_t)all->n_of[CABLE_WATCH], "bad",
	    (json_int_t)all->n_of[CABLE_BAD], "quarantined",
	    (json_int_t)all->n_of[CABLE_QUARANTINED], "judged", judged_json(all->of), "cabling",
	    all->of->cabling, "cables", rows);
}

int
health_json(const struct health_of *of, json_t **result, struct fm_error *err)
{
	struct verdicts all = { .of = of, .ok = true };

	all.is_met = calloc(FM_BITSET_WORDS(findings_n(of->findings) + 1), sizeof(*all.is_met));
	all.ok = all.is_met != NULL;
	if (all.ok)
		judge_all(&all);
	if (all.ok && all.rows.n > 1)
		qsort(all.rows.item, all.rows.n, sizeof(*all.rows.item), by_health);
	*result = all.ok ? answer(&all) : NULL;
	fm_vec_fini(&all.rows);
	free(all.is_met);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}
