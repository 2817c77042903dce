/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/conf/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *
json_text(const char *text)
{
	json_t *o = json_string(text);
	char *plain = o == NULL ? strdup(text) : NULL;

	for (char *p = plain; p != NULL && *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	if (plain != NULL)
		o = json_string(plain);
	free(plain);
	return o;
}
