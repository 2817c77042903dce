/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of numbers.
 */
#include "plugins/engines/file/sl_file.h"

#include <inttypes.h>

#include "lib/lines.h"
#include "plugins/engines/file/guids.h"
#include "plugins/engines/file/misfits.h"

#define N_SLS 16
#define MAX_VL 14

struct scan {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_file *file;
	struct fm_lines in;
	struct fm_guid *keys; /* [n_keys] sorted */
	uint32_t n_keys;
	struct fm_tables *out;
	struct fm_misfits misfits;
	struct fm_error *err;
};

static int
wrong(const struct scan *s, const char *sentence)
{
	return s->host->fail(s->host, s->err, FM_E_CONFIG, "%.80s:%" PRIu32 ": %s", s->file->path,
	    s->in.line, sentence);
}

/* The next word as a number, decimal or 0x..; its digits are counted. */
static bool
number(struct scan *s, uint64_t *v, int *n_digits)
{
	fm_line_is_over(&s->in);
	*n_digits = fm_line_digits(&s->in, fm_line_0x(&s->in) ? 16 : 10, v);
	return *n_digits > 0 && *n_digits <= 16 &&
	    (s->in.at == s->in.end || memchr(" \t\r", *s->in.at, 3) != NULL);
}

static int
path_line(struct scan *s)
{
	const struct fm_fabric *fab = s->fab;
	uint64_t guid, lid, sl;
	uint32_t i;
	int n;

	if (!number(s, &guid, &n) || !number(s, &lid, &n) || !number(s, &sl, &n) ||
	    !fm_line_is_over(&s->in))
		return wrong(s, "a line is the source's node GUID, a LID and an SL: 0x2c9.. 17 3");
	if (sl >= N_SLS)
		return wrong(s, "the SL is not in 0..15");
	i = fm_guids_find(s->keys, s->n_keys, guid);
	if (i == s->n_keys) {
		fm_misfit(
		    &s->misfits, s->in.line, "node 0x%016" PRIx64 " is not in this fabric", guid);
		return 0;
	}
	if (lid > fab->max_lid || fab->lid_end[lid] == FM_NONE) {
		fm_misfit(&s->misfits, s->in.line, "LID %" PRIu64 " is nobody's", lid);
		return 0;
	}
	for (; i < s->n_keys && s->keys[i].guid == guid; i++)
		s->out->sl[s->keys[i].index][lid] = (uint8_t)sl;
	return 0;
}

static void
put_vls(struct scan *s, uint64_t guid, uint64_t in, uint64_t to, const uint8_t vl[N_SLS])
{
	uint32_t key = fm_guids_find(s->keys, s->n_keys, guid), sw, n_ports;
	size_t row;

	if (key == s->n_keys) {
		fm_misfit(
		    &s->misfits, s->in.line, "switch 0x%016" PRIx64 " is not in this fabric", guid);
		return;
	}
	sw = s->keys[key].index;
	n_ports = s->fab->sw_n_ports[sw];
	if (in > n_ports || to > n_ports) {
		fm_misfit(&s->misfits, s->in.line,
		    "port %" PRIu64 " of switch %s, which has %" PRIu32 " ports", in > to ? in : to,
		    s->fab->sw_name[sw], n_ports);
		return;
	}
	row = s->out->sl2vl_first[sw] + in * (n_ports + 1u) + to;
	memcpy(s->out->sl2vl + row * N_SLS, vl, N_SLS);
	for (int i = 0; i < N_SLS; i++)
		if (vl[i] <= MAX_VL && vl[i] >= s->out->n_vls_used)
			s->out->n_vls_used = (uint8_t)(vl[i] + 1);
}

/* Pairs of VLs, two hex digits a pair. */
static int
vl_line(struct scan *s)
{
	uint64_t guid, in, to, pair;
	uint8_t vl[N_SLS];
	int n;

	if (!number(s, &guid, &n) || !number(s, &in, &n) || !number(s, &to, &n))
		return wrong(s, "a line begins with switch, in port and out port: 0x2c9.. 1 4");
	for (int i = 0; i < N_SLS; i += 2) {
		if (!number(s, &pair, &n) || n != 2)
			return wrong(s, "the ports are followed by 8 pairs of VLs: 0x01 0x23 ..");
		vl[i] = (uint8_t)(pair >> 4);
		vl[i + 1] = (uint8_t)(pair & 15);
	}
	if (!fm_line_is_over(&s->in))
		return wrong(s, "more than 16 VLs");
	put_vls(s, guid, in, to, vl);
	return 0;
}

static int
scan_lines(struct scan *s, int (*line)(struct scan *))
{
	int rc = 0;

	fm_guids_sort(s->keys, s->n_keys);
	s->in = fm_lines(s->file->bytes, s->file->n_bytes);
	while (rc == 0 && fm_next_line(&s->in)) {
		if (s->in.line % 4096 == 0 && s->host->should_stop(s->host))
			return s->host->fail(
			    s->host, s->err, FM_E_CANCELLED, "reading SLs was stopped");
		if (!fm_line_is_over(&s->in) && *s->in.at != '#')
			rc = line(s);
	}
	fm_misfits_total(&s->misfits);
	return rc;
}

/* Room for so many keys, which the caller fills in. */
static int
begin(struct scan *s, uint32_t n_keys)
{
	s->misfits = (struct fm_misfits){ s->host, s->file->path, 0 };
	s->keys = s->host->scratch(s->host, ((size_t)n_keys + 1) * sizeof(*s->keys));
	return s->keys != NULL
	    ? 0
	    : s->host->fail(s->host, s->err, FM_E_RESOURCE, "no memory for reading SLs");
}

int
fm_sl_file_paths(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, struct fm_tables *out, struct fm_error *err)
{
	struct scan s = { .host = host, .fab = fab, .file = file, .out = out, .err = err };
	int rc = begin(&s, fab->n_ends);

	if (rc != 0)
		return rc;
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE)
			s.keys[s.n_keys++] =
			    (struct fm_guid){ fab->end_node_guid[e], fab->end_sw[e] };
	out->sl_shape = FM_SL_BY_SW_DLID;
	return scan_lines(&s, path_line);
}

int
fm_sl_file_vls(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_file *file,
    struct fm_tables *out, struct fm_error *err)
{
	struct scan s = { .host = host, .fab = fab, .file = file, .out = out, .err = err };
	int rc = begin(&s, fab->n_switches);

	if (rc != 0)
		return rc;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		s.keys[s.n_keys++] = (struct fm_guid){ fab->sw_guid[sw], sw };
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	return scan_lines(&s, vl_line);
}
