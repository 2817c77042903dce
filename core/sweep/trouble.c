/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sweep/trouble.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "core/sweep/internal.h"

static const char *const names[N_TROUBLES] = {
	[TROUBLE_NONE] = "none",
	[TROUBLE_DUPLICATE] = "duplicate-guid",
	[TROUBLE_LOOPBACK] = "loopback-cable",
	[TROUBLE_NO_ANSWER] = "no-answer",
	[TROUBLE_SILENT] = "silent-node",
	[TROUBLE_M_KEY] = "foreign-m-key",
};

const char *
trouble_name(enum trouble t)
{
	return names[t];
}

enum trouble
trouble_at(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	const struct inv_port *p = &n->ports[port];

	if (!n->present)
		return TROUBLE_NONE;
	switch (p->edge) {
	case EDGE_DUPLICATE:
		return TROUBLE_DUPLICATE;
	case EDGE_LOOP:
		return port <= p->peer_port ? TROUBLE_LOOPBACK : TROUBLE_NONE;
	case EDGE_SILENT:
		return TROUBLE_NO_ANSWER;
	default:
		break;
	}
	if (port == 0 && n->silent)
		return TROUBLE_SILENT;
	return p->foreign_key ? TROUBLE_M_KEY : TROUBLE_NONE;
}

/* By which cable it is reached. */
static bool
neighbour(const struct inventory *inv, uint32_t slot, uint32_t *far, unsigned *far_port)
{
	const struct inv_node *n = inv_node(inv, slot);

	if (inv_is_switch(n)) {
		*far = inv_before(inv, slot, 0);
		*far_port = n->path[n->n_hops];
		return *far != INV_NONE;
	}
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (n->ports[p].edge == EDGE_LINKED) {
			*far = n->ports[p].peer;
			*far_port = n->ports[p].peer_port;
			return true;
		}
	return false;
}

bool
trouble_far(
    const struct inventory *inv, uint32_t slot, unsigned port, uint32_t *far, unsigned *far_port)
{
	const struct inv_port *p = &inv_node(inv, slot)->ports[port];

	switch (trouble_at(inv, slot, port)) {
	case TROUBLE_DUPLICATE: /* whoever has the GUID by now */
		*far = inv_find(inv, inv_node(inv, p->peer)->guid);
		*far_port = p->peer_port;
		return *far != INV_NONE;
	case TROUBLE_NO_ANSWER:
		*far = p->peer;
		*far_port = p->peer_port;
		return *far != INV_NONE;
	case TROUBLE_LOOPBACK:
		*far = slot;
		*far_port = p->peer_port;
		return true;
	case TROUBLE_SILENT:
	case TROUBLE_M_KEY:
		return neighbour(inv, slot, far, far_port);
	default:
		return false;
	}
}

static void
say_duplicate(const struct inventory *inv, const char *at, const struct inv_port *p, uint32_t far,
    char *buf, size_t size)
{
	char name[128];
	const char *owner = inv_name(inv_node(inv, far), name, sizeof(name));

	(void)p;
	snprintf(buf, size,
	    "duplicate GUID: the node cabled to %s has a GUID of %s, which is another node; it is "
	    "left "
	    "out until one of them goes or gets a GUID of its own",
	    at, owner);
}

const char *
trouble_say(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	const struct inv_node *n = inv_node(inv, slot);
	char name[128], at[160], far_name[128] = "", by[192] = "";
	unsigned far_port = 0;
	uint32_t far;

	inv_name(n, name, sizeof(name));
	snprintf(at, sizeof(at), "%s port %u", name, port);
	if (trouble_far(inv, slot, port, &far, &far_port))
		snprintf(by, sizeof(by), ", cabled to %s port %u",
		    inv_name(inv_node(inv, far), far_name, sizeof(far_name)), far_port);
	switch (trouble_at(inv, slot, port)) {
	case TROUBLE_DUPLICATE:
		say_duplicate(inv, at, &n->ports[port], far, buf, size);
		break;
	case TROUBLE_LOOPBACK:
		snprintf(buf, size,
		    "loopback cable: %s leads to its own port %u; the cable is not used", at,
		    far_port);
		break;
	case TROUBLE_NO_ANSWER:
		snprintf(buf, size,
		    "nobody answers behind %s%s%s, though the link is up (or answers to another "
		    "M_Key "
		    "only: if it is another subnet manager's, give fmd that one as m_key)",
		    at, by[0] != '\0' ? ", where there was" : "",
		    by[0] != '\0' ? by + sizeof(", cabled to") - 1 : "");
		break;
	case TROUBLE_SILENT:
		snprintf(buf, size, "%s%s does not answer what must be known of it", name, by);
		break;
	case TROUBLE_M_KEY:
		snprintf(buf, size,
		    "%s%s is under an M_Key that is not ours and takes nothing from us; give fmd "
		    "that "
		    "key as m_key, or take it out of the node",
		    at, by);
		break;
	default:
		buf[0] = '\0';
		break;
	}
	return buf;
}

static void
note_port(struct sweeper *s, uint32_t slot, unsigned port, uint32_t now_s)
{
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	enum trouble t = trouble_at(&s->inv, slot, port);
	char line[512];

	s->report.n_troubles += t != TROUBLE_NONE;
	s->report.n_duplicates += t == TROUBLE_DUPLICATE;
	s->report.n_loops += t == TROUBLE_LOOPBACK;
	if (t == p->told)
		return;
	if (t == TROUBLE_NONE && p->told != TROUBLE_NONE)
		fm_log_rl(&s->silent_bucket, FM_LOG_NOTICE, "sweep", "%s port %u: %s no more",
		    inv_name(inv_node(&s->inv, slot), line, sizeof(line)), port, names[p->told]);
	p->told = (uint8_t)t;
	p->told_s = now_s;
	if (t == TROUBLE_DUPLICATE ||
	    t == TROUBLE_LOOPBACK) /* others are told of where they are met */
		fm_log_rl(&s->silent_bucket, FM_LOG_WARN, "sweep", "%s",
		    trouble_say(&s->inv, slot, port, line, sizeof(line)));
}

void
trouble_note(struct sweeper *s)
{
	uint32_t now_s = (uint32_t)time(NULL);

	s->report.n_troubles = s->report.n_duplicates = s->report.n_loops = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
			note_port(s, i, p, now_s);
}
