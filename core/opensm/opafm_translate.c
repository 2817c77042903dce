/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From opa-fm's elements to options of fmd.  What is at opa-fm's default says nothing; an
 * element that no row knows is told, not refused: later versions have more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/opensm/opafm_private.h"
#include "core/opensm/opensm_private.h"
#include "core/text/number.h"
#include "core/text/suggest.h"

#define PATH_ROOM 1100	 /* opafm_xml.c bounds depth and names */
#define MAX_NEAR 100	 /* unknown elements for which a known one is looked for */
#define MAX_PATH_LIFE 63 /* PathRecord's PacketLifeTime has six bits */
#define MAX_ORDER 64	 /* groups in RoutingOrder; opa-fm takes 8 */
#define N_SLS 16
#define ALL_PORTS "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff" /* 0..254 */
#define ORDER_SECTION "DGShortestPathTopology.RoutingOrder"
#define ORDER ORDER_SECTION ".DeviceGroup"

/* ------------------------------------------------------------------- lines */

static bool
is_good(struct opafm *x, const struct opensm_line *l)
{
	const char *v = l->value;
	uint64_t n;

	switch (l->key->form) {
	case OPENSM_BOOL:
		if (strcmp(v, "0") == 0 || strcmp(v, "1") == 0)
			return true;
		opensm_tell(&x->o, OPENSM_BAD, l, "%s %.60s: write 1 or 0", l->key->name, v);
		return false;
	case OPENSM_NUMBER:
		if (number_parse(v + (*v == '-' && l->key->fate != OPENSM_SPECIAL), &n))
			return true;
		opensm_tell(&x->o, OPENSM_BAD, l, "%s %.60s is no number: write it as in %s",
		    l->key->name, v, l->key->def);
		return false;
	case OPENSM_TEXT:
	case OPENSM_PATH:
	case OPENSM_SECTION:
		return true;
	}
	return false;
}

/* The later one counts; of lists every one. */
static void
keep(struct opafm *x, struct opensm_line l)
{
	bool is_list = strcmp(l.key->name, ORDER) == 0;
	size_t n = 0;

	for (size_t i = 0; i < x->o.lines.n; i++)
		if (x->o.lines.item[i].key == l.key && (!is_list || ++n > MAX_ORDER)) {
			x->o.lines.item[i] = l;
			return;
		}
	if (is_list && n == MAX_ORDER)
		opensm_tell(
		    &x->o, OPENSM_BAD, &l, "RoutingOrder has more than %d groups", MAX_ORDER);
	x->o.out_of_memory |= !fm_vec_push(&x->o.lines, l);
}

/* A list in an Fm takes the place of that in Common. */
static void
forget_order(struct opafm *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->o.lines.n; i++)
		if (strcmp(x->o.lines.item[i].key->name, ORDER) != 0)
			x->o.lines.item[n++] = x->o.lines.item[i];
	x->o.lines.n = n;
}

static void
tell_unknown(struct opafm *x, const struct opafm_element *e, const char *path)
{
	const struct opensm_key key = { .name = "" };
	const struct opensm_line l = { .key = &key, .line = e->line };
	const char *near;
	struct suggestion s;

	suggest_init(&s, path);
	for (size_t i = 0; x->o.told[OPENSM_STRAY].n < MAX_NEAR && opafm_key(i) != NULL; i++)
		suggest_offer(&s, opafm_key(i)->name);
	near = suggest_best(&s);
	opensm_tell(&x->o, OPENSM_STRAY, &l,
	    "%.120s has no counterpart: fmd does not know it%s%s%s", path,
	    near != NULL ? "; did you mean " : "", near != NULL ? near : "",
	    near != NULL ? "?" : "");
}

static void
take_element(struct opafm *x, const struct opafm_element *e, const char *path)
{
	struct opensm_line l = { .key = opafm_key_find(path), .value = e->value, .line = e->line };

	if (l.key == NULL && strstr(path, "_LogMask") != NULL)
		l.key = opafm_key_find("LogMask");
	if (l.key == NULL)
		tell_unknown(x, e, path);
	else if ((e->is_section || *e->value != '\0') && is_good(x, &l))
		keep(x, l);
}

/* The elements below `of`, by their paths; covered: a row of a section stands for them. */
static void
take_below(struct opafm *x, uint32_t of, const char *lead, bool covered)
{
	char path[PATH_ROOM];

	for (uint32_t i = of + 1; i < x->elements.item[of].end; i = x->elements.item[i].end) {
		const struct opafm_element *e = &x->elements.item[i];
		const struct opensm_key *row;
		bool is_row;

		snprintf(path, sizeof(path), "%s%s%s", lead, *lead != '\0' ? "." : "", e->name);
		row = opafm_key_find(path);
		is_row = row != NULL && row->form == OPENSM_SECTION;
		if (strcmp(path, ORDER_SECTION) == 0)
			forget_order(x);
		if (e->is_section)
			take_below(x, i, path, covered || is_row);
		if (e->is_section ? is_row : row != NULL || !covered)
			take_element(x, e, path);
	}
}

/* Common or an Fm: Sm goes before Shared, the others have names of their own. */
static void
take_part(struct opafm *x, uint32_t part)
{
	static const char *const both[] = { "Shared", "Sm" };

	for (size_t k = 0; k < 2; k++)
		for (uint32_t s = 0; (s = opafm_child(x, part, both[k], s)) != 0;)
			take_below(x, s, "", false);
	for (uint32_t i = part + 1; i < x->elements.item[part].end; i = x->elements.item[i].end) {
		const struct opafm_element *e = &x->elements.item[i];
		const struct opensm_key *row = opafm_key_find(e->name);

		if (strcmp(e->name, "Shared") == 0 || strcmp(e->name, "Sm") == 0)
			continue;
		if (row != NULL && row->form == OPENSM_SECTION && e->is_section)
			take_element(x, e, e->name);
		else if (row == NULL || row->form != OPENSM_SECTION)
			tell_unknown(x, e, e->name);
	}
}

/* ----------------------------------------------------------------- subnets */

static bool
is_started(const struct opafm *x, uint32_t fm)
{
	uint32_t shared = opafm_child(x, fm, "Shared", 0);
	uint32_t start = shared != 0 ? opafm_child(x, shared, "Start", 0) : 0;

	return start == 0 || strcmp(x->elements.item[start].value, "0") != 0;
}

/* The first that starts, else the first. */
static void
choose_fm(struct opafm *x)
{
	const struct opensm_key key = { .name = "Fm" };

	for (uint32_t i = 0; (i = opafm_child(x, 0, "Fm", i)) != 0;)
		if (x->fm == 0 || (is_started(x, i) && !is_started(x, x->fm)))
			x->fm = i;
	for (uint32_t i = 0; (i = opafm_child(x, 0, "Fm", i)) != 0;) {
		const struct opensm_line l = { .key = &key, .line = x->elements.item[i].line };

		if (i != x->fm && is_started(x, i))
			opensm_tell(&x->o, OPENSM_STRAY, &l,
			    "this Fm is another subnet, which wants a fmd of its own: import it "
			    "with Start 0 in the Fm of line %u",
			    x->elements.item[x->fm].line);
	}
}

static void
take_all(struct opafm *x)
{
	for (uint32_t i = 0; (i = opafm_child(x, 0, "Common", i)) != 0;)
		take_part(x, i);
	if (x->fm != 0)
		take_part(x, x->fm);
	for (uint32_t i = 1; i < x->elements.n; i = x->elements.item[i].end)
		if (strcmp(x->elements.item[i].name, "Common") != 0 &&
		    strcmp(x->elements.item[i].name, "Fm") != 0)
			tell_unknown(x, &x->elements.item[i], x->elements.item[i].name);
}

/* ------------------------------------------------------------ rules of their own */

static const struct opensm_line *
find_line(const struct opafm *x, const char *key)
{
	for (size_t i = 0; i < x->o.lines.n; i++)
		if (strcmp(x->o.lines.item[i].key->name, key) == 0)
			return &x->o.lines.item[i];
	return NULL;
}

static uint64_t
number_of(const struct opensm_line *l)
{
	uint64_t n = 0;

	return number_parse(l->value, &n) ? n : 0;
}

/* The engine that the file asks for, or NULL. */
static const char *
engine_of(const struct opafm *x)
{
	const struct opensm_line *l = find_line(x, "RoutingAlgorithm");
	const struct opensm_line *cube = find_line(x, "Hypercube");

	if (cube != NULL && strcmp(cube->value, "1") == 0)
		return "dor";
	if (l == NULL || opensm_says_nothing(&x->o, l))
		return NULL;
	return strcmp(l->value, "hypercube") == 0 ? "dor" : l->value;
}

static void
set_engine(struct opafm *x, const struct opensm_line *l)
{
	static const char *const known[] = { "fattree", "dgshortestpath", "hypercube", "dor" };
	const char *engine = engine_of(x);
	bool is_known = strcmp(l->key->name, "Hypercube") == 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		is_known |= strcmp(l->value, known[i]) == 0;
	if (!is_known)
		opensm_tell(&x->o, OPENSM_BAD, l,
		    "RoutingAlgorithm %.40s is none of shortestpath, dgshortestpath, fattree, "
		    "hypercube and dor",
		    l->value);
	else if (strcmp(l->key->name, "Hypercube") == 0 || strcmp(engine, "dor") != 0 ||
	    strcmp(l->value, "dor") == 0 || strcmp(l->value, "hypercube") == 0)
		opensm_set(&x->o, l, NULL, l->key->to, engine);
	else
		opensm_tell(&x->o, OPENSM_STRAY, l, "RoutingAlgorithm %s is not used: Hypercube is",
		    l->value);
}

/* A device group, or several, as an option of that engine. */
static void
set_groups(struct opafm *x, const struct opensm_line *l, const char *engine)
{
	const struct fm_engine *e = engine_find(x->o.engines, engine);
	const char *takes = engine_of(x);
	const char **items = fm_arena_array(x->o.mem, x->o.lines.n, const char *);
	size_t n = 0;

	if (e == NULL || takes == NULL || strcmp(takes, engine) != 0) {
		opensm_tell(&x->o, OPENSM_STRAY, l, "%s is not used: RoutingAlgorithm is not %s",
		    l->key->name, engine);
		return;
	}
	if (items == NULL) {
		x->o.out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < x->o.lines.n; i++)
		if (x->o.lines.item[i].key == l->key) {
			items[n] = opafm_group_item(x, l, x->o.lines.item[i].value);
			n += items[n] != NULL;
		}
	if (n > 0)
		opensm_set_items(&x->o, l, e, l->key->to, items, n);
}

static void
set_order(struct opafm *x, const struct opensm_line *l)
{
	if (l == find_line(x, ORDER)) /* the first has them all */
		set_groups(x, l, "dgshortestpath");
}

static void
set_log_level(struct opafm *x, const struct opensm_line *l)
{
	static const char *const levels[] = { "err", "warn", "notice", "info", "info", "debug" };
	uint64_t level = number_of(l);

	opensm_set(&x->o, l, NULL, l->key->to, levels[level < 5 ? level : 5]);
	if (level >= 5)
		opensm_set(&x->o, l, NULL, "debug", "all");
}

static void
set_selection(struct opafm *x, const struct opensm_line *l)
{
	static const char *const names[][2] = { { "Minimal", "minimal" },
		{ "Pairwise", "pairwise" }, { "OrderAll", "order_all" },
		{ "SrcDstAll", "src_dst_all" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(l->value, names[i][0]) == 0) {
			opensm_set(&x->o, l, NULL, l->key->to, names[i][1]);
			return;
		}
	opensm_tell(&x->o, OPENSM_BAD, l,
	    "PathSelection %.40s is none of Minimal, Pairwise, OrderAll, SrcDstAll", l->value);
}

static void
set_retries(struct opafm *x, const struct opensm_line *l)
{
	char text[24];

	if (number_of(l) == 0)
		opensm_tell(&x->o, OPENSM_BAD, l, "MaxAttempts %.20s: one is the least", l->value);
	snprintf(text, sizeof(text), "%" PRIu64, number_of(l) - 1);
	opensm_set(&x->o, l, NULL, l->key->to, fm_arena_strdup(x->o.mem, text));
}

/* Of ports between switches and of those before hosts. */
static void
set_both(struct opafm *x, const struct opensm_line *l)
{
	opensm_set(&x->o, l, NULL, l->key->to, l->value);
	opensm_set(&x->o, l, NULL, l->key->or_to, l->value);
}

static void
set_path_life(struct opafm *x, const struct opensm_line *l)
{
	const struct opensm_line *by_hops = find_line(x, "DynamicPacketLifetime.Enable");

	if (by_hops != NULL && strcmp(by_hops->value, "0") == 0)
		opensm_set_life(&x->o, l, MAX_PATH_LIFE, false);
	else
		opensm_tell(&x->o, OPENSM_STRAY, l,
		    "PacketLifetime %s is not used: DynamicPacketLifetime.Enable is 1", l->value);
}

/* A number of all SLs: "0 10, 1 10, ...". */
static const char *
all_sls(struct opafm *x, const char *value)
{
	char text[N_SLS * 20] = "";
	size_t n = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		n += (size_t)snprintf(text + n, n < sizeof(text) ? sizeof(text) - n : 0,
		    "%s%u %.12s", sl > 0 ? ", " : "", sl, value);
	return fm_arena_strdup(x->o.mem, text);
}

/* What opa-fm sends to all switches and hosts is one value of each, whether it is written or not,
 * and all of it counts. */
static void
set_congestion(struct opafm *x, const struct opensm_line *l)
{
	static const char section[] = "CongestionControl.";

	opensm_set(&x->o, l, NULL, l->key->to, "yes");
	opensm_set(&x->o, l, NULL, "cc_sw_cong_setting_control_map", "0x15");
	opensm_set(&x->o, l, NULL, "cc_ca_cong_setting_control_map", "0xffff");
	for (size_t i = 0; opafm_key(i) != NULL; i++) {
		const struct opensm_key *key = opafm_key(i);
		const struct opensm_line *own = find_line(x, key->name);
		const char *value = own != NULL ? own->value : key->def;

		if (strncmp(key->name, section, sizeof(section) - 1) != 0 ||
		    key->fate != OPENSM_SPECIAL || key == l->key)
			continue;
		if (key->form == OPENSM_BOOL)
			value = strcmp(value, "0") == 0 ? "0" : ALL_PORTS;
		else if (strncmp(key->to, "cc_ca_", 6) == 0)
			value = all_sls(x, value);
		opensm_set(&x->o, own != NULL ? own : l, NULL, key->to, value);
	}
	opensm_tell(&x->o, OPENSM_HINT, l,
	    "CongestionControl.Enable: hosts do not slow down before the table of delays is "
	    "written as cc_cct, which opa-fm makes of Fi.Limit and Fi.DesiredMaxDelay");
}

static void
set_special(struct opafm *x, const struct opensm_line *l)
{
	const char *name = l->key->name;

	if (strcmp(name, "RoutingAlgorithm") == 0 || strcmp(name, "Hypercube") == 0)
		set_engine(x, l);
	else if (strcmp(name, "FatTreeTopology.CoreSwitches") == 0 ||
	    strcmp(name, "FatTreeTopology.RouteLast") == 0)
		set_groups(x, l, "fattree");
	else if (strcmp(name, ORDER) == 0)
		set_order(x, l);
	else if (strcmp(name, "LogLevel") == 0)
		set_log_level(x, l);
	else if (strcmp(name, "ForceRebalance") == 0)
		opensm_set(&x->o, l, NULL, l->key->to, "always");
	else if (strcmp(name, "PathSelection") == 0)
		set_selection(x, l);
	else if (strcmp(name, "MaxAttempts") == 0)
		set_retries(x, l);
	else if (strcmp(name, "VLStallCount") == 0)
		set_both(x, l);
	else if (strcmp(name, "PacketLifetime") == 0)
		set_path_life(x, l);
	else if (strcmp(name, "CongestionControl.Enable") == 0)
		set_congestion(x, l);
	else if (strcmp(name, "TrapThreshold") == 0)
		opensm_set(&x->o, l, NULL, l->key->to, "yes");
}

void
opafm_translate(struct opafm *x, const char *chain_by_default)
{
	const struct opensm_key root = { .name = "Config" };
	const struct opensm_line l = { .key = &root, .line = x->elements.item[0].line };
	const char *chain;

	if (strcmp(x->elements.item[0].name, root.name) != 0) {
		opensm_tell(&x->o, OPENSM_BAD, &l,
		    "<%.40s> is not of opa-fm's form: its file is a <Config>",
		    x->elements.item[0].name);
		return;
	}
	choose_fm(x);
	opafm_name_groups(x);
	take_all(x);
	opafm_take_vfabrics(x);
	chain = engine_of(x) != NULL ? engine_of(x) : chain_by_default;
	for (size_t i = 0; i < x->o.lines.n; i++) {
		const struct opensm_line *line = &x->o.lines.item[i];

		if (line->key->form == OPENSM_SECTION) {
			if (line->key->fate == OPENSM_NONE)
				opensm_tell(&x->o, OPENSM_STRAY, line, "%s has no counterpart: %s",
				    line->key->name, line->key->note);
		} else if (line->key->fate != OPENSM_SPECIAL) {
			opensm_translate_line(&x->o, line, chain);
		} else if (!opensm_says_nothing(&x->o, line)) {
			set_special(x, line);
		}
	}
}
