/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the records of what hosts have registered: each is taken or set aside, and
 * what was taken is still there when it is written and read again.
 *
 * The input is a row of records: a byte of the key's length, a byte of the value's, key, value.
 */
#include <string.h>

#include "core/registry/registry.h"
#include "tests/fuzz/temp_store.h"

#define RECORDS_MAX 32

static uint32_t
put(const uint8_t *data, size_t size)
{
	struct store_record r[RECORDS_MAX];
	struct fm_error err;
	uint32_t n = 0;

	while (size >= 2 && n < RECORDS_MAX) {
		size_t n_key = 1 + data[0] % STORE_KEY_MAX, n_value = data[1];

		if (2 + n_key + n_value > size)
			break;
		r[n++] = (struct store_record){ data + 2, data + 2 + n_key, n_key, n_value };
		data += 2 + n_key + n_value;
		size -= 2 + n_key + n_value;
	}
	must(store_put(temp_store, r, n, true, &err) == 0);
	return n;
}

static struct registry *
load(void)
{
	struct registry_settings set;
	struct fm_error err;
	struct registry *r;

	registry_settings_default(&set);
	must((r = registry_new(&set)) != NULL);
	must(registry_load(r, temp_store, 1000, 1000000, &err) == 0);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct registry *r, *again;
	struct fm_error err = { 0 };
	uint32_t n;

	fuzz_be_quiet();
	temp_store_begin();
	n = put(data, size);
	r = load();
	must(groups_count(registry_groups(r)) + registry_n_services(r) +
		registry_n_subscriptions(r) <=
	    n);
	must(registry_save(r, temp_store, 1000, 1000000, &err) == 0);
	again = load();
	must(groups_count(registry_groups(r)) == groups_count(registry_groups(again)) &&
	    registry_n_services(r) == registry_n_services(again) &&
	    registry_n_subscriptions(r) == registry_n_subscriptions(again));
	registry_free(r);
	registry_free(again);
	return 0;
}
