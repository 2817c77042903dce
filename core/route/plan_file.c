/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan as bytes.  One description of the layout serves both ways: walk()
 * visits every part of the tables in order, and the visitor copies it out or
 * in.
 */
#include "core/route/plan_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/faultpoint.h"
#include "lib/log.h"

#define MAGIC "fmdplan2"
#define MAGIC_BYTES 8

struct plan_file_head {
	char magic[MAGIC_BYTES];
	uint64_t sum; /* of all bytes behind this field */
	uint64_t n_bytes, chain_mark, graph_mark, unreachable_pairs;
	uint32_t n_switches, n_joined, n_refused;
	uint16_t top_lid;
	uint8_t sl_shape, sl2vl_shape, n_vls_used, forward_only;
	char engine[64];
};
#define SUM_FROM (offsetof(struct plan_file_head, sum) + sizeof(uint64_t))

/* ------------------------------------------------------------ the graph */

static uint64_t
mark_switch(const struct fm_fabric *fab, fm_sw sw)
{
	uint64_t h = fm_hash_bytes(fab->sw_guid[sw], fab->sw_name[sw], strlen(fab->sw_name[sw]));

	h = fm_mix64(h ^ fab->sw_n_ports[sw]);
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
		const uint64_t link[] = { fab->link_port[l], fab->sw_guid[fab->link_to[l]],
			fab->link_port[fab->link_rev[l]], fab->link_mbps[l],
			fab->link_nominal_mbps[l], fab->link_n_vls[l] };

		h += fm_hash_bytes(fab->sw_guid[sw], link, sizeof(link));
	}
	return fm_mix64(h);
}

/* Equal for equal switches and cables, however they are numbered. */
static uint64_t
mark_graph(const struct fm_fabric *fab)
{
	uint64_t sum = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		sum += mark_switch(fab, sw);
	return fm_mix64(sum);
}

/* ------------------------------------------------------------- the parts */

struct cursor {
	uint8_t *at, *end;
	bool out;      /* copy into the bytes, else from them */
	fm_sw *sl_row; /* [n_switches] whose row of SLs each has, where these differ by switch */
};

/* False: the bytes end here. */
static bool
part(struct cursor *c, void *bytes, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	if (n > 0 && c->out)
		memcpy(c->at, bytes, n);
	else if (n > 0)
		memcpy(bytes, c->at, n);
	c->at += n;
	return true;
}

static bool
sl2vl_parts(struct cursor *c, const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw)
{
	size_t n_ports = fab->sw_n_ports[sw] + 1u;

	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		return part(c, t->sl2vl + (size_t)t->sl2vl_first[sw] * 16, n_ports * n_ports * 16);
	for (unsigned p = 1; t->sl2vl_shape == FM_SL2VL_BY_OUT && p < n_ports; p++) {
		fm_link l = fm_link_at(fab, sw, p);

		if (l != FM_NONE && !part(c, t->sl2vl + (size_t)l * 16, 16))
			return false;
	}
	return true;
}

/* The SLs of sw: the GUID of the switch whose row it has, and the row if that is its own. */
static bool
sl_parts(
    struct cursor *c, const struct snapshot *snap, const struct fm_tables *t, size_t row, fm_sw sw)
{
	uint64_t guid = 0;

	if (t->sl_shape != FM_SL_BY_SW_DLID)
		return true;
	if (c->out)
		guid = snap->fab.sw_guid[c->sl_row[sw]];
	if (!part(c, &guid, sizeof(guid)))
		return false;
	c->sl_row[sw] = fm_hash_find(&snap->sw_by_guid, guid);
	return c->sl_row[sw] != FM_HASH_NONE && (c->sl_row[sw] != sw || part(c, t->sl[sw], row));
}

static bool
switch_parts(
    struct cursor *c, const struct snapshot *snap, const struct fm_tables *t, size_t row, fm_sw sw)
{
	uint64_t guid = snap->fab.sw_guid[sw];

	if (!part(c, &guid, sizeof(guid)))
		return false;
	sw = fm_hash_find(&snap->sw_by_guid, guid); /* read: another than the sw-th here */
	return sw != FM_HASH_NONE && part(c, t->lft[sw], row) && sl_parts(c, snap, t, row, sw) &&
	    sl2vl_parts(c, &snap->fab, t, sw);
}

/* Every byte of the tables, in or out. */
static bool
table_parts(
    struct cursor *c, const struct snapshot *snap, const struct fm_tables *t, uint16_t top_lid)
{
	size_t row = (size_t)top_lid + 1;

	if (t->sl_shape == FM_SL_BY_DLID && !part(c, t->sl[0], row))
		return false;
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		if (!switch_parts(c, snap, t, row, sw))
			return false;
	return true;
}

static size_t
lids_bytes(uint16_t top_lid)
{
	return FM_BITSET_WORDS((size_t)top_lid + 1) * sizeof(uint64_t);
}

static size_t
max_bytes(const struct plan_file_head *h, const struct fm_fabric *fab)
{
	size_t n = sizeof(*h) + lids_bytes(h->top_lid) +
	    h->n_refused * sizeof(struct plan_refusal) + (size_t)h->top_lid + 1;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		size_t n_ports = fab->sw_n_ports[sw] + 1u;

		n += 2 * (sizeof(uint64_t) + (size_t)h->top_lid + 1);
		if (h->sl2vl_shape != FM_SL2VL_MODULO)
			n += n_ports * n_ports * 16;
	}
	return n;
}

/* ------------------------------------------------------------------ save */

static void
mark_lids(const struct plan *p, uint64_t *lids)
{
	for (uint32_t lid = 1; lid <= p->snap->fab.max_lid; lid++)
		if (p->snap->fab.lid_end[lid] != FM_NONE)
			fm_bit_set(lids, lid);
	for (size_t i = 0; i < p->absent.n; i++)
		fm_bit_set(lids, p->absent.item[i].lid);
}

static struct plan_file_head
head_of(const struct plan *p, uint64_t chain_mark)
{
	const struct fm_tables *t = &p->tables->t;
	struct plan_file_head h;

	memset(&h, 0, sizeof(h)); /* the gaps too */
	memcpy(h.magic, MAGIC, MAGIC_BYTES);
	h.chain_mark = chain_mark;
	h.graph_mark = mark_graph(&p->graph->fab);
	h.unreachable_pairs = p->verdict.unreachable_pairs;
	h.n_switches = p->snap->fab.n_switches;
	h.n_joined = p->n_joined;
	h.n_refused = (uint32_t)p->refused.n;
	h.top_lid = p->top_lid;
	h.sl_shape = (uint8_t)t->sl_shape;
	h.sl2vl_shape = (uint8_t)t->sl2vl_shape;
	h.n_vls_used = t->n_vls_used;
	h.forward_only = p->forward_only;
	memcpy(h.engine, p->engine, sizeof(h.engine));
	return h;
}

static bool
fill(uint8_t *bytes, size_t room, const struct plan *p, fm_sw *sl_row, struct plan_file_head *h)
{
	size_t at = sizeof(*h), n_lids = lids_bytes(p->top_lid);
	struct cursor c = { .end = bytes + room, .out = true, .sl_row = sl_row };

	memset(bytes, 0, at + n_lids);
	mark_lids(p, (uint64_t *)(void *)(bytes + at));
	c.at = bytes + at + n_lids;
	if (p->tables->t.sl_shape == FM_SL_BY_SW_DLID)
		tables_sl_rows(p->tables, p->snap->fab.n_switches, sl_row);
	if (!part(&c, p->refused.item, p->refused.n * sizeof(struct plan_refusal)) ||
	    !table_parts(&c, p->snap, &p->tables->t, p->top_lid))
		return false;
	h->n_bytes = (size_t)(c.at - bytes);
	memcpy(bytes, h, sizeof(*h));
	h->sum = fm_hash_bytes(0, bytes + SUM_FROM, h->n_bytes - SUM_FROM);
	memcpy(bytes, h, sizeof(*h));
	return true;
}

static int
write_file(const char *path, const uint8_t *bytes, size_t n, struct fm_error *err)
{
	char fresh[PATH_MAX];
	ssize_t done;
	int fd;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", fresh, strerror(errno));
	for (; n > 0; bytes += done, n -= (size_t)done) {
		fm_fault_point("tables", "write");
		done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done < 0)
			break;
	}
	fm_fault_point("tables", "written");
	if (close(fd) != 0 || n > 0 || rename(fresh, path) != 0) {
		fm_fail(err, FM_E_SYSTEM, "%s: %s", fresh, strerror(errno));
		unlink(fresh);
		return FM_E_SYSTEM;
	}
	fm_fault_point("tables", "renamed");
	return 0;
}

int
plan_file_save(const char *path, const struct plan *p, uint64_t chain_mark, struct fm_error *err)
{
	struct plan_file_head h;
	uint8_t *bytes;
	fm_sw *sl_row;
	size_t room;
	int rc;

	if (p->tables == NULL || p->tables->t.ar_max_groups > 0) {
		unlink(path);
		return 0;
	}
	h = head_of(p, chain_mark);
	room = max_bytes(&h, &p->snap->fab);
	bytes = malloc(room);
	sl_row = malloc((h.n_switches + 1) * sizeof(*sl_row));
	if (bytes == NULL || sl_row == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory to keep the tables");
	else if (fill(bytes, room, p, sl_row, &h))
		rc = write_file(path, bytes, h.n_bytes, err);
	else
		rc = fm_fail(err, FM_E_BUG, "the tables do not fit the room made for them");
	free(bytes);
	free(sl_row);
	return rc;
}

/* ------------------------------------------------------------------ load */

/* The whole file, or NULL with *why (NULL too: there is none). */
static uint8_t *
read_whole(const char *path, size_t *n, const char **why)
{
	struct plan_file_head h;
	uint8_t *bytes = NULL;
	struct stat st;
	FILE *f = fopen(path, "re");

	*why = NULL;
	if (f == NULL)
		return NULL;
	*why = "it is damaged";
	if (fstat(fileno(f), &st) == 0 && st.st_size >= (off_t)sizeof(h))
		bytes = malloc((size_t)st.st_size);
	*n = bytes != NULL ? (size_t)st.st_size : 0;
	if (bytes != NULL && fread(bytes, 1, *n, f) == *n) {
		memcpy(&h, bytes, sizeof(h));
		if (memcmp(h.magic, MAGIC, MAGIC_BYTES) != 0)
			*why = "it is not ours, or of another version";
		else if (h.n_bytes == *n &&
		    h.sum == fm_hash_bytes(0, bytes + SUM_FROM, *n - SUM_FROM))
			*why = NULL;
	}
	fclose(f);
	if (*why == NULL)
		return bytes;
	free(bytes);
	return NULL;
}

static int
take_tables(const struct plan_file_head *h, struct cursor *c, struct router *r, struct plan *p,
    bool *good, struct fm_error *err)
{
	uint32_t traits = FM_PROVIDES_LFT;
	struct fm_fabric shape = p->snap->fab;
	struct fm_tables *t;
	int rc;

	shape.max_lid = h->top_lid;
	if (h->sl_shape != FM_SL_ZERO || h->sl2vl_shape != FM_SL2VL_MODULO)
		traits |= FM_PROVIDES_SL;
	rc = tables_new(r->tables, r->workers, &shape, traits, 0, &p->tables, err);
	if (rc != 0)
		return rc;
	t = &p->tables->t;
	t->sl_shape = (enum fm_sl_shape)h->sl_shape;
	t->sl2vl_shape = (enum fm_sl2vl_shape)h->sl2vl_shape;
	t->n_vls_used = h->n_vls_used;
	c->sl_row = calloc(shape.n_switches + 1, sizeof(*c->sl_row));
	if (c->sl_row == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	*good = table_parts(c, p->snap, t, h->top_lid) && c->at == c->end;
	if (*good && t->sl_shape == FM_SL_BY_SW_DLID)
		tables_share_sl(p->tables, c->sl_row, shape.n_switches);
	free(c->sl_row);
	return 0;
}

static int
take_refusals(struct cursor *c, uint32_t n, struct plan *p, bool *good, struct fm_error *err)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_refusal one;

		*good = part(c, &one, sizeof(one));
		if (*good && !fm_vec_push(&p->refused, one))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	return 0;
}

static int
take_plan(uint8_t *bytes, size_t n, struct router *r, struct plan *p, int64_t now_ms, bool *good,
    struct fm_error *err)
{
	struct cursor c = { .at = bytes, .end = bytes + n };
	const struct fm_fabric *fab = &p->snap->fab;
	struct plan_file_head h;
	const uint64_t *lids;
	int rc;

	*good = part(&c, &h, sizeof(h)) && (size_t)(c.end - c.at) >= lids_bytes(h.top_lid) &&
	    h.sl_shape <= FM_SL_BY_SW_DLID && h.sl2vl_shape <= FM_SL2VL_BY_IN_OUT;
	if (!*good)
		return 0;
	lids = (const uint64_t *)(void *)c.at;
	c.at += lids_bytes(h.top_lid);
	if ((rc = take_refusals(&c, h.n_refused, p, good, err)) != 0 || !*good ||
	    (rc = take_tables(&h, &c, r, p, good, err)) != 0 || !*good)
		return rc;
	p->graph = snapshot_get(p->snap);
	p->top_lid = h.top_lid;
	p->n_joined = h.n_joined;
	p->forward_only = h.forward_only != 0;
	p->verdict.unreachable_pairs = h.unreachable_pairs;
	memcpy(p->engine, h.engine, sizeof(p->engine) - 1);
	for (uint32_t lid = 1; lid <= h.top_lid; lid++) {
		struct plan_absent a = { .lid = (uint16_t)lid, .since_ms = now_ms };

		if (fm_bit_test(lids, lid) &&
		    (lid > fab->max_lid || fab->lid_end[lid] == FM_NONE) &&
		    !fm_vec_push(&p->absent, a))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	return 0;
}

static void
set_aside(const char *path, const char *why)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "%s.bad", path);
	log_warn("route", "kept tables in %s are not used: %s; %s", path, why,
	    rename(path, to) == 0 ? "set aside" : "it cannot be renamed");
}

int
plan_file_load(const char *path, struct router *r, struct snapshot *snap, uint64_t chain_mark,
    int64_t now_ms, struct plan **out, struct fm_error *err)
{
	struct plan_file_head h;
	struct plan *p = NULL;
	const char *why;
	bool good = false;
	size_t n;
	uint8_t *bytes = read_whole(path, &n, &why);
	int rc = 0;

	*out = NULL;
	if (why != NULL)
		set_aside(path, why);
	if (bytes == NULL)
		return 0;
	memcpy(&h, bytes, sizeof(h));
	if (h.chain_mark == chain_mark && h.n_switches == snap->fab.n_switches &&
	    h.graph_mark == mark_graph(&snap->fab)) {
		p = plan_new(snap, err);
		rc = p == NULL ? FM_E_RESOURCE : take_plan(bytes, n, r, p, now_ms, &good, err);
		if (rc == 0 && !good)
			set_aside(path, "it does not hold what it says");
	}
	free(bytes);
	if (rc == 0 && good)
		*out = p;
	else
		plan_put(p);
	return rc;
}
