/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/lines.h - a text taken apart line by line, for readers of small formats.
 *
 *	struct fm_lines in = fm_lines(bytes, n);
 *	while (fm_next_line(&in))	in.at .. in.end is line number in.line
 */
#ifndef FM_LIB_LINES_H
#define FM_LIB_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fm_lines {
	const char *at, *end; /* what is left of the line, without its newline */
	uint32_t line;	      /* its number, from 1 */
	const char *next, *stop;
};

/* The text is borrowed. */
static inline struct fm_lines
fm_lines(const char *text, size_t n_bytes)
{
	return (struct fm_lines){ .next = text, .stop = text + n_bytes };
}

static inline bool
fm_next_line(struct fm_lines *in)
{
	const char *newline;

	if (in->next >= in->stop)
		return false;
	newline = memchr(in->next, '\n', (size_t)(in->stop - in->next));
	in->at = in->next;
	in->end = newline != NULL ? newline : in->stop;
	in->next = in->end + 1;
	in->line++;
	return true;
}

/* Is the rest of the line blank?  Blanks are passed over. */
static inline bool
fm_line_is_over(struct fm_lines *in)
{
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\r'))
		in->at++;
	return in->at == in->end;
}

/* Value of a digit up to base 16; 99 is none. */
static inline int
fm_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Does the line go on with 0x and something?  Then that is passed over. */
static inline bool
fm_line_0x(struct fm_lines *in)
{
	if (in->end - in->at < 3 || in->at[0] != '0' || (in->at[1] | 0x20) != 'x')
		return false;
	in->at += 2;
	return true;
}

/* Digits of the base; how many, as far as they go.  More than 16 overflow *v. */
static inline int
fm_line_digits(struct fm_lines *in, int base, uint64_t *v)
{
	int n = 0;

	for (*v = 0; in->at < in->end && fm_digit(*in->at) < base; n++)
		*v = *v * (uint64_t)base + (uint64_t)fm_digit(*in->at++);
	return n;
}

#endif
