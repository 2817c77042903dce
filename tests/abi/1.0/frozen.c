/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine of ABI 1.0, for ever: frozen.so beside it is this file, built by ./build against
 * the header of 1.0 beside it.  It looks at every field there is and routes up/down from a root.
 *
 *	look	what engine.h promises of a fabric; a promise that is broken is FM_E_BUG
 *	tell	with `tell = yes` it refuses, with all its options in the sentence
 *	order	breadth first from a root: a link leads up towards the root
 *	route	up, then down: no circle of waiting packets on any VL; two SLs, by LIDs,
 *		on two VLs where there are two; an entry in use stays where it is as good;
 *		where it goes up, any link up is an alternative
 *
 * It needs no libc.
 */
#include <fmd/engine.h>

static const char *const colours[] = { "red", "green", "blue", NULL };

struct options {
	int64_t number, wait;
	const char *word;
	struct fm_nodeset root;
	struct fm_nodeset_list list;
	struct fm_node_values values;
	struct fm_file file;
	int colour;
	bool tell;
};

#define AT(field) .offset = offsetof(struct options, field)

static const struct fm_option rows[] = {
	{ .name = "tell", .type = FM_OPT_BOOL, AT(tell), .def = "no", .help = "Tell the options." },
	{ .name = "number",
	    .type = FM_OPT_INT,
	    AT(number),
	    .def = "7",
	    .min = -100,
	    .max = 100,
	    .unit = "things",
	    .help = "A number." },
	{ .name = "wait",
	    .type = FM_OPT_DURATION,
	    AT(wait),
	    .def = "2s",
	    .max = 60000,
	    .help = "A duration." },
	{ .name = "colour",
	    .type = FM_OPT_ENUM,
	    AT(colour),
	    .def = "green",
	    .choices = colours,
	    .help = "A choice." },
	{ .name = "word", .type = FM_OPT_STRING, AT(word), .def = "none", .help = "A word." },
	{ .name = "root", .type = FM_OPT_NODES, AT(root), .help = "Where the order begins." },
	{ .name = "list", .type = FM_OPT_NODES_LIST, AT(list), .help = "Several nodes." },
	{ .name = "values",
	    .type = FM_OPT_NODE_VALUES,
	    AT(values),
	    .unit = "port value",
	    .help = "Numbers of nodes." },
	{ .name = "file", .type = FM_OPT_FILE, AT(file), .help = "A file." },
	{ .type = FM_OPT_END },
};

/* What the workers share. */
struct work {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const uint8_t *const *prev_lft;
	struct fm_tables *out;
	uint32_t *place; /* [n_switches] in the order, 0 = root */
	fm_sw *at;	 /* [n_switches] switch of a place */
	bool *climbs;	 /* [n_switches] several links lead up */
	bool *failed;	 /* [n_workers] scratch ran out */
	uint64_t *dropped; /* [n_workers] entries without a group */
};

/* -------------------------------------------------------------------- look */

static const char *
look_at_links(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++) {
		fm_link back = fab->link_rev[l], next = l + 1;

		if (fab->link_to[l] >= fab->n_switches || fab->link_to[l] == s)
			return "a link leads nowhere, or to its own switch";
		if (back >= fab->n_links || fab->link_rev[back] != l || fab->link_to[back] != s)
			return "a link has no opposite";
		if (fab->link_port[l] < 1 || fab->link_port[l] > fab->sw_n_ports[s])
			return "a link is on a port that is none";
		if (fab->link_n_vls[l] < 1 || fab->link_n_vls[l] > FM_MAX_VLS)
			return "a link has no VLs";
		if (fab->link_nominal_mbps[l] < fab->link_mbps[l])
			return "a link is faster than both its ends";
		if (next < fab->sw_first_link[s + 1] &&
		    (fab->link_to[l] > fab->link_to[next] ||
			(fab->link_to[l] == fab->link_to[next] &&
			    fab->link_port[l] >= fab->link_port[next])))
			return "links are not in order";
	}
	return NULL;
}

static const char *
look_at_end(const struct fm_fabric *fab, fm_sw s, fm_end e)
{
	uint32_t lid = fab->end_lid[e], n = 1u << fab->end_lmc[e];

	if (fab->end_sw[e] != s || fab->end_port[e] > fab->sw_n_ports[s])
		return "an end is on another switch";
	if ((fab->end_port[e] == 0) != (fab->end_kind[e] == FM_END_SWITCH))
		return "port 0 is the switch itself";
	if (fab->end_n_vls[e] < 1 || fab->end_n_vls[e] > FM_MAX_VLS || fab->end_lmc[e] > 7)
		return "an end has no VLs, or too many LIDs";
	if (fab->end_name[e] == NULL)
		return "an end has no name";
	for (uint32_t i = 0; lid != 0 && i < n; i++)
		if (lid + i > fab->max_lid || fab->lid_end[lid + i] != e)
			return "a LID is somebody else's";
	return NULL;
}

static const char *
look(const struct fm_fabric *fab, const struct fm_request *req, const struct fm_tables *out)
{
	const char *wrong = NULL;

	if (fab->size < sizeof(*fab) || req->size < sizeof(*req) || out->size < sizeof(*out))
		return "a struct is smaller than in 1.0";
	if (req->n_vls < 1 || req->n_vls > FM_MAX_VLS || out->n_vls_used != 1)
		return "there is no VL";
	if (out->lft_stride <= fab->max_lid || out->lft_stride % 64 != 0)
		return "rows are too short";
	if (fab->sw_first_link[fab->n_switches] != fab->n_links ||
	    fab->sw_first_end[fab->n_switches] > fab->n_ends)
		return "offsets do not end at the end";
	for (fm_sw s = 0; s < fab->n_switches && wrong == NULL; s++) {
		if (fab->sw_name[s] == NULL || fab->sw_n_ports[s] > 254)
			return "a switch has no name, or too many ports";
		if (fab->sw_vendor_id[s] > 0xffffff || fab->sw_lft_entries[s] < 1 ||
		    fab->sw_lft_entries[s] > 0xC000)
			return "a switch has no vendor, or no table";
		if (out->ar_group != NULL && out->ar_n_groups[s] > fab->sw_ar_groups[s])
			return "a switch may have more groups than it can hold";
		wrong = look_at_links(fab, s);
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1] && !wrong; e++)
			wrong = look_at_end(fab, s, e);
	}
	return wrong;
}

/* -------------------------------------------------------------------- tell */

static unsigned
count(const uint64_t *set, uint32_t n)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += fm_bit(set, i);
	return found;
}

static const char *
name_of(const struct fm_fabric *fab, const struct fm_node_value *row)
{
	return row == NULL	      ? "none"
	    : row->sw != FM_NONE  ? fab->sw_name[row->sw]
	    : row->end != FM_NONE ? fab->end_name[row->end]
				  : "nobody";
}

static int
tell(const struct fm_host *host, const struct fm_fabric *fab, const struct options *o,
    struct fm_error *err)
{
	const struct fm_node_value *first = o->values.n_rows > 0 ? &o->values.row[0] : NULL;

	if (fab->n_switches == 0 || fab->n_ends == 0)
		return host->fail(host, err, FM_E_TOPOLOGY, "there is nobody to tell of");
	host->log(host, 3, "switch %llx %llx %x %x %u, end %llx %llx %llx",
	    (unsigned long long)fab->sw_guid[0], (unsigned long long)fab->sw_system_guid[0],
	    fab->sw_vendor_id[0], fab->sw_device_id[0], fab->sw_lft_entries[0],
	    (unsigned long long)fab->end_guid[0], (unsigned long long)fab->end_node_guid[0],
	    (unsigned long long)fab->end_system_guid[0]);
	return host->fail(host, err, FM_E_TOPOLOGY,
	    "number=%lld wait=%lld colour=%s word=%s root=%d:%u/%u list=%u:%u "
	    "values=%u:%s:%u:%lld file=%.12s:%u",
	    (long long)o->number, (long long)o->wait, colours[o->colour], o->word, o->root.given,
	    count(o->root.sw, fab->n_switches), count(o->root.end, fab->n_ends), o->list.n_sets,
	    o->list.n_sets > 0 ? count(o->list.set[0].sw, fab->n_switches) : 0, o->values.n_rows,
	    name_of(fab, first),
	    first != NULL ? first->port : 0, first != NULL ? (long long)first->value : 0,
	    o->file.bytes != NULL ? o->file.bytes : "none", (unsigned)o->file.n_bytes);
}

/* ------------------------------------------------------------------- order */

static fm_sw
pick_root(const struct work *w, const struct options *o)
{
	fm_sw any = FM_NONE;

	for (fm_sw s = 0; s < w->fab->n_switches; s++) {
		if (w->place[s] != FM_NONE)
			continue;
		if (fm_bit(o->root.sw, s))
			return s;
		if (any == FM_NONE)
			any = s;
	}
	return any;
}

static void
order_switches(struct work *w, const struct options *o)
{
	const struct fm_fabric *fab = w->fab;
	uint32_t n = 0, done = 0;
	fm_sw root;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		w->place[s] = FM_NONE;
	while ((root = pick_root(w, o)) != FM_NONE) {
		w->at[n] = root;
		w->place[root] = n++;
		for (; done < n; done++)
			for (fm_link l = fab->sw_first_link[w->at[done]];
			     l < fab->sw_first_link[w->at[done] + 1]; l++)
				if (w->place[fab->link_to[l]] == FM_NONE) {
					w->at[n] = fab->link_to[l];
					w->place[fab->link_to[l]] = n++;
				}
	}
}

static int
begin(struct work *w, const struct options *o, struct fm_error *err)
{
	w->place = w->host->scratch(w->host, w->fab->n_switches * sizeof(*w->place));
	w->at = w->host->scratch(w->host, w->fab->n_switches * sizeof(*w->at));
	w->climbs = w->host->scratch(w->host, w->fab->n_switches * sizeof(*w->climbs));
	w->failed = w->host->scratch(w->host, w->host->n_workers(w->host) * sizeof(*w->failed));
	w->dropped = w->host->scratch(w->host, w->host->n_workers(w->host) * sizeof(*w->dropped));
	if (w->place == NULL || w->at == NULL || w->climbs == NULL || w->failed == NULL ||
	    w->dropped == NULL)
		return w->host->fail(
		    w->host, err, FM_E_RESOURCE, "no memory to order %u switches",
		    w->fab->n_switches);
	order_switches(w, o);
	return 0;
}

/* ------------------------------------------------------------------- route */

/* May the path to the destination go on over link l of switch s? */
static bool
is_next(const struct work *w, const uint32_t *cost, const bool *down, fm_sw s, fm_link l)
{
	fm_sw to = w->fab->link_to[l];
	bool goes_down = w->place[to] > w->place[s];

	if (cost[to] == FM_NONE)
		return false;
	return down[s] ? goes_down && down[to] : !goes_down;
}

static void
relax(const struct work *w, uint32_t *cost, const bool *down, fm_sw s)
{
	for (fm_link l = w->fab->sw_first_link[s]; l < w->fab->sw_first_link[s + 1]; l++)
		if (is_next(w, cost, down, s, l) && cost[w->fab->link_to[l]] < cost[s])
			cost[s] = cost[w->fab->link_to[l]] + 1;
}

/* cost[], links to switch d, and down[]: upwards from d, then down the order. */
static void
measure(const struct work *w, uint32_t *cost, bool *down, fm_sw d)
{
	for (fm_sw s = 0; s < w->fab->n_switches; s++) {
		cost[s] = s == d ? 0 : FM_NONE;
		down[s] = s == d;
	}
	for (uint32_t i = w->place[d]; i-- > 0;) {
		down[w->at[i]] = true;
		relax(w, cost, down, w->at[i]);
		down[w->at[i]] = cost[w->at[i]] != FM_NONE;
	}
	for (uint32_t i = 0; i < w->fab->n_switches; i++)
		if (!down[w->at[i]])
			relax(w, cost, down, w->at[i]);
}

/* The lid-th of the best links of s, or the one in use if it is one of them. */
static uint8_t
choose_port(const struct work *w, const uint32_t *cost, const bool *down, fm_sw s, uint32_t lid)
{
	const struct fm_fabric *fab = w->fab;
	uint8_t port = FM_PORT_NONE, used = FM_PORT_NONE;
	uint32_t n = 0;

	if (w->prev_lft != NULL)
		used = w->prev_lft[s][lid];
	for (int pass = 0; pass < 2; pass++) {
		uint32_t turn = n > 0 ? lid % n : 0;

		n = 0;
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++) {
			if (!is_next(w, cost, down, s, l) ||
			    cost[fab->link_to[l]] + 1 != cost[s])
				continue;
			if (fab->link_port[l] == used)
				return used;
			if (n++ == turn)
				port = fab->link_port[l];
		}
	}
	return port;
}

/* Group 1 of each switch: its links up, where there are several. */
static void
group_links_up(struct work *w)
{
	const struct fm_fabric *fab = w->fab;

	for (fm_sw s = 0; w->out->ar_group != NULL && s < fab->n_switches; s++) {
		uint32_t n = 0;

		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++) {
			uint8_t port = fab->link_port[l];

			if (w->place[fab->link_to[l]] > w->place[s])
				continue;
			n++;
			if (w->out->ar_n_groups[s] > 0)
				w->out->ar_ports[s][1][port / 64] |= (uint64_t)1 << (port % 64);
		}
		w->climbs[s] = n > 1;
	}
}

/* lid goes up from s. */
static void
choose_group(const struct work *w, fm_sw s, uint32_t lid, unsigned worker)
{
	if (!w->climbs[s])
		return;
	if (w->out->ar_n_groups[s] > 0)
		w->out->ar_group[s][lid] = 1;
	else
		w->dropped[worker]++;
}

/* All LIDs of the ends of switch d, in every switch. */
static void
route_to_switch(void *arg, uint32_t d, unsigned worker)
{
	struct work *w = arg;
	const struct fm_host *host = w->host;
	const struct fm_fabric *fab = w->fab;
	uint32_t *cost = host->scratch_worker(host, worker, fab->n_switches * sizeof(*cost));
	bool *down = host->scratch_worker(host, worker, fab->n_switches * sizeof(*down));

	if (cost == NULL || down == NULL) {
		w->failed[worker] = true;
		return;
	}
	if (host->should_stop(host))
		return;
	measure(w, cost, down, d);
	for (fm_end e = fab->sw_first_end[d]; e < fab->sw_first_end[d + 1]; e++)
		for (uint32_t k = 0; fab->end_lid[e] != 0 && k < 1u << fab->end_lmc[e]; k++)
			for (fm_sw s = 0; s < fab->n_switches; s++) {
				uint32_t lid = fab->end_lid[e] + k;

				w->out->lft[s][lid] =
				    s == d ? fab->end_port[e] : choose_port(w, cost, down, s, lid);
				if (s != d && !down[s] && cost[s] != FM_NONE)
					choose_group(w, s, lid, worker);
			}
}

/* SL and VL are 0 or 1, by LID; places of hosts by switch. */
static void
write_others(const struct work *w, const struct fm_request *req)
{
	const struct fm_fabric *fab = w->fab;
	struct fm_tables *out = w->out;
	unsigned n_vls = req->n_vls < 2 ? req->n_vls : 2;
	uint32_t n = 0;

	for (fm_link l = 0; l < fab->n_links; l++)
		if (fab->link_n_vls[l] < n_vls)
			n_vls = fab->link_n_vls[l];
	out->n_vls_used = (uint8_t)n_vls;
	out->sl_shape = FM_SL_BY_DLID;
	out->sl2vl_shape = FM_SL2VL_BY_OUT;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		out->sl[0][lid] = (uint8_t)(lid % n_vls);
	for (fm_link l = 0; l < fab->n_links; l++)
		for (unsigned sl = 0; sl < 16; sl++)
			out->sl2vl[l * 16 + sl] = (uint8_t)(sl % n_vls);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_CA && fab->end_lid[e] != 0)
			out->order[fab->end_lid[e]] = n++;
	for (unsigned i = 0; i < w->host->n_workers(w->host); i++)
		out->ar_dropped += w->dropped[i];
}

static int
frozen_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct work w = { .host = host, .fab = fab, .prev_lft = req->prev_lft, .out = out };
	const struct options *o = opts;
	const char *wrong = host->size < sizeof(*host) ? "a service is missing" : NULL;
	int rc;

	if (wrong == NULL)
		wrong = look(fab, req, out);
	if (wrong != NULL)
		return host->fail(host, err, FM_E_BUG, "not as ABI 1.0 has it: %s", wrong);
	if (o->tell)
		return tell(host, fab, o, err);
	if (fab->n_switches == 0)
		return host->fail(host, err, FM_E_TOPOLOGY, "there is no switch to route");
	if ((rc = begin(&w, o, err)) != 0)
		return rc;
	group_links_up(&w);
	host->parallel_for(host, fab->n_switches, route_to_switch, &w);
	for (unsigned i = 0; i < host->n_workers(host); i++)
		if (w.failed[i])
			return host->fail(
			    host, err, FM_E_RESOURCE, "no memory for %u switches", fab->n_switches);
	if (host->should_stop(host))
		return host->fail(
		    host, err, FM_E_CANCELLED, "stopped before all tables were filled");
	write_others(&w, req);
	host->progress(host, fab->n_switches, fab->n_switches);
	host->log(host, 4, "routed %u switches", fab->n_switches);
	return 0;
}

static const char *const aliases[] = { "frozen-engine", NULL };

FM_ENGINE(frozen, .aliases = aliases, .summary = "An engine of ABI 1.0, for ever.",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_AR | FM_PROVIDES_ORDER |
	FM_USES_PREV | FM_PROMISES_NO_CREDIT_LOOPS,
    .options_size = sizeof(struct options), .options = rows, .route = frozen_route);
