/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/wide.h - functions worth building for wider registers too.
 *
 * FM_WIDE before a function builds it once per width; the loader chooses.
 * Not under sanitizers: they instrument the resolvers, which run before them.
 */
#ifndef FM_LIB_WIDE_H
#define FM_LIB_WIDE_H

#include <stdint.h> /* __GLIBC__ */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FM_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FM_WIDE
#endif

#endif
