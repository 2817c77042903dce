/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/sa.h - a request in, an answer out.
 *
 * sa_handle() takes one whole request (RMPP already put together), finds the
 * handler of its attribute and method, and sends one answer: records, or a
 * status (IBA 15.4.1); never silence, but for what is no request at all and for
 * a wrong SM_Key.
 * Pure: no threads, no clock of its own, no transport.  One call at a time.
 *
 * A handler reads q->want and offers records; what does not match under the
 * component mask is left out here, so that no handler compares by itself:
 *
 *	uint16_t
 *	sa_get_links(struct sa_query *q)
 *	{
 *		for (each end from q->at on; !sa_pause(q, end))	// others have a turn
 *			for (each link of it)
 *				if (!sa_offer(q, &record)) return SA_OK;	// full: stop
 *		return SA_OK;		// none offered: NO_RECORDS is added here
 *	}
 */
#ifndef CORE_SA_SA_H
#define CORE_SA_SA_H

#include "core/mad/transport.h"
#include "core/view/view.h"
#include "core/wire/sa_wire.h"

/* Where answers and reports go.  bytes: header and records as one, the header's
 * RMPP fields filled as a kernel with RMPP wants them; to who does the RMPP. */
struct sa_out {
	void (*send)(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes);
	void *arg;
};

struct registry; /* core/registry/registry.h */
struct group_event;

struct sa;
/* slot and out are borrowed; registry may be NULL: nothing can be registered.  NULL: no memory. */
struct sa *sa_new(struct sa_slot *slot, const struct sa_out *out, struct registry *registry);
void sa_free(struct sa *sa);

/* One request: a MAD, or the header and the records of several.  Shorter than a header: dropped. */
void sa_handle(struct sa *sa, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms);

/* The same in slices, so that others are answered while a long table is made: NULL, it is done, or
 * what is left of it.  A job answers from the view that it has begun with. */
struct sa_job;
struct sa_job *sa_begin(struct sa *sa, const struct mad_addr *from, const uint8_t *bytes,
    size_t n_bytes, int64_t now_ms);
/* The next slice, with the bytes of the same request; true: it is answered, and the job is gone. */
bool sa_go_on(struct sa *sa, struct sa_job *j, const uint8_t *bytes, size_t n_bytes);
/* What is made is given back, and will be made anew when it is gone on with. */
void sa_job_rewind(struct sa_job *j);
size_t sa_job_bytes(const struct sa_job *j); /* of memory, for records */
void sa_job_free(struct sa_job *j);	     /* unanswered */
/* The answer to a request that is not looked at: BUSY, say. */
void sa_refuse(struct sa *sa, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes,
    uint16_t status);
/* What time asks for: leases, retries of reports.  When next; INT64_MAX: not of itself. */
int64_t sa_tick(struct sa *sa, int64_t now_ms);

/* Told of what happens to groups (GROUP_MEMBER, ...), where the SA runs.  lost: events are
 * missing, look at the registry as a whole. */
typedef void (*sa_group_fn)(void *arg, const struct group_event *e, bool lost);
void sa_on_group(struct sa *sa, sa_group_fn fn, void *arg);
/* Told of blocks of alias GUIDs that are to be set in ports, where the SA runs. */
typedef void (*sa_alias_fn)(void *arg, uint64_t port, uint8_t block, const uint64_t guid[8]);
void sa_on_alias(struct sa *sa, sa_alias_fn fn, void *arg);
/* Told of ports that have lost what they had registered, where the SA runs. */
typedef void (*sa_lost_fn)(void *arg, uint64_t port);
void sa_on_lost(struct sa *sa, sa_lost_fn fn, void *arg);
/* Told of what ports claim (core/registry/claims.h) when that has changed, as the registry is,
 * where the SA runs; CLAIMS_EVERY_MS apart at least. */
typedef void (*sa_claims_fn)(void *arg, const struct registry *r);
void sa_on_claims(struct sa *sa, sa_claims_fn fn, void *arg);
struct registry *sa_registry(struct sa *sa); /* NULL: none */
/* What is registered is kept there from now on (saver.h); wall_s: seconds since 1970.  False: no
 * memory. */
struct store;
bool sa_keep(struct sa *sa, struct store *store, int64_t (*wall_s)(void), bool apart);
/* Standbys have a copy of what is registered (saver.h); NULL: none has. */
struct saver_copy;
void sa_copy(struct sa *sa, const struct saver_copy *copy);
/* Some wait for standbys: call sa_tick() soon. */
bool sa_holds_answers(const struct sa *sa);
/* A trap of a node, for those who have subscribed.  issuer: its port, by the LID. */
void sa_tell(struct sa *sa, const struct wire_notice *notice, int64_t now_ms);

/* Events and the Reports of them (notices.h, reports.h). */
struct sa_report_counts {
	uint64_t events, repeated;		      /* repeated: suppressed */
	uint64_t reports, retries, answered, dropped; /* dropped: subscriptions */
	uint64_t untold;  /* Reports not made: too many wait; an event not taken is one */
	uint32_t waiting; /* Reports, now */
	uint32_t subscriptions;
};
struct sa_counts {
	uint64_t requests, answered, records, busy, refused, too_long;
	uint64_t unverified;	      /* of those answered, from what was kept over a restart */
	uint64_t looked_at;	      /* records and paths, whether they match or not */
	uint64_t by_attr[256];	      /* requests, by low byte of the attribute */
	struct sa_report_counts told; /* as of the last tick */
};
const struct sa_counts *sa_counts(const struct sa *sa);

/* ---- for handlers */

struct sa_query {
	struct sa *sa;
	struct sa_view *view; /* never NULL */
	struct registry *registry;
	struct sa_header h;
	const struct sa_record *record; /* of h.attr */
	union sa_any want;		/* the template */
	const uint8_t *data;		/* [n_data] all after the header */
	size_t n_data;
	struct mad_addr from;
	uint32_t requester; /* end that asks, by its LID; FM_NONE: not known */
	bool trusted;	    /* showed the SA key */
	int64_t now_ms;
	/* the answer */
	const struct sa_record *answer; /* kind of record: as asked for, unless the handler says */
	uint32_t n_records;
	bool full;	      /* no more records fit: offering fails */
	uint32_t n_looked_at; /* records, or paths: what the query costs */
	bool one;	      /* the first is as good as any: a Get takes it */
	/* slices, see sa_pause() */
	uint64_t at;
	uint32_t slice, n_steps, n_looked_before; /* slice 0: all at once */
	bool paused;
};
/* The MAD status; SA_OK: what was offered is the answer. */
typedef uint16_t (*sa_query_fn)(struct sa_query *q);

/* Before each step of a handler whose table may be long.  True: enough for now; the handler returns
 * SA_OK and is called again with q->at, which is 0 at first, as it is given here. */
bool sa_pause(struct sa_query *q, uint64_t at);
/* Add v, which matches already.  False: no more fit, or no more are wanted. */
bool sa_add(struct sa_query *q, const void *v);
/* Add v if it matches want under the mask. */
bool sa_offer(struct sa_query *q, const void *v);
/* The multicast tables of now, a reference, or NULL: they are empty. */
struct mft_rows *sa_mfts(const struct sa_query *q);
/* May the requester know of an end?  They share a partition, or it is trusted. */
bool sa_may_see(const struct sa_query *q, uint32_t end);
/* Ends that a record with a LID may be about: *first..*last - 1, without those before q->at.
 * mask: the LID's component. */
void sa_ends_asked(
    const struct sa_query *q, uint64_t mask, uint16_t lid, uint32_t *first, uint32_t *last);

/* All handlers; the table in sa.c says which attribute and method is whose. */
uint16_t sa_get_class_port_info(struct sa_query *q);
uint16_t sa_get_nodes(struct sa_query *q);
uint16_t sa_get_port_infos(struct sa_query *q);
uint16_t sa_get_switch_infos(struct sa_query *q);
uint16_t sa_get_links(struct sa_query *q);
uint16_t sa_get_lfts(struct sa_query *q);
uint16_t sa_get_mfts(struct sa_query *q);
uint16_t sa_get_sl2vls(struct sa_query *q);
uint16_t sa_get_vl_arbs(struct sa_query *q);
uint16_t sa_get_pkeys(struct sa_query *q);
uint16_t sa_get_sm_infos(struct sa_query *q);
uint16_t sa_get_mc_members(struct sa_query *q);
uint16_t sa_set_mc_member(struct sa_query *q);
uint16_t sa_delete_mc_member(struct sa_query *q);
uint16_t sa_get_services(struct sa_query *q);
uint16_t sa_set_service(struct sa_query *q);
uint16_t sa_delete_service(struct sa_query *q);
uint16_t sa_set_inform_info(struct sa_query *q);
uint16_t sa_get_inform_infos(struct sa_query *q);
uint16_t sa_get_guid_infos(struct sa_query *q);
uint16_t sa_set_guid_info(struct sa_query *q);
uint16_t sa_delete_guid_info(struct sa_query *q);
uint16_t sa_get_paths(struct sa_query *q);
uint16_t sa_get_multi_paths(struct sa_query *q);
uint16_t sa_get_traces(struct sa_query *q);

#endif
