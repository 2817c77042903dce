/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line scanner.  What does not fit the
 * fabric is counted and the first few are logged by line, because a file of
 * yesterday's fabric is a normal case, while a line that no tool writes is an
 * error.
 */
#include "plugins/engines/file/table_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/lines.h"
#include "lib/log.h"
#include "plugins/engines/file/guids.h"
#include "plugins/engines/file/misfits.h"

#define LIDS 0xC000u

/* The port that a line names; those of other switches mostly name the same. */
struct named {
	uint64_t guid; /* 0: none yet */
	fm_end end;
};

struct scan {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_file *file;
	struct fm_lines in;
	struct fm_guid *switches; /* [n_switches] sorted */
	struct fm_guid *ends;	  /* [n_ends] by port GUID, sorted */
	uint64_t (*cabled)[4];	  /* [n_switches] ports with a link or an end, and port 0 */
	bool *listed;		  /* [n_switches] has a heading */
	uint32_t *load;		  /* [256] LIDs per port of the current switch: matrix only */
	fm_sw sw;		  /* current switch; FM_NONE: not of this fabric */
	bool any_switch;	  /* a header line was seen */
	bool learning;		  /* first pass: base_lid is collected, nothing is reported */
	struct named *of_lid;	  /* [LIDS] what was named last */
	uint16_t *base_lid;	  /* [n_ends] least LID that the file gives to the port; 0 = none */
	uint8_t *const *lft;
	struct fm_table_file *found;
	struct fm_misfits misfits;
	struct fm_error *err;
};

typedef int (*entry_fn)(struct scan *s, uint32_t lid);

/* ---------------------------------------------------------------- messages */

static int __attribute__((format(printf, 2, 3))) wrong(struct scan *s, const char *fmt, ...)
{
	char sentence[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return s->host->fail(s->host, s->err, FM_E_CONFIG, "%.80s:%" PRIu32 ": %s", s->file->path,
	    s->in.line, sentence);
}

static int __attribute__((format(printf, 2, 3))) misfit(struct scan *s, const char *fmt, ...)
{
	va_list ap;

	if (s->learning)
		return 0;
	va_start(ap, fmt);
	fm_vmisfit(&s->misfits, s->in.line, fmt, ap);
	va_end(ap);
	return 0;
}

/* ----------------------------------------------------------------- indices */

static uint32_t
find(const struct fm_guid *guids, uint32_t n, uint64_t guid)
{
	uint32_t i = fm_guids_find(guids, n, guid);

	return i < n ? guids[i].index : FM_NONE;
}

static bool
prepare(struct scan *s)
{
	const struct fm_fabric *fab = s->fab;

	s->switches =
	    s->host->scratch(s->host, ((size_t)fab->n_switches + 1) * sizeof(*s->switches));
	s->ends = s->host->scratch(s->host, ((size_t)fab->n_ends + 1) * sizeof(*s->ends));
	s->cabled = s->host->scratch(s->host, ((size_t)fab->n_switches + 1) * sizeof(*s->cabled));
	s->listed = s->host->scratch(s->host, ((size_t)fab->n_switches + 1) * sizeof(*s->listed));
	s->load = s->host->scratch(s->host, 256 * sizeof(*s->load));
	s->base_lid = s->host->scratch(s->host, ((size_t)fab->n_ends + 1) * sizeof(*s->base_lid));
	s->of_lid = s->host->scratch(s->host, LIDS * sizeof(*s->of_lid));
	if (s->of_lid == NULL || s->switches == NULL || s->ends == NULL || s->cabled == NULL ||
	    s->listed == NULL || s->load == NULL || s->base_lid == NULL)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		s->switches[sw] = (struct fm_guid){ fab->sw_guid[sw], sw };
		s->cabled[sw][0] |= 1;
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			s->cabled[sw][fab->link_port[l] / 64] |= UINT64_C(1)
			    << fab->link_port[l] % 64;
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
			s->cabled[sw][fab->end_port[e] / 64] |= UINT64_C(1)
			    << fab->end_port[e] % 64;
	}
	for (fm_end e = 0; e < fab->n_ends; e++)
		s->ends[e] = (struct fm_guid){ fab->end_guid[e], e };
	fm_guids_sort(s->switches, fab->n_switches);
	fm_guids_sort(s->ends, fab->n_ends);
	return true;
}

/* The end-port that the lines of a LID name. */
static fm_end
find_end(struct scan *s, uint32_t lid, uint64_t guid)
{
	struct named *n = &s->of_lid[lid];

	if (n->guid != guid)
		*n = (struct named){ guid, find(s->ends, s->fab->n_ends, guid) };
	return n->end;
}

/* ---------------------------------------------------------------- scanning */

static bool
is_separator(char c)
{
	switch (c) {
	case ' ':
	case '\t':
	case '\r':
	case ':':
	case '#':
	case ',':
	case '(':
	case ')':
	case '\0':
		return true;
	}
	return false;
}

/* Digits of the base, at most `most`; a separator or the end follows. */
static bool
number(struct scan *s, int base, int most, uint64_t *v)
{
	int n = fm_line_digits(&s->in, base, v);

	return n >= 1 && n <= most && (s->in.at == s->in.end || is_separator(*s->in.at));
}

static bool
prefixed(struct scan *s, uint64_t *v)
{
	return fm_line_0x(&s->in) && number(s, 16, 16, v);
}

static const char *
find_text(const struct scan *s, const char *text)
{
	return memmem(s->in.at, (size_t)(s->in.end - s->in.at), text, strlen(text));
}

static bool
starts_with(const struct scan *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->in.end - s->in.at) >= n && memcmp(s->in.at, text, n) == 0;
}

/* The port GUID a line names, or 0. */
static int
named_port(struct scan *s, uint64_t *guid)
{
	static const char key[] = "portguid ";
	const char *at = find_text(s, key);

	*guid = 0;
	if (at == NULL)
		return 0;
	s->in.at = at + sizeof(key) - 1;
	if (!prefixed(s, guid))
		return wrong(s, "portguid is not followed by a GUID like 0x0002c90200210b0d");
	return 0;
}

/* The present LID of a line's LID, 0 = left out. */
static int
present_lid(struct scan *s, uint32_t lid, uint32_t *present)
{
	uint64_t guid;
	fm_end e;
	int rc = named_port(s, &guid);

	*present = 0;
	if (rc != 0)
		return rc;
	if (guid == 0) {
		if (lid > s->fab->max_lid || s->fab->lid_end[lid] == FM_NONE)
			return misfit(s, "LID %" PRIu32 " belongs to no port of this fabric", lid);
		*present = lid;
		return 0;
	}
	e = find_end(s, lid, guid);
	if (e == FM_NONE)
		return misfit(s, "port 0x%016" PRIx64 " is not in this fabric", guid);
	if (lid - s->base_lid[e] >= 1u << s->fab->end_lmc[e])
		return misfit(s,
		    "LID %" PRIu32 " is LID %" PRIu32 " of port 0x%016" PRIx64
		    ", whose LMC is %u now",
		    lid, lid - s->base_lid[e] + 1, guid, s->fab->end_lmc[e]);
	*present = s->fab->end_lid[e] + (lid - s->base_lid[e]);
	return 0;
}

/* First pass: where does the file's LID range of each port begin? */
static int
learn_base(struct scan *s, uint32_t lid)
{
	uint64_t guid;
	fm_end e;
	int rc = named_port(s, &guid);

	if (rc != 0 || guid == 0)
		return rc;
	e = find_end(s, lid, guid);
	if (e != FM_NONE && (s->base_lid[e] == 0 || lid < s->base_lid[e]))
		s->base_lid[e] = (uint16_t)lid;
	return 0;
}

/* ----------------------------------------------------------------- entries */

/* "003 : (..", "003 # ..", ": 003 : 02 : yes", ": UNREACHABLE" */
static int
lft_entry(struct scan *s, uint32_t lid)
{
	uint64_t port;
	uint32_t present;
	int rc;

	fm_line_is_over(&s->in);
	if (s->in.at < s->in.end && *s->in.at == ':')
		s->in.at++;
	fm_line_is_over(&s->in);
	if (starts_with(s, "UNREACHABLE"))
		return 0;
	if (!number(s, 10, 3, &port) || port > 255)
		return wrong(s, "the LID is not followed by a port in 0..254: 0x0001 003");
	if (port == FM_PORT_NONE || s->sw == FM_NONE)
		return 0;
	if ((rc = present_lid(s, lid, &present)) != 0 || present == 0)
		return rc;
	if (port > s->fab->sw_n_ports[s->sw])
		return misfit(s, "port %u of switch %s, which has %u ports", (unsigned)port,
		    s->fab->sw_name[s->sw], s->fab->sw_n_ports[s->sw]);
	if (!fm_bit(s->cabled[s->sw], (uint32_t)port))
		return misfit(
		    s, "port %u of switch %s has no cable", (unsigned)port, s->fab->sw_name[s->sw]);
	if (s->lft[s->sw][present] == FM_PORT_NONE) {
		s->lft[s->sw][present] = (uint8_t)port;
		s->found->n_entries++;
	}
	return 0;
}

/* Give the LIDs of end e to the least loaded of the ports. */
static void
spread(struct scan *s, fm_end e, const uint8_t *ports, uint32_t n)
{
	for (uint32_t k = 0; k < 1u << s->fab->end_lmc[e]; k++) {
		uint8_t *entry = &s->lft[s->sw][s->fab->end_lid[e] + k];
		uint8_t best = ports[0];

		if (*entry != FM_PORT_NONE)
			continue;
		for (uint32_t i = 1; i < n; i++)
			if (s->load[ports[i]] < s->load[best])
				best = ports[i];
		s->load[best] += s->fab->end_kind[e] != FM_END_SWITCH;
		*entry = best;
		s->found->n_entries++;
	}
}

static void
spread_switch(struct scan *s, fm_sw to, const uint8_t *ports, uint32_t n)
{
	for (fm_end e = s->fab->sw_first_end[to]; e < s->fab->sw_first_end[to + 1]; e++)
		if (to == s->sw)
			spread(s, e, &s->fab->end_port[e], 1);
		else if (n > 0)
			spread(s, e, ports, n);
}

/* ": 00 ff ff 02 ..": hops behind each port, the first value is the least. */
static int
matrix_entry(struct scan *s, uint32_t lid)
{
	uint8_t hops[256], ports[256];
	uint32_t n = 0, n_ports = 0, present;
	uint64_t v;
	int rc;

	if (s->in.at == s->in.end || *s->in.at++ != ':')
		return wrong(s, "the LID of a matrix row is followed by a colon: 0x0002: 00 ff 02");
	for (fm_line_is_over(&s->in); s->in.at < s->in.end && *s->in.at != '#';
	     fm_line_is_over(&s->in)) {
		if (!number(s, 16, 2, &v) || n == sizeof(hops))
			return wrong(s, "hops are up to 255 values of two hex digits");
		hops[n++] = (uint8_t)v;
	}
	if (n == 0)
		return wrong(s, "a matrix row without hops");
	if (s->sw == FM_NONE)
		return 0;
	if ((rc = present_lid(s, lid, &present)) != 0 || present == 0)
		return rc;
	if (s->fab->end_kind[s->fab->lid_end[present]] != FM_END_SWITCH)
		return misfit(s, "LID %" PRIu32 " is no switch", present);
	for (uint32_t p = 1; p < n; p++) {
		if (hops[p] == 0xff || hops[p] != hops[0])
			continue;
		if (p > s->fab->sw_n_ports[s->sw] || !fm_bit(s->cabled[s->sw], p))
			misfit(s, "port %" PRIu32 " of switch %s has no cable", p,
			    s->fab->sw_name[s->sw]);
		else
			ports[n_ports++] = (uint8_t)p;
	}
	spread_switch(s, s->fab->end_sw[s->fab->lid_end[present]], ports, n_ports);
	return 0;
}

/* ------------------------------------------------------------------- lines */

/* " guid 0x..", or "Switch 0x..": the switch of the lines that follow. */
static int
header(struct scan *s, const char *key)
{
	const char *at = find_text(s, key);
	uint64_t guid;

	if (at == NULL)
		return wrong(s, "a switch's heading without \"%s0x...\"", key);
	s->in.at = at + strlen(key);
	if (!prefixed(s, &guid))
		return wrong(s, "\"%s\" is not followed by a GUID like 0x0002c90200210b0d", key);
	s->any_switch = true;
	memset(s->load, 0, 256 * sizeof(*s->load));
	s->sw = find(s->switches, s->fab->n_switches, guid);
	if (s->sw == FM_NONE)
		return misfit(s, "switch 0x%016" PRIx64 " is not in this fabric", guid);
	s->listed[s->sw] = true;
	return 0;
}

/* Headings, closing lines and remarks of dump_lfts that carry nothing. */
static bool
is_prose(const struct scan *s)
{
	return s->in.at == s->in.end || *s->in.at == '#' || starts_with(s, "Lid ") ||
	    starts_with(s, "Port ") || starts_with(s, "LID ") || starts_with(s, "***") ||
	    find_text(s, "lids dumped") != NULL;
}

static int
scan_line(struct scan *s, entry_fn entry)
{
	uint64_t lid;

	fm_line_is_over(&s->in);
	if (starts_with(s, "Unicast lids"))
		return header(s, " guid ");
	if (starts_with(s, "Switch: guid "))
		return header(s, "guid ");
	if (starts_with(s, "dump_ucast_routes: Switch ") || starts_with(s, "Switch 0x"))
		return header(s, "Switch ");
	if (!starts_with(s, "0x") && is_prose(s))
		return 0;
	if (!prefixed(s, &lid) || lid >= LIDS)
		return wrong(s, "\"%.*s\" is no line of a table: a LID like 0x0001 comes first",
		    (int)(s->in.end - s->in.at > 30 ? 30 : s->in.end - s->in.at), s->in.at);
	if (!s->any_switch)
		return wrong(s,
		    "an entry before any switch: a line with the switch's guid 0x... comes first");
	if (lid == 0)
		return misfit(s, "LID 0 is nobody's");
	return entry(s, (uint32_t)lid);
}

static int
scan_file(struct scan *s, entry_fn entry)
{
	int rc = 0;

	s->any_switch = false;
	s->in = fm_lines(s->file->bytes, s->file->n_bytes);
	while (rc == 0 && fm_next_line(&s->in))
		rc = scan_line(s, entry);
	if (rc == 0 && !s->any_switch)
		rc = wrong(s, "no switch in the file: is it a dump of tables?");
	fm_misfits_total(&s->misfits);
	s->found->n_misfits = s->misfits.n;
	return rc;
}

/* Their tables stay empty, and nothing else tells why. */
static void
warn_of_unlisted(const struct scan *s)
{
	const struct fm_fabric *fab = s->fab;
	fm_sw first = FM_NONE;
	uint32_t n = 0;

	for (fm_sw sw = fab->n_switches; sw-- > 0;)
		if (!s->listed[sw] && fab->sw_first_link[sw] < fab->sw_first_link[sw + 1]) {
			first = sw;
			n++;
		}
	if (n > 0)
		s->host->log(s->host, FM_LOG_WARN,
		    "%.80s:%" PRIu32 ": the file ends without %" PRIu32 " of the switches of this "
		    "fabric, %s the first: is it cut off?",
		    s->file->path, s->in.line, n, fab->sw_name[first]);
}

static int
run(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_file *file,
    uint8_t *const *lft, entry_fn entry, struct fm_table_file *found, struct fm_error *err)
{
	struct scan s = { .host = host,
		.fab = fab,
		.file = file,
		.lft = lft,
		.found = found,
		.sw = FM_NONE,
		.misfits = { host, file->path, 0 },
		.err = err };
	int rc;

	memset(found, 0, sizeof(*found));
	if (!prepare(&s))
		return host->fail(host, err, FM_E_RESOURCE,
		    "out of scratch memory while reading %.80s", file->path);
	s.learning = true;
	rc = scan_file(&s, learn_base);
	s.learning = false;
	if (rc == 0 && (rc = scan_file(&s, entry)) == 0)
		warn_of_unlisted(&s);
	return rc;
}

int
fm_table_file_lfts(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, uint8_t *const *lft, struct fm_table_file *found,
    struct fm_error *err)
{
	return run(host, fab, file, lft, lft_entry, found, err);
}

int
fm_table_file_matrix(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, uint8_t *const *lft, struct fm_table_file *found,
    struct fm_error *err)
{
	return run(host, fab, file, lft, matrix_entry, found, err);
}
