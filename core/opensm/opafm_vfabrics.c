/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opa-fm's virtual fabrics, and the groups of QoS that they are in, as vfabrics of fmd.  Each
 * element of one becomes a key, or is told; nothing is passed over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/opensm/opafm_private.h"
#include "core/opensm/opensm_private.h"
#include "core/text/number.h"

#define MAX_INCLUDED 32 /* applications in one another; opa-fm's own bound, too */
#define N_SLS 16
#define PKEY_BASE 0x7fff

/* What is not written is at .def.  Told, where it is at something else: it has no counterpart, and
 * why. */
static const struct field {
	const char *name, *def, *why;
} told_fields[] = {
	{ "Standby", "0", NULL }, /* it is left out whole */
	{ "RespSL", "", "answers have the SL of what they answer" },
	{ "MulticastSL", "", "its groups have the SL of its paths" },
	{ "PktLifeTimeMult", "1", "path_life says the life of packets for all paths" },
	{ "PreemptRank", "0", "it is of Omni-Path, InfiniBand has no preemption" },
	{ "HoqLife", "", "head_of_queue_lifetime is that of all VLs of a port" },
	{ "FlowControlDisable", "0", "it is of Omni-Path, InfiniBand has credits always" },
};
#define N_TOLD (sizeof(told_fields) / sizeof(*told_fields))

/* Elements that have a rule of their own, below. */
static const char *const ruled_fields[] = { "Name", "Enable", "PKey", "Security", "QOS", "QOSGroup",
	"BaseSL", "Bandwidth", "HighPriority", "MaxMTU", "MaxRate", "Member", "LimitedMember",
	"Application" };
static const char *const qos_fields[] = { "BaseSL", "Bandwidth", "HighPriority" };

/* One while it is made. */
struct making {
	struct opafm *x;
	uint32_t at;  /* its element */
	uint32_t qos; /* the element that says its QoS: its own or its QOSGroup's; 0: none does */
	const char *said;
	struct opafm_vfabric *out;
};

/* -------------------------------------------------------------------- words */

/* A line for what is told of an element, "VirtualFabric Compute: Bandwidth". */
static const struct opensm_line *
line_of(struct making *m, uint32_t e, const char *note)
{
	const struct opafm_element *of = &m->x->elements.item[e];
	struct opensm_line *l = fm_arena_alloc(m->x->o.mem, sizeof(*l));
	struct opensm_key *key = fm_arena_alloc(m->x->o.mem, sizeof(*key));

	if (l == NULL || key == NULL) {
		m->x->o.out_of_memory = true;
		return NULL;
	}
	*key = (struct opensm_key){ .name = of->name, .note = note };
	*l = (struct opensm_line){ .key = key, .value = of->value, .line = of->line };
	return l;
}

static const char *
value(const struct making *m, uint32_t of, const char *name, const char *def)
{
	uint32_t e = of != 0 ? opafm_child(m->x, of, name, 0) : 0;

	return e != 0 && *m->x->elements.item[e].value != '\0' ? m->x->elements.item[e].value : def;
}

/* "1" or "0"; what is neither is told, and is 0. */
static bool
is_on(struct making *m, uint32_t of, const char *name, const char *def)
{
	const char *v = value(m, of, name, def);
	const struct opensm_line *l;

	if (strcmp(v, "0") == 0 || strcmp(v, "1") == 0)
		return *v == '1';
	l = line_of(m, opafm_child(m->x, of, name, 0), NULL);
	if (l != NULL)
		opensm_tell(&m->x->o, OPENSM_BAD, l,
		    "%s %.40s of the virtual fabric %.60s: write 1 or 0", name, v, m->said);
	return false;
}

static void
add_items(struct making *m, uint32_t from, const char *note, const char *to,
    const char *const *items, size_t n)
{
	const struct opensm_line *l = line_of(m, from, note);

	if (l == NULL)
		return;
	m->x->o.out_of_memory |= !fm_vec_push(&m->x->vfabric_settings,
	    ((struct opensm_setting){ .from = l, .to = to, .items = items, .n_items = n }));
	m->out->n_settings++;
}

static void
add(struct making *m, uint32_t from, const char *note, const char *to, const char *text)
{
	const char **item = fm_arena_array(m->x->o.mem, 1, const char *);

	if (item == NULL || text == NULL) {
		m->x->o.out_of_memory = true;
		return;
	}
	*item = text;
	add_items(m, from, note, to, item, 1);
}

/* A sentence on an element of this vfabric. */
static void
tell(struct making *m, enum opensm_told what, uint32_t e, const char *sentence)
{
	const struct opensm_line *l = line_of(m, e, NULL);

	if (l != NULL)
		opensm_tell(&m->x->o, what, l, "%.40s%s%.60s of the virtual fabric %.60s: %s",
		    l->key->name, *l->value != '\0' ? " " : "", l->value, m->said, sentence);
}

/* ------------------------------------------------------------------- members */

static void
add_members(struct making *m, const char *name, const char *to)
{
	const char **items = fm_arena_array(m->x->o.mem, m->x->elements.n, const char *);
	uint32_t first = 0;
	size_t n = 0;

	if (items == NULL) {
		m->x->o.out_of_memory = true;
		return;
	}
	for (uint32_t e = 0; (e = opafm_child(m->x, m->at, name, e)) != 0;) {
		const struct opensm_line *l = line_of(m, e, NULL);

		items[n] = l != NULL ? opafm_group_item(m->x, l, l->value) : NULL;
		if (items[n] == NULL)
			continue; /* it has been told */
		first = n == 0 ? e : first;
		n++;
	}
	if (n > 0)
		add_items(m, first, n > 1 ? "and those below it" : NULL, to, items, n);
}

/* -------------------------------------------------------------- applications */

/* The application of that name, of the subnet's own before that of <Common>; 0: none. */
static uint32_t
find_named(const struct opafm *x, const char *section, const char *element, const char *name)
{
	uint32_t parts[2] = { x->fm, 0 };

	for (uint32_t c = 0; (c = opafm_child(x, 0, "Common", c)) != 0;)
		parts[1] = c;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t s = 0;
		     parts[i] != 0 && (s = opafm_child(x, parts[i], section, s)) != 0;)
			for (uint32_t a = 0; (a = opafm_child(x, s, element, a)) != 0;) {
				uint32_t n = opafm_child(x, a, "Name", 0);

				if (n != 0 && strcmp(x->elements.item[n].value, name) == 0)
					return a;
			}
	return 0;
}

/* Has it the groups of IP?  Its MGIDs are single ones, ranges, or masked; those of IP have 401b or
 * 601b in their second word. */
static bool
has_ip(const struct opafm *x, uint32_t app, unsigned depth)
{
	for (uint32_t i = app + 1; app != 0 && i < x->elements.item[app].end;
	     i = x->elements.item[i].end) {
		const struct opafm_element *e = &x->elements.item[i];

		if (strncmp(e->name, "MGID", 4) == 0 &&
		    (strstr(e->value, "401b") != NULL || strncmp(e->value, "0:0-", 4) == 0))
			return true;
		if (strcmp(e->name, "Select") == 0 && strcasecmp(e->value, "UnmatchedMGID") == 0)
			return true;
		if (strcmp(e->name, "IncludeApplication") == 0 && depth < MAX_INCLUDED &&
		    has_ip(x, find_named(x, "Applications", "Application", e->value), depth + 1))
			return true;
	}
	return false;
}

static void
take_applications(struct making *m)
{
	static const char *const ipoib[] = { "ipoib" };
	uint32_t ip = 0;

	for (uint32_t e = 0; (e = opafm_child(m->x, m->at, "Application", e)) != 0;) {
		const char *name = m->x->elements.item[e].value;
		uint32_t app = find_named(m->x, "Applications", "Application", name);

		if (app == 0) {
			tell(m, OPENSM_BAD, e, "there is no such Application");
			continue;
		}
		ip = has_ip(m->x, app, 0) && ip == 0 ? e : ip;
		tell(m, OPENSM_STRAY, e,
		    "it chooses no vfabric here: a path is of the P_Key that a host asks for, else "
		    "of the lowest that both ends have; a rule of qos_policy_file goes by service "
		    "ID");
	}
	if (ip != 0)
		add_items(m, ip, "it has the groups of IP", "groups", ipoib, 1);
	else
		add_items(m, m->at, "no Application of it has groups of IP", "groups", ipoib, 0);
}

/* ----------------------------------------------------------------------- QoS */

static bool
is_number(const char *text, uint64_t max, uint64_t *n)
{
	return number_parse(text, n) && *n <= max;
}

/* "70%" */
static void
add_share(struct making *m, uint32_t e)
{
	const char *v = m->x->elements.item[e].value;
	char text[8];
	size_t n = strcspn(v, "%");
	uint64_t share;

	snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : 0), v);
	if (!is_number(text, 100, &share) || share == 0) {
		tell(m, OPENSM_BAD, e, "write 1% to 100%");
		return;
	}
	add(m, e, NULL, "share", fm_arena_strdup(m->x->o.mem, text));
}

/* The SLs that are written by vfabrics or groups, and 0, which is that of all others. */
static uint16_t
written_sls(const struct opafm *x)
{
	uint16_t sls = 1;
	uint64_t sl;

	for (size_t i = 0; i < x->elements.n; i++)
		if (strcmp(x->elements.item[i].name, "BaseSL") == 0 &&
		    is_number(x->elements.item[i].value, N_SLS - 1, &sl))
			sls |= (uint16_t)(1u << sl);
	return sls;
}

/* The SL that a vfabric of this QoS has where none is written: one of a group is that of all in
 * it. */
static void
add_free_sl(struct making *m)
{
	uint16_t sls = written_sls(m->x);
	char text[4];

	for (size_t i = 0; i < m->x->sls_given.n; i++) {
		const struct opafm_sl *given = &m->x->sls_given.item[i];

		if (given->qos == m->qos) {
			snprintf(text, sizeof(text), "%u", given->sl);
			add(m, m->qos, "BaseSL is not written", "sl",
			    fm_arena_strdup(m->x->o.mem, text));
			return;
		}
		sls |= (uint16_t)(1u << given->sl);
	}
	for (uint8_t sl = 0; sl < N_SLS; sl++) {
		if (sls & (1u << sl))
			continue;
		m->x->o.out_of_memory |=
		    !fm_vec_push(&m->x->sls_given, ((struct opafm_sl){ .qos = m->qos, .sl = sl }));
		snprintf(text, sizeof(text), "%u", sl);
		add(m, m->qos, "BaseSL is not written: the next that nobody has", "sl",
		    fm_arena_strdup(m->x->o.mem, text));
		return;
	}
	tell(m, OPENSM_BAD, m->at, "no SL is left for it: give it a BaseSL that others have, too");
}

static void
take_qos(struct making *m)
{
	uint32_t sl = opafm_child(m->x, m->qos, "BaseSL", 0);
	uint32_t share = opafm_child(m->x, m->qos, "Bandwidth", 0);

	m->out->has_qos = true;
	if (sl != 0)
		add(m, sl, NULL, "sl", m->x->elements.item[sl].value);
	else
		add_free_sl(m);
	if (is_on(m, m->qos, "HighPriority", "0")) {
		add(m, opafm_child(m->x, m->qos, "HighPriority", 0), NULL, "high_priority", "yes");
		if (share != 0)
			tell(m, OPENSM_STRAY, share, "it is not used: HighPriority is 1");
	} else if (share != 0) {
		add_share(m, share);
	}
}

/* Where its QoS stands, or 0. */
static void
choose_qos(struct making *m)
{
	uint32_t e = opafm_child(m->x, m->at, "QOSGroup", 0);

	m->qos = is_on(m, m->at, "QOS", "0") ? m->at : 0;
	for (size_t i = 0; m->qos == 0 && i < sizeof(qos_fields) / sizeof(*qos_fields); i++) {
		uint32_t f = opafm_child(m->x, m->at, qos_fields[i], 0);

		if (f != 0)
			tell(m, OPENSM_STRAY, f,
			    e != 0 ? "it is not used: the QOSGroup says it"
				   : "it is not used: QOS is 0");
	}
	if (e == 0)
		return;
	m->qos = find_named(m->x, "QOSGroups", "QOSGroup", m->x->elements.item[e].value);
	if (m->qos == 0)
		tell(m, OPENSM_BAD, e, "there is no such QOSGroup");
	else if (!is_on(m, m->qos, "Enable", "1")) {
		tell(m, OPENSM_STRAY, e, "it is not used: its Enable is 0");
		m->qos = 0;
	} else {
		m->out->qos_group = m->x->elements.item[e].value;
	}
}

/* -------------------------------------------------------------------- limits */

static void
take_mtu(struct making *m, uint32_t e)
{
	const char *v = m->x->elements.item[e].value;

	if (strcasecmp(v, "Unlimited") == 0 || *v == '\0')
		return;
	if (strcmp(v, "8192") == 0 || strcmp(v, "10240") == 0)
		tell(m, OPENSM_STRAY, e, "it limits nothing: 4096 is the most of InfiniBand");
	else
		add(m, e, NULL, "mtu", v);
}

/* Rates of Omni-Path that InfiniBand has not are the next below them. */
static void
take_rate(struct making *m, uint32_t e)
{
	static const char *const near[][2] = { { "12.5g", "10" }, { "37.5g", "30" },
		{ "75g", "60" } };
	const char *v = m->x->elements.item[e].value;
	char *text = fm_arena_strdup(m->x->o.mem, v);

	m->x->o.out_of_memory |= text == NULL;
	if (text == NULL || strcasecmp(v, "Unlimited") == 0 || *v == '\0')
		return;
	for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
		if (strcasecmp(v, near[i][0]) == 0) {
			add(m, e, "InfiniBand has no such rate: the next below", "rate",
			    near[i][1]);
			return;
		}
	if (strlen(text) > 0 && strchr("gG", text[strlen(text) - 1]) != NULL)
		text[strlen(text) - 1] = '\0';
	add(m, e, NULL, "rate", text);
}

static void
take_pkey(struct making *m, uint32_t e)
{
	char text[8];
	uint64_t pkey;

	if (e == 0)
		return;
	if (!is_number(m->x->elements.item[e].value, 0xffff, &pkey) || (pkey & PKEY_BASE) == 0) {
		tell(m, OPENSM_BAD, e, "write 0x1 to 0x7fff");
		return;
	}
	pkey &= PKEY_BASE;
	snprintf(text, sizeof(text), "0x%04x", (unsigned)pkey);
	add(m, e, NULL, "pkey", fm_arena_strdup(m->x->o.mem, text));
}

/* --------------------------------------------------------------- one, and all */

static bool
is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Elements of it, or of its QOSGroup, that become nothing. */
static void
tell_others(struct making *m, uint32_t of)
{
	const struct opafm *x = m->x;

	for (uint32_t i = of + 1; i < x->elements.item[of].end; i = x->elements.item[i].end) {
		const struct opafm_element *e = &x->elements.item[i];
		size_t k = 0;

		if (is_one_of(e->name, ruled_fields, sizeof(ruled_fields) / sizeof(*ruled_fields)))
			continue;
		while (k < N_TOLD && strcmp(e->name, told_fields[k].name) != 0)
			k++;
		if (k == N_TOLD)
			tell(m, OPENSM_STRAY, i, "it has no counterpart: fmd does not know it");
		else if (told_fields[k].why != NULL && strcmp(e->value, told_fields[k].def) != 0)
			tell(m, OPENSM_STRAY, i, told_fields[k].why);
	}
}

/* A name that another has here, though not there. */
static void
take_name(struct making *m)
{
	m->out->name = opafm_clean_name(m->x, m->said);
	for (size_t i = 0; m->out->name != NULL && i < m->x->vfabrics.n; i++)
		if (strcmp(m->x->vfabrics.item[i].name, m->out->name) == 0)
			tell(m, OPENSM_BAD, m->at,
			    strcmp(m->x->vfabrics.item[i].said, m->said) == 0
				? "there is another of that name"
				: "another one has this name, too, by the letters that names have "
				  "here");
}

static void
make_vfabric(struct making *m)
{
	struct opafm_vfabric v = { .said = m->said,
		.line = m->x->elements.item[m->at].line,
		.first_setting = m->x->vfabric_settings.n };
	uint32_t e;

	m->out = &v;
	take_name(m);
	add_members(m, "Member", "members");
	add_members(m, "LimitedMember", "limited");
	if (v.n_settings == 0) {
		m->x->vfabric_settings.n = v.first_setting;
		tell(m, OPENSM_STRAY, m->at,
		    "it is left out, as none of its members can be named here");
		return;
	}
	take_pkey(m, opafm_child(m->x, m->at, "PKey", 0));
	e = opafm_child(m->x, m->at, "Security", 0);
	if (!is_on(m, m->at, "Security", "0"))
		add(m, e != 0 ? e : m->at, e != 0 ? NULL : "Security is not written", "security",
		    "no");
	choose_qos(m);
	if (m->qos != 0)
		take_qos(m);
	if ((e = opafm_child(m->x, m->at, "MaxMTU", 0)) != 0)
		take_mtu(m, e);
	if ((e = opafm_child(m->x, m->at, "MaxRate", 0)) != 0)
		take_rate(m, e);
	take_applications(m);
	tell_others(m, m->at);
	if (m->qos != 0 && m->qos != m->at)
		tell_others(m, m->qos);
	m->x->o.out_of_memory |= v.name == NULL || !fm_vec_push(&m->x->vfabrics, v);
}

static void
take_vfabric(struct opafm *x, uint32_t at)
{
	struct making m = { .x = x, .at = at };
	uint32_t name = opafm_child(x, at, "Name", 0);

	m.said = name != 0 ? x->elements.item[name].value : "";
	if (*m.said == '\0')
		tell(&m, OPENSM_BAD, at, "it has no Name");
	else if (!is_on(&m, at, "Enable", "1"))
		tell(&m, OPENSM_STRAY, opafm_child(x, at, "Enable", 0), "it is left out");
	else if (is_on(&m, at, "Standby", "0"))
		tell(&m, OPENSM_STRAY, opafm_child(x, at, "Standby", 0),
		    "it is left out, as nothing may pass in it: take it in when it may");
	else
		make_vfabric(&m);
}

static void
take_vfabrics_of(struct opafm *x, uint32_t part)
{
	for (uint32_t s = 0; (s = opafm_child(x, part, "VirtualFabrics", s)) != 0;)
		for (uint32_t v = 0; (v = opafm_child(x, s, "VirtualFabric", v)) != 0;)
			take_vfabric(x, v);
}

/* ib0 of a host is of the P_Key at index 0, which opa-fm has as the first vfabric's. */
static void
tell_of_ib0(struct opafm *x)
{
	const struct opensm_key key = { .name = "VirtualFabrics" };
	const struct opensm_line l = { .key = &key, .line = x->vfabrics.item[0].line };

	opensm_tell(&x->o, OPENSM_HINT, &l,
	    "the P_Key at index 0 of ports, which ib0 of a host has, is that of the default "
	    "partition, 0x7fff; interfaces of other vfabrics are made by their P_Keys (ip link add "
	    "link ib0 name ib0.8001 type ipoib pkey 0x8001)");
}

void
opafm_take_vfabrics(struct opafm *x)
{
	bool needs_qos = false;

	for (uint32_t i = 0; (i = opafm_child(x, 0, "Common", i)) != 0;)
		take_vfabrics_of(x, i);
	if (x->fm != 0)
		take_vfabrics_of(x, x->fm);
	for (size_t i = 0; i < x->vfabrics.n; i++)
		needs_qos |= x->vfabrics.item[i].has_qos;
	if (x->vfabrics.n == 0)
		return;
	if (needs_qos) {
		static const struct opensm_key key = { .name = "VirtualFabrics",
			.note = "some have QoS" };
		struct opensm_line *l = fm_arena_alloc(x->o.mem, sizeof(*l));

		x->o.out_of_memory |= l == NULL;
		if (l != NULL) {
			*l = (struct opensm_line){
				.key = &key, .value = "", .line = x->vfabrics.item[0].line
			};
			opensm_set(&x->o, l, NULL, "qos", "yes");
		}
	}
	tell_of_ib0(x);
}
