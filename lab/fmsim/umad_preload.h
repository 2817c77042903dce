/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/umad_preload.h - libfmsim-umad.so inside: libibumad's API on fmsim.
 */
#ifndef LAB_FMSIM_UMAD_PRELOAD_H
#define LAB_FMSIM_UMAD_PRELOAD_H

#include <infiniband/umad.h>

#include "lab/fmsim/umad_proto.h"

#define EXPORT __attribute__((visibility("default")))
#define FMSIM_CA_NAME "fmsim0" /* the one adapter that a program sees */
#define FMSIM_ISSM_PATH "/dev/fmsim/issm"

/* From the environment: where this program sits. */
const char *fmsim_node(void);	   /* "" = the first host */
unsigned fmsim_default_port(void); /* 0 = the first that is up */

/* A call and its answer; ca: of FMSIM_LOOK, else NULL.  The answer's value, or
 * a negative errno. */
int fmsim_do_call(struct fmsim_call *call, struct fmsim_ca *ca);
/* Is there a CA of this name (NULL: any)?  The port to use for `port`, or a
 * negative errno. */
int fmsim_find_port(const char *ca_name, int port);
/* A file of sysfs with what the port has now, as the kernel writes it; a descriptor, -2: it is not
 * of our adapter, or -1 and errno: we have no such file. */
int fmsim_open_sysfs(const char *path);

#endif
