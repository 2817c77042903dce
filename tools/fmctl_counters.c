/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_counters.c - what fmd-perf has counted: top and counters, as tables, and their exit
 * codes.
 */
#include <string.h>

#include "core/conf/cli.h"
#include "tools/fmctl.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define I JSON_INTEGER_FORMAT

int
fmctl_judge_top(const json_t *result)
{
	return json_is_true(json_object_get(result, "stale")) ||
		fmctl_number(result, "ports_read") < fmctl_number(result, "ports_wanted")
	    ? FMD_EXIT_TROUBLE
	    : FMD_EXIT_OK;
}

/* By the ports that are asked for. */
int
fmctl_judge_counters(const json_t *result)
{
	const json_t *ports = json_object_get(result, "ports");
	bool is_well = !json_is_true(json_object_get(result, "stale"));

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const char *state = fmctl_string(json_array_get(ports, i), "state");

		is_well = is_well && (strcmp(state, "read") == 0 || strcmp(state, "no cable") == 0);
	}
	return is_well ? FMD_EXIT_OK : FMD_EXIT_TROUBLE;
}

static void
say_gbit(const json_t *row, const char *key, char *buf, size_t size)
{
	if (json_is_integer(json_object_get(row, key)))
		snprintf(buf, size, "%.3f", (double)fmctl_number(row, key) * 8 / 1e9);
	else
		snprintf(buf, size, "-");
}

static void
say_out(const json_t *row, char *buf, size_t size)
{
	say_gbit(row, "xmit_bytes_per_s", buf, size);
}

static void
say_in(const json_t *row, char *buf, size_t size)
{
	say_gbit(row, "rcv_bytes_per_s", buf, size);
}

static void
say_percent(const json_t *row, char *buf, size_t size)
{
	json_int_t mbps = fmctl_number(row, "mbps");

	if (mbps > 0 && json_is_integer(json_object_get(row, "xmit_bytes_per_s")))
		snprintf(buf, size, "%.1f",
		    (double)fmctl_number(row, "xmit_bytes_per_s") * 8 / 1e4 / (double)mbps);
	else
		snprintf(buf, size, "-");
}

static void
say_planned(const json_t *row, char *buf, size_t size)
{
	if (fmctl_number(row, "planned_routes") > 0)
		snprintf(buf, size, "%" I, fmctl_number(row, "planned_routes"));
	else
		snprintf(buf, size, "-");
}

static void
add_note(const char *note, char *buf, size_t size)
{
	size_t at = strlen(buf);

	snprintf(buf + at, size - at, "%s%s", at > 0 ? ", " : "", note);
}

static void
say_notes(const json_t *row, char *buf, size_t size)
{
	const char *state = fmctl_string(row, "state");

	buf[0] = '\0';
	if (strcmp(state, "read") != 0)
		add_note(state, buf, size);
	if (json_is_true(json_object_get(row, "reset")))
		add_note("was cleared", buf, size);
	if (json_array_size(json_object_get(row, "at_end")) > 0)
		add_note("at its end", buf, size);
}

/* "leaf-1 24, leaf-2 24, 34 more" */
static size_t
say_most(const json_t *crossed, const char *key, const char *count, char *buf, size_t size)
{
	enum { SHOWN = 2 };
	const json_t *list = json_object_get(crossed, key);
	json_int_t n = fmctl_number(crossed, count);
	size_t at = 0;

	for (size_t i = 0; i < SHOWN && i < json_array_size(list) && at < size; i++) {
		const json_t *one = json_array_get(list, i);

		at += (size_t)snprintf(buf + at, size - at, "%s%.40s %" I, i > 0 ? ", " : "",
		    json_is_string(json_array_get(one, 0))
			? json_string_value(json_array_get(one, 0))
			: "?",
		    json_integer_value(json_array_get(one, 1)));
	}
	if (n > SHOWN && at < size)
		at += (size_t)snprintf(buf + at, size - at, ", %" I " more", n - SHOWN);
	return at < size ? at : size - 1;
}

static void
say_crossed(const json_t *row, char *buf, size_t size)
{
	const json_t *crossed = json_object_get(row, "crossed");
	size_t at;

	*buf = '\0';
	if (!json_is_object(crossed) || fmctl_number(crossed, "routes") == 0)
		return;
	at = say_most(crossed, "from", "n_from", buf, size);
	at += (size_t)snprintf(buf + at, size - at, " > ");
	if (at < size)
		say_most(crossed, "to", "n_to", buf + at, size - at);
}

static const struct column port_columns[] = { { "FROM", "node", NULL, false },
	{ "PORT", "port", NULL, true }, { "TO", "to", NULL, false },
	{ "PORT", "to_port", NULL, true }, { "GBIT/S OUT", NULL, say_out, true },
	{ "%", NULL, say_percent, true }, { "IN", NULL, say_in, true },
	{ "PLANNED", NULL, say_planned, true }, { "WAIT/S", "wait_ticks_per_s", NULL, true },
	{ "ERRORS/H", "errors_per_h", NULL, true }, { "ROUTES", NULL, say_crossed, false },
	{ "", NULL, say_notes, false } };

static void
show_head(const json_t *result, FILE *out)
{
	json_int_t missing =
	    fmctl_number(result, "ports_wanted") - fmctl_number(result, "ports_read");

	if (json_is_true(json_object_get(result, "stale")))
		fprintf(out, "Read last %.0f s ago: fmd-perf does not run, or reads nothing.\n",
		    (double)fmctl_number(result, "ended_ms_ago") / 1000);
	if (missing > 0)
		fprintf(out, "%" I " of %" I " ports were not read.\n", missing,
		    fmctl_number(result, "ports_wanted"));
}

void
fmctl_show_top(const struct ask *a, const json_t *result, FILE *out)
{
	const json_t *ports = json_object_get(result, "ports");

	show_head(result, out);
	fmctl_table(ports, port_columns, N_OF(port_columns), false, out);
	if (json_array_size(ports) > CROSSING_PORTS && strcmp(a->command, "top") == 0)
		fprintf(out, "ROUTES were counted for the first %d rows only.\n", CROSSING_PORTS);
}

static bool
is_listed(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
			return true;
	return false;
}

/* One port: a line for each counter, as perfquery has them. */
static void
show_port(const json_t *row, FILE *out)
{
	const json_t *at_end = json_object_get(row, "at_end");
	const char *name;
	json_t *value;
	char buf[64];

	fprintf(out, "%s port %" I, fmctl_string(row, "node"), fmctl_number(row, "port"));
	if (json_is_string(json_object_get(row, "to")))
		fprintf(
		    out, " to %s port %" I, fmctl_string(row, "to"), fmctl_number(row, "to_port"));
	say_notes(row, buf, sizeof(buf));
	fprintf(out, "%s%s\n", *buf != '\0' ? ": " : "", buf);
	json_object_foreach(json_object_get(row, "counters"), name, value)
	    fprintf(out, "%-30s %s%" I "\n", name, is_listed(at_end, name) ? ">= " : "",
		json_integer_value(value));
	say_out(row, buf, sizeof(buf));
	fprintf(out, "%-30s %s\n", "Gbit/s out", buf);
	say_in(row, buf, sizeof(buf));
	fprintf(out, "%-30s %s\n", "Gbit/s in", buf);
}

static void
say_real(const json_t *number, int digits, char *buf, size_t size)
{
	if (json_is_real(number))
		snprintf(buf, size, "%.*f", digits, json_real_value(number));
	else
		snprintf(buf, size, "-");
}

static void
say_load(const json_t *point, char *buf, size_t size)
{
	say_real(json_object_get(point, "load_percent"), 2, buf, size);
}

static void
say_wait(const json_t *point, char *buf, size_t size)
{
	say_real(json_object_get(point, "wait_ticks_per_s"), 0, buf, size);
}

static const struct column history_columns[] = { { "TIME", "time", NULL, false },
	{ "%", NULL, say_load, true }, { "WAIT/S", NULL, say_wait, true } };

void
fmctl_show_counters(const struct ask *a, const json_t *result, FILE *out)
{
	const json_t *ports = json_object_get(result, "ports");

	if (json_array_size(ports) != 1) {
		fmctl_show_top(a, result, out);
		return;
	}
	show_head(result, out);
	show_port(json_array_get(ports, 0), out);
	if (a->history)
		fmctl_table(json_object_get(result, "history"), history_columns,
		    N_OF(history_columns), false, out);
}
