/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fmctl/hostlist.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 9
#define MOST_NAMES 1000000

/* ------------------------------------------------------------------ writing */

/* A name up to the number at its end, which has so many digits; none: it has no number. */
struct numbered {
	size_t stem, digits;
	unsigned long number;
};

static struct numbered
split(const char *name)
{
	struct numbered n = { .stem = strlen(name) };

	while (n.stem > 0 && n.digits < MOST_DIGITS && name[n.stem - 1] >= '0' &&
	    name[n.stem - 1] <= '9') {
		n.stem--;
		n.digits++;
	}
	n.number = n.digits > 0 ? strtoul(name + n.stem, NULL, 10) : 0;
	return n;
}

/* Do they stand in the same brackets? */
static bool
is_alike(const char *a, const struct numbered *x, const char *b, const struct numbered *y)
{
	return x->digits > 0 && y->digits > 0 && x->stem == y->stem && memcmp(a, b, x->stem) == 0;
}

/* Is b the one behind a, written as a range writes it? */
static bool
is_next(const struct numbered *x, const struct numbered *y, const char *b)
{
	bool padded = y->digits > 1 && b[y->stem] == '0';

	return y->number == x->number + 1 && (y->digits == x->digits || !padded);
}

static bool
range_may_grow(const char *a, const struct numbered *x, const struct numbered *y)
{
	return x->digits == y->digits || a[x->stem] != '0';
}

void
hostlist_write(const char *const *name, size_t n, FILE *out)
{
	for (size_t i = 0; i < n;) {
		struct numbered first = split(name[i]);
		size_t end = i + 1;

		for (; end < n; end++) {
			struct numbered next = split(name[end]);

			if (!is_alike(name[i], &first, name[end], &next))
				break;
		}
		fputs(i > 0 ? "," : "", out);
		if (end == i + 1) {
			fputs(name[i++], out);
			continue;
		}
		fprintf(out, "%.*s[", (int)first.stem, name[i]);
		for (size_t from = i; from < end;) {
			struct numbered x = split(name[from]), last = x;
			size_t to = from + 1;

			for (; to < end; to++) {
				struct numbered y = split(name[to]);

				if (!is_next(&last, &y, name[to]) ||
				    !range_may_grow(name[from], &x, &y))
					break;
				last = y;
			}
			fprintf(out, "%s%s", from > i ? "," : "", name[from] + x.stem);
			if (to > from + 1)
				fprintf(out, "-%s", name[to - 1] + last.stem);
			from = to;
		}
		fputc(']', out);
		i = end;
	}
}

/* ------------------------------------------------------------------- reading */

struct reading {
	bool (*take)(void *arg, const char *name);
	void *arg;
	size_t n;
};

/* One item without a comma outside of brackets; `made` has what stands before it. */
static bool expand(struct reading *r, const char *made, const char *at, const char *end);

/* "1-3,07" within brackets, and what stands behind them. */
static bool
expand_ranges(struct reading *r, const char *made, const char *at, const char *close,
    const char *behind, const char *end)
{
	while (at < close) {
		char *stop;
		unsigned long from = strtoul(at, &stop, 10), to = from;
		int width = (int)(stop - at);

		if (width < 1 || width > MOST_DIGITS || *at < '0' || *at > '9')
			return false;
		at = stop;
		if (*at == '-') {
			to = strtoul(at + 1, &stop, 10);
			if (at[1] < '0' || at[1] > '9' || stop - at > MOST_DIGITS + 1 || to < from)
				return false;
			at = stop;
		}
		if ((at != close && *at != ',') || to - from > MOST_NAMES)
			return false;
		for (unsigned long k = from; k <= to; k++) {
			char name[HOSTLIST_NAME];

			if ((size_t)snprintf(name, sizeof(name), "%s%0*lu", made, width, k) >=
				sizeof(name) ||
			    !expand(r, name, behind, end))
				return false;
		}
		at += at < close;
	}
	return true;
}

static bool
expand(struct reading *r, const char *made, const char *at, const char *end)
{
	const char *open = memchr(at, '[', (size_t)(end - at));
	const char *close = open != NULL ? memchr(open, ']', (size_t)(end - open)) : NULL;
	const char *stem_end = open != NULL ? open : end;
	char name[HOSTLIST_NAME];

	if ((size_t)snprintf(name, sizeof(name), "%s%.*s", made, (int)(stem_end - at), at) >=
	    sizeof(name))
		return false;
	if (open == NULL)
		return name[0] != '\0' && ++r->n <= MOST_NAMES && r->take(r->arg, name);
	return close != NULL && close > open + 1 &&
	    expand_ranges(r, name, open + 1, close, close + 1, end);
}

bool
hostlist_each(const char *text, size_t len, bool (*take)(void *arg, const char *name), void *arg)
{
	struct reading r = { take, arg, 0 };
	const char *at = text, *end = text + len;

	while (at < end) {
		const char *stop = at;
		bool within = false;

		for (; stop < end && (within || *stop != ','); stop++)
			within = *stop == '[' || (within && *stop != ']');
		if (!expand(&r, "", at, stop))
			return false;
		at = stop + (stop < end);
	}
	return len > 0;
}
