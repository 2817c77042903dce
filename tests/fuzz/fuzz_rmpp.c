/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as segments, ACKs and last words of RMPP, to an agent that is
 * sending two messages.  The input is a row of records, one byte and up to
 * 256 bytes of a MAD each.  Whatever comes: each send ends exactly once, what
 * is handed over has a sound length, what is held stays inside its bounds, and
 * in time nothing is held at all.
 */
#include <string.h>

#include "core/rmpp/rmpp_port.h"
#include "core/wire/wire.h"
#include "tests/fuzz/fuzz.h"

#define RECORD_BYTES (1 + MAD_BYTES)
#define S INT64_C(1000000000)
#define N_SENDS 2
#define SENT_BYTES 3000
#define MAX_BYTES 65536
#define PEERS 4

/* bits of a record's first byte: as a MAD of the class, with the TID of a send
 * of ours, after a second; the rest is the peer */
enum { SOUND = 1, OURS = 2, LATER = 4, PEER_SHIFT = 3 };

struct seen {
	unsigned ended[N_SENDS];
	unsigned n_out;
	uint8_t sum; /* of all that was handed over: so that all of it is read */
};

static void
count_out(void *arg, const uint8_t *mad, const struct mad_addr *to)
{
	struct seen *s = arg;

	must(rmpp_is_active(mad) || mad[RMPP_TYPE] != RMPP_DATA);
	s->n_out++;
}

static void
look_at_message(void *arg, const uint8_t *message, size_t length, const struct mad_addr *from)
{
	struct seen *s = arg;

	must(length >= rmpp_header_bytes(message[1]) && length <= MAX_BYTES);
	for (size_t i = 0; i < length; i++)
		s->sum ^= message[i];
}

static void
count_end(void *arg, uint64_t cookie, uint8_t status)
{
	((struct seen *)arg)->ended[cookie]++;
}

static void
make_sound(uint8_t *mad, uint8_t how)
{
	mad[1] = WIRE_CLASS_SA;
	mad[RMPP_VERSION] = 1;
	mad[RMPP_FLAGS] |= RMPP_ACTIVE;
	if (how & OURS) {
		mad[3] = 0x12; /* the way back of what we send */
		wire_put64(mad + 8, mad[15] & 1);
	}
}

static void
feed(struct rmpp_port *p, const uint8_t *data, size_t size, int64_t *now_ns)
{
	for (size_t at = 0; at < size; at += RECORD_BYTES) {
		size_t n = size - at - 1 < MAD_BYTES ? size - at - 1 : MAD_BYTES;
		struct mad_addr from = { .lid = (uint16_t)(1 + (data[at] >> PEER_SHIFT) % PEERS),
			.qpn = 1 };
		uint8_t mad[MAD_BYTES] = { 0 };

		memcpy(mad, data + at + 1, n);
		if (data[at] & SOUND)
			make_sound(mad, data[at]);
		if (data[at] & LATER) {
			*now_ns += S;
			rmpp_port_tick(p, *now_ns);
		}
		if (rmpp_is_active(mad))
			rmpp_port_take(p, mad, &from, *now_ns);
		must(rmpp_port_bytes(p) <= PEERS * 4 * MAX_BYTES + N_SENDS * SENT_BYTES);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t message[SENT_BYTES] = { 1, WIRE_CLASS_SA, 2, 0x92 };
	struct rmpp_port_limits l;
	struct seen seen = { .n_out = 0 };
	struct rmpp_port_ops ops = { count_out, look_at_message, count_end, &seen };
	struct mad_addr to = { .lid = 1, .qpn = 1 };
	struct rmpp_port *p;
	struct fm_error err;
	int64_t now_ns = S;

	rmpp_port_limits_default(&l);
	l.n_max = 64;
	l.n_peer_max = 4;
	l.transfer.max_bytes = MAX_BYTES;
	must((p = rmpp_port_new(&l, &ops)) != NULL);
	for (uint64_t i = 0; i < N_SENDS; i++) {
		wire_put64(message + 8, i);
		must(rmpp_port_send(p, message, SENT_BYTES, &to, NULL, i, now_ns, &err) == 0);
	}
	feed(p, data, size, &now_ns);
	for (int i = 0; i < 100; i++)
		rmpp_port_tick(p, now_ns += 10 * S);
	for (int i = 0; i < N_SENDS; i++)
		must(seen.ended[i] == 1);
	must(rmpp_port_bytes(p) == 0);
	must(rmpp_port_due(p) == INT64_MAX);
	rmpp_port_free(p);
	return 0;
}
