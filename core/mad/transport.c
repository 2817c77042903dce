/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transport.c - from "umad:mlx5_0:1" or "sim:fabric" to a transport.
 */
#include "core/mad/transport.h"

#include <stdio.h>
#include <string.h>

static bool
is_kind(const char *spec, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(spec, kind, n) == 0 && (spec[n] == '\0' || spec[n] == ':');
}

const struct transport_kind *
transport_find(const struct transport_kind *const *kinds, const char *spec)
{
	while (*kinds != NULL && !is_kind(spec, (*kinds)->name))
		kinds++;
	return *kinds;
}

int
transport_open(const struct transport_kind *const *kinds, const char *spec, struct transport **out,
    struct fm_error *err)
{
	const struct transport_kind *kind = transport_find(kinds, spec);
	char usages[128] = "";
	size_t n = 0;

	if (kind != NULL)
		return kind->open(spec, out, err);
	for (size_t i = 0; kinds[i] != NULL && n < sizeof(usages); i++)
		n += (size_t)snprintf(
		    usages + n, sizeof(usages) - n, "%s%s", i > 0 ? " or " : "", kinds[i]->usage);
	return fm_fail(err, FM_E_CONFIG, "no transport is called \"%s\": it is %s", spec, usages);
}
