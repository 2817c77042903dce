/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view_slot.c - the place where the current view is kept.
 */
#include "core/view/view.h"

void
sa_slot_init(struct sa_slot *s)
{
	pthread_mutex_init(&s->lock, NULL);
	s->view = NULL;
	s->mfts = NULL;
}

void
sa_slot_fini(struct sa_slot *s)
{
	sa_view_put(s->view);
	mft_rows_put(s->mfts);
	pthread_mutex_destroy(&s->lock);
}

void
sa_slot_set(struct sa_slot *s, struct sa_view *v)
{
	struct sa_view *was;

	pthread_mutex_lock(&s->lock);
	was = s->view;
	s->view = v;
	pthread_mutex_unlock(&s->lock);
	sa_view_put(was);
}

struct sa_view *
sa_slot_get(struct sa_slot *s)
{
	struct sa_view *v;

	pthread_mutex_lock(&s->lock);
	v = s->view != NULL ? sa_view_get(s->view) : NULL;
	pthread_mutex_unlock(&s->lock);
	return v;
}

void
sa_slot_set_mfts(struct sa_slot *s, struct mft_rows *r)
{
	struct mft_rows *was;

	pthread_mutex_lock(&s->lock);
	was = s->mfts;
	if (was != r)
		s->mfts = mft_rows_get(r);
	pthread_mutex_unlock(&s->lock);
	if (was != r)
		mft_rows_put(was);
}

struct mft_rows *
sa_slot_mfts(struct sa_slot *s)
{
	struct mft_rows *r;

	pthread_mutex_lock(&s->lock);
	r = mft_rows_get(s->mfts);
	pthread_mutex_unlock(&s->lock);
	return r;
}
