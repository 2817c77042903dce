/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vfabric/vfabric.c - which SL and share a vfabric has, and what it is as a partition.
 */
#include "core/vfabric/vfabric.h"

#include <string.h>

#include "core/nodes/groups.h"
#include "core/text/mistakes.h"
#include "core/wire/sa_wire.h"
#include "lib/error.h"
#include "lib/hash.h"

#define PERCENT 100
#define MAX_WEIGHT 255
#define MOST_VLS 15

const char *const vfabric_mtus[] = { "any", "256", "512", "1024", "2048", "4096", NULL };
const char *const vfabric_rates[] = { "any", "2.5", "5", "10", "14", "20", "25", "28", "30", "40",
	"50", "56", "60", "80", "100", "112", "120", "168", "200", "300", "400", "600", "800",
	"1200", "1600", NULL };

uint8_t
vfabric_mtu_code(unsigned number)
{
	return (uint8_t)number;
}

/* By IBA 15.2.5.16, in the order of vfabric_rates. */
static const uint8_t rate_codes[] = { 0, 2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14,
	17, 18, 21, 22, 23, 24, 25 };

uint8_t
vfabric_rate_code(unsigned number)
{
	return number < sizeof(rate_codes) ? rate_codes[number] : 0;
}

const char *
vfabric_mtu_text(uint8_t code)
{
	return vfabric_mtus[code <= 5 ? code : 0];
}

const char *
vfabric_rate_text(uint8_t code)
{
	size_t i = sizeof(rate_codes) - 1;

	while (i > 0 && rate_codes[i] != code)
		i--;
	return vfabric_rates[i];
}

/* ------------------------------------------------------------ contradictions */

/* "FILE:LINE: vfabric NAME: " before the sentence in err. */
static int
blame(const struct vfabric *f, struct fm_error *err)
{
	return fm_context(err, "%s:%u: vfabric %s", f->file, f->line, f->name);
}

static bool
has_qos(const struct vfabric *f)
{
	return f->has_sl || f->share > 0 || f->first;
}

/* What two of one P_Key contradict each other in, or NULL. */
static const char *
difference(const struct vfabric *a, const struct vfabric *b)
{
	if (a->mtu != b->mtu)
		return "mtu";
	if (a->rate != b->rate)
		return "rate";
	if (a->has_sl != b->has_sl || a->sl != b->sl)
		return "sl";
	if (a->share != b->share)
		return "share";
	if (a->first != b->first)
		return "high_priority";
	return a->security != b->security ? "security" : NULL;
}

/* The first of the same P_Key, f itself where none is before it. */
static const struct vfabric *
first_of_pkey(const struct vfabrics *v, const struct vfabric *f)
{
	const struct vfabric *a = v->of;

	while (a < f && (f->pkey == 0 || a->pkey != f->pkey))
		a++;
	return a;
}

/* All of it as it was written. */
static int
check_one(const struct vfabrics *v, const struct vfabric *f, const struct vfabric_ground *g,
    struct fm_error *err)
{
	const struct vfabric *a = first_of_pkey(v, f);
	const char *what = difference(a, f);

	if (has_qos(f) && !g->qos)
		return fm_fail(err, FM_E_CONFIG, "%s needs QoS: write qos = yes, or leave it out",
		    f->has_sl	       ? "sl"
			: f->share > 0 ? "share"
				       : "high_priority");
	if (f->share > 0 && f->first)
		return fm_fail(err, FM_E_CONFIG,
		    "share = %u and high_priority = yes: what goes before the others has no share "
		    "of what is left: keep one of them",
		    f->share);
	if (what != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "P_Key 0x%04x is that of vfabric %s of line %u, too, with another %s: packets "
		    "of one P_Key are of one kind; write the same, or another pkey",
		    f->pkey, a->name, a->line, what);
	return 0;
}

/* ---------------------------------------------------------------- SLs, shares */

/* Packets of no vfabric, or of one that says nothing of QoS: they have SL 0. */
static bool
has_rest(const struct vfabrics *v, const struct vfabric_ground *g)
{
	bool has_default = false, all = true;

	for (size_t i = 0; i < v->n; i++) {
		has_default |= v->of[i].pkey == PKEY_DEFAULT;
		all = all && has_qos(&v->of[i]);
	}
	return g->has_file || !has_default || !all;
}

/* The next SL that nobody has written. */
static int
choose_sl(struct vfabrics *v, struct vfabric *f, struct fm_error *err)
{
	for (uint8_t sl = 0; sl < VFABRIC_SLS; sl++)
		if (!v->sl[sl].used) {
			f->sl = sl;
			v->sl[sl].used = true;
			return 0;
		}
	return fm_fail(err, FM_E_CONFIG,
	    "no SL is left for it: there are %d, and each share has one of its own; give "
	    "vfabrics the same sl that are to have a share together",
	    VFABRIC_SLS);
}

static int
choose_sls(struct vfabrics *v, bool rest, struct mistakes *all, struct fm_error *err)
{
	int rc = 0;

	v->sl[0].used = rest;
	for (size_t i = 0; i < v->n; i++)
		if (v->of[i].has_sl)
			v->sl[v->of[i].sl].used = true;
	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		struct vfabric *f = &v->of[i];
		const struct vfabric *a = first_of_pkey(v, f);

		if (f->has_sl || !has_qos(f))
			continue;
		f->sl = a->sl;
		if (a == f && choose_sl(v, f, err) != 0) {
			blame(f, err);
			rc = mistakes_note(all, err);
		}
	}
	return rc;
}

/* Who says the share of its SL says it for all of that SL. */
static int
take_share(struct vfabrics *v, const struct vfabric *f, struct fm_error *err)
{
	struct vfabric_sl *sl = &v->sl[f->sl];

	if (f->share == 0 && !f->first)
		return 0;
	v->weighs = true;
	if (sl->said_by != NULL && (sl->share != f->share || sl->first != f->first))
		return fm_fail(err, FM_E_CONFIG,
		    "sl = %u is that of vfabric %s of line %u, too, with another %s: what has one "
		    "SL shares its part of the links; write the same, or another sl",
		    f->sl, sl->said_by->name, sl->said_by->line,
		    sl->first != f->first ? "high_priority" : "share");
	if (sl->said_by == NULL)
		sl->said_by = f;
	sl->share = f->share;
	sl->first = f->first;
	return 0;
}

/* What is left goes to the SLs of which nobody says a share, evenly; to SL 0, where it is one of
 * them, 5 at least. */
static int
share_out(struct vfabrics *v, struct fm_error *err)
{
	const struct vfabric *last = NULL;
	unsigned said = 0, n = 0, left, rest = 0;

	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++) {
		const struct vfabric *by = v->sl[sl].said_by;

		said += v->sl[sl].share;
		n += v->sl[sl].used && by == NULL;
		last = by != NULL && (last == NULL || by > last) ? by : last;
	}
	if (v->sl[0].used && v->sl[0].said_by == NULL)
		rest = VFABRIC_LEAST_REST;
	if (said + rest + n - (rest > 0) > PERCENT) {
		fm_fail(err, FM_E_CONFIG,
		    "the shares add up to %u of %d%s: make one of them smaller", said, PERCENT,
		    rest > 0	? ", and SL 0 needs 5, of all that is in no vfabric with a share"
			: n > 0 ? ", and SLs of which nobody says a share need 1 each"
				: "");
		return blame(last, err);
	}
	left = PERCENT - said;
	if (rest > 0) {
		rest = left / n > rest ? left / n : rest;
		v->sl[0].share = (uint8_t)rest;
		left -= rest;
		n--;
	}
	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++)
		if (v->sl[sl].used && v->sl[sl].said_by == NULL && v->sl[sl].share == 0) {
			v->sl[sl].share = (uint8_t)(left / n);
			left -= left / n--;
		}
	return 0;
}

/* A VL each, by rising SL; weights as large as they can be, as they are whole numbers. */
static int
weigh(struct vfabrics *v, struct fm_error *err)
{
	unsigned most = 0, n = 0;

	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++)
		most = v->sl[sl].share > most ? v->sl[sl].share : most;
	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++) {
		struct vfabric_sl *s = &v->sl[sl];
		unsigned weight = most > 0 ? (s->share * MAX_WEIGHT + most / 2) / most : 0;

		if (!s->used)
			continue;
		if (n == MOST_VLS) {
			fm_fail(err, FM_E_CONFIG,
			    "%d SLs with shares need a VL each, and there are %d", VFABRIC_SLS,
			    MOST_VLS);
			return blame(&v->of[v->n - 1], err);
		}
		s->vl = (uint8_t)n++;
		s->weight = (uint8_t)(s->first ? MAX_WEIGHT : weight > 0 ? weight : 1);
	}
	return 0;
}

int
vfabrics_settle(
    struct vfabrics *v, const struct vfabric_ground *g, struct mistakes *all, struct fm_error *err)
{
	size_t before = mistakes_count(all);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < v->n; i++)
		if (check_one(v, &v->of[i], g, err) != 0) {
			blame(&v->of[i], err);
			rc = mistakes_note(all, err);
		}
	if (rc != 0 || mistakes_count(all) != before)
		return rc;
	rc = choose_sls(v, has_rest(v, g), all, err);
	for (size_t i = 0; rc == 0 && i < v->n; i++)
		if (take_share(v, &v->of[i], err) != 0) {
			blame(&v->of[i], err);
			rc = mistakes_note(all, err);
		}
	if (rc != 0 || mistakes_count(all) != before || !v->weighs)
		return rc;
	return share_out(v, err) == 0 && weigh(v, err) == 0 ? 0 : mistakes_note(all, err);
}

/* ----------------------------------------------------- partitions and QoS */

struct part_more
vfabric_part(const struct vfabric *f)
{
	uint64_t mark = fm_mix64(node_items_mark(f->full.items, f->full.n) ^
	    (f->security ? 0 : 1)); /* other keys of limited members */

	return (struct part_more){ .name = f->name,
		.pkey = f->pkey,
		.sl_is_firm = has_qos(f),
		.sl = f->sl,
		.mtu = f->mtu,
		.rate = f->rate,
		.ipoib = f->ipoib,
		.mgids = (const uint8_t(*)[16])f->mgids,
		.n_mgids = f->n_mgids,
		.mark = fm_mix64(mark) ^ node_items_mark(f->limited.items, f->limited.n),
		.file = f->file,
		.line = f->line };
}

void
vfabrics_qos(const struct vfabrics *v, struct qos_tables *t)
{
	unsigned n_high = 0, n_low = 0, lowest = 0;

	if (!v->weighs)
		return;
	memset(t->high, 0, sizeof(t->high));
	memset(t->low, 0, sizeof(t->low));
	while (lowest < VFABRIC_SLS - 1 && !v->sl[lowest].used)
		lowest++;
	for (unsigned i = 0; i < VFABRIC_SLS; i++) {
		const struct vfabric_sl *s = &v->sl[i];

		t->sl2vl[i] = s->used ? s->vl : v->sl[lowest].vl;
		if (!s->used)
			continue;
		if (s->first)
			t->high[n_high++] = (struct qos_arb){ s->vl, s->weight };
		else
			t->low[n_low++] = (struct qos_arb){ s->vl, s->weight };
	}
}
