/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool
number_parse(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return *end == '\0' && errno == 0;
}
