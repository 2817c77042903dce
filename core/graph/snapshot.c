/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building struct fm_fabric in CSR form.
 *
 * Ends and directed links are counted per switch, placed by a prefix sum and
 * sorted within their switch: ends by port, links by (far switch, port), so
 * that the result does not depend on the order in which parts were added.
 * O(parts + sum over switches of degree log degree).
 */
#include "core/graph/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/graph_diff.h"
#include "lib/algo/search.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"

#define LID_UNICAST_END 0xC000

/* One direction of a cable while the links are sorted. */
struct half {
	fm_sw from, to;
	uint8_t port, far_port, n_vls;
	uint32_t mbps, nominal_mbps;
};

struct build {
	const struct snapshot_builder *in;
	struct snapshot *snap;
	uint64_t (*port_used)[4];  /* [n_switches] bitmap of ports with a cable or an end */
	struct half *halves;	   /* [n_links] */
	struct snapshot_end *ends; /* [n_ends] */
	struct fm_error *err;
};

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while building a snapshot");
}

struct snapshot_switch
snapshot_switch_of(const struct snapshot *s, fm_sw sw)
{
	const struct fm_fabric *fab = &s->fab;

	return (struct snapshot_switch){ .guid = fab->sw_guid[sw],
		.system_guid = fab->sw_system_guid[sw],
		.name = fab->sw_name[sw],
		.n_ports = fab->sw_n_ports[sw],
		.desc = s->sw_desc[sw],
		.vendor_id = fab->sw_vendor_id[sw],
		.device_id = fab->sw_device_id[sw],
		.lft_entries = fab->sw_lft_entries[sw],
		.ar_groups = fab->sw_ar_groups[sw] };
}

struct snapshot_end
snapshot_end_of(const struct snapshot *s, fm_end e)
{
	const struct fm_fabric *fab = &s->fab;

	return (struct snapshot_end){ .guid = fab->end_guid[e],
		.node_guid = fab->end_node_guid[e],
		.system_guid = fab->end_system_guid[e],
		.name = fab->end_name[e],
		.sw = fab->end_sw[e],
		.lid = fab->end_lid[e],
		.port = fab->end_port[e],
		.lmc = fab->end_lmc[e],
		.kind = fab->end_kind[e],
		.n_vls = fab->end_n_vls[e],
		.desc = s->end_desc[e] };
}

void
snapshot_builder_fini(struct snapshot_builder *b)
{
	fm_vec_fini(&b->switches);
	fm_vec_fini(&b->ends);
	fm_vec_fini(&b->cables);
}

void
snapshot_put(struct snapshot *s)
{
	if (s == NULL || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	if (s->base == NULL || s->base->sw_by_guid.slots != s->sw_by_guid.slots)
		fm_hash_fini(&s->sw_by_guid);
	snapshot_put(s->base);
	fm_arena_fini(&s->mem);
	free(s);
}

/* Claim a port of a switch; a port has one cable or one end. */
static int
claim_port(struct build *b, uint32_t sw, uint8_t port)
{
	const struct snapshot_switch *s;

	if (sw >= b->in->switches.n)
		return fm_fail(b->err, FM_E_BUG, "switch index %" PRIu32 " was never added", sw);
	s = &b->in->switches.item[sw];
	if (port > s->n_ports)
		return fm_fail(b->err, FM_E_TOPOLOGY,
		    "switch '%s' has %u ports, but port %u is cabled", s->name, s->n_ports, port);
	if (fm_bit_test(b->port_used[sw], port))
		return fm_fail(
		    b->err, FM_E_TOPOLOGY, "port %u of switch '%s' is used twice", port, s->name);
	fm_bit_set(b->port_used[sw], port);
	return 0;
}

static int
claim_ports(struct build *b)
{
	int rc;

	for (size_t i = 0; i < b->in->ends.n; i++) {
		const struct snapshot_end *e = &b->in->ends.item[i];

		/* several proxies may stand on one gateway port */
		if (e->sw == FM_NONE || e->kind == FM_END_PROXY)
			continue;
		if ((rc = claim_port(b, e->sw, e->port)) != 0)
			return rc;
	}
	for (size_t i = 0; i < b->in->cables.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct snapshot_cable *c = &b->in->cables.item[i];

			if (c->sw[0] == c->sw[1] && c->port[0] == c->port[1] && side == 1)
				continue; /* a loopback plug is one port */
			if ((rc = claim_port(b, c->sw[side], c->port[side])) != 0)
				return rc;
		}
	return 0;
}

static int
by_link_order(const void *pa, const void *pb)
{
	const struct half *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (int)a->port - (int)b->port;
}

static int
by_end_order(const void *pa, const void *pb)
{
	const struct snapshot_end *a = pa, *b = pb;

	if (a->port != b->port)
		return (int)a->port - (int)b->port;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

/* Spread the cables over their switches as directed links, sorted. */
static int
collect_links(struct build *b, uint32_t *first)
{
	const struct snapshot_builder *in = b->in;
	uint32_t n_sw = (uint32_t)in->switches.n, *fill;

	for (size_t i = 0; i < in->cables.n; i++) {
		const struct snapshot_cable *c = &in->cables.item[i];

		if (c->sw[0] == c->sw[1]) {
			log_warn("fabric",
			    "switch '%s' is cabled to itself, ports %u and %u: the cable is "
			    "ignored",
			    in->switches.item[c->sw[0]].name, c->port[0], c->port[1]);
			continue;
		}
		first[c->sw[0] + 1]++;
		first[c->sw[1] + 1]++;
	}
	for (uint32_t sw = 0; sw < n_sw; sw++)
		first[sw + 1] += first[sw];
	b->halves = malloc((first[n_sw] + 1) * sizeof(*b->halves));
	fill = malloc((n_sw + 1) * sizeof(*fill));
	if (b->halves == NULL || fill == NULL) {
		free(fill);
		return no_memory(b->err);
	}
	memcpy(fill, first, (n_sw + 1) * sizeof(*fill));
	for (size_t i = 0; i < in->cables.n; i++)
		for (int side = 0; side < 2 && in->cables.item[i].sw[0] != in->cables.item[i].sw[1];
		     side++) {
			const struct snapshot_cable *c = &in->cables.item[i];

			b->halves[fill[c->sw[side]]++] = (struct half){ .from = c->sw[side],
				.to = c->sw[!side],
				.port = c->port[side],
				.far_port = c->port[!side],
				.n_vls = c->n_vls,
				.mbps = c->mbps,
				.nominal_mbps = c->nominal_mbps };
		}
	free(fill);
	for (uint32_t sw = 0; sw < n_sw; sw++)
		qsort(b->halves + first[sw], first[sw + 1] - first[sw], sizeof(*b->halves),
		    by_link_order);
	return 0;
}

/* The opposite direction: search the far switch's links for the far port. */
static fm_link
reverse_of(const struct half *halves, const uint32_t *first, const struct half *h)
{
	const struct half want = { .from = h->to, .to = h->from, .port = h->far_port };
	const struct half *of_it = halves + first[h->to];
	size_t at;

	fm_lower_bound(at, first[h->to + 1] - first[h->to], i, by_link_order(&of_it[i], &want) < 0);
	return first[h->to] + (fm_link)at;
}

bool
snapshot_make_links(
    struct snapshot *snap, uint32_t n_switches, uint32_t n_links, struct snapshot_links *l)
{
	struct fm_arena *mem = &snap->mem;

	*l = (struct snapshot_links){ .first = fm_arena_array(mem, n_switches + 1, fm_link),
		.to = fm_arena_array(mem, n_links + 1, fm_sw),
		.rev = fm_arena_array(mem, n_links + 1, fm_link),
		.port = fm_arena_array(mem, n_links + 1, uint8_t),
		.n_vls = fm_arena_array(mem, n_links + 1, uint8_t),
		.mbps = fm_arena_array(mem, n_links + 1, uint32_t),
		.nominal_mbps = fm_arena_array(mem, n_links + 1, uint32_t) };
	return l->first != NULL && l->to != NULL && l->rev != NULL && l->port != NULL &&
	    l->n_vls != NULL && l->mbps != NULL && l->nominal_mbps != NULL;
}

static bool
number_ports(struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;
	uint32_t *first = fm_arena_array(&snap->mem, fab->n_switches + 1, uint32_t);

	if (first == NULL)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		first[sw + 1] = first[sw] + fab->sw_n_ports[sw] + 1u;
	snap->sw_first_port = first;
	return true;
}

void
snapshot_index_switch(const struct snapshot *snap, fm_sw sw, uint8_t *slot)
{
	const struct fm_fabric *fab = &snap->fab;
	uint8_t *of = slot + snap->sw_first_port[sw];

	memset(of, SNAPSHOT_NO_SLOT, fab->sw_n_ports[sw] + 1u);
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		of[fab->link_port[l]] = (uint8_t)(l - fab->sw_first_link[sw]);
}

bool
snapshot_index_ports(struct snapshot *snap)
{
	uint8_t *slot = NULL;

	if (number_ports(snap))
		slot = fm_arena_array(
		    &snap->mem, snap->sw_first_port[snap->fab.n_switches] + 1u, uint8_t);
	for (fm_sw sw = 0; slot != NULL && sw < snap->fab.n_switches; sw++)
		snapshot_index_switch(snap, sw, slot);
	snap->port_slot = slot;
	return slot != NULL;
}

void
snapshot_set_links(struct snapshot *snap, const struct snapshot_links *l, uint32_t n_links)
{
	struct fm_fabric *fab = &snap->fab;

	fab->n_links = n_links;
	fab->sw_first_link = l->first;
	fab->link_to = l->to;
	fab->link_rev = l->rev;
	fab->link_port = l->port;
	fab->link_n_vls = l->n_vls;
	fab->link_mbps = l->mbps;
	fab->link_nominal_mbps = l->nominal_mbps;
}

static int
place_links(struct build *b)
{
	uint32_t n_sw = b->snap->fab.n_switches, most = 2 * (uint32_t)b->in->cables.n;
	struct snapshot_links l;
	int rc;

	if (!snapshot_make_links(b->snap, n_sw, most, &l))
		return no_memory(b->err);
	if ((rc = collect_links(b, l.first)) != 0)
		return rc;
	for (uint32_t i = 0; i < l.first[n_sw]; i++) {
		const struct half *h = &b->halves[i];

		l.to[i] = h->to;
		l.port[i] = h->port;
		l.n_vls[i] = h->n_vls;
		l.mbps[i] = h->mbps;
		l.nominal_mbps[i] = h->nominal_mbps;
		l.rev[i] = reverse_of(b->halves, l.first, h);
	}
	snapshot_set_links(b->snap, &l, l.first[n_sw]);
	return snapshot_index_ports(b->snap) ? 0 : no_memory(b->err);
}

/* Ends grouped by switch, those without one last. */
static int
sort_ends(struct build *b, uint32_t *first)
{
	const struct snapshot_builder *in = b->in;
	uint32_t n_sw = (uint32_t)in->switches.n, *fill = calloc(n_sw + 2, sizeof(*fill));

	b->ends = malloc((in->ends.n + 1) * sizeof(*b->ends));
	if (b->ends == NULL || fill == NULL) {
		free(fill);
		return no_memory(b->err);
	}
	for (size_t i = 0; i < in->ends.n; i++)
		fill[(in->ends.item[i].sw == FM_NONE ? n_sw : in->ends.item[i].sw) + 1]++;
	for (uint32_t sw = 0; sw <= n_sw; sw++)
		fill[sw + 1] += fill[sw];
	memcpy(first, fill, (n_sw + 1) * sizeof(*first));
	for (size_t i = 0; i < in->ends.n; i++)
		b->ends[fill[in->ends.item[i].sw == FM_NONE ? n_sw : in->ends.item[i].sw]++] =
		    in->ends.item[i];
	free(fill);
	for (uint32_t sw = 0; sw < n_sw; sw++)
		qsort(
		    b->ends + first[sw], first[sw + 1] - first[sw], sizeof(*b->ends), by_end_order);
	return 0;
}

static int
check_lids(const struct build *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_end *e = &b->ends[i];
		uint32_t last = (uint32_t)e->lid + (1u << e->lmc) - 1;

		if (e->lid == 0)
			continue;
		if (e->lmc > 7)
			return fm_fail(
			    b->err, FM_E_TOPOLOGY, "'%s': LMC %u is outside 0..7", e->name, e->lmc);
		if (last >= LID_UNICAST_END)
			return fm_fail(b->err, FM_E_TOPOLOGY,
			    "'%s': LID 0x%04x is above the last unicast LID 0xbfff", e->name, last);
		if (e->lid & ((1u << e->lmc) - 1))
			return fm_fail(b->err, FM_E_TOPOLOGY,
			    "'%s': LID 0x%04x is not aligned to its LMC %u", e->name, e->lid,
			    e->lmc);
	}
	return 0;
}

static int
index_lids(struct build *b)
{
	struct fm_fabric *fab = &b->snap->fab;
	uint32_t last, max_lid = 0;
	fm_end *lid_end;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		last = fab->end_lid[e] == 0 ? 0 : fab->end_lid[e] + (1u << fab->end_lmc[e]) - 1;
		max_lid = last > max_lid ? last : max_lid;
	}
	lid_end = fm_arena_array(&b->snap->mem, max_lid + 1, fm_end);
	if (lid_end == NULL)
		return no_memory(b->err);
	memset(lid_end, 0xff, (max_lid + 1) * sizeof(*lid_end));
	for (fm_end e = 0; e < fab->n_ends; e++) {
		if (fab->end_lid[e] == 0)
			continue;
		for (uint32_t lid = fab->end_lid[e];
		     lid < fab->end_lid[e] + (1u << fab->end_lmc[e]); lid++) {
			if (lid_end[lid] != FM_NONE)
				return fm_fail(b->err, FM_E_TOPOLOGY,
				    "LID 0x%04x belongs to both '%s' and '%s'", lid,
				    fab->end_name[lid_end[lid]], fab->end_name[e]);
			lid_end[lid] = e;
		}
	}
	fab->max_lid = (uint16_t)max_lid;
	fab->lid_end = lid_end;
	return 0;
}

/* Copies of both names; one where they are the same.  False: out of memory. */
static bool
take_name(
    struct fm_arena *mem, const char *name, const char *desc, const char **to, const char **to_desc)
{
	*to = *to_desc = fm_arena_strdup(mem, name != NULL ? name : "");
	if (*to != NULL && desc != NULL && strcmp(desc, *to) != 0)
		*to_desc = fm_arena_strdup(mem, desc);
	return *to != NULL && *to_desc != NULL;
}

static int
place_ends(struct build *b)
{
	struct fm_fabric *fab = &b->snap->fab;
	struct fm_arena *mem = &b->snap->mem;
	uint32_t n = (uint32_t)b->in->ends.n;
	fm_end *first = fm_arena_array(mem, fab->n_switches + 1, fm_end);
	uint64_t *guid = fm_arena_array(mem, n, uint64_t), *node = fm_arena_array(mem, n, uint64_t);
	uint64_t *sys = fm_arena_array(mem, n, uint64_t);
	const char **name = fm_arena_array(mem, n, const char *);
	const char **desc = fm_arena_array(mem, n, const char *);
	uint32_t *mbps = fm_arena_array(mem, n, uint32_t);
	fm_sw *sw = fm_arena_array(mem, n, fm_sw);
	uint16_t *lid = fm_arena_array(mem, n, uint16_t);
	uint8_t *bytes = fm_arena_array(mem, (size_t)n * 4, uint8_t);
	int rc;

	if (first == NULL || guid == NULL || node == NULL || sys == NULL || name == NULL ||
	    desc == NULL || mbps == NULL || sw == NULL || lid == NULL || bytes == NULL)
		return no_memory(b->err);
	if ((rc = sort_ends(b, first)) != 0 || (rc = check_lids(b, n)) != 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_end *e = &b->ends[i];

		guid[i] = e->guid;
		node[i] = e->node_guid;
		sys[i] = e->system_guid;
		sw[i] = e->sw;
		lid[i] = e->lid;
		mbps[i] = e->mbps;
		bytes[i] = e->port;
		bytes[n + i] = e->lmc;
		bytes[2 * (size_t)n + i] = e->kind;
		bytes[3 * (size_t)n + i] = e->n_vls;
		if (!take_name(mem, e->name, e->desc, &name[i], &desc[i]))
			return no_memory(b->err);
	}
	fab->n_ends = n;
	fab->sw_first_end = first;
	fab->end_guid = guid;
	fab->end_node_guid = node;
	fab->end_system_guid = sys;
	fab->end_name = name;
	b->snap->end_desc = desc;
	b->snap->end_mbps = mbps;
	fab->end_sw = sw;
	fab->end_lid = lid;
	fab->end_port = bytes;
	fab->end_lmc = bytes + n;
	fab->end_kind = bytes + 2 * (size_t)n;
	fab->end_n_vls = bytes + 3 * (size_t)n;
	return index_lids(b);
}

bool
snapshot_make_kinds(struct snapshot *snap, uint32_t n, struct snapshot_kinds *k)
{
	struct fm_arena *mem = &snap->mem;
	struct fm_fabric *fab = &snap->fab;

	fab->sw_vendor_id = k->vendor_id = fm_arena_array(mem, n, uint32_t);
	fab->sw_device_id = k->device_id = fm_arena_array(mem, n, uint16_t);
	fab->sw_lft_entries = k->lft_entries = fm_arena_array(mem, n, uint16_t);
	fab->sw_ar_groups = k->ar_groups = fm_arena_array(mem, n, uint16_t);
	return k->vendor_id != NULL && k->device_id != NULL && k->lft_entries != NULL &&
	    k->ar_groups != NULL;
}

static int
place_switches(struct build *b)
{
	struct fm_fabric *fab = &b->snap->fab;
	struct fm_arena *mem = &b->snap->mem;
	uint32_t n = (uint32_t)b->in->switches.n;
	uint64_t *guid = fm_arena_array(mem, n, uint64_t), *sys = fm_arena_array(mem, n, uint64_t);
	const char **name = fm_arena_array(mem, n, const char *);
	const char **desc = fm_arena_array(mem, n, const char *);
	uint8_t *n_ports = fm_arena_array(mem, n, uint8_t);
	struct snapshot_kinds kinds;

	if (guid == NULL || sys == NULL || name == NULL || desc == NULL || n_ports == NULL ||
	    !snapshot_make_kinds(b->snap, n, &kinds) || !fm_hash_reserve(&b->snap->sw_by_guid, n))
		return no_memory(b->err);
	for (uint32_t i = 0; i < n; i++) {
		const struct snapshot_switch *s = &b->in->switches.item[i];

		guid[i] = s->guid;
		sys[i] = s->system_guid;
		n_ports[i] = s->n_ports;
		kinds.vendor_id[i] = s->vendor_id;
		kinds.device_id[i] = s->device_id;
		kinds.lft_entries[i] = s->lft_entries != 0 && s->lft_entries < LID_UNICAST_END
		    ? s->lft_entries
		    : LID_UNICAST_END;
		kinds.ar_groups[i] = s->ar_groups;
		if (!take_name(mem, s->name, s->desc, &name[i], &desc[i]) ||
		    !fm_hash_put(&b->snap->sw_by_guid, s->guid, i))
			return no_memory(b->err);
	}
	if (b->snap->sw_by_guid.n != n)
		return fm_fail(b->err, FM_E_TOPOLOGY, "two switches share one GUID");
	fab->n_switches = n;
	fab->sw_guid = guid;
	fab->sw_system_guid = sys;
	fab->sw_name = name;
	b->snap->sw_desc = desc;
	fab->sw_n_ports = n_ports;
	return 0;
}

void
snapshot_number_joined(
    const struct fm_fabric *fab, fm_sw root, uint32_t number, uint32_t *component, fm_sw *stack)
{
	uint32_t n = 1;

	component[root] = number;
	stack[0] = root;
	while (n > 0) {
		fm_sw sw = stack[--n];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (component[fab->link_to[l]] == FM_NONE) {
				component[fab->link_to[l]] = number;
				stack[n++] = fab->link_to[l];
			}
	}
}

bool
snapshot_find_components(struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;
	uint32_t n = fab->n_switches;
	uint32_t *component = fm_arena_array(&snap->mem, n, uint32_t);
	fm_sw *stack = malloc((n + 1) * sizeof(*stack));

	if (component == NULL || stack == NULL) {
		free(stack);
		return false;
	}
	memset(component, 0xff, n * sizeof(*component));
	snap->n_components = 0;
	for (fm_sw root = 0; root < n; root++)
		if (component[root] == FM_NONE && !graph_is_gone(fab, root))
			snapshot_number_joined(fab, root, snap->n_components++, component, stack);
	free(stack);
	snap->sw_component = component;
	return true;
}

static int
build_parts(struct build *b)
{
	int rc;

	if ((rc = place_switches(b)) != 0 || (rc = claim_ports(b)) != 0 ||
	    (rc = place_links(b)) != 0 || (rc = place_ends(b)) != 0)
		return rc;
	return snapshot_find_components(b->snap) ? 0 : no_memory(b->err);
}

int
snapshot_build(const struct snapshot_builder *in, struct snapshot **out, struct fm_error *err)
{
	struct build b = { .in = in, .err = err };
	int rc;

	b.snap = calloc(1, sizeof(*b.snap));
	b.port_used = calloc(in->switches.n + 1, sizeof(*b.port_used));
	if (b.snap == NULL || b.port_used == NULL) {
		free(b.snap);
		free(b.port_used);
		return no_memory(err);
	}
	atomic_init(&b.snap->refs, 1);
	fm_arena_init(&b.snap->mem, SIZE_MAX);
	b.snap->fab.size = sizeof(b.snap->fab);
	rc = build_parts(&b);
	free(b.port_used);
	free(b.halves);
	free(b.ends);
	if (rc != 0) {
		snapshot_put(b.snap);
		return rc;
	}
	*out = b.snap;
	return 0;
}

static bool
has_host(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER)
			return true;
	return false;
}

void
snapshot_find_levels(const struct fm_fabric *fab, uint32_t *level, fm_sw *queue)
{
	uint32_t head = 0, tail = 0;

	memset(level, 0xff, fab->n_switches * sizeof(*level));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (has_host(fab, sw)) {
			level[sw] = 0;
			queue[tail++] = sw;
		}
	while (head < tail) {
		fm_sw sw = queue[head++];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (level[fab->link_to[l]] == UINT32_MAX) {
				level[fab->link_to[l]] = level[sw] + 1;
				queue[tail++] = fab->link_to[l];
			}
	}
}
