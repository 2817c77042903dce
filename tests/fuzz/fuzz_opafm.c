/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as opa-fm's opafm.xml: a sentence that names the file, or elements that lie in
 * each other, and what they are translated to.  Run in the build directory it has the engines'
 * options.
 */
#include <string.h>

#include "core/opensm/opafm.h"
#include "tests/fuzz/engines.h"

#define DEPTH_MAX 16 /* opafm_xml.c */

/* Each element ends within those that it stands in. */
static void
must_be_nested(const struct opafm *x)
{
	uint32_t open[DEPTH_MAX];
	unsigned depth = 0;

	for (uint32_t i = 0; i < x->elements.n; i++) {
		const struct opafm_element *e = &x->elements.item[i];

		while (depth > 0 && i >= open[depth - 1])
			depth--;
		must(e->end > i && e->end <= (depth > 0 ? open[depth - 1] : x->elements.n));
		must(e->name[0] != '\0' && (e->end == i + 1 || e->is_section));
		must(!e->is_section || e->value[0] == '\0');
		must(depth < DEPTH_MAX);
		open[depth++] = e->end;
	}
}

static void
must_be_named(const struct opafm *x)
{
	for (size_t i = 0; i < x->groups.n; i++)
		must(x->groups.item[i].name[0] != '\0');
	for (size_t i = 0; i < x->o.told[OPENSM_BAD].n; i++)
		must(x->o.told[OPENSM_BAD].item[i].text[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fm_error err = { 0 };
	struct fm_arena mem;
	struct opafm x;

	fuzz_be_quiet();
	fm_arena_init(&mem, SIZE_MAX);
	opafm_init(&x, &mem, fuzz_engines());
	if (opafm_read(&x, "f", (const char *)data, size, &err) != 0) {
		must(err.kind == FM_E_CONFIG && strncmp(err.msg, "f", 1) == 0);
	} else {
		must_be_nested(&x);
		opafm_translate(&x, "minhop");
		must_be_named(&x);
	}
	opafm_fini(&x);
	fm_arena_fini(&mem);
	return 0;
}
