/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transport.c - from "umad:mlx5_0:1" or "sim:fabric" to a transport.
 */
#include "core/mad/transport.h"

#include <string.h>

static bool
is_kind(const char *spec, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(spec, kind, n) == 0 && (spec[n] == '\0' || spec[n] == ':');
}

int
transport_open(const char *spec, struct transport **out, struct fm_error *err)
{
	if (is_kind(spec, "umad"))
		return transport_open_umad(spec, out, err);
	if (is_kind(spec, "sim"))
		return transport_open_sim(spec, out, err);
	return fm_fail(err, FM_E_CONFIG,
	    "no transport is called \"%s\": it is umad[:CA[:PORT]] or sim:FABRIC", spec);
}
