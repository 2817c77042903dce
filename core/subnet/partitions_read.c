/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions_read.c - OpenSM's partitions.conf, and partitions of no file.
 *
 *	# up to the end of the line: a comment
 *	NAME=0x8, ipoib, rate=3, defmember=full :	the head, in one line
 *		0x2c903000001, ALL_CAS=limited,		ports, in as many as one likes
 *		mgid=ff12:401b::0707, sl=1		a group has a line of its own
 *		SELF=full ;				the end
 *
 * Words may be cut short ("f", "limi", "def"), as OpenSM has it.  A head without
 * P_Key gets the next free one from 0x0001 up, or joins the partition of its
 * name; definitions of one P_Key add up.
 *
 * Where OpenSM ignores what it does not understand, takes another value, or opens
 * the fabric to all, this is an error: file, line, what is wrong, what would be right.
 */
#include <arpa/inet.h>
#include <strings.h>

#include "core/subnet/partitions_internal.h"
#include "core/text/number.h"
#include "core/text/readfile.h"
#include "lib/hash.h"
#include "lib/log.h"

#define NAME_MAX_CHARS 32
#define RATE_10_GBPS 3
#define MTU_2048 4
#define QKEY_IPOIB 0x0b1b /* of OpenSM's broadcast groups */

struct part_group_flags {
	uint8_t mtu, rate, sl, tclass;
	uint16_t scopes; /* bitset */
	uint32_t qkey, flow_label;
	bool has_sl;
};

struct part_reader {
	struct conf_place at;
	const struct part_options *options;
	struct partitions *p;
	uint32_t seq;			       /* of the last rule */
	uint16_t def_of_key[PKEY_DEFAULT + 1]; /* number of a definition + 1; 0: none */
	uint16_t free_key;		       /* all below are given */
	struct fm_hash names, groups;	       /* of definitions and groups, the first of each */
	/* the definition that is open */
	bool open;
	bool skips; /* its head was wrong: up to its end */
	unsigned open_line;
	uint32_t def;
	struct part_group_flags flags;
	bool ipoib, index0;
	uint8_t member; /* of ports without a word of their own */
};

/* ----------------------------------------------------------------- words */

/* "name = value" cut in place: value NULL when there is none. */
static char *
split_value(char *word, char **value)
{
	char *equals = strchr(word, '=');

	*value = NULL;
	if (equals == NULL)
		return word;
	*equals = '\0';
	*value = conf_trim(equals + 1);
	return conf_trim(word);
}

/* Is it the word, or the beginning of it? */
static bool
is_short_for(const char *text, const char *word)
{
	return *text != '\0' && strncasecmp(text, word, strlen(text)) == 0;
}

/* IBA's codes, of which few are known by heart. */
static const char *
what_code(const char *key)
{
	if (strcmp(key, "mtu") == 0)
		return ", for 256, 512, 1024, 2048 and 4096 bytes";
	if (strcmp(key, "rate") == 0)
		return ", a code: 3 is 10, 7 is 40, 12 is 56, 16 is 100, 17 is 200, 21 is 400 Gb/s";
	return "";
}

static int
read_number(struct part_reader *r, const char *key, const char *value, uint64_t min, uint64_t max,
    uint64_t *out)
{
	if (value == NULL || !number_parse(value, out) || *out < min || *out > max)
		return conf_bad(&r->at, "%s=%.40s: must be %llu..%llu (0x%llx)%s%s", key,
		    value != NULL ? value : "", (unsigned long long)min, (unsigned long long)max,
		    (unsigned long long)max, what_code(key),
		    value != NULL && strchr(value, ' ') != NULL ? ", with a comma behind it" : "");
	return 0;
}

static int
read_member(struct part_reader *r, const char *text, uint8_t *out)
{
	if (is_short_for(text, "full"))
		*out = PART_FULL;
	else if (is_short_for(text, "limited"))
		*out = PART_LIMITED;
	else if (is_short_for(text, "both"))
		*out = r->options->both_keys ? PART_BOTH : PART_FULL;
	else
		return conf_bad(&r->at, "\"%.40s\" is no membership: full, limited or both", text);
	return 0;
}

/* ------------------------------------------------------ multicast groups */

/* IPv4 broadcast of IPoIB, RFC 4391 section 4; the P_Key is filled in. */
static const uint8_t broadcast_mgid[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
	0xff, 0xff, 0xff, 0xff };

enum flag_id { FLAG_MTU, FLAG_RATE, FLAG_SCOPE, FLAG_QKEY, FLAG_TCLASS, FLAG_SL, FLAG_FLOW };

/* In the order in which OpenSM tries them: a short word means the first. */
static const struct flag_row {
	const char *name;
	uint64_t min, max;
} flag_rows[] = {
	[FLAG_MTU] = { "mtu", 1, 5 },
	[FLAG_RATE] = { "rate", 2, 63 },
	[FLAG_SCOPE] = { "scope", 1, 15 },
	[FLAG_QKEY] = { "Q_Key", 0, UINT32_MAX },
	[FLAG_TCLASS] = { "TClass", 0, 255 },
	[FLAG_SL] = { "sl", 0, 15 },
	[FLAG_FLOW] = { "FlowLabel", 0, 0xfffff },
};
#define N_FLAGS (sizeof(flag_rows) / sizeof(flag_rows[0]))

static void
put_flag(struct part_group_flags *f, enum flag_id id, uint64_t v)
{
	switch (id) {
	case FLAG_MTU:
		f->mtu = (uint8_t)v;
		break;
	case FLAG_RATE:
		f->rate = (uint8_t)v;
		break;
	case FLAG_SCOPE:
		f->scopes |= (uint16_t)(1u << v);
		break;
	case FLAG_QKEY:
		f->qkey = (uint32_t)v;
		break;
	case FLAG_TCLASS:
		f->tclass = (uint8_t)v;
		break;
	case FLAG_SL:
		f->sl = (uint8_t)v;
		f->has_sl = true;
		break;
	case FLAG_FLOW:
		f->flow_label = (uint32_t)v;
		break;
	}
}

/* 1: it was one of a group's flags; 0: it was not; else a kind. */
static int
read_group_flag(
    struct part_reader *r, struct part_group_flags *f, const char *name, const char *value)
{
	uint64_t v;

	for (unsigned i = 0; i < N_FLAGS; i++) {
		if (!is_short_for(name, flag_rows[i].name) &&
		    !(i == FLAG_QKEY && is_short_for(name, "qkey")))
			continue;
		if (read_number(
			r, flag_rows[i].name, value, flag_rows[i].min, flag_rows[i].max, &v) != 0)
			return FM_E_CONFIG;
		put_flag(f, (enum flag_id)i, v);
		return 1;
	}
	return 0;
}

static bool
same_group(const struct part_group *a, const struct part_group *b)
{
	return a->pkey == b->pkey && a->qkey == b->qkey && a->flow_label == b->flow_label &&
	    a->mtu == b->mtu && a->rate == b->rate && a->sl == b->sl && a->tclass == b->tclass;
}

/* The first of one MGID stays, as OpenSM has it. */
static int
add_group(struct part_reader *r, const struct part_group *g)
{
	uint64_t key = fm_hash_bytes(2, g->mgid, sizeof(g->mgid));
	uint32_t at;

	for (; (at = fm_hash_find(&r->groups, key)) != FM_HASH_NONE; key++) {
		const struct part_group *old = &r->p->groups.item[at];

		if (memcmp(old->mgid, g->mgid, sizeof(g->mgid)) != 0)
			continue;
		if (!same_group(old, g))
			log_warn("partitions",
			    "%s:%u: the multicast group is there already, from line %u, with "
			    "other attributes; the first one holds",
			    r->at.path, r->at.line, old->line);
		return 0;
	}
	if (!fm_hash_put(&r->groups, key, (uint32_t)r->p->groups.n) ||
	    !fm_vec_push(&r->p->groups, *g))
		return conf_no_memory(&r->at);
	return 0;
}

/* One group a scope; the scope is a nibble of the MGID too (IBA 4.1.1). */
static int
add_groups(
    struct part_reader *r, const uint8_t *mgid, const struct part_group_flags *f, bool broadcast)
{
	const struct partition *part = &r->p->defs.item[r->def].part;
	struct part_group g = { .pkey = part->pkey | PKEY_FULL,
		.qkey = f->qkey,
		.flow_label = f->flow_label,
		.mtu = f->mtu,
		.rate = f->rate,
		.sl = r->options->qos ? f->sl : 0,
		.tclass = f->tclass,
		.scope = mgid[1] & 0xf,
		.broadcast = broadcast,
		.partition = part->name,
		.line = r->at.line };
	int rc = 0;

	memcpy(g.mgid, mgid, sizeof(g.mgid));
	if (f->scopes == 0)
		return add_group(r, &g);
	for (uint8_t scope = 1; rc == 0 && scope < 16; scope++) {
		if ((f->scopes & (1u << scope)) == 0)
			continue;
		g.scope = scope;
		g.mgid[1] = (uint8_t)((g.mgid[1] & 0xf0) | scope);
		rc = add_group(r, &g);
	}
	return rc;
}

static void
put_pkey(uint8_t *mgid, uint16_t pkey)
{
	pkey |= PKEY_FULL;
	mgid[4] = (uint8_t)(pkey >> 8);
	mgid[5] = (uint8_t)pkey;
}

/* The broadcast group of the open definition. */
static int
add_broadcast(struct part_reader *r)
{
	struct part_group_flags f = r->flags;
	uint8_t mgid[16];

	memcpy(mgid, broadcast_mgid, sizeof(mgid));
	put_pkey(mgid, r->p->defs.item[r->def].part.pkey);
	if (f.qkey == 0)
		f.qkey = QKEY_IPOIB;
	return add_groups(r, mgid, &f, true);
}

/* Of IPv4 or IPv6 over InfiniBand, RFC 4391 section 4. */
static bool
is_of_ip(const uint8_t *mgid)
{
	return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b;
}

/* Groups of IP go with the broadcast group of their partition. */
static int
check_ip_group(struct part_reader *r, uint8_t *mgid, struct part_group_flags *f)
{
	uint16_t pkey = r->p->defs.item[r->def].part.pkey;
	uint16_t named = (uint16_t)(mgid[4] << 8 | mgid[5]);

	if (memcmp(mgid, broadcast_mgid, sizeof(broadcast_mgid)) != 0 && named != 0 &&
	    (named & PKEY_BASE) != pkey)
		return conf_bad(&r->at,
		    "mgid names P_Key 0x%04x, but the partition is 0x%04x: write it or 0000 there",
		    named, pkey);
	if (f->rate != r->flags.rate || f->mtu != r->flags.mtu)
		return conf_bad(&r->at,
		    "rate=%u, mtu=%u of this IP group differ from rate=%u, mtu=%u of the "
		    "partition's broadcast group: they must be equal",
		    f->rate, f->mtu, r->flags.rate, r->flags.mtu);
	put_pkey(mgid, pkey);
	if (f->qkey == 0)
		f->qkey = QKEY_IPOIB;
	return 0;
}

/* "mgid=GID,flag=value,...": the rest of the line is the group's. */
static int
read_group(struct part_reader *r, const char *gid, char *rest)
{
	struct part_group_flags f = r->flags;
	uint8_t mgid[16];
	char *word, *value;
	int rc;

	if (gid == NULL || inet_pton(AF_INET6, gid, mgid) != 1 || mgid[0] != 0xff)
		return conf_bad(&r->at, "mgid=%.50s: not a multicast GID, such as ff12:401b::1",
		    gid != NULL ? gid : "");
	while ((word = conf_next_item(&rest)) != NULL) {
		word = split_value(word, &value);
		if (*word == '\0')
			continue;
		rc = read_group_flag(r, &f, word, value);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return conf_bad(&r->at,
			    "\"%.40s\" says nothing of a group: rate, mtu, sl, scope, Q_Key, "
			    "TClass, FlowLabel; ports stand in a line of their own",
			    word);
	}
	if (is_of_ip(mgid) && check_ip_group(r, mgid, &f) != 0)
		return FM_E_CONFIG;
	return add_groups(r, mgid, &f, false);
}

/* ----------------------------------------------------------------- ports */

static const char *const words[N_PART_WORDS] = { [WORD_ALL] = "ALL",
	[WORD_ALL_CAS] = "ALL_CAS",
	[WORD_ALL_SWITCHES] = "ALL_SWITCHES",
	[WORD_ALL_ROUTERS] = "ALL_ROUTERS",
	[WORD_ALL_VCAS] = "ALL_VCAS",
	[WORD_SELF] = "SELF" };

static void
set_rule(struct part_reader *r, struct part_rule *rule, uint8_t member)
{
	*rule = (struct part_rule){ .seq = ++r->seq, .member = member, .line = r->at.line };
}

static int
read_port(struct part_reader *r, const char *name, const char *membership)
{
	struct part_guid_rule by_guid = { .def = r->def };
	uint8_t member = r->member;

	if (*name == '\0' || strncmp(name, "NONE", strlen(name)) == 0)
		return 0;
	if (membership != NULL && read_member(r, membership, &member) != 0)
		return FM_E_CONFIG;
	for (unsigned w = 0; w < N_PART_WORDS; w++)
		if (strncmp(name, words[w], strlen(name)) == 0) {
			set_rule(r, &r->p->defs.item[r->def].word[w], member);
			return 0;
		}
	if (!number_parse(name, &by_guid.guid) || by_guid.guid == 0)
		return conf_bad(&r->at,
		    "\"%.40s\" is no port: a GUID such as 0x2c903000a1b2c, or ALL, ALL_CAS, "
		    "ALL_SWITCHES, ALL_ROUTERS, SELF",
		    name);
	set_rule(r, &by_guid.rule, member);
	return fm_vec_push(&r->p->guids, by_guid) ? 0 : conf_no_memory(&r->at);
}

/* "ALL=full stor=0x2 : 0x1" of two lines or one: the next partition begins in this one. */
static int
check_no_head(struct part_reader *r, const char *text)
{
	const char *colon = strchr(text, ':');

	if (colon == NULL || strstr(text, "mgid") != NULL)
		return 0;
	return conf_bad(&r->at,
	    "\"%.40s\" would stand in the partition that begins in line %u: a ; is missing at its "
	    "end",
	    text, r->open_line);
}

static int
read_body(struct part_reader *r, char *text)
{
	char *word, *value;
	int rc = check_no_head(r, conf_trim(text));

	while (rc == 0 && (word = conf_next_item(&text)) != NULL) {
		word = split_value(word, &value);
		if (strcmp(word, "mgid") == 0)
			return read_group(r, value, text);
		if (read_port(r, word, value) != 0)
			rc = conf_note_bad(&r->at);
	}
	return rc;
}

/* ------------------------------------------------------------------ head */

static struct part_def *
def_of_key(struct part_reader *r, uint16_t pkey)
{
	uint32_t number = r->def_of_key[pkey];

	return number != 0 ? &r->p->defs.item[number - 1] : NULL;
}

/* Names of one hash stand on the keys that follow it. */
static struct part_def *
def_of_name(struct part_reader *r, const char *name)
{
	uint64_t key = fm_hash_bytes(1, name, strlen(name));
	uint32_t at;

	while (*name != '\0' && (at = fm_hash_find(&r->names, key++)) != FM_HASH_NONE)
		if (strcmp(r->p->defs.item[at].part.name, name) == 0)
			return &r->p->defs.item[at];
	return NULL;
}

static bool
remember_def(struct part_reader *r, uint32_t number)
{
	const struct partition *part = &r->p->defs.item[number].part;
	uint64_t key = fm_hash_bytes(1, part->name, strlen(part->name));

	r->def_of_key[part->pkey] = (uint16_t)(number + 1);
	if (*part->name == '\0' || def_of_name(r, part->name) != NULL)
		return true;
	while (fm_hash_find(&r->names, key) != FM_HASH_NONE)
		key++;
	return fm_hash_put(&r->names, key, number);
}

/* The least P_Key from 0x0001 up that nobody has by now. */
static uint16_t
free_key(struct part_reader *r)
{
	while (r->free_key < PKEY_DEFAULT && def_of_key(r, r->free_key) != NULL)
		r->free_key++;
	return r->free_key < PKEY_DEFAULT ? r->free_key : 0;
}

static int
new_def(
    struct part_reader *r, const char *name, uint16_t pkey, bool generated, struct part_def **out)
{
	struct part_def def = { .part = { .pkey = pkey, .line = r->at.line },
		.generated = generated };

	def.part.name = fm_arena_strdup(&r->p->mem, name);
	if (def.part.name == NULL || !fm_vec_push(&r->p->defs, def) ||
	    !remember_def(r, (uint32_t)r->p->defs.n - 1))
		return conf_no_memory(&r->at);
	*out = &r->p->defs.item[r->p->defs.n - 1];
	return 0;
}

/* The partition that a head means. */
static int
find_def(struct part_reader *r, const char *name, uint16_t pkey, struct part_def **def)
{
	bool generated = pkey == 0;

	*def = generated ? def_of_name(r, name) : def_of_key(r, pkey);
	if (*def != NULL && !generated && (*def)->generated)
		return conf_bad(&r->at,
		    "P_Key 0x%04x has been given to the partition of line %u, which names none: "
		    "name one there",
		    pkey, (*def)->part.line);
	if (*def != NULL && *name != '\0' && strcmp((*def)->part.name, name) != 0 &&
	    (*def)->part.line != 0)
		log_warn("partitions",
		    "%s:%u: P_Key 0x%04x is that of partition \"%s\" of line %u: what stands "
		    "under \"%s\" is added to it",
		    r->at.path, r->at.line, pkey, (*def)->part.name, (*def)->part.line, name);
	if (*def != NULL)
		return 0;
	if (generated && (pkey = free_key(r)) == 0)
		return conf_bad(&r->at, "no P_Key is left for this partition");
	return new_def(r, name, pkey, generated, def);
}

static int
read_name(struct part_reader *r, char *word, struct part_def **def)
{
	char *id;
	const char *name = split_value(word, &id);
	uint64_t pkey = 0;
	int rc;

	if (id == NULL && *name >= '0' && *name <= '9') {
		id = word;
		name = "";
	}
	if (strlen(name) > NAME_MAX_CHARS)
		return conf_bad(&r->at, "the name \"%.40s...\" is longer than %d letters", name,
		    NAME_MAX_CHARS);
	if (id != NULL && read_number(r, "P_Key", id, 0, 0xffff, &pkey) != 0)
		return FM_E_CONFIG;
	rc = find_def(r, name, (uint16_t)(pkey & PKEY_BASE), def);
	if (rc == 0 && id != NULL && (pkey & PKEY_BASE) == 0)
		log_warn("partitions",
		    "%s:%u: P_Key 0x%04x is none that a partition may have: it gets 0x%04x, the "
		    "next that nobody has",
		    r->at.path, r->at.line, (unsigned)pkey, (*def)->part.pkey);
	return rc;
}

static int
read_head_flag(struct part_reader *r, const char *name, const char *value)
{
	int rc;

	if (*name == '\0')
		return 0;
	rc = read_group_flag(r, &r->flags, name, value);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (is_short_for(name, "ipoib"))
		r->ipoib = true;
	else if (is_short_for(name, "defmember"))
		return read_member(r, value != NULL ? value : "", &r->member);
	else if (is_short_for(name, "indx0"))
		r->index0 = true;
	else
		return conf_bad(&r->at,
		    "unknown flag \"%.40s\": ipoib, rate, mtu, sl, scope, Q_Key, TClass, "
		    "FlowLabel, defmember, indx0",
		    name);
	return 0;
}

static int
read_head(struct part_reader *r, char *text)
{
	char *first = conf_next_item(&text), *word, *value;
	struct part_def *def = NULL;
	int rc = 0;

	r->flags = (struct part_group_flags){ .rate = RATE_10_GBPS, .mtu = MTU_2048 };
	r->ipoib = r->index0 = false;
	r->member = PART_LIMITED;
	while (rc == 0 && (word = conf_next_item(&text)) != NULL) {
		word = split_value(word, &value);
		if (read_head_flag(r, word, value) != 0)
			rc = conf_note_bad(&r->at);
	}
	if (rc != 0 || (rc = read_name(r, first, &def)) != 0)
		return rc;
	r->open = true;
	r->open_line = r->at.line;
	r->def = (uint32_t)(def - r->p->defs.item);
	if (def->file_line == 0)
		def->file_line = r->at.line;
	if (r->flags.has_sl)
		def->part.sl = r->options->qos ? r->flags.sl : 0;
	def->part.index0 = def->part.index0 || r->index0;
	def->part.ipoib = def->part.ipoib || r->ipoib;
	return r->ipoib ? add_broadcast(r) : 0;
}

/* ------------------------------------------------------------- the file */

/* What stands between two ends of line or semicolons. */
static int
read_piece(struct part_reader *r, char *text)
{
	char *colon;
	int rc;

	if (r->open)
		return read_body(r, text);
	text = conf_trim(text);
	if (*text == '\0')
		return 0;
	colon = strchr(text, ':');
	if (colon == NULL)
		return conf_bad(&r->at,
		    "\"%.40s\" begins no partition: NAME=P_KEY,FLAGS : PORTS ; with the first part "
		    "in one line",
		    text);
	*colon = '\0';
	rc = read_head(r, text);
	return rc != 0 ? rc : read_body(r, colon + 1);
}

static int
read_line(struct part_reader *r, char *line)
{
	char *piece;
	int rc = 0;

	while (rc == 0 && line != NULL) {
		piece = strsep(&line, ";");
		if (!r->skips && read_piece(r, piece) != 0) {
			rc = conf_note_bad(&r->at);
			r->skips = !r->open;
		}
		if (line != NULL)
			r->open = r->skips = false;
	}
	return rc;
}

static int
read_file(struct part_reader *r, const char *bytes, size_t n_bytes)
{
	struct conf_lines lines;
	struct fm_arena mem;
	char *line;
	int rc = 0;

	fm_arena_init(&mem, SIZE_MAX);
	conf_lines_init(&lines, bytes, n_bytes);
	while (rc == 0 && (line = conf_lines_next(&lines, &mem)) != NULL) {
		r->at.line = lines.line;
		rc = read_line(r, line);
	}
	fm_arena_fini(&mem);
	if (rc == 0 && lines.out_of_memory)
		return conf_no_memory(&r->at);
	if (rc == 0 && r->open)
		log_warn("partitions",
		    "%s:%u: the partition that begins here has no \";\" before the file ends",
		    r->at.path, r->open_line);
	return rc;
}

/* ------------------------------------------------ partitions of no file */

/* The groups of the open definition. */
static int
add_groups_of(struct part_reader *r, const struct part_more *m)
{
	int rc = m->ipoib ? add_broadcast(r) : 0;

	for (size_t i = 0; rc == 0 && i < m->n_mgids; i++) {
		struct part_group_flags f = r->flags;
		uint8_t mgid[16];

		memcpy(mgid, m->mgids[i], sizeof(mgid));
		rc = is_of_ip(mgid) ? check_ip_group(r, mgid, &f) : 0;
		if (rc == 0)
			rc = add_groups(r, mgid, &f, false);
	}
	return rc;
}

/* It has the P_Key and the name alone, but that of the default partition is there already, and
 * several of o->more may have one P_Key: who made them has compared them. */
static int
find_more(struct part_reader *r, const struct part_more *m, const char *path, struct part_def **def)
{
	const struct part_def *named = def_of_name(r, m->name);
	uint16_t pkey = m->pkey != 0 ? m->pkey : free_key(r);

	*def = def_of_key(r, pkey);
	if (pkey == 0)
		return conf_bad(&r->at, "vfabric %s: no P_Key is left for it", m->name);
	if (*def != NULL && (*def)->file_line != 0)
		return conf_bad(&r->at,
		    "vfabric %s: P_Key 0x%04x is that of a partition of %s, too, by its line %u: "
		    "leave it out in one of them",
		    m->name, pkey, path, (*def)->file_line);
	if (named != NULL && named->file_line != 0)
		return conf_bad(&r->at,
		    "vfabric %s: a partition of %s has that name, too, by its line %u, and P_Key "
		    "0x%04x: call one of them otherwise",
		    m->name, path, named->file_line, named->part.pkey);
	return *def != NULL ? 0 : new_def(r, m->name, pkey, m->pkey == 0, def);
}

static int
add_more(struct part_reader *r, const struct part_more *m, const char *path)
{
	struct part_def *def;
	int rc = find_more(r, m, path, &def);

	if (rc != 0)
		return rc;
	if (def->part.line == 0 && (def->part.name = fm_arena_strdup(&r->p->mem, m->name)) == NULL)
		return conf_no_memory(&r->at);
	def->part.line = m->line;
	def->part.sl = r->options->qos ? m->sl : 0;
	def->part.sl_is_firm = r->options->qos && m->sl_is_firm;
	def->part.mtu = m->mtu;
	def->part.rate = m->rate;
	def->part.ipoib |= m->ipoib;
	def->members_mark = fm_mix64(def->members_mark ^ m->mark) | 1;
	r->def = (uint32_t)(def - r->p->defs.item);
	r->flags = (struct part_group_flags){ .mtu = m->mtu != 0 ? m->mtu : MTU_2048,
		.rate = m->rate != 0 ? m->rate : RATE_10_GBPS,
		.sl = m->sl };
	return add_groups_of(r, m);
}

/* P_Keys that are written go before those that are given. */
static int
add_all_more(struct part_reader *r)
{
	const struct part_options *o = r->options;
	const char *path = r->at.path;
	int rc = 0;

	for (unsigned generated = 0; generated < 2; generated++)
		for (size_t i = 0; rc == 0 && i < o->n_more; i++) {
			r->at.path = o->more[i].file;
			r->at.line = o->more[i].line;
			if ((o->more[i].pkey == 0) == (generated != 0) &&
			    add_more(r, &o->more[i], path) != 0)
				rc = conf_note_bad(&r->at);
		}
	return rc;
}

/* The default partition is there before the first line. */
static int
begin(struct part_reader *r)
{
	r->free_key = 1;
	return r->p != NULL && remember_def(r, 0) ? 0 : conf_no_memory(&r->at);
}

static int
finish(struct part_reader *r, int rc, const struct partitions **out)
{
	fm_hash_fini(&r->names);
	fm_hash_fini(&r->groups);
	if (rc == 0 && !partitions_seal(r->p))
		rc = conf_no_memory(&r->at);
	if (rc != 0)
		partitions_put(r->p);
	else
		*out = r->p;
	return rc;
}

int
partitions_parse(const char *path, const char *bytes, size_t n_bytes, const struct part_options *o,
    const struct partitions **out, struct mistakes *all, struct fm_error *err)
{
	struct part_reader r = { .at = { .path = path, .err = err, .all = all },
		.options = o,
		.p = partitions_new(PART_LIMITED) };
	int rc = begin(&r);

	if (rc == 0)
		rc = read_file(&r, bytes, n_bytes);
	return finish(&r, rc != 0 ? rc : add_all_more(&r), out);
}

int
partitions_default(const struct part_options *o, const struct partitions **out,
    struct mistakes *all, struct fm_error *err)
{
	bool open = o->n_more == 0;
	struct part_reader r = { .at = { .path = "partitions", .err = err, .all = all },
		.options = o,
		.flags = { .rate = RATE_10_GBPS, .mtu = MTU_2048 },
		.p = partitions_new(open ? PART_FULL : PART_LIMITED) };
	int rc = begin(&r);

	if (rc == 0)
		r.p->defs.item[0].part.ipoib = open;
	if (rc == 0)
		rc = open ? add_broadcast(&r) : add_all_more(&r);
	return finish(&r, rc, out);
}
