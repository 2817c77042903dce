/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
BAD_ENGINE(bad_minor, .magic = FM_ABI_MAGIC, .abi_major = FM_ABI_MAJOR,
    .abi_minor = FM_ABI_MINOR + 1, .size = sizeof(struct fm_engine),
    .option_row_size = sizeof(struct fm_option), .name = "bad_minor",
    .summary = "A newer minor version.", .route = bad_route);
