/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as MADs that reach a master which has brought its subnet up: traps
 * from anywhere, SMInfo of strangers, nonsense.  Whatever they set off ends.
 *
 * The input is a row of records, one byte and up to 256 bytes of a MAD each;
 * the byte's low bits choose where it claims to come from.
 */
#include <string.h>

#include "core/wire/wire.h"
#include "tests/fuzz/house.h"

#define RECORD_BYTES (1 + MAD_BYTES)
#define RECORDS_MAX 8

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct house h = { 0 };

	fuzz_be_quiet();
	move_in(&h);
	sweeper_request(h.sweeper, SWEEP_HEAVY, "fuzz");
	settle(&h);
	must(h.n_done == 1 && sweeper_is_up(h.sweeper));
	for (size_t at = 0, i = 0; at < size && i < RECORDS_MAX; at += RECORD_BYTES, i++) {
		size_t n = size - at - 1 < MAD_BYTES ? size - at - 1 : MAD_BYTES;
		struct mad m = { .addr = { .lid = data[at] & 7 } };

		memcpy(m.bytes, data + at + 1, n);
		h.transport->on_mad(h.transport->on_mad_arg, &m);
		settle(&h);
	}
	sweeper_request(h.sweeper, SWEEP_LIGHT, "fuzz");
	settle(&h);
	sweeper_request(h.sweeper, SWEEP_HEAVY, "fuzz");
	settle(&h);
	must(h.n_done >= 2);
	move_out(&h);
	return 0;
}
