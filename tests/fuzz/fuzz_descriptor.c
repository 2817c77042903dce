/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what the child of an engine says of itself: a sentence, or a descriptor of
 * texts and tables that end, which may be an engine, and which is written as it was read.
 */
#include <string.h>

#include "core/abi/plugin_check.h"
#include "core/apart/descriptor.h"
#include "tests/fuzz/fuzz.h"

#define BYTES_MAX ((size_t)4 << 20)

static int
route_nothing(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return FM_E_TOPOLOGY;
}

/* Written and read again it is written as before: bytes of texts that cannot be printed were
 * replaced by the first reading. */
static void
write_again(const struct fm_engine *e, struct fm_arena *mem, size_t size)
{
	unsigned char *once = malloc(size), *twice = malloc(size);
	struct fm_engine again = { .route = e->route };
	struct fm_error err = { 0 };
	size_t n;

	must(once != NULL && twice != NULL);
	n = descriptor_write(e, once, size);
	must(n > 0);
	must(descriptor_read(once, n, mem, &again, &err) == 0);
	must(descriptor_write(&again, twice, size) == n && memcmp(once, twice, n) == 0);
	free(once);
	free(twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fm_engine e = { .route = route_nothing };
	struct fm_error err = { 0 };
	struct fm_arena mem;

	fuzz_be_quiet();
	fm_arena_init(&mem, BYTES_MAX);
	if (descriptor_read(data, size, &mem, &e, &err) != 0) {
		must(err.kind == FM_E_CONFIG || err.kind == FM_E_RESOURCE);
		must(err.msg[0] != '\0');
	} else {
		e.option_row_size = sizeof(struct fm_option);
		write_again(&e, &mem, size);
		if (engine_check_copy(&e, "mad.so", &err) != 0)
			must(err.kind == FM_E_CONFIG && strncmp(err.msg, "mad.so", 6) == 0);
	}
	fm_arena_fini(&mem);
	return 0;
}
