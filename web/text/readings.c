/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/text/readings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A reader waits 10 ms for a node that its writer has begun and not ended.  There is one such node
 * at a time; a file with more of them is no writer's. */
#define MOST_UNREAD 8
#define WORDS_BYTES 48 /* {guid="0x0123456789abcdef",port="254"} */

void
readings_init(struct readings *r, const char *path)
{
	*r = (struct readings){ .path = path };
}

static void
forget(struct readings *r)
{
	book_reader_free(r->reader);
	free(r->node);
	free(r->port);
	free(r->words_at);
	fm_vec_fini(&r->words);
	fm_hash_fini(&r->of_guid);
	*r = (struct readings){ .path = r->path, .n_files = r->n_files };
}

void
readings_fini(struct readings *r)
{
	forget(r);
}

static int
is_spoilt(const struct readings *r, const char *why, struct fm_error *err)
{
	return fm_fail(
	    err, FM_E_TOPOLOGY, "the file of counters %.200s is spoilt: %s", r->path, why);
}

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for the file of counters");
}

/* ------------------------------------------------------------------------ open */

/* As its writer makes it: each node once, the ports of all behind one another. */
static int
read_nodes(struct readings *r, struct fm_error *err)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++) {
		struct book_node *n = &r->node[i];

		if (!book_read_node(r->reader, i, n) || n->first_port != row)
			return is_spoilt(r, "a node has not the rows that are its own", err);
		if (fm_hash_find(&r->of_guid, n->guid) != FM_HASH_NONE)
			return is_spoilt(r, "two nodes have the same GUID", err);
		if (!fm_hash_put(&r->of_guid, n->guid, i))
			return no_memory(err);
		row += n->n_ports;
	}
	return row == r->n_ports ? 0 : is_spoilt(r, "it has rows of no node", err);
}

static bool
write_words(struct readings *r)
{
	char words[WORDS_BYTES];

	for (uint32_t i = 0; i < r->n_nodes; i++)
		for (uint32_t k = 0; k < r->node[i].n_ports; k++) {
			int n = snprintf(words, sizeof(words),
			    "{guid=\"0x%016" PRIx64 "\",port=\"%" PRIu32 "\"}", r->node[i].guid,
			    k + 1);

			r->words_at[r->node[i].first_port + k] = (uint32_t)r->words.n;
			if (!fm_vec_append(&r->words, words, (size_t)n))
				return false;
		}
	r->words_at[r->n_ports] = (uint32_t)r->words.n;
	return true;
}

static int
open_file(struct readings *r, const struct stat *st, struct fm_error *err)
{
	int rc;

	forget(r);
	rc = book_open(r->path, &r->reader, err);
	if (rc != 0)
		return rc;
	r->dev = st->st_dev;
	r->ino = st->st_ino;
	r->n_files++;
	r->n_nodes = book_n_nodes(r->reader);
	r->n_ports = book_n_ports(r->reader);
	r->node = calloc((size_t)r->n_nodes + 1, sizeof(*r->node));
	r->port = calloc((size_t)r->n_ports + 1, sizeof(*r->port));
	r->words_at = calloc((size_t)r->n_ports + 1, sizeof(*r->words_at));
	if (r->node == NULL || r->port == NULL || r->words_at == NULL)
		return no_memory(err);
	rc = read_nodes(r, err);
	return rc != 0 || write_words(r) ? rc : no_memory(err);
}

/* ------------------------------------------------------------------------ rows */

/* What cannot be read stays as it was. */
static int
read_ports(struct readings *r, struct fm_error *err)
{
	uint32_t n_unread = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++) {
		struct book_node now;

		if (!book_read_node(r->reader, i, &now))
			return is_spoilt(r, "it has been cut short", err);
		r->node[i].flags = now.flags;
		if (!book_read_ports(r->reader, i, &r->node[i], r->port + r->node[i].first_port) &&
		    ++n_unread > MOST_UNREAD)
			return is_spoilt(r, "several nodes are half written", err);
	}
	return 0;
}

static bool
is_same(const struct readings *r, const struct stat *st)
{
	return r->reader != NULL && r->dev == st->st_dev && r->ino == st->st_ino;
}

static int
follow(struct readings *r, struct fm_error *err)
{
	struct book_head head;
	struct stat st = { 0 };
	bool is_new;
	int rc = 0;

	(void)stat(r->path, &st); /* why it cannot be read book_open() tells */
	is_new = !is_same(r, &st);
	if (is_new)
		rc = open_file(r, &st, err);
	if (rc != 0)
		return rc;
	if (!book_read_head(r->reader, &head))
		return is_spoilt(r, "its head does not hold", err);
	if (is_new || head.sweep != r->head.sweep)
		rc = read_ports(r, err);
	r->head = head;
	return rc;
}

int
readings_follow(struct readings *r, struct fm_error *err)
{
	int rc = follow(r, err);

	if (rc != 0)
		forget(r);
	return rc;
}

bool
readings_has(const struct readings *r, uint32_t row)
{
	const struct book_port *p = &r->port[row];

	return (p->flags & BOOK_NEVER) == 0 && p->read_ms > 0;
}
