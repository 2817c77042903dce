/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/spec.h - "FABRIC[,key=value...]" to a simulator, and the small
 * readers that scripts share.
 */
#ifndef LAB_SIM_SPEC_H
#define LAB_SIM_SPEC_H

#include "lab/sim/sim.h"

/* spec: what follows "sim:" (keys: sim.h), or with it. */
int spec_open(const char *spec, struct sim **out, struct sim_place *local, struct fm_error *err);

/* fault.c.  Each: false when the text is none.  "1%" or "0.01"; "5ms", "100us", "20ns",
 * "2s", "0". */
bool read_share(const char *text, double *share);
bool read_time(const char *text, int64_t *ns);
bool read_number(const char *text, uint64_t max, uint64_t *value);

#endif
