/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/wire.h - between fmd and fmd-engine-host, which are of one build.
 *
 * Packets on a socket pair, each a struct below.  A call brings the input with it: memory in
 * which structs of fmd/engine.h lie, with the addresses that they have where fmd would like the
 * child to map it and the tables, and the places of these (blob.h).
 */
#ifndef CORE_APART_WIRE_H
#define CORE_APART_WIRE_H

#include <fmd/engine.h>

#include "lib/error.h"

/* Descriptors of the child. */
#define WIRE_SOCKET 3
#define WIRE_IMAGE 4
#define WIRE_N_FDS 5

#define WIRE_BYTES 65536 /* of a packet, at most */
#define WIRE_NONE UINT64_MAX

enum wire_kind {
	WIRE_ENGINE = 1, /* child: uint32_t and a descriptor (descriptor.h) */
	WIRE_REFUSED,	 /* child: struct wire_line */
	WIRE_LOG,	 /* child: struct wire_line */
	WIRE_ANSWER,	 /* child */
	WIRE_CALL	 /* fmd, with the descriptors of input and tables */
};

struct wire_line {
	uint32_t kind;
	int32_t level;
	char text[504];
};

struct wire_call {
	uint32_t kind, debug; /* debug: its debug lines are wanted */
	uint64_t input_bytes, tables_bytes;
	uint64_t input_at, tables_at;		   /* addresses, as wanted */
	uint64_t fabric, request, options, tables; /* where in the input; WIRE_NONE: NULL */
	uint64_t places, n_places;		   /* of addresses, behind all */
	uint64_t scratch_bytes, fail_at;
	int64_t time_limit_ms;
};

struct wire_answer {
	uint32_t kind;
	int32_t rc;
	struct fm_error why;
	uint32_t sl_shape, sl2vl_shape;
	uint8_t n_vls_used;
	uint64_t ar_dropped;
	uint64_t main_bytes, worker_bytes; /* of scratch memory */
};

#endif
