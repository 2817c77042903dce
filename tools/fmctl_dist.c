/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_dist.c - fmctl dist verify: the file of a host's paths against what the SA says; exit
 * codes of dist.
 *
 * Each path that the file tells (host/paths), from each LID that it is a source of, is compared
 * with the PathRecord that the SA would answer with, which the daemon tells a page at a time.
 * O(sources * LIDs).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/conf/cli.h"
#include "core/text/json_text.h"
#include "host/paths/paths.h"
#include "tools/fmctl.h"

#define LIDS 0x10000
#define MOST_LISTED 100
#define MOST_TRIES 5 /* while the subnet changes */

enum field { SLID, DLID, PATH, SL, MTU, RATE, PKEY, LIFE, REVERSIBLE, FIELDS };
static const char *const field_names[FIELDS] = { "slid", "dlid", "path", "sl", "mtu", "rate",
	"pkey", "life", "reversible" };

struct comparison {
	const struct ask *a;
	const struct paths *file;
	json_int_t view;		  /* of the SA: all pages are to be of one; -1: none yet */
	bool changed;			  /* they were not */
	uint64_t guid[LIDS];		  /* that the SA has there, 0: none */
	struct sa_path_record said[LIDS]; /* by the SA, from one LID; dlid 0: no path */
	uint64_t n_sources, n_paths, n_asked, n_different, by_field[FIELDS];
	json_t *differences;
};

/* ------------------------------------------------------- what the SA says */

/* The numbers of a row that is to have n, first those up to most; false: it has others. */
static bool
read_row(const json_t *row, size_t n, const json_int_t *most, json_int_t *out)
{
	if (json_array_size(row) < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *number = json_array_get(row, i);

		out[i] = json_integer_value(number);
		if (!json_is_integer(number) || out[i] < 0 || out[i] > most[i])
			return false;
	}
	return true;
}

/* [lid, lmc, guid] */
static bool
take_port(struct comparison *c, const json_t *row)
{
	static const json_int_t most[] = { 0xbfff, 7 };
	const char *guid = json_string_value(json_array_get(row, 2));
	json_int_t n[2];

	if (guid == NULL || !read_row(row, 2, most, n))
		return false;
	for (json_int_t i = 0; i < 1 << n[1]; i++)
		c->guid[n[0] + i] = strtoull(guid, NULL, 16);
	return true;
}

/* [first LID, last, P_Key, SL, MTU, rate, life time, reversible] */
static bool
take_paths(struct comparison *c, const json_t *row)
{
	static const json_int_t most[] = { 0xbfff, 0xbfff, 0xffff, 15, 63, 63, 63, 1 };
	json_int_t n[8];

	if (!read_row(row, 8, most, n))
		return false;
	for (json_int_t lid = n[0]; lid <= n[1]; lid++)
		c->said[lid] = (struct sa_path_record){ .dlid = (uint16_t)lid,
			.pkey = (uint16_t)n[2],
			.sl = (uint8_t)n[3],
			.mtu = (uint8_t)n[4],
			.rate = (uint8_t)n[5],
			.life = (uint8_t)n[6],
			.reversible = (uint8_t)n[7] };
	return true;
}

static bool
take_page(struct comparison *c, const json_t *page, uint16_t lid)
{
	const json_t *rows = json_object_get(page, lid == 0 ? "ports" : "paths"), *row;
	json_int_t view = fmctl_number(page, "view");
	size_t i;

	c->changed = c->changed || (c->view >= 0 && view != c->view);
	c->view = view;
	json_array_foreach(rows, i, row)
	{
		if (lid == 0 ? !take_port(c, row) : !take_paths(c, row))
			return false;
	}
	return json_is_array(rows);
}

/* All paths from a LID, or, 0, all ports; fewer when the subnet has changed. */
static int
ask_rows(struct comparison *c, uint16_t lid, struct fm_error *err)
{
	json_int_t from = 0;
	int rc = 0;

	while (rc == 0 && from >= 0 && !c->changed) {
		json_t *args = json_pack("{s:i, s:I}", "lid", (int)lid, "from", from);
		json_t *page = NULL;
		const json_t *next;

		rc = fmctl_ask(c->a, "paths", args, &page, err);
		if (rc == 0 && !take_page(c, page, lid))
			rc = fm_fail(err, FM_E_SYSTEM, "fmd tells paths that make no sense");
		next = json_object_get(page, "next");
		if (rc == 0 && json_is_integer(next) && json_integer_value(next) <= from)
			rc = fm_fail(err, FM_E_SYSTEM, "fmd tells the same page again");
		from = json_is_integer(next) ? json_integer_value(next) : -1;
		json_decref(page);
		json_decref(args);
	}
	return rc;
}

/* ------------------------------------------------------------- differences */

/* The LID at which the SA has a port, 0: none. */
static uint16_t
lid_at_sa(const struct comparison *c, uint64_t guid)
{
	for (unsigned lid = 1; lid < LIDS; lid++)
		if (c->guid[lid] == guid)
			return (uint16_t)lid;
	return 0;
}

/* A field as people have it: bytes, Mbit/s. */
static json_int_t
value_of(enum field f, uint32_t value)
{
	if (f == MTU)
		return value >= 1 && value <= 5 ? 128 << value : 0;
	return f == RATE ? sa_rate_mbps((uint8_t)value) : value;
}

static void
differ(struct comparison *c, uint16_t slid, uint16_t dlid, enum field f, uint32_t file, uint32_t sa)
{
	c->by_field[f]++;
	if (json_array_size(c->differences) < MOST_LISTED)
		json_array_append_new(c->differences,
		    json_pack("{s:i, s:i, s:s, s:I, s:I}", "from", (int)slid, "to", (int)dlid,
			"field", field_names[f], "file", value_of(f, file), "sa", value_of(f, sa)));
}

static bool
compare_fields(struct comparison *c, const struct sa_path_record *r, const struct sa_path_record *s)
{
	const uint32_t file[FIELDS] = { [SL] = r->sl,
		[MTU] = r->mtu,
		[RATE] = r->rate,
		[PKEY] = r->pkey,
		[LIFE] = r->life,
		[REVERSIBLE] = r->reversible };
	const uint32_t sa[FIELDS] = { [SL] = s->sl,
		[MTU] = s->mtu,
		[RATE] = s->rate,
		[PKEY] = s->pkey,
		[LIFE] = s->life,
		[REVERSIBLE] = s->reversible };
	bool are_equal = true;

	for (enum field f = SL; f < FIELDS; f++) {
		if (file[f] == sa[f])
			continue;
		differ(c, r->slid, r->dlid, f, file[f], sa[f]);
		are_equal = false;
	}
	return are_equal;
}

/* A path that the file tells; said: by the SA to the same LID. */
static bool
compare_path(
    struct comparison *c, const struct sa_path_record *r, const struct sa_path_record *said)
{
	bool is_there = c->guid[r->dlid] == r->dgid.guid;

	if (!is_there)
		differ(c, r->slid, r->dlid, DLID, r->dlid, lid_at_sa(c, r->dgid.guid));
	else if (said->dlid == 0)
		differ(c, r->slid, r->dlid, PATH, 1, 0);
	return said->dlid != 0 ? compare_fields(c, r, said) && is_there : false;
}

/* From a LID to all others. */
static int
compare_source(struct comparison *c, uint16_t slid, struct fm_error *err)
{
	struct blob_port port;
	int rc;

	c->n_sources++;
	if (paths_port(c->file, slid, &port) && c->guid[slid] != port.guid) {
		differ(c, slid, 0, SLID, slid, lid_at_sa(c, port.guid));
		c->n_different++;
		return 0;
	}
	memset(c->said, 0, sizeof(c->said));
	rc = ask_rows(c, slid, err);
	for (unsigned dlid = 1; rc == 0 && !c->changed && dlid < LIDS; dlid++) {
		const struct paths_query q = { .slid = slid, .dlid = (uint16_t)dlid };
		struct sa_path_record r;

		if (!paths_record(c->file, &q, &r)) {
			c->n_asked += c->said[dlid].dlid != 0;
			continue;
		}
		c->n_paths++;
		c->n_different += !compare_path(c, &r, &c->said[dlid]);
	}
	return rc;
}

/* Once through; cut short when the subnet changes meanwhile. */
static int
compare_all(struct comparison *c, struct fm_error *err)
{
	int rc;

	json_decref(c->differences);
	*c = (struct comparison){
		.a = c->a, .file = c->file, .view = -1, .differences = json_array()
	};
	rc = ask_rows(c, 0, err);
	for (unsigned lid = 1; rc == 0 && !c->changed && lid < LIDS; lid++)
		if (paths_is_source(c->file, (uint16_t)lid))
			rc = compare_source(c, (uint16_t)lid, err);
	return rc;
}

static int
compare(struct comparison *c, struct fm_error *err)
{
	int rc;

	for (unsigned i = 0; i < MOST_TRIES; i++) {
		rc = compare_all(c, err);
		if (rc != 0 || !c->changed)
			return rc;
	}
	return fm_fail(err, FM_E_SYSTEM,
	    "the subnet has changed %d times while it was compared; ask again when it is quiet",
	    MOST_TRIES);
}

/* ----------------------------------------------------------------- the answer */

static json_t *
file_json(const struct comparison *c, const char *path, time_t confirmed)
{
	struct paths_epoch at = paths_epoch(c->file);
	time_t now = time(NULL);

	return json_pack("{s:o, s:I, s:I, s:I}", "path", json_text(path), "term",
	    (json_int_t)at.term, "epoch", (json_int_t)at.epoch, "age_s",
	    (json_int_t)(now > confirmed ? now - confirmed : 0));
}

/* Does one of the places have what the file is of? */
static bool
is_current(const struct comparison *c, const json_t *places)
{
	struct paths_epoch at = paths_epoch(c->file);
	const json_t *place;
	size_t i;

	json_array_foreach(places, i, place)
	{
		if (fmctl_number(place, "term") == (json_int_t)at.term &&
		    fmctl_number(place, "epoch") == (json_int_t)at.epoch)
			return true;
	}
	return false;
}

static json_t *
answer(const struct comparison *c, json_t *places, json_t *file)
{
	json_t *fields = json_object();

	for (int f = 0; f < FIELDS; f++)
		json_object_set_new(
		    fields, field_names[f], json_integer((json_int_t)c->by_field[f]));
	return json_pack("{s:o, s:b, s:O?, s:I, s:I, s:I, s:I, s:o, s:O}", "file", file, "current",
	    (int)is_current(c, places), "places", places, "sources", (json_int_t)c->n_sources,
	    "paths", (json_int_t)c->n_paths, "asked", (json_int_t)c->n_asked, "different",
	    (json_int_t)c->n_different, "by_field", fields, "differences", c->differences);
}

static int
verify(
    struct comparison *c, const char *path, time_t confirmed, json_t **result, struct fm_error *err)
{
	json_t *dist = NULL, *none = json_object();
	int rc = compare(c, err);

	if (rc == 0)
		rc = fmctl_ask(c->a, "dist", none, &dist, err);
	if (rc == 0)
		*result = answer(c, json_object_get(dist, "places"), file_json(c, path, confirmed));
	if (rc == 0 && *result == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	json_decref(dist);
	json_decref(none);
	return rc;
}

/* The file, and when its agent was told last that nothing is newer. */
static int
read_file(const char *path, struct paths **file, time_t *confirmed, struct fm_error *err)
{
	struct stat st;
	int rc = paths_read(path, file, err);

	if (rc == FM_E_TOPOLOGY) /* it is the word that was given, not the subnet */
		rc = (int)(err->kind = FM_E_CONFIG);
	if (rc == 0 && (*file == NULL || stat(path, &st) != 0))
		rc = fm_fail(err, FM_E_CONFIG,
		    "%s is not there: fmd-agent writes it; say where it is by --file=PATH", path);
	if (rc != 0)
		return rc;
	*confirmed = st.st_mtime;
	return 0;
}

int
fmctl_dist_verify(const struct ask *a, json_t **result, struct fm_error *err)
{
	const char *path = a->file != NULL ? a->file : PATHS_FILE;
	struct comparison *c = calloc(1, sizeof(*c));
	struct paths *file = NULL;
	time_t confirmed = 0;
	int rc = c != NULL ? read_file(path, &file, &confirmed, err)
			   : fm_fail(err, FM_E_RESOURCE, "out of memory");

	if (rc == 0) {
		c->a = a;
		c->file = file;
		rc = verify(c, path, confirmed, result, err);
	}
	paths_free(file);
	if (c != NULL)
		json_decref(c->differences);
	free(c);
	return rc;
}

/* ------------------------------------------------------------------- shown */

#define I JSON_INTEGER_FORMAT

static void
say_value(const json_t *row, const char *key, char *buf, size_t size)
{
	const char *field = fmctl_string(row, "field");
	json_int_t value = fmctl_number(row, key);

	if (strcmp(field, "rate") == 0)
		snprintf(buf, size, "%.6g Gb/s", (double)value / 1000);
	else if (strcmp(field, "pkey") == 0)
		snprintf(buf, size, "0x%04x", (unsigned)value);
	else if (strstr(field, "lid") != NULL && value == 0)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%" I, value);
}

static void
say_file(const json_t *row, char *buf, size_t size)
{
	say_value(row, "file", buf, size);
}

static void
say_sa(const json_t *row, char *buf, size_t size)
{
	say_value(row, "sa", buf, size);
}

static void
show_places(const json_t *places, FILE *out)
{
	const json_t *place;
	size_t i;

	fputs("published   ", out);
	json_array_foreach(places, i, place)
	{
		fprintf(out, "%s%s: term %" I ", epoch %" I, i > 0 ? "; " : "",
		    fmctl_string(place, "kind"), fmctl_number(place, "term"),
		    fmctl_number(place, "epoch"));
	}
	fputs(json_array_size(places) == 0 ? "nowhere\n" : "\n", out);
}

static void
show_fields(const json_t *result, FILE *out)
{
	const json_t *fields = json_object_get(result, "by_field"), *n;
	const char *name, *comma = "";

	if (fmctl_number(result, "different") == 0)
		return;
	fputs("fields      ", out);
	json_object_foreach((json_t *)(uintptr_t)fields, name, n)
	{
		if (json_integer_value(n) == 0)
			continue;
		fprintf(out, "%s%" I " %s", comma, json_integer_value(n), name);
		comma = ", ";
	}
	fputc('\n', out);
}

void
fmctl_show_dist_verify(const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "FROM", "from", NULL, true },
		{ "TO", "to", NULL, true }, { "FIELD", "field", NULL, false },
		{ "FILE", NULL, say_file, true }, { "SA", NULL, say_sa, true } };
	const json_t *list = json_object_get(result, "differences");
	const json_t *places = json_object_get(result, "places");

	fprintf(out, "file        %s: term %" I ", epoch %" I ", as of %" I " s ago\n",
	    fmctl_string(result, "file.path"), fmctl_number(result, "file.term"),
	    fmctl_number(result, "file.epoch"), fmctl_number(result, "file.age_s"));
	show_places(places, out);
	if (json_array_size(places) > 0 && !json_is_true(json_object_get(result, "current")))
		fputs("            the file is of another epoch: its agent is behind, or follows "
		      "somebody else\n",
		    out);
	fprintf(out, "compared    %" I " paths from %" I " LIDs; %" I " more are left to the SA\n",
	    fmctl_number(result, "paths"), fmctl_number(result, "sources"),
	    fmctl_number(result, "asked"));
	if (fmctl_number(result, "sources") == 0)
		fputs(
		    "            nothing is compared: no port that the file is of is there\n", out);
	fprintf(out, "different   %" I "\n", fmctl_number(result, "different"));
	show_fields(result, out);
	if (json_array_size(list) == 0)
		return;
	fputc('\n', out);
	fmctl_table(list, columns, sizeof(columns) / sizeof(columns[0]), false, out);
	if (json_array_size(list) == MOST_LISTED)
		fprintf(out, "%d at most are listed\n", MOST_LISTED);
}

/* ------------------------------------------------------------------ peers */

void
fmctl_show_peers(const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "DEPTH", "depth", NULL, true },
		{ "KIND", "kind", NULL, false }, { "NAME", "name", NULL, false },
		{ "ABOVE", "above", NULL, false }, { "STATE", "state", NULL, false },
		{ "TERM", "term", NULL, true }, { "EPOCH", "epoch", NULL, true },
		{ "LAG", "lag_bytes", NULL, true }, { "WHY", "why", NULL, false } };
	const json_t *peers = json_object_get(result, "peers");

	fmctl_table(peers, columns, sizeof(columns) / sizeof(columns[0]), false, out);
	fprintf(out,
	    "relays      %" I ", agents %" I "; behind %" I ", link down %" I ", gone %" I
	    ", unknown %" I "\n",
	    fmctl_number(result, "relays"), fmctl_number(result, "agents"),
	    fmctl_number(result, "behind"), fmctl_number(result, "link_down"),
	    fmctl_number(result, "gone"), fmctl_number(result, "unknown"));
}

/* ---------------------------------------------------------------- judging */

static int
judge_place(const json_t *place)
{
	const json_t *follower;
	size_t i;

	if (strcmp(fmctl_string(place, "state"), "failing") == 0)
		return FMD_EXIT_TROUBLE;
	json_array_foreach(json_object_get(place, "followers"), i,
	    follower) if (strcmp(fmctl_string(follower, "state"), "gone") ==
	    0) return FMD_EXIT_TROUBLE;
	return *fmctl_string(place, "followers_unknown") != '\0' ? FMD_EXIT_SYSTEM : FMD_EXIT_OK;
}

int
fmctl_judge_dist(const json_t *result)
{
	int code = FMD_EXIT_OK;
	const json_t *place;
	size_t i;

	if (fmctl_number(result, "unknown") > 0)
		return FMD_EXIT_SYSTEM;
	if (fmctl_number(result, "behind") > 0 || fmctl_number(result, "link_down") > 0 ||
	    fmctl_number(result, "gone") > 0)
		return FMD_EXIT_TROUBLE;
	if (json_object_get(result, "differences") != NULL)
		return fmctl_number(result, "different") > 0 ? FMD_EXIT_NOT_ROUTED
		    : fmctl_number(result, "sources") == 0   ? FMD_EXIT_SYSTEM
							     : FMD_EXIT_OK;
	if (json_array_size(json_object_get(result, "contests")) > 0)
		code = FMD_EXIT_TROUBLE;
	json_array_foreach(json_object_get(result, "places"), i, place)
	{
		int of_place = judge_place(place);

		if (code != FMD_EXIT_TROUBLE && of_place != FMD_EXIT_OK)
			code = of_place;
	}
	return code;
}
