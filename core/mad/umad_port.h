/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/umad_port.h - which local InfiniBand port a "umad" transport is for.
 */
#ifndef CORE_MAD_UMAD_PORT_H
#define CORE_MAD_UMAD_PORT_H

#include "core/mad/transport.h"

struct umad_choice {
	char ca[64];	    /* empty: any */
	int port;	    /* 0: any */
	uint64_t port_guid; /* 0: not said; else ca and port follow from it */
};

/* "umad[:CA[:PORT]]" or "umad:0xPORTGUID"; FM_E_CONFIG when it is not that. */
int umad_parse_spec(const char *spec, struct umad_choice *c, struct fm_error *err);
/* Fill in what is open: an active port before one that is only up, in the
 * order of the CAs' names; one without a link if it is the only one.  FM_E_SYSTEM when there is
 * none. */
int umad_choose_port(struct umad_choice *c, struct fm_error *err);
/* Are the adapter and the port there that a spec names?  FM_E_CONFIG.  Where the host has no
 * adapter at all *is_told is false, and nothing is wrong. */
int umad_check_spec(const char *spec, bool *is_told, struct fm_error *err);
/* As sysfs has it: on ibsim LIDs and states there are those of the start. */
int umad_read_port(const struct umad_choice *c, struct local_port *out, struct fm_error *err);

#endif
