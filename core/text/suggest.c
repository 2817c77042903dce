/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LONGEST 64 /* letters; longer words are nobody's typo */

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool
are_alike(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment, three rows of the matrix at a time. */
static unsigned
edit_distance(const char *a, const char *b)
{
	unsigned row[3][LONGEST + 1], *before = row[0], *above = row[1], *here = row[2], *t;
	size_t na = strlen(a), nb = strlen(b);

	if (na > LONGEST || nb > LONGEST)
		return UINT_MAX;
	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		here[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			here[j] = least(least(above[j], here[j - 1]) + 1,
			    above[j - 1] + !are_alike(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && are_alike(a[i - 1], b[j - 2]) &&
			    are_alike(a[i - 2], b[j - 1]))
				here[j] = least(here[j], before[j - 2] + 1);
		}
		t = before, before = above, above = here, here = t;
	}
	return above[nb];
}

void
suggest_init(struct suggestion *s, const char *wanted)
{
	s->wanted = wanted;
	s->best = NULL;
	s->distance = UINT_MAX;
}

void
suggest_offer(struct suggestion *s, const char *word)
{
	unsigned d = edit_distance(s->wanted, word);

	if (d < s->distance) {
		s->distance = d;
		s->best = word;
	}
}

const char *
suggest_best(const struct suggestion *s)
{
	/* A third of the letters may be wrong: more is another word. */
	return s->best != NULL && s->distance <= (strlen(s->wanted) + 2) / 3 ? s->best : NULL;
}
