/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/daemon/readback.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/audit.h"
#include "core/text/json_text.h"
#include "core/wire/wire.h"
#include "lib/error.h"
#include "lib/thread.h"

#define BLOCK_LIDS 64
#define NAMED 20      /* switches that do not answer */
#define UNDER_WAY 256 /* requests at a time: sweeps have the rest of the window */

struct readback {
	atomic_uint refs; /* the owner, and each request that is under way */
	struct txn_engine *txn;
	const struct inventory *inv; /* NULL: nobody waits any more */
	struct plan *plan;
	struct verify_request how;
	struct fm_tables t;  /* the plan's, but for lft */
	uint8_t *bytes;	     /* [n_switches][lft_stride] */
	uint8_t **row;	     /* [n_switches] */
	bool *gone, *silent; /* [n_switches] not there any more; does not answer */
	bool *differs;	     /* [n_switches] the judge's, good when done */
	uint32_t n_blocks;   /* of a switch */
	fm_sw next_sw;
	uint32_t next_block;
	uint32_t under_way, n_read, n_silent, n_gone;
	pthread_t judge;
	bool judging;
	/* the judge's, good when done */
	atomic_bool done;
	uint64_t n_differ;
	uint32_t n_differ_switches;
	struct verdict verdict;
	struct fm_error err;
};

struct block_ask {
	struct readback *r;
	fm_sw sw;
	uint32_t block;
};

static void
put_readback(struct readback *r)
{
	if (atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	plan_put(r->plan);
	free(r->bytes);
	free(r->row);
	free(r->gone);
	free(r->silent);
	free(r->differs);
	free(r);
}

/* ----------------------------------------------------------------- judge */

/* Entries of LIDs that somebody owns; what lingers or was never written does not count, nor does
 * what nobody has told. */
static void
compare(struct readback *r)
{
	const struct fm_fabric *fab = &r->plan->snap->fab;
	const struct fm_tables *want = &r->plan->tables->t;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint64_t before = r->n_differ;

		if (r->gone[sw] || r->silent[sw])
			continue;
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			r->n_differ +=
			    fab->lid_end[lid] != FM_NONE && r->row[sw][lid] != want->lft[sw][lid];
		r->differs[sw] = r->n_differ != before;
		r->n_differ_switches += r->differs[sw];
	}
}

static void *
run_readback(void *arg)
{
	struct readback *r = arg;

	compare(r);
	verify_tables(r->plan->snap, &r->t, &r->how, NULL, &r->verdict, &r->err);
	atomic_store(&r->done, true);
	return NULL;
}

static void
begin_judging(struct readback *r)
{
	if (fm_thread_start(&r->judge, run_readback, r) == 0) {
		r->judging = true;
		return;
	}
	fm_fail(&r->err, FM_E_SYSTEM, "cannot start a thread");
	atomic_store(&r->done, true);
}

/* ----------------------------------------------------------------- read */

static void send_more(struct readback *r);

static void
on_block(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct block_ask *a = arg;
	struct readback *r = a->r;

	r->under_way--;
	if (status == TXN_OK) {
		memcpy(r->row[a->sw] + (size_t)a->block * BLOCK_LIDS, reply + WIRE_SMP_DATA_AT,
		    BLOCK_LIDS);
		r->n_read++;
	} else {
		r->silent[a->sw] = true;
		r->n_silent++;
	}
	free(a);
	if (r->inv != NULL)
		send_more(r);
	put_readback(r);
}

/* Is the switch of the plan there no more?  Then its tables are nobody's. */
static bool
is_gone(const struct inventory *inv, uint64_t guid)
{
	uint32_t slot = inv_find(inv, guid);

	return slot == INV_NONE || !inv_node(inv, slot)->present;
}

/* The next block to ask for; false: no more.  Who has not answered once is not asked on. */
static bool
next_block(struct readback *r, fm_sw *sw, uint32_t *block)
{
	const struct fm_fabric *fab = &r->plan->snap->fab;

	while (r->next_sw < fab->n_switches && (r->gone[r->next_sw] || r->silent[r->next_sw])) {
		r->n_silent += r->gone[r->next_sw] ? 0 : r->n_blocks - r->next_block;
		r->next_block = 0;
		r->next_sw++;
	}
	if (r->next_sw == fab->n_switches)
		return false;
	*sw = r->next_sw;
	*block = r->next_block;
	if (++r->next_block == r->n_blocks) {
		r->next_block = 0;
		r->next_sw++;
	}
	return true;
}

static void
ask_block(struct readback *r, fm_sw sw, uint32_t block)
{
	uint64_t guid = r->plan->snap->fab.sw_guid[sw];
	uint32_t slot = inv_find(r->inv, guid);
	struct smp_route route;
	struct block_ask *a;

	if (slot == INV_NONE || !inv_node(r->inv, slot)->present ||
	    !inv_route(r->inv, slot, 0, &route) || (a = malloc(sizeof(*a))) == NULL) {
		r->silent[sw] = true;
		r->n_silent++;
		return;
	}
	*a = (struct block_ask){ r, sw, block };
	atomic_fetch_add(&r->refs, 1);
	r->under_way++;
	txn_smp(r->txn, &route, WIRE_GET, WIRE_ATTR_LFT, block, NULL, guid, on_block, a);
}

static void
send_more(struct readback *r)
{
	uint32_t block;
	fm_sw sw;

	while (r->under_way < UNDER_WAY && next_block(r, &sw, &block))
		ask_block(r, sw, block);
	if (r->under_way == 0 && !r->judging && !atomic_load(&r->done))
		begin_judging(r);
}

struct readback *
readback_start(struct txn_engine *txn, const struct inventory *inv, struct plan *plan,
    const struct verify_request *how, struct fm_error *err)
{
	const struct fm_fabric *fab = &plan->snap->fab;
	struct readback *r = calloc(1, sizeof(*r));
	size_t stride = plan->tables->t.lft_stride;

	if (r == NULL) {
		fm_fail(err, FM_E_RESOURCE, "out of memory for tables");
		return NULL;
	}
	atomic_init(&r->refs, 1);
	atomic_init(&r->done, false);
	r->txn = txn;
	r->inv = inv;
	r->how = *how;
	r->plan = plan_get(plan);
	r->bytes = malloc(fab->n_switches * stride + 1);
	r->row = calloc(fab->n_switches + 1, sizeof(*r->row));
	r->gone = calloc(fab->n_switches + 1, sizeof(*r->gone));
	r->silent = calloc(fab->n_switches + 1, sizeof(*r->silent));
	r->differs = calloc(fab->n_switches + 1, sizeof(*r->differs));
	if (r->bytes == NULL || r->row == NULL || r->gone == NULL || r->silent == NULL ||
	    r->differs == NULL) {
		fm_fail(err, FM_E_RESOURCE, "out of memory for tables");
		put_readback(r);
		return NULL;
	}
	memset(r->bytes, FM_PORT_NONE, fab->n_switches * stride);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		r->row[sw] = r->bytes + sw * stride;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		r->n_gone += r->gone[sw] = is_gone(inv, fab->sw_guid[sw]);
	r->t = plan->tables->t;
	r->t.lft = r->row;
	r->t.ar_group = NULL; /* the static entries are what is read */
	r->n_blocks = fab->max_lid / BLOCK_LIDS + 1;
	send_more(r);
	return r;
}

void
readback_free(struct readback *r)
{
	if (r == NULL)
		return;
	if (r->judging)
		pthread_join(r->judge, NULL);
	r->inv = NULL;
	put_readback(r);
}

bool
readback_is_done(const struct readback *r)
{
	return atomic_load(&r->done);
}

void
readback_mend(const struct readback *r, struct sweeper *s)
{
	const struct fm_fabric *fab = &r->plan->snap->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint32_t slot = r->differs[sw] ? inv_find(r->inv, fab->sw_guid[sw]) : INV_NONE;

		if (slot != INV_NONE)
			audit_table(s, slot);
	}
}

/* Those that did not answer, by name. */
static json_t *
silent_json(const struct readback *r)
{
	const struct fm_fabric *fab = &r->plan->snap->fab;
	json_t *list = json_array();

	for (fm_sw sw = 0; sw < fab->n_switches && json_array_size(list) < NAMED; sw++)
		if (r->silent[sw])
			json_array_append_new(list, json_text(fab->sw_name[sw]));
	return list;
}

json_t *
readback_json(const struct readback *r)
{
	const struct verdict *v = &r->verdict;
	uint64_t all = (uint64_t)r->n_blocks * (r->plan->snap->fab.n_switches - r->n_gone);

	if (!readback_is_done(r))
		return json_pack("{s:s, s:I, s:I}", "state", r->judging ? "judging" : "reading",
		    "blocks", (json_int_t)all, "blocks_read", (json_int_t)r->n_read);
	if (r->err.kind != FM_OK)
		return json_pack("{s:s, s:o}", "state", "failed", "reason", json_text(r->err.msg));
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:i, s:I, s:I, s:i, s:i, s:i, s:o, s:o}",
	    "state", "done", "blocks", (json_int_t)all, "blocks_read", (json_int_t)r->n_read,
	    "blocks_silent", (json_int_t)r->n_silent, "entries_that_differ",
	    (json_int_t)r->n_differ, "switches_that_differ", (int)r->n_differ_switches,
	    "reachable_pairs", (json_int_t)v->reachable_pairs, "unreachable_pairs",
	    (json_int_t)v->unreachable_pairs, "loops", (int)v->loops, "credit_loops",
	    (int)v->credit_loops, "wrong_host", (int)v->wrong_host, "witness",
	    json_text(v->fault == VERIFY_OK ? "" : v->witness), "silent", silent_json(r));
}
