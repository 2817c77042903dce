/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mad/local_ports.h"

#include <inttypes.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/log.h"

void
local_ports_init(struct local_ports *p, const struct transport_kind *const *kinds,
    const char *const *specs, unsigned n)
{
	*p = (struct local_ports){ .kind = transport_find(kinds, specs[0]), .n = n };
	for (unsigned i = 0; i < n; i++)
		p->port[i].spec = specs[i];
	local_ports_look(p);
	while (p->used < n && !local_ports_has_link(p, p->used))
		p->used++;
	if (p->used < n)
		return;
	p->used = 0;
	while (p->used < n - 1 && p->port[p->used].is.port_guid == 0)
		p->used++;
	if (p->port[p->used].is.port_guid == 0) /* opening the first says what is wrong */
		p->used = 0;
}

void
local_ports_look(struct local_ports *p)
{
	struct fm_error err;

	if (p->n < 2)
		return;
	for (unsigned i = 0; i < p->n; i++) {
		if (p->kind->look(p->port[i].spec, &p->port[i].is, &err) != 0)
			p->port[i].is.state = 0;
		if (!local_ports_has_link(p, i))
			p->port[i].said = PORT_SAID_NOTHING;
	}
}

bool
local_ports_has_link(const struct local_ports *p, unsigned i)
{
	return p->port[i].is.state >= WIRE_PORT_INIT;
}

const char *
local_ports_name(const struct local_ports *p, unsigned i)
{
	const char *colon = strchr(p->port[i].spec, ':');

	return colon != NULL ? colon + 1 : p->port[i].spec;
}

static bool
is_first_time(struct local_ports *p, unsigned i, enum local_port_said now)
{
	bool is_first = p->port[i].said != now;

	p->port[i].said = now;
	return is_first;
}

/* On the subnet that we rule, by the node behind its cable? */
static bool
is_ours(struct local_ports *p, unsigned i, uint64_t m_key, local_ports_knows knows, void *arg)
{
	struct fm_error err = { 0 };
	uint64_t guid = 0;

	if (p->kind->neighbour(p->port[i].spec, m_key, &guid, &err) != 0) {
		if (is_first_time(p, i, PORT_IS_SILENT))
			log_warn("ha", "fmd does not go on by %s, which has a link: %s",
			    local_ports_name(p, i), err.msg);
		return false;
	}
	if (knows(arg, guid))
		return true;
	if (is_first_time(p, i, PORT_IS_FOREIGN))
		log_err("ha",
		    "fmd does not go on by %s: the port 0x%016" PRIx64
		    " behind its cable has never been on the subnet that fmd rules, so it is on "
		    "another one, or new; a restart of fmd takes %s all the same",
		    local_ports_name(p, i), guid, local_ports_name(p, i));
	return false;
}

unsigned
local_ports_next(struct local_ports *p, uint64_t m_key, local_ports_knows knows, void *arg)
{
	local_ports_look(p);
	for (unsigned k = 1; k < p->n; k++) {
		unsigned i = (p->used + k) % p->n;

		if (local_ports_has_link(p, i) && p->port[i].said != PORT_IS_REFUSED &&
		    is_ours(p, i, m_key, knows, arg))
			return i;
	}
	return p->n;
}

void
local_ports_refuse(struct local_ports *p, unsigned i, const struct fm_error *why)
{
	if (is_first_time(p, i, PORT_IS_REFUSED))
		log_err("ha", "fmd cannot go on by %s: %s", local_ports_name(p, i), why->msg);
}
