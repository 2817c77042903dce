/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/paths/paths.c - a file of paths, looked up.
 *
 *	0	magic
 *	8	bytes of the file
 *	16	term, epoch
 *	32	(offset, bytes) of each section
 *
 * all of 64 bits.  When a file is read, each section is found to lie within it, and to hold whole
 * rows; what rows say of one another is checked by who follows it.
 */
#include "host/paths/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/files.h"
#include "core/wire/pkeys.h"
#include "lib/algo/search.h"

#define BYTES_AT 8
#define TERM_AT 16
#define EPOCH_AT 24
#define SECTIONS_AT 32
#define SECTION_BYTES 16
#define OWN_BYTES 8
#define NAME_AT_BYTES 8
#define ALIAS_BYTES 16
#define MOST_LMC 7
#define MOST_PKSETS 0x10000
#define GID_PREFIX_DEFAULT UINT64_C(0xfe80000000000000)

_Static_assert(SECTIONS_AT + SECTION_BYTES * PATHS_SECTIONS <= PATHS_HEADER_BYTES, "header");

struct section {
	const uint8_t *at;
	size_t n; /* rows; bytes where rows are of one byte, or of any length */
};

struct paths {
	struct paths_epoch epoch;
	struct blob_subnet subnet;
	struct section section[PATHS_SECTIONS];
	size_t n_pksets;
	struct pkey_list *pkset; /* [n_pksets] */
	uint16_t *keys;		 /* of all of them */
	uint8_t *bytes;		 /* of the file */
};

/* Bytes of a row of each section. */
static const uint8_t row_bytes[PATHS_SECTIONS] = {
	[PATHS_SUBNET] = 1,
	[PATHS_LINK] = BLOB_ATTR_BYTES,
	[PATHS_CLASS] = BLOB_ATTR_BYTES,
	[PATHS_PKSET] = sizeof(uint16_t),
	[PATHS_PKSL] = BLOB_PKSL_BYTES,
	[PATHS_ADDR] = BLOB_ADDR_BYTES,
	[PATHS_PORT] = BLOB_PORT_BYTES,
	[PATHS_OWN] = OWN_BYTES,
	[PATHS_ROW] = 1,
	[PATHS_GUID] = sizeof(uint16_t),
	[PATHS_NAME_AT] = NAME_AT_BYTES,
	[PATHS_NAME] = 1,
	[PATHS_REG] = BLOB_REG_BYTES,
	[PATHS_ALIAS] = ALIAS_BYTES,
};

/* ------------------------------------------------------------------ writing */

static size_t
padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* The bytes of the whole file. */
static size_t
put_header(uint8_t *h, struct paths_epoch at, const struct paths_bytes *section)
{
	size_t end = PATHS_HEADER_BYTES;

	memset(h, 0, PATHS_HEADER_BYTES);
	memcpy(h, PATHS_MAGIC, BYTES_AT);
	blob_put64(h + TERM_AT, at.term);
	blob_put64(h + EPOCH_AT, at.epoch);
	for (int i = 0; i < PATHS_SECTIONS; i++) {
		uint8_t *row = h + SECTIONS_AT + SECTION_BYTES * (size_t)i;

		blob_put64(row, end);
		blob_put64(row + 8, section[i].n);
		end += padded(section[i].n);
	}
	blob_put64(h + BYTES_AT, end);
	return end;
}

/* False: errno tells. */
static bool
put_all(int fd, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n > 0) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

static bool
put_sections(int fd, const struct paths_bytes *section)
{
	static const uint8_t zeros[8];

	for (int i = 0; i < PATHS_SECTIONS; i++)
		if (!put_all(fd, section[i].bytes, section[i].n) ||
		    !put_all(fd, zeros, padded(section[i].n) - section[i].n))
			return false;
	return true;
}

int
paths_write(const char *path, struct paths_epoch at,
    const struct paths_bytes section[PATHS_SECTIONS], struct fm_error *err)
{
	uint8_t header[PATHS_HEADER_BYTES];
	size_t n = put_header(header, at, section);
	bool is_whole;
	int fd;

	if (n > PATHS_MOST_BYTES)
		return fm_fail(err, FM_E_SYSTEM,
		    "cannot write %s: it would have %zu bytes, %u at most", path, n,
		    PATHS_MOST_BYTES);
	fd = fm_file_new(path, 0644);
	if (fd < 0)
		return fm_fail(
		    err, FM_E_SYSTEM, "cannot write %s.new: %s", path, fm_file_why(errno));
	is_whole = put_all(fd, header, sizeof(header)) && put_sections(fd, section);
	if (close(fd) != 0)
		is_whole = false;
	if (!fm_file_done(path, is_whole))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

/* ------------------------------------------------------------------ reading */

static int
no_such_file(struct fm_error *err, const char *why)
{
	return fm_fail(err, FM_E_TOPOLOGY, "it is no file of paths: %s", why);
}

/* Each section lies within the file, and holds whole rows. */
static int
find_sections(struct paths *p, size_t n, struct fm_error *err)
{
	for (int i = 0; i < PATHS_SECTIONS; i++) {
		const uint8_t *row = p->bytes + SECTIONS_AT + SECTION_BYTES * (size_t)i;
		uint64_t at = blob_get64(row), bytes = blob_get64(row + 8);

		if (at % 8 != 0 || at > n || bytes > n - at)
			return no_such_file(err, "a section lies outside of it");
		if (bytes % row_bytes[i] != 0)
			return no_such_file(err, "a section ends within a row");
		p->section[i] = (struct section){ p->bytes + at, bytes / row_bytes[i] };
	}
	return 0;
}

/* How many lists there are, and keys in all of them; false: the last does not end. */
static bool
count_pksets(const struct section *s, size_t *lists, size_t *keys)
{
	size_t at = 0;

	for (*lists = *keys = 0; at < s->n; (*lists)++) {
		size_t n = blob_get16(s->at + 2 * at);

		if (n > s->n - at - 1 || *lists == MOST_PKSETS)
			return false;
		*keys += n;
		at += 1 + n;
	}
	return true;
}

static int
find_pksets(struct paths *p, struct fm_error *err)
{
	const uint8_t *at = p->section[PATHS_PKSET].at;
	size_t n_keys;
	uint16_t *key;

	if (!count_pksets(&p->section[PATHS_PKSET], &p->n_pksets, &n_keys))
		return no_such_file(err, "a list of P_Keys does not end");
	p->pkset = calloc(p->n_pksets + 1, sizeof(*p->pkset));
	p->keys = key = calloc(n_keys + 1, sizeof(*p->keys));
	if (p->pkset == NULL || p->keys == NULL)
		return fm_fail(err, FM_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < p->n_pksets; i++, at += 2) {
		p->pkset[i] = (struct pkey_list){ key, blob_get16(at) };
		for (uint32_t k = 0; k < p->pkset[i].n; k++)
			*key++ = blob_get16(at += 2);
	}
	return 0;
}

static size_t
lids(const struct paths *p)
{
	return (size_t)p->subnet.lid_top + 1;
}

static int
parse_paths(struct paths *p, size_t n, struct fm_error *err)
{
	const struct section *s = &p->section[PATHS_SUBNET];
	int rc;

	if (n < PATHS_HEADER_BYTES || memcmp(p->bytes, PATHS_MAGIC, BYTES_AT) != 0)
		return no_such_file(err, "it does not begin as one");
	if (blob_get64(p->bytes + BYTES_AT) != n)
		return no_such_file(err, "it has another size than it says");
	p->epoch =
	    (struct paths_epoch){ blob_get64(p->bytes + TERM_AT), blob_get64(p->bytes + EPOCH_AT) };
	rc = find_sections(p, n, err);
	if (rc != 0)
		return rc;
	if (!blob_subnet_get(s->at, s->n, &p->subnet))
		return no_such_file(err, "it is of another schema, or its subnet makes no sense");
	if (p->section[PATHS_PORT].n != lids(p))
		return no_such_file(err, "it has not a port for each LID");
	if (p->section[PATHS_ROW].n % lids(p) != 0)
		return no_such_file(err, "a row has not a class for each LID");
	return find_pksets(p, err);
}

int
paths_take(void *bytes, size_t n, struct paths **out, struct fm_error *err)
{
	struct paths *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (p == NULL) {
		free(bytes);
		return fm_fail(err, FM_E_SYSTEM, "out of memory");
	}
	p->bytes = bytes;
	rc = parse_paths(p, n, err);
	if (rc != 0)
		paths_free(p);
	else
		*out = p;
	return rc;
}

/* n bytes of a file; fewer are no error: who takes them sees that. */
static int
copy_file(int fd, uint8_t **bytes, size_t *n, struct fm_error *err)
{
	struct stat st;
	size_t have = 0;
	ssize_t k = 1;

	if (fstat(fd, &st) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > PATHS_MOST_BYTES)
		return no_such_file(
		    err, S_ISREG(st.st_mode) ? "it is too large" : "it is not even a file");
	*n = (size_t)st.st_size;
	*bytes = malloc(*n + 1);
	if (*bytes == NULL)
		return fm_fail(err, FM_E_SYSTEM, "out of memory");
	while (have < *n && k != 0) {
		k = read(fd, *bytes + have, *n - have);
		if (k < 0 && errno != EINTR) {
			free(*bytes);
			return fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno));
		}
		have += k > 0 ? (size_t)k : 0;
	}
	*n = have;
	return 0;
}

int
paths_read(const char *path, struct paths **out, struct fm_error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	uint8_t *bytes = NULL;
	size_t n = 0;

	*out = NULL;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	rc = copy_file(fd, &bytes, &n, err);
	close(fd);
	if (rc == 0)
		rc = paths_take(bytes, n, out, err);
	if (rc != 0 && err != NULL)
		fm_context(err, "cannot read %s", path);
	return rc;
}

void
paths_free(struct paths *p)
{
	if (p == NULL)
		return;
	free(p->keys);
	free(p->pkset);
	free(p->bytes);
	free(p);
}

struct paths_epoch
paths_epoch(const struct paths *p)
{
	return p->epoch;
}

const struct blob_subnet *
paths_subnet(const struct paths *p)
{
	return &p->subnet;
}

/* ------------------------------------------------------------------- lookups */

/* The row of a section; i is one of its rows. */
static const uint8_t *
row_of(const struct paths *p, enum paths_section section, size_t i)
{
	return p->section[section].at + i * row_bytes[section];
}

static uint16_t
base_of(uint16_t lid, const struct blob_port *port)
{
	return (uint16_t)(lid & ~((1u << port->lmc) - 1));
}

bool
paths_port(const struct paths *p, uint16_t lid, struct blob_port *port)
{
	if (lid > p->subnet.lid_top)
		return false;
	blob_port_get(row_of(p, PATHS_PORT, lid), port);
	return port->guid != 0 && port->lmc <= MOST_LMC;
}

/* The GUID that the i-th row of PATHS_GUID stands for. */
static uint64_t
guid_at(const struct paths *p, size_t i)
{
	uint16_t lid = blob_get16(row_of(p, PATHS_GUID, i));

	return lid <= p->subnet.lid_top ? blob_get64(row_of(p, PATHS_PORT, lid)) : UINT64_MAX;
}

/* The LID, or 0 where nobody is there any more. */
static uint16_t
if_there(const struct paths *p, uint16_t lid)
{
	struct blob_port port;

	return paths_port(p, lid, &port) && (port.flags & BLOB_PORT_GONE) == 0 ? lid : 0;
}

static uint16_t
lid_of_alias(const struct paths *p, uint64_t guid)
{
	size_t n = p->section[PATHS_ALIAS].n, at;

	fm_lower_bound(at, n, i, blob_get64(row_of(p, PATHS_ALIAS, i)) < guid);
	if (at == n || blob_get64(row_of(p, PATHS_ALIAS, at)) != guid)
		return 0;
	return if_there(p, blob_get16(row_of(p, PATHS_ALIAS, at) + 8));
}

uint16_t
paths_lid_of_guid(const struct paths *p, uint64_t guid)
{
	size_t n = p->section[PATHS_GUID].n, at;

	fm_lower_bound(at, n, i, guid_at(p, i) < guid);
	if (at == n || guid_at(p, at) != guid)
		return lid_of_alias(p, guid);
	return if_there(p, blob_get16(row_of(p, PATHS_GUID, at)));
}

uint16_t
paths_lid_of_gid(const struct paths *p, struct sa_gid gid)
{
	if (gid.prefix != p->subnet.gid_prefix && gid.prefix != GID_PREFIX_DEFAULT)
		return 0;
	return paths_lid_of_guid(p, gid.guid);
}

/* < 0, 0, > 0: the name of the i-th row of PATHS_NAME_AT comes before this one, is it, comes
 * behind it. */
static int
compare_name(const struct paths *p, size_t i, const char *name, size_t n)
{
	const struct section *s = &p->section[PATHS_NAME];
	uint32_t at = blob_get32(row_of(p, PATHS_NAME_AT, i));
	size_t len = at < s->n ? s->at[at] : 0, both;
	int c;

	if (at >= s->n || len > s->n - at - 1)
		return -1;
	both = len < n ? len : n;
	c = memcmp(s->at + at + 1, name, both);
	return c != 0 ? c : len < n ? -1 : len > n;
}

unsigned
paths_lids_of_name(const struct paths *p, const char *name, uint16_t *lid, unsigned n)
{
	size_t rows = p->section[PATHS_NAME_AT].n, len = strlen(name), at;
	unsigned found = 0;

	if (len == 0)
		return 0;
	fm_lower_bound(at, rows, i, compare_name(p, i, name, len) < 0);
	for (; at < rows && compare_name(p, at, name, len) == 0; at++) {
		uint16_t l = if_there(p, blob_get16(row_of(p, PATHS_NAME_AT, at) + 4));

		if (l != 0 && found++ < n)
			lid[found - 1] = l;
	}
	return found;
}

/* The row of a section of addresses that has this one, NULL.  No alias GUID has one. */
static const uint8_t *
row_of_ip(const struct paths *p, enum paths_section section, const uint8_t ip[16])
{
	static const uint8_t none[16];
	size_t n = p->section[section].n, at;

	fm_lower_bound(at, n, i, memcmp(row_of(p, section, i), ip, 16) < 0);
	if (at == n || memcmp(row_of(p, section, at), ip, 16) != 0 || memcmp(ip, none, 16) == 0)
		return NULL;
	return row_of(p, section, at);
}

uint64_t
paths_guid_of_ip(const struct paths *p, const uint8_t ip[16])
{
	const uint8_t *row = row_of_ip(p, PATHS_ADDR, ip);

	if (row == NULL)
		row = row_of_ip(p, PATHS_REG, ip);
	return row != NULL ? blob_get64(row + 16) : 0;
}

uint16_t
paths_lid_of_ip(const struct paths *p, const uint8_t ip[16])
{
	uint64_t guid = paths_guid_of_ip(p, ip);

	return guid != 0 ? paths_lid_of_guid(p, guid) : 0;
}

bool
paths_next_reg(const struct paths *p, size_t *at, struct blob_reg *r)
{
	while (*at < p->section[PATHS_REG].n) {
		blob_reg_get(row_of(p, PATHS_REG, (*at)++), r);
		if (if_there(p, r->lid) != 0)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------- records */

/* The class of a path from a leaf to a LID, BLOB_CLASS_ASK. */
static uint8_t
class_of(const struct paths *p, uint16_t leaf, uint16_t dlid)
{
	size_t n_rows = p->section[PATHS_ROW].n / lids(p);

	for (size_t i = 0; i < p->section[PATHS_OWN].n; i++) {
		const uint8_t *own = row_of(p, PATHS_OWN, i);
		uint32_t row = blob_get32(own + 4);

		if (blob_get16(own) == leaf && row < n_rows)
			return *row_of(p, PATHS_ROW, row * lids(p) + dlid);
	}
	return BLOB_CLASS_ASK;
}

/* What the path carries; false: only the SA can tell. */
static bool
attr_of(const struct paths *p, const struct blob_port *from, uint16_t dlid, struct blob_attr *attr)
{
	uint8_t cls = class_of(p, from->leaf, dlid);
	struct blob_attr link;

	if (cls == BLOB_CLASS_ASK || cls >= p->section[PATHS_CLASS].n ||
	    from->link >= p->section[PATHS_LINK].n)
		return false;
	blob_attr_get(row_of(p, PATHS_CLASS, cls), attr);
	blob_attr_get(row_of(p, PATHS_LINK, from->link), &link);
	if (link.mtu < attr->mtu)
		attr->mtu = link.mtu;
	if (link.mbps < attr->mbps)
		attr->mbps = link.mbps;
	return attr->mbps >= sa_rate_mbps(sa_rate_code(attr->mbps));
}

/* The key for packets from a to b, which may be the same port; want 0: any.  0: none. */
static uint16_t
key_between(const struct paths *p, const struct blob_port *a, const struct blob_port *b,
    bool is_same, uint16_t want)
{
	const struct pkey_list *x, *y;

	if (a->pkset >= p->n_pksets || b->pkset >= p->n_pksets)
		return 0;
	x = &p->pkset[a->pkset];
	y = &p->pkset[b->pkset];
	if (is_same) /* to itself by any that it has */
		return want != 0 ? pkeys_of(x, want) : x->n > 0 ? x->keys[0] : 0;
	if (want == 0)
		return pkeys_common(x, y);
	return pkeys_share_this(x, y, want) ? pkeys_of(x, want) : 0;
}

/* The SL of a path whose class says sl. */
static uint8_t
sl_of(const struct paths *p, uint16_t pkey, uint8_t sl)
{
	size_t n = p->section[PATHS_PKSL].n, at;
	uint8_t of_key;

	if ((p->subnet.flags & (BLOB_SL_FREE | BLOB_SL_LEVELS)) == 0)
		return sl;
	pkey &= PKEY_BASE;
	fm_lower_bound(at, n, i, blob_get16(row_of(p, PATHS_PKSL, i)) < pkey);
	if (at == n || blob_get16(row_of(p, PATHS_PKSL, at)) != pkey)
		return sl;
	of_key = row_of(p, PATHS_PKSL, at)[2];
	return (p->subnet.flags & BLOB_SL_FREE) != 0 ? of_key : sl | (of_key & BLOB_SL_LEVEL);
}

/* A port of which rows tell, as a source or a destination. */
static bool
is_known(const struct paths *p, uint16_t lid, struct blob_port *port)
{
	return paths_port(p, lid, port) && (port->flags & BLOB_PORT_GONE) == 0;
}

bool
paths_is_source(const struct paths *p, uint16_t lid)
{
	struct blob_port port;

	if (!is_known(p, lid, &port) || (port.flags & BLOB_PORT_SWITCH) != 0)
		return false;
	for (size_t i = 0; i < p->section[PATHS_OWN].n; i++)
		if (blob_get16(row_of(p, PATHS_OWN, i)) == port.leaf)
			return true;
	return false;
}

bool
paths_record(const struct paths *p, const struct paths_query *q, struct sa_path_record *r)
{
	uint64_t prefix = p->subnet.gid_prefix;
	struct blob_port a, b;
	struct blob_attr attr;
	bool is_same;
	uint16_t pkey;

	if ((p->subnet.flags & BLOB_ASK_ALWAYS) != 0 || !is_known(p, q->slid, &a) ||
	    !is_known(p, q->dlid, &b) || (a.flags & BLOB_PORT_SWITCH) != 0 ||
	    !attr_of(p, &a, q->dlid, &attr))
		return false;
	is_same = base_of(q->slid, &a) == base_of(q->dlid, &b);
	pkey = key_between(p, &a, &b, is_same, q->pkey);
	if (pkey == 0)
		return false;
	*r = (struct sa_path_record){ .dgid = { prefix, b.guid },
		.sgid = { prefix, a.guid },
		.dlid = q->dlid,
		.slid = q->slid,
		.reversible = 1, /* other paths are BLOB_CLASS_ASK */
		.pkey = pkey,
		.sl = sl_of(p, pkey, attr.sl),
		.mtu_selector = SA_EXACTLY,
		.mtu = attr.mtu,
		.rate_selector = SA_EXACTLY,
		.rate = sa_rate_code(attr.mbps),
		.life_selector = SA_EXACTLY,
		.life = is_same ? 0 : p->subnet.life };
	return true;
}
