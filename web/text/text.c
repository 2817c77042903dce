/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/text.h"

#include <stdarg.h>
#include <stdio.h>

void
text_fini(struct text *t)
{
	fm_vec_fini(&t->v);
}

void
text_put(struct text *t, const char *bytes, size_t n)
{
	t->is_lost = t->is_lost || !fm_vec_append(&t->v, bytes, n);
}

void
text_words(struct text *t, const char *words)
{
	text_put(t, words, strlen(words));
}

void
text_printf(struct text *t, const char *format, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || !fm_vec_reserve(&t->v, t->v.n + (size_t)n + 1)) {
		t->is_lost = true;
	} else {
		vsnprintf(t->v.item + t->v.n, (size_t)n + 1, format, again);
		t->v.n += (size_t)n; /* its NUL is not text */
	}
	va_end(again);
}

void
text_label(struct text *t, const char *value)
{
	while (*value != '\0') {
		size_t n = strcspn(value, "\\\"\n");

		text_put(t, value, n);
		value += n;
		if (*value != '\0')
			text_words(t, *value == '\n' ? "\\n" : *value == '"' ? "\\\"" : "\\\\");
		value += *value != '\0';
	}
}

void
text_family(struct text *t, const char *name, const char *type, const char *help)
{
	text_printf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

char *
text_end_line(char *at, uint64_t value)
{
	char digits[TEXT_VALUE_BYTES], *from = digits + sizeof(digits);
	size_t n;

	*--from = '\n';
	do
		*--from = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	*--from = ' ';
	n = (size_t)(digits + sizeof(digits) - from);
	memcpy(at, from, n);
	return at + n;
}

void
text_count(struct text *t, const char *name, const char *labels, uint64_t value)
{
	char end[TEXT_VALUE_BYTES];

	text_words(t, name);
	text_words(t, labels);
	text_put(t, end, (size_t)(text_end_line(end, value) - end));
}

void
text_real(struct text *t, const char *name, const char *labels, double value)
{
	text_printf(t, "%s%s %.10g\n", name, labels, value);
}
