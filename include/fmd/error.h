/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd/error.h - the kinds of failure.
 *
 * A function that can fail returns int: 0 or a negative enum fm_error_kind,
 * and takes a struct fm_error * as its last parameter.  What is behind that
 * is the host's: an engine passes it on, and fills it by host->fail().
 */
#ifndef FMD_ERROR_H
#define FMD_ERROR_H

enum fm_error_kind {
	FM_OK = 0,
	FM_E_CONFIG = -1,    /* the administrator's options or files are wrong */
	FM_E_TOPOLOGY = -2,  /* this engine cannot route this fabric */
	FM_E_RESOURCE = -3,  /* memory, VLs, table entries ran out */
	FM_E_SYSTEM = -4,    /* a system call or library failed */
	FM_E_CANCELLED = -5, /* host->should_stop() said so */
	FM_E_BUG = -6	     /* an invariant of ours does not hold */
};

struct fm_error;

#endif /* FMD_ERROR_H */
