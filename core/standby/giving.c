/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/giving.c - the copies that standbys get of us, over copy_socket.
 *
 * The loop owns the sockets; the SA's thread puts records into the logs and wakes the loop.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/ctl/ctl.h"
#include "core/events/tell.h"
#include "core/registry/saver.h"
#include "core/server/server.h"
#include "core/sms/sms.h"
#include "core/standby/internal.h"
#include "core/sweep/sweep.h"
#include "core/text/files.h"
#include "core/text/json_text.h"
#include "lib/vec.h"

#define PART_BELOW (64u << 10) /* bytes that wait to be sent, for another part of a file */
#define BEGIN_MS 2000	       /* for a better SM to begin its copy */
#define HELLO_MS 5000	       /* to say it */
#define BACKLOG 8
#define BEHIND_MS 5000 /* a standby, till that is told */

/* -------------------------------------------------------------------- files */

/* Those that have been written since go to standbys. */
static void
put_files(struct copying *c)
{
	for (unsigned w = 0; w < LINK_FILES; w++) {
		struct watched *f = &c->file[w];
		struct stat st = { 0 };
		const uint8_t *bytes;
		size_t n;

		if (stat(f->path, &st) != 0)
			st = (struct stat){ 0 };
		if (f->seen && st.st_ino == f->inode && st.st_size == f->size &&
		    st.st_mtim.tv_sec == f->changed.tv_sec &&
		    st.st_mtim.tv_nsec == f->changed.tv_nsec)
			continue;
		f->inode = st.st_ino;
		f->size = st.st_size;
		f->changed = st.st_mtim;
		bytes = fm_file_map(f->path, &n);
		f->seen = copies_put_file(c->g.copies, (enum link_file)w, bytes, n, fm_file_unmap);
	}
}

/* --------------------------------------------------------------------- logs */

/* Where it is kept which event told of a standby: its own place, a free one, or another's. */
static struct lost_copy *
lost_copy_of(struct copying *c, uint64_t guid)
{
	struct lost_copy *free_one = &c->g.lost[COPIES_MAX - 1];

	for (unsigned i = COPIES_MAX; i-- > 0;) {
		if (c->g.lost[i].event != 0 && c->g.lost[i].guid == guid)
			return &c->g.lost[i];
		if (c->g.lost[i].event == 0)
			free_one = &c->g.lost[i];
	}
	return free_one;
}

/* While we do not rule, or it has said that it goes, it is no loss. */
static void
tell_lost(struct standby *s, bool said, const char *why)
{
	static const char words[] = "the standby 0x%016" PRIx64 " has no copy any more: %s";
	struct lost_copy *lost = lost_copy_of(s->c, s->guid);

	if (said || !s->c->g.rules) {
		log_info("ha", words, s->guid, why);
		return;
	}
	lost->guid = s->guid;
	lost->event = events_add(EVENT_COPY_LOST, FM_LOG_WARN, "ha",
	    json_pack("{s:o}", "guid", json_guid(s->guid)), words, s->guid, why);
}

static void
tell_caught_up(struct standby *s, const char *how)
{
	event_end(
	    s->behind, EVENT_COPY_BEHIND, "ha", "the standby 0x%016" PRIx64 " %s", s->guid, how);
	s->behind = 0;
	s->behind_ms = 0;
}

static void
drop_standby(struct standby *s, bool said, const char *why)
{
	tell_caught_up(s, "has no copy any more");
	if (s->place != NOBODY) {
		copies_end(s->c->g.copies, s->place, said);
		tell_lost(s, said, why);
	}
	bufferevent_free(s->io);
	s->io = NULL;
	s->place = NOBODY;
}

/* What is in its log, and a part of a file while nothing else is to be sent. */
static void
feed_standby(struct standby *s)
{
	struct evbuffer *out = bufferevent_get_output(s->io);

	if (s->place == NOBODY)
		return;
	if (!copies_send(s->c->g.copies, s->place, out)) {
		drop_standby(s, false, "it does not keep up with what changes");
		return;
	}
	while (evbuffer_get_length(out) < PART_BELOW &&
	    copies_send_part(s->c->g.copies, s->place, out))
		;
}

static void
feed_all(struct copying *c)
{
	for (unsigned i = 0; i < STANDBYS_MAX; i++)
		if (c->g.standby[i].io != NULL)
			feed_standby(&c->g.standby[i]);
}

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) > 0)
		feed_all(arg);
}

static struct link_marks
marks_of(const struct store *s)
{
	return (struct link_marks){ store_mark(s), store_m_key(s), store_untold(s) };
}

/* LIDs and marks that have changed since they were put.  The loop comes by often, and they seldom
 * have. */
static void
put_store(struct copying *c)
{
	const struct store *s = c->p.store;
	struct link_marks m = marks_of(s), *was = &c->g.marks;
	bool lids = c->g.n_lid_changes != store_n_lid_changes(s);
	bool marks = m.mark != was->mark || m.m_key != was->m_key || m.untold != was->untold;
	struct evbuffer *data = lids || marks ? evbuffer_new() : NULL;

	if (data == NULL)
		return;
	if (lids && link_add_lids(data, store_lids(s), store_n_lids(s))) {
		c->g.n_lid_changes = store_n_lid_changes(s);
		copies_put(c->g.copies, LINK_LIDS, data, standby_now_ms());
	}
	evbuffer_drain(data, evbuffer_get_length(data));
	if (marks && link_add_marks(data, &m)) {
		*was = m;
		copies_put(c->g.copies, LINK_MARKS, data, standby_now_ms());
	}
	evbuffer_free(data);
}

static bool
add_sm(struct guids *all, uint64_t guid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->item[i] == guid)
			return true;
	return fm_vec_push(all, guid);
}

/* Who takes over asks each of them, and may not have met one of them itself.  False: out of
 * memory. */
static bool
list_sms(const struct copying *c, struct guids *all)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < sweeper_n_other_sms(c->p.sweeper); i++)
		ok = add_sm(all, sweeper_other_sm(c->p.sweeper, i)->info.guid);
	for (unsigned i = 0; ok && i < STANDBYS_MAX; i++)
		if (c->g.standby[i].io != NULL && c->g.standby[i].place != NOBODY)
			ok = add_sm(all, c->g.standby[i].guid);
	return ok;
}

/* They, too. */
static void
put_sms(struct copying *c)
{
	struct guids now = { 0 };
	struct evbuffer *data = NULL;

	if (list_sms(c, &now) &&
	    (now.n != c->g.sms.n ||
		(now.n > 0 && memcmp(now.item, c->g.sms.item, now.n * sizeof(*now.item)) != 0)) &&
	    (data = evbuffer_new()) != NULL && link_add_sms(data, now.item, (uint32_t)now.n)) {
		copies_put(c->g.copies, LINK_SMS, data, standby_now_ms());
		fm_vec_fini(&c->g.sms);
		c->g.sms = now;
		now = (struct guids){ 0 };
	}
	fm_vec_fini(&now);
	if (data != NULL)
		evbuffer_free(data);
}

/* The loop sends what another thread has put. */
static void
wake(const struct copying *c)
{
	uint64_t one = 1;

	if (write(c->g.wake_fd, &one, sizeof(one)) < 0)
		log_err("ha", "the log is not woken: %s", strerror(errno));
}

/* By the SA's thread. */
static uint64_t
put_records(void *arg, const struct store_record *r, uint32_t n, bool anew)
{
	struct copying *c = arg;
	struct evbuffer *data = evbuffer_new();
	uint64_t number = 0;

	if (data != NULL && link_add_records(data, r, n, anew))
		number = copies_put(c->g.copies, LINK_RECORDS, data, standby_now_ms());
	else
		copies_lose(c->g.copies);
	if (data != NULL)
		evbuffer_free(data);
	if (number != 0)
		wake(c);
	return number;
}

static bool
have_records(void *arg, uint64_t number)
{
	struct copying *c = arg;

	return copies_have(c->g.copies, number, standby_now_ms());
}

/* Everything that is registered, for one standby.  Where the SA runs. */
struct fill_job {
	struct copying *c;
	unsigned place;
};

static void
fill(void *arg, struct sa *sa)
{
	struct fill_job *j = arg;
	struct registry_batch *b = NULL;
	struct store_record *records = NULL;
	struct evbuffer *data = evbuffer_new();
	struct fm_error err = { 0 };
	uint32_t n;
	bool anew;

	if (registry_copy(
		sa_registry(sa), j->c->p.clock_ms(j->c->p.arg), (int64_t)time(NULL), &b, &err) == 0)
		records = registry_batch_records(b, &n, &anew);
	if (data != NULL && records != NULL && link_add_records(data, records, n, anew)) {
		copies_put_to(j->c->g.copies, j->place, LINK_RECORDS, data);
		copies_put_to(j->c->g.copies, j->place, LINK_WHOLE, data);
	} else {
		copies_lose(j->c->g.copies);
	}
	free(records);
	registry_batch_free(b);
	if (data != NULL)
		evbuffer_free(data);
	wake(j->c);
	free(j);
}

static int
begin_copy(struct standby *s, struct fm_error *err)
{
	struct copying *c = s->c;
	const struct store *store = c->p.store;
	struct link_marks m = marks_of(store);
	struct evbuffer *lids = evbuffer_new(), *marks = evbuffer_new(), *sms = evbuffer_new();
	struct fill_job *j = malloc(sizeof(*j));
	bool ok = j != NULL && lids != NULL && marks != NULL && sms != NULL &&
	    link_add_lids(lids, store_lids(store), store_n_lids(store)) &&
	    link_add_marks(marks, &m) && link_add_sms(sms, c->g.sms.item, (uint32_t)c->g.sms.n);

	s->place = ok ? copies_begin(c->g.copies) : NOBODY;
	if (s->place != NOBODY) {
		copies_put_to(c->g.copies, s->place, LINK_LIDS, lids);
		copies_put_to(c->g.copies, s->place, LINK_MARKS, marks);
		copies_put_to(c->g.copies, s->place, LINK_SMS, sms); /* the next has it */
		*j = (struct fill_job){ c, s->place };
		ok = sa_server_post(c->p.sa, fill, j, err) == 0;
	}
	if (lids != NULL)
		evbuffer_free(lids);
	if (marks != NULL)
		evbuffer_free(marks);
	if (sms != NULL)
		evbuffer_free(sms);
	if (s->place == NOBODY || !ok)
		free(j);
	if (s->place == NOBODY)
		return fm_fail(err, FM_E_RESOURCE,
		    ok ? "it has as many standbys with a copy as it may have" : "out of memory");
	return ok ? 0 : FM_E_RESOURCE;
}

/* What must be equal. */
static int
compare_conf(const struct copying *c, const struct link_hello *h, struct fm_error *err)
{
	uint64_t own[LINK_GROUPS];

	standby_hash_conf(*c->p.conf, own);
	for (unsigned g = 0; g < LINK_GROUPS; g++)
		if (own[g] != h->hash[g])
			return fm_fail(err, FM_E_CONFIG,
			    "the two SMs do not have the same %s: make their configurations equal",
			    link_group_name((enum link_group)g));
	return 0;
}

/* Somebody has ruled after us, or by a clock that is ahead of ours.  The first is found out before
 * anything else is sent; the second needs a higher term, and all copies anew.  What is promised
 * waits for either. */
static int
on_other_term(struct copying *c, uint64_t term, struct fm_error *err)
{
	if (term < c->term || term > LINK_TERM_MAX)
		return fm_fail(
		    err, FM_E_SYSTEM, "a frame of term %ju is none of this log", (uintmax_t)term);
	c->term = term;
	copies_ruling(c->g.copies, standby_now_ms() - COPIES_RULING_MS);
	sms_doubt(c->p.sweeper, "a standby has seen a master of a later term");
	return fm_fail(err, FM_E_SYSTEM,
	    "it has seen a master of a later term: this SM finds out whether it still rules");
}

/* A connection whose end was not told, by a host that has lost its power or a cable between, keeps
 * its place.  Who says HELLO believes nothing of an earlier copy any more (taking.c): nobody
 * need wait for the end of that lease. */
static void
end_earlier(struct copying *c, const struct standby *now)
{
	for (unsigned i = 0; i < STANDBYS_MAX; i++) {
		struct standby *s = &c->g.standby[i];

		if (s != now && s->io != NULL && s->place != NOBODY && s->guid == now->guid)
			drop_standby(s, true, "it has connected anew");
	}
}

static int
on_hello(struct standby *s, const struct link_frame *f, struct fm_error *err)
{
	struct copying *c = s->c;
	struct lost_copy *lost;
	struct link_hello h;
	int rc = link_read_hello(f, &h, err);

	if (rc != 0)
		return rc;
	s->guid = h.guid;
	if (!c->g.rules)
		return fm_fail(err, FM_E_SYSTEM, "this SM is not master, as far as it knows");
	if ((rc = compare_conf(c, &h, err)) != 0)
		return rc;
	if (h.term > c->term)
		return on_other_term(c, h.term, err);
	end_earlier(c, s);
	if ((rc = begin_copy(s, err)) != 0)
		return rc;
	log_notice("ha", "the standby 0x%016" PRIx64 " begins a copy", h.guid);
	lost = lost_copy_of(c, h.guid);
	if (lost->guid == h.guid) {
		event_end(lost->event, EVENT_COPY_LOST, "ha",
		    "the standby 0x%016" PRIx64 " begins a copy", h.guid);
		lost->event = 0;
	}
	return 0;
}

/* A frame of a standby.  Not 0: it is refused with this sentence; FM_E_CANCELLED: it has left. */
static int
take_from_standby(struct standby *s, const struct link_frame *f, struct fm_error *err)
{
	struct link_stamp stamp;
	char text[200];
	int rc;

	if (f->type == LINK_BYE) {
		link_read_bye(f, text, sizeof(text));
		return fm_fail(err, FM_E_CANCELLED, "%s", text);
	}
	if (f->type == LINK_HELLO && s->place == NOBODY)
		return on_hello(s, f, err);
	if (f->type == LINK_HAVE && s->place != NOBODY) {
		if (f->term != s->c->term)
			return on_other_term(s->c, f->term, err);
		rc = link_read_stamp(f, &stamp, err);
		return rc != 0 ? rc
			       : copies_on_have(s->c->g.copies, s->place, f->seq, stamp.ms,
				     standby_now_ms(), err);
	}
	return fm_fail(
	    err, FM_E_SYSTEM, "a frame %s is not for a master now", link_type_name(f->type));
}

static void
on_standby_read(struct bufferevent *io, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(io);
	struct standby *s = arg;
	struct fm_error err = { 0 };
	struct link_frame f;
	int rc;

	while ((rc = link_get(in, &f, &err)) == 1) {
		rc = take_from_standby(s, &f, &err);
		link_drop(in, &f);
		if (rc != 0)
			break;
	}
	if (rc == 0) {
		feed_standby(s);
		return;
	}
	if (rc == FM_E_CANCELLED) {
		drop_standby(s, true, err.msg);
		return;
	}
	events_add(s->c->g.rules ? EVENT_COPY_REFUSED : EVENT_NONE,
	    s->c->g.rules ? FM_LOG_WARN : FM_LOG_DEBUG, "ha", NULL,
	    "the standby 0x%016" PRIx64 " gets no copy: %s", s->guid, err.msg);
	standby_say_bye(io, err.msg);
	if (s->place != NOBODY)
		copies_end(s->c->g.copies, s->place, false);
	s->place = NOBODY;
	bufferevent_disable(io, EV_READ); /* it closes, or its time is over */
}

static void
on_standby_write(struct bufferevent *io, void *arg)
{
	feed_standby(arg);
}

static void
on_standby_event(struct bufferevent *io, short what, void *arg)
{
	drop_standby(arg, false, (what & BEV_EVENT_ERROR) != 0 ? strerror(errno) : "it has left");
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *addr, int n, void *arg)
{
	struct copying *c = arg;
	struct standby *s = NULL;

	for (unsigned i = 0; i < STANDBYS_MAX && s == NULL; i++)
		if (c->g.standby[i].io == NULL)
			s = &c->g.standby[i];
	if (s == NULL) {
		close(fd);
		return;
	}
	*s = (struct standby){ .c = c,
		.io = bufferevent_socket_new(c->p.base, fd, BEV_OPT_CLOSE_ON_FREE),
		.place = NOBODY,
		.since_ms = standby_now_ms() };
	if (s->io == NULL) {
		close(fd);
		return;
	}
	bufferevent_setcb(s->io, on_standby_read, on_standby_write, on_standby_event, s);
	bufferevent_setwatermark(s->io, EV_WRITE, PART_BELOW / 2, 0);
	bufferevent_enable(s->io, EV_READ | EV_WRITE);
	standby_arm(c);
}

/* ------------------------------------------------------------------ handover */

static enum copy_state
state_of(struct copying *c, uint64_t guid)
{
	struct copy_status st;

	for (unsigned i = 0; i < STANDBYS_MAX; i++) {
		const struct standby *s = &c->g.standby[i];

		if (s->io == NULL || s->place == NOBODY || s->guid != guid)
			continue;
		copies_status(c->g.copies, s->place, &st);
		return st.state == COPY_IN_SYNC && st.sends_files ? COPY_FILLING : st.state;
	}
	return COPY_NONE;
}

/* One that takes a copy gets the subnet when it has it.  A better SM that takes none gets it all
 * the same, once it has had time to begin. */
int
giving_may_have(struct copying *c, const struct ha_other *heir, bool by_order, struct fm_error *err)
{
	uint64_t guid = heir->info.guid;
	enum copy_state state = state_of(c, guid);

	if (c->g.listener == NULL || state == COPY_IN_SYNC)
		return 0;
	if (!by_order && state != COPY_FILLING && c->g.heir == guid && c->g.heir_is_due)
		return 0;
	if (!by_order && c->g.heir != guid) {
		c->g.heir = guid;
		c->g.heir_ms = standby_now_ms();
		c->g.heir_is_due = false;
		standby_arm(c);
	}
	return fm_fail(err, FM_E_CONFIG,
	    "the standby 0x%016" PRIx64 " has no copy in sync (%s): what hosts have registered "
	    "would be lost; fmctl ha tells more",
	    guid, copy_state_name(state));
}

/* A better SM that was to wait need not any more. */
static void
follow_heir(struct copying *c)
{
	enum copy_state state;

	if (c->g.heir == 0 || c->g.heir_is_due)
		return;
	state = state_of(c, c->g.heir);
	c->g.heir_is_due = state == COPY_IN_SYNC ||
	    (state != COPY_FILLING && standby_now_ms() - c->g.heir_ms >= BEGIN_MS);
	if (c->g.heir_is_due)
		sweeper_request(c->p.sweeper, SWEEP_LIGHT, "a better SM has had time for a copy");
	else
		standby_arm(c);
}

/* ---------------------------------------------------------------------- role */

static void
begin_rule(struct copying *c)
{
	int64_t wall_ms = (int64_t)time(NULL) * 1000;

	c->g.rules = true;
	c->g.heir = 0;
	c->term = (uint64_t)wall_ms > c->term ? (uint64_t)wall_ms : c->term + 1;
	copies_rule(c->g.copies, c->term);
	put_files(c);
}

static void
end_rule(struct copying *c, const char *why)
{
	c->g.rules = false;
	for (unsigned i = 0; i < STANDBYS_MAX; i++)
		if (c->g.standby[i].io != NULL) {
			standby_say_bye(c->g.standby[i].io, why);
			drop_standby(&c->g.standby[i], false, why);
		}
}

static bool
gives_any(const struct copying *c)
{
	bool any = false;

	for (unsigned i = 0; i < STANDBYS_MAX; i++)
		any = any || (c->g.standby[i].io != NULL && c->g.standby[i].place != NOBODY);
	return any;
}

void
giving_follow(struct copying *c)
{
	bool rules = c->p.ha->state == WIRE_SM_MASTER;

	if (c->g.listener == NULL)
		return;
	if (c->g.rules && !rules)
		end_rule(c, "this SM is not master any more");
	if (c->g.rules && copies_term(c->g.copies) != c->term)
		end_rule(c, "the term of this SM is over");
	if (rules && !c->g.rules && !sms_doubts(c->p.sweeper))
		begin_rule(c);
	sms_gives_log(c->p.sweeper, c->g.rules && gives_any(c));
	if (c->g.rules && !sms_doubts(c->p.sweeper))
		copies_ruling(c->g.copies, sms_awake_ms(c->p.sweeper));
	if (c->g.rules) {
		put_store(c);
		put_sms(c);
	}
	feed_all(c);
	if (c->g.rules)
		follow_heir(c);
}

/* For a moment is nothing to tell of: it is in sync again as soon as it has everything. */
static void
look_behind(struct standby *s, int64_t now_ms)
{
	struct copy_status st;

	copies_status(s->c->g.copies, s->place, &st);
	if (st.state != COPY_BEHIND) {
		tell_caught_up(s, "has caught up");
		return;
	}
	if (s->behind_ms == 0)
		s->behind_ms = now_ms;
	if (s->behind != 0 || now_ms - s->behind_ms < BEHIND_MS)
		return;
	s->behind = events_add(EVENT_COPY_BEHIND, FM_LOG_WARN, "ha",
	    json_pack("{s:o}", "guid", json_guid(s->guid)),
	    "the standby 0x%016" PRIx64
	    " has been behind for %d s: no answer to a host waits for it",
	    s->guid, BEHIND_MS / 1000);
}

void
giving_alive(struct copying *c)
{
	int64_t now = standby_now_ms();

	if (c->g.rules)
		put_files(c);
	for (unsigned i = 0; i < STANDBYS_MAX; i++) {
		struct standby *s = &c->g.standby[i];

		if (s->io == NULL)
			continue;
		standby_arm(c);
		if (s->place != NOBODY) {
			copies_alive(c->g.copies, s->place, bufferevent_get_output(s->io), now);
			look_behind(s, now);
		} else if (now - s->since_ms > HELLO_MS) {
			drop_standby(s, true, "it does not say HELLO");
		}
	}
}

/* --------------------------------------------------------------- open, close */

static void
keep_copy(void *arg, struct sa *sa)
{
	struct copying *c = arg;
	struct saver_copy copy = { put_records, have_records, c };

	sa_copy(sa, &copy);
}

int
giving_open(struct copying *c, const char *path, struct fm_error *err)
{
	int fd, rc = ctl_bind("copy_socket", path, &fd, err);

	if (rc != 0)
		return rc;
	snprintf(c->g.socket, sizeof(c->g.socket), "%s", path);
	c->g.copies = copies_new(&(struct copies_worker){ beside_run, &c->g.beside });
	c->g.listener = evconnlistener_new(
	    c->p.base, on_accept, c, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG, fd);
	c->g.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->g.ev_wake = c->g.wake_fd < 0
	    ? NULL
	    : event_new(c->p.base, c->g.wake_fd, EV_READ | EV_PERSIST, on_wake, c);
	if (c->g.copies == NULL || c->g.listener == NULL || c->g.ev_wake == NULL)
		return fm_fail(err, FM_E_RESOURCE, "copy_socket %s: out of memory", path);
	event_add(c->g.ev_wake, NULL);
	return sa_server_post(c->p.sa, keep_copy, c, err);
}

void
giving_close(struct copying *c)
{
	for (unsigned i = 0; i < STANDBYS_MAX; i++)
		if (c->g.standby[i].io != NULL)
			drop_standby(
			    &c->g.standby[i], true, "fmd stops, or goes over to another port");
	if (c->g.listener != NULL) {
		evconnlistener_free(c->g.listener);
		unlink(c->g.socket);
	}
	if (c->g.ev_wake != NULL)
		event_free(c->g.ev_wake);
	if (c->g.wake_fd >= 0)
		close(c->g.wake_fd);
	beside_join(&c->g.beside);
	copies_free(c->g.copies);
	fm_vec_fini(&c->g.sms);
}

void
giving_add_json(struct copying *c, json_t *status)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < STANDBYS_MAX; i++) {
		const struct standby *s = &c->g.standby[i];
		struct copy_status st;

		if (s->io == NULL || s->place == NOBODY)
			continue;
		copies_status(c->g.copies, s->place, &st);
		json_array_append_new(list,
		    json_pack("{s:o, s:s, s:I, s:I, s:b, s:i}", "guid", json_guid(s->guid), "state",
			copy_state_name(st.state), "sent", (json_int_t)st.sent, "have",
			(json_int_t)st.have, "sends_files", (int)st.sends_files, "times_behind",
			(int)st.n_behind));
	}
	json_object_set_new(status, "standbys", list);
}
