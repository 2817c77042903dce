/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies of one LID.  Ways out of every switch first, then from the sources
 * on, every switch after those that send to it: which SLs come by on which VLs,
 * and where they go on.  Where old and new ways make a circle the walk is
 * repeated until nothing is news.
 */
#include "core/cdg/deps.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/tables.h"
#include "core/graph/tables_vls.h"
#include "lib/bitset.h"
#include "lib/vec.h"

#define N_SLS 16u
#define EACH_SL(sl, set) \
	for (unsigned left_ = (set), sl; \
	     left_ != 0 && (sl = (unsigned)__builtin_ctz(left_), true); left_ &= left_ - 1)
#define OLD 1u
#define NEW 2u
#define AHEAD 8u /* rows between being asked for and being read */

/* What packets have met last of the entries that change.  After a new one none is old any
 * more, where each is written after the next that changes on its new way: unchanged ones in
 * between lead to just that one.  LATE ones are sent under SLs that are not given out before
 * all is written: they meet new entries alone, or old ones that do not change. */
enum past { OPEN, RENEWED, LATE, N_PASTS };

/* A way out of a switch. */
struct way_out {
	fm_link link;
	uint8_t kinds;		      /* OLD | NEW */
	uint16_t sls[N_PASTS];	      /* of packets that leave by it, a bit each */
	uint16_t vls[N_PASTS][N_SLS]; /* of these SLs, on which VLs; not by_sl */
};

struct node {
	struct way_out out[2];
	uint8_t n_out;
	bool reached, placed;
};

/* One of the two sets of tables, with the numbers of links of its own time. */
struct side {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	uint32_t top_lid;
	uint32_t *port_first; /* [n_switches + 1] into link */
	fm_link *link;	      /* [port_first[n_switches]] of a port, FM_NONE */
	uint16_t *reply_sls;  /* [n_switches] of replies to row reply_row of the SLs */
	uint32_t reply_row;
	uint8_t modulo[N_SLS]; /* FM_SL2VL_MODULO: the row of VLs */
};

struct deps {
	const struct fm_fabric *fab;
	struct side side[2];	 /* old, new */
	bool one_vl, one_map;	 /* no VLs to look up; both sides' are looked up alike */
	bool by_sl;		 /* an SL has one VL, everywhere and by both sides */
	uint16_t vls_of[2][256]; /* by_sl: VLs of a set of SLs, the lower eight and the upper */
	bool any_late;		 /* SLs differ, so that some may be late */
	bool replies;
	uint32_t n_vls;
	uint64_t *changed; /* bitset [top_lid + 1], once asked for */
	bool knows_changed;
	uint16_t top_lid;
	struct node *node; /* [n_switches] */
	uint8_t *source;   /* [n_switches] 1: an end there sends */
	/* not by_sl: of the ports by which ends send those of which SL2VL differs, by switch */
	uint32_t *first_entrance; /* [n_switches + 1] into entrance */
	uint8_t *entrance;
	fm_sw *order; /* [n_switches] sources first; then as a stack */
	fm_sw *stack;
	uint32_t n_order;
	FM_VEC(struct dep) list;
};

/* ------------------------------------------------------------------- set up */

static bool
fill_side(struct side *s)
{
	const struct fm_fabric *fab = s->fab;
	uint32_t n = 0;

	s->port_first = malloc((fab->n_switches + 1) * sizeof(*s->port_first));
	s->reply_sls = calloc(fab->n_switches + 1, sizeof(*s->reply_sls));
	if (s->port_first == NULL || s->reply_sls == NULL)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		s->port_first[sw] = n;
		n += fab->sw_n_ports[sw] + 1u;
	}
	s->port_first[fab->n_switches] = n;
	s->link = malloc((n + 1) * sizeof(*s->link));
	if (s->link == NULL)
		return false;
	memset(s->link, 0xff, n * sizeof(*s->link));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			s->link[s->port_first[sw] + fab->link_port[l]] = l;
	s->reply_row = FM_NONE;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		s->modulo[sl] = s->t->n_vls_used > 1 ? (uint8_t)(sl % s->t->n_vls_used) : 0;
	return true;
}

static uint8_t
port_of(const struct side *s, fm_sw sw, uint32_t lid)
{
	return sw < s->fab->n_switches && lid <= s->top_lid ? s->t->lft[sw][lid] : FM_PORT_NONE;
}

static fm_link
link_of(const struct side *s, fm_sw sw, uint8_t port)
{
	if (sw >= s->fab->n_switches || port > s->fab->sw_n_ports[sw])
		return FM_NONE;
	return s->link[s->port_first[sw] + port];
}

static bool
same_maps(const struct fm_tables *a, const struct fm_tables *b)
{
	return a->sl2vl_shape == FM_SL2VL_MODULO && b->sl2vl_shape == FM_SL2VL_MODULO &&
	    a->n_vls_used == b->n_vls_used;
}

static void
find_vls(struct deps *d)
{
	for (unsigned half = 0; half < 2; half++)
		for (unsigned sls = 0; sls < 256; sls++)
			EACH_SL (i, sls)
				d->vls_of[half][sls] |= (uint16_t)(1u << (half * 8 + i) % d->n_vls);
}

static bool
is_source(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] != FM_END_SWITCH;
}

bool
deps_has_sender(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (is_source(fab, e))
			return true;
	return false;
}

static bool
are_mapped_alike(const struct side *s, fm_sw sw, uint8_t a, uint8_t b)
{
	return sw >= s->fab->n_switches || tables_same_vls_from(s->fab, s->t, sw, a, b);
}

static bool
find_entrances(struct deps *d)
{
	const struct fm_fabric *fab = d->fab;
	uint32_t n = 0;

	d->first_entrance = calloc(fab->n_switches + 1u, sizeof(*d->first_entrance));
	d->entrance = malloc(fab->n_ends + 1u);
	if (d->first_entrance == NULL || d->entrance == NULL)
		return false;
	for (fm_sw sw = 0; !d->by_sl && sw < fab->n_switches; sw++) {
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			uint8_t port = fab->end_port[e];
			uint32_t i = d->first_entrance[sw];

			while (i < n &&
			    !(are_mapped_alike(&d->side[0], sw, d->entrance[i], port) &&
				are_mapped_alike(&d->side[1], sw, d->entrance[i], port)))
				i++;
			if (i == n && is_source(fab, e))
				d->entrance[n++] = port;
		}
		d->first_entrance[sw + 1] = n;
	}
	return true;
}

struct deps *
deps_new(struct deps_side old, struct deps_side now, enum verify_sl_model model)
{
	struct deps *d = calloc(1, sizeof(*d));
	const struct fm_tables *t = old.t, *to = now.t;
	size_t n = now.fab->n_switches + 1u;

	if (d == NULL)
		return NULL;
	d->fab = now.fab;
	d->top_lid = now.top_lid;
	d->side[0] = (struct side){ .fab = old.fab, .t = t, .top_lid = old.top_lid };
	d->side[1] = (struct side){ .fab = now.fab, .t = to, .top_lid = now.top_lid };
	d->one_vl = t->n_vls_used <= 1 && to->n_vls_used <= 1;
	d->one_map = (t == to && old.fab == now.fab) || same_maps(t, to);
	d->replies = model == VERIFY_BOTH;
	d->n_vls = t->n_vls_used > to->n_vls_used ? t->n_vls_used : to->n_vls_used;
	d->n_vls = d->one_vl || d->n_vls == 0 ? 1 : d->n_vls;
	d->by_sl = d->one_vl || same_maps(t, to);
	d->any_late = !d->one_vl &&
	    (old.top_lid != now.top_lid || old.fab->n_switches != now.fab->n_switches ||
		!tables_same_sls(t, to, now.fab->n_switches, now.top_lid + 1u));
	find_vls(d);
	d->changed = calloc(FM_BITSET_WORDS(d->top_lid + 1u), sizeof(*d->changed));
	d->node = calloc(n, sizeof(*d->node));
	d->source = calloc(n, 1);
	d->order = malloc(n * sizeof(*d->order));
	d->stack = malloc(n * sizeof(*d->stack));
	if (d->changed == NULL || d->node == NULL || d->source == NULL || d->order == NULL ||
	    d->stack == NULL || !fill_side(&d->side[0]) || !fill_side(&d->side[1]) ||
	    !find_entrances(d)) {
		deps_free(d);
		return NULL;
	}
	for (fm_sw sw = 0; sw < d->fab->n_switches; sw++)
		d->source[sw] = deps_has_sender(d->fab, sw);
	return d;
}

void
deps_free(struct deps *d)
{
	if (d == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		free(d->side[i].port_first);
		free(d->side[i].link);
		free(d->side[i].reply_sls);
	}
	free(d->changed);
	free(d->node);
	free(d->source);
	free(d->first_entrance);
	free(d->entrance);
	free(d->order);
	free(d->stack);
	fm_vec_fini(&d->list);
	free(d);
}

void
deps_cut(struct deps *d, fm_sw sw, uint8_t port)
{
	for (int i = 0; i < 2; i++)
		if (sw < d->side[i].fab->n_switches && port <= d->side[i].fab->sw_n_ports[sw])
			d->side[i].link[d->side[i].port_first[sw] + port] = FM_NONE;
}

uint32_t
deps_n_vertices(const struct deps *d)
{
	return d->fab->n_links * d->n_vls;
}

uint32_t
deps_n_vls(const struct deps *d)
{
	return d->n_vls;
}

static void
note_changed(struct deps *d, uint32_t lid)
{
	if (lid <= d->fab->max_lid && d->fab->lid_end[lid] != FM_NONE)
		fm_bit_set(d->changed, lid);
}

/* LIDs that have an owner and entries that change.  What old tables have no room for, LIDs above
 * theirs and switches that were not there, had no entries: it changes where it leads somewhere
 * now. */
static void
find_changed(struct deps *d)
{
	const struct side *old = &d->side[0], *now = &d->side[1];

	for (fm_sw sw = 0; sw < d->fab->n_switches; sw++) {
		bool is_new = sw >= old->fab->n_switches;
		uint32_t top = is_new		  ? 0
		    : old->top_lid < now->top_lid ? old->top_lid
						  : now->top_lid;
		const uint8_t *a = is_new ? NULL : old->t->lft[sw], *b = now->t->lft[sw];

		for (uint32_t lid = 1; a != b && lid <= top; lid++) {
			if (lid % 64 == 0 && lid + 63 <= top && memcmp(a + lid, b + lid, 64) == 0)
				lid += 63;
			else if (a[lid] != b[lid])
				note_changed(d, lid);
		}
		for (uint32_t lid = top + 1; lid <= now->top_lid; lid++)
			if (b[lid] != FM_PORT_NONE)
				note_changed(d, lid);
	}
}

bool
deps_changes(struct deps *d, uint16_t lid)
{
	if (!d->knows_changed)
		find_changed(d);
	d->knows_changed = true;
	return fm_bit_test(d->changed, lid);
}

/* ---------------------------------------------------------------- ways out */

static void
add_way(struct node *n, fm_link link, uint8_t kind)
{
	if (link == FM_NONE)
		return;
	if (n->n_out > 0 && n->out[0].link == link) {
		n->out[0].kinds |= kind;
		return;
	}
	n->out[n->n_out].link = link;
	n->out[n->n_out].kinds = kind;
	n->n_out++;
}

/* plain: VLs are not asked for. */
static void
find_ways(struct deps *d, uint16_t lid, enum deps_mode mode, bool plain)
{
	const struct side *now = &d->side[1];

	for (fm_sw sw = 0; sw < d->fab->n_switches; sw++) {
		struct node *n = &d->node[sw];

		if (sw + AHEAD < d->fab->n_switches && lid <= now->top_lid)
			__builtin_prefetch(now->t->lft[sw + AHEAD] + lid);
		n->n_out = 0;
		n->reached = n->placed = false;
		if (mode != DEPS_NEW)
			add_way(n, link_of(now, sw, port_of(&d->side[0], sw, lid)), OLD);
		if (mode != DEPS_OLD)
			add_way(n, link_of(now, sw, port_of(now, sw, lid)), NEW);
		else if (n->n_out > 0 && n->out[0].link == link_of(now, sw, port_of(now, sw, lid)))
			n->out[0].kinds |= NEW; /* late packets go by it */
		for (unsigned i = 0; !plain && i < n->n_out; i++)
			memset(n->out[i].sls, 0, sizeof(n->out[i].sls));
	}
}

/* Depth first: switches in the order in which they are left, so that read
 * backwards each comes after those that send to it. */
static void
place_from(struct deps *d, fm_sw root)
{
	uint32_t n = 0;

	if (d->node[root].reached)
		return;
	d->node[root].reached = true;
	d->stack[n++] = root;
	while (n > 0) {
		struct node *at = &d->node[d->stack[n - 1]];
		bool deeper = false;

		for (unsigned i = 0; i < at->n_out && !deeper; i++) {
			fm_sw to = d->fab->link_to[at->out[i].link];

			if (d->node[to].reached)
				continue;
			d->node[to].reached = true;
			d->stack[n++] = to;
			deeper = true;
		}
		if (!deeper)
			d->order[d->n_order++] = d->stack[--n];
	}
}

/* ---------------------------------------------------------------------- SLs */

static void
load_replies(struct side *s, uint32_t row)
{
	const struct fm_fabric *fab = s->fab;

	if (s->reply_row == row)
		return;
	s->reply_row = row;
	memset(s->reply_sls, 0, fab->n_switches * sizeof(*s->reply_sls));
	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++) {
		uint32_t lid = fab->end_lid[e];

		for (uint32_t i = 0; lid != 0 && is_source(fab, e) && i < 1u << fab->end_lmc[e] &&
		     lid + i <= s->top_lid;
		     i++)
			s->reply_sls[fab->end_sw[e]] |=
			    (uint16_t)(1u << (s->t->sl[row][lid + i] % N_SLS));
	}
}

/* SLs that the ends of sw use towards the LID, by one side's tables. */
static uint16_t
sls_of(struct side *s, fm_sw sw, uint16_t lid, bool replies)
{
	fm_end end;
	uint16_t sls;

	if (sw >= s->fab->n_switches || lid > s->top_lid)
		return 0;
	sls = (uint16_t)(1u << (tables_sl(s->t, sw, lid) % N_SLS));
	if (!replies || s->t->sl_shape == FM_SL_ZERO || lid > s->fab->max_lid)
		return sls;
	end = s->fab->lid_end[lid];
	if (end == FM_NONE || s->fab->end_sw[end] >= s->fab->n_switches)
		return sls; /* FM_NONE, too */
	load_replies(s, s->t->sl_shape == FM_SL_BY_DLID ? 0 : s->fab->end_sw[end]);
	return sls | s->reply_sls[sw];
}

/* VLs on link `out` of sw for packets from in_port, by SL and both sides; NULL: by none. */
struct rows {
	const uint8_t *of[2];
};

static const uint8_t *
row_by(const struct side *s, fm_sw sw, uint8_t in_port, uint8_t port)
{
	fm_link l = link_of(s, sw, port);
	const uint8_t *row = l != FM_NONE ? tables_vl_row(s->fab, s->t, sw, in_port, l) : NULL;

	return l != FM_NONE && row == NULL ? s->modulo : row;
}

static struct rows
rows_at(const struct deps *d, fm_sw sw, uint8_t in_port, fm_link out)
{
	uint8_t port = d->fab->link_port[out];

	return (struct rows){ { d->one_map ? NULL : row_by(&d->side[0], sw, in_port, port),
	    row_by(&d->side[1], sw, in_port, port) } };
}

static uint16_t
vls_at(const struct deps *d, const struct rows *rows, unsigned sl)
{
	uint16_t vls = 0;

	for (int i = 0; i < 2; i++)
		if (rows->of[i] != NULL) {
			unsigned vl = rows->of[i][sl];

			vls |= (uint16_t)(1u << (vl < d->n_vls ? vl : d->n_vls - 1));
		}
	return vls;
}

/* True: there were none on some of them. */
static bool
add_vls(struct way_out *out, enum past past, unsigned sl, uint16_t vls)
{
	uint16_t before = out->sls[past] >> sl & 1 ? out->vls[past][sl] : 0;

	out->sls[past] |= (uint16_t)(1u << sl);
	out->vls[past][sl] = before | vls;
	return (vls & ~before) != 0;
}

static enum past
past_after(enum deps_mode mode, enum past before, const struct way_out *out)
{
	if (mode != DEPS_ORDERED || before == LATE || out->kinds & OLD)
		return before;
	return RENEWED;
}

/* Packets of these SLs, sent by the ends of sw by the way out. */
static void
send_by(const struct deps *d, fm_sw sw, struct way_out *out, enum past past, uint16_t sls)
{
	if (d->by_sl) {
		out->sls[past] |= sls;
		return;
	}
	for (uint32_t i = d->first_entrance[sw]; i < d->first_entrance[sw + 1]; i++) {
		struct rows rows = rows_at(d, sw, d->entrance[i], out->link);

		EACH_SL (sl, sls)
			add_vls(out, past, sl, vls_at(d, &rows, sl));
	}
}

static void
inject(struct deps *d, fm_sw sw, uint16_t lid, enum deps_mode mode)
{
	struct node *n = &d->node[sw];
	uint16_t sls = 1, late = 0;

	if (!d->source[sw])
		return;
	if (!d->one_vl) {
		sls = sls_of(&d->side[0], sw, lid, d->replies);
		late = sls_of(&d->side[1], sw, lid, d->replies) & (uint16_t)~sls;
	}
	if (!d->any_late)
		sls |= late;
	for (unsigned i = 0; i < n->n_out; i++) {
		struct way_out *out = &n->out[i];

		send_by(d, sw, out, past_after(mode, OPEN, out), sls);
		if (d->any_late && late != 0 && out->kinds & NEW)
			send_by(d, sw, out, LATE, late);
	}
}

/* ------------------------------------------------------------- dependencies */

/* Those of one step, as they come together. */
struct step {
	uint16_t pairs[N_SLS]; /* of a VL before: the VLs after */
	uint16_t sls;	       /* by_sl instead */
	bool news;	       /* packets on VLs on which there were none */
};

/* The VLs of packets of this past, by SL, from `in` on by `out`. */
static void
carry(const struct deps *d, enum deps_mode mode, enum past past, const struct way_out *in,
    struct way_out *out, struct step *s)
{
	fm_sw sw = d->fab->link_to[in->link];
	enum past after = past_after(mode, past, out);
	struct rows rows;

	if (in->sls[past] == 0)
		return;
	if (d->by_sl) {
		s->sls |= in->sls[past];
		s->news = s->news || (in->sls[past] & ~out->sls[after]) != 0;
		out->sls[after] |= in->sls[past];
		return;
	}
	rows = rows_at(d, sw, d->fab->link_port[d->fab->link_rev[in->link]], out->link);
	EACH_SL (sl, in->sls[past]) {
		uint16_t vls = vls_at(d, &rows, sl);

		for (unsigned from = in->vls[past][sl]; from != 0; from &= from - 1)
			s->pairs[__builtin_ctz(from)] |= vls;
		s->news = add_vls(out, after, sl, vls) || s->news;
	}
}

static bool
push_dep(struct deps *d, fm_link in, unsigned vl_in, fm_link out, unsigned vl_out)
{
	return fm_vec_push(
	    &d->list, ((struct dep){ in * d->n_vls + vl_in, out * d->n_vls + vl_out }));
}

/* Packets from `in` go on by `out` of the switch between; *news: on VLs they have not been
 * on. */
static bool
step(struct deps *d, enum deps_mode mode, const struct way_out *in, struct way_out *out, bool *news)
{
	struct step s = { 0 };
	uint16_t vls;

	carry(d, mode, OPEN, in, out, &s);
	if (mode == DEPS_ORDERED && out->kinds & NEW)
		carry(d, mode, RENEWED, in, out, &s);
	if (d->any_late && out->kinds & NEW)
		carry(d, mode, LATE, in, out, &s);
	*news = s.news;
	vls = d->vls_of[0][s.sls & 0xff] | d->vls_of[1][s.sls >> 8];
	for (; d->by_sl && vls != 0; vls &= (uint16_t)(vls - 1)) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		if (!push_dep(d, in->link, vl, out->link, vl))
			return false;
	}
	for (unsigned a = 0; !d->by_sl && a < d->n_vls; a++)
		for (unsigned b = 0; s.pairs[a] != 0 && b < d->n_vls; b++)
			if (s.pairs[a] >> b & 1 && !push_dep(d, in->link, a, out->link, b))
				return false;
	return true;
}

/* All switches once, sources first; *again: something came by that had not. */
static bool
walk(struct deps *d, enum deps_mode mode, bool *again)
{
	d->list.n = 0;
	*again = false;
	for (uint32_t i = d->n_order; i-- > 0;) {
		struct node *n = &d->node[d->order[i]];

		n->placed = true;
		for (unsigned j = 0; j < n->n_out; j++) {
			struct node *to = &d->node[d->fab->link_to[n->out[j].link]];

			for (unsigned k = 0; k < to->n_out; k++) {
				bool news = false;

				if (!step(d, mode, &n->out[j], &to->out[k], &news))
					return false;
				*again = *again || (news && to->placed);
			}
		}
	}
	return true;
}

/* One VL, and every way out goes on by every way: whatever is reached. */
static bool
list_plain(struct deps *d)
{
	struct dep *to;

	d->list.n = 0;
	if (!fm_vec_reserve(&d->list, (size_t)d->n_order * 4 + 1))
		return false;
	to = d->list.item;
	for (uint32_t i = 0; i < d->n_order; i++) {
		const struct node *n = &d->node[d->order[i]];

		for (unsigned j = 0; j < n->n_out; j++) {
			const struct node *next = &d->node[d->fab->link_to[n->out[j].link]];

			for (unsigned k = 0; k < next->n_out; k++)
				*to++ = (struct dep){ n->out[j].link, next->out[k].link };
		}
	}
	d->list.n = (size_t)(to - d->list.item);
	return true;
}

bool
deps_of(struct deps *d, uint16_t lid, enum deps_mode mode, const struct dep **list, size_t *n)
{
	bool plain = d->one_vl && mode != DEPS_ORDERED, again = !plain;

	find_ways(d, lid, mode, plain);
	d->n_order = 0;
	for (fm_sw sw = 0; sw < d->fab->n_switches; sw++)
		if (d->node[sw].n_out > 0 && d->source[sw])
			place_from(d, sw);
	for (uint32_t i = 0; !plain && i < d->n_order; i++)
		inject(d, d->order[i], lid, mode);
	while (again)
		if (!walk(d, mode, &again))
			return false;
	if (plain && !list_plain(d))
		return false;
	*list = d->list.item;
	*n = d->list.n;
	return true;
}
