/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/suggest.h - "did you mean": the known word nearest to a misspelt
 * one by edit distance (insert, delete, replace, swap of neighbours).
 * O(letters of both) each.
 */
#ifndef CORE_TEXT_SUGGEST_H
#define CORE_TEXT_SUGGEST_H

struct suggestion {
	const char *wanted;
	const char *best; /* borrowed from the offer */
	unsigned distance;
};

void suggest_init(struct suggestion *s, const char *wanted);
void suggest_offer(struct suggestion *s, const char *word);
/* The nearest word, or NULL when none is near enough to be meant. */
const char *suggest_best(const struct suggestion *s);

#endif
