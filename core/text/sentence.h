/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/sentence.h - a sentence that grows in an array of its caller.
 */
#ifndef CORE_TEXT_SENTENCE_H
#define CORE_TEXT_SENTENCE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct sentence {
	char *text; /* [size], size > 0; ends with '\0' from the first sentence_add() on */
	size_t size, at;
};

/* Words at the end; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) static inline void
sentence_add(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->text + s->at, s->size - s->at, fmt, ap);
	va_end(ap);
	s->at += n > 0 ? (size_t)n : 0;
	if (s->at >= s->size)
		s->at = s->size - 1;
}

#endif
