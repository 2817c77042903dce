/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_congestion - MADs of congestion control: every field where libibmad has it, OpenSM's words
 * to the very bytes that OpenSM sends for them, what counts of what a node shows, and the agent of
 * the simulator with its CC_Key.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_IBMAD
#include <infiniband/mad.h>
#endif

#include "core/congestion/settings.h"
#include "lab/cca/cca.h"
#include "lib/rng.h"
#include "tests/run.h"

#define SEEDS 200
#define SECOND INT64_C(1000000000)

/* What OpenSM has by default. */
static struct congestion_text
plain(void)
{
	return (struct congestion_text){ .words = { [CONGESTION_VICTIM_MASK] = "0",
					     [CONGESTION_CREDIT_MASK] = "0x0",
					     [CONGESTION_RETURN_DELAY] = "0:0",
					     [CONGESTION_CCTI_TIMER] = "0 0",
					     [CONGESTION_CCTI_INCREASE] = "",
					     [CONGESTION_TRIGGER_THRESHOLD] = "",
					     [CONGESTION_CCTI_MIN] = "",
					     [CONGESTION_CCT] = "" } };
}

static void
expect_hex(const uint8_t *bytes, size_t n, const char *hex)
{
	char text[600];

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	ck_assert_str_eq(text, hex);
}

#define NO_BYTES_12 "000000000000000000000000"
#define NO_BYTES_24 NO_BYTES_12 NO_BYTES_12
#define NO_BYTES_48 NO_BYTES_24 NO_BYTES_24

/* The data of the Sets that OpenSM 3.3.23 was seen to send on fmsim for these words. */
START_TEST(as_opensm_sends_it)
{
	struct congestion_text t = plain();
	struct congestion_blocks b;

	t.sw_control_map = 0x1f;
	t.sw_threshold = 12;
	t.sw_packet_size = 3;
	t.sw_cs_threshold = 5;
	t.sw_marking_rate = 9;
	t.ca_port_control = 1;
	t.ca_control_map = 3;
	t.words[CONGESTION_VICTIM_MASK] = "0x1fffe";
	t.words[CONGESTION_CREDIT_MASK] = "0xF";
	t.words[CONGESTION_RETURN_DELAY] = "2:77";
	t.words[CONGESTION_CCTI_TIMER] = "0 100, 1 0x65";
	t.words[CONGESTION_CCTI_INCREASE] = "0 4";
	t.words[CONGESTION_TRIGGER_THRESHOLD] = "1 2";
	t.words[CONGESTION_CCTI_MIN] = "0 1";
	t.words[CONGESTION_CCT] = "0:0,0:1,1:2,2:3,3:16383";
	for (unsigned w = 0; w < CONGESTION_WORDS; w++)
		ck_assert_int_eq(congestion_check(&t, w, NULL), 0);
	congestion_make(&t, &b);
	expect_hex(b.sw, sizeof(b.sw),
	    "0000001f" NO_BYTES_24 "00000000"
	    "0001fffe" NO_BYTES_24 "00000000"
	    "0000000fc0035000804d0009");
	expect_hex(b.ca, sizeof(b.ca),
	    "00010003006404000100000000650002" NO_BYTES_48 NO_BYTES_48 NO_BYTES_12 "00000000"
	    "00000000");
	ck_assert_uint_eq(b.n_blocks, 1);
	expect_hex(b.table[0], sizeof(b.table[0]),
	    "000400000000000140028003ffff" NO_BYTES_48 NO_BYTES_48 NO_BYTES_12 "00000000"
	    "00000000"
	    "0000");
}
END_TEST

/* Without entries, and with one, the limit is 0 and nothing else is sent. */
START_TEST(blocks_of_the_table)
{
	static const struct {
		unsigned n, n_blocks;
	} rows[] = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 64, 1 }, { 65, 2 }, { 128, 2 } };
	struct congestion_text t = plain();
	struct congestion_blocks b;
	char text[128 * 8] = "";
	uint8_t none[WIRE_CC_TABLE_BYTES] = { 0 };
	unsigned n = rows[_i].n;

	for (unsigned i = 0; i < n; i++)
		snprintf(text + strlen(text), 9, "%s%u:%u", i > 0 ? "," : "", i % 4, 1000 + i);
	t.words[CONGESTION_CCT] = text;
	ck_assert_int_eq(congestion_check(&t, CONGESTION_CCT, NULL), 0);
	congestion_make(&t, &b);
	ck_assert_uint_eq(b.n_blocks, rows[_i].n_blocks);
	ck_assert_uint_eq(wire_get16(b.table[0]), n > 0 ? n - 1 : 0);
	if (n < 2)
		ck_assert_mem_eq(b.table[0], none, sizeof(none));
	for (unsigned i = 0; n > 1 && i < 64 * b.n_blocks; i++)
		ck_assert_uint_eq(wire_get16(b.table[i / 64] + 4 + 2 * (i % 64)),
		    i < n ? (i % 4) << 14 | (1000 + i) : 0);
	if (b.n_blocks == 2)
		ck_assert_uint_eq(wire_get16(b.table[1]), n - 1);
}
END_TEST

/* A mask is one number: bit n is port n. */
START_TEST(masks_are_numbers)
{
	struct fm_rng rng;
	struct congestion_text t = plain();
	struct congestion_blocks b;
	char text[80];

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	for (unsigned k = 0; k < 100; k++) {
		unsigned n = 1 + fm_rng_below(&rng, 64);

		memcpy(text, "0x", 2);
		for (unsigned i = 0; i < n; i++)
			text[2 + i] = "0123456789abcdefABCDEF"[fm_rng_below(&rng, 22)];
		text[2 + n] = '\0';
		t.words[CONGESTION_VICTIM_MASK] = text + (k % 2 ? 2 : 0);
		ck_assert_int_eq(congestion_check(&t, CONGESTION_VICTIM_MASK, NULL), 0);
		congestion_make(&t, &b);
		for (unsigned port = 0; port < 256; port++) {
			char digit[2] = { port / 4 < n ? text[2 + n - 1 - port / 4] : '0', '\0' };

			ck_assert_uint_eq(b.sw[4 + 31 - port / 8] >> port % 8 & 1,
			    strtoul(digit, NULL, 16) >> port % 4 & 1);
		}
	}
}
END_TEST

START_TEST(wrong_words)
{
	static const struct {
		enum congestion_words w;
		const char *text;
	} rows[] = { { CONGESTION_VICTIM_MASK, "" }, { CONGESTION_VICTIM_MASK, "0x" },
		{ CONGESTION_VICTIM_MASK, "0xg" }, { CONGESTION_CREDIT_MASK, "1 2" },
		{ CONGESTION_CREDIT_MASK,
		    "0x10000000000000000000000000000000000000000000000000000000000000000" },
		{ CONGESTION_RETURN_DELAY, "" }, { CONGESTION_RETURN_DELAY, "4:0" },
		{ CONGESTION_RETURN_DELAY, "0:16384" }, { CONGESTION_RETURN_DELAY, "1" },
		{ CONGESTION_RETURN_DELAY, "1:1,1:1" }, { CONGESTION_RETURN_DELAY, "1:-1" },
		{ CONGESTION_CCTI_TIMER, "16 0" }, { CONGESTION_CCTI_TIMER, "0 65536" },
		{ CONGESTION_CCTI_TIMER, "0" }, { CONGESTION_CCTI_TIMER, "0 1 2" },
		{ CONGESTION_CCTI_TIMER, "0 1," }, { CONGESTION_CCTI_TIMER, "0 1 1 2" },
		{ CONGESTION_CCTI_INCREASE, "0 256" }, { CONGESTION_CCTI_INCREASE, "0x" },
		{ CONGESTION_TRIGGER_THRESHOLD, "0 256" }, { CONGESTION_CCTI_MIN, "-1 0" },
		{ CONGESTION_CCTI_MIN, "0 99999999999999999999" }, { CONGESTION_CCT, "0:0,," },
		{ CONGESTION_CCT, "0:0 0:1" }, { CONGESTION_CCT, "0:0," },
		{ CONGESTION_CCT, ",0:0" }, { CONGESTION_CCT, "4:0" }, { CONGESTION_CCT, "x" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct congestion_text t = plain();
		struct fm_error err = { 0 };

		t.words[rows[i].w] = rows[i].text;
		ck_assert_msg(congestion_check(&t, rows[i].w, &err) == FM_E_CONFIG, "%s \"%s\"",
		    congestion_key(rows[i].w), rows[i].text);
		ck_assert_ptr_nonnull(strstr(err.msg, "write "));
	}
}
END_TEST

START_TEST(a_table_too_long)
{
	struct congestion_text t = plain();
	char text[129 * 4 + 1] = "";
	struct fm_error err = { 0 };

	for (unsigned i = 0; i < 129; i++)
		memcpy(text + 4 * i, i < 128 ? "0:0," : "0:0", 4);
	t.words[CONGESTION_CCT] = text;
	ck_assert_int_eq(congestion_check(&t, CONGESTION_CCT, &err), FM_E_CONFIG);
	text[strlen(text) - 4] = '\0';
	ck_assert_int_eq(congestion_check(&t, CONGESTION_CCT, &err), 0);
}
END_TEST

/* ------------------------------------------------------------- what is there */

/* Which bits of a switch's setting count, by the table of A10.4.3.6. */
static bool
counts_in_switch(unsigned bit, uint32_t map, unsigned n_ports)
{
	unsigned at = bit / 8, in = 7 - bit % 8;

	if (at < 4)
		return true;
	if (at < 68) {
		unsigned port = (31 - (at - 4) % 32) * 8 + in;

		return (map >> (at < 36 ? 0 : 1) & 1) != 0 && port <= n_ports;
	}
	if (at < 70)
		return (map & 4) != 0 && (at == 69 || in >= 4);
	if (at < 74)
		return (map & 8) != 0 && at != 71 && (at != 70 || in >= 4);
	return (map & 16) != 0;
}

static bool
counts_in_ca(unsigned bit, uint16_t map)
{
	unsigned at = bit / 8;

	return at < 4 || ((map >> (at - 4) / 8 & 1) != 0 && (at - 4) % 8 < 5);
}

static bool
counts_in_table(unsigned bit, unsigned limit, unsigned block)
{
	unsigned at = bit / 8;

	return at < 2 || (at >= 4 && 64 * block + (at - 4) / 2 <= limit);
}

static void
fill(struct fm_rng *rng, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)fm_rng_below(rng, 256);
}

/* One bit is another one. */
START_TEST(what_counts)
{
	uint8_t wanted[WIRE_CC_CA_BYTES], shown[WIRE_CC_CA_BYTES];
	unsigned n_ports, block, limit;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	n_ports = fm_rng_below(&rng, 255);
	block = fm_rng_below(&rng, 2);
	limit = fm_rng_below(&rng, 128);
	for (unsigned bit = 0; bit < 8 * WIRE_CC_CA_BYTES; bit++) {
		fill(&rng, wanted, sizeof(wanted));
		memcpy(shown, wanted, sizeof(shown));
		shown[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		if (bit < 8 * WIRE_CC_SWITCH_BYTES)
			ck_assert_int_eq(wire_cc_switch_holds(shown, wanted, (uint8_t)n_ports),
			    !counts_in_switch(bit, wire_get32(wanted), n_ports));
		ck_assert_int_eq(
		    wire_cc_ca_holds(shown, wanted), !counts_in_ca(bit, wire_get16(wanted + 2)));
		wire_put16(wanted, (uint16_t)limit);
		wire_put16(shown, (uint16_t)limit);
		if (bit < 16)
			shown[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		ck_assert_int_eq(
		    wire_cc_table_holds(shown, wanted, block), !counts_in_table(bit, limit, block));
	}
}
END_TEST

#ifdef HAVE_IBMAD
static uint32_t
field(const uint8_t *at, enum MAD_FIELDS f)
{
	uint8_t copy[256] = { 0 };

	memcpy(copy, at, WIRE_CC_CA_BYTES);
	return mad_get_field(copy, 0, f);
}

START_TEST(as_libibmad_has_it)
{
	struct fm_rng rng;
	uint8_t at[256] = { 0 };
	struct wire_cc_switch sw;
	struct wire_cc_ca ca;
	struct wire_cc_delay entries[100];
	struct wire_cc_key_info key, key_again;
	struct wire_cc_info info, info_again;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	fill(&rng, (uint8_t *)&sw, sizeof(sw));
	sw.threshold &= 15;
	sw.cs_threshold &= 15;
	sw.cs_return_delay =
	    (struct wire_cc_delay){ fm_rng_below(&rng, 4), (uint16_t)fm_rng_below(&rng, 0x4000) };
	wire_cc_switch_put(at, &sw);
	ck_assert_uint_eq(field(at, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F), sw.control_map);
	ck_assert_uint_eq(field(at, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F), sw.threshold);
	ck_assert_uint_eq(field(at, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F), sw.packet_size);
	ck_assert_uint_eq(
	    field(at, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F), sw.cs_threshold);
	ck_assert_uint_eq(field(at, IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F),
	    wire_cc_delay_code(sw.cs_return_delay));
	ck_assert_uint_eq(
	    field(at, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F), sw.marking_rate);

	fill(&rng, (uint8_t *)&ca, sizeof(ca));
	wire_cc_ca_put(at, &ca);
	ck_assert_uint_eq(field(at, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F), ca.port_control);
	ck_assert_uint_eq(field(at, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F), ca.control_map);
	for (unsigned sl = 0; sl < 16; sl++) {
		uint8_t entry[WIRE_CC_CA_BYTES] = { 0 };

		memcpy(entry, at + 4 + 8 * sl, 8);
		ck_assert_uint_eq(
		    field(entry, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F), ca.sl[sl].timer);
		ck_assert_uint_eq(
		    field(entry, IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F), ca.sl[sl].increase);
		ck_assert_uint_eq(
		    field(entry, IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F), ca.sl[sl].trigger);
		ck_assert_uint_eq(
		    field(entry, IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F), ca.sl[sl].min);
	}

	for (unsigned i = 0; i < 100; i++)
		entries[i] = (struct wire_cc_delay){ (uint8_t)fm_rng_below(&rng, 4),
			(uint16_t)fm_rng_below(&rng, 0x4000) };
	wire_cc_table_put(at, entries, 100, 1);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F), 99);
	for (unsigned i = 64; i < 100; i++) {
		uint8_t entry[WIRE_CC_CA_BYTES] = { 0 };

		memcpy(entry, at + 4 + 2 * (i - 64), 2);
		ck_assert_uint_eq(field(entry, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F),
		    entries[i].shift);
		ck_assert_uint_eq(
		    field(entry, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F) &
			WIRE_CC_MULTIPLIER_MAX,
		    entries[i].multiplier);
	}

	key = (struct wire_cc_key_info){ .key = fm_rng_next(&rng),
		.protect = _i % 2,
		.lease_s = (uint16_t)fm_rng_below(&rng, 65536),
		.violations = (uint16_t)fm_rng_below(&rng, 65536) };
	memset(at, 0, sizeof(at));
	wire_cc_key_info_put(at, &key);
	ck_assert_uint_eq(mad_get_field64(at, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F), key.key);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F), key.protect);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F), key.lease_s);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), key.violations);
	wire_cc_key_info_get(at, &key_again);
	ck_assert(key.key == key_again.key && key.protect == key_again.protect &&
	    key.lease_s == key_again.lease_s && key.violations == key_again.violations);

	info = (struct wire_cc_info){ (uint16_t)fm_rng_below(&rng, 65536),
		(uint8_t)fm_rng_below(&rng, 256) };
	memset(at, 0, sizeof(at));
	wire_cc_info_put(at, &info);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_INFO_F), info.info);
	ck_assert_uint_eq(field(at, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F), info.table_blocks);
	wire_cc_info_get(at, &info_again);
	ck_assert(info.info == info_again.info && info.table_blocks == info_again.table_blocks);
}
END_TEST

START_TEST(logs_and_ports_as_libibmad_has_them)
{
	static uint8_t bytes[WIRE_MAD_BYTES];
	uint8_t *at = bytes + WIRE_CC_LOG_AT, map[WIRE_CC_MASK_BYTES];
	struct wire_cc_log log;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	fill(&rng, bytes, sizeof(bytes));
	at[0] = (uint8_t)fm_rng_below(&rng, 3);
	ck_assert_int_eq(wire_cc_log_get(bytes, &log),
	    mad_get_field(at, 0, IB_CC_CONGESTION_LOG_LOGTYPE_F) == WIRE_CC_LOG_SWITCH);
	ck_assert_uint_eq(
	    mad_get_field(at, 0, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F), log.n_events);
	mad_get_array(at, 0, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F, map);
	ck_assert_mem_eq(map, log.ports, sizeof(map));
	for (unsigned i = 0, n = 0; i < WIRE_CC_LOG_ENTRIES; i++) {
		uint8_t *e = at + 40 + 12 * i;
		uint32_t slid = mad_get_field(e, 0, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F);
		uint32_t dlid = mad_get_field(e, 0, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F);

		if (slid == 0 || dlid == 0)
			continue;
		ck_assert_uint_eq(slid, log.entry[n].slid);
		ck_assert_uint_eq(dlid, log.entry[n].dlid);
		ck_assert_uint_eq(
		    mad_get_field(e, 0, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F), log.entry[n++].sl);
	}
	for (unsigned block = 0; block < 3; block++) {
		bool unset = true;

		for (unsigned p = 32 * block; p <= 40 && p < 32 * (block + 1); p++)
			if (mad_get_field(bytes + 4 * (p % 32), 0,
				IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F) != 0)
				unset = false;
		ck_assert_int_eq(wire_cc_ports_unset(bytes, block, 40), unset);
		memset(bytes, 0, 4 * 30);
	}
}
END_TEST
#endif

/* ------------------------------------------------------ the simulator's agent */

static uint8_t mad[WIRE_MAD_BYTES];

/* The status; -1: it is not answered. */
static int
ask(struct cca *c, int64_t now_ns, uint8_t method, uint16_t attr, uint32_t block, uint64_t key,
    const uint8_t *data)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_CC,
		.class_version = WIRE_CC_VERSION,
		.method = method,
		.attr = attr,
		.modifier = block };

	memset(mad, 0, sizeof(mad));
	wire_header_put(mad, &h);
	wire_put64(mad + WIRE_CC_KEY_AT, key);
	if (data != NULL)
		memcpy(mad + WIRE_CC_DATA_AT, data, WIRE_CC_CA_BYTES);
	if (!cca_handle(c, false, now_ns, mad))
		return -1;
	ck_assert_uint_eq(mad[3], WIRE_GET_RESP);
	return wire_get16(mad + 4);
}

static struct wire_cc_key_info
shown_key(void)
{
	struct wire_cc_key_info k;

	wire_cc_key_info_get(mad + WIRE_CC_DATA_AT, &k);
	return k;
}

/* B_Key's rules (IBA 16.2.4), which A10.4.2 has. */
START_TEST(agent_minds_its_key)
{
	static const uint8_t data[WIRE_CC_CA_BYTES] = { 0, 1, 0, 1, 7, 7 };
	struct cca c;

	cca_init(&c);
	ck_assert(cca_say(&c, "key=0x77") && cca_say(&c, "lease=10"));
	ck_assert_int_eq(ask(&c, 1, WIRE_GET, WIRE_CC_CA, 0, 5, NULL), 0);
	ck_assert_int_eq(ask(&c, 1, WIRE_SET, WIRE_CC_CA, 0, 5, data), -1);
	ck_assert_int_eq(ask(&c, 1, WIRE_GET, WIRE_CC_KEY_INFO, 0, 5, NULL), 0);
	ck_assert_uint_eq(shown_key().key, 0x77);
	ck_assert_uint_eq(shown_key().violations, 3);
	ck_assert_int_eq(ask(&c, 1, WIRE_SET, WIRE_CC_CA, 0, 0x77, data), 0);
	ck_assert_mem_eq(mad + WIRE_CC_DATA_AT, data, sizeof(data));

	ck_assert(cca_say(&c, "protect=1"));
	ck_assert_int_eq(ask(&c, SECOND, WIRE_GET, WIRE_CC_CA, 0, 5, NULL), -1);
	ck_assert_int_eq(ask(&c, 5 * SECOND, WIRE_GET, WIRE_CC_KEY_INFO, 0, 5, NULL), 0);
	ck_assert_uint_eq(shown_key().key, 0);
	ck_assert(shown_key().protect);
	/* who has the key stops the lease, another wrong one starts it again */
	ck_assert_int_eq(ask(&c, 10 * SECOND, WIRE_GET, WIRE_CC_CA, 0, 0x77, NULL), 0);
	ck_assert_int_eq(ask(&c, 12 * SECOND, WIRE_SET, WIRE_CC_CA, 0, 5, data), -1);
	ck_assert_int_eq(ask(&c, 21 * SECOND, WIRE_GET, WIRE_CC_KEY_INFO, 0, 5, NULL), 0);
	ck_assert_uint_eq(shown_key().key, 0);
	ck_assert_int_eq(ask(&c, 22 * SECOND, WIRE_GET, WIRE_CC_KEY_INFO, 0, 5, NULL), 0);
	ck_assert_uint_eq(shown_key().key, 0x77);
	ck_assert(!shown_key().protect);
	cca_reboot(&c);
	ck_assert_int_eq(ask(&c, 23 * SECOND, WIRE_GET, WIRE_CC_CA, 0, 5, NULL), 0);
	ck_assert_uint_eq(wire_get32(mad + WIRE_CC_DATA_AT), 0);
}
END_TEST

START_TEST(agent_refuses)
{
	uint8_t data[WIRE_CC_CA_BYTES] = { 0 };
	struct cca c;

	cca_init(&c);
	ck_assert_int_eq(
	    ask(&c, 1, WIRE_GET, WIRE_CC_SWITCH, 0, 0, NULL), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_int_eq(ask(&c, 1, WIRE_GET, WIRE_CC_CA, 1, 0, NULL), WIRE_STATUS_BAD_VALUE);
	ck_assert_int_eq(ask(&c, 1, WIRE_GET, WIRE_CC_TABLE, 1, 0, NULL), 0);
	ck_assert_int_eq(ask(&c, 1, WIRE_GET, WIRE_CC_TABLE, 2, 0, NULL), WIRE_STATUS_BAD_VALUE);
	ck_assert_int_eq(
	    ask(&c, 1, WIRE_SET, WIRE_CC_INFO, 0, 0, data), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_int_eq(ask(&c, 1, WIRE_TRAP, WIRE_CC_CA, 0, 0, NULL), -1);
	wire_put16(data, 128);
	ck_assert_int_eq(ask(&c, 1, WIRE_SET, WIRE_CC_TABLE, 0, 0, data), WIRE_STATUS_BAD_VALUE);
	wire_put16(data, 127);
	ck_assert_int_eq(ask(&c, 1, WIRE_SET, WIRE_CC_TABLE, 0, 0, data), 0);
	ck_assert(!cca_say(&c, "blocks=5") && !cca_say(&c, "key=") && !cca_say(&c, "key=1x") &&
	    !cca_say(&c, "protect=2") && !cca_say(&c, "lease=65536") && !cca_say(&c, "loud"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("congestion");
	TCase *c = tcase_create("settings"), *w = tcase_create("wire"), *a = tcase_create("agent");

	tcase_add_test(c, as_opensm_sends_it);
	tcase_add_loop_test(c, blocks_of_the_table, 0, 6);
	tcase_add_loop_test(c, masks_are_numbers, 0, (int)n_cases(20));
	tcase_add_test(c, wrong_words);
	tcase_add_test(c, a_table_too_long);
	suite_add_tcase(s, c);
	tcase_add_loop_test(w, what_counts, 0, (int)n_cases(SEEDS));
#ifdef HAVE_IBMAD
	tcase_add_loop_test(w, as_libibmad_has_it, 0, (int)n_cases(SEEDS));
	tcase_add_loop_test(w, logs_and_ports_as_libibmad_has_them, 0, (int)n_cases(SEEDS));
#endif
	suite_add_tcase(s, w);
	tcase_add_test(a, agent_minds_its_key);
	tcase_add_test(a, agent_refuses);
	suite_add_tcase(s, a);
	return run_suite(s);
}
