/* SPDX-License-Identifier: BSD-2-Clause */
/* core/dist/claimed.c - claims of ports to addresses, judged. */
#include "core/dist/claimed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/events/tell.h"
#include "core/wire/ip_service.h"
#include "lib/algo/search.h"
#include "lib/clock.h"

struct judging {
	struct claimed *out;
	const struct ip_claims *claims;
	const struct sa_view *v;
	const struct addresses *file; /* NULL: none */
	const struct published *told;
	FM_VEC(struct blob_reg) had; /* what hosts have been told, ascending by address */
	bool knows_had, memory_is_out;
};

void
claimed_fini(struct claimed *c)
{
	fm_vec_fini(&c->item);
	fm_vec_fini(&c->contest);
	memset(c, 0, sizeof(*c));
}

static bool
is_alias_alone(const struct ip_claim *c)
{
	return c->hardware == 0;
}

/* ------------------------------------------------------------ who has it so far */

static int
by_ip(const void *x, const void *y)
{
	const struct blob_reg *a = x, *b = y;

	return memcmp(a->ip, b->ip, sizeof(a->ip));
}

static void
learn_had(struct judging *j)
{
	struct blob_reg reg;

	j->knows_had = true;
	for (uint32_t b = 0; b < PLACE_BLOCKS; b++) {
		const struct pub_blob *of = &j->told->name[b];
		size_t at = of->n > 0 ? blob_names_end(of->bytes, of->n) : 0;

		for (; at + BLOB_REG_BYTES <= of->n; at += BLOB_REG_BYTES) {
			blob_reg_get(of->bytes + at, &reg);
			j->memory_is_out |= !fm_vec_push(&j->had, reg);
		}
	}
	if (j->had.n > 0)
		qsort(j->had.item, j->had.n, sizeof(j->had.item[0]), by_ip);
}

/* Have hosts been told that this one has it? */
static bool
had_it(struct judging *j, const struct ip_claim *c)
{
	size_t at;

	if (!j->knows_had)
		learn_had(j);
	fm_lower_bound(at, j->had.n, i, memcmp(j->had.item[i].ip, c->ip, sizeof(c->ip)) < 0);
	return at < j->had.n && memcmp(j->had.item[at].ip, c->ip, sizeof(c->ip)) == 0 &&
	    j->had.item[at].guid == c->guid;
}

/* ------------------------------------------------------------------ the file */

/* Does the file have the address?  *guid: whose it is, 0: of a host that is not here. */
static bool
is_in_file(const struct judging *j, const uint8_t ip[16], uint64_t *guid)
{
	const struct pub_blob *b = &j->told->one[BLOB_ADDR];
	size_t n = j->file != NULL ? j->file->item.n : 0, at;

	fm_lower_bound(at, n, i, memcmp(j->file->item.item[i].ip, ip, 16) < 0);
	if (at == n || memcmp(j->file->item.item[at].ip, ip, 16) != 0)
		return false;
	n = b->n / BLOB_ADDR_BYTES;
	fm_lower_bound(at, n, i, memcmp(b->bytes + i * BLOB_ADDR_BYTES, ip, 16) < 0);
	*guid = 0;
	if (at < n && memcmp(b->bytes + at * BLOB_ADDR_BYTES, ip, 16) == 0)
		*guid = blob_get64(b->bytes + at * BLOB_ADDR_BYTES + 16);
	return true;
}

/* -------------------------------------------------------------------- judging */

static void
name_of(const struct sa_view *v, uint64_t port, char name[BLOB_MOST_NAME + 1])
{
	uint32_t e = sa_view_end_of_guid(v, port);

	name[0] = '\0';
	if (e != FM_NONE)
		addresses_host_name(v->node[v->end[e].node]->desc, name);
}

static void
contest(struct judging *j, const struct ip_claim *c, uint64_t has, bool by_file)
{
	struct contest one = { .claims = c->port, .has = has, .by_file = by_file };

	j->out->n_contests++;
	if (j->out->contest.n >= CONTESTS_MOST)
		return;
	memcpy(one.ip, c->ip, sizeof(one.ip));
	name_of(j->v, c->port, one.claims_name);
	name_of(j->v, has, one.has_name);
	j->memory_is_out |= !fm_vec_push(&j->out->contest, one);
}

static void
grant(struct judging *j, const struct ip_claim *c)
{
	const struct sa_end *e = &j->v->end[sa_view_end_of_guid(j->v, c->port)];
	struct blob_reg reg = {
		.guid = c->guid, .hardware = c->hardware, .pkey = c->pkey, .lid = e->lid
	};

	memcpy(reg.ip, c->ip, sizeof(reg.ip));
	j->memory_is_out |= !fm_vec_push(&j->out->item, reg);
}

static bool
is_here(const struct judging *j, const struct ip_claim *c)
{
	return sa_view_end_of_guid(j->v, c->port) != FM_NONE;
}

/* Of claims first..last - 1 to one address; NULL: of none that is here. */
static const struct ip_claim *
who_has(struct judging *j, size_t first, size_t last)
{
	const struct ip_claim *has = NULL;
	unsigned n = 0;

	for (size_t i = first; i < last; i++)
		if (is_here(j, &j->claims->item[i]) && n++ == 0)
			has = &j->claims->item[i];
	for (size_t i = first; n > 1 && i < last; i++)
		if (is_here(j, &j->claims->item[i]) && had_it(j, &j->claims->item[i]))
			return &j->claims->item[i];
	return has;
}

static void
judge_address(struct judging *j, size_t first, size_t last)
{
	const struct ip_claim *c = j->claims->item, *has = NULL;
	uint64_t of_file = 0;
	bool by_file = is_in_file(j, c[first].ip, &of_file);

	if (!by_file)
		has = who_has(j, first, last);
	for (size_t i = first; i < last; i++) {
		if (!is_here(j, &c[i]))
			continue;
		if (by_file ? c[i].port == of_file || c[i].guid == of_file : &c[i] == has)
			grant(j, &c[i]);
		else
			contest(j, &c[i], by_file ? of_file : has->port, by_file);
	}
}

static int
by_lid(const void *x, const void *y)
{
	const struct blob_reg *a = x, *b = y;
	uint8_t p[BLOB_REG_BYTES], q[BLOB_REG_BYTES];

	if (a->lid != b->lid)
		return a->lid < b->lid ? -1 : 1;
	if ((a->hardware == 0) != (b->hardware == 0))
		return a->hardware == 0 ? 1 : -1;
	blob_reg_put(p, a);
	blob_reg_put(q, b);
	return memcmp(p, q, sizeof(p));
}

/* Of a port, and of a block of LIDs, so many: alias GUIDs alone are left out first. */
static void
leave_out(struct claimed *c)
{
	size_t kept = 0, of_port = 0, of_block = 0;

	for (size_t i = 0; i < c->item.n; i++) {
		const struct blob_reg *r = &c->item.item[i],
				      *last = kept > 0 ? &c->item.item[kept - 1] : NULL;

		if (last == NULL || last->lid != r->lid)
			of_port = 0;
		if (last == NULL || last->lid / BLOB_BLOCK_LIDS != r->lid / BLOB_BLOCK_LIDS)
			of_block = 0;
		if (of_port == CLAIMED_MOST_OF_PORT || of_block == BLOB_MOST_REG) {
			c->n_left_out++;
			continue;
		}
		of_port++;
		of_block++;
		c->item.item[kept++] = *r;
	}
	c->item.n = kept;
}

static void
judge_all(struct judging *j)
{
	const struct ip_claim *c = j->claims->item;
	size_t i = 0, next;

	for (; i < j->claims->n; i = next) {
		next = i + 1;
		if (is_alias_alone(&c[i])) {
			if (is_here(j, &c[i]))
				grant(j, &c[i]);
			continue;
		}
		while (next < j->claims->n && memcmp(c[next].ip, c[i].ip, sizeof(c[i].ip)) == 0)
			next++;
		judge_address(j, i, next);
	}
}

bool
claimed_make(struct claimed *out, const struct ip_claims *claims, const struct sa_view *v,
    const struct addresses *file, const struct published *told)
{
	struct judging j = { .out = out, .claims = claims, .v = v, .file = file, .told = told };

	out->item.n = out->contest.n = 0;
	out->n_contests = out->n_left_out = 0;
	judge_all(&j);
	if (out->item.n > 0)
		qsort(out->item.item, out->item.n, sizeof(out->item.item[0]), by_lid);
	leave_out(out);
	fm_vec_fini(&j.had);
	return !j.memory_is_out;
}

/* -------------------------------------------------------------------- telling */

const char *
contest_say(const struct contest *c, char text[CONTEST_SENTENCE])
{
	char ip[IP_TEXT], has[BLOB_MOST_NAME + 32];

	if (c->has != 0)
		snprintf(has, sizeof(has), "port 0x%016" PRIx64 "%s%s%s", c->has,
		    c->has_name[0] != '\0' ? " (" : "", c->has_name,
		    c->has_name[0] != '\0' ? ")" : "");
	else
		snprintf(has, sizeof(has), "a host that is not here");
	snprintf(text, CONTEST_SENTENCE, "port 0x%016" PRIx64 "%s%s%s claims %s, which %s%s",
	    c->claims, c->claims_name[0] != '\0' ? " (" : "", c->claims_name,
	    c->claims_name[0] != '\0' ? ")" : "", ip_text(c->ip, ip),
	    c->by_file ? "the file of addresses gives to " : "is registered by ", has);
	return text;
}

static int
compare(const struct contest *a, const struct contest *b)
{
	int d = memcmp(a->ip, b->ip, sizeof(a->ip));

	return d != 0 ? d : (a->claims > b->claims) - (a->claims < b->claims);
}

static void
tell_begin(struct contest *c)
{
	char text[CONTEST_SENTENCE];

	c->since_ms = fm_clock_ms(CLOCK_MONOTONIC);
	c->event = events_add(EVENT_ADDRESS_CONTESTED, FM_LOG_WARN, "dist", NULL,
	    "%s; hosts are told of that one alone", contest_say(c, text));
}

static void
tell_end(const struct contest *c)
{
	char text[CONTEST_SENTENCE];

	event_end(
	    c->event, EVENT_ADDRESS_CONTESTED, "dist", "it is settled: %s", contest_say(c, text));
}

void
claimed_tell(struct claimed *now, const struct claimed *before)
{
	size_t i = 0, k = 0;

	while (i < now->contest.n || k < before->contest.n) {
		struct contest *a = i < now->contest.n ? &now->contest.item[i] : NULL;
		const struct contest *b = k < before->contest.n ? &before->contest.item[k] : NULL;
		int d = a == NULL ? 1 : b == NULL ? -1 : compare(a, b);

		if (d < 0)
			tell_begin(a);
		else if (d > 0)
			tell_end(b);
		else {
			a->event = b->event;
			a->since_ms = b->since_ms;
		}
		i += d <= 0;
		k += d >= 0;
	}
	if (now->n_left_out != before->n_left_out && now->n_left_out > 0)
		log_warn("dist",
		    "%u registered addresses and alias GUIDs are not published: hosts take %d of a "
		    "port, and %d of 64 LIDs",
		    now->n_left_out, CLAIMED_MOST_OF_PORT, BLOB_MOST_REG);
}
