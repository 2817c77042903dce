/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/number.h - numbers as OpenSM's files have them.
 */
#ifndef CORE_CONF_NUMBER_H
#define CORE_CONF_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* "0x..." in hex, a leading 0: octal, else decimal; nothing before or behind it. */
bool number_parse(const char *text, uint64_t *out);

#endif
