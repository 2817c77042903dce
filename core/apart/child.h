/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/child.h - one process of fmd-engine-host, as fmd sees it.
 */
#ifndef CORE_APART_CHILD_H
#define CORE_APART_CHILD_H

#include <sys/types.h>

#include "core/apart/apart.h"
#include "core/apart/wire.h"

struct child {
	pid_t pid;	  /* 0: none */
	int socket;	  /* -1: none */
	int64_t since_ms; /* when it was started */
	bool is_ready;	  /* has said what it is */
};
#define CHILD_NONE ((struct child){ .socket = -1 })

/* What comes from it: a packet of wire.h, or ... */
enum child_event {
	CHILD_PACKET,
	CHILD_GONE,	 /* it has ended, or closed its end of the socket */
	CHILD_SILENT,	 /* nothing until the time given */
	CHILD_CANCELLED, /* who waits was told to stop */
	CHILD_NOISY	 /* more lines than anybody reads */
};

struct child_task {
	const struct apart_settings *set;
	const char *name, *path; /* of the plugin */
	int image;
	bool is_programmer;
	unsigned n_workers;
	uint64_t main_bytes, worker_bytes; /* scratch memory to have ready */
};
/* The child dies with the thread that starts it, at the latest.  O(1), but for exec.
 * FM_E_SYSTEM. */
int child_start(struct child *c, const struct child_task *task, struct fm_error *err);
/* It is dead when this returns; nothing of it runs any more and nothing that it shared is
 * written.  CHILD_NONE is fine. */
void child_kill(struct child *c);
/* Has ended by itself, or is ended now: why, as the end of a sentence. */
void child_epitaph(struct child *c, char *words, size_t room);

struct child_wait {
	int64_t until_ms;     /* child_now_ms() */
	const char *log_name; /* its lines are logged under this name; NULL: dropped */
	bool (*is_cancelled)(const void *arg); /* NULL: never */
	const void *arg;
};
/* A packet that is no log line into `to`, [WIRE_BYTES], *n bytes of it. */
enum child_event child_await(struct child *c, const struct child_wait *wait, void *to, size_t *n);
int64_t child_now_ms(void);
/* Address space for what a call brings beside the engine's own memory. */
void child_make_room(const struct child *c, uint64_t n_bytes);
/* What a child that was started says first, within task->set->load_ms since then, into said,
 * [WIRE_BYTES], *n bytes of it; nothing where that was heard already.  Else it is dead, and the
 * sentence says why: FM_E_CONFIG, FM_E_CANCELLED. */
int child_load(struct child *c, const struct child_task *task, const struct child_wait *wait,
    unsigned char *said, size_t *n, struct fm_error *err);
/* A packet of n bytes and, unless fds is NULL, the descriptors of its input and of what it is to
 * write.  False: it is not there to take it. */
bool child_call(struct child *c, const void *packet, size_t n, const int *fds);

#endif
