/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/subnet/prefix_routes.h"

#include <inttypes.h>

#include "lib/error.h"
#include "lib/lines.h"
#include "lib/vec.h"

struct scan {
	const char *path;
	struct fm_lines in;
	struct fm_error *err;
};

static int
wrong(struct scan *s, const char *what)
{
	return fm_fail(s->err, FM_E_CONFIG,
	    "%.100s:%" PRIu32 ": %s is to be 1 to 16 hexadecimal digits or \"*\"", s->path,
	    s->in.line, what);
}

/* A hexadecimal number, with or without 0x, or "*". */
static int
number_or_any(struct scan *s, const char *what, uint64_t *value, bool *any)
{
	unsigned n_digits = 0;

	*value = 0;
	*any = false;
	if (fm_line_is_over(&s->in))
		return wrong(s, what);
	if (*s->in.at == '*') {
		s->in.at++;
		*any = true;
	} else {
		if (s->in.end - s->in.at > 2 && s->in.at[0] == '0' && (s->in.at[1] | 0x20) == 'x')
			s->in.at += 2;
		for (; s->in.at < s->in.end && fm_digit(*s->in.at) < 16; s->in.at++, n_digits++)
			*value = *value << 4 | (unsigned)fm_digit(*s->in.at);
	}
	if (s->in.at < s->in.end && *s->in.at != ' ' && *s->in.at != '\t' && *s->in.at != '\r')
		return wrong(s, what);
	return *any || (n_digits > 0 && n_digits <= 16) ? 0 : wrong(s, what);
}

static int
scan_line(struct scan *s, struct prefix_routes *routes)
{
	struct sa_prefix_route r = { 0 };
	int rc;

	if (fm_line_is_over(&s->in) || *s->in.at == '#')
		return 0;
	if ((rc = number_or_any(s, "a prefix", &r.prefix, &r.any_prefix)) != 0 ||
	    (rc = number_or_any(s, "a GUID", &r.guid, &r.any_guid)) != 0)
		return rc;
	if (!fm_line_is_over(&s->in) && *s->in.at != '#')
		return fm_fail(s->err, FM_E_CONFIG,
		    "%.100s:%" PRIu32
		    ": more than a prefix and a GUID on the line: 0xfec0000000000001 "
		    "0x0002c902000a1b2c is right",
		    s->path, s->in.line);
	if (!fm_vec_push(routes, r))
		return fm_fail(
		    s->err, FM_E_RESOURCE, "out of memory while reading %.100s", s->path);
	return 0;
}

int
prefix_routes_parse(const char *path, const char *bytes, size_t n_bytes,
    struct prefix_routes *routes, struct mistakes *all, struct fm_error *err)
{
	struct scan s = { .path = path, .in = fm_lines(bytes, n_bytes), .err = err };
	int rc = 0;

	*routes = (struct prefix_routes){ 0 };
	while (rc == 0 && fm_next_line(&s.in))
		if (scan_line(&s, routes) != 0)
			rc = mistakes_note(all, err);
	if (rc != 0)
		fm_vec_fini(routes);
	return rc;
}
