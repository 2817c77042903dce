/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transport.h - how MADs leave and arrive.
 *
 * A transport moves whole 256-byte MADs for one local port.  Two kinds exist:
 * umad (real HCAs, ibsim) and sim (in-process, virtual clock).  A program says which of
 * them it has (struct transport_kind): this folder knows umad only.  All calls are
 * made from the loop's thread; a umad transport keeps a receiver thread that
 * blocks in umad_recv and hands MADs over through a queue and an eventfd.
 */
#ifndef CORE_MAD_TRANSPORT_H
#define CORE_MAD_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

#define MAD_BYTES 256

/* Where a MAD goes or came from.  A directed-route SMP carries its path in
 * the MAD itself; dlid is then the permissive LID 0xffff. */
struct mad_addr {
	uint16_t lid;
	uint8_t sl, path_bits;
	uint32_t qpn, qkey; /* QP 0: SMPs (qkey 0); QP 1: 0x80010000 */
	uint16_t pkey_index;
};

struct mad {
	uint8_t bytes[MAD_BYTES]; /* wire order */
	struct mad_addr addr;
	int status;	     /* received: 0, or ETIMEDOUT: this is our own request, unanswered */
	uint32_t timeout_ms; /* sent: how long the answer may take; 0 = no answer expected */
};

struct local_port {
	uint64_t node_guid, port_guid, system_guid;
	uint8_t port, node_type; /* enum wire_node_type */
	uint16_t lid, sm_lid;
	uint8_t state; /* logical port state */
	char name[64]; /* "mlx5_0 port 1" */
};

struct transport;
struct transport_ops {
	const char *name;
	bool has_agents; /* others may be opened beside it, by the same spec (umad_agent.h) */
	/* Send; returns 0 or FM_E_SYSTEM.  The transport copies the MAD.  May be
	 * called from on_mad, but never calls it. */
	int (*send)(struct transport *t, const struct mad *m, struct fm_error *err);
	/* Deliver what has arrived to t->on_mad, waiting until `until_ns` of
	 * now_ns() at most for the first.  (sim: advances the virtual clock.)
	 * Returns the number delivered or a negative kind. */
	int (*poll)(struct transport *t, int64_t until_ns, struct fm_error *err);
	int64_t (*now_ns)(struct transport *t); /* monotonic; virtual in sim */
	/* A descriptor that is readable when poll() has something, or -1 (sim:
	 * call poll() whenever something is outstanding). */
	int (*fd)(struct transport *t);
	int (*local_port)(struct transport *t, struct local_port *out, struct fm_error *err);
	/* Hold or release the IsSM capability bit. */
	int (*set_is_sm)(struct transport *t, bool on, struct fm_error *err);
	void (*close)(struct transport *t);
};

struct transport {
	const struct transport_ops *ops;
	void (*on_mad)(void *arg, const struct mad *m); /* set by the transaction engine */
	void *on_mad_arg;
	unsigned max_window; /* requests the transport can hold unanswered */
};

/* A kind of transport that a program has.  Its specs are its name, alone or with ':' and more. */
struct transport_kind {
	const char *name;
	const char *usage; /* "umad[:CA[:PORT]]" */
	int (*open)(const char *spec, struct transport **out, struct fm_error *err);
	/* The local port of a spec as the kernel has it now, which opens nothing; NULL: of this
	 * kind there are no lists of ports (local_ports.h), which need both. */
	int (*look)(const char *spec, struct local_port *out, struct fm_error *err);
	/* The GUID of the port behind its cable, by a Get(NodeInfo).  FM_E_SYSTEM: no answer, for
	 * which it has waited 0.3 s. */
	int (*neighbour)(
	    const char *spec, uint64_t m_key, uint64_t *port_guid, struct fm_error *err);
};
extern const struct transport_kind transport_umad;

/* kinds: NULL ends it.  That whose name spec begins with, or NULL. */
const struct transport_kind *transport_find(
    const struct transport_kind *const *kinds, const char *spec);
/* FM_E_CONFIG where none has the name that spec begins with. */
int transport_open(const struct transport_kind *const *kinds, const char *spec,
    struct transport **out, struct fm_error *err);
int transport_open_umad(const char *spec, struct transport **out, struct fm_error *err);
int umad_look(const char *spec, struct local_port *out, struct fm_error *err);
int umad_neighbour(const char *spec, uint64_t m_key, uint64_t *port_guid, struct fm_error *err);

#endif
