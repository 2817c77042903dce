/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opensm.h - OpenSM's configuration, and what stands for it here.
 *
 * opensm.conf is lines "key value", '#' begins a comment line, "(null)" is nothing:
 *
 *	lines --opensm_read--> struct opensm_line --opensm_translate--> settings of fmd's
 *	options, keys that have no counterpart, mistakes
 *
 * A key at OpenSM's default says nothing: fmd's own default holds.  The rows are the whole
 * knowledge; the man page fmd-opensm(7) is made of them.
 */
#ifndef CORE_OPENSM_OPENSM_H
#define CORE_OPENSM_OPENSM_H

#include "core/abi/options.h"
#include "core/engine/plugin.h"
#include "lib/vec.h"

/* How the value of a key is written; a section is an element of opa-fm's with all in it. */
enum opensm_form { OPENSM_BOOL, OPENSM_NUMBER, OPENSM_TEXT, OPENSM_PATH, OPENSM_SECTION };

/* What becomes of a key whose value is not OpenSM's default. */
enum opensm_fate {
	OPENSM_SAME,	/* the option .to has the same meaning */
	OPENSM_SECONDS, /* .to is a duration, the value is seconds */
	OPENSM_MS,	/* or milliseconds */
	OPENSM_INVERSE, /* .to is yes where the key is FALSE */
	OPENSM_LIFE,	/* .to, and .or_to, are codes of 4.096 us * 2^n, the value is a time */
	OPENSM_ENGINE,	/* an option of the engines of the chain: .to, or else .or_to */
	OPENSM_GUIDS,	/* the same, of a file of nodes or of rows */
	OPENSM_SPECIAL, /* a rule of its own, opensm_translate.c, opafm_translate.c */
	OPENSM_ALWAYS,	/* fmd does so whatever is written: .note says how */
	OPENSM_NONE	/* it has no counterpart, because .note */
};

struct opensm_key {
	const char *name, *def; /* as OpenSM's default file has them */
	enum opensm_form form;
	enum opensm_fate fate;
	bool def_counts;	/* fmd's default is another: what is at OpenSM's is said, too */
	bool gathers;		/* its lines add up, ", " between, one for each SL */
	bool of_mlnx_ofed;	/* OpenSM has it not, MLNX_OFED's has */
	const char *to, *or_to; /* options, NULL: none */
	const char *note;	/* for the documents; of OPENSM_NONE the reason */
};

/* Row i, or NULL behind the last; the row of a key, or NULL. */
const struct opensm_key *opensm_key(size_t i);
const struct opensm_key *opensm_key_find(const char *name);
/* What it is in fmd.conf: "it is lmc". */
void opensm_key_means(const struct opensm_key *key, char *out, size_t room);
/* Of a key of MLNX_OFED's why it is passed over, or NULL. */
const char *opensm_foreign_key(const char *name);
/* Is it an engine of MLNX_OFED's?  FM_E_CONFIG with what it is here, or 0. */
int opensm_foreign_engine(const char *name, struct fm_error *err);

/* Is a text of OpenSM's form and not of fmd.conf's?  The first line says it that is a key of
 * OpenSM's, a blank and a value, or a key with '=', or a section; where there is none, all lines
 * that hold something must be a name, a blank and a value. */
bool opensm_is_form(const char *text, size_t n);

/* A key with its value, from a file or from the command line. */
struct opensm_line {
	const struct opensm_key *key;
	const char *value; /* "": nothing, also for "(null)" */
	const char *said;  /* the option of the command line; NULL: a file */
	unsigned line;
};

/* Something to be told of a line: without "FILE:LINE: ". */
struct opensm_remark {
	unsigned line;
	const char *said; /* as of the line */
	const char *text;
};

enum opensm_told {
	OPENSM_BAD,    /* unknown keys, values of another form */
	OPENSM_STRAY,  /* keys without counterpart */
	OPENSM_HINT,   /* keys that are taken, and need something beside */
	OPENSM_ABSENT, /* default files, where a site has them, not there */
	OPENSM_N_TOLD
};

/* One option to be set. */
struct opensm_setting {
	const struct opensm_line *from;
	const struct fm_engine *engine; /* whose option it is; NULL: the daemon's */
	const char *to;
	const char *const *items; /* [n_items] */
	size_t n_items;
};

/* What a file or a command line comes to; all but the vectors is in mem. */
struct opensm {
	struct fm_arena *mem;
	const struct engine_set *engines;
	const char *folder; /* put before relative paths, "/etc/opensm/"; NULL: they stay */
	FM_VEC(struct opensm_line) lines; /* of each key the last */
	FM_VEC(struct opensm_setting) settings;
	FM_VEC(struct opensm_remark) told[OPENSM_N_TOLD];
	bool of_mlnx_ofed; /* the file has keys of it: an unknown one may be another */
	bool out_of_memory;
};
void opensm_init(struct opensm *o, struct fm_arena *mem, const struct engine_set *engines);
void opensm_fini(struct opensm *o);

/* All lines of a file; mistakes are collected. */
void opensm_read(struct opensm *o, const char *text, size_t n);
/* One key of the command line: said is the option, "-p". */
void opensm_say(struct opensm *o, const char *said, const char *key, const char *value);
/* Which engines route, "a, b": those of the command line, or NULL; where no line says it either,
 * those by default. */
struct opensm_chain {
	const char *firm, *by_default;
};
/* Lines to settings.  of_file: what OpenSM reads though no line names it (its default files,
 * guid2lid) counts. */
void opensm_translate(struct opensm *o, const struct opensm_chain *chains, bool of_file);

/* An option of OpenSM's command line: a key with a value, or a sentence on what to write. */
struct opensm_option {
	char letter;	   /* or '\0' */
	const char *name;  /* the long one */
	const char *key;   /* NULL: .value is what to write instead */
	const char *value; /* NULL: it takes one */
	bool has_value;	   /* it takes one, and is not taken */
	bool is_hex;	   /* its number is hexadecimal, with 0x or without */
	/* Rows of one option stand together, one for each number that it takes, and the last, "",
	 * for all others; NULL: it is the only one. */
	const char *number;
};
/* Option i, or NULL behind the last. */
const struct opensm_option *opensm_option(size_t i);
/* Of the rows of one option that for the value. */
const struct opensm_option *opensm_option_for(const struct opensm_option *first, const char *value);

/* A command of OpenSM's console, and what is done here in its place. */
struct opensm_command {
	const char *name, *word; /* word: with that one behind it; NULL: with any */
	const char *here;
};
/* Command i, or NULL behind the last; that of a name with the word behind it, or NULL. */
const struct opensm_command *opensm_command(size_t i);
const struct opensm_command *opensm_command_find(const char *name, const char *word);

/* The options of `table` that a key of an engine may stand for, and whether its value is a
 * file of nodes; NULL: none. */
const char *opensm_engine_option(
    const struct opensm_key *key, const struct option_table *table, bool *is_list);

#endif
