/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/kept.h - what the SA answered from, kept over a restart.
 *
 * The file `nodes`, beside the tables of the plan (core/plan/plan_file.h), has the nodes of the
 * last view, their cables and LIDs.  With both, and the store's LIDs, the SA answers while the
 * first sweep still reads.  What is read and says otherwise takes away what was kept, never adds to
 * it:
 *
 *	view --save--> file --load--> sa_kept --compare with what is read--> less of it
 *
 * A port is kept by its GUID, its LID and its place; all three have to fit: the LID is the
 * store's, and the tables of its switch lead to it.
 */
#ifndef CORE_VIEW_KEPT_H
#define CORE_VIEW_KEPT_H

#include "core/store/store.h"
#include "core/text/seal.h"
#include "core/view/view.h"

struct sa_kept {
	enum sa_view_basis basis; /* SA_VIEW_KEPT as loaded */
	struct inventory inv;	  /* less what has been contradicted */
	struct plan *plan;	  /* the kept tables, on a snapshot of inv */
	struct port_pkeys *pkeys;
	struct fm_hash by_lid; /* LID -> slot * 256 + port, as read from the file */
	uint32_t n_ports;      /* with LIDs, as read from the file */
	uint32_t n_gone;       /* of them, taken away since */
	uint64_t since; /* number of a request: what was read by earlier ones contradicts nothing */
};

/* What v answers from, unless *sum says that the file holds the same; *sum: of what it holds
 * now, 0 at first.  Without a plan the file is removed.  Any thread, O(ports).  FM_E_SYSTEM. */
int sa_kept_save(const char *path, const struct sa_view *v, uint64_t *sum, struct fm_error *err);

struct sa_kept_source {
	const char *path, *tables; /* files */
	struct router *router;
	uint64_t chain_mark;
	const struct store *store;
	const struct sa_settings *set; /* partitions and prefix have to be those of then */
	const struct name_map *names;  /* NULL: nodes have no other names */
	uint64_t own_guid;	       /* of the port that we sit at */
};
/* *out NULL: there is nothing to answer from, and *why is the sentence.  FM_E_RESOURCE. */
int sa_kept_load(
    const struct sa_kept_source *src, struct sa_kept **out, const char **why, struct fm_error *err);
void sa_kept_free(struct sa_kept *k); /* NULL is fine */

/* Take away what a sweep's inventory contradicts; all_read: also what is not there.  *changed:
 * there is less than before, or a link carries something else, and k->plan is another.
 * O(ports).  FM_E_RESOURCE. */
int sa_kept_compare(struct sa_kept *k, const struct inventory *now, bool all_read, bool *changed,
    struct fm_error *err);

/* kept_file.c, for kept.c: bytes[n] of the file to an inventory; false: they do not hold what
 * they say, or (*no_memory) there is no memory. */
bool sa_kept_read(const uint8_t *bytes, size_t n, struct inventory *inv, bool *no_memory);
uint64_t sa_kept_mark(const struct sa_settings *set);
#define SA_KEPT_MAGIC "fmdnode1"
#define SA_KEPT_WHAT "kept nodes"
struct sa_kept_head {
	struct fm_seal seal;
	uint64_t mark; /* sa_kept_mark() */
};

#endif
