/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over each switch's row of group numbers notes the groups in use and
 * adds up; then each of those is looked at once.  Rows are independent.
 */
#include "core/graph/adaptive.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define PORT_WORDS 4	 /* 256 ports */
#define N_GROUPS 0x10000 /* numbers a group can have */

/* What one row tells. */
struct row {
	uint32_t n_groups;
	uint64_t n_adaptive, n_static, n_ports;
	enum { ROW_OK, ROW_NUMBER, ROW_STATIC_PORT, ROW_PORT } fault;
	uint16_t lid, group; /* at fault */
	uint8_t port;
};

struct checker {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	fm_sw *sw_of;	  /* [max_lid + 1] where a LID is, FM_NONE */
	struct row *rows; /* [n_switches] */
};

static bool
has_port(const uint64_t *ports, unsigned port)
{
	return ports[port / 64] >> (port % 64) & 1;
}

static uint32_t
count_ports(const uint64_t *ports)
{
	uint32_t n = 0;

	for (unsigned w = 0; w < PORT_WORDS; w++)
		n += (uint32_t)__builtin_popcountll(ports[w]);
	return n;
}

/* Fills used[], a bit for each group. */
static void
look_at_entries(const struct checker *c, fm_sw sw, uint64_t *used, struct row *r)
{
	const uint16_t *groups = c->t->ar_group[sw];
	const uint8_t *lft = c->t->lft[sw];
	const uint64_t *ports = NULL;
	uint32_t last = 0, n_ports = 0; /* of the group before, as ports */

	for (uint32_t lid = 0; lid <= c->fab->max_lid; lid++) {
		uint16_t g = groups[lid];
		fm_sw to = c->sw_of[lid];

		if (g > c->t->ar_n_groups[sw]) {
			*r = (struct row){ .fault = ROW_NUMBER, .lid = (uint16_t)lid, .group = g };
			return;
		}
		if (g != last) {
			ports = c->t->ar_ports[sw][g];
			n_ports = g != 0 ? count_ports(ports) : 0;
			used[g / 64] |= (uint64_t)1 << (g % 64);
			last = g;
		}
		if (g != 0 && !has_port(ports, lft[lid])) {
			*r = (struct row){ .fault = ROW_STATIC_PORT,
				.lid = (uint16_t)lid,
				.group = g,
				.port = lft[lid] };
			return;
		}
		if (to == FM_NONE || to == sw || lft[lid] == FM_PORT_NONE)
			continue;
		r->n_adaptive += g != 0;
		r->n_static += g == 0;
		r->n_ports += n_ports;
	}
}

static void
look_at_groups(const struct checker *c, fm_sw sw, const uint64_t *used, struct row *r)
{
	const struct fm_fabric *fab = c->fab;
	uint64_t cabled[PORT_WORDS] = { 0 };

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		cabled[fab->link_port[l] / 64] |= (uint64_t)1 << (fab->link_port[l] % 64);
	for (uint32_t g = 1; g <= c->t->ar_n_groups[sw]; g++) {
		const uint64_t *ports = c->t->ar_ports[sw][g];

		if (!(used[g / 64] >> (g % 64) & 1))
			continue;
		r->n_groups++;
		for (unsigned w = 0; w < PORT_WORDS; w++)
			if ((ports[w] & ~cabled[w]) != 0) {
				unsigned bit = (unsigned)__builtin_ctzll(ports[w] & ~cabled[w]);

				*r = (struct row){ .fault = ROW_PORT,
					.group = (uint16_t)g,
					.port = (uint8_t)(w * 64 + bit) };
				return;
			}
	}
}

static void
look_at_row(void *arg, uint32_t sw, unsigned worker)
{
	struct checker *c = arg;
	uint64_t used[N_GROUPS / 64] = { 0 };

	look_at_entries(c, sw, used, &c->rows[sw]);
	if (c->rows[sw].fault == ROW_OK)
		look_at_groups(c, sw, used, &c->rows[sw]);
}

static int
blame(const struct checker *c, fm_sw sw, struct fm_error *err)
{
	const struct row *r = &c->rows[sw];
	unsigned long long guid = c->fab->sw_guid[sw];

	switch (r->fault) {
	case ROW_OK:
		break;
	case ROW_NUMBER:
		return fm_fail(err, FM_E_BUG,
		    "switch 0x%016llx, LID %u: adaptive routing group %u, the last is %u", guid,
		    r->lid, r->group, c->t->ar_n_groups[sw]);
	case ROW_STATIC_PORT:
		return fm_fail(err, FM_E_BUG,
		    "switch 0x%016llx, LID %u: its port %u is not in adaptive routing group %u",
		    guid, r->lid, r->port, r->group);
	case ROW_PORT:
		return fm_fail(err, FM_E_BUG,
		    "switch 0x%016llx: adaptive routing group %u has port %u, which leads to no "
		    "switch",
		    guid, r->group, r->port);
	}
	return 0;
}

int
adaptive_check(const struct fm_fabric *fab, const struct fm_tables *t, struct fm_pool *workers,
    struct adaptive_counts *counts, struct fm_error *err)
{
	struct checker c = { .fab = fab,
		.t = t,
		.sw_of = malloc(((size_t)fab->max_lid + 1) * sizeof(*c.sw_of)),
		.rows = calloc((size_t)fab->n_switches + 1, sizeof(*c.rows)) };
	int rc = 0;

	*counts = (struct adaptive_counts){ 0 };
	if (c.rows == NULL || c.sw_of == NULL) {
		free(c.rows);
		free(c.sw_of);
		return fm_fail(
		    err, FM_E_RESOURCE, "out of memory while looking at adaptive routing groups");
	}
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
		c.sw_of[lid] =
		    fab->lid_end[lid] != FM_NONE ? fab->end_sw[fab->lid_end[lid]] : FM_NONE;
	fm_pool_for(workers, fab->n_switches, look_at_row, &c);
	for (fm_sw sw = 0; rc == 0 && sw < fab->n_switches; sw++) {
		const struct row *r = &c.rows[sw];

		rc = blame(&c, sw, err);
		counts->n_groups += r->n_groups;
		counts->n_adaptive += r->n_adaptive;
		counts->n_static += r->n_static;
		counts->n_ports += r->n_ports;
		if (r->n_groups > counts->most_groups)
			counts->most_groups = r->n_groups;
	}
	counts->n_dropped = t->ar_dropped;
	free(c.rows);
	free(c.sw_of);
	return rc;
}

struct joining {
	const struct fm_fabric *fab;
	const struct fm_tables *from;
	struct fm_tables *to;
};

static void
join_row(void *arg, uint32_t sw, unsigned worker)
{
	const struct joining *j = arg;
	uint16_t n = j->from->ar_n_groups[sw];

	if (n > j->to->ar_n_groups[sw])
		n = j->to->ar_n_groups[sw];
	memcpy(j->to->ar_ports[sw], j->from->ar_ports[sw],
	    (n + (size_t)1) * sizeof(*j->from->ar_ports[sw]));
	for (uint32_t lid = 1; lid <= j->fab->max_lid; lid++) {
		uint16_t g = j->from->ar_group[sw][lid];

		if (g != 0 && g <= n && has_port(j->from->ar_ports[sw][g], j->to->lft[sw][lid]))
			j->to->ar_group[sw][lid] = g;
	}
}

int
adaptive_join(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    const struct tables *of, const struct tables *groups, struct tables **out, struct fm_error *err)
{
	struct joining j = { .fab = fab, .from = &groups->t };
	uint16_t most = 0;
	struct tables *t;
	int rc = tables_clone(pool, workers, fab, of, &t, err);

	if (rc != 0)
		return rc;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		most = j.from->ar_n_groups[sw] > most ? j.from->ar_n_groups[sw] : most;
	rc = tables_add_groups(t, fab, most, err);
	if (rc == 0) {
		j.to = &t->t;
		fm_pool_for(workers, fab->n_switches, join_row, &j);
		rc = adaptive_check(fab, &t->t, workers, &t->adaptive, err);
	}
	if (rc != 0) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}

void
adaptive_drop(struct tables *tables)
{
	tables->t.ar_n_groups = NULL;
	tables->t.ar_group = NULL;
	tables->t.ar_ports = NULL;
	tables->t.ar_dropped = 0;
	tables->adaptive = (struct adaptive_counts){ 0 };
}
