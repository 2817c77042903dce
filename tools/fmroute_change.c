/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two columns of what is true before and after, then what is written and what
 * becomes of the pairs.  Who is cut off is told by name; of long lists the text
 * shows the first few, the JSON MAX_PAIRS.
 */
#include "tools/fmroute_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/text/json_text.h"
#include "tools/fmroute_job.h"

#define MAX_PAIRS 1000 /* in the JSON */
#define MAX_SHOWN 10   /* in the text */
#define FLOWS 500000   /* of the effective bisection bandwidth, in samples: */
#define MIN_SAMPLES 50
#define MAX_SAMPLES 1000

/* Samples agree the better the more hosts there are: as many flows will do. */
static uint32_t
n_samples(const struct snapshot *snap)
{
	uint32_t n = FLOWS / (snap->fab.n_ends + 1);

	return n < MIN_SAMPLES ? MIN_SAMPLES : n > MAX_SAMPLES ? MAX_SAMPLES : n;
}

int
state_measure(struct state *s, struct fm_pool *workers, struct fm_error *err)
{
	struct metrics_request req = { .seed = 1, .ebb_samples = n_samples(s->snap) };

	return s->tables == NULL
	    ? 0
	    : metrics_compute(s->snap, &s->tables->t, &req, workers, &s->metrics, err);
}

/* A chain has proven its tables under its own rules (credit_loops = warn, pairs that
 * its engine has to leave out); given ones must be right in all. */
bool
state_is_proven(const struct state *s)
{
	return s->tables != NULL &&
	    (s->plan != NULL ||
		(verdict_is_safe(&s->verdict, false) && s->verdict.unreachable_pairs == 0));
}

static const char *
how(const struct state *s)
{
	if (s->plan == NULL)
		return "given";
	if (s->plan->made == PLAN_REPAIRED)
		return "repaired";
	return s->plan->made == PLAN_KEPT ? "kept" : "routed";
}

int
change_find(const struct state *before, const struct state *after, struct fm_pool *workers,
    struct change *c, struct fm_error *err)
{
	struct compare_side b = { before->snap, &before->tables->t, before->top_lid };
	struct compare_side a = { after->snap, &after->tables->t, after->top_lid };
	double start = plan_now_ms();
	int rc;

	*c = (struct change){ .before = before, .after = after };
	rc = compare_tables(&b, &a, MAX_PAIRS, workers, &c->report, err);
	c->compare_ms = plan_now_ms() - start;
	return rc;
}

void
change_fini(struct change *c)
{
	compare_fini(&c->report);
}

/* -------------------------------------------------------------------- JSON */

static json_t *
integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

json_t *
state_json(const struct state *s)
{
	const struct verdict *v = &s->verdict;
	const struct metrics *m = &s->metrics;
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "engine", s->tables != NULL ? json_string(s->engine) : json_null());
	json_object_set_new(o, "made", s->tables != NULL ? json_string(how(s)) : json_null());
	for (size_t i = 0; s->plan != NULL && i < s->plan->refused.n; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:o}", "engine", s->plan->refused.item[i].engine, "reason",
			json_text(s->plan->refused.item[i].reason)));
	json_object_set_new(o, "refused", list);
	json_object_set_new(o, "proven", json_boolean(state_is_proven(s)));
	json_object_set_new(o, "switches", integer(s->snap->fab.n_switches));
	json_object_set_new(o, "route_ms", json_real(s->route_ms));
	json_object_set_new(o, "verify_ms", json_real(s->verify_ms));
	json_object_set_new(o, "reachable_pairs", integer(v->reachable_pairs));
	json_object_set_new(o, "unreachable_pairs", integer(v->unreachable_pairs));
	json_object_set_new(o, "disjoint_pairs", integer(v->disjoint_pairs));
	json_object_set_new(o, "loops", integer(v->loops));
	json_object_set_new(o, "credit_loops", integer(v->credit_loops));
	json_object_set_new(o, "vls", integer(v->vls));
	json_object_set_new(o, "max_hops", integer(v->max_hops));
	if (v->fault != VERIFY_OK)
		json_object_set_new(o, "witness", json_text(v->witness));
	if (s->tables == NULL)
		return o;
	json_object_set_new(o, "lingering_lids", integer(s->plan != NULL ? s->plan->absent.n : 0));
	json_object_set_new(o, "load",
	    json_pack("{s:I, s:f, s:I}", "min", (json_int_t)m->load_min, "avg", m->load_avg, "max",
		(json_int_t)m->load_max));
	json_object_set_new(o, "ebb", json_real(m->ebb));
	json_object_set_new(o, "sp_max", integer(m->sp_max));
	return o;
}

static json_t *
pairs_json(const struct change *c)
{
	const struct fm_fabric *fab = &c->before->snap->fab;
	json_t *list = json_array();

	for (size_t i = 0; i < c->report.pairs.n; i++) {
		const struct compare_pair *p = &c->report.pairs.item[i];
		json_t *o = json_object();

		json_object_set_new(o, "from", json_text(fab->end_name[p->from]));
		json_object_set_new(o, "to", json_text(fab->end_name[p->to]));
		json_object_set_new(o, "lid", integer(p->lid));
		json_array_append_new(list, o);
	}
	return list;
}

/* How the daemon would get there without a deadlock on the way. */
static json_t *
transition_json(const struct plan_change *t)
{
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_string(plan_change_name(t->kind)));
	json_object_set_new(o, "lids", integer(t->n_lids));
	json_object_set_new(o, "ordered", integer(t->n_next_hop_first));
	json_object_set_new(o, "later", integer(t->n_deferred));
	json_object_set_new(o, "drained", integer(t->n_drained));
	json_object_set_new(o, "left", integer(t->n_kept_old));
	json_object_set_new(o, "cut", integer(t->n_cut));
	if (t->waiting[0] != '\0')
		json_object_set_new(o, "waiting", json_text(t->waiting));
	return o;
}

json_t *
change_json(const struct change *c)
{
	const struct compare_report *r = &c->report;
	const struct fm_fabric *fab = &c->before->snap->fab;
	json_t *o = json_object(), *gone = json_array();

	json_object_set_new(o, "before", state_json(c->before));
	json_object_set_new(o, "after", state_json(c->after));
	if (c->after->plan != NULL && c->after->plan->change.kind != PLAN_FIRST)
		json_object_set_new(o, "transition", transition_json(&c->after->plan->change));
	json_object_set_new(o, "entries", integer(r->entries));
	json_object_set_new(o, "entries_cut", integer(r->entries_cut));
	json_object_set_new(o, "blocks", integer(r->blocks));
	json_object_set_new(o, "switches_written", integer(r->switches));
	json_object_set_new(o, "smps", integer(r->smps));
	json_object_set_new(o, "smps_by_kind",
	    json_pack("{s:I, s:I, s:I}", "lft", (json_int_t)r->blocks, "switch_info",
		(json_int_t)r->switch_infos, "sl2vl", (json_int_t)r->sl2vl));
	json_object_set_new(o, "kept_pairs", integer(r->kept));
	json_object_set_new(o, "moved_pairs", integer(r->moved));
	json_object_set_new(o, "sl_changed_pairs", integer(r->sl_changed));
	json_object_set_new(o, "gained_pairs", integer(r->gained));
	json_object_set_new(o, "lost_pairs", integer(r->lost));
	json_object_set_new(o, "lost_with_an_end", integer(r->lost_gone));
	json_object_set_new(o, "lost_without_cables", integer(r->lost_apart));
	json_object_set_new(o, "lost_without_route", integer(r->lost_unrouted));
	for (size_t i = 0; i < r->gone.n; i++)
		json_array_append_new(gone, json_text(fab->end_name[r->gone.item[i]]));
	json_object_set_new(o, "gone", gone);
	json_object_set_new(o, "disconnected", pairs_json(c));
	json_object_set_new(o, "compare_ms", json_real(c->compare_ms));
	return o;
}

/* -------------------------------------------------------------------- text */

static void
print_names(const struct change *c)
{
	const struct compare_report *r = &c->report;
	const struct fm_fabric *fab = &c->before->snap->fab;
	size_t n = r->gone.n < MAX_SHOWN ? r->gone.n : MAX_SHOWN;

	if (n > 0)
		printf("gone        ");
	for (size_t i = 0; i < n; i++)
		printf("%s%s", i > 0 ? ", " : "", fab->end_name[r->gone.item[i]]);
	if (r->gone.n > n)
		printf(" and %zu more end-ports", r->gone.n - n);
	if (n > 0)
		printf("\n");
	n = r->pairs.n < MAX_SHOWN ? r->pairs.n : MAX_SHOWN;
	for (size_t i = 0; i < n; i++)
		printf("%s%s -> %s (LID %u)\n", i == 0 ? "cut off     " : "            ",
		    fab->end_name[r->pairs.item[i].from], fab->end_name[r->pairs.item[i].to],
		    r->pairs.item[i].lid);
	if (r->lost - r->lost_gone > n)
		printf("            and %" PRIu64 " pairs more\n", r->lost - r->lost_gone - n);
}

static void
print_count(const char *title, uint64_t before, uint64_t after)
{
	printf("  %-24s%16" PRIu64 "%16" PRIu64 "\n", title, before, after);
}

static void
print_columns(const struct state *b, const struct state *a)
{
	printf("  %-24s%16s%16s\n", "", "before", "after");
	printf("  %-24s%16.16s%16.16s\n", "engine", b->engine, a->engine);
	printf("  %-24s%16s%16s\n", "tables are", how(b), how(a));
	print_count("reachable pairs", b->verdict.reachable_pairs, a->verdict.reachable_pairs);
	print_count(
	    "unreachable pairs", b->verdict.unreachable_pairs, a->verdict.unreachable_pairs);
	print_count("without cables between", b->verdict.disjoint_pairs, a->verdict.disjoint_pairs);
	print_count("most routes on a link", b->metrics.load_max, a->metrics.load_max);
	printf("  %-24s%16.1f%16.1f\n", "on average", b->metrics.load_avg, a->metrics.load_avg);
	printf("  %-24s%16.3f%16.3f\n", "bandwidth (eBB)", b->metrics.ebb, a->metrics.ebb);
	print_count("worst shift", b->metrics.sp_max, a->metrics.sp_max);
	print_count("hops at most", b->verdict.max_hops, a->verdict.max_hops);
	print_count("VLs", b->verdict.vls, a->verdict.vls);
	printf("  %-24s%16s%16s\n", "proven", state_is_proven(b) ? "yes" : "no",
	    state_is_proven(a) ? "yes" : "no");
}

static void
print_transition(const struct plan_change *t)
{
	if (t->kind == PLAN_FIRST)
		return;
	printf("transition  %s: of %u LIDs looked at %u in order, %u after a packet's life time, "
	       "%u emptied first, %u left as they were\n",
	    plan_change_name(t->kind), t->n_lids, t->n_next_hop_first, t->n_deferred, t->n_drained,
	    t->n_kept_old);
	if (t->n_cut > 0)
		printf("            %u of those emptied lose ways that are whole, for that time\n",
		    t->n_cut);
	if (t->waiting[0] != '\0')
		printf("            %s\n", t->waiting);
}

void
change_print(const struct change *c)
{
	const struct compare_report *r = &c->report;
	const struct state *a = c->after;

	print_columns(c->before, a);
	printf("written     %" PRIu64 " entries, %" PRIu64 " of them only cut off, in %" PRIu64
	       " blocks of %" PRIu32 " switches\n",
	    r->entries, r->entries_cut, r->blocks, r->switches);
	printf("SMPs        %" PRIu64 ": %" PRIu64 " LFT, %" PRIu64 " SwitchInfo, %" PRIu64
	       " SL2VL\n",
	    r->smps, r->blocks, r->switch_infos, r->sl2vl);
	printf("pairs       %" PRIu64 " as they were, %" PRIu64 " by other ports, %" PRIu64
	       " under another SL, %" PRIu64 " gained\n",
	    r->kept, r->moved, r->sl_changed, r->gained);
	printf("lost        %" PRIu64 ": %" PRIu64 " with an end that is gone, %" PRIu64
	       " without cables between, %" PRIu64 " without a route\n",
	    r->lost, r->lost_gone, r->lost_apart, r->lost_unrouted);
	print_names(c);
	if (a->plan != NULL)
		print_transition(&a->plan->change);
	if (a->plan != NULL && a->plan->absent.n > 0)
		printf(
		    "lingering   %zu LIDs keep their entries for lid_linger\n", a->plan->absent.n);
	if (a->verdict.fault != VERIFY_OK)
		printf("witness     %s\n", a->verdict.witness);
	state_print_refusals(a);
	printf("time        %s in %.2f ms, verified in %.2f ms, compared in %.2f ms\n", how(a),
	    a->route_ms, a->verify_ms, c->compare_ms);
}

void
state_print_refusals(const struct state *s)
{
	for (size_t i = 0; s->plan != NULL && i < s->plan->refused.n; i++)
		printf("refused     %s: %s\n", s->plan->refused.item[i].engine,
		    s->plan->refused.item[i].reason);
}
