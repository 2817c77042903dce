/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving out LIDs.  Three passes over the wants: stored LIDs, present LIDs,
 * then the first fit.  owner[lid] is the want that holds a LID; a claim of
 * the same pass with a smaller GUID evicts, an earlier pass never yields.
 * First fit keeps one cursor per LMC that only moves up, so it costs 8 * 48K
 * steps in all.
 */
#include "core/subnet/lid.h"

#include <inttypes.h>
#include <string.h>

#include "lib/arena.h"
#include "core/text/sentence.h"
#include "lib/error.h"
#include "lib/log.h"

#define N_LIDS (LID_UNICAST_MAX + 1u)
#define NOBODY UINT32_MAX
#define MAX_LMC 7
#define MISFITS_NAMED 3

enum pass { PASS_NONE, PASS_STORED, PASS_PRESENT, PASS_FRESH };

struct assign {
	struct lid_want *wants; /* [n] */
	uint32_t n;
	uint32_t *owner;  /* [N_LIDS] want that holds the LID, or NOBODY */
	uint8_t *pass;	  /* [n] enum pass in which the want got its LID */
	bool is_foretold; /* nobody gets anything: nothing is logged */
	struct fm_log_bucket bucket;
	uint32_t n_misfits; /* LIDs that do not fit the port's LMC; the first of them in words: */
	struct sentence misfits;
};

static void
hold(struct assign *a, uint32_t i, uint16_t lid, enum pass pass)
{
	struct lid_want *w = &a->wants[i];

	for (uint32_t k = 0; k < 1u << w->lmc; k++)
		a->owner[lid + k] = i;
	w->lid = lid;
	a->pass[i] = (uint8_t)pass;
}

static void
release(struct assign *a, uint32_t i)
{
	struct lid_want *w = &a->wants[i];

	for (uint32_t k = 0; k < 1u << w->lmc; k++)
		a->owner[w->lid + k] = NOBODY;
	w->lid = 0;
	a->pass[i] = PASS_NONE;
}

/* The holder of any of the LIDs that want i may not evict, or NOBODY. */
static uint32_t
find_stronger(const struct assign *a, uint32_t i, uint16_t lid, enum pass pass)
{
	for (uint32_t k = 0; k < 1u << a->wants[i].lmc; k++) {
		uint32_t o = a->owner[lid + k];

		if (o != NOBODY && (a->pass[o] < pass || a->wants[o].guid <= a->wants[i].guid))
			return o;
	}
	return NOBODY;
}

static void
log_conflict(struct assign *a, uint32_t winner, uint32_t loser, uint16_t lid)
{
	if (a->is_foretold)
		return;
	fm_log_rl(&a->bucket, FM_LOG_WARN, "lid",
	    "LID %u is claimed by two ports: port 0x%016" PRIx64 " keeps it, port 0x%016" PRIx64
	    " gets another",
	    lid, a->wants[winner].guid, a->wants[loser].guid);
}

/* For one line, whatever their number: another LMC moves all. */
static void
note_misfit(struct assign *a, const struct lid_want *w, uint16_t lid)
{
	if (a->n_misfits++ >= MISFITS_NAMED)
		return;
	sentence_add(&a->misfits, "%sLID %u of ", a->n_misfits > 1 ? ", " : "", lid);
	if (w->name != NULL)
		sentence_add(&a->misfits, "\"%.32s\"", w->name);
	else
		sentence_add(&a->misfits, "port 0x%016" PRIx64, w->guid);
	sentence_add(&a->misfits, " (LMC %u)", w->lmc);
}

static void
say_misfits(const struct assign *a)
{
	if (a->is_foretold || a->n_misfits == 0)
		return;
	log_warn("lid",
	    a->n_misfits == 1
		? "the LID of %" PRIu32 " port does not fit its LMC, and it gets another: %s%s"
		: "the LIDs of %" PRIu32 " ports do not fit their LMCs, and they get others: %s%s",
	    a->n_misfits, a->misfits.text, a->n_misfits > MISFITS_NAMED ? ", ..." : "");
}

static void
claim(struct assign *a, uint32_t i, uint16_t lid, enum pass pass)
{
	struct lid_want *w = &a->wants[i];
	uint32_t size = 1u << w->lmc, stronger;

	if (lid == 0 || w->lid != 0)
		return;
	if (lid % size != 0 || lid + size > N_LIDS) {
		if (pass == PASS_STORED || lid != w->stored)
			note_misfit(a, w, lid);
		return;
	}
	stronger = find_stronger(a, i, lid, pass);
	if (stronger != NOBODY) {
		log_conflict(a, stronger, i, lid);
		return;
	}
	for (uint32_t k = 0; k < size; k++) {
		uint32_t o = a->owner[lid + k];

		if (o == NOBODY)
			continue;
		log_conflict(a, i, o, lid);
		release(a, o);
	}
	hold(a, i, lid, pass);
}

static bool
is_free(const struct assign *a, uint32_t lid, uint32_t size)
{
	for (uint32_t k = 0; k < size; k++)
		if (a->owner[lid + k] != NOBODY)
			return false;
	return true;
}

static int
first_fit(struct assign *a, struct fm_error *err)
{
	uint32_t cursor[MAX_LMC + 1]; /* no LID below it is free for this LMC */
	uint64_t n_wanted = 0;

	for (uint32_t lmc = 0; lmc <= MAX_LMC; lmc++)
		cursor[lmc] = 1u << lmc; /* LID 0 is reserved */
	for (uint32_t i = 0; i < a->n; i++)
		n_wanted += 1u << a->wants[i].lmc;
	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t lmc = a->wants[i].lmc, size = 1u << lmc;

		if (a->wants[i].lid != 0)
			continue;
		while (cursor[lmc] + size <= N_LIDS && !is_free(a, cursor[lmc], size))
			cursor[lmc] += size;
		if (cursor[lmc] + size > N_LIDS)
			return fm_fail(err, FM_E_RESOURCE,
			    "unicast LIDs ran out: %u ports want %" PRIu64
			    " LIDs, %u exist; a smaller LMC needs fewer",
			    a->n, n_wanted, LID_UNICAST_MAX);
		hold(a, i, (uint16_t)cursor[lmc], PASS_FRESH);
	}
	return 0;
}

static int
assign(
    struct lid_want *wants, uint32_t n, bool honour_present, bool is_foretold, struct fm_error *err)
{
	char text[200] = "";
	struct fm_arena mem;
	struct assign a = { .wants = wants,
		.n = n,
		.is_foretold = is_foretold,
		.misfits = { .text = text, .size = sizeof(text) },
		.bucket = { .burst = 8, .every_ms = 1000 } };
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	a.owner = fm_arena_array(&mem, N_LIDS, uint32_t);
	a.pass = fm_arena_array(&mem, (size_t)n + 1, uint8_t);
	if (a.owner == NULL || a.pass == NULL) {
		fm_arena_fini(&mem);
		return fm_fail(err, FM_E_RESOURCE, "out of memory while giving out LIDs");
	}
	memset(a.owner, 0xff, N_LIDS * sizeof(*a.owner));
	for (uint32_t i = 0; i < n; i++)
		wants[i].lid = 0;
	for (uint32_t i = 0; i < n; i++)
		claim(&a, i, wants[i].stored, PASS_STORED);
	for (uint32_t i = 0; i < n && honour_present; i++)
		claim(&a, i, wants[i].present, PASS_PRESENT);
	say_misfits(&a);
	rc = first_fit(&a, err);
	fm_arena_fini(&mem);
	return rc;
}

int
lid_assign(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err)
{
	return assign(wants, n, honour_present, false, err);
}

int
lid_foretell(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err)
{
	return assign(wants, n, honour_present, true, err);
}

/* ------------------------------------------------------------ switch order */
