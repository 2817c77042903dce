/* SPDX-License-Identifier: BSD-2-Clause */
/* Words to blocks; O(their length). */
#include "core/congestion/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define MASK_DIGITS (2 * WIRE_CC_MASK_BYTES)
#define ENTRIES_MOST (CONGESTION_BLOCKS * WIRE_CC_BLOCK_ENTRIES)

static const struct {
	const char *key;
	uint32_t most; /* of a value of an SL */
} words[CONGESTION_WORDS] = { [CONGESTION_VICTIM_MASK] = { "cc_sw_cong_setting_victim_mask", 0 },
	[CONGESTION_CREDIT_MASK] = { "cc_sw_cong_setting_credit_mask", 0 },
	[CONGESTION_RETURN_DELAY] = { "cc_sw_cong_setting_credit_starvation_return_delay", 0 },
	[CONGESTION_CCTI_TIMER] = { "cc_ca_cong_setting_ccti_timer", UINT16_MAX },
	[CONGESTION_CCTI_INCREASE] = { "cc_ca_cong_setting_ccti_increase", UINT8_MAX },
	[CONGESTION_TRIGGER_THRESHOLD] = { "cc_ca_cong_setting_trigger_threshold", UINT8_MAX },
	[CONGESTION_CCTI_MIN] = { "cc_ca_cong_setting_ccti_min", UINT8_MAX },
	[CONGESTION_CCT] = { "cc_cct", 0 } };

const char *
congestion_key(enum congestion_words w)
{
	return words[w].key;
}

static const char *
past_blanks(const char *at)
{
	return at + strspn(at, BLANKS);
}

/* A number at *at, which goes on behind it.  False: there is none, or it is more. */
static bool
take_number(const char **at, uint32_t most, uint32_t *out)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	n = strtoul(*at, &end, 0);
	*at = end;
	*out = (uint32_t)n;
	return errno == 0 && n <= most;
}

/* The mask to out, unless that is NULL. */
static bool
read_mask(const char *text, uint8_t *out)
{
	size_t n;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	n = strspn(text, "0123456789abcdefABCDEF");
	if (n == 0 || n > MASK_DIGITS || text[n] != '\0')
		return false;
	if (out != NULL)
		memset(out, 0, WIRE_CC_MASK_BYTES);
	for (size_t i = 0; out != NULL && i < n; i++) {
		char c = text[n - 1 - i];
		unsigned digit = isdigit((unsigned char)c) ? (unsigned)(c - '0')
							   : (unsigned)((c | 32) - 'a' + 10);

		out[WIRE_CC_MASK_BYTES - 1 - i / 2] |= (uint8_t)(digit << (i % 2 * 4));
	}
	return true;
}

static bool
take_delay(const char **at, struct wire_cc_delay *out)
{
	uint32_t shift, multiplier;

	if (!take_number(at, WIRE_CC_SHIFT_MAX, &shift) || **at != ':')
		return false;
	(*at)++;
	if (!take_number(at, WIRE_CC_MULTIPLIER_MAX, &multiplier))
		return false;
	*out = (struct wire_cc_delay){ (uint8_t)shift, (uint16_t)multiplier };
	return true;
}

/* The next of a list at *at, which is not over: past what parts it from the one before. */
static const char *
next_item(const char *at, bool is_first)
{
	at = past_blanks(at);
	if (is_first || *at != ',')
		return at;
	return past_blanks(at + 1);
}

/* Entries to out [ENTRIES_MOST]; how many, ENTRIES_MOST + 1: too many, or one is none. */
static unsigned
read_table(const char *text, struct wire_cc_delay *out)
{
	unsigned n = 0;

	for (const char *at = past_blanks(text); *at != '\0'; at = past_blanks(at)) {
		if (n > 0 && *at != ',')
			return ENTRIES_MOST + 1;
		at = next_item(at, n == 0);
		if (n == ENTRIES_MOST || !take_delay(&at, &out[n]))
			return ENTRIES_MOST + 1;
		n++;
	}
	return n;
}

/* Each SL that is named to out [WIRE_CC_SLS]. */
static bool
read_sls(const char *text, uint32_t most, uint32_t *out)
{
	bool is_first = true;

	for (const char *at = past_blanks(text); *at != '\0'; at = past_blanks(at)) {
		uint32_t sl, value;

		if (!is_first && *at != ',')
			return false;
		at = next_item(at, is_first);
		if (!take_number(&at, WIRE_CC_SLS - 1, &sl) || strchr(BLANKS, *at) == NULL ||
		    *at == '\0')
			return false;
		at = past_blanks(at);
		if (!take_number(&at, most, &value))
			return false;
		out[sl] = value;
		is_first = false;
	}
	return true;
}

int
congestion_check(const struct congestion_text *t, enum congestion_words w, struct fm_error *err)
{
	struct wire_cc_delay entries[ENTRIES_MOST];
	uint32_t values[WIRE_CC_SLS] = { 0 };
	const char *text = t->words[w], *at = text;

	switch (w) {
	case CONGESTION_VICTIM_MASK:
	case CONGESTION_CREDIT_MASK:
		return read_mask(text, NULL)
		    ? 0
		    : fm_fail(err, FM_E_CONFIG,
			  "\"%.80s\" is no mask of ports: write a hexadecimal number of 256 bits "
			  "at most, as 0x1e for the ports 1 to 4",
			  text);
	case CONGESTION_RETURN_DELAY:
		return take_delay(&at, entries) && *at == '\0'
		    ? 0
		    : fm_fail(err, FM_E_CONFIG,
			  "\"%.40s\" is no delay: write SHIFT:MULTIPLIER, 0..3 and 0..16383", text);
	case CONGESTION_CCT:
		return read_table(text, entries) <= ENTRIES_MOST
		    ? 0
		    : fm_fail(err, FM_E_CONFIG,
			  "\"%.60s\" is no table: write up to %d entries SHIFT:MULTIPLIER, 0..3 "
			  "and 0..16383, parted by commas",
			  text, ENTRIES_MOST);
	default:
		return read_sls(text, words[w].most, values)
		    ? 0
		    : fm_fail(err, FM_E_CONFIG,
			  "\"%.60s\": write SL VALUE, an SL of 0..15 and a value of 0..%u, and "
			  "several parted by commas",
			  text, words[w].most);
	}
}

static void
make_switch(const struct congestion_text *t, struct congestion_blocks *out)
{
	struct wire_cc_switch sw = { .control_map = (uint32_t)t->sw_control_map,
		.threshold = (uint8_t)t->sw_threshold,
		.packet_size = (uint8_t)t->sw_packet_size,
		.cs_threshold = (uint8_t)t->sw_cs_threshold,
		.marking_rate = (uint16_t)t->sw_marking_rate };
	const char *at = t->words[CONGESTION_RETURN_DELAY];

	(void)read_mask(t->words[CONGESTION_VICTIM_MASK], sw.victim_mask);
	(void)read_mask(t->words[CONGESTION_CREDIT_MASK], sw.credit_mask);
	(void)take_delay(&at, &sw.cs_return_delay);
	wire_cc_switch_put(out->sw, &sw);
}

static void
make_ca(const struct congestion_text *t, struct congestion_blocks *out)
{
	uint32_t v[CONGESTION_WORDS][WIRE_CC_SLS] = { { 0 } };
	struct wire_cc_ca ca = { .port_control = (uint16_t)t->ca_port_control,
		.control_map = (uint16_t)t->ca_control_map };

	for (unsigned w = CONGESTION_CCTI_TIMER; w <= CONGESTION_CCTI_MIN; w++)
		(void)read_sls(t->words[w], words[w].most, v[w]);
	for (unsigned sl = 0; sl < WIRE_CC_SLS; sl++) {
		ca.sl[sl].timer = (uint16_t)v[CONGESTION_CCTI_TIMER][sl];
		ca.sl[sl].increase = (uint8_t)v[CONGESTION_CCTI_INCREASE][sl];
		ca.sl[sl].trigger = (uint8_t)v[CONGESTION_TRIGGER_THRESHOLD][sl];
		ca.sl[sl].min = (uint8_t)v[CONGESTION_CCTI_MIN][sl];
	}
	wire_cc_ca_put(out->ca, &ca);
}

/* A table without entries, or of one, is a limit of 0, which OpenSM sends with no entry. */
static void
make_table(const struct congestion_text *t, struct congestion_blocks *out)
{
	struct wire_cc_delay entries[ENTRIES_MOST] = { { 0 } };
	unsigned n = read_table(t->words[CONGESTION_CCT], entries);

	if (n == 1)
		n = 0;
	out->n_blocks = n > WIRE_CC_BLOCK_ENTRIES ? 2 : 1;
	for (unsigned b = 0; b < out->n_blocks; b++)
		wire_cc_table_put(out->table[b], entries, n, b);
}

void
congestion_make(const struct congestion_text *t, struct congestion_blocks *out)
{
	memset(out, 0, sizeof(*out));
	make_switch(t, out);
	make_ca(t, out);
	make_table(t, out);
}
