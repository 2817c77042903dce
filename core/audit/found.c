/* SPDX-License-Identifier: BSD-2-Clause */
/* core/audit/found.c - what differs is put in doubt, and told: a line a node, by kind and count. */
#include "core/audit/found.h"

#include <inttypes.h>

#include "core/ask/sweeper.h"
#include "core/events/tell.h"
#include "core/program/looks.h"
#include "core/text/sentence.h"

#define LINES_MOST 16 /* the others are counted */

static int
by_slot(const void *a, const void *b)
{
	const struct found_block *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void
found_drop(struct found *f, uint32_t slot)
{
	size_t n = 0;

	for (size_t i = 0; i < f->blocks.n; i++)
		if (f->blocks.item[i].slot < slot)
			f->blocks.item[n++] = f->blocks.item[i];
	f->blocks.n = n;
}

void
found_end_turn(struct found *f)
{
	fm_vec_fini(&f->before);
	memcpy(&f->before, &f->now, sizeof(f->before));
	memset(&f->now, 0, sizeof(f->now));
}

void
found_fini(struct found *f)
{
	fm_vec_fini(&f->blocks);
	fm_vec_fini(&f->now);
	fm_vec_fini(&f->before);
}

/* In so many turns in a row the node has held something else, this one told. */
static uint32_t
turns_in_a_row(struct found *f, uint32_t slot)
{
	struct found_node one = { slot, 1 };

	for (size_t i = 0; i < f->before.n; i++)
		if (f->before.item[i].slot == slot)
			one.n_turns = f->before.item[i].n_turns + 1;
	for (size_t i = 0; i < f->now.n; i++)
		if (f->now.item[i].slot == slot)
			return f->now.item[i].n_turns;
	(void)fm_vec_push(&f->now, one); /* else it is counted from the next turn on */
	return one.n_turns;
}

/* Of one node.  What nobody asked for is told at the first turn of a row, the second, the fourth,
 * ...; what somebody asked for, always. */
static void
log_differences(
    struct sweeper *s, struct found *f, const struct found_block *b, size_t n, bool is_asked_for)
{
	uint32_t n_turns = turns_in_a_row(f, b->slot), n_of[N_LOOK_KINDS] = { 0 };
	char name[128], text[512];
	struct sentence line = { .text = text, .size = sizeof(text) };
	const char *between = "";
	bool is_told;

	for (size_t i = 0; i < n; i++)
		n_of[b[i].kind]++;
	sentence_add(&line, "%s holds something else than fmd has written: ",
	    inv_name(inv_node(&s->inv, b->slot), name, sizeof(name)));
	for (unsigned k = 0; k < N_LOOK_KINDS; k++) {
		if (n_of[k] == 0)
			continue;
		sentence_add(&line, "%s%" PRIu32 " %s", between, n_of[k],
		    n_of[k] == 1 ? look_rows[k].one : look_rows[k].many);
		between = ", ";
	}
	if (n_turns > 1)
		sentence_add(&line, "; that is so for the %" PRIu32 ". turn in a row", n_turns);
	is_told = is_asked_for || (n_turns & (n_turns - 1)) == 0;
	events_add(is_told ? EVENT_READBACK_DIFFERS : EVENT_NONE,
	    is_told ? FM_LOG_WARN : FM_LOG_INFO, "audit", NULL, "%s; it is written again", text);
}

uint32_t
found_settle(struct sweeper *s, struct found *f, bool is_asked_for)
{
	uint32_t n_nodes = 0;

	if (f->blocks.n > 1)
		qsort(f->blocks.item, f->blocks.n, sizeof(*f->blocks.item), by_slot);
	for (size_t i = 0, n; i < f->blocks.n; i += n) {
		const struct found_block *b = &f->blocks.item[i];

		for (n = 0; i + n < f->blocks.n && b[n].slot == b->slot; n++)
			look_rows[b[n].kind].forget(s, b[n].slot, b[n].i);
		if (n_nodes++ < LINES_MOST)
			log_differences(s, f, b, n, is_asked_for);
	}
	if (n_nodes > LINES_MOST)
		events_add(EVENT_READBACK_DIFFERS, FM_LOG_WARN, "audit", NULL,
		    "so do %" PRIu32 " nodes more", n_nodes - LINES_MOST);
	f->blocks.n = 0;
	return n_nodes;
}
