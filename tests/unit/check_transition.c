/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transitions against brute force: small random graphs, old and new tables that
 * have nothing to do with each other, lost links, blank switches, links not yet
 * active, switches that fall silent.  After every block handed out and every
 * answer all contents that switches may hold are gone through.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/transition/transition.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "tests/run.h"

#define MAX_SWITCHES 9
#define N_LIDS 192 /* three blocks */
#define N_BLOCKS (N_LIDS / 64)
#define MAX_OPEN 64
#define HOST_PORT 20 /* of every switch; ports below lead to switches */

struct world {
	struct snapshot *snap;
	unsigned n, n_dests;
	uint16_t lid[MAX_SWITCHES * 2]; /* [n_dests] of the host at switch i % n */
	uint8_t old[MAX_SWITCHES][N_LIDS], new[MAX_SWITCHES][N_LIDS];
	uint8_t *rows[MAX_SWITCHES];
	struct fm_tables want;
	fm_sw behind[MAX_SWITCHES][HOST_PORT + 1]; /* live links */
	bool cold[MAX_SWITCHES][HOST_PORT + 1], warm;
	bool blank[MAX_SWITCHES];
	uint8_t rules[N_LIDS];
	/* what they hold, and what they may hold besides */
	uint8_t now[MAX_SWITCHES][N_LIDS], maybe[MAX_SWITCHES][N_LIDS];
	struct transition_block open[MAX_OPEN];
	unsigned n_open, n_loops, n_holes, n_blocks, n_lost, n_sent, n_waits, n_emptied;
	unsigned n_short, n_begun; /* waits at which a switch was short; before another step */
	bool half_way;		   /* a switch does not take all */
	bool unread; /* one was not read: ways that lead by it in the end may stay dead */
	bool quarantined[MAX_SWITCHES], refuses_one; /* of the silent switch's blocks */
	bool only_count;
	bool unknown;	  /* nothing is known of the one that was not read */
	unsigned n_fresh; /* the last so many switches have come with cold links */
	unsigned n_colds;
};

static struct world w;

static void
teardown(void)
{
	snapshot_put(w.snap);
	memset(&w, 0, sizeof(w));
}

/* ------------------------------------------------------------ random worlds */

static void
add_cable(struct snapshot_builder *b, unsigned *used, unsigned x, unsigned y)
{
	struct snapshot_cable c = { .sw = { x, y },
		.port = { (uint8_t)++used[x], (uint8_t)++used[y] },
		.n_vls = 1,
		.mbps = 1,
		.nominal_mbps = 1 };

	ck_assert(fm_vec_push(&b->cables, c));
}

/* Way towards dest along a random tree over the links given. */
static void
random_tree(struct fm_rng *rng, unsigned dest, fm_sw behind[][HOST_PORT + 1], uint16_t lid,
    uint8_t tables[][N_LIDS])
{
	bool in[MAX_SWITCHES] = { false };

	in[dest] = true;
	tables[dest][lid] = HOST_PORT;
	for (unsigned tries = 0; tries < 400; tries++) {
		unsigned sw = fm_rng_below(rng, w.n), p = 1 + fm_rng_below(rng, HOST_PORT - 1);
		fm_sw to = behind[sw][p];

		if (in[sw] || to == FM_NONE || !in[to])
			continue;
		in[sw] = true;
		tables[sw][lid] = (uint8_t)p;
	}
}

static void
lay_out(struct snapshot_builder *b, const struct fm_rng *seed, unsigned *used)
{
	struct fm_rng rng = *seed;

	for (unsigned i = 0; i < w.n; i++) {
		struct snapshot_switch s = { .guid = i + 1, .name = "sw", .n_ports = HOST_PORT };

		ck_assert(fm_vec_push(&b->switches, s));
	}
	for (unsigned i = 0; i + 1 < w.n; i++)
		add_cable(b, used, i, i + 1);
	for (unsigned i = 0; i < w.n; i++) {
		unsigned x = fm_rng_below(&rng, w.n), y = fm_rng_below(&rng, w.n);

		if (x != y && used[x] < HOST_PORT - 1 && used[y] < HOST_PORT - 1)
			add_cable(b, used, x, y);
	}
	for (unsigned i = 0; i < w.n_dests; i++) {
		struct snapshot_end e = { .guid = 100 + i,
			.name = "host",
			.sw = i % w.n,
			.port = HOST_PORT,
			.lid = w.lid[i],
			.kind = FM_END_CA,
			.n_vls = 1 };

		ck_assert(i >= w.n || fm_vec_push(&b->ends, e));
	}
}

static void
note_links(const struct snapshot_builder *b, size_t n_cables, fm_sw behind[][HOST_PORT + 1])
{
	memset(behind, 0xff, sizeof(w.behind));
	for (size_t i = 0; i < n_cables; i++) {
		const struct snapshot_cable *c = &b->cables.item[i];

		behind[c->sw[0]][c->port[0]] = c->sw[1];
		behind[c->sw[1]][c->port[1]] = c->sw[0];
	}
}

/* Some cables that the old tables use are gone, some are not active yet. */
static void
make_world(uint64_t seed, unsigned n, bool easy)
{
	fm_sw before[MAX_SWITCHES][HOST_PORT + 1];
	unsigned used[MAX_SWITCHES] = { 0 };
	struct snapshot_builder b = { 0 };
	struct fm_error err = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	memset(&w, 0, sizeof(w));
	w.n = w.n_dests = n;
	for (unsigned i = 0; i < n; i++)
		w.lid[i] = (uint16_t)(easy ? 1 + i : 1 + i * (seed % 2 ? 1 : 21));
	lay_out(&b, &rng, used);
	note_links(&b, b.cables.n, before);
	if (!easy && seed % 3 == 0 && b.cables.n > n)
		b.cables.n -= 1 + fm_rng_below(&rng, 2);
	note_links(&b, b.cables.n, w.behind);
	memset(w.old, 255, sizeof(w.old));
	memset(w.new, 255, sizeof(w.new));
	for (unsigned i = 0; i < n; i++) {
		random_tree(&rng, i, before, w.lid[i], w.old);
		random_tree(&rng, i, w.behind, w.lid[i], w.new);
		if (!easy && seed % 7 == 2) /* a switch that is reached no more by some */
			w.new[fm_rng_below(&rng, n)][w.lid[i]] = 255;
		if (!easy && seed % 11 == 4)
			w.old[fm_rng_below(&rng, n)][w.lid[i]] = 255;
	}
	for (unsigned i = 0; i < n && !easy; i++) {
		w.blank[i] = seed % 5 == 1 && fm_rng_below(&rng, 4) == 0;
		if (w.blank[i])
			memset(w.old[i], 255, sizeof(w.old[i]));
	}
	for (size_t i = 0; i < b.cables.n && !easy; i++)
		if (seed % 4 == 3 && fm_rng_below(&rng, 5) == 0) {
			const struct snapshot_cable *c = &b.cables.item[i];

			w.cold[c->sw[0]][c->port[0]] = w.cold[c->sw[1]][c->port[1]] = true;
		}
	ck_assert_msg(snapshot_build(&b, &w.snap, &err) == 0, "%s", err.msg);
	snapshot_builder_fini(&b);
	memcpy(w.now, w.old, sizeof(w.now));
	memcpy(w.maybe, w.old, sizeof(w.maybe));
	for (unsigned i = 0; i < n; i++)
		w.rows[i] = w.new[i];
	w.want = (struct fm_tables){ .lft = w.rows, .lft_stride = N_LIDS };
}

/* A switch that could not be read, and holds what the plan before says, or of which nothing is
 * known (w.unknown): FM_NONE, none. */
static struct transition *
make_transition_but(fm_sw unread)
{
	struct transition *t = transition_new(&w.snap->fab, &w.want, w.snap->fab.max_lid, w.rules);

	ck_assert_ptr_nonnull(t);
	for (unsigned i = 0; i < w.n; i++)
		for (uint32_t b = 0; b <= w.snap->fab.max_lid / 64u; b++)
			ck_assert(i == unread
				? w.unknown ? transition_unknown(t, i, b)
					    : transition_fix(t, i, b, w.old[i] + b * 64, NULL)
				: transition_add(t, i, b, w.blank[i] ? NULL : w.old[i] + b * 64));
	for (unsigned i = 0; i < w.n; i++)
		for (uint8_t p = 1; p <= HOST_PORT; p++)
			if (w.cold[i][p])
				transition_cold(t, i, p);
	ck_assert(transition_plan(t));
	return t;
}

static struct transition *
make_transition(void)
{
	return make_transition_but(FM_NONE);
}

/* -------------------------------------------------------------- brute force */

enum fate { ARRIVES, LOST, CIRCLES };

/* Where a packet from sw ends; bit i of choice: the i-th switch has what it may have. */
static enum fate
follow(unsigned sw, unsigned dest, unsigned choice, uint8_t now[][N_LIDS], uint8_t maybe[][N_LIDS],
    bool cold_is_lost)
{
	uint16_t lid = w.lid[dest];

	for (unsigned n = 0; n <= w.n; n++) {
		uint8_t port = choice >> sw & 1 ? maybe[sw][lid] : now[sw][lid];

		if (sw == dest && port == HOST_PORT)
			return ARRIVES;
		if (port > HOST_PORT || w.behind[sw][port] == FM_NONE)
			return LOST;
		if (cold_is_lost && w.cold[sw][port])
			return LOST;
		sw = w.behind[sw][port];
	}
	return CIRCLES;
}

static bool
matters(unsigned sw, unsigned dest)
{
	return follow(sw, dest, 0, w.old, w.old, true) == ARRIVES &&
	    follow(sw, dest, 0, w.new, w.new, false) == ARRIVES;
}

static void
check_dest(unsigned dest)
{
	uint16_t lid = w.lid[dest];
	unsigned either = 0;

	for (unsigned i = 0; i < w.n; i++)
		either |= (unsigned)(w.now[i][lid] != w.maybe[i][lid]) << i;
	for (unsigned choice = either;; choice = (choice - 1) & either) {
		for (unsigned i = 0; i < w.n; i++) {
			enum fate f = follow(i, dest, choice, w.now, w.maybe, !w.warm);

			w.n_loops += f == CIRCLES;
			w.n_holes += f == LOST && matters(i, dest);
		}
		if (choice == 0)
			break;
	}
	if (w.only_count)
		return;
	ck_assert_msg(w.n_loops == 0, "a loop of LID %u", lid);
	ck_assert_msg(w.n_holes == 0 || w.unread, "a hole of LID %u", lid);
}

/* Rule N: what is new is followed by what is new. */
static void
check_order(unsigned dest)
{
	uint16_t lid = w.lid[dest];

	for (unsigned i = 0; i < w.n; i++) {
		unsigned sw = i;

		if (w.old[i][lid] == w.new[i][lid] || w.maybe[i][lid] != w.new[i][lid])
			continue;
		for (unsigned n = 0; n < w.n && w.new[sw][lid] < HOST_PORT; n++) {
			sw = w.behind[sw][w.new[sw][lid]];
			if (w.old[sw][lid] == w.new[sw][lid])
				continue;
			ck_assert_msg(w.now[sw][lid] == w.new[sw][lid],
			    "LID %u: switch %u is new before switch %u", lid, i, sw);
			break;
		}
	}
}

/* Drained: old and new entries at no time together. */
static void
check_drained(unsigned dest)
{
	uint16_t lid = w.lid[dest];
	bool some_new = false, some_old = false;

	for (unsigned i = 0; i < w.n; i++) {
		if (w.old[i][lid] == w.new[i][lid])
			continue;
		some_new = some_new ||
		    (w.new[i][lid] != 255 &&
			(w.maybe[i][lid] == w.new[i][lid] || w.now[i][lid] == w.new[i][lid]));
		some_old = some_old ||
		    (w.old[i][lid] != 255 &&
			(w.maybe[i][lid] == w.old[i][lid] || w.now[i][lid] == w.old[i][lid]));
	}
	ck_assert_msg(!some_new || !some_old, "LID %u is not drained", lid);
}

static void
check_all(void)
{
	for (unsigned d = 0; d < w.n_dests; d++) {
		uint8_t rule = w.rules[w.lid[d]];

		if (!(rule & TRANSITION_DRAIN))
			check_dest(d);
		else if (!w.blank[0] && !w.half_way)
			check_drained(d);
		if ((rule & TRANSITION_DRAIN_COLUMN) == TRANSITION_NEXT_HOP_FIRST)
			check_order(d);
	}
}

/* Nothing leads a drained LID from switch to switch any more, changed entry or not. */
static void
check_whole(void)
{
	for (unsigned d = 0; d < w.n_dests; d++)
		for (unsigned i = 0; i < w.n; i++) {
			uint16_t lid = w.lid[d];

			if (w.rules[lid] != TRANSITION_DRAIN_COLUMN || w.old[i][lid] >= HOST_PORT)
				continue;
			w.n_emptied += w.old[i][lid] == w.new[i][lid];
			ck_assert_msg(
			    w.now[i][lid] == 255, "LID %u of switch %u is not emptied", lid, i);
		}
}

/* Does the entry, by all it may be, lead as it will in the end? */
static bool
is_new_now(unsigned sw, uint16_t lid)
{
	return w.now[sw][lid] == w.new[sw][lid] && w.maybe[sw][lid] == w.new[sw][lid];
}

static bool
is_empty_now(unsigned sw, uint16_t lid)
{
	bool emptied = (w.rules[lid] == TRANSITION_DRAIN_COLUMN && w.old[sw][lid] < HOST_PORT) ||
	    w.old[sw][lid] != w.new[sw][lid];

	return !emptied || (w.now[sw][lid] == 255 && w.maybe[sw][lid] == 255);
}

/* What comes now rests on what was to be written: by which a step may be begun, and that the
 * drained are empty but for switches that are said to be short. */
static void
check_steps(const struct transition *t, fm_sw silent)
{
	bool to_fill = transition_is_to_fill(t), is_short = false;
	unsigned n_old = 0;

	for (unsigned d = 0; d < w.n_dests; d++)
		for (unsigned i = 0; i < w.n; i++) {
			uint8_t rule = w.rules[w.lid[d]];
			bool late = (rule & TRANSITION_STEP) > w.n_waits;

			if (rule & TRANSITION_DRAIN)
				is_short = is_short || !is_empty_now(i, w.lid[d]);
			else
				n_old += (to_fill || !late) && !is_new_now(i, w.lid[d]);
			ck_assert(
			    !(rule & TRANSITION_DRAIN) || i == silent || is_empty_now(i, w.lid[d]));
		}
	ck_assert_msg(to_fill || n_old == 0, "another step is begun on %u old entries", n_old);
	ck_assert_msg(
	    !to_fill || silent != FM_NONE || n_old == 0, "%u entries are left out", n_old);
	ck_assert_msg(!is_short || transition_is_partial(t), "a switch is short");
	ck_assert_msg(silent != FM_NONE || !transition_is_partial(t), "no switch is short");
	w.n_short += is_short;
	w.n_begun += !to_fill;
}

/* ------------------------------------------------------------------ playing */

static void
send_block(const struct transition_block *b)
{
	for (unsigned i = 0; i < w.n_open; i++)
		ck_assert_msg(w.open[i].sw != b->sw || w.open[i].block != b->block,
		    "two Sets of one block at once");
	ck_assert_uint_lt(w.n_open, MAX_OPEN);
	ck_assert_msg(!w.quarantined[b->sw], "a Set to a switch in quarantine");
	w.open[w.n_open++] = *b;
	w.n_sent++;
	memcpy(w.maybe[b->sw] + b->block * 64, b->bytes, 64);
	check_all();
}

static void
answer(struct transition *t, unsigned i, bool lost)
{
	struct transition_block b = w.open[i];

	w.open[i] = w.open[--w.n_open];
	if (lost) {
		w.n_lost++;
		transition_lost(t, b.sw, b.block);
		if (!w.refuses_one) {
			transition_quarantine(t, b.sw);
			w.quarantined[b.sw] = true;
		}
	} else {
		memcpy(w.now[b.sw] + b.block * 64, b.bytes, 64);
		transition_done(t, b.sw, b.block);
	}
	check_all();
}

/* choose(n): one of n; window: Sets out at once. */
static void
play(struct transition *t, unsigned window, unsigned (*choose)(void *, unsigned), void *arg,
    fm_sw silent)
{
	struct transition_block b;

	for (unsigned steps = 0; steps < 100000; steps++) {
		enum transition_action step = TRANSITION_BUSY;

		if (w.n_open < window)
			step = transition_next(t, &b);
		switch (step) {
		case TRANSITION_SEND:
			send_block(&b);
			break;
		case TRANSITION_BUSY: {
			unsigned i = choose(arg, w.n_open);

			answer(t, i, w.open[i].sw == silent);
			break;
		}
		case TRANSITION_COLD:
			for (unsigned i = w.n - w.n_fresh; i < w.n; i++)
				ck_assert(memcmp(w.now[i], w.new[i], N_LIDS) == 0);
			w.n_colds++;
			w.warm = true;
			transition_warm(t);
			break;
		case TRANSITION_WAIT:
			ck_assert_uint_eq(w.n_open, 0);
			if (silent == FM_NONE)
				check_whole();
			check_steps(t, silent);
			w.n_waits++;
			transition_waited(t);
			break;
		case TRANSITION_DONE:
			return;
		}
	}
	ck_abort_msg("the transition does not end");
}

static unsigned
by_chance(void *arg, unsigned n)
{
	return fm_rng_below(arg, n);
}

static void
expect_done(const struct transition *t)
{
	ck_assert_uint_eq(transition_counts(t)->held, 0);
	ck_assert_uint_eq(transition_counts(t)->writes, w.n_sent);
	ck_assert_int_eq(memcmp(w.now, w.new, sizeof(w.now)), 0);
	for (unsigned i = 0; i < w.n; i++)
		for (uint32_t b = 0; b <= w.snap->fab.max_lid / 64u; b++)
			ck_assert(transition_is_new(t, i, b));
}

static unsigned
n_seeds(unsigned n)
{
	return getenv("FMD_LONG") != NULL ? 50 * n : n;
}

START_TEST(no_moment_has_a_loop_or_a_hole)
{
	unsigned n_splits = 0, n_risky = 0;

	for (unsigned seed = 0; seed < n_seeds(1500); seed++) {
		unsigned n = 3 + seed % (MAX_SWITCHES - 2);
		struct transition *t;
		struct fm_rng rng;

		make_world(seed, n, false);
		fm_rng_seed(&rng, seed);
		t = make_transition();
		play(t, 1 + seed % 7, by_chance, &rng, FM_NONE);
		expect_done(t);
		n_splits += transition_counts(t)->splits;
		n_risky += transition_counts(t)->risky;
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_risky, 100);
	ck_assert_uint_gt(n_splits, 10);
}
END_TEST

/* What is held back is told, and the rest is as safe as ever. */
START_TEST(a_switch_may_fall_silent)
{
	unsigned n_held = 0;

	for (unsigned seed = 0; seed < n_seeds(1500); seed++) {
		struct transition *t;
		struct fm_rng rng;

		make_world(seed, 3 + seed % (MAX_SWITCHES - 2), false);
		fm_rng_seed(&rng, seed);
		t = make_transition();
		play(t, 1 + seed % 7, by_chance, &rng, fm_rng_below(&rng, w.n));
		for (unsigned i = 0; i < w.n; i++)
			for (uint32_t b = 0; b <= w.snap->fab.max_lid / 64u; b++)
				ck_assert(!transition_is_new(t, i, b) ||
				    memcmp(w.now[i] + b * 64, w.new[i] + b * 64, 64) == 0);
		n_held += transition_counts(t)->held;
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_held, 100);
}
END_TEST

/* The last switch has come, with entries of some other time; no old way leads by it. */
static void
make_fresh(uint64_t seed)
{
	unsigned f = w.n - 1;
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	w.n_fresh = 1;
	memset(w.old, 255, sizeof(w.old));
	w.n = f;
	for (unsigned i = 0; i < f; i++)
		random_tree(&rng, i, w.behind, w.lid[i], w.old);
	w.n = f + 1;
	for (unsigned p = 1; p <= HOST_PORT; p++)
		if (w.behind[f][p] != FM_NONE)
			w.cold[f][p] = true;
	for (unsigned i = 0; i < f; i++)
		for (unsigned p = 1; p <= HOST_PORT; p++)
			if (w.behind[i][p] == f)
				w.cold[i][p] = true;
	for (unsigned i = 0; i <= f; i++)
		w.old[f][w.lid[i]] = (uint8_t)(1 + fm_rng_below(&rng, 3));
	memcpy(w.now, w.old, sizeof(w.now));
	memcpy(w.maybe, w.old, sizeof(w.maybe));
}

/* What a new switch holds is written over before packets come to it. */
START_TEST(a_new_switch_is_written_first)
{
	unsigned n_colds = 0;

	for (unsigned seed = 0; seed < n_seeds(500); seed++) {
		struct transition *t;
		struct fm_rng rng;

		make_world(seed, 3 + seed % (MAX_SWITCHES - 2), true);
		make_fresh(seed);
		fm_rng_seed(&rng, seed);
		t = make_transition();
		play(t, 1 + seed % 7, by_chance, &rng, FM_NONE);
		expect_done(t);
		n_colds += w.n_colds;
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_colds, 100);
}
END_TEST

/* Nobody leads packets to a switch of which nothing is known; then they might go round. */
START_TEST(what_is_unknown_is_not_led_to)
{
	unsigned n_held = 0, n_short = 0;

	for (unsigned seed = 0; seed < n_seeds(500); seed++) {
		struct transition *t;
		struct fm_rng rng;
		unsigned f;

		make_world(seed, 3 + seed % (MAX_SWITCHES - 2), true);
		make_fresh(seed);
		f = w.n - 1;
		w.n_fresh = 0;
		w.unknown = w.unread = true;
		fm_rng_seed(&rng, seed);
		t = make_transition_but(f);
		play(t, 1 + seed % 7, by_chance, &rng, FM_NONE);
		for (unsigned i = 0; i < f; i++)
			for (unsigned d = 0; d < f; d++) {
				uint8_t port = w.now[i][w.lid[d]];

				ck_assert(port == w.old[i][w.lid[d]] || port > HOST_PORT ||
				    w.behind[i][port] != f);
			}
		ck_assert(!transition_is_new(t, f, 0) && transition_is_unknown(t, f, 0));
		n_held += transition_counts(t)->held;
		n_short += transition_is_partial(t);
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_held, 100);
	ck_assert_uint_gt(n_short, 400);
}
END_TEST

/* The judge is no rubber stamp. */
START_TEST(without_admission_there_are_both)
{
	unsigned n_loops = 0, n_holes = 0;

	for (unsigned seed = 0; seed < 300; seed++) {
		struct transition *t;
		struct fm_rng rng;

		make_world(seed, 3 + seed % (MAX_SWITCHES - 2), false);
		w.only_count = true;
		fm_rng_seed(&rng, seed);
		t = make_transition();
		transition_unordered(t);
		play(t, 1 + seed % 7, by_chance, &rng, FM_NONE);
		n_loops += w.n_loops;
		n_holes += w.n_holes;
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_loops, 100);
	ck_assert_uint_gt(n_holes, 100);
}
END_TEST

/* --------------------------------------------------------- every order there is */

struct tape {
	unsigned choice[64], of[64], n, at;
};

static unsigned
by_tape(void *arg, unsigned n)
{
	struct tape *tape = arg;

	ck_assert_uint_lt(tape->at, 64);
	if (tape->at == tape->n) {
		tape->choice[tape->n] = 0;
		tape->of[tape->n++] = n;
	}
	return tape->choice[tape->at++];
}

/* The next tape in order; false: that was the last. */
static bool
wind_on(struct tape *tape)
{
	while (tape->n > 0 && ++tape->choice[tape->n - 1] == tape->of[tape->n - 1])
		tape->n--;
	tape->at = 0;
	return tape->n > 0;
}

START_TEST(every_order_of_answers_is_safe)
{
	unsigned n_orders = 0;

	for (unsigned seed = 0; seed < n_seeds(400); seed++) {
		struct tape tape = { .n = 0 };

		do {
			struct transition *t;

			make_world(seed, 4, seed % 2 == 0);
			t = make_transition();
			play(t, 4, by_tape, &tape, FM_NONE);
			expect_done(t);
			transition_free(t);
			teardown();
			n_orders++;
		} while (wind_on(&tape));
	}
	ck_assert_uint_gt(n_orders, 2000);
}
END_TEST

/* ---------------------------------------------------------- steps and drains */

static void
random_rules(struct fm_rng *rng)
{
	static const uint8_t rules[] = { 0, TRANSITION_NEXT_HOP_FIRST, 1,
		1 | TRANSITION_NEXT_HOP_FIRST, TRANSITION_DRAIN, 2, TRANSITION_DRAIN_COLUMN };

	for (unsigned d = 0; d < w.n_dests; d++)
		w.rules[w.lid[d]] = rules[fm_rng_below(rng, 7)];
}

START_TEST(rules_are_kept)
{
	unsigned n_drained = 0, n_waits = 0, n_emptied = 0;

	for (unsigned seed = 0; seed < n_seeds(1000); seed++) {
		struct transition *t;
		struct fm_rng rng;

		make_world(seed * 35, 3 + seed % (MAX_SWITCHES - 2), true);
		fm_rng_seed(&rng, seed);
		random_rules(&rng);
		t = make_transition();
		play(t, 1 + seed % 7, by_chance, &rng, FM_NONE);
		expect_done(t);
		n_drained += transition_counts(t)->drained;
		n_waits += w.n_waits;
		n_emptied += w.n_emptied;
		ck_assert_uint_eq(transition_counts(t)->waits, w.n_waits);
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_drained, 100);
	ck_assert_uint_gt(n_waits, 100);
	ck_assert_uint_gt(n_emptied, 100);
}
END_TEST

/* What is said afterwards of a switch that was not to be written. */
static void
check_unwritten(const struct transition *t, fm_sw silent)
{
	for (uint32_t b = 0; w.quarantined[silent] && b <= w.snap->fab.max_lid / 64u; b++) {
		ck_assert(!w.unread || !transition_is_new(t, silent, b));
		ck_assert(!transition_is_pending(t, silent, b));
	}
	for (unsigned d = 0; w.unread && d < w.n_dests; d++)
		ck_assert_int_eq(transition_settled(t, silent, w.lid[d]),
		    w.old[silent][w.lid[d]] == w.new[silent][w.lid[d]]);
}

/* ... by switches that do not answer any more, have not from the start, could not be read, or
 * refuse a block. */
START_TEST(rules_are_kept_half_way)
{
	unsigned n_short = 0, n_begun = 0, n_held = 0;

	for (unsigned seed = 0; seed < n_seeds(1500); seed++) {
		struct transition *t;
		struct fm_rng rng;
		fm_sw silent;

		make_world(seed * 35, 3 + seed % (MAX_SWITCHES - 2), true);
		fm_rng_seed(&rng, seed);
		random_rules(&rng);
		w.half_way = true;
		w.refuses_one = seed % 4 == 1;
		w.unread = seed % 4 == 3;
		silent = fm_rng_below(&rng, w.n);
		t = make_transition_but(seed % 4 == 3 ? silent : FM_NONE);
		w.quarantined[silent] = seed % 4 >= 2;
		if (seed % 4 == 2)
			transition_quarantine(t, silent);
		play(t, 1 + seed % 7, by_chance, &rng, silent);
		check_unwritten(t, silent);
		n_short += w.n_short;
		n_begun += w.n_begun;
		n_held += transition_counts(t)->held;
		transition_free(t);
		teardown();
	}
	ck_assert_uint_gt(n_short, 100);
	ck_assert_uint_gt(n_begun, 20);
	ck_assert_uint_gt(n_held, 100);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("transition");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, no_moment_has_a_loop_or_a_hole);
	tcase_add_test(t, a_switch_may_fall_silent);
	tcase_add_test(t, a_new_switch_is_written_first);
	tcase_add_test(t, what_is_unknown_is_not_led_to);
	tcase_add_test(t, without_admission_there_are_both);
	tcase_add_test(t, every_order_of_answers_is_safe);
	tcase_add_test(t, rules_are_kept);
	tcase_add_test(t, rules_are_kept_half_way);
	suite_add_tcase(s, t);
	return run_suite(s);
}
