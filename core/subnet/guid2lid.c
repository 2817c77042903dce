/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of two or three hexadecimal numbers a line.  OpenSM drops bad lines and
 * goes on, or drops the file: either moves LIDs under running jobs, so here
 * a file that is not right is an error with its line.
 */
#include "core/subnet/guid2lid.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/subnet/lid.h"
#include "lib/error.h"
#include "lib/lines.h"

struct scan {
	const char *name;
	struct fm_lines in;
	uint32_t *lid_line; /* [LID_UNICAST_MAX + 1] line that gives the LID, 0 = none */
	FM_VEC(struct guid2lid_entry) found;
	struct mistakes *all;
	struct fm_error *err;
};

static bool
digits(struct fm_lines *in, uint64_t *v)
{
	int n;

	fm_line_is_over(in);
	fm_line_0x(in);
	n = fm_line_digits(in, 16, v);
	return n > 0 && n <= 16;
}

static int
number(struct scan *s, const char *what, uint64_t max, uint64_t *v)
{
	if (!digits(&s->in, v) || *v == 0 || *v > max)
		return fm_fail(s->err, FM_E_CONFIG,
		    "%.100s:%" PRIu32 ": the %s is not a hexadecimal number in 1..0x%" PRIx64
		    ": 0x0002c90200210b0d 0x0004 0x0007 is right",
		    s->name, s->in.line, what, max);
	return 0;
}

static int
keep(struct scan *s, uint64_t guid, uint64_t min, uint64_t max)
{
	struct guid2lid_entry e = { .guid = guid, .lid = (uint16_t)min };

	while (e.lmc < 7 && min + (1u << e.lmc) - 1 < max)
		e.lmc++;
	if (min + (1u << e.lmc) - 1 != max || min % (1u << e.lmc) != 0)
		return fm_fail(s->err, FM_E_CONFIG,
		    "%.100s:%" PRIu32 ": LIDs 0x%" PRIx64 "..0x%" PRIx64
		    " are no range of an LMC: 1, 2, 4, .. 128 LIDs from a multiple of that",
		    s->name, s->in.line, min, max);
	for (uint64_t lid = min; lid <= max; lid++) {
		if (s->lid_line[lid] != 0)
			return fm_fail(s->err, FM_E_CONFIG,
			    "%.100s:%" PRIu32 ": LID 0x%" PRIx64
			    " is given twice, first in line %" PRIu32 ": keep one of them",
			    s->name, s->in.line, lid, s->lid_line[lid]);
		s->lid_line[lid] = s->in.line;
	}
	if (!fm_vec_push(&s->found, e))
		return fm_fail(
		    s->err, FM_E_RESOURCE, "out of memory while reading %.100s", s->name);
	return 0;
}

static int
scan_line(struct scan *s)
{
	uint64_t guid, min, max;
	int rc;

	if (fm_line_is_over(&s->in) || *s->in.at == '#')
		return 0;
	if ((rc = number(s, "GUID", UINT64_MAX, &guid)) != 0 ||
	    (rc = number(s, "first LID", LID_UNICAST_MAX, &min)) != 0 ||
	    (rc = number(s, "last LID", LID_UNICAST_MAX, &max)) != 0)
		return rc;
	if (!fm_line_is_over(&s->in))
		return fm_fail(s->err, FM_E_CONFIG,
		    "%.100s:%" PRIu32
		    ": more than a GUID and two LIDs on the line: 0x0002c90200210b0d 0x0004 "
		    "0x0007 is right",
		    s->name, s->in.line);
	return keep(s, guid, min, max);
}

static int
by_guid(const void *a, const void *b)
{
	const struct guid2lid_entry *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int
sort_entries(struct scan *s)
{
	struct guid2lid_entry *e = s->found.item;

	if (s->found.n > 0)
		qsort(e, s->found.n, sizeof(*e), by_guid);
	for (size_t i = 1; i < s->found.n; i++) {
		if (e[i].guid != e[i - 1].guid)
			continue;
		fm_fail(s->err, FM_E_CONFIG,
		    "%.100s:%" PRIu32 ": port 0x%016" PRIx64 " is given twice, in line %" PRIu32
		    " too: keep one of them",
		    s->name, s->lid_line[e[i].lid], e[i].guid, s->lid_line[e[i - 1].lid]);
		if (mistakes_note(s->all, s->err) != 0)
			return FM_E_CONFIG;
	}
	return 0;
}

static int
scan_text(struct scan *s, const char *text, size_t n_bytes)
{
	int rc = 0;

	s->in = fm_lines(text, n_bytes);
	while (rc == 0 && fm_next_line(&s->in))
		if (scan_line(s) != 0)
			rc = mistakes_note(s->all, s->err);
	return rc != 0 ? rc : sort_entries(s);
}

int
guid2lid_parse(const char *name, const char *text, size_t n_bytes, struct guid2lid *out,
    struct mistakes *all, struct fm_error *err)
{
	struct scan s = { .name = name, .all = all, .err = err };
	FM_VEC(uint32_t) lid_line = { 0 };
	int rc;

	if (!fm_vec_reserve(&lid_line, LID_UNICAST_MAX + 1u))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while reading %.100s", name);
	memset(lid_line.item, 0, (LID_UNICAST_MAX + 1u) * sizeof(*lid_line.item));
	s.lid_line = lid_line.item;
	rc = scan_text(&s, text, n_bytes);
	fm_vec_fini(&lid_line);
	if (rc != 0) {
		fm_vec_fini(&s.found);
		return rc;
	}
	out->entries.item = s.found.item;
	out->entries.n = s.found.n;
	out->entries.room = s.found.room;
	return 0;
}

void
guid2lid_fini(struct guid2lid *g)
{
	fm_vec_fini(&g->entries);
}

void
guid2lid_write(const struct guid2lid_entry *e, FILE *out)
{
	fprintf(out, "0x%016" PRIx64 " 0x%04x 0x%04x\n\n", e->guid, (unsigned)e->lid,
	    (unsigned)e->lid + (1u << e->lmc) - 1);
}

const struct guid2lid_entry *
guid2lid_find(const struct guid2lid *g, uint64_t guid)
{
	struct guid2lid_entry want = { .guid = guid };

	if (g->entries.n == 0)
		return NULL;
	return bsearch(&want, g->entries.item, g->entries.n, sizeof(want), by_guid);
}

/* -------------------------------------------------------------------- M_Keys */

static int
scan_key(const char *name, struct fm_lines *in, struct guid2mkey *g, struct fm_error *err)
{
	struct guid2mkey_entry e;

	if (fm_line_is_over(in) || *in->at == '#')
		return 0;
	if (!digits(in, &e.guid) || e.guid == 0 || !digits(in, &e.m_key) || !fm_line_is_over(in))
		return fm_fail(err, FM_E_CONFIG,
		    "%.100s:%" PRIu32
		    ": a line is a port GUID and an M_Key, both hexadecimal: 0x0002c90200210b0d "
		    "0x00000000000000a1 is right",
		    name, in->line);
	if (e.m_key != 0 && !fm_vec_push(&g->entries, e))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while reading %.100s", name);
	return 0;
}

static int
by_guid_of_key(const void *a, const void *b)
{
	const struct guid2mkey_entry *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int
sort_keys(const char *name, struct guid2mkey *g, struct fm_error *err)
{
	struct guid2mkey_entry *e = g->entries.item;

	if (g->entries.n > 0)
		qsort(e, g->entries.n, sizeof(*e), by_guid_of_key);
	for (size_t i = 0; i < g->entries.n; i++) {
		unsigned k = 0;

		if (i > 0 && e[i].guid == e[i - 1].guid)
			return fm_fail(err, FM_E_CONFIG,
			    "%.100s: port 0x%016" PRIx64 " is given twice", name, e[i].guid);
		while (k < g->n_kinds && g->kind[k] != e[i].m_key)
			k++;
		if (k == g->n_kinds && k < GUID2MKEY_KINDS)
			g->kind[g->n_kinds++] = e[i].m_key;
	}
	return 0;
}

int
guid2mkey_parse(const char *name, const char *text, size_t n_bytes, struct guid2mkey *out,
    struct mistakes *all, struct fm_error *err)
{
	struct fm_lines in = fm_lines(text, n_bytes);
	int rc = 0;

	*out = (struct guid2mkey){ 0 };
	while (rc == 0 && fm_next_line(&in))
		if (scan_key(name, &in, out, err) != 0)
			rc = mistakes_note(all, err);
	if (rc == 0)
		rc = sort_keys(name, out, err);
	if (rc != 0)
		guid2mkey_fini(out);
	return rc;
}

void
guid2mkey_fini(struct guid2mkey *g)
{
	fm_vec_fini(&g->entries);
	g->n_kinds = 0;
}

uint64_t
guid2mkey_find(const struct guid2mkey *g, uint64_t guid)
{
	struct guid2mkey_entry want = { .guid = guid }, *e = NULL;

	if (g->entries.n > 0)
		e = bsearch(&want, g->entries.item, g->entries.n, sizeof(want), by_guid_of_key);
	return e != NULL ? e->m_key : 0;
}
