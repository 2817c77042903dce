/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cables between groups, and which group leads to which.
 *
 * Groups that have lost their cables to one another step to a third one, the
 * nearest, in turns.  O(links + groups^2), with lost pairs O(groups^3) at worst.
 */
#include <string.h>

#include "plugins/engines/dragonfly/dragonfly.h"

static int
take_memory(struct df *df, struct fm_error *err)
{
	size_t pairs = (size_t)df->n_groups * df->n_groups;

	df->cable_first = fm_scratch_array(df->host, pairs + 1, uint32_t);
	df->cable = fm_scratch_array(df->host, df->fab->n_links, fm_link);
	df->cable_from = fm_scratch_array(df->host, df->fab->n_links, fm_sw);
	df->via = fm_scratch_array(df->host, pairs, uint32_t);
	df->joint = fm_scratch_array(df->host, pairs, bool);
	if (!df->cable_first || !df->cable || !df->cable_from || !df->via || !df->joint)
		return fm_no_scratch(df->host, "cables between groups", err);
	return 0;
}

/* Calls for each cable, sources group by group in order of members. */
#define EACH_CABLE(df, u, l) \
	for (uint32_t i_ = 0; i_ < (df)->arcs.n_switches; i_++) \
		for (fm_sw u = (df)->member[i_], once_ = 1; once_; once_ = 0) \
			for (fm_link l = (df)->fab->sw_first_link[u]; \
			     l < (df)->fab->sw_first_link[u + 1]; l++) \
				if ((df)->group[(df)->fab->link_to[l]] != (df)->group[u])

static int
sort_cables(struct df *df, struct fm_error *err)
{
	size_t pairs = (size_t)df->n_groups * df->n_groups;
	uint32_t *at = fm_scratch_array(df->host, pairs, uint32_t);

	if (at == NULL)
		return fm_no_scratch(df->host, "cables between groups", err);
	EACH_CABLE(df, u, l)
	df->cable_first[df_pair(df, df->group[u], df->group[df->fab->link_to[l]]) + 1]++;
	for (size_t i = 0; i < pairs; i++) {
		df->cable_first[i + 1] += df->cable_first[i];
		at[i] = df->cable_first[i];
	}
	EACH_CABLE(df, u, l)
	{
		uint32_t k = at[df_pair(df, df->group[u], df->group[df->fab->link_to[l]])]++;

		df->cable[k] = l;
		df->cable_from[k] = u;
	}
	return 0;
}

/* First one cable of each switch, then the second of each, ...: LIDs of one host
 * take neighbours. */
static void
deal_cables(struct df *df, uint32_t from, uint32_t to, fm_link *cable, uint32_t *left)
{
	uint32_t n = to - from, done = 0;

	memcpy(cable, &df->cable[from], n * sizeof(*cable));
	for (uint32_t i = 0; i < n; i++)
		left[i] = df->cable_from[from + i];
	while (done < n) {
		uint32_t last = FM_NONE;

		for (uint32_t i = 0; i < n; i++) {
			if (left[i] == FM_NONE || left[i] == last)
				continue;
			last = left[i];
			df->cable[from + done] = cable[i];
			df->cable_from[from + done++] = last;
			left[i] = FM_NONE;
		}
	}
}

/* Groups at one more step from `to` each round. */
static void
find_ways(struct df *df, uint32_t to, uint32_t *steps, uint32_t *queue)
{
	uint32_t head = 0, tail = 0, n = df->n_groups;

	memset(steps, 0xff, n * sizeof(*steps));
	steps[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		uint32_t j = queue[head++];

		for (uint32_t i = 0; i < n; i++)
			if (steps[i] == FM_NONE &&
			    df->cable_first[df_pair(df, i, j)] <
				df->cable_first[df_pair(df, i, j) + 1]) {
				steps[i] = steps[j] + 1;
				queue[tail++] = i;
			}
	}
}

static void
choose_ways(struct df *df, uint32_t to, const uint32_t *steps)
{
	for (uint32_t i = 0; i < df->n_groups; i++) {
		uint32_t n = 0, turn;

		if (steps[i] == FM_NONE || steps[i] < 2)
			continue;
		df->n_unjoined++;
		for (int round = 0; round < 2; round++) {
			turn = n > 0 ? (i + to) % n : FM_NONE;
			for (uint32_t m = 0; m < df->n_groups; m++) {
				size_t pair = df_pair(df, i, m);

				if (steps[m] + 1 != steps[i] ||
				    df->cable_first[pair] == df->cable_first[pair + 1])
					continue;
				if (round == 0)
					n++;
				else if (turn-- == 0)
					df->via[df_pair(df, i, to)] = m;
			}
		}
	}
}

/* May each source step to the gateway it likes?  Only if all have one at most a
 * hop away: a switch on the way might like another. */
static bool
all_near(const struct df *df, uint32_t i, uint32_t j)
{
	uint32_t from = df->cable_first[df_pair(df, i, j)],
		 to = df->cable_first[df_pair(df, i, j) + 1];

	for (uint32_t m = df->first[i]; m < df->first[i + 1]; m++) {
		bool near = false;

		for (uint32_t c = from; !near && c < to; c++)
			near = df->cable_from[c] == df->member[m] ||
			    df->direct[df_local(df, df->member[m], df->cable_from[c])] != FM_NONE;
		if (!near)
			return false;
	}
	return true;
}

int
df_join_groups(struct df *df, struct fm_error *err)
{
	uint32_t n = df->n_groups;
	uint32_t *steps = fm_scratch_array(df->host, n, uint32_t);
	uint32_t *queue = fm_scratch_array(df->host, (size_t)df->fab->n_links + n, uint32_t);
	fm_link *cable = fm_scratch_array(df->host, df->fab->n_links, fm_link);
	bool complete = true;
	int rc = take_memory(df, err);

	if (rc != 0 || (rc = sort_cables(df, err)) != 0)
		return rc;
	if (steps == NULL || queue == NULL || cable == NULL)
		return fm_no_scratch(df->host, "cables between groups", err);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			size_t pair = df_pair(df, i, j);
			uint32_t from = df->cable_first[pair], to = df->cable_first[pair + 1];

			df->via[pair] = from < to || i == j ? j : FM_NONE;
			complete &= df->via[pair] == j;
			if (to - from > 1) {
				deal_cables(df, from, to, cable, queue);
				df->joint[pair] = !all_near(df, i, j);
			}
		}
	for (uint32_t j = 0; !complete && j < n; j++) {
		if (df->host->should_stop(df->host))
			return df->host->fail(
			    df->host, err, FM_E_CANCELLED, "stopped while groups were joined");
		find_ways(df, j, steps, queue);
		choose_ways(df, j, steps);
	}
	return 0;
}
