/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From OpenSM's lines to options of fmd.  What is at OpenSM's default says nothing; but a file
 * that OpenSM reads by default counts where it is there, named or not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/opensm/opensm_private.h"
#include "core/text/number.h"
#include "lib/error.h"

#define CACHE_DIR "/var/cache/opensm" /* OpenSM's, where OSM_CACHE_DIR names no other */

#define LIFE_INFINITE 20u /* PortInfo's HOQLife and SwitchInfo's LifeTimeValue beyond 19 */

#define LOG_ERROR 0x01u
#define LOG_INFO 0x02u
#define LOG_VERBOSE 0x04u
#define LOG_DEBUG (0x08u | 0x10u | 0x20u) /* DEBUG, FUNCS, FRAMES */

static const struct opensm_line *
find_line(const struct opensm *o, const char *key)
{
	for (size_t i = 0; i < o->lines.n; i++)
		if (strcmp(o->lines.item[i].key->name, key) == 0)
			return &o->lines.item[i];
	return NULL;
}

/* TRUE is OpenSM's word, 1 opa-fm's. */
static bool
is_true(const struct opensm_line *l)
{
	return l != NULL && (strcmp(l->value, "TRUE") == 0 || strcmp(l->value, "1") == 0);
}

static uint64_t
number_of(const struct opensm_line *l)
{
	uint64_t n = 0;

	return number_parse(l->value, &n) ? n : 0;
}

/* A file that is read where it is there, and not missed where it is not. */
static bool
is_default_file(const struct opensm_key *key)
{
	return key->form == OPENSM_PATH && key->def[0] == '/' && key->fate != OPENSM_NONE;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Builds of OpenSM have their default files in different folders; a name without a folder is one
 * that somebody wrote. */
bool
opensm_says_nothing(const struct opensm *o, const struct opensm_line *l)
{
	const char *def = strcmp(l->key->def, "(null)") == 0 ? "" : l->key->def;
	uint64_t value, by_default;

	if (l->key->def_counts && *l->value != '\0')
		return false;
	if (*l->value == '/' && *def != '\0' && l->key->form == OPENSM_PATH &&
	    strcmp(base_name(l->value), base_name(def)) == 0) {
		if (l->key->fate == OPENSM_NONE)
			return true;
		if (strcmp(l->key->name, "qos_policy_file") == 0 && !is_true(find_line(o, "qos")))
			return true;
		return access(l->value, F_OK) != 0;
	}
	if (l->key->form == OPENSM_NUMBER && number_parse(l->value, &value) &&
	    number_parse(def, &by_default))
		return value == by_default;
	return *l->value == '\0' || strcmp(l->value, def) == 0;
}

/* What follows where a default file is not there. */
static const char *
without(const char *name)
{
	static const struct {
		const char *name, *text;
	} files[] = { { "partition_config_file",
			  "all ports are full members of the default partition, 0x7fff, alone" },
		{ "prefix_routes", "the SA has no prefix routes" },
		{ "qos_policy_file", "there is no QoS policy" },
		{ "torus_config", "the engine finds the torus by itself" } };
	size_t i = 0;

	while (i + 1 < sizeof(files) / sizeof(*files) && strcmp(files[i].name, name) != 0)
		i++;
	return files[i].text;
}

/* A default file that a build of OpenSM has in its own folder, "opensm", is not missed; in another
 * one somebody wanted it to be. */
static void
tell_absent(struct opensm *o, const struct opensm_line *l, const char *chain)
{
	static const char own[] = "/opensm";
	size_t n = (size_t)(base_name(l->value) - l->value), bytes = sizeof(own) - 1;

	if (!is_default_file(l->key) || *l->value != '/' || access(l->value, F_OK) == 0 ||
	    (strcmp(l->key->name, "qos_policy_file") == 0 && !is_true(find_line(o, "qos"))) ||
	    (l->key->fate == OPENSM_ENGINE && strstr(chain, "torus") == NULL) ||
	    (n > bytes && strncmp(l->value + n - 1 - bytes, own, bytes) == 0))
		return;
	opensm_tell(o, OPENSM_ABSENT, l,
	    "%s: there is no %.100s, which OpenSM passes over, too: %s", l->key->name, l->value,
	    without(l->key->to));
}

/* ---------------------------------------------------------------- settings */

void
opensm_set_items(struct opensm *o, const struct opensm_line *l, const struct fm_engine *engine,
    const char *to, const char *const *items, size_t n)
{
	o->out_of_memory |= !fm_vec_push(&o->settings,
	    ((struct opensm_setting){
		.from = l, .engine = engine, .to = to, .items = items, .n_items = n }));
}

void
opensm_set(struct opensm *o, const struct opensm_line *l, const struct fm_engine *engine,
    const char *to, const char *text)
{
	const char **item = fm_arena_array(o->mem, 1, const char *);

	if (item == NULL || text == NULL) {
		o->out_of_memory = true;
		return;
	}
	*item = text;
	opensm_set_items(o, l, engine, to, item, 1);
}

/* a and b in one. */
static const char *
join(struct opensm *o, const char *a, const char *b)
{
	size_t bytes = strlen(a) + strlen(b) + 1;
	char *text = fm_arena_alloc(o->mem, bytes);

	if (text != NULL)
		snprintf(text, bytes, "%s%s", a, b);
	return text;
}

/* A number with a unit, decimal. */
static const char *
duration(struct opensm *o, const struct opensm_line *l, const char *unit)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number_of(l));
	return join(o, text, unit);
}

static const char *
spell(struct opensm *o, const struct opensm_line *l)
{
	if (l->key->form == OPENSM_PATH && o->folder != NULL && *l->value != '/')
		return join(o, o->folder, l->value);
	if (l->key->form != OPENSM_BOOL)
		return l->value;
	return is_true(l) ? "yes" : "no";
}

/* ----------------------------------------------------------------- engines */

/* The next word of "a, b", or NULL. */
static char *
next_word(struct opensm *o, const char **at)
{
	const char *from = *at + strspn(*at, ", \t");
	size_t n = strcspn(from, ", \t");
	char *word = n > 0 ? fm_arena_alloc(o->mem, n + 1) : NULL;

	*at = from + n;
	if (word != NULL)
		memcpy(word, from, n);
	o->out_of_memory |= n > 0 && word == NULL;
	return word;
}

static void
set_chain(struct opensm *o, const struct opensm_line *l)
{
	const char **items = fm_arena_array(o->mem, strlen(l->value) + 1, const char *);
	const char *at = l->value, *near;
	struct fm_error foreign;
	size_t n = 0;
	char *word;

	if (items == NULL) {
		o->out_of_memory = true;
		return;
	}
	while ((word = next_word(o, &at)) != NULL) {
		if (strcmp(word, "no_fallback") == 0) {
			opensm_set(o, l, NULL, "fallback", "no");
		} else if (strcmp(word, "chains") == 0 || engine_find(o->engines, word) != NULL) {
			items[n++] = word;
		} else if (opensm_foreign_engine(word, &foreign) != 0) {
			opensm_tell(o, OPENSM_BAD, l, "routing_engine: %s", foreign.msg);
		} else {
			near = engine_nearest(o->engines, word);
			opensm_tell(o, OPENSM_BAD, l,
			    "routing_engine: there is no engine %.40s%s%s%s", word,
			    near != NULL ? ": did you mean " : ": fmd --list-engines shows them",
			    near != NULL ? near : "", near != NULL ? "?" : "");
		}
	}
	if (n > 0)
		opensm_set_items(o, l, NULL, l->key->to, items, n);
}

static const char *
file_list(struct opensm *o, const struct opensm_line *l)
{
	const char *path = spell(o, l);

	return path != NULL ? join(o, "file:", path) : NULL;
}

/* ": file has", "": none. */
static void
name_engines(const struct opensm *o, const struct opensm_key *key, char *out, size_t room)
{
	size_t n = 0, n_names = 0;
	bool is_list;

	*out = '\0';
	for (uint32_t i = 0; i < o->engines->n_engines && n < room; i++) {
		const struct fm_engine *e = o->engines->engines[i].engine;
		struct option_table table = option_table_of(e);

		if (opensm_engine_option(key, &table, &is_list) == NULL)
			continue;
		n += (size_t)snprintf(
		    out + n, room - n, "%s%s", n_names++ > 0 ? ", " : ": ", e->name);
	}
	if (n_names > 0 && n < room)
		snprintf(out + n, room - n, "%s", n_names > 1 ? " have" : " has");
}

/* An option of those engines of the chain that have it. */
static void
set_engines(struct opensm *o, const struct opensm_line *l, const char *chain)
{
	const struct fm_engine *last = NULL;
	const char *at = chain;
	char *word, others[160];

	while ((word = next_word(o, &at)) != NULL) {
		const struct fm_engine *e;
		struct option_table table;
		const char *to;
		bool is_list;

		word[strcspn(word, ":")] = '\0';
		e = engine_find(o->engines, word);
		if (e == NULL || e == last)
			continue;
		table = option_table_of(e);
		to = opensm_engine_option(l->key, &table, &is_list);
		if (to == NULL)
			continue;
		last = e;
		opensm_set(o, l, e, to, is_list ? file_list(o, l) : spell(o, l));
	}
	if (last != NULL || is_default_file(l->key))
		return;
	name_engines(o, l->key, others, sizeof(others));
	opensm_tell(o, OPENSM_STRAY, l, "%s is not used: no engine of the chain (%.80s) has %s%s",
	    l->key->name, chain, l->key->to, others);
}

/* ------------------------------------------------------------ rules of their own */

static void
set_op_vls(struct opensm *o, const struct opensm_line *l)
{
	static const char *const vls[] = { "1", "2", "4", "8", "15" };
	uint64_t code = number_of(l);

	if (code < 1 || code > 5)
		opensm_tell(o, OPENSM_BAD, l,
		    "max_op_vls %.20s is no code: 1, 2, 3, 4 and 5 are 1, 2, 4, 8 and 15 VLs",
		    l->value);
	else
		opensm_set(o, l, NULL, l->key->to, vls[code - 1]);
}

static void
set_log_level(struct opensm *o, const struct opensm_line *l)
{
	static const struct {
		uint64_t flags;
		const char *level;
	} levels[] = { { LOG_DEBUG, "debug" }, { LOG_VERBOSE, "info" }, { LOG_INFO, "notice" },
		{ LOG_ERROR, "warn" }, { UINT64_MAX, "err" } };
	uint64_t flags = number_of(l);
	size_t i = 0;

	while (i + 1 < sizeof(levels) / sizeof(*levels) && (flags & levels[i].flags) == 0)
		i++;
	opensm_set(o, l, NULL, l->key->to, levels[i].level);
	if (i == 0)
		opensm_set(o, l, NULL, "debug", "all");
}

/* The unit has fmd write into few folders (ProtectSystem=strict in conf/fmd.service.in). */
static void
hint_at_unit(struct opensm *o, const struct opensm_line *l)
{
	static const char *const own[] = { "/var/log/fmd/", "/var/lib/fmd/", "/run/fmd/", "/tmp/",
		"/var/tmp/" };
	size_t n = (size_t)(base_name(l->value) - l->value);

	if (*l->value != '/')
		return;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strncmp(l->value, own[i], strlen(own[i])) == 0)
			return;
	opensm_tell(o, OPENSM_HINT, l,
	    "%s %.80s: as a service fmd may write below /var/log/fmd only: write a path there, or "
	    "ReadWritePaths=%.*s in fmd.service.d/*.conf",
	    l->key->name, l->value, (int)(n > 1 ? n - 1 : n), l->value);
}

static void
set_log_file(struct opensm *o, const struct opensm_line *l)
{
	if (strcmp(l->value, "stdout") == 0 || strcmp(l->value, "stderr") == 0)
		return;
	opensm_set(o, l, NULL, l->key->to, l->value);
	hint_at_unit(o, l);
}

/* The least code that is at least so long, in nanoseconds; max: for ever. */
static unsigned
life_code(uint64_t ns, unsigned max)
{
	unsigned code = 0;

	while (code < max && ((uint64_t)4096 << code) < ns)
		code++;
	return code;
}

/* "8ms". */
static bool
parse_life(const char *text, unsigned max, unsigned *code)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "m", 60000000000 }, { "h", 3600000000000 } };
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	n = strtoul(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].unit) == 0) {
			*code =
			    n > UINT64_MAX / units[i].ns ? max : life_code(n * units[i].ns, max);
			return true;
		}
	return false;
}

void
opensm_set_life(struct opensm *o, const struct opensm_line *l, unsigned max, bool may_be_infinite)
{
	bool is_infinite = may_be_infinite && strcmp(l->value, "infinite") == 0;
	unsigned code = max;
	char text[8];

	if (!is_infinite && !parse_life(l->value, max, &code)) {
		opensm_tell(o, OPENSM_BAD, l,
		    "%s %.40s is no time: write a number with ns, us, ms, s, m or h%s",
		    l->key->name, l->value, may_be_infinite ? ", or infinite" : "");
		return;
	}
	snprintf(text, sizeof(text), "%u", code);
	opensm_set(o, l, NULL, l->key->to, fm_arena_strdup(o->mem, text));
	if (l->key->or_to != NULL)
		opensm_set(o, l, NULL, l->key->or_to, fm_arena_strdup(o->mem, text));
}

static void
set_both(struct opensm *o, const struct opensm_line *l)
{
	opensm_set(o, l, NULL, l->key->to, l->value);
	opensm_set(o, l, NULL, l->key->or_to, l->value);
}

static void
set_special(struct opensm *o, const struct opensm_line *l)
{
	const char *name = l->key->name;
	const struct opensm_line *lmc = find_line(o, "lmc");

	if (strcmp(name, "routing_engine") == 0)
		set_chain(o, l);
	else if (strcmp(name, "max_op_vls") == 0)
		set_op_vls(o, l);
	else if (strcmp(name, "log_flags") == 0)
		set_log_level(o, l);
	else if (strcmp(name, "lmc_esp0") == 0)
		opensm_set(o, l, NULL, l->key->to, lmc != NULL ? lmc->value : "0");
	else if (strcmp(name, "no_partition_enforcement") == 0)
		opensm_set(o, l, NULL, l->key->to, "off");
	else if (strcmp(name, "consolidate_ipv6_snm_req") == 0)
		opensm_set(o, l, NULL, l->key->to, "1");
	else if (strcmp(name, "use_original_extended_sa_rates_only") == 0)
		opensm_set(o, l, NULL, l->key->to, "18");
	else if (strcmp(name, "log_file") == 0)
		set_log_file(o, l);
	else if (strcmp(name, "max_wire_smps") == 0)
		opensm_set(o, l, NULL, l->key->to, number_of(l) == 0 ? "4096" : l->value);
	else if (strcmp(name, "subnet_timeout") == 0)
		set_both(o, l);
}

void
opensm_translate_line(struct opensm *o, const struct opensm_line *l, const char *chain)
{
	if (opensm_says_nothing(o, l)) {
		tell_absent(o, l, chain);
		return;
	}
	switch (l->key->fate) {
	case OPENSM_SAME:
		opensm_set(o, l, NULL, l->key->to, spell(o, l));
		return;
	case OPENSM_SECONDS:
		opensm_set(o, l, NULL, l->key->to, duration(o, l, "s"));
		return;
	case OPENSM_MS:
		opensm_set(o, l, NULL, l->key->to, duration(o, l, "ms"));
		return;
	case OPENSM_INVERSE:
		opensm_set(o, l, NULL, l->key->to, is_true(l) ? "no" : "yes");
		return;
	case OPENSM_ENGINE:
	case OPENSM_GUIDS:
		set_engines(o, l, chain);
		return;
	case OPENSM_SPECIAL:
		set_special(o, l);
		return;
	case OPENSM_LIFE:
		opensm_set_life(o, l, LIFE_INFINITE, true);
		return;
	case OPENSM_ALWAYS:
		return;
	case OPENSM_NONE:
		opensm_tell(o, OPENSM_STRAY, l, "%s %.60s has no counterpart: %s", l->key->name,
		    l->value, l->key->note);
		return;
	}
}

/* ---------------------------------------------------------- what nobody wrote */

/* A line that OpenSM has in mind. */
static void
add_default_files(struct opensm *o)
{
	for (size_t i = 0; opensm_key(i) != NULL; i++) {
		const struct opensm_key *key = opensm_key(i);

		if (is_default_file(key) && find_line(o, key->name) == NULL)
			o->out_of_memory |= !fm_vec_push(
			    &o->lines, ((struct opensm_line){ .key = key, .value = key->def }));
	}
}

/* What OpenSM remembers: LIDs, so that every port keeps its own, and M_Keys. */
static void
set_remembered(struct opensm *o, const struct opensm_line *line)
{
	const char *folder = getenv("OSM_CACHE_DIR"), *name = base_name(line->key->def);
	const char *slash = join(o, folder != NULL && *folder != '\0' ? folder : CACHE_DIR, "/");
	const char *path = slash != NULL ? join(o, slash, name) : NULL;
	struct stat st;

	if (path == NULL || (stat(path, &st) == 0 && st.st_size > 0))
		opensm_set(o, line, NULL, line->key->to, path);
}

static void
set_all_remembered(struct opensm *o)
{
	static const struct opensm_key lids = { .name = "guid2lid",
		.def = CACHE_DIR "/guid2lid",
		.form = OPENSM_PATH,
		.fate = OPENSM_SAME,
		.to = "guid2lid",
		.note = "the LIDs that OpenSM remembers, in OSM_CACHE_DIR" };
	static const struct opensm_key keys = { .name = "guid2mkey",
		.def = CACHE_DIR "/guid2mkey",
		.form = OPENSM_PATH,
		.fate = OPENSM_SAME,
		.to = "guid2mkey",
		.note = "the M_Keys that OpenSM remembers, in OSM_CACHE_DIR" };
	static const struct opensm_line lid_line = { .key = &lids, .value = "" };
	static const struct opensm_line key_line = { .key = &keys, .value = "" };
	const struct opensm_line *lookup = find_line(o, "m_key_lookup");

	set_remembered(o, &lid_line);
	if (lookup == NULL || is_true(lookup))
		set_remembered(o, &key_line);
}

void
opensm_translate(struct opensm *o, const struct opensm_chain *chains, bool of_file)
{
	const struct opensm_line *engines;
	const char *chain = chains->by_default;

	if (of_file)
		add_default_files(o);
	engines = find_line(o, "routing_engine");
	if (chains->firm != NULL)
		chain = chains->firm;
	else if (engines != NULL && *engines->value != '\0')
		chain = engines->value;
	for (size_t i = 0; i < o->lines.n; i++)
		opensm_translate_line(o, &o->lines.item[i], chain);
	if (of_file)
		set_all_remembered(o);
}
