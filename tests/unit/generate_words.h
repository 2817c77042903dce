/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/generate_words.h - a generated fabric from one line of text:
 * generate_words("torus 3x3 2", &nl, &err).
 */
#ifndef TESTS_UNIT_GENERATE_WORDS_H
#define TESTS_UNIT_GENERATE_WORDS_H

#include <stdio.h>
#include <string.h>

#include "lab/topo/netlist.h"

static inline int
generate_words(const char *text, struct netlist *nl, struct fm_error *err)
{
	char line[512], *words[32] = { NULL }, *at = line;
	int n = 0;

	snprintf(line, sizeof(line), "%s", text);
	while (at != NULL && *at != '\0' && n < 32) {
		words[n++] = at;
		at = strchr(at, ' ');
		if (at != NULL)
			*at++ = '\0';
	}
	return netlist_generate(n, words, nl, err);
}

#endif
