/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fmd-web tells: the text of the fabric and of its ports, from answers of fmd and a file of
 * counters, good ones and spoilt ones; and what stands behind the question mark of an address.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/wire/wire.h"
#include "perf/book/book_words.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/exposition.h"
#include "perf/book/history.h"
#include "web/serve/query.h"
#include "web/text/cells.h"
#include "web/text/metrics.h"
#include "web/text/ports.h"

#define GUID(i) (UINT64_C(0x0200f40000000000) + (i))
#define N_NODES 4 /* two hosts, a leaf of 3 ports, a spine of 1 */

static char folder[FOLDER_ROOM], path[128];
static struct fm_error err;
static struct book *book;
static struct readings r;
static struct places p;
static struct levels l;
static struct hour h;
static struct text t;
static struct book_head head;

static const struct book_node nodes[N_NODES] = {
	{ GUID(1), 0, 1, 0, WIRE_NODE_CA, "host-1 \"a\\b\"" },
	{ GUID(2), 1, 1, 0, WIRE_NODE_CA, "host-2" },
	{ GUID(3), 2, 3, 0, WIRE_NODE_SWITCH, "leaf" },
	{ GUID(4), 5, 1, 0, WIRE_NODE_SWITCH, "spine" },
};
static const struct {
	uint32_t peer;
	uint8_t port;
} ends[] = { { 2, 1 }, { 2, 2 }, { 0, 1 }, { 1, 1 }, { 3, 1 }, { 2, 3 } };

/* A row whose counters are base, base + 1, ...: none are errors. */
static struct book_port
row_of(uint32_t row, uint64_t base)
{
	struct book_port port = { .read_ms = 1,
		.span_ms = 1000,
		.wait_rate = 10 * row,
		.peer = ends[row].peer,
		.peer_port = ends[row].port,
		.mbps = 100000,
		.planned = row };

	for (int c = COUNTER_XMIT_DATA; c <= COUNTER_XMIT_WAIT; c++)
		port.sum[c] = base + (uint64_t)(c - COUNTER_XMIT_DATA);
	return port;
}

static void
put_head(void)
{
	head.sweep++;
	head.sweep_ended_ms = 1000000;
	head.interval_ms = 10000;
	head.n_wanted = 6;
	head.n_read = 5;
	book_put_head(book, &head);
}

/* A new file in the place of the one before. */
static void
make_book(void)
{
	struct book *before = book;

	ck_assert_int_eq(book_make(path, nodes, N_NODES, (gid_t)-1, &book, &err), 0);
	for (uint32_t i = 0; i < 6; i++) {
		struct book_port port = row_of(i, 100 * i);

		book_put_port(book, i, &port);
	}
	put_head();
	ck_assert_int_eq(book_show(book, &err), 0);
	if (before != NULL)
		book_retire(before);
	book_close(before);
}

static void
set_up(void)
{
	folder_make(folder);
	snprintf(path, sizeof(path), "%s/counters", folder);
	head = (struct book_head){ 0 };
	make_book();
	readings_init(&r, path);
	places_init(&p);
}

static void
tear_down(void)
{
	book_close(book);
	book = NULL;
	readings_fini(&r);
	places_fini(&p);
	levels_fini(&l);
	hour_fini(&h);
	text_fini(&t);
	folder_remove(folder);
}

static void
follow(void)
{
	ck_assert_msg(readings_follow(&r, &err) == 0, "%s", err.msg);
}

/* The text as a string; the next begins anew. */
static const char *
words(void)
{
	ck_assert(!t.is_lost && fm_vec_push(&t.v, '\0'));
	t.v.n = 0;
	return t.v.item;
}

static void
has(const char *text, const char *line)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	ck_assert_msg(strstr(text, whole) != NULL, "no %s in %s", line, text);
}

/* It is as Prometheus wants it; how many series. */
static size_t
is_strict(const char *text)
{
	char *copy = strdup(text);
	struct exposition x = exposition_read(copy, strlen(copy));

	ck_assert_msg(x.why[0] == '\0', "line %zu: %s in %s", x.line, x.why, text);
	free(copy);
	return x.n_series;
}

static const char *
ports(enum ports_set set, const char *group, bool as_exporter)
{
	const struct ports_wanted w = { set, group, as_exporter };

	follow();
	ports_write(&r, &p, &h, &w, &t);
	return words();
}

static void
tell_fabric(const char *generation)
{
	json_t *fabric = json_pack("{s:s, s:[s,s], s:[s,s,s,s], s:[i,i,i,i], s:[i,i,i,i]}",
	    "generation", generation, "groups", "pod 1", "pod 2", "guids", "0x0200f40000000001",
	    "0x0200f40000000002", "0x0200f40000000003", "0x0200f40000000004", "levels", 0, 0, 1, 2,
	    "group", 0, 0, 0, -1);

	ck_assert_msg(places_read(&p, fabric, &err) == 0, "%s", err.msg);
	json_decref(fabric);
}

/* ---------------------------------------------------------------------- cells */

static uint64_t
number_at(size_t at, unsigned bytes)
{
	uint64_t n = 0;

	ck_assert_uint_le(at + bytes, t.v.n);
	while (bytes-- > 0)
		n = n << 8 | (uint8_t)t.v.item[at + bytes];
	return n;
}

/* Of a row: load, wait, errors, state. */
static unsigned
cell(uint32_t row, unsigned array)
{
	return (unsigned)number_at(CELLS_HEAD + 16 * N_NODES + 6 * array + row, 1);
}

static void
make_cells(const uint8_t *bytes)
{
	t.v.n = 0;
	follow();
	cells_write(&r, &h, bytes, &t);
	ck_assert(!t.is_lost && t.v.n == CELLS_HEAD + N_NODES * 16 + 6 * 4);
}

static void
check_places(void)
{
	static const char magic[4] = "FMDC";

	ck_assert_mem_eq(t.v.item, magic, 4);
	ck_assert_uint_eq(number_at(4, 4), CELLS_VERSION);
	ck_assert_uint_eq(number_at(8, 4), N_NODES);
	ck_assert_uint_eq(number_at(12, 4), 6);
	ck_assert_uint_eq(number_at(16, 8), head.sweep);
	ck_assert_uint_eq(number_at(24, 8), 1000000);
	ck_assert_uint_eq(number_at(32, 4), 10000);
	for (uint32_t i = 0; i < N_NODES; i++) {
		ck_assert_uint_eq(number_at(CELLS_HEAD + 8 * i, 8), nodes[i].guid);
		ck_assert_uint_eq(
		    number_at(CELLS_HEAD + 8 * N_NODES + 4 * i, 4), nodes[i].first_port);
		ck_assert_uint_eq(
		    number_at(CELLS_HEAD + 12 * N_NODES + 4 * i, 4), nodes[i].n_ports);
	}
}

START_TEST(cells)
{
	struct book_port port = row_of(2, 0);
	uint8_t hour[6 * HISTORY_PORT_BYTES] = { [6] = 77, [7] = 78 };

	make_cells(NULL);
	check_places();
	for (uint32_t row = 0; row < 6; row++) {
		ck_assert_uint_eq(cell(row, 0), 1); /* idle */
		ck_assert_uint_eq(cell(row, 2), 0);
		ck_assert_uint_eq(cell(row, 3), 0);
	}
	ck_assert_uint_eq(cell(0, 1), 1);  /* waits for nobody */
	ck_assert_uint_eq(cell(1, 1), 26); /* 2 + log 10 / log 1.1 */
	ck_assert(hour_keep(&h, &r, 0));
	port.xmit_rate = UINT64_C(12500000000);
	port.sum[COUNTER_SYMBOL_ERRORS] = 2;
	port.sum[COUNTER_LINK_DOWNED] = 3;
	port.sum[COUNTER_RELAY_ERRORS] = 1000; /* which are none */
	port.flags = BOOK_RESET;
	book_put_port(book, 2, &port);
	port.flags = BOOK_MISSING;
	book_put_port(book, 3, &port);
	port.flags = BOOK_NO_CABLE | BOOK_NEVER;
	book_put_port(book, 4, &port);
	put_head();
	make_cells(NULL);
	check_places();
	ck_assert_uint_eq(cell(2, 0), 255);
	ck_assert_uint_eq(cell(2, 2), 3); /* 5 errors: 1 + 2 */
	ck_assert_uint_eq(cell(2, 3), CELL_RESET);
	ck_assert(cell(3, 0) == 0 && cell(3, 1) == 0 && cell(3, 3) == CELL_MISSING);
	ck_assert(cell(4, 0) == 0 && cell(4, 3) == (CELL_NO_CABLE | CELL_NEVER));
	make_cells(hour);
	ck_assert(cell(3, 0) == 77 && cell(3, 1) == 78 && cell(2, 0) == 0);
	ck_assert_uint_eq(cell(2, 2), 3);
}
END_TEST

/* ----------------------------------------------------------------------- the text */

START_TEST(values)
{
	text_family(&t, "a", "gauge", "b");
	text_count(&t, "a", "", 0);
	text_count(&t, "a", "{b=\"c\"}", UINT64_MAX);
	text_words(&t, "a{b=\"");
	text_label(&t, "one \"two\" \\ three\nfour");
	text_words(&t, "\"}");
	text_real(&t, "", "", 0.25);
	ck_assert_str_eq(words(),
	    "# HELP a b\n# TYPE a gauge\na 0\na{b=\"c\"} 18446744073709551615\n"
	    "a{b=\"one \\\"two\\\" \\\\ three\\nfour\"} 0.25\n");
}
END_TEST

START_TEST(strictness)
{
	static const char *const wrong[] = { "a 1\n", "# HELP a b\n# TYPE a gauge\na 1",
		"# HELP a b\n# TYPE a counter\na 1\n",
		"# HELP a b\n# TYPE a gauge\na{b=\"\"\"} 1\n",
		"# HELP a b\n# TYPE a gauge\na 1\na 2\n", "# HELP a b\n# TYPE a gauge\na x\n",
		"# HELP a b\n# TYPE a gauge\na 1\n# HELP c b\n# TYPE c gauge\na{d=\"\"} 1\n" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *copy = strdup(wrong[i]);

		ck_assert_msg(exposition_read(copy, strlen(copy)).why[0] != '\0', "%s", wrong[i]);
		free(copy);
	}
}
END_TEST

/* ---------------------------------------------------------------------- the ports */

START_TEST(load)
{
	const char *text = ports(PORTS_LOAD, NULL, false);

	ck_assert_uint_eq(is_strict(text), 6 * 7);
	/* words of four bytes */
	has(text, "fmd_port_transmit_bytes_total{guid=\"0x0200f40000000003\",port=\"2\"} 1200");
	has(text, "fmd_port_receive_bytes_total{guid=\"0x0200f40000000003\",port=\"2\"} 1204");
	has(text, "fmd_port_transmit_packets_total{guid=\"0x0200f40000000003\",port=\"2\"} 302");
	has(text, "fmd_port_receive_packets_total{guid=\"0x0200f40000000001\",port=\"1\"} 3");
	has(text, "fmd_port_transmit_wait_ticks_total{guid=\"0x0200f40000000004\",port=\"1\"} 504");
	has(text,
	    "fmd_port_rate_bytes_per_second{guid=\"0x0200f40000000004\",port=\"1\"} 12500000000");
	has(text, "fmd_port_planned_routes{guid=\"0x0200f40000000002\",port=\"1\"} 1");
}
END_TEST

/* What an agent does not have, and what was never read, is not told as 0. */
START_TEST(not_known)
{
	struct book_port port = row_of(0, 7);
	const char *text;

	port.unread = 1u << COUNTER_XMIT_WAIT;
	port.mbps = 0;
	book_put_port(book, 0, &port);
	port = row_of(1, 7);
	port.flags = BOOK_MISSING | BOOK_NEVER;
	port.read_ms = 0;
	book_put_port(book, 1, &port);
	text = ports(PORTS_LOAD, NULL, false);
	ck_assert_uint_eq(is_strict(text), 5 * 7 - 2);
	ck_assert(strstr(text, "0x0200f40000000002") == NULL);
	ck_assert(strstr(text, "wait_ticks_total{guid=\"0x0200f40000000001") == NULL);
}
END_TEST

START_TEST(errors)
{
	struct book_port port = row_of(3, 0);
	const char *text = ports(PORTS_ERRORS, NULL, false);

	ck_assert_uint_eq(is_strict(text), 0);
	port.sum[COUNTER_RCV_ERRORS] = 5;
	port.sum[COUNTER_RELAY_ERRORS] = 9;  /* says nothing */
	port.sum[COUNTER_FEC_CORRECTED] = 9; /* nor does this */
	book_put_port(book, 3, &port);
	put_head();
	text = ports(PORTS_ERRORS, NULL, false);
	ck_assert_uint_eq(is_strict(text), 3);
	has(text,
	    "fmd_port_errors_total{guid=\"0x0200f40000000003\",port=\"2\",kind=\"PortRcvErrors\"} "
	    "5");
	has(text,
	    "fmd_port_errors_last_hour{guid=\"0x0200f40000000003\",port=\"2\",kind="
	    "\"PortRcvErrors\"} "
	    "0"); /* nothing is kept yet */
	has(text,
	    "fmd_port_info{guid=\"0x0200f40000000003\",port=\"2\",node=\"leaf\",peer=\"host-2\","
	    "peer_port=\"1\",group=\"\"} 1");
}
END_TEST

static uint64_t
last_hour(uint64_t sum)
{
	return hour_errors(&h, GUID(3), 2, COUNTER_RCV_ERRORS, sum);
}

START_TEST(hours)
{
	struct book_port port = row_of(3, 0);
	int64_t now_ms = 5;

	follow();
	ck_assert(hour_due_ms(&h) <= now_ms && hour_keep(&h, &r, now_ms));
	ck_assert_int_eq(hour_due_ms(&h), now_ms + HOUR_STEP_MS);
	/* the first error of a port counts, and so do more of them for an hour */
	ck_assert_uint_eq(last_hour(3), 3);
	port.sum[COUNTER_RCV_ERRORS] = 3;
	book_put_port(book, 3, &port);
	put_head();
	for (int i = 1; i <= HOUR_STEPS; i++) {
		follow();
		ck_assert(hour_keep(&h, &r, now_ms += HOUR_STEP_MS));
		ck_assert_uint_eq(last_hour(4), 4);
	}
	ck_assert(hour_keep(&h, &r, now_ms += HOUR_STEP_MS));
	ck_assert_uint_eq(last_hour(4), 1);
	ck_assert_uint_eq(last_hour(2), 2); /* fmd-perf was started again */
	ck_assert_uint_eq(hour_errors(&h, GUID(3), 1, COUNTER_RCV_ERRORS, 6), 6);
	ck_assert_uint_eq(hour_errors(&h, GUID(3), 2, COUNTER_LINK_DOWNED, 6), 6);
}
END_TEST

START_TEST(groups)
{
	const char *text;

	tell_fabric("1");
	text = ports(PORTS_ALL, "pod 1", false);
	ck_assert_uint_eq(is_strict(text), 5 * 8);
	has(text,
	    "fmd_port_info{guid=\"0x0200f40000000001\",port=\"1\",node=\"host-1 \\\"a\\\\b\\\"\","
	    "peer=\"leaf\",peer_port=\"1\",level=\"0\",group=\"pod 1\"} 1");
	ck_assert(places_has_group(&p, "pod 2") && !places_has_group(&p, "pod 3"));
	ck_assert_uint_eq(is_strict(ports(PORTS_ALL, "pod 2", false)), 0);
	ck_assert_uint_eq(is_strict(ports(PORTS_ALL, NULL, false)), 6 * 8);
}
END_TEST

START_TEST(exporter)
{
	const char *text = ports(PORTS_ERRORS, NULL, true);

	ck_assert_uint_eq(is_strict(text), 6 * 22 + 6);
	has(text,
	    "infiniband_switch_port_transmit_data_bytes_total{guid=\"0x0200f40000000003\",port="
	    "\"2\"} "
	    "1200");
	has(text,
	    "infiniband_hca_port_transmit_wait_total{guid=\"0x0200f40000000002\",port=\"1\"} 104");
	has(text,
	    "infiniband_switch_uplink_info{guid=\"0x0200f40000000003\",port=\"3\",switch=\"leaf\","
	    "uplink=\"spine\",uplink_port=\"1\",uplink_guid=\"0x0200f40000000004\",uplink_type="
	    "\"SW\"} "
	    "1");
}
END_TEST

/* -------------------------------------------------------------------- the levels */

static struct levels_pair
pair(unsigned from, unsigned to)
{
	return l.pair[from * LEVELS_ALL + to];
}

static void
send_on(uint32_t row, uint64_t base)
{
	struct book_port port = row_of(row, base);

	book_put_port(book, row, &port);
}

START_TEST(levels_rise)
{
	tell_fabric("1");
	follow();
	ck_assert(levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(0, 1).bytes, 0); /* what was sent before nobody has seen */
	ck_assert_uint_eq(pair(0, 1).n_ports, 2);
	ck_assert_uint_eq(pair(1, 0).worst, 30);
	ck_assert_uint_eq(pair(1, 0).p99, 20);
	send_on(0, 11);
	send_on(1, 105);
	put_head();
	follow();
	ck_assert(levels_add(&l, &r, &p) && levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(0, 1).bytes, 4 * 16);
	/* a sum that begins anew, and another file, take nothing away */
	send_on(0, 3);
	put_head();
	follow();
	ck_assert(levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(0, 1).bytes, 4 * 16);
	make_book();
	follow();
	ck_assert(levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(0, 1).bytes, 4 * 16);
	ck_assert_uint_eq(pair(1, 2).n_ports, 1);
}
END_TEST

/* Before fmd has told levels, and after. */
START_TEST(levels_unknown)
{
	follow();
	ck_assert(levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(LEVELS_MOST, LEVELS_MOST).n_ports, 6);
	tell_fabric("1");
	ck_assert(levels_add(&l, &r, &p));
	ck_assert_uint_eq(pair(LEVELS_MOST, LEVELS_MOST).n_ports, 0);
	ck_assert_uint_eq(pair(2, 1).n_ports, 1);
}
END_TEST

START_TEST(wrong_fabrics)
{
	static const char *const wrong[] = { "{}", "{\"generation\":\"1\",\"guids\":[\"0x1\"]}",
		"{\"generation\":\"1\",\"guids\":[\"x\"],\"levels\":[0],\"group\":[-1]}",
		("{\"generation\":\"1\",\"guids\":[\"0x1\"],\"levels\":[0],\"group\":[1],"
		 "\"groups\":[\"a\"]}"),
		"{\"generation\":\"1\",\"groups\":[1]}", "{\"same\":true}",
		"{\"generation\":\"01234567890123456789012345678901\"}" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *fabric = json_loads(wrong[i], 0, NULL);

		ck_assert_int_eq(places_read(&p, fabric, &err), FM_E_TOPOLOGY);
		ck_assert(p.generation[0] == '\0' && places_of(&p, 1).level == PLACES_NO_LEVEL);
		json_decref(fabric);
	}
}
END_TEST

/* ------------------------------------------------------------- files that are spoilt */

static void
write_words(uint64_t at, uint64_t value)
{
	int fd = open(path, O_WRONLY);

	ck_assert(fd >= 0 && pwrite(fd, &value, sizeof(value), (off_t)(8 * at)) == 8);
	close(fd);
}

static void
is_refused(const char *why)
{
	ck_assert_int_eq(readings_follow(&r, &err), FM_E_TOPOLOGY);
	ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
	ck_assert(r.n_nodes == 0 && r.n_ports == 0);
}

START_TEST(spoilt_nodes)
{
	write_words(book_node_at(1) + NODE_PORTS, book_pair(0, 1 << 8 | WIRE_NODE_CA));
	is_refused("a node has not the rows that are its own");
	make_book();
	write_words(book_node_at(1) + NODE_GUID, GUID(1));
	is_refused("two nodes have the same GUID");
	make_book();
	write_words(book_node_at(3) + NODE_PORTS, book_pair(5, WIRE_NODE_SWITCH));
	is_refused("it has rows of no node");
	make_book();
	follow();
	ck_assert_uint_eq(r.n_ports, 6);
	ck_assert_int_eq(truncate(path, 8 * BOOK_HEAD_WORDS), 0);
	put_head();
	is_refused("it has been cut short");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(readings_follow(&r, &err), FM_E_SYSTEM);
	make_book();
	follow();
}
END_TEST

/* A node that is being written is told as it was; a file full of them is no writer's, and is not
 * waited for. */
START_TEST(half_written)
{
	static struct book_node many[1000];
	struct book *b;

	follow();
	write_words(book_node_at(2) + NODE_SEQ, 1);
	put_head();
	ck_assert_uint_eq(is_strict(ports(PORTS_LOAD, NULL, false)), 6 * 7);
	for (uint32_t i = 0; i < 1000; i++)
		many[i] = (struct book_node){ GUID(i), i, 1, 0, WIRE_NODE_CA, "host" };
	ck_assert_int_eq(book_make(path, many, 1000, (gid_t)-1, &b, &err), 0);
	for (uint32_t i = 0; i < 1000; i++)
		book_begin(b, i);
	ck_assert_int_eq(book_show(b, &err), 0);
	is_refused("several nodes are half written");
	book_close(b);
}
END_TEST

/* --------------------------------------------------------------------- the whole fabric */

static const char status_text[] =
    "{\"sm_state\":\"master\",\"version\":\"1\",\"subnet_up\":true,\"converged\":false,"
    "\"troubles\":2,\"isolated\":1,\"unfinished\":{\"no-link\":2},"
    "\"as_read\":{\"unreachable_pairs\":null},"
    "\"sweep\":{\"switches\":2,\"cas\":2,\"routers\":0,\"links\":3,\"ports_not_active\":0,"
    "\"unreachable_pairs\":7,\"phases_ms\":{\"discover\":250.0}},"
    "\"sweeps\":{\"up\":3,\"failed\":0},"
    "\"smps\":{\"gets\":{\"NodeInfo\":5},\"sets\":{\"PortInfo\":2},\"retries\":1,\"timeouts\":4},"
    "\"sa\":{\"requests\":9,\"answered\":8,\"refused\":1,\"busy\":0},"
    "\"traps\":{\"received\":4,\"acted_upon\":1,\"put_off\":0,\"only_counted\":2,\"not_believed\":"
    "1},"
    "\"events\":{\"cable-lost\":6}}";
static const char dist_text[] =
    "{\"places\":[{\"place\":\"/srv\",\"epoch\":12,\"failures\":0},{\"place\":\"redis\"}]}";
static const char ha_text[] =
    "{\"role\":\"master\",\"term\":3,\"standbys\":[{\"state\":\"in sync\"},"
    "{\"state\":\"filling\"}]}";

static const char *
metrics(const char *status, const char *dist, const char *ha, json_t *health)
{
	json_t *s = json_loads(status, 0, NULL), *d = json_loads(dist, 0, NULL),
	       *a = json_loads(ha, 0, NULL);
	const struct metrics m = { s, d, a, health, r.n_nodes > 0 ? &r : NULL, &l, 1002500 };

	metrics_write(&m, &t);
	json_decref(s);
	json_decref(d);
	json_decref(a);
	return words();
}

START_TEST(of_the_fabric)
{
	const char *text;

	tell_fabric("1");
	follow();
	ck_assert(levels_add(&l, &r, &p));
	text = metrics(status_text, dist_text, ha_text, NULL);
	is_strict(text);
	has(text, "fmd_up 1");
	has(text, "fmd_build_info{version=\"1\"} 1");
	has(text, "fmd_sm_state{state=\"master\"} 1");
	has(text, "fmd_sm_state{state=\"standby\"} 0");
	has(text, "fmd_subnet_up 1");
	has(text, "fmd_converged 0");
	has(text, "fmd_unfinished{kind=\"no-link\"} 2");
	has(text, "fmd_unreachable_pairs 7");
	has(text, "fmd_isolated_cables 1");
	has(text, "fmd_nodes{type=\"switches\"} 2");
	has(text, "fmd_sweep_phase_seconds{phase=\"discover\"} 0.25");
	has(text, "fmd_sweeps_total{outcome=\"up\"} 3");
	has(text, "fmd_smps_total{attribute=\"PortInfo\",method=\"Set\"} 2");
	has(text, "fmd_smp_timeouts_total 4");
	has(text, "fmd_sa_requests_total{result=\"refused\"} 1");
	has(text, "fmd_traps_total{fate=\"only_counted\"} 2");
	has(text, "fmd_events_total{kind=\"cable-lost\"} 6");
	has(text, "fmd_dist_epoch{place=\"/srv\"} 12");
	has(text, "fmd_dist_failures_total{place=\"/srv\"} 0");
	has(text, "fmd_standbys_in_sync 1");
	has(text, "fmd_perf_up 1");
	has(text, "fmd_perf_interval_seconds 10");
	has(text, "fmd_perf_age_seconds 2.5");
	has(text, "fmd_perf_ports{state=\"missing\"} 1");
	has(text, "fmd_level_transmit_bytes_total{from=\"1\",to=\"2\"} 0");
	has(text, "fmd_level_wait_ticks_per_second{from=\"1\",to=\"0\",stat=\"max\"} 30");
}
END_TEST

/* What nobody has told is not told; nor is nonsense. */
START_TEST(of_no_fabric)
{
	const char *text = metrics("", "", "", NULL);

	ck_assert_uint_eq(is_strict(text), 2);
	ck_assert(strncmp(text, "# HELP fmd_up", 13) == 0);
	has(text, "fmd_up 0");
	has(text, "fmd_perf_up 0");
	text =
	    metrics("{\"sm_state\":3,\"sweep\":[],\"unfinished\":7,\"troubles\":\"x\",\"sa\":[1]}",
		"{\"places\":{}}", "{\"role\":\"standby\",\"term\":1}", json_null());
	ck_assert_uint_eq(is_strict(text), 2);
	has(text, "fmd_up 1");
}
END_TEST

START_TEST(of_bad_cables)
{
	json_t *cables = json_array(), *health;
	const char *text;

	for (int i = 0; i < 5000; i++)
		json_array_append_new(cables,
		    json_pack("{s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:s}", "health", "bad", "guid",
			"0x1", "port", i, "peer_guid", "0x2", "peer_port", 2, "node", "a\"b",
			"peer", "c", "reason", "symbol\nerrors"));
	health =
	    json_pack("{s:{s:i, s:i}, s:o}", "counts", "ok", 70000, "bad", 5000, "cables", cables);
	tell_fabric("1");
	follow();
	ck_assert(levels_add(&l, &r, &p));
	text = metrics(status_text, dist_text, ha_text, health);
	ck_assert_uint_le(is_strict(text), 500);
	has(text, "fmd_cables{health=\"bad\"} 5000");
	has(text,
	    "fmd_cable_unhealthy{health=\"bad\",guid=\"0x1\",peer_guid=\"0x2\",node=\"a\\\"b\","
	    "peer=\"c\",reason=\"symbol\\nerrors\",port=\"99\",peer_port=\"2\"} 1");
	ck_assert(strstr(text, "port=\"100\"") == NULL);
	json_decref(health);
}
END_TEST

/* ----------------------------------------------------------------------- the address */

START_TEST(queries)
{
	json_t *args,
	    *want = json_pack("{s:i, s:i, s:s, s:s, s:b}", "after", 12, "lid", 16, "name",
		"leaf 1&2", "guid", "0x10", "all", 1);

	ck_assert_int_eq(
	    query_read("after=12&lid=0x10&name=leaf+1%262&guid=%220x10%22&all=", &args, &err), 0);
	ck_assert_msg(json_equal(args, want), "%s", json_dumps(args, 0));
	ck_assert_int_eq(query_check(args, "all guid lid name after", &err), 0);
	ck_assert_int_eq(query_check(args, "alle guid lid name after", &err), FM_E_CONFIG);
	json_decref(args);
	ck_assert_int_eq(query_read(NULL, &args, &err), 0);
	ck_assert(json_object_size(args) == 0 && query_check(args, "", &err) == 0);
	json_decref(args);
	json_decref(want);
}
END_TEST

/* 16 digits of a generation may be decimal ones, or look like another number. */
START_TEST(queries_of_words)
{
	static const struct {
		const char *text, *value;
	} words_of[] = { { "a=1234567890123456", "1234567890123456" }, { "a=0x10:1", "0x10:1" },
		{ "a=\"leaf+1:2\"", "leaf 1:2" }, { "a=", "" }, { "a=12", "12" } };
	json_t *args;

	for (size_t i = 0; i < sizeof(words_of) / sizeof(words_of[0]); i++) {
		ck_assert_int_eq(query_read_words(words_of[i].text, &args, &err), 0);
		ck_assert_str_eq(json_string_value(json_object_get(args, "a")), words_of[i].value);
		json_decref(args);
	}
	ck_assert_int_eq(query_read_words("a=1&a=1", &args, &err), FM_E_CONFIG);
	ck_assert_int_eq(query_read_words("a=%ff", &args, &err), FM_E_CONFIG);
}
END_TEST

START_TEST(wrong_queries)
{
	static const char *const wrong[] = { "a", "a=1&a=2", "=1", "a=%ff", "a=1&&b=2" };
	json_t *args;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(query_read(wrong[i], &args, &err) == FM_E_CONFIG, "%s", wrong[i]);
		ck_assert(args == NULL && err.msg[0] != '\0');
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("web");
	TCase *c = tcase_create("web");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, cells);
	tcase_add_test(c, values);
	tcase_add_test(c, strictness);
	tcase_add_test(c, load);
	tcase_add_test(c, not_known);
	tcase_add_test(c, errors);
	tcase_add_test(c, hours);
	tcase_add_test(c, groups);
	tcase_add_test(c, exporter);
	tcase_add_test(c, levels_rise);
	tcase_add_test(c, levels_unknown);
	tcase_add_test(c, wrong_fabrics);
	tcase_add_test(c, spoilt_nodes);
	tcase_add_test(c, half_written);
	tcase_add_test(c, of_the_fabric);
	tcase_add_test(c, of_no_fabric);
	tcase_add_test(c, of_bad_cables);
	tcase_add_test(c, queries);
	tcase_add_test(c, queries_of_words);
	tcase_add_test(c, wrong_queries);
	suite_add_tcase(s, c);
	return run_suite(s);
}
