/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/answer.c - the answer: records behind a header, or what was asked with a status.
 *
 * It grows in one buffer that is kept from request to request; a query that pauses takes it
 * away (sa.c).
 */
#include <stdlib.h>
#include <string.h>

#include "core/registry/saver.h"
#include "core/sa/sa_internal.h"

#define MOST_ANSWER_BYTES (64u << 20)
#define KEEP_ANSWER_BYTES (1u << 20) /* more is given back */

bool
sa_is_table(uint8_t method)
{
	return method == SA_GET_TABLE || method == SA_GET_TRACE_TABLE || method == SA_GET_MULTI;
}

bool
sa_make_room(struct sa *sa, size_t n_bytes)
{
	return n_bytes <= MOST_ANSWER_BYTES &&
	    fm_vec_grow((void **)&sa->answer.item, &sa->answer.room, n_bytes, 1);
}

bool
sa_add(struct sa_query *q, const void *v)
{
	struct sa *sa = q->sa;
	size_t size = 8u * sa_record_words(q->answer);

	if (q->full)
		return false;
	if (!sa_make_room(sa, sa->answer.n + size)) {
		q->full = true;
		return false;
	}
	sa_record_put(q->answer, sa->answer.item + sa->answer.n, v);
	sa->answer.n += size;
	q->n_records++;
	/* A Get needs one, and must know whether there is another. */
	return !(q->h.method == SA_GET && (q->one || q->n_records > 1));
}

bool
sa_pause(struct sa_query *q, uint64_t at)
{
	uint32_t done = q->n_looked_at - q->n_looked_before + q->n_steps++;

	q->at = at;
	q->paused = q->slice != 0 && !q->full && done >= q->slice;
	return q->paused;
}

bool
sa_offer(struct sa_query *q, const void *v)
{
	q->n_looked_at++;
	return !sa_record_matches(q->answer, &q->want, q->h.mask, v) || sa_add(q, v);
}

/* False: no memory, or it need not wait. */
static bool
hold(struct sa *sa, const struct mad_addr *to)
{
	struct sa_held_answer h = { .to = *to };

	if (!saver_note(sa->saver) || sa->answer.n > sizeof(h.bytes))
		return false;
	memcpy(h.bytes, sa->answer.item, sa->answer.n);
	return fm_vec_push(&sa->held, h);
}

void
sa_send_held(struct sa *sa, bool rules)
{
	bool dirty = sa->held.n > 0 && registry_is_dirty(sa->registry);
	size_t n = 0;

	if (!rules)
		sa->held.n = 0;
	for (size_t i = 0; i < sa->held.n; i++) {
		struct sa_held_answer *h = &sa->held.item[i];

		if (h->number == 0 && !dirty)
			h->number = saver_number(sa->saver);
		if ((h->number == 0 && dirty) || !saver_may_send(sa->saver, h->number))
			break;
		sa->out.send(sa->out.arg, &h->to, h->bytes, sizeof(h->bytes));
		n++;
	}
	if (n == 0)
		return;
	sa->held.n -= n;
	memmove(sa->held.item, sa->held.item + n, sa->held.n * sizeof(*sa->held.item));
}

/* At least a whole MAD; short ones are filled up. */
static void
send(struct sa *sa, const struct mad_addr *to)
{
	if (sa->answer.n < WIRE_MAD_BYTES) {
		memset(sa->answer.item + sa->answer.n, 0, WIRE_MAD_BYTES - sa->answer.n);
		sa->answer.n = WIRE_MAD_BYTES;
	}
	if (sa->saver == NULL || !hold(sa, to))
		sa->out.send(sa->out.arg, to, sa->answer.item, sa->answer.n);
	if (sa->answer.room > KEEP_ANSWER_BYTES) {
		free(sa->answer.item);
		memset(&sa->answer, 0, sizeof(sa->answer));
	}
}

/* IBA 15.2.2: Set is answered by GetResp, a trace as a table; 0: to that there is no answer
 * (13.4.5: Send, Trap and TrapRepress have none). */
static uint8_t
response_to(uint8_t method)
{
	switch (method) {
	case SA_SET:
		return SA_GET_RESP;
	case SA_GET_TRACE_TABLE:
		return SA_GET_TABLE_RESP;
	case WIRE_SEND:
	case WIRE_TRAP:
	case WIRE_TRAP_REPRESS:
		return 0;
	}
	return (method & WIRE_RESPONSE_BIT) != 0 ? 0 : method | WIRE_RESPONSE_BIT;
}

bool
sa_expects_answer(const struct sa_header *h)
{
	return h->mgmt_class == WIRE_CLASS_SA && response_to(h->method) != 0;
}

void
sa_send_status(struct sa *sa, const struct mad_addr *to, const struct sa_header *asked,
    const uint8_t *bytes, size_t n_bytes, uint16_t status)
{
	struct sa_header h = *asked;
	size_t n = n_bytes < WIRE_MAD_BYTES ? n_bytes : WIRE_MAD_BYTES;

	if (!sa_make_room(sa, WIRE_MAD_BYTES))
		return; /* not even memory for that; it will ask again */
	sa->counts.refused++;
	sa->counts.busy += status == WIRE_STATUS_BUSY;
	h.method = response_to(h.method);
	/* o15-0.2.7: answers to a GetMulti of a MultiPathRecord are PathRecords, bad ones too */
	if (asked->method == SA_GET_MULTI && h.attr == SA_MULTI_PATH_RECORD)
		h.attr = SA_PATH_RECORD;
	h.status = status;
	h.sm_key = 0;
	h.attr_words = 0;
	h.rmpp_version = h.rmpp_type = h.rmpp_flags = h.rmpp_status = h.rmpp_resp_time = 0;
	h.rmpp_data1 = h.rmpp_data2 = 0;
	memcpy(sa->answer.item, bytes, n);
	sa->answer.n = n;
	sa_header_put(sa->answer.item, &h);
	send(sa, to);
}

void
sa_refuse(
    struct sa *sa, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes, uint16_t status)
{
	struct sa_header h;

	if (n_bytes < SA_DATA_AT)
		return;
	sa_header_get(bytes, &h);
	if (sa_expects_answer(&h))
		sa_send_status(sa, to, &h, bytes, n_bytes, status);
}

void
sa_send_records(struct sa *sa, const struct sa_query *q)
{
	struct sa_header h = q->h;
	bool table = sa_is_table(h.method);

	h.method = response_to(h.method);
	h.attr = q->answer->attr; /* records may be of another kind than asked */
	h.status = SA_OK;
	h.sm_key = 0;
	h.attr_words = q->n_records > 0 ? sa_record_words(q->answer) : 0;
	h.rmpp_version = table ? SA_RMPP_VERSION : 0;
	h.rmpp_type = table ? SA_RMPP_DATA : 0;
	h.rmpp_flags = table ? SA_RMPP_ACTIVE : 0;
	h.rmpp_resp_time = h.rmpp_status = 0;
	h.rmpp_data1 = h.rmpp_data2 = 0;
	sa->counts.answered++;
	sa->counts.records += q->n_records;
	if (!table)
		sa->answer.n = SA_DATA_AT + 8u * sa_record_words(q->answer);
	sa_header_put(sa->answer.item, &h);
	/* a table ends with its last record: its length says how many there are */
	if (table)
		sa->out.send(sa->out.arg, &q->from, sa->answer.item, sa->answer.n);
	else
		send(sa, &q->from);
}
