/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps to a fault, for the witness: breadth first over all that a switch
 * may choose (without adaptive routing one port), so that the fewest are told.
 */
#include <string.h>

#include "core/verify/verify_internal.h"

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
look_at(struct way_search *s, fm_sw sw, fm_sw start, enum verify_fault fault, uint8_t *port)
{
	uint64_t ports[PORT_WORDS];

	ports_of(s->j, sw, s->lid, ports);
	while (take_port(ports, port)) {
		struct port_ref ref = port_ref_at(s->j, sw, *port);
		fm_sw to = ref.info / LANES;

		if (ref.info == s->j->nowhere) {
			if (fault != VERIFY_LOOP && !arrives(s, sw, *port))
				return true;
			continue;
		}
		if (fault == VERIFY_LOOP && to == start)
			return true;
		if (s->from[to] == FM_NONE && to != start) {
			s->from[to] = sw;
			s->by[to] = *port;
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

bool
verify_find_way(
    const struct judge *j, fm_sw from, uint16_t lid, enum verify_fault fault, struct way *way)
{
	uint32_t n = j->fab->n_switches;
	struct way_search s = { .j = j,
		.lid = lid,
		.from = malloc((n + 1) * sizeof(*s.from)),
		.by = malloc(n + 1),
		.queue = malloc((n + 1) * sizeof(*s.queue)) };
	bool found = false;
	uint8_t port = 0;

	*way = (struct way){ 0 };
	if (s.from != NULL && s.by != NULL && s.queue != NULL) {
		memset(s.from, 0xff, n * sizeof(*s.from));
		s.queue[s.tail++] = from;
		for (uint32_t head = 0; !found && head < s.tail; head++)
			if (look_at(&s, s.queue[head], from, fault, &port))
				found = write_down(&s, from, s.queue[head], port, way);
	}
	free(s.from);
	free(s.by);
	free(s.queue);
	return found;
}
