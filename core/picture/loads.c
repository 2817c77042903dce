/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/loads.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/gauge/gauge.h"
#include "core/picture/fullest.h"
#include "lib/error.h"
#include "lib/log.h"

struct loads {
	struct plan_worker *worker;
	struct fm_pool *workers;
	uint64_t of;	      /* number of the plan; 0: of none */
	uint64_t *load;	      /* [n_links of it] */
	struct plan *asked;   /* one reference: the worker is at it; NULL: at none */
	atomic_bool is_found; /* the rest is the worker's before that */
	int rc;
	struct fm_error err;
	struct fullest fullest;
};

struct loads *
loads_new(struct plan_worker *worker, struct fm_pool *workers)
{
	struct loads *l = calloc(1, sizeof(*l));

	if (l != NULL) {
		l->worker = worker;
		l->workers = workers;
	}
	return l;
}

void
loads_free(struct loads *l)
{
	if (l == NULL)
		return;
	plan_put(l->asked);
	free(l->load);
	free(l);
}

/* On the worker's thread. */
static void
find(void *arg)
{
	struct loads *l = arg;

	l->rc = link_loads(l->asked->snap, &l->asked->tables->t, l->workers, l->load, &l->err);
	atomic_store(&l->is_found, true);
}

static void
take(struct loads *l)
{
	if (l->asked == NULL || !atomic_load(&l->is_found))
		return;
	l->of = l->asked->number; /* also where it failed: not again and again */
	if (l->rc != 0) {
		log_warn("ctl", "planned loads are not known: %s", l->err.msg);
		free(l->load);
		l->load = NULL;
	}
	plan_put(l->asked);
	l->asked = NULL;
}

const uint64_t *
loads_of(struct loads *l, const struct plan *p)
{
	take(l);
	return l->asked == NULL && p != NULL && l->of == p->number ? l->load : NULL;
}

bool
loads_ask(struct loads *l, const struct plan *p)
{
	take(l);
	if (l->asked != NULL)
		return true;
	if (p == NULL || p->tables == NULL || l->of == p->number)
		return false;
	free(l->load);
	l->of = 0;
	l->load = calloc(p->snap->fab.n_links + 1u, sizeof(*l->load));
	if (l->load == NULL)
		return false;
	l->asked = plan_get((struct plan *)(uintptr_t)p);
	atomic_store(&l->is_found, false);
	if (plan_worker_run(l->worker, find, l))
		return true;
	plan_put(l->asked);
	l->asked = NULL;
	return false;
}

bool
loads_look_at_fullest(struct loads *l, const struct plan *p)
{
	const uint64_t *load = loads_of(l, p);

	if (load == NULL)
		return loads_ask(l, p);
	fullest_look(&l->fullest, p, load);
	return false;
}
