/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/book/counters.h"

static const char *const names[N_COUNTERS] = { [COUNTER_SYMBOL_ERRORS] = "SymbolErrorCounter",
	[COUNTER_LINK_RECOVERIES] = "LinkErrorRecoveryCounter",
	[COUNTER_LINK_DOWNED] = "LinkDownedCounter",
	[COUNTER_RCV_ERRORS] = "PortRcvErrors",
	[COUNTER_REMOTE_PHYSICAL] = "PortRcvRemotePhysicalErrors",
	[COUNTER_RELAY_ERRORS] = "PortRcvSwitchRelayErrors",
	[COUNTER_XMIT_DISCARDS] = "PortXmitDiscards",
	[COUNTER_XMIT_CONSTRAINT] = "PortXmitConstraintErrors",
	[COUNTER_RCV_CONSTRAINT] = "PortRcvConstraintErrors",
	[COUNTER_LINK_INTEGRITY] = "LocalLinkIntegrityErrors",
	[COUNTER_BUFFER_OVERRUN] = "ExcessiveBufferOverrunErrors",
	[COUNTER_VL15_DROPPED] = "VL15Dropped",
	[COUNTER_QP1_DROPPED] = "QP1Dropped",
	[COUNTER_XMIT_DATA] = "PortXmitData",
	[COUNTER_RCV_DATA] = "PortRcvData",
	[COUNTER_XMIT_PACKETS] = "PortXmitPkts",
	[COUNTER_RCV_PACKETS] = "PortRcvPkts",
	[COUNTER_XMIT_WAIT] = "PortXmitWait",
	[COUNTER_UNICAST_XMIT] = "PortUnicastXmitPkts",
	[COUNTER_UNICAST_RCV] = "PortUnicastRcvPkts",
	[COUNTER_MULTICAST_XMIT] = "PortMulticastXmitPkts",
	[COUNTER_MULTICAST_RCV] = "PortMulticastRcvPkts",
	[COUNTER_SYNC_HEADER] = "SyncHeaderErrorCounter",
	[COUNTER_UNKNOWN_BLOCK] = "UnknownBlockCounter",
	[COUNTER_LANE_ERRORS] = "ErrorDetectionCounter",
	[COUNTER_FEC_CORRECTED] = "FECCorrectableBlockCtr",
	[COUNTER_FEC_UNCORRECTED] = "FECUncorrectableBlockCtr",
	[COUNTER_FEC_SYMBOLS] = "PortFECCorrectedSymbolCtr" };

const char *
counter_name(enum counter c)
{
	return names[c];
}

/* Blocks that FEC has corrected are its work, and relay errors are packets back to where they came
 * from, as loops of multicast make them. */
int
counter_is_error(enum counter c)
{
	return (c <= COUNTER_QP1_DROPPED && c != COUNTER_RELAY_ERRORS) ||
	    c == COUNTER_SYNC_HEADER || c == COUNTER_UNKNOWN_BLOCK || c == COUNTER_FEC_UNCORRECTED;
}
