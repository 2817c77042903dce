/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/weighing.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/route/weigh.h"
#include "lib/error.h"
#include "lib/log.h"

struct weighing {
	struct router *router;
	const struct chain *chain;
	struct route_settings set;
	struct plan_weighed of;
	atomic_bool ended;
};

/* On the worker's thread. */
static void
weigh(void *arg)
{
	struct weighing *w = arg;
	struct plan_request q = { .set = &w->set, .chain = w->chain, .prev = w->of.was };
	struct fm_error err = { 0 };

	log_info("route", "auto weighs rivals of %s beside its tables", w->of.was->engine);
	if (weigh_beside(w->router, &q, &w->of.found, &err) != 0)
		log_info("route", "auto weighs no more: %s", err.msg);
	else
		log_info("route", "auto has weighed: %s", w->of.found->weighed);
	atomic_store(&w->ended, true);
}

struct weighing *
weighing_start(struct plan_worker *worker, struct router *router, struct plan *p,
    const struct chain *chain, const struct route_settings *set)
{
	struct weighing *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->router = router;
	w->chain = chain;
	w->set = *set;
	w->of.was = plan_get(p);
	if (plan_worker_run_beside(worker, weigh, w))
		return w;
	weighing_take(w, &(struct plan_weighed){ 0 });
	return NULL;
}

bool
weighing_has_ended(const struct weighing *w)
{
	return atomic_load(&w->ended);
}

bool
weighing_take(struct weighing *w, struct plan_weighed *out)
{
	bool is_found = w->of.found != NULL;

	if (is_found)
		*out = w->of;
	else
		plan_put(w->of.was);
	free(w);
	return is_found;
}
