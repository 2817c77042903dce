/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_words.h - the text of a configuration file as words and signs.
 */
#ifndef CORE_CONF_CONF_WORDS_H
#define CORE_CONF_CONF_WORDS_H

#include "lib/arena.h"
#include "lib/error.h"

enum conf_word_kind {
	CONF_TEXT, /* a word or a quoted string, without its quotes */
	CONF_SIGN, /* one of { } ( ) = + , */
	CONF_END   /* of the file */
};

struct conf_word {
	enum conf_word_kind kind;
	const char *text; /* CONF_END: "" */
	unsigned line;	  /* in which it ends */
};

/* The words of a text of n bytes and a NUL, CONF_END behind the last; all in mem, path is for
 * messages.  FM_E_CONFIG "FILE:LINE: ..." for a NUL byte, a string or brace without its end, an
 * escape that is no letter, and a variable ${...} that is not set. */
int conf_words(const char *path, const char *text, size_t n, struct fm_arena *mem,
    const struct conf_word **out, struct fm_error *err);

#endif
