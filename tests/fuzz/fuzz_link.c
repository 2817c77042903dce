/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what a master sends, or a standby: each frame is read as data of every type, and a
 * mirror takes it up to the first that is refused.  Nothing costs much more memory than it is long.
 *
 * The first byte says in pieces of how many bytes the others come, and whether term and number of
 * each frame are mended, so that a mirror looks at its data.
 */
#include <stdio.h>
#include <string.h>

#include "core/standby/diff.h"
#include "core/standby/mirror.h"
#include "tests/fuzz/temp_store.h"

#define MENDED 0x80
#define PIECE 0x7f
#define OF_EACH_BYTE 64	  /* bytes of memory at most, */
#define OF_ALL (1u << 20) /* besides this */

/* 0 where no sanitizer counts. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static size_t
allocated(void)
{
	return __sanitizer_get_current_allocated_bytes != NULL
	    ? __sanitizer_get_current_allocated_bytes()
	    : 0;
}

/* One half of the data as what makes a file of the other; and what makes one half of the other
 * does. */
static void
read_as_diff(const struct link_frame *f)
{
	const uint8_t *second = f->data + f->n / 2;
	size_t n = f->n / 2, n_second = f->n - n, n_made;
	struct fm_error err = { 0 };
	struct diff diff;
	uint8_t *made;

	if (diff_apply(f->data, n, second, n_second, &made, &n_made, &err) == 0)
		must(n_made <= 2 * n + n_second);
	else
		must(made == NULL && err.msg[0] != '\0');
	free(made);
	if (!diff_make(f->data, n, second, n_second, SIZE_MAX / 2, &diff))
		return;
	must(diff_apply(f->data, n, diff.item, diff.n, &made, &n_made, &err) == 0);
	must(n_made == n_second && memcmp(made, second, n_made) == 0);
	free(made);
	free(diff.item);
}

/* What all of them make of the same data. */
static void
read_as_each(const struct link_frame *f)
{
	struct link_hello hello;
	struct link_marks marks;
	struct link_records records;
	struct link_lids lids;
	struct link_part part;
	struct fm_error err;
	char text[80];

	if (link_read_hello(f, &hello, &err) == 0)
		must(hello.version == LINK_VERSION);
	link_read_marks(f, &marks, &err);
	if (link_read_records(f, &records, &err) == 0)
		for (uint32_t i = 0; i < records.n; i++)
			must(records.item[i].n_key - 1 < STORE_KEY_MAX);
	if (link_read_lids(f, &lids, &err) == 0)
		must(lids.n == f->n / 11);
	if (link_read_part(f, &part, &err) == 0)
		must(part.which < LINK_FILES && part.at + part.n <= part.n_all);
	read_as_diff(f);
	link_read_bye(f, text, sizeof(text));
	must(strlen(text) < sizeof(text));
	free(records.item);
	free(lids.item);
}

/* False: nothing more is taken. */
static bool
take(struct mirror *m, struct link_frame *f, bool mended)
{
	bool counts = f->type != LINK_ALIVE && f->type != LINK_PART;
	uint64_t was = mirror_seq(m);
	struct fm_error err = { 0 };

	read_as_each(f);
	if (mended) {
		f->term = was == 0 ? f->term : mirror_term(m);
		f->seq = was + 1;
	}
	if (mirror_take(m, f, 1000, &err) != 0) {
		must(err.msg[0] != '\0' && mirror_seq(m) == was);
		return false;
	}
	must(mirror_seq(m) == was + counts);
	must(!mirror_in_sync(m, 1000) || mirror_is_whole(m));
	return true;
}

static void
feed(struct mirror *m, struct evbuffer *in, const uint8_t *data, size_t size)
{
	size_t piece = 1 + (data[0] & PIECE) * 8u, before = allocated(), all = size;
	bool mended = (data[0] & MENDED) != 0, goes_on = true;

	for (data++, size--; size > 0 && goes_on;) {
		size_t n = piece < size ? piece : size;
		struct fm_error err = { 0 };
		struct link_frame f;
		int rc = 0;

		evbuffer_add(in, data, n);
		data += n;
		size -= n;
		while (goes_on && (rc = link_get(in, &f, &err)) == 1) {
			goes_on = take(m, &f, mended);
			link_drop(in, &f);
		}
		must(rc >= 0 || err.msg[0] != '\0');
		goes_on = goes_on && rc >= 0;
		must(allocated() <= before + OF_ALL + all * OF_EACH_BYTE);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[LINK_FILES][96];
	const char *paths[LINK_FILES];
	struct fm_error err = { 0 };
	struct evbuffer *in;
	struct mirror *m = NULL;
	int rc;

	fuzz_be_quiet();
	temp_store_begin();
	if (size == 0)
		return 0;
	for (unsigned i = 0; i < LINK_FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/file%u", temp_dir, i);
		paths[i] = path[i];
	}
	must((in = evbuffer_new()) != NULL && mirror_new(temp_store, paths, &m, &err) == 0);
	feed(m, in, data, size);
	rc = mirror_settle(m, &err);
	must(rc == 0 || strstr(err.msg, "a difference of ") != NULL);
	mirror_free(m);
	evbuffer_free(in);
	return 0;
}
