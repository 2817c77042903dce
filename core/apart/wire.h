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
#include <fmd/vendor.h>

#include "core/abi/plugin_check.h"
#include "lib/error.h"

/* Descriptors of the child. */
#define WIRE_SOCKET 3
#define WIRE_IMAGE 4
#define WIRE_N_FDS 5

#define WIRE_BYTES 65536 /* of a packet, at most */
#define WIRE_NONE UINT64_MAX

enum wire_kind {
	/* child: uint32_t and a descriptor (descriptor.h), or struct wire_programmer */
	WIRE_ENGINE = 1,
	WIRE_REFUSED,  /* child: struct wire_line */
	WIRE_LOG,      /* child: struct wire_line */
	WIRE_ANSWER,   /* child */
	WIRE_CALL,     /* fmd, with the descriptors of input and tables */
	WIRE_QUESTION, /* fmd, to a programmer; of WIRE_BLOCKS with those of input and blocks */
	WIRE_REPLY     /* a programmer's child */
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

/* A programmer of adaptive routing: fields of struct fm_vendor, texts ended, ids with their end. */
struct wire_programmer {
	uint32_t kind;
	uint32_t magic, size, info_modifier;
	uint16_t abi_major, abi_minor, info_attr, zero;
	char name[256], summary[512];
	struct fm_vendor_id ids[PLUGIN_MOST_IDS];
};

enum wire_asked { WIRE_READ_INFO, WIRE_TURN_OFF, WIRE_TURN_ON, WIRE_BLOCKS };

struct wire_question {
	uint32_t kind, asked;
	uint64_t number; /* the reply has it */
	uint8_t info[FM_VENDOR_BYTES];
	struct fm_vendor_mode mode;
	struct wire_call rows; /* its input, with struct fm_vendor_rows as the request */
};

/* Blocks lie in memory that both have: [FM_VENDOR_BLOCKS] of them. */
struct wire_reply {
	uint32_t kind;
	int32_t rc; /* of read_info(), turn() */
	uint64_t number;
	uint8_t data[FM_VENDOR_BYTES];
	int32_t n_blocks; /* as n_blocks() says */
	uint32_t n_given; /* of them, before block() failed */
	uint16_t n_groups;
	uint8_t is_on, zero[5];
};

#endif
