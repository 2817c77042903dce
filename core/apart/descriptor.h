/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/descriptor.h - struct fm_engine as bytes, without its callbacks.
 */
#ifndef CORE_APART_DESCRIPTOR_H
#define CORE_APART_DESCRIPTOR_H

#include <fmd/engine.h>

#include "lib/arena.h"

/* Into at most `room` bytes, which are told; 0: it does not fit.  The engine is sound. */
size_t descriptor_write(const struct fm_engine *engine, unsigned char *to, size_t room);
/* What is read is sound as bytes: texts end and are printable, counts are those of what is
 * there, tables end.  Whether it is an engine is for engine_check_copy().  route is as it was.
 * FM_E_CONFIG, FM_E_RESOURCE. */
int descriptor_read(const unsigned char *bytes, size_t n, struct fm_arena *mem,
    struct fm_engine *to, struct fm_error *err);

#endif
