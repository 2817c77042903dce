/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a peer is sent: at once, or as soon as it reads.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <sys/uio.h>

#include "lab/fmsim/server_internal.h"

void
connection_give_up(struct connection *c)
{
	c->dead = true;
	event_active(c->readable, EV_READ, 0);
}

size_t
connection_queued(const struct connection *c)
{
	return evbuffer_get_length(c->queue);
}

void
connection_put(
    struct connection *c, const void *head, size_t n_head, const void *body, size_t n_body)
{
	struct iovec parts[] = { { (void *)head, n_head }, { (void *)body, n_body } };
	size_t sent = 0;
	ssize_t n;

	if (c->dead)
		return;
	if (evbuffer_get_length(c->queue) == 0) {
		n = writev(c->out, parts, n_body > 0 ? 2 : 1);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			connection_give_up(c);
			return;
		}
		sent = n > 0 ? (size_t)n : 0;
	}
	if (sent == n_head + n_body)
		return;
	if (sent < n_head)
		evbuffer_add(c->queue, (const char *)head + sent, n_head - sent);
	sent = sent > n_head ? sent - n_head : 0;
	if (sent < n_body)
		evbuffer_add(c->queue, (const char *)body + sent, n_body - sent);
	event_add(c->writable, NULL);
}
