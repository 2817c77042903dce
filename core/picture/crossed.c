/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/crossed.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/picture/crossing.h"
#include "core/nodes/nodes.h"
#include "core/text/json_text.h"
#include "lib/error.h"

struct crossed {
	struct plan_worker *worker;
	char *ports;		     /* as they were asked for; NULL: nothing is */
	struct plan *plan;	     /* one reference, while ports is not NULL */
	fm_link link[CROSSED_PORTS]; /* FM_NONE: there is none */
	uint32_t n;
	atomic_bool is_done; /* the rest is the worker's before that */
	bool passed_over;    /* somebody else has asked since then: whoever did may be gone */
	json_t *found;	     /* NULL: err */
	struct fm_error err;
};

struct crossed *
crossed_new(struct plan_worker *worker)
{
	struct crossed *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->worker = worker;
	return c;
}

static void
forget(struct crossed *c)
{
	if (c->ports == NULL)
		return;
	free(c->ports);
	plan_put(c->plan);
	json_decref(c->found);
	c->ports = NULL;
	c->found = NULL;
}

void
crossed_free(struct crossed *c)
{
	if (c == NULL)
		return;
	forget(c);
	free(c);
}

/* ----------------------------------------------------- on the worker's thread */

/* The switches with most, the most first; *n: how many there are at all. */
static json_t *
most_json(const struct fm_fabric *fab, uint32_t *count, uint32_t *n)
{
	json_t *list = json_array();

	*n = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		*n += count[sw] > 0;
	for (uint32_t i = 0; i < *n && i < CROSSED_SHOWN; i++) {
		fm_sw most = 0;

		for (fm_sw sw = 1; sw < fab->n_switches; sw++)
			if (count[sw] > count[most])
				most = sw;
		json_array_append_new(list,
		    json_pack("[o, I]", json_text(fab->sw_name[most]), (json_int_t)count[most]));
		count[most] = 0;
	}
	return list;
}

static json_t *
link_json(const struct fm_fabric *fab, uint32_t *from, uint32_t *to)
{
	json_t *most_from, *most_to;
	uint32_t n_from, n_to;
	uint64_t routes = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		routes += from[sw];
	most_from = most_json(fab, from, &n_from);
	most_to = most_json(fab, to, &n_to);
	return json_pack("{s:I, s:o, s:i, s:o, s:i}", "routes", (json_int_t)routes, "from",
	    most_from, "n_from", (int)n_from, "to", most_to, "n_to", (int)n_to);
}

static json_t *
count_all(struct crossed *c)
{
	const struct plan *p = c->plan;
	size_t n_sw = p->snap->fab.n_switches;
	uint32_t *counts = calloc(2 * n_sw + 1, sizeof(*counts));
	json_t *all = json_array();

	for (uint32_t i = 0; counts != NULL && i < c->n; i++) {
		json_t *one = json_null();

		if (c->link[i] != FM_NONE &&
		    link_crossing(
			p->snap, &p->tables->t, c->link[i], counts, counts + n_sw, &c->err) == 0)
			one = link_json(&p->snap->fab, counts, counts + n_sw);
		json_array_append_new(all, one);
	}
	if (counts == NULL)
		fm_fail(&c->err, FM_E_RESOURCE, "out of memory for whose routes cross a port");
	free(counts);
	if (json_array_size(all) == c->n && c->err.kind == FM_OK)
		return all;
	json_decref(all);
	return NULL;
}

static void
count(void *arg)
{
	struct crossed *c = arg;

	c->found = count_all(c);
	atomic_store(&c->is_done, true);
}

/* ------------------------------------------------------------------- the loop */

static fm_link
find_link(const struct inventory *inv, const struct plan *p, uint64_t guid, unsigned port)
{
	uint32_t slot = inv_find(inv, guid);
	const struct inv_node *n = slot != INV_NONE ? inv_node(inv, slot) : NULL;

	if (n == NULL || !inv_is_switch(n) || n->sw_index >= p->snap->fab.n_switches)
		return FM_NONE;
	return snapshot_link_at(p->snap, n->sw_index, port);
}

static int
read_ports(struct crossed *c, const struct inventory *inv, const struct plan *p, const char *ports,
    struct fm_error *err)
{
	const char *at = ports;

	for (c->n = 0; c->n < CROSSED_PORTS; at++) {
		char guid_text[24], *end;
		size_t n = strcspn(at, ":,");
		unsigned long port;
		uint64_t guid;

		snprintf(guid_text, sizeof(guid_text), "%.*s", (int)n, at);
		port = at[n] == ':' ? strtoul(at + n + 1, &end, 10) : 0;
		if (port < 1 || port > INV_PORTS_MAX || (*end != ',' && *end != '\0') ||
		    !node_guid_parse(guid_text, &guid))
			return fm_fail(err, FM_E_CONFIG,
			    "ports is GUID:PORT,..., as 0x0002c90300a1b2c3:1; %.40s is not", at);
		c->link[c->n++] = find_link(inv, p, guid, (unsigned)port);
		at = end;
		if (*at == '\0')
			return 0;
	}
	return fm_fail(
	    err, FM_E_CONFIG, "ports: more than %d are asked for at once", CROSSED_PORTS);
}

static int
begin(struct crossed *c, const struct inventory *inv, const struct plan *p, const char *ports,
    struct fm_error *err)
{
	int rc = read_ports(c, inv, p, ports, err);

	if (rc != 0)
		return rc;
	c->ports = strdup(ports);
	if (c->ports == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	c->plan = plan_get((struct plan *)(uintptr_t)p);
	c->err = (struct fm_error){ 0 };
	c->passed_over = false;
	atomic_store(&c->is_done, false);
	if (plan_worker_run(c->worker, count, c))
		return 0;
	forget(c);
	return fm_fail(err, FM_E_RESOURCE, "out of memory");
}

int
crossed_ask(struct crossed *c, const struct inventory *inv, const struct plan *plan,
    const json_t *ports, json_t **result, struct fm_error *err)
{
	const char *asked = json_string_value(ports);
	int rc = 0;

	if (asked == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "ports is GUID:PORT,..., as 0x0002c90300a1b2c3:1; it is missing, or no text");
	if (plan == NULL || plan->tables == NULL)
		return fm_fail(err, FM_E_CONFIG, "there are no routes yet");
	if (c->ports != NULL && atomic_load(&c->is_done)) {
		if (strcmp(c->ports, asked) == 0 && c->plan == plan) {
			*err = c->err;
			if (c->found != NULL)
				*result =
				    json_pack("{s:s, s:O}", "state", "done", "ports", c->found);
			rc = c->found != NULL ? 0 : (int)c->err.kind;
			forget(c);
			return rc;
		}
		if (c->plan != plan || c->passed_over)
			forget(c);
		c->passed_over = true;
	}
	if (c->ports == NULL)
		rc = begin(c, inv, plan, asked, err);
	if (rc == 0)
		*result = json_pack("{s:s}", "state", "counting");
	return rc;
}
