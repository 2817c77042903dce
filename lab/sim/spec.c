/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transport's spec.  Keys are rows of a table; what needs the fabric
 * (places, dead nodes, SMs, the script) waits until the file is read.
 */
#include "lab/sim/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define NS_PER_US INT64_C(1000)

struct names { /* as FM_VEC() */
	const char **item;
	size_t n, room;
};

/* What a spec says, while it is read.  Strings lie in `text`. */
struct spec {
	struct sim_options options;
	char *text;
	const char *file, *local, *script;
	struct names dead, sms, not_adaptive;
	uint32_t n_groups; /* of each switch but these; 0: none routes adaptively */
};

/* ---- one function per form of value; each returns false for a bad one */

static bool
set_delay(struct spec *sp, const char *value)
{
	char *dash = strchr(value, '-');
	uint64_t min, max;
	bool good;

	if (dash == NULL)
		return false;
	*dash = '\0';
	good = read_number(value, 10000000, &min) && read_number(dash + 1, 10000000, &max) &&
	    min <= max;
	*dash = '-';
	if (!good)
		return false;
	sp->options.delay_min_ns = (int64_t)min * NS_PER_US;
	sp->options.delay_max_ns = (int64_t)max * NS_PER_US;
	return true;
}

static bool
set_clock(struct spec *sp, const char *value)
{
	sp->options.wall_clock = strcmp(value, "wall") == 0;
	return sp->options.wall_clock || strcmp(value, "virtual") == 0;
}

static bool
set_strict(struct spec *sp, const char *value)
{
	sp->options.strict = strcmp(value, "no") != 0;
	return value[0] == '\0' || strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static bool
set_lid_smps(struct spec *sp, const char *value)
{
	sp->options.no_lid_smps = strcmp(value, "no") == 0;
	sp->options.cold_lid_smps_lost = strcmp(value, "active") == 0;
	return sp->options.no_lid_smps || sp->options.cold_lid_smps_lost ||
	    strcmp(value, "yes") == 0;
}

static bool
set_mixed_smps(struct spec *sp, const char *value)
{
	sp->options.no_mixed_smps = strcmp(value, "no") == 0;
	return sp->options.no_mixed_smps || strcmp(value, "yes") == 0;
}

static bool
set_port_states(struct spec *sp, const char *value)
{
	static const char *const words[] = { [SIM_STATES_TRUE] = "yes",
		[SIM_STATES_NONE] = "no",
		[SIM_STATES_REFUSED] = "refused",
		[SIM_STATES_SILENT] = "silent",
		[SIM_STATES_ZERO] = "zero",
		[SIM_STATES_STUCK] = "stuck" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0) {
			sp->options.port_states = (enum sim_port_states)i;
			return true;
		}
	return false;
}

enum form { FORM_SHARE, FORM_NUMBER32, FORM_NUMBER64, FORM_TIME, FORM_TEXT, FORM_LIST, FORM_OWN };

static const struct key {
	const char *name;
	enum form form;
	size_t at; /* in struct spec */
	bool (*set)(struct spec *sp, const char *value);
	const char *right; /* what would be right */
} keys[] = {
	{ "seed", FORM_NUMBER64, offsetof(struct spec, options.seed), NULL, "a number" },
	{ "loss", FORM_SHARE, offsetof(struct spec, options.loss), NULL,
	    "a share such as 1% or 0.01" },
	{ "dup", FORM_SHARE, offsetof(struct spec, options.dup), NULL,
	    "a share such as 1% or 0.01" },
	{ "corrupt", FORM_SHARE, offsetof(struct spec, options.corrupt), NULL,
	    "a share such as 1% or 0.01" },
	{ "delay_us", FORM_OWN, 0, set_delay, "microseconds MIN-MAX such as 5-200" },
	{ "hop_ns", FORM_TIME, offsetof(struct spec, options.hop_ns), NULL,
	    "nanoseconds, 0..1000000000" },
	{ "sma_ns", FORM_TIME, offsetof(struct spec, options.sma_ns), NULL,
	    "nanoseconds, 0..1000000000" },
	{ "dr_ns", FORM_TIME, offsetof(struct spec, options.dr_ns), NULL,
	    "nanoseconds, 0..1000000000" },
	{ "lid_smps", FORM_OWN, 0, set_lid_smps, "yes, active or no" },
	{ "mixed_smps", FORM_OWN, 0, set_mixed_smps, "yes or no" },
	{ "port_states", FORM_OWN, 0, set_port_states, "yes, no, refused, silent, zero or stuck" },
	{ "strict", FORM_OWN, 0, set_strict, "yes, no or nothing" },
	{ "recv_queue", FORM_NUMBER32, offsetof(struct spec, options.recv_queue), NULL,
	    "a number, 1..1000000" },
	{ "window", FORM_NUMBER32, offsetof(struct spec, options.window), NULL,
	    "a number, 1..1000000" },
	{ "local", FORM_TEXT, offsetof(struct spec, local), NULL, "NODE or NODE:PORT" },
	{ "script", FORM_TEXT, offsetof(struct spec, script), NULL, "the name of a file" },
	{ "dead", FORM_LIST, offsetof(struct spec, dead), NULL, "a node" },
	{ "sm", FORM_LIST, offsetof(struct spec, sms), NULL, "NODE:PRIORITY:STATE" },
	{ "adaptive", FORM_NUMBER32, offsetof(struct spec, n_groups), NULL,
	    "a number of groups, 1..1024" },
	{ "not_adaptive", FORM_LIST, offsetof(struct spec, not_adaptive), NULL, "a switch" },
	{ "clock", FORM_OWN, 0, set_clock, "virtual or wall" },
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Write a value of the form where the key says; false: it is none. */
static bool
set_value(struct spec *sp, const struct key *k, char *value)
{
	void *at = (char *)sp + k->at;
	uint64_t n = 0;

	switch (k->form) {
	case FORM_SHARE:
		return read_share(value, at);
	case FORM_NUMBER64:
		return read_number(value, UINT64_MAX, at);
	case FORM_NUMBER32:
		if (!read_number(value, 1000000, &n) || n == 0)
			return false;
		*(uint32_t *)at = (uint32_t)n;
		return true;
	case FORM_TIME:
		if (!read_number(value, 1000000000, &n))
			return false;
		*(int64_t *)at = (int64_t)n;
		return true;
	case FORM_TEXT:
		*(const char **)at = value;
		return value[0] != '\0';
	case FORM_LIST:
		return value[0] != '\0' && fm_vec_push((struct names *)at, value);
	case FORM_OWN:
		return k->set(sp, value);
	}
	return false;
}

static int
unknown_key(const char *name, struct fm_error *err)
{
	char known[320] = "";
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, " %s", keys[i].name);
	return fm_fail(err, FM_E_CONFIG, "sim: there is no key \"%s\"; there are%s", name, known);
}

static int
read_pair(struct spec *sp, char *pair, struct fm_error *err)
{
	char *equals = strchr(pair, '='),
	     *value = equals != NULL ? equals + 1 : pair + strlen(pair);

	if (equals != NULL)
		*equals = '\0';
	for (size_t i = 0; i < N_KEYS; i++)
		if (strcmp(keys[i].name, pair) == 0)
			return set_value(sp, &keys[i], value)
			    ? 0
			    : fm_fail(err, FM_E_CONFIG, "sim: %s=%s: right would be %s", pair,
				  value, keys[i].right);
	return unknown_key(pair, err);
}

static int
read_spec(struct spec *sp, const char *text, struct fm_error *err)
{
	char *rest, *pair;
	int rc = 0;

	if (strncmp(text, "sim:", 4) == 0)
		text += 4;
	sp->text = strdup(text);
	if (sp->text == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a transport's name");
	rest = sp->text;
	sp->file = strsep(&rest, ",");
	if (sp->file[0] == '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "sim: the fabric is missing; right would be sim:FILE[,key=value...]");
	while (rc == 0 && (pair = strsep(&rest, ",")) != NULL)
		rc = read_pair(sp, pair, err);
	return rc;
}

/* ---- what needs the fabric */

static int
find_node(
    const struct sim *s, const char *key, const char *name, uint32_t *node, struct fm_error *err)
{
	*node = sim_find(s, name);
	return *node != SIM_NONE
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "sim: %s=%s: the fabric has no node of this name or GUID",
		  key, name);
}

/* Where we sit unless told: the first host with a cable, else the first switch. */
static struct sim_place
default_place(const struct sim_fabric *f)
{
	for (uint32_t p = 0; p < f->n_ports; p++) {
		const struct sim_node *n = &f->nodes[f->port_node[p]];

		if (f->live[p] != SIM_NONE && n->type == WIRE_NODE_CA && !n->aggregation)
			return (struct sim_place){ f->port_node[p], port_number(f, p) };
	}
	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (f->nodes[n].type == WIRE_NODE_SWITCH)
			return (struct sim_place){ n, 0 };
	return (struct sim_place){ 0, 1 };
}

/* The port with this GUID; 0: the text is another name. */
static uint64_t
port_of_guid(const struct sim_fabric *f, uint32_t node, const char *text)
{
	uint64_t guid = strtoull(text, NULL, 0);

	for (unsigned p = 1; p <= f->nodes[node].n_ports; p++)
		if (guid != f->nodes[node].guid &&
		    f->ports[f->nodes[node].first_port + p].guid == guid)
			return p;
	return 0;
}

static int
read_place(struct sim *s, char *text, struct sim_place *at, struct fm_error *err)
{
	const struct sim_fabric *f = sim_fabric(s);
	char *colon = strrchr(text, ':');
	uint64_t port = 0;
	bool has_port = colon != NULL && read_number(colon + 1, 254, &port);
	int rc;

	if (has_port)
		*colon = '\0';
	rc = find_node(s, "local", text, &at->node, err);
	if (rc != 0)
		return rc;
	if (!has_port)
		port = port_of_guid(f, at->node, text);
	if (!has_port && port == 0 && f->nodes[at->node].type != WIRE_NODE_SWITCH)
		for (port = 1; port < f->nodes[at->node].n_ports &&
		     f->live[f->nodes[at->node].first_port + port] == SIM_NONE;)
			port++; /* the first with a link, or the last */
	at->port = (uint8_t)port;
	return 0;
}

static int
read_sm(struct sim *s, const char *given, struct fm_error *err)
{
	static const char *const states[] = { "notactive", "discovering", "standby", "master" };
	char text[128], *state, *priority;
	uint64_t value;
	uint32_t node;
	int rc;

	snprintf(text, sizeof(text), "%s", given);
	state = strrchr(text, ':');
	if (state == NULL)
		goto bad;
	*state++ = '\0';
	priority = strrchr(text, ':');
	if (priority == NULL)
		goto bad;
	*priority++ = '\0';
	rc = find_node(s, "sm", text, &node, err);
	if (rc != 0)
		return rc;
	for (int i = 0; read_number(priority, 15, &value) && i < 4; i++)
		if (strcmp(state, states[i]) == 0)
			return sim_set_sm(s, node, (uint8_t)value, (enum wire_sm_state)i, err);
bad:
	return fm_fail(err, FM_E_CONFIG,
	    "sim: sm=%s: right would be NODE:PRIORITY:STATE, priority 0..15, state notactive, "
	    "discovering, standby or master",
	    given);
}

static int
run_script(struct sim *s, const char *path, struct fm_error *err)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t n;
	int rc;

	if (in == NULL)
		return fm_fail(err, FM_E_CONFIG, "cannot open %s: %s", path, strerror(errno));
	errno = 0;
	n = getdelim(&text, &room, '\0', in);
	if (n < 0 && ferror(in))
		rc = fm_fail(err, FM_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	else
		rc = sim_script(s, path, n > 0 ? text : "", err);
	free(text);
	fclose(in);
	return rc;
}

static bool
is_in(const uint32_t *nodes, size_t n, uint32_t node)
{
	for (size_t i = 0; i < n; i++)
		if (nodes[i] == node)
			return true;
	return false;
}

static int
make_adaptive(struct sim *s, const struct spec *sp, struct fm_error *err)
{
	const struct sim_fabric *f = sim_fabric(s);
	FM_VEC(uint32_t) not = { 0 };
	uint32_t node;
	int rc = 0;

	if (sp->n_groups > ADAPTIVE_MOST_GROUPS)
		return fm_fail(err, FM_E_CONFIG,
		    "sim: adaptive=%u: right would be a number of groups, 1..%u", sp->n_groups,
		    ADAPTIVE_MOST_GROUPS);
	for (size_t i = 0; rc == 0 && i < sp->not_adaptive.n; i++) {
		rc = find_node(s, "not_adaptive", sp->not_adaptive.item[i], &node, err);
		if (rc == 0 && !fm_vec_push(&not, node))
			rc = fm_fail(err, FM_E_RESOURCE, "no memory for a transport's name");
	}
	for (node = 0; rc == 0 && sp->n_groups > 0 && node < f->n_nodes; node++)
		if (f->nodes[node].type == WIRE_NODE_SWITCH && !is_in(not .item, not .n, node))
			rc = sim_set_adaptive(s, node, (uint16_t)sp->n_groups, err);
	fm_vec_fini(&not );
	return rc;
}

static int
apply(struct sim *s, const struct spec *sp, struct sim_place *local, struct fm_error *err)
{
	uint32_t node;
	int rc = 0;

	*local = default_place(sim_fabric(s));
	if (sp->local != NULL)
		rc = read_place(s, (char *)sp->local, local, err);
	for (size_t i = 0; rc == 0 && i < sp->dead.n; i++) {
		rc = find_node(s, "dead", sp->dead.item[i], &node, err);
		if (rc == 0)
			sim_silence(s, node, true);
	}
	for (size_t i = 0; rc == 0 && i < sp->sms.n; i++)
		rc = read_sm(s, sp->sms.item[i], err);
	if (rc == 0)
		rc = make_adaptive(s, sp, err);
	if (rc == 0 && sp->script != NULL)
		rc = run_script(s, sp->script, err);
	return rc;
}

static int
make_sim(const struct spec *sp, struct sim **out, struct fm_error *err)
{
	struct netlist nl = { 0 };
	int rc = netlist_read(sp->file, &nl, err);

	if (rc != 0)
		return rc;
	rc = nl.n_nodes > 0 ? sim_new(&nl, &sp->options, out, err)
			    : fm_fail(err, FM_E_CONFIG, "%s: no nodes in this fabric", sp->file);
	netlist_fini(&nl);
	return rc;
}

int
spec_open(const char *text, struct sim **out, struct sim_place *local, struct fm_error *err)
{
	struct spec sp = { 0 };
	int rc;

	sim_options_default(&sp.options);
	rc = read_spec(&sp, text, err);
	if (rc == 0)
		rc = make_sim(&sp, out, err);
	if (rc == 0) {
		rc = apply(*out, &sp, local, err);
		if (rc != 0)
			sim_free(*out);
	}
	fm_vec_fini(&sp.dead);
	fm_vec_fini(&sp.sms);
	fm_vec_fini(&sp.not_adaptive);
	free(sp.text);
	return rc;
}
