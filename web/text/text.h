/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/text.h - text in the format that Prometheus reads (text/plain; version=0.0.4).
 *
 *	# HELP fmd_up Does fmd answer?
 *	# TYPE fmd_up gauge
 *	fmd_up 1
 *
 * All lines of a name stand together: begin it by text_family(), then put its lines.
 */
#ifndef WEB_TEXT_TEXT_H
#define WEB_TEXT_TEXT_H

#include <stdint.h>

#include "lib/vec.h"

struct text {
	FM_VEC(char) v;
	bool is_lost; /* memory has run out: what is there is not whole */
};

void text_fini(struct text *t);
void text_put(struct text *t, const char *bytes, size_t n);
void text_words(struct text *t, const char *words);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value of a label, as it stands between its quotes: of any words that are UTF-8. */
void text_label(struct text *t, const char *value);

/* How a number is told: "counter" only rises, "gauge" goes up and down. */
void text_family(struct text *t, const char *name, const char *type, const char *help);
/* labels: "{a=\"b\"}" or "". */
void text_count(struct text *t, const char *name, const char *labels, uint64_t value);
void text_real(struct text *t, const char *name, const char *labels, double value);

/* The most that one line takes beside its name and its labels. */
#define TEXT_VALUE_BYTES 24
/* At `at`, where TEXT_VALUE_BYTES are free: " 123\n"; where it ends. */
char *text_end_line(char *at, uint64_t value);

#endif
