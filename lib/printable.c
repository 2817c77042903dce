/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/printable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Nobody sees them, or they change how others are seen. */
static const struct {
	uint32_t first, last;
} hidden[] = { { 0x80, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xd800, 0xdfff },
	{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe0fff },
	{ 0x110000, UINT32_MAX } };

static bool
is_hidden(uint32_t sign)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (sign >= hidden[i].first && sign <= hidden[i].last)
			return true;
	return false;
}

/* The sign at p of so many bytes; 0: these are none (RFC 3629). */
static size_t
decode(const unsigned char *p, uint32_t *sign)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80 ? 1
	    : *p < 0xc0	     ? 0
	    : *p < 0xe0	     ? 2
	    : *p < 0xf0	     ? 3
	    : *p < 0xf8	     ? 4
			     : 0;

	if (n < 2) {
		*sign = *p;
		return n;
	}
	*sign = *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) /* also where the text ends */
			return 0;
		*sign = *sign << 6 | (p[i] & 0x3fu);
	}
	return *sign >= least[n] ? n : 0;
}

void
fm_printable(char *text)
{
	unsigned char *from = (unsigned char *)text, *to = from;

	while (*from != '\0') {
		uint32_t sign;
		size_t n = decode(from, &sign);

		if (n == 1) {
			*to++ = sign < ' ' || sign == 0x7f ? ' ' : (unsigned char)sign;
		} else if (n == 0 || is_hidden(sign)) {
			*to++ = '?';
		} else {
			memmove(to, from, n);
			to += n;
		}
		from += n > 0 ? n : 1;
	}
	*to = '\0';
}
