/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
FM_ENGINE(bad_route, .summary = "No route callback.");
