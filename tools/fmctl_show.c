/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/fmctl_show.c - the answer of each command as a person reads it. */
#include <inttypes.h>
#include <string.h>

#include "core/conf/cli.h"
#include "tools/fmctl.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define I JSON_INTEGER_FORMAT

/* "a, b, c" of an array of words. */
static void
say_list(const json_t *list, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < json_array_size(list) && at < size; i++) {
		const json_t *v = json_array_get(list, i);
		const char *text = json_string_value(v);
		char number[24];

		snprintf(number, sizeof(number), "%" I, json_integer_value(v));
		at += (size_t)snprintf(
		    buf + at, size - at, "%s%s", i > 0 ? ", " : "", text != NULL ? text : number);
	}
}

/* ------------------------------------------------------------------ status */

static void
show_state(const json_t *s, FILE *out)
{
	const char *other = fmctl_string(s, "other_sm");
	json_int_t n = 0;
	const char *kind;
	json_t *count;

	fprintf(out, "state       %s", fmctl_string(s, "sm_state"));
	if (json_is_true(json_object_get(s, "waits_for_link")))
		fputs(", our port has no link: waiting for one", out);
	else if (strcmp(fmctl_string(s, "sm_state"), "standby") !=
	    0) /* it is the master's to tell */
		fprintf(out, ", subnet %s",
		    json_is_true(json_object_get(s, "subnet_up")) ? "up" : "not up");
	json_object_foreach(json_object_get(s, "unfinished"), kind, count) n +=
	    strcmp(kind, "not-master") != 0 ? json_integer_value(count) : 0; /* the state says so */
	if (json_is_true(json_object_get(s, "converged")))
		fputs(", converged", out);
	if (n > 0)
		fprintf(out, ", unfinished: %" I " (fmctl trouble)", n);
	if (*other != '\0')
		fprintf(out, "; other SM: %s", other);
	fputc('\n', out);
}

static void
show_sweep(const json_t *s, FILE *out)
{
	const json_t *r = json_object_get(s, "sweep");

	if (!json_is_object(r)) {
		fprintf(out, "sweep       none has brought the subnet up yet; now: %s\n",
		    fmctl_string(s, "phase"));
		return;
	}
	fprintf(out,
	    "fabric      %" I " switches, %" I " CAs, %" I " routers, %" I " links, %" I " LIDs\n",
	    fmctl_number(r, "switches"), fmctl_number(r, "cas"), fmctl_number(r, "routers"),
	    fmctl_number(r, "links"), fmctl_number(r, "lids"));
	fprintf(out, "routing     %s%s%s%s\n", fmctl_string(r, "engine"),
	    json_is_true(json_object_get(r, "repaired"))   ? ", repaired"
		: json_is_true(json_object_get(r, "kept")) ? ", tables kept"
							   : "",
	    json_is_true(json_object_get(s, "mended"))
		? "; not as configured: no engine of the chain can (fmctl routes)"
		: "",
	    *fmctl_string(s, "waiting") != '\0' ? "; other tables wait (fmctl drain)" : "");
	fprintf(out, "sweep       %" I " (%s: %s), %.1f ms; now: %s\n", fmctl_number(r, "number"),
	    fmctl_string(r, "scope"), fmctl_string(r, "reason"),
	    json_real_value(json_object_get(r, "total_ms")), fmctl_string(s, "phase"));
}

static void
show_as_read(const json_t *r, FILE *out)
{
	if (!json_is_object(r))
		return;
	fprintf(out, "ports       %" I " active, %" I " cabled and not active\n",
	    fmctl_number(r, "ports_active"), fmctl_number(r, "ports_not_active"));
	if (json_is_integer(json_object_get(r, "unreachable_pairs")))
		fprintf(out, "pairs       %" I " without a path\n",
		    fmctl_number(r, "unreachable_pairs"));
	else
		fputs("pairs       not known: the forwarding tables are older than the fabric, or "
		      "not "
		      "in the switches (fmctl trouble)\n",
		    out);
	fprintf(out,
	    "believed    %" I " nodes not heard, tables of %" I
	    " switches in doubt, oldest read %.0f s ago\n",
	    fmctl_number(r, "nodes_not_heard"), fmctl_number(r, "switches_in_doubt"),
	    json_real_value(json_object_get(r, "oldest_read_s")));
}

static void
show_congestion(const json_t *c, FILE *out)
{
	const json_t *sw = json_object_get(c, "switches"), *ports = json_object_get(c, "ports");

	if (json_is_true(json_object_get(c, "enabled")))
		fprintf(out,
		    "congestion  %" I " of %" I " switches and %" I " of %" I
		    " host ports hold their settings\n",
		    fmctl_number(sw, "holds"), fmctl_number(sw, "n"), fmctl_number(ports, "holds"),
		    fmctl_number(ports, "n"));
}

static void
show_adaptive(const json_t *a, FILE *out)
{
	const json_t *sw = json_object_get(a, "switches");

	if (json_is_true(json_object_get(a, "enabled")) || fmctl_number(sw, "strange") > 0)
		fprintf(out,
		    "adaptive    %" I " switches choose among ports, %" I " go by their tables, %" I
		    " cannot be programmed, %" I " have not said\n",
		    fmctl_number(sw, "adaptive"), fmctl_number(sw, "static"),
		    fmctl_number(sw, "absent") + fmctl_number(sw, "strange"),
		    fmctl_number(sw, "unknown"));
}

static void
show_other_sms(const json_t *sms, FILE *out)
{
	for (size_t i = 0; i < json_array_size(sms); i++) {
		const json_t *o = json_array_get(sms, i);

		fprintf(out, "other SM    %s, LID %" I ", priority %" I ", %s, %s\n",
		    fmctl_string(o, "node"), fmctl_number(o, "lid"), fmctl_number(o, "priority"),
		    fmctl_string(o, "state"), fmctl_string(o, "trust"));
	}
}

/* Of this host, where there are several. */
static void
show_ports(const json_t *ports, FILE *out)
{
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *p = json_array_get(ports, i);

		fprintf(out, "local port  %s, %s%s\n", fmctl_string(p, "port"),
		    fmctl_string(p, "link"),
		    json_is_true(json_object_get(p, "in_use")) ? ", in use" : "");
	}
}

void
fmctl_show_status(const struct ask *a, const json_t *s, FILE *out)
{
	if (a->all || a->part != NULL) {
		fmctl_print(s, out);
		return;
	}
	show_state(s, out);
	show_ports(json_object_get(s, "ports"), out);
	show_sweep(s, out);
	show_as_read(json_object_get(s, "as_read"), out);
	show_congestion(json_object_get(s, "congestion_control"), out);
	show_adaptive(json_object_get(s, "adaptive_routing"), out);
	if (json_is_object(json_object_get(s, "sa")))
		fprintf(out,
		    "SA          %" I " requests, %" I " answered, %" I " refused, %" I
		    " told to wait; it answers from %s\n",
		    fmctl_number(s, "sa.requests"), fmctl_number(s, "sa.answered"),
		    fmctl_number(s, "sa.refused"), fmctl_number(s, "sa.busy"),
		    fmctl_string(s, "sa.answers_from"));
	show_other_sms(json_object_get(s, "other_sms"), out);
	if (fmctl_number(s, "isolated") > 0)
		fprintf(out, "isolated    %" I " switches or cables (fmctl isolate)\n",
		    fmctl_number(s, "isolated"));
	fprintf(out, "store       %s\n", fmctl_string(s, "store"));
}

void
fmctl_show_ending(const struct ask *a, const json_t *result, FILE *out)
{
	if (a->wait)
		fprintf(out, "sweep %" I ": %s, after %.1f s\n", fmctl_number(result, "sweep"),
		    fmctl_string(result, "says"),
		    json_real_value(json_object_get(result, "seconds")));
	else
		fmctl_print(result, out);
}

int
fmctl_judge_swept(const json_t *result)
{
	return json_is_false(json_object_get(result, "asked_for")) ? FMD_EXIT_OTHER_MASTER
								   : FMD_EXIT_OK;
}

/* Who has a copy, and our own. */
void
fmctl_show_ha(const struct ask *a, const json_t *result, FILE *out)
{
	const json_t *copy = json_object_get(result, "copy"), *s;
	const char *why = fmctl_string(copy, "why");
	size_t i;

	(void)a;
	fprintf(out, "role     %s\n", fmctl_string(result, "role"));
	json_array_foreach(json_object_get(result, "standbys"), i, s)
	    fprintf(out, "standby  %s %s, %" I " of %" I " changes%s\n", fmctl_string(s, "guid"),
		fmctl_string(s, "state"), fmctl_number(s, "have"), fmctl_number(s, "sent"),
		json_is_true(json_object_get(s, "sends_files")) ? ", and files" : "");
	if (copy != NULL && strcmp(fmctl_string(result, "role"), "master") != 0)
		fprintf(out, "copy     %s%s%s%s%s\n",
		    json_is_true(json_object_get(copy, "in_sync"))     ? "in sync"
			: json_is_true(json_object_get(copy, "whole")) ? "whole, not in sync"
								       : "none",
		    *why != '\0' ? ": by " : "", *why != '\0' ? fmctl_string(copy, "from") : "",
		    *why != '\0' ? ": " : "", why);
	if (json_array_size(json_object_get(result, "standbys")) == 0 &&
	    strcmp(fmctl_string(result, "role"), "master") == 0)
		fprintf(out, "standby  none has a copy\n");
}

/* What was read back, and how it ended; or of a sweep. */
void
fmctl_show_swept(const struct ask *a, const json_t *result, FILE *out)
{
	const char *other = fmctl_string(result, "other_sm");

	if (fmctl_judge_swept(result) != FMD_EXIT_OK) {
		fprintf(out,
		    "Nothing is asked for: this fmd is %s, and sweeps are the master's%s%s.\n",
		    fmctl_string(result, "sm_state"), *other != '\0' ? ": " : "", other);
		return;
	}
	if (json_object_get(result, "turn") == NULL) {
		fmctl_show_ending(a, result, out);
		return;
	}
	fprintf(out,
	    "read    %" I " blocks, %" I " without an answer\n"
	    "differ  %" I " blocks, of %" I " nodes\n"
	    "%s, after %.1f s\n",
	    fmctl_number(result, "blocks_read"), fmctl_number(result, "blocks_silent"),
	    fmctl_number(result, "blocks_that_differ"), fmctl_number(result, "nodes_that_differ"),
	    fmctl_string(result, "says"), json_real_value(json_object_get(result, "seconds")));
}

static void
show_full_link(const json_t *link, FILE *out)
{
	if (json_is_object(link))
		fprintf(out, "%" I " routes (\"%s\" port %" I " to \"%s\")",
		    fmctl_number(link, "routes"), fmctl_string(link, "from"),
		    fmctl_number(link, "port"), fmctl_string(link, "to"));
	else
		fputs("no routes", out);
}

/* As fmroute what-if has it. */
static void
show_fullest(const json_t *r, FILE *out)
{
	const json_t *f = json_object_get(r, "fullest");
	json_int_t n = fmctl_number(r, "fullest.unreachable_pairs");

	if (strcmp(fmctl_string(r, "state"), "judging") == 0)
		fputs("Fullest link afterwards: not known yet; ask again, or with a longer "
		      "--timeout=.\n",
		    out);
	if (!json_is_object(f))
		return;
	if (json_object_get(f, "failed") != NULL) {
		fprintf(out, "Fullest link afterwards: not known: %s\n", fmctl_string(f, "failed"));
		return;
	}
	fputs("Fullest link: ", out);
	show_full_link(json_object_get(f, "before"), out);
	fputs(", then ", out);
	show_full_link(json_object_get(f, "after"), out);
	fprintf(out, ", by tables of engine %s, %s.\n", fmctl_string(f, "engine"),
	    fmctl_string(f, "tables"));
	if (n > 0)
		fprintf(out, "%" I " pairs that cables join would have no path.\n", n);
}

/* The first of n, behind a colon, and the end of the line. */
static void
list_names(const json_t *names, json_int_t n, FILE *out)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		fprintf(out, "%s %s", i > 0 ? "," : "", name != NULL ? name : "?");
	}
	fputs((size_t)n > json_array_size(names) ? ", ...\n" : "\n", out);
}

static void
show_effect(const json_t *r, FILE *out)
{
	const json_t *hosts = json_object_get(r, "hosts");
	bool restores = strcmp(fmctl_string(r, "command"), "restore") == 0;
	json_int_t n = fmctl_number(r, restores ? "come_back" : "cut_off");
	json_int_t n_switches = fmctl_number(r, "n_switches");

	fprintf(out, "%s: ", fmctl_string(r, "what"));
	if (n_switches > 1) {
		fprintf(out, "%" I " switches:", n_switches);
		list_names(json_object_get(r, "switches"), n_switches, out);
	}
	fprintf(out, "%" I " cable%s", fmctl_number(r, "cables"),
	    fmctl_number(r, "cables") == 1 ? "" : "s");
	if (restores)
		fputs(" between switches may carry routes again\n", out);
	else
		fprintf(out,
		    " between switches, %" I " entries of forwarding tables lead over them\n",
		    fmctl_number(r, "routes"));
	if (n == 0 && !restores)
		fputs("No host is cut off.\n", out);
	else if (n > 0)
		fprintf(out, "%" I " port%s of hosts %s:", n, n == 1 ? "" : "s",
		    restores ? "can be reached again" : "cut off");
	if (n > 0)
		list_names(hosts, n, out);
	show_fullest(r, out);
	if (json_is_false(json_object_get(r, "converged")))
		fputs("Even now the subnet is not as it should be, or a sweep is under way (fmctl "
		      "status, fmctl trouble).\n",
		    out);
	if (json_is_true(json_object_get(r, "asked_for")))
		fprintf(out, "Asked for: sweep %" I " does it.\n", fmctl_number(r, "sweep"));
	else
		fprintf(out, "Nothing is changed: --yes%s does it.\n",
		    n > 0 && !restores ? " --force" : "");
}

static void
say_quarantine(const json_t *r, char *buf, size_t size)
{
	const char *why = fmctl_string(r, "quarantined");

	snprintf(buf, size, "%s%s", *why != '\0' ? "quarantined for " : "", why);
}

void
fmctl_show_isolated(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "KIND", "kind", NULL, false },
		{ "NODE", "node", NULL, false }, { "GUID", "guid", NULL, false },
		{ "PORT", "port", NULL, true }, { "CABLES", "cables", NULL, true },
		{ "", NULL, say_quarantine, false } };

	if (json_object_get(result, "isolated") != NULL)
		fmctl_table(json_object_get(result, "isolated"), columns, N_OF(columns), true, out);
	else if (json_object_get(result, "says") != NULL)
		fmctl_show_ending(a, result, out);
	else
		show_effect(result, out);
}

void
fmctl_show_handover(const struct ask *a, const json_t *result, FILE *out)
{
	(void)a;
	fprintf(out, "handover to %s (%s) %s: %s\n", fmctl_string(result, "node"),
	    fmctl_string(result, "port_guid"),
	    strcmp(fmctl_string(result, "state"), "done") == 0 ? "is done" : "has failed",
	    fmctl_string(result, "says"));
}

/* What is wrong; or how it ended, and what only a restart changes. */
void
fmctl_show_reload(const struct ask *a, const json_t *result, FILE *out)
{
	const json_t *mistakes = json_object_get(result, "mistakes");
	const char *keys = fmctl_string(result, "needs_restart");

	for (size_t i = 0; i < json_array_size(mistakes); i++)
		fprintf(stderr, "fmctl: %s\n", json_string_value(json_array_get(mistakes, i)));
	if (fmctl_number(result, "not_told") > 0)
		fprintf(stderr, "fmctl: and %" I " more mistakes, which are not told\n",
		    fmctl_number(result, "not_told"));
	if (mistakes != NULL) {
		fputs("fmctl: the old configuration stays\n", stderr);
		return;
	}
	fmctl_show_ending(a, result, out);
	if (a->wait && *keys != '\0')
		fprintf(out, "%s: the change needs a restart\n", keys);
}

int
fmctl_judge_reload(const json_t *result)
{
	return json_object_get(result, "mistakes") != NULL ? FMD_EXIT_USAGE : FMD_EXIT_OK;
}

/* ----------------------------------------------------------------- routing */

static void
show_refused(const json_t *r, const char *region, FILE *out)
{
	const json_t *refused = json_object_get(r, "refused");

	for (size_t i = 0; i < json_array_size(refused); i++) {
		const json_t *one = json_array_get(refused, i);

		fprintf(out, "refused     %s%s%s: %s\n", region, *region != '\0' ? ": " : "",
		    fmctl_string(one, "engine"), fmctl_string(one, "reason"));
	}
}

static void
say_chain(const json_t *r, char *buf, size_t size)
{
	say_list(json_object_get(r, "chain"), buf, size);
}

static void
say_busiest(const json_t *r, char *buf, size_t size)
{
	const json_t *b = json_object_get(r, "busiest");

	if (json_is_object(b))
		snprintf(buf, size, "%.1f times the mean, %s port %" I " %s",
		    json_real_value(json_object_get(b, "max_over_avg")), fmctl_string(b, "switch"),
		    fmctl_number(b, "port"), fmctl_string(b, "way"));
	else
		snprintf(buf, size, "-");
}

#define CUT_SHOWN 5 /* hosts: a line of at most 250 characters */

static void
show_region_table(const json_t *regions, FILE *out)
{
	static const struct column columns[] = { { "REGION", "region", NULL, false },
		{ "ENGINE", "engine", NULL, false }, { "SWITCHES", "n_switches", NULL, true },
		{ "HOSTS", "hosts", NULL, true }, { "COMPONENTS", "components", NULL, true },
		{ "CHAIN", NULL, say_chain, false },
		{ "BUSIEST BORDER", NULL, say_busiest, false } };

	fmctl_table(regions, columns, N_OF(columns), false, out);
	for (size_t i = 0; i < json_array_size(regions); i++) {
		const json_t *r = json_array_get(regions, i);

		show_refused(r, fmctl_string(r, "region"), out);
		if (*fmctl_string(r, "because") != '\0')
			fprintf(out, "because     %s: auto takes it for %s\n",
			    fmctl_string(r, "region"), fmctl_string(r, "because"));
	}
}

/* The steps of routing chains; why one has failed is among the refusals. */
static void
show_steps(const json_t *steps, FILE *out)
{
	static const struct column columns[] = { { "STEP", "step", NULL, true },
		{ "ENGINE", "engine", NULL, false }, { "PATH BIT", "path_bit", NULL, true },
		{ "SWITCHES", "switches", NULL, true }, { "HOSTS", "hosts", NULL, true },
		{ "FALLBACK TO", "fallback_to", NULL, true }, { "STATE", "state", NULL, false } };

	if (json_array_size(steps) == 0)
		return;
	fputc('\n', out);
	fmctl_table(steps, columns, N_OF(columns), false, out);
}

static void
show_mended(const json_t *whole, FILE *out)
{
	const json_t *hosts = json_object_get(whole, "cut");
	json_int_t n = fmctl_number(whole, "n_cut");

	if (json_is_true(json_object_get(whole, "mended")))
		fputs("mended      not as configured: no engine of the chain can route the fabric; "
		      "what was in force is mended till one can\n",
		    out);
	if (n == 0)
		return;
	fprintf(out, "cut         %" I " port%s of hosts:", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < CUT_SHOWN && i < json_array_size(hosts); i++)
		fprintf(
		    out, "%s %.40s", i > 0 ? "," : "", json_string_value(json_array_get(hosts, i)));
	fprintf(out, "%s\nwitness     %s\n", n > CUT_SHOWN ? ", ..." : "",
	    fmctl_string(whole, "witness"));
}

void
fmctl_show_routes(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "ENGINE", "engine", NULL, false },
		{ "SWITCHES", "switches", NULL, true }, { "ENDS", "ends", NULL, true },
		{ "VLS", "vls", NULL, true }, { "PAIRS", "reachable_pairs", NULL, true },
		{ "NO PATH", "unreachable_pairs", NULL, true },
		{ "NOT JOINED", "disjoint_pairs", NULL, true }, { "LOOPS", "loops", NULL, true },
		{ "CREDIT LOOPS", "credit_loops", NULL, true },
		{ "MAX HOPS", "max_hops", NULL, true } };
	const json_t *regions = json_object_get(result, "regions"), *whole;

	/* the plan as a whole, with its regions where it has several */
	whole = json_is_array(regions) ? json_array_get(regions, 0) : result;
	if (whole == NULL) {
		fputs("none: nothing is routed yet\n", out);
		return;
	}
	if (json_is_array(regions) && fmctl_find(whole, "ends") != NULL) {
		fmctl_table(regions, columns, N_OF(columns), false, out);
	} else {
		json_t *one = json_pack("[O]", result);

		fmctl_table(one, columns, N_OF(columns), false, out);
		json_decref(one);
		fprintf(out, "joined      %s\n", fmctl_string(result, "joined"));
		whole = result;
	}
	show_mended(whole, out);
	show_refused(whole, "", out);
	show_steps(json_object_get(whole, "steps"), out);
	if (*fmctl_string(whole, "because") != '\0')
		fprintf(out, "because     auto takes the fabric for %s\n",
		    fmctl_string(whole, "because"));
	if (*fmctl_string(whole, "weighed") != '\0')
		fprintf(out, "weighed     %s\n", fmctl_string(whole, "weighed"));
	if (whole == result) {
		fputc('\n', out);
		show_region_table(regions, out);
	}
}

static void
say_switches(const json_t *r, char *buf, size_t size)
{
	say_list(json_object_get(r, "switches"), buf, size);
}

/* The borders of all regions, each with its region. */
static void
show_borders(const json_t *regions, FILE *out)
{
	static const struct column columns[] = { { "FROM", "region", NULL, false },
		{ "TO", "to", NULL, false }, { "CABLES", "cables", NULL, true },
		{ "ROUTES", "routes", NULL, true }, { "AT", NULL, say_switches, false } };
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(regions); i++) {
		const json_t *r = json_array_get(regions, i), *borders;

		borders = json_object_get(r, "borders");
		for (size_t k = 0; k < json_array_size(borders); k++) {
			json_t *b = json_copy(json_array_get(borders, k));

			json_object_set(b, "region", json_object_get(r, "region"));
			json_array_append_new(all, b);
		}
	}
	if (json_array_size(all) > 0) {
		fputc('\n', out);
		fmctl_table(all, columns, N_OF(columns), false, out);
	}
	json_decref(all);
}

void
fmctl_show_regions(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "REGION", "region", NULL, false },
		{ "SWITCHES", NULL, say_switches, false } };
	const json_t *regions = json_object_get(result, "regions");

	show_region_table(regions, out);
	if (json_array_size(regions) == 0)
		return;
	fputc('\n', out);
	fmctl_table(regions, columns, N_OF(columns), false, out);
	show_borders(regions, out);
}

static const char not_well[] =
    "the subnet is not as it should be, or a sweep is under way (fmctl status, fmctl trouble)";

/* An older fmd does not say. */
static bool
is_well(const json_t *answer)
{
	return !json_is_false(json_object_get(answer, "converged"));
}

static void
show_silent(const json_t *v, FILE *out)
{
	char names[400];

	say_list(json_object_get(v, "silent"), names, sizeof(names));
	if (*names != '\0')
		fprintf(out, "silent      %s\n", names);
}

void
fmctl_show_verdict(const struct ask *a, const json_t *v, FILE *out)
{
	json_int_t pairs = fmctl_number(v, "reachable_pairs");
	json_int_t cut = fmctl_number(v, "unreachable_pairs");

	if (json_object_get(v, "blocks") != NULL) {
		fprintf(out, "read        %" I " of %" I " blocks, %" I " without an answer\n",
		    fmctl_number(v, "blocks_read"), fmctl_number(v, "blocks"),
		    fmctl_number(v, "blocks_silent"));
		fprintf(out, "differ      %" I " entries, of %" I " switches, from the plan\n",
		    fmctl_number(v, "entries_that_differ"),
		    fmctl_number(v, "switches_that_differ"));
		if (fmctl_number(v, "switches_that_differ") > 0)
			fprintf(out,
			    "            a master reads them once more, and writes what "
			    "differs then\n");
		show_silent(v, out);
	}
	fprintf(out, "pairs       %" I " with a path, %" I " without\n", pairs, cut);
	fprintf(out, "loops       %" I ", credit loops: %" I "\n", fmctl_number(v, "loops"),
	    fmctl_number(v, "credit_loops"));
	if (fmctl_number(v, "wrong_host") > 0)
		fprintf(out, "wrong host  %" I " entries\n", fmctl_number(v, "wrong_host"));
	if (*fmctl_string(v, "witness") != '\0')
		fprintf(out, "witness     %s\n", fmctl_string(v, "witness"));
	fprintf(out, "verdict     %s\n",
	    fmctl_judge_verdict(v) == FMD_EXIT_OK	     ? "all is well"
		: fmctl_judge_verdict(v) == FMD_EXIT_TROUBLE ? not_well
							     : "NOT as it should be");
}

int
fmctl_judge_verdict(const json_t *v)
{
	static const char *const wrong[] = { "loops", "credit_loops", "wrong_host",
		"unreachable_pairs", "blocks_silent", "entries_that_differ" };

	for (size_t i = 0; i < N_OF(wrong); i++)
		if (fmctl_number(v, wrong[i]) > 0)
			return FMD_EXIT_NOT_ROUTED;
	return is_well(v) ? FMD_EXIT_OK : FMD_EXIT_TROUBLE;
}

/* --------------------------------------------------------- nodes and links */

static void
say_lids(const json_t *r, char *buf, size_t size)
{
	say_list(json_object_get(r, "lids"), buf, size);
}

static void
say_ports(const json_t *r, char *buf, size_t size)
{
	snprintf(buf, size, "%" I "/%" I, fmctl_number(r, "ports_up"), fmctl_number(r, "ports"));
}

static void
say_trouble(const json_t *r, char *buf, size_t size)
{
	json_int_t n = fmctl_number(r, "troubles");

	snprintf(buf, size, "%s", fmctl_string(r, "trouble"));
	if (n > 1)
		snprintf(buf, size, "%s and %" I " more", fmctl_string(r, "trouble"), n - 1);
}

void
fmctl_show_nodes(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "TYPE", "type", NULL, false },
		{ "NODE", "node", NULL, false }, { "GUID", "guid", NULL, false },
		{ "LIDS", NULL, say_lids, true }, { "UP", NULL, say_ports, true },
		{ "ENGINE", "engine", NULL, false }, { "REGION", "region", NULL, false },
		{ "TROUBLE", NULL, say_trouble, false } };

	fmctl_table(json_object_get(result, "nodes"), columns, N_OF(columns), true, out);
}

/* As an administrator says it: 4x EDR. */
static void
say_rate(const json_t *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s %s", fmctl_string(r, "width"), fmctl_string(r, "speed"));
}

static void
say_best(const json_t *r, char *buf, size_t size)
{
	if (*fmctl_string(r, "best_width") == '\0')
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%s %s", fmctl_string(r, "best_width"),
		    fmctl_string(r, "best_speed"));
}

static void
say_link_trouble(const json_t *r, char *buf, size_t size)
{
	bool degraded = json_is_true(json_object_get(r, "degraded"));
	const char *trouble = fmctl_string(r, "trouble");

	bool isolated = json_is_true(json_object_get(r, "isolated"));

	snprintf(buf, size, "%s%s%s%s%s", trouble, degraded && *trouble != '\0' ? ", " : "",
	    degraded ? "degraded" : "", isolated && (degraded || *trouble != '\0') ? ", " : "",
	    isolated ? "isolated" : "");
}

void
fmctl_show_links(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "FROM", "from.node", NULL, false },
		{ "PORT", "from.port", NULL, true }, { "LID", "from.lid", NULL, true },
		{ "TO", "to.node", NULL, false }, { "PORT", "to.port", NULL, true },
		{ "LID", "to.lid", NULL, true }, { "STATE", "state", NULL, false },
		{ "RATE", NULL, say_rate, false }, { "SUPPORTED", NULL, say_best, false },
		{ "TROUBLE", NULL, say_link_trouble, false } };

	fmctl_table(json_object_get(result, "links"), columns, N_OF(columns), true, out);
}

/* -------------------------------------------------------------------- path */

static json_int_t
last_lid(const json_t *end)
{
	return fmctl_number(end, "base_lid") + (1 << (fmctl_number(end, "lmc") & 7)) - 1;
}

/* A line of ibtracert. */
static void
show_end(const char *word, const json_t *e, FILE *out)
{
	fprintf(out, "%s %s {%s} portnum %" I " lid %" I "-%" I " \"%s\"\n", word,
	    fmctl_string(e, "type"), fmctl_string(e, "node_guid"), fmctl_number(e, "port"),
	    fmctl_number(e, "base_lid"), last_lid(e), fmctl_string(e, "node"));
}

/* What was counted at a port lately, where fmd-perf reads it. */
static void
show_counted(const json_t *counted, FILE *out)
{
	if (json_is_true(json_object_get(counted, "stale")) ||
	    !json_is_integer(json_object_get(counted, "xmit_bytes_per_s")) ||
	    strcmp(fmctl_string(counted, "state"), "read") != 0)
		return;
	fprintf(out, "  load %.1f %% wait %" I "/s errors %" I "/h",
	    json_number_value(json_object_get(counted, "load_percent")),
	    fmctl_number(counted, "wait_ticks_per_s"), fmctl_number(counted, "errors_per_h"));
}

/* What the link is like by which packets leave `from`, behind what is at its other end. */
static void
show_link(const json_t *from, FILE *out)
{
	const json_t *counted = json_object_get(from, "counted");

	if (json_object_get(from, "mtu") != NULL)
		fprintf(out, "  vl %" I " mtu %" I " rate %.1f Gb/s", fmctl_number(from, "vl"),
		    fmctl_number(from, "mtu"), (double)fmctl_number(from, "mbps") / 1000);
	if (counted != NULL)
		show_counted(counted, out);
	fputc('\n', out);
}

/* Why by this port of a switch, and not by another: --why.  *rule: the last that was told. */
static void
show_choices(const json_t *h, const char **rule, FILE *out)
{
	const json_t *c = json_object_get(h, "choices"), *others = json_object_get(c, "others");
	json_int_t n = fmctl_number(c, "n_others");

	if (c == NULL)
		return;
	if (strcmp(fmctl_string(c, "rule"), *rule) != 0) {
		*rule = fmctl_string(c, "rule");
		fprintf(out, "    %s: %s\n", fmctl_string(c, "engine"), *rule);
	}
	fprintf(out, "    by port %" I ", one of %" I " that lead nearer: %s",
	    fmctl_number(h, "out"), n + 1, fmctl_string(c, "engine"));
	if (json_is_integer(json_object_get(c, "routes")))
		fprintf(out, ", %" I " routes", fmctl_number(c, "routes"));
	if (json_is_integer(json_object_get(c, "repaired_from")))
		fprintf(out, "; by port %" I " before a repair", fmctl_number(c, "repaired_from"));
	fputc('\n', out);
	for (size_t i = 0; i < json_array_size(others); i++) {
		const json_t *o = json_array_get(others, i);

		fprintf(out, "      not by port %" I " to \"%s\"", fmctl_number(o, "port"),
		    fmctl_string(o, "to"));
		if (json_is_integer(json_object_get(o, "routes")))
			fprintf(out, ", %" I " routes", fmctl_number(o, "routes"));
		fprintf(out, ": %s\n", fmctl_string(o, "why"));
	}
	if (n > (json_int_t)json_array_size(others))
		fprintf(out, "      and %" I " more\n", n - (json_int_t)json_array_size(others));
}

static void
show_hops(const json_t *p, FILE *out)
{
	const json_t *hops = json_object_get(p, "hops"), *to = json_object_get(p, "to");
	const json_t *before = json_object_get(p, "from");
	json_int_t out_port = fmctl_number(before, "port");
	bool to_switch = strcmp(fmctl_string(to, "type"), "switch") == 0;
	const char *rule = "";

	for (size_t i = 0; i < json_array_size(hops); i++) {
		const json_t *h = json_array_get(hops, i);

		if (i > 0 || strcmp(fmctl_string(before, "type"), "switch") != 0) {
			fprintf(out,
			    "[%" I "] -> switch port {%s}[%" I "] lid %" I "-%" I " \"%s\"",
			    out_port, fmctl_string(h, "guid"), fmctl_number(h, "in"),
			    fmctl_number(h, "lid"), fmctl_number(h, "lid"),
			    fmctl_string(h, "switch"));
			show_link(before, out);
		}
		if (i + 1 < json_array_size(hops))
			show_choices(h, &rule, out);
		out_port = fmctl_number(h, "out");
		before = h;
	}
	if (json_is_true(json_object_get(p, "arrives")) && !to_switch) {
		fprintf(out, "[%" I "] -> %s port {%s}[%" I "] lid %" I "-%" I " \"%s\"", out_port,
		    fmctl_string(to, "type"), fmctl_string(to, "guid"), fmctl_number(to, "port"),
		    fmctl_number(to, "base_lid"), last_lid(to), fmctl_string(to, "node"));
		show_link(before, out);
	}
}

void
fmctl_show_path(const struct ask *a, const json_t *p, FILE *out)
{
	show_end("From", json_object_get(p, "from"), out);
	show_hops(p, out);
	show_end("To", json_object_get(p, "to"), out);
	if (!json_is_true(json_object_get(p, "arrives"))) {
		if (json_is_object(json_object_get(p, "dead")))
			fprintf(out, "There is no path: the cable at \"%s\" port %" I " is dead.\n",
			    fmctl_string(p, "dead.node"), fmctl_number(p, "dead.port"));
		else if (json_is_string(json_object_get(p, "in_doubt")))
			fprintf(out,
			    "It is not known whether packets arrive: \"%s\" has not taken its "
			    "forwarding table, or not yet.\n",
			    fmctl_string(p, "in_doubt"));
		else
			fputs("There is no path: packets do not arrive.\n", out);
		return;
	}
	fprintf(out,
	    "Path from LID %" I " to LID %" I ": sl %" I " mtu %" I
	    " rate %.1f Gb/s pkey 0x%04x%s\n",
	    fmctl_number(p, "from.lid"), fmctl_number(p, "to.lid"), fmctl_number(p, "sl"),
	    fmctl_number(p, "mtu"), (double)fmctl_number(p, "mbps") / 1000,
	    (unsigned)fmctl_number(p, "pkey"),
	    json_is_true(json_object_get(p, "reversible")) ? " reversible" : "");
	if (fmctl_number(p, "pkey") == 0)
		fputs("They share no partition: the SA tells no path.\n", out);
}

int
fmctl_judge_path(const json_t *p)
{
	return json_is_true(json_object_get(p, "arrives")) ? FMD_EXIT_OK : FMD_EXIT_NOT_ROUTED;
}

/* ------------------------------------------------------------ other tables */

static void
show_members(const json_t *partition, FILE *out)
{
	static const struct column columns[] = { { "NODE", "node", NULL, false },
		{ "PORT", "port", NULL, true }, { "GUID", "guid", NULL, false },
		{ "MEMBER", "member", NULL, false } };
	static const struct column absent_columns[] = { { "GUID", "guid", NULL, false },
		{ "LINE", "line", NULL, true } };
	const json_t *members = json_object_get(partition, "members");
	const json_t *absent = json_object_get(partition, "absent");

	if (members == NULL)
		return;
	fputc('\n', out);
	fmctl_table(members, columns, N_OF(columns), true, out);
	if (json_array_size(absent) > 0) {
		fputs("\nNamed by the file, and not in the subnet:\n", out);
		fmctl_table(absent, absent_columns, N_OF(absent_columns), true, out);
	}
}

void
fmctl_show_partitions(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "PKEY", "pkey", NULL, false },
		{ "NAME", "name", NULL, false }, { "FULL", "full", NULL, true },
		{ "LIMITED", "limited", NULL, true }, { "SL", "sl", NULL, true },
		{ "IPOIB", "ipoib", NULL, false } };
	const json_t *all = json_object_get(result, "partitions");

	fmctl_table(all, columns, N_OF(columns), false, out);
	fprintf(out, "enforced    %s: by %" I " switch ports before hosts, not by %" I "\n",
	    fmctl_string(result, "enforce"), fmctl_number(result, "enforcing_ports"),
	    fmctl_number(result, "open_ports"));
	if (*fmctl_string(result, "file") != '\0')
		fprintf(out, "file        %s\n", fmctl_string(result, "file"));
	for (size_t i = 0; i < json_array_size(all); i++)
		show_members(json_array_get(all, i), out);
}

/* "70 %", "first", or nothing where no vfabric has a share. */
static void
say_share(const json_t *r, char *buf, size_t size)
{
	const json_t *share = json_object_get(r, "share");

	if (json_is_true(json_object_get(r, "high_priority")))
		snprintf(buf, size, "first");
	else if (share != NULL)
		snprintf(buf, size, "%" I " %%", json_integer_value(share));
	else
		snprintf(buf, size, "-");
}

static void
show_vfabric_members(const json_t *vfabric, FILE *out)
{
	static const struct column columns[] = { { "NODE", "node", NULL, false },
		{ "PORT", "port", NULL, true }, { "GUID", "guid", NULL, false },
		{ "MEMBER", "member", NULL, false }, { "HELD", "held", NULL, false } };
	static const struct column missing_columns[] = { { "ITEM", "item", NULL, false },
		{ "LIST", "list", NULL, false }, { "FILE", "file", NULL, false },
		{ "LINE", "line", NULL, true } };
	const json_t *members = json_object_get(vfabric, "members");
	const json_t *missing = json_object_get(vfabric, "missing");

	if (members == NULL)
		return;
	fputc('\n', out);
	fmctl_table(members, columns, N_OF(columns), true, out);
	if (json_array_size(missing) > 0) {
		fputs("\nNamed by its lists, and not in the subnet:\n", out);
		fmctl_table(missing, missing_columns, N_OF(missing_columns), true, out);
	}
}

static void
say_n_missing(const json_t *r, char *buf, size_t size)
{
	snprintf(buf, size, "%zu", json_array_size(json_object_get(r, "missing")));
}

void
fmctl_show_vfabrics(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "NAME", "name", NULL, false },
		{ "PKEY", "pkey", NULL, false }, { "SL", "sl", NULL, true },
		{ "SHARE", NULL, say_share, true }, { "MTU", "mtu", NULL, true },
		{ "RATE", "rate", NULL, true }, { "FULL", "full", NULL, true },
		{ "LIMITED", "limited", NULL, true }, { "HOLDING", "holding", NULL, true },
		{ "UNREAD", "unread", NULL, true }, { "MISSING", NULL, say_n_missing, true } };
	const json_t *all = json_object_get(result, "vfabrics");
	const char *by = fmctl_string(result, "sl_by");

	fmctl_table(all, columns, N_OF(columns), false, out);
	fprintf(out, "ports       %" I " of hosts, %" I " of them in no vfabric\n",
	    fmctl_number(result, "host_ports"), fmctl_number(result, "in_none"));
	if (strcmp(by, "vfabric") != 0)
		fprintf(out, "SLs         of paths are said by: %s\n", by);
	for (size_t i = 0; i < json_array_size(all); i++)
		show_vfabric_members(json_array_get(all, i), out);
}

/* "3 > host-2, 5" */
static void
say_marking_ports(const json_t *r, char *buf, size_t size)
{
	const json_t *ports = json_object_get(r, "ports");
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < json_array_size(ports) && at < size; i++) {
		const json_t *p = json_array_get(ports, i);
		const char *to = fmctl_string(p, "to");

		at += (size_t)snprintf(buf + at, size - at, "%s%" I "%s%s", i > 0 ? ", " : "",
		    fmctl_number(p, "port"), *to != '\0' ? " > " : "", to);
	}
}

/* Of the last packet. */
static void
say_marked_packet(const json_t *r, char *buf, size_t size)
{
	const json_t *p = json_array_get(json_object_get(r, "packets"), 0);
	const char *from = fmctl_string(p, "from"), *to = fmctl_string(p, "to");

	*buf = '\0';
	if (p != NULL)
		snprintf(buf, size, "%.60s LID %" I " > %.60s LID %" I ", SL %" I, from,
		    fmctl_number(p, "slid"), to, fmctl_number(p, "dlid"), fmctl_number(p, "sl"));
}

static void
say_marked_ago(const json_t *r, char *buf, size_t size)
{
	snprintf(buf, size, "%.0f s ago", json_number_value(json_object_get(r, "marked_s_ago")));
}

void
fmctl_show_congestion(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "SWITCH", "switch", NULL, false },
		{ "LATELY", "lately", NULL, true }, { "EVENTS", "events", NULL, true },
		{ "LAST", NULL, say_marked_ago, true }, { "PORTS", NULL, say_marking_ports, false },
		{ "PACKET", NULL, say_marked_packet, false } };
	const json_t *all = json_object_get(result, "switches");
	json_int_t n = fmctl_number(result, "n_marked");

	if (!json_is_true(json_object_get(result, "enabled"))) {
		fputs("congestion control is off (congestion_control)\n", out);
		return;
	}
	fmctl_table(all, columns, N_OF(columns), false, out);
	if (n > (json_int_t)json_array_size(all))
		fprintf(out, "and %" I " more\n", n - (json_int_t)json_array_size(all));
	fprintf(out, "logs        of %" I " of %" I " switches were read\n",
	    fmctl_number(result, "n_read"), fmctl_number(result, "n_switches"));
}

static void
say_next(const json_t *r, char *buf, size_t size)
{
	const json_t *next = json_object_get(r, "next_ms");
	json_int_t ms = json_integer_value(next);

	if (json_is_integer(next))
		snprintf(buf, size, "in %" I " ms", ms > 0 ? ms : 0);
	else
		snprintf(buf, size, "%s", next != NULL ? "light sweep" : "");
}

void
fmctl_show_trouble(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "SINCE", "since", NULL, false },
		{ "KIND", "kind", NULL, false }, { "TRIES", "tries", NULL, true },
		{ "NEXT", NULL, say_next, false }, { "WHAT", "text", NULL, false } };
	const json_t *lines = json_object_get(result, "lines");
	json_int_t n = fmctl_number(result, "n_lines");

	fmctl_table(lines, columns, N_OF(columns), false, out);
	if (n > (json_int_t)json_array_size(lines))
		fprintf(out, "and %" I " more\n", n - (json_int_t)json_array_size(lines));
}

/* ------------------------------------------------------------------ health */

#define HEALTH_TOP 20

static const struct column health_columns[] = { { "HEALTH", "health", NULL, false },
	{ "SINCE", "since", NULL, false }, { "FROM", "node", NULL, false },
	{ "PORT", "port", NULL, true }, { "TO", "peer", NULL, false },
	{ "PORT", "peer_port", NULL, true }, { "SUSPECT", "suspect", NULL, false },
	{ "WHY", "reason", NULL, false } };

void
fmctl_show_health(const struct ask *a, const json_t *result, FILE *out)
{
	const json_t *cables = json_object_get(result, "cables");
	const char *why = fmctl_string(result, "judged.why");
	json_t *first = json_array();
	json_int_t n = fmctl_number(result, "counts.watch") + fmctl_number(result, "counts.bad") +
	    fmctl_number(result, "counts.quarantined");

	fprintf(out, "cables: %" I " ok, %" I " watch, %" I " bad, %" I " quarantined\n",
	    fmctl_number(result, "counts.ok"), fmctl_number(result, "counts.watch"),
	    fmctl_number(result, "counts.bad"), fmctl_number(result, "counts.quarantined"));
	if (*why != '\0')
		fprintf(out, "not judged by counters: %s\n", why);
	if (json_is_object(json_object_get(result, "cabling")))
		fprintf(out, "cabling: %" I " differences from %s%s\n",
		    fmctl_number(result, "cabling.differences"),
		    fmctl_string(result, "cabling.file"),
		    fmctl_number(result, "cabling.differences") > 0 ? " (fmctl trouble)" : "");
	for (size_t i = 0; i < json_array_size(cables) && (a->all || i < HEALTH_TOP); i++)
		json_array_append(first, json_array_get(cables, i));
	n -= (json_int_t)json_array_size(first);
	if (json_array_size(first) > 0)
		fmctl_table(first, health_columns, N_OF(health_columns), false, out);
	if (n > 0)
		fprintf(out, "and %" I " more%s\n", n, a->all ? "" : ": --all");
	json_decref(first);
}

/* Of a place: who follows it, and why that is not known. */
static void
show_followers(const json_t *place, FILE *out)
{
	static const struct column columns[] = { { "FOLLOWER", "name", NULL, false },
		{ "STATE", "state", NULL, false }, { "HERE", "here", NULL, true },
		{ "MOST", "most", NULL, true }, { "FEWER SINCE", "fewer_since", NULL, false } };
	const json_t *followers = json_object_get(place, "followers");

	if (json_array_size(followers) > 0)
		fmctl_table(followers, columns, N_OF(columns), false, out);
	if (*fmctl_string(place, "followers_unknown") != '\0')
		fprintf(out, "followers   not all known: %s\n",
		    fmctl_string(place, "followers_unknown"));
}

/* Which addresses of ports are published, as the first place has them. */
static void
show_registered(const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "CONTESTED SINCE", "since", NULL, false },
		{ "WHAT", "text", NULL, false } };
	const json_t *place = json_array_get(json_object_get(result, "places"), 0),
		     *contests = json_object_get(result, "contests");
	json_int_t n = fmctl_number(place, "contested");

	if (fmctl_number(place, "registered") + n > 0)
		fprintf(out,
		    "registered  %" I " addresses and alias GUIDs of ports, %" I
		    " more are contested\n",
		    fmctl_number(place, "registered"), n);
	if (json_array_size(contests) > 0)
		fmctl_table(contests, columns, N_OF(columns), false, out);
	if (n > (json_int_t)json_array_size(contests))
		fprintf(out, "and %" I " more\n", n - (json_int_t)json_array_size(contests));
}

void
fmctl_show_dist(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "KIND", "kind", NULL, false },
		{ "PLACE", "place", NULL, false }, { "STATE", "state", NULL, false },
		{ "TERM", "term", NULL, true }, { "EPOCH", "epoch", NULL, true },
		{ "BYTES", "bytes", NULL, true }, { "FAILURES", "failures", NULL, true },
		{ "WHY", "error", NULL, false } };
	const json_t *place;
	size_t i;

	if (json_object_get(result, "peers") != NULL) {
		fmctl_show_peers(result, out);
		return;
	}
	if (json_object_get(result, "differences") != NULL) {
		fmctl_show_dist_verify(result, out);
		return;
	}
	fmctl_table(json_object_get(result, "places"), columns, N_OF(columns), false, out);
	json_array_foreach(json_object_get(result, "places"), i, place) show_followers(place, out);
	show_registered(result, out);
	if (!is_well(result))
		fprintf(out, "subnet      %s\n", not_well);
}

void
fmctl_show_commands(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "COMMAND", "command", NULL, false },
		{ "WHAT", "help", NULL, false } };

	fmctl_table(result, columns, N_OF(columns), false, out);
}
