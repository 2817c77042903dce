/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmctl COMMAND [WORD|KEY=VALUE]...: talk to a running fmd.
 *
 * The commands are the daemon's: fmctl sends the name and prints what comes
 * back, as JSON or as aligned text, so that a new command needs nothing here.
 */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/conf/cli.h"
#include "core/ctl/ctl.h"
#include "core/text/standard.h"
#include "lib/error.h"

static const char usage[] =
    "usage: fmctl [OPTION]... COMMAND [WORD|KEY=VALUE]...\n"
    "Talk to a running fmd.\n\n"
    "  status               state of the subnet manager, the last sweep\n"
    "  routes               which engine routes what, and why others refused\n"
    "  regions              what each region holds, its borders, who routes it\n"
    "  partitions [pkey=N]  who may talk to whom; the members of one\n"
    "  path FROM TO         the way of packets, hop by hop: LIDs, GUIDs or names\n"
    "  verify [--readback]  the verdict on the routes, or on what switches hold\n"
    "  trouble              what is wrong in the fabric, where, since when\n"
    "  events [after=N]     what happened lately\n"
    "  sweep [light|heavy]  sweep now\n"
    "  drain [--dry-run]    take up tables that wait for entries to be emptied\n"
    "  reload               read the configuration again\n"
    "  help                 all commands of this daemon\n\n"
    "  --json               print the answer as JSON\n"
    "  --socket=PATH        control socket (" RUN_DIR "/fmd.sock)\n"
    "  --state-dir=DIR      that of an fmd started with --state-dir: DIR/fmd.sock\n"
    "  --timeout=SECONDS    wait so long for the answer (30)\n"
    "  --help, --version\n\n"
    "Exit codes: 0 ok, 1 nobody answers, or not in full, 2 usage or refused, 3 not routed.\n";

/* ------------------------------------------------------------------- text */

static void print_value(const json_t *value, int depth, FILE *out);

static void
print_scalar(const json_t *v, FILE *out)
{
	if (json_is_string(v))
		fputs(json_string_value(v), out);
	else if (json_is_integer(v))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		fprintf(out, "%.3f", json_real_value(v));
	else
		fputs(json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "-", out);
}

static bool
is_nested(const json_t *v)
{
	return (json_is_object(v) && json_object_size(v) > 0) ||
	    (json_is_array(v) && json_array_size(v) > 0);
}

/* Something that is wrong. */
static bool
print_trouble(const json_t *v, FILE *out)
{
	const char *since = json_string_value(json_object_get(v, "since"));
	const char *kind = json_string_value(json_object_get(v, "kind"));
	const char *text = json_string_value(json_object_get(v, "text"));
	const json_t *next = json_object_get(v, "next_ms");
	char when[48] = "next with a light sweep";

	if (since == NULL || kind == NULL || text == NULL)
		return false;
	if (json_is_integer(next))
		snprintf(when, sizeof(when), "next in %" JSON_INTEGER_FORMAT " ms",
		    json_integer_value(next) > 0 ? json_integer_value(next) : 0);
	fprintf(out, "%s  %-14s  %s (tried %" JSON_INTEGER_FORMAT " times, %s)\n", since, kind,
	    text, json_integer_value(json_object_get(v, "tries")), when);
	return true;
}

/* One event: a line of the log. */
static bool
print_event(const json_t *v, FILE *out)
{
	const char *time = json_string_value(json_object_get(v, "time"));
	const char *level = json_string_value(json_object_get(v, "level"));
	const char *text = json_string_value(json_object_get(v, "text"));

	if (time == NULL || level == NULL || text == NULL)
		return false;
	fprintf(out, "%s  %-6s  %s\n", time, level, text);
	return true;
}

static void
print_object(const json_t *object, int depth, FILE *out)
{
	size_t width = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) width =
	    strlen(key) > width ? strlen(key) : width;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		fprintf(out, "%*s%-*s  ", depth * 2, "", is_nested(value) ? 0 : (int)width, key);
		if (is_nested(value))
			fputc('\n', out);
		print_value(value, depth + 1, out);
	}
}

static void
print_array(const json_t *array, int depth, FILE *out)
{
	size_t i;
	json_t *value;

	json_array_foreach(array, i, value)
	{
		if (print_event(value, out) || print_trouble(value, out))
			continue;
		if (i > 0 && is_nested(value))
			fputc('\n', out);
		if (!is_nested(value))
			fprintf(out, "%*s", depth * 2, "");
		print_value(value, depth, out);
	}
}

/* A value and its line end; nested ones begin on a line of their own. */
static void
print_value(const json_t *value, int depth, FILE *out)
{
	if (json_is_object(value) && is_nested(value)) {
		print_object(value, depth, out);
	} else if (json_is_array(value) && is_nested(value)) {
		print_array(value, depth, out);
	} else {
		print_scalar(value, out);
		fputc('\n', out);
	}
}

/* -------------------------------------------------------------- arguments */

struct ask {
	const char *socket, *command;
	char path[4096]; /* where socket points with --state-dir */
	json_t *args;
	unsigned timeout_s;
	bool json;
};

/* NULL: all that the command takes without KEY= is said. */
static const char *
next_name(const struct ask *a)
{
	static const struct {
		const char *command, *names[3];
	} rows[] = { { "sweep", { "scope" } }, { "path", { "from", "to" } } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].command, a->command) == 0)
			for (const char *const *n = rows[i].names; *n != NULL; n++)
				if (json_object_get(a->args, *n) == NULL)
					return *n;
	return NULL;
}

static int
put(struct ask *a, const char *key, json_t *value, const char *word, struct fm_error *err)
{
	if (json_object_set_new(a->args, key, value) != 0)
		return fm_fail(err, FM_E_CONFIG, "%.100s is no UTF-8 text", word);
	return 0;
}

/* "after=12" is {"after":12}, "light" of sweep {"scope":"light"}. */
static int
add_word(struct ask *a, const char *word, struct fm_error *err)
{
	const char *equals = strchr(word, '='), *name;
	json_int_t number;
	json_t *value;
	char key[64], *end;

	if (equals == NULL && (name = next_name(a)) != NULL)
		return put(a, name, json_string(word), word, err);
	if (equals == NULL || equals == word || (size_t)(equals - word) >= sizeof(key))
		return fm_fail(err, FM_E_CONFIG, "unexpected argument %s: write KEY=VALUE", word);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	number = strtoll(equals + 1, &end, 0);
	value = end != equals + 1 && *end == '\0' ? json_integer(number) : json_string(equals + 1);
	return put(a, key, value, word, err);
}

static int
take_timeout(struct ask *a, const char *text, struct fm_error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < 1 || n > 86400)
		return fm_fail(err, FM_E_CONFIG, "--timeout=%s: write 1..86400 seconds", text);
	a->timeout_s = (unsigned)n;
	return 0;
}

enum {
	OPT_JSON = 256,
	OPT_DRY_RUN,
	OPT_READBACK,
	OPT_SOCKET,
	OPT_STATE_DIR,
	OPT_TIMEOUT,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "readback", no_argument, NULL, OPT_READBACK },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

/* 0, a kind, or 1 when all is said (--help, --version). */
static int
take_option(struct ask *a, int option, const char *word, struct fm_error *err)
{
	switch (option) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_DRY_RUN:
		return json_object_set_new(a->args, "dry_run", json_true());
	case OPT_READBACK:
		return json_object_set_new(a->args, "readback", json_true());
	case OPT_SOCKET:
		a->socket = optarg;
		return 0;
	case OPT_STATE_DIR:
		a->socket = a->path;
		return (size_t)snprintf(a->path, sizeof(a->path), "%s/fmd.sock", optarg) <
			sizeof(a->path)
		    ? 0
		    : fm_fail(
			  err, FM_E_CONFIG, "--state-dir=%.40s...: the path is too long", optarg);
	case OPT_TIMEOUT:
		return take_timeout(a, optarg, err);
	case OPT_HELP:
		fputs(usage, stdout);
		return 1;
	case OPT_VERSION:
		puts("fmctl " PACKAGE_VERSION);
		return 1;
	default:
		return fm_fail(err, FM_E_CONFIG,
		    "%s is no option of fmctl, or lacks its value; see --help", word);
	}
}

static int
parse(struct ask *a, int argc, char *const argv[], struct fm_error *err)
{
	int option, rc = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		if ((rc = take_option(a, option, argv[optind - 1], err)) != 0)
			return rc;
	if (optind == argc)
		return fm_fail(err, FM_E_CONFIG,
		    "no command: status, routes, regions, partitions, path, verify, trouble, "
		    "events, sweep, drain, reload or help");
	a->command = argv[optind];
	if (json_object_get(a->args, "dry_run") != NULL && strcmp(a->command, "drain") != 0)
		return fm_fail(err, FM_E_CONFIG, "--dry-run is for \"drain\" only");
	if (json_object_get(a->args, "readback") != NULL && strcmp(a->command, "verify") != 0)
		return fm_fail(err, FM_E_CONFIG, "--readback is for \"verify\" only");
	for (int i = optind + 1; rc == 0 && i < argc; i++)
		rc = add_word(a, argv[i], err);
	return rc;
}

static bool
is_in_state(const json_t *result, const char *state)
{
	const char *now = json_string_value(json_object_get(result, "state"));

	return now != NULL && strcmp(now, state) == 0;
}

/* A verification is asked after until it is done. */
static int
call(const struct ask *a, json_t **result, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = 200000000 };
	int rc = ctl_call(a->socket, a->command, a->args, a->timeout_s, result, err);

	for (unsigned i = 0; rc == 0 && strcmp(a->command, "verify") == 0; i++) {
		if (is_in_state(*result, "failed"))
			return fm_fail(err, FM_E_SYSTEM, "%s",
			    json_string_value(json_object_get(*result, "reason")));
		if (!is_in_state(*result, "reading") && !is_in_state(*result, "judging"))
			return 0;
		if (i >= 5 * a->timeout_s)
			return fm_fail(err, FM_E_SYSTEM,
			    "not all is read after %u s; ask again, or with a longer --timeout=",
			    a->timeout_s);
		nanosleep(&pause, NULL);
		json_decref(*result);
		*result = NULL;
		rc = ctl_call(a->socket, a->command, a->args, a->timeout_s, result, err);
	}
	return rc;
}

/* A verdict that found something wrong. */
static bool
is_bad_verdict(const json_t *result)
{
	static const char *const wrong[] = { "loops", "credit_loops", "wrong_host" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (json_integer_value(json_object_get(result, wrong[i])) > 0)
			return true;
	return false;
}

int
main(int argc, char *argv[])
{
	struct ask a = { .socket = RUN_DIR "/fmd.sock", .timeout_s = 30, .args = json_object() };
	struct fm_error err = { 0 };
	json_t *result = NULL;
	bool bad;
	int rc;

	fm_standard_claim();
	rc = parse(&a, argc, argv, &err);
	if (rc == 0)
		rc = call(&a, &result, &err);
	bad = rc == 0 && strcmp(a.command, "verify") == 0 && is_bad_verdict(result);
	if (rc == 0 && a.json) {
		json_dumpf(result, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
		putchar('\n');
	} else if (rc == 0) {
		print_value(result, 0, stdout);
	}
	json_decref(result);
	json_decref(a.args);
	if (rc >= 0 && fm_standard_flush(&err) != 0)
		rc = (int)err.kind;
	if (rc >= 0)
		return bad ? FMD_EXIT_NOT_ROUTED : FMD_EXIT_OK;
	fprintf(stderr, "fmctl: %s\n", err.msg);
	return exit_code_of(&err);
}
