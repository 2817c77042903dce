/* SPDX-License-Identifier: BSD-2-Clause */
/* core/sweep/todo_say.c - unfinished business in words, with both ends of the cable. */
#include <inttypes.h>
#include <stdio.h>

#include "core/inventory/flaps.h"
#include "core/sweep/todo.h"

enum event_kind
todo_event_kind(enum todo_why why)
{
	static const enum event_kind kinds[N_TODO_WHY] = {
		[TODO_TWIN_GUID] = EVENT_DUPLICATE_GUID,
		[TODO_LOOP] = EVENT_LOOPBACK_CABLE,
		[TODO_NO_ANSWER] = EVENT_NO_ANSWER,
		[TODO_SILENT] = EVENT_SILENT_NODE,
		[TODO_LATE] = EVENT_LATE,
		[TODO_STOPPED] = EVENT_DISABLED,
		[TODO_M_KEY] = EVENT_FOREIGN_M_KEY,
		[TODO_UNANSWERED] = EVENT_UNANSWERED,
		[TODO_UNREAD] = EVENT_UNREAD,
		[TODO_CONTRADICTED] = EVENT_ENDS_DISAGREE,
		[TODO_PUT_OFF] = EVENT_PUT_OFF,
		[TODO_NOT_ACTIVE] = EVENT_NOT_ACTIVE,
		[TODO_TABLES] = EVENT_TABLES,
		[TODO_MAPS] = EVENT_SL2VL,
		[TODO_GROUPS] = EVENT_MULTICAST,
		[TODO_PKEYS] = EVENT_PKEYS,
		[TODO_ALIASES] = EVENT_ALIAS_GUIDS,
		[TODO_FLAPPING] = EVENT_FLAPPING,
		[TODO_REJOINED] = EVENT_JOINED,
		[TODO_NO_LINK] = EVENT_NO_LINK,
		[TODO_NOT_UP] = EVENT_NOT_UP,
		[TODO_FAILED] = EVENT_SWEEP_FAILED,
		[TODO_OLD_PLAN] = EVENT_OLD_PLAN,
		[TODO_WAITING] = EVENT_TABLES_WAIT,
		[TODO_OTHER_CONF] = EVENT_OTHER_CONF,
	};

	return kinds[why];
}

const char *
todo_name(enum todo_why why)
{
	enum event_kind kind = todo_event_kind(why);

	if (kind != EVENT_NONE)
		return event_kind_name(kind);
	return why == TODO_NOT_MASTER ? "not-master" : "none";
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
todo_far(const struct inventory *inv, enum todo_why why, uint32_t slot, unsigned port,
    uint32_t *far, unsigned *far_port)
{
	const struct inv_port *p = &inv_node(inv, slot)->ports[port];
	const struct inv_flap *f;

	switch (why) {
	case TODO_TWIN_GUID: /* whoever has the GUID by now */
		if (p->peer == INV_NONE)
			return false;
		*far = inv_find(inv, inv_node(inv, p->peer)->guid);
		*far_port = p->peer_port;
		return *far != INV_NONE;
	case TODO_LOOP:
		*far = slot;
		*far_port = p->peer_port;
		return true;
	case TODO_FLAPPING: /* it may be down */
		f = flaps_at(inv, slot, port);
		if (f == NULL)
			return false;
		*far = f->slot[1];
		*far_port = f->port[1];
		return true;
	default:
		if (port == 0 || why == TODO_M_KEY)
			return neighbour(inv, slot, far, far_port);
		*far = p->peer;
		*far_port = p->peer_port;
		return *far != INV_NONE;
	}
}

/* What is wrong, after the name of the node or of the port; NULL: said in another way. */
static const char *const what[N_TODO_WHY] = {
	[TODO_SILENT] = "does not answer what must be known of it",
	[TODO_UNANSWERED] = "has stopped answering; what is still to be set "
			    "in it waits till it answers",
	[TODO_LATE] = "has not answered yet; it is taken for what it was",
	[TODO_M_KEY] =
	    "is under an M_Key that is not ours and takes nothing from us; give fmd that key "
	    "as m_key, or take it out of the node",
	[TODO_UNREAD] = "has changed since it was read, and is to be read again",
	[TODO_CONTRADICTED] = "is up at one end of the cable and down at the other",
	[TODO_PUT_OFF] = "waits until older forwarding tables are out of the switches",
	[TODO_NOT_ACTIVE] = "is not ACTIVE",
	[TODO_TABLES] = "does not hold the forwarding tables of the plan as a whole yet",
	[TODO_MAPS] = "does not hold the SL-to-VL maps of the plan as a whole yet",
	[TODO_GROUPS] = "does not hold the multicast forwarding tables as a whole yet",
	[TODO_PKEYS] = "does not hold its P_Keys yet",
	[TODO_ALIASES] = "does not hold its alias GUIDs yet",
	[TODO_REJOINED] = "and other switches are joined to older tables until an engine's can be "
			  "reached (fmctl drain takes these up at once)",
};

/* "NODE port 3, cabled to OTHER port 7, "; of a node as a whole "NODE, cabled to ..., " */
static void
say_where(const struct inventory *inv, enum todo_why why, uint32_t slot, unsigned port, char *buf,
    size_t size)
{
	char name[128], far_name[128], at[24] = "";
	unsigned far_port;
	uint32_t far;

	inv_name(inv_node(inv, slot), name, sizeof(name));
	if (port != 0)
		snprintf(at, sizeof(at), " port %u", port);
	if (todo_far(inv, why, slot, port, &far, &far_port))
		snprintf(buf, size, "%s%s, cabled to %s port %u,", name, at,
		    inv_name(inv_node(inv, far), far_name, sizeof(far_name)), far_port);
	else
		snprintf(buf, size, "%s%s", name, at);
}

static void
say_no_answer(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	char name[128], far_name[128], by[192] = "";
	unsigned far_port;
	uint32_t far;

	if (todo_far(inv, TODO_NO_ANSWER, slot, port, &far, &far_port))
		snprintf(by, sizeof(by), ", where there was %s port %u",
		    inv_name(inv_node(inv, far), far_name, sizeof(far_name)), far_port);
	snprintf(buf, size,
	    "nobody answers behind %s port %u%s, though the link is up (another M_Key?)",
	    inv_name(inv_node(inv, slot), name, sizeof(name)), port, by);
}

static void
say_disbelief(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	const struct inv_node *n = inv_node(inv, slot);
	char name[128];

	snprintf(buf, size, "what is cabled to %s port %u claims %s; it is left out",
	    inv_name(n, name, sizeof(name)), port,
	    inv_disbelief_text((enum inv_disbelief)n->ports[port].disbelief));
}

static void
say_twin(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	char name[128], far_name[128] = "another one";
	unsigned far_port;
	uint32_t far;

	if (todo_far(inv, TODO_TWIN_GUID, slot, port, &far, &far_port))
		inv_name(inv_node(inv, far), far_name, sizeof(far_name));
	snprintf(buf, size,
	    "duplicate GUID: the node cabled to %s port %u has a GUID of %s, which is another "
	    "node; "
	    "it is left out until one of them goes or gets a GUID of its own",
	    inv_name(inv_node(inv, slot), name, sizeof(name)), port, far_name);
}

static void
say_stopped(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	char where[320];

	say_where(inv, TODO_STOPPED, slot, port, where, sizeof(where));
	snprintf(buf, size,
	    "%s has been disabled by babbling_port_policy for errors without end; \"ibportstate "
	    "%u %u enable\" undoes it",
	    where, inv_node(inv, slot)->ports[0].lid, port);
}

static void
say_flapping(const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size)
{
	const struct inv_flap *f = flaps_at(inv, slot, port);
	char where[320];

	if (f == NULL)
		return;
	say_where(inv, TODO_FLAPPING, slot, port, where, sizeof(where));
	snprintf(buf, size,
	    "%s has gone down %" PRIu32 " times, and %s until it has not for %" PRId64 " s", where,
	    flap_falls(f),
	    f->only_way ? "is used as there is no other way; it is told of as flapping"
			: "is left out of the forwarding tables (fmctl restore takes it back)",
	    f->still_ms / 1000);
}

const char *
todo_say(const struct inventory *inv, const struct todo_list *list, const struct todo *t, char *buf,
    size_t size)
{
	enum todo_why why = (enum todo_why)t->why;
	uint32_t slot = t->slot;
	unsigned port = t->port;
	char where[320];

	buf[0] = '\0';
	if (slot == TODO_FABRIC) {
		snprintf(buf, size, "%s", list->text[why - TODO_FIRST_OF_FABRIC]);
		return buf;
	}
	switch (why) {
	case TODO_DONE:
		break;
	case TODO_TWIN_GUID:
		say_twin(inv, slot, port, buf, size);
		break;
	case TODO_NO_ANSWER:
		if (inv_node(inv, slot)->ports[port].disbelief != BELIEVED)
			say_disbelief(inv, slot, port, buf, size);
		else
			say_no_answer(inv, slot, port, buf, size);
		break;
	case TODO_FLAPPING:
		say_flapping(inv, slot, port, buf, size);
		break;
	case TODO_STOPPED:
		say_stopped(inv, slot, port, buf, size);
		break;
	case TODO_LOOP:
		inv_name(inv_node(inv, slot), where, sizeof(where));
		snprintf(buf, size,
		    "loopback cable: %s port %u leads to its own port %u; the cable is not used",
		    where, port, inv_node(inv, slot)->ports[port].peer_port);
		break;
	default:
		say_where(inv, why, slot, port, where, sizeof(where));
		snprintf(buf, size, "%s %s", where, what[why]);
	}
	return buf;
}

static bool
is_before(const struct todo *t, uint32_t slot, unsigned port)
{
	return t->slot < slot || (t->slot == slot && t->port < port);
}

const struct todo *
todo_find(const struct todo_list *list, uint32_t slot, unsigned port)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (is_before(&list->item[mid], slot, port))
			low = mid + 1;
		else
			high = mid;
	}
	return low < list->n && list->item[low].slot == slot && list->item[low].port == port
	    ? &list->item[low]
	    : NULL;
}

enum todo_why
todo_known(const struct todo_list *list, uint32_t slot, unsigned port)
{
	const struct todo *t = todo_find(list, slot, port);

	return t != NULL ? (enum todo_why)t->why : TODO_DONE;
}
