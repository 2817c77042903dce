/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/apart.h - engines in processes of their own; of programmers: programmer.h.
 *
 * An engine that is not of fmd's own folder is never loaded into fmd.  A child without
 * privileges loads it (fmd-engine-host), says what it is, and waits.  A call hands it the
 * fabric, the request and the options in memory that it can only read, and rows of tables
 * in memory that both have; it answers, is killed, and only then are the rows looked at.
 * A new child is started for the next call.
 *
 * The boundary of trust is that child: nothing it says is believed.  Of what it writes,
 * scalars are copied before they are checked, no pointer of its is followed, and rows are
 * judged as data once it is dead.  What it does beside computing (files, sockets, other
 * processes, memory and time beyond its limits) is refused by the kernel (sandbox.c) and
 * is the end of it: FM_E_BUG with a sentence, for the `refused` line of the chain.
 *
 * Its constructors run while it is loaded, when files can still be opened: by Landlock only those
 * of libraries.  The process that starts a child can no longer be read by others of its user, nor
 * leaves a core.
 *
 * Cost: a copy of the fabric, two packets, the death of a process and the start of another:
 * 1.1 to 2.1 ms with 11,664 hosts (dev/bench --only=isolation).
 */
#ifndef CORE_APART_APART_H
#define CORE_APART_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fmd/engine.h>

/* engine_isolation.  APART_UNHIDDEN: as APART_FOREIGN, also where the kernel cannot hide files. */
enum apart_who { APART_FOREIGN, APART_ALL, APART_NONE, APART_UNHIDDEN };

struct apart_settings {
	enum apart_who who;
	bool must_hide;	     /* without Landlock the engine is refused */
	size_t memory_bytes; /* of one child beside the tables */
	int64_t load_ms;     /* a child that has not said by then what it is is refused */
	int64_t reply_ms;    /* of a programmer's child (programmer.h); 0: the usual ones */
	const char *program; /* fmd-engine-host; NULL: of the build tree or the installation */
};
/* Engines in this process: tools, whose user brings the engine. */
#define APART_NOTHING ((struct apart_settings){ .who = APART_NONE })

#define APART_MEMORY_MIB 4096
#define APART_LOAD_MS 10000
#define APART_TIME_LIMIT_MS 60000 /* of a call, where no limit is set */

/* Was fmd built with seccomp?  Without it no engine runs apart. */
bool apart_is_built(void);

struct apart; /* an engine's file, and the child that waits */

/* Start a child that loads `image`, sealed memory with the engine `name`; it is not waited
 * for.  path is for sentences.  Both are copied.  FM_E_SYSTEM, FM_E_RESOURCE. */
int apart_new(const struct apart_settings *set, const char *name, const char *path, int image,
    struct apart **out, struct fm_error *err);
void apart_free(struct apart *a); /* NULL is fine */
/* What it is, as the child says; waits for set->load_ms since apart_new(), at most.  The
 * engine lives as long as a does; only route_run() may call it.  FM_E_CONFIG. */
int apart_describe(struct apart *a, const struct fm_engine **engine, struct fm_error *err);

/* NULL: it is called in this process. */
struct apart *apart_of(const struct fm_engine *engine);

struct apart_call {
	const struct fm_fabric *fab;
	const struct fm_request *request;
	const void *opts; /* as from options_bind() */
	/* Rows lie in shared memory, [n_bytes] at `at`, which is file fd; the rest is as the
	 * host leaves it */
	struct fm_tables *tables;
	unsigned char *at;
	size_t n_bytes;
	int fd;
	unsigned n_workers;
	size_t scratch_bytes; /* budget, 0 = 4 GiB */
	uint64_t fail_at;     /* tests */
	int64_t time_limit_ms;
	bool (*is_cancelled)(const void *arg);
	const void *arg;
};
/* On return no other process has the tables;
 * their scalars are what the engine answered, not yet judged.  FM_E_CANCELLED, FM_E_BUG (it
 * crashed, ended, did not end), or what it answers with its sentence. */
int apart_route(struct apart *a, const struct apart_call *call, struct fm_error *err);

#endif
