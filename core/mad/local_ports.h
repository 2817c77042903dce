/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/local_ports.h - the ports of this host that fmd may work on, one at a time.
 *
 * Which of them have a link is read as the kernel has it, without opening any.  Before fmd goes
 * over to another one the node behind that one's cable is asked who it is: a port on another
 * subnet is not gone over to.
 */
#ifndef CORE_MAD_LOCAL_PORTS_H
#define CORE_MAD_LOCAL_PORTS_H

#include "core/mad/transport.h"

#define LOCAL_PORTS_MAX 8

/* What has been said of a port that has a link and is not gone over to. */
enum local_port_said { PORT_SAID_NOTHING, PORT_IS_SILENT, PORT_IS_FOREIGN, PORT_IS_REFUSED };

struct local_ports {
	const struct transport_kind *kind;
	unsigned n, used; /* used: the one that fmd works on */
	struct {
		const char *spec;     /* borrowed */
		struct local_port is; /* as it was last looked at; state 0: it is not there */
		enum local_port_said said;
	} port[LOCAL_PORTS_MAX];
};

/* Does the subnet that we rule know the port with this GUID? */
typedef bool (*local_ports_knows)(void *arg, uint64_t port_guid);

/* specs: [n], of one kind, borrowed, in order of preference.  More than one: looked at, and the
 * first that has a link is `used`, or the first that is there. */
void local_ports_init(struct local_ports *p, const struct transport_kind *const *kinds,
    const char *const *specs, unsigned n);
/* Read them all; reads of some files of the kernel for each.  Of a single one nothing is read. */
void local_ports_look(struct local_ports *p);
bool local_ports_has_link(const struct local_ports *p, unsigned i);
static inline const char *
local_ports_spec(const struct local_ports *p)
{
	return p->port[p->used].spec;
}
/* As an administrator names it: its spec without the kind. */
const char *local_ports_name(const struct local_ports *p, unsigned i);
/* The one behind `used`, around the list, that has a link and may be gone over to; n: none.  Why
 * one with a link may not is said once.  m_key: that opens its neighbour, 0: none.  May wait 0.3 s
 * for each neighbour that does not answer. */
unsigned local_ports_next(
    struct local_ports *p, uint64_t m_key, local_ports_knows knows, void *arg);
/* It could not be opened, which is said: it is not tried again while its link stays. */
void local_ports_refuse(struct local_ports *p, unsigned i, const struct fm_error *why);

#endif
