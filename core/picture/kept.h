/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/kept.h - the picture that was told last, as text, for all who ask.
 *
 * It is made when somebody asks and something that it shows may have changed.  While a sweep runs
 * it is that of before, as what is half read is nobody's fabric.  At 11,664 hosts, on a
 * loaded core, it costs the loop 4 ms while it is the same, and 10 ms when it is a new one.
 */
#ifndef CORE_PICTURE_KEPT_H
#define CORE_PICTURE_KEPT_H

#include "core/picture/picture.h"

struct kept_text;

struct picture_kept {
	struct kept_text *text; /* NULL: there is none */
	uint64_t key;
	bool is_whole; /* no sweep ran when it was made */
	char generation[PICTURE_GENERATION_BYTES];
};

/* It is the picture of now, if no sweep runs (is_idle), or if there is none of a time when none
 * did.  FM_E_RESOURCE: it is as it was. */
int picture_keep(
    struct picture_kept *k, const struct picture_of *of, bool is_idle, struct fm_error *err);
/* Its text, to be released by who takes it. */
struct ctl_text picture_text(const struct picture_kept *k);
void picture_drop(struct picture_kept *k);

#endif
