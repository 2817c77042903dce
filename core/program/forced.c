/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/forced.c - widths and speeds that are asked for (force_link_...) and that ports do
 * not have, or do not run at yet: told, never enforced.
 *
 * What is enabled counts when a link is trained, IBA 14.2.5.6; no link is taken down for it.
 */
#include "core/inventory/settings.h"
#include "core/program/internal.h"

/* Is anything enabled beside what is asked for? */
static bool
is_unmet(uint8_t asked, uint8_t all, uint8_t enabled)
{
	return asked != 0 && asked != all && (enabled & ~asked) != 0;
}

static bool
is_unmet_ext(uint8_t asked, const struct wire_port_info *i)
{
	bool has = (i->capability_mask & WIRE_CAP_EXTENDED_SPEEDS) != 0;

	if (asked == LINK_SPEED_EXT_NONE)
		return has && i->link_speed_ext_enabled != LINK_SPEED_EXT_NONE;
	if (!has)
		return asked != 0 && asked != LINK_SPEED_EXT_ALL;
	return is_unmet(asked, LINK_SPEED_EXT_ALL, i->link_speed_ext_enabled);
}

/* Of what is enabled: does the link run at it? */
static bool
runs_as_enabled(const struct wire_port_info *i)
{
	if ((i->link_width_active & i->link_width_enabled) == 0)
		return false;
	if (i->link_speed_ext_active != 0)
		return i->link_speed_ext_enabled != LINK_SPEED_EXT_NONE &&
		    (i->link_speed_ext_active & i->link_speed_ext_enabled) != 0;
	return (i->link_speed_active & i->link_speed_enabled) != 0;
}

static void
note_port(
    struct link_note *note, const struct inv_node *n, unsigned port, const struct wire_port_info *i)
{
	char name[96];

	if (note->n++ == 0)
		snprintf(note->first, sizeof(note->first),
		    "%s port %u supports width %u, speed %u and extended speed %u and runs at %u, "
		    "%u and %u",
		    inv_name(n, name, sizeof(name)), port, i->link_width_supported,
		    i->link_speed_supported, i->link_speed_ext_supported, i->link_width_active,
		    i->link_speed_active, i->link_speed_ext_active);
}

void
links_note_forced(
    struct sweeper *s, uint32_t slot, unsigned port, const struct wire_port_info *want)
{
	const struct sweep_settings *set = &s->set;
	const struct inv_node *n = inv_node(&s->inv, slot);
	bool asks =
	    (set->ports.force_link_width != 0 && set->ports.force_link_width != LINK_WIDTH_ALL) ||
	    (set->ports.force_link_speed != 0 && set->ports.force_link_speed != LINK_SPEED_ALL) ||
	    (set->ports.force_link_speed_ext != 0 &&
		set->ports.force_link_speed_ext != LINK_SPEED_EXT_ALL);

	if (port == 0 || !asks || !link_usable(&s->inv, &n->ports[port]))
		return;
	if (is_unmet(set->ports.force_link_width, LINK_WIDTH_ALL, want->link_width_enabled) ||
	    is_unmet(set->ports.force_link_speed, LINK_SPEED_ALL, want->link_speed_enabled) ||
	    is_unmet_ext(set->ports.force_link_speed_ext, want))
		note_port(&s->links->unmet, n, port, want);
	else if (!runs_as_enabled(want))
		note_port(&s->links->waits, n, port, want);
}
