/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/sm_proof.c - what is under the sum, and the sum.
 */
#include "core/wire/sm_proof.h"

#include <string.h>

#include "core/wire/wire.h"

#define PROOF_MARK UINT64_C(0x666d642070726f6f) /* "fmd proo" */
#define MARK_AT 32
#define NUMBER_AT 40
#define SUM_AT 48
#define SM_KEY_AT 8
#define INFO_BYTES 21

static inline uint64_t
turn(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void
mix(uint64_t v[4], int rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn(v[1], 13) ^ v[0];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] = turn(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn(v[1], 17) ^ v[2];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] = turn(v[2], 32);
	}
}

/* Little endian, whatever the machine. */
static uint64_t
word(const uint8_t *at, unsigned n)
{
	uint64_t w = 0;

	for (unsigned i = 0; i < n; i++)
		w |= (uint64_t)at[i] << 8 * i;
	return w;
}

static void
absorb_word(uint64_t v[4], uint64_t w)
{
	v[3] ^= w;
	mix(v, 2);
	v[0] ^= w;
}

uint64_t
siphash(const uint8_t *at, unsigned n, uint64_t k0, uint64_t k1)
{
	uint64_t v[4] = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
	unsigned i;

	for (i = 0; i + 8 <= n; i += 8)
		absorb_word(v, word(at + i, 8));
	absorb_word(v, word(at + i, n - i) | (uint64_t)(n & 0xff) << 56);
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The number, and SMInfo as it is shown to a stranger. */
static uint64_t
sum_of(const uint8_t *data, uint64_t number, uint64_t sm_key)
{
	uint8_t bytes[8 + INFO_BYTES];

	wire_put64(bytes, number);
	memcpy(bytes + 8, data, INFO_BYTES);
	wire_put64(bytes + 8 + SM_KEY_AT, 0);
	return siphash(bytes, sizeof(bytes), sm_key, PROOF_MARK);
}

bool
proof_is_asked(const uint8_t *data)
{
	return wire_get64(data + MARK_AT) == PROOF_MARK;
}

void
proof_ask(uint8_t *data, uint64_t number)
{
	wire_put64(data + MARK_AT, PROOF_MARK);
	wire_put64(data + NUMBER_AT, number);
}

void
proof_give(uint8_t *data, const uint8_t *asked, uint64_t sm_key)
{
	uint64_t number = wire_get64(asked + NUMBER_AT);

	if (sm_key == 0 || !proof_is_asked(asked))
		return;
	proof_ask(data, number);
	wire_put64(data + SUM_AT, sum_of(data, number, sm_key));
}

bool
proof_holds(const uint8_t *data, const uint8_t *asked, uint64_t sm_key)
{
	uint64_t number = wire_get64(asked + NUMBER_AT);

	return sm_key != 0 && proof_is_asked(asked) && proof_is_asked(data) &&
	    wire_get64(data + NUMBER_AT) == number &&
	    wire_get64(data + SUM_AT) == sum_of(data, number, sm_key);
}
