/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/wire_bits.h - fields read and written the slow, obvious way.
 */
#ifndef TESTS_UNIT_WIRE_BITS_H
#define TESTS_UNIT_WIRE_BITS_H

#include <string.h>

#include "core/wire/wire.h"

/* Members are 1, 2, 4 or 8 bytes in the host's order. */
static inline uint64_t
get_member(const void *v, const struct wire_field *f)
{
	union {
		uint8_t b;
		uint16_t h;
		uint32_t w;
		uint64_t d;
	} x;

	memcpy(&x, (const char *)v + f->member_at, f->member_bytes);
	switch (f->member_bytes) {
	case 1:
		return x.b;
	case 2:
		return x.h;
	case 4:
		return x.w;
	default:
		return x.d;
	}
}

static inline void
set_member(void *v, const struct wire_field *f, uint64_t value)
{
	uint8_t b = (uint8_t)value;
	uint16_t h = (uint16_t)value;
	uint32_t w = (uint32_t)value;
	const void *from[] = { [1] = &b, [2] = &h, [4] = &w, [8] = &value };

	memcpy((char *)v + f->member_at, from[f->member_bytes], f->member_bytes);
}

static inline uint64_t
low_bits(unsigned width)
{
	return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* A field read bit by bit: slow, and obviously right. */
static inline uint64_t
bits_at(const uint8_t *wire, const struct wire_field *f)
{
	uint64_t x = 0;

	for (unsigned bit = f->at; bit < (unsigned)f->at + f->width; bit++)
		x = x << 1 | (wire[bit / 8] >> (7 - bit % 8) & 1);
	return x;
}

#endif
