/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/number.h - numbers as OpenSM's files have them.
 */
#ifndef CORE_TEXT_NUMBER_H
#define CORE_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* "0x..." in hex, a leading 0: octal, else decimal; nothing before or behind it. */
bool number_parse(const char *text, uint64_t *out);

#endif
