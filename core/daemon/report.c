/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/report.c - what a sweep did, in one line and in full.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/daemon/daemon.h"
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
	log_debug("sweep", "%s sweep (%s): phases in ms: %s", sweep_scope_name(r->scope), r->reason,
	    phases);
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
	bool is_first = d->seen == NULL;
	char line[256], how[64] = "";
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
	n_told = daemon_tell_news(d, r, is_first ? "" : line);
	if (is_first || n_told == 0)
		events_add(d->events,
		    is_first || r->scope == SWEEP_HEAVY ? FM_LOG_NOTICE : FM_LOG_INFO, "sweep",
		    json_incref(d->summary),
		    "%s, %" PRIu64 " Gets, %" PRIu64 " Sets, %" PRIu64 " retries", line, r->gets,
		    r->sets, r->retries);
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
	if (r->n_unreachable > 0)
		log_warn("sweep",
		    "pairs have no path, though cables join them: pairs=%" PRIu64
		    "; fmctl routes tells why",
		    r->n_unreachable);
}

static void
report_dry_run(const struct sweep_report *r)
{
	char sets[256];

	list_attrs(r->would_set_by_attr, sets, sizeof(sets));
	printf("dry run: %u switches, %u CAs, %u routers, %u links, engine %s\n", r->n_switches,
	    r->n_cas, r->n_routers, r->n_links, r->engine);
	printf(
	    "would send %" PRIu64 " Sets%s%s\n", r->would_set, r->would_set > 0 ? ": " : "", sets);
	fflush(stdout);
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
		if (d->ha.state == WIRE_SM_NOT_ACTIVE) {
			events_add(d->events, FM_LOG_NOTICE, "ha", NULL,
			    "not active (%s): nothing is written",
			    d->conf->sm_inactive ? "sm_inactive = yes" : "told so by a master");
			break;
		}
		events_add(d->events, d->cli->once ? FM_LOG_ERR : FM_LOG_NOTICE, "ha", NULL,
		    "another SM is or will be master: %s", r->other);
		break;
	case SWEEP_NO_LINK:
		events_add(d->events, FM_LOG_WARN, "sweep", NULL, "our port has no link%s",
		    d->cli->once ? "" : "; waiting for one");
		break;
	case SWEEP_NOT_ROUTED:
	case SWEEP_FAILED:
		events_add(d->events, FM_LOG_ERR, "sweep", NULL, "sweep failed: %s", r->error.msg);
		break;
	case SWEEP_RUNNING:
	case SWEEP_UP:
	case SWEEP_UNCHANGED:
	case SWEEP_BROKEN_OFF:
		break;
	}
}

void
daemon_report(struct daemon *d, const struct sweep_report *r)
{
	if (r->outcome == SWEEP_UP)
		report_up(d, r);
	else if (r->outcome == SWEEP_UNCHANGED)
		log_debug("sweep", "light sweep: nothing new, %" PRIu64 " Gets", r->gets);
	else
		report_failure(d, r);
	if (d->cli->dry_run && r->outcome == SWEEP_UP)
		report_dry_run(r);
	else if (d->cli->once && r->outcome == SWEEP_UP)
		print_summary(d, r);
	d->exit_code = outcome_exit(r);
	if (r->outcome != SWEEP_BROKEN_OFF) {
		d->ended.number = r->number;
		d->ended.outcome = r->outcome;
		d->ended.n_unreachable = r->n_unreachable;
	}
}
