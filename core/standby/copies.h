/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/copies.h - the standbys that have a copy of what outlives the master: its log to
 * each.
 *
 * What changes is appended to the log of each standby, in one order, by any thread; the loop sends
 * the logs and says what standbys have acknowledged.  A standby is
 *
 *	FILLING	 until it has acknowledged all that there was
 *	IN SYNC	 an answer that promises something waits for it, COPIES_ANSWER_MS at most, twice
 *		 that where changes follow one another
 *	BEHIND	 it did not acknowledge in time; in sync again as soon as it has everything
 *
 * In sync is a lease, which ALIVE renews: one that falls behind is waited for until its lease is
 * over, since till then it believes that nothing was promised without it (mirror.h).  So it costs
 * once at most LINK_LEASE_MS, and it is never wrong.
 *
 * No sockets; the clock is a parameter.  O(standbys) a call but for the bytes.  What makes a file
 * of the one before is found beside the loop: of 27 MB it takes 45 to 160 ms, and a log that is
 * silent for so long is taken for that of one that has died.
 */
#ifndef CORE_STANDBY_COPIES_H
#define CORE_STANDBY_COPIES_H

#include "core/standby/link.h"

#define COPIES_MAX 3
#define COPIES_ANSWER_MS 5
#define LINK_LEASE_MS 600
#define COPIES_RULING_MS 250	   /* since copies_ruling(): nothing is promised any more */
#define COPIES_LOG_MAX (32u << 20) /* bytes of changes that a standby may owe */

enum copy_state { COPY_NONE, COPY_FILLING, COPY_IN_SYNC, COPY_BEHIND };
const char *copy_state_name(enum copy_state s);

struct copies;
/* Has fn(job) called once, beside the loop.  False: it will not be.  There is one at a time, and it
 * has returned when copies_free() is called. */
struct copies_worker {
	bool (*run)(void *arg, void (*fn)(void *job), void *job);
	void *arg;
};
/* worker NULL: all is found at once.  NULL: out of memory. */
struct copies *copies_new(const struct copies_worker *worker);
void copies_free(struct copies *c);

/* ---- any thread */

/* A change: its number, 0 where nobody has a copy and we rule.  data is emptied.  Out of memory:
 * the standby begins anew. */
uint64_t copies_put(struct copies *c, enum link_type type, struct evbuffer *data, int64_t now_ms);
/* Have all that are waited for this change and all before it?  Nobody has while the loop does not
 * come by to say that we rule (copies_ruling()): who takes over meanwhile does not know of it. */
bool copies_have(struct copies *c, uint64_t number, int64_t now_ms);
/* A change could not be put: all begin anew. */
void copies_lose(struct copies *c);
/* One standby only, while it is FILLING. */
void copies_put_to(struct copies *c, unsigned i, enum link_type type, struct evbuffer *data);

/* ---- the loop */

/* We are master, in this term. */
void copies_rule(struct copies *c, uint64_t term);
/* ... and still did then, as far as is known.  To be said again and again.  Who stands still after
 * that, and goes on, has not ruled since. */
void copies_ruling(struct copies *c, int64_t then_ms);
uint64_t copies_term(const struct copies *c);
/* A standby begins: its place, or COPIES_MAX: there is none. */
unsigned copies_begin(struct copies *c);
/* It is gone; said: by BYE, so that nobody need wait for the end of its lease. */
void copies_end(struct copies *c, unsigned i, bool said);
/* Move what is to be sent to it to out.  False: the place is lost: end it. */
bool copies_send(struct copies *c, unsigned i, struct evbuffer *out);
/* The file has these bytes from now on, which are ours: free_bytes() frees them.  It is sent in
 * parts, to those that begin later, too, and no answer waits for it; to one that has an earlier one
 * as what differs (diff.h), where that is much less.  False: out of memory, and it stays as it
 * was. */
bool copies_put_file(struct copies *c, enum link_file which, const uint8_t *bytes, size_t n,
    void (*free_bytes)(const uint8_t *bytes, size_t n));
/* Append a part of a file to out.  False: all that there are have been sent, or what differs is
 * still being found. */
bool copies_send_part(struct copies *c, unsigned i, struct evbuffer *out);
/* Append ALIVE to out. */
void copies_alive(struct copies *c, unsigned i, struct evbuffer *out, int64_t now_ms);
/* HAVE came, with the standby's stamp.  FM_E_SYSTEM: nobody can have that. */
int copies_on_have(struct copies *c, unsigned i, uint64_t seq, int64_t stamp_ms, int64_t now_ms,
    struct fm_error *err);
/* When to call copies_tick() next; INT64_MAX: nobody owes anything. */
int64_t copies_tick(struct copies *c, int64_t now_ms);

struct copy_status {
	enum copy_state state;
	uint64_t sent, have; /* frames */
	bool sends_files;
	uint32_t n_behind; /* times that it fell behind */
};
void copies_status(struct copies *c, unsigned i, struct copy_status *out);

#endif
