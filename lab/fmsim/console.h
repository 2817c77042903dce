/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/console.h - commands to a simulator that runs: the verbs of its
 * scripts (fault.c) now, ibsim's, and questions.
 */
#ifndef LAB_FMSIM_CONSOLE_H
#define LAB_FMSIM_CONSOLE_H

#include "lab/sim/sim.h"

enum console_result { CONSOLE_GO_ON, CONSOLE_QUIT };

/* Do what a line says.  *answer: text, a line or more, for the caller to free;
 * NULL for an empty line or when memory is out. */
enum console_result console_do(struct sim *s, const char *line, char **answer);

#endif
