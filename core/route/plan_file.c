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

#include "core/route/graph_diff.h"
#include "core/route/plan_file_regions.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/faultpoint.h"
#include "lib/log.h"

#define MAGIC "fmdplan4"
#define MAGIC_BYTES 8

struct plan_file_head {
	char magic[MAGIC_BYTES];
	uint64_t sum; /* of all bytes behind this field */
	uint64_t n_bytes, chain_mark, switches_mark, unreachable_pairs;
	uint32_t n_switches, n_joined, n_refused, n_cables, n_deviations;
	uint16_t top_lid;
	uint8_t sl_shape, sl2vl_shape, n_vls_used, forward_only;
	char engine[64];
};
#define SUM_FROM (offsetof(struct plan_file_head, sum) + sizeof(uint64_t))

/* A cable of the graph the tables were made for, and an entry of the last full route. */
struct plan_file_cable {
	uint64_t guid[2];
	uint32_t mbps, nominal_mbps;
	uint8_t port[2], n_vls, unused[5];
};
struct plan_file_entry {
	uint64_t guid;
	uint16_t lid;
	uint8_t port, unused[5];
};

/* --------------------------------------------------------- the switches */

/* Equal for equal switches, however they are numbered; those that are gone are not kept. */
static uint64_t
mark_switches(const struct fm_fabric *fab, uint32_t *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint64_t h;

		if (graph_is_gone(fab, sw))
			continue;
		h = fm_hash_bytes(fab->sw_guid[sw], fab->sw_name[sw], strlen(fab->sw_name[sw]));
		sum += fm_mix64(h ^ fab->sw_n_ports[sw]);
		++*n;
	}
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
		if (!graph_is_gone(&snap->fab, sw) && !switch_parts(c, snap, t, row, sw))
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
	    h->n_refused * sizeof(struct plan_refusal) +
	    h->n_cables * sizeof(struct plan_file_cable) +
	    h->n_deviations * sizeof(struct plan_file_entry) + (size_t)h->top_lid + 1;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		size_t n_ports = fab->sw_n_ports[sw] + 1u;

		n += 2 * (sizeof(uint64_t) + (size_t)h->top_lid + 1);
		if (h->sl2vl_shape != FM_SL2VL_MODULO)
			n += n_ports * n_ports * 16;
	}
	return n;
}

/* ------------------------------------------------------------------ save */

/* Of both directions one; not those of switches that are gone. */
static bool
cable_counts(const struct plan *p, fm_sw sw, fm_link l)
{
	const struct fm_fabric *graph = &p->graph->fab, *now = &p->snap->fab;

	return l < graph->link_rev[l] && !graph_is_gone(now, sw) &&
	    !graph_is_gone(now, graph->link_to[l]);
}

static uint32_t
count_cables(const struct plan *p)
{
	const struct fm_fabric *fab = &p->graph->fab;
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			n += cable_counts(p, sw, l);
	return n;
}

static bool
cables_out(struct cursor *c, const struct plan *p)
{
	const struct fm_fabric *fab = &p->graph->fab;
	bool ok = true;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			struct plan_file_cable one = {
				.guid = { fab->sw_guid[sw], fab->sw_guid[fab->link_to[l]] },
				.mbps = fab->link_mbps[l],
				.nominal_mbps = fab->link_nominal_mbps[l],
				.port = { fab->link_port[l], fab->link_port[fab->link_rev[l]] },
				.n_vls = fab->link_n_vls[l],
			};

			if (cable_counts(p, sw, l))
				ok = ok && part(c, &one, sizeof(one));
		}
	return ok;
}

static uint32_t
count_deviations(const struct plan *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->deviations.n; i++)
		n += !graph_is_gone(&p->snap->fab, p->deviations.item[i].sw);
	return n;
}

static bool
deviations_out(struct cursor *c, const struct plan *p)
{
	bool ok = true;

	for (size_t i = 0; i < p->deviations.n; i++) {
		const struct plan_entry *e = &p->deviations.item[i];
		struct plan_file_entry one = {
			.guid = p->snap->fab.sw_guid[e->sw], .lid = e->lid, .port = e->port
		};

		if (!graph_is_gone(&p->snap->fab, e->sw))
			ok = ok && part(c, &one, sizeof(one));
	}
	return ok;
}

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
	h.switches_mark = mark_switches(&p->snap->fab, &h.n_switches);
	h.unreachable_pairs = p->verdict.unreachable_pairs;
	h.n_cables = count_cables(p);
	h.n_deviations = count_deviations(p);
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
	    !cables_out(&c, p) || !deviations_out(&c, p) ||
	    !table_parts(&c, p->snap, &p->tables->t, p->top_lid) ||
	    !plan_regions_write(p, c.at, (size_t)(c.end - c.at)))
		return false;
	h->n_bytes = (size_t)(c.at - bytes) + plan_regions_bytes(p);
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
	room = max_bytes(&h, &p->snap->fab) + plan_regions_bytes(p);
	bytes = malloc(room);
	sl_row = malloc((p->snap->fab.n_switches + 1) * sizeof(*sl_row));
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
	*good = table_parts(c, p->snap, t, h->top_lid);
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

/* The switches and ends that there are now, for tables that name other cables. */
static bool
list_parts(const struct fm_fabric *fab, struct snapshot_builder *b)
{
	bool ok = true;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		struct snapshot_switch one = { .guid = fab->sw_guid[sw],
			.system_guid = fab->sw_system_guid[sw],
			.name = fab->sw_name[sw],
			.n_ports = fab->sw_n_ports[sw] };

		ok = ok && fm_vec_push(&b->switches, one);
	}
	for (fm_end e = 0; e < fab->n_ends; e++) {
		struct snapshot_end one = { .guid = fab->end_guid[e],
			.node_guid = fab->end_node_guid[e],
			.system_guid = fab->end_system_guid[e],
			.name = fab->end_name[e],
			.sw = fab->end_sw[e],
			.lid = fab->end_lid[e],
			.port = fab->end_port[e],
			.lmc = fab->end_lmc[e],
			.kind = fab->end_kind[e],
			.n_vls = fab->end_n_vls[e] };

		ok = ok && fm_vec_push(&b->ends, one);
	}
	return ok;
}

/* *good false: a cable has switches that are not there. */
static bool
list_cables(struct cursor *c, uint32_t n, const struct snapshot *snap, struct snapshot_builder *b,
    bool *good)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_file_cable one = { 0 };
		struct snapshot_cable cable;

		*good = part(c, &one, sizeof(one));
		if (!*good)
			break;
		cable = (struct snapshot_cable){
			.sw = { fm_hash_find(&snap->sw_by_guid, one.guid[0]),
			    fm_hash_find(&snap->sw_by_guid, one.guid[1]) },
			.port = { one.port[0], one.port[1] },
			.n_vls = one.n_vls,
			.mbps = one.mbps,
			.nominal_mbps = one.nominal_mbps,
		};
		*good = cable.sw[0] != FM_HASH_NONE && cable.sw[1] != FM_HASH_NONE;
		if (*good && !fm_vec_push(&b->cables, cable))
			return false;
	}
	return true;
}

/* The graph that the tables were made for, with the ends there are now: *out, or
 * NULL with *good: an end stands where a cable was, say. */
static int
take_graph(struct cursor *c, uint32_t n_cables, struct snapshot *snap, struct snapshot **out,
    bool *good, struct fm_error *err)
{
	struct snapshot_builder b = { 0 };
	struct fm_error why = { 0 };
	int rc = 0;

	*out = NULL;
	if (!list_parts(&snap->fab, &b) || !list_cables(c, n_cables, snap, &b, good))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	if (rc == 0 && *good)
		rc = snapshot_build(&b, snap->fab.generation, out, &why);
	snapshot_builder_fini(&b);
	if (rc == 0 || rc == FM_E_RESOURCE)
		return rc;
	log_debug("route", "kept tables do not fit: %s", why.msg);
	return 0;
}

static int
take_deviations(struct cursor *c, uint32_t n, struct plan *p, bool *good, struct fm_error *err)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_file_entry one = { 0 };
		struct plan_entry e;

		*good = part(c, &one, sizeof(one));
		if (!*good)
			break;
		e = (struct plan_entry){ .sw = fm_hash_find(&p->snap->sw_by_guid, one.guid),
			.lid = one.lid,
			.port = one.port };
		*good = e.sw != FM_HASH_NONE && e.lid <= p->top_lid;
		if (*good && !fm_vec_push(&p->deviations, e))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	if (*good && p->deviations.n > 1) /* switches may have other numbers now */
		qsort(p->deviations.item, p->deviations.n, sizeof(p->deviations.item[0]),
		    plan_entry_by_lid);
	return 0;
}

static int
note_absent(struct plan *p, const uint64_t *lids, int64_t now_ms, struct fm_error *err)
{
	const struct fm_fabric *fab = &p->snap->fab;

	for (uint32_t lid = 1; lid <= p->top_lid; lid++) {
		struct plan_absent a = { .lid = (uint16_t)lid, .since_ms = now_ms };

		if (fm_bit_test(lids, lid) &&
		    (lid > fab->max_lid || fab->lid_end[lid] == FM_NONE) &&
		    !fm_vec_push(&p->absent, a))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	return 0;
}

/* What the head says. */
static struct plan *
begin_plan(const struct plan_file_head *h, struct snapshot *graph, struct fm_error *err)
{
	struct plan *p = plan_new(graph, err);

	if (p == NULL)
		return NULL;
	p->graph = snapshot_get(graph);
	p->top_lid = h->top_lid;
	p->n_joined = h->n_joined;
	p->forward_only = h->forward_only != 0;
	p->verdict.unreachable_pairs = h->unreachable_pairs;
	memcpy(p->engine, h->engine, sizeof(p->engine) - 1);
	return p;
}

/* The rest of the file, for a plan on the graph it names; *p stays NULL where that
 * is none. */
static int
take_parts(const struct plan_file_head *h, struct cursor *c, struct router *r,
    struct snapshot *snap, struct plan **p, bool *good, struct fm_error *err)
{
	uint8_t *refused = c->at;
	size_t n_refused = h->n_refused * sizeof(struct plan_refusal);
	struct snapshot *graph = NULL;
	int rc;

	*good = (size_t)(c->end - c->at) >= n_refused;
	if (!*good)
		return 0;
	c->at += n_refused;
	rc = take_graph(c, h->n_cables, snap, &graph, good, err);
	if (rc != 0 || graph == NULL)
		return rc;
	*p = begin_plan(h, graph, err);
	snapshot_put(graph);
	if (*p == NULL)
		return FM_E_RESOURCE;
	if ((rc = take_deviations(c, h->n_deviations, *p, good, err)) != 0 || !*good ||
	    (rc = take_tables(h, c, r, *p, good, err)) != 0 || !*good ||
	    (rc = plan_regions_read(c->at, (size_t)(c->end - c->at), *p, good, err)) != 0 || !*good)
		return rc;
	*c = (struct cursor){ .at = refused, .end = refused + n_refused };
	return take_refusals(c, h->n_refused, *p, good, err);
}

/* *out: the plan, NULL if the file is not good or does not fit. */
static int
take_plan(uint8_t *bytes, size_t n, struct router *r, struct snapshot *snap, int64_t now_ms,
    bool *good, struct plan **out, struct fm_error *err)
{
	struct cursor c = { .at = bytes, .end = bytes + n };
	struct plan_file_head h;
	const uint64_t *lids;
	struct plan *p = NULL;
	int rc;

	*good = n >= sizeof(h) && part(&c, &h, sizeof(h)) &&
	    (size_t)(c.end - c.at) >= lids_bytes(h.top_lid) && h.sl_shape <= FM_SL_BY_SW_DLID &&
	    h.sl2vl_shape <= FM_SL2VL_BY_IN_OUT;
	if (!*good)
		return 0;
	lids = (const uint64_t *)(void *)c.at;
	c.at += lids_bytes(h.top_lid);
	rc = take_parts(&h, &c, r, snap, &p, good, err);
	if (rc == 0 && *good && p != NULL)
		rc = note_absent(p, lids, now_ms, err);
	if (rc == 0 && *good)
		*out = p;
	else
		plan_put(p);
	return rc;
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
	const char *why;
	bool good = false;
	uint32_t n_switches;
	size_t n;
	uint8_t *bytes = read_whole(path, &n, &why);
	int rc = 0;

	*out = NULL;
	if (why != NULL)
		set_aside(path, why);
	if (bytes == NULL)
		return 0;
	memcpy(&h, bytes, sizeof(h));
	if (h.chain_mark == chain_mark &&
	    h.switches_mark == mark_switches(&snap->fab, &n_switches) &&
	    h.n_switches == n_switches && n_switches == snap->fab.n_switches) {
		rc = take_plan(bytes, n, r, snap, now_ms, &good, out, err);
		if (rc == 0 && !good)
			set_aside(path, "it does not hold what it says");
	}
	free(bytes);
	return rc;
}
