/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/standby/mirror.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/registry/registry.h"
#include "core/standby/diff.h"
#include "core/text/files.h"
#include "lib/thread.h"
#include "lib/vec.h"

#define QUEUE_MOST_BYTES (1u << 30) /* that wait for the disk */

/* Data of RECORDS, a file, or what makes it of the one that is there. */
struct to_write {
	enum { WRITE_RECORDS, WRITE_FILE, WRITE_DIFF } what;
	enum link_file which;
	uint8_t *bytes; /* [n] */
	size_t n;
};

/* A file that has come in part.  It gets room as it comes: n_all is only what somebody says. */
struct coming {
	uint64_t number, base; /* as in struct link_part */
	FM_VEC(uint8_t) bytes; /* item NULL: none */
	size_t n_all;
};

struct mirror {
	struct store *store;
	char file[LINK_FILES][4096];
	uint64_t term, seq;
	bool is_whole;
	int64_t in_sync_ms; /* until then; 0: not */
	struct coming coming[LINK_FILES];
	uint64_t has[LINK_FILES]; /* number of the file that is here; 0: of none */
	struct link_sms sms;
	struct fm_error refused; /* kind 0: nothing has been */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t news;  /* something is to be written, or has been */
	FM_VEC(struct to_write) queue;
	size_t n_bytes; /* in it, and of what is being written */
	bool writing;	/* what was in the queue */
	bool stop;
	int rc; /* why no more is written */
	struct fm_error err;
};

/* ---------------------------------------------------------------------- thread */

static bool
write_bytes(FILE *out, const void *arg)
{
	const struct to_write *w = arg;

	return fwrite(w->bytes, 1, w->n, out) == w->n;
}

static int
write_file(const char *path, const struct to_write *w, struct fm_error *err)
{
	if (w->n == 0)
		return unlink(path) == 0 || errno == ENOENT
		    ? 0
		    : fm_fail(err, FM_E_SYSTEM, "cannot remove %.150s: %s", path, strerror(errno));
	if (!fm_file_write(path, 0600, write_bytes, w))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.150s: %s", path, strerror(errno));
	return 0;
}

/* What is there is read anew: it need not be in memory all the time. */
static int
write_diff(const char *path, const struct to_write *w, struct fm_error *err)
{
	struct to_write file = { .what = WRITE_FILE };
	size_t n;
	const uint8_t *old = fm_file_map(path, &n);
	int rc = diff_apply(old, n, w->bytes, w->n, &file.bytes, &file.n, err);

	fm_file_unmap(old, n);
	if (rc != 0)
		return fm_context(err, "%.100s", path);
	rc = write_file(path, &file, err);
	free(file.bytes);
	return rc;
}

/* Of n frames, by one commit: what waits has gathered while the disk was slow. */
static int
write_records(struct store *s, const struct to_write *w, size_t n, struct fm_error *err)
{
	FM_VEC(struct store_record) all = { 0 };
	bool anew = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct link_frame f = { .type = LINK_RECORDS, .data = w[i].bytes, .n = w[i].n };
		struct link_records r;

		rc = link_read_records(&f, &r, err);
		anew = anew || r.anew;
		all.n = r.anew ? 0 : all.n;
		if (rc == 0 && !fm_vec_append(&all, r.item, r.n))
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for records");
		free(r.item);
	}
	if (rc == 0)
		rc = store_put(s, all.item, (uint32_t)all.n, anew, err);
	fm_vec_fini(&all);
	return rc;
}

/* All in their order. */
static int
write_all(const struct mirror *m, const struct to_write *w, size_t n, struct fm_error *err)
{
	int rc = 0;

	for (size_t i = 0, end; rc == 0 && i < n; i = end) {
		for (end = i; end < n && w[end].what == WRITE_RECORDS; end++)
			;
		if (end > i)
			rc = write_records(m->store, w + i, end - i, err);
		else if (w[end++].what == WRITE_DIFF)
			rc = write_diff(m->file[w[i].which], &w[i], err);
		else
			rc = write_file(m->file[w[i].which], &w[i], err);
	}
	return rc;
}

static void *
write_frames(void *arg)
{
	struct mirror *m = arg;

	pthread_mutex_lock(&m->lock);
	while (m->queue.n > 0 || !m->stop) {
		struct fm_error err = { 0 };
		struct to_write *w = m->queue.item;
		size_t n = m->queue.n, n_bytes = m->n_bytes;
		int rc = m->rc;

		if (n == 0) {
			pthread_cond_wait(&m->news, &m->lock);
			continue;
		}
		memset(&m->queue, 0, sizeof(m->queue));
		m->writing = true;
		pthread_mutex_unlock(&m->lock);
		if (rc == 0)
			rc = write_all(m, w, n, &err);
		for (size_t i = 0; i < n; i++)
			free(w[i].bytes);
		free(w);
		pthread_mutex_lock(&m->lock);
		m->n_bytes -= n_bytes;
		m->writing = false;
		if (rc != 0 && m->rc == 0) {
			m->rc = rc;
			m->err = err;
		}
		pthread_cond_broadcast(&m->news);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int
mirror_new(
    struct store *s, const char *const file[LINK_FILES], struct mirror **out, struct fm_error *err)
{
	struct mirror *m;
	int rc;

	if (store_why_none(s) != NULL)
		return fm_fail(
		    err, FM_E_SYSTEM, "nothing of the master is kept: %.180s", store_why_none(s));
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the copy of the master");
	m->store = s;
	for (unsigned i = 0; i < LINK_FILES; i++)
		snprintf(m->file[i], sizeof(m->file[i]), "%s", file[i]);
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->news, NULL);
	rc = fm_thread_start(&m->thread, write_frames, m);
	if (rc != 0) {
		pthread_cond_destroy(&m->news);
		pthread_mutex_destroy(&m->lock);
		free(m);
		return fm_fail(
		    err, FM_E_SYSTEM, "no thread for the copy of the master: %s", strerror(rc));
	}
	*out = m;
	return 0;
}

void
mirror_free(struct mirror *m)
{
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_broadcast(&m->news);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	for (unsigned i = 0; i < LINK_FILES; i++)
		fm_vec_fini(&m->coming[i].bytes);
	fm_vec_fini(&m->queue);
	free(m->sms.guid);
	pthread_cond_destroy(&m->news);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* ---------------------------------------------------------------------- frames */

/* w.bytes are freed, now or when they are written. */
static int
write_later(struct mirror *m, const struct to_write *w, struct fm_error *err)
{
	bool ok;

	pthread_mutex_lock(&m->lock);
	ok = m->n_bytes + w->n <= QUEUE_MOST_BYTES && fm_vec_push(&m->queue, *w);
	if (ok)
		m->n_bytes += w->n;
	pthread_cond_broadcast(&m->news);
	pthread_mutex_unlock(&m->lock);
	if (ok)
		return 0;
	free(w->bytes);
	return fm_fail(err, FM_E_RESOURCE, "the disk does not keep up with the master");
}

/* They are looked at before they are said to be here. */
static int
take_records(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	struct to_write w = { .n = f->n };
	struct link_records r;
	int rc = link_read_records(f, &r, err);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < r.n; i++)
		if (!registry_is_record(&r.item[i]))
			rc = fm_fail(err, FM_E_SYSTEM,
			    "record %u of %u in a frame is none of the registry", i + 1, r.n);
	free(r.item);
	if (rc != 0)
		return rc;
	w.bytes = malloc(f->n);
	if (w.bytes == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a frame");
	memcpy(w.bytes, f->data, f->n);
	return write_later(m, &w, err);
}

/* Parts come in order. */
static int
take_part(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	struct coming *c;
	struct link_part p;
	struct to_write w = { .what = WRITE_FILE };
	int rc = link_read_part(f, &p, err);

	if (rc != 0)
		return rc;
	c = &m->coming[p.which];
	if (p.base != 0 && p.base != m->has[p.which])
		return fm_fail(
		    err, FM_E_SYSTEM, "a part that makes a file of one that is not here");
	if (p.at == 0) {
		fm_vec_fini(&c->bytes);
		*c = (struct coming){ .number = p.number, .base = p.base, .n_all = p.n_all };
	} else if (c->bytes.item == NULL || p.number != c->number || p.base != c->base ||
	    p.at != c->bytes.n || p.n_all != c->n_all) {
		return fm_fail(err, FM_E_SYSTEM, "a part of a file that does not go on there");
	}
	if (!fm_vec_append(&c->bytes, p.bytes, p.n))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a file");
	if (c->bytes.n < c->n_all)
		return p.n > 0 ? 0 : fm_fail(err, FM_E_SYSTEM, "a part of a file without bytes");
	w.what = p.base != 0 ? WRITE_DIFF : WRITE_FILE;
	w.which = p.which;
	w.bytes = c->bytes.item;
	w.n = c->bytes.n;
	m->has[p.which] = p.number;
	*c = (struct coming){ 0 };
	return write_later(m, &w, err);
}

static int
take_lids(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	struct link_lids l;
	int rc = link_read_lids(f, &l, err);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < l.n; i++)
		if (l.item[i].lid == 0 || l.item[i].lid >= 0xc000 || l.item[i].lmc > 7)
			rc = fm_fail(err, FM_E_SYSTEM, "0x%x is no LID of a port", l.item[i].lid);
	if (rc == 0)
		rc = store_set_lids(m->store, l.item, l.n, err);
	free(l.item);
	return rc;
}

static int
take_marks(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	struct link_marks k;
	int rc = link_read_marks(f, &k, err);

	if (rc == 0 && store_mark(m->store) != k.mark)
		rc = store_put_mark(m->store, k.mark, err);
	if (rc == 0 && store_m_key(m->store) != k.m_key)
		rc = store_put_m_key(m->store, k.m_key, err);
	if (rc == 0 && store_untold(m->store) != k.untold)
		rc = store_put_untold(m->store, k.untold, err);
	return rc;
}

static int
take_sms(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	struct link_sms now;
	int rc = link_read_sms(f, &now, err);

	if (rc != 0)
		return rc;
	free(m->sms.guid);
	m->sms = now;
	return 0;
}

static int
take_data(struct mirror *m, const struct link_frame *f, struct fm_error *err)
{
	switch (f->type) {
	case LINK_WELCOME:
		return 0;
	case LINK_RECORDS:
		return take_records(m, f, err);
	case LINK_LIDS:
		return take_lids(m, f, err);
	case LINK_MARKS:
		return take_marks(m, f, err);
	case LINK_SMS:
		return take_sms(m, f, err);
	case LINK_WHOLE:
		m->is_whole = true;
		return 0;
	default:
		return fm_fail(err, FM_E_SYSTEM, "a frame %s does not come from a master",
		    link_type_name(f->type));
	}
}

static int
has_failed(struct mirror *m, struct fm_error *err)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = m->rc;
	if (rc != 0)
		*err = m->err;
	pthread_mutex_unlock(&m->lock);
	return rc;
}

/* We believe from when we sent what the master has answered, however long that was on its way. */
static int
take_alive(struct mirror *m, const struct link_frame *f, int64_t now_ms, struct fm_error *err)
{
	struct link_stamp s;
	int rc = link_read_stamp(f, &s, err);

	if (rc == 0 && s.ms > now_ms)
		rc = fm_fail(err, FM_E_SYSTEM, "a frame ALIVE has a stamp that we never sent");
	if (rc == 0)
		m->in_sync_ms = s.in_sync ? s.ms + LINK_BELIEF_MS : 0;
	return rc;
}

static int
take(struct mirror *m, const struct link_frame *f, int64_t now_ms, struct fm_error *err)
{
	int rc;

	if (m->seq == 0 ? f->type != LINK_WELCOME : f->term != m->term)
		return fm_fail(err, FM_E_SYSTEM, "a frame %s of term %ju is none of this log",
		    link_type_name(f->type), (uintmax_t)f->term);
	if (f->type == LINK_ALIVE)
		return take_alive(m, f, now_ms, err);
	if (f->type == LINK_PART)
		return take_part(m, f, err);
	if (f->seq != m->seq + 1)
		return fm_fail(err, FM_E_SYSTEM, "frame %ju came after frame %ju",
		    (uintmax_t)f->seq, (uintmax_t)m->seq);
	rc = take_data(m, f, err);
	if (rc == 0) {
		m->seq = f->seq;
		m->term = f->term;
	}
	return rc;
}

int
mirror_take(struct mirror *m, const struct link_frame *f, int64_t now_ms, struct fm_error *err)
{
	int rc = has_failed(m, err);

	if (rc == 0 && m->refused.kind != 0) {
		*err = m->refused;
		rc = (int)err->kind;
	}
	if (rc != 0)
		return rc;
	rc = take(m, f, now_ms, err);
	if (rc != 0)
		m->refused = *err;
	return rc;
}

uint64_t
mirror_seq(const struct mirror *m)
{
	return m->seq;
}

uint64_t
mirror_term(const struct mirror *m)
{
	return m->term;
}

bool
mirror_is_whole(const struct mirror *m)
{
	return m->is_whole;
}

bool
mirror_in_sync(const struct mirror *m, int64_t now_ms)
{
	return m->is_whole && now_ms < m->in_sync_ms;
}

size_t
mirror_sms(const struct mirror *m, const uint64_t **guid)
{
	*guid = m->sms.guid;
	return m->sms.n;
}

/* Under the lock. */
static bool
is_settled(const struct mirror *m)
{
	return m->queue.n == 0 && !m->writing;
}

bool
mirror_is_settled(struct mirror *m)
{
	bool settled;

	pthread_mutex_lock(&m->lock);
	settled = is_settled(m);
	pthread_mutex_unlock(&m->lock);
	return settled;
}

int
mirror_settle(struct mirror *m, struct fm_error *err)
{
	pthread_mutex_lock(&m->lock);
	while (!is_settled(m))
		pthread_cond_wait(&m->news, &m->lock);
	pthread_mutex_unlock(&m->lock);
	return has_failed(m, err);
}
