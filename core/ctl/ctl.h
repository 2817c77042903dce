/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ctl/ctl.h - the local control socket.
 *
 *	client:  {"command":"status","args":{...}}\n
 *	server:  {"ok":true,"result":...}\n   or   {"ok":false,"error":"...","kind":"..."}\n
 *
 * A stream socket in the file system, one request a connection.  Root and the daemon's own user
 * may do all (SO_PEERCRED), members of one group what changes nothing (SO_PEERGROUPS), others get
 * a sentence.  Everything runs in
 * the loop of base and never blocks it: a client has CTL_DEADLINE_S for the
 * whole exchange, CTL_REQUEST_MAX bytes, and CTL_CLIENTS_MAX peers.  One that comes when there are
 * as many takes the place of the one that has been idle the longest, CTL_IDLE_MS at least; where
 * none has, it is told to try again.
 */
#ifndef CORE_CTL_CTL_H
#define CORE_CTL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

#define CTL_DEADLINE_S 10
#define CTL_REQUEST_MAX 65536 /* bytes */
#define CTL_CLIENTS_MAX 16
#define CTL_IDLE_MS 1000
#define CTL_TEXT_HEAD "{\"ok\":true,\"result\":" /* before the text of a command that writes one */
#define CTL_TEXT_TAIL "}\n"

struct event_base;
struct ctl_server;

/* A result as text, where an object for each number would cost too much: one JSON value in UTF-8,
 * without a newline. */
struct ctl_text {
	char *bytes; /* [n] */
	size_t n;
	/* When it has been sent, in the loop; NULL: bytes are of malloc(), and are freed. */
	void (*release)(const void *bytes, size_t n, void *arg);
	void *arg;
};

/* One command.  run returns 0 with a new reference in *result, or a kind with
 * the sentence in *err.  args is an object (maybe empty), borrowed; a key that the
 * command does not take is refused before.  It runs in the loop: long work is
 * started here, not done. */
struct ctl_command {
	const char *name, *help;
	int (*run)(void *arg, const json_t *args, json_t **result, struct fm_error *err);
	const char *args; /* keys of args, a blank between; NULL: run looks for itself */
	bool reads;	  /* it changes nothing: members of the group may, too */
	const char *but;  /* of args, where it reads: not with this one; NULL: always */
	/* In the place of run, which is NULL then: *text is the caller's. */
	int (*write)(void *arg, const json_t *args, struct ctl_text *text, struct fm_error *err);
	const char *asks; /* of args: with this one nodes are asked, by MADs; NULL: never */
};

/* A Unix socket bound to path, which only our user may use; not listening yet.  The folder is made
 * when missing; a socket left behind by a dead daemon is replaced, a living one is not
 * (FM_E_SYSTEM), nor what is no socket (FM_E_CONFIG).  what: as a sentence names it. */
int ctl_bind(const char *what, const char *path, int *fd, struct fm_error *err);

/* Listen at path.  commands[] ends with a NULL name and is borrowed; "help" is
 * answered here.  The path as of ctl_bind().  SIGPIPE is ignored from here on. */
int ctl_open(struct event_base *base, const char *path, const struct ctl_command *commands,
    void *arg, struct ctl_server **out, struct fm_error *err);
/* Members of a group may use the commands that read; the socket is given to it.  FM_E_CONFIG: there
 * is no such group, or it cannot be given to it, and all stays as it was. */
int ctl_allow_group(struct ctl_server *s, const char *group, struct fm_error *err);
void ctl_set_idle(struct ctl_server *s, int64_t ms); /* CTL_IDLE_MS when not called */
/* Drop all clients and remove the socket; NULL is fine. */
void ctl_close(struct ctl_server *s);

/* A yes or no among the arguments of a command: true, or 1; absent: no.  FM_E_CONFIG. */
int ctl_read_flag(const json_t *args, const char *key, bool *flag, struct fm_error *err);

/* The client's side, blocking.  0 with a new reference in *result; FM_E_SYSTEM
 * when nobody answers at path within timeout_s; or the kind and sentence that
 * the daemon answered. */
int ctl_call(const char *path, const char *command, json_t *args, unsigned timeout_s,
    json_t **result, struct fm_error *err);
/* Its parts, for who may not wait.  A connection to path; flags: SOCK_NONBLOCK or 0.  FM_E_SYSTEM:
 * nobody takes it, FM_E_CONFIG: we may not. */
int ctl_connect(const char *path, int flags, int *fd, struct fm_error *err);
/* What is to be sent, from malloc(), n bytes; args is borrowed, NULL: none.  FM_E_RESOURCE. */
int ctl_request(const char *command, json_t *args, char **text, size_t *n, struct fm_error *err);
/* All that came, as of ctl_call(). */
int ctl_reply(const char *path, const char *text, size_t n, json_t **result, struct fm_error *err);
/* The same of a command that writes text, which is not taken apart: *result [*n_result] points into
 * text [n]. */
int ctl_reply_text(const char *path, const char *text, size_t n, const char **result,
    size_t *n_result, struct fm_error *err);

#endif
