/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/cca/cca.h - the congestion control agent of a simulated switch, or of a port of a CA (IBA
 * annex A10.4).
 *
 * It keeps what is set and does nothing with it; it marks packets when told to.  Its CC_Key is
 * minded as a B_Key is (IBA 16.2.4), which A10.4.2 has in mind:
 *
 *	no key in the agent, or that of the MAD	all is answered
 *	another one, Get of ClassPortInfo or CongestionKeyInfo	answered; CC_Key shows as 0 while it
 *						is protected
 *	another one, another Get		answered, unless the key is protected
 *	another one, Set			not answered
 *
 * The last three count as violations and start the lease; when it has run out the key is protected
 * no more.  A MAD with the right key stops it.
 *
 * It knows no fabric, no network and no clock of its own.
 */
#ifndef LAB_CCA_CCA_H
#define LAB_CCA_CCA_H

#include "core/wire/congestion.h"

#define CCA_BLOCKS_MOST 4 /* of the CongestionControlTable */
#define CCA_PORT_BLOCKS 8
#define CCA_LOG_BYTES 220

/* What is wrong with an agent. */
enum cca_manner {
	CCA_SOUND,
	CCA_SILENT,	 /* it does not answer */
	CCA_ABSENT,	 /* it answers that there is no such class */
	CCA_FORGETFUL,	 /* it answers a Set as if it had been done, and keeps nothing */
	CCA_EMPTY,	 /* its answers end behind their header */
	CCA_OTHER_ATTR,	 /* they are of another attribute */
	CCA_OTHER_BLOCK, /* ... of another modifier */
	CCA_GARBAGE,	 /* they are bytes of chance */
	CCA_MANNERS
};

struct cca {
	uint8_t manner; /* enum cca_manner */
	uint8_t n_blocks;
	struct wire_cc_key_info key;
	int64_t lease_end_ns; /* 0: it does not run */
	uint32_t chance;
	union { /* as on the wire */
		struct {
			uint8_t sw[WIRE_CC_SWITCH_BYTES];
			uint8_t ports[CCA_PORT_BLOCKS][WIRE_CC_PORTS_BYTES];
			uint8_t log[CCA_LOG_BYTES]; /* since it was last read; entries stay */
		};
		struct {
			uint8_t ca[WIRE_CC_CA_BYTES];
			uint8_t table[CCA_BLOCKS_MOST][WIRE_CC_TABLE_BYTES];
		};
	};
};

/* As a node has it that is new. */
void cca_init(struct cca *c);
/* As after a reboot: what was set is gone, what it is like stays. */
void cca_reboot(struct cca *c);
/* A word on what it is like: "sound", "silent", "absent", "forgetful", "empty", "otherattr",
 * "otherblock", "garbage", "blocks=N", "key=NUMBER", "protect=0|1", "lease=SECONDS"; of a switch
 * "own=PORT", the port has a setting of its own, and "marks=PORT:SLID:DLID:SL", it has marked a
 * packet there.  False: it is none of these, and nothing changes. */
bool cca_say(struct cca *c, const char *word);
#define CCA_WORDS \
	"sound|silent|absent|forgetful|empty|otherattr|otherblock|garbage|blocks=N|key=NUMBER|" \
	"protect=0|1|lease=SECONDS|own=PORT|marks=PORT:SLID:DLID:SL"

/* Handle the request and turn it into its answer.  False: nothing is answered. */
bool cca_handle(struct cca *c, bool is_switch, int64_t now_ns, uint8_t mad[WIRE_MAD_BYTES]);

#endif
