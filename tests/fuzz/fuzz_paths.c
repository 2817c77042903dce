/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the file of a host's paths: it is refused, or every question gets an answer of the
 * right form.
 */
#include <string.h>

#include "host/paths/paths.h"
#include "tests/fuzz/fuzz.h"

#define LIDS 64

/* The i-th 16 bytes as an address, and as a name that ends. */
static void
ask_by_words(const struct paths *p, const uint8_t *data, size_t size)
{
	char name[17] = { 0 };
	uint16_t lid[2] = { 0 };

	for (size_t at = 0; at + 16 <= size && at < 4096; at += 8) {
		memcpy(name, data + at, 16);
		must(paths_lid_of_ip(p, data + at) <= paths_subnet(p)->lid_top);
		must(paths_lid_of_guid(p, blob_get64(data + at)) <= paths_subnet(p)->lid_top);
		if (paths_lids_of_name(p, name, lid, 2) > 0)
			must(lid[0] <= paths_subnet(p)->lid_top &&
			    lid[1] <= paths_subnet(p)->lid_top);
	}
}

static void
ask_by_lids(const struct paths *p)
{
	uint32_t top = paths_subnet(p)->lid_top < LIDS ? paths_subnet(p)->lid_top : LIDS;
	static const uint16_t keys[] = { 0, 1, 0x8001, 0xffff };
	struct sa_path_record r;
	struct blob_port port;

	for (uint32_t s = 0; s <= top + 1; s++)
		for (uint32_t d = 0; d <= top + 1; d++) {
			struct paths_query q = { (uint16_t)s, (uint16_t)d, keys[(s + d) % 4] };

			if (!paths_record(p, &q, &r))
				continue;
			must(paths_port(p, q.slid, &port) && r.sgid.guid == port.guid);
			must(paths_port(p, q.dlid, &port) && r.dgid.guid == port.guid);
			must(r.slid == s && r.dlid == d && r.pkey != 0 && r.reversible);
		}
}

static void
ask_for_registered(const struct paths *p)
{
	struct blob_reg reg;
	struct blob_port port;
	size_t at = 0;

	while (paths_next_reg(p, &at, &reg))
		must(paths_port(p, reg.lid, &port) && (port.flags & BLOB_PORT_GONE) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	struct fm_error err = { 0 };
	struct paths *p;

	must(copy != NULL);
	memcpy(copy, data, size);
	if (paths_take(copy, size, &p, &err) != 0) {
		must(p == NULL && err.msg[0] != '\0');
		return 0;
	}
	ask_by_words(p, data, size);
	ask_by_lids(p);
	ask_for_registered(p);
	paths_free(p);
	return 0;
}
