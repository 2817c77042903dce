/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
BAD_ENGINE(bad_magic, .magic = 0x12345678, .abi_major = FM_ABI_MAJOR, .abi_minor = FM_ABI_MINOR,
    .size = sizeof(struct fm_engine), .option_row_size = sizeof(struct fm_option),
    .name = "bad_magic", .summary = "A wrong magic.", .route = bad_route);
