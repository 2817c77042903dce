/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/traits.h - the traits of engines (enum fm_traits) in words.
 */
#ifndef CORE_ABI_TRAITS_H
#define CORE_ABI_TRAITS_H

#include <stdint.h>

struct engine_trait {
	uint32_t bit; /* 0: the end */
	const char *name, *help;
};
/* All that this fmd knows, bit 0 at the end. */
const struct engine_trait *engine_traits(void);
/* Their bits together.  Another may be a promise that is needed: one that is added raises the
 * minor (doc/abi.md). */
uint32_t engine_known_traits(void);

#endif
