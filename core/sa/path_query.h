/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/path_query.h - what is asked of paths, whether by PathRecord,
 * MultiPathRecord or GetTraceTable.
 */
#ifndef CORE_SA_PATH_QUERY_H
#define CORE_SA_PATH_QUERY_H

#include "core/sa/path.h"
#include "core/sa/sa.h"

/* As a PathRecord template, whose mask this is (SA_PR_*). */
struct path_query {
	struct sa_query *q;
	const struct sa_view *view;
	struct sa_path_record want;
	uint64_t mask;
	uint32_t most; /* per pair of ports */
};

/* Ends that a GID or a LID may mean: first..last - 1, and which LID of the one. */
struct path_ends {
	uint32_t first, last;
	int offset;	   /* -1: any LID */
	struct sa_gid gid; /* to answer with: another subnet's, or an alias; {0, 0}: the end's */
	bool abroad;	   /* the GID is of another subnet, the end a router */
};
/* The status of IBA 15.4.1 for what cannot be. */
uint16_t path_ends_source(const struct path_query *p, struct path_ends *out);
uint16_t path_ends_dest(const struct path_query *p, struct path_ends *out);
/* Of a GID alone. */
uint16_t path_ends_of_gid(const struct sa_query *q, struct sa_gid gid, struct path_ends *out);

/* The record of a path from an end by one of its LIDs to an end by one of its; false: there
 * is none, or not as asked for. */
bool path_record(const struct path_query *p, uint32_t src, uint16_t slid, uint32_t dst,
    uint16_t dlid, struct sa_path_record *r);

/* Paths between two ends, path_query.most at most; each(arg, record) false: enough. */
typedef bool (*path_each)(void *arg, const struct sa_path_record *r);
bool path_between(const struct path_query *p, uint32_t src, const struct path_ends *from,
    uint32_t dst, const struct path_ends *to, path_each each, void *arg);

#endif
