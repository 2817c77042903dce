/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/fmctl/hostlist.h - lists of hosts as SLURM writes them: node[1-3,07],login. */
#ifndef TOOLS_FMCTL_HOSTLIST_H
#define TOOLS_FMCTL_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define HOSTLIST_NAME 256 /* bytes of a name, with the NUL */

/* The names, sorted by strverscmp(), as short as one number at their ends makes them. */
void hostlist_write(const char *const *name, size_t n, FILE *out);
/* Each name of a list of len bytes; take() returns false to stop.  False: it is no list, or was
 * stopped.  A list of more than a million names is none. */
bool hostlist_each(
    const char *text, size_t len, bool (*take)(void *arg, const char *name), void *arg);

#endif
