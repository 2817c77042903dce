/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/sa.c - dispatch: attribute x method to handler, at once or slice by slice.
 *
 * What is asked of the header, of keys and of numbers of records is here; what records
 * there are is the handlers', and how they are sent is answer.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "core/events/kinds.h"
#include "core/registry/claims.h"
#include "core/registry/saver.h"
#include "core/sa/notices.h"
#include "core/sa/sa_internal.h"
#include "lib/log.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SLICE 8192
#define CLAIMS_EVERY_MS 1000 /* thousands of hosts that boot are told of in a few steps */

struct sa_job {
	struct sa_query q; /* with a reference to its view */
	sa_query_fn handler;
	struct sa_answer answer; /* so far */
};

struct sa *
sa_new(struct sa_slot *slot, const struct sa_out *out, struct registry *registry)
{
	struct sa *sa = calloc(1, sizeof(*sa));

	if (sa == NULL)
		return NULL;
	sa->slot = slot;
	sa->out = *out;
	sa->registry = registry;
	sa->key_bucket = sa->denied_bucket =
	    (struct fm_log_bucket){ .burst = 3, .every_ms = 60000 };
	sa->claim_bucket =
	    (struct fm_log_bucket){ .burst = 10, .every_ms = 6000, .kind = EVENT_ADDRESS_REFUSED };
	sa->claims_ms = -CLAIMS_EVERY_MS;
	if (registry != NULL && (sa->notices = notices_new(registry, out)) == NULL) {
		free(sa);
		return NULL;
	}
	return sa;
}

void
sa_free(struct sa *sa)
{
	if (sa == NULL)
		return;
	saver_free(sa->saver);
	notices_free(sa->notices);
	free(sa->answer.item);
	fm_vec_fini(&sa->held);
	free(sa);
}

const struct sa_counts *
sa_counts(const struct sa *sa)
{
	return &sa->counts;
}

/* ---------------------------------------------------------------- dispatch */

/* Get and GetTable have the same handler. */
static const struct sa_entry {
	uint16_t attr;
	uint8_t method;
	sa_query_fn handler;
	bool registers; /* needs a registry */
	/* Answered from so little, if the request names one component of each set at least.  What
	 * registers is a promise, which only a master makes; its registry is whole. */
	enum sa_view_basis least;
	uint64_t names[2];
} entries[] = {
	{ SA_PATH_RECORD, SA_GET, sa_get_paths, .least = SA_VIEW_KEPT,
	    .names = { SA_PR_SGID | SA_PR_SLID, SA_PR_DGID | SA_PR_DLID } },
	{ SA_CLASS_PORT_INFO, SA_GET, sa_get_class_port_info, .least = SA_VIEW_KEPT },
	{ SA_NODE_RECORD, SA_GET, sa_get_nodes, .least = SA_VIEW_KEPT,
	    .names = { SA_NR_LID | SA_NR_PORT_GUID } },
	{ SA_PORT_INFO_RECORD, SA_GET, sa_get_port_infos },
	{ SA_SWITCH_INFO_RECORD, SA_GET, sa_get_switch_infos },
	{ SA_LINK_RECORD, SA_GET, sa_get_links },
	{ SA_LFT_RECORD, SA_GET, sa_get_lfts },
	{ SA_MFT_RECORD, SA_GET, sa_get_mfts },
	{ SA_SL2VL_RECORD, SA_GET, sa_get_sl2vls },
	{ SA_VL_ARB_RECORD, SA_GET, sa_get_vl_arbs },
	{ SA_PKEY_RECORD, SA_GET, sa_get_pkeys },
	{ SA_SM_INFO_RECORD, SA_GET, sa_get_sm_infos },
	{ SA_MULTI_PATH_RECORD, SA_GET_MULTI, sa_get_multi_paths, .least = SA_VIEW_KEPT },
	{ SA_PATH_RECORD, SA_GET_TRACE_TABLE, sa_get_traces },
	{ SA_MC_MEMBER_RECORD, SA_GET, sa_get_mc_members, true, SA_VIEW_INHERITED,
	    { SA_MCR_MGID } },
	{ SA_MC_MEMBER_RECORD, SA_SET, sa_set_mc_member, true, SA_VIEW_INHERITED },
	{ SA_MC_MEMBER_RECORD, SA_DELETE, sa_delete_mc_member, true, SA_VIEW_INHERITED },
	{ SA_SERVICE_RECORD, SA_GET, sa_get_services, true, SA_VIEW_INHERITED,
	    { SA_SR_ID | SA_SR_NAME } },
	{ SA_SERVICE_RECORD, SA_SET, sa_set_service, true, SA_VIEW_INHERITED },
	{ SA_SERVICE_RECORD, SA_DELETE, sa_delete_service, true, SA_VIEW_INHERITED },
	{ SA_INFORM_INFO, SA_SET, sa_set_inform_info, true, SA_VIEW_INHERITED },
	{ SA_INFORM_INFO_RECORD, SA_GET, sa_get_inform_infos, true },
	{ SA_GUID_INFO_RECORD, SA_GET, sa_get_guid_infos, true },
	{ SA_GUID_INFO_RECORD, SA_SET, sa_set_guid_info, true },
	{ SA_GUID_INFO_RECORD, SA_DELETE, sa_delete_guid_info, true },
};

static bool
is_method(uint8_t method)
{
	switch (method) {
	case SA_GET:
	case SA_SET:
	case SA_GET_TABLE:
	case SA_GET_TRACE_TABLE:
	case SA_GET_MULTI:
	case SA_DELETE:
		return true;
	}
	return false;
}

/* Does it ask for one thing, that a view of nothing that was read may know? */
static bool
is_early(const struct sa_entry *e, const struct sa_view *view, const struct sa_header *h)
{
	for (size_t i = 0; i < N_OF(e->names); i++)
		if (e->names[i] != 0 && (h->mask & e->names[i]) == 0)
			return false;
	return view->basis <= e->least;
}

/* NULL with the status that says why. */
static sa_query_fn
find_handler(
    const struct sa *sa, const struct sa_view *view, const struct sa_header *h, uint16_t *status)
{
	uint8_t method = h->method == SA_GET_TABLE ? SA_GET : h->method;

	if (!is_method(h->method)) {
		*status = WIRE_STATUS_BAD_METHOD;
		return NULL;
	}
	for (size_t i = 0; i < N_OF(entries); i++)
		if (entries[i].attr == h->attr && entries[i].method == method &&
		    (sa->registry != NULL || !entries[i].registers)) {
			if (view->basis == SA_VIEW_READ || is_early(&entries[i], view, h))
				return entries[i].handler;
			*status = WIRE_STATUS_BUSY;
			return NULL;
		}
	*status = WIRE_STATUS_BAD_METHOD_ATTR;
	return NULL;
}

/* ----------------------------------------------------------------- request */

/* What the handler found, to the status of the answer.  What was kept over a restart is believed
 * where it says yes: who has come since is not in it. */
static uint16_t
status_of_answer(struct sa *sa, const struct sa_query *q, uint16_t status)
{
	if (q->view->basis != SA_VIEW_READ && (status != SA_OK || q->n_records == 0 || q->full))
		return WIRE_STATUS_BUSY;
	if (status == SA_NO_RECORDS && sa_is_table(q->h.method))
		return SA_OK; /* an empty table says so */
	if (status != SA_OK)
		return status;
	if (q->full) {
		sa->counts.too_long++;
		return SA_NO_RESOURCES;
	}
	if (q->h.method == SA_GET && q->n_records == 0)
		return SA_NO_RECORDS;
	if (q->h.method == SA_GET && q->n_records > 1 && !q->one)
		return SA_TOO_MANY_RECORDS;
	return SA_OK;
}

/* The query of a request; a status other than SA_OK says what is wrong with it. */
static uint16_t
read_query(struct sa_query *q, const uint8_t *bytes, size_t n_bytes)
{
	const struct sa_settings *set = &q->view->set;

	q->record = q->answer = sa_record_of(q->h.attr);
	q->data = bytes + SA_DATA_AT;
	q->n_data = n_bytes - SA_DATA_AT;
	q->requester = sa_view_end_of_lid(q->view, q->from.lid);
	q->trusted = sa_key_is(q->h.sm_key, set->sa_key);
	if (q->record == NULL)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (q->n_data < q->record->bytes)
		return SA_REQ_INVALID;
	sa_record_get(q->record, q->data, &q->want);
	return SA_OK;
}

static bool
is_denied(struct sa *sa, const struct sa_query *q)
{
	if (q->trusted || q->view->set.untrusted == SA_UNTRUSTED_ALLOW || sa_may_untrusted(q))
		return false;
	fm_log_rl(&sa->denied_bucket, FM_LOG_NOTICE, "sa",
	    "%s, method 0x%02x, from LID %u is denied: it shows no sa_key, and concerns others "
	    "(untrusted = restrict)",
	    q->record->name, q->h.method, q->from.lid);
	return true;
}

/* One slice; true: it is answered. */
static bool
work_on(
    struct sa *sa, struct sa_query *q, sa_query_fn handler, const uint8_t *bytes, size_t n_bytes)
{
	uint16_t status;

	q->n_steps = 0;
	q->n_looked_before = q->n_looked_at;
	q->paused = false;
	status = handler(q);
	sa->counts.looked_at += q->n_looked_at - q->n_looked_before;
	if (status == SA_OK && q->paused)
		return false;
	status = status_of_answer(sa, q, status);
	sa->counts.unverified += status == SA_OK && q->view->basis != SA_VIEW_READ;
	if (status == SA_OK)
		sa_send_records(sa, q);
	else
		sa_send_status(sa, &q->from, &q->h, bytes, n_bytes, status);
	return true;
}

/* The rest is for later; the answer so far goes with it.  NULL: no memory. */
static struct sa_job *
put_aside(struct sa *sa, const struct sa_query *q, sa_query_fn handler)
{
	struct sa_job *j = malloc(sizeof(*j));

	if (j == NULL)
		return NULL;
	*j = (struct sa_job){ *q, handler, sa->answer };
	j->q.data = NULL; /* the request's bytes are not ours */
	j->q.n_data = 0;
	sa_view_get(q->view);
	memset(&sa->answer, 0, sizeof(sa->answer));
	return j;
}

static struct sa_job *
answer(struct sa *sa, struct sa_view *view, const struct mad_addr *from, const struct sa_header *h,
    const uint8_t *bytes, size_t n_bytes, int64_t now_ms, uint32_t slice)
{
	struct sa_query q = { .sa = sa,
		.view = view,
		.registry = sa->registry,
		.h = *h,
		.from = *from,
		.now_ms = now_ms,
		.slice = slice };
	uint16_t status = SA_OK;
	sa_query_fn handler = find_handler(sa, view, h, &status);
	struct sa_job *left;

	if (handler != NULL)
		status = read_query(&q, bytes, n_bytes);
	if (handler != NULL && status == SA_OK && is_denied(sa, &q))
		status = SA_REQ_DENIED;
	if (status == SA_OK) {
		sa->answer.n = SA_DATA_AT;
		status = sa_make_room(sa, WIRE_MAD_BYTES) ? SA_OK : SA_NO_RESOURCES;
	}
	if (status == SA_OK) {
		if (work_on(sa, &q, handler, bytes, n_bytes))
			return NULL;
		left = put_aside(sa, &q, handler);
		if (left != NULL)
			return left;
		status = SA_NO_RESOURCES;
	}
	sa_send_status(sa, from, h, bytes, n_bytes, status);
	return NULL;
}

bool
sa_go_on(struct sa *sa, struct sa_job *j, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_answer kept = sa->answer;
	bool done;

	sa->answer = j->answer;
	if (sa->answer.n == 0)
		sa->answer.n = SA_DATA_AT;
	if (sa_make_room(sa, WIRE_MAD_BYTES))
		done = work_on(sa, &j->q, j->handler, bytes, n_bytes);
	else
		done = true; /* it will ask again */
	j->answer = sa->answer;
	sa->answer = kept;
	if (done)
		sa_job_free(j);
	return done;
}

void
sa_job_rewind(struct sa_job *j)
{
	free(j->answer.item);
	memset(&j->answer, 0, sizeof(j->answer));
	j->q.at = 0;
	j->q.n_records = j->q.n_looked_at = 0;
}

size_t
sa_job_bytes(const struct sa_job *j)
{
	return j->answer.room;
}

void
sa_job_free(struct sa_job *j)
{
	if (j == NULL)
		return;
	free(j->answer.item);
	sa_view_put(j->q.view);
	free(j);
}

static void
pass_aliases_on(struct sa *sa)
{
	uint64_t port, guid[8];
	uint8_t block;

	while (sa->on_alias != NULL && registry_next_alias_block(sa->registry, &port, &block)) {
		registry_aliases(sa->registry, port, block, guid);
		sa->on_alias(sa->on_alias_arg, port, block, guid);
	}
}

/* What happened to groups: to the fabric, and to subscribers.  view NULL: what a restart has
 * brought back, which is no news to them. */
static void
pass_events_on(struct sa *sa, struct sa_view *view, int64_t now_ms)
{
	struct group_event e;
	uint64_t port;
	bool lost = false;

	if (sa->registry == NULL)
		return;
	while (registry_next_event(sa->registry, &e, &lost)) {
		if (view != NULL)
			notices_group(sa->notices, view, &e, now_ms);
		if (sa->on_group != NULL)
			sa->on_group(sa->on_group_arg, &e, lost);
	}
	pass_aliases_on(sa);
	while (sa->on_lost != NULL && registry_next_lost(sa->registry, &port))
		sa->on_lost(sa->on_lost_arg, port);
}

void
sa_on_lost(struct sa *sa, sa_lost_fn fn, void *arg)
{
	sa->on_lost = fn;
	sa->on_lost_arg = arg;
}

void
sa_on_claims(struct sa *sa, sa_claims_fn fn, void *arg)
{
	sa->on_claims = fn;
	sa->on_claims_arg = arg;
}

/* When to look again; INT64_MAX: when something has happened. */
static int64_t
pass_claims_on(struct sa *sa, int64_t now_ms)
{
	if (sa->on_claims == NULL || !registry_claims_are_news(sa->registry))
		return INT64_MAX;
	if (now_ms - sa->claims_ms < CLAIMS_EVERY_MS)
		return sa->claims_ms + CLAIMS_EVERY_MS;
	sa->claims_ms = now_ms;
	registry_claims_told(sa->registry);
	sa->on_claims(sa->on_claims_arg, sa->registry);
	return INT64_MAX;
}

void
sa_on_alias(struct sa *sa, sa_alias_fn fn, void *arg)
{
	sa->on_alias = fn;
	sa->on_alias_arg = arg;
}

void
sa_on_group(struct sa *sa, sa_group_fn fn, void *arg)
{
	sa->on_group = fn;
	sa->on_group_arg = arg;
}

bool
sa_keep(struct sa *sa, struct store *store, int64_t (*wall_s)(void), bool apart)
{
	sa->saver = saver_new(sa->registry, store, wall_s, apart);
	return sa->saver != NULL;
}

void
sa_copy(struct sa *sa, const struct saver_copy *copy)
{
	if (sa->saver != NULL)
		saver_set_copy(sa->saver, copy);
}

bool
sa_holds_answers(const struct sa *sa)
{
	return sa->held.n > 0;
}

struct registry *
sa_registry(struct sa *sa)
{
	return sa->registry;
}

/* By which subscribers are told; NULL: by none yet. */
static struct sa_view *
verified(struct sa_view *view)
{
	return view != NULL && view->basis == SA_VIEW_READ ? view : NULL;
}

void
sa_tell(struct sa *sa, const struct wire_notice *notice, int64_t now_ms)
{
	struct sa_view *view = sa_slot_get(sa->slot);
	struct sa_notice e = { .n = *notice };
	uint32_t end;

	if (verified(view) != NULL && sa->notices != NULL) {
		end = sa_view_end_of_lid(view, notice->issuer_lid);
		if (end != FM_NONE) { /* nobody may know of others, nor is it ours */
			e.issuer = (struct sa_gid){ view->set.gid_prefix, view->end[end].guid };
			notices_tell(sa->notices, view, &e, now_ms);
		}
	}
	sa_view_put(view);
}

/* A key that is neither 0 nor ours: no answer at all, so that it cannot be guessed at leisure
 * (IBA C15-0.1.5; osmtest asks for the silence). */
static bool
may_ask(struct sa *sa, const struct sa_view *view, const struct mad_addr *from,
    const struct sa_header *h)
{
	if (h->sm_key == 0 || sa_key_is(h->sm_key, view->set.sa_key))
		return true;
	sa->counts.refused++;
	fm_log_rl(&sa->key_bucket, FM_LOG_NOTICE, "sa",
	    "a request from LID %u with a wrong SM_Key is dropped", from->lid);
	return false;
}

/* The kernel's part of the TID is not looked at, so who answers is. */
static void
take_report_answer(struct sa *sa, const struct mad_addr *from, uint64_t tid, int64_t now_ms)
{
	struct sa_view *view = sa_slot_get(sa->slot);
	uint32_t end = view == NULL ? FM_NONE : sa_view_end_of_lid(view, from->lid);

	if (end != FM_NONE)
		notices_answered(sa->notices, view->end[end].guid, tid, now_ms);
	sa_view_put(view);
}

/* slices: as the view says; otherwise all at once. */
static struct sa_job *
handle(struct sa *sa, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms, bool slices)
{
	struct sa_job *left = NULL;
	struct sa_header h;
	struct sa_view *view;

	if (n_bytes < SA_DATA_AT)
		return NULL;
	sa_header_get(bytes, &h);
	if (h.mgmt_class == WIRE_CLASS_SA && h.method == SA_REPORT_RESP && sa->notices != NULL)
		take_report_answer(sa, from, h.tid, now_ms);
	if (!sa_expects_answer(&h))
		return NULL;
	sa->counts.requests++;
	sa->counts.by_attr[h.attr & 0xff]++;
	if (h.class_version != SA_CLASS_VERSION) {
		sa_send_status(sa, from, &h, bytes, n_bytes, WIRE_STATUS_BAD_CLASS_VERSION);
		return NULL;
	}
	view = sa_slot_get(sa->slot);
	if (view == NULL) {
		sa_send_status(sa, from, &h, bytes, n_bytes, WIRE_STATUS_BUSY);
		return NULL;
	}
	if (may_ask(sa, view, from, &h)) {
		left = answer(sa, view, from, &h, bytes, n_bytes, now_ms,
		    !slices		       ? 0
			: view->set.slice != 0 ? view->set.slice
					       : SLICE);
		pass_events_on(sa, verified(view), now_ms);
	}
	sa_view_put(view);
	return left;
}

void
sa_handle(struct sa *sa, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	handle(sa, from, bytes, n_bytes, now_ms, false);
}

struct sa_job *
sa_begin(struct sa *sa, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	return handle(sa, from, bytes, n_bytes, now_ms, true);
}

int64_t
sa_tick(struct sa *sa, int64_t now_ms)
{
	struct sa_view *view;
	int64_t a, b, c = INT64_MAX, d;
	bool rules;

	if (sa->registry == NULL)
		return INT64_MAX;
	view = sa_slot_get(sa->slot);
	a = registry_tick(sa->registry, now_ms);
	b = notices_tick(sa->notices, now_ms);
	notices_look(sa->notices, verified(view), now_ms);
	pass_events_on(sa, verified(view), now_ms);
	d = pass_claims_on(sa, now_ms);
	rules = view != NULL;
	sa_view_put(view);
	sa->counts.told = *notices_counts(sa->notices);
	if (sa->saver != NULL) {
		c = saver_tick(sa->saver, now_ms);
		sa_send_held(sa, rules);
	}
	a = a < b ? a : b;
	c = c < d ? c : d;
	return a < c ? a : c;
}
