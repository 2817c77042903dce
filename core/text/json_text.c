/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/printable.h"

json_t *
json_text(const char *text)
{
	json_t *o = json_string(text);
	char *plain = o == NULL ? strdup(text) : NULL;

	if (plain != NULL) {
		fm_printable(plain);
		o = json_string(plain);
	}
	free(plain);
	return o;
}

json_t *
json_guid(uint64_t guid)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return json_string_nocheck(text);
}
