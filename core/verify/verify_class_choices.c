/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which egress ports a switch may use for a class, over all alternatives: the OR of the
 * groups' sets over its LIDs, and of the ports of those without a group.
 *
 * Mostly all LIDs of a run have one group: two runs of memory compared, and one set.
 * A switch is mixed where they differ; the groups' numbers are compared, not the sets.
 *
 * Time: three bytes read per (switch, LID).
 */
#include "core/verify/verify_class.h"

struct seen {
	uint64_t ports;
	bool odd, mixed;
};

static void
see(struct seen *s, uint64_t ports)
{
	s->odd |= ports == 0;
	s->mixed |= s->ports != 0 && s->ports != ports;
	s->ports |= ports;
}

static void
see_run(const struct judge *j, fm_sw u, struct lid_run run, struct seen *s)
{
	const uint16_t *group = j->t->ar_group[u] + run.first;
	const uint8_t *lft = j->t->lft[u] + run.first;
	bool one_group = memcmp(group, group + 1, (run.n - 1u) * sizeof(*group)) == 0;

	if (one_group &&
	    ((group[0] != 0 && group[0] <= j->t->ar_max_groups) ||
		memcmp(lft, lft + 1, run.n - 1u) == 0)) {
		see(s, verify_class_ports(j, u, run.first));
		return;
	}
	for (uint32_t i = 0; i < run.n; i++)
		if (i == 0 || group[i] != group[i - 1] || lft[i] != lft[i - 1])
			see(s, verify_class_ports(j, u, (uint16_t)(run.first + i)));
}

uint64_t
verify_class_choices(
    const struct classes *k, struct class_walker *w, uint32_t first, uint32_t n, fm_sw u)
{
	uint64_t odd = 0;

	w->mixed[u] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct lid_class *c = &k->class[first + i];
		struct seen s = { 0 };

		for (uint32_t r = c->first_run; r < c[1].first_run; r++)
			see_run(k->j, u, k->run[r], &s);
		w->mask[i * k->mask_stride + u] = s.ports;
		w->mixed[u] |= (uint16_t)(s.mixed << i);
		odd |= (uint64_t)s.odd << i;
	}
	return odd;
}
