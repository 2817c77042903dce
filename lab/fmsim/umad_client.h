/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/umad_client.h - the other end of a connection to fmsim.
 */
#ifndef LAB_FMSIM_UMAD_CLIENT_H
#define LAB_FMSIM_UMAD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/fmsim/umad_proto.h"
#include "lib/error.h"

/* Where fmsim listens unless told: $FMSIM_SOCKET, or a name of the user's own in
 * the temporary directory. */
const char *fmsim_default_path(void);
/* A connected descriptor, or a negative errno.  magic is filled in. */
int fmsim_connect(const char *path, struct fmsim_hello *hello, struct fmsim_welcome *welcome);
/* All of it; 0 or a negative errno (-ENODEV: the server is gone). */
int fmsim_write(int fd, const void *bytes, size_t n);
/* A frame and what follows it, in one call of the kernel as long as there is room for both. */
int fmsim_write_frame(int fd, const struct fmsim_frame *f, const void *bytes);
int fmsim_read(int fd, void *bytes, size_t n);
/* A command to the console at path; its answer goes to standard output. */
int fmsim_tell(const char *path, const char *command, struct fm_error *err);

#endif
