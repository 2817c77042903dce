/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf.h - the configuration: fmd.conf, conf.d, the command line.
 *
 * A configuration is built aside and handed out whole or not at all; a bad
 * one never starts a daemon and never replaces a good one.  Everything it
 * holds, its engines too, lives until the last conf_put(), so a plan in the
 * making keeps the options and the engines it began with.
 */
#ifndef CORE_CONF_CONF_H
#define CORE_CONF_CONF_H

#include <stdatomic.h>

#include "core/conf/parts.h"

struct mistakes;

/* Who reads a part takes that part (parts.h). */
struct conf {
	struct conf_routing routing;
	struct conf_regions regions;
	struct conf_ar ar;
	struct conf_addresses addresses;
	struct conf_names names;
	struct conf_cabling cabling;
	struct conf_transport transport;
	struct conf_sm sm;
	struct conf_m_key m_key;
	struct conf_partitions partitions;
	struct conf_sa sa;
	struct conf_registry registry;
	struct conf_qos qos;
	struct conf_congestion congestion;
	struct conf_sweep sweep;
	struct conf_transition transition;
	struct conf_ports ports;
	struct conf_dist dist;
	struct conf_copy copy;
	struct conf_daemon daemon;
	struct conf_log log;
	struct conf_private *self;
};

/* A key given on the command line, stronger than any file. */
struct conf_override {
	const char *key;
	const char *const *items; /* [n_items] */
	size_t n_items;
};

/* An option of OpenSM's command line, by the key of its file. */
struct conf_opensm_option {
	const char *said, *key, *value; /* "-p", "sm_priority", "3" */
};

struct conf_source {
	const char *path; /* NULL: SYSCONF_DIR/fmd/fmd.conf, which may be absent; may be of
			   * OpenSM's form; "none": no file at all */
	const struct conf_override *overrides; /* [n_overrides] */
	size_t n_overrides;
	const struct conf_opensm_option *opensm; /* [n_opensm] stronger than any file, too */
	size_t n_opensm;
};

/* Read path, then the *.conf files of the folder conf.d beside it by name,
 * then the overrides; later values replace earlier ones.  FM_E_CONFIG with
 * "FILE:LINE: ..." and what would be right; of several mistakes all are logged.  *out, which
 * holds on to the engines, gets one reference and is written only on success. */
int conf_load(const struct conf_source *source, const struct engine_set *engines, struct conf **out,
    struct fm_error *err);
/* The same; all that is wrong is added to `all`, of which *err is the first, and not logged. */
int conf_load_all(const struct conf_source *source, const struct engine_set *engines,
    struct mistakes *all, struct conf **out, struct fm_error *err);
/* What it says of where engines run, which is to be known before they are loaded.  Of a
 * configuration that cannot be read: the defaults; conf_load() will say so. */
void conf_peek_isolation(const struct conf_source *source, struct apart_settings *set);
/* The keys that differ and that only a restart changes (conf_row.restart), ", " between: how
 * many. */
unsigned conf_needs_restart(
    const struct conf *begun, const struct conf *fresh, char *out, size_t room);
struct conf *conf_get(struct conf *c);
void conf_put(struct conf *c); /* NULL is fine */

enum conf_region_loops { REGION_LOOPS_DEFAULT, REGION_LOOPS_REFUSE, REGION_LOOPS_WARN };

/* What the sections group "NAME", region "NAME" and vfabric "NAME" say. */
struct conf_group {
	struct fm_nodeset members;
};
struct conf_region {
	struct fm_nodeset switches;
	const char *chain_text;
	int credit_loops; /* enum conf_region_loops */
};
struct conf_vfabric {
	struct fm_nodeset members, limited;
	int64_t pkey, sl, share;
	bool high_priority, security;
	int mtu, rate; /* numbers in vfabric_mtus, vfabric_rates */
	const char *groups_text;
};
struct conf_row;
/* A kind of section that the daemon itself knows by titles, as many as one likes. */
struct conf_section {
	const char *name, *example;  /* "region", and how one is written */
	const struct conf_row *rows; /* up to FM_OPT_END */
	size_t bytes;		     /* of the struct that the rows fill */
};
/* Section i, or NULL behind the last; by its name, or NULL. */
const struct conf_section *conf_section(size_t i);
const struct conf_section *conf_section_find(const char *name);
struct option_table conf_section_table(const struct conf_section *section);

/* One row of the daemon's own options.  The name of one in a section has a dot:
 * "adaptive_routing.enable". */
struct conf_row {
	const char *group; /* heading in the documents; NULL: as the row before */
	const char *alias; /* section and key in another manager's words, or NULL; of a section
			    * with titles a key that is told to be this one */
	struct fm_option option;
	bool words;   /* a list of words (chain), option.type is STRING */
	bool restart; /* a change needs a restart; the others take effect on reload */
};
/* Row i of the daemon's options, or NULL behind the last. */
const struct conf_row *conf_row(size_t i);
/* The engines that route where nobody says which, "a, b". */
const char *conf_default_chain(void);
struct option_table conf_option_table(void);
/* How many bytes of a row's name, or of its alias, are the section's: 0 = none. */
size_t conf_section_bytes(const char *name);

#endif
