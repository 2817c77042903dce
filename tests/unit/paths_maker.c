/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/paths_maker.h"

#include <stdlib.h>

static struct paths_maker *sorted; /* by whom, while qsort() works */

static void
add(struct paths_maker *m, enum paths_section section, const void *bytes, size_t n)
{
	if (!fm_vec_append(&m->section[section], bytes, n))
		abort();
}

static size_t
rows(const struct paths_maker *m, enum paths_section section, size_t row_bytes)
{
	return m->section[section].n / row_bytes;
}

void
maker_init(struct paths_maker *m)
{
	*m = (struct paths_maker){ .subnet = { .schema = BLOB_SCHEMA } };
	m->port = calloc(65536, sizeof(*m->port));
	if (m->port == NULL)
		abort();
	maker_class(m, 0, 0, 0);
}

static size_t
add_attr(struct paths_maker *m, enum paths_section section, struct blob_attr attr)
{
	uint8_t row[BLOB_ATTR_BYTES];

	blob_attr_put(row, &attr);
	add(m, section, row, sizeof(row));
	return rows(m, section, sizeof(row)) - 1;
}

uint8_t
maker_link(struct paths_maker *m, uint8_t mtu, uint32_t mbps)
{
	return (uint8_t)add_attr(m, PATHS_LINK, (struct blob_attr){ .mtu = mtu, .mbps = mbps });
}

uint8_t
maker_class(struct paths_maker *m, uint8_t mtu, uint32_t mbps, uint8_t sl)
{
	return (uint8_t)add_attr(
	    m, PATHS_CLASS, (struct blob_attr){ .mtu = mtu, .mbps = mbps, .sl = sl });
}

static void
add16(struct paths_maker *m, enum paths_section section, uint16_t x)
{
	uint8_t b[2];

	blob_put16(b, x);
	add(m, section, b, sizeof(b));
}

uint16_t
maker_pkset(struct paths_maker *m, const uint16_t *keys, uint16_t n)
{
	const maker_bytes *s = &m->section[PATHS_PKSET];
	uint16_t number = 0;

	for (size_t at = 0; at < s->n; number++)
		at += 2 + 2 * (size_t)blob_get16(s->item + at);
	add16(m, PATHS_PKSET, n);
	for (uint16_t i = 0; i < n; i++)
		add16(m, PATHS_PKSET, keys[i]);
	return number;
}

void
maker_sl(struct paths_maker *m, uint16_t pkey, uint8_t sl)
{
	uint8_t row[BLOB_PKSL_BYTES] = { 0, 0, sl };

	blob_put16(row, pkey);
	add(m, PATHS_PKSL, row, sizeof(row));
}

void
maker_port(struct paths_maker *m, uint16_t lid, const struct blob_port *port)
{
	for (uint32_t i = 0; i < 1u << port->lmc; i++)
		m->port[lid + i] = *port;
	add16(m, PATHS_GUID, lid);
}

void
maker_name(struct paths_maker *m, const char *name, uint16_t lid)
{
	uint8_t row[8] = { 0 }, len = (uint8_t)strlen(name);

	blob_put32(row, (uint32_t)m->section[PATHS_NAME].n);
	blob_put16(row + 4, lid);
	add(m, PATHS_NAME_AT, row, sizeof(row));
	add(m, PATHS_NAME, &len, 1);
	add(m, PATHS_NAME, name, len);
}

void
maker_addr(struct paths_maker *m, const uint8_t ip[16], uint64_t guid)
{
	uint8_t row[BLOB_ADDR_BYTES];

	memcpy(row, ip, 16);
	blob_put64(row + 16, guid);
	add(m, PATHS_ADDR, row, sizeof(row));
}

void
maker_row(struct paths_maker *m, uint16_t leaf, const uint8_t *cls)
{
	size_t lids = (size_t)m->subnet.lid_top + 1;
	uint8_t own[8] = { 0 };

	blob_put16(own, leaf);
	blob_put32(own + 4, (uint32_t)rows(m, PATHS_ROW, lids));
	add(m, PATHS_OWN, own, sizeof(own));
	add(m, PATHS_ROW, cls, lids);
}

/* -------------------------------------------------------------------- sorted */

static int
by_guid(const void *a, const void *b)
{
	uint64_t x = sorted->port[blob_get16(a)].guid, y = sorted->port[blob_get16(b)].guid;

	return x < y ? -1 : x > y;
}

static int
by_name(const void *a, const void *b)
{
	const uint8_t *names = sorted->section[PATHS_NAME].item;
	const uint8_t *x = names + blob_get32(a), *y = names + blob_get32(b);
	int c = memcmp(x + 1, y + 1, x[0] < y[0] ? x[0] : y[0]);

	if (c == 0)
		c = x[0] - y[0];
	return c != 0 ? c : blob_get16((const uint8_t *)a + 4) - blob_get16((const uint8_t *)b + 4);
}

static int
by_address(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

static int
by_key(const void *a, const void *b)
{
	return blob_get16(a) - blob_get16(b);
}

static void
sort(struct paths_maker *m, enum paths_section section, size_t row_bytes,
    int (*compare)(const void *, const void *))
{
	sorted = m;
	if (m->section[section].n > 0)
		qsort(m->section[section].item, rows(m, section, row_bytes), row_bytes, compare);
}

void
maker_done(struct paths_maker *m, struct paths_bytes section[PATHS_SECTIONS])
{
	uint8_t row[BLOB_SUBNET_BYTES];

	_Static_assert(BLOB_PORT_BYTES <= sizeof(row), "a port has room");
	m->section[PATHS_SUBNET].n = m->section[PATHS_PORT].n = 0;
	blob_subnet_put(row, &m->subnet);
	add(m, PATHS_SUBNET, row, sizeof(row));
	for (uint32_t lid = 0; lid <= m->subnet.lid_top; lid++) {
		blob_port_put(row, &m->port[lid]);
		add(m, PATHS_PORT, row, BLOB_PORT_BYTES);
	}
	sort(m, PATHS_GUID, 2, by_guid);
	sort(m, PATHS_NAME_AT, 8, by_name);
	sort(m, PATHS_ADDR, BLOB_ADDR_BYTES, by_address);
	sort(m, PATHS_PKSL, BLOB_PKSL_BYTES, by_key);
	for (int i = 0; i < PATHS_SECTIONS; i++)
		section[i] = (struct paths_bytes){ m->section[i].item, m->section[i].n };
}

void
maker_fini(struct paths_maker *m)
{
	for (int i = 0; i < PATHS_SECTIONS; i++)
		fm_vec_fini(&m->section[i]);
	free(m->port);
}
