/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A verdict in words, and its witness: one pair, loop or cycle, told by node names and ports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/text/sentence.h"
#include "core/verify/verify_internal.h"

#define SHOWN_CYCLE 8u /* links of a credit loop that are spelled out */

/* ---------------------------------------------------------- the steps to a fault */

/* The fewest steps from a switch to where a packet is lost, or back to that switch. */
struct way {
	fm_sw *sw;     /* [n] malloced, with port */
	uint8_t *port; /* [n] taken there */
	uint32_t n;
};

struct way_search {
	const struct judge *j;
	uint16_t lid;
	fm_sw *from;  /* [n_switches] the switch before, FM_NONE: not met */
	uint8_t *by;  /* [n_switches] the port taken there */
	fm_sw *queue; /* [n_switches] */
	uint32_t tail;
};

/* Does a packet that leaves the switches here arrive? */
static bool
arrives(const struct way_search *s, fm_sw sw, uint8_t port)
{
	fm_end owner = s->j->fab->lid_end[s->lid];

	return s->j->fab->end_sw[owner] == sw && s->j->fab->end_port[owner] == port;
}

/* All choices of sw; true: one of them, *port, is the fault looked for. */
static bool
look_at(struct way_search *s, fm_sw sw, fm_sw start, enum verify_fault fault, uint32_t *port)
{
	uint64_t ports[PORT_WORDS];

	verify_ports_of(s->j, sw, s->lid, ports);
	while (take_bit(ports, PORT_WORDS, port)) {
		fm_sw to = next_switch(s->j, sw, (uint8_t)*port);

		if (to == FM_NONE) {
			if (fault != VERIFY_LOOP && !arrives(s, sw, (uint8_t)*port))
				return true;
			continue;
		}
		if (fault == VERIFY_LOOP && to == start)
			return true;
		if (s->from[to] == FM_NONE && to != start) {
			s->from[to] = sw;
			s->by[to] = (uint8_t)*port;
			s->queue[s->tail++] = to;
		}
	}
	return false;
}

/* From start to last and out by port. */
static bool
write_down(const struct way_search *s, fm_sw start, fm_sw last, uint8_t port, struct way *way)
{
	fm_sw at = last;

	way->n = 1;
	for (; at != start; at = s->from[at])
		way->n++;
	way->sw = malloc(way->n * sizeof(*way->sw));
	way->port = malloc(way->n);
	if (way->sw == NULL || way->port == NULL)
		return false;
	at = last;
	for (uint32_t i = way->n; i-- > 0; at = s->from[at]) {
		way->sw[i] = at;
		way->port[i] = port;
		port = s->by[at];
	}
	return true;
}

/* Breadth first over all that a switch may choose.  fault: VERIFY_LOOP, or a packet is lost.
 * False: there is no such way, or memory is out. */
static bool
find_way(const struct judge *j, fm_sw from, uint16_t lid, enum verify_fault fault, struct way *way)
{
	uint32_t n = j->fab->n_switches;
	struct way_search s = { .j = j,
		.lid = lid,
		.from = malloc((n + 1) * sizeof(*s.from)),
		.by = malloc(n + 1),
		.queue = malloc((n + 1) * sizeof(*s.queue)) };
	bool found = false;
	uint32_t port = 0;

	*way = (struct way){ 0 };
	if (s.from != NULL && s.by != NULL && s.queue != NULL) {
		memset(s.from, 0xff, n * sizeof(*s.from));
		s.queue[s.tail++] = from;
		for (uint32_t head = 0; !found && head < s.tail; head++)
			if (look_at(&s, s.queue[head], from, fault, &port))
				found = write_down(&s, from, s.queue[head], (uint8_t)port, way);
	}
	free(s.from);
	free(s.by);
	free(s.queue);
	return found;
}

/* ------------------------------------------------------------------- in words */

static void
say_switch(struct sentence *s, const struct fm_fabric *fab, fm_sw sw)
{
	if (fab->sw_name != NULL && fab->sw_name[sw] != NULL && fab->sw_name[sw][0] != '\0')
		sentence_add(s, "switch '%s'", fab->sw_name[sw]);
	else
		sentence_add(s, "switch 0x%016llx", (unsigned long long)fab->sw_guid[sw]);
}

static void
say_end(struct sentence *s, const struct fm_fabric *fab, fm_end e)
{
	if (fab->end_name != NULL && fab->end_name[e] != NULL && fab->end_name[e][0] != '\0')
		sentence_add(s, "'%s'", fab->end_name[e]);
	else
		sentence_add(s, "0x%016llx", (unsigned long long)fab->end_guid[e]);
}

static void
say_lid(struct sentence *s, const struct fm_fabric *fab, uint16_t lid)
{
	sentence_add(s, "LID %u of ", lid);
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

/* May sw choose among several ports for lid? */
static bool
chooses(const struct judge *j, fm_sw sw, uint16_t lid)
{
	return group_of(j->t, sw, lid) != 0;
}

static void
say_unreachable(const struct judge *j, struct sentence *s, const struct clue *c, bool stray)
{
	struct way way;
	fm_sw last;

	say_end(s, j->fab, source_at(j->fab, c->sw, c->lid));
	sentence_add(s, stray ? " loses packets on the way to " : " cannot reach ");
	say_lid(s, j->fab, c->lid);
	if (find_way(j, c->sw, c->lid, VERIFY_UNREACHABLE, &way)) {
		last = way.sw[way.n - 1];
		sentence_add(s, ": ");
		say_switch(s, j->fab, last);
		if (way.port[way.n - 1] == FM_PORT_NONE)
			sentence_add(s, " has no entry for it");
		else
			sentence_add(s, " %s it to port %u, which has no cable",
			    chooses(j, last, c->lid) ? "may send" : "sends", way.port[way.n - 1]);
	}
	free(way.sw);
	free(way.port);
}

static void
say_loop(const struct judge *j, struct sentence *s, const struct clue *c)
{
	struct way way;
	bool choice = false;
	uint32_t i = 0;

	if (!find_way(j, c->sw, c->lid, VERIFY_LOOP, &way))
		way.n = 0;
	for (uint32_t k = 0; k < way.n; k++)
		choice |= chooses(j, way.sw[k], c->lid);
	sentence_add(s, "packets to ");
	say_lid(s, j->fab, c->lid);
	sentence_add(s, " %s round in circles:", choice ? "may go" : "go");
	for (; i < way.n && (i == 0 || s->size - s->at > 80); i++) {
		sentence_add(s, " ");
		say_switch(s, j->fab, way.sw[i]);
		sentence_add(s, " port %u,", way.port[i]);
	}
	sentence_add(s, i == way.n ? " and again" : " ...");
	free(way.sw);
	free(way.port);
}

/* A port by which sw hands lid to another. */
static uint8_t
wrong_port(const struct judge *j, fm_sw sw, uint16_t lid)
{
	fm_end owner = j->fab->lid_end[lid];
	uint64_t ports[PORT_WORDS];
	uint32_t port;

	verify_ports_of(j, sw, lid, ports);
	while (take_bit(ports, PORT_WORDS, &port))
		if (next_switch(j, sw, (uint8_t)port) == FM_NONE &&
		    port <= j->fab->sw_n_ports[sw] && j->port_has_end[j->port_first[sw] + port] &&
		    !(j->fab->end_sw[owner] == sw && j->fab->end_port[owner] == port))
			return (uint8_t)port;
	return j->t->lft[sw][lid];
}

static void
say_wrong_host(const struct judge *j, struct sentence *s, const struct clue *c)
{
	const struct fm_fabric *fab = j->fab;
	uint8_t port = wrong_port(j, c->sw, c->lid);

	say_switch(s, fab, c->sw);
	sentence_add(s, chooses(j, c->sw, c->lid) ? " may hand " : " hands ");
	say_lid(s, fab, c->lid);
	sentence_add(s, " to port %u, where ", port);
	for (fm_end e = fab->sw_first_end[c->sw]; e < fab->sw_first_end[c->sw + 1]; e++)
		if (fab->end_port[e] == port) {
			say_end(s, fab, e);
			sentence_add(s, " is");
			return;
		}
	sentence_add(s, "another is");
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

	sentence_add(s, "credit loop over %u links:", cycle->n);
	for (uint32_t i = 0; i < cycle->n && i < SHOWN_CYCLE && s->size - s->at > 100; i++) {
		fm_link l = cycle->vertex[i] / j->n_vls;

		sentence_add(s, "%s ", i == 0 ? "" : ", then");
		say_switch(s, fab, link_from(fab, l));
		sentence_add(s, " port %u", fab->link_port[l]);
		if (!j->one_vl)
			sentence_add(s, " VL %u", cycle->vertex[i] % j->n_vls);
	}
	sentence_add(
	    s, cycle->n > SHOWN_CYCLE ? ", ..., and back to the first" : ", and back to the first");
}

static void
say_budget(const struct judge *j, struct sentence *s, const struct clue *c)
{
	const struct fm_fabric *fab = j->fab;

	if (c->lid != 0) {
		sentence_add(s, "the path from ");
		say_switch(s, fab, c->sw);
		sentence_add(s, " to ");
		say_lid(s, fab, c->lid);
		sentence_add(s, " has SL %u, the highest is 15", tables_sl(j->t, c->sw, c->lid));
		return;
	}
	/* c->sw is a link here, see verify.c */
	say_switch(s, fab, link_from(fab, c->sw));
	sentence_add(s,
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
	struct sentence s = { .text = v->witness, .size = sizeof(v->witness) };
	bool other = clues[VERIFY_VL_BUDGET].given || clues[VERIFY_UNREACHABLE].given;

	if (clues[VERIFY_LOOP].given) {
		v->fault = VERIFY_LOOP;
		say_loop(j, &s, &clues[VERIFY_LOOP]);
	} else if (clues[VERIFY_WRONG_HOST].given) {
		v->fault = VERIFY_WRONG_HOST;
		say_wrong_host(j, &s, &clues[VERIFY_WRONG_HOST]);
	} else if (clues[VERIFY_STRAY].given) {
		v->fault = VERIFY_STRAY;
		say_unreachable(j, &s, &clues[VERIFY_STRAY], true);
	} else if (v->credit_loops > 0 && !(j->req->loops_last && other)) {
		v->fault = VERIFY_CREDIT_LOOP;
		say_cycle(j, &s, cycle);
	} else if (clues[VERIFY_VL_BUDGET].given) {
		v->fault = VERIFY_VL_BUDGET;
		say_budget(j, &s, &clues[VERIFY_VL_BUDGET]);
	} else if (clues[VERIFY_UNREACHABLE].given) {
		v->fault = VERIFY_UNREACHABLE;
		say_unreachable(j, &s, &clues[VERIFY_UNREACHABLE], false);
	}
}

void
verdict_print(const struct verdict *v, FILE *out)
{
	fprintf(out,
	    "pairs       %" PRIu64 " reachable, %" PRIu64 " unreachable, %" PRIu64
	    " in different components\n",
	    v->reachable_pairs, v->unreachable_pairs, v->disjoint_pairs);
	fprintf(out, "switches    %" PRIu64 " pairs unrouted\n", v->switch_pairs_unrouted);
	fprintf(out, "hops        %.3f on average, at most %u\n", v->avg_hops, v->max_hops);
	fprintf(out, "faults      %u loops, %u wrong hosts, %u credit loops, %u VL errors\n",
	    v->loops, v->wrong_host, v->credit_loops, v->vl_errors);
	if (v->loops_allowed > 0)
		fprintf(out,
		    "allowed     %u of the credit loops: they stay within regions that say "
		    "credit_loops = warn\n",
		    v->loops_allowed);
	fprintf(out, "VLs         %u\n", v->vls);
	if (v->fault != VERIFY_OK)
		fprintf(out, "witness     %s\n", v->witness);
}

bool
promise_is_broken(const struct fm_engine *engine, const struct verdict *v)
{
	return (engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) && v->fault == VERIFY_CREDIT_LOOP;
}

void
promise_explain(const struct fm_engine *engine, const struct verdict *v,
    const struct verdict *one_way, char *reason, size_t size)
{
	const char *whose = "";

	if (promise_is_broken(engine, v) && one_way->credit_loops == 0)
		whose = "only requests are free of credit loops, not replies, which go under the "
			"same SL (sl_model = both): set paired = yes where the engine has it, or "
			"sl_model = forward: ";
	else if (promise_is_broken(engine, v))
		whose = "the engine promises no credit loops and made one (its bug): ";
	snprintf(reason, size, "%s%s", whose, v->witness);
}
