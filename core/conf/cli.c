/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "core/conf/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/conf/conf_opensm.h"
#include "core/conf/conf_private.h"
#include "core/conf/describe.h"
#include "core/opensm/opensm.h"
#include "core/store/store.h"
#include "core/subnet/guid2lid.h"
#include "core/text/mistakes.h"
#include "core/text/suggest.h"
#include "lib/error.h"
#include "lib/log.h"

#define REFUSED_SHOWN 3u /* files that are no engines, one by one */

static const char usage[] =
    "usage: fmd [OPTION]...\n"
    "The InfiniBand subnet manager, in the foreground, logging to stderr.\n\n"
    "  --engine=LIST        chain of engines, first that fits: fattree,updn\n"
    "  --config=FILE        configuration (" SYSCONF_DIR "/fmd/fmd.conf), or OpenSM's\n"
    "                       opensm.conf as it is; none = defaults\n"
    "  --transport=T        umad[:CA[:PORT]] or sim:FABRIC\n"
    "  --port=LIST          local ports, first that has a link: mlx5_0:1,mlx5_0:2\n"
    "  --plugin-dir=DIR     where engines are, and programmers of adaptive routing in\n"
    "                       DIR/vendors; may be given several times\n"
    "  --engine-isolation=W which engines run in a process of their own: foreign, all, none,\n"
    "                       without-landlock\n"
    "  --state-dir=DIR      where LIDs and caches are kept (" STATE_DIR ")\n"
    "  --node-name-map=FILE names of nodes, a line 0xGUID \"NAME\" each\n"
    "  --dump=DIR           write the tables there after every sweep\n"
    "  --once               bring the subnet up, print a summary, leave it up\n"
    "  --dry-run            send no Set: print what would be changed, node by node; with\n"
    "                       --summary nodes with the same Sets in one line, --json for programs\n"
    "  --check              validate the configuration and exit\n"
    "  --import-opensm FILE print the fmd.conf of an opensm.conf\n"
    "  --import-opafm FILE  print the fmd.conf of an opafm.xml of opa-fm's\n"
    "  --export-guid2lid    print the LIDs that are kept as OpenSM's guid2lid, to go back\n"
    "  --list-engines       show the engines there are; with --json for programs\n"
    "  --help[=ENGINE]      this text, or an engine (or group, region) with its options\n"
    "  --version\n\n"
    "OpenSM's options (-R, -r, -g, -p, -a, -s, -t, -P, -Y, ...) mean what they mean there, or\n"
    "it is said what to write: man fmd-opensm.\n\n"
    "Exit codes: 0 ok, 1 system error, 2 usage or configuration, 3 not routed or\n"
    "not verified, 4 another SM is master.\n";

enum {
	OPT_ENGINE = 256,
	OPT_CONFIG,
	OPT_TRANSPORT,
	OPT_PORT,
	OPT_PLUGIN_DIR,
	OPT_ISOLATION,
	OPT_STATE_DIR,
	OPT_NAMES,
	OPT_DUMP,
	OPT_ONCE,
	OPT_DRY_RUN,
	OPT_CHECK,
	OPT_LIST,
	OPT_JSON,
	OPT_SUMMARY,
	OPT_HELP,
	OPT_VERSION,
	OPT_IMPORT,
	OPT_IMPORT_OPAFM,
	OPT_GUID2LID,
	OPT_OPENSM /* and on: the options of OpenSM, by their rows */
};
#define N_OPENSM_MAX 128

static const struct option own_options[] = { { "engine", required_argument, NULL, OPT_ENGINE },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "transport", required_argument, NULL, OPT_TRANSPORT },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "plugin-dir", required_argument, NULL, OPT_PLUGIN_DIR },
	{ "engine-isolation", required_argument, NULL, OPT_ISOLATION },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "node-name-map", required_argument, NULL, OPT_NAMES },
	{ "dump", required_argument, NULL, OPT_DUMP }, { "once", no_argument, NULL, OPT_ONCE },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN }, { "check", no_argument, NULL, OPT_CHECK },
	{ "list-engines", no_argument, NULL, OPT_LIST }, { "json", no_argument, NULL, OPT_JSON },
	{ "summary", no_argument, NULL, OPT_SUMMARY },
	{ "help", optional_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "import-opensm", required_argument, NULL, OPT_IMPORT },
	{ "import-opafm", required_argument, NULL, OPT_IMPORT_OPAFM },
	{ "export-guid2lid", no_argument, NULL, OPT_GUID2LID } };
#define N_OWN (sizeof(own_options) / sizeof(*own_options))

/* What getopt_long_only() wants: fmd's own, then OpenSM's. */
struct option_lists {
	struct option longs[N_OWN + N_OPENSM_MAX + 1];
	char letters[2 * N_OPENSM_MAX + 16];
};

static void
list_options(struct option_lists *l)
{
	const struct opensm_option *o;
	size_t n = (size_t)snprintf(l->letters, sizeof(l->letters), "+:F:oh"), n_longs = N_OWN;

	memset(l->longs, 0, sizeof(l->longs));
	memcpy(l->longs, own_options, sizeof(own_options));
	for (int i = 0; i < N_OPENSM_MAX && (o = opensm_option((size_t)i)) != NULL; i++) {
		bool takes =
		    o->number != NULL || (o->key == NULL ? o->has_value : o->value == NULL);

		if (strcmp(l->longs[n_longs - 1].name, o->name) == 0)
			continue;
		l->longs[n_longs++] = (struct option){ o->name,
			takes ? required_argument : no_argument, NULL, OPT_OPENSM + i };
		if (o->letter != '\0')
			n += (size_t)snprintf(l->letters + n, sizeof(l->letters) - n, "%c%s",
			    o->letter, takes ? ":" : "");
	}
}

/* A letter by its row, or as one of fmd's own. */
static int
option_of(int letter)
{
	const struct opensm_option *o;

	if (letter == 'F')
		return OPT_CONFIG;
	if (letter == 'o')
		return OPT_ONCE;
	if (letter == 'h')
		return OPT_HELP;
	for (int i = 0; (o = opensm_option((size_t)i)) != NULL; i++)
		if (o->letter == letter)
			return OPT_OPENSM + i;
	return letter;
}

enum fmd_exit
exit_code_of(const struct fm_error *err)
{
	switch (err->kind) {
	case FM_OK:
		return FMD_EXIT_OK;
	case FM_E_CONFIG:
		return FMD_EXIT_USAGE;
	case FM_E_TOPOLOGY:
		return FMD_EXIT_NOT_ROUTED;
	case FM_E_RESOURCE:
	case FM_E_SYSTEM:
	case FM_E_CANCELLED:
	case FM_E_BUG:
		return FMD_EXIT_SYSTEM;
	}
	return FMD_EXIT_SYSTEM;
}

/* ---------------------------------------------------------------- parsing */

/* What is collected on the way; handed to *cli at the end. */
struct collect {
	struct cli *cli;
	struct conf_override *overrides;   /* [argc] */
	struct conf_opensm_option *opensm; /* [argc] */
	const char **dirs;		   /* [argc + 1] */
	size_t n_dirs;
	struct fm_error *err;
};

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory");
}

static int
override(struct collect *c, const char *key, const char *const *items, size_t n_items)
{
	c->overrides[c->cli->source.n_overrides++] =
	    (struct conf_override){ .key = key, .items = items, .n_items = n_items };
	return 0;
}

static int
override_one(struct collect *c, const char *key, const char *value)
{
	const char **item = fm_arena_array(&c->cli->mem, 1, const char *);

	if (item == NULL)
		return out_of_memory(c->err);
	*item = value;
	return override(c, key, item, 1);
}

/* --engine=fattree,updn */
static int
override_chain(struct collect *c, const char *list)
{
	size_t n = 0, room = strlen(list) + 1;
	const char **items = fm_arena_array(&c->cli->mem, room, const char *);
	char *text = fm_arena_strdup(&c->cli->mem, list), *word;

	if (items == NULL || text == NULL)
		return out_of_memory(c->err);
	while ((word = strsep(&text, ",")) != NULL) {
		if (*word == '\0')
			return fm_fail(c->err, FM_E_CONFIG,
			    "--engine=%s: an empty name; write --engine=fattree,updn", list);
		items[n++] = word;
	}
	return override(c, "chain", items, n);
}

/* The value with 0x before it. */
static int
read_hex(const struct opensm_option *o, const char *said, const char *value, char out[24],
    struct fm_error *err)
{
	const char *digits = value + (strncasecmp(value, "0x", 2) == 0 ? 2 : 0);
	size_t n = strspn(digits, "0123456789abcdefABCDEF");

	if (n == 0 || n > 16 || digits[n] != '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "%s: %s %.40s is no hexadecimal number: write it as in 0x0002c903000abcd1",
		    said, o->key, value);
	if (o->letter == 'g' && digits[strspn(digits, "0")] == '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "%s: fmd does not ask: ibstat -p lists the ports' GUIDs, and without -g the "
		    "first active port is taken",
		    said);
	snprintf(out, 24, "0x%s", digits);
	return 0;
}

/* Said once more, -v is all messages. */
static const char *
value_of(const struct collect *c, const struct opensm_option *o)
{
	for (size_t i = 0; o->letter == 'v' && i < c->cli->source.n_opensm; i++)
		if (strcmp(c->opensm[i].said, "-v") == 0)
			return "0xff";
	return o->value;
}

static int
take_opensm(struct collect *c, const struct opensm_option *o, const char *value)
{
	char said[64], hex[24];
	struct conf_opensm_option *to = &c->opensm[c->cli->source.n_opensm];
	int rc;

	if (o->letter != '\0')
		snprintf(said, sizeof(said), "-%c", o->letter);
	else
		snprintf(said, sizeof(said), "--%s", o->name);
	if (o->number != NULL) {
		o = opensm_option_for(o, value);
		if (o->key == NULL)
			return fm_fail(c->err, FM_E_CONFIG, "%s %.40s: %s", said, value, o->value);
	}
	if (o->key == NULL)
		return fm_fail(
		    c->err, FM_E_CONFIG, "%s, --%s is OpenSM's: %s", said, o->name, o->value);
	if (o->is_hex && (rc = read_hex(o, said, value, hex, c->err)) != 0)
		return rc;
	to->said = fm_arena_strdup(&c->cli->mem, said);
	to->key = o->key;
	to->value = o->is_hex  ? fm_arena_strdup(&c->cli->mem, hex)
	    : o->value != NULL ? value_of(c, o)
			       : value;
	if (to->said == NULL || to->value == NULL)
		return out_of_memory(c->err);
	c->cli->source.n_opensm++;
	return 0;
}

/* That an option sets, whose value is a key's; or NULL. */
static const char *
key_of(int option)
{
	switch (option) {
	case OPT_TRANSPORT:
		return "transport";
	case OPT_PORT:
		return "port";
	case OPT_ISOLATION:
		return "engine_isolation";
	case OPT_STATE_DIR:
		return "state_dir";
	case OPT_NAMES:
		return "node_name_map";
	default:
		return NULL;
	}
}

static int
take_cli_option(struct collect *c, int option, const char *value)
{
	const char *key = key_of(option);
	struct cli *cli = c->cli;

	if (option >= OPT_OPENSM)
		return take_opensm(c, opensm_option((size_t)(option - OPT_OPENSM)), value);
	if (key != NULL)
		return override_one(c, key, value);
	switch (option) {
	case OPT_ENGINE:
		return override_chain(c, value);
	case OPT_CONFIG:
		cli->source.path = value;
		return 0;
	case OPT_PLUGIN_DIR:
		c->dirs[c->n_dirs++] = value;
		return 0;
	case OPT_DUMP:
		cli->dump_dir = value;
		return 0;
	case OPT_ONCE:
		cli->once = true;
		return 0;
	case OPT_DRY_RUN:
		cli->dry_run = true;
		return 0;
	case OPT_CHECK:
		cli->task = CLI_CHECK;
		return 0;
	case OPT_IMPORT:
	case OPT_IMPORT_OPAFM:
		cli->task = option == OPT_IMPORT ? CLI_IMPORT : CLI_IMPORT_OPAFM;
		cli->import = value;
		return 0;
	case OPT_GUID2LID:
		cli->task = CLI_GUID2LID;
		return 0;
	case OPT_LIST:
		cli->task = CLI_LIST_ENGINES;
		return 0;
	case OPT_JSON:
		cli->json = true;
		return 0;
	case OPT_SUMMARY:
		cli->summary = true;
		return 0;
	case OPT_HELP:
		cli->task = value != NULL ? CLI_HELP_ENGINE : CLI_HELP;
		cli->engine = value;
		return 0;
	case OPT_VERSION:
		cli->task = CLI_VERSION;
		return 0;
	}
	return fm_fail(c->err, FM_E_BUG, "option %d is not handled", option);
}

/* The long option that a misspelt one is nearest to, or NULL. */
static const char *
nearest_option(const struct option_lists *lists, const char *word)
{
	struct suggestion s;
	char name[64];

	word += strspn(word, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	suggest_init(&s, name);
	for (const struct option *o = lists->longs; o->name != NULL; o++)
		suggest_offer(&s, o->name);
	return strlen(name) > 1 ? suggest_best(&s) : NULL;
}

/* getopt's '?' or ':' in a sentence. */
static int
refuse(struct collect *c, const struct option_lists *lists, int what, const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	const char *near = nearest_option(lists, word), *name = word + strspn(word, "-");
	size_t n = strcspn(name, "=");

	if (what == ':')
		return fm_fail(c->err, FM_E_CONFIG, "%s needs a value: %s%sVALUE", word, word,
		    is_long ? "=" : " ");
	if (word[0] == '-' && word[1] != '-' && word[1] != '\0' && word[2] == '=')
		return fm_fail(c->err, FM_E_CONFIG,
		    "%s: behind a letter stands no '=': write %.2s %s", word, word, word + 3);
	if (near == NULL)
		return fm_fail(c->err, FM_E_CONFIG, "%s is no option of fmd; see fmd --help", word);
	if (strlen(near) == n && strncmp(near, name, n) == 0)
		return fm_fail(c->err, FM_E_CONFIG, "%s: --%s takes no value", word, near);
	return fm_fail(
	    c->err, FM_E_CONFIG, "%s is no option of fmd: did you mean --%s?", word, near);
}

static int
parse_all(struct collect *c, int argc, char *const argv[])
{
	struct option_lists lists;
	int option, rc;

	list_options(&lists);
	opterr = 0;
	optind = 0; /* glibc: begin anew, also its private state */
	/* OpenSM takes long options behind one dash, too */
	while ((option = getopt_long_only(argc, argv, lists.letters, lists.longs, NULL)) != -1) {
		if (option == '?' && strcmp(argv[optind - 1], "-?") == 0)
			option = 'h';
		if (option == '?' || option == ':')
			return refuse(c, &lists, option, argv[optind - 1]);
		if ((rc = take_cli_option(c, option_of(option), optarg)) != 0)
			return rc;
		if (c->cli->task == CLI_HELP)
			return 0;
	}
	if (optind < argc)
		return fm_fail(
		    c->err, FM_E_CONFIG, "unexpected argument %s; see fmd --help", argv[optind]);
	if (c->cli->json && c->cli->task != CLI_LIST_ENGINES && !c->cli->dry_run)
		return fm_fail(
		    c->err, FM_E_CONFIG, "--json goes with --list-engines and --dry-run");
	if (c->cli->summary && !c->cli->dry_run)
		return fm_fail(c->err, FM_E_CONFIG, "--summary goes with --dry-run");
	return 0;
}

int
cli_parse(int argc, char *const argv[], struct cli *cli, struct fm_error *err)
{
	struct collect c = { .cli = cli, .err = err };
	int rc;

	*cli = (struct cli){ .task = CLI_RUN };
	fm_arena_init(&cli->mem, SIZE_MAX);
	c.overrides = fm_arena_array(&cli->mem, (size_t)argc + 1, struct conf_override);
	c.opensm = fm_arena_array(&cli->mem, (size_t)argc + 1, struct conf_opensm_option);
	c.dirs = fm_arena_array(&cli->mem, (size_t)argc + 1, const char *);
	if (c.overrides == NULL || c.opensm == NULL || c.dirs == NULL)
		return out_of_memory(err);
	rc = parse_all(&c, argc, argv);
	cli->source.overrides = c.overrides;
	cli->source.opensm = c.opensm;
	cli->plugin_dirs = c.n_dirs > 0 ? c.dirs : NULL;
	return rc;
}

void
cli_fini(struct cli *cli)
{
	fm_arena_fini(&cli->mem);
}

/* ------------------------------------------------------------------ tasks */

/* Few with their reasons; many, as of a folder of other things, in one line. */
static void
say_refused(const struct engine_set *set)
{
	char names[160] = "";
	size_t n = 0;

	if (set->n_engines == 1) /* auto alone */
		log_warn("plugin",
		    "no engine is installed: the built-in up/down routes alone; they stand "
		    "in " PLUGIN_DIR ", or where --plugin-dir says");
	for (uint32_t i = 0; i < set->n_refused && set->n_refused <= REFUSED_SHOWN; i++)
		log_warn("plugin", "%s", set->refused[i].reason);
	if (set->n_refused <= REFUSED_SHOWN)
		return;
	for (uint32_t i = 0; i < set->n_refused && n < sizeof(names); i++) {
		const char *base = strrchr(set->refused[i].path, '/') + 1;

		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i > 0 ? " " : "", base);
	}
	log_warn("plugin",
	    "files that are refused as engines, fmd --list-engines has the reasons: "
	    "n=%u: %s%s",
	    set->n_refused, names, n < sizeof(names) ? "" : "...");
}

static int
load_engines(const struct cli *cli, int64_t load_ms, struct engine_set *set, struct fm_error *err)
{
	struct apart_settings apart;

	conf_peek_isolation(&cli->source, &apart);
	if (load_ms > 0)
		apart.load_ms = load_ms;
	return engine_set_load_apart(set, cli->plugin_dirs, &apart, err);
}

int
cli_load(const struct cli *cli, int64_t load_ms, struct mistakes *all, struct conf **conf,
    struct fm_error *err)
{
	struct engine_set set;
	int rc = load_engines(cli, load_ms, &set, err);

	if (rc != 0)
		return rc;
	say_refused(&set);
	rc = conf_load_all(&cli->source, &set, all, conf, err);
	engine_set_fini(&set);
	return rc;
}

void
cli_complain(const struct mistakes *all, const struct fm_error *err)
{
	for (size_t i = 0; i < all->n; i++)
		fprintf(stderr, "fmd: %s\n", all->sentence[i]);
	if (all->n_more > 0)
		fprintf(stderr, "fmd: and %zu more mistakes, which are not told\n", all->n_more);
	if (all->n == 0)
		fprintf(stderr, "fmd: %s\n", err->msg);
}

static int
check(const struct cli *cli, FILE *out, struct mistakes *all, struct fm_error *err)
{
	struct conf *conf;
	bool is_named;
	int rc = cli_load(cli, 0, all, &conf, err);

	if (rc != 0)
		return rc;
	conf_warn_of_host(conf);
	is_named = conf->routing.chain_text[strspn(conf->routing.chain_text, ", ")] != '\0';
	fprintf(out, "The configuration is good; the chain is %s%s%s.\n", conf->routing.chain_text,
	    is_named && conf->routing.fallback ? ", then " : "",
	    conf->routing.fallback ? "the built-in up/down" : "");
	for (uint32_t i = 1; i < conf->regions.set.n_regions; i++)
		fprintf(out, "Region %s has the chain %s.\n", conf->regions.set.region[i].name,
		    conf->regions.set.region[i].chain_text);
	if (conf->regions.set.n_regions > 1)
		fprintf(out,
		    "Whether regions overlap depends on the fabric: fmroute FABRIC --config=FILE "
		    "--regions shows them.\n");
	conf_put(conf);
	return 0;
}

static int
help_engine(const struct engine_set *set, const char *name, FILE *out, struct fm_error *err)
{
	const struct conf_section *section = conf_section_find(name);
	const struct fm_engine *e = engine_find(set, name);
	const char *near = engine_nearest(set, name);

	if (section != NULL) {
		describe_section(section, out);
		return 0;
	}

	for (uint32_t i = 0; e != NULL && i < set->n_engines; i++)
		if (set->engines[i].engine == e) {
			describe_engine(e, set->engines[i].path, out);
			return 0;
		}
	if (near != NULL)
		return fm_fail(err, FM_E_CONFIG, "no engine '%s': did you mean %s?", name, near);
	return fm_fail(
	    err, FM_E_CONFIG, "no engine '%s': fmd --list-engines shows what there is", name);
}

int
cli_load_vendors(const struct cli *cli, struct vendors **out, struct fm_error *err)
{
	struct apart_settings apart;

	conf_peek_isolation(&cli->source, &apart);
	return vendors_load(out, cli->plugin_dirs, &apart, err);
}

static int
list_engines(const struct cli *cli, const struct engine_set *set, FILE *out, struct fm_error *err)
{
	struct vendors *vendors = NULL;
	int rc = cli_load_vendors(cli, &vendors, err);

	if (rc == 0 && cli->json) {
		rc = describe_engines_json(set, vendors, out, err);
	} else if (rc == 0) {
		describe_engines(set, out);
		describe_programmers(vendors, out);
	}
	vendors_free(vendors);
	return rc;
}

static int
show_engines(const struct cli *cli, FILE *out, struct fm_error *err)
{
	struct engine_set set;
	int rc = load_engines(cli, 0, &set, err);

	if (rc != 0)
		return rc;
	if (cli->task == CLI_HELP_ENGINE)
		rc = help_engine(&set, cli->engine, out, err);
	else
		rc = list_engines(cli, &set, out, err);
	engine_set_fini(&set);
	return rc;
}

static int
import(const struct cli *cli, FILE *out, struct mistakes *all, struct fm_error *err)
{
	struct engine_set set;
	int rc = load_engines(cli, 0, &set, err);

	if (rc != 0)
		return rc;
	say_refused(&set);
	rc = cli->task == CLI_IMPORT ? conf_import_opensm(cli->import, &set, out, err)
				     : conf_import_opafm(cli->import, &set, out, all, err);
	engine_set_fini(&set);
	return rc;
}

/* What the store holds, also while another fmd has it open. */
static int
export_guid2lid(const struct cli *cli, FILE *out, struct mistakes *all, struct fm_error *err)
{
	const struct store_lid *lids;
	struct store *store = NULL;
	struct conf *conf;
	int rc = cli_load(cli, 0, all, &conf, err);

	if (rc != 0)
		return rc;
	rc = store_open_to_read(conf->daemon.state_dir, &store, err);
	if (rc == 0 && store_n_lids(store) == 0)
		rc = fm_fail(err, FM_E_SYSTEM,
		    "there are no LIDs in %s: --state-dir names another folder",
		    conf->daemon.state_dir);
	lids = rc == 0 ? store_lids(store) : NULL;
	for (uint32_t i = 0; rc == 0 && i < store_n_lids(store); i++)
		guid2lid_write(
		    &(struct guid2lid_entry){ lids[i].guid, lids[i].lid, lids[i].lmc }, out);
	store_close(store);
	conf_put(conf);
	return rc;
}

enum fmd_exit
cli_inform(const struct cli *cli, FILE *out)
{
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	int rc = 0;

	switch (cli->task) {
	case CLI_RUN:
		rc = fm_fail(&err, FM_E_BUG, "cli_inform() runs no daemon");
		break;
	case CLI_CHECK:
		rc = check(cli, out, &all, &err);
		break;
	case CLI_IMPORT:
	case CLI_IMPORT_OPAFM:
		rc = import(cli, out, &all, &err);
		break;
	case CLI_GUID2LID:
		rc = export_guid2lid(cli, out, &all, &err);
		break;
	case CLI_LIST_ENGINES:
	case CLI_HELP_ENGINE:
		rc = show_engines(cli, out, &err);
		break;
	case CLI_HELP:
		fputs(usage, out);
		fputs("\nKeys of the configuration file, with their defaults:\n\n", out);
		describe_daemon_options(out);
		break;
	case CLI_VERSION:
		fprintf(
		    out, "fmd %s, engine ABI %d.%d\n", PACKAGE_VERSION, FM_ABI_MAJOR, FM_ABI_MINOR);
		break;
	}
	if (rc != 0)
		cli_complain(&all, &err);
	mistakes_fini(&all);
	return rc == 0 ? FMD_EXIT_OK : exit_code_of(&err);
}
