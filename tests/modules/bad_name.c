/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
BAD_ENGINE(bad_name, .magic = FM_ABI_MAGIC, .abi_major = FM_ABI_MAJOR, .abi_minor = FM_ABI_MINOR,
    .size = sizeof(struct fm_engine), .option_row_size = sizeof(struct fm_option),
    .name = "someone_else", .summary = "Its name is not the file's.", .traits = FM_PROVIDES_LFT,
    .route = bad_route);
