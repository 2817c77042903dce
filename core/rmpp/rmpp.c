/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One RMPP transfer (IBA 13.6), as the two state machines of its ends.
 *
 * The sender goes back to the last acknowledged segment when no ACK comes in
 * time; the receiver takes segments in any order inside the window it granted
 * (bitmap `ahead`), each straight to its place, so that memory grows with what
 * has come, never with what a header promises.  It acknowledges the first
 * segment, the end of each window, the last one, and whatever it has already:
 * a duplicate says that the sender missed an ACK.
 *
 *	message:	0 ── header ──► | segment 1 | segment 2 | ... | last |
 *	               		        |<- 256 - header bytes ->|
 *
 * PayloadLength counts, beside the data, what the class adds to the MAD before
 * it (SA: 20 bytes a segment): first segment: of all, last: of itself.  Only
 * that of the last one is believed.
 */
#include "core/rmpp/rmpp.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"

#define COMMON_BYTES 36 /* MAD and RMPP header */
#define NS_PER_MS INT64_C(1000000)
#define METHOD_AT 3
#define STATUS_AT 4

void
rmpp_limits_default(struct rmpp_limits *l)
{
	*l = (struct rmpp_limits){ .window = RMPP_WINDOW_MAX,
		.n_retries = 3,
		.resend_ns = 2000 * NS_PER_MS,
		.idle_ns = 40000 * NS_PER_MS,
		.max_bytes = (size_t)64 << 20 };
}

unsigned
rmpp_header_bytes(uint8_t mgmt_class)
{
	switch (mgmt_class) {
	case WIRE_CLASS_SA:
		return 56;
	case 0x06: /* device management */
	case 0x10: /* device administration */
	case 0x12: /* boot */
		return 64;
	default: /* vendor classes with an OUI */
		return mgmt_class >= 0x30 && mgmt_class <= 0x4f ? 40 : 0;
	}
}

bool
rmpp_is_active(const uint8_t *mad)
{
	return rmpp_header_bytes(mad[1]) != 0 && mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

/* Data bytes of a segment. */
static size_t
segment_bytes(const uint8_t *header)
{
	return MAD_BYTES - rmpp_header_bytes(header[1]);
}

uint32_t
rmpp_segments(uint8_t mgmt_class, size_t length)
{
	size_t header = rmpp_header_bytes(mgmt_class), each = MAD_BYTES - header;

	return length <= header ? 1 : (uint32_t)((length - header + each - 1) / each);
}

/* A MAD without data that goes the other way than `header`, or the same. */
static void
put_word(uint8_t *mad, const uint8_t *header, bool back, enum rmpp_type type, uint8_t status)
{
	memset(mad, 0, MAD_BYTES);
	memcpy(mad, header, COMMON_BYTES);
	if (back)
		mad[METHOD_AT] ^= WIRE_RESPONSE_BIT;
	wire_put16(mad + STATUS_AT, 0);
	mad[RMPP_VERSION] = 1;
	mad[RMPP_TYPE] = (uint8_t)type;
	mad[RMPP_FLAGS] = RMPP_RESP_TIME_NONE | RMPP_ACTIVE;
	mad[RMPP_STATUS] = status;
	wire_put32(mad + RMPP_SEGMENT, 0);
	wire_put32(mad + RMPP_LENGTH, 0);
}

static enum rmpp_type
word_for(uint8_t status)
{
	return status == RMPP_NO_RESOURCES ? RMPP_STOP : RMPP_ABORT;
}

void
rmpp_refuse(const uint8_t *mad, uint8_t status, uint8_t *reply)
{
	put_word(reply, mad, true, word_for(status), status);
}

/* What STOP and ABORT may say; other values are an error of their own. */
static bool
is_last_word(const uint8_t *mad)
{
	return mad[RMPP_TYPE] == RMPP_STOP || mad[RMPP_TYPE] == RMPP_ABORT;
}

/* ---- sender */

void
rmpp_sender_init(struct rmpp_sender *s, const struct rmpp_limits *l, const uint8_t *message,
    size_t length, uint32_t window, bool double_sided, int64_t now_ns)
{
	*s = (struct rmpp_sender){ .limits = *l,
		.message = message,
		.length = length,
		.n_segments = rmpp_segments(message[1], length),
		.next = 1,
		.allowed = window > 0 ? window : 1,
		.retries_left = l->n_retries,
		.due_ns = now_ns + l->resend_ns,
		.double_sided = double_sided };
	memcpy(s->header, message, sizeof(s->header));
}

static void
end_sending(struct rmpp_sender *s, enum rmpp_state state, uint8_t status, enum rmpp_type word)
{
	s->state = state;
	s->status = status;
	s->owed = (uint8_t)word;
	s->due_ns = INT64_MAX;
	s->message = NULL;
}

static void
put_segment(const struct rmpp_sender *s, uint32_t number, uint8_t *mad)
{
	size_t header = rmpp_header_bytes(s->header[1]), each = segment_bytes(s->header);
	size_t at = header + (number - 1) * each, n = s->length > at ? s->length - at : 0;
	size_t extra = header - COMMON_BYTES;
	uint8_t flags = RMPP_ACTIVE;
	size_t payload = 0;

	if (n > each)
		n = each;
	memset(mad, 0, MAD_BYTES);
	memcpy(mad, s->message, header < s->length ? header : s->length);
	memcpy(mad + header, s->message + (n > 0 ? at : 0), n);
	if (number == 1) {
		flags |= RMPP_FIRST;
		payload = s->n_segments * extra + (s->length > header ? s->length - header : 0);
	}
	if (number == s->n_segments) {
		flags |= RMPP_LAST;
		payload = n + extra;
	}
	mad[RMPP_VERSION] = 1;
	mad[RMPP_TYPE] = RMPP_DATA;
	mad[RMPP_FLAGS] = RMPP_RESP_TIME_NONE | flags;
	mad[RMPP_STATUS] = RMPP_OK;
	wire_put32(mad + RMPP_SEGMENT, number);
	wire_put32(mad + RMPP_LENGTH, (uint32_t)payload);
}

/* The sender's own last word; after a double-sided transfer it turns the
 * direction with an ACK of segment 0, which opens the window of the answer. */
static bool
pay_owed(struct rmpp_sender *s, uint8_t *mad)
{
	enum rmpp_type type = (enum rmpp_type)s->owed;

	if (s->owed == 0)
		return false;
	s->owed = 0;
	put_word(mad, s->header, false, type, s->status);
	if (type == RMPP_ACK)
		wire_put32(mad + RMPP_LENGTH, s->limits.window);
	return true;
}

bool
rmpp_sender_next(struct rmpp_sender *s, int64_t now_ns, uint8_t *mad)
{
	if (s->state != RMPP_RUNNING)
		return pay_owed(s, mad);
	if (s->next > s->n_segments || s->next > s->allowed)
		return false;
	put_segment(s, s->next, mad);
	if (s->next > s->highest)
		s->highest = s->next;
	s->next++;
	s->due_ns = now_ns + s->limits.resend_ns;
	return true;
}

static void
take_ack(struct rmpp_sender *s, uint32_t segment, uint32_t allowed, int64_t now_ns)
{
	if (segment > s->highest) {
		end_sending(s, RMPP_FAILED, RMPP_SEGMENT_BIG, RMPP_ABORT);
		return;
	}
	if (allowed < segment) {
		end_sending(s, RMPP_FAILED, RMPP_WINDOW_SMALL, RMPP_ABORT);
		return;
	}
	if (segment < s->acked || (allowed < s->allowed && segment < s->n_segments))
		return; /* an old one */
	if (segment > s->acked) {
		s->acked = segment;
		s->retries_left = s->limits.n_retries;
		s->due_ns = now_ns + s->limits.resend_ns;
	}
	s->allowed = allowed;
	if (s->next <= s->acked)
		s->next = s->acked + 1;
	if (s->acked == s->n_segments)
		end_sending(s, RMPP_DONE, RMPP_OK, s->double_sided ? RMPP_ACK : (enum rmpp_type)0);
}

void
rmpp_sender_take(struct rmpp_sender *s, const uint8_t *mad, int64_t now_ns)
{
	uint8_t type = mad[RMPP_TYPE], status = mad[RMPP_STATUS];

	if (s->state != RMPP_RUNNING)
		return;
	if (mad[RMPP_VERSION] != 1)
		end_sending(s, RMPP_FAILED, RMPP_BAD_VERSION, RMPP_ABORT);
	else if (is_last_word(mad))
		end_sending(s, RMPP_FAILED, status ? status : RMPP_UNSPECIFIED, (enum rmpp_type)0);
	else if (type != RMPP_ACK)
		end_sending(s, RMPP_FAILED, RMPP_BAD_TYPE, RMPP_ABORT);
	else if (status != RMPP_OK)
		end_sending(s, RMPP_FAILED, RMPP_BAD_STATUS, RMPP_ABORT);
	else
		take_ack(s, wire_get32(mad + RMPP_SEGMENT), wire_get32(mad + RMPP_LENGTH), now_ns);
}

void
rmpp_sender_tick(struct rmpp_sender *s, int64_t now_ns)
{
	if (s->state != RMPP_RUNNING || now_ns < s->due_ns)
		return;
	if (s->retries_left == 0) {
		end_sending(s, RMPP_FAILED, RMPP_TOO_MANY_RETRIES, RMPP_ABORT);
		return;
	}
	s->retries_left--;
	s->next = s->acked + 1;
	s->due_ns = now_ns + s->limits.resend_ns;
}

/* ---- receiver */

void
rmpp_receiver_init(struct rmpp_receiver *r, const struct rmpp_limits *l, int64_t now_ns)
{
	*r = (struct rmpp_receiver){ .limits = *l, .allowed = 1, .due_ns = now_ns + l->idle_ns };
	if (r->limits.window < 1 || r->limits.window > RMPP_WINDOW_MAX)
		r->limits.window = RMPP_WINDOW_MAX;
}

void
rmpp_receiver_drop(struct rmpp_receiver *r)
{
	free(r->message);
	r->message = NULL;
	r->room = 0;
}

static void
put_ack(const struct rmpp_receiver *r, const uint8_t *mad, uint8_t *reply)
{
	put_word(reply, mad, true, RMPP_ACK, RMPP_OK);
	wire_put32(reply + RMPP_SEGMENT, r->have);
	wire_put32(reply + RMPP_LENGTH, r->allowed);
}

static bool
fail_receiving(struct rmpp_receiver *r, const uint8_t *mad, uint8_t status, uint8_t *reply)
{
	r->state = RMPP_FAILED;
	r->status = status;
	r->due_ns = INT64_MAX;
	rmpp_receiver_drop(r);
	rmpp_refuse(mad, status, reply);
	return true;
}

/* Room for the message up to and with a segment.  Doubling, so that the whole
 * costs O(length); never beyond twice what is needed. */
static bool
make_room_for_segment(struct rmpp_receiver *r, size_t want)
{
	size_t to = r->room ? r->room : 4 * MAD_BYTES;
	uint8_t *bigger;

	if (want > r->limits.max_bytes)
		return false;
	if (want <= r->room)
		return true;
	while (to < want)
		to *= 2;
	if (to > r->limits.max_bytes)
		to = r->limits.max_bytes;
	bigger = realloc(r->message, to);
	if (bigger == NULL)
		return false;
	r->message = bigger;
	r->room = to;
	return true;
}

/* Is the header of the segment sound in itself and with what is known? */
static uint8_t
fault_of(const struct rmpp_receiver *r, const uint8_t *mad)
{
	uint32_t number = wire_get32(mad + RMPP_SEGMENT), payload = wire_get32(mad + RMPP_LENGTH);
	bool first = mad[RMPP_FLAGS] & RMPP_FIRST, last = mad[RMPP_FLAGS] & RMPP_LAST;
	uint32_t extra = rmpp_header_bytes(mad[1]) - COMMON_BYTES;

	if (mad[RMPP_STATUS] != RMPP_OK)
		return RMPP_BAD_STATUS;
	if (number == 0 || first != (number == 1))
		return RMPP_BAD_FIRST;
	if (last && (payload < extra || payload > MAD_BYTES - COMMON_BYTES))
		return RMPP_BAD_LENGTH;
	if (r->last != 0 && (last ? number != r->last : number >= r->last))
		return RMPP_BAD_LENGTH;
	/* behind the last one something has come already */
	if (last && number <= r->have + 64 && number > r->have &&
	    (r->ahead >> (number - r->have - 1)) > 1)
		return RMPP_BAD_LENGTH;
	return RMPP_OK;
}

/* A new segment inside the window: copy it to its place. */
static bool
keep_segment(struct rmpp_receiver *r, const uint8_t *mad, uint32_t number)
{
	size_t header = rmpp_header_bytes(mad[1]), each = MAD_BYTES - header;
	size_t at = header + (number - 1) * each;

	if (!make_room_for_segment(r, at + each))
		return false;
	if (number == 1)
		memcpy(r->message, mad, header);
	memcpy(r->message + at, mad + header, each);
	if (mad[RMPP_FLAGS] & RMPP_LAST) {
		r->last = number;
		r->last_bytes = (uint8_t)(wire_get32(mad + RMPP_LENGTH) - (header - COMMON_BYTES));
	}
	r->ahead |= UINT64_C(1) << (number - r->have - 1);
	while (r->ahead & 1) {
		r->ahead >>= 1;
		r->have++;
	}
	return true;
}

/* After a new segment.  True: it is time for an ACK. */
static bool
advance(struct rmpp_receiver *r, const uint8_t *mad)
{
	size_t header = rmpp_header_bytes(mad[1]), each = MAD_BYTES - header;

	if (r->last != 0 && r->have == r->last) {
		r->state = RMPP_DONE;
		r->due_ns = INT64_MAX;
		r->length = header + (r->last - 1) * each + r->last_bytes;
		return true;
	}
	if (r->have < r->allowed)
		return false;
	r->allowed = r->have + r->limits.window;
	return true;
}

static bool
take_data(struct rmpp_receiver *r, const uint8_t *mad, int64_t now_ns, uint8_t *reply)
{
	uint32_t number = wire_get32(mad + RMPP_SEGMENT);
	uint8_t fault;

	if (r->state == RMPP_DONE || (number >= 1 && number <= r->have)) {
		put_ack(r, mad, reply); /* he missed one */
		return true;
	}
	if (r->state == RMPP_FAILED)
		return false;
	fault = fault_of(r, mad);
	if (fault != RMPP_OK)
		return fail_receiving(r, mad, fault, reply);
	if (number > r->allowed)
		return false; /* out of the window: as if lost */
	if (r->ahead >> (number - r->have - 1) & 1)
		return false;
	if (!keep_segment(r, mad, number))
		return fail_receiving(r, mad, RMPP_NO_RESOURCES, reply);
	memcpy(r->header, mad, sizeof(r->header));
	r->due_ns = now_ns + r->limits.idle_ns;
	if (!advance(r, mad))
		return false;
	put_ack(r, mad, reply);
	return true;
}

bool
rmpp_receiver_take(struct rmpp_receiver *r, const uint8_t *mad, int64_t now_ns, uint8_t *reply)
{
	if (is_last_word(mad)) {
		if (r->state != RMPP_RUNNING)
			return false;
		r->state = RMPP_FAILED;
		r->status = mad[RMPP_STATUS] ? mad[RMPP_STATUS] : RMPP_UNSPECIFIED;
		r->by_peer = true;
		r->due_ns = INT64_MAX;
		rmpp_receiver_drop(r);
		return false;
	}
	if (mad[RMPP_VERSION] != 1 || mad[RMPP_TYPE] != RMPP_DATA) {
		if (r->state != RMPP_RUNNING)
			return false;
		return fail_receiving(
		    r, mad, mad[RMPP_VERSION] != 1 ? RMPP_BAD_VERSION : RMPP_BAD_TYPE, reply);
	}
	return take_data(r, mad, now_ns, reply);
}

bool
rmpp_receiver_tick(struct rmpp_receiver *r, int64_t now_ns, uint8_t *reply)
{
	if (r->state != RMPP_RUNNING || now_ns < r->due_ns)
		return false;
	return fail_receiving(r, r->header, RMPP_TOO_LONG, reply);
}
