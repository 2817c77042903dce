/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line is told by its first word.
 */
#include "plugins/engines/file/ar_file.h"

#include <inttypes.h>

#include "lib/lines.h"
#include "plugins/engines/file/guids.h"
#include "plugins/engines/file/misfits.h"

struct reader {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_file *file;
	struct fm_lines in;
	struct fm_guid *keys; /* [n_switches] sorted */
	struct fm_tables *out;
	bool any;      /* a switch line was met */
	fm_sw sw;      /* of the last one, FM_NONE: of another fabric */
	uint16_t most; /* groups that a switch of this fabric may have */
	struct fm_misfits misfits;
	struct fm_error *err;
};

static int
wrong(const struct reader *r, const char *sentence)
{
	return r->host->fail(r->host, r->err, FM_E_CONFIG, "%.80s:%" PRIu32 ": %s", r->file->path,
	    r->in.line, sentence);
}

/* The line goes on with this word, which is passed over. */
static bool
word(struct reader *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->in.end - r->in.at) <= n || memcmp(r->in.at, text, n) != 0 ||
	    r->in.at[n] != ' ')
		return false;
	r->in.at += n;
	return true;
}

/* A decimal number up to most, blanks before it. */
static bool
number(struct reader *r, uint64_t most, uint64_t *v)
{
	int n;

	fm_line_is_over(&r->in);
	n = fm_line_digits(&r->in, 10, v);
	return n > 0 && n < 10 && *v <= most;
}

static int
switch_line(struct reader *r)
{
	uint64_t guid;
	uint32_t key;
	int n;

	fm_line_is_over(&r->in);
	n = fm_line_0x(&r->in) ? fm_line_digits(&r->in, 16, &guid) : 0;
	if (n == 0 || n > 16)
		return wrong(r, "\"switch\" is followed by its node GUID: switch 0x2c9..");
	key = fm_guids_find(r->keys, r->fab->n_switches, guid);
	r->sw = key < r->fab->n_switches ? r->keys[key].index : FM_NONE;
	if (r->sw == FM_NONE)
		fm_misfit(
		    &r->misfits, r->in.line, "switch 0x%016" PRIx64 " is not in this fabric", guid);
	r->any = true;
	return 0;
}

static bool
is_beyond(const struct reader *r, uint64_t group)
{
	return group > (r->sw != FM_NONE ? r->out->ar_n_groups[r->sw] : r->most);
}

static int
group_line(struct reader *r)
{
	uint64_t group, port, *ports;

	if (!number(r, UINT16_MAX, &group) || group == 0)
		return wrong(r, "\"group\" is followed by its number and its ports: group 1 4 5");
	if (is_beyond(r, group))
		return wrong(r,
		    "the number of the group is beyond max_groups of adaptive_routing, or "
		    "beyond what the switch can hold");
	ports = r->sw == FM_NONE ? NULL : r->out->ar_ports[r->sw][group];
	while (!fm_line_is_over(&r->in)) {
		if (!number(r, 254, &port))
			return wrong(r, "a port is a number up to 254");
		if (ports != NULL)
			ports[port / 64] |= (uint64_t)1 << (port % 64);
	}
	return 0;
}

static int
lids_line(struct reader *r)
{
	uint64_t first, last, group;

	if (!number(r, UINT16_MAX, &first) || r->in.at == r->in.end || *r->in.at++ != '-' ||
	    !number(r, UINT16_MAX, &last) || !number(r, UINT16_MAX, &group) ||
	    !fm_line_is_over(&r->in) || first > last)
		return wrong(r, "\"lids\" is followed by a range and a group: lids 17-20 1");
	if (is_beyond(r, group))
		return wrong(r,
		    "the number of the group is beyond max_groups of adaptive_routing, or "
		    "beyond what the switch can hold");
	for (uint64_t lid = first; r->sw != FM_NONE && lid <= last && lid <= r->fab->max_lid; lid++)
		r->out->ar_group[r->sw][lid] = (uint16_t)group;
	return 0;
}

static int
read_line(struct reader *r)
{
	if (word(r, "switch"))
		return switch_line(r);
	if (!r->any)
		return wrong(r, "the first line is not that of a switch: switch 0x2c9..");
	if (word(r, "group"))
		return group_line(r);
	if (word(r, "lids"))
		return lids_line(r);
	return wrong(r, "a line begins with switch, group or lids");
}

int
fm_ar_file(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_file *file,
    struct fm_tables *out, struct fm_error *err)
{
	struct reader r = { .host = host,
		.fab = fab,
		.file = file,
		.out = out,
		.misfits = { host, file->path, 0 },
		.err = err };
	int rc = 0;

	if (out->ar_group == NULL)
		return 0;
	r.keys = host->scratch(host, ((size_t)fab->n_switches + 1) * sizeof(*r.keys));
	if (r.keys == NULL)
		return host->fail(
		    host, err, FM_E_RESOURCE, "no memory for reading groups of ports");
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		r.keys[sw] = (struct fm_guid){ fab->sw_guid[sw], sw };
		r.most = out->ar_n_groups[sw] > r.most ? out->ar_n_groups[sw] : r.most;
	}
	fm_guids_sort(r.keys, fab->n_switches);
	r.in = fm_lines(file->bytes, file->n_bytes);
	while (rc == 0 && fm_next_line(&r.in)) {
		if (r.in.line % 4096 == 0 && host->should_stop(host))
			return host->fail(host, err, FM_E_CANCELLED, "reading groups was stopped");
		if (!fm_line_is_over(&r.in) && *r.in.at != '#')
			rc = read_line(&r);
	}
	fm_misfits_total(&r.misfits);
	return rc;
}
