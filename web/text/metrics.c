/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/metrics.h"

#include <inttypes.h>
#include <stdio.h>

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define MOST_CABLES 100 /* that are told one by one, the worst first */
#define MOST_PLACES 20

/* ------------------------------------------------------------ numbers of an answer */

static const json_t *
get(const json_t *o, const char *key)
{
	return json_object_get(o, key);
}

/* Nothing where there is no such number. */
static void
put_number(struct text *t, const char *name, const char *labels, const json_t *n)
{
	if (json_is_integer(n) && json_integer_value(n) >= 0)
		text_count(t, name, labels, (uint64_t)json_integer_value(n));
	else if (json_is_number(n))
		text_real(t, name, labels, json_number_value(n));
	else if (json_is_boolean(n))
		text_count(t, name, labels, json_is_true(n));
}

static void
put_one(struct text *t, const char *name, const char *type, const char *help, const json_t *n)
{
	if (!json_is_number(n) && !json_is_boolean(n))
		return;
	text_family(t, name, type, help);
	put_number(t, name, "", n);
}

static void
begin_labels(struct text *t, const char *name)
{
	text_words(t, name);
	text_words(t, "{");
}

static void
put_label(struct text *t, const char *key, const char *value)
{
	bool is_first = t->v.n > 0 && t->v.item[t->v.n - 1] == '{';

	text_printf(t, "%s%s=\"", is_first ? "" : ",", key);
	text_label(t, value);
	text_words(t, "\"");
}

/* A number for each key of an object: name{label="key"}, times a unit. */
static void
put_keys(struct text *t, const char *name, const char *label, const json_t *o, double unit)
{
	const char *key;
	json_t *n;

	json_object_foreach((json_t *)(uintptr_t)o, key, n)
	{
		if (!json_is_number(n))
			continue;
		begin_labels(t, name);
		put_label(t, label, key);
		if (unit == 1)
			put_number(t, "}", "", n);
		else
			text_real(t, "}", "", json_number_value(n) * unit);
	}
}

/* ------------------------------------------------------------------------- status */

static void
put_state(struct text *t, const json_t *status)
{
	static const char *const states[] = { "master", "standby", "discovering", "not active" };
	const char *is = json_string_value(get(status, "sm_state"));
	const char *version = json_string_value(get(status, "version"));

	text_family(t, "fmd_up", "gauge", "1: fmd answers on its control socket.");
	text_count(t, "fmd_up", "", status != NULL);
	if (version != NULL) {
		text_family(t, "fmd_build_info", "gauge", "1: the version of fmd that runs.");
		begin_labels(t, "fmd_build_info");
		put_label(t, "version", version);
		text_words(t, "} 1\n");
	}
	if (is == NULL)
		return;
	text_family(t, "fmd_sm_state", "gauge", "1: the state that the subnet manager is in.");
	for (size_t i = 0; i < N_OF(states); i++) {
		begin_labels(t, "fmd_sm_state");
		put_label(t, "state", states[i]);
		text_printf(t, "} %d\n", strcmp(is, states[i]) == 0);
	}
}

/* As it is believed now; where that is not known, as of the last sweep that changed something. */
static void
put_unreachable(struct text *t, const json_t *status)
{
	const json_t *now = get(get(status, "as_read"), "unreachable_pairs");

	put_one(t, "fmd_unreachable_pairs", "gauge",
	    "Pairs of ports that have no path though cables join them.",
	    json_is_number(now) ? now : get(get(status, "sweep"), "unreachable_pairs"));
}

static void
put_fabric(struct text *t, const json_t *status)
{
	static const char *const kinds[] = { "switches", "cas", "routers" };
	const json_t *sweep = get(status, "sweep");

	put_one(t, "fmd_subnet_up", "gauge", "1: the subnet has been brought up by this fmd.",
	    get(status, "subnet_up"));
	put_one(t, "fmd_converged", "gauge",
	    "1: nothing is unfinished and nothing is asked for or under way.",
	    get(status, "converged"));
	put_one(
	    t, "fmd_troubles", "gauge", "Lines that fmctl trouble has.", get(status, "troubles"));
	text_family(
	    t, "fmd_unfinished", "gauge", "Ports and nodes that are not as they are to be.");
	put_keys(t, "fmd_unfinished", "kind", get(status, "unfinished"), 1);
	put_unreachable(t, status);
	put_one(t, "fmd_isolated_cables", "gauge", "Cables out of routing: fmctl isolate.",
	    get(status, "isolated"));
	if (!json_is_object(sweep))
		return;
	text_family(t, "fmd_nodes", "gauge", "Nodes of the subnet, by type.");
	for (size_t i = 0; i < N_OF(kinds); i++) {
		begin_labels(t, "fmd_nodes");
		put_label(t, "type", kinds[i]);
		put_number(t, "}", "", get(sweep, kinds[i]));
	}
	put_one(t, "fmd_links", "gauge", "Cables between two nodes.", get(sweep, "links"));
	put_one(t, "fmd_ports_not_active", "gauge", "Cabled ports that are not ACTIVE.",
	    get(sweep, "ports_not_active"));
	text_family(
	    t, "fmd_sweep_phase_seconds", "gauge", "Of the last sweep that changed something.");
	put_keys(t, "fmd_sweep_phase_seconds", "phase", get(sweep, "phases_ms"), 0.001);
}

static void
put_smps(struct text *t, const json_t *smps)
{
	static const char *const methods[][2] = { { "gets", "Get" }, { "sets", "Set" } };
	const char *key;
	json_t *n;

	if (!json_is_object(smps))
		return;
	text_family(
	    t, "fmd_smps_total", "counter", "Requests of subnet management, retries aside.");
	for (size_t i = 0; i < N_OF(methods); i++) {
		json_t *of = json_object_get(smps, methods[i][0]);

		json_object_foreach(of, key, n)
		{
			begin_labels(t, "fmd_smps_total");
			put_label(t, "attribute", key);
			put_label(t, "method", methods[i][1]);
			put_number(t, "}", "", n);
		}
	}
	put_one(t, "fmd_smp_retries_total", "counter", "Requests that were sent once more.",
	    get(smps, "retries"));
	put_one(t, "fmd_smp_timeouts_total", "counter", "Requests that nobody has answered.",
	    get(smps, "timeouts"));
}

/* One family of several keys of an object, each another value of the label. */
static void
put_chosen(struct text *t, const char *name, const char *label, const json_t *o,
    const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!json_is_number(get(o, keys[i])))
			continue;
		begin_labels(t, name);
		put_label(t, label, keys[i]);
		put_number(t, "}", "", get(o, keys[i]));
	}
}

static void
put_work(struct text *t, const json_t *status)
{
	static const char *const results[] = { "answered", "refused", "busy" };
	static const char *const fates[] = { "acted_upon", "put_off", "only_counted",
		"not_believed" };
	const json_t *sa = get(status, "sa"), *traps = get(status, "traps");

	text_family(t, "fmd_sweeps_total", "counter", "Sweeps that have ended, by how.");
	put_keys(t, "fmd_sweeps_total", "outcome", get(status, "sweeps"), 1);
	put_smps(t, get(status, "smps"));
	if (json_is_object(sa)) {
		text_family(t, "fmd_sa_requests_total", "counter",
		    "Requests to subnet administration, by what has become of them.");
		put_chosen(t, "fmd_sa_requests_total", "result", sa, results, N_OF(results));
	}
	if (json_is_object(traps)) {
		text_family(t, "fmd_traps_total", "counter", "Traps, by what has become of them.");
		put_chosen(t, "fmd_traps_total", "fate", traps, fates, N_OF(fates));
	}
	text_family(t, "fmd_events_total", "counter", "Events, by kind.");
	put_keys(t, "fmd_events_total", "kind", get(status, "events"), 1);
}

/* ------------------------------------------------------------------------- others */

static void
put_places(struct text *t, const json_t *dist, const char *name, const char *key)
{
	const json_t *places = get(dist, "places");

	for (size_t i = 0; i < json_array_size(places) && i < MOST_PLACES; i++) {
		const json_t *one = json_array_get(places, i);
		const char *place = json_string_value(get(one, "place"));

		if (place == NULL || !json_is_number(get(one, key)))
			continue;
		begin_labels(t, name);
		put_label(t, "place", place);
		put_number(t, "}", "", get(one, key));
	}
}

static void
put_dist(struct text *t, const json_t *dist)
{
	if (json_array_size(get(dist, "places")) == 0)
		return;
	text_family(t, "fmd_dist_epoch", "gauge", "Number of what was published last.");
	put_places(t, dist, "fmd_dist_epoch", "epoch");
	text_family(t, "fmd_dist_failures_total", "counter", "Times that publishing has failed.");
	put_places(t, dist, "fmd_dist_failures_total", "failures");
}

/* Only where copies are given at all: else nobody expects one. */
static void
put_ha(struct text *t, const json_t *ha)
{
	const char *role = json_string_value(get(ha, "role"));
	const json_t *list = get(ha, "standbys");
	uint64_t n = 0;

	if (role == NULL || strcmp(role, "master") != 0 || get(ha, "term") == NULL)
		return;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *state = json_string_value(get(json_array_get(list, i), "state"));

		n += state != NULL && strcmp(state, "in sync") == 0;
	}
	text_family(t, "fmd_standbys_in_sync", "gauge",
	    "Standbys that have all that outlives this master; told where it gives copies.");
	text_count(t, "fmd_standbys_in_sync", "", n);
}

static void
put_cable(struct text *t, const json_t *cable)
{
	static const char *const words[] = { "health", "guid", "peer_guid", "node", "peer",
		"reason" };
	static const char *const numbers[] = { "port", "peer_port" };

	begin_labels(t, "fmd_cable_unhealthy");
	for (size_t i = 0; i < N_OF(words); i++) {
		const char *value = json_string_value(get(cable, words[i]));

		put_label(t, words[i], value != NULL ? value : "");
	}
	for (size_t i = 0; i < N_OF(numbers); i++) {
		char value[24];

		snprintf(value, sizeof(value), "%" JSON_INTEGER_FORMAT,
		    json_integer_value(get(cable, numbers[i])));
		put_label(t, numbers[i], value);
	}
	text_words(t, "} 1\n");
}

static void
put_health(struct text *t, const json_t *health)
{
	const json_t *cables = get(health, "cables");

	if (!json_is_object(get(health, "counts")))
		return;
	text_family(t, "fmd_cables", "gauge", "Cables, by the verdict on them (fmctl health).");
	put_keys(t, "fmd_cables", "health", get(health, "counts"), 1);
	text_family(
	    t, "fmd_cable_unhealthy", "gauge", "1: a cable that is not ok, the worst 100 of them.");
	for (size_t i = 0; i < json_array_size(cables) && i < MOST_CABLES; i++)
		put_cable(t, json_array_get(cables, i));
}

/* ------------------------------------------------------------------ file of counters */

static void
put_perf(struct text *t, const struct metrics *m)
{
	const struct book_head *h = &m->readings->head;
	double age_s = (double)(m->now_ms - h->sweep_ended_ms) / 1000;

	text_family(t, "fmd_perf_interval_seconds", "gauge", "Between two readings of fmd-perf.");
	text_real(t, "fmd_perf_interval_seconds", "", h->interval_ms / 1000.0);
	if (h->sweep > 0) {
		text_family(t, "fmd_perf_age_seconds", "gauge",
		    "Since the last reading of fmd-perf ended.");
		text_real(t, "fmd_perf_age_seconds", "", age_s > 0 ? age_s : 0);
	}
	text_family(t, "fmd_perf_ports", "gauge", "Ports of the last reading of fmd-perf.");
	text_count(t, "fmd_perf_ports", "{state=\"read\"}", h->n_read);
	text_count(t, "fmd_perf_ports", "{state=\"missing\"}",
	    h->n_wanted > h->n_read ? h->n_wanted - h->n_read : 0);
	text_family(t, "fmd_perf_silent_agents", "gauge", "Nodes that do not tell their counters.");
	text_count(t, "fmd_perf_silent_agents", "", h->n_silent);
	text_family(t, "fmd_perf_late_readings_total", "counter",
	    "Readings of fmd-perf for which the interval was too short.");
	text_count(t, "fmd_perf_late_readings_total", "", h->n_late);
}

static void
begin_pair(struct text *t, const char *name, unsigned pair)
{
	begin_labels(t, name);
	put_label(t, "from", levels_name(pair / LEVELS_ALL));
	put_label(t, "to", levels_name(pair % LEVELS_ALL));
}

static void
put_levels(struct text *t, const struct levels *l)
{
	static const char bytes[] = "fmd_level_transmit_bytes_total",
			  waits[] = "fmd_level_wait_ticks_per_second";

	text_family(t, bytes, "counter",
	    "Bytes that ports of one level have sent to the next since fmd-web was started; hosts "
	    "are level 0.");
	for (unsigned i = 0; i < LEVELS_ALL * LEVELS_ALL; i++)
		if (l->pair[i].n_ports > 0 || l->pair[i].bytes > 0) {
			begin_pair(t, bytes, i);
			text_count(t, "}", "", l->pair[i].bytes);
		}
	text_family(t, waits, "gauge",
	    "Ticks a second in which ports had data and no credits; their length is the device's.");
	for (unsigned i = 0; i < LEVELS_ALL * LEVELS_ALL; i++)
		if (l->pair[i].n_ports > 0) {
			begin_pair(t, waits, i);
			text_count(t, ",stat=\"max\"}", "", l->pair[i].worst);
			begin_pair(t, waits, i);
			text_count(t, ",stat=\"p99\"}", "", l->pair[i].p99);
		}
}

void
metrics_write(const struct metrics *m, struct text *t)
{
	put_state(t, m->status);
	if (m->status != NULL) {
		put_fabric(t, m->status);
		put_work(t, m->status);
	}
	put_dist(t, m->dist);
	put_ha(t, m->ha);
	put_health(t, m->health);
	text_family(
	    t, "fmd_perf_up", "gauge", "1: there is a file of counters, and it makes sense.");
	text_count(t, "fmd_perf_up", "", m->readings != NULL);
	if (m->readings != NULL)
		put_perf(t, m);
	if (m->levels != NULL)
		put_levels(t, m->levels);
}
