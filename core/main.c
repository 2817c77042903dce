/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd: argv and the loop; all else is in libfmcore.
 */
#include "config.h"

#include <stdio.h>

int
main(void)
{
	fputs("fmd " PACKAGE_VERSION ": nothing runs yet\n", stderr);
	return 1;
}
