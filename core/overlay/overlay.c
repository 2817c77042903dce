/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every step has a layer: a view of the fabric and the tables its engine made for
 * it.  A view keeps the numbers of the switches (those that are not in it have no
 * links and no ends, like switches that are gone), so a row of a layer is a row of
 * the result.
 *
 *	run	the steps by id, each on its view
 *	merge	their rows, the later over the earlier
 *	fill	path bits that nobody named, from path bit 0
 *	planes	SLs and VLs: one plane for all layers that need none (or one each,
 *		where they make a credit loop together), one for each that does; a
 *		switch outside a layer keeps its packets on the plane's first VL
 *
 * O(switches * LIDs) beside the engines.
 */
#include "core/overlay/overlay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"

#define N_SLS 16u

const struct fm_engine chains_engine = {
	.magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "chains",
	.summary = "The unicast steps of rch_policy_file, laid over one another",
};

struct layer {
	const struct overlay_step *step;
	struct snapshot *view;
	struct tables *tables; /* NULL: failed, or was not needed */
	struct fm_error why;
	uint8_t n_sls, n_vls;	  /* of its plane; 0: the plane without SLs */
	uint8_t sl_base, vl_base; /* of its plane */
};

struct merging {
	struct router *r;
	const struct overlay *o;
	struct snapshot *snap;
	struct fm_arena mem;
	struct layer *layers; /* [n_steps] */
	uint64_t *written;    /* bitset of LIDs that a layer has */
	bool has_planes;
	struct tables *out;
};

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for the steps of a routing chain");
}

/* -------------------------------------------------------------------- views */

static bool
add_switches(const struct snapshot *snap, struct snapshot_builder *b)
{
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		if (!fm_vec_push(&b->switches, snapshot_switch_of(snap, sw)))
			return false;
	return true;
}

static bool
add_cables(const struct fm_fabric *fab, const uint64_t *in, struct snapshot_builder *b)
{
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			fm_link back = fab->link_rev[l];
			struct snapshot_cable c = { .sw = { sw, fab->link_to[l] },
				.port = { fab->link_port[l], fab->link_port[back] },
				.n_vls = fab->link_n_vls[l],
				.mbps = fab->link_mbps[l],
				.nominal_mbps = fab->link_nominal_mbps[l] };

			if (l < back && fm_bit_test(in, sw) && fm_bit_test(in, c.sw[1]) &&
			    !fm_vec_push(&b->cables, c))
				return false;
		}
	return true;
}

/* The LID of an end-port in a view, 0 = none: its path bit is beyond the LMC. */
static uint16_t
lid_of(const struct fm_fabric *fab, fm_end e, uint8_t path_bit)
{
	if (fab->end_lid[e] == 0 || path_bit >= 1u << fab->end_lmc[e])
		return 0;
	return (uint16_t)(fab->end_lid[e] + path_bit);
}

/* Ends of the topology on its switches; the switches themselves with path bit 0. */
static bool
add_ends(const struct snapshot *snap, const uint64_t *in_sw, const uint64_t *in_end,
    uint8_t path_bit, struct snapshot_builder *b)
{
	const struct fm_fabric *fab = &snap->fab;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		bool is_switch = fab->end_kind[e] == FM_END_SWITCH;
		struct snapshot_end s = snapshot_end_of(snap, e);

		s.lid = lid_of(fab, e, is_switch ? 0 : path_bit);
		s.lmc = 0;
		if (s.sw == FM_NONE || s.lid == 0 || !fm_bit_test(in_sw, s.sw) ||
		    (!is_switch && !fm_bit_test(in_end, e)))
			continue;
		if (!fm_vec_push(&b->ends, s))
			return false;
	}
	return true;
}

/* What the step's engine is to see. */
static int
make_view(struct merging *m, struct layer *l, struct fm_error *err)
{
	const struct fm_fabric *fab = &m->snap->fab;
	struct snapshot_builder b = { 0 };
	uint64_t *sw = fm_arena_array(&m->mem, FM_BITSET_WORDS(fab->n_switches) + 1, uint64_t);
	uint64_t *end = fm_arena_array(&m->mem, FM_BITSET_WORDS(fab->n_ends) + 1, uint64_t);
	int rc;

	if (sw == NULL || end == NULL)
		return no_memory(err);
	rc = rchain_members(m->o->rchain, l->step->topology, m->snap, sw, end, err);
	if (rc == 0 &&
	    (!add_switches(m->snap, &b) || !add_cables(fab, sw, &b) ||
		!add_ends(m->snap, sw, end, l->step->path_bit, &b)))
		rc = no_memory(err);
	if (rc == 0)
		rc = snapshot_build(&b, &l->view, err);
	snapshot_builder_fini(&b);
	return rc;
}

/* ------------------------------------------------------------------ the steps */

/* VLs for one step: engines with SLs share what the others leave. */
static uint8_t
vls_for_one(const struct merging *m)
{
	uint32_t with = 0, without = 0;

	for (uint32_t i = 0; i < m->o->n_steps; i++) {
		if (m->o->steps[i].fallback_to != FM_NONE)
			continue;
		if (m->o->steps[i].entry.engine->traits & FM_PROVIDES_SL)
			with++;
		else
			without = 1;
	}
	if (with == 0 || m->r->set.n_vls <= without + with)
		return 1;
	return (uint8_t)((m->r->set.n_vls - without) / with);
}

static int
run_engine(struct merging *m, struct layer *l, struct fm_error *err)
{
	const struct chain_entry *e = &l->step->entry;
	struct fm_arena mem;
	void *opts = NULL;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(e->engine, e->values, l->view, &mem, &opts, err);
	if (rc == 0)
		rc = route_run(m->r,
		    &(struct route_job){ .engine = e->engine,
			.opts = opts,
			.fab = &l->view->fab,
			.time_limit_ms = e->time_limit_ms,
			.n_vls = vls_for_one(m) },
		    &l->tables, err);
	fm_arena_fini(&mem);
	return rc;
}

/* A group that names nobody makes a step that changes nothing. */
static void
warn_of_nobody(const struct merging *m, const struct layer *l)
{
	const struct fm_fabric *fab = &l->view->fab;

	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return;
	log_warn("route",
	    "%s: step %" PRIu32 ": no host of its topology hangs on a switch of it in this fabric",
	    m->o->rchain->path, l->step->id);
}

/* A step that fails leaves its reason in .why: FM_OK, or FM_E_RESOURCE of ours. */
static int
run_step(struct merging *m, uint32_t i, struct fm_error *err)
{
	struct layer *l = &m->layers[i];
	int rc;

	l->step = &m->o->steps[i];
	if (l->step->fallback_to != FM_NONE && m->layers[l->step->fallback_to].tables != NULL)
		return 0;
	if ((rc = make_view(m, l, err)) != 0)
		return rc;
	warn_of_nobody(m, l);
	run_engine(m, l, &l->why);
	return 0;
}

/* The fallback that has routed in the place of step i, or NULL. */
static const struct overlay_step *
substitute(const struct merging *m, uint32_t i)
{
	for (uint32_t k = 0; k < m->o->n_steps; k++)
		if (m->o->steps[k].fallback_to == i && m->layers[k].tables != NULL)
			return &m->o->steps[k];
	return NULL;
}

/* As a step is called among the refusals of a plan. */
static void
call_step(const struct overlay_step *step, char *name, size_t size)
{
	snprintf(name, size, "%.40s in step %" PRIu32, step->entry.name, step->id);
}

/* Who failed, why, and who routes in its place. */
static bool
tell_substitute(const struct layer *l, const struct overlay_step *by, struct plan *p)
{
	struct plan_refusal r = { 0 };

	call_step(l->step, r.engine, sizeof(r.engine));
	snprintf(r.reason, sizeof(r.reason), "%.500s; step %" PRIu32 " (%.40s) is in its place",
	    l->why.msg, by->id, by->entry.name);
	return fm_vec_push(&p->refused, r);
}

/* Each step has routed, or another in its place. */
static int
judge_steps(const struct merging *m, struct fm_error *err)
{
	for (uint32_t i = 0; i < m->o->n_steps; i++) {
		const struct layer *l = &m->layers[i];

		if (l->tables == NULL && l->step->fallback_to == FM_NONE &&
		    substitute(m, i) == NULL)
			return fm_fail(err, FM_E_TOPOLOGY, "step %" PRIu32 ", %s: %s", l->step->id,
			    l->step->entry.name, l->why.msg);
	}
	return 0;
}

static int
tell_steps(const struct merging *m, struct plan *p, struct fm_error *err)
{
	for (uint32_t i = 0; i < m->o->n_steps; i++) {
		const struct layer *l = &m->layers[i];
		bool has_failed = l->tables == NULL && l->why.msg[0] != '\0';
		uint32_t of = l->step->fallback_to != FM_NONE ? l->step->fallback_to : i;
		const struct overlay_step *by = has_failed ? substitute(m, of) : NULL;

		if (by != NULL && !tell_substitute(l, by, p))
			return no_memory(err);
	}
	return 0;
}

static int
run_steps(struct merging *m, struct fm_error *err)
{
	uint16_t groups = m->r->set.ar_max_groups;
	int rc = 0;

	m->r->set.ar_max_groups = 0; /* groups of several engines do not add up */
	for (uint32_t i = 0; rc == 0 && i < m->o->n_steps; i++)
		rc = run_step(m, i, err);
	m->r->set.ar_max_groups = groups;
	return rc == 0 ? judge_steps(m, err) : rc;
}

/* --------------------------------------------------------------------- planes */

static uint8_t
count_sls(const struct layer *l)
{
	const struct fm_fabric *fab = &l->view->fab;
	uint8_t most = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			uint8_t sl = tables_sl(&l->tables->t, sw, (uint16_t)lid);

			most = sl > most ? sl : most;
		}
	return (uint8_t)(most + 1);
}

/* apart: layers without SLs do not share a plane either. */
static int
give_planes(struct merging *m, bool apart, struct fm_error *err)
{
	uint32_t sls = 0, vls = 0;

	m->has_planes = false;
	for (uint32_t i = 0; i < m->o->n_steps; i++) {
		struct layer *l = &m->layers[i];

		l->n_sls = l->n_vls = 0;
		if (l->tables == NULL)
			continue;
		if (!apart && l->tables->t.sl_shape == FM_SL_ZERO && l->tables->t.n_vls_used <= 1) {
			sls = vls = 1; /* SL 0 on VL 0, kept free for all such layers */
			continue;
		}
		l->n_sls = count_sls(l);
		l->n_vls = l->tables->t.n_vls_used;
		m->has_planes = true;
	}
	for (uint32_t i = 0; i < m->o->n_steps; i++) {
		struct layer *l = &m->layers[i];

		l->sl_base = l->n_sls > 0 ? (uint8_t)sls : 0;
		l->vl_base = l->n_sls > 0 ? (uint8_t)vls : 0;
		sls += l->n_sls;
		vls += l->n_vls;
		if (sls > N_SLS || vls > m->r->set.n_vls)
			return fm_fail(err, FM_E_TOPOLOGY,
			    "the steps up to %" PRIu32 " need %" PRIu32 " SLs and %" PRIu32
			    " VLs between them, 16 and %u are allowed",
			    l->step->id, sls, vls, m->r->set.n_vls);
	}
	m->out->t.n_vls_used = (uint8_t)(m->has_planes ? vls : 1);
	return 0;
}

/* Rows of one out link for the SLs of one layer. */
static void
map_link(struct merging *m, const struct layer *l, fm_sw sw, fm_link out)
{
	const struct fm_fabric *fab = &m->snap->fab;
	struct fm_tables *t = &m->out->t;
	fm_link same = snapshot_link_at(l->view, sw, fab->link_port[out]);

	for (unsigned in = 0; in <= fab->sw_n_ports[sw]; in++) {
		size_t row = t->sl2vl_first[sw] + (size_t)in * (fab->sw_n_ports[sw] + 1u) +
		    fab->link_port[out];

		for (uint8_t sl = 0; sl < l->n_sls; sl++)
			t->sl2vl[row * N_SLS + l->sl_base + sl] = (uint8_t)(l->vl_base +
			    (same == FM_NONE ? 0
					     : tables_vl(&l->view->fab, &l->tables->t, sw,
						   (uint8_t)in, same, sl)));
	}
}

static void
map_vls(struct merging *m)
{
	const struct fm_fabric *fab = &m->snap->fab;

	m->out->t.sl_shape = FM_SL_BY_SW_DLID;
	m->out->t.sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	for (uint32_t i = 0; i < m->o->n_steps; i++)
		for (fm_sw sw = 0; m->layers[i].n_sls > 0 && sw < fab->n_switches; sw++)
			for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1];
			     l++)
				map_link(m, &m->layers[i], sw, l);
}

/* -------------------------------------------------------------------- merging */

static void
lay_entry(struct merging *m, const struct layer *l, fm_sw sw, uint16_t lid)
{
	struct fm_tables *t = &m->out->t;
	uint8_t port = l->tables->t.lft[sw][lid];

	if (port == FM_PORT_NONE)
		return;
	t->lft[sw][lid] = port;
	if (m->has_planes)
		t->sl[sw][lid] =
		    l->n_sls > 0 ? (uint8_t)(l->sl_base + tables_sl(&l->tables->t, sw, lid)) : 0;
}

/* A switch has path bit 0 only; in views of others it is there for the engine. */
static bool
writes(const struct layer *l, uint32_t lid)
{
	const struct fm_fabric *view = &l->view->fab;
	fm_end e = view->lid_end[lid];

	return e != FM_NONE && (l->step->path_bit == 0 || view->end_kind[e] != FM_END_SWITCH);
}

/* One layer over what is there. */
static void
lay_over(struct merging *m, const struct layer *l)
{
	const struct fm_fabric *view = &l->view->fab;

	for (uint32_t lid = 1; lid <= view->max_lid; lid++)
		if (writes(l, lid))
			fm_bit_set(m->written, lid);
	for (fm_sw sw = 0; sw < view->n_switches; sw++)
		for (uint32_t lid = 1; lid <= view->max_lid; lid++)
			if (writes(l, lid))
				lay_entry(m, l, sw, (uint16_t)lid);
}

/* LIDs that no layer has go the way of their base LID. */
static void
fill_path_bits(struct merging *m)
{
	const struct fm_fabric *fab = &m->snap->fab;
	struct fm_tables *t = &m->out->t;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_end e = fab->lid_end[lid];

			if (e == FM_NONE || fm_bit_test(m->written, lid))
				continue;
			t->lft[sw][lid] = t->lft[sw][fab->end_lid[e]];
			if (m->has_planes)
				t->sl[sw][lid] = t->sl[sw][fab->end_lid[e]];
		}
}

static int
merge(struct merging *m, bool apart, struct fm_error *err)
{
	const struct fm_fabric *fab = &m->snap->fab;
	int rc = tables_new(
	    m->r->tables, m->r->workers, fab, FM_PROVIDES_LFT | FM_PROVIDES_SL, 0, &m->out, err);

	m->written = fm_arena_array(&m->mem, FM_BITSET_WORDS(fab->max_lid + 1u), uint64_t);
	if (rc != 0 || m->written == NULL)
		return rc != 0 ? rc : no_memory(err);
	if ((rc = give_planes(m, apart, err)) != 0)
		return rc;
	for (uint32_t i = 0; i < m->o->n_steps; i++)
		if (m->layers[i].tables != NULL)
			lay_over(m, &m->layers[i]);
	fill_path_bits(m);
	if (m->has_planes)
		map_vls(m);
	return 0;
}

/* Layers that share a plane are acyclic each by itself, but may not be together:
 * then each gets one of its own, if there are VLs for that and it helps. */
static int
merge_best(struct merging *m, struct fm_error *err)
{
	struct verify_request req = { .n_vls = m->r->set.n_vls, .sl_model = m->r->set.sl_model };
	struct fm_error why;
	struct tables *shared;
	struct verdict v;
	int rc = merge(m, false, err);

	if (rc == 0)
		rc = verify_tables(m->snap, &m->out->t, &req, m->r->workers, &v, err);
	if (rc != 0 || v.fault != VERIFY_CREDIT_LOOP)
		return rc;
	shared = m->out;
	m->out = NULL;
	rc = merge(m, true, &why);
	if (rc == 0)
		rc = verify_tables(m->snap, &m->out->t, &req, m->r->workers, &v, &why);
	if (rc == 0 && v.fault == VERIFY_OK) {
		tables_put(shared);
		return 0;
	}
	tables_put(m->out);
	m->out = shared; /* with a witness that is simpler to read */
	return 0;
}

int
overlay_route(struct router *r, const struct overlay *o, struct plan *p, struct tables **out,
    struct fm_error *err)
{
	struct merging m = { .r = r, .o = o, .snap = p->snap };
	int rc;

	fm_arena_init(&m.mem, SIZE_MAX);
	m.layers = fm_arena_array(&m.mem, o->n_steps + 1u, struct layer);
	rc = m.layers == NULL ? no_memory(err) : run_steps(&m, err);
	if (rc == 0)
		rc = merge_best(&m, err);
	if (rc == 0)
		rc = tell_steps(&m, p, err);
	for (uint32_t i = 0; m.layers != NULL && i < o->n_steps; i++) {
		tables_put(m.layers[i].tables);
		snapshot_put(m.layers[i].view);
	}
	fm_arena_fini(&m.mem);
	if (rc == 0)
		*out = m.out;
	else
		tables_put(m.out);
	return rc;
}

static bool
has_failed(const struct overlay_step *step, const struct plan *p)
{
	char name[sizeof(p->refused.item->engine)];

	call_step(step, name, sizeof(name));
	for (size_t i = 0; i < p->refused.n; i++)
		if (strcmp(p->refused.item[i].engine, name) == 0)
			return true;
	return false;
}

enum overlay_fate
overlay_fate(const struct overlay *o, uint32_t i, const struct plan *p)
{
	const struct overlay_step *step = &o->steps[i];

	if (has_failed(step, p))
		return OVERLAY_FAILED;
	return step->fallback_to == FM_NONE || has_failed(&o->steps[step->fallback_to], p)
	    ? OVERLAY_ROUTES
	    : OVERLAY_NOT_NEEDED;
}
