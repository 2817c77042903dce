/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is data.mdb sound, before LMDB maps it?  LMDB follows what stands in its pages without a
 * look at it: a page that a disk or a copy has spoilt kills us, at every start.
 *
 * The file (format 1, in the byte order of the machine) is of pages.  The first two are
 * meta pages, of which the one of the later transaction holds: with the roots of two trees,
 * of free pages and of databases by name, whose roots are again in its leaves.  A page
 * begins with its own number; branches and leaves have offsets of nodes next, sorted by key;
 * a long value has pages of its own.  Sound means: each page is reached once, is what is
 * looked for and holds what it says, and free ones are not in use.  These may lie behind the
 * end of the file: pages that one transaction took and gave back are not written.  What values
 * mean is for those who read them.  O(bytes).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/store/store_internal.h"
#include "lib/bitset.h"

#define MAGIC 0xbeefc0deu
#define FORMAT 1
#define N_METAS 2
#define MAX_DEPTH 32
#define NO_PAGE SIZE_MAX

enum { BRANCH = 1, LEAF = 2, OVERFLOW = 4, META = 8 }; /* of pages */
enum { LONG_VALUE = 1, DATABASE = 2 };		       /* of nodes */
enum tree { FREE_PAGES, NAMES, RECORDS };	       /* what leaves hold */

struct page {
	size_t number;
	uint16_t pad, flags;
	union {
		struct {
			uint16_t lower, upper; /* where offsets end, where nodes begin */
		};
		uint32_t n_pages; /* OVERFLOW */
	};
};

struct node {
	uint16_t half[2]; /* size of the value, or with flags the number of a page */
	uint16_t flags, n_key;
};

struct database {
	uint32_t page_bytes; /* of FREE_PAGES */
	uint16_t flags, depth;
	size_t n_branches, n_leaves, n_overflow, n_entries, root;
};

struct meta {
	struct page page;
	uint32_t magic, format;
	void *address;
	size_t map_bytes;
	struct database db[2]; /* FREE_PAGES, NAMES */
	size_t last_page, transaction;
};

struct check {
	uint8_t *bytes; /* [n_bytes] the file */
	size_t n_bytes, page_bytes, last_page;
	size_t n_pages;	  /* in the file */
	uint64_t *seen;	  /* bitset [last_page + 1] */
	size_t n_entries; /* of the tree that is walked */
};

static bool walk_tree(struct check *c, const struct database *db, enum tree tree);

/* n pages from this number, which nothing else uses; NULL: they cannot be. */
static const struct page *
take_pages(struct check *c, size_t number, size_t n)
{
	const struct page *p;

	if (number < N_METAS || number >= c->n_pages || n > c->n_pages - number ||
	    n > c->last_page + 1 - number)
		return NULL;
	for (size_t i = number; i < number + n; i++) {
		if (fm_bit_test(c->seen, i))
			return NULL;
		fm_bit_set(c->seen, i);
	}
	p = (const void *)(c->bytes + number * c->page_bytes);
	return p->number == number ? p : NULL;
}

/* ------------------------------------------------------------------- nodes */

static size_t
low_first(const struct node *n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return n->half[1] | (size_t)n->half[0] << 16;
#else
	return n->half[0] | (size_t)n->half[1] << 16;
#endif
}

static size_t
child_of(const struct node *n)
{
	return sizeof(size_t) > 4 ? low_first(n) | (size_t)((uint64_t)n->flags << 32)
				  : low_first(n);
}

/* Node i of a page, all within it; NULL: it is not. */
static const struct node *
node_at(const struct check *c, const struct page *p, unsigned i)
{
	const uint8_t *page = (const uint8_t *)p;
	uint16_t at;
	const struct node *n;
	size_t size;

	memcpy(&at, page + sizeof(*p) + i * sizeof(at), sizeof(at));
	if (at % 2 != 0 || at < p->upper || at + sizeof(*n) > c->page_bytes)
		return NULL;
	n = (const void *)(page + at);
	size = p->flags == BRANCH	   ? 0
	    : (n->flags & LONG_VALUE) != 0 ? sizeof(size_t)
					   : low_first(n);
	return size <= c->page_bytes && at + sizeof(*n) + n->n_key + size <= c->page_bytes ? n
											   : NULL;
}

/* Does a's key stand before b's? */
static bool
is_before(const struct node *a, const struct node *b, enum tree tree)
{
	size_t n = a->n_key < b->n_key ? a->n_key : b->n_key, x, y;
	int order;

	if (tree == FREE_PAGES) {
		memcpy(&x, a + 1, sizeof(x));
		memcpy(&y, b + 1, sizeof(y));
		return x < y;
	}
	order = memcmp(a + 1, b + 1, n);
	return order < 0 || (order == 0 && a->n_key < b->n_key);
}

/* A list of free pages, its length first, from the last page on. */
static bool
take_free(struct check *c, const uint8_t *value, size_t size)
{
	size_t n, number, before = SIZE_MAX;

	if (size < sizeof(n))
		return false;
	memcpy(&n, value, sizeof(n));
	if (n > size / sizeof(n) - 1)
		return false;
	for (size_t i = 1; i <= n; i++) {
		memcpy(&number, value + i * sizeof(number), sizeof(number));
		if (number < N_METAS || number > c->last_page || number >= before ||
		    fm_bit_test(c->seen, number))
			return false;
		fm_bit_set(c->seen, number);
		before = number;
	}
	return true;
}

static bool
check_value(struct check *c, const struct node *n, enum tree tree)
{
	const uint8_t *value = (const uint8_t *)(n + 1) + n->n_key;
	size_t size = low_first(n), number, n_pages;
	const struct page *p;
	struct database db;

	if (n->flags == LONG_VALUE) {
		memcpy(&number, value, sizeof(number));
		n_pages = (size + sizeof(*p) + c->page_bytes - 1) / c->page_bytes;
		p = take_pages(c, number, n_pages);
		if (p == NULL || p->flags != OVERFLOW || p->n_pages != n_pages)
			return false;
		value = (const uint8_t *)(p + 1);
	}
	if (tree == FREE_PAGES)
		return n->flags != DATABASE && take_free(c, value, size);
	if (tree == RECORDS)
		return n->flags == 0 || n->flags == LONG_VALUE;
	if (n->flags != DATABASE || size != sizeof(db))
		return false;
	memcpy(&db, value, sizeof(db));
	return walk_tree(c, &db, RECORDS);
}

/* ------------------------------------------------------------------- trees */

static bool
walk(struct check *c, size_t number, unsigned depth, enum tree tree)
{
	const struct page *p = take_pages(c, number, 1);
	const struct node *n, *before = NULL;
	unsigned count;

	if (p == NULL || p->flags != (depth > 1 ? BRANCH : LEAF) || p->lower < sizeof(*p) ||
	    p->lower > p->upper || p->upper > c->page_bytes)
		return false;
	count = (p->lower - (unsigned)sizeof(*p)) / 2;
	for (unsigned i = 0; i < count; i++, before = n) {
		bool is_first_child = depth > 1 && i == 0; /* its key is not looked at */

		if ((n = node_at(c, p, i)) == NULL ||
		    (tree == FREE_PAGES && !is_first_child && n->n_key != sizeof(size_t)) ||
		    (i > (depth > 1 ? 1 : 0) && !is_before(before, n, tree)) ||
		    !(depth > 1 ? walk(c, child_of(n), depth - 1, tree) : check_value(c, n, tree)))
			return false;
	}
	if (depth == 1)
		c->n_entries += count;
	return count > 0;
}

static bool
walk_tree(struct check *c, const struct database *db, enum tree tree)
{
	size_t above = c->n_entries;
	bool ok;

	if (db->root == NO_PAGE)
		return db->n_entries == 0;
	if (db->depth == 0 || db->depth > MAX_DEPTH)
		return false;
	c->n_entries = 0;
	ok = walk(c, db->root, db->depth, tree) && c->n_entries == db->n_entries;
	c->n_entries = above;
	return ok;
}

/* -------------------------------------------------------------------- file */

/* The meta page that holds; NULL: the file is none of LMDB's. */
static const struct meta *
find_meta(const struct check *c)
{
	const struct meta *m[N_METAS], *later;
	size_t page_bytes;

	if (c->n_bytes < sizeof(*later))
		return NULL;
	m[0] = (const void *)c->bytes;
	page_bytes = m[0]->db[FREE_PAGES].page_bytes;
	if (page_bytes < 512 || page_bytes > 65536 || (page_bytes & (page_bytes - 1)) != 0 ||
	    page_bytes * N_METAS > c->n_bytes)
		return NULL;
	m[1] = (const void *)(c->bytes + page_bytes);
	for (size_t i = 0; i < N_METAS; i++)
		if (m[i]->page.flags != META || m[i]->magic != MAGIC || m[i]->format != FORMAT ||
		    m[i]->db[FREE_PAGES].page_bytes != page_bytes)
			return NULL;
	later = m[m[0]->transaction < m[1]->transaction];
	return later == m[later->transaction & 1] ? later : NULL;
}

static int
check_bytes(struct check *c)
{
	const struct meta *m = find_meta(c);
	bool ok;

	if (m == NULL)
		return MDB_INVALID;
	c->page_bytes = m->db[FREE_PAGES].page_bytes;
	c->n_pages = c->n_bytes / c->page_bytes;
	c->last_page = m->last_page;
	if (c->last_page < N_METAS - 1 || c->last_page >= STORE_MAP_BYTES / c->page_bytes)
		return MDB_CORRUPTED;
	c->seen = calloc(FM_BITSET_WORDS(c->last_page + 1), sizeof(*c->seen));
	if (c->seen == NULL)
		return ENOMEM;
	ok = walk_tree(c, &m->db[NAMES], NAMES) && walk_tree(c, &m->db[FREE_PAGES], FREE_PAGES);
	free(c->seen);
	return ok ? 0 : MDB_CORRUPTED;
}

/* Memory that begins as pages do. */
static int
read_whole(int fd, struct check *c)
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return MDB_INVALID;
	c->bytes = malloc((size_t)st.st_size + 1);
	if (c->bytes == NULL)
		return ENOMEM;
	while ((got = read(fd, c->bytes + c->n_bytes, (size_t)st.st_size - c->n_bytes)) > 0)
		c->n_bytes += (size_t)got;
	return got < 0 ? errno : 0;
}

static int
write_whole(int fd, const struct check *c)
{
	size_t done = 0;
	ssize_t n;

	if (ftruncate(fd, 0) != 0)
		return errno;
	while (done < c->n_bytes) {
		n = pwrite(fd, c->bytes + done, c->n_bytes - done, (off_t)done);
		if (n < 0)
			return errno;
		done += (size_t)n;
	}
	return 0;
}

static int
check_once(const char *path, const int *copy, size_t *transaction)
{
	struct check c = { 0 };
	const struct meta *m;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	rc = read_whole(fd, &c);
	close(fd);
	if (rc == 0) {
		m = find_meta(&c);
		*transaction = m != NULL ? m->transaction : 0;
		rc = check_bytes(&c);
	}
	if (rc == 0 && copy != NULL)
		rc = write_whole(*copy, &c);
	free(c.bytes);
	return rc;
}

int
store_check(const char *dir, const int *copy)
{
	char path[4096];
	size_t transaction = 0, before;
	int rc;

	snprintf(path, sizeof(path), "%s/data.mdb", dir);
	do { /* another process may have written meanwhile */
		before = transaction;
		rc = check_once(path, copy, &transaction);
	} while (rc == MDB_CORRUPTED && transaction != before);
	return rc;
}
