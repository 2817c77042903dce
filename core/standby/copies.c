/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/standby/copies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/standby/diff.h"
#include "lib/vec.h"

#define DIFF_FROM_BYTES (64u << 10) /* a shorter file is sent as it is */
#define DIFF_WORTH 16		    /* a difference is so many times shorter */

/* The frames of a standby are numbered by themselves, since it gets what there was before, too.
 * From WHOLE on each change is one frame, so that frame - change stays the same. */
struct copy {
	enum copy_state state;
	struct evbuffer *out;
	uint64_t sent, have; /* frames */
	uint64_t whole;	     /* the frame WHOLE; 0: not sent yet */
	uint64_t before;     /* frame - change */
	uint64_t mark;	     /* a frame: */
	int64_t owes_ms;     /* since then it owes that, if it has not acknowledged it */
	int64_t stamp_ms;    /* the standby's clock, as of its last HAVE */
	int64_t lease_ms;    /* till then it may believe that it is in sync */
	size_t n_bytes;	     /* that it owes at most, */
	size_t n_beyond;     /* of them beyond the mark */
	uint32_t n_behind;
	bool lost;
	struct {
		struct file *has;  /* all of it has been sent; NULL: of none */
		struct file *next; /* that is sent; NULL: none */
		uint64_t base;	   /* as what makes it of this one; 0: as it is */
		size_t at;	   /* so much has been */
	} file[LINK_FILES];
};

/* A file as it is, or was when a standby got it. */
struct file {
	unsigned n_users;
	uint64_t number; /* from 1 */
	const uint8_t *bytes;
	size_t n;
	void (*let_go)(const uint8_t *bytes, size_t n);
	bool is_tried; /* to find what makes it of an earlier one */
	uint64_t base; /* of diff; 0: none was found */
	struct diff diff;
};

/* What makes a file of another is being found. */
struct search {
	struct file *of, *from; /* of NULL: nothing is */
	struct diff diff;	/* this and is_found are the worker's till is_done */
	bool is_found;
	atomic_bool is_done;
};

struct copies {
	pthread_mutex_t lock; /* of all but the files, which are the loop's */
	uint64_t term, number, n_files;
	int64_t ruling_ms; /* that we rule was said last */
	int64_t gone_ms;   /* till then one that is gone may believe that it is in sync */
	struct file *file[LINK_FILES]; /* NULL: not known yet */
	struct copy copy[COPIES_MAX];
	struct copies_worker worker; /* run NULL: none */
	struct search search;
};

const char *
copy_state_name(enum copy_state s)
{
	static const char *const names[] = { "none", "filling", "in sync", "behind" };

	return names[s];
}

struct copies *
copies_new(const struct copies_worker *worker)
{
	struct copies *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	if (worker != NULL)
		c->worker = *worker;
	return c;
}

/* *at is not this file any more, but what follows, which may be NULL. */
static void
put_file(struct file **at, struct file *follows)
{
	struct file *f = *at;

	if (follows != NULL)
		follows->n_users++;
	*at = follows;
	if (f == NULL || --f->n_users > 0)
		return;
	if (f->let_go != NULL)
		f->let_go(f->bytes, f->n);
	fm_vec_fini(&f->diff);
	free(f);
}

/* What the worker has found is the file's. */
static void
end_search(struct copies *c)
{
	struct search *s = &c->search;

	if (s->of == NULL || !atomic_load(&s->is_done))
		return;
	s->of->is_tried = true;
	if (s->is_found) {
		s->of->base = s->from->number;
		s->of->diff = s->diff;
	}
	put_file(&s->of, NULL);
	put_file(&s->from, NULL);
}

void
copies_free(struct copies *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < COPIES_MAX; i++)
		copies_end(c, i, true);
	for (unsigned w = 0; w < LINK_FILES; w++)
		put_file(&c->file[w], NULL);
	end_search(c);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static bool
is_ruling(const struct copies *c, int64_t now_ms)
{
	return now_ms - c->ruling_ms < COPIES_RULING_MS;
}

/* ------------------------------------------------------------------------- log */

static void
append(struct copies *c, struct copy *k, enum link_type type, struct evbuffer *data)
{
	k->sent++; /* what is lost is a frame, too: one that nobody acknowledges */
	if (k->lost)
		return;
	k->lost = !link_put(k->out, type, c->term, k->sent, data);
}

/* What there is by now is what it is to acknowledge next.  So a change is looked at once the mark
 * before it has been acknowledged: who is late is found after twice COPIES_ANSWER_MS at most, by
 * one time instead of one for each frame. */
static void
set_mark(struct copy *k, int64_t now_ms)
{
	k->mark = k->sent;
	k->owes_ms = now_ms;
	k->n_bytes = k->n_beyond;
	k->n_beyond = 0;
}

/* The same data for several logs.  They are copied: chains that buffers share are counted without a
 * lock, while the loop frees what it has sent and another thread what it has put. */
static void
append_copy(struct copies *c, struct copy *k, enum link_type type, struct evbuffer *data)
{
	struct evbuffer *same = evbuffer_new();
	const uint8_t *bytes = evbuffer_pullup(data, -1);
	size_t n = evbuffer_get_length(data);

	if (same == NULL || (n > 0 && (bytes == NULL || evbuffer_add(same, bytes, n) != 0)))
		k->lost = true;
	append(c, k, type, same != NULL ? same : data);
	if (same != NULL)
		evbuffer_free(same);
	k->n_bytes += n;
	k->n_beyond += n;
	/* it begins anew with everything, which is shorter */
	if (k->n_bytes > COPIES_LOG_MAX)
		k->lost = true;
}

uint64_t
copies_put(struct copies *c, enum link_type type, struct evbuffer *data, int64_t now_ms)
{
	uint64_t number = 0;

	pthread_mutex_lock(&c->lock);
	c->number++;
	if (now_ms < c->gone_ms || !is_ruling(c, now_ms))
		number = c->number;
	for (unsigned i = 0; i < COPIES_MAX; i++) {
		struct copy *k = &c->copy[i];
		bool owes_nothing;

		if (k->state == COPY_NONE)
			continue;
		number = c->number;
		owes_nothing = k->have == k->sent;
		append_copy(c, k, type, data);
		if (owes_nothing)
			set_mark(k, now_ms);
		k->before = k->sent - c->number;
	}
	pthread_mutex_unlock(&c->lock);
	evbuffer_drain(data, evbuffer_get_length(data));
	return number;
}

void
copies_lose(struct copies *c)
{
	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < COPIES_MAX; i++)
		c->copy[i].lost = true;
	pthread_mutex_unlock(&c->lock);
}

void
copies_put_to(struct copies *c, unsigned i, enum link_type type, struct evbuffer *data)
{
	struct copy *k = &c->copy[i];

	pthread_mutex_lock(&c->lock);
	if (k->state == COPY_FILLING && k->whole == 0) {
		append(c, k, type, data);
		k->before = k->sent - c->number;
		if (type == LINK_WHOLE)
			k->whole = k->sent;
	}
	pthread_mutex_unlock(&c->lock);
}

/* ----------------------------------------------------------------------- files */

bool
copies_put_file(struct copies *c, enum link_file which, const uint8_t *bytes, size_t n,
    void (*free_bytes)(const uint8_t *bytes, size_t n))
{
	struct file *f = malloc(sizeof(*f));

	if (f == NULL) {
		if (free_bytes != NULL)
			free_bytes(bytes, n);
		return false;
	}
	*f = (struct file){ .number = ++c->n_files, .bytes = bytes, .n = n, .let_go = free_bytes };
	put_file(&c->file[which], f);
	return true;
}

static void
find_diff(void *arg)
{
	struct search *s = arg;
	const struct file *of = s->of, *from = s->from;

	s->diff = (struct diff){ 0 };
	s->is_found =
	    diff_make(from->bytes, from->n, of->bytes, of->n, of->n / DIFF_WORTH, &s->diff);
	atomic_store(&s->is_done, true);
}

/* Is it known what makes the file of that one, if that is much less than the file?  Else it is
 * being found, or will be. */
static bool
is_searched(struct copies *c, struct file *f, struct file *was)
{
	struct search *s = &c->search;

	end_search(c);
	if (s->of == NULL && !f->is_tried && f->n >= DIFF_FROM_BYTES) {
		put_file(&s->of, f);
		put_file(&s->from, was);
		atomic_store(&s->is_done, false);
		if (c->worker.run == NULL || !c->worker.run(c->worker.arg, find_diff, s))
			find_diff(s);
		end_search(c);
	}
	return f->is_tried || f->n < DIFF_FROM_BYTES;
}

/* What is sent is sent to its end: then it is what the next differs from. */
static bool
begin_file(struct copies *c, struct copy *k, unsigned w)
{
	struct file *has = k->file[w].has, *f = c->file[w];

	if (k->file[w].next != NULL)
		return true;
	if (f == has || (has != NULL && !is_searched(c, f, has)))
		return false;
	put_file(&k->file[w].next, f);
	k->file[w].base = has != NULL && f->base == has->number ? has->number : 0;
	k->file[w].at = 0;
	return true;
}

static bool
add_part(struct copies *c, struct copy *k, unsigned w, struct evbuffer *out)
{
	struct evbuffer *data = evbuffer_new();
	struct file *f = k->file[w].next;
	struct link_part p = { (enum link_file)w, f->number, k->file[w].base, k->file[w].at, f->n,
		f->n, f->bytes };
	bool ok;

	if (p.base != 0) {
		p.n = p.n_all = f->diff.n;
		p.bytes = f->diff.item;
	}
	p.n -= p.at;
	p.bytes = p.n > 0 ? p.bytes + p.at : NULL;
	p.n = p.n > LINK_PART_BYTES ? LINK_PART_BYTES : p.n;
	ok = data != NULL && link_add_part(data, &p) && link_put(out, LINK_PART, c->term, 0, data);
	k->file[w].at += p.n;
	if (k->file[w].at == p.n_all) {
		put_file(&k->file[w].has, f);
		put_file(&k->file[w].next, NULL);
	}
	if (data != NULL)
		evbuffer_free(data);
	return ok;
}

bool
copies_send_part(struct copies *c, unsigned i, struct evbuffer *out)
{
	struct copy *k = &c->copy[i];
	unsigned w = 0;
	bool is_time;

	pthread_mutex_lock(&c->lock);
	is_time = k->whole != 0 && !k->lost;
	pthread_mutex_unlock(&c->lock);
	while (is_time && w < LINK_FILES && !begin_file(c, k, w))
		w++;
	if (!is_time || w == LINK_FILES)
		return false;
	if (!add_part(c, k, w, out)) {
		pthread_mutex_lock(&c->lock);
		k->lost = true;
		pthread_mutex_unlock(&c->lock);
	}
	return true;
}

/* ------------------------------------------------------------------- in sync? */

/* It did not acknowledge in time.  Called with the lock. */
static void
look_for_late(struct copy *k, int64_t now_ms)
{
	if (k->state != COPY_IN_SYNC || k->have == k->sent ||
	    now_ms - k->owes_ms < COPIES_ANSWER_MS)
		return;
	k->state = COPY_BEHIND;
	k->n_behind++;
}

/* Changes may be older than its log: those were in what it got first. */
static bool
has_change(const struct copy *k, uint64_t number)
{
	return (int64_t)(k->have - k->before) >= (int64_t)number;
}

/* Is an answer to wait for it? */
static bool
is_waited_for(const struct copy *k, int64_t now_ms)
{
	return k->state == COPY_IN_SYNC || now_ms < k->lease_ms;
}

bool
copies_have(struct copies *c, uint64_t number, int64_t now_ms)
{
	bool have;

	pthread_mutex_lock(&c->lock);
	have = now_ms >= c->gone_ms && is_ruling(c, now_ms);
	for (unsigned i = 0; i < COPIES_MAX; i++) {
		struct copy *k = &c->copy[i];

		look_for_late(k, now_ms);
		if (is_waited_for(k, now_ms) && !has_change(k, number))
			have = false;
	}
	pthread_mutex_unlock(&c->lock);
	return have;
}

/* It is in sync when it has all, or all that there was so short a while ago. */
static void
note_have(struct copy *k, uint64_t seq, int64_t now_ms)
{
	if (seq == k->have)
		return;
	k->have = seq;
	if (k->whole != 0 && seq >= k->whole &&
	    (seq == k->sent || (seq >= k->mark && now_ms - k->owes_ms < COPIES_ANSWER_MS)))
		k->state = COPY_IN_SYNC;
	if (seq >= k->mark)
		set_mark(k, now_ms);
	if (seq == k->sent)
		k->n_bytes = 0;
}

int
copies_on_have(struct copies *c, unsigned i, uint64_t seq, int64_t stamp_ms, int64_t now_ms,
    struct fm_error *err)
{
	struct copy *k = &c->copy[i];
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	if (seq > k->sent || seq < k->have) {
		rc = fm_fail(err, FM_E_SYSTEM, "it says that it has frame %ju of %ju",
		    (uintmax_t)seq, (uintmax_t)k->sent);
	} else {
		k->stamp_ms = stamp_ms;
		note_have(k, seq, now_ms);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* ------------------------------------------------------------------- the loop */

void
copies_rule(struct copies *c, uint64_t term)
{
	pthread_mutex_lock(&c->lock);
	c->term = term;
	pthread_mutex_unlock(&c->lock);
}

void
copies_ruling(struct copies *c, int64_t then_ms)
{
	pthread_mutex_lock(&c->lock);
	c->ruling_ms = then_ms;
	pthread_mutex_unlock(&c->lock);
}

uint64_t
copies_term(const struct copies *c)
{
	return c->term;
}

unsigned
copies_begin(struct copies *c)
{
	struct evbuffer *out = evbuffer_new(), *none = evbuffer_new();
	unsigned i = 0;

	pthread_mutex_lock(&c->lock);
	while (i < COPIES_MAX && c->copy[i].state != COPY_NONE)
		i++;
	if (out == NULL || none == NULL)
		i = COPIES_MAX;
	if (i < COPIES_MAX) {
		c->copy[i] = (struct copy){ .state = COPY_FILLING, .out = out };
		append(c, &c->copy[i], LINK_WELCOME, none);
		out = NULL;
	}
	pthread_mutex_unlock(&c->lock);
	if (out != NULL)
		evbuffer_free(out);
	if (none != NULL)
		evbuffer_free(none);
	return i;
}

void
copies_end(struct copies *c, unsigned i, bool said)
{
	struct copy *k = &c->copy[i];

	for (unsigned w = 0; w < LINK_FILES; w++) {
		put_file(&k->file[w].has, NULL);
		put_file(&k->file[w].next, NULL);
	}
	pthread_mutex_lock(&c->lock);
	if (k->out != NULL)
		evbuffer_free(k->out);
	/* another may have its place before its lease is over, and acknowledges nothing for it */
	if (!said && k->lease_ms > c->gone_ms)
		c->gone_ms = k->lease_ms;
	*k = (struct copy){ 0 };
	pthread_mutex_unlock(&c->lock);
}

bool
copies_send(struct copies *c, unsigned i, struct evbuffer *out)
{
	struct copy *k = &c->copy[i];
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = !k->lost && k->out != NULL && evbuffer_add_buffer(out, k->out) == 0;
	pthread_mutex_unlock(&c->lock);
	return ok;
}

void
copies_alive(struct copies *c, unsigned i, struct evbuffer *out, int64_t now_ms)
{
	struct copy *k = &c->copy[i];
	struct evbuffer *data = evbuffer_new();
	struct link_stamp s;

	pthread_mutex_lock(&c->lock);
	look_for_late(k, now_ms);
	s = (struct link_stamp){ k->state == COPY_IN_SYNC, k->stamp_ms };
	if (data != NULL && link_add_stamp(data, &s) &&
	    link_put(out, LINK_ALIVE, c->term, 0, data) && s.in_sync)
		k->lease_ms = now_ms + LINK_LEASE_MS;
	pthread_mutex_unlock(&c->lock);
	if (data != NULL)
		evbuffer_free(data);
}

int64_t
copies_tick(struct copies *c, int64_t now_ms)
{
	int64_t due;

	pthread_mutex_lock(&c->lock);
	due = now_ms < c->gone_ms ? c->gone_ms : INT64_MAX;
	for (unsigned i = 0; i < COPIES_MAX; i++) {
		struct copy *k = &c->copy[i];

		look_for_late(k, now_ms);
		if (k->state == COPY_IN_SYNC && k->have < k->sent &&
		    k->owes_ms + COPIES_ANSWER_MS < due)
			due = k->owes_ms + COPIES_ANSWER_MS;
		if (k->state != COPY_IN_SYNC && now_ms < k->lease_ms && k->lease_ms < due)
			due = k->lease_ms;
	}
	pthread_mutex_unlock(&c->lock);
	return due;
}

void
copies_status(struct copies *c, unsigned i, struct copy_status *out)
{
	const struct copy *k = &c->copy[i];

	pthread_mutex_lock(&c->lock);
	*out = (struct copy_status){
		.state = k->state, .sent = k->sent, .have = k->have, .n_behind = k->n_behind
	};
	pthread_mutex_unlock(&c->lock);
	for (unsigned w = 0; w < LINK_FILES && out->state != COPY_NONE; w++)
		if (k->file[w].has != c->file[w])
			out->sends_files = true;
}
