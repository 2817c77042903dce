/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing in the report of fmroute: counts, and why there is none.
 */
#include <stdio.h>

#include "core/text/json_text.h"
#include "tools/fmroute_job.h"

/* Ports that an adaptive entry has to choose from. */
static double
average_choice(const struct adaptive_counts *n)
{
	return n->n_adaptive > 0 ? (double)n->n_ports / (double)n->n_adaptive : 0;
}

static const char *
given_up(const struct plan *plan)
{
	return plan != NULL && plan->adaptive_given_up[0] != '\0' ? plan->adaptive_given_up : NULL;
}

json_t *
adaptive_json(const struct plan *plan, const struct tables *tables)
{
	const struct adaptive_counts *n = &tables->adaptive;
	const char *why = given_up(plan);
	json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "groups", (json_int_t)n->n_groups,
	    "max_groups", (json_int_t)n->most_groups, "adaptive", (json_int_t)n->n_adaptive,
	    "static", (json_int_t)n->n_static, "dropped", (json_int_t)n->n_dropped,
	    "avg_alternatives", average_choice(n));

	if (why != NULL)
		json_object_set_new(o, "given_up", json_text(why));
	return o;
}

void
adaptive_print(const struct plan *plan, const struct tables *tables)
{
	const struct adaptive_counts *n = &tables->adaptive;

	if (given_up(plan) != NULL)
		printf("adaptive    given up, static: %s\n", given_up(plan));
	else if (!tables_are_adaptive(&tables->t))
		printf("adaptive    the engine has no adaptive routing\n");
	else
		printf("adaptive    %llu entries with %.2f ports on average, %llu static, %llu of "
		       "them for want of groups; %llu groups, at most %u on a switch\n",
		    (unsigned long long)n->n_adaptive, average_choice(n),
		    (unsigned long long)n->n_static, (unsigned long long)n->n_dropped,
		    (unsigned long long)n->n_groups, n->most_groups);
}
