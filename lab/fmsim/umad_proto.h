/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/umad_proto.h - what fmsim and libfmsim-umad.so say to each other.
 *
 * A stream socket of one machine, host byte order, both of one release.  A
 * connection begins with hello and welcome, and then is one thing:
 *
 *	FILE	an open umad port: frames in both directions; its descriptor is
 *		what umad_get_fd() returns, so that any poll() works on it
 *	CALL	calls and answers, one after the other: registering agents of
 *		files, looking at ports
 *	ISSM	an open issm device: IsSM is set until it is closed
 *	CONSOLE	lines of commands, lines of answers
 */
#ifndef LAB_FMSIM_UMAD_PROTO_H
#define LAB_FMSIM_UMAD_PROTO_H

#include <stdint.h>

#define FMSIM_MAGIC 0x464d5302u /* its last byte counts the versions */
#define FMSIM_CA_PORTS 10	/* as UMAD_CA_MAX_PORTS, port 0 included */
#define FMSIM_PKEYS 64
#define FMSIM_MESSAGE_MAX (128u << 20)
#define FMSIM_LEAST_BYTES 256 /* a MAD */

enum fmsim_kind { FMSIM_FILE = 1, FMSIM_CALL, FMSIM_ISSM, FMSIM_CONSOLE };

struct fmsim_hello {
	uint32_t magic, kind;
	uint32_t port; /* FILE, ISSM */
	char node[64]; /* id or GUID; empty: the first host */
};
struct fmsim_welcome {
	int32_t error; /* 0 or an errno */
	uint32_t file; /* FILE: its number in calls */
};

/* FILE: a message and what umad tells of it, followed by `length` bytes.  From the server what is
 * shorter is filled up to FMSIM_LEAST_BYTES, so that a MAD is one read, as it is of a kernel. */
struct fmsim_frame {
	uint32_t length, agent, status;
	uint32_t timeout_ms, retries; /* to the server */
	uint32_t qpn, qkey;
	uint16_t lid, pkey_index;
	uint8_t sl, path_bits, unused[2];
};

enum fmsim_op { FMSIM_REGISTER = 1, FMSIM_UNREGISTER, FMSIM_LOOK };
struct fmsim_call {
	uint32_t op;
	uint32_t file, agent; /* agent: UNREGISTER */
	uint8_t mgmt_class, class_version, rmpp_version, user_rmpp;
	uint32_t oui, unused;
	uint64_t methods[2];
	char node[64]; /* LOOK */
};
/* Followed by a struct fmsim_ca when LOOK has found it. */
struct fmsim_answer {
	int32_t value; /* an agent's number, 0, or a negative errno */
};

struct fmsim_port {
	uint64_t guid, gid_prefix;
	uint32_t capability_mask, rate_gbps;
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl, state, phys_state;
	uint16_t pkeys[FMSIM_PKEYS];
};
struct fmsim_ca {
	uint64_t node_guid, system_guid;
	uint32_t vendor_id, device_id, revision;
	uint32_t node_type, n_ports;
	uint32_t place; /* the port that a program gets unless it says */
	struct fmsim_port ports[FMSIM_CA_PORTS];
};

#endif
