/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The witness: one pair, loop or cycle, told by node names and ports.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/route/verify_internal.h"

#define SHOWN_CYCLE 8u /* links of a credit loop that are spelled out */

/* A sentence as it grows; what does not fit is cut. */
struct sentence {
	char *at;
	size_t room;
};

__attribute__((format(printf, 2, 3))) static void
say(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->at, s->room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= s->room)
		n = s->room > 0 ? (int)s->room - 1 : 0;
	s->at += n;
	s->room -= (size_t)n;
}

static void
say_switch(struct sentence *s, const struct fm_fabric *fab, fm_sw sw)
{
	if (fab->sw_name != NULL && fab->sw_name[sw] != NULL && fab->sw_name[sw][0] != '\0')
		say(s, "switch '%s'", fab->sw_name[sw]);
	else
		say(s, "switch 0x%016llx", (unsigned long long)fab->sw_guid[sw]);
}

static void
say_end(struct sentence *s, const struct fm_fabric *fab, fm_end e)
{
	if (fab->end_name != NULL && fab->end_name[e] != NULL && fab->end_name[e][0] != '\0')
		say(s, "'%s'", fab->end_name[e]);
	else
		say(s, "0x%016llx", (unsigned long long)fab->end_guid[e]);
}

static void
say_lid(struct sentence *s, const struct fm_fabric *fab, uint16_t lid)
{
	say(s, "LID %u of ", lid);
	say_end(s, fab, fab->lid_end[lid]);
}

/* A source at sw that is not the destination itself. */
static fm_end
source_at(const struct fm_fabric *fab, fm_sw sw, uint16_t lid)
{
	fm_end found = FM_NONE;

	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (is_source(fab, e) && (found == FM_NONE || found == fab->lid_end[lid]))
			found = e;
	return found;
}

/* Where the path from sw to lid ends, or sw itself after going round. */
static fm_sw
last_switch(const struct judge *j, fm_sw sw, uint16_t lid, uint8_t *port)
{
	for (uint32_t hops = 0; hops <= j->fab->n_switches; hops++) {
		struct port_ref ref;

		*port = j->t->lft[sw][lid];
		ref = port_ref_at(j, sw, *port);
		if (ref.info == j->nowhere)
			break;
		sw = ref.info / LANES;
	}
	return sw;
}

static void
say_unreachable(const struct judge *j, struct sentence *s, const struct clue *c)
{
	uint8_t port;
	fm_sw last = last_switch(j, c->sw, c->lid, &port);

	say_end(s, j->fab, source_at(j->fab, c->sw, c->lid));
	say(s, " cannot reach ");
	say_lid(s, j->fab, c->lid);
	say(s, ": ");
	say_switch(s, j->fab, last);
	if (port == FM_PORT_NONE)
		say(s, " has no entry for it");
	else
		say(s, " sends it to port %u, which has no cable", port);
}

static void
say_loop(const struct judge *j, struct sentence *s, const struct clue *c)
{
	fm_sw sw = c->sw;

	say(s, "packets to ");
	say_lid(s, j->fab, c->lid);
	say(s, " go round in circles:");
	do {
		uint8_t port = j->t->lft[sw][c->lid];

		say(s, " ");
		say_switch(s, j->fab, sw);
		say(s, " port %u,", port);
		sw = port_ref_at(j, sw, port).info / LANES;
	} while (sw != c->sw && s->room > 80);
	say(s, sw == c->sw ? " and again" : " ...");
}

static void
say_wrong_host(const struct judge *j, struct sentence *s, const struct clue *c)
{
	const struct fm_fabric *fab = j->fab;
	uint8_t port = j->t->lft[c->sw][c->lid];

	say_switch(s, fab, c->sw);
	say(s, " hands ");
	say_lid(s, fab, c->lid);
	say(s, " to port %u, where ", port);
	for (fm_end e = fab->sw_first_end[c->sw]; e < fab->sw_first_end[c->sw + 1]; e++)
		if (fab->end_port[e] == port) {
			say_end(s, fab, e);
			say(s, " is");
			return;
		}
	say(s, "another is");
}

static fm_sw
link_from(const struct fm_fabric *fab, fm_link l)
{
	return fab->link_to[fab->link_rev[l]];
}

static void
say_cycle(const struct judge *j, struct sentence *s, const struct cycle *cycle)
{
	const struct fm_fabric *fab = j->fab;

	say(s, "credit loop over %u links:", cycle->n);
	for (uint32_t i = 0; i < cycle->n && i < SHOWN_CYCLE && s->room > 100; i++) {
		fm_link l = cycle->vertex[i] / j->n_vls;

		say(s, "%s ", i == 0 ? "" : ", then");
		say_switch(s, fab, link_from(fab, l));
		say(s, " port %u", fab->link_port[l]);
		if (!j->one_vl)
			say(s, " VL %u", cycle->vertex[i] % j->n_vls);
	}
	say(s, cycle->n > SHOWN_CYCLE ? ", ..., and back to the first" : ", and back to the first");
}

static void
say_budget(const struct judge *j, struct sentence *s, const struct clue *c)
{
	const struct fm_fabric *fab = j->fab;

	if (c->lid != 0) {
		say(s, "the path from ");
		say_switch(s, fab, c->sw);
		say(s, " to ");
		say_lid(s, fab, c->lid);
		say(s, " has SL %u, the highest is 15", tables_sl(j->t, c->sw, c->lid));
		return;
	}
	/* c->sw is a link here, see verify.c */
	say_switch(s, fab, link_from(fab, c->sw));
	say(s,
	    " port %u carries packets on a VL that is beyond the budget of %u or the %u of the "
	    "link",
	    fab->link_port[c->sw], j->req->n_vls, fab->link_n_vls[c->sw]);
}

/* From the gravest to the least: packets that never leave, packets that
 * others get, deadlock, tables the hardware cannot hold, packets lost. */
void
verify_word(const struct judge *j, const struct clue *clues, const struct cycle *cycle)
{
	struct verdict *v = j->out;
	struct sentence s = { v->witness, sizeof(v->witness) };

	if (clues[VERIFY_LOOP].given) {
		v->fault = VERIFY_LOOP;
		say_loop(j, &s, &clues[VERIFY_LOOP]);
	} else if (clues[VERIFY_WRONG_HOST].given) {
		v->fault = VERIFY_WRONG_HOST;
		say_wrong_host(j, &s, &clues[VERIFY_WRONG_HOST]);
	} else if (v->credit_loops > 0) {
		v->fault = VERIFY_CREDIT_LOOP;
		say_cycle(j, &s, cycle);
	} else if (clues[VERIFY_VL_BUDGET].given) {
		v->fault = VERIFY_VL_BUDGET;
		say_budget(j, &s, &clues[VERIFY_VL_BUDGET]);
	} else if (clues[VERIFY_UNREACHABLE].given) {
		v->fault = VERIFY_UNREACHABLE;
		say_unreachable(j, &s, &clues[VERIFY_UNREACHABLE]);
	}
}
