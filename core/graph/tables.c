/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table memory.  A tables_memory is one mapping on huge pages of LFT rows and, for
 * an engine that writes them whole, of SLs and SL2VL behind them.  It
 * goes back to the pool when the last reference to its tables is put, and is
 * handed out again when it is large
 * enough and not more than twice too large.  SL and SL2VL arrays of other
 * engines are plain mappings that live and die with the tables;
 * untouched pages of them cost nothing, and so switches may share rows of SLs.
 * In a shared pool all arrays lie in the one mapping, which is a file to other processes.
 *
 * tables_new: a memset of switches x LIDs bytes, spread over the workers; for
 * an engine that writes whole rows, of the entries behind max_lid alone.
 */
#include "core/graph/tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fmd/own.h>

#include "lib/error.h"
#include "lib/pages.h"

#define LINE_BYTES 64u
#define AR_GROUP_BYTES 32u /* a bit for each of 256 ports */
#define POOL_KEEPS 3	   /* mappings: the plan in use, the one being made, one to spare */

struct tables_memory {
	struct tables_memory *next;
	size_t n_bytes;
	unsigned char *at; /* the mapping */
	int fd;		   /* of a shared pool, else -1 */
	bool was_used;
	unsigned char *rest; /* shared: what is left of it for arrays beside the rows */
	/* the arrays of one use */
	uint8_t **lft, **sl;
	uint16_t *ar_n_groups, **ar_group;
	uint64_t (**ar_ports)[4];
	uint32_t *order;
	void *sl_rows, *ar_rows;
	/* of mappings that die with the tables */
	size_t sl_bytes, ar_bytes, sl2vl_bytes;
};

struct table_pool {
	pthread_mutex_t lock;
	struct tables_memory *idle;
	unsigned n_idle;
	size_t n_out; /* mappings in tables that somebody holds */
	bool closed;  /* the last of them frees the pool */
	bool shared;
};

struct table_pool *
table_pool_new(void)
{
	struct table_pool *p = calloc(1, sizeof(*p));

	if (p != NULL)
		pthread_mutex_init(&p->lock, NULL);
	return p;
}

struct table_pool *
table_pool_new_shared(void)
{
	struct table_pool *p = table_pool_new();

	if (p != NULL)
		p->shared = true;
	return p;
}

static void
free_memory(struct tables_memory *m)
{
	fm_pages_unmap(m->at, m->n_bytes);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

static void
free_pool(struct table_pool *p)
{
	struct tables_memory *next;

	for (struct tables_memory *m = p->idle; m != NULL; m = next) {
		next = m->next;
		free_memory(m);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void
table_pool_free(struct table_pool *p)
{
	bool unused;

	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	unused = p->n_out == 0;
	pthread_mutex_unlock(&p->lock);
	if (unused)
		free_pool(p);
}

/* An idle mapping of n_bytes to 2 n_bytes, or NULL. */
static struct tables_memory *
take_idle(struct table_pool *p, size_t n_bytes)
{
	struct tables_memory *found = NULL;

	pthread_mutex_lock(&p->lock);
	for (struct tables_memory **at = &p->idle; *at != NULL; at = &(*at)->next)
		if ((*at)->n_bytes >= n_bytes && (*at)->n_bytes / 2 <= n_bytes) {
			found = *at;
			*at = found->next;
			p->n_idle--;
			break;
		}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static struct tables_memory *
map_memory(size_t n_bytes, bool shared)
{
	struct tables_memory *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->fd = -1;
	m->at = shared ? fm_pages_map_shared(n_bytes, &m->fd) : fm_pages_map(n_bytes);
	if (m->at == NULL) {
		free(m);
		return NULL;
	}
	m->n_bytes = n_bytes;
	return m;
}

static struct tables_memory *
take_memory(struct table_pool *p, size_t n_bytes)
{
	struct tables_memory *m;

	n_bytes = (n_bytes + FM_PAGES_HUGE_BYTES - 1) / FM_PAGES_HUGE_BYTES * FM_PAGES_HUGE_BYTES;
	m = take_idle(p, n_bytes);
	if (m == NULL)
		m = map_memory(n_bytes, p->shared);
	if (m == NULL)
		return NULL;
	pthread_mutex_lock(&p->lock);
	p->n_out++;
	pthread_mutex_unlock(&p->lock);
	return m;
}

static void
give_back(struct table_pool *p, struct tables_memory *m)
{
	bool keep, last;

	pthread_mutex_lock(&p->lock);
	keep = p->n_idle < POOL_KEEPS;
	if (keep) {
		m->next = p->idle;
		p->idle = m;
		p->n_idle++;
	}
	p->n_out--;
	last = p->closed && p->n_out == 0;
	pthread_mutex_unlock(&p->lock);
	if (!keep)
		free_memory(m);
	if (last)
		free_pool(p);
}

/* (max_lid + 1) rounded up to an odd number of lines. */
static size_t
stride_of(const struct fm_fabric *fab)
{
	size_t lines = ((size_t)fab->max_lid + 1 + LINE_BYTES - 1) / LINE_BYTES;

	return (lines | 1) * LINE_BYTES;
}

struct fill {
	uint8_t *const *lft;
	uint8_t *const *sl; /* NULL: are 0 */
	size_t from, stride;
	size_t max_lid;
};

static void
fill_row(void *arg, uint32_t i, unsigned worker)
{
	const struct fill *f = arg;

	memset(f->lft[i] + f->from, FM_PORT_NONE, f->stride - f->from);
	if (f->sl != NULL)
		memset(f->sl[i] + f->max_lid + 1, 0, f->stride - f->max_lid - 1);
}

static uint32_t
sl2vl_rows(const struct fm_fabric *fab, fm_sw sw)
{
	return (fab->sw_n_ports[sw] + 1u) * (fab->sw_n_ports[sw] + 1u);
}

static size_t
sl2vl_bytes(const struct fm_fabric *fab)
{
	uint32_t rows = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		rows += sl2vl_rows(fab, sw);
	return (size_t)(rows < fab->n_links ? fab->n_links : rows) * 16 + 16;
}

/* Behind the rows of the LFT, for engines that write all of it. */
static size_t
whole_sl_bytes(const struct fm_fabric *fab, uint32_t traits, size_t stride)
{
	if ((traits & FM_PROVIDES_SL) == 0 || (traits & FM_WRITES_WHOLE_SLS) == 0)
		return 0;
	return (fab->n_switches ? fab->n_switches : 1) * stride + sl2vl_bytes(fab);
}

static size_t
lines_of(size_t n_bytes)
{
	return (n_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Zeros: of the shared mapping, or a mapping of *mapped bytes that dies with the tables. */
static void *
take_part(struct tables_memory *m, size_t n_bytes, size_t *mapped)
{
	unsigned char *at = m->rest;

	if (at != NULL) {
		m->rest += lines_of(n_bytes);
		return at;
	}
	*mapped = n_bytes;
	return fm_pages_map(n_bytes);
}

/* used: memory for rows and SL2VL, or NULL. */
static int
add_sl(struct tables *t, const struct fm_fabric *fab, unsigned char *used, struct fm_error *err)
{
	struct tables_memory *m = t->mem;
	uint32_t n = fab->n_switches ? fab->n_switches : 1, rows = 0;
	uint32_t *first = calloc(n + 1, sizeof(*first));

	if (first == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for SL tables");
	t->t.sl2vl_first = first;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		first[sw] = rows;
		rows += sl2vl_rows(fab, sw);
	}
	first[fab->n_switches] = rows;
	if (used != NULL) {
		m->sl_rows = used;
		t->t.sl2vl = used + n * t->t.lft_stride;
	} else {
		t->t.sl2vl = take_part(m, sl2vl_bytes(fab), &m->sl2vl_bytes);
		m->sl_rows = take_part(m, n * t->t.lft_stride, &m->sl_bytes);
	}
	m->sl = calloc(n, sizeof(*m->sl));
	if (t->t.sl2vl == NULL || m->sl_rows == NULL || m->sl == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for SL tables");
	for (uint32_t i = 0; i < n; i++)
		m->sl[i] = (uint8_t *)m->sl_rows + i * t->t.lft_stride;
	t->t.sl = m->sl;
	return 0;
}

/* Groups that a switch may have, and bytes of all numbers and sets of ports. */
static uint16_t
groups_of(const struct fm_fabric *fab, fm_sw sw, uint16_t max_groups)
{
	return fab->sw_ar_groups[sw] < max_groups ? fab->sw_ar_groups[sw] : max_groups;
}

static size_t
ar_bytes(const struct fm_fabric *fab, uint16_t max_groups, size_t stride)
{
	size_t bytes = LINE_BYTES;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		bytes += stride * sizeof(uint16_t) +
		    (groups_of(fab, sw, max_groups) + (size_t)1) * AR_GROUP_BYTES;
	return bytes;
}

int
tables_add_groups(
    struct tables *t, const struct fm_fabric *fab, uint16_t max_groups, struct fm_error *err)
{
	struct tables_memory *m = t->mem;
	uint32_t n = fab->n_switches;
	unsigned char *at = take_part(m, ar_bytes(fab, max_groups, t->t.lft_stride), &m->ar_bytes);

	m->ar_rows = at;
	m->ar_n_groups = calloc(n + 1, sizeof(*m->ar_n_groups));
	m->ar_group = calloc(n + 1, sizeof(*m->ar_group));
	m->ar_ports = calloc(n + 1, sizeof(*m->ar_ports));
	if (at == NULL || m->ar_n_groups == NULL || m->ar_group == NULL || m->ar_ports == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for adaptive routing groups");
	for (fm_sw sw = 0; sw < n; sw++) {
		m->ar_n_groups[sw] = groups_of(fab, sw, max_groups);
		m->ar_group[sw] = (uint16_t *)at;
		at += t->t.lft_stride * sizeof(uint16_t);
		m->ar_ports[sw] = (uint64_t(*)[4])at;
		at += (m->ar_n_groups[sw] + (size_t)1) * AR_GROUP_BYTES;
	}
	t->t.ar_n_groups = m->ar_n_groups;
	t->t.ar_group = m->ar_group;
	t->t.ar_ports = m->ar_ports;
	return 0;
}

static int
add_order(struct tables *t, struct fm_error *err)
{
	size_t bytes = t->t.lft_stride * sizeof(*t->mem->order);

	t->t.order = t->mem->order =
	    t->mem->rest != NULL ? take_part(t->mem, bytes, NULL) : malloc(bytes);
	if (t->mem->order == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of hosts");
	memset(t->mem->order, 0xff, bytes);
	return 0;
}

static void
free_tables(struct tables *t)
{
	struct tables_memory *m = t->mem;

	if (m->sl2vl_bytes > 0)
		fm_pages_unmap(t->t.sl2vl, m->sl2vl_bytes);
	if (m->sl_bytes > 0)
		fm_pages_unmap(m->sl_rows, m->sl_bytes);
	if (m->ar_bytes > 0)
		fm_pages_unmap(m->ar_rows, m->ar_bytes);
	free((void *)t->t.sl2vl_first);
	free(m->lft);
	free(m->sl);
	free(m->ar_n_groups);
	free(m->ar_group);
	free(m->ar_ports);
	if (m->rest == NULL)
		free(m->order);
	m->rest = NULL;
	m->was_used = true;
	m->lft = m->sl = NULL;
	m->ar_n_groups = NULL;
	m->ar_group = NULL;
	m->ar_ports = NULL;
	m->order = NULL;
	m->sl_rows = m->ar_rows = NULL;
	m->sl_bytes = m->ar_bytes = m->sl2vl_bytes = 0;
	if (t->home != NULL)
		give_back(t->home, m);
	else
		free(m); /* the rows are those of others */
	free(t);
}

/* The arrays that traits announce beside the LFT. */
static int
add_arrays(struct tables *t, const struct fm_fabric *fab, uint32_t traits, uint16_t ar_max_groups,
    unsigned char *used, struct fm_error *err)
{
	int rc = 0;

	if (traits & FM_PROVIDES_SL)
		rc = add_sl(t, fab, used, err);
	if (rc == 0 && (traits & FM_PROVIDES_AR) && ar_max_groups > 0)
		rc = tables_add_groups(t, fab, ar_max_groups, err);
	if (rc == 0 && (traits & FM_PROVIDES_ORDER))
		rc = add_order(t, err);
	return rc;
}

/* Of the arrays that add_arrays() puts behind the rows of a shared mapping, at most. */
static size_t
rest_bytes(const struct fm_fabric *fab, uint32_t traits, uint16_t ar_max_groups, size_t stride)
{
	uint32_t n = fab->n_switches ? fab->n_switches : 1;
	size_t bytes = LINE_BYTES * 8;

	if (traits & FM_PROVIDES_SL)
		bytes += n * stride + sl2vl_bytes(fab);
	if ((traits & FM_PROVIDES_AR) && ar_max_groups > 0)
		bytes += ar_bytes(fab, ar_max_groups, stride);
	if (traits & FM_PROVIDES_ORDER)
		bytes += stride * sizeof(uint32_t);
	return bytes;
}

/* n_bytes of zeros for arrays behind the first n bytes, which the rows take. */
static void
begin_rest(struct tables_memory *m, size_t n, size_t n_bytes)
{
	size_t from = lines_of(n);

	m->rest = m->at + from;
	if (m->was_used)
		fm_pages_clear_shared(m->at, m->fd, from,
		    n_bytes > FM_PAGES_HUGE_BYTES ? m->n_bytes - from : n_bytes);
}

int
tables_new(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    uint32_t traits, uint16_t ar_max_groups, struct tables **out, struct fm_error *err)
{
	size_t stride = stride_of(fab);
	size_t from = (traits & FM_WRITES_WHOLE_ROWS) != 0 ? (size_t)fab->max_lid + 1 : 0;
	uint32_t n = fab->n_switches ? fab->n_switches : 1;
	size_t sl_bytes = whole_sl_bytes(fab, traits, stride);
	size_t rest = pool->shared ? rest_bytes(fab, traits, ar_max_groups, stride) : 0;
	struct tables *t = calloc(1, sizeof(*t));
	struct fill fill = { .from = from, .stride = stride, .max_lid = fab->max_lid };
	int rc = 0;

	if (t == NULL || (t->mem = take_memory(pool, n * stride + sl_bytes + rest)) == NULL) {
		free(t);
		return fm_fail(err, FM_E_RESOURCE,
		    "out of memory for %u forwarding tables of %zu entries", n, stride);
	}
	atomic_init(&t->refs, 1);
	t->home = pool;
	t->t.size = sizeof(t->t);
	t->t.lft_stride = stride;
	t->t.n_vls_used = 1;
	t->mem->lft = calloc(n, sizeof(*t->mem->lft));
	if (t->mem->lft == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for table rows");
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		t->mem->lft[i] = t->mem->at + i * stride;
	t->t.lft = t->mem->lft;
	if (pool->shared)
		begin_rest(t->mem, n * stride + sl_bytes, rest);
	if (rc == 0)
		rc = add_arrays(t, fab, traits, ar_max_groups,
		    sl_bytes > 0 ? t->mem->at + n * stride : NULL, err);
	if (rc != 0) {
		free_tables(t);
		return rc;
	}
	fill.lft = t->t.lft;
	fill.sl = sl_bytes > 0 ? t->t.sl : NULL;
	fm_pool_for(workers, n, fill_row, &fill);
	*out = t;
	return 0;
}

int
tables_over(struct tables *of, const fm_sw *rows, struct fm_pool *workers,
    const struct fm_fabric *fab, uint32_t traits, bool as_is, struct tables **out,
    struct fm_error *err)
{
	size_t stride = of->t.lft_stride;
	size_t from = (traits & FM_WRITES_WHOLE_ROWS) != 0 ? (size_t)fab->max_lid + 1 : 0;
	struct tables *t = calloc(1, sizeof(*t));
	int rc;

	if (t == NULL || (t->mem = calloc(1, sizeof(*t->mem))) == NULL ||
	    (t->mem->lft = calloc(fab->n_switches + 1, sizeof(*t->mem->lft))) == NULL) {
		if (t != NULL)
			free(t->mem);
		free(t);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for table rows");
	}
	t->mem->fd = -1;
	atomic_init(&t->refs, 1);
	t->t.size = sizeof(t->t);
	t->t.lft_stride = stride;
	t->t.n_vls_used = 1;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		t->mem->lft[sw] = of->t.lft[rows[sw]];
	t->t.lft = t->mem->lft;
	rc = add_arrays(t, fab, traits, 0, NULL, err);
	if (rc != 0) {
		free_tables(t);
		return rc;
	}
	if (!as_is)
		fm_pool_for(workers, fab->n_switches, fill_row,
		    &(struct fill){ .lft = t->t.lft, .from = from, .stride = stride });
	*out = t;
	return 0;
}

unsigned char *
tables_shared(const struct tables *t, size_t *n_bytes, int *fd)
{
	*n_bytes = t->mem->n_bytes;
	*fd = t->mem->fd;
	return t->mem->at;
}

struct clone {
	const struct fm_tables *from, *to;
	uint32_t n_sl_rows;
};

static void
clone_row(void *arg, uint32_t i, unsigned worker)
{
	const struct clone *c = arg;

	memcpy(c->to->lft[i], c->from->lft[i], c->from->lft_stride);
	if (i < c->n_sl_rows)
		memcpy(c->to->sl[i], c->from->sl[i], c->from->lft_stride);
}

int
tables_clone(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    const struct tables *from, struct tables **out, struct fm_error *err)
{
	bool by_ports = from->t.sl2vl_shape == FM_SL2VL_BY_IN_OUT;
	bool has_sls = from->t.sl2vl_shape != FM_SL2VL_MODULO || from->t.sl_shape != FM_SL_ZERO;
	/* the rows are written whole here; and the same max_lid gives the same stride */
	uint32_t traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS | (has_sls ? FM_PROVIDES_SL : 0) |
	    (from->t.order != NULL ? FM_PROVIDES_ORDER : 0);
	struct clone c = { .from = &from->t };
	struct fm_fabric shape = *fab;
	int rc;

	shape.max_lid = (uint16_t)(from->t.lft_stride - 1);
	rc = tables_new(pool, workers, &shape, traits, 0, out, err);
	if (rc != 0)
		return rc;
	c.to = &(*out)->t;
	c.n_sl_rows = from->t.sl_shape == FM_SL_BY_SW_DLID ? fab->n_switches
	    : from->t.sl_shape == FM_SL_BY_DLID		   ? 1
							   : 0;
	(*out)->t.sl_shape = from->t.sl_shape;
	(*out)->t.sl2vl_shape = from->t.sl2vl_shape;
	(*out)->t.n_vls_used = from->t.n_vls_used;
	if (by_ports)
		memcpy((*out)->t.sl2vl, from->t.sl2vl,
		    (size_t)from->t.sl2vl_first[fab->n_switches] * 16);
	else if (from->t.sl2vl_shape == FM_SL2VL_BY_OUT)
		memcpy((*out)->t.sl2vl, from->t.sl2vl, (size_t)fab->n_links * 16);
	if (from->t.order != NULL)
		memcpy((*out)->t.order, from->t.order, from->t.lft_stride * sizeof(*from->t.order));
	fm_pool_for(workers, fab->n_switches, clone_row, &c);
	return 0;
}

struct tables *
tables_get(struct tables *t)
{
	atomic_fetch_add(&t->refs, 1);
	return t;
}

void
tables_put(struct tables *t)
{
	if (t != NULL && atomic_fetch_sub(&t->refs, 1) == 1)
		free_tables(t);
}

/* ----------------------------------------------------------- rows of SLs */

void
tables_share_sl(struct tables *t, const fm_sw *row_of, uint32_t n_switches)
{
	for (fm_sw sw = 0; sw < n_switches; sw++)
		t->mem->sl[sw] = (uint8_t *)t->mem->sl_rows + row_of[sw] * t->t.lft_stride;
}

void
tables_sl_rows(const struct tables *t, uint32_t n_switches, fm_sw *row_of)
{
	const uint8_t *base = t->mem->sl_rows;

	for (fm_sw sw = 0; sw < n_switches; sw++)
		row_of[sw] = (fm_sw)((size_t)(t->mem->sl[sw] - base) / t->t.lft_stride);
}

void
tables_copy_sl(struct tables *to, const struct tables *from, uint32_t n_switches, size_t n)
{
	const uint8_t *base = from->mem->sl_rows;

	for (fm_sw sw = 0; sw < n_switches; sw++) {
		size_t row = (size_t)(from->mem->sl[sw] - base) / from->t.lft_stride;

		to->mem->sl[sw] = (uint8_t *)to->mem->sl_rows + row * to->t.lft_stride;
		if (row == sw)
			memcpy(to->mem->sl[sw], from->mem->sl[sw], n);
		if (from->t.sl_shape != FM_SL_BY_SW_DLID)
			break; /* the other rows hold nothing */
	}
}
