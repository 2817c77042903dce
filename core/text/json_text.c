/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/json_text.h"

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
