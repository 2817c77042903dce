/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/book/history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/files.h"
#include "lib/hash.h"

#define MAGIC UINT64_C(0x31747368646d66) /* "fmdhst1" */

enum head_words { HEAD_MAGIC, HEAD_BYTES, HEAD_NODES, HEAD_PORTS, HEAD_SLOTS, HEAD_WORDS = 8 };
enum node_words { NODE_GUID, NODE_PORTS, NODE_WORDS };
enum slot_words { SLOT_NUMBER, SLOT_ENDED, SLOT_WORDS };
enum port_bytes { PORT_LOAD, PORT_WAIT, PORT_BYTES };
_Static_assert((int)PORT_BYTES == HISTORY_PORT_BYTES, "a port");

struct history {
	int fd;
	uint32_t n_nodes, n_ports;
	uint64_t *node;	 /* [n_nodes * NODE_WORDS] */
	uint64_t number; /* of the last reading */
	uint64_t *slot;	 /* one of them, as it stands in the file */
};

static size_t
slot_bytes(uint32_t n_ports)
{
	return 8 * (SLOT_WORDS + ((size_t)n_ports * PORT_BYTES + 7) / 8);
}

static uint64_t
slot_at(const struct history *h, uint64_t number)
{
	return 8 * (HEAD_WORDS + (uint64_t)h->n_nodes * NODE_WORDS) +
	    (number - 1) % HISTORY_SLOTS * slot_bytes(h->n_ports);
}

static uint64_t
file_bytes(const struct history *h)
{
	return slot_at(h, 1) + HISTORY_SLOTS * slot_bytes(h->n_ports);
}

/* Of words [n]; false: errno tells, 0: so much is not there. */
static bool
move(int fd, void *bytes, size_t n, uint64_t at, bool writes)
{
	char *from = bytes;

	while (n > 0) {
		ssize_t k = writes ? pwrite(fd, from, n, (off_t)at) : pread(fd, from, n, (off_t)at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			errno = k == 0 ? 0 : errno;
			return false;
		}
		from += k;
		at += (uint64_t)k;
		n -= (size_t)k;
	}
	return true;
}

/* ----------------------------------------------------------------------- bytes */

#define LOAD_STEP 1.04
#define WAIT_STEP 1.1

static uint8_t
as_byte(double steps)
{
	return steps < 2 ? 2 : steps > 255 ? 255 : (uint8_t)lround(steps);
}

static uint8_t
load_byte(double load)
{
	return load <= 0 ? 1 : as_byte(255 + log(load) / log(LOAD_STEP));
}

void
history_bytes(const struct book_port *p, uint8_t to[PORT_BYTES])
{
	double load = p->mbps > 0 ? (double)p->xmit_rate * 8 / 1e6 / p->mbps : 0;

	to[PORT_LOAD] = to[PORT_WAIT] = 0;
	if ((p->flags & (BOOK_MISSING | BOOK_NO_CABLE | BOOK_NEVER)) != 0 || p->span_ms == 0)
		return;
	to[PORT_LOAD] = load_byte(load);
	to[PORT_WAIT] =
	    p->wait_rate == 0 ? 1 : as_byte(2 + log((double)p->wait_rate) / log(WAIT_STEP));
}

static double
load_of(uint8_t byte)
{
	return byte < 2 ? byte - 1 : pow(LOAD_STEP, byte - 255);
}

static double
wait_of(uint8_t byte)
{
	return byte < 2 ? byte - 1 : pow(WAIT_STEP, byte - 2);
}

/* --------------------------------------------------------------------- reading */

void
history_close(struct history *h)
{
	if (h == NULL)
		return;
	if (h->fd >= 0)
		close(h->fd);
	free(h->node);
	free(h->slot);
	free(h);
}

static int
no_such_file(struct fm_error *err, const char *why)
{
	return fm_fail(err, FM_E_TOPOLOGY, "it is no file of readings: %s", why);
}

/* Rows of nodes stand behind one another. */
static bool
has_right_nodes(const struct history *h)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < h->n_nodes; i++) {
		uint64_t ports = h->node[(size_t)i * NODE_WORDS + NODE_PORTS];

		if (ports >> 32 != first || (uint32_t)ports > h->n_ports)
			return false;
		first += (uint32_t)ports;
	}
	return first == h->n_ports;
}

static int
look_at_file(struct history *h, struct fm_error *err)
{
	uint64_t head[HEAD_WORDS];
	struct stat st;

	if (fstat(h->fd, &st) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return no_such_file(err, "it is not even a file");
	if (!move(h->fd, head, sizeof(head), 0, false) || head[HEAD_MAGIC] != MAGIC)
		return no_such_file(err, "it does not begin as one");
	if (head[HEAD_NODES] > BOOK_MOST_NODES || head[HEAD_PORTS] > BOOK_MOST_PORTS ||
	    head[HEAD_SLOTS] != HISTORY_SLOTS)
		return no_such_file(err, "it has more rows than there can be");
	h->n_nodes = (uint32_t)head[HEAD_NODES];
	h->n_ports = (uint32_t)head[HEAD_PORTS];
	if (head[HEAD_BYTES] != file_bytes(h) || (uint64_t)st.st_size != head[HEAD_BYTES])
		return no_such_file(err, "it has another size than it says");
	h->node = calloc((size_t)h->n_nodes * NODE_WORDS + 1, 8);
	h->slot = malloc(slot_bytes(h->n_ports));
	if (h->node == NULL || h->slot == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	if (!move(h->fd, h->node, (size_t)h->n_nodes * NODE_WORDS * 8, 8 * HEAD_WORDS, false) ||
	    !has_right_nodes(h))
		return no_such_file(err, "its nodes do not fit its ports");
	return 0;
}

static int
open_file(const char *path, struct history **out, struct fm_error *err)
{
	struct history *h = calloc(1, sizeof(*h));
	int rc;

	*out = NULL;
	if (h == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	h->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	rc = h->fd < 0 ? fm_fail(err, FM_E_SYSTEM, "%s", strerror(errno)) : look_at_file(h, err);
	if (rc != 0) {
		history_close(h);
		return fm_context(err, "cannot read %.100s", path);
	}
	*out = h;
	return 0;
}

#define NUMBER_MOST (UINT64_C(1) << 48)

/* The number of the reading in a slot, 0: there is none. */
static uint64_t
number_in(const struct history *h, uint32_t slot, int64_t *ended_ms)
{
	uint64_t words[SLOT_WORDS];

	if (!move(h->fd, words, sizeof(words), slot_at(h, slot + 1), false) ||
	    words[SLOT_NUMBER] == 0 || words[SLOT_NUMBER] > NUMBER_MOST ||
	    (words[SLOT_NUMBER] - 1) % HISTORY_SLOTS != slot)
		return 0;
	*ended_ms = (int64_t)words[SLOT_ENDED];
	return words[SLOT_NUMBER];
}

/* Of the newest; 0: there are none. */
static uint64_t
last_number(const struct history *h)
{
	uint64_t last = 0, n;
	int64_t ended_ms;

	for (uint32_t i = 0; i < HISTORY_SLOTS; i++)
		last = (n = number_in(h, i, &ended_ms)) > last ? n : last;
	return last;
}

/* How many numbers are before `last` that a slot may have. */
static uint64_t
first_number(uint64_t last)
{
	return last > HISTORY_SLOTS ? last - HISTORY_SLOTS + 1 : 1;
}

static bool
find_row(const struct history *h, uint64_t guid, unsigned port, uint32_t *row)
{
	for (uint32_t i = 0; i < h->n_nodes; i++) {
		uint64_t ports = h->node[(size_t)i * NODE_WORDS + NODE_PORTS];

		if (h->node[(size_t)i * NODE_WORDS + NODE_GUID] != guid)
			continue;
		*row = (uint32_t)(ports >> 32) + port - 1;
		return port >= 1 && port <= (uint32_t)ports;
	}
	return false;
}

int
history_read(const char *path, uint64_t guid, unsigned port, struct history_point *points,
    uint32_t *n, struct fm_error *err)
{
	struct history *h;
	uint64_t last;
	uint32_t row;
	int rc = open_file(path, &h, err);

	if (rc != 0)
		return rc;
	if (!find_row(h, guid, port, &row)) {
		history_close(h);
		return fm_fail(err, FM_E_SYSTEM, "%.100s does not know the port", path);
	}
	last = last_number(h);
	*n = 0;
	for (uint64_t number = first_number(last); number <= last; number++) {
		uint32_t slot = (uint32_t)((number - 1) % HISTORY_SLOTS);
		uint64_t at = slot_at(h, number) + 8 * SLOT_WORDS + (uint64_t)row * PORT_BYTES;
		uint8_t bytes[PORT_BYTES];
		int64_t ended_ms, again_ms;

		if (number_in(h, slot, &ended_ms) == number &&
		    move(h->fd, bytes, sizeof(bytes), at, false) &&
		    number_in(h, slot, &again_ms) == number)
			points[(*n)++] = (struct history_point){ ended_ms,
				load_of(bytes[PORT_LOAD]), wait_of(bytes[PORT_WAIT]) };
	}
	history_close(h);
	return 0;
}

/* -------------------------------------------------------------------- the hour */

/* Of each port while slots are read. */
struct hour_sums {
	float *load;   /* sum */
	uint16_t *n;   /* of how many readings */
	uint8_t *wait; /* the greatest */
};

static bool
has_rows_of(const struct history *h, const struct book_node *nodes, uint32_t n_nodes)
{
	bool same = h->n_nodes == n_nodes;

	for (uint32_t i = 0; same && i < n_nodes; i++)
		same = h->node[(size_t)i * NODE_WORDS + NODE_GUID] == nodes[i].guid &&
		    h->node[(size_t)i * NODE_WORDS + NODE_PORTS] ==
			((uint64_t)nodes[i].first_port << 32 | nodes[i].n_ports);
	return same;
}

static void
add_slot(const struct history *h, const float load[256], struct hour_sums *s)
{
	const uint8_t *bytes = (const uint8_t *)(h->slot + SLOT_WORDS);

	for (uint32_t i = 0; i < h->n_ports; i++, bytes += PORT_BYTES) {
		s->load[i] += load[bytes[PORT_LOAD]];
		s->n[i] += bytes[PORT_LOAD] > 0;
		s->wait[i] = bytes[PORT_WAIT] > s->wait[i] ? bytes[PORT_WAIT] : s->wait[i];
	}
}

/* What its writer has begun meanwhile is left out. */
static void
add_slots(struct history *h, struct hour_sums *s)
{
	float load[256] = { 0 };
	int64_t ended_ms;

	for (unsigned b = 2; b < 256; b++)
		load[b] = (float)load_of((uint8_t)b);
	for (uint32_t slot = 0; slot < HISTORY_SLOTS; slot++) {
		uint64_t number = number_in(h, slot, &ended_ms);

		if (number > 0 &&
		    move(h->fd, h->slot, slot_bytes(h->n_ports), slot_at(h, number), false) &&
		    number_in(h, slot, &ended_ms) == number)
			add_slot(h, load, s);
	}
}

static int
sum_hour(struct history *h, uint8_t *bytes, struct fm_error *err)
{
	struct hour_sums s = { calloc((size_t)h->n_ports + 1, sizeof(*s.load)),
		calloc((size_t)h->n_ports + 1, sizeof(*s.n)),
		calloc((size_t)h->n_ports + 1, sizeof(*s.wait)) };
	bool ok = s.load != NULL && s.n != NULL && s.wait != NULL;

	if (ok)
		add_slots(h, &s);
	for (uint32_t i = 0; ok && i < h->n_ports; i++, bytes += PORT_BYTES) {
		bytes[PORT_LOAD] = s.n[i] == 0 ? 0 : load_byte((double)s.load[i] / s.n[i]);
		bytes[PORT_WAIT] = s.wait[i];
	}
	free(s.load);
	free(s.n);
	free(s.wait);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory");
}

int
history_hour(const char *path, const struct book_node *nodes, uint32_t n_nodes, uint8_t *bytes,
    struct fm_error *err)
{
	struct history *h;
	int rc = open_file(path, &h, err);

	if (rc != 0)
		return rc;
	rc = has_rows_of(h, nodes, n_nodes)
	    ? sum_hour(h, bytes, err)
	    : fm_fail(
		  err, FM_E_SYSTEM, "%.100s has other nodes than the counters: try again", path);
	history_close(h);
	return rc;
}

/* --------------------------------------------------------------------- writing */

/* What stands in h->slot, as the reading of a number. */
static bool
write_slot(struct history *h, uint64_t number)
{
	uint64_t none[SLOT_WORDS] = { 0 }, at = slot_at(h, number);

	h->slot[SLOT_NUMBER] = number;
	return move(h->fd, none, sizeof(none), at, true) &&
	    move(h->fd, h->slot + SLOT_WORDS, slot_bytes(h->n_ports) - sizeof(none),
		at + sizeof(none), true) &&
	    move(h->fd, h->slot, sizeof(none), at, true);
}

/* Where each row of h was in another; FM_HASH_NONE: nowhere.  NULL: out of memory. */
static uint32_t *
find_rows(const struct history *h, const struct history *was)
{
	uint32_t *old = malloc(((size_t)h->n_ports + 1) * sizeof(*old));
	struct fm_hash by_guid = { 0 };
	bool ok = old != NULL;

	for (uint32_t i = 0; ok && i < was->n_nodes; i++)
		ok = fm_hash_put(&by_guid, was->node[(size_t)i * NODE_WORDS + NODE_GUID], i);
	for (uint32_t i = 0; ok && i < h->n_nodes; i++) {
		const uint64_t *node = &h->node[(size_t)i * NODE_WORDS];
		uint32_t then = fm_hash_find(&by_guid, node[NODE_GUID]);
		uint64_t ports =
		    then != FM_HASH_NONE ? was->node[(size_t)then * NODE_WORDS + NODE_PORTS] : 0;

		for (uint32_t p = 0; p < (uint32_t)node[NODE_PORTS]; p++)
			old[(node[NODE_PORTS] >> 32) + p] =
			    p < (uint32_t)ports ? (uint32_t)(ports >> 32) + p : FM_HASH_NONE;
	}
	fm_hash_fini(&by_guid);
	if (ok)
		return old;
	free(old);
	return NULL;
}

/* False: errno tells; what cannot be read of the other is left out. */
static bool
take_over(struct history *h, struct history *was)
{
	uint32_t *old = find_rows(h, was);
	uint64_t last = last_number(was);
	const uint8_t *from = (const uint8_t *)(was->slot + SLOT_WORDS);
	uint8_t *to = (uint8_t *)(h->slot + SLOT_WORDS);
	bool ok = true;

	for (uint64_t n = first_number(last); ok && old != NULL && n <= last; n++) {
		if (!move(was->fd, was->slot, slot_bytes(was->n_ports), slot_at(was, n), false) ||
		    was->slot[SLOT_NUMBER] != n)
			continue;
		for (uint32_t i = 0; i < h->n_ports; i++)
			for (unsigned b = 0; b < PORT_BYTES; b++)
				to[(size_t)i * PORT_BYTES + b] = old[i] == FM_HASH_NONE
				    ? 0
				    : from[(size_t)old[i] * PORT_BYTES + b];
		h->slot[SLOT_ENDED] = was->slot[SLOT_ENDED];
		ok = write_slot(h, n);
	}
	h->number = last;
	free(old);
	return ok;
}

static bool
put_layout(struct history *h, const struct book_node *nodes)
{
	uint64_t head[HEAD_WORDS] = { [HEAD_MAGIC] = MAGIC,
		[HEAD_BYTES] = file_bytes(h),
		[HEAD_NODES] = h->n_nodes,
		[HEAD_PORTS] = h->n_ports,
		[HEAD_SLOTS] = HISTORY_SLOTS };

	for (uint32_t i = 0; i < h->n_nodes; i++) {
		h->node[(size_t)i * NODE_WORDS + NODE_GUID] = nodes[i].guid;
		h->node[(size_t)i * NODE_WORDS + NODE_PORTS] =
		    (uint64_t)nodes[i].first_port << 32 | nodes[i].n_ports;
	}
	return ftruncate(h->fd, (off_t)file_bytes(h)) == 0 &&
	    move(h->fd, head, sizeof(head), 0, true) &&
	    move(h->fd, h->node, (size_t)h->n_nodes * NODE_WORDS * 8, 8 * HEAD_WORDS, true);
}

static bool
make_file(struct history *h, const char *path, const struct book_node *nodes, gid_t group)
{
	struct history *was;
	struct fm_error err;
	bool ok = false;
	int why;

	h->fd = fm_file_new(path, 0600);
	if (h->fd < 0)
		return false;
	ok = (group == (gid_t)-1 ||
		 (fchown(h->fd, (uid_t)-1, group) == 0 && fchmod(h->fd, 0640) == 0)) &&
	    put_layout(h, nodes);
	if (ok && open_file(path, &was, &err) == 0) {
		ok = take_over(h, was);
		history_close(was);
	}
	why = errno;
	if (fm_file_done(path, ok) && ok)
		return true;
	errno = ok ? errno : why;
	return false;
}

int
history_make(const char *path, const struct book_node *nodes, uint32_t n_nodes, gid_t group,
    struct history **out, struct fm_error *err)
{
	struct history *h = calloc(1, sizeof(*h));
	int why;

	*out = NULL;
	if (h == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", path);
	h->fd = -1;
	h->n_nodes = n_nodes;
	for (uint32_t i = 0; i < n_nodes; i++)
		h->n_ports += nodes[i].n_ports;
	h->node = calloc((size_t)n_nodes * NODE_WORDS + 1, 8);
	h->slot = calloc(1, slot_bytes(h->n_ports));
	errno = ENOMEM;
	if (h->node != NULL && h->slot != NULL && make_file(h, path, nodes, group)) {
		*out = h;
		return 0;
	}
	why = errno;
	history_close(h);
	return fm_fail(err, fm_file_kind(why), "cannot write %s: %s", path, fm_file_why(why));
}

int
history_put(struct history *h, const struct book *b, int64_t ended_ms, struct fm_error *err)
{
	uint8_t *bytes = (uint8_t *)(h->slot + SLOT_WORDS);

	memset(h->slot, 0, slot_bytes(h->n_ports));
	for (uint32_t i = 0; i < h->n_ports; i++) {
		struct book_port p;

		book_see_port(b, i, &p);
		history_bytes(&p, bytes + (size_t)i * PORT_BYTES);
	}
	h->slot[SLOT_ENDED] = (uint64_t)ended_ms;
	if (write_slot(h, ++h->number))
		return 0;
	return fm_fail(err, fm_file_kind(errno), "readings are not kept: %s", fm_file_why(errno));
}
