/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "core/mad/umad_agent.h"

#ifndef HAVE_UMAD

int
umad_agent_open(const char *spec, const struct umad_agent_class *c, struct umad_agent **out,
    struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "\"%s\": this fmd was built without libibumad", spec);
}

void
umad_agent_close(struct umad_agent *a)
{
	(void)a;
}

int
umad_agent_receive(struct umad_agent *a, int timeout_ms, struct umad_message *m)
{
	return -1;
}

int
umad_agent_send(struct umad_agent *a, const struct mad_addr *to, const uint8_t *bytes,
    size_t n_bytes, int timeout_ms, int n_retries, struct fm_error *err)
{
	return fm_fail(err, FM_E_BUG, "no agent");
}

int
umad_look(const char *spec, struct local_port *out, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "\"%s\": this fmd was built without libibumad", spec);
}

int
umad_neighbour(const char *spec, uint64_t m_key, uint64_t *port_guid, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "\"%s\": this fmd was built without libibumad", spec);
}

#else

#include <errno.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/requests.h"
#include "core/mad/umad_port.h"

#define NEIGHBOUR_MS 100 /* for an answer of the other end of a cable */
#define NEIGHBOUR_TRIES 3
#define MOST_MESSAGE_BYTES (16u << 20) /* a longer one is not for us */

struct umad_agent {
	struct umad_choice choice;
	int port_id, agent_id;
	uint8_t *in, *out; /* umad header and message */
	size_t in_room, out_room;
};

void
umad_agent_close(struct umad_agent *a)
{
	if (a == NULL)
		return;
	if (a->agent_id >= 0)
		umad_unregister(a->port_id, a->agent_id);
	if (a->port_id >= 0)
		umad_close_port(a->port_id);
	free(a->in);
	free(a->out);
	free(a);
}

/* Room for a message of n bytes behind the kernel's header. */
static bool
make_room_for_message(uint8_t **buffer, size_t *room, size_t n)
{
	size_t want = umad_size() + n;
	uint8_t *p;

	if (want <= *room)
		return true;
	p = realloc(*buffer, want);
	if (p == NULL)
		return false;
	*buffer = p;
	*room = want;
	return true;
}

static int
open_agent(struct umad_agent *a, const struct umad_agent_class *c, struct fm_error *err)
{
	unsigned bits = 8 * sizeof(long);
	long mask[16 / sizeof(long)] = { 0 };

	for (size_t k = 0; k < sizeof(c->methods) && c->methods[k] != 0; k++)
		mask[c->methods[k] / bits] |= 1L << c->methods[k] % bits;
	errno = 0;
	a->port_id = umad_open_port(a->choice.ca, a->choice.port);
	if (a->port_id < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot open %s port %d: %s", a->choice.ca,
		    a->choice.port, strerror(errno ? errno : -a->port_id));
	errno = 0;
	a->agent_id = umad_register(a->port_id, c->mgmt_class, c->class_version, c->rmpp, mask);
	if (a->agent_id < 0)
		return fm_fail(err, FM_E_SYSTEM,
		    "cannot register for class 0x%02x on %s port %d: %s (does another subnet "
		    "manager run on it?)",
		    c->mgmt_class, a->choice.ca, a->choice.port, strerror(errno ? errno : EBUSY));
	return 0;
}

int
umad_agent_open(const char *spec, const struct umad_agent_class *c, struct umad_agent **out,
    struct fm_error *err)
{
	struct umad_agent *a = calloc(1, sizeof(*a));
	int rc;

	if (a == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for an agent");
	a->port_id = a->agent_id = -1;
	rc = umad_parse_spec(spec, &a->choice, err);
	if (rc == 0)
		rc = umad_choose_port(&a->choice, err);
	if (rc == 0 &&
	    (!make_room_for_message(&a->in, &a->in_room, MAD_BYTES) ||
		!make_room_for_message(&a->out, &a->out_room, MAD_BYTES)))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for an agent");
	if (rc == 0)
		rc = open_agent(a, c, err);
	if (rc != 0) {
		umad_agent_close(a);
		return rc;
	}
	*out = a;
	return 0;
}

static void
read_addr(void *umad, struct mad_addr *to)
{
	const ib_mad_addr_t *a = umad_get_mad_addr(umad);

	*to = (struct mad_addr){ .lid = be16toh(a->lid),
		.sl = a->sl,
		.path_bits = a->path_bits,
		.qpn = be32toh(a->qpn),
		.qkey = be32toh(a->qkey),
		.pkey_index = a->pkey_index };
}

/* The kernel keeps a message that does not fit and says how long it is. */
int
umad_agent_receive(struct umad_agent *a, int timeout_ms, struct umad_message *m)
{
	int length, rc;

	for (;;) {
		length = (int)(a->in_room - umad_size());
		errno = 0;
		rc = umad_recv(a->port_id, a->in, &length, timeout_ms);
		if (rc >= 0)
			break;
		rc = errno ? errno : -rc;
		if (rc == ETIMEDOUT || rc == EWOULDBLOCK || rc == EAGAIN || rc == EINTR)
			return 0;
		if (rc != ENOSPC || length < 0 || (size_t)length > MOST_MESSAGE_BYTES ||
		    !make_room_for_message(&a->in, &a->in_room, (size_t)length))
			return -rc;
	}
	read_addr(a->in, &m->addr);
	m->status = umad_status(a->in);
	m->bytes = umad_get_mad(a->in);
	m->n_bytes = length < 0 ? 0 : (size_t)length;
	return 1;
}

int
umad_agent_send(struct umad_agent *a, const struct mad_addr *to, const uint8_t *bytes,
    size_t n_bytes, int timeout_ms, int n_retries, struct fm_error *err)
{
	if (n_bytes > INT32_MAX || !make_room_for_message(&a->out, &a->out_room, n_bytes))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a message");
	memset(a->out, 0, umad_size());
	memcpy(umad_get_mad(a->out), bytes, n_bytes);
	umad_set_addr(a->out, to->lid, (int)to->qpn, to->sl, (int)to->qkey);
	umad_set_pkey(a->out, to->pkey_index);
	umad_get_mad_addr(a->out)->path_bits = to->path_bits;
	errno = 0;
	if (umad_send(a->port_id, a->agent_id, a->out, (int)n_bytes, timeout_ms, n_retries) < 0)
		return fm_fail(err, FM_E_SYSTEM, "%s port %d: %s", a->choice.ca, a->choice.port,
		    strerror(errno ? errno : EIO));
	return 0;
}

/* --------------------------------------------------------- ports that are not open */

int
umad_look(const char *spec, struct local_port *out, struct fm_error *err)
{
	struct umad_choice c;
	int rc = umad_parse_spec(spec, &c, err);

	if (rc == 0 && umad_init() < 0)
		rc = fm_fail(
		    err, FM_E_SYSTEM, "no umad device: is the kernel module ib_umad loaded?");
	if (rc == 0)
		rc = umad_choose_port(&c, err);
	return rc != 0 ? rc : umad_read_port(&c, out, err);
}

/* One link from the port on. */
static void
ask_neighbour(struct request *r, uint8_t port)
{
	struct smp_route route = { .directed = true, .n_hops = 1, .path = { 0, port } };

	*r = (struct request){ .method = WIRE_GET, .attr = WIRE_ATTR_NODE_INFO };
	request_fill(r, &route, NULL);
}

/* Is it its answer, by the path that the request has gone? */
static bool
take_neighbour(const struct request *r, const struct umad_message *m, uint64_t *port_guid)
{
	struct wire_node_info info;
	struct wire_header h;
	struct mad mad = { .addr = m->addr };

	if (m->status != 0 || m->n_bytes != MAD_BYTES)
		return false;
	memcpy(mad.bytes, m->bytes, MAD_BYTES);
	wire_header_get(mad.bytes, &h);
	if (!request_is_answered_by(r, &mad, &h) || h.status != 0)
		return false;
	wire_node_info_get(mad.bytes + WIRE_SMP_DATA_AT, &info);
	*port_guid = info.port_guid;
	return true;
}

static int
ask_by(struct umad_agent *a, uint64_t m_key, uint64_t *port_guid, struct fm_error *err)
{
	struct umad_message m;
	struct request r;
	struct mad mad;
	int rc;

	ask_neighbour(&r, (uint8_t)a->choice.port);
	request_to_mad(&r, m_key, &mad);
	rc = umad_agent_send(
	    a, &mad.addr, mad.bytes, MAD_BYTES, NEIGHBOUR_MS, NEIGHBOUR_TRIES - 1, err);
	if (rc != 0)
		return rc;
	if (umad_agent_receive(a, NEIGHBOUR_MS * NEIGHBOUR_TRIES, &m) > 0 &&
	    take_neighbour(&r, &m, port_guid))
		return 0;
	return fm_fail(err, FM_E_SYSTEM, "the node behind its cable does not answer");
}

int
umad_neighbour(const char *spec, uint64_t m_key, uint64_t *port_guid, struct fm_error *err)
{
	static const struct umad_agent_class smps = { .mgmt_class = WIRE_CLASS_SMP_DR,
		.class_version = 1 };
	struct umad_agent *a;
	int rc = umad_agent_open(spec, &smps, &a, err);

	if (rc != 0)
		return rc;
	rc = ask_by(a, m_key, port_guid, err);
	umad_agent_close(a);
	return rc;
}

#endif
