/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/register.h - tells the SA the IP addresses of this host's IPoIB interfaces.
 *
 * Each address is a ServiceRecord (core/wire/ip_service.h) of the port that its interface has, with
 * a lease.  It is set anew at a half of the lease, when it changes, when its port obeys another SM,
 * comes up or has another LID, and when hosts are not told of it though the SA has taken it; it is
 * deleted when the interface has it no more, and at a clean end.  Where the SA does not answer it
 * is asked again, with a random while between.
 *
 * One thread.  Every 2 s three short files of each port are read; the kernel tells of its
 * interfaces.  O(ports + addresses).
 */
#ifndef HOST_AGENT_REGISTER_H
#define HOST_AGENT_REGISTER_H

#include "host/agent/replica.h"

#define REGISTER_MOST 64 /* addresses of a host: fmd publishes so many of a port */

struct registrar_set {
	const char *file; /* of addresses (interfaces.h); NULL: the kernel is asked */
	uint32_t lease_s;
};
struct registrar;

/* To be called while there is one thread: from then on registrar_run() takes SIGTERM and SIGINT.
 * FM_E_CONFIG: the file is wrong; FM_E_SYSTEM. */
int registrar_open(const struct registrar_set *set, struct registrar **out, struct fm_error *err);
/* Until a signal ends it: what is registered is withdrawn, and the process ends with 0. */
_Noreturn void registrar_run(struct registrar *r);
/* What hosts are told now: addresses that the SA has taken, and of which hosts are not told, are
 * registered again; one that hosts are told another port has is told in the log.  Any thread. */
void registrar_judge(struct registrar *r, const struct replica *told);

#endif
