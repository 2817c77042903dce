/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/fmsim/server_internal.h - connections: shared by server.c (sockets and
 * the clock), server_take.c (what their bytes mean) and connection.c (what they are sent).
 */
#ifndef LAB_FMSIM_SERVER_INTERNAL_H
#define LAB_FMSIM_SERVER_INTERNAL_H

#include <sys/un.h>

#include "lab/fmsim/umad_proto.h"
#include "lab/hosts/host.h"
#include "lab/sim/net.h"

struct connection {
	struct sim_server *server;
	struct connection *next, **link;
	int in, out;
	struct event *readable, *writable;
	FM_VEC(uint8_t) input;
	struct evbuffer *queue; /* what the peer has not taken yet */
	uint32_t kind;		/* 0: has not said hello */
	uint32_t number;
	bool dead, owns_fds;
	struct sim_place at;
	struct host_file *file; /* FILE */
};

struct sim_server {
	struct sim *sim;
	struct sim_place local;
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *timer;
	struct connection *connections;
	uint32_t n_numbers;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* ---- connection.c */
/* Two pieces as one; at once if the peer keeps up. */
void connection_put(
    struct connection *c, const void *head, size_t n_head, const void *body, size_t n_body);
/* It is dropped when the loop comes to it: callers may still hold it. */
void connection_give_up(struct connection *c);
size_t connection_queued(const struct connection *c); /* bytes */

/* ---- server_take.c */
void server_set_is_sm(struct sim_server *v, struct sim_place at, bool on);
/* Takes what is whole of n bytes; how many that are, 0 = there are too few yet. */
size_t connection_take(struct connection *c, uint8_t *at, size_t n);

#endif
