/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/entry_options.h - what every section of an engine may say beside the engine's own
 * options.
 */
#ifndef CORE_ABI_ENTRY_OPTIONS_H
#define CORE_ABI_ENTRY_OPTIONS_H

#include "core/abi/options.h"

struct entry_options {
	int64_t time_limit_ms;
};
struct option_table entry_option_table(void);

#endif
