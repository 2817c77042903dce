/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_private.h - a configuration in the making; shared by conf.c
 * (files, command line, resolving), conf_parse.c (libConfuse), conf_chain.c
 * and conf_regions.c.
 */
#ifndef CORE_CONF_CONF_PRIVATE_H
#define CORE_CONF_CONF_PRIVATE_H

#include "core/conf/conf.h"
#include "core/nodes/groups.h"
#include "core/text/mistakes.h"
#include "lib/arena.h"
#include "lib/vec.h"

/* The section fattree "pods": one set of options of one engine. */
struct instance {
	const struct fm_engine *engine;
	const char *title; /* "" = the plain engine */
	struct option_values *values;
	struct option_values *entry; /* struct entry_options */
	const char *file;
	unsigned line; /* where the section ends */
	bool used;
};

/* The section region "pods" or group "pods". */
struct titled {
	const struct conf_section *section;
	const char *title;
	struct option_values *values;
	const char *file;
	unsigned line; /* where the section ends */
};

struct conf_private {
	struct fm_arena mem;
	atomic_uint refs;
	struct conf *conf;
	struct engine_set held;
	const struct engine_set *engines; /* &held */
	struct mistakes *all;
	bool peeks; /* only at the daemon's own keys: sections of engines are nobody's yet */
	struct option_values *own; /* the daemon's keys */
	FM_VEC(struct instance) instances;
	FM_VEC(struct titled) titled; /* in the order written */
	struct node_groups groups;
	struct rchain *rchain; /* of the chain entry `chains`, or NULL */
};

struct instance *conf_find_instance(
    struct conf_private *self, const struct fm_engine *engine, const char *title);
/* The same; it is made where it is not there.  NULL: out of memory. */
struct instance *conf_need_instance(
    struct conf_private *self, const struct fm_engine *engine, const char *title);
/* "fattree, updn" in mem, or NULL. */
const char *conf_join_words(struct fm_arena *mem, const char *const *words, size_t n);
/* Set a key of values, whose rows are these; words are put into one string. */
int conf_set(struct conf_private *self, struct option_values *values, const struct conf_row *rows,
    const char *key, const char *const *items, size_t n, const struct option_origin *origin,
    struct fm_error *err);
int conf_out_of_memory(struct fm_error *err);
/* Why there is no engine of this name: FM_E_CONFIG. */
int conf_no_engine(const struct conf_private *self, const char *name, struct fm_error *err);
/* "fattree:pods" to an entry; word is kept.  FM_E_CONFIG with a sentence without place. */
int conf_resolve_entry(
    struct conf_private *self, const char *word, struct chain_entry *entry, struct fm_error *err);
/* The entry `chains`, from the three policy files.  FM_E_CONFIG. */
int conf_resolve_steps(struct conf_private *self, struct chain_entry *entry, struct fm_error *err);
/* The mistakes of policy files that no chain uses.  After all chains.  FM_E_CONFIG. */
int conf_check_steps(struct conf_private *self, struct fm_error *err);
/* All that their tables depend on. */
uint64_t conf_mark_steps(const struct conf_routing *r, const struct overlay *overlay);
/* The next word of "a, b", copied, or NULL at the end. */
char *conf_next_word(struct fm_arena *mem, const char **at);
/* "fattree:pods, updn" to a chain.  Of one that nobody wrote, a default, engines
 * that are not installed are left out.  Mistakes are noted, `where` before them. */
int conf_resolve_chain(struct conf_private *self, const char *text, bool written, const char *where,
    struct chain *chain, struct fm_error *err);
/* Groups out of their sections, and every "@name" bound to them. */
int conf_resolve_groups(struct conf_private *self, struct fm_error *err);
/* Note what is wrong with a key of the daemon's own, unless rc, of who judged it, is 0: where it
 * was written, and the sentence in err. */
int conf_note_own(struct conf_private *self, const char *key, int rc, struct fm_error *err);
/* Is its spec umad[:CA[:PORT]] or sim:FABRIC?  FM_E_CONFIG. */
int conf_check_transport(const struct conf_transport *t, struct fm_error *err);
/* Keys that are strings of a form. */
int conf_check_daemon(struct conf_private *self, struct fm_error *err);
/* Warn of what this host has not, now: a local port, folders for the log and the dumps. */
void conf_warn_of_host(const struct conf *conf);
/* Regions out of theirs; the default chain is there. */
int conf_resolve_regions(struct conf_private *self, struct fm_error *err);
/* Vfabrics out of theirs, with their SLs and shares. */
int conf_resolve_vfabrics(struct conf_private *self, struct fm_error *err);

/* Partitions and QoS out of their files. */
int conf_resolve_policies(struct conf_private *self, struct fm_error *err);
void conf_drop_policies(struct conf *conf);

/* The transport, where the port is told by its GUID, or several are.  FM_E_CONFIG. */
int conf_resolve_local_port(struct conf_private *self, struct fm_error *err);
/* Widths and speeds of links that PortInfo has no code for.  FM_E_CONFIG. */
int conf_check_links(struct conf_private *self, struct fm_error *err);

/* Warn of keys that everybody knows, or can read. */
void conf_warn_keys(const struct conf_private *self);

struct cfg_opt_t; /* libConfuse's */
/* A key that has a value in the text, or a section with a title that ends. */
struct setting {
	const struct cfg_opt_t *section; /* NULL: the file */
	unsigned nth;			 /* of the sections of this name, from 0 */
	const char *title;		 /* [n_title] of a section, as written */
	size_t n_title;
	const struct cfg_opt_t *key; /* NULL: the section ends, in the line of: */
	unsigned *lines; /* [n] of the value or of the items of a list; one where n is 0 */
	size_t n;
};

struct scanned {
	char *text;
	FM_VEC(struct setting) settings; /* in the order written, each once */
};

/* One text without what is wrong in it, each mistake noted (while it peeks, unknown words are
 * not), line for line the same.  opts: what may stand there.  FM_E_RESOURCE.  On any return the
 * vector is the caller's. */
int conf_scan(struct conf_private *self, const char *path, const struct cfg_opt_t *opts,
    const char *text, size_t n, struct scanned *out);
/* Read one text into self, mistakes noted; path lives in self->mem. */
int conf_parse_text(
    struct conf_private *self, const char *path, const char *text, size_t n, struct fm_error *err);
/* The mistake in err is noted, and reading goes on: 0; err->kind when it is of another kind. */
int conf_note(struct conf_private *self, const struct fm_error *err);

/* The same of a text of OpenSM's form.  All its mistakes are told, the first is *err. */
int conf_parse_opensm(struct conf_private *self, const struct conf_source *source, const char *path,
    const char *text, size_t n, struct fm_error *err);
/* OpenSM's options of the command line. */
int conf_take_opensm_options(
    struct conf_private *self, const struct conf_source *source, struct fm_error *err);

#endif
