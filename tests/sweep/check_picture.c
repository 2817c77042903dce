/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture that is kept: made anew when something that it shows has changed, and only then.
 * That its key never stays when it would be another one storms look after (storm.c).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/picture/crossed.h"
#include "core/picture/kept.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

static struct rig rig;
static struct picture_kept kept;

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
}

static void
teardown(void)
{
	picture_drop(&kept);
	rig_fini(&rig);
}

/* Its text as it is asked for now. */
static const char *
ask(bool is_idle, const uint64_t *load)
{
	static const struct isolated none;
	const struct picture_of of = { .inv = sweeper_inventory(rig.sweeper),
		.todo = sweeper_todo(rig.sweeper),
		.isolated = &none,
		.plan = sweeper_plan(rig.sweeper),
		.load = load,
		.is_master = true };
	struct fm_error err;
	struct ctl_text text;

	ck_assert_int_eq(picture_keep(&kept, &of, is_idle, &err), 0);
	text = picture_text(&kept);
	ck_assert_uint_eq(text.bytes[text.n - 1], '}');
	text.release(text.bytes, text.n, text.arg);
	return text.bytes;
}

START_TEST(one_text_is_for_all_while_nothing_changes)
{
	const char *first = ask(true, NULL);
	uint64_t key = kept.key;

	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_ptr_eq(ask(true, NULL), first);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_ptr_eq(ask(true, NULL), first);
	ck_assert_uint_eq(kept.key, key);
}
END_TEST

START_TEST(what_changes_is_another_picture)
{
	uint64_t load[256] = { 7 };
	char generation[PICTURE_GENERATION_BYTES];

	ask(true, NULL);
	memcpy(generation, kept.generation, sizeof(generation));
	ask(true, load);
	ck_assert_str_ne(generation, kept.generation);
	memcpy(generation, kept.generation, sizeof(generation));
	sim_unlink(rig.sim, rig_host(&rig, 5), 1);
	rig_run(&rig, SWEEP_LIGHT);
	ask(true, load);
	ck_assert_str_ne(generation, kept.generation);
}
END_TEST

/* One who hangs up late has the text of before to the end. */
START_TEST(who_still_reads_keeps_the_old_text)
{
	struct ctl_text text;
	uint64_t load[256] = { 7 };
	char was[64];

	ask(true, NULL);
	text = picture_text(&kept);
	memcpy(was, text.bytes, sizeof(was));
	ask(true, load);
	ck_assert_int_eq(memcmp(was, text.bytes, sizeof(was)), 0);
	ck_assert_ptr_ne(text.bytes, ask(true, load));
	text.release(text.bytes, text.n, text.arg);
}
END_TEST

START_TEST(a_sweep_that_runs_shows_the_fabric_of_before)
{
	uint64_t load[256] = { 7 };
	const char *first;

	ask(false, NULL); /* there is none of before: what is known */
	ck_assert_ptr_eq(ask(false, load), ask(true, load));
	first = ask(true, load);
	ck_assert_ptr_eq(ask(false, NULL), first);
	ck_assert_ptr_ne(ask(true, NULL), first);
}
END_TEST

static const char *
ask_crossing(struct crossed *c, const struct plan *plan, const char *port)
{
	static char state[16];
	json_t *ports = json_string(port), *result = NULL;
	struct fm_error err;

	ck_assert_msg(
	    crossed_ask(c, sweeper_inventory(rig.sweeper), plan, ports, &result, &err) == 0, "%s",
	    err.msg);
	snprintf(state, sizeof(state), "%s", json_string_value(json_object_get(result, "state")));
	json_decref(ports);
	json_decref(result);
	return state;
}

static void
post(void *arg)
{
	sem_post(arg);
}

/* The worker has done what it was given: it does so in order.  The post of the last plan may still
 * be under way when the plan has been taken, so that rig.woken says nothing of this. */
static void
await_worker(void)
{
	sem_t done;

	sem_init(&done, 0, 0);
	ck_assert(plan_worker_run(rig.worker, post, &done));
	sem_wait(&done);
	sem_destroy(&done);
}

/* What was counted for one waits for him, though another asks meanwhile; when the other asks again
 * he is taken for gone. */
START_TEST(each_is_told_whose_routes_cross)
{
	const struct plan *plan;
	struct crossed *c;
	char port[2][40];

	rig_fini(&rig);
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.off_loop = true;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	plan = sweeper_plan(rig.sweeper);
	c = crossed_new(rig.worker);
	for (unsigned i = 0; i < 2; i++)
		snprintf(
		    port[i], sizeof(port[i]), "0x%jx:1", (uintmax_t)plan->snap->fab.sw_guid[i]);
	ck_assert_str_eq(ask_crossing(c, plan, port[0]), "counting");
	await_worker();
	ck_assert_str_eq(ask_crossing(c, plan, port[1]), "counting");
	ck_assert_str_eq(ask_crossing(c, plan, port[0]), "done");
	ck_assert_str_eq(ask_crossing(c, plan, port[0]), "counting");
	await_worker();
	ck_assert_str_eq(ask_crossing(c, plan, port[1]), "counting");
	ck_assert_str_eq(ask_crossing(c, plan, port[1]), "counting");
	await_worker();
	ck_assert_str_eq(ask_crossing(c, plan, port[1]), "done");
	crossed_free(c);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("picture");
	TCase *t = tcase_create("picture");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_text_is_for_all_while_nothing_changes);
	tcase_add_test(t, what_changes_is_another_picture);
	tcase_add_test(t, who_still_reads_keeps_the_old_text);
	tcase_add_test(t, a_sweep_that_runs_shows_the_fabric_of_before);
	tcase_add_test(t, each_is_told_whose_routes_cross);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
