/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/server/turns.h"

#include <stdlib.h>

#include "core/rmpp/rmpp.h"
#include "lib/vec.h"

#define COST_LOOKS 16	/* records looked at, for a unit of sa_share_charge() */
#define COST_BYTES 1024 /* of an answer, for the same */
#define METHOD_AT 3	/* in a MAD */

struct sa_turns {
	struct sa *sa;
	struct sa_turns_limits limits;
	struct sa_share *share;
	struct sa_held *held;
	struct talkers talkers;
	int64_t now_ms;		       /* of the request in hand */
	size_t sent_bytes;	       /* for it */
	FM_VEC(struct sa_job *) begun; /* that hold memory, the oldest first */
	size_t begun_bytes;
};

struct sa_turns *
sa_turns_new(struct sa *sa, const struct sa_turns_limits *l)
{
	struct sa_turns *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->sa = sa;
	t->limits = *l;
	t->share = sa_share_new(&l->share);
	t->held = sa_held_new(&l->held);
	if (t->share == NULL || t->held == NULL) {
		sa_turns_free(t);
		return NULL;
	}
	return t;
}

void
sa_turns_free(struct sa_turns *t)
{
	struct mad_addr from;
	const uint8_t *bytes;
	size_t n_bytes;

	if (t == NULL)
		return;
	while (t->share != NULL && sa_share_take(t->share, &from, &bytes, &n_bytes))
		sa_job_free(sa_share_work(t->share));
	sa_share_free(t->share);
	sa_held_free(t->held);
	talkers_fini(&t->talkers);
	fm_vec_fini(&t->begun);
	free(t);
}

uint32_t
sa_turns_waiting(const struct sa_turns *t)
{
	return sa_share_waiting(t->share);
}

size_t
sa_turns_begun_bytes(const struct sa_turns *t)
{
	return t->begun_bytes;
}

void
sa_turns_talkers(const struct sa_turns *t, int64_t now_ms, struct talkers_seen *out)
{
	talkers_look(&t->talkers, now_ms, out);
}

/* ------------------------------------------------------------- one request */

static void
tell_busy(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	talkers_refuse(&t->talkers, from->lid, now_ms);
	sa_refuse(t->sa, from, bytes, n_bytes, WIRE_STATUS_BUSY);
}

static bool
asks_for_table(const uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < SA_DATA_AT)
		return false;
	return bytes[METHOD_AT] == SA_GET_TABLE || bytes[METHOD_AT] == SA_GET_TRACE_TABLE ||
	    bytes[METHOD_AT] == SA_GET_MULTI;
}

/* May it be looked at?  If not, it has been told why. */
static bool
may_ask(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	t->now_ms = now_ms;
	if (n_bytes > t->limits.request_max) {
		sa_refuse(t->sa, from, bytes, n_bytes, SA_NO_RESOURCES);
		return false;
	}
	if (asks_for_table(bytes, n_bytes) && !sa_held_may(t->held, from->lid, now_ms)) {
		tell_busy(t, from, bytes, n_bytes, now_ms);
		return false;
	}
	return true;
}

void
sa_turns_at_once(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes,
    size_t n_bytes, int64_t now_ms)
{
	talkers_note(&t->talkers, from->lid, now_ms);
	if (may_ask(t, from, bytes, n_bytes, now_ms))
		sa_handle(t->sa, from, bytes, n_bytes, now_ms);
}

void
sa_turns_sent(struct sa_turns *t, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	t->sent_bytes += n_bytes;
	if (rmpp_is_active(bytes))
		sa_held_add(t->held, to->lid, n_bytes, t->now_ms);
}

/* ------------------------------------------------------------ tables begun */

static size_t
place_of(const struct sa_turns *t, const struct sa_job *j)
{
	size_t i = 0;

	while (i < t->begun.n && t->begun.item[i] != j)
		i++;
	return i;
}

static bool
is_full(const struct sa_turns *t)
{
	return t->begun.n > 0 && t->begun_bytes >= t->limits.begun_max;
}

/* It holds memory from now on.  Where there is none left it is to begin anew, later. */
static bool
enter(struct sa_turns *t, struct sa_job *j)
{
	if (is_full(t)) {
		sa_job_rewind(j);
		return true;
	}
	if (!fm_vec_push(&t->begun, j))
		return false;
	t->begun_bytes += sa_job_bytes(j);
	return true;
}

/* NULL: no memory, and told so. */
static struct sa_job *
enter_or_refuse(struct sa_turns *t, struct sa_job *j, const struct mad_addr *from,
    const uint8_t *bytes, size_t n_bytes)
{
	if (enter(t, j))
		return j;
	sa_job_free(j);
	sa_refuse(t->sa, from, bytes, n_bytes, SA_NO_RESOURCES);
	return NULL;
}

static void
leave(struct sa_turns *t, size_t place)
{
	memmove(&t->begun.item[place], &t->begun.item[place + 1],
	    (t->begun.n - place - 1) * sizeof(t->begun.item[0]));
	t->begun.n--;
}

/* The next slice, if it may grow; what is left, NULL: it is answered. */
static struct sa_job *
go_on(struct sa_turns *t, struct sa_job *j, const struct mad_addr *from, const uint8_t *bytes,
    size_t n_bytes)
{
	size_t place = place_of(t, j);

	if (place > 0 && is_full(t))
		return j;
	if (place < t->begun.n)
		t->begun_bytes -= sa_job_bytes(j);
	if (sa_go_on(t->sa, j, bytes, n_bytes)) {
		if (place < t->begun.n)
			leave(t, place);
		return NULL;
	}
	if (place == t->begun.n)
		return enter_or_refuse(t, j, from, bytes, n_bytes);
	t->begun_bytes += sa_job_bytes(j);
	return j;
}

static struct sa_job *
begin(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	struct sa_job *j = NULL;

	if (may_ask(t, from, bytes, n_bytes, now_ms))
		j = sa_begin(t->sa, from, bytes, n_bytes, now_ms);
	return j == NULL ? NULL : enter_or_refuse(t, j, from, bytes, n_bytes);
}

/* -------------------------------------------------------------------- turns */

bool
sa_turns_put(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes,
    int64_t now_ms)
{
	talkers_note(&t->talkers, from->lid, now_ms);
	if (sa_share_has(t->share, from, bytes, n_bytes) ||
	    sa_share_put(t->share, from, bytes, n_bytes))
		return true;
	tell_busy(t, from, bytes, n_bytes, now_ms);
	return false;
}

bool
sa_turns_step(struct sa_turns *t, int64_t now_ms)
{
	uint64_t looks = sa_counts(t->sa)->looked_at;
	struct mad_addr from;
	const uint8_t *bytes;
	size_t n_bytes;
	struct sa_job *j;

	if (!sa_share_take(t->share, &from, &bytes, &n_bytes))
		return false;
	t->sent_bytes = 0;
	t->now_ms = now_ms;
	j = sa_share_work(t->share);
	if (j != NULL)
		j = go_on(t, j, &from, bytes, n_bytes);
	else
		j = begin(t, &from, bytes, n_bytes, now_ms);
	looks = sa_counts(t->sa)->looked_at - looks;
	sa_share_charge(
	    t->share, 1 + (uint32_t)(t->sent_bytes / COST_BYTES) + (uint32_t)(looks / COST_LOOKS));
	if (j != NULL)
		sa_share_put_back(t->share, j);
	return true;
}
