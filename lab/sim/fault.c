/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timed faults.  A script has one a line, "#" begins a comment:
 *
 *	at 5ms   unlink   S1[3]            the cable of port 3 is pulled
 *	at 9ms   relink   S1[3]
 *	at 5ms   flap     S1[3] for 100us  unlink, relink
 *	at 1s    reboot   "leaf 7" for 2s  all it knew is gone, links go down
 *	at 1s    silence  S1               its agent stops answering
 *	at 2s    wake     S1
 *	at 2s    describe H4 "new name"    NodeDescription, with trap 144
 *	at 3s    loss     10%              from now on
 *	at 3s    error    S1[3] 10%        of the packets for this port
 *	at 4s    clear    S1[3]            its cable is taken away for good
 *	at 4s    link     S1[3] S2[1]      a cable between ports
 *	at 5s    guid     H4 0x1234        another node GUID
 *	at 5s    guid     H4[1] 0x1235     another port GUID
 *	at 5s    ports    H4 36            it says that it has so many ports
 *	at 5s    lid      H4[1] 77         another LID (BaseLid of ibsim)
 *	at 6s    trap     S1[3] 129        129, 130, 131, 145 (a new system GUID)
 *	at 7s    traffic  H1 H4 1000000    bytes along the LFTs, for the counters
 *	at 8s    rate     S1[3] 1xSDR      the link comes up anew, and no better than this
 *	at 9s    count    S1[3] PortXmitDiscards +5      a counter: 5 more; 5: that
 *	at 9s    count    S1 all 0         all ports: as if somebody had cleared them
 *	at 9s    flow     H1 H4 2G         bytes a second from now on (flow.c); 0: no more
 *	at 9s    pma      S1 narrow delay 5ms    how its agent of counters is; plain: as most
 *	at 9s    congestion S1 blocks=1    what its agents of congestion control are like
 *
 * Times count from the start of the simulation; nodes are named by the file's
 * names or by GUID, in quotes where they hold blanks, brackets or "#".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "lab/sim/net.h"
#include "lab/sim/spec.h"
#include "lib/error.h"
#include "lib/log.h"

#define FLAP_NS INT64_C(1000000)
#define REBOOT_NS INT64_C(100000000)
#define MAX_WORDS 16
#define FLOW_MOST UINT64_C(1000000000000)
#define TICK_NS_MOST 1000000000
#define PMA_TRAITS \
	"plain|narrow|noietf|errors64|nowait|nofec|rsfec|silent|delay TIME|tick TIME|redirect " \
	"NODE"

static const struct verb {
	const char *name;
	enum sim_action_kind kind;
	/* operands: n node, p port, q either, P another port, N another node,
	 * t text, s share, u number, r width and speed, c counter, a number or +number,
	 * b bytes a second, T traits of a PMA, C a word on an agent of congestion control */
	const char *operands;
	int64_t for_ns; /* by default; 0 = the verb has no "for" */
	const char *right;
} verbs[] = {
	{ "unlink", ACTION_UNLINK, "p", 0, "unlink NODE[PORT]" },
	{ "relink", ACTION_RELINK, "p", 0, "relink NODE[PORT]" },
	{ "clear", ACTION_CLEAR, "p", 0, "clear NODE[PORT]" },
	{ "link", ACTION_LINK, "pP", 0, "link NODE[PORT] NODE[PORT]" },
	{ "flap", ACTION_FLAP, "p", FLAP_NS, "flap NODE[PORT] [for TIME]" },
	{ "reboot", ACTION_REBOOT, "n", REBOOT_NS, "reboot NODE [for TIME]" },
	{ "silence", ACTION_SILENCE, "n", 0, "silence NODE" },
	{ "wake", ACTION_WAKE, "n", 0, "wake NODE" },
	{ "refuse", ACTION_REFUSE, "n", 0, "refuse NODE" },
	{ "obey", ACTION_OBEY, "n", 0, "obey NODE" },
	{ "describe", ACTION_DESCRIBE, "nt", 0, "describe NODE \"TEXT\"" },
	{ "loss", ACTION_LOSS, "s", 0, "loss 10%" },
	{ "error", ACTION_ERROR, "ps", 0, "error NODE[PORT] 10%" },
	{ "guid", ACTION_GUID, "qu", 0, "guid NODE[PORT] GUID" },
	{ "ports", ACTION_PORTS, "nu", 0, "ports NODE NUMBER" },
	{ "lid", ACTION_LID, "qu", 0, "lid NODE[PORT] LID" },
	{ "baselid", ACTION_LID, "qu", 0, "lid NODE[PORT] LID" },
	{ "trap", ACTION_TRAP, "qu", 0, "trap NODE[PORT] 129|130|131|145" },
	{ "traffic", ACTION_TRAFFIC, "nNu", 0, "traffic NODE NODE BYTES" },
	{ "rate", ACTION_RATE, "pr", FLAP_NS, "rate NODE[PORT] 4xEDR [for TIME]" },
	{ "count", ACTION_COUNT, "qca", 0, "count NODE[PORT] COUNTER|all NUMBER|+NUMBER" },
	{ "flow", ACTION_FLOW, "nNb", 0, "flow NODE NODE BYTES[k|M|G] (a second; 0 ends it)" },
	{ "pma", ACTION_PMA, "nT", 0, "pma NODE " PMA_TRAITS },
	{ "congestion", ACTION_CONGESTION, "nC", 0, "congestion NODE " CCA_WORDS },
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))
#define TRAFFIC_MTU 256

bool
read_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return end != text && *end == '\0' && text[0] != '-' && errno == 0 && *value <= max;
}

bool
read_share(const char *text, double *share)
{
	char *end;

	*share = strtod(text, &end);
	if (end == text)
		return false;
	if (*end == '%') {
		*share /= 100;
		end++;
	}
	return *end == '\0' && *share >= 0 && *share <= 1;
}

bool
read_time(const char *text, int64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0 && value < 1e9))
		return false;
	*ns = 0;
	if (value == 0 && *end == '\0')
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0) {
			*ns = (int64_t)(value * units[i].ns);
			return true;
		}
	return false;
}

static uint32_t
index_of(const struct sim *s, struct sim_place at)
{
	return s->fabric.nodes[at.node].first_port + at.port;
}

/* Where a node sends and is found: port 0 of a switch, port 1 of others. */
static struct sim_place
home(const struct sim *s, struct sim_place at)
{
	at.port = s->fabric.nodes[at.node].type == WIRE_NODE_SWITCH ? 0 : 1;
	return at;
}

static void
raise_trap(struct sim *s, const struct sim_action *a)
{
	switch (a->value) {
	case 129:
		notice_port(&s->fabric, a->at, SIM_TRAP_INTEGRITY);
		break;
	case 130:
		notice_port(&s->fabric, a->at, SIM_TRAP_OVERRUN);
		break;
	case 131:
		notice_port(&s->fabric, a->at, SIM_TRAP_WATCHDOG);
		break;
	case 145:
		notice_system_guid(&s->fabric, a->at.node, s->fabric.nodes[a->at.node].guid + 1);
		break;
	default: /* refused when it was read */
		break;
	}
}

static void
set_errors(struct sim *s, const struct sim_action *a)
{
	s->fabric.ports[index_of(s, a->at)].error_share = (float)a->loss;
	s->n_bad_ports++;
}

static void
carry(struct sim *s, const struct sim_action *a)
{
	sim_carry(
	    s, home(s, a->at), place_lid(&s->fabric, home(s, a->other)), a->value, TRAFFIC_MTU);
}

static void
set_counter(uint64_t *counters, const struct sim_action *a)
{
	for (unsigned i = 0; i < SIM_COUNTERS; i++) {
		if (a->counter != i && a->counter != SIM_COUNTERS)
			continue;
		counters[i] = a->adds ? counters[i] : 0;
		pma_add(&counters[i], a->value);
	}
}

/* Of a port, or of all of a node. */
static void
set_counters(struct sim *s, const struct sim_action *a)
{
	const struct sim_node *n = &s->fabric.nodes[a->at.node];

	for (unsigned p = 0; p <= n->n_ports; p++)
		if (!a->has_port || a->at.port == p)
			set_counter(s->fabric.counters[n->first_port + p], a);
}

static void
set_flow(struct sim *s, const struct sim_action *a)
{
	struct fm_error err;

	if (flow_set(s, a->at.node, a->other.node, a->value, &err) != 0)
		log_err("sim", "%s", err.msg);
}

static void
set_guid(struct sim *s, const struct sim_action *a)
{
	if (a->has_port)
		sim_set_port_guid(s, a->at.node, a->at.port, a->value);
	else
		sim_set_guid(s, a->at.node, a->value);
}

static void
set_lid(struct sim *s, const struct sim_action *a)
{
	sim_set_lid(
	    s, a->at.node, a->has_port ? a->at.port : home(s, a->at).port, (uint16_t)a->value);
}

static void
set_cable(struct sim *s, const struct sim_action *a)
{
	fabric_cable(&s->fabric, index_of(s, a->at),
	    a->kind == ACTION_LINK ? index_of(s, a->other) : SIM_NONE);
}

/* All agents of a node. */
static void
set_congestion(struct sim *s, const struct sim_action *a)
{
	const struct sim_node *n = &s->fabric.nodes[a->at.node];

	for (unsigned p = 0; p < (n->type == WIRE_NODE_SWITCH ? 1u : n->n_ports); p++)
		cca_say(&n->cca[p], a->text);
}

/* Counters, what fills them, and who tells of them: up to now all is as it was; other agents. */
static void
do_agents(struct sim *s, const struct sim_action *a)
{
	flows_count(s);
	if (a->kind == ACTION_COUNT)
		set_counters(s, a);
	else if (a->kind == ACTION_FLOW)
		set_flow(s, a);
	else if (a->kind == ACTION_CONGESTION)
		set_congestion(s, a);
	else
		*s->fabric.nodes[a->at.node].pma = a->pma;
}

void
action_do(struct sim *s, const struct sim_action *a)
{
	switch (a->kind) {
	case ACTION_UNLINK:
		sim_unlink(s, a->at.node, a->at.port);
		break;
	case ACTION_RELINK:
		sim_relink(s, a->at.node, a->at.port);
		break;
	case ACTION_FLAP:
		sim_flap(s, a->at.node, a->at.port, a->for_ns);
		break;
	case ACTION_REBOOT:
		sim_reboot(s, a->at.node, a->for_ns);
		break;
	case ACTION_SILENCE:
	case ACTION_WAKE:
		sim_silence(s, a->at.node, a->kind == ACTION_SILENCE);
		break;
	case ACTION_REFUSE:
	case ACTION_OBEY:
		s->fabric.nodes[a->at.node].refuses = a->kind == ACTION_REFUSE;
		break;
	case ACTION_DESCRIBE:
		sim_describe(s, a->at.node, a->text);
		break;
	case ACTION_LOSS:
		sim_set_loss(s, a->loss);
		break;
	case ACTION_CLEAR:
	case ACTION_LINK:
		set_cable(s, a);
		break;
	case ACTION_ERROR:
		set_errors(s, a);
		break;
	case ACTION_GUID:
		set_guid(s, a);
		break;
	case ACTION_PORTS:
		sim_claim_ports(s, a->at.node, (uint8_t)a->value);
		break;
	case ACTION_LID:
		set_lid(s, a);
		break;
	case ACTION_TRAP:
		raise_trap(s, a);
		break;
	case ACTION_TRAFFIC:
		carry(s, a);
		break;
	case ACTION_RATE:
		fabric_set_rate(&s->fabric, index_of(s, a->at), a->rate);
		sim_flap(s, a->at.node, a->at.port, a->for_ns);
		break;
	case ACTION_COUNT:
	case ACTION_FLOW:
	case ACTION_PMA:
	case ACTION_CONGESTION:
		do_agents(s, a);
		break;
	}
}

/* A line's words.  "[3]" after a name is a word of its own, begun by '['. */
struct line {
	const char *file;
	unsigned number;
	bool now; /* it says no time */
	char *word[MAX_WORDS];
	unsigned n;
};

static bool
is_end(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == '\r' || c == '#' || c == '[';
}

/* The end of the word at p: a quoted one, a bracketed one, a plain one; NULL
 * where a quote or bracket stays open.  *at: where its text begins. */
static char *
end_of_word(char *p, char **at)
{
	char *end;

	*at = p;
	if (*p == '"') {
		*at = p + 1;
		return strchr(p + 1, '"');
	}
	if (*p == '[')
		return strchr(p, ']');
	for (end = p; !is_end(*end);)
		end++;
	return end;
}

/* Split in place.  The end of a word may be the start of the next, so ends
 * are written only when the next has been looked at. */
static bool
split(struct line *l, char *p)
{
	char *ends[MAX_WORDS];

	for (l->n = 0;;) {
		p += strspn(p, " \t\r");
		if (*p == '\0' || *p == '#')
			break;
		if (l->n == MAX_WORDS)
			return false;
		ends[l->n] = end_of_word(p, &l->word[l->n]);
		if (ends[l->n] == NULL)
			return false;
		p = ends[l->n];
		if (*p == '"' || *p == ']')
			p++;
		l->n++;
	}
	for (unsigned i = 0; i < l->n; i++)
		if (*ends[i] != '[') /* that is the mark of the word that follows */
			*ends[i] = '\0';
	return true;
}

static int
bad(const struct line *l, const char *what, const char *right, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "%s:%u: %s; right would be: %s%s", l->file, l->number,
	    what, l->now ? "" : "at TIME ", right);
}

static const struct verb *
find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcasecmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* The node, and "[PORT]" after it; *i is the next word. */
static int
read_target(const struct sim *s, struct line *l, const struct verb *v, char form, unsigned *i,
    struct sim_place *at, bool *has_port, struct fm_error *err)
{
	char *bracket = NULL;
	uint64_t port = 0;

	if (*i >= l->n)
		return bad(l, "the node is missing", v->right, err);
	if (*i + 1 < l->n && l->word[*i + 1][0] == '[') {
		bracket = l->word[*i + 1];
		if (!read_number(bracket + 1, 254, &port))
			return bad(l, "the port is no number 1..254", v->right, err);
		*bracket = '\0'; /* ends the name before it */
	}
	at->node = sim_find(s, l->word[*i]);
	if (at->node == SIM_NONE)
		return fm_fail(err, FM_E_CONFIG, "%s:%u: the fabric has no node \"%s\"", l->file,
		    l->number, l->word[*i]);
	*i += bracket != NULL ? 2 : 1;
	*has_port = bracket != NULL;
	if (form != 'q' && (form == 'p') != *has_port)
		return bad(l, bracket ? "a port is named" : "the port is missing", v->right, err);
	at->port = (uint8_t)port;
	if (bracket != NULL && (port == 0 || port > s->fabric.nodes[at->node].n_ports))
		return fm_fail(err, FM_E_CONFIG, "%s:%u: node \"%s\" has ports 1..%u, no port %u",
		    l->file, l->number, l->word[*i - 2], s->fabric.nodes[at->node].n_ports,
		    at->port);
	return 0;
}

static int
read_text(struct sim *s, struct line *l, const struct verb *v, unsigned *i, struct sim_action *a,
    struct fm_error *err)
{
	if (*i >= l->n)
		return bad(l, "the text is missing", v->right, err);
	a->text = fm_arena_strdup(&s->fabric.arena, l->word[(*i)++]);
	return a->text != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "no memory for a script");
}

/* "4xEDR". */
static int
read_rate(
    struct line *l, const struct verb *v, unsigned *i, struct sim_action *a, struct fm_error *err)
{
	char *x = NULL;
	unsigned long lanes = *i < l->n ? strtoul(l->word[*i], &x, 10) : 0;

	if (x != NULL && *x == 'x')
		a->rate.lane_mbps = link_speed_mbps(x + 1, strlen(x + 1));
	if (a->rate.lane_mbps == 0 ||
	    !(lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12))
		return bad(l, "the rate is missing or none", v->right, err);
	a->rate.lanes = (uint8_t)lanes;
	(*i)++;
	return 0;
}

static int
read_counter(
    struct line *l, const struct verb *v, unsigned *i, struct sim_action *a, struct fm_error *err)
{
	unsigned counter = *i < l->n ? pma_find_counter(l->word[*i]) : SIM_COUNTERS;

	if (*i >= l->n)
		return bad(l, "the counter is missing", v->right, err);
	if (counter == SIM_COUNTERS && strcasecmp(l->word[*i], "all") != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: \"%s\" is no counter; they are called as in perfquery and perfquery "
		    "-x, "
		    "-T: PortXmitWait, FECCorrectableBlockCtrLane0",
		    l->file, l->number, l->word[*i]);
	a->counter = (uint8_t)counter;
	(*i)++;
	return 0;
}

/* "5", "+5". */
static int
read_amount(
    struct line *l, const struct verb *v, unsigned *i, struct sim_action *a, struct fm_error *err)
{
	const char *text = *i < l->n ? l->word[(*i)++] : "";

	a->adds = text[0] == '+';
	if (!read_number(text + a->adds, UINT64_MAX, &a->value) || text[a->adds] == '+')
		return bad(l, "the number is missing or none", v->right, err);
	return 0;
}

/* "2G": so many bytes a second. */
static int
read_speed(
    struct line *l, const struct verb *v, unsigned *i, struct sim_action *a, struct fm_error *err)
{
	static const char units[] = "kMG";
	const char *text = *i < l->n ? l->word[(*i)++] : "";
	size_t n = strlen(text);
	const char *unit = n > 0 ? strchr(units, text[n - 1]) : NULL;
	char digits[24] = "";

	if (n < sizeof(digits))
		memcpy(digits, text, unit != NULL ? n - 1 : n);
	if (!read_number(digits, FLOW_MOST, &a->value))
		return bad(l, "the bytes a second are missing or none", v->right, err);
	for (; unit != NULL && unit >= units; unit--)
		a->value *= 1000;
	if (a->value > FLOW_MOST)
		return bad(l, "that is more than 1000G", v->right, err);
	return 0;
}

/* A word that says what the agent has.  False: it is none, or there was one before. */
static bool
read_width(const char *word, bool *has_width, struct sim_pma *pma)
{
	static const char *const widths[PMA_WIDTHS] = {
		[PMA_NARROW] = "narrow", [PMA_NO_IETF] = "noietf", [PMA_ERRORS_64] = "errors64"
	};

	for (unsigned w = 0; w < PMA_WIDTHS; w++)
		if (widths[w] != NULL && strcmp(word, widths[w]) == 0 && !*has_width) {
			pma->width = (uint8_t)w;
			*has_width = true;
			return true;
		}
	return false;
}

/* A word that is one of these by itself. */
static bool
read_flag(const char *word, struct sim_pma *pma)
{
	const struct {
		const char *word;
		bool *flag;
	} flags[] = { { "nowait", &pma->no_wait }, { "nofec", &pma->no_fec },
		{ "rsfec", &pma->rs_fec }, { "silent", &pma->silent } };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(word, flags[i].word) == 0) {
			*flags[i].flag = true;
			return true;
		}
	return false;
}

/* "delay 5ms" and the like: two words. */
static bool
read_pair(const struct sim *s, const char *word, const char *value, struct sim_pma *pma)
{
	int64_t ns;

	if (strcmp(word, "redirect") == 0) {
		pma->redirect = sim_find(s, value);
		return pma->redirect != SIM_NONE;
	}
	if (!read_time(value, &ns))
		return false;
	if (strcmp(word, "delay") == 0) {
		pma->each_ns = ns;
		return true;
	}
	if (strcmp(word, "tick") != 0 || ns < 1 || ns > TICK_NS_MOST)
		return false;
	pma->tick_ns = (uint32_t)ns;
	return true;
}

/* What is not named is as in most agents. */
static int
read_traits(struct sim *s, struct line *l, const struct verb *v, unsigned *i, struct sim_action *a,
    struct fm_error *err)
{
	bool has_width = false;

	a->pma = PMA_AS_MOST;
	if (*i >= l->n)
		return bad(l, "what the agent is like is missing", v->right, err);
	if (*i + 1 == l->n && strcmp(l->word[*i], "plain") == 0) {
		(*i)++;
		return 0;
	}
	while (*i < l->n) {
		const char *word = l->word[(*i)++];

		if (read_width(word, &has_width, &a->pma) || read_flag(word, &a->pma))
			continue;
		if (*i == l->n || !read_pair(s, word, l->word[*i], &a->pma))
			return fm_fail(err, FM_E_CONFIG,
			    "%s:%u: \"%s%s%s\" is none of what an agent can be like here; right "
			    "would be: %s",
			    l->file, l->number, word, *i < l->n ? " " : "",
			    *i < l->n ? l->word[*i] : "", v->right);
		(*i)++;
	}
	return 0;
}

/* Judged by an agent that nobody asks. */
static int
read_manner(struct sim *s, struct line *l, const struct verb *v, unsigned *i, struct sim_action *a,
    struct fm_error *err)
{
	struct cca judge = { 0 };

	if (*i >= l->n || !cca_say(&judge, l->word[*i]))
		return bad(l, "what the agent is like is missing or none of these", v->right, err);
	a->text = fm_arena_strdup(&s->fabric.arena, l->word[(*i)++]);
	return a->text != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "no memory for a word");
}

/* Counters are there when they are first asked for, and so is what makes an agent another. */
static int
prepare(struct sim *s, const struct sim_action *a, struct fm_error *err)
{
	struct sim_node *n = &s->fabric.nodes[a->at.node];
	bool ok = true;

	if (a->kind == ACTION_COUNT || a->kind == ACTION_FLOW)
		ok = pma_start(&s->fabric);
	if (a->kind == ACTION_PMA && n->pma == NULL) {
		n->pma = fm_arena_alloc(&s->fabric.arena, sizeof(*n->pma));
		ok = n->pma != NULL;
		if (ok)
			*n->pma = PMA_AS_MOST;
	}
	if (a->kind == ACTION_CONGESTION)
		ok = fabric_cca(&s->fabric, a->at) != NULL;
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "no memory for counters or agents");
}

/* One operand, by its letter in verbs[]. */
static int
read_operand(struct sim *s, struct line *l, const struct verb *v, char form, unsigned *i,
    struct sim_action *a, struct fm_error *err)
{
	bool has_port;

	switch (form) {
	case 't':
		return read_text(s, l, v, i, a, err);
	case 's':
		if (*i >= l->n || !read_share(l->word[(*i)++], &a->loss))
			return bad(l, "the share is missing or none", v->right, err);
		return 0;
	case 'u':
		if (*i >= l->n || !read_number(l->word[(*i)++], UINT64_MAX, &a->value))
			return bad(l, "the number is missing or none", v->right, err);
		return 0;
	case 'r':
		return read_rate(l, v, i, a, err);
	case 'c':
		return read_counter(l, v, i, a, err);
	case 'a':
		return read_amount(l, v, i, a, err);
	case 'b':
		return read_speed(l, v, i, a, err);
	case 'T':
		return read_traits(s, l, v, i, a, err);
	case 'C':
		return read_manner(s, l, v, i, a, err);
	case 'P':
		return read_target(s, l, v, 'p', i, &a->other, &has_port, err);
	case 'N':
		return read_target(s, l, v, 'n', i, &a->other, &has_port, err);
	default:
		return read_target(s, l, v, form, i, &a->at, &a->has_port, err);
	}
}

/* What an operand's form does not say. */
static bool
is_possible(const struct sim_action *a)
{
	switch (a->kind) {
	case ACTION_LID:
		return a->value <= 0xBFFF;
	case ACTION_TRAP:
		return (a->value >= 129 && a->value <= 131) || a->value == 145;
	case ACTION_GUID:
		return a->value != 0;
	case ACTION_PORTS:
		return a->value <= UINT8_MAX;
	default:
		return true;
	}
}

/* From the verb, word i, on. */
static int
read_verb(struct sim *s, struct line *l, unsigned i, struct sim_action *a, struct fm_error *err)
{
	const struct verb *v = find_verb(l->word[i++]);
	int rc;

	if (v == NULL)
		return bad(l, "this verb is unknown",
		    "unlink|relink|clear|link|flap|reboot|silence|wake|refuse|obey|describe|loss|"
		    "error|guid|"
		    "ports|lid|trap|traffic|rate|count|flow|pma|congestion",
		    err);
	a->kind = v->kind;
	a->for_ns = v->for_ns;
	for (const char *form = v->operands; *form != '\0'; form++) {
		rc = read_operand(s, l, v, *form, &i, a, err);
		if (rc != 0)
			return rc;
	}
	if (!is_possible(a))
		return bad(l, "the number is none of those", v->right, err);
	if (v->for_ns != 0 && i + 1 < l->n && strcmp(l->word[i], "for") == 0) {
		if (!read_time(l->word[i + 1], &a->for_ns))
			return bad(l, "what follows \"for\" is no time", v->right, err);
		i += 2;
	}
	return i == l->n ? prepare(s, a, err)
			 : bad(l, "there is too much on this line", v->right, err);
}

static int
read_action(struct sim *s, struct line *l, struct sim_action *a, struct fm_error *err)
{
	if (l->n < 3 || strcmp(l->word[0], "at") != 0)
		return bad(l, "this is no action", "VERB ..., such as at 5ms unlink S1[3]", err);
	if (!read_time(l->word[1], &a->at_ns))
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: \"%s\" is no time; right would be 20ns, 100us, 5ms or 2s", l->file,
		    l->number, l->word[1]);
	return read_verb(s, l, 2, a, err);
}

static int
add_line(struct sim *s, struct line *l, char *text, int64_t start_ns, struct fm_error *err)
{
	struct sim_action a = { 0 };
	int rc;

	if (!split(l, text))
		return bad(
		    l, "a quote or bracket is open, or there are too many words", "VERB ...", err);
	if (l->n == 0)
		return 0;
	rc = read_action(s, l, &a, err);
	if (rc != 0)
		return rc;
	if (!fm_vec_push(&s->actions, a) ||
	    !events_push(&s->events, start_ns + a.at_ns, EVENT_ACTION, s->actions.n - 1))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a script");
	return 0;
}

int
sim_script(struct sim *s, const char *name, const char *text, struct fm_error *err)
{
	char *copy = strdup(text), *rest = copy, *one;
	struct line l = { .file = name };
	int rc = 0;

	if (copy == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a script");
	while (rc == 0 && (one = strsep(&rest, "\n")) != NULL) {
		l.number++;
		rc = add_line(s, &l, one, s->fabric.now_ns, err);
	}
	free(copy);
	return rc;
}

const char *
sim_verb(unsigned i)
{
	return i < N_VERBS ? verbs[i].right : NULL;
}

int
sim_do(struct sim *s, const char *text, struct fm_error *err)
{
	struct line l = { .file = "console", .number = 1, .now = true };
	struct sim_action a = { 0 };
	char *copy = strdup(text);
	int rc;

	if (copy == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a command");
	if (!split(&l, copy))
		rc = bad(
		    &l, "a quote or bracket is open, or there are too many words", "VERB ...", err);
	else
		rc = l.n > 0 ? read_verb(s, &l, 0, &a, err) : 0;
	if (rc == 0 && l.n > 0) {
		action_do(s, &a);
		flows_disturbed(s);
	}
	free(copy);
	return rc;
}
