/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/mistakes.h"

#include <stdlib.h>
#include <string.h>

int
mistakes_note(struct mistakes *all, const struct fm_error *err)
{
	if (all == NULL || err->kind != FM_E_CONFIG)
		return (int)err->kind;
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->sentence[i], err->msg) == 0)
			return 0;
	if (all->n < MISTAKES_MAX && (all->sentence[all->n] = strdup(err->msg)) != NULL)
		all->n++;
	else
		all->n_more++;
	return 0;
}

size_t
mistakes_count(const struct mistakes *all)
{
	return all != NULL ? all->n + all->n_more : 0;
}

void
mistakes_fini(struct mistakes *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->sentence[i]);
	*all = (struct mistakes){ 0 };
}
