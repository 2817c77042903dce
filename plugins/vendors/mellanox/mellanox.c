/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks switches of NVIDIA (Mellanox) whether they have adaptive routing, and programs none.
 *
 * The number of their attribute AdaptiveRoutingInfo is public (ibis_types.h of ibdiagnet), what it
 * and the tables beside it hold is not.  A switch that answers it shows as "strange": it could, fmd
 * does not know how, and groups that another SM has left there, and whether they are in use, are
 * unknown.
 */
#include <fmd/vendor.h>

#define ADAPTIVE_ROUTING_INFO 0xff20

static const struct fm_vendor_id ids[] = { { 0x0002c9, 0, 0xffff }, { 0 } };

static int
read_info(const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out)
{
	return FM_E_TOPOLOGY;
}

static int
turn(const uint8_t answer[FM_VENDOR_BYTES], const struct fm_vendor_mode *mode,
    uint8_t data[FM_VENDOR_BYTES])
{
	return FM_E_TOPOLOGY;
}

static int32_t
n_blocks(const struct fm_vendor_rows *rows)
{
	return FM_E_TOPOLOGY;
}

static int
block(const struct fm_vendor_rows *rows, uint32_t i, struct fm_vendor_smp *out)
{
	return FM_E_TOPOLOGY;
}

FM_VENDOR(mellanox,
    .summary = "asks whether switches of NVIDIA could route adaptively, sets nothing", .ids = ids,
    .info_attr = ADAPTIVE_ROUTING_INFO, .read_info = read_info, .turn = turn, .n_blocks = n_blocks,
    .block = block);
