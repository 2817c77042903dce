/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/report.c - what a sweep did, in one line and in full.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/daemon/daemon.h"
#include "core/health/findings.h"
#include "core/text/json_text.h"
#include "lib/log.h"

/* "PortInfo 120 LFT 64", of the attributes that occur. */
static void
list_attrs(const uint64_t *by_attr, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < 256 && at < size; i++) {
		const char *name = wire_attr_name((uint16_t)i);
		int n;

		if (by_attr[i] == 0)
			continue;
		n = snprintf(buf + at, size - at, "%s%s %" PRIu64, at > 0 ? " " : "",
		    name ? name : "?", by_attr[i]);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void
list_phases(const struct sweep_report *r, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = PHASE_DISCOVER; i < PHASE_DONE && at < size; i++) {
		int n = snprintf(buf + at, size - at, "%s%s %.1f", i > PHASE_DISCOVER ? " " : "",
		    sweep_phase_names[i], r->phase_ms[i]);

		at += n > 0 ? (size_t)n : 0;
	}
}

/* For who looks closely: how forwarding tables were written, if any were and not to blank switches;
 * by which ways all that was written went. */
static void
debug_order(const struct sweep_report *r)
{
	const struct transition_counts *c = &r->order;

	if (c->blocks > 0)
		log_debug("sweep",
		    "forwarding tables: change %s, %u blocks, %u of them in an order, %u rounds, "
		    "%u splits, %u LIDs drained, %u waits, %u blocks held back",
		    plan_change_name(r->change.kind), c->blocks, c->risky, c->rounds, c->splits,
		    c->drained, c->waits, c->held);
	if (r->by_lid.sent + r->by_lid.mixed > 0)
		log_debug("sweep",
		    "%" PRIu64 " SMPs by LID, %" PRIu64 " mixed; put again, directed: %" PRIu64
		    " and %" PRIu64,
		    r->by_lid.sent, r->by_lid.mixed, r->by_lid.lost, r->by_lid.mixed_lost);
}

static void
debug_counts(const struct sweep_report *r)
{
	char gets[256], sets[256], phases[256];

	list_attrs(r->gets_by_attr, gets, sizeof(gets));
	list_attrs(r->sets_by_attr, sets, sizeof(sets));
	list_phases(r, phases, sizeof(phases));
	log_debug("sweep",
	    "%s sweep (%s): phases in ms: %s; of route tables %.1f, their order %.1f",
	    sweep_scope_name(r->scope), r->reason, phases, r->tables_ms, r->order_ms);
	log_debug("sweep", "Gets: %s; Sets: %s; timeouts %" PRIu64 ", refused %" PRIu64, gets,
	    r->sets > 0 ? sets : "none", r->timeouts, r->refused);
	log_debug("sweep",
	    "left out: silent=%u duplicates=%u loops=%u; not ACTIVE: %u cabled ports; fmctl "
	    "trouble tells what is wrong: %u",
	    r->n_silent, r->n_duplicates, r->n_loops, r->n_ports_not_active, r->n_troubles);
}

/* One line an event: what has changed, with what became of it; of a sweep that has found nothing
 * that it is over, unless it only finished what was begun. */
static void
say_up(struct daemon *d, const struct sweep_report *r)
{
	const struct telling ruling = { .kind = EVENT_BECAME_MASTER, .unlogged = true };
	bool is_first = d->seen == NULL;
	bool is_up_untold = is_first || daemon_is_up_untold(d);
	char line[256], how[64] = "", all[384];
	size_t n_told;

	if (r->repaired)
		snprintf(how, sizeof(how), " (repaired: %u entries in %u blocks)",
		    r->n_repaired_entries, r->n_repaired_blocks);
	else if (r->kept)
		snprintf(how, sizeof(how), " (tables kept)");
	snprintf(line, sizeof(line),
	    "SUBNET UP: %u switches, %u CAs, %u routers, %u links, %u LIDs, engine %s%s, %.1f ms",
	    r->n_switches, r->n_cas, r->n_routers, r->n_links, r->n_lids, r->engine, how,
	    r->total_ms);
	if (is_first)
		event_tell(&ruling, FM_LOG_NOTICE, "ha", "this SM is master of the subnet");
	n_told = daemon_tell_news(d, r, is_up_untold ? "" : line);
	if (!is_first && (n_told > 0 || is_up_untold))
		return; /* nothing says that the subnet is up before the SA answers */
	snprintf(all, sizeof(all), "%s, %" PRIu64 " Gets, %" PRIu64 " Sets, %" PRIu64 " retries",
	    line, r->gets, r->sets, r->retries);
	if (!is_first || !daemon_says_up_later(d, all))
		events_add(EVENT_SUBNET_UP,
		    is_first || r->scope == SWEEP_HEAVY ? FM_LOG_NOTICE : FM_LOG_INFO, "sweep",
		    json_incref(d->summary), "%s", all);
}

/* Told with each sweep that leaves it so; an event is the first of these. */
static void
tell_no_path(struct daemon *d, const struct sweep_report *r)
{
	char text[128];

	snprintf(text, sizeof(text),
	    "pairs have no path, though cables join them: pairs=%" PRIu64
	    "; fmctl routes tells why",
	    r->n_unreachable);
	if (r->n_unreachable == 0) {
		event_end(d->began.no_path, EVENT_NO_PATH, "sweep", "all pairs have a path");
		d->began.no_path = 0;
	} else if (d->began.no_path != 0) {
		log_beside(FM_LOG_WARN, "sweep", "%s", text);
	} else {
		d->began.no_path = events_add(EVENT_NO_PATH, FM_LOG_WARN, "sweep",
		    json_pack("{s:I}", "pairs", (json_int_t)r->n_unreachable), "%s", text);
	}
}

static void
report_up(struct daemon *d, const struct sweep_report *r)
{
	if (d->cli->dry_run)
		return;
	json_decref(d->summary);
	d->summary = daemon_report_json(r);
	say_up(d, r);
	if (!d->cli->once) /* that says it all in its summary */
		debug_counts(r);
	debug_order(r);
	tell_no_path(d, r);
	cabling_watch_look(&d->cabling, d->conf->cabling.file.path, d->conf->cabling.wanted,
	    sweeper_inventory(d->sweeper));
}

/* --------------------------------------------------------------- a dry run */

/* The Sets of one node. */
struct node_sets {
	uint32_t node;
	uint64_t by_attr[256];
};

static int
by_node(const void *a, const void *b)
{
	const struct sweep_would *x = a, *y = b;

	return x->node != y->node ? (x->node < y->node ? -1 : 1) : x->attr - y->attr;
}

/* From *at on: those of the next node; false behind the last. */
static bool
next_node(const struct sweep_would *sets, size_t n, size_t *at, struct node_sets *out)
{
	*out = (struct node_sets){ 0 };
	if (*at == n)
		return false;
	for (out->node = sets[*at].node; *at < n && sets[*at].node == out->node; ++*at)
		out->by_attr[sets[*at].attr]++;
	return true;
}

/* "LID 0 to 12, 3 links to ACTIVE", of what the node's ports hold and are to hold; "": nothing. */
static void
say_ports(const struct inv_node *n, char *buf, size_t size)
{
	unsigned n_down = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned p = 0; p <= n->n_ports; p++) {
		const struct inv_port *port = &n->ports[p];

		if (port->lid != 0 && port->lid != port->info.lid && at < size)
			at += (size_t)snprintf(
			    buf + at, size - at, "; LID %u to %u", port->info.lid, port->lid);
		n_down +=
		    p > 0 && port->edge == EDGE_LINKED && port->info.port_state < WIRE_PORT_ACTIVE;
	}
	if (n_down > 0 && at < size)
		snprintf(
		    buf + at, size - at, "; %u link%s to ACTIVE", n_down, n_down > 1 ? "s" : "");
}

static void
print_node(const struct inv_node *n, const struct node_sets *sets)
{
	char attrs[256], ports[256];

	list_attrs(sets->by_attr, attrs, sizeof(attrs));
	say_ports(n, ports, sizeof(ports));
	printf("%-32s %s%s\n", n->desc, attrs, ports);
}

/* Nodes with the same Sets are one line. */
struct alike {
	char attrs[256];
	const char *name; /* of the first */
	unsigned n;
};

static void
print_alike(const struct inventory *inv, const struct sweep_would *sets, size_t n)
{
	FM_VEC(struct alike) kinds = { 0 };
	struct node_sets one;

	for (size_t at = 0; next_node(sets, n, &at, &one);) {
		struct alike kind = { .name = inv_node(inv, one.node)->desc, .n = 1 };
		size_t k = 0;

		list_attrs(one.by_attr, kind.attrs, sizeof(kind.attrs));
		while (k < kinds.n && strcmp(kinds.item[k].attrs, kind.attrs) != 0)
			k++;
		if (k < kinds.n)
			kinds.item[k].n++;
		else if (!fm_vec_push(&kinds, kind))
			break;
	}
	for (size_t k = 0; k < kinds.n; k++)
		printf("%-6u node%s %s, as %s\n", kinds.item[k].n,
		    kinds.item[k].n > 1 ? "s:" : ": ", kinds.item[k].attrs, kinds.item[k].name);
	fm_vec_fini(&kinds);
}

static const char *
attr_name(unsigned attr)
{
	const char *name = wire_attr_name((uint16_t)attr);

	return name != NULL ? name : "other";
}

static json_t *
sets_json(const uint64_t *by_attr)
{
	json_t *o = json_object();

	for (unsigned i = 0; o != NULL && i < 256; i++)
		if (by_attr[i] > 0)
			json_object_set_new(o, attr_name(i), json_integer((json_int_t)by_attr[i]));
	return o;
}

static void
print_dry_json(const struct inventory *inv, const struct sweep_report *r,
    const struct sweep_would *sets, size_t n)
{
	json_t *nodes = json_array(), *all;
	struct node_sets one;

	for (size_t at = 0; next_node(sets, n, &at, &one);) {
		const struct inv_node *node = inv_node(inv, one.node);
		char guid[24], ports[256];

		snprintf(guid, sizeof(guid), "0x%016" PRIx64, node->guid);
		say_ports(node, ports, sizeof(ports));
		json_array_append_new(nodes,
		    json_pack("{s:o, s:s, s:o, s:s}", "node", json_text(node->desc), "guid", guid,
			"sets", sets_json(one.by_attr), "ports", ports + 2 * (*ports != '\0')));
	}
	all =
	    json_pack("{s:s, s:I, s:o, s:o}", "engine", r->engine, "sets", (json_int_t)r->would_set,
		"by_attribute", sets_json(r->would_set_by_attr), "nodes", nodes);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void
print_dry(const struct sweep_report *r)
{
	char sets[256];

	list_attrs(r->would_set_by_attr, sets, sizeof(sets));
	printf("dry run: %u switches, %u CAs, %u routers, %u links, engine %s\n", r->n_switches,
	    r->n_cas, r->n_routers, r->n_links, r->engine);
	printf(
	    "would send %" PRIu64 " Sets%s%s\n", r->would_set, r->would_set > 0 ? ": " : "", sets);
}

static void
report_dry_run(const struct daemon *d, const struct sweep_report *r)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	FM_VEC(struct sweep_would) sets = { 0 };
	struct node_sets one;
	size_t n, at = 0;
	const struct sweep_would *sent = sweeper_would(d->sweeper, &n);

	if (!fm_vec_append(&sets, sent, n)) {
		log_err("daemon", "out of memory for what a dry run tells");
		return;
	}
	if (n > 0)
		qsort(sets.item, n, sizeof(*sets.item), by_node);
	if (d->cli->json) {
		print_dry_json(inv, r, sets.item, n);
	} else {
		print_dry(r);
		if (d->cli->summary)
			print_alike(inv, sets.item, n);
		while (!d->cli->summary && next_node(sets.item, n, &at, &one))
			print_node(inv_node(inv, one.node), &one);
	}
	fflush(stdout);
	fm_vec_fini(&sets);
}

/* ------------------------------------------------------ the summary of --once */

static void
print_refusals(const struct plan_refusal *refused, size_t n, const char *region)
{
	for (size_t i = 0; i < n; i++)
		printf("refused     %s%s%s: %s\n", region, *region != '\0' ? ": " : "",
		    refused[i].engine, refused[i].reason);
}

static void
print_regions(const struct plan_regions *regions)
{
	for (uint32_t i = 0; i < regions->n; i++) {
		const struct plan_region *r = &regions->region[i];

		print_refusals(r->refused.item, r->refused.n, r->name);
		if (r->engine[0] != '\0')
			printf("region      %s: %s\n", r->name, r->engine);
	}
	printf("joined      %s\n", plan_join_name(regions->join));
}

static void
print_routing(const struct plan *p, const struct sweep_report *r)
{
	if (p == NULL) {
		printf("engine      none: there is no switch\n");
		return;
	}
	print_refusals(p->refused.item, p->refused.n, "");
	if (p->regions != NULL)
		print_regions(p->regions);
	printf("engine      %s%s\n", r->engine, r->kept ? ": its tables are kept" : "");
	if (p->because != NULL)
		printf("because     auto takes the fabric for %s\n", p->because);
	if (p->weighed[0] != '\0')
		printf("weighed     %s\n", p->weighed);
	verdict_print(&p->verdict, stdout);
}

/* In the words of fmroute; what is not as it should be comes last, where it is seen. */
static void
print_summary(const struct daemon *d, const struct sweep_report *r)
{
	char gets[256], sets[256], phases[256];

	list_attrs(r->gets_by_attr, gets, sizeof(gets));
	list_attrs(r->sets_by_attr, sets, sizeof(sets));
	list_phases(r, phases, sizeof(phases));
	printf("fabric      %u switches, %u CAs, %u routers, %u links, %u LIDs\n", r->n_switches,
	    r->n_cas, r->n_routers, r->n_links, r->n_lids);
	print_routing(sweeper_plan(d->sweeper), r);
	printf("Gets        %" PRIu64 "%s%s\n", r->gets, r->gets > 0 ? ": " : "", gets);
	printf("Sets        %" PRIu64 "%s%s\n", r->sets, r->sets > 0 ? ": " : "", sets);
	printf("SMPs lost   %" PRIu64 " sent again, %" PRIu64 " never answered, %" PRIu64
	       " refused\n",
	    r->retries, r->timeouts, r->refused);
	printf("left out    %u silent, %u duplicate GUIDs, %u loopback cables\n", r->n_silent,
	    r->n_duplicates, r->n_loops);
	printf("time        %.1f ms: %s\n", r->total_ms, phases);
	printf("subnet      up, %u ports ACTIVE, %u cabled ports not\n", r->n_ports_active,
	    r->n_ports_not_active);
}

/* ------------------------------------------------------------- how it ended */

static enum fmd_exit
outcome_exit(const struct sweep_report *r)
{
	switch (r->outcome) {
	case SWEEP_UP:
		return r->n_unreachable > 0 ? FMD_EXIT_NOT_ROUTED : FMD_EXIT_OK;
	case SWEEP_RUNNING:
	case SWEEP_UNCHANGED:
	case SWEEP_BROKEN_OFF:
		return FMD_EXIT_OK;
	case SWEEP_STANDBY:
		return FMD_EXIT_OTHER_MASTER;
	case SWEEP_NOT_ROUTED:
		return FMD_EXIT_NOT_ROUTED;
	case SWEEP_NO_LINK:
		return FMD_EXIT_SYSTEM;
	case SWEEP_FAILED: /* regions that overlap are the configuration's fault */
		return r->error.kind == FM_E_CONFIG ? FMD_EXIT_USAGE : FMD_EXIT_SYSTEM;
	}
	return FMD_EXIT_SYSTEM;
}

static void
report_failure(struct daemon *d, const struct sweep_report *r)
{
	if (r->outcome == SWEEP_NOT_ROUTED && d->seen != NULL)
		daemon_tell_news(d, r, "");
	switch (r->outcome) {
	case SWEEP_STANDBY:
		daemon_forget_seen(d);
		findings_begin(d->findings);
		if (d->ha.state == WIRE_SM_NOT_ACTIVE) {
			events_add(EVENT_SM_NOT_ACTIVE, FM_LOG_NOTICE, "ha", NULL,
			    "not active (%s): nothing is written",
			    d->conf->sm.inactive ? "sm_inactive = yes" : "told so by a master");
			break;
		}
		events_add(EVENT_STANDING_BY, d->cli->once ? FM_LOG_ERR : FM_LOG_NOTICE, "ha", NULL,
		    "another SM is or will be master: %s; standing by", r->other);
		break;
	case SWEEP_NO_LINK:
		if (d->ended.outcome != SWEEP_NO_LINK) /* said once */
			d->began.no_link =
			    events_add(EVENT_NO_LINK, d->cli->once ? FM_LOG_ERR : FM_LOG_WARN,
				"sweep", NULL, "our port has no link%s",
				d->cli->once ? ": is a cable plugged in?" : "; waiting for one");
		break;
	case SWEEP_NOT_ROUTED:
	case SWEEP_FAILED:
		if (r->failed_again)
			log_debug("sweep", "sweep failed again: %s", r->error.msg);
		else
			d->began.failed = events_add(EVENT_SWEEP_FAILED, FM_LOG_ERR, "sweep", NULL,
			    "sweep failed: %s", r->error.msg);
		break;
	case SWEEP_RUNNING:
	case SWEEP_UP:
	case SWEEP_UNCHANGED:
	case SWEEP_BROKEN_OFF:
		break;
	}
}

/* What an earlier sweep has ended with, and this one has not. */
static void
tell_ends(struct daemon *d, const struct sweep_report *r)
{
	bool failed = r->outcome == SWEEP_NOT_ROUTED || r->outcome == SWEEP_FAILED;

	if (r->outcome == SWEEP_BROKEN_OFF)
		return;
	if (r->outcome != SWEEP_NO_LINK) {
		event_end(d->began.no_link, EVENT_NO_LINK, "sweep", "our port has a link");
		d->began.no_link = 0;
	}
	if (!failed || !r->failed_again) {
		event_end(d->began.failed, EVENT_SWEEP_FAILED, "sweep", "sweeps %s",
		    failed ? "fail in another way" : "do not fail any more");
		d->began.failed = 0;
	}
}

void
daemon_report(struct daemon *d, const struct sweep_report *r)
{
	tell_ends(d, r);
	if (r->outcome == SWEEP_UP)
		report_up(d, r);
	else if (r->outcome == SWEEP_UNCHANGED)
		log_debug("sweep", "light sweep: nothing new, %" PRIu64 " Gets", r->gets);
	else
		report_failure(d, r);
	if (d->cli->dry_run && r->outcome == SWEEP_UP)
		report_dry_run(d, r);
	else if (d->cli->once && r->outcome == SWEEP_UP)
		print_summary(d, r);
	d->exit_code = outcome_exit(r);
	d->n_ended[r->outcome]++;
	if (r->outcome != SWEEP_BROKEN_OFF) {
		d->ended.number = r->number;
		d->ended.outcome = r->outcome;
		d->ended.n_unreachable = r->n_unreachable;
	}
}
