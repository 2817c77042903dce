/* SPDX-License-Identifier: BSD-2-Clause */
/* An attribute is a place of so many bytes, in blocks; O(1) a MAD. */
#include "lab/cca/cca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHOD_AT 3
#define STATUS_AT 4
#define ATTR_AT 16
#define MODIFIER_AT 20
#define NS_PER_S INT64_C(1000000000)
#define BLOCKS 2	 /* 128 entries, as most adapters have */
#define RESPONSE_TIME 18 /* 1 s */
#define LOG_OF_CA 2
#define LOG_COUNTER 2
#define LOG_PORTS 8
#define LOG_ENTRIES 40
#define LOG_ENTRY 12
#define PORT_VALID 0x80

void
cca_init(struct cca *c)
{
	*c = (struct cca){ .n_blocks = BLOCKS };
}

void
cca_reboot(struct cca *c)
{
	*c = (struct cca){ .manner = c->manner, .n_blocks = c->n_blocks };
}

static bool
read_value(const char *word, const char *name, uint64_t most, uint64_t *value)
{
	size_t n = strlen(name);
	char *end;

	if (strncmp(word, name, n) != 0 || word[n] < '0' || word[n] > '9')
		return false;
	errno = 0;
	*value = strtoull(word + n, &end, 0);
	return errno == 0 && *end == '\0' && *value <= most;
}

/* The newest entry comes first. */
static bool
mark(struct cca *c, const char *word)
{
	uint8_t *first = c->log + LOG_ENTRIES;
	unsigned port, slid, dlid, sl;
	char rest;

	if (sscanf(word, "marks=%u:%u:%u:%u%c", &port, &slid, &dlid, &sl, &rest) != 4 ||
	    port > UINT8_MAX || slid > UINT16_MAX || dlid > UINT16_MAX || sl >= WIRE_CC_SLS)
		return false;
	if (wire_get16(c->log + LOG_COUNTER) < UINT16_MAX)
		wire_put16(c->log + LOG_COUNTER, (uint16_t)(wire_get16(c->log + LOG_COUNTER) + 1));
	c->log[LOG_PORTS + WIRE_CC_MASK_BYTES - 1 - port / 8] |= (uint8_t)(1 << port % 8);
	memmove(first + LOG_ENTRY, first, CCA_LOG_BYTES - LOG_ENTRIES - LOG_ENTRY);
	memset(first, 0, LOG_ENTRY);
	wire_put16(first, (uint16_t)slid);
	wire_put16(first + 2, (uint16_t)dlid);
	first[4] = (uint8_t)(sl << 4);
	return true;
}

bool
cca_say(struct cca *c, const char *word)
{
	static const char *const manners[CCA_MANNERS] = { [CCA_SOUND] = "sound",
		[CCA_SILENT] = "silent",
		[CCA_ABSENT] = "absent",
		[CCA_FORGETFUL] = "forgetful",
		[CCA_EMPTY] = "empty",
		[CCA_OTHER_ATTR] = "otherattr",
		[CCA_OTHER_BLOCK] = "otherblock",
		[CCA_GARBAGE] = "garbage" };
	uint64_t value;

	for (unsigned m = 0; m < CCA_MANNERS; m++)
		if (strcmp(word, manners[m]) == 0) {
			c->manner = (uint8_t)m;
			return true;
		}
	if (read_value(word, "blocks=", CCA_BLOCKS_MOST, &value))
		c->n_blocks = (uint8_t)value;
	else if (read_value(word, "key=", UINT64_MAX, &value))
		c->key.key = value;
	else if (read_value(word, "protect=", 1, &value))
		c->key.protect = value;
	else if (read_value(word, "lease=", UINT16_MAX, &value))
		c->key.lease_s = (uint16_t)value;
	else if (read_value(word, "own=", UINT8_MAX, &value))
		c->ports[value / WIRE_CC_BLOCK_PORTS][value % WIRE_CC_BLOCK_PORTS * 4] = PORT_VALID;
	else
		return mark(c, word);
	return true;
}

/* ------------------------------------------------------------------ the key */

static void
run_lease(struct cca *c, int64_t now_ns)
{
	if (c->lease_end_ns == 0 || now_ns < c->lease_end_ns)
		return;
	c->lease_end_ns = 0;
	c->key.protect = false;
}

static void
note_violation(struct cca *c, int64_t now_ns)
{
	if (c->key.violations < UINT16_MAX)
		c->key.violations++;
	if (c->lease_end_ns == 0 && c->key.protect && c->key.lease_s > 0)
		c->lease_end_ns = now_ns + c->key.lease_s * NS_PER_S;
}

/* Has it the right key, or needs none?  Else: *answers says whether it is answered all the same. */
static bool
has_key(struct cca *c, const uint8_t *mad, int64_t now_ns, bool *answers)
{
	uint16_t attr = wire_get16(mad + ATTR_AT);

	run_lease(c, now_ns);
	*answers = true;
	if (c->key.key == 0 || wire_get64(mad + WIRE_CC_KEY_AT) == c->key.key) {
		c->lease_end_ns = 0;
		return true;
	}
	note_violation(c, now_ns);
	*answers = mad[METHOD_AT] == WIRE_GET &&
	    (attr == WIRE_CC_CLASS_PORT_INFO || attr == WIRE_CC_KEY_INFO || !c->key.protect);
	return false;
}

/* --------------------------------------------------------------- attributes */

/* What an attribute keeps: block `modifier` of it; NULL: the node has none such. */
static uint8_t *
place_of(struct cca *c, bool is_switch, uint16_t attr, uint32_t block, size_t *n, uint16_t *status)
{
	unsigned n_blocks = 1;
	uint8_t *at = NULL;

	switch (attr) {
	case WIRE_CC_SWITCH:
		at = is_switch ? c->sw : NULL;
		*n = sizeof(c->sw);
		break;
	case WIRE_CC_SWITCH_PORTS:
		at = is_switch ? c->ports[0] : NULL;
		*n = sizeof(c->ports[0]);
		n_blocks = CCA_PORT_BLOCKS;
		break;
	case WIRE_CC_CA:
		at = is_switch ? NULL : c->ca;
		*n = sizeof(c->ca);
		break;
	case WIRE_CC_TABLE:
		at = is_switch ? NULL : c->table[0];
		*n = sizeof(c->table[0]);
		n_blocks = c->n_blocks;
		break;
	}
	*status = at == NULL	? WIRE_STATUS_BAD_METHOD_ATTR
	    : block >= n_blocks ? WIRE_STATUS_BAD_VALUE
				: 0;
	return *status == 0 ? at + block * *n : NULL;
}

/* Of a switch only what its control map names. */
static void
set_switch(struct cca *c, const uint8_t *data)
{
	static const struct {
		uint8_t part, at, n;
	} parts[] = { { WIRE_CC_VICTIM_MASK, 4, 32 }, { WIRE_CC_CREDIT_MASK, 36, 32 },
		{ WIRE_CC_THRESHOLD, 68, 2 }, { WIRE_CC_STARVATION, 70, 4 },
		{ WIRE_CC_MARKING_RATE, 74, 2 } };
	uint32_t map = wire_get32(data);

	wire_put32(c->sw, map);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if ((map & parts[i].part) != 0)
			memcpy(c->sw + parts[i].at, data + parts[i].at, parts[i].n);
}

/* ... and of a CA the SLs that its own names. */
static void
set_ca(struct cca *c, const uint8_t *data)
{
	memcpy(c->ca, data, 4);
	for (unsigned sl = 0; sl < WIRE_CC_SLS; sl++)
		if ((wire_get16(data + 2) >> sl & 1) != 0)
			memcpy(c->ca + 4 + 8 * sl, data + 4 + 8 * sl, 5);
}

/* The limit is one of the whole table. */
static uint16_t
set_table(struct cca *c, const uint8_t *data, uint8_t *place)
{
	if (wire_get16(data) >= c->n_blocks * WIRE_CC_BLOCK_ENTRIES)
		return WIRE_STATUS_BAD_VALUE;
	memcpy(place, data, WIRE_CC_TABLE_BYTES);
	for (unsigned b = 0; b < c->n_blocks; b++)
		memcpy(c->table[b], data, 2);
	return 0;
}

static uint16_t
settings(struct cca *c, bool is_switch, uint16_t attr, uint32_t block, bool is_set, uint8_t *data)
{
	uint16_t status;
	size_t n = 0;
	uint8_t *place = place_of(c, is_switch, attr, block, &n, &status);

	if (place == NULL)
		return status;
	if (is_set && c->manner == CCA_FORGETFUL)
		return 0;
	if (is_set && attr == WIRE_CC_SWITCH)
		set_switch(c, data);
	else if (is_set && attr == WIRE_CC_CA)
		set_ca(c, data);
	else if (is_set && attr == WIRE_CC_TABLE)
		status = set_table(c, data, place);
	else if (is_set)
		memcpy(place, data, n);
	if (status == 0) {
		memset(data, 0, WIRE_CC_DATA_BYTES);
		memcpy(data, place, n);
	}
	return status;
}

static void
key_info(struct cca *c, bool is_set, bool may_see, uint8_t *data)
{
	struct wire_cc_key_info shown;

	if (is_set && c->manner != CCA_FORGETFUL)
		wire_cc_key_info_get(data, &c->key);
	shown = c->key;
	if (!may_see && shown.protect)
		shown.key = 0;
	memset(data, 0, WIRE_CC_DATA_BYTES);
	wire_cc_key_info_put(data, &shown);
}

/* What it has marked since it was last asked. */
static void
tell_log(struct cca *c, bool is_switch, uint8_t *at)
{
	at[0] = LOG_OF_CA;
	if (!is_switch)
		return;
	c->log[0] = WIRE_CC_LOG_SWITCH;
	memcpy(at, c->log, CCA_LOG_BYTES);
	memset(c->log + LOG_COUNTER, 0, LOG_ENTRIES - LOG_COUNTER);
}

/* What a node says of itself and of what it has met; a host has met nothing. */
static void
facts(struct cca *c, bool is_switch, uint16_t attr, int64_t now_ns, uint8_t *mad)
{
	struct wire_cc_info info = { .table_blocks = is_switch ? 0 : c->n_blocks };
	uint8_t *data = mad + WIRE_CC_DATA_AT;

	memset(mad + WIRE_CC_LOG_AT, 0, WIRE_MAD_BYTES - WIRE_CC_LOG_AT);
	switch (attr) {
	case WIRE_CC_CLASS_PORT_INFO:
		data[0] = 1;
		data[1] = WIRE_CC_VERSION;
		wire_put32(data + 4, RESPONSE_TIME); /* CapabilityMask 0: it sends no traps */
		break;
	case WIRE_CC_INFO:
		wire_cc_info_put(data, &info);
		break;
	case WIRE_CC_LOG:
		tell_log(c, is_switch, mad + WIRE_CC_LOG_AT);
		break;
	default:
		wire_put32(data, (uint32_t)(now_ns / 1000));
	}
}

static uint16_t
answer(struct cca *c, bool is_switch, int64_t now_ns, uint8_t *mad, bool may_see)
{
	uint8_t *data = mad + WIRE_CC_DATA_AT;
	uint16_t attr = wire_get16(mad + ATTR_AT);
	uint32_t block = wire_get32(mad + MODIFIER_AT);
	bool is_set = mad[METHOD_AT] == WIRE_SET;

	if (attr == WIRE_CC_KEY_INFO && block == 0) {
		key_info(c, is_set, may_see, data);
		return 0;
	}
	if (!is_set && block == 0 &&
	    (attr == WIRE_CC_CLASS_PORT_INFO || attr == WIRE_CC_INFO || attr == WIRE_CC_LOG ||
		attr == WIRE_CC_TIME)) {
		facts(c, is_switch, attr, now_ns, mad);
		return 0;
	}
	return settings(c, is_switch, attr, block, is_set, data);
}

static uint32_t
next_chance(struct cca *c)
{
	c->chance = c->chance * 1664525u + 1013904223u;
	return c->chance >> 16;
}

/* An answer of an agent that is not sound. */
static void
spoil(struct cca *c, uint8_t *mad)
{
	switch (c->manner) {
	case CCA_EMPTY:
		memset(mad + WIRE_CC_KEY_AT, 0, WIRE_MAD_BYTES - WIRE_CC_KEY_AT);
		break;
	case CCA_OTHER_ATTR:
		mad[ATTR_AT + 1] ^= 1;
		break;
	case CCA_OTHER_BLOCK:
		mad[MODIFIER_AT + 3] ^= 1;
		break;
	case CCA_GARBAGE:
		for (unsigned i = WIRE_CC_KEY_AT; i < WIRE_MAD_BYTES; i++)
			mad[i] = (uint8_t)next_chance(c);
		break;
	}
}

bool
cca_handle(struct cca *c, bool is_switch, int64_t now_ns, uint8_t mad[WIRE_MAD_BYTES])
{
	uint8_t method = mad[METHOD_AT];
	uint16_t status = 0;
	bool answers = true, may_see;

	if (c->manner == CCA_SILENT || (method != WIRE_GET && method != WIRE_SET))
		return false;
	may_see = has_key(c, mad, now_ns, &answers);
	if (!answers)
		return false;
	if (c->manner == CCA_ABSENT || mad[0] != 1 || mad[2] != WIRE_CC_VERSION)
		status = WIRE_STATUS_BAD_CLASS_VERSION;
	else
		status = answer(c, is_switch, now_ns, mad, may_see);
	mad[METHOD_AT] = WIRE_GET_RESP;
	wire_put16(mad + STATUS_AT, status);
	spoil(c, mad);
	return true;
}
