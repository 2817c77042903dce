/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/health/evidence.h"

const struct evidence_row evidence_rows[N_EVIDENCE] = {
	[EVIDENCE_DOWNED] = { COUNTER_LINK_DOWNED, "link_downed", 1, 10, ACCUSES_WIRE },
	{ COUNTER_LINK_RECOVERIES, "link_recoveries", 1, 10, ACCUSES_WIRE },
	{ COUNTER_FEC_UNCORRECTED, "fec_uncorrected", 1, 10, ACCUSES_SENDER },
	{ COUNTER_SYMBOL_ERRORS, "symbol_errors", 10, 100, ACCUSES_SENDER },
	{ COUNTER_RCV_ERRORS, "receive_errors", 10, 100, ACCUSES_SENDER },
	{ COUNTER_LINK_INTEGRITY, "link_integrity_errors", 10, 100, ACCUSES_SENDER },
	{ COUNTER_BUFFER_OVERRUN, "buffer_overruns", 10, 100, ACCUSES_SENDER },
	{ COUNTER_SYNC_HEADER, "sync_header_errors", 10, 100, ACCUSES_SENDER },
	{ COUNTER_UNKNOWN_BLOCK, "unknown_blocks", 10, 100, ACCUSES_SENDER },
	{ COUNTER_FEC_CORRECTED, "fec_corrected", 0, 0, ACCUSES_NOBODY },
};
