/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/faultpoint.h"

#include <stddef.h>

static fm_fault_hook fault_hook;

void
fm_fault_point_hook(fm_fault_hook hook)
{
	fault_hook = hook;
}

void
fm_fault_point(const char *what, const char *which)
{
	if (fault_hook != NULL)
		fault_hook(what, which);
}
