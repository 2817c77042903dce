/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
BAD_ENGINE(bad_size, .magic = FM_ABI_MAGIC, .abi_major = FM_ABI_MAJOR, .abi_minor = FM_ABI_MINOR,
    .size = 40, .option_row_size = sizeof(struct fm_option), .name = "bad_size",
    .summary = "A short struct.", .route = bad_route);
