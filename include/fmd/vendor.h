/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd/vendor.h - the ABI of programmers of adaptive routing, 1.0
 *
 * InfiniBand names no attributes by which a switch is told the groups of ports of adaptive routing;
 * each vendor has its own.  A programmer is what knows those of some switches: functions from what
 * fmd wants a switch to hold to the attributes of SMPs (IBA 14.2).  It sends no MADs, keeps nothing
 * between calls and calls nothing but libc; fmd asks, compares, writes and reads back.
 *
 * What fmd does with a switch that has an entry in .ids:
 *
 *	when it is read	Get of the info attribute; read_info() says what the switch can hold, and
 *			whether it routes adaptively now
 *	tables change	turn() off, acknowledged, before any entry of any switch is written
 *	between sweeps	the blocks are read or, where another plan was written, compared with those
 *			of that plan; those that differ are written; a packet's life time later
 *			turn() on
 *	audit		the info attribute and all blocks are read back
 *
 * A switch that routes adaptively sends a packet to a LID of a group by any port of the group whose
 * link is ACTIVE, all others by the linear forwarding table.  fmd has proven that no choice among
 * them makes a loop or a deadlock.  Turned off it goes by the linear forwarding table alone.
 *
 * The conventions are those of fmd/engine.h.  The file is NAME.so in the folder "vendors" of a
 * plugin directory and exports NAME_LTX_fm_vendor.  Functions that return int return 0 or a
 * negative enum fm_error_kind.
 */
#ifndef FMD_VENDOR_H
#define FMD_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

#include <fmd/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FM_VENDOR_MAGIC 0x464d5631u /* "FMV1" */
#define FM_VENDOR_MAJOR 1
#define FM_VENDOR_MINOR 0
#define FM_VENDOR_BYTES 64u	/* of an attribute in an SMP */
#define FM_VENDOR_BLOCKS 65536u /* of a switch, at most */

/* Switches by NodeInfo: VendorID, and DeviceIDs first to last. */
struct fm_vendor_id {
	uint32_t vendor_id; /* 24 bits; 0 ends the table */
	uint16_t first, last;
};

/* An attribute of a switch: what a Set writes, what a Get is to show.  Only attributes of vendors
 * are let through, 0xFF00 to 0xFFFF. */
struct fm_vendor_smp {
	uint16_t attr;
	uint16_t zero;
	uint32_t modifier;
	uint8_t data[FM_VENDOR_BYTES];
	uint8_t mask[FM_VENDOR_BYTES]; /* bits that an answer has to have as in data */
};

/* What a switch says of itself.  The host zeroes it first. */
struct fm_vendor_info {
	uint16_t n_groups; /* it can hold groups 1..n_groups; 0: it cannot be programmed */
	bool is_on;	   /* it routes adaptively now */
	uint8_t zero;
};

/* How a switch takes a port of a group; what it has no means for it leaves out. */
enum fm_vendor_algorithm {
	FM_VENDOR_RANDOM,
	FM_VENDOR_GREEDY,	/* the least loaded */
	FM_VENDOR_GREEDY_RANDOM /* at random among the least loaded */
};

/* As the administrator wants it (adaptive_routing of fmd.conf). */
struct fm_vendor_mode {
	uint32_t size;	   /* sizeof(struct fm_vendor_mode) in the host */
	uint8_t algorithm; /* enum fm_vendor_algorithm */
	uint8_t frequency; /* it looks for better ports each 64 ms * 2^n, 0..7 */
	uint8_t threshold; /* use of a port's buffers from which it counts as congested: 1..7 = 100,
			     * 90, 80, 70, 65, 60, 55 %; 0: the switch's own */
	bool lost_route_only; /* it leaves the LFT's port only when its link is lost */
	bool fine_grained; /* alternatives for each LID; else one group for all behind a switch */
	uint8_t zero[3];
};

/* What a switch is to hold. */
struct fm_vendor_rows {
	uint32_t size;	   /* sizeof(struct fm_vendor_rows) in the host */
	uint16_t n_groups; /* groups 1..n_groups have ports, as many as read_info() said at
				   * most */
	uint16_t top_lid;  /* the highest LID that has an entry */
	uint8_t n_ports;   /* external ports are 1..n_ports */
	uint8_t zero[7];
	const uint8_t *info;   /* [FM_VENDOR_BYTES] the answer to the info attribute */
	const uint8_t *lft;    /* [top_lid + 1] egress ports, FM_PORT_NONE (255): unreachable */
	const uint16_t *group; /* [top_lid + 1] 0: static, by lft alone */
	const uint64_t (*ports)[4]; /* [n_groups + 1] bit p % 64 of word p / 64 is port p */
};

struct fm_vendor {
	uint32_t magic; /* FM_VENDOR_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t size; /* sizeof(struct fm_vendor), of this minor */
	uint16_t info_attr;
	uint16_t zero;
	uint32_t info_modifier;
	uint32_t zero_too;
	const char *name;		/* the file's name */
	const char *summary;		/* one line */
	const struct fm_vendor_id *ids; /* whose switches */
	/* The answer to Get of the info attribute; FM_E_TOPOLOGY: it is none that this programmer
	 * knows, and the switch stays static. */
	int (*read_info)(const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out);
	/* The Set by which the switch begins to route adaptively in that mode, or (NULL) ends to;
	 * all else as in the answer.  Its answer is one to the info attribute. */
	int (*turn)(const uint8_t answer[FM_VENDOR_BYTES], const struct fm_vendor_mode *mode,
	    uint8_t data[FM_VENDOR_BYTES]);
	/* So many blocks hold these rows, 1..FM_VENDOR_BLOCKS, or a negative enum fm_error_kind. */
	int32_t (*n_blocks)(const struct fm_vendor_rows *);
	/* Block i of them, in the order in which they are written: no attribute and modifier twice.
	 * The host zeroes *out first. */
	int (*block)(const struct fm_vendor_rows *, uint32_t i, struct fm_vendor_smp *out);
};

/* FM_VENDOR(acme, .summary = "...", .ids = ids, ...); defines the one symbol that is exported. */
#define FM_VENDOR(id, ...) \
	extern __attribute__((visibility("default"))) const struct fm_vendor id##_LTX_fm_vendor; \
	const struct fm_vendor id##_LTX_fm_vendor = { .magic = FM_VENDOR_MAGIC, \
		.abi_major = FM_VENDOR_MAJOR, \
		.abi_minor = FM_VENDOR_MINOR, \
		.size = sizeof(struct fm_vendor), \
		.name = #id, \
		__VA_ARGS__ }

#ifdef __cplusplus
}
#endif
#endif /* FMD_VENDOR_H */
