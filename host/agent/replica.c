/* SPDX-License-Identifier: BSD-2-Clause */
/* host/agent/replica.c - O(ports log ports) for a file. */
#include "host/agent/replica.h"

#include <stdlib.h>

#include "core/text/number.h"

#define ALIAS_BYTES 16 /* of PATHS_ALIAS */

static void
blob_free(struct replica_blob *b)
{
	free(b->bytes);
	*b = (struct replica_blob){ 0 };
}

static void
row_free(struct replica_row *row)
{
	blob_free(&row->blob);
	blob_free(&row->hops);
}

void
replica_fini(struct replica *r)
{
	for (int k = 0; k < BLOB_PORT; k++)
		blob_free(&r->one[k]);
	for (unsigned b = 0; b < REPLICA_BLOCKS; b++) {
		blob_free(&r->port[b]);
		blob_free(&r->name[b]);
	}
	for (size_t i = 0; i < r->row.n; i++)
		row_free(&r->row.item[i]);
	fm_vec_fini(&r->row);
	r->at = (struct paths_epoch){ 0 };
}

static struct replica_row *
row_of(struct replica *r, uint64_t guid)
{
	for (size_t i = 0; i < r->row.n; i++)
		if (r->row.item[i].guid == guid)
			return &r->row.item[i];
	return NULL;
}

static struct replica_blob *
place_of(struct replica *r, enum blob_kind kind, uint64_t number)
{
	struct replica_row *row;

	switch (kind) {
	case BLOB_PORT:
		return number < REPLICA_BLOCKS ? &r->port[number] : NULL;
	case BLOB_NAME:
		return number < REPLICA_BLOCKS ? &r->name[number] : NULL;
	case BLOB_ROW:
		row = row_of(r, number);
		return row != NULL ? &row->blob : NULL;
	case BLOB_HOPS:
		row = row_of(r, number);
		return row != NULL ? &row->hops : NULL;
	default:
		return kind < BLOB_PORT ? &r->one[kind] : NULL;
	}
}

bool
replica_put(struct replica *r, enum blob_kind kind, uint64_t number, const void *bytes, size_t n)
{
	struct replica_blob *b = place_of(r, kind, number), new = { 0 };

	if (b == NULL || n > blob_most_bytes(kind))
		return false;
	if (bytes != NULL) {
		new = (struct replica_blob){ malloc(n + 1), n };
		if (new.bytes == NULL)
			return false;
		memcpy(new.bytes, bytes, n);
	}
	if (kind == BLOB_ROW)
		row_of(r, number)->wanted = false;
	free(b->bytes);
	*b = new;
	return true;
}

bool
replica_patch(struct replica *r, uint64_t guid, size_t at, const void *bytes, size_t n)
{
	struct replica_row *row = row_of(r, guid);
	uint8_t *longer;

	if (row == NULL || at > UINT16_MAX || n > UINT16_MAX + 1u - at)
		return false;
	if (at + n > row->blob.n) {
		longer = realloc(row->blob.bytes, at + n);
		if (longer == NULL)
			return false;
		memset(longer + row->blob.n, 0, at + n - row->blob.n);
		row->blob = (struct replica_blob){ longer, at + n };
	}
	memcpy(row->blob.bytes + at, bytes, n);
	return true;
}

/* False: it has not been fetched, or is none. */
static bool
subnet_of(const struct replica *r, struct blob_subnet *s)
{
	const struct replica_blob *b = &r->one[BLOB_SUBNET];

	return b->bytes != NULL && blob_subnet_get(b->bytes, b->n, s);
}

static uint32_t
lid_top(const struct replica *r)
{
	struct blob_subnet s;

	return subnet_of(r, &s) ? s.lid_top : 0;
}

unsigned
replica_n_blocks(const struct replica *r)
{
	uint32_t top = lid_top(r);

	return top == 0 ? 0 : top / BLOB_BLOCK_LIDS + 1;
}

/* False: nobody's.  O(1). */
static bool
port_at(const struct replica *r, uint32_t lid, struct blob_port *p)
{
	const struct replica_blob *b = &r->port[lid / BLOB_BLOCK_LIDS];
	size_t at = (size_t)(lid % BLOB_BLOCK_LIDS) * BLOB_PORT_BYTES;

	if (at + BLOB_PORT_BYTES > b->n)
		return false;
	blob_port_get(b->bytes + at, p);
	return p->guid != 0;
}

static bool
is_own(const struct replica *r, uint64_t guid)
{
	for (unsigned i = 0; i < r->n_own; i++)
		if (r->own[i] == guid)
			return true;
	return false;
}

/* A port that is gone, too: its SM may have given it another LID. */
static bool
has_port(const struct replica *r, uint64_t guid)
{
	uint32_t top = lid_top(r);
	struct blob_port p;

	for (uint32_t lid = 1; lid <= top; lid++)
		if (port_at(r, lid, &p) && p.guid == guid)
			return true;
	return false;
}

int
replica_other_sm(const struct replica *r)
{
	struct blob_subnet s;
	struct blob_port sm;
	int found = -1;

	if (!subnet_of(r, &s) || s.sm_guid == 0)
		return -1;
	for (unsigned i = 0; i < r->n_own; i++) {
		if (r->own_sm[i] == 0 || !has_port(r, r->own[i]))
			continue; /* perhaps of another subnet */
		if (port_at(r, r->own_sm[i], &sm) && sm.guid == s.sm_guid)
			return -1;
		found = found < 0 ? (int)i : found;
	}
	return found;
}

bool
replica_next_reg(const struct replica *r, struct replica_place *at, struct blob_reg *reg)
{
	struct blob_port p;

	for (; at->block < replica_n_blocks(r); at->block++, at->at = 0) {
		const struct replica_blob *b = &r->name[at->block];

		if (at->at == 0 && b->n > 0)
			at->at = blob_names_end(b->bytes, b->n);
		while (at->at + BLOB_REG_BYTES <= b->n) {
			blob_reg_get(b->bytes + at->at, reg);
			at->at += BLOB_REG_BYTES;
			if (reg->lid / BLOB_BLOCK_LIDS == at->block && port_at(r, reg->lid, &p) &&
			    (p.flags & BLOB_PORT_GONE) == 0)
				return true;
		}
	}
	return false;
}

/* A row is that of a switch, whose number may be another than it was. */
static bool
add_row(struct replica *r, uint16_t leaf)
{
	const struct replica_blob *names = &r->one[BLOB_LEAF];
	struct replica_row new = { .leaf = leaf, .used = true, .wanted = true }, *row;

	if ((size_t)leaf * 8 + 8 > names->n)
		return true; /* a leaf that nothing names has no row */
	new.guid = blob_get64(names->bytes + (size_t)leaf * 8);
	row = row_of(r, new.guid);
	if (row == NULL)
		return r->row.n >= REPLICA_MOST_ROWS || fm_vec_push(&r->row, new);
	row->leaf = leaf;
	row->used = true;
	return true;
}

static void
drop_rows(struct replica *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->row.n; i++) {
		if (r->row.item[i].used)
			r->row.item[kept++] = r->row.item[i];
		else
			row_free(&r->row.item[i]);
	}
	r->row.n = kept;
}

bool
replica_find_rows(struct replica *r)
{
	bool *seen = calloc(UINT16_MAX + 1u, 1), ok = seen != NULL;
	struct blob_port p;

	for (size_t i = 0; i < r->row.n; i++)
		r->row.item[i].used = false;
	for (uint32_t lid = 1; ok && lid <= lid_top(r); lid++) {
		if (!port_at(r, lid, &p) || p.leaf == BLOB_NO_LEAF || !is_own(r, p.guid) ||
		    seen[p.leaf])
			continue;
		seen[p.leaf] = true;
		ok = add_row(r, p.leaf);
	}
	if (ok)
		drop_rows(r);
	free(seen);
	return ok;
}

bool
replica_wants(const struct replica *r, enum blob_kind kind, uint64_t guid, bool changed)
{
	for (size_t i = 0; i < r->row.n; i++)
		if (r->row.item[i].guid == guid)
			return changed ||
			    (kind == BLOB_ROW ? r->row.item[i].wanted
					      : r->row.item[i].hops.bytes == NULL);
	return false;
}

/* The name at *at of those of a block: its length, then so many bytes; *at: where the next is. */
static const uint8_t *
next_name(const struct replica_blob *names, size_t *at)
{
	static const uint8_t none[1];
	const uint8_t *name = *at < names->n ? names->bytes + *at : none;

	if (*at + 1 + name[0] > names->n) {
		*at = names->n;
		return none;
	}
	*at += 1u + name[0];
	return name;
}

/* From the nearest of our leaves to another; 0: not known. */
static unsigned
hops_to_leaf(const struct replica *r, uint16_t leaf)
{
	unsigned least = 0;

	for (size_t i = 0; i < r->row.n; i++) {
		const struct replica_blob *b = &r->row.item[i].hops;

		if (leaf < b->n && b->bytes[leaf] != 0 && (least == 0 || b->bytes[leaf] < least))
			least = b->bytes[leaf];
	}
	return least;
}

unsigned
replica_hops(const struct replica *r, const char *who)
{
	uint32_t top = lid_top(r);
	uint64_t number;
	bool is_number = number_parse(who, &number), is_it;
	unsigned least = 0, hops;
	struct blob_port p;
	size_t at = 0;

	for (uint32_t lid = 0; lid <= top; lid++) {
		const uint8_t *name;

		at = lid % BLOB_BLOCK_LIDS == 0 ? 0 : at;
		name = next_name(&r->name[lid / BLOB_BLOCK_LIDS], &at);
		if (!port_at(r, lid, &p) || p.leaf == BLOB_NO_LEAF)
			continue;
		is_it = is_number
		    ? number == p.guid || number == lid
		    : name[0] != 0 && name[0] == strlen(who) && memcmp(name + 1, who, name[0]) == 0;
		hops = is_it ? hops_to_leaf(r, p.leaf) : 0;
		if (hops != 0 && (least == 0 || hops < least))
			least = hops;
	}
	return least;
}

/* ----------------------------------------------------------------- the file */

struct named {
	const uint8_t *name; /* length, bytes */
	uint16_t lid;
};

struct making {
	const struct replica *r;
	uint32_t n_lids; /* lid_top + 1 */
	uint8_t *port, *own, *row, *guid, *name_at, *name, *reg, *alias;
	size_t n_own, n_row, n_guid, n_name_at, n_name, n_reg, n_alias;
	struct guid_lid {
		uint64_t guid;
		uint16_t lid;
	} * by_guid;	       /* [n_lids] */
	struct named *by_name; /* [n_lids] */
};

static int
compare_guids(const void *x, const void *y)
{
	const struct guid_lid *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->lid > b->lid) - (a->lid < b->lid);
}

static int
compare_names(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	size_t least = a->name[0] < b->name[0] ? a->name[0] : b->name[0];
	int d = memcmp(a->name + 1, b->name + 1, least);

	if (d == 0)
		d = (a->name[0] > b->name[0]) - (a->name[0] < b->name[0]);
	return d != 0 ? d : (a->lid > b->lid) - (a->lid < b->lid);
}

static int
compare_regs(const void *x, const void *y)
{
	return memcmp(x, y, BLOB_REG_BYTES);
}

static int
compare_aliases(const void *x, const void *y)
{
	uint64_t a = blob_get64(x), b = blob_get64(y);

	return a != b ? (a > b) - (a < b) : memcmp(x, y, ALIAS_BYTES);
}

/* Base LIDs of ports that are there, by their GUIDs. */
static void
make_guids(struct making *m)
{
	struct blob_port p;
	size_t n = 0;

	for (uint32_t lid = 1; lid < m->n_lids; lid++)
		if (port_at(m->r, lid, &p) && (p.flags & BLOB_PORT_GONE) == 0 && p.lmc <= 7 &&
		    (lid & ((1u << p.lmc) - 1)) == 0)
			m->by_guid[n++] = (struct guid_lid){ p.guid, (uint16_t)lid };
	qsort(m->by_guid, n, sizeof(*m->by_guid), compare_guids);
	for (size_t i = 0; i < n; i++)
		blob_put16(m->guid + 2 * i, m->by_guid[i].lid);
	m->n_guid = 2 * n;
}

static void
make_ports(struct making *m)
{
	struct blob_port p;

	for (uint32_t lid = 0; lid < m->n_lids; lid++)
		if (port_at(m->r, lid, &p))
			blob_port_put(m->port + (size_t)lid * BLOB_PORT_BYTES, &p);
}

static void
make_names(struct making *m)
{
	struct blob_port p;
	size_t n = 0, at = 0;

	for (uint32_t lid = 0; lid < m->n_lids; lid++) {
		const uint8_t *name;

		at = lid % BLOB_BLOCK_LIDS == 0 ? 0 : at;
		name = next_name(&m->r->name[lid / BLOB_BLOCK_LIDS], &at);
		if (name[0] != 0 && port_at(m->r, lid, &p) && (p.flags & BLOB_PORT_GONE) == 0)
			m->by_name[n++] = (struct named){ name, (uint16_t)lid };
	}
	qsort(m->by_name, n, sizeof(*m->by_name), compare_names);
	for (size_t i = 0; i < n; i++) {
		uint8_t *entry = m->name_at + 8 * i;

		blob_put32(entry, (uint32_t)m->n_name);
		blob_put16(entry + 4, m->by_name[i].lid);
		blob_put16(entry + 6, 0);
		memcpy(m->name + m->n_name, m->by_name[i].name, 1u + m->by_name[i].name[0]);
		m->n_name += 1u + m->by_name[i].name[0];
	}
	m->n_name_at = 8 * n;
}

static void
make_registered(struct making *m)
{
	struct replica_place at = { 0 };
	struct blob_reg reg;
	struct blob_port p;

	while (replica_next_reg(m->r, &at, &reg)) {
		blob_reg_put(m->reg + m->n_reg, &reg);
		m->n_reg += BLOB_REG_BYTES;
		if (!port_at(m->r, reg.lid, &p) || reg.guid == p.guid)
			continue;
		blob_put64(m->alias + m->n_alias, reg.guid);
		blob_put64(m->alias + m->n_alias + 8, 0);
		blob_put16(m->alias + m->n_alias + 8, reg.lid);
		m->n_alias += ALIAS_BYTES;
	}
	qsort(m->reg, m->n_reg / BLOB_REG_BYTES, BLOB_REG_BYTES, compare_regs);
	qsort(m->alias, m->n_alias / ALIAS_BYTES, ALIAS_BYTES, compare_aliases);
}

/* Rows shorter than others end in zeros. */
static void
make_rows(struct making *m)
{
	for (size_t i = 0; i < m->r->row.n; i++) {
		const struct replica_row *row = &m->r->row.item[i];
		size_t n = row->blob.n < m->n_lids ? row->blob.n : m->n_lids;

		blob_put16(m->own + 8 * i, row->leaf);
		blob_put16(m->own + 8 * i + 2, 0);
		blob_put32(m->own + 8 * i + 4, (uint32_t)i);
		if (n > 0)
			memcpy(m->row + i * m->n_lids, row->blob.bytes, n);
	}
	m->n_own = 8 * m->r->row.n;
	m->n_row = m->n_lids * m->r->row.n;
}

static size_t
bytes_of_names(const struct replica *r)
{
	size_t n = 1;

	for (unsigned b = 0; b < REPLICA_BLOCKS; b++)
		n += r->name[b].n;
	return n;
}

static bool
take_room(struct making *m)
{
	size_t n = m->n_lids, n_rows = m->r->row.n;

	m->port = calloc(n + 1, BLOB_PORT_BYTES);
	m->own = malloc(8 * n_rows + 1);
	m->row = calloc(n_rows + 1, n + 1);
	m->guid = malloc(2 * n + 1);
	m->name_at = malloc(8 * n + 1);
	m->name = malloc(bytes_of_names(m->r));
	m->reg = malloc(bytes_of_names(m->r));
	m->alias = malloc(bytes_of_names(m->r));
	m->by_guid = malloc((n + 1) * sizeof(*m->by_guid));
	m->by_name = malloc((n + 1) * sizeof(*m->by_name));
	return m->port != NULL && m->own != NULL && m->row != NULL && m->guid != NULL &&
	    m->name_at != NULL && m->name != NULL && m->reg != NULL && m->alias != NULL &&
	    m->by_guid != NULL && m->by_name != NULL;
}

static void
give_room(struct making *m)
{
	free(m->port);
	free(m->own);
	free(m->row);
	free(m->guid);
	free(m->name_at);
	free(m->name);
	free(m->reg);
	free(m->alias);
	free(m->by_guid);
	free(m->by_name);
}

static struct paths_bytes
section_of(const struct replica *r, enum blob_kind kind)
{
	return (struct paths_bytes){ r->one[kind].bytes, r->one[kind].n };
}

int
replica_write(const struct replica *r, const char *path, struct fm_error *err)
{
	struct making m = { .r = r, .n_lids = lid_top(r) + 1 };
	struct paths_bytes s[PATHS_SECTIONS] = { [PATHS_SUBNET] = section_of(r, BLOB_SUBNET),
		[PATHS_LINK] = section_of(r, BLOB_LINK),
		[PATHS_CLASS] = section_of(r, BLOB_CLASS),
		[PATHS_PKSET] = section_of(r, BLOB_PKSET),
		[PATHS_PKSL] = section_of(r, BLOB_PKSL),
		[PATHS_ADDR] = section_of(r, BLOB_ADDR) };
	int rc = FM_E_RESOURCE;

	if (take_room(&m)) {
		make_ports(&m);
		make_guids(&m);
		make_names(&m);
		make_rows(&m);
		make_registered(&m);
		s[PATHS_PORT] = (struct paths_bytes){ m.port, (size_t)m.n_lids * BLOB_PORT_BYTES };
		s[PATHS_OWN] = (struct paths_bytes){ m.own, m.n_own };
		s[PATHS_ROW] = (struct paths_bytes){ m.row, m.n_row };
		s[PATHS_GUID] = (struct paths_bytes){ m.guid, m.n_guid };
		s[PATHS_NAME_AT] = (struct paths_bytes){ m.name_at, m.n_name_at };
		s[PATHS_NAME] = (struct paths_bytes){ m.name, m.n_name };
		s[PATHS_REG] = (struct paths_bytes){ m.reg, m.n_reg };
		s[PATHS_ALIAS] = (struct paths_bytes){ m.alias, m.n_alias };
		rc = paths_write(path, r->at, s, err);
	} else {
		fm_fail(err, FM_E_RESOURCE, "out of memory for %s", path);
	}
	give_room(&m);
	return rc;
}
