/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programmer of switches of a vendor that does not exist: those of fmsim with adaptive=N.
 *
 * It is the example for who writes one.  SMP attributes, Get and Set, 64 bytes, big endian:
 *
 *	0xFFE0	AdaptiveInfo	byte 0: 1, the version; bit 0 of byte 1: on; bytes 2 and 3: how
 *				many groups it can have, read only
 *	0xFFE1	AdaptiveGroups	modifier: a block of two groups, the first of group 1; of each 32
 *				bytes, port p is bit p % 8 of byte p / 8
 *	0xFFE2	AdaptiveTable	modifier: a block of 32 LIDs; two bytes each, its group, 0: none
 */
#include <string.h>

#include <fmd/vendor.h>

#define VERSION 1
#define BLOCK_GROUPS 2u
#define GROUP_BYTES 32u
#define BLOCK_LIDS 32u

enum attr { ADAPTIVE_INFO = 0xffe0, ADAPTIVE_GROUPS, ADAPTIVE_TABLE };

static const struct fm_vendor_id ids[] = { { 0x02fd5a, 0xad01, 0xad01 }, { 0 } };

static int
read_info(const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	if (answer[0] != VERSION)
		return FM_E_TOPOLOGY;
	out->is_on = (answer[1] & 1) != 0;
	out->n_groups = (uint16_t)(answer[2] << 8 | answer[3]);
	return 0;
}

static int
turn(const uint8_t answer[FM_VENDOR_BYTES], const struct fm_vendor_mode *mode,
    uint8_t data[FM_VENDOR_BYTES])
{
	memcpy(data, answer, FM_VENDOR_BYTES);
	data[1] = (uint8_t)((answer[1] & ~1u) | (mode != NULL));
	return 0;
}

static uint32_t
group_blocks(const struct fm_vendor_rows *r)
{
	return (r->n_groups + BLOCK_GROUPS - 1) / BLOCK_GROUPS;
}

static int32_t
n_blocks(const struct fm_vendor_rows *r)
{
	return (int32_t)(group_blocks(r) + r->top_lid / BLOCK_LIDS + 1);
}

/* Groups behind the last one in use may be anything. */
static void
put_groups(const struct fm_vendor_rows *r, struct fm_vendor_smp *out)
{
	for (unsigned i = 0; i < BLOCK_GROUPS; i++) {
		uint32_t g = out->modifier * BLOCK_GROUPS + 1 + i;

		for (unsigned k = 0; g <= r->n_groups && k < GROUP_BYTES; k++) {
			out->data[i * GROUP_BYTES + k] =
			    (uint8_t)(r->ports[g][k / 8] >> (k % 8 * 8));
			out->mask[i * GROUP_BYTES + k] = 0xff;
		}
	}
}

static void
put_lids(const struct fm_vendor_rows *r, struct fm_vendor_smp *out)
{
	for (unsigned i = 0; i < BLOCK_LIDS; i++) {
		uint32_t lid = out->modifier * BLOCK_LIDS + i;

		if (lid > r->top_lid)
			break;
		out->data[2 * i] = (uint8_t)(r->group[lid] >> 8);
		out->data[2 * i + 1] = (uint8_t)r->group[lid];
		out->mask[2 * i] = out->mask[2 * i + 1] = 0xff;
	}
}

static int
block(const struct fm_vendor_rows *r, uint32_t i, struct fm_vendor_smp *out)
{
	uint32_t n = group_blocks(r);

	out->attr = i < n ? ADAPTIVE_GROUPS : ADAPTIVE_TABLE;
	out->modifier = i < n ? i : i - n;
	if (i < n)
		put_groups(r, out);
	else
		put_lids(r, out);
	return 0;
}

FM_VENDOR(example, .summary = "switches of fmsim, by attributes of no real vendor", .ids = ids,
    .info_attr = ADAPTIVE_INFO, .read_info = read_info, .turn = turn, .n_blocks = n_blocks,
    .block = block);
