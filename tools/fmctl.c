/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmctl COMMAND [WORD|KEY=VALUE]...: talk to a running fmd.
 *
 * The commands are the daemon's: fmctl sends the name and shows what comes back.  Two are answered
 * from the file of fmd-perf.
 */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/cli.h"
#include "core/ctl/ctl.h"
#include "core/opensm/opensm.h"
#include "core/text/json_text.h"
#include "core/text/standard.h"
#include "core/text/suggest.h"
#include "tools/fmctl.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))

const struct verb fmctl_verbs[] = {
	{ "status", "[PART] [--all]", "state of the subnet manager, the last sweep",
	    "  --all                every number there is\n"
	    "  PART                 one part of them: sweep, as_read, sa, traps, reports, ...\n",
	    { "part" }, false, "all", NULL, fmctl_show_status, NULL },
	{ "nodes", "[NAME] [--trouble]", "switches and hosts: LIDs, ports that are up, who routes",
	    "  NAME                 those of that name: a pattern as in fmd.conf, of the whole\n"
	    "                       description or its first word; or a GUID\n"
	    "  --trouble            those of which something is unfinished\n",
	    { "name" }, false, "trouble", "nodes", fmctl_show_nodes, NULL },
	{ "links", "[NAME] [--trouble] [--degraded]", "cables: both ends, state, width and speed",
	    "  NAME                 those with such a node at an end\n"
	    "  --trouble            those of which something is unfinished\n"
	    "  --degraded           those narrower or slower than both ends support\n",
	    { "name" }, false, "trouble degraded", "links", fmctl_show_links, NULL },
	{ "path", "[-G|-L] [--why] FROM TO",
	    "the way of packets, hop by hop: LIDs, GUIDs or names",
	    "  FROM, TO             a LID, a GUID or the name of a node; its first word will do\n"
	    "                       where no other's is the same\n"
	    "  -G, --guid           both are GUIDs\n"
	    "  -L, --lid            both are LIDs\n"
	    "      --why            at each hop the other cables that lead nearer, and why not by\n"
	    "                       these\n",
	    { "from", "to" }, false, "guid lid why", NULL, fmctl_show_path, fmctl_judge_path },
	{ "routes", "", "which engine routes what, and why others refused", NULL, { NULL }, false,
	    NULL, NULL, fmctl_show_routes, NULL },
	{ "regions", "", "what each region holds, its borders, who routes it", NULL, { NULL },
	    false, NULL, NULL, fmctl_show_regions, NULL },
	{ "partitions", "[P_KEY|NAME]", "who may talk to whom; the members of one",
	    "  P_KEY, NAME          show its members, and the ports that are named and not there\n",
	    { "pkey" }, true, NULL, NULL, fmctl_show_partitions, NULL },
	{ "vfabrics", "[NAME]", "virtual fabrics: P_Key, SL, share, limits, members",
	    "  NAME                 show its members, what their P_Key tables hold, and what its\n"
	    "                       lists name that is not there\n",
	    { "name" }, false, NULL, NULL, fmctl_show_vfabrics, NULL },
	{ "congestion", "", "which ports of switches have marked packets, as their logs say", NULL,
	    { NULL }, false, NULL, NULL, fmctl_show_congestion, NULL },
	{ "verify", "[--readback]", "the verdict on the routes, or on what switches hold",
	    "  --readback           read the tables of all switches and judge those\n"
	    "Exit code 3 where there is a loop, a pair without a path, a switch that does not\n"
	    "answer, or an entry that is not the plan's.\n",
	    { NULL }, false, "readback", NULL, fmctl_show_verdict, fmctl_judge_verdict },
	{ "trouble", "", "what is wrong in the fabric, where, since when", NULL, { NULL }, false,
	    NULL, NULL, fmctl_show_trouble, NULL },
	{ "health", "[--all]", "how cables are, by counters and by what fmd knows: the worst first",
	    "  --all                up to 1000 of those that are not ok; without it 20\n"
	    "SUSPECT is the port that sends what the other end receives badly, or the cable.\n",
	    { NULL }, false, "all", NULL, fmctl_show_health, NULL },
	{ "topo", "save|diff FILE [FABRIC] [--all]", "cabling to a file, and against it",
	    "  save FILE            the fabric as it is: as ibutils' topology file where the name\n"
	    "                       ends with .topo, else as ibnetdiscover prints it\n"
	    "  diff FILE            what is not as the file has it\n"
	    "  FABRIC               a file, too, that is taken in place of the running fmd's "
	    "fabric\n"
	    "  --all                all differences and notes; without it 20\n"
	    "Exit code 5 where something differs.  A cable that is moved or swapped is one line;\n"
	    "a node with another GUID or name in its place is a note, and no difference.\n",
	    { "part", "file", "fabric" }, false, "all", NULL, fmctl_show_topo, fmctl_judge_topo },
	{ "export", "slurm [--check=FILE]", "the fabric as SLURM's topology.conf",
	    "  --check=FILE         what of a topology.conf is not as the fabric is: which nodes "
	    "are\n"
	    "                       not at the switch where the others of their line are\n"
	    "Exit code 5 where something differs.\n",
	    { "part" }, false, NULL, NULL, fmctl_show_export, fmctl_judge_topo },
	{ "counters", "NODE[:PORT] [--history] [--file=PATH]", "what fmd-perf has counted at ports",
	    "  NODE                 a name as in nodes: the ports of those of that name\n"
	    "  NODE:PORT            that port, all its counters\n"
	    "  --history            how full its cable was at each of the last 360 readings\n"
	    "  --file=PATH          the file that fmd-perf keeps (counters, beside the socket)\n"
	    "Exit code 5 where one was not read, or the file is old, 1 where there is none.\n",
	    { "node" }, false, "history", NULL, fmctl_show_counters, fmctl_judge_counters },
	{ "top", "[load|wait|errors] [--all] [--file=PATH]",
	    "the fullest ports, as fmd-perf reads them",
	    "  load, wait, errors   the fullest (default), those that wait most, that err most\n"
	    "  --all                all ports; without it 20\n"
	    "  --file=PATH          as of counters\n"
	    "PLANNED is the number of routes that leave by the port. WAIT/S are ticks, which are\n"
	    "of another length at each kind of device.\n",
	    { "by" }, false, "all", NULL, fmctl_show_top, fmctl_judge_top },
	{ "events", "[--last=N] [--since=WHEN] [--kind=KIND,...] [--follow]",
	    "what happened lately",
	    "  --last=N             the last N (100)\n"
	    "  --since=WHEN         all since then: 45s, 30m, 2h, 3d; 2026-11-29T18:00:00Z, in\n"
	    "                       local time without Z; or the number of an event\n"
	    "  --kind=KIND,...      of these kinds, as man fmd-events lists them\n"
	    "  --follow             and those that come, till Ctrl-C\n"
	    "  after=N              only those behind event number N\n",
	    { NULL }, false, "follow", NULL, fmctl_show_events, NULL },
	{ "dist", "[status|peers|verify] ...", "where paths are published for hosts, and how far",
	    "  status               that (default)\n"
	    "  peers [RELAY,...]    the Redis servers below fmd's and their agents, and others at\n"
	    "                       unix:PATH or HOST:PORT; of this host only without --insecure\n"
	    "  --auth-file=FILE     a line \"USER PASSWORD\" for them\n"
	    "  --insecure           also beyond this host, in plain text\n"
	    "  verify               compare the paths that a host has with what the SA says\n"
	    "  --file=PATH          the file that its fmd-agent keeps (/run/fmd-agent/paths)\n"
	    "Exit code 5 where a place cannot be published to, or a peer is behind, 1 where one\n"
	    "cannot be asked, 3 where a path differs.\n",
	    { "part", "relays" }, false, "insecure", NULL, fmctl_show_dist, fmctl_judge_dist },
	{ "ha", "", "who is master, and who has a copy of what outlives it", NULL, { NULL }, false,
	    NULL, NULL, fmctl_show_ha, NULL },
	{ "sweep", "[light|heavy] [--wait] [--tables]", "sweep now",
	    "  light, heavy         ask whether something has changed; read everything (default)\n"
	    "  --wait               until it has ended; the exit code says how\n"
	    "  --tables             read back what all switches and hosts hold of what fmd has\n"
	    "                       written, and write again what is something else; waits for "
	    "it\n",
	    { "scope" }, false, "wait tables", NULL, fmctl_show_swept, fmctl_judge_swept },
	{ "drain", "[--dry-run]", "take up tables that wait for entries to be emptied",
	    "  --dry-run            only tell which\n", { NULL }, false, "dry-run", NULL, NULL,
	    NULL },
	{ "isolate", "[WHAT] [--yes] [--force] [--wait]",
	    "take cables out of routing; without WHAT: those that are",
	    "  WHAT                 switch:NAME, all its cables to switches, or link:NAME:PORT,\n"
	    "                       the cable at a port of a switch; NAME may be a node GUID; or\n"
	    "                       several switches at once: 'leaf-3*', @GROUP, system:GUID\n"
	    "  --yes                do it; without it what it would do is told\n"
	    "  --force              even where hosts are cut off\n"
	    "  --wait               until no route leads over them; the exit code says how it "
	    "ended\n",
	    { "what" }, false, "yes force wait", NULL, fmctl_show_isolated, NULL },
	{ "restore", "WHAT [--yes] [--wait]", "take isolated cables into routing again",
	    "  WHAT                 as it was isolated, or several at once\n"
	    "  --yes                do it; without it what it would do is told\n"
	    "  --wait               until routes lead over them; the exit code says how it ended\n",
	    { "what" }, false, "yes wait", NULL, fmctl_show_isolated, NULL },
	{ "handover", "[NODE|GUID]", "hand the subnet over to a standby, and wait for it",
	    "  NODE, GUID           the standby, by the name of its node or a GUID; without it "
	    "the\n"
	    "                       best of those that have our sm_key\n"
	    "Exit code 2 with the reason where it is refused, 1 where it failed: fmd rules on.\n",
	    { "to" }, false, NULL, NULL, fmctl_show_handover, NULL },
	{ "reload", "[--yes] [--wait]", "read the configuration again",
	    "  --yes                LIDs that are in use may move, as a larger lmc makes them, "
	    "and\n"
	    "                       it is taken though no engine of its chain can route the "
	    "fabric\n"
	    "  --wait               until it is in force and the subnet has converged; the exit\n"
	    "                       code says how it ended\n"
	    "Exit code 2 with what is wrong where it is refused: the old configuration stays.\n",
	    { NULL }, false, "yes wait", NULL, fmctl_show_reload, fmctl_judge_reload },
	{ "paths", "[LID]", "for programs: what the SA says of paths, or the ports",
	    "  LID                  paths from that LID to all others; without it the ports\n"
	    "  from=N               the next page: what \"next\" was\n",
	    { "lid" }, true, NULL, NULL, NULL, NULL },
	{ "fabric", "", "for programs: all nodes, cables and groups in one answer",
	    "  generation=G         what the answer before had: the same only says so\n", { NULL },
	    false, NULL, NULL, NULL, NULL },
	{ "crossing", "", "for programs: whose routes cross ports of switches",
	    "  ports=GUID:PORT,...  of those, 32 at most; ask again while the state is counting\n",
	    { NULL }, false, NULL, NULL, NULL, NULL },
	{ "report", "", "for fmd-perf: how cables are", NULL, { NULL }, false, NULL, NULL, NULL,
	    NULL },
	{ "progress", "", "for scripts: which sweep runs, how the last one ended",
	    "  generation=1         and the generation of fabric\n", { NULL }, false, NULL, NULL,
	    NULL, NULL },
	{ "help", "", "all commands of this daemon", NULL, { NULL }, false, NULL, NULL,
	    fmctl_show_commands, NULL },
	{ 0 },
};

static const char head[] = "usage: fmctl [OPTION]... COMMAND [WORD|KEY=VALUE]...\n"
			   "Talk to a running fmd.\n\n";
static const char tail[] =
    "\n  COMMAND -h           what the command takes\n"
    "  --json               print the answer as JSON\n"
    "  --socket=PATH        control socket (" RUN_DIR "/fmd.sock)\n"
    "  --state-dir=DIR      that of an fmd started with --state-dir: DIR/fmd.sock\n"
    "  --timeout=SECONDS    wait so long for the answer (30), or with --wait (for ever)\n"
    "  -h, --help           this text; -V, --version\n\n"
    "Exit codes: 0 ok, 1 nobody answers, or not in full, or the sweep failed, 2 usage or\n"
    "refused, 3 not routed, or not as the plan says, 4 another SM is master, 5 the subnet is\n"
    "up, but not all is as it should be.\n";

static void
show_usage(void)
{
	fputs(head, stdout);
	for (const struct verb *v = fmctl_verbs; v->name != NULL; v++) {
		char both[64];

		snprintf(both, sizeof(both), "%s %s", v->name, v->synopsis);
		if (strlen(both) > 20)
			printf("  %s\n  %-20s %s\n", both, "", v->help);
		else
			printf("  %-20s %s\n", both, v->help);
	}
	fputs(tail, stdout);
}

static void
show_verb(const struct verb *v)
{
	printf("usage: fmctl [OPTION]... %s%s%s\n%s.\n", v->name, *v->synopsis != '\0' ? " " : "",
	    v->synopsis, v->help);
	if (v->more != NULL)
		printf("\n%s", v->more);
	puts("\nfmctl --help has the options of all commands, fmctl(8) the keys of --json.");
}

/* -------------------------------------------------------------- arguments */

static const struct verb *
find_verb(const char *name)
{
	for (const struct verb *v = fmctl_verbs; v->name != NULL; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

/* NULL: all that the command takes without KEY= is said. */
static const char *
next_word(const struct ask *a)
{
	for (size_t i = 0; a->verb != NULL && i < N_OF(a->verb->words); i++) {
		const char *key = a->verb->words[i];

		if (key != NULL && json_object_get(a->args, key) == NULL &&
		    (strcmp(key, "part") != 0 || a->part == NULL))
			return key;
	}
	return NULL;
}

static int
put_argument(struct ask *a, const char *key, json_t *value, const char *word, struct fm_error *err)
{
	if (json_object_set_new(a->args, key, value) != 0)
		return fm_fail(err, FM_E_CONFIG, "%.100s is no UTF-8 text", word);
	return 0;
}

static json_t *
number_or_word(const char *text)
{
	char *end;
	json_int_t number = strtoll(text, &end, 0);

	return end != text && *end == '\0' ? json_integer(number) : json_string(text);
}

/* A word that is not taken: what would be. */
static int
refuse_word(const struct ask *a, const char *word, struct fm_error *err)
{
	struct suggestion s;

	if (a->verb != NULL && *a->verb->synopsis != '\0')
		return fm_fail(err, FM_E_CONFIG, "unexpected argument %.60s: %s takes %s", word,
		    a->command, a->verb->synopsis);
	if (a->verb != NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "unexpected argument %.60s: %s takes none", word, a->command);
	suggest_init(&s, a->command);
	for (const struct verb *v = fmctl_verbs; v->name != NULL; v++)
		suggest_offer(&s, v->name);
	if (suggest_best(&s) != NULL)
		return fm_fail(err, FM_E_CONFIG, "there is no command %.60s: did you mean %s?",
		    a->command, suggest_best(&s));
	return fm_fail(err, FM_E_CONFIG,
	    "unexpected argument %.60s: fmctl knows no command %.60s, so write KEY=VALUE", word,
	    a->command);
}

/* "after=12" is {"after":12}, "light" of sweep {"scope":"light"}. */
static int
add_word(struct ask *a, const char *word, struct fm_error *err)
{
	const char *equals = strchr(word, '='), *name;
	char key[64];

	if (equals == NULL && (name = next_word(a)) != NULL) {
		if (strcmp(name, "part") != 0)
			return put_argument(a, name,
			    a->verb->numbers ? number_or_word(word) : json_string(word), word, err);
		a->part = word;
		return 0;
	}
	if (equals == NULL || equals == word || (size_t)(equals - word) >= sizeof(key))
		return refuse_word(a, word, err);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	return put_argument(a, key, number_or_word(equals + 1), word, err);
}

static int
take_timeout(struct ask *a, const char *text, struct fm_error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < 1 || n > 86400)
		return fm_fail(err, FM_E_CONFIG, "--timeout=%s: write 1..86400 seconds", text);
	a->timeout_s = (unsigned)n;
	return 0;
}

enum {
	OPT_JSON = 256,
	OPT_SOCKET,
	OPT_STATE_DIR,
	OPT_TIMEOUT,
	OPT_FILE,
	OPT_AUTH_FILE,
	OPT_CHECK,
	OPT_LAST,
	OPT_SINCE,
	OPT_KIND,
	OPT_FLAGS
};
static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "file", required_argument, NULL, OPT_FILE },
	{ "auth-file", required_argument, NULL, OPT_AUTH_FILE },
	{ "check", required_argument, NULL, OPT_CHECK },
	{ "last", required_argument, NULL, OPT_LAST },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "kind", required_argument, NULL, OPT_KIND },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
#define FIRST_FLAG \
	12 /* of single commands; all, wait, follow and history are ours, others the daemon's */
	{ "all", no_argument, NULL, OPT_FLAGS },
	{ "trouble", no_argument, NULL, OPT_FLAGS + 1 },
	{ "degraded", no_argument, NULL, OPT_FLAGS + 2 },
	{ "readback", no_argument, NULL, OPT_FLAGS + 3 },
	{ "dry-run", no_argument, NULL, OPT_FLAGS + 4 },
	{ "wait", no_argument, NULL, OPT_FLAGS + 5 },
	{ "yes", no_argument, NULL, OPT_FLAGS + 6 },
	{ "force", no_argument, NULL, OPT_FLAGS + 7 },
	{ "insecure", no_argument, NULL, OPT_FLAGS + 8 },
	{ "tables", no_argument, NULL, OPT_FLAGS + 9 },
	{ "follow", no_argument, NULL, OPT_FLAGS + 10 },
	{ "history", no_argument, NULL, OPT_FLAGS + 11 },
	{ "why", no_argument, NULL, OPT_FLAGS + 12 },
	{ "guid", no_argument, NULL, 'G' },
	{ "lid", no_argument, NULL, 'L' },
	{ 0 },
};

static int
take_last(struct ask *a, const char *text, struct fm_error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < 1 || n > 1000)
		return fm_fail(
		    err, FM_E_CONFIG, "--last=%.40s: write 1..1000, how many events", text);
	a->last = (unsigned)n;
	return json_object_set_new(a->args, "last", json_integer((json_int_t)n));
}

/* What is no option, or one that lacks its value or takes none. */
static int
refuse_option(const char *word, struct fm_error *err)
{
	const char *given = strncmp(word, "--", 2) == 0 ? word + 2 : "";
	struct suggestion s;
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	suggest_init(&s, name);
	for (const struct option *o = long_options; name[0] != '\0' && o->name != NULL; o++)
		suggest_offer(&s, o->name);
	if (suggest_best(&s) == NULL)
		return fm_fail(err, FM_E_CONFIG, "%.60s is no option of fmctl; see --help", word);
	if (strcmp(suggest_best(&s), name) == 0)
		return fm_fail(err, FM_E_CONFIG, "--%s %s; see --help", name,
		    strchr(given, '=') != NULL ? "takes no value" : "lacks its value");
	return fm_fail(err, FM_E_CONFIG, "%.60s is no option of fmctl: did you mean --%s?", word,
	    suggest_best(&s));
}

static bool
is_flag(int option, unsigned *given)
{
	for (unsigned i = FIRST_FLAG; long_options[i].name != NULL; i++)
		if (long_options[i].val == option) {
			*given |= 1u << i;
			return true;
		}
	return false;
}

/* 0, a kind, or 1 when all is said (--version). */
static int
take_option(struct ask *a, int option, unsigned *given, const char *word, struct fm_error *err)
{
	switch (option) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_SOCKET:
		a->socket = optarg;
		return 0;
	case OPT_STATE_DIR:
		a->socket = a->path;
		return (size_t)snprintf(a->path, sizeof(a->path), "%s/fmd.sock", optarg) <
			sizeof(a->path)
		    ? 0
		    : fm_fail(
			  err, FM_E_CONFIG, "--state-dir=%.40s...: the path is too long", optarg);
	case OPT_TIMEOUT:
		return take_timeout(a, optarg, err);
	case OPT_FILE:
		a->file = optarg;
		return 0;
	case OPT_CHECK:
		a->check = optarg;
		return 0;
	case OPT_AUTH_FILE:
		a->auth_file = optarg;
		return 0;
	case OPT_LAST:
		return take_last(a, optarg, err);
	case OPT_SINCE:
	case OPT_KIND:
		a->filters = true;
		return json_object_set_new(
		    a->args, option == OPT_SINCE ? "since" : "kind", json_text(optarg));
	case 'h':
		a->help = true;
		return 0;
	case 'V':
		puts("fmctl " PACKAGE_VERSION);
		return 1;
	default:
		return is_flag(option, given) ? 0 : refuse_option(word, err);
	}
}

/* Is it one of the words, with a blank between? */
static bool
takes_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words != '\0' && (strncmp(words, word, len) != 0 || strcspn(words, " ") != len)) {
		words += strcspn(words, " ");
		words += strspn(words, " ");
	}
	return *words != '\0';
}

/* A flag to the command that takes it. */
static int
give_flag(struct ask *a, const char *flag, struct fm_error *err)
{
	const struct {
		const char *flag;
		bool *is_given;
	} ours[] = { { "all", &a->all }, { "wait", &a->wait }, { "follow", &a->follow },
		{ "history", &a->history } };
	const char *taken = a->verb != NULL && a->verb->flags != NULL ? a->verb->flags : "";
	char key[32];

	if (!takes_word(taken, flag))
		return fm_fail(err, FM_E_CONFIG, "%s takes no --%s: fmctl %s -h", a->command, flag,
		    a->command);
	for (size_t i = 0; i < N_OF(ours); i++)
		if (strcmp(flag, ours[i].flag) == 0) {
			*ours[i].is_given = true;
			return 0;
		}
	snprintf(key, sizeof(key), "%s", flag);
	for (char *c = key; *c != '\0'; c++)
		*c = *c == '-' ? '_' : *c;
	return json_object_set_new(a->args, key, json_true());
}

/* Who is used to OpenSM's console is told what to write. */
static int
refuse_opensm(const struct ask *a, const char *word, struct fm_error *err)
{
	const struct opensm_command *o = opensm_command_find(a->command, word);

	if (o == NULL)
		return 0;
	return fm_fail(err, FM_E_CONFIG, "%s%s%s is of OpenSM's console: here it is %s", o->name,
	    o->word != NULL ? " " : "", o->word != NULL ? o->word : "", o->here);
}

/* Options with values to the command that takes them. */
static int
check_values(const struct ask *a, struct fm_error *err)
{
	const struct {
		const char *command, *option; /* of these commands */
		bool is_given;
	} of[] = { { "dist counters top", "file", a->file != NULL },
		{ "export", "check", a->check != NULL },
		{ "dist", "auth-file", a->auth_file != NULL }, { "events", "last", a->last > 0 },
		{ "events", "since or --kind", a->filters } };

	for (size_t i = 0; i < N_OF(of); i++)
		if (of[i].is_given && !takes_word(of[i].command, a->command))
			return fm_fail(err, FM_E_CONFIG, "%s takes no --%s: fmctl %s -h",
			    a->command, of[i].option, a->command);
	return 0;
}

static int
parse(struct ask *a, int argc, char *const argv[], struct fm_error *err)
{
	unsigned given = 0;
	int option, rc = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hVGL", long_options, NULL)) != -1)
		if ((rc = take_option(a, option, &given, argv[optind - 1], err)) != 0)
			return rc;
	if (optind < argc) {
		a->command = argv[optind];
		a->verb = find_verb(a->command);
	}
	if (a->help)
		return 0;
	if (a->command == NULL)
		return fm_fail(err, FM_E_CONFIG, "no command: fmctl --help lists them");
	if (refuse_opensm(a, argv[optind + 1], err) != 0)
		return (int)err->kind;
	if (check_values(a, err) != 0)
		return (int)err->kind;
	for (unsigned i = FIRST_FLAG; rc == 0 && long_options[i].name != NULL; i++)
		if (given & 1u << i)
			rc = give_flag(a, long_options[i].name, err);
	for (int i = optind + 1; rc == 0 && i < argc; i++)
		rc = add_word(a, argv[i], err);
	return rc;
}

static void
show_help(const struct ask *a)
{
	if (a->verb != NULL)
		show_verb(a->verb);
	else
		show_usage();
}

/* ------------------------------------------------------------------- main */

/* A name was asked for, and there is nothing of it. */
static bool
names_nobody(const struct ask *a, const json_t *result)
{
	return a->verb != NULL && a->verb->pages != NULL &&
	    json_is_string(json_object_get(a->args, "name")) &&
	    json_object_get(a->args, "trouble") == NULL &&
	    json_object_get(a->args, "degraded") == NULL &&
	    json_array_size(json_object_get(result, a->verb->pages)) == 0;
}

/* The exit code of an answer; it may take the place of *result. */
static int
conclude(const struct ask *a, json_t **result, int *code, struct fm_error *err)
{
	json_t *begun = *result;
	int rc;

	if (a->verb != NULL && a->verb->judge != NULL)
		*code = a->verb->judge(begun);
	if (names_nobody(a, begun))
		return fm_fail(err, FM_E_SYSTEM, "there is no node of the name or GUID %.60s",
		    json_string_value(json_object_get(a->args, "name")));
	if (json_object_get(begun, "turn") != NULL) {
		*result = NULL;
		rc = fmctl_wait_tables(a, begun, code, result, err);
		json_decref(begun);
		return rc;
	}
	if (json_object_get(begun, "handover") != NULL) {
		*result = NULL;
		rc = fmctl_wait_handover(a, begun, code, result, err);
		json_decref(begun);
		return rc;
	}
	if (!a->wait || *code != FMD_EXIT_OK || json_object_get(begun, "sweep") == NULL ||
	    json_is_false(json_object_get(begun, "asked_for")))
		return 0;
	*result = NULL;
	rc = fmctl_wait(a, begun, code, result, err);
	json_decref(begun);
	return rc;
}

static void
show(const struct ask *a, const json_t *result)
{
	if (a->json) {
		json_dumpf(result, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
		putchar('\n');
	} else if (a->verb != NULL && a->verb->show != NULL) {
		a->verb->show(a, result, stdout);
	} else {
		fmctl_print(result, stdout);
	}
}

int
main(int argc, char *argv[])
{
	struct ask a = { .socket = RUN_DIR "/fmd.sock", .args = json_object() };
	struct fm_error err = { 0 };
	json_t *result = NULL;
	int rc, code = FMD_EXIT_OK;

	fm_standard_claim();
	rc = parse(&a, argc, argv, &err);
	if (rc == 0 && a.help)
		show_help(&a);
	else if (rc == 0 && (rc = fmctl_call(&a, &result, &err)) == 0 &&
	    (rc = conclude(&a, &result, &code, &err)) == 0) {
		if (a.follow)
			rc = fmctl_follow(&a, result, &err);
		else
			show(&a, result);
	}
	json_decref(result);
	json_decref(a.args);
	if (rc >= 0 && fm_standard_flush(&err) != 0)
		rc = (int)err.kind;
	if (rc >= 0)
		return code;
	fprintf(stderr, "fmctl: %s\n", err.msg);
	return exit_code_of(&err);
}
