/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/blobs/blobs.h - what is published of a subnet, byte by byte.
 *
 * Everything is a blob under a key.  Numbers in blobs are little-endian.
 *
 *	subnet		BLOB_SUBNET_BYTES: what holds for all paths
 *	link		BLOB_ATTR_BYTES each: the kinds of links that hosts hang by, by number
 *	class		BLOB_ATTR_BYTES each: what a path from a leaf on may carry, by number;
 *			number BLOB_CLASS_ASK says nothing: the SA has to be asked
 *	leaf		8 bytes each: the GUIDs of the switches that have rows, by number
 *	pkset		the lists of P_Keys that ports have, by number: count, keys, 16 bits each
 *	pksl		BLOB_PKSL_BYTES each: SLs of partitions, ascending by P_Key: the key without
 *			its highest bit (16 bits), the SL, 0
 *	addr		BLOB_ADDR_BYTES each: IP addresses and whose they are, ascending by address
 *	port:B		ports of the LIDs 64 B .. 64 B + 63, BLOB_PORT_BYTES each
 *	name:B		the names of those, in that order: length, then so many bytes, each; behind
 *			the last what these ports have registered: BLOB_REG_BYTES each, ascending
 *			by LID, alias GUIDs alone behind addresses, then as bytes
 *	row:GUID	of the leaf with this GUID: a class for each LID up to lid_top
 *	hops:GUID	of the same leaf, only where there are relays: a byte for each leaf by its
 *			number, how many switches a packet to a host there passes, its own leaf and
 *			that one counted; 0: not known
 *
 * B is a decimal number, GUID 16 hexadecimal digits.  A path from a port is the least of the
 * port's link and of the class of (leaf of the port, destination LID); its SL is the class's, or,
 * with BLOB_SL_FREE, that of its partition, or, with BLOB_SL_LEVELS, the class's with the
 * partition's BLOB_SL_LEVEL.
 */
#ifndef CORE_BLOBS_BLOBS_H
#define CORE_BLOBS_BLOBS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOB_SCHEMA 1
#define BLOB_BLOCK_LIDS 64
#define BLOB_KEY_BYTES 32 /* of the longest key, its NUL as well */
#define BLOB_CLASS_ASK 0
#define BLOB_MOST_CLASSES 256
#define BLOB_MOST_LINKS 64
#define BLOB_MOST_ADDRS 131072
#define BLOB_MOST_NAME 63    /* bytes of a name */
#define BLOB_MOST_REG 2048   /* registered addresses and alias GUIDs of a block */
#define BLOB_MOST_LID 0xbfff /* of unicast, IBA 4.1.3 */
#define BLOB_SL_LEVEL 8	     /* the bit of an SL that says of which level of quality it is */
#define BLOB_NO_LEAF 0xffff  /* of a port that hangs off no switch with a row */

enum {
	BLOB_SUBNET_BYTES = 32,
	BLOB_ATTR_BYTES = 8,
	BLOB_PKSL_BYTES = 4,
	BLOB_ADDR_BYTES = 24,
	BLOB_PORT_BYTES = 16,
	BLOB_REG_BYTES = 32
};

enum blob_subnet_flag {
	BLOB_ASK_ALWAYS =
	    1, /* a QoS policy or limits of partitions decide on paths: only the SA can tell */
	BLOB_SL_FREE = 2,  /* packets of all SLs go the same ways: a partition's SL counts */
	BLOB_SL_LEVELS = 4 /* of a partition's SL bit 3 counts: which of two levels of quality */
};

struct blob_subnet {
	uint32_t schema; /* BLOB_SCHEMA */
	uint32_t flags;	 /* enum blob_subnet_flag */
	uint64_t gid_prefix;
	uint64_t sm_guid;
	uint16_t lid_top; /* rows have lid_top + 1 bytes */
	uint16_t n_leaves;
	uint8_t life; /* packet life time of every path, as PathRecord has it */
};

struct blob_attr {
	uint8_t mtu; /* as PortInfo has it */
	uint8_t sl;  /* classes */
	uint32_t mbps;
};

enum blob_port_flag {
	BLOB_PORT_SWITCH = 1, /* port 0 of one: it is no source of rows */
	BLOB_PORT_ROUTER = 2,
	BLOB_PORT_GONE = 4 /* it was there; what a row says of its LID is of then */
};

/* Of a LID that nobody has ever had, all is 0. */
struct blob_port {
	uint64_t guid;
	uint16_t leaf; /* number of its switch, BLOB_NO_LEAF */
	uint16_t pkset;
	uint8_t link;
	uint8_t lmc; /* its base LID is the LID without the last lmc bits */
	uint8_t flags;
};

struct blob_addr {
	uint8_t ip[16]; /* IPv4 addresses as ::ffff:a.b.c.d */
	uint64_t guid;	/* of the port */
};

/* What a port has registered: an IP address of an interface of it, or an alias GUID alone. */
struct blob_reg {
	uint8_t ip[16];	   /* as in blob_addr; all 0: none */
	uint64_t guid;	   /* of the GID that goes with it: the port's, or an alias of it */
	uint32_t hardware; /* flags << 24 | QPN of the interface: the hardware address of RFC 4391
			    * begins with them; 0: none */
	uint16_t pkey;	   /* of the interface */
	uint16_t lid;	   /* base LID of the port */
};

static inline uint16_t
blob_get16(const uint8_t *b)
{
	uint16_t x;

	memcpy(&x, b, sizeof(x));
	return le16toh(x);
}

static inline uint32_t
blob_get32(const uint8_t *b)
{
	uint32_t x;

	memcpy(&x, b, sizeof(x));
	return le32toh(x);
}

static inline uint64_t
blob_get64(const uint8_t *b)
{
	uint64_t x;

	memcpy(&x, b, sizeof(x));
	return le64toh(x);
}

static inline void
blob_put16(uint8_t *b, uint16_t x)
{
	x = htole16(x);
	memcpy(b, &x, sizeof(x));
}

static inline void
blob_put32(uint8_t *b, uint32_t x)
{
	x = htole32(x);
	memcpy(b, &x, sizeof(x));
}

static inline void
blob_put64(uint8_t *b, uint64_t x)
{
	x = htole64(x);
	memcpy(b, &x, sizeof(x));
}

/* False: not of this schema, or of another size. */
bool blob_subnet_get(const uint8_t *blob, size_t n, struct blob_subnet *s);
void blob_subnet_put(uint8_t *blob, const struct blob_subnet *s);
void blob_attr_get(const uint8_t *b, struct blob_attr *a);
void blob_attr_put(uint8_t *b, const struct blob_attr *a);
void blob_port_get(const uint8_t *b, struct blob_port *p);
void blob_port_put(uint8_t *b, const struct blob_port *p);

void blob_reg_get(const uint8_t *b, struct blob_reg *r);
void blob_reg_put(uint8_t *b, const struct blob_reg *r);
/* Where, in the n bytes of a blob of names, what is registered begins; n: nothing is.  O(1). */
size_t blob_names_end(const uint8_t *b, size_t n);

/* What a key names; number: its block. */
enum blob_kind {
	BLOB_SUBNET,
	BLOB_LINK,
	BLOB_CLASS,
	BLOB_LEAF,
	BLOB_PKSET,
	BLOB_PKSL,
	BLOB_ADDR,
	BLOB_PORT,
	BLOB_NAME,
	BLOB_ROW,
	BLOB_HOPS,
	BLOB_KINDS
};
/* Is there one for each leaf, under the GUID of that? */
static inline bool
blob_is_of_leaf(enum blob_kind kind)
{
	return kind == BLOB_ROW || kind == BLOB_HOPS;
}
/* Bytes that a blob has at most: no more is published, and no more is taken. */
size_t blob_most_bytes(enum blob_kind kind);
/* key[BLOB_KEY_BYTES]; number: the block of BLOB_PORT and BLOB_NAME, the GUID of a leaf for what is
 * of one, else 0. */
void blob_key(char *key, enum blob_kind kind, uint64_t number);
/* False: it is no key. */
bool blob_key_parse(const char *key, enum blob_kind *kind, uint64_t *number);

#endif
