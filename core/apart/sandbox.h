/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/sandbox.h - fmd-engine-host gives up what an engine does not need.
 *
 * In this order: sandbox_begin(), sandbox_hide_files(), threads, sandbox_close(), dlopen(),
 * sandbox_seal().  Each ends the process if the kernel does not do what is asked: an engine never
 * runs open.
 */
#ifndef CORE_APART_SANDBOX_H
#define CORE_APART_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptors beyond n_fds, privileges, limits; memory_bytes: beside what is mapped now.  If
 * `parent` has ended, so do we. */
void sandbox_begin(pid_t parent, int n_fds, uint64_t memory_bytes);
/* This thread and those it starts: files can be opened in folders of libraries only.  False: this
 * kernel has no Landlock. */
bool sandbox_hide_files(void);
/* All threads, from now on: system calls for computing and for loading a file, no others; who
 * makes another one is killed.  Files cannot be opened for writing. */
void sandbox_close(void);
/* The file is loaded: nothing can be opened at all. */
void sandbox_seal(void);

#endif
