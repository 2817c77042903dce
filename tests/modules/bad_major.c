/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
BAD_ENGINE(bad_major, .magic = FM_ABI_MAGIC, .abi_major = FM_ABI_MAJOR + 7, .abi_minor = 3,
    .size = sizeof(struct fm_engine), .option_row_size = sizeof(struct fm_option),
    .name = "bad_major", .summary = "Another major version.", .route = bad_route);
