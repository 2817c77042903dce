/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of numbers.  GUIDs are found in sorted arrays.
 */
#include "plugins/common/sl_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_SLS 16
#define MAX_VL 14

struct key {
	uint64_t guid;
	uint32_t index;
};

struct scan {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_file *file;
	const char *at, *end; /* of the line */
	uint32_t line;
	struct key *keys; /* [n_keys] by GUID */
	uint32_t n_keys;
	struct fm_tables *out;
	struct fm_error *err;
};

static int
by_guid(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* The first key of a GUID, s->n_keys when there is none: ports of one node share theirs. */
static uint32_t
find(const struct scan *s, uint64_t guid)
{
	uint32_t low = 0, high = s->n_keys;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->keys[mid].guid < guid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->n_keys && s->keys[low].guid == guid ? low : s->n_keys;
}

static int
wrong(const struct scan *s, const char *sentence)
{
	return s->host->fail(
	    s->err, FM_E_CONFIG, "%.80s:%" PRIu32 ": %s", s->file->path, s->line, sentence);
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* The next word as a number, decimal or 0x..; its digits are counted. */
static bool
number(struct scan *s, uint64_t *v, int *n_digits)
{
	int base = 10;

	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	if (s->end - s->at > 2 && s->at[0] == '0' && (s->at[1] | 0x20) == 'x') {
		base = 16;
		s->at += 2;
	}
	*n_digits = 0;
	for (*v = 0; s->at < s->end && digit(*s->at) < base; ++*n_digits)
		*v = *v * (uint64_t)base + (uint64_t)digit(*s->at++);
	return *n_digits > 0 && *n_digits <= 16 &&
	    (s->at == s->end || *s->at == ' ' || *s->at == '\t' || *s->at == '\r');
}

static bool
at_end(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
		s->at++;
	return s->at == s->end;
}

static int
path_line(struct scan *s)
{
	uint64_t guid, lid, sl;
	int n;

	if (!number(s, &guid, &n) || !number(s, &lid, &n) || !number(s, &sl, &n) || !at_end(s))
		return wrong(s, "a line is the source's node GUID, a LID and an SL: 0x2c9.. 17 3");
	if (sl >= N_SLS)
		return wrong(s, "the SL is not in 0..15");
	for (uint32_t i = find(s, guid);
	     i < s->n_keys && s->keys[i].guid == guid && lid <= s->fab->max_lid; i++)
		s->out->sl[s->keys[i].index][lid] = (uint8_t)sl;
	return 0;
}

/* Pairs of VLs, two hex digits a pair. */
static int
vl_line(struct scan *s)
{
	uint64_t guid, in, to, pair;
	uint8_t vl[N_SLS];
	size_t row;
	uint32_t key, sw;
	int n;

	if (!number(s, &guid, &n) || !number(s, &in, &n) || !number(s, &to, &n))
		return wrong(s, "a line begins with switch, in port and out port: 0x2c9.. 1 4");
	for (int i = 0; i < N_SLS; i += 2) {
		if (!number(s, &pair, &n) || n != 2)
			return wrong(s, "the ports are followed by 8 pairs of VLs: 0x01 0x23 ..");
		vl[i] = (uint8_t)(pair >> 4);
		vl[i + 1] = (uint8_t)(pair & 15);
	}
	if (!at_end(s))
		return wrong(s, "more than 16 VLs");
	key = find(s, guid);
	if (key == s->n_keys)
		return 0;
	sw = s->keys[key].index;
	if (in > s->fab->sw_n_ports[sw] || to > s->fab->sw_n_ports[sw])
		return 0;
	row = s->out->sl2vl_first[sw] + in * (s->fab->sw_n_ports[sw] + 1u) + to;
	memcpy(s->out->sl2vl + row * N_SLS, vl, N_SLS);
	for (int i = 0; i < N_SLS; i++)
		if (vl[i] <= MAX_VL && vl[i] >= s->out->n_vls_used)
			s->out->n_vls_used = (uint8_t)(vl[i] + 1);
	return 0;
}

static int
scan_lines(struct scan *s, int (*line)(struct scan *))
{
	const char *at = s->file->bytes, *end = at + s->file->n_bytes;
	int rc = 0;

	qsort(s->keys, s->n_keys, sizeof(*s->keys), by_guid);
	for (s->line = 1; rc == 0 && at < end; s->line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		s->at = at;
		s->end = newline != NULL ? newline : end;
		at = s->end + 1;
		if (s->line % 4096 == 0 && s->host->should_stop(s->host))
			return s->host->fail(s->err, FM_E_CANCELLED, "reading SLs was stopped");
		if (!at_end(s) && *s->at != '#')
			rc = line(s);
	}
	return rc;
}

static int
no_memory(const struct fm_host *host, struct fm_error *err)
{
	return host->fail(err, FM_E_RESOURCE, "no memory for reading SLs");
}

int
fm_sl_file_paths(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, struct fm_tables *out, struct fm_error *err)
{
	struct scan s = { .host = host, .fab = fab, .file = file, .out = out, .err = err };

	s.keys = host->scratch(host, ((size_t)fab->n_ends + 1) * sizeof(*s.keys));
	if (s.keys == NULL)
		return no_memory(host, err);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE)
			s.keys[s.n_keys++] = (struct key){ fab->end_node_guid[e], fab->end_sw[e] };
	out->sl_shape = FM_SL_BY_SW_DLID;
	return scan_lines(&s, path_line);
}

int
fm_sl_file_vls(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_file *file,
    struct fm_tables *out, struct fm_error *err)
{
	struct scan s = { .host = host, .fab = fab, .file = file, .out = out, .err = err };

	s.keys = host->scratch(host, ((size_t)fab->n_switches + 1) * sizeof(*s.keys));
	if (s.keys == NULL)
		return no_memory(host, err);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		s.keys[s.n_keys++] = (struct key){ fab->sw_guid[sw], sw };
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	return scan_lines(&s, vl_line);
}
