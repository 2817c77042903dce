/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a partitions.conf and as a QoS policy file: an error with a
 * sentence, or keys that are sorted and a level for every query.
 */
#include <string.h>

#include "core/subnet/partitions.h"
#include "core/subnet/qos_policy.h"
#include "tests/fuzz/fuzz.h"

#define ROOM 256

static void
check_sentence(const struct fm_error *err)
{
	must(err->kind == FM_E_CONFIG && strncmp(err->msg, "f:", 2) == 0);
}

static void
check_keys(const struct partitions *p, const struct part_port *port)
{
	uint16_t keys[ROOM];
	size_t n = partitions_keys(p, port, keys, ROOM);

	must(n <= ROOM);
	for (size_t i = 0; i < n; i++) {
		must((keys[i] & PKEY_BASE) != 0 && partitions_find(p, keys[i]) != NULL);
		must(i == 0 || (keys[i - 1] & PKEY_BASE) < (keys[i] & PKEY_BASE) ||
		    (keys[i - 1] == (keys[i] | PKEY_FULL) && keys[i - 1] != keys[i]));
	}
	must(!port->self || n == ROOM || keys[n - 1] == 0xffff || (n > 1 && keys[n - 2] == 0xffff));
}

static const struct partitions *
read_partitions(const char *text, size_t size, bool both)
{
	static const struct part_port ports[] = { { 1, PART_CA, true }, { 0x11, PART_CA, false },
		{ 2, PART_SWITCH, false }, { 3, PART_ROUTER, false } };
	struct part_options o = { .both_keys = both, .qos = both };
	const struct partitions *p = NULL;
	struct fm_error err = { 0 };
	const struct part_group *g;
	size_t n;

	if (partitions_parse("f", text, size, &o, &p, NULL, &err) != 0) {
		check_sentence(&err);
		must(partitions_default(&o, &p, NULL, &err) == 0);
	}
	for (unsigned i = 0; i < 4; i++)
		check_keys(p, &ports[i]);
	g = partitions_groups(p, &n);
	for (size_t i = 0; i < n; i++)
		must(g[i].mgid[0] == 0xff && partitions_find(p, g[i].pkey) != NULL);
	return p;
}

static void
read_policy(const char *text, size_t size, const struct partitions *parts)
{
	static const uint16_t keys[] = { 0x8001, 0x7fff };
	static const struct qos_end end = { { 1, PART_CA, true }, 1, "host", { keys, 2 } };
	struct qos_query q = { &end, &end, true, true, true, 0x10001, 7, 0x8001 };
	const struct qos_policy *p = NULL;
	const struct qos_level *l, *levels;
	struct fm_error err = { 0 };
	size_t n;

	if (qos_policy_parse("f", text, size, parts, &p, NULL, &err) != 0) {
		check_sentence(&err);
		return;
	}
	levels = qos_policy_levels(p, &n);
	l = qos_policy_match(p, &q);
	must(l >= levels && l < levels + n && l->sl < 16);
	qos_policy_put(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct partitions *p;

	fuzz_be_quiet();
	partitions_put(read_partitions((const char *)data, size, true));
	p = read_partitions((const char *)data, size, false);
	read_policy((const char *)data, size, p);
	partitions_put(p);
	return 0;
}
