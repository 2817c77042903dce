/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mad/requests.h"

#include <stdlib.h>

#define N_CHUNK 256

void
requests_init(struct request_store *s)
{
	TAILQ_INIT(&s->idle);
}

void
requests_fini(struct request_store *s)
{
	for (size_t i = 0; i < s->chunks.n; i++)
		free(s->chunks.item[i]);
	fm_vec_fini(&s->chunks);
	TAILQ_INIT(&s->idle);
}

static bool
add_chunk(struct request_store *s)
{
	struct request *chunk = calloc(N_CHUNK, sizeof(*chunk));

	if (chunk == NULL || !fm_vec_push(&s->chunks, chunk)) {
		free(chunk);
		return false;
	}
	for (int i = 0; i < N_CHUNK; i++)
		TAILQ_INSERT_TAIL(&s->idle, &chunk[i], in);
	return true;
}

struct request *
requests_take(struct request_store *s)
{
	struct request *r;

	if (TAILQ_EMPTY(&s->idle) && !add_chunk(s))
		return NULL;
	r = TAILQ_FIRST(&s->idle);
	TAILQ_REMOVE(&s->idle, r, in);
	return r;
}

void
requests_give_back(struct request_store *s, struct request *r)
{
	TAILQ_INSERT_HEAD(&s->idle, r, in);
}
