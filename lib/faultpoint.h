/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/faultpoint.h - places where a test may stop the program dead.
 *
 * A place is passed with two words that name it ("send", "LFT").  Nothing
 * happens unless a hook is set, and only test programs set one: what is tested
 * is the library as it is installed, no other build, and no environment variable
 * or option of an installed program reaches this.  O(1): a load and a branch.
 */
#ifndef FM_LIB_FAULTPOINT_H
#define FM_LIB_FAULTPOINT_H

typedef void (*fm_fault_hook)(const char *what, const char *which);

/* Before any thread passes a place. */
void fm_fault_point_hook(fm_fault_hook hook);
void fm_fault_point(const char *what, const char *which);

#endif
