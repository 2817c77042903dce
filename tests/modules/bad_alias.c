/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
static const char *const aliases[] = { "fair", "good", NULL };
FM_ENGINE(bad_alias, .aliases = aliases, .summary = "An alias that is another's name.",
    .traits = FM_PROVIDES_LFT, .route = bad_route);
