/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/dist.h - the paths of the subnet published for its hosts.
 *
 * Each place of publication has a thread of its own that owns nothing of the loop: it takes a
 * reference to the view, makes of it what core/blobs/blobs.h describes, and tells its place what
 * differs from what has been published.  Nothing that a host has been told and that still holds is
 * told again: not after a restart, not by the SM that takes over.
 *
 * Publications are fenced by a term.  Who becomes master takes a later one; who finds a later
 * term than its own is not master any more, whatever it believes, and publishes nothing.
 *
 * SMs that do not share a place have one each: that of a standby is a copy of the master's.  Each
 * fmd commands its own place alone, and is the first there as master.
 *
 * O(switches with hosts * LIDs) bytes compared when routes have changed, O(ports) otherwise.
 */
#ifndef CORE_DIST_DIST_H
#define CORE_DIST_DIST_H

#include "core/dist/claimed.h"
#include "core/dist/followers.h"
#include "core/view/view.h"

enum { DIST_FILES, DIST_REDIS, DIST_PLACES };

struct dist_settings {
	const char *place[DIST_PLACES]; /* a folder; a socket; NULL: none */
	const char *redis_peer;		/* HOST:PORT of the other SM's Redis, NULL: none */
	const char *auth_file;		/* who logs in to Redis, NULL: nobody does */
	const char *addresses;		/* file of IP addresses, NULL: none */
};

/* Of one place; counters are of this process. */
struct dist_status {
	const char *kind; /* "files", "redis" */
	char place[256];
	const char *follows; /* the place of another SM, as long as this one is a copy; NULL */
	char error[256];     /* why nothing is published, or followed, at present; "" */
	uint64_t term, epoch;
	uint64_t n_commits, n_blobs, n_patches, n_bytes;
	uint64_t n_failures;
	double last_s;		     /* that the last commit took */
	char followers_unknown[256]; /* why it is not known who follows this place; "": it is */
	uint32_t n_registered;	     /* addresses and alias GUIDs of ports, that are published */
	uint32_t n_contested;	     /* claims that are not (claimed.h) */
	bool is_master;
};

struct dist;
/* *out: NULL without a place.  FM_E_RESOURCE, FM_E_CONFIG: of a kind that this build lacks. */
int dist_start(const struct dist_settings *set, struct dist **out, struct fm_error *err);
/* Waits for what is being written, 2 s: a place that does not answer is not waited for. */
void dist_stop(struct dist *d); /* NULL is fine */
/* We are master, and this is the subnet; takes a reference of its own.  Does not wait. */
void dist_publish(struct dist *d, struct sa_view *v);
/* What ports claim now; takes a reference of its own.  NULL: it is not known, and what has been
 * told of it stays.  Any thread; does not wait. */
void dist_claims(struct dist *d, struct ip_claims *c);
/* We are master no more. */
void dist_resign(struct dist *d);
/* Another SM is master: its place is followed. */
void dist_stand_by(struct dist *d);
unsigned dist_n_places(const struct dist *d);
void dist_status(const struct dist *d, unsigned place, struct dist_status *out);
/* Who follows a place that we publish to, and who did since we are master, as of the last look.
 * They are told under the lock of the place. */
typedef void (*dist_follower)(void *arg, const struct follower *one);
void dist_each_follower(const struct dist *d, unsigned place, dist_follower each, void *arg);
/* Contested addresses, as of the last publication, under a lock. */
typedef void (*dist_contest)(void *arg, const struct contest *one);
void dist_each_contest(const struct dist *d, dist_contest each, void *arg);

#endif
