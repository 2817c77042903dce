/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/fields.h - what is set in ports and switches, field by field.
 *
 * One row a field: its name, the IBA section, where it applies, what it is
 * set to, and the function that says so.  The sweep walks the rows; tests
 * and doc/sweep-fields.md read them.
 *
 * A row wants either the present value (then nothing is to be done) or
 * another.  A Set goes out when at least one row differs.  What the node does
 * not take (its answer shows another value than was sent) is remembered and
 * not tried again until the port comes up anew.
 *
 * Times and thresholds that no packet's way depends on ride along: some
 * agents (ibsim's among them) accept them and show zero, and a restarted fmd,
 * which remembers no refusals, would set every port for nothing.  They reach a
 * port when its link comes up, with any other change, and, insisted on, after
 * one of them has changed in the settings.  So too widths and speeds, where all that a port
 * supports is to be enabled; those that are asked for are a reason.
 */
#ifndef CORE_INVENTORY_FIELDS_H
#define CORE_INVENTORY_FIELDS_H

#include "core/inventory/inventory.h"

#define CAP_CLIENT_REREGISTER (1u << 25) /* PortInfo.CapabilityMask, IBA 14.2.5.6 */

struct sweep_settings;

enum field_where {
	FIELD_CA = 1,	    /* port of a CA or router */
	FIELD_SW_PORT0 = 2, /* management port of a switch */
	FIELD_SW_PORT = 4,  /* external port of a switch */
	FIELD_SWITCH = 8    /* SwitchInfo */
};

/* What the values follow from. */
struct field_context {
	const struct sweep_settings *set;
	const struct inventory *inv;
	const struct inv_node *node;
	const struct inv_port *port; /* NULL for SwitchInfo */
	const struct inv_port *peer; /* NULL: no cable */
	const struct inv_node *peer_node;
	uint16_t sm_lid;
	uint16_t top_lid;  /* SwitchInfo: highest LID of the tables */
	uint16_t top_mlid; /* likewise of multicast; 0: there are no groups */
	bool arm;	   /* the link is to leave INIT */
	bool insist;	   /* riding rows are a reason too */
	bool lost;	   /* what the port had registered with the SA */
	bool registered;   /* what it had with the SM before us is known */
};

struct field_row {
	const char *name;
	const char *iba;
	unsigned where;
	const char *value; /* in words */
	size_t offset;	   /* in struct wire_port_info or wire_switch_info */
	size_t size;	   /* 1, 2, 4 or 8 bytes */
	uint64_t (*want)(const struct field_context *c, uint64_t present);
	bool momentary; /* the answer does not show it: never counts as refused */
	bool rides;	/* goes along with other rows, is no reason of its own */
	/* NULL, or false: it rides with these settings */
	bool (*is_asked)(const struct sweep_settings *set);
};

extern const struct field_row field_rows[];
extern const unsigned n_field_rows; /* at most 32 */

/* Data VLs of a link, as their code: what both ends can, or, when it is active and is not to be
 * bounced, what it runs with. */
uint8_t field_link_vl_code(
    const struct sweep_settings *set, const struct inv_port *a, const struct inv_port *b);
uint64_t field_get(const struct field_row *row, const void *info);
void field_put(const struct field_row *row, void *info, uint64_t value);

/* Bring info to what the rows of `where` want, but for `refused` ones.
 * Returns the set of rows that differed. */
uint32_t fields_apply(
    const struct field_context *c, enum field_where where, uint32_t refused, void *info);
/* Of the rows sent: those whose value in the answer is not the one sent. */
uint32_t fields_refused(uint32_t rows_sent, const void *sent, const void *answered);

#endif
