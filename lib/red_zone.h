/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/red_zone.h - memory that nobody may touch, as ASan sees it.
 *
 * For what hands out pieces of larger blocks.  Without ASan all of it is nothing.
 */
#ifndef FM_LIB_RED_ZONE_H
#define FM_LIB_RED_ZONE_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define FM_HAS_RED_ZONES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FM_HAS_RED_ZONES 1
#endif
#endif

#ifdef FM_HAS_RED_ZONES
#include <sanitizer/asan_interface.h>
#define RED_ZONE_BYTES ((size_t)32) /* behind a piece */
#else
#define RED_ZONE_BYTES ((size_t)0)
#endif

/* From now on n bytes at p may not be touched; p is 8-byte aligned. */
static inline void
red_zone_lay(const void *p, size_t n)
{
#ifdef FM_HAS_RED_ZONES
	__asan_poison_memory_region(p, n);
#else
	(void)p;
	(void)n;
#endif
}

/* ... may again. */
static inline void
red_zone_lift(const void *p, size_t n)
{
#ifdef FM_HAS_RED_ZONES
	__asan_unpoison_memory_region(p, n);
#else
	(void)p;
	(void)n;
#endif
}

#endif
