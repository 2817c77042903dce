/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_wait.c - until the sweep that was asked for has ended.
 *
 * The daemon says which one that is, and then, ten times a second, which one ended last and how.
 * It knows nothing of who waits: to stop waiting (Ctrl-C) changes nothing there.
 */
#include "core/ctl/ctl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "tools/fmctl.h"

#define ANSWER_S 30 /* for each question */
#define POLL_MS 100

struct wait {
	const struct ask *a;
	json_int_t sweep; /* the one to wait for */
	json_int_t last;  /* the highest number that was seen */
	bool until_converged;
	int64_t start_ms;
};

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* On a terminal only, in one line that is written over. */
static void
show_progress(const struct wait *w, const json_t *p)
{
	if (isatty(STDERR_FILENO) == 0)
		return;
	if (p == NULL)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[Ksweep %" JSON_INTEGER_FORMAT ": %s, %.1f s",
		    fmctl_number(p, "sweep"), fmctl_string(p, "phase"),
		    (double)(now_ms() - w->start_ms) / 1000);
	fflush(stderr);
}

/* How the sweep ended: a row of what progress says of it. */
static const struct ending {
	const char *outcome;
	enum fmd_exit code;
	const char *sentence;
} endings[] = {
	{ "up", FMD_EXIT_OK, "the subnet is up" },
	{ "unchanged", FMD_EXIT_OK, "nothing has changed" },
	{ "standby", FMD_EXIT_OTHER_MASTER, "another SM is master" },
	{ "not-routed", FMD_EXIT_NOT_ROUTED, "the fabric could not be routed" },
	{ "no-link", FMD_EXIT_SYSTEM, "our port has no link" },
	{ "failed", FMD_EXIT_SYSTEM, "the sweep failed" },
};

/* Is it over?  Then how. */
static bool
is_over(const struct wait *w, const json_t *p, int *code, const char **sentence)
{
	const struct ending *e = NULL;

	if (fmctl_number(p, "ended") < w->sweep)
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(endings[i].outcome, fmctl_string(p, "outcome")) == 0)
			e = &endings[i];
	if (e == NULL)
		return false;
	*code = e->code;
	*sentence = e->sentence;
	if (e->code != FMD_EXIT_OK)
		return true;
	if (fmctl_number(p, "unreachable_pairs") > 0) {
		*code = FMD_EXIT_NOT_ROUTED;
		*sentence = "the subnet is up, but pairs that cables join have no path";
	} else if (w->until_converged && fmctl_number(p, "unfinished") > 0) {
		*code = FMD_EXIT_TROUBLE;
		*sentence = "the subnet is up, but not all is as it should be (fmctl trouble)";
		return !json_is_true(json_object_get(p, "tries_again"));
	}
	return true;
}

static int
ask_progress(struct wait *w, json_t **p, struct fm_error *err)
{
	json_t *none = json_object();
	int rc = ctl_call(w->a->socket, "progress", none, ANSWER_S, p, err);

	json_decref(none);
	if (rc != 0)
		return rc;
	if (fmctl_number(*p, "sweep") < w->last)
		return fm_fail(err, FM_E_SYSTEM, "fmd was started anew meanwhile");
	w->last = fmctl_number(*p, "sweep");
	return 0;
}

static int
wait_for(struct wait *w, int *code, const char **sentence, json_t **p, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	int rc;

	while ((rc = ask_progress(w, p, err)) == 0 && !is_over(w, *p, code, sentence)) {
		show_progress(w, *p);
		if (w->a->timeout_s > 0 && now_ms() - w->start_ms > w->a->timeout_s * INT64_C(1000))
			return fm_fail(err, FM_E_SYSTEM,
			    "not over after %u s: sweep %" JSON_INTEGER_FORMAT
			    " is in phase %s; fmd goes on",
			    w->a->timeout_s, fmctl_number(*p, "sweep"), fmctl_string(*p, "phase"));
		json_decref(*p);
		*p = NULL;
		nanosleep(&pause, NULL);
	}
	return rc;
}

int
fmctl_wait(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err)
{
	struct wait w = { .a = a,
		.sweep = fmctl_number(begun, "sweep"),
		.until_converged = strcmp(a->command, "reload") == 0,
		.start_ms = now_ms() };
	const char *sentence = "";
	json_t *p = NULL;
	int rc;

	if (json_object_get(begun, "sweep") == NULL)
		return fm_fail(err, FM_E_CONFIG, "this fmd does not say what to wait for");
	rc = wait_for(&w, code, &sentence, &p, err);
	show_progress(&w, NULL);
	if (rc == 0)
		*result = json_pack("{s:O?, s:O?, s:s, s:f, s:O*}", "sweep",
		    json_object_get(p, "ended"), "outcome", json_object_get(p, "outcome"), "says",
		    sentence, "seconds", (double)(now_ms() - w.start_ms) / 1000, "needs_restart",
		    json_object_get(begun, "needs_restart"));
	json_decref(p);
	return rc;
}
